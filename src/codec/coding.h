/* coding.h - undoing Content-Encoding piece by piece: gzip, deflate (with or without zlib's head), br, zstd, and
 * several of them one around the other.
 *
 * For answers that libcurl does not decode: those that came without it, and those whose bytes are wanted as they came.
 * It takes and forgives what libcurl does: bytes after the end are ignored, and a body that ends too early is what came
 * of it. Pure; one thread. */
#pragma once

#include "base/buf.h"
#include "base/status.h"

#define CODING_LAYERS_MAX 5

struct coding;

/* `header`: values of all Content-Encoding lines, with commas between. *out is NULL when there is nothing to undo.
 * ST_INVALID: a coding that is not known, or too many. */
MUST_USE status coding_new(struct span header, struct coding **out);
void coding_free(struct coding *c); /* NULL is fine */
/* Appends what comes out of the piece, until out->n is `max`. ST_LIMIT: more would come; ST_CORRUPT: not so coded. */
MUST_USE status coding_feed(struct coding *c, struct span piece, size_t max, struct buf *out);
