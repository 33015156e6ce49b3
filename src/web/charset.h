/* charset.h - from the bytes of a page to valid UTF-8.
 *
 * Order of evidence: byte order mark, Content-Type header, <meta> (or XML declaration) in the first 1,024 bytes (the
 * standard's prescan), then the bytes themselves: valid UTF-8 is UTF-8, else uchardet's guess over at most 64 KiB, else
 * windows-1252. Labels are those of the Encoding Standard; a label that it does not know is no evidence.
 * Bytes that mean nothing become U+FFFD. Pure; any thread. iconv opens its tables on first use of an encoding: a
 * process that is about to lose its right to open files calls charset_warm_up() before. */
#pragma once

#include "base/arena.h"
#include "base/status.h"

#define CHARSET_DETECT_BYTES (64 * 1024)
/* Past so many bad bytes of a multi-byte encoding all that is not ASCII becomes U+FFFD: an error costs iconv 0.1 us. */
#define CHARSET_ERRORS_MAX 100000

typedef enum charset_source {
    CHARSET_BOM,
    CHARSET_HEADER,
    CHARSET_META,
    CHARSET_DETECTED,
    CHARSET_DEFAULT
} charset_source;

struct charset_result {
    struct span text; /* valid UTF-8 without BOM: the input itself when it was already that, else in the arena */
    const char *name; /* canonical name in lower case, static */
    charset_source source;
    bool had_errors; /* some bytes became U+FFFD */
};

/* `header_charset` is the charset parameter of Content-Type, or empty. `is_html` turns the prescan on.
 * ST_LIMIT: the result would pass `max` bytes. */
MUST_USE status charset_decode(struct arena *a, struct span body, struct span header_charset, bool is_html, size_t max,
                               struct charset_result *out);

/* A reference as it stands in a page of that encoding (charset_result.name), in UTF-8: what is not ASCII in its query
 * is %-encoded in the page's encoding, as browsers send it (URL Standard, 4.4); what that lacks as "&#123;". All else
 * is left alone, and so is everything in pages of Unicode. */
struct span charset_query(struct arena *a, struct span ref, struct span charset);

/* The charset parameter of a Content-Type value, or empty; and its media type ("text/html") without parameters, as
 * written, the first where there are several; empty when there is no '/' in it, or a word for nothing in particular. */
struct span content_type_charset(struct span content_type);
struct span content_type_media(struct span content_type);

/* Loads every table of iconv. False: some are missing on this system; text in those encodings becomes U+FFFD. */
bool charset_warm_up(void);
