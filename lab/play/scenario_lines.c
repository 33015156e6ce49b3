/* scenario_lines.c - the statements of a scenario but for its steps. */
#include <stdio.h>

#include "lab/map/lab.h"
#include "lab/play/scenario_internal.h"

#define REPEAT_MAX 1000
#define ATTEMPTS_MAX 20
#define JOBS_MAX 64
#define LATE_MAX_MS 60000
#define FIGURE_VALUE_MAX 1e15

/* ---- variables: set, each, repeat, short ---- */

/* --set comes before short, and both before the file. */
static const struct override * override(struct reader *r, struct span name)
{
    const struct override *found = NULL;
    for (size_t i = 0; i < r->override_count; i++) {
        struct override *o = &r->override[i];
        if (!span_eq(o->name, name))
            continue;
        o->is_known = true;
        if ((o->line == 0 || r->is_short) && !(found && found->line == 0))
            found = o;
    }
    return found;
}

static status join(struct reader *r, const struct words *w, size_t from, struct span *out)
{
    buf_clear(&r->text);
    for (size_t i = from; i < w->n; i++)
        buf_printf(&r->text, "%s%.*s", i > from ? " " : "", SPAN_ARG(w->w[i]));
    if (r->text.n > SCENARIO_LINE_MAX)
        return reader_fail(r, ST_LIMIT, "longer than %u bytes", SCENARIO_LINE_MAX);
    *out = arena_copy(&r->out->arena, buf_span(&r->text));
    return ST_OK;
}

static status check_name(struct reader *r, struct span name)
{
    if (!scenario_is_name(name))
        return reader_fail(r, ST_INVALID, "\"%.*s\" is no name: letters, digits and _", SPAN_ARG(name));
    if (span_is(name, "repeat") || span_is(name, "here"))
        return reader_fail(r, ST_INVALID, "%.*s has its value already", SPAN_ARG(name));
    return ST_OK;
}

static const struct each *find_each(const struct reader *r, struct span name)
{
    for (size_t i = 0; i < r->each_seen; i++) {
        if (span_eq(r->each[i].name, name))
            return &r->each[i];
    }
    return NULL;
}

static status on_set(struct reader *r, const struct words *w)
{
    struct span value;
    if (w->n < 1)
        return reader_fail(r, ST_INVALID, "set NAME VALUE...");
    status st = check_name(r, w->w[0]);
    if (st == ST_OK && find_each(r, w->w[0]))
        st = reader_fail(r, ST_INVALID, "%.*s has its values from an each above", SPAN_ARG(w->w[0]));
    if (st == ST_OK)
        st = join(r, w, 1, &value);
    const struct override *o = st == ST_OK ? override(r, w->w[0]) : NULL;
    return st == ST_OK ? reader_set(r, w->w[0], o ? o->value : value) : st;
}

static status on_each(struct reader *r, const struct words *w)
{
    if (w->n < 2)
        return reader_fail(r, ST_INVALID, "each NAME VALUE...");
    struct words values = {w->w + 1, w->n - 1};
    status st = check_name(r, w->w[0]);
    if (st == ST_OK && reader_variable(r, w->w[0]))
        st = reader_fail(r, ST_INVALID, "%.*s is set above", SPAN_ARG(w->w[0]));
    if (st == ST_OK && r->each_seen == SCENARIO_EACH_MAX)
        st = reader_fail(r, ST_LIMIT, "more than %d lines with each", SCENARIO_EACH_MAX);
    const struct override *o = st == ST_OK ? override(r, w->w[0]) : NULL;
    if (o) { /* one value, or several words */
        struct span rest = o->value, word;
        values = (struct words){0};
        while ((word = words_take_raw(&rest)).n && values.n < SCENARIO_WORDS_MAX)
            reader_add_word(r, &values, word);
        if (values.n == 0)
            st = reader_fail(r, ST_INVALID, "%.*s is given no value", SPAN_ARG(w->w[0]));
    }
    if (st != ST_OK)
        return st;
    struct each *e = &r->each[r->each_seen++];
    if (r->each_seen > r->each_count) {
        e->at = 0;
        r->each_count = r->each_seen;
    }
    e->name = w->w[0];
    e->count = values.n;
    return reader_set(r, w->w[0], values.w[e->at < values.n ? e->at : 0]);
}

