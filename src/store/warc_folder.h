/* warc_folder.h - what is in a folder of WARC files: names, and what a killed run left. Inside store/ only; see
 * warc_files.h. */
#pragma once

#include "base/buf.h"
#include "codec/member.h"
#include "store/warc_seen.h"

#define WARC_OPEN ".open"
#define WARC_NAME_MAX 200
#define WARC_TAG_MAX 100

/* Of seen/NAME: docs/formats/warc.md. */
#define WARC_NOTES_KIND 3
#define WARC_NOTE_URL_AT (8 + 8 + 20) /* where the address stands in one */

/* Is this a name of ours? `is_open`: of a file that is being written. */
bool warc_parse_name(struct span name, member_kind *kind, bool *is_open);
const char *warc_suffix(member_kind kind);
/* DIR/NAMEMORE; in *path. */
const char *warc_path(const char *dir, struct buf *path, struct span name, const char *more);
/* DIR/seen/NAME, without what says how the file is compressed. */
const char *warc_notes_path(const char *dir, struct buf *path, struct span name);
/* Cuts files that were open after their last whole record, or, with `is_marked`, where the mark is, and closes them.
 * One that is shorter than its mark is cut after its last whole record too: a file never grows. *tag gets that of the
 * mark.
 */
MUST_USE status warc_folder_settle(const char *dir, bool is_marked, struct buf *tag);
/* What seen/ says of all files. */
MUST_USE status warc_folder_load(const char *dir, struct warc_seen *seen);
