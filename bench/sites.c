#include "sites.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/siphash.h"
#include "base/table.h"
#include "html_files.h"
#include "store/file.h"
#include "web/charset.h"
#include "web/lang.h"
#include "web/url.h"

#define PAGE_BYTES_MAX (32u << 20)
#define FIRST_VISIT INT64_C(1700000000000)

struct reader {
    struct site *site;
    const char *name;
    bool keeps_html;
    struct arena work;
    struct buf bytes;
    struct table said; /* (target, text) that were sent */
    struct rng rng;
    wall_ms now;
};

static uint64_t key_of(struct span s)
{
    static const struct sip_key key = {1, 2};
    return siphash(&key, s);
}

static bool is_first(struct reader *r, uint64_t key)
{
    static char there;
    if (table_get(&r->said, key))
        return false;
    table_put(&r->said, key, &there);
    return true;
}

static void keep_links(struct reader *r, const struct facts *f, const struct url *base, struct summary *s)
{
    struct arena *a = &r->site->arena;
    struct summary_link *links = arena_alloc(a, f->link_count * sizeof(*links) + 1);
    for (size_t i = 0; i < f->link_count; i++) {
        const struct fact_link *l = &f->links[i];
        struct url u;
        if (l->kind > LINK_FRAME || !l->href.n || l->href.p[0] == '#' ||
            url_parse(&r->work, l->href, base, &u) != ST_OK)
            continue;
        struct span href = u.href;
        if (u.has_fragment)
            href.n -= u.fragment.n + 1;
        bool is_foreign = !span_eq(u.host, base->host) && span_starts(href, SPAN("http"));
        bool is_own = span_eq(u.host, base->host);
        if ((!is_own && !is_foreign) || (is_own && !l->text.n) ||
            !is_first(r, key_of(href) * 3 ^ (l->text.n ? key_of(l->text) : 0)))
            continue;
        links[s->link_count++] = (struct summary_link){.url = arena_copy(a, href),
                                                       .text = arena_copy(a, l->text),
                                                       .kind = l->kind,
                                                       .rel = l->rel,
                                                       .flags = is_foreign ? SUMMARY_LINK_FOREIGN : 0,
                                                       .depth = (uint16_t)(s->depth + 1)};
    }
    s->links = links;
}

static void keep_headings(struct arena *a, const struct facts *f, struct summary *s)
{
    struct fact_heading *h = arena_alloc(a, f->heading_count * sizeof(*h) + 1);
    for (size_t i = 0; i < f->heading_count; i++)
        h[i] = (struct fact_heading){f->headings[i].level, arena_copy(a, f->headings[i].text)};
    s->headings = h;
    s->heading_count = f->heading_count;
}

/* What the server says besides the page, as nginx would. */
static void add_answer(struct reader *r, const struct stat *st, struct summary *s)
{
    struct arena *a = &r->site->arena;
    char text[64];
    struct tm tm;
    snprintf(text, sizeof(text), "\"%llx-%llx\"", (unsigned long long)st->st_mtime, (unsigned long long)st->st_size);
    s->etag = arena_copy(a, span_str(text));
    gmtime_r(&st->st_mtime, &tm);
    strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S GMT", &tm);
    s->last_modified = arena_copy(a, span_str(text));
    r->now += 100 + (wall_ms)rng_below(&r->rng, 100);
    s->at = r->now;
    s->http_status = 200;
    s->is_html = true;
    s->content_type = SPAN("text/html");
    s->address = SPAN("192.0.2.80");
    s->dns_us = s->connect_us = s->tls_us = 0;
    s->first_byte_us = 20000 + (int32_t)rng_below(&r->rng, 5000);
    s->total_us = s->first_byte_us + (int32_t)rng_below(&r->rng, 3000);
    s->body_bytes = (uint64_t)st->st_size;
    s->wire_bytes = s->body_bytes / 4 + rng_below(&r->rng, 500);
}

static void read_page(void *arg, const char *path, const struct stat *st, struct span under)
{
    struct reader *r = arg;
    static const struct facts_opts opts = {.keep_text = true, .keep_anchors = true};
    struct site *site = r->site;
    struct charset_result decoded;
    struct facts facts;
    struct url u, base;
    char address[4096];
    snprintf(address, sizeof(address), "http://%s.example/%.*s", r->name, SPAN_ARG(under));
    arena_reset(&r->work);
    buf_clear(&r->bytes);
    if (file_read(path, PAGE_BYTES_MAX, &r->bytes) != ST_OK ||
        charset_decode(&r->work, buf_span(&r->bytes), (struct span){0}, true, PAGE_BYTES_MAX, &decoded) != ST_OK ||
        url_parse(&r->work, span_str(address), NULL, &u) != ST_OK)
        return;
    facts_collect(&r->work, decoded.text, &opts, &facts);
    if (!facts.base.n || url_parse(&r->work, facts.base, &u, &base) != ST_OK)
        base = u;
    struct arena *a = &site->arena;
    struct summary s = {.url = arena_copy(a, u.href),
                        .charset = span_str(decoded.name),
                        .lang = span_str(lang_detect(facts.text, facts.lang)),
                        .title = arena_copy(a, facts.title),
                        .description = arena_copy(a, facts.description),
                        .text = arena_copy(a, facts.text),
                        .text_bytes = facts.text_bytes,
                        .page_flags = (uint16_t)facts.page_flags,
                        .digest = facts.digest};
    for (size_t i = 0; i < under.n; i++)
        s.depth += under.p[i] == '/';
    keep_headings(a, &facts, &s);
    keep_links(r, &facts, &base, &s);
    add_answer(r, st, &s);
    site->html_bytes += decoded.text.n;
    site->text_bytes += facts.text.n;
    if (r->keeps_html) {
        site->html = mem_grow(site->html, &site->html_cap, site->count + 1, sizeof(*site->html));
        site->html[site->count] = arena_copy(a, decoded.text);
    }
    site->visits = mem_grow(site->visits, &site->cap, site->count + 1, sizeof(*site->visits));
    site->visits[site->count++] = s;
}

status site_read(const char *sites, const char *name, bool keeps_html, struct site **out)
{
    char root[4096];
    struct reader r = {.site = mem_alloc(sizeof(*r.site)), .name = name, .keeps_html = keeps_html, .now = FIRST_VISIT};
    snprintf(root, sizeof(root), "%s/%s", sites, name);
    arena_init(&r.site->arena);
    arena_init(&r.work);
    rng_seed(&r.rng, 1);
    html_files_each(root, read_page, &r);
    table_done(&r.said);
    buf_done(&r.bytes);
    arena_done(&r.work);
    if (!r.site->count) {
        site_free(r.site);
        return ST_NOT_FOUND;
    }
    *out = r.site;
    return ST_OK;
}

void site_free(struct site *s)
{
    if (!s)
        return;
    arena_done(&s->arena);
    free(s->visits);
    free(s->html);
    free(s);
}
