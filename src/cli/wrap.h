/* wrap.h - text for a terminal: broken at words to a width, with styles inside words, and columns counted as terminals
 * do.
 *
 *     wrap_begin(&w, &out, 80, 4); wrap_style(&w, bold); wrap_text(&w, title); wrap_style(&w, plain); wrap_end(&w);
 *
 * Every line begins in column `indent`. Text from outside is made safe (put_safe); styles are ours and take no room.
 * Words longer than a line, and scripts without spaces, are broken between characters. Pure. */
#pragma once

#include "base/buf.h"

struct wrap {
    struct buf *out; /* borrowed */
    size_t width;    /* 0: one line, however long */
    size_t indent, column;
    struct buf word; /* owned: what may not be broken, not yet written */
    size_t word_columns;
    bool has_blank; /* before the word */
};

/* The cursor is in column `column` already, where the first line begins; what follows begin at `indent`. */
void wrap_begin(struct wrap *w, struct buf *out, size_t width, size_t indent, size_t column);
void wrap_style(struct wrap *w, const char *escape);
void wrap_text(struct wrap *w, struct span text);
void wrap_end(struct wrap *w); /* ends the line */

/* Columns that a terminal gives a character: 0 (marks), 1 or 2 (CJK, emoji). */
unsigned char_columns(uint32_t c);
/* Of a text that is safe to print. */
size_t text_columns(struct span s);
