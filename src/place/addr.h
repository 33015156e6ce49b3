/* addr.h - internet addresses, the networks they are in, and which of them a crawler must not touch. Pure; any thread.
 */
#pragma once

#include "base/status.h"
#include "base/span.h"

#define ADDR_TEXT_MAX 46

struct addr {
    uint8_t family; /* 4, 6; 0 = none */
    uint8_t b[16];  /* network order; IPv4 uses the first four, the rest is zero */
};

/* "192.0.2.1", "2001:db8::1", with or without brackets. Strict dotted quad; no zone ids. */
MUST_USE status addr_parse(struct span text, struct addr *out);
/* Writes the canonical text (RFC 5952), NUL-terminated; returns `to`. */
char *addr_format(const struct addr *a, char to[ADDR_TEXT_MAX]);
bool addr_eq(const struct addr *a, const struct addr *b);
/* The IPv4 address inside a v4-mapped one (::ffff:0:0/96), else *a: the same server is the same address. */
struct addr addr_unmapped(const struct addr *a);

/* The network an address is in: /24 or /48 while no registry hierarchy is loaded. */
struct network {
    struct addr first;
    uint8_t bits;
    uint16_t parts; /* 0: all of it; else a bit for each part that is meant: plan/split.h */
};
#define NETWORK_TEXT_MAX (ADDR_TEXT_MAX + 9)

struct network addr_network(const struct addr *a);
bool network_eq(const struct network *a, const struct network *b);
bool network_has(const struct network *n, const struct addr *a); /* whatever its parts */
/* "192.0.2.0/24", "192.0.2.0/24#00ff": some parts of it */
char *network_format(const struct network *n, char to[NETWORK_TEXT_MAX]);
/* Prefix text such as "10.0.0.0/8", perhaps with parts; host bits must be zero. */
MUST_USE status network_parse(struct span text, struct network *out);

typedef enum addr_class {
    ADDR_PUBLIC,
    ADDR_LOOPBACK,
    ADDR_PRIVATE,    /* 10/8, 172.16/12, 192.168/16, fc00::/7, fec0::/10, 64:ff9b:1::/48 */
    ADDR_LINK_LOCAL, /* 169.254/16, fe80::/10 */
    ADDR_RESERVED,   /* 0/8, 100.64/10, 192.0.0/24, 198.18/15, 240/4, multicast, documentation, ::, family 0; never
                        connected to */
} addr_class;

/* v4-mapped, 6to4, Teredo, NAT64 (64:ff9b::/96) and v4-compatible addresses have the class of the IPv4 address inside
 * when that is not public, else ADDR_PUBLIC. */
addr_class addr_classify(const struct addr *a);
const char *addr_class_name(addr_class c); /* "private" */

/* Of all addresses of a name (one at least) the one that says where it is: the lowest public one, of IPv4 if there is
 * any. The same for everybody who asks, whatever the order of the answers is. */
struct addr addr_home(const struct addr *list, size_t n);

/* Ports that browsers refuse (Fetch Standard, "bad port"): mail, chat and the like behind an http URL are an attack. */
bool port_is_bad(int port);
