#include "index/segment/segment_check.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "index/segment/rank.h"
#include "index/segment/segment_internal.h"
#include "index/segment/segment_write.h"

struct checker {
    const struct segment *s;
    struct buf *problem;
    struct segment_counts *counts;
    struct rank_tables rank;
    uint64_t body_tokens;
    struct postings postings;
    uint32_t *positions; /* owned: those of one posting */
    size_t positions_cap;
    struct buf shown;
    char before[SEGMENT_TERM_MAX]; /* the term before */
    size_t before_n;
    uint64_t post_at, pos_at; /* where the next term's begin: lists lie end to end, in the order of their terms */
};

static status wrong(struct checker *c, const char *fmt, ...) PRINTF_LIKE(2, 3);
static status wrong(struct checker *c, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    buf_printf(c->problem, "segment %08x: ", c->s->number);
    buf_vprintf(c->problem, fmt, ap);
    va_end(ap);
    return ST_CORRUPT;
}

/* A term as it may be shown: it comes from outside, and may be damaged. The next call takes it back. */
static const char *show(struct checker *c, struct span term)
{
    bool is_text = utf8_is_valid(term);
    buf_clear(&c->shown);
    for (size_t i = 0; i < term.n; i++) {
        unsigned char b = (unsigned char)term.p[i];
        bool is_c1 = b == 0xC2 && i + 1 < term.n && (unsigned char)term.p[i + 1] < 0xA0;
        if (b < 0x20 || b == 0x7F || is_c1 || (b >= 0x80 && !is_text))
            buf_printf(&c->shown, "\\x%02x", b);
        else
            buf_putc(&c->shown, (char)b);
    }
    return buf_cstr(&c->shown);
}

static status check_sums(struct checker *c)
{
    for (unsigned i = 0; i < SEGMENT_FILES; i++)
        if (chunked_check_all(&c->s->files[i]) != ST_OK) {
            struct buf name = {0};
            segment_file_name(&name, c->s->number, i);
            status st = wrong(c, "checksum of %s does not match", buf_cstr(&name));
            buf_done(&name);
            return st;
        }
    return ST_OK;
}

/* ---- documents ---- */

static status check_sites(struct checker *c)
{
    for (uint32_t i = 0; i < c->s->sites; i++) {
        struct span name;
        if (segment_site(c->s, i, &name) != ST_OK)
            return wrong(c, "site %u of %u has no name", i, c->s->sites);
    }
    return ST_OK;
}

static status check_languages(struct checker *c, const uint32_t *counted)
{
    uint64_t sum = 0;
    uint32_t before = UINT32_MAX;
    for (unsigned i = 0; i < c->s->languages; i++) {
        lang_code lang;
        uint32_t docs;
        if (segment_language(c->s, i, &lang, &docs) != ST_OK || docs != counted[lang] || docs > before)
            return wrong(c, "count of language %u is not right", i);
        sum += before = docs;
    }
    return sum == c->s->docs ? ST_OK : wrong(c, "languages do not sum up to the documents");
}

static status check_row(struct checker *c, uint32_t doc, uint64_t *text_at)
{
    struct doc_row row;
    struct span url, content;
    if (segment_doc(c->s, doc, &row) != ST_OK)
        return wrong(c, "row of document %u cannot be read", doc);
    if (row.stored_at != *text_at || segment_stored(c->s, doc, &url, &content) != ST_OK)
        return wrong(c, "stored record of document %u cannot be read", doc);
    *text_at += row.stored_bytes;
    return ST_OK;
}

static status check_docs(struct checker *c)
{
    const struct segment *s = c->s;
    uint32_t *languages = mem_alloc(65536 * sizeof(*languages));
    uint64_t text_at = CHUNKED_HEADER_BYTES;
    uint8_t prior_max = 0;
    uint32_t newest = 0;
    status st = ST_OK;
    for (uint32_t i = 0; i < s->docs && st == ST_OK; i++) {
        struct doc_row row;
        st = check_row(c, i, &text_at);
        if (st != ST_OK || segment_doc(s, i, &row) != ST_OK)
            break;
        languages[row.lang]++;
        prior_max = row.prior_code > prior_max ? row.prior_code : prior_max;
        newest = row.changed > newest ? row.changed : newest;
        c->counts->docs++;
    }
    if (st == ST_OK && text_at != s->files[FILE_TEXT].body)
        st = wrong(c, "stored records end at %llu of %llu bytes", (unsigned long long)text_at,
                   (unsigned long long)s->files[FILE_TEXT].body);
    if (st == ST_OK && (prior_max != segment_prior_max(s) || newest != segment_newest(s)))
        st = wrong(c, "bounds of prior or change time are not right");
    if (st == ST_OK)
        st = check_languages(c, languages);
    free(languages);
    return st;
}

