#include "web/content.h"

#include "base/pack.h"
#include "base/utf8.h"
#include "codec/digest.h"

#define ANCHORS_MAX FACTS_LINKS_MAX
#define URL_TEXT_MAX 8192
#define TYPE_TEXT_MAX 256

enum { IS_KEYWORDS = 1, IS_NAMED = 2 };

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
    pack_u8(out, (uint8_t)((c->is_keywords ? IS_KEYWORDS : 0) | (c->is_named ? IS_NAMED : 0)));
    pack_var(out, c->field_count);
    for (size_t i = 0; i < c->field_count; i++) {
        pack_text(out, c->fields[i].name);
        pack_text(out, c->fields[i].value);
    }
    pack_text(out, c->type);
    pack_var(out, c->bytes);
    pack_var(out, c->alternate_count);
    for (size_t i = 0; i < c->alternate_count; i++) {
        pack_text(out, c->alternates[i].lang);
        pack_text(out, c->alternates[i].url);
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

static void unpack_fields(struct arena *a, struct unpack *u, struct content *c)
{
    uint8_t bits = unpack_u8(u);
    c->is_keywords = bits & IS_KEYWORDS;
    c->is_named = bits & IS_NAMED;
    uint64_t n = unpack_var(u);
    if (n > CONTENT_FIELDS_MAX)
        u->bad = true;
    if (u->bad || !n)
        return;
    struct summary_field *f = arena_alloc(a, (size_t)n * sizeof(*f));
    for (uint64_t i = 0; i < n && !u->bad; i++) {
        f[i].name = unpack_text(u, CONTENT_FIELD_NAME_MAX);
        f[i].value = unpack_text(u, CONTENT_FIELD_VALUE_MAX);
    }
    c->fields = f;
    c->field_count = (size_t)n;
}

static void unpack_alternates(struct arena *a, struct unpack *u, struct content *c)
{
    uint64_t n = unpack_var(u);
    if (n > CONTENT_ALTERNATES_MAX)
        u->bad = true;
    if (u->bad)
        return;
    struct content_alternate *x = arena_alloc(a, (size_t)n * sizeof(*x));
    for (uint64_t i = 0; i < n && !u->bad; i++) {
        x[i].lang = unpack_text(u, FACTS_HREFLANG_MAX);
        x[i].url = unpack_text(u, URL_TEXT_MAX);
    }
    c->alternates = x;
    c->alternate_count = (size_t)n;
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
    if (version >= 2)
        unpack_fields(a, &u, &c);
    if (version >= 3) {
        c.type = unpack_text(&u, TYPE_TEXT_MAX);
        c.bytes = unpack_var(&u);
        unpack_alternates(a, &u, &c);
    }
    if (u.bad || flags > UINT16_MAX || !unpack_at_end(&u))
        return ST_CORRUPT;
    *out = c;
    return ST_OK;
}

/* ---- fields ---- */

bool content_field_name(struct span name)
{
    if (!name.n || name.n > CONTENT_FIELD_NAME_MAX || name.p[0] < 'a' || name.p[0] > 'z')
        return false;
    for (size_t i = 1; i < name.n; i++)
        if (!(name.p[i] >= 'a' && name.p[i] <= 'z') && !ascii_is_digit(name.p[i]) && name.p[i] != '_')
            return false;
    return true;
}

/* The next field that is kept, from number *at on; *bytes counts what was. False: there is none. */
static bool next_field(const struct summary *s, size_t *at, size_t *bytes, struct summary_field *out)
{
    while (*at < s->field_count) {
        struct summary_field f = s->fields[(*at)++];
        f.value = utf8_cut(f.value, CONTENT_FIELD_VALUE_MAX);
        if (!content_field_name(f.name) || f.name.n + f.value.n > CONTENT_FIELDS_BYTES_MAX - *bytes)
            continue;
        *bytes += f.name.n + f.value.n;
        *out = f;
        return true;
    }
    return false;
}

void content_take_fields(struct arena *a, const struct summary *s, struct content *c)
{
    size_t most = s->field_count < CONTENT_FIELDS_MAX ? s->field_count : CONTENT_FIELDS_MAX, at = 0, bytes = 0, n = 0;
    struct summary_field *fields = arena_alloc(a, most * sizeof(*fields) + 1);
    while (n < most && next_field(s, &at, &bytes, &fields[n]))
        n++;
    c->fields = fields;
    c->field_count = n;
}

bool content_is_named(const struct summary *s)
{
    return !s->is_html && !s->digest && s->failure == ST_OK && s->http_status >= 200 && s->http_status <= 299;
}

static uint64_t named_digest(const struct summary *s)
{
    struct buf b = {0};
    pack_text(&b, s->title);
    pack_text(&b, s->content_type);
    pack_text(&b, s->last_modified);
    pack_var(&b, s->body_bytes);
    uint64_t digest = digest_blake2b64(buf_span(&b));
    buf_done(&b);
    return digest ? digest : 1;
}

uint64_t content_digest(const struct summary *s)
{
    struct buf b = {0};
    struct summary_field f;
    size_t at = 0, bytes = 0, n = 0;
    if (content_is_named(s))
        return named_digest(s);
    if (!s->digest || !s->field_count)
        return s->digest;
    pack_u64(&b, s->digest);
    while (n < CONTENT_FIELDS_MAX && next_field(s, &at, &bytes, &f)) {
        pack_text(&b, f.name);
        pack_text(&b, f.value);
        n++;
    }
    uint64_t digest = n ? digest_blake2b64(buf_span(&b)) : s->digest;
    buf_done(&b);
    return digest ? digest : 1;
}
