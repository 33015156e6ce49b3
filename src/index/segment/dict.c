#include "index/segment/segment_internal.h"

static const unsigned char *index_entry(const struct segment *s, uint32_t block)
{
    return chunked_get(&s->files[FILE_DICT], s->dict_index_at + DICT_INDEX_BYTES * (uint64_t)block, DICT_INDEX_BYTES);
}

static uint32_t terms_in(const struct segment *s, uint32_t block)
{
    uint64_t before = (uint64_t)block * DICT_BLOCK;
    return s->terms - before < DICT_BLOCK ? (uint32_t)(s->terms - before) : DICT_BLOCK;
}

static status end_of(struct dict_cursor *c)
{
    c->block = c->segment->dict_blocks;
    c->in_block = 0;
    c->at = c->end = 0;
    c->term = (struct span){0};
    c->info = (struct term_info){0};
    return ST_END;
}

static status corrupt(struct dict_cursor *c)
{
    (void)end_of(c);
    return ST_CORRUPT;
}

/* Before the first term of the block. */
static status enter_block(struct dict_cursor *c, uint32_t block)
{
    const struct segment *s = c->segment;
    const unsigned char *index = index_entry(s, block);
    const unsigned char *next = block + 1 < s->dict_blocks ? index_entry(s, block + 1) : NULL;
    if (!index || (!next && block + 1 < s->dict_blocks))
        return corrupt(c);
    uint64_t at = load64(index + 8), end = next ? load64(next + 8) : s->dict_index_at;
    if (at < CHUNKED_HEADER_BYTES || at >= end || end > s->dict_index_at)
        return corrupt(c);
    const unsigned char *p = chunked_get(&s->files[FILE_DICT], at, end - at), *from = p;
    c->info = (struct term_info){0};
    if (!p || !var64(&p, p + (end - at), &c->info.post_at) || !var64(&p, from + (end - at), &c->info.pos_at))
        return corrupt(c);
    c->block = block;
    c->in_block = 0;
    c->at = at + (uint64_t)(p - from);
    c->end = end;
    c->term = span_of(c->name, 0);
    return ST_OK;
}

/* Puts the name together from the one before. Names ascend strictly, which the byte after the shared ones tells. */
static bool read_name(struct dict_cursor *c, const unsigned char **at, const unsigned char *end)
{
    const unsigned char *p = *at;
    if (p == end)
        return false;
    uint32_t shared = *p & 15, suffix = *p >> 4, more;
    p++;
    if (shared == 15) {
        if (!var32(&p, end, &more) || more > SEGMENT_TERM_MAX)
            return false;
        shared += more;
    }
    if (suffix == 15) {
        if (!var32(&p, end, &more) || more > SEGMENT_TERM_MAX)
            return false;
        suffix += more;
    }
    suffix++;
    if (shared > c->term.n || shared + suffix > SEGMENT_TERM_MAX || suffix > (size_t)(end - p) ||
        (shared < c->term.n && *p <= (unsigned char)c->name[shared]))
        return false;
    memcpy(c->name + shared, p, suffix);
    c->term = span_of(c->name, shared + suffix);
    *at = p + suffix;
    return true;
}

static bool read_single(struct term_info *t, uint32_t docs, bool is_plain, const unsigned char **p,
                        const unsigned char *end)
{
    t->df = 1;
    t->body = 1;
    if (!var32(p, end, &t->doc) || t->doc >= docs)
        return false;
    if (is_plain)
        return true;
    if (!var32(p, end, &t->body) || *p == end)
        return false;
    t->head = *(*p)++;
    return true;
}

static bool read_info(struct dict_cursor *c, const unsigned char **p, const unsigned char *end)
{
    const struct segment *s = c->segment;
    struct term_info t = {.post_at = c->info.post_at + c->info.post_bytes,
                          .pos_at = c->info.pos_at + c->info.pos_bytes,
                          .has_positions = c->name[0] != TERM_SPECIAL};
    uint32_t code;
    if (!var32(p, end, &code))
        return false;
    if (code < 2) {
        if (!read_single(&t, s->docs, code == 0, p, end))
            return false;
    } else {
        t.df = code;
        if (t.df > s->docs || !var32(p, end, &t.post_bytes))
            return false;
    }
    if (t.has_positions && !var64(p, end, &t.pos_bytes))
        return false;
    if (*p == end)
        return false;
    t.bound = *(*p)++;
    c->info = t;
    return true;
}

status dict_next(struct dict_cursor *c)
{
    const struct segment *s = c->segment;
    if (c->block >= s->dict_blocks)
        return end_of(c);
    if (c->in_block == terms_in(s, c->block)) {
        if (c->block + 1 == s->dict_blocks)
            return end_of(c);
        status st = enter_block(c, c->block + 1);
        if (st != ST_OK)
            return st;
    }
    const unsigned char *base = s->files[FILE_DICT].p, *p = base + c->at, *end = base + c->end;
    if (!read_name(c, &p, end) || !read_info(c, &p, end))
        return corrupt(c);
    c->at = (uint64_t)(p - base);
    c->in_block++;
    if (c->in_block == terms_in(s, c->block) && p != end)
        return corrupt(c);
    return ST_OK;
}

/* Is the first term of the block above `term`? */
static status block_is_above(struct dict_cursor *c, uint32_t block, struct span term, uint64_t prefix, bool *is_above)
{
    const unsigned char *index = index_entry(c->segment, block);
    if (!index)
        return corrupt(c);
    uint64_t here = load64(index);
    status st = ST_OK;
    if (here == prefix) {
        st = enter_block(c, block);
        if (st == ST_OK)
            st = dict_next(c);
        if (st == ST_OK)
            *is_above = span_cmp(c->term, term) > 0;
    } else {
        *is_above = here > prefix;
    }
    return st;
}

status dict_seek(struct dict_cursor *c, const struct segment *s, struct span from)
{
    c->segment = s;
    if (!s->dict_blocks)
        return end_of(c);
    uint64_t prefix = dict_prefix(from);
    uint32_t lo = 0, hi = s->dict_blocks; /* the first block above is in lo .. hi */
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        bool is_above = false;
        status st = block_is_above(c, mid, from, prefix, &is_above);
        if (st != ST_OK)
            return st;
        if (is_above)
            hi = mid;
        else
            lo = mid + 1;
    }
    status st = enter_block(c, lo ? lo - 1 : 0);
    do {
        if (st == ST_OK)
            st = dict_next(c);
    } while (st == ST_OK && span_cmp(c->term, from) < 0);
    return st;
}

status segment_find_term(const struct segment *s, struct span term, struct term_info *out)
{
    struct dict_cursor c;
    status st = dict_seek(&c, s, term);
    if (st == ST_END || (st == ST_OK && !span_eq(c.term, term)))
        return ST_NOT_FOUND;
    if (st == ST_OK)
        *out = c.info;
    return st;
}
