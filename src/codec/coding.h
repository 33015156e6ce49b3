/* coding.h - undoing Content-Encoding piece by piece: gzip, deflate (with or without zlib's head), br, zstd, and
 * several of them one around the other.
 *
 * Forgives what browsers do: several members of gzip, bytes after the end, a body that ends too early, and words that
 * are no coding at all ("Content-Encoding: utf-8"). Pure; one thread. */
#pragma once

#include "base/buf.h"
#include "base/status.h"

#define CODING_LAYERS_MAX 5

struct coding;

/* `header`: values of all Content-Encoding lines, with commas between. *out is NULL when there is nothing to undo.
 * ST_INVALID: a coding that there is and that is not ours, or too many. */
MUST_USE status coding_new(struct span header, struct coding **out);
void coding_free(struct coding *c); /* NULL is fine */
/* Appends what comes out of the piece, until out->n is `max`. ST_LIMIT: more would come; ST_CORRUPT: not so coded. */
MUST_USE status coding_feed(struct coding *c, struct span piece, size_t max, struct buf *out);
