/* inbox.h - packages on their way in: pieces as they come, whole ones until they are applied.
 *
 *     inbox/AGENT-SEQUENCE.part     what came so far
 *     inbox/AGENT-SEQUENCE          whole, checked, on the disk
 *
 * Any thread; pieces of one package come one after the other. */
#pragma once

#include "base/buf.h"
#include "base/status.h"

#define INBOX_PIECE_MAX (1u << 20)
#define INBOX_PARTS_BYTES_MAX (4ull << 30) /* of unfinished packages together */

struct inbox;
MUST_USE status inbox_open(const char *data_dir, struct inbox **out);
void inbox_free(struct inbox *b); /* NULL is fine */

/* Bytes of an unfinished package that are here. */
uint64_t inbox_have(struct inbox *b, uint64_t agent, uint64_t sequence);
/* Appends a piece. ST_INVALID: it does not begin where the last one ended (then *have says where that is). ST_FULL,
 * ST_IO. An agent has one unfinished package at a time: another sequence drops the one before. */
MUST_USE status inbox_piece(struct inbox *b, uint64_t agent, uint64_t sequence, uint64_t offset, struct span piece,
                            uint64_t *have);
/* The whole of an unfinished package, to be checked. */
MUST_USE status inbox_read_part(struct inbox *b, uint64_t agent, uint64_t sequence, struct buf *out);
/* Checked: now it is a package, on the disk under its name. */
MUST_USE status inbox_complete(struct inbox *b, uint64_t agent, uint64_t sequence);
void inbox_drop_part(struct inbox *b, uint64_t agent, uint64_t sequence);
MUST_USE status inbox_read(struct inbox *b, uint64_t agent, uint64_t sequence, struct buf *out); /* ST_NOT_FOUND */
void inbox_remove(struct inbox *b, uint64_t agent, uint64_t sequence);                           /* it was applied */
