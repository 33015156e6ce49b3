/* figures_place.c - of placing: which agent each site went to, how far it is against the nearest one, what that took;
 * and what the simulator has for the same world. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "lab/play/figures_internal.h"

/* ---- the order of decisions ---- */

struct meeting {
    double at; /* ms since 1970 */
    size_t hosts, probes;
    size_t number; /* in the list: keeps the order of equals */
};

static int by_time(const void *x, const void *y)
{
    const struct meeting *a = x, *b = y;
    if (a->at != b->at)
        return a->at < b->at ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

static size_t count_probes(const struct json_node *network)
{
    double n = json_member_number(network, "asked");
    return n > 0 ? (size_t)n : 0;
}

size_t figures_decisions(const struct json_node *networks, struct arena *a, double **probes)
{
    size_t n = 0, sites = 0, at = 0;
    for (const struct json_node *w = json_member(networks, "networks")->children; w; w = w->next)
        n++;
    struct meeting *list = arena_alloc(a, (n + 1) * sizeof(*list));
    n = 0;
    for (const struct json_node *w = json_member(networks, "networks")->children; w; w = w->next) {
        double when = json_member_number(w, "met"), hosts = json_member_number(w, "hosts");
        if (when <= 0 || hosts < 1 || hosts > LAB_SITES_MAX)
            continue;
        list[n] = (struct meeting){.at = when, .hosts = (size_t)hosts, .probes = count_probes(w), .number = n};
        sites += list[n++].hosts;
    }
    if (n)
        qsort(list, n, sizeof(*list), by_time);
    *probes = arena_alloc(a, (sites + 1) * sizeof(double));
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < list[i].hosts; k++)
            (*probes)[at++] = k ? 0 : (double)list[i].probes;
    return at;
}

double figures_slope(const double *y, size_t n, double *at_zero)
{
    double count = (double)n, sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (size_t i = 0; i < n; i++) {
        double x = (double)i;
        sx += x;
        sy += y[i];
        sxx += x * x;
        sxy += x * y[i];
    }
    double spread = count * sxx - sx * sx, slope = spread > 0 ? (count * sxy - sx * sy) / spread : 0;
    *at_zero = n ? (sy - slope * sx) / count : 0;
    return slope;
}

static double mean(const double *v, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += v[i];
    return sum / (double)n;
}

static void put_decisions(struct figures_run *r, const struct json_node *networks, struct arena *a)
{
    double *probes, at_zero;
    size_t n = figures_decisions(networks, a, &probes);
    size_t end = n < FIGURES_LAST ? n : FIGURES_LAST;
    if (!n)
        return;
    figures_put_str(r->out, "probes_first50", mean(probes, end));
    figures_put_str(r->out, "probes_last50", mean(probes + n - end, end));
    if (n > 1)
        figures_put_str(r->out, "probes_trend", 1000 * figures_slope(probes, n, &at_zero));
}

/* ---- who has what ---- */

static void take_networks(struct figures_run *r, const struct json_node *networks)
{
    size_t count = 0, probes = 0;
    unsigned place;
    for (const struct json_node *n = json_member(networks, "networks")->children; n; n = n->next) {
        count++;
        probes += count_probes(n);
        if (!map_find(r->lab.map, json_member_text(n, "agent"), &place))
            continue;
        for (const struct json_node *name = json_member(n, "names")->children; name; name = name->next) {
            int i = figures_site_of(r, name->text);
            if (i >= 0)
                r->sites[i].owner = (int)place;
        }
    }
    figures_put_str(r->out, "networks", (double)count);
    if (r->lab.site_count)
        figures_put_str(r->out, "probes", (double)probes / (double)r->lab.site_count);
}

