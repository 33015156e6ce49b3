#include "index/text/stem.h"

#include <assert.h>
#include <libstemmer.h>

#include "base/utf8.h"

#define CODE2(a, b) (((a) - 'a' + 1) | ((b) - 'a' + 1) << 5)

/* Every algorithm of libstemmer 2.2 but "porter", which is an older "english". The number of a stemmer is its place
 * here plus one. */
static const char *const algorithms[] = {
    "arabic",  "armenian", "basque",     "catalan", "danish",    "dutch",      "english",
    "finnish", "french",   "german",     "greek",   "hindi",     "hungarian",  "indonesian",
    "irish",   "italian",  "lithuanian", "nepali",  "norwegian", "portuguese", "romanian",
    "russian", "serbian",  "spanish",    "swedish", "tamil",     "turkish",    "yiddish",
};
#define ALGORITHMS (sizeof(algorithms) / sizeof(algorithms[0]))

static const lang_code languages[] = {
    CODE2('a', 'r'), CODE2('h', 'y'), CODE2('e', 'u'), CODE2('c', 'a'), CODE2('d', 'a'), CODE2('n', 'l'),
    CODE2('e', 'n'), CODE2('f', 'i'), CODE2('f', 'r'), CODE2('d', 'e'), CODE2('e', 'l'), CODE2('h', 'i'),
    CODE2('h', 'u'), CODE2('i', 'd'), CODE2('g', 'a'), CODE2('i', 't'), CODE2('l', 't'), CODE2('n', 'e'),
    CODE2('n', 'o'), CODE2('p', 't'), CODE2('r', 'o'), CODE2('r', 'u'), CODE2('s', 'r'), CODE2('e', 's'),
    CODE2('s', 'v'), CODE2('t', 'a'), CODE2('t', 'r'), CODE2('y', 'i'),
};
_Static_assert(sizeof(languages) / sizeof(languages[0]) == ALGORITHMS, "one language an algorithm");
_Static_assert(ALGORITHMS < STEM_LANGUAGES_MAX, "room for every stemmer");

const lang_code *analyze_languages(size_t *n)
{
    *n = ALGORITHMS;
    return languages;
}

unsigned stem_number(lang_code lang)
{
    if (lang == CODE2('n', 'b') || lang == CODE2('n', 'n'))
        lang = CODE2('n', 'o');
    for (unsigned i = 0; lang && i < ALGORITHMS; i++)
        if (languages[i] == lang)
            return i + 1;
    return 0;
}

lang_code lang_code_of(struct span name)
{
    unsigned code = 0, n = 0;
    for (; n < name.n && ascii_is_alpha(name.p[n]); n++) {
        if (n == 3)
            return 0;
        code |= (unsigned)(ascii_lower(name.p[n]) - 'a' + 1) << 5 * n;
    }
    bool ends = n == name.n || name.p[n] == '-' || name.p[n] == '_';
    return n >= 2 && ends ? (lang_code)code : 0;
}

const char *lang_code_name(lang_code c, char out[4])
{
    unsigned n = 0;
    for (; n < 3 && (c >> 5 * n & 31); n++)
        out[n] = (char)('a' + (c >> 5 * n & 31) - 1);
    out[n] = '\0';
    return out;
}

void stems_done(struct stems *s)
{
    for (size_t i = 0; i < STEM_LANGUAGES_MAX; i++)
        sb_stemmer_delete(s->made[i]);
    memset(s, 0, sizeof(*s));
}

/* Endings that the stemmers know with an accent only, which folding has taken away. Nearly every word that ends so is
 * written with one, so it is put back for the stemmer. Longest first where one ends another. */
static const struct ending {
    lang_code lang;
    char plain[7];
    char accented[10];
} endings[] = {
    {CODE2('c', 'a'), "cio", "ció"},       {CODE2('e', 's'), "cion", "ción"},   {CODE2('f', 'r'), "ee", "ée"},
    {CODE2('f', 'r'), "ees", "ées"},       {CODE2('p', 't'), "cao", "ção"},     {CODE2('p', 't'), "coes", "ções"},
    {CODE2('p', 't'), "avel", "ável"},     {CODE2('p', 't'), "aveis", "áveis"}, {CODE2('p', 't'), "encia", "ência"},
    {CODE2('p', 't'), "encias", "ências"},
};

#define ENDING_GROWS 4 /* bytes, at most */

static struct span put_accent_back(lang_code lang, struct span word, char out[ANALYZE_TERM_MAX + ENDING_GROWS])
{
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        struct span plain = span_str(endings[i].plain), accented = span_str(endings[i].accented);
        if (endings[i].lang != lang || word.n < plain.n + 2 || !span_ends(word, plain))
            continue;
        size_t kept = word.n - plain.n;
        memcpy(out, word.p, kept);
        memcpy(out + kept, accented.p, accented.n);
        return span_of(out, kept + accented.n);
    }
    return word;
}

static bool is_letter_or_less(struct span s)
{
    size_t at = 0;
    if (s.n)
        utf8_next(s, &at, NULL);
    return at == s.n;
}

struct span stem_word(struct stems *s, unsigned number, struct span word)
{
    char room[ANALYZE_TERM_MAX + ENDING_GROWS];
    if (number == 0 || word.n == 0 || word.n > ANALYZE_TERM_MAX)
        return word;
    assert(number <= ALGORITHMS);
    if (!s->made[number])
        s->made[number] = sb_stemmer_new(algorithms[number - 1], "UTF_8");
    if (!s->made[number])
        return word;
    struct span accented = put_accent_back(languages[number - 1], word, room);
    const sb_symbol *stem = sb_stemmer_stem(s->made[number], (const sb_symbol *)accented.p, (int)accented.n);
    struct span out = span_of(stem, stem ? (size_t)sb_stemmer_length(s->made[number]) : 0);
    /* Nothing, or one letter, would make different words the same: "ls" and "js" are no plurals of the articles in
     * "l'homme" and "j'ai". */
    return is_letter_or_less(out) ? word : out;
}
