/* Rule `gain`: the moves that add the least time over all pages, by an auction.
 *
 * If loads could be cut at will this were a transportation problem. Its solution has prices: a byte at a crowded agent
 * costs what it takes to get another one out of there, and every network is where its time and its bytes together are
 * cheapest. The prices are kept from one plan to the next, so that a plan sees more than its own agent:
 *
 *     new network -> A           A has 30 too many; its price rises until n2 would rather be at C
 *     n2 -> C                    C has 10 too many; its price rises until n7 would rather be at B
 *     n7 -> B                    there is room
 *     n9 -> A                    n2 freed more than was needed: one that had to leave A before comes home
 *
 * Networks are whole, so a little room stays unused, and what is too tight for this is left to balance_search.c. Moves
 * are made in the balancer while they are tried, and undone. */
#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "plan/balance_internal.h"

#define BIDS_MAX 512u       /* of a plan */
#define STEP_MS 1.0         /* prices rise by so much more than they must, or two agents bid for ever */
#define WORTH_MS 5.0        /* a network comes home for no less */
#define RETURNS_MAX 32u     /* tried for a plan */
#define EMPTY_SHARE 0.1     /* of its capacity is free: a byte there costs nothing */
#define SEARCH_NETWORKS 64u /* so few can be searched through */

/* One move, and how to undo it. */
struct step {
    struct b_network *network;
    struct b_agent *from, *to;
    bool was_guess;
    double from_load, to_load;
};

struct auction {
    struct balancer *b;
    struct b_agent *roomy[B_ROOMY];
    size_t roomy_count;
    struct step *log; /* owned */
    size_t count, cap;
    double cost; /* of the log */
    unsigned bids;
    const struct b_agent *closed; /* nothing goes there; NULL: nobody */
};

/* ---- moves ---- */

static void move_at(struct auction *f, struct b_network *n, struct b_agent *to, double ms_more, bool is_guess)
{
    f->log = mem_grow(f->log, &f->cap, f->count + 1, sizeof(*f->log));
    f->log[f->count++] = (struct step){n, n->agent, to, n->is_guess, n->agent ? n->agent->load : 0, to->load};
    f->cost += n->pages * ms_more;
    b_move(n, to, is_guess);
}

static void move(struct auction *f, struct b_network *n, struct b_agent *to)
{
    move_at(f, n, to, b_cost_there(n, to) - b_cost_here(n, n->agent), !b_is_known(n, to));
}

/* The new network, whose cost counts from its best time. Where it should go is good, measured or not. */
static void place(struct auction *f, struct b_network *n, struct b_agent *to, const struct b_agent *wanted)
{
    double best = n->cost_count ? n->costs[0].ms : 0;
    bool is_guess = to != wanted && !b_is_known(n, to);
    move_at(f, n, to, (is_guess || b_is_known(n, to) ? b_cost_there(n, to) : best) - best, is_guess);
}

static void undo(struct auction *f, size_t mark, double cost)
{
    while (f->count > mark) {
        struct step *s = &f->log[--f->count];
        b_move(s->network, s->from, s->was_guess);
        if (s->from)
            s->from->load = s->from_load; /* to the bit */
        s->to->load = s->to_load;
    }
    f->cost = cost;
}

/* ---- bids ---- */

static bool could_have(const struct auction *f, const struct b_agent *a, const struct b_network *n)
{
    return b_may_take(a) && a != f->closed && (a->capacity <= 0 || n->load <= a->capacity);
}

/* Time and bytes. */
static double value(const struct b_network *n, const struct b_agent *a, double ms)
{
    return n->pages * ms + a->price * n->load;
}

/* The best of the others; NULL: there is none. */
static struct b_agent *best_other(const struct auction *f, const struct b_network *n, const struct b_agent *a,
                                  double *best_value)
{
    struct b_agent *best = NULL;
    for (size_t i = 0; i < n->cost_count; i++) {
        struct b_agent *to = n->costs[i].agent;
        if (best && n->pages * n->costs[i].ms >= *best_value)
            break; /* the others are farther, and no price is below 0 */
        if (to == a || !could_have(f, to, n))
            continue;
        double v = value(n, to, n->costs[i].ms);
        if (!best || v < *best_value) {
            best = to;
            *best_value = v;
        }
    }
    for (size_t i = 0; i < f->roomy_count; i++) {
        struct b_agent *to = f->roomy[i];
        if (to == a || !could_have(f, to, n) || b_is_known(n, to))
            continue;
        double v = value(n, to, b_cost_there(n, to));
        if (!best || v < *best_value) {
            best = to;
            *best_value = v;
        }
    }
    return best;
}

