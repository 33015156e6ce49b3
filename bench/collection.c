#include "collection.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/siphash.h"
#include "html_files.h"
#include "store/file.h"
#include "web/charset.h"
#include "web/lang.h"
#include "web/url.h"

#define PAGE_BYTES_MAX (32u << 20)

/* A link to another page; its target may turn out to be none of ours. */
struct seen_link {
    uint64_t to, text_key;
    uint32_t from;
    struct span text;
};

struct reader {
    struct collection *c;
    collection_skip_fn *skip;
    struct span site;
    struct seen_link *links; /* owned */
    size_t link_count, link_cap;
    struct arena work;
    struct buf bytes;
};

uint64_t collection_key(struct span url)
{
    static const struct sip_key key = {0x6f7262, 0x77656176};
    return siphash(&key, url);
}

const struct page *collection_find(const struct collection *c, struct span url)
{
    return table_get(&c->by_key, collection_key(url));
}

static uint64_t text_key(struct arena *a, struct span text)
{
    char *p = arena_bytes(a, text.n);
    for (size_t i = 0; i < text.n; i++)
        p[i] = ascii_lower(text.p[i]);
    return collection_key(span_of(p, text.n));
}

static void keep_links(struct reader *r, const struct facts *f, const struct url *base, uint32_t from)
{
    for (size_t i = 0; i < f->link_count; i++) {
        struct url u;
        struct span text = span_trim(f->links[i].text);
        if (f->links[i].kind != LINK_A || url_parse(&r->work, f->links[i].href, base, &u) != ST_OK)
            continue;
        struct span href = u.href;
        if (u.has_fragment)
            href.n -= u.fragment.n + 1;
        r->links = mem_grow(r->links, &r->link_cap, r->link_count + 1, sizeof(*r->links));
        r->links[r->link_count++] =
            (struct seen_link){collection_key(href), text_key(&r->work, text), from, arena_copy(&r->c->arena, text)};
    }
}

static void keep_page(struct reader *r, const struct facts *f, const struct url *u)
{
    struct collection *c = r->c;
    struct arena *a = &c->arena;
    c->pages = mem_grow(c->pages, &c->cap, c->count + 1, sizeof(*c->pages));
    struct page *p = &c->pages[c->count++];
    *p = (struct page){.key = collection_key(u->href),
                       .url = arena_copy(a, u->href),
                       .site = r->site,
                       .lang = span_str(lang_detect(f->text, f->lang)),
                       .title = arena_copy(a, f->title),
                       .description = arena_copy(a, f->description),
                       .text = arena_copy(a, f->text),
                       .headings = arena_alloc(a, f->heading_count * sizeof(struct fact_heading) + 1),
                       .heading_count = f->heading_count,
                       .page_flags = f->page_flags,
                       .digest = f->digest};
    for (size_t i = 0; i < f->heading_count; i++)
        p->headings[i] = (struct fact_heading){f->headings[i].level, arena_copy(a, f->headings[i].text)};
    c->text_bytes += p->text.n;
}

static void read_page(void *arg, const char *path, const struct stat *st, struct span under)
{
    struct reader *r = arg;
    static const struct facts_opts opts = {.keep_text = true, .keep_anchors = true};
    struct charset_result decoded;
    struct facts facts;
    struct url u, base;
    char address[4096];
    if (r->skip && r->skip(r->site, under))
        return;
    snprintf(address, sizeof(address), "http://%.*s/%.*s", SPAN_ARG(r->site), SPAN_ARG(under));
    arena_reset(&r->work);
    buf_clear(&r->bytes);
    if (file_read(path, PAGE_BYTES_MAX, &r->bytes) != ST_OK ||
        charset_decode(&r->work, buf_span(&r->bytes), (struct span){0}, true, PAGE_BYTES_MAX, &decoded) != ST_OK ||
        url_parse(&r->work, span_str(address), NULL, &u) != ST_OK)
        return;
    facts_collect(&r->work, decoded.text, &opts, &facts);
    if (!facts.base.n || url_parse(&r->work, facts.base, &u, &base) != ST_OK)
        base = u;
    keep_links(r, &facts, &base, (uint32_t)r->c->count);
    keep_page(r, &facts, &u);
}

