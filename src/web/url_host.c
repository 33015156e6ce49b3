#include "web/url_host.h"

#include "base/utf8.h"
#include "web/url_internal.h"

/* "Forbidden host code points" and, with the bytes below, "forbidden domain code points". */
static bool is_forbidden_in_host(unsigned char c)
{
    switch (c) {
    case '\0':
    case '\t':
    case '\n':
    case '\r':
    case ' ':
    case '#':
    case '/':
    case ':':
    case '<':
    case '>':
    case '?':
    case '@':
    case '[':
    case '\\':
    case ']':
    case '^':
    case '|':
        return true;
    default:
        return false;
    }
}

static bool is_forbidden_in_domain(unsigned char c)
{
    return c < 0x20 || c == '%' || c == 0x7F || is_forbidden_in_host(c);
}

/* An IPv4 part in any of its spellings: decimal, 0octal, 0xhex. Saturates above 32 bits: every caller refuses that. */
static bool parse_ipv4_number(struct span s, uint64_t *out)
{
    unsigned radix = 10;
    if (s.n == 0)
        return false;
    if (s.n >= 2 && s.p[0] == '0' && (s.p[1] | 0x20) == 'x') {
        radix = 16;
        s = span_from(s, 2);
    } else if (s.n >= 2 && s.p[0] == '0') {
        radix = 8;
        s = span_from(s, 1);
    }
    uint64_t v = 0;
    for (size_t i = 0; i < s.n; i++) {
        int d = ascii_hex(s.p[i]);
        if (d < 0 || (unsigned)d >= radix)
            return false;
        v = v * radix + (unsigned)d;
        if (v > UINT32_MAX)
            v = (uint64_t)UINT32_MAX + 1;
    }
    *out = v;
    return true;
}

static struct span without_final_dot(struct span s)
{
    if (s.n > 1 && s.p[s.n - 1] == '.')
        s.n--;
    return s;
}

static struct span last_label(struct span s)
{
    size_t at = s.n;
    while (at > 0 && s.p[at - 1] != '.')
        at--;
    return span_from(s, at);
}

static bool ends_in_number(struct span host)
{
    struct span last = last_label(without_final_dot(host));
    uint64_t v;
    if (last.n == 0)
        return false;
    size_t digits = 0;
    while (digits < last.n && ascii_is_digit(last.p[digits]))
        digits++;
    return digits == last.n || parse_ipv4_number(last, &v);
}

static bool parse_ipv4(struct span host, uint32_t *out)
{
    struct span rest = without_final_dot(host), part;
    uint64_t n[4] = {0};
    size_t count = 0;
    while (span_split(&rest, '.', &part)) {
        if (count == 4 || !parse_ipv4_number(part, &n[count]))
            return false;
        count++;
    }
    uint64_t v = n[count - 1];
    if (v >= (uint64_t)1 << (8 * (5 - count)))
        return false;
    for (size_t i = 0; i + 1 < count; i++) {
        if (n[i] > 255)
            return false;
        v += n[i] << (8 * (3 - i));
    }
    *out = (uint32_t)v;
    return true;
}

/* "::ffff:1.2.3.4": the dotted tail fills two pieces. */
static bool parse_ipv6_tail(struct span s, size_t at, uint16_t *pieces)
{
    for (unsigned seen = 0; seen < 4; seen++) {
        int v = -1;
        if (seen > 0 && (at >= s.n || s.p[at++] != '.'))
            return false;
        for (; at < s.n && ascii_is_digit(s.p[at]); at++) {
            if (v == 0)
                return false;
            v = (v < 0 ? 0 : v * 10) + (s.p[at] - '0');
            if (v > 255)
                return false;
        }
        if (v < 0)
            return false;
        pieces[seen / 2] = (uint16_t)(pieces[seen / 2] << 8 | v);
    }
    return at == s.n;
}

static bool expand_ipv6(uint16_t pieces[8], int filled, int gap)
{
    if (gap < 0)
        return filled == 8;
    for (int i = 7, from = filled - 1; from >= gap; i--, from--) {
        uint16_t v = pieces[from];
        pieces[from] = 0;
        pieces[i] = v;
    }
    return true;
}

