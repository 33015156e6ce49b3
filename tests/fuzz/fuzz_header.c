/* Response heads, line by line, and the values in them: dates, Retry-After, Link, Content-Type. */
#include <assert.h>

#include "io/fetch_header.h"
#include "io/fetcher.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_inside(struct span part, struct span whole)
{
    return part.p >= whole.p && part.p + part.n <= whole.p + whole.n;
}

static void check_value(struct span v)
{
    const wall_ms now = 1800000000000;
    wall_ms date;
    struct span target;
    if (fetch_date(v, now, &date))
        assert(date > -62200000000000 && date < 253500000000000);
    assert(fetch_retry_after_ms(v, now) >= -1);
    if (link_canonical(v, &target))
        assert(target.n > 0 && is_inside(target, v));
    (void)type_is_page(v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span text = span_of(data, size);
    struct heads h = {0};
    check_value(text);
    heads_clear(&h);
    for (size_t at = 0; at < text.n;) {
        size_t end = span_find(text, '\n', at) + 1;
        struct span line = span_cut(text, at, end - at);
        heads_line(&h, line);
        check_value(span_from(line, span_find(line, ':', 0) + 1));
        at = end;
    }
    assert(h.bytes == size);
    for (int i = 0; i < HEAD_MAX; i++) {
        struct span v = heads_get(&h, (head_id)i);
        assert(v.n == 0 || is_inside(v, buf_span(&h.text)));
    }
    heads_done(&h);
    return 0;
}