status lines_repeat(struct reader *r, const struct words *w)
{
    const struct override *o = override(r, SPAN("repeat"));
    struct span text = o ? o->value : w->n == 1 ? w->w[0] : (struct span){0};
    uint64_t n;
    if (w->n != 1 || !span_u64(text, REPEAT_MAX, &n) || n == 0)
        return reader_fail(r, ST_INVALID, "repeat N, from 1 to %d", REPEAT_MAX);
    r->repeat_count = (size_t)n;
    return ST_OK;
}

status lines_short(struct reader *r, struct span line)
{
    struct words w = {0};
    if (!span_is(words_take_raw(&line), "short"))
        return ST_OK;
    status st = words_take_all(r, words_uncomment(line), &w);
    if (st == ST_OK && w.n == 0)
        st = reader_fail(r, ST_INVALID, "short NAME=VALUE...");
    for (size_t i = 0; st == ST_OK && i < w.n; i++) {
        size_t at = span_find(w.w[i], '=', 0);
        if (at == w.w[i].n)
            return reader_fail(r, ST_INVALID, "\"%.*s\": short NAME=VALUE...", SPAN_ARG(w.w[i]));
        if (r->override_count == sizeof(r->override) / sizeof(*r->override))
            return reader_fail(r, ST_LIMIT, "too many values of short");
        r->override[r->override_count++] =
            (struct override){span_cut(w.w[i], 0, at), span_from(w.w[i], at + 1), r->line, false};
    }
    return st;
}

static status on_short(struct reader *r, const struct words *w)
{
    return ST_OK; /* lines_short has seen it */
}

/* ---- texts ---- */

static status on_title(struct reader *r, struct span text)
{
    if (text.n == 0)
        return reader_fail(r, ST_INVALID, "title TEXT");
    r->out->title = arena_copy(&r->out->arena, text);
    return ST_OK;
}

static status on_about(struct reader *r, struct span text)
{
    buf_clear(&r->text);
    buf_put(&r->text, r->out->about);
    if (r->text.n && text.n)
        buf_putc(&r->text, ' ');
    buf_put(&r->text, text);
    if (r->text.n > SCENARIO_LINE_MAX)
        return reader_fail(r, ST_LIMIT, "more than %u bytes about it", SCENARIO_LINE_MAX);
    r->out->about = arena_copy(&r->out->arena, buf_span(&r->text));
    return ST_OK;
}

/* ---- world and processes ---- */

static status on_world(struct reader *r, const struct words *w)
{
    if (w->n == 0 || w->w[0].n == 0)
        return reader_fail(r, ST_INVALID, "world make agents=N sites=N seed=N, or world FOLDER [agents=N] [sites=N]");
    for (size_t i = 1; i < w->n; i++) {
        if (span_find(w->w[i], '=', 0) == w->w[i].n)
            return reader_fail(r, ST_INVALID, "\"%.*s\": options of a world are NAME=VALUE", SPAN_ARG(w->w[i]));
    }
    r->run->world = *w;
    if (span_is(w->w[0], "make") || w->w[0].p[0] == '/')
        return ST_OK;
    buf_clear(&r->text);
    buf_printf(&r->text, "%.*s/%.*s", SPAN_ARG(r->here), SPAN_ARG(w->w[0])); /* as in a lab file */
    w->w[0] = arena_copy(&r->out->arena, buf_span(&r->text));
    return ST_OK;
}

static status on_lab(struct reader *r, const struct words *w)
{
    struct scenario_run *run = r->run;
    if (w->n == 0)
        return reader_fail(r, ST_INVALID, "lab and a line of a lab file");
    run->lab = reader_grow(r, run->lab, run->lab_count, sizeof(*run->lab));
    run->lab[run->lab_count++] = *w;
    return ST_OK;
}

static status add_options(struct reader *r, const struct words *w, size_t from, struct words *to)
{
    if (w->n <= from)
        return reader_fail(r, ST_INVALID, "options are missing");
    for (size_t i = from; i < w->n; i++)
        reader_add_word(r, to, w->w[i]);
    return ST_OK;
}

static status on_serve(struct reader *r, const struct words *w)
{
    return add_options(r, w, 0, &r->run->serve);
}

static status on_coordinator(struct reader *r, const struct words *w)
{
    return add_options(r, w, 0, &r->run->coordinator);
}

static status on_agents(struct reader *r, const struct words *w)
{
    return add_options(r, w, 0, &r->run->agents);
}

