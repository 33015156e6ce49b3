/* Answers as they came, from the agent's side to the coordinator's files. */
#include "test.h"

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>

#include "base/rng.h"
#include "codec/zip.h"
#include "coord/archive.h"
#include "crawl/archive.h"
#include "store/file.h"
#include "test_folder.h"
#include "wire/capture.h"
#include "wire/fields.h"
#include "wire/package.h"

#define HEAD "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
#define REQUEST "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n"

/* ---- captures ---- */

static void captures_come_back_as_they_were(void **state)
{
    static const struct warc_capture cases[] = {
        {.at = 1700000000000, .head = SPAN_INIT(HEAD)},
        {.at = -5, .head = SPAN_INIT("HTTP/1.0 204\r\n\r\n"), .request = SPAN_INIT(REQUEST)},
        {.at = 7, .head = SPAN_INIT(HEAD), .body = SPAN_INIT("a\0b"), .cut = WARC_CUT_DISCONNECT, .is_http2 = true},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct buf b = {0};
        struct warc_capture c;
        CHECK("packs", capture_pack(&cases[i], &b));
        CHECK_STATUS("unpacks", capture_unpack(buf_span(&b), &c), ST_OK);
        CHECK("numbers", c.at == cases[i].at && c.cut == cases[i].cut && c.is_http2 == cases[i].is_http2);
        CHECK_SPAN("head", c.head, cases[i].head);
        CHECK_SPAN("request", c.request, cases[i].request);
        CHECK_SPAN("body", c.body, cases[i].body);
        /* Cut at every byte: never more than it was, and never a crash. */
        for (size_t n = 0; n < b.n; n++) {
            struct buf part = {0};
            buf_put(&part, span_of(b.p, n));
            if (capture_unpack(buf_span(&part), &c) == ST_OK)
                CHECK("a part", c.head.n == cases[i].head.n && c.body.n <= cases[i].body.n);
            buf_done(&part);
        }
        buf_done(&b);
    }
}

static void a_body_whose_rest_did_not_come_is_cut(void **state)
{
    static const struct {
        const char *label;
        struct fetch_result r;
        warc_cut want;
    } cases[] = {
        {"whole", {.st = ST_OK}, WARC_WHOLE},
        {"cut at the ceiling", {.st = ST_OK, .raw_cut = true}, WARC_CUT_LENGTH},
        {"cut in a chunk", {.st = ST_PROTOCOL, .raw_broken = true}, WARC_CUT_DISCONNECT},
        {"not what its coding says", {.st = ST_PROTOCOL}, WARC_WHOLE},
        {"too slow", {.st = ST_TIMEOUT, .raw_broken = true}, WARC_CUT_TIME},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char address[ADDR_TEXT_MAX];
        CHECK(cases[i].label, capture_of(SPAN("http://a.example/"), &cases[i].r, address).cut == cases[i].want);
    }
}

static void captures_that_are_none_are_refused(void **state)
{
    static const struct {
        const char *label;
        struct span head, request;
    } cases[] = {
        {"no head", SPAN_INIT(""), SPAN_INIT(REQUEST)},
        {"a record", SPAN_INIT("WARC/1.1\r\n\r\n"), SPAN_INIT("")},
        {"a head that does not end", SPAN_INIT("HTTP/1.1 200 OK\r\n"), SPAN_INIT("")},
        {"two heads", SPAN_INIT(HEAD HEAD), SPAN_INIT("")},
        {"a request that does not end", SPAN_INIT(HEAD), SPAN_INIT("GET / HTTP/1.1\r\n")},
        {"a request with more behind it", SPAN_INIT(HEAD), SPAN_INIT(REQUEST "WARC/1.1\r\n\r\n")},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct buf b = {0};
        struct warc_capture c = {.head = cases[i].head, .request = cases[i].request}, out;
        CHECK(cases[i].label, capture_pack(&c, &b));
        CHECK_STATUS(cases[i].label, capture_unpack(buf_span(&b), &out), ST_CORRUPT);
        buf_done(&b);
    }
    struct buf large = {0}, b = {0};
    struct warc_capture c = {.head = SPAN(HEAD)}, out;
    memset(buf_room(&large, CAPTURE_BODY_MAX + 1), 'x', CAPTURE_BODY_MAX + 1);
    c.body = span_of(large.p, CAPTURE_BODY_MAX + 1);
    CHECK("too large", !capture_pack(&c, &b) && b.n == 0);
    c.body.n--;
    CHECK("not too large", capture_pack(&c, &b) && b.n <= CAPTURE_BYTES_MAX);
    CHECK_STATUS("not too large", capture_unpack(buf_span(&b), &out), ST_OK);
    field_text(&b, 4, span_of(large.p, CAPTURE_BODY_MAX + 1)); /* the last one counts */
    CHECK_STATUS("too large", capture_unpack(buf_span(&b), &out), ST_LIMIT);
    buf_done(&large);
    buf_done(&b);
}

