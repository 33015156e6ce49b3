#include "lab/serve/sitemap.h"

#include <time.h>

#include "lab/serve/pages.h"

#define NAMESPACE " xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n"

static void put_origin(const struct sitemap *s, struct buf *out)
{
    buf_puts(out, "http://");
    buf_put(out, s->host);
    if (s->port != 80)
        buf_printf(out, ":%d", s->port);
}

static void put_page(const struct sitemap *s, uint32_t page, struct buf *out)
{
    time_t t = (time_t)s->modified_s(s->self, page);
    struct tm tm;
    char date[32];
    gmtime_r(&t, &tm);
    strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", &tm);
    buf_puts(out, "<url><loc>");
    put_origin(s, out);
    pages_path(page, out);
    buf_puts(out, "</loc><lastmod>");
    buf_puts(out, date);
    buf_puts(out, "</lastmod></url>\n");
}

static void put_part(const struct sitemap *s, uint32_t part, struct buf *out)
{
    uint64_t from = (uint64_t)part * SITEMAP_URLS, to = from + SITEMAP_URLS;
    buf_puts(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset" NAMESPACE);
    for (uint64_t i = from; i < to && i < s->count; i++)
        put_page(s, (uint32_t)i, out);
    buf_puts(out, "</urlset>\n");
}

static void put_index(const struct sitemap *s, uint32_t parts, struct buf *out)
{
    buf_puts(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<sitemapindex" NAMESPACE);
    for (uint32_t i = 1; i <= parts; i++) {
        buf_puts(out, "<sitemap><loc>");
        put_origin(s, out);
        buf_printf(out, "/sitemap-%u.xml</loc></sitemap>\n", i);
    }
    buf_puts(out, "</sitemapindex>\n");
}

bool sitemap_write(const struct sitemap *s, struct span path, struct buf *out)
{
    static const struct span before = SPAN_INIT("/sitemap-"), after = SPAN_INIT(".xml");
    uint32_t parts = (s->count + SITEMAP_URLS - 1) / SITEMAP_URLS;
    uint64_t n;
    if (span_is(path, "/sitemap.xml")) {
        if (parts > 1)
            put_index(s, parts, out);
        else
            put_part(s, 0, out);
        return true;
    }
    if (parts < 2 || !span_starts(path, before) || !span_ends(path, after) || path.n <= before.n + after.n)
        return false;
    struct span digits = span_cut(path, before.n, path.n - before.n - after.n);
    if (digits.p[0] == '0' || !span_u64(digits, parts, &n))
        return false;
    put_part(s, (uint32_t)n - 1, out);
    return true;
}

void sitemap_robots(const struct sitemap *s, struct buf *out)
{
    buf_puts(out, "User-agent: *\nDisallow: /private/\n\nSitemap: ");
    put_origin(s, out);
    buf_puts(out, "/sitemap.xml\n");
}
