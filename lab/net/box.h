/* box.h - what a lab lives in: process, mount and network namespaces, in a user namespace unless we are root.
 *
 * The first process inside is process 1 there: when it ends, however it ends, the kernel kills all others inside, and
 * with the last of them go the namespaces, the devices and the mounts. It ends when we do. So nothing is left after a
 * kill -9 of either, and nothing has to be tidied up. */
#pragma once

#include <sys/types.h>

#include "base/buf.h"
#include "base/status.h"
#include "place/addr.h"

/* Inside of the box there is a folder that only the box sees (a tmpfs), named by this variable. */
#define BOX_FOLDER_VARIABLE "ORB_LAB"

struct box_inside {
    const char *folder; /* borrowed */
    bool is_user_ns;
};

/* Outside, in the process that called box_run, once the box is there: `first` is process 1 of it, by its number here.
 */
typedef void box_started(void *arg, pid_t first, const char *folder);

/* Runs `inside` as process 1 of a new box, with SIGTERM, SIGINT, SIGHUP and SIGCHLD blocked, passes those signals on to
 * it, and waits; *code gets what it returned, or 128 + the signal that killed it. ST_REFUSED: the system does not let
 * us have such namespaces; ST_IO: it went wrong on the way. Call it while there is one thread; the caller can start no
 * more processes or threads afterwards, because its processes would belong into the box that is gone. */
MUST_USE status box_run(int (*inside)(void *arg, const struct box_inside *box), box_started *started, void *arg,
                        int *code, struct buf *why);

/* Inside: names are asked of this server by everything that reads resolv.conf; services of the machine that would ask
 * on our behalf, outside of the box, are hidden. */
void box_names(const struct box_inside *box, const struct addr *server);
/* Inside, for the router: as little waiting for a processor as the system allows. Children do not inherit it. */
void box_urgent(void);
