/* forgetting.h - what a coordinator forgets, and what it keeps for how long: places that operators name, the list of
 * those who want to be left alone, retention once a day.
 *
 * The store is the ingest thread's, so all of it is done there, between packages. A place is remembered on the disk
 * first; then nothing of it is taken in any more and agents are told to ask nothing of it (ORDER_REFUSE); then what is
 * there goes: pages, texts, index, WARC records, links. After a kill, opening the folder goes on. */
#pragma once

#include "apply/apply.h"
#include "coord/archive.h"
#include "coord/state.h"

struct forgetting;

struct forgetting_opts {
    struct coord *c;
    struct store *store;         /* borrowed, as the next two */
    struct apply **apply;        /* opened after this: that takes out what is to be forgotten */
    struct warc_store **archive; /* closed and opened again while its files are written anew */
};

/* The places that the store remembers hold from here on. */
MUST_USE status forgetting_new(const struct forgetting_opts *o, struct forgetting **out, struct buf *why);
void forgetting_stop(struct forgetting *f); /* nobody waits any more */
void forgetting_free(struct forgetting *f); /* NULL is fine */
/* Now and then, from the ingest thread, outside of packages and transactions. */
void forgetting_tick(struct forgetting *f, mono_ms now);

struct forgetting_answer {
    bool is_remembered; /* it holds, and agents are told */
    bool is_done;       /* what was there is gone */
    uint64_t pages, texts, warc_records;
    status st;
};
/* Any thread but ingest's: forget these places (lines, in the one way they are written), or with `is_undo` no longer.
 * Waits until that is done, or for so long; what is not done then goes on. */
#define FORGETTING_WAIT_MS 20000
void forgetting_ask(struct forgetting *f, struct span places, struct span why, bool is_undo,
                    struct forgetting_answer *out);

/* Takes links to these places out of the files of a coordinator's folder, while nobody writes there. */
MUST_USE status forgetting_purge_links(const char *data_dir, const struct places *places);

/* Takes what waits of these places out of its fleet.db, which is made anew so that nothing is left. Not in a
 * transaction.
 */
MUST_USE status forgetting_purge_fleet(struct fleet_store *fleet, const struct places *places);
/* Lines without those that are forgotten, and how many they are; true: some were. */
bool forgetting_filter_lines(const struct places *places, struct span lines, struct buf *out, size_t *kept);

/* Is this a place that nothing is taken in of? coord.lock held. */
bool forgetting_has(const struct coord *c, const struct url *u);
/* A new agent gets the list. coord.lock held. */
void forgetting_greet(struct coord *c, struct c_agent *a);
/* Channels that were loaded or made heed it. coord.lock held. */
void forgetting_share(struct coord *c);
