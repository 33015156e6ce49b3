/* admin_pages.c - the frame of the dashboard's pages, and small texts. */
#include "coord/admin_pages.h"

#include <time.h>

#include "serve/page.h"

const char *const scripts_live[] = {"admin.js", NULL};
const char *const scripts_charts[] = {"chart.min.js", "charts.js", "admin.js", NULL};

/* ---- texts ---- */

void html_text_lines(struct buf *out, struct span s)
{
    struct span line;
    bool is_first = true;
    while (span_split(&s, '\n', &line)) {
        if (!is_first)
            buf_putc(out, '\n');
        html_text(out, line.n && line.p[line.n - 1] == '\r' ? span_cut(line, 0, line.n - 1) : line);
        is_first = false;
    }
}

void html_sentence(struct buf *out, struct span s)
{
    if (!s.n)
        return;
    char first = s.p[0] >= 'a' && s.p[0] <= 'z' ? (char)(s.p[0] - 'a' + 'A') : s.p[0];
    html_text(out, span_of(&first, 1));
    html_text(out, span_from(s, 1));
    if (!strchr(".!?", s.p[s.n - 1]))
        buf_putc(out, '.');
}

void put_ago(struct buf *out, wall_ms at, wall_ms now)
{
    time_t s = (time_t)(at / 1000);
    struct tm tm;
    if (at <= 0 || !gmtime_r(&s, &tm)) {
        buf_puts(out, "never");
        return;
    }
    char text[40];
    strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &tm);
    buf_printf(out, "<time title=\"%s\">", text);
    if (now - at < 10000)
        buf_puts(out, "just now");
    else {
        html_duration(out, (now - at) / 1000);
        buf_puts(out, " ago");
    }
    buf_puts(out, "</time>");
}

void put_agent_link(struct buf *out, const char *name)
{
    buf_puts(out, "<a href=\"/agents/");
    html_query_value(out, span_str(name));
    buf_puts(out, "\"><bdi>");
    html_text(out, span_str(name));
    buf_puts(out, "</bdi></a>");
}

void put_state(struct buf *out, const char *state)
{
    bool is_there = strcmp(state, "there") == 0;
    buf_printf(out, "<span class=\"state %s\">%s</span>", state, is_there ? "here" : state);
}

void put_rate(struct buf *out, double v)
{
    if (v >= 99.95)
        html_count(out, (uint64_t)(v + 0.5));
    else if (v < 0.05)
        buf_putc(out, '0');
    else
        buf_printf(out, "%.1f", v);
}

void put_ratio(struct buf *out, uint64_t crawled, uint64_t sent)
{
    if (!sent || crawled < sent)
        buf_puts(out, DASH);
    else
        buf_printf(out, "1/%.0f", (double)crawled / (double)sent);
}

void fact(struct buf *out, const char *name)
{
    buf_printf(out, "<div><dt>%s</dt><dd>", name);
}

void fact_end(struct buf *out)
{
    buf_puts(out, "</dd></div>");
}

void fact_bytes(struct buf *out, const char *name, uint64_t v, const char *none)
{
    fact(out, name);
    if (v)
        html_bytes(out, v);
    else
        buf_puts(out, none);
    fact_end(out);
}

/* ---- the frame ---- */

static void put_nav(struct ask *r, struct buf *out, const char *place)
{
    static const char *const links[][2] = {
        {"/", "Overview"},     {"/agents", "Agents"},       {"/channels", "Channels"}, {"/networks", "Networks"},
        {"/near", "Nearness"}, {"/freshness", "Freshness"}, {"/programs", "Programs"}, {"/people", "People"}};
    buf_puts(out, "<nav class=\"menu\" aria-label=\"Administration\">");
    for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++)
        buf_printf(out, "<a href=\"%s\"%s>%s</a>", links[i][0],
                   strcmp(place, links[i][0]) == 0 ? " aria-current=\"page\"" : "", links[i][1]);
    buf_puts(out, "</nav><div class=\"me\"><span><bdi>");
    html_text(out, span_str(r->who.name));
    buf_printf(out, "</bdi> \xc2\xb7 %s</span>", role_name(r->who.role));
    if (r->who.csrf[0]) {
        buf_puts(out, "<form method=\"post\" action=\"/logout\" class=\"inline\">");
        form_hidden(out, "csrf", span_str(r->who.csrf));
        form_hidden(out, "page", SPAN("/login"));
        buf_puts(out, "<button class=\"plain\">Log out</button></form>");
    }
    buf_puts(out, "</div>");
}