/* Those of agents.json; else every place that may have one. */
static size_t find_agents(const struct figures_run *r, struct arena *a, const struct json_node *agents, unsigned **out)
{
    size_t n = 0, most = map_place_count(r->lab.map);
    *out = arena_alloc(a, (most + 1) * sizeof(**out));
    for (const struct json_node *g = agents ? json_member(agents, "agents")->children : NULL; g && n < most;
         g = g->next)
        n += map_find(r->lab.map, json_member_text(g, "name"), &(*out)[n]);
    for (unsigned i = 0; !agents && i < most; i++) {
        const struct map_place *p = map_place(r->lab.map, i);
        if (p->hub >= 0 && !span_is(p->name, "hq"))
            (*out)[n++] = i;
    }
    return n;
}

/* A place by its name; agent1, agent2, ... are the agents in the order of the world, as in a scenario. */
static bool find_place(const struct figures_run *r, struct span name, unsigned *out)
{
    uint64_t number;
    if (map_find(r->lab.map, name, out))
        return true;
    if (span_is(name, "coordinator"))
        return map_find(r->lab.map, SPAN("hq"), out);
    if (!span_starts(name, SPAN("agent")) || !span_u64(span_from(name, 5), MAP_PLACES_MAX, &number))
        return false;
    for (unsigned i = 0; i < map_place_count(r->lab.map); i++) {
        const struct map_place *p = map_place(r->lab.map, i);
        if (p->hub >= 0 && !span_is(p->name, "hq") && --number == 0) {
            *out = i;
            return true;
        }
    }
    return false;
}

/* As the player has it: a file of the run's folder, or any. A file that is gone changes nothing. */
static void change_matrix(struct figures_run *r, struct span file)
{
    struct buf path = {0}, why = {0};
    if (file.n && file.p[0] != '/')
        buf_printf(&path, "%s/%.*s", r->folder, SPAN_ARG(file));
    if (!path.n || lab_matrix_file(r->lab.map, buf_cstr(&path), &why) != ST_OK) {
        buf_clear(&path);
        buf_put(&path, file);
        (void)!lab_matrix_file(r->lab.map, buf_cstr(&path), &why);
    }
    buf_done(&path);
    buf_done(&why);
}

static void change_path(struct figures_run *r, const struct words *w)
{
    unsigned a, b;
    double ms;
    if (w->n >= 4 && find_place(r, w->w[1], &a) && find_place(r, w->w[2], &b) && figures_number(w->w[3], &ms))
        (void)!map_set_path(r->lab.map, a, b, &(struct map_path){.rtt_ms = (float)ms});
}

/* The distances that hold in the end: as the lab file says, changed as the steps changed them. */
static void change_map(struct figures_run *r)
{
    for (size_t i = 0; i < r->run->step_count; i++) {
        const struct step *s = &r->run->steps[i];
        if (s->kind != STEP_ROUTER || s->words.n < 2)
            continue;
        if (span_is(s->words.w[0], "matrix"))
            change_matrix(r, s->words.w[1]);
        else if (span_is(s->words.w[0], "rtt"))
            change_path(r, &s->words);
    }
}

static void judge(struct figures_run *r, const unsigned *agents, size_t count)
{
    size_t placed = 0, near = 0, nearest = 0;
    double sum = 0, least = 0;
    for (size_t i = 0; i < r->lab.site_count; i++) {
        const struct figures_site *s = &r->sites[i];
        double best = INFINITY;
        for (size_t k = 0; k < count; k++)
            best = fmin(best, (double)map_path(r->lab.map, s->place, agents[k]).rtt_ms);
        if (s->owner < 0 || !isfinite(best))
            continue;
        double ms = (double)map_path(r->lab.map, s->place, (unsigned)s->owner).rtt_ms;
        placed++;
        near += ms <= best + FIGURES_NEAR_MS;
        nearest += ms <= best;
        sum += ms;
        least += best;
    }
    double all = (double)r->lab.site_count;
    figures_put_str(r->out, "placed", (double)placed);
    if (!placed)
        return;
    figures_put_str(r->out, "near", 100 * (double)near / all);
    figures_put_str(r->out, "nearest", 100 * (double)nearest / all);
    figures_put_str(r->out, "rtt_ms", sum / (double)placed);
    figures_put_str(r->out, "best_rtt_ms", least / (double)placed);
    figures_put_str(r->out, "rtt_over_optimum", sum / least);
}

