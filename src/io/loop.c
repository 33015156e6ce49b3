#include "io/loop.h"

#include <assert.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/clock.h"
#include "io/loop_uv.h"

struct loop {
    uv_loop_t uv;
};

struct timer {
    uv_timer_t uv;
    loop_fn *fn;
    void *arg; /* borrowed */
};

struct waker {
    uv_async_t uv;
    loop_fn *fn;
    void *arg; /* borrowed */
};

uv_loop_t *loop_uv(struct loop *l)
{
    return &l->uv;
}

struct loop *loop_new(void)
{
    struct loop *l = mem_alloc(sizeof(*l));
    int rc = uv_loop_init(&l->uv);
    assert(rc == 0); /* fails only without file descriptors or memory */
    return l;
}

void loop_free(struct loop *l)
{
    if (!l)
        return;
    /* Handles that were freed are closed by libuv a turn later. */
    uv_run(&l->uv, UV_RUN_NOWAIT);
    uv_run(&l->uv, UV_RUN_NOWAIT);
    int rc = uv_loop_close(&l->uv);
    assert(rc == 0); /* something on the loop was not freed */
    free(l);
}

void loop_run(struct loop *l)
{
    uv_run(&l->uv, UV_RUN_DEFAULT);
}

void loop_turn(struct loop *l)
{
    uv_run(&l->uv, UV_RUN_NOWAIT);
}

void loop_stop(struct loop *l)
{
    uv_stop(&l->uv);
}

mono_ms loop_now(struct loop *l)
{
    return (mono_ms)uv_now(&l->uv);
}

static void free_handle(uv_handle_t *h)
{
    free(h->data);
}

static void on_timer(uv_timer_t *h)
{
    struct timer *t = h->data;
    t->fn(t->arg);
}

struct timer *timer_new(struct loop *l, loop_fn *fn, void *arg)
{
    struct timer *t = mem_alloc(sizeof(*t));
    t->fn = fn;
    t->arg = arg;
    uv_timer_init(&l->uv, &t->uv);
    t->uv.data = t;
    return t;
}

void timer_set(struct timer *t, int64_t delay_ms)
{
    uv_timer_start(&t->uv, on_timer, delay_ms > 0 ? (uint64_t)delay_ms : 0, 0);
}

void timer_stop(struct timer *t)
{
    uv_timer_stop(&t->uv);
}

void timer_free(struct timer *t)
{
    if (t)
        uv_close((uv_handle_t *)&t->uv, free_handle);
}

static void on_wake(uv_async_t *h)
{
    struct waker *w = h->data;
    w->fn(w->arg);
}

struct waker *waker_new(struct loop *l, loop_fn *fn, void *arg)
{
    struct waker *w = mem_alloc(sizeof(*w));
    w->fn = fn;
    w->arg = arg;
    int rc = uv_async_init(&l->uv, &w->uv, on_wake);
    assert(rc == 0);
    w->uv.data = w;
    return w;
}

void waker_wake(struct waker *w)
{
    uv_async_send(&w->uv);
}

void waker_free(struct waker *w)
{
    if (w)
        uv_close((uv_handle_t *)&w->uv, free_handle);
}

/* Signals. The handler itself counts, so that a second Ctrl-C ends a process whose loop is stuck. A signal handler
 * is given no argument: these two are the reason for the only mutable globals of this folder. */

struct signals {
    struct waker *waker; /* owned */
    struct sigaction old_int, old_term;
};

static struct waker *_Atomic signal_waker;          /* borrowed from the one struct signals */
static _Atomic int64_t first_int_ms, first_term_ms; /* 0: none so far */

#define SIGNAL_EXIT_CODE 130
#define SIGNAL_ECHO_MS 500 /* timeout(1) signals the process and then its group: that is one signal */

static void on_signal(int number)
{
    _Atomic int64_t *first = number == SIGINT ? &first_int_ms : &first_term_ms;
    int64_t now = clock_mono(); /* clock_gettime is safe in a signal handler */
    if (*first && now - *first > SIGNAL_ECHO_MS)
        _exit(SIGNAL_EXIT_CODE);
    if (!*first)
        *first = now;
    struct waker *w = signal_waker;
    if (w)
        waker_wake(w); /* uv_async_send is safe in a signal handler */
}

struct signals *signals_new(struct loop *l, loop_fn *fn, void *arg)
{
    assert(!signal_waker); /* one a process */
    struct signals *s = mem_alloc(sizeof(*s));
    s->waker = waker_new(l, fn, arg);
    first_int_ms = first_term_ms = 0;
    signal_waker = s->waker;
    struct sigaction sa = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&sa.sa_mask);
    sigaction(SIGINT, &sa, &s->old_int);
    sigaction(SIGTERM, &sa, &s->old_term);
    return s;
}

void signals_free(struct signals *s)
{
    if (!s)
        return;
    sigaction(SIGINT, &s->old_int, NULL);
    sigaction(SIGTERM, &s->old_term, NULL);
    signal_waker = NULL;
    waker_free(s->waker);
    free(s);
}
