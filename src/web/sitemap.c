/* sitemap.c - one list: tags in, entries out.
 *
 * The life of "<url><loc>http://a/</loc><lastmod>2024-05-01</lastmod></url>": url opens an item; loc opens a field,
 * whose text is gathered; its end makes an entry; the end of lastmod remembers a date; the end of the item gives the
 * date to the entries that the item made. A start tag of an item ends the one before, so a missing end tag costs
 * nothing. */
#include "web/sitemap.h"

#include <string.h>

#include "base/utf8.h"
#include "codec/unzip.h"
#include "web/date.h"
#include "web/json_token.h"
#include "web/xml_token.h"

#define NEST_MAX 32       /* open elements that are remembered; deeper ones are in none of ours */
#define SNIFF_BYTES 16384 /* a root element begins before; so does the first line that is no URL */
#define VERSION_BYTES 32  /* as many of a version as tell whose it is */
#define REF_BYTES 40      /* more than the longest reference has */
#define JSON_ESCAPE_BYTES 6
#define RATIO_FREE (1u << 20)

/* ---- which kind ---- */

const char *sitemap_kind_name(sitemap_kind k)
{
    static const char *const names[] = {"none", "urlset", "index", "rss", "atom", "json", "text"};
    return names[k];
}

static sitemap_kind kind_of_root(struct span name)
{
    static const struct {
        const char *name;
        sitemap_kind kind;
    } roots[] = {{"urlset", SITEMAP_URLSET},
                 {"sitemapindex", SITEMAP_INDEX},
                 {"rss", SITEMAP_RSS},
                 {"rdf", SITEMAP_RSS},
                 {"feed", SITEMAP_ATOM}};
    for (size_t i = 0; i < sizeof(roots) / sizeof(*roots); i++)
        if (span_is_nocase(name, roots[i].name))
            return roots[i].kind;
    return SITEMAP_NONE;
}

static bool is_url(struct span s)
{
    if (!span_starts_nocase(s, SPAN("http://")) && !span_starts_nocase(s, SPAN("https://")))
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (ascii_is_space(s.p[i]) || s.p[i] == '<')
            return false;
    return true;
}

/* The next line that says something; white space around it, and lines that begin with '#', are nothing. */
static bool next_line(struct span *rest, struct span *line)
{
    while (rest->n) {
        size_t end = 0;
        while (end < rest->n && rest->p[end] != '\n' && rest->p[end] != '\r')
            end++;
        *line = span_trim(span_cut(*rest, 0, end));
        *rest = span_from(*rest, end + 1);
        if (line->n && line->p[0] != '#')
            return true;
    }
    return false;
}

/* Every line of the beginning is a URL; one that the beginning cuts may be the beginning of one. */
static bool is_url_list(struct span text)
{
    struct span head = span_cut(text, 0, SNIFF_BYTES), line;
    bool has_url = false;
    while (next_line(&head, &line)) {
        if (!is_url(line) && (head.n || text.n <= SNIFF_BYTES || !has_url))
            return false;
        has_url = true;
    }
    return has_url;
}

/* "https://jsonfeed.org/version/1.1"; PHP writes "https:\/\/jsonfeed.org\/version\/1.1". */
static bool is_json_version(struct span text)
{
    char plain[VERSION_BYTES];
    size_t n = 0;
    for (size_t i = 0; i < text.n && n < sizeof(plain); i++)
        if (text.p[i] != '\\')
            plain[n++] = text.p[i];
    struct span v = span_of(plain, n);
    return span_starts(v, SPAN("https://jsonfeed.org/version/")) ||
           span_starts(v, SPAN("http://jsonfeed.org/version/"));
}

/* It says so itself, somewhere: {"version": "https://jsonfeed.org/version/1.1", "items": [...]}. */
static bool is_json_feed(struct span text)
{
    struct json_reader r;
    struct json_token t;
    size_t depth = 0;
    bool is_version = false;
    json_begin(&r, text);
    while (json_next(&r, &t)) {
        if (is_version && t.kind == JSON_TEXT)
            return is_json_version(t.text);
        is_version = depth == 1 && t.kind == JSON_NAME && span_is(t.text, "version");
        depth += t.kind == JSON_OPEN;
        if (t.kind == JSON_CLOSE && (!depth || !--depth))
            return false;
    }
    return false;
}

