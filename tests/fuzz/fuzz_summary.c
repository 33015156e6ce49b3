/* Summaries come from journals and from other machines. What unpacks packs again to the same bytes; the fields that
 * become part of a content are good ones, and few, and a content has a digest. */
#include <assert.h>
#include <stdint.h>

#include "web/content.h"
#include "web/summary.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_content(struct arena *a, const struct summary *s)
{
    struct content c = {0};
    size_t bytes = 0;
    content_take_fields(a, s, &c);
    assert(c.field_count <= s->field_count && c.field_count <= CONTENT_FIELDS_MAX);
    for (size_t i = 0; i < c.field_count; i++) {
        assert(content_field_name(c.fields[i].name) && c.fields[i].value.n <= CONTENT_FIELD_VALUE_MAX);
        bytes += c.fields[i].name.n + c.fields[i].value.n;
    }
    assert(bytes <= CONTENT_FIELDS_BYTES_MAX && (content_digest(s) || !(s->digest || content_is_named(s))));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a;
    struct summary s, t;
    struct buf b = {0}, again = {0};
    arena_init(&a);
    if (summary_unpack(&a, span_of(data, size), &s) == ST_OK) {
        summary_pack(&s, &b);
        status st = summary_unpack(&a, buf_span(&b), &t);
        assert(st == ST_OK);
        summary_pack(&t, &again);
        assert(span_eq(buf_span(&b), buf_span(&again)));
        check_content(&a, &s);
        assert(content_digest(&s) == content_digest(&t));
    }
    buf_done(&b);
    buf_done(&again);
    arena_done(&a);
    return 0;
}
