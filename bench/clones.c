#include "clones.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/table.h"
#include "codec/digest.h"

static const char *const names[] = {"apache2-doc",  "cppreference-doc-en-html", "debian-handbook",
                                    "libgtk-4-doc", "postgresql-doc-15",        "python3.11-doc"};
#define SITES (sizeof(names) / sizeof(names[0]))

struct clones {
    size_t hosts, each;
    struct site *sites[SITES];
    const struct summary **row; /* owned array */
    size_t count;
    struct table by_path; /* digest of "site.example/path" -> summary */
};

static const struct span scheme = SPAN_INIT("http://");

/* "http://HOST/PATH" without its scheme. */
static struct span tail_of(struct span url)
{
    return span_starts(url, scheme) ? span_from(url, scheme.n) : url;
}

status clones_read(const char *sites, size_t hosts, size_t each, struct clones **out)
{
    struct clones *c = mem_alloc(sizeof(*c));
    status st = ST_OK;
    c->hosts = hosts;
    c->each = each;
    for (size_t i = 0; i < SITES && st == ST_OK; i++) {
        st = site_read(sites, names[i], false, &c->sites[i]);
        c->count += st == ST_OK ? c->sites[i]->count : 0;
    }
    if (st != ST_OK) {
        clones_free(c);
        return st;
    }
    c->row = mem_alloc(c->count * sizeof(*c->row));
    size_t n = 0;
    for (size_t i = 0; i < SITES; i++)
        for (size_t k = 0; k < c->sites[i]->count; k++) {
            struct summary *s = &c->sites[i]->visits[k];
            c->row[n++] = s;
            table_put(&c->by_path, digest_blake2b64(tail_of(s->url)), s);
        }
    *out = c;
    return ST_OK;
}

void clones_free(struct clones *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < SITES; i++)
        site_free(c->sites[i]);
    table_done(&c->by_path);
    free(c->row);
    free(c);
}

void clones_host(size_t host, char name[CLONES_NAME_MAX])
{
    snprintf(name, CLONES_NAME_MAX, "s%04zu.example", host);
}

/* Each host in a network of its own, out of the range that is for benchmarks (RFC 2544). */
void clones_address(size_t host, char name[CLONES_NAME_MAX])
{
    snprintf(name, CLONES_NAME_MAX, "198.%zu.%zu.1", 18 + host / 256 % 2, host % 256);
}

/* The old host becomes the first folder of the path: two sites on one host stay apart. */
static struct span move_to(struct arena *a, const char *host, struct span url)
{
    struct span tail = tail_of(url);
    char *p = arena_bytes(a, scheme.n + strlen(host) + 1 + tail.n);
    int n = sprintf(p, "http://%s/", host);
    memcpy(p + n, tail.p, tail.n);
    return span_of(p, (size_t)n + tail.n);
}

void clones_page(const struct clones *c, struct arena *a, size_t host, size_t i, struct summary *out)
{
    const struct summary *from = c->row[(host * c->each + i) % c->count];
    char name[CLONES_NAME_MAX], address[CLONES_NAME_MAX];
    clones_host(host, name);
    clones_address(host, address);
    *out = *from;
    out->url = move_to(a, name, from->url);
    out->address = arena_copy(a, span_str(address));
    if (out->canonical.n)
        out->canonical = out->url;
    struct summary_link *links = arena_alloc(a, (from->link_count + 1) * sizeof(*links));
    for (size_t k = 0; k < from->link_count; k++) {
        links[k] = from->links[k];
        if (!(links[k].flags & SUMMARY_LINK_FOREIGN))
            links[k].url = move_to(a, name, links[k].url);
    }
    out->links = links;
}

const struct summary *clones_find(const struct clones *c, struct span url)
{
    struct span tail = tail_of(url);
    return table_get(&c->by_path, digest_blake2b64(span_from(tail, span_find(tail, '/', 0) + 1)));
}
