/* anchors.h - what links call the pages they point to: gathered in memory, written to the store in batches.
 *
 * The text of a link describes its target better than many a title. A page has ANCHORS_A_PAGE texts at most, each once.
 * A page's own site has a vote for each text that was new; another site has one vote and one text, however many of its
 * pages link there and how often: nobody votes twice. One thread. */
#pragma once

#include "base/buf.h"
#include "store/store.h"

#define ANCHORS_A_PAGE 16
#define ANCHORS_BYTES 512 /* of all texts of a page together */
#define ANCHORS_SITES 100 /* other sites whose votes are counted: more make no difference to the rank */

struct anchors;

struct anchors *anchors_new(void);
void anchors_free(struct anchors *t); /* NULL is fine */

/* A page links to `target` with this text; site: 0 for a page of the target's own site, else some number of the site
 * that the page is of. */
void anchors_add(struct anchors *t, uint64_t target, struct span text, uint32_t site);
size_t anchors_memory(const struct anchors *t);

/* What is known of a page, from memory and store together. */
struct anchors_view {
    struct buf text; /* owned: the texts, '\n' between them */
    uint32_t votes, foreign_votes;
    struct buf sites; /* owned: numbers of the other sites that voted, 4 bytes each */
};
MUST_USE status anchors_look(struct anchors *t, struct store *s, uint64_t target, struct anchors_view *out);
void anchors_view_clear(struct anchors_view *v);
void anchors_view_done(struct anchors_view *v);
/* The page goes into the index with what anchors_look told: until something new comes, anchors_flush leaves it alone.
 */
void anchors_indexed(struct anchors *t, uint64_t target);

/* Writes everything new to the store, then calls fn for the pages that gained a text (or twice the votes) since they
 * were indexed, and forgets what is in memory. The caller brackets it in a transaction. */
typedef status anchors_fn(void *arg, uint64_t target, const struct anchors_view *view);
MUST_USE status anchors_flush(struct anchors *t, struct store *s, anchors_fn *fn, void *arg);
