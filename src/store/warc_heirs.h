/* warc_heirs.h - who gets a body whose record is taken out: the first revisit of it that stays becomes the response,
 * and later ones refer to that one. Inside store/ only; see warc_purge.h.
 *
 * All files are surveyed first, from the oldest on; then they are written anew from the newest on, so that the record
 * that has the body is there until everything that needs it is on the disk. A run that is killed in between leaves what
 * the next one takes for the same. */
#pragma once

#include "base/buf.h"
#include "base/status.h"
#include "codec/member.h"

struct warc_heirs;

struct warc_heirs *warc_heirs_new(void);
void warc_heirs_free(struct warc_heirs *h); /* NULL is fine */

/* A field of the head of a record; empty: there is none. */
struct span warc_field(struct span head, struct span name);

/* A response with this head goes; its member begins at `at` in file `file`. */
void warc_heirs_note_gone(struct warc_heirs *h, struct span head, size_t file, size_t at);
/* A record with this head stays. True: it will have to be written anew. */
bool warc_heirs_note_kept(struct warc_heirs *h, struct span head);

/* Does the revisit with this head become the response? Then *file and *at say where its body is. */
bool warc_heirs_inherits(const struct warc_heirs *h, struct span head, size_t *file, size_t *at);
/* The whole record `revisit`, plain, as a response with the body of the whole record `response`. ST_INVALID: that is
 * not the body it tells of. Appends. */
MUST_USE status warc_heirs_promote(struct span revisit, struct span response, struct buf *out);
/* The whole record, referring to the heir. False: it refers to nothing that goes. Appends. */
bool warc_heirs_point(const struct warc_heirs *h, struct span revisit, struct buf *out);
