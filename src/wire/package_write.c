/* package_write.c - from visits to columns; see columns.h. */
#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "wire/package_internal.h"
#include "wire/fields.h"
#include "wire/package_head.h"

#define LEVEL_DEFAULT 3
/* What the numbers of a visit take at most in practice, and a word of a visit. */
#define VISIT_BYTES 100
#define WORD_BYTES 4

/* A visit that waits to be written. Visits are written in the order of their addresses, so that pages of one site and
 * one folder, however they were mixed when they were fetched, stand together: a seventh less over six sites at once. */
struct waiting {
    struct summary s; /* texts and arrays in the arena; `text` is not kept, `fields` and `links` are */
    uint64_t task;
    summary_kind kind;
    unsigned flags;
    uint32_t order;
    size_t first, count; /* in lines.ids or words.noted */
};

struct package_writer {
    struct package_writer_opts o;
    struct waiting *visits; /* owned */
    size_t visit_count, visit_cap, text_bytes;
    struct arena arena;
    struct buf col[PACKAGE_COLUMNS];
    struct lines_writer lines;
    struct words_writer words;
    struct intern names;
    struct buf url, link_url; /* the last page's, the last link's */
    uint64_t task;
    wall_ms at;
    struct zipper *zipper; /* owned */
    struct buf raw;
};

struct package_writer *package_writer_new(const struct package_writer_opts *o)
{
    struct package_writer *w = mem_alloc(sizeof(*w));
    w->o = *o;
    arena_init(&w->arena);
    w->zipper = zipper_new(o->level ? o->level : LEVEL_DEFAULT);
    return w;
}

void package_writer_free(struct package_writer *w)
{
    if (!w)
        return;
    for (size_t i = 0; i < PACKAGE_COLUMNS; i++)
        buf_done(&w->col[i]);
    lines_writer_done(&w->lines);
    words_writer_done(&w->words);
    intern_done(&w->names);
    buf_done(&w->url);
    buf_done(&w->link_url);
    buf_done(&w->raw);
    arena_done(&w->arena);
    free(w->visits);
    zipper_free(w->zipper);
    free(w);
}

static void clear(struct package_writer *w)
{
    for (size_t i = 0; i < PACKAGE_COLUMNS; i++)
        buf_clear(&w->col[i]);
    lines_writer_clear(&w->lines);
    words_writer_clear(&w->words);
    intern_clear(&w->names);
    buf_clear(&w->url);
    buf_clear(&w->link_url);
    w->task = 0;
    w->at = 0;
    w->visit_count = w->text_bytes = 0;
    arena_reset(&w->arena);
}

size_t package_raw_bytes(const struct package_writer *w)
{
    return w->text_bytes + w->visit_count * VISIT_BYTES + w->lines.lines.bytes.n +
           w->lines.id_count * sizeof(*w->lines.ids) + w->words.words.bytes.n + w->words.noted_count * WORD_BYTES;
}

uint32_t package_visits(const struct package_writer *w)
{
    return (uint32_t)w->visit_count;
}

/* ---- parts of a visit ---- */

uint64_t column_time(int32_t us)
{
    unsigned decade = 0;
    uint64_t v = us < 0 ? 0 : (uint64_t)us;
    if (us < 0)
        return 0;
    while (v >= 100) {
        v = v < 1000 ? (v + 5) / 10 : v / 10; /* rounded once, at the last digit that goes */
        decade++;
    }
    return decade ? 101 + (decade - 1) * 90 + (v - 10) : 1 + v;
}

static void put_name(struct package_writer *w, column c, struct span s)
{
    bool is_new;
    if (!s.n) {
        pack_var(&w->col[c], 0);
        return;
    }
    uint32_t id = intern_put(&w->names, s, &is_new);
    pack_var(&w->col[c], is_new ? 1 : (uint64_t)id + 2);
    if (is_new) {
        pack_var(&w->col[COL_NEW_NAME], s.n);
        buf_put(&w->col[COL_NAME_BYTES], s);
    }
}

