/* package_read.c - from columns to visits; the mirror of package_write.c, with every size looked at. */
#include <stdlib.h>

#include "base/mem.h"
#include "wire/package_internal.h"

struct body {
    struct unpack col[PACKAGE_COLUMNS];
    struct lines_reader lines;
    struct words_reader words;
    struct span *names; /* owned array: small texts so far; they point into their column */
    size_t name_count, name_cap;
    struct buf url, link_url, text;
    struct arena arena; /* of the visit at hand */
    uint64_t task;
    wall_ms at;
    size_t link_bytes;
    bool is_bad;
};

int32_t column_time_of(uint64_t code)
{
    if (code <= 100)
        return (int32_t)code - 1;
    uint64_t decade = (code - 101) / 90, v = 10 + (code - 101) % 90;
    if (decade > 7) /* more than 32 bits hold */
        return -1;
    for (uint64_t i = 0; i <= decade; i++)
        v *= 10;
    return v > INT32_MAX ? INT32_MAX : (int32_t)v;
}

static uint64_t number(struct body *b, column c, uint64_t max)
{
    uint64_t v = unpack_var(&b->col[c]);
    if (v > max)
        b->is_bad = true;
    return v > max ? 0 : v;
}

/* `n` bytes of a column. */
static struct span bytes(struct body *b, column c, uint64_t n)
{
    struct span s = unpack_bytes(&b->col[c], (size_t)n);
    b->is_bad |= b->col[c].bad;
    return s;
}

static struct span get_name(struct body *b, column c)
{
    uint64_t v = number(b, c, (uint64_t)b->name_count + 1);
    if (v > 1)
        return b->names[v - 2];
    if (v == 0 || b->is_bad)
        return (struct span){0};
    struct span s = bytes(b, COL_NAME_BYTES, number(b, COL_NEW_NAME, PACKAGE_NAME_MAX));
    b->names = mem_grow(b->names, &b->name_cap, b->name_count + 1, sizeof(*b->names));
    b->names[b->name_count++] = s;
    return s;
}

static struct span get_text(struct body *b, column c, size_t max)
{
    return bytes(b, c, number(b, COL_TEXT_SIZE, max));
}

/* Puts an address together in *last, which has the one it shares its beginning with unless `other` does. */
static void join_url(struct body *b, struct buf *last, const struct buf *other, uint64_t same, uint64_t rest, column c)
{
    const struct buf *from = other ? other : last;
    if (same > from->n || same + rest > COLUMNS_URL_MAX) {
        b->is_bad = true;
        return;
    }
    if (other) {
        buf_clear(last);
        buf_put(last, span_of(other->p, (size_t)same));
    } else
        last->n = (size_t)same;
    buf_put(last, bytes(b, c, rest));
}

static struct span get_page_url(struct body *b)
{
    uint64_t same = number(b, COL_URL_SIZE, COLUMNS_URL_MAX), rest = number(b, COL_URL_SIZE, COLUMNS_URL_MAX);
    join_url(b, &b->url, NULL, same, rest, COL_URL_BYTES);
    return arena_copy(&b->arena, buf_span(&b->url));
}

static struct span get_link_url(struct body *b)
{
    uint64_t same = number(b, COL_LINK_URL_SIZE, COLUMNS_URL_MAX * 2 + 1);
    uint64_t rest = number(b, COL_LINK_URL_SIZE, COLUMNS_URL_MAX);
    join_url(b, &b->link_url, same & 1 ? &b->url : NULL, same / 2, rest, COL_LINK_URL_BYTES);
    b->link_bytes += b->link_url.n;
    if (b->link_bytes > PACKAGE_LINK_BYTES_MAX + 2 * COLUMNS_URL_MAX)
        b->is_bad = true;
    if (b->is_bad)
        return (struct span){0};
    return arena_copy(&b->arena, buf_span(&b->link_url));
}

static struct span get_line_or_text(struct body *b, column line, column text, size_t max, size_t *from)
{
    struct span s = {0};
    uint64_t v = number(b, line, COLUMNS_LINES_MAX);
    if (v == 0)
        return bytes(b, text, number(b, line, max));
    *from += (size_t)v;
    if (b->is_bad || !lines_get(&b->lines, *from - 1, &s) || s.n > max)
        b->is_bad = true;
    if (b->is_bad)
        return (struct span){0};
    return s;
}

