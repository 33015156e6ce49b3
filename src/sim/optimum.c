#include "sim/optimum.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Two costs that differ by less are the same: sums of the same numbers in another order must not look like a gain, or
 * the search for cheaper paths would go in circles. */
#define EQUAL 1e-9
#define NONE SIZE_MAX

struct solver {
    const struct optimum_problem *p;
    int64_t *flow; /* [source * bins + bin] */
    int64_t *left; /* room of a bin */
    double *step;  /* [from * bins + to]: cheapest change of one unit from a bin to another */
    size_t *mover; /* the source that changes so */
    bool *is_old;  /* steps out of this bin have to be looked for again */
    double *dist;  /* of a bin: cheapest way there for the source in hand */
    size_t *via;   /* the bin before it; NONE: straight from the source */
};

static void look_for_steps(struct solver *s, size_t from)
{
    size_t bins = s->p->bins;
    for (size_t to = 0; to < bins; to++) {
        s->step[from * bins + to] = INFINITY;
        s->mover[from * bins + to] = NONE;
    }
    for (size_t i = 0; i < s->p->sources; i++) {
        const double *cost = &s->p->cost[i * bins];
        if (s->flow[i * bins + from] <= 0)
            continue;
        for (size_t to = 0; to < bins; to++)
            if (to != from && cost[to] - cost[from] < s->step[from * bins + to]) {
                s->step[from * bins + to] = cost[to] - cost[from];
                s->mover[from * bins + to] = i;
            }
    }
    s->is_old[from] = false;
}

/* Bellman-Ford over the bins: steps may be negative, circles never are, because what is placed is placed optimally. */
static size_t cheapest_bin(struct solver *s, size_t source)
{
    size_t bins = s->p->bins, best = NONE;
    for (size_t b = 0; b < bins; b++) {
        s->dist[b] = s->p->cost[source * bins + b];
        s->via[b] = NONE;
        if (s->is_old[b])
            look_for_steps(s, b);
    }
    bool is_changed = true;
    for (size_t round = 0; is_changed && round < bins; round++) {
        is_changed = false;
        for (size_t a = 0; a < bins; a++)
            for (size_t b = 0; b < bins; b++) {
                double d = s->dist[a] + s->step[a * bins + b];
                if (d < s->dist[b] - EQUAL * (1 + fabs(s->dist[b]))) {
                    s->dist[b] = d;
                    s->via[b] = a;
                    is_changed = true;
                }
            }
    }
    for (size_t b = 0; b < bins; b++)
        if (s->left[b] > 0 && (best == NONE || s->dist[b] < s->dist[best]))
            best = b;
    return best;
}

static void send(struct solver *s, size_t source, size_t last, int64_t *amount)
{
    size_t bins = s->p->bins;
    int64_t n = *amount < s->left[last] ? *amount : s->left[last];
    size_t steps = 0;
    for (size_t b = last; s->via[b] != NONE; b = s->via[b]) {
        assert(steps < bins); /* a circle would be a negative one */
        steps++;
        size_t from = s->via[b];
        int64_t there = s->flow[s->mover[from * bins + b] * bins + from];
        n = there < n ? there : n;
    }
    size_t b = last;
    for (; s->via[b] != NONE; b = s->via[b]) {
        size_t from = s->via[b], mover = s->mover[from * bins + b];
        s->flow[mover * bins + from] -= n;
        s->flow[mover * bins + b] += n;
        s->is_old[b] = s->is_old[from] = true;
    }
    s->flow[source * bins + b] += n;
    s->is_old[b] = true;
    s->left[last] -= n;
    *amount -= n;
}

static status place_all(struct solver *s)
{
    for (size_t i = 0; i < s->p->sources; i++)
        for (int64_t amount = s->p->amount[i]; amount > 0;) {
            size_t bin = cheapest_bin(s, i);
            if (bin == NONE)
                return ST_FULL;
            send(s, i, bin, &amount);
        }
    return ST_OK;
}

status optimum_solve(const struct optimum_problem *p, double *cost, int64_t *flow)
{
    if (!p->bins)
        return ST_FULL;
    if (p->bins > OPTIMUM_BINS_MAX || p->sources > OPTIMUM_CELLS_MAX / p->bins)
        return ST_LIMIT;
    size_t cells = (p->sources ? p->sources : 1) * p->bins, square = p->bins * p->bins;
    struct solver s = {.p = p,
                       .flow = mem_alloc(cells * sizeof(int64_t)),
                       .left = mem_alloc(p->bins * sizeof(int64_t)),
                       .step = mem_alloc(square * sizeof(double)),
                       .mover = mem_alloc(square * sizeof(size_t)),
                       .is_old = mem_alloc(p->bins * sizeof(bool)),
                       .dist = mem_alloc(p->bins * sizeof(double)),
                       .via = mem_alloc(p->bins * sizeof(size_t))};
    memcpy(s.left, p->room, p->bins * sizeof(int64_t));
    memset(s.is_old, 1, p->bins * sizeof(bool));
    status st = place_all(&s);
    if (st == ST_OK) {
        double sum = 0;
        for (size_t i = 0; i < p->sources * p->bins; i++)
            sum += (double)s.flow[i] * p->cost[i];
        *cost = sum;
        if (flow)
            memcpy(flow, s.flow, p->sources * p->bins * sizeof(int64_t));
    }
    free(s.flow);
    free(s.left);
    free(s.step);
    free(s.mover);
    free(s.is_old);
    free(s.dist);
    free(s.via);
    return st;
}
