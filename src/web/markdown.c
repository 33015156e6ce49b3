#include "web/markdown.h"

#include <stdlib.h>

#include "base/utf8.h"
#include "web/json_token.h"
#include "web/markdown_inline.h"

#define CONTAINERS_MAX 16 /* quotes and lists in each other, on one line */
#define FRONT_MATTER_MAX (64u << 10)
#define LABEL_MAX 999 /* bytes of [label] */
#define CODE_INDENT 4

/* Follow "# Title", "some *text*", "```", "x = 1", "```": a heading is written at once; text is gathered in `paragraph`
 * and written when something else begins; in a fence lines are written as they are. */
struct writer {
    struct buf *out;
    struct markdown_refs refs;
    struct buf paragraph;
    uint32_t *matches; /* for markdown_inline */
    char fence;        /* '`' or '~' inside one, else 0 */
    size_t fence_n;
    bool is_code;  /* the line before was indented code */
    bool is_blank; /* the line before was empty, or there is none */
    bool in_list;  /* indented text belongs to an item */
    bool in_table;
};

/* ---- paragraphs ---- */

static void put_block(struct writer *w, const char *tag, struct span text)
{
    text = span_trim(text);
    if (!text.n)
        return;
    buf_printf(w->out, "<%s>", tag);
    markdown_inline(w->out, text, &w->refs, w->matches);
    buf_printf(w->out, "</%s>\n", tag);
}

static void flush(struct writer *w, const char *tag)
{
    put_block(w, tag, buf_span(&w->paragraph));
    buf_clear(&w->paragraph);
    if (w->is_code)
        buf_puts(w->out, "</pre>\n");
    w->is_code = false;
}

static void add_line(struct writer *w, struct span line)
{
    if (w->is_code)
        flush(w, "p");
    while (line.n) {
        size_t room = MARKDOWN_PARAGRAPH_MAX - w->paragraph.n;
        struct span piece = line.n < room ? line : utf8_cut(line, room - 1);
        buf_put(&w->paragraph, piece);
        line = span_from(line, piece.n);
        if (line.n)
            flush(w, "p");
    }
    if (w->paragraph.n + 1 < MARKDOWN_PARAGRAPH_MAX)
        buf_putc(&w->paragraph, '\n');
    else
        flush(w, "p");
}

/* ---- what a line is ---- */

static size_t indent_of(struct span line)
{
    size_t n = 0;
    for (size_t i = 0; i < line.n && (line.p[i] == ' ' || line.p[i] == '\t'); i++)
        n += line.p[i] == '\t' ? CODE_INDENT - n % CODE_INDENT : 1;
    return n;
}

static struct span unindent(struct span line)
{
    size_t n = 0;
    while (n < line.n && (line.p[n] == ' ' || line.p[n] == '\t'))
        n++;
    return span_from(line, n);
}

static bool is_only(struct span line, const char *chars, char wanted, size_t least)
{
    size_t n = 0;
    for (size_t i = 0; i < line.n; i++) {
        if (!strchr(chars, line.p[i]) || !line.p[i])
            return false;
        n += line.p[i] == wanted;
    }
    return n >= least;
}

static bool is_rule(struct span line)
{
    return is_only(line, "- \t", '-', 3) || is_only(line, "* \t", '*', 3) || is_only(line, "_ \t", '_', 3);
}

static size_t row_of(struct span s, char c)
{
    size_t n = 0;
    while (n < s.n && s.p[n] == c)
        n++;
    return n;
}

/* "- ", "* ", "12. ", "3) ": bytes of the mark, 0: it is none. */
static size_t item_mark(struct span line)
{
    size_t n = 0;
    if (line.n && (line.p[0] == '-' || line.p[0] == '+' || line.p[0] == '*')) {
        n = 1;
    } else {
        while (n < line.n && n < 9 && ascii_is_digit(line.p[n]))
            n++;
        if (n == 0 || n == line.n || (line.p[n] != '.' && line.p[n] != ')'))
            return 0;
        n++;
    }
    return n == line.n || line.p[n] == ' ' || line.p[n] == '\t' ? n : 0;
}

