/* shard.c - one thread's crawl: lends URLs from its frontier, fetches them, takes results in, talks to the other
 * shards.
 *
 * A page passes through shard_pump (lent) -> fetcher -> visit.c (facts, links) -> shard_finish (journal, then
 * frontier_done). */
#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/pack.h"
#include "crawl/engine.h"
#include "io/clock.h"

#define RESOLVES_MAX 256            /* names asked for at a time */
#define INBOX_BYTES_MAX (16u << 20) /* of a peer: above it we stop lending until it has caught up */
#define PUBLISH_MS 200
#define HOST_CHANNELS_MAX 64 /* of a host, asked about */

enum { MSG_URL = 1, MSG_HOST, MSG_WIDEN };
enum { URL_URGENT = 1, URL_KNOWN = 2 };

/* Not the loop's time: a turn may last, when the shard is parked or the machine is busy, and a pause that is counted
 * from before the answer came is too short. */
mono_ms shard_now(struct shard *s)
{
    return clock_mono();
}

void job_free(struct job *j)
{
    free((char *)j->robots_url.p);
    timer_free(j->wait);
    free(j);
}

/* ---- messages ---- */

static void send(struct shard *to, uint8_t type, struct span payload)
{
    pthread_mutex_lock(&to->lock);
    bool was_empty = to->inbox.n == 0;
    pack_u8(&to->inbox, type);
    pack_text(&to->inbox, payload);
    pthread_mutex_unlock(&to->lock);
    atomic_store(&to->is_idle, false);
    if (was_empty && to->waker)
        waker_wake(to->waker);
}

void shard_send_url(struct shard *to, const struct frontier_url *u)
{
    struct buf b = {0};
    lane_sent(to->crawl, u->channel, 1);
    pack_u64(&b, u->key);
    pack_u64(&b, u->channel);
    pack_var(&b, u->depth);
    pack_u8(&b, (uint8_t)u->hops);
    pack_u8(&b, (uint8_t)((u->is_urgent ? URL_URGENT : 0) | (u->is_known ? URL_KNOWN : 0)));
    pack_text(&b, u->url->href);
    pack_text(&b, u->etag);
    pack_text(&b, u->last_modified);
    send(to, MSG_URL, buf_span(&b));
    buf_done(&b);
}

void shard_send_host(struct shard *to, struct span packed, const struct addr *addr, mono_ms expires, unsigned choices)
{
    struct buf b = {0};
    pack_u8(&b, addr->family);
    buf_put(&b, span_of(addr->b, sizeof(addr->b)));
    pack_u64(&b, (uint64_t)expires);
    pack_var(&b, choices);
    pack_text(&b, packed);
    send(to, MSG_HOST, buf_span(&b));
    buf_done(&b);
}

void shard_send_widen(struct shard *to, uint64_t channel, struct span url)
{
    struct buf b = {0};
    pack_u64(&b, channel);
    pack_text(&b, url);
    send(to, MSG_WIDEN, buf_span(&b));
    buf_done(&b);
}

static void queue_here(struct shard *s, const struct frontier_url *u)
{
    frontier_refusal refused = frontier_add(s->frontier, shard_now(s), u);
    if (refused != FRONTIER_OK) {
        struct buf b = {0};
        log_escape(&b, u->url->href, CRAWL_URL_MAX);
        log_write(s->crawl->o.log, LOG_DEBUG, "frontier", "parked as a trap url=%s", buf_cstr(&b));
        buf_done(&b);
    }
}

void shard_queue(struct shard *s, const struct frontier_url *u)
{
    struct crawl *cr = s->crawl;
    unsigned owner = route_host(cr->route, u->url->host);
    /* A host that is ours and not here may be on its way: behind it in the inbox its URLs are in order. */
    if (owner != s->index || !frontier_has_host(s->frontier, u->url->host)) {
        shard_send_url(&cr->shards[owner], u);
        return;
    }
    queue_here(s, u);
}

