#include "crawl/route.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/table.h"

struct route {
    pthread_mutex_t lock;
    struct table hosts; /* host key -> shard + 1 */
    unsigned shards;
    struct sip_key key;
};

struct route *route_new(unsigned shards, const struct sip_key *key)
{
    struct route *r = mem_alloc(sizeof(*r));
    pthread_mutex_init(&r->lock, NULL);
    r->shards = shards;
    r->key = *key;
    return r;
}

void route_free(struct route *r)
{
    if (!r)
        return;
    table_done(&r->hosts);
    pthread_mutex_destroy(&r->lock);
    free(r);
}

unsigned route_host(struct route *r, struct span host)
{
    if (r->shards == 1)
        return 0;
    uint64_t key = siphash(&r->key, host);
    pthread_mutex_lock(&r->lock);
    uintptr_t at = (uintptr_t)table_get(&r->hosts, key);
    if (!at) {
        at = (uintptr_t)(key % r->shards) + 1;
        table_put(&r->hosts, key, (void *)at);
    }
    pthread_mutex_unlock(&r->lock);
    return (unsigned)at - 1;
}

void route_move(struct route *r, struct span host, unsigned shard)
{
    if (r->shards == 1)
        return;
    pthread_mutex_lock(&r->lock);
    table_put(&r->hosts, siphash(&r->key, host), (void *)((uintptr_t)shard + 1));
    pthread_mutex_unlock(&r->lock);
}

unsigned route_addr(const struct route *r, const struct addr *addr)
{
    struct network n = addr_network(addr);
    return r->shards == 1 ? 0 : (unsigned)(siphash(&r->key, span_of(n.first.b, sizeof(n.first.b))) % r->shards);
}
