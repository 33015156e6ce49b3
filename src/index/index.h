/* index.h - the search index of a data folder: documents in, snapshots out. Nobody else knows the format.
 *
 * Writing. One struct index a folder and process (it holds a lock). index_add and index_delete queue the work and
 * return; builder threads analyse the texts and gather postings in memory, within a bound; index_commit writes what was
 * gathered as new segments and makes it visible to readers, also in other processes. Another thread merges segments
 * meanwhile; nobody waits for it. A document is known by its key; the one with the highest fetch number stays, so
 * adding twice, or in another order, changes nothing.
 *
 * The index keeps no log of its own: `applied` in the manifest says how far the caller's log (the contents of the crawl
 * store) is in the index; after a kill the caller adds again what comes later.
 *
 * Reading. A snapshot is one commit: files mapped, no locks, any number of threads. The reader looks at the manifest
 * when asked to refresh; snapshots in use stay valid, whatever is merged and removed meanwhile. */
#pragma once

#include "base/arena.h"
#include "base/log.h"
#include "base/status.h"
#include "web/facts.h"
#include "web/summary.h"

struct index;
struct content_alternate; /* web/content.h */

struct index_opts {
    const char *dir;   /* made when missing */
    size_t memory;     /* of all builders together, before they flush; 0 = 96 MiB */
    unsigned builders; /* threads that build segments; 0 = 1 */
    bool no_merge;     /* for tests: index_merge alone merges */
    uint64_t seed;     /* keys hash tables */
    const struct log *log;
};

#define INDEX_FIELDS_MAX 32

/* What a page brings into the index. Everything is copied. */
struct index_doc {
    uint64_t key, fetch_number;
    struct span url;
    struct span site; /* host, with the port when it is not the scheme's own */
    struct span lang; /* "en"; empty: not known */
    struct span title, text;
    const struct fact_heading *headings; /* borrowed for the call */
    size_t heading_count;
    struct span anchors; /* texts of links that point here, '\n' between them */
    uint32_t votes, foreign_votes;
    wall_ms fetched, changed;
    uint64_t digest, group;
    uint8_t flags;                      /* PAGE_* */
    bool is_keywords;                   /* text has words without their order, blanks between: no phrase is in it */
    const struct summary_field *fields; /* borrowed for the call; those with a bad name (content.h) are left out */
    size_t field_count;                 /* those past INDEX_FIELDS_MAX are left out */
    const char *type, *type_group;      /* what `type:` finds it by (web/media.h); static; NULL or "": not known */
    struct span content; /* kept for document and snippets: a packed and compressed struct content (web/content.h) */
};

/* Opens for writing. ST_BUSY: another process has it; ST_CORRUPT: the manifest is damaged, or was made by other rules
 * (ANALYZE_VERSION, RANK_VERSION): the caller empties the folder (index_erase) and adds everything again; ST_NEWER. */
MUST_USE status index_open(const struct index_opts *o, struct index **out, struct buf *why);
/* Gives up merges under way; does not commit: what was added since is lost. */
void index_close(struct index *ix); /* NULL is fine */
/* Removes the index at dir, but for the lock. ST_BUSY: somebody has it open for writing. */
MUST_USE status index_erase(const char *dir);

/* How far the caller's log is in the last commit: 0 in a new index. */
uint64_t index_applied(const struct index *ix);
/* The dictionary that contents are compressed with (codec/zip.h), kept in the folder for readers; readers have it with
 * the next commit. Once: the same again is fine, another is ST_EXISTS. */
#define INDEX_DICTIONARY_MAX (1u << 20)
MUST_USE status index_put_dictionary(struct index *ix, struct span dictionary);

/* May wait while more than INDEX_QUEUE_MAX bytes are queued, for builders only. From one thread. After a failure of the
 * disk, also of one in the background, every call returns it and takes nothing in, until index_commit succeeds.
 * A fetch number below that of the document in the index: ignored. The same: ignored too, unless anchors or votes
 * differ. ST_LIMIT: a text is too long. */
#define INDEX_QUEUE_MAX (16u << 20)
#define INDEX_TEXT_MAX (16u << 20) /* each of title, text and anchors */
MUST_USE status index_add(struct index *ix, const struct index_doc *doc);
/* The page is no longer to be found, if its number is not above; an index_add with a higher number brings it back.
 * A deletion is remembered until the commit it is in: within that, additions with lower numbers lose against it in
 * whatever order they come; after it, the caller's log is what keeps an older version from being added again. */
