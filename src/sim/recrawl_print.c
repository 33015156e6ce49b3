#include "sim/recrawl_print.h"

#include "codec/json.h"

static void put_count(struct json *j, const char *name, uint64_t v)
{
    json_key(j, name);
    json_u64(j, v);
}

static void put_real(struct json *j, const char *name, double v, int digits)
{
    json_key(j, name);
    json_real(j, v, digits);
}

static void put_known(struct json *j, const char *name, double v, int digits)
{
    json_key(j, name);
    if (v >= 0)
        json_real(j, v, digits);
    else
        json_null(j);
}

static void put_reals(struct json *j, const char *name, const double *v, int digits)
{
    json_key(j, name);
    json_open(j, '[');
    for (int k = 0; k < RECRAWL_RANKS; k++)
        json_real(j, v[k], digits);
    json_close(j, ']');
}

static void put_counts(struct json *j, const char *name, const uint64_t *v)
{
    json_key(j, name);
    json_open(j, '[');
    for (int k = 0; k < RECRAWL_RANKS; k++)
        json_u64(j, v[k]);
    json_close(j, ']');
}

static void put_phases(struct json *j, const struct recrawl_run_result *r)
{
    json_key(j, "phases");
    json_open(j, '[');
    for (size_t i = 0; i < r->phase_count; i++) {
        const struct recrawl_phase *p = &r->phases[i];
        json_open(j, '{');
        put_count(j, "from", p->from);
        put_count(j, "to", p->to);
        put_real(j, "threads", p->threads, 1);
        put_real(j, "freshness_weighted", p->freshness_weighted, 5);
        put_known(j, "optimum_weighted", p->optimum_weighted, 5);
        json_close(j, '}');
    }
    json_close(j, ']');
}

void recrawl_print_json(const struct recrawl_run_opts *o, const struct recrawl_run_result *r, struct buf *out)
{
    const struct recrawl_figures *f = &r->figures;
    struct json j = {.out = out};
    json_open(&j, '{');
    json_key(&j, "strategy");
    json_str(&j, recrawl_strategy_name(o->strategy));
    put_count(&j, "seed", o->ground.seed);
    put_count(&j, "agents", f->agents);
    put_count(&j, "steps", o->ground.steps);
    put_real(&j, "encouragement", o->encouragement > 0 ? o->encouragement : RECRAWL_ENCOURAGEMENT, 3);
    put_real(&j, "capacity", f->capacity, 3);
    put_count(&j, "tasks", f->tasks);
    put_count(&j, "updates", f->updates);
    put_count(&j, "timed_out", f->late);
    put_count(&j, "lost", f->lost);
    put_real(&j, "success_rate", f->success_rate, 4);
    put_real(&j, "queued_mean", f->queued_mean, 1);
    put_real(&j, "throughput", f->throughput, 0);
    put_real(&j, "task_throughput", f->task_throughput, 1);
    put_real(&j, "busy", f->busy, 4);
    put_real(&j, "update_quality", f->quality, 4);
    put_real(&j, "update_quality_weighted", f->quality_weighted, 4);
    put_real(&j, "freshness", f->freshness, 5);
    put_real(&j, "freshness_weighted", f->freshness_weighted, 5);
    put_known(&j, "optimum_weighted", f->optimum_weighted, 5);
    put_reals(&j, "freshness_by_rank", f->freshness_by_rank, 5);
    put_reals(&j, "intervals", f->interval_by_rank, 1);
    put_counts(&j, "tasks_by_rank", f->tasks_by_rank);
    put_counts(&j, "updates_by_rank", f->updates_by_rank);
    put_count(&j, "moves", f->moves);
    put_count(&j, "forwarded", f->forwarded);
    put_count(&j, "handed_over", f->handed_over);
    put_real(&j, "load_variation", f->load_variation, 4);
    put_count(&j, "starved", f->starved);
    put_real(&j, "visits_a_change_most", f->visits_a_change_most, 4);
    put_phases(&j, r);
    json_close(&j, '}');
    buf_putc(out, '\n');
}

