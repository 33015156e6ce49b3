/* tree.h - the registry hierarchy of a world: opened from a file that `orb hierarchy build` made, or built in memory.
 *
 * A file of the former kind is told by its first bytes and mapped; anything else (networks.tsv, registries' files; also
 * gzip and zstd) is read and built, under a second a million networks. Owns all it needs; never changes: any thread. */
#pragma once

#include "base/buf.h"
#include "base/status.h"
#include "place/hierarchy.h"

struct tree;
/* ST_NOT_FOUND, ST_IO, ST_CORRUPT, ST_NEWER, ST_LIMIT, ST_UNSUPPORTED; `why` has the file and a reason. */
MUST_USE status tree_open(const char *path, struct tree **out, struct buf *why);
void tree_free(struct tree *t); /* NULL is fine */
const struct hierarchy *tree_hierarchy(const struct tree *t);