/* Marks of quotes and items are taken off. */
static struct span open_containers(struct writer *w, struct span line)
{
    for (int i = 0; i < CONTAINERS_MAX; i++) {
        struct span rest = unindent(line);
        size_t n = rest.n && rest.p[0] == '>' ? 1 : is_rule(rest) ? 0 : item_mark(rest);
        if (!n || (indent_of(line) >= CODE_INDENT && !w->in_list))
            return line;
        if (rest.p[0] != '>') {
            flush(w, "p");
            w->in_list = true;
        }
        line = span_from(rest, n);
        if (line.n && line.p[0] == ' ')
            line = span_from(line, 1);
        if (rest.p[0] != '>' && (span_starts(line, SPAN("[ ] ")) || span_starts_nocase(line, SPAN("[x] "))))
            line = span_from(line, 4);
    }
    return line;
}

/* ---- lines ---- */

static bool take_fence(struct writer *w, struct span line)
{
    struct span rest = unindent(line);
    char c = rest.n ? rest.p[0] : 0;
    size_t n = c == '`' || c == '~' ? row_of(rest, c) : 0;
    if (w->fence) {
        if (c == w->fence && n >= w->fence_n && !span_trim(span_from(rest, n)).n) {
            w->fence = 0;
            buf_puts(w->out, "</pre>\n");
        } else {
            markdown_escape(w->out, line);
            buf_putc(w->out, '\n');
        }
        return true;
    }
    if (n < 3 || (c == '`' && span_find(span_from(rest, n), '`', 0) < rest.n - n))
        return false;
    flush(w, "p");
    w->fence = c;
    w->fence_n = n;
    buf_puts(w->out, "<pre>");
    return true;
}

static bool take_heading(struct writer *w, struct span line)
{
    static const char *const tags[] = {"h1", "h2", "h3", "h4", "h5", "h6"};
    size_t n = row_of(line, '#');
    if (n == 0 || n > 6 || (n < line.n && !ascii_is_space(line.p[n])))
        return false;
    struct span text = span_trim(span_from(line, n));
    size_t end = text.n;
    while (end && text.p[end - 1] == '#')
        end--;
    if (end == 0 || ascii_is_space(text.p[end - 1]))
        text.n = end;
    flush(w, "p");
    put_block(w, tags[n - 1], utf8_cut(text, MARKDOWN_PARAGRAPH_MAX));
    return true;
}

static bool take_underline(struct writer *w, struct span line)
{
    if (!w->paragraph.n || !line.n || (!is_only(line, "= \t", '=', 1) && !is_only(line, "- \t", '-', 1)))
        return false;
    flush(w, line.p[0] == '=' ? "h1" : "h2");
    return true;
}

/* Cells are words of their own. */
static void part_cells(char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] == '\\')
            i++;
        else if (p[i] == '|')
            p[i] = '\t';
}

static bool take_table(struct writer *w, struct span line)
{
    bool is_delimiter = is_only(line, "-:| \t", '-', 1) && span_find(line, '|', 0) < line.n;
    if (is_delimiter && w->paragraph.n) {
        part_cells(w->paragraph.p, w->paragraph.n);
        flush(w, "p");
        w->in_table = true;
        return true;
    }
    if (!w->in_table)
        return false;
    size_t before = w->paragraph.n;
    add_line(w, line);
    if (w->paragraph.n > before)
        part_cells(w->paragraph.p + before, w->paragraph.n - before);
    flush(w, "p");
    return true;
}

/* "[label]: url": the place is not text. */
static bool is_definition(struct span line, struct markdown_ref *r)
{
    struct span s = span_trim(line);
    if (!span_starts(s, SPAN("[")) || span_starts(s, SPAN("[^")))
        return false;
    size_t close = span_find(span_cut(s, 0, LABEL_MAX + 2), ']', 1), at = close + 2;
    if (close + 1 >= s.n || close > LABEL_MAX || s.p[close] != ']' || s.p[close + 1] != ':')
        return false;
    while (at < s.n && ascii_is_space(s.p[at]))
        at++;
    r->label = span_trim(span_cut(s, 1, close - 1));
    return r->label.n && markdown_destination(s, &at, &r->url);
}

