/* cmd_page.c - `orb links` and `orb text`: what the crawler sees in one HTML or Markdown file. */
#include "base/log.h"
#include "cli/command.h"
#include "cli/page_flags.h"
#include "codec/json.h"
#include "web/charset.h"
#include "web/document.h"
#include "web/facts.h"
#include "web/markdown.h"
#include "web/url.h"

struct page_file {
    struct arena arena;
    struct buf body;
    struct charset_result decoded;
    struct facts facts;
};

static void page_file_done(struct page_file *p)
{
    arena_done(&p->arena);
    buf_done(&p->body);
}

static int page_file_read(struct page_file *p, const char *what, const char *path)
{
    const struct facts_opts opts = {.agent = SPAN("orbweaver"), .keep_text = true, .keep_anchors = true};
    *p = (struct page_file){0};
    arena_init(&p->arena);
    int code = read_input(what, path, &p->body);
    if (code != EXIT_DONE)
        return code;
    bool is_html = document_kind_of((struct span){0}, span_str(path)) == DOCUMENT_HTML;
    if (charset_decode(&p->arena, buf_span(&p->body), (struct span){0}, is_html, INPUT_BYTES_MAX, &p->decoded) != ST_OK)
        return complain(EXIT_INPUT, "%s: decode %s: more than %u MiB of text", what, path, INPUT_BYTES_MAX >> 20);
    if (is_html)
        facts_collect(&p->arena, p->decoded.text, &opts, &p->facts);
    else
        markdown_facts(&p->arena, p->decoded.text, &opts, &p->facts);
    return EXIT_DONE;
}

/* ---- links ---- */

static const char *const kind_names[] = {"a", "frame", "refresh", "next", "alternate", "feed", "sitemap", "listed"};

static void put_link_json(const struct fact_link *l, const struct url *u, struct buf *out)
{
    static const struct {
        unsigned bit;
        const char *name;
    } rels[] = {{REL_NOFOLLOW, "nofollow"}, {REL_UGC, "ugc"}, {REL_SPONSORED, "sponsored"}};
    struct json j = {.out = out};
    json_open(&j, '{');
    json_key(&j, "url");
    json_text(&j, u->href);
    json_key(&j, "text");
    json_text(&j, l->text);
    json_key(&j, "kind");
    json_str(&j, kind_names[l->kind]);
    json_key(&j, "rel");
    json_open(&j, '[');
    for (size_t i = 0; i < sizeof(rels) / sizeof(*rels); i++)
        if (l->rel & rels[i].bit)
            json_str(&j, rels[i].name);
    json_close(&j, ']');
    json_close(&j, '}');
}

static void put_links(const struct options *o, struct page_file *p, const struct url *base, struct buf *out)
{
    for (size_t i = 0; i < p->facts.link_count; i++) {
        const struct fact_link *l = &p->facts.links[i];
        struct span ref = charset_query(&p->arena, l->href, span_str(p->decoded.name));
        struct url u;
        if (url_parse(&p->arena, ref, base, &u) != ST_OK || (!opt_flag(o, OPT_ALL) && !url_is_http(&u)))
            continue;
        if (opt_flag(o, OPT_JSON))
            put_link_json(l, &u, out);
        else
            buf_put(out, u.href);
        buf_putc(out, '\n');
    }
}

int cmd_links(const struct options *o)
{
    struct page_file p;
    struct buf out = {0};
    struct url document, base;
    if (!opt_is_set(o, OPT_BASE))
        return complain(EXIT_USAGE, "links: no --base: say where the page came from, as --base https://example.org/");
    int code = page_file_read(&p, "links", o->args[0].p);
    if (code == EXIT_DONE && url_parse(&p.arena, opt_text(o, OPT_BASE), NULL, &document) != ST_OK)
        code = complain(EXIT_INPUT, "links: --base %s: not a URL", opt_cstr(o, OPT_BASE));
    if (code == EXIT_DONE) {
        if (p.facts.base.n == 0 || url_parse(&p.arena, p.facts.base, &document, &base) != ST_OK)
            base = document;
        put_links(o, &p, &base, &out);
    }
    print_buf(&out);
    buf_done(&out);
    page_file_done(&p);
    return code;
}

/* ---- text ---- */

static const char *const source_names[] = {"bom", "header", "meta", "detected", "default"};

static void put_text_json(const struct page_file *p, struct buf *out)
{
    const struct facts *f = &p->facts;
    struct json j = {.out = out};
    struct buf digest = {0};
    buf_printf(&digest, "%016llx", (unsigned long long)f->digest);
    const struct {
        const char *name;
        struct span value;
    } texts[] = {
        {"title", f->title},
        {"lang", f->lang},
        {"description", f->description},
        {"canonical", f->canonical},
    };
    json_open(&j, '{');
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        json_key(&j, texts[i].name);
        json_text_or_null(&j, texts[i].value);
    }
    json_key(&j, "charset");
    json_str(&j, p->decoded.name);
    json_key(&j, "charset_from");
    json_str(&j, source_names[p->decoded.source]);
    json_key(&j, "charset_errors");
    json_bool(&j, p->decoded.had_errors);
    json_key(&j, "digest");
    json_text(&j, buf_span(&digest));
    json_key(&j, "robots");
    json_page_flags(&j, f->page_flags);
    json_key(&j, "headings");
    json_open(&j, '[');
    for (size_t i = 0; i < f->heading_count; i++) {
        json_open(&j, '{');
        json_key(&j, "level");
        json_u64(&j, f->headings[i].level);
        json_key(&j, "text");
        json_text(&j, f->headings[i].text);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_key(&j, "links");
    json_u64(&j, f->link_count);
    json_key(&j, "text_bytes");
    json_u64(&j, f->text_bytes);
    json_key(&j, "text");
    json_text(&j, f->text);
    json_close(&j, '}');
    buf_putc(out, '\n');
    buf_done(&digest);
}

int cmd_text(const struct options *o)
{
    struct page_file p;
    struct buf out = {0};
    int code = page_file_read(&p, "text", o->args[0].p);
    if (code == EXIT_DONE && opt_flag(o, OPT_JSON))
        put_text_json(&p, &out);
    else if (code == EXIT_DONE) {
        struct span rest = p.facts.text, line;
        while (span_split(&rest, '\n', &line)) {
            log_escape(&out, line, SIZE_MAX);
            buf_putc(&out, '\n');
        }
    }
    print_buf(&out);
    buf_done(&out);
    page_file_done(&p);
    return code;
}
