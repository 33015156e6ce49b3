/* A crawl that is told what to do while it runs, against the sample web on loopback. Each test drives crawl_run from
 * its progress callback: a step function is called on every tick until it says that it is done. */
#include "test.h"

#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apply/apply_sink.h"
#include "base/mem.h"
#include "base/table.h"
#include "crawl/crawl.h"
#include "io/clock.h"
#include "plan/page_rate.h"
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

static void lab_init(struct lab *l, unsigned pages, unsigned hosts)
{
    *l = (struct lab){0};
    struct sample_opts o = {
        .seed = 5, .big_pages = pages, .big_hosts = hosts, .no_sites = hosts > 0, .is_spread = true};
    CHECK_STATUS("sample", sample_new(&o, &l->sample), ST_OK);
    sample_hosts_text(l->sample, &l->hosts);
    l->port = sample_port(l->sample);
}

static void lab_done(struct lab *l)
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

static status record_visit(void *self, struct span packed, struct visit_effect *effect)
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

static status record_begin(void *self)
{
    struct recording *rec = self;
    return rec->inner.begin(rec->inner.self);
}

/* Holds transactions back, as a sink that fills packages does. */
static status record_commit(void *self, bool must, bool *is_done)
{
    struct recording *rec = self;
    if (must)
        return rec->inner.commit(rec->inner.self, true, is_done);
    *is_done = false;
    return ST_OK;
}

static void record_rollback(void *self)
{
    struct recording *rec = self;
    rec->inner.rollback(rec->inner.self);
}

static unsigned record_pending(void *self)
{
    struct recording *rec = self;
    return rec->inner.pending(rec->inner.self);
}

static status record_publish(void *self)
{
    struct recording *rec = self;
    return rec->inner.publish(rec->inner.self);
}

static status record_finish(void *self)
{
    struct recording *rec = self;
    return rec->inner.finish(rec->inner.self);
}

static void record_stats(void *self, struct sink_stats *out)
{
    struct recording *rec = self;
    rec->inner.stats(rec->inner.self, out);
}

static void record_close(void *self)
{
    struct recording *rec = self;
    rec->inner.close(rec->inner.self);
    free(rec);
}

static status open_recording(void *arg, struct store *s, struct sink *out, struct buf *why)
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

static bool gate(void *self, struct span host, const struct addr *addr, uint64_t channel)
{
    struct run *r = self;
    bool may = (!r->only || span_is(host, r->only)) && (!r->never || !span_is(host, r->never)) &&
               !(r->never_net && addr->b[2] == r->never_net);
    atomic_fetch_add(&r->asked, 1);
    atomic_fetch_add(&r->refused, !may);
    atomic_store(&r->asked_channel, channel);
    return may;
}

static void turned_away(void *self, struct span host, const struct addr *addr, uint64_t channel)
{
    struct run *r = self;
    atomic_fetch_add(&r->turned_away, 1);
}

static void run_open(struct run *r)
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

static void on_progress(void *arg, const struct crawl_stats *stats)
{
    struct run *r = arg;
    r->stats = *stats;
    r->is_late |= ++r->ticks > TICKS_MAX;
    if (r->is_late || r->step(r))
        crawl_stop(r->cr);
}

/* From an open crawl to a closed one. */
static void run_go(struct run *r, step_fn *step)
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

static void run_done(struct run *r)
{
    buf_done(&r->foreign);
    buf_done(&r->fresh);
}

static void put_seed(const struct lab *l, unsigned host, unsigned page, char out[128])
{
    snprintf(out, 128, "http://big%u.example:%d/p/%u.html", host, l->port, page);
}

/* A channel of some of the hosts, "big<first>" and those after it. */
static struct channel *channel_of(const struct lab *l, unsigned first, unsigned hosts)
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

static uint64_t run_add(struct run *r, struct channel *c)
{
    uint64_t id = channel_id(c);
    CHECK_STATUS("add", crawl_add(r->cr, c), ST_OK);
    return id;
}

static struct channel_progress progress_of(struct run *r, uint64_t channel)
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

static void look_at(void *arg, const struct sample_request *q)
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

static struct view view_of(struct lab *l, const char *host)
{
    struct view v = {.host = host, .nearest_us = INT64_MAX};
    sample_ledger(l->sample, look_at, &v);
    table_done(&v.seen);
    return v;
}

/* ---- steps that several tests use ---- */

/* Everything that was told is done. */
static bool until_nothing_waits(struct run *r)
{
    return progress_of(r, r->channel).queued == 0;
}

static bool at_once(struct run *r)
{
    return true;
}

/* ---- tests ---- */

static bool add_then_wait(struct run *r)
{
    if (r->stage == 0) {
        if (r->ticks < 3) /* nothing to do, and it stays */
            return false;
        CHECK("no such channel", !crawl_channel_progress(r->cr, 1, &(struct channel_progress){0}));
        r->channel = run_add(r, channel_of(r->lab, 0, 3));
        CHECK("seeds wait at once", progress_of(r, r->channel).queued == 3);
        r->stage = 1;
        return false;
    }
    return until_nothing_waits(r);
}

