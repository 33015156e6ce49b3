#include "test.h"

#include <math.h>

#include "base/mem.h"
#include "base/rng.h"
#include "plan/recrawl.h"
#include "plan/recrawl_pages.h"

#define SECOND 1000
#define MINUTE (60 * SECOND)
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)
#define START INT64_C(1700000000000)

static const struct recrawl_rule plain = {0};
static const struct recrawl_history fresh = {0};

static uint32_t put(struct recrawl *r, wall_ms now, const struct recrawl_rule *rule, const struct recrawl_history *h)
{
    uint32_t id = UINT32_MAX;
    assert_int_equal(recrawl_put(r, now, rule, h, &id), ST_OK);
    return id;
}

static struct recrawl *with(recrawl_strategy s)
{
    return recrawl_new(&(struct recrawl_opts){.strategy = s});
}

/* The next channel, or UINT32_MAX; `calls` that it took, NULL is fine. */
static uint32_t next_in(struct recrawl *r, wall_ms now, int *calls)
{
    uint32_t id = UINT32_MAX;
    wall_ms wake;
    for (int n = 1;; n++) {
        status st = recrawl_next(r, now, true, &id, &wake);
        if (calls)
            *calls = n;
        if (st == ST_OK || wake > now)
            return id;
    }
}

static uint32_t next(struct recrawl *r, wall_ms now)
{
    return next_in(r, now, NULL);
}

static void done(struct recrawl *r, wall_ms now, uint32_t id, bool has_changed)
{
    recrawl_done(r, now, id, &(struct recrawl_result){.has_changed = has_changed, .took_ms = 10 * SECOND});
}

static const recrawl_strategy all[] = {RECRAWL_FIXED, RECRAWL_IIR, RECRAWL_ICR, RECRAWL_GREEDY};

/* ---- what all do ---- */

static void names_are_read(void **state)
{
    recrawl_strategy s;
    for (size_t i = 0; i < 4; i++)
        assert_true(recrawl_strategy_parse(span_str(recrawl_strategy_name(all[i])), &s) && s == all[i]);
    assert_false(recrawl_strategy_parse(SPAN("none"), &s));
}

static void a_new_channel_goes_first(void **state)
{
    for (size_t i = 0; i < 4; i++) {
        struct recrawl *r = with(all[i]);
        uint32_t known = put(r, START, &plain, &(struct recrawl_history){.visited = START - 90 * MINUTE});
        uint32_t new = put(r, START, &plain, &fresh);
        uint32_t first = next(r, START);
        if (all[i] == RECRAWL_GREEDY)
            assert_int_equal(first, new);
        else
            assert_true(first == new || first == known);
        recrawl_free(r);
    }
}

/* After a restart: a task goes on, and the ceiling counts from when it was asked for. */
static void a_task_under_way_is_put_back_as_such(void **state)
{
    for (size_t i = 0; i < 4; i++) {
        struct recrawl *r = with(all[i]);
        struct recrawl_history h = {.visited = START - DAY, .asked = START - MINUTE, .rank = 2, .under_way = 1};
        uint32_t id = put(r, START, &plain, &h);
        struct recrawl_view v;
        recrawl_look(r, START, id, &v);
        assert_true(v.under_way == 1 && v.asked == START - MINUTE && v.history.asked == v.asked);
        assert_int_equal(next(r, START + DAY), UINT32_MAX);
        done(r, START + DAY, id, false);
        assert_int_equal(next(r, START + 3 * DAY), id);
        recrawl_free(r);
        r = with(all[i]); /* its task was lost with the restart: the site may have been asked */
        h.under_way = 0;
        id = put(r, START, &plain, &h);
        assert_int_equal(next(r, START + HOUR), UINT32_MAX);
        assert_int_equal(next(r, START + 6 * HOUR), id);
        recrawl_free(r);
    }
}

