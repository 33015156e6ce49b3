/* frontier_share.c - what waits, counted by host and channel; and the ways out of a frontier other than being lent:
 * with the channel, with the host, with the network.
 *
 *     frontier.tallies    channel -> how many URLs in all
 *     host.shares         channel -> how many on this host
 *
 * Their sums are the same number, frontier.urls, and it changes in url_came and url_went only. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "plan/frontier_internal.h"
#include "plan/split.h"

/* ---- counting ---- */

static struct tally *tally_of(struct frontier *f, uint64_t channel)
{
    struct tally *t = table_get(&f->tallies, channel);
    if (!t) {
        t = mem_alloc(sizeof(*t));
        t->channel = channel;
        table_put(&f->tallies, channel, t);
    }
    return t;
}

static struct share *share_find(const struct host *h, uint64_t channel)
{
    for (size_t i = 0; i < h->share_count; i++)
        if (h->shares[i].of->channel == channel)
            return &h->shares[i];
    return NULL;
}

static struct share *share_make(struct frontier *f, struct host *h, uint64_t channel)
{
    /* One that came to nothing makes room: channels come and go in a host's long life. */
    for (size_t i = 0; i < h->share_count; i++)
        if (h->shares[i].urls == 0) {
            h->shares[i].of = tally_of(f, channel);
            return &h->shares[i];
        }
    h->shares = mem_realloc(h->shares, (h->share_count + 1) * sizeof(*h->shares));
    h->shares[h->share_count] = (struct share){.of = tally_of(f, channel)};
    f->memory += sizeof(*h->shares);
    return &h->shares[h->share_count++];
}

void url_came(struct frontier *f, struct host *h, uint64_t channel, uint64_t n)
{
    struct share *s = share_find(h, channel);
    if (!s)
        s = share_make(f, h, channel);
    s->urls += n;
    s->of->urls += n;
    f->urls += n;
}

void url_went(struct frontier *f, struct host *h, uint64_t channel, uint64_t n)
{
    struct share *s = share_find(h, channel);
    if (!s)
        return;
    if (n > s->urls) /* a damaged run held more than it said */
        n = s->urls;
    s->urls -= n;
    s->of->urls -= n;
    f->urls -= n;
}

void shares_release(struct frontier *f, struct host *h)
{
    for (size_t i = 0; i < h->share_count; i++)
        url_went(f, h, h->shares[i].of->channel, h->shares[i].urls);
    f->memory -= h->share_count * sizeof(*h->shares);
    free(h->shares);
    h->shares = NULL;
    h->share_count = 0;
}

void shares_recount(struct frontier *f, struct host *h)
{
    for (size_t i = 0; i < h->share_count; i++)
        url_went(f, h, h->shares[i].of->channel, h->shares[i].urls);
    const struct entry_list *lists[] = {&h->head, &h->tail};
    for (unsigned i = 0; i < 2; i++)
        for (const struct entry *e = lists[i]->first; e; e = e->next)
            url_came(f, h, e->channel, 1);
    size_t at = 0;
    for (const struct lent *l; h->lent && (l = table_next(&f->lent, &at));)
        if (l->host == h && l->entry)
            url_came(f, h, l->entry->channel, 1);
}

void frontier_channel_counts(const struct frontier *f, uint64_t channel, struct frontier_channel *out)
{
    const struct tally *t = table_get(&f->tallies, channel);
    *out = t ? (struct frontier_channel){t->urls, t->given_up} : (struct frontier_channel){0};
}

void frontier_host_shares(const struct frontier *f, struct span host, frontier_share_fn *fn, void *arg)
{
    const struct host *h = host_find(f, host);
    for (size_t i = 0; h && i < h->share_count; i++)
        if (h->shares[i].urls)
            fn(arg, h->shares[i].of->channel, h->shares[i].urls);
}

size_t frontier_host_channels(const struct frontier *f, struct span host, uint64_t *out, size_t max)
{
    const struct host *h = host_find(f, host);
    size_t n = 0;
    for (size_t i = 0; h && n < max && i < h->share_count; i++)
        if (h->shares[i].urls)
            out[n++] = h->shares[i].of->channel;
    return n;
}

