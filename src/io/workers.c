#include "io/workers.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"

struct job {
    workers_fn *fn;
    void *arg; /* borrowed */
};

struct worker {
    struct workers *owner; /* borrowed */
    unsigned number;
    pthread_t thread;
};

struct workers {
    pthread_mutex_t lock; /* the fields below, but the array of threads */
    pthread_cond_t changed;
    struct job *ring; /* owned: waiting_max slots */
    size_t first, waiting, waiting_max, running;
    bool is_stopping;

    unsigned count;
    struct worker threads[WORKERS_MAX];
};

static struct job pop(struct workers *w)
{
    struct job j = w->ring[w->first];
    w->first = (w->first + 1) % w->waiting_max;
    w->waiting--;
    return j;
}

static void *work(void *arg)
{
    struct worker *me = arg;
    struct workers *w = me->owner;
    pthread_mutex_lock(&w->lock);
    while (!w->is_stopping) {
        if (w->waiting == 0) {
            pthread_cond_wait(&w->changed, &w->lock);
            continue;
        }
        struct job j = pop(w);
        w->running++;
        pthread_mutex_unlock(&w->lock);
        j.fn(j.arg, me->number, false);
        pthread_mutex_lock(&w->lock);
        w->running--;
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

status workers_new(unsigned count, size_t waiting_max, struct workers **out)
{
    assert(count > 0 && count <= WORKERS_MAX && waiting_max > 0);
    struct workers *w = mem_alloc(sizeof(*w));
    w->ring = mem_alloc(waiting_max * sizeof(*w->ring));
    w->waiting_max = waiting_max;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, NULL);
    while (w->count < count) {
        struct worker *t = &w->threads[w->count];
        t->owner = w;
        t->number = w->count;
        if (pthread_create(&t->thread, NULL, work, t) != 0)
            break;
        w->count++;
    }
    if (w->count == 0) {
        workers_free(w);
        return ST_IO;
    }
    *out = w; /* fewer threads than asked for do the work too */
    return ST_OK;
}

void workers_stop(struct workers *w)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    bool was_stopping = w->is_stopping;
    w->is_stopping = true;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
    if (was_stopping)
        return;
    for (unsigned i = 0; i < w->count; i++)
        pthread_join(w->threads[i].thread, NULL);
    pthread_mutex_lock(&w->lock);
    while (w->waiting > 0) {
        struct job j = pop(w);
        pthread_mutex_unlock(&w->lock);
        j.fn(j.arg, 0, true);
        pthread_mutex_lock(&w->lock);
    }
    pthread_mutex_unlock(&w->lock);
}

void workers_free(struct workers *w)
{
    if (!w)
        return;
    workers_stop(w);
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
    free(w->ring);
    free(w);
}

status workers_add(struct workers *w, workers_fn *fn, void *arg)
{
    status st = ST_OK;
    pthread_mutex_lock(&w->lock);
    if (w->is_stopping)
        st = ST_CANCELLED;
    else if (w->waiting == w->waiting_max)
        st = ST_FULL;
    else {
        w->ring[(w->first + w->waiting) % w->waiting_max] = (struct job){fn, arg};
        w->waiting++;
        pthread_cond_signal(&w->changed);
    }
    pthread_mutex_unlock(&w->lock);
    return st;
}

size_t workers_waiting(struct workers *w)
{
    pthread_mutex_lock(&w->lock);
    size_t n = w->waiting;
    pthread_mutex_unlock(&w->lock);
    return n;
}

size_t workers_running(struct workers *w)
{
    pthread_mutex_lock(&w->lock);
    size_t n = w->running;
    pthread_mutex_unlock(&w->lock);
    return n;
}
