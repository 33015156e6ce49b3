/* player_start.c - the processes of a run: which options they get besides the scenario's, and when they are ready. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/clock.h"
#include "lab/net/box.h"
#include "lab/play/player_internal.h"
#include "sim/world.h"
#include "store/file.h"

#define LINE_FILE_MAX 65536
#define COMMAND_STEP_MS 20

void play_add_words(struct args *to, const struct words *words)
{
    for (size_t i = 0; i < words->n; i++)
        args_add(to, words->w[i]);
}

bool play_has_option(const struct words *words, const char *option)
{
    struct span name = span_str(option);
    for (size_t i = 0; i < words->n; i++) {
        struct span w = words->w[i];
        if (span_starts(w, name) && (w.n == name.n || w.p[name.n] == '='))
            return true;
    }
    return false;
}

/* Everybody else is looked after meanwhile: a command may take its time. */
static status wait_for_command(struct play *p, struct process *process, const char *name, int64_t limit_ms)
{
    mono_ms deadline = clock_mono() + limit_ms;
    struct buf how = {0};
    status st = ST_OK;
    while (st == ST_OK && process_is_running(process)) {
        if (clock_mono() > deadline)
            st = play_fail(p, ST_REFUSED, "%s has not ended after %lld s", name, (long long)limit_ms / 1000);
        else
            st = play_pause(p, COMMAND_STEP_MS);
    }
    process_kill(process);
    if (st == ST_OK && process->how != 0) {
        process_say(process, &how);
        st = play_fail(p, ST_REFUSED, "%s: %s", name, buf_cstr(&how));
    }
    buf_done(&how);
    return st;
}

status play_command(struct play *p, struct args *args, const char *log, const char *err, int64_t limit_ms)
{
    struct buf why = {0}, name = {0};
    struct process process = {0};
    const struct process_opts o = {.args = args, .dir = p->folder, .out = log, .err = err, .path = p->path};
    status st = process_start(&o, &process, &why);
    if (st != ST_OK)
        st = play_fail(p, ST_REFUSED, "%s", buf_cstr(&why));
    else {
        const char *slash = strrchr(args->list[0], '/');
        buf_printf(&name, "%s %s", slash ? slash + 1 : args->list[0], args->n > 1 ? args->list[1] : "");
        st = wait_for_command(p, &process, buf_cstr(&name), limit_ms);
        if (st != ST_OK)
            play_tail(p, err ? err : log, p->why);
    }
    buf_done(&why);
    buf_done(&name);
    return st;
}

static status start(struct play *p, struct actor *a, struct args *args, const char *place)
{
    struct buf why = {0};
    const struct process_opts o = {.args = args, .place = place, .dir = p->folder, .out = a->log};
    status st = process_start(&o, &a->process, &why);
    if (st == ST_OK)
        a->is_wanted = true;
    else
        st = play_fail(p, ST_REFUSED, "%s: %s", a->name, buf_cstr(&why));
    buf_done(&why);
    return st;
}

/* ---- servers ---- */

static off_t size_of(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? st.st_size : 0;
}

static bool says_ready(const char *path, off_t from)
{
    char text[4096];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? pread(fd, text, sizeof(text), from) : -1;
    if (fd >= 0)
        close(fd);
    struct span said = span_of(text, n > 0 ? (size_t)n : 0);
    return span_search(said, SPAN("ready"), false) < said.n;
}

status play_start_servers(struct play *p)
{
    struct args args = {0};
    const char *log = play_path(p, p->servers.log);
    mono_ms deadline = clock_mono() + PLAY_UP_MS;
    off_t from = size_of(log);
    unlink(play_servers_socket(p)); /* of one that was killed */
    args_adds(&args, p->orb_lab, "serve");
    play_add_words(&args, &p->run->serve);
    args_adds(&args, "--ledger", "ledger", "lab");
    status st = start(p, &p->servers, &args, "servers");
    args_done(&args);
    while (st == ST_OK && !says_ready(log, from)) {
        st = play_pause(p, PLAY_STEP_MS / 4);
        if (st == ST_OK && clock_mono() > deadline)
            st = play_fail(p, ST_REFUSED, "the servers are not ready after %d s", PLAY_UP_MS / 1000);
    }
    return st;
}

