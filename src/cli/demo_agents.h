/* demo_agents.h - the demo with a coordinator and agents: real processes on this machine, over loopback. */
#pragma once

#include "base/buf.h"
#include "base/status.h"
#include "sample/sample.h"

#define DEMO_AGENTS_MAX 16

struct demo_agents;

struct demo_agents_opts {
    const char *dir; /* the coordinator's folder; those of the agents are beside it, in `dir`/agents */
    const struct sample *sample;
    sample_part part;
    unsigned count;
    int port, admin_port; /* 0: any free ones */
    const struct log *log;
};

/* Starts the coordinator in this process and the agents as processes of their own, and adds a channel a site. `why`
 * gets one phrase on failure. */
MUST_USE status demo_agents_new(const struct demo_agents_opts *o, struct demo_agents **out, struct buf *why);
/* Ends the agents, then the coordinator. NULL is fine. */
void demo_agents_free(struct demo_agents *d);

struct demo_agents_view {
    unsigned there, tasks, tasks_done;
    uint64_t fetched, queued, docs, bytes_crawled, bytes_sent, packages;
    bool is_done;   /* everything was crawled and can be searched */
    bool is_broken; /* an agent ended by itself */
};
void demo_agents_look(struct demo_agents *d, struct demo_agents_view *out);
int demo_agents_port(const struct demo_agents *d);
int demo_agents_admin_port(const struct demo_agents *d);
bool demo_agents_link(struct demo_agents *d, struct buf *out); /* coord_admin_link */
/* Which agent crawled which sites: one line an agent. */
void demo_agents_table(struct demo_agents *d, struct buf *out);
