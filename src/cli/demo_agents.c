#include "cli/demo_agents.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/agent_process.h"
#include "coord/agents.h"
#include "coord/channels.h"
#include "store/file.h"

#define HERE(n, p)                \
    {                             \
        .name = (n), .place = (p) \
    }
const struct demo_agent demo_agents_here[DEMO_AGENTS_MAX] = {HERE("athens", "Athens"),
                                                             HERE("bergen", "Bergen"),
                                                             HERE("cairo", "Cairo"),
                                                             HERE("dakar", "Dakar"),
                                                             HERE("edmonton", "Edmonton"),
                                                             HERE("fukuoka", "Fukuoka"),
                                                             HERE("guadalajara", "Guadalajara"),
                                                             HERE("hobart", "Hobart"),
                                                             HERE("izmir", "Izmir"),
                                                             HERE("jena", "Jena"),
                                                             HERE("kigali", "Kigali"),
                                                             HERE("lima", "Lima"),
                                                             HERE("manila", "Manila"),
                                                             HERE("nairobi", "Nairobi"),
                                                             HERE("oulu", "Oulu"),
                                                             HERE("porto", "Porto")};

struct demo_agents {
    struct coord *coord;
    pthread_t thread;
    bool has_thread;
    pid_t pids[DEMO_AGENTS_MAX];
    unsigned count;
};

/* ---- processes ---- */

#define ARGS_MAX 24

static status start_agent(struct demo_agents *d, const struct demo_agents_opts *o, const char *program,
                          const char *hosts, const struct demo_agent *who, struct buf *why)
{
    struct buf data = {0}, line = {0}, log = {0};
    struct c_agent *a = NULL;
    struct agent_form f = {.name = span_str(who->name),
                           .place = span_str(who->place),
                           .has_place = who->has_spot,
                           .latitude = (double)who->spot.latitude,
                           .longitude = (double)who->spot.longitude,
                           .settings = {.package_age_ms = 1000, .poll_ms = 1000}};
    pthread_mutex_lock(&d->coord->lock);
    status st = agent_add(d->coord, &f, &a, &line, why);
    pthread_mutex_unlock(&d->coord->lock);
    buf_printf(&data, "%s/agents/%s", o->dir, who->name);
    buf_printf(&log, "%s.log", buf_cstr(&data));
    const char *argv[ARGS_MAX] = {"orb-lab", "in", who->name, program};
    size_t first = o->lab ? 0 : 3, n = 4;
    const char *const fixed[] = {"--data",
                                 buf_cstr(&data),
                                 "--join",
                                 buf_cstr(&line),
                                 "--delay",
                                 o->delay_ms,
                                 "--quiet",
                                 "--config",
                                 "/dev/null",
                                 o->hosts.n ? "--hosts" : "--resolver",
                                 o->hosts.n ? hosts : o->resolver};
    for (size_t i = 0; i < sizeof(fixed) / sizeof(*fixed); i++)
        argv[n++] = fixed[i];
    if (o->is_plain)
        argv[n++] = "--allow-private";
    if (st == ST_OK) {
        st = agent_process_start(o->lab ? o->lab : program, (char *const *)argv + first, NULL, buf_cstr(&log),
                                 &d->pids[d->count]);
        if (st == ST_OK)
            d->count++;
        else
            buf_printf(why, "start %s: %s", o->lab ? o->lab : program, strerror(errno));
    }
    buf_done(&data);
    buf_done(&line);
    buf_done(&log);
    return st;
}

/* ---- the coordinator ---- */

static void *run(void *arg)
{
    struct demo_agents *d = arg;
    status st = coord_run(d->coord);
    return st == ST_OK ? NULL : d;
}

status demo_agents_add(struct demo_agents *d, struct span seeds, struct buf *why)
{
    struct span line;
    status st = ST_OK;
    while (st == ST_OK && span_split(&seeds, '\n', &line)) {
        if (!line.n)
            continue;
        struct channel_opts c = {.seeds = &line, .seed_count = 1, .scope = SCOPE_SITE, .depth_max = 64};
        struct channel_form f = {.label = line};
        struct c_channel *ch;
        st = channel_new(&c, &f.channel, why);
        pthread_mutex_lock(&d->coord->lock);
        if (st == ST_OK)
            st = channel_put(d->coord, &f, &ch, why);
        pthread_mutex_unlock(&d->coord->lock);
        channel_free(f.channel);
    }
    return st;
}