/* Every document once, in the order of keys: n entries that are in strict order and name the right keys are all. */
static status check_keys(struct checker *c)
{
    const struct segment *s = c->s;
    const unsigned char *keys = chunked_get(&s->files[FILE_KEYS], CHUNKED_HEADER_BYTES, 12 * (uint64_t)s->docs);
    if (!keys)
        return wrong(c, "keys cannot be read");
    const unsigned char *docs = keys + 8 * (size_t)s->docs;
    for (uint32_t i = 0; i < s->docs; i++) {
        struct doc_row row;
        uint64_t key = load64(keys + 8 * (size_t)i);
        uint32_t doc = load32(docs + 4 * (size_t)i);
        if (segment_doc(s, doc, &row) != ST_OK || row.key != key)
            return wrong(c, "key %u names document %u, which has another", i, doc);
        if (!i)
            continue;
        uint64_t before = load64(keys + 8 * (size_t)(i - 1));
        if (before > key || (before == key && load32(docs + 4 * (size_t)(i - 1)) >= doc))
            return wrong(c, "keys %u and %u are not in order", i - 1, i);
    }
    return ST_OK;
}

/* ---- terms ---- */

static uint8_t up_to_three(uint8_t head, int shift, unsigned count)
{
    return (uint8_t)(head | (count < 3 ? count : 3) << shift);
}

/* The positions of a field are as many as it counts. Headings have none of their own. */
static bool counts_match(const uint32_t *positions, size_t n, uint32_t body, uint8_t head)
{
    unsigned title = 0, anchors = 0, url = 0, in_body = 0;
    for (size_t i = 0; i < n; i++) {
        title += positions[i] < POSITION_ANCHORS;
        anchors += positions[i] >= POSITION_ANCHORS && positions[i] < POSITION_URL;
        url += positions[i] >= POSITION_URL && positions[i] < POSITION_BODY;
        in_body += positions[i] >= POSITION_BODY;
    }
    uint8_t want = (uint8_t)(head & 3u << HEAD_HEADING);
    want = up_to_three(want, HEAD_TITLE, title);
    want = up_to_three(want, HEAD_ANCHOR, anchors);
    want = up_to_three(want, HEAD_URL, url);
    return in_body == body && want == head;
}

static status check_positions(struct checker *c, struct span term, uint32_t body, uint8_t head)
{
    struct postings *p = &c->postings;
    struct span raw = postings_positions_raw(p);
    c->positions = mem_grow(c->positions, &c->positions_cap, raw.n + 1, sizeof(*c->positions));
    size_t n = postings_positions(p, c->positions, c->positions_cap);
    if (p->st != ST_OK)
        return wrong(c, "positions of '%s' cannot be read", show(c, term));
    for (size_t i = 1; i < n; i++)
        if (c->positions[i] <= c->positions[i - 1])
            return wrong(c, "positions of '%s' in document %u are not in order", show(c, term), p->doc);
    if (!counts_match(c->positions, n, body, head))
        return wrong(c, "'%s' in document %u has other positions than counts", show(c, term), p->doc);
    c->counts->positions += n;
    return ST_OK;
}

static status check_posting(struct checker *c, struct span term)
{
    struct postings *p = &c->postings;
    uint32_t body = postings_body(p), last = 0;
    uint8_t head = postings_head(p), bound = 0;
    double tf = rank_tf(&c->rank, body, head, c->s->codes[2 * (size_t)p->doc]);
    if (!postings_peek(p, p->doc, &last, &bound) || last < p->doc)
        return wrong(c, "block of '%s' that has document %u is not found", show(c, term), p->doc);
    if (tf > rank_bound_of(bound) || bound > p->info.bound)
        return wrong(c, "'%s' in document %u is above its bound", show(c, term), p->doc);
    c->counts->postings++;
    if (!p->info.has_positions)
        return body == 1 && !head ? ST_OK : wrong(c, "'%s' has counts, and is no word", show(c, term));
    c->body_tokens += body;
    return check_positions(c, term, body, head);
}

