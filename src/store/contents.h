/* contents.h - what the pages of a data folder say, compressed: a log that the search index is made from, and can be
 * made again from.
 *
 *     contents/NNNNNNNNNNNNNNNN     record files (records.h), named by the number of their first record
 *     contents/dictionary           what the records are compressed with, once there were enough to learn from
 *
 * Each record says that a page has this content since that visit, or that it has none any more. Records are numbered
 * from 1 in the order they were appended, across all files; "applied up to number n" is all that a reader of the log
 * has to remember. The store's page table says which record of a page counts (struct page, content): others are dead
 * weight until contents_compact.
 *
 * Records are buffered: they are in the files after contents_sync, which comes before the commit of the store that
 * names them. One writer; contents_each may run in other processes. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"

#define CONTENTS_RECORD_MAX (8u << 20) /* compressed */

struct contents;

struct contents_record {
    uint64_t number;       /* given by contents_append */
    uint64_t key;          /* of the page */
    uint64_t fetch_number; /* of the visit */
    bool is_gone;
    struct span content; /* a packed struct content (web/content.h), compressed; empty when gone */
};

/* Makes the folder when missing; goes on after the last whole record. ST_CORRUPT, ST_NEWER, ST_IO, ST_FULL. */
MUST_USE status contents_open(const char *dir, struct contents **out);
void contents_free(struct contents *c); /* drops what was not synced; NULL is fine */

uint64_t contents_last(const struct contents *c);    /* number of the newest record, 0: none */
uint64_t contents_records(const struct contents *c); /* in the files, dead ones included */
uint64_t contents_bytes(const struct contents *c);

/* Appends and numbers it. */
MUST_USE status contents_append(struct contents *c, struct contents_record *r);
/* Everything appended is on the disk. */
MUST_USE status contents_sync(struct contents *c);

/* The dictionary, or an empty span. */
struct span contents_dictionary(const struct contents *c);
/* Keeps one for good; it must not have one yet. */
MUST_USE status contents_put_dictionary(struct contents *c, struct span dictionary);
/* The dictionary of a folder that somebody else may have open. ST_NOT_FOUND. */
MUST_USE status contents_read_dictionary(const char *dir, struct buf *out);

/* Calls fn for every record with a number above `after`, in order; a status other than ST_OK stops and is returned.
 * What is not yet synced may be missing. *damaged (may be NULL) counts files whose end did not check out. */
typedef status contents_fn(void *arg, const struct contents_record *r);
MUST_USE status contents_each(const char *dir, uint64_t after, contents_fn *fn, void *arg, unsigned *damaged);
/* Counts files whose head is damaged, which nobody can read or open; with `repair` they get a new one, since all that
 * it says is in the name. Nobody else may have them open. */
MUST_USE status contents_mend_heads(const char *dir, bool repair, unsigned *count);

/* Writes the records that is_live says yes to again at the end of the log and removes the files they were in, oldest
 * first, until `records_max` or fewer are left or every file was looked at. Safe against a kill: a record may stand
 * twice then. */
typedef bool contents_live_fn(void *arg, const struct contents_record *r);
MUST_USE status contents_compact(struct contents *c, uint64_t records_max, contents_live_fn *is_live, void *arg);

/* The same for just those files that have a record of which must_go says yes. Older and newer ones stay as they are. */
MUST_USE status contents_purge(struct contents *c, contents_live_fn *must_go, contents_live_fn *is_live, void *arg);