static void a_staying_crawl_takes_channels_as_they_come(void **state)
{
    struct lab lab;
    lab_init(&lab, 300, 3);
    struct run r = {.lab = &lab, .name = "a"};
    run_open(&r);
    run_go(&r, add_then_wait);
    struct view v = view_of(&lab, NULL);
    assert_int_equal(v.pages, 300);
    assert_int_equal(v.again, 0);
    assert_int_equal(r.stats.pages, 300);
    assert_int_equal(atomic_load(&r.asked_channel), r.channel);
    /* Opened again it has its channel and nothing to do. */
    run_open(&r);
    assert_int_equal(progress_of(&r, r.channel).queued, 0);
    run_go(&r, at_once);
    assert_int_equal(view_of(&lab, NULL).pages, 300);
    run_done(&r);
    lab_done(&lab);
}

static bool count_as_it_goes(struct run *r)
{
    struct channel_progress p = progress_of(r, r->channel);
    if (p.queued)
        return false;
    CHECK("fetched", p.fetched == 200);
    CHECK("bytes", p.bytes > 200 * 1000);
    CHECK("nothing wrong", p.errors == 0 && p.gone == 0 && p.queued_given_up == 0);
    return true;
}

static void progress_is_by_channel(void **state)
{
    struct lab lab;
    lab_init(&lab, 200, 4);
    struct run r = {.lab = &lab, .name = "a"};
    run_open(&r);
    r.channel = run_add(&r, channel_of(&lab, 0, 4));
    assert_int_equal(progress_of(&r, r.channel).queued, 4);
    run_go(&r, count_as_it_goes);
    run_done(&r);
    lab_done(&lab);
}

/* ---- links out of the channel, and seeds ---- */

static size_t lines_with(const struct buf *b, const char *part, bool *is_once)
{
    struct span rest = buf_span(b), line;
    struct table seen = {0};
    struct sip_key key = {1, 1};
    size_t n = 0;
    *is_once = true;
    while (span_split(&rest, '\n', &line)) {
        if (!line.n || span_search(line, span_str(part), false) >= line.n)
            continue;
        *is_once &= !table_get(&seen, siphash(&key, line));
        table_put(&seen, siphash(&key, line), b->p);
        n++;
    }
    table_done(&seen);
    return n;
}

static bool seed_what_left(struct run *r)
{
    char known[128], far[128];
    if (!until_nothing_waits(r))
        return false;
    if (r->stage++)
        return true;
    put_seed(r->lab, 0, 0, known);
    put_seed(r->lab, 1, 1, far);
    CHECK("not asked before", view_of(r->lab, "big1.example").pages == 0);
    const struct span urls[] = {span_str(known), span_str(far), SPAN("mailto:a@b.example"), SPAN("nonsense")};
    CHECK_STATUS("no such channel", crawl_seed(r->cr, 1, urls, 4), ST_NOT_FOUND);
    CHECK_STATUS("seed", crawl_seed(r->cr, r->channel, urls, 4), ST_OK);
    CHECK("only the new one", progress_of(r, r->channel).queued == 1);
    CHECK_STATUS("told twice", crawl_seed(r->cr, r->channel, urls, 4), ST_OK);
    CHECK("once", progress_of(r, r->channel).queued == 1);
    return false;
}

static void links_that_leave_are_passed_on_and_seeds_taken_in(void **state)
{
    struct lab lab;
    bool is_once;
    lab_init(&lab, 400, 2);
    struct run r = {.lab = &lab, .name = "a", .keeps_foreign = true};
    run_open(&r);
    r.channel = run_add(&r, channel_of(&lab, 0, 1));
    run_go(&r, seed_what_left);
    assert_true(lines_with(&r.foreign, "big1.example", &is_once) > 20);
    assert_true(is_once);
    /* Between its own hosts too, once it has two: others may crawl there. */
    assert_true(lines_with(&r.foreign, "big0.example", &is_once) > 20);
    assert_true(is_once);
    assert_true(lines_with(&r.fresh, "big0.example", &is_once) > 20);
    assert_true(is_once);
    struct view v = view_of(&lab, "big1.example");
    assert_true(v.pages > 20); /* the seed's site belongs to the channel from then on */
    assert_int_equal(v.again, 0);
    run_done(&r);
    lab_done(&lab);
}

/* ---- the end of a channel, and its return ---- */

struct pair {
    uint64_t stays, goes;
    size_t at_drop;
};

