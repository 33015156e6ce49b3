/* Records out of archives: those of other tools (warcio's samples), good and broken, and made ones. What comes out is
 * written down as text, a line a record, with problems in between as they are told. */
#include "test.h"

#include <zlib.h>
#include <zstd.h>

#include "base/buf.h"
#include "codec/http_text.h"
#include "codec/member.h"
#include "codec/warc.h"
#include "codec/warc_read.h"

struct heard {
    struct buf text;
    bool has_places;
    unsigned records;
    status answer; /* of the callback */
};

static const char *digest_letter(warc_digest d)
{
    static const char *const letters[] = {"-", "right", "wrong", "unknown"};
    return letters[d];
}

static status on_record(void *self, const struct warc_record *r)
{
    struct heard *h = self;
    char date[WARC_DATE_MAX] = "-";
    h->records++;
    if (r->date >= 0)
        warc_date(r->date, date);
    if (h->has_places)
        buf_printf(&h->text, "%llu+%llu ", (unsigned long long)r->at, (unsigned long long)r->inside);
    buf_printf(&h->text, "%s %.19s %.*s", warc_type_name(r->type), date, SPAN_ARG(r->url.n ? r->url : SPAN("-")));
    if (r->type == WARC_TYPE_RESPONSE || r->type == WARC_TYPE_REVISIT)
        buf_printf(&h->text, " http %u", http_answer_status(r->block));
    buf_printf(&h->text, " %zu of %llu %s %s", r->block.n, (unsigned long long)r->block_bytes,
               digest_letter(r->block_digest), digest_letter(r->payload_digest));
    buf_printf(&h->text, "%s%s%s\n", r->is_cut ? " cut" : "", r->is_short ? " short" : "",
               r->is_damaged ? " damaged" : "");
    return h->answer;
}

static void on_problem(void *self, uint64_t at, const char *what)
{
    struct heard *h = self;
    if (h->has_places)
        buf_printf(&h->text, "%llu ", (unsigned long long)at);
    buf_printf(&h->text, "! %s\n", what);
}

static status hear(struct span file, size_t piece, size_t block_max, struct heard *out)
{
    const struct warc_reader_opts o = {.block_max = block_max};
    struct warc_reader *r = warc_reader_new(&o, &(struct warc_events){on_record, on_problem, out});
    status st = ST_OK;
    for (size_t at = 0; st == ST_OK && at < file.n; at += piece)
        st = warc_reader_feed(r, span_cut(file, at, piece));
    if (st == ST_OK)
        st = warc_reader_end(r);
    warc_reader_free(r);
    return st;
}

/* At once, in pieces of several lengths: the same comes out. */
static void check_file(const char *label, struct span file, status want, const char *text)
{
    static const size_t pieces[] = {SIZE_MAX / 2, 1, 7, 100, 4096};
    for (size_t i = 0; i < sizeof(pieces) / sizeof(*pieces); i++) {
        struct heard h = {0};
        CHECK_STATUS(label, hear(file, pieces[i], 0, &h), want);
        if (!span_is(buf_span(&h.text), text))
            fail_msg("%s, pieces of %zu: got\n%swant\n%s", label, pieces[i], buf_cstr(&h.text), text);
        buf_done(&h.text);
    }
}

/* ---- samples ---- */

/* The same capture of example.com in several files. */
#define INFO "warcinfo 2017-03-06T04:03:53 - 249 of 249 - -\nwarcinfo 2017-03-06T04:03:53 - 470 of 470 - -\n"
#define ANSWER "response 2017-03-06T04:02:06 http://example.com/ http 200 975 of 975 right right\n"
#define AGAIN "revisit 2017-03-06T04:03:48 http://example.com/ http 200 369 of 369 "
#define POST "http://httpbin.org/post"

