/* sandbox_internal.h - what the two cages of this folder share: sandbox.c, of our own worker, and cage.c, of a program
 * that is not ours. Inside src/mobile only. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

/* A limit that is lower already stays so: only root may raise it. */
bool sandbox_set_limit(__rlimit_resource_t what, uint64_t value);
/* For good: no privileges from what is executed, no core file, and nobody of the same user attaches a debugger. */
bool sandbox_renounce(void);
