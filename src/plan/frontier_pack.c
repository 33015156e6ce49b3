/* frontier_pack.c - hosts and runs of URLs as bytes.
 *
 * A packed host: version, name, politeness (times as wall clock), address, counters, sites with their rules, query
 * variants, the runs put away and whose URLs they hold, then the URLs in memory. docs/formats/frontier.md has it field
 * by field. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/pack.h"
#include "plan/frontier_internal.h"

#define PACK_VERSION 3 /* 1 did not say whose URLs are in the runs, 2 not what pace the host bears */
#define PACK_PLAIN 2   /* of hosts that never complained: programs of before read them */
#define TARGET_MAX 65535
#define ROBOTS_PACKED_MAX (4u << 20)
#define VARIANTS_PACKED_MAX (1u << 16)
#define URLS_PACKED_MAX (256u << 20)
#define RUNS_MAX (1u << 24)
#define SHARES_MAX (1u << 20)
#define MILLIS_MAX 86400000ull /* of a round trip or an answer: a day */
#define RULES_KEPT_MAX_MS (31ll * 86400 * 1000)

enum { HAS_GIVEN_UP = 1 };

void entry_pack(struct buf *out, const struct entry *e)
{
    pack_u64(out, e->key);
    pack_u64(out, e->channel);
    pack_var(out, e->depth);
    pack_u8(out, e->hops);
    pack_u8(out, e->tries);
    pack_u8(out, e->site);
    pack_u8(out, e->is_known);
    pack_text(out, span_of(e->text, e->target_len));
    pack_text(out, span_of(e->text + e->target_len, e->etag_len));
    pack_text(out, span_of(e->text + e->target_len + e->etag_len, e->modified_len));
}

void entries_pack(struct buf *out, const struct entry_list *l)
{
    for (const struct entry *e = l->first; e; e = e->next)
        entry_pack(out, e);
}

status entries_unpack(struct frontier *f, struct span packed, struct entry_list *out)
{
    struct unpack u = unpack_of(packed);
    struct entry_list l = {0};
    while (!u.bad && !unpack_at_end(&u)) {
        uint64_t key = unpack_u64(&u), channel = unpack_u64(&u), depth = unpack_var(&u);
        uint8_t hops = unpack_u8(&u), tries = unpack_u8(&u), site = unpack_u8(&u), known = unpack_u8(&u);
        struct span target = unpack_text(&u, TARGET_MAX), etag = unpack_text(&u, TARGET_MAX);
        struct span modified = unpack_text(&u, TARGET_MAX);
        if (u.bad || depth > UINT16_MAX || site >= FRONTIER_SITES_MAX) {
            u.bad = true;
            break;
        }
        struct entry *e = entry_make(f, target, etag, modified);
        e->key = key;
        e->channel = channel;
        e->depth = (uint16_t)depth;
        e->hops = hops;
        e->tries = tries;
        e->site = site;
        e->is_known = known;
        list_append(&l, e);
    }
    if (u.bad) {
        for (struct entry *e; (e = list_pop(&l));)
            entry_free(f, e);
        return ST_CORRUPT;
    }
    *out = l;
    return ST_OK;
}

static void pack_site(struct buf *out, const struct site *s, mono_ms now, wall_ms wall, bool with_rules)
{
    struct buf packed = {0};
    const struct robots *rules = with_rules ? s->rules : NULL;
    pack_text(out, site_span(s));
    if (rules)
        robots_pack(rules, &packed);
    pack_u8(out, rules != NULL);
    pack_text(out, buf_span(&packed));
    pack_u64(out, (uint64_t)(rules ? wall + (s->rules_expire - now) : 0));
    pack_u64(out, (uint64_t)s->failing_since);
    buf_done(&packed);
}

/* When by the clock on the wall; 0 when it is over. What never ends, ends with the clock. */
static wall_ms wall_of(mono_ms t, mono_ms now, wall_ms wall)
{
    if (t <= now)
        return 0;
    return t - now > INT64_MAX - wall ? INT64_MAX : wall + (t - now);
}

/* Rounded: what was unpacked is a little below its microsecond as often as above it. */
static void pack_millis(struct buf *out, double ms)
{
    pack_var(out, ms < 0 ? 0 : (uint64_t)(ms * 1000 + 0.5) + 1);
}

