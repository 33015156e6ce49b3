/* records_again.c - what could not be written down, because the disk was full or failed, is written down later: each
 * as it is then. What belongs to a transaction is the business of whoever began it. */
#include <stdlib.h>

#include "base/mem.h"
#include "coord/agents.h"
#include "coord/assign.h"
#include "coord/channels.h"
#include "coord/records.h"

struct unsaved {
    fleet_kind kind;
    struct buf key;
};

void record_put(struct coord *c, fleet_kind kind, struct span key, struct span packed, const char *doing)
{
    status st = fleet_put(c->fleet, kind, key, packed);
    uint64_t id = siphash(&c->key, key) + kind;
    note_trouble(c, st, doing);
    if (st == ST_OK || fleet_is_begun(c->fleet) || table_get(&c->unsaved, id))
        return;
    struct unsaved *u = mem_alloc(sizeof(*u));
    u->kind = kind;
    buf_put(&u->key, key);
    table_put(&c->unsaved, id, u);
}

static void unsaved_free(struct unsaved *u)
{
    buf_done(&u->key);
    free(u);
}

static void save_again(struct coord *c, const struct unsaved *u)
{
    struct span key = buf_span(&u->key);
    uint64_t number = key.n >= 8 ? fleet_number_of(span_cut(key, 0, 8)) : 0;
    struct c_agent *a = u->kind == FLEET_AGENT ? agent_get(c, number) : NULL;
    const struct c_channel *ch = u->kind == FLEET_CHANNEL ? channel_get(c, number) : NULL;
    const struct c_task *t = u->kind == FLEET_TASK ? task_get(c, number) : NULL;
    const struct c_host *h = u->kind == FLEET_HOST ? table_get(&c->hosts, siphash(&c->key, key)) : NULL;
    const struct c_network *n = u->kind == FLEET_NETWORK ? table_get(&c->networks, siphash(&c->key, key)) : NULL;
    if (a && a->name[0])
        save_agent(c, a);
    else if (a)
        remove_agent(c, a);
    if (ch) /* with its hosts */
        save_channel(c, ch);
    if (t)
        save_task(c, t);
    if (h)
        save_host(c, h);
    if (n)
        save_network(c, n);
}

void records_save_again(struct coord *c)
{
    struct table old = c->unsaved;
    size_t at = 0;
    c->unsaved = (struct table){0};
    for (struct unsaved *u; (u = table_next(&old, &at));) {
        if (c->unsaved.n == 0) {
            save_again(c, u);
            unsaved_free(u);
        } else { /* it is as it was: one line in the log is enough */
            uint64_t id = siphash(&c->key, buf_span(&u->key)) + u->kind;
            if (table_get(&c->unsaved, id))
                unsaved_free(u);
            else
                table_put(&c->unsaved, id, u);
        }
    }
    table_done(&old);
}

void records_free(struct coord *c)
{
    size_t at = 0;
    for (struct unsaved *u; (u = table_next(&c->unsaved, &at));)
        unsaved_free(u);
    table_done(&c->unsaved);
}
