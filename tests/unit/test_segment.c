#include "test.h"

#include <sys/stat.h>

#include "index/segment/bits.h"
#include "segment_twin.h"

/* ---- bits ---- */

/* Bit by bit: number i is in lane i % 4, from bit (i / 4) * width of the lane on. */
static uint32_t naive_unpack(const unsigned char *in, unsigned width, unsigned i)
{
    uint32_t v = 0;
    for (unsigned b = 0; b < width; b++) {
        unsigned bit = i / 4 * width + b, byte = bit / 32 * 16 + i % 4 * 4 + bit % 32 / 8;
        v |= (uint32_t)(in[byte] >> bit % 8 & 1) << b;
    }
    return v;
}

static void bits_are_where_a_plain_reader_finds_them(void **state)
{
    (void)state;
    struct rng r;
    rng_seed(&r, SEED);
    for (unsigned width = 0; width <= 32; width++) {
        uint32_t in[BITS_COUNT], out[BITS_COUNT];
        unsigned char *packed = malloc(BITS_BYTES(width) + 1); /* exact, so that a byte too far is noticed */
        for (unsigned i = 0; i < BITS_COUNT; i++)
            in[i] = width ? (uint32_t)(rng_u64(&r) >> (64 - width)) : 0;
        in[rng_below(&r, BITS_COUNT)] = width ? UINT32_MAX >> (32 - width) : 0;
        assert_int_equal(bits_width(in), width);
        bits_pack(in, width, packed);
        for (unsigned i = 0; i < BITS_COUNT; i++)
            if (naive_unpack(packed, width, i) != in[i])
                fail_msg("width %u: number %u is elsewhere", width, i);
        bits_unpack(packed, width, out);
        assert_memory_equal(in, out, sizeof(in));
        uint32_t base = (uint32_t)rng_u64(&r), sum = base;
        bits_unpack_steps(packed, width, base, out);
        for (unsigned i = 0; i < BITS_COUNT; i++) {
            sum += in[i] + 1;
            if (out[i] != sum)
                fail_msg("width %u: step %u", width, i);
        }
        free(packed);
    }
}

/* ---- reading back ---- */

static void check_rows(const struct twin *t, const struct segment *s)
{
    struct buf site = {0}, url = {0}, content = {0};
    for (uint32_t i = 0; i < t->docs; i++) {
        struct doc_row got, want = t->rows[i];
        struct span got_site = {0}, got_url, got_content;
        doc_texts(t, i, &site, &url, &content);
        CHECK_STATUS("row", segment_doc(s, i, &got), ST_OK);
        CHECK_STATUS("site", segment_site(s, got.site, &got_site), ST_OK);
        CHECK_STATUS("stored", segment_stored(s, i, &got_url, &got_content), ST_OK);
        CHECK_SPAN("site", got_site, buf_span(&site));
        CHECK_SPAN("url", got_url, buf_span(&url));
        CHECK_SPAN("content", got_content, buf_span(&content));
        want.site = got.site;
        want.stored_at = got.stored_at;
        want.stored_bytes = got.stored_bytes;
        CHECK("row", got.key == want.key && got.fetch_number == want.fetch_number && got.digest == want.digest &&
                         got.group == want.group && got.fetched == want.fetched && got.changed == want.changed &&
                         got.anchors_digest == want.anchors_digest && got.lang == want.lang &&
                         got.length_code == want.length_code && got.prior_code == want.prior_code &&
                         got.flags == want.flags);
        CHECK("codes", segment_codes(s)[2 * i] == want.length_code && segment_codes(s)[2 * i + 1] == want.prior_code);
    }
    buf_done(&site);
    buf_done(&url);
    buf_done(&content);
}

static void check_postings(const struct twin_term *t, const struct segment *s, const struct term_info *info)
{
    struct postings p;
    uint32_t positions[POSITIONS_MAX + 1];
    postings_open(&p, s, info);
    for (uint32_t i = 0; i < t->df; i++, postings_next(&p)) {
        const struct twin_posting *want = &t->postings[i];
        if (p.doc != want->doc || postings_body(&p) != want->body || postings_head(&p) != want->head)
            fail_msg("%.*s: posting %u of %u: doc %u, want %u", SPAN_ARG(twin_name(t)), i, t->df, p.doc, want->doc);
        size_t n = postings_positions(&p, positions, POSITIONS_MAX + 1);
        if (n != want->position_count || memcmp(positions, want->positions, n * 4) != 0)
            fail_msg("%.*s: positions of posting %u: %zu, want %u", SPAN_ARG(twin_name(t)), i, n, want->position_count);
    }
    assert_int_equal(p.doc, POSTINGS_END);
    assert_int_equal(p.st, ST_OK);
    assert_int_equal(postings_next(&p), POSTINGS_END);
    assert_int_equal(postings_body(&p), 0);
    assert_int_equal(postings_positions(&p, positions, 1), 0);
}