static bool drop_one(struct run *r)
{
    struct pair *p = r->more;
    uint64_t queued = 0;
    if (r->stage == 0) {
        if (progress_of(r, p->goes).fetched < 3)
            return false;
        CHECK_STATUS("drop", crawl_drop(r->cr, p->goes), ST_OK);
        CHECK_STATUS("told twice", crawl_drop(r->cr, p->goes), ST_OK);
        CHECK("gone", !crawl_channel_progress(r->cr, p->goes, &(struct channel_progress){0}));
        CHECK_STATUS("settle", crawl_settle(r->cr), ST_OK);
        p->at_drop = view_of(r->lab, "big1.example").pages;
        r->stage = 1;
        return false;
    }
    if (r->stage == 1) {
        if (progress_of(r, p->stays).queued)
            return false;
        CHECK("nothing more of it", view_of(r->lab, "big1.example").pages <= p->at_drop);
        /* What it had not visited was forgotten, so it is found again on the pages that it had. */
        CHECK("the same again", run_add(r, channel_of(r->lab, 1, 1)) == p->goes);
        CHECK_STATUS("recheck", crawl_recheck(r->cr, p->goes, 0, 0, false, &queued), ST_OK);
        CHECK("its pages", queued >= 3);
        r->stage = 2;
        return false;
    }
    return progress_of(r, p->goes).queued == 0;
}

static void a_dropped_channel_leaves_the_others_alone_and_may_come_back(void **state)
{
    struct lab lab;
    struct pair p;
    lab_init(&lab, 36, 2);
    struct run calm = {.lab = &lab, .name = "calm"};
    run_open(&calm);
    calm.channel = run_add(&calm, channel_of(&lab, 1, 1));
    run_go(&calm, until_nothing_waits);
    size_t want = view_of(&lab, "big1.example").pages;
    sample_ledger_clear(lab.sample);

    struct run r = {.lab = &lab, .name = "a", .delay_ms = DELAY_MS, .more = &p};
    run_open(&r);
    p.stays = run_add(&r, channel_of(&lab, 0, 1));
    p.goes = run_add(&r, channel_of(&lab, 1, 1));
    run_go(&r, drop_one);
    struct view v = view_of(&lab, "big1.example");
    assert_int_equal(v.pages, want);
    assert_true(v.again <= p.at_drop + 1);
    assert_true(want > p.at_drop);
    run_done(&calm);
    run_done(&r);
    lab_done(&lab);
}

/* ---- known pages again ---- */

static bool recheck_some(struct run *r)
{
    uint64_t queued = 99;
    if (!until_nothing_waits(r))
        return false;
    switch (r->stage++) {
    case 0:
        CHECK_STATUS("no such channel", crawl_recheck(r->cr, 1, 0, 0, false, &queued), ST_NOT_FOUND);
        CHECK_STATUS("older than they are", crawl_recheck(r->cr, r->channel, 0, 1000, false, &queued), ST_OK);
        CHECK("none", queued == 0);
        CHECK_STATUS("some", crawl_recheck(r->cr, r->channel, 5, 0, false, &queued), ST_OK);
        CHECK("five", queued == 5 && progress_of(r, r->channel).queued == 5);
        return false;
    case 1:
        CHECK("asked again", view_of(r->lab, NULL).again == 5);
        CHECK_STATUS("all", crawl_recheck(r->cr, r->channel, 0, 0, false, &queued), ST_OK);
        CHECK("all of them", queued == 100);
        CHECK_STATUS("told twice", crawl_recheck(r->cr, r->channel, 0, 0, false, &queued), ST_OK);
        CHECK("once", queued == 0);
        return false;
    default:
        return true;
    }
}

static void known_pages_are_looked_at_again_when_told(void **state)
{
    struct lab lab;
    lab_init(&lab, 100, 2);
    struct run r = {.lab = &lab, .name = "a"};
    run_open(&r);
    r.channel = run_add(&r, channel_of(&lab, 0, 2));
    run_go(&r, recheck_some);
    struct view v = view_of(&lab, NULL);
    assert_int_equal(v.pages, 100);
    assert_int_equal(v.again, 105);
    assert_int_equal(r.stats.unchanged, 105);
    assert_int_equal(r.stats.pages, 100);
    run_done(&r);
    lab_done(&lab);
}

static void put_target(void *arg, const struct sample_request *q)
{
    if (!span_is(q->target, "/robots.txt"))
        buf_printf(arg, "%d %.*s%.*s\n", q->status, SPAN_ARG(q->host), SPAN_ARG(q->target));
}

static void check_asked(struct run *r, const char *label, const char *want)
{
    struct buf got = {0};
    sample_ledger(r->lab->sample, put_target, &got);
    CHECK_SPAN(label, buf_span(&got), span_str(want));
    buf_done(&got);
    sample_ledger_clear(r->lab->sample);
}

static status note_rate(void *arg, const struct page *p)
{
    *(uint64_t *)arg = p->rate;
    return ST_OK;
}

#define TOLD_A "/bread/ciabatta/"
#define TOLD_B "/bread/ciabatta/recipe.html"

