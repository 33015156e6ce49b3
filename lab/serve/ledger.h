/* ledger.h - a line for every request that the lab's web servers got: who, when, what (docs/formats/lab.md). It is what
 * politeness is audited by. Any thread.
 *
 * Lines go to the file whole, or not at all: whoever reads it meanwhile, or after the server was killed, finds at most
 * one line that is cut off, the last. A ledger that is there is gone on with, without that line. */
#pragma once

#include "base/span.h"
#include "base/status.h"
#include "place/addr.h"

struct ledger_entry {
    const struct addr *from, *to;
    struct span host, target;
    const char *method;
    int status;
    size_t bytes; /* of the body */
};

struct ledger;
/* `path` NULL: only counts. ST_IO. */
MUST_USE status ledger_new(const char *path, struct ledger **out);
void ledger_free(struct ledger *l); /* NULL is fine; writes what is left */
void ledger_add(struct ledger *l, const struct ledger_entry *e);
/* Writes what was added so far. What the disk does not take is tried again the next time. */
void ledger_flush(struct ledger *l);
uint64_t ledger_count(struct ledger *l);
uint64_t ledger_lost(struct ledger *l); /* lines that are not in the file: it could not be written for too long */
