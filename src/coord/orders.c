/* orders.c - what an agent has to be told of a task: where it is crawled, what it begins with, what ends. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "coord/agents.h"
#include "coord/orders.h"
#include "coord/pinning.h"
#include "coord/polls.h"

#define SEEDS_AN_ORDER 2000

static size_t split_lines(struct arena *a, struct span text, size_t max, struct span **out, size_t *used)
{
    struct span *list = arena_alloc(a, (max + 1) * sizeof(*list)), rest = text, line;
    size_t n = 0;
    *used = 0;
    while (n < max && span_split(&rest, '\n', &line)) {
        *used = (size_t)(line.p - text.p) + line.n + 1;
        if (line.n)
            list[n++] = line;
    }
    if (*used > text.n)
        *used = text.n;
    *out = list;
    return n;
}

/* Packed hosts of all networks that the task brings them for. */
static size_t handed_hosts(struct coord *c, struct arena *a, const struct c_task *t, struct buf *blob,
                           struct span **out)
{
    for (size_t i = 0; i < t->handed_count; i++) { /* fields one after the other: so are the blobs */
        struct fleet_number key = fleet_number(t->handed[i]->handed_over);
        status st = fleet_get(c->fleet, FLEET_BLOB, fleet_number_span(&key), blob);
        if (st != ST_NOT_FOUND)
            note_trouble(c, st, "read what was handed over");
    }
    struct fields f = fields_of(buf_span(blob));
    unsigned tag;
    struct span v;
    size_t n = 0, cap = 64;
    struct span *list = arena_alloc(a, cap * sizeof(*list));
    while (fields_next(&f, &tag, &v)) {
        if (tag != 1)
            continue;
        if (n == cap) {
            struct span *more = arena_alloc(a, 2 * cap * sizeof(*list));
            memcpy(more, list, n * sizeof(*list));
            list = more;
            cap *= 2;
        }
        list[n++] = v;
    }
    *out = list;
    return n;
}

/* Its owner may refuse some of them, whatever we do. */
static size_t list_countries(const struct coord *c, struct arena *a, struct c_network *const *networks, size_t count,
                             struct span **out)
{
    struct span *list = arena_alloc(a, (count + 1) * sizeof(*list));
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        char country[3], text[sizeof(country) + COORD_NETWORK_TEXT];
        network_country(c, networks[i], country);
        if (country[0]) {
            snprintf(text, sizeof(text), "%s %s", country, networks[i]->text);
            list[n++] = arena_copy(a, span_str(text));
        }
    }
    *out = list;
    return n;
}

/* A list that goes out in one order or in several: the agent's lists grow with each. */
struct list {
    const struct span *items;
    size_t count, at;
    bool is_twice; /* with something as long beside each */
};

/* As many as fit; one that is larger than that goes alone. */
static size_t take(struct list *l, size_t *bytes, const struct span **out)
{
    size_t from = l->at;
    *out = l->items + from;
    while (l->at < l->count && (!*bytes || *bytes + l->items[l->at].n <= COORD_ORDER_BYTES)) {
        *bytes += (l->items[l->at].n + ORDER_ITEM_BYTES) << l->is_twice;
        l->at++;
    }
    return l->at - from;
}

/* A large task becomes several orders, because an answer with a larger one is never taken: the first has the channel,
 * each has what fits. */
static void order_pieces(struct coord *c, const struct c_task *t, struct c_agent *a, struct arena *arena,
                         const struct task_order *whole)
{
    struct list networks = {whole->networks, whole->network_count, 0, true},
                hosts = {whole->hosts, whole->host_count, 0, false},
                others = {whole->others, whole->other_count, 0, false},
                seeds = {whole->seeds, whole->seed_count, 0, false},
                states = {whole->hosts_state, whole->hosts_state_count, 0, false};
    struct task_order o = *whole;
    struct buf body = {0};
    size_t bytes = o.channel.n + o.known_link_count * sizeof(*o.known_links);
    do {
        struct span *countries;
        struct c_network *const *first = t->networks + networks.at;
        o.network_count = take(&networks, &bytes, &o.networks);
        o.country_count = list_countries(c, arena, first, o.network_count, &countries);
        o.countries = countries;
        o.host_count = take(&hosts, &bytes, &o.hosts);
        o.other_count = take(&others, &bytes, &o.others);
        o.seed_count = take(&seeds, &bytes, &o.seeds);
        o.hosts_state_count = take(&states, &bytes, &o.hosts_state);
        buf_clear(&body);
        task_order_pack(&o, &body);
        agent_order(c, a, ORDER_TASK, buf_span(&body));
        o.channel = (struct span){0}; /* as before */
        o.known_link_count = o.states = bytes = 0;
    } while (networks.at < networks.count || hosts.at < hosts.count || others.at < others.count ||
             seeds.at < seeds.count || states.at < states.count);
    buf_done(&body);
}

/* On the disk. In memory when that is committed. */
static void forget_hosts(struct coord *c, struct c_network *n)
{
    uint64_t number = n->handed_over;
    struct fleet_number key = fleet_number(number);
    note_trouble(c, fleet_remove(c->fleet, FLEET_BLOB, fleet_number_span(&key)), "forget what was handed over");
    n->handed_over = 0;
    save_network(c, n);
    n->handed_over = number;
}

/* Leaves what the task had, seeds and list of hosts, as it was: the caller has another copy of the task, and drops one.
 */
