#include "mobile/message.h"

#include "base/pack.h"
#include "base/utf8.h"

#define HEAD_BYTES 4 /* the length */
#define URL_MAX 8192 /* of a page or a link: the crawler's own are shorter */
#define TITLE_MAX (FACTS_TITLE_MAX > FACTS_DESCRIPTION_MAX ? FACTS_TITLE_MAX : FACTS_DESCRIPTION_MAX)
#define LANG_MAX 64

/* All parts of a page at their ceilings fit into one message. */
_Static_assert(PROGRAM_TEXT_MAX + PROGRAM_HEADERS_MAX + PROGRAM_LINKS_BYTES +
                       2u * PROGRAM_METAS_MAX * PROGRAM_META_MAX + FACTS_HEADINGS_MAX * (FACTS_HEADING_MAX + 8u) +
                       (64u << 10) <
                   MESSAGE_TO_WORKER_MAX,
               "a page may not fit");
_Static_assert(PROGRAM_FOLLOW_MAX *(PROGRAM_URL_MAX + 4u) + PROGRAM_SUMMARY_MAX + PROGRAM_EMIT_MAX +
                       PROGRAM_FIELDS_MAX * (PROGRAM_FIELD_NAME_MAX + 8u) + PROGRAM_WHY_MAX + 64 <
                   MESSAGE_FROM_WORKER_MAX,
               "a result may not fit");

bool program_field_name_is_good(struct span name)
{
    if (name.n == 0 || name.n > PROGRAM_FIELD_NAME_MAX || name.p[0] < 'a' || name.p[0] > 'z')
        return false;
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        if (!(c >= 'a' && c <= 'z') && !ascii_is_digit(c) && c != '_')
            return false;
    }
    return true;
}

/* ---- frames ---- */

status message_next(struct span *in, size_t max, uint8_t *kind, struct span *payload)
{
    if (in->n < HEAD_BYTES)
        return ST_AGAIN;
    struct unpack u = unpack_of(*in);
    size_t n = unpack_u32(&u);
    if (n == 0)
        return ST_INVALID;
    if (n > max)
        return ST_LIMIT;
    if (in->n - HEAD_BYTES < n)
        return ST_AGAIN;
    *kind = (uint8_t)in->p[HEAD_BYTES];
    *payload = span_cut(*in, HEAD_BYTES + 1, n - 1);
    *in = span_from(*in, HEAD_BYTES + n);
    return ST_OK;
}

static size_t begin(struct buf *out, message_kind kind)
{
    size_t at = out->n;
    pack_u32(out, 0); /* known at the end */
    pack_u8(out, (uint8_t)kind);
    return at;
}

static void end(struct buf *out, size_t at)
{
    size_t n = out->n - at - HEAD_BYTES;
    for (int i = 0; i < HEAD_BYTES; i++)
        out->p[at + (size_t)i] = (char)(n >> 8 * i);
}

static status settle(const struct unpack *u)
{
    return u->bad || !unpack_at_end(u) ? ST_CORRUPT : ST_OK;
}

/* ---- script ---- */

void message_put_script(struct buf *out, struct span name, struct span script)
{
    size_t at = begin(out, MSG_SCRIPT);
    pack_u8(out, MESSAGE_VERSION);
    pack_text(out, name);
    pack_text(out, script);
    end(out, at);
}

status message_get_script(struct span payload, struct span *name, struct span *script)
{
    struct unpack u = unpack_of(payload);
    if (unpack_u8(&u) != MESSAGE_VERSION)
        return u.bad ? ST_CORRUPT : ST_NEWER;
    struct span n = unpack_text(&u, PROGRAM_NAME_MAX), s = unpack_text(&u, PROGRAM_SCRIPT_MAX);
    status st = settle(&u);
    if (st == ST_OK) {
        *name = n;
        *script = s;
    }
    return st;
}

void message_put_ready(struct buf *out)
{
    end(out, begin(out, MSG_READY));
}

void message_put_failed(struct buf *out, struct span why)
{
    size_t at = begin(out, MSG_FAILED);
    pack_text(out, utf8_cut(why, PROGRAM_WHY_MAX));
    end(out, at);
}

status message_get_failed(struct span payload, struct span *why)
{
    struct unpack u = unpack_of(payload);
    struct span text = unpack_text(&u, PROGRAM_WHY_MAX);
    status st = settle(&u);
    if (st == ST_OK)
        *why = text;
    return st;
}

