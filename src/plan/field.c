/* The numbers were found by search on worlds of twelve agents other than those that figures are given for
 * (docs/results.md); each may be halved or doubled at a small loss. */
#include "plan/field.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define EARTH_KM 6371.0f
#define LINE_MS 8.0f           /* the line: at no distance, */
#define LINE_MS_A_KM 0.0145f   /* and how steep; light in fibre is 0.01 */
#define SPREAD_MS 8.0f         /* usual spread at no distance, */
#define SPREAD_OF_LINE 0.33f   /* and as a share of the line */
#define REACH_KM 600.0f        /* over which leftovers of two places become strangers */
#define REACH_AGENTS_KM 300.0f /* and those of two agents */
#define COMMON 0.2f       /* what leftovers of any two agents share: a place that is badly connected is so to all */
#define OWN 0.35f         /* what a place has of its own, shared with no neighbour */
#define ABROAD 0.6f       /* likeness across a border */
#define BIAS_MS 5.0f      /* how much one agent may be slower than the line, to everywhere */
#define BIAS_KM 300.0f    /* below this the bias is taken in part */
#define GRID_KM 120.0f    /* no two cities of a country nearer than this, */
#define GRID_MAX 40       /* and no more than this many of them */
#define PEOPLE_POWER 0.7f /* sites follow people less than in proportion */
#define NEIGHBOURS 24
#define POINTS 16        /* that a prediction rests on */
#define WORTH_MIN 0.01f  /* points that tell less are left out */
#define COMPANIONS 16    /* agents whose measurements count for another's */
#define HOST_PEOPLE 1e6f /* where somebody runs an agent others run servers: it counts like a city of so many */
#define HOME_MS 2.0      /* to sites of its own city, and how uncertain that is */
#define HOME_SPREAD_MS 1.0
#define VARIANCE_MIN 0.004f
#define ALIKE_ENOUGH 0.21f /* agents less alike are not predicted anew when one of them has measured */
#define MISSED 0.02f       /* a prediction that has missed more than this is made anew */
#define NEAREST_MAX 64
#define ANYWHERE_PEOPLE 4000000u

/* All that an agent measured at a place, as one value. */
struct datum {
    uint32_t slot;
    float precision; /* 1 / ms^2 */
    float sum;       /* of precision * ms */
};

struct guess {
    uint32_t slot;
    float ms, spread;
    float missed; /* how much was learned since that would change it, as a share of its variance */
};

struct node {
    struct field_place place;
    uint32_t people;
    float at[3];        /* on the unit sphere */
    struct datum *data; /* owned, by slot */
    size_t data_count, data_cap;
    struct guess *guesses; /* owned: kept predictions, by slot */
    size_t guess_count, guess_cap;
    uint32_t neighbours[NEIGHBOURS]; /* nearest first, itself among them; see f->shape */
    unsigned neighbour_count;
    float *km;      /* owned: to every agent, by slot */
    uint32_t shape; /* of the field when neighbours and distances were found */
};

struct f_agent {
    bool is_there;
    float at[3];
    struct spot spot;
    uint32_t node;
    float bias;
    uint32_t companions[COMPANIONS]; /* the nearest agents, itself first */
    unsigned companion_count;
};

struct field {
    struct node *nodes; /* owned */
    size_t count, cap;
    struct f_agent *agents; /* owned, by slot */
    size_t slots, slot_cap, agent_count;
    uint32_t shape; /* grows when places or agents come, go or move */
    float *alike;   /* owned: slots x slots, likeness of agents */
    bool has_moved; /* agents came, went or moved: `alike` and companions are made anew before they are used */
    bool is_biased; /* what they measured to each other changed: so are their biases */
};

/* ---- geometry ---- */

static void unit(struct spot s, float at[3])
{
    float la = s.latitude * (float)M_PI / 180, lo = s.longitude * (float)M_PI / 180;
    at[0] = cosf(la) * cosf(lo);
    at[1] = cosf(la) * sinf(lo);
    at[2] = sinf(la);
}

/* Straight through the Earth: nearly the distance where it matters, and cheap. */
static float chord_km(const float a[3], const float b[3])
{
    float x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return EARTH_KM * sqrtf(x * x + y * y + z * z);
}

