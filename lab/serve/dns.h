/* dns.h - the answer to a DNS query, out of a table of names: authoritative, A, AAAA, PTR and LOC.
 * Pure; any thread. */
#pragma once

#include "base/span.h"
#include "lab/serve/names.h"

#define DNS_UDP_MAX 1232 /* what we send to those who can take it (EDNS); others get 512 */
#define DNS_TCP_MAX 65535
#define DNS_TTL_S 60

/* Writes the answer to *query for an asker of `place`, of at most `room` bytes (at least 512); over UDP less when the
 * query says so. Returns its length; 0: it deserves none. */
size_t dns_answer(const struct names *n, int place, struct span query, bool is_udp, size_t room, unsigned char *out);