sitemap_kind sitemap_kind_of(struct span text)
{
    struct xml_reader r;
    struct xml_token t;
    struct span head = span_trim(span_cut(text, 0, SNIFF_BYTES));
    if (head.n && head.p[0] == '{')
        return is_json_feed(text) ? SITEMAP_JSON : SITEMAP_NONE;
    if (!head.n || head.p[0] != '<')
        return is_url_list(text) ? SITEMAP_TEXT : SITEMAP_NONE;
    xml_begin(&r, head);
    while (xml_next(&r, &t))
        if (t.kind == XML_START)
            return kind_of_root(t.name);
    return SITEMAP_NONE;
}

bool sitemap_may_be_json(struct span media, struct span url)
{
    size_t scheme = span_search(url, SPAN("://"), false);
    struct span path = scheme < url.n ? span_from(url, span_find(url, '/', scheme + 3)) : url;
    path = span_cut(path, 0, span_find(path, '?', 0));
    return span_is_nocase(media, "application/feed+json") ||
           (span_is_nocase(media, "application/json") && span_search(path, SPAN("feed"), true) < path.n);
}

/* ---- entries ---- */

typedef enum field { FIELD_NONE, FIELD_LOC, FIELD_GUID, FIELD_CHANGED, FIELD_MADE } field;

/* What it is relative to is looked for once something in it asks. */
struct element {
    struct span name, attrs;
    struct span base; /* once is_based: by itself and those around it, absolute if it can be; empty: none */
    bool is_based;
};

struct list_reader {
    struct arena *a;
    struct sitemap *out;
    struct sitemap_entry *entries;
    size_t cap, pages, alternates, loc_bytes;
    struct element open[NEST_MAX + 1]; /* the elements that are open, the root first; the last may be an item */
    size_t depth;                      /* how many are, also beyond NEST_MAX */
    const struct url *at;              /* of the document, or NULL */
    /* the item at hand */
    size_t item_depth; /* of elements in it; 0: none is open */
    bool item_is_list, has_loc;
    size_t first; /* its first entry */
    struct span guid;
    wall_ms changed, made; /* 0: not told. `made` counts where `changed` is not told */
    /* the field at hand, or the item's own text */
    field field;
    size_t field_depth;
    struct span field_attrs;
    char text[SITEMAP_URL_MAX + 1];
    size_t text_n;
};

/* xml:base among the attributes of a tag, or empty. One that is longer than a URL may be is none. */
static struct span base_of(struct list_reader *r, struct span attrs)
{
    const struct xml_token t = {.attrs = attrs};
    struct span base;
    return xml_attr(r->a, &t, SPAN("base"), &base) && base.n <= SITEMAP_URL_MAX ? base : (struct span){0};
}

/* `base` where `outer` holds. What cannot be made absolute stays as written; what is no URL at all is not there. */
static struct span within(struct list_reader *r, struct span base, struct span outer)
{
    struct url o, u;
    if (!base.n)
        return outer;
    bool has_outer = outer.n && url_parse(r->a, outer, r->at, &o) == ST_OK;
    r->loc_bytes += outer.n; /* of the arena, each time */
    if (url_parse(r->a, base, has_outer ? &o : r->at, &u) == ST_OK)
        return u.href.n <= SITEMAP_BASE_MAX ? u.href : outer;
    return r->at || has_outer ? outer : base;
}

/* What holds in the item at hand, or outside of any where the reader stands. Each element is asked once. */
static struct span base_here(struct list_reader *r)
{
    size_t depth = r->item_depth ? r->item_depth : r->depth;
    struct span base = {0};
    for (size_t i = 0; i < depth && i <= NEST_MAX; i++) {
        struct element *e = &r->open[i];
        if (!e->is_based)
            e->base = within(r, base_of(r, e->attrs), base);
        e->is_based = true;
        base = e->base;
    }
    return base;
}

