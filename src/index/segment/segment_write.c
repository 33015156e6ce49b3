/* One term from start to end: segment_writer_term remembers its name; postings gather in w->block, and every 128 of
 * them leave for the postings file as a packed block, their header for w->headers; positions go straight to their file.
 * At the next term the rest of the block follows as a short one, then the headers, and the entry goes to the
 * dictionary. */
#include "index/segment/segment_write.h"

#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "index/segment/bits.h"
#include "index/segment/docs_write.h"
#include "index/segment/rank.h"

struct segment_writer {
    uint32_t number;
    char *dir; /* owned */
    bool is_finished, has_terms;
    status st; /* sticky */
    int error;
    struct rank_tables rank;
    struct docs_writer docs;
    struct chunked_writer dict, post, pos;
    /* the current term; empty: none yet */
    struct buf term;
    bool is_special;
    int64_t last;             /* document; -1: none */
    uint64_t df;              /* of the whole list */
    double block_tf, list_tf; /* the largest */
    uint64_t post_at, pos_at; /* where the list begins */
    uint64_t block_pos_at;    /* where the positions of the block begin */
    struct buf headers;
    unsigned n; /* postings in the block */
    uint32_t steps[POSTINGS_BLOCK], body[POSTINGS_BLOCK], heads[POSTINGS_BLOCK], more[POSTINGS_BLOCK];
    /* the dictionary */
    struct buf written; /* the term before, as the next one is told from it */
    struct buf index;
    uint64_t terms, body_tokens;
    struct buf scratch;
};

static status open_files(struct segment_writer *w)
{
    struct chunked_writer *files[SEGMENT_FILES] = {&w->docs.docs, &w->docs.text, &w->docs.keys,
                                                   &w->dict,      &w->post,      &w->pos};
    struct buf path = {0};
    status st = ST_OK;
    for (unsigned i = 0; i < SEGMENT_FILES && st == ST_OK; i++) {
        buf_clear(&path);
        buf_printf(&path, "%s/", w->dir);
        segment_file_name(&path, w->number, i);
        st = chunked_writer_init(files[i], buf_cstr(&path), i, w->number);
    }
    int saved = errno;
    buf_done(&path);
    errno = saved;
    return st;
}

status segment_writer_new(const char *dir, uint32_t number, struct segment_writer **out)
{
    struct segment_writer *w = mem_alloc(sizeof(*w));
    w->number = number;
    w->dir = mem_str(span_str(dir));
    rank_tables_init(&w->rank, &rank_default);
    docs_writer_init(&w->docs);
    status st = open_files(w);
    if (st == ST_OK)
        *out = w;
    else
        segment_writer_free(w);
    return st;
}

void segment_writer_free(struct segment_writer *w)
{
    if (!w)
        return;
    int saved = errno;
    docs_writer_done(&w->docs);
    chunked_writer_done(&w->dict);
    chunked_writer_done(&w->post);
    chunked_writer_done(&w->pos);
    if (!w->is_finished)
        segment_remove(w->dir, w->number);
    buf_done(&w->term);
    buf_done(&w->headers);
    buf_done(&w->written);
    buf_done(&w->index);
    buf_done(&w->scratch);
    free(w->dir);
    free(w);
    errno = saved;
}

uint32_t segment_writer_docs(const struct segment_writer *w)
{
    return w->docs.count;
}

static status fail(struct segment_writer *w, status st)
{
    if (w->st == ST_OK) {
        w->st = st;
        w->error = errno;
    }
    errno = w->error;
    return w->st;
}

/* Failures of the disk come to light here, some writes later. */
static status state_of(struct segment_writer *w)
{
    const struct chunked_writer *files[] = {&w->docs.docs, &w->docs.text, &w->dict, &w->post, &w->pos};
    for (size_t i = 0; i < sizeof(files) / sizeof(*files) && w->st == ST_OK; i++)
        if (files[i]->st != ST_OK) {
            errno = files[i]->error;
            return fail(w, files[i]->st);
        }
    return w->st == ST_OK ? ST_OK : fail(w, w->st);
}

