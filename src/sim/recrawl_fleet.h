/* recrawl_fleet.h - agents that come and go, and the tasks they have: the part of the simulation that no strategy sees.
 *
 * One task: it is submitted and goes to the agent nearest to its channel, which runs it in one of five threads. When
 * none of them is free it goes to the nearest agent that has one; when nobody has, it waits with its owner, or where
 * five wait already with a less loaded agent near by, and where those are full with its owner all the same. It ends
 * when it is crawled, when it has waited too long, or with its agent: two in three vanish with all they have, which is
 * noticed a few steps later; one in three says so, and its tasks go on elsewhere with what is left of them. Steps are
 * minutes. The same seed gives the same lives, whatever is submitted. */
#pragma once

#include "sim/recrawl_ground.h"

#define FLEET_NOTICE_STEPS 5 /* until it is known that an agent vanished */
#define FLEET_REACH 8        /* nodes that a task may be forwarded to in order to wait there, the nearest first */

typedef enum fleet_fate {
    FATE_DONE,
    FATE_LATE, /* waited too long */
    FATE_LOST, /* with its agent */
} fleet_fate;

struct fleet_end {
    fleet_fate fate;
    uint32_t channel, asked; /* step */
    double run_steps;        /* in a thread, over all agents that had it */
};

struct fleet_figures {
    uint64_t forwarded, handed_over;
    double thread_steps; /* of agents that were there, busy or not */
    double busy_steps;
    double page_rate; /* pages a step of a thread, mean over agents and time, at the round trip of nearest nodes */
};

struct fleet;
struct fleet *fleet_new(const struct recrawl_ground *g, size_t agents,
                        void (*ended)(void *arg, const struct fleet_end *e), void *arg);
void fleet_free(struct fleet *f);
/* Everything that happens in this step; steps come one after the other. */
void fleet_step(struct fleet *f, uint32_t step);
/* `timeout`: steps that it may wait. */
void fleet_submit(struct fleet *f, uint32_t channel, uint32_t timeout);
size_t fleet_free_threads(const struct fleet *f);
size_t fleet_queued(const struct fleet *f);
size_t fleet_present(const struct fleet *f); /* agents */
/* Agents from `from` on, every `stride`th of them, up to `to`: go now and stay away, or come. */
void fleet_leave(struct fleet *f, size_t from, size_t to, size_t stride);
void fleet_come(struct fleet *f, size_t from, size_t to, size_t stride);
/* Standard deviation of what agents have to do, by its mean. */
double fleet_load_variation(const struct fleet *f);
void fleet_figures(const struct fleet *f, struct fleet_figures *out);
