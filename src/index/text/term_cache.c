#include "index/text/term_cache.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

#define FIRST_SLOTS 1024

/* splitmix64, to make two keys of one seed. */
static uint64_t next_key(uint64_t *seed)
{
    uint64_t z = *seed += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static void make_tables(struct term_cache *c)
{
    c->words = mem_alloc(FIRST_SLOTS * sizeof(c->words[0]));
    c->terms = mem_alloc(FIRST_SLOTS * sizeof(struct term *));
    c->word_mask = c->term_mask = FIRST_SLOTS - 1;
    c->word_count = c->term_count = 0;
}

void term_cache_init(struct term_cache *c, uint64_t seed)
{
    arena_init(&c->arena);
    c->key[0] = next_key(&seed);
    c->key[1] = next_key(&seed);
    make_tables(c);
}

void term_cache_done(struct term_cache *c)
{
    arena_done(&c->arena);
    free(c->words);
    free(c->terms);
    c->words = NULL;
    c->terms = NULL;
}

bool term_cache_is_full(const struct term_cache *c)
{
    return c->word_count >= TERM_CACHE_WORDS_MAX || c->arena.total >= TERM_CACHE_BYTES_MAX;
}

void term_cache_clear(struct term_cache *c)
{
    arena_reset(&c->arena);
    free(c->words);
    free(c->terms);
    make_tables(c);
}

static void grow_words(struct term_cache *c)
{
    size_t mask = c->word_mask * 2 + 1;
    struct word_slot *slots = mem_alloc((mask + 1) * sizeof(slots[0]));
    for (size_t i = 0; i <= c->word_mask; i++) {
        if (!c->words[i].entry)
            continue;
        size_t to = c->words[i].hash & mask;
        while (slots[to].entry)
            to = (to + 1) & mask;
        slots[to] = c->words[i];
    }
    free(c->words);
    c->words = slots;
    c->word_mask = mask;
}

struct word_entry *term_cache_add(struct term_cache *c, const uint64_t *w, size_t bytes, unsigned stemmer,
                                  uint64_t hash)
{
    assert(bytes > 0 && bytes <= TERM_CACHE_KEY_MAX);
    if ((c->word_count + 1) * 2 > c->word_mask)
        grow_words(c);
    size_t text = (bytes + 7) / 8 * 8, i = hash & c->word_mask;
    struct word_entry *e = arena_alloc(&c->arena, sizeof(*e) + text);
    memset(e, 0, sizeof(*e));
    memcpy(e->text, w, text);
    e->bytes = (uint16_t)bytes;
    e->stemmer = (uint16_t)stemmer;
    while (c->words[i].entry)
        i = (i + 1) & c->word_mask;
    c->words[i] = (struct word_slot){hash, e};
    c->word_count++;
    return e;
}

static void grow_terms(struct term_cache *c)
{
    size_t mask = c->term_mask * 2 + 1;
    struct term **slots = mem_alloc((mask + 1) * sizeof(struct term *));
    for (size_t i = 0; i <= c->term_mask; i++) {
        if (!c->terms[i])
            continue;
        size_t to = c->terms[i]->hash & mask;
        while (slots[to])
            to = (to + 1) & mask;
        slots[to] = c->terms[i];
    }
    free(c->terms);
    c->terms = slots;
    c->term_mask = mask;
}

struct term *term_cache_term(struct term_cache *c, struct span text)
{
    assert(text.n > 0 && text.n <= ANALYZE_TERM_MAX);
    uint64_t w[ANALYZE_TERM_MAX / 8] = {0};
    memcpy(w, text.p, text.n);
    uint64_t hash = term_cache_hash(c, w, text.n, 0);
    if ((c->term_count + 1) * 2 > c->term_mask)
        grow_terms(c);
    size_t i = hash & c->term_mask;
    for (; c->terms[i]; i = (i + 1) & c->term_mask)
        if (c->terms[i]->hash == hash && span_eq(c->terms[i]->text, text))
            return c->terms[i];
    struct term *t = ARENA_NEW(&c->arena, struct term);
    t->text = arena_copy(&c->arena, text);
    t->hash = hash;
    c->terms[i] = t;
    c->term_count++;
    return t;
}
