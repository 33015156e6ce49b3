#include "plan/recrawl.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "plan/recrawl_internal.h"

#define SECOND 1000 /* ms */
#define HOUR_S 3600.0
#define COST_NEWS 4.0      /* a quarter of the news, as smoothed times go */
#define COST_S 60.0        /* of a task, while nothing is known of any */
#define SWEEP_A_RESULT 2   /* channels that each result adds to the picture of the population */
#define BORDER_STAY 1.1892 /* 2^(1/4): beyond the border between two ranks before a channel changes over */
#define PRIOR_MOST 1.0     /* changes: more would hold fast channels back for long, and push slow ones */
#define PRIOR_MOVES 0.02   /* less is nothing that all channels would have to be looked at for */
#define GAP_UPDATES 5      /* icr looks at so many of the last updates */
#define DUE_A_CALL 256     /* channels whose time has come, in one call: with a million of them half a millisecond */
#define OWED_SHARE 8       /* of what is owed such a part goes into each turn */

static const struct {
    const char *name;
    const struct strategy_calls *calls;
} strategies[] = {
    [RECRAWL_FIXED] = {"fixed", &recrawl_fixed},
    [RECRAWL_IIR] = {"iir", &recrawl_iir},
    [RECRAWL_ICR] = {"icr", &recrawl_icr},
    [RECRAWL_GREEDY] = {"greedy", &recrawl_greedy},
};

bool recrawl_strategy_parse(struct span name, recrawl_strategy *out)
{
    for (size_t i = RECRAWL_FIXED; i < sizeof(strategies) / sizeof(*strategies); i++)
        if (span_is(name, strategies[i].name)) {
            *out = (recrawl_strategy)i;
            return true;
        }
    return false;
}

const char *recrawl_strategy_name(recrawl_strategy s)
{
    return strategies[s].name;
}

static uint32_t seconds(wall_ms t)
{
    return t <= 0 ? 0 : (uint32_t)(t / SECOND);
}

double recrawl_growth(double x)
{
    if (x < 1e-3)
        return x * x * (0.5 - x / 3);
    return 1 - (1 + x) * exp(-x);
}

/* ---- what is known of a channel ---- */

static bool has_nominal_rate(const struct recrawl *r)
{
    return r->opts.has_given_ranks && r->opts.strategy != RECRAWL_GREEDY;
}

double channel_rate(const struct recrawl *r, const struct channel *c)
{
    if (has_nominal_rate(r))
        return (double)SECOND / (double)r->opts.interval[c->rank];
    return change_rate_mean(&c->rate, &r->prior);
}

double channel_cost(const struct recrawl *r, const struct channel *c)
{
    if (c->cost_s > 0)
        return (double)c->cost_s;
    return r->cost_s > 0 ? r->cost_s : COST_S;
}

/* Seconds from one visit to the next that the ceiling asks for. */
static double ceiling_gap(const struct recrawl *r, const struct channel *c)
{
    double rate = has_nominal_rate(r) ? channel_rate(r, c) : change_rate_cautious(&c->rate, &r->prior);
    return 1 / (r->opts.ceiling * rate);
}

/* Less than that while a part of the turn of a lost task is owed. All of it at once where the last task is the lost
 * one: nothing comes of it, and its place is free. Else a share of it in each turn, so that visits stay nearly even. */
static double turn_gap(const struct recrawl *r, const struct channel *c)
{
    double owed = (double)c->owed / TURN;
    return ceiling_gap(r, c) * (1 - (c->asked < c->submitted ? owed : owed / OWED_SHARE));
}

/* One turn at most: more than that was tried, for agents that vanish with several tasks of a channel. It kept an eighth
 * more threads busy with the largest channels, whose tasks are lost most, and made nothing fresher. */
static void owe(struct channel *c, double turns)
{
    c->owed = (uint16_t)fmin(fmax((double)c->owed + turns * TURN, 0), TURN);
}

static uint32_t later(uint32_t t, double s)
{
    double at = ceil((double)t + s);
    return at < (double)NONE ? (uint32_t)at : NONE - 1;
}

