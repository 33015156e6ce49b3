/* collection.h - the documentation sites of bench/sites.tsv as documents for the index, without a crawl.
 *
 * Every .html file below SITES/NAME is the page http://NAME.example/PATH: decoded, its facts collected, its links
 * resolved. Links between pages of the collection give their targets anchor texts (each text once a target, the most
 * frequent first) and votes (pages that link there). Everything lives until collection_free. One thread. */
#pragma once

#include "base/arena.h"
#include "base/status.h"
#include "base/table.h"
#include "web/facts.h"

#define COLLECTION_ANCHORS_MAX 2048 /* bytes of anchor texts kept a page */

struct page {
    uint64_t key; /* collection_key of the URL */
    struct span url, site, lang, title, description, text, anchors;
    struct fact_heading *headings;
    size_t heading_count;
    uint32_t votes, foreign_votes;
    unsigned page_flags;
    uint64_t digest;
};

struct collection {
    struct page *pages;
    size_t count, cap;
    size_t text_bytes;
    struct table by_key; /* to struct page */
    struct arena arena;
};

/* True for pages that stay out. */
typedef bool collection_skip_fn(struct span site, struct span path);

/* `names` are the folders below `sites`. ST_NOT_FOUND: no page at all. */
MUST_USE status collection_read(const char *sites, const char *const *names, size_t name_count,
                                collection_skip_fn *skip, struct collection **out);
void collection_free(struct collection *c); /* NULL is fine */

/* Of a URL without a fragment. */
uint64_t collection_key(struct span url);
const struct page *collection_find(const struct collection *c, struct span url); /* NULL: not there */