static void get_headings(struct body *b, struct summary *s)
{
    size_t from = 0, n = (size_t)number(b, COL_HEADING, FACTS_HEADINGS_MAX);
    struct fact_heading *h = arena_alloc(&b->arena, n * sizeof(*h) + 1);
    for (size_t i = 0; i < n && !b->is_bad; i++) {
        h[i].level = unpack_u8(&b->col[COL_HEADING]);
        h[i].text = get_line_or_text(b, COL_HEADING_LINE, COL_HEADING_BYTES, FACTS_HEADING_MAX, &from);
    }
    s->headings = h;
    s->heading_count = n;
}

static void get_link(struct body *b, const struct summary *s, struct summary_link *l, size_t *from)
{
    struct unpack *u = &b->col[COL_LINK];
    uint8_t flags = unpack_u8(u);
    *l =
        (struct summary_link){.kind = LINK_A, .flags = flags & SUMMARY_LINK_FOREIGN, .depth = (uint16_t)(s->depth + 1)};
    if (flags & LINK_ODD) {
        l->kind = unpack_u8(u);
        l->rel = unpack_u8(u);
        l->hops = unpack_u8(u);
        l->depth = (uint16_t)number(b, COL_LINK, UINT16_MAX);
    }
    l->url = get_link_url(b);
    l->text = get_line_or_text(b, COL_LINK_LINE, COL_LINK_BYTES, FACTS_ANCHOR_MAX, from);
}

static void get_links(struct body *b, struct summary *s)
{
    size_t from = 0, n = (size_t)number(b, COL_LINK_COUNT, PACKAGE_LINKS_MAX);
    struct summary_link *l = arena_alloc(&b->arena, n * sizeof(*l) + 1);
    for (size_t i = 0; i < n && !b->is_bad; i++)
        get_link(b, s, &l[i], &from);
    s->links = l;
    s->link_count = n;
}

static void get_fields(struct body *b, struct summary *s)
{
    size_t n = (size_t)number(b, COL_TEXT_SIZE, SUMMARY_FIELDS_MAX);
    struct summary_field *f = arena_alloc(&b->arena, n * sizeof(*f) + 1);
    for (size_t i = 0; i < n && !b->is_bad; i++) {
        f[i].name = get_name(b, COL_FIELD_NAME);
        f[i].value = get_text(b, COL_VALUE_BYTES, SUMMARY_FIELD_VALUE_MAX);
        b->is_bad |= f[i].name.n > SUMMARY_FIELD_NAME_MAX;
    }
    s->fields = f;
    s->field_count = n;
}

static void get_numbers(struct body *b, struct summary *s, bool is_digest_of_text)
{
    s->failure = unpack_u8(&b->col[COL_ANSWER]);
    if (s->failure >= ST_MAX) /* of a newer version */
        s->failure = ST_PROTOCOL;
    s->http_status = (uint16_t)number(b, COL_ANSWER, UINT16_MAX);
    s->depth = (uint16_t)number(b, COL_SHAPE, UINT16_MAX);
    s->hops = (uint16_t)number(b, COL_SHAPE, UINT16_MAX);
    s->page_flags = (uint16_t)number(b, COL_SHAPE, UINT16_MAX);
    s->at = b->at = (wall_ms)((uint64_t)b->at + (uint64_t)column_read_signed(&b->col[COL_AT]));
    s->body_bytes = number(b, COL_SIZES, UINT64_MAX);
    s->wire_bytes = number(b, COL_SIZES, UINT64_MAX);
    if (!is_digest_of_text) {
        s->text_bytes = number(b, COL_SIZES, UINT64_MAX);
        s->digest = unpack_u64(&b->col[COL_DIGEST]);
    }
    s->dns_us = column_time_of(number(b, COL_SETUP, UINT32_MAX));
    s->connect_us = column_time_of(number(b, COL_SETUP, UINT32_MAX));
    s->tls_us = column_time_of(number(b, COL_SETUP, UINT32_MAX));
    s->first_byte_us = column_time_of(number(b, COL_WAIT, UINT32_MAX));
    s->total_us = column_time_of(number(b, COL_WAIT, UINT32_MAX));
}

static void get_urls(struct body *b, struct summary *s, uint64_t flags)
{
    s->url = get_page_url(b);
    b->link_bytes = 0;
    if (flags & FLAG_CANONICAL_SELF)
        s->canonical = s->url;
    if (flags & FLAG_CANONICAL)
        s->canonical = get_link_url(b);
    if (flags & FLAG_REDIRECT)
        s->redirect = get_link_url(b);
}

