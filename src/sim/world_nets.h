/* world_nets.h - the networks of a made-up world: who holds which, one inside the other, and at which place each is.
 *
 *     1.0.0.0/20   GR  Holder 3             an allocation
 *     1.0.0.0/22   GR  Holder 3               an assignment of its own, at its home
 *     1.0.4.0/24   GR  Holder 9               of a customer, at the customer's home
 *     1.0.4.128/26 GR  Holder 12                and a customer of the customer
 *     2a00:3::/32  GR  Holder 3
 *
 * Most networks of a holder are at its home, some elsewhere in its country, few anywhere. Neighbours in the tree are of
 * one region of the world, as the registries' are. A plot is the part of a network in which no smaller one lies: where
 * sites get their addresses. The same seed gives the same networks. Or the networks are those of a hierarchy, and only
 * their places are made up. One thread. */
#pragma once

#include "base/buf.h"
#include "base/rng.h"
#include "place/addr.h"
#include "place/hierarchy.h"
#include "sim/world_places.h"

struct plot {
    uint32_t holder;   /* number */
    uint32_t place;    /* in struct places */
    uint32_t first;    /* IPv4, as a number */
    uint32_t count;    /* of addresses */
    uint32_t node;     /* of the hierarchy; 0: made up */
    uint32_t six;      /* the /32 of its IPv6 network, as a number; 0: none */
    uint16_t six_part; /* the /48 in it */
    char country[3];   /* as registered */
    bool is_anycast;
};

struct nets;
/* Places and hierarchy are borrowed. */
struct nets *nets_made_up(const struct places *p, uint64_t seed);
/* Networks with a holder, in a country that has places, of 64 to 65,536 addresses. ST_NOT_FOUND: there are none. */
MUST_USE status nets_of_hierarchy(const struct places *p, uint64_t seed, const struct hierarchy *h, struct nets **out);
void nets_free(struct nets *n); /* NULL is fine */

void nets_grow(struct nets *n, size_t wanted); /* made-up ones: at least so many plots; whole holders */
size_t nets_count(const struct nets *n);
const struct plot *nets_plot(const struct nets *n, size_t i); /* until the next one is made */
/* A plot at a place: a new one, or one of a hierarchy's; when that has none there, one in the same country. */
const struct plot *nets_at(struct nets *n, size_t place, struct rng *r);

/* An address of the plot; false: none of a few that were drawn lies outside of smaller networks. */
bool nets_address(const struct nets *n, const struct plot *p, struct rng *r, struct addr *out);
struct addr nets_address6(const struct plot *p, struct rng *r); /* family 0: it has none */
void nets_holder_name(const struct nets *n, const struct plot *p, struct buf *out);
/* networks.tsv, with its head. */
void nets_write(const struct nets *n, struct buf *out);