/* One network leaves an agent that has too much: the one that loses least, counted a byte of what is needed. */
static bool bid(struct auction *f, struct b_agent *a)
{
    struct b_network *leaves = NULL;
    struct b_agent *to = NULL;
    double best_score = 0, least = 1e300, need = b_over(a);
    if (f->bids++ >= BIDS_MAX)
        return false;
    for (size_t i = 0; i < a->count; i++) {
        struct b_network *n = a->networks[i];
        double there;
        struct b_agent *other = n->is_pinned || n->load <= 0 ? NULL : best_other(f, n, a, &there);
        if (!other)
            continue;
        double loss = (there - value(n, a, b_cost_here(n, a))) / n->load;
        double score = loss * (n->load > need && loss > 0 ? n->load : need);
        least = loss < least ? loss : least;
        if (!leaves || score < best_score || (score == best_score && n->id < leaves->id)) {
            leaves = n;
            to = other;
            best_score = score;
        }
    }
    if (!leaves)
        return false;
    if (least > 0)
        a->price += least;
    a->price += STEP_MS * leaves->pages / leaves->load;
    move(f, leaves, to);
    return true;
}

static struct b_agent *find_over(const struct auction *f, const struct b_agent *but)
{
    for (size_t i = f->count; i-- > 0;) {
        struct b_agent *to = f->log[i].to, *from = f->log[i].from;
        if (to != but && b_over(to) > 0)
            return to;
        if (from && from != but && b_over(from) > 0)
            return from;
    }
    return NULL;
}

/* How many networks are elsewhere than before. */
static size_t count_moved(const struct auction *f)
{
    size_t n = 0;
    for (size_t i = 0; i < f->count; i++) {
        struct b_network *m = f->log[i].network;
        n += !m->is_moved && m->agent != f->log[i].from; /* its first step has where it was */
        m->is_moved = true;
    }
    for (size_t i = 0; i < f->count; i++)
        f->log[i].network->is_moved = false;
    return n;
}

/* Until nobody that was touched has too much, but one perhaps. */
static bool settle(struct auction *f, const struct b_agent *but)
{
    for (struct b_agent *x; (x = find_over(f, but));)
        if (!bid(f, x))
            return false;
    return count_moved(f) < BALANCE_MOVES_MAX;
}

/* ---- coming home ---- */

/* The wisher that fits and gains most, at a price that is no higher than it must be. */
static struct b_network *best_wisher(const struct b_agent *a)
{
    struct b_network *best = NULL;
    double best_gain = 0, room = b_room(a);
    for (size_t i = 0; i < a->wish_count; i++) {
        struct b_network *n = a->wishers[i];
        double here = b_cost_here(n, n->agent), there = b_cost_there(n, a);
        double gain = (value(n, n->agent, here) - value(n, a, there)) / n->load;
        if (n->load > room || here - there < WORTH_MS)
            continue;
        if (!best || gain > best_gain || (gain == best_gain && n->id < best->id)) {
            best = n;
            best_gain = gain;
        }
    }
    return best;
}

static void bring_home(struct auction *f)
{
    unsigned left = RETURNS_MAX;
    for (size_t i = 0; i < f->count && left; i++) {
        struct b_agent *ends[] = {f->log[i].from, f->log[i].to};
        for (int k = 0; k < 2; k++) {
            struct b_agent *a = ends[k];
            struct b_network *n = a && b_may_take(a) ? best_wisher(a) : NULL;
            if (!n || !left || count_moved(f) + 1 >= BALANCE_MOVES_MAX)
                continue;
            double here = value(n, n->agent, b_cost_here(n, n->agent)), there = value(n, a, b_cost_there(n, a));
            if (there > here) /* nobody wants its room at that price */
                a->price = a->price > (there - here) / n->load ? a->price - (there - here) / n->load : 0;
            move(f, n, a);
            left--;
        }
    }
}

/* ---- plans ---- */

static void forget_deltas(const struct auction *f)
{
    for (size_t i = 0; i < f->count; i++) {
        f->log[i].to->delta = 0;
        if (f->log[i].from)
            f->log[i].from->delta = 0;
    }
}

