/* import_later.h - revisits whose body stands in the middle of a compressed member, where no reading can begin. They
 * wait until all records were taken; then one more look through the files that have such bodies finds all of them. */
#pragma once

#include "base/arena.h"
#include "base/siphash.h"
#include "base/table.h"
#include "codec/warc_read.h"

#define LATER_BYTES_MAX (64u << 20) /* that wait */

struct later_revisit {
    struct later_revisit *next; /* of the same body, in the order in which they came */
    struct warc_record r;       /* its texts are its own */
};

/* All zero to begin with; the key is the caller's, and the same in every call. */
struct import_later {
    struct arena arena;
    bool has_arena;
    struct table waiting; /* payload digest -> the first of a list */
    size_t bytes;
};
void import_later_done(struct import_later *l);

/* False: too much waits already. */
bool import_later_add(struct import_later *l, const struct sip_key *key, const struct warc_record *r);
/* Those that wait for the body with this digest, which wait no longer; NULL: none do. They live until
 * import_later_done. */
const struct later_revisit *import_later_take(struct import_later *l, const struct sip_key *key, struct span digest);
/* Lists that nobody took, one a call, in no order; start with *at = 0. NULL: no more. */
const struct later_revisit *import_later_next(const struct import_later *l, size_t *at);
