/* request.h - parts of a request that need care: parameters of its query, its Host, the address to listen on. Pure. */
#pragma once

#include "base/arena.h"
#include "base/status.h"
#include "place/addr.h"

/* The first value of a parameter in "q=a+b&page=2", '+' and %xx decoded; empty when it is not there. */
struct span request_param(struct arena *a, struct span query, const char *name);
/* A number parameter: `missing` when it is not there; false when it is no number, or above max. */
bool request_number(struct arena *a, struct span query, const char *name, uint64_t missing, uint64_t max,
                    uint64_t *out);

/* A Host header that may be repeated in a page: letters, digits, '.', '-', '_', a port, or an address in brackets. */
bool request_host_is_plain(struct span host);
/* The host without its port. */
struct span request_host_name(struct span host);
/* A name that a browser on this machine uses for it: localhost, something.localhost or a loopback address. Any other
 * name that leads here was pointed here by somebody's DNS (rebinding). */
bool request_host_is_loopback(struct span host);

#define REQUEST_PORT_DEFAULT 8080
/* "127.0.0.1:8080", "127.0.0.1", "[::1]:8080", ":8080" (loopback), "8080" (loopback), "localhost:8080", "*:8080" (every
 * address). */
MUST_USE status request_listen_parse(struct span text, struct addr *addr, int *port);
