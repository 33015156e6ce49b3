/* programs.h - programs that came by order, in DATA/programs/NAME; only what a key of the owner's has signed, and never
 * an older serial than was there before, removed ones included. One thread. */
#pragma once

#include "agent/conf.h"
#include "base/arena.h"
#include "base/buf.h"
#include "codec/sign.h"
#include "wire/control.h"

struct programs;

/* Keys are those of the owner's settings. */
MUST_USE status programs_new(const char *data, const struct conf *conf, struct programs **out);
void programs_free(struct programs *p); /* NULL is fine */
/* ST_REFUSED: no key of the owner's has signed it, or it is older than what is here; ST_INVALID. `why` says it. */
MUST_USE status programs_order(struct programs *p, const struct program_order *o, struct buf *why);
/* What is there, for the report: texts live in the arena. */
struct program_report *programs_report(const struct programs *p, struct arena *a, size_t *count);
/* The file of one, or ST_NOT_FOUND. */
MUST_USE status programs_read(const struct programs *p, struct span name, struct buf *file);
