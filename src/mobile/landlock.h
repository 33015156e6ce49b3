/* landlock.h - what a process may do with files from now on, by the kernel's Landlock. For good; children inherit it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { LANDLOCK_MAY_EXECUTE = 1, LANDLOCK_MAY_READ_FILE = 4, LANDLOCK_MAY_READ_DIR = 8 };

int landlock_version(void); /* that this kernel has; 0: none */
/* A ruleset that handles everything this kernel can, and allows nothing of it yet; -1: there is none. */
int landlock_ruleset(void);
/* Allows what `rights` say of a file, or of a folder and all below it. What is not there needs no rule. */
bool landlock_allow(int ruleset, const char *path, uint64_t rights);
bool landlock_restrict(int ruleset); /* closes it; false, and nothing is changed, for -1 */
