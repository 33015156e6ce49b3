/* member.h - one record, one gzip member or one zstd frame: what can be cut out of a file, and concatenated to one,
 * without looking into it.
 *
 * Pure; one thread a maker. */
#pragma once

#include "base/buf.h"
#include "base/status.h"

typedef enum member_kind { MEMBER_GZIP, MEMBER_ZSTD } member_kind;

/* Keeps what compressing needs from record to record: making it costs more than a small record. */
struct member_maker;
struct member_maker *member_maker_new(member_kind kind);
void member_maker_free(struct member_maker *m); /* NULL is fine */
/* The parts, one after the other, as one member. Appends. */
void member_make(struct member_maker *m, const struct span *parts, size_t count, struct buf *out);

/* How many bytes of `in` are whole members, from its beginning: up to the first that was cut short or is none. Checks
 * what members say of themselves (gzip's CRC, zstd's checksum). Takes memory for no more than a window. */
size_t member_whole_bytes(member_kind kind, struct span in);

/* The first member of `in`: how many bytes it has, and up to `max` of what it holds, appended. All of it is read.
 * ST_CORRUPT: it is cut short, damaged, or none. */
MUST_USE status member_look(member_kind kind, struct span in, size_t max, struct buf *out, size_t *bytes);
