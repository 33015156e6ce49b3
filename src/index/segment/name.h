/* name.h - what a page is called, as one term: the terms of its title or of a link to it, in a row.
 *
 *     "Ring buffers"  ->  "\1nring buffer"
 *
 * Searched like site and language (segment.h, TERM_SPECIAL): it has no positions. */
#pragma once

#include "index/text/analyze.h"

#define NAME_BYTES_MAX 96 /* of the term; longer titles are sentences, and nobody types them */

/* Makes the name from tokens (wholes of identifiers are left out). Empty: there is no word, or it is too long. */
struct span name_of(const struct token *tokens, size_t n, char out[NAME_BYTES_MAX]);