MUST_USE status index_delete(struct index *ix, uint64_t key, uint64_t fetch_number);
/* Makes everything added before the call durable and visible, with `applied`. ST_FULL, ST_IO: nothing of it is lost to
 * this process, the call may be repeated. ST_CORRUPT: a segment is damaged. */
MUST_USE status index_commit(struct index *ix, uint64_t applied);
/* Starts that in the background and returns; the next call, whichever, tells if it failed. Waits for the one before. */
MUST_USE status index_commit_soon(struct index *ix, uint64_t applied);
/* Merges in the calling thread until no merge is due, or (`all`) until one segment is left. */
MUST_USE status index_merge(struct index *ix, bool all);
/* Writes every segment that has a dead document anew, so that nothing of it is left on the disk. The calling thread. */
MUST_USE status index_purge(struct index *ix);

struct index_stats {
    uint64_t docs, deleted, segments, bytes, terms; /* terms: summed over segments */
    uint64_t generation, applied;
    uint64_t added, replaced, flushes, merges, merged_docs; /* since index_open */
    uint64_t queued_bytes, memory_bytes;
    bool is_merging;
};
void index_get_stats(struct index *ix, struct index_stats *out); /* any thread */

/* ---- reading ---- */

struct index_reader;
struct index_snapshot;

/* ST_NOT_FOUND: there is no index; ST_CORRUPT, ST_NEWER, ST_IO. */
MUST_USE status index_reader_open(const char *dir, struct index_reader **out, struct buf *why);
void index_reader_free(struct index_reader *r); /* snapshots taken stay valid */
/* The newest commit. Cheap when nothing changed: one stat(2). Any thread. When the newest cannot be opened the status
 * says why, and the last good one is handed out if there is one (*out is NULL else). */
MUST_USE status index_reader_snapshot(struct index_reader *r, struct index_snapshot **out);
void index_snapshot_free(struct index_snapshot *s); /* gives it back; NULL is fine */
uint64_t index_snapshot_generation(const struct index_snapshot *s);
uint64_t index_snapshot_docs(const struct index_snapshot *s); /* live */
void index_snapshot_stats(const struct index_snapshot *s, struct index_stats *out);

/* A document as it is stored. Text lives in the arena. */
struct index_document {
    uint64_t key, fetch_number, digest, group;
    struct span url, site, title, description, text;
    char lang[4];
    wall_ms fetched, changed;
    uint8_t flags;
    const struct fact_heading *headings; /* in the arena */
    size_t heading_count;
    bool is_keywords;                   /* text has words without their order */
    const struct summary_field *fields; /* in the arena */
    size_t field_count;
    bool is_named;                              /* a file that nobody has read: title is its name */
    struct span type;                           /* media type; empty: not known */
    uint64_t bytes;                             /* 0: not known */
    const struct content_alternate *alternates; /* in the arena */
    size_t alternate_count;
    struct span content; /* as it was given to index_add; borrowed from the snapshot */
};
MUST_USE status index_document(const struct index_snapshot *s, uint64_t key, struct arena *a,
                               struct index_document *out); /* ST_NOT_FOUND */
/* Whether any page has a field (deleted ones count until they are merged away). ST_CORRUPT, ST_IO. */
MUST_USE status index_has_fields(const struct index_snapshot *s, bool *out);
/* Every live document's key, fetch number and URL, in no order; a status other than ST_OK stops. */
typedef status index_doc_fn(void *arg, uint64_t key, uint64_t fetch_number, struct span url);
MUST_USE status index_each(const struct index_snapshot *s, index_doc_fn *fn, void *arg);

/* ---- checking ---- */

struct index_check {
    uint64_t docs, deleted, terms, postings, positions, segments, bytes;
    uint64_t doubled;   /* keys that are live in two places: must be 0 */
    struct buf problem; /* the first, for people; empty when all is well; the caller frees it (buf_done) */
};
/* Decodes everything: checksums, order of terms, documents and positions, counts, bounds, stored records, tombstones.
 * ST_OK with an empty problem: all is well. ST_CORRUPT: problem says what. Does not need the lock. */
typedef void index_progress_fn(void *arg, uint64_t done_bytes, uint64_t all_bytes);
MUST_USE status index_check(const char *dir, index_progress_fn *progress, void *arg, struct index_check *out);
