/* test_crawl_handover.c - what one crawl gives to another: the pages that it knew, a network with all that waits. */
#include "crawl_steps.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(pages_of_another_crawl_are_known_pages),
        TEST_IN_FOLDER(a_network_is_handed_over),
        TEST_IN_FOLDER(a_network_may_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
