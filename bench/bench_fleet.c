/* bench_fleet.c - many agents on one coordinator:
 *
 *     bench_fleet hosts                                    a hosts file for the coordinator
 *     bench_fleet SITES DATA PID AGENTS RATE SECONDS       against the coordinator PID, whose folder is DATA
 *
 * Stand-ins (tests/standin) join and poll as agents do, and send pages of the documentation sites (clones.h): first
 * RATE pages a second for SECONDS, then as many again as fast as they are taken. Meanwhile some of them make calls that
 * are answered at once, and a person gives orders. Prints how long calls took that need no waiting, how long an order
 * was on its way to an agent that waits for one, and how far the index was behind. One line a figure: name value
 * unit. */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "admin_call.h"
#include "base/mem.h"
#include "base/rng.h"
#include "clones.h"
#include "io/clock.h"
#include "measure.h"
#include "standin.h"

#define HOSTS 200
#define PACKAGE_PAGES 100 /* 200 agents with 10 pages a second each, and a package every ten seconds */
#define POLL_MS 15000     /* LIMITS_POLL_MS of agents */
#define SENDERS 8
#define PROBES_A_SECOND 100 /* calls that are answered at once, besides those that follow from orders */
#define ORDERS_A_SECOND 20
#define STACK_BYTES (256u << 10)
#define JOIN_TRIES 60

typedef enum phase { PHASE_BEFORE, PHASE_PACED, PHASE_FLAT_OUT, PHASE_OVER, PHASES } phase;
typedef enum sample_kind { SAMPLE_POLL, SAMPLE_PIECE, SAMPLE_ORDER, SAMPLE_ADMIN, SAMPLE_KINDS } sample_kind;

struct samples {
    pthread_mutex_t lock;
    double *ms;
    size_t n, cap;
};

struct agent {
    struct fleet *f;
    struct standin *s;
    struct rng rng;
    pthread_t thread;
    bool has_thread;
    _Atomic int64_t ordered_us; /* when a person ordered something that it has not got yet; 0: nothing */
    bool is_paused;             /* the person's side */
};

struct package {
    struct agent *agent;
    uint64_t sequence;
    struct buf bytes;
};

struct fleet {
    const char *data;
    int pid;
    size_t agent_count;
    double rate, seconds;
    struct clones *clones;
    struct agent *agents; /* owned */
    struct package *packages;
    size_t package_count;
    uint64_t page_count;
    struct admin_line *admin;
    _Atomic int phase;
    _Atomic uint64_t sent_pages;
    double memory; /* the most that was seen: what no file backs */
    struct samples samples[PHASES][SAMPLE_KINDS];
};

/* ---- samples ---- */

static void note(struct fleet *f, sample_kind kind, int64_t us)
{
    struct samples *s = &f->samples[atomic_load(&f->phase)][kind];
    pthread_mutex_lock(&s->lock);
    s->ms = mem_grow(s->ms, &s->cap, s->n + 1, sizeof(*s->ms));
    s->ms[s->n++] = (double)us / 1000;
    pthread_mutex_unlock(&s->lock);
}

static void print_samples(struct fleet *f, phase p, const char *name, unsigned kinds)
{
    struct samples all = {0};
    char label[128];
    for (int k = 0; k < SAMPLE_KINDS; k++)
        if (kinds & 1u << k) {
            struct samples *s = &f->samples[p][k];
            all.ms = mem_grow(all.ms, &all.cap, all.n + s->n + 1, sizeof(*all.ms));
            memcpy(all.ms + all.n, s->ms, s->n * sizeof(*all.ms));
            all.n += s->n;
        }
    static const struct {
        const char *name;
        double q;
    } quantiles[] = {{"p50", 0.5}, {"p99", 0.99}, {"most", 1}};
    snprintf(label, sizeof(label), "%s_count", name);
    measure_print(label, (double)all.n, "calls");
    for (size_t i = 0; i < sizeof(quantiles) / sizeof(quantiles[0]); i++) {
        snprintf(label, sizeof(label), "%s_%s", name, quantiles[i].name);
        measure_print(label, measure_quantile(all.ms, all.n, quantiles[i].q), "ms");
    }
    free(all.ms);
}

