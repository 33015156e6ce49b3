/* fuzz_table.c - any bytes as a table of a world, as a grid of cities, and as a number. Numbers are what strtod says.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "place/cities.h"
#include "sim/tsv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_table(struct span text, bool has_head)
{
    struct tsv *t = NULL;
    struct buf why = {0};
    if (tsv_open_text(text, "table", has_head, &t, &why) == ST_OK) {
        status st;
        while ((st = tsv_next(t, &why)) != ST_END) {
            double v = 0;
            uint32_t n = 0;
            buf_clear(&why);
            if (st != ST_OK)
                continue; /* the next line may be better */
            assert(tsv_cell_count(t) >= tsv_column_count(t));
            for (size_t i = 0; i <= tsv_cell_count(t) && i < 64; i++) {
                if (tsv_real(t, (int)i, -1e6, 1e6, &v, &why) == ST_OK)
                    assert(v >= -1e6 && v <= 1e6);
                if (tsv_u32(t, (int)i, 1000, &n, &why) == ST_OK)
                    assert(n <= 1000);
            }
        }
    }
    tsv_free(t);
    buf_done(&why);
}

static void read_number(struct span text)
{
    double v;
    if (!text_real(text, &v))
        return;
    char *copy = mem_str(text);
    assert(isfinite(v) && v == strtod(copy, NULL));
    free(copy);
}

static void read_cities(struct span text)
{
    struct cities c;
    if (cities_read(text, &c) != ST_OK)
        return;
    for (size_t i = 0; i < c.count; i++) {
        size_t n;
        const struct city *first = cities_of(&c, c.list[i].country, &n);
        assert(first <= &c.list[i] && &c.list[i] < first + n && spot_is_valid(c.list[i].spot));
    }
    cities_done(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span text = span_of(data, size);
    read_table(text, true);
    read_table(text, false);
    read_number(text);
    read_cities(text);
    return 0;
}