status segment_writer_doc(struct segment_writer *w, const struct doc_row *row, struct span site, struct span url,
                          struct span content)
{
    if (w->has_terms)
        return fail(w, ST_INVALID);
    status st = state_of(w);
    if (st == ST_OK)
        st = docs_writer_add(&w->docs, row, site, url, content);
    return st == ST_OK ? ST_OK : fail(w, st);
}

/* ---- blocks ---- */

static unsigned char *put_counts(unsigned char *p, uint32_t body, uint32_t head, uint32_t more)
{
    bool has_more = head || more;
    p = put_var(p, (uint64_t)body << 1 | has_more);
    if (has_more) {
        *p++ = (unsigned char)head;
        p = put_var(p, more);
    }
    return p;
}

static void put_short_block(struct segment_writer *w)
{
    unsigned char *start = chunked_room(&w->post, (size_t)w->n * 4 * VAR_MAX), *p = start;
    for (unsigned i = 0; i < w->n; i++) {
        bool is_plain = w->body[i] == 1 && !w->heads[i] && !w->more[i];
        p = put_var(p, (uint64_t)w->steps[i] << 1 | !is_plain);
        if (!is_plain)
            p = put_counts(p, w->body[i], w->heads[i], w->more[i]);
    }
    w->post.used += (size_t)(p - start);
}

/* Most words come once in a page: counts are stored less one where all are 1 or more. */
static uint32_t lower_body(struct segment_writer *w)
{
    for (unsigned i = 0; i < POSTINGS_BLOCK; i++)
        if (!w->body[i])
            return 0;
    for (unsigned i = 0; i < POSTINGS_BLOCK; i++)
        w->body[i]--;
    return HEADER_FROM_ONE;
}

static void put_full_block(struct segment_writer *w, unsigned char widths[3])
{
    uint32_t from_one = lower_body(w);
    unsigned docs = bits_width(w->steps), body = bits_width(w->body), head = bits_width(w->heads);
    unsigned more = bits_width(w->more);
    if (more >= HEADER_WIDE)
        more = 32;
    unsigned char *start = chunked_room(&w->post, BITS_BYTES(docs + body + head + more)), *p = start;
    bits_pack(w->steps, docs, p);
    p += BITS_BYTES(docs);
    bits_pack(w->body, body, p);
    p += BITS_BYTES(body);
    bits_pack(w->heads, head, p);
    p += BITS_BYTES(head);
    bits_pack(w->more, more, p);
    p += BITS_BYTES(more);
    w->post.used += (size_t)(p - start);
    widths[0] = (unsigned char)docs;
    widths[1] = (unsigned char)(from_one | body);
    widths[2] = (unsigned char)((more == 32 ? HEADER_WIDE : more) << 4 | head);
}

/* Ends the block of a list that has headers. */
static status end_block(struct segment_writer *w)
{
    uint64_t data_at = chunked_at(&w->post) - w->post_at, pos_at = w->block_pos_at - w->pos_at;
    if (data_at > UINT32_MAX || pos_at > UINT32_MAX)
        return fail(w, ST_LIMIT);
    unsigned char *h = (unsigned char *)buf_room(&w->headers, HEADER_BYTES);
    store32(h, (uint32_t)w->last);
    store32(h + 4, (uint32_t)data_at);
    store32(h + 8, (uint32_t)pos_at);
    h[12] = rank_bound_code(w->block_tf);
    if (w->n == POSTINGS_BLOCK) {
        put_full_block(w, h + 13);
    } else {
        put_short_block(w);
        h[13] = HEADER_TAIL;
        h[14] = h[15] = 0;
    }
    w->headers.n += HEADER_BYTES;
    if (w->block_tf > w->list_tf)
        w->list_tf = w->block_tf;
    w->n = 0;
    w->block_tf = 0;
    return state_of(w);
}

