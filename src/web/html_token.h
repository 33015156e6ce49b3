/* html_token.h - HTML cut into tags, text and comments by the tokenizer states of the HTML Standard (13.2.5).
 *
 * One pass, no tree, no copies: a token is spans of the input, and what the standard would change in them (character
 * references, CR LF, NUL, upper case) is done only when asked, by html_decode and html_decode_name. So text that nobody
 * reads costs one search for '<'. The part of the tree builder, switching the tokenizer to raw text after <script> and
 * saying whether CDATA sections are open, is the caller's: html_switch and `foreign`.
 *
 *     html_begin(&t, page);
 *     while (html_next(&t, &tok))
 *         if (tok.kind == HTML_START && tok.tag == HTML_TAG_script)
 *             html_switch(&t, HTML_SCRIPT);
 *
 * Two neighbouring text tokens may belong to one text node. Input is valid UTF-8. Pure; any thread. Differs from the
 * standard in two corners: attributes past HTML_ATTRS_MAX are dropped, and of two attributes of one tag whose names are
 * the same but for NUL against a written U+FFFD both are kept. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/span.h"

#define HTML_ATTRS_MAX 256 /* kept of one tag */

/* Tags that somebody here treats specially; the others are HTML_TAG_other. Sorted. */
/* clang-format off */
#define HTML_TAGS(X) \
    X(a) X(address) X(area) X(article) X(aside) X(audio) X(b) X(base) X(big) X(blockquote) X(body) X(br) \
    X(button) X(canvas) X(caption) X(center) X(code) X(datalist) X(dd) X(desc) X(details) X(dialog) X(dir) \
    X(div) X(dl) X(dt) X(em) X(embed) X(fieldset) X(figcaption) X(figure) X(footer) X(foreignobject) X(form) \
    X(frame) X(frameset) X(h1) X(h2) X(h3) X(h4) X(h5) X(h6) X(head) X(header) X(hgroup) X(hr) X(html) X(i) \
    X(iframe) X(image) X(img) X(input) X(legend) X(li) X(link) X(listing) X(main) X(math) X(menu) X(meta) X(nav) \
    X(nobr) X(noembed) X(noframes) X(noscript) X(object) X(ol) X(optgroup) X(option) X(p) X(plaintext) X(pre) \
    X(ruby) X(s) X(script) X(search) X(section) X(select) X(small) X(span) X(strike) X(strong) X(style) X(sub) \
    X(summary) X(sup) X(svg) X(table) X(tbody) X(td) X(template) X(textarea) X(tfoot) X(th) X(thead) X(title) \
    X(tr) X(tt) X(u) X(ul) X(var) X(video) X(xmp)
/* clang-format on */

typedef enum html_tag {
    HTML_TAG_other,
#define X(name) HTML_TAG_##name,
    HTML_TAGS(X)
#undef X
        HTML_TAG_COUNT
} html_tag;

typedef enum html_kind { HTML_TEXT, HTML_START, HTML_END, HTML_COMMENT, HTML_DOCTYPE } html_kind;

/* Where the tokenizer stands between two tokens. */
typedef enum html_state { HTML_DATA, HTML_RCDATA, HTML_RAWTEXT, HTML_SCRIPT, HTML_PLAINTEXT } html_state;

/* What html_decode has to do. */
enum {
    HTML_REFS = 1,      /* character references */
    HTML_IN_ATTR = 2,   /* ... by the rule for attributes */
    HTML_NUL_SHOWN = 4, /* NUL becomes U+FFFD; else it stays */
};

struct html_attr {
    struct span name;  /* as written */
    struct span value; /* as written, without the quotes: see html_attr_value */
};

struct html_token {
    uint8_t kind;                  /* html_kind */
    uint8_t tag;                   /* html_tag, of start and end tags */
    uint8_t decode;                /* of text and comments: flags for html_decode */
    bool self_closing;             /* <br/> */
    bool at_eof;                   /* of a doctype: the input ended in it */
    struct span raw;               /* text, comment, tag name, or what follows "<!doctype" */
    size_t attr_count;             /* of start tags */
    const struct html_attr *attrs; /* borrowed from the tokenizer until the next html_next */
};

struct html_tok {
    const char *at, *end;    /* borrowed: the input still to come */
    uint8_t state;           /* html_state */
    bool foreign;            /* set by the caller: the current node is SVG or MathML, so <![CDATA[ opens a section */
    struct span last_start;  /* name of the last start tag: its end tag ends raw text */
    const bool *wants_attrs; /* borrowed, by html_tag: false skips the attributes of that tag; NULL keeps all */
    struct html_attr attrs[HTML_ATTRS_MAX];
};

void html_begin(struct html_tok *t, struct span html);
/* False at the end of the input; *tok is then undefined. */
bool html_next(struct html_tok *t, struct html_token *tok);
/* For the caller that plays the tree builder, right after a start tag. */
static inline void html_switch(struct html_tok *t, html_state state)
{
    t->state = (uint8_t)state;
}

/* The tag of a name in any case. */
html_tag html_tag_of(struct span name);
/* Lower-case; "" for HTML_TAG_other. */
const char *html_tag_name(html_tag tag);

/* The value of an attribute as written, or NULL. `name` in lower case. */
const struct span *html_attr_find(const struct html_token *tok, struct span name);
/* A value with its references decoded: the span itself when there is nothing to do, else a copy in the arena. */
struct span html_attr_value(struct arena *a, struct span raw);
/* The same for text and comments, by the flags of the token. */
struct span html_decoded(struct arena *a, struct span raw, unsigned flags);
/* Appends what `raw` stands for. */
void html_decode(struct buf *out, struct span raw, unsigned flags);
/* Appends a tag or attribute name in lower case. */
void html_decode_name(struct buf *out, struct span raw);

struct html_doctype {
    struct span name, public_id, system_id; /* as written; name NULL, ids NULL when missing */
    bool force_quirks;
};
/* The parts of a doctype token. */
struct html_doctype html_doctype_parse(const struct html_token *tok);
