#include "serve/limit.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"

#define WAYS 8

struct bucket {
    uint64_t key; /* 0: free */
    mono_ms at;   /* when `tokens` was right */
    double tokens;
};

struct limiter {
    struct limiter_opts opts;
    pthread_mutex_t lock;
    struct bucket slots[LIMIT_SLOTS];
};

struct limiter *limiter_new(const struct limiter_opts *opts)
{
    struct limiter *l = mem_alloc(sizeof(*l));
    l->opts = *opts;
    pthread_mutex_init(&l->lock, NULL);
    return l;
}

void limiter_free(struct limiter *l)
{
    if (!l)
        return;
    pthread_mutex_destroy(&l->lock);
    free(l);
}

static uint64_t key_of(const struct limiter *l, const struct addr *client)
{
    struct addr a = addr_unmapped(client);
    if (a.family == 6)
        memset(a.b + 8, 0, 8);
    char bytes[17];
    bytes[0] = (char)a.family;
    memcpy(bytes + 1, a.b, 16);
    uint64_t key = siphash(&l->opts.key, span_of(bytes, sizeof(bytes)));
    return key ? key : 1;
}

static struct bucket *find(struct limiter *l, uint64_t key, mono_ms now, double burst)
{
    struct bucket *set = &l->slots[key % (LIMIT_SLOTS / WAYS) * WAYS], *oldest = set;
    for (int i = 0; i < WAYS; i++) {
        if (set[i].key == key)
            return &set[i];
        if (set[i].key == 0 || (oldest->key != 0 && set[i].at < oldest->at))
            oldest = &set[i];
    }
    *oldest = (struct bucket){key, now, burst};
    return oldest;
}

bool limiter_take(struct limiter *l, const struct addr *client, mono_ms now, int *retry_s)
{
    if (l->opts.per_s <= 0)
        return true;
    struct addr a = addr_unmapped(client);
    double factor = addr_classify(&a) == ADDR_LOOPBACK ? l->opts.loopback_factor : 1;
    double per_s = l->opts.per_s * factor, burst = l->opts.burst * factor;
    pthread_mutex_lock(&l->lock);
    struct bucket *b = find(l, key_of(l, client), now, burst);
    /* Requests of one client may come from two threads with their times in the other order. */
    double passed_s = now > b->at ? (double)(now - b->at) / 1000 : 0;
    b->tokens = fmin(burst, b->tokens + passed_s * per_s);
    b->at = now > b->at ? now : b->at;
    bool may = b->tokens >= 1;
    if (may)
        b->tokens -= 1;
    else
        *retry_s = (int)fmax(1, ceil((1 - b->tokens) / per_s));
    pthread_mutex_unlock(&l->lock);
    return may;
}
