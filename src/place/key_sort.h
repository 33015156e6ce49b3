/* key_sort.h - sorts items by the bytes they begin with; equal ones stay in the order they were in. Pure.
 *
 * Radix sort, a byte at a time from the last to the first; a byte that is the same in all items costs one look. A
 * million items of 8 key bytes take some 30 ms, in whatever order they come. */
#pragma once

#include <stddef.h>

/* `spare` has room for as many items. Returns where the sorted items are: `items` or `spare`. */
void *key_sort_16(void *items, void *spare, size_t count, size_t key_bytes); /* items of 16 bytes */
void *key_sort_40(void *items, void *spare, size_t count, size_t key_bytes); /* items of 40 bytes */
