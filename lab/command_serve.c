#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "lab/command.h"
#include "lab/control.h"
#include "lab/net/box.h"
#include "lab/serve/dns_server.h"
#include "lab/serve/labtime.h"
#include "lab/serve/web.h"

#define CONTROL_NAME "serve" /* in the box's folder */
#define FLUSH_MS 200         /* how far behind the ledger's file may be */
#define THREADS_MAX 16

struct wish {
    const char *file, *ledger, *control;
    uint64_t pages, bytes, think_ms, port, dns_port, threads;
    double errors_percent, limit_per_s, change_per_day, speed, began_s;
    bool no_dns, closes;
};

struct serving {
    struct lab lab;
    struct ledger *ledger;
    struct dns_server *dns;
    struct web *web;
    struct control *control;
};

/* ---- orders: slow|errors|limit HOST|* NUMBER, speed NUMBER, close on|off, flush, stats ---- */

static const struct knob_order {
    const char *name, *unit;
    web_knob knob;
    double max;
} knob_orders[] = {{"slow", "MILLISECONDS", WEB_THINK_MS, LAB_THINK_MAX_MS},
                   {"errors", "PERCENT", WEB_ERRORS_PERCENT, 100},
                   {"limit", "PER_SECOND", WEB_LIMIT_PER_S, LAB_LIMIT_MAX}};
#define KNOB_ORDERS (sizeof(knob_orders) / sizeof(*knob_orders))

static void on_knob(struct serving *s, const struct knob_order *o, struct span rest, struct buf *answer)
{
    struct span host, number;
    double value;
    if (!span_split(&rest, ' ', &host) || !span_split(&rest, ' ', &number) || rest.n ||
        !lab_number(number, o->max, &value))
        buf_printf(answer, "error %s HOST %s\n", o->name, o->unit);
    else if (web_set(s->web, host, o->knob, value) != ST_OK)
        buf_printf(answer, "error no site is called %.*s\n", SPAN_ARG(host));
    else
        buf_puts(answer, "ok\n");
}

static void on_speed(struct serving *s, struct span rest, struct buf *answer)
{
    double speed;
    if (!lab_number(rest, LABTIME_SPEED_MAX, &speed))
        buf_puts(answer, "error speed NUMBER\n");
    else if (web_set_speed(s->web, speed) != ST_OK)
        buf_puts(answer, "error the speed was changed too often\n");
    else
        buf_puts(answer, "ok\n");
}

static void on_close(struct serving *s, struct span rest, struct buf *answer)
{
    bool is_on = span_is(rest, "on");
    if (!is_on && !span_is(rest, "off")) {
        buf_puts(answer, "error close on|off\n");
        return;
    }
    web_set_closes(s->web, is_on);
    buf_puts(answer, "ok\n");
}

static void on_stats(struct serving *s, struct buf *answer)
{
    buf_printf(answer, "ok {\"requests\":%llu,\"queries\":%llu,\"lost\":%llu,\"began\":%.6f,\"time_s\":%.3f}\n",
               (unsigned long long)ledger_count(s->ledger), (unsigned long long)(s->dns ? dns_server_count(s->dns) : 0),
               (unsigned long long)ledger_lost(s->ledger), web_began_s(s->web), web_now_s(s->web));
}

static void on_order(void *self, struct span line, struct buf *answer, int *fd)
{
    struct serving *s = self;
    struct span word = line;
    (void)span_split(&line, ' ', &word);
    for (size_t i = 0; i < KNOB_ORDERS; i++) {
        if (span_is(word, knob_orders[i].name)) {
            on_knob(s, &knob_orders[i], line, answer);
            return;
        }
    }
    if (span_is(word, "speed")) {
        on_speed(s, line, answer);
    } else if (span_is(word, "close")) {
        on_close(s, line, answer);
    } else if (span_is(word, "flush")) {
        ledger_flush(s->ledger);
        buf_puts(answer, "ok\n");
    } else if (span_is(word, "stats")) {
        on_stats(s, answer);
    } else {
        buf_puts(answer, "error slow, errors, limit, speed, close, flush or stats\n");
    }
}

/* ---- serving ---- */

/* A server that was killed leaves its socket; one that runs would answer. */
static bool is_left_over(const char *path)
{
    struct buf answer = {0};
    status st = control_ask(path, SPAN("stats"), &answer, NULL);
    buf_done(&answer);
    return st == ST_NOT_FOUND;
}

static int start_control(struct serving *s, const char *name)
{
    const char *folder = getenv(BOX_FOLDER_VARIABLE);
    char path[128];
    if (!folder)
        return EXIT_DONE; /* outside of a lab nobody gives orders */
    if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path))
        return command_fail(EXIT_INPUT, "serve: the name of the control socket is too long");
    status st = control_new(path, on_order, s, &s->control);
    if (st == ST_BUSY && is_left_over(path) && unlink(path) == 0)
        st = control_new(path, on_order, s, &s->control);
    return st == ST_OK ? EXIT_DONE : command_fail(EXIT_IO, "serve: listen at %s: %s", path, status_name(st));
}