static void bump(struct run *r, const char *path)
{
    CHECK_STATUS(path, sample_bump(r->lab->sample, SPAN("bakery.example"), span_str(path)), ST_OK);
}

static bool recheck_told(struct run *r)
{
    uint64_t queued = 0, told = 99;
    char text[3][128];
    struct span urls[3];
    static const char *const paths[] = {TOLD_A, TOLD_B, "/never/seen"};
    if (!until_nothing_waits(r))
        return false;
    for (int i = 0; i < 3; i++) {
        snprintf(text[i], sizeof(text[i]), "http://bakery.example:%d%s", r->lab->port, paths[i]);
        urls[i] = span_str(text[i]);
    }
    switch (r->stage++) {
    case 0: /* a page that nobody knows is not asked for because somebody names it */
        sample_ledger_clear(r->lab->sample);
        bump(r, TOLD_A);
        CHECK_STATUS("no such channel", crawl_told(r->cr, 1, urls, 3, clock_wall()), ST_NOT_FOUND);
        CHECK_STATUS("told", crawl_told(r->cr, r->channel, urls, 1, clock_wall()), ST_OK);
        CHECK_STATUS("told", crawl_told(r->cr, r->channel, urls + 2, 1, clock_wall()), ST_OK);
        CHECK_STATUS("count", crawl_count_told(r->cr, r->channel, &told), ST_OK);
        CHECK("one", told == 1);
        CHECK_STATUS("recheck", crawl_recheck(r->cr, r->channel, 1, 0, false, &queued), ST_OK);
        CHECK("one", queued == 1);
        return false;
    case 1:
        check_asked(r, "the page that was told of", "200 bakery.example" TOLD_A "\n");
        CHECK_STATUS("count", crawl_count_told(r->cr, r->channel, &told), ST_OK);
        CHECK("none is left", told == 0);
        CHECK_STATUS("both", crawl_told(r->cr, r->channel, urls, 2, clock_wall()), ST_OK);
        CHECK_STATUS("recheck", crawl_recheck(r->cr, r->channel, 0, 0, false, &queued), ST_OK);
        return false;
    default:
        return true;
    }
}

static void pages_that_somebody_tells_of_come_first(void **state)
{
    struct lab lab;
    char seed[128], dir[TEST_PATH];
    struct channel *c = NULL;
    struct store *s = NULL;
    struct buf asked = {0};
    struct span first, second, rest;
    lab_init(&lab, 0, 0);
    snprintf(seed, sizeof(seed), "http://bakery.example:%d/", lab.port);
    struct span one = span_str(seed);
    struct channel_opts o = {.seeds = &one, .seed_count = 1, .scope = SCOPE_SITE, .depth_max = 64};
    CHECK_STATUS("channel", channel_new(&o, &c, NULL), ST_OK);
    struct run r = {.lab = &lab, .name = "a"};
    run_open(&r);
    r.channel = run_add(&r, c);
    run_go(&r, recheck_told);
    /* All of them had their turn, those two before the others. */
    sample_ledger(lab.sample, put_target, &asked);
    rest = buf_span(&asked);
    CHECK("first", span_split(&rest, '\n', &first) && span_search(first, SPAN(TOLD_A), false) < first.n);
    CHECK("second", span_split(&rest, '\n', &second) && span_search(second, SPAN(TOLD_A), false) < second.n);
    CHECK("not one twice", !span_eq(first, second));
    CHECK("the others", rest.n > 20 * 20);
    buf_done(&asked);
    run_done(&r);
    /* And it is counted how often they change. */
    uint64_t rate[2] = {0};
    test_path(dir, "a");
    CHECK_STATUS("open", store_open(dir, STORE_READ, &s, NULL), ST_OK);
    for (int i = 0; i < 2; i++) {
        char url[128];
        snprintf(url, sizeof(url), "http://bakery.example:%d%s", lab.port, i ? TOLD_B : TOLD_A);
        CHECK_STATUS(url, store_page_get(s, siphash(store_key(s), span_str(url)), note_rate, &rate[i]), ST_OK);
    }
    CHECK("counted", rate[0] && rate[1]);
    CHECK("the one that changed does so more often", page_rate_days(rate[0], NULL) < page_rate_days(rate[1], NULL) / 2);
    store_free(s);
    lab_done(&lab);
}

/* ---- pause ---- */

static bool pause_and_go_on(struct run *r)
{
    size_t *pages = r->more;
    if (r->stage == 0) {
        if (progress_of(r, r->channel).fetched < 3)
            return false;
        crawl_pause(r->cr, true);
        r->stage = 1;
        return false;
    }
    if (r->stage == 1) {
        if (r->stats.in_flight || r->quiet++ < 2)
            return false;
        *pages = view_of(r->lab, NULL).pages;
        r->quiet = 0;
        r->stage = 2;
        return false;
    }
    if (r->stage == 2) {
        CHECK("nothing is asked for", view_of(r->lab, NULL).pages == *pages);
        if (r->quiet++ < 5)
            return false;
        crawl_pause(r->cr, false);
        r->stage = 3;
        return false;
    }
    return until_nothing_waits(r);
}

