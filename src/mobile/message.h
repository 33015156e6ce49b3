/* message.h - what master and worker say to each other over their pipes.
 *
 *     master                         worker
 *     script  (name, script)   ->
 *                              <-    ready, or failed (why)
 *     page    (a page)         ->
 *                              <-    result
 *     ...
 *
 * A message is u32 length of what follows, u8 kind, and the kind's fields (base/pack.h). The script comes
 * with MESSAGE_VERSION: an agent that has updated itself may find an older orb-worker. Neither end trusts the other:
 * every count and length has its ceiling, and what a result may hold is checked here, once, for the master. Pure; any
 * thread. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "mobile/page.h"
#include "mobile/program.h"

#define MESSAGE_VERSION 1 /* counts up when any message changes */
#define MESSAGE_TO_WORKER_MAX (8u << 20)
#define MESSAGE_FROM_WORKER_MAX (4u << 20)

typedef enum message_kind { MSG_SCRIPT = 1, MSG_PAGE, MSG_READY, MSG_FAILED, MSG_RESULT } message_kind;

/* The first whole message of *in, which is cut off it. ST_AGAIN: there is none yet; ST_LIMIT: longer than `max`;
 * ST_INVALID: empty. */
MUST_USE status message_next(struct span *in, size_t max, uint8_t *kind, struct span *payload);

/* These append whole messages. */
void message_put_script(struct buf *out, struct span name, struct span script);
void message_put_page(struct buf *out, const struct program_page *p); /* cut to the ceilings of page.h */
void message_put_ready(struct buf *out);
void message_put_failed(struct buf *out, struct span why);
void message_put_result(struct buf *out, const struct program_result *r);

/* Texts point into the payload, arrays are made in the arena. ST_CORRUPT: not such a message, or one that breaks a
 * ceiling. ST_NEWER: a script of another MESSAGE_VERSION. */
MUST_USE status message_get_script(struct span payload, struct span *name, struct span *script);
MUST_USE status message_get_page(struct arena *a, struct span payload, struct program_page *out);
MUST_USE status message_get_failed(struct span payload, struct span *why);
MUST_USE status message_get_result(struct arena *a, struct span payload, struct program_result *out);