/* All but the queue. */
static void pack_state(const struct host *h, mono_ms now, wall_ms wall, uint64_t queued, bool with_rules,
                       struct buf *out)
{
    const struct addr *addr = h->ip && h->ip->addr.family ? &h->ip->addr : &h->last_addr;
    bool has_borne = h->borne.pause_ms > 0;
    pack_u8(out, has_borne ? PACK_VERSION : PACK_PLAIN);
    pack_text(out, span_of(h->name, h->name_len));
    pack_u8(out, h->is_given_up ? HAS_GIVEN_UP : 0);
    pack_var(out, h->failures);
    pack_u64(out, (uint64_t)(wall + (h->next_ok > now ? h->next_ok - now : 0)));
    pack_var(out, (uint64_t)h->pace.delay_ms);
    pack_u8(out, addr->family);
    buf_put(out, span_of(addr->b, 16));
    pack_u64(out, (uint64_t)wall_of(h->addr_expires, now, wall));
    pack_var(out, queued);
    pack_var(out, h->taken);
    pack_var(out, h->requests);
    pack_var(out, h->failures_total);
    pack_var(out, h->traps);
    pack_u8(out, (uint8_t)h->last_failure);
    pack_var(out, (uint64_t)h->last_http);
    pack_millis(out, h->rtt_ms);
    pack_millis(out, h->server_ms);
    if (has_borne)
        pack_millis(out, h->borne.pause_ms);
    pack_var(out, h->site_count);
    for (size_t i = 0; i < h->site_count; i++)
        pack_site(out, &h->sites[i], now, wall, with_rules);
}

/* How many of the host's URLs of a channel are in memory, lent ones included. */
static uint64_t in_memory(const struct frontier *f, const struct host *h, uint64_t channel)
{
    const struct entry_list *lists[] = {&h->head, &h->tail};
    uint64_t n = 0;
    for (unsigned i = 0; i < 2; i++)
        for (const struct entry *e = lists[i]->first; e; e = e->next)
            n += e->channel == channel;
    size_t at = 0;
    for (const struct lent *l; h->lent && (l = table_next(&f->lent, &at));)
        n += l->host == h && l->entry && l->entry->channel == channel;
    return n;
}

static void pack_runs(const struct frontier *f, const struct host *h, struct buf *out)
{
    pack_var(out, h->put_away);
    pack_var(out, h->run_count);
    for (size_t i = 0; i < h->run_count; i++) {
        pack_u64(out, h->runs[h->run_at + i].a);
        pack_u64(out, h->runs[h->run_at + i].b);
    }
    pack_var(out, h->run_count ? h->share_count : 0);
    for (size_t i = 0; h->run_count && i < h->share_count; i++) {
        const struct share *s = &h->shares[i];
        uint64_t here = in_memory(f, h, s->of->channel);
        pack_u64(out, s->of->channel);
        pack_var(out, s->urls > here ? s->urls - here : 0);
    }
}

static void pack_no_runs(struct buf *out)
{
    pack_var(out, 0);
    pack_var(out, 0);
    pack_var(out, 0);
}

void host_pack(const struct frontier *f, const struct host *h, mono_ms now, wall_ms wall, bool with_urls,
               struct buf *out)
{
    uint64_t queued = host_queued(h);
    struct buf urls = {0}, variants = {0};
    size_t at = 0;
    /* Lent URLs go first: they were first in the queue. */
    for (const struct lent *l; h->lent && (l = table_next(&f->lent, &at));)
        if (l->host == h && l->entry) {
            queued++;
            if (with_urls)
                entry_pack(&urls, l->entry);
        }
    pack_state(h, now, wall, queued, true, out);
    if (h->variants)
        trap_pack(h->variants, &variants);
    pack_text(out, buf_span(&variants));
    if (with_urls)
        pack_runs(f, h, out);
    else
        pack_no_runs(out);
    if (with_urls)
        entries_pack(&urls, &h->head);
    pack_text(out, buf_span(&urls));
    buf_clear(&urls);
    if (with_urls)
        entries_pack(&urls, &h->tail);
    pack_text(out, buf_span(&urls));
    buf_done(&urls);
    buf_done(&variants);
}

