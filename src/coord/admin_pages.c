/* admin_pages.c - the frame of the dashboard's pages, login and set-up. */
#include "coord/admin_pages.h"

#include "coord/admin_internal.h"
#include "serve/page.h"

/* ---- pieces ---- */

void form_begin(struct ask *r, struct buf *out, const char *action, const char *class_name)
{
    buf_printf(out, "<form method=\"post\" action=\"%s\" class=\"%s\">", action, class_name);
    form_hidden(out, "csrf", span_str(r->who.csrf));
    form_hidden(out, "page", r->path);
}

void form_hidden(struct buf *out, const char *name, struct span value)
{
    buf_printf(out, "<input type=\"hidden\" name=\"%s\" value=\"", name);
    html_text(out, value);
    buf_puts(out, "\">");
}

struct span form_value(struct ask *r, const char *name, struct span otherwise)
{
    return r->error.n && pairs_has(&r->in, name) ? pairs_get(&r->in, name) : otherwise;
}

void form_field(struct ask *r, struct buf *out, const struct form_field *f)
{
    buf_printf(out, "<div class=\"field\"><label for=\"f-%s\">%s</label>", f->name, f->label);
    if (f->is_long) {
        buf_printf(out, "<textarea id=\"f-%s\" name=\"%s\" rows=\"%d\" spellcheck=\"false\"%s%s%s%s>", f->name, f->name,
                   f->rows ? f->rows : 4, f->is_required ? " required" : "", f->help ? " aria-describedby=\"h-" : "",
                   f->help ? f->name : "", f->help ? "\"" : "");
        html_text_lines(out, form_value(r, f->name, f->value));
        buf_puts(out, "</textarea>");
    } else {
        buf_printf(out, "<input id=\"f-%s\" name=\"%s\" type=\"%s\"%s%s%s%s%s value=\"", f->name, f->name,
                   f->type ? f->type : "text", f->is_required ? " required" : "", f->more ? f->more : "",
                   f->help ? " aria-describedby=\"h-" : "", f->help ? f->name : "", f->help ? "\"" : "");
        if (!f->type || strcmp(f->type, "password") != 0)
            html_text(out, form_value(r, f->name, f->value));
        buf_puts(out, "\">");
    }
    if (f->help)
        buf_printf(out, "<p class=\"help\" id=\"h-%s\">%s</p>", f->name, f->help);
    buf_puts(out, "</div>");
}

void form_check(struct ask *r, struct buf *out, const char *name, const char *label, bool is_on)
{
    if (r->error.n)
        is_on = pairs_is_true(&r->in, name);
    buf_printf(out, "<div class=\"field check\"><input id=\"f-%s\" name=\"%s\" type=\"checkbox\" value=\"1\"%s>", name,
               name, is_on ? " checked" : "");
    buf_printf(out, "<label for=\"f-%s\">%s</label></div>", name, label);
}

void form_select(struct ask *r, struct buf *out, const char *name, const char *label, const char *const *values,
                 const char *const *texts, size_t n, struct span current)
{
    current = form_value(r, name, current);
    buf_printf(out, "<div class=\"field\"><label for=\"f-%s\">%s</label><select id=\"f-%s\" name=\"%s\">", name, label,
               name, name);
    for (size_t i = 0; i < n; i++) {
        buf_puts(out, "<option value=\"");
        html_text(out, span_str(values[i]));
        buf_printf(out, "\"%s>", span_is(current, values[i]) ? " selected" : "");
        html_text(out, span_str(texts[i]));
        buf_puts(out, "</option>");
    }
    buf_puts(out, "</select></div>");
}

void form_button(struct ask *r, struct buf *out, const char *action, const char *text, const char *class_name,
                 const char *confirm)
{
    if (confirm) { /* works without scripts: the button is behind the question */
        buf_printf(out, "<details class=\"confirm\"><summary class=\"button %s\">%s</summary><div><p>%s</p>",
                   class_name, text, confirm);
        form_begin(r, out, action, "inline");
        buf_printf(out, "<button class=\"button %s\">Yes: %s</button></form></div></details>", class_name, text);
        return;
    }
    form_begin(r, out, action, "inline");
    buf_printf(out, "<button class=\"button %s\">%s</button></form>", class_name, text);
}

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

void put_ago(struct buf *out, wall_ms at, wall_ms now)
{
    if (!at) {
        buf_puts(out, "never");
        return;
    }
    html_duration(out, (now - at) / 1000);
    buf_puts(out, " ago");
}

void put_agent_link(struct buf *out, const char *name)
{
    buf_puts(out, "<a href=\"/agents/");
    html_query_value(out, span_str(name));
    buf_puts(out, "\"><bdi>");
    html_text(out, span_str(name));
    buf_puts(out, "</bdi></a>");
}

/* ---- the frame ---- */

