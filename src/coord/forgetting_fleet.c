/* forgetting_fleet.c - what waits in fleet.db of forgotten places: queues that an agent handed over, seeds of tasks,
 * orders that nobody has carried out. Works on the records, so that a stopped coordinator's folder is treated alike. */
#include <stdlib.h>

#include "base/mem.h"
#include "coord/forgetting.h"
#include "coord/records.h"
#include "io/clock.h"
#include "plan/frontier.h"
#include "wire/control.h"
#include "wire/fields.h"

struct purge {
    struct fleet_store *fleet;
    const struct places *places;
    struct arena arena; /* of the record under way */
    uint64_t agent;     /* whose orders */
    struct changed {
        fleet_kind kind;
        uint64_t agent, number; /* of an order; agent 0: it is a record */
        struct buf key, packed;
    } * list; /* owned */
    size_t count, cap;
};

static void note_changed(struct purge *p, fleet_kind kind, struct span key, uint64_t number, struct span packed)
{
    p->list = mem_grow(p->list, &p->cap, p->count + 1, sizeof(*p->list));
    struct changed *c = &p->list[p->count++];
    *c = (struct changed){.kind = kind, .agent = number ? p->agent : 0, .number = number};
    buf_put(&c->key, key);
    buf_put(&c->packed, packed);
}

/* ---- lists of URLs ---- */

bool forgetting_filter_lines(const struct places *places, struct span lines, struct buf *out, size_t *kept)
{
    struct span line;
    size_t n = 0;
    bool is_changed = false;
    while (lines.n && span_split(&lines, '\n', &line)) {
        if (!line.n)
            continue;
        if (places_have_address(places, line)) {
            is_changed = true;
            continue;
        }
        buf_put(out, line);
        buf_putc(out, '\n');
        n++;
    }
    if (kept)
        *kept = n;
    return is_changed;
}

/* ---- packed hosts ---- */

static bool has_url(void *self, struct span url, uint64_t channel, unsigned depth)
{
    (void)channel;
    (void)depth;
    return places_have_address(self, url);
}

static bool has_host(void *self, struct span host)
{
    return places_have_host(self, host);
}

static void count_key(void *arg, uint64_t key)
{
    ++*(size_t *)arg;
}

/* Without what is forgotten; nothing when all of it is. What cannot be read goes too. */
static void put_host(struct purge *p, struct span packed, struct buf *out, bool *is_changed)
{
    const struct sip_key key = {1, 2};
    struct frontier *f = frontier_new(&(struct frontier_opts){.pace = pace_default, .key = &key, .seed = 1});
    struct frontier_where where = {has_url, has_host, (void *)p->places};
    mono_ms now = clock_mono();
    wall_ms wall = clock_wall();
    struct span host;
    size_t dropped = 0;
    char *name = NULL;
    status st = frontier_put_host(f, now, wall, packed, &host);
    if (st == ST_OK) {
        name = mem_str(host);
        st = frontier_drop_where(f, &where, count_key, &dropped);
    }
    bool is_gone = st != ST_OK || !frontier_has_host(f, span_str(name));
    if (!is_gone && !dropped)
        buf_put(out, packed);
    else if (!is_gone && frontier_take_host(f, now, wall, span_str(name), out) != ST_OK)
        buf_clear(out);
    *is_changed |= is_gone || dropped;
    frontier_free(f);
    free(name);
}

/* Hosts that an agent handed over, one a field; programs and updates have other keys. */
static status look_at_blob(void *arg, struct span key, struct span packed)
{
    struct purge *p = arg;
    struct fields f = fields_of(packed);
    struct buf blob = {0};
    bool is_changed = false;
    unsigned tag;
    struct span v;
    if (key.n != 8)
        return ST_OK;
    while (fields_next(&f, &tag, &v)) {
        struct buf host = {0};
        if (tag == 1)
            put_host(p, v, &host, &is_changed);
        if (host.n)
            field_text(&blob, 1, buf_span(&host));
        buf_done(&host);
    }
    if (is_changed)
        note_changed(p, FLEET_BLOB, key, 0, buf_span(&blob));
    buf_done(&blob);
    return ST_OK;
}

/* ---- tasks ---- */

static status look_at_task(void *arg, struct span key, struct span packed)
{
    struct purge *p = arg;
    struct buf out = {0};
    if (record_filter_task(packed, p->places, &out))
        note_changed(p, FLEET_TASK, key, 0, buf_span(&out));
    buf_done(&out);
    return ST_OK;
}

/* ---- orders ---- */

