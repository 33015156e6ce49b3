/* pages.h - the pages of the lab's sites: made when asked for, the same ones for the same seed and
 * version. Pure; any thread.
 *
 * Page 0 is "/", page N "/p/N.html". They form a tree: page N links to 8N+1 .. 8N+8, so that every page is found from
 * the first; besides, each links to its parent and to the first pages of two other sites. The first page links to
 * PAGES_FORBIDDEN too, which robots.txt does not allow: whoever fetches it is impolite. */
#pragma once

#include "base/buf.h"
#include "base/span.h"

#define PAGES_FORBIDDEN "/private/never.html"
#define PAGES_BRANCHES 8

struct pages {
    uint64_t seed;
    size_t site_count;
    struct span (*host)(void *self, size_t site); /* of links between sites */
    void *self;                                   /* borrowed */
    int port;
};

/* A page as it is at some time. */
struct page {
    size_t site;
    uint32_t number, count; /* count: of the site's pages */
    size_t bytes;           /* about so many */
    uint64_t version;       /* 0: as it was in the beginning */
};

/* The page that a path (without query) means; false: none of `count` pages. */
bool pages_find(struct span path, uint32_t count, uint32_t *page);
void pages_path(uint32_t page, struct buf *out);
/* Appends its text. */
void pages_write(const struct pages *p, const struct page *page, struct buf *out);
/* `"0123456789abcdef"` with its quotes; another one for each version. */
#define PAGES_TAG 19
void pages_tag(const struct pages *p, const struct page *page, char tag[PAGES_TAG]);
/* When the first version was written, in seconds since 1970: long ago, and the same in every run. */
int64_t pages_written_s(const struct pages *p, size_t site, uint32_t page);
/* For what else is drawn of a page, `what` from PAGES_SEED_FREE on. */
#define PAGES_SEED_FREE 2
uint64_t pages_seed(const struct pages *p, size_t site, uint32_t page, unsigned what);