/* Query variants are left out: they are counted with the folder's key, which is nobody else's. */
void host_pack_piece(const struct host *h, mono_ms now, wall_ms wall, bool with_rules, struct span urls, uint64_t n,
                     struct buf *out)
{
    pack_state(h, now, wall, n, with_rules, out);
    pack_text(out, (struct span){0});
    pack_no_runs(out);
    pack_text(out, urls);
    pack_text(out, (struct span){0});
}

/* ---- reading ---- */

struct packed_site {
    struct span prefix, rules;
    bool has_rules;
    wall_ms expires, failing_since;
};

struct packed_host {
    struct span name;
    unsigned flags, failures;
    wall_ms next_ok, addr_expires;
    uint64_t delay_ms, queued, taken, requests, failures_total, traps, last_http;
    struct addr addr;
    uint8_t last_failure;
    double rtt_ms, server_ms, borne_ms;
    size_t site_count;
    struct packed_site sites[FRONTIER_SITES_MAX];
    struct span variants;
    uint64_t put_away, run_count;
    struct span runs; /* 16 bytes each */
    bool has_shares;
    uint64_t share_count;
    struct span shares; /* u64 channel, var URLs */
    struct span head, tail;
};

static double unpack_millis(struct unpack *u)
{
    uint64_t v = unpack_var(u);
    if (v > MILLIS_MAX * 1000)
        v = MILLIS_MAX * 1000;
    return v ? (double)(v - 1) / 1000 : -1;
}

static void parse_shares(struct unpack *u, struct packed_host *p)
{
    p->share_count = unpack_var(u);
    if (p->share_count > SHARES_MAX)
        u->bad = true;
    const char *from = (const char *)u->at;
    for (uint64_t i = 0; !u->bad && i < p->share_count; i++) {
        (void)unpack_u64(u);
        (void)unpack_var(u);
    }
    p->shares = span_of(from, (size_t)((const char *)u->at - from));
}

static status host_parse(struct span packed, struct packed_host *p)
{
    struct unpack u = unpack_of(packed);
    memset(p, 0, sizeof(*p));
    unsigned version = unpack_u8(&u);
    if (version == 0 || version > PACK_VERSION)
        return u.bad || version == 0 ? ST_CORRUPT : ST_NEWER;
    p->name = unpack_text(&u, 255);
    p->flags = unpack_u8(&u);
    p->failures = (unsigned)unpack_var(&u);
    p->next_ok = (wall_ms)unpack_u64(&u);
    p->delay_ms = unpack_var(&u);
    p->addr.family = unpack_u8(&u);
    struct span b = unpack_bytes(&u, 16);
    if (b.n == 16)
        memcpy(p->addr.b, b.p, 16);
    p->addr_expires = (wall_ms)unpack_u64(&u);
    p->queued = unpack_var(&u);
    p->taken = unpack_var(&u);
    p->requests = unpack_var(&u);
    p->failures_total = unpack_var(&u);
    p->traps = unpack_var(&u);
    p->last_failure = unpack_u8(&u);
    p->last_http = unpack_var(&u);
    p->rtt_ms = unpack_millis(&u);
    p->server_ms = unpack_millis(&u);
    p->borne_ms = version >= 3 ? unpack_millis(&u) : 0;
    uint64_t sites = unpack_var(&u);
    if (sites > FRONTIER_SITES_MAX || p->name.n == 0 || p->last_failure >= ST_MAX)
        return ST_CORRUPT;
    for (size_t i = 0; i < sites; i++) {
        struct packed_site *s = &p->sites[i];
        s->prefix = unpack_text(&u, 512);
        s->has_rules = unpack_u8(&u);
        s->rules = unpack_text(&u, ROBOTS_PACKED_MAX);
        s->expires = (wall_ms)unpack_u64(&u);
        s->failing_since = (wall_ms)unpack_u64(&u);
    }
    p->site_count = (size_t)sites;
    p->variants = unpack_text(&u, VARIANTS_PACKED_MAX);
    p->put_away = unpack_var(&u);
    p->run_count = unpack_var(&u);
    if (u.bad || p->run_count > RUNS_MAX)
        return ST_CORRUPT;
    p->runs = unpack_bytes(&u, (size_t)p->run_count * 16);
    p->has_shares = version >= 2;
    if (p->has_shares)
        parse_shares(&u, p);
    p->head = unpack_text(&u, URLS_PACKED_MAX);
    p->tail = unpack_text(&u, URLS_PACKED_MAX);
    return u.bad || !unpack_at_end(&u) ? ST_CORRUPT : ST_OK;
}

