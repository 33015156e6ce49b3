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

/* A response record with this body was written for `url`. Past the ceiling nothing more is remembered. */
void warc_seen_add(struct warc_seen *s, const struct digest160 *payload, struct span url, wall_ms at);
/* A revisit was: `url` has the body of the response of its site that warc_seen_add was told of. */
void warc_seen_add_same(struct warc_seen *s, const struct digest160 *payload, struct span url);

/* Where the site of `url` has it. False: nowhere. *original is replaced. */
bool warc_seen_payload(struct warc_seen *s, const struct digest160 *payload, struct span url, struct buf *original,
                       wall_ms *at);
/* What the last record of this address had. */
bool warc_seen_url(struct warc_seen *s, struct span url, struct digest160 *payload, struct buf *original, wall_ms *at);
/* Scheme, host and port of an address. */
struct span warc_site_of(struct span url);
size_t warc_seen_count(struct warc_seen *s);
