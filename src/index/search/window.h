/* window.h - stretches of documents worked on at once: for words that are in so many pages that stepping from page to
 * page costs more than the pages do.
 *
 * A window is WINDOW_DOCS documents from `base` on; what is known of them is a bit, or a number, each. Filling moves
 * the cursors to the window's end. */
#pragma once

#include "index/search/match.h"

#define WINDOW_DOCS 1024u
#define WINDOW_WORDS (WINDOW_DOCS / 64)

struct window {
    uint32_t base, end;
};

typedef uint64_t window_bits[WINDOW_WORDS];

/* Sets the bits of the documents that have the word. */
void window_fill(struct window at, struct word_cursor *w, window_bits bits);
/* Besides that, what each of them scores for the word: the same as match_score adds. Blocks that cannot bring a page in
 * may be left out: those whose bound is below `need`. True: some were. */
bool window_score(struct matcher *m, struct window at, struct word_cursor *w, double need, window_bits bits,
                  double scores[WINDOW_DOCS]);
/* The most that a document of the window can score for the word; 0 when none has it. */
double window_bound(struct matcher *m, struct window at, struct word_cursor *w);
/* Documents of this part that are not dead. */
void window_live(const struct matcher *m, struct window at, window_bits bits);
/* Documents whose prior has at least this code; returns how many. */
unsigned window_good_prior(const struct matcher *m, struct window at, unsigned least, window_bits bits);
unsigned window_count(const window_bits bits);