static struct frontier_run run_at(struct span runs, size_t i)
{
    struct unpack u = unpack_of(span_cut(runs, i * 16, 16));
    struct frontier_run r;
    r.a = unpack_u64(&u);
    r.b = unpack_u64(&u);
    return r;
}

status frontier_packed_runs(struct span packed, frontier_run_fn *fn, void *arg)
{
    struct packed_host p;
    status st = host_parse(packed, &p);
    for (size_t i = 0; st == ST_OK && i < p.run_count; i++)
        st = fn(arg, run_at(p.runs, i));
    return st;
}

/* A wall time in the past, or absurdly far ahead (a clock that was set), becomes `now`. */
static mono_ms to_mono(wall_ms then, wall_ms wall, mono_ms now, int64_t most)
{
    return then > wall && then - wall <= most ? now + (then - wall) : now;
}

static double borne_of(const struct frontier *f, const struct packed_host *p)
{
    double most = (double)f->o.pace.adaptive_max_ms;
    return p->borne_ms < 0 ? 0 : p->borne_ms > most ? most : p->borne_ms;
}

/* Politeness, counters and robots rules of a host, as they were packed; its URLs are left alone. */
static status apply_state(struct frontier *f, struct host *h, const struct packed_host *p, mono_ms now, wall_ms wall)
{
    status st = ST_OK;
    h->is_given_up = p->flags & HAS_GIVEN_UP;
    h->failures = p->failures;
    h->requests = p->requests;
    h->failures_total = p->failures_total;
    h->last_failure = (status)p->last_failure;
    h->last_http = (int)p->last_http;
    h->rtt_ms = p->rtt_ms;
    h->server_ms = p->server_ms;
    h->borne.pause_ms = borne_of(f, p);
    if (p->addr.family)
        h->last_addr = p->addr;
    for (size_t i = 0; st == ST_OK && i < p->site_count; i++) {
        int at = host_site(f, h, p->sites[i].prefix);
        if (at < 0)
            return ST_CORRUPT;
        struct site *s = &h->sites[at];
        s->failing_since = p->sites[i].failing_since;
        if (!p->sites[i].has_rules)
            continue;
        struct robots *rules = NULL;
        st = robots_unpack(p->sites[i].rules, &rules);
        if (st == ST_OK)
            site_set_rules(f, s, rules, to_mono(p->sites[i].expires, wall, now, RULES_KEPT_MAX_MS));
    }
    host_repace(f, h);
    h->next_ok = to_mono(p->next_ok, wall, now, f->o.pace.backoff_max_ms * 2);
    return st;
}

struct counted {
    struct frontier *f;
    struct host *h;
    uint64_t left;
};

static status count_entry(void *arg, const struct entry *e)
{
    struct counted *c = arg;
    if (c->left) {
        url_came(c->f, c->h, e->channel, 1);
        c->left--;
    }
    return ST_OK;
}

/* Whose URLs are in the runs: as it is written down, or else by looking. Never more and never less than put_away; what
 * nobody claims goes to whoever is there. */
static void count_runs(struct frontier *f, struct host *h, const struct packed_host *p)
{
    struct counted c = {f, h, p->put_away};
    struct unpack u = unpack_of(p->shares);
    for (uint64_t i = 0; i < p->share_count; i++) {
        uint64_t channel = unpack_u64(&u), n = unpack_var(&u);
        n = n < c.left ? n : c.left;
        url_came(f, h, channel, n);
        c.left -= n;
    }
    if (!p->has_shares)
        (void)runs_each(f, h, count_entry, &c); /* a bad run is found out when it is brought back */
    if (c.left)
        url_came(f, h, h->share_count ? h->shares[0].of->channel : 0, c.left);
}