static void a_task_that_nobody_asked_for_counts(void **state)
{
    for (size_t i = 0; i < 4; i++) {
        struct recrawl *r = with(all[i]);
        uint32_t id = put(r, START, &plain, &(struct recrawl_history){.visited = START - DAY, .rank = 2});
        recrawl_submitted(r, START, id);
        assert_int_equal(next(r, START), UINT32_MAX);
        done(r, START + MINUTE, id, false);
        assert_int_equal(next(r, START + HOUR), UINT32_MAX);
        struct recrawl_view v;
        recrawl_look(r, START + HOUR, id, &v);
        assert_true(v.history.submissions == 1 && v.history.updates == 1 && v.asked == START);
        recrawl_free(r);
    }
}

static void never_means_never(void **state)
{
    for (size_t i = 0; i < 4; i++) {
        struct recrawl *r = with(all[i]);
        uint32_t id = put(r, START, &(struct recrawl_rule){.is_never = true}, &fresh);
        assert_int_equal(next(r, START + 100 * (int64_t)DAY), UINT32_MAX);
        recrawl_edit(r, START, id, &plain);
        assert_int_equal(next(r, START + 100 * (int64_t)DAY), id);
        recrawl_free(r);
    }
}

static void one_task_of_a_channel_at_a_time(void **state)
{
    for (size_t i = 0; i < 4; i++) {
        struct recrawl *r = with(all[i]);
        uint32_t id = put(r, START, &plain, &fresh);
        assert_int_equal(next(r, START), id);
        assert_int_equal(next(r, START + 10 * (int64_t)DAY), UINT32_MAX);
        done(r, START + 10 * (int64_t)DAY, id, true);
        assert_int_equal(next(r, START + 20 * (int64_t)DAY), id);
        recrawl_free(r);
    }
}

static void a_lost_task_is_asked_for_again(void **state)
{
    for (size_t i = 0; i < 4; i++) {
        struct recrawl *r = with(all[i]);
        uint32_t id = put(r, START, &plain, &fresh);
        assert_int_equal(next(r, START), id);
        recrawl_lost(r, START + MINUTE, id, START + 5 * MINUTE);
        assert_int_equal(next(r, START + 2 * MINUTE), UINT32_MAX); /* the caller's pause */
        assert_int_equal(next(r, START + 2 * HOUR), id);
        recrawl_free(r);
    }
}

static void a_channel_that_was_declined_comes_back(void **state)
{
    struct recrawl *r = with(RECRAWL_GREEDY);
    uint32_t id = put(r, START, &plain, &fresh);
    struct recrawl_view v;
    assert_int_equal(next(r, START), id);
    recrawl_decline(r, START, id, START + MINUTE);
    recrawl_look(r, START, id, &v);
    assert_int_equal(v.under_way, 0);
    assert_int_equal(v.history.submissions, 0);
    assert_int_equal(next(r, START + 30 * SECOND), UINT32_MAX);
    assert_int_equal(next(r, START + MINUTE), id);
    recrawl_free(r);
}

/* Whatever the strategy: due again when the caller said, told of as before, and not a visit nearer to the ceiling. */
static void declining_undoes_all_of_it(void **state)
{
    for (size_t i = 0; i < 4; i++) {
        struct recrawl *r = with(all[i]);
        struct recrawl_view before, after;
        uint32_t id = put(r, START, &plain, &(struct recrawl_history){.visited = START, .rank = 0});
        wall_ms now = START + 30 * (int64_t)HOUR;
        recrawl_told(r, START, id);
        for (int k = 0; k < 5; k++) {
            recrawl_look(r, now, id, &before);
            assert_int_equal(next(r, now), id);
            recrawl_decline(r, now, id, now + 10 * MINUTE);
            recrawl_look(r, now, id, &after);
            assert_true(after.is_told);
            assert_int_equal(after.asked, before.asked);
            assert_int_equal(after.open, now + 10 * MINUTE);
            assert_int_equal(next(r, now + 9 * MINUTE), UINT32_MAX);
            now += 10 * MINUTE;
        }
        assert_int_equal(next(r, now), id);
        done(r, now, id, true);
        recrawl_look(r, now, id, &after);
        assert_true((double)(after.open - now) >= DAY / (RECRAWL_CEILING * after.rate_a_day));
        recrawl_free(r);
    }
}

