/* follow.h - what has been fetched, by the servers' ledger, which is read while it grows: each line once.
 *
 *     pageset   the pages that a crawl should get: of each site "/" and "/p/N.html", as many as are served; each has
 *               been met or not
 *     follower  meets those that the ledger says were sent; knows when each place last asked for something
 *
 * Pure but for follower_read. One thread. */
#pragma once

#include "base/buf.h"
#include "base/status.h"
#include "lab/map/lab.h"

#define FOLLOW_LINE_MAX 16384       /* of a ledger; a longer one is passed over */
#define FOLLOW_PAGES_MAX (1u << 26) /* pages in all */

struct pageset;
/* Of the lab's sites; `most` pages of each, 0: all. ST_LIMIT. The lab is borrowed. */
MUST_USE status pageset_new(const struct lab *lab, uint32_t most, struct pageset **out);
void pageset_free(struct pageset *s); /* NULL is fine */
size_t pageset_all(const struct pageset *s);
size_t pageset_met(const struct pageset *s);
void pageset_forget(struct pageset *s); /* none has been met */
/* True: it is one of the pages; *is_new: it has not been met before. */
bool pageset_meet(struct pageset *s, struct span host, struct span path, bool *is_new);
bool pageset_meet_url(struct pageset *s, struct span url);
/* "http://a/, http://b/p/3.html and 7 more": those that have not been met, `most` of them by name. */
void pageset_missing(const struct pageset *s, size_t most, struct buf *out);
/* The value of --pages in the options of servers, 0: none. */
uint32_t pageset_most(const struct span *words, size_t n);

struct follower;
/* Both are borrowed. */
struct follower *follower_new(const struct lab *lab, struct pageset *pages);
void follower_free(struct follower *f); /* NULL is fine */
/* What the file has more than last time, as far as its lines are whole. A file that is not there has nothing yet; one
 * that has become shorter is read from its beginning. ST_IO. */
MUST_USE status follower_read(struct follower *f, const char *path);
void follower_feed(struct follower *f, struct span text);
/* Seconds since 1970, by the ledger. When page number `n` (from 1) was met; when a place last asked for anything. 0:
 * not yet. */
double follower_when(const struct follower *f, size_t n);
double follower_last(const struct follower *f, unsigned place);
/* From now on follower_seen is when the place first asked for a page after `since`; 0: it has not. */
void follower_watch(struct follower *f, unsigned place, double since);
double follower_seen(const struct follower *f);
