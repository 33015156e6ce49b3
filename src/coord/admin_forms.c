/* admin_forms.c - the forms of the dashboard. One that came back shows what was sent and, next to the field, what is
 * wrong with it. */
#include <stdio.h>

#include "coord/admin_pages.h"
#include "coord/agents.h"

bool form_was_sent(const struct ask *r, const char *action)
{
    return r->error.n && span_is(r->form_action, action);
}

void form_begin(struct ask *r, struct buf *out, const char *action, const char *class_name)
{
    r->is_form_sent = form_was_sent(r, action);
    buf_printf(out, "<form method=\"post\" action=\"%s\" class=\"%s\">", action, class_name);
    if (r->who.csrf[0])
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
    return r->is_form_sent && pairs_has(&r->in, name) ? pairs_get(&r->in, name) : otherwise;
}

static bool is_wrong(const struct ask *r, const char *name)
{
    return r->is_form_sent && r->error_field && strcmp(r->error_field, name) == 0;
}

/* Attributes that tie a field to its help and its error. */
static void put_ties(struct ask *r, struct buf *out, const char *name, const char *id, bool has_help)
{
    bool wrong = is_wrong(r, name);
    if (wrong) /* where the person has to go on */
        buf_puts(out, " aria-invalid=\"true\" autofocus");
    if (wrong || has_help)
        buf_printf(out, " aria-describedby=\"%s%s%s%s%s\"", wrong ? "e-" : "", wrong ? id : "",
                   wrong && has_help ? " " : "", has_help ? "h-" : "", has_help ? id : "");
}

static void put_wrong_and_help(struct ask *r, struct buf *out, const char *name, const char *id, const char *help)
{
    if (is_wrong(r, name)) {
        buf_printf(out, "<p class=\"wrong\" id=\"e-%s\">", id);
        html_sentence(out, r->error_hint);
        buf_puts(out, "</p>");
    }
    if (help)
        buf_printf(out, "<p class=\"help\" id=\"h-%s\">%s</p>", id, help);
}

void form_field(struct ask *r, struct buf *out, const struct form_field *f)
{
    const char *id = f->id ? f->id : f->name;
    buf_printf(out, "<div class=\"field\"><label for=\"f-%s\">%s</label>", id, f->label);
    /* The first field has the focus, unless another one has to be put right. */
    const char *more = f->more ? f->more : "", *focus = strstr(more, " autofocus");
    bool is_moved = focus && r->is_form_sent && r->error_field;
    int more_bytes = is_moved ? (int)(focus - more) : (int)strlen(more);
    const char *after = is_moved ? focus + strlen(" autofocus") : "";
    if (f->is_long) {
        buf_printf(out, "<textarea id=\"f-%s\" name=\"%s\" rows=\"%d\" spellcheck=\"false\"%s", id, f->name,
                   f->rows ? f->rows : 4, f->is_required ? " required" : "");
        put_ties(r, out, f->name, id, f->help != NULL);
        buf_putc(out, '>');
        html_text_lines(out, form_value(r, f->name, f->value));
        buf_puts(out, "</textarea>");
    } else {
        buf_printf(out, "<input id=\"f-%s\" name=\"%s\" type=\"%s\"%s%.*s%s", id, f->name, f->type ? f->type : "text",
                   f->is_required ? " required" : "", more_bytes, more, after);
        put_ties(r, out, f->name, id, f->help != NULL);
        buf_puts(out, " value=\"");
        if (!f->type || strcmp(f->type, "password") != 0)
            html_text(out, form_value(r, f->name, f->value));
        buf_puts(out, "\">");
    }
    put_wrong_and_help(r, out, f->name, id, f->help);
    buf_puts(out, "</div>");
}

void form_check(struct ask *r, struct buf *out, const char *name, const char *label, const char *help, bool is_on)
{
    if (r->is_form_sent)
        is_on = pairs_is_true(&r->in, name);
    buf_printf(out, "<div class=\"field check\"><input id=\"f-%s\" name=\"%s\" type=\"checkbox\" value=\"1\"%s", name,
               name, is_on ? " checked" : "");
    put_ties(r, out, name, name, help != NULL);
    buf_printf(out, "><div><label for=\"f-%s\">%s</label>", name, label);
    put_wrong_and_help(r, out, name, name, help);
    buf_puts(out, "</div></div>");
}

static void put_option(struct buf *out, struct span value, struct span text, bool is_selected)
{
    buf_puts(out, "<option value=\"");
    html_text(out, value);
    buf_printf(out, "\"%s>", is_selected ? " selected" : "");
    html_text(out, text);
    buf_puts(out, "</option>");
}

static void select_begin(struct ask *r, struct buf *out, const struct form_choice *c, struct span current)
{
    buf_printf(out, "<div class=\"field\"><label for=\"f-%s\">%s</label><select id=\"f-%s\" name=\"%s\"", c->name,
               c->label, c->name, c->name);
    put_ties(r, out, c->name, c->name, c->help != NULL);
    buf_putc(out, '>');
    if (c->none)
        put_option(out, SPAN(""), span_str(c->none), !current.n);
}

static void select_end(struct ask *r, struct buf *out, const struct form_choice *c)
{
    buf_puts(out, "</select>");
    put_wrong_and_help(r, out, c->name, c->name, c->help);
    buf_puts(out, "</div>");
}

void form_select(struct ask *r, struct buf *out, const struct form_choice *c)
{
    struct span current = form_value(r, c->name, c->current);
    select_begin(r, out, c, current);
    for (size_t i = 0; i < c->n; i++)
        put_option(out, span_str(c->values[i]), span_str(c->texts[i]), span_is(current, c->values[i]));
    select_end(r, out, c);
}

void form_agents(struct ask *r, struct buf *out, const struct form_choice *c, uint64_t current)
{
    struct c_agent **list;
    size_t n = agents_sorted(r->c, r->arena, &list);
    const struct c_agent *was = agent_get(r->c, current);
    struct span name = form_value(r, c->name, was ? span_str(was->name) : c->current);
    select_begin(r, out, c, name);
    for (size_t i = 0; i < n && i < ADMIN_ROWS_MAX; i++)
        if (list[i]->is_joined || span_is(name, list[i]->name))
            put_option(out, span_str(list[i]->name), span_str(list[i]->name), span_is(name, list[i]->name));
    select_end(r, out, c);
}

void form_button(struct ask *r, struct buf *out, const char *action, const char *text, const char *class_name,
                 const char *confirm)
{
    if (confirm) { /* works without scripts: the button is behind the question */
        buf_printf(out, "<details class=\"confirm\"><summary class=\"button %s\">%s</summary><div><p>%s</p>",
                   class_name, text, confirm);
        form_begin(r, out, action, "inline");
        buf_printf(out, "<button class=\"button %s sure\">Yes: %s</button></form></div></details>", class_name, text);
        return;
    }
    form_begin(r, out, action, "inline");
    buf_printf(out, "<button class=\"button %s\">%s</button></form>", class_name, text);
}