static void take_url(struct shard *s, struct span payload)
{
    struct unpack u = unpack_of(payload);
    struct frontier_url f = {.key = unpack_u64(&u), .channel = unpack_u64(&u)};
    f.depth = (unsigned)unpack_var(&u);
    f.hops = unpack_u8(&u);
    uint8_t flags = unpack_u8(&u);
    f.is_urgent = flags & URL_URGENT;
    f.is_known = flags & URL_KNOWN;
    struct span href = unpack_text(&u, URL_INPUT_MAX);
    f.etag = unpack_text(&u, URL_INPUT_MAX);
    f.last_modified = unpack_text(&u, URL_INPUT_MAX);
    struct url url;
    struct arena a;
    lane_arrived(s, f.channel, 1);
    arena_init(&a);
    if (!u.bad && url_parse(&a, href, NULL, &url) == ST_OK) {
        unsigned owner = route_host(s->crawl->route, url.host);
        f.url = &url;
        if (owner == s->index)
            queue_here(s, &f);
        else
            shard_send_url(&s->crawl->shards[owner], &f); /* it has moved on */
    }
    arena_done(&a);
}

/* The address comes along: names with several addresses would wander between shards for ever if each asked for itself.
 */
static void host_arrived(void *arg, uint64_t channel, uint64_t urls)
{
    lane_arrived(arg, channel, urls);
}

static void take_host(struct shard *s, struct span payload)
{
    struct unpack u = unpack_of(payload);
    struct addr addr = {.family = unpack_u8(&u)};
    struct span bytes = unpack_bytes(&u, sizeof(addr.b)), name;
    memcpy(addr.b, bytes.p, bytes.n);
    mono_ms expires = (mono_ms)unpack_u64(&u);
    unsigned choices = (unsigned)unpack_var(&u);
    struct span packed = unpack_text(&u, SIZE_MAX);
    status st = frontier_put_host(s->frontier, shard_now(s), clock_wall(), packed, &name);
    if (st == ST_OK) {
        frontier_host_shares(s->frontier, name, host_arrived, s);
        frontier_resolved(s->frontier, shard_now(s), name, ST_OK, &addr, expires, choices);
    } else {
        crawl_fail(s->crawl, st, "move a host between shards");
    }
}

static void take_widen(struct shard *s, struct span payload)
{
    struct unpack u = unpack_of(payload);
    struct channel *c = shard_channel(s, unpack_u64(&u));
    struct span href = unpack_text(&u, URL_INPUT_MAX);
    struct url url;
    struct arena a;
    arena_init(&a);
    if (c && url_parse(&a, href, NULL, &url) == ST_OK)
        channel_widen(c, &url);
    arena_done(&a);
}

bool shard_drain(struct shard *s)
{
    pthread_mutex_lock(&s->lock);
    struct buf in = s->inbox;
    s->inbox = (struct buf){0};
    pthread_mutex_unlock(&s->lock);
    if (!in.n)
        return false;
    struct unpack u = unpack_of(buf_span(&in));
    while (!unpack_at_end(&u) && !u.bad) {
        uint8_t type = unpack_u8(&u);
        struct span payload = unpack_text(&u, SIZE_MAX);
        if (type == MSG_URL)
            take_url(s, payload);
        else if (type == MSG_HOST)
            take_host(s, payload);
        else
            take_widen(s, payload);
    }
    assert(!u.bad);
    buf_done(&in);
    return true;
}

/* ---- addresses ---- */

static unsigned public_addrs(const struct shard *s, const struct resolved *r, struct addr *out)
{
    unsigned n = 0;
    for (unsigned i = 0; i < r->count; i++)
        if (s->crawl->o.fetch.allow_private || addr_classify(&r->addrs[i]) == ADDR_PUBLIC)
            out[n++] = r->addrs[i];
    return n;
}

struct lookup {
    struct shard *shard;
    unsigned attempt;
    size_t host_len;
    char host[];
};

static void host_leaves(void *arg, uint64_t channel, uint64_t urls)
{
    lane_sent(arg, channel, urls);
}

static void host_stays(void *arg, uint64_t channel, uint64_t urls)
{
    lane_arrived(arg, channel, urls);
}

