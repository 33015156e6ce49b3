#include "lab/play/figures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/siphash.h"
#include "lab/play/figures_internal.h"
#include "store/file.h"

#define NUMBER_TEXT_MAX 64

static const struct sip_key host_key = {0x6669677572657320, 0x6f66206120727565};

/* ---- the list ---- */

void figures_put(struct figures *f, struct span name, double value)
{
    for (size_t i = 0; i < f->n; i++)
        if (span_eq(f->list[i].name, name)) {
            f->list[i].value = value;
            return;
        }
    if (f->n < FIGURES_MAX)
        f->list[f->n++] = (struct figure){arena_copy(&f->arena, name), value};
}

bool figures_get(const struct figures *f, struct span name, double *out)
{
    for (size_t i = 0; i < f->n; i++)
        if (span_eq(f->list[i].name, name)) {
            *out = f->list[i].value;
            return true;
        }
    return false;
}

void figures_done(struct figures *f)
{
    arena_done(&f->arena);
    *f = (struct figures){0};
}

void figures_put_str(struct figures *f, const char *name, double value)
{
    if (isfinite(value))
        figures_put(f, span_str(name), value);
}

double figures_or(const struct figures *f, const char *name, double other)
{
    double v;
    return figures_get(f, span_str(name), &v) ? v : other;
}

/* ---- reading ---- */

bool figures_number(struct span text, double *out)
{
    char copy[NUMBER_TEXT_MAX], *end;
    text = span_trim(text);
    if (!text.n || text.n >= sizeof(copy))
        return false;
    memcpy(copy, text.p, text.n);
    copy[text.n] = '\0';
    double v = strtod(copy, &end);
    if (*end || !isfinite(v))
        return false;
    *out = v;
    return true;
}

bool figures_option(const struct words *w, const char *option, double *out)
{
    bool is_there = false;
    size_t n = strlen(option);
    for (size_t i = 0; i < w->n; i++) {
        struct span s = w->w[i];
        if (span_is(s, option) && i + 1 < w->n)
            is_there |= figures_number(w->w[i + 1], out);
        else if (s.n > n && span_starts(s, span_str(option)) && s.p[n] == '=')
            is_there |= figures_number(span_from(s, n + 1), out);
    }
    return is_there;
}

static void path_of(const struct figures_run *r, const char *name, struct buf *out)
{
    buf_clear(out);
    buf_printf(out, "%s/%s", r->folder, name);
    (void)buf_cstr(out);
}

status figures_read(const struct figures_run *r, const char *name, struct buf *out)
{
    struct buf path = {0};
    path_of(r, name, &path);
    status st = file_read(buf_cstr(&path), FIGURES_FILE_MAX, out);
    if (st != ST_OK && st != ST_NOT_FOUND)
        buf_printf(r->why, "%s: %s", buf_cstr(&path), status_name(st));
    buf_done(&path);
    return st;
}

status figures_json(const struct figures_run *r, const char *name, struct arena *a, const struct json_node **out)
{
    struct buf text = {0};
    status st = figures_read(r, name, &text);
    if (st == ST_OK) {
        st = json_tree(a, buf_span(&text), out);
        if (st != ST_OK)
            buf_printf(r->why, "%s/%s: no JSON that can be read: %s", r->folder, name, status_name(st));
    }
    buf_done(&text);
    return st;
}

int figures_site_of(const struct figures_run *r, struct span host)
{
    return (int)(uintptr_t)table_get(&r->by_host, siphash(&host_key, host)) - 1;
}

static void know_sites(struct figures_run *r)
{
    r->sites = mem_alloc((r->lab.site_count + 1) * sizeof(*r->sites));
    for (size_t i = 0; i < r->lab.site_count; i++) {
        const struct lab_site *s = &r->lab.sites[i];
        r->sites[i] = (struct figures_site){.asker = -1, .owner = -1};
        (void)map_at(r->lab.map, s->addr4.family ? &s->addr4 : &s->addr6, &r->sites[i].place);
        table_put(&r->by_host, siphash(&host_key, s->host), (void *)(uintptr_t)(i + 1));
    }
}

