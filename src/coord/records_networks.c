/* records_networks.c - hosts and networks as records of the fleet store. */
#include <stdlib.h>

#include "base/mem.h"
#include "coord/placing.h"
#include "coord/records.h"
#include "plan/split.h"
#include "wire/fields.h"

/* Tags are for good; a new field gets a new one. */
enum { H_STATE = 1, H_ADDR, H_NETWORK, H_STRAYS, H_PINNED, H_ALSO };
enum {
    N_STATE = 1,
    N_AGENT,
    N_NEXT,
    N_SINCE,
    N_WHY,
    N_HANDED,
    N_HAD,
    N_LOST,
    N_DISTRUST,
    N_PROBE,
    N_TRIAL,
    N_PROVISIONAL,
    N_REPLICATED,
    N_CALIBRATION,
    N_FIXED,
    N_LOAD,
    N_LOAD_AT,
    N_SPLIT,
    N_DECIDED,
    N_ASKED,
    N_MET
};
enum { P_AGENT = 1, P_US, P_REACHED };

void save_host(struct coord *c, const struct c_host *h)
{
    struct buf b = {0};
    char text[ADDR_TEXT_MAX];
    field_u64(&b, H_STATE, h->state);
    if (h->addr.family)
        field_str(&b, H_ADDR, addr_format(&h->addr, text));
    if (h->network)
        field_str(&b, H_NETWORK, h->network->text);
    field_u64_if(&b, H_STRAYS, h->strays);
    field_u64_if(&b, H_PINNED, h->pinned_agent);
    for (size_t i = 0; i < h->also_count; i++) {
        char network[NETWORK_TEXT_MAX];
        field_str(&b, H_ALSO, network_format(&h->also[i], network));
    }
    record_put(c, FLEET_HOST, span_str(h->name), buf_span(&b), "write down a host");
    buf_done(&b);
}

status load_host(void *arg, struct span key, struct span packed)
{
    struct coord *c = arg;
    struct c_host *h = mem_alloc(sizeof(*h));
    struct fields f = fields_of(packed);
    unsigned tag;
    struct span v;
    h->name = mem_str(key);
    h->state = HOST_NEW;
    while (fields_next(&f, &tag, &v)) {
        switch (tag) {
        case H_STATE:
            h->state = value_u64(v) == HOST_PLACED ? HOST_PLACED : HOST_NEW;
            break;
        case H_ADDR:
            if (addr_parse(v, &h->addr) != ST_OK)
                h->addr = (struct addr){0};
            break;
        case H_NETWORK:
            h->network = table_get(&c->networks, siphash(&c->key, v));
            break;
        case H_STRAYS:
            h->strays = (unsigned)value_u64(v);
            break;
        case H_PINNED:
            h->pinned_agent = value_u64(v);
            break;
        case H_ALSO:
            if (h->also_count < COORD_HOST_NETWORKS && network_parse(v, &h->also[h->also_count]) == ST_OK)
                h->also_count++;
            break;
        default:
            break;
        }
    }
    if (h->network) {
        struct c_network *n = h->network;
        n->hosts = mem_grow(n->hosts, &n->host_cap, n->host_count + 1, sizeof(struct c_host *));
        n->hosts[n->host_count++] = h;
    } else {
        h->state = HOST_NEW;
    }
    table_put(&c->hosts, siphash(&c->key, key), h);
    return ST_OK;
}

static void pack_probe(struct buf *to, const struct delegate_probe *p)
{
    struct buf b = {0};
    char text[ADDR_TEXT_MAX];
    field_u64(&b, P_AGENT, p->agent);
    field_u64_if(&b, P_US, p->ms >= 0 ? (uint64_t)(p->ms * 1000) + 1 : 0); /* 0: no answer */
    if (p->reached.family)
        field_str(&b, P_REACHED, addr_format(&p->reached, text));
    field_text(to, N_PROBE, buf_span(&b));
    buf_done(&b);
}

static void unpack_probe(struct c_network *n, struct span packed)
{
    struct delegate_probe p = {.ms = -1};
    struct fields f = fields_of(packed);
    unsigned tag;
    struct span v;
    while (fields_next(&f, &tag, &v)) {
        if (tag == P_AGENT)
            p.agent = value_u64(v);
        else if (tag == P_US)
            p.ms = (double)(value_u64(v) - 1) / 1000;
        else if (tag == P_REACHED && addr_parse(v, &p.reached) != ST_OK)
            p.reached = (struct addr){0};
    }
    if (p.agent)
        placing_probe_add(n, &p);
}

