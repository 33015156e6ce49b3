/* map.h - the places of a lab, the addresses in them, and how far they are apart. Pure; one thread.
 *
 * A place is a point of the round-trip matrix; its addresses are prefixes. A node is a network namespace: most places
 * have one of their own, named as they are, and are called hubs; servers by the hundred may share one:
 *
 *     place athens                  node athens    hub
 *     place bergen                  node bergen    hub
 *     place a.example @servers      node servers
 *     place b.example @servers      node servers
 *
 * The matrix has a row a place and a column a hub. That is enough: two places of one node never meet on a wire, so
 * their distance is nobody's business; two places that share nodes, different ones, are `map_far` apart. Five thousand
 * servers and fifty agents need 250,000 paths, not 25 million.
 *
 * Order of calls: places and prefixes, map_seal, then paths. */
#pragma once

#include "base/status.h"
#include "base/span.h"
#include "place/addr.h"

#define MAP_PLACES_MAX 20000
#define MAP_NODES_MAX 500 /* the kernel makes and ends so many namespaces within seconds */
#define MAP_PREFIXES_MAX 65536
#define MAP_NAME_MAX 253
#define MAP_RTT_MAX_MS 60000.0
#define MAP_LOSS_ALL 10000
#define MAP_BANDWIDTH_MIN 1000 /* a packet of full length takes a second and a half */
#define MAP_BANDWIDTH_MAX 10000000000

/* Between two places, both ways alike. Kept to 12 bytes: there are up to ten million of them. */
struct map_path {
    float rtt_ms;
    float jitter_ms; /* a packet takes up to so much longer, one way */
    uint16_t loss;   /* so many of MAP_LOSS_ALL packets are lost, one way */
    bool is_cut;     /* nothing gets through, and nobody is told */
};

struct map_prefix {
    struct network net;
    unsigned place;
};

struct map_place {
    struct span name;         /* owned by the map */
    struct addr addr4, addr6; /* the first ones that it got; family 0: none */
    unsigned node;
    int hub;     /* column of the matrix, -1: none */
    bool is_cut; /* from everything */
};

struct map_node {
    struct span name;         /* owned by the map */
    struct addr addr4, addr6; /* what its processes are seen as; family 0: none */
    uint64_t bandwidth;       /* of its link, bytes a second each way; 0: no limit */
};

struct map;
struct map *map_new(void);
void map_free(struct map *m); /* NULL is fine */

/* A name is letters, digits, '.', '-' and '_'; node empty: the place's own. ST_INVALID, ST_EXISTS, ST_LIMIT. */
MUST_USE status map_add_place(struct map *m, struct span name, struct span node, unsigned *out);
/* `addr` is an address inside that the place's processes use; the first of a family that a node gets is the node's.
 * ST_EXISTS: another place has this very prefix; ST_INVALID: none that a host may have. */
MUST_USE status map_add_prefix(struct map *m, unsigned place, const struct network *net, const struct addr *addr);
/* After all places. All paths are 0 ms now. */
void map_seal(struct map *m);

size_t map_place_count(const struct map *m);
size_t map_node_count(const struct map *m);
size_t map_prefix_count(const struct map *m);
const struct map_place *map_place(const struct map *m, unsigned i);
const struct map_node *map_node(const struct map *m, unsigned i);
const struct map_prefix *map_prefix(const struct map *m, size_t i);
/* False: no such place. */
bool map_find(const struct map *m, struct span name, unsigned *place);
bool map_find_node(const struct map *m, struct span name, unsigned *node);
/* The place with the longest prefix that has the address; false: none has. */
bool map_at(const struct map *m, const struct addr *a, unsigned *place);

/* The round trip and the jitter; the rest stays as it was. ST_UNSUPPORTED: neither of them is a hub. ST_INVALID: no
 * such round trip. */
MUST_USE status map_set_path(struct map *m, unsigned a, unsigned b, const struct map_path *path);
MUST_USE status map_set_loss(struct map *m, unsigned a, unsigned b, unsigned loss);
/* Between places that share nodes; also what map_path says of two places of one node, which nobody asks. */
void map_set_far(struct map *m, const struct map_path *path);
void map_set_far_loss(struct map *m, unsigned loss);
struct map_path map_path(const struct map *m, unsigned a, unsigned b);
/* ST_UNSUPPORTED as above. */
MUST_USE status map_cut_path(struct map *m, unsigned a, unsigned b, bool is_cut);
void map_cut_place(struct map *m, unsigned place, bool is_cut);
/* ST_INVALID: neither 0 nor from MAP_BANDWIDTH_MIN to MAP_BANDWIDTH_MAX. */
MUST_USE status map_set_bandwidth(struct map *m, unsigned node, uint64_t bytes_a_second);
