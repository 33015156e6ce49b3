#include "place/addr.h"

#include <stdio.h>

/* A prefix and the class of what is in it. Sources: the IANA special-purpose address registries (RFC 6890 and its
 * updates), RFC 5771 and RFC 4291 (multicast). */
struct range {
    uint8_t b[16];
    uint8_t bits;
    addr_class cls;
};

static const struct range ranges4[] = {
    {{0}, 8, ADDR_RESERVED}, /* this network */
    {{10}, 8, ADDR_PRIVATE},
    {{100, 64}, 10, ADDR_RESERVED}, /* carrier-grade NAT */
    {{127}, 8, ADDR_LOOPBACK},
    {{169, 254}, 16, ADDR_LINK_LOCAL}, /* cloud metadata services live here */
    {{172, 16}, 12, ADDR_PRIVATE},
    {{192, 0, 0}, 24, ADDR_RESERVED},   /* IETF protocol assignments */
    {{192, 0, 2}, 24, ADDR_RESERVED},   /* documentation */
    {{192, 88, 99}, 24, ADDR_RESERVED}, /* 6to4 relay anycast, withdrawn */
    {{192, 168}, 16, ADDR_PRIVATE},
    {{198, 18}, 15, ADDR_RESERVED},      /* benchmarks */
    {{198, 51, 100}, 24, ADDR_RESERVED}, /* documentation */
    {{203, 0, 113}, 24, ADDR_RESERVED},  /* documentation */
    {{224}, 4, ADDR_RESERVED},           /* multicast */
    {{240}, 4, ADDR_RESERVED},           /* future use, and broadcast */
};

/* Forms with an IPv4 address inside are taken apart before this table is read. */
static const struct range ranges6[] = {
    {{0xfc}, 7, ADDR_PRIVATE},
    {{0xfe, 0x80}, 10, ADDR_LINK_LOCAL},
    {{0xfe, 0xc0}, 10, ADDR_PRIVATE},                         /* site-local, withdrawn but in use */
    {{0x00, 0x64, 0xff, 0x9b, 0x00, 0x01}, 48, ADDR_PRIVATE}, /* NAT64 of the local operator (RFC 8215) */
    {{0x20, 0x01, 0x0d, 0xb8}, 32, ADDR_RESERVED},            /* documentation */
    {{0x20, 0x01, 0x00, 0x00}, 23, ADDR_RESERVED},            /* IETF protocol assignments, ORCHID, benchmarks */
    {{0x3f, 0xff}, 20, ADDR_RESERVED},                        /* documentation (RFC 9637) */
};

static bool has_prefix(const uint8_t *addr, const uint8_t *prefix, unsigned bits)
{
    unsigned whole = bits / 8, rest = bits % 8;
    if (memcmp(addr, prefix, whole) != 0)
        return false;
    return rest == 0 || ((addr[whole] ^ prefix[whole]) >> (8 - rest)) == 0;
}

static addr_class classify4(const uint8_t b[4])
{
    for (size_t i = 0; i < sizeof(ranges4) / sizeof(*ranges4); i++)
        if (has_prefix(b, ranges4[i].b, ranges4[i].bits))
            return ranges4[i].cls;
    return ADDR_PUBLIC;
}

static addr_class classify6(const uint8_t b[16])
{
    static const uint8_t zero[16], loopback[16] = {[15] = 1};
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    static const uint8_t nat64[12] = {0x00, 0x64, 0xff, 0x9b};
    static const uint8_t teredo[4] = {0x20, 0x01};
    if (memcmp(b, loopback, 16) == 0)
        return ADDR_LOOPBACK;
    if (has_prefix(b, zero, 96) || has_prefix(b, mapped, 96) || has_prefix(b, nat64, 96))
        return classify4(b + 12);
    if (b[0] == 0x20 && b[1] == 0x02) /* 6to4 */
        return classify4(b + 2);
    if (has_prefix(b, teredo, 32)) {
        const uint8_t client[4] = {b[12] ^ 0xff, b[13] ^ 0xff, b[14] ^ 0xff, b[15] ^ 0xff};
        addr_class server_class = classify4(b + 4), client_class = classify4(client);
        return server_class == ADDR_RESERVED || client_class == ADDR_PUBLIC ? server_class : client_class;
    }
    for (size_t i = 0; i < sizeof(ranges6) / sizeof(*ranges6); i++)
        if (has_prefix(b, ranges6[i].b, ranges6[i].bits))
            return ranges6[i].cls;
    /* Global unicast is 2000::/3; nothing else has been given out (RFC 4291), and ff00::/8 is multicast. */
    return b[0] >> 5 == 1 ? ADDR_PUBLIC : ADDR_RESERVED;
}

addr_class addr_classify(const struct addr *a)
{
    if (a->family == 4)
        return classify4(a->b);
    return a->family == 6 ? classify6(a->b) : ADDR_RESERVED;
}