static void a_paused_crawl_asks_for_nothing(void **state)
{
    struct lab lab;
    size_t pages = 0;
    lab_init(&lab, 20, 2);
    struct run r = {.lab = &lab, .name = "a", .delay_ms = DELAY_MS, .more = &pages};
    run_open(&r);
    r.channel = run_add(&r, channel_of(&lab, 0, 2));
    run_go(&r, pause_and_go_on);
    assert_int_equal(view_of(&lab, NULL).pages, 20);
    assert_true(pages < 20);
    run_done(&r);
    lab_done(&lab);
}

/* ---- the gate ---- */

static void hosts_that_may_not_be_used_are_not_asked(void **state)
{
    struct lab lab;
    lab_init(&lab, 90, 3);
    struct run r = {.lab = &lab, .name = "a", .never = "big1.example"};
    run_open(&r);
    r.channel = run_add(&r, channel_of(&lab, 0, 3));
    run_go(&r, until_nothing_waits);
    assert_int_equal(view_of(&lab, "big1.example").pages, 0);
    assert_true(view_of(&lab, "big0.example").pages > 10);
    assert_true(atomic_load(&r.refused) > 0);
    assert_true(atomic_load(&r.turned_away) > 0);
    /* Its turn came: what was dropped is new again when it is told again. */
    r.never = NULL;
    char url[128];
    put_seed(&lab, 1, 1, url);
    struct span one = span_str(url);
    run_open(&r);
    CHECK_STATUS("seed", crawl_seed(r.cr, r.channel, &one, 1), ST_OK);
    assert_int_equal(progress_of(&r, r.channel).queued, 1);
    run_go(&r, until_nothing_waits);
    assert_true(view_of(&lab, "big1.example").pages > 5);
    run_done(&r);
    lab_done(&lab);
}

static void a_host_is_asked_at_the_address_that_may_be_used(void **state)
{
    struct lab lab;
    struct buf hosts = {0};
    lab_init(&lab, 30, 3);
    for (int i = 0; i < 3; i++) /* each has another address, which comes first */
        buf_printf(&hosts, "127.0.99.%d big%d.example\n", i + 1, i);
    buf_put(&hosts, buf_span(&lab.hosts));
    buf_done(&lab.hosts);
    lab.hosts = hosts;
    struct run r = {.lab = &lab, .name = "a", .never_net = 99};
    run_open(&r);
    r.channel = run_add(&r, channel_of(&lab, 0, 3));
    run_go(&r, until_nothing_waits);
    assert_true(atomic_load(&r.refused) > 0);
    assert_int_equal(atomic_load(&r.turned_away), 0);
    assert_int_equal(view_of(&lab, NULL).pages, 30);
    run_done(&r);
    lab_done(&lab);
}

/* ---- pages that another crawl knew ---- */

struct copies {
    struct crawl *to;
    uint64_t channel;
    const char *host;
    size_t n;
    uint64_t keys;
};

static status put_copy(void *arg, const struct page *p)
{
    struct copies *c = arg;
    struct page copy = {.url = p->url,
                        .depth = p->depth,
                        .at = p->at,
                        .http_status = p->http_status,
                        .digest = p->digest,
                        .etag = p->etag,
                        .last_modified = p->last_modified,
                        .page_flags = p->page_flags,
                        .rate = p->rate};
    if (c->host && span_search(p->url, span_str(c->host), false) >= p->url.n)
        return ST_OK;
    CHECK_STATUS("pages", crawl_pages_put(c->to, c->channel, &copy, 1), ST_OK);
    c->n++;
    return ST_OK;
}

static void copy_pages(struct copies *c, const char *from)
{
    char dir[TEST_PATH];
    struct store *s = NULL;
    test_path(dir, from);
    CHECK_STATUS("open", store_open(dir, STORE_READ, &s, NULL), ST_OK);
    CHECK_STATUS("each", store_page_each(s, 0, put_copy, c), ST_OK);
    store_free(s);
}

static bool recheck_copies(struct run *r)
{
    struct copies *c = r->more;
    uint64_t queued = 0;
    if (r->stage == 0) { /* once while it runs, too */
        c->to = r->cr;
        copy_pages(c, "a");
        CHECK_STATUS("recheck", crawl_recheck(r->cr, r->channel, 0, 0, false, &queued), ST_OK);
        CHECK("all", queued == c->n / 2);
        r->stage = 1;
        return false;
    }
    return until_nothing_waits(r);
}

