#include "cli/sim_recrawl.h"

#include <stdio.h>

#include "cli/command.h"
#include "cli/strategy_opts.h"
#include "io/clock.h"
#include "sim/recrawl_print.h"

#define AGENTS 1400 /* of the paper's shortage */
#define STRATEGIES 4

static const recrawl_strategy in_order[STRATEGIES] = {RECRAWL_FIXED, RECRAWL_IIR, RECRAWL_ICR, RECRAWL_GREEDY};

int sim_recrawl_run(const struct options *o, const char *what, const struct sim_setup *s, struct recrawl_run_opts *out)
{
    *out = (struct recrawl_run_opts){
        .ground = {.seed = (uint64_t)opt_number(o, OPT_SEED),
                   .agents = opt_is_set(o, OPT_WORLD_AGENTS) ? (size_t)opt_number(o, OPT_WORLD_AGENTS) : AGENTS,
                   .channels = (size_t)opt_number(o, OPT_SIM_CHANNELS),
                   .steps = (unsigned)opt_number(o, OPT_STEPS),
                   .world = s->world,
                   .cities = &s->cities},
        .swing = (uint32_t)opt_number(o, OPT_SWING) / RECRAWL_BIN * RECRAWL_BIN,
        .finds_ranks = opt_flag(o, OPT_FIND_RANKS)};
    int code = take_real(o, what, OPT_ENCOURAGEMENT, 0.01, 1, &out->encouragement);
    if (code == EXIT_DONE)
        code = take_real(o, what, OPT_CEILING, 0.01, 1000, &out->ceiling);
    if (code == EXIT_DONE && out->swing && out->swing + 2 * RECRAWL_DAY > out->ground.steps)
        code =
            complain(EXIT_USAGE, "%s: --swing: there are less than two days (2,880 steps) after it: see --steps", what);
    return code;
}

static int chosen(const struct options *o, recrawl_strategy *list, size_t *n)
{
    *n = STRATEGIES;
    for (size_t i = 0; i < STRATEGIES; i++)
        list[i] = in_order[i];
    if (!opt_is_set(o, OPT_SIM_STRATEGY))
        return EXIT_DONE;
    *n = 1;
    if (!recrawl_strategy_parse(opt_text(o, OPT_SIM_STRATEGY), &list[0]))
        return complain(EXIT_USAGE,
                        "sim recrawl: --strategy %s is one of orb sim delegate: take greedy, icr, iir or fixed",
                        opt_cstr(o, OPT_SIM_STRATEGY));
    return EXIT_DONE;
}

static int read_changes(const struct options *o, struct changes *out)
{
    struct buf why = {0};
    const char *path = opt_cstr(o, OPT_CHANGES);
    status st = changes_read(path, &(struct changes_opts){.by_folder = true}, out, &why);
    int code = EXIT_DONE;
    if (st != ST_OK)
        code = complain(st == ST_NOT_FOUND ? EXIT_INPUT : exit_code_of(st), "sim recrawl: %s",
                        why.n ? buf_cstr(&why) : status_name(st));
    buf_done(&why);
    return code;
}

static void play(const struct options *o, struct recrawl_run_opts *run, const recrawl_strategy *list, size_t n)
{
    struct recrawl_run_opts opts[STRATEGIES];
    struct recrawl_run_result results[STRATEGIES] = {0};
    const struct recrawl_run_opts *opt[STRATEGIES];
    const struct recrawl_run_result *result[STRATEGIES];
    struct buf out = {0};
    int64_t begin = clock_mono_us();
    for (size_t i = 0; i < n; i++) {
        opts[i] = *run;
        opts[i].strategy = list[i];
        opts[i].tell = sim_progress;
        opts[i].arg = (void *)(uintptr_t) "orb sim: steps";
        recrawl_run(&opts[i], &results[i]);
        sim_progress_end();
        opt[i] = &opts[i];
        result[i] = &results[i];
        if (opt_flag(o, OPT_JSON))
            recrawl_print_json(opt[i], result[i], &out);
    }
    if (!opt_flag(o, OPT_JSON))
        recrawl_print_text(opt, result, n, &out);
    print_buf(&out);
    fprintf(stderr, "orb sim: %.1f s, %.0f MB\n", (double)(clock_mono_us() - begin) / 1e6,
            (double)clock_peak_rss() / 1e6);
    for (size_t i = 0; i < n; i++)
        recrawl_run_result_done(&results[i]);
    buf_done(&out);
}

int sim_recrawl(const struct options *o, struct sim_setup *s)
{
    struct recrawl_run_opts run;
    recrawl_strategy list[STRATEGIES];
    struct changes changes = {0};
    size_t n;
    int code = sim_recrawl_run(o, "sim recrawl", s, &run);
    if (code == EXIT_DONE && !run.ground.steps)
        code = complain(EXIT_USAGE, "sim recrawl: --steps 0: there is nothing to play");
    if (code == EXIT_DONE)
        code = chosen(o, list, &n);
    if (code == EXIT_DONE && opt_cstr(o, OPT_CHANGES))
        code = read_changes(o, &changes);
    if (code == EXIT_DONE) {
        run.ground.changes = changes.count ? &changes : NULL;
        play(o, &run, list, n);
    }
    changes_done(&changes);
    return code;
}
