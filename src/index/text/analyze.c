/* analyze.c - one pass over the text.
 *
 * Most words are ASCII, in lower case or capitalised, and were seen before. For these the loop in ascii_word copies the
 * lower-cased bytes into a key, looks it up and appends the token. Whatever is otherwise (apostrophes, other scripts,
 * names with '_' or capitals inside, "C++") takes a longer way to the same cache, with the bytes as written for key:
 * the entry then holds all tokens of the word. Only words not in the cache are folded, split and stemmed. */
#include "index/text/analyze.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "index/text/fold.h"
#include "index/text/identifier.h"
#include "index/text/stem.h"
#include "index/text/term_cache.h"

_Static_assert(TERM_CACHE_KEY_MAX >= FOLD_RAW_MAX && FOLD_RAW_MAX >= IDENTIFIER_BYTES_MAX, "every word fits a key");

struct analyzer {
    struct term_cache cache;
    struct stems stems;
    struct token *tokens; /* owned */
    size_t token_count, token_cap;
};

/* Classes of bytes. */
enum {
    LOWER = 1,
    UPPER = 2,
    DIGIT = 4,
    UNDERSCORE = 8,
    WORD = LOWER | UPPER | DIGIT | UNDERSCORE,
    QUOTE = 16,  /* an apostrophe */
    SUFFIX = 32, /* of "C++" and "C#" */
    HIGH = 64,   /* not ASCII */
};

#define X4(x) x, x, x, x
#define X16(x) X4(x), X4(x), X4(x), X4(x)
#define LETTERS(x) X16(x), X4(x), X4(x), x, x
/* clang-format off */
static const uint8_t class_of[256] = {
    X16(0), X16(0),                                                                          /* controls */
    0, 0, 0, SUFFIX, 0, 0, 0, QUOTE, 0, 0, 0, SUFFIX, 0, 0, 0, 0,                            /* blank to '/' */
    X4(DIGIT), X4(DIGIT), DIGIT, DIGIT, 0, 0, 0, 0, 0, 0,                                    /* '0' to '?' */
    0, LETTERS(UPPER), 0, 0, 0, 0, UNDERSCORE,                                               /* '@' to '_' */
    0, LETTERS(LOWER), 0, 0, 0, 0, 0,                                                        /* '`' to DEL */
    X16(HIGH), X16(HIGH), X16(HIGH), X16(HIGH), X16(HIGH), X16(HIGH), X16(HIGH), X16(HIGH),
};
/* clang-format on */

#define LINE_WORDS 16
#define LINE_BYTES 24

/* A word that waits for its place in the cache: see stand_in_line. */
struct waiting {
    uint64_t hash;
    uint64_t w[LINE_BYTES / 8]; /* as in a word_key */
    uint32_t at, n;
};

/* The text being worked on. */
struct scan {
    struct analyzer *a;
    struct span text;
    unsigned stemmer;
    uint32_t position;
    unsigned line_count;
    struct waiting line[LINE_WORDS];
};

static unsigned class_at(const struct scan *s, size_t at)
{
    return at < s->text.n ? class_of[(unsigned char)s->text.p[at]] : 0;
}

/* ---- tokens ---- */

static inline struct token *new_token(struct analyzer *a)
{
    if (a->token_count == a->token_cap)
        a->tokens = mem_grow(a->tokens, &a->token_cap, a->token_count + 1, sizeof(a->tokens[0]));
    return &a->tokens[a->token_count++];
}

static inline void emit_one(struct scan *s, struct term *term, size_t at, size_t bytes)
{
    *new_token(s->a) =
        (struct token){.term = term, .at = (uint32_t)at, .bytes = (uint32_t)bytes, .position = s->position++};
}

static inline void emit(struct scan *s, const struct word_entry *e, size_t at, size_t bytes)
{
    if (e->term) {
        emit_one(s, e->term, at, bytes);
        return;
    }
    for (size_t i = 0; i < e->piece_count; i++)
        *new_token(s->a) = (struct token){.term = e->pieces[i].term,
                                          .at = (uint32_t)(at + e->pieces[i].at),
                                          .bytes = e->pieces[i].bytes,
                                          .position = s->position + e->pieces[i].position,
                                          .is_whole = e->pieces[i].is_whole};
    s->position += e->positions;
}

