#include "sim/recrawl_run.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "sim/draw.h"
#include "sim/recrawl_fleet.h"
#include "sim/recrawl_optimum.h"

#define START_S INT64_C(1000000000) /* step 0 */
#define STEP_S 60
#define STEP_MS (STEP_S * 1000)
#define PAGE_BYTES (RECRAWL_PAGE_BITS / 8)
#define VARIATION_STEPS 100
#define TELL_STEPS 1000

/* The referee's view of a channel. */
struct truth {
    struct ground_changes changes;
    uint32_t settled, updated; /* steps: freshness is counted up to; last update */
    uint32_t updates;
    bool is_stale;
};

struct run {
    const struct recrawl_run_opts *opts;
    struct recrawl_ground ground;
    struct recrawl *plan;
    struct fleet *fleet;
    struct truth *truth;
    double *fresh; /* steps, of each channel since the last bin */
    struct recrawl_figures *f;
    struct recrawl_run_result *out;
    double fresh_rank[RECRAWL_RANKS]; /* channel steps after the warm-up */
    uint32_t step, warm;
    double bytes, task_seconds, all_bytes;
    double variation, variation_count, queued;
};

static wall_ms time_of(uint32_t step)
{
    return (START_S + (int64_t)step * STEP_S) * 1000;
}

/* ---- what is current ---- */

static void settle(struct run *r, size_t i)
{
    struct truth *t = &r->truth[i];
    double until = fmin(r->step, t->changes.next);
    if (!t->is_stale && until > t->settled)
        r->fresh[i] += until - t->settled;
    t->is_stale = t->is_stale || t->changes.next <= r->step;
    t->settled = r->step;
}

/* True: it had changed since the last update. */
static bool renew(struct run *r, size_t i)
{
    struct truth *t = &r->truth[i];
    settle(r, i);
    bool was_stale = t->is_stale;
    while (t->changes.next <= r->step)
        ground_changes_step(&r->ground, i, &t->changes);
    t->is_stale = false;
    t->updated = r->step;
    t->updates++;
    return was_stale;
}

static void ended(void *arg, const struct fleet_end *e)
{
    struct run *r = arg;
    unsigned rank = r->ground.channel[e->channel].rank;
    r->task_seconds += (double)(r->step - e->asked) * STEP_S;
    if (e->fate != FATE_DONE) {
        r->f->late += e->fate == FATE_LATE;
        r->f->lost += e->fate == FATE_LOST;
        recrawl_lost(r->plan, time_of(r->step), e->channel, 0);
        return;
    }
    double bytes = (double)r->ground.channel[e->channel].pages * PAGE_BYTES;
    r->bytes += bytes;
    r->all_bytes += bytes;
    r->f->updates++;
    r->f->updates_by_rank[rank]++;
    struct recrawl_result result = {.has_changed = renew(r, e->channel), .took_ms = (int64_t)(e->run_steps * STEP_MS)};
    recrawl_done(r->plan, time_of(r->step), e->channel, &result);
}

/* ---- steps ---- */

static void submit_all(struct run *r)
{
    wall_ms now = time_of(r->step), wake = now;
    uint32_t channel;
    for (;;) {
        if (recrawl_next(r->plan, now, fleet_free_threads(r->fleet) > 0, &channel, &wake) != ST_OK) {
            if (wake > now)
                break;
            continue; /* it has more to do than one call should */
        }
        r->f->tasks++;
        r->f->tasks_by_rank[r->ground.channel[channel].rank]++;
        fleet_submit(r->fleet, channel, (uint32_t)(recrawl_timeout_ms(r->plan, channel) / STEP_MS));
    }
}

static void swing(struct run *r)
{
    size_t n = r->opts->ground.agents;
    if (!r->opts->swing)
        return;
    if (r->step == r->opts->swing)
        fleet_leave(r->fleet, 1, n, 2);
    if (r->step == r->opts->swing + RECRAWL_DAY)
        fleet_come(r->fleet, 0, 2 * n, 1);
}

