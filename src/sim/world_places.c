#include "sim/world_places.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/siphash.h"
#include "base/table.h"
#include "sim/tsv.h"

#define SAME_PLACE_MS 0.5
#define MISSING_SHARE_MAX 0.1

/* ---- drawing ---- */

static void weigh(struct places *p, const uint32_t *people)
{
    double sum = 0;
    p->weight = mem_alloc((p->count ? p->count : 1) * sizeof(*p->weight));
    for (size_t i = 0; i < p->count; i++) {
        /* By its root: a city of ten million has more servers than one of a hundred thousand, not a hundred times. */
        sum += people ? sqrt((double)(people[i] ? people[i] : 1)) : 1;
        p->weight[i] = sum;
    }
}

/* The place in [first, first + n) that a number below its last sum falls to. */
static size_t draw_in(const struct places *p, size_t first, size_t n, struct rng *r)
{
    double before = first ? p->weight[first - 1] : 0;
    double x = before + rng_unit(r) * (p->weight[first + n - 1] - before);
    size_t low = first, high = first + n - 1;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (p->weight[mid] > x)
            high = mid;
        else
            low = mid + 1;
    }
    return low;
}

double places_weight(const struct places *p, size_t i)
{
    return p->weight[i] - (i ? p->weight[i - 1] : 0);
}

size_t places_draw(const struct places *p, struct rng *r)
{
    return draw_in(p, 0, p->count, r);
}

