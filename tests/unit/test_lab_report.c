/* What the lab found, as a page and as Markdown: of a small tree of results. */
#include "test.h"
#include "test_folder.h"

#include <sys/stat.h>

#include "lab/play/figure_kinds.h"
#include "lab/play/report.h"

#define HOSTILE "<script>alert('1')</script>\\\"&`|"

/* Two strategies, each run twice; one run has a problem; texts are as bad as texts get. */
static const char phase[] =
    "{\"scenario\":\"phase\",\"title\":\"Title " HOSTILE "\",\"about\":\"One line " HOSTILE
    ". And another.\",\"short\":"
    "true,\"begun\":\"2023-11-14T22:13:20Z\",\"seconds\":61.5,\"machine\":{\"cores\":2,\"load\":0.5,\"busy\":0.25},"
    "\"variables\":{\"sites\":\"60\"},\"runs\":["
    "{\"name\":\"strategy=learned\",\"folder\":\"learned\",\"variables\":{\"strategy\":\"learned\",\"repeat\":\"1\"},"
    "\"valid\":true,\"attempts\":1,\"passed\":true,\"seconds\":30,\"figures\":{\"rtt_ms\":20},\"expected\":[{\"text\":"
    "\"lost = 0 " HOSTILE "\",\"value\":0,\"passed\":true},{\"text\":\"rtt_ms <= 25\",\"value\":20,\"passed\":true}],"
    "\"events\":[{\"t\":0.5,\"what\":\"kill " HOSTILE
    "\"},{\"t\":0.6,\"what\":\"wait for nothing\"}],\"problem\":\"\"},"
    "{\"name\":\"" HOSTILE "\",\"folder\":\"no such\",\"variables\":{\"strategy\":\"random" HOSTILE "\",\"repeat\":"
    "\"1\"},\"valid\":false,\"attempts\":3,\"passed\":false,\"seconds\":30,\"figures\":{\"rtt_ms\":60},\"expected\":[{"
    "\"text\":\"rtt_ms <= 25\",\"value\":60,\"passed\":false}],\"events\":[],\"problem\":\"it " HOSTILE "\"}],"
    "\"groups\":["
    "{\"variables\":{\"strategy\":\"learned\"},\"figures\":{\"rtt_ms\":{\"mean\":20,\"least\":19,\"most\":21,\"n\":2},"
    "\"sim_rtt_ms\":{\"mean\":19,\"least\":19,\"most\":19,\"n\":2},\"own_s\":{\"mean\":3.25,\"least\":3,\"most\":3.5,"
    "\"n\":2},\"lost\":{\"mean\":0,\"least\":0,\"most\":0,\"n\":2},\"probes\":{\"mean\":2,\"least\":2,\"most\":2,"
    "\"n\":2}}},"
    "{\"variables\":{\"strategy\":\"random" HOSTILE "\"},\"figures\":{\"rtt_ms\":{\"mean\":60,\"least\":60,\"most\":60,"
    "\"n\":1}}}],"
    "\"orders\":[{\"text\":\"order " HOSTILE "\",\"passed\":false,\"values\":[{\"value\":\"a " HOSTILE
    "\",\"a\":1,\"b\":null}]}],\"passed\":false}";

static const char thresholds[] =
    "{\"scenario\":\"thresholds\",\"title\":\"Thresholds\",\"passed\":true,\"runs\":[],\"groups\":["
    "{\"variables\":{\"threshold\":\"25\",\"agents\":\"6\"},\"figures\":{\"near\":{\"mean\":90,\"least\":90,\"most\":"
    "90,"
    "\"n\":1},\"probes\":{\"mean\":3,\"least\":3,\"most\":3,\"n\":1}}},"
    "{\"variables\":{\"threshold\":\"125\",\"agents\":\"6\"},\"figures\":{\"near\":{\"mean\":60,\"least\":60,\"most\":"
    "60,\"n\":1},\"probes\":{\"mean\":2,\"least\":2,\"most\":2,\"n\":1}}}]}";

/* ---- a tree ---- */

static void make_dir(const char *name)
{
    char path[TEST_PATH];
    test_path(path, name);
    if (mkdir(path, 0700) != 0)
        fail_msg("cannot make %s", path);
}

static void write_file(const char *name, const char *text)
{
    char path[TEST_PATH];
    test_path(path, name);
    FILE *f = fopen(path, "wb");
    if (!f || fputs(text, f) < 0 || fclose(f) != 0)
        fail_msg("cannot write %s", path);
}

