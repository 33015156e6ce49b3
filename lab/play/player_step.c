/* player_step.c - what steps do. Each is a line of events.tsv when it is done. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/clock.h"
#include "lab/net/box.h"
#include "lab/orders.h"
#include "lab/play/player_internal.h"
#include "store/file.h"

#define FILL_BLOCK 65536
#define FULL_NOTICED_S 0.25 /* an agent looks five times a second */
#define SHELL_OUT_MAX (16u << 20)

static status wait_until_due(struct play *p, const struct step *s)
{
    status st = ST_OK;
    for (int64_t left; st == ST_OK && s->at_ms >= 0 && (left = p->begin + s->at_ms - clock_mono()) > 0;)
        st = play_pause(p, left < PLAY_STEP_MS ? left : PLAY_STEP_MS);
    return st;
}

/* ---- processes ---- */

static status find_actor(struct play *p, const struct step *s, struct actor **out)
{
    *out = play_actor(p, s->name);
    return *out ? ST_OK : play_fail(p, ST_REFUSED, "nobody is called %.*s", SPAN_ARG(s->name));
}

static status must_run(struct play *p, const struct actor *a)
{
    return a->is_wanted ? ST_OK : play_fail(p, ST_REFUSED, "%s does not run", a->name);
}

/* What it had under way is lost with it, whichever way it ends; or cannot be written down. */
static void note_end(struct play *p, const struct actor *a, double after_s)
{
    play_note(p, "kills.tsv", "%.3f\t%s\n", play_since_begin(p) + after_s, a->name);
}

static status do_kill(struct play *p, const struct step *s)
{
    struct actor *a;
    status st = find_actor(p, s, &a);
    if (st == ST_OK)
        st = must_run(p, a);
    if (st == ST_OK) {
        a->is_wanted = false;
        note_end(p, a, 0);
        process_kill(&a->process);
    }
    return st;
}

static status stop(struct play *p, const struct step *s, struct actor *a)
{
    int64_t limit_ms = s->within_ms > 0 ? s->within_ms : PLAY_STOP_MS;
    mono_ms deadline = clock_mono() + limit_ms;
    status st = must_run(p, a);
    if (st != ST_OK)
        return st;
    a->is_wanted = false;
    note_end(p, a, 0);
    if (process_is_running(&a->process))
        kill(a->process.pid, SIGTERM);
    while (st == ST_OK && process_is_running(&a->process)) {
        if (clock_mono() > deadline)
            return play_fail(p, ST_REFUSED, "stop %s: it still runs after %lld s", a->name, (long long)limit_ms / 1000);
        st = play_pause(p, PLAY_STEP_MS / 10);
    }
    return st;
}

static status do_stop(struct play *p, const struct step *s)
{
    struct actor *a;
    status st = find_actor(p, s, &a);
    return st == ST_OK ? stop(p, s, a) : st;
}

static status do_start(struct play *p, const struct step *s)
{
    struct actor *a;
    status st = find_actor(p, s, &a);
    if (st != ST_OK)
        return st;
    if (a->is_wanted)
        return play_fail(p, ST_REFUSED, "%s runs already", a->name);
    if (a == &p->servers)
        return play_start_servers(p);
    return a == &p->coordinator ? play_start_coordinator(p) : play_start_agent(p, play_agent(p, s->name));
}

static status find_agent(struct play *p, const struct step *s, struct play_agent **out)
{
    *out = play_agent(p, s->name);
    return *out ? ST_OK : play_fail(p, ST_REFUSED, "no agent is called %.*s", SPAN_ARG(s->name));
}

static status do_clock(struct play *p, const struct step *s)
{
    struct play_agent *a;
    status st = find_agent(p, s, &a);
    if (st == ST_OK && a->actor.is_wanted)
        st = stop(p, s, &a->actor);
    if (st != ST_OK)
        return st;
    a->clock_ms = s->clock_ms;
    return play_start_agent(p, a);
}

/* ---- disks ---- */

static const char *filler(struct play *p, const struct play_agent *a)
{
    struct buf path = {0};
    buf_printf(&path, "%s/filler", a->data);
    const char *whole = play_path(p, buf_cstr(&path));
    buf_done(&path);
    return whole;
}

/* In ever smaller pieces, so that not a byte is left. */
static int fill(const char *path, uint64_t most)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600), err = 0;
    char *block = mem_alloc(FILL_BLOCK);
    size_t n = FILL_BLOCK;
    while (fd >= 0 && n > 0 && most > 0) {
        ssize_t got = write(fd, block, n);
        if (got > 0)
            most -= (uint64_t)got < most ? (uint64_t)got : most;
        else if (errno == ENOSPC)
            n /= 2;
        else if (errno != EINTR) {
            err = errno;
            break;
        }
    }
    if (fd < 0)
        err = errno;
    else
        close(fd);
    free(block);
    return err;
}

