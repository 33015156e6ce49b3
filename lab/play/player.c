#include "lab/play/player.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/clock.h"
#include "lab/net/box.h"
#include "lab/net/netns.h"
#include "lab/orders.h"
#include "lab/play/player_internal.h"
#include "sim/world.h"
#include "store/file.h"

#define PROGRESS_MS 5000
#define TAIL_BYTES 1200
#define AFTER_HEARD_MS 1000 /* agents measure the ways between them */

/* ---- saying ---- */

status play_fail(struct play *p, status st, const char *fmt, ...)
{
    va_list ap;
    if (p->why->n)
        return st; /* the first reason is the one */
    if (p->step)
        buf_printf(p->why, "line %d: ", p->step->line);
    va_start(ap, fmt);
    buf_vprintf(p->why, fmt, ap);
    va_end(ap);
    return st;
}

void play_say(struct play *p, const char *fmt, ...)
{
    struct buf line = {0};
    va_list ap;
    if (!p->o->say)
        return;
    va_start(ap, fmt);
    buf_vprintf(&line, fmt, ap);
    va_end(ap);
    p->o->say(p->o->self, buf_cstr(&line));
    buf_done(&line);
}

void play_note(struct play *p, const char *file, const char *fmt, ...)
{
    va_list ap;
    FILE *f = fopen(play_path(p, file), "ae");
    if (!f)
        return;
    va_start(ap, fmt);
    vfprintf(f, fmt, ap);
    va_end(ap);
    fclose(f);
}

void play_count(struct buf *out, uint64_t n)
{
    if (n >= 1000) {
        play_count(out, n / 1000);
        buf_printf(out, ",%03u", (unsigned)(n % 1000));
    } else {
        buf_printf(out, "%u", (unsigned)n);
    }
}

void play_tail(struct play *p, const char *log, struct buf *out)
{
    char text[TAIL_BYTES];
    FILE *f = fopen(play_path(p, log), "re");
    if (!f)
        return;
    if (fseek(f, -TAIL_BYTES, SEEK_END) != 0)
        rewind(f);
    size_t n = fread(text, 1, sizeof(text), f);
    fclose(f);
    struct span tail = span_trim(span_of(text, n));
    if (n == TAIL_BYTES) /* begins in the middle of a line */
        tail = span_from(tail, span_find(tail, '\n', 0) + 1);
    if (tail.n)
        buf_printf(out, "; %s ends with:\n%.*s", log, SPAN_ARG(tail));
}

static void say_progress(struct play *p)
{
    struct buf line = {0};
    size_t hosts;
    if (p->begin == 0 || clock_mono() < p->next_progress)
        return;
    p->next_progress = clock_mono() + PROGRESS_MS;
    buf_printf(&line, "%.0f s: ", play_since_begin(p));
    play_count(&line, pageset_met(p->wanted));
    buf_puts(&line, " of ");
    play_count(&line, pageset_all(p->wanted));
    buf_puts(&line, " pages");
    if (p->o->say && p->run->crawler == CRAWLER_FLEET && play_look_at_networks(p, &hosts) == ST_OK) {
        buf_puts(&line, ", ");
        play_count(&line, p->settled);
        buf_puts(&line, " of ");
        play_count(&line, p->networks);
        buf_puts(&line, " networks settled");
    }
    play_say(p, "%s", buf_cstr(&line));
    buf_done(&line);
}

/* ---- who and where ---- */

const char *play_path(struct play *p, const char *name)
{
    struct buf path = {0};
    buf_printf(&path, "%s/%s", p->folder, name);
    const char *copy = arena_copy(&p->arena, buf_span(&path)).p;
    buf_done(&path);
    return copy;
}

