/* test_crawl_channels.c - channels come, are counted, pass links on and go, all while the crawl runs. */
#include "crawl_steps.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(a_staying_crawl_takes_channels_as_they_come),
        TEST_IN_FOLDER(progress_is_by_channel),
        TEST_IN_FOLDER(links_that_leave_are_passed_on_and_seeds_taken_in),
        TEST_IN_FOLDER(a_dropped_channel_leaves_the_others_alone_and_may_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
