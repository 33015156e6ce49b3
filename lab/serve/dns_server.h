/* dns_server.h - the lab's name server: UDP and TCP on every address of its namespace, answering from the address that
 * was asked. What a name means may depend on where the asker is. A thread of its own. */
#pragma once

#include "base/status.h"
#include "lab/map/lab.h"

struct dns_server;
/* Borrows the lab. ST_BUSY: the port is taken; ST_IO. */
MUST_USE status dns_server_new(const struct lab *lab, int port, struct dns_server **out);
void dns_server_free(struct dns_server *s);            /* NULL is fine */
uint64_t dns_server_count(const struct dns_server *s); /* queries so far; any thread */
