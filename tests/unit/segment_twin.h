/* segment_twin.h - a segment in the plainest form, made at random, to hold a real one against. */
#pragma once

#include "test.h"

#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/rng.h"
#include "index/segment/rank.h"
#include "index/segment/segment_check.h"
#include "index/segment/segment_internal.h"
#include "index/segment/segment_write.h"
#include "store/file.h"
#include "test_folder.h"

#define SEED 20240612
#define NUMBER 0x2a
#define POSITIONS_MAX 40

struct twin_posting {
    uint32_t doc, body;
    uint8_t head;
    uint32_t position_count;
    uint32_t positions[POSITIONS_MAX];
};

struct twin_term {
    char name[SEGMENT_TERM_MAX + 1];
    size_t name_n;
    uint32_t df;
    struct twin_posting *postings;
};

struct twin {
    uint32_t docs;
    struct doc_row *rows;
    uint32_t *site_of;
    uint32_t terms;
    struct twin_term *term;
};

static inline struct span twin_name(const struct twin_term *t)
{
    return span_of(t->name, t->name_n);
}

static inline int compare_terms(const void *a, const void *b)
{
    return span_cmp(twin_name(a), twin_name(b));
}

/* Up to `most` positions of a field. */
static inline uint32_t make_field(struct rng *r, struct twin_posting *p, uint32_t from, uint32_t to, uint32_t most)
{
    uint32_t n = 0, at = from + (uint32_t)rng_below(r, 10);
    for (; n < most && at < to && p->position_count < POSITIONS_MAX; n++) {
        p->positions[p->position_count++] = at;
        at += 1 + (uint32_t)rng_below(r, to < POSITION_BODY ? 5 : 1u << rng_below(r, 15));
    }
    return n;
}

static inline uint8_t up_to_three(uint32_t n, int shift)
{
    return (uint8_t)((n < 3 ? n : 3) << shift);
}

static inline void make_posting(struct rng *r, struct twin_posting *p, bool is_special)
{
    p->body = 1;
    if (is_special)
        return;
    if (rng_below(r, 10) == 0) {
        p->head =
            up_to_three(make_field(r, p, POSITION_TITLE, POSITION_ANCHORS, (uint32_t)rng_below(r, 6)), HEAD_TITLE);
        p->head |=
            up_to_three(make_field(r, p, POSITION_ANCHORS, POSITION_URL, (uint32_t)rng_below(r, 6)), HEAD_ANCHOR);
        p->head |= up_to_three(make_field(r, p, POSITION_URL, POSITION_BODY, (uint32_t)rng_below(r, 6)), HEAD_URL);
        p->head |= (uint8_t)(rng_below(r, 4) << HEAD_HEADING);
    }
    uint32_t most = rng_below(r, 3) ? 1 : (uint32_t)rng_below(r, 20);
    p->body = make_field(r, p, POSITION_BODY, POSITION_BODY + POSITIONS_A_DOC_MAX, most);
}

/* Counts and positions that do not belong together, which the files can hold all the same. */
static inline void make_odd(struct rng *r, struct twin *t)
{
    for (uint32_t i = 0; i < t->terms; i++)
        for (uint32_t k = 0; k < t->term[i].df && t->term[i].name[0] != TERM_SPECIAL; k++) {
            struct twin_posting *p = &t->term[i].postings[k];
            if (rng_below(r, 20) == 0)
                p->position_count = 0;
            if (rng_below(r, 20) == 0)
                p->body = (uint32_t)rng_below(r, POSITIONS_A_DOC_MAX);
            if (rng_below(r, 20) == 0)
                p->head = (uint8_t)rng_u64(r);
            if (rng_below(r, 20) == 0)
                p->body = 0;
        }
}

static inline void make_name(struct rng *r, struct twin_term *t)
{
    static const char *const stems[] = {"", "a", "ab", "abcdefgh", "internationalisation", "\1s", "\1l", "\xc3\xa9"};
    size_t n = (size_t)snprintf(t->name, sizeof(t->name), "%s", stems[rng_below(r, 8)]);
    size_t more = rng_below(r, 50) ? 1 + rng_below(r, 6) : SEGMENT_TERM_MAX - n;
    for (size_t i = 0; i < more; i++)
        t->name[n + i] = (char)(rng_below(r, 40) ? 'a' + (int)rng_below(r, 5) : 2 + (int)rng_below(r, 250));
    t->name_n = n + more;
}

static inline void make_term(struct rng *r, struct twin *t, struct twin_term *term)
{
    static const uint32_t sizes[] = {1, 1, 1, 1, 2, 3, 20, 127, 128, 129, 255, 256, 257, 1000, UINT32_MAX};
    uint32_t want = sizes[rng_below(r, sizeof(sizes) / sizeof(*sizes))], left = t->docs;
    if (want > t->docs)
        want = t->docs;
    term->postings = mem_alloc(want * sizeof(*term->postings));
    for (uint32_t doc = 0; doc < t->docs && term->df < want; doc++, left--)
        if (rng_below(r, left) < want - term->df) {
            struct twin_posting *p = &term->postings[term->df++];
            p->doc = doc;
            make_posting(r, p, term->name[0] == TERM_SPECIAL);
        }
}

