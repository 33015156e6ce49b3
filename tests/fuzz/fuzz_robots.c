/* The first line is a request target, the rest a robots.txt. Packing must change nothing, the rule that decides must
 * match, and matching must be linear. The same bytes are also read as a packed file. */
#include <stdlib.h>

#include "web/robots.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_rule(struct robots_verdict v, struct span target)
{
    if (v.rule.n == 0)
        return;
    struct span pattern = span_from(v.rule, span_find(v.rule, ' ', 0) + 1);
    uint64_t steps = 0;
    if (!robots_match(pattern, target, &steps))
        abort();
    if (steps > 2 * 3 * (pattern.n + target.n + 1)) /* twice, and one octet may become three */
        abort();
}

static void check_same(const struct robots *a, struct span target)
{
    struct buf packed = {0}, again = {0};
    struct robots *b = NULL;
    robots_pack(a, &packed);
    if (robots_unpack(buf_span(&packed), &b) != ST_OK)
        abort();
    robots_pack(b, &again);
    struct robots_verdict x = robots_check(a, target), y = robots_check(b, target);
    if (!span_eq(buf_span(&packed), buf_span(&again)) || x.allowed != y.allowed || x.line != y.line)
        abort();
    check_rule(x, target);
    robots_free(b);
    buf_done(&packed);
    buf_done(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span in = span_of(data, size);
    size_t end = span_find(in, '\n', 0);
    struct span target = span_cut(in, 0, end), body = span_from(in, end + 1);
    struct robots *r = robots_parse(body, SPAN("orbweaver/1.0"));
    check_same(r, target);
    robots_free(r);
    if (robots_unpack(in, &r) == ST_OK) {
        (void)robots_check(r, SPAN("/some/path?with=a&query"));
        robots_free(r);
    }
    return 0;
}
