/* test_crawl_recheck.c - known pages are looked at again when told, those that somebody tells of first. */
#include "crawl_steps.h"

#include "io/clock.h"
#include "plan/page_rate.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(known_pages_are_looked_at_again_when_told),
        TEST_IN_FOLDER(pages_that_somebody_tells_of_come_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
