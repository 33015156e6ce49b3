#include "sample/live.h"

#include <math.h>

#include "base/rng.h"
#include "sample/words.h"

#define HOST_PREFIX "live"
#define HOST_SUFFIX ".example"
#define PAGE_BYTES 1200

void live_host(unsigned host, struct buf *out)
{
    buf_printf(out, HOST_PREFIX "%u" HOST_SUFFIX, host);
}

bool live_find_host(const struct live *l, struct span name, unsigned *out)
{
    struct span prefix = SPAN(HOST_PREFIX), suffix = SPAN(HOST_SUFFIX);
    uint64_t v;
    if (l->hosts == 0 || !span_starts(name, prefix) || !span_ends(name, suffix) || name.n <= prefix.n + suffix.n)
        return false;
    if (!span_u64(span_cut(name, prefix.n, name.n - prefix.n - suffix.n), l->hosts - 1, &v))
        return false;
    *out = (unsigned)v;
    return true;
}

void live_path(unsigned page, struct buf *out)
{
    if (page)
        buf_printf(out, "/%u.html", page);
    else
        buf_puts(out, "/");
}

bool live_find(const struct live *l, struct span target, unsigned *out)
{
    for (unsigned page = 0; page < l->pages; page++) {
        struct buf path = {0};
        live_path(page, &path);
        bool is_it = span_eq(buf_span(&path), target);
        buf_done(&path);
        if (is_it) {
            *out = page;
            return true;
        }
    }
    return false;
}

static void seed_page(const struct live *l, unsigned host, unsigned page, uint64_t salt, struct rng *r)
{
    rng_seed(r, l->seed ^ ((uint64_t)host * LIVE_PAGES_MAX + page + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ salt);
}

unsigned live_edition(const struct live *l, unsigned host, unsigned page, int64_t at_us, struct buf *times)
{
    double mean_us = (double)l->gap_ms * 1000 * (double)(1u << host % LIVE_SPEEDS), t = 0;
    struct rng r;
    seed_page(l, host, page, 0, &r);
    for (unsigned n = 0;; n++) {
        t -= mean_us * log1p(-rng_unit(&r));
        if ((double)(at_us - l->start_us) < t || n == LIVE_CHANGES_MAX)
            return n;
        if (times)
            buf_printf(times, n ? " %lld" : "%lld", (long long)(l->start_us + (int64_t)t));
    }
}

void live_page(const struct live *l, unsigned host, unsigned page, unsigned edition, struct buf *out)
{
    const struct words *w = words_of("en");
    size_t start = out->n;
    struct rng r;
    seed_page(l, host, page, (uint64_t)(edition + 1) << 40, &r);
    buf_printf(out,
               "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Edition %u of page %u, live %u"
               "</title></head>\n<body><h1>Page %u</h1>\n<ul>\n",
               edition, page, host, page);
    for (unsigned i = 0; i < l->pages; i++) {
        buf_puts(out, "<li><a href=\"");
        live_path(i, out);
        buf_printf(out, "\">Page %u</a>\n", i);
    }
    buf_printf(out, "</ul>\n<p>This is edition %u.</p>\n<p>", edition);
    while (out->n - start < PAGE_BYTES) {
        words_paragraph(w, &r, 400, out);
        buf_puts(out, "</p>\n<p>");
    }
    buf_puts(out, "</p></body></html>\n");
}
