/* scenario.c - from a text to its runs.
 *
 * The choices of a run are the positions in the values of each `each`, in the order of the file, and the count of the
 * repeat. After a run the last of them that can goes one further, and those after it begin anew: a counter whose wheels
 * may have different sizes from turn to turn. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "lab/play/scenario_internal.h"

#define RUN_NAME_MAX 200
#define LATE_DEFAULT_MS 5.0
#define ATTEMPTS_DEFAULT 3

status reader_fail(struct reader *r, status st, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    buf_printf(r->why, "%s:%d: ", r->label, r->line);
    buf_vprintf(r->why, fmt, ap);
    va_end(ap);
    return st;
}

void *reader_grow(struct reader *r, void *list, size_t n, size_t item)
{
    if (n >= 4 ? (n & (n - 1)) != 0 : n != 0)
        return list;
    void *more = arena_alloc(&r->out->arena, (n ? 2 * n : 4) * item);
    if (n)
        memcpy(more, list, n * item);
    return more;
}

void reader_add_word(struct reader *r, struct words *to, struct span word)
{
    to->w = reader_grow(r, to->w, to->n, sizeof(*to->w));
    to->w[to->n++] = word;
}

/* ---- the lines ---- */

static status go_through(struct reader *r, struct span text, status (*fn)(struct reader *r, struct span line))
{
    struct span line;
    status st = ST_OK;
    r->line = 0;
    while (st == ST_OK && text.n && span_split(&text, '\n', &line)) {
        r->line++;
        if (r->line > SCENARIO_LINES_MAX)
            st = reader_fail(r, ST_LIMIT, "more than %d lines", SCENARIO_LINES_MAX);
        else
            st = fn(r, span_trim(line));
        if (st == ST_OK && r->out->arena.total > SCENARIO_MEMORY_MAX)
            st = reader_fail(r, ST_LIMIT, "too much to say for %zu runs", r->out->run_count);
    }
    return st;
}

static status check_run(struct reader *r)
{
    const struct scenario_run *run = r->run;
    if (run->world.n == 0 && run->lab_count == 0)
        return reader_fail(r, ST_INVALID, "it has no world");
    return ST_OK;
}

static void keep_variables(struct reader *r)
{
    size_t n = r->variable_count;
    r->run->variables = arena_alloc(&r->out->arena, (n ? n : 1) * sizeof(*r->variables));
    memcpy(r->run->variables, r->variables, n * sizeof(*r->variables));
    r->run->variable_count = n;
}

static status one_run(struct reader *r, struct span text)
{
    char count[24];
    struct scenario *s = r->out;
    s->runs = reader_grow(r, s->runs, s->run_count, sizeof(*s->runs));
    r->run = &s->runs[s->run_count];
    *r->run = (struct scenario_run){.late_max_ms = LATE_DEFAULT_MS, .attempts = ATTEMPTS_DEFAULT};
    r->variable_count = r->each_seen = 0;
    r->is_first = s->run_count == 0;
    snprintf(count, sizeof(count), "%zu", r->repeat_at + 1);
    status st = reader_set(r, SPAN("repeat"), span_str(count));
    r->line = 0;
    if (st == ST_OK)
        st = lines_repeat(r, &(struct words){&(struct span){"1", 1}, 1}); /* --set repeat needs no line */
    if (st == ST_OK)
        st = go_through(r, text, lines_read);
    if (st == ST_OK)
        st = check_run(r);
    if (st != ST_OK)
        return st;
    r->each_count = r->each_seen;
    keep_variables(r);
    s->run_count++;
    return ST_OK;
}

/* To the choices of the next run; false: there is none. */
static bool next_choices(struct reader *r)
{
    if (++r->repeat_at < r->repeat_count)
        return true;
    r->repeat_at = 0;
    for (size_t i = r->each_count; i-- > 0;) {
        if (++r->each[i].at < r->each[i].count)
            return true;
        r->each_count = i; /* begins anew */
    }
    return false;
}

/* ---- what differs ---- */

struct varied {
    struct span names[SCENARIO_EACH_MAX + 1];
    size_t n;
};

static void add_varied(struct varied *v, struct span name)
{
    for (size_t i = 0; i < v->n; i++) {
        if (span_eq(v->names[i], name))
            return;
    }
    if (v->n < sizeof(v->names) / sizeof(*v->names))
        v->names[v->n++] = name;
}

static void note_varied(const struct reader *r, struct varied *v, bool *is_repeated)
{
    for (size_t i = 0; i < r->each_seen; i++) {
        if (r->each[i].count > 1)
            add_varied(v, r->each[i].name);
    }
    *is_repeated = *is_repeated || r->repeat_count > 1;
}

static void put_file_name(struct buf *out, struct span s)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        bool is_plain = ascii_is_alpha(c) || ascii_is_digit(c) || strchr("._-+%=,@", c);
        buf_putc(out, c && is_plain ? c : '_');
    }
}

static bool is_taken(const struct scenario *s, size_t before, struct span name)
{
    for (size_t i = 0; i < before; i++) {
        if (span_eq(s->runs[i].name, name))
            return true;
    }
    return false;
}

static void name_run(struct scenario *s, size_t i, struct buf *name)
{
    struct scenario_run *run = &s->runs[i];
    buf_clear(name);
    for (size_t k = 0; k < run->varied_count; k++) {
        buf_puts(name, k ? "," : "");
        put_file_name(name, run->varied[k].name);
        buf_putc(name, '=');
        put_file_name(name, run->varied[k].value);
    }
    if (name->n == 0)
        buf_puts(name, "run");
    if (name->n > RUN_NAME_MAX)
        name->n = RUN_NAME_MAX;
    size_t n = name->n;
    for (unsigned k = 2; is_taken(s, i, buf_span(name)); k++) { /* values that only differ where a file name cannot */
        name->n = n;
        buf_printf(name, "~%u", k);
    }
    run->name = arena_copy(&s->arena, buf_span(name));
}

