#include "index/segment/segment_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "index/segment/segment_write.h"
#include "store/file.h"

__extension__ typedef unsigned __int128 u128;

static const char *const extensions[SEGMENT_FILES] = {"docs", "text", "keys", "dict", "post", "pos"};
static const uint32_t info_counts[SEGMENT_FILES] = {DOCS_INFO, INFO_COMMON, INFO_COMMON,
                                                    DICT_INFO, INFO_COMMON, INFO_COMMON};

void segment_file_name(struct buf *out, uint32_t number, unsigned i)
{
    buf_printf(out, "%08x.%s", number, extensions[i]);
}

bool segment_parse_name(const char *name, uint32_t *number)
{
    struct span s = span_str(name);
    uint32_t v = 0;
    if (s.n < 9 || s.p[8] != '.')
        return false;
    for (size_t i = 0; i < 8; i++) {
        int digit = ascii_hex(s.p[i]);
        if (digit < 0 || (s.p[i] >= 'A' && s.p[i] <= 'F'))
            return false;
        v = v << 4 | (uint32_t)digit;
    }
    for (unsigned i = 0; i < SEGMENT_FILES; i++)
        if (span_is(span_from(s, 9), extensions[i])) {
            *number = v;
            return true;
        }
    return false;
}

static void file_path(struct buf *out, const char *dir, uint32_t number, unsigned i)
{
    buf_clear(out);
    buf_printf(out, "%s/", dir);
    segment_file_name(out, number, i);
    (void)buf_cstr(out);
}

void segment_remove(const char *dir, uint32_t number)
{
    int saved = errno;
    struct buf path = {0};
    for (unsigned i = 0; i < SEGMENT_FILES; i++) {
        file_path(&path, dir, number, i);
        unlink(path.p);
    }
    buf_done(&path);
    errno = saved;
}

/* ---- opening ---- */

static status set_docs(struct segment *s)
{
    const struct chunked *f = &s->files[FILE_DOCS];
    uint64_t sites = f->info[DOCS_SITES], site_bytes = f->info[DOCS_SITE_BYTES], langs = f->info[DOCS_LANGUAGES];
    if (sites > s->docs || langs > s->docs || site_bytes > f->body || f->info[DOCS_PRIOR_MAX] > UINT8_MAX ||
        f->info[DOCS_NEWEST] > UINT32_MAX)
        return ST_CORRUPT;
    s->sites = (uint32_t)sites;
    s->languages = (uint32_t)langs;
    s->codes_at = CHUNKED_HEADER_BYTES + ROW_BYTES * (uint64_t)s->docs;
    s->site_ends_at = s->codes_at + 2 * (uint64_t)s->docs;
    s->site_names_at = s->site_ends_at + 4 * sites;
    s->languages_at = s->site_names_at + site_bytes;
    if (f->body != s->languages_at + LANGUAGE_BYTES * langs)
        return ST_CORRUPT;
    s->codes = chunked_get(f, s->codes_at, 2 * (uint64_t)s->docs);
    return s->codes ? ST_OK : ST_CORRUPT;
}

static status set_dict(struct segment *s)
{
    const struct chunked *f = &s->files[FILE_DICT];
    uint64_t terms = f->info[DICT_TERMS], index_at = f->info[DICT_INDEX_AT];
    uint64_t blocks = terms / DICT_BLOCK + (terms % DICT_BLOCK != 0);
    if (index_at < CHUNKED_HEADER_BYTES || index_at > f->body || blocks > UINT32_MAX ||
        blocks * DICT_INDEX_BYTES != f->body - index_at)
        return ST_CORRUPT;
    s->terms = terms;
    s->dict_blocks = (uint32_t)blocks;
    s->dict_index_at = index_at;
    s->body_tokens = f->info[DICT_BODY_TOKENS];
    return ST_OK;
}

/* All files are open. */
static status set_up(struct segment *s)
{
    uint64_t docs = s->files[FILE_DOCS].info[INFO_DOCS];
    for (unsigned i = 0; i < SEGMENT_FILES; i++)
        if (s->files[i].info_count != info_counts[i] || s->files[i].info[INFO_DOCS] != docs)
            return ST_CORRUPT;
    if (docs > SEGMENT_DOCS_MAX || s->files[FILE_KEYS].body != CHUNKED_HEADER_BYTES + 12 * docs)
        return ST_CORRUPT;
    s->docs = (uint32_t)docs;
    status st = set_docs(s);
    return st == ST_OK ? set_dict(s) : st;
}

