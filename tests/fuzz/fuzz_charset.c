/* The first line is a Content-Type value, the rest a page. The text must be valid UTF-8 within the ceiling. */
#include <stdlib.h>

#include "base/utf8.h"
#include "web/charset.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span in = span_of(data, size);
    size_t end = span_find(in, '\n', 0);
    struct span type = span_cut(in, 0, end), body = span_from(in, end + 1);
    struct arena a;
    arena_init(&a);
    struct charset_result r = {0};
    bool is_html = content_type_media(type).n % 2 == 1; /* "text/html" is nine bytes */
    size_t max = body.n + body.n / 2;
    status st = charset_decode(&a, body, content_type_charset(type), is_html, max, &r);
    if (st == ST_OK ? !utf8_is_valid(r.text) || r.text.n > max || !r.name : st != ST_LIMIT)
        abort();
    if (st == ST_LIMIT && charset_decode(&a, body, content_type_charset(type), is_html, 4 * body.n + 16, &r) != ST_OK)
        abort();
    arena_done(&a);
    return 0;
}