/* ---- words that the cache does not have ---- */

static bool is_ascii(struct span s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] & 0x80)
            return false;
    return true;
}

/* Folded into `out`. ASCII words past the limit are data and give nothing; others are cut, because in scripts of three
 * bytes a letter they may well be words. */
static struct span fold(struct span raw, char out[ANALYZE_TERM_MAX])
{
    if (!is_ascii(raw))
        return span_of(out, fold_word(raw, out, ANALYZE_TERM_MAX));
    if (raw.n > ANALYZE_TERM_MAX)
        return (struct span){NULL, 0};
    for (size_t i = 0; i < raw.n; i++)
        out[i] = ascii_lower(raw.p[i]);
    return span_of(out, raw.n);
}

/* The term of a word or part; NULL when it gives none.
 *
 * Accents go before stemming, so that a word typed without them has the same stem. Measured on translations of one
 * manual: stemmed first, the bare spelling finds 70 to 81 % of the accented words of French, Spanish, Portuguese,
 * Catalan and Turkish; folded first it finds all, and of the pairs of forms that a stemmer brings together with accents
 * 95 to 99 % are still together (84 % in Turkish), which takes the endings in stem.c. */
static struct term *stemmed(struct scan *s, struct span raw)
{
    char room[ANALYZE_TERM_MAX], again[ANALYZE_TERM_MAX];
    struct span folded = fold(raw, room);
    struct span stem = stem_word(&s->a->stems, s->stemmer, folded);
    if (!is_ascii(stem)) /* accents put back, or made: the Serbian stemmer writes Cyrillic as Latin */
        stem = fold(stem, again);
    /* Whatever a stemmer does, the word stays a word: it has a term in every language or in none. */
    if (stem.n == 0)
        stem = folded;
    return stem.n ? term_cache_term(&s->a->cache, utf8_cut(stem, ANALYZE_TERM_MAX)) : NULL;
}

static struct term *unstemmed(struct scan *s, struct span raw)
{
    char folded[ANALYZE_TERM_MAX];
    struct span word = fold(raw, folded);
    return word.n ? term_cache_term(&s->a->cache, word) : NULL;
}

static void add_piece(struct word_piece *pieces, uint16_t *n, struct word_piece piece)
{
    if (piece.term)
        pieces[(*n)++] = piece;
}

/* Fills in the entry of a word that may have parts. `name` is what the parts are cut from: the word without the signs
 * of "C++". */
static void make_pieces(struct scan *s, struct word_entry *e, struct span word, struct span name)
{
    struct identifier_part parts[IDENTIFIER_PARTS_MAX];
    struct word_piece pieces[IDENTIFIER_PARTS_MAX + 1];
    size_t n = identifier_split(name, is_ascii(name), parts);
    if (n == 1 && parts[0].bytes == word.n) {
        e->term = stemmed(s, word);
        e->positions = 1;
        return;
    }
    if (n > 0 && word.n <= ANALYZE_TERM_MAX)
        add_piece(pieces, &e->piece_count,
                  (struct word_piece){.term = unstemmed(s, word), .bytes = (uint16_t)word.n, .is_whole = true});
    for (size_t i = 0; i < n; i++)
        add_piece(pieces, &e->piece_count,
                  (struct word_piece){.term = stemmed(s, span_cut(name, parts[i].at, parts[i].bytes)),
                                      .at = parts[i].at,
                                      .bytes = parts[i].bytes,
                                      .position = (uint16_t)i});
    e->positions = (uint16_t)n;
    struct word_piece *kept = arena_alloc(&s->a->cache.arena, e->piece_count * sizeof(pieces[0]) + 1);
    memcpy(kept, pieces, e->piece_count * sizeof(pieces[0]));
    e->pieces = kept;
}

/* ---- lookups ---- */

static inline void pad(struct word_key *key, size_t bytes)
{
    memset((char *)key->w + bytes, 0, 8);
}

/* A word of one part in the key, padded; lower-cased already if it is ASCII. */
static inline void known_word(struct scan *s, const uint64_t *w, size_t n, uint64_t hash, size_t at, size_t bytes)
{
    struct word_entry *e = term_cache_find(&s->a->cache, w, n, s->stemmer, hash);
    if (!e) {
        e = term_cache_add(&s->a->cache, w, n, s->stemmer, hash);
        e->term = stemmed(s, span_of(e->text, n));
        e->positions = e->term != NULL;
    }
    emit(s, e, at, bytes);
}

