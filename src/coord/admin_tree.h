/* admin_tree.h - one node of the registry hierarchy with what is around it, for a page and a call. Inside
 * src/coord/admin*.c only. Everything is copied into the request's arena: the hierarchy may be replaced by a newer one
 * as soon as the lock is let go. */
#pragma once

#include "coord/admin_internal.h"
#include "place/hierarchy.h"

#define TREE_PATH_MAX 64     /* ranges around a node; the rest is left out */
#define TREE_AGENTS 3        /* of a node, those that have most of it */
#define TREE_NETWORKS 50     /* of a node, listed */
#define TREE_HOLDER_NODES 50 /* of a holder, listed */

/* Known networks inside of a range, and who has them. */
struct tree_held {
    size_t networks, owned;
    struct {
        const char *name; /* in the arena */
        size_t networks;
    } agents[TREE_AGENTS];
    unsigned agent_count, agent_all;
};

struct tree_row {
    uint32_t number;
    uint32_t inside; /* ranges inside of it, at any depth */
    struct hierarchy_node node;
    struct span holder; /* in the arena */
    struct tree_held held;
};

struct tree_view {
    struct tree_row self;
    struct tree_row *path; /* around it, the widest first; node 0 is not in it */
    size_t path_count;
    struct tree_row *children; /* a part of them */
    size_t child_count, child_total, from;
    size_t child_held;           /* of all: those with known networks in them */
    struct c_network **networks; /* known inside, the first; good while the lock is held */
    size_t network_count;
};

/* coord.lock held, c->hierarchy is there. */
struct tree_ask {
    uint32_t node;    /* at most the hierarchy's count */
    size_t from, max; /* of its children */
    bool only_held;   /* those with known networks in them */
};
void tree_get(struct coord *c, struct arena *a, const struct tree_ask *ask, struct tree_view *out);
/* "12.0.0.0/8", or "12.0.0.0 - 18.255.255.255" when it is no prefix; "everything" for node 0. */
void tree_range(struct buf *out, const struct hierarchy_node *n);

/* What somebody looks for: an address, a prefix, or a holder. */
typedef enum tree_found { TREE_NODE, TREE_HOLDER, TREE_NOWHERE } tree_found;
struct tree_search {
    tree_found found;
    uint32_t node;
    struct tree_row *rows; /* of a holder: its ranges, the first */
    size_t row_count, row_total;
    struct span holder;
    struct c_network *network; /* of an address: the known one it is in; good while the lock is held; NULL */
};
void tree_find(struct coord *c, struct arena *a, struct span what, struct tree_search *out);
