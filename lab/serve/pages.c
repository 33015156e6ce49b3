#include "lab/serve/pages.h"

#include <stdio.h>

#include "base/rng.h"
#include "lab/serve/prose.h"

#define NEIGHBOURS 2
#define FIRST_DAY 1704067200 /* 2024-01-01: when the oldest page was written */
#define DAYS 300
#define STOCK_SENTENCES 64 /* of a site: said again and again */

enum { SEED_TEXT = 0, SEED_TAG = 1 }; /* others: PAGES_SEED_FREE and up */

static uint64_t mix(uint64_t seed, uint64_t a, uint64_t b)
{
    struct rng r;
    rng_seed(&r, seed ^ a * 0x9e3779b97f4a7c15 ^ b * 0xc2b2ae3d27d4eb4f);
    return rng_u64(&r);
}

bool pages_find(struct span path, uint32_t count, uint32_t *page)
{
    static const struct span before = SPAN_INIT("/p/"), after = SPAN_INIT(".html");
    uint64_t n;
    if (span_is(path, "/")) {
        *page = 0;
        return true;
    }
    if (!span_starts(path, before) || !span_ends(path, after) || path.n <= before.n + after.n)
        return false;
    struct span digits = span_cut(path, before.n, path.n - before.n - after.n);
    if (!span_u64(digits, UINT32_MAX, &n) || n == 0 || n >= count || digits.p[0] == '0')
        return false;
    *page = (uint32_t)n;
    return true;
}

void pages_path(uint32_t page, struct buf *out)
{
    if (page == 0)
        buf_putc(out, '/');
    else
        buf_printf(out, "/p/%u.html", page);
}

static void put_link(struct buf *out, uint32_t page)
{
    buf_puts(out, "<li><a href=\"");
    pages_path(page, out);
    buf_printf(out, "\">Page %u</a></li>\n", page);
}

static void put_links(const struct pages *p, size_t site, uint32_t page, uint32_t count, struct rng *r, struct buf *out)
{
    buf_puts(out, "<ul>\n");
    if (page)
        put_link(out, (page - 1) / PAGES_BRANCHES);
    for (uint64_t i = (uint64_t)page * PAGES_BRANCHES + 1, n = 0; n < PAGES_BRANCHES && i < count; i++, n++)
        put_link(out, (uint32_t)i);
    for (int i = 0; i < NEIGHBOURS && p->site_count > 1; i++) {
        size_t other = (site + 1 + rng_below(r, p->site_count - 1)) % p->site_count;
        struct span host = p->host(p->self, other);
        buf_printf(out, "<li><a href=\"http://%.*s", SPAN_ARG(host));
        if (p->port != 80)
            buf_printf(out, ":%d", p->port);
        buf_printf(out, "/\">%.*s</a></li>\n", SPAN_ARG(host));
    }
    if (page == 0)
        buf_puts(out, "<li><a href=\"" PAGES_FORBIDDEN "\">Private</a></li>\n");
    buf_puts(out, "</ul>\n");
}

uint64_t pages_seed(const struct pages *p, size_t site, uint32_t page, unsigned what)
{
    return mix(p->seed, site + 1, (uint64_t)page << 32 | what);
}

/* Four fifths of a page are no text, and most of that is the same in every block: what templates and scripts put into
 * pages. Of the text half is said elsewhere on the site too, as menus, notices and turns of phrase are. Six sets of
 * HTML documentation have 12 to 54 % of text, news sites' front pages about a tenth; the packages of agents have a
 * fourth to a twelfth of the documentations' text, and a fourth of this one. */
static void put_block(const struct pages *p, size_t site, unsigned number, struct rng *r, struct buf *out)
{
    uint64_t key = rng_u64(r);
    struct rng stock;
    rng_seed(&stock, pages_seed(p, site, UINT32_MAX - (uint32_t)(key % STOCK_SENTENCES), SEED_TEXT));
    buf_printf(out,
               "<div class=\"layout__row layout__row--wide\" id=\"block-%u\" data-key=\"%016llx\">\n"
               "<div class=\"article-block article-block--text u-margin-top-m\" data-track=\"view\">\n"
               "<button class=\"icon-button icon-button--share\" type=\"button\" aria-controls=\"share-%u\">"
               "<svg class=\"icon\" width=\"16\" height=\"16\" viewBox=\"0 0 16 16\" aria-hidden=\"true\">"
               "<path d=\"M13 11a2 2 0 0 0-1.6.8L6.9 9.4a2 2 0 0 0 0-1l4.5-2.3A2 2 0 1 0 11 5z\"/></svg></button>\n"
               "<p class=\"article-block__body t-serif t-size-m\">",
               number, (unsigned long long)key, number);
    prose_sentence(r, out);
    prose_sentence(&stock, out);
    buf_puts(out, "</p>\n</div>\n</div>\n");
}

/* Links stay as they are when the text changes. */
void pages_write(const struct pages *p, const struct page *page, struct buf *out)
{
    struct rng r;
    struct span host = p->host(p->self, page->site);
    size_t start = out->n;
    rng_seed(&r, pages_seed(p, page->site, page->number, SEED_TEXT));
    buf_printf(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>Page %u of %.*s</title></head>\n"
        "<body>\n<h1>Page %u of %.*s</h1>\n",
        page->number, SPAN_ARG(host), page->number, SPAN_ARG(host));
    put_links(p, page->site, page->number, page->count, &r, out);
    if (page->version)
        rng_seed(&r, mix(p->seed, page->version, pages_seed(p, page->site, page->number, SEED_TEXT)));
    for (unsigned n = 1; n == 1 || out->n - start + 20 < page->bytes; n++)
        put_block(p, page->site, n, &r, out);
    buf_puts(out, "</body>\n</html>\n");
}

void pages_tag(const struct pages *p, const struct page *page, char tag[PAGES_TAG])
{
    uint64_t v = pages_seed(p, page->site, page->number, SEED_TAG);
    if (page->version)
        v = mix(p->seed, page->version, v);
    snprintf(tag, PAGES_TAG, "\"%016llx\"", (unsigned long long)v);
}

int64_t pages_written_s(const struct pages *p, size_t site, uint32_t page)
{
    uint64_t v = pages_seed(p, site, page, SEED_TAG);
    return FIRST_DAY + (int64_t)(v % ((uint64_t)DAYS * 86400));
}