static void check_terms(const struct twin *t, const struct segment *s)
{
    struct dict_cursor d;
    status st = dict_seek(&d, s, SPAN(""));
    for (uint32_t i = 0; i < t->terms; i++, st = dict_next(&d)) {
        struct term_info info;
        CHECK_STATUS("next term", st, ST_OK);
        CHECK_SPAN("term", d.term, twin_name(&t->term[i]));
        CHECK_STATUS("find", segment_find_term(s, twin_name(&t->term[i]), &info), ST_OK);
        CHECK("same", info.df == t->term[i].df && info.df == d.info.df && info.post_at == d.info.post_at &&
                          info.pos_at == d.info.pos_at && info.bound == d.info.bound);
        check_postings(&t->term[i], s, &info);
    }
    CHECK_STATUS("end of terms", st, ST_END);
    CHECK_STATUS("end again", dict_next(&d), ST_END);
}

static void reads_back_what_was_written(void **state)
{
    (void)state;
    static const struct {
        uint32_t docs, terms;
        bool even_keys;
    } cases[] = {{0, 0, true}, {1, 1, true}, {3, 40, false}, {130, 31, true}, {300, 33, true}, {3000, 600, false}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct twin t;
        struct segment_counts counts;
        make_twin(&t, SEED + i, cases[i].docs, cases[i].terms, cases[i].even_keys);
        CHECK_STATUS("write", write_twin(&t, NUMBER), ST_OK);
        struct segment *s = open_segment(NUMBER);
        assert_int_equal(segment_docs(s), t.docs);
        assert_int_equal(segment_terms(s), t.terms);
        assert_int_equal(segment_number(s), NUMBER);
        check_rows(&t, s);
        check_terms(&t, s);
        check_segment_is_sound("check", s, &counts);
        assert_int_equal(counts.docs, t.docs);
        assert_int_equal(counts.terms, t.terms);
        segment_free(s);
        free_twin(&t);
    }
    segment_free(NULL);
}

static void reads_back_counts_that_do_not_match_positions(void **state)
{
    (void)state;
    struct twin t;
    struct rng r;
    struct buf problem = {0};
    struct segment_counts counts;
    rng_seed(&r, SEED);
    make_twin(&t, SEED + 9, 1000, 200, true);
    make_odd(&r, &t);
    CHECK_STATUS("write", write_twin(&t, NUMBER), ST_OK);
    struct segment *s = open_segment(NUMBER);
    check_terms(&t, s);
    CHECK_STATUS("check", segment_check(s, &problem, &counts), ST_CORRUPT);
    CHECK("check", problem.n && strstr(buf_cstr(&problem), "other positions than counts"));
    buf_done(&problem);
    segment_free(s);
    free_twin(&t);
}

