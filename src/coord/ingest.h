/* ingest.h - the thread that applies packages, in the order they came: pages into store, texts and index; links to
 * other places into channels there.
 *
 * A package has its fetch numbers since it was received, so applying it twice changes nothing: a kill at any moment is
 * followed by applying again what was not marked. */
#pragma once

#include "coord/state.h"

/* Opens store and index of the data folder (and holds its lock). `why` gets a phrase. */
MUST_USE status ingest_new(struct coord *c, struct ingest **out, struct buf *why);
/* What `orb crawl` did in the folder, before or in between, is older than what comes now: fetch numbers go on after it.
 * Before the first package comes. */
MUST_USE status ingest_continue(struct ingest *i);
void ingest_start(struct ingest *i);
void ingest_wake(struct ingest *i); /* any thread: a package is there */
/* Finishes the package under way, commits, makes everything searchable. */
void ingest_stop(struct ingest *i);
void ingest_free(struct ingest *i); /* NULL is fine */
struct forgetting *ingest_forgetting(struct ingest *i);

struct ingest_stats {
    uint64_t packages, visits, dropped, damaged, links, new_sites;
    uint64_t waiting; /* packages received and not applied */
    uint64_t index_docs, index_bytes, index_segments;
    bool is_searchable; /* all that was applied is in the index */
    status trouble;     /* ST_OK, or why nothing can be written at the moment */
};
void ingest_get_stats(struct ingest *i, struct ingest_stats *out); /* any thread */
