/* demo_lab.c - what `orb demo` does inside of the lab: servers, coordinator and agents, each in its place, until every
 * site has its agent. This process is at hq. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "cli/agent_process.h"
#include "cli/command.h"
#include "cli/demo_agents.h"
#include "cli/demo_near.h"
#include "coord/agents.h"
#include "coord/networks.h"
#include "io/clock.h"
#include "store/file.h"

#define HQ                \
    {                     \
        4,                \
        {                 \
            198, 18, 0, 1 \
        }                 \
    } /* docs/formats/lab.md */
#define NAME_SERVER "198.18.0.53"
#define DELAY_MS "100" /* between two requests to a site: they are ours */
#define STEP_MS 100
#define UP_MS 20000
#define SETTLE_MS 45000

struct inside {
    const char *dir;
    struct world *world;
    struct buf lab, fleet;
    struct demo_agent *agents; /* names are owned */
    pid_t servers;
    struct demo_agents *fleet_agents;
    sigset_t stop;
};

/* A step of waiting; false: the time is over, or somebody wants us to end. */
static bool wait_a_step(const struct inside *in, mono_ms deadline)
{
    const struct timespec pause = {.tv_nsec = STEP_MS * 1000000L};
    return sigtimedwait(&in->stop, NULL, &pause) < 0 && clock_mono() < deadline;
}

/* ---- starting ---- */

static int start_servers(struct inside *in)
{
    struct buf file = {0}, log = {0}, text = {0};
    mono_ms deadline = clock_mono() + UP_MS;
    bool is_ready = false;
    buf_printf(&file, "%s/lab", in->dir);
    buf_printf(&log, "%s/serve.log", in->dir);
    const char *argv[] = {"orb-lab", "in", "servers", buf_cstr(&in->lab), "serve", buf_cstr(&file), NULL};
    status st =
        agent_process_start(buf_cstr(&in->lab), (char *const *)(uintptr_t)argv, NULL, buf_cstr(&log), &in->servers);
    while (st == ST_OK && !is_ready && wait_a_step(in, deadline)) {
        buf_clear(&text);
        is_ready = file_read(buf_cstr(&log), 4096, &text) == ST_OK && span_starts(buf_span(&text), SPAN("ready"));
    }
    int code = is_ready ? EXIT_DONE : complain(EXIT_IO, "demo: the servers do not start: %s", buf_cstr(&text));
    buf_done(&file);
    buf_done(&log);
    buf_done(&text);
    return code;
}

static void list_agents(struct inside *in)
{
    size_t n = world_agent_count(in->world);
    in->agents = mem_alloc((n + 1) * sizeof(*in->agents));
    for (size_t i = 0; i < n; i++) {
        const struct world_agent *a = world_agent(in->world, i);
        char *name = mem_str(a->name);
        in->agents[i] = (struct demo_agent){.name = name, .place = name, .has_spot = true, .spot = a->spot};
    }
}

static int start_fleet(struct inside *in)
{
    struct buf hierarchy = {0}, why = {0};
    struct demo_agents_view v = {0};
    mono_ms deadline = clock_mono() + UP_MS;
    list_agents(in);
    buf_printf(&in->fleet, "%s/fleet", in->dir);
    buf_printf(&hierarchy, "%s/hierarchy", in->dir);
    const struct demo_agents_opts o = {.dir = buf_cstr(&in->fleet),
                                       .resolver = NAME_SERVER,
                                       .hierarchy = buf_cstr(&hierarchy),
                                       .delay_ms = DELAY_MS,
                                       .lab = buf_cstr(&in->lab),
                                       .addr = HQ,
                                       .strategy = DELEGATE_LEARNED,
                                       .agents = in->agents,
                                       .count = (unsigned)world_agent_count(in->world)};
    status st = demo_agents_new(&o, &in->fleet_agents, &why);
    int code = st == ST_OK ? EXIT_DONE : complain(EXIT_IO, "demo: %s", why.n ? buf_cstr(&why) : status_name(st));
    while (code == EXIT_DONE && v.there < o.count) {
        if (!wait_a_step(in, deadline))
            code = complain(EXIT_IO, "demo: %u of %u agents came", v.there, o.count);
        demo_agents_look(in->fleet_agents, &v);
    }
    buf_done(&hierarchy);
    buf_done(&why);
    return code;
}

static int add_sites(struct inside *in)
{
    struct buf seeds = {0}, why = {0};
    for (size_t i = 0; i < world_site_count(in->world); i++)
        buf_printf(&seeds, "http://%.*s/\n", SPAN_ARG(world_site(in->world, i)->host));
    status st = demo_agents_add(in->fleet_agents, buf_span(&seeds), &why);
    int code = st == ST_OK ? EXIT_DONE : complain(EXIT_IO, "demo: %s", why.n ? buf_cstr(&why) : status_name(st));
    buf_done(&seeds);
    buf_done(&why);
    return code;
}