static float arc_km(const float a[3], const float b[3])
{
    float half = chord_km(a, b) / (2 * EARTH_KM);
    return 2 * EARTH_KM * asinf(half < 1 ? half : 1);
}

/* ---- places ---- */

static const char anywhere[3] = "";

static bool same_country(const struct node *a, const struct node *b)
{
    return memcmp(a->place.country, b->place.country, sizeof(a->place.country)) == 0;
}

static uint32_t add_node(struct field *f, struct spot spot, const char country[3], struct span name)
{
    f->nodes = mem_grow(f->nodes, &f->cap, f->count + 1, sizeof(*f->nodes));
    struct node *n = &f->nodes[f->count];
    memset(n, 0, sizeof(*n));
    n->place.spot = spot;
    n->place.name = name;
    memcpy(n->place.country, country, sizeof(n->place.country));
    unit(spot, n->at);
    f->shape++;
    return (uint32_t)f->count++;
}

/* The nearest node from `from` on (of a country, unless that is ""), and how far. UINT32_MAX. */
static uint32_t nearest_node(const struct field *f, size_t from, const float at[3], const char country[3], float *km)
{
    uint32_t best = UINT32_MAX;
    float best_km = INFINITY;
    for (size_t i = from; i < f->count; i++) {
        float d = chord_km(f->nodes[i].at, at);
        if (d < best_km && (!country[0] || memcmp(f->nodes[i].place.country, country, 3) == 0)) {
            best_km = d;
            best = (uint32_t)i;
        }
    }
    *km = best_km;
    return best;
}

static void add_cities(struct field *f, const struct cities *cities)
{
    size_t begin = 0;
    for (size_t i = 0; i < cities->count; i++) {
        const struct city *c = &cities->list[i];
        float at[3], km;
        if (i && memcmp(c->country, c[-1].country, sizeof(c->country)) != 0)
            begin = f->count;
        unit(c->spot, at);
        if (f->count - begin >= GRID_MAX || (nearest_node(f, begin, at, c->country, &km) != UINT32_MAX && km < GRID_KM))
            continue;
        uint32_t new = add_node(f, c->spot, c->country, c->name);
        struct node *n = &f->nodes[new];
        n->people = c->people;
        n->place.weight = powf((float)c->people, PEOPLE_POWER);
    }
}

struct field *field_new(const struct cities *cities)
{
    struct field *f = mem_alloc(sizeof(*f));
    if (cities)
        add_cities(f, cities);
    return f;
}

void field_free(struct field *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->count; i++) {
        free(f->nodes[i].data);
        free(f->nodes[i].guesses);
        free(f->nodes[i].km);
    }
    free(f->alike);
    free(f->nodes);
    free(f->agents);
    free(f);
}

size_t field_count(const struct field *f)
{
    return f->count;
}

const struct field_place *field_place(const struct field *f, uint32_t place)
{
    return &f->nodes[place].place;
}

size_t field_places_of(const struct field *f, const char country[3], uint32_t *out, size_t max)
{
    size_t n = 0;
    for (size_t i = 0; i < f->count && n < max; i++)
        if (memcmp(f->nodes[i].place.country, country, sizeof(f->nodes[i].place.country)) == 0)
            out[n++] = (uint32_t)i;
    return n;
}

size_t field_places_anywhere(const struct field *f, uint32_t *out, size_t max)
{
    size_t n = 0;
    for (size_t s = 0; s < f->slots && n < max / 2; s++)
        if (f->agents[s].is_there)
            out[n++] = f->agents[s].node;
    for (size_t i = 0; i < f->count && n < max; i++)
        if (f->nodes[i].people >= ANYWHERE_PEOPLE)
            out[n++] = (uint32_t)i;
    return n;
}

uint32_t field_place_near(const struct field *f, struct spot spot)
{
    float at[3], km;
    unit(spot, at);
    return nearest_node(f, 0, at, anywhere, &km);
}

/* ---- agents ---- */

bool field_agent_is_there(const struct field *f, uint32_t slot)
{
    return slot < f->slots && f->agents[slot].is_there;
}

