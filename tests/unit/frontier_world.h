/* frontier_world.h - the world of a frontier under test, and the steps that every test takes in it. */
#pragma once

#include "test.h"

#include "base/mem.h"
#include "plan/frontier.h"

/* A world for one frontier: a clock that only the test moves, and runs kept in memory. */
struct world {
    struct frontier *f;
    struct sip_key key;
    mono_ms now;
    struct buf runs[10000];
    size_t run_count, runs_live;
    bool is_full; /* putting away fails */
};

static inline status put_away(void *self, struct span data, struct frontier_run *run)
{
    struct world *w = self;
    if (w->is_full)
        return ST_FULL;
    assert_true(w->run_count < 10000);
    buf_put(&w->runs[w->run_count], data);
    *run = (struct frontier_run){w->run_count++, 7};
    w->runs_live++;
    return ST_OK;
}

static inline status bring_back(void *self, struct frontier_run run, struct buf *data)
{
    struct world *w = self;
    assert_int_equal(run.b, 7);
    buf_put(data, buf_span(&w->runs[run.a]));
    return ST_OK;
}

static inline void drop(void *self, struct frontier_run run)
{
    struct world *w = self;
    buf_done(&w->runs[run.a]);
    w->runs_live--;
}

static inline bool is_own(void *self, struct span host)
{
    return span_is(host, "own.example");
}

static inline struct frontier *make(struct world *w, int64_t delay_ms)
{
    struct frontier_opts o = {.pace = pace_default,
                              .key = &w->key,
                              .seed = 1,
                              .is_own = is_own,
                              .put_away = put_away,
                              .bring_back = bring_back,
                              .drop = drop,
                              .self = w};
    o.pace.delay_ms = delay_ms;
    return frontier_new(&o);
}

static inline void world_init(struct world *w, int64_t delay_ms)
{
    memset(w, 0, sizeof(*w));
    w->key = (struct sip_key){1, 2};
    w->now = 1000000;
    w->f = make(w, delay_ms);
}

static inline void world_done(struct world *w)
{
    frontier_free(w->f);
    for (size_t i = 0; i < w->run_count; i++)
        buf_done(&w->runs[i]);
}

static inline frontier_refusal add_of(struct world *w, const char *text, uint64_t channel)
{
    struct arena a;
    struct url u;
    arena_init(&a);
    CHECK_STATUS(text, url_parse(&a, span_str(text), NULL, &u), ST_OK);
    frontier_refusal r = frontier_add(
        w->f, w->now,
        &(struct frontier_url){.key = siphash(&w->key, u.href), .url = &u, .channel = channel, .depth = 3});
    arena_done(&a);
    return r;
}

static inline frontier_refusal add(struct world *w, const char *text)
{
    return add_of(w, text, 9);
}

/* 203.0.113.n for hostN..., all hosts whose names begin with "shared" on one address. */
static inline struct addr addr_of(struct span host)
{
    struct addr a = {.family = 4, .b = {93, 184, 216, 1}};
    if (!span_starts(host, SPAN("shared"))) {
        unsigned h = 0;
        for (size_t i = 0; i < host.n; i++)
            h = h * 31 + (unsigned char)host.p[i];
        a.b[2] = (uint8_t)(h % 7);
        a.b[3] = (uint8_t)(h >> 8);
    }
    return a;
}

static inline bool resolve_all(struct world *w)
{
    bool any = false;
    struct span host;
    unsigned attempt;
    while (frontier_next_unresolved(w->f, w->now, &host, &attempt)) {
        struct addr a = addr_of(host);
        frontier_resolved(w->f, w->now, host, ST_OK, &a, w->now + 3600 * 1000, 1);
        any = true;
    }
    return any;
}

static const struct frontier_result good = {.st = ST_OK, .http_status = 200, .retry_after_ms = -1, .total_us = 1000};

static inline void answer_robots(struct world *w, const struct lease *l, const char *text)
{
    frontier_robots(w->f, w->now, 0, l->id, robots_parse(span_str(text), SPAN("orbweaver")), 86400 * 1000, &good);
}

/* Takes the next lease, moving the clock to it; answers robots.txt with `robots` on the way. */
static inline bool next_page(struct world *w, const char *robots, struct lease *out)
{
    for (int i = 0; i < 10000; i++) {
        mono_ms wake;
        resolve_all(w);
        status st = frontier_take(w->f, w->now, out, &wake);
        if (st == ST_AGAIN) {
            if (wake != MONO_NEVER)
                w->now = wake;
            else if (!resolve_all(w))
                return false;
        } else if (out->kind == LEASE_ROBOTS) {
            answer_robots(w, out, robots);
        } else {
            CHECK_STATUS("take", st, ST_OK);
            return true;
        }
    }
    fail_msg("no page in 10,000 steps");
    return false;
}

/* Into a buf, each behind its length. */
static inline status keep_packed(void *arg, struct span host, struct span packed)
{
    struct buf *all = arg;
    uint32_t n = (uint32_t)packed.n;
    buf_put(all, span_of(&n, 4));
    buf_put(all, packed);
    return ST_OK;
}

static inline uint64_t urls_of(const struct world *w, uint64_t channel)
{
    struct frontier_channel c;
    frontier_channel_counts(w->f, channel, &c);
    return c.urls;
}
