/* cage.h - a process that locks itself up and then becomes a program that somebody else wrote.
 *
 * Unlike the worker (sandbox.h) the program brings a loader and libraries that have to be opened and mapped. So what
 * holds it is put together otherwise: Landlock lets it read libraries and the tables of poppler, execute itself, and
 * nothing else of the disk; seccomp lets it open files for reading only, write to standard output and error only, and
 * make neither sockets nor processes nor a second exec; the rlimits bound memory, processor time and open files, and
 * leave no bytes in files. Without Landlock nothing would keep it from reading what the user can read: then it does
 * not run at all. For a process with one thread; cannot be undone. */
#pragma once

#include "base/status.h"

struct cage {
    const char *program;   /* path; nothing else is executed. Borrowed: cage_exec needs this very pointer */
    uint64_t memory_bytes; /* of address space, libraries included */
    uint64_t cpu_s;
};

/* Every descriptor but the first three is closed. ST_IO: the kernel refused a layer, and *what names it (static). */
MUST_USE status cage_enter(const struct cage *c, const char **what);
/* Does not return when it works. */
void cage_exec(const struct cage *c, char *const *argv);