/* An agent's spot is a place too. A city of the grid that is as good as there moves there. */
static uint32_t node_for(struct field *f, const float at[3], struct spot spot, const char said[3])
{
    float km;
    uint32_t near = nearest_node(f, 0, at, said, &km);
    char country[3];
    if (near == UINT32_MAX)
        return add_node(f, spot, said, (struct span){0});
    memcpy(country, f->nodes[near].place.country, sizeof(country));
    bool is_taken = false;
    for (size_t s = 0; s < f->slots; s++)
        is_taken |= f->agents[s].is_there && f->agents[s].node == near;
    if (km >= GRID_KM || (is_taken && km > 1))
        return add_node(f, spot, country, (struct span){0});
    struct node *n = &f->nodes[near];
    n->place.spot = spot;
    memcpy(n->at, at, sizeof(n->at));
    f->shape++;
    return near;
}

static size_t datum_place(const struct node *n, uint32_t slot)
{
    size_t from = 0, to = n->data_count;
    while (from < to) {
        size_t mid = from + (to - from) / 2;
        if (n->data[mid].slot < slot)
            from = mid + 1;
        else
            to = mid;
    }
    return from;
}

static void add_datum(struct field *f, struct node *n, uint32_t slot, double ms, double precision)
{
    size_t at = datum_place(n, slot);
    if (at == n->data_count || n->data[at].slot != slot) {
        n->data = mem_grow(n->data, &n->data_cap, n->data_count + 1, sizeof(*n->data));
        memmove(&n->data[at + 1], &n->data[at], (n->data_count - at) * sizeof(*n->data));
        n->data_count++;
        n->data[at] = (struct datum){.slot = slot};
    }
    n->data[at].precision += (float)precision;
    n->data[at].sum += (float)(precision * ms);
}

void field_agent_put(struct field *f, uint32_t slot, struct spot spot, const char country[3])
{
    size_t had = f->slots;
    if (slot >= f->slots) {
        f->agents = mem_grow(f->agents, &f->slot_cap, (size_t)slot + 1, sizeof(*f->agents));
        f->slots = (size_t)slot + 1;
        memset(&f->agents[had], 0, (f->slots - had) * sizeof(*f->agents));
    }
    struct f_agent *a = &f->agents[slot];
    if (a->is_there && a->spot.latitude == spot.latitude && a->spot.longitude == spot.longitude)
        return;
    if (a->is_there)
        field_agent_remove(f, slot);
    unit(spot, a->at);
    a->spot = spot;
    a->node = node_for(f, a->at, spot, country);
    struct field_place *home = &f->nodes[a->node].place;
    home->weight = fmaxf(home->weight, powf(HOST_PEOPLE, PEOPLE_POWER));
    a->is_there = true;
    add_datum(f, &f->nodes[a->node], slot, HOME_MS, 1 / (HOME_SPREAD_MS * HOME_SPREAD_MS));
    f->agent_count++;
    f->shape++;
    f->has_moved = f->is_biased = true;
}

static const struct datum *datum_of(const struct node *n, uint32_t slot)
{
    size_t at = datum_place(n, slot);
    return at < n->data_count && n->data[at].slot == slot ? &n->data[at] : NULL;
}

void field_agent_remove(struct field *f, uint32_t slot)
{
    if (!field_agent_is_there(f, slot))
        return;
    for (size_t i = 0; i < f->count; i++) {
        struct node *n = &f->nodes[i];
        size_t at = datum_place(n, slot);
        if (at < n->data_count && n->data[at].slot == slot) {
            n->data_count--;
            memmove(&n->data[at], &n->data[at + 1], (n->data_count - at) * sizeof(*n->data));
        }
        n->guess_count = 0;
    }
    f->agents[slot].is_there = false;
    f->agent_count--;
    f->shape++;
    f->has_moved = f->is_biased = true;
}

static float line_ms(const struct f_agent *a, float km)
{
    return LINE_MS + LINE_MS_A_KM * km + a->bias * (km < BIAS_KM ? km / BIAS_KM : 1);
}

static float usual_spread(float km)
{
    return SPREAD_MS + SPREAD_OF_LINE * LINE_MS_A_KM * km;
}

static void find_companions(struct field *f, uint32_t slot)
{
    struct f_agent *a = &f->agents[slot];
    float km[COMPANIONS];
    unsigned n = 0;
    for (uint32_t s = 0; s < f->slots; s++) {
        if (!f->agents[s].is_there)
            continue;
        float d = s == slot ? -1 : chord_km(a->at, f->agents[s].at);
        if (n == COMPANIONS && d >= km[n - 1])
            continue;
        unsigned at = n < COMPANIONS ? n++ : n - 1;
        for (; at && km[at - 1] > d; at--) {
            km[at] = km[at - 1];
            a->companions[at] = a->companions[at - 1];
        }
        km[at] = d;
        a->companions[at] = s;
    }
    a->companion_count = n;
}

