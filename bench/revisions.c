#include "revisions.h"

#include "base/buf.h"
#include "codec/json_tree.h"
#include "codec/zip.h"
#include "store/file.h"

#define FILE_BYTES_MAX (16u << 20)
#define TEXT_BYTES_MAX (64u << 20)
#define REVISIONS_MAX 100000

/* Elements that stand inside a line. */
static const char *const inline_elements[] = {
    "type",        "methodname", "parameter", "literal",  "constant",  "function",    "classname",   "varname",
    "emphasis",    "link",       "xref",      "code",     "filename",  "initializer", "modifier",    "command",
    "acronym",     "option",     "void",      "property", "userinput", "systemitem",  "methodparam", "interfacename",
    "replaceable", "optional",   "ooclass",   "footnote", "quote",     "envar",       "superscript", "exceptionname",
};

static bool is_inline(struct span tag)
{
    size_t from = tag.n && tag.p[0] == '/' ? 1 : 0, n = from;
    while (n < tag.n && !ascii_is_space(tag.p[n]) && tag.p[n] != '/')
        n++;
    for (size_t i = 0; i < sizeof(inline_elements) / sizeof(*inline_elements); i++)
        if (span_is(span_cut(tag, from, n - from), inline_elements[i]))
            return true;
    return false;
}

/* White space as one blank, none at the start of a line, no empty lines. */
static void put_byte(struct buf *out, char c)
{
    bool is_space = ascii_is_space(c), after_space = !out->n || ascii_is_space(out->p[out->n - 1]);
    if (!is_space)
        buf_putc(out, c);
    else if (!after_space)
        buf_putc(out, ' ');
}

static void put_break(struct buf *out)
{
    while (out->n && out->p[out->n - 1] == ' ')
        out->n--;
    if (out->n && out->p[out->n - 1] != '\n')
        buf_putc(out, '\n');
}

static void put_text(struct buf *out, struct span source)
{
    static const struct {
        const char *begin, *end;
    } skipped[] = {{"<!--", "-->"}, {"<?", "?>"}};
    for (size_t at = 0; at < source.n;) {
        struct span rest = span_from(source, at);
        size_t skip = 0;
        for (size_t i = 0; i < 2; i++)
            if (span_starts(rest, span_str(skipped[i].begin)))
                skip = span_search(rest, span_str(skipped[i].end), false) + strlen(skipped[i].end);
        if (span_starts(rest, SPAN("<![CDATA[")))
            skip = strlen("<![CDATA[");
        if (span_starts(rest, SPAN("]]>")))
            skip = strlen("]]>");
        if (skip) {
            at += skip;
        } else if (rest.p[0] == '<') {
            size_t end = span_find(rest, '>', 0);
            if (is_inline(span_cut(rest, 1, end - 1)))
                put_byte(out, ' ');
            else
                put_break(out);
            at += end + 1;
        } else {
            put_byte(out, rest.p[0]);
            at++;
        }
    }
}

static status read_line(struct revisions *r, struct span line)
{
    const struct json_node *page;
    status st = json_tree(&r->arena, line, &page);
    unsigned version = 0;
    if (st != ST_OK)
        return ST_CORRUPT;
    for (const struct json_node *v = json_member(page, "versions")->children; v; v = v->next) {
        struct buf text = {0};
        if (r->count == REVISIONS_MAX)
            return ST_LIMIT;
        put_text(&text, json_member_text(v, "text"));
        r->items[r->count++] =
            (struct revision){.page = r->pages, .version = version++, .text = arena_copy(&r->arena, buf_span(&text))};
        buf_done(&text);
    }
    r->pages++;
    return ST_OK;
}

status revisions_read(const char *path, struct revisions *out)
{
    struct buf zipped = {0}, plain = {0};
    struct revisions r = {0};
    arena_init(&r.arena);
    r.items = arena_alloc(&r.arena, REVISIONS_MAX * sizeof(*r.items));
    status st = file_read(path, FILE_BYTES_MAX, &zipped);
    if (st == ST_OK)
        st = unzip_zstd(buf_span(&zipped), TEXT_BYTES_MAX, &plain);
    struct span rest = buf_span(&plain), line;
    while (st == ST_OK && rest.n && span_split(&rest, '\n', &line))
        if (line.n)
            st = read_line(&r, line);
    buf_done(&zipped);
    buf_done(&plain);
    if (st == ST_OK)
        *out = r;
    else
        arena_done(&r.arena);
    return st;
}

void revisions_done(struct revisions *r)
{
    arena_done(&r->arena);
}
