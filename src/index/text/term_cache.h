/* term_cache.h - what the analyzer remembers of words that it has seen, so that folding and stemming happen once.
 *
 * Two tables of one lookup each. Words: (stemmer, bytes of the word) to an entry, which says what tokens the word
 * gives. Terms: bytes of the term to the one struct term that it has, looked up only when an entry is made, so that
 * equal terms are equal pointers.
 *
 *     "Zürich" de ─┐
 *     "zurich" de ─┼─> entry ─> struct term "zurich"
 *     "zurich" -- ─┘
 *
 * Entries and terms live until word_cache_clear. One thread. */
#pragma once

#include "base/arena.h"
#include "index/text/analyze.h"

#define TERM_CACHE_WORDS_MAX (256u << 10) /* then it is full, and waits to be cleared; a single text may go past it */
#define TERM_CACHE_BYTES_MAX (32u << 20)
#define TERM_CACHE_KEY_MAX 256

/* A word to look up: padded with zeros to whole 64-bit words, so that hashing and comparing need no ends. */
struct word_key {
    uint64_t w[TERM_CACHE_KEY_MAX / 8 + 1];
};

/* One token of a word. */
struct word_piece {
    struct term *term;
    uint16_t at, bytes; /* from the start of the word */
    uint16_t position;
    bool is_whole;
};

struct word_entry {
    struct term *term;               /* of a word that gives one token; NULL: see pieces */
    const struct word_piece *pieces; /* borrowed from the cache */
    uint16_t piece_count, positions; /* positions that it takes */
    uint16_t stemmer, bytes;         /* key, with the text after it */
    uint64_t text[];
};

struct term_cache {
    struct arena arena;
    struct word_slot {
        uint64_t hash;
        struct word_entry *entry; /* NULL: free */
    } * words;
    struct term **terms; /* NULL: free */
    size_t word_count, word_mask, term_count, term_mask;
    uint64_t key[2];
};

void term_cache_init(struct term_cache *c, uint64_t seed);
void term_cache_done(struct term_cache *c);
bool term_cache_is_full(const struct term_cache *c);
void term_cache_clear(struct term_cache *c);

__extension__ typedef unsigned __int128 term_cache_u128;

static inline uint64_t term_cache_mix(uint64_t a, uint64_t b)
{
    term_cache_u128 m = (term_cache_u128)a * b;
    return (uint64_t)m ^ (uint64_t)(m >> 64);
}

/* Of `bytes` bytes padded with zeros. Multiplications keyed by the seed on both sides: quick on the few bytes of a
 * word, and nothing that a page can aim at without the seed. */
static inline uint64_t term_cache_hash(const struct term_cache *c, const uint64_t *w, size_t bytes, unsigned stemmer)
{
    uint64_t h = c->key[0] + ((uint64_t)stemmer << 32) + bytes;
    size_t n = 0;
    do
        h = term_cache_mix(h ^ c->key[1], w[n] ^ c->key[0]);
    while (++n * 8 < bytes);
    return h ^ h >> 29;
}

static inline bool term_cache_same(const uint64_t *a, const uint64_t *b, size_t bytes)
{
    size_t n = 0;
    do
        if (a[n] != b[n])
            return false;
    while (++n * 8 < bytes);
    return true;
}

/* Tables and entries are far larger than the processor's caches: who knows the next words early asks for their slots
 * first, then for the entries. */
static inline void term_cache_fetch_slot(const struct term_cache *c, uint64_t hash)
{
    __builtin_prefetch(&c->words[hash & c->word_mask]);
}

static inline void term_cache_fetch_entry(const struct term_cache *c, uint64_t hash)
{
    __builtin_prefetch(c->words[hash & c->word_mask].entry);
}

/* NULL: not seen yet. */
static inline struct word_entry *term_cache_find(const struct term_cache *c, const uint64_t *w, size_t bytes,
                                                 unsigned stemmer, uint64_t hash)
{
    for (size_t i = hash & c->word_mask;; i = (i + 1) & c->word_mask) {
        struct word_entry *e = c->words[i].entry;
        if (!e)
            return NULL;
        if (c->words[i].hash == hash && e->bytes == bytes && e->stemmer == stemmer &&
            term_cache_same(e->text, w, bytes))
            return e;
    }
}

/* A new entry for a word that is not there, to be filled in by the caller. */
struct word_entry *term_cache_add(struct term_cache *c, const uint64_t *w, size_t bytes, unsigned stemmer,
                                  uint64_t hash);
/* The one struct term of this text, at most ANALYZE_TERM_MAX bytes and not empty. */
struct term *term_cache_term(struct term_cache *c, struct span text);
