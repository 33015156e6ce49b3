#include "sample/theme.h"

#include "base/utf8.h"
#include "sample/words.h"

#define NESTING_MAX 8

void writer_init(struct writer *w, const struct theme *theme, const char *const *fields, uint64_t seed, time_t date,
                 struct buf *out)
{
    *w = (struct writer){.theme = theme, .fields = fields, .date = date, .out = out};
    for (unsigned i = 0; theme && fields && i < theme->subject_count; i++)
        if (fields == theme->subjects[i].f)
            w->subject = i;
    rng_seed(&w->rng, seed);
    for (int i = 0; i < THEME_POOLS; i++)
        w->own[i] = rng_u64(&w->rng);
}

void put_escaped(struct buf *out, struct span text)
{
    for (size_t i = 0; i < text.n; i++) {
        switch (text.p[i]) {
        case '&':
            buf_puts(out, "&amp;");
            break;
        case '<':
            buf_puts(out, "&lt;");
            break;
        case '>':
            buf_puts(out, "&gt;");
            break;
        case '"':
            buf_puts(out, "&quot;");
            break;
        default:
            buf_putc(out, text.p[i]);
        }
    }
}

typedef enum text_style { STYLE_PLAIN, STYLE_RICH, STYLE_CODE } text_style;

static void expand(struct writer *w, struct span line, text_style style, int depth);

/* Cuts the part before the next '|' that stands in no brackets. */
static bool next_choice(struct span *rest, struct span *part)
{
    int depth = 0;
    if (!rest->p)
        return false;
    for (size_t i = 0; i < rest->n; i++) {
        char c = rest->p[i];
        depth += (c == '[') - (c == ']');
        if (c == '|' && depth == 0) {
            *part = span_cut(*rest, 0, i);
            *rest = span_from(*rest, i + 1);
            return true;
        }
    }
    *part = *rest;
    *rest = (struct span){0};
    return true;
}

static struct span choice(struct span list, uint64_t draw)
{
    uint64_t n = 0;
    struct span rest = list, part = {0};
    while (next_choice(&rest, &part))
        n++;
    if (n == 0)
        return part;
    rest = list;
    for (uint64_t i = 0; i <= draw % n; i++)
        (void)next_choice(&rest, &part);
    return part;
}

static void put_number(struct writer *w, struct span range)
{
    uint64_t low = 0, high = 0;
    size_t dash = span_find(range, '-', 0);
    (void)span_u64(span_cut(range, 0, dash), 1000000, &low);
    (void)span_u64(span_from(range, dash + 1), 1000000, &high);
    buf_printf(w->out, "%llu", (unsigned long long)(low + rng_below(&w->rng, high > low ? high - low + 1 : 1)));
}

static void put_other(struct writer *w, text_style style, int depth)
{
    const struct theme *t = w->theme;
    if (!t || t->subject_count < 2)
        return;
    unsigned other = (w->subject + 1 + (unsigned)rng_below(&w->rng, t->subject_count - 1)) % t->subject_count;
    const char *const *f = t->subjects[other].f;
    bool is_link = style == STYLE_RICH && !w->no_links;
    if (is_link)
        buf_printf(w->out, "<a href=\"/%s/%s/\">", t->folder, f[0]);
    expand(w, span_str(f[1]), STYLE_PLAIN, depth + 1);
    if (is_link)
        buf_puts(w->out, "</a>");
}

static void put_slot(struct writer *w, struct span slot, text_style style, int depth)
{
    char c = slot.n ? slot.p[0] : 0;
    if (c >= '0' && c <= '9' && w->fields && w->fields[c - '0'])
        expand(w, span_str(w->fields[c - '0']), style, depth + 1);
    else if (c == '#')
        put_number(w, span_from(slot, 1));
    else if (c == '%')
        words_date(words_of(w->theme ? w->theme->lang : "en"), w->date, w->out);
    else if (c == '~')
        put_other(w, style, depth);
    else if (c >= 'a' && c < 'a' + THEME_POOLS && w->theme && w->theme->pools[c - 'a'])
        expand(w, choice(span_str(w->theme->pools[c - 'a']), rng_u64(&w->rng)), style, depth + 1);
    else if (c >= 'A' && c < 'A' + THEME_POOLS && w->theme && w->theme->pools[c - 'A'])
        expand(w, choice(span_str(w->theme->pools[c - 'A']), w->own[c - 'A']), style, depth + 1);
}

