#include "codec/json_tree.h"

#include <jansson.h>

static status grow(struct arena *a, const json_t *v, unsigned depth, struct json_node *n);

static status grow_list(struct arena *a, const json_t *v, unsigned depth, struct json_node *n)
{
    const struct json_node **tail = &n->children;
    size_t i;
    const json_t *child;
    json_array_foreach(v, i, child)
    {
        struct json_node *c = ARENA_NEW(a, struct json_node);
        status st = grow(a, child, depth + 1, c);
        if (st != ST_OK)
            return st;
        *tail = c;
        tail = &c->next;
    }
    return ST_OK;
}

static status grow_object(struct arena *a, json_t *v, unsigned depth, struct json_node *n)
{
    const struct json_node **tail = &n->children;
    const char *name;
    json_t *child;
    json_object_foreach(v, name, child)
    {
        struct json_node *c = ARENA_NEW(a, struct json_node);
        status st = grow(a, child, depth + 1, c);
        if (st != ST_OK)
            return st;
        c->name = arena_copy(a, span_str(name));
        *tail = c;
        tail = &c->next;
    }
    return ST_OK;
}

static status grow(struct arena *a, const json_t *v, unsigned depth, struct json_node *n)
{
    if (depth > JSON_TREE_DEPTH_MAX)
        return ST_LIMIT;
    switch (json_typeof(v)) {
    case JSON_STRING:
        n->kind = NODE_TEXT;
        n->text = arena_copy(a, span_of(json_string_value(v), json_string_length(v)));
        return ST_OK;
    case JSON_INTEGER:
    case JSON_REAL:
        n->kind = NODE_NUMBER;
        n->number = json_number_value(v);
        return ST_OK;
    case JSON_TRUE:
    case JSON_FALSE:
        n->kind = NODE_TRUTH;
        n->number = json_is_true(v);
        return ST_OK;
    case JSON_ARRAY:
        n->kind = NODE_LIST;
        return grow_list(a, v, depth, n);
    case JSON_NULL:
        return ST_OK;
    default:
        n->kind = NODE_OBJECT;
        return grow_object(a, (json_t *)v, depth, n);
    }
}

status json_tree(struct arena *a, struct span text, const struct json_node **out)
{
    if (text.n > JSON_TREE_BYTES_MAX)
        return ST_LIMIT;
    json_error_t why;
    json_t *root = json_loadb(text.p ? text.p : "", text.n, JSON_ALLOW_NUL | JSON_DECODE_ANY, &why);
    if (!root)
        return ST_INVALID;
    struct json_node *n = ARENA_NEW(a, struct json_node);
    status st = grow(a, root, 0, n);
    json_decref(root);
    if (st == ST_OK)
        *out = n;
    return st;
}

static const struct json_node nothing;

const struct json_node *json_member(const struct json_node *o, const char *name)
{
    for (const struct json_node *c = o->children; c; c = c->next)
        if (span_is(c->name, name))
            return c;
    return &nothing;
}

struct span json_member_text(const struct json_node *o, const char *name)
{
    return json_member(o, name)->text;
}

double json_member_number(const struct json_node *o, const char *name)
{
    return json_member(o, name)->number;
}
