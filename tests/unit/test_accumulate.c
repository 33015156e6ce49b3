/* What an accumulator makes of pages, and a merge of segments, against an index made the plain way. */
#include "test.h"

#include "index/text/analyze.h"
#include "index/segment/field.h"
#include "index/segment/name.h"
#include "index/segment/rank.h"
#include "index/segment/segment.h"
#include "index/snapshot.h"
#include "index/text/fold.h"
#include "index/text/url_words.h"
#include "index_model.h"

/* ---- what an address says ---- */

static void url_words_are_host_path_and_query(void **state)
{
    static const struct {
        const char *url, *want;
        unsigned depth;
    } cases[] = {
        {"http://a/", "a /", 0},
        {"https://www.python.org/3.11/library/os.path.html", "python.org /3.11/library/os.path", 3},
        {"https://user:pw@www.x.org:8080/a%20b/c?q=x+y%2Bz&l=de#frag", "x.org /a b/c q=x y+z&l=de", 2},
        {"http://[::1]:80/x.PHP", "[::1] /x", 1},
        {"http://wwwhat.org/index.htm?", "wwwhat.org /index", 1},
        {"http://x/.html", "x /", 1},
        {"http://x/100%/%zz%4", "x /100%/%zz%4", 2},
        {"http://x//a///b/", "x //a///b/", 2},
        {"nothing", "nothing ", 0},
        {"", " ", 0},
    };
    struct buf b = {0};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        buf_clear(&b);
        url_words(&b, span_str(cases[i].url));
        CHECK_SPAN(cases[i].url, buf_span(&b), span_str(cases[i].want));
        CHECK(cases[i].url, url_depth(span_str(cases[i].url)) == cases[i].depth);
    }
    buf_done(&b);
}

static void a_site_is_found_by_its_suffixes(void **state)
{
    static const struct {
        const char *site, *want;
    } cases[] = {
        {"docs.python.org", "docs.python.org|python.org|org|"},
        {"docs.python.org:8080", "docs.python.org:8080|python.org:8080|org:8080|docs.python.org|python.org|org|"},
        {"localhost", "localhost|"},
        {"127.0.0.1:81", "127.0.0.1:81|127.0.0.1|"},
        {"[::1]", "[::1]|"},
        {"[::1]:8080", "[::1]:8080|[::1]|"},
        {"a..b.", "a..b.|.b.|b.|"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct site_names names;
        struct buf b = {0};
        site_names(span_str(cases[i].site), &names);
        for (unsigned k = 0; k < names.count; k++)
            buf_printf(&b, "%.*s|", SPAN_ARG(names.names[k]));
        CHECK_SPAN(cases[i].site, buf_span(&b), span_str(cases[i].want));
        buf_done(&b);
    }
}

static void a_long_host_counts_whole_and_by_its_last_labels(void **state)
{
    struct buf host = {0};
    struct site_names names;
    for (unsigned i = 0; i < 100; i++)
        buf_puts(&host, "a.");
    buf_puts(&host, "org:81");
    site_names(buf_span(&host), &names);
    CHECK("count", names.count == 2 * SITE_SUFFIXES_MAX);
    CHECK_SPAN("first", names.names[0], buf_span(&host));
    CHECK_SPAN("last", names.names[names.count - 1], SPAN("org"));
    buf_done(&host);
}

static void values_of_fields_fold(void **state)
{
    static const struct {
        const char *value, *want;
    } cases[] = {
        {"", ""},
        {"  Jane \t\n DOE ", "jane doe"},
        {"Ł\u00f3dź, Ærø", "lodz, aero"},
        {"-12.50 €", "-12.50 €"},
        {"C++ / F#", "c++ / f#"},
        {"O'Neill", "o'neill"},
        {"\uff21\uff22\u3000\uff11", "ab 1"},
        {"e\u0301", "e"},
        {"so\u00adft", "soft"},
        {"a\1\2b", "a b"},
        {"\xff", "\ufffd"},
        {"日本語", "日本語"},
    };
    struct buf b = {0};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        buf_clear(&b);
        fold_value(span_str(cases[i].value), &b);
        CHECK_SPAN(cases[i].value, buf_span(&b), span_str(cases[i].want));
    }
    buf_done(&b);
}