static void numbers_are_used_again(void **state)
{
    struct recrawl *r = with(RECRAWL_GREEDY);
    uint32_t a = put(r, START, &plain, &fresh), b = put(r, START, &plain, &fresh);
    recrawl_remove(r, a);
    assert_int_equal(recrawl_count(r), 1);
    assert_int_equal(next(r, START), b);
    assert_int_equal(next(r, START), UINT32_MAX);
    assert_int_equal(put(r, START, &plain, &fresh), a);
    assert_int_equal(next(r, START), a);
    recrawl_free(r);
}

static void the_operator_is_obeyed(void **state)
{
    for (size_t i = 0; i < 4; i++) {
        struct recrawl *r = with(all[i]);
        struct recrawl_history h = {.visited = START, .rank = 0};
        uint32_t often = put(r, START, &(struct recrawl_rule){.at_least_every = 10 * MINUTE}, &h);
        uint32_t seldom = put(r, START, &(struct recrawl_rule){.at_most_every = 3 * (int64_t)DAY}, &h);
        wall_ms last[2] = {START, START};
        int visits[2] = {0, 0};
        for (wall_ms now = START; now < START + 6 * (int64_t)DAY; now += MINUTE)
            for (uint32_t id; (id = next(r, now)) != UINT32_MAX;) {
                int which = id == often ? 0 : 1;
                int64_t gap = now - last[which];
                if (id == often ? gap > 11 * MINUTE : gap < 3 * (int64_t)DAY)
                    fail_msg("%s: %s after %lld s", recrawl_strategy_name(all[i]), id == often ? "often" : "seldom",
                             (long long)gap / SECOND);
                last[which] = now;
                visits[which]++;
                done(r, now, id, false);
            }
        assert_true(visits[0] > 6 * 24 * 5 && visits[1] >= 1 && seldom != often);
        recrawl_free(r);
    }
}

/* An order may lie with an agent that is away or busy: the site is asked later than the plan thought, and the rule is
 * about the site. */
static void the_rule_counts_from_when_the_site_was_asked(void **state)
{
    for (size_t i = 0; i < 4; i++) {
        struct recrawl *r = with(all[i]);
        struct recrawl_history h = {.visited = START - DAY, .rank = 0, .cost_ms = MINUTE};
        uint32_t id = put(r, START, &(struct recrawl_rule){.at_most_every = 6 * HOUR, .at_least_every = 6 * HOUR}, &h);
        struct recrawl_view v;
        wall_ms began = START, asked = 0;
        for (int visit = 0; visit < 4; visit++) {
            int64_t late = visit % 2 ? 2 * HOUR : 0;
            for (asked = began; next(r, asked) != id; asked += MINUTE)
                assert_true(asked < began + 7 * HOUR);
            if (visit && asked - began < 6 * HOUR - MINUTE)
                fail_msg("%s: after %lld s", recrawl_strategy_name(all[i]), (long long)(asked - began) / SECOND);
            began = asked + late;
            recrawl_done(r, began + MINUTE, id, &(struct recrawl_result){.took_ms = MINUTE});
        }
        recrawl_look(r, began, id, &v);
        assert_true(v.open >= began + 6 * HOUR - MINUTE && v.open <= began + 6 * HOUR + MINUTE);
        recrawl_free(r);
    }
}

/* ---- the ceiling: random lives, audited ---- */

#define AUDIT_CHANNELS 40

struct audit {
    wall_ms asked[AUDIT_CHANNELS]; /* of the last submission */
    int updates[AUDIT_CHANNELS];
    struct {
        uint32_t channel;
        wall_ms ends;
    } under_way[4 * AUDIT_CHANNELS];
    size_t count;
};

static void end_tasks(struct recrawl *r, struct audit *a, wall_ms now, struct rng *rng, bool has_losses)
{
    for (size_t i = 0; i < a->count;) {
        uint32_t id = a->under_way[i].channel;
        if (a->under_way[i].ends > now) {
            i++;
            continue;
        }
        if (has_losses && rng_below(rng, 4) == 0)
            recrawl_lost(r, now, id, 0);
        else {
            done(r, now, id, rng_below(rng, 2));
            a->updates[id]++;
        }
        a->under_way[i] = a->under_way[--a->count];
    }
}

