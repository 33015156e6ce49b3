/* Where moves one by one do not get there: indivisible loads make a tight fit a packing problem, so it is searched for,
 * by a beam over chains of moves.
 *
 *     new network -> A           A has 30 too many
 *       A: n1 -> B               B has room: done, cost 12
 *       A: n2 -> C               C has 10 too many
 *         C: n7 -> B             done, cost 7
 *     new network -> D           room: done, cost 55
 *
 * Each step takes up one agent that has too much and tries the moves out of it that free most for least. What is too
 * much still is charged with the price at which that agent's best move frees bytes, so that short and long chains
 * compare. It ends when nothing that is left in the beam can be cheaper than what was found. */
#include <stdlib.h>

#include "base/arena.h"
#include "base/mem.h"
#include "plan/balance_internal.h"

#define BEAM 48u
#define CHILDREN 16u /* of one state */
#define OPTIONS_MAX 2048u

/* One move that could be made. */
struct option {
    struct b_network *network;
    struct b_agent *to;
    double cost;
};

struct b_options {
    struct option *list; /* owned */
    size_t count;
    double price; /* of a byte, by the best of them */
};

/* A chain of moves, the newest first. */
struct state {
    const struct state *before; /* NULL: the beginning */
    struct option move;         /* network NULL: none */
    struct b_agent *from;       /* NULL: it was nobody's */
    double cost;
    double over; /* bytes too much, all agents that the chain touches */
    double rank; /* cost, and what is to be expected for the rest */
    uint64_t hash;
    unsigned depth;
};

struct search {
    struct balancer *b;
    struct b_agent *roomy[B_ROOMY];
    size_t roomy_count;
    struct b_agent **looked_at; /* owned: those with options */
    size_t looked_count, looked_cap;
    struct state *next; /* owned: candidates for the beam */
    size_t next_count, next_cap;
    struct arena arena; /* states */
    const struct state *best;
};

/* ---- options ---- */

static int option_cmp(const void *a, const void *b)
{
    const struct option *x = a, *y = b;
    double p = x->cost / x->network->load, q = y->cost / y->network->load;
    if (p != q)
        return p < q ? -1 : 1;
    if (x->network != y->network)
        return x->network->id < y->network->id ? -1 : 1;
    return x->to->number < y->to->number ? -1 : x->to->number > y->to->number;
}

static bool could_have(const struct b_agent *a, const struct b_network *n)
{
    return b_may_take(a) && (a->capacity <= 0 || n->load <= a->capacity);
}

static void list_options(const struct search *s, struct b_agent *a, struct b_options *o)
{
    size_t cap = 0;
    for (size_t i = 0; i < a->count; i++) {
        struct b_network *n = a->networks[i];
        if (n->is_pinned || n->load <= 0)
            continue;
        double here = b_cost_here(n, a);
        o->list = mem_grow(o->list, &cap, o->count + n->cost_count + s->roomy_count, sizeof(*o->list));
        for (size_t k = 0; k < n->cost_count; k++)
            if (n->costs[k].agent != a && could_have(n->costs[k].agent, n))
                o->list[o->count++] = (struct option){n, n->costs[k].agent, n->pages * (n->costs[k].ms - here)};
        for (size_t k = 0; k < s->roomy_count; k++) {
            struct b_agent *to = s->roomy[k];
            if (to != a && could_have(to, n) && !b_is_known(n, to))
                o->list[o->count++] = (struct option){n, to, n->pages * (b_cost_there(n, to) - here)};
        }
    }
    if (o->count)
        qsort(o->list, o->count, sizeof(*o->list), option_cmp);
    if (o->count > OPTIONS_MAX)
        o->count = OPTIONS_MAX;
}

static struct b_options *options_of(struct search *s, struct b_agent *a)
{
    if (a->options)
        return a->options;
    struct b_options *o = a->options = mem_alloc(sizeof(*o));
    list_options(s, a, o);
    o->price = o->count && o->list[0].cost > 0 ? o->list[0].cost / o->list[0].network->load : 0;
    s->looked_at = mem_grow(s->looked_at, &s->looked_cap, s->looked_count + 1, sizeof(struct b_agent *));
    s->looked_at[s->looked_count++] = a;
    return o;
}

