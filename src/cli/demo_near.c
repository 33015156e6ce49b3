#include "cli/demo_near.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/agent_process.h"
#include "cli/command.h"
#include "cli/demo_world.h"
#include "io/clock.h"
#include "plan/delegate.h"
#include "sim/ground.h"
#include "sim/tree.h"
#include "store/file.h"

#define LAB_MS 90000   /* an upper bound: it takes about ten seconds */
#define LAB_TMP_MAX 40 /* longer names leave no room for the lab's own */
#define TABLE_BYTES_MAX (1u << 20)
#define ROUNDS_MAX 64 /* of questions about a site: each has one more measurement */

extern char **environ;

void near_site_done(struct near_site *s)
{
    buf_done(&s->why);
    buf_done(&s->probed);
}

void near_sites_free(struct near_site *sites, size_t n)
{
    for (size_t i = 0; sites && i < n; i++)
        near_site_done(&sites[i]);
    free(sites);
}

/* ---- the table ---- */

void near_register(struct near_site *s, const struct hierarchy *h, const struct addr *addr)
{
    const struct network net = addr_network(addr);
    uint32_t at = hierarchy_network(h, addr);
    struct hierarchy_node node = {0};
    char text[NETWORK_TEXT_MAX];
    if (at != HIERARCHY_NONE)
        hierarchy_get(h, at, &node);
    snprintf(s->network, sizeof(s->network), "%s %s", network_format(&net, text), node.country);
}

void near_add_probe(struct near_site *s, struct span agent, double ms)
{
    buf_printf(&s->probed, "%s%.*s ", s->probes++ ? ", " : "", SPAN_ARG(agent));
    if (ms < 0)
        buf_puts(&s->probed, "without an answer");
    else
        buf_printf(&s->probed, "%.0f ms", ms);
}

static size_t best_of_others(const struct world *w, size_t site, size_t agent)
{
    size_t best = agent;
    for (size_t i = 0; i < world_agent_count(w); i++)
        if (i != agent && (best == agent || world_rtt(w, site, i) < world_rtt(w, site, best)))
            best = i;
    return best;
}

static void put_site(const struct world *w, size_t i, const struct near_site *s, struct buf *out)
{
    size_t other = best_of_others(w, i, s->agent);
    buf_printf(out, "%-18.*s %-19s %-13.*s %4.0f ms   ", SPAN_ARG(world_site(w, i)->host), s->network,
               SPAN_ARG(world_agent(w, s->agent)->name), s->ms);
    if (other != s->agent)
        buf_printf(out, "%-13.*s %4.0f ms", SPAN_ARG(world_agent(w, other)->name), world_rtt(w, i, other));
    buf_printf(out, "   %6u\n    why: ", s->probes);
    put_safe(out, buf_span(&s->why));
    buf_putc(out, '\n');
    if (s->probes)
        buf_printf(out, "    probes: %.*s\n", (int)s->probed.n, s->probed.p);
}

bool near_table(const struct world *w, const struct near_site *sites, struct buf *out)
{
    size_t n = world_site_count(w), agents = world_agent_count(w), nearest = 0, near = 0, probes = 0;
    double sum = 0, random_sum = 0;
    buf_printf(out, "\n%-18s %-19s %-13s %7s   %-13s %7s   %s\n", "SITE", "NETWORK", "WENT TO", "RTT", "NEXT BEST",
               "RTT", "PROBES");
    for (size_t i = 0; i < n; i++) {
        double best, ms = world_rtt(w, i, sites[i].agent);
        put_site(w, i, &sites[i], out);
        nearest += world_nearest(w, i, &best) == sites[i].agent;
        near += ms <= best + DELEGATE_NEAR_MS;
        probes += sites[i].probes;
        sum += ms;
        for (size_t k = 0; k < agents; k++)
            random_sum += world_rtt(w, i, k) / (double)agents;
    }
    buf_printf(out,
               "\n%zu of %zu sites went to the agent that is nearest to them: a round trip of %.0f ms on average.\n",
               nearest, n, sum / (double)n);
    buf_printf(out, "Agents drawn at random would be %.0f ms away. It took %zu probes; asking every agent takes %zu.\n",
               random_sum / (double)n, probes, n * (agents - 1));
    return near == n;
}

/* ---- the recorded world ---- */

static const struct delegate_probe *probe_of(const struct delegate_probe *probes, size_t n, uint64_t agent)
{
    for (size_t i = 0; i < n; i++)
        if (probes[i].agent == agent)
            return &probes[i];
    return NULL;
}

/* As the coordinator does it: whoever is named on trial fetches, which measures; others are probed when that is worth
 * it. Agents are numbered from 1. */
