/* http_text.h - an HTTP/1 message as text, as archives keep it: where its head ends, whether it says chunked, its
 * chunks put together. Forgiving, because archives have what servers sent and what other tools made of it. Pure. */
#pragma once

#include "base/buf.h"

#define HTTP_HEAD_MAX (128u << 10) /* heads in front of an answer, interim ones too */

/* Bytes up to the end of the final head, its empty line included: 1xx answers in front of it count. Lines end in LF or
 * CRLF. 0: it does not begin with a status line, has no end, or passes HTTP_HEAD_MAX. */
size_t http_answer_head(struct span text);
/* The same of a request: whatever its first line is. */
size_t http_head(struct span text);
/* What the status line of the final head says; 0: there is none. */
unsigned http_answer_status(struct span text);

/* Does some Transfer-Encoding line name chunked? */
bool http_says_chunked(struct span head);
/* An answer that has as many bytes after its head as its Content-Length says, or more: it is all there. */
bool http_answer_is_whole(struct span text);

typedef enum http_chunks {
    CHUNKS_WHOLE,
    CHUNKS_NONE,  /* the first is none: the body only says that it is chunked, and is to be taken as it is */
    CHUNKS_WRONG, /* a later one is none: what came before it */
    CHUNKS_CUT,   /* it ends before the last chunk */
    CHUNKS_LIMIT, /* more than `max` bytes would come out */
} http_chunks;
/* Appends what the chunks hold, at most `max` bytes; with CHUNKS_NONE nothing. Extensions and trailers are dropped. */
http_chunks http_dechunk(struct span body, size_t max, struct buf *out);
