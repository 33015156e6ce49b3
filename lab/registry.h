/* registry.h - which labs of this user run, for whoever wants to look into one from outside.
 *
 * A file a lab, named by the number of the process that started it, in $XDG_RUNTIME_DIR/orb-lab or, without that,
 * /tmp/orb-lab-UID; folders that are somebody else's, or open to others, are not used. It says how to get in: the first
 * process inside. A lab that ends takes its file along; after a kill -9 the file stays, but a process that is gone, or
 * has the number of another one now, is no lab: whoever lists or adds takes such files away.
 *
 * Nothing here is needed for a lab to run: what fails, fails silently. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/status.h"

#define REGISTRY_MAX 256 /* that are listed */
#define REGISTRY_TEXT_MAX 4096
#define REGISTRY_FOLDER_MAX 64

struct registry_entry {
    pid_t pid;                        /* that started it */
    pid_t first;                      /* process 1 of the box, by its number outside */
    uint64_t start;                   /* of `first`, in ticks since the machine came up */
    int64_t since;                    /* seconds since 1970 */
    char folder[REGISTRY_FOLDER_MAX]; /* of the box, inside */
    char title[REGISTRY_TEXT_MAX];    /* the lab file or the folder of the run */
};

/* Before the box is made: inside of it the machine's processes are not to be seen. NULL: there is no place for it. */
struct registry *registry_open(void);
void registry_add(struct registry *r, pid_t first, const char *folder, const char *title); /* NULL is fine */
void registry_close(struct registry *r);                                                   /* what it added goes */

/* Those that run, the newest first; the caller frees *out. */
size_t registry_list(struct registry_entry **out);
/* Whether a process of that number and start is there still. */
bool registry_is_alive(pid_t pid, uint64_t start);
