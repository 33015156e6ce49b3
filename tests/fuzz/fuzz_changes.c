/* Histories of changes: whatever the file says, times are in order and histories are not empty. */
#include <assert.h>

#include "sim/changes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (int kind = 0; kind < 4; kind++) {
        struct changes c;
        struct buf why = {0};
        struct changes_opts o = {.has_mass_edits = kind & 1, .by_folder = kind & 2};
        if (changes_read_text(span_of(data, size), "fuzz", &o, &c, &why) == ST_OK) {
            assert(c.count > 0);
            for (size_t i = 0; i < c.count; i++) {
                assert(c.list[i].count > 0 && c.list[i].times[0] >= c.first);
                for (size_t k = 1; k < c.list[i].count; k++)
                    assert(c.list[i].times[k - 1] < c.list[i].times[k] && c.list[i].times[k] <= c.last);
            }
            changes_done(&c);
        } else
            assert(why.n || size == 0 || size > 100000);
        buf_done(&why);
    }
    return 0;
}