static void sums_up_its_documents(void **state)
{
    (void)state;
    struct twin t;
    make_twin(&t, SEED, 500, 20, true);
    CHECK_STATUS("write", write_twin(&t, NUMBER), ST_OK);
    struct segment *s = open_segment(NUMBER);
    uint32_t newest = 0, languages = 0, sum = 0, before = UINT32_MAX, n;
    uint8_t prior = 0;
    uint64_t tokens = 0, bytes = 0;
    for (uint32_t i = 0; i < t.docs; i++) {
        newest = t.rows[i].changed > newest ? t.rows[i].changed : newest;
        prior = t.rows[i].prior_code > prior ? t.rows[i].prior_code : prior;
    }
    for (uint32_t i = 0; i < t.terms; i++)
        for (uint32_t k = 0; k < t.term[i].df && t.term[i].name[0] != TERM_SPECIAL; k++)
            tokens += t.term[i].postings[k].body;
    assert_int_equal(segment_newest(s), newest);
    assert_int_equal(segment_prior_max(s), prior);
    assert_int_equal(segment_body_tokens(s), tokens);
    lang_code lang;
    for (; segment_language(s, languages, &lang, &n) == ST_OK; languages++) {
        uint32_t want = 0;
        for (uint32_t i = 0; i < t.docs; i++)
            want += t.rows[i].lang == lang;
        assert_int_equal(n, want);
        assert_true(n <= before);
        sum += before = n;
    }
    assert_int_equal(languages, 5);
    assert_int_equal(sum, t.docs);
    for (unsigned i = 0; i < SEGMENT_FILES; i++) {
        char path[TEST_PATH];
        struct buf name = {0};
        struct stat sb;
        segment_file_name(&name, NUMBER, i);
        test_path(path, buf_cstr(&name));
        assert_int_equal(stat(path, &sb), 0);
        bytes += (uint64_t)sb.st_size;
        buf_done(&name);
    }
    assert_int_equal(segment_bytes(s), bytes);
    struct doc_row row;
    struct span span;
    CHECK_STATUS("past the last", segment_doc(s, t.docs, &row), ST_NOT_FOUND);
    CHECK_STATUS("past the last", segment_site(s, segment_sites(s), &span), ST_NOT_FOUND);
    segment_free(s);
    free_twin(&t);
}

/* The twin's answer to a seek from place `at` on. */
static uint32_t naive_seek(const struct twin_term *t, uint32_t at, uint32_t doc)
{
    while (at < t->df && t->postings[at].doc < doc)
        at++;
    return at;
}

static void seek_through(struct rng *r, const struct twin_term *t, const struct segment *s, uint32_t docs)
{
    struct postings p;
    struct term_info info;
    uint32_t at = 0, positions[POSITIONS_MAX];
    CHECK_STATUS("find", segment_find_term(s, twin_name(t), &info), ST_OK);
    postings_open(&p, s, &info);
    while (at < t->df) {
        const struct twin_posting *want = &t->postings[at];
        if (p.doc != want->doc)
            fail_msg("at %u, want %u", p.doc, want->doc);
        switch (rng_below(r, 4)) {
        case 0:
            assert_int_equal(postings_body(&p), want->body);
            break;
        case 1:
            assert_int_equal(postings_head(&p), want->head);
            break;
        case 2: {
            size_t max = rng_below(r, POSITIONS_MAX), n = postings_positions(&p, positions, max);
            assert_int_equal(n, want->position_count < max ? want->position_count : max);
            assert_memory_equal(positions, want->positions, n * 4);
            break;
        }
        default:
            break;
        }
        uint32_t doc = p.doc + (uint32_t)rng_below(r, 1 + (docs >> rng_below(r, 11)));
        if (rng_below(r, 3) == 0)
            doc = p.doc + 1;
        at = naive_seek(t, at, doc);
        uint32_t got = postings_seek(&p, doc);
        assert_int_equal(got, at < t->df ? t->postings[at].doc : POSTINGS_END);
        assert_int_equal(got, p.doc);
    }
    assert_int_equal(postings_seek(&p, 0), POSTINGS_END);
    assert_int_equal(p.st, ST_OK);
}

static void seeks_as_a_scan_does(void **state)
{
    (void)state;
    struct twin t;
    struct rng r;
    rng_seed(&r, SEED);
    make_twin(&t, SEED, 5000, 60, true);
    CHECK_STATUS("write", write_twin(&t, NUMBER), ST_OK);
    struct segment *s = open_segment(NUMBER);
    for (uint32_t i = 0; i < t.terms; i++)
        for (int k = 0; k < 20; k++)
            seek_through(&r, &t.term[i], s, t.docs);
    segment_free(s);
    free_twin(&t);
}

