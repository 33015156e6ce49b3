/* admin_near.c - sums up how near agents are to their networks, and where those seem to be.
 *
 * A network's place is a guess for a map: the largest city of the country that it is registered in which every measured
 * round trip allows. Where no country is known, or none of its cities is possible, a network that is a few milliseconds
 * from an agent is near that agent; else its place is not known. */
#include "coord/admin_near.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "io/clock.h"

#define SLICE 1024    /* networks between two breaths of the lock */
#define DETOUR 1.3    /* paths on the ground are longer than the great circle by so much at least */
#define ACCESS_MS 1.0 /* of a measured round trip: could be an error */
#define NEAR_THE_AGENT_MS 15.0
#define WORST_PAIRS 150
#define CIRCLES_MAX 16 /* round trips that a guess looks at */
#define PI 3.14159265358979323846
#define RADIANS (PI / 180.0)
#define HALF_ROUND_KM 20015.0 /* to the other side of the globe */

struct vector;
struct gathering {
    struct coord *c;
    struct near_view *v;
    size_t *by_number; /* owned: agent number -> 1 + its place in v->agents */
    size_t numbers;
    struct table flows; /* of agent and place -> 1 + its place in v->flows */
    size_t flow_cap, pair_cap;
    struct vector *cities, *agents; /* owned: where they are */
};

double near_mean_now(const struct near_sums *s)
{
    return s->measured ? s->now_ms / (double)s->measured : -1;
}

double near_mean_best(const struct near_sums *s)
{
    return s->measured ? s->best_ms / (double)s->measured : -1;
}

/* ---- where things are ---- */

/* Of the smallest range around the address that has one; false: none. */
static bool country_of(const struct coord *c, const struct addr *a, char out[3])
{
    struct hierarchy_node node;
    uint32_t at = c->hierarchy ? hierarchy_network(c->hierarchy, a) : HIERARCHY_NONE;
    for (; at != HIERARCHY_NONE; at = node.parent) {
        hierarchy_get(c->hierarchy, at, &node);
        if (node.country[0]) {
            memcpy(out, node.country, 3);
            return true;
        }
    }
    return false;
}

static const struct near_agent *agent_by(const struct gathering *g, uint64_t number, size_t *index)
{
    size_t i = number < g->numbers ? g->by_number[number] : 0;
    *index = i - 1;
    return i ? &g->v->agents[i - 1] : NULL;
}

/* A point of the globe; what two of them have in common is the cosine of the angle between them. */
struct vector {
    float x, y, z;
};

static struct vector vector_of(struct spot s)
{
    double lat = (double)s.latitude * RADIANS, lon = (double)s.longitude * RADIANS;
    return (struct vector){(float)(cos(lat) * cos(lon)), (float)(cos(lat) * sin(lon)), (float)sin(lat)};
}

/* What a measured round trip leaves possible: all within a circle around its agent. */
struct circle {
    struct vector centre;
    float least; /* cosine of its radius */
};

static size_t circles_of(const struct gathering *g, const struct c_network *n, struct circle *out)
{
    size_t count = 0, at;
    for (size_t i = 0; i < n->probe_count && count < CIRCLES_MAX; i++) {
        const struct near_agent *a = agent_by(g, n->probes[i].agent, &at);
        double km = (n->probes[i].ms + ACCESS_MS) * GEO_KM_PER_MS / DETOUR;
        if (a && a->source == NEAR_REGISTERED && n->probes[i].ms >= 0 && km < HALF_ROUND_KM)
            out[count++] = (struct circle){g->agents[at], (float)cos(km / HALF_ROUND_KM * PI)};
    }
    return count;
}

static bool is_inside(const struct circle *list, size_t count, struct vector v)
{
    for (size_t i = 0; i < count; i++)
        if (list[i].centre.x * v.x + list[i].centre.y * v.y + list[i].centre.z * v.z < list[i].least)
            return false;
    return true;
}

/* SIZE_MAX: none. */
static size_t guess_city(const struct gathering *g, const struct c_network *n)
{
    char country[3];
    size_t count;
    struct circle circles[CIRCLES_MAX];
    if (!country_of(g->c, &n->network.first, country))
        return SIZE_MAX;
    size_t circle_count = circles_of(g, n, circles);
    const struct city *list = cities_of(&g->c->cities, country, &count);
    for (size_t i = 0; i < count; i++) {
        size_t city = (size_t)(list + i - g->c->cities.list);
        if (is_inside(circles, circle_count, g->cities[city]))
            return city;
    }
    return SIZE_MAX;
}

/* The agent that measured the shortest round trip, when that is short; SIZE_MAX: none. */
static size_t guess_agent(const struct gathering *g, const struct c_network *n)
{
    double least = NEAR_THE_AGENT_MS;
    size_t found = SIZE_MAX, at;
    for (size_t i = 0; i < n->probe_count; i++) {
        const struct near_agent *a = agent_by(g, n->probes[i].agent, &at);
        if (a && a->source != NEAR_NOWHERE && n->probes[i].ms >= 0 && n->probes[i].ms <= least) {
            least = n->probes[i].ms;
            found = at;
        }
    }
    return found;
}

