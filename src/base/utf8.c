#include "base/utf8.h"

uint32_t utf8_next(struct span s, size_t *at, bool *valid)
{
    const unsigned char *p = (const unsigned char *)s.p + *at;
    size_t left = s.n - *at;
    unsigned char c = p[0];
    if (valid)
        *valid = true;
    if (c < 0x80) {
        *at += 1;
        return c;
    }
    unsigned need = 0;
    uint32_t cp = 0;
    unsigned char low = 0x80, high = 0xBF;
    if (c >= 0xC2 && c <= 0xDF) {
        need = 1;
        cp = c & 0x1F;
    } else if (c >= 0xE0 && c <= 0xEF) {
        need = 2;
        cp = c & 0x0F;
        if (c == 0xE0)
            low = 0xA0;
        if (c == 0xED)
            high = 0x9F;
    } else if (c >= 0xF0 && c <= 0xF4) {
        need = 3;
        cp = c & 0x07;
        if (c == 0xF0)
            low = 0x90;
        if (c == 0xF4)
            high = 0x8F;
    }
    size_t i = 1;
    for (; need && i <= need; i++) {
        if (i >= left || p[i] < low || p[i] > high)
            break;
        cp = cp << 6 | (p[i] & 0x3F);
        low = 0x80;
        high = 0xBF;
    }
    *at += i > left ? left : i;
    if (need && i == need + 1)
        return cp;
    if (valid)
        *valid = false;
    return 0xFFFD;
}

/* Bytes of the two- or three-byte character at p, when it is one of those and at least three bytes are there; else 0.
 * The common ones, without the general case's bookkeeping. */
static inline size_t short_char(const unsigned char *p)
{
    if (p[0] >= 0xC2 && p[0] <= 0xDF)
        return (p[1] & 0xC0) == 0x80 ? 2 : 0;
    bool is_three = (p[0] & 0xF0) == 0xE0 && (p[1] & 0xC0) == 0x80 && (p[2] & 0xC0) == 0x80;
    bool is_overlong = p[0] == 0xE0 && p[1] < 0xA0;
    bool is_surrogate = p[0] == 0xED && p[1] > 0x9F;
    return is_three && !is_overlong && !is_surrogate ? 3 : 0;
}

bool utf8_is_valid(struct span s)
{
    const unsigned char *p = (const unsigned char *)s.p;
    size_t at = 0;
    bool valid = true;
    while (at < s.n) {
        /* ASCII many bytes at a time: most text is that. */
        uint64_t w[8];
        for (; s.n - at >= sizeof(w); at += sizeof(w)) {
            memcpy(w, p + at, sizeof(w));
            if ((w[0] | w[1] | w[2] | w[3] | w[4] | w[5] | w[6] | w[7]) & 0x8080808080808080u)
                break;
        }
        if (s.n - at >= 16 && (memcpy(w, p + at, 16), ((w[0] | w[1]) & 0x8080808080808080u) == 0)) {
            at += 16;
            continue;
        }
        while (at < s.n && p[at] < 0x80)
            at++;
        for (size_t n; s.n - at >= 3 && p[at] >= 0x80 && (n = short_char(p + at)) > 0;)
            at += n;
        if (at < s.n && p[at] >= 0x80)
            utf8_next(s, &at, &valid);
        if (!valid)
            return false;
    }
    return true;
}

struct span utf8_cut(struct span s, size_t max)
{
    if (s.n <= max)
        return s;
    while (max > 0 && ((unsigned char)s.p[max] & 0xC0) == 0x80)
        max--;
    s.n = max;
    return s;
}