static void plain_word(struct scan *s, const struct word_key *key, size_t n, size_t at, size_t bytes)
{
    known_word(s, key->w, n, term_cache_hash(&s->a->cache, key->w, n, s->stemmer), at, bytes);
}

/* Takes the words in line, in their order. Called before anything else gives a token or takes a position. */
static void take_line(struct scan *s)
{
    for (unsigned i = 0; i < s->line_count; i++)
        term_cache_fetch_entry(&s->a->cache, s->line[i].hash);
    for (unsigned i = 0; i < s->line_count; i++)
        known_word(s, s->line[i].w, s->line[i].n, s->line[i].hash, s->line[i].at, s->line[i].n);
    s->line_count = 0;
}

/* A short plain word stands in line while its slot of the table comes from memory: a fifth of all time on texts with
 * many different words went into waiting for that. */
static inline void stand_in_line(struct scan *s, const struct word_key *key, size_t n, size_t at)
{
    struct waiting *w = &s->line[s->line_count++];
    w->hash = term_cache_hash(&s->a->cache, key->w, n, s->stemmer);
    term_cache_fetch_slot(&s->a->cache, w->hash);
    w->at = (uint32_t)at;
    w->n = (uint32_t)n;
    memcpy(w->w, key->w, sizeof(w->w));
    if (s->line_count == LINE_WORDS)
        take_line(s);
}

/* A word as written, whose first `name` bytes may have parts. */
static void named_word(struct scan *s, size_t at, size_t bytes, size_t name)
{
    struct word_key key;
    memcpy(key.w, s->text.p + at, bytes);
    pad(&key, bytes);
    uint64_t hash = term_cache_hash(&s->a->cache, key.w, bytes, s->stemmer);
    struct word_entry *e = term_cache_find(&s->a->cache, key.w, bytes, s->stemmer, hash);
    if (!e) {
        e = term_cache_add(&s->a->cache, key.w, bytes, s->stemmer, hash);
        struct span word = span_of(e->text, bytes);
        make_pieces(s, e, word, span_cut(word, 0, name));
    }
    emit(s, e, at, bytes);
}

/* Bytes of the signs after a letter that make a name of their own, as in "C++", "C++17" and "F#"; 0: none. */
static size_t suffix_at(const struct scan *s, size_t at)
{
    if (!(class_at(s, at - 1) & (LOWER | UPPER)))
        return 0;
    if (s->text.p[at] == '#')
        return class_at(s, at + 1) & (WORD | HIGH | SUFFIX) ? 0 : 1;
    bool is_double = at + 1 < s->text.n && s->text.p[at + 1] == '+';
    return is_double && !(class_at(s, at + 2) & ((WORD & ~DIGIT) | HIGH | SUFFIX)) ? 2 : 0;
}

static bool has_parts(unsigned all, unsigned rest)
{
    return (all & UNDERSCORE) || ((rest & UPPER) && (all & LOWER));
}

/* ---- words that need a closer look ---- */

struct word {
    struct word_key key; /* the bytes as written, apostrophes left out */
    size_t n;            /* of them; bytes that pass FOLD_RAW_MAX are left out too */
    size_t end, next;    /* where it ends in the text, and where to go on */
    unsigned all, rest;  /* classes of its bytes, and without the first */
    bool is_joined;      /* has an apostrophe inside */
    bool is_cut;
};

/* Words that French, Italian and Catalan shorten before a vowel: "l'homme", "qu'il", "dell'arte". The same in every
 * language, because a query must be cut without knowing one. */
static bool is_elision(struct span word)
{
    static const char *const shortened[] = {"un", "quest", "sant", "dov", "anch", "senz"};
    char last = word.n ? ascii_lower(word.p[word.n - 1]) : '\0';
    char last_but_one = word.n > 1 ? ascii_lower(word.p[word.n - 2]) : '\0';
    if (word.n == 1)
        return strchr("cdjlmnst", last) != NULL;
    if ((last_but_one == 'q' && last == 'u') || (last_but_one == 'l' && last == 'l'))
        return true;
    for (size_t i = 0; i < sizeof(shortened) / sizeof(shortened[0]); i++)
        if (span_is_nocase(word, shortened[i]))
            return true;
    return false;
}