/* ---- dictionary ---- */

static size_t shared_bytes(struct span a, struct span b)
{
    size_t n = a.n < b.n ? a.n : b.n, i = 0;
    while (i < n && a.p[i] == b.p[i])
        i++;
    return i;
}

static void begin_dict_block(struct segment_writer *w)
{
    unsigned char *index = (unsigned char *)buf_room(&w->index, DICT_INDEX_BYTES);
    store64(index, dict_prefix(buf_span(&w->term)));
    store64(index + 8, chunked_at(&w->dict));
    w->index.n += DICT_INDEX_BYTES;
    unsigned char *start = chunked_room(&w->dict, 2 * VAR_MAX), *p = put_var(start, w->post_at);
    p = put_var(p, w->pos_at);
    w->dict.used += (size_t)(p - start);
    buf_clear(&w->written);
}

static unsigned char *put_name(struct segment_writer *w, unsigned char *p)
{
    size_t shared = shared_bytes(buf_span(&w->written), buf_span(&w->term)), suffix = w->term.n - shared;
    *p++ = (unsigned char)((shared < 15 ? shared : 15) | (suffix - 1 < 15 ? suffix - 1 : 15) << 4);
    if (shared >= 15)
        p = put_var(p, shared - 15);
    if (suffix - 1 >= 15)
        p = put_var(p, suffix - 1 - 15);
    memcpy(p, w->term.p + shared, suffix);
    buf_clear(&w->written);
    buf_put(&w->written, buf_span(&w->term));
    return p + suffix;
}

static status put_entry(struct segment_writer *w)
{
    uint64_t post_bytes = chunked_at(&w->post) - w->post_at, pos_bytes = chunked_at(&w->pos) - w->pos_at;
    if (post_bytes > UINT32_MAX)
        return fail(w, ST_LIMIT);
    if (w->terms % DICT_BLOCK == 0)
        begin_dict_block(w);
    unsigned char *start = chunked_room(&w->dict, SEGMENT_TERM_MAX + 8 * VAR_MAX), *p = put_name(w, start);
    if (w->df == 1) {
        bool is_plain = w->body[0] == 1 && !w->heads[0];
        *p++ = !is_plain;
        p = put_var(p, (uint64_t)w->last);
        if (!is_plain) {
            p = put_var(p, w->body[0]);
            *p++ = (unsigned char)w->heads[0];
        }
    } else {
        p = put_var(p, w->df);
        p = put_var(p, post_bytes);
    }
    if (!w->is_special)
        p = put_var(p, pos_bytes);
    *p++ = rank_bound_code(w->list_tf);
    w->dict.used += (size_t)(p - start);
    w->terms++;
    return ST_OK;
}

/* Ends the current term. One without postings leaves no trace. */
static status end_term(struct segment_writer *w)
{
    if (!w->df)
        return ST_OK;
    if (w->headers.n) {
        if (w->n) {
            status st = end_block(w);
            if (st != ST_OK)
                return st;
        }
        chunked_put(&w->post, buf_span(&w->headers));
        buf_clear(&w->headers);
    } else {
        if (w->df > 1)
            put_short_block(w);
        w->list_tf = w->block_tf;
    }
    return put_entry(w);
}

status segment_writer_term(struct segment_writer *w, struct span term)
{
    status st = state_of(w);
    if (st != ST_OK)
        return st;
    if (!term.n || term.n > SEGMENT_TERM_MAX || (w->has_terms && span_cmp(buf_span(&w->term), term) >= 0))
        return fail(w, ST_INVALID);
    st = end_term(w);
    if (st != ST_OK)
        return fail(w, st);
    w->has_terms = true;
    buf_clear(&w->term);
    buf_put(&w->term, term);
    w->is_special = term.p[0] == TERM_SPECIAL;
    w->last = -1;
    w->df = 0;
    w->n = 0;
    w->block_tf = w->list_tf = 0;
    w->post_at = chunked_at(&w->post);
    w->pos_at = chunked_at(&w->pos);
    return ST_OK;
}

