#include "base/buf.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

void buf_done(struct buf *b)
{
    free(b->p);
    *b = (struct buf){0};
}

char *buf_room(struct buf *b, size_t n)
{
    assert(n <= SIZE_MAX - b->n);
    if (b->n + n > b->cap || !b->p) /* for nothing too: there is a place to point to */
        b->p = mem_grow(b->p, &b->cap, b->n + n < 64 ? 64 : b->n + n, 1);
    return b->p + b->n;
}

void buf_put(struct buf *b, struct span s)
{
    if (!s.n)
        return;
    memcpy(buf_room(b, s.n), s.p, s.n);
    b->n += s.n;
}

status buf_put_up_to(struct buf *b, struct span s, size_t max)
{
    size_t room = b->n < max ? max - b->n : 0;
    buf_put(b, span_cut(s, 0, room));
    return s.n > room ? ST_LIMIT : ST_OK;
}

void buf_putc(struct buf *b, char c)
{
    *buf_room(b, 1) = c;
    b->n++;
}

void buf_puts(struct buf *b, const char *s)
{
    buf_put(b, span_str(s));
}

void buf_vprintf(struct buf *b, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    char *at = buf_room(b, 64);
    int n = vsnprintf(at, b->cap - b->n, fmt, ap);
    assert(n >= 0);
    if ((size_t)n >= b->cap - b->n) {
        at = buf_room(b, (size_t)n + 1);
        n = vsnprintf(at, (size_t)n + 1, fmt, again);
    }
    va_end(again);
    b->n += (size_t)n;
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    buf_vprintf(b, fmt, ap);
    va_end(ap);
}

const char *buf_cstr(struct buf *b)
{
    *buf_room(b, 1) = '\0';
    return b->p;
}

void buf_put_utf8(struct buf *b, uint32_t cp)
{
    if (cp > 0x10FFFF || (cp >= 0xD800 && cp <= 0xDFFF))
        cp = 0xFFFD;
    unsigned char *p = (unsigned char *)buf_room(b, 4);
    if (cp < 0x80) {
        p[0] = (unsigned char)cp;
        b->n += 1;
    } else if (cp < 0x800) {
        p[0] = (unsigned char)(0xC0 | cp >> 6);
        p[1] = (unsigned char)(0x80 | (cp & 63));
        b->n += 2;
    } else if (cp < 0x10000) {
        p[0] = (unsigned char)(0xE0 | cp >> 12);
        p[1] = (unsigned char)(0x80 | (cp >> 6 & 63));
        p[2] = (unsigned char)(0x80 | (cp & 63));
        b->n += 3;
    } else {
        p[0] = (unsigned char)(0xF0 | cp >> 18);
        p[1] = (unsigned char)(0x80 | (cp >> 12 & 63));
        p[2] = (unsigned char)(0x80 | (cp >> 6 & 63));
        p[3] = (unsigned char)(0x80 | (cp & 63));
        b->n += 4;
    }
}