/* Random lives. Without losses every two submissions of a channel are as far apart as its rate demands; with losses and
 * rates that are given, so many visits succeed at most as that gap goes into the time. */
static void ceiling_holds(recrawl_strategy s, bool has_losses, uint64_t seed)
{
    struct recrawl_opts o = {.strategy = s, .tasks_max = 4, .has_given_ranks = has_losses};
    struct recrawl *r = recrawl_new(&o);
    struct audit a = {0};
    struct rng rng;
    rng_seed(&rng, seed);
    for (uint32_t i = 0; i < AUDIT_CHANNELS; i++)
        put(r, START, &plain, &(struct recrawl_history){.rank = i % RECRAWL_RANKS});
    for (wall_ms now = START; now < START + 4 * (int64_t)DAY; now += MINUTE) {
        end_tasks(r, &a, now, &rng, has_losses);
        for (uint32_t id; a.count < 4 * AUDIT_CHANNELS && (id = next(r, now)) != UINT32_MAX;) {
            struct recrawl_view v;
            recrawl_look(r, now, id, &v);
            double least = DAY / (RECRAWL_CEILING * v.rate_a_day);
            if (!has_losses && a.asked[id] && (double)(now - a.asked[id]) < least - SECOND)
                fail_msg("%s: channel %u after %lld s, at least %g s are open", recrawl_strategy_name(s), id,
                         (long long)(now - a.asked[id]) / SECOND, least / SECOND);
            if (has_losses && s != RECRAWL_GREEDY && a.updates[id] > 1 + (double)(now - START) / least)
                fail_msg("%s: channel %u: %d visits by then", recrawl_strategy_name(s), id, a.updates[id]);
            a.asked[id] = now;
            a.under_way[a.count].channel = id;
            a.under_way[a.count++].ends = now + MINUTE + (int64_t)rng_below(&rng, 2 * HOUR);
        }
    }
    recrawl_free(r);
}

static void the_ceiling_is_never_broken(void **state)
{
    for (size_t i = 0; i < 4; i++)
        for (uint64_t seed = 1; seed <= 3; seed++) {
            ceiling_holds(all[i], false, seed);
            ceiling_holds(all[i], true, seed);
        }
}

/* One task in eight is lost, and it takes half a turn until that is noticed: turn and delay are made up for. The
 * ceiling is half a visit a change here, so that it is what holds fixed back. */
static void turns_of_lost_tasks_are_made_up_for(void **state)
{
    struct recrawl_opts o = {.strategy = RECRAWL_FIXED, .has_given_ranks = true, .ceiling = 0.5};
    struct recrawl *r = recrawl_new(&o);
    struct rng rng;
    uint32_t id = put(r, START, &plain, &(struct recrawl_history){.visited = START, .rank = 0});
    wall_ms ends = 0, last = START;
    int updates = 0, lost = 0;
    bool will_be_lost = false, was_lost = false;
    const int64_t gap = 2 * HOUR, length = 400 * (int64_t)DAY;
    rng_seed(&rng, 8);
    for (wall_ms now = START; now < START + length; now += MINUTE) {
        if (ends && now >= ends) {
            if (will_be_lost)
                recrawl_lost(r, now, id, 0);
            else
                done(r, now, id, true);
            was_lost = will_be_lost;
            lost += will_be_lost;
            updates += !will_be_lost;
            ends = 0;
        }
        if (updates > 1 + (double)(now - START) / gap)
            fail_msg("%d visits by then", updates);
        if (next(r, now) != id)
            continue;
        if (!was_lost && now - last < gap * 7 / 8)
            fail_msg("%lld s after the last", (long long)(now - last) / SECOND);
        last = now;
        will_be_lost = rng_below(&rng, 8) == 0;
        ends = now + HOUR;
    }
    assert_true(lost > 500);
    if (updates < 0.96 * (double)length / gap)
        fail_msg("%d visits, %d lost, of %g", updates, lost, (double)length / gap);
    recrawl_free(r);
}