static status do_fill(struct play *p, const struct step *s)
{
    struct play_agent *a;
    status st = find_agent(p, s, &a);
    if (st != ST_OK)
        return st;
    if (!a->is_on_disk)
        return play_fail(p, ST_REFUSED, "fill %s: it has no disk of its own", a->actor.name);
    const char *path = filler(p, a);
    struct statvfs fs = {0};
    uint64_t most = a->disk_max + FILL_BLOCK;
    if (s->free_bytes && statvfs(play_path(p, a->data), &fs) == 0) {
        uint64_t there = (uint64_t)fs.f_bavail * fs.f_frsize;
        most = there > s->free_bytes ? there - s->free_bytes : 0;
    }
    int err = fill(path, most);
    if (!s->free_bytes) /* with room left nothing that came is lost */
        note_end(p, &a->actor, FULL_NOTICED_S);
    return err == 0 ? ST_OK : play_fail(p, ST_REFUSED, "fill %s: %s", a->actor.name, strerror(err));
}

static status do_empty(struct play *p, const struct step *s)
{
    struct play_agent *a;
    status st = find_agent(p, s, &a);
    if (st == ST_OK && unlink(filler(p, a)) != 0)
        st = play_fail(p, ST_REFUSED, "empty %s: %s", a->actor.name,
                       errno == ENOENT ? "it has not been filled" : strerror(errno));
    return st;
}

/* ---- orders and commands ---- */

/* Agents by the names of the map; the coordinator is at hq. */
static struct span place_word(struct play *p, struct span word)
{
    unsigned place;
    if (map_find(p->lab.map, word, &place))
        return word;
    const struct play_agent *a = play_agent(p, word);
    return a ? span_str(a->actor.name) : span_is(word, "coordinator") ? SPAN("hq") : word;
}

/* A file of the run's folder, where there is one of that name: the router has another folder. */
static void put_file(struct play *p, struct span word, struct buf *line)
{
    struct buf name = {0};
    buf_put(&name, word);
    const char *path = play_path(p, buf_cstr(&name));
    if (word.n && word.p[0] != '/' && access(path, F_OK) == 0)
        buf_puts(line, path);
    else
        buf_put(line, word);
    buf_done(&name);
}

static status tell(struct play *p, const char *socket, struct buf *line)
{
    struct buf answer = {0};
    status st = play_tell(socket, buf_span(line), &answer);
    if (st != ST_OK)
        st = play_fail(p, ST_REFUSED, "%s: %s", buf_cstr(line), answer.n ? buf_cstr(&answer) : status_name(st));
    buf_done(&answer);
    return st;
}

static const char *router_socket(struct play *p)
{
    struct buf path = {0};
    const char *box = getenv(BOX_FOLDER_VARIABLE);
    buf_printf(&path, "%s/%s", box ? box : "", ORDERS_SOCKET);
    const char *copy = arena_copy(&p->arena, buf_span(&path)).p;
    buf_done(&path);
    return copy;
}

static status do_router(struct play *p, const struct step *s)
{
    struct buf line = {0};
    for (size_t i = 0; i < s->words.n; i++) {
        if (i)
            buf_putc(&line, ' ');
        if (i > 0 && span_is(s->words.w[0], "matrix"))
            put_file(p, s->words.w[i], &line);
        else
            buf_put(&line, i ? place_word(p, s->words.w[i]) : s->words.w[i]);
    }
    const struct play_agent *cut =
        span_is(s->words.w[0], "cut") && s->words.n == 2 ? play_agent(p, s->words.w[1]) : NULL;
    if (cut) /* answers do not arrive any more */
        note_end(p, &cut->actor, 0);
    status st = tell(p, router_socket(p), &line);
    buf_done(&line);
    return st;
}

static status do_clear(struct play *p, const struct step *s)
{
    struct buf line = {0};
    buf_puts(&line, "clear");
    status st = tell(p, router_socket(p), &line);
    buf_clear(&line);
    buf_puts(&line, "flush");
    if (st == ST_OK)
        st = tell(p, play_servers_socket(p), &line);
    if (st == ST_OK)
        st = play_pause(p, 0); /* reads the ledger: what was fetched before does not count for `crawled` */
    pageset_forget(p->wanted);
    buf_done(&line);
    return st;
}

static status do_servers(struct play *p, const struct step *s)
{
    struct buf line = {0};
    for (size_t i = 0; i < s->words.n; i++)
        buf_printf(&line, "%s%.*s", i ? " " : "", SPAN_ARG(s->words.w[i]));
    status st = tell(p, play_servers_socket(p), &line);
    buf_done(&line);
    return st;
}

/* `orb agent kill NAME`: the coordinator ends it, and that is no surprise. */
static void mind_the_told(struct play *p, const struct step *s)
{
    const struct span *w = s->words.w;
    if (s->words.n < 3 || !span_is(w[0], "agent") || !(span_is(w[1], "kill") || span_is(w[1], "remove")))
        return;
    for (size_t i = 2; i < s->words.n; i++) {
        struct play_agent *a = play_agent(p, w[i]);
        if (a)
            a->actor.is_wanted = false;
    }
}