/* ---- states ---- */

static void apply(const struct state *st, int sign)
{
    for (; st; st = st->before) {
        if (!st->move.network)
            continue;
        st->move.network->is_moved = sign > 0;
        st->move.to->delta += sign * st->move.network->load;
        if (st->from)
            st->from->delta -= sign * st->move.network->load;
    }
}

/* Somebody that has too much, with the chain applied; the newest to get some first. */
static struct b_agent *find_over(const struct state *st)
{
    for (; st; st = st->before) {
        if (st->move.network && b_over(st->move.to) > 0)
            return st->move.to;
        if (st->from && b_over(st->from) > 0)
            return st->from;
    }
    return NULL;
}

static double over_once(const struct search *s, struct b_agent *a)
{
    if (!a || a->stamp == s->b->stamp)
        return 0;
    a->stamp = s->b->stamp;
    return b_over(a);
}

/* Bytes too much of all that the chain touches, which is applied; and what they may cost. */
static double sum_over(struct search *s, const struct state *st, double *price)
{
    double sum = 0;
    *price = 0;
    s->b->stamp++;
    for (const struct state *at = st; at; at = at->before) {
        struct b_agent *touched[] = {at->move.to, at->from};
        for (size_t i = 0; i < 2; i++) {
            double over = over_once(s, touched[i]);
            if (over > 0)
                *price += over * options_of(s, touched[i])->price;
            sum += over;
        }
    }
    return sum;
}

static bool is_better(const struct state *a, const struct state *than)
{
    if (!than || a->over != than->over)
        return !than || a->over < than->over;
    return a->cost != than->cost ? a->cost < than->cost : a->depth < than->depth;
}

static uint64_t mix(uint64_t x)
{
    x ^= x >> 31;
    x *= 0x9e3779b97f4a7c15u;
    return x ^ x >> 29;
}

/* `before` is applied. */
static void consider(struct search *s, const struct state *before, const struct option *o, struct b_agent *from)
{
    struct state st = {.before = before,
                       .move = *o,
                       .from = from,
                       .cost = (before ? before->cost : 0) + o->cost,
                       .depth = (before ? before->depth : 0) + 1};
    double price;
    o->to->delta += o->network->load;
    if (from)
        from->delta -= o->network->load;
    st.over = sum_over(s, &st, &price);
    o->to->delta -= o->network->load;
    if (from)
        from->delta += o->network->load;
    st.rank = st.cost + price;
    /* The same moves in another order are the same. */
    st.hash = (before ? before->hash : 0) + mix(mix(o->network->id) + o->to->number);
    s->next = mem_grow(s->next, &s->next_cap, s->next_count + 1, sizeof(*s->next));
    s->next[s->next_count++] = st;
}

/* What a move out of an agent that has `over` too many seems to be worth: its cost if it frees all of that, more if it
 * frees a part, or needs other moves in turn. */
static double worth(const struct option *o, double over, double price)
{
    double load = o->network->load, room = b_room(o->to);
    double cost = o->cost > 0 && load < over ? o->cost * over / load : o->cost;
    return load > room ? cost + (load - (room > 0 ? room : 0)) * price : cost;
}

static void expand(struct search *s, const struct state *st)
{
    struct {
        const struct option *o;
        double worth;
    } best[CHILDREN];
    size_t n = 0;
    apply(st, 1);
    struct b_agent *a = find_over(st);
    const struct b_options *all = a ? options_of(s, a) : NULL;
    for (size_t i = 0; a && i < all->count; i++) {
        const struct option *o = &all->list[i];
        if (o->network->is_moved || b_over(o->to) > 0)
            continue;
        double w = worth(o, b_over(a), all->price);
        if (n == CHILDREN && w >= best[n - 1].worth)
            continue;
        size_t at = n < CHILDREN ? n++ : n - 1;
        for (; at > 0 && best[at - 1].worth > w; at--)
            best[at] = best[at - 1];
        best[at].o = o;
        best[at].worth = w;
    }
    for (size_t i = 0; i < n; i++)
        consider(s, st, best[i].o, a);
    apply(st, -1);
}

