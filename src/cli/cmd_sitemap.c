/* cmd_sitemap.c - `orb sitemap`: what the crawler finds in one sitemap or feed. */
#include "cli/command.h"
#include "codec/json.h"
#include "web/charset.h"
#include "web/date.h"
#include "web/sitemap.h"
#include "web/url.h"

struct list_file {
    struct arena arena;
    struct buf body;
    struct sitemap list;
    struct url base;
    bool has_base;
};

static void list_file_done(struct list_file *f)
{
    arena_done(&f->arena);
    buf_done(&f->body);
}

/* Which of the ceilings it passed, by their names. */
static void complain_cut(const char *path, unsigned cut)
{
    static const struct {
        unsigned cut, most;
        const char *of;
    } ceilings[] = {{SITEMAP_CUT_BYTES, SITEMAP_BYTES_MAX >> 20, "MiB"},
                    {SITEMAP_CUT_ENTRIES, SITEMAP_ENTRIES_MAX, "entries"},
                    {SITEMAP_CUT_ALTERNATES, SITEMAP_ALTERNATES_MAX, "pages in other languages"},
                    {SITEMAP_CUT_LOCS, SITEMAP_LOCS_BYTES >> 20, "MiB of URLs"}};
    struct buf what = {0};
    for (size_t i = 0; i < sizeof(ceilings) / sizeof(*ceilings); i++)
        if (cut & ceilings[i].cut)
            buf_printf(&what, "%s%u %s", what.n ? " and " : "", ceilings[i].most, ceilings[i].of);
    if (what.n)
        (void)complain(0, "sitemap: read %s: more than %s: the rest is left out", path, buf_cstr(&what));
    buf_done(&what);
}

static int list_file_read(struct list_file *f, const char *path)
{
    struct charset_result decoded;
    bool is_cut = false;
    int code = read_input("sitemap", path, &f->body);
    if (code != EXIT_DONE)
        return code;
    struct span body = buf_span(&f->body);
    if (sitemap_is_gzip(body) && sitemap_unzip(&f->arena, body, &body, &is_cut) != ST_OK)
        return complain(EXIT_INPUT, "sitemap: unpack %s: it grows more than %d times: no list does", path,
                        SITEMAP_RATIO_MAX);
    if (charset_decode(&f->arena, body, (struct span){0}, true, INPUT_BYTES_MAX, &decoded) != ST_OK)
        return complain(EXIT_INPUT, "sitemap: decode %s: more than %u MiB of text", path, INPUT_BYTES_MAX >> 20);
    sitemap_read(&f->arena, decoded.text, f->has_base ? &f->base : NULL, &f->list);
    if (f->list.kind == SITEMAP_NONE)
        return complain(EXIT_NO, "sitemap: read %s: neither a sitemap nor a feed nor a list of URLs", path);
    complain_cut(path, f->list.cut | (is_cut ? SITEMAP_CUT_BYTES : 0));
    return EXIT_DONE;
}

/* Absolute where there is a base; else as it is written. */
static struct span url_of(struct list_file *f, const struct sitemap_entry *e)
{
    struct url base, u;
    bool is_moved = e->base.n && url_parse(&f->arena, e->base, NULL, &base) == ST_OK;
    const struct url *at = is_moved ? &base : f->has_base ? &f->base : NULL;
    return url_parse(&f->arena, e->loc, at, &u) == ST_OK ? u.href : e->loc;
}

static void put_entry(struct list_file *f, const struct sitemap_entry *e, bool is_json, struct buf *out)
{
    static const char *const kinds[] = {"page", "alternate", "list"};
    struct buf date = {0};
    if (e->changed)
        date_put(&date, e->changed);
    if (is_json) {
        struct json j = {.out = out};
        json_open(&j, '{');
        json_key(&j, "kind");
        json_str(&j, kinds[e->kind]);
        json_key(&j, "url");
        json_text(&j, url_of(f, e));
        json_key(&j, "changed");
        json_text_or_null(&j, buf_span(&date));
        json_key(&j, "list");
        json_str(&j, sitemap_kind_name(f->list.kind));
        json_close(&j, '}');
    } else {
        buf_printf(out, "%s ", kinds[e->kind]);
        put_safe(out, url_of(f, e));
        buf_printf(out, " %s", date.n ? buf_cstr(&date) : "-");
    }
    buf_putc(out, '\n');
    buf_done(&date);
}

int cmd_sitemap(const struct options *o)
{
    struct list_file f = {0};
    struct buf out = {0};
    int code = EXIT_DONE;
    arena_init(&f.arena);
    f.has_base = opt_is_set(o, OPT_BASE);
    if (f.has_base && url_parse(&f.arena, opt_text(o, OPT_BASE), NULL, &f.base) != ST_OK)
        code = complain(EXIT_INPUT, "sitemap: --base %s: not a URL", opt_cstr(o, OPT_BASE));
    if (code == EXIT_DONE)
        code = list_file_read(&f, o->args[0].p);
    for (size_t i = 0; code == EXIT_DONE && i < f.list.count; i++)
        put_entry(&f, &f.list.entries[i], opt_flag(o, OPT_JSON), &out);
    print_buf(&out);
    buf_done(&out);
    list_file_done(&f);
    return code;
}
