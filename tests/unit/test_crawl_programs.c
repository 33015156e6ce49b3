/* Programs in the crawl engine, on the sample web over loopback, with real workers. */
#include "test.h"

#include <limits.h>
#include <unistd.h>

#include "apply/apply_sink.h"
#include "base/mem.h"
#include "crawl/crawl.h"
#include "sample/sample.h"
#include "test_folder.h"
#include "web/facts.h"
#include "web/summary.h"

#define TICKS_MAX 600 /* two minutes: it never will be done */
#define PAGES 120
#define HOSTS 4

/* What the visits said. The writer's thread fills it; the test reads it when the crawl is closed. */
static struct {
    status (*visit)(void *self, struct span packed, struct visit_effect *effect);
    unsigned pages, skipped, gone;
    unsigned with[10]; /* pages by the value of their field "v" */
    unsigned summaries, headers;
} said;

static status note_visit(void *self, struct span packed, struct visit_effect *effect)
{
    struct arena a;
    struct summary s;
    arena_init(&a);
    if (summary_unpack(&a, packed, &s) == ST_OK) {
        said.gone += s.http_status == 404;
        said.pages += s.http_status == 200;
        said.skipped += (s.page_flags & PAGE_SKIPPED) != 0;
        said.summaries += span_is(s.text, "instead");
        for (size_t i = 0; i < s.field_count; i++) {
            if (span_is(s.fields[i].name, "v"))
                said.with[s.fields[i].value.p[0] - '0']++;
            said.headers += span_is(s.fields[i].name, "server") && s.fields[i].value.n > 0;
        }
    }
    arena_done(&a);
    return said.visit(self, packed, effect);
}

static status open_sink(void *arg, struct store *s, struct sink *out, struct buf *why)
{
    static struct apply_sink_opts o = {0};
    status st = apply_sink_open(&o, s, out, why);
    said.visit = out->visit;
    out->visit = note_visit;
    return st;
}

struct rig {
    struct sample *sample;
    struct buf hosts;
    struct crawl *cr;
    uint64_t channel;
    int stage, ticks;
    bool (*step)(struct rig *r);
    bool is_late;
};

static void rig_init(struct rig *r)
{
    struct sample_opts o = {.seed = 5, .big_pages = PAGES, .big_hosts = HOSTS, .no_sites = true, .is_spread = true};
    *r = (struct rig){0};
    memset(&said, 0, sizeof(said));
    CHECK_STATUS("sample", sample_new(&o, &r->sample), ST_OK);
    sample_hosts_text(r->sample, &r->hosts);
}

static void rig_done(struct rig *r)
{
    sample_free(r->sample);
    buf_done(&r->hosts);
}

static void rig_open(struct rig *r)
{
    static char worker[PATH_MAX + 64];
    char dir[TEST_PATH], text[HOSTS][128];
    struct span seeds[HOSTS];
    struct channel *c = NULL;
    struct buf why = {0};
    ssize_t n = readlink("/proc/self/exe", worker, PATH_MAX);
    while (n > 0 && worker[n - 1] != '/')
        n--;
    snprintf(worker + n, 64, "../../src/mobile/orb-worker");
    test_path(dir, "crawl");
    struct crawl_opts o = {.data_dir = dir,
                           .fetch = {.user_agent = SPAN("orbweaver/0.1 (test)"), .allow_private = true},
                           .dns = {.hosts = buf_span(&r->hosts)},
                           .shards = 2,
                           .open_sink = open_sink,
                           .worker_path = worker,
                           .stays = true};
    status st = crawl_open(&o, &r->cr, &why);
    if (st != ST_OK)
        fail_msg("open: %s: %s", status_name(st), buf_cstr(&why));
    for (unsigned i = 0; i < HOSTS; i++) {
        snprintf(text[i], 128, "http://big%u.example:%d/p/%u.html", i, sample_port(r->sample), i);
        seeds[i] = span_str(text[i]);
    }
    struct channel_opts co = {.seeds = seeds, .seed_count = HOSTS, .scope = SCOPE_SITE, .depth_max = 64};
    CHECK_STATUS("channel", channel_new(&co, &c, NULL), ST_OK);
    r->channel = channel_id(c);
    CHECK_STATUS("add", crawl_add(r->cr, c), ST_OK);
    buf_done(&why);
}

