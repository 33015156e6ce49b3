/* loop.h - one event loop, its timers and its wake-ups (libuv inside).
 *
 * A loop belongs to one thread; only waker_wake() may be called from others. Callbacks do a little and return. */
#pragma once

#include "base/status.h"

struct loop;
struct timer;
struct waker;
struct signals;

typedef void loop_fn(void *arg);

struct loop *loop_new(void);
void loop_free(struct loop *l); /* after everything on it was freed; NULL is fine */
/* Runs until loop_stop(), or until nothing on the loop can happen any more. */
void loop_run(struct loop *l);
void loop_turn(struct loop *l);   /* what is due now, without waiting for more */
void loop_stop(struct loop *l);   /* from a callback on the loop */
mono_ms loop_now(struct loop *l); /* sampled once a turn */

struct timer *timer_new(struct loop *l, loop_fn *fn, void *arg);
void timer_set(struct timer *t, int64_t delay_ms); /* once; replaces an earlier setting; 0 = next turn */
void timer_stop(struct timer *t);
void timer_free(struct timer *t); /* allowed inside its callback; NULL is fine */

struct waker *waker_new(struct loop *l, loop_fn *fn, void *arg);
void waker_wake(struct waker *w); /* any thread; several calls may become one */
void waker_free(struct waker *w);

/* Calls fn on the loop's thread for SIGINT and SIGTERM. The second signal of a kind within the run ends the process at
 * once (exit code 130): the journal makes that safe; two within half a second are one. One at a time in a process. */
struct signals *signals_new(struct loop *l, loop_fn *fn, void *arg);
void signals_free(struct signals *s);