static void write_run(const char *folder)
{
    char name[TEST_PATH / 2];
    struct buf text = {0};
    snprintf(name, sizeof(name), "%s/begin", folder);
    write_file(name, "100.0\n");
    for (int i = 0; i < 1000; i++)
        buf_printf(&text, "%d.000000\t20.0.0.1\t30.0.0.1\ta.example\tGET\t/p/%d.html\t200\t10\n", 101 + i, i);
    snprintf(name, sizeof(name), "%s/ledger", folder);
    write_file(name, buf_cstr(&text));
    buf_clear(&text);
    for (int i = 0; i < 60; i++)
        buf_printf(&text, "%s{\"agent\":\"a\",\"met\":%d,\"asked\":1,\"hosts\":1}", i ? "," : "{\"networks\":[", i + 1);
    buf_puts(&text, "]}");
    snprintf(name, sizeof(name), "%s/networks.json", folder);
    write_file(name, buf_cstr(&text));
    buf_done(&text);
}

static void write_tree(void)
{
    make_dir("deep");
    make_dir("deep/phase");
    make_dir("deep/phase/learned");
    make_dir("deep/phase/learned/deeper");
    make_dir("thresholds");
    write_file("deep/phase/results.json", phase);
    write_file("deep/phase/learned/results.json", "too deep to be looked at");
    write_file("thresholds/results.json", thresholds);
    write_run("deep/phase/learned");
}

static struct results load(void)
{
    struct results r;
    struct buf why = {0};
    status st = results_load(test_folder(), &r, &why);
    if (st != ST_OK)
        fail_msg("%s: %s", status_name(st), buf_cstr(&why));
    buf_done(&why);
    return r;
}

static size_t count(struct span text, const char *what)
{
    size_t n = 0, at;
    while ((at = span_search(text, span_str(what), false)) < text.n) {
        n++;
        text = span_from(text, at + 1);
    }
    return n;
}

/* ---- the page ---- */

/* Every tag that opens is closed, in order. */
static void check_balanced(struct span page)
{
    struct span open[64];
    size_t depth = 0;
    for (size_t at = span_find(page, '<', 0); at < page.n; at = span_find(page, '<', at + 1)) {
        struct span tag = span_cut(page, at + 1, span_find(page, '>', at) - at - 1);
        size_t n = 0;
        bool is_end = tag.n && tag.p[0] == '/';
        if (is_end)
            tag = span_from(tag, 1);
        while (n < tag.n && (ascii_is_alpha(tag.p[n]) || ascii_is_digit(tag.p[n])))
            n++;
        struct span name = span_cut(tag, 0, n);
        if (span_is(name, "meta") || (tag.n && (tag.p[0] == '!' || tag.p[tag.n - 1] == '/')))
            continue;
        if (!is_end) {
            assert_true(depth < 64);
            open[depth++] = name;
        } else if (!depth || !span_eq(open[--depth], name))
            fail_msg("</%.*s> closes nothing", SPAN_ARG(name));
    }
    assert_int_equal(depth, 0);
}

static void the_page_is_whole_and_escaped(void **state)
{
    static const char *const there[] = {"<title>",
                                        "Title &lt;script&gt;",
                                        "kill &lt;script&gt;",
                                        "it &lt;script&gt;",
                                        "orb lab run phase --short",
                                        "Pages over time",
                                        "Probes, site after site",
                                        "Near sites by threshold",
                                        "own_s",
                                        "class=\"s1 pale\"",
                                        "class=\"mark\"",
                                        "class=\"spread\"",
                                        "1 of 2",
                                        "2023-11-14"};
    static const char *const never[] = {
        "<script", "wait for nothing", "src=", "http:", "https:", "url(", "@import", "nan", "inf\""};
    struct buf page = {0};
    write_tree();
    struct results r = load();
    assert_int_equal(r.n, 2);
    lab_report_page(&r, "orb lab report " HOSTILE, &page);
    for (size_t i = 0; i < sizeof(there) / sizeof(*there); i++)
        CHECK(there[i], count(buf_span(&page), there[i]) > 0);
    for (size_t i = 0; i < sizeof(never) / sizeof(*never); i++)
        CHECK(never[i], count(buf_span(&page), never[i]) == 0);
    check_balanced(buf_span(&page));
    buf_done(&page);
    results_done(&r);
}

static void curves_are_thinned(void **state)
{
    struct buf page = {0};
    write_tree();
    struct results r = load();
    lab_report_page(&r, "orb lab report", &page);
    size_t at = span_search(buf_span(&page), SPAN("class=\"line c1\" d=\"M"), false);
    struct span path = span_cut(buf_span(&page), at, span_find(buf_span(&page), '>', at) - at);
    assert_int_equal(count(path, "L"), 199);
    buf_done(&page);
    results_done(&r);
}

