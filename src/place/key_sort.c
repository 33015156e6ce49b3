#include "place/key_sort.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define KEY_BYTES_MAX 32

/* How often each byte value stands at each place of the keys. */
struct histogram {
    size_t count[KEY_BYTES_MAX][256];
};

static inline __attribute__((always_inline)) void *key_sort(void *items, void *spare, size_t count, size_t key_bytes,
                                                            size_t size)
{
    struct histogram *h = mem_alloc(sizeof(*h));
    unsigned char *from = items, *to = spare;
    assert(key_bytes <= KEY_BYTES_MAX && key_bytes <= size);
    for (size_t i = 0; i < count; i++)
        for (size_t b = 0; b < key_bytes; b++)
            h->count[b][from[i * size + b]]++;
    for (size_t b = key_bytes; b-- > 0;) {
        size_t *next = h->count[b], sum = 0;
        if (count == 0 || next[from[b]] == count)
            continue; /* the same everywhere */
        for (size_t v = 0; v < 256; v++) {
            size_t n = next[v];
            next[v] = sum;
            sum += n;
        }
        for (size_t i = 0; i < count; i++)
            memcpy(to + next[from[i * size + b]]++ * size, from + i * size, size);
        unsigned char *swap = from;
        from = to;
        to = swap;
    }
    free(h);
    return from;
}

void *key_sort_16(void *items, void *spare, size_t count, size_t key_bytes)
{
    return key_sort(items, spare, count, key_bytes, 16);
}

void *key_sort_40(void *items, void *spare, size_t count, size_t key_bytes)
{
    return key_sort(items, spare, count, key_bytes, 40);
}