/* ---- what became of the sites ---- */

static size_t index_of(const struct inside *in, const char *name)
{
    for (size_t i = 0; i < world_agent_count(in->world); i++)
        if (strcmp(in->agents[i].name, name) == 0)
            return i;
    return 0;
}

/* Lock held. False: it is not decided yet. */
static bool look_at_site(const struct inside *in, struct coord *c, size_t i, struct near_site *out)
{
    const struct c_network *n = network_find(c, &world_site(in->world, i)->addr);
    const struct c_agent *a = n && n->state == NETWORK_OWNED && !n->is_trial ? agent_get(c, n->agent) : NULL;
    double ms = -1;
    for (size_t k = 0; a && k < n->probe_count; k++)
        if (n->probes[k].agent == n->agent)
            ms = n->probes[k].ms;
    if (!a || ms < 0)
        return false;
    near_site_done(out);
    *out = (struct near_site){.agent = index_of(in, a->name), .ms = ms};
    buf_puts(&out->why, n->why);
    for (size_t k = 0; k < n->probe_count; k++) {
        const struct c_agent *other = agent_get(c, n->probes[k].agent);
        if (other && other != a)
            near_add_probe(out, span_str(other->name), n->probes[k].ms);
    }
    near_register(out, c->hierarchy, &world_site(in->world, i)->addr);
    return true;
}

static int wait_for_sites(struct inside *in, struct near_site *sites)
{
    struct coord *c = demo_agents_coord(in->fleet_agents);
    size_t n = world_site_count(in->world), done = 0;
    mono_ms deadline = clock_mono() + SETTLE_MS;
    while (done < n) {
        if (!wait_a_step(in, deadline))
            return complain(EXIT_IO, "demo: %zu of %zu sites have an agent", done, n);
        done = 0;
        pthread_mutex_lock(&c->lock);
        for (size_t i = 0; i < n; i++)
            done += look_at_site(in, c, i, &sites[i]);
        pthread_mutex_unlock(&c->lock);
    }
    return EXIT_DONE;
}

static int write_result(const struct inside *in, const struct near_site *sites)
{
    struct buf table = {0}, path = {0};
    buf_printf(&table,
               "This is the router: a coordinator, %zu agents and %zu web servers, all real, in network namespaces of "
               "this\nmachine. Every packet between them is held back for as long as its way would take.\n",
               world_agent_count(in->world), world_site_count(in->world));
    bool is_near = near_table(in->world, sites, &table);
    buf_printf(&path, "%s/%s", in->dir, is_near ? DEMO_RESULT_NEAR : DEMO_RESULT_FAR);
    status st = file_replace(buf_cstr(&path), buf_span(&table));
    buf_done(&table);
    buf_done(&path);
    return st != ST_OK ? complain(EXIT_IO, "demo: write the result: %s", status_name(st))
           : is_near   ? EXIT_DONE
                       : EXIT_NO;
}

int demo_lab_inside(const char *dir)
{
    struct inside in = {.dir = dir};
    struct buf path = {0}, why = {0};
    struct near_site *sites = NULL;
    int code = EXIT_DONE;
    sigemptyset(&in.stop);
    sigaddset(&in.stop, SIGINT);
    sigaddset(&in.stop, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &in.stop, NULL);
    buf_printf(&path, "%s/world", dir);
    status st = world_load(buf_cstr(&path), &in.world, &why);
    if (st != ST_OK)
        code = complain(exit_code_of(st), "demo: %s", buf_cstr(&why));
    else if (!agent_process_find("orb-lab", &in.lab))
        code = complain(EXIT_IO, "demo: orb-lab is not beside orb");
    if (code == EXIT_DONE)
        code = start_servers(&in);
    if (code == EXIT_DONE)
        code = start_fleet(&in);
    if (code == EXIT_DONE)
        code = add_sites(&in);
    if (code == EXIT_DONE) {
        sites = mem_alloc(world_site_count(in.world) * sizeof(*sites));
        code = wait_for_sites(&in, sites);
    }
    if (code == EXIT_DONE)
        code = write_result(&in, sites);
    demo_agents_free(in.fleet_agents);
    agent_process_end(&in.servers, 1);
    near_sites_free(sites, in.world ? world_site_count(in.world) : 0);
    for (size_t i = 0; in.agents && i < world_agent_count(in.world); i++)
        free((char *)(uintptr_t)in.agents[i].name);
    free(in.agents);
    world_free(in.world);
    buf_done(&in.lab);
    buf_done(&in.fleet);
    buf_done(&path);
    buf_done(&why);
    return code;
}