/* ---- agents ---- */

static void place_agent(struct coord *c, const struct c_agent *from, struct near_agent *a)
{
    char country[3];
    size_t count;
    struct spot s = {.latitude = (float)from->latitude, .longitude = (float)from->longitude};
    if (from->has_place && spot_is_valid(s)) {
        a->source = NEAR_REGISTERED;
        a->spot = s;
    } else if (from->peer.family && country_of(c, &from->peer, country)) {
        const struct city *list = cities_of(&c->cities, country, &count);
        if (count) {
            a->source = NEAR_BY_ADDRESS;
            a->spot = list->spot;
        }
    }
}

/* coord.lock held. */
static void gather_agents(struct gathering *g)
{
    struct coord *c = g->c;
    struct near_view *v = g->v;
    g->numbers = c->agent_count + 1;
    g->by_number = mem_alloc(g->numbers * sizeof(*g->by_number));
    v->agents = mem_alloc((c->agent_count + 1) * sizeof(*v->agents));
    for (size_t i = 0; i < c->agent_count; i++) {
        const struct c_agent *from = c->agents[i];
        if (!from || !from->name[0])
            continue;
        struct near_agent *a = &v->agents[v->agent_count++];
        a->number = from->number;
        a->state = agent_shown_state(c, from);
        set_text(a->name, sizeof(a->name), span_str(from->name));
        set_text(a->place, sizeof(a->place), span_str(from->place));
        place_agent(c, from, a);
        g->by_number[from->number] = v->agent_count;
    }
    v->has_hierarchy = c->hierarchy != NULL;
    g->agents = mem_alloc((v->agent_count + 1) * sizeof(*g->agents));
    for (size_t i = 0; i < v->agent_count; i++)
        g->agents[i] = vector_of(v->agents[i].spot);
    g->cities = mem_alloc((c->cities.count + 1) * sizeof(*g->cities));
    for (size_t i = 0; i < c->cities.count; i++)
        g->cities[i] = vector_of(c->cities.list[i].spot);
}

/* ---- networks ---- */

static void add(struct near_sums *s, double now, double best)
{
    s->networks++;
    if (now >= 0) {
        s->measured++;
        s->now_ms += now;
        s->best_ms += best;
    }
}

static void note_flow(struct gathering *g, size_t agent, const struct c_network *n, double now, double best)
{
    struct near_view *v = g->v;
    size_t cities = g->c->cities.count, city = guess_city(g, n), at = city;
    if (city == SIZE_MAX) {
        at = guess_agent(g, n);
        if (at == SIZE_MAX) {
            v->unplaced++;
            return;
        }
        at += cities;
    }
    uint64_t key = (uint64_t)agent * (cities + v->agent_count) + at;
    uintptr_t i = (uintptr_t)table_get(&g->flows, key);
    if (!i) {
        v->flows = mem_grow(v->flows, &g->flow_cap, v->flow_count + 1, sizeof(*v->flows));
        v->flows[v->flow_count] = (struct near_flow){.agent = agent};
        struct near_flow *f = &v->flows[v->flow_count++];
        if (at < cities) {
            f->spot = g->c->cities.list[at].spot;
            f->city = g->c->cities.list[at].name;
            memcpy(f->country, g->c->cities.list[at].country, sizeof(f->country));
        } else
            f->spot = v->agents[at - cities].spot;
        i = v->flow_count;
        table_put(&g->flows, key, (void *)i);
    }
    add(&v->flows[i - 1].sums, now, best);
}

/* Its agent's round trip (< 0: not measured) and the best one that is known. */
static double measured(const struct gathering *g, const struct c_network *n, double *best, size_t *best_agent)
{
    double now = n->rtt_us ? n->rtt_us / 1000.0 : -1;
    size_t at;
    *best = -1;
    *best_agent = SIZE_MAX;
    for (size_t i = 0; i < n->probe_count; i++) {
        const struct delegate_probe *p = &n->probes[i];
        if (p->ms < 0)
            continue;
        if (p->agent == n->agent && now < 0)
            now = p->ms; /* before a restart */
        if (*best < 0 || p->ms < *best) {
            (void)agent_by(g, p->agent, &at);
            *best = p->ms;
            *best_agent = at;
        }
    }
    if (now >= 0 && (*best < 0 || now <= *best)) {
        (void)agent_by(g, n->agent, &at);
        *best = now;
        *best_agent = at;
    }
    return now;
}

/* coord.lock held. */
static void note_network(struct gathering *g, const struct c_network *n)
{
    struct near_view *v = g->v;
    size_t at, best_agent;
    double best, now;
    if (n->state == NETWORK_FREE || !agent_by(g, n->agent, &at)) {
        v->free++;
        return;
    }
    now = measured(g, n, &best, &best_agent);
    add(&v->all, now, best);
    add(&v->agents[at].sums, now, best);
    v->trial += n->is_trial;
    v->provisional += n->is_provisional;
    v->replicated += n->is_replicated;
    note_flow(g, at, n, now, best);
    if (now < 0)
        return;
    v->near += now <= best + DELEGATE_NEAR_MS;
    v->pairs = mem_grow(v->pairs, &g->pair_cap, v->pair_count + 1, sizeof(*v->pairs));
    v->pairs[v->pair_count++] = (struct near_pair){
        .network = n->network, .agent = at, .best = best_agent, .now_ms = (float)now, .best_ms = (float)best};
}

