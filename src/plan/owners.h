/* owners.h - who has which of a row of numbered places, and the next place that somebody still of interest has.
 *
 * Owners are small numbers (slots of agents). Over the places stands a tree of sets: which owners are below. So
 * "the first place from a to b whose owner is not in this set" skips whole stretches that have nothing new:
 *
 *     sets      {1 2 3}                          one of 16 x 256 places
 *               {1 2}        {2}       {2 3}     one of 256 places each
 *     places    1 . 1 2 .    2 2 . 2   . 3 2 .
 *
 * A place costs four bytes once one of its 256 neighbours is owned, a set a bit an owner. A change costs a look at the
 * 256 and at most 16 sets a level; a search about the same. One thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OWNERS_NOBODY UINT32_MAX

/* A set of owners. */
struct owner_set {
    uint64_t *words; /* owned */
    size_t count;
};
void owner_set_done(struct owner_set *s);
/* Room for owners below 64 * words; new ones are not in. */
void owner_set_widen(struct owner_set *s, size_t words);
void owner_set_clear(struct owner_set *s);

static inline bool owner_set_has(const struct owner_set *s, uint32_t owner)
{
    return owner / 64 < s->count && (s->words[owner / 64] >> (owner % 64) & 1);
}

static inline void owner_set_put(struct owner_set *s, uint32_t owner, bool is_in) /* owner < 64 * count */
{
    uint64_t bit = (uint64_t)1 << (owner % 64);
    s->words[owner / 64] = is_in ? s->words[owner / 64] | bit : s->words[owner / 64] & ~bit;
}

struct owners;
struct owners *owners_new(uint32_t places); /* 0..places-1 */
void owners_free(struct owners *o);         /* NULL is fine */
uint32_t owners_get(const struct owners *o, uint32_t place);
void owners_set(struct owners *o, uint32_t place, uint32_t owner); /* OWNERS_NOBODY: it is free */
size_t owners_count(const struct owners *o);                       /* places that somebody has */
/* The first place in [from, to) whose owner is not in `skip`; `to` when there is none. An owner beyond the width of the
 * set is in it. */
uint32_t owners_first(const struct owners *o, uint32_t from, uint32_t to, const struct owner_set *skip);
