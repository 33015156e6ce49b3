/* learn.h - what contents are compressed with is learnt from the first pages that have some text. Inside src/apply
 * only; one thread. */
#pragma once

#include "base/buf.h"
#include "base/status.h"

/* More samples cost time (40 ms for these) and gain 3 % of size. */
#define LEARN_SAMPLES 300
/* Level 1 with the dictionary makes 94 % of what level 3 saves in four fifths of its time. */
#define LEARN_ZIP_LEVEL 1

struct learner {
    struct buf samples; /* owned */
    size_t sizes[LEARN_SAMPLES];
    size_t count;
};

/* Takes a piece of a packed content. True: there are enough. */
bool learner_add(struct learner *l, struct span packed);
/* Appends the dictionary, and forgets the samples. ST_INVALID: they have nothing in common. */
MUST_USE status learner_train(struct learner *l, struct buf *out);
void learner_done(struct learner *l);