static void put_text(struct package_writer *w, column c, struct span s)
{
    pack_var(&w->col[COL_TEXT_SIZE], s.n);
    buf_put(&w->col[c], s);
}

static size_t shared(struct span a, struct span b)
{
    size_t n = 0;
    while (n < a.n && n < b.n && a.p[n] == b.p[n])
        n++;
    return n;
}

static void put_page_url(struct package_writer *w, struct span url)
{
    size_t same = shared(buf_span(&w->url), url);
    pack_var(&w->col[COL_URL_SIZE], same);
    pack_var(&w->col[COL_URL_SIZE], url.n - same);
    buf_put(&w->col[COL_URL_BYTES], span_from(url, same));
    w->url.n = 0;
    buf_put(&w->url, url);
}

/* Against the link before or the page itself, whichever is more like it. */
static void put_link_url(struct package_writer *w, struct span url)
{
    size_t by_link = shared(buf_span(&w->link_url), url), by_page = shared(buf_span(&w->url), url);
    size_t same = by_link >= by_page ? by_link : by_page;
    pack_var(&w->col[COL_LINK_URL_SIZE], same * 2 + (by_link < by_page));
    pack_var(&w->col[COL_LINK_URL_SIZE], url.n - same);
    buf_put(&w->col[COL_LINK_URL_BYTES], span_from(url, same));
    w->link_url.n = 0;
    buf_put(&w->link_url, url);
}

/* A text that is often a line of the page: lines to skip + 1, or 0 and the text itself. */
static void put_line_or_text(struct package_writer *w, column line, column bytes, struct span s, size_t *from)
{
    size_t skip = s.n ? lines_find(&w->lines, s, from) : SIZE_MAX;
    if (skip != SIZE_MAX) {
        pack_var(&w->col[line], skip + 1);
        return;
    }
    pack_var(&w->col[line], 0);
    pack_var(&w->col[line], s.n);
    buf_put(&w->col[bytes], s);
}

static void put_headings(struct package_writer *w, const struct summary *s)
{
    size_t from = 0;
    pack_var(&w->col[COL_HEADING], s->heading_count);
    for (size_t i = 0; i < s->heading_count; i++) {
        pack_u8(&w->col[COL_HEADING], s->headings[i].level);
        put_line_or_text(w, COL_HEADING_LINE, COL_HEADING_BYTES, s->headings[i].text, &from);
    }
}

static bool travels(const struct summary_link *l)
{
    return (l->text.n || l->flags & SUMMARY_LINK_FOREIGN) && l->url.n && l->url.n <= COLUMNS_URL_MAX;
}

static void put_link(struct package_writer *w, const struct summary *s, const struct summary_link *l, size_t *from)
{
    struct buf *b = &w->col[COL_LINK];
    uint8_t flags = l->flags & SUMMARY_LINK_FOREIGN; /* whether it was new to the agent says nothing elsewhere */
    bool is_odd = l->kind != LINK_A || l->rel || l->hops || l->depth != s->depth + 1;
    pack_u8(b, flags | (is_odd ? LINK_ODD : 0));
    if (is_odd) {
        pack_u8(b, l->kind);
        pack_u8(b, l->rel);
        pack_u8(b, l->hops);
        pack_var(b, l->depth);
    }
    put_link_url(w, l->url);
    put_line_or_text(w, COL_LINK_LINE, COL_LINK_BYTES, l->text, from);
}

static void put_links(struct package_writer *w, const struct summary *s)
{
    size_t from = 0;
    pack_var(&w->col[COL_LINK_COUNT], s->link_count);
    for (size_t i = 0; i < s->link_count; i++)
        put_link(w, s, &s->links[i], &from);
}

static void put_fields(struct package_writer *w, const struct summary *s)
{
    pack_var(&w->col[COL_TEXT_SIZE], s->field_count);
    for (size_t i = 0; i < s->field_count; i++) {
        put_name(w, COL_FIELD_NAME, s->fields[i].name);
        put_text(w, COL_VALUE_BYTES, s->fields[i].value);
    }
}

