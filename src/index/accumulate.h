/* accumulate.h - documents and their postings in memory, until they are written as a segment.
 *
 * Follow one page: its texts are analysed field by field, and the tokens are chained up by term in a scratch of the
 * page (struct local), because what a posting begins with, its counts, is known at the end only. Then each term of the
 * page gets one posting appended to its own chain of slices in one big byte array; slices of a chain grow, so that the
 * many terms that occur once take little and the few that occur everywhere are read back in long runs.
 *
 *     entry "tree" --> [12 bytes]-->[20]-->[36]-->[68]...       posting, posting, posting ...
 *
 *     posting    varint (document - the one before) << 2 | kind
 *                ONE    varint position: once in the body, nowhere else
 *                BARE   nothing: a special term, which counts as once in the body
 *                FULL   varint body, u8 head, varint bytes of positions, positions
 *
 * A page added again takes the place of the older one, whose postings are left out when writing. One thread. */
#pragma once

#include "index/index.h"
#include "index/segment/segment_write.h"

struct accumulator;

struct accumulator *accumulator_new(uint64_t seed);
void accumulator_free(struct accumulator *acc); /* NULL is fine */

typedef enum accumulated {
    ACC_ADDED,
    ACC_REPLACED, /* an older one of the same key */
    ACC_IGNORED,  /* because there is a newer one, or the same */
} accumulated;

/* Copies what it needs. */
accumulated accumulator_add(struct accumulator *acc, const struct index_doc *doc);
/* Drops the document if its fetch number is not above. */
bool accumulator_delete(struct accumulator *acc, uint64_t key, uint64_t fetch_number);
uint32_t accumulator_docs(const struct accumulator *acc); /* live ones */
size_t accumulator_bytes(const struct accumulator *acc);  /* of memory in use */
/* Writes everything as one segment; the accumulator is not changed, so it can be done again. ST_FULL, ST_IO. */
MUST_USE status accumulator_write(struct accumulator *acc, const char *dir, uint32_t number);
void accumulator_clear(struct accumulator *acc); /* keeps some memory for the next */

/* What decides between two versions of a page; `later` is the one that was added later. */
struct version {
    uint64_t fetch_number;
    uint32_t anchors_digest;
    uint8_t prior_code;
};

static inline bool version_wins(const struct version *later, const struct version *earlier)
{
    if (later->fetch_number != earlier->fetch_number)
        return later->fetch_number > earlier->fetch_number;
    return later->anchors_digest != earlier->anchors_digest || later->prior_code != earlier->prior_code;
}
