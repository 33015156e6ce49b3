/* names.h - host names of a lab and what DNS says of them: addresses, which may differ by the asker's place; where they
 * are; and which hosts an address belongs to. Unchanging; any thread.
 *
 * The names of places are hosts too, where no site and no `name` line has that name. */
#pragma once

#include "base/span.h"
#include "lab/map/lab.h"

struct names;
/* Borrows the lab. */
struct names *names_new(const struct lab *lab);
void names_free(struct names *n); /* NULL is fine */

#define NAMES_ADDRS_MAX 16

/* Hosts are looked for in any case. */

/* Addresses of `host` for an asker of `place` (-1: from nowhere that we know): what is said for that place, else what
 * everybody is told. False: no such host. There may be none of a family all the same. */
bool names_find(const struct names *n, struct span host, int place, int family, struct addr out[NAMES_ADDRS_MAX],
                size_t *count);
/* There is such a host, or one below it. */
bool names_exist(const struct names *n, struct span host);
/* Where it is; false: nobody says. */
bool names_spot(const struct names *n, struct span host, struct spot *out);
/* Hosts that have the address: those of sites and `name` lines, else the place's. */
size_t names_of(const struct names *n, const struct addr *a, struct span out[NAMES_ADDRS_MAX]);
/* Whether any address of the network has one. */
bool names_within(const struct names *n, const struct network *net);
