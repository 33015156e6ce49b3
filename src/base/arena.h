/* arena.h - memory that is given out piece by piece and freed all at once.
 *
 * Everything about one page lives in that page's arena. Blocks double from 4 KiB; arena_reset keeps the
 * largest block (up to 4 MiB), so a loop over pages soon stops calling malloc. One thread. */
#pragma once

#include <stddef.h>

#include "base/span.h"

struct arena_block;

struct arena {
    struct arena_block *block; /* owned: newest first */
    char *at, *end;
    size_t total; /* bytes of all blocks */
};

void arena_init(struct arena *a);
void arena_done(struct arena *a); /* frees everything; the arena may be used again */
void arena_reset(struct arena *a);

/* Uninitialised, aligned to 16. Never NULL. */
void *arena_alloc(struct arena *a, size_t n);
/* As arena_alloc, aligned to 1: for text. */
char *arena_bytes(struct arena *a, size_t n);
/* A copy of `s` with a NUL after it (not counted in n). */
struct span arena_copy(struct arena *a, struct span s);

#define ARENA_NEW(a, type) ((type *)memset(arena_alloc((a), sizeof(type)), 0, sizeof(type)))