/* False: something of the host is under way here. `host` may be gone afterwards. */
static bool hand_over(struct shard *s, struct span host, unsigned owner, const struct addr *addr, mono_ms expires,
                      unsigned choices)
{
    struct buf packed = {0};
    char *copy = mem_str(host);
    struct span name = span_of(copy, host.n);
    frontier_host_shares(s->frontier, host, host_leaves, s->crawl);
    bool taken = frontier_take_host(s->frontier, shard_now(s), clock_wall(), host, &packed) == ST_OK;
    if (!taken)
        frontier_host_shares(s->frontier, name, host_stays, s);
    if (taken) {
        /* In this order: whoever still sends URLs of it here has them forwarded, and none overtakes the host itself. */
        shard_send_host(&s->crawl->shards[owner], buf_span(&packed), addr, expires, choices);
        route_move(s->crawl->route, name, owner);
    }
    buf_done(&packed);
    free(copy);
    return taken;
}

/* Whoever gave us the work may keep us from this address: all channels that have something there must be allowed it. */
static bool may_use(struct shard *s, struct span host, const struct addr *addr)
{
    struct crawl *cr = s->crawl;
    uint64_t channels[HOST_CHANNELS_MAX];
    bool may = true;
    if (!cr->o.may_use)
        return true;
    size_t n = frontier_host_channels(s->frontier, host, channels, HOST_CHANNELS_MAX);
    for (size_t i = 0; i < n && may; i++)
        may = cr->o.may_use(cr->o.self, host, addr, channels[i]);
    return may;
}

/* Of those that may be used every one is tried in turn: `list` keeps them, and only a host without any is turned away.
 * One with a second address in somebody else's network would else be lost to us with its first failure. */
static unsigned allowed_addrs(struct shard *s, struct span host, struct addr *list, unsigned n)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < n; i++)
        if (may_use(s, host, &list[i]))
            list[kept++] = list[i];
    return kept;
}

/* Of a name with addresses in several networks each of their owners would think that it is his. */
static bool is_somebody_elses(struct shard *s, struct span host, const struct addr *home)
{
    const struct crawl *cr = s->crawl;
    uint64_t channels[HOST_CHANNELS_MAX];
    bool is_ours = true;
    if (!cr->o.is_ours || frontier_host_was_met(s->frontier, host))
        return false;
    size_t n = frontier_host_channels(s->frontier, host, channels, HOST_CHANNELS_MAX);
    for (size_t i = 0; i < n && is_ours; i++)
        is_ours = cr->o.is_ours(cr->o.self, host, home, channels[i]);
    return !is_ours;
}

static void turn_away(struct shard *s, struct span host, const struct addr *addr)
{
    struct crawl *cr = s->crawl;
    uint64_t channels[HOST_CHANNELS_MAX];
    if (!cr->o.turned_away)
        return;
    size_t n = frontier_host_channels(s->frontier, host, channels, HOST_CHANNELS_MAX);
    for (size_t i = 0; i < n; i++)
        if (!cr->o.may_use(cr->o.self, host, addr, channels[i]))
            cr->o.turned_away(cr->o.self, host, addr, channels[i]);
}

static void on_dropped(void *arg, uint64_t key)
{
    crawl_note_away(arg, key);
}

/* With something of it under way it stays, empty, and is asked for again when more comes. `host` may be gone
 * afterwards. */
static void refuse_host(struct shard *s, struct span host, const struct addr *addr, unsigned choices)
{
    mono_ms now = shard_now(s);
    turn_away(s, host, addr);
    status st = frontier_drop_host(s->frontier, host, on_dropped, s->crawl);
    if (st == ST_BUSY)
        frontier_resolved(s->frontier, now, host, ST_OK, addr, now, choices);
    else if (st != ST_OK && st != ST_NOT_FOUND)
        crawl_fail(s->crawl, st, "read waiting URLs back from the data folder");
}

