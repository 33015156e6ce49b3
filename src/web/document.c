#include "web/document.h"

#include "web/charset.h"
#include "web/date.h"
#include "web/facts_text.h"
#include "web/markdown.h"
#include "web/pdf_text.h"
#include "web/plain_title.h"
#include "web/sitemap.h"
#include "web/url.h"

#define SNIFF_BYTES 1445 /* of plain text: as many as browsers look at (MIME Sniffing Standard, 5.2) */

static bool is_any(struct span s, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (span_is_nocase(s, names[i]))
            return true;
    return false;
}

/* Text for programs: style sheets, scripts, markup that is not ours to read; and what never ends. */
static bool is_machine_text(struct span media)
{
    static const char *const types[] = {
        "text/css",        "text/javascript", "text/ecmascript",     "text/x-javascript", "text/jscript",
        "text/livescript", "text/vbscript",   "text/x-ecmascript",   "text/x-component",  "text/xsl",
        "text/rtf",        "text/richtext",   "text/cache-manifest", "text/event-stream", "text/x-opml",
        "text/uri-list",   "text/ping",
    };
    return is_any(media, types, sizeof(types) / sizeof(*types));
}

/* The last part of the path. */
static struct span name_of(struct span url)
{
    size_t query = span_find(url, '?', 0), end = span_find(url, '#', 0);
    end = query < end ? query : end;
    size_t from = end;
    while (from > 0 && url.p[from - 1] != '/')
        from--;
    return span_cut(url, from, end - from);
}

static bool ends_as_any(struct span name, const struct span *ends, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (name.n >= ends[i].n && span_eq_nocase(span_from(name, name.n - ends[i].n), ends[i]))
            return true;
    return false;
}

static bool is_called_markdown(struct span url)
{
    static const struct span ends[] = {SPAN_INIT(".md"), SPAN_INIT(".markdown"), SPAN_INIT(".mdown"),
                                       SPAN_INIT(".mkd")};
    return ends_as_any(name_of(url), ends, sizeof(ends) / sizeof(*ends));
}

/* By their endings, and what lies beside source code without one. */
static bool is_called_text(struct span url)
{
    static const struct span ends[] = {SPAN_INIT(".txt"),  SPAN_INIT(".text"),     SPAN_INIT(".rst"), SPAN_INIT(".org"),
                                       SPAN_INIT(".adoc"), SPAN_INIT(".asciidoc"), SPAN_INIT(".tex")};
    static const char *const names[] = {"README",  "LICENSE", "LICENCE",   "COPYING",      "COPYRIGHT",  "NEWS",
                                        "AUTHORS", "CHANGES", "CHANGELOG", "INSTALL",      "Todo",       "HACKING",
                                        "NOTICE",  "THANKS",  "FAQ",       "CONTRIBUTING", "MAINTAINERS"};
    struct span name = name_of(url);
    return ends_as_any(name, ends, sizeof(ends) / sizeof(*ends)) || is_any(name, names, sizeof(names) / sizeof(*names));
}

/* What servers say of files that they do not know. */
static bool is_silent(struct span media)
{
    static const char *const types[] = {"application/octet-stream", "binary/octet-stream", "application/download",
                                        "application/x-download", "application/force-download"};
    return is_any(media, types, sizeof(types) / sizeof(*types));
}

/* sitemap.xml.gz, sitemap_pages_3.gz?x=1, urls.txt.gz, sitemap.php?part=2, index.rdf. */
static bool names_list(struct span url)
{
    static const struct span ends[] = {SPAN_INIT(".xml"), SPAN_INIT(".rss"),    SPAN_INIT(".atom"),
                                       SPAN_INIT(".rdf"), SPAN_INIT(".xml.gz"), SPAN_INIT(".txt.gz")};
    struct span name = name_of(url);
    return ends_as_any(name, ends, sizeof(ends) / sizeof(*ends)) || span_search(name, SPAN("sitemap"), true) < name.n;
}

/* XML may be a list, and so may be JSON that is called one, and what has the name of one and is gzip, or of a type that
 * says nothing. */
