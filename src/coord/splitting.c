/* splitting.c - a network that answers from everywhere and is too much for one agent: over several, by registered
 * domain (plan/split.h).
 *
 *     192.0.2.0/24            leaves its agent as for a move, with all of its hosts; then it is split, and
 *     192.0.2.0/24#01ff       has the sites of nine of its sixteen parts, and nine sixteenths of its limits,
 *     192.0.2.0/24#fe00       those of the other seven
 *
 * Each of them is a network like any other from then on: it has one agent, moves, and may be split again. The strategy
 * is not asked about them: all agents are as near. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "coord/assign.h"
#include "coord/balancing.h"
#include "coord/networks.h"
#include "coord/placing.h"
#include "io/clock.h"
#include "plan/frontier.h"
#include "plan/split.h"
#include "web/domain.h"

#define SHARE_WHY "a share of a network that is too much for one"

static unsigned parts_used(const struct c_network *n)
{
    unsigned parts = 0;
    for (size_t i = 0; i < n->host_count; i++)
        parts |= 1u << split_part(domain_registered(span_str(n->hosts[i]->name)));
    return (unsigned)__builtin_popcount(parts);
}

static size_t count_agents(const struct c_network *n, const struct split *s)
{
    size_t count = 0;
    for (unsigned i = 0; i < SPLIT_PARTS; i++) {
        bool is_new = s->agent[i] && (!n->network.parts || n->network.parts >> i & 1);
        for (unsigned k = 0; k < i; k++)
            is_new &= s->agent[k] != s->agent[i] || (n->network.parts && !(n->network.parts >> k & 1));
        count += is_new;
    }
    return count;
}

bool splitting_try(struct coord *c, struct c_network *n)
{
    struct split plan;
    struct delegate_question q = placing_question(c, n);
    if (!n->is_replicated || n->state != NETWORK_OWNED || n->is_trial || n->is_fixed || n->waiting ||
        assign_pinned(c, n) || parts_used(n) < 2)
        return false;
    struct split_agent *agents = mem_alloc((c->agent_count + 1) * sizeof(*agents));
    size_t count = 0;
    for (size_t i = 0; i < c->agent_count; i++) {
        const struct c_agent *a = c->agents[i];
        if (!a || !a->is_told_open || !delegate_question_allows(&q, a->number))
            continue;
        double room = balancing_room(c, a) + (a->number == n->agent ? n->load_told : 0);
        if (room > 0)
            agents[count++] = (struct split_agent){a->number, room};
    }
    bool is_planned = split_plan(agents, count, n->load_told, NULL, &plan) == ST_OK && count_agents(n, &plan) > 1;
    free(agents);
    if (!is_planned)
        return false;
    n->split = mem_alloc(sizeof(*n->split));
    *n->split = plan;
    if (assign_move(c, n, 0, MOVE_BALANCED, "it is too much for one agent: split") == ST_OK)
        return true;
    free(n->split);
    n->split = NULL;
    return false;
}

/* ---- the parts ---- */

static struct c_network *make_part(struct coord *c, struct c_network *of, uint16_t parts)
{
    struct network net = of->network;
    char text[NETWORK_TEXT_MAX];
    net.parts = parts;
    struct c_network *n = network_make(c, &net);
    set_text(n->text, sizeof(n->text), span_str(network_format(&net, text)));
    n->is_replicated = true;
    n->had_agent = of->had_agent;
    n->was_lost = of->was_lost;
    n->distrust = of->distrust;
    n->load = of->load * __builtin_popcount(parts) /
              (of->network.parts ? __builtin_popcount(of->network.parts) : SPLIT_PARTS);
    n->load_at = of->load_at;
    n->move = MOVE_BALANCED;
    n->was_agent = of->was_agent;
    for (size_t i = 0; i < of->probe_count; i++)
        placing_probe_add(n, &of->probes[i]);
    return n;
}

/* What the old owner handed over of the hosts that are in the part now. */
static status hand_over(struct coord *c, struct span all, struct c_network *part)
{
    struct buf blob = {0};
    struct fields f = fields_of(all);
    unsigned tag;
    struct span v;
    status st = ST_OK;
    while (fields_next(&f, &tag, &v)) {
        struct frontier_info info;
        if (tag != 1 || frontier_info_read(v, &info) != ST_OK)
            continue;
        const struct c_host *h = table_get(&c->hosts, siphash(&c->key, info.name));
        if (h && h->network == part)
            field_text(&blob, 1, v);
        frontier_info_done(&info);
    }
    if (blob.n) {
        struct fleet_number key = fleet_number(++c->blobs);
        save_number(c, "blobs", c->blobs);
        st = fleet_put(c->fleet, FLEET_BLOB, fleet_number_span(&key), buf_span(&blob));
        part->handed_over = c->blobs;
    }
    buf_done(&blob);
    return st;
}