/* ---- page ---- */

static size_t links_that_fit(const struct program_page *p)
{
    size_t bytes = 0, n = 0;
    for (; n < p->link_count && n < FACTS_LINKS_MAX; n++) {
        bytes += p->links[n].href.n + p->links[n].text.n + 8;
        if (bytes > PROGRAM_LINKS_BYTES)
            break;
    }
    return n;
}

void message_put_page(struct buf *out, const struct program_page *p)
{
    size_t at = begin(out, MSG_PAGE), link_count = links_that_fit(p);
    size_t heading_count = p->heading_count < FACTS_HEADINGS_MAX ? p->heading_count : FACTS_HEADINGS_MAX;
    size_t meta_count = p->meta_count < PROGRAM_METAS_MAX ? p->meta_count : PROGRAM_METAS_MAX;
    pack_text(out, span_cut(p->url, 0, URL_MAX));
    pack_var(out, p->http_status > 0 ? (uint64_t)p->http_status : 0);
    pack_text(out, span_cut(p->headers, 0, PROGRAM_HEADERS_MAX));
    pack_text(out, utf8_cut(p->title, TITLE_MAX));
    pack_text(out, utf8_cut(p->description, TITLE_MAX));
    pack_text(out, utf8_cut(p->lang, LANG_MAX));
    pack_text(out, utf8_cut(p->text, PROGRAM_TEXT_MAX));
    pack_var(out, heading_count);
    for (size_t i = 0; i < heading_count; i++) {
        pack_u8(out, p->headings[i].level);
        pack_text(out, utf8_cut(p->headings[i].text, FACTS_HEADING_MAX));
    }
    pack_var(out, link_count);
    for (size_t i = 0; i < link_count; i++) {
        /* Half a URL is another URL: one that is too long comes as an empty one, and the worker leaves it out. */
        pack_text(out, p->links[i].href.n <= URL_MAX ? p->links[i].href : (struct span){0});
        pack_text(out, utf8_cut(p->links[i].text, FACTS_ANCHOR_MAX));
        pack_u8(out, p->links[i].kind);
        pack_u8(out, p->links[i].rel);
    }
    pack_var(out, meta_count);
    for (size_t i = 0; i < meta_count; i++) {
        pack_text(out, utf8_cut(p->metas[i].name, PROGRAM_META_MAX));
        pack_text(out, utf8_cut(p->metas[i].content, PROGRAM_META_MAX));
    }
    end(out, at);
}

/* A count that the bytes left can hold, each item having at least `item` of them; else the input is bad. */
static size_t get_count(struct unpack *u, size_t max, size_t item)
{
    uint64_t n = unpack_var(u);
    if (n > max || n > (size_t)(u->end - u->at) / item)
        u->bad = true;
    return u->bad ? 0 : (size_t)n;
}

static void get_headings(struct arena *a, struct unpack *u, struct program_page *p)
{
    size_t n = get_count(u, FACTS_HEADINGS_MAX, 2);
    struct fact_heading *h = arena_alloc(a, n * sizeof(*h));
    for (size_t i = 0; i < n; i++) {
        uint8_t level = unpack_u8(u);
        h[i] = (struct fact_heading){.level = level, .text = unpack_text(u, FACTS_HEADING_MAX)};
    }
    p->headings = h;
    p->heading_count = n;
}

static void get_links(struct arena *a, struct unpack *u, struct program_page *p)
{
    size_t n = get_count(u, FACTS_LINKS_MAX, 4);
    struct fact_link *l = arena_alloc(a, n * sizeof(*l));
    for (size_t i = 0; i < n; i++) {
        l[i] = (struct fact_link){.href = unpack_text(u, URL_MAX)};
        l[i].text = unpack_text(u, FACTS_ANCHOR_MAX);
        l[i].kind = unpack_u8(u);
        l[i].rel = unpack_u8(u);
    }
    p->links = l;
    p->link_count = n;
}

static void get_metas(struct arena *a, struct unpack *u, struct program_page *p)
{
    size_t n = get_count(u, PROGRAM_METAS_MAX, 2);
    struct program_meta *m = arena_alloc(a, n * sizeof(*m));
    for (size_t i = 0; i < n; i++) {
        m[i].name = unpack_text(u, PROGRAM_META_MAX);
        m[i].content = unpack_text(u, PROGRAM_META_MAX);
    }
    p->metas = m;
    p->meta_count = n;
}

