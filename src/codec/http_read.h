/* http_read.h - an HTTP/1 answer as a connection brings it, piece by piece: the lines of its head, then its body
 * without the chunks. Knows where the answer ends, and so whether the connection may serve another one.
 *
 *     http_read_begin(&r, is_head, 64 KiB);
 *     http_read_feed(&r, bytes...)    -> ST_AGAIN until the answer is whole
 *     http_read_end(&r)               when the connection ends before
 *
 * Interim answers (1xx) are lines like others; what follows them is read on. Strict where a guess could take bytes of
 * one answer for those of another: lengths that are no numbers or contradict each other, chunks that are none. Pure;
 * holds at most one line. */
#pragma once

#include "base/buf.h"
#include "base/status.h"

/* Where the parts go; false: the rest is not wanted. */
struct http_take {
    bool (*line)(void *arg, struct span line); /* of heads and trailers, with its line end */
    bool (*body)(void *arg, struct span piece);
};

struct http_read {
    struct buf line; /* owned: the part of a line that came */
    size_t line_max;
    uint64_t left;   /* bytes of the body or chunk to come */
    const char *why; /* of ST_PROTOCOL and ST_CONNECT */
    uint8_t state;   /* http_read.c */
    uint8_t minor;   /* of HTTP/1 */
    uint16_t status; /* of the head being read */
    bool is_head;    /* no body comes, whatever the head says */
    bool has_begun;  /* a byte came */
    bool has_length, is_chunked, says_close, says_keep;
};

/* Forgets the answer before, and keeps the memory. No line may have more than line_max bytes. */
void http_read_begin(struct http_read *r, bool is_head, size_t line_max);
void http_read_done(struct http_read *r);
/* ST_OK: the answer is whole, and *used bytes belong to it. ST_AGAIN: more is to come; all were used. ST_PROTOCOL: not
 * so by HTTP/1 (`why`). ST_LIMIT: a line too long. ST_CANCELLED: `take` said so. Nothing may be fed after these. */
MUST_USE status http_read_feed(struct http_read *r, struct span bytes, const struct http_take *take, void *arg,
                               size_t *used);
/* The connection has ended. ST_OK: that is how this answer ends. ST_CONNECT: nothing of it came. ST_PROTOCOL: cut. */
MUST_USE status http_read_end(struct http_read *r);
/* After ST_OK: may the connection be used again? */
bool http_read_keeps(const struct http_read *r);
