#include "index/text/fold.h"

#include <utf8proc.h>

#include "base/utf8.h"

struct range {
    uint32_t first, last;
};

static bool in_ranges(const struct range *r, size_t n, uint32_t cp)
{
    size_t low = 0;
    while (n > 0) {
        size_t half = n / 2;
        if (r[low + half].last < cp) {
            low += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    return r[low].first <= cp && cp <= r[low].last;
}

/* Blocks of the scripts without spaces (Unicode 15 Blocks.txt); digits, signs and punctuation in them are told apart by
 * their category. The last one ends every search. */
static const struct range dense_blocks[] = {
    {0x0E00, 0x0EFF}, {0x1000, 0x109F}, {0x1100, 0x11FF},   {0x1780, 0x17FF},   {0x2E80, 0x2FDF},
    {0x3005, 0x3007}, {0x3021, 0x303C}, {0x3041, 0x31BF},   {0x31F0, 0x31FF},   {0x3400, 0x4DBF},
    {0x4E00, 0x9FFF}, {0xA960, 0xA97F}, {0xA9E0, 0xA9FF},   {0xAA60, 0xAA7F},   {0xAC00, 0xD7FF},
    {0xF900, 0xFAFF}, {0xFF66, 0xFF9F}, {0x1AFF0, 0x1B16F}, {0x20000, 0x3FFFD}, {0x110000, 0x110000},
};
#define DENSE_BLOCKS (sizeof(dense_blocks) / sizeof(dense_blocks[0]) - 1)

static bool is_tail(uint32_t cp)
{
    return (cp >= 0x1160 && cp <= 0x11FF) || (cp >= 0xD7B0 && cp <= 0xD7FB) || cp == 0xFF9E || cp == 0xFF9F ||
           cp == 0x0E33 || cp == 0x0EB3;
}

bool fold_is_stacker(uint32_t cp)
{
    return cp == 0x17D2 || cp == 0x1039;
}

static char_class dense_class(uint32_t cp, utf8proc_category_t category)
{
    if (is_tail(cp))
        return CHAR_TAIL;
    return category == UTF8PROC_CATEGORY_ND ? CHAR_WORD : CHAR_DENSE;
}

char_class fold_class(uint32_t cp)
{
    if ((cp >= 0x4E00 && cp <= 0x9FFF) || (cp >= 0xAC00 && cp <= 0xD7A3)) /* most of their texts */
        return CHAR_DENSE;
    utf8proc_category_t category = utf8proc_category((utf8proc_int32_t)cp);
    switch (category) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
        if (cp >= 0xFFA0 && cp <= 0xFFDC) /* half-width jamo: not in use, and no letters of their own */
            return CHAR_END;
        if (cp == 0x115F || cp == 0x1160 || cp == 0x3164) /* fillers in the place of a jamo */
            return CHAR_IGNORED;
        if (cp == 0x02BC)
            return CHAR_APOSTROPHE;
        return cp >= 0x0E00 && in_ranges(dense_blocks, DENSE_BLOCKS, cp) ? dense_class(cp, category) : CHAR_WORD;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
        return CHAR_MARK;
    case UTF8PROC_CATEGORY_CF:
        return cp == 0x200B ? CHAR_END : CHAR_IGNORED;
    default:
        return cp == '_' ? CHAR_WORD : cp == '\'' || cp == 0x2019 ? CHAR_APOSTROPHE : CHAR_END;
    }
}

/* What a keyboard without the letter has in its place. Sorted. */
static const struct {
    uint16_t letter;
    char plain[3];
} plain_letters[] = {
    {0x00E6, "ae"}, {0x00F0, "d"}, {0x00F8, "o"}, {0x00FE, "th"}, {0x0111, "d"},  {0x0127, "h"},
    {0x0131, "i"},  {0x0138, "k"}, {0x0142, "l"}, {0x014B, "n"},  {0x0153, "oe"}, {0x0167, "t"},
};

/* The zeros of digits that stand beside the Western ones in texts of their languages; each has the other nine after it.
 */
static const uint16_t zeros[] = {0x0660, 0x06F0, 0x07C0, 0x0966, 0x09E6, 0x0A66, 0x0AE6, 0x0B66, 0x0BE6,
                                 0x0C66, 0x0CE6, 0x0D66, 0x0E50, 0x0ED0, 0x0F20, 0x1040, 0x17E0, 0x1810};

static bool has_accents(uint32_t cp)
{
    return (cp >= 0x00C0 && cp <= 0x024F) || (cp >= 0x0370 && cp <= 0x03FF) || (cp >= 0x1E00 && cp <= 0x1FFF) ||
           (cp >= 0x0590 && cp <= 0x06FF) || cp == 0x0451 || cp == 0x0450 || cp == 0x045D;
}

static bool is_accent(uint32_t cp)
{
    return (cp >= 0x0300 && cp <= 0x036F) || (cp >= 0x0591 && cp <= 0x05C7) || (cp >= 0x0610 && cp <= 0x061A) ||
           (cp >= 0x064B && cp <= 0x065F) || cp == 0x0670 || (cp >= 0x06D6 && cp <= 0x06ED) || cp == 0x0640 ||
           (cp >= 0x1AB0 && cp <= 0x1AFF) || (cp >= 0x1DC0 && cp <= 0x1DFF) || (cp >= 0x20D0 && cp <= 0x20FF) ||
           (cp >= 0xFE00 && cp <= 0xFE2F);
}

struct out {
    char *p;
    size_t n, max;
    bool is_full; /* nothing is added after the first character that did not fit */
};

static void put(struct out *o, uint32_t cp)
{
    utf8proc_uint8_t bytes[4];
    size_t n = (size_t)utf8proc_encode_char((utf8proc_int32_t)cp, bytes);
    o->is_full = o->is_full || n > o->max - o->n;
    if (o->is_full)
        return;
    memcpy(o->p + o->n, bytes, n);
    o->n += n;
}

static uint32_t without_accent(uint32_t cp)
{
    utf8proc_int32_t parts[4];
    int boundary = 0;
    utf8proc_ssize_t n =
        utf8proc_decompose_char((utf8proc_int32_t)cp, parts, 4, UTF8PROC_STABLE | UTF8PROC_DECOMPOSE, &boundary);
    return n > 1 && n <= 4 ? (uint32_t)parts[0] : cp;
}

/* The letter or digit that a keyboard has for it. */
static void put_plain(struct out *o, uint32_t cp)
{
    if (has_accents(cp))
        cp = without_accent(cp);
    for (size_t i = 0; cp >= 0xE6 && cp <= 0x0167 && i < sizeof(plain_letters) / sizeof(plain_letters[0]); i++)
        if (plain_letters[i].letter == cp) {
            for (const char *c = plain_letters[i].plain; *c; c++)
                put(o, (unsigned char)*c);
            return;
        }
    for (size_t i = 0; cp >= 0x0660 && cp <= 0x1819 && i < sizeof(zeros) / sizeof(zeros[0]); i++)
        if (cp >= zeros[i] && cp < zeros[i] + 10u)
            cp = '0' + cp - zeros[i];
    put(o, cp);
}

static void put_folded(struct out *o, uint32_t cp)
{
    char_class class = fold_class(cp);
    bool is_lone_mark = class == CHAR_MARK && o->n == 0;
    if (is_accent(cp) || is_lone_mark || class == CHAR_END || class == CHAR_IGNORED || class == CHAR_APOSTROPHE)
        return;
    put_plain(o, cp);
}

/* Code points of the compatibility form; one character of three bytes becomes 18 at most (U+FDFA). */
#define POINTS_MAX (FOLD_RAW_MAX / 3 * 18 + 18)

static size_t normalise(struct span raw, int options, utf8proc_int32_t *points)
{
    utf8proc_ssize_t n =
        utf8proc_decompose((const utf8proc_uint8_t *)raw.p, (utf8proc_ssize_t)raw.n, points, POINTS_MAX, options);
    if (n < 0 || n > POINTS_MAX)
        return 0;
    n = utf8proc_normalize_utf32(points, n, options);
    return n < 0 ? 0 : (size_t)n;
}

size_t fold_word(struct span raw, char *out, size_t max)
{
    utf8proc_int32_t points[POINTS_MAX];
    struct out o = {.p = out, .max = max};
    size_t n =
        normalise(utf8_cut(raw, FOLD_RAW_MAX),
                  UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT | UTF8PROC_IGNORE | UTF8PROC_CASEFOLD, points);
    for (size_t i = 0; i < n; i++)
        put_folded(&o, (uint32_t)points[i]);
    return o.n;
}

size_t fold_dense(struct span raw, char *out, size_t max)
{
    utf8proc_int32_t points[POINTS_MAX];
    struct out o = {.p = out, .max = max};
    size_t n = normalise(utf8_cut(raw, FOLD_RAW_MAX),
                         UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT | UTF8PROC_IGNORE, points);
    for (size_t i = 0; i < n; i++)
        if (o.n > 0 || fold_class((uint32_t)points[i]) != CHAR_MARK)
            put(&o, (uint32_t)points[i]);
    return o.n;
}

/* ---- texts ---- */

static bool is_blank(uint32_t cp)
{
    return cp <= ' ' || (cp >= 0x7F && cp <= 0xA0) || cp == 0x1680 || (cp >= 0x2000 && cp <= 0x200A) || cp == 0x2028 ||
           cp == 0x2029 || cp == 0x202F || cp == 0x205F || cp == 0x3000;
}

/* What is folded at a time: up to a blank where there is one, so that no character loses its marks. */
static struct span next_piece(struct span raw)
{
    struct span piece = utf8_cut(raw, FOLD_RAW_MAX);
    size_t end = piece.n;
    if (piece.n == raw.n)
        return piece;
    while (end && !ascii_is_space(piece.p[end - 1]))
        end--;
    if (!end)
        end = piece.n ? piece.n : FOLD_RAW_MAX; /* no blank; not even a character in so many bytes */
    return span_cut(raw, 0, end);
}

static void put_piece(struct span piece, struct buf *out, size_t start, bool *has_gap)
{
    utf8proc_int32_t points[POINTS_MAX];
    size_t n = 0;
    if (utf8_is_valid(piece))
        n = normalise(piece, UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT | UTF8PROC_IGNORE | UTF8PROC_CASEFOLD,
                      points);
    else
        points[n++] = 0xFFFD;
    for (size_t i = 0; i < n; i++) {
        uint32_t cp = (uint32_t)points[i];
        char bytes[16];
        struct out o = {.p = bytes, .max = sizeof(bytes)};
        if (is_blank(cp)) {
            *has_gap = true;
            continue;
        }
        if (is_accent(cp) || fold_class(cp) == CHAR_IGNORED)
            continue;
        put_plain(&o, cp);
        if (*has_gap && out->n > start)
            buf_putc(out, ' ');
        *has_gap = false;
        buf_put(out, span_of(bytes, o.n));
    }
}

void fold_value(struct span raw, struct buf *out)
{
    size_t start = out->n;
    bool has_gap = false;
    while (raw.n) {
        struct span piece = next_piece(raw);
        put_piece(piece, out, start, &has_gap);
        raw = span_from(raw, piece.n);
    }
}

bool fold_is_blank(struct span text)
{
    for (size_t at = 0; at < text.n;) {
        utf8proc_category_t c = utf8proc_category((utf8proc_int32_t)utf8_next(text, &at, NULL));
        if (c != UTF8PROC_CATEGORY_ZS && c != UTF8PROC_CATEGORY_ZL && c != UTF8PROC_CATEGORY_ZP &&
            c != UTF8PROC_CATEGORY_CC && c != UTF8PROC_CATEGORY_CF)
            return false;
    }
    return true;
}
