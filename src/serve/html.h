/* html.h - text into HTML, safely, and the small texts of pages: numbers, dates, breadcrumbs.
 *
 * Everything from the index or from a request goes through html_text: characters that mean something in HTML are
 * escaped for text and for quoted attributes alike, control characters become spaces and broken UTF-8 becomes U+FFFD.
 * All functions append. Pure; any thread. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"
#include "index/search/search.h"

void html_text(struct buf *out, struct span s);
/* Percent-encoded for the value of a query parameter. Needs no html_text after it. */
void html_query_value(struct buf *out, struct span s);
/* With <mark> around what is marked. Marks that overlap or pass the end are left out. */
void html_marked(struct buf *out, const struct marked *m);

/* The address for an href attribute, escaped; false, and nothing is written, when it is not http or https. */
bool html_href(struct buf *out, struct arena *a, struct span url);
/* "example.org > docs > page": where a page is, for people. Escapes are decoded where that is safe to show. */
void html_breadcrumbs(struct buf *out, struct arena *a, struct span url);

void html_count(struct buf *out, uint64_t n);         /* "1,234" */
void html_bytes(struct buf *out, uint64_t n);         /* "41.2 MB" */
void html_date(struct buf *out, wall_ms t);           /* <time datetime="2026-01-31">31 Jan 2026</time> */
void html_duration(struct buf *out, int64_t seconds); /* "4 min", "2 h 5 min", "3 days" */

/* "German" for "de"; the code itself, escaped, when it is not in the table. */
void html_language(struct buf *out, struct span code);

/* Writes a template of ui/: every {{name}} is replaced by its value, escaped unless is_html. Unknown names are left
 * out. */
struct html_fill {
    const char *name;
    struct span value;
    bool is_html;
};
void html_template(struct buf *out, struct span text, const struct html_fill *fills, size_t fill_count);
