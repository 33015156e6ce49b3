#include "agent/lanes.h"

#include <stdlib.h>

#include "base/mem.h"

struct lane_slot {
    struct heap_node due; /* in the heap while nobody holds it */
    uint64_t key;
    struct lane_job *first, **last;
};

void lane_wait(struct lanes *l, uint64_t key, mono_ms now, struct lane_job *job)
{
    struct lane_slot *s = table_get(&l->slots, key);
    if (!s) {
        s = mem_alloc(sizeof(*s));
        s->key = key;
        s->last = &s->first;
        table_put(&l->slots, key, s);
        heap_set(&l->due, &s->due, now);
    }
    job->slot = s;
    job->next = NULL;
    job->is_waiting = true;
    *s->last = job;
    s->last = &job->next;
}

static struct lane_job *pop(struct lane_slot *s)
{
    struct lane_job *job = s->first;
    s->first = job->next;
    if (!s->first)
        s->last = &s->first;
    job->is_waiting = false;
    return job;
}

struct lane_job *lane_next(struct lanes *l, mono_ms now, bool may, mono_ms *wake)
{
    struct heap_node *top;
    while ((top = heap_top(&l->due)) && top->key <= now) {
        struct lane_slot *s = CONTAINER_OF(top, struct lane_slot, due);
        if (s->first && !may) {
            *wake = MONO_NEVER;
            return NULL;
        }
        heap_remove(&l->due, top);
        if (s->first)
            return pop(s);
        table_remove(&l->slots, s->key);
        free(s);
    }
    *wake = top ? top->key : MONO_NEVER;
    return NULL;
}

void lane_release(struct lanes *l, struct lane_slot *slot, mono_ms free_at)
{
    heap_set(&l->due, &slot->due, free_at);
}

struct lane_job *lanes_drain(struct lanes *l)
{
    struct lane_slot *s;
    while ((s = table_next(&l->slots, &l->drained)))
        if (s->first) {
            l->drained--; /* it may have more */
            return pop(s);
        }
    return NULL;
}

void lanes_done(struct lanes *l)
{
    size_t at = 0;
    struct lane_slot *s;
    while ((s = table_next(&l->slots, &at)))
        free(s);
    table_done(&l->slots);
    heap_done(&l->due);
}