/* Every block that peek tells of ends where it says, and nothing in it is above the bound. */
static void peek_through(struct rng *r, const struct rank_tables *rank, const struct twin *t,
                         const struct twin_term *term, const struct segment *s)
{
    struct postings p;
    struct term_info info;
    CHECK_STATUS("find", segment_find_term(s, twin_name(term), &info), ST_OK);
    postings_open(&p, s, &info);
    uint32_t from = 0;
    for (int k = 0; k < 200; k++) {
        uint32_t doc = from + (uint32_t)rng_below(r, t->docs - from + 1), last = 0, before = p.doc;
        uint8_t bound = 0;
        uint32_t at = naive_seek(term, 0, doc);
        bool found = postings_peek(&p, doc, &last, &bound);
        assert_int_equal(found, at < term->df);
        assert_int_equal(p.doc, before);
        for (; found && at < term->df && term->postings[at].doc <= last; at++) {
            const struct twin_posting *w = &term->postings[at];
            double tf = rank_tf(rank, w->body, w->head, t->rows[w->doc].length_code);
            assert_true(tf <= rank_bound_of(bound));
            assert_true(bound <= info.bound);
        }
        assert_true(!found || (last >= doc && term->postings[at - 1].doc == last));
        if (rng_below(r, 10) == 0 && postings_next(&p) == POSTINGS_END) {
            assert_false(postings_peek(&p, 0, &last, &bound));
            return;
        }
        from = p.doc;
    }
}

static void peeks_at_blocks_and_their_bounds(void **state)
{
    (void)state;
    struct twin t;
    struct rng r;
    struct rank_tables rank;
    rank_tables_init(&rank, &rank_default);
    rng_seed(&r, SEED);
    make_twin(&t, SEED + 1, 5000, 60, true);
    CHECK_STATUS("write", write_twin(&t, NUMBER), ST_OK);
    struct segment *s = open_segment(NUMBER);
    for (uint32_t i = 0; i < t.terms; i++)
        peek_through(&r, &rank, &t, &t.term[i], s);
    segment_free(s);
    free_twin(&t);
}

static void finds_terms_as_a_scan_does(void **state)
{
    (void)state;
    struct twin t;
    struct rng r;
    rng_seed(&r, SEED);
    make_twin(&t, SEED + 2, 10, 2000, true);
    CHECK_STATUS("write", write_twin(&t, NUMBER), ST_OK);
    struct segment *s = open_segment(NUMBER);
    for (int k = 0; k < 5000; k++) {
        struct twin_term probe;
        struct dict_cursor d;
        struct term_info info;
        make_name(&r, &probe);
        uint32_t at = 0;
        while (at < t.terms && compare_terms(&t.term[at], &probe) < 0)
            at++;
        status st = dict_seek(&d, s, twin_name(&probe));
        CHECK_STATUS("seek", st, at < t.terms ? ST_OK : ST_END);
        if (st == ST_OK)
            CHECK_SPAN("seek", d.term, twin_name(&t.term[at]));
        bool is_there = at < t.terms && compare_terms(&t.term[at], &probe) == 0;
        CHECK_STATUS("find", segment_find_term(s, twin_name(&probe), &info), is_there ? ST_OK : ST_NOT_FOUND);
    }
    segment_free(s);
    free_twin(&t);
}

static void finds_documents_by_key(void **state)
{
    (void)state;
    for (int even = 0; even < 2; even++) {
        struct twin t;
        make_twin(&t, SEED + 3, 3000, 1, even);
        t.rows[7].key = 0;
        t.rows[8].key = UINT64_MAX;
        CHECK_STATUS("write", write_twin(&t, NUMBER), ST_OK);
        struct segment *s = open_segment(NUMBER);
        for (uint32_t i = 0; i < t.docs; i++) {
            uint64_t probes[] = {t.rows[i].key, t.rows[i].key + 1, t.rows[i].key - 1};
            for (int k = 0; k < 3; k++) {
                uint32_t want = POSTINGS_END, got = POSTINGS_END;
                for (uint32_t j = 0; j < t.docs; j++)
                    want = t.rows[j].key == probes[k] ? j : want;
                CHECK_STATUS("find", segment_find_doc(s, probes[k], &got), want == POSTINGS_END ? ST_NOT_FOUND : ST_OK);
                assert_int_equal(got, want);
            }
        }
        segment_free(s);
        free_twin(&t);
    }
}