/* ---- agents that poll ---- */

static void answer_fetch(void *arg, struct fetched_page *out)
{
    const struct summary *s = clones_find(((struct fleet *)arg)->clones, out->url);
    if (!s)
        return;
    out->http_status = s->http_status;
    out->digest = s->digest;
}

static void look_at_orders(struct agent *a, const struct standin_answer *got)
{
    for (size_t i = 0; i < got->new_orders; i++) {
        int64_t at = standin_order(a->s, i)->kind == ORDER_SETTINGS ? atomic_exchange(&a->ordered_us, 0) : 0;
        if (at)
            note(a->f, SAMPLE_ORDER, clock_mono_us() - at);
    }
}

static void pause_ms(int64_t ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

static void poll(struct agent *a, int64_t wait_ms)
{
    struct standin_answer got = {0};
    status st = standin_poll(a->s, wait_ms, &got);
    if (atomic_load(&a->f->phase) == PHASE_OVER)
        return;
    measure_must("poll", st == ST_OK && got.status != 200 ? ST_PROTOCOL : st);
    if (!wait_ms)
        note(a->f, SAMPLE_POLL, got.call_us);
    look_at_orders(a, &got);
    if (got.new_orders)
        poll(a, 0); /* says that they are done */
}

/* Most do what agents do. A tenth makes calls that are answered at once, without pause between their reports. */
static void *agent_thread(void *arg)
{
    struct agent *a = arg;
    struct fleet *f = a->f;
    size_t number = (size_t)(a - f->agents);
    bool is_probe = number % 10 == 0;
    int64_t pause = (int64_t)(1000 * (f->agent_count + 9) / 10 / PROBES_A_SECOND);
    int64_t wait = (int64_t)rng_below(&a->rng, POLL_MS); /* they did not start at one moment */
    while (atomic_load(&f->phase) != PHASE_OVER) {
        if (is_probe)
            pause_ms(pause / 2 + (int64_t)rng_below(&a->rng, (uint64_t)pause));
        poll(a, is_probe ? 0 : wait);
        wait = POLL_MS;
    }
    return NULL;
}

/* ---- setting up ---- */

static void join(struct fleet *f, size_t i)
{
    struct agent *a = &f->agents[i];
    struct buf why = {0}, line = {0};
    char json[64];
    status st = ST_AGAIN;
    a->f = f;
    rng_seed(&a->rng, i + 1);
    snprintf(json, sizeof(json), "{\"name\": \"standin-%03zu\"}", i);
    buf_put(&line, admin_text(admin_ask(f->admin, "/api/v1/agents", json), "join"));
    /* Strangers may knock only so often. */
    for (int tries = 0; st != ST_OK && tries < JOIN_TRIES; tries++) {
        buf_clear(&why);
        st =
            standin_join(&(struct standin_opts){.line = buf_span(&line), .fetch = answer_fetch, .arg = f}, &a->s, &why);
        if (st != ST_OK)
            pause_ms(200);
    }
    if (st != ST_OK)
        fprintf(stderr, "bench: %s\n", buf_cstr(&why));
    measure_must("join", st);
    buf_done(&why);
    buf_done(&line);
}

static void add_channels(struct fleet *f)
{
    for (size_t i = 0; i < HOSTS; i++) {
        char json[128], host[CLONES_NAME_MAX];
        clones_host(i, host);
        snprintf(json, sizeof(json), "{\"seeds\": \"http://%s/\", \"label\": \"%s\", \"every\": 0}", host, host);
        admin_ask(f->admin, "/api/v1/channels", json);
    }
}

struct place {
    struct agent *agent;
    uint64_t task;
};

/* Whose task a host is, as the orders said. */
static bool find_places(struct fleet *f, struct place places[HOSTS])
{
    size_t found = 0;
    memset(places, 0, HOSTS * sizeof(*places));
    for (size_t i = 0; i < f->agent_count; i++) {
        struct agent *a = &f->agents[i];
        for (size_t k = 0; k < standin_task_count(a->s); k++) {
            const struct standin_task *t = standin_task(a->s, k);
            if (!t->channel || t->is_ended)
                continue;
            struct span seed = channel_get_opts(t->channel)->seeds[0];
            size_t host = (size_t)strtoul(seed.p + strlen("http://s"), NULL, 10);
            assert(host < HOSTS);
            found += !places[host].agent;
            places[host] = (struct place){a, t->number};
        }
    }
    return found == HOSTS;
}

static void get_tasks(struct fleet *f, struct place places[HOSTS])
{
    for (int tries = 0; tries < 100; tries++) {
        for (size_t i = 0; i < f->agent_count; i++) {
            struct standin_answer got = {.new_orders = 1};
            while (got.new_orders)
                measure_must("poll", standin_poll(f->agents[i].s, 0, &got));
        }
        if (find_places(f, places))
            return;
        pause_ms(100);
    }
    measure_must("give every host to an agent", ST_TIMEOUT);
}

static void make_packages(struct fleet *f, const struct place places[HOSTS], size_t rounds)
{
    struct arena arena;
    struct summary pages[PACKAGE_PAGES];
    struct standin_visit visits[PACKAGE_PAGES];
    uint64_t bytes = 0;
    arena_init(&arena);
    f->packages = mem_alloc(rounds * HOSTS * sizeof(*f->packages));
    for (size_t r = 0; r < rounds; r++)
        for (size_t host = 0; host < HOSTS; host++) {
            struct package *p = &f->packages[f->package_count++];
            arena_reset(&arena);
            for (size_t i = 0; i < PACKAGE_PAGES; i++) {
                clones_page(f->clones, &arena, host, r * PACKAGE_PAGES + i, &pages[i]);
                visits[i] = (struct standin_visit){places[host].task, SUMMARY_TEXT, &pages[i]};
            }
            p->agent = places[host].agent;
            standin_pack(p->agent->s, NULL, visits, PACKAGE_PAGES, &p->bytes);
            p->sequence = standin_sequence(p->agent->s);
            bytes += p->bytes.n;
        }
    arena_done(&arena);
    f->page_count = f->package_count * PACKAGE_PAGES;
    measure_print("package_bytes", (double)bytes / (double)f->page_count, "bytes/page");
}

/* ---- sending ---- */

struct sender {
    struct fleet *f;
    size_t number, from, to;
    double begin, rate; /* 0: as fast as it goes */
    pthread_t thread;
};

static void note_piece(void *arg, const struct standin_reply *r, size_t bytes)
{
    note(arg, SAMPLE_PIECE, r->call_us);
}

/* Each agent's packages are one sender's: they go in their order. */
static void *sender_thread(void *arg)
{
    struct sender *s = arg;
    struct fleet *f = s->f;
    for (size_t i = s->from; i < s->to; i++) {
        struct package *p = &f->packages[i];
        struct standin_reply reply = {0};
        if ((size_t)(p->agent - f->agents) % SENDERS != s->number)
            continue;
        double due = s->rate > 0 ? s->begin + (double)(i - s->from) * PACKAGE_PAGES / s->rate : 0;
        for (double now = measure_wall(); now < due; now = measure_wall())
            pause_ms((int64_t)((due - now) * 1000) + 1);
        status st = standin_send(p->agent->s, p->sequence, buf_span(&p->bytes), note_piece, f, &reply);
        measure_must("send a package", st == ST_OK && !reply.is_whole ? ST_REFUSED : st);
        atomic_fetch_add(&f->sent_pages, PACKAGE_PAGES);
        buf_done(&p->bytes);
    }
    return NULL;
}

static void start_senders(struct fleet *f, struct sender senders[SENDERS], size_t from, size_t to, double rate)
{
    double begin = measure_wall();
    for (size_t i = 0; i < SENDERS; i++) {
        senders[i] = (struct sender){.f = f, .number = i, .from = from, .to = to, .begin = begin, .rate = rate};
        if (pthread_create(&senders[i].thread, NULL, sender_thread, &senders[i]) != 0)
            measure_must("start a thread", ST_IO);
    }
}

static void join_senders(struct sender senders[SENDERS])
{
    for (size_t i = 0; i < SENDERS; i++)
        pthread_join(senders[i].thread, NULL);
}

/* ---- the person who gives orders ---- */

static void *person_thread(void *arg)
{
    struct fleet *f = arg;
    struct admin_line *line = NULL;
    struct rng rng;
    char path[128];
    rng_seed(&rng, 7);
    measure_must("reach the administration", admin_line_new(f->data, &line));
    while (atomic_load(&f->phase) != PHASE_OVER) {
        struct agent *a = &f->agents[rng_below(&rng, f->agent_count)];
        bool is_probe = (size_t)(a - f->agents) % 10 == 0;
        if (is_probe || atomic_load(&a->ordered_us))
            continue;
        snprintf(path, sizeof(path), "/api/v1/agents/%s/%s", standin_name(a->s), a->is_paused ? "resume" : "pause");
        int64_t began = clock_mono_us();
        atomic_store(&a->ordered_us, began);
        admin_ask(line, path, "{}");
        note(f, SAMPLE_ADMIN, clock_mono_us() - began);
        a->is_paused = !a->is_paused;
        pause_ms(1000 / ORDERS_A_SECOND);
    }
    admin_line_free(line);
    return NULL;
}

/* ---- the coordinator ---- */

/* CPU seconds of the coordinator, all its threads. */
static double coordinator_cpu(const struct fleet *f)
{
    char path[64], text[1024] = "";
    unsigned long user = 0, sys = 0;
    snprintf(path, sizeof(path), "/proc/%d/stat", f->pid);
    FILE *file = fopen(path, "r");
    if (file && fgets(text, sizeof(text), file)) {
        const char *after = strrchr(text, ')'); /* the name may have blanks */
        if (!after || sscanf(after, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &sys) != 2)
            user = sys = 0;
    }
    if (file)
        fclose(file);
    return (double)(user + sys) / (double)sysconf(_SC_CLK_TCK);
}

static double coordinator_memory(const struct fleet *f, const char *which)
{
    char path[64], line[256];
    double kib = 0;
    snprintf(path, sizeof(path), "/proc/%d/status", f->pid);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof(line), file))
        if (strncmp(line, which, strlen(which)) == 0)
            kib = strtod(line + strlen(which) + 1, NULL);
    if (file)
        fclose(file);
    return kib / 1024;
}