/* An agent that is slow to all the others is slow to everything: a ridge regression on what they measured to each
 * other, half of a leftover being the other's share; a few sweeps are enough. */
static void find_biases(struct field *f)
{
    for (uint32_t s = 0; s < f->slots; s++)
        f->agents[s].bias = 0;
    for (int sweep = 0; sweep < 8; sweep++)
        for (uint32_t s = 0; s < f->slots; s++) {
            struct f_agent *a = &f->agents[s];
            float sum = 0, weight = 1 / (BIAS_MS * BIAS_MS);
            for (uint32_t o = 0; a->is_there && o < f->slots; o++) {
                const struct f_agent *b = &f->agents[o];
                const struct datum *d = o != s && b->is_there ? datum_of(&f->nodes[b->node], s) : NULL;
                if (!d)
                    continue;
                float km = arc_km(a->at, b->at), spread = usual_spread(km);
                sum += (d->sum / d->precision - LINE_MS - LINE_MS_A_KM * km - b->bias / 2) / (spread * spread);
                weight += 1 / (spread * spread);
            }
            a->bias = sum / weight;
        }
}

static float likeness(const struct f_agent *a, const struct f_agent *b)
{
    if (a == b)
        return 1;
    return COMMON + (1 - COMMON) * 0.98f * expf(-arc_km(a->at, b->at) / REACH_AGENTS_KM);
}

static void compare_agents(struct field *f)
{
    free(f->alike);
    f->alike = mem_alloc(f->slots * f->slots * sizeof(*f->alike));
    for (uint32_t s = 0; s < f->slots; s++) {
        const struct f_agent *a = &f->agents[s];
        for (uint32_t o = 0; a->is_there && o < f->slots; o++)
            f->alike[s * f->slots + o] = f->agents[o].is_there ? likeness(a, &f->agents[o]) : 0;
        if (a->is_there)
            find_companions(f, s);
    }
}

static void freshen(struct field *f)
{
    if (!f->has_moved && !f->is_biased)
        return;
    if (f->has_moved)
        compare_agents(f);
    find_biases(f);
    f->has_moved = f->is_biased = false;
    for (size_t i = 0; i < f->count; i++)
        f->nodes[i].guess_count = 0;
}

static float alike(const struct field *f, uint32_t a, uint32_t b)
{
    return f->alike[a * f->slots + b];
}

float field_likeness(struct field *f, uint32_t a, uint32_t b)
{
    freshen(f);
    return alike(f, a, b);
}

/* ---- predictions ---- */

/* Neighbours, and how far every agent is. */
static void look_round(struct field *f, struct node *n)
{
    float km[NEIGHBOURS];
    free(n->km);
    n->km = mem_alloc((f->slots + 1) * sizeof(*n->km));
    for (uint32_t s = 0; s < f->slots; s++)
        n->km[s] = f->agents[s].is_there ? arc_km(f->agents[s].at, n->at) : 0;
    n->guess_count = 0;
    unsigned count = 0;
    for (size_t i = 0; i < f->count; i++) {
        float d = chord_km(n->at, f->nodes[i].at);
        if (d > 3 * REACH_KM)
            continue;
        d *= same_country(n, &f->nodes[i]) ? 1 : 1.5f;
        if (count == NEIGHBOURS && d >= km[count - 1])
            continue;
        unsigned at = count < NEIGHBOURS ? count++ : count - 1;
        for (; at && km[at - 1] > d; at--) {
            km[at] = km[at - 1];
            n->neighbours[at] = n->neighbours[at - 1];
        }
        km[at] = d;
        n->neighbours[at] = (uint32_t)i;
    }
    n->neighbour_count = count;
    n->shape = f->shape;
}

static float place_likeness(const struct node *a, const struct node *b)
{
    if (a == b)
        return 1;
    return (same_country(a, b) ? 1 : ABROAD) * (1 - OWN) * expf(-chord_km(a->at, b->at) / REACH_KM);
}