static status on_channels(struct reader *r, const struct words *w)
{
    return add_options(r, w, 0, &r->run->channels);
}

static struct scenario_agent *agent(struct reader *r, struct span name)
{
    struct scenario_run *run = r->run;
    for (size_t i = 0; i < run->agent_count; i++) {
        if (span_eq(run->agent[i].name, name))
            return &run->agent[i];
    }
    run->agent = reader_grow(r, run->agent, run->agent_count, sizeof(*run->agent));
    run->agent[run->agent_count] = (struct scenario_agent){.name = name};
    return &run->agent[run->agent_count++];
}

static status on_agent(struct reader *r, const struct words *w)
{
    if (w->n < 2)
        return reader_fail(r, ST_INVALID, "agent NAME OPTION...");
    return add_options(r, w, 1, &agent(r, w->w[0])->options);
}

static status on_late(struct reader *r, const struct words *w)
{
    if (w->n == 0)
        return reader_fail(r, ST_INVALID, "late NAME...");
    for (size_t i = 0; i < w->n; i++)
        agent(r, w->w[i])->is_late = true;
    return ST_OK;
}

bool scenario_size(struct span text, uint64_t *out)
{
    unsigned shift = 0;
    if (text.n) {
        char last = ascii_lower(text.p[text.n - 1]);
        shift = last == 'k' ? 10 : last == 'm' ? 20 : last == 'g' ? 30 : 0;
        text.n -= shift > 0;
    }
    if (!span_u64(text, UINT64_MAX >> 24 >> shift, out))
        return false;
    *out <<= shift;
    return *out > 0;
}

static status on_disk(struct reader *r, const struct words *w)
{
    uint64_t n;
    if (w->n != 2 || !scenario_size(w->w[1], &n))
        return reader_fail(r, ST_INVALID, "disk NAME BYTES, as in 8000000 or 8M");
    agent(r, w->w[0])->disk_max = n;
    return ST_OK;
}

static status on_crawler(struct reader *r, const struct words *w)
{
    static const char *const kinds[] = {
        [CRAWLER_FLEET] = "fleet", [CRAWLER_CENTRAL] = "central", [CRAWLER_NONE] = "none"};
    for (size_t i = 0; w->n == 1 && i < sizeof(kinds) / sizeof(*kinds); i++) {
        if (span_is(w->w[0], kinds[i])) {
            r->run->crawler = (crawler_kind)i;
            return ST_OK;
        }
    }
    return reader_fail(r, ST_INVALID, "crawler fleet, central or none");
}

static status on_arrive(struct reader *r, const struct words *w)
{
    double percent;
    if (w->n != 1 || !span_ends(w->w[0], SPAN("%")) || !lab_number(span_of(w->w[0].p, w->w[0].n - 1), 100, &percent) ||
        percent <= 0)
        return reader_fail(r, ST_INVALID, "arrive PERCENT%%");
    r->run->arrive = percent / 100;
    return ST_OK;
}

static status on_late_limit(struct reader *r, const struct words *w)
{
    if (w->n != 1 || !lab_number(w->w[0], LATE_MAX_MS, &r->run->late_max_ms))
        return reader_fail(r, ST_INVALID, "late-limit MILLISECONDS");
    return ST_OK;
}

static status on_attempts(struct reader *r, const struct words *w)
{
    uint64_t n;
    if (w->n != 1 || !span_u64(w->w[0], ATTEMPTS_MAX, &n) || n == 0)
        return reader_fail(r, ST_INVALID, "attempts N, from 1 to %d", ATTEMPTS_MAX);
    r->run->attempts = (unsigned)n;
    return ST_OK;
}

static status on_jobs(struct reader *r, const struct words *w)
{
    uint64_t n;
    if (w->n != 1 || !span_u64(w->w[0], JOBS_MAX, &n) || n == 0)
        return reader_fail(r, ST_INVALID, "jobs N, from 1 to %d", JOBS_MAX);
    if (r->is_first)
        r->out->jobs = (unsigned)n;
    return ST_OK;
}

static status on_beside(struct reader *r, const struct words *w)
{
    if (w->n != 1 || !(span_is(w->w[0], "yes") || span_is(w->w[0], "no")))
        return reader_fail(r, ST_INVALID, "beside yes, or beside no");
    if (r->is_first)
        r->out->is_beside = span_is(w->w[0], "yes");
    return ST_OK;
}

/* ---- figures and what must hold ---- */

