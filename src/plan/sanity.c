#include "plan/sanity.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

#define EARTH_KM 6371.0
#define CIRCLES_MAX 24u /* the narrowest; wider ones only rule out less */
#define USUAL_DETOUR 2.5
#define USUAL_ACCESS_MS 20.0

/* ---- circles on the globe ---- */

struct vector {
    double x, y, z;
};

/* All points within `angle` (radians) of the centre. */
struct circle {
    struct vector centre;
    double angle, cosine;
    size_t report;
};

static double dot(struct vector a, struct vector b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static struct vector mix(struct vector a, double s, struct vector b, double t)
{
    return (struct vector){a.x * s + b.x * t, a.y * s + b.y * t, a.z * s + b.z * t};
}

static struct vector cross(struct vector a, struct vector b)
{
    return (struct vector){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static struct vector unit(struct vector a)
{
    double length = sqrt(dot(a, a));
    return length > 0 ? mix(a, 1 / length, a, 0) : a;
}

static struct vector vector_of(struct spot s)
{
    double latitude = (double)s.latitude * M_PI / 180, longitude = (double)s.longitude * M_PI / 180;
    return (struct vector){cos(latitude) * cos(longitude), cos(latitude) * sin(longitude), sin(latitude)};
}

/* False: the report rules nothing out. */
static bool circle_of(const struct sanity_report *r, size_t i, struct circle *out)
{
    if (!r->has_spot || !(r->ms >= 0) || !spot_is_valid(r->spot))
        return false;
    double angle = (r->ms * GEO_KM_PER_MS + SANITY_SPOT_KM) / EARTH_KM;
    if (!(angle < M_PI))
        return false;
    *out = (struct circle){vector_of(r->spot), angle, cos(angle), i};
    return true;
}

static bool is_inside(const struct circle *c, struct vector p)
{
    return dot(c->centre, p) >= c->cosine - 1e-9; /* points are made on the edges */
}

static bool is_in_all(const struct circle *c, size_t n, size_t but, struct vector p)
{
    for (size_t i = 0; i < n; i++)
        if (i != but && !is_inside(&c[i], p))
            return false;
    return true;
}

/* Where the edges cross, and the points of either edge that are nearest to the other centre: if circles have anything
 * in common, then a centre or one of these. */
static size_t corners(const struct circle *a, const struct circle *b, struct vector out[4])
{
    double c = dot(a->centre, b->centre), s2 = 1 - c * c;
    size_t n = 0;
    if (s2 < 1e-12) { /* one place; or opposite ones, where every way is the same */
        struct vector axis = fabs(a->centre.x) < 0.5 ? (struct vector){1, 0, 0} : (struct vector){0, 1, 0};
        out[0] = mix(a->centre, a->cosine, unit(cross(a->centre, axis)), sin(a->angle));
        return c < 0;
    }
    struct vector towards_b = unit(mix(b->centre, 1, a->centre, -c)),
                  towards_a = unit(mix(a->centre, 1, b->centre, -c));
    out[n++] = mix(a->centre, a->cosine, towards_b, sin(a->angle));
    out[n++] = mix(b->centre, b->cosine, towards_a, sin(b->angle));
    double s = (a->cosine - b->cosine * c) / s2, t = (b->cosine - a->cosine * c) / s2;
    struct vector middle = mix(a->centre, s, b->centre, t);
    double rest = 1 - dot(middle, middle);
    if (rest <= 0)
        return n;
    struct vector across = unit(cross(a->centre, b->centre));
    out[n++] = mix(middle, 1, across, sqrt(rest));
    out[n++] = mix(middle, 1, across, -sqrt(rest));
    return n;
}

/* Have they all, but number `but` (n: none), something in common? */
static bool do_meet(const struct circle *c, size_t n, size_t but)
{
    for (size_t i = 0; i < n; i++)
        if (i != but && is_in_all(c, n, but, c[i].centre))
            return true;
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++) {
            struct vector at[4];
            size_t count = i == but || j == but ? 0 : corners(&c[i], &c[j], at);
            for (size_t k = 0; k < count; k++)
                if (is_in_all(c, n, but, at[k]))
                    return true;
        }
    return n - (but < n) == 0;
}

static int by_angle(const void *a, const void *b)
{
    const struct circle *x = a, *y = b;
    if (x->angle != y->angle)
        return x->angle < y->angle ? -1 : 1;
    return x->report < y->report ? -1 : x->report > y->report;
}

/* ---- networks ---- */

static bool same_network(const struct hierarchy *h, const struct addr *x, const struct addr *y)
{
    struct addr a = addr_unmapped(x), b = addr_unmapped(y);
    if (addr_eq(&a, &b))
        return true;
    uint32_t node_a = h ? hierarchy_network(h, &a) : HIERARCHY_NONE;
    uint32_t node_b = h ? hierarchy_network(h, &b) : HIERARCHY_NONE;
    struct network net_a = addr_network(&a), net_b = addr_network(&b);
    return node_a || node_b ? node_a == node_b : network_eq(&net_a, &net_b);
}

/* Each against the first of its family: one that differs is enough. */
static bool find_networks(const struct hierarchy *h, const struct sanity_report *r, const bool *counts, size_t count,
                          struct sanity_finding *out)
{
    size_t first[2] = {count, count};
    for (size_t i = 0; i < count; i++) {
        struct addr a = addr_unmapped(&r[i].reached);
        if (!counts[i] || !a.family)
            continue;
        size_t *f = &first[a.family == 6];
        if (*f == count)
            *f = i;
        else if (!same_network(h, &r[*f].reached, &r[i].reached)) {
            *out = (struct sanity_finding){.kind = SANITY_NETWORKS, .a = *f, .b = i};
            return true;
        }
    }
    return false;
}

/* ---- judging ---- */

/* The one without which the others meet; n when there is none, or several. */
static size_t odd_one(const struct circle *c, size_t n)
{
    size_t odd = n;
    if (n <= SANITY_WITNESSES)
        return n;
    for (size_t i = 0; i < n; i++) {
        if (!do_meet(c, n, i))
            continue;
        if (odd < n)
            return n;
        odd = i;
    }
    return odd;
}

static void refuse(struct sanity_report *r, struct sanity_finding *out, size_t i)
{
    r[i].is_refused = true;
    out->refused++;
}

/* Those that do not count are only held against those that do. */
static void judge_probation(struct sanity_report *r, const struct circle *c, size_t n, const struct circle *new,
                            size_t new_count, struct sanity_finding *out)
{
    struct circle with[CIRCLES_MAX + 1];
    for (size_t i = 0; i < new_count; i++) {
        memcpy(with, c, n * sizeof(*with));
        with[n] = new[i];
        if (!do_meet(with, n + 1, n + 1))
            refuse(r, out, new[i].report);
    }
}

static void judge_light(struct sanity_report *r, struct circle *c, size_t n, const struct circle *new, size_t new_count,
                        struct sanity_finding *out)
{
    qsort(c, n, sizeof(*c), by_angle);
    n = n < CIRCLES_MAX ? n : CIRCLES_MAX;
    if (!do_meet(c, n, n)) {
        size_t odd = odd_one(c, n);
        if (odd == n) {
            out->kind = SANITY_LIGHT;
            return;
        }
        refuse(r, out, c[odd].report);
        c[odd] = c[--n];
    }
    if (n >= SANITY_WITNESSES)
        judge_probation(r, c, n, new, new_count, out);
}

struct turn {
    uint64_t agent;
    size_t i;
};

static int turn_cmp(const void *a, const void *b)
{
    const struct turn *x = a, *y = b;
    if (x->agent != y->agent)
        return x->agent < y->agent ? -1 : 1;
    return x->i < y->i ? -1 : x->i > y->i;
}

/* Which reports are the last of their agent and have an answer. */
static bool *list_last(const struct sanity_report *r, size_t count)
{
    bool *is_last = mem_alloc(count * sizeof(*is_last));
    struct turn *turns = mem_alloc(count * sizeof(*turns));
    for (size_t i = 0; i < count; i++)
        turns[i] = (struct turn){r[i].agent, i};
    qsort(turns, count, sizeof(*turns), turn_cmp);
    for (size_t i = 0; i < count; i++)
        is_last[turns[i].i] = (i + 1 == count || turns[i + 1].agent != turns[i].agent) && r[turns[i].i].ms >= 0;
    free(turns);
    return is_last;
}

void sanity_judge(const struct hierarchy *h, struct sanity_report *reports, size_t count, struct sanity_finding *out)
{
    size_t trusted = 0, n = 0, new_count = 0;
    *out = (struct sanity_finding){.kind = SANITY_ONE_PLACE};
    for (size_t i = 0; i < count; i++)
        reports[i].is_refused = false;
    if (count < 2)
        return;
    bool *any = list_last(reports, count), *counts = mem_alloc(count * sizeof(*counts));
    for (size_t i = 0; i < count; i++)
        trusted += any[i] && reports[i].is_trusted;
    for (size_t i = 0; i < count; i++)
        counts[i] = any[i] && (reports[i].is_trusted || trusted < SANITY_WITNESSES);
    struct circle *c = mem_alloc(count * sizeof(*c)), *new = mem_alloc(count * sizeof(*new));
    if (!find_networks(h, reports, counts, count, out)) {
        for (size_t i = 0; i < count; i++)
            n += counts[i] && circle_of(&reports[i], i, &c[n]);
        for (size_t i = 0; i < count; i++)
            new_count += any[i] && !counts[i] && circle_of(&reports[i], i, &new[new_count]);
        judge_light(reports, c, n, new, new_count, out);
    }
    free(new);
    free(c);
    free(counts);
    free(any);
}

/* ---- second looks ---- */

static uint64_t draw(const struct sip_key *key, const struct network *n, uint64_t agent, uint8_t what)
{
    unsigned char text[sizeof(agent) + 3 + sizeof(n->first.b)];
    memcpy(text, &agent, sizeof(agent));
    text[sizeof(agent)] = what;
    text[sizeof(agent) + 1] = n->first.family;
    text[sizeof(agent) + 2] = n->bits;
    memcpy(text + sizeof(agent) + 3, n->first.b, sizeof(n->first.b));
    return siphash(key, span_of(text, sizeof(text)));
}

bool sanity_wants_look(const struct sip_key *key, const struct network *n, uint64_t agent)
{
    return draw(key, n, agent, 'l') % SANITY_ONE_IN == 0;
}

size_t sanity_looker(const struct sip_key *key, const struct network *n, uint64_t agent, size_t count)
{
    return (size_t)(draw(key, n, agent, 'w') % count);
}

sanity_look sanity_judge_look(const struct hierarchy *h, const struct sanity_second *s)
{
    if (s->is_replicated || !(s->claim.ms >= 0) || !(s->look.ms >= 0))
        return LOOK_UNSURE;
    if (s->claim.reached.family && s->look.reached.family && !same_network(h, &s->claim.reached, &s->look.reached))
        return LOOK_UNSURE;
    struct circle c[2];
    bool has_spots = s->claim.has_spot && s->look.has_spot;
    if (circle_of(&s->claim, 0, &c[0]) && circle_of(&s->look, 1, &c[1]) && !do_meet(c, 2, 2))
        return LOOK_BAD;
    double between = s->between_ms;
    if (!(between >= 0) && has_spots)
        between = USUAL_DETOUR * geo_light_ms(geo_km(s->claim.spot, s->look.spot)) + USUAL_ACCESS_MS;
    if (!(between >= 0))
        return LOOK_UNSURE;
    return s->look.ms > SANITY_DETOUR * (s->claim.ms + between) + SANITY_SLACK_MS ? LOOK_BAD : LOOK_GOOD;
}

bool sanity_is_liar(uint64_t good, uint64_t bad)
{
    return bad >= SANITY_BAD_LOOKS && bad * 3 >= good + bad;
}