status frontier_put_host(struct frontier *f, mono_ms now, wall_ms wall, struct span packed, struct span *name)
{
    struct packed_host p;
    status st = host_parse(packed, &p);
    if (st != ST_OK)
        return st;
    if (host_find(f, p.name))
        return ST_EXISTS;
    struct host *h = host_make(f, p.name);
    st = apply_state(f, h, &p, now, wall);
    if (st == ST_OK)
        st = entries_unpack(f, p.head, &h->head);
    if (st == ST_OK)
        st = entries_unpack(f, p.tail, &h->tail);
    if (st == ST_OK && p.variants.n)
        st = trap_unpack(p.variants, &h->variants);
    if (st != ST_OK) {
        host_destroy(f, h);
        return st;
    }
    h->taken = p.taken;
    h->traps = p.traps;
    f->traps += p.traps;
    h->put_away = p.put_away;
    for (size_t i = 0; i < p.run_count; i++) {
        h->runs = mem_grow(h->runs, &h->run_cap, h->run_count + 1, sizeof(*h->runs));
        h->runs[h->run_count++] = run_at(p.runs, i);
    }
    f->memory += h->run_cap * sizeof(*h->runs);
    shares_recount(f, h);
    if (h->put_away)
        count_runs(f, h, &p);
    if (name)
        *name = span_of(h->name, h->name_len);
    return ST_OK;
}

status frontier_host_state(struct frontier *f, mono_ms now, wall_ms wall, struct span host, struct buf *packed)
{
    const struct host *h = host_find(f, host);
    if (!h)
        return ST_NOT_FOUND;
    host_pack(f, h, now, wall, false, packed);
    return ST_OK;
}

status frontier_set_state(struct frontier *f, mono_ms now, wall_ms wall, struct span packed)
{
    struct packed_host p;
    status st = host_parse(packed, &p);
    if (st != ST_OK)
        return st;
    struct host *h = host_find(f, p.name);
    if (!h)
        h = host_make(f, p.name);
    st = apply_state(f, h, &p, now, wall);
    host_update(f, h);
    return st;
}

/* ---- from another folder ---- */

/* A site is "http://" or "https://", the host's own name, and a port at most. */
static bool is_site_of(struct span site, struct span host)
{
    struct arena a;
    struct url u;
    arena_init(&a);
    bool is_fine = url_parse(&a, site, NULL, &u) == ST_OK && url_is_http(&u) && span_eq(u.host, host) &&
                   span_eq(url_site(&a, &u), site);
    arena_done(&a);
    return is_fine;
}

static status check_sites(const struct packed_host *p)
{
    for (size_t i = 0; i < p->site_count; i++)
        if (!is_site_of(p->sites[i].prefix, p->name))
            return ST_CORRUPT;
    return p->site_count ? ST_OK : ST_CORRUPT;
}

/* Rules that we lack; the later of two ends to a pause; the longer of two rows of failures. */
static status merge_state(struct frontier *f, struct host *h, const struct packed_host *p, mono_ms now, wall_ms wall)
{
    mono_ms until = to_mono(p->next_ok, wall, now, f->o.pace.backoff_max_ms * 2);
    status st = ST_OK;
    for (size_t i = 0; st == ST_OK && i < p->site_count; i++) {
        int at = host_site(f, h, p->sites[i].prefix);
        if (at < 0 || h->sites[at].rules || !p->sites[i].has_rules)
            continue;
        struct robots *rules = NULL;
        st = robots_unpack(p->sites[i].rules, &rules);
        if (st == ST_OK)
            site_set_rules(f, &h->sites[at], rules, to_mono(p->sites[i].expires, wall, now, RULES_KEPT_MAX_MS));
    }
    if (p->failures > h->failures)
        h->failures = p->failures;
    if (borne_of(f, p) > h->borne.pause_ms)
        h->borne.pause_ms = borne_of(f, p);
    if (until > h->next_ok)
        h->next_ok = until;
    host_repace(f, h);
    return st;
}

status frontier_adopt_host(struct frontier *f, mono_ms now, wall_ms wall, struct span packed)
{
    struct packed_host p;
    status st = host_parse(packed, &p);
    if (st == ST_OK)
        st = check_sites(&p);
    if (st != ST_OK)
        return st;
    struct host *h = host_find(f, p.name);
    if (h) {
        st = merge_state(f, h, &p, now, wall);
    } else {
        h = host_make(f, p.name);
        st = apply_state(f, h, &p, now, wall);
        if (st != ST_OK) {
            host_destroy(f, h);
            return st;
        }
        h->is_given_up = false; /* from here it may answer */
        h->taken = p.taken > p.queued ? p.taken - p.queued : 0;
    }
    host_rest(f, h, now);
    host_update(f, h);
    return st;
}

