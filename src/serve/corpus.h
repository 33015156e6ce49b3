/* corpus.h - the index of a data folder as the server sees it: not there yet, there, newer, damaged, replaced.
 *
 * Hands out snapshots; each is of the newest commit at that moment. Any thread. */
#pragma once

#include "index/index.h"

struct corpus;

struct corpus *corpus_new(const char *index_dir);
void corpus_free(struct corpus *c); /* NULL is fine; snapshots handed out stay valid */

/* ST_OK: *out is a snapshot, to be given back with index_snapshot_free. Another status: there is none, and the status
 * says why: ST_NOT_FOUND (no index yet), ST_CORRUPT, ST_NEWER, ST_IO. */
MUST_USE status corpus_snapshot(struct corpus *c, struct index_snapshot **out);
/* ST_OK, or what is wrong with the newest commit while an older one is handed out. */
status corpus_trouble(struct corpus *c);
