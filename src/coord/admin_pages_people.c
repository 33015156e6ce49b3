/* admin_pages_people.c - logging in, the first password, and who may do what. */
#include <stdio.h>

#include "coord/admin_pages.h"

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
    form_begin(r, out, "/login", "stack");
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

static void put_again(struct ask *r, struct buf *out)
{
    form_field(r, out,
               &(struct form_field){.name = "again",
                                    .label = "The same again",
                                    .type = "password",
                                    .is_required = true,
                                    .more = " autocomplete=\"new-password\""});
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
             "a password.</p>");
    form_begin(r, out, "/setup", "stack");
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
    put_again(r, out);
    buf_puts(out, "<button class=\"button main\">Set the password</button></form></div>\n");
    admin_end(r, ans, NULL);
}

/* ---- people ---- */

static const char *const roles[] = {"viewer", "operator", "admin"};
static const char *const role_texts[] = {"viewer: looks", "operator: changes agents and channels",
                                         "admin: also people, keys, programs"};

static void put_own_password(struct ask *r, struct buf *out)
{
    char action[96];
    if (!r->who.csrf[0])
        return;
    snprintf(action, sizeof(action), "/api/v1/people/%s/password", r->who.name);
    buf_printf(out,
               "<section aria-labelledby=\"own-h\"><h2 id=\"own-h\">Your password</h2><details class=\"more\"%s>"
               "<summary>Change it</summary>",
               form_was_sent(r, action) ? " open" : "");
    form_begin(r, out, action, "wide-form");
    buf_printf(out,
               "<input class=\"vh\" name=\"username\" autocomplete=\"username\" value=\"%s\" readonly tabindex=\"-1\" "
               "aria-label=\"Name\">",
               r->who.name); /* for programs that keep passwords */
    buf_puts(out, "<fieldset><legend>New password</legend><div class=\"grid\">");
    form_field(r, out,
               &(struct form_field){.name = "password",
                                    .label = "New password",
                                    .type = "password",
                                    .is_required = true,
                                    .help = "10 characters or more. You stay logged in here and nowhere else.",
                                    .more = " autocomplete=\"new-password\" minlength=\"10\""});
    put_again(r, out);
    buf_puts(out,
             "</div></fieldset><button class=\"button\">Change the password</button></form></details></section>\n");
}

static void put_person_form(struct ask *r, struct buf *out)
{
    const char *action = "/api/v1/people";
    buf_printf(out, "<details class=\"more\"%s><summary class=\"button main\">Add a person</summary>",
               form_was_sent(r, action) ? " open" : "");
    form_begin(r, out, action, "wide-form");
    buf_puts(out, "<fieldset><legend>Person</legend><div class=\"grid\">");
    form_field(r, out,
               &(struct form_field){.name = "name",
                                    .label = "Name",
                                    .is_required = true,
                                    .help = "Letters, digits and . _ - @",
                                    .more = " maxlength=\"32\" autocapitalize=\"none\" autocomplete=\"username\""});
    form_select(
        r, out,
        &(struct form_choice){
            .name = "role", .label = "Role", .values = roles, .texts = role_texts, .n = 3, .current = SPAN("viewer")});
    form_field(r, out,
               &(struct form_field){.name = "password",
                                    .id = "first", /* not that of the own password's field */
                                    .label = "First password",
                                    .type = "password",
                                    .is_required = true,
                                    .more = " autocomplete=\"new-password\" minlength=\"10\"",
                                    .help = "10 characters or more. They can change it themselves."});
    buf_puts(out, "</div></fieldset><button class=\"button main\">Add the person</button></form></details>\n");
}

static void put_role_form(struct ask *r, struct buf *out, const struct person *p)
{
    char action[96];
    snprintf(action, sizeof(action), "/api/v1/people/%s/role", p->name);
    buf_puts(out, "<details class=\"confirm\"><summary class=\"button small\">Change the role</summary><div>");
    form_begin(r, out, action, "row");
    buf_puts(out, "<select name=\"role\" aria-label=\"Role of ");
    html_text(out, span_str(p->name));
    buf_puts(out, "\">");
    for (int i = 0; i < 3; i++)
        buf_printf(out, "<option value=\"%s\"%s>%s</option>", roles[i],
                   strcmp(role_name(p->role), roles[i]) == 0 ? " selected" : "", role_texts[i]);
    buf_puts(out, "</select> <button class=\"button small\">Change</button></form></div></details>");
}

/* admin.lock held. */
static void put_people(struct ask *r, struct buf *out)
{
    static const struct column cols[] = {{.name = "Name"}, {.name = "Role"}, {.name = "Since"}, {.name = ""}};
    struct table_out t;
    char action[96];
    table_begin(&t, out, "People", cols, 4, NULL);
    for (size_t i = 0; i < r->a->person_count && i < ADMIN_ROWS_MAX; i++) {
        const struct person *p = &r->a->people[i];
        bool is_self = strcmp(p->name, r->who.name) == 0;
        row_begin(&t, span_str(p->name));
        buf_puts(out, "<bdi>");
        html_text(out, span_str(p->name));
        buf_puts(out, is_self ? "</bdi> (you)" : "</bdi>");
        cell(&t);
        buf_puts(out, role_name(p->role));
        cell(&t);
        html_date(out, p->added);
        cell(&t);
        buf_puts(out, "<div class=\"actions\">");
        put_role_form(r, out, p);
        snprintf(action, sizeof(action), "/api/v1/people/%s/remove", p->name);
        if (!is_self)
            form_button(r, out, action, "Remove", "small danger", "They are logged out at once.");
        buf_puts(out, "</div>");
        row_end(&t);
    }
    table_end(&t);
}

void page_people(struct ask *r, struct httpd_answer *ans)
{
    struct buf *out = &ans->body;
    admin_begin(r, ans, "/people", SPAN("People"));
    buf_puts(
        out,
        "<div class=\"head\"><div><h1>People</h1><p class=\"sub\">A viewer looks; an operator also changes agents, "
        "channels and networks; an admin also people, keys, programs and updates.</p></div></div>\n");
    if (r->who.role >= ROLE_ADMIN) {
        put_person_form(r, out);
        pthread_mutex_lock(&r->a->lock);
        put_people(r, out);
        pthread_mutex_unlock(&r->a->lock);
    }
    put_own_password(r, out);
    admin_end(r, ans, scripts_live);
}
