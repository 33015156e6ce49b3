/* pack.h - numbers and strings in and out of bytes: the alphabet of every record we store or send.
 *
 * Little-endian fixed integers, LEB128 varints, length-prefixed text. Reading never passes the end: after the
 * first bad byte the reader is `bad`, every later read yields 0 or an empty span, and one check at the
 * end is enough. */
#pragma once

#include "base/buf.h"
#include "base/span.h"

void pack_u8(struct buf *b, uint8_t v);
void pack_u32(struct buf *b, uint32_t v);
void pack_u64(struct buf *b, uint64_t v);
void pack_var(struct buf *b, uint64_t v);
void pack_text(struct buf *b, struct span s); /* varint length, then bytes */

struct unpack {
    const unsigned char *at, *end; /* borrowed */
    bool bad;
};

static inline struct unpack unpack_of(struct span s)
{
    const unsigned char *p = (const unsigned char *)(s.p ? s.p : "");
    return (struct unpack){p, p + s.n, false};
}

uint8_t unpack_u8(struct unpack *u);
uint32_t unpack_u32(struct unpack *u);
uint64_t unpack_u64(struct unpack *u);
uint64_t unpack_var(struct unpack *u);
/* Borrowed from the input; longer than `max` is bad. */
struct span unpack_text(struct unpack *u, size_t max);
struct span unpack_bytes(struct unpack *u, size_t n);

static inline bool unpack_at_end(const struct unpack *u)
{
    return u->at == u->end;
}