struct look {
    double at, applied, indexed, dropped, damaged, demoted;
};

static struct look look(struct fleet *f)
{
    double memory = coordinator_memory(f, "RssAnon:");
    f->memory = memory > f->memory ? memory : f->memory;
    struct span o = admin_ask(f->admin, "/api/v1/overview", NULL);
    return (struct look){.at = measure_wall(),
                         .applied = admin_number(o, "ingest", "visits") + admin_number(o, "ingest", "dropped"),
                         .indexed = admin_number(o, "ingest", "index_docs"),
                         .dropped = admin_number(o, "ingest", "dropped"),
                         .damaged = admin_number(o, "ingest", "damaged"),
                         .demoted = admin_number(o, "agents", "demoted")};
}

/* ---- who else was on our cores ---- */

/* The one core that a process may run on, or -1. */
static int core_of(int pid)
{
    cpu_set_t set;
    if (sched_getaffinity(pid, sizeof(set), &set) != 0 || CPU_COUNT(&set) != 1)
        return -1;
    int core = 0;
    while (!CPU_ISSET(core, &set))
        core++;
    return core;
}

/* Seconds that a core was busy, or taken away from this machine by its host. */
static double core_busy(int core)
{
    char line[512], name[16];
    double busy = 0;
    FILE *file = fopen("/proc/stat", "r");
    int n = snprintf(name, sizeof(name), "cpu%d ", core);
    while (file && fgets(line, sizeof(line), file)) {
        unsigned long long t[8] = {0};
        if (strncmp(line, name, (size_t)n) == 0 && sscanf(line + n, "%llu %llu %llu %llu %llu %llu %llu %llu", &t[0],
                                                          &t[1], &t[2], &t[3], &t[4], &t[5], &t[6], &t[7]) == 8)
            busy = (double)(t[0] + t[1] + t[2] + t[5] + t[6] + t[7]) / (double)sysconf(_SC_CLK_TCK);
    }
    if (file)
        fclose(file);
    return busy;
}