/* Where the bracket at `at` is closed, or the end. */
static size_t bracket_end(struct span line, size_t at)
{
    int depth = 0;
    for (size_t i = at; i < line.n; i++) {
        depth += (line.p[i] == '[') - (line.p[i] == ']');
        if (depth == 0)
            return i;
    }
    return line.n;
}

static bool is_field(struct span slot)
{
    return slot.n == 1 && ascii_is_digit(slot.p[0]);
}

static void expand(struct writer *w, struct span line, text_style style, int depth)
{
    bool in_code = false;
    if (depth > NESTING_MAX)
        return;
    for (size_t i = 0; i < line.n; i++) {
        char c = line.p[i];
        size_t end = span_find(line, '}', i);
        struct span slot = span_cut(line, i + 1, end > i ? end - i - 1 : 0);
        if (c == '{' && (style != STYLE_CODE || is_field(slot))) {
            put_slot(w, slot, style, depth);
            i = end;
        } else if (c == '[' && style != STYLE_CODE) {
            end = bracket_end(line, i);
            expand(w, choice(span_cut(line, i + 1, end - i - 1), rng_u64(&w->rng)), style, depth + 1);
            i = end;
        } else if (c == '`' && style != STYLE_CODE) {
            if (style == STYLE_RICH)
                buf_puts(w->out, in_code ? "</code>" : "<code>");
            in_code = !in_code;
        } else {
            put_escaped(w->out, span_of(&c, 1));
        }
    }
}

/* The first letter of what was written since `start` becomes a capital: fields are names in the middle of a sentence.
 * Not where it begins with a name from a program. */
static void capitalise(struct buf *out, size_t start)
{
    struct span line = span_from(buf_span(out), start), word = span_cut(line, 0, span_find(line, ' ', 0));
    size_t at = 0;
    if (word.n == 0 || span_find(word, '_', 0) < word.n || word.p[0] == '<')
        return;
    for (size_t i = 1; i < word.n; i++)
        if (word.p[i] >= 'A' && word.p[i] <= 'Z')
            return;
    uint32_t c = utf8_next(line, &at, NULL);
    bool is_small = (c >= 'a' && c <= 'z') || (c >= 0xe0 && c <= 0xfe && c != 0xf7) || (c >= 0x3b1 && c <= 0x3c9) ||
                    (c >= 0x430 && c <= 0x44f);
    bool is_polish = c == 0x142 || c == 0x15b || c == 0x17c; /* ł, ś, ż: small letters follow their capitals */
    if (!is_small && !is_polish)
        return;
    /* The capital has as many bytes. */
    struct buf big = {0};
    buf_put_utf8(&big, is_polish ? c - 1 : c - 0x20);
    memcpy(out->p + start, big.p, big.n);
    buf_done(&big);
}

void writer_plain(struct writer *w, const char *line)
{
    size_t start = w->out->n;
    expand(w, span_str(line), STYLE_PLAIN, 0);
    capitalise(w->out, start);
}

typedef enum block { BLOCK_NONE, BLOCK_LIST, BLOCK_CODE } block;

static void change_block(struct buf *out, block *now, block next)
{
    static const char *const open[] = {"", "<ul>\n", "<pre><code>"}, *const close[] = {"", "</ul>\n",
                                                                                       "</code></pre>\n"};
    if (*now != next) {
        buf_puts(out, close[*now]);
        buf_puts(out, open[next]);
        *now = next;
    }
}

static void put_line(struct writer *w, struct span line)
{
    size_t start = w->out->n;
    expand(w, line, STYLE_RICH, 0);
    capitalise(w->out, start);
}

void writer_blocks(struct writer *w, const char *text)
{
    struct span rest = span_str(text), line;
    block now = BLOCK_NONE;
    while (span_split(&rest, '\n', &line)) {
        if (line.n == 0)
            continue;
        if (span_starts(line, SPAN("    "))) {
            change_block(w->out, &now, BLOCK_CODE);
            expand(w, span_from(line, 4), STYLE_CODE, 0);
            buf_putc(w->out, '\n');
        } else if (span_starts(line, SPAN("- "))) {
            change_block(w->out, &now, BLOCK_LIST);
            buf_puts(w->out, "<li>");
            put_line(w, span_from(line, 2));
            buf_puts(w->out, "</li>\n");
        } else {
            bool is_heading = span_starts(line, SPAN("# "));
            change_block(w->out, &now, BLOCK_NONE);
            buf_puts(w->out, is_heading ? "<h2>" : "<p>");
            put_line(w, is_heading ? span_from(line, 2) : line);
            buf_puts(w->out, is_heading ? "</h2>\n" : "</p>\n");
        }
    }
    change_block(w->out, &now, BLOCK_NONE);
}