/* Each network that is elsewhere, but `last`, by its first step, which has where it was. */
static size_t list_moves(const struct auction *f, const struct b_network *last,
                         const struct step *out[BALANCE_MOVES_MAX])
{
    size_t n = 0;
    for (size_t i = 0; i < f->count; i++) {
        const struct step *s = &f->log[i];
        if (!s->network->is_moved && s->network != last && s->network->agent != s->from)
            out[n++] = s;
        s->network->is_moved = true;
    }
    for (size_t i = 0; i < f->count; i++)
        f->log[i].network->is_moved = false;
    return n;
}

static void emit(struct balance_plan *out, const struct step *s)
{
    struct b_network *n = s->network;
    out->moves[out->count++] = (struct balance_move){
        n->id, s->from ? s->from->number : 0, n->agent ? n->agent->number : 0, n->agent && !b_is_measured(n, n->agent)};
}

/* In an order in which room is made before it is taken, as far as there is one. */
static void write_plan(const struct auction *f, const struct b_network *last, struct balance_plan *out)
{
    const struct step *moves[BALANCE_MOVES_MAX];
    size_t n = list_moves(f, last, moves);
    *out = (struct balance_plan){.cost = f->cost};
    for (size_t i = 0; i < n; i++) { /* as it was */
        moves[i]->network->agent->delta -= moves[i]->network->load;
        moves[i]->from->delta += moves[i]->network->load;
    }
    if (last)
        last->agent->delta -= last->load;
    for (size_t left = n; left; left--) {
        size_t next = 0;
        while (next < left && b_room(moves[next]->network->agent) < moves[next]->network->load)
            next++;
        next = next < left ? next : 0;
        const struct step *s = moves[next];
        s->network->agent->delta += s->network->load;
        s->from->delta -= s->network->load;
        emit(out, s);
        memmove(&moves[next], &moves[next + 1], (left - next - 1) * sizeof(moves[0]));
    }
    if (last)
        emit(out, &f->log[0]); /* it was placed first of all */
    forget_deltas(f);
}

/* Where there is room a byte costs nothing, whatever it cost before. */
static void refresh_prices(struct balancer *b)
{
    size_t at = 0;
    for (struct b_agent *a; (a = table_next(&b->agents, &at));)
        if (a->capacity <= 0 || b_room(a) > a->capacity * EMPTY_SHARE)
            a->price = 0;
}

static void auction_init(struct auction *f, struct balancer *b)
{
    *f = (struct auction){.b = b};
    f->roomy_count = b_roomy(b, f->roomy);
}

static void auction_done(struct auction *f)
{
    undo(f, 0, 0);
    free(f->log);
}

/* A network that fits where it should go needs no more thought. */
static bool is_simple(const struct balance_plan *p, const struct b_agent *agent)
{
    return p->count == 1 && p->moves[0].to == agent->number;
}

/* Where the new network begins: where it should go, or what is best for it. */
static struct b_agent *first_place(const struct auction *f, const struct b_network *n, struct b_agent *agent)
{
    double v;
    return could_have(f, agent, n) ? agent : best_other(f, n, agent, &v);
}

status b_gain_plan(struct balancer *b, struct b_network *n, struct b_agent *agent, struct balance_plan *out)
{
    struct auction f;
    struct balance_plan best = {0}, found;
    auction_init(&f, b);
    struct b_agent *to = first_place(&f, n, agent);
    if (to) {
        refresh_prices(b);
        place(&f, n, to, agent);
        bool is_crowded = b_over(to) > 0;
        if (settle(&f, NULL)) {
            if (is_crowded)
                bring_home(&f);
            write_plan(&f, n, &best);
        }
    }
    auction_done(&f);
    if (!to)
        return ST_FULL;
    if ((!best.count || (!is_simple(&best, agent) && b->networks.n <= SEARCH_NETWORKS)) &&
        b_search_plan(b, n, to, &found) == ST_OK && (!best.count || found.cost < best.cost))
        best = found;
    if (!best.count)
        return ST_FULL;
    *out = best;
    return ST_OK;
}

void b_gain_relieve(struct balancer *b, struct b_agent *agent, struct balance_plan *out)
{
    struct auction f;
    auction_init(&f, b);
    refresh_prices(b);
    f.closed = agent;
    while (b_over(agent) > 0) {
        size_t mark = f.count;
        double cost = f.cost;
        if (!bid(&f, agent) || !settle(&f, agent)) {
            undo(&f, mark, cost);
            break;
        }
    }
    write_plan(&f, NULL, out);
    auction_done(&f);
}