status segment_open(const char *dir, uint32_t number, struct segment **out)
{
    struct segment *s = mem_alloc(sizeof(*s));
    struct buf path = {0};
    status st = ST_OK;
    s->number = number;
    for (unsigned i = 0; i < SEGMENT_FILES && st == ST_OK; i++) {
        file_path(&path, dir, number, i);
        st = chunked_open(&s->files[i], path.p, i, number);
    }
    if (st == ST_OK)
        st = set_up(s);
    int saved = errno;
    if (st == ST_OK)
        *out = s;
    else
        segment_free(s);
    buf_done(&path);
    errno = saved;
    return st;
}

status segment_open_spans(const struct span files[SEGMENT_FILES], uint32_t number, struct segment **out)
{
    struct segment *s = mem_alloc(sizeof(*s));
    status st = ST_OK;
    s->number = number;
    for (unsigned i = 0; i < SEGMENT_FILES && st == ST_OK; i++)
        st = chunked_open_span(&s->files[i], files[i], i, number);
    if (st == ST_OK)
        st = set_up(s);
    if (st == ST_OK)
        *out = s;
    else
        segment_free(s);
    return st;
}

void segment_free(struct segment *s)
{
    if (!s)
        return;
    for (unsigned i = 0; i < SEGMENT_FILES; i++)
        chunked_close(&s->files[i]);
    free(s);
}

void segment_guard(struct segment *s)
{
    for (unsigned i = 0; i < SEGMENT_FILES; i++)
        if (s->files[i].map)
            mapped_guard(s->files[i].map);
}

bool segment_is_lost(const struct segment *s)
{
    bool is_lost = false;
    for (unsigned i = 0; i < SEGMENT_FILES; i++)
        is_lost |= s->files[i].map && mapped_is_lost(s->files[i].map);
    return is_lost;
}

uint32_t segment_number(const struct segment *s)
{
    return s->number;
}

uint32_t segment_docs(const struct segment *s)
{
    return s->docs;
}

uint64_t segment_terms(const struct segment *s)
{
    return s->terms;
}

uint64_t segment_bytes(const struct segment *s)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < SEGMENT_FILES; i++)
        n += s->files[i].file_bytes;
    return n;
}

uint64_t segment_body_tokens(const struct segment *s)
{
    return s->body_tokens;
}

uint8_t segment_prior_max(const struct segment *s)
{
    return (uint8_t)s->files[FILE_DOCS].info[DOCS_PRIOR_MAX];
}

uint32_t segment_newest(const struct segment *s)
{
    return (uint32_t)s->files[FILE_DOCS].info[DOCS_NEWEST];
}

/* ---- documents ---- */

status segment_doc(const struct segment *s, uint32_t doc, struct doc_row *out)
{
    if (doc >= s->docs)
        return ST_NOT_FOUND;
    const unsigned char *p =
        chunked_get(&s->files[FILE_DOCS], CHUNKED_HEADER_BYTES + ROW_BYTES * (uint64_t)doc, ROW_BYTES);
    if (!p || load32(p + 44) >= s->sites)
        return ST_CORRUPT;
    *out = (struct doc_row){
        .key = load64(p),
        .fetch_number = load64(p + 8),
        .digest = load64(p + 16),
        .group = load64(p + 24),
        .fetched = load32(p + 32),
        .changed = load32(p + 36),
        .anchors_digest = load32(p + 40),
        .site = load32(p + 44),
        .lang = (lang_code)(p[48] | p[49] << 8),
        .flags = p[50],
        .length_code = s->codes[2 * (size_t)doc],
        .prior_code = s->codes[2 * (size_t)doc + 1],
        .stored_bytes = load32(p + 52),
        .stored_at = load64(p + 56),
    };
    return ST_OK;
}

lang_code segment_doc_language(const struct segment *s, uint32_t doc)
{
    const unsigned char *p =
        doc < s->docs ? chunked_get(&s->files[FILE_DOCS], CHUNKED_HEADER_BYTES + ROW_BYTES * (uint64_t)doc, ROW_BYTES)
                      : NULL;
    return p ? (lang_code)(p[48] | p[49] << 8) : 0;
}

const uint8_t *segment_codes(const struct segment *s)
{
    return s->codes;
}