static bool parse_ipv6(struct span s, uint16_t pieces[8])
{
    int filled = 0, gap = -1;
    size_t at = 0;
    if (s.n >= 1 && s.p[0] == ':') {
        if (s.n < 2 || s.p[1] != ':')
            return false;
        at = 2;
        gap = ++filled; /* "::" stands for one piece at least */
    }
    while (at < s.n) {
        if (filled == 8)
            return false;
        if (s.p[at] == ':') {
            if (gap >= 0)
                return false;
            at++;
            gap = ++filled;
            continue;
        }
        size_t start = at;
        unsigned v = 0;
        for (; at < s.n && at - start < 4 && ascii_hex(s.p[at]) >= 0; at++)
            v = v << 4 | (unsigned)ascii_hex(s.p[at]);
        if (at < s.n && s.p[at] == '.' && at > start) {
            if (filled > 6 || !parse_ipv6_tail(s, start, pieces + filled))
                return false;
            return expand_ipv6(pieces, filled + 2, gap);
        }
        if (at < s.n && (s.p[at] != ':' || at + 1 == s.n))
            return false;
        at += at < s.n;
        pieces[filled++] = (uint16_t)v;
    }
    return expand_ipv6(pieces, filled, gap);
}

/* RFC 5952: the first longest run of two or more zero pieces becomes "::". */
static void put_ipv6(const uint16_t pieces[8], struct buf *out)
{
    int best = -1, best_n = 1;
    for (int i = 0; i < 8; i++) {
        int n = 0;
        while (i + n < 8 && pieces[i + n] == 0)
            n++;
        if (n > best_n) {
            best = i;
            best_n = n;
        }
        i += n;
    }
    buf_putc(out, '[');
    for (int i = 0; i < 8; i++) {
        if (i == best) {
            buf_puts(out, i == 0 ? "::" : ":");
            i += best_n - 1;
            continue;
        }
        buf_printf(out, i < 7 ? "%x:" : "%x", pieces[i]);
    }
    buf_putc(out, ']');
}

static status parse_opaque(struct span input, struct buf *out)
{
    for (size_t i = 0; i < input.n; i++) {
        unsigned char c = (unsigned char)input.p[i];
        if (is_forbidden_in_host(c))
            return ST_INVALID;
        if (url_class[c] & URL_ENC_C0)
            buf_printf(out, "%%%02X", c);
        else
            buf_putc(out, input.p[i]);
    }
    return ST_OK;
}

static void percent_decode(struct span s, struct buf *out)
{
    char *to = buf_room(out, s.n);
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        int hi = -1, lo = -1;
        if (s.p[i] == '%' && s.n - i > 2) {
            hi = ascii_hex(s.p[i + 1]);
            lo = ascii_hex(s.p[i + 2]);
        }
        if (hi >= 0 && lo >= 0) {
            to[n++] = (char)(hi << 4 | lo);
            i += 2;
        } else {
            to[n++] = s.p[i];
        }
    }
    out->n += n;
}

/* Domain to ASCII. A domain that is all ASCII is only lower-cased: the standard gives up on validating "xn--" labels
 * there, because real sites use bad ones. */
static status domain_to_ascii(struct span domain, struct buf *out)
{
    size_t start = out->n;
    size_t ascii = 0;
    while (ascii < domain.n && (unsigned char)domain.p[ascii] < 0x80)
        ascii++;
    if (ascii == domain.n) {
        char *to = buf_room(out, domain.n);
        for (size_t i = 0; i < domain.n; i++)
            to[i] = ascii_lower(domain.p[i]);
        out->n += domain.n;
    } else if (!utf8_is_valid(domain) || !url_idna_to_ascii(domain, out)) {
        return ST_INVALID;
    }
    if (out->n == start)
        return ST_INVALID;
    for (size_t i = start; i < out->n; i++)
        if (is_forbidden_in_domain((unsigned char)out->p[i]))
            return ST_INVALID;
    return ST_OK;
}

static status parse_domain(struct span input, struct buf *out)
{
    struct buf decoded = {0};
    size_t start = out->n;
    percent_decode(input, &decoded);
    status st = domain_to_ascii(buf_span(&decoded), out);
    buf_done(&decoded);
    if (st != ST_OK)
        return st;
    struct span domain = {out->p + start, out->n - start};
    if (!ends_in_number(domain))
        return ST_OK;
    uint32_t v;
    if (!parse_ipv4(domain, &v))
        return ST_INVALID;
    out->n = start;
    buf_printf(out, "%u.%u.%u.%u", v >> 24, v >> 16 & 255, v >> 8 & 255, v & 255);
    return ST_OK;
}

status url_host_parse(struct span input, bool is_opaque, struct buf *out)
{
    if (input.n && input.p[0] == '[') {
        uint16_t pieces[8] = {0};
        if (input.p[input.n - 1] != ']' || !parse_ipv6(span_cut(input, 1, input.n - 2), pieces))
            return ST_INVALID;
        put_ipv6(pieces, out);
        return ST_OK;
    }
    return is_opaque ? parse_opaque(input, out) : parse_domain(input, out);
}