/* ---- looking through a queue ---- */

static status list_each(const struct entry_list *l, entry_fn *fn, void *arg)
{
    status st = ST_OK;
    for (const struct entry *e = l->first; st == ST_OK && e; e = e->next)
        st = fn(arg, e);
    return st;
}

static void list_empty(struct frontier *f, struct entry_list *l)
{
    for (struct entry *e; (e = list_pop(l));)
        entry_free(f, e);
}

static status run_read(struct frontier *f, struct frontier_run run, struct entry_list *out)
{
    struct buf packed = {0};
    status st = f->o.bring_back ? f->o.bring_back(f->o.self, run, &packed) : ST_UNSUPPORTED;
    if (st == ST_OK)
        st = entries_unpack(f, buf_span(&packed), out);
    buf_done(&packed);
    return st;
}

status runs_each(struct frontier *f, const struct host *h, entry_fn *fn, void *arg)
{
    status st = ST_OK;
    for (size_t i = 0; st == ST_OK && i < h->run_count; i++) {
        struct entry_list l = {0};
        st = run_read(f, h->runs[h->run_at + i], &l);
        if (st == ST_OK)
            st = list_each(&l, fn, arg);
        list_empty(f, &l);
    }
    return st;
}

static status queue_each(struct frontier *f, const struct host *h, entry_fn *fn, void *arg)
{
    status st = list_each(&h->head, fn, arg);
    if (st == ST_OK)
        st = runs_each(f, h, fn, arg);
    return st == ST_OK ? list_each(&h->tail, fn, arg) : st;
}

struct key_told {
    frontier_key_fn *fn;
    void *arg;
    uint64_t channel;                   /* 0: any */
    const struct table *skips;          /* when given: those whose keys are here, whatever their channel */
    const struct frontier_where *where; /* in place of the channel; NULL: none */
    struct buf url;                     /* scratch */
};

/* Whether it is one of those that are meant. */
static bool is_meant(struct key_told *told, const struct host *h, const struct entry *e)
{
    if (told->skips)
        return table_get(told->skips, e->key) != NULL;
    if (!told->where)
        return !told->channel || e->channel == told->channel;
    buf_clear(&told->url);
    buf_put(&told->url, site_span(&h->sites[e->site]));
    buf_put(&told->url, span_of(e->text, e->target_len));
    return told->where->has_url(told->where->self, buf_span(&told->url), e->channel, e->depth);
}

static status tell_key(void *arg, const struct entry *e)
{
    const struct key_told *k = arg;
    if (k->fn && (!k->channel || e->channel == k->channel))
        k->fn(k->arg, e->key);
    return ST_OK;
}

status frontier_each_waiting(struct frontier *f, uint64_t channel, frontier_key_fn *fn, void *arg)
{
    struct key_told told = {.fn = fn, .arg = arg, .channel = channel};
    status st = ST_OK;
    size_t at = 0;
    for (const struct lent *l; (l = table_next(&f->lent, &at));)
        if (l->entry)
            (void)tell_key(&told, l->entry);
    at = 0;
    for (const struct host *h; st == ST_OK && (h = table_next(&f->hosts, &at));) {
        const struct share *s = share_find(h, channel);
        if (s && s->urls)
            st = queue_each(f, h, tell_key, &told);
    }
    return st;
}

/* ---- with the channel, one by one, or by what they are ---- */

static void drop_from_list(struct frontier *f, struct host *h, struct entry_list *l, struct key_told *told)
{
    struct entry_list kept = {0};
    for (struct entry *e; (e = list_pop(l));) {
        if (!is_meant(told, h, e)) {
            list_append(&kept, e);
            continue;
        }
        if (told->fn)
            told->fn(told->arg, e->key);
        url_went(f, h, e->channel, 1);
        entry_free(f, e);
    }
    *l = kept;
}