/* What a prediction rests on. */
struct point {
    const struct node *node;
    uint32_t slot;
    float likeness; /* with what is predicted */
    float noise;    /* variance of the value, in units of the usual spread */
    float value;    /* leftover, in units of the usual spread */
    float worth;    /* how much it tells: likeness^2 / (1 + noise) */
};

static void add_point(struct point *points, unsigned *count, const struct point *p)
{
    if (*count == POINTS && p->worth <= points[POINTS - 1].worth)
        return;
    unsigned at = *count < POINTS ? (*count)++ : POINTS - 1;
    for (; at && points[at - 1].worth < p->worth; at--)
        points[at] = points[at - 1];
    points[at] = *p;
}

static unsigned find_points(struct field *f, struct node *n, uint32_t slot, struct point points[POINTS])
{
    const struct f_agent *a = &f->agents[slot];
    unsigned count = 0;
    for (unsigned i = 0; i < n->neighbour_count; i++) {
        struct node *o = &f->nodes[n->neighbours[i]];
        float near = o->data_count ? place_likeness(n, o) : 0;
        if (o->shape != f->shape)
            look_round(f, o);
        for (unsigned k = 0; near >= 0.05f && k < a->companion_count; k++) {
            uint32_t s = a->companions[k];
            struct point p = {.node = o, .slot = s, .likeness = near * alike(f, slot, s)};
            float most = p.likeness * p.likeness; /* of its worth, and of all after it: they are farther */
            if (most < WORTH_MIN || (count == POINTS && most <= points[POINTS - 1].worth))
                break;
            const struct datum *d = datum_of(o, s);
            if (!d)
                continue;
            float km = o->km[s], spread = usual_spread(km);
            p.noise = 1 / (d->precision * spread * spread);
            p.worth = p.likeness * p.likeness / (1 + p.noise);
            if (p.worth < WORTH_MIN)
                continue;
            p.value = (d->sum / d->precision - line_ms(&f->agents[s], km)) / spread;
            add_point(points, &count, &p);
        }
    }
    return count;
}

/* Cholesky, in place, lower triangle; false when it is no covariance after all. */
static bool factor(float m[POINTS][POINTS], unsigned n)
{
    for (unsigned j = 0; j < n; j++) {
        float s = m[j][j];
        for (unsigned k = 0; k < j; k++)
            s -= m[j][k] * m[j][k];
        if (s < 1e-6f)
            return false;
        m[j][j] = s = sqrtf(s);
        for (unsigned i = j + 1; i < n; i++) {
            float t = m[i][j];
            for (unsigned k = 0; k < j; k++)
                t -= m[i][k] * m[j][k];
            m[i][j] = t / s;
        }
    }
    return true;
}

/* The best linear guess from the points: simple kriging. */
static void predict(struct field *f, struct node *n, uint32_t slot, float *ms, float *spread)
{
    const struct f_agent *a = &f->agents[slot];
    struct point points[POINTS];
    float m[POINTS][POINTS], y[POINTS], z[POINTS], value = 0, left = 1;
    float km = n->km[slot], usual = usual_spread(km);
    unsigned count = find_points(f, n, slot, points);
    for (unsigned i = 0; i < count; i++)
        for (unsigned k = 0; k <= i; k++)
            m[i][k] = i == k
                          ? 1 + points[i].noise
                          : place_likeness(points[i].node, points[k].node) * alike(f, points[i].slot, points[k].slot);
    if (factor(m, count))
        for (unsigned i = 0; i < count; i++) {
            y[i] = points[i].value;
            z[i] = points[i].likeness;
            for (unsigned k = 0; k < i; k++) {
                y[i] -= m[i][k] * y[k];
                z[i] -= m[i][k] * z[k];
            }
            y[i] /= m[i][i];
            z[i] /= m[i][i];
            value += y[i] * z[i];
            left -= z[i] * z[i];
        }
    *ms = fmaxf(line_ms(a, km) + usual * value, km / (float)GEO_KM_PER_MS);
    *spread = usual * sqrtf(fmaxf(left, VARIANCE_MIN));
}

