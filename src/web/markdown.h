/* markdown.h - the facts of a Markdown document: made into simple HTML in one pass, which facts.h then reads.
 *
 * CommonMark in the main, with tables and bare links as GitHub has them: headings of both kinds, fenced and indented
 * code, lists, quotes, links of all three kinds, front matter. Marks of emphasis and code are taken off. HTML inside is
 * HTML. What people see is the same; what blocks nest in what is not kept, for nobody asks. Broken Markdown is text.
 * Time and memory grow with the document only. Pure; any thread. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "web/facts.h"

#define MARKDOWN_REFS_MAX 5000        /* [label]: definitions; later ones are not looked at */
#define MARKDOWN_PARAGRAPH_MAX 65536  /* bytes; a longer one is read in pieces */
#define MARKDOWN_HTML_MAX (48u << 20) /* what it becomes; the rest is left out */

/* `text` is valid UTF-8. The title is that of the front matter, else the first heading of the highest level. Everything
 * is in the arena. */
void markdown_facts(struct arena *a, struct span text, const struct facts_opts *opts, struct facts *out);
/* The HTML that it is read as; `title` is set when the front matter has one (in the arena). */
void markdown_html(struct arena *a, struct span text, struct buf *out, struct span *title);
