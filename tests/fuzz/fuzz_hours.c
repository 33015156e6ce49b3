/* fuzz_hours.c - any bytes as an agent's hours. Their normal form reads back as the same hours, and the next change is
 * one. */
#include <assert.h>

#include "plan/hours.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int32_t two_hours(void *arg, wall_ms at)
{
    (void)arg;
    return at < INT64_C(1711846800000) ? 7200 : 10800; /* summer time begins */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hours h, again;
    struct buf why = {0}, text = {0};
    if (hours_parse(span_of(data, size), &h, &why) == ST_OK) {
        hours_format(&h, &text);
        status st = hours_parse(buf_span(&text), &again, NULL);
        assert(st == ST_OK && memcmp(&h, &again, sizeof(h)) == 0);
        for (wall_ms at = INT64_C(1711500000000); at < INT64_C(1712200000000); at += 98765432) {
            wall_ms next = hours_next_change(&h, at, two_hours, NULL);
            assert(next > at);
            assert(next == INT64_MAX ||
                   hours_is_open(&h, at, two_hours, NULL) != hours_is_open(&h, next, two_hours, NULL));
        }
    }
    buf_done(&why);
    buf_done(&text);
    return 0;
}
