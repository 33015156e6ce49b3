/* fuzz_segment.c - a segment whose bytes are anything, with checksums that are right: the reader has to find out by
 * itself, and may at most say that the segment is damaged.
 *
 * A sound segment is written once. An input is a list of changes to its files: a file (u8: number, + 8 for its last
 * bytes: the numbers of the footer; + 16: all of the body from there on is the rest of the input), an offset (u24), a
 * value (u8). Then everything is read in every way there is. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../unit/test_reseal.h"
#include "base/buf.h"
#include "base/rng.h"
#include "index/segment/rank.h"
#include "index/segment/segment_check.h"
#include "index/segment/segment_internal.h"
#include "index/segment/segment_write.h"
#include "store/file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NUMBER 7
#define DOCS 400
#define CHANGE_BYTES 5
#define CHANGES_MAX 64
#define FILE_MAX (1u << 20)

static void write_term(struct segment_writer *w, struct rng *r, struct span name, uint32_t every)
{
    status st = segment_writer_term(w, name);
    bool is_special = name.p[0] == TERM_SPECIAL;
    for (uint32_t doc = every == DOCS ? 3 : 0; doc < DOCS && st == ST_OK;
         doc += 1 + (uint32_t)rng_below(r, 2 * every - 1)) {
        uint32_t positions[8] = {1, 2, 3, 4, POSITION_BODY + doc, POSITION_BODY + 1000, POSITION_BODY + 70000};
        uint32_t body = 1 + doc % 3;
        uint8_t head = doc % 50 == 0 ? 3 : 0; /* four positions of the title, three of which it counts */
        if (is_special)
            st = segment_writer_posting(w, doc, 1, 0, NULL, 0);
        else if (head)
            st = segment_writer_posting(w, doc, body, head, positions, 4 + body);
        else
            st = segment_writer_posting(w, doc, body, 0, positions + 4, body);
    }
    assert(st == ST_OK);
}

static void write_sound(const char *dir)
{
    struct segment_writer *w = NULL;
    struct rng r;
    char text[32];
    rng_seed(&r, 1);
    status st = segment_writer_new(dir, NUMBER, &w);
    for (uint32_t i = 0; i < DOCS && st == ST_OK; i++) {
        struct doc_row row = {.key = rng_u64(&r), .changed = i, .lang = (lang_code)(i % 3), .length_code = (uint8_t)i};
        snprintf(text, sizeof(text), "site%u", i % 10);
        st = segment_writer_doc(w, &row, span_str(text), SPAN("http://a/"), span_cut(SPAN("some content"), 0, i % 12));
    }
    assert(st == ST_OK);
    write_term(w, &r, SPAN("\1len"), 1);
    write_term(w, &r, SPAN("\1sa"), 5);
    for (unsigned i = 0; i < 70; i++) {
        static const uint32_t every[] = {DOCS, DOCS, 100, 40, DOCS, 60, 90, DOCS, DOCS, DOCS, 3, 2, 1};
        snprintf(text, sizeof(text), "word%c%u", 'a' + (char)(i / 10), i);
        write_term(w, &r, span_str(text), every[i / 3 % 13]);
    }
    st = segment_writer_finish(w);
    assert(st == ST_OK);
    segment_writer_free(w);
}

static const struct buf *sound_files(void)
{
    static struct buf files[SEGMENT_FILES];
    char dir[] = "/tmp/orb-fuzz-XXXXXX";
    if (files[0].n)
        return files;
    const char *made = mkdtemp(dir);
    assert(made);
    (void)made;
    write_sound(dir);
    for (unsigned i = 0; i < SEGMENT_FILES; i++) {
        struct buf path = {0};
        buf_printf(&path, "%s/", dir);
        segment_file_name(&path, NUMBER, i);
        status st = file_read(buf_cstr(&path), FILE_MAX, &files[i]);
        assert(st == ST_OK);
        buf_done(&path);
    }
    segment_remove(dir, NUMBER);
    rmdir(dir);
    return files;
}

static uint64_t body_of(const struct buf *f)
{
    return load64((const unsigned char *)f->p + f->n - CHUNKED_FOOTER_BYTES);
}

/* Another body behind the same header: table and footer are made to fit. */
static void replace_body(struct buf *f, uint64_t from, struct span rest)
{
    uint64_t body = body_of(f), size = from + rest.n;
    uint64_t chunks = (body + CHUNKED_CHUNK - 1) / CHUNKED_CHUNK;
    struct buf tail = {0}, fresh = {0};
    buf_put(&tail, span_from(buf_span(f), (size_t)(body + 4 * chunks)));
    buf_put(&fresh, span_cut(buf_span(f), 0, (size_t)from));
    buf_put(&fresh, rest);
    for (uint64_t i = 0; i < (size + CHUNKED_CHUNK - 1) / CHUNKED_CHUNK; i++)
        buf_put(&fresh, SPAN("crc?"));
    buf_put(&fresh, buf_span(&tail));
    store64((unsigned char *)fresh.p + fresh.n - CHUNKED_FOOTER_BYTES, size);
    buf_done(f);
    buf_done(&tail);
    *f = fresh;
}