static void decide(struct delegator *d, const struct ground *g, size_t i, struct near_site *out)
{
    const struct world_site *site = world_site(g->world, i);
    struct delegate_probe probes[DEMO_AGENTS_MAX];
    struct delegate_question q = {.addr = site->addr, .domain = world_site_domain(site), .probes = probes};
    struct delegate_answer a = {0};
    for (unsigned round = 0; round < ROUNDS_MAX; round++) {
        buf_done(&a.why);
        a = (struct delegate_answer){0};
        delegator_ask(d, &q, &a);
        bool is_decided = a.verdict != DELEGATE_PROBE && probe_of(probes, q.probe_count, a.agent);
        if (a.verdict == DELEGATE_NOBODY || is_decided)
            break;
        if (a.verdict == DELEGATE_TO) {
            a.probes[0] = a.agent;
            a.probe_count = 1;
        }
        for (unsigned k = 0; k < a.probe_count && q.probe_count < DEMO_AGENTS_MAX; k++)
            if (!probe_of(probes, q.probe_count, a.probes[k]))
                probes[q.probe_count++] =
                    (struct delegate_probe){.agent = a.probes[k], .ms = ground_probe(g, i, a.probes[k] - 1, 0)};
    }
    uint64_t owner = a.agent ? a.agent : 1;
    const struct delegate_probe *own = probe_of(probes, q.probe_count, owner);
    delegator_assigned(d, &q, owner);
    delegator_learn(d, &q);
    *out = (struct near_site){.agent = owner - 1, .ms = own ? own->ms : 0};
    buf_put(&out->why, buf_span(&a.why));
    for (size_t k = 0; k < q.probe_count; k++)
        if (probes[k].agent != owner)
            near_add_probe(out, world_agent(g->world, probes[k].agent - 1)->name, probes[k].ms);
    buf_done(&a.why);
}

static void play(const struct world *w, const struct hierarchy *h, const struct cities *cities, struct near_site *sites)
{
    const struct delegator_opts o = {.strategy = DELEGATE_LEARNED, .seed = 1, .hierarchy = h, .cities = cities};
    struct delegator *d = delegator_new(&o);
    struct ground ground;
    ground_init(&ground, w, &(struct ground_opts){.seed = 1, .noise = -1});
    for (size_t i = 0; i < world_agent_count(w); i++) {
        const struct world_agent *a = world_agent(w, i);
        delegator_agent_put(
            d, &(struct delegator_agent){
                   .number = i + 1, .is_open = true, .weight = 1, .addr = a->addr, .has_spot = true, .spot = a->spot});
        for (size_t k = 0; k < i; k++)
            delegator_agent_rtt(d, i + 1, k + 1, world_agent_rtt(w, i, k));
    }
    for (size_t i = 0; i < world_site_count(w); i++) {
        decide(d, &ground, i, &sites[i]);
        near_register(&sites[i], h, &world_site(w, i)->addr);
    }
    delegator_free(d);
}

static int recorded(const char *dir)
{
    struct world *w = NULL;
    struct tree *tree = NULL;
    struct cities cities = {0};
    struct buf path = {0}, why = {0}, table = {0};
    struct near_site *sites = NULL;
    int code = EXIT_DONE;
    buf_printf(&path, "%s/world", dir);
    status st = world_load(buf_cstr(&path), &w, &why);
    if (st == ST_OK)
        st = tree_open(world_networks(w), &tree, &why);
    if (st == ST_OK)
        st = cities_read(cities_text(), &cities);
    if (st != ST_OK)
        code = complain(exit_code_of(st), "demo: %s", why.n ? buf_cstr(&why) : status_name(st));
    else {
        sites = mem_alloc(world_site_count(w) * sizeof(*sites));
        play(w, tree_hierarchy(tree), &cities, sites);
        code = near_table(w, sites, &table) ? EXIT_DONE : EXIT_NO;
        print_buf(&table);
    }
    near_sites_free(sites, w ? world_site_count(w) : 0);
    tree_free(tree);
    world_free(w);
    cities_done(&cities);
    buf_done(&path);
    buf_done(&why);
    buf_done(&table);
    return code;
}

/* ---- the lab ---- */

/* Our environment for the process in the lab. The lab keeps a folder of its own: beside ours, where its name is short
 * enough for a socket. */
static char **make_env(const char *dir, struct buf *inside, struct buf *tmp)
{
    size_t n = 0, k = 0;
    while (environ[n])
        n++;
    char **env = mem_alloc((n + 3) * sizeof(*env));
    for (size_t i = 0; i < n; i++)
        if (strncmp(environ[i], "TMPDIR=", 7) != 0)
            env[k++] = environ[i];
    buf_printf(inside, DEMO_INSIDE_VARIABLE "=%s", dir);
    buf_printf(tmp, "TMPDIR=%s", strlen(dir) <= LAB_TMP_MAX && dir[0] == '/' ? dir : "/tmp");
    env[k++] = (char *)(uintptr_t)buf_cstr(inside);
    env[k++] = (char *)(uintptr_t)buf_cstr(tmp);
    env[k] = NULL;
    return env;
}

/* The last line of a log, without the name of who wrote it. */
static void put_last_line(const char *path, struct buf *out)
{
    struct buf text = {0};
    struct span rest, line, last = {0};
    if (file_read(path, TABLE_BYTES_MAX, &text) != ST_OK)
        return;
    rest = buf_span(&text);
    while (span_split(&rest, '\n', &line))
        if (line.n)
            last = line;
    static const struct span name = SPAN_INIT("orb-lab: ");
    put_safe(out, span_starts(last, name) ? span_from(last, name.n) : last);
    buf_done(&text);
}