/* Positions are mostly of one or two bytes: a call of memcpy would cost more than all else. Returns how many. */
static inline size_t put_positions(struct chunked_writer *f, struct span s)
{
    if (s.n > 8) {
        chunked_put(f, s);
        return count_varints((const unsigned char *)s.p, s.n);
    }
    if (!s.n)
        return 0;
    unsigned char *to = chunked_room(f, 8);
    if (s.n >= 4) {
        memcpy(to, s.p, 4);
        memcpy(to + s.n - 4, s.p + s.n - 4, 4);
    } else {
        to[0] = (unsigned char)s.p[0];
        to[s.n >> 1] = (unsigned char)s.p[s.n >> 1];
        to[s.n - 1] = (unsigned char)s.p[s.n - 1];
    }
    f->used += s.n;
    return varint_ends(s.n == 8 ? load64(to) : load64(to) | UINT64_MAX << 8 * s.n);
}

status segment_writer_posting_raw(struct segment_writer *w, uint32_t doc, uint32_t body, uint8_t head,
                                  struct span positions)
{
    if (w->st != ST_OK)
        return state_of(w);
    if (!w->has_terms || doc >= w->docs.count || (int64_t)doc <= w->last || body > POSITIONS_A_DOC_MAX ||
        (w->is_special && (positions.n || body != 1 || head)))
        return fail(w, ST_INVALID);
    unsigned i = w->n;
    if (!i)
        w->block_pos_at = chunked_at(&w->pos);
    w->steps[i] = (uint32_t)((int64_t)doc - w->last - 1);
    w->body[i] = body;
    w->heads[i] = head;
    w->more[i] = 0;
    w->last = doc;
    if (!w->is_special) {
        int64_t known =
            (int64_t)body + head_count(head, HEAD_TITLE) + head_count(head, HEAD_ANCHOR) + head_count(head, HEAD_URL);
        w->more[i] = zigzag((int64_t)put_positions(&w->pos, positions) - known);
        w->body_tokens += body;
    }
    double tf = rank_tf(&w->rank, body, head, w->docs.codes[2 * (size_t)doc]);
    if (tf > w->block_tf)
        w->block_tf = tf;
    w->df++;
    w->n++;
    return w->n == POSTINGS_BLOCK ? end_block(w) : ST_OK;
}

status segment_writer_posting(struct segment_writer *w, uint32_t doc, uint32_t body, uint8_t head,
                              const uint32_t *positions, size_t position_count)
{
    uint32_t before = 0;
    buf_clear(&w->scratch);
    unsigned char *start = (unsigned char *)buf_room(&w->scratch, 5 * position_count), *p = start;
    for (size_t i = 0; i < position_count; i++) {
        if (i && positions[i] <= before)
            return fail(w, ST_INVALID);
        p = put_var(p, positions[i] - before);
        before = positions[i];
    }
    return segment_writer_posting_raw(w, doc, body, head, span_of(start, (size_t)(p - start)));
}

/* New numbers of up to `max` documents of the block from the current one on, until one that goes. */
static unsigned map_run(const struct postings *p, uint32_t base, const uint32_t *numbers, unsigned max, uint32_t *out)
{
    const uint32_t *docs = p->docs + p->at;
    unsigned n = 0;
    if (!numbers)
        for (; n < max; n++)
            out[n] = base + docs[n];
    else
        for (; n < max && numbers[docs[n]] != POSTINGS_END; n++)
            out[n] = numbers[docs[n]];
    return n;
}

