/* crawl_steps.h - a crawl that is told what to do while it runs, against the sample web on loopback.
 * Each test drives crawl_run from its progress callback: a step function is called on every tick until it says that it
 * is done. */
#pragma once

#include "test.h"

#include <stdatomic.h>
#include <unistd.h>

#include "apply/apply_sink.h"
#include "base/mem.h"
#include "base/table.h"
#include "crawl/crawl.h"
#include "sample/sample.h"
#include "store/store.h"
#include "test_folder.h"
#include "web/summary.h"

#define TICKS_MAX 600 /* a step that is not done by then never will be: two minutes */
#define DELAY_MS 250  /* an address is asked no more often than this anyway, so it costs nothing */
/* As the server sees it: on a busy machine it looks up late. */
#define GAP_US ((DELAY_MS - 100) * 1000)

struct lab {
    struct sample *sample;
    struct buf hosts;
    int port;
};

static inline void lab_init(struct lab *l, unsigned pages, unsigned hosts)
{
    *l = (struct lab){0};
    struct sample_opts o = {
        .seed = 5, .big_pages = pages, .big_hosts = hosts, .no_sites = hosts > 0, .is_spread = true};
    CHECK_STATUS("sample", sample_new(&o, &l->sample), ST_OK);
    sample_hosts_text(l->sample, &l->hosts);
    l->port = sample_port(l->sample);
}

static inline void lab_done(struct lab *l)
{
    sample_free(l->sample);
    buf_done(&l->hosts);
}

struct run;
typedef bool step_fn(struct run *r);

/* A crawl of one folder. */
struct run {
    struct lab *lab;
    const char *name; /* of the folder */
    struct crawl *cr;
    int64_t delay_ms;
    unsigned shards;
    step_fn *step;
    int stage;
    unsigned ticks, quiet;
    bool is_late;
    uint64_t channel;
    struct crawl_stats stats;
    /* the sink's */
    bool keeps_foreign;
    struct buf foreign, fresh; /* links passed on; links that were queued: one a line */
    /* the gate's */
    const char *only, *never; /* hosts */
    uint8_t never_net;        /* 127.0.N.0/24 */
    atomic_uint asked, refused, turned_away;
    atomic_uint_fast64_t asked_channel;
    void *more;
};

struct recording {
    struct run *run;
    struct sink inner;
};

static inline status record_visit(void *self, struct span packed, struct visit_effect *effect)
{
    struct recording *rec = self;
    struct arena a;
    struct summary sum;
    arena_init(&a);
    status st = summary_unpack(&a, packed, &sum);
    for (size_t i = 0; st == ST_OK && i < sum.link_count; i++) {
        const struct summary_link *l = &sum.links[i];
        struct buf *const to[] = {l->flags & SUMMARY_LINK_FOREIGN ? &rec->run->foreign : NULL,
                                  l->flags & SUMMARY_LINK_NEW ? &rec->run->fresh : NULL};
        for (int k = 0; k < 2; k++)
            if (to[k]) {
                buf_put(to[k], l->url);
                buf_putc(to[k], '\n');
            }
    }
    arena_done(&a);
    return st == ST_OK ? rec->inner.visit(rec->inner.self, packed, effect) : st;
}

static inline status record_begin(void *self)
{
    struct recording *rec = self;
    return rec->inner.begin(rec->inner.self);
}

/* Holds transactions back, as a sink that fills packages does. */
static inline status record_commit(void *self, bool must, bool *is_done)
{
    struct recording *rec = self;
    if (must)
        return rec->inner.commit(rec->inner.self, true, is_done);
    *is_done = false;
    return ST_OK;
}

static inline void record_rollback(void *self)
{
    struct recording *rec = self;
    rec->inner.rollback(rec->inner.self);
}

static inline unsigned record_pending(void *self)
{
    struct recording *rec = self;
    return rec->inner.pending(rec->inner.self);
}

static inline status record_publish(void *self)
{
    struct recording *rec = self;
    return rec->inner.publish(rec->inner.self);
}