static void run_forget(struct frontier *f, struct host *h, size_t i)
{
    size_t at = h->run_at + i;
    memmove(&h->runs[at], &h->runs[at + 1], (h->run_count - i - 1) * sizeof(*h->runs));
    h->run_count--;
}

/* A run is replaced by one without the URLs that are meant, or kept as it is. */
static status drop_from_run(struct frontier *f, struct host *h, size_t i, struct key_told *told, bool *is_gone)
{
    struct frontier_run old = h->runs[h->run_at + i], fresh;
    struct entry_list l = {0};
    struct buf packed = {0};
    status st = run_read(f, old, &l);
    size_t mine = 0;
    for (const struct entry *e = l.first; e; e = e->next)
        mine += is_meant(told, h, e);
    *is_gone = mine && mine == l.n;
    if (st == ST_OK && mine && !*is_gone) {
        for (const struct entry *e = l.first; e; e = e->next)
            if (!is_meant(told, h, e))
                entry_pack(&packed, e);
        st = f->o.put_away(f->o.self, buf_span(&packed), &fresh);
        if (st == ST_OK)
            h->runs[h->run_at + i] = fresh;
    }
    if (st == ST_OK && mine) {
        drop_from_list(f, h, &l, told);
        h->put_away -= mine < h->put_away ? mine : h->put_away;
        if (*is_gone)
            run_forget(f, h, i);
        if (f->o.drop)
            f->o.drop(f->o.self, old);
    }
    list_empty(f, &l);
    buf_done(&packed);
    return st;
}

static status drop_from_host(struct frontier *f, struct host *h, struct key_told *told)
{
    status st = ST_OK;
    drop_from_list(f, h, &h->head, told);
    drop_from_list(f, h, &h->tail, told);
    for (size_t i = 0; st == ST_OK && i < h->run_count;) {
        bool is_gone;
        st = drop_from_run(f, h, i, told, &is_gone);
        i += !is_gone;
    }
    host_update(f, h);
    return st;
}

static void drop_lent(struct frontier *f, struct key_told *told)
{
    size_t at = 0;
    for (struct lent *l; (l = table_next(&f->lent, &at));)
        l->is_dropped |= l->entry && is_meant(told, l->host, l->entry);
}

status frontier_sweep(struct frontier *f)
{
    struct key_told told = {.skips = &f->skips};
    status st = ST_OK;
    size_t at = 0;
    for (struct host *h; st == ST_OK && f->skips.n && (h = table_next(&f->hosts, &at));)
        st = drop_from_host(f, h, &told);
    if (st == ST_OK)
        table_done(&f->skips);
    return st;
}

status frontier_drop_channel(struct frontier *f, uint64_t channel, frontier_key_fn *fn, void *arg)
{
    struct key_told told = {.fn = fn, .arg = arg, .channel = channel};
    status st = ST_OK;
    size_t at = 0;
    drop_lent(f, &told);
    for (struct host *h; st == ST_OK && (h = table_next(&f->hosts, &at));) {
        const struct share *s = share_find(h, channel);
        if (s && s->urls)
            st = drop_from_host(f, h, &told);
    }
    return st;
}

/* ---- with the host ---- */

static void forget_queue(struct frontier *f, struct host *h)
{
    list_empty(f, &h->head);
    list_empty(f, &h->tail);
    for (size_t i = 0; f->o.drop && i < h->run_count; i++)
        f->o.drop(f->o.self, h->runs[h->run_at + i]);
    h->run_at = h->run_count = 0;
    h->put_away = 0;
    shares_recount(f, h);
}

static status drop_host(struct frontier *f, struct host *h, frontier_key_fn *fn, void *arg)
{
    struct key_told told = {.fn = fn, .arg = arg};
    status st = queue_each(f, h, tell_key, &told);
    if (st != ST_OK)
        return st;
    forget_queue(f, h);
    if (h->lent) {
        host_update(f, h);
        return ST_BUSY;
    }
    f->traps -= h->traps;
    host_destroy(f, h);
    return ST_OK;
}

