#include "sim/world.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/mem.h"
#include "sim/tsv.h"
#include "sim/world_model.h"
#include "web/domain.h"

#define NO_AGENT UINT32_MAX

struct world {
    struct arena text; /* names */
    struct world_agent *agents;
    size_t agent_count, agent_cap;
    struct world_site *sites;
    size_t site_count, site_cap;
    float *rtt;       /* owned: site by site, an agent each; NULL with a model */
    float *agent_rtt; /* owned; NULL with a model */
    struct model *model;
    uint32_t *place;   /* with a model: of a site */
    uint32_t *access;  /* with a model: of a site, hundredths */
    uint32_t *nearest; /* with a model: of a place; NO_AGENT: not looked for yet */
    char *networks;    /* owned */
};

static char *file_in(const char *dir, const char *name)
{
    struct buf path = {0};
    buf_printf(&path, "%s/%s", dir, name);
    (void)buf_cstr(&path);
    return path.p;
}

static bool is_there(const char *dir, const char *name)
{
    struct buf path = {0};
    buf_printf(&path, "%s/%s", dir, name);
    bool yes = access(buf_cstr(&path), R_OK) == 0;
    buf_puts(&path, ".zst");
    yes = yes || access(buf_cstr(&path), R_OK) == 0;
    buf_done(&path);
    return yes;
}

/* ---- cells ---- */

static status read_addr(const struct tsv *t, int column, bool may_be_empty, struct addr *out, struct buf *why)
{
    struct span cell = tsv_cell(t, column);
    if (may_be_empty && !cell.n)
        return ST_OK;
    if (addr_parse(cell, out) == ST_OK)
        return ST_OK;
    return tsv_complain(t, why, "\"%.*s\" is not an address", SPAN_ARG(span_cut(cell, 0, 64)));
}

static status read_country(const struct tsv *t, int column, char out[3], struct buf *why)
{
    struct span cell = tsv_cell(t, column);
    if (cell.n > 2)
        return tsv_complain(t, why, "country: \"%.*s\" is not two letters", SPAN_ARG(span_cut(cell, 0, 64)));
    memset(out, 0, 3);
    if (cell.n)
        memcpy(out, cell.p, cell.n);
    return ST_OK;
}

static status read_spot(const struct tsv *t, int lat, int lon, struct spot *out, struct buf *why)
{
    double north, east;
    status st = tsv_real(t, lat, -90, 90, &north, why);
    if (st == ST_OK)
        st = tsv_real(t, lon, -180, 180, &east, why);
    if (st == ST_OK)
        *out = (struct spot){(float)north, (float)east};
    return st;
}

static status columns(const struct tsv *t, const char *const *names, int *at, size_t n, size_t needed, struct buf *why)
{
    for (size_t i = 0; i < n; i++) {
        at[i] = tsv_column(t, names[i]);
        if (i < needed && at[i] < 0)
            return tsv_complain(t, why, "there is no column \"%s\"", names[i]);
    }
    return ST_OK;
}

/* ---- agents.tsv ---- */

static status read_agent(const struct tsv *t, const int *at, struct world *w, struct buf *why)
{
    struct world_agent a = {0};
    struct span name = tsv_cell(t, at[0]);
    status st = name.n ? read_addr(t, at[1], false, &a.addr, why) : tsv_complain(t, why, "the agent has no name");
    if (st == ST_OK)
        st = read_country(t, at[2], a.country, why);
    if (st == ST_OK)
        st = read_spot(t, at[3], at[4], &a.spot, why);
    if (st != ST_OK)
        return st;
    if (w->agent_count == WORLD_AGENTS_MAX) {
        (void)tsv_complain(t, why, "more than %d agents", WORLD_AGENTS_MAX);
        return ST_LIMIT;
    }
    a.name = arena_copy(&w->text, name);
    w->agents = mem_grow(w->agents, &w->agent_cap, w->agent_count + 1, sizeof(*w->agents));
    w->agents[w->agent_count++] = a;
    return ST_OK;
}

