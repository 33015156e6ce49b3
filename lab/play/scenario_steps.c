/* scenario_steps.c - what happens in a run: [at TIME] VERB ... */
#include "lab/map/lab.h"
#include "lab/play/scenario_internal.h"

#define STEP_WORDS "[at TIME] VERB ..."
#define CLOCK_DAYS_MAX 3650

bool scenario_time(struct span text, int64_t *ms)
{
    static const struct {
        struct span unit;
        double ms;
    } units[] = {{SPAN_INIT("ms"), 1}, {SPAN_INIT("s"), 1000}, {SPAN_INIT("m"), 60000}, {SPAN_INIT("h"), 3600000}};
    double factor = 1000, v;
    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
        if (span_ends(text, units[i].unit)) {
            factor = units[i].ms;
            text.n -= units[i].unit.n;
            break;
        }
    }
    if (!lab_number(text, (double)SCENARIO_TIME_MAX_MS / factor, &v))
        return false;
    *ms = (int64_t)(v * factor + 0.5);
    return true;
}

/* How wrong a clock may be: as a time, or whole days of it. */
static bool offset_of(struct span text, int64_t *ms)
{
    uint64_t days;
    if (!span_ends(text, SPAN("d")))
        return scenario_time(text, ms);
    if (!span_u64(span_cut(text, 0, text.n - 1), CLOCK_DAYS_MAX, &days))
        return false;
    *ms = (int64_t)days * 24 * 3600 * 1000;
    return true;
}

bool steps_share(struct span text, double max, double *out)
{
    double v;
    if (!span_ends(text, SPAN("%")) || !lab_number(span_cut(text, 0, text.n - 1), 100 * max, &v))
        return false;
    *out = v / 100;
    return true;
}

/* ---- wait ---- */

static status no_time(struct reader *r, struct span text)
{
    return reader_fail(r, ST_INVALID, "\"%.*s\" is no time: 250ms, 1.5s, 2m, 1h, at most a day", SPAN_ARG(text));
}

static const struct condition {
    const char *name;
    wait_kind kind;
    bool has_name, has_time, has_share;
    const char *usage;
} conditions[] = {
    {"settled", WAIT_SETTLED, false, false, false, "wait settled"},
    {"crawled", WAIT_CRAWLED, false, false, true, "wait crawled [N%]"},
    {"applied", WAIT_APPLIED, false, false, true, "wait applied [N%]"},
    {"fetching", WAIT_FETCHING, true, false, false, "wait fetching NAME"},
    {"idle", WAIT_IDLE, true, true, false, "wait idle NAME TIME"},
    {"heard", WAIT_HEARD, true, false, false, "wait heard NAME"},
    {"absent", WAIT_ABSENT, true, false, false, "wait absent NAME"},
    {"left", WAIT_LEFT, true, false, false, "wait left NAME"},
};

/* [within TIME] [as FIGURE] */
static status wait_end(struct reader *r, const struct words *w, size_t i, const char *usage, struct step *s)
{
    for (; i < w->n; i += 2) {
        if (i + 1 < w->n && span_is(w->w[i], "within")) {
            if (!scenario_time(w->w[i + 1], &s->within_ms))
                return no_time(r, w->w[i + 1]);
        } else if (i + 1 < w->n && span_is(w->w[i], "as")) {
            if (!scenario_is_name(w->w[i + 1]))
                return reader_fail(r, ST_INVALID, "\"%.*s\" is no name of a figure", SPAN_ARG(w->w[i + 1]));
            s->as = w->w[i + 1];
        } else {
            return reader_fail(r, ST_INVALID, "\"%.*s\": %s [within TIME] [as FIGURE]", SPAN_ARG(w->w[i]), usage);
        }
    }
    return ST_OK;
}

static status wait_condition(struct reader *r, const struct condition *c, const struct words *w, struct step *s)
{
    size_t i = 1;
    s->wait = c->kind;
    s->share = 1;
    if (c->has_name) {
        if (i >= w->n)
            return reader_fail(r, ST_INVALID, "%s [within TIME] [as FIGURE]", c->usage);
        s->name = w->w[i++];
    }
    if (c->has_time) {
        if (i >= w->n)
            return reader_fail(r, ST_INVALID, "%s [within TIME] [as FIGURE]", c->usage);
        if (!scenario_time(w->w[i++], &s->idle_ms))
            return no_time(r, w->w[i - 1]);
    }
    if (c->has_share && i < w->n && steps_share(w->w[i], 1, &s->share))
        i++;
    return wait_end(r, w, i, c->usage, s);
}