static void close_bin(struct run *r)
{
    struct recrawl_bin *b = &r->out->bins[r->out->bin_count++];
    struct fleet_figures f;
    double weights = 0;
    fleet_figures(r->fleet, &f);
    for (size_t i = 0; i < r->ground.channels; i++) {
        unsigned rank = r->ground.channel[i].rank;
        settle(r, i);
        b->freshness_weighted += recrawl_weight[rank] * r->fresh[i];
        weights += recrawl_weight[rank];
        if (r->step > r->warm)
            r->fresh_rank[rank] += r->fresh[i];
        r->fresh[i] = 0;
    }
    b->freshness_weighted /= weights * RECRAWL_BIN;
    b->queued /= RECRAWL_BIN;
    b->bytes = r->bytes / (RECRAWL_BIN * STEP_S);
    b->threads /= RECRAWL_BIN;
    r->bytes = 0;
}

static void one_step(struct run *r)
{
    struct recrawl_bin *b = &r->out->bins[r->out->bin_count];
    fleet_step(r->fleet, r->step);
    swing(r);
    submit_all(r);
    r->queued += (double)fleet_queued(r->fleet);
    b->queued += (double)fleet_queued(r->fleet);
    b->threads += (double)(fleet_present(r->fleet) * RECRAWL_THREADS);
    if (r->step % VARIATION_STEPS == 0) {
        r->variation += fleet_load_variation(r->fleet);
        r->variation_count++;
    }
    if (r->step % RECRAWL_BIN == 0)
        close_bin(r);
    if (r->opts->tell && r->step % TELL_STEPS == 0)
        r->opts->tell(r->opts->arg, r->step, r->ground.steps);
}

/* ---- the end ---- */

static void fill_phase(struct run *r, struct recrawl_phase *p, double page_rate)
{
    double n = 0, ceiling = r->opts->ceiling > 0 ? r->opts->ceiling : RECRAWL_CEILING;
    struct recrawl_optimum best;
    for (size_t i = 0; i < r->out->bin_count; i++) {
        uint32_t end = (uint32_t)(i + 1) * RECRAWL_BIN;
        if (end <= p->from || end > p->to)
            continue;
        p->threads += r->out->bins[i].threads;
        p->freshness_weighted += r->out->bins[i].freshness_weighted;
        n++;
    }
    if (n > 0) {
        p->threads /= n;
        p->freshness_weighted /= n;
    }
    p->optimum_weighted = -1;
    if (r->ground.changes)
        return;
    recrawl_optimum(&r->ground, p->threads, page_rate, ceiling, &best);
    p->optimum_weighted = best.freshness_weighted;
}

static void fill_phases(struct run *r, double page_rate)
{
    uint32_t swing = r->opts->swing, steps = r->ground.steps;
    struct recrawl_phase *p = r->out->phases;
    if (!swing)
        p[r->out->phase_count++] = (struct recrawl_phase){.from = r->warm, .to = steps};
    else {
        p[r->out->phase_count++] = (struct recrawl_phase){.from = r->warm < swing ? r->warm : 0, .to = swing};
        p[r->out->phase_count++] = (struct recrawl_phase){.from = swing, .to = swing + RECRAWL_DAY};
        p[r->out->phase_count++] = (struct recrawl_phase){.from = swing + RECRAWL_DAY, .to = steps};
    }
    for (size_t i = 0; i < r->out->phase_count; i++)
        fill_phase(r, &p[i], page_rate);
}

static void fill_ranks(struct run *r)
{
    struct recrawl_figures *f = r->f;
    double visits[RECRAWL_RANKS] = {0}, weighted = 0, weights = 0, plain = 0;
    double steps = r->ground.steps, counted = (double)(r->out->bin_count * RECRAWL_BIN - r->warm);
    for (size_t i = 0; i < r->ground.channels; i++) {
        unsigned rank = r->ground.channel[i].rank;
        double quality = (double)r->truth[i].updates / steps * ground_change_gap(&r->ground, i);
        f->channels_by_rank[rank]++;
        f->quality += quality / (double)r->ground.channels;
        f->quality_weighted += recrawl_weight[rank] * quality / (double)r->ground.channels;
        f->starved += r->truth[i].updated < r->ground.steps / 2;
        visits[rank] += quality;
    }
    for (int k = 0; k < RECRAWL_RANKS; k++) {
        double n = (double)f->channels_by_rank[k];
        f->interval_by_rank[k] = f->tasks_by_rank[k] ? n * steps / (double)f->tasks_by_rank[k] : 0;
        f->freshness_by_rank[k] = n > 0 ? r->fresh_rank[k] / (n * counted) : 0;
        f->visits_a_change_most = fmax(f->visits_a_change_most, n > 0 ? visits[k] / n : 0);
        weighted += recrawl_weight[k] * n * f->freshness_by_rank[k];
        plain += n * f->freshness_by_rank[k];
        weights += recrawl_weight[k] * n;
    }
    f->freshness = plain / (double)r->ground.channels;
    f->freshness_weighted = weighted / weights;
}

