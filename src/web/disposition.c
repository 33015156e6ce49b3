#include "web/disposition.h"

#include "base/buf.h"
#include "base/utf8.h"

#define VALUE_MAX 4096 /* of a header that is looked at */

struct param {
    struct span name, value; /* value: with backslashes when it is quoted */
    bool is_quoted;
};

/* "; name=value" or "; name="va\"lue"", from *rest on. False: no more. */
static bool next_param(struct span *rest, struct param *out)
{
    size_t at = span_find(*rest, ';', 0);
    if (at == rest->n)
        return false;
    struct span s = span_trim(span_from(*rest, at + 1));
    size_t n = 0;
    while (n < s.n && s.p[n] != '=' && s.p[n] != ';')
        n++;
    *out = (struct param){.name = span_trim(span_cut(s, 0, n))};
    if (n == s.n || s.p[n] == ';') {
        *rest = span_from(s, n);
        return true;
    }
    s = span_trim(span_from(s, n + 1));
    n = 0;
    out->is_quoted = s.n && s.p[0] == '"';
    if (out->is_quoted) {
        size_t end = 1;
        while (end < s.n && s.p[end] != '"')
            end += s.p[end] == '\\' ? 2 : 1;
        out->value = span_cut(s, 1, (end < s.n ? end : s.n) - 1);
        n = end < s.n ? end + 1 : s.n;
    } else {
        while (n < s.n && s.p[n] != ';')
            n++;
        out->value = span_trim(span_cut(s, 0, n));
    }
    *rest = span_from(s, n);
    return true;
}

static void put_latin1(struct buf *out, unsigned char c)
{
    if (c >= 0x80) {
        buf_putc(out, (char)(0xc0 | c >> 6));
        c = (unsigned char)(0x80 | (c & 0x3f));
    }
    buf_putc(out, (char)c);
}

/* charset'language'percent-encoded (RFC 8187). False: a charset that nobody should use. */
static bool put_extended(struct buf *out, struct span v)
{
    size_t first = span_find(v, '\'', 0), second = span_find(v, '\'', first + 1);
    struct span charset = span_cut(v, 0, first);
    bool is_latin1 = span_is_nocase(charset, "iso-8859-1");
    if (second >= v.n || (!is_latin1 && !span_is_nocase(charset, "utf-8")))
        return false;
    v = span_from(v, second + 1);
    for (size_t i = 0; i < v.n; i++) {
        char c = v.p[i];
        if (c == '%' && i + 2 < v.n && ascii_hex(v.p[i + 1]) >= 0 && ascii_hex(v.p[i + 2]) >= 0) {
            c = (char)(ascii_hex(v.p[i + 1]) << 4 | ascii_hex(v.p[i + 2]));
            i += 2;
        }
        if (is_latin1)
            put_latin1(out, (unsigned char)c);
        else
            buf_putc(out, c);
    }
    return true;
}

static void put_plain(struct buf *out, const struct param *p)
{
    for (size_t i = 0; i < p->value.n; i++) {
        if (p->is_quoted && p->value.p[i] == '\\' && i + 1 < p->value.n)
            i++;
        buf_putc(out, p->value.p[i]);
    }
}

/* A name is no path, and is shown to people. */
static struct span clean(struct arena *a, struct span name)
{
    struct buf out = {0};
    for (size_t i = name.n; i > 0; i--)
        if (name.p[i - 1] == '/' || name.p[i - 1] == '\\') {
            name = span_from(name, i);
            break;
        }
    for (size_t at = 0; at < name.n;) {
        size_t start = at;
        bool is_good;
        uint32_t c = utf8_next(name, &at, &is_good);
        if (is_good && c >= 0x20 && c != 0x7f)
            buf_put(&out, span_cut(name, start, at - start));
    }
    struct span kept = arena_copy(a, span_trim(utf8_cut(buf_span(&out), DISPOSITION_NAME_MAX)));
    buf_done(&out);
    return kept;
}

struct span disposition_filename(struct arena *a, struct span value)
{
    struct buf name = {0}, extended = {0};
    struct span rest = span_cut(value, 0, VALUE_MAX);
    struct param p;
    while (next_param(&rest, &p)) {
        if (span_is_nocase(p.name, "filename*") && !extended.n && !put_extended(&extended, p.value))
            buf_clear(&extended);
        else if (span_is_nocase(p.name, "filename") && !name.n)
            put_plain(&name, &p);
    }
    struct span found = clean(a, buf_span(extended.n ? &extended : &name));
    buf_done(&name);
    buf_done(&extended);
    return found;
}
