#include "lab/serve/limit.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/siphash.h"

#define WAYS 8

static const struct sip_key key = {0x6c61626c696d6974, 0x706572636c69656e};

struct slot {
    uint64_t id;
    double free_s; /* when all that was asked so far has been paid for; past: nothing is owed */
};

struct limit {
    struct slot slots[LIMIT_SLOTS];
};

struct limit *limit_new(void)
{
    return mem_alloc(sizeof(struct limit));
}

void limit_free(struct limit *l)
{
    free(l);
}

static uint64_t id_of(size_t site, const struct addr *a)
{
    unsigned char bytes[8 + 17] = {0};
    uint64_t n = site;
    memcpy(bytes, &n, sizeof(n));
    bytes[8] = a->family;
    memcpy(bytes + 9, a->b, 16);
    uint64_t id = siphash(&key, span_of(bytes, sizeof(bytes)));
    return id ? id : 1;
}

/* The client's slot, else the one of eight that owes least. */
static struct slot *slot_of(struct limit *l, uint64_t id)
{
    struct slot *way = &l->slots[id % (LIMIT_SLOTS / WAYS) * WAYS], *best = way;
    for (size_t i = 0; i < WAYS; i++) {
        if (way[i].id == id)
            return &way[i];
        if (way[i].free_s < best->free_s)
            best = &way[i];
    }
    *best = (struct slot){.id = id};
    return best;
}

bool limit_take(struct limit *l, size_t site, const struct addr *client, double per_s, double now_s, double *wait_s)
{
    struct slot *s = slot_of(l, id_of(site, client));
    double each_s = 1 / per_s, burst = per_s > 2 ? per_s : 2;
    double owed_s = s->free_s > now_s ? s->free_s - now_s : 0;
    if (owed_s > (burst - 1) * each_s) {
        *wait_s = owed_s - (burst - 1) * each_s;
        return false;
    }
    s->free_s = now_s + owed_s + each_s;
    return true;
}
