/* worker_path.h - where orb-worker is. Any thread. */
#pragma once

#include <stdbool.h>

/* Beside this program; in the build tree; below the prefix that this program is in; where it was to be installed. On
 * the heap; there may be nothing there. */
char *worker_find(void);
bool is_program(const char *path); /* there is something that this user may run */
