/* splitting.c - a network that answers from everywhere and is too much for one agent: over several, by registered
 * domain (plan/split.h).
 *
 *     192.0.2.0/24            leaves its agent as for a move, with all of its hosts; then it is split, and
 *     192.0.2.0/24#01ff       has the sites of nine of its sixteen parts, and nine sixteenths of its limits,
 *     192.0.2.0/24#fe00       those of the other seven
 *
 * Each of them is a network like any other from then on: it has one agent, moves, and may be split again. The strategy
 * is not asked about them: all agents are as near. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "coord/state.h"
#include "io/clock.h"
#include "plan/frontier.h"
#include "plan/split.h"
#include "web/domain.h"

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
static void hand_over(struct coord *c, struct span all, struct c_network *part)
{
    struct buf blob = {0};
    struct fields f = fields_of(all);
    unsigned tag;
    struct span v;
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
        status st = fleet_put(c->fleet, FLEET_BLOB, span_of(key.b, sizeof(key.b)), buf_span(&blob));
        note_trouble(c, st, "keep what an agent handed over");
        part->handed_over = st == ST_OK ? c->blobs : 0;
    }
    buf_done(&blob);
}

static void spread_hosts(struct coord *c, struct c_network *n)
{
    while (n->host_count) {
        struct c_host *h = n->hosts[--n->host_count];
        struct c_network *part = network_part(n, span_str(h->name));
        h->network = part;
        part->hosts = mem_grow(part->hosts, &part->host_cap, part->host_count + 1, sizeof(struct c_host *));
        part->hosts[part->host_count++] = h;
    }
}

void splitting_finish(struct coord *c, struct c_network *n)
{
    struct buf all = {0};
    struct fleet_number key = fleet_number(n->handed_over);
    uint64_t agents[SPLIT_PARTS] = {0};
    size_t first = n->part_count;
    for (unsigned i = 0; i < SPLIT_PARTS; i++) {
        uint16_t parts = split_parts(n->split, n->split->agent[i]);
        if (n->network.parts)
            parts &= n->network.parts;
        /* By its lowest part. */
        if (!parts || !(parts >> i & 1) || parts & ((1u << i) - 1))
            continue;
        agents[n->part_count - first] = n->split->agent[i];
        network_part_add(n, make_part(c, n, parts));
    }
    n->state = NETWORK_SPLIT;
    spread_hosts(c, n);
    /* All of it or nothing: half of it would be networks twice. */
    bool is_one = fleet_begin(c->fleet) == ST_OK;
    if (n->handed_over && fleet_get(c->fleet, FLEET_BLOB, span_of(key.b, sizeof(key.b)), &all) == ST_OK)
        for (size_t i = first; i < n->part_count; i++)
            hand_over(c, buf_span(&all), n->parts[i]);
    for (size_t i = first; i < n->part_count; i++) {
        save_network(c, n->parts[i]);
        for (size_t k = 0; k < n->parts[i]->host_count; k++)
            save_host(c, n->parts[i]->hosts[k]);
    }
    if (n->handed_over)
        note_trouble(c, fleet_remove(c->fleet, FLEET_BLOB, span_of(key.b, sizeof(key.b))),
                     "forget what was handed over");
    n->handed_over = 0;
    free(n->split);
    n->split = NULL;
    save_network(c, n);
    if (is_one)
        note_trouble(c, fleet_commit(c->fleet, false), "write down a network that is split");
    log_write(c->o.log, LOG_INFO, "assign", "split network=%s over=%zu", n->text, n->part_count - first);
    for (size_t i = first; i < n->part_count; i++)
        if (assign_move(c, n->parts[i], agents[i - first], MOVE_BALANCED,
                        "a share of a network that is too much for one") != ST_OK)
            c->has_free = true;
    buf_done(&all);
}
