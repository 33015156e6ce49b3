/* archive.h - answers that agents sent as they came, into the WARC files of the data folder (DATA/warc).
 *
 * The records of a package are gathered while it is read and appended at its end, in one write that is marked with the
 * package's agent and number: applied twice, a package is there once. The ingest thread's. */
#pragma once

#include "base/log.h"
#include "store/warc_files.h"
#include "web/summary.h"

struct warc_store;

struct warc_store_opts {
    const char *data_dir;
    struct span version; /* of the program; borrowed */
};

/* Nothing is made on the disk before there is something to keep; what is there is mended. `why` gets a phrase. */
MUST_USE status warc_store_new(const struct warc_store_opts *o, struct warc_store **out, struct buf *why);
void warc_store_free(struct warc_store *s); /* NULL is fine */

void warc_store_begin(struct warc_store *s, uint64_t agent, uint64_t package);
/* False: it is no capture. */
bool warc_store_visit(struct warc_store *s, const struct summary *visit);
/* All of the package is on the disk for good. ST_FULL, ST_IO: nothing of it; try the package again. */
MUST_USE status warc_store_commit(struct warc_store *s);
uint64_t warc_store_bytes(const struct warc_store *s); /* written since the start */
