/* spool.h - packages on the agent's disk, from the moment they are made until long after the coordinator has them.
 *
 *     spool/SEQUENCE         made; its visits may not be committed yet
 *     spool/sent/SEQUENCE    acknowledged; the newest SPOOL_SENT_BYTES stay, for a coordinator restored from a backup
 *
 * A package is on the disk (spool_put) before the transaction that counts its visits is committed; that transaction
 * also writes down its number, and only when both are on the disk may the carrier take it (spool_publish). After a kill
 * the number written down says which files count (spool_settle): visits of later ones come again from the journal.
 * Sequences have no gaps. Any thread. */
#pragma once

#include "base/buf.h"
#include "base/status.h"

#define SPOOL_SENT_BYTES (256ull << 20)

struct spool;

struct spool_opts {
    const char *data;
    uint64_t sent_bytes;                        /* 0: SPOOL_SENT_BYTES */
    void (*step)(void *arg, const char *doing); /* tests: called before each step that a kill may come before */
    void *step_arg;
};

/* Makes the folders and looks at what is there. */
MUST_USE status spool_new(const struct spool_opts *o, struct spool **out);
void spool_free(struct spool *s); /* NULL is fine */

/* What the store says: `newest` was committed, nothing above it. */
MUST_USE status spool_settle(struct spool *s, uint64_t newest);
bool spool_is_settled(struct spool *s); /* before that nothing is known of `newest` */
uint64_t spool_newest(struct spool *s); /* published; 0: none yet */
uint64_t spool_next_sequence(struct spool *s);
/* The coordinator has packages of ours that we do not know of (this folder is an old copy): numbers go on above. True:
 * that is news. */
bool spool_skip_to(struct spool *s, uint64_t sequence);

MUST_USE status spool_put(struct spool *s, uint64_t sequence, struct span package); /* the next one */
void spool_publish(struct spool *s, uint64_t sequence);
void spool_unput(struct spool *s, uint64_t sequence); /* the transaction failed */

/* The lowest that is published and not acknowledged. False: there is none. */
bool spool_first(struct spool *s, uint64_t *sequence);
MUST_USE status spool_read(struct spool *s, uint64_t sequence, struct buf *out); /* ST_NOT_FOUND: not kept any more */
/* All up to this one are safe at the coordinator. */
MUST_USE status spool_acknowledge(struct spool *s, uint64_t sequence);
/* The coordinator has all up to `have` and not what we thought: those above go again, as far as they are kept. */
MUST_USE status spool_rewind(struct spool *s, uint64_t have);
uint64_t spool_acknowledged(struct spool *s);
/* The disk is full: what the coordinator has is not kept any longer. Returns the bytes that went. */
uint64_t spool_drop_sent(struct spool *s);

struct spool_counts {
    uint64_t packages, bytes; /* waiting to be sent */
    uint64_t sent_packages, sent_bytes;
};
void spool_get_counts(struct spool *s, struct spool_counts *out);
