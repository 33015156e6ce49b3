/* demo_agents.h - a coordinator in this process and agents as processes of their own, for the demo: over loopback, or
 * each in its place of the lab. */
#pragma once

#include "base/buf.h"
#include "base/status.h"
#include "place/geo.h"
#include "plan/delegate.h"

#define DEMO_AGENTS_MAX 16

struct coord;
struct demo_agents;

struct demo_agent {
    const char *name, *place; /* place: for people */
    bool has_spot;
    struct spot spot;
};
/* On loopback all are as near. */
extern const struct demo_agent demo_agents_here[DEMO_AGENTS_MAX];

struct demo_agents_opts {
    const char *dir;       /* the coordinator's folder; those of the agents are beside it, in `dir`/agents */
    struct span hosts;     /* text of a hosts file; empty: `resolver` is asked */
    const char *resolver;  /* address of a name server; NULL: none */
    const char *hierarchy; /* file; NULL: none */
    const char *delay_ms;  /* between two requests to a site */
    const char *lab;       /* orb-lab: each agent runs in the place of its name; NULL: here */
    struct addr addr;      /* of the coordinator */
    bool is_plain;         /* only on loopback */
    int port, admin_port;  /* 0: any free ones */
    delegate_strategy strategy;
    const struct demo_agent *agents;
    unsigned count;
    const struct log *log;
};

/* Starts the coordinator and the agents. `why` gets one phrase on failure. */
MUST_USE status demo_agents_new(const struct demo_agents_opts *o, struct demo_agents **out, struct buf *why);
/* Adds a channel a line. */
MUST_USE status demo_agents_add(struct demo_agents *d, struct span seeds, struct buf *why);
/* Ends the agents, then the coordinator. NULL is fine. */
void demo_agents_free(struct demo_agents *d);
struct coord *demo_agents_coord(struct demo_agents *d);

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