/* What a merge does: raw positions from one segment into another. */
static void copies_positions_as_they_are(void **state)
{
    (void)state;
    struct twin t;
    struct segment_writer *w = NULL;
    struct dict_cursor d;
    struct postings p;
    make_twin(&t, SEED + 4, 700, 100, true);
    CHECK_STATUS("write", write_twin(&t, NUMBER), ST_OK);
    struct segment *s = open_segment(NUMBER);
    CHECK_STATUS("new", segment_writer_new(test_folder(), NUMBER + 1, &w), ST_OK);
    CHECK_STATUS("docs", write_docs(&t, w), ST_OK);
    assert_int_equal(segment_writer_docs(w), t.docs);
    status st = dict_seek(&d, s, SPAN(""));
    for (; st == ST_OK; st = dict_next(&d)) {
        CHECK_STATUS("term", segment_writer_term(w, d.term), ST_OK);
        postings_open(&p, s, &d.info);
        for (; p.doc != POSTINGS_END; postings_next(&p))
            CHECK_STATUS(
                "posting",
                segment_writer_posting_raw(w, p.doc, postings_body(&p), postings_head(&p), postings_positions_raw(&p)),
                ST_OK);
        CHECK_STATUS("postings", p.st, ST_OK);
    }
    CHECK_STATUS("finish", segment_writer_finish(w), ST_OK);
    segment_writer_free(w);
    segment_free(s);
    s = open_segment(NUMBER + 1);
    check_rows(&t, s);
    check_terms(&t, s);
    segment_free(s);
    free_twin(&t);
}

/* The documents `from` .. `to` of the twin as a segment of their own. */
static void write_part(const struct twin *t, uint32_t number, uint32_t from, uint32_t to)
{
    struct twin part = {.docs = to - from, .rows = t->rows + from, .site_of = t->site_of + from};
    struct segment_writer *w = NULL;
    CHECK_STATUS("new", segment_writer_new(test_folder(), number, &w), ST_OK);
    CHECK_STATUS("docs", write_docs(&part, w), ST_OK);
    for (uint32_t i = 0; i < t->terms; i++) {
        const struct twin_term *term = &t->term[i];
        CHECK_STATUS("term", segment_writer_term(w, twin_name(term)), ST_OK);
        for (uint32_t k = 0; k < term->df; k++) {
            const struct twin_posting *p = &term->postings[k];
            if (p->doc >= from && p->doc < to)
                CHECK_STATUS(
                    "posting",
                    segment_writer_posting(w, p->doc - from, p->body, p->head, p->positions, p->position_count), ST_OK);
        }
    }
    CHECK_STATUS("finish", segment_writer_finish(w), ST_OK);
    segment_writer_free(w);
}

static void copy_term(struct segment_writer *w, const struct segment *s, struct span name, uint32_t base,
                      const uint32_t *numbers)
{
    struct term_info info;
    struct postings p;
    status st = segment_find_term(s, name, &info);
    if (st == ST_NOT_FOUND)
        return;
    CHECK_STATUS("find", st, ST_OK);
    postings_open(&p, s, &info);
    CHECK_STATUS("copy", segment_writer_copy(w, &p, base, numbers), ST_OK);
    assert_int_equal(p.doc, POSTINGS_END);
}

/* What is left of the twin when the documents without a number go. */
static void thin_twin(struct twin *t, const uint32_t *numbers)
{
    uint32_t docs = 0, terms = 0;
    for (uint32_t i = 0; i < t->docs; i++)
        if (numbers[i] != POSTINGS_END) {
            t->rows[docs] = t->rows[i];
            t->site_of[docs++] = t->site_of[i];
        }
    t->docs = docs;
    for (uint32_t i = 0; i < t->terms; i++) {
        struct twin_term term = t->term[i];
        uint32_t df = 0;
        for (uint32_t k = 0; k < term.df; k++)
            if (numbers[term.postings[k].doc] != POSTINGS_END) {
                term.postings[df] = term.postings[k];
                term.postings[df++].doc = numbers[term.postings[k].doc];
            }
        term.df = df;
        if (df)
            t->term[terms++] = term;
        else
            free(term.postings);
    }
    t->terms = terms;
}