static inline void make_rows(struct rng *r, struct twin *t, bool even_keys)
{
    static const char *const langs[] = {"en", "de", "fil", "", "zh"};
    t->rows = mem_alloc(t->docs * sizeof(*t->rows));
    t->site_of = mem_alloc(t->docs * sizeof(*t->site_of));
    for (uint32_t i = 0; i < t->docs; i++) {
        t->rows[i] = (struct doc_row){
            .key = even_keys ? rng_u64(r) : rng_below(r, 3 * (uint64_t)t->docs / 2),
            .fetch_number = rng_u64(r),
            .digest = rng_u64(r),
            .group = rng_u64(r),
            .fetched = (uint32_t)rng_u64(r),
            .changed = (uint32_t)rng_u64(r) >> 1,
            .anchors_digest = (uint32_t)rng_u64(r),
            .lang = (lang_code)(langs[rng_below(r, 5)][0] * 7),
            .length_code = (uint8_t)rng_below(r, 240),
            .prior_code = (uint8_t)rng_below(r, 200),
            .flags = (uint8_t)rng_u64(r),
        };
        t->site_of[i] = (uint32_t)rng_below(r, 1 + i / 4);
    }
}

static inline void make_twin(struct twin *t, uint64_t seed, uint32_t docs, uint32_t terms, bool even_keys)
{
    struct rng r;
    rng_seed(&r, seed);
    *t = (struct twin){.docs = docs};
    make_rows(&r, t, even_keys);
    t->term = mem_alloc((terms + 1) * sizeof(*t->term));
    for (uint32_t i = 0; i < terms; i++)
        make_name(&r, &t->term[i]);
    qsort(t->term, terms, sizeof(*t->term), compare_terms);
    for (uint32_t i = 0; i < terms; i++)
        if (!t->terms || compare_terms(&t->term[i], &t->term[t->terms - 1]) != 0)
            t->term[t->terms++] = t->term[i];
    for (uint32_t i = 0; i < t->terms; i++)
        make_term(&r, t, &t->term[i]);
}

static inline void free_twin(struct twin *t)
{
    for (uint32_t i = 0; i < t->terms; i++)
        free(t->term[i].postings);
    free(t->term);
    free(t->rows);
    free(t->site_of);
}

static inline void doc_texts(const struct twin *t, uint32_t doc, struct buf *site, struct buf *url, struct buf *content)
{
    buf_clear(site);
    buf_clear(url);
    buf_clear(content);
    buf_printf(site, "site%u.example", t->site_of[doc]);
    buf_printf(url, "http://site%u.example/%u", t->site_of[doc], doc);
    for (uint32_t i = 0; i < doc % 200; i++)
        buf_putc(content, (char)(doc * 31 + i));
}

static inline status write_docs(const struct twin *t, struct segment_writer *w)
{
    struct buf site = {0}, url = {0}, content = {0};
    status st = ST_OK;
    for (uint32_t i = 0; i < t->docs && st == ST_OK; i++) {
        doc_texts(t, i, &site, &url, &content);
        st = segment_writer_doc(w, &t->rows[i], buf_span(&site), buf_span(&url), buf_span(&content));
    }
    buf_done(&site);
    buf_done(&url);
    buf_done(&content);
    return st;
}

static inline status write_terms(const struct twin *t, struct segment_writer *w)
{
    status st = ST_OK;
    for (uint32_t i = 0; i < t->terms && st == ST_OK; i++) {
        const struct twin_term *term = &t->term[i];
        st = segment_writer_term(w, twin_name(term));
        for (uint32_t k = 0; k < term->df && st == ST_OK; k++) {
            const struct twin_posting *p = &term->postings[k];
            st = segment_writer_posting(w, p->doc, p->body, p->head, p->positions, p->position_count);
        }
    }
    return st;
}

static inline status write_twin(const struct twin *t, uint32_t number)
{
    struct segment_writer *w = NULL;
    status st = segment_writer_new(test_folder(), number, &w);
    if (st != ST_OK)
        return st;
    st = write_docs(t, w);
    if (st == ST_OK)
        st = write_terms(t, w);
    if (st == ST_OK)
        st = segment_writer_finish(w);
    segment_writer_free(w);
    return st;
}

static inline struct segment *open_segment(uint32_t number)
{
    struct segment *s = NULL;
    CHECK_STATUS("open", segment_open(test_folder(), number, &s), ST_OK);
    return s;
}

static inline void check_segment_is_sound(const char *label, const struct segment *s, struct segment_counts *counts)
{
    struct buf problem = {0};
    status st = segment_check(s, &problem, counts);
    if (st != ST_OK || problem.n)
        fail_msg("%s: %s: %s", label, status_name(st), buf_cstr(&problem));
    buf_done(&problem);
}

static inline struct segment_writer *writer_with_docs(unsigned docs)
{
    struct segment_writer *w = NULL;
    struct doc_row row = {.key = 1};
    CHECK_STATUS("new", segment_writer_new(test_folder(), NUMBER, &w), ST_OK);
    for (unsigned i = 0; i < docs; i++)
        CHECK_STATUS("doc", segment_writer_doc(w, &row, SPAN("a"), SPAN("http://a/"), SPAN("x")), ST_OK);
    return w;
}

static inline bool files_are_gone(void)
{
    for (unsigned i = 0; i < SEGMENT_FILES; i++) {
        char path[TEST_PATH];
        struct buf name = {0};
        segment_file_name(&name, NUMBER, i);
        test_path(path, buf_cstr(&name));
        buf_done(&name);
        if (access(path, F_OK) == 0)
            return false;
    }
    return true;
}
