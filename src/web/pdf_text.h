/* pdf_text.h - the facts of a PDF, from what pdftotext (poppler) says of it.
 *
 * Read is the output of `pdftotext -htmlmeta -enc UTF-8`: a head in HTML with the title that the document has of
 * itself, then the text, which is not escaped, in one <pre>. Many titles are what an office program had at hand
 * ("Microsoft Word - draft3.doc", "untitled"): those are cleaned, or the first line of the text stands in. Pure; any
 * thread. */
#pragma once

#include "base/arena.h"
#include "web/facts.h"

/* Anything is read: what is not such output is taken as the text. Everything is in the arena or borrowed from `said`,
 * which is valid UTF-8. */
void pdf_facts(struct arena *a, struct span said, const struct facts_opts *opts, struct facts *out);
