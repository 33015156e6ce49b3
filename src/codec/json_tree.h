/* json_tree.h - reads JSON that another program of ours wrote (jansson inside): a tree of values in an arena. Pure. */
#pragma once

#include "base/arena.h"
#include "base/status.h"

#define JSON_TREE_BYTES_MAX (64u << 20)
#define JSON_TREE_DEPTH_MAX 32

typedef enum json_kind { NODE_NOTHING, NODE_TRUTH, NODE_NUMBER, NODE_TEXT, NODE_LIST, NODE_OBJECT } node_kind;

struct json_node {
    node_kind kind;
    struct span name;                        /* in an object */
    struct span text;                        /* NODE_TEXT */
    double number;                           /* NODE_NUMBER, and 0 or 1 of NODE_TRUTH */
    const struct json_node *children, *next; /* first of a list or object; the one after this */
};

MUST_USE status json_tree(struct arena *a, struct span text, const struct json_node **out); /* ST_INVALID, ST_LIMIT */

/* A member of an object; one that is NODE_NOTHING when there is none, or `o` is no object. Never NULL. */
const struct json_node *json_member(const struct json_node *o, const char *name);
struct span json_member_text(const struct json_node *o, const char *name); /* empty when it is no text */
double json_member_number(const struct json_node *o, const char *name);    /* 0 */
