/* lang.h - the language of a text, by CLD2; and what a page says of itself.
 *
 * Pure; any thread. */
#pragma once

#include "base/span.h"

#define LANG_SAMPLE_BYTES 600 /* of text looked at, at most */

/* The language of `text` as a short code ("en", "pt", "zh"), a static text; "" when there is too little to tell.
 * `declared` is what the page says ("pt-BR"; may be wrong or empty): believed without a look where the script of the
 * text is one that the language is written in, because a look costs more than all else that is done with a small page;
 * a hint otherwise. */
const char *lang_detect(struct span text, struct span declared);
/* Primary subtag of a declared language in lower case, as a static text; "" when it is none that we know. */
const char *lang_known(struct span declared);
