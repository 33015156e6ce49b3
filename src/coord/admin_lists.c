/* admin_lists.c - tables, and lists that are too long for one page: what is looked for, in which order, which part. */
#include "coord/admin_pages.h"

#include <stdlib.h>

/* ---- tables ---- */

static void put_link(struct buf *out, const struct listing *l, struct span sort, size_t page)
{
    const struct {
        const char *name;
        struct span v;
    } fields[] = {{"q", l->q}, {"state", l->state}, {"agent", l->agent}, {"sort", sort}};
    char mark = '?';
    buf_puts(out, l->path);
    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
        if (!fields[i].v.n)
            continue;
        buf_printf(out, "%s%s=", mark == '?' ? "?" : "&amp;", fields[i].name);
        html_query_value(out, fields[i].v);
        mark = '&';
    }
    if (page > 1)
        buf_printf(out, "%spage=%zu", mark == '?' ? "?" : "&amp;", page);
}

static void put_heading(struct buf *out, const struct column *c, const struct listing *l)
{
    bool is_sorted = l && c->sort && (span_is(l->sort, c->sort) || (!c->sort[0] && !l->sort.n));
    buf_printf(out, "<th scope=\"col\"%s%s>", c->is_number ? " class=\"n\"" : "",
               !is_sorted     ? ""
               : c->is_number ? " aria-sort=\"descending\""
                              : " aria-sort=\"ascending\"");
    if (l && c->sort) {
        buf_puts(out, "<a href=\"");
        put_link(out, l, span_str(c->sort), 1);
        buf_printf(out, "\">%s</a>", c->name);
    } else
        buf_puts(out, c->name[0] ? c->name : "<span class=\"vh\">Actions</span>");
    buf_puts(out, "</th>");
}

void table_begin(struct table_out *t, struct buf *out, const char *caption, const struct column *cols, size_t n,
                 const struct listing *l)
{
    *t = (struct table_out){.out = out, .cols = cols, .n = n};
    buf_printf(out, "<div class=\"scroll\"><table class=\"cards\"><caption class=\"vh\">%s</caption><thead><tr>",
               caption);
    for (size_t i = 0; i < n; i++)
        put_heading(out, &cols[i], l);
    buf_puts(out, "</tr></thead><tbody>\n");
}

void row_begin(struct table_out *t, struct span key)
{
    t->at = 0;
    buf_puts(t->out, "<tr data-key=\"");
    html_text(t->out, key);
    buf_puts(t->out, "\"><th scope=\"row\">");
}

void cell(struct table_out *t)
{
    const struct column *c = &t->cols[++t->at];
    const char *classes = c->is_number && c->is_wide ? " class=\"n wide\""
                          : c->is_number             ? " class=\"n\""
                          : !c->name[0]              ? " class=\"do wide\""
                          : c->is_wide               ? " class=\"wide\""
                                                     : "";
    buf_printf(t->out, "</%s><td%s", t->at == 1 ? "th" : "td", classes);
    if (c->name[0])
        buf_printf(t->out, " data-name=\"%s\"", c->name);
    buf_putc(t->out, '>');
}

void row_end(struct table_out *t)
{
    buf_puts(t->out, t->at ? "</td></tr>\n" : "</th></tr>\n");
}

void table_end(struct table_out *t)
{
    buf_puts(t->out, "</tbody></table></div>\n");
}

/* ---- long lists ---- */

void listing_read(struct ask *r, const char *path, struct listing *l)
{
    uint64_t page = 1;
    *l = (struct listing){.path = path, .page = 1};
    if (r->is_post) /* a form that came back: its fields are not ours */
        return;
    l->q = span_cut(pairs_get(&r->in, "q"), 0, 200);
    l->state = span_cut(pairs_get(&r->in, "state"), 0, 32);
    l->agent = span_cut(pairs_get(&r->in, "agent"), 0, JOIN_NAME_MAX);
    l->sort = span_cut(pairs_get(&r->in, "sort"), 0, 32);
    if (pairs_u64(&r->in, "page", 100000, &page) && page)
        l->page = (size_t)page;
}

bool listing_matches(const struct listing *l, struct span a, struct span b)
{
    return !l->q.n || span_search(a, l->q, true) < a.n || span_search(b, l->q, true) < b.n;
}

bool listing_is_filtered(const struct listing *l)
{
    return l->q.n || l->state.n || l->agent.n;
}

void listing_cut(struct listing *l, size_t total)
{
    size_t pages = total ? (total + LISTING_ROWS - 1) / LISTING_ROWS : 1;
    l->total = total;
    if (l->page > pages)
        l->page = pages;
    l->from = (l->page - 1) * LISTING_ROWS;
    l->to = l->from + LISTING_ROWS < total ? l->from + LISTING_ROWS : total;
}

void listing_form(struct ask *r, struct buf *out, const struct listing *l, const char *what, const char *const *states,
                  size_t state_count, bool has_agents)
{
    r->is_form_sent = false;
    buf_printf(out,
               "<form class=\"filter\" action=\"%s\" role=\"search\" aria-label=\"Find %s\"><div class=\"field\">"
               "<label for=\"f-q\">Find</label><input id=\"f-q\" name=\"q\" type=\"search\" autocapitalize=\"none\" "
               "value=\"",
               l->path, what);
    html_text(out, l->q);
    buf_puts(out, "\"></div>");
    if (state_count)
        form_select(r, out,
                    &(struct form_choice){.name = "state",
                                          .label = "State",
                                          .none = "any",
                                          .values = states,
                                          .texts = states,
                                          .n = state_count,
                                          .current = l->state});
    if (has_agents)
        form_agents(r, out,
                    &(struct form_choice){.name = "agent", .label = "At agent", .none = "any", .current = l->agent}, 0);
    if (l->sort.n)
        form_hidden(out, "sort", l->sort);
    buf_puts(out, "<button class=\"button\">Show</button>");
    if (listing_is_filtered(l))
        buf_printf(out, "<a href=\"%s\">Show all</a>", l->path);
    buf_puts(out, "</form>\n");
}

void listing_foot(struct buf *out, const struct listing *l, const char *what)
{
    size_t pages = l->total ? (l->total + LISTING_ROWS - 1) / LISTING_ROWS : 1;
    buf_puts(out, "<div class=\"foot\"><p class=\"sub\">");
    if (pages > 1) {
        html_count(out, l->from + 1);
        buf_puts(out, DASH);
        html_count(out, l->to);
        buf_puts(out, " of ");
    }
    html_count(out, l->total);
    buf_printf(out, " %.*s</p>", (int)strlen(what) - (l->total == 1), what);
    if (pages > 1) {
        buf_puts(out, "<nav class=\"pager\" aria-label=\"Pages of the list\">");
        if (l->page > 1) {
            buf_puts(out, "<a class=\"button small\" rel=\"prev\" href=\"");
            put_link(out, l, l->sort, l->page - 1);
            buf_puts(out, "\">Previous</a>");
        }
        buf_printf(out, "<span>Page %zu of %zu</span>", l->page, pages);
        if (l->page < pages) {
            buf_puts(out, "<a class=\"button small\" rel=\"next\" href=\"");
            put_link(out, l, l->sort, l->page + 1);
            buf_puts(out, "\">Next</a>");
        }
        buf_puts(out, "</nav>");
    }
    buf_puts(out, "</div>\n");
}

static int by_rank(const void *x, const void *y)
{
    const struct ranked *a = x, *b = y;
    if (a->value != b->value)
        return a->value > b->value ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

void rank(struct ranked *list, size_t n)
{
    qsort(list, n, sizeof(*list), by_rank);
}