static bool take_code(struct writer *w, struct span line)
{
    if (indent_of(line) < CODE_INDENT || w->paragraph.n || w->in_list || !(w->is_blank || w->is_code))
        return false;
    if (!w->is_code)
        buf_puts(w->out, "<pre>");
    w->is_code = true;
    markdown_escape(w->out, line);
    buf_putc(w->out, '\n');
    return true;
}

static void take_line(struct writer *w, struct span line)
{
    struct markdown_ref ignored;
    if (take_fence(w, line))
        return;
    if (!span_trim(line).n) {
        if (!w->is_code)
            flush(w, "p");
        w->in_table = false;
        w->is_blank = true;
        return;
    }
    if (w->is_blank && indent_of(line) == 0 && !item_mark(line))
        w->in_list = false;
    if (take_code(w, line))
        return;
    struct span rest = open_containers(w, line);
    struct span text = span_trim(rest);
    w->is_blank = false;
    if (rest.p != line.p && take_fence(w, rest))
        return;
    if (take_heading(w, text) || take_underline(w, text) || take_table(w, text))
        return;
    if (is_rule(text))
        flush(w, "p");
    else if (w->paragraph.n || !is_definition(text, &ignored))
        add_line(w, text);
}

/* ---- the whole ---- */

/* What stands behind "title:" of YAML, "title =" of TOML. */
static bool is_title(struct span line, char sign, struct span *value)
{
    if (!span_starts_nocase(line, SPAN("title")))
        return false;
    line = unindent(span_from(line, 5));
    if (!line.n || line.p[0] != sign)
        return false;
    *value = span_trim(span_from(line, 1));
    return value->n > 0;
}

/* ">", "|-": the text is in the lines below. */
static bool is_block_mark(struct span value)
{
    return value.n <= 3 && (value.p[0] == '>' || value.p[0] == '|');
}

/* Where the quoted text ends that `s` begins with; s.n: nowhere. YAML writes '' for a ' in it. */
static size_t end_of_quoted(struct span s, bool is_yaml)
{
    for (size_t i = 1; i < s.n; i++) {
        if (s.p[0] == '"' && s.p[i] == '\\')
            i++;
        else if (s.p[i] == s.p[0] && is_yaml && s.p[0] == '\'' && i + 1 < s.n && s.p[i + 1] == '\'')
            i++;
        else if (s.p[i] == s.p[0])
            return i;
    }
    return s.n;
}

static struct span halve_quotes(struct arena *a, struct span s)
{
    struct buf out = {0};
    for (size_t i = 0; i < s.n; i += s.p[i] == '\'' ? 2 : 1)
        buf_putc(&out, s.p[i]);
    struct span text = arena_copy(a, buf_span(&out));
    buf_done(&out);
    return text;
}

/* Without quotes and what stands behind them, escapes decoded; of YAML without quotes a comment is no part. A quote
 * that nothing ends is a letter. */
static struct span unquote(struct arena *a, struct span s, bool is_yaml)
{
    bool is_quoted = s.n && (s.p[0] == '"' || s.p[0] == '\'');
    size_t end = is_quoted ? end_of_quoted(s, is_yaml) : s.n;
    if (!is_quoted)
        return is_yaml ? span_trim(span_cut(s, 0, span_search(s, SPAN(" #"), false))) : s;
    if (end == s.n)
        return s;
    struct span text = span_cut(s, 1, end - 1);
    if (s.p[0] == '"')
        return json_token_text(a, text);
    return is_yaml ? halve_quotes(a, text) : text;
}