/* ---- what is told ---- */

static int by_networks(const void *x, const void *y)
{
    const struct near_agent *a = x, *b = y;
    if (a->sums.networks != b->sums.networks)
        return a->sums.networks > b->sums.networks ? -1 : 1;
    return strcmp(a->name, b->name);
}

static int by_size(const void *x, const void *y)
{
    const struct near_flow *a = x, *b = y;
    if (a->sums.networks != b->sums.networks)
        return a->sums.networks > b->sums.networks ? -1 : 1;
    if (a->agent != b->agent)
        return a->agent < b->agent ? -1 : 1;
    return span_cmp(a->city, b->city);
}

static int by_loss(const void *x, const void *y)
{
    const struct near_pair *a = x, *b = y;
    float p = a->now_ms - a->best_ms, q = b->now_ms - b->best_ms;
    if (p != q)
        return p > q ? -1 : 1;
    return memcmp(&a->network, &b->network, sizeof(a->network));
}

/* Those that lose most, and every so manieth of the rest. */
static void choose_pairs(struct near_view *v)
{
    qsort(v->pairs, v->pair_count, sizeof(*v->pairs), by_loss);
    if (v->pair_count <= NEAR_PAIRS_MAX)
        return;
    size_t rest = v->pair_count - WORST_PAIRS, wanted = NEAR_PAIRS_MAX - WORST_PAIRS;
    for (size_t i = 0; i < wanted; i++)
        v->pairs[WORST_PAIRS + i] = v->pairs[WORST_PAIRS + i * rest / wanted];
    v->pair_count = NEAR_PAIRS_MAX;
}

/* Agents in order, and everything that names them by their place in it. */
static void sort_agents(struct near_view *v)
{
    size_t *place = mem_alloc((v->agent_count + 1) * sizeof(*place));
    uint64_t *numbers = mem_alloc((v->agent_count + 1) * sizeof(*numbers)), most = 0;
    for (size_t i = 0; i < v->agent_count; i++) {
        numbers[i] = v->agents[i].number;
        most = numbers[i] > most ? numbers[i] : most;
    }
    qsort(v->agents, v->agent_count, sizeof(*v->agents), by_networks);
    size_t *now = mem_alloc((most + 1) * sizeof(*now));
    for (size_t i = 0; i < v->agent_count; i++) {
        now[v->agents[i].number] = i;
        v->agents[i].colour = i < NEAR_COLOURS && v->agents[i].sums.networks ? (unsigned)i + 1 : 0;
    }
    for (size_t i = 0; i < v->agent_count; i++)
        place[i] = now[numbers[i]];
    for (size_t i = 0; i < v->flow_count; i++)
        v->flows[i].agent = place[v->flows[i].agent];
    for (size_t i = 0; i < v->pair_count; i++) {
        v->pairs[i].agent = place[v->pairs[i].agent];
        v->pairs[i].best = v->pairs[i].best < v->agent_count ? place[v->pairs[i].best] : SIZE_MAX;
    }
    free(place);
    free(numbers);
    free(now);
}

static struct kept *make(struct coord *c)
{
    struct gathering g = {.c = c, .v = mem_alloc(sizeof(*g.v))};
    struct near_view *v = g.v;
    size_t at = 0;
    bool is_more = true;
    mono_ms began = clock_mono();
    v->at = clock_wall();
    for (bool is_first = true; is_more; is_first = false) {
        pthread_mutex_lock(&c->lock);
        if (is_first)
            gather_agents(&g);
        for (size_t end = at + SLICE; at < end && at < c->sorted_count; at++)
            note_network(&g, c->sorted[at]);
        is_more = at < c->sorted_count;
        pthread_mutex_unlock(&c->lock);
    }
    sort_agents(v);
    if (v->flow_count)
        qsort(v->flows, v->flow_count, sizeof(*v->flows), by_size);
    v->flow_all = v->flow_count;
    if (v->flow_count > NEAR_FLOWS_MAX)
        v->flow_count = NEAR_FLOWS_MAX;
    if (v->pair_count)
        choose_pairs(v);
    table_done(&g.flows);
    free(g.by_number);
    free(g.cities);
    free(g.agents);
    v->kept.good_until = kept_until(began, NEAR_STEP_MS);
    return &v->kept;
}

/* ---- the one that is kept ---- */

static void dispose(struct kept *k)
{
    struct near_view *v = (struct near_view *)k;
    free(v->agents);
    free(v->flows);
    free(v->pairs);
    free(v);
}

static const struct kept_kind kind = {make, dispose};

const struct near_view *near_view_get(struct admin *a)
{
    return (const struct near_view *)kept_get(a, &a->near, &kind);
}

void near_view_done(struct admin *a, const struct near_view *v)
{
    kept_done(a, &v->kept, &kind);
}

void near_view_forget(struct admin *a)
{
    kept_forget(&a->near, &kind);
}