static status hand_over_all(struct coord *c, struct c_network *n, size_t first)
{
    struct buf all = {0};
    struct fleet_number key = fleet_number(n->handed_over);
    if (!n->handed_over)
        return ST_OK;
    status st = fleet_get(c->fleet, FLEET_BLOB, fleet_number_span(&key), &all);
    if (st == ST_NOT_FOUND)
        st = ST_OK;
    for (size_t i = first; st == ST_OK && i < n->part_count; i++)
        st = hand_over(c, buf_span(&all), n->parts[i]);
    if (st == ST_OK)
        st = fleet_remove(c->fleet, FLEET_BLOB, fleet_number_span(&key));
    n->handed_over = 0;
    buf_done(&all);
    return st;
}

static void put_host(struct c_network *n, struct c_host *h)
{
    h->network = n;
    n->hosts = mem_grow(n->hosts, &n->host_cap, n->host_count + 1, sizeof(struct c_host *));
    n->hosts[n->host_count++] = h;
}

static void spread_hosts(struct c_network *n)
{
    while (n->host_count) {
        struct c_host *h = n->hosts[--n->host_count];
        put_host(network_part(n, span_str(h->name)), h);
    }
}

/* Parts that were not written down are no networks. */
static void drop_parts(struct coord *c, struct c_network *n, size_t first)
{
    while (n->part_count > first) {
        struct c_network *part = n->parts[--n->part_count];
        while (part->host_count)
            put_host(n, part->hosts[--part->host_count]);
        (void)table_remove(&c->networks, siphash(&c->key, span_str(part->text)));
        free(part->hosts);
        free(part->probes);
        free(part);
    }
}

/* All of it or nothing: half of it would be networks twice. */
static status write_down(struct coord *c, struct c_network *n, size_t first)
{
    status st = fleet_begin(c->fleet);
    if (st != ST_OK)
        return st;
    st = hand_over_all(c, n, first);
    for (size_t i = first; i < n->part_count; i++) {
        save_network(c, n->parts[i]);
        for (size_t k = 0; k < n->parts[i]->host_count; k++)
            save_host(c, n->parts[i]->hosts[k]);
    }
    save_network(c, n);
    if (st == ST_OK)
        return fleet_commit(c->fleet, false);
    fleet_rollback(c->fleet);
    return st;
}

status splitting_begin(struct coord *c, struct c_network *n)
{
    struct split *plan = n->split;
    uint64_t old = n->agent, to = n->next_agent, was = n->was_agent, handed_over = n->handed_over, blobs = c->blobs;
    size_t first = n->part_count;
    n->was_agent = old;
    for (unsigned i = 0; i < SPLIT_PARTS; i++) {
        uint16_t parts = split_parts(plan, plan->agent[i]);
        if (n->network.parts)
            parts &= n->network.parts;
        /* By its lowest part. */
        if (!parts || !(parts >> i & 1) || parts & ((1u << i) - 1))
            continue;
        struct c_network *part = make_part(c, n, parts);
        part->next_agent = plan->agent[i];
        snprintf(part->why, sizeof(part->why), "%s", SHARE_WHY);
        network_part_add(n, part);
    }
    n->state = NETWORK_SPLIT;
    n->agent = n->next_agent = 0;
    n->split = NULL;
    spread_hosts(n);
    status st = write_down(c, n, first);
    if (st == ST_OK) {
        free(plan);
        return ST_OK;
    }
    note_trouble(c, st, "write down a network that is split");
    n->split = plan;
    n->state = NETWORK_LEAVING;
    n->agent = old;
    n->next_agent = to;
    n->was_agent = was;
    n->handed_over = handed_over;
    c->blobs = blobs;
    drop_parts(c, n, first);
    return st;
}

void splitting_finish(struct coord *c, struct c_network *n)
{
    log_write(c->o.log, LOG_INFO, "assign", "split network=%s over=%zu", n->text, n->part_count);
    for (size_t i = 0; i < n->part_count; i++)
        if (assign_move(c, n->parts[i], n->parts[i]->next_agent, MOVE_BALANCED, SHARE_WHY) != ST_OK)
            c->has_free = true;
}
