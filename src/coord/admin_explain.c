/* admin_explain.c - GET /api/v1/explain?url=: why this agent, and what would change it. */
#include "coord/admin_internal.h"
#include "coord/explain.h"

#define LOOKUP_MS 8000 /* for a name that nobody asked for yet */

struct lookup {
    struct loop *loop;
    struct addr addr;
    bool is_over;
};

static void on_resolved(void *arg, const struct resolved *r)
{
    struct lookup *l = arg;
    if (l->is_over)
        return;
    l->is_over = true;
    if (r->st == ST_OK)
        l->addr = r->addrs[0];
    loop_stop(l->loop);
}

static void on_late(void *arg)
{
    struct lookup *l = arg;
    l->is_over = true;
    loop_stop(l->loop);
}

/* The coordinator's resolver is its loop's; this thread may wait, so it has a loop of its own for the moment. */
static struct addr look_up(const struct resolver_opts *dns, struct span host)
{
    struct lookup l = {.loop = loop_new()};
    struct resolver_opts o = *dns;
    struct resolver *resolver = NULL;
    struct timer *late = timer_new(l.loop, on_late, &l);
    o.timeout_ms = LOOKUP_MS / 4;
    if (resolver_new(l.loop, &o, &resolver) == ST_OK) {
        resolver_lookup(resolver, host, on_resolved, &l);
        timer_set(late, LOOKUP_MS);
        loop_run(l.loop);
    }
    l.is_over = true;
    timer_free(late);
    resolver_free(resolver);
    loop_free(l.loop);
    return addr_unmapped(&l.addr);
}

void deed_explain(struct ask *r, struct deed *d)
{
    struct json j = {.out = &d->out};
    struct url u;
    struct addr addr;
    if (explain_parse(r->arena, pairs_get(&r->in, "url"), &u) != ST_OK) {
        deed_fail(d, 400, "invalid", "url: an http or https URL of at most 2,048 bytes.");
        return;
    }
    pthread_mutex_lock(&r->c->lock);
    bool is_strange = explain_address(r->c, &u, &addr);
    pthread_mutex_unlock(&r->c->lock);
    if (is_strange)
        addr = look_up(&r->c->o.dns, u.host);
    pthread_mutex_lock(&r->c->lock);
    explain_put(r->c, &u, &addr, &j);
    pthread_mutex_unlock(&r->c->lock);
}