static const struct {
    const char *file, *text;
} samples[] = {
    {"example.warc", INFO ANSWER "request 2017-03-06T04:02:06 http://example.com/ 493 of 493 - -\n" AGAIN "right -\n"
                                 "request 2017-03-06T04:03:48 http://example.com/ 493 of 493 - -\n"},
    {"example.warc.gz",
     INFO ANSWER "request 2017-03-06T04:02:06 http://example.com/ 493 of 493 right right\n" AGAIN "right -\n"
                 "request 2017-03-06T04:03:48 http://example.com/ 493 of 493 right right\n"},
    /* One gzip member for two records and for all of them: not as it should be, and read all the same. */
    {"example-bad-non-chunked.warc.gz",
     INFO ANSWER "request 2017-03-06T04:02:06 http://example.com/ 493 of 493 - -\n" AGAIN "unknown -\n"
                 "request 2017-03-06T04:03:48 http://example.com/ 493 of 493 - -\n"},
    {"example-bad.warc.gz.bad",
     "warcinfo 2014-01-03T03:03:22 - 196 of 196 - -\n"
     "response 2014-01-03T03:03:21 http://example.com?example=1 http 200 1610 of 1610 - right\n"
     "request 2014-01-03T03:03:21 http://example.com?example=1 323 of 323 - -\n"
     "revisit 2014-01-03T03:03:41 http://example.com?example=1 http 200 340 of 340 - -\n"
     "request 2014-01-03T03:03:41 http://example.com?example=1 323 of 323 - -\n"
     "response 2014-01-28T05:15:39 http://www.iana.org/domains/example http 302 471 of 471 - right\n"},
    {"example-digest.warc", "! its payload digest is wrong\n"
                            "request 2017-03-06T04:02:06 http://example.com/ 493 of 493 right wrong\n"
                            "request 2017-03-06T04:02:06 http://example.com/ 493 of 493 right right\n"
                            "request 2017-03-06T04:02:06 http://example.com/ 493 of 493 right right\n"
                            "request 2017-03-06T04:02:06 http://example.com/ 493 of 493 right right\n"},
    {"example-iana.org-chunked.warc.gz",
     "warcinfo 2017-03-06T16:54:09 - 137 of 137 - -\n"
     "response 2017-03-06T16:54:09 http://www.iana.org/ http 200 7566 of 7566 right right\n"
     "request 2017-03-06T16:54:09 http://www.iana.org/ 76 of 76 right -\n"},
    {"example-resource.warc.gz", "warcinfo 2017-04-29T01:30:41 - 249 of 249 - -\n"
                                 "warcinfo 2017-04-29T01:30:41 - 399 of 399 - -\n"
                                 "resource 2017-04-29T01:30:30 http://example.com/ 1303 of 1303 right right\n"},
    {"example-space-in-target-uri.warc.gz",
     "warcinfo 2019-06-19T16:16:43 - 73 of 73 - -\n"
     "resource 2019-06-19T16:16:43 file:///example with spaces.png 70 of 70 right -\n"},
    /* Two bytes too short by its length. */
    {"example-trunc.warc", INFO "! its block digest is wrong\n! its payload digest is wrong\n"
                                "response 2017-03-06T04:02:06 http://example.com/ http 200 973 of 973 wrong wrong\n"
                                "! no record begins here: looking for the next one\n"
                                "request 2017-03-06T04:02:06 http://example.com/ 493 of 493 - -\n"},
    {"example-wget-bad-target-uri.warc.gz",
     "warcinfo 2018-02-09T15:12:11 - 232 of 232 right -\n"
     "request 2018-02-09T15:12:11 http://example.com/ 141 of 141 right -\n"
     "response 2018-02-09T15:12:11 http://example.com/ http 200 1598 of 1598 right right\n"
     "metadata 2018-02-09T15:12:11 metadata://gnu.org/software/wget/warc/MANIFEST.txt 48 of 48 right -\n"
     "resource 2018-02-09T15:12:11 metadata://gnu.org/software/wget/warc/wget_arguments.txt 49 of 49 right -\n"
     "resource 2018-02-09T15:12:11 metadata://gnu.org/software/wget/warc/wget.log 471 of 471 right -\n"},
    {"example-wrong-chunks.warc.gz",
     "! its block digest is wrong\n"
     "response 2018-11-02T18:55:11 http://example.com/ http 200 1613 of 1613 wrong right\n"
     "request 2018-11-02T18:55:11 http://example.com/ 137 of 137 right right\n"},
    {"post-test.warc.gz", "response 2014-06-10T00:08:59 " POST " http 200 733 of 733 right right\n"
                          "request 2014-06-10T00:08:59 " POST " 227 of 227 right -\n"
                          "response 2014-06-10T00:11:51 " POST " http 200 740 of 740 right right\n"
                          "request 2014-06-10T00:11:51 " POST " 223 of 223 right -\n"
                          "response 2014-06-10T00:12:55 " POST "?foo=bar http 200 739 of 739 right right\n"
                          "request 2014-06-10T00:12:55 " POST "?foo=bar 224 of 224 right -\n"},
    {"example.arc", "warcinfo 2014-02-16T05:02:21 filedesc://live-web-example.arc.gz 75 of 75 - -\n"
                    "response 2014-02-16T05:02:21 http://example.com/ http 200 1591 of 1591 - -\n"},
    {"example.arc.gz", "warcinfo 2014-02-16T05:02:21 filedesc://live-web-example.arc.gz 75 of 75 - -\n"
                       "response 2014-02-16T05:02:21 http://example.com/ http 200 1591 of 1591 - -\n"},
    {"example-space-in-url.arc",
     "warcinfo 2014-02-16T05:02:21 filedesc://live-web-example.arc.gz 75 of 75 - -\n"
     "! the file ends before it does\n"
     "response 2014-02-16T05:02:21 http://example.com/index.cfm?FuseAction=Email&EmailTitle=Examples From The Live "
     "Web&IsPopUp=False http 200 1579 of 1591 - - short\n"},
    {"bad.arc", "! its length is no number\n! its length is no number\n"
                "resource 2014-01-02T00:00:00 http://example.com/ 1 of 1 - -\n! its length is no number\n"},
};