static bool filter_task_order(struct purge *p, struct span body, struct buf *out)
{
    struct task_order o;
    bool is_changed = false;
    if (task_order_unpack(&p->arena, body, &o) != ST_OK)
        return false;
    struct span *seeds = arena_alloc(&p->arena, (o.seed_count + 1) * sizeof(*seeds)),
                *hosts = arena_alloc(&p->arena, (o.hosts_state_count + 1) * sizeof(*hosts));
    size_t n = 0;
    for (size_t i = 0; i < o.seed_count; i++) {
        if (places_have_address(p->places, o.seeds[i]))
            is_changed = true;
        else
            seeds[n++] = o.seeds[i];
    }
    o.seeds = seeds;
    o.seed_count = n;
    n = 0;
    for (size_t i = 0; i < o.hosts_state_count; i++) {
        struct buf host = {0};
        put_host(p, o.hosts_state[i], &host, &is_changed);
        if (host.n)
            hosts[n++] = arena_copy(&p->arena, buf_span(&host));
        buf_done(&host);
    }
    o.hosts_state = hosts;
    o.hosts_state_count = n;
    if (is_changed)
        task_order_pack(&o, out);
    return is_changed;
}

static bool filter_told_order(struct purge *p, struct span body, struct buf *out)
{
    struct told_order o;
    struct buf urls = {0};
    bool is_changed = told_order_unpack(body, &o) == ST_OK && forgetting_filter_lines(p->places, o.urls, &urls, NULL);
    o.urls = buf_span(&urls);
    if (is_changed)
        told_order_pack(&o, out);
    buf_done(&urls);
    return is_changed;
}

static bool filter_fetch_order(struct purge *p, struct span body, struct buf *out)
{
    struct fetch_order o;
    if (fetch_order_unpack(&p->arena, body, &o) != ST_OK)
        return false;
    struct span *urls = arena_alloc(&p->arena, (o.url_count + 1) * sizeof(*urls));
    size_t n = 0, all = o.url_count;
    for (size_t i = 0; i < all; i++)
        if (!places_have_address(p->places, o.urls[i]))
            urls[n++] = o.urls[i];
    o.urls = urls;
    o.url_count = n;
    if (n < all)
        fetch_order_pack(&o, out);
    return n < all;
}

static status look_at_order(void *arg, uint64_t number, struct span packed)
{
    struct purge *p = arg;
    struct order o;
    struct buf body = {0}, out = {0};
    bool is_changed = false;
    arena_reset(&p->arena);
    if (order_unpack(packed, &o) != ST_OK)
        return ST_OK;
    if (o.kind == ORDER_TASK)
        is_changed = filter_task_order(p, o.body, &body);
    else if (o.kind == ORDER_TOLD)
        is_changed = filter_told_order(p, o.body, &body);
    else if (o.kind == ORDER_FETCH)
        is_changed = filter_fetch_order(p, o.body, &body);
    if (is_changed) {
        o.body = buf_span(&body);
        order_pack(&o, &out);
        note_changed(p, FLEET_KINDS, (struct span){0}, number, buf_span(&out));
    }
    buf_done(&body);
    buf_done(&out);
    return ST_OK;
}

static status look_at_agent(void *arg, struct span key, struct span packed)
{
    struct purge *p = arg;
    p->agent = fleet_number_of(key);
    return p->agent ? fleet_order_each(p->fleet, p->agent, 0, look_at_order, p) : ST_OK;
}

/* ---- all of it ---- */

static status write_down(struct purge *p)
{
    status st = p->count ? fleet_begin(p->fleet) : ST_OK;
    if (st != ST_OK || !p->count)
        return st;
    for (size_t i = 0; st == ST_OK && i < p->count; i++) {
        const struct changed *c = &p->list[i];
        st = c->agent ? fleet_order_put(p->fleet, c->agent, c->number, buf_span(&c->packed))
                      : fleet_put(p->fleet, c->kind, buf_span(&c->key), buf_span(&c->packed));
    }
    if (st == ST_OK)
        return fleet_commit(p->fleet, true);
    fleet_rollback(p->fleet);
    return st;
}

status forgetting_purge_fleet(struct fleet_store *fleet, const struct places *places)
{
    struct purge p = {.fleet = fleet, .places = places};
    arena_init(&p.arena);
    status st = fleet_each(fleet, FLEET_BLOB, look_at_blob, &p);
    if (st == ST_OK)
        st = fleet_each(fleet, FLEET_TASK, look_at_task, &p);
    if (st == ST_OK)
        st = fleet_each(fleet, FLEET_AGENT, look_at_agent, &p);
    if (st == ST_OK)
        st = write_down(&p);
    if (st == ST_OK)
        st = fleet_vacuum(fleet);
    for (size_t i = 0; i < p.count; i++) {
        buf_done(&p.list[i].key);
        buf_done(&p.list[i].packed);
    }
    free(p.list);
    arena_done(&p.arena);
    return st;
}
