/* format.h - numbers as people read them. All append. */
#pragma once

#include "base/buf.h"
#include "base/status.h"

void put_count(struct buf *out, uint64_t n);       /* "1,234" */
void put_bytes(struct buf *out, uint64_t n);       /* "41.2 MB": powers of 1,000 */
void put_clock(struct buf *out, uint64_t seconds); /* "0:16", "1:02:03", "3d 04:05" */
void put_seconds(struct buf *out, uint64_t ms);    /* "16.3 s", then as put_clock */
void put_iso_time(struct buf *out, wall_ms t);     /* "2026-01-31T12:00:00Z" */
/* A cell of CSV: quoted where needed; a leading = + - @ tab or CR gets an apostrophe, so that no spreadsheet runs it.
 */
void put_csv(struct buf *out, struct span s);