/* ---- the registry's networks ---- */

static bool is_newer(const char *file, const char *than)
{
    struct stat a, b;
    return stat(file, &a) == 0 && stat(than, &b) == 0 && a.st_mtime >= b.st_mtime;
}

static status build_hierarchy(struct play *p, const char *networks, const char *to)
{
    struct args args = {0};
    struct buf part = {0};
    buf_printf(&part, "%s.%ld", to, (long)getpid());
    args_adds(&args, p->orb, "hierarchy", "build", "--in", networks, "-o", buf_cstr(&part));
    status st = play_command(p, &args, "hierarchy.out", NULL, PLAY_COMMAND_MS);
    if (st == ST_OK && rename(buf_cstr(&part), to) != 0)
        st = play_fail(p, ST_IO, "write %s: %s", to, strerror(errno));
    args_done(&args);
    buf_done(&part);
    return st;
}

/* A world that is only linked here is somebody else's: whoever may write there, root for one, must not. */
static bool is_ours(const char *dir)
{
    struct stat st;
    return lstat(dir, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Made once for a world of the run's own, and kept in it; else for the run alone: it goes when the run ends, for that
 * of a large registry has 40 MB and takes a second. */
status play_hierarchy(struct play *p)
{
    const char *dir = play_path(p, "world"), *networks = "";
    struct world *w = NULL;
    struct buf why = {0};
    status st = access(dir, F_OK) == 0 ? world_load_part(dir, 1, &w, &why) : ST_NOT_FOUND;
    if (st == ST_OK)
        networks = world_networks(w);
    st = ST_OK;
    if (networks[0]) {
        p->hierarchy = play_path(p, "world/hierarchy");
        if (!is_newer(p->hierarchy, networks)) {
            p->is_hierarchy_of_run = !is_ours(dir);
            if (p->is_hierarchy_of_run)
                p->hierarchy = play_path(p, "hierarchy");
            st = build_hierarchy(p, networks, p->hierarchy);
        }
    }
    world_free(w);
    buf_done(&why);
    return st;
}

/* ---- coordinator, central crawler ---- */

static status wait_for_coordinator(struct play *p)
{
    mono_ms deadline = clock_mono() + PLAY_UP_MS;
    const struct json_node *answer;
    status st;
    while ((st = play_pause(p, PLAY_STEP_MS / 4)) == ST_OK && play_ask(p, "/api/v1/overview", NULL, &answer) != ST_OK)
        if (clock_mono() > deadline)
            return play_fail(p, ST_REFUSED, "the coordinator does not answer after %d s", PLAY_UP_MS / 1000);
    return st;
}

static status start_central(struct play *p)
{
    struct args args = {0};
    args_adds(&args, p->orb, "crawl", "--data", p->data, "--seeds", "seeds");
    if (!play_has_option(&p->run->coordinator, "--resolver"))
        args_adds(&args, "--resolver", PLAY_RESOLVER);
    play_add_words(&args, &p->run->coordinator);
    status st = start(p, &p->coordinator, &args, NULL);
    args_done(&args);
    return st;
}

status play_start_coordinator(struct play *p)
{
    const struct words *own = &p->run->coordinator;
    struct args args = {0};
    if (p->run->crawler == CRAWLER_CENTRAL)
        return start_central(p);
    args_adds(&args, p->orb, "coordinator", "--data", p->data);
    if (!play_has_option(own, "--listen"))
        args_adds(&args, "--listen", PLAY_HQ ":7443");
    if (!play_has_option(own, "--resolver"))
        args_adds(&args, "--resolver", PLAY_RESOLVER);
    if (p->hierarchy[0] && !play_has_option(own, "--hierarchy"))
        args_adds(&args, "--hierarchy", p->hierarchy);
    play_add_words(&args, own);
    play_ask_done(p);
    status st = start(p, &p->coordinator, &args, NULL);
    args_done(&args);
    return st == ST_OK ? wait_for_coordinator(p) : st;
}

/* ---- agents ---- */

/* {"line": "orb-agent --join LINE"}. One that ended before it could join is invited once more. */
static status invite(struct play *p, struct play_agent *a, struct buf *line)
{
    struct args args = {0};
    struct buf file = {0}, text = {0}, at = {0};
    struct arena arena;
    const struct json_node *said = NULL;
    buf_printf(&file, "%s.invited", a->data);
    unlink(play_path(p, buf_cstr(&file)));
    args_adds(&args, p->orb, "agent", a->is_added ? "invite" : "add", a->actor.name, "--data", p->data, "--json");
    if (a->has_spot && !a->is_added) {
        buf_printf(&at, "%.5f,%.5f", (double)a->spot.latitude, (double)a->spot.longitude);
        args_adds(&args, "--at", buf_cstr(&at));
    }
    if (!a->is_added) /* they are our own */
        args_adds(&args, "--trusted");
    status st = play_command(p, &args, buf_cstr(&file), "agents.err", PLAY_COMMAND_MS);
    arena_init(&arena);
    if (st == ST_OK && (file_read(play_path(p, buf_cstr(&file)), LINE_FILE_MAX, &text) != ST_OK ||
                        json_tree(&arena, buf_span(&text), &said) != ST_OK))
        st = play_fail(p, ST_REFUSED, "orb agent add %s gave no line", a->actor.name);
    if (st == ST_OK && said) {
        a->is_added = true;
        struct span whole = json_member_text(said, "line"), join = SPAN("--join ");
        buf_put(line, span_trim(span_from(whole, span_search(whole, join, false) + join.n)));
    }
    arena_done(&arena);
    args_done(&args);
    buf_done(&file);
    buf_done(&text);
    buf_done(&at);
    return st;
}

/* A disk of its own, so that it can be full. The mount is the lab's: it goes with it. */
static status mount_disk(struct play *p, struct play_agent *a)
{
    const char *path = play_path(p, a->data);
    char size[64];
    if (a->disk_max == 0 || a->is_on_disk)
        return ST_OK;
    snprintf(size, sizeof(size), "mode=0700,size=%llu", (unsigned long long)a->disk_max);
    if (mount("agent", path, "tmpfs", MS_NOSUID | MS_NODEV, size) != 0)
        return play_fail(p, ST_REFUSED, "a disk for %s: %s", a->actor.name, strerror(errno));
    a->is_on_disk = true;
    return ST_OK;
}

static bool is_enrolled(struct play *p, const struct play_agent *a)
{
    struct buf path = {0};
    buf_printf(&path, "%s/agent.state", play_path(p, a->data));
    bool is = access(buf_cstr(&path), F_OK) == 0;
    buf_done(&path);
    return is;
}

static void add_options(struct play *p, const struct play_agent *a, struct args *args)
{
    char clock[32];
    args_adds(args, "--resolver", PLAY_RESOLVER); /* of two the later one holds */
    play_add_words(args, &p->run->agents);
    for (size_t i = 0; i < p->run->agent_count; i++)
        if (play_agent(p, p->run->agent[i].name) == a)
            play_add_words(args, &p->run->agent[i].options);
    if (a->clock_ms) {
        snprintf(clock, sizeof(clock), "%lld", (long long)a->clock_ms);
        args_adds(args, "--clock-offset", clock);
    }
}

status play_start_agent(struct play *p, struct play_agent *a)
{
    struct args args = {0};
    struct buf line = {0};
    status st = file_mkdir(play_path(p, a->data));
    if (st != ST_OK)
        return play_fail(p, ST_IO, "make %s: %s", a->data, strerror(errno));
    st = mount_disk(p, a);
    args_adds(&args, p->orb_agent, "--data", a->data);
    if (st == ST_OK && !is_enrolled(p, a)) {
        st = invite(p, a, &line);
        args_adds(&args, "--join", buf_cstr(&line));
    }
    add_options(p, a, &args);
    if (st == ST_OK)
        st = start(p, &a->actor, &args, a->actor.name);
    args_done(&args);
    buf_done(&line);
    return st;
}
