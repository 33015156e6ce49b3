/* networks.c - the networks that are known, in the order of their addresses, and the registry hierarchy they come from.
 *
 * A network is the cell of the hierarchy around a host's address (place/hierarchy.h), a /24 or /48 without one. No two
 * overlap, whichever hierarchy was loaded when: one that is there keeps its hosts and its agent, and a new one is made
 * as small as it must be to leave it alone. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "coord/networks.h"
#include "io/clock.h"
#include "plan/split.h"
#include "store/file.h"

#define LOOK_MS 60000 /* between two looks at the file */

/* ---- in order ---- */

static int compare(const struct addr *a, const struct addr *b)
{
    return a->family != b->family ? (a->family < b->family ? -1 : 1) : memcmp(a->b, b->b, sizeof(a->b));
}

static int compare_networks(const void *a, const void *b)
{
    const struct c_network *const *x = a, *const *y = b;
    return compare(&(*x)->network.first, &(*y)->network.first);
}

/* The first that begins after the address. */
static size_t place_after(const struct coord *c, const struct addr *a)
{
    size_t from = 0, to = c->sorted_count;
    while (from < to) {
        size_t mid = from + (to - from) / 2;
        if (compare(&c->sorted[mid]->network.first, a) <= 0)
            from = mid + 1;
        else
            to = mid;
    }
    return from;
}

struct c_network *network_find(struct coord *c, const struct addr *addr)
{
    struct addr plain = addr_unmapped(addr);
    size_t at = place_after(c, &plain);
    return at && network_has(&c->sorted[at - 1]->network, &plain) ? c->sorted[at - 1] : NULL;
}

/* Under the smallest split network that has all of its parts. */
static void index_part(struct coord *c, struct c_network *part)
{
    struct c_network *best = NULL;
    size_t at = 0;
    for (struct c_network *n; (n = table_next(&c->networks, &at));) {
        unsigned theirs = n->network.parts ? n->network.parts : 0xffffu;
        if (n == part || n->state != NETWORK_SPLIT || n->network.bits != part->network.bits ||
            !addr_eq(&n->network.first, &part->network.first) || (part->network.parts & ~theirs))
            continue;
        if (!best ||
            __builtin_popcount(theirs) < __builtin_popcount(best->network.parts ? best->network.parts : 0xffffu))
            best = n;
    }
    if (best)
        network_part_add(best, part);
}

void networks_index(struct coord *c)
{
    size_t at = 0;
    c->sorted_count = 0;
    for (struct c_network *n; (n = table_next(&c->networks, &at));) {
        if (n->network.parts) {
            index_part(c, n);
            continue;
        }
        c->sorted = mem_grow(c->sorted, &c->sorted_cap, c->sorted_count + 1, sizeof(struct c_network *));
        c->sorted[c->sorted_count++] = n;
    }
    if (c->sorted_count)
        qsort(c->sorted, c->sorted_count, sizeof(struct c_network *), compare_networks);
}

static struct network prefix(const struct addr *a, unsigned bits)
{
    struct network n = {.first = *a, .bits = (uint8_t)bits};
    for (unsigned i = bits; i < (a->family == 4 ? 32 : 128); i++)
        n.first.b[i / 8] &= (uint8_t) ~(0x80 >> (i % 8));
    return n;
}

/* Around `a`, between its neighbours. */
static struct network cell_of(const struct coord *c, const struct addr *a, size_t at)
{
    struct network n = hierarchy_cell(c->hierarchy, a);
    unsigned all = a->family == 4 ? 32 : 128;
    const struct network *before = at ? &c->sorted[at - 1]->network : NULL,
                         *after = at < c->sorted_count ? &c->sorted[at]->network : NULL;
    while (n.bits < all && ((before && network_has(&n, &before->first)) || (after && network_has(&n, &after->first))))
        n = prefix(a, n.bits + 1u);
    return n;
}

struct c_network *network_make(struct coord *c, const struct network *net)
{
    char text[NETWORK_TEXT_MAX];
    struct c_network *n = mem_alloc(sizeof(*n));
    n->network = *net;
    n->state = NETWORK_FREE;
    n->since = n->met = clock_wall();
    n->expected_ms = n->sure = -1;
    set_text(n->text, sizeof(n->text), span_str(network_format(&n->network, text)));
    table_put(&c->networks, siphash(&c->key, span_str(n->text)), n);
    return n;
}

