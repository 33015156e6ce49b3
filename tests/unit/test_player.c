/* The pure parts of the player: which pages are wanted, what the ledger says of them; and processes. */
#include "test.h"
#include "test_folder.h"

#include "base/rng.h"
#include "lab/play/follow.h"
#include "lab/play/process.h"

static const char lab_text[] = "place hq 20.0.0.1\n"
                               "place athens 20.1.0.1 2a00:2::1\n"
                               "place oslo 20.2.0.1\n"
                               "place a.example@servers 30.0.0.0/16\n"
                               "site a.example 30.0.0.5 pages=3\n"
                               "site b.example 30.0.0.6 pages=9\n"
                               "site c.example 30.0.0.7 pages=1\n";

static struct lab load(void)
{
    struct lab l;
    struct buf why = {0};
    CHECK_STATUS("lab", lab_parse(span_str(lab_text), ".", &l, &why), ST_OK);
    buf_done(&why);
    return l;
}

static struct pageset *pages_of(const struct lab *l, uint32_t most)
{
    struct pageset *s = NULL;
    CHECK_STATUS("pages", pageset_new(l, most, &s), ST_OK);
    return s;
}

/* ---- pages ---- */

static void wants_what_is_served(void **state)
{
    static const struct {
        uint32_t most;
        size_t all;
    } cases[] = {{0, 13}, {1, 3}, {3, 7}, {5, 9}, {100, 13}};
    struct lab l = load();
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct pageset *s = pages_of(&l, cases[i].most);
        if (pageset_all(s) != cases[i].all)
            fail_msg("--pages %u: %zu pages, want %zu", cases[i].most, pageset_all(s), cases[i].all);
        pageset_free(s);
    }
    lab_done(&l);
}

static void finds_the_option_of_the_servers(void **state)
{
    struct span none[] = {SPAN("--close")}, two[] = {SPAN("--close"), SPAN("--pages"), SPAN("5")};
    struct span joined[] = {SPAN("--pages=7"), SPAN("--bytes"), SPAN("10")}, cut[] = {SPAN("--pages")};
    assert_int_equal(pageset_most(none, 1), 0);
    assert_int_equal(pageset_most(two, 3), 5);
    assert_int_equal(pageset_most(joined, 3), 7);
    assert_int_equal(pageset_most(cut, 1), 0);
}

static void meets_each_page_once(void **state)
{
    static const struct {
        const char *url;
        bool is_ours;
        size_t met;
    } cases[] = {{"http://a.example/", true, 1},           {"http://a.example/", true, 1},
                 {"http://a.example/p/2.html", true, 2},   {"http://a.example/p/3.html", false, 2},
                 {"http://a.example/p/02.html", false, 2}, {"http://a.example", false, 2},
                 {"https://a.example/", false, 2},         {"http://a.example/robots.txt", false, 2},
                 {"http://d.example/", false, 2},          {"http://b.example/p/4.html", true, 3},
                 {"http://b.example/p/5.html", false, 3},  {"", false, 3}};
    struct lab l = load();
    struct pageset *s = pages_of(&l, 5);
    struct buf left = {0};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        bool got = pageset_meet_url(s, span_str(cases[i].url));
        if (got != cases[i].is_ours || pageset_met(s) != cases[i].met)
            fail_msg("%s: %d, %zu met", cases[i].url, got, pageset_met(s));
    }
    pageset_missing(s, 2, &left);
    CHECK_SPAN("missing", buf_span(&left), SPAN("http://a.example/p/1.html, http://b.example/ and 4 more"));
    pageset_forget(s);
    assert_int_equal(pageset_met(s), 0);
    buf_done(&left);
    pageset_free(s);
    lab_done(&l);
}

/* ---- the ledger ---- */

#define LINE(at, from, host, method, target, code) \
    at "\t" from "\t30.0.0.5\t" host "\t" method "\t" target "\t" code "\t10\n"

