/* fetch_raw.h - an answer as it came, for archives: the request as sent, the head as received, the body before its
 * content coding is undone; and that undoing, which libcurl is told to leave to us then. Pure; used by the fetcher. */
#pragma once

#include "base/buf.h"
#include "base/status.h"
#include "codec/coding.h"

struct fetch_raw {
    bool is_on;
    bool is_cut;           /* the body reached its ceiling */
    bool is_bad;           /* not coded as it says, or in no way we know: bytes are kept, nothing more is decoded */
    bool has_begun;        /* the body */
    struct coding *coding; /* owned; NULL: plain */
    struct buf request, head, body;
};

void fetch_raw_begin(struct fetch_raw *r, bool is_on);
void fetch_raw_done(struct fetch_raw *r);
void fetch_raw_sent(struct fetch_raw *r, struct span text); /* a piece of request head */
/* A header line with its end. A status line begins anew; `is_trailer`: it came after the head. */
void fetch_raw_line(struct fetch_raw *r, struct span line, bool is_trailer);
/* A piece of body: kept, and decoded to *body if that is wanted. ST_LIMIT: one of the two is `max` bytes and more would
 * come. */
MUST_USE status fetch_raw_piece(struct fetch_raw *r, struct span piece, size_t max, bool is_wanted, struct buf *body);
