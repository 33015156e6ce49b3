/* sockaddr.h - between struct addr and what the socket calls take. */
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include "place/addr.h"

/* Family 0 when `sa` is neither IPv4 nor IPv6. v4-mapped addresses come out as IPv4. */
struct addr addr_of_sockaddr(const struct sockaddr *sa);
int port_of_sockaddr(const struct sockaddr *sa);
/* Length of what was written to *out; 0 for family 0. */
socklen_t sockaddr_of_addr(const struct addr *a, int port, struct sockaddr_storage *out);
/* The shortest round trip that the kernel saw on a TCP connection of late, its making included: the path's, whatever
 * the server takes. 0: it does not say. */
uint32_t socket_path_us(int fd);
