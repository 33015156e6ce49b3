/* capture.h - an answer as it came, packed: what an agent sends beside a visit when a channel asks for WARC. The
 * coordinator makes the records, so that an agent can spoil no more than the pages that it was given.
 *
 * Fields (fields.h); docs/formats/package.md. Pure. */
#pragma once

#include "codec/warc.h"

#define CAPTURE_REQUEST_MAX (128u << 10)
#define CAPTURE_HEAD_MAX (128u << 10)
#define CAPTURE_BODY_MAX (16u << 20)
#define CAPTURE_BYTES_MAX (CAPTURE_REQUEST_MAX + CAPTURE_HEAD_MAX + CAPTURE_BODY_MAX + 256)

/* Appends. Address, URL and facts stay behind: they are in the visit. False, and nothing: it is larger than may
 * travel. */
bool capture_pack(const struct warc_capture *c, struct buf *out);
/* Texts point into `packed`. ST_CORRUPT: no fields, or a head that is none; ST_LIMIT. */
MUST_USE status capture_unpack(struct span packed, struct warc_capture *out);
