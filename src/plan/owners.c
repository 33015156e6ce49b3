#include "plan/owners.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define PAGE_BITS 8u /* places a page */
#define PAGE (1u << PAGE_BITS)
#define FAN_BITS 4u /* pages, or sets, below a set */
#define FAN (1u << FAN_BITS)
#define LEVELS_MAX 8u /* 256 * 16^7 > 2^32 */

struct owners {
    uint32_t places;
    size_t owned;
    uint32_t **pages; /* owned, each too; NULL: nothing in it is owned */
    size_t words;     /* of a set */
    unsigned levels;
    size_t sets[LEVELS_MAX];    /* how many at a level; at 0 one a page */
    uint64_t *bits[LEVELS_MAX]; /* owned */
};

/* ---- sets ---- */

void owner_set_done(struct owner_set *s)
{
    free(s->words);
    *s = (struct owner_set){0};
}

void owner_set_widen(struct owner_set *s, size_t words)
{
    if (words <= s->count)
        return;
    s->words = mem_realloc(s->words, words * sizeof(*s->words));
    memset(s->words + s->count, 0, (words - s->count) * sizeof(*s->words));
    s->count = words;
}

void owner_set_clear(struct owner_set *s)
{
    if (s->count)
        memset(s->words, 0, s->count * sizeof(*s->words));
}

/* ---- places ---- */

struct owners *owners_new(uint32_t places)
{
    struct owners *o = mem_alloc(sizeof(*o));
    o->places = places;
    size_t count = ((size_t)places + PAGE - 1) / PAGE;
    o->pages = mem_alloc((count ? count : 1) * sizeof(*o->pages));
    o->words = 1;
    for (;;) {
        assert(o->levels < LEVELS_MAX);
        o->sets[o->levels] = count ? count : 1;
        o->bits[o->levels] = mem_alloc(o->sets[o->levels] * sizeof(uint64_t));
        o->levels++;
        if (count <= 1)
            return o;
        count = (count + FAN - 1) / FAN;
    }
}

void owners_free(struct owners *o)
{
    if (!o)
        return;
    for (size_t i = 0; i < o->sets[0]; i++)
        free(o->pages[i]);
    free(o->pages);
    for (unsigned k = 0; k < o->levels; k++)
        free(o->bits[k]);
    free(o);
}

static uint64_t *set_at(const struct owners *o, unsigned level, size_t i)
{
    return &o->bits[level][i * o->words];
}

static void widen(struct owners *o, uint32_t owner)
{
    size_t words = o->words;
    while (owner / 64 >= words)
        words *= 2;
    if (words == o->words)
        return;
    for (unsigned k = 0; k < o->levels; k++) {
        uint64_t *wider = mem_alloc(o->sets[k] * words * sizeof(*wider));
        for (size_t i = 0; i < o->sets[k]; i++)
            memcpy(&wider[i * words], set_at(o, k, i), o->words * sizeof(*wider));
        free(o->bits[k]);
        o->bits[k] = wider;
    }
    o->words = words;
}

static bool page_has(const uint32_t *page, uint32_t owner)
{
    for (unsigned i = 0; i < PAGE; i++)
        if (page[i] == owner)
            return true;
    return false;
}

static void mark(struct owners *o, uint32_t place, uint32_t owner)
{
    size_t i = place >> PAGE_BITS;
    for (unsigned k = 0; k < o->levels; k++, i >>= FAN_BITS)
        set_at(o, k, i)[owner / 64] |= (uint64_t)1 << (owner % 64);
}

/* The owner has one place less in the page of `place`. */
static void unmark(struct owners *o, uint32_t place, uint32_t owner)
{
    size_t i = place >> PAGE_BITS;
    uint64_t bit = (uint64_t)1 << (owner % 64);
    if (page_has(o->pages[i], owner))
        return;
    set_at(o, 0, i)[owner / 64] &= ~bit;
    for (unsigned k = 1; k < o->levels; k++) {
        i >>= FAN_BITS;
        size_t end = (i + 1) << FAN_BITS;
        for (size_t below = i << FAN_BITS; below < end && below < o->sets[k - 1]; below++)
            if (set_at(o, k - 1, below)[owner / 64] & bit)
                return;
        set_at(o, k, i)[owner / 64] &= ~bit;
    }
}

uint32_t owners_get(const struct owners *o, uint32_t place)
{
    if (place >= o->places || !o->pages[place >> PAGE_BITS])
        return OWNERS_NOBODY;
    return o->pages[place >> PAGE_BITS][place % PAGE];
}

void owners_set(struct owners *o, uint32_t place, uint32_t owner)
{
    assert(place < o->places);
    uint32_t was = owners_get(o, place);
    if (was == owner)
        return;
    uint32_t **page = &o->pages[place >> PAGE_BITS];
    if (!*page) {
        *page = mem_alloc(PAGE * sizeof(**page));
        memset(*page, 0xff, PAGE * sizeof(**page)); /* OWNERS_NOBODY */
    }
    (*page)[place % PAGE] = owner;
    if (was == OWNERS_NOBODY)
        o->owned++;
    else
        unmark(o, place, was);
    if (owner == OWNERS_NOBODY) {
        o->owned--;
        return;
    }
    widen(o, owner);
    mark(o, place, owner);
}

size_t owners_count(const struct owners *o)
{
    return o->owned;
}

/* ---- search ---- */

static bool has_other(const struct owners *o, const uint64_t *set, const struct owner_set *skip)
{
    size_t words = o->words < skip->count ? o->words : skip->count;
    for (size_t i = 0; i < words; i++)
        if (set[i] & ~skip->words[i])
            return true;
    return false;
}

static uint32_t first_in_page(const struct owners *o, size_t i, uint32_t from, uint32_t to,
                              const struct owner_set *skip)
{
    const uint32_t *page = o->pages[i];
    uint32_t base = (uint32_t)(i << PAGE_BITS);
    uint32_t end = to - base < PAGE ? to : base + PAGE;
    for (uint32_t at = from > base ? from : base; at < end; at++) {
        uint32_t owner = page[at - base];
        if (owner / 64 < skip->count && !owner_set_has(skip, owner))
            return at;
    }
    return to;
}

static uint32_t first_below(const struct owners *o, unsigned level, size_t i, uint32_t from, uint32_t to,
                            const struct owner_set *skip)
{
    if (!has_other(o, set_at(o, level, i), skip))
        return to;
    if (level == 0)
        return first_in_page(o, i, from, to, skip);
    unsigned shift = PAGE_BITS + (level - 1) * FAN_BITS; /* places of a set one level down */
    size_t below = i << FAN_BITS, end = (i + 1) << FAN_BITS;
    if (below < (size_t)from >> shift)
        below = from >> shift;
    for (; below < end && below < o->sets[level - 1] && (uint64_t)below << shift < to; below++) {
        uint32_t at = first_below(o, level - 1, below, from, to, skip);
        if (at < to)
            return at;
    }
    return to;
}

uint32_t owners_first(const struct owners *o, uint32_t from, uint32_t to, const struct owner_set *skip)
{
    uint32_t end = to < o->places ? to : o->places;
    if (from >= end)
        return to;
    uint32_t at = first_below(o, o->levels - 1, 0, from, end, skip);
    return at < end ? at : to;
}
