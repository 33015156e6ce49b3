/* alike.h - finds the near-duplicates among the pages of a data folder and writes down who they are.
 *
 *     contents log  ->  fingerprints (alike_pages.h)  ->  pairs that differ in few bits (alike_pairs.h)  ->  groups
 *
 * The outcome is the file that store/groups.h reads. A page is in the group of a page that stands for it (its first):
 * it differs from that one in ALIKE_DISTANCE bits at most, so groups do not drift along chains. Which page is the
 * first: one that others of the folder name as canonical, before one that nobody names, before one that itself names
 * another; then the one that was there first. Pages in different languages are never in one group.
 *
 * A page that names another as canonical is in that one's group, unless that is not there, or has so different a text
 * (ALIKE_CANONICAL_DISTANCE) that the page must be mistaken: then it is judged by its text like any other.
 *
 * Everything here is derived and can be made again. It reads files only, so it may run beside whoever writes the
 * folder; what comes later is in the next run's. A kill leaves the old file. Memory: ALIKE_MEMORY_MAX besides mapped
 * files, whatever the number of pages. One run at a time. */
#pragma once

#include <stdatomic.h>

#include "base/buf.h"
#include "base/siphash.h"
#include "base/status.h"

#define ALIKE_MEMORY_MAX (64u << 20)
/* Bits in which the fingerprints of near-duplicates may differ, of SIMHASH_BITS, and those of their bands;
 * bench/bench_alike.c has what was chosen from. Two pages that have nothing in common differ in half of them. */
#define ALIKE_DISTANCE 116
#define ALIKE_BAND_DISTANCE 36
#define ALIKE_RENAMED_DISTANCE 16 /* of pages with different titles: one text under two names */
#define ALIKE_CANONICAL_DISTANCE 208

struct alike_opts {
    const char *data_dir;
    struct sip_key key; /* of the folder: store_key */
    /* Nothing is done unless so many records came to the log, whose newest is number `last`, since the last run. */
    uint64_t last, least_changes;
    bool is_forced;                  /* whatever these say */
    const atomic_bool *is_cancelled; /* may be NULL; ST_CANCELLED soon after it becomes true */
    atomic_uint *percent;            /* may be NULL: how far it is, roughly; for whoever waits */
};

struct alike_report {
    bool was_due;            /* false: nothing was done */
    uint64_t pages;          /* with a text */
    uint64_t read;           /* whose fingerprint was made in this run */
    uint64_t compared;       /* pairs that were looked at */
    uint64_t groups, folded; /* folded: pages that are in a group and not its first */
    uint64_t canonical;      /* of them because they say so */
};

/* ST_NOT_FOUND: the folder keeps no texts. ST_CORRUPT: the log is damaged. ST_FULL, ST_IO, ST_CANCELLED. */
MUST_USE status alike_run(const struct alike_opts *o, struct alike_report *out);

/* Takes all of it away: fingerprints of pages that were taken out for good, whose record may be gone from the log, too.
 * A run under way fails with ST_IO; the next one makes everything anew. */
MUST_USE status alike_erase(const char *data_dir);

/* Where its files are; appended. */
void alike_dir(const char *data_dir, struct buf *out);