void save_network(struct coord *c, const struct c_network *n)
{
    struct buf b = {0};
    field_u64(&b, N_STATE, n->state);
    field_u64_if(&b, N_AGENT, n->agent);
    field_u64_if(&b, N_NEXT, n->next_agent);
    field_i64(&b, N_SINCE, n->since);
    field_u64_if(&b, N_DECIDED, (uint64_t)n->decided);
    field_u64_if(&b, N_ASKED, n->asked);
    field_u64_if(&b, N_MET, (uint64_t)n->met);
    field_str(&b, N_WHY, n->why);
    field_u64_if(&b, N_HANDED, n->handed_over);
    field_u64_if(&b, N_HAD, n->had_agent);
    field_u64_if(&b, N_LOST, n->was_lost);
    field_u64_if(&b, N_DISTRUST, n->distrust);
    field_u64_if(&b, N_TRIAL, n->is_trial);
    field_u64_if(&b, N_PROVISIONAL, n->is_provisional);
    field_u64_if(&b, N_REPLICATED, n->is_replicated);
    field_u64_if(&b, N_FIXED, n->is_fixed);
    for (unsigned i = 0; n->split && i < SPLIT_PARTS; i++)
        field_u64(&b, N_SPLIT, n->split->agent[i]);
    field_u64_if(&b, N_LOAD, (uint64_t)n->load);
    field_u64_if(&b, N_LOAD_AT, (uint64_t)n->load_at);
    if (n->calibration.samples || n->calibration.base_ms > 0) {
        struct buf packed = {0};
        calibration_pack(&n->calibration, &packed);
        field_text(&b, N_CALIBRATION, buf_span(&packed));
        buf_done(&packed);
    }
    for (size_t i = n->old_count; i < n->probe_count; i++)
        pack_probe(&b, &n->probes[i]);
    record_put(c, FLEET_NETWORK, span_str(n->text), buf_span(&b), "write down a network");
    buf_done(&b);
}

status load_network(void *arg, struct span key, struct span packed)
{
    struct coord *c = arg;
    struct c_network *n = mem_alloc(sizeof(*n));
    struct fields f = fields_of(packed);
    unsigned tag, split = 0;
    struct span v;
    if (network_parse(key, &n->network) != ST_OK) {
        free(n);
        return ST_CORRUPT;
    }
    set_text(n->text, sizeof(n->text), key);
    n->state = NETWORK_FREE;
    n->expected_ms = n->sure = -1;
    while (fields_next(&f, &tag, &v)) {
        switch (tag) {
        case N_STATE: {
            uint64_t state = value_u64(v);
            if (state == NETWORK_OWNED || state == NETWORK_LEAVING || state == NETWORK_SPLIT)
                n->state = (network_state)state;
            break;
        }
        case N_AGENT:
            n->agent = value_u64(v);
            break;
        case N_NEXT:
            n->next_agent = value_u64(v);
            break;
        case N_SINCE:
            n->since = value_i64(v);
            break;
        case N_DECIDED:
            n->decided = (wall_ms)value_u64(v);
            break;
        case N_MET:
            n->met = (wall_ms)value_u64(v);
            break;
        case N_ASKED:
            n->asked = (unsigned)value_u64(v);
            break;
        case N_WHY:
            set_text(n->why, sizeof(n->why), v);
            break;
        case N_HANDED:
            n->handed_over = value_u64(v);
            break;
        case N_DISTRUST:
            n->distrust = value_u64(v);
            break;
        case N_LOST:
            n->was_lost = value_u64(v) != 0;
            break;
        case N_HAD:
            n->had_agent = value_u64(v) != 0;
            break;
        case N_TRIAL:
            n->is_trial = value_u64(v) != 0;
            break;
        case N_PROVISIONAL:
            n->is_provisional = value_u64(v) != 0;
            break;
        case N_REPLICATED:
            n->is_replicated = value_u64(v) != 0;
            break;
        case N_SPLIT:
            if (!n->split)
                n->split = mem_alloc(sizeof(*n->split));
            if (split < SPLIT_PARTS)
                n->split->agent[split++] = value_u64(v);
            break;
        case N_LOAD:
            n->load = (double)value_u64(v);
            break;
        case N_LOAD_AT:
            n->load_at = (wall_ms)value_u64(v);
            break;
        case N_FIXED:
            n->is_fixed = value_u64(v) != 0;
            break;
        case N_CALIBRATION: /* what cannot be read is measured anew */
            if (calibration_unpack(v, &n->calibration) != ST_OK)
                n->calibration = (struct calibration){0};
            break;
        case N_PROBE:
            unpack_probe(n, v);
            break;
        default:
            break;
        }
    }
    table_put(&c->networks, siphash(&c->key, key), n);
    return ST_OK;
}