/* Whatever the bytes, it ends and fits; and what is folded folds to itself. */
static void a_value_of_any_bytes_is_a_term(void **state)
{
    static const char *const bits[] = {"a", " ", "\xff", "\x80", "Ä", "\u0301", "\ufdfa", "日", "\1", "=", "word"};
    struct rng r;
    struct buf value = {0}, folded = {0}, again = {0};
    char term[SEGMENT_TERM_MAX], same[SEGMENT_TERM_MAX];
    rng_seed(&r, 21);
    for (int turn = 0; turn < 3000; turn++) {
        buf_clear(&value);
        bool is_one_bit = rng_below(&r, 4) == 0;
        const char *bit = bits[rng_below(&r, 11)];
        for (uint64_t n = rng_below(&r, turn % 3 ? 20 : 900); n; n--)
            buf_puts(&value, is_one_bit ? bit : bits[rng_below(&r, 11)]);
        struct span t = field_value_term(SPAN("a23456789012345678901234567890ab"), buf_span(&value), &folded, term);
        CHECK("fits", t.n <= SEGMENT_TERM_MAX && t.n >= 35);
        struct span t2 = field_value_term(SPAN("a23456789012345678901234567890ab"), buf_span(&folded), &again, same);
        CHECK_SPAN("folded once more", t2, t);
    }
    buf_done(&value);
    buf_done(&folded);
    buf_done(&again);
}

/* ---- postings ---- */

struct naive {
    char term[SEGMENT_TERM_MAX];
    size_t term_bytes;
    uint64_t key;
    uint32_t body;
    uint8_t head;
    uint32_t positions[400];
    size_t position_count;
};

struct naive_index {
    struct naive *p;
    size_t n, cap;
};

static struct naive *naive_at(struct naive_index *x, struct span term, uint64_t key)
{
    for (size_t i = 0; i < x->n; i++)
        if (x->p[i].key == key && span_eq(span_of(x->p[i].term, x->p[i].term_bytes), term))
            return &x->p[i];
    x->p = mem_grow(x->p, &x->cap, x->n + 1, sizeof(*x->p));
    struct naive *e = &x->p[x->n++];
    *e = (struct naive){.term_bytes = term.n, .key = key};
    memcpy(e->term, term.p, term.n);
    return e;
}

static uint32_t blanks(struct span text)
{
    uint32_t n = 0;
    for (size_t i = 0; i < text.n; i++)
        n += text.p[i] == ' ';
    return n;
}

static uint32_t naive_field(struct naive_index *x, struct analyzer *an, const struct index_doc *d, struct span text,
                            int head, uint32_t position, uint32_t limit)
{
    analyze_begin(an);
    uint32_t end = analyze_text(an, text, lang_code_of(d->lang), position);
    size_t n;
    struct token *tokens = analyze_tokens(an, &n);
    for (size_t i = 0; i < n && tokens[i].position < limit; i++) {
        if (head < 0 && d->is_keywords)
            tokens[i].position += blanks(span_cut(text, 0, tokens[i].at));
        struct naive *e = naive_at(x, tokens[i].term->text, d->key);
        if (head >= 0)
            e->head = head_add(e->head, head);
        else
            e->body++;
        if (head != HEAD_HEADING)
            e->positions[e->position_count++] = tokens[i].position;
    }
    struct buf name = {0};
    buf_puts(&name, "\1n");
    for (size_t i = 0; i < n; i++)
        if (!tokens[i].is_whole)
            buf_printf(&name, "%s%.*s", name.n > 2 ? " " : "", SPAN_ARG(tokens[i].term->text));
    if ((head == HEAD_TITLE || head == HEAD_ANCHOR) && name.n > 2 && name.n <= NAME_BYTES_MAX)
        naive_at(x, buf_span(&name), d->key)->body = 1;
    buf_done(&name);
    return end < limit ? end : limit;
}