static uint32_t max_u32(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static uint32_t min_u32(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

uint32_t channel_deadline(const struct channel *c)
{
    if (!(c->at_least_s > 0))
        return NONE;
    uint32_t t = later(c->asked, (double)c->at_least_s);
    return c->at_most_s > 0 ? max_u32(t, later(c->asked, (double)c->at_most_s)) : t;
}

uint32_t channel_open(const struct recrawl *r, const struct channel *c)
{
    uint32_t open = 0;
    if (c->asked) {
        open = later(c->submitted, turn_gap(r, c));
        if (c->at_most_s > 0)
            open = max_u32(open, later(c->asked, (double)c->at_most_s));
        open = min_u32(open, channel_deadline(c));
    }
    return max_u32(open, c->not_before);
}

bool channel_may(const struct recrawl *r, const struct channel *c)
{
    return !c->is_never && c->under_way < r->opts.tasks_max;
}

unsigned recrawl_rank_of(const struct recrawl *r, double rate, unsigned rank)
{
    double gap = (double)SECOND / rate;
    for (; rank + 1 < RECRAWL_RANKS; rank++)
        if (gap < BORDER_STAY * sqrt((double)r->opts.interval[rank] * (double)r->opts.interval[rank + 1]))
            break;
    for (; rank > 0; rank--)
        if (gap > sqrt((double)r->opts.interval[rank] * (double)r->opts.interval[rank - 1]) / BORDER_STAY)
            break;
    return rank;
}

/* ---- life ---- */

struct recrawl *recrawl_new(const struct recrawl_opts *o)
{
    struct recrawl *r = mem_alloc(sizeof(*r));
    r->opts = *o;
    if (!o->strategy)
        r->opts.strategy = RECRAWL_GREEDY;
    if (!(o->ceiling > 0))
        r->opts.ceiling = RECRAWL_CEILING;
    if (!(o->encouragement > 0))
        r->opts.encouragement = RECRAWL_ENCOURAGEMENT;
    if (!(o->growth_most > 0))
        r->opts.growth_most = RECRAWL_GROWTH_MOST;
    if (!o->tasks_max)
        r->opts.tasks_max = 1;
    if (r->opts.tasks_max > RECRAWL_TASKS_MAX)
        r->opts.tasks_max = RECRAWL_TASKS_MAX;
    for (int i = 0; i < RECRAWL_RANKS; i++)
        if (o->interval[i] <= 0)
            r->opts.interval[i] = (int64_t)(HOUR_S * SECOND) << i;
    for (int i = 0; i < RECRAWL_RANKS; i++)
        r->interval_s[i] = (double)r->opts.interval[i] / SECOND;
    r->prior = o->prior;
    if (!(o->prior.changes > 0))
        r->prior = (struct change_prior){.changes = 1, .time = r->interval_s[RECRAWL_RANKS / 2]};
    for (unsigned i = 0; i < LEVELS; i++)
        r->first[i] = r->last[i] = NONE;
    r->free_first = NONE;
    r->calls = strategies[r->opts.strategy].calls;
    greedy_init(r);
    return r;
}

void recrawl_free(struct recrawl *r)
{
    if (!r)
        return;
    free(r->channels);
    free(r->heap);
    free(r->reach);
    free(r);
}

recrawl_strategy recrawl_strategy_of(const struct recrawl *r)
{
    return r->opts.strategy;
}

void recrawl_switch(struct recrawl *r, wall_ms now, recrawl_strategy s)
{
    r->opts.strategy = s;
    r->calls = strategies[s].calls;
    for (uint32_t i = 0; i < r->count; i++)
        if (r->channels[i].is_used)
            channel_leave(r, i);
    greedy_init(r);
    for (int i = 0; i < RECRAWL_RANKS; i++)
        r->interval_s[i] = (double)r->opts.interval[i] / SECOND;
    for (uint32_t i = 0; i < r->count; i++)
        if (r->channels[i].is_used)
            r->calls->place(r, i, seconds(now));
}

/* ---- channels ---- */

static void take_rule(struct channel *c, const struct recrawl_rule *rule)
{
    c->weight = rule->weight > 0 ? (float)rule->weight : 1;
    c->at_most_s = (float)rule->at_most_every / SECOND;
    c->at_least_s = (float)rule->at_least_every / SECOND;
    c->is_never = rule->is_never;
}

/* A slot of the array for one more, with room in the heap. By a thirty-second: bytes a channel are counted, and large
 * blocks grow without being copied. */
static uint32_t new_slot(struct recrawl *r)
{
    if (r->free_first != NONE) {
        uint32_t id = r->free_first;
        r->free_first = r->channels[id].next;
        return id;
    }
    if (r->count == r->cap) {
        r->cap += r->cap / 32 + 64;
        r->channels = mem_realloc(r->channels, r->cap * sizeof(*r->channels));
        r->heap = mem_realloc(r->heap, r->cap * sizeof(*r->heap));
    }
    return (uint32_t)r->count++;
}

status recrawl_put(struct recrawl *r, wall_ms now, const struct recrawl_rule *rule, const struct recrawl_history *h,
                   uint32_t *out)
{
    if (r->used >= RECRAWL_CHANNELS_MAX)
        return ST_LIMIT;
    uint32_t id = new_slot(r);
    struct channel *c = &r->channels[id];
    uint32_t asked = seconds(h->asked ? h->asked : h->visited);
    *c = (struct channel){.visited = seconds(h->visited),
                          .asked = asked,
                          .before = seconds(h->visited),
                          .submitted = asked,
                          .rate = h->rate,
                          .cost_s = (float)(h->cost_ms / SECOND),
                          .rank = (uint8_t)(h->rank < RECRAWL_RANKS ? h->rank : RECRAWL_RANKS - 1),
                          .submissions = h->submissions,
                          .updates = h->updates,
                          .under_way = (uint8_t)(h->under_way < RECRAWL_TASKS_MAX ? h->under_way : RECRAWL_TASKS_MAX),
                          .next = NONE,
                          .prev = NONE,
                          .is_used = true};
    take_rule(c, rule);
    r->used++;
    r->in_rank[c->rank]++;
    r->calls->place(r, id, seconds(now));
    *out = id;
    return ST_OK;
}

static struct channel *channel_of(struct recrawl *r, uint32_t id)
{
    assert(id < r->count && r->channels[id].is_used);
    return &r->channels[id];
}

static void place_anew(struct recrawl *r, uint32_t id, uint32_t now)
{
    channel_leave(r, id);
    r->calls->place(r, id, now);
}

void recrawl_edit(struct recrawl *r, wall_ms now, uint32_t channel, const struct recrawl_rule *rule)
{
    take_rule(channel_of(r, channel), rule);
    place_anew(r, channel, seconds(now));
}

/* Of iir and icr: how many channels of a rank have enough updates. */
static bool is_full(const struct channel *c)
{
    return c->window > WINDOW_UPDATES;
}

void recrawl_remove(struct recrawl *r, uint32_t channel)
{
    struct channel *c = channel_of(r, channel);
    channel_leave(r, channel);
    r->in_rank[c->rank]--;
    r->full[c->rank] -= is_full(c);
    *c = (struct channel){.next = r->free_first};
    r->free_first = channel;
    r->used--;
}

size_t recrawl_count(const struct recrawl *r)
{
    return r->used;
}

/* ---- tasks ---- */

static double elapsed(uint32_t t, uint32_t now)
{
    return (double)now - (double)t;
}

static void submit(struct recrawl *r, uint32_t id, uint32_t at)
{
    struct channel *c = &r->channels[id];
    channel_leave(r, id);
    owe(c, fmin(0, elapsed(c->submitted, at) / ceiling_gap(r, c) - 1)); /* before its turn: out of what is owed */
    c->asked_before = c->asked;
    c->asked = c->submitted = at;
    c->not_before = 0;
    c->was_told = c->is_told;
    c->is_told = false;
    c->submissions++;
    c->under_way++;
    r->window[c->rank].submissions++;
    r->calls->place(r, id, at);
}

status recrawl_next(struct recrawl *r, wall_ms now, bool has_slot, uint32_t *channel, wall_ms *wake)
{
    uint32_t at = seconds(now);
    for (int i = 0; i < DUE_A_CALL && r->heap_count && r->heap[0].key <= at; i++) {
        uint32_t id = r->heap[0].channel;
        channel_unwait(r, id);
        r->calls->due(r, id, at);
    }
    r->is_behind = r->heap_count && r->heap[0].key <= at;
    uint32_t id = r->calls->take(r, at, has_slot);
    if (id == NONE) {
        wall_ms due = r->heap_count ? (wall_ms)r->heap[0].key * SECOND : MONO_NEVER;
        *wake = r->is_behind ? now : due;
        return ST_AGAIN;
    }
    submit(r, id, at);
    *channel = id;
    return ST_OK;
}

static void end_task(struct channel *c)
{
    if (c->under_way)
        c->under_way--;
}

void recrawl_submitted(struct recrawl *r, wall_ms now, uint32_t channel)
{
    (void)channel_of(r, channel);
    submit(r, channel, seconds(now));
}

void recrawl_decline(struct recrawl *r, wall_ms now, uint32_t channel, wall_ms again)
{
    struct channel *c = channel_of(r, channel);
    end_task(c);
    c->submissions--;
    r->window[c->rank].submissions--;
    c->asked = c->asked_before;
    owe(c, 1 - elapsed(c->asked, c->submitted) / ceiling_gap(r, c)); /* what the submission took, and no more */
    c->submitted = c->asked;
    c->is_told = c->is_told || c->was_told;
    c->not_before = seconds(again);
    place_anew(r, channel, seconds(now));
}

int64_t recrawl_timeout_ms(const struct recrawl *r, uint32_t channel)
{
    const struct channel *c = &r->channels[channel];
    if (r->opts.strategy == RECRAWL_GREEDY)
        return (int64_t)fmin(SECOND / channel_rate(r, c), 1e15);
    return (int64_t)(r->interval_s[c->rank] * SECOND);
}

static void learn_gap(struct channel *c, uint32_t now)
{
    double gap = (double)now - (double)c->visited;
    double n = fmin(c->updates, GAP_UPDATES);
    if (c->visited && gap > 0)
        c->gap_s = c->gap_s > 0 ? (float)((double)c->gap_s + (gap - (double)c->gap_s) / fmax(n, 1)) : (float)gap;
}

static void learn_rate(struct recrawl *r, struct channel *c, uint32_t now, const struct recrawl_result *result)
{
    double gap = (double)now - (double)c->visited;
    double since = result->changed > 0 ? (double)now - (double)seconds(result->changed) : -1;
    if (c->visited)
        change_observe(&c->rate, &r->prior, gap, result->has_changed, since);
}

static void learn_cost(struct recrawl *r, struct channel *c, int64_t took_ms)
{
    double s = (double)took_ms / SECOND;
    if (!(s > 0))
        return;
    c->cost_s = (float)(c->cost_s > 0 ? (double)c->cost_s + (s - (double)c->cost_s) / COST_NEWS : s);
    r->cost_s = r->cost_s > 0 ? r->cost_s + (s - r->cost_s) / 1000 : s;
}

static bool is_other(double was, double is)
{
    return fabs(is / was - 1) > PRIOR_MOVES;
}

static void fit_prior(struct recrawl *r, uint32_t now)
{
    struct change_prior was = r->prior;
    change_population_fit(&r->sweep, &r->prior);
    if (r->prior.changes > PRIOR_MOST) {
        r->prior.time *= PRIOR_MOST / r->prior.changes;
        r->prior.changes = PRIOR_MOST;
    }
    r->sweep = (struct change_population){0};
    r->sweep_at = 0;
    if (r->calls->learned && (is_other(was.changes, r->prior.changes) || is_other(was.time, r->prior.time)))
        r->calls->learned(r, now);
}

/* The population, a few channels with every result: a whole round gives one step of the fit. */
static void sweep(struct recrawl *r, uint32_t now)
{
    for (int i = 0; i < SWEEP_A_RESULT; i++) {
        if (r->sweep_at >= r->count)
            fit_prior(r, now);
        const struct channel *c = &r->channels[r->sweep_at++];
        if (c->is_used && (c->rate.changes > 0 || c->rate.time > 0))
            change_population_add(&r->sweep, &c->rate, &r->prior);
    }
}

static void move_rank(struct recrawl *r, struct channel *c)
{
    unsigned rank = recrawl_rank_of(r, change_rate_mean(&c->rate, &r->prior), c->rank);
    if (rank == c->rank)
        return;
    r->in_rank[c->rank]--;
    r->full[c->rank] -= is_full(c);
    c->rank = (uint8_t)rank;
    r->in_rank[rank]++;
    r->full[rank] += is_full(c);
}

void recrawl_done(struct recrawl *r, wall_ms now, uint32_t channel, const struct recrawl_result *result)
{
    struct channel *c = channel_of(r, channel);
    uint32_t at = seconds(now);
    end_task(c);
    c->updates++;
    learn_gap(c, at);
    learn_rate(r, c, at, result);
    learn_cost(r, c, result->took_ms);
    c->visited = max_u32(c->visited, at);
    if (c->at_most_s > 0 && !c->under_way) /* its order may have waited; the rule is about when the site is asked */
        c->asked = max_u32(c->asked, seconds(now - (result->took_ms > 0 ? result->took_ms : 0)));
    if (!c->before)
        c->before = at;
    r->window[c->rank].updates++;
    if (c->window < UINT8_MAX) {
        bool was_full = is_full(c);
        c->window++;
        r->full[c->rank] += !was_full && is_full(c);
    }
    if (!r->opts.has_given_ranks)
        move_rank(r, c);
    sweep(r, at);
    place_anew(r, channel, at);
    if (r->calls->updated)
        r->calls->updated(r, at);
}

/* When the task that brought the last update was submitted, as far as that is known. */
static uint32_t asked_of_visit(const struct channel *c)
{
    double asked = (double)c->visited - (double)c->cost_s;
    return asked > 0 ? min_u32((uint32_t)asked, c->submitted) : 0;
}

void recrawl_lost(struct recrawl *r, wall_ms now, uint32_t channel, wall_ms again)
{
    struct channel *c = channel_of(r, channel);
    end_task(c);
    owe(c, 1);
    if (!c->under_way) /* while others go on nobody knows whether the last is one of them: it counts */
        c->asked = asked_of_visit(c);
    c->not_before = seconds(again);
    place_anew(r, channel, seconds(now));
}

void recrawl_told(struct recrawl *r, wall_ms now, uint32_t channel)
{
    channel_of(r, channel)->is_told = true;
    place_anew(r, channel, seconds(now));
}

/* ---- looking ---- */

void recrawl_look(const struct recrawl *r, wall_ms now, uint32_t channel, struct recrawl_view *out)
{
    const struct channel *c = &r->channels[channel];
    bool is_greedy = r->opts.strategy == RECRAWL_GREEDY;
    *out = (struct recrawl_view){
        .history = {.visited = (wall_ms)c->visited * SECOND,
                    .asked = (wall_ms)c->asked * SECOND,
                    .rate = c->rate,
                    .cost_ms = (double)c->cost_s * SECOND,
                    .rank = c->rank,
                    .under_way = c->under_way,
                    .submissions = c->submissions,
                    .updates = c->updates},
        .rate_a_day = channel_rate(r, c) * 24 * HOUR_S,
        .rate_deviation = change_rate_log_deviation(&c->rate, &r->prior),
        .asked = (wall_ms)c->asked * SECOND,
        .open = (wall_ms)channel_open(r, c) * SECOND,
        .due = is_greedy || c->is_never ? MONO_NEVER : (wall_ms)interval_next(r, c) * SECOND,
        .value = is_greedy ? greedy_value(r, c, seconds(now)) : 0,
        .under_way = c->under_way,
        .is_told = c->is_told,
    };
}

void recrawl_intervals(const struct recrawl *r, double out[RECRAWL_RANKS])
{
    for (int i = 0; i < RECRAWL_RANKS; i++)
        out[i] = r->interval_s[i] * SECOND;
}

const struct change_prior *recrawl_prior(const struct recrawl *r)
{
    return &r->prior;
}

size_t recrawl_bytes(const struct recrawl *r)
{
    return sizeof(*r) + r->cap * (sizeof(*r->channels) + sizeof(*r->heap));
}