static void pages_of_another_crawl_are_known_pages(void **state)
{
    struct lab lab;
    char seed[128];
    struct channel *c[2] = {0};
    lab_init(&lab, 0, 0);
    snprintf(seed, sizeof(seed), "http://bakery.example:%d/", sample_port(lab.sample));
    struct span one = span_str(seed);
    struct channel_opts o = {.seeds = &one, .seed_count = 1, .scope = SCOPE_SITE, .depth_max = 64};
    for (int i = 0; i < 2; i++)
        CHECK_STATUS("channel", channel_new(&o, &c[i], NULL), ST_OK);
    struct run a = {.lab = &lab, .name = "a"}, b = {.lab = &lab, .name = "b"};
    run_open(&a);
    a.channel = run_add(&a, c[0]);
    run_go(&a, until_nothing_waits);
    struct view all = view_of(&lab, "bakery.example");
    sample_ledger_clear(lab.sample);

    run_open(&b);
    /* Pages first: its seeds are known by then, and nothing waits. */
    b.channel = run_add(&b, c[1]);
    struct copies copies = {.to = b.cr, .channel = b.channel};
    copy_pages(&copies, "a");
    CHECK_STATUS("settle", crawl_settle(b.cr), ST_OK);
    b.more = &copies;
    run_go(&b, recheck_copies);
    struct view v = view_of(&lab, "bakery.example");
    assert_int_equal(v.pages, all.pages);
    assert_true(v.notmodified > 10); /* the validators came along */
    assert_true(v.again <= 1);       /* the seed waited already when its page came */
    assert_true(b.stats.pages >= a.stats.pages);
    run_done(&a);
    run_done(&b);
    lab_done(&lab);
}

/* ---- a network moves ---- */

struct parcel {
    struct buf packed; /* each host behind its length */
    size_t pieces;
    bool was_busy;
};

static status take_host(void *arg, struct span host, struct span packed)
{
    struct parcel *p = arg;
    uint32_t n = (uint32_t)packed.n;
    CHECK_SPAN("the network's host", host, SPAN("big1.example"));
    buf_put(&p->packed, span_of(&n, 4));
    buf_put(&p->packed, packed);
    p->pieces++;
    return ST_OK;
}

static struct network network_of_big1(const struct lab *l)
{
    struct span rest = buf_span(&l->hosts), line;
    struct addr a = {0};
    while (span_split(&rest, '\n', &line))
        if (span_search(line, SPAN("big1.example"), false) < line.n)
            CHECK_STATUS("addr", addr_parse(span_cut(line, 0, span_find(line, ' ', 0)), &a), ST_OK);
    return addr_network(&a);
}

static bool take_network(struct run *r)
{
    struct parcel *p = r->more;
    struct network n = network_of_big1(r->lab);
    if (progress_of(r, r->channel).fetched < 6 && r->stage == 0)
        return false;
    r->stage = 1;
    status st = crawl_network_take(r->cr, &n, take_host, p);
    if (st == ST_AGAIN) {
        p->was_busy = true;
        return false;
    }
    CHECK_STATUS("take", st, ST_OK);
    r->never = "big1.example";
    CHECK_STATUS("settle", crawl_settle(r->cr), ST_OK);
    return true;
}

static void put_parcel(struct run *r, const struct parcel *p)
{
    for (size_t at = 0; at < p->packed.n;) {
        uint32_t n;
        memcpy(&n, p->packed.p + at, 4);
        CHECK_STATUS("put", crawl_hosts_put(r->cr, span_of(p->packed.p + at + 4, n)), ST_OK);
        CHECK_STATUS("told twice", crawl_hosts_put(r->cr, span_of(p->packed.p + at + 4, n)), ST_OK);
        at += 4 + n;
    }
}

/* What one crawl found for the other's hosts, as a coordinator would pass it on; false: nothing new. */
static bool tell(struct run *to, const struct buf *links, bool of_big1)
{
    struct span rest = buf_span(links), line;
    uint64_t before = progress_of(to, to->channel).queued;
    while (span_split(&rest, '\n', &line)) {
        bool is_big1 = span_search(line, SPAN("big1.example"), false) < line.n;
        if (line.n && is_big1 == of_big1)
            CHECK_STATUS("tell", crawl_seed(to->cr, to->channel, &line, 1), ST_OK);
    }
    return progress_of(to, to->channel).queued > before;
}

