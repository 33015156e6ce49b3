/* machine.h - what the agent finds out about the machine it is on. */
#pragma once

#include "base/arena.h"
#include "base/status.h"
#include "wire/control.h"

/* Milliseconds since the machine was started, sleep included: a lease runs out while the lid is closed. */
mono_ms machine_boottime(void);
uint64_t machine_rss(void);
uint64_t machine_disk_free(const char *path);
unsigned machine_cores(void);

/* The share of CPU time and of the load that is not ours. */
struct machine_load {
    uint64_t total, busy; /* jiffies of all cores at the last look */
    int64_t own_us;
    mono_ms at;
    double others_share, others_load; /* -1: not known yet */
};
void machine_load_init(struct machine_load *l);
/* At most every few seconds anew; else the figures stay. */
void machine_load_look(struct machine_load *l, mono_ms now);

/* "x86_64-linux-gnu" */
void machine_name(struct buf *out);
/* Fills in all but bandwidth, place and own sites. Texts live in the arena. */
void machine_setup(struct arena *a, const char *data, struct agent_setup *out);

/* Last in line for the CPU and the disk. */
void machine_be_modest(void);
/* Gives memory that is free back to the system. */
void machine_trim(void);
