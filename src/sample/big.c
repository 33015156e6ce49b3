#include "sample/big.h"

#include "base/rng.h"
#include "sample/words.h"

#define BIG_CHILDREN 8
#define BIG_RANDOM_LINKS 11
#define BIG_PAGE_BYTES 3000

/* printf costs more than the rest of a page. */
static void put_number(struct buf *out, unsigned v)
{
    char digits[10];
    size_t n = 0;
    do {
        digits[n++] = (char)('0' + v % 10);
    } while ((v /= 10) != 0);
    while (n > 0)
        buf_putc(out, digits[--n]);
}

void big_host(unsigned host, struct buf *out)
{
    buf_puts(out, "big");
    put_number(out, host);
    buf_puts(out, ".example");
}

bool big_find_host(const struct big *b, struct span name, unsigned *out)
{
    struct span suffix = SPAN(".example");
    uint64_t v;
    if (b->pages == 0 || !span_starts(name, SPAN("big")) || !span_ends(name, suffix))
        return false;
    if (!span_u64(span_cut(name, 3, name.n - 3 - suffix.n), b->hosts - 1, &v))
        return false;
    *out = (unsigned)v;
    return true;
}

void big_url(const struct big *b, unsigned page, struct buf *out)
{
    buf_puts(out, "http://");
    big_host(page % b->hosts, out);
    buf_putc(out, ':');
    put_number(out, (unsigned)b->port);
    buf_puts(out, "/p/");
    put_number(out, page);
    buf_puts(out, ".html");
}

static void put_link(const struct big *b, unsigned from, unsigned to, struct buf *out)
{
    buf_puts(out, "<li><a href=\"");
    if (to % b->hosts == from % b->hosts) {
        put_number(out, to);
        buf_puts(out, ".html");
    } else {
        big_url(b, to, out);
    }
    buf_puts(out, "\">Page ");
    put_number(out, to);
    buf_puts(out, "</a>\n");
}

bool big_page(const struct big *b, unsigned host, struct span target, struct buf *out)
{
    uint64_t v;
    if (!span_starts(target, SPAN("/p/")) || !span_ends(target, SPAN(".html")) || target.n < 9)
        return false;
    if (!span_u64(span_cut(target, 3, target.n - 8), b->pages - 1, &v) || v % b->hosts != host)
        return false;
    unsigned page = (unsigned)v;
    struct rng r;
    rng_seed(&r, b->seed ^ (v * 0x9e3779b97f4a7c15u));
    const struct words *w = words_of("en");
    size_t start = out->n;

    buf_puts(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Page ");
    put_number(out, page);
    buf_puts(out, ": ");
    buf_put(out, words_title(w, &r));
    buf_puts(out, "</title></head>\n<body><h1>");
    buf_put(out, words_title(w, &r));
    buf_puts(out, "</h1>\n<ul>\n");
    put_link(b, page, 0, out);
    for (uint64_t i = 1; i <= BIG_CHILDREN && v * BIG_CHILDREN + i < b->pages; i++)
        put_link(b, page, (unsigned)(v * BIG_CHILDREN + i), out);
    for (int i = 0; i < BIG_RANDOM_LINKS; i++)
        put_link(b, page, (unsigned)rng_below(&r, b->pages), out);
    buf_puts(out, "</ul>\n<p>");
    while (out->n - start < BIG_PAGE_BYTES) {
        words_paragraph(w, &r, 400, out);
        buf_puts(out, "</p>\n<p>");
    }
    buf_puts(out, "</p></body></html>\n");
    return true;
}