static void add_entry(struct list_reader *r, sitemap_entry_kind kind, struct span loc, struct span own_base)
{
    size_t *count = kind == ENTRY_ALTERNATE ? &r->alternates : &r->pages;
    size_t most = kind == ENTRY_ALTERNATE ? SITEMAP_ALTERNATES_MAX : SITEMAP_ENTRIES_MAX;
    if (!loc.n || loc.n > SITEMAP_URL_MAX)
        return;
    struct span base = {0};
    if (*count < most && r->loc_bytes + loc.n <= SITEMAP_LOCS_BYTES)
        base = within(r, own_base, base_here(r));
    if (*count == most) {
        r->out->cut |= kind == ENTRY_ALTERNATE ? SITEMAP_CUT_ALTERNATES : SITEMAP_CUT_ENTRIES;
        return;
    }
    if (r->loc_bytes + loc.n + base.n > SITEMAP_LOCS_BYTES) {
        r->out->cut |= SITEMAP_CUT_LOCS;
        return;
    }
    if (r->out->count == r->cap) { /* doubled, and the old one left behind */
        size_t more = r->cap ? r->cap * 2 : 64;
        struct sitemap_entry *p = arena_alloc(r->a, more * sizeof(*p));
        if (r->cap)
            memcpy(p, r->entries, r->cap * sizeof(*p));
        r->entries = p;
        r->cap = more;
    }
    (*count)++;
    r->loc_bytes += loc.n + base.n;
    r->entries[r->out->count++] = (struct sitemap_entry){.kind = kind, .loc = loc, .base = base};
}

static void add_page(struct list_reader *r, struct span loc, struct span own_base)
{
    add_entry(r, r->item_is_list ? ENTRY_LIST : ENTRY_PAGE, loc, own_base);
    r->has_loc = true;
}

/* ---- fields ---- */

/* An index without <loc>, which there is: the text of the item itself. */
static void end_bare_text(struct list_reader *r)
{
    struct span text = span_trim(span_of(r->text, r->text_n));
    if (r->item_depth && !r->has_loc && r->text_n < sizeof(r->text) && is_url(text))
        add_page(r, arena_copy(r->a, text), (struct span){0});
    r->text_n = 0;
}

static void begin_field(struct list_reader *r, field f, struct span attrs)
{
    end_bare_text(r);
    r->field = f;
    r->field_depth = r->depth;
    r->field_attrs = attrs;
}

/* One that does not fit is remembered as such: it is a byte longer than what is taken. */
static void gather(struct list_reader *r, struct xml_token t)
{
    while (!r->text_n && t.text.n && ascii_is_space(t.text.p[0]))
        t.text = span_from(t.text, 1);
    t.text = utf8_cut(t.text, REF_BYTES * sizeof(r->text)); /* as much as can matter */
    struct span s = xml_text(r->a, &t);
    for (size_t i = 0; i < s.n && r->text_n < sizeof(r->text); i++)
        if (r->text_n || !ascii_is_space(s.p[i]))
            r->text[r->text_n++] = s.p[i];
}

static void note_date(wall_ms *out, struct span text)
{
    wall_ms at;
    if (date_read(text, &at) && at > *out)
        *out = at;
}

/* The field's end tag came, or one of another that tells that it ended. */
static void end_field(struct list_reader *r)
{
    bool fits = r->text_n < sizeof(r->text);
    struct span text = span_trim(span_of(r->text, r->text_n));
    field f = r->field;
    r->field = FIELD_NONE;
    r->text_n = 0;
    if (!fits && f != FIELD_CHANGED && f != FIELD_MADE)
        return;
    if (f == FIELD_LOC && !r->has_loc && text.n)
        add_page(r, arena_copy(r->a, text), base_of(r, r->field_attrs));
    else if (f == FIELD_GUID && is_url(text))
        r->guid = arena_copy(r->a, text);
    else if (f == FIELD_CHANGED)
        note_date(&r->changed, text);
    else if (f == FIELD_MADE)
        note_date(&r->made, text);
}