static void put_numbers(struct package_writer *w, const struct summary *s, bool is_digest_of_text)
{
    struct buf *col = w->col;
    pack_u8(&col[COL_ANSWER], s->failure);
    pack_var(&col[COL_ANSWER], s->http_status);
    pack_var(&col[COL_SHAPE], s->depth);
    pack_var(&col[COL_SHAPE], s->hops);
    pack_var(&col[COL_SHAPE], s->page_flags);
    column_signed(&col[COL_AT], s->at - w->at);
    w->at = s->at;
    pack_var(&col[COL_SIZES], s->body_bytes);
    pack_var(&col[COL_SIZES], s->wire_bytes);
    if (!is_digest_of_text) {
        pack_var(&col[COL_SIZES], s->text_bytes);
        pack_u64(&col[COL_DIGEST], s->digest);
    }
    pack_var(&col[COL_SETUP], column_time(s->dns_us));
    pack_var(&col[COL_SETUP], column_time(s->connect_us));
    pack_var(&col[COL_SETUP], column_time(s->tls_us));
    pack_var(&col[COL_WAIT], column_time(s->first_byte_us));
    pack_var(&col[COL_WAIT], column_time(s->total_us));
}

static void put_urls(struct package_writer *w, const struct summary *s, unsigned flags)
{
    put_page_url(w, s->url);
    if (flags & FLAG_CANONICAL)
        put_link_url(w, s->canonical);
    if (flags & FLAG_REDIRECT)
        put_link_url(w, s->redirect);
}

static unsigned flags_of(const struct summary *s, summary_kind kind, struct span text)
{
    bool is_self = s->canonical.n && span_eq(s->canonical, s->url);
    bool has_canonical = s->canonical.n && !is_self && s->canonical.n <= COLUMNS_URL_MAX;
    bool is_known_digest =
        kind != SUMMARY_KEYWORDS && s->text_bytes == text.n && s->digest == (text.n ? facts_digest(text) : 0);
    return (s->is_refused ? FLAG_REFUSED : 0) | (s->is_html ? FLAG_HTML : 0) | (s->is_known ? FLAG_KNOWN : 0) |
           (kind == SUMMARY_KEYWORDS ? FLAG_KEYWORDS : 0) | (is_known_digest ? FLAG_DIGEST_OF_TEXT : 0) |
           (is_self ? FLAG_CANONICAL_SELF : 0) | (has_canonical ? FLAG_CANONICAL : 0) |
           (s->redirect.n && s->redirect.n <= COLUMNS_URL_MAX ? FLAG_REDIRECT : 0);
}

static struct span keep(struct package_writer *w, struct span s, size_t max)
{
    s = utf8_cut(s, max);
    w->text_bytes += s.n;
    if (!s.n)
        return (struct span){0};
    return arena_copy(&w->arena, s);
}

static void keep_texts(struct package_writer *w, struct summary *s)
{
    s->url = keep(w, s->url, COLUMNS_URL_MAX);
    s->canonical = keep(w, s->canonical, COLUMNS_URL_MAX);
    s->redirect = keep(w, s->redirect, COLUMNS_URL_MAX);
    s->address = keep(w, s->address, PACKAGE_NAME_MAX);
    s->reason = keep(w, s->reason, PACKAGE_NAME_MAX);
    s->content_type = keep(w, s->content_type, PACKAGE_NAME_MAX);
    s->charset = keep(w, s->charset, PACKAGE_NAME_MAX);
    s->lang = keep(w, s->lang, PACKAGE_NAME_MAX);
    s->last_modified = keep(w, s->last_modified, PACKAGE_NAME_MAX);
    s->title = keep(w, s->title, FACTS_TITLE_MAX);
    s->description = keep(w, s->description, FACTS_DESCRIPTION_MAX);
    s->etag = keep(w, s->etag, PACKAGE_ETAG_MAX);
    s->text = (struct span){0};
    w->text_bytes += s->capture.n; /* bytes, not text: kept whole */
    s->capture = s->capture.n ? arena_copy(&w->arena, s->capture) : (struct span){0};
}