static void resolved(struct shard *s, struct span host, unsigned attempt, const struct resolved *r)
{
    struct crawl *cr = s->crawl;
    mono_ms now = shard_now(s);
    if (!frontier_has_host(s->frontier, host))
        return; /* it was taken out meanwhile */
    if (r->st != ST_OK) {
        crawl_note_host_failure(cr, host, r->st, status_name(r->st));
        frontier_resolved(s->frontier, now, host, r->st, NULL, 0, 0);
        return;
    }
    struct addr list[RESOLVER_ADDRS_MAX];
    unsigned choices = public_addrs(s, r, list);
    if (!choices) {
        char text[ADDR_TEXT_MAX];
        struct buf why = {0};
        buf_printf(&why, "%s is a %s address", addr_format(&r->addrs[0], text),
                   addr_class_name(addr_classify(&r->addrs[0])));
        crawl_note_host_failure(cr, host, ST_REFUSED, buf_cstr(&why));
        buf_done(&why);
        frontier_resolved(s->frontier, now, host, ST_REFUSED, NULL, 0, 0);
        return;
    }
    struct addr home = addr_home(list, choices);
    choices = is_somebody_elses(s, host, &home) ? 0 : allowed_addrs(s, host, list, choices);
    if (!choices) {
        refuse_host(s, host, &home, r->count);
        return;
    }
    struct addr addr = list[attempt % choices];
    unsigned owner = route_addr(cr->route, &addr);
    if (owner != s->index) {
        /* When something of it is under way it stays where it is for a moment, and is looked up again. */
        if (!hand_over(s, host, owner, &addr, r->expires, choices))
            frontier_resolved(s->frontier, now, host, ST_OK, &addr, now + 1000, choices);
        return;
    }
    table_put(&s->dns_took, siphash(&cr->key, host), (void *)(uintptr_t)(r->took_us + 1));
    frontier_resolved(s->frontier, now, host, ST_OK, &addr, r->expires, choices);
}

static void on_resolved(void *arg, const struct resolved *r)
{
    struct lookup *l = arg;
    struct shard *s = l->shard;
    s->resolving--;
    if (r->st != ST_CANCELLED && !s->is_quitting) {
        resolved(s, span_of(l->host, l->host_len), l->attempt, r);
        shard_pump(s);
    }
    free(l);
}

/* True: some answers were at hand. */
static bool resolve_some(struct shard *s)
{
    bool any = false;
    struct span host;
    unsigned attempt;
    while (s->resolving < RESOLVES_MAX && frontier_next_unresolved(s->frontier, shard_now(s), &host, &attempt)) {
        struct resolved r = {0};
        if (s->crawl->o.fetch.proxy.n) { /* the proxy resolves */
            const struct addr none = {0};
            frontier_resolved(s->frontier, shard_now(s), host, ST_OK, &none, MONO_NEVER, 1);
            any = true;
        } else if (resolver_peek(s->resolver, host, &r)) {
            resolved(s, host, attempt, &r);
            any = true;
        } else {
            struct lookup *l = mem_alloc(sizeof(*l) + host.n);
            l->shard = s;
            l->attempt = attempt;
            l->host_len = host.n;
            memcpy(l->host, host.p, host.n);
            s->resolving++;
            resolver_lookup(s->resolver, host, on_resolved, l);
        }
    }
    return any;
}

/* ---- lending and fetching ---- */

/* Of pages that are tried again every attempt, of robots.txt every hop. */
static void keep_answer(struct shard *s, const struct job *j, const struct fetch_result *r)
{
    struct buf *facts = &s->archive.facts;
    buf_clear(facts);
    if (r->timing.total_us >= 0)
        buf_printf(facts, "fetchTimeMs: %d\r\n", r->timing.total_us / 1000);
    if (j->lease.kind == LEASE_PAGE)
        buf_printf(facts, "depth: %u\r\nhops: %u\r\n", j->lease.depth, j->lease.hops);
    archive_take(&s->archive, j->robots_url.n ? j->robots_url : j->lease.url, r, buf_span(facts));
}

/* Cut off each time that it was asked for: what came counts, as browsers show it. Without validators, so that all of it
 * comes once the server is mended. */
static bool counts_in_part(const struct job *j, const struct fetch_result *r, struct fetch_result *part)
{
    if (j->lease.kind != LEASE_PAGE || !r->body_short || !r->body.n || j->lease.tries + 1 < FRONTIER_TRIES_MAX)
        return false;
    *part = *r;
    part->st = ST_OK;
    part->why = "";
    part->body_cut = true;
    part->etag = part->last_modified = (struct span){0};
    return true;
}

