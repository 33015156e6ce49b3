#include "lab/check_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/json.h"

/* What a lab ought to reach, with places by the hundred: of the worst row, and by the kind of link. */
struct bar {
    const char *name;
    double at_most[2], at_least[2]; /* veth, tun; 0: none */
};

static const struct bar bars[] = {
    {"median_ms", {0.4, 0.4}, {0}},
    {"mean_ms", {0.5, 0.5}, {0}},
    {"p99_ms", {10, 5}, {0}},
    {"late_p99_ms", {1, 1}, {0}},
    {"up_s", {2, 1}, {0}},
    {"down_s", {3, 0.2}, {0}},
    {"connections_per_s", {0}, {3500, 5000}},
    {"requests_per_s", {0}, {12000, 15000}},
};
#define BARS (sizeof(bars) / sizeof(*bars))

static double figure(const char *json, const char *name)
{
    const char *at = strstr(json, name);
    return at ? strtod(at + strlen(name), NULL) : 0;
}

bool check_report_is_valid(const struct check_report *r)
{
    return strstr(r->stats, "\"valid\":true") != NULL;
}

double check_report_late_ms(const struct check_report *r)
{
    return figure(r->stats, "\"late_p99_us\":") / 1000;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* False: it was not measured. */
static bool value_of(const struct check_report *r, const char *name, double *out)
{
    struct check_row worst = {0};
    for (size_t i = 0; i + 1 < r->row_count; i++) {
        worst.median_ms = larger(worst.median_ms, r->rows[i].median_ms);
        worst.mean_ms = larger(worst.mean_ms, r->rows[i].mean_ms);
        worst.p99_ms = larger(worst.p99_ms, r->rows[i].p99_ms);
    }
    const struct {
        const char *name;
        double value;
        bool is_there;
    } all[] = {{"median_ms", worst.median_ms, true},
               {"mean_ms", worst.mean_ms, true},
               {"p99_ms", worst.p99_ms, true},
               {"late_p99_ms", check_report_late_ms(r), true},
               {"up_s", r->up_s, true},
               {"down_s", r->down_s, true},
               {"connections_per_s", r->connections.per_s, r->has_rates},
               {"requests_per_s", r->requests.per_s, r->has_rates}};
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
        if (strcmp(all[i].name, name) == 0) {
            *out = all[i].value;
            return all[i].is_there;
        }
    }
    return false;
}

static bool is_met(const struct bar *b, unsigned kind, double value)
{
    return b->at_most[kind] > 0 ? value <= b->at_most[kind] : value >= b->at_least[kind];
}

/* ---- text ---- */

static void text_bars(const struct check_report *r)
{
    unsigned kind = r->kind == LINK_TUN;
    printf("bars of %s, the worst row:\n", link_kind_name(r->kind));
    for (size_t i = 0; i < BARS; i++) {
        const struct bar *b = &bars[i];
        double value;
        if (!value_of(r, b->name, &value))
            continue;
        bool is_least = b->at_least[kind] > 0;
        printf("  %-20s %10.3f  at %s %g%s\n", b->name, value, is_least ? "least" : "most",
               is_least ? b->at_least[kind] : b->at_most[kind], is_met(b, kind, value) ? "" : "  NOT MET");
    }
}

void check_report_text(const struct check_report *r)
{
    printf("%zu places in %zu namespaces: up %.2f s, down %.2f s\n", r->places, r->namespaces, r->up_s, r->down_s);
    printf("%-32s %8s %8s %7s %10s %10s %10s\n", "TCP connect, ms off the matrix", "rtt", "samples", "failed", "median",
           "mean", "p99");
    for (size_t i = 0; i < r->row_count; i++) {
        const struct check_row *row = &r->rows[i];
        printf("%-32s %8.2f %8zu %7zu %10.3f %10.3f %10.3f\n", row->name, row->rtt_ms, row->samples, row->failed,
               row->median_ms, row->mean_ms, row->p99_ms);
    }
    printf("router: %s: %s\n", check_report_is_valid(r) ? "valid" : "NOT VALID, the machine is too busy", r->stats);
    if (r->has_rates) {
        printf("new connections a second: %.0f (%llu failed)\n", r->connections.per_s,
               (unsigned long long)r->connections.failed);
        printf("keep-alive requests a second: %.0f (%llu failed)\n", r->requests.per_s,
               (unsigned long long)r->requests.failed);
        printf("router: %s\n", r->rate_stats);
    }
    printf("machine: %u processors, %.0f %% in use during the run, %.0f %% by the run, %.0f %% stolen; load %.2f %.2f "
           "%.2f; the measuring process woke up %.3f ms late (99 %%); attempt %u\n",
           r->busy.cpus, 100 * r->busy.used, 100 * r->busy.own, 100 * r->busy.stolen, r->busy.load[0], r->busy.load[1],
           r->busy.load[2], r->self_late_ms, r->attempts);
    if (r->is_own)
        text_bars(r);
}

