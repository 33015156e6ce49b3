/* slices.h - very many lists of bytes that grow at the same time, in one array.
 *
 * A list is a chain of slices; each is longer than the one before, up to a limit, and ends in the place of the next.
 * Made for the postings of an accumulator, which the functions here know how to write and read. Offsets are 32 bits:
 * the owner empties it long before 4 GiB. One thread; inside src/index only. */
#pragma once

#include "base/buf.h"

struct slices {
    unsigned char *p; /* owned */
    size_t n, cap;
};

/* One list. All zero: empty. */
struct chain {
    uint32_t first; /* where it begins */
    uint32_t tail;  /* where the next byte goes */
    uint16_t left;  /* bytes from there to the link of the slice */
    uint8_t level;  /* how long the last slice is */
};

struct posting {
    uint32_t delta; /* document - the one before */
    uint32_t body;
    uint8_t head;
    struct span positions; /* encoded */
};

void slices_done(struct slices *s);
void slices_clear(struct slices *s);
size_t slices_bytes(const struct slices *s);

void slices_put(struct slices *s, struct chain *c, const struct posting *p);
/* The same for a posting that is once in the body and nowhere else. */
void slices_put_one(struct slices *s, struct chain *c, uint32_t delta, uint32_t position);
static inline void slices_prefetch(const struct slices *s, const struct chain *c)
{
    if (c->tail && s->p)
        __builtin_prefetch(s->p + c->tail, 1);
}

/* The whole list in one piece, in place of what the buffer has. */
void slices_gather(const struct slices *s, const struct chain *c, struct buf *out);

struct chain_reader {
    const unsigned char *at, *end;
};
static inline void chain_read(struct chain_reader *r, struct span gathered)
{
    r->at = (const unsigned char *)gathered.p;
    r->end = r->at + gathered.n;
}
bool chain_next(struct chain_reader *r, struct posting *out); /* false: no more */

static inline unsigned char *put_varint(unsigned char *at, uint32_t v)
{
    while (v >= 0x80) {
        *at++ = (unsigned char)(v | 0x80);
        v >>= 7;
    }
    *at++ = (unsigned char)v;
    return at;
}
