/* facts_meta.h - the small grammars inside attributes: rel, robots, refresh. Pure. */
#pragma once

#include "base/status.h"
#include "base/span.h"

enum {
    REL_NEXT = 8, /* next or prev; the lower bits are REL_NOFOLLOW.. of facts.h */
    REL_ALTERNATE = 16,
    REL_CANONICAL = 32,
    REL_SITEMAP = 64,
    REL_STYLESHEET = 128,
};

/* The known words of a rel attribute. */
unsigned facts_rel(struct span rel);
/* PAGE_* flags of the content of a robots meta; `now` as in facts.h. */
unsigned facts_robots_content(struct span content, wall_ms now);
/* The URL of a refresh ("5; url='next.html'"), and whether it is to happen before the page can be read; false when it
 * names none. By the HTML Standard, 4.2.5.3. */
bool facts_refresh_url(struct span content, struct span *url, bool *is_at_once);
