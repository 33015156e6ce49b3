/* field.h - a field of a page (what a program emitted), as terms: one says that the page has it, one its value.
 *
 *     author, "Jane  DOE"  ->  "\1fauthor"  "\1fauthor=jane doe"
 *
 * Values are equal after folding (text/fold.h, fold_value). One of more than FIELD_VALUE_BYTES then is known by its
 * digest, so that every value can be looked for. Searched like site and language (segment.h, TERM_SPECIAL): no
 * positions. */
#pragma once

#include "base/buf.h"

#define FIELD_VALUE_BYTES 200

/* `name` is a good one (web/content.h); `out` has SEGMENT_TERM_MAX bytes. */
struct span field_term(struct span name, char *out);
/* `folded` is only worked with. */
struct span field_value_term(struct span name, struct span value, struct buf *folded, char *out);
