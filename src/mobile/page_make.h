/* page_make.h - from a decoded page and its facts to what a program is given. Pure; any thread. */
#pragma once

#include "mobile/page.h"
#include "web/url.h"

/* `html` is the decoded body that `facts` were collected from (with text and anchors), or empty for plain text; `lang`
 * as detected. Links are made absolute, <meta> names and properties are looked up in the head. Everything is in the
 * arena or borrowed from the arguments. */
void page_make(struct arena *a, const struct url *document, int http_status, struct span headers, struct span html,
               const struct facts *facts, struct span lang, struct program_page *out);
/* The same from a body as it was received: decodes it, collects the facts, tells the language. ST_LIMIT: too much text.
 */
struct page_source {
    const struct url *document;
    int http_status;
    struct span headers; /* "Name: value\n" */
    struct span content_type, body;
    struct span agent; /* product token, for robots in <meta> */
};
MUST_USE status page_read(struct arena *a, const struct page_source *s, struct program_page *out);