static const char ledger[] = LINE("100.000000", "20.1.0.1", "a.example", "GET", "/robots.txt", "200")
    LINE("101.500000", "20.1.0.1", "a.example", "GET", "/", "200")
        LINE("102.000000", "20.2.0.1", "a.example", "GET", "/", "200")     /* again */
    LINE("103.000000", "20.2.0.1", "b.example", "GET", "/p/1.html", "503") /* not sent */
    LINE("104.000000", "2a00:2::1", "b.example", "HEAD", "/", "200") "105.0\thalf a line\n" LINE(
        "105.000000", "99.0.0.1", "a.example", "GET", "/p/1.html", "200") /* of nobody's place */
    LINE("106.250000", "20.2.0.1", "b.example", "GET", "/p/1.html", "200");

static unsigned place(const struct lab *l, const char *name)
{
    unsigned i = 0;
    CHECK(name, map_find(l->map, span_str(name), &i));
    return i;
}

static void follows_the_ledger(void **state)
{
    struct lab l = load();
    struct pageset *s = pages_of(&l, 0);
    struct follower *f = follower_new(&l, s);
    follower_watch(f, place(&l, "oslo"), 102.5);
    follower_feed(f, span_str(ledger));
    assert_int_equal(pageset_met(s), 3);
    CHECK("times", follower_when(f, 1) == 101.5 && follower_when(f, 2) == 105 && follower_when(f, 3) == 106.25);
    CHECK("no fourth", follower_when(f, 4) == 0 && follower_when(f, 0) == 0);
    CHECK("by both families", follower_last(f, place(&l, "athens")) == 104);
    CHECK("last", follower_last(f, place(&l, "oslo")) == 106.25);
    CHECK("hq asks for nothing", follower_last(f, place(&l, "hq")) == 0);
    CHECK("first page asked for after 102.5", follower_seen(f) == 103);
    follower_watch(f, place(&l, "athens"), 102.5);
    CHECK("robots.txt and HEAD are no pages", follower_seen(f) == 0);
    follower_free(f);
    pageset_free(s);
    lab_done(&l);
}

/* However the file grows, the same comes out. */
static void pieces_make_no_difference(void **state)
{
    struct lab l = load();
    struct rng r;
    rng_seed(&r, 7);
    for (int round = 0; round < 200; round++) {
        struct pageset *s = pages_of(&l, 0);
        struct follower *f = follower_new(&l, s);
        struct span rest = span_str(ledger);
        while (rest.n) {
            size_t n = 1 + rng_below(&r, round % 60 + 1);
            follower_feed(f, span_cut(rest, 0, n));
            rest = span_from(rest, n);
        }
        CHECK("the same",
              pageset_met(s) == 3 && follower_when(f, 3) == 106.25 && follower_last(f, place(&l, "athens")) == 104);
        follower_free(f);
        pageset_free(s);
    }
    lab_done(&l);
}

static void passes_over_endless_lines(void **state)
{
    struct lab l = load();
    struct pageset *s = pages_of(&l, 0);
    struct follower *f = follower_new(&l, s);
    for (int i = 0; i < FOLLOW_LINE_MAX; i++)
        follower_feed(f, SPAN("xx"));
    follower_feed(f, SPAN("\n"));
    follower_feed(f, span_str(ledger));
    assert_int_equal(pageset_met(s), 3);
    follower_free(f);
    pageset_free(s);
    lab_done(&l);
}

static void append(const char *path, struct span text)
{
    FILE *f = fopen(path, "ae");
    assert_non_null(f);
    assert_int_equal(fwrite(text.p, 1, text.n, f), text.n);
    fclose(f);
}

static void reads_what_is_new(void **state)
{
    struct lab l = load();
    struct pageset *s = pages_of(&l, 0);
    struct follower *f = follower_new(&l, s);
    char path[TEST_PATH];
    test_path(path, "ledger");
    CHECK_STATUS("not there yet", follower_read(f, path), ST_OK);
    append(path, span_cut(span_str(ledger), 0, 90)); /* into the second line */
    CHECK_STATUS("some", follower_read(f, path), ST_OK);
    assert_int_equal(pageset_met(s), 0);
    append(path, span_from(span_str(ledger), 90));
    CHECK_STATUS("the rest", follower_read(f, path), ST_OK);
    CHECK_STATUS("nothing", follower_read(f, path), ST_OK);
    assert_int_equal(pageset_met(s), 3);
    assert_int_equal(truncate(path, 0), 0);
    append(path, SPAN(LINE("200.000000", "20.1.0.1", "c.example", "GET", "/", "200")));
    CHECK_STATUS("a new one", follower_read(f, path), ST_OK);
    assert_int_equal(pageset_met(s), 4);
    follower_free(f);
    pageset_free(s);
    lab_done(&l);
}

