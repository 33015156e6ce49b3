/* fuzz_regex.c - the first line is a pattern, as people write it for a channel, the rest a URL. No pattern can stall us
 * or read past the text; the same question has the same answer. */
#include <assert.h>
#include <stdint.h>

#include "codec/regex.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span all = span_of(data, size), pattern = span_cut(all, 0, span_find(all, '\n', 0));
    struct span text = span_cut(span_from(all, pattern.n + 1), 0, 512); /* at most two seconds at 8,192 */
    struct buf why = {0};
    struct regex *r;
    status st = regex_new(pattern, &r, &why);
    assert(st == ST_OK || st == ST_INVALID || st == ST_LIMIT);
    assert(st != ST_INVALID || why.n);
    if (st == ST_OK) {
        status once = regex_find(r, text), twice = regex_find(r, text);
        assert(once == twice && (once == ST_OK || once == ST_NOT_FOUND || once == ST_LIMIT));
        regex_free(r);
    }
    buf_done(&why);
    return 0;
}