status frontier_drop_host(struct frontier *f, struct span host, frontier_key_fn *fn, void *arg)
{
    struct host *h = host_find(f, host);
    return h ? drop_host(f, h, fn, arg) : ST_NOT_FOUND;
}

/* Dropping a host changes the table that is walked, so the names come first. */
static void note_hosts(const struct frontier *f, const struct frontier_where *where, struct buf *names)
{
    size_t at = 0;
    for (const struct host *h; where->has_host && (h = table_next(&f->hosts, &at));)
        if (where->has_host(where->self, span_of(h->name, h->name_len))) {
            buf_put(names, span_of(h->name, h->name_len));
            buf_putc(names, 0);
        }
}

status frontier_drop_where(struct frontier *f, const struct frontier_where *where, frontier_key_fn *fn, void *arg)
{
    struct key_told told = {.fn = fn, .arg = arg, .where = where};
    struct buf names = {0};
    struct span name;
    status st = ST_OK;
    size_t at = 0;
    drop_lent(f, &told);
    for (struct host *h; st == ST_OK && (h = table_next(&f->hosts, &at));)
        st = drop_from_host(f, h, &told);
    note_hosts(f, where, &names);
    struct span rest = buf_span(&names);
    while (st == ST_OK && rest.n && span_split(&rest, 0, &name)) {
        if (name.n)
            st = frontier_drop_host(f, name, fn, arg);
        if (st == ST_BUSY || st == ST_NOT_FOUND)
            st = ST_OK;
    }
    buf_done(&names);
    buf_done(&told.url);
    return st;
}

static status rewrite_run(struct frontier *f, struct frontier_run *run)
{
    struct buf packed = {0};
    struct frontier_run fresh;
    status st = f->o.bring_back(f->o.self, *run, &packed);
    if (st == ST_OK)
        st = f->o.put_away(f->o.self, buf_span(&packed), &fresh);
    if (st == ST_OK) {
        f->o.drop(f->o.self, *run);
        *run = fresh;
    }
    buf_done(&packed);
    return st;
}

status frontier_rewrite(struct frontier *f, frontier_run_is_fn *fn, void *arg)
{
    status st = ST_OK;
    size_t at = 0;
    for (struct host *h; st == ST_OK && (h = table_next(&f->hosts, &at));)
        for (size_t i = 0; st == ST_OK && i < h->run_count; i++)
            if (fn(arg, h->runs[h->run_at + i]))
                st = rewrite_run(f, &h->runs[h->run_at + i]);
    return st;
}

/* ---- with the network ---- */

bool addr_is_held(const struct frontier *f, const struct addr *a)
{
    for (size_t i = 0; i < f->held_count; i++)
        if (a->family && network_has(&f->held[i], a))
            return true;
    return false;
}

static void update_holds(struct frontier *f, const struct network *n)
{
    size_t at = 0;
    for (struct ip *ip; (ip = table_next(&f->ips, &at));)
        if (ip->addr.family && network_has(n, &ip->addr)) {
            ip->is_held = addr_is_held(f, &ip->addr);
            ip_update(f, ip);
        }
}

static bool is_in(const struct host *h, const struct network *n)
{
    const struct addr *a = h->ip && h->ip->addr.family ? &h->ip->addr : &h->last_addr;
    return a->family && network_has(n, a) && split_has(n, span_of(h->name, h->name_len));
}

bool frontier_hold_network(struct frontier *f, const struct network *n)
{
    bool is_there = false, is_busy = false;
    for (size_t i = 0; i < f->held_count; i++)
        is_there |= network_eq(&f->held[i], n);
    if (!is_there) {
        f->held = mem_realloc(f->held, (f->held_count + 1) * sizeof(*f->held));
        f->held[f->held_count++] = *n;
        update_holds(f, n);
    }
    size_t at = 0;
    for (const struct host *h; !is_busy && (h = table_next(&f->hosts, &at));)
        is_busy = h->lent && is_in(h, n);
    return is_busy;
}

static void end_hold(struct frontier *f, const struct network *n)
{
    for (size_t i = 0; i < f->held_count; i++)
        if (network_eq(&f->held[i], n)) {
            f->held[i] = f->held[--f->held_count];
            update_holds(f, n);
            return;
        }
}