/* ---- in packages ---- */

static void put_capture(struct buf *b, const char *body)
{
    struct warc_capture c = {.at = 1, .head = SPAN(HEAD), .request = SPAN(REQUEST), .body = span_str(body)};
    CHECK("packs", capture_pack(&c, b));
}

static status show(void *arg, uint64_t task, summary_kind kind, const struct summary *s)
{
    struct warc_capture c = {0};
    if (s->capture.n)
        CHECK_STATUS("capture", capture_unpack(s->capture, &c), ST_OK);
    buf_printf(arg, "%.*s=%.*s|", SPAN_ARG(s->url), SPAN_ARG(c.body));
    return ST_OK;
}

static void packages_bring_captures_to_their_visits(void **state)
{
    struct package_writer *w = package_writer_new(&(struct package_writer_opts){0});
    struct package_head head = {.agent = 1, .sequence = 1};
    static const unsigned char seed[SIGN_SEED_BYTES] = {7};
    struct sign_key key;
    struct buf one = {0}, three = {0}, out = {0}, got = {0};
    sign_key_of(seed, &key);
    put_capture(&one, "first");
    put_capture(&three, "third");
    package_add_visit(w, 1, SUMMARY_TEXT, &(struct summary){.url = SPAN("http://c/"), .capture = buf_span(&three)});
    package_add_visit(w, 1, SUMMARY_TEXT, &(struct summary){.url = SPAN("http://b/")});
    package_add_visit(w, 1, SUMMARY_KEYWORDS, &(struct summary){.url = SPAN("http://a/"), .capture = buf_span(&one)});
    CHECK("counted", package_raw_bytes(w) > one.n + three.n);
    package_finish(w, &head, &key, &out);
    CHECK_STATUS("read", package_read(buf_span(&out), NULL, NULL, show, &got), ST_OK);
    CHECK_SPAN("in order", buf_span(&got), SPAN("http://a/=first|http://b/=|http://c/=third|"));
    package_writer_free(w);
    buf_done(&one);
    buf_done(&three);
    buf_done(&out);
    buf_done(&got);
}

/* ---- at the coordinator ---- */

static struct warc_store *store_new(void)
{
    struct warc_store *s = NULL;
    struct buf why = {0};
    struct warc_store_opts o = {.data_dir = test_folder(), .version = SPAN("1")};
    CHECK_STATUS("open", warc_store_new(&o, &s, &why), ST_OK);
    buf_done(&why);
    return s;
}

static bool visit(struct warc_store *s, const char *url, unsigned http_status, const char *body)
{
    struct buf b = {0};
    put_capture(&b, body);
    struct summary v = {.url = span_str(url), .http_status = (uint16_t)http_status, .capture = buf_span(&b)};
    bool is_good = warc_store_visit(s, &v);
    buf_done(&b);
    return is_good;
}

/* All records of all files. */
static void read_records(struct buf *out)
{
    struct buf path = {0};
    char *names[32];
    size_t n = 0;
    buf_printf(&path, "%s/warc", test_folder());
    DIR *d = opendir(buf_cstr(&path));
    for (struct dirent *e; d && (e = readdir(d));)
        if (span_starts(span_str(e->d_name), SPAN("orb-")))
            names[n++] = strdup(e->d_name);
    if (d)
        closedir(d);
    for (size_t i = 0; i < n; i++) /* few enough */
        for (size_t k = i + 1; k < n; k++)
            if (strcmp(names[k], names[i]) < 0) {
                char *t = names[i];
                names[i] = names[k];
                names[k] = t;
            }
    for (size_t i = 0; i < n; i++) {
        buf_clear(&path);
        buf_printf(&path, "%s/warc/%s", test_folder(), names[i]);
        struct span bytes = test_read_file(buf_cstr(&path));
        CHECK_STATUS(names[i], unzip_gzip(bytes, 1u << 24, out), ST_OK);
        free((char *)bytes.p);
        free(names[i]);
    }
    buf_done(&path);
}