/* What agents say that they sent, headers and all but not what TLS and TCP add; and the part of it that is packages. */
static void put_sent(struct figures_run *r, const struct json_node *agents)
{
    double sent = 0, packages = 0;
    for (const struct json_node *g = agents ? json_member(agents, "agents")->children : NULL; g; g = g->next) {
        sent += json_member_number(g, "bytes_sent");
        packages += json_member_number(g, "package_bytes");
    }
    if (!agents)
        return;
    figures_put_str(r->out, "bytes_sent", sent);
    figures_put_str(r->out, "bytes_packages", packages);
    figures_put_str(r->out, "bytes_packages_over_fetched", packages / figures_or(r->out, "bytes_fetched", NAN));
}

status figures_of_placing(struct figures_run *r)
{
    struct arena a = {0};
    const struct json_node *networks = NULL, *agents = NULL;
    unsigned *places;
    if (!r->lab.map)
        return ST_OK;
    status st = figures_json(r, "networks.json", &a, &networks);
    if (st == ST_OK) {
        take_networks(r, networks);
        put_decisions(r, networks, &a);
    } else if (st == ST_NOT_FOUND) { /* a crawler without a fleet: whoever asked has it */
        for (size_t i = 0; i < r->lab.site_count; i++)
            r->sites[i].owner = r->sites[i].asker;
        st = ST_OK;
    }
    if (st == ST_OK)
        st = figures_json(r, "agents.json", &a, &agents);
    st = st == ST_NOT_FOUND ? ST_OK : st;
    if (st == ST_OK) {
        size_t n = find_agents(r, &a, agents, &places);
        put_sent(r, agents);
        change_map(r);
        judge(r, places, n);
    }
    arena_done(&a);
    return st;
}

/* ---- the simulator ---- */

/* 0 / 0 is 1: neither took any. */
static void put_over(struct figures_run *r, const char *name, const char *ours, const char *sims)
{
    double a = figures_or(r->out, ours, NAN), b = figures_or(r->out, sims, NAN);
    figures_put_str(r->out, name, a == 0 && b == 0 ? 1 : a / b);
}

status figures_of_sim(struct figures_run *r)
{
    static const struct {
        const char *name, *ours;
        double times;
    } known[] = {{"near", "sim_near", 100},
                 {"optimal", "sim_nearest", 100},
                 {"rtt_ms", "sim_rtt_ms", 1},
                 {"rtt_best_ms", "sim_best_rtt_ms", 1},
                 {"rtt_ratio", "sim_rtt_over_optimum", 1},
                 {"probes", "sim_probes", 1},
                 {"probes_first", "sim_probes_first", 1},
                 {"probes_last", "sim_probes_last", 1},
                 {"probes_last50", "sim_probes_last50", 1},
                 {"measurements", "sim_measurements", 1},
                 {"networks", "sim_networks", 1},
                 {"moves", "sim_moves", 1},
                 {"download_today_s", "sim_download_s", 1},
                 {"download_today_mean_s", "sim_download_mean_s", 1}};
    struct arena a = {0};
    const struct json_node *sim;
    status st = figures_json(r, "sim.json", &a, &sim);
    for (size_t i = 0; st == ST_OK && i < sizeof(known) / sizeof(*known); i++) {
        const struct json_node *m = json_member(sim, known[i].name);
        if (m->kind == NODE_NUMBER)
            figures_put_str(r->out, known[i].ours, known[i].times * m->number);
    }
    if (st == ST_OK) {
        put_over(r, "probes_over_sim", "probes", "sim_probes");
        put_over(r, "rtt_over_sim", "rtt_ms", "sim_rtt_ms");
    }
    arena_done(&a);
    return st;
}
