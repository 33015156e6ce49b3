#include "codec/glob.h"

/* Does the pattern item at pattern[at] match the byte `c`? *len is the item's length: 2 when quoted. A backslash that
 * ends the pattern stands for itself. */
static bool item_matches(struct span pattern, size_t at, char c, bool nocase, size_t *len)
{
    char want = pattern.p[at];
    *len = 1;
    if (want == '?')
        return true;
    if (want == '\\' && at + 1 < pattern.n) {
        want = pattern.p[at + 1];
        *len = 2;
    }
    return nocase ? ascii_lower(want) == ascii_lower(c) : want == c;
}

/* Only the last '*' ever needs to be tried again: whatever an earlier one could give way to, the last one can take
 * over. So one point to return to is enough, and the work is bounded by pattern.n * text.n. */
static bool match(struct span pattern, struct span text, bool nocase)
{
    size_t p = 0, t = 0;
    size_t star_p = SIZE_MAX, star_t = 0; /* just after the last '*', and where its run ends so far */
    while (t < text.n) {
        size_t len;
        if (p < pattern.n && pattern.p[p] == '*') {
            star_p = ++p;
            star_t = t;
        } else if (p < pattern.n && item_matches(pattern, p, text.p[t], nocase, &len)) {
            p += len;
            t++;
        } else if (star_p != SIZE_MAX) {
            p = star_p;
            t = ++star_t;
        } else {
            return false;
        }
    }
    while (p < pattern.n && pattern.p[p] == '*')
        p++;
    return p == pattern.n;
}

bool glob_match(struct span pattern, struct span text)
{
    return match(pattern, text, false);
}

bool glob_match_nocase(struct span pattern, struct span text)
{
    return match(pattern, text, true);
}
