/* phrase.c - positions of the rarest word first; those of each further word only sort out.
 *
 *     "to be or"    rarest: or  7 90 512        at - 1: be  6 88 511      at - 2: to  5 510
 *                               7 -- 512                   7     512                7 512      two rows
 *
 * Short lists are compared each with each, without a branch to guess wrong. Long ones, of words that are everywhere,
 * are not even decoded: eight steps at a time are added up until they reach the place that is asked for. */
#include "index/search/phrase.h"

#include <stdlib.h>

#include "base/mem.h"
#include "index/segment/segment_internal.h"
#include "index/segment/segment_write.h"

#define POSITIONS_FIRST 1024  /* room for most pages at once */
#define POSITIONS_PAD 4       /* places past the last that may be read, and never match */
#define POSITIONS_PAIRS 1024u /* so many pairs are compared each with each */
#define STREAM_LEAST 12       /* positions that are worth it */

typedef uint32_t four __attribute__((vector_size(16)));

static int compare_u32(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void positions_add(struct positions *out, struct postings *p)
{
    const size_t most = POSITION_BODY + POSITIONS_A_DOC_MAX;
    for (size_t room = POSITIONS_FIRST;; room *= 4) {
        if (out->cap < out->n + room + POSITIONS_PAD)
            out->p = mem_grow(out->p, &out->cap, out->n + room + POSITIONS_PAD, sizeof(*out->p));
        size_t n = postings_positions(p, out->p + out->n, room);
        if (n < room || n >= most) {
            out->n += n;
            return;
        }
    }
}

static void merge_positions(struct word_cursor *w, uint32_t doc, struct positions *out)
{
    unsigned lists = 0;
    out->n = 0;
    for (unsigned i = 0; i < w->alt_count; i++) {
        if (w->alts[i].doc != doc)
            continue;
        positions_add(out, &w->alts[i]);
        lists++;
    }
    if (lists > 1 && out->n)
        qsort(out->p, out->n, sizeof(*out->p), compare_u32);
    if (lists)
        memset(out->p + out->n, 0xff, POSITIONS_PAD * sizeof(*out->p));
}

static inline void word_positions(struct word_cursor *w, uint32_t doc, struct positions *out)
{
    if (w->alt_count == 1 && out->cap >= POSITIONS_FIRST + POSITIONS_PAD) {
        out->n = postings_positions(w->alts, out->p, POSITIONS_FIRST);
        memset(out->p + out->n, 0xff, POSITIONS_PAD * sizeof(*out->p));
        if (out->n < POSITIONS_FIRST)
            return;
    }
    merge_positions(w, doc, out);
}

/* ---- positions that are not decoded ---- */

struct stream {
    const unsigned char *p, *end;
    uint32_t position; /* UINT32_MAX: through */
};

static void stream_step(struct stream *s)
{
    uint32_t step;
    if (!var32(&s->p, s->end, &step))
        s->position = UINT32_MAX;
    else
        s->position += step;
}

static void stream_init(struct stream *s, struct span raw)
{
    s->p = (const unsigned char *)raw.p;
    s->end = s->p + raw.n;
    s->position = 0;
    stream_step(s);
}

static uint32_t sum_of_bytes(uint64_t word)
{
    const uint64_t evens = 0x00ff00ff00ff00ffu;
    return (uint32_t)(((word & evens) + (word >> 8 & evens)) * 0x0001000100010001u >> 48);
}

/* Never goes back. */
static bool stream_has(struct stream *s, uint32_t want)
{
    while (s->position < want) {
        if (s->end - s->p >= 8) {
            uint64_t word = load64(s->p);
            uint32_t sum = sum_of_bytes(word);
            if (!(word & VARINT_TOPS) && s->position + sum < want) {
                s->position += sum;
                s->p += 8;
                continue;
            }
        }
        stream_step(s);
    }
    return s->position == want;
}

static void keep_by_stream(struct positions *s, struct postings *p, int by)
{
    struct stream with;
    size_t kept = 0;
    stream_init(&with, postings_positions_raw(p));
    for (size_t i = 0; i < s->n; i++)
        if ((int64_t)s->p[i] + by >= 0 && stream_has(&with, s->p[i] + (uint32_t)by))
            s->p[kept++] = s->p[i];
    s->n = kept;
}

/* ---- positions that are ---- */

static bool has_position(const struct positions *s, uint32_t want)
{
    four all = {want, want, want, want}, found = {0}, v;
    uint64_t halves[2];
    for (size_t i = 0; i < s->n; i += 4) {
        memcpy(&v, s->p + i, sizeof(v));
        found |= (four)(v == all);
    }
    memcpy(halves, &found, sizeof(halves));
    return (halves[0] | halves[1]) != 0;
}

static void keep_by_list(struct positions *s, const struct positions *with, int by)
{
    size_t kept = 0, k = 0;
    if (s->n * with->n <= POSITIONS_PAIRS) {
        for (size_t i = 0; i < s->n; i++)
            if (has_position(with, s->p[i] + (uint32_t)by))
                s->p[kept++] = s->p[i];
    } else {
        for (size_t i = 0; i < s->n; i++) {
            int64_t want = (int64_t)s->p[i] + by;
            while (k < with->n && with->p[k] < want)
                k++;
            if (k < with->n && with->p[k] == want)
                s->p[kept++] = s->p[i];
        }
    }
    s->n = kept;
}

/* Keeps the positions found that have one of the word's `by` further on; `by` may be negative. */
static void keep(struct matcher *m, struct word_cursor *w, uint32_t doc, int by)
{
    if (w->alt_count == 1 && postings_body(w->alts) >= STREAM_LEAST) {
        keep_by_stream(&m->found, w->alts, by);
    } else {
        word_positions(w, doc, &m->next);
        keep_by_list(&m->found, &m->next, by);
    }
}

/* ---- rows ---- */

/* The end of the field that a position is in: rows of words do not reach from one into the next. */
static uint32_t field_end(uint32_t position)
{
    return position < POSITION_ANCHORS ? POSITION_ANCHORS
           : position < POSITION_URL   ? POSITION_URL
           : position < POSITION_BODY  ? POSITION_BODY
                                       : UINT32_MAX;
}

/* Does a row of `count` words, one of which stands at `position` as number `at`, lie within the field? */
static bool lies_in(uint32_t position, unsigned at, unsigned count, uint8_t field)
{
    if (position < at)
        return false;
    uint32_t start = position - at, end = field_end(start);
    bool is_there = field == ATOM_TITLE ? end == POSITION_ANCHORS : field == ATOM_URL ? end == POSITION_BODY : true;
    return is_there && (uint64_t)start + count <= end;
}

bool phrase_is_in_a_row(struct matcher *m, struct atom_cursor *a)
{
    int first = (int)(a->order[0] - a->words);
    word_positions(a->order[0], a->doc, &m->found);
    for (unsigned i = 1; i < a->word_count && m->found.n; i++)
        keep(m, a->order[i], a->doc, (int)(a->order[i] - a->words) - first);
    for (size_t i = 0; i < m->found.n; i++)
        if (lies_in(m->found.p[i], (unsigned)first, a->word_count, a->atom->field))
            return true;
    return false;
}