void network_part_add(struct c_network *n, struct c_network *part)
{
    n->parts = mem_grow(n->parts, &n->part_cap, n->part_count + 1, sizeof(struct c_network *));
    n->parts[n->part_count++] = part;
}

struct c_network *network_part(struct c_network *n, struct span host)
{
    for (size_t i = 0; n->state == NETWORK_SPLIT && i < n->part_count; i++)
        if (split_has(&n->parts[i]->network, host))
            return network_part(n->parts[i], host);
    return n;
}

struct c_network *network_at(struct coord *c, const struct addr *addr, struct span host)
{
    struct addr plain = addr_unmapped(addr);
    struct c_network *n = network_find(c, &plain);
    if (n)
        return network_part(n, host);
    size_t at = place_after(c, &plain);
    struct network cell = cell_of(c, &plain, at);
    n = network_make(c, &cell);
    at = place_after(c, &n->network.first);
    c->sorted = mem_grow(c->sorted, &c->sorted_cap, c->sorted_count + 1, sizeof(struct c_network *));
    memmove(&c->sorted[at + 1], &c->sorted[at], (c->sorted_count - at) * sizeof(struct c_network *));
    c->sorted[at] = n;
    c->sorted_count++;
    c->has_free = true;
    save_network(c, n);
    return n;
}

/* ---- the hierarchy ---- */

struct carry {
    size_t moved, lost;
};

static void note_carry(void *arg, const struct delegator_carry *k)
{
    struct carry *carry = arg;
    carry->moved += !k->is_lost;
    carry->lost += k->is_lost;
}

static status read_hierarchy(struct coord *c, struct mapped **map, struct hierarchy **h, struct buf *why)
{
    status st = mapped_open(c->hierarchy_path, map);
    if (st != ST_OK) {
        buf_printf(why, "the hierarchy %s: %s", c->hierarchy_path, st == ST_IO ? strerror(errno) : status_name(st));
        return st;
    }
    st = hierarchy_open(mapped_span(*map), h, why);
    if (st == ST_OK)
        st = hierarchy_check(*h, why);
    if (st != ST_OK) {
        buf_printf(why, ": make %s anew with orb hierarchy build", c->hierarchy_path);
        hierarchy_free(*h);
        mapped_free(*map);
        *h = NULL;
        *map = NULL;
    }
    return st;
}

static bool has_changed(struct coord *c)
{
    struct stat st;
    if (stat(c->hierarchy_path, &st) != 0)
        return false;
    int64_t seen = (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000 + (int64_t)st.st_ino;
    bool is_new = seen != c->hierarchy_seen;
    c->hierarchy_seen = seen;
    return is_new;
}

status networks_open_hierarchy(struct coord *c, struct buf *why)
{
    if (!c->o.hierarchy_file && access(c->hierarchy_path, R_OK) != 0)
        return ST_OK; /* none was made: networks are /24 and /48 */
    (void)has_changed(c);
    return read_hierarchy(c, &c->hierarchy_map, &c->hierarchy, why);
}

void networks_tick(struct coord *c, mono_ms now)
{
    struct mapped *map = NULL;
    struct hierarchy *h = NULL;
    struct buf why = {0};
    struct carry carry = {0};
    if (c->hierarchy_looked && now - c->hierarchy_looked < LOOK_MS)
        return;
    c->hierarchy_looked = now;
    if (!has_changed(c))
        return;
    if (read_hierarchy(c, &map, &h, &why) != ST_OK)
        log_write(c->o.log, LOG_WARN, "networks", "a newer hierarchy is not used why=\"%s\"", buf_cstr(&why));
    else {
        delegator_hierarchy(c->delegator, h, note_carry, &carry);
        hierarchy_free(c->hierarchy);
        mapped_free(c->hierarchy_map);
        c->hierarchy = h;
        c->hierarchy_map = map;
        log_write(c->o.log, LOG_INFO, "networks", "a newer hierarchy nodes=%u carried_to_another=%zu lost=%zu",
                  hierarchy_count(h), carry.moved, carry.lost);
    }
    buf_done(&why);
}

void networks_look(struct coord *c)
{
    c->hierarchy_looked = 0;
}

void networks_free(struct coord *c)
{
    free(c->sorted);
    hierarchy_free(c->hierarchy);
    mapped_free(c->hierarchy_map);
    free(c->hierarchy_path);
}
