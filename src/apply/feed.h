/* feed.h - from contents to the index: what waits, what links call it, what the index lacks after a kill.
 *
 * A new page waits here a little before it is indexed, because most links to it are found soon after it: so it is
 * indexed once with their texts, and not twice. Pages that gain texts later are indexed again when the anchors are
 * gathered (feed_finish, or when they take too much memory). Inside src/apply only; one thread. */
#pragma once

#include "apply/apply.h"
#include "base/table.h"
#include "codec/zip.h"
#include "store/contents.h"
#include "web/content.h"

#define APPLY_ANCHORS_SETTING "anchors_applied" /* number of the last content whose links are in the anchors */

struct feed;

/* Opens the index, and makes it anew when it is damaged or of other rules. `dict` is borrowed, and NULL while there is
 * none. */
MUST_USE status feed_open(const struct apply_opts *o, struct contents *contents, const struct zip_dict *dict,
                          struct feed **out, struct apply_start *start, struct buf *why);
void feed_free(struct feed *f); /* NULL is fine */
/* The contents got a dictionary. */
MUST_USE status feed_set_dictionary(struct feed *f, struct span dictionary, const struct zip_dict *dict);

/* A page's new content: its links count as anchors, and it is indexed soon. `packed` is the content, `zipped` the same
 * compressed. */
MUST_USE status feed_page(struct feed *f, uint64_t key, uint64_t fetch_number, struct span packed, struct span zipped);
MUST_USE status feed_gone(struct feed *f, uint64_t key, uint64_t fetch_number);
/* Contents up to number `last` are committed: hands over what waits and lets the index commit in the background. */
MUST_USE status feed_publish(struct feed *f, uint64_t last);
/* The same, with anchors gathered (in a transaction of its own), and waits until it is searchable. */
MUST_USE status feed_finish(struct feed *f, uint64_t last);
/* Anchors of the targets (keys of a table) are gathered anew from all contents that count, which takes reading them,
 * and those of the pages that are in the index go there again. The store has none of them when it is called; everything
 * else is finished. */
MUST_USE status feed_regather(struct feed *f, const struct table *targets);
/* Nothing of the pages that went is left in the files of the index. */
MUST_USE status feed_purge(struct feed *f);
void feed_get_stats(struct feed *f, struct apply_stats *out); /* any thread */
