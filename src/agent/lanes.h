/* lanes.h - who may go next, where one at a time may go in each lane (a host, an address) and a lane rests after each.
 *
 * Keeps waiting jobs by the key of their lane, first come first served, and lanes by when they are free. A lane without
 * jobs is forgotten when its rest is over. Reads no clock. One thread. */
#pragma once

#include "base/heap.h"
#include "base/status.h"
#include "base/table.h"

struct lane_slot;

/* Inside of what waits. */
struct lane_job {
    struct lane_job *next;
    struct lane_slot *slot; /* borrowed: the lane that it waits for, or holds */
    bool is_waiting;
};

struct lanes {
    struct table slots; /* all */
    struct heap due;    /* those that nobody holds */
    size_t drained;     /* how far lanes_drain() is */
};

/* At the end: any that waits, and waits no more; NULL: none is left. Nothing else is called from then on. */
struct lane_job *lanes_drain(struct lanes *l);
void lanes_done(struct lanes *l); /* after lanes_drain(); lanes that are held are forgotten too */

void lane_wait(struct lanes *l, uint64_t key, mono_ms now, struct lane_job *job);
/* The next job whose lane is free at `now`; it holds job->slot until lane_release(). NULL: none, or none is wanted
 * (`may` is false); then *wake says when to ask again (MONO_NEVER: not before something changes). */
struct lane_job *lane_next(struct lanes *l, mono_ms now, bool may, mono_ms *wake);
void lane_release(struct lanes *l, struct lane_slot *slot, mono_ms free_at);