static void put_nav(struct ask *r, struct buf *out, const char *place)
{
    static const char *const links[][2] = {{"/", "Overview"},         {"/agents", "Agents"},
                                           {"/channels", "Channels"}, {"/networks", "Networks"},
                                           {"/programs", "Programs"}, {"/people", "People"}};
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
               " \xe2\x80\x93 Orbweaver</title>\n"
               "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
               "<meta name=\"color-scheme\" content=\"light dark\">\n"
               "<meta name=\"robots\" content=\"noindex\">\n"
               "<link rel=\"stylesheet\" href=\"%s\">\n<link rel=\"stylesheet\" href=\"%s\">\n"
               "<link rel=\"icon\" type=\"image/svg+xml\" href=\"%s\">\n</head>\n"
               "<body class=\"inner admin\">\n<a class=\"skip\" href=\"#main\">Skip to the content</a>\n"
               "<header class=\"top\"><a class=\"brand\" href=\"/\"><img src=\"%s\" width=\"32\" height=\"32\" "
               "alt=\"\"><span>Orbweaver</span></a>",
               asset_by_name(r->a->assets, "style.css")->path, asset_by_name(r->a->assets, "admin.css")->path, icon,
               icon);
    if (r->who.role >= ROLE_VIEWER)
        put_nav(r, out, place);
    buf_puts(out, "</header>\n<main id=\"main\" tabindex=\"-1\">\n");
    struct buf flash = {0};
    if (r->error.n) {
        buf_puts(out, "<p class=\"notice bad\" role=\"alert\">");
        html_text(out, r->error);
        buf_puts(out, "</p>\n");
    } else if (r->who.csrf[0]) {
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

/* ---- login and set-up ---- */

void page_login(struct ask *r, struct httpd_answer *ans)
{
    struct buf *out = &ans->body;
    if (r->who.role >= ROLE_VIEWER && !r->error.n) {
        admin_message(r, ans, 200, "You are logged in", SPAN("The overview has everything."));
        return;
    }
    admin_begin(r, ans, "", SPAN("Log in"));
    buf_puts(out, "<div class=\"door\"><h1>Log in</h1>");
    if (!admin_has_people(r->a))
        buf_puts(out,
                 "<p class=\"notice\">Nobody has set a password yet. The coordinator shows a link for that when it "
                 "starts.</p>");
    buf_puts(out, "<form method=\"post\" action=\"/login\" class=\"stack\">");
    form_hidden(out, "page", SPAN("/login"));
    form_hidden(out, "next", pairs_get(&r->in, "next"));
    form_field(r, out,
               &(struct form_field){.name = "name",
                                    .label = "Name",
                                    .is_required = true,
                                    .more = " autocomplete=\"username\" autocapitalize=\"none\" autofocus"});
    form_field(r, out,
               &(struct form_field){.name = "password",
                                    .label = "Password",
                                    .type = "password",
                                    .is_required = true,
                                    .more = " autocomplete=\"current-password\""});
    buf_puts(out, "<button class=\"button main\">Log in</button></form></div>\n");
    admin_end(r, ans, NULL);
}

void page_setup(struct ask *r, struct httpd_answer *ans)
{
    struct buf *out = &ans->body;
    struct span key = pairs_get(&r->in, "key");
    if (!setup_key_is_right(r->a, key)) {
        r->error = SPAN("");
        admin_message(r, ans, 403, "This link is over",
                      SPAN("It works once and for 15 minutes. While nobody has set a password, a new start of the "
                           "coordinator shows a new one; afterwards, log in."));
        return;
    }
    admin_begin(r, ans, "", SPAN("Set a password"));
    buf_puts(out,
             "<div class=\"door\"><h1>Welcome</h1><p>You are the first admin of this coordinator. Choose a name and "
             "a password.</p><form method=\"post\" action=\"/setup\" class=\"stack\">");
    form_hidden(out, "page", SPAN("/setup"));
    form_hidden(out, "key", key);
    form_field(r, out,
               &(struct form_field){.name = "name",
                                    .label = "Name",
                                    .value = SPAN("admin"),
                                    .is_required = true,
                                    .more = " autocomplete=\"username\" autocapitalize=\"none\" maxlength=\"32\""});
    form_field(r, out,
               &(struct form_field){.name = "password",
                                    .label = "Password",
                                    .type = "password",
                                    .is_required = true,
                                    .more = " autocomplete=\"new-password\" minlength=\"10\" autofocus",
                                    .help = "10 characters or more."});
    form_field(r, out,
               &(struct form_field){.name = "again",
                                    .label = "The same again",
                                    .type = "password",
                                    .is_required = true,
                                    .more = " autocomplete=\"new-password\""});
    buf_puts(out, "<button class=\"button main\">Set the password</button></form></div>\n");
    admin_end(r, ans, NULL);
}
