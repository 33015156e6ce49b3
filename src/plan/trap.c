#include "plan/trap.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/pack.h"

#define ROWS 2
#define SLOTS 2048
#define SEGMENTS_MAX 256 /* of a URL of 2,048 bytes no more than so many are compared */

struct trap_sketch {
    uint16_t count[ROWS][SLOTS];
};

bool trap_repeats(struct span path)
{
    struct span segments[SEGMENTS_MAX], part;
    unsigned n = 0;
    while (n < SEGMENTS_MAX && span_split(&path, '/', &part))
        if (part.n)
            segments[n++] = part;
    if (n <= TRAP_SEGMENT_REPEATS_MAX)
        return false;
    for (unsigned i = 0; i < n; i++) {
        unsigned same = 1;
        for (unsigned j = i + 1; j < n; j++)
            same += span_eq(segments[i], segments[j]);
        if (same > TRAP_SEGMENT_REPEATS_MAX)
            return true;
    }
    return false;
}

struct trap_sketch *trap_new(void)
{
    return mem_alloc(sizeof(struct trap_sketch));
}

void trap_free(struct trap_sketch *t)
{
    free(t);
}

static void slots_of(const struct sip_key *key, struct span path, unsigned at[ROWS])
{
    uint64_t h = siphash(key, path);
    at[0] = (unsigned)(h % SLOTS);
    at[1] = (unsigned)((h >> 32) % SLOTS);
}

unsigned trap_peek(const struct trap_sketch *t, const struct sip_key *key, struct span path)
{
    unsigned at[ROWS];
    slots_of(key, path, at);
    unsigned a = t->count[0][at[0]], b = t->count[1][at[1]];
    return a < b ? a : b;
}

unsigned trap_count(struct trap_sketch *t, const struct sip_key *key, struct span path)
{
    unsigned at[ROWS], was = trap_peek(t, key, path);
    slots_of(key, path, at);
    for (unsigned r = 0; r < ROWS; r++)
        /* Only the rows that hold the minimum grow ("conservative update"): fewer false counts. */
        if (t->count[r][at[r]] == was && was < UINT16_MAX)
            t->count[r][at[r]]++;
    return was;
}

/* Zero runs and values, alternating: mostly zeros for mostly all sites. */
void trap_pack(const struct trap_sketch *t, struct buf *out)
{
    const uint16_t *flat = &t->count[0][0];
    size_t total = (size_t)ROWS * SLOTS, i = 0;
    while (i < total) {
        size_t zeros = 0;
        while (i + zeros < total && flat[i + zeros] == 0)
            zeros++;
        pack_var(out, zeros);
        i += zeros;
        if (i < total)
            pack_var(out, flat[i++]);
    }
}

status trap_unpack(struct span packed, struct trap_sketch **out)
{
    struct trap_sketch *t = trap_new();
    uint16_t *flat = &t->count[0][0];
    size_t total = (size_t)ROWS * SLOTS, i = 0;
    struct unpack u = unpack_of(packed);
    while (i < total && !u.bad) {
        uint64_t zeros = unpack_var(&u);
        if (zeros > total - i) {
            u.bad = true;
            break;
        }
        i += zeros;
        if (i < total) {
            uint64_t v = unpack_var(&u);
            if (v > UINT16_MAX)
                u.bad = true;
            flat[i++] = (uint16_t)v;
        }
    }
    if (u.bad || !unpack_at_end(&u)) {
        trap_free(t);
        return ST_CORRUPT;
    }
    *out = t;
    return ST_OK;
}
