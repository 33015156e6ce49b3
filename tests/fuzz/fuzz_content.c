/* Contents come from the log of page texts, and are made from what other machines send. What unpacks packs again to
 * the same bytes, and its fields become terms. */
#include <assert.h>
#include <stdint.h>

#include "index/segment/field.h"
#include "index/segment/segment.h"
#include "web/content.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fold_fields(const struct content *c)
{
    struct buf folded = {0};
    char term[SEGMENT_TERM_MAX];
    for (size_t i = 0; i < c->field_count; i++)
        if (content_field_name(c->fields[i].name)) {
            struct span t = field_value_term(c->fields[i].name, c->fields[i].value, &folded, term);
            assert(t.n <= SEGMENT_TERM_MAX);
        }
    buf_done(&folded);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a;
    struct content c, d;
    struct buf b = {0}, again = {0};
    arena_init(&a);
    if (content_unpack(&a, span_of(data, size), &c) == ST_OK) {
        content_pack(&c, &b);
        status st = content_unpack(&a, buf_span(&b), &d);
        assert(st == ST_OK);
        content_pack(&d, &again);
        assert(span_eq(buf_span(&b), buf_span(&again)));
        fold_fields(&c);
    }
    buf_done(&b);
    buf_done(&again);
    arena_done(&a);
    return 0;
}
