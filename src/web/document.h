/* document.h - the body of an answer as a document: what kind it is, by its type and name, and what it says.
 *
 * The one place that knows which reader a media type gets. Pure; any thread. */
#pragma once

#include "base/arena.h"
#include "base/status.h"
#include "web/facts.h"

#define DOCUMENT_TEXT_MAX (64u << 20) /* bytes after decoding */

typedef enum document_kind {
    DOCUMENT_HTML,     /* also when there is no type */
    DOCUMENT_MARKDOWN, /* text/markdown; plain text, and files of no known type, that are called .md */
    DOCUMENT_PLAIN, /* text/plain and other text/ that people read: tables, calendars, source code; README of no known
                       type */
    DOCUMENT_LIST,  /* a sitemap or a feed (web/sitemap.h), perhaps gzipped */
    DOCUMENT_PDF,   /* what another program says of it is read: document_read_pdf */
    DOCUMENT_OTHER, /* nothing here reads it */
} document_kind;

/* `url` tells Markdown from plain text, and lists that are gzipped, texts and PDFs that are served as no type at all
 * (application/octet-stream), from other files; it may be empty. XML counts as a list until it is read; lists of other
 * types turn out to be such then. */
document_kind document_kind_of(struct span content_type, struct span url);
/* Its body is of use to document_read. */
bool document_is_read(struct span content_type, struct span url);
/* The same for whoever fetches it (a fetch_wants_fn): however long it is, its beginning says something. */
bool document_is_wanted(struct span content_type, struct span url, uint64_t declared_bytes);

struct document {
    document_kind kind; /* DOCUMENT_OTHER also for what is called text, and is not */
    struct span source; /* the body in UTF-8; empty for DOCUMENT_PDF and DOCUMENT_OTHER */
    struct span charset;
    struct facts facts; /* all zero for DOCUMENT_OTHER; of a list its links, with their dates as texts, and a digest of
                           both */
};

/* Everything is in the arena or borrowed from `body`. Of a PDF nothing is read. ST_LIMIT: more than DOCUMENT_TEXT_MAX
 * of text, or a gzip body that grows beyond measure. */
MUST_USE status document_read(struct arena *a, struct span content_type, struct span url, struct span body,
                              const struct facts_opts *o, struct document *out);
/* `said`: what pdftotext made of it (pdf_text.h), as it came. */
MUST_USE status document_read_pdf(struct arena *a, struct span said, const struct facts_opts *o, struct document *out);