static const struct {
    const char *text;
    op op;
} ops[] = {{"<", OP_LESS}, {"<=", OP_AT_MOST}, {"=", OP_EQUAL}, {"==", OP_EQUAL}, {"!=", OP_NOT}, {">=", OP_AT_LEAST},
           {">", OP_MORE}, {"+", OP_PLUS},     {"-", OP_MINUS}, {"*", OP_TIMES},  {"/", OP_OVER}};

static status read_op(struct reader *r, struct span text, bool is_claim, op *out)
{
    for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++) {
        if (span_is(text, ops[i].text) && (ops[i].op <= OP_MORE) == is_claim) {
            *out = ops[i].op;
            return ST_OK;
        }
    }
    return reader_fail(r, ST_INVALID, "\"%.*s\" is none of %s", SPAN_ARG(text),
                       is_claim ? "< <= = != >= >" : "+ - * /");
}

/* Figures of shell steps and of agents may have dots and dashes. */
static bool is_figure(struct span s)
{
    if (s.n == 0 || s.n > 128 || !ascii_is_alpha(s.p[0]))
        return false;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (!ascii_is_alpha(c) && !ascii_is_digit(c) && c != '_' && c != '.' && c != '-')
            return false;
    }
    return true;
}

static status read_operand(struct reader *r, struct span text, struct operand *out)
{
    bool is_negative = text.n > 1 && text.p[0] == '-';
    *out = (struct operand){0};
    if (is_figure(text))
        out->name = text;
    else if (!steps_share(text, FIGURE_VALUE_MAX, &out->value) &&
             !lab_number(span_from(text, is_negative), FIGURE_VALUE_MAX, &out->value))
        return reader_fail(r, ST_INVALID, "\"%.*s\" is neither a figure nor a number", SPAN_ARG(text));
    if (is_negative)
        out->value = -out->value;
    return ST_OK;
}

static status on_figure(struct reader *r, const struct words *w)
{
    struct figure_rule f = {0};
    if ((w->n != 3 && w->n != 5) || !is_figure(w->w[0]) || !span_is(w->w[1], "="))
        return reader_fail(r, ST_INVALID, "figure NAME = A, or figure NAME = A + B (or -, *, /)");
    f.name = w->w[0];
    f.has_b = w->n == 5;
    status st = read_operand(r, w->w[2], &f.a);
    if (st == ST_OK && f.has_b)
        st = read_op(r, w->w[3], false, &f.op);
    if (st == ST_OK && f.has_b)
        st = read_operand(r, w->w[4], &f.b);
    if (st != ST_OK)
        return st;
    struct scenario_run *run = r->run;
    run->figures = reader_grow(r, run->figures, run->figure_count, sizeof(*run->figures));
    run->figures[run->figure_count++] = f;
    return ST_OK;
}

static status on_expect(struct reader *r, const struct words *w)
{
    struct expectation e = {0};
    if (w->n != 3)
        return reader_fail(r, ST_INVALID, "expect A = B (or <, <=, !=, >=, >), with blanks between");
    status st = join(r, w, 0, &e.text);
    if (st == ST_OK)
        st = read_operand(r, w->w[0], &e.a);
    if (st == ST_OK)
        st = read_op(r, w->w[1], true, &e.op);
    if (st == ST_OK)
        st = read_operand(r, w->w[2], &e.b);
    if (st != ST_OK)
        return st;
    struct scenario_run *run = r->run;
    run->expects = reader_grow(r, run->expects, run->expect_count, sizeof(*run->expects));
    run->expects[run->expect_count++] = e;
    return ST_OK;
}

static status on_order(struct reader *r, const struct words *w)
{
    struct order_rule o = {0};
    if (w->n < 2 || w->n > 3 || !is_figure(w->w[0]) || !is_figure(w->w[1]) ||
        (w->n == 3 && !steps_share(w->w[2], 1, &o.tie)))
        return reader_fail(r, ST_INVALID, "order FIGURE FIGURE [PERCENT%%]");
    if (!r->is_first)
        return ST_OK;
    status st = join(r, w, 0, &o.text);
    if (st != ST_OK)
        return st;
    o.a = w->w[0];
    o.b = w->w[1];
    struct scenario *s = r->out;
    s->orders = reader_grow(r, s->orders, s->order_count, sizeof(*s->orders));
    s->orders[s->order_count++] = o;
    return ST_OK;
}

/* ---- a line ---- */