static size_t country_bound(const struct places *p, const char *country, bool is_upper)
{
    size_t low = 0, high = p->count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        int order = strncmp(p->list[mid].country, country, 2);
        if (order < 0 || (is_upper && order == 0))
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

bool places_draw_in(const struct places *p, const char *country, struct rng *r, size_t *out)
{
    size_t first = country_bound(p, country, false), end = country_bound(p, country, true);
    if (first == end)
        return false;
    *out = draw_in(p, first, end - first, r);
    return true;
}

void places_from_cities(const struct cities *c, struct places *out)
{
    *out = (struct places){.count = c->count};
    arena_init(&out->text);
    uint32_t *people = mem_alloc((c->count ? c->count : 1) * sizeof(*people));
    out->list = mem_alloc((c->count ? c->count : 1) * sizeof(*out->list));
    for (size_t i = 0; i < c->count; i++) {
        out->list[i] = (struct place_spot){.spot = c->list[i].spot, .name = c->list[i].name};
        memcpy(out->list[i].country, c->list[i].country, sizeof(out->list[i].country));
        people[i] = c->list[i].people;
    }
    weigh(out, people);
    free(people);
}

void places_done(struct places *p)
{
    free(p->list);
    free(p->weight);
    free(p->ms);
    arena_done(&p->text);
    *p = (struct places){0};
}

/* ---- a matrix ---- */

struct node {
    struct place_spot at;
    bool has_spot;
};

struct reading {
    struct arena *text;
    struct node *nodes;
    size_t count, cap;
    struct table by_name; /* hash -> number + 1 */
    float *ms;            /* PLACES_MATRIX_MAX wide while it grows */
};

static int column_of(const struct tsv *t, const char *const *names)
{
    int at = -1;
    for (; at < 0 && *names; names++)
        at = tsv_column(t, *names);
    return at;
}

static size_t node_of(struct reading *r, struct span name)
{
    static const struct sip_key key = {1, 2};
    uint64_t h = siphash(&key, name);
    uintptr_t at = (uintptr_t)table_get(&r->by_name, h);
    if (at)
        return at - 1;
    if (r->count == PLACES_MATRIX_MAX)
        return SIZE_MAX;
    r->nodes = mem_grow(r->nodes, &r->cap, r->count + 1, sizeof(*r->nodes));
    r->nodes[r->count++] = (struct node){.at.name = arena_copy(r->text, name)};
    table_put(&r->by_name, h, (void *)(uintptr_t)r->count);
    return r->count - 1;
}

static bool is_country(struct span s)
{
    return s.n == 2 && ascii_is_alpha(s.p[0]) && ascii_is_alpha(s.p[1]);
}

static status read_node_spot(const struct tsv *t, int lat, int lon, int country, struct node *n, struct buf *why)
{
    double north, east;
    status st = tsv_real(t, lat, -90, 90, &north, why);
    if (st == ST_OK)
        st = tsv_real(t, lon, -180, 180, &east, why);
    if (st != ST_OK)
        return st;
    struct span c = tsv_cell(t, country);
    n->at.spot = (struct spot){(float)north, (float)east};
    n->has_spot = true;
    if (is_country(c)) {
        n->at.country[0] = (char)(c.p[0] & ~0x20);
        n->at.country[1] = (char)(c.p[1] & ~0x20);
    }
    return ST_OK;
}

static status read_pair(const struct tsv *t, const int *at, struct reading *r, struct buf *why)
{
    double ms;
    struct span a = tsv_cell(t, at[0]), b = tsv_cell(t, at[1]);
    if (!a.n || !b.n)
        return tsv_complain(t, why, "a pair needs two names");
    if (!tsv_cell(t, at[2]).n)
        return ST_OK; /* not measured */
    status st = tsv_real(t, at[2], 0, 1e6, &ms, why);
    size_t x = node_of(r, a), y = node_of(r, b);
    if (st == ST_OK && (x == SIZE_MAX || y == SIZE_MAX)) {
        (void)tsv_complain(t, why, "more than %d nodes", PLACES_MATRIX_MAX);
        return ST_LIMIT;
    }
    if (st == ST_OK && ms > 0 && x != y) {
        float *ab = &r->ms[x * PLACES_MATRIX_MAX + y], *ba = &r->ms[y * PLACES_MATRIX_MAX + x];
        *ab = *ba = *ab < 0 || (float)ms < *ab ? (float)ms : *ab;
    }
    if (st == ST_OK && at[3] >= 0)
        st = read_node_spot(t, at[3], at[4], at[7], &r->nodes[x], why);
    if (st == ST_OK && at[5] >= 0)
        st = read_node_spot(t, at[5], at[6], at[8], &r->nodes[y], why);
    return st;
}

static status read_pairs(const char *path, struct reading *r, struct buf *why)
{
    static const char *const from[] = {"a", "source", "from", NULL}, *const to[] = {"b", "destination", "to", NULL},
                             *const time[] = {"ms", "avg", "rtt", "rtt_ms", NULL};
    struct tsv *t = NULL;
    status st = tsv_open(path, true, &t, why);
    int at[9] = {-1, -1, -1, -1, -1, -1, -1, -1, -1};
    if (st == ST_OK) {
        const char *const rest[] = {"a_lat", "a_lon", "b_lat", "b_lon", "a_country", "b_country"};
        at[0] = column_of(t, from);
        at[1] = column_of(t, to);
        at[2] = column_of(t, time);
        for (size_t i = 0; i < 6; i++)
            at[3 + i] = tsv_column(t, rest[i]);
        if (at[0] < 0 || at[1] < 0 || at[2] < 0)
            st = tsv_complain(t, why, "columns a, b and ms are wanted");
    }
    while (st == ST_OK) {
        st = tsv_next(t, why);
        if (st == ST_OK)
            st = read_pair(t, at, r, why);
    }
    tsv_free(t);
    return st == ST_END ? ST_OK : st;
}

static status read_nodes(const char *path, struct reading *r, struct buf *why)
{
    static const char *const id[] = {"id", "name", "node", NULL}, *const lat[] = {"lat", "latitude", NULL},
                             *const lon[] = {"lon", "longitude", "lng", NULL};
    static const struct sip_key key = {1, 2};
    struct tsv *t = NULL;
    status st = tsv_open(path, true, &t, why);
    int at[5] = {-1, -1, -1, -1, -1};
    if (st == ST_OK) {
        at[0] = column_of(t, id);
        at[1] = column_of(t, lat);
        at[2] = column_of(t, lon);
        at[3] = tsv_column(t, "country");
        at[4] = tsv_column(t, "name");
        if (at[0] < 0 || at[1] < 0 || at[2] < 0)
            st = tsv_complain(t, why, "columns id (or name), lat and lon are wanted");
    }
    while (st == ST_OK) {
        st = tsv_next(t, why);
        if (st != ST_OK)
            break;
        uintptr_t n = (uintptr_t)table_get(&r->by_name, siphash(&key, tsv_cell(t, at[0])));
        if (!n)
            continue;
        st = read_node_spot(t, at[1], at[2], at[3], &r->nodes[n - 1], why);
        if (st == ST_OK && tsv_cell(t, at[4]).n)
            r->nodes[n - 1].at.name = arena_copy(r->text, tsv_cell(t, at[4]));
    }
    tsv_free(t);
    return st == ST_END ? ST_OK : st;
}

static void name_country(struct node *n, const struct cities *c)
{
    double best = INFINITY;
    for (size_t i = 0; !n->at.country[0] && i < c->count; i++) {
        double km = geo_km(n->at.spot, c->list[i].spot);
        if (km < best)
            best = km;
    }
    for (size_t i = 0; !n->at.country[0] && i < c->count; i++)
        if (geo_km(n->at.spot, c->list[i].spot) <= best)
            memcpy(n->at.country, c->list[i].country, sizeof(n->at.country));
}

static bool knows(const struct reading *r, size_t i, size_t j)
{
    return i == j || r->ms[i * PLACES_MATRIX_MAX + j] >= 0;
}

/* Leaves out the node that lacks most, again and again, until each has nine of ten of its pairs. */
static void drop_lonely(struct reading *r)
{
    size_t *known = mem_alloc((r->count ? r->count : 1) * sizeof(*known)), left = 0;
    for (size_t i = 0; i < r->count; i++) {
        left += r->nodes[i].has_spot;
        for (size_t j = 0; j < r->count; j++)
            known[i] += r->nodes[j].has_spot && knows(r, i, j);
    }
    for (;;) {
        size_t worst = SIZE_MAX;
        for (size_t i = 0; i < r->count; i++)
            if (r->nodes[i].has_spot && (worst == SIZE_MAX || known[i] < known[worst]))
                worst = i;
        if (worst == SIZE_MAX || (double)known[worst] >= (1 - MISSING_SHARE_MAX) * (double)left)
            break;
        r->nodes[worst].has_spot = false;
        left--;
        for (size_t j = 0; j < r->count; j++)
            known[j] -= knows(r, j, worst);
    }
    free(known);
}

/* By country and name: the order in which they are drawn from. */
static size_t choose_nodes(const struct reading *r, size_t *chosen)
{
    size_t n = 0;
    for (size_t i = 0; i < r->count; i++)
        if (r->nodes[i].has_spot)
            chosen[n++] = i;
    for (size_t i = 1; i < n; i++) /* few, and nearly in order: insertion */
        for (size_t j = i; j > 0; j--) {
            const struct place_spot *a = &r->nodes[chosen[j - 1]].at, *b = &r->nodes[chosen[j]].at;
            int order = strcmp(a->country, b->country);
            if (order < 0 || (order == 0 && span_cmp(a->name, b->name) <= 0))
                break;
            size_t swap = chosen[j];
            chosen[j] = chosen[j - 1];
            chosen[j - 1] = swap;
        }
    return n;
}

static void fill_places(const struct reading *r, const size_t *chosen, size_t n, struct places *out)
{
    out->count = n;
    out->list = mem_alloc(n * sizeof(*out->list));
    out->ms = mem_alloc(n * n * sizeof(*out->ms));
    for (size_t i = 0; i < n; i++) {
        out->list[i] = r->nodes[chosen[i]].at;
        for (size_t j = 0; j < n; j++)
            out->ms[i * n + j] = i == j ? (float)SAME_PLACE_MS : r->ms[chosen[i] * PLACES_MATRIX_MAX + chosen[j]];
    }
    weigh(out, NULL);
}

status places_from_matrix(const char *pairs, const char *nodes, const struct cities *c, struct places *out,
                          struct buf *why)
{
    struct places p = {0};
    arena_init(&p.text);
    struct reading r = {.text = &p.text};
    size_t cells = (size_t)PLACES_MATRIX_MAX * PLACES_MATRIX_MAX, *chosen = NULL;
    r.ms = mem_alloc(cells * sizeof(*r.ms));
    for (size_t i = 0; i < cells; i++)
        r.ms[i] = -1;
    status st = read_pairs(pairs, &r, why);
    if (st == ST_OK && nodes)
        st = read_nodes(nodes, &r, why);
    if (st == ST_OK) {
        for (size_t i = 0; i < r.count; i++)
            if (r.nodes[i].has_spot)
                name_country(&r.nodes[i], c);
        chosen = mem_alloc((r.count ? r.count : 1) * sizeof(*chosen));
        drop_lonely(&r);
        size_t n = choose_nodes(&r, chosen);
        if (n >= 2)
            fill_places(&r, chosen, n, &p);
        else {
            buf_printf(why, "%s: fewer than two nodes with coordinates and most of their round trips", pairs);
            st = ST_INVALID;
        }
    }
    free(r.nodes);
    free(r.ms);
    free(chosen);
    table_done(&r.by_name);
    if (st != ST_OK)
        places_done(&p);
    else
        *out = p;
    return st;
}
