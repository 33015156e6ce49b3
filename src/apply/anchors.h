/* anchors.h - what links call the pages they point to: gathered in memory, written to the store in batches.
 *
 * The text of a link describes its target better than many a title. The same text for the same page counts once, and
 * ANCHORS_A_PAGE texts are kept of a page; further ones only count as votes. One thread. */
#pragma once

#include "base/buf.h"
#include "store/store.h"

#define ANCHORS_A_PAGE 16
#define ANCHORS_BYTES 512 /* of all texts of a page together */

struct anchors;

struct anchors *anchors_new(void);
void anchors_free(struct anchors *t); /* NULL is fine */

/* A page links to `target` with this text; is_foreign: from another site. */
void anchors_add(struct anchors *t, uint64_t target, struct span text, bool is_foreign);
size_t anchors_memory(const struct anchors *t);

/* What is known of a page, from memory and store together. */
struct anchors_view {
    struct buf text; /* owned: the texts, '\n' between them */
    uint32_t votes, foreign_votes;
};
MUST_USE status anchors_look(struct anchors *t, struct store *s, uint64_t target, struct anchors_view *out);
/* The page goes into the index with what anchors_look told: until something new comes, anchors_flush leaves it alone.
 */
void anchors_indexed(struct anchors *t, uint64_t target);

/* Writes everything new to the store, then calls fn for the pages that gained a text (or twice the votes) since they
 * were indexed, and forgets what is in memory. The caller brackets it in a transaction. */
typedef status anchors_fn(void *arg, uint64_t target, const struct anchors_view *view);
MUST_USE status anchors_flush(struct anchors *t, struct store *s, anchors_fn *fn, void *arg);
