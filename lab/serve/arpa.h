/* arpa.h - names that stand for addresses: 5.0.0.30.in-addr.arpa (RFC 1035) and ip6.arpa (RFC 3596). Pure; any thread.
 */
#pragma once

#include "place/addr.h"

/* The address, or the beginning of one: "30.in-addr.arpa" is 30.0.0.0/8, "ip6.arpa" all of IPv6. False: no such name.
 */
bool arpa_parse(struct span host, struct network *out);
