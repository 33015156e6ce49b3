#include "wire/intern.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

#define SLOTS_MIN 1024

void intern_clear(struct intern *t)
{
    t->bytes.n = 0;
    t->count = t->used = 0;
    if (t->slot_count)
        memset(t->slots, 0, t->slot_count * sizeof(*t->slots));
}

void intern_done(struct intern *t)
{
    buf_done(&t->bytes);
    free(t->at);
    free(t->slots);
    *t = (struct intern){0};
}

static uint64_t load8(const char *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof(v));
    return v;
}

static uint64_t load4(const char *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof(v));
    return v;
}

/* The last 1 to 8 bytes: with fewer in all, some of them twice. */
static uint64_t load_last(struct span s)
{
    const unsigned char *p = (const unsigned char *)s.p;
    if (s.n >= 8)
        return load8(s.p + s.n - 8);
    if (s.n >= 4)
        return load4(s.p) | load4(s.p + s.n - 4) << 32;
    return p[0] | (uint64_t)p[s.n / 2] << 8 | (uint64_t)p[s.n - 1] << 16;
}

/* Eight bytes a multiplication. Good enough to spread words and lines; it decides nothing (see above). */
static uint32_t hash_of(struct span s)
{
    uint64_t h = s.n * UINT64_C(0x9e3779b97f4a7c15);
    size_t i = 0;
    for (; i + 8 <= s.n; i += 8) {
        h = (h ^ load8(s.p + i)) * UINT64_C(0xff51afd7ed558ccd);
        h ^= h >> 32;
    }
    if (i < s.n)
        h = (h ^ load_last(s)) * UINT64_C(0xff51afd7ed558ccd);
    h = (h ^ h >> 29) * UINT64_C(0xc4ceb9fe1a85ec53);
    return (uint32_t)(h >> 32);
}

static void grow(struct intern *t)
{
    size_t old_count = t->slot_count;
    struct intern_slot *old = t->slots;
    t->slot_count = old_count ? old_count * 2 : SLOTS_MIN;
    t->slots = mem_alloc(t->slot_count * sizeof(*t->slots));
    for (size_t i = 0; i < old_count; i++) {
        size_t at = old[i].hash;
        if (!old[i].id1)
            continue;
        while (t->slots[at & (t->slot_count - 1)].id1)
            at++;
        t->slots[at & (t->slot_count - 1)] = old[i];
    }
    free(old);
}

static uint32_t append(struct intern *t, struct span s)
{
    assert(t->bytes.n + s.n < UINT32_MAX);
    t->at = mem_grow(t->at, &t->at_cap, t->count + 2, sizeof(*t->at));
    t->at[t->count] = (uint32_t)t->bytes.n;
    buf_put(&t->bytes, s);
    buf_putc(&t->bytes, '\n');
    t->at[t->count + 1] = (uint32_t)t->bytes.n;
    return (uint32_t)t->count++;
}

uint32_t intern_put(struct intern *t, struct span s, bool *is_new)
{
    uint32_t hash = hash_of(s);
    if (t->used * 2 >= t->slot_count)
        grow(t);
    *is_new = false;
    for (size_t i = 0; i < INTERN_PROBES_MAX; i++) {
        struct intern_slot *slot = &t->slots[(hash + i) & (t->slot_count - 1)];
        if (!slot->id1) {
            *is_new = true;
            *slot = (struct intern_slot){hash, append(t, s) + 1};
            t->used++;
            return slot->id1 - 1;
        }
        if (slot->hash == hash && span_eq(intern_text(t, slot->id1 - 1), s))
            return slot->id1 - 1;
    }
    *is_new = true;
    return append(t, s);
}

uint32_t intern_find(const struct intern *t, struct span s)
{
    uint32_t hash = hash_of(s);
    for (size_t i = 0; i < INTERN_PROBES_MAX && t->slot_count; i++) {
        const struct intern_slot *slot = &t->slots[(hash + i) & (t->slot_count - 1)];
        if (!slot->id1)
            break;
        if (slot->hash == hash && span_eq(intern_text(t, slot->id1 - 1), s))
            return slot->id1 - 1;
    }
    return UINT32_MAX;
}