static status on_wait(struct reader *r, const struct words *w, struct step *s)
{
    struct span first = w->n ? w->w[0] : (struct span){0};
    s->within_ms = SCENARIO_WITHIN_MS;
    for (size_t i = 0; i < sizeof(conditions) / sizeof(*conditions); i++) {
        if (span_is(first, conditions[i].name))
            return wait_condition(r, &conditions[i], w, s);
    }
    s->wait = WAIT_TIME;
    if (w->n != 1 || !scenario_time(first, &s->within_ms))
        return reader_fail(r, ST_INVALID,
                           "wait TIME, or wait settled, crawled [N%%], applied [N%%], fetching NAME, idle NAME TIME, "
                           "heard NAME, absent NAME or left NAME, with [within TIME] [as FIGURE]");
    return ST_OK;
}

/* ---- others ---- */

static status on_name(struct reader *r, const struct words *w, struct step *s)
{
    if (w->n != 1)
        return reader_fail(r, ST_INVALID,
                           "kill, stop, start and empty take one name: coordinator, servers or an agent");
    s->name = w->w[0];
    return ST_OK;
}

static status on_fill(struct reader *r, const struct words *w, struct step *s)
{
    if (w->n == 1 || (w->n == 3 && span_is(w->w[1], "leaving") && scenario_size(w->w[2], &s->free_bytes))) {
        s->name = w->w[0];
        return ST_OK;
    }
    return reader_fail(r, ST_INVALID, "fill NAME [leaving BYTES], as in fill agent1 leaving 8M");
}

static status on_words(struct reader *r, const struct words *w, struct step *s)
{
    if (w->n == 0)
        return reader_fail(r, ST_INVALID, "an order or a command is missing");
    s->words = *w;
    return ST_OK;
}

static status on_clock(struct reader *r, const struct words *w, struct step *s)
{
    if (w->n != 2)
        return reader_fail(r, ST_INVALID, "clock NAME OFFSET");
    struct span offset = w->w[1];
    bool has_sign = offset.n && (offset.p[0] == '-' || offset.p[0] == '+');
    if (!offset_of(span_from(offset, has_sign), &s->clock_ms))
        return no_time(r, offset);
    if (offset.p[0] == '-')
        s->clock_ms = -s->clock_ms;
    s->name = w->w[0];
    return ST_OK;
}

static status on_nothing(struct reader *r, const struct words *w, struct step *s)
{
    return w->n == 0 ? ST_OK : reader_fail(r, ST_INVALID, "clear stands alone");
}

static const struct verb {
    const char *name;
    step_kind kind;
    bool with_verb; /* the verb is the first word of the order */
    status (*fn)(struct reader *r, const struct words *w, struct step *s);
} verbs[] = {
    {"wait", STEP_WAIT, false, on_wait},    {"kill", STEP_KILL, false, on_name},
    {"stop", STEP_STOP, false, on_name},    {"start", STEP_START, false, on_name},
    {"cut", STEP_ROUTER, true, on_words},   {"heal", STEP_ROUTER, true, on_words},
    {"rtt", STEP_ROUTER, true, on_words},   {"matrix", STEP_ROUTER, true, on_words},
    {"loss", STEP_ROUTER, true, on_words},  {"bandwidth", STEP_ROUTER, true, on_words},
    {"limit", STEP_ROUTER, true, on_words}, {"servers", STEP_SERVERS, false, on_words},
    {"fill", STEP_FILL, false, on_fill},    {"empty", STEP_EMPTY, false, on_name},
    {"clock", STEP_CLOCK, false, on_clock}, {"orb", STEP_ORB, false, on_words},
    {"shell", STEP_SHELL, false, on_words}, {"clear", STEP_CLEAR, false, on_nothing},
};

static const struct verb *find(struct span name)
{
    for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++) {
        if (span_is(name, verbs[i].name))
            return &verbs[i];
    }
    return NULL;
}

bool steps_is_verb(struct span verb)
{
    return find(verb) != NULL;
}

static status step_words(struct reader *r, const struct verb *v, struct span rest, struct words *w)
{
    if (v->with_verb)
        reader_add_word(r, w, span_str(v->name));
    if (v->kind != STEP_SHELL)
        return words_take_all(r, words_uncomment(rest), w);
    struct span text;
    status st = words_text(r, rest, &text);
    if (st == ST_OK && text.n)
        reader_add_word(r, w, text);
    return st;
}

status steps_read(struct reader *r, struct span verb, struct span rest, int64_t at_ms)
{
    const struct verb *v = find(verb);
    struct words w = {0};
    struct step s = {.line = r->line, .at_ms = at_ms};
    if (!v)
        return reader_fail(r, ST_INVALID, "\"%.*s\" is no step: " STEP_WORDS, SPAN_ARG(verb));
    s.kind = v->kind;
    status st = step_words(r, v, rest, &w);
    if (st == ST_OK && v->with_verb && w.n < 2)
        st = reader_fail(r, ST_INVALID, "what is %s?", v->name);
    if (st == ST_OK)
        st = v->fn(r, &w, &s);
    if (st == ST_OK) {
        struct scenario_run *run = r->run;
        run->steps = reader_grow(r, run->steps, run->step_count, sizeof(*run->steps));
        run->steps[run->step_count++] = s;
    }
    return st;
}
