/* buf.h - a byte string that grows.
 *
 * buf_put and friends cannot fail: growth is by doubling through mem_grow. A buffer that is filled from
 * outside checks buf.n against its own ceiling first. */
#pragma once

#include <stdarg.h>
#include <stddef.h>

#include "base/span.h"
#include "base/status.h"

struct buf {
    char *p; /* owned */
    size_t n, cap;
};

void buf_done(struct buf *b); /* frees; the buffer may be used again */
static inline void buf_clear(struct buf *b)
{
    b->n = 0;
}

/* Room for `n` more bytes; returns where they go. The caller adds to b->n what it wrote. */
char *buf_room(struct buf *b, size_t n);
void buf_put(struct buf *b, struct span s);
/* As much of it as leaves b->n at most `max`. ST_LIMIT: that was not all. */
MUST_USE status buf_put_up_to(struct buf *b, struct span s, size_t max);
void buf_putc(struct buf *b, char c);
void buf_puts(struct buf *b, const char *s);
void buf_printf(struct buf *b, const char *fmt, ...) PRINTF_LIKE(2, 3);
void buf_vprintf(struct buf *b, const char *fmt, va_list ap);
/* Ends the text with a NUL that is not counted in n, and returns it. */
const char *buf_cstr(struct buf *b);
/* A Unicode scalar as UTF-8. Surrogates and values past 10FFFF become U+FFFD. */
void buf_put_utf8(struct buf *b, uint32_t cp);

static inline struct span buf_span(const struct buf *b)
{
    return (struct span){b->p, b->n};
}