static status url_out(const struct packed_host *p, const struct entry *e, struct buf *href, frontier_url_fn *fn,
                      void *arg)
{
    if (e->site >= p->site_count)
        return ST_CORRUPT;
    buf_clear(href);
    buf_put(href, p->sites[e->site].prefix);
    buf_put(href, span_of(e->text, e->target_len));
    struct frontier_packed_url u = {.url = buf_span(href),
                                    .channel = e->channel,
                                    .depth = e->depth,
                                    .hops = e->hops,
                                    .is_known = e->is_known,
                                    .etag = span_of(e->text + e->target_len, e->etag_len),
                                    .last_modified = span_of(e->text + e->target_len + e->etag_len, e->modified_len)};
    return fn(arg, &u);
}

status frontier_packed_urls(struct span packed, frontier_url_fn *fn, void *arg)
{
    struct packed_host p;
    struct frontier none = {0}; /* only counts the entries' bytes */
    struct buf href = {0};
    status st = host_parse(packed, &p);
    if (st == ST_OK && p.run_count)
        st = ST_INVALID;
    const struct span lists[] = {p.head, p.tail};
    for (unsigned i = 0; st == ST_OK && i < 2; i++) {
        struct entry_list l = {0};
        st = entries_unpack(&none, lists[i], &l);
        for (struct entry *e; (e = list_pop(&l)); entry_free(&none, e))
            if (st == ST_OK)
                st = url_out(&p, e, &href, fn, arg);
    }
    buf_done(&href);
    return st;
}

/* ---- all of them ---- */

status frontier_each_host(struct frontier *f, mono_ms now, wall_ms wall, bool with_urls, frontier_host_fn *fn,
                          void *arg)
{
    struct buf packed = {0};
    status st = ST_OK;
    size_t at = 0;
    for (struct host *h; st == ST_OK && (h = table_next(&f->hosts, &at));) {
        buf_clear(&packed);
        host_pack(f, h, now, wall, with_urls, &packed);
        st = fn(arg, span_of(h->name, h->name_len), buf_span(&packed));
    }
    buf_done(&packed);
    return st;
}

status frontier_take_host(struct frontier *f, mono_ms now, wall_ms wall, struct span host, struct buf *packed)
{
    struct host *h = host_find(f, host);
    if (!h)
        return ST_NOT_FOUND;
    if (h->lent)
        return ST_BUSY;
    host_pack(f, h, now, wall, true, packed);
    f->traps -= h->traps;
    host_destroy(f, h);
    return ST_OK;
}

bool frontier_has_host(const struct frontier *f, struct span host)
{
    return host_find(f, host) != NULL;
}

bool frontier_host_was_met(const struct frontier *f, struct span host)
{
    const struct host *h = host_find(f, host);
    return h && h->last_addr.family;
}

status frontier_info_read(struct span packed, struct frontier_info *out)
{
    struct packed_host p;
    status st = host_parse(packed, &p);
    if (st != ST_OK)
        return st;
    *out = (struct frontier_info){
        .name = p.name,
        .addr = p.addr,
        .queued = p.queued,
        .taken = p.taken,
        .requests = p.requests,
        .failures_total = p.failures_total,
        .traps = p.traps,
        .failures = p.failures,
        .is_given_up = p.flags & HAS_GIVEN_UP,
        .last_failure = (status)p.last_failure,
        .last_http = (int)p.last_http,
        .next_ok = p.next_ok,
        .delay_ms = (int64_t)p.delay_ms,
        .rtt_ms = p.rtt_ms,
        .server_ms = p.server_ms,
        .borne_ms = p.borne_ms > 0 ? p.borne_ms : 0,
        .site_count = p.site_count,
    };
    if (p.variants.n)
        st = trap_unpack(p.variants, &out->traps_seen);
    for (size_t i = 0; st == ST_OK && i < p.site_count; i++) {
        out->sites[i].site = p.sites[i].prefix;
        out->sites[i].robots_expires = p.sites[i].expires;
        out->sites[i].robots_failing_since = p.sites[i].failing_since;
        if (p.sites[i].has_rules)
            st = robots_unpack(p.sites[i].rules, &out->sites[i].rules);
    }
    if (st != ST_OK)
        frontier_info_done(out);
    return st;
}

void frontier_info_done(struct frontier_info *i)
{
    trap_free(i->traps_seen);
    for (size_t s = 0; s < i->site_count; s++)
        robots_free(i->sites[s].rules);
    *i = (struct frontier_info){0};
}
