/* fetch_header.h - reading the response headers that a crawler needs, without a malloc for each.
 *
 * heads_line() is given one line at a time, as curl delivers them. Values are copied to one buffer that is kept from
 * response to response, and found again by offset. Pure; see also fetch_date() and fetch_retry_after_ms() in fetcher.h.
 */
#pragma once

#include "base/buf.h"

typedef enum head_id {
    HEAD_CONTENT_TYPE,
    HEAD_ETAG,
    HEAD_LAST_MODIFIED,
    HEAD_LOCATION,
    HEAD_RETRY_AFTER,
    HEAD_DATE,
    HEAD_CONTENT_ENCODING, /* all values, commas between */
    HEAD_LINK_CANONICAL,   /* the target, not the whole value */
    HEAD_ROBOTS_TAGS,      /* all values, one a line */
    HEAD_CONTENT_LENGTH,
    HEAD_DISPOSITION,
    HEAD_REFRESH,
    HEAD_MAX
} head_id;

struct heads {
    struct buf text;  /* owned */
    struct buf lines; /* owned: all header lines of the response, "Name: value\n", when keeps_lines */
    bool keeps_lines; /* set after heads_clear */
    struct {
        uint32_t at, n;
    } value[HEAD_MAX];
    uint32_t has; /* bit per head_id */
    size_t bytes; /* of all lines since heads_clear, interim responses too */
    int http_status, http_version;
    bool is_inside;   /* the status line came, the empty line did not */
    bool is_complete; /* the empty line of a final response came; trailers after it are only counted */
};

void heads_clear(struct heads *h);
void heads_done(struct heads *h);
/* Takes one line with its line end. A status line begins anew. */
void heads_line(struct heads *h, struct span line);
struct span heads_get(const struct heads *h, head_id id); /* empty when absent; valid until the next heads_line() */
/* What a result has of them, its status and version among it; the texts are as long valid. */
struct fetch_result;
void heads_fill(const struct heads *h, struct fetch_result *r);

/* Target of the first link with rel=canonical in a Link value (RFC 8288), about this page itself; false when none. */
bool link_canonical(struct span value, struct span *target);
/* HTML, XHTML, plain text, or not told. */
bool type_is_page(struct span content_type);
