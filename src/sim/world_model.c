#include "sim/world_model.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/table.h"
#include "sim/draw.h"
#include "sim/tsv.h"

#define FORMAT 1

struct agent {
    struct model_place place;
    uint64_t name; /* hash */
    uint32_t access;
};

struct place {
    struct model_place place;
    uint64_t key;
    uint32_t *paths; /* owned; NULL until they are asked for */
};

struct model {
    struct model_opts opts;
    struct agent *agents;
    size_t agent_count, agent_cap;
    struct model_place replicas[MODEL_REPLICAS_MAX];
    size_t replica_count;
    struct place *places; /* [0]: everywhere */
    size_t place_count, place_cap;
    struct table by_key; /* key of a place -> its number + 1, as a pointer */
};

void model_defaults(uint64_t seed, struct model_opts *out)
{
    *out = (struct model_opts){.seed = seed,
                               .km_per_ms = GEO_KM_PER_MS,
                               .factor_min = 1.3,
                               .factor_max = 2.5,
                               .access_site_ms = 4,
                               .access_agent_ms = 0.4,
                               .jitter_ms = 1,
                               .anycast_ms = 1};
}

struct model *model_new(const struct model_opts *o)
{
    struct model *m = mem_alloc(sizeof(*m));
    m->opts = *o;
    m->places = mem_grow(NULL, &m->place_cap, 1, sizeof(*m->places));
    m->places[0] = (struct place){0};
    m->place_count = 1;
    return m;
}

void model_free(struct model *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->place_count; i++)
        free(m->places[i].paths);
    free(m->places);
    free(m->agents);
    table_done(&m->by_key);
    free(m);
}

static uint32_t hundredths(double ms)
{
    return (uint32_t)(ms * 100 + 0.5);
}

void model_add_replica(struct model *m, const struct model_place *p)
{
    if (m->replica_count < MODEL_REPLICAS_MAX)
        m->replicas[m->replica_count++] = *p;
}

void model_add_agent(struct model *m, struct span name, const struct model_place *p)
{
    struct agent a = {.place = *p, .name = draw_hash(m->opts.seed, name)};
    struct rng r = draw_for(m->opts.seed, DRAW_ACCESS_AGENT, a.name, 0);
    a.access = hundredths(draw_exponential(&r, m->opts.access_agent_ms));
    m->agents = mem_grow(m->agents, &m->agent_cap, m->agent_count + 1, sizeof(*m->agents));
    m->agents[m->agent_count++] = a;
}

/* ---- paths ---- */

/* Ten-thousandths of a degree: what the files say, whatever a float makes of it. */
static uint64_t place_key(const struct model_place *p)
{
    int64_t lat = llround((double)p->spot.latitude * 1e4), lon = llround((double)p->spot.longitude * 1e4);
    return (uint64_t)(lat + 1000000) << 40 | (uint64_t)(lon + 2000000) << 16 |
           (uint64_t)(unsigned char)p->country[0] << 8 | (uint64_t)(unsigned char)p->country[1];
}

static double factor_of(const struct model *m, const char *a, const char *b)
{
    uint64_t x = (uint64_t)(unsigned char)a[0] << 8 | (uint64_t)(unsigned char)a[1];
    uint64_t y = (uint64_t)(unsigned char)b[0] << 8 | (uint64_t)(unsigned char)b[1];
    struct rng r = draw_for(m->opts.seed, DRAW_FACTOR, x < y ? x : y, x < y ? y : x);
    return draw_between(&r, m->opts.factor_min, m->opts.factor_max);
}

static uint32_t path(const struct model *m, const struct model_place *p, uint64_t key, const struct agent *a)
{
    struct rng r = draw_for(m->opts.seed, DRAW_JITTER, key, a->name);
    double km = geo_km(p->spot, a->place.spot);
    return hundredths(km / m->opts.km_per_ms * factor_of(m, p->country, a->place.country)) +
           hundredths(draw_exponential(&r, m->opts.jitter_ms));
}

uint32_t model_place(struct model *m, const struct model_place *p)
{
    uint64_t key = place_key(p);
    void *known = table_get(&m->by_key, key);
    if (known)
        return (uint32_t)(uintptr_t)known - 1;
    m->places = mem_grow(m->places, &m->place_cap, m->place_count + 1, sizeof(*m->places));
    m->places[m->place_count] = (struct place){.place = *p, .key = key};
    table_put(&m->by_key, key, (void *)(uintptr_t)(m->place_count + 1));
    return (uint32_t)m->place_count++;
}

uint32_t model_place_count(const struct model *m)
{
    return (uint32_t)m->place_count;
}

static uint32_t path_everywhere(const struct model *m, const struct agent *a)
{
    uint32_t best = UINT32_MAX;
    for (size_t i = 0; i < m->replica_count; i++) {
        uint32_t ms = path(m, &m->replicas[i], place_key(&m->replicas[i]), a);
        best = ms < best ? ms : best;
    }
    return m->replica_count ? best + hundredths(m->opts.anycast_ms) : hundredths(m->opts.anycast_ms);
}

