/* warc_head.h - one record: its head, the lines of WARC or the one line of ARC, and whether its digests are right. Used
 * by warc_read.c. Pure. */
#pragma once

#include "codec/warc_read.h"

/* "WARC/1.0" at the end of a line, whatever is before it: after garbage a record may begin anywhere. */
bool warc_line_begins(struct span line);
/* The lines of a head, from its first one to the empty one; folded ones are joined in place. Texts of *out point into
 * them. *why (ST_INVALID) says what is wrong: there is no length then. */
MUST_USE status warc_head_read(char *head, size_t n, struct warc_record *out, const char **why);

typedef enum arc_line { ARC_NO, ARC_YES, ARC_BAD_LENGTH } arc_line;
/* "URL address date type length", or the ten words of version 2; the URL may have spaces. */
arc_line arc_line_read(struct span line, struct warc_record *out);
/* What kind of record it is shows in its block. */
void arc_settle(struct warc_record *r);

/* Compares the digests with the block, which must be whole. */
void warc_record_check(struct warc_record *r);
