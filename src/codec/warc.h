/* warc.h - WARC 1.1 records (ISO 28500:2017), written: what a server answered, as it came. docs/formats/warc.md.
 *
 * One answer is a capture. It becomes a response record, or a revisit when its body is in an earlier record; the
 * request as it was sent and a few facts (metadata) stand beside it and name it (WARC-Concurrent-To). Each record is a
 * gzip member or a zstd frame of its own. Pure: dates and random bytes come from the caller. One thread a writer. */
#pragma once

#include "base/buf.h"
#include "base/status.h"
#include "codec/digest.h"
#include "codec/member.h"

/* Random bytes, for record ids. */
typedef void warc_draw_fn(void *self, void *to, size_t n);

struct warc_writer;
struct warc_writer *warc_writer_new(member_kind kind, warc_draw_fn *draw, void *self);
void warc_writer_free(struct warc_writer *w); /* NULL is fine */

/* The first record of a file. Empty texts are left out. */
struct warc_info {
    struct span filename, software, hostname, user_agent, operator_contact, robots;
    wall_ms at;
};
void warc_put_info(struct warc_writer *w, const struct warc_info *i, struct buf *out);

typedef enum warc_cut { WARC_WHOLE, WARC_CUT_LENGTH, WARC_CUT_TIME, WARC_CUT_DISCONNECT } warc_cut;

struct warc_capture {
    struct span url;
    struct span address; /* connected to, as text; may be empty */
    wall_ms at;          /* when it was asked for */
    struct span request; /* as sent, with the empty line at its end; empty: no request record */
    struct span head;    /* status line and header lines as they came, with the empty line */
    struct span body;    /* transfer coding removed, content coding as it came */
    struct span facts;   /* "name: value\r\n" lines; empty: no metadata record */
    warc_cut cut;        /* why the body is not whole */
    bool is_http2;       /* head and request are the text that stands for its frames */
};

/* An earlier record that has the same body. */
struct warc_original {
    struct span url; /* empty: not known */
    wall_ms at;
    struct digest160 payload;
    bool is_not_modified; /* the server said so (304); else the bodies are equal */
};

struct digest160 warc_payload_digest(const struct warc_capture *c);
/* Appends its records. `original` NULL: a response record. */
void warc_put_capture(struct warc_writer *w, const struct warc_capture *c, const struct digest160 *payload,
                      const struct warc_original *original, struct buf *out);

/* The head as it is written: a version above 1.1 becomes HTTP/1.1, since readers know no other, and Transfer-Encoding
 * becomes X-Crawler-Transfer-Encoding, since the coding was removed. Appends. */
void warc_head_text(struct span head, struct buf *out);
/* Is this a head at all: a status line first, an empty line last and nowhere before, no NUL? For heads from others. */
bool warc_head_is_sound(struct span head);

#define WARC_DATE_MAX 32
const char *warc_date(wall_ms at, char out[WARC_DATE_MAX]); /* 2024-01-31T12:00:00.123Z */
#define WARC_DIGEST_MAX 40
const char *warc_digest_text(const struct digest160 *d, char out[WARC_DIGEST_MAX]); /* sha1: and base32 */
