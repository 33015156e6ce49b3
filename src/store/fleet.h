/* fleet.h - the coordinator's durable state (SQLite inside, a file of its own beside orb.db): agents, tokens, orders,
 * channels, networks, tasks, packages, programs, people.
 *
 * Records are opaque packed forms (src/coord packs them); here are their keys and their life. Apart from orb.db so that
 * control calls never wait for the pages that are being written there. One thread at a time; one process (orb.db's lock
 * is the folder's lock). The file is for its owner's eyes alone (mode 0600): it has secrets.
 *
 * Writes between begin and commit are one transaction, outside of them each is one of its own. A commit with
 * `is_durable` returns when it is on the disk, with all before it; else when it is in the kernel: a kill loses nothing,
 * a power cut may lose the last moments, never their order.
 *
 * Besides what is said at each function all may fail with ST_IO, ST_FULL, ST_CORRUPT, and those that write with
 * ST_LIMIT for what is longer or higher than a ceiling below. A transaction in which the database failed once fails
 * from there on, and is rolled back by its commit; one that is given up otherwise: fleet_rollback. */
#pragma once

#include "base/buf.h"
#include "base/status.h"

#define FLEET_SCHEMA 2
#define FLEET_KEY_MAX 1024
#define FLEET_VALUE_MAX (256u << 20) /* of a packed record, an order or a blob */
#define FLEET_NUMBER_MAX INT64_MAX   /* of agents, orders, sequences */

struct fleet_store;

/* Makes the file when missing; the folder is there. ST_CORRUPT, ST_NEWER, ST_BUSY (another process has it open), ST_IO,
 * ST_FULL; `why` (may be NULL) gets a phrase. */
MUST_USE status fleet_open(const char *data_dir, struct fleet_store **out, struct buf *why);
bool fleet_is_there(const char *data_dir); /* the folder is a coordinator's */
void fleet_close(struct fleet_store *f);   /* what was not committed is rolled back; NULL is fine */

/* Writes all of it anew, so that nothing is left of what was removed or replaced, in the log either. Not in a
 * transaction. ST_BUSY: somebody else reads it. */
MUST_USE status fleet_vacuum(struct fleet_store *f);

/* All of it as it is now, in a new file that only its owner may read. Not in a transaction. */
MUST_USE status fleet_copy(struct fleet_store *f, const char *path);
/* As store_check. */
MUST_USE status fleet_check(struct fleet_store *f, struct buf *what);

MUST_USE status fleet_begin(struct fleet_store *f);
/* Not ST_OK from the database: rolled back. Durable: with a fleet_sync; when that fails the rest is committed all the
 * same. */
MUST_USE status fleet_commit(struct fleet_store *f, bool is_durable);
MUST_USE status fleet_sync(struct fleet_store *f); /* all that was committed is on the disk */
bool fleet_is_begun(const struct fleet_store *f);
void fleet_rollback(struct fleet_store *f); /* harmless when nothing was begun */

typedef enum fleet_kind {
    FLEET_SETTING, /* by name */
    FLEET_AGENT,   /* by number */
    FLEET_TOKEN,   /* by digest of the token */
    FLEET_CHANNEL, /* by id */
    FLEET_NETWORK, /* by its text */
    FLEET_HOST,    /* by name: where it is, which task it belongs to */
    FLEET_TASK,    /* by number */
    FLEET_PROGRAM, /* by name and serial */
    FLEET_PERSON,  /* by name */
    FLEET_BLOB,    /* by digest: programs, updates, handed-over hosts */
    FLEET_RECRAWL, /* by a channel's id: how often it changes, its visits */
    FLEET_KINDS
} fleet_kind;

/* A key is any bytes, a text or a number (fleet_number): keys sort by their bytes. ST_INVALID: an empty key. */
MUST_USE status fleet_put(struct fleet_store *f, fleet_kind kind, struct span key, struct span packed);
MUST_USE status fleet_remove(struct fleet_store *f, fleet_kind kind, struct span key); /* harmless when absent */
/* Appends; ST_NOT_FOUND. */
MUST_USE status fleet_get(struct fleet_store *f, fleet_kind kind, struct span key, struct buf *packed);
/* All of a kind, in order of keys. What fn returns other than ST_OK ends it and is returned. fn may get, put and remove
 * records (what it puts may or may not be seen by this walk), but not begin or commit. */
typedef status fleet_fn(void *arg, struct span key, struct span packed);
MUST_USE status fleet_each(struct fleet_store *f, fleet_kind kind, fleet_fn *fn, void *arg);
/* Numbers as keys: big-endian, so that they sort as numbers. */
struct fleet_number {
    char b[8];
};
struct fleet_number fleet_number(uint64_t n);
uint64_t fleet_number_of(struct span key); /* 0 when it is no number */
static inline struct span fleet_number_span(const struct fleet_number *n)
{
    return span_of(n->b, sizeof(n->b));
}

/* ---- orders of an agent: numbered from 1 without gaps (by the caller) ---- */
MUST_USE status fleet_order_put(struct fleet_store *f, uint64_t agent, uint64_t number,
                                struct span packed);                                       /* replaces */
MUST_USE status fleet_orders_done(struct fleet_store *f, uint64_t agent, uint64_t number); /* removes up to it */
typedef status fleet_order_fn(void *arg, uint64_t number, struct span packed);
/* Those with a higher number, in order; fn as in fleet_each. */
MUST_USE status fleet_order_each(struct fleet_store *f, uint64_t agent, uint64_t above, fleet_order_fn *fn, void *arg);
MUST_USE status fleet_orders_drop(struct fleet_store *f, uint64_t agent);

/* ---- packages: received (safe in the inbox), then applied ---- */
struct fleet_package {
    uint64_t agent, sequence;
    uint64_t base; /* its visits have the fetch numbers from here on */
    uint32_t visits;
    uint64_t bytes;
    wall_ms received;
    bool is_applied;
};
MUST_USE status fleet_package_put(struct fleet_store *f, const struct fleet_package *p); /* ST_EXISTS */
/* ST_NOT_FOUND: was never put, or is forgotten. */
MUST_USE status fleet_package_applied(struct fleet_store *f, uint64_t agent, uint64_t sequence);
typedef status fleet_package_fn(void *arg, const struct fleet_package *p);
/* Those not applied, in the order in which they were put; fn as in fleet_each, and may say that one is applied. */
MUST_USE status fleet_package_waiting(struct fleet_store *f, fleet_package_fn *fn, void *arg);
/* The newest sequence of an agent, 0 when there is none; rows below it that were applied are forgotten by and by. */
MUST_USE status fleet_package_last(struct fleet_store *f, uint64_t agent, uint64_t *sequence);
/* Forgets applied packages but the newest `keep_an_agent` sequences of each agent (the newest always stays). */
MUST_USE status fleet_packages_prune(struct fleet_store *f, uint64_t keep_an_agent);
