/* fts5.h - the rival: the same documents in SQLite's FTS5, set up to be as fast as it can be.
 *
 * Contentless, so that it keeps no second copy of the text; the words by our own analyzer, so that both index the same
 * terms at the same positions; a hash so large that it is written once a transaction; no journal, no syncs, a large
 * cache, one transaction a batch. The stored records (URL and compressed content) go to a table beside it, as a search
 * engine needs them. It keeps less than our index does: no counts of headings, no sites, languages, dates and priors.
 *
 * What was tried is in the .c file. One thread. */
#pragma once

#include "base/status.h"
#include "zipf.h"

#define FTS5_BATCH 5000 /* documents a transaction */

struct fts5_opts {
    int page_bytes, hash_bytes, automerge, crisismerge, leaf_bytes; /* 0: the best found; < 0: 0 */
};

struct fts5;
/* `path` is a new file. ST_UNSUPPORTED: this SQLite has no FTS5. */
MUST_USE status fts5_open(const char *path, const struct fts5_opts *o, struct fts5 **out);
void fts5_close(struct fts5 *f); /* NULL is fine */

MUST_USE status fts5_add(struct fts5 *f, int64_t id, const struct zipf_doc *doc, struct span stored);
/* A contentless table must be told what it has: `old` is the document as it was added. */
MUST_USE status fts5_delete(struct fts5 *f, int64_t id, const struct zipf_doc *old);
/* Ends the transaction; the next call begins one. */
MUST_USE status fts5_commit(struct fts5 *f);
/* Documents that match a MATCH expression: to see that both index the same. */
MUST_USE status fts5_count(struct fts5 *f, const char *match, int64_t *out);
/* Bytes of the full-text index alone. */
MUST_USE status fts5_index_bytes(struct fts5 *f, int64_t *out);