/* ---- for people ---- */

struct line {
    const char *name;
    double (*of)(const struct recrawl_figures *f);
    int digits;
};

static double tasks(const struct recrawl_figures *f)
{
    return (double)f->tasks;
}
static double updates(const struct recrawl_figures *f)
{
    return (double)f->updates;
}
static double success(const struct recrawl_figures *f)
{
    return 100 * f->success_rate;
}
static double queued(const struct recrawl_figures *f)
{
    return f->queued_mean;
}
static double throughput(const struct recrawl_figures *f)
{
    return f->throughput / 1e6;
}
static double quality(const struct recrawl_figures *f)
{
    return f->quality;
}
static double quality_weighted(const struct recrawl_figures *f)
{
    return f->quality_weighted;
}
static double freshness(const struct recrawl_figures *f)
{
    return 100 * f->freshness;
}
static double freshness_weighted(const struct recrawl_figures *f)
{
    return 100 * f->freshness_weighted;
}
static double optimum(const struct recrawl_figures *f)
{
    return f->optimum_weighted > 0 ? 100 * f->freshness_weighted / f->optimum_weighted : 0;
}
static double moves(const struct recrawl_figures *f)
{
    return (double)f->moves;
}
static double variation(const struct recrawl_figures *f)
{
    return f->load_variation;
}

static const struct line lines[] = {
    {"tasks", tasks, 0},
    {"updates", updates, 0},
    {"success, %", success, 1},
    {"queued, mean", queued, 0},
    {"throughput, MB/s", throughput, 1},
    {"update quality, weighted", quality_weighted, 4},
    {"update quality", quality, 4},
    {"freshness, weighted, %", freshness_weighted, 2},
    {"of the optimum, %", optimum, 2},
    {"freshness, %", freshness, 2},
    {"moves of tasks", moves, 0},
    {"variation of load", variation, 2},
};

void recrawl_print_text(const struct recrawl_run_opts *const *o, const struct recrawl_run_result *const *r, size_t n,
                        struct buf *out)
{
    buf_printf(out, "%zu agents, %zu channels, %u steps, seed %llu; capacity %.2f of what fixed asks for\n",
               r[0]->figures.agents, o[0]->ground.channels ? o[0]->ground.channels : (size_t)RECRAWL_CHANNELS,
               o[0]->ground.steps, (unsigned long long)o[0]->ground.seed, r[0]->figures.capacity);
    buf_printf(out, "%-26s", "");
    for (size_t i = 0; i < n; i++)
        buf_printf(out, " %12s", recrawl_strategy_name(o[i]->strategy));
    buf_putc(out, '\n');
    for (size_t k = 0; k < sizeof(lines) / sizeof(*lines); k++) {
        buf_printf(out, "%-26s", lines[k].name);
        for (size_t i = 0; i < n; i++)
            buf_printf(out, " %12.*f", lines[k].digits, lines[k].of(&r[i]->figures));
        buf_putc(out, '\n');
    }
    for (int k = 0; k < RECRAWL_RANKS; k++) {
        buf_printf(out, "interval of rank %d, steps ", k);
        for (size_t i = 0; i < n; i++)
            buf_printf(out, " %12.0f", r[i]->figures.interval_by_rank[k]);
        buf_putc(out, '\n');
    }
    for (size_t p = 0; r[0]->phase_count > 1 && p < r[0]->phase_count; p++) {
        buf_printf(out, "  from %5u to %5u, %%   ", r[0]->phases[p].from, r[0]->phases[p].to);
        for (size_t i = 0; i < n; i++)
            buf_printf(out, " %12.2f", 100 * r[i]->phases[p].freshness_weighted);
        if (r[0]->phases[p].optimum_weighted > 0)
            buf_printf(out, "   optimum %.2f", 100 * r[0]->phases[p].optimum_weighted);
        buf_putc(out, '\n');
    }
}