static status load_agents(const char *dir, struct world *w, struct buf *why)
{
    static const char *const names[] = {"name", "ip", "country", "lat", "lon"};
    int at[5] = {0};
    struct tsv *t = NULL;
    char *path = file_in(dir, "agents.tsv");
    status st = tsv_open(path, true, &t, why);
    if (st == ST_OK)
        st = columns(t, names, at, 5, 5, why);
    while (st == ST_OK) {
        st = tsv_next(t, why);
        if (st == ST_OK)
            st = read_agent(t, at, w, why);
    }
    if (st == ST_END)
        st = w->agent_count ? ST_OK : tsv_complain(t, why, "there are no agents");
    tsv_free(t);
    free(path);
    return st;
}

/* ---- sites.tsv ---- */

enum {
    SITE_HOST,
    SITE_IP,
    SITE_COUNTRY,
    SITE_LAT,
    SITE_LON,
    SITE_HOLDER,
    SITE_PAGES,
    SITE_BYTES,
    SITE_CHANGES,
    SITE_IMPORTANCE,
    SITE_ANYCAST,
    SITE_ADDR6,
    SITE_COLUMNS
};

static status read_site_numbers(const struct tsv *t, const int *at, struct world_site *s, struct buf *why)
{
    double changes, importance;
    uint32_t anycast;
    status st = tsv_u32(t, at[SITE_PAGES], UINT32_MAX, &s->pages, why);
    if (st == ST_OK)
        st = tsv_u32(t, at[SITE_BYTES], UINT32_MAX, &s->bytes_per_page, why);
    if (st == ST_OK)
        st = tsv_real(t, at[SITE_CHANGES], 0, 1e9, &changes, why);
    if (st == ST_OK)
        st = tsv_real(t, at[SITE_IMPORTANCE], 0, 1e12, &importance, why);
    if (st == ST_OK)
        st = tsv_u32(t, at[SITE_ANYCAST], 1, &anycast, why);
    if (st != ST_OK)
        return st;
    s->changes_per_day = (float)changes;
    s->importance = (float)importance;
    s->is_anycast = anycast != 0;
    return ST_OK;
}

static status read_site(const struct tsv *t, const int *at, struct world *w, struct buf *why)
{
    struct world_site s = {0};
    struct span host = tsv_cell(t, at[SITE_HOST]);
    status st = host.n ? read_addr(t, at[SITE_IP], false, &s.addr, why) : tsv_complain(t, why, "the site has no host");
    if (st == ST_OK)
        st = read_addr(t, at[SITE_ADDR6], true, &s.addr6, why);
    if (st == ST_OK)
        st = read_country(t, at[SITE_COUNTRY], s.country, why);
    if (st == ST_OK)
        st = read_spot(t, at[SITE_LAT], at[SITE_LON], &s.spot, why);
    if (st == ST_OK)
        st = read_site_numbers(t, at, &s, why);
    if (st != ST_OK)
        return st;
    if (w->site_count == WORLD_SITES_MAX) {
        (void)tsv_complain(t, why, "more than %d sites", WORLD_SITES_MAX);
        return ST_LIMIT;
    }
    s.host = arena_copy(&w->text, host);
    s.holder = arena_copy(&w->text, tsv_cell(t, at[SITE_HOLDER]));
    w->sites = mem_grow(w->sites, &w->site_cap, w->site_count + 1, sizeof(*w->sites));
    w->sites[w->site_count++] = s;
    return ST_OK;
}

static status load_sites(const char *dir, size_t max, struct world *w, struct buf *why)
{
    static const char *const names[] = {
        "host",       "ip",      "country", "lat", "lon", "holder", "pages", "bytes_per_page", "changes_per_day",
        "importance", "anycast", "addr6"};
    int at[SITE_COLUMNS] = {0};
    struct tsv *t = NULL;
    char *path = file_in(dir, "sites.tsv");
    status st = tsv_open(path, true, &t, why);
    if (st == ST_OK)
        st = columns(t, names, at, SITE_COLUMNS, SITE_ADDR6, why);
    while (st == ST_OK && (!max || w->site_count < max)) {
        st = tsv_next(t, why);
        if (st == ST_OK)
            st = read_site(t, at, w, why);
    }
    if (st == ST_END)
        st = w->site_count ? ST_OK : tsv_complain(t, why, "there are no sites");
    tsv_free(t);
    free(path);
    return st;
}

