/* search_json.h - a result as JSON: what `orb search --json` prints and /api/v1/search answers, docs/formats/search.md.
 *
 * Pure; any thread. */
#pragma once

#include "codec/json.h"
#include "index/search/search.h"

/* Appends one object without a line end. `r` comes from a search with `o`. */
void search_json(const struct search_result *r, const struct search_opts *o, struct buf *out);

/* The fields of a page as one value: {name: text}, with a list of texts for a name that is there more than once; null
 * when there are none. */
void search_json_fields(struct json *j, const struct summary_field *f, size_t n);