static void on_fetched(void *arg, const struct fetch_result *r)
{
    struct job *j = arg;
    struct shard *s = j->shard;
    s->in_flight--;
    if (s->is_quitting) {
        job_free(j);
        return;
    }
    s->stats.requests++;
    s->stats.bytes_wire += r->wire_bytes;
    if (s->archive.files)
        keep_answer(s, j, r);
    struct fetch_result part;
    if (counts_in_part(j, r, &part))
        r = &part;
    if (j->lease.kind == LEASE_ROBOTS)
        robots_fetch_done(s, j, r);
    else if (!readings_ask(s, j, r) && !programs_ask(s, j, r))
        visit_page(s, j, r, NULL);
    /* Once a turn, not once a page: requests then leave in bunches, so that the server wakes once for several and we
     * stay in the same code (and its cache lines) for longer. It saved a fifth of the CPU time a page on loopback. */
    if (!s->is_stalled)
        timer_set(s->due, 0);
}

bool wants_capture(const struct shard *s, uint64_t channel)
{
    const struct shard_lane *l = s->has_captures ? shard_lane(s, channel) : NULL;
    return l && l->wants_capture;
}

void shard_fetch(struct shard *s, struct job *j, struct span url, const struct addr *addr)
{
    s->in_flight++;
    bool is_page = j->lease.kind == LEASE_PAGE;
    bool has_conditions = is_page && (!s->archive.files || archive_has(&s->archive, url));
    struct fetch_req req = {.url = url,
                            .addr = *addr,
                            .etag = has_conditions ? j->lease.etag : (struct span){0},
                            .last_modified = has_conditions ? j->lease.last_modified : (struct span){0},
                            .any_type = !is_page,
                            .wants = readings_wants(s->crawl),
                            .keep_headers = is_page && programs_want_headers(s, j->lease.channel),
                            .keep_raw = s->archive.files || (is_page && wants_capture(s, j->lease.channel)),
                            .done = on_fetched,
                            .arg = j};
    fetcher_get(s->fetcher, &req);
}

static void start(struct shard *s, const struct lease *lease)
{
    struct job *j = mem_alloc(sizeof(*j));
    j->shard = s;
    j->lease = *lease;
    j->dns_us = -1;
    if (lease->kind == LEASE_REFUSED || lease->kind == LEASE_UNREACHABLE) {
        visit_without_request(s, j);
        return;
    }
    if (s->dns_took.n) {
        uintptr_t took = (uintptr_t)table_remove(&s->dns_took, siphash(&s->crawl->key, lease->host));
        if (took)
            j->dns_us = (int32_t)took - 1;
    }
    if (lease->kind == LEASE_PAGE)
        atomic_fetch_add(&s->crawl->lent_pages, 1);
    if (lease->kind == LEASE_ROBOTS)
        robots_fetch_start(s, j);
    else
        shard_fetch(s, j, lease->url, &lease->addr);
}

static bool peers_are_behind(struct shard *s)
{
    struct crawl *cr = s->crawl;
    bool behind = writer_backlog(cr->writer) > WRITER_QUEUE_MAX;
    for (unsigned i = 0; !behind && cr->shard_count > 1 && i < cr->shard_count; i++) {
        pthread_mutex_lock(&cr->shards[i].lock);
        behind = cr->shards[i].inbox.n > INBOX_BYTES_MAX;
        pthread_mutex_unlock(&cr->shards[i].lock);
    }
    return behind;
}

static bool page_limit_reached(struct crawl *cr)
{
    return cr->o.pages_max && cr->pass == 1 &&
           atomic_load(&cr->good_pages) + atomic_load(&cr->lent_pages) >= cr->o.pages_max;
}

