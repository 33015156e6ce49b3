/* warc_value.h - what the values of WARC and ARC heads mean: dates and digests, as many tools have written them. Pure.
 */
#pragma once

#include "base/span.h"
#include "base/status.h"

/* 2024-01-31T12:00:00Z with or without fractions, or only its beginning (from the year on); and 20240131120000, as ARC
 * has it, with or without milliseconds. False: neither, or no such day. */
bool warc_date_read(struct span text, wall_ms *out);

typedef enum warc_digest {
    WARC_DIGEST_NONE, /* there is none, or not the whole of what it is about was at hand */
    WARC_DIGEST_RIGHT,
    WARC_DIGEST_WRONG,
    WARC_DIGEST_UNKNOWN, /* an algorithm that is not known here, or no digest at all */
} warc_digest;
/* Compares "sha1:TEXT" (md5, sha256, sha512 likewise) with the digest of the parts, one after the other. TEXT is
 * base32, hexadecimal or base64, with or without padding. */
warc_digest warc_digest_check(struct span text, const struct span *parts, size_t count);