static bool may_be_list(struct span media, struct span url)
{
    static const char *const xml[] = {"application/xml", "text/xml", "application/rss+xml", "application/atom+xml",
                                      "application/rdf+xml"};
    static const char *const gzip[] = {"application/gzip", "application/x-gzip", "application/x-gzip-compressed"};
    return is_any(media, xml, sizeof(xml) / sizeof(*xml)) || sitemap_may_be_json(media, url) ||
           ((is_silent(media) || is_any(media, gzip, sizeof(gzip) / sizeof(*gzip))) && names_list(url));
}

document_kind document_kind_of(struct span content_type, struct span url)
{
    struct span media = content_type_media(content_type);
    if (span_is_nocase(media, "text/html") || span_is_nocase(media, "application/xhtml+xml"))
        return DOCUMENT_HTML;
    if (media.n == 0)
        return is_called_markdown(url) ? DOCUMENT_MARKDOWN : DOCUMENT_HTML;
    if (span_is_nocase(media, "text/markdown") || span_is_nocase(media, "text/x-markdown") ||
        ((span_is_nocase(media, "text/plain") || is_silent(media)) && is_called_markdown(url)))
        return DOCUMENT_MARKDOWN;
    if (may_be_list(media, url))
        return DOCUMENT_LIST;
    if ((span_starts_nocase(media, SPAN("text/")) && !is_machine_text(media)) ||
        (is_silent(media) && is_called_text(url)))
        return DOCUMENT_PLAIN;
    static const struct span pdf = SPAN_INIT(".pdf");
    if (span_is_nocase(media, "application/pdf") || span_is_nocase(media, "application/x-pdf") ||
        (is_silent(media) && ends_as_any(name_of(url), &pdf, 1)))
        return DOCUMENT_PDF;
    return DOCUMENT_OTHER;
}

bool document_is_read(struct span content_type, struct span url)
{
    return document_kind_of(content_type, url) < DOCUMENT_PDF;
}

bool document_is_wanted(struct span content_type, struct span url, uint64_t declared_bytes)
{
    (void)declared_bytes;
    return document_is_read(content_type, url);
}

/* Servers call text what they do not know. Bytes that no text has are something else, unless they are UTF-16 by its
 * mark or by what the server says. */
static bool is_binary(struct span body, struct span charset)
{
    if (span_starts(body, SPAN("\xfe\xff")) || span_starts(body, SPAN("\xff\xfe")) ||
        span_starts_nocase(charset, SPAN("utf-16")))
        return false;
    for (size_t i = 0; i < body.n && i < SNIFF_BYTES; i++) {
        unsigned char c = (unsigned char)body.p[i];
        if (c <= 0x08 || c == 0x0b || (c >= 0x0e && c <= 0x1a) || (c >= 0x1c && c <= 0x1f))
            return true;
    }
    return false;
}

/* The first line of a text is its title, where people wrote it; that of a table or of a program is none. */
static void read_plain(struct arena *a, struct span media, struct span text, const struct facts_opts *o,
                       struct facts *out)
{
    facts_collect_plain(a, text, o, out);
    bool is_for_people = span_is_nocase(media, "text/plain") || is_silent(media);
    out->title = is_for_people ? plain_title(a, text) : (struct span){"", 0};
}

/* ---- lists ---- */

/* What is relative to another place than the document is made absolute here. */
static struct span absolute(struct arena *a, const struct sitemap_entry *e)
{
    struct url base, u;
    bool is_moved = e->base.n && url_parse(a, e->base, NULL, &base) == ST_OK;
    return is_moved && url_parse(a, e->loc, &base, &u) == ST_OK ? u.href : e->loc;
}

static struct span date_of(struct arena *a, wall_ms at)
{
    struct buf text = {0};
    if (at)
        date_put(&text, at);
    struct span copy = text.n ? arena_copy(a, buf_span(&text)) : (struct span){"", 0};
    buf_done(&text);
    return copy;
}

