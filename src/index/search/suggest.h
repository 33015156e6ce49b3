/* suggest.h - "did you mean": words that the index has, near to those that it has not. */
#pragma once

#include "base/arena.h"
#include "index/search/query.h"
#include "index/snapshot.h"

/* The query with rare or unknown words replaced by near ones (edit distance 1, or 2 from eight letters on) that are far
 * more frequent; empty when there is nothing better. The replacement is a word as pages write it, not its stem: taken
 * from the text of a page that has it. Words written together are split, and the other way round. `q` is what
 * query_parse made of `text`. Bounded: looks up at most SUGGEST_LOOKUPS_MAX terms. */
#define SUGGEST_LOOKUPS_MAX 4000
#define SUGGEST_TYPED_MAX 16 /* words of a query looked at */
MUST_USE status suggest(const struct index_snapshot *s, struct arena *a, struct analyzer *an, struct span text,
                        const struct query *q, struct span *out);