void admin_begin(struct ask *r, struct httpd_answer *ans, const char *place, struct span title)
{
    struct buf *out = &ans->body;
    const char *icon = asset_by_name(r->a->assets, "favicon.svg")->path;
    page_headers(ans, PAGE_HTML, "no-store");
    /* The last one counts. Without any referrer a browser hides, too, that a form comes from here. */
    buf_puts(&ans->head, "Referrer-Policy: same-origin\n");
    buf_puts(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>");
    html_text(out, title);
    buf_printf(out,
               " " DASH " Orbweaver</title>\n"
               "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
               "<meta name=\"color-scheme\" content=\"light dark\">\n"
               "<meta name=\"robots\" content=\"noindex\">\n"
               "<link rel=\"stylesheet\" href=\"%s\">\n<link rel=\"stylesheet\" href=\"%s\">\n"
               "<link rel=\"icon\" type=\"image/svg+xml\" href=\"%s\">\n</head>\n"
               "<body class=\"inner admin\" data-page=\"",
               asset_by_name(r->a->assets, "style.css")->path, asset_by_name(r->a->assets, "admin.css")->path, icon);
    html_text(out, r->path);
    buf_printf(out,
               "\">\n<a class=\"skip\" href=\"#main\">Skip to the content</a>\n"
               "<header class=\"top\"><a class=\"brand\" href=\"/\"><img src=\"%s\" width=\"32\" height=\"32\" "
               "alt=\"\"><span>Orbweaver</span></a>",
               icon);
    if (r->who.role >= ROLE_VIEWER)
        put_nav(r, out, place);
    buf_puts(out, "</header>\n<main id=\"main\" tabindex=\"-1\">\n");
    struct buf flash = {0};
    if (r->error.n) {
        buf_puts(out, "<p class=\"notice bad\" role=\"alert\">");
        /* A field's own name is for programs; people find the field marked. */
        if (r->error_field && r->error_hint.p != r->error.p)
            buf_puts(out, "That was not taken: the marked field is not right.");
        else
            html_sentence(out, r->error);
        buf_puts(out, "</p>\n");
    } else if (r->who.csrf[0] && !pairs_is_true(&r->in, "live")) { /* the script looks for parts only */
        session_flash_take(r->a, &r->who, &flash);
        if (flash.n) {
            buf_puts(out, "<p class=\"notice good\" role=\"status\">");
            html_text(out, buf_span(&flash));
            buf_puts(out, "</p>\n");
        }
    }
    buf_done(&flash);
}

void admin_end(struct ask *r, struct httpd_answer *ans, const char *const *scripts)
{
    struct buf *out = &ans->body;
    buf_puts(out, "</main>\n<footer><span>Orbweaver ");
    html_text(out, r->c->o.version);
    buf_puts(out, "</span></footer>\n");
    for (; scripts && *scripts; scripts++)
        buf_printf(out, "<script src=\"%s\" defer></script>\n", asset_by_name(r->a->assets, *scripts)->path);
    buf_puts(out, "</body>\n</html>\n");
}

void put_lost_note(struct buf *out)
{
    buf_puts(out, "<p id=\"lost\" class=\"lost-note\" role=\"status\"></p>\n");
}

void put_noscript(struct buf *out)
{
    buf_puts(out, "<noscript><p class=\"notice\">This page shows how things stood when it was loaded. Load it again to "
                  "see them now.</p></noscript>\n");
}

void admin_message(struct ask *r, struct httpd_answer *ans, int code, const char *heading, struct span text)
{
    admin_begin(r, ans, "", span_str(heading));
    ans->status = code;
    buf_puts(&ans->body, "<div class=\"message\"><h1>");
    html_text(&ans->body, span_str(heading));
    buf_puts(&ans->body, "</h1><p>");
    html_text(&ans->body, text);
    buf_puts(&ans->body, "</p></div>\n");
    admin_end(r, ans, NULL);
}
