/* boilerplate.h - which blocks of text a site repeats on many of its pages: navigation, headers, footers.
 *
 * Blocks (lines of visible text, known by simhash_block) are counted a site, each once a page. A block is boilerplate
 * when more than a tenth of the site's pages have it, and BOILERPLATE_PAGES_MIN of them; or BOILERPLATE_MANY, be the
 * site as large as it may: sections have a navigation of their own. That is decided when a site has enough pages, and
 * again each time it has twice as many: in between it stays as it is, so that pages read at different times are cut
 * alike. Each decision begins an epoch of the site.
 *
 *     boilerplate_count   a page     any number of them
 *     boilerplate_settle             decides for the sites that have grown
 *     boilerplate_has     a block
 *
 * Memory is bounded: of more than BOILERPLATE_BLOCKS_MAX blocks those that were seen least are forgotten, which are
 * those that stand on one page only; sites past BOILERPLATE_SITES_MAX have none. Pure; one thread. */
#pragma once

#include <stdbool.h>

#include "base/arena.h"
#include "base/siphash.h"

#define BOILERPLATE_PAGES_MIN 6 /* that must have a block */
#define BOILERPLATE_SHARE 10    /* one page in so many */
#define BOILERPLATE_MANY 24     /* pages that are many in any site */
#define BOILERPLATE_SITE_MIN 12 /* pages of a site before anything is decided */
#define BOILERPLATE_BLOCKS_MAX (3u << 18)
#define BOILERPLATE_SITES_MAX (1u << 17)
#define BOILERPLATE_MEMORY_MAX (24u << 20) /* of its tables, full; as much again for a moment while they grow */

struct boilerplate;

struct boilerplate *boilerplate_new(void);
void boilerplate_free(struct boilerplate *b); /* NULL is fine */

/* `site` is some number of the site, not 0. `work` is only worked with. */
void boilerplate_count(struct boilerplate *b, struct arena *work, const struct sip_key *key, uint64_t site,
                       struct span text);
void boilerplate_settle(struct boilerplate *b);
bool boilerplate_has(const struct boilerplate *b, uint64_t site, uint64_t block);
/* The same of many blocks, in less time than one by one: out[i] is of blocks[i]. */
void boilerplate_which(const struct boilerplate *b, uint64_t site, const uint64_t *blocks, size_t n, bool *out);
/* How often it was decided for the site: 0 is never. */
unsigned boilerplate_epoch(const struct boilerplate *b, uint64_t site);
size_t boilerplate_memory(const struct boilerplate *b);

/* Everything as rows of BOILERPLATE_ROW numbers, and back: to go on where another run ended. Rows may come in any order
 * and from anywhere: what makes no sense is ignored. Sites come before blocks. */
#define BOILERPLATE_ROW 3
typedef bool boilerplate_row_fn(void *arg, const uint64_t row[BOILERPLATE_ROW]); /* false stops */
void boilerplate_each(const struct boilerplate *b, boilerplate_row_fn *fn, void *arg);
void boilerplate_load(struct boilerplate *b, const uint64_t row[BOILERPLATE_ROW]);
