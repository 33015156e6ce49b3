/* site_lists.c - the sitemaps and feeds of the sites, and where front pages name them. */
#include "sample/page.h"

#include <string.h>

#include "sample/gzip.h"

static void put_date(time_t at, const char *format, struct buf *out)
{
    struct tm tm;
    char text[64];
    gmtime_r(&at, &tm);
    strftime(text, sizeof(text), format, &tm);
    buf_puts(out, text);
}

/* A page of the list: `before`, its URL and so on as the kind writes it. */
static void put_entry(const struct draft *d, int kind, struct span path, struct buf *out)
{
    int at = site_find(d->site, path);
    time_t date = page_date(d->seed, d->site, at < 0 ? 0 : (unsigned)at);
    struct buf url = {0};
    put_origin(d, span_str(d->site->host), &url);
    buf_put(&url, path);
    switch (kind) {
    case LIST_INDEX:
        buf_printf(out, "<sitemap><loc>%s</loc></sitemap>\n", buf_cstr(&url));
        break;
    case LIST_URLSET:
        buf_printf(out, "<url><loc>%s</loc><lastmod>", buf_cstr(&url));
        put_date(date, "%Y-%m-%d", out);
        buf_puts(out, "</lastmod></url>\n");
        break;
    case LIST_RSS:
        buf_printf(out, "<item><link>%s</link><guid>%s</guid><pubDate>", buf_cstr(&url), buf_cstr(&url));
        put_date(date, "%a, %d %b %Y %H:%M:%S GMT", out);
        buf_puts(out, "</pubDate></item>\n");
        break;
    case LIST_ATOM:
        buf_printf(out, "<entry><id>%s</id><link href=\"%.*s\"/><updated>", buf_cstr(&url), SPAN_ARG(path));
        put_date(date, "%Y-%m-%dT%H:%M:%SZ", out);
        buf_puts(out, "</updated></entry>\n");
        break;
    default:
        buf_printf(out, "%s\n", buf_cstr(&url));
    }
    buf_done(&url);
}

static const struct {
    const char *type, *before, *after;
} forms[] = {
    [LIST_INDEX] = {"application/xml",
                    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                    "<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n",
                    "</sitemapindex>\n"},
    [LIST_URLSET] = {"text/xml; charset=utf-8",
                     "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                     "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n",
                     "</urlset>\n"},
    [LIST_RSS] = {"application/rss+xml", "<?xml version=\"1.0\"?>\n<rss version=\"2.0\"><channel>\n",
                  "</channel></rss>\n"},
    [LIST_ATOM] = {"application/atom+xml", "<?xml version=\"1.0\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">\n",
                   "</feed>\n"},
    [LIST_TEXT] = {"text/plain; charset=utf-8", "", ""},
};

const char *site_list_type(const struct special *sp)
{
    return sp->number & LIST_GZIP ? "application/gzip" : forms[sp->number].type;
}

void site_list_body(const struct draft *d, const struct special *sp, struct buf *out)
{
    int kind = sp->number & ~LIST_GZIP;
    struct buf plain = {0};
    struct span rest = span_str(sp->text), path;
    buf_puts(&plain, forms[kind].before);
    while (span_split(&rest, ' ', &path))
        put_entry(d, kind, path, &plain);
    buf_puts(&plain, forms[kind].after);
    if (sp->number & LIST_GZIP)
        gzip_stored(buf_span(&plain), out);
    else
        buf_put(out, buf_span(&plain));
    buf_done(&plain);
}

void site_list_links(const struct site *site, struct buf *out)
{
    for (unsigned i = 0; i < site->special_count; i++) {
        const struct special *sp = &site->specials[i];
        if (sp->kind == SP_LIST && sp->number == LIST_TEXT)
            buf_printf(out, "<link rel=\"sitemap\" href=\"%s\">", sp->path);
        else if (sp->kind == SP_LIST && (sp->number == LIST_RSS || sp->number == LIST_ATOM))
            buf_printf(out, "<link rel=\"alternate\" type=\"%s\" href=\"%s\">", site_list_type(sp), sp->path);
    }
}
