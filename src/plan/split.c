#include "plan/split.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/siphash.h"
#include "web/domain.h"

/* An agent in the plan. */
struct sharer {
    uint64_t number;
    double room;
    unsigned parts; /* it should have */
};

static int by_room(const void *a, const void *b)
{
    const struct sharer *x = a, *y = b;
    if (x->room != y->room)
        return x->room > y->room ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* As few as carry the load, and one part at least for each. */
static size_t how_many(const struct sharer *s, size_t count, double load)
{
    size_t n = 0;
    double room = 0;
    while (n < count && n < SPLIT_PARTS && (n == 0 || room < load))
        room += s[n++].room;
    return n;
}

/* Parts one by one to whom each would be the smallest share of its room (Jefferson's method): sums to all of them, and
 * nobody has more than it can carry while others have less. */
static void share_out(struct sharer *s, size_t count)
{
    for (unsigned part = 0; part < SPLIT_PARTS; part++) {
        size_t best = 0;
        for (size_t i = 1; i < count; i++)
            if ((s[i].parts + 1) / s[i].room < (s[best].parts + 1) / s[best].room)
                best = i;
        s[best].parts++;
    }
}

static struct sharer *sharer_of(struct sharer *s, size_t count, uint64_t number)
{
    for (size_t i = 0; i < count; i++)
        if (s[i].number == number && s[i].parts)
            return &s[i];
    return NULL;
}

status split_plan(const struct split_agent *agents, size_t count, double load, const struct split *was,
                  struct split *out)
{
    struct sharer *s = mem_alloc(count * sizeof(*s));
    struct split plan = {{0}};
    size_t n = 0, next = 0;
    for (size_t i = 0; i < count; i++)
        if (agents[i].room > 0)
            s[n++] = (struct sharer){agents[i].number, agents[i].room < 1e18 ? agents[i].room : 1e18, 0};
    if (!n) {
        free(s);
        return ST_FULL;
    }
    qsort(s, n, sizeof(*s), by_room);
    n = how_many(s, n, load);
    share_out(s, n);
    for (unsigned part = 0; part < SPLIT_PARTS && was; part++) {
        struct sharer *keeps = was->agent[part] ? sharer_of(s, n, was->agent[part]) : NULL;
        if (keeps) {
            plan.agent[part] = keeps->number;
            keeps->parts--;
        }
    }
    for (unsigned part = 0; part < SPLIT_PARTS; part++) {
        if (plan.agent[part])
            continue;
        while (!s[next].parts)
            next++;
        plan.agent[part] = s[next].number;
        s[next].parts--;
    }
    free(s);
    *out = plan;
    return ST_OK;
}

unsigned split_part(struct span domain)
{
    static const struct sip_key key = {0x6f7262, 0x73706c6974};
    return (unsigned)(siphash(&key, domain) % SPLIT_PARTS);
}

bool split_has(const struct network *n, struct span host)
{
    return !n->parts || n->parts >> split_part(domain_registered(host)) & 1;
}

uint16_t split_parts(const struct split *s, uint64_t agent)
{
    unsigned parts = 0;
    for (unsigned part = 0; part < SPLIT_PARTS; part++)
        parts |= (unsigned)(s->agent[part] == agent) << part;
    return (uint16_t)parts;
}

unsigned split_share(const struct split *s, uint64_t agent)
{
    unsigned n = 0;
    for (unsigned part = 0; part < SPLIT_PARTS; part++)
        n += s->agent[part] == agent;
    return n;
}
