#include "web/html_entity.h"

#include <stddef.h>

#define NAME_MAX_LEN 31  /* CounterClockwiseContourIntegral */
#define LEGACY_MIN_LEN 2 /* of names that need no semicolon: lt .. Aacute */
#define LEGACY_MAX_LEN 6

/* The names lie end to end in one constant, as arrays in a struct, so that the rows hold offsets instead of pointers:
 * nothing to relocate, and 12 bytes a row. */
struct names {
#define E(name, a, b) char name_##name[sizeof(#name) - 1];
#define L E
#include "web/html_entity_table.h"
#undef E
#undef L
};

static const struct names NAMES = {
#define E(name, a, b) #name,
#define L E
#include "web/html_entity_table.h"
#undef E
#undef L
};

struct row {
    uint16_t at; /* of the name in NAMES */
    uint8_t len;
    uint32_t first;
    uint16_t second; /* 0: none */
};

#define ROW(name, a, b) {offsetof(struct names, name_##name), sizeof(#name) - 1, a, b},

static const struct row ROWS[] = {
#define E ROW
#define L ROW
#include "web/html_entity_table.h"
#undef E
#undef L
};

/* Those that may stand without the semicolon. */
static const struct row LEGACY_ROWS[] = {
#define E(name, a, b)
#define L ROW
#include "web/html_entity_table.h"
#undef E
#undef L
};

#define ROW_COUNT (sizeof(ROWS) / sizeof(ROWS[0]))
#define LEGACY_COUNT (sizeof(LEGACY_ROWS) / sizeof(LEGACY_ROWS[0]))

/* What numeric references 80..9F mean: windows-1252, 0 where the number stands for itself. */
static const uint16_t C1_MEANS[32] = {
    0x20AC, 0,      0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0,      0x017D, 0,      0,      0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0,      0x017E, 0x0178,
};

static size_t put_utf8(char *out, uint32_t cp)
{
    if (cp < 0x80) {
        out[0] = (char)cp;
        return 1;
    }
    if (cp < 0x800) {
        out[0] = (char)(0xC0 | cp >> 6);
        out[1] = (char)(0x80 | (cp & 0x3F));
        return 2;
    }
    if (cp < 0x10000) {
        out[0] = (char)(0xE0 | cp >> 12);
        out[1] = (char)(0x80 | (cp >> 6 & 0x3F));
        out[2] = (char)(0x80 | (cp & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | cp >> 18);
    out[1] = (char)(0x80 | (cp >> 12 & 0x3F));
    out[2] = (char)(0x80 | (cp >> 6 & 0x3F));
    out[3] = (char)(0x80 | (cp & 0x3F));
    return 4;
}

static bool is_alnum(char c)
{
    return ascii_is_alpha(c) || ascii_is_digit(c);
}

/* As span_cmp; names differ within a few bytes, so that a call of memcmp costs more than it saves. */
static inline int name_cmp(struct span a, const char *b, size_t n)
{
    size_t i = 0, least = a.n < n ? a.n : n;
    while (i < least && a.p[i] == b[i])
        i++;
    if (i < least)
        return a.p[i] < b[i] ? -1 : 1;
    return (a.n > n) - (a.n < n);
}

static const struct row *find_row(const struct row *rows, size_t count, struct span name)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t mid = (low + high) / 2;
        int order = name_cmp(name, (const char *)&NAMES + rows[mid].at, rows[mid].len);
        if (order == 0)
            return &rows[mid];
        if (order < 0)
            high = mid;
        else
            low = mid + 1;
    }
    return NULL;
}

static size_t numeric_ref(struct span s, char *out, size_t *out_n)
{
    size_t at = 2;
    uint32_t cp = 0;
    bool is_hex = at < s.n && (s.p[at] | 0x20) == 'x';
    at += is_hex;
    size_t first_digit = at;
    for (; at < s.n; at++) {
        int digit = ascii_hex(s.p[at]);
        if (digit < 0 || (!is_hex && digit > 9))
            break;
        if (cp <= 0x10FFFF) /* stays past the end once there, and cannot overflow */
            cp = cp * (is_hex ? 16 : 10) + (uint32_t)digit;
    }
    if (at == first_digit)
        return 0;
    if (at < s.n && s.p[at] == ';')
        at++;
    if (cp == 0 || cp > 0x10FFFF || (cp >= 0xD800 && cp <= 0xDFFF))
        cp = 0xFFFD;
    else if (cp >= 0x80 && cp < 0xA0 && C1_MEANS[cp - 0x80])
        cp = C1_MEANS[cp - 0x80];
    *out_n = put_utf8(out, cp);
    return at;
}

/* The names that make up nearly all references of real pages. */
static size_t common_ref(struct span s, char *out, size_t *out_n)
{
    *out_n = 1;
    if (s.n >= 4 && s.p[2] == 't' && s.p[3] == ';' && (s.p[1] == 'l' || s.p[1] == 'g')) {
        out[0] = s.p[1] == 'l' ? '<' : '>';
        return 4;
    }
    if (s.n >= 5 && memcmp(s.p, "&amp;", 5) == 0) {
        out[0] = '&';
        return 5;
    }
    if (s.n >= 6 && memcmp(s.p, "&nbsp;", 6) == 0) {
        *out_n = put_utf8(out, 0xA0);
        return 6;
    }
    return 0;
}

/* A name without its semicolon: the longest that the run of `len` letters and digits starts with. In an attribute it
 * must be the whole run, and no '=' may follow. */
static const struct row *find_legacy(struct span s, size_t len, bool in_attribute, size_t *used)
{
    size_t shortest = in_attribute && len > LEGACY_MIN_LEN ? len : LEGACY_MIN_LEN;
    if (in_attribute && len + 1 < s.n && s.p[len + 1] == '=')
        return NULL;
    for (size_t cut = len < LEGACY_MAX_LEN ? len : LEGACY_MAX_LEN; cut >= shortest; cut--) {
        const struct row *row = find_row(LEGACY_ROWS, LEGACY_COUNT, span_cut(s, 1, cut));
        *used = cut + 1;
        if (row)
            return row;
    }
    return NULL;
}

static size_t named_ref(struct span s, bool in_attribute, char *out, size_t *out_n)
{
    size_t len = 0;
    while (1 + len < s.n && len <= NAME_MAX_LEN && is_alnum(s.p[1 + len]))
        len++;
    const struct row *row = NULL;
    size_t used = len + 2;
    if (len + 1 < s.n && s.p[len + 1] == ';') {
        /* The letters of western Europe first: they are among the few. */
        if (len <= LEGACY_MAX_LEN)
            row = find_row(LEGACY_ROWS, LEGACY_COUNT, span_cut(s, 1, len));
        if (!row)
            row = find_row(ROWS, ROW_COUNT, span_cut(s, 1, len));
    }
    if (!row)
        row = find_legacy(s, len, in_attribute, &used);
    if (!row)
        return 0;
    *out_n = put_utf8(out, row->first);
    if (row->second)
        *out_n += put_utf8(out + *out_n, row->second);
    return used;
}

size_t html_ref(struct span s, bool in_attribute, char out[HTML_REF_OUT], size_t *out_n)
{
    if (s.n >= 2 && s.p[1] == '#')
        return numeric_ref(s, out, out_n);
    size_t used = common_ref(s, out, out_n);
    return used ? used : named_ref(s, in_attribute, out, out_n);
}
