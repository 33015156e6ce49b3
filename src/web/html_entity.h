/* html_entity.h - character references of HTML: "&amp;", "&#x41;".
 *
 * Pure; any thread. */
#pragma once

#include "base/span.h"

#define HTML_REF_OUT 8 /* bytes that one reference becomes, at most */

/* Decodes the reference at the start of `s`, which begins with '&'. Returns how many bytes of `s` it takes and puts its
 * UTF-8 in out[0..*out_n); 0 when there is no reference and the '&' stands for itself. In an attribute "&copy=1" and
 * "&copyx" are no references, for the sake of query strings. */
size_t html_ref(struct span s, bool in_attribute, char out[HTML_REF_OUT], size_t *out_n);