static void merges_into_what_would_have_been_written_at_once(void **state)
{
    (void)state;
    static const struct {
        uint32_t docs, cut, gone_every;
    } cases[] = {{700, 300, 0}, {700, 128, 0}, {2000, 1, 0}, {2000, 1999, 7}, {600, 256, 2}};
    for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
        struct twin t;
        uint32_t cut = cases[c].cut, docs = cases[c].docs, next = 0;
        make_twin(&t, SEED + 10 + c, docs, 150, true);
        write_part(&t, NUMBER, 0, cut);
        write_part(&t, NUMBER + 1, cut, docs);
        struct segment *a = open_segment(NUMBER), *b = open_segment(NUMBER + 1);
        uint32_t *numbers = mem_alloc(docs * sizeof(*numbers));
        for (uint32_t i = 0; i < docs; i++)
            numbers[i] = cases[c].gone_every && i % cases[c].gone_every == 0 ? POSTINGS_END : next++;
        struct segment_writer *w = NULL;
        CHECK_STATUS("new", segment_writer_new(test_folder(), NUMBER + 2, &w), ST_OK);
        struct twin_term *names = mem_alloc(t.terms * sizeof(*names));
        uint32_t name_count = t.terms;
        memcpy(names, t.term, t.terms * sizeof(*names));
        thin_twin(&t, numbers);
        CHECK_STATUS("docs", write_docs(&t, w), ST_OK);
        const uint32_t *map = cases[c].gone_every ? numbers : NULL;
        for (uint32_t i = 0; i < name_count; i++) {
            CHECK_STATUS("term", segment_writer_term(w, twin_name(&names[i])), ST_OK);
            copy_term(w, a, twin_name(&names[i]), 0, map);
            copy_term(w, b, twin_name(&names[i]), cut, map ? map + cut : NULL);
        }
        CHECK_STATUS("finish", segment_writer_finish(w), ST_OK);
        segment_writer_free(w);
        struct segment *s = open_segment(NUMBER + 2);
        struct segment_counts counts;
        check_terms(&t, s);
        check_segment_is_sound("merged", s, &counts);
        segment_free(a);
        segment_free(b);
        segment_free(s);
        free(numbers);
        free(names);
        free_twin(&t);
    }
}

/* ---- what must not be written ---- */

static status term_twice(struct segment_writer *w)
{
    CHECK_STATUS("first", segment_writer_term(w, SPAN("b")), ST_OK);
    return segment_writer_term(w, SPAN("b"));
}
static status term_below(struct segment_writer *w)
{
    CHECK_STATUS("first", segment_writer_term(w, SPAN("b")), ST_OK);
    return segment_writer_term(w, SPAN("a"));
}
static status term_empty(struct segment_writer *w)
{
    return segment_writer_term(w, SPAN(""));
}
static status term_long(struct segment_writer *w)
{
    static const char name[SEGMENT_TERM_MAX + 1] = "a";
    return segment_writer_term(w, span_of(name, sizeof(name)));
}
static status posting_first(struct segment_writer *w)
{
    return segment_writer_posting(w, 0, 1, 0, NULL, 0);
}
static status posting_twice(struct segment_writer *w)
{
    CHECK_STATUS("term", segment_writer_term(w, SPAN("b")), ST_OK);
    CHECK_STATUS("first", segment_writer_posting(w, 1, 1, 0, NULL, 0), ST_OK);
    return segment_writer_posting(w, 1, 1, 0, NULL, 0);
}
static status posting_of_no_document(struct segment_writer *w)
{
    CHECK_STATUS("term", segment_writer_term(w, SPAN("b")), ST_OK);
    return segment_writer_posting(w, 2, 1, 0, NULL, 0);
}
static status positions_backwards(struct segment_writer *w)
{
    static const uint32_t positions[] = {5, 5};
    CHECK_STATUS("term", segment_writer_term(w, SPAN("b")), ST_OK);
    return segment_writer_posting(w, 1, 1, 0, positions, 2);
}
static status positions_of_no_word(struct segment_writer *w)
{
    static const uint32_t positions[] = {5};
    CHECK_STATUS("term", segment_writer_term(w, SPAN("\1sa")), ST_OK);
    return segment_writer_posting(w, 1, 1, 0, positions, 1);
}
static status document_after_terms(struct segment_writer *w)
{
    struct doc_row row = {.key = 1};
    CHECK_STATUS("term", segment_writer_term(w, SPAN("b")), ST_OK);
    return segment_writer_doc(w, &row, SPAN("a"), SPAN(""), SPAN(""));
}
static status site_too_long(struct segment_writer *w)
{
    static const char name[SEGMENT_SITE_MAX + 1] = "a";
    struct doc_row row = {.key = 1};
    return segment_writer_doc(w, &row, span_of(name, sizeof(name)), SPAN(""), SPAN(""));
}