static void on_progress(void *arg, const struct crawl_stats *stats)
{
    struct rig *r = arg;
    r->is_late |= ++r->ticks > TICKS_MAX;
    if (r->is_late || r->step(r))
        crawl_stop(r->cr);
}

static void rig_go(struct rig *r, bool (*step)(struct rig *r))
{
    crawl_end end = CRAWL_FAILED;
    r->step = step;
    r->ticks = r->stage = 0;
    CHECK_STATUS("run", crawl_run(r->cr, on_progress, r, &end), ST_OK);
    crawl_close(r->cr);
    r->cr = NULL;
    CHECK("in time", !r->is_late);
}

static status give(struct rig *r, uint64_t serial, const char *script)
{
    const struct program p = {.name = SPAN("x"), .serial = serial, .script = span_str(script)};
    return crawl_program_set(r->cr, &p, NULL);
}

static bool until_done(struct rig *r)
{
    struct channel_progress p;
    return crawl_channel_progress(r->cr, r->channel, &p) && p.queued == 0;
}

static struct program_state state_of(struct rig *r)
{
    struct program_state s = {0};
    assert_int_equal(crawl_programs(r->cr, &s, 1), 1);
    return s;
}

/* ---- tests ---- */

static struct program_state last;

static bool until_done_and_looked(struct rig *r)
{
    if (!until_done(r))
        return false;
    last = state_of(r);
    return last.pages == PAGES; /* published a moment later */
}

static void every_page_is_asked_about_once(void **state)
{
    struct rig r;
    rig_init(&r);
    rig_open(&r);
    CHECK_STATUS("set",
                 give(&r, 7,
                      "function page(p)\n"
                      "  emit { v = 1, server = p.headers['content-type'] }\n"
                      "  follow('/nowhere') follow('http://elsewhere.example/')\n"
                      "  if p.url:find('7.html') then skip() end\n"
                      "  if p.url:find('3.html') then summary('instead') end\n"
                      "end"),
                 ST_OK);
    CHECK_STATUS("the same again", give(&r, 7, "function page(p) end"), ST_EXISTS);
    CHECK_STATUS("no such channel", crawl_program_bind(r.cr, 1, SPAN("x")), ST_NOT_FOUND);
    CHECK_STATUS("no name", crawl_program_bind(r.cr, r.channel, SPAN("a b")), ST_INVALID);
    CHECK_STATUS("bind", crawl_program_bind(r.cr, r.channel, SPAN("x")), ST_OK);
    rig_go(&r, until_done_and_looked);
    assert_int_equal(said.pages, PAGES);
    assert_int_equal(said.with[1], PAGES);
    assert_int_equal(said.headers, PAGES);
    assert_int_equal(said.skipped, PAGES / 10);
    assert_int_equal(said.summaries, PAGES / 10);
    assert_int_equal(said.gone, HOSTS); /* the followed one, once a host; the other is not in the channel */
    assert_int_equal(last.serial, 7);
    assert_int_equal(last.errors, 0);
    rig_done(&r);
}

static bool change_on_the_way(struct rig *r)
{
    struct channel_progress p;
    if (!crawl_channel_progress(r->cr, r->channel, &p))
        return false;
    if (r->stage == 0 && p.fetched >= PAGES / 4) {
        CHECK_STATUS("set", give(r, 2, "function page(p) emit { v = 2 } end"), ST_OK);
        r->stage = 1;
    } else if (r->stage == 1 && p.fetched >= PAGES / 2) {
        crawl_program_drop(r->cr, SPAN("x"), 2);
        r->stage = 2;
    } else if (r->stage == 2 && p.fetched >= PAGES / 4 * 3) {
        CHECK_STATUS("unbind", crawl_program_bind(r->cr, r->channel, SPAN("")), ST_OK);
        r->stage = 3;
    }
    return p.queued == 0;
}