/* By target, then text, then source. */
static int by_target(const void *a, const void *b)
{
    const struct seen_link *x = a, *y = b;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    if (x->text_key != y->text_key)
        return x->text_key < y->text_key ? -1 : 1;
    return (x->from > y->from) - (x->from < y->from);
}

static int by_source(const void *a, const void *b)
{
    const struct seen_link *x = a, *y = b;
    return (x->from > y->from) - (x->from < y->from);
}

struct anchor {
    struct span text;
    uint32_t count;
};

static int by_count(const void *a, const void *b)
{
    const struct anchor *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return span_cmp(x->text, y->text);
}

/* All links to one page: texts by how often they are used, and the pages that they come from. */
static void name_page(struct reader *r, struct page *p, struct seen_link *links, size_t n)
{
    struct anchor *texts = mem_alloc(n * sizeof(*texts));
    struct buf b = {0};
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        bool is_same = i && links[i].text_key == links[i - 1].text_key;
        if (is_same && links[i].text.n && links[i].from != links[i - 1].from)
            texts[count - 1].count++;
        else if (!is_same && links[i].text.n)
            texts[count++] = (struct anchor){links[i].text, 1};
    }
    qsort(texts, count, sizeof(*texts), by_count);
    for (size_t i = 0; i < count && b.n + texts[i].text.n < COLLECTION_ANCHORS_MAX; i++) {
        if (i)
            buf_putc(&b, '\n');
        buf_put(&b, texts[i].text);
    }
    p->anchors = arena_copy(&r->c->arena, buf_span(&b));
    qsort(links, n, sizeof(*links), by_source);
    for (size_t i = 0; i < n; i++) {
        if (i && links[i].from == links[i - 1].from)
            continue;
        bool is_own = span_eq(r->c->pages[links[i].from].site, p->site);
        p->votes += is_own;
        p->foreign_votes += !is_own;
    }
    buf_done(&b);
    free(texts);
}

static void name_pages(struct reader *r)
{
    struct collection *c = r->c;
    for (size_t i = 0; i < c->count; i++)
        table_put(&c->by_key, c->pages[i].key, &c->pages[i]);
    size_t kept = 0;
    for (size_t i = 0; i < r->link_count; i++) {
        const struct page *p = table_get(&c->by_key, r->links[i].to);
        if (p && p != &c->pages[r->links[i].from])
            r->links[kept++] = r->links[i];
    }
    if (kept)
        qsort(r->links, kept, sizeof(*r->links), by_target);
    for (size_t at = 0, end; at < kept; at = end) {
        for (end = at + 1; end < kept && r->links[end].to == r->links[at].to;)
            end++;
        name_page(r, table_get(&c->by_key, r->links[at].to), &r->links[at], end - at);
    }
}

status collection_read(const char *sites, const char *const *names, size_t name_count, collection_skip_fn *skip,
                       struct collection **out)
{
    struct collection *c = mem_alloc(sizeof(*c));
    struct reader r = {.c = c, .skip = skip};
    arena_init(&c->arena);
    arena_init(&r.work);
    for (size_t i = 0; i < name_count; i++) {
        char root[4096], site[256];
        snprintf(root, sizeof(root), "%s/%s", sites, names[i]);
        snprintf(site, sizeof(site), "%s.example", names[i]);
        r.site = arena_copy(&c->arena, span_str(site));
        html_files_each(root, read_page, &r);
    }
    name_pages(&r);
    free(r.links);
    buf_done(&r.bytes);
    arena_done(&r.work);
    if (!c->count) {
        collection_free(c);
        return ST_NOT_FOUND;
    }
    *out = c;
    return ST_OK;
}

void collection_free(struct collection *c)
{
    if (!c)
        return;
    table_done(&c->by_key);
    arena_done(&c->arena);
    free(c->pages);
    free(c);
}
