#include "codec/warc_value.h"

#include "base/buf.h"
#include "codec/digest.h"

/* ---- dates ---- */

static bool eat_number(struct span *s, size_t digits, int *out)
{
    int v = 0;
    if (s->n < digits)
        return false;
    for (size_t i = 0; i < digits; i++) {
        if (!ascii_is_digit(s->p[i]))
            return false;
        v = v * 10 + (s->p[i] - '0');
    }
    *s = span_from(*s, digits);
    *out = v;
    return true;
}

struct moment {
    int part[6]; /* year, month, day, hour, minute, second */
    int ms;
};

static bool moment_wall(const struct moment *m, wall_ms *out)
{
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const int *p = m->part;
    bool is_leap = p[0] % 4 == 0 && (p[0] % 100 != 0 || p[0] % 400 == 0);
    if (p[0] < 1970 || p[1] < 1 || p[1] > 12 || p[2] < 1 || p[3] > 23 || p[4] > 59 || p[5] > 60 ||
        p[2] > lengths[p[1] - 1] + (p[1] == 2 && is_leap))
        return false;
    /* Days from 1970-01-01; years run from March, so that leap days come last. */
    int64_t y = p[1] > 2 ? p[0] : p[0] - 1, mon = p[1] > 2 ? p[1] - 3 : p[1] + 9;
    int64_t days = y * 365 + y / 4 - y / 100 + y / 400 + (mon * 153 + 2) / 5 + p[2] - 1 - 719468;
    *out = (days * 86400 + p[3] * 3600 + p[4] * 60 + p[5]) * 1000 + m->ms;
    return true;
}

/* Digits after a point, of which three count. */
static bool eat_fraction(struct span *s, int *ms)
{
    int scale = 100;
    size_t n = 0;
    *ms = 0;
    for (; n < s->n && ascii_is_digit(s->p[n]); n++, scale /= 10)
        *ms += (s->p[n] - '0') * scale;
    *s = span_from(*s, n);
    return n > 0;
}

static bool read_iso(struct span s, struct moment *m)
{
    static const char before[] = "\0--T::";
    int i = 0;
    for (; i < 6; i++) {
        if (i > 0) {
            if (!s.n || (s.p[0] != before[i] && !(i == 3 && (s.p[0] == ' ' || s.p[0] == 't'))))
                break;
            s = span_from(s, 1);
        }
        if (!eat_number(&s, i == 0 ? 4 : 2, &m->part[i]))
            return false;
    }
    if (i == 6 && s.n && s.p[0] == '.') {
        s = span_from(s, 1);
        if (!eat_fraction(&s, &m->ms))
            return false;
    }
    if (i > 3 && s.n && (s.p[0] == 'Z' || s.p[0] == 'z'))
        s = span_from(s, 1);
    return s.n == 0;
}

static bool read_digits(struct span s, struct moment *m)
{
    for (int i = 0; i < 6 && s.n; i++)
        if (!eat_number(&s, i == 0 ? 4 : 2, &m->part[i]))
            return false;
    return s.n == 0 || (s.n == 3 && eat_number(&s, 3, &m->ms));
}

bool warc_date_read(struct span text, wall_ms *out)
{
    text = span_trim(text);
    struct moment m = {{1970, 1, 1, 0, 0, 0}, 0};
    bool is_iso = text.n == 4 || (text.n > 4 && text.p[4] == '-');
    bool ok = is_iso ? read_iso(text, &m) : text.n >= 8 && read_digits(text, &m);
    return ok && moment_wall(&m, out);
}

/* ---- digests ---- */

/* Groups of `bits` bits as letters, without padding. */
static void put_letters(struct buf *out, const unsigned char *b, size_t n, unsigned bits, const char *letters)
{
    unsigned held = 0, have = 0;
    for (size_t i = 0; i < n; i++) {
        held = held << 8 | b[i];
        have += 8;
        for (; have >= bits; have -= bits)
            buf_putc(out, letters[held >> (have - bits) & ((1u << bits) - 1)]);
        held &= (1u << have) - 1;
    }
    if (have)
        buf_putc(out, letters[held << (bits - have) & ((1u << bits) - 1)]);
}

static bool is_as_letters(struct span text, const unsigned char *b, size_t n)
{
    static const struct {
        unsigned bits;
        const char *letters;
        bool has_case;
    } forms[] = {{5, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", false},
                 {4, "0123456789abcdef", false},
                 {6, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", true},
                 {6, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", true}};
    struct buf want = {0};
    bool is_it = false;
    while (text.n && text.p[text.n - 1] == '=')
        text.n--;
    for (size_t i = 0; i < sizeof(forms) / sizeof(*forms) && !is_it; i++) {
        buf_clear(&want);
        put_letters(&want, b, n, forms[i].bits, forms[i].letters);
        is_it = forms[i].has_case ? span_eq(text, buf_span(&want)) : span_eq_nocase(text, buf_span(&want));
    }
    buf_done(&want);
    return is_it;
}

warc_digest warc_digest_check(struct span text, const struct span *parts, size_t count)
{
    unsigned char digest[DIGEST_BYTES_MAX];
    text = span_trim(text);
    size_t colon = span_find(text, ':', 0);
    if (!text.n)
        return WARC_DIGEST_NONE;
    size_t n = digest_named(span_cut(text, 0, colon), parts, count, digest);
    if (!n)
        return WARC_DIGEST_UNKNOWN;
    return is_as_letters(span_trim(span_from(text, colon + 1)), digest, n) ? WARC_DIGEST_RIGHT : WARC_DIGEST_WRONG;
}
