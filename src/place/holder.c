#include "place/holder.h"

#include <stddef.h>

#include "base/utf8.h"

/* The letter under its accents, U+00C0 to U+017F. Capitals stand for two letters: Æ, ß, Þ, Œ and Ĳ (pairs[]). */
static const char plain_latin[] = "aaaaaaAceeeeiiiidnooooo ouuuuyTSaaaaaaAceeeeiiiidnooooo ouuuuyTy"
                                  "aaaaaaccccccccddddeeeeeeeeeegggggggghhhhiiiiiiiiiiIIjjkkklllllll"
                                  "lllnnnnnnnnnooooooOOrrrrrrssssssssttttttuuuuuuuuuuuuwwyyyzzzzzzs";
_Static_assert(sizeof(plain_latin) == 0x180 - 0xC0 + 1, "a letter for each");
static const char *const pairs[] = {"Aae", "Sss", "Tth", "Ooe", "Iij"};

/* Legal forms as they look without dots and case. Some are words as well: those count at one end of a name only. The
 * lists need not be whole: a form that is missing keeps two spellings apart and does no other harm. */
static const char *const forms_anywhere[] = {
    "inc",   "incorporated", "ltd",   "limited", "llc",    "llp",    "gmbh", "mbh",  "plc",   "corp", "corporation",
    "sarl",  "sro",          "spzoo", "srl",     "sprl",   "bvba",   "pty",  "ltda", "ehf",   "aps",  "ohg",
    "ggmbh", "ood",          "eood",  "doo",     "sdn",    "bhd",    "pvt",  "cjsc", "ojsc",  "pjsc", "jsc",
    "oyj",   "kft",          "zrt",   "nyrt",    "gesmbh", "ltdsti", "pllc", "kgaa", "fzllc", "fzco", "oyab",
};
static const char *const forms_at_end[] = {
    "co",  "company", "ag",      "ab", "oy", "sa",  "sas", "spa", "bv",  "nv",   "kk",  "kg",   "se",
    "as",  "asa",     "hf",      "ev", "cv", "sl",  "slu", "sau", "lda", "ska",  "spk", "spj",  "dd",
    "ad",  "sca",     "snc",     "rt", "eg", "pte", "pt",  "gk",  "vof", "fze",  "wll", "saog", "sal",
    "zoo", "sp",      "private", "lp", "lc", "ans", "ou",  "uab", "sia", "asbl", "vzw", "rl",   "and",
};
static const char *const forms_at_start[] = {
    "ooo", "zao", "oao", "pao", "ao", "pt", "tov", "uab", "sia", "fop", "too",
};

struct words {
    struct span list[HOLDER_NAME_MAX]; /* into text */
    size_t count;
    char text[HOLDER_NAME_MAX];
    size_t text_bytes;
    bool is_inside; /* of a word */
};

static bool is_in(struct span word, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (span_is(word, list[i]))
            return true;
    return false;
}

#define IS_IN(word, list) is_in((word), (list), sizeof(list) / sizeof(*(list)))

/* ---- from characters to words ---- */

static void put_bytes(struct words *w, const char *p, size_t n)
{
    if (w->text_bytes + n > sizeof(w->text))
        return; /* cannot be: no character becomes longer */
    if (!w->is_inside)
        w->list[w->count++] = (struct span){w->text + w->text_bytes, 0};
    memcpy(w->text + w->text_bytes, p, n);
    w->text_bytes += n;
    w->list[w->count - 1].n += n;
    w->is_inside = true;
}

static void put_latin(struct words *w, uint32_t cp)
{
    char plain = plain_latin[cp - 0xC0];
    if (plain == ' ') {
        w->is_inside = false;
        return;
    }
    for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
        if (plain == pairs[i][0]) {
            put_bytes(w, pairs[i] + 1, 2);
            return;
        }
    put_bytes(w, &plain, 1);
}

