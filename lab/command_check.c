#include <errno.h>
#include <getopt.h>
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/rng.h"
#include "lab/check_report.h"
#include "lab/command.h"
#include "lab/echo.h"
#include "lab/measure.h"
#include "lab/net/box.h"
#include "lab/orders.h"
#include "lab/runner.h"

#define SAMPLES_MAX 10000
#define GAP_US 3000 /* between two connections that are measured: the machine is idle for most of it */
#define WARM_UP 3   /* connections of each pair that do not count: the first one finds everything asleep */
#define RATE_MS 3000
#define RATE_AT_ONCE 64
#define DOWN_MAX_S 30
#define ATTEMPTS 3 /* a run that a busy machine made useless is done again */
#define RUNG6 1    /* the one that is measured over IPv6 as well */
static const double rungs_ms[] = {1, 10, 50, 150, 300};
#define RUNGS (sizeof(rungs_ms) / sizeof(*rungs_ms))

struct wish {
    struct lab *lab;             /* borrowed */
    struct check_report *report; /* borrowed; in shared memory */
    double began;                /* by clock_s */
    uint64_t samples;
    uint64_t places; /* of a lab of our own; 0: it is the user's */
    link_kind kind;
    bool rates, json;
};

static double clock_s(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* ---- a lab to measure, when none is given ---- */

static status own_lab(const struct wish *w, struct lab *out, struct buf *why)
{
    struct buf text = {0};
    buf_puts(&text, "place hq 20.0.0.1 2a00::1\n");
    for (size_t i = 0; i < RUNGS; i++)
        buf_printf(&text, "place at%.0fms 20.0.%zu.0/24 2a00:0:%zu::/48\nrtt hq at%.0fms %.1f\n", rungs_ms[i], i + 1,
                   i + 1, rungs_ms[i], rungs_ms[i]);
    for (uint64_t i = RUNGS + 1; i < w->places; i++)
        buf_printf(&text, "place more%llu 20.1.%llu.0/24\n", (unsigned long long)i, (unsigned long long)(i % 256));
    status st = lab_parse(buf_span(&text), ".", out, why);
    buf_done(&text);
    return st;
}

/* ---- inside ---- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Of the size of the errors, whatever their sign; the least one has it. */
static void summarise(struct check_row *row, const double *errors, size_t n)
{
    double *sorted = mem_alloc((n + 1) * sizeof(*sorted)), sum = 0;
    row->least_ms = n ? errors[0] : 0;
    for (size_t i = 0; i < n; i++) {
        sorted[i] = errors[i] < 0 ? -errors[i] : errors[i];
        sum += sorted[i];
        row->least_ms = errors[i] < row->least_ms ? errors[i] : row->least_ms;
    }
    qsort(sorted, n, sizeof(*sorted), by_value);
    row->samples = n;
    if (n) {
        row->median_ms = sorted[n / 2];
        row->p99_ms = sorted[(n * 99 + 99) / 100 - 1];
        row->mean_ms = sum / (double)n;
    }
    free(sorted);
}

static struct measure_pair pair_of(const struct map *m, unsigned a, unsigned b, bool is6)
{
    return (struct measure_pair){.from = a, .to = b, .is6 = is6, .rtt_ms = (double)map_path(m, a, b).rtt_ms};
}

static bool has_ipv6(void)
{
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* Of a lab of our own: from the first place to each of the rungs, and to one of them over IPv6. */
static size_t own_pairs(const struct map *m, struct measure_pair *pairs)
{
    size_t n = 0;
    for (; n < RUNGS; n++)
        pairs[n] = pair_of(m, 0, (unsigned)(1 + n), false);
    if (has_ipv6())
        pairs[n++] = pair_of(m, 0, 1 + RUNG6, true);
    return n;
}

/* Of the user's: between random hubs and places. */
static size_t random_pairs(const struct lab *l, struct measure_pair *pairs)
{
    struct rng rng;
    size_t n = 0, count = map_place_count(l->map);
    rng_seed(&rng, l->seed);
    for (size_t tries = 0; tries < 100 * CHECK_PAIRS_MAX && n < CHECK_PAIRS_MAX; tries++) {
        unsigned a = (unsigned)rng_below(&rng, count), b = (unsigned)rng_below(&rng, count);
        if (map_place(l->map, a)->node != map_place(l->map, b)->node && map_place(l->map, a)->hub >= 0)
            pairs[n++] = pair_of(l->map, a, b, false);
    }
    return n;
}

static void tell_router(const char *word, char *to, size_t room)
{
    struct buf answer = {0};
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", getenv(BOX_FOLDER_VARIABLE), ORDERS_SOCKET);
    if (control_ask(path, span_str(word), &answer, NULL) == ST_OK && to) {
        struct span json = span_trim(span_from(buf_span(&answer), strlen("ok")));
        snprintf(to, room, "%.*s", SPAN_ARG(json));
    }
    buf_done(&answer);
}

static status measure_all(const struct wish *w, const struct router *r, struct check_report *rep)
{
    struct measure_pair pairs[CHECK_PAIRS_MAX];
    struct lateness self = {0};
    size_t n = w->places ? own_pairs(w->lab->map, pairs) : random_pairs(w->lab, pairs), all = 0;
    double *errors = mem_alloc((n * (size_t)w->samples + n * WARM_UP + 1) * sizeof(*errors));
    for (size_t i = 0; i < n; i++)
        pairs[i].error_ms = errors + i * w->samples;
    status st = measure_connects(w->lab->map, r, pairs, n, WARM_UP < w->samples ? WARM_UP : w->samples, GAP_US, NULL);
    for (size_t i = 0; i < n; i++)
        pairs[i].samples = pairs[i].failed = 0;
    tell_router("clear", NULL, 0);
    if (st == ST_OK)
        st = measure_connects(w->lab->map, r, pairs, n, w->samples, GAP_US, &self);
    tell_router("stats", rep->stats, sizeof(rep->stats));
    rep->self_late_ms = (double)lateness_at(&self, 0.99) / 1e6;
    struct check_row *total = &rep->rows[n];
    for (size_t i = 0; i < n; i++) {
        struct check_row *row = &rep->rows[i];
        struct span a = map_place(w->lab->map, pairs[i].from)->name, b = map_place(w->lab->map, pairs[i].to)->name;
        snprintf(row->name, sizeof(row->name), "%.*s-%.*s%s", SPAN_ARG(a), SPAN_ARG(b), pairs[i].is6 ? "-ipv6" : "");
        row->rtt_ms = pairs[i].rtt_ms;
        row->failed = pairs[i].failed;
        total->failed += row->failed;
        summarise(row, pairs[i].error_ms, pairs[i].samples);
        memmove(errors + all, pairs[i].error_ms, pairs[i].samples * sizeof(*errors));
        all += pairs[i].samples;
    }
    summarise(total, errors, all);
    snprintf(total->name, sizeof(total->name), "all");
    rep->row_count = n + 1;
    free(errors);
    return st;
}

static status measure_rates(const struct wish *w, const struct router *r, struct check_report *rep)
{
    const struct map *m = w->lab->map;
    tell_router("clear", NULL, 0);
    status st = measure_connection_rate(m, r, 0, 1, RATE_AT_ONCE, RATE_MS, &rep->connections);
    if (st == ST_OK)
        st = measure_request_rate(m, r, 0, 1, RATE_AT_ONCE, RATE_MS, &rep->requests);
    tell_router("stats", rep->rate_stats, sizeof(rep->rate_stats));
    return st;
}

static int inside(void *arg, const struct router *r)
{
    const struct wish *w = arg;
    struct check_report *rep = w->report;
    struct echo *echo = NULL;
    rep->up_s = clock_s() - w->began;
    rep->kind = router_kind(r);
    status st = echo_new(r, map_node_count(w->lab->map), &echo);
    if (st == ST_OK)
        st = measure_all(w, r, rep);
    if (st == ST_OK && w->rates)
        st = measure_rates(w, r, rep);
    echo_free(echo);
    rep->down_s = clock_s(); /* it begins now */
    return st == ST_OK ? EXIT_DONE : EXIT_IO;
}

/* ---- outside ---- */

/* We are in the router's namespace too: the ends of the links there go when the kernel is through with the places. */
static bool has_devices(void)
{
    struct if_nameindex *all = if_nameindex();
    size_t n = 0;
    while (all && all[n].if_index)
        n++;
    if_freenameindex(all);
    return n > 1;
}

static void wait_for_kernel(void)
{
    struct timespec step = {0, 5000000};
    for (double end = clock_s() + DOWN_MAX_S; has_devices() && clock_s() < end;)
        nanosleep(&step, NULL);
}

/* A process can be in one lab in its life: each attempt has one. */
static int attempt(struct wish *w)
{
    struct runner_opts opts = {.lab = w->lab, .kind = w->kind, .is_quiet = true, .child = inside, .arg = w};
    struct buf why = {0};
    int code = EXIT_IO;
    w->began = clock_s();
    status st = runner_run(&opts, &code, &why);
    if (st == ST_OK && code == EXIT_DONE) {
        wait_for_kernel();
        w->report->down_s = clock_s() - w->report->down_s;
    }
    return command_end(st, code, &why);
}

static int attempt_apart(struct wish *w, unsigned number)
{
    struct busy_mark mark;
    int how = 0;
    *w->report = (struct check_report){.places = map_place_count(w->lab->map),
                                       .namespaces = map_node_count(w->lab->map),
                                       .is_own = w->places > 0,
                                       .has_rates = w->rates,
                                       .attempts = number};
    busy_mark(&mark);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        _exit(attempt(w));
    }
    if (pid < 0)
        return command_fail(EXIT_IO, "start a process: %s", strerror(errno));
    while (waitpid(pid, &how, 0) < 0 && errno == EINTR)
        ;
    busy_since(&mark, &w->report->busy);
    return WIFEXITED(how) ? WEXITSTATUS(how) : EXIT_IO;
}

static int check(struct wish *w)
{
    int code = EXIT_IO;
    w->report = mmap(NULL, sizeof(*w->report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (w->report == MAP_FAILED)
        return command_fail(EXIT_IO, "no memory to share");
    for (unsigned i = 1; i <= ATTEMPTS; i++) {
        code = attempt_apart(w, i);
        if (code != EXIT_DONE || check_report_is_valid(w->report))
            break;
        (void)command_fail(0, "attempt %u of %d is not valid, 1 %% of the packets were more than %.3f ms late: %s", i,
                           ATTEMPTS, check_report_late_ms(w->report),
                           i < ATTEMPTS ? "once more" : "the machine is too busy");
    }
    if (code == EXIT_DONE && w->json)
        check_report_json(w->report);
    else if (code == EXIT_DONE)
        check_report_text(w->report);
    munmap(w->report, sizeof(*w->report));
    return code;
}

static bool parse(struct wish *w, int argc, char **argv)
{
    static const struct option options[] = {
        {"link", required_argument, NULL, 'l'},   {"samples", required_argument, NULL, 's'},
        {"places", required_argument, NULL, 'p'}, {"rates", no_argument, NULL, 'r'},
        {"json", no_argument, NULL, 'j'},         {NULL, 0, NULL, 0}};
    bool is_good = true;
    for (int c; is_good && (c = getopt_long(argc, argv, "+", options, NULL)) != -1;) {
        if (c == 'l')
            is_good = command_link_kind(optarg, &w->kind);
        else if (c == 's')
            is_good = command_number(optarg, SAMPLES_MAX, &w->samples) && w->samples > 0;
        else if (c == 'p')
            is_good = command_number(optarg, MAP_NODES_MAX, &w->places) && w->places > RUNGS;
        else if (c == 'r')
            w->rates = true;
        else if (c == 'j')
            w->json = true;
        else
            is_good = false;
    }
    return is_good && optind >= argc - 1;
}

int command_check(int argc, char **argv)
{
    struct lab lab;
    struct wish w = {.lab = &lab, .samples = 100, .places = RUNGS + 1};
    if (!parse(&w, argc, argv))
        return command_fail(EXIT_USAGE,
                            "check [--link auto|veth|tun] [--samples N] [--places N] [--rates] [--json] [FILE]");
    if (optind < argc) {
        w.places = 0;
        if (command_load(argv[optind], &lab) != ST_OK)
            return EXIT_INPUT;
    } else {
        struct buf why = {0};
        status st = own_lab(&w, &lab, &why);
        if (st != ST_OK)
            return command_end(st, EXIT_IO, &why);
    }
    int code = check(&w);
    lab_done(&lab);
    return code;
}