static char_class char_at(const struct scan *s, size_t at, size_t *next)
{
    bool valid = true;
    *next = at;
    if (at >= s->text.n)
        return CHAR_END;
    uint32_t cp = utf8_next(s->text, next, &valid);
    return valid ? fold_class(cp) : CHAR_END;
}

static bool is_word_at(const struct scan *s, size_t at)
{
    size_t next;
    return char_at(s, at, &next) == CHAR_WORD;
}

static void append(struct word *w, struct span bytes)
{
    w->is_cut = w->is_cut || w->n + bytes.n > FOLD_RAW_MAX;
    for (size_t i = 0; i < bytes.n; i++) {
        unsigned class = class_of[(unsigned char)bytes.p[i]];
        w->rest |= w->all ? class : 0;
        w->all |= class;
    }
    if (w->is_cut)
        return;
    memcpy((char *)w->key.w + w->n, bytes.p, bytes.n);
    w->n += bytes.n;
}

/* What an apostrophe from `at` to `after` means, in a word that begins at `start`: true when the word goes on
 * after it. */
static bool joins(const struct scan *s, struct word *w, size_t start, size_t at, size_t after)
{
    w->end = at;
    w->next = after;
    if (!is_word_at(s, after) || (!w->is_joined && is_elision(span_cut(s->text, start, at - start))))
        return false;
    bool is_genitive = ascii_lower(s->text.p[after]) == 's' && !is_word_at(s, after + 1);
    if (is_genitive)
        w->next = after + 1;
    return !is_genitive;
}

static void scan_word(const struct scan *s, size_t at, struct word *w)
{
    size_t start = at, next;
    for (;; at = next) {
        char_class class = char_at(s, at, &next);
        if (class == CHAR_APOSTROPHE) {
            if (!joins(s, w, start, at, next))
                return;
            w->is_joined = true;
        } else if (class == CHAR_WORD || class == CHAR_MARK || class == CHAR_IGNORED) {
            append(w, span_cut(s->text, at, next - at));
        } else {
            w->end = w->next = at;
            return;
        }
    }
}

/* Keys of words without parts must not look like names, which may have other tokens. */
static void drop_underscores(struct word *w)
{
    char *p = (char *)w->key.w;
    size_t n = 0;
    for (size_t i = 0; i < w->n; i++)
        if (p[i] != '_')
            p[n++] = p[i];
    w->n = n;
}

static size_t other_word(struct scan *s, size_t at)
{
    struct word w = {.n = 0};
    scan_word(s, at, &w);
    size_t bytes = w.end - at;
    bool is_plain_ascii = !(w.all & HIGH);
    bool may_have_parts = is_plain_ascii ? has_parts(w.all, w.rest) : w.all & UNDERSCORE;
    if (may_have_parts && !w.is_joined && bytes <= IDENTIFIER_BYTES_MAX) {
        named_word(s, at, bytes, bytes);
        return w.next;
    }
    drop_underscores(&w);
    for (size_t i = 0; is_plain_ascii && i < w.n; i++)
        ((char *)w.key.w)[i] = ascii_lower(((char *)w.key.w)[i]);
    pad(&w.key, w.n);
    if (is_plain_ascii && w.n > ANALYZE_TERM_MAX)
        s->position++;
    else if (w.n > 0)
        plain_word(s, &w.key, w.n, at, bytes);
    return w.next;
}

/* ---- scripts without spaces ---- */

#define UNIT_MAX (ANALYZE_TERM_MAX / 2)

/* A character as readers see it: a letter with its marks. */
struct unit {
    char text[UNIT_MAX];
    size_t n, at, end;
};

/* Needs no compatibility form, being one. Composed kana and Hangul have decompositions and are common all the same. */
static bool is_common(uint32_t cp)
{
    return (cp >= 0x4E00 && cp <= 0x9FFF) || (cp >= 0x3041 && cp <= 0x30FE) || (cp >= 0x3131 && cp <= 0x318E) ||
           (cp >= 0xAC00 && cp <= 0xD7A3) || (cp >= 0x0E01 && cp <= 0x0EDB) || (cp >= 0x1000 && cp <= 0x109F) ||
           (cp >= 0x1780 && cp <= 0x17FF);
}