/* ---- the beam ---- */

static int state_cmp(const void *a, const void *b)
{
    const struct state *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->over != y->over)
        return x->over < y->over ? -1 : 1;
    return x->hash < y->hash ? -1 : x->hash > y->hash;
}

static bool is_in(const struct state *const *beam, size_t n, const struct state *st)
{
    for (size_t i = 0; i < n; i++)
        if (beam[i]->hash == st->hash)
            return true;
    return false;
}

/* The best candidates that still have something too much, and may beat what was found; those without are compared with
 * that. */
static size_t select_beam(struct search *s, const struct state **beam)
{
    size_t n = 0;
    if (s->next_count)
        qsort(s->next, s->next_count, sizeof(*s->next), state_cmp);
    for (size_t i = 0; i < s->next_count; i++) {
        const struct state *st = &s->next[i];
        bool is_best = st->over == 0 && is_better(st, s->best);
        bool goes_on = st->over > 0 && n < BEAM && !is_in(beam, n, st) && !(s->best && st->rank >= s->best->cost);
        if (!is_best && !goes_on)
            continue;
        struct state *kept = arena_alloc(&s->arena, sizeof(*kept));
        *kept = *st;
        if (is_best)
            s->best = kept;
        if (goes_on)
            beam[n++] = kept;
    }
    s->next_count = 0;
    return n;
}

static void run(struct search *s)
{
    const struct state *beam[BEAM];
    size_t n;
    for (unsigned depth = 1; (n = select_beam(s, beam)) && depth < BALANCE_MOVES_MAX; depth++)
        for (size_t i = 0; i < n; i++)
            expand(s, beam[i]);
}

static void search_init(struct search *s, struct balancer *b)
{
    *s = (struct search){.b = b};
    arena_init(&s->arena);
    s->roomy_count = b_roomy(b, s->roomy);
}

static void search_done(struct search *s)
{
    for (size_t i = 0; i < s->looked_count; i++) {
        free(s->looked_at[i]->options->list);
        free(s->looked_at[i]->options);
        s->looked_at[i]->options = NULL;
    }
    free(s->looked_at);
    free(s->next);
    arena_done(&s->arena);
}

/* The newest move first: it makes room for the one before it. */
static void write_plan(const struct search *s, struct balance_plan *out)
{
    *out = (struct balance_plan){.cost = s->best->cost};
    for (const struct state *st = s->best; st; st = st->before)
        if (st->move.network)
            out->moves[out->count++] =
                (struct balance_move){st->move.network->id, st->from ? st->from->number : 0, st->move.to->number,
                                      !b_is_measured(st->move.network, st->move.to)};
}

/* ---- asking ---- */

static void consider_new(struct search *s, struct b_network *n, struct b_agent *to, double ms)
{
    double best = n->cost_count ? n->costs[0].ms : 0;
    if (could_have(to, n))
        consider(s, NULL, &(struct option){n, to, n->pages * (ms - best)}, n->agent);
}

status b_search_plan(struct balancer *b, struct b_network *n, struct b_agent *agent, struct balance_plan *out)
{
    struct search s;
    search_init(&s, b);
    double room = b_room(agent) + (n->agent == agent ? n->load : 0);
    consider_new(&s, n, agent, b_cost_here(n, agent));
    if (!b_may_take(agent) || room < n->load) {
        for (size_t i = 0; i < n->cost_count; i++)
            if (n->costs[i].agent != agent)
                consider_new(&s, n, n->costs[i].agent, n->costs[i].ms);
        for (size_t i = 0; i < s.roomy_count; i++)
            if (s.roomy[i] != agent && !b_is_known(n, s.roomy[i]))
                consider_new(&s, n, s.roomy[i], b_cost_there(n, s.roomy[i]));
    }
    run(&s);
    status st = s.best ? ST_OK : ST_FULL;
    if (st == ST_OK)
        write_plan(&s, out);
    search_done(&s);
    return st;
}
