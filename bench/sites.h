/* sites.h - a documentation site of bench/sites.tsv as the visits that an agent would report, without a crawl.
 *
 * Every .html file below SITES/NAME is a visit of http://NAME.example/PATH, in the order of the names. Of the links
 * only those are kept that an agent sends: the first with its text to its target, and links to other hosts. Timings,
 * etags and the like are made up as a web server would give them. Everything lives until site_free. One thread. */
#pragma once

#include "base/arena.h"
#include "base/status.h"
#include "web/summary.h"

struct site {
    struct summary *visits; /* owned; all that they point to is in the arena */
    struct span *html;      /* owned: the decoded bytes of each, when asked for */
    size_t count, cap, html_cap;
    size_t html_bytes, text_bytes;
    struct arena arena;
};

/* ST_NOT_FOUND: no page at all. */
MUST_USE status site_read(const char *sites, const char *name, bool keeps_html, struct site **out);
void site_free(struct site *s); /* NULL is fine */
