#include "sim/delegate_print.h"

#include "codec/json.h"

/* ---- for programs ---- */

static void put_real(struct json *j, const char *name, double v, int decimals)
{
    json_key(j, name);
    json_real(j, v, decimals);
}

/* A figure that may not be there. */
static void put_known(struct json *j, const char *name, double v, int decimals)
{
    json_key(j, name);
    if (v < 0)
        json_null(j);
    else
        json_real(j, v, decimals);
}

static void put_count(struct json *j, const char *name, size_t v)
{
    json_key(j, name);
    json_u64(j, v);
}

static void put_quality(struct json *j, const struct quality *q)
{
    put_real(j, "optimal", q->optimal, 5);
    put_real(j, "near", q->near, 5);
    put_real(j, "rtt_ms", q->rtt_ms, 3);
    put_real(j, "rtt_best_ms", q->best_ms, 3);
    put_real(j, "rtt_ratio", q->rtt_ratio, 5);
    put_real(j, "excess_ms", q->excess_ms, 3);
    put_real(j, "excess_max_ms", q->excess_max_ms, 3);
    put_real(j, "page_rtt_ms", q->page_ms, 3);
    put_real(j, "page_rtt_ratio", q->page_ratio, 5);
    put_real(j, "download_s", q->download_s, 1);
    put_real(j, "download_mean_s", q->download_mean_s, 1);
    put_real(j, "download_today_s", q->download_today_s, 2);
    put_real(j, "download_today_mean_s", q->download_today_mean_s, 2);
}

static void put_drift(struct json *j, const struct delegate_run_opts *o, const struct drift_figures *d)
{
    json_key(j, "drift");
    json_open(j, '{');
    json_key(j, "kind");
    json_str(j, drift_name(o->ground.drift));
    put_count(j, "networks", d->networks);
    put_count(j, "moves", d->moves);
    put_count(j, "decisions", d->decisions);
    put_real(j, "ratio_before", d->ratio_before, 5);
    put_real(j, "ratio_changed", d->ratio_changed, 5);
    put_real(j, "ratio_after", d->ratio_after, 5);
    put_real(j, "probes_extra", d->probes_extra, 4);
    put_real(j, "moves_share_a_day", d->moves_share_a_day, 6);
    put_known(j, "back_after_requests", d->back_after_requests, 0);
    put_known(j, "back_after_probes", d->back_after_probes, 4);
    json_close(j, '}');
}

void delegate_print_json(const struct delegate_run_opts *o, const struct delegate_figures *f,
                         const struct delegate_figures *plain, struct buf *out)
{
    struct json j = {.out = out};
    json_open(&j, '{');
    json_key(&j, "strategy");
    json_str(&j, delegate_strategy_name(o->delegator.strategy));
    json_key(&j, "seed");
    json_u64(&j, o->seed);
    put_count(&j, "sites", f->sites);
    put_count(&j, "agents", f->agents);
    put_count(&j, "networks", f->networks);
    put_count(&j, "decisions", f->decisions);
    put_real(&j, "probes", f->probes, 4);
    put_real(&j, "probes_first", f->probes_first, 4);
    put_real(&j, "probes_last", f->probes_last, 4);
    put_real(&j, "probes_last50", f->probes_last50, 4);
    put_real(&j, "measurements", f->measurements, 4);
    put_quality(&j, &f->quality);
    put_real(&j, "download_best_s", f->baseline.best_s, 1);
    put_real(&j, "download_random_s", f->baseline.random_s, 1);
    put_real(&j, "download_farthest_s", f->baseline.farthest_s, 1);
    put_real(&j, "download_today_best_s", f->baseline.best_today_s, 2);
    put_real(&j, "download_today_random_s", f->baseline.random_today_s, 2);
    put_real(&j, "download_today_farthest_s", f->baseline.farthest_today_s, 2);
    put_real(&j, "download_today_mean_best_s", f->baseline.best_today_mean_s, 2);
    put_real(&j, "download_today_mean_random_s", f->baseline.random_today_mean_s, 2);
    put_real(&j, "download_today_mean_farthest_s", f->baseline.farthest_today_mean_s, 2);
    put_known(&j, "balance_best", f->balance_best, 4);
    put_known(&j, "balance_exact", f->balance_exact, 4);
    put_known(&j, "balance_ratio", f->balance_ratio, 5);
    put_real(&j, "balance_probes", f->balance_probes, 4);
    put_count(&j, "balance_events", f->events);
    put_count(&j, "over_capacity", f->over);
    put_count(&j, "moves", f->moves);
    put_count(&j, "nobody", f->nobody);
    put_known(&j, "expected_off_ms", f->off_ms, 2);
    put_real(&j, "cpu_us", f->cpu_us, 1);
    if (plain) {
        json_key(&j, "unbalanced");
        json_open(&j, '{');
        put_quality(&j, &plain->quality);
        put_real(&j, "probes", plain->probes, 4);
        put_real(&j, "measurements", plain->measurements, 4);
        json_close(&j, '}');
    }
    if (o->has_drift)
        put_drift(&j, o, &f->drift);
    json_close(&j, '}');
    buf_putc(out, '\n');
}

