/* registry_files.h - files of address registries, as they were downloaded (plain, gzip or zstd), into a hierarchy.
 *
 * Blocking; one thread. place/registry.h says which formats there are, place/hierarchy_build.h what becomes of them. */
#pragma once

#include <stdatomic.h>

#include "base/status.h"
#include "place/hierarchy_build.h"

#define REGISTRY_FILE_BYTES_MAX (UINT64_C(64) << 30) /* of a file, unpacked */

struct registry_file {
    const char *path; /* borrowed */
    const char *format;
    char serial[24];
    uint64_t bytes; /* of the file as it is */
    uint64_t ranges, organisations, bad;
};

struct registry_watch {
    void (*bad)(void *self, const struct registry_file *f, uint64_t line, const char *why); /* may be NULL */
    /* Now and then; `done` bytes of f->bytes are read. May be NULL. */
    void (*progress)(void *self, const struct registry_file *f, uint64_t done);
    void (*end)(void *self, const struct registry_file *f); /* registry_build: it was read; may be NULL */
    const atomic_bool *cancel;                              /* set by any thread: ST_CANCELLED; may be NULL */
    void *self;                                             /* borrowed */
};

/* Adds the ranges and organisations of a file. ST_IO with errno; ST_CORRUPT: not whole or damaged; ST_LIMIT: too large,
 * or too many ranges; ST_UNSUPPORTED: no format known; ST_CANCELLED. What came before the failure is in the builder
 * then, and *out says how much. */
MUST_USE status registry_file_add(struct hierarchy_builder *b, const char *path, const struct registry_watch *watch,
                                  struct registry_file *out);
/* Appends the lines about a file that hierarchy_builder_finish wants to be given. */
void registry_file_origin(const struct registry_file *f, struct buf *out);
