/* clones.h - pages for many hosts out of the pages of a few documentation sites: what a fleet of agents would send.
 *
 * All pages of all sites are one long row; host number i serves `each` of them, from the one after host i - 1's last
 * on, round and round. A page keeps its text, headings and links; only the host in its addresses is another one. So
 * every host is new to the coordinator, while the mix of pages stays that of the sites. Made once; any thread
 * afterwards. */
#pragma once

#include "base/arena.h"
#include "base/status.h"
#include "sites.h"

struct clones;

/* Reads the sites below `sites`. ST_NOT_FOUND: one is not there. */
MUST_USE status clones_read(const char *sites, size_t hosts, size_t each, struct clones **out);
void clones_free(struct clones *c); /* NULL is fine */

/* "s0012.example", "198.18.12.1" */
#define CLONES_NAME_MAX 32
void clones_host(size_t host, char name[CLONES_NAME_MAX]);
void clones_address(size_t host, char name[CLONES_NAME_MAX]);

/* Page `i` of a host, i < each. Texts of addresses in the arena, the rest borrowed. */
void clones_page(const struct clones *c, struct arena *a, size_t host, size_t i, struct summary *out);
/* What is at this URL; NULL: nothing. */
const struct summary *clones_find(const struct clones *c, struct span url);