static inline status record_finish(void *self)
{
    struct recording *rec = self;
    return rec->inner.finish(rec->inner.self);
}

static inline void record_stats(void *self, struct sink_stats *out)
{
    struct recording *rec = self;
    rec->inner.stats(rec->inner.self, out);
}

static inline void record_close(void *self)
{
    struct recording *rec = self;
    rec->inner.close(rec->inner.self);
    free(rec);
}

static inline status open_recording(void *arg, struct store *s, struct sink *out, struct buf *why)
{
    struct apply_sink_opts o = {.no_index = true};
    struct recording *rec = mem_alloc(sizeof(*rec));
    rec->run = arg;
    status st = apply_sink_open(&o, s, &rec->inner, why);
    if (st != ST_OK) {
        free(rec);
        return st;
    }
    *out = (struct sink){.visit = record_visit,
                         .begin = record_begin,
                         .commit = record_commit,
                         .rollback = record_rollback,
                         .pending = record_pending,
                         .publish = record_publish,
                         .finish = record_finish,
                         .stats = record_stats,
                         .close = record_close,
                         .keeps_foreign = rec->run->keeps_foreign,
                         .self = rec};
    return ST_OK;
}

static inline bool gate(void *self, struct span host, const struct addr *addr, uint64_t channel)
{
    struct run *r = self;
    bool may = (!r->only || span_is(host, r->only)) && (!r->never || !span_is(host, r->never)) &&
               !(r->never_net && addr->b[2] == r->never_net);
    atomic_fetch_add(&r->asked, 1);
    atomic_fetch_add(&r->refused, !may);
    atomic_store(&r->asked_channel, channel);
    return may;
}

static inline void turned_away(void *self, struct span host, const struct addr *addr, uint64_t channel)
{
    struct run *r = self;
    atomic_fetch_add(&r->turned_away, 1);
}

static inline void run_open(struct run *r)
{
    char dir[TEST_PATH];
    struct buf why = {0};
    test_path(dir, r->name);
    struct crawl_opts o = {.data_dir = dir,
                           .fetch = {.user_agent = SPAN("orbweaver/0.1 (test)"), .allow_private = true},
                           .dns = {.hosts = buf_span(&r->lab->hosts)},
                           .delay_ms = r->delay_ms,
                           .shards = r->shards ? r->shards : 2,
                           .open_sink = open_recording,
                           .sink_arg = r,
                           .stays = true,
                           .may_use = gate,
                           .turned_away = turned_away,
                           .self = r};
    status st = crawl_open(&o, &r->cr, &why);
    if (st != ST_OK)
        fail_msg("open %s: %s: %s", r->name, status_name(st), buf_cstr(&why));
    buf_done(&why);
}

static inline void on_progress(void *arg, const struct crawl_stats *stats)
{
    struct run *r = arg;
    r->stats = *stats;
    r->is_late |= ++r->ticks > TICKS_MAX;
    if (r->is_late || r->step(r))
        crawl_stop(r->cr);
}

/* From an open crawl to a closed one. */
static inline void run_go(struct run *r, step_fn *step)
{
    crawl_end end = CRAWL_FAILED;
    r->step = step;
    r->stage = 0;
    r->ticks = r->quiet = 0;
    CHECK_STATUS(r->name, crawl_run(r->cr, on_progress, r, &end), ST_OK);
    crawl_get_stats(r->cr, &r->stats);
    crawl_close(r->cr);
    r->cr = NULL;
    CHECK("it ends in time", !r->is_late);
    CHECK("it ends when it is told to", end == CRAWL_STOPPED);
}

static inline void run_done(struct run *r)
{
    buf_done(&r->foreign);
    buf_done(&r->fresh);
}

static inline void put_seed(const struct lab *l, unsigned host, unsigned page, char out[128])
{
    snprintf(out, 128, "http://big%u.example:%d/p/%u.html", host, l->port, page);
}

