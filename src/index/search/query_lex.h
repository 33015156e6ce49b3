/* query_lex.h - cuts what was typed into items: words, phrases, operators. For query.c. Pure.
 *
 *     -title:"full text"   one item: negative, FIELD_TITLE, a phrase, text `full text`
 *
 * Any bytes are some items; a lexer may be copied to look ahead. */
#pragma once

#include "base/span.h"

typedef enum item_kind { ITEM_END, ITEM_OR, ITEM_AND, ITEM_NOT, ITEM_TEXT } item_kind;

typedef enum item_field {
    FIELD_NONE,
    FIELD_TITLE,
    FIELD_URL,
    FIELD_SITE,
    FIELD_LANG,
    FIELD_TYPE,
    FIELD_BEFORE,
    FIELD_AFTER,
    FIELD_EMITTED /* field:name, field:name=value, field:name="some words": of a program */
} item_field;

struct item {
    item_kind kind;
    item_field field;
    bool is_negative, is_phrase, is_unclosed;
    struct span text;  /* without quotes, sign and field; of FIELD_EMITTED the name */
    struct span value; /* of FIELD_EMITTED */
    bool has_value;
    struct span source; /* with them */
};

struct lexer {
    struct span text;
    size_t at;
};

struct item query_lex(struct lexer *lx);
