/* hierarchy.h - the registry hierarchy: which address ranges are registered, to whom, nested by containment.
 *
 * Reads one block of bytes that somebody mapped (docs/formats/hierarchy.md) and made with hierarchy_build.h. Nodes are
 * numbered in address order, a range before what is inside it, IPv4 before IPv6:
 *
 *     1  12.0.0.0 - 18.255.255.255      end 6: nodes 2..5 are inside
 *     2    14.0.0.0 - 16.255.255.255    end 5
 *     3      14.1.0.0 - 14.1.255.255
 *     4      15.10.0.7                  unary: one address
 *     5    17.0.0.0 - 17.0.0.255
 *
 * Node 0 is everything: the parent of the top, nobody's. Where two ranges cross, both hang below the smallest range
 * that holds both, and what lies in both of them hangs below the one that begins later; lookups find the smallest all
 * the same, because they read a list of stretches: runs of addresses whose smallest network is one and the same.
 *
 * Never changes once open: any number of threads. The bytes may come from a damaged file:
 * hierarchy_open checks sizes and bounds of sections, and every read is bounded, so nonsense gives nonsense and never a
 * fault; hierarchy_check reads everything. */
#pragma once

#include "base/buf.h"
#include "base/span.h"
#include "base/status.h"
#include "place/addr.h"

struct hierarchy;

#define HIERARCHY_NONE 0u
#define HIERARCHY_NODES_MAX 100000000u

typedef enum registry_name {
    REGISTRY_NONE,
    REGISTRY_IANA,
    REGISTRY_AFRINIC,
    REGISTRY_APNIC,
    REGISTRY_ARIN,
    REGISTRY_LACNIC,
    REGISTRY_RIPENCC,
    REGISTRY_OTHER,
} registry_name;
const char *registry_name_text(registry_name r); /* "ripencc"; "" for none */
/* The line that the registry wants shown with its data; "" for none. */
const char *registry_licence(registry_name r);

typedef enum registry_status {
    REG_UNKNOWN,
    REG_ALLOCATED,
    REG_ASSIGNED,
    REG_RESERVED,
    REG_AVAILABLE,
    REG_LEGACY,
} registry_status;
const char *registry_status_text(registry_status s);

struct hierarchy_node {
    struct addr first, last;
    uint32_t parent;
    uint32_t end;    /* nodes from this one up to, not including, `end` are it and what is inside */
    uint32_t holder; /* 0: not known */
    char country[3]; /* "" when not known */
    registry_name registry;
    registry_status state;
    unsigned depth; /* 1: at the top; 255: or deeper */
};

/* ST_CORRUPT, ST_NEWER; `why` (may be NULL) gets a phrase. The bytes are borrowed (and copied when they do not begin at
 * a multiple of 8). Reads the head only. */
MUST_USE status hierarchy_open(struct span bytes, struct hierarchy **out, struct buf *why);
void hierarchy_free(struct hierarchy *h); /* NULL is fine */
/* Every checksum; every node in order, inside its parent, its end right; stretches, holders and their lists.
 * ST_CORRUPT. */
MUST_USE status hierarchy_check(const struct hierarchy *h, struct buf *why);

uint32_t hierarchy_count(const struct hierarchy *h); /* nodes are 1..count */
unsigned hierarchy_height(const struct hierarchy *h);
/* Of 0, or of a number that no node has, all is zero but `end`, which is count + 1. */
void hierarchy_get(const struct hierarchy *h, uint32_t node, struct hierarchy_node *out);

/* Parts of it, for loops over many. */
uint32_t hierarchy_parent(const struct hierarchy *h, uint32_t node);
uint32_t hierarchy_end(const struct hierarchy *h, uint32_t node);
uint32_t hierarchy_holder(const struct hierarchy *h, uint32_t node);

/* The smallest range that holds the address (the first of equals), or HIERARCHY_NONE. Of a v4-mapped address: of the
 * IPv4 address in it. */
uint32_t hierarchy_lookup(const struct hierarchy *h, const struct addr *a);
/* The smallest with more than one address: what is delegated. */
uint32_t hierarchy_network(const struct hierarchy *h, const struct addr *a);
/* The node of just this range; the smallest that holds all of it (where ranges cross: the smaller of those found on the
 * way up from either end). HIERARCHY_NONE. */
uint32_t hierarchy_find(const struct hierarchy *h, const struct addr *first, const struct addr *last);
uint32_t hierarchy_enclosing(const struct hierarchy *h, const struct addr *first, const struct addr *last);
/* A network as agents are told of it: the largest prefix around `a` all of whose addresses have the hierarchy_network
 * of `a`, so that it lies inside that one and meets no network inside it. Two different ones never overlap. Where the
 * hierarchy knows nothing, or h is NULL: at most a /24 or /48. */
struct network hierarchy_cell(const struct hierarchy *h, const struct addr *a);

/* ---- holders: 1..count ---- */
uint32_t hierarchy_holder_count(const struct hierarchy *h);
struct span hierarchy_holder_name(const struct hierarchy *h, uint32_t holder); /* as registered; "" for 0 */
/* By any spelling that folds to the same (holder.h); 0: none. */
uint32_t hierarchy_holder_find(const struct hierarchy *h, struct span name);
/* Its nodes, ascending. */
const uint32_t *hierarchy_holder_nodes(const struct hierarchy *h, uint32_t holder, size_t *count);
/* Ids of the files it was made from, newest date and the like, for people: "key=value" lines. */
struct span hierarchy_origin(const struct hierarchy *h);