static void name_runs(struct scenario *s, const struct varied *v)
{
    struct buf name = {0};
    for (size_t i = 0; i < s->run_count; i++) {
        struct scenario_run *run = &s->runs[i];
        run->varied = arena_alloc(&s->arena, (v->n ? v->n : 1) * sizeof(*run->varied));
        for (size_t k = 0; k < v->n; k++) {
            for (size_t j = 0; j < run->variable_count; j++) {
                if (span_eq(run->variables[j].name, v->names[k]))
                    run->varied[run->varied_count++] = run->variables[j];
            }
        }
        name_run(s, i, &name);
    }
    buf_done(&name);
}

/* ---- all of it ---- */

static status take_options(struct reader *r, const struct scenario_opts *opts)
{
    r->is_short = opts && opts->is_short;
    for (size_t i = 0; opts && i < opts->set_count; i++) {
        if (r->override_count == SCENARIO_VARIABLES_MAX) {
            buf_printf(r->why, "more than %d values of --set", SCENARIO_VARIABLES_MAX);
            return ST_LIMIT;
        }
        r->override[r->override_count++] = (struct override){.name = arena_copy(&r->out->arena, opts->sets[i].name),
                                                             .value = arena_copy(&r->out->arena, opts->sets[i].value)};
    }
    return ST_OK;
}

/* Whatever --set and short name must be somewhere. */
static status check_overrides(struct reader *r)
{
    for (size_t i = 0; i < r->override_count; i++) {
        const struct override *o = &r->override[i];
        if (o->is_known)
            continue;
        r->line = o->line;
        if (o->line)
            (void)reader_fail(r, ST_INVALID, "short %.*s", SPAN_ARG(o->name));
        else
            buf_printf(r->why, "%s: --set %.*s", r->label, SPAN_ARG(o->name));
        buf_puts(r->why, ": no such variable: there are ");
        for (size_t k = 0; k < r->variable_count; k++)
            buf_printf(r->why, "%s%.*s", k ? ", " : "", SPAN_ARG(r->variables[k].name));
        return ST_INVALID;
    }
    return ST_OK;
}

static status read_runs(struct reader *r, struct span text)
{
    struct varied varied = {0};
    bool is_repeated = false, is_more = true;
    status st = go_through(r, text, lines_short);
    while (st == ST_OK && is_more) {
        if (r->out->run_count == SCENARIO_RUNS_MAX)
            return reader_fail(r, ST_LIMIT, "more than %d runs", SCENARIO_RUNS_MAX);
        st = one_run(r, text);
        if (st == ST_OK) {
            note_varied(r, &varied, &is_repeated);
            is_more = next_choices(r);
        }
    }
    if (st == ST_OK)
        st = check_overrides(r);
    if (st == ST_OK && is_repeated)
        add_varied(&varied, SPAN("repeat"));
    if (st == ST_OK)
        name_runs(r->out, &varied);
    return st;
}

static struct span base_name(struct span path)
{
    struct span rest = path, part;
    while (span_split(&rest, '/', &part))
        path = part.n ? part : path;
    static const struct span suffix = SPAN_INIT(".scenario");
    if (path.n > suffix.n && span_ends(path, suffix))
        path.n -= suffix.n;
    return path;
}

static struct span folder_of(struct arena *a, const char *path)
{
    char *whole = realpath(path, NULL);
    const char *p = whole ? whole : path, *slash = strrchr(p, '/');
    struct span dir = slash ? span_of(p, slash == p ? 1 : (size_t)(slash - p)) : SPAN(".");
    dir = arena_copy(a, dir);
    free(whole);
    return dir;
}

status scenario_parse(struct span text, const char *name, const struct scenario_opts *opts, struct scenario *out,
                      struct buf *why)
{
    struct scenario s = {.jobs = 1};
    arena_init(&s.arena);
    struct reader *r = ARENA_NEW(&s.arena, struct reader);
    *r = (struct reader){.out = &s, .label = name, .why = why, .here = folder_of(&s.arena, name)};
    s.name = arena_copy(&s.arena, base_name(span_str(name)));
    status st = text.n > SCENARIO_FILE_MAX ? ST_LIMIT : take_options(r, opts);
    if (text.n > SCENARIO_FILE_MAX)
        buf_printf(why, "%s: larger than %u bytes", name, SCENARIO_FILE_MAX);
    if (st == ST_OK)
        st = read_runs(r, text);
    buf_done(&r->text);
    if (st == ST_OK)
        *out = s;
    else
        scenario_done(&s);
    return st;
}

status scenario_load(const char *path, const struct scenario_opts *opts, struct scenario *out, struct buf *why)
{
    struct buf text = {0};
    FILE *f = fopen(path, "re");
    if (!f) {
        buf_printf(why, "read %s: %s", path, strerror(errno));
        return errno == ENOENT ? ST_NOT_FOUND : ST_IO;
    }
    text.n = fread(buf_room(&text, SCENARIO_FILE_MAX + 1), 1, SCENARIO_FILE_MAX + 1, f);
    status st = ferror(f) ? ST_IO : ST_OK;
    if (st != ST_OK)
        buf_printf(why, "read %s: %s", path, strerror(errno));
    fclose(f);
    if (st == ST_OK)
        st = scenario_parse(buf_span(&text), path, opts, out, why);
    buf_done(&text);
    return st;
}

void scenario_done(struct scenario *s)
{
    arena_done(&s->arena);
    *s = (struct scenario){0};
}