static void results_without_anything_are_shown(void **state)
{
    struct buf page = {0};
    write_file("results.json", "{}");
    struct results r = load();
    lab_report_page(&r, "orb lab report", &page);
    check_balanced(buf_span(&page));
    buf_clear(&page);
    lab_report_markdown(&r, &page);
    CHECK("a heading", count(buf_span(&page), "## ?") == 1);
    buf_done(&page);
    results_done(&r);
}

/* ---- Markdown ---- */

static void tables_have_a_row_a_figure(void **state)
{
    static const char *const want[] = {"| | learned |",
                                       "|---|---:|",
                                       "\n| own_s | 3.25 (3 to 3.50) |",
                                       "\n| rtt_ms | 20.0 (19.0 to 21.0) |",
                                       "\n| probes | 2.00 |",
                                       "\n| sim_rtt_ms | 19.0 |"};
    struct buf text = {0};
    write_tree();
    struct results r = load();
    lab_report_markdown(&r, &text);
    for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++)
        if (!count(buf_span(&text), want[i]))
            fail_msg("no %s in:\n%s", want[i], buf_cstr(&text));
    CHECK("no tag", count(buf_span(&text), "## Title \\<script") == 1);
    CHECK("no tag in a row", count(buf_span(&text), "| random\\<script") >= 1);
    CHECK("what failed", count(buf_span(&text), "`rtt_ms <= 25`: 20.0 to 60.0; **held in 1 of 2**") == 1);
    CHECK("what it is about", count(buf_span(&text), "And another") == 1);
    CHECK("the command",
          count(buf_span(&text), "`orb lab run phase --short`: 2 runs, 62 s, 2 cores, 25 % of them in use; "
                                 "**1 not valid**; **failed**.") == 1);
    buf_done(&text);
    results_done(&r);
}

/* ---- reading ---- */

static void what_is_no_result_is_refused(void **state)
{
    static const struct {
        const char *text;
        status want;
    } cases[] = {{"", ST_INVALID}, {"[]", ST_INVALID}, {"{\"runs\":", ST_INVALID}, {"7", ST_INVALID}};
    struct results r;
    struct buf why = {0};
    CHECK_STATUS("none", results_load(test_folder(), &r, &why), ST_NOT_FOUND);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        write_file("results.json", cases[i].text);
        CHECK_STATUS(cases[i].text, results_load(test_folder(), &r, &why), cases[i].want);
    }
    results_done(&r);
    buf_done(&why);
}

static void members_of_the_wrong_kind_are_left_out(void **state)
{
    static const char *const cases[] = {
        "{\"groups\":7,\"runs\":\"no\",\"orders\":{\"a\":1},\"title\":[],\"machine\":[]}",
        "{\"groups\":[1,\"two\",[],{\"figures\":[1],\"variables\":9},{\"figures\":{\"rtt_ms\":4,\"crawl_s\":{}}}]}",
        "{\"groups\":[{},{}],\"runs\":[0,{\"expected\":[1,{\"value\":null}],\"events\":[2]}],\"begun\":1e300}",
        ("{\"groups\":[{\"variables\":{\"threshold\":\"x\"},\"figures\":{\"near\":{\"mean\":1}}},{\"variables\":{"
         "\"threshold\":3},\"figures\":{\"near\":{\"mean\":-1e308}}}]}")};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct buf page = {0};
        write_file("results.json", cases[i]);
        struct results r = load();
        lab_report_page(&r, "orb lab report", &page);
        check_balanced(buf_span(&page));
        lab_report_markdown(&r, &page);
        buf_done(&page);
        results_done(&r);
    }
}

static void kinds_are_named_once(void **state)
{
    for (size_t i = 0; i < figure_kind_count; i++)
        CHECK(figure_kinds[i].name, figure_kind_of(span_str(figure_kinds[i].name)) == &figure_kinds[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(the_page_is_whole_and_escaped),
        TEST_IN_FOLDER(curves_are_thinned),
        TEST_IN_FOLDER(results_without_anything_are_shown),
        TEST_IN_FOLDER(tables_have_a_row_a_figure),
        TEST_IN_FOLDER(what_is_no_result_is_refused),
        TEST_IN_FOLDER(members_of_the_wrong_kind_are_left_out),
        cmocka_unit_test(kinds_are_named_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