static void fill(struct run *r)
{
    struct recrawl_figures *f = r->f;
    struct fleet_figures fleet;
    struct recrawl_optimum best;
    double steps = r->ground.steps, ceiling = r->opts->ceiling > 0 ? r->opts->ceiling : RECRAWL_CEILING;
    fleet_figures(r->fleet, &fleet);
    fill_ranks(r);
    f->agents = r->opts->ground.agents;
    f->success_rate = f->tasks ? (double)f->updates / (double)f->tasks : 0;
    f->queued_mean = r->queued / steps;
    f->throughput = r->all_bytes / (steps * STEP_S);
    f->task_throughput = r->task_seconds > 0 ? r->all_bytes / r->task_seconds : 0;
    f->forwarded = fleet.forwarded;
    f->handed_over = fleet.handed_over;
    f->moves = fleet.forwarded + fleet.handed_over;
    f->load_variation = r->variation_count > 0 ? r->variation / r->variation_count : 0;
    f->busy = fleet.busy_steps / fleet.thread_steps;
    recrawl_optimum(&r->ground, fleet.thread_steps / steps, fleet.page_rate, ceiling, &best);
    f->capacity = fleet.thread_steps / steps / best.demand;
    fill_phases(r, fleet.page_rate);
    f->optimum_weighted = r->opts->swing ? -1 : r->out->phases[0].optimum_weighted;
}

/* ---- the beginning ---- */

static void put_channels(struct run *r)
{
    for (size_t i = 0; i < r->ground.channels; i++) {
        unsigned rank = r->ground.channel[i].rank;
        struct rng rng = draw_for(r->ground.seed, DRAW_ORDER, i, 0);
        double ago = rng_unit(&rng) * recrawl_mean_gap[rank] * STEP_S; /* as if it had gone on so for long */
        struct recrawl_rule rule = {.weight = recrawl_weight[rank]};
        struct recrawl_history h = {.visited = time_of(0) - (int64_t)ago * 1000, .rank = rank};
        uint32_t id;
        if (recrawl_put(r->plan, time_of(0), &rule, &h, &id) != ST_OK || id != i)
            abort(); /* RECRAWL_CHANNELS_MAX is the caller's to keep to */
        ground_changes_begin(&r->ground, i, &r->truth[i].changes);
    }
}

void recrawl_run(const struct recrawl_run_opts *o, struct recrawl_run_result *out)
{
    *out = (struct recrawl_run_result){0};
    struct run r = {.opts = o, .out = out, .f = &out->figures};
    struct recrawl_ground_opts ground = o->ground;
    ground.agents *= o->swing ? 2 : 1;
    recrawl_ground_init(&r.ground, &ground);
    struct recrawl_opts plan = {.strategy = o->strategy,
                                .ceiling = o->ceiling,
                                .encouragement = o->encouragement,
                                .tasks_max = RECRAWL_TASKS_MAX,
                                .has_given_ranks = !o->finds_ranks};
    for (int k = 0; k < RECRAWL_RANKS; k++)
        plan.interval[k] = (int64_t)recrawl_mean_gap[k] * STEP_MS;
    r.plan = recrawl_new(&plan);
    r.fleet = fleet_new(&r.ground, o->ground.agents, ended, &r);
    r.truth = mem_alloc(r.ground.channels * sizeof(*r.truth));
    r.fresh = mem_alloc(r.ground.channels * sizeof(*r.fresh));
    r.warm = r.ground.steps / RECRAWL_WARM_SHARE / RECRAWL_BIN * RECRAWL_BIN;
    out->bins = mem_alloc((r.ground.steps / RECRAWL_BIN + 1) * sizeof(*out->bins));
    put_channels(&r);
    for (r.step = 1; r.step <= r.ground.steps; r.step++)
        one_step(&r);
    r.step = r.ground.steps;
    fill(&r);
    fleet_free(r.fleet);
    recrawl_free(r.plan);
    free(r.truth);
    free(r.fresh);
    recrawl_ground_done(&r.ground);
}

void recrawl_run_result_done(struct recrawl_run_result *r)
{
    free(r->bins);
    *r = (struct recrawl_run_result){0};
}