static void lend_some(struct shard *s)
{
    struct crawl *cr = s->crawl;
    int64_t wait = -1;
    /* Looked at once a turn, not once a page: a turn lends at most what is in flight. */
    if (peers_are_behind(s) || readings_are_behind(s))
        wait = 20;
    while (wait < 0 && s->in_flight < cr->jobs_a_shard) {
        struct lease lease;
        mono_ms wake;
        if (page_limit_reached(cr)) {
            wait = 20;
            break;
        }
        status st = frontier_take(s->frontier, shard_now(s), &lease, &wake);
        if (st == ST_OK) {
            start(s, &lease);
            continue;
        }
        if (st == ST_AGAIN && wake != MONO_NEVER)
            wait = wake - shard_now(s) > 0 ? wake - shard_now(s) : 0;
        else if (st != ST_AGAIN)
            crawl_fail(cr, st, "read waiting URLs back from the data folder");
        break;
    }
    if (wait >= 0)
        timer_set(s->due, wait);
    else
        timer_stop(s->due);
}

void shard_pump(struct shard *s)
{
    struct crawl *cr = s->crawl;
    if (s->is_quitting || s->is_stalled || atomic_load(&cr->is_stopping) || atomic_load(&cr->is_paused))
        return;
    resolve_some(s);
    lend_some(s);
    /* Hosts whose address had expired came up, or URLs were refused and wait to be written down. */
    if (resolve_some(s) || s->framed.n || archive_is_waiting(&s->archive))
        timer_set(s->due, 0);
    if (s->in_flight == 0 && s->resolving == 0 && frontier_is_idle(s->frontier)) {
        writer_put(cr->writer, &s->batch);
        shard_publish(s);
        pthread_mutex_lock(&s->lock);
        bool empty = s->inbox.n == 0;
        pthread_mutex_unlock(&s->lock);
        if (empty && !atomic_exchange(&s->is_idle, true))
            waker_wake(cr->waker);
    } else {
        atomic_store(&s->is_idle, false);
    }
}

/* ---- life ---- */

void shard_publish(struct shard *s)
{
    struct frontier_counts counts;
    frontier_counts(s->frontier, shard_now(s), &counts);
    s->stats.in_flight = s->in_flight;
    pthread_mutex_lock(&s->lock);
    s->published = s->stats;
    s->counts = counts;
    programs_publish(s);
    pthread_mutex_unlock(&s->lock);
    lane_publish(s);
}

static void park(struct shard *s)
{
    struct crawl *cr = s->crawl;
    pthread_mutex_lock(&cr->park_lock);
    if (cr->want_park) {
        cr->parked++;
        pthread_cond_broadcast(&cr->park_changed);
        while (cr->want_park)
            pthread_cond_wait(&cr->park_changed, &cr->park_lock);
        cr->parked--;
        pthread_cond_broadcast(&cr->park_changed);
    }
    pthread_mutex_unlock(&cr->park_lock);
}

static void on_wake(void *arg)
{
    struct shard *s = arg;
    finish_flush(s); /* a checkpoint must not fall between a page's links being noted and their being written down */
    park(s);
    if (s->is_quitting) {
        loop_stop(s->loop);
        return;
    }
    shard_drain(s);
    shard_pump(s);
}

static void on_due(void *arg)
{
    struct shard *s = arg;
    finish_flush(s);
    shard_pump(s);
}

static void on_tick(void *arg)
{
    struct shard *s = arg;
    frontier_doubt(s->frontier, atomic_load(&s->crawl->is_doubted));
    writer_put(s->crawl->writer, &s->batch);
    shard_publish(s);
    timer_set(s->tick, PUBLISH_MS);
}

static void *run(void *arg)
{
    struct shard *s = arg;
    timer_set(s->tick, PUBLISH_MS);
    waker_wake(s->waker);
    loop_run(s->loop);
    return NULL;
}

static status put_away(void *self, struct span data, struct frontier_run *run)
{
    struct shard *s = self;
    struct run_ref ref;
    status st = runs_put(s->crawl->runs, data, &ref);
    if (st == ST_OK)
        *run = (struct frontier_run){ref.offset, (uint64_t)ref.file << 32 | ref.bytes};
    return st;
}

struct run_ref run_ref_of(struct frontier_run run)
{
    return (struct run_ref){.file = (uint32_t)(run.b >> 32), .bytes = (uint32_t)run.b, .offset = run.a};
}