/* Takes n postings of the cursor's block, now of `docs`, into ours, which has room for them. */
static status copy_run(struct segment_writer *w, struct postings *p, const uint32_t *docs, unsigned n)
{
    uint32_t rises = 1;
    for (unsigned i = 1; i < n; i++)
        rises &= docs[i] > docs[i - 1];
    if (!rises || docs[0] <= w->last || docs[n - 1] >= w->docs.count)
        return fail(w, ST_INVALID);
    const uint8_t *heads = p->heads + p->at;
    struct span positions = postings_positions_run(p, n);
    if (!positions.p)
        return ST_CORRUPT;
    unsigned to = w->n;
    if (!to)
        w->block_pos_at = chunked_at(&w->pos);
    w->steps[to] = (uint32_t)(docs[0] - w->last - 1);
    for (unsigned i = 1; i < n; i++)
        w->steps[to + i] = docs[i] - docs[i - 1] - 1;
    memcpy(w->body + to, p->body + p->at, n * sizeof(*w->body));
    memcpy(w->more + to, p->more + p->at, n * sizeof(*w->more));
    double most = w->block_tf;
    uint64_t tokens = 0;
    for (unsigned i = 0; i < n; i++) {
        uint32_t body = w->body[to + i];
        uint8_t head = heads[i];
        double tf = rank_tf(&w->rank, body, head, w->docs.codes[2 * (size_t)docs[i]]);
        w->heads[to + i] = head;
        tokens += body;
        most = tf > most ? tf : most;
    }
    w->block_tf = most;
    w->body_tokens += w->is_special ? 0 : tokens;
    w->last = docs[n - 1];
    w->df += n;
    w->n += n;
    chunked_put(&w->pos, positions);
    return w->n == POSTINGS_BLOCK ? end_block(w) : ST_OK;
}

static status copy_one(struct segment_writer *w, struct postings *p, uint32_t doc)
{
    uint32_t body = postings_body(p);
    uint8_t head = postings_head(p);
    struct span positions = postings_positions_raw(p);
    return p->st == ST_OK ? segment_writer_posting_raw(w, doc, body, head, positions) : p->st;
}

status segment_writer_copy(struct segment_writer *w, struct postings *p, uint32_t base, const uint32_t *numbers)
{
    status st = w->st == ST_OK ? ST_OK : state_of(w);
    if (!w->has_terms || p->info.has_positions == w->is_special)
        return fail(w, ST_INVALID);
    while (st == ST_OK && p->doc != POSTINGS_END) {
        uint32_t docs[POSTINGS_BLOCK], left = p->count - p->at, room = POSTINGS_BLOCK - w->n;
        unsigned n = map_run(p, base, numbers, left < room ? left : room, docs);
        if (n && p->info.df == 1)
            st = copy_one(w, p, docs[0]);
        else if (n && postings_counts(p))
            st = copy_run(w, p, docs, n);
        if (st == ST_OK && p->doc != POSTINGS_END) {
            p->at += n ? n - 1 : 0;
            p->doc = p->docs[p->at];
            postings_next(p);
        }
    }
    return st == ST_OK ? p->st : st;
}

status segment_writer_finish(struct segment_writer *w)
{
    status st = state_of(w);
    if (st == ST_OK)
        st = end_term(w);
    if (st != ST_OK)
        return fail(w, st);
    uint64_t info[DICT_INFO] = {
        [INFO_DOCS] = w->docs.count,
        [DICT_TERMS] = w->terms,
        [DICT_INDEX_AT] = chunked_at(&w->dict),
        [DICT_BODY_TOKENS] = w->body_tokens,
    };
    w->df = 0; /* a second call must not write the term again */
    chunked_put(&w->dict, buf_span(&w->index));
    st = docs_writer_finish(&w->docs);
    if (st == ST_OK)
        st = chunked_finish(&w->dict, info, DICT_INFO);
    if (st == ST_OK)
        st = chunked_finish(&w->post, info, INFO_COMMON);
    if (st == ST_OK)
        st = chunked_finish(&w->pos, info, INFO_COMMON);
    w->is_finished = st == ST_OK;
    return st == ST_OK ? ST_OK : fail(w, st);
}
