/* cmd_sim.c - `orb sim`: plays delegation on a world, compares strategies, and says where agents would help; plays
 * recrawling. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/sim_recrawl.h"
#include "cli/sim_setup.h"
#include "codec/json.h"
#include "io/clock.h"
#include "sim/delegate_print.h"
#include "sim/place_run.h"
#include "sim/report.h"
#include "store/file.h"

static const char *world_dir(const struct options *o)
{
    if (opt_cstr(o, OPT_WORLD))
        return opt_cstr(o, OPT_WORLD);
    return o->arg_count > 1 ? o->args[1].p : NULL;
}

/* ---- delegate ---- */

static int delegate(const struct options *o, struct sim_setup *s)
{
    struct delegate_run_opts run;
    struct delegate_result result = {0}, plain = {0};
    struct buf out = {0};
    int code = sim_setup_run(o, "sim delegate", s, &run);
    if (code != EXIT_DONE)
        return code;
    run.tell = sim_progress;
    run.arg = (void *)(uintptr_t) "orb sim: sites";
    bool is_balanced = run.capacity_share > 0 || run.capacity_bytes > 0;
    int64_t begin = clock_mono_us();
    delegate_run(s->world, &run, &result);
    if (is_balanced) { /* the same without capacity, to compare with */
        struct delegate_run_opts free_run = run;
        free_run.capacity_share = free_run.capacity_bytes = 0;
        free_run.has_drift = false;
        delegate_run(s->world, &free_run, &plain);
    }
    sim_progress_end();
    const struct delegate_figures *other = is_balanced ? &plain.figures : NULL;
    if (opt_flag(o, OPT_JSON))
        delegate_print_json(&run, &result.figures, other, &out);
    else
        delegate_print_text(&run, &result.figures, other, &out);
    print_buf(&out);
    fprintf(stderr, "orb sim: %.1f s, %.0f MB\n", (double)(clock_mono_us() - begin) / 1e6,
            (double)clock_peak_rss() / 1e6);
    buf_done(&out);
    delegate_result_done(&result);
    delegate_result_done(&plain);
    return EXIT_DONE;
}

/* ---- place ---- */

static void put_steps_json(const struct sim_setup *s, const struct place_result *r, struct buf *out)
{
    for (size_t i = 0; i < r->count; i++) {
        const struct place_step *step = &r->steps[i];
        const struct city *c = step->is_city ? &s->cities.list[step->at] : NULL;
        const struct world_agent *a = step->is_city ? NULL : world_agent(s->world, step->at);
        struct json j = {.out = out};
        json_open(&j, '{');
        json_key(&j, "agents");
        json_u64(&j, i + 1);
        json_key(&j, "kind");
        json_str(&j, c ? "city" : "agent");
        json_key(&j, "name");
        json_text(&j, c ? c->name : a->name);
        json_key(&j, "country");
        json_str(&j, c ? c->country : a->country);
        json_key(&j, "lat");
        json_real(&j, (double)(c ? c->spot.latitude : a->spot.latitude), 4);
        json_key(&j, "lon");
        json_real(&j, (double)(c ? c->spot.longitude : a->spot.longitude), 4);
        json_key(&j, "rtt_ms");
        json_real(&j, step->rtt_ms, 2);
        json_key(&j, "nearest");
        json_real(&j, step->nearest, 4);
        json_key(&j, "is_enough");
        json_bool(&j, i + 1 >= (step->is_city ? r->enough : r->own_enough));
        json_close(&j, '}');
        buf_putc(out, '\n');
    }
}

