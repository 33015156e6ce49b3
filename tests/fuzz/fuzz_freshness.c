/* fuzz_freshness.c - any bytes as the record of freshness. What is read is written the same, and drawn without a number
 * that is none. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "coord/admin_fresh.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void draw(const struct freshness *f, int64_t hour)
{
    struct fresh_times *t = malloc(sizeof(*t));
    struct buf out = {0};
    assert(t);
    for (int is_hours = 0; is_hours < 2; is_hours++) {
        fresh_times_get(f, hour * 3600 * 1000, is_hours, t);
        put_fresh_chart(&out, t);
        put_visits_chart(&out, t);
        put_waiting_chart(&out, t);
    }
    assert(span_search(buf_span(&out), SPAN("nan"), false) == out.n);
    buf_done(&out);
    free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct freshness *f = calloc(1, sizeof(*f)), *again = calloc(1, sizeof(*again));
    struct buf packed = {0};
    assert(f && again);
    if (freshness_unpack(f, span_of(data, size))) {
        freshness_pack(f, &packed);
        assert(freshness_unpack(again, buf_span(&packed)) && memcmp(f, again, sizeof(*f)) == 0);
        for (size_t i = 0; i < FRESHNESS_HOURS; i++)
            if (f->hours[i].at && f->hours[i].at < INT32_MAX) {
                assert(freshness_mean(&f->hours[i], f->hours[i].fresh) <= FRESHNESS_WHOLE);
                draw(f, f->hours[i].at);
                break;
            }
    }
    buf_done(&packed);
    free(f);
    free(again);
    return 0;
}
