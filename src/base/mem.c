#include "base/mem.h"

#include <assert.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define LARGE_BYTES (4 << 20)

/* glibc raises this limit to the size of what was freed last, up to 32 MiB: what the index and the sorters gave back
 * would stay with the process, in pieces, beside what comes after them. Six sites with an index: 299 MiB, with a limit
 * that stays 236, in the same time. */
void mem_setup(void)
{
#ifdef M_MMAP_THRESHOLD
    (void)mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
#endif
}

static void *checked(void *p, size_t n)
{
    if (!p && n) {
        fprintf(stderr, "orb: allocate %zu bytes: out of memory: lower --frontier-mib or free memory\n", n);
        abort();
    }
    return p;
}

void *mem_alloc(size_t n)
{
    return checked(calloc(1, n ? n : 1), n);
}

void *mem_realloc(void *p, size_t n)
{
    return checked(realloc(p, n ? n : 1), n);
}

void *mem_grow(void *p, size_t *cap, size_t need, size_t item)
{
    if (need <= *cap)
        return p;
    size_t to = *cap ? *cap : 8;
    while (to < need) {
        assert(to <= SIZE_MAX / 2);
        to *= 2;
    }
    assert(to <= SIZE_MAX / item);
    p = mem_realloc(p, to * item);
    *cap = to;
    return p;
}

char *mem_str(struct span s)
{
    char *p = mem_alloc(s.n + 1);
    if (s.n)
        memcpy(p, s.p, s.n);
    return p;
}