static void versions_change_without_a_page_lost(void **state)
{
    struct rig r;
    rig_init(&r);
    rig_open(&r);
    CHECK_STATUS("set", give(&r, 1, "function page(p) emit { v = 1 } end"), ST_OK);
    CHECK_STATUS("bind", crawl_program_bind(r.cr, r.channel, SPAN("x")), ST_OK);
    rig_go(&r, change_on_the_way);
    assert_int_equal(said.pages, PAGES);
    assert_in_range(said.with[1], PAGES / 4, PAGES);
    assert_in_range(said.with[1] + said.with[2], PAGES / 2, PAGES);
    rig_done(&r);
}

static bool until_given_up(struct rig *r)
{
    if (!until_done(r))
        return false;
    last = state_of(r);
    return last.failed_serial == 3;
}

static void pages_of_a_failing_program_go_on_without_it(void **state)
{
    struct rig r;
    rig_init(&r);
    rig_open(&r);
    CHECK_STATUS("set", give(&r, 3, "function page(p) error('no') end"), ST_OK);
    CHECK_STATUS("bind", crawl_program_bind(r.cr, r.channel, SPAN("x")), ST_OK);
    rig_go(&r, until_given_up);
    assert_int_equal(said.pages, PAGES);
    assert_int_equal(said.with[1], 0);
    assert_int_equal(last.serial, 0);
    CHECK("its error is told", span_search(span_str(last.last_error), SPAN("no"), false) < strlen(last.last_error));
    rig_done(&r);
}

static bool for_three_ticks(struct rig *r)
{
    return r->ticks == 3;
}

/* Pages that are at the program when the crawl ends were not visited: they come again. */
static void pages_at_a_program_survive_the_end(void **state)
{
    struct rig r;
    rig_init(&r);
    rig_open(&r);
    CHECK_STATUS("set",
                 give(&r, 1, "function page(p) local n = 0 for i = 1, 2000000 do n = n + i end emit { v = 1 } end"),
                 ST_OK);
    CHECK_STATUS("bind", crawl_program_bind(r.cr, r.channel, SPAN("x")), ST_OK);
    rig_go(&r, for_three_ticks);
    assert_in_range(said.pages, 0, PAGES - 1);
    rig_open(&r);
    rig_go(&r, until_done);
    assert_int_equal(said.pages, PAGES);
    rig_done(&r);
}

static void missing_worker_is_said(void **state)
{
    struct rig r;
    char dir[TEST_PATH];
    struct buf why = {0};
    const struct program p = {.name = SPAN("x"), .serial = 1, .script = SPAN("function page(p) end")};
    rig_init(&r);
    test_path(dir, "crawl");
    struct crawl_opts o = {.data_dir = dir,
                           .fetch = {.user_agent = SPAN("orbweaver/0.1 (test)")},
                           .open_sink = open_sink,
                           .worker_path = "/nonexistent/orb-worker"};
    CHECK_STATUS("open", crawl_open(&o, &r.cr, &why), ST_OK);
    CHECK_STATUS("set", crawl_program_set(r.cr, &p, NULL), ST_NOT_FOUND);
    crawl_close(r.cr);
    buf_done(&why);
    rig_done(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(every_page_is_asked_about_once),
        TEST_IN_FOLDER(versions_change_without_a_page_lost),
        TEST_IN_FOLDER(pages_of_a_failing_program_go_on_without_it),
        TEST_IN_FOLDER(pages_at_a_program_survive_the_end),
        TEST_IN_FOLDER(missing_worker_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