static bool is_southeast(uint32_t cp)
{
    return cp < 0x1100 || (cp >= 0x1780 && cp <= 0x17FF);
}

static bool next_unit(const struct scan *s, size_t at, struct unit *u)
{
    size_t next = at, i = at;
    char_class class = char_at(s, at, &next);
    if (class != CHAR_DENSE)
        return false;
    uint32_t cp = utf8_next(s->text, &i, NULL);
    bool as_is = is_common(cp);
    for (i = next; i < s->text.n; i = next) {
        bool is_stacked = fold_is_stacker(cp);
        class = char_at(s, i, &next);
        if (class != CHAR_MARK && class != CHAR_TAIL && class != CHAR_IGNORED && !(class == CHAR_DENSE && is_stacked))
            break;
        size_t from = i;
        cp = utf8_next(s->text, &from, NULL);
        as_is = as_is && is_common(cp) && is_southeast(cp);
    }
    struct span raw = utf8_cut(span_cut(s->text, at, i - at), as_is ? UNIT_MAX : FOLD_RAW_MAX);
    u->at = at;
    u->end = i;
    u->n = as_is ? raw.n : fold_dense(raw, u->text, UNIT_MAX);
    if (as_is)
        memcpy(u->text, raw.p, raw.n);
    return true;
}

/* `b` may be NULL. */
static void emit_units(struct scan *s, const struct unit *a, const struct unit *b)
{
    struct word_key key;
    size_t n = a->n + (b ? b->n : 0);
    memcpy(key.w, a->text, a->n);
    if (b)
        memcpy((char *)key.w + a->n, b->text, b->n);
    if (n == 0)
        return;
    pad(&key, n);
    uint64_t hash = term_cache_hash(&s->a->cache, key.w, n, 0);
    struct word_entry *e = term_cache_find(&s->a->cache, key.w, n, 0, hash);
    if (!e) {
        e = term_cache_add(&s->a->cache, key.w, n, 0, hash);
        e->term = term_cache_term(&s->a->cache, span_of(e->text, n));
    }
    emit_one(s, e->term, a->at, (b ? b->end : a->end) - a->at);
}

static size_t dense_run(struct scan *s, size_t at)
{
    struct unit units[2];
    unsigned now = 0;
    if (!next_unit(s, at, &units[now]))
        return at;
    while (next_unit(s, units[now].end, &units[1 - now])) {
        emit_units(s, &units[now], &units[1 - now]);
        now = 1 - now;
    }
    emit_units(s, &units[now], NULL);
    return units[now].end;
}

/* ---- the pass ---- */

static size_t high_byte(struct scan *s, size_t at)
{
    size_t next;
    take_line(s);
    switch (char_at(s, at, &next)) {
    case CHAR_WORD:
        return other_word(s, at);
    case CHAR_DENSE:
        return dense_run(s, at);
    default:
        return next;
    }
}

/* Whether the word that stopped at `at`, before a byte of this class, may go on or have a suffix. */
static bool goes_on(const struct scan *s, size_t at, unsigned class)
{
    size_t next;
    if (class & QUOTE)
        return class_at(s, at + 1) & (WORD | HIGH);
    char_class c = char_at(s, at, &next);
    return c != CHAR_END && c != CHAR_DENSE && c != CHAR_TAIL;
}

/* Eight bytes of text at a time, as the lanes of a number: the first byte in the lowest. */
#define LANES(x) (0x0101010101010101u * (uint64_t)(x))

struct lanes {
    uint64_t lower, upper, digit, underscore; /* 0x80 in each lane of this class */
    unsigned n;                               /* lanes before the first that is no word byte */
};

static inline uint64_t lanes_between(uint64_t low_bits, unsigned first, unsigned last)
{
    return (low_bits + LANES(0x80 - first)) & ~(low_bits + LANES(0x7F - last)) & LANES(0x80);
}

static inline struct lanes classify(uint64_t x)
{
    uint64_t low_bits = x & LANES(0x7F), is_ascii = ~x;
    struct lanes l = {.lower = lanes_between(low_bits, 'a', 'z') & is_ascii,
                      .upper = lanes_between(low_bits, 'A', 'Z') & is_ascii,
                      .digit = lanes_between(low_bits, '0', '9') & is_ascii,
                      .underscore = lanes_between(low_bits, '_', '_') & is_ascii};
    uint64_t end = ~(l.lower | l.upper | l.digit | l.underscore) & LANES(0x80);
    l.n = end ? (unsigned)__builtin_ctzll(end) / 8 : 8;
    return l;
}

