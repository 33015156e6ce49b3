/* programs.h - programs that came by order, in DATA/programs; only what a key of the owner's has signed, and never an
 * older serial than was there before, dropped ones included. The version before the newest is kept, and goes on when
 * the newest fails or is dropped by order. One thread: that of the crawl's calls. */
#pragma once

#include "agent/conf.h"
#include "base/arena.h"
#include "base/buf.h"
#include "codec/sign.h"
#include "crawl/crawl.h"
#include "wire/control.h"

struct programs;

/* Keys are those of the owner's settings. */
MUST_USE status programs_new(const char *data, const struct conf *conf, const struct log *log, struct programs **out);
void programs_free(struct programs *p); /* NULL is fine */
/* A crawl was opened: it gets them, and those that come later. One that does not go is said in the report. */
MUST_USE status programs_attach(struct programs *p, struct crawl *cr);
void programs_detach(struct programs *p); /* it is about to be closed */
/* Takes note of what failed, so that it does not begin anew after a restart. Now and then. */
MUST_USE status programs_look(struct programs *p);
/* ST_REFUSED: no key of the owner's has signed it, or it is older than what is here; ST_INVALID. `why` says it. */
MUST_USE status programs_order(struct programs *p, const struct program_order *o, struct buf *why);
/* What is there, for the report: texts live in the arena. */
struct program_report *programs_report(const struct programs *p, struct arena *a, size_t *count);