status message_get_page(struct arena *a, struct span payload, struct program_page *out)
{
    struct unpack u = unpack_of(payload);
    struct program_page p = {.url = unpack_text(&u, URL_MAX)};
    uint64_t http_status = unpack_var(&u);
    p.http_status = http_status <= 999 ? (int)http_status : 0;
    p.headers = unpack_text(&u, PROGRAM_HEADERS_MAX);
    p.title = unpack_text(&u, TITLE_MAX);
    p.description = unpack_text(&u, TITLE_MAX);
    p.lang = unpack_text(&u, LANG_MAX);
    p.text = unpack_text(&u, PROGRAM_TEXT_MAX);
    get_headings(a, &u, &p);
    get_links(a, &u, &p);
    get_metas(a, &u, &p);
    status st = settle(&u);
    if (st == ST_OK)
        *out = p;
    return st;
}

/* ---- result ---- */

enum { RESULT_SKIPPED = 1, RESULT_SUMMARY = 2, RESULT_FLAGS = 3 };

void message_put_result(struct buf *out, const struct program_result *r)
{
    size_t at = begin(out, MSG_RESULT);
    pack_u8(out, (uint8_t)r->st);
    pack_text(out, utf8_cut(r->why, PROGRAM_WHY_MAX));
    pack_u8(out, (uint8_t)((r->is_skipped ? RESULT_SKIPPED : 0) | (r->has_summary ? RESULT_SUMMARY : 0)));
    pack_text(out, r->summary);
    pack_var(out, r->field_count);
    for (size_t i = 0; i < r->field_count; i++) {
        pack_text(out, r->fields[i].name);
        pack_text(out, r->fields[i].value);
    }
    pack_var(out, r->follow_count);
    for (size_t i = 0; i < r->follow_count; i++)
        pack_text(out, r->follows[i]);
    end(out, at);
}

static void get_fields(struct arena *a, struct unpack *u, struct program_result *r)
{
    size_t n = get_count(u, PROGRAM_FIELDS_MAX, 2), bytes = 0;
    struct program_field *f = arena_alloc(a, n * sizeof(*f));
    for (size_t i = 0; i < n; i++) {
        f[i].name = unpack_text(u, PROGRAM_FIELD_NAME_MAX);
        f[i].value = unpack_text(u, PROGRAM_FIELD_MAX);
        bytes += f[i].value.n;
        if (!program_field_name_is_good(f[i].name) || !utf8_is_valid(f[i].value))
            u->bad = true;
    }
    if (bytes > PROGRAM_EMIT_MAX)
        u->bad = true;
    r->fields = f;
    r->field_count = n;
}

static void get_follows(struct arena *a, struct unpack *u, struct program_result *r)
{
    size_t n = get_count(u, PROGRAM_FOLLOW_MAX, 1);
    struct span *f = arena_alloc(a, n * sizeof(*f));
    for (size_t i = 0; i < n; i++)
        f[i] = unpack_text(u, PROGRAM_URL_MAX);
    r->follows = f;
    r->follow_count = n;
}

status message_get_result(struct arena *a, struct span payload, struct program_result *out)
{
    struct unpack u = unpack_of(payload);
    struct program_result r = {.st = (status)unpack_u8(&u)};
    r.why = unpack_text(&u, PROGRAM_WHY_MAX);
    unsigned flags = unpack_u8(&u);
    r.is_skipped = flags & RESULT_SKIPPED;
    r.has_summary = flags & RESULT_SUMMARY;
    r.summary = unpack_text(&u, PROGRAM_SUMMARY_MAX);
    get_fields(a, &u, &r);
    get_follows(a, &u, &r);
    /* A worker can say these three of itself; the rest is for the master to find. */
    bool is_known = r.st == ST_OK || r.st == ST_LIMIT || r.st == ST_INVALID;
    bool says_nothing = !flags && !r.summary.n && !r.field_count && !r.follow_count;
    if (!is_known || flags > RESULT_FLAGS || (r.st != ST_OK && !says_nothing) || (r.summary.n && !r.has_summary) ||
        !utf8_is_valid(r.summary))
        u.bad = true;
    status st = settle(&u);
    if (st == ST_OK)
        *out = r;
    return st;
}
