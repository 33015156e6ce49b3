/* xml_token.h - XML as a row of tags and texts, from beginning to end, whatever is broken in it.
 *
 * One pass, no tree, no memory of its own. Comments, processing instructions and the document type are passed over;
 * entities that a document declares are not known, so nothing can grow. What XML forbids is taken the way that loses
 * least: a tag ends at the next '<' at the latest, and a '<' or '&' that begins nothing stands for itself. A tag that
 * the end cuts in two is not there. Works on valid UTF-8 (charset_decode); tokens point into it. Pure; any thread. */
#pragma once

#include "base/arena.h"
#include "base/span.h"

typedef enum xml_kind {
    XML_START, /* <a>, and <a/> with is_empty */
    XML_END,   /* </a> */
    XML_TEXT,  /* between two tags, in pieces */
} xml_kind;

struct xml_token {
    xml_kind kind;
    struct span name;  /* without the prefix of its namespace */
    struct span attrs; /* XML_START: as written; see xml_attr */
    struct span text;  /* XML_TEXT */
    bool is_literal;   /* XML_TEXT of a CDATA section: has no references */
    bool is_empty;
};

struct xml_reader {
    struct span in;
    size_t at;
};

void xml_begin(struct xml_reader *r, struct span text);
bool xml_next(struct xml_reader *r, struct xml_token *out); /* false: the end */

/* The value of a start tag's attribute of that name, whatever its prefix, references decoded and spaces trimmed; false
 * when it has none. In the arena, or of the text. */
bool xml_attr(struct arena *a, const struct xml_token *t, struct span name, struct span *out);
/* A text, or a part of one, with its references decoded: those of HTML too, since feeds are full of them. In the arena
 * when there are any. */
struct span xml_text(struct arena *a, const struct xml_token *t);
