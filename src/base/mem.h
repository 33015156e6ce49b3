/* mem.h - allocation that cannot fail quietly.
 *
 * For sizes that we choose. Running out of memory stops the process with one line on standard error:
 * everything that matters is on disk and the next start goes on from there. Sizes that come from
 * outside pass a named ceiling before they get here. */
#pragma once

#include <stddef.h>

#include "base/span.h"

/* First thing in main: large blocks go back to the system when they are freed. */
void mem_setup(void);
void *mem_alloc(size_t n); /* zeroed; free with free() */
void *mem_realloc(void *p, size_t n);
/* Grows an array of `item` bytes each so that it holds at least `need`; *cap is updated. */
void *mem_grow(void *p, size_t *cap, size_t need, size_t item);
char *mem_str(struct span s); /* NUL-terminated copy */