/* Less: rather this one. */
static int home_order(const struct addr *a, const struct addr *b)
{
    bool is_public = addr_classify(a) == ADDR_PUBLIC, is_public_too = addr_classify(b) == ADDR_PUBLIC;
    if (is_public != is_public_too)
        return is_public ? -1 : 1;
    return a->family != b->family ? a->family - b->family : memcmp(a->b, b->b, sizeof(a->b));
}

struct addr addr_home(const struct addr *list, size_t n)
{
    struct addr best = addr_unmapped(&list[0]);
    for (size_t i = 1; i < n; i++) {
        struct addr a = addr_unmapped(&list[i]);
        if (home_order(&a, &best) < 0)
            best = a;
    }
    return best;
}

const char *addr_class_name(addr_class c)
{
    static const char *const names[] = {"public", "loopback", "private", "link-local", "reserved"};
    return (size_t)c < sizeof(names) / sizeof(*names) ? names[c] : "unknown";
}

static bool parse_quad(struct span s, uint8_t out[4])
{
    size_t at = 0;
    for (int i = 0; i < 4; i++) {
        if (i > 0 && (at >= s.n || s.p[at++] != '.'))
            return false;
        size_t start = at;
        unsigned v = 0;
        while (at < s.n && at - start < 3 && ascii_is_digit(s.p[at]))
            v = v * 10 + (unsigned)(s.p[at++] - '0');
        bool has_leading_zero = at - start > 1 && s.p[start] == '0';
        if (at == start || v > 255 || has_leading_zero)
            return false;
        out[i] = (uint8_t)v;
    }
    return at == s.n;
}

/* One group of up to four hexadecimal digits at *at. */
static bool parse_group(struct span s, size_t *at, unsigned *out)
{
    size_t start = *at;
    unsigned v = 0;
    while (*at < s.n && *at - start < 4 && ascii_hex(s.p[*at]) >= 0)
        v = v << 4 | (unsigned)ascii_hex(s.p[(*at)++]);
    *out = v;
    return *at > start;
}

static bool parse_six(struct span s, uint8_t out[16])
{
    uint8_t b[16] = {0};
    size_t n = 0, at = 0, gap = SIZE_MAX; /* n: bytes written; gap: where "::" stands among them */
    if (s.n >= 2 && s.p[0] == ':' && s.p[1] == ':') {
        gap = 0;
        at = 2;
    }
    while (at < s.n) {
        unsigned v = 0;
        size_t start = at;
        if (n > 14 || !parse_group(s, &at, &v))
            return false;
        if (at < s.n && s.p[at] == '.') {
            if (n > 12 || !parse_quad(span_from(s, start), b + n))
                return false;
            n += 4;
            break;
        }
        b[n++] = (uint8_t)(v >> 8);
        b[n++] = (uint8_t)v;
        if (at == s.n)
            break;
        if (s.p[at++] != ':' || at == s.n)
            return false;
        if (s.p[at] == ':') {
            if (gap != SIZE_MAX)
                return false;
            gap = n;
            at++;
        }
    }
    if (gap == SIZE_MAX ? n != 16 : n > 14)
        return false;
    if (gap != SIZE_MAX) {
        memmove(b + 16 - (n - gap), b + gap, n - gap);
        memset(b + gap, 0, 16 - n);
    }
    memcpy(out, b, 16);
    return true;
}

status addr_parse(struct span text, struct addr *out)
{
    struct addr a = {0};
    if (text.n >= 2 && text.p[0] == '[' && text.p[text.n - 1] == ']') {
        if (!parse_six(span_cut(text, 1, text.n - 2), a.b))
            return ST_INVALID;
        a.family = 6;
    } else if (parse_quad(text, a.b)) {
        a.family = 4;
    } else {
        memset(a.b, 0, sizeof(a.b));
        if (!parse_six(text, a.b))
            return ST_INVALID;
        a.family = 6;
    }
    *out = a;
    return ST_OK;
}

/* RFC 5952: lower case, no leading zeros, "::" for the first longest run of two or more zero groups; the v4-mapped
 * prefix is the one that is shown with a dotted quad. */
static void format_six(const uint8_t b[16], char to[ADDR_TEXT_MAX])
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    if (memcmp(b, mapped, sizeof(mapped)) == 0) {
        snprintf(to, ADDR_TEXT_MAX, "::ffff:%u.%u.%u.%u", b[12], b[13], b[14], b[15]);
        return;
    }
    int best = -1, best_len = 1;
    for (int i = 0; i < 8; i++) {
        int len = 0;
        while (i + len < 8 && b[(i + len) * 2] == 0 && b[(i + len) * 2 + 1] == 0)
            len++;
        if (len > best_len) {
            best = i;
            best_len = len;
        }
        i += len;
    }
    char *at = to;
    for (int i = 0; i < 8; i++) {
        if (i == best) {
            *at++ = ':';
            if (i + best_len == 8)
                *at++ = ':';
            i += best_len - 1;
            continue;
        }
        at += snprintf(at, (size_t)(to + ADDR_TEXT_MAX - at), "%s%x", i ? ":" : "", b[i * 2] << 8 | b[i * 2 + 1]);
    }
    *at = '\0';
}

