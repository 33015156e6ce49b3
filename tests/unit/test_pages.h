/* test_pages.h - made-up pages in an index, and queries that find some of them; all of it follows from a seed. */
#pragma once

#include <math.h>

#include "base/arena.h"
#include "base/rng.h"
#include "codec/zip.h"
#include "index/index.h"
#include "test.h"
#include "web/content.h"

#define TEST_NOW ((wall_ms)1700000000000)
#define TEST_DAY ((wall_ms)86400000)
#define TEST_HEADINGS 2
#define TEST_FIELDS 3

struct test_page {
    uint64_t key, fetch_number, group;
    struct span url, site, lang, title, text, anchors;
    struct fact_heading headings[TEST_HEADINGS];
    size_t heading_count;
    uint32_t votes, foreign_votes;
    wall_ms changed;
    uint8_t flags;
    struct span description;
    struct summary_field fields[TEST_FIELDS];
    size_t field_count;
    bool is_keywords;
};

/* Words that stemmers join, identifiers, scripts without spaces; the rest is made from syllables. */
static const char *const test_words[] = {
    "run",        "running", "runs",  "connect", "connection",    "connected",   "Häuser",        "haus",
    "université", "indexes", "index", "indexed", "get_user_name", "HTTPServer2", "maxRetryCount", "東京都",
    "京都",       "東",      "utf8",  "C",       "naïve",         "naive",       "don't",         "tables",
    "table",      "ﬁne",     "x86",   "user",    "name",          "server",
};
#define TEST_WORDS (sizeof(test_words) / sizeof(*test_words))
#define TEST_VOCABULARY 500

static inline void test_word(struct buf *out, size_t number)
{
    static const char *const syllables[] = {"ba", "ke", "lo", "mi", "nu", "ra", "se", "to", "vi", "zu"};
    if (number % 8 == 7 && number / 8 < TEST_WORDS) {
        buf_puts(out, test_words[number / 8]);
        return;
    }
    size_t n = number + 17;
    for (int i = 0; i < 3 || n; i++, n /= 10)
        buf_puts(out, syllables[n % 10]);
}

/* A few words are in nearly every page, most in few. */
static inline size_t test_word_draw(struct rng *r)
{
    return (size_t)(pow(rng_unit(r), 3) * TEST_VOCABULARY);
}

static inline struct span test_text(struct rng *r, struct arena *a, unsigned words, const char *between)
{
    struct buf b = {0};
    for (unsigned i = 0; i < words; i++) {
        buf_puts(&b, i ? rng_below(r, 12) ? " " : between : "");
        test_word(&b, test_word_draw(r));
    }
    struct span s = arena_copy(a, buf_span(&b));
    buf_done(&b);
    return s;
}

static inline struct span test_printf(struct arena *a, const char *fmt, ...) PRINTF_LIKE(2, 3);
static inline struct span test_printf(struct arena *a, const char *fmt, ...)
{
    struct buf b = {0};
    va_list ap;
    va_start(ap, fmt);
    buf_vprintf(&b, fmt, ap);
    va_end(ap);
    struct span s = arena_copy(a, buf_span(&b));
    buf_done(&b);
    return s;
}

static inline void test_page_make(struct rng *r, struct arena *a, uint64_t key, uint64_t fetch_number,
                                  struct test_page *p)
{
    static const char *const langs[] = {"en", "en", "de", "fr", ""};
    *p = (struct test_page){.key = key, .fetch_number = fetch_number};
    p->site = test_printf(a, "s%d.example%s", (int)rng_below(r, 7), rng_below(r, 5) ? ".org" : ".net:8080");
    p->lang = span_str(langs[rng_below(r, 5)]);
    p->title = test_text(r, a, (unsigned)rng_below(r, 9), " - ");
    p->text = test_text(r, a, (unsigned)rng_below(r, rng_below(r, 4) ? 60 : 600), ".\n");
    p->anchors = test_text(r, a, rng_below(r, 3) ? 0 : (unsigned)rng_below(r, 30), "\n");
    struct buf word = {0};
    test_word(&word, test_word_draw(r));
    p->url =
        test_printf(a, "https://%.*s/%.*s/%llu", SPAN_ARG(p->site), SPAN_ARG(buf_span(&word)), (unsigned long long)key);
    buf_done(&word);
    for (size_t n = rng_below(r, TEST_HEADINGS + 1); p->heading_count < n; p->heading_count++)
        p->headings[p->heading_count] = (struct fact_heading){1, test_text(r, a, 1 + (unsigned)rng_below(r, 4), " ")};
    p->votes = (uint32_t)rng_below(r, 1u << rng_below(r, 10));
    p->foreign_votes = (uint32_t)rng_below(r, 4);
    p->changed = TEST_NOW - (wall_ms)rng_below(r, 2000) * TEST_DAY;
}