status segment_stored(const struct segment *s, uint32_t doc, struct span *url, struct span *content)
{
    struct doc_row row;
    status st = segment_doc(s, doc, &row);
    if (st != ST_OK)
        return st;
    const unsigned char *p = chunked_get(&s->files[FILE_TEXT], row.stored_at, row.stored_bytes);
    if (!p || row.stored_at < CHUNKED_HEADER_BYTES)
        return ST_CORRUPT;
    const unsigned char *end = p + row.stored_bytes;
    uint32_t n;
    if (!var32(&p, end, &n) || n > (size_t)(end - p))
        return ST_CORRUPT;
    *url = span_of(p, n);
    *content = span_of(p + n, (size_t)(end - p) - n);
    return ST_OK;
}

uint32_t segment_sites(const struct segment *s)
{
    return s->sites;
}

status segment_site(const struct segment *s, uint32_t site, struct span *name)
{
    const struct chunked *f = &s->files[FILE_DOCS];
    if (site >= s->sites)
        return ST_NOT_FOUND;
    uint64_t first = site ? site - 1 : 0, count = site ? 2 : 1;
    const unsigned char *ends = chunked_get(f, s->site_ends_at + 4 * first, 4 * count);
    if (!ends)
        return ST_CORRUPT;
    uint32_t from = site ? load32(ends) : 0, to = load32(ends + 4 * (count - 1));
    if (from > to || to > s->languages_at - s->site_names_at)
        return ST_CORRUPT;
    const unsigned char *p = chunked_get(f, s->site_names_at + from, to - from);
    if (!p)
        return ST_CORRUPT;
    *name = span_of(p, to - from);
    return ST_OK;
}

status segment_language(const struct segment *s, unsigned i, lang_code *lang, uint32_t *docs)
{
    if (i >= s->languages)
        return ST_END;
    const unsigned char *p =
        chunked_get(&s->files[FILE_DOCS], s->languages_at + LANGUAGE_BYTES * (uint64_t)i, LANGUAGE_BYTES);
    if (!p)
        return ST_CORRUPT;
    *lang = (lang_code)(p[0] | p[1] << 8);
    *docs = load32(p + 4);
    return ST_OK;
}

/* ---- keys ---- */

/* After this many guesses the keys are not spread evenly, and halving takes over. */
#define GUESSES 6
/* So near, the rest is halved. */
#define NEAR_KEYS 32

struct key_range {
    uint64_t lo, hi; /* the answer is in lo .. hi */
    status st;
};

static uint64_t key_at(const struct segment *s, uint64_t i, status *st)
{
    const unsigned char *p = chunked_get(&s->files[FILE_KEYS], CHUNKED_HEADER_BYTES + 8 * i, 8);
    if (!p)
        *st = ST_CORRUPT;
    return p ? load64(p) : 0;
}

/* Keys are hashes: key k of n is near k / n of the way. Each guess tells how far it is to go. */
static void narrow(const struct segment *s, uint64_t key, struct key_range *r)
{
    uint64_t guess = (uint64_t)(((u128)key * s->docs) >> 64);
    for (int i = 0; i < GUESSES && r->hi - r->lo > NEAR_KEYS && r->st == ST_OK; i++) {
        guess = guess < r->lo ? r->lo : guess >= r->hi ? r->hi - 1 : guess;
        uint64_t there = key_at(s, guess, &r->st);
        uint64_t far = (uint64_t)(((u128)(there < key ? key - there : there - key) * s->docs) >> 64) + NEAR_KEYS / 4;
        if (there <= key) {
            r->lo = guess + 1;
            guess = r->lo + far;
        } else {
            r->hi = guess;
            guess = far < r->hi ? r->hi - far : 0;
        }
    }
}

/* Finds the first key above, which is one past the last that is equal. */
status segment_find_doc(const struct segment *s, uint64_t key, uint32_t *doc)
{
    struct key_range r = {0, s->docs, ST_OK};
    narrow(s, key, &r);
    while (r.lo < r.hi && r.st == ST_OK) {
        uint64_t mid = r.lo + (r.hi - r.lo) / 2;
        if (key_at(s, mid, &r.st) <= key)
            r.lo = mid + 1;
        else
            r.hi = mid;
    }
    if (r.st != ST_OK)
        return r.st;
    if (!r.lo || key_at(s, r.lo - 1, &r.st) != key)
        return r.st == ST_OK ? ST_NOT_FOUND : r.st;
    const unsigned char *p =
        chunked_get(&s->files[FILE_KEYS], CHUNKED_HEADER_BYTES + 8 * (uint64_t)s->docs + 4 * (r.lo - 1), 4);
    if (!p || load32(p) >= s->docs)
        return ST_CORRUPT;
    *doc = load32(p);
    return ST_OK;
}