/* Dots and apostrophes vanish, so that "S.A." is "SA"; all else that is no letter or digit ends a word. */
static void put_ascii(struct words *w, char c)
{
    c = ascii_lower(c);
    if (ascii_is_digit(c) || ascii_is_alpha(c))
        put_bytes(w, &c, 1);
    else if (c != '.' && c != '\'' && c != '`')
        w->is_inside = false;
}

static uint32_t lower(uint32_t cp)
{
    if ((cp >= 0x391 && cp <= 0x3A9) || (cp >= 0x410 && cp <= 0x42F)) /* Greek, Cyrillic */
        return cp + 0x20;
    return cp >= 0x400 && cp <= 0x40F ? cp + 0x50 : cp;
}

static bool is_blank(uint32_t cp, bool is_valid)
{
    return !is_valid || (cp >= 0x80 && cp < 0xC0) || (cp >= 0x2000 && cp <= 0x206F) || (cp >= 0x3000 && cp <= 0x303F) ||
           cp == 0xFEFF || cp == 0xFFFD;
}

static void put_char(struct words *w, uint32_t cp, bool is_valid)
{
    if (cp >= 0xFF01 && cp <= 0xFF5E) /* full-width ASCII */
        cp -= 0xFEE0;
    if (cp < 0x80)
        put_ascii(w, (char)cp);
    else if (cp >= 0xC0 && cp < 0x180)
        put_latin(w, cp);
    else if (cp == 0x2019) /* an apostrophe */
        return;
    else if (is_blank(cp, is_valid))
        w->is_inside = false;
    else {
        struct buf one = {0};
        buf_put_utf8(&one, lower(cp));
        put_bytes(w, one.p, one.n);
        buf_done(&one);
    }
}

/* ---- words that go ---- */

static void remove_word(struct words *w, size_t at)
{
    w->count--;
    memmove(&w->list[at], &w->list[at + 1], (w->count - at) * sizeof(*w->list));
}

static bool is_letter(struct span word)
{
    return word.n == 1 && ascii_is_alpha(word.p[0]);
}

/* "s a" and "s r o" as one word: letters that stand alone one after the other. Their bytes lie side by side, unless a
 * word between them is gone, so they are moved. */
static bool join_letters(struct words *w)
{
    bool has_changed = false;
    for (size_t i = 0; i + 1 < w->count; i++) {
        if (!is_letter(w->list[i]))
            continue;
        char *to = w->text + (w->list[i].p - w->text);
        while (i + 1 < w->count && is_letter(w->list[i + 1])) {
            to[w->list[i].n++] = w->list[i + 1].p[0];
            remove_word(w, i + 1);
            has_changed = true;
        }
    }
    return has_changed;
}

/* One word that is a legal form where it stands; a name's last word never goes. */
static bool drop_form(struct words *w)
{
    if (w->count < 2)
        return false;
    struct span *last = &w->list[w->count - 1];
    if (w->count > 2 && span_is(*last, "oo") && (span_is(last[-1], "z") || span_is(last[-1], "spz"))) {
        /* sp. z o.o. */
        w->count -= 2;
        return true;
    }
    if (IS_IN(*last, forms_at_end)) {
        w->count--;
        return true;
    }
    if (IS_IN(w->list[0], forms_at_start)) {
        remove_word(w, 0);
        return true;
    }
    for (size_t i = w->count; i-- > 0;)
        if (IS_IN(w->list[i], forms_anywhere)) {
            remove_word(w, i);
            return true;
        }
    return false;
}

void holder_fold(struct span name, struct buf *out)
{
    struct words w;
    w.count = w.text_bytes = 0;
    w.is_inside = false;
    name = utf8_cut(name, HOLDER_NAME_MAX);
    for (size_t at = 0; at < name.n;) {
        bool is_valid;
        uint32_t cp = utf8_next(name, &at, &is_valid);
        put_char(&w, cp, is_valid);
    }
    while (join_letters(&w) || drop_form(&w))
        ;
    for (size_t i = 0; i < w.count; i++) {
        if (i)
            buf_putc(out, ' ');
        buf_put(out, w.list[i]);
    }
}