/* ---- a share of a network ---- */

unsigned share_of_limit(const struct frontier *f, const struct net *net, unsigned limit)
{
    unsigned share = limit * net->share / SPLIT_PARTS;
    return net->share && net->share < SPLIT_PARTS ? (share ? share : 1) : limit;
}

unsigned addr_share(const struct frontier *f, const struct addr *a)
{
    for (size_t i = 0; i < f->shared_count; i++)
        if (a->family && network_has(&f->shared[i], a))
            return (unsigned)__builtin_popcount(f->shared[i].parts);
    return 0;
}

void frontier_share_network(struct frontier *f, const struct network *n)
{
    size_t at = 0;
    while (at < f->shared_count && !(f->shared[at].bits == n->bits && addr_eq(&f->shared[at].first, &n->first)))
        at++;
    if (at == f->shared_count && n->parts) {
        f->shared = mem_realloc(f->shared, (f->shared_count + 1) * sizeof(*f->shared));
        f->shared_count++;
    }
    if (n->parts)
        f->shared[at] = *n;
    else if (at < f->shared_count)
        f->shared[at] = f->shared[--f->shared_count];
    at = 0;
    for (struct ip *ip; (ip = table_next(&f->ips, &at));)
        if (ip->addr.family && network_has(n, &ip->addr)) {
            ip->net->share = addr_share(f, &ip->addr);
            ip_update(f, ip);
        }
}

struct pieces {
    const struct host *h;
    mono_ms now;
    wall_ms wall;
    frontier_host_fn *fn;
    void *arg;
    struct buf urls, packed;
    uint64_t n, made;
};

static status piece_out(struct pieces *p)
{
    buf_clear(&p->packed);
    host_pack_piece(p->h, p->now, p->wall, p->made == 0, buf_span(&p->urls), p->n, &p->packed);
    if (p->packed.n > FRONTIER_PIECE_MAX) { /* rules of many sites: whoever gets the host asks for them */
        buf_clear(&p->packed);
        host_pack_piece(p->h, p->now, p->wall, false, buf_span(&p->urls), p->n, &p->packed);
    }
    p->made++;
    p->n = 0;
    buf_clear(&p->urls);
    return p->fn(p->arg, span_of(p->h->name, p->h->name_len), buf_span(&p->packed));
}

static status piece_add(void *arg, const struct entry *e)
{
    struct pieces *p = arg;
    entry_pack(&p->urls, e);
    p->n++;
    return p->urls.n >= FRONTIER_PIECE_BYTES ? piece_out(p) : ST_OK;
}

static status hand_out(struct frontier *f, const struct host *h, mono_ms now, wall_ms wall, frontier_host_fn *fn,
                       void *arg)
{
    struct pieces p = {.h = h, .now = now, .wall = wall, .fn = fn, .arg = arg};
    status st = queue_each(f, h, piece_add, &p);
    if (st == ST_OK && (p.n || !p.made))
        st = piece_out(&p);
    buf_done(&p.urls);
    buf_done(&p.packed);
    return st;
}

status frontier_take_network(struct frontier *f, mono_ms now, wall_ms wall, const struct network *n,
                             frontier_host_fn *fn, frontier_key_fn *key, void *arg)
{
    struct host **hosts = NULL;
    size_t count = 0, cap = 0, at = 0;
    status st = ST_OK;
    for (struct host *h; (h = table_next(&f->hosts, &at));) {
        if (!is_in(h, n))
            continue;
        if (h->lent)
            st = ST_BUSY;
        hosts = mem_grow(hosts, &cap, count + 1, sizeof(struct host *));
        hosts[count++] = h;
    }
    for (size_t i = 0; st == ST_OK && i < count; i++) {
        st = hand_out(f, hosts[i], now, wall, fn, arg);
        if (st == ST_OK)
            st = drop_host(f, hosts[i], key, arg);
    }
    free(hosts);
    if (st == ST_OK)
        end_hold(f, n);
    return st;
}
