/* erase.h - takes pages out of a data folder so that nothing of them is left on the disk: page table, contents, index,
 * and what their links called other pages.
 *
 *     index, contents    the pages are gone, as if a visit had found them gone
 *     page table         rows are overwritten; what their links said of others is gathered anew without them; their
 *                        keys stay until the crawl has unlearnt them (store_unsee_put)
 *     files              those of contents and index that had something of them are written anew
 *     dictionary         when it has bytes that no other page has, contents and index are made anew (remake.h)
 *
 * Each step may be repeated: a mark in the store, set before the first and taken away after the last, says that
 * somebody was at it, and apply_open goes on. Inside src/apply only; one thread, no transaction open. */
#pragma once

#include "apply/feed.h"
#include "web/places.h"

struct erase_opts {
    struct store *store;
    /* NULL where nothing to search is kept: */
    struct contents *contents;
    struct feed *feed;
    const struct zip_dict *dict;
    void (*progress)(void *arg, const char *what, uint64_t done, uint64_t all); /* may be NULL */
    void *progress_arg;
};

/* Which pages go; the last line of what is asked about a page. */
typedef bool erase_fn(void *arg, const struct page *p);

struct erase_report {
    uint64_t pages;     /* rows of the page table */
    uint64_t texts;     /* of those, with content */
    bool needs_remake;  /* the dictionary has bytes that only they had: remake_write */
    bool is_log_in_use; /* somebody reads the database: its log goes when nobody does */
};

/* Some pages may be half gone, or are forgotten and still there. */
bool erase_is_due(struct store *s);
MUST_USE status erase_run(const struct erase_opts *o, erase_fn *fn, void *arg, struct erase_report *out);

/* What is kept of hosts that are forgotten as a whole. */
MUST_USE status erase_hosts(struct store *s, const struct places *places);
/* Takes the mark away. For remake_finish, in its transaction. */
MUST_USE status erase_settled(struct store *s);

/* All places that the store remembers; NULL when there are none. */
MUST_USE status erase_load_places(struct store *s, struct places **out);