static void keep_headings(struct package_writer *w, struct summary *s)
{
    size_t n = s->heading_count < FACTS_HEADINGS_MAX ? s->heading_count : FACTS_HEADINGS_MAX;
    struct fact_heading *h = arena_alloc(&w->arena, n * sizeof(*h) + 1);
    for (size_t i = 0; i < n; i++)
        h[i] = (struct fact_heading){s->headings[i].level, keep(w, s->headings[i].text, FACTS_HEADING_MAX)};
    s->headings = h;
    s->heading_count = n;
}

static void keep_links(struct package_writer *w, struct summary *s)
{
    size_t n = 0, bytes = 0, count = 0;
    for (size_t i = 0; i < s->link_count; i++)
        n += travels(&s->links[i]);
    struct summary_link *l = arena_alloc(&w->arena, n * sizeof(*l) + 1);
    for (size_t i = 0; i < s->link_count && count < PACKAGE_LINKS_MAX; i++) {
        if (!travels(&s->links[i]))
            continue;
        bytes += s->links[i].url.n;
        if (bytes > PACKAGE_LINK_BYTES_MAX)
            break;
        l[count] = s->links[i];
        l[count].url = keep(w, s->links[i].url, COLUMNS_URL_MAX);
        l[count++].text = keep(w, s->links[i].text, FACTS_ANCHOR_MAX);
    }
    s->links = l;
    s->link_count = count;
}

static void keep_fields(struct package_writer *w, struct summary *s)
{
    size_t n = s->field_count < SUMMARY_FIELDS_MAX ? s->field_count : SUMMARY_FIELDS_MAX;
    struct summary_field *f = arena_alloc(&w->arena, n * sizeof(*f) + 1);
    for (size_t i = 0; i < n; i++)
        f[i] = (struct summary_field){keep(w, s->fields[i].name, SUMMARY_FIELD_NAME_MAX),
                                      keep(w, s->fields[i].value, SUMMARY_FIELD_VALUE_MAX)};
    s->fields = f;
    s->field_count = n;
}

void package_add_visit(struct package_writer *w, uint64_t task, summary_kind kind, const struct summary *s)
{
    struct span text = utf8_cut(s->text, COLUMNS_TEXT_MAX);
    assert(s->url.n <= COLUMNS_URL_MAX); /* frontiers take no longer ones */
    assert(w->visit_count < PACKAGE_VISITS_MAX && w->lines.id_count < COLUMNS_LINES_MAX / 2);
    w->visits = mem_grow(w->visits, &w->visit_cap, w->visit_count + 1, sizeof(*w->visits));
    struct waiting *v = &w->visits[w->visit_count];
    *v = (struct waiting){.s = *s, .task = task, .kind = kind, .flags = flags_of(s, kind, text)};
    v->order = (uint32_t)w->visit_count++;
    if (kind == SUMMARY_KEYWORDS) {
        v->first = w->words.noted_count;
        v->count = words_note(&w->words, text);
    } else {
        v->first = w->lines.id_count;
        v->count = lines_note(&w->lines, text);
    }
    keep_texts(w, &v->s);
    keep_headings(w, &v->s);
    keep_links(w, &v->s);
    keep_fields(w, &v->s);
}

