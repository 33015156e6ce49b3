#include "web/content.h"

#include "base/pack.h"

#define ANCHORS_MAX FACTS_LINKS_MAX
#define URL_TEXT_MAX 8192

void content_pack(const struct content *c, struct buf *out)
{
    pack_u8(out, CONTENT_VERSION);
    pack_text(out, c->url);
    pack_text(out, c->title);
    pack_text(out, c->description);
    pack_text(out, c->canonical);
    pack_text(out, c->lang);
    pack_u64(out, c->digest);
    pack_var(out, (uint64_t)c->fetched);
    pack_var(out, (uint64_t)c->changed);
    pack_var(out, c->page_flags);
    pack_text(out, c->text);
    pack_var(out, c->heading_count);
    for (size_t i = 0; i < c->heading_count; i++) {
        pack_u8(out, c->headings[i].level);
        pack_text(out, c->headings[i].text);
    }
    pack_var(out, c->anchor_count);
    for (size_t i = 0; i < c->anchor_count; i++) {
        pack_text(out, c->anchors[i].url);
        pack_text(out, c->anchors[i].text);
    }
}

static void unpack_headings(struct arena *a, struct unpack *u, struct content *c)
{
    uint64_t n = unpack_var(u);
    if (n > FACTS_HEADINGS_MAX)
        u->bad = true;
    if (u->bad || !n)
        return;
    struct fact_heading *h = arena_alloc(a, (size_t)n * sizeof(*h));
    for (uint64_t i = 0; i < n && !u->bad; i++) {
        h[i].level = unpack_u8(u);
        h[i].text = unpack_text(u, CONTENT_BYTES_MAX);
    }
    c->headings = h;
    c->heading_count = (size_t)n;
}

static void unpack_anchors(struct arena *a, struct unpack *u, struct content *c)
{
    uint64_t n = unpack_var(u);
    if (n > ANCHORS_MAX)
        u->bad = true;
    if (u->bad || !n)
        return;
    struct content_anchor *x = arena_alloc(a, (size_t)n * sizeof(*x));
    for (uint64_t i = 0; i < n && !u->bad; i++) {
        x[i].url = unpack_text(u, URL_TEXT_MAX);
        x[i].text = unpack_text(u, FACTS_ANCHOR_MAX);
    }
    c->anchors = x;
    c->anchor_count = (size_t)n;
}

status content_unpack(struct arena *a, struct span packed, struct content *out)
{
    struct unpack u = unpack_of(packed);
    struct content c = {0};
    uint8_t version = unpack_u8(&u);
    if (!u.bad && version > CONTENT_VERSION)
        return ST_NEWER;
    if (version == 0)
        return ST_CORRUPT;
    c.url = unpack_text(&u, URL_TEXT_MAX);
    c.title = unpack_text(&u, CONTENT_BYTES_MAX);
    c.description = unpack_text(&u, CONTENT_BYTES_MAX);
    c.canonical = unpack_text(&u, URL_TEXT_MAX);
    c.lang = unpack_text(&u, CONTENT_BYTES_MAX);
    c.digest = unpack_u64(&u);
    c.fetched = (wall_ms)unpack_var(&u);
    c.changed = (wall_ms)unpack_var(&u);
    uint64_t flags = unpack_var(&u);
    c.page_flags = (uint16_t)flags;
    c.text = unpack_text(&u, CONTENT_BYTES_MAX);
    unpack_headings(a, &u, &c);
    unpack_anchors(a, &u, &c);
    if (u.bad || flags > UINT16_MAX || !unpack_at_end(&u))
        return ST_CORRUPT;
    *out = c;
    return ST_OK;
}
