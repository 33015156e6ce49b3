/* json_token.h - JSON as a row of brackets, names and texts, from beginning to end, whatever is broken in it.
 *
 * For what strangers send: one pass, no tree, no memory of its own (codec/json_tree.h makes a tree of what our own
 * programs write). Numbers, truths and commas are passed over, and so is what JSON has no place for. A text that the
 * end cuts in two, or that nothing follows, is not there. Works on valid UTF-8 (charset_decode); tokens point into it.
 * Pure; any thread. */
#pragma once

#include "base/arena.h"
#include "base/span.h"

typedef enum json_token_kind {
    JSON_OPEN,  /* { or [ */
    JSON_CLOSE, /* } or ] */
    JSON_NAME,  /* a text before a colon */
    JSON_TEXT,  /* any other */
} json_token_kind;

struct json_token {
    json_token_kind kind;
    char bracket;     /* JSON_OPEN, JSON_CLOSE */
    struct span text; /* JSON_NAME, JSON_TEXT: as written, without quotes; see json_token_text */
};

struct json_reader {
    struct span in;
    size_t at;
};

void json_begin(struct json_reader *r, struct span text);
bool json_next(struct json_reader *r, struct json_token *out); /* false: the end */
/* A text with its escapes decoded; what is no escape stands for itself. In the arena when there are any. */
struct span json_token_text(struct arena *a, struct span text);