static void who_is_told_of_moves_forward_but_not_over_the_ceiling(void **state)
{
    for (size_t i = 0; i < 4; i++) {
        struct recrawl *r = with(all[i]);
        struct recrawl_view v;
        uint32_t id = put(r, START, &plain, &(struct recrawl_history){.visited = START, .rank = 2});
        recrawl_told(r, START + MINUTE, id);
        recrawl_look(r, START + MINUTE, id, &v);
        assert_true(v.is_told && v.open > START + HOUR);
        assert_int_equal(next(r, START + MINUTE), UINT32_MAX);
        assert_int_equal(next(r, v.open), id); /* at the ceiling, and not only when the interval is over */
        recrawl_look(r, v.open, id, &v);
        assert_false(v.is_told);
        recrawl_free(r);
    }
}

/* ---- intervals ---- */

static void fixed_comes_every_interval(void **state)
{
    struct recrawl *r = with(RECRAWL_FIXED);
    uint32_t id = put(r, START, &plain, &(struct recrawl_history){.visited = START, .rank = 1});
    wall_ms wake = 0;
    uint32_t got;
    assert_int_equal(recrawl_next(r, START, false, &got, &wake), ST_AGAIN);
    assert_int_equal(wake, START + 2 * HOUR);
    assert_int_equal(recrawl_next(r, wake, false, &got, &wake), ST_OK); /* nobody is free: all the same */
    assert_int_equal(got, id);
    recrawl_free(r);
}

/* Six updates 90 minutes apart of each channel of rank 0: the next interval is 90 minutes, encouraged. */
static void iir_takes_the_gaps_that_it_saw(void **state)
{
    struct recrawl_opts o = {.strategy = RECRAWL_IIR, .has_given_ranks = true, .encouragement = 0.5};
    struct recrawl *r = recrawl_new(&o);
    double intervals[RECRAWL_RANKS];
    wall_ms now = START;
    for (uint32_t i = 0; i < 4; i++)
        put(r, START, &plain, &(struct recrawl_history){.visited = START, .rank = 0});
    put(r, START, &plain, &(struct recrawl_history){.visited = START, .rank = 4});
    for (int round = 0; round < 6; round++) {
        now += 90 * MINUTE;
        for (uint32_t id; (id = next(r, now)) != UINT32_MAX;)
            if (id < 4)
                done(r, now, id, true);
        recrawl_intervals(r, intervals);
        assert_float_equal(intervals[0], round < 5 ? HOUR : 45 * MINUTE, 1);
    }
    /* Rank 4 has had no update: its interval; not more than four times the rank before it. */
    assert_float_equal(intervals[1], 2 * HOUR, 1);
    assert_true(intervals[4] <= 4 * intervals[3] + 1);
    recrawl_free(r);
}

static void slower_ranks_stay_slower(void **state)
{
    for (size_t k = 1; k < 3; k++) {
        struct recrawl_opts o = {.strategy = all[k], .has_given_ranks = true};
        struct recrawl *r = recrawl_new(&o);
        struct rng rng;
        double intervals[RECRAWL_RANKS];
        rng_seed(&rng, 3);
        for (uint32_t i = 0; i < 50; i++)
            put(r, START, &plain, &(struct recrawl_history){.visited = START, .rank = i % RECRAWL_RANKS});
        for (wall_ms now = START; now < START + 20 * (int64_t)DAY; now += MINUTE) {
            for (uint32_t id; (id = next(r, now)) != UINT32_MAX;) {
                if (rng_below(&rng, 3) == 0)
                    recrawl_lost(r, now, id, 0);
                else
                    done(r, now, id, true);
            }
            recrawl_intervals(r, intervals);
            for (int i = 1; i < RECRAWL_RANKS; i++)
                if (intervals[i] < intervals[i - 1] || intervals[i] > 4.001 * intervals[i - 1])
                    fail_msg("%s: rank %d has %g s, the one before %g", recrawl_strategy_name(all[k]), i,
                             intervals[i] / SECOND, intervals[i - 1] / SECOND);
        }
        recrawl_free(r);
    }
}