double play_wall(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

double play_since_begin(const struct play *p)
{
    return p->begin ? (double)(clock_mono() - p->begin) / 1000 : 0;
}

static bool is_called(const struct play *p, const struct play_agent *a, struct span name)
{
    uint64_t n;
    return span_is(name, a->actor.name) ||
           (span_starts(name, SPAN("agent")) && span_u64(span_from(name, strlen("agent")), p->agent_count, &n) &&
            n == (uint64_t)(a - p->agents) + 1);
}

/* A world may have an agent that is called agent3 and is not the third one: names come first. */
struct play_agent *play_agent(struct play *p, struct span name)
{
    struct play_agent *found = NULL;
    for (size_t i = 0; i < p->agent_count; i++) {
        if (span_is(name, p->agents[i].actor.name))
            return &p->agents[i];
        if (is_called(p, &p->agents[i], name))
            found = &p->agents[i];
    }
    return found;
}

struct actor *play_actor(struct play *p, struct span name)
{
    struct play_agent *a = play_agent(p, name);
    if (a)
        return &a->actor;
    return span_is(name, "coordinator") ? &p->coordinator : span_is(name, "servers") ? &p->servers : NULL;
}

/* ---- while it waits ---- */

static status look_after(struct play *p, struct actor *a)
{
    struct buf tail = {0}, how = {0};
    status st = ST_OK;
    if (!a->is_wanted || process_is_running(&a->process))
        return ST_OK;
    a->is_wanted = false;
    if (a->may_end && a->process.how == 0)
        return ST_OK;
    process_say(&a->process, &how);
    play_tail(p, a->log, &tail);
    st = play_fail(p, ST_REFUSED, "%s ended by itself (%s)%s", a->name, buf_cstr(&how), buf_cstr(&tail));
    buf_done(&tail);
    buf_done(&how);
    return st;
}

status play_pause(struct play *p, int64_t ms)
{
    struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = (ms % 1000) * 1000000L};
    if (ms > 0 && sigtimedwait(&p->stop, NULL, &pause) > 0)
        return play_fail(p, ST_CANCELLED, "it was told to end");
    status st = follower_read(p->follower, play_path(p, "ledger"));
    if (st != ST_OK)
        return play_fail(p, st, "read the ledger: %s", strerror(errno));
    st = look_after(p, &p->servers);
    if (st == ST_OK)
        st = look_after(p, &p->coordinator);
    for (size_t i = 0; st == ST_OK && i < p->agent_count; i++)
        st = look_after(p, &p->agents[i].actor);
    if (st == ST_OK)
        st = play_arrive(p);
    if (st == ST_OK)
        say_progress(p);
    return st;
}

/* ---- opening ---- */

static status whole_path(struct play *p, const char *given, const char **out)
{
    char *path = realpath(given, NULL);
    if (!path)
        return play_fail(p, ST_IO, "%s: %s", given, strerror(errno));
    *out = arena_copy(&p->arena, span_str(path)).p;
    free(path);
    return ST_OK;
}

/* Commands find our programs by their names. */
static void set_path(struct play *p)
{
    const char *programs[] = {p->orb, p->orb_agent, p->orb_lab}, *was = getenv("PATH");
    struct buf path = {0};
    for (size_t i = 0; i < 3; i++) {
        const char *slash = strrchr(programs[i], '/');
        buf_printf(&path, "%.*s:", (int)(slash - programs[i]), programs[i]);
    }
    buf_puts(&path, was ? was : "/usr/bin:/bin");
    p->path = arena_copy(&p->arena, buf_span(&path)).p;
    buf_done(&path);
}

/* Places with a namespace of their own are agents, but for hq. */
static bool is_agent(const struct map_place *place)
{
    return place->hub >= 0 && !span_is(place->name, "hq") && !span_is(place->name, "dns");
}

static void list_agents(struct play *p)
{
    size_t all = map_place_count(p->lab.map);
    p->agents = mem_alloc((all + 1) * sizeof(*p->agents));
    for (unsigned i = 0; i < all && p->run->crawler == CRAWLER_FLEET; i++) {
        const struct map_place *place = map_place(p->lab.map, i);
        if (!is_agent(place))
            continue;
        struct play_agent *a = &p->agents[p->agent_count];
        struct buf text = {0};
        a->place = i;
        p->agent_count++;
        a->actor.name = arena_copy(&p->arena, place->name).p;
        buf_printf(&text, "%s.log", a->actor.name);
        a->actor.log = arena_copy(&p->arena, buf_span(&text)).p;
        buf_clear(&text);
        buf_printf(&text, "agents/%s", a->actor.name);
        a->data = arena_copy(&p->arena, buf_span(&text)).p;
        buf_done(&text);
    }
}

