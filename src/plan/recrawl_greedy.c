/* recrawl_greedy.c - the channel that gains most, found without looking at all of them.
 *
 * The value of a channel grows with time in a way that is known: level k holds the values from 2^(k / 16) to the next.
 * A channel is in the list of its level, and in the heap with the second at which it reaches the next one:
 *
 *     level 801   .
 *     level 800   7 -> 3 -> 12          taken from here, the longest in it first
 *     level 799   5 -> 9                heap: 5 at 14:03:10 to 800, ...
 *     floor 796   ...                   below it nobody is in a list: heap, until the floor is reached
 *
 * Where the floor is changes nothing but work. It follows what is taken, a little below the least of it; when nobody is
 * left above it and a slot is free, everybody is looked at and it is set anew. With a million channels that takes a
 * third of a second, so a call does a slice of it; nobody below the old floor is taken before it is done. Channels that
 * the ceiling keeps closed wait in the heap until they are open. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "plan/recrawl_internal.h"

#define LEVEL_OF_ONE 768 /* level of the value 1; from 2^-48 to 2^80 */
#define MARGIN 3         /* levels of the floor below what is taken */
#define MARGIN_ANEW 8
#define WATCH_SHARE 64 /* the floor may rise each time so small a part of the channels was taken */
#define WATCH_ANEW 8   /* and not before such a part was, once it had to be set anew: else it would flutter */

/* Work of one call: half a millisecond with a million channels, which are in no cache. */
#define WORK_A_CALL 4096
#define WORK_BESIDE 256 /* of that, with a decision */
#define WORK_LOOK 1     /* a channel whose level is asked for */
#define WORK_PLACE 16   /* one that is moved in the heap */

/* log2 of x, where growth(x) (1 + (x / patience)^2) is 2^y. The steps are finer than levels: near 1 x grows fast. */
#define REACH_LEAST (-40)
#define REACH_MOST 24
#define REACH_AN_OCTAVE 128
#define REACH_POINTS ((REACH_MOST - REACH_LEAST) * REACH_AN_OCTAVE + 1)

static double gain(double x)
{
    double late = x / RECRAWL_PATIENCE;
    return recrawl_growth(x) * (1 + late * late);
}

static double *reach_new(void)
{
    double *reach = mem_alloc(REACH_POINTS * sizeof(*reach));
    for (int i = 0; i < REACH_POINTS; i++) {
        double y = exp2((double)REACH_LEAST + (double)i / REACH_AN_OCTAVE), low = -30, high = 60;
        for (int k = 0; k < 40; k++) {
            double mid = (low + high) / 2;
            if (gain(exp2(mid)) < y)
                low = mid;
            else
                high = mid;
        }
        reach[i] = high;
    }
    return reach;
}

/* The x at which the gain is y. */
static double reach(const struct recrawl *r, double y)
{
    double at = (log2(y) - REACH_LEAST) * REACH_AN_OCTAVE;
    if (!(at > 0))
        return 0;
    if (at >= REACH_POINTS - 1)
        return exp2(r->reach[REACH_POINTS - 1]);
    size_t i = (size_t)at;
    double part = at - (double)i;
    return exp2(r->reach[i] * (1 - part) + r->reach[i + 1] * part);
}

void greedy_init(struct recrawl *r)
{
    if (!r->reach)
        r->reach = reach_new();
    r->floor = r->whole = LEVEL_FIRST; /* nobody in lists: set when the first slot is free */
    r->look = (struct greedy_look){0};
    r->placed_to = r->place_to = 0;
    r->least_taken = LEVELS;
    r->taken = r->watch = 0;
}

/* ---- value ---- */

/* What the value would be if it were stale for certain. */
static double worth(const struct recrawl *r, const struct channel *c, double rate)
{
    return (double)c->weight / (rate * channel_cost(r, c));
}

double greedy_value(const struct recrawl *r, const struct channel *c, uint32_t now)
{
    double rate = channel_rate(r, c);
    double x = rate * ((double)now - (double)c->asked), late = x / RECRAWL_PATIENCE;
    return worth(r, c, rate) * (c->is_told ? 1 + late * late : gain(x));
}

static bool goes_first(const struct channel *c, uint32_t now)
{
    return !c->asked || channel_deadline(c) <= now;
}

static unsigned level_of(const struct recrawl *r, const struct channel *c, uint32_t now)
{
    if (goes_first(c, now))
        return LEVEL_FIRST;
    double at = floor(log2(greedy_value(r, c, now)) * LEVELS_AN_OCTAVE) + LEVEL_OF_ONE;
    return at >= LEVEL_FIRST - 1 ? LEVEL_FIRST - 1 : at >= 0 ? (unsigned)at : 0;
}

/* The second at which it reaches a level. */
static uint32_t time_of_level(const struct recrawl *r, const struct channel *c, unsigned level)
{
    double rate = channel_rate(r, c);
    double y = exp2(((double)level - LEVEL_OF_ONE) / LEVELS_AN_OCTAVE) / worth(r, c, rate);
    double at = ceil((double)c->asked + reach(r, y) / rate);
    return at < (double)NONE ? (uint32_t)at : NONE - 1;
}