static field field_of(sitemap_kind kind, struct span name)
{
    static const struct {
        const char *name;
        bool is_feed;
        field field;
    } known[] = {{"loc", false, FIELD_LOC},         {"lastmod", false, FIELD_CHANGED}, {"link", true, FIELD_LOC},
                 {"guid", true, FIELD_GUID},        {"id", true, FIELD_GUID},          {"updated", true, FIELD_CHANGED},
                 {"modified", true, FIELD_CHANGED}, {"pubDate", true, FIELD_MADE},     {"date", true, FIELD_MADE},
                 {"published", true, FIELD_MADE},   {"issued", true, FIELD_MADE}};
    bool is_feed = kind == SITEMAP_RSS || kind == SITEMAP_ATOM;
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (known[i].is_feed == is_feed && span_is_nocase(name, known[i].name))
            return known[i].field;
    return FIELD_NONE;
}

/* ---- items ---- */

static bool is_item(sitemap_kind kind, struct span name)
{
    switch (kind) {
    case SITEMAP_URLSET:
    case SITEMAP_INDEX:
        return span_is_nocase(name, "url") || span_is_nocase(name, "sitemap");
    case SITEMAP_RSS:
        return span_is_nocase(name, "item");
    default:
        return span_is_nocase(name, "entry");
    }
}

static void end_item(struct list_reader *r)
{
    if (!r->item_depth)
        return;
    if (!r->has_loc && r->guid.n)
        add_page(r, r->guid, (struct span){0});
    wall_ms at = r->changed ? r->changed : r->made;
    for (size_t i = r->first; i < r->out->count; i++)
        if (r->entries[i].kind != ENTRY_ALTERNATE)
            r->entries[i].changed = at;
    r->item_depth = 0;
    r->field = FIELD_NONE;
    r->text_n = 0;
}

/* The list ends within it: what has no end may be half of it, and what it lacks may have been to come. */
static void end_cut_item(struct list_reader *r)
{
    r->field = FIELD_NONE;
    r->guid = (struct span){0};
    end_item(r);
}

static void begin_any_item(struct list_reader *r, size_t depth)
{
    r->item_depth = depth;
    r->item_is_list = r->has_loc = false;
    r->first = r->out->count;
    r->guid = (struct span){0};
    r->changed = r->made = 0;
}

static void begin_item(struct list_reader *r, const struct xml_token *t)
{
    end_item(r);
    if (r->depth > NEST_MAX)
        r->depth = NEST_MAX; /* nobody closed anything: the rest stands no deeper */
    begin_any_item(r, r->depth + 1);
    r->item_is_list = span_is_nocase(t->name, "sitemap");
    struct span about; /* RSS 1.0 */
    if (r->out->kind == SITEMAP_RSS && xml_attr(r->a, t, SPAN("about"), &about) && is_url(about))
        r->guid = about;
}

static bool has_rel(struct list_reader *r, const struct xml_token *t, const char *want, bool if_none)
{
    struct span rel;
    return xml_attr(r->a, t, SPAN("rel"), &rel) ? span_is_nocase(rel, want) : if_none;
}

/* <link href=...>: of Atom, and of XHTML in a sitemap. */
static void on_link(struct list_reader *r, const struct xml_token *t)
{
    struct span href, type;
    if (!xml_attr(r->a, t, SPAN("href"), &href))
        return;
    if (!r->item_depth) {
        if (has_rel(r, t, "next", false) || has_rel(r, t, "prev-archive", false))
            add_entry(r, ENTRY_LIST, href, base_of(r, t->attrs));
        return;
    }
    bool is_page = !xml_attr(r->a, t, SPAN("type"), &type) || span_starts_nocase(type, SPAN("text/html")) ||
                   span_starts_nocase(type, SPAN("application/xhtml+xml"));
    bool is_feed = r->out->kind == SITEMAP_ATOM || r->out->kind == SITEMAP_RSS;
    if (!is_page || !has_rel(r, t, "alternate", is_feed))
        return;
    if (is_feed)
        add_page(r, href, base_of(r, t->attrs));
    else
        add_entry(r, ENTRY_ALTERNATE, href, base_of(r, t->attrs));
}