static void icr_keeps_the_ratios(void **state)
{
    struct recrawl_opts o = {.strategy = RECRAWL_ICR, .has_given_ranks = true, .encouragement = 1};
    struct recrawl *r = recrawl_new(&o);
    double intervals[RECRAWL_RANKS];
    for (uint32_t i = 0; i < 50; i++)
        put(r, START, &plain, &(struct recrawl_history){.visited = START, .rank = i % RECRAWL_RANKS});
    for (wall_ms now = START; now < START + 5 * (int64_t)DAY; now += 7 * MINUTE)
        for (uint32_t id; (id = next(r, now)) != UINT32_MAX;)
            done(r, now, id, true);
    recrawl_intervals(r, intervals);
    for (int i = 1; i < RECRAWL_RANKS; i++)
        assert_float_equal(intervals[i] / intervals[i - 1], 2, 0.001);
    recrawl_free(r);
}

static void ranks_follow_the_rate_and_do_not_flutter(void **state)
{
    struct recrawl *r = with(RECRAWL_FIXED);
    assert_int_equal(recrawl_rank_of(r, 1.0 / (60 * 60), 4), 0);
    assert_int_equal(recrawl_rank_of(r, 1.0 / (960 * 60), 0), 4);
    assert_int_equal(recrawl_rank_of(r, 1.0 / (86 * 60), 0), 0); /* just over the border at 84.9 minutes */
    assert_int_equal(recrawl_rank_of(r, 1.0 / (84 * 60), 1), 1);
    assert_int_equal(recrawl_rank_of(r, 1.0 / (102 * 60), 0), 1);
    recrawl_free(r);
}

/* ---- greedy ---- */

/* The naive twin looks at all channels: what greedy takes is within a level of the best that is open. */
static void greedy_takes_nearly_the_best(void **state)
{
    enum { N = 500 };
    struct recrawl *r = with(RECRAWL_GREEDY);
    struct rng rng;
    double worst = 1;
    rng_seed(&rng, 11);
    for (int i = 0; i < N; i++)
        put(r, START,
            &(struct recrawl_rule){.weight = exp(4 * rng_unit(&rng)),
                                   .at_most_every = rng_below(&rng, 10) ? 0 : (int64_t)rng_below(&rng, DAY)},
            &(struct recrawl_history){
                .visited = START - (int64_t)rng_below(&rng, 2 * DAY),
                .rate = {(float)(20 * rng_unit(&rng)), (float)(40.0 * DAY / SECOND * rng_unit(&rng))},
                .cost_ms = 1000 + (double)rng_below(&rng, 100000)});
    wall_ms now = START;
    for (int step = 0; step < 6000; step++) {
        now += (int64_t)rng_below(&rng, step < 3000 ? 5 * MINUTE : 30 * SECOND); /* then capacity grows tenfold */
        double best = 0, got;
        struct recrawl_view v;
        static double value[N];
        for (uint32_t i = 0; i < N; i++) {
            recrawl_look(r, now, i, &v);
            value[i] = v.under_way == 0 && v.open <= now ? v.value : -1;
            /* Rates move a little with the population; who is only just open may not have been noticed yet. */
            if (v.open + (v.open - v.asked) / 25 <= now)
                best = fmax(best, value[i]);
        }
        uint32_t id = next(r, now);
        if (id == UINT32_MAX) {
            assert_true(best <= 0);
            continue;
        }
        got = value[id];
        worst = fmin(worst, got / best);
        if (got < best * exp2(-1.0 / 16) * 0.97) /* rates may have moved a little since they were looked at */
            fail_msg("step %d: took %g of the best", step, got / best);
        done(r, now, id, rng_below(&rng, 3) == 0);
    }
    assert_true(worst < 1); /* else the twin is no test */
    recrawl_free(r);
}