/* "type url|" of all answers in all files. */
static void check_records(const char *label, const char *want)
{
    struct buf plain = {0}, got = {0};
    read_records(&plain);
    struct span rest = buf_span(&plain), key = SPAN("WARC-Type: re"), url = SPAN("WARC-Target-URI: ");
    for (size_t at; (at = span_search(rest, key, false)) < rest.n;) {
        rest = span_from(rest, at + key.n);
        if (rest.p[0] == 'q')
            continue; /* a request */
        buf_printf(&got, "%s ", rest.p[0] == 's' ? "response" : "revisit");
        rest = span_from(rest, span_search(rest, url, false) + url.n);
        buf_printf(&got, "%.*s|", SPAN_ARG(span_cut(rest, 0, span_find(rest, '\r', 0))));
    }
    CHECK_SPAN(label, buf_span(&got), span_str(want));
    buf_done(&plain);
    buf_done(&got);
}

/* When the newest answer's original was asked for: 0: it has none. */
static int last_refers(void)
{
    struct buf plain = {0};
    uint64_t ms = 0;
    read_records(&plain);
    struct span rest = buf_span(&plain), last = rest, key = SPAN("WARC-Type: re");
    struct span date = SPAN("WARC-Refers-To-Date: 1970-01-01T00:00:00.");
    for (size_t at; (at = span_search(rest, key, false)) < rest.n;) {
        rest = span_from(rest, at + key.n);
        if (rest.p[0] != 'q')
            last = rest;
    }
    struct span head = span_cut(last, 0, span_search(last, SPAN("\r\n\r\n"), false));
    struct span ref = span_from(head, span_search(head, date, false) + date.n);
    CHECK("a date", !ref.n || span_u64(span_cut(ref, 0, 3), 999, &ms));
    buf_done(&plain);
    return (int)ms;
}

static void a_package_applied_twice_is_there_once(void **state)
{
    struct warc_store *s = store_new();
    struct stat sb;
    char path[TEST_PATH];
    test_path(path, "warc");
    warc_store_begin(s, 7, 1);
    CHECK_STATUS("nothing", warc_store_commit(s), ST_OK);
    CHECK("nothing is made", stat(path, &sb) != 0);
    for (int again = 0; again < 3; again++) {
        warc_store_begin(s, 7, 2);
        CHECK("a", visit(s, "http://a/", 200, "one"));
        CHECK("b", visit(s, "http://b/", 404, "two"));
        CHECK_STATUS("commit", warc_store_commit(s), ST_OK);
        if (again == 1) { /* and over a restart */
            warc_store_free(s);
            s = store_new();
        }
    }
    check_records("once", "response http://a/|response http://b/|");
    warc_store_begin(s, 8, 2);
    CHECK("same body", visit(s, "http://a/2", 200, "one"));
    CHECK("same body, of another site", visit(s, "http://c/", 200, "one"));
    CHECK("not modified", visit(s, "http://a/", 304, ""));
    CHECK("not modified, and known for an error", visit(s, "http://b/", 304, ""));
    CHECK("never seen", visit(s, "http://d/", 304, ""));
    CHECK_STATUS("commit", warc_store_commit(s), ST_OK);
    warc_store_free(s);
    check_records("revisits",
                  "response http://a/|response http://b/|revisit http://a/2|response http://c/|revisit http://a/|"
                  "response http://b/|"
                  "response http://d/|");
}

