/* facts.h - what one pass over an HTML page tells: links, title, text, and the page's own wishes.
 *
 * Works on the tokenizer (html_token.h), without a tree: raw text by tag name, a short stack of svg and math for CDATA.
 * Everything lives in the arena given or points into the input, so the input outlives the facts. Pure; any thread.
 *
 * Scripts do not run here, so the content of noscript counts as markup. The content of template counts for nothing.
 * Visible text is the text outside script, style, title, textarea, option, iframe, noembed, noframes and template; the
 * hidden attribute and style sheets are not looked at. White space (ASCII) folds to one space, in pre too. Start and
 * end of a block element and br make a '\n', table cells, buttons and the like at least a space. */
#pragma once

#include "base/arena.h"
#include "base/status.h"

#define FACTS_LINKS_MAX 20000
#define FACTS_HEADINGS_MAX 500
#define FACTS_TEXT_MAX (4u << 20) /* visible text kept; the digest covers all of it */
#define FACTS_ANCHOR_MAX 256      /* bytes of anchor text kept a link */
#define FACTS_HEADING_MAX 256     /* bytes of text kept a heading */
#define FACTS_HREFLANG_MAX 35     /* bytes, as long as language tags get (RFC 5646); a longer one is none */
#define FACTS_TITLE_MAX 1024
#define FACTS_DESCRIPTION_MAX 2048

typedef enum link_kind {
    LINK_A,         /* <a href>, <area href> */
    LINK_FRAME,     /* <iframe src>, <frame src> */
    LINK_REFRESH,   /* <meta http-equiv=refresh> */
    LINK_NEXT,      /* <link rel=next|prev> */
    LINK_ALTERNATE, /* <link rel=alternate>, of no type or text/html */
    LINK_FEED,      /* <link rel=alternate type=application/rss+xml|atom+xml> */
    LINK_SITEMAP,   /* <link rel=sitemap>; or named by an index of sitemaps */
    LINK_LISTED,    /* named by a sitemap or a feed; its text is the date of its last change (web/date.h), or empty */
} link_kind;

enum { REL_NOFOLLOW = 1, REL_UGC = 2, REL_SPONSORED = 4 };

struct fact_link {
    struct span href; /* as in the attribute, character references decoded, spaces trimmed; not resolved */
    struct span
        text;     /* anchor text and alt of its images, white space folded; hreflang of LINK_ALTERNATE; else empty */
    uint8_t kind; /* link_kind */
    uint8_t rel;  /* REL_* */
};

#define FACTS_TERM_LEVEL 7

struct fact_heading {
    uint8_t level; /* 1..6, or FACTS_TERM_LEVEL for the term of a definition list (<dt>), which heads its description */
    struct span text;
};

/* Page wishes, from <meta name=robots> and, by facts_robots_header, from X-Robots-Tag. */
enum { PAGE_NOINDEX = 1, PAGE_NOFOLLOW = 2, PAGE_NOARCHIVE = 4, PAGE_NOSNIPPET = 8 };
/* Not by the page; both come with PAGE_NOINDEX: a program has left it out (mobile/page.h); it is a sitemap or a feed
 * (web/sitemap.h), which nobody searches for. */
enum { PAGE_SKIPPED = 16, PAGE_LIST = 32 };

struct facts {
    struct span base;        /* href of the first <base href>, or empty */
    struct span canonical;   /* href of <link rel=canonical>, or empty */
    struct span leads_to;    /* of a refresh at once, which is a redirect in other words; or empty */
    struct span title;       /* first that is not empty, and not of an svg */
    struct span description; /* <meta name=description>, else og:description */
    struct span lang;        /* of <html lang>, else http-equiv content-language; as written, trimmed */
    struct fact_link *links;
    size_t link_count;
    struct fact_heading *headings;
    size_t heading_count;
    struct span text;    /* visible text: white space folded, '\n' at block boundaries; empty unless asked for */
    size_t text_bytes;   /* of the whole visible text, kept or not */
    uint64_t digest;     /* of the whole visible text, title not included; see facts_digest */
    unsigned page_flags; /* PAGE_* */
    bool links_cut;      /* more than FACTS_LINKS_MAX */
    bool has_script;     /* any <script> with or without src */
};

struct facts_opts {
    struct span agent; /* product token: <meta name=TOKEN> counts as <meta name=robots>; may be empty */
    bool keep_text;    /* fill in `text` */
    bool keep_anchors; /* fill in link text */
    wall_ms now;       /* for wishes with a date ("unavailable_after"); 0: they are not looked at */
};

/* `html` is valid UTF-8 (charset_decode). Cannot fail: broken HTML has facts too. */
void facts_collect(struct arena *a, struct span html, const struct facts_opts *opts, struct facts *out);

/* Plain text as a page: text, digest, text_bytes; title is the first non-empty line. */
void facts_collect_plain(struct arena *a, struct span text, const struct facts_opts *opts, struct facts *out);

/* The digest of a visible text. It travels, so it has no key: text that means harm can be made to collide. 64 bits from
 * two lanes of 64x64->128 multiplications over little-endian stripes of 32 bytes, the last padded with zeros, then the
 * length; see facts_text.c. */
uint64_t facts_digest(struct span text);

/* PAGE_* flags of one X-Robots-Tag value ("googlebot: nofollow, otherbot: noindex", "noindex"). */
unsigned facts_robots_header(struct span value, struct span agent, wall_ms now);
