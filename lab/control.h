/* control.h - a process of the lab takes orders: a line over a socket, an answer, and the connection is over.
 *
 * The socket is a file of the box's folder. An answer begins with "ok" or "error"; a file descriptor may come with it,
 * which is how a process gets into the namespace of a place. One thread; nothing here waits for a client. */
#pragma once

#include "base/buf.h"
#include "base/status.h"

#define CONTROL_LINE_MAX 4096
#define CONTROL_ANSWER_MAX (8u << 20)

struct control;
/* Fills in the answer to a line (without its end). *fd: a descriptor to send along, borrowed; -1 before the call. */
typedef void control_fn(void *self, struct span line, struct buf *answer, int *fd);

/* ST_BUSY: the file is there. */
MUST_USE status control_new(const char *path, control_fn *fn, void *self, struct control **out);
void control_free(struct control *c);    /* NULL is fine; the file goes */
int control_fd(const struct control *c); /* readable: control_turn has something to do */
void control_turn(struct control *c);

/* The other side; waits for the answer. ST_NOT_FOUND: nobody is there; ST_REFUSED: an error, which is in *answer;
 * ST_PROTOCOL, ST_IO. `fd` may be NULL; -1: none came. */
MUST_USE status control_ask(const char *path, struct span line, struct buf *answer, int *fd);