const uint32_t *model_paths(struct model *m, uint32_t place)
{
    struct place *p = &m->places[place];
    if (p->paths)
        return p->paths;
    p->paths = mem_alloc((m->agent_count ? m->agent_count : 1) * sizeof(*p->paths));
    for (size_t i = 0; i < m->agent_count; i++)
        p->paths[i] =
            place == MODEL_EVERYWHERE ? path_everywhere(m, &m->agents[i]) : path(m, &p->place, p->key, &m->agents[i]);
    return p->paths;
}

uint32_t model_access_agent(const struct model *m, size_t agent)
{
    return m->agents[agent].access;
}

uint32_t model_access_site(const struct model *m, struct span host)
{
    struct rng r = draw_for(m->opts.seed, DRAW_ACCESS_SITE, draw_hash(m->opts.seed, host), 0);
    return hundredths(draw_exponential(&r, m->opts.access_site_ms));
}

uint32_t model_between_agents(struct model *m, size_t a, size_t b)
{
    if (a == b)
        return 0;
    const struct agent *x = &m->agents[a < b ? a : b], *y = &m->agents[a < b ? b : a];
    return path(m, &x->place, x->name, y) + x->access + y->access;
}

/* ---- model.tsv ---- */

static const struct {
    const char *name;
    size_t at;
} numbers[] = {
    {"km_per_ms", offsetof(struct model_opts, km_per_ms)},
    {"factor_min", offsetof(struct model_opts, factor_min)},
    {"factor_max", offsetof(struct model_opts, factor_max)},
    {"access_site_ms", offsetof(struct model_opts, access_site_ms)},
    {"access_agent_ms", offsetof(struct model_opts, access_agent_ms)},
    {"jitter_ms", offsetof(struct model_opts, jitter_ms)},
    {"anycast_ms", offsetof(struct model_opts, anycast_ms)},
};
#define NUMBERS (sizeof(numbers) / sizeof(*numbers))

void model_write(const struct model *m, struct buf *out)
{
    buf_printf(out, "key\tvalue\nformat\t%d\nseed\t%llu\n", FORMAT, (unsigned long long)m->opts.seed);
    for (size_t i = 0; i < NUMBERS; i++) {
        double v;
        memcpy(&v, (const char *)&m->opts + numbers[i].at, sizeof(v));
        buf_printf(out, "%s\t%g\n", numbers[i].name, v);
    }
    for (size_t i = 0; i < m->replica_count; i++)
        buf_printf(out, "replica\t%.4f\t%.4f\t%s\n", (double)m->replicas[i].spot.latitude,
                   (double)m->replicas[i].spot.longitude, m->replicas[i].country);
}

static status read_replica(const struct tsv *t, struct model *m, struct buf *why)
{
    double lat, lon;
    struct span country = tsv_cell(t, 3);
    status st = tsv_real(t, 1, -90, 90, &lat, why);
    if (st == ST_OK)
        st = tsv_real(t, 2, -180, 180, &lon, why);
    if (st == ST_OK && country.n != 2)
        st = tsv_complain(t, why, "a replica needs latitude, longitude and country");
    if (st == ST_OK && m->replica_count == MODEL_REPLICAS_MAX)
        st = tsv_complain(t, why, "more than %d replicas", MODEL_REPLICAS_MAX);
    if (st == ST_OK)
        model_add_replica(m, &(struct model_place){{(float)lat, (float)lon}, {country.p[0], country.p[1], '\0'}});
    return st;
}

static status read_row(const struct tsv *t, struct model *m, unsigned *seen, struct buf *why)
{
    struct span key = tsv_cell(t, 0);
    uint64_t seed;
    if (span_is(key, "replica"))
        return read_replica(t, m, why);
    if (span_is(key, "seed")) {
        if (!span_u64(tsv_cell(t, 1), UINT64_MAX, &seed))
            return tsv_complain(t, why, "the seed is not a number");
        m->opts.seed = seed;
        return ST_OK;
    }
    double v;
    status st = tsv_real(t, 1, 0, 1e6, &v, why);
    if (st == ST_OK && span_is(key, "format") && v > FORMAT) {
        (void)tsv_complain(t, why, "written by a newer version");
        return ST_NEWER;
    }
    for (size_t i = 0; st == ST_OK && i < NUMBERS; i++)
        if (span_is(key, numbers[i].name)) {
            memcpy((char *)&m->opts + numbers[i].at, &v, sizeof(v));
            *seen |= 1u << i;
        }
    return st;
}

status model_read(const char *path_name, struct model **out, struct buf *why)
{
    struct tsv *t = NULL;
    struct model_opts opts = {0};
    struct model *m = model_new(&opts);
    unsigned seen = 0;
    status st = tsv_open(path_name, true, &t, why);
    while (st == ST_OK) {
        st = tsv_next(t, why);
        if (st == ST_OK)
            st = read_row(t, m, &seen, why);
    }
    if (st == ST_END)
        st = seen == (1u << NUMBERS) - 1 && m->opts.km_per_ms > 0 && m->opts.factor_max >= m->opts.factor_min
                 ? ST_OK
                 : tsv_complain(t, why, "a number of the model is missing or makes no sense");
    tsv_free(t);
    if (st != ST_OK) {
        model_free(m);
        return st;
    }
    *out = m;
    return ST_OK;
}
