/* warc_seen.h - which bodies WARC files have already, and under which address: what makes the next one a revisit.
 *
 * Each site (what comes before the path of an address) has its own: the records of one must not need those of another,
 * which may be taken out (warc_purge.h).
 * Memory alone, with a ceiling; warc_files.h keeps it on the disk. Any thread. */
#pragma once

#include "base/buf.h"
#include "base/siphash.h"
#include "codec/digest.h"
#include "base/status.h"

#define WARC_SEEN_BYTES_DEFAULT (128u << 20) /* about a million pages */

struct warc_seen;
struct warc_seen *warc_seen_new(const struct sip_key *key, size_t bytes_max); /* 0: the default */
void warc_seen_free(struct warc_seen *s);                                     /* NULL is fine */

/* What was written of an answer. A version of a page is an answer that a later 304 may stand for. Numbers as in the
 * files of seen/. */
typedef enum warc_note_kind {
    WARC_NOTE_BODY = 1,   /* a response with a version of its page */
    WARC_NOTE_SAME,       /* a revisit of a body that its site has: that is the page's version now */
    WARC_NOTE_OTHER,      /* a response with the body of an error or a redirect */
    WARC_NOTE_OTHER_SAME, /* a revisit with such an answer */
    WARC_NOTE_NONE,       /* a version whose body is empty or cut: nothing can refer to it */
} warc_note_kind;

/* Past the ceiling nothing more is remembered. */
void warc_seen_note(struct warc_seen *s, warc_note_kind kind, const struct digest160 *payload, struct span url,
                    wall_ms at);

/* Where the site of `url` has it. False: nowhere. *original is replaced. */
bool warc_seen_payload(struct warc_seen *s, const struct digest160 *payload, struct span url, struct buf *original,
                       wall_ms *at);
/* What the last version of this page had. */
bool warc_seen_url(struct warc_seen *s, struct span url, struct digest160 *payload, struct buf *original, wall_ms *at);
/* Scheme, host and port of an address. */
struct span warc_site_of(struct span url);
size_t warc_seen_count(struct warc_seen *s);
