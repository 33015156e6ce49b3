#include "serve/page.h"

#include <stdio.h>

#include "codec/json.h"
#include "serve/html.h"

/* No script or style but our own files; nothing is loaded from elsewhere, nothing may frame the page. Chart.js needs no
 * inline style: it sets style properties one by one, which the policy allows. */
#define POLICY                                                                                                  \
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action " \
    "'self'; "                                                                                                  \
    "base-uri 'none'; frame-ancestors 'none'"

void page_headers(struct httpd_answer *ans, const char *type, const char *cache)
{
    buf_printf(&ans->head,
               "Content-Type: %s\n"
               "Cache-Control: %s\n"
               "Content-Security-Policy: " POLICY "\n"
               "X-Content-Type-Options: nosniff\n"
               "X-Frame-Options: DENY\n"
               "Referrer-Policy: no-referrer\n"
               "Cross-Origin-Opener-Policy: same-origin\n"
               "Cross-Origin-Resource-Policy: same-origin\n"
               "Permissions-Policy: camera=(), geolocation=(), microphone=()\n",
               type, cache);
}

void page_form(struct buf *out, struct span query, bool is_large)
{
    buf_printf(out,
               "<form class=\"search%s\" role=\"search\" action=\"/search\" method=\"get\">"
               "<label class=\"vh\" for=\"q\">Search words</label>"
               "<input id=\"q\" name=\"q\" type=\"search\" dir=\"auto\" value=\"",
               is_large ? " large" : "");
    html_text(out, query);
    buf_printf(out,
               "\" maxlength=\"1000\" autocomplete=\"off\" autocapitalize=\"none\" spellcheck=\"false\" "
               "enterkeyhint=\"search\" placeholder=\"Search\" aria-keyshortcuts=\"/\"%s>"
               "<button type=\"submit\"><svg viewBox=\"0 0 24 24\" width=\"20\" height=\"20\" aria-hidden=\"true\" "
               "focusable=\"false\"><circle cx=\"10.5\" cy=\"10.5\" r=\"6.5\"/><path d=\"m15.5 15.5 5 5\"/></svg>"
               "<span class=\"vh\">Search</span></button></form>",
               is_large ? " autofocus" : "");
}

static void put_nav_link(struct buf *out, const char *href, const char *text, bool is_current)
{
    buf_printf(out, "<a href=\"%s\"%s>%s</a>", href, is_current ? " aria-current=\"page\"" : "", text);
}

