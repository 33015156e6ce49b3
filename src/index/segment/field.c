#include "index/segment/field.h"

#include <assert.h>
#include <stdio.h>

#include "codec/digest.h"
#include "index/segment/segment.h"
#include "index/text/fold.h"
#include "web/content.h"

static_assert(2 + CONTENT_FIELD_NAME_MAX + 1 + FIELD_VALUE_BYTES <= SEGMENT_TERM_MAX, "a field fits a term");

#define DIGEST_MARK '\2' /* no folded value has it */

struct span field_term(struct span name, char *out)
{
    assert(name.n && name.n <= CONTENT_FIELD_NAME_MAX);
    out[0] = TERM_SPECIAL;
    out[1] = 'f';
    memcpy(out + 2, name.p, name.n);
    return span_of(out, name.n + 2);
}

struct span field_value_term(struct span name, struct span value, struct buf *folded, char *out)
{
    struct span term = field_term(name, out);
    char digest[20];
    buf_clear(folded);
    fold_value(value, folded);
    struct span f = buf_span(folded);
    if (f.n > FIELD_VALUE_BYTES) {
        int n = snprintf(digest, sizeof(digest), "%c%016llx", DIGEST_MARK, (unsigned long long)digest_blake2b64(f));
        f = span_of(digest, (size_t)n);
    }
    out[term.n] = '=';
    if (f.n)
        memcpy(out + term.n + 1, f.p, f.n);
    return span_of(out, term.n + 1 + f.n);
}