typedef enum lab_end { LAB_DONE, LAB_FAR, LAB_STOPPED, LAB_NONE } lab_end;

/* Until it has ended, by itself or by us. True: somebody wants us to stop. */
static bool wait_for_lab(pid_t pid, const sigset_t *stop)
{
    const struct timespec pause = {.tv_nsec = 100 * 1000000};
    mono_ms deadline = clock_mono() + LAB_MS;
    bool is_stopped = false;
    while (!is_stopped && clock_mono() < deadline) {
        if (waitpid(pid, NULL, WNOHANG) == pid)
            return false;
        is_stopped = sigtimedwait(stop, NULL, &pause) > 0;
    }
    agent_process_end(&pid, 1);
    return is_stopped;
}

static bool start_lab(const char *dir, const char *log, pid_t *pid, struct buf *why)
{
    struct buf program = {0}, lab = {0}, inside = {0}, tmp = {0};
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    bool is_started = false;
    self[n > 0 ? n : 0] = '\0';
    buf_printf(&lab, "%s/lab", dir);
    if (getenv(DEMO_RECORDED_VARIABLE))
        buf_puts(why, DEMO_RECORDED_VARIABLE " is set");
    else if (!agent_process_find("orb-lab", &program))
        buf_puts(why, "orb-lab is not beside orb");
    else {
        const char *argv[] = {"orb-lab", "up",   "--quiet",  buf_cstr(&lab), "--",
                              self,      "demo", "--config", "/dev/null",    NULL};
        char **env = make_env(dir, &inside, &tmp);
        is_started = agent_process_start(buf_cstr(&program), (char *const *)(uintptr_t)argv, env, log, pid) == ST_OK;
        if (!is_started)
            buf_printf(why, "start %s: %s", buf_cstr(&program), strerror(errno));
        free(env);
    }
    buf_done(&program);
    buf_done(&lab);
    buf_done(&inside);
    buf_done(&tmp);
    return is_started;
}

static bool read_result(const char *dir, const char *name, struct buf *table)
{
    struct buf path = {0};
    buf_printf(&path, "%s/%s", dir, name);
    bool is_there = file_read(buf_cstr(&path), TABLE_BYTES_MAX, table) == ST_OK;
    buf_done(&path);
    return is_there;
}

/* `table` gets what came out. LAB_NONE: it could not be done there, and `why` says what went wrong. */
static lab_end in_lab(const char *dir, const sigset_t *stop, struct buf *table, struct buf *why)
{
    struct buf log = {0};
    lab_end end = LAB_NONE;
    pid_t pid;
    buf_printf(&log, "%s/lab.log", dir);
    if (start_lab(dir, buf_cstr(&log), &pid, why)) {
        if (wait_for_lab(pid, stop))
            end = LAB_STOPPED;
        else if (read_result(dir, DEMO_RESULT_NEAR, table))
            end = LAB_DONE;
        else if (read_result(dir, DEMO_RESULT_FAR, table))
            end = LAB_FAR;
        else
            put_last_line(buf_cstr(&log), why);
    }
    buf_done(&log);
    return end;
}

/* ---- the step ---- */

static void print_world(const struct demo_agent *agents, unsigned count)
{
    printf("A small world: agents in ");
    for (unsigned i = 0; i < count && i < DEMO_AGENTS_MAX; i++)
        printf("%s%s", i == 0 ? "" : i + 1 < count ? ", " : " and ", agents[i].place);
    puts(", sites in a dozen\ncities that they are named after. Nobody is told how far they are from each other.");
    fflush(stdout);
    if (isatty(STDERR_FILENO))
        fputs("it takes some ten seconds ...", stderr);
}

int demo_near(const char *dir, unsigned agents, const sigset_t *stop, bool *is_stopped)
{
    struct demo_agent list[DEMO_AGENTS_MAX] = {0};
    struct buf why = {0}, table = {0};
    int code = EXIT_DONE;
    status st = demo_world_write(dir, list, agents, &why);
    if (st != ST_OK)
        code = complain(exit_code_of(st), "demo: %s", buf_cstr(&why));
    else {
        print_world(list, agents);
        lab_end end = in_lab(dir, stop, &table, &why);
        if (isatty(STDERR_FILENO))
            fputs("\r\033[K", stderr);
        *is_stopped = end == LAB_STOPPED;
        if (end == LAB_STOPPED)
            code = complain(EXIT_NO, "demo: stopped");
        else if (end == LAB_FAR)
            code = EXIT_NO;
        print_buf(&table);
        if (end == LAB_NONE) {
            printf("This is a recorded world: the coordinator's own way to decide, with round trips from a table.\n"
                   "The router, which makes them real, cannot be used here: %s.\n",
                   buf_cstr(&why));
            code = recorded(dir);
        }
    }
    fflush(stdout);
    buf_done(&why);
    buf_done(&table);
    return code;
}
