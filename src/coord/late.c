/* late.c - what an agent found in networks that were taken from it while nobody heard of it. It had a lease then, and
 * may bring what nobody else has brought since: it knows those pages and would not fetch them again, should it get the
 * network back. It is listened to until it has confirmed that it has stopped, and what it had by then has come. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "coord/late.h"

void late_add(struct c_task *t, struct c_network *n, const struct c_agent *a, uint64_t order)
{
    if (!a || a->is_demoted)
        return;
    if (t->late_sequence && a->applied >= t->late_sequence)
        t->late_count = 0; /* those before have come */
    t->late_sequence = 0;
    t->late_order = order;
    for (size_t i = 0; i < t->late_count; i++)
        if (t->late[i] == n)
            return;
    t->late = mem_grow(t->late, &t->late_cap, t->late_count + 1, sizeof(struct c_network *));
    t->late[t->late_count++] = n;
}

void late_remove(struct c_task *t, const struct c_network *n)
{
    for (size_t i = 0; i < t->late_count; i++)
        if (t->late[i] == n) {
            memmove(&t->late[i], &t->late[i + 1], (t->late_count - i - 1) * sizeof(struct c_network *));
            t->late_count--;
            return;
        }
}

void late_orders_done(struct coord *c, const struct c_agent *a)
{
    for (size_t i = 0; i < c->task_count; i++) {
        struct c_task *t = c->tasks[i];
        if (!t || t->agent != a->number || !t->late_count || t->late_sequence || a->orders_done < t->late_order)
            continue;
        t->late_sequence = a->sequence ? a->sequence : 1; /* an end waits for its packages */
        save_task(c, t);
    }
}

bool late_allows(const struct coord *c, const struct c_task *t, const struct url *u, struct span address,
                 uint64_t sequence)
{
    const struct c_host *h = table_get(&c->hosts, siphash(&c->key, u->host));
    struct addr addr;
    if (!h || !h->network || (t->late_sequence && sequence > t->late_sequence) ||
        channel_check(t->channel->channel, u, 0, NULL) != CHANNEL_YES)
        return false;
    for (size_t i = 0; i < t->late_count; i++)
        if (t->late[i] == h->network)
            return !address.n || (addr_parse(address, &addr) == ST_OK && network_has(&t->late[i]->network, &addr));
    return false;
}
