/* package_internal.h - what the files of package.h share. */
#pragma once

#include "wire/columns.h"
#include "wire/package.h"

/* What is signed: the head before its signature. */
#define PACKAGE_SIGNED_BYTES (PACKAGE_HEAD_BYTES - SIGN_BYTES)

#define PACKAGE_NAME_MAX 4096 /* bytes of a small text that repeats */
#define PACKAGE_ETAG_MAX 1024
#define PACKAGE_LINK_BYTES_MAX (4u << 20) /* addresses of all links of a visit; links beyond do not travel */
#define PACKAGE_LINKS_MAX (FACTS_LINKS_MAX + 16)

/* Of the tail: the answer to a visit as it came; how often pages change: for each visit that says so a varint, how many
 * before it do not, and 8 bytes. */
enum { TAIL_CAPTURE = 1, TAIL_RATES = 2 };
enum { TAIL_CAPTURE_VISIT = 1, TAIL_CAPTURE_BYTES = 2 };

/* What the tail has, for each visit; NULL: for none. */
struct package_tail {
    struct span *captures; /* owned: most of them empty */
    uint64_t *rates;       /* owned */
};

/* False: not a tail of so many visits; `out` (zeroed before) has what was read until then. */
bool package_tail_read(struct span tail, uint32_t visits, struct package_tail *out);
void package_tail_done(struct package_tail *tail);

/* The body of a package: its columns, uncompressed. `tail` may be NULL. */
MUST_USE status package_body_read(struct span body, uint32_t visits, const struct package_tail *tail,
                                  package_visit_fn *fn, void *arg);
