/* identifier.h - the parts of a name made up by programmers: "pg_stat_activity", "getElementById". Pure. */
#pragma once

#include "base/span.h"

#define IDENTIFIER_BYTES_MAX 128 /* longer ones are data, not names */
#define IDENTIFIER_PARTS_MAX (IDENTIFIER_BYTES_MAX / 2 + 1)

struct identifier_part {
    uint16_t at, bytes;
};

/* Cuts `word` (at most IDENTIFIER_BYTES_MAX bytes are looked at) at '_', which is in no part, and, when `by_case`:
 *
 *     before an upper-case letter after a lower-case one        get|Element
 *     before the last of some upper-case letters, when a lower-case one follows     HTTP|Server; but "URLs" is a plural
 *     before an upper-case letter between a digit and a lower-case one              base64|Decode; but Texture2D
 *     before digits at the end, in a name cut by its case       HTTP|Server|2; but utf8, x86
 *
 * Returns the number of parts. */
size_t identifier_split(struct span word, bool by_case, struct identifier_part parts[IDENTIFIER_PARTS_MAX]);