void page_begin(const struct page_request *r, struct buf *out, page_place place, struct span title, struct span query)
{
    const struct assets *as = r->s->assets;
    buf_puts(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>");
    html_text(out, title);
    if (title.n)
        buf_puts(out, " \xe2\x80\x93 ");
    buf_printf(out,
               "Orbweaver</title>\n"
               "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
               "<meta name=\"color-scheme\" content=\"light dark\">\n"
               "<meta name=\"robots\" content=\"noindex\">\n"
               "<link rel=\"stylesheet\" href=\"%s\">\n"
               "<link rel=\"icon\" type=\"image/svg+xml\" href=\"%s\">\n"
               "<link rel=\"search\" type=\"application/opensearchdescription+xml\" title=\"Orbweaver\" "
               "href=\"/opensearch.xml\">\n</head>\n",
               asset_by_name(as, "style.css")->path, asset_by_name(as, "favicon.svg")->path);
    buf_printf(out, "<body class=\"%s\">\n<a class=\"skip\" href=\"#main\">Skip to %s</a>\n",
               place == AT_START ? "start" : "inner", place == AT_RESULTS ? "the results" : "the content");
    if (place != AT_START) {
        buf_printf(out,
                   "<header class=\"top\"><a class=\"brand\" href=\"/\"><img src=\"%s\" width=\"32\" height=\"32\" "
                   "alt=\"\"><span>Orbweaver</span></a>",
                   asset_by_name(as, "favicon.svg")->path);
        page_form(out, query, false);
        buf_puts(out, "</header>\n");
    }
    buf_puts(out, "<main id=\"main\" tabindex=\"-1\">\n");
}

void page_end(const struct page_request *r, struct buf *out, page_place place, const char *const *scripts)
{
    buf_puts(out, "</main>\n<footer><nav aria-label=\"Site\">");
    if (place != AT_START)
        put_nav_link(out, "/", "Search", false);
    put_nav_link(out, "/status", "Status", place == AT_STATUS);
    put_nav_link(out, "/about-this-crawler", "About this crawler", place == AT_ABOUT);
    buf_puts(out, "</nav></footer>\n");
    buf_printf(out, "<script src=\"%s\" defer></script>\n", asset_by_name(r->s->assets, "page.js")->path);
    for (; scripts && *scripts; scripts++)
        buf_printf(out, "<script src=\"%s\" defer></script>\n", asset_by_name(r->s->assets, *scripts)->path);
    buf_puts(out, "</body>\n</html>\n");
}

void page_message(const struct page_request *r, struct httpd_answer *ans, int code, const char *heading,
                  struct span text)
{
    ans->status = code;
    page_headers(ans, PAGE_HTML, "no-store");
    page_begin(r, &ans->body, AT_NOWHERE, span_str(heading), SPAN(""));
    buf_puts(&ans->body, "<div class=\"message\"><h1>");
    html_text(&ans->body, span_str(heading));
    buf_puts(&ans->body, "</h1><p>");
    html_text(&ans->body, text);
    buf_puts(&ans->body, "</p></div>\n");
    page_end(r, &ans->body, AT_NOWHERE, NULL);
}

void page_error_json(struct httpd_answer *ans, int code, const char *name, const char *message)
{
    ans->status = code;
    page_headers(ans, PAGE_JSON, "no-store");
    struct json j = {.out = &ans->body};
    json_open(&j, '{');
    json_key(&j, "error");
    json_open(&j, '{');
    json_key(&j, "code");
    json_str(&j, name);
    json_key(&j, "message");
    json_str(&j, message);
    json_close(&j, '}');
    json_close(&j, '}');
    buf_putc(&ans->body, '\n');
}

bool page_is_known(const struct page_request *r, struct httpd_answer *ans, uint64_t generation)
{
    struct buf text = {0};
    buf_printf(&text, "%llu %.*s", (unsigned long long)generation, SPAN_ARG(r->target));
    char tag[32];
    /* Weak: the time a search took is part of the page. The key is drawn at start, so a newer program has other tags.
     */
    snprintf(tag, sizeof(tag), "W/\"%016llx\"", (unsigned long long)siphash(&r->s->key, buf_span(&text)));
    buf_done(&text);
    buf_printf(&ans->head, "ETag: %s\n", tag);
    struct span opaque = span_str(tag + 2);
    if (r->if_none_match.n == 0 || span_search(r->if_none_match, opaque, false) == r->if_none_match.n)
        return false;
    ans->status = 304;
    atomic_fetch_add(&r->s->counters.not_modified, 1);
    return true;
}

/* ---- small pages ---- */

void page_opensearch(const struct page_request *r, struct httpd_answer *ans)
{
    const struct asset *t = asset_by_name(r->s->assets, "opensearch.xml");
    struct html_fill fills[] = {{"base", r->base, false}};
    page_headers(ans, t->type, "private, max-age=3600");
    html_template(&ans->body, t->plain, fills, 1);
}

static const char *trouble_of(status st)
{
    switch (st) {
    case ST_CORRUPT:
        return "The index is damaged, or of an older version of the program. Whoever runs this can make it anew with: "
               "orb check";
    case ST_NEWER:
        return "The index was made by a newer version of the program.";
    default:
        return "The index cannot be read at the moment.";
    }
}

/* How to get an index, where there is none. */
static void put_first_steps(const struct page_request *r, struct buf *out)
{
    buf_puts(out, "<div class=\"message\"><h2>Nothing to search yet</h2>"
                  "<p>This folder has no index. Crawl a site into it, and what was found can be searched a few seconds "
                  "later:</p><pre><code>orb crawl ");
    if (r->is_local && strcmp(r->s->data_dir, "orb-data") != 0) {
        buf_puts(out, "--data ");
        html_text(out, span_str(r->s->data_dir));
        buf_putc(out, ' ');
    }
    buf_puts(out, "https://example.org/</code></pre></div>");
}

void page_start(const struct page_request *r, struct httpd_answer *ans)
{
    struct watch_now now;
    struct buf *out = &ans->body;
    watch_get(r->s->watch, &now);
    page_headers(ans, PAGE_HTML, "private, no-cache");
    page_begin(r, out, AT_START, SPAN(""), SPAN(""));
    buf_printf(out, "<h1 class=\"hero\"><img src=\"%s\" width=\"72\" height=\"72\" alt=\"\"> Orbweaver</h1>\n",
               asset_by_name(r->s->assets, "favicon.svg")->path);
    page_form(out, SPAN(""), true);
    if (now.has_index) {
        buf_puts(out, "<p class=\"quiet\">Search ");
        html_count(out, now.index.docs);
        buf_puts(out, now.index.docs == 1 ? " page" : " pages");
        if (now.is_running)
            buf_puts(out, ", more by the minute: <a href=\"/status\">a crawl is running</a>");
        buf_puts(out, "</p>\n");
        buf_put(out, asset_by_name(r->s->assets, "tips.html")->plain);
    } else if (now.index_status == ST_NOT_FOUND)
        put_first_steps(r, out);
    else
        buf_printf(out, "<div class=\"message\"><h2>No search at the moment</h2><p>%s</p></div>",
                   trouble_of(now.index_status));
    page_end(r, out, AT_START, NULL);
}