/* ---- rtt.tsv, agent_rtt.tsv ---- */

/* The head names the agents; in the order of agents.tsv, so that a column is an agent. */
static status check_head(const struct tsv *t, const struct world *w, struct buf *why)
{
    if (tsv_column_count(t) != w->agent_count + 1)
        return tsv_complain(t, why, "%zu columns: one for the name and one for each of %zu agents are wanted",
                            tsv_column_count(t), w->agent_count);
    for (size_t i = 0; i < w->agent_count; i++)
        if (!span_eq(tsv_column_name(t, i + 1), w->agents[i].name))
            return tsv_complain(t, why, "column %zu is \"%.*s\", agent %zu is \"%.*s\"", i + 2,
                                SPAN_ARG(tsv_column_name(t, i + 1)), i + 1, SPAN_ARG(w->agents[i].name));
    return ST_OK;
}

static status read_matrix(struct tsv *t, struct world *w, size_t rows, bool is_sites, float *to, struct buf *why)
{
    status st = check_head(t, w, why);
    for (size_t i = 0; st == ST_OK && i < rows; i++) {
        st = tsv_next(t, why);
        if (st == ST_END)
            st = tsv_complain(t, why, "%zu rows, where %zu are wanted", i, rows);
        struct span name = is_sites ? w->sites[i].host : w->agents[i].name;
        if (st == ST_OK && !span_eq(tsv_cell(t, 0), name))
            st = tsv_complain(t, why, "the row of \"%.*s\" is wanted here", SPAN_ARG(name));
        for (size_t j = 0; st == ST_OK && j < w->agent_count; j++) {
            double ms;
            st = tsv_real(t, (int)j + 1, 0, WORLD_RTT_MAX, &ms, why);
            if (st == ST_OK)
                to[i * w->agent_count + j] = (float)ms;
        }
    }
    return st;
}

static status load_matrix(const char *dir, const char *name, struct world *w, size_t rows, bool is_sites, float **out,
                          struct buf *why)
{
    struct tsv *t = NULL;
    char *path = file_in(dir, name);
    status st = tsv_open(path, true, &t, why);
    if (st == ST_OK && (uint64_t)rows * w->agent_count > WORLD_MATRIX_MAX) {
        (void)tsv_complain(t, why, "more than %d round trips", WORLD_MATRIX_MAX);
        st = ST_LIMIT;
    }
    if (st == ST_OK) {
        *out = mem_alloc(rows * w->agent_count * sizeof(**out));
        st = read_matrix(t, w, rows, is_sites, *out, why);
    }
    tsv_free(t);
    free(path);
    return st;
}

static status load_model(const char *dir, struct world *w, struct buf *why)
{
    char *path = file_in(dir, "model.tsv");
    status st = model_read(path, &w->model, why);
    free(path);
    if (st != ST_OK)
        return st;
    struct model_place p;
    for (size_t i = 0; i < w->agent_count; i++) {
        p.spot = w->agents[i].spot;
        memcpy(p.country, w->agents[i].country, sizeof(p.country));
        model_add_agent(w->model, w->agents[i].name, &p);
    }
    w->place = mem_alloc(w->site_count * sizeof(*w->place));
    w->access = mem_alloc(w->site_count * sizeof(*w->access));
    for (size_t i = 0; i < w->site_count; i++) {
        p.spot = w->sites[i].spot;
        memcpy(p.country, w->sites[i].country, sizeof(p.country));
        w->place[i] = w->sites[i].is_anycast ? MODEL_EVERYWHERE : model_place(w->model, &p);
        w->access[i] = model_access_site(w->model, w->sites[i].host);
    }
    w->nearest = mem_alloc(model_place_count(w->model) * sizeof(*w->nearest));
    for (uint32_t i = 0; i < model_place_count(w->model); i++)
        w->nearest[i] = NO_AGENT;
    return ST_OK;
}

/* ---- all of it ---- */

static char *find_networks(const char *dir)
{
    static const char *const names[] = {"networks.tsv", "networks.tsv.zst", "../networks.tsv", "../networks.tsv.zst"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        char *path = file_in(dir, names[i]);
        if (access(path, R_OK) == 0)
            return path;
        free(path);
    }
    return mem_str(SPAN(""));
}