/* ---- the two phases ---- */

/* Until everything sent is in the index; when that was. */
static double wait_indexed(struct fleet *f, double pages)
{
    for (double begin = measure_wall(); measure_wall() - begin < 300;) {
        struct look l = look(f);
        if (l.applied >= pages && l.indexed + l.dropped >= pages)
            return l.at;
        pause_ms(50);
    }
    measure_must("bring every page into the index", ST_TIMEOUT);
    return 0;
}

static void run_paced(struct fleet *f, size_t packages)
{
    struct sender senders[SENDERS];
    int theirs = core_of(f->pid), ours = core_of(0);
    double their_busy = core_busy(theirs), our_busy = core_busy(ours), our_cpu = measure_cpu();
    double begin = measure_wall(), cpu = coordinator_cpu(f), behind_half = 0, behind_most = 0;
    atomic_store(&f->phase, PHASE_PACED);
    start_senders(f, senders, 0, packages, f->rate);
    double sending = (double)packages * PACKAGE_PAGES / f->rate;
    for (double now; (now = measure_wall()) - begin < sending;) {
        double behind = (double)atomic_load(&f->sent_pages) - look(f).applied;
        if (now - begin < sending / 2)
            behind_half = behind > behind_half ? behind : behind_half;
        behind_most = behind > behind_most ? behind : behind_most;
        pause_ms(500);
    }
    join_senders(senders);
    double sent = (double)atomic_load(&f->sent_pages), end = measure_wall();
    cpu = coordinator_cpu(f) - cpu;
    their_busy = core_busy(theirs) - their_busy - cpu;
    our_busy = core_busy(ours) - our_busy - (measure_cpu() - our_cpu);
    double behind = sent - look(f).applied;
    measure_print("paced_rate", sent / (end - begin), "pages/s");
    measure_print("paced_cpu", 100 * cpu / (end - begin), "%");
    if (theirs >= 0 && ours >= 0 && theirs != ours) { /* else nobody can say whose time it was */
        measure_print("paced_others", 100 * their_busy / (end - begin), "%");
        measure_print("paced_others_here", 100 * our_busy / (end - begin), "%");
    }
    measure_print("paced_cpu_page", cpu * 1e6 / sent, "us/page");
    measure_print("paced_behind_first_half", behind_half / f->rate, "s");
    measure_print("paced_behind_most", behind_most / f->rate, "s");
    measure_print("paced_behind_end", behind / f->rate, "s");
    measure_print("paced_searchable_after", wait_indexed(f, sent) - end, "s");
    measure_print("paced_memory", f->memory, "MiB");
}