static int start(struct serving *s, const struct wish *w)
{
    struct web_opts o = {.lab = &s->lab,
                         .port = (int)w->port,
                         .pages_max = (uint32_t)w->pages,
                         .bytes_max = (uint32_t)w->bytes,
                         .think_ms = (int)w->think_ms,
                         .errors_percent = w->errors_percent,
                         .limit_per_s = w->limit_per_s,
                         .change_per_day = w->change_per_day,
                         .speed = w->speed,
                         .began_s = w->began_s,
                         .threads = (unsigned)w->threads,
                         .closes = w->closes};
    if (ledger_new(w->ledger, &s->ledger) != ST_OK)
        return command_fail(EXIT_IO, "serve: write %s: %s", w->ledger, strerror(errno));
    o.ledger = s->ledger;
    status st = w->no_dns ? ST_OK : dns_server_new(&s->lab, (int)w->dns_port, &s->dns);
    if (st != ST_OK)
        return command_fail(EXIT_IO, "serve: listen for DNS on port %d: %s", (int)w->dns_port, strerror(errno));
    st = web_new(&o, &s->web);
    if (st != ST_OK)
        return command_fail(EXIT_IO, "serve: listen for HTTP on port %d: %s", (int)w->port, strerror(errno));
    return start_control(s, w->control);
}

static void wait_for_signal(struct serving *s, int signal_fd)
{
    struct pollfd fds[] = {{.fd = signal_fd, .events = POLLIN},
                           {.fd = s->control ? control_fd(s->control) : -1, .events = POLLIN}};
    while (!(fds[0].revents & POLLIN)) {
        int n = poll(fds, 2, FLUSH_MS);
        if (n > 0 && fds[1].revents)
            control_turn(s->control);
        ledger_flush(s->ledger);
    }
}

static int serve(const struct wish *w)
{
    struct serving s = {0};
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    int signal_fd = signalfd(-1, &set, SFD_CLOEXEC);
    if (command_load(w->file, &s.lab) != ST_OK)
        return EXIT_INPUT;
    int code = start(&s, w);
    if (code == EXIT_DONE) {
        printf("ready: %zu sites on port %d, %zu names, since %.6f\n", s.lab.site_count, web_port(s.web),
               s.lab.name_count, web_began_s(s.web));
        fflush(stdout);
        wait_for_signal(&s, signal_fd);
    }
    control_free(s.control);
    web_free(s.web);
    dns_server_free(s.dns);
    ledger_free(s.ledger);
    lab_done(&s.lab);
    close(signal_fd);
    return code;
}

/* Options with a number. */
static const struct number {
    int letter;
    double max;
    size_t whole, real; /* offsets in struct wish; 0: not of that kind */
} numbers[] = {
    {'p', LAB_PAGES_MAX, offsetof(struct wish, pages), 0},
    {'b', LAB_PAGE_BYTES_MAX, offsetof(struct wish, bytes), 0},
    {'t', LAB_THINK_MAX_MS, offsetof(struct wish, think_ms), 0},
    {'P', 65535, offsetof(struct wish, port), 0},
    {'d', 65535, offsetof(struct wish, dns_port), 0},
    {'T', THREADS_MAX, offsetof(struct wish, threads), 0},
    {'e', 100, 0, offsetof(struct wish, errors_percent)},
    {'L', LAB_LIMIT_MAX, 0, offsetof(struct wish, limit_per_s)},
    {'g', LAB_CHANGE_MAX, 0, offsetof(struct wish, change_per_day)},
    {'s', LABTIME_SPEED_MAX, 0, offsetof(struct wish, speed)},
    {'B', 1e11, 0, offsetof(struct wish, began_s)},
};

static bool take_number(struct wish *w, int letter, const char *text)
{
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
        const struct number *n = &numbers[i];
        if (n->letter == letter)
            return n->whole ? command_number(text, (uint64_t)n->max, (uint64_t *)(void *)((char *)w + n->whole))
                            : lab_number(span_str(text), n->max, (double *)(void *)((char *)w + n->real));
    }
    return false;
}

static bool take_option(struct wish *w, int letter, const char *text)
{
    if (letter == 'l')
        w->ledger = text;
    else if (letter == 'c')
        w->control = text;
    else if (letter == 'D')
        w->no_dns = true;
    else if (letter == 'C')
        w->closes = true;
    else
        return take_number(w, letter, text);
    return true;
}

int command_serve(int argc, char **argv)
{
    static const struct option options[] = {
        {"pages", required_argument, NULL, 'p'},    {"bytes", required_argument, NULL, 'b'},
        {"think", required_argument, NULL, 't'},    {"errors", required_argument, NULL, 'e'},
        {"limit", required_argument, NULL, 'L'},    {"change", required_argument, NULL, 'g'},
        {"speed", required_argument, NULL, 's'},    {"began", required_argument, NULL, 'B'},
        {"ledger", required_argument, NULL, 'l'},   {"port", required_argument, NULL, 'P'},
        {"dns-port", required_argument, NULL, 'd'}, {"threads", required_argument, NULL, 'T'},
        {"control", required_argument, NULL, 'c'},  {"no-dns", no_argument, NULL, 'D'},
        {"close", no_argument, NULL, 'C'},          {NULL, 0, NULL, 0}};
    struct wish w = {
        .port = 80, .dns_port = 53, .threads = 1, .control = CONTROL_NAME, .change_per_day = -1, .speed = 1};
    bool is_good = true;
    for (int c; is_good && (c = getopt_long(argc, argv, "", options, NULL)) != -1;)
        is_good = take_option(&w, c, optarg);
    if (!is_good || optind != argc - 1)
        return command_fail(EXIT_USAGE,
                            "serve [--pages N] [--bytes N] [--think MS] [--errors PERCENT] [--limit PER_S] "
                            "[--change PER_DAY] [--speed X] [--began SECONDS] [--ledger FILE] [--port N] [--threads N] "
                            "[--close] [--dns-port N] [--no-dns] [--control NAME] FILE");
    w.file = argv[optind];
    return serve(&w);
}