/* With very many channels a search takes more than one call, and ends at the same: nothing else is taken meanwhile. */
static void a_long_search_is_cut_into_slices(void **state)
{
    enum { N = 20000 };
    struct recrawl *r = with(RECRAWL_GREEDY);
    struct recrawl_view v;
    struct rng rng;
    int calls, most = 0;
    rng_seed(&rng, 12);
    for (int i = 0; i < N; i++)
        put(r, START, &(struct recrawl_rule){.weight = exp(4 * rng_unit(&rng))},
            &(struct recrawl_history){.visited = START - DAY - (int64_t)rng_below(&rng, DAY),
                                      .rate = {16, (float)(16 * HOUR / SECOND * (1 + rng_unit(&rng)))},
                                      .cost_ms = 1000 + (double)rng_below(&rng, 100000)});
    for (int step = 0; step < 5; step++) {
        wall_ms now = START + step * 5 * (int64_t)HOUR; /* in between nobody was free: all are over the floor */
        double best = 0;
        for (uint32_t i = 0; i < N; i++) {
            recrawl_look(r, now, i, &v);
            best = fmax(best, v.under_way ? 0 : v.value);
        }
        uint32_t id = next_in(r, now, &calls);
        assert_true(id < N);
        recrawl_look(r, now, id, &v);
        most = calls > most ? calls : most;
        recrawl_decline(r, now, id, 0);
        recrawl_look(r, now, id, &v);
        if (v.value < best * exp2(-1.0 / 16) * 0.999)
            fail_msg("step %d: took %g of the best", step, v.value / best);
        assert_true(next_in(r, now, &calls) < N && calls == 1); /* and now they are known */
    }
    assert_in_range(most, 20, N);
    recrawl_free(r);
}

static void greedy_waits_for_a_slot(void **state)
{
    struct recrawl *r = with(RECRAWL_GREEDY);
    uint32_t id = put(r, START, &plain, &fresh), got;
    wall_ms wake;
    assert_int_equal(recrawl_next(r, START, false, &got, &wake), ST_AGAIN);
    assert_int_equal(recrawl_next(r, START, true, &got, &wake), ST_OK);
    assert_int_equal(got, id);
    recrawl_free(r);
}

/* One task a minute for four hundred channels that change every hour, the dearest a thousand times as dear. */
static void nobody_starves(void **state)
{
    enum { N = 400 };
    struct recrawl *r = with(RECRAWL_GREEDY);
    static int visits[N];
    for (int i = 0; i < N; i++)
        put(r, START, &plain,
            &(struct recrawl_history){
                .visited = START, .rate = {60, 60 * 3600}, .cost_ms = 1000.0 * (1 + (i % 100) * 10)});
    for (wall_ms now = START; now < START + 20 * (int64_t)DAY; now += MINUTE) {
        uint32_t id = next(r, now);
        if (id == UINT32_MAX)
            continue;
        visits[id]++;
        recrawl_done(r, now, id,
                     &(struct recrawl_result){.has_changed = true, .took_ms = 1000 * (1 + (id % 100) * 10)});
    }
    for (int i = 0; i < N; i++)
        if (!visits[i])
            fail_msg("channel %d, cost %d: never in 20 days", i, 1 + (i % 100) * 10);
    recrawl_free(r);
}

static void switching_keeps_what_was_learned(void **state)
{
    struct recrawl *r = with(RECRAWL_GREEDY);
    struct recrawl_view before, after;
    struct rng rng;
    rng_seed(&rng, 4);
    for (int i = 0; i < 100; i++)
        put(r, START, &plain, &fresh);
    wall_ms now = START;
    for (int step = 0; step < 20000; step++) {
        uint32_t id = next(r, now += MINUTE);
        if (step % 5000 == 4999) {
            recrawl_look(r, now, 7, &before);
            recrawl_switch(r, now, all[(size_t)step / 5000]);
            recrawl_look(r, now, 7, &after);
            assert_int_equal(before.history.visited, after.history.visited);
            assert_memory_equal(&before.history.rate, &after.history.rate, sizeof(before.history.rate));
            assert_float_equal(before.history.cost_ms, after.history.cost_ms, 1e-9);
            assert_int_equal(before.history.updates, after.history.updates);
            assert_int_equal(before.under_way, after.under_way);
        }
        if (id != UINT32_MAX)
            done(r, now, id, rng_below(&rng, 2));
    }
    recrawl_look(r, now, 7, &after);
    assert_true(after.history.updates > 20);
    recrawl_free(r);
}

