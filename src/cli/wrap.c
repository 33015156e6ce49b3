#include "cli/wrap.h"

#include "base/utf8.h"
#include "cli/command.h"

struct char_range {
    uint32_t from, to;
};

/* From the East Asian Width and General Category properties of Unicode, rounded to blocks where nothing else is. */
static const struct char_range wide[] = {
    {0x1100, 0x115f},   {0x231a, 0x231b},   {0x23e9, 0x23ec},   {0x25fd, 0x25fe},   {0x2614, 0x2615},
    {0x2648, 0x2653},   {0x26aa, 0x26ab},   {0x26bd, 0x26be},   {0x26ce, 0x26ce},   {0x26d4, 0x26d4},
    {0x2705, 0x2705},   {0x270a, 0x270b},   {0x2728, 0x2728},   {0x274c, 0x274c},   {0x2753, 0x2755},
    {0x2795, 0x2797},   {0x2b1b, 0x2b1c},   {0x2e80, 0x303e},   {0x3041, 0xa4cf},   {0xa960, 0xa97f},
    {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff01, 0xff60},   {0xffe0, 0xffe6},
    {0x16fe0, 0x18aff}, {0x1b000, 0x1b2ff}, {0x1f18e, 0x1f19a}, {0x1f200, 0x1f320}, {0x1f32d, 0x1f64f},
    {0x1f680, 0x1f6ff}, {0x1f7e0, 0x1f7eb}, {0x1f900, 0x1f9ff}, {0x1fa70, 0x1faff}, {0x20000, 0x3fffd},
};
static const struct char_range empty[] = {
    {0x0300, 0x036f}, {0x0483, 0x0489},   {0x0591, 0x05bd},   {0x05bf, 0x05bf}, {0x05c1, 0x05c2}, {0x0610, 0x061a},
    {0x064b, 0x065f}, {0x0670, 0x0670},   {0x06d6, 0x06dc},   {0x06df, 0x06e4}, {0x0900, 0x0902}, {0x093a, 0x093a},
    {0x093c, 0x093c}, {0x0941, 0x0948},   {0x094d, 0x094d},   {0x0951, 0x0957}, {0x0962, 0x0963}, {0x0981, 0x0981},
    {0x09bc, 0x09bc}, {0x09c1, 0x09c4},   {0x09cd, 0x09cd},   {0x0a3c, 0x0a51}, {0x0bc0, 0x0bc0}, {0x0bcd, 0x0bcd},
    {0x0e31, 0x0e31}, {0x0e34, 0x0e3a},   {0x0e47, 0x0e4e},   {0x0eb1, 0x0eb1}, {0x0eb4, 0x0ebc}, {0x0ec8, 0x0ece},
    {0x102d, 0x1030}, {0x1032, 0x1037},   {0x1039, 0x103a},   {0x1160, 0x11ff}, {0x135d, 0x135f}, {0x17b4, 0x17b5},
    {0x17b7, 0x17bd}, {0x17c6, 0x17c6},   {0x17c9, 0x17d3},   {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200b, 0x200f},
    {0x2060, 0x2064}, {0x20d0, 0x20f0},   {0x302a, 0x302d},   {0x3099, 0x309a}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f},
    {0xfeff, 0xfeff}, {0x1f3fb, 0x1f3ff}, {0xe0100, 0xe01ef},
};

static bool is_in(const struct char_range *r, size_t n, uint32_t c)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (c > r[mid].to)
            low = mid + 1;
        else if (c < r[mid].from)
            high = mid;
        else
            return true;
    }
    return false;
}

unsigned char_columns(uint32_t c)
{
    if (c < 0x300)
        return c == 0xad ? 0 : 1; /* a soft hyphen is not shown */
    if (is_in(empty, sizeof(empty) / sizeof(*empty), c))
        return 0;
    return is_in(wide, sizeof(wide) / sizeof(*wide), c) ? 2 : 1;
}

size_t text_columns(struct span s)
{
    size_t n = 0;
    for (size_t at = 0; at < s.n;)
        n += char_columns(utf8_next(s, &at, NULL));
    return n;
}

/* ---- wrapping ---- */

void wrap_begin(struct wrap *w, struct buf *out, size_t width, size_t indent, size_t column)
{
    *w = (struct wrap){.out = out, .width = width, .indent = indent, .column = column};
    if (width && width < indent + 20) /* no room: rather let the terminal break lines */
        w->width = 0;
}

static void put_break(struct wrap *w)
{
    buf_putc(w->out, '\n');
    for (w->column = 0; w->column < w->indent; w->column++)
        buf_putc(w->out, ' ');
    w->has_blank = false;
}

static void put_word(struct wrap *w)
{
    bool is_at_start = w->column <= w->indent;
    if (w->word_columns && w->width && !is_at_start && w->column + w->has_blank + w->word_columns > w->width)
        put_break(w);
    if (w->word_columns && w->has_blank) {
        buf_putc(w->out, ' ');
        w->column++;
    }
    buf_put(w->out, buf_span(&w->word));
    w->has_blank &= w->word_columns == 0;
    w->column += w->word_columns;
    w->word_columns = 0;
    buf_clear(&w->word);
}

void wrap_style(struct wrap *w, const char *escape)
{
    buf_puts(&w->word, escape);
}

static void put_char(struct wrap *w, uint32_t c, struct span bytes)
{
    unsigned columns = char_columns(c);
    if (columns == 0 && w->word.n == 0) { /* a mark on what was written last */
        buf_put(w->out, bytes);
        return;
    }
    bool is_long = w->width && w->word_columns + columns > w->width - w->indent;
    if (columns == 2 || is_long) /* before it the line may end */
        put_word(w);
    buf_put(&w->word, bytes);
    w->word_columns += columns;
    if (columns == 2 && w->width)
        put_word(w);
}

void wrap_text(struct wrap *w, struct span text)
{
    struct buf safe = {0};
    put_safe(&safe, text);
    struct span s = buf_span(&safe);
    for (size_t at = 0; at < s.n;) {
        size_t from = at;
        uint32_t c = utf8_next(s, &at, NULL);
        if (c == ' ') {
            put_word(w);
            w->has_blank = w->column > w->indent;
        } else
            put_char(w, c, span_cut(s, from, at - from));
    }
    buf_done(&safe);
}

void wrap_end(struct wrap *w)
{
    put_word(w);
    buf_putc(w->out, '\n');
    buf_done(&w->word);
}
