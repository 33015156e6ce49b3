/* scenario_words.c - a line becomes words, and variables their values.
 *
 *     agents --delay $delay "--name=a b" # so long      with delay "200 --fast" gives  agents|--delay|200|--fast|...
 *
 * A value outside of quotes is cut at its blanks, as in a shell. $$ is a dollar; a dollar that no name follows is one
 * too. Names in capitals that the file does not set are those of the environment. */
#include <stdio.h>
#include <stdlib.h>

#include "lab/play/scenario_internal.h"

static bool is_name_char(char c)
{
    return ascii_is_alpha(c) || ascii_is_digit(c) || c == '_';
}

bool scenario_is_name(struct span s)
{
    if (s.n == 0 || s.n > 64 || ascii_is_digit(s.p[0]))
        return false;
    for (size_t i = 0; i < s.n; i++) {
        if (!is_name_char(s.p[i]))
            return false;
    }
    return true;
}

const struct variable *reader_variable(const struct reader *r, struct span name)
{
    for (size_t i = 0; i < r->variable_count; i++) {
        if (span_eq(r->variables[i].name, name))
            return &r->variables[i];
    }
    return NULL;
}

status reader_set(struct reader *r, struct span name, struct span value)
{
    struct variable *v = (struct variable *)(uintptr_t)reader_variable(r, name);
    if (!v && r->variable_count == SCENARIO_VARIABLES_MAX)
        return reader_fail(r, ST_LIMIT, "more than %d variables", SCENARIO_VARIABLES_MAX);
    if (!v) {
        v = &r->variables[r->variable_count++];
        v->name = arena_copy(&r->out->arena, name);
    }
    v->value = arena_copy(&r->out->arena, value);
    return ST_OK;
}

static bool is_environment(struct span name)
{
    for (size_t i = 0; i < name.n; i++) {
        if (ascii_is_alpha(name.p[i]) && name.p[i] == ascii_lower(name.p[i]))
            return false;
    }
    return true;
}

static status value_of(struct reader *r, struct span name, struct span *out)
{
    char copy[65];
    const struct variable *v = reader_variable(r, name);
    if (v) {
        *out = v->value;
        return ST_OK;
    }
    if (span_is(name, "here")) {
        *out = r->here;
        return ST_OK;
    }
    if (!scenario_is_name(name))
        return reader_fail(r, ST_INVALID, "\"%.*s\" is no name of a variable", SPAN_ARG(name));
    if (!is_environment(name))
        return reader_fail(r, ST_INVALID, "$%.*s is not set: write set %.*s VALUE above, or $$%.*s for a dollar sign",
                           SPAN_ARG(name), SPAN_ARG(name), SPAN_ARG(name));
    snprintf(copy, sizeof(copy), "%.*s", SPAN_ARG(name));
    const char *value = getenv(copy);
    if (!value || !*value)
        return reader_fail(r, ST_INVALID, "$%s is not set: give it in the environment, as in %s=... orb lab run ...",
                           copy, copy);
    *out = span_str(value);
    return ST_OK;
}

/* What stands at a dollar: *name is empty when it is only a dollar. Returns how many bytes of the line it is. */
static size_t dollar(struct span at, struct span *name)
{
    *name = (struct span){0};
    if (at.n > 1 && at.p[1] == '$')
        return 2;
    if (at.n > 1 && at.p[1] == '{') {
        size_t end = span_find(at, '}', 2);
        *name = end < at.n ? span_cut(at, 2, end - 2) : span_from(at, 1); /* without an end it is no name */
        return name->n == 0 ? 1 : end < at.n ? end + 1 : end;
    }
    size_t n = 1;
    while (n < at.n && is_name_char(at.p[n]) && !(n == 1 && ascii_is_digit(at.p[n])))
        n++;
    *name = span_cut(at, 1, n - 1);
    return n;
}

static status put(struct reader *r, struct span s)
{
    if (r->text.n + s.n > SCENARIO_LINE_MAX)
        return reader_fail(r, ST_LIMIT, "longer than %u bytes", SCENARIO_LINE_MAX);
    buf_put(&r->text, s);
    return ST_OK;
}

