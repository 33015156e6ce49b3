/* sites.h - which site of a lab a request is for. Unchanging; any thread. */
#pragma once

#include "base/span.h"
#include "lab/map/lab.h"

struct sites;
/* Borrows the lab. */
struct sites *sites_new(const struct lab *lab);
void sites_free(struct sites *s); /* NULL is fine */
/* The site of that name, in any case; false: none. */
bool sites_find(const struct sites *s, struct span host, size_t *out);
/* The site of that name if it has the address, by its own line or by a `name` line; a host that is no site means the
 * first site of the address. False: nothing is there. */
bool sites_asked(const struct sites *s, struct span host, const struct addr *local, size_t *out);