static inline uint64_t swap_on_big_endian(uint64_t x)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return __builtin_bswap64(x);
#else
    return x;
#endif
}

static inline uint64_t load_lanes(const struct scan *s, size_t at)
{
    uint64_t x = 0;
    size_t left = s->text.n - at;
    if (left >= 8)
        memcpy(&x, s->text.p + at, 8);
    else
        memcpy(&x, s->text.p + at, left);
    return swap_on_big_endian(x);
}

/* An ASCII word's lower-cased bytes in `key`, padded; returns how many, or more than ANALYZE_TERM_MAX. */
static inline size_t scan_ascii(const struct scan *s, size_t at, struct word_key *key, bool *may_have_parts)
{
    uint64_t lower = 0, upper = 0, underscore = 0;
    size_t n = 0;
    struct lanes l;
    do {
        uint64_t x = load_lanes(s, at + n);
        l = classify(x);
        uint64_t in_word = l.n == 8 ? ~(uint64_t)0 : ((uint64_t)1 << 8 * l.n) - 1;
        lower |= l.lower & in_word;
        upper |= l.upper & in_word & (n ? ~(uint64_t)0 : ~(uint64_t)0xFF);
        underscore |= l.underscore & in_word;
        key->w[n / 8] = swap_on_big_endian((x | l.upper >> 2) & in_word);
        n += l.n;
    } while (l.n == 8 && n <= ANALYZE_TERM_MAX);
    *may_have_parts = underscore || (upper && lower);
    return n;
}

static inline size_t ascii_word(struct scan *s, size_t at)
{
    struct word_key key;
    bool may_have_parts;
    size_t n = scan_ascii(s, at, &key, &may_have_parts);
    if (n > ANALYZE_TERM_MAX) {
        take_line(s);
        return other_word(s, at);
    }
    unsigned after = class_at(s, at + n);
    if (after & (QUOTE | HIGH | SUFFIX)) {
        size_t suffix = after & SUFFIX ? suffix_at(s, at + n) : 0;
        if (suffix) {
            take_line(s);
            named_word(s, at, n + suffix, n);
            return at + n + suffix;
        }
        if (!(after & SUFFIX) && goes_on(s, at + n, after)) {
            take_line(s);
            return other_word(s, at);
        }
    }
    if (!may_have_parts && n <= LINE_BYTES) {
        stand_in_line(s, &key, n, at);
        return at + n;
    }
    take_line(s);
    if (may_have_parts)
        named_word(s, at, n, n);
    else
        plain_word(s, &key, n, at, n);
    return at + n;
}

uint32_t analyze_text(struct analyzer *a, struct span text, lang_code lang, uint32_t position)
{
    struct scan s;
    s.a = a;
    s.text = utf8_cut(text, ANALYZE_TEXT_MAX);
    s.stemmer = stem_number(lang);
    s.position = position;
    s.line_count = 0;
    for (size_t at = 0; at < s.text.n;) {
        unsigned class = class_of[(unsigned char)s.text.p[at]];
        if (class & WORD)
            at = ascii_word(&s, at);
        else if (class & HIGH)
            at = high_byte(&s, at);
        else
            at++;
    }
    take_line(&s);
    return s.position;
}

struct analyzer *analyzer_new(uint64_t seed)
{
    struct analyzer *a = mem_alloc(sizeof(*a));
    term_cache_init(&a->cache, seed);
    return a;
}

void analyzer_free(struct analyzer *a)
{
    if (!a)
        return;
    term_cache_done(&a->cache);
    stems_done(&a->stems);
    free(a->tokens);
    free(a);
}

void analyze_begin(struct analyzer *a)
{
    a->token_count = 0;
    if (term_cache_is_full(&a->cache))
        term_cache_clear(&a->cache);
}

struct token *analyze_tokens(struct analyzer *a, size_t *n)
{
    *n = a->token_count;
    return a->tokens;
}

void analyze_drop(struct analyzer *a, size_t from)
{
    if (from < a->token_count)
        a->token_count = from;
}