/* ---- tags ---- */

static bool is_permalink(struct list_reader *r, const struct xml_token *t)
{
    struct span is;
    return !xml_attr(r->a, t, SPAN("isPermaLink"), &is) || !span_is_nocase(is, "false");
}

static void on_field(struct list_reader *r, const struct xml_token *t)
{
    struct span href;
    field f = field_of(r->out->kind, t->name);
    if (span_is_nocase(t->name, "link") && xml_attr(r->a, t, SPAN("href"), &href)) {
        on_link(r, t);
        return;
    }
    if (!r->item_depth || t->is_empty || f == FIELD_NONE || (f == FIELD_GUID && !is_permalink(r, t)))
        return;
    begin_field(r, f, t->attrs);
}

/* One that is empty is open for as long as its tag is looked at: its place is nobody else's. */
static void push(struct list_reader *r, const struct xml_token *t)
{
    if (r->depth <= NEST_MAX)
        r->open[r->depth] = (struct element){.name = t->name, .attrs = t->attrs};
    r->depth += !t->is_empty;
}

/* A field that something begins in has ended without saying so, unless it is empty so far: "<loc><b>..</b></loc>". */
static void on_start(struct list_reader *r, const struct xml_token *t)
{
    bool is_in_field = r->field != FIELD_NONE;
    bool is_new_item = is_item(r->out->kind, t->name) && (!is_in_field || r->text_n);
    bool is_new_field = r->item_depth && is_in_field && r->text_n && field_of(r->out->kind, t->name) != FIELD_NONE;
    if (is_in_field && (is_new_item || is_new_field)) {
        r->depth = r->field_depth;
        end_field(r);
    }
    if (is_new_item) {
        end_bare_text(r);
        if (r->item_depth)
            r->depth = r->item_depth - 1;
        begin_item(r, t);
    } else if (r->item_depth ? r->depth == r->item_depth && !r->field : span_is_nocase(t->name, "link")) {
        on_field(r, t);
    }
    push(r, t);
    if (is_new_item && t->is_empty)
        end_item(r);
}

static void on_end(struct list_reader *r, const struct xml_token *t)
{
    size_t known = r->depth < NEST_MAX ? r->depth : NEST_MAX, at = known;
    if (r->depth > NEST_MAX) {
        r->depth--;
        return;
    }
    while (at > 0 && !span_eq_nocase(r->open[at - 1].name, t->name))
        at--;
    if (!at)
        return; /* ends nothing that is open */
    r->depth = at - 1;
    if (r->field && r->depth <= r->field_depth)
        end_field(r);
    if (r->item_depth && r->depth < r->item_depth) {
        end_bare_text(r);
        end_item(r);
    }
}

static void on_text(struct list_reader *r, const struct xml_token *t)
{
    bool is_own = r->item_depth && r->depth == r->item_depth && !r->has_loc;
    if (r->text_n < sizeof(r->text) && (r->field || is_own))
        gather(r, *t);
}

static void read_xml(struct list_reader *r, struct span text)
{
    struct xml_reader in;
    struct xml_token t;
    xml_begin(&in, text);
    while (xml_next(&in, &t)) {
        if (t.kind == XML_START)
            on_start(r, &t);
        else if (t.kind == XML_END)
            on_end(r, &t);
        else
            on_text(r, &t);
    }
    end_cut_item(r);
}

/* ---- JSON Feed ---- */

/* Escapes decoded; of more than that comes no URL that is taken, and no date. */
static struct span json_value(struct list_reader *r, struct span text)
{
    return span_trim(json_token_text(r->a, utf8_cut(text, JSON_ESCAPE_BYTES * sizeof(r->text))));
}