/* When the run was cleared last: figures count from there. */
static status find_clear(struct figures_run *r)
{
    struct buf text = {0};
    struct span line, t;
    double at, last = -1;
    status st = figures_read(r, "events.tsv", &text);
    struct span rest = buf_span(&text);
    while (st == ST_OK && span_split(&rest, '\n', &line))
        if (span_split(&line, '\t', &t) && span_is(line, "clear") && figures_number(t, &at))
            last = at;
    if (last >= 0) {
        r->begin += last;
        r->is_cleared = true;
    }
    buf_done(&text);
    return st == ST_NOT_FOUND ? ST_OK : st;
}

static status open_run(struct figures_run *r)
{
    struct buf path = {0}, text = {0};
    path_of(r, "lab", &path);
    status st = file_read(buf_cstr(&path), LAB_FILE_MAX, &text);
    if (st == ST_OK)
        st = lab_load(buf_cstr(&path), &r->lab, r->why);
    else if (st == ST_NOT_FOUND)
        st = ST_OK;
    else
        buf_printf(r->why, "%s: %s", buf_cstr(&path), status_name(st));
    if (st == ST_OK) {
        know_sites(r);
        buf_clear(&text);
        st = figures_read(r, "begin", &text);
        if (st == ST_OK && !figures_number(buf_span(&text), &r->begin)) {
            buf_printf(r->why, "%s/begin: no number", r->folder);
            st = ST_INVALID;
        }
        if (st == ST_OK)
            st = find_clear(r);
        st = st == ST_NOT_FOUND ? ST_OK : st;
    }
    buf_done(&path);
    buf_done(&text);
    return st;
}

static void close_run(struct figures_run *r)
{
    table_done(&r->by_host);
    free(r->sites);
    lab_done(&r->lab);
}

/* ---- rules ---- */

static bool value_of(const struct figures *f, const struct operand *o, double *out)
{
    *out = o->value;
    return !o->name.n || figures_get(f, o->name, out);
}

/* A figure that a rule needs and that is not there leaves the rule's out too. */
static void apply_rule(struct figures *f, const struct figure_rule *rule)
{
    double a, b = 0;
    if (!value_of(f, &rule->a, &a) || (rule->has_b && !value_of(f, &rule->b, &b)))
        return;
    if (rule->has_b) {
        switch (rule->op) {
        case OP_PLUS:
            a += b;
            break;
        case OP_MINUS:
            a -= b;
            break;
        case OP_TIMES:
            a *= b;
            break;
        case OP_OVER:
            a /= b;
            break;
        default:
            return;
        }
    }
    if (isfinite(a))
        figures_put(f, rule->name, a);
}

bool figures_expected(const struct figures *f, const struct expectation *e, double *value)
{
    double a, b;
    *value = NAN;
    if (!value_of(f, &e->a, &a))
        return false;
    *value = a;
    if (!value_of(f, &e->b, &b))
        return false;
    switch (e->op) {
    case OP_LESS:
        return a < b;
    case OP_AT_MOST:
        return a <= b;
    case OP_EQUAL:
        return a == b;
    case OP_NOT:
        return a != b;
    case OP_AT_LEAST:
        return a >= b;
    case OP_MORE:
        return a > b;
    default:
        return false;
    }
}

status figures_collect(const char *folder, const struct scenario_run *run, struct figures *out, struct buf *why)
{
    static status (*const parts[])(struct figures_run *) = {figures_of_crawl, figures_of_placing, figures_of_sim,
                                                            figures_of_pages, figures_of_router,  figures_of_steps};
    struct figures_run r = {.folder = folder, .run = run, .out = out, .why = why};
    *out = (struct figures){0};
    status st = open_run(&r);
    for (size_t i = 0; st == ST_OK && i < sizeof(parts) / sizeof(*parts); i++) {
        st = parts[i](&r);
        st = st == ST_NOT_FOUND ? ST_OK : st;
    }
    for (size_t i = 0; st == ST_OK && i < run->figure_count; i++)
        apply_rule(out, &run->figures[i]);
    close_run(&r);
    if (st != ST_OK)
        figures_done(out);
    return st;
}