static void run_flat_out(struct fleet *f, size_t from)
{
    struct sender senders[SENDERS];
    double before = (double)atomic_load(&f->sent_pages), begin = measure_wall(), cpu = coordinator_cpu(f);
    atomic_store(&f->phase, PHASE_FLAT_OUT);
    start_senders(f, senders, from, f->package_count, 0);
    join_senders(senders);
    double sent = (double)atomic_load(&f->sent_pages), taken = measure_wall();
    double indexed = wait_indexed(f, sent);
    cpu = coordinator_cpu(f) - cpu;
    measure_print("flat_out_taken", (sent - before) / (taken - begin), "pages/s");
    measure_print("flat_out_indexed", (sent - before) / (indexed - begin), "pages/s");
    measure_print("flat_out_cpu_page", cpu * 1e6 / (sent - before), "us/page");
}

static void print_phase(struct fleet *f, phase p, const char *prefix)
{
    static const struct {
        const char *name;
        unsigned kinds;
    } rows[] = {{"control", 1u << SAMPLE_POLL | 1u << SAMPLE_PIECE},
                {"poll", 1u << SAMPLE_POLL},
                {"piece", 1u << SAMPLE_PIECE},
                {"order", 1u << SAMPLE_ORDER},
                {"admin", 1u << SAMPLE_ADMIN}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char name[64];
        snprintf(name, sizeof(name), "%s%s", prefix, rows[i].name);
        print_samples(f, p, name, rows[i].kinds);
    }
}

