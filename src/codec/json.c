#include "codec/json.h"

#include <math.h>

#include "base/utf8.h"

static void before_value(struct json *j)
{
    if (j->needs_comma)
        buf_putc(j->out, ',');
    j->needs_comma = true;
}

void json_open(struct json *j, char bracket)
{
    before_value(j);
    buf_putc(j->out, bracket);
    j->needs_comma = false;
}

void json_close(struct json *j, char bracket)
{
    buf_putc(j->out, bracket);
    j->needs_comma = true;
}

void json_key(struct json *j, const char *name)
{
    json_str(j, name);
    buf_putc(j->out, ':');
    j->needs_comma = false;
}

static void put_scalar(struct buf *out, uint32_t cp)
{
    if (cp == '"' || cp == '\\') {
        buf_putc(out, '\\');
        buf_putc(out, (char)cp);
    } else if (cp == '\n')
        buf_puts(out, "\\n");
    else if (cp == '\t')
        buf_puts(out, "\\t");
    else if (cp == '\r')
        buf_puts(out, "\\r");
    /* DEL and the C1 controls are legal in JSON, but not what a terminal should see. */
    else if (cp < 0x20 || (cp >= 0x7F && cp < 0xA0) || cp == 0x2028 || cp == 0x2029)
        buf_printf(out, "\\u%04x", (unsigned)cp);
    else
        buf_put_utf8(out, cp);
}

void json_text(struct json *j, struct span s)
{
    before_value(j);
    buf_putc(j->out, '"');
    for (size_t at = 0; at < s.n;)
        put_scalar(j->out, utf8_next(s, &at, NULL));
    buf_putc(j->out, '"');
}

void json_text_or_null(struct json *j, struct span s)
{
    if (s.n)
        json_text(j, s);
    else
        json_null(j);
}

void json_str(struct json *j, const char *s)
{
    json_text(j, span_str(s));
}

void json_u64(struct json *j, uint64_t v)
{
    before_value(j);
    buf_printf(j->out, "%llu", (unsigned long long)v);
}

void json_i64(struct json *j, int64_t v)
{
    before_value(j);
    buf_printf(j->out, "%lld", (long long)v);
}

void json_real(struct json *j, double v, int decimals)
{
    before_value(j);
    if (isfinite(v))
        buf_printf(j->out, "%.*f", decimals, v);
    else
        buf_puts(j->out, "null");
}

void json_bool(struct json *j, bool v)
{
    before_value(j);
    buf_puts(j->out, v ? "true" : "false");
}

void json_null(struct json *j)
{
    before_value(j);
    buf_puts(j->out, "null");
}

void json_raw(struct json *j, struct span s)
{
    before_value(j);
    buf_put(j->out, s);
}

static struct span peek(struct span object, const char *key)
{
    struct buf quoted = {0};
    buf_printf(&quoted, "\"%s\":", key);
    size_t at = span_search(object, buf_span(&quoted), false);
    struct span rest = span_from(object, at == object.n ? object.n : at + quoted.n);
    buf_done(&quoted);
    while (rest.n && ascii_is_space(rest.p[0]))
        rest = span_from(rest, 1);
    return rest;
}

uint64_t json_peek_u64(struct span object, const char *key)
{
    struct span rest = peek(object, key);
    size_t digits = 0;
    uint64_t v = 0;
    while (digits < rest.n && ascii_is_digit(rest.p[digits]))
        digits++;
    return span_u64(span_cut(rest, 0, digits), UINT64_MAX, &v) ? v : 0;
}