/* The text of a name: of the feed itself, or of the item at hand. */
static void on_json_text(struct list_reader *r, struct span name, struct span text)
{
    if (!r->item_depth) {
        if (span_is(name, "next_url"))
            add_entry(r, ENTRY_LIST, json_value(r, text), (struct span){0});
    } else if (span_is(name, "url")) {
        struct span url = json_value(r, text);
        if (!r->has_loc && url.n && url.n <= SITEMAP_URL_MAX)
            add_page(r, url, (struct span){0});
    } else if (span_is(name, "id")) {
        struct span id = json_value(r, text);
        r->guid = is_url(id) ? id : r->guid;
    } else if (span_is(name, "date_modified")) {
        note_date(&r->changed, json_value(r, text));
    } else if (span_is(name, "date_published")) {
        note_date(&r->made, json_value(r, text));
    }
}

/* The feed is an object, its "items" a list of objects: what counts of it stands one and three brackets deep. */
static void read_json(struct list_reader *r, struct span text)
{
    struct json_reader in;
    struct json_token t;
    struct span name = {0};
    bool is_items = false;
    json_begin(&in, text);
    while (json_next(&in, &t)) {
        if (t.kind == JSON_NAME) {
            name = t.text;
            continue;
        }
        if (t.kind == JSON_OPEN) {
            is_items = r->depth == 1 ? t.bracket == '[' && span_is(name, "items") : is_items;
            if (r->depth++ == 2 && is_items && t.bracket == '{')
                begin_any_item(r, r->depth);
        } else if (t.kind == JSON_CLOSE) {
            if (r->depth == 3)
                end_item(r);
            if (!r->depth || !--r->depth)
                break;
        } else if (r->depth == (r->item_depth ? 3 : 1)) {
            on_json_text(r, name, t.text);
        }
        name = (struct span){0};
    }
    end_cut_item(r);
}

static void read_lines(struct list_reader *r, struct span text)
{
    struct span line;
    while (next_line(&text, &line))
        if (is_url(line))
            add_entry(r, ENTRY_PAGE, line, (struct span){0});
}

void sitemap_read(struct arena *a, struct span text, const struct url *at, struct sitemap *out)
{
    struct list_reader r = {.a = a, .at = at, .out = out};
    *out = (struct sitemap){.kind = sitemap_kind_of(text), .cut = text.n > SITEMAP_BYTES_MAX ? SITEMAP_CUT_BYTES : 0};
    text = span_cut(text, 0, SITEMAP_BYTES_MAX);
    if (out->kind == SITEMAP_TEXT)
        read_lines(&r, text);
    else if (out->kind == SITEMAP_JSON)
        read_json(&r, text);
    else if (out->kind != SITEMAP_NONE)
        read_xml(&r, text);
    out->entries = r.entries;
}

/* ---- gzip ---- */

bool sitemap_is_gzip(struct span body)
{
    return body.n >= 2 && (unsigned char)body.p[0] == 0x1F && (unsigned char)body.p[1] == 0x8B;
}

static void take_piece(void *self, struct span piece)
{
    buf_put(self, piece);
}

status sitemap_unzip(struct arena *a, struct span body, struct span *out, bool *is_cut)
{
    struct buf plain = {0};
    uint64_t by_ratio = (uint64_t)body.n * SITEMAP_RATIO_MAX + RATIO_FREE;
    uint64_t max = by_ratio < SITEMAP_BYTES_MAX ? by_ratio : SITEMAP_BYTES_MAX;
    struct unzip *u = unzip_new(max, take_piece, &plain);
    status st = unzip_feed(u, body);
    unzip_free(u);
    bool is_bomb = st == ST_LIMIT && max == by_ratio;
    if (!is_bomb) {
        *out = arena_copy(a, buf_span(&plain));
        *is_cut = st == ST_LIMIT;
    }
    buf_done(&plain);
    return is_bomb ? ST_LIMIT : ST_OK; /* what is damaged gave what came before */
}

/* ---- as links ---- */

bool sitemap_listed(const struct summary_link *l, wall_ms now, wall_ms *changed)
{
    wall_ms at;
    if (l->kind != LINK_LISTED || !l->text.n || !date_read(l->text, &at) || at <= 0 || at - SITEMAP_FUTURE_MS > now)
        return false;
    *changed = at;
    return true;
}