/* By hand: every page that is fetched has its address written. */
static void format_quad(const uint8_t b[4], char *at)
{
    for (int i = 0; i < 4; i++) {
        if (i)
            *at++ = '.';
        if (b[i] >= 100)
            *at++ = (char)('0' + b[i] / 100);
        if (b[i] >= 10)
            *at++ = (char)('0' + b[i] / 10 % 10);
        *at++ = (char)('0' + b[i] % 10);
    }
    *at = '\0';
}

char *addr_format(const struct addr *a, char to[ADDR_TEXT_MAX])
{
    if (a->family == 4)
        format_quad(a->b, to);
    else if (a->family == 6)
        format_six(a->b, to);
    else
        snprintf(to, ADDR_TEXT_MAX, "none");
    return to;
}

bool addr_eq(const struct addr *a, const struct addr *b)
{
    return a->family == b->family && memcmp(a->b, b->b, sizeof(a->b)) == 0;
}

struct addr addr_unmapped(const struct addr *a)
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    if (a->family != 6 || memcmp(a->b, mapped, sizeof(mapped)) != 0)
        return *a;
    struct addr out = {.family = 4};
    memcpy(out.b, a->b + 12, 4);
    return out;
}

static unsigned family_bits(const struct addr *a)
{
    return a->family == 4 ? 32 : a->family == 6 ? 128 : 0;
}

static void clear_host_bits(struct addr *a, unsigned bits)
{
    for (unsigned i = 0; i < sizeof(a->b); i++) {
        unsigned keep = bits > i * 8 ? bits - i * 8 : 0;
        if (keep < 8)
            a->b[i] &= (uint8_t)(0xff00 >> keep);
    }
}

struct network addr_network(const struct addr *a)
{
    struct network n = {.first = *a, .bits = a->family == 4 ? 24 : a->family == 6 ? 48 : 0};
    clear_host_bits(&n.first, n.bits);
    return n;
}

bool network_eq(const struct network *a, const struct network *b)
{
    return a->bits == b->bits && a->parts == b->parts && addr_eq(&a->first, &b->first);
}

bool network_has(const struct network *n, const struct addr *a)
{
    return n->first.family == a->family && has_prefix(a->b, n->first.b, n->bits);
}

char *network_format(const struct network *n, char to[NETWORK_TEXT_MAX])
{
    char text[ADDR_TEXT_MAX];
    int at = snprintf(to, NETWORK_TEXT_MAX, "%s/%u", addr_format(&n->first, text), n->bits);
    if (n->parts)
        snprintf(to + at, NETWORK_TEXT_MAX - (size_t)at, "#%04x", n->parts);
    return to;
}

/* Four digits, not all of them 0. */
static bool parts_parse(struct span text, uint16_t *out)
{
    unsigned v = 0;
    for (size_t i = 0; i < text.n; i++) {
        char ch = text.p[i];
        if (!ascii_is_digit(ch) && (ch < 'a' || ch > 'f'))
            return false;
        v = v * 16 + (unsigned)(ch <= '9' ? ch - '0' : ch - 'a' + 10);
    }
    *out = (uint16_t)v;
    return text.n == 4 && v;
}

status network_parse(struct span text, struct network *out)
{
    struct network n = {0};
    uint64_t bits = 0;
    size_t hash = span_find(text, '#', 0);
    if (hash < text.n && !parts_parse(span_from(text, hash + 1), &n.parts))
        return ST_INVALID;
    text = span_cut(text, 0, hash);
    size_t slash = span_find(text, '/', 0);
    struct span digits = span_from(text, slash + 1);
    if (slash == text.n || text.p[0] == '[' || addr_parse(span_cut(text, 0, slash), &n.first) != ST_OK)
        return ST_INVALID;
    if (!span_u64(digits, family_bits(&n.first), &bits) || (digits.n > 1 && digits.p[0] == '0'))
        return ST_INVALID;
    n.bits = (uint8_t)bits;
    struct addr first = n.first;
    clear_host_bits(&first, n.bits);
    if (!addr_eq(&first, &n.first))
        return ST_INVALID;
    *out = n;
    return ST_OK;
}

bool port_is_bad(int port)
{
    static const uint16_t bad[] = {1,    7,    9,    11,   13,   15,   17,   19,   20,   21,   22,   23,   25,   37,
                                   42,   43,   53,   69,   77,   79,   87,   95,   101,  102,  103,  104,  109,  110,
                                   111,  113,  115,  117,  119,  123,  135,  137,  139,  143,  161,  179,  389,  427,
                                   465,  512,  513,  514,  515,  526,  530,  531,  532,  540,  548,  554,  556,  563,
                                   587,  601,  636,  989,  990,  993,  995,  1719, 1720, 1723, 2049, 3659, 4045, 4190,
                                   5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080};
    if (port < 1 || port > 65535)
        return true;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad) && bad[i] <= port; i++)
        if (bad[i] == port)
            return true;
    return false;
}