/* ---- JSON ---- */

static void put_real(struct json *j, const char *name, double v, int decimals)
{
    json_key(j, name);
    json_real(j, v, decimals);
}

static void put_count(struct json *j, const char *name, uint64_t v)
{
    json_key(j, name);
    json_u64(j, v);
}

static void put_stats(struct json *j, const char *name, const char *stats)
{
    json_key(j, name);
    json_raw(j, span_str(stats[0] ? stats : "{}"));
}

static void json_rows(const struct check_report *r, struct json *j)
{
    json_key(j, "connects");
    json_open(j, '[');
    for (size_t i = 0; i < r->row_count; i++) {
        const struct check_row *row = &r->rows[i];
        json_open(j, '{');
        json_key(j, "name");
        json_str(j, row->name);
        put_real(j, "rtt_ms", row->rtt_ms, 3);
        put_count(j, "samples", row->samples);
        put_count(j, "failed", row->failed);
        put_real(j, "least_ms", row->least_ms, 4);
        put_real(j, "median_ms", row->median_ms, 4);
        put_real(j, "mean_ms", row->mean_ms, 4);
        put_real(j, "p99_ms", row->p99_ms, 4);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void json_machine(const struct check_report *r, struct json *j)
{
    const struct busy *b = &r->busy;
    json_key(j, "machine");
    json_open(j, '{');
    put_count(j, "cpus", b->cpus);
    put_real(j, "used", b->used, 3);
    put_real(j, "own", b->own, 3);
    put_real(j, "stolen", b->stolen, 3);
    put_real(j, "self_late_p99_ms", r->self_late_ms, 4);
    json_key(j, "load");
    json_open(j, '[');
    for (size_t i = 0; i < 3; i++)
        json_real(j, b->load[i], 2);
    json_close(j, ']');
    json_close(j, '}');
}

static void json_bars(const struct check_report *r, struct json *j)
{
    unsigned kind = r->kind == LINK_TUN;
    json_key(j, "bars");
    json_open(j, '[');
    for (size_t i = 0; i < BARS; i++) {
        const struct bar *b = &bars[i];
        double value;
        if (!value_of(r, b->name, &value))
            continue;
        json_open(j, '{');
        json_key(j, "name");
        json_str(j, b->name);
        put_real(j, "value", value, 4);
        bool is_least = b->at_least[kind] > 0;
        put_real(j, is_least ? "at_least" : "at_most", is_least ? b->at_least[kind] : b->at_most[kind], 1);
        json_key(j, "is_met");
        json_bool(j, is_met(b, kind, value));
        json_close(j, '}');
    }
    json_close(j, ']');
}

void check_report_json(const struct check_report *r)
{
    struct buf out = {0};
    struct json j = {.out = &out};
    json_open(&j, '{');
    put_count(&j, "places", r->places);
    put_count(&j, "namespaces", r->namespaces);
    json_key(&j, "link");
    json_str(&j, link_kind_name(r->kind));
    put_real(&j, "up_s", r->up_s, 3);
    put_real(&j, "down_s", r->down_s, 3);
    json_rows(r, &j);
    json_key(&j, "valid");
    json_bool(&j, check_report_is_valid(r));
    put_count(&j, "attempts", r->attempts);
    put_stats(&j, "router", r->stats);
    if (r->has_rates) {
        put_real(&j, "connections_per_s", r->connections.per_s, 0);
        put_real(&j, "requests_per_s", r->requests.per_s, 0);
        put_count(&j, "rate_failed", r->connections.failed + r->requests.failed);
        put_stats(&j, "rate_router", r->rate_stats);
    }
    json_machine(r, &j);
    if (r->is_own)
        json_bars(r, &j);
    json_close(&j, '}');
    printf("%s\n", buf_cstr(&out));
    buf_done(&out);
}