static void same_calls_same_answers(void **state)
{
    for (size_t s = 0; s < 4; s++) {
        uint64_t trace[2] = {0, 0};
        for (int run = 0; run < 2; run++) {
            struct recrawl *r = with(all[s]);
            struct rng rng;
            rng_seed(&rng, 6);
            for (int i = 0; i < 200; i++)
                put(r, START, &(struct recrawl_rule){.weight = 1 + i % 7}, &fresh);
            for (wall_ms now = START; now < START + 2 * (int64_t)DAY; now += 5 * MINUTE) {
                uint32_t id = next(r, now);
                trace[run] = trace[run] * 1000003 + id;
                if (id != UINT32_MAX)
                    done(r, now, id, rng_below(&rng, 2));
            }
            recrawl_free(r);
        }
        assert_int_equal(trace[0], trace[1]);
    }
}

static void a_channel_takes_less_than_100_bytes(void **state)
{
    enum { N = 200000 };
    struct recrawl *r = with(RECRAWL_GREEDY);
    for (int i = 0; i < N; i++)
        put(r, START, &plain, &fresh);
    assert_true(recrawl_bytes(r) < (size_t)100 * N);
    recrawl_free(r);
}

/* ---- pages ---- */

static void a_page_gains_value_as_it_gets_old(void **state)
{
    const struct change_prior p = {.changes = 1, .time = 24};
    struct recrawl_page page = {.rate = {1, 1}};
    double last = -1;
    for (page.age = 0; page.age < 10000; page.age = page.age * 1.5 + 1) {
        struct recrawl_page told = page;
        told.is_told = true;
        double value = recrawl_page_value(&page, &p);
        assert_true(value > last && value <= recrawl_page_value(&told, &p));
        last = value;
    }
    page.age = -1; /* never visited */
    assert_true(isinf(recrawl_page_value(&page, &p)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_read),
        cmocka_unit_test(a_new_channel_goes_first),
        cmocka_unit_test(a_task_under_way_is_put_back_as_such),
        cmocka_unit_test(a_task_that_nobody_asked_for_counts),
        cmocka_unit_test(never_means_never),
        cmocka_unit_test(one_task_of_a_channel_at_a_time),
        cmocka_unit_test(a_lost_task_is_asked_for_again),
        cmocka_unit_test(a_channel_that_was_declined_comes_back),
        cmocka_unit_test(declining_undoes_all_of_it),
        cmocka_unit_test(numbers_are_used_again),
        cmocka_unit_test(the_operator_is_obeyed),
        cmocka_unit_test(the_rule_counts_from_when_the_site_was_asked),
        cmocka_unit_test(the_ceiling_is_never_broken),
        cmocka_unit_test(turns_of_lost_tasks_are_made_up_for),
        cmocka_unit_test(who_is_told_of_moves_forward_but_not_over_the_ceiling),
        cmocka_unit_test(fixed_comes_every_interval),
        cmocka_unit_test(iir_takes_the_gaps_that_it_saw),
        cmocka_unit_test(slower_ranks_stay_slower),
        cmocka_unit_test(icr_keeps_the_ratios),
        cmocka_unit_test(ranks_follow_the_rate_and_do_not_flutter),
        cmocka_unit_test(greedy_takes_nearly_the_best),
        cmocka_unit_test(a_long_search_is_cut_into_slices),
        cmocka_unit_test(greedy_waits_for_a_slot),
        cmocka_unit_test(nobody_starves),
        cmocka_unit_test(switching_keeps_what_was_learned),
        cmocka_unit_test(same_calls_same_answers),
        cmocka_unit_test(a_channel_takes_less_than_100_bytes),
        cmocka_unit_test(a_page_gains_value_as_it_gets_old),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