/* ---- processes ---- */

static status run(const char *script, const char *out, int64_t limit_ms, struct buf *why)
{
    struct args args = {0};
    const struct process_opts o = {.args = &args, .dir = test_folder(), .out = out};
    args_adds(&args, "sh", "-c", script);
    status st = process_run(&o, limit_ms, why);
    args_done(&args);
    return st;
}

static void runs_programs_to_their_end(void **state)
{
    static const struct {
        const char *script;
        int64_t limit_ms;
        status st;
        const char *why;
    } cases[] = {{"echo said; echo more >&2", 20000, ST_OK, ""},
                 {"exit 3", 20000, ST_REFUSED, "sh: exit code 3"},
                 {"kill -9 $$", 20000, ST_REFUSED, "sh: killed by signal 9"},
                 {"sleep 100", 1000, ST_TIMEOUT, "sh has not ended after 1 s"}};
    char path[TEST_PATH];
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct buf why = {0};
        CHECK_STATUS(cases[i].script, run(cases[i].script, "out", cases[i].limit_ms, &why), cases[i].st);
        CHECK_SPAN(cases[i].script, buf_span(&why), span_str(cases[i].why));
        buf_done(&why);
    }
    test_path(path, "out");
    struct span said = test_read_file(path);
    CHECK_SPAN("both go to the file", said, SPAN("said\nmore\n"));
    free((char *)(uintptr_t)said.p);
}

static void says_what_cannot_be_started(void **state)
{
    struct args args = {0};
    struct process p = {0};
    struct buf why = {0};
    args_adds(&args, "/nowhere/program");
    CHECK_STATUS("no such program", process_start(&(struct process_opts){.args = &args}, &p, &why), ST_IO);
    CHECK("why", span_search(buf_span(&why), SPAN("No such file"), false) < why.n);
    CHECK("does not run", !process_is_running(&p));
    args_done(&args);
    CHECK_STATUS("nothing", process_start(&(struct process_opts){.args = &args}, &p, &why), ST_LIMIT);
    for (int i = 0; i <= ARGS_MAX; i++)
        args_add(&args, SPAN("true"));
    CHECK_STATUS("too much", process_start(&(struct process_opts){.args = &args}, &p, &why), ST_LIMIT);
    args_done(&args);
    buf_done(&why);
}

static void ends_those_that_do_not_want_to(void **state)
{
    static const char *const scripts[] = {"sleep 100", "trap '' TERM; echo set; while :; do sleep 1; done"};
    struct process p[2] = {{0}}, *list[] = {&p[0], &p[1]};
    struct buf why = {0};
    for (size_t i = 0; i < 2; i++) {
        struct args args = {0};
        args_adds(&args, "sh", "-c", scripts[i]);
        const struct process_opts o = {.args = &args, .dir = test_folder(), .out = "out"};
        CHECK_STATUS(scripts[i], process_start(&o, &p[i], &why), ST_OK);
        args_done(&args);
    }
    char path[TEST_PATH];
    test_path(path, "out");
    for (int i = 0; i < 1000; i++) { /* until the trap is set */
        struct span said = test_read_file(path);
        bool is_set = said.n > 0;
        free((char *)(uintptr_t)said.p);
        if (is_set)
            break;
        usleep(10000);
    }
    assert_int_equal(process_end(list, 2, 500), 1);
    CHECK("gone", !process_is_running(&p[0]) && !process_is_running(&p[1]));
    buf_done(&why);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wants_what_is_served),      cmocka_unit_test(finds_the_option_of_the_servers),
        cmocka_unit_test(meets_each_page_once),      cmocka_unit_test(follows_the_ledger),
        cmocka_unit_test(pieces_make_no_difference), cmocka_unit_test(passes_over_endless_lines),
        TEST_IN_FOLDER(reads_what_is_new),           TEST_IN_FOLDER(runs_programs_to_their_end),
        TEST_IN_FOLDER(says_what_cannot_be_started), TEST_IN_FOLDER(ends_those_that_do_not_want_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
