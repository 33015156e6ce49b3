/* markdown_inline.h - the inside of a paragraph: links, code, emphasis, HTML. Inside src/web only. */
#pragma once

#include "base/buf.h"
#include "base/span.h"

struct markdown_ref {
    struct span label, url; /* borrowed */
};

/* Definitions, sorted by markdown_ref_cmp. */
struct markdown_refs {
    struct markdown_ref *refs;
    size_t n;
};

int markdown_ref_cmp(const void *a, const void *b);
/* The URL at *at: "<...>" or up to white space, parentheses balanced. False: there is none. */
bool markdown_destination(struct span s, size_t *at, struct span *url);

void markdown_escape(struct buf *out, struct span text);
/* `text` has at most MARKDOWN_PARAGRAPH_MAX bytes; `matches` as many, only worked with. */
void markdown_inline(struct buf *out, struct span text, const struct markdown_refs *refs, uint32_t *matches);
