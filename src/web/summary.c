#include "web/summary.h"

#include "base/pack.h"
#include "web/date.h"

#define VERSION_OLDEST 1
#define VERSION_PLAIN 2 /* without a capture */
#define URL_TEXT_MAX 8192

enum { IS_REFUSED = 1, IS_HTML = 2, IS_KNOWN = 4, IS_KEYWORDS = 8 };

/* The text fields in their order on disk. */
#define TEXTS(X) \
    X(url)       \
    X(address)   \
    X(reason)    \
    X(content_type) X(charset) X(lang) X(title) X(description) X(canonical) X(etag) X(last_modified) X(redirect) X(text)

static void pack_us(struct buf *out, int32_t us)
{
    pack_var(out, us < 0 ? 0 : (uint64_t)us + 1);
}

static int32_t unpack_us(struct unpack *u)
{
    uint64_t v = unpack_var(u);
    if (v > INT32_MAX) {
        u->bad = true;
        return -1;
    }
    return (int32_t)v - 1;
}

wall_ms summary_modified(const struct summary *s)
{
    wall_ms at;
    return s->last_modified.n && date_read(s->last_modified, &at) && at > 0 && at <= s->at ? at : 0;
}

void summary_pack(const struct summary *s, struct buf *out)
{
    pack_u8(out, s->capture.n ? SUMMARY_VERSION : VERSION_PLAIN);
    pack_var(out, s->fetch_number);
    pack_u64(out, s->channel);
    pack_var(out, (uint64_t)s->at);
    pack_u8(out, (uint8_t)((s->is_refused ? IS_REFUSED : 0) | (s->is_html ? IS_HTML : 0) |
                           (s->is_known ? IS_KNOWN : 0) | (s->is_keywords ? IS_KEYWORDS : 0)));
    pack_u8(out, s->failure);
    pack_var(out, s->http_status);
    pack_var(out, s->depth);
    pack_var(out, s->hops);
    pack_var(out, s->page_flags);
    pack_u64(out, s->digest);
    pack_var(out, s->body_bytes);
    pack_var(out, s->wire_bytes);
    pack_var(out, s->text_bytes);
    pack_us(out, s->dns_us);
    pack_us(out, s->connect_us);
    pack_us(out, s->tls_us);
    pack_us(out, s->first_byte_us);
    pack_us(out, s->total_us);
#define PUT(field) pack_text(out, s->field);
    TEXTS(PUT)
#undef PUT
    pack_var(out, s->heading_count);
    for (size_t i = 0; i < s->heading_count; i++) {
        pack_u8(out, s->headings[i].level);
        pack_text(out, s->headings[i].text);
    }
    pack_var(out, s->link_count);
    for (size_t i = 0; i < s->link_count; i++) {
        const struct summary_link *l = &s->links[i];
        pack_u8(out, l->kind);
        pack_u8(out, l->rel);
        pack_u8(out, l->flags);
        pack_u8(out, l->hops);
        pack_var(out, l->depth);
        pack_u64(out, l->key);
        pack_text(out, l->url);
        pack_text(out, l->text);
    }
    pack_var(out, s->field_count);
    for (size_t i = 0; i < s->field_count; i++) {
        pack_text(out, s->fields[i].name);
        pack_text(out, s->fields[i].value);
    }
    if (s->capture.n)
        pack_text(out, s->capture);
}

static uint16_t unpack_u16(struct unpack *u)
{
    uint64_t v = unpack_var(u);
    if (v > UINT16_MAX)
        u->bad = true;
    return (uint16_t)v;
}

static void unpack_headings(struct arena *a, struct unpack *u, struct summary *s)
{
    uint64_t n = unpack_var(u);
    if (n > FACTS_HEADINGS_MAX)
        u->bad = true;
    if (u->bad || !n)
        return;
    struct fact_heading *h = arena_alloc(a, (size_t)n * sizeof(*h));
    for (uint64_t i = 0; i < n; i++) {
        h[i].level = unpack_u8(u);
        h[i].text = unpack_text(u, SUMMARY_BYTES_MAX);
    }
    s->headings = h;
    s->heading_count = (size_t)n;
}

static void unpack_links(struct arena *a, struct unpack *u, struct summary *s)
{
    uint64_t n = unpack_var(u);
    if (n > SUMMARY_LINKS_MAX)
        u->bad = true;
    if (u->bad || !n)
        return;
    struct summary_link *l = arena_alloc(a, (size_t)n * sizeof(*l));
    for (uint64_t i = 0; i < n && !u->bad; i++) {
        l[i].kind = unpack_u8(u);
        l[i].rel = unpack_u8(u);
        l[i].flags = unpack_u8(u);
        l[i].hops = unpack_u8(u);
        l[i].depth = unpack_u16(u);
        l[i].key = unpack_u64(u);
        l[i].url = unpack_text(u, URL_TEXT_MAX);
        l[i].text = unpack_text(u, FACTS_ANCHOR_MAX);
    }
    s->links = l;
    s->link_count = (size_t)n;
}

static void unpack_fields(struct arena *a, struct unpack *u, struct summary *s)
{
    uint64_t n = unpack_var(u);
    if (n > SUMMARY_FIELDS_MAX)
        u->bad = true;
    if (u->bad || !n)
        return;
    struct summary_field *f = arena_alloc(a, (size_t)n * sizeof(*f));
    for (uint64_t i = 0; i < n; i++) {
        f[i].name = unpack_text(u, SUMMARY_FIELD_NAME_MAX);
        f[i].value = unpack_text(u, SUMMARY_FIELD_VALUE_MAX);
    }
    s->fields = f;
    s->field_count = (size_t)n;
}

status summary_unpack(struct arena *a, struct span packed, struct summary *out)
{
    struct unpack u = unpack_of(packed);
    struct summary s = {0};
    uint8_t version = unpack_u8(&u);
    if (version < VERSION_OLDEST || version > SUMMARY_VERSION)
        return u.bad ? ST_CORRUPT : ST_NEWER;
    s.fetch_number = unpack_var(&u);
    s.channel = unpack_u64(&u);
    s.at = (wall_ms)unpack_var(&u);
    uint8_t flags = unpack_u8(&u);
    s.is_refused = flags & IS_REFUSED;
    s.is_html = flags & IS_HTML;
    s.is_known = flags & IS_KNOWN;
    s.is_keywords = flags & IS_KEYWORDS;
    s.failure = unpack_u8(&u);
    s.http_status = unpack_u16(&u);
    s.depth = unpack_u16(&u);
    s.hops = unpack_u16(&u);
    s.page_flags = unpack_u16(&u);
    s.digest = unpack_u64(&u);
    s.body_bytes = unpack_var(&u);
    s.wire_bytes = unpack_var(&u);
    s.text_bytes = unpack_var(&u);
    s.dns_us = unpack_us(&u);
    s.connect_us = unpack_us(&u);
    s.tls_us = unpack_us(&u);
    s.first_byte_us = unpack_us(&u);
    s.total_us = unpack_us(&u);
#define GET(field) s.field = unpack_text(&u, SUMMARY_BYTES_MAX);
    TEXTS(GET)
#undef GET
    unpack_headings(a, &u, &s);
    unpack_links(a, &u, &s);
    if (version >= 2)
        unpack_fields(a, &u, &s);
    if (version > VERSION_PLAIN)
        s.capture = unpack_text(&u, SUMMARY_BYTES_MAX);
    if (u.bad || !unpack_at_end(&u) || s.failure >= ST_MAX)
        return ST_CORRUPT;
    *out = s;
    return ST_OK;
}