static status bring_back(void *self, struct frontier_run run, struct buf *data)
{
    struct shard *s = self;
    struct run_ref ref = run_ref_of(run);
    return runs_get(s->crawl->runs, &ref, data);
}

static void drop(void *self, struct frontier_run run)
{
    struct shard *s = self;
    struct run_ref ref = run_ref_of(run);
    runs_drop(s->crawl->runs, &ref);
}

static bool is_beside_dropped(void *arg, struct frontier_run run)
{
    struct shard *s = arg;
    struct run_ref ref = run_ref_of(run);
    return runs_has_dropped(s->crawl->runs, &ref);
}

status shard_rewrite_runs(struct shard *s)
{
    return frontier_rewrite(s->frontier, is_beside_dropped, s);
}

static bool is_own(void *self, struct span host)
{
    const struct shard *s = self;
    for (size_t i = 0; i < s->crawl->o.own_site_count; i++)
        if (span_eq_nocase(s->crawl->o.own_sites[i], host))
            return true;
    return false;
}

status shard_init(struct shard *s, struct crawl *cr, unsigned index)
{
    const struct crawl_opts *o = &cr->o;
    s->crawl = cr;
    s->index = index;
    pthread_mutex_init(&s->lock, NULL);
    arena_init(&s->arena);
    archive_init(&s->archive, o->archive, o->archive_kind);
    s->asked_last = &s->asked_first;
    struct frontier_opts f = {.pace = pace_default,
                              .key = &cr->key,
                              .memory_max = (o->frontier_bytes ? o->frontier_bytes : 64u << 20) / cr->shard_count,
                              .seed = cr->key.k0 ^ index,
                              .is_own = is_own,
                              .put_away = put_away,
                              .bring_back = bring_back,
                              .drop = drop,
                              .self = s};
    if (o->delay_ms >= 0)
        f.pace.delay_ms = o->delay_ms;
    if (o->in_lab)
        f.pace.delay_floor_ms = 0;
    f.pace.per_host = o->per_host;
    s->frontier = frontier_new(&f);
    s->loop = loop_new();
    s->waker = waker_new(s->loop, on_wake, s);
    s->due = timer_new(s->loop, on_due, s);
    s->tick = timer_new(s->loop, on_tick, s);
    status st = resolver_new(s->loop, &o->dns, &s->resolver);
    if (st == ST_OK) {
        struct fetcher_opts fo = o->fetch;
        fo.rate_bytes_per_s /= cr->shard_count;
        if (fo.connections_max < cr->jobs_a_shard * 2)
            fo.connections_max = cr->jobs_a_shard * 2;
        st = fetcher_new(s->loop, &fo, &s->fetcher);
    }
    return st;
}

void shard_start(struct shard *s)
{
    s->has_thread = true;
    if (pthread_create(&s->thread, NULL, run, s) != 0)
        abort(); /* no thread means no memory for one */
}

static void free_jobs(struct job *j)
{
    while (j) {
        struct job *next = j->next;
        job_free(j);
        j = next;
    }
}

/* The thread has ended, or never ran. */
void shard_done(struct shard *s)
{
    s->is_quitting = true;
    s->has_thread = false;
    fetcher_free(s->fetcher); /* calls back what is under way: on_fetched frees the jobs */
    programs_done(s);
    readings_done(s);
    resolver_free(s->resolver);
    for (size_t i = 0; i < s->finished_count; i++)
        job_free(s->finished[i].job);
    free(s->finished);
    free_jobs(s->waiting);
    timer_free(s->due);
    timer_free(s->tick);
    waker_free(s->waker);
    loop_free(s->loop);
    frontier_free(s->frontier);
    records_close(s->journal);
    shard_lanes_done(s);
    table_done(&s->dns_took);
    buf_done(&s->framed);
    buf_done(&s->packed);
    buf_done(&s->batch);
    buf_done(&s->captured);
    buf_done(&s->inbox);
    arena_done(&s->arena);
    archive_done(&s->archive);
    pthread_mutex_destroy(&s->lock);
}