/* Where agents are is in the world only. A lab without one has agents of which nobody knows where they are. */
static status place_agents(struct play *p)
{
    const char *dir = play_path(p, "world");
    struct world *w = NULL;
    struct buf why = {0};
    if (access(dir, F_OK) != 0)
        return ST_OK;
    status st = world_load_part(dir, 1, &w, &why);
    for (size_t i = 0; st == ST_OK && i < world_agent_count(w); i++) {
        const struct world_agent *from = world_agent(w, i);
        for (size_t k = 0; k < p->agent_count; k++) {
            if (!span_is(from->name, p->agents[k].actor.name))
                continue;
            p->agents[k].has_spot = true;
            p->agents[k].spot = from->spot;
        }
    }
    if (st != ST_OK)
        st = play_fail(p, ST_IO, "the world: %s", buf_cstr(&why));
    world_free(w);
    buf_done(&why);
    return st;
}

static status take_what_is_said(struct play *p)
{
    for (size_t i = 0; i < p->run->agent_count && p->run->crawler == CRAWLER_FLEET; i++) {
        const struct scenario_agent *said = &p->run->agent[i];
        struct play_agent *a = play_agent(p, said->name);
        if (!a)
            return play_fail(p, ST_REFUSED, "no agent is called %.*s", SPAN_ARG(said->name));
        a->is_late |= said->is_late;
        if (said->disk_max)
            a->disk_max = said->disk_max;
    }
    return ST_OK;
}

/* The child of a runner is in the router's namespace, until it goes elsewhere. */
static status go_to_hq(struct play *p)
{
    struct buf answer = {0}, path = {0};
    const char *box = getenv(BOX_FOLDER_VARIABLE);
    int fd = -1;
    buf_printf(&path, "%s/%s", box ? box : "", ORDERS_SOCKET);
    status st = control_ask(buf_cstr(&path), SPAN("enter hq"), &answer, &fd);
    if (st == ST_OK && fd >= 0)
        st = netns_enter(fd);
    if (st != ST_OK)
        st = play_fail(p, ST_IO, "go to hq: %s", st == ST_NOT_FOUND ? "there is no lab around us" : status_name(st));
    if (fd >= 0)
        close(fd);
    buf_done(&answer);
    buf_done(&path);
    return st;
}

static status open_files(struct play *p)
{
    struct buf why = {0};
    status st = lab_load(play_path(p, "lab"), &p->lab, &why);
    if (st != ST_OK)
        st = play_fail(p, ST_IO, "the lab: %s", buf_cstr(&why));
    buf_done(&why);
    if (st != ST_OK)
        return st;
    uint32_t most = pageset_most(p->run->serve.w, p->run->serve.n);
    if (pageset_new(&p->lab, most, &p->wanted) != ST_OK || pageset_new(&p->lab, most, &p->applied) != ST_OK)
        return play_fail(p, ST_REFUSED, "the sites have too many pages: limit them by serve --pages");
    p->follower = follower_new(&p->lab, p->wanted);
    list_agents(p);
    st = take_what_is_said(p);
    if (st == ST_OK)
        st = place_agents(p);
    if (st == ST_OK && file_mkdir(play_path(p, "agents")) != ST_OK)
        st = play_fail(p, ST_IO, "make %s/agents: %s", p->folder, strerror(errno));
    return st;
}

static status open_play(struct play *p)
{
    bool is_central = p->run->crawler == CRAWLER_CENTRAL;
    arena_init(&p->arena);
    arena_init(&p->answer);
    sigemptyset(&p->stop);
    sigaddset(&p->stop, SIGINT);
    sigaddset(&p->stop, SIGTERM);
    sigaddset(&p->stop, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &p->stop, &p->before);
    p->servers = (struct actor){.name = "servers", .log = "servers.log"};
    p->coordinator = (struct actor){.name = "coordinator", .log = is_central ? "central.log" : "coordinator.log"};
    p->coordinator.may_end = is_central;
    p->data = is_central ? "central" : "fleet";
    p->hierarchy = "";
    status st = whole_path(p, p->o->folder, &p->folder);
    if (st == ST_OK)
        st = whole_path(p, p->o->orb, &p->orb);
    if (st == ST_OK)
        st = whole_path(p, p->o->orb_agent, &p->orb_agent);
    if (st == ST_OK)
        st = whole_path(p, p->o->orb_lab, &p->orb_lab);
    if (st != ST_OK)
        return st;
    set_path(p);
    st = open_files(p);
    if (st == ST_OK)
        st = go_to_hq(p);
    return st;
}