static void start_agents(struct fleet *f)
{
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    for (size_t i = 0; i < f->agent_count; i++)
        if (pthread_create(&f->agents[i].thread, &attr, agent_thread, &f->agents[i]) != 0)
            measure_must("start a thread", ST_IO);
    pthread_attr_destroy(&attr);
}

static void run(struct fleet *f, const char *sites)
{
    struct place places[HOSTS];
    size_t packages = (size_t)(f->rate * f->seconds / PACKAGE_PAGES), rounds = (2 * packages + HOSTS - 1) / HOSTS;
    pthread_t person;
    double begin = measure_wall();
    measure_must("read the sites", clones_read(sites, HOSTS, rounds * PACKAGE_PAGES, &f->clones));
    measure_must("reach the administration", admin_line_new(f->data, &f->admin));
    for (size_t i = 0; i < f->agent_count; i++)
        join(f, i);
    add_channels(f);
    get_tasks(f, places);
    make_packages(f, places, rounds);
    measure_print("setup", measure_wall() - begin, "s");
    start_agents(f);
    pause_ms(1000);
    if (pthread_create(&person, NULL, person_thread, f) != 0)
        measure_must("start a thread", ST_IO);
    run_paced(f, packages);
    run_flat_out(f, packages);
    struct look end = look(f);
    atomic_store(&f->phase, PHASE_OVER);
    pthread_join(person, NULL);
    for (size_t i = 0; i < f->agent_count; i++)
        standin_cancel(f->agents[i].s);
    for (size_t i = 0; i < f->agent_count; i++)
        pthread_join(f->agents[i].thread, NULL);
    print_phase(f, PHASE_PACED, "");
    print_phase(f, PHASE_FLAT_OUT, "flat_out_");
    measure_print("pages", (double)f->page_count, "pages");
    measure_print("dropped", end.dropped, "pages");
    measure_print("damaged", end.damaged, "packages");
    measure_print("demoted", end.demoted, "agents");
    measure_print("memory", f->memory, "MiB");
    measure_print("memory_with_files", coordinator_memory(f, "VmHWM:"), "MiB");
}

static int print_hosts(void)
{
    for (size_t i = 0; i < HOSTS; i++) {
        char name[CLONES_NAME_MAX], address[CLONES_NAME_MAX];
        clones_host(i, name);
        clones_address(i, address);
        printf("%s %s\n", address, name);
    }
    return 0;
}

int main(int argc, char **argv)
{
    static struct fleet f;
    if (argc == 2 && strcmp(argv[1], "hosts") == 0)
        return print_hosts();
    if (argc != 7) {
        fprintf(stderr, "usage: bench_fleet hosts\n       bench_fleet SITES DATA PID AGENTS RATE SECONDS\n");
        return 2;
    }
    f.data = argv[2];
    f.pid = atoi(argv[3]);
    f.agent_count = (size_t)atoi(argv[4]);
    f.rate = atof(argv[5]);
    f.seconds = atof(argv[6]);
    f.agents = mem_alloc(f.agent_count * sizeof(*f.agents));
    for (int p = 0; p < PHASES; p++)
        for (int k = 0; k < SAMPLE_KINDS; k++)
            pthread_mutex_init(&f.samples[p][k].lock, NULL);
    run(&f, argv[1]);
    for (size_t i = 0; i < f.agent_count; i++)
        standin_free(f.agents[i].s);
    for (size_t i = 0; i < f.package_count; i++)
        buf_done(&f.packages[i].bytes);
    for (int p = 0; p < PHASES; p++)
        for (int k = 0; k < SAMPLE_KINDS; k++)
            free(f.samples[p][k].ms);
    free(f.packages);
    free(f.agents);
    admin_line_free(f.admin);
    clones_free(f.clones);
    return 0;
}