static void naive_add(struct naive_index *x, struct analyzer *an, const struct index_doc *d)
{
    struct span anchors = d->anchors, text;
    uint32_t position = POSITION_ANCHORS;
    struct buf words = {0};
    struct site_names sites;
    char lang[SEGMENT_TERM_MAX];
    naive_field(x, an, d, d->title, HEAD_TITLE, POSITION_TITLE, POSITION_ANCHORS - 1);
    while (span_split(&anchors, '\n', &text))
        if (text.n)
            position = naive_field(x, an, d, text, HEAD_ANCHOR, position, POSITION_URL - 1) + 2;
    url_words(&words, d->url);
    naive_field(x, an, d, buf_span(&words), HEAD_URL, POSITION_URL, POSITION_BODY - 1);
    naive_field(x, an, d, d->text, -1, POSITION_BODY, UINT32_MAX);
    for (size_t i = 0; i < d->heading_count; i++)
        naive_field(x, an, d, d->headings[i].text, HEAD_HEADING, 0, UINT32_MAX);
    site_names(d->site, &sites);
    for (unsigned i = 0; i < sites.count; i++) {
        buf_clear(&words);
        buf_printf(&words, "\1s%.*s", SPAN_ARG(sites.names[i]));
        naive_at(x, buf_span(&words), d->key)->body = 1;
    }
    int n = snprintf(lang, sizeof(lang), "\1l%.*s", SPAN_ARG(d->lang));
    if (d->lang.n)
        naive_at(x, span_of(lang, (size_t)n), d->key)->body = 1;
    for (size_t i = 0; i < d->field_count; i++) {
        if (span_is(d->fields[i].name, "BAD"))
            continue;
        buf_clear(&words);
        buf_printf(&words, "\1f%.*s", SPAN_ARG(d->fields[i].name));
        naive_at(x, buf_span(&words), d->key)->body = 1;
        buf_printf(&words, "=%.*s", SPAN_ARG(d->fields[i].value));
        naive_at(x, buf_span(&words), d->key)->body = 1;
    }
    buf_done(&words);
}

static void compare_posting(struct naive_index *x, struct postings *p, struct span term, uint64_t key)
{
    char label[SEGMENT_TERM_MAX + 40];
    uint32_t positions[400];
    snprintf(label, sizeof(label), "'%.*s' of %llu", SPAN_ARG(term), (unsigned long long)key);
    size_t before = x->n;
    struct naive *e = naive_at(x, term, key);
    CHECK(label, x->n == before);
    CHECK(label, postings_body(p) == e->body);
    CHECK(label, postings_head(p) == e->head);
    size_t n = postings_positions(p, positions, 400);
    CHECK(label, n == e->position_count);
    for (size_t i = 0; i < n; i++)
        CHECK(label, positions[i] == e->positions[i]);
}

static void compare_postings(struct naive_index *x, const char *label)
{
    struct index_reader *r = NULL;
    struct index_snapshot *s = NULL;
    size_t seen = 0;
    CHECK_STATUS(label, index_reader_open(index_dir(), &r, NULL), ST_OK);
    CHECK_STATUS(label, index_reader_snapshot(r, &s), ST_OK);
    for (unsigned i = 0; i < s->part_count; i++) {
        const struct segment *seg = s->parts[i].segment;
        struct dict_cursor c;
        for (status st = dict_seek(&c, seg, SPAN("")); st == ST_OK; st = dict_next(&c)) {
            struct postings p;
            struct doc_row row;
            for (postings_open(&p, seg, &c.info); p.doc != POSTINGS_END; postings_next(&p)) {
                if (part_is_dead(&s->parts[i], p.doc))
                    continue;
                CHECK_STATUS(label, segment_doc(seg, p.doc, &row), ST_OK);
                CHECK(label, row.flags == (row.key % 6 == 1 ? ROW_UNORDERED : 0));
                compare_posting(x, &p, c.term, row.key);
                seen++;
            }
        }
    }
    CHECK(label, seen == x->n);
    index_snapshot_free(s);
    index_reader_free(r);
}

static void random_words(struct buf *b, struct rng *r, unsigned most)
{
    static const char *const odd[] = {"getElementById", "pg_stat_activity", "\xe6\x97\xa5\xe6\x9c\xac", "trees", "the"};
    buf_clear(b);
    for (uint64_t n = rng_below(r, most + 1); n; n--) {
        if (rng_below(r, 12) == 0)
            buf_printf(b, "%s ", odd[rng_below(r, 5)]);
        else
            buf_printf(b, "w%llu ", (unsigned long long)(rng_below(r, 8) * rng_below(r, 9)));
    }
}