static void refuses_what_is_out_of_order(void **state)
{
    (void)state;
    static const struct {
        const char *label;
        status (*run)(struct segment_writer *w);
        status want;
    } cases[] = {
        {"a term twice", term_twice, ST_INVALID},
        {"a term below the last", term_below, ST_INVALID},
        {"an empty term", term_empty, ST_INVALID},
        {"a long term", term_long, ST_INVALID},
        {"a posting without a term", posting_first, ST_INVALID},
        {"a document twice", posting_twice, ST_INVALID},
        {"a document that is none", posting_of_no_document, ST_INVALID},
        {"positions that do not ascend", positions_backwards, ST_INVALID},
        {"positions of a site", positions_of_no_word, ST_INVALID},
        {"a document after terms", document_after_terms, ST_INVALID},
        {"a site's name too long", site_too_long, ST_LIMIT},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct segment_writer *w = writer_with_docs(2);
        CHECK_STATUS(cases[i].label, cases[i].run(w), cases[i].want);
        CHECK_STATUS(cases[i].label, segment_writer_finish(w), cases[i].want);
        segment_writer_free(w);
        CHECK(cases[i].label, files_are_gone());
    }
}

static void a_term_without_postings_leaves_no_trace(void **state)
{
    (void)state;
    struct segment_writer *w = writer_with_docs(2);
    struct segment_counts counts;
    CHECK_STATUS("a", segment_writer_term(w, SPAN("a")), ST_OK);
    CHECK_STATUS("b", segment_writer_term(w, SPAN("b")), ST_OK);
    CHECK_STATUS("posting", segment_writer_posting(w, 1, 1, 0, (uint32_t[]){POSITION_BODY}, 1), ST_OK);
    CHECK_STATUS("c", segment_writer_term(w, SPAN("c")), ST_OK);
    CHECK_STATUS("finish", segment_writer_finish(w), ST_OK);
    segment_writer_free(w);
    struct segment *s = open_segment(NUMBER);
    struct term_info info;
    assert_int_equal(segment_terms(s), 1);
    CHECK_STATUS("a", segment_find_term(s, SPAN("a"), &info), ST_NOT_FOUND);
    CHECK_STATUS("b", segment_find_term(s, SPAN("b"), &info), ST_OK);
    check_segment_is_sound("check", s, &counts);
    segment_free(s);
}

static void names_of_files_are_known_again(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool is_one;
        uint32_t number;
    } cases[] = {
        {"0000002a.docs", true, 0x2a},
        {"ffffffff.pos", true, UINT32_MAX},
        {"00000001.dict", true, 1},
        {"0000002a.doc", false, 0},
        {"0000002A.docs", false, 0},
        {"000002a.docs", false, 0},
        {"0000002a.docs.tmp", false, 0},
        {"manifest", false, 0},
        {"", false, 0},
        {"0000002a", false, 0},
        {"0000002g.docs", false, 0},
        {"00000001.", false, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        uint32_t number = 0;
        CHECK(cases[i].name, segment_parse_name(cases[i].name, &number) == cases[i].is_one);
        CHECK(cases[i].name, number == cases[i].number);
    }
    for (unsigned i = 0; i < SEGMENT_FILES; i++) {
        struct buf name = {0};
        uint32_t number = 0;
        segment_file_name(&name, 0xabcdef, i);
        assert_true(segment_parse_name(buf_cstr(&name), &number));
        assert_int_equal(number, 0xabcdef);
        buf_done(&name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_are_where_a_plain_reader_finds_them),
        cmocka_unit_test(names_of_files_are_known_again),
        TEST_IN_FOLDER(reads_back_what_was_written),
        TEST_IN_FOLDER(reads_back_counts_that_do_not_match_positions),
        TEST_IN_FOLDER(sums_up_its_documents),
        TEST_IN_FOLDER(seeks_as_a_scan_does),
        TEST_IN_FOLDER(peeks_at_blocks_and_their_bounds),
        TEST_IN_FOLDER(finds_terms_as_a_scan_does),
        TEST_IN_FOLDER(finds_documents_by_key),
        TEST_IN_FOLDER(copies_positions_as_they_are),
        TEST_IN_FOLDER(merges_into_what_would_have_been_written_at_once),
        TEST_IN_FOLDER(refuses_what_is_out_of_order),
        TEST_IN_FOLDER(a_term_without_postings_leaves_no_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