static void change(struct buf files[SEGMENT_FILES], const uint8_t *data, size_t size)
{
    for (unsigned i = 0; i < CHANGES_MAX && size >= CHANGE_BYTES; i++, data += CHANGE_BYTES, size -= CHANGE_BYTES) {
        struct buf *f = &files[(data[0] & 7) % SEGMENT_FILES];
        uint64_t body = body_of(f), at = data[1] | data[2] << 8 | data[3] << 16;
        if (data[0] & 16) {
            at = CHUNKED_HEADER_BYTES + at % (body - CHUNKED_HEADER_BYTES + 1);
            replace_body(f, at, span_of(data + CHANGE_BYTES, size - CHANGE_BYTES));
            break;
        }
        if (data[0] & 8) {
            uint64_t count = load32((const unsigned char *)f->p + f->n - CHUNKED_FOOTER_BYTES + 8);
            at = f->n - CHUNKED_FOOTER_BYTES - 8 * count + at % (8 * count);
        } else {
            at = CHUNKED_HEADER_BYTES + at % (body - CHUNKED_HEADER_BYTES ? body - CHUNKED_HEADER_BYTES : 1);
        }
        f->p[at] = (char)data[4];
    }
    for (unsigned i = 0; i < SEGMENT_FILES; i++)
        reseal((unsigned char *)files[i].p, files[i].n);
}

/* ---- reading in every way ---- */

static void read_docs(const struct segment *s)
{
    uint32_t docs = segment_docs(s), n = docs < 2 * DOCS ? docs : 2 * DOCS;
    const uint8_t *codes = segment_codes(s);
    volatile uint64_t sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct doc_row row = {0};
        struct span site = {0}, url = {0}, content = {0};
        uint32_t doc;
        sum += codes[2 * i] + codes[2 * i + 1];
        if (segment_doc(s, i, &row) != ST_OK)
            continue;
        assert(row.site < segment_sites(s));
        if (segment_site(s, row.site, &site) == ST_OK && site.n)
            sum += (unsigned char)site.p[site.n - 1];
        if (segment_stored(s, i, &url, &content) == ST_OK && url.n + content.n)
            sum += (unsigned char)(content.n ? content.p[content.n - 1] : url.p[url.n - 1]);
        if (segment_find_doc(s, row.key, &doc) == ST_OK)
            assert(doc < docs);
    }
    lang_code lang;
    for (unsigned i = 0; segment_language(s, i, &lang, &n) == ST_OK; i++)
        sum += n;
    (void)sum;
}

static void scan(const struct segment *s, const struct term_info *info)
{
    struct postings p;
    static uint32_t positions[200];
    uint64_t n = 0;
    int64_t before = -1;
    for (postings_open(&p, s, info); p.doc != POSTINGS_END; postings_next(&p), n++) {
        assert(p.doc < segment_docs(s) && (int64_t)p.doc > before && p.st == ST_OK);
        before = p.doc;
        (void)postings_body(&p);
        (void)postings_head(&p);
        struct span raw = postings_positions_raw(&p);
        size_t got = postings_positions(&p, positions, 200);
        assert(got <= raw.n && got <= 200);
    }
    assert(n <= info->df && (n == info->df || p.st == ST_CORRUPT));
    assert(postings_positions(&p, positions, 200) == 0 && postings_body(&p) == 0);
}

static void seek(const struct segment *s, const struct term_info *info, uint32_t stride)
{
    struct postings p;
    uint32_t last = 0, doc = stride / 2;
    uint8_t bound;
    postings_open(&p, s, info);
    while (p.doc != POSTINGS_END && doc < segment_docs(s)) {
        if (postings_peek(&p, doc, &last, &bound))
            assert(last >= doc && last < segment_docs(s));
        uint32_t got = postings_seek(&p, doc);
        assert(got == p.doc && (got == POSTINGS_END || (got >= doc && got < segment_docs(s))));
        if (p.doc % 3 == 0 && p.doc != POSTINGS_END)
            (void)postings_positions_raw(&p);
        doc += stride;
    }
}

static void read_terms(const struct segment *s)
{
    struct dict_cursor c;
    struct term_info info;
    uint64_t n = 0;
    status st = dict_seek(&c, s, (struct span){0});
    for (; st == ST_OK && n < 500; st = dict_next(&c), n++) {
        assert(c.term.n && c.term.n <= SEGMENT_TERM_MAX && c.info.df <= segment_docs(s));
        scan(s, &c.info);
        seek(s, &c.info, 1 + (uint32_t)(n % 150));
        status found = segment_find_term(s, c.term, &info);
        assert(found == ST_OK || found == ST_NOT_FOUND || found == ST_CORRUPT);
    }
    assert(st == ST_OK || st == ST_END || st == ST_CORRUPT);
    st = dict_seek(&c, s, SPAN("wordd"));
    assert(st == ST_CORRUPT || st == ST_END || span_cmp(c.term, SPAN("wordd")) >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct buf *sound = sound_files();
    struct buf files[SEGMENT_FILES] = {0}, problem = {0};
    struct span spans[SEGMENT_FILES];
    struct segment *s = NULL;
    if (size > FILE_MAX)
        return 0;
    for (unsigned i = 0; i < SEGMENT_FILES; i++)
        buf_put(&files[i], buf_span(&sound[i]));
    change(files, data, size);
    for (unsigned i = 0; i < SEGMENT_FILES; i++) {
        /* Of the exact size, so that a byte read too far is noticed. */
        char *copy = malloc(files[i].n);
        memcpy(copy, files[i].p, files[i].n);
        spans[i] = span_of(copy, files[i].n);
    }
    status st = segment_open_spans(spans, NUMBER, &s);
    assert(st == ST_OK || st == ST_CORRUPT || st == ST_NEWER);
    if (s) {
        struct segment_counts counts;
        read_docs(s);
        read_terms(s);
        st = segment_check(s, &problem, &counts);
        assert((st == ST_OK && !problem.n) || (st == ST_CORRUPT && problem.n));
        assert(size >= CHANGE_BYTES || st == ST_OK);
        segment_free(s);
    }
    for (unsigned i = 0; i < SEGMENT_FILES; i++) {
        free((char *)(uintptr_t)spans[i].p);
        buf_done(&files[i]);
    }
    buf_done(&problem);
    return 0;
}
