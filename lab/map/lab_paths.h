/* lab_paths.h - lines that say how far places are apart and what a path or a link does to packets: those of a lab file,
 * and those that a lab is told while it runs. Pure but for lab_read and lab_matrix_file.
 *
 * Words are those of the line, the first one its name. `why` gets what is wrong. ST_INVALID, ST_NOT_FOUND: no such
 * place; ST_UNSUPPORTED: a pair without a path of its own (map.h). */
#pragma once

#include "base/buf.h"
#include "base/status.h"
#include "lab/map/map.h"

#define LAB_FILE_MAX (16u << 20)

/* rtt A B MS [JITTER]; "*" is every place. */
MUST_USE status lab_rtt(struct map *m, const struct span *words, size_t n, struct buf *why);
/* loss A B PERCENT; "*" as well. */
MUST_USE status lab_loss(struct map *m, const struct span *words, size_t n, struct buf *why);
/* bandwidth PLACE BYTES_A_SECOND, with k or M behind the number; a place or a node, "*" is every node. */
MUST_USE status lab_bandwidth(struct map *m, const struct span *words, size_t n, struct buf *why);

/* Reads a round-trip table into the map: a row of names, then a row a place. Places that are not on the map are passed
 * over. */
MUST_USE status lab_matrix(struct map *m, struct span text, struct buf *why);
MUST_USE status lab_matrix_file(struct map *m, const char *path, struct buf *why);

/* "12.5"; false: no number from 0 to `max`. */
bool lab_number(struct span text, double max, double *out);
/* A whole file of at most LAB_FILE_MAX bytes. ST_NOT_FOUND, ST_IO, ST_LIMIT. */
MUST_USE status lab_read(const char *path, struct buf *out);