static status get_page_text(struct body *b, struct summary *s, uint64_t flags)
{
    buf_clear(&b->text);
    b->lines.first = b->lines.log_count; /* words have no lines to point to */
    status st =
        flags & FLAG_KEYWORDS ? words_read(&b->words, b->col, &b->text) : lines_read(&b->lines, b->col, &b->text);
    s->text = buf_span(&b->text);
    if (st == ST_OK && flags & FLAG_DIGEST_OF_TEXT) {
        s->text_bytes = s->text.n;
        s->digest = s->text.n ? facts_digest(s->text) : 0;
    }
    return st;
}

static bool any_bad(const struct body *b)
{
    bool is_bad = b->is_bad;
    for (size_t i = 0; i < PACKAGE_COLUMNS; i++)
        is_bad |= b->col[i].bad;
    return is_bad;
}

static status read_visit(struct body *b, const struct package_tail *tail, uint32_t at, package_visit_fn *fn, void *arg)
{
    struct summary s = {0};
    if (tail->captures)
        s.capture = tail->captures[at];
    if (tail->rates)
        s.rate = tail->rates[at];
    arena_reset(&b->arena);
    b->task += (uint64_t)column_read_signed(&b->col[COL_TASK]);
    uint64_t flags = number(b, COL_FLAGS, UINT32_MAX);
    s.is_refused = flags & FLAG_REFUSED;
    s.is_html = flags & FLAG_HTML;
    s.is_known = flags & FLAG_KNOWN;
    s.is_keywords = flags & FLAG_KEYWORDS;
    get_urls(b, &s, flags);
    get_numbers(b, &s, flags & FLAG_DIGEST_OF_TEXT);
    s.address = get_name(b, COL_ADDRESS);
    s.reason = get_name(b, COL_REASON);
    s.content_type = get_name(b, COL_CONTENT_TYPE);
    s.charset = get_name(b, COL_CHARSET);
    s.lang = get_name(b, COL_LANG);
    s.last_modified = get_name(b, COL_LAST_MODIFIED);
    s.title = get_text(b, COL_TITLE_BYTES, FACTS_TITLE_MAX);
    s.description = get_text(b, COL_DESCRIPTION_BYTES, FACTS_DESCRIPTION_MAX);
    s.etag = get_text(b, COL_ETAG_BYTES, PACKAGE_ETAG_MAX);
    if (any_bad(b))
        return ST_CORRUPT;
    status st = get_page_text(b, &s, flags);
    if (st != ST_OK)
        return st;
    get_headings(b, &s);
    get_links(b, &s);
    get_fields(b, &s);
    if (any_bad(b))
        return ST_CORRUPT;
    return fn(arg, b->task, s.is_keywords ? SUMMARY_KEYWORDS : SUMMARY_TEXT, &s);
}

static bool split_columns(struct body *b, struct span body)
{
    struct unpack u = unpack_of(body);
    uint64_t size[PACKAGE_COLUMNS];
    for (size_t i = 0; i < PACKAGE_COLUMNS; i++) {
        size[i] = unpack_var(&u);
        if (size[i] > body.n)
            return false;
    }
    for (size_t i = 0; i < PACKAGE_COLUMNS; i++)
        b->col[i] = unpack_of(unpack_bytes(&u, (size_t)size[i]));
    b->lines.bytes = span_of(b->col[COL_LINES].at, (size_t)(b->col[COL_LINES].end - b->col[COL_LINES].at));
    return !u.bad && unpack_at_end(&u);
}

/* Nothing may be left over: what was signed is what was read. */
static bool all_read(const struct body *b)
{
    for (size_t i = 0; i < PACKAGE_COLUMNS; i++)
        if (i != COL_LINES && !unpack_at_end(&b->col[i]))
            return false;
    return b->lines.bytes.n == (b->lines.count ? b->lines.at[b->lines.count] : 0);
}

status package_body_read(struct span body, uint32_t visits, const struct package_tail *tail, package_visit_fn *fn,
                         void *arg)
{
    static const struct package_tail none;
    struct body b = {0};
    if (!tail)
        tail = &none;
    arena_init(&b.arena);
    words_reader_init(&b.words);
    status st = split_columns(&b, body) ? ST_OK : ST_CORRUPT;
    for (uint32_t i = 0; st == ST_OK && i < visits; i++)
        st = read_visit(&b, tail, i, fn, arg);
    if (st == ST_OK && !all_read(&b))
        st = ST_CORRUPT;
    lines_reader_done(&b.lines);
    words_reader_done(&b.words);
    free(b.names);
    buf_done(&b.url);
    buf_done(&b.link_url);
    buf_done(&b.text);
    arena_done(&b.arena);
    return st;
}
