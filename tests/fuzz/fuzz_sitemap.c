/* A sitemap, a feed or a text, plain or gzip. Reading it must keep every limit, and cutting it in two must give entries
 * that the whole has too. The same bytes are read as a date and as rows of XML and of JSON. */
#include <stdlib.h>

#include "web/charset.h"
#include "web/date.h"
#include "web/json_token.h"
#include "web/sitemap.h"
#include "web/url.h"
#include "web/xml_token.h"

#define TEXT_MAX (4u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_list(const struct sitemap *list)
{
    size_t alternates = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct sitemap_entry *e = &list->entries[i];
        alternates += e->kind == ENTRY_ALTERNATE;
        if (!e->loc.n || e->loc.n > SITEMAP_URL_MAX || e->base.n > SITEMAP_BASE_MAX)
            abort();
    }
    if (alternates > SITEMAP_ALTERNATES_MAX || list->count - alternates > SITEMAP_ENTRIES_MAX)
        abort();
    if (list->kind == SITEMAP_NONE && list->count)
        abort();
}

/* Of XML: the end of a text tells nothing of its last line. */
static void check_half(struct arena *a, struct span text, const struct sitemap *all)
{
    struct sitemap half;
    sitemap_read(a, span_cut(text, 0, text.n / 2), NULL, &half);
    check_list(&half);
    if (half.kind != all->kind || half.kind == SITEMAP_TEXT)
        return;
    for (size_t i = 0; i < half.count; i++)
        if (i >= all->count || !span_eq(half.entries[i].loc, all->entries[i].loc))
            abort();
}

static void check_date(struct span text)
{
    wall_ms at, back;
    struct buf out = {0};
    if (date_read(text, &at)) {
        date_put(&out, at);
        if (out.n && (!date_read(buf_span(&out), &back) || back != at))
            abort();
    }
    buf_done(&out);
}

static void check_tokens(struct arena *a, struct span text)
{
    struct xml_reader r;
    struct xml_token t;
    struct span value;
    size_t before = 0;
    xml_begin(&r, text);
    while (xml_next(&r, &t)) {
        if (r.at <= before || r.at > text.n)
            abort();
        before = r.at;
        if (t.kind == XML_TEXT)
            (void)xml_text(a, &t);
        else if (t.kind == XML_START)
            (void)xml_attr(a, &t, SPAN("href"), &value);
    }
}

static void check_json(struct arena *a, struct span text)
{
    struct json_reader r;
    struct json_token t;
    size_t before = 0;
    json_begin(&r, text);
    while (json_next(&r, &t)) {
        if (r.at <= before || r.at > text.n)
            abort();
        before = r.at;
        if (t.kind >= JSON_NAME && (json_token_text(a, t.text).n > t.text.n || t.text.n > text.n))
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a;
    struct span body = span_of(data, size);
    struct charset_result decoded;
    struct sitemap list;
    struct url at;
    bool is_cut;
    arena_init(&a);
    if (url_parse(&a, SPAN("http://a/b/c"), NULL, &at) != ST_OK)
        abort();
    check_date(body);
    if (sitemap_is_gzip(body) && sitemap_unzip(&a, body, &body, &is_cut) != ST_OK)
        body.n = 0;
    if (charset_decode(&a, body, (struct span){0}, true, TEXT_MAX, &decoded) == ST_OK) {
        sitemap_read(&a, decoded.text, &at, &list);
        check_list(&list);
        check_half(&a, decoded.text, &list);
        check_tokens(&a, decoded.text);
        check_json(&a, decoded.text);
    }
    arena_done(&a);
    return 0;
}
