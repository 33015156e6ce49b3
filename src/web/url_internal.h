/* url_internal.h - what the files of the URL parser share; nothing outside src/web/url*.c and its test includes it.
 *
 * url_parse tries url_parse_fast, which knows plain ASCII http(s) links only and gives up on anything else, and then
 * url_parse_slow, which is the whole standard. Where the first answers it answers exactly as the second would. */
#pragma once

#include "web/url.h"

/* Percent-encode sets of the URL Standard: the bit is set in url_class[] for bytes that the set encodes. */
enum url_class_bit {
    URL_ENC_C0 = 1,
    URL_ENC_FRAGMENT = 2,
    URL_ENC_QUERY = 4,
    URL_ENC_SPECIAL_QUERY = 8,
    URL_ENC_PATH = 16,
    URL_ENC_USERINFO = 32,
    URL_PLAIN_HOST = 64,    /* a-z 0-9 - _ .: bytes of a host that mean themselves */
    URL_UNRESERVED = 128,   /* RFC 3986: never needs an escape */
    URL_LOOK_IN_PATH = 256, /* a byte of a path that may need work: encoded, or one of . % \ */
};
extern const uint16_t url_class[256];

/* The scheme's default port; -1 where it has none ("file", and every scheme that is not special). */
int url_default_port(struct span scheme);

MUST_USE status url_parse_slow(struct arena *a, struct span input, const struct url *base, struct url *out);
/* ST_AGAIN: not one of the simple shapes, ask url_parse_slow. */
MUST_USE status url_parse_fast(struct arena *a, struct span input, const struct url *base, struct url *out);

/* The same URL over other bytes: every span keeps its place within href. */
void url_move(struct url *u, const char *to);
