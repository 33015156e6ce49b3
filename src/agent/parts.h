/* parts.h - what an ended task hands over: hosts as bytes (plan/frontier.h), in DATA/parts/ORDER until the coordinator
 * has them. On the disk before the crawl forgets them, so that a kill loses none. One thread. */
#pragma once

#include "base/buf.h"
#include "base/status.h"

#define PARTS_BYTES_MAX (1ull << 30)

struct parts {
    struct part {
        struct buf host, packed;
    } * items; /* owned */
    size_t count, cap;
};

void parts_done(struct parts *p);
/* The very same bytes of a host are kept once. After a kill a host may be taken out a second time, with less or more in
 * its queue: whoever gets both leaves out what it knows. */
void parts_put(struct parts *p, struct span host, struct span packed);
MUST_USE status parts_write(const char *data, uint64_t order, const struct parts *p);
MUST_USE status parts_read(const char *data, uint64_t order, struct parts *out); /* ST_NOT_FOUND, ST_CORRUPT */
void parts_remove(const char *data, uint64_t order);