/* The title, of one line or, in YAML, of that and the indented ones below it. */
static struct span front_title(struct arena *a, struct span value, struct span below, bool is_yaml)
{
    struct buf all = {0};
    struct span line;
    if (!is_yaml || !is_block_mark(value))
        buf_put(&all, value);
    while (is_yaml && all.n < FACTS_TITLE_MAX && span_split(&below, '\n', &line) && span_trim(line).n &&
           (line.p[0] == ' ' || line.p[0] == '\t')) {
        if (all.n)
            buf_putc(&all, ' ');
        buf_put(&all, span_trim(line));
    }
    struct span text = arena_copy(a, buf_span(&all));
    buf_done(&all);
    return is_yaml && is_block_mark(value) ? text : unquote(a, text, is_yaml);
}

/* The lines between two "---" at the start, or two "+++", and the title that one of them may have. */
static struct span skip_front_matter(struct arena *a, struct span text, struct span *title)
{
    struct span rest = text, line, found = {0}, below = {0}, value;
    bool is_first = span_split(&rest, '\n', &line), is_toml = is_first && span_is(span_trim(line), "+++");
    if (!is_first || !(is_toml || span_is(span_trim(line), "---")))
        return text;
    while (rest.p && (size_t)(rest.p - text.p) < FRONT_MATTER_MAX && span_split(&rest, '\n', &line)) {
        struct span word = span_trim(line);
        if (is_toml ? span_is(word, "+++") : span_is(word, "---") || span_is(word, "...")) {
            if (found.n)
                *title = front_title(a, found, below, !is_toml);
            return rest;
        }
        if (!found.n && is_title(line, is_toml ? '=' : ':', &value)) {
            found = value;
            below = rest;
        }
    }
    return text;
}

static void find_refs(struct arena *a, struct span text, struct markdown_refs *out)
{
    struct span rest = text, line;
    struct markdown_ref r;
    size_t n = 0, kept = 0;
    while (n < MARKDOWN_REFS_MAX && span_split(&rest, '\n', &line))
        n += line.n && indent_of(line) < CODE_INDENT && is_definition(line, &r);
    out->refs = arena_alloc(a, (n + 1) * sizeof(*out->refs));
    rest = text;
    while (kept < n && span_split(&rest, '\n', &line))
        if (line.n && indent_of(line) < CODE_INDENT && is_definition(line, &r))
            out->refs[kept++] = r;
    qsort(out->refs, kept, sizeof(*out->refs), markdown_ref_cmp);
    for (size_t i = 0; i < kept; i++) /* the first of several counts */
        if (!out->n || !span_eq_nocase(out->refs[out->n - 1].label, out->refs[i].label))
            out->refs[out->n++] = out->refs[i];
}

void markdown_html(struct arena *a, struct span text, struct buf *out, struct span *title)
{
    struct writer w = {.out = out, .is_blank = true};
    struct span rest = skip_front_matter(a, text, title), line;
    find_refs(a, rest, &w.refs);
    w.matches = arena_alloc(a, MARKDOWN_PARAGRAPH_MAX * sizeof(*w.matches));
    while (out->n < MARKDOWN_HTML_MAX && span_split(&rest, '\n', &line))
        take_line(&w, line);
    flush(&w, "p");
    if (w.fence)
        buf_puts(out, "</pre>\n");
    buf_done(&w.paragraph);
}

static struct span title_of(const struct facts *f)
{
    const struct fact_heading *best = NULL;
    for (size_t i = 0; i < f->heading_count; i++)
        if (f->headings[i].level < FACTS_TERM_LEVEL && (!best || f->headings[i].level < best->level))
            best = &f->headings[i];
    return best ? best->text : span_of("", 0);
}

void markdown_facts(struct arena *a, struct span text, const struct facts_opts *opts, struct facts *out)
{
    struct buf html = {0};
    struct span title = {0};
    markdown_html(a, text, &html, &title);
    facts_collect(a, arena_copy(a, buf_span(&html)), opts, out);
    buf_done(&html);
    if (title.n)
        out->title = utf8_cut(title, FACTS_TITLE_MAX);
    else if (!out->title.n)
        out->title = title_of(out);
}
