/* words.h - sentences in several languages, from which the sample pages are put together. */
#pragma once

#include "base/buf.h"
#include "base/rng.h"

struct words {
    const char *lang;             /* BCP 47 */
    const char *const *sentences; /* UTF-8, at least 60 bytes each */
    unsigned count;
};

/* Never NULL: English for a language we have no words in. */
const struct words *words_of(const char *lang);
/* A paragraph of sentences drawn by `r`, of at least `bytes` bytes, without markup (no sentence needs escaping). */
void words_paragraph(const struct words *w, struct rng *r, size_t bytes, struct buf *out);
/* The first few words of a sentence, for titles and anchors. */
struct span words_title(const struct words *w, struct rng *r);