static void list_facts(struct arena *a, const struct sitemap *list, struct facts *out)
{
    static const uint8_t kinds[] = {
        [ENTRY_PAGE] = LINK_LISTED, [ENTRY_ALTERNATE] = LINK_ALTERNATE, [ENTRY_LIST] = LINK_SITEMAP};
    struct text_digest digest;
    text_digest_begin(&digest);
    *out = (struct facts){.links = arena_alloc(a, list->count * sizeof(*out->links)),
                          .link_count = list->count,
                          .page_flags = PAGE_NOINDEX | PAGE_LIST,
                          .links_cut = list->cut != 0};
    for (size_t i = 0; i < list->count; i++) {
        const struct sitemap_entry *e = &list->entries[i];
        struct fact_link l = {.href = absolute(a, e), .kind = kinds[e->kind], .text = date_of(a, e->changed)};
        text_digest_add(&digest, l.href);
        text_digest_add(&digest, l.text);
        out->links[i] = l;
    }
    out->digest = text_digest_end(&digest);
}

/* True: it is a list, and *d says what it lists. What calls itself HTML is no list for having nothing but a URL. */
static bool read_list(struct arena *a, struct span text, struct span url, bool is_html, struct document *d)
{
    struct sitemap list;
    struct url at;
    sitemap_kind kind = sitemap_kind_of(text);
    if (kind == SITEMAP_NONE || (kind == SITEMAP_TEXT && is_html))
        return false;
    bool has_url = url_parse(a, url, NULL, &at) == ST_OK;
    sitemap_read(a, text, has_url ? &at : NULL, &list);
    list_facts(a, &list, &d->facts);
    d->kind = DOCUMENT_LIST;
    return true;
}

/* ---- any ---- */

status document_read(struct arena *a, struct span content_type, struct span url, struct span body,
                     const struct facts_opts *o, struct document *out)
{
    struct charset_result decoded;
    bool is_cut;
    *out = (struct document){.kind = document_kind_of(content_type, url)};
    if (out->kind >= DOCUMENT_PDF)
        return ST_OK;
    bool is_list = out->kind == DOCUMENT_LIST, is_html = out->kind == DOCUMENT_HTML;
    status st = sitemap_is_gzip(body) ? sitemap_unzip(a, body, &body, &is_cut) : ST_OK;
    bool is_said = content_type_media(content_type).n > 0;
    bool is_known_by_reading = is_list || (is_html && is_said); /* whatever bytes stand in it besides */
    if (st == ST_OK && !is_known_by_reading && is_binary(body, content_type_charset(content_type))) {
        out->kind = DOCUMENT_OTHER;
        return ST_OK;
    }
    if (st == ST_OK)
        st = charset_decode(a, body, content_type_charset(content_type), is_html || is_list, DOCUMENT_TEXT_MAX,
                            &decoded);
    if (st != ST_OK)
        return st;
    bool is_read = read_list(a, decoded.text, url, is_html && content_type.n, out);
    if (is_list && !is_read) {
        out->kind = DOCUMENT_OTHER;
        return ST_OK;
    }
    out->source = decoded.text;
    out->charset = span_str(decoded.name);
    if (is_read)
        return ST_OK;
    if (is_html) {
        facts_collect(a, decoded.text, o, &out->facts);
        bool is_utf8 = span_is(out->charset, "utf-8");
        for (size_t i = 0; !is_utf8 && i < out->facts.link_count; i++)
            out->facts.links[i].href = charset_query(a, out->facts.links[i].href, out->charset);
    } else if (out->kind == DOCUMENT_MARKDOWN)
        markdown_facts(a, decoded.text, o, &out->facts);
    else
        read_plain(a, content_type_media(content_type), decoded.text, o, &out->facts);
    return ST_OK;
}

status document_read_pdf(struct arena *a, struct span said, const struct facts_opts *o, struct document *out)
{
    struct charset_result decoded;
    *out = (struct document){.kind = DOCUMENT_PDF};
    status st = charset_decode(a, said, SPAN("utf-8"), false, DOCUMENT_TEXT_MAX, &decoded);
    if (st == ST_OK)
        pdf_facts(a, decoded.text, o, &out->facts);
    return st;
}