static inline void test_page_add(struct index *ix, const struct test_page *p)
{
    struct content c = {.url = p->url, .title = p->title, .lang = p->lang, .text = p->text};
    c.fetched = TEST_NOW;
    c.changed = p->changed;
    c.page_flags = p->flags;
    c.description = p->description;
    c.fields = p->fields;
    c.field_count = p->field_count;
    c.is_keywords = p->is_keywords;
    struct buf packed = {0}, zipped = {0};
    content_pack(&c, &packed);
    struct zipper *z = zipper_new(1);
    zipper_run(z, NULL, buf_span(&packed), &zipped);
    zipper_free(z);
    struct index_doc d = {.key = p->key, .fetch_number = p->fetch_number, .url = p->url, .site = p->site};
    d.lang = p->lang;
    d.title = p->title;
    d.text = p->text;
    d.headings = p->headings;
    d.heading_count = p->heading_count;
    d.anchors = p->anchors;
    d.votes = p->votes;
    d.foreign_votes = p->foreign_votes;
    d.fetched = TEST_NOW;
    d.changed = p->changed;
    d.group = p->group;
    d.flags = p->flags;
    d.fields = p->fields;
    d.field_count = p->field_count;
    d.is_keywords = p->is_keywords;
    d.content = buf_span(&zipped);
    CHECK_STATUS("add", index_add(ix, &d), ST_OK);
    buf_done(&packed);
    buf_done(&zipped);
}

/* An index without merges of its own: each commit is a segment. */
static inline struct index *test_index_open(const char *dir)
{
    struct index *ix = NULL;
    struct buf why = {0};
    status st = index_open(&(struct index_opts){.dir = dir, .no_merge = true, .seed = 7}, &ix, &why);
    if (st != ST_OK)
        fail_msg("index: %s: %s", status_name(st), buf_cstr(&why));
    buf_done(&why);
    return ix;
}

static inline struct index_snapshot *test_snapshot(const char *dir)
{
    struct index_reader *r = NULL;
    struct index_snapshot *s = NULL;
    CHECK_STATUS("reader", index_reader_open(dir, &r, NULL), ST_OK);
    CHECK_STATUS("snapshot", index_reader_snapshot(r, &s), ST_OK);
    index_reader_free(r);
    return s;
}

/* ---- queries ---- */

static inline void test_put_phrase(struct rng *r, struct buf *q, const struct test_page *pages, size_t n)
{
    /* Words as a page has them in a row, or not. */
    struct span text = pages[rng_below(r, n)].text, word;
    size_t words = 2 + rng_below(r, 2), taken = 0;
    buf_putc(q, '"');
    if (text.n > 40 && rng_below(r, 5)) {
        text = span_from(text, rng_below(r, text.n - 30));
        (void)span_split(&text, ' ', &word);
        while (taken < words && span_split(&text, ' ', &word))
            buf_printf(q, "%s%.*s", taken++ ? " " : "", SPAN_ARG(word));
    }
    for (; taken < 2; taken++) {
        buf_puts(q, taken ? " " : "");
        test_word(q, test_word_draw(r));
    }
    buf_putc(q, '"');
}

static inline void test_put_atom(struct rng *r, struct buf *q, const struct test_page *pages, size_t n)
{
    uint64_t kind = rng_below(r, 16);
    if (kind < 4) {
        test_put_phrase(r, q, pages, n);
        return;
    }
    buf_puts(q, kind == 4 ? "title:" : kind == 5 ? "url:" : "");
    if (kind == 4 && rng_below(r, 3) == 0)
        test_put_phrase(r, q, pages, n);
    else
        test_word(q, test_word_draw(r));
}

/* Appends a query of all that there is. */
static inline void test_query(struct rng *r, struct buf *q, const struct test_page *pages, size_t n)
{
    size_t clauses = 1 + rng_below(r, 3), ors = rng_below(r, 3) ? 0 : 1 + rng_below(r, 5);
    for (size_t i = 0; i < clauses; i++) {
        buf_puts(q, i ? " " : "");
        test_put_atom(r, q, pages, n);
        for (size_t k = 0; k < ors && (clauses == 1 || rng_below(r, 2)); k++) {
            buf_puts(q, " OR ");
            test_put_atom(r, q, pages, n);
        }
    }
    if (rng_below(r, 6) == 0) {
        buf_puts(q, " -");
        test_put_atom(r, q, pages, n);
    }
    if (rng_below(r, 8) == 0)
        buf_printf(q, " site:%s", rng_below(r, 2) ? "example.org" : "s3.example.org");
    if (rng_below(r, 8) == 0)
        buf_printf(q, " lang:%s", rng_below(r, 2) ? "de" : "en");
    if (rng_below(r, 10) == 0)
        buf_printf(q, " %s:20%d", rng_below(r, 2) ? "after" : "before", 19 + (int)rng_below(r, 4));
}