static status do_orb(struct play *p, const struct step *s)
{
    struct args args = {0};
    args_adds(&args, p->orb);
    for (size_t i = 0; i < s->words.n; i++) {
        const struct play_agent *a = i > 0 ? play_agent(p, s->words.w[i]) : NULL;
        args_add(&args, a ? span_str(a->actor.name) : s->words.w[i]);
    }
    args_adds(&args, "--data", p->data);
    mind_the_told(p, s);
    status st = play_command(p, &args, "orb.out", NULL, s->within_ms > 0 ? s->within_ms : PLAY_COMMAND_MS);
    args_done(&args);
    return st;
}

/* Lines "figure NAME VALUE". */
static void take_figures(struct play *p, const char *file)
{
    struct buf text = {0};
    struct span rest, line, word[3];
    if (file_read(play_path(p, file), SHELL_OUT_MAX, &text) != ST_OK)
        buf_clear(&text);
    rest = buf_span(&text);
    while (rest.n && span_split(&rest, '\n', &line)) {
        size_t n = 0;
        while (n < 3 && line.n && span_split(&line, ' ', &word[n]))
            n += word[n].n > 0;
        if (n == 3 && span_is(word[0], "figure"))
            play_note(p, "took.tsv", "%.*s\t%.*s\n", SPAN_ARG(word[1]), SPAN_ARG(word[2]));
    }
    buf_done(&text);
}

static status do_shell(struct play *p, const struct step *s)
{
    struct args args = {0};
    char out[64];
    snprintf(out, sizeof(out), "shell-%d.out", s->line);
    args_adds(&args, "sh", "-c");
    args_add(&args, s->words.n ? s->words.w[0] : SPAN("true"));
    unlink(play_path(p, out));
    status st = play_command(p, &args, out, NULL, s->within_ms > 0 ? s->within_ms : PLAY_SHELL_MS);
    if (st == ST_OK)
        take_figures(p, out);
    args_done(&args);
    return st;
}

/* ---- all of them ---- */

static const struct {
    const char *name;
    status (*fn)(struct play *p, const struct step *s);
} kinds[] = {
    [STEP_WAIT] = {"wait", NULL},       [STEP_KILL] = {"kill", do_kill},    [STEP_STOP] = {"stop", do_stop},
    [STEP_START] = {"start", do_start}, [STEP_ROUTER] = {"", do_router},    [STEP_SERVERS] = {"servers", do_servers},
    [STEP_FILL] = {"fill", do_fill},    [STEP_EMPTY] = {"empty", do_empty}, [STEP_CLOCK] = {"clock", do_clock},
    [STEP_ORB] = {"orb", do_orb},       [STEP_SHELL] = {"shell", do_shell}, [STEP_CLEAR] = {"clear", do_clear}};

static void put_what(const struct step *s, struct buf *out)
{
    static const char *const waits[] = {
        [WAIT_TIME] = "",           [WAIT_SETTLED] = "settled",   [WAIT_CRAWLED] = "crawled",
        [WAIT_APPLIED] = "applied", [WAIT_FETCHING] = "fetching", [WAIT_IDLE] = "idle",
        [WAIT_HEARD] = "heard",     [WAIT_ABSENT] = "absent",     [WAIT_LEFT] = "left"};
    buf_puts(out, kinds[s->kind].name);
    if (s->kind == STEP_WAIT)
        buf_printf(out, " %s", waits[s->wait]);
    if (s->name.n)
        buf_printf(out, " %.*s", SPAN_ARG(s->name));
    if (s->kind == STEP_CLOCK)
        buf_printf(out, " %+.3f s", (double)s->clock_ms / 1000);
    for (size_t i = 0; i < s->words.n; i++)
        buf_printf(out, " %.*s", SPAN_ARG(s->words.w[i]));
    for (size_t i = 0; i < out->n; i++)
        if ((unsigned char)out->p[i] < ' ')
            out->p[i] = ' ';
}

status play_step(struct play *p, const struct step *s)
{
    struct buf what = {0};
    double took = 0;
    status st = wait_until_due(p, s);
    mono_ms start = clock_mono();
    double began = play_since_begin(p);
    if (st == ST_OK && s->kind == STEP_WAIT) {
        st = play_wait(p, s, &took);
    } else if (st == ST_OK) {
        st = kinds[s->kind].fn(p, s);
        took = (double)(clock_mono() - start) / 1000;
    }
    put_what(s, &what);
    struct span said = span_trim(buf_span(&what));
    if (st == ST_OK && s->as.n)
        play_note(p, "took.tsv", "%.*s\t%.3f\n", SPAN_ARG(s->as), took);
    if (st == ST_OK && s->kind != STEP_WAIT) {
        play_note(p, "events.tsv", "%.3f\t%.*s\n", began, SPAN_ARG(said));
        play_say(p, "%.1f s: %.*s", began, SPAN_ARG(said));
    } else if (st == ST_OK && s->wait != WAIT_TIME) {
        play_note(p, "events.tsv", "%.3f\t%.*s\n", began + took, SPAN_ARG(said));
        play_say(p, "%.1f s: %.*s, after %.1f s", began + took, SPAN_ARG(said), took);
    }
    buf_done(&what);
    return st;
}
