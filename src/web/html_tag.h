/* html_tag.h - which tag a name is, for the tokenizer. Others ask html_tag_of.
 *
 * The key of a name is its first eight bytes in lower case, the first one lowest, as one number.
 * HTML_TAG_SLOTS[key * HTML_TAG_MULTIPLIER >> (64 - HTML_TAG_SLOT_BITS)] is the html_tag: a perfect hash, the
 * multiplier found by trying random odd ones. The unit test looks up every name. */
#pragma once

#include "base/span.h"
#include "web/html_scan.h"
#include "web/html_token.h"

#define HTML_TAG_SLOT_BITS 9
#define HTML_TAG_MULTIPLIER 0x989DB810D906C9FBull

extern const uint8_t HTML_TAG_SLOTS[1 << HTML_TAG_SLOT_BITS];
/* Zero-padded, so that the first eight bytes are the key. */
extern const char HTML_TAG_NAMES[HTML_TAG_COUNT][16];

/* The tag that begins with this key: for a name up to seven bytes without NUL, the tag. */
static inline html_tag html_tag_of_key(uint64_t key)
{
    unsigned tag = HTML_TAG_SLOTS[key * HTML_TAG_MULTIPLIER >> (64 - HTML_TAG_SLOT_BITS)];
    return scan_load64(HTML_TAG_NAMES[tag]) == key ? (html_tag)tag : HTML_TAG_other;
}
