/* sandbox.h - a process that locks itself up before it runs what somebody else wrote.
 *
 * Afterwards it can read standard input, write standard output, have memory up to its ceiling, ask for the time and
 * end; anything else ends it at once. Each layer holds alone: seccomp allows a handful of system calls, with their
 * arguments looked at; Landlock refuses every file, TCP port and signal to others; the rlimits leave no files, no
 * processes and no bytes in files. For a process with one thread; cannot be undone. */
#pragma once

#include "base/status.h"

enum {
    SANDBOX_CLOSE = 1, /* every descriptor but standard input and output */
    SANDBOX_RLIMITS = 2,
    SANDBOX_LANDLOCK = 4, /* where the kernel has it */
    SANDBOX_SECCOMP = 8,
    SANDBOX_ALL = 15,
};

/* With AddressSanitizer the address space is not limited, for its shadow needs terabytes of it, and a few more calls
 * are allowed. For tests only. */
#if defined(__SANITIZE_ADDRESS__)
#define SANDBOX_HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANDBOX_HAS_ASAN 1
#endif
#endif
#ifndef SANDBOX_HAS_ASAN
#define SANDBOX_HAS_ASAN 0
#endif

struct sandbox_limits {
    uint64_t memory_bytes; /* address space on top of what the process has already */
    uint64_t cpu_s;        /* of the whole process */
};

/* ST_IO: the kernel refused a layer, and *what names it (static); the process must not go on then. */
MUST_USE status sandbox_enter(unsigned layers, const struct sandbox_limits *limits, const char **what);
/* The process ends when it has used so many milliseconds of CPU from now on; 0 takes that back. Works inside. */
void sandbox_cpu_alarm(unsigned ms);
