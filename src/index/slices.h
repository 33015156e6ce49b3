/* slices.h - very many lists of bytes that grow at the same time, in one array.
 *
 * A list is a chain of slices; each is longer than the one before, up to a limit, and ends in the place of the next.
 * The newest bytes of a list are in the chain itself and go to a slice together: a slice is somewhere in memory, and
 * fetching it costs more than all else that is done to a posting, while the chain is at hand. Most lists never need a
 * slice. Made for the postings of an accumulator, which the functions here know how to write and read. Offsets are 32
 * bits: the owner empties it long before 4 GiB. One thread; inside src/index only. */
#pragma once

#include "base/buf.h"

struct slices {
    unsigned char *p; /* owned */
    size_t n, cap;
};

#define CHAIN_FRESH 36 /* makes the entry of a term, which has the chain in it, 64 bytes: one line of the cache */

/* One list. All zero: empty. */
struct chain {
    uint32_t first; /* where its slices begin; 0: there is none */
    uint32_t tail;  /* where the next byte goes */
    uint16_t left;  /* bytes from there to the link of the slice */
    uint8_t level;  /* how long the last slice is */
    uint8_t fresh_bytes;
    unsigned char fresh[CHAIN_FRESH];
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
