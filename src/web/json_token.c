#include "web/json_token.h"

#include "base/buf.h"

void json_begin(struct json_reader *r, struct span text)
{
    *r = (struct json_reader){text, 0};
}

static void skip_space(struct json_reader *r)
{
    while (r->at < r->in.n && ascii_is_space(r->in.p[r->at]))
        r->at++;
}

/* Behind the quote. False: it has no end. */
static bool take_text(struct json_reader *r, struct span *out)
{
    size_t from = r->at;
    for (size_t i = from; i < r->in.n; i++) {
        if (r->in.p[i] == '\\') {
            i++;
        } else if (r->in.p[i] == '"') {
            *out = span_cut(r->in, from, i - from);
            r->at = i + 1;
            return true;
        }
    }
    r->at = r->in.n;
    return false;
}

bool json_next(struct json_reader *r, struct json_token *out)
{
    while (r->at < r->in.n) {
        char c = r->in.p[r->at++];
        if (c == '{' || c == '[' || c == '}' || c == ']') {
            *out = (struct json_token){.kind = c == '{' || c == '[' ? JSON_OPEN : JSON_CLOSE, .bracket = c};
            return true;
        }
        if (c != '"')
            continue;
        *out = (struct json_token){.kind = JSON_TEXT};
        if (!take_text(r, &out->text))
            return false;
        skip_space(r);
        if (r->at == r->in.n) /* cut: it may have been to be a name */
            return false;
        if (r->in.p[r->at] == ':')
            out->kind = JSON_NAME;
        return true;
    }
    return false;
}

/* ---- escapes ---- */

static bool hex4(struct span s, size_t at, uint32_t *out)
{
    uint32_t v = 0;
    if (at + 4 > s.n)
        return false;
    for (size_t i = at; i < at + 4; i++) {
        int d = ascii_hex(s.p[i]);
        if (d < 0)
            return false;
        v = v << 4 | (uint32_t)d;
    }
    *out = v;
    return true;
}

/* \uXXXX, or two of them for what is beyond the first plane, behind the 'u'. Half of a pair is U+FFFD. 0: none. */
static size_t put_unicode(struct buf *out, struct span s, size_t at)
{
    uint32_t c, low;
    size_t n = 4;
    if (!hex4(s, at, &c))
        return 0;
    if (c >= 0xD800 && c < 0xDC00 && at + 6 <= s.n && s.p[at + 4] == '\\' && s.p[at + 5] == 'u' &&
        hex4(s, at + 6, &low) && low >= 0xDC00 && low < 0xE000) {
        c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
        n = 10;
    }
    buf_put_utf8(out, c >= 0xD800 && c < 0xE000 ? 0xFFFD : c);
    return n;
}

struct span json_token_text(struct arena *a, struct span text)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    struct buf out = {0};
    if (span_find(text, '\\', 0) == text.n)
        return text;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        size_t n = 0;
        if (c == '\\' && i + 1 < text.n) {
            size_t which = span_find(span_str(from), text.p[i + 1], 0);
            if (which < sizeof(from) - 1) {
                c = to[which];
                i++;
            } else if (text.p[i + 1] == 'u') {
                n = put_unicode(&out, text, i + 2);
            }
        }
        if (n)
            i += 1 + n;
        else
            buf_putc(&out, c);
    }
    struct span copy = arena_copy(a, buf_span(&out));
    buf_done(&out);
    return copy;
}