static status check_term(struct checker *c, const struct dict_cursor *d)
{
    struct postings *p = &c->postings;
    uint64_t n = 0;
    int64_t before = -1;
    postings_open(p, c->s, &d->info);
    for (; p->doc != POSTINGS_END; postings_next(p), n++) {
        if ((int64_t)p->doc <= before)
            return wrong(c, "documents of '%s' are not in order", show(c, d->term));
        before = p->doc;
        status st = check_posting(c, d->term);
        if (st != ST_OK)
            return st;
        if (d->info.has_positions && p->at + 1 == p->count && p->pos_after != p->pos_end)
            return wrong(c, "'%s' has more positions than its counts say", show(c, d->term));
    }
    if (p->st != ST_OK)
        return wrong(c, "postings of '%s' cannot be read", show(c, d->term));
    return n == d->info.df ? ST_OK : wrong(c, "'%s' is not in as many documents as it says", show(c, d->term));
}

static status check_entry(struct checker *c, const struct dict_cursor *d)
{
    const struct segment *s = c->s;
    struct term_info found;
    if (c->before_n && span_cmp(span_of(c->before, c->before_n), d->term) >= 0)
        return wrong(c, "term '%s' is not in order", show(c, d->term));
    memcpy(c->before, d->term.p, c->before_n = d->term.n);
    if (d->info.post_at != c->post_at || d->info.pos_at != c->pos_at)
        return wrong(c, "postings of '%s' are not where those before end", show(c, d->term));
    c->post_at += d->info.post_bytes;
    c->pos_at += d->info.pos_bytes;
    uint64_t at = s->dict_index_at + DICT_INDEX_BYTES * (uint64_t)d->block;
    const unsigned char *index = chunked_get(&s->files[FILE_DICT], at, DICT_INDEX_BYTES);
    if (!index || (d->in_block == 1 && load64(index) != dict_prefix(d->term)))
        return wrong(c, "the index of terms does not name '%s'", show(c, d->term));
    if (segment_find_term(s, d->term, &found) != ST_OK || found.post_at != d->info.post_at)
        return wrong(c, "term '%s' is not found by its name", show(c, d->term));
    return ST_OK;
}

static status check_terms(struct checker *c)
{
    const struct segment *s = c->s;
    struct dict_cursor d;
    c->post_at = c->pos_at = CHUNKED_HEADER_BYTES;
    status st = dict_seek(&d, s, (struct span){0});
    for (; st == ST_OK; st = dict_next(&d)) {
        st = check_entry(c, &d);
        if (st == ST_OK)
            st = check_term(c, &d);
        if (st != ST_OK)
            return st;
        c->counts->terms++;
    }
    if (st != ST_END || c->counts->terms != s->terms)
        return wrong(c, "the dictionary cannot be read past term %llu", (unsigned long long)c->counts->terms);
    if (c->post_at != s->files[FILE_POST].body || c->pos_at != s->files[FILE_POS].body)
        return wrong(c, "there are postings or positions of no term");
    return c->body_tokens == s->body_tokens ? ST_OK : wrong(c, "the sum of body counts is not right");
}

status segment_check(const struct segment *s, struct buf *problem, struct segment_counts *out)
{
    struct checker *c = mem_alloc(sizeof(*c));
    *out = (struct segment_counts){0};
    *c = (struct checker){.s = s, .problem = problem, .counts = out};
    rank_tables_init(&c->rank, &rank_default);
    status st = check_sums(c);
    if (st == ST_OK)
        st = check_sites(c);
    if (st == ST_OK)
        st = check_docs(c);
    if (st == ST_OK)
        st = check_keys(c);
    if (st == ST_OK)
        st = check_terms(c);
    free(c->positions);
    buf_done(&c->shown);
    free(c);
    return st;
}