status world_load(const char *dir, struct world **out, struct buf *why)
{
    return world_load_part(dir, 0, out, why);
}

status world_load_part(const char *dir, size_t sites_max, struct world **out, struct buf *why)
{
    struct world *w = mem_alloc(sizeof(*w));
    arena_init(&w->text);
    status st = load_agents(dir, w, why);
    if (st == ST_OK)
        st = load_sites(dir, sites_max, w, why);
    bool has_matrix = is_there(dir, "rtt.tsv") || !is_there(dir, "model.tsv");
    if (st == ST_OK && has_matrix) {
        st = load_matrix(dir, "rtt.tsv", w, w->site_count, true, &w->rtt, why);
        if (st == ST_OK)
            st = load_matrix(dir, "agent_rtt.tsv", w, w->agent_count, false, &w->agent_rtt, why);
    } else if (st == ST_OK)
        st = load_model(dir, w, why);
    w->networks = find_networks(dir);
    if (st != ST_OK) {
        world_free(w);
        return st;
    }
    *out = w;
    return ST_OK;
}

/* Rows of `from` round trips become rows of `to`, in place. */
static void narrow(float *m, size_t rows, size_t from, size_t to)
{
    for (size_t i = 0; m && i < rows; i++)
        memmove(m + i * to, m + i * from, to * sizeof(*m));
}

void world_keep_agents(struct world *w, size_t agents)
{
    if (agents >= w->agent_count)
        return;
    narrow(w->rtt, w->site_count, w->agent_count, agents);
    narrow(w->agent_rtt, agents, w->agent_count, agents);
    w->agent_count = agents;
}

void world_free(struct world *w)
{
    if (!w)
        return;
    arena_done(&w->text);
    free(w->agents);
    free(w->sites);
    free(w->rtt);
    free(w->agent_rtt);
    model_free(w->model);
    free(w->place);
    free(w->access);
    free(w->nearest);
    free(w->networks);
    free(w);
}

size_t world_agent_count(const struct world *w)
{
    return w->agent_count;
}

size_t world_site_count(const struct world *w)
{
    return w->site_count;
}

const struct world_agent *world_agent(const struct world *w, size_t i)
{
    return &w->agents[i];
}

const struct world_site *world_site(const struct world *w, size_t i)
{
    return &w->sites[i];
}

double world_rtt(const struct world *w, size_t site, size_t agent)
{
    if (w->rtt)
        return (double)w->rtt[site * w->agent_count + agent];
    uint32_t path = model_paths(w->model, w->place[site])[agent];
    return (double)(path + w->access[site] + model_access_agent(w->model, agent)) / 100;
}

double world_agent_rtt(const struct world *w, size_t a, size_t b)
{
    if (w->agent_rtt)
        return (double)w->agent_rtt[a * w->agent_count + b];
    return (double)model_between_agents(w->model, a, b) / 100;
}

static size_t look_for_nearest(const struct world *w, size_t site)
{
    size_t best = 0;
    double best_ms = world_rtt(w, site, 0);
    for (size_t i = 1; i < w->agent_count; i++) {
        double ms = world_rtt(w, site, i);
        if (ms < best_ms) {
            best_ms = ms;
            best = i;
        }
    }
    return best;
}

size_t world_nearest(const struct world *w, size_t site, double *ms)
{
    size_t best;
    if (w->model) { /* the access line of a site is the same for all agents: the place decides */
        uint32_t *kept = &w->nearest[w->place[site]];
        if (*kept == NO_AGENT)
            *kept = (uint32_t)look_for_nearest(w, site);
        best = *kept;
    } else
        best = look_for_nearest(w, site);
    if (ms)
        *ms = world_rtt(w, site, best);
    return best;
}

const char *world_networks(const struct world *w)
{
    return w->networks;
}

struct span world_site_domain(const struct world_site *s)
{
    struct span host = s->host;
    if (span_ends(host, SPAN(".example")) && span_find(host, '.', 0) < host.n - strlen(".example"))
        host.n -= strlen(".example");
    return domain_registered(host);
}
