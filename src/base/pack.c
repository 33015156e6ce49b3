#include "base/pack.h"

void pack_u8(struct buf *b, uint8_t v)
{
    buf_putc(b, (char)v);
}

static void put_le(struct buf *b, uint64_t v, size_t n)
{
    char *p = buf_room(b, n);
    for (size_t i = 0; i < n; i++)
        p[i] = (char)(v >> (8 * i));
    b->n += n;
}

void pack_u32(struct buf *b, uint32_t v)
{
    put_le(b, v, 4);
}

void pack_u64(struct buf *b, uint64_t v)
{
    put_le(b, v, 8);
}

void pack_var(struct buf *b, uint64_t v)
{
    char *p = buf_room(b, 10);
    size_t n = 0;
    while (v >= 0x80) {
        p[n++] = (char)(v | 0x80);
        v >>= 7;
    }
    p[n++] = (char)v;
    b->n += n;
}

void pack_text(struct buf *b, struct span s)
{
    pack_var(b, s.n);
    buf_put(b, s);
}

struct span unpack_bytes(struct unpack *u, size_t n)
{
    if (u->bad || (size_t)(u->end - u->at) < n) {
        u->bad = true;
        return (struct span){"", 0};
    }
    struct span s = span_of(u->at, n);
    u->at += n;
    return s;
}

static uint64_t get_le(struct unpack *u, size_t n)
{
    struct span s = unpack_bytes(u, n);
    uint64_t v = 0;
    for (size_t i = 0; i < s.n; i++)
        v |= (uint64_t)(unsigned char)s.p[i] << (8 * i);
    return v;
}

uint8_t unpack_u8(struct unpack *u)
{
    return (uint8_t)get_le(u, 1);
}

uint32_t unpack_u32(struct unpack *u)
{
    return (uint32_t)get_le(u, 4);
}

uint64_t unpack_u64(struct unpack *u)
{
    return get_le(u, 8);
}

uint64_t unpack_var(struct unpack *u)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (u->bad || u->at == u->end)
            break;
        unsigned char c = *u->at++;
        if (shift == 63 && c > 1)
            break;
        v |= (uint64_t)(c & 0x7F) << shift;
        if (!(c & 0x80))
            return v;
    }
    u->bad = true;
    return 0;
}

struct span unpack_text(struct unpack *u, size_t max)
{
    uint64_t n = unpack_var(u);
    if (n > max)
        u->bad = true;
    return unpack_bytes(u, u->bad ? 0 : (size_t)n);
}