static void a_304_refers_to_the_version_it_stands_for(void **state)
{
    (void)state;
    static const struct {
        const char *label;
        unsigned http_status;
        const char *body;
        warc_cut cut;
        int want; /* the number of the step that it refers to, from 1 */
    } steps[] = {
        {"new", 200, "one", WARC_WHOLE, 0},
        {"an error", 503, "busy", WARC_WHOLE, 0},
        {"unchanged after an error", 304, "", WARC_WHOLE, 1},
        {"the same error", 503, "busy", WARC_WHOLE, 2},
        {"unchanged after the same error", 304, "", WARC_WHOLE, 1},
        {"another", 200, "two", WARC_WHOLE, 0},
        {"as before", 200, "one", WARC_WHOLE, 1},
        {"unchanged since then", 304, "", WARC_WHOLE, 1},
        {"empty", 200, "", WARC_WHOLE, 0},
        {"unchanged and empty", 304, "", WARC_WHOLE, 0},
        {"back again", 200, "two", WARC_WHOLE, 6},
        {"unchanged since it is back", 304, "", WARC_WHOLE, 6},
        {"cut", 200, "thr", WARC_CUT_DISCONNECT, 0},
        {"unchanged and cut", 304, "", WARC_WHOLE, 0},
    };
    for (int restarts = 0; restarts < 2; restarts++) {
        struct warc_store *s = store_new();
        const char *url = restarts ? "http://b/" : "http://a/";
        for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
            struct buf b = {0};
            struct warc_capture c = {.at = (wall_ms)i + 1, .head = SPAN(HEAD), .body = span_str(steps[i].body)};
            c.cut = steps[i].cut;
            CHECK("packs", capture_pack(&c, &b));
            struct summary v = {.url = span_str(url), .http_status = (uint16_t)steps[i].http_status};
            v.capture = buf_span(&b);
            warc_store_begin(s, 7, i + 1);
            CHECK(steps[i].label, warc_store_visit(s, &v));
            CHECK_STATUS(steps[i].label, warc_store_commit(s), ST_OK);
            buf_done(&b);
            if (restarts) {
                warc_store_free(s);
                s = store_new();
            }
            CHECK(steps[i].label, last_refers() == steps[i].want);
        }
        warc_store_free(s);
    }
}

static void a_package_that_was_not_finished_is_not_there(void **state)
{
    struct warc_store *s = store_new();
    warc_store_begin(s, 7, 1);
    CHECK("a", visit(s, "http://a/", 200, "one"));
    warc_store_begin(s, 7, 1); /* read again from its beginning */
    CHECK("a", visit(s, "http://a/", 200, "one"));
    file_inject_fault(10, ENOSPC);
    CHECK_STATUS("full", warc_store_commit(s), ST_FULL);
    file_inject_fault(0, 0);
    check_records("nothing", "");
    warc_store_begin(s, 7, 1);
    CHECK("a", visit(s, "http://a/", 200, "one"));
    CHECK_STATUS("commit", warc_store_commit(s), ST_OK);
    warc_store_free(s);
    check_records("once", "response http://a/|");
}

static void what_is_no_capture_is_dropped(void **state)
{
    struct warc_store *s = store_new();
    struct rng r;
    rng_seed(&r, 5);
    warc_store_begin(s, 1, 1);
    for (unsigned i = 0; i < 3000; i++) {
        struct buf b = {0};
        put_capture(&b, "body");
        for (unsigned k = 0; k < 4; k++)
            b.p[rng_below(&r, b.n)] = (char)rng_u64(&r);
        struct summary v = {.url = SPAN("http://a/"), .http_status = 200, .capture = buf_span(&b)};
        bool is_kept = warc_store_visit(s, &v);
        (void)is_kept; /* it does not crash, and what it keeps can be read: */
        buf_done(&b);
    }
    CHECK_STATUS("commit", warc_store_commit(s), ST_OK);
    warc_store_free(s);
    struct buf why = {0};
    struct warc_store_opts o = {.data_dir = test_folder(), .version = SPAN("1")};
    CHECK_STATUS("open", warc_store_new(&o, &s, &why), ST_OK);
    buf_done(&why);
    warc_store_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(captures_come_back_as_they_were),
        cmocka_unit_test(a_body_whose_rest_did_not_come_is_cut),
        cmocka_unit_test(captures_that_are_none_are_refused),
        cmocka_unit_test(packages_bring_captures_to_their_visits),
        TEST_IN_FOLDER(a_package_applied_twice_is_there_once),
        TEST_IN_FOLDER(a_304_refers_to_the_version_it_stands_for),
        TEST_IN_FOLDER(a_package_that_was_not_finished_is_not_there),
        TEST_IN_FOLDER(what_is_no_capture_is_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