/* ---- places ---- */

static uint32_t min_u32(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Looks at it again when it reaches `level`, or must be visited; never in this same second. */
static void wait_for(struct recrawl *r, uint32_t id, unsigned level, uint32_t now)
{
    const struct channel *c = &r->channels[id];
    uint32_t until = min_u32(time_of_level(r, c, level), channel_deadline(c));
    channel_wait(r, id, until > now ? until : now + 1);
}

static void place(struct recrawl *r, uint32_t id, uint32_t now)
{
    const struct channel *c = &r->channels[id];
    if (!channel_may(r, c))
        return;
    uint32_t open = channel_open(r, c);
    if (open > now) {
        channel_wait(r, id, open);
        return;
    }
    unsigned level = level_of(r, c, now);
    if (level < r->floor)
        wait_for(r, id, r->floor, now);
    else {
        channel_ready(r, id, level);
        if (level < LEVEL_FIRST - 1)
            wait_for(r, id, level + 1, now);
    }
}

static void due(struct recrawl *r, uint32_t id, uint32_t now)
{
    channel_leave(r, id);
    place(r, id, now);
}

/* ---- the floor ---- */

static bool is_open(const struct recrawl *r, const struct channel *c, uint32_t now)
{
    return c->is_used && channel_may(r, c) && channel_open(r, c) <= now;
}

static void watch(struct recrawl *r, size_t share)
{
    r->least_taken = LEVELS;
    r->taken = 0;
    r->watch = r->used / share + 1;
}

static void look_at(struct recrawl *r, uint32_t id, uint32_t now, int *work)
{
    struct greedy_look *l = &r->look;
    *work -= WORK_LOOK;
    if (!is_open(r, &r->channels[id], now))
        return;
    if (l->stage == LOOK_BEST) {
        unsigned level = level_of(r, &r->channels[id], now);
        l->best = level > l->best ? level : l->best;
    } else {
        due(r, id, now);
        *work -= WORK_PLACE;
    }
}

/* So that the best of those that are open now are in lists. None is: everybody will be as soon as he is open. False:
 * there is more to do than `work`. */
static bool look_around(struct recrawl *r, uint32_t now, int *work)
{
    struct greedy_look *l = &r->look;
    for (;;) {
        for (; l->stage != LOOK_NONE && l->at < r->count; l->at++) {
            if (*work <= 0)
                return false;
            look_at(r, l->at, now, work);
        }
        if (l->stage == LOOK_PLACE)
            break;
        if (l->stage == LOOK_BEST)
            r->floor = l->best > MARGIN_ANEW ? l->best - MARGIN_ANEW : 0;
        *l = (struct greedy_look){.stage = l->stage == LOOK_NONE ? LOOK_BEST : LOOK_PLACE};
    }
    *l = (struct greedy_look){0};
    r->whole = r->floor;
    watch(r, WATCH_ANEW);
    return true;
}

/* Other rates: other values, and other times at which channels open. */
static void learned(struct recrawl *r, uint32_t now)
{
    (void)now;
    r->placed_to = 0;
    r->place_to = r->count;
}

/* False: there is more to do than `work`. */
static bool refresh(struct recrawl *r, uint32_t now, int *work)
{
    for (; r->placed_to < r->place_to; r->placed_to++) {
        if (*work <= 0)
            return false;
        if (r->channels[r->placed_to].is_used)
            due(r, (uint32_t)r->placed_to, now);
        *work -= WORK_PLACE;
    }
    return true;
}

/* Upwards only: downwards is look_around's. */
static void follow(struct recrawl *r, unsigned level)
{
    r->least_taken = level < r->least_taken ? level : r->least_taken;
    if (++r->taken < r->watch || r->look.stage != LOOK_NONE)
        return;
    if (r->least_taken < LEVEL_FIRST - 1 && r->least_taken > r->floor + MARGIN)
        r->floor = r->whole = r->least_taken - MARGIN;
    watch(r, WATCH_SHARE);
}

static uint32_t take(struct recrawl *r, uint32_t now, bool has_slot)
{
    int work = WORK_A_CALL;
    r->is_behind = !refresh(r, now, &work) || r->is_behind;
    if (!has_slot || r->is_behind)
        return NONE;
    if (r->look.stage != LOOK_NONE) { /* begun when nobody was left; it comes to its end even if somebody is again */
        int beside = WORK_BESIDE;
        (void)look_around(r, now, &beside);
    }
    for (;;) {
        unsigned level = top_level(r);
        if (level < LEVELS && level >= r->whole) {
            uint32_t id = r->first[level];
            if (is_open(r, &r->channels[id], now)) {
                follow(r, level);
                return id;
            }
            due(r, id, now); /* its rate is another since it was placed */
            work -= WORK_PLACE;
        } else if (r->whole == 0) {
            r->least_taken = 0; /* there is more than enough capacity: the floor stays where it is */
            return NONE;
        } else if (!look_around(r, now, &work))
            work = 0;
        if (work <= 0) {
            r->is_behind = true;
            return NONE;
        }
    }
}

const struct strategy_calls recrawl_greedy = {place, due, take, NULL, learned};