static void a_network_is_handed_over(void **state)
{
    struct lab lab;
    struct parcel parcel = {0};
    lab_init(&lab, 45, 3);
    struct run a = {.lab = &lab, .name = "a", .delay_ms = DELAY_MS, .more = &parcel};
    struct run b = {.lab = &lab, .name = "b", .delay_ms = DELAY_MS, .only = "big1.example"};
    run_open(&a);
    a.channel = run_add(&a, channel_of(&lab, 0, 3));
    run_go(&a, take_network);
    size_t at_handover = view_of(&lab, "big1.example").pages;
    assert_true(parcel.pieces > 0);

    run_open(&b);
    struct channel *c = channel_of(&lab, 0, 3);
    b.channel = channel_id(c);
    assert_int_equal(b.channel, a.channel);
    /* What was visited goes before the seeds, so that they are known. */
    CHECK_STATUS("no channel yet", crawl_pages_put(b.cr, b.channel, &(struct page){0}, 0), ST_NOT_FOUND);
    CHECK_STATUS("no channel yet", crawl_add_seeds(b.cr, b.channel), ST_NOT_FOUND);
    CHECK_STATUS("add", crawl_add_unseeded(b.cr, c), ST_OK);
    struct copies copies = {.to = b.cr, .channel = b.channel, .host = "big1.example"};
    copy_pages(&copies, "a");
    assert_true(copies.n > 0);
    put_parcel(&b, &parcel);
    CHECK_STATUS("seeds", crawl_add_seeds(b.cr, b.channel), ST_OK);
    (void)tell(&b, &a.fresh, true);
    run_go(&b, until_nothing_waits);
    assert_true(view_of(&lab, "big1.example").pages > at_handover);

    /* Both go on, each told what the other found for it, until nobody knows anything new. */
    bool any = true;
    for (int round = 0; any && round < 20; round++) {
        run_open(&a);
        any = tell(&a, &b.fresh, false);
        any |= progress_of(&a, a.channel).queued > 0;
        run_go(&a, until_nothing_waits);
        run_open(&b);
        any |= tell(&b, &a.fresh, true);
        run_go(&b, until_nothing_waits);
    }
    struct view v = view_of(&lab, NULL);
    assert_int_equal(v.pages, 45); /* nothing lost */
    assert_true(v.again <= 1);     /* nothing twice, but what was under way when the first was stopped */
    assert_true(v.nearest_us >= GAP_US);
    buf_done(&parcel.packed);
    run_done(&a);
    run_done(&b);
    lab_done(&lab);
}

static void a_network_may_come_back(void **state)
{
    struct lab lab;
    struct parcel parcel = {0};
    lab_init(&lab, 32, 2);
    struct run a = {.lab = &lab, .name = "a", .delay_ms = DELAY_MS, .more = &parcel};
    run_open(&a);
    a.channel = run_add(&a, channel_of(&lab, 0, 2));
    run_go(&a, take_network);
    a.never = NULL;
    run_open(&a);
    uint64_t before = progress_of(&a, a.channel).queued;
    put_parcel(&a, &parcel);
    assert_true(progress_of(&a, a.channel).queued > before);
    run_go(&a, until_nothing_waits);
    struct view v = view_of(&lab, NULL);
    assert_int_equal(v.pages, 32);
    assert_true(v.again <= 1); /* at most what was under way at the other host when it was stopped */
    buf_done(&parcel.packed);
    run_done(&a);
    lab_done(&lab);
}

/* ---- an abrupt end ---- */

/* Killed right after it settled: in the child. */
static bool settle_and_die(struct run *r)
{
    struct network n = network_of_big1(r->lab);
    struct parcel *p = r->more;
    char url[128];
    if (r->stage == 0) {
        if (progress_of(r, r->channel).fetched < 6)
            return false;
        r->stage = 1;
    }
    status st = crawl_network_take(r->cr, &n, take_host, p);
    if (st == ST_AGAIN)
        return false;
    if (st != ST_OK)
        _exit(3);
    r->never = "big1.example";
    put_seed(r->lab, 2, 2, url);
    struct span one = span_str(url);
    if (crawl_seed(r->cr, r->channel, &one, 1) != ST_OK || crawl_settle(r->cr) != ST_OK)
        _exit(4);
    struct page known = {.url = SPAN("http://big0.example/copied"), .at = 1234, .http_status = 200, .etag = SPAN("e")};
    if (crawl_pages_put(r->cr, r->channel, &known, 1) != ST_OK || crawl_settle(r->cr) != ST_OK)
        _exit(5);
    char path[TEST_PATH];
    test_path(path, "parcel");
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(p->packed.p, 1, p->packed.n, f) != p->packed.n || fclose(f) != 0)
        _exit(6);
    kill(getpid(), SIGKILL);
    return true;
}

static status same_page(void *arg, const struct page *p)
{
    CHECK_SPAN("etag", p->etag, SPAN("e"));
    assert_true(p->at == 1234 && p->http_status == 200);
    return ST_OK;
}

/* A child that crawls folder "a" and is killed by its own step. It is made before this process has threads, and told
 * afterwards where the server is. */
struct child {
    pid_t pid;
    int to;
};

static struct child child_start(step_fn *step, bool adds_first)
{
    int pipes[2];
    char text[4096];
    assert_int_equal(pipe(pipes), 0);
    struct child c = {.pid = fork(), .to = pipes[1]};
    assert_true(c.pid >= 0);
    if (c.pid > 0) {
        close(pipes[0]);
        return c;
    }
    struct lab far = {0};
    struct parcel parcel = {0};
    ssize_t n = read(pipes[0], text, sizeof(text));
    char *port = n > 8 ? memmem(text, (size_t)n, "\n\n", 2) : NULL;
    if (!port)
        _exit(2);
    buf_put(&far.hosts, span_of(text, (size_t)(port + 1 - text)));
    far.port = atoi(port + 2);
    struct run r = {.lab = &far, .name = "a", .delay_ms = DELAY_MS, .more = &parcel};
    run_open(&r);
    if (adds_first)
        r.channel = run_add(&r, channel_of(&far, 0, 2));
    run_go(&r, step);
    _exit(7);
}

