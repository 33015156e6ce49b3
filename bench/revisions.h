/* revisions.h - pages with known lineage: the shared revisions of the PHP manual as the visible text of pages.
 *
 * The sources are DocBook. What a reader would see of them is taken: tags are dropped, and those of blocks (paragraphs,
 * list items, titles, code) end a line. References such as &reftitle.returnvalues;, which the manual replaces by texts
 * that are the same on all pages, stay as words. */
#pragma once

#include "base/arena.h"
#include "base/status.h"

struct revision {
    unsigned page;    /* which page of the manual */
    unsigned version; /* 0 is the newest */
    struct span text;
};

struct revisions {
    struct revision *items; /* in the arena */
    size_t count;
    unsigned pages;
    struct arena arena;
};

/* A file of JSON lines {page, versions: [{rev, time, text}]}, compressed with zstd. ST_NOT_FOUND, ST_CORRUPT, ST_IO. */
MUST_USE status revisions_read(const char *path, struct revisions *out);
void revisions_done(struct revisions *r);
