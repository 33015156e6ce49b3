/* Summaries come from journals and, later, from other machines. What unpacks packs again to the same bytes. */
#include <assert.h>
#include <stdint.h>

#include "web/summary.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
    }
    buf_done(&b);
    buf_done(&again);
    arena_done(&a);
    return 0;
}
