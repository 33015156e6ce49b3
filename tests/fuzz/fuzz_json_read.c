/* fuzz_json_read.c - any bytes as the JSON object of an API request. What was read, written out again, reads the same.
 */
#include <assert.h>

#include "codec/json.h"
#include "codec/json_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* As lists, since names may come several times. */
static void write_again(const struct json_pair *p, size_t n, struct buf *out)
{
    struct json j = {.out = out};
    json_open(&j, '{');
    for (size_t i = 0, end; i < n; i = end) {
        struct buf name = {0};
        buf_put(&name, p[i].name);
        json_key(&j, buf_cstr(&name));
        buf_done(&name);
        json_open(&j, '[');
        for (end = i; end < n && span_eq(p[end].name, p[i].name); end++)
            json_text(&j, p[end].value);
        json_close(&j, ']');
    }
    json_close(&j, '}');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a;
    struct json_pair *p = NULL, *q = NULL;
    size_t n = 0, m = 0;
    const char *why = NULL;
    arena_init(&a);
    status st = json_read(&a, span_of(data, size), &p, &n, &why);
    assert(st == ST_OK || (why && why[0]));
    if (st == ST_OK) {
        struct buf b = {0};
        write_again(p, n, &b);
        st = json_read(&a, buf_span(&b), &q, &m, &why);
        assert(st == ST_LIMIT || (st == ST_OK && n == m));
        for (size_t i = 0; st == ST_OK && i < n; i++)
            assert(span_eq(p[i].name, q[i].name) && span_eq(p[i].value, q[i].value));
        buf_done(&b);
    }
    arena_done(&a);
    return 0;
}
