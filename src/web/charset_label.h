/* charset_label.h - which encoding: the labels of the Encoding Standard and the HTML standard's prescan. For charset.c.
 *
 * Pure; any thread. */
#pragma once

#include "base/span.h"

typedef enum charset_id {
    CHARSET_NONE = -1,
    CHARSET_UTF8,
    CHARSET_IBM866,
    CHARSET_ISO2,
    CHARSET_ISO3,
    CHARSET_ISO4,
    CHARSET_ISO5,
    CHARSET_ISO6,
    CHARSET_ISO7,
    CHARSET_ISO8,
    CHARSET_ISO8I,
    CHARSET_ISO10,
    CHARSET_ISO13,
    CHARSET_ISO14,
    CHARSET_ISO15,
    CHARSET_ISO16,
    CHARSET_KOI8R,
    CHARSET_KOI8U,
    CHARSET_MACINTOSH,
    CHARSET_W874,
    CHARSET_W1250,
    CHARSET_W1251,
    CHARSET_W1252,
    CHARSET_W1253,
    CHARSET_W1254,
    CHARSET_W1255,
    CHARSET_W1256,
    CHARSET_W1257,
    CHARSET_W1258,
    CHARSET_MAC_CYRILLIC,
    CHARSET_GBK,
    CHARSET_GB18030,
    CHARSET_BIG5,
    CHARSET_EUC_JP,
    CHARSET_ISO2022JP,
    CHARSET_SHIFT_JIS,
    CHARSET_EUC_KR,
    CHARSET_REPLACEMENT,
    CHARSET_UTF16BE,
    CHARSET_UTF16LE,
    CHARSET_USER_DEFINED,
    CHARSET_COUNT
} charset_id;

typedef enum charset_kind {
    KIND_UTF8,
    KIND_UTF16,
    KIND_SINGLE,       /* one byte a character, ASCII below 0x80 */
    KIND_MULTI,        /* iconv does it */
    KIND_REPLACEMENT,  /* never decoded: attackers hide markup in these */
    KIND_USER_DEFINED, /* bytes above 0x7F are private-use characters */
} charset_kind;

struct charset {
    const char *name;  /* canonical, in lower case */
    const char *iconv; /* glibc's name of it or of a superset that the standard means; NULL: not iconv's */
    charset_kind kind;
};

const struct charset *charset_info(charset_id id);
/* CHARSET_NONE: no such label. White space around it and case do not matter. */
charset_id charset_of_label(struct span label);
/* What the first CHARSET_PRESCAN_BYTES of a page say about its encoding, or CHARSET_NONE. */
#define CHARSET_PRESCAN_BYTES 1024
charset_id charset_prescan(struct span body);