static void add_random_doc(struct index *ix, struct naive_index *x, struct analyzer *an, struct rng *r, uint64_t key)
{
    struct buf t[5] = {{0}};
    char url[80], site[40];
    for (unsigned i = 0; i < 5; i++)
        random_words(&t[i], r, i == 0 ? 90 : i == 1 ? 200 : 30);
    struct buf anchors = {0};
    buf_printf(&anchors, "%.*s\n\n%.*s\n%.*s", SPAN_ARG(buf_span(&t[2])), SPAN_ARG(buf_span(&t[3])),
               SPAN_ARG(buf_span(&t[0])));
    snprintf(site, sizeof(site), "www.s%llu.example:%u", (unsigned long long)(key % 5), 80 + (unsigned)(key % 2));
    snprintf(url, sizeof(url), "http://%s/a-%llu/b%%20c.html?x=y", site, (unsigned long long)key);
    const struct summary_field fields[] = {
        {SPAN("even"), key % 2 ? SPAN("no") : SPAN("yes")}, {SPAN("BAD"), SPAN("x")}, {SPAN("even"), SPAN("yes")}};
    struct fact_heading headings[2] = {{1, buf_span(&t[3])}, {2, buf_span(&t[4])}};
    struct index_doc d = {.key = key,
                          .fetch_number = 1,
                          .url = span_str(url),
                          .site = span_str(site),
                          .lang = key % 3 ? SPAN("en") : (struct span){0},
                          .title = buf_span(&t[0]),
                          .text = buf_span(&t[1]),
                          .headings = headings,
                          .heading_count = 2,
                          .anchors = key % 4 ? buf_span(&anchors) : (struct span){0},
                          .is_keywords = key % 6 == 1,
                          .fields = fields,
                          .field_count = key % 4};
    CHECK_STATUS("add", index_add(ix, &d), ST_OK);
    if (x)
        naive_add(x, an, &d);
    for (unsigned i = 0; i < 5; i++)
        buf_done(&t[i]);
    buf_done(&anchors);
}

static void postings_are_those_of_a_naive_index(void **state)
{
    struct naive_index x = {0};
    struct analyzer *an = analyzer_new(5);
    struct rng r;
    rng_seed(&r, 99);
    struct index *ix = open_with((struct index_opts){.no_merge = true, .builders = 2, .memory = 1});
    for (uint64_t key = 0; key < 60; key++) {
        bool is_kept = key % 5 != 4;
        add_random_doc(ix, is_kept ? &x : NULL, an, &r, key);
        if (key % 15 == 14)
            CHECK_STATUS("commit", index_commit(ix, key), ST_OK);
        if (!is_kept)
            CHECK_STATUS("delete", index_delete(ix, key, 1), ST_OK);
    }
    CHECK_STATUS("commit", index_commit(ix, 60), ST_OK);
    compare_postings(&x, "built");
    CHECK_STATUS("merge", index_merge(ix, true), ST_OK);
    struct index_stats stats;
    index_get_stats(ix, &stats);
    CHECK("one", stats.segments == 1 && stats.deleted == 0);
    compare_postings(&x, "merged");
    index_close(ix);
    analyzer_free(an);
    free(x.p);
}

static void a_body_is_cut_at_its_ceiling(void **state)
{
    struct index *ix = open_with((struct index_opts){.no_merge = true});
    struct buf text = {0};
    for (unsigned i = 0; i < POSITIONS_A_DOC_MAX; i++)
        buf_puts(&text, i % 2 ? "a " : "b ");
    buf_puts(&text, "past");
    struct index_doc d = {.key = 1, .fetch_number = 1, .url = SPAN("http://h/"), .text = buf_span(&text)};
    CHECK_STATUS("add", index_add(ix, &d), ST_OK);
    CHECK_STATUS("commit", index_commit(ix, 1), ST_OK);
    struct index_reader *r = NULL;
    struct index_snapshot *s = NULL;
    struct term_info info;
    CHECK_STATUS("reader", index_reader_open(index_dir(), &r, NULL), ST_OK);
    CHECK_STATUS("snapshot", index_reader_snapshot(r, &s), ST_OK);
    CHECK_STATUS("a", segment_find_term(s->parts[0].segment, SPAN("a"), &info), ST_OK);
    CHECK("a", info.df == 1 && info.body == POSITIONS_A_DOC_MAX / 2);
    CHECK_STATUS("past", segment_find_term(s->parts[0].segment, SPAN("past"), &info), ST_NOT_FOUND);
    index_snapshot_free(s);
    index_reader_free(r);
    index_close(ix);
    buf_done(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(url_words_are_host_path_and_query),
        cmocka_unit_test(a_site_is_found_by_its_suffixes),
        cmocka_unit_test(a_long_host_counts_whole_and_by_its_last_labels),
        cmocka_unit_test(values_of_fields_fold),
        cmocka_unit_test(a_value_of_any_bytes_is_a_term),
        TEST_IN_FOLDER(postings_are_those_of_a_naive_index),
        TEST_IN_FOLDER(a_body_is_cut_at_its_ceiling),
    };
    model_use_memory();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
