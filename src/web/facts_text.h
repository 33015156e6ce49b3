/* facts_text.h - the visible text of a page as it grows: white space folded, blocks parted by '\n', digested.
 *
 * The fold writes into one buffer. When the text is kept, that is an arena buffer for the whole text, up to
 * FACTS_TEXT_MAX; what comes after it, or all of it when it is not kept, passes through a small window that is digested
 * and used again. The byte before `at` is always there: at the start it is a '\n' that is not part of the text, so that
 * leading white space folds into it.
 *
 *     window: [ \n | H e l l o _ w o r l d ]      '\n' replaces the '_' when a block ends after "Hello "
 *               ^start                    ^at
 */
#pragma once

#include "base/arena.h"
#include "base/span.h"

#define FOLD_WINDOW 8192
#define FOLD_SLACK 64 /* written past `limit` at most: one block, one reference, one boundary */

/* A digest of bytes fed in pieces; the pieces' sizes make no difference. */
struct text_digest {
    uint64_t a, b;
    uint64_t total;
    unsigned pending_n;
    char pending[32];
};

void text_digest_begin(struct text_digest *d);
void text_digest_add(struct text_digest *d, struct span s);
uint64_t text_digest_end(struct text_digest *d);

/* Part of the text that is wanted on its own: of an anchor or a heading, with '\n' as a space. */
struct capture {
    bool on;
    const char *from; /* in the fold's buffer: what is not copied yet starts here */
    size_t n, max;
    char *text; /* borrowed: max bytes */
};

struct fold {
    char *start, *at, *limit;
    const char *in_end; /* end of the page: up to here the input may be read */
    struct capture *captures;
    size_t capture_count;
    size_t passed; /* bytes that left the buffer */
    bool keeps;    /* `start` is the arena buffer still */
    struct span kept;
    struct text_digest digest;
    char window[FOLD_WINDOW + FOLD_SLACK];
};

/* The buffer for a page; `keep`: in the arena, for the whole text. Then the caller sets the captures. */
void fold_begin(struct fold *f, struct arena *a, struct span page, bool keep);
/* Text of the page (a span of it). `refs`: with character references. */
void fold_text(struct fold *f, struct span raw, bool refs);
/* Digest and kept text; no more text after this. */
void fold_end(struct fold *f, struct span *kept, size_t *bytes, uint64_t *digest);

/* The block ends here. */
static inline void fold_break(struct fold *f)
{
    if (f->at[-1] == ' ')
        f->at[-1] = '\n';
    else if (f->at[-1] != '\n')
        *f->at++ = '\n';
}

/* The word ends here. */
static inline void fold_gap(struct fold *f)
{
    if (f->at[-1] != ' ' && f->at[-1] != '\n')
        *f->at++ = ' ';
}

static inline void capture_begin(struct capture *c, const struct fold *f)
{
    c->on = true;
    c->from = f->at;
    c->n = 0;
}
/* Copies what came since. */
void capture_pull(struct capture *c, const struct fold *f);
/* Adds text from elsewhere as words of its own. */
void capture_add(struct capture *c, const struct fold *f, struct span text);
/* Ends it: a copy in the arena, without white space at the ends. */
struct span capture_end(struct capture *c, const struct fold *f, struct arena *a);

/* A short text, folded to one line of at most `max` bytes; in the arena or `s` itself. */
struct span fold_line(struct arena *a, struct span s, size_t max);
