/* words.h - what pages need in each language whatever they are about: words of the frame, dates, and loose sentences.
 */
#pragma once

#include <time.h>

#include "base/buf.h"
#include "base/rng.h"

struct words {
    const char *lang;             /* BCP 47 */
    const char *const *sentences; /* UTF-8, at least 60 bytes each, nothing to escape */
    unsigned count;
    const char *home, *more, *neighbours, *print;
    const char *date;          /* D, M and Y stand for the numbers, M for the month's name where there are names */
    const char *const *months; /* twelve, or NULL */
};

/* Never NULL: English for a language we have no words in. */
const struct words *words_of(const char *lang);
/* A paragraph of sentences drawn by `r`, of at least `bytes` bytes, without markup. */
void words_paragraph(const struct words *w, struct rng *r, size_t bytes, struct buf *out);
/* The first few words of a sentence, for titles and anchors. */
struct span words_title(const struct words *w, struct rng *r);
/* The day in UTC, as people of that language write it. */
void words_date(const struct words *w, time_t at, struct buf *out);
