#include "web/html_token.h"

#include "web/html_raw.h"
#include "web/html_scan.h"

#define TAG_SLOT_BITS 9
#define TAG_MULTIPLIER 0x989DB810D906C9FBull

/* Zero-padded, so that the first eight bytes are the key. */
static const char TAG_NAMES[HTML_TAG_COUNT][16] = {[HTML_TAG_other] = "",
#define X(name) [HTML_TAG_##name] = #name,
                                                   HTML_TAGS(X)
#undef X
};

/* TAG_SLOTS[key * TAG_MULTIPLIER >> (64 - TAG_SLOT_BITS)] is the html_tag: a perfect hash, the multiplier found by
 * trying random odd ones. The key is the first eight bytes of the lower-case name. The unit test looks up every name.
 */
/* clang-format off */
static const uint8_t TAG_SLOTS[1 << TAG_SLOT_BITS] = {
    0, 0, 0, 95, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 40, 0, 0, 20, 0, 0, 0, 0, 0, 0, 36, 0, 0, 0, 0, 3, 0, 0,
    68, 101, 54, 0, 0, 0, 26, 0, 78, 0, 0, 0, 0, 0, 0, 0, 84, 0, 0, 88, 0, 0, 0, 0, 0, 0, 79, 0, 0, 0, 0, 0, 0, 10,
    0, 0, 0, 0, 0, 24, 0, 0, 25, 0, 0, 0, 0, 0, 0, 0, 86, 9, 0, 33, 0, 0, 61, 0, 0, 0, 37, 0, 0, 0, 44, 0, 0, 0, 0,
    55, 0, 0, 0, 0, 0, 0, 53, 103, 0, 19, 94, 0, 0, 0, 46, 0, 0, 21, 0, 0, 2, 0, 28, 0, 0, 0, 0, 0, 0, 0, 0, 42, 0,
    23, 0, 0, 0, 0, 82, 32, 0, 100, 81, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 87, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 34, 0, 0,
    0, 92, 0, 77, 0, 0, 0, 0, 0, 0, 0, 0, 0, 27, 0, 64, 0, 0, 0, 5, 0, 0, 0, 0, 97, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 63, 0, 66, 0, 39, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 93, 0, 75, 0, 0, 0, 0, 0, 0, 0, 73, 29, 0, 0, 57,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 89, 0, 0, 0, 69, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 80, 0, 0,
    43, 0, 0, 0, 74, 0, 0, 13, 0, 0, 0, 0, 0, 0, 0, 31, 0, 35, 0, 0, 0, 0, 56, 0, 48, 0, 0, 0, 0, 0, 0, 0, 0, 0, 16,
    0, 98, 0, 72, 0, 0, 0, 0, 0, 71, 0, 0, 0, 0, 0, 0, 0, 0, 41, 0, 12, 0, 0, 0, 0, 0, 0, 0, 11, 0, 0, 0, 0, 0, 102,
    0, 0, 15, 0, 65, 0, 0, 0, 0, 0, 0, 0, 0, 67, 0, 76, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 30, 0, 0, 99, 0,
    83, 0, 0, 0, 90, 0, 0, 0, 70, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 91, 0, 38, 51, 0, 0, 0, 0, 0, 0, 6,
    0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 49, 0, 0, 0, 0, 0, 0, 0, 45, 0, 0, 0,
    50, 0, 0, 0, 0, 0, 0, 85, 0, 0, 0, 0, 14, 0, 0, 0, 0, 62, 0, 0, 52, 0, 0, 0, 0, 0, 47, 0, 0, 0, 17, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 18, 0, 96, 0, 0, 0, 0, 22, 58, 0, 60, 59, 0,
};
/* clang-format on */

html_tag html_tag_of_key(uint64_t key, struct span name)
{
    unsigned tag = TAG_SLOTS[key * TAG_MULTIPLIER >> (64 - TAG_SLOT_BITS)];
    const char *known = TAG_NAMES[tag];
    if (scan_load64(known) != key)
        return HTML_TAG_other;
    /* A NUL in the name looks like padding in the key. */
    if (name.n > 8 ? !span_is_nocase(span_from(name, 8), known + 8) : !known[name.n - 1] || known[name.n])
        return HTML_TAG_other;
    return (html_tag)tag;
}

html_tag html_tag_of(struct span name)
{
    uint64_t key = 0;
    for (size_t i = 0; i < name.n && i < 8; i++)
        key |= (uint64_t)(unsigned char)ascii_lower(name.p[i]) << (8 * i);
    return name.n ? html_tag_of_key(key, name) : HTML_TAG_other;
}

const char *html_tag_name(html_tag tag)
{
    return TAG_NAMES[tag];
}
