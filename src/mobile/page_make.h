/* page_make.h - from a decoded page and its facts to what a program is given. Pure; any thread. */
#pragma once

#include "io/fetcher.h"
#include "mobile/page.h"
#include "web/url.h"

/* `html` is the decoded body that `facts` were collected from (with text and anchors), or empty for plain text; `lang`
 * as detected. Links are made absolute, <meta> names and properties are looked up in the head. Everything is in the
 * arena or borrowed from the arguments. */
void page_make(struct arena *a, const struct url *document, int http_status, struct span headers, struct span html,
               const struct facts *facts, struct span lang, struct program_page *out);
/* The headers that the fetcher keeps of an answer, as "Name: value\n" in the arena. */
struct span page_header_lines(struct arena *a, const struct fetch_result *r);