static status end_word(struct reader *r, struct words *to)
{
    if (to->n >= SCENARIO_WORDS_MAX)
        return reader_fail(r, ST_LIMIT, "more than %d words", SCENARIO_WORDS_MAX);
    reader_add_word(r, to, arena_copy(&r->out->arena, buf_span(&r->text)));
    buf_clear(&r->text);
    return ST_OK;
}

/* A value outside of quotes: its first word goes on with what we have, its last one may be gone on with. */
static status put_split(struct reader *r, struct span value, struct words *to)
{
    status st = ST_OK;
    for (size_t i = 0; st == ST_OK && i < value.n; i++) {
        if (!ascii_is_space(value.p[i]))
            st = put(r, span_cut(value, i, 1));
        else if (r->text.n)
            st = end_word(r, to);
    }
    return st;
}

static void skip_blanks(struct span *line)
{
    size_t n = 0;
    while (n < line->n && ascii_is_space(line->p[n]))
        n++;
    *line = span_from(*line, n);
}

status words_take(struct reader *r, struct span *line, struct words *to)
{
    bool is_quoted = false, has_quotes = false;
    status st = ST_OK;
    skip_blanks(line);
    buf_clear(&r->text);
    while (st == ST_OK && line->n && (is_quoted || !ascii_is_space(line->p[0]))) {
        struct span name = {0}, value;
        size_t used = 1;
        if (line->p[0] == '"') {
            is_quoted = !is_quoted;
            has_quotes = true;
        } else if (is_quoted && line->p[0] == '\\' && line->n > 1 && (line->p[1] == '"' || line->p[1] == '\\')) {
            used = 2;
            st = put(r, span_cut(*line, 1, 1));
        } else if (line->p[0] == '$') {
            used = dollar(*line, &name);
            if (name.n == 0)
                st = put(r, SPAN("$"));
            else if ((st = value_of(r, name, &value)) == ST_OK)
                st = is_quoted ? put(r, value) : put_split(r, value, to);
        } else {
            st = put(r, span_cut(*line, 0, 1));
        }
        *line = span_from(*line, used);
    }
    if (st == ST_OK && is_quoted)
        st = reader_fail(r, ST_INVALID, "a quote has no end");
    if (st == ST_OK && (r->text.n || has_quotes))
        st = end_word(r, to);
    skip_blanks(line);
    return st;
}

status words_take_all(struct reader *r, struct span line, struct words *to)
{
    status st = ST_OK;
    skip_blanks(&line);
    while (st == ST_OK && line.n)
        st = words_take(r, &line, to);
    return st;
}

struct span words_take_raw(struct span *line)
{
    skip_blanks(line);
    size_t n = 0;
    while (n < line->n && !ascii_is_space(line->p[n]))
        n++;
    struct span word = span_cut(*line, 0, n);
    *line = span_from(*line, n);
    skip_blanks(line);
    return word;
}

status words_text(struct reader *r, struct span line, struct span *out)
{
    status st = ST_OK;
    buf_clear(&r->text);
    line = span_trim(line);
    while (st == ST_OK && line.n) {
        struct span name = {0}, value;
        size_t used = 1;
        if (line.p[0] == '$') {
            used = dollar(line, &name);
            if (name.n == 0)
                st = put(r, SPAN("$"));
            else if ((st = value_of(r, name, &value)) == ST_OK)
                st = put(r, value);
        } else {
            used = span_find(line, '$', 0);
            st = put(r, span_cut(line, 0, used));
        }
        line = span_from(line, used);
    }
    if (st == ST_OK)
        *out = arena_copy(&r->out->arena, buf_span(&r->text));
    return st;
}

struct span words_uncomment(struct span line)
{
    bool is_quoted = false;
    for (size_t i = 0; i < line.n; i++) {
        if (is_quoted && line.p[i] == '\\')
            i++;
        else if (line.p[i] == '"')
            is_quoted = !is_quoted;
        else if (line.p[i] == '#' && !is_quoted && (i == 0 || ascii_is_space(line.p[i - 1])))
            return span_cut(line, 0, i);
    }
    return line;
}