static const struct statement {
    const char *name;
    bool of_all; /* says something of all runs, so it cannot hang on a variable */
    status (*fn)(struct reader *r, const struct words *w);
    status (*text)(struct reader *r, struct span text); /* instead: of the first run only, as it is */
} statements[] = {
    {"title", true, NULL, on_title},      {"about", true, NULL, on_about},
    {"set", false, on_set, NULL},         {"short", true, on_short, NULL},
    {"each", true, on_each, NULL},        {"repeat", true, lines_repeat, NULL},
    {"world", false, on_world, NULL},     {"lab", false, on_lab, NULL},
    {"serve", false, on_serve, NULL},     {"coordinator", false, on_coordinator, NULL},
    {"agents", false, on_agents, NULL},   {"agent", false, on_agent, NULL},
    {"late", false, on_late, NULL},       {"disk", false, on_disk, NULL},
    {"crawler", false, on_crawler, NULL}, {"late-limit", false, on_late_limit, NULL},
    {"arrive", false, on_arrive, NULL},   {"attempts", false, on_attempts, NULL},
    {"figure", false, on_figure, NULL},   {"expect", false, on_expect, NULL},
    {"order", true, on_order, NULL},      {"jobs", true, on_jobs, NULL},
    {"beside", true, on_beside, NULL},    {"channels", false, on_channels, NULL},
};

static status do_statement(struct reader *r, const struct statement *s, struct span rest)
{
    struct words w = {0};
    if (s->of_all && r->is_dependent)
        return reader_fail(r, ST_INVALID, "%s holds for all runs: it cannot follow when or unless", s->name);
    rest = words_uncomment(rest);
    if (s->text)
        return r->is_first ? s->text(r, span_trim(rest)) : ST_OK;
    status st = words_take_all(r, rest, &w);
    return st == ST_OK ? s->fn(r, &w) : st;
}

/* VAR=VALUE of `when` and `unless`: is it so? */
static status condition(struct reader *r, struct span *line, bool *holds)
{
    struct words w = {0};
    status st = words_take(r, line, &w);
    size_t at = st == ST_OK && w.n == 1 ? span_find(w.w[0], '=', 0) : 0;
    if (st == ST_OK && (w.n != 1 || at == 0 || at == w.w[0].n))
        st = reader_fail(r, ST_INVALID, "when VARIABLE=VALUE STATEMENT");
    if (st != ST_OK)
        return st;
    struct span name = span_cut(w.w[0], 0, at);
    const struct variable *v = reader_variable(r, name);
    if (!v)
        return reader_fail(r, ST_INVALID, "no variable %.*s above", SPAN_ARG(name));
    *holds = span_eq(v->value, span_from(w.w[0], at + 1));
    return ST_OK;
}

static status step(struct reader *r, struct span line)
{
    struct words w = {0};
    int64_t at_ms = 0;
    status st = words_take(r, &line, &w);
    if (st == ST_OK && (w.n != 1 || !scenario_time(w.w[0], &at_ms)))
        st = reader_fail(r, ST_INVALID, "at TIME STEP: 250ms, 1.5s, 2m, 1h, at most a day");
    struct span verb = words_take_raw(&line);
    return st == ST_OK ? steps_read(r, verb, line, at_ms) : st;
}

status lines_read(struct reader *r, struct span line)
{
    struct span verb = words_take_raw(&line);
    r->is_dependent = false;
    while (span_is(verb, "when") || span_is(verb, "unless")) {
        bool holds = false, wanted = span_is(verb, "when");
        status st = condition(r, &line, &holds);
        if (st != ST_OK || holds != wanted)
            return st;
        r->is_dependent = true;
        verb = words_take_raw(&line);
        if (verb.n == 0 || verb.p[0] == '#')
            return reader_fail(r, ST_INVALID, "a statement is missing");
    }
    if (verb.n == 0 || verb.p[0] == '#')
        return ST_OK;
    for (size_t i = 0; i < sizeof(statements) / sizeof(*statements); i++) {
        if (span_is(verb, statements[i].name))
            return do_statement(r, &statements[i], line);
    }
    if (span_is(verb, "at"))
        return step(r, line);
    if (steps_is_verb(verb))
        return steps_read(r, verb, line, -1);
    return reader_fail(r, ST_INVALID, "\"%.*s\" begins no statement (docs/formats/scenario.md)", SPAN_ARG(verb));
}
