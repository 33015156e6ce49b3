/* pdf.h - a PDF with some text in it, as small as one can be: for the sample web and for tests. Pure. */
#pragma once

#include "base/buf.h"

/* Pages of lines in Helvetica. Text is UTF-8; what ISO-8859-1 does not have becomes '?'. An empty title: none. */
void sample_pdf(struct span title, struct span text, struct buf *out);