static void put_steps_text(const struct sim_setup *s, const struct place_result *r, struct buf *out)
{
    double before = 0;
    buf_printf(out, "%6s  %-28s %-2s %12s %8s %9s\n", "AGENTS", "ADDED", "", "MEAN RTT", "GAIN", "NEAREST");
    for (size_t i = 0; i < r->count; i++) {
        const struct place_step *step = &r->steps[i];
        struct buf name = {0};
        if (step->is_city && (i == 0 || !r->steps[i - 1].is_city))
            buf_puts(out, "        cities that have no agent yet; round trips estimated from distance\n");
        put_safe(&name, step->is_city ? s->cities.list[step->at].name : world_agent(s->world, step->at)->name);
        buf_printf(out, "%6zu  %-28s %-2s %9.2f ms", i + 1, buf_cstr(&name),
                   step->is_city ? s->cities.list[step->at].country : world_agent(s->world, step->at)->country,
                   step->rtt_ms);
        if (i)
            buf_printf(out, " %6.1f %%", before > 0 ? 100 * (before - step->rtt_ms) / before : 0);
        else
            buf_puts(out, "        -");
        buf_printf(out, " %7.1f %%\n", 100 * step->nearest);
        before = step->rtt_ms;
        buf_done(&name);
    }
    if (r->own_enough < r->own)
        buf_printf(out, "Of the world's agents %zu would nearly do: one more of them gains less than 1 %%.\n",
                   r->own_enough);
    if (r->enough < r->count)
        buf_printf(out, "From %zu agents on, another city gains less than 1 %%.\n", r->enough);
    else if (r->count > r->own)
        buf_puts(out, "Every one of the cities gains 1 % or more.\n");
}

static int place(const struct options *o, struct sim_setup *s)
{
    struct place_result r;
    struct buf out = {0};
    place_run(s->world, &(struct place_opts){.cities = &s->cities, .more = (size_t)opt_number(o, OPT_WORLD_AGENTS)},
              &r);
    if (opt_flag(o, OPT_JSON))
        put_steps_json(s, &r, &out);
    else
        put_steps_text(s, &r, &out);
    print_buf(&out);
    buf_done(&out);
    place_result_done(&r);
    return EXIT_DONE;
}

/* ---- report ---- */

static void tell_run(void *arg, const char *what)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[Korb sim: run %d, %s", ++*(int *)arg, what);
}

static int report(const struct options *o, struct sim_setup *s)
{
    struct report_opts r = {.name = world_dir(o), .tell = tell_run};
    struct recrawl_report_opts recrawl = {.tell = tell_run};
    struct buf page = {0}, command = {0};
    const char *path = opt_cstr(o, OPT_OUTPUT);
    int runs = 0;
    if (!path)
        return complain(EXIT_USAGE, "sim report: where to? give -o FILE");
    int code = sim_setup_run(o, "sim report", s, &r.run);
    if (code == EXIT_DONE)
        code = sim_recrawl_run(o, "sim report", s, &recrawl.run);
    if (code != EXIT_DONE)
        return code;
    buf_printf(&command, "orb sim report %s --seed %llu", r.name, (unsigned long long)r.run.seed);
    if (r.run.sites)
        buf_printf(&command, " --sites %zu", r.run.sites);
    if (opt_is_set(o, OPT_STEPS))
        buf_printf(&command, " --steps %u", recrawl.run.ground.steps);
    buf_puts(&command, " -o FILE");
    r.command = buf_cstr(&command);
    r.arg = recrawl.arg = &runs;
    r.recrawl = recrawl.run.ground.steps ? &recrawl : NULL;
    report_make(s->world, &r, &page);
    sim_progress_end();
    status st = file_replace(path, buf_span(&page));
    if (st != ST_OK)
        code = complain(EXIT_IO, "sim report: write %s: %s", path, strerror(errno));
    else
        fprintf(stderr, "orb sim: %s is written\n", path);
    buf_done(&page);
    buf_done(&command);
    return code;
}

/* ---- the command ---- */

static const struct verb {
    const char *name, *what;
    int (*run)(const struct options *o, struct sim_setup *s);
    bool may_do_without; /* a world */
} verbs[] = {
    {"delegate", "sim delegate", delegate, false},
    {"place", "sim place", place, false},
    {"recrawl", "sim recrawl", sim_recrawl, true},
    {"report", "sim report", report, false},
};

int cmd_sim(const struct options *o)
{
    const struct verb *verb = NULL;
    struct sim_setup s = {0};
    for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++)
        if (span_is(o->args[0], verbs[i].name))
            verb = &verbs[i];
    if (!verb)
        return complain(EXIT_USAGE, "sim: the verbs are delegate, place, recrawl and report: see orb help sim");
    if (!world_dir(o) && !verb->may_do_without)
        return complain(EXIT_USAGE, "%s: which world? give --world DIR", verb->what);
    int code = sim_setup_open(o, verb->what, world_dir(o), &s);
    if (code == EXIT_DONE)
        code = verb->run(o, &s);
    sim_setup_done(&s);
    return code;
}
