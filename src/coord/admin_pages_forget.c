/* admin_pages_forget.c - the dashboard's page of what is forgotten: the list, and a form that forgets more.
 *
 * What it takes out does not come back, so the form wants to be told that it is meant (deed_forget looks). */
#include "coord/admin_pages.h"
#include "io/clock.h"
#include "store/store.h"

#define ACTION "/api/v1/forget"
#define PLACE_SHOWN 200
#define LISTED_MAX 100000

/* ---- the form ---- */

static void put_form(struct ask *r, struct buf *out)
{
    /* A place may come with the address of the page; nothing happens before somebody presses the button. */
    struct span asked = r->is_post ? SPAN("") : span_cut(pairs_get(&r->in, "place"), 0, 2048);
    bool was_sent = form_was_sent(r, ACTION) && !pairs_is_true(&r->in, "undo");
    buf_printf(out, "<details class=\"more\" id=\"forget\"%s><summary class=\"button\">Forget a place</summary>",
               asked.n || was_sent ? " open" : "");
    form_begin(r, out, ACTION, "wide-form");
    r->is_form_sent = was_sent;
    buf_puts(out, "<fieldset><legend>What is to be forgotten</legend><div class=\"stack\">");
    form_field(r, out,
               &(struct form_field){.name = "places",
                                    .label = "Places, one a line",
                                    .value = asked,
                                    .is_required = true,
                                    .is_long = true,
                                    .rows = 3,
                                    .help = "A page <code>https://example.org/a</code>, what begins like that "
                                            "<code>https://example.org/a*</code>, a site <code>example.org</code>, or "
                                            "a domain with all its sites <code>.example.org</code>."});
    form_field(r, out,
               &(struct form_field){.name = "why",
                                    .label = "Why",
                                    .help = "For those who look at the list later.",
                                    .more = " maxlength=\"1000\" placeholder=\"not said\""});
    form_check(
        r, out, "sure", "Yes, for good",
        "Pages, texts, links and WARC records of these places are overwritten here, agents stop asking for them, "
        "and nothing brings them back. Backups are left alone.",
        false);
    buf_puts(out, "</div></fieldset><button class=\"button danger\">Forget them</button></form></details>\n");
}

/* ---- the list ---- */

struct rows {
    struct arena *arena;
    const struct listing *l;
    struct forgotten *list; /* in the arena */
    size_t n, cap, all;
};

static status keep_row(void *arg, const struct forgotten *f)
{
    struct rows *k = arg;
    if (k->all++ >= LISTED_MAX)
        return ST_OK;
    if (!listing_matches(k->l, f->place, f->why))
        return ST_OK;
    if (k->n == k->cap) {
        struct forgotten *wider = arena_alloc(k->arena, (k->cap * 2 + 64) * sizeof(*wider));
        if (k->n)
            memcpy(wider, k->list, k->n * sizeof(*wider));
        k->list = wider;
        k->cap = k->cap * 2 + 64;
    }
    k->list[k->n++] =
        (struct forgotten){.place = arena_copy(k->arena, f->place), .at = f->at, .why = arena_copy(k->arena, f->why)};
    return ST_OK;
}

static void put_undo(struct ask *r, struct buf *out, struct span place)
{
    buf_puts(out, "<details class=\"confirm\"><summary class=\"button small\">Allow again</summary><div><p>It may be "
                  "crawled again when a channel leads there. What was taken out stays out.</p>");
    form_begin(r, out, ACTION, "inline");
    form_hidden(out, "places", place);
    form_hidden(out, "undo", SPAN("1"));
    buf_puts(out, "<button class=\"button small sure\">Yes: Allow again</button></form></div></details>");
}

static void put_row(struct ask *r, struct table_out *t, const struct forgotten *f, wall_ms now)
{
    struct buf *out = t->out;
    row_begin(t, f->place);
    buf_puts(out, "<bdi>");
    html_text(out, span_cut(f->place, 0, PLACE_SHOWN));
    buf_puts(out, f->place.n > PLACE_SHOWN ? "\xe2\x80\xa6</bdi>" : "</bdi>");
    cell(t);
    put_ago(out, f->at, now);
    cell(t);
    if (f->why.n) {
        buf_puts(out, "<bdi>");
        html_text(out, f->why);
        buf_puts(out, "</bdi>");
    } else
        buf_puts(out, DASH);
    if (r->who.role >= ROLE_OPERATOR) {
        cell(t);
        buf_puts(out, "<div class=\"actions\">");
        put_undo(r, out, f->place);
        buf_puts(out, "</div>");
    }
    row_end(t);
}

static void put_list(struct ask *r, struct buf *out, struct listing *l, const struct rows *k)
{
    static const struct column cols[] = {{.name = "Place", .is_wide = true},
                                         {.name = "Since", .is_number = true},
                                         {.name = "Why", .is_wide = true},
                                         {.name = ""}};
    struct table_out t;
    wall_ms now = clock_wall();
    if (k->all > 5 || listing_is_filtered(l))
        listing_form(r, out, l, "places", NULL, 0, false);
    listing_cut(l, k->n);
    if (k->n) {
        table_begin(&t, out, "What is forgotten", cols, r->who.role >= ROLE_OPERATOR ? 4 : 3, NULL);
        for (size_t i = l->from; i < l->to; i++)
            put_row(r, &t, &k->list[i], now);
        table_end(&t);
        listing_foot(out, l, "places");
    } else if (k->all)
        buf_puts(out, "<div class=\"empty\"><p>No place is like that.</p></div>");
    else
        buf_puts(out, "<div class=\"empty\"><p>Nothing is forgotten.</p></div>");
}

/* ---- the page ---- */

void page_forgotten(struct ask *r, struct httpd_answer *ans)
{
    struct buf *out = &ans->body, why = {0};
    struct listing l;
    struct store *s = NULL;
    listing_read(r, "/forgotten", &l);
    struct rows k = {.arena = r->arena, .l = &l};
    status st = store_open(r->c->data_dir, STORE_READ, &s, &why); /* beside the one that writes */
    if (st == ST_OK)
        st = store_forgotten_each(s, keep_row, &k);
    store_free(s);
    if (st != ST_OK)
        admin_message(r, ans, 500, "The list cannot be read",
                      why.n ? arena_copy(r->arena, buf_span(&why)) : span_str(status_name(st)));
    buf_done(&why);
    if (st != ST_OK)
        return;
    admin_begin(r, ans, "/channels", SPAN("Forgotten"));
    buf_puts(out, "<nav class=\"crumbs\" aria-label=\"Where this is\"><a href=\"/channels\">Channels</a></nav><div "
                  "class=\"head\"><div><h1>Forgotten</h1><p class=\"sub\">Nothing of these places is kept here, and no "
                  "channel, link or agent brings them back.</p></div></div>\n");
    if (r->who.role >= ROLE_OPERATOR)
        put_form(r, out);
    put_list(r, out, &l, &k);
    admin_end(r, ans, scripts_live);
}