/* ---- for people ---- */

static void put_line(struct buf *out, const char *name, const char *fmt, ...) PRINTF_LIKE(3, 4);

static void put_line(struct buf *out, const char *name, const char *fmt, ...)
{
    va_list ap;
    buf_printf(out, "  %-16s", name);
    va_start(ap, fmt);
    buf_vprintf(out, fmt, ap);
    va_end(ap);
    buf_putc(out, '\n');
}

static void text_quality(struct buf *out, const struct quality *q)
{
    put_line(out, "optimal", "%.1f %% of sites, near %.1f %%", 100 * q->optimal, 100 * q->near);
    put_line(out, "round trip", "%.2f ms in the mean, %.3f of the optimum (%.2f ms)", q->rtt_ms, q->rtt_ratio,
             q->best_ms);
    put_line(out, "excess", "%.1f ms in the mean where not optimal, %.1f ms at most", q->excess_ms, q->excess_max_ms);
}

static void text_drift(struct buf *out, const struct delegate_run_opts *o, const struct drift_figures *d)
{
    put_line(out, "drift", "%s: round trips %.3f of the optimum before, %.3f when changed, %.3f at the end",
             drift_name(o->ground.drift), d->ratio_before, d->ratio_changed, d->ratio_after);
    put_line(out, "", "%zu networks moved (%.3f %% a day), %zu decided anew, %.3f probes a site", d->moves,
             100 * d->moves_share_a_day, d->decisions, d->probes_extra);
    if (o->ground.drift != DRIFT_NONE && o->ground.drift != DRIFT_SERVERS && d->back_after_requests >= 0)
        put_line(out, "", "within 1.05 again after %.0f requests of each network and %.3f probes a site",
                 d->back_after_requests, d->back_after_probes);
}

void delegate_print_text(const struct delegate_run_opts *o, const struct delegate_figures *f,
                         const struct delegate_figures *plain, struct buf *out)
{
    const struct baseline *b = &f->baseline;
    buf_printf(out, "%s: %zu sites in %zu networks, %zu agents, seed %llu\n",
               delegate_strategy_name(o->delegator.strategy), f->sites, f->networks, f->agents,
               (unsigned long long)o->seed);
    text_quality(out, &f->quality);
    put_line(out, "probes", "%.2f a site; first tenth %.2f, last tenth %.2f, last 50 sites %.2f", f->probes,
             f->probes_first, f->probes_last, f->probes_last50);
    put_line(out, "measurements", "%.2f a site before the decision", f->measurements);
    put_line(out, "download", "%.0f s at the slowest agent; nearest %.0f, random %.0f, farthest %.0f (paper's lines)",
             f->quality.download_s, b->best_s, b->random_s, b->farthest_s);
    put_line(out, "", "%.1f s at the slowest agent; nearest %.1f, random %.1f, farthest %.1f (today's lines)",
             f->quality.download_today_s, b->best_today_s, b->random_today_s, b->farthest_today_s);
    put_line(out, "", "%.1f s in the mean of agents; nearest %.1f, random %.1f, farthest %.1f (today's lines)",
             f->quality.download_today_mean_s, b->best_today_mean_s, b->random_today_mean_s, b->farthest_today_mean_s);
    if (f->is_balanced) {
        put_line(out, "balance", "%zu times something did not fit, %zu networks moved, %zu agents over capacity",
                 f->events, f->moves, f->over);
        if (f->balance_best >= 0)
            put_line(out, "", "the best choice in %.1f %% of the cases, to 5 ms a page; exactly in %.1f %%",
                     100 * f->balance_best, 100 * f->balance_exact);
        if (f->balance_ratio >= 0)
            put_line(out, "", "time over all pages %.4f of the exact optimum", f->balance_ratio);
    }
    if (o->has_drift)
        text_drift(out, o, &f->drift);
    if (f->nobody)
        put_line(out, "nobody", "%zu sites found no agent", f->nobody);
    put_line(out, "CPU", "%.1f us a decision", f->cpu_us);
    if (plain) {
        buf_puts(out, "without capacity:\n");
        text_quality(out, &plain->quality);
        put_line(out, "probes", "%.2f a site", plain->probes);
    }
}