static void order_task(struct coord *c, struct c_task *t, struct c_agent *a)
{
    struct arena arena;
    struct buf body = {0}, channel = {0}, blob = {0};
    size_t used;
    arena_init(&arena);
    struct span *networks = arena_alloc(&arena, (t->network_count + 1) * sizeof(*networks)), *seeds, *hosts, *others,
                *handed = NULL;
    for (size_t i = 0; i < t->network_count; i++)
        networks[i] = span_str(t->networks[i]->text);
    hosts = arena_alloc(&arena, (t->channel->host_count + 1) * sizeof(*hosts));
    others = arena_alloc(&arena, (t->channel->host_count + 1) * sizeof(*others));
    size_t host_count = 0, other_count = 0;
    for (size_t i = 0; i < t->channel->host_count; i++) {
        struct c_host *h = table_get(&c->hosts, siphash(&c->key, t->channel->hosts[i]));
        if (h && h->pinned_agent == t->agent)
            hosts[host_count++] = span_str(h->name);
        else if (h && h->pinned_agent)
            others[other_count++] = span_str(h->name);
    }
    struct task_order o = {.task = t->number,
                           .kind = t->channel->kind,
                           .wants_warc = t->channel->wants_warc,
                           .expected_pages = t->channel->expected_pages,
                           .program = span_str(t->channel->program),
                           .states = t->wants_states,
                           .networks = networks,
                           .network_count = t->network_count,
                           .hosts = hosts,
                           .host_count = host_count,
                           .others = others,
                           .other_count = other_count};
    if (!t->has_channel) {
        channel_pack(t->channel->channel, &channel);
        o.channel = buf_span(&channel);
        o.known_links = t->channel->links;
        o.known_link_count = t->channel->link_count;
    }
    o.seed_count = split_lines(&arena, buf_span(&t->seeds), SEEDS_AN_ORDER, &seeds, &used);
    o.seeds = seeds;
    o.hosts_state_count = handed_hosts(c, &arena, t, &blob, &handed);
    o.hosts_state = handed;
    order_pieces(c, t, a, &arena, &o);
    if (t->wants_links) { /* after their states came */
        recheck_order_pack(&(struct recheck_order){.task = t->number, .is_whole = true}, &body);
        agent_order(c, a, ORDER_RECHECK, buf_span(&body));
    }
    t->has_channel = true;
    t->wants_states = t->wants_links = false;
    t->progress.state = TASK_RUNNING;
    for (size_t i = 0; i < t->handed_count; i++)
        forget_hosts(c, t->handed[i]);
    t->handed = NULL;
    t->handed_count = t->handed_cap = 0;
    struct span left = span_from(buf_span(&t->seeds), used);
    t->seeds = (struct buf){0};
    buf_put(&t->seeds, left);
    t->seed_count -= o.seed_count < t->seed_count ? o.seed_count : t->seed_count;
    t->is_dirty = t->has_only_seeds = t->seeds.n > 0;
    buf_done(&body);
    buf_done(&channel);
    buf_done(&blob);
    arena_done(&arena);
}

static void order_end(struct coord *c, struct c_task *t, struct c_agent *a)
{
    struct buf body = {0};
    struct span *networks = mem_alloc((t->ending_count + 1) * sizeof(*networks));
    size_t n = 0;
    for (size_t bytes = 0; n < t->ending_count && bytes < COORD_ORDER_BYTES; n++) { /* the rest when these have ended */
        networks[n] = span_str(t->ending[n]->text);
        bytes += networks[n].n + ORDER_ITEM_BYTES;
    }
    struct end_order e = {.task = t->number, .networks = networks, .network_count = n};
    end_order_pack(&e, &body);
    t->end_asked = n;
    t->end_order = a->orders_given + 1;
    agent_order(c, a, ORDER_END_TASK, buf_span(&body));
    buf_done(&body);
    free(networks);
}

/* Some network is to be crawled again before the end of it was confirmed: the agent would forget it when that is done.
 * What it hands over comes back with the order. */
static bool waits_for_end(const struct c_task *t)
{
    for (size_t i = 0; i < t->ending_count; i++)
        for (size_t k = 0; k < t->network_count; k++)
            if (t->ending[i] == t->networks[k])
                return true;
    return false;
}

/* Orders of one change belong together: either all of it is written down, or none. The agent hears of them after that.
 */
status orders_of_task(struct coord *c, struct c_task *t)
{
    struct c_agent *a = agent_get(c, t->agent);
    if (!a || !a->is_joined) {
        t->is_dirty = false;
        return ST_OK;
    }
    /* Seeds wait until the last order is done, and go together: an agent that is silent would else have thousands of
     * orders waiting. */
    if (t->has_only_seeds && t->last_order > a->orders_done) {
        if (!t->is_saved)
            save_task(c, t);
        t->is_saved = true;
        return ST_OK;
    }
    bool waits = waits_for_end(t);
    if (waits && t->end_order)
        return ST_OK;
    struct c_task before = *t;
    uint64_t given = a->orders_given;
    status st = fleet_begin(c->fleet);
    if (st == ST_OK) {
        t->is_dirty = waits;
        if (t->ending_count && !t->end_order)
            order_end(c, t, a);
        if (t->network_count && !waits) {
            order_task(c, t, a);
            t->last_order = a->orders_given;
        }
        save_task(c, t);
        st = fleet_commit(c->fleet, false);
    }
    if (st == ST_OK) {
        if (t->seeds.p != before.seeds.p)
            buf_done(&before.seeds);
        if (t->handed != before.handed) {
            for (size_t i = 0; i < before.handed_count; i++)
                before.handed[i]->handed_over = 0;
            free(before.handed);
        }
        polls_wake(c, a);
    } else {
        note_trouble(c, st, "write down orders");
        if (t->seeds.p != before.seeds.p)
            buf_done(&t->seeds);
        *t = before;
        a->orders_given = given;
    }
    return st;
}