static void child_wait(struct child *c, const struct lab *l)
{
    struct buf told = {0};
    int how = 0;
    buf_put(&told, buf_span(&l->hosts));
    buf_printf(&told, "\n%d\n", l->port);
    assert_int_equal(write(c->to, told.p, told.n), told.n);
    close(c->to);
    buf_done(&told);
    assert_int_equal(waitpid(c->pid, &how, 0), c->pid);
    if (!WIFSIGNALED(how))
        fail_msg("the child ended with code %d", WEXITSTATUS(how));
}

static bool add_and_die(struct run *r)
{
    if (r->stage == 0) {
        r->channel = run_add(r, channel_of(r->lab, 0, 2));
        r->stage = 1;
        return false;
    }
    if (progress_of(r, r->channel).fetched >= 8)
        kill(getpid(), SIGKILL);
    return false;
}

static void what_was_not_settled_is_told_again(void **state)
{
    struct lab lab;
    struct child child = child_start(add_and_die, false);
    lab_init(&lab, 32, 2);
    child_wait(&child, &lab);
    struct run r = {.lab = &lab, .name = "a", .delay_ms = DELAY_MS};
    run_open(&r);
    r.channel = run_add(&r, channel_of(&lab, 0, 2));
    run_go(&r, until_nothing_waits);
    struct view v = view_of(&lab, NULL);
    assert_int_equal(v.pages, 32);
    assert_true(v.again <= 2); /* at most what was under way */
    assert_true(v.nearest_us >= GAP_US);
    run_done(&r);
    lab_done(&lab);
}

static void what_was_settled_survives_a_kill(void **state)
{
    struct lab lab;
    struct parcel parcel = {0};
    struct child child = child_start(settle_and_die, true);
    lab_init(&lab, 45, 3);
    child_wait(&child, &lab);
    size_t before = view_of(&lab, "big1.example").pages;

    struct run r = {.lab = &lab, .name = "a", .delay_ms = DELAY_MS, .never = "big1.example"};
    struct channel *c = channel_of(&lab, 0, 2);
    r.channel = channel_id(c);
    run_open(&r);
    assert_true(progress_of(&r, r.channel).queued > 0);
    char dir[TEST_PATH];
    struct store *s = NULL;
    test_path(dir, "a");
    CHECK_STATUS("store", store_open(dir, STORE_READ, &s, NULL), ST_OK);
    CHECK_STATUS("page", store_page_get(s, siphash(store_key(s), SPAN("http://big0.example/copied")), same_page, NULL),
                 ST_OK);
    store_free(s);
    run_go(&r, until_nothing_waits);
    assert_int_equal(view_of(&lab, "big1.example").pages, before); /* it was taken away */
    assert_true(view_of(&lab, "big0.example").again <= 2);         /* at most what was under way */

    /* And what was taken can be put back. */
    test_path(dir, "parcel");
    struct span bytes = test_read_file(dir);
    buf_put(&parcel.packed, bytes);
    r.never = NULL;
    run_open(&r);
    put_parcel(&r, &parcel);
    assert_true(progress_of(&r, r.channel).queued > 0);
    run_go(&r, until_nothing_waits);
    assert_true(view_of(&lab, "big1.example").pages > before);
    free((char *)bytes.p);
    channel_free(c);
    buf_done(&parcel.packed);
    run_done(&r);
    lab_done(&lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(what_was_settled_survives_a_kill),
        TEST_IN_FOLDER(what_was_not_settled_is_told_again),
        TEST_IN_FOLDER(a_staying_crawl_takes_channels_as_they_come),
        TEST_IN_FOLDER(progress_is_by_channel),
        TEST_IN_FOLDER(links_that_leave_are_passed_on_and_seeds_taken_in),
        TEST_IN_FOLDER(a_dropped_channel_leaves_the_others_alone_and_may_come_back),
        TEST_IN_FOLDER(known_pages_are_looked_at_again_when_told),
        TEST_IN_FOLDER(pages_that_somebody_tells_of_come_first),
        TEST_IN_FOLDER(a_paused_crawl_asks_for_nothing),
        TEST_IN_FOLDER(hosts_that_may_not_be_used_are_not_asked),
        TEST_IN_FOLDER(a_host_is_asked_at_the_address_that_may_be_used),
        TEST_IN_FOLDER(pages_of_another_crawl_are_known_pages),
        TEST_IN_FOLDER(a_network_is_handed_over),
        TEST_IN_FOLDER(a_network_may_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
