#include "codec/json_read.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"

struct reading {
    struct arena *a;
    struct json_pair *pairs;
    size_t count;
};

static status give(struct reading *r, struct span name, struct span value)
{
    if (r->count == JSON_READ_MEMBERS_MAX)
        return ST_LIMIT;
    r->pairs[r->count++] = (struct json_pair){arena_copy(r->a, name), arena_copy(r->a, value)};
    return ST_OK;
}

static struct span real_text(double v, char *room, size_t cap)
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(room, cap, "%.*g", digits, v);
        if (strtod(room, NULL) == v)
            break;
    }
    return span_str(room);
}

/* A value that is no list. */
static status give_one(struct reading *r, struct span name, const json_t *v)
{
    char number[40];
    switch (json_typeof(v)) {
    case JSON_STRING:
        return give(r, name, span_of(json_string_value(v), json_string_length(v)));
    case JSON_INTEGER:
        snprintf(number, sizeof(number), "%" JSON_INTEGER_FORMAT, json_integer_value(v));
        return give(r, name, span_str(number));
    case JSON_REAL:
        return give(r, name, real_text(json_real_value(v), number, sizeof(number)));
    case JSON_TRUE:
        return give(r, name, SPAN("true"));
    case JSON_FALSE:
        return give(r, name, SPAN("false"));
    case JSON_NULL:
        return ST_OK;
    default:
        return ST_INVALID;
    }
}

static status give_member(struct reading *r, struct span name, const json_t *v)
{
    if (!json_is_array(v))
        return give_one(r, name, v);
    status st = ST_OK;
    for (size_t i = 0; st == ST_OK && i < json_array_size(v); i++)
        st = give_one(r, name, json_array_get(v, i));
    return st;
}

static const char *say(struct arena *a, const char *fmt, ...) PRINTF_LIKE(2, 3);
static const char *say(struct arena *a, const char *fmt, ...)
{
    struct buf b = {0};
    va_list ap;
    va_start(ap, fmt);
    buf_vprintf(&b, fmt, ap);
    va_end(ap);
    const char *text = arena_copy(a, buf_span(&b)).p;
    buf_done(&b);
    return text;
}

static status read_members(struct reading *r, json_t *root, const char **why)
{
    const char *name;
    json_t *v;
    json_object_foreach(root, name, v)
    {
        status st = give_member(r, span_str(name), v);
        if (st != ST_OK) {
            *why = st == ST_LIMIT ? "too many members" : say(r->a, "\"%.64s\" has a value of another kind", name);
            return st;
        }
    }
    return ST_OK;
}

status json_read(struct arena *a, struct span text, struct json_pair **out, size_t *count, const char **why)
{
    struct reading r = {.a = a};
    json_error_t e;
    if (text.n > JSON_READ_BYTES_MAX) {
        *why = "the text is too long";
        return ST_LIMIT;
    }
    json_t *root = json_loadb(text.p ? text.p : "", text.n, JSON_REJECT_DUPLICATES, &e);
    status st = ST_INVALID;
    if (!root)
        *why = say(a, "line %d, column %d: %s", e.line, e.column, e.text);
    else if (!json_is_object(root))
        *why = "not an object";
    else {
        r.pairs = arena_alloc(a, JSON_READ_MEMBERS_MAX * sizeof(*r.pairs));
        st = read_members(&r, root, why);
    }
    if (st == ST_OK) {
        *out = r.pairs;
        *count = r.count;
    }
    json_decref(root);
    return st;
}