static const struct guess *guess_of(struct field *f, struct node *n, uint32_t slot)
{
    size_t at = 0, to = n->guess_count;
    while (at < to) {
        size_t mid = at + (to - at) / 2;
        if (n->guesses[mid].slot < slot)
            at = mid + 1;
        else
            to = mid;
    }
    if (at == n->guess_count || n->guesses[at].slot != slot) {
        struct guess g = {.slot = slot};
        predict(f, n, slot, &g.ms, &g.spread);
        n->guesses = mem_grow(n->guesses, &n->guess_cap, n->guess_count + 1, sizeof(*n->guesses));
        memmove(&n->guesses[at + 1], &n->guesses[at], (n->guess_count - at) * sizeof(*n->guesses));
        n->guess_count++;
        n->guesses[at] = g;
    }
    return &n->guesses[at];
}

void field_predict(struct field *f, uint32_t place, const uint32_t *slots, size_t count, float *ms, float *spread)
{
    freshen(f);
    struct node *n = &f->nodes[place];
    if (n->shape != f->shape)
        look_round(f, n);
    for (size_t i = 0; i < count; i++) {
        assert(field_agent_is_there(f, slots[i]));
        const struct guess *g = guess_of(f, n, slots[i]);
        ms[i] = g->ms;
        spread[i] = g->spread;
    }
}

float field_light_ms(const struct field *f, uint32_t place, uint32_t slot)
{
    return arc_km(f->agents[slot].at, f->nodes[place].at) / (float)GEO_KM_PER_MS;
}

size_t field_nearest(const struct field *f, uint32_t place, const struct owner_set *among, uint32_t *out, size_t max)
{
    const struct node *n = &f->nodes[place];
    float far[NEAREST_MAX]; /* squares will do */
    size_t count = 0;
    max = max < NEAREST_MAX ? max : NEAREST_MAX;
    for (uint32_t s = 0; s < f->slots && max; s++) {
        const struct f_agent *a = &f->agents[s];
        float x = n->at[0] - a->at[0], y = n->at[1] - a->at[1], z = n->at[2] - a->at[2], d = x * x + y * y + z * z;
        if ((count == max && d >= far[count - 1]) || !a->is_there || (among && !owner_set_has(among, s)))
            continue;
        size_t at = count < max ? count++ : count - 1;
        for (; at && far[at - 1] > d; at--) {
            far[at] = far[at - 1];
            out[at] = out[at - 1];
        }
        far[at] = d;
        out[at] = s;
    }
    return count;
}

/* ---- learning ---- */

void field_agent_rtt(struct field *f, uint32_t a, uint32_t b, double ms)
{
    if (a == b || !field_agent_is_there(f, a) || !field_agent_is_there(f, b) || !(ms > 0))
        return;
    add_datum(f, &f->nodes[f->agents[b].node], a, ms, 1);
    add_datum(f, &f->nodes[f->agents[a].node], b, ms, 1);
    f->is_biased = true;
}

/* Those that measurements at `from` by this agent would change by more than a little. What is well known changes
 * little, and most measurements are made where much is known: so a decision does not cost more as sites grow. */
static void forget_guesses(const struct field *f, const struct node *from, struct node *n, uint32_t slot,
                           float variance)
{
    size_t kept = 0;
    float near = place_likeness(from, n);
    for (size_t i = 0; i < n->guess_count; i++) {
        struct guess *g = &n->guesses[i];
        float like = near * alike(f, g->slot, slot), usual = usual_spread(n->km[g->slot]);
        float left = g->spread * g->spread / (usual * usual);
        g->missed += like * like * left / (left + variance / (usual * usual));
        if (alike(f, g->slot, slot) < ALIKE_ENOUGH || g->missed < MISSED)
            n->guesses[kept++] = *g;
    }
    n->guess_count = kept;
}

void field_learn(struct field *f, uint32_t place, uint32_t slot, double ms, double variance, double share)
{
    struct node *n = &f->nodes[place];
    if (!field_agent_is_there(f, slot) || !(variance > 0))
        return;
    add_datum(f, n, slot, ms, share / variance);
    if (n->shape != f->shape)
        look_round(f, n);
    freshen(f);
    for (unsigned i = 0; i < n->neighbour_count; i++)
        if (f->nodes[n->neighbours[i]].shape == f->shape) /* else they are forgotten anyway */
            forget_guesses(f, n, &f->nodes[n->neighbours[i]], slot, (float)(variance / share));
}

void field_learn_site(struct field *f, uint32_t place, double share)
{
    f->nodes[place].place.sites += (float)share;
}