static void close_play(struct play *p)
{
    play_ask_done(p);
    follower_free(p->follower);
    pageset_free(p->wanted);
    pageset_free(p->applied);
    lab_done(&p->lab);
    free(p->agents);
    arena_done(&p->answer);
    arena_done(&p->arena);
    pthread_sigmask(SIG_SETMASK, &p->before, NULL);
}

/* ---- the beginning ---- */

static status wait_for_agents(struct play *p)
{
    size_t expected = 0, heard = 0;
    mono_ms start = clock_mono();
    for (size_t i = 0; i < p->agent_count; i++)
        expected += !p->agents[i].is_late;
    while (heard < expected) {
        status st = play_pause(p, PLAY_STEP_MS);
        if (st != ST_OK)
            return st;
        if (play_heard(p, &heard) != ST_OK)
            heard = 0;
        if (heard < expected && clock_mono() > start + PLAY_UP_MS)
            return play_fail(p, ST_REFUSED, "%zu of %zu agents came within %d s", heard, expected, PLAY_UP_MS / 1000);
    }
    play_say(p, "%zu agents are there after %.1f s", heard, (double)(clock_mono() - start) / 1000);
    return play_pause(p, AFTER_HEARD_MS);
}

static status start_fleet(struct play *p)
{
    status st = play_hierarchy(p);
    if (st == ST_OK)
        st = play_start_coordinator(p);
    for (size_t i = 0; st == ST_OK && i < p->agent_count; i++)
        if (!p->agents[i].is_late)
            st = play_start_agent(p, &p->agents[i]);
    return st == ST_OK ? wait_for_agents(p) : st;
}

/* From here on times count. */
static status order_crawl(struct play *p)
{
    char text[32];
    status st = ST_OK;
    p->begin_wall = play_wall();
    p->begin = clock_mono();
    p->next_progress = p->begin + PROGRESS_MS;
    snprintf(text, sizeof(text), "%.6f\n", p->begin_wall);
    if (st == ST_OK && file_replace(play_path(p, "begin"), span_str(text)) != ST_OK)
        st = play_fail(p, ST_IO, "write begin: %s", strerror(errno));
    if (st == ST_OK && p->run->crawler == CRAWLER_FLEET)
        st = play_arrive(p);
    if (st == ST_OK && p->run->crawler == CRAWLER_CENTRAL)
        st = play_write_seeds(p, p->lab.site_count);
    if (st == ST_OK && p->run->crawler == CRAWLER_CENTRAL)
        st = play_start_coordinator(p);
    return st;
}

static status play(struct play *p)
{
    status st = play_start_servers(p);
    if (st == ST_OK && p->run->crawler == CRAWLER_FLEET)
        st = start_fleet(p);
    if (st == ST_OK)
        st = order_crawl(p);
    for (size_t i = 0; st == ST_OK && i < p->run->step_count; i++) {
        p->step = &p->run->steps[i];
        st = play_step(p, p->step);
    }
    if (st == ST_OK)
        st = play_pause(p, 0); /* whoever ended during the last one */
    p->step = NULL;
    return st;
}

status player_run(const struct player_opts *opts, struct buf *why)
{
    struct play p = {.o = opts, .run = opts->run, .why = why};
    status st = open_play(&p);
    if (st == ST_OK) {
        st = play(&p);
        status end = play_end(&p, st == ST_OK);
        if (st == ST_OK)
            st = end;
    }
    close_play(&p);
    return st == ST_OK || st == ST_IO || st == ST_CANCELLED ? st : ST_REFUSED;
}
