/* netns.h - network namespaces, held by file descriptors: one lives while a descriptor or a process is in it.
 *
 * A thread is in one of them; what it opens belongs there ever after. No process has to stay inside. */
#pragma once

#include "base/status.h"
#include "place/addr.h"

/* A new one, empty but for a loopback device that is down. The thread stays where it is. ST_IO. */
MUST_USE status netns_make(int *fd);
/* The one that the thread is in. */
MUST_USE status netns_here(int *fd);
MUST_USE status netns_enter(int fd);
/* Settings of the kernel for the namespace that the thread is in, as files below /proc/sys/net: "ipv4/tcp_tw_reuse".
 * False: it cannot be set; all that we use only make things better. */
bool netns_set(const char *name, const char *value);
/* All that a place wants: ICMP echo for everybody, ports of any number, addresses that are not the device's own. */
void netns_settings(void);