static status start_coordinator(struct demo_agents *d, const struct demo_agents_opts *o, struct buf *why)
{
    struct coord_opts c = {.data_dir = o->dir,
                           .addr = o->addr,
                           .port = o->port,
                           .admin_addr = {4, {127, 0, 0, 1}},
                           .admin_port = o->admin_port,
                           .is_plain = o->is_plain,
                           .allow_private = o->is_plain,
                           .strategy = o->strategy,
                           .hierarchy_file = o->hierarchy,
                           .dns = {.hosts = o->hosts},
                           .version = SPAN(ORB_VERSION_SHORT),
                           .log = o->log};
    if (o->resolver)
        c.dns.server = span_str(o->resolver);
    status st = coord_new(&c, &d->coord, why);
    if (st == ST_OK) {
        d->has_thread = true;
        if (pthread_create(&d->thread, NULL, run, d) != 0)
            abort(); /* no thread means no memory for one */
    }
    return st;
}

status demo_agents_new(const struct demo_agents_opts *o, struct demo_agents **out, struct buf *why)
{
    struct demo_agents *d = mem_alloc(sizeof(*d));
    struct buf path = {0}, program = {0};
    buf_printf(&path, "%s/agents", o->dir);
    status st = file_mkdir(buf_cstr(&path));
    buf_puts(&path, "/hosts");
    if (st == ST_OK)
        st = file_replace(buf_cstr(&path), o->hosts);
    if (st == ST_OK && !agent_process_find("orb-agent", &program)) {
        buf_puts(why, "orb-agent is not beside orb: build or install it");
        st = ST_NOT_FOUND;
    }
    if (st == ST_OK)
        st = start_coordinator(d, o, why);
    for (unsigned i = 0; st == ST_OK && i < o->count && i < DEMO_AGENTS_MAX; i++)
        st = start_agent(d, o, buf_cstr(&program), buf_cstr(&path), &o->agents[i], why);
    if (st == ST_OK)
        *out = d;
    else
        demo_agents_free(d);
    buf_done(&path);
    buf_done(&program);
    return st;
}

void demo_agents_free(struct demo_agents *d)
{
    if (!d)
        return;
    agent_process_end(d->pids, d->count);
    if (d->has_thread) {
        coord_stop(d->coord);
        pthread_join(d->thread, NULL);
    }
    coord_free(d->coord);
    free(d);
}

/* ---- looking ---- */

struct coord *demo_agents_coord(struct demo_agents *d)
{
    return d->coord;
}

void demo_agents_look(struct demo_agents *d, struct demo_agents_view *out)
{
    struct coord_progress p;
    coord_get_progress(d->coord, &p);
    *out = (struct demo_agents_view){.there = p.agents_there,
                                     .tasks = p.tasks,
                                     .tasks_done = p.tasks_done,
                                     .fetched = p.fetched,
                                     .queued = p.queued,
                                     .docs = p.index_docs,
                                     .bytes_crawled = p.bytes_crawled,
                                     .bytes_sent = p.bytes_sent,
                                     .packages = p.packages,
                                     .is_done = p.is_quiet};
    for (unsigned i = 0; i < d->count; i++)
        if (d->pids[i] && waitpid(d->pids[i], NULL, WNOHANG) == d->pids[i]) {
            d->pids[i] = 0;
            out->is_broken = true;
        }
}

int demo_agents_port(const struct demo_agents *d)
{
    return coord_port(d->coord);
}

int demo_agents_admin_port(const struct demo_agents *d)
{
    return coord_admin_port(d->coord);
}

bool demo_agents_link(struct demo_agents *d, struct buf *out)
{
    return coord_admin_link(d->coord, out);
}

/* Pages as everywhere: redirects, errors and lists are none. */
static uint64_t pages_of(const struct coord *c, const struct c_agent *a)
{
    uint64_t n = 0;
    for (size_t i = 0; i < c->task_count; i++)
        if (c->tasks[i] && c->tasks[i]->agent == a->number)
            n += c->tasks[i]->progress.fetched;
    return n;
}

void demo_agents_table(struct demo_agents *d, struct buf *out)
{
    struct coord *c = d->coord;
    pthread_mutex_lock(&c->lock);
    for (size_t i = 0; i < c->agent_count; i++) {
        const struct c_agent *a = c->agents[i];
        size_t at = 0, shown = 0;
        if (!a)
            continue;
        buf_printf(out, "  %-12s %6llu pages, %5.1f kB in %llu package%s: ", a->name,
                   (unsigned long long)pages_of(c, a), (double)a->package_bytes / 1000, (unsigned long long)a->packages,
                   a->packages == 1 ? "" : "s");
        for (const struct c_host *h; (h = table_next(&c->hosts, &at));)
            if (h->network && h->network->agent == a->number) {
                size_t n = strcspn(h->name, ".");
                buf_printf(out, "%s%.*s", shown++ ? ", " : "", (int)n, h->name);
            }
        buf_puts(out, shown ? "\n" : "no site\n");
    }
    pthread_mutex_unlock(&c->lock);
}