/* A channel of some of the hosts, "big<first>" and those after it. */
static inline struct channel *channel_of(const struct lab *l, unsigned first, unsigned hosts)
{
    char text[16][128];
    struct span seeds[16];
    struct channel *c = NULL;
    for (unsigned i = 0; i < hosts; i++) {
        put_seed(l, first + i, first + i, text[i]);
        seeds[i] = span_str(text[i]);
    }
    struct channel_opts o = {.seeds = seeds, .seed_count = hosts, .scope = SCOPE_SITE, .depth_max = 64};
    CHECK_STATUS("channel", channel_new(&o, &c, NULL), ST_OK);
    return c;
}

static inline uint64_t run_add(struct run *r, struct channel *c)
{
    uint64_t id = channel_id(c);
    CHECK_STATUS("add", crawl_add(r->cr, c), ST_OK);
    return id;
}

static inline struct channel_progress progress_of(struct run *r, uint64_t channel)
{
    struct channel_progress p = {0};
    CHECK("the channel is there", crawl_channel_progress(r->cr, channel, &p));
    return p;
}

/* ---- what the server saw ---- */

struct view {
    struct table seen; /* keyed by host and target */
    const char *host;  /* NULL: all */
    size_t pages, again, notmodified;
    int64_t nearest_us, last_us[16];
};

static inline void look_at(void *arg, const struct sample_request *q)
{
    struct view *v = arg;
    if (v->host && !span_is(q->host, v->host))
        return;
    unsigned h = 15;
    if (span_starts(q->host, SPAN("big")))
        h = (unsigned)(q->host.p[3] - '0');
    if (v->last_us[h] && q->at_us - v->last_us[h] < v->nearest_us)
        v->nearest_us = q->at_us - v->last_us[h];
    v->last_us[h] = q->at_us;
    if (span_is(q->target, "/robots.txt"))
        return;
    struct sip_key key = {3, 4};
    uint64_t mark = siphash(&key, q->target) ^ siphash(&key, q->host) * 3;
    v->notmodified += q->status == 304;
    if (table_get(&v->seen, mark)) {
        v->again++;
    } else {
        table_put(&v->seen, mark, v);
        v->pages++;
    }
}

static inline struct view view_of(struct lab *l, const char *host)
{
    struct view v = {.host = host, .nearest_us = INT64_MAX};
    sample_ledger(l->sample, look_at, &v);
    table_done(&v.seen);
    return v;
}

/* ---- steps that several tests use ---- */

/* Everything that was told is done. */
static inline bool until_nothing_waits(struct run *r)
{
    return progress_of(r, r->channel).queued == 0;
}

static inline bool at_once(struct run *r)
{
    return true;
}

/* ---- a network, taken out of one crawl and put into another ---- */

struct parcel {
    struct buf packed; /* each host behind its length */
    size_t pieces;
    bool was_busy;
};

static inline status take_host(void *arg, struct span host, struct span packed)
{
    struct parcel *p = arg;
    uint32_t n = (uint32_t)packed.n;
    CHECK_SPAN("the network's host", host, SPAN("big1.example"));
    buf_put(&p->packed, span_of(&n, 4));
    buf_put(&p->packed, packed);
    p->pieces++;
    return ST_OK;
}

static inline struct network network_of_big1(const struct lab *l)
{
    struct span rest = buf_span(&l->hosts), line;
    struct addr a = {0};
    while (span_split(&rest, '\n', &line))
        if (span_search(line, SPAN("big1.example"), false) < line.n)
            CHECK_STATUS("addr", addr_parse(span_cut(line, 0, span_find(line, ' ', 0)), &a), ST_OK);
    return addr_network(&a);
}

static inline void put_parcel(struct run *r, const struct parcel *p)
{
    for (size_t at = 0; at < p->packed.n;) {
        uint32_t n;
        memcpy(&n, p->packed.p + at, 4);
        CHECK_STATUS("put", crawl_hosts_put(r->cr, span_of(p->packed.p + at + 4, n)), ST_OK);
        CHECK_STATUS("told twice", crawl_hosts_put(r->cr, span_of(p->packed.p + at + 4, n)), ST_OK);
        at += 4 + n;
    }
}
