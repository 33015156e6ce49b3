/* groups.h - which pages of a data folder are near-duplicates of which: a file of rows (rows.h), found by a page's key.
 *
 * apply/alike.h makes it; search folds by it, explain and export tell of it. docs/formats/alike.md has the rows. A page
 * that is not in it has no near-duplicate, or is newer than the file. The file is derived: without it, or when it is
 * damaged, nothing is folded that was not before.
 *
 * A reader hands out the newest file as long as it is asked; files handed out stay valid. Any thread. */
#pragma once

#include <stdbool.h>

#include "base/buf.h"
#include "store/rows.h"

#define GROUPS_KIND 1
#define GROUPS_WIDTH 3

enum {
    GROUPS_CANONICAL = 1,  /* it is in the group because it names the first page, or one of its group, as canonical */
    GROUPS_UNFOLLOWED = 2, /* the page that it names as canonical is not there, or has another text */
};

/* What the file says of a page. */
struct group {
    uint64_t first;    /* key of the page that stands for the group, perhaps the page itself */
    uint32_t pages;    /* of the group, with the first; 0 for pages that are not the first; 1: it stands alone */
    unsigned distance; /* bits in which the fingerprints of page and first differ (web/simhash.h) */
    unsigned flags;    /* GROUPS_* */
};

void group_pack(uint64_t key, const struct group *g, uint64_t row[GROUPS_WIDTH]);

struct groups;

/* The file at `path` as it is now; never NULL: without a good one it has no pages. */
struct groups *groups_open(const char *path);
void groups_release(struct groups *g); /* NULL is fine */
/* ST_OK, or why there are no pages: ST_NOT_FOUND, ST_CORRUPT, ST_NEWER, ST_IO. */
status groups_status(const struct groups *g);
size_t groups_count(const struct groups *g);   /* rows */
uint64_t groups_stamp(const struct groups *g); /* the content (store/contents.h) up to which it goes */
/* False: it is in no group. */
bool groups_get(const struct groups *g, uint64_t key, struct group *out);
/* The same with pages as those of the whole group, whichever page is asked for. */
bool groups_look(const struct groups *g, uint64_t key, struct group *out);
/* The keys of pages that `first` stands for, itself left out, as far as there is room; returns their number. Reads all
 * rows. */
size_t groups_members(const struct groups *g, uint64_t first, uint64_t *keys, size_t room);
/* For search_opts: the group of a page, or `group` when it is in none. `arg` is a const struct groups. */
uint64_t groups_translate(void *arg, uint64_t key, uint64_t group);

struct groups_reader;
struct groups_reader *groups_reader_new(const char *path);
void groups_reader_free(struct groups_reader *r); /* NULL is fine */
/* The newest file; to be released. Cheap while it is the same: one stat(2). */
struct groups *groups_reader_get(struct groups_reader *r);

/* Where it is in a data folder; appended. */
void groups_path(const char *data_dir, struct buf *out);
