/* fuzz_zone.c - any bytes as a compiled time zone, and as the name of one. Offsets stay within 26 hours at any time. */
#include <assert.h>

#include "place/zone.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const wall_ms times[] = {INT64_MIN, -1, 0, 1700000000000, 4000000000000, INT64_MAX};
    struct zone *z = NULL;
    struct span in = span_of(data, size);
    if (zone_new(in, &z) == ST_OK)
        for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
            int32_t offset = zone_offset(z, times[i]);
            assert(offset >= -97200 && offset <= 97200); /* and one hour of summer time */
        }
    zone_free(z);
    if (zone_name_is_good(in))
        assert(size < ZONE_NAME_MAX && data[0] != '/' && span_search(in, SPAN(".."), false) == size);
    return 0;
}
