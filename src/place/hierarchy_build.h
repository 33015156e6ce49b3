/* hierarchy_build.h - makes the bytes of a hierarchy out of ranges in any order.
 *
 * Same range twice: facts that the first lacks are taken from the later ones; of holders, an organisation wins over a
 * name, a name over "ASn", that over an opaque id, and of equals the first. A range of all addresses is node 0 and
 * tells nothing. One thread; memory about twice the result. */
#pragma once

#include "place/hierarchy.h"
#include "place/registry.h"

struct hierarchy_builder;
struct hierarchy_builder *hierarchy_builder_new(void);
void hierarchy_builder_free(struct hierarchy_builder *b); /* NULL is fine */
/* Copies what it needs. ST_LIMIT: too many; ST_INVALID: no range (two families, or it ends before it begins). */
MUST_USE status hierarchy_builder_add(struct hierarchy_builder *b, const struct registry_record *r);
/* What references to `id` stand for, those before it too; the first name of an id counts. */
void hierarchy_builder_organisation(struct hierarchy_builder *b, struct span id, struct span name);

struct hierarchy_figures {
    uint64_t ranges;     /* given */
    uint64_t duplicates; /* of them, those that another had already */
    uint64_t crossings;  /* nodes that begin inside of an earlier one and end outside of it */
    uint64_t nodes_v4, nodes_v6;
    uint64_t unary; /* nodes of one address */
    uint64_t holders;
    uint64_t references_unknown; /* ranges of an organisation that no file names */
    unsigned height;
    uint64_t at_depth[32]; /* nodes at depth 1 .. 30; [31]: and deeper */
};

/* `origin` is kept as it is: "key=value" lines about the files. *out is emptied first. The builder is used up: only
 * hierarchy_builder_free is left to do. ST_LIMIT: more than 4 GiB of names. */
MUST_USE status hierarchy_builder_finish(struct hierarchy_builder *b, struct span origin, struct buf *out,
                                         struct hierarchy_figures *figures);
