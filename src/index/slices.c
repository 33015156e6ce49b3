#include "index/slices.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

/* What of each slice is for data; the link adds LINK_BYTES. */
static const uint16_t data_bytes[] = {60, 124, 252, 508, 1020, 2044, 4092};
#define LEVELS (sizeof(data_bytes) / sizeof(*data_bytes))
#define LINK_BYTES 4
#define ROOM_FIRST (1u << 20)
#define VARINT_MAX 5
static_assert(3 * VARINT_MAX + 1 <= CHAIN_FRESH, "the head of a posting fits into an empty chain");
enum { KIND_ONE, KIND_BARE, KIND_FULL };

void slices_done(struct slices *s)
{
    free(s->p);
    *s = (struct slices){0};
}

void slices_clear(struct slices *s)
{
    s->n = 0;
}

size_t slices_bytes(const struct slices *s)
{
    return s->n;
}

static uint32_t new_slice(struct slices *s, unsigned level)
{
    size_t bytes = data_bytes[level] + LINK_BYTES;
    if (!s->n)
        s->n = 1; /* no slice begins at 0 */
    if (s->n + bytes > s->cap) {
        s->cap = s->cap ? s->cap * 2 : ROOM_FIRST;
        s->p = mem_realloc(s->p, s->cap);
    }
    assert(s->n + bytes <= UINT32_MAX);
    uint32_t at = (uint32_t)s->n;
    s->n += bytes;
    return at;
}

static void extend(struct slices *s, struct chain *c)
{
    unsigned level = c->first ? c->level + 1u < LEVELS ? c->level + 1u : LEVELS - 1 : 0;
    uint32_t at = new_slice(s, level);
    if (c->first)
        memcpy(s->p + c->tail, &at, LINK_BYTES);
    else
        c->first = at;
    c->level = (uint8_t)level;
    c->tail = at;
    c->left = data_bytes[level];
}

static void put_bytes(struct slices *s, struct chain *c, const unsigned char *p, size_t n)
{
    while (n) {
        if (!c->left)
            extend(s, c);
        size_t part = n < c->left ? n : c->left;
        memcpy(s->p + c->tail, p, part);
        c->tail += (uint32_t)part;
        c->left -= (uint16_t)part;
        p += part;
        n -= part;
    }
}

/* Makes room for n bytes in the chain. */
static inline void spill(struct slices *s, struct chain *c, size_t n)
{
    if (c->fresh_bytes + n <= CHAIN_FRESH)
        return;
    put_bytes(s, c, c->fresh, c->fresh_bytes);
    c->fresh_bytes = 0;
}

void slices_put_one(struct slices *s, struct chain *c, uint32_t delta, uint32_t position)
{
    spill(s, c, 2 * VARINT_MAX);
    unsigned char *at = put_varint(c->fresh + c->fresh_bytes, delta << 2 | KIND_ONE);
    at = put_varint(at, position);
    c->fresh_bytes = (uint8_t)(at - c->fresh);
}
void slices_put(struct slices *s, struct chain *c, const struct posting *p)
{
    enum { HEAD_MAX = 3 * VARINT_MAX + 1 };
    spill(s, c, HEAD_MAX);
    unsigned char *at = c->fresh + c->fresh_bytes;
    if (p->body == 1 && !p->head && !p->positions.n) {
        at = put_varint(at, p->delta << 2 | KIND_BARE);
    } else {
        at = put_varint(at, p->delta << 2 | KIND_FULL);
        at = put_varint(at, p->body);
        *at++ = p->head;
        at = put_varint(at, (uint32_t)p->positions.n);
    }
    c->fresh_bytes = (uint8_t)(at - c->fresh);
    if (!p->positions.n)
        return;
    spill(s, c, p->positions.n);
    if (p->positions.n > CHAIN_FRESH) {
        put_bytes(s, c, (const unsigned char *)p->positions.p, p->positions.n);
    } else {
        memcpy(c->fresh + c->fresh_bytes, p->positions.p, p->positions.n);
        c->fresh_bytes += (uint8_t)p->positions.n;
    }
}

void slices_gather(const struct slices *s, const struct chain *c, struct buf *out)
{
    buf_clear(out);
    uint32_t at = c->first;
    for (unsigned level = 0; at; level += level + 1 < LEVELS) {
        bool is_last = c->tail + c->left == at + data_bytes[level];
        size_t n = is_last ? c->tail - at : data_bytes[level];
        memcpy(buf_room(out, n), s->p + at, n);
        out->n += n;
        if (is_last)
            break;
        memcpy(&at, s->p + at + data_bytes[level], LINK_BYTES);
    }
    buf_put(out, span_of(c->fresh, c->fresh_bytes));
}

static inline uint32_t get_varint(const unsigned char **at)
{
    const unsigned char *p = *at;
    uint32_t v = *p & 0x7f;
    for (unsigned shift = 7; *p++ & 0x80; shift += 7)
        v |= (uint32_t)(*p & 0x7f) << shift;
    *at = p;
    return v;
}

bool chain_next(struct chain_reader *r, struct posting *out)
{
    if (r->at == r->end)
        return false;
    uint32_t v = get_varint(&r->at);
    *out = (struct posting){.delta = v >> 2, .body = 1};
    if ((v & 3) == KIND_ONE) {
        const unsigned char *start = r->at;
        while (*r->at++ & 0x80)
            ;
        out->positions = span_of(start, (size_t)(r->at - start));
    } else if ((v & 3) == KIND_FULL) {
        out->body = get_varint(&r->at);
        out->head = *r->at++;
        size_t n = get_varint(&r->at);
        out->positions = span_of(r->at, n);
        r->at += n;
    }
    return true;
}
