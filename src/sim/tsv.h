/* tsv.h - tables in text files, row by row: tab-separated, or comma-separated with quotes.
 *
 * A file may also be there as PATH.zst (then it is unpacked into memory, up to TSV_UNPACKED_MAX) or be named so; a
 * plain one is mapped. Complaints name file and line. One thread. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/span.h"
#include "base/status.h"

#define TSV_UNPACKED_MAX ((size_t)1 << 30)
#define TSV_COLUMNS_MAX 65600 /* a matrix has one an agent */

struct tsv;
/* ST_NOT_FOUND, ST_IO, ST_CORRUPT, ST_LIMIT; `why` gets the file and what is wrong. The head line is read: an empty
 * file is ST_INVALID. With `has_head` false there is none: columns have no names. */
MUST_USE status tsv_open(const char *path, bool has_head, struct tsv **out, struct buf *why);
/* The same of a text that is there already and stays, under a name for complaints. */
MUST_USE status tsv_open_text(struct span text, const char *name, bool has_head, struct tsv **out, struct buf *why);
void tsv_free(struct tsv *t); /* NULL is fine; cells are gone then */

/* The column of a name, counted from 0; -1: there is none. */
int tsv_column(const struct tsv *t, const char *name);
size_t tsv_column_count(const struct tsv *t);
struct span tsv_column_name(const struct tsv *t, size_t i);

/* The next row; empty lines are skipped. ST_END: no more. ST_INVALID: fewer columns than the head has (more are fine).
 */
MUST_USE status tsv_next(struct tsv *t, struct buf *why);
struct span tsv_cell(const struct tsv *t, int column); /* of this row; empty for column -1 */
size_t tsv_cell_count(const struct tsv *t);

/* Cells as numbers. False and a sentence in `why` when the cell is none, or out of range; column -1 is ST_INVALID too.
 */
MUST_USE status tsv_real(const struct tsv *t, int column, double min, double max, double *out, struct buf *why);
MUST_USE status tsv_u32(const struct tsv *t, int column, uint32_t max, uint32_t *out, struct buf *why);
/* "FILE:LINE: " and what follows, for complaints of the caller's own. Returns ST_INVALID. */
status tsv_complain(const struct tsv *t, struct buf *why, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* A number as people write it: digits, sign, point, exponent. Not "nan", "inf" or hexadecimal. */
bool text_real(struct span s, double *out);