static void write_visit(struct package_writer *w, const struct waiting *v)
{
    const struct summary *s = &v->s;
    column_signed(&w->col[COL_TASK], (int64_t)(v->task - w->task));
    w->task = v->task;
    pack_var(&w->col[COL_FLAGS], v->flags);
    put_urls(w, s, v->flags);
    put_numbers(w, s, v->flags & FLAG_DIGEST_OF_TEXT);
    put_name(w, COL_ADDRESS, s->address);
    put_name(w, COL_REASON, s->reason);
    put_name(w, COL_CONTENT_TYPE, s->content_type);
    put_name(w, COL_CHARSET, s->charset);
    put_name(w, COL_LANG, s->lang);
    put_name(w, COL_LAST_MODIFIED, s->last_modified);
    put_text(w, COL_TITLE_BYTES, s->title);
    put_text(w, COL_DESCRIPTION_BYTES, s->description);
    put_text(w, COL_ETAG_BYTES, s->etag);
    w->lines.now_count = 0;
    if (v->kind == SUMMARY_KEYWORDS)
        words_write(&w->words, w->words.noted + v->first, v->count, w->col);
    else
        lines_write(&w->lines, w->lines.ids + v->first, v->count, w->col);
    put_headings(w, s);
    put_links(w, s);
    put_fields(w, s);
}

static int by_url(const void *a, const void *b)
{
    const struct waiting *x = a, *y = b;
    int c = span_cmp(x->s.url, y->s.url);
    return c ? c : (x->order > y->order) - (x->order < y->order);
}

static void write_visits(struct package_writer *w)
{
    if (w->visit_count)
        qsort(w->visits, w->visit_count, sizeof(*w->visits), by_url);
    lines_write_begin(&w->lines);
    words_write_begin(&w->words);
    for (size_t i = 0; i < w->visit_count; i++)
        write_visit(w, &w->visits[i]);
}

static void put_rates(struct package_writer *w)
{
    struct buf rates = {0};
    size_t next = 0;
    for (size_t i = 0; i < w->visit_count; i++)
        if (w->visits[i].s.rate) {
            pack_var(&rates, i - next);
            pack_u64(&rates, w->visits[i].s.rate);
            next = i + 1;
        }
    field_text_if(&w->raw, TAIL_RATES, buf_span(&rates));
    buf_done(&rates);
}

/* Captures, in the order of their visits. */
static void put_tail(struct package_writer *w)
{
    struct buf head = {0};
    put_rates(w);
    for (size_t i = 0; i < w->visit_count; i++) {
        struct span capture = w->visits[i].s.capture;
        if (!capture.n)
            continue;
        buf_clear(&head);
        field_u64(&head, TAIL_CAPTURE_VISIT, i);
        pack_var(&head, TAIL_CAPTURE_BYTES);
        pack_var(&head, capture.n);
        pack_var(&w->raw, TAIL_CAPTURE);
        pack_var(&w->raw, head.n + capture.n);
        buf_put(&w->raw, buf_span(&head));
        buf_put(&w->raw, capture);
    }
    buf_done(&head);
}

void package_finish(struct package_writer *w, struct package_head *head, const struct sign_key *agent, struct buf *out)
{
    size_t start = out->n;
    write_visits(w);
    buf_clear(&w->raw);
    for (size_t i = 0; i < PACKAGE_COLUMNS; i++)
        pack_var(&w->raw, w->col[i].n);
    for (size_t i = 0; i < PACKAGE_COLUMNS; i++)
        buf_put(&w->raw, buf_span(&w->col[i]));
    size_t columns = w->raw.n;
    put_tail(w);
    assert(w->raw.n <= PACKAGE_RAW_MAX);
    buf_room(out, PACKAGE_HEAD_BYTES);
    out->n += PACKAGE_HEAD_BYTES;
    zipper_run(w->zipper, w->o.dict, buf_span(&w->raw), out);
    head->dictionary = w->o.dict ? w->o.dictionary : 0;
    head->body_bytes = out->n - start - PACKAGE_HEAD_BYTES;
    head->raw_bytes = w->raw.n;
    head->visits = (uint32_t)w->visit_count;
    head->tail_bytes = (uint32_t)(w->raw.n - columns);
    package_head_write(head, agent, span_from(buf_span(out), start + PACKAGE_HEAD_BYTES), out->p + start);
    clear(w);
}