static void samples_of_other_tools_come_out(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++) {
        char path[256];
        snprintf(path, sizeof(path), TEST_DATA "/warc/%s", samples[i].file);
        struct span file = test_read_file(path);
        check_file(samples[i].file, file, ST_OK, samples[i].text);
        free((char *)file.p);
    }
}

/* ---- made ones ---- */

static void put_record(struct buf *out, const char *url, const char *length, const char *block)
{
    buf_printf(out,
               "WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: %s\r\nWARC-Date: 2020-01-02T03:04:05Z\r\n"
               "Content-Type: text/plain\r\nContent-Length: %s\r\n\r\n%s\r\n\r\n",
               url, length, block);
}

#define RES "resource 2020-01-02T03:04:05 "

static void heads_are_read_in_any_spelling(void **state)
{
    (void)state;
    static const struct {
        const char *label, *file, *text;
    } cases[] = {
        {"odd case and spaces",
         "WARC/0.18\r\nwarc-TYPE:resource\r\nContent-length :  2 \r\nwarc-target-uri:\thttp://a/\r\n\r\nhi",
         "resource - http://a/ 2 of 2 - -\n"},
        {"line feeds alone", "WARC/0.17\nWARC-Type: resource\nContent-Length: 2\n\nhi\n\n",
         "resource - - 2 of 2 - -\n"},
        {"folded",
         "WARC/1.1\r\nWARC-Type:\r\n resource\r\nWARC-Target-URI: http://a/\r\n\tb\r\nContent-Length: 2\r\n\r\nhi",
         "resource - http://a/   b 2 of 2 - -\n"},
        {"brackets", "WARC/1.0\r\nWARC-Target-URI: <http://a/>\r\nContent-Length: 0\r\n\r\n",
         "other - http://a/ 0 of 0 - -\n"},
        {"the first counts", "WARC/1.0\r\nContent-Length: 1\r\nContent-Length: 5\r\n\r\nx", "other - - 1 of 1 - -\n"},
        {"lines without a colon", "WARC/1.0\r\nnonsense\r\nContent-Length: 1\r\n\r\nx", "other - - 1 of 1 - -\n"},
        {"digests",
         "WARC/1.1\r\nWARC-Type: resource\r\nWARC-Block-Digest: md5:900150983cd24fb0d6963f7d28e17f72\r\n"
         "WARC-Payload-Digest: sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ\r\nContent-Length: 3\r\n\r\nabc",
         "! its payload digest is wrong\nresource - - 3 of 3 right wrong\n"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        check_file(cases[i].label, span_str(cases[i].file), ST_OK, cases[i].text);
}

static status count_concurrent(void *self, const struct warc_record *r)
{
    size_t *count = self;
    *count = r->concurrent_count;
    for (size_t i = 0; i < r->concurrent_count; i++)
        CHECK("in order", r->concurrent_to[i].n == 1 && (size_t)(r->concurrent_to[i].p[0] - 'a') == i);
    return ST_OK;
}

static void ignore_problem(void *self, uint64_t at, const char *what)
{
}

static void a_record_may_belong_to_several(void **state)
{
    (void)state;
    for (size_t n = 0; n < WARC_CONCURRENT_MAX + 3; n++) {
        struct buf f = {0};
        size_t count = 99;
        const struct warc_reader_opts o = {0};
        struct warc_reader *r = warc_reader_new(&o, &(struct warc_events){count_concurrent, ignore_problem, &count});
        buf_puts(&f, "WARC/1.1\r\nWARC-Type: request\r\n");
        for (size_t i = 0; i < n; i++)
            buf_printf(&f, "WARC-Concurrent-To: %c\r\n", (int)('a' + i));
        buf_puts(&f, "Content-Length: 0\r\n\r\n");
        CHECK_STATUS("feed", warc_reader_feed(r, buf_span(&f)), ST_OK);
        CHECK_STATUS("end", warc_reader_end(r), ST_OK);
        assert_int_equal(count, n < WARC_CONCURRENT_MAX ? n : WARC_CONCURRENT_MAX);
        warc_reader_free(r);
        buf_done(&f);
    }
}

static void what_is_between_records_is_passed_over(void **state)
{
    (void)state;
    struct buf f = {0};
    put_record(&f, "http://a/1", "2", "hi");
    buf_puts(&f, "some garbage\r\nin two lines\r\n");
    put_record(&f, "http://a/2", "2", "hi");
    buf_puts(&f, "\r\n\r\nno end of line");
    put_record(&f, "http://a/3", "2", "hi");
    check_file("garbage", buf_span(&f), ST_OK,
               RES "http://a/1 2 of 2 - -\n"
                   "! no record begins here: looking for the next one\n" RES "http://a/2 2 of 2 - -\n"
                   "! no record begins here: looking for the next one\n" RES "http://a/3 2 of 2 - -\n");
    buf_done(&f);
}

static void lengths_that_are_wrong_cost_one_record(void **state)
{
    (void)state;
    struct buf f = {0};
    put_record(&f, "http://a/none", "two", "hi");
    put_record(&f, "http://a/short", "2", "hi there");
    put_record(&f, "http://a/long", "40", "hi");
    put_record(&f, "http://a/huge", "99999", "hi");
    put_record(&f, "http://a/good", "2", "hi");
    check_file("lengths", buf_span(&f), ST_OK,
               "! its length is no number\n" RES "http://a/short 2 of 2 - -\n"
               "! no record begins here: looking for the next one\n"
               "! it says that it is longer than it is\n" RES "http://a/long 6 of 40 - - short\n"
               "! it says that it is longer than it is\n" RES "http://a/huge 6 of 99999 - - short\n" RES
               "http://a/good 2 of 2 - -\n");
    buf_done(&f);
}

static void a_file_that_ends_inside_a_record_says_so(void **state)
{
    (void)state;
    struct buf f = {0};
    put_record(&f, "http://a/1", "2", "hi");
    put_record(&f, "http://a/2", "200", "hi");
    check_file("inside a block", buf_span(&f), ST_OK,
               RES "http://a/1 2 of 2 - -\n! the file ends before it does\n" RES "http://a/2 6 of 200 - - short\n");
    buf_clear(&f);
    put_record(&f, "http://a/1", "2", "hi");
    buf_puts(&f, "WARC/1.0\r\nWARC-Type: resp");
    check_file("inside a head", buf_span(&f), ST_OK,
               RES "http://a/1 2 of 2 - -\n! the file ends before its head does\n");
    buf_done(&f);
}

static void put_gzip(struct buf *out, struct span plain)
{
    struct member_maker *m = member_maker_new(MEMBER_GZIP);
    member_make(m, &plain, 1, out);
    member_maker_free(m);
}

static void put_zstd(struct buf *out, struct span plain)
{
    struct member_maker *m = member_maker_new(MEMBER_ZSTD);
    member_make(m, &plain, 1, out);
    member_maker_free(m);
}

/* Three records as three members; where each begins. */
static void make_members(struct buf *out, size_t at[4], void (*put)(struct buf *out, struct span plain))
{
    for (int i = 0; i < 3; i++) {
        struct buf r = {0};
        char url[32];
        snprintf(url, sizeof(url), "http://a/%d", i + 1);
        put_record(&r, url, "30", "some words of some length here");
        at[i] = out->n;
        put(out, buf_span(&r));
        buf_done(&r);
    }
    at[3] = out->n;
}

/* A length that takes in anything of the records after it, up to more than all of them: those come out as they are,
 * from where they are. One of them has more empty lines than stand between records. */
static void records_that_a_wrong_length_took_in_have_their_places(void **state)
{
    (void)state;
    static const char lines[] = "many\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\nlines";
    struct buf tail = {0};
    char length[16];
    snprintf(length, sizeof(length), "%zu", sizeof(lines) - 1);
    put_record(&tail, "http://a/2", length, lines);
    size_t third = tail.n;
    put_record(&tail, "http://a/3", "2", "hi");
    for (size_t more = 0; more < tail.n + 20; more++) {
        struct buf f = {0}, want = {0}, packed = {0};
        bool is_believed = (more >= third && more <= third + 4) || (more >= tail.n && more <= tail.n + 4);
        if (is_believed) /* a record follows, or the end of the file */
            continue;
        snprintf(length, sizeof(length), "%03zu", more + 2);
        put_record(&f, "http://a/0", "2", "hi");
        put_record(&f, "http://a/1", length, "hi");
        size_t second = f.n;
        buf_put(&f, buf_span(&tail));
        put_gzip(&packed, buf_span(&f));
        for (int is_packed = 0; is_packed < 2; is_packed++)
            for (size_t piece = 1; piece < 2000; piece *= 11) {
                struct heard h = {.has_places = true};
                buf_clear(&want);
                buf_printf(&want,
                           is_packed ? "0+%zu " RES "http://a/2 25 of 25 - -\n0+%zu " RES "http://a/3 2 of 2 - -\n"
                                     : "%zu+0 " RES "http://a/2 25 of 25 - -\n%zu+0 " RES "http://a/3 2 of 2 - -\n",
                           second, second + third);
                CHECK_STATUS(length, hear(buf_span(is_packed ? &packed : &f), piece, 0, &h), ST_OK);
                if (!span_ends(buf_span(&h.text), buf_span(&want)))
                    fail_msg("length %s, pieces of %zu: got\n%swant\n%s", length, piece, buf_cstr(&h.text),
                             buf_cstr(&want));
                buf_done(&h.text);
            }
        buf_clear(&packed);
        for (size_t at = 0; at < f.n; at += 74)
            put_gzip(&packed, span_cut(buf_span(&f), at, 74));
        struct heard h = {0};
        size_t end = second - 4 + more;
        struct span after = span_cut(buf_span(&f), end, 74 - end % 74);
        bool ends_with_member = end % 74 == 0 || span_trim(after).n == 0; /* which bears the length out */
        CHECK_STATUS(length, hear(buf_span(&packed), 100, 0, &h), ST_OK);
        if (!ends_with_member &&
            !span_ends(buf_span(&h.text), SPAN(RES "http://a/2 25 of 25 - -\n" RES "http://a/3 2 of 2 - -\n")))
            fail_msg("length %s, small members: got\n%s", length, buf_cstr(&h.text));
        buf_done(&h.text);
        buf_done(&packed);
        buf_done(&want);
        buf_done(&f);
    }
    buf_done(&tail);
}

#define R1 RES "http://a/1 30 of 30 - -\n"
#define R2 RES "http://a/2 30 of 30 - -\n"
#define R3 RES "http://a/3 30 of 30 - -\n"

static void members_are_read_and_their_places_told(void **state)
{
    (void)state;
    void (*const puts[])(struct buf *, struct span) = {put_gzip, put_zstd};
    for (int k = 0; k < 2; k++) {
        struct buf f = {0}, want = {0};
        size_t at[4];
        make_members(&f, at, puts[k]);
        check_file(k ? "zstd" : "gzip", buf_span(&f), ST_OK, R1 R2 R3);
        struct heard h = {.has_places = true};
        CHECK_STATUS("places", hear(buf_span(&f), 50, 0, &h), ST_OK);
        buf_printf(&want, "0+0 " R1 "%zu+0 " R2 "%zu+0 " R3, at[1], at[2]);
        CHECK_SPAN("places", buf_span(&h.text), buf_span(&want));
        buf_clear(&h.text);
        /* From the second on. */
        CHECK_STATUS("later", hear(span_from(buf_span(&f), at[1]), 50, 0, &h), ST_OK);
        CHECK("later", span_starts(buf_span(&h.text), SPAN("0+0 " R2)));
        buf_done(&h.text);
        buf_done(&want);
        buf_done(&f);
    }
}

static void one_member_may_hold_all_and_records_may_be_cut_by_members(void **state)
{
    (void)state;
    struct buf plain = {0}, one = {0}, many = {0};
    for (int i = 0; i < 3; i++) {
        char url[32];
        snprintf(url, sizeof(url), "http://a/%d", i + 1);
        put_record(&plain, url, "30", "some words of some length here");
    }
    put_gzip(&one, buf_span(&plain));
    check_file("one", buf_span(&one), ST_OK, R1 R2 R3);
    for (size_t at = 0; at < plain.n; at += 50)
        put_gzip(&many, span_cut(buf_span(&plain), at, 50));
    check_file("many", buf_span(&many), ST_OK, R1 R2 R3);
    buf_done(&plain);
    buf_done(&one);
    buf_done(&many);
}

/* Any byte of the second member may be wrong: the first and the third come out. */
static void a_damaged_member_costs_no_other(void **state)
{
    (void)state;
    void (*const puts[])(struct buf *, struct span) = {put_gzip, put_zstd};
    for (int k = 0; k < 2; k++) {
        struct buf f = {0};
        size_t at[4], well = 0;
        make_members(&f, at, puts[k]);
        for (size_t i = at[1]; i < at[2]; i++)
            for (int bit = 0; bit < 8; bit += 3) {
                struct heard h = {0};
                f.p[i] = (char)(f.p[i] ^ 1 << bit);
                CHECK_STATUS("damaged", hear(buf_span(&f), SIZE_MAX / 2, 0, &h), ST_OK);
                const char *text = buf_cstr(&h.text);
                /* Some bits mean nothing: the time in gzip's head, what fills up a byte. */
                bool is_well = strcmp(text, R1 R2 R3) == 0;
                if (!is_well && (strncmp(text, R1, strlen(R1)) != 0 || !strstr(text, "! ") || !strstr(text, R3)))
                    fail_msg("%s, byte %zu of %zu, bit %d: got\n%s", k ? "zstd" : "gzip", i - at[1], at[2] - at[1], bit,
                             text);
                well += is_well;
                f.p[i] = (char)(f.p[i] ^ 1 << bit);
                buf_done(&h.text);
            }
        CHECK("few mean nothing", well <= 25);
        buf_done(&f);
    }
}

static void members_that_are_cut_or_have_garbage_around_are_told(void **state)
{
    (void)state;
    struct buf f = {0}, g = {0};
    size_t at[4];
    make_members(&f, at, put_gzip);
    check_file("cut", span_cut(buf_span(&f), 0, at[2] + 30), ST_OK, R1 R2 "! it is damaged, or cut short\n");
    buf_put(&g, span_cut(buf_span(&f), 0, at[1]));
    buf_puts(&g, "garbage");
    buf_put(&g, span_from(buf_span(&f), at[1]));
    buf_put(&g, SPAN("\0\0\0\0")); /* padding */
    check_file("garbage", buf_span(&g), ST_OK, R1 "! bytes that belong to no record: looking for the next one\n" R2 R3);
    buf_done(&f);
    buf_done(&g);
}

static void a_dictionary_in_front_is_used(void **state)
{
    (void)state;
    struct buf plain = {0}, f = {0};
    put_record(&plain, "http://a/1", "30", "some words of some length here");
    /* The dictionary is the record itself: with it the frame is tiny. */
    ZSTD_CCtx *c = ZSTD_createCCtx();
    size_t room = ZSTD_compressBound(plain.n);
    char head[8] = {0x5d, 0x2a, 0x4d, 0x18, (char)(plain.n & 0xff), (char)(plain.n >> 8), 0, 0};
    buf_put(&f, span_of(head, 8));
    buf_put(&f, buf_span(&plain));
    size_t lead = f.n;
    char *to = buf_room(&f, room);
    size_t n = ZSTD_compress_usingDict(c, to, room, plain.p, plain.n, f.p + 8, lead - 8, 3);
    CHECK("small", !ZSTD_isError(n) && n < plain.n / 2);
    f.n += n;
    ZSTD_freeCCtx(c);
    check_file("dictionary", buf_span(&f), ST_OK, R1);
    struct heard h = {0};
    const struct warc_reader_opts o = {0};
    struct warc_reader *r = warc_reader_new(&o, &(struct warc_events){on_record, on_problem, &h});
    CHECK_STATUS("feed", warc_reader_feed(r, buf_span(&f)), ST_OK);
    assert_int_equal(warc_reader_lead(r), lead);
    warc_reader_free(r);
    buf_done(&h.text);
    buf_done(&f);
    buf_done(&plain);
}

static void arc_files_of_both_versions_are_read(void **state)
{
    (void)state;
    check_file(
        "version 2",
        SPAN(
            "filedesc://x.arc 0.0.0.0 20010101000000 text/plain 200 - - 0 x.arc 9\n2 0 x\nURL\n"
            "http://a.example/b c 192.0.2.1 20010203040506 text/html 200 - - 0 x.arc 24\nHTTP/1.0 200 OK\r\n\r\nhello\n"
            "http://a.example/d 2001:db8::1 20010203040507 text/plain 200 - - 0 x.arc 5\nhello\n"),
        ST_OK,
        "warcinfo 2001-01-01T00:00:00 filedesc://x.arc 9 of 9 - -\n"
        "response 2001-02-03T04:05:06 http://a.example/b c http 200 24 of 24 - -\n"
        "resource 2001-02-03T04:05:07 http://a.example/d 5 of 5 - -\n");
}

static void long_blocks_are_not_held(void **state)
{
    (void)state;
    struct buf f = {0};
    struct heard h = {0};
    put_record(&f, "http://a/1", "30", "some words of some length here");
    put_record(&f, "http://a/2", "2", "hi");
    CHECK_STATUS("cut", hear(buf_span(&f), 5, 10, &h), ST_OK);
    CHECK_SPAN("cut", buf_span(&h.text), SPAN(RES "http://a/1 10 of 30 - - cut\n" RES "http://a/2 2 of 2 - -\n"));
    buf_done(&h.text);
    buf_done(&f);
}

static void heads_have_a_ceiling(void **state)
{
    (void)state;
    struct buf f = {0};
    buf_puts(&f, "WARC/1.0\r\nX: ");
    for (size_t i = 0; i < WARC_HEAD_MAX; i++)
        buf_putc(&f, 'x');
    buf_puts(&f, "\r\nContent-Length: 2\r\n\r\nhi\r\n\r\n");
    put_record(&f, "http://a/1", "2", "hi");
    check_file("head", buf_span(&f), ST_OK, "! its head is too long\n" RES "http://a/1 2 of 2 - -\n");
    buf_done(&f);
}

static void what_is_no_archive_is_refused(void **state)
{
    (void)state;
    struct buf zipped = {0};
    struct heard h = {0};
    check_file("empty", (struct span){0}, ST_INVALID, "");
    check_file("text", SPAN("Some text\nand more\n"), ST_INVALID, "! no record begins here\n");
    put_gzip(&zipped, SPAN("Some text\nand more\n"));
    check_file("gzip", buf_span(&zipped), ST_INVALID, "! no record begins here\n");
    /* Long before its end. */
    size_t n = (size_t)WARC_NO_RECORD_MAX + (1u << 20);
    char *zeros = calloc(1, n);
    CHECK_STATUS("long", hear(span_of(zeros, n), 1u << 16, 0, &h), ST_INVALID);
    free(zeros);
    buf_done(&h.text);
    buf_done(&zipped);
}

static void the_reader_of_records_may_stop(void **state)
{
    (void)state;
    struct buf f = {0};
    struct heard h = {.answer = ST_END};
    put_record(&f, "http://a/1", "2", "hi");
    put_record(&f, "http://a/2", "2", "hi");
    CHECK_STATUS("stopped", hear(buf_span(&f), 10, 0, &h), ST_END);
    assert_int_equal(h.records, 1);
    buf_done(&h.text);
    buf_done(&f);
}

/* ---- our own ---- */

static void draw(void *self, void *to, size_t n)
{
    memset(to, ++*(int *)self, n);
}

static void what_we_write_is_read(void **state)
{
    (void)state;
    int seed = 0;
    struct buf f = {0};
    const member_kind kinds[] = {MEMBER_GZIP, MEMBER_ZSTD};
    for (int k = 0; k < 2; k++) {
        struct warc_writer *w = warc_writer_new(kinds[k], draw, &seed);
        struct warc_capture c = {.url = SPAN("http://a/x y"),
                                 .at = 1577934245678,
                                 .request = SPAN("GET /x%20y HTTP/1.1\r\nHost: a\r\n\r\n"),
                                 .head = SPAN("HTTP/2 200\r\ntransfer-encoding: chunked\r\n\r\n"),
                                 .body = SPAN("hello"),
                                 .facts = SPAN("depth: 1\r\n")};
        struct digest160 d = warc_payload_digest(&c);
        const struct warc_original original = {.url = c.url, .at = c.at, .payload = d};
        buf_clear(&f);
        warc_put_info(w, &(struct warc_info){.software = SPAN("x"), .at = c.at}, &f);
        warc_put_capture(w, &c, &d, NULL, &f);
        warc_put_capture(w, &c, &d, &original, &f);
        check_file("own", buf_span(&f), ST_OK,
                   "warcinfo 2020-01-02T03:04:05 - 135 of 135 right -\n"
                   "response 2020-01-02T03:04:05 http://a/x y http 200 59 of 59 right right\n"
                   "request 2020-01-02T03:04:05 http://a/x y 32 of 32 right -\n"
                   "metadata 2020-01-02T03:04:05 http://a/x y 10 of 10 right -\n"
                   "revisit 2020-01-02T03:04:05 http://a/x y http 200 54 of 54 right -\n"
                   "request 2020-01-02T03:04:05 http://a/x y 32 of 32 right -\n"
                   "metadata 2020-01-02T03:04:05 http://a/x y 10 of 10 right -\n");
        warc_writer_free(w);
    }
    buf_done(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_of_other_tools_come_out),
        cmocka_unit_test(heads_are_read_in_any_spelling),
        cmocka_unit_test(a_record_may_belong_to_several),
        cmocka_unit_test(what_is_between_records_is_passed_over),
        cmocka_unit_test(lengths_that_are_wrong_cost_one_record),
        cmocka_unit_test(a_file_that_ends_inside_a_record_says_so),
        cmocka_unit_test(records_that_a_wrong_length_took_in_have_their_places),
        cmocka_unit_test(members_are_read_and_their_places_told),
        cmocka_unit_test(one_member_may_hold_all_and_records_may_be_cut_by_members),
        cmocka_unit_test(a_damaged_member_costs_no_other),
        cmocka_unit_test(members_that_are_cut_or_have_garbage_around_are_told),
        cmocka_unit_test(a_dictionary_in_front_is_used),
        cmocka_unit_test(arc_files_of_both_versions_are_read),
        cmocka_unit_test(long_blocks_are_not_held),
        cmocka_unit_test(heads_have_a_ceiling),
        cmocka_unit_test(what_is_no_archive_is_refused),
        cmocka_unit_test(the_reader_of_records_may_stop),
        cmocka_unit_test(what_we_write_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
