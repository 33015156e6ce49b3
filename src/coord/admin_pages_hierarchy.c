/* admin_pages_hierarchy.c - the registry hierarchy as a tree to walk through: a range, what is around it, what is
 * inside it, and which agents have networks there. */
#include <stdio.h>

#include "coord/admin_pages.h"
#include "coord/admin_tree.h"
#include "coord/agents.h"
#include "io/clock.h"

static void put_node_link(struct buf *out, const struct tree_row *w)
{
    buf_printf(out, "<a href=\"/hierarchy?node=%u\">", w->number);
    tree_range(out, &w->node);
    buf_puts(out, "</a>");
}

static void put_or_dash(struct buf *out, struct span s)
{
    buf_puts(out, "<bdi>");
    html_text(out, s.n ? s : SPAN(DASH));
    buf_puts(out, "</bdi>");
}

/* "Oslo (3), Cairo (1) and 4 more" */
static void put_held(struct buf *out, const struct tree_held *h)
{
    for (unsigned i = 0; i < h->agent_count; i++) {
        buf_puts(out, i ? ", " : "");
        put_agent_link(out, h->agents[i].name);
        if (h->agent_all > 1) {
            buf_puts(out, " (");
            html_count(out, h->agents[i].networks);
            buf_puts(out, ")");
        }
    }
    if (h->agent_all > h->agent_count)
        buf_printf(out, " and %u more", h->agent_all - h->agent_count);
    if (!h->agent_all)
        buf_puts(out, DASH);
}

static void put_search(struct buf *out, struct span q)
{
    buf_puts(out, "<form class=\"filter\" action=\"/hierarchy\" role=\"search\" aria-label=\"Find a range\"><div "
                  "class=\"field\"><label for=\"f-ip\">Address, prefix or holder</label><input id=\"f-ip\" name=\"ip\" "
                  "type=\"search\" autocapitalize=\"none\" placeholder=\"192.0.2.1\" value=\"");
    html_text(out, q);
    buf_puts(out, "\"></div><button class=\"button\">Show</button>");
    if (q.n)
        buf_puts(out, "<a href=\"/hierarchy\">From the top</a>");
    buf_puts(out, "</form>\n");
}

static void put_how(struct ask *r, struct buf *out)
{
    buf_puts(out,
             "<div class=\"empty\"><p>No hierarchy is loaded: networks are /24 and /48, and nobody knows whose. It "
             "is made from the public files of the address registries:</p><pre class=\"below\"><code>orb hierarchy "
             "fetch --data ");
    html_text(out, span_str(r->c->o.data_dir));
    buf_puts(out, "\norb hierarchy build --in ");
    html_text(out, span_str(r->c->o.data_dir));
    buf_puts(out, "/registry/* -o ");
    html_text(out, span_str(r->c->hierarchy_path));
    buf_puts(out, "</code></pre><p class=\"below\">The coordinator takes it up within a minute.</p></div>\n");
}

/* ---- rows ---- */

static void put_rows(struct buf *out, const char *caption, const struct tree_row *rows, size_t n)
{
    static const struct column cols[] = {{.name = "Range"},
                                         {.name = "Holder", .is_wide = true},
                                         {.name = "Country"},
                                         {.name = "Registry"},
                                         {.name = "Ranges inside", .is_number = true},
                                         {.name = "Known networks", .is_number = true},
                                         {.name = "Agents", .is_wide = true}};
    struct table_out t;
    table_begin(&t, out, caption, cols, sizeof(cols) / sizeof(*cols), NULL);
    for (size_t i = 0; i < n; i++) {
        const struct tree_row *w = &rows[i];
        char key[16];
        snprintf(key, sizeof(key), "%u", w->number);
        row_begin(&t, span_str(key));
        put_node_link(out, w);
        cell(&t);
        put_or_dash(out, w->holder);
        cell(&t);
        put_or_dash(out, span_str(w->node.country));
        cell(&t);
        put_or_dash(out, span_str(registry_name_text(w->node.registry)));
        cell(&t);
        html_count(out, w->inside);
        cell(&t);
        html_count(out, w->held.networks);
        if (w->held.networks > w->held.owned)
            buf_printf(out, "<span class=\"quietly\">%zu without an agent</span>", w->held.networks - w->held.owned);
        cell(&t);
        put_held(out, &w->held);
        row_end(&t);
    }
    table_end(&t);
}

/* ---- a node ---- */

/* The way down to it, each level further in. */
static void put_path(struct buf *out, const struct tree_view *v)
{
    buf_puts(out,
             "<nav aria-label=\"Ranges around it\"><ol class=\"path\"><li><a href=\"/hierarchy\">everything</a></li>");
    for (size_t i = 0; i < v->path_count; i++) {
        buf_puts(out, "<li>");
        put_node_link(out, &v->path[i]);
        if (v->path[i].holder.n) {
            buf_puts(out, " <bdi>");
            html_text(out, span_cut(v->path[i].holder, 0, 60));
            buf_puts(out, "</bdi>");
        }
        buf_puts(out, "</li>");
    }
    buf_puts(out, "</ol></nav>\n");
}

static void put_facts(struct buf *out, const struct tree_view *v)
{
    const struct tree_row *s = &v->self;
    buf_puts(out, "<dl class=\"facts-list\">");
    fact(out, "Holder");
    if (s->holder.n) {
        buf_puts(out, "<a href=\"/hierarchy?ip=");
        html_query_value(out, s->holder);
        buf_puts(out, "\"><bdi>");
        html_text(out, s->holder);
        buf_puts(out, "</bdi></a>");
    } else
        buf_puts(out, "not known");
    fact_end(out);
    fact(out, "Country");
    put_or_dash(out, span_str(s->node.country));
    fact_end(out);
    fact(out, "Registry");
    put_or_dash(out, span_str(registry_name_text(s->node.registry)));
    if (registry_status_text(s->node.state)[0])
        buf_printf(out, ", %s", registry_status_text(s->node.state));
    fact_end(out);
    fact(out, "Ranges inside");
    html_count(out, s->inside);
    fact_end(out);
    fact(out, "Known networks");
    html_count(out, s->held.networks);
    if (s->held.networks)
        buf_printf(out, ", %zu with an agent", s->held.owned);
    fact_end(out);
    fact(out, "Agents");
    put_held(out, &s->held);
    fact_end(out);
    buf_puts(out, "</dl>\n");
    if (registry_licence(s->node.registry)[0]) {
        buf_puts(out, "<p class=\"sub below\">");
        html_text(out, span_str(registry_licence(s->node.registry)));
        buf_puts(out, "</p>\n");
    }
}

static void put_page_link(struct buf *out, const struct tree_view *v, bool is_all, size_t page, const char *rel,
                          const char *text)
{
    buf_printf(out, "<a class=\"button small\" rel=\"%s\" href=\"/hierarchy?node=%u%s&amp;page=%zu\">%s</a>", rel,
               v->self.number, is_all ? "&amp;all=1" : "", page, text);
}

static void put_pager(struct buf *out, const struct tree_view *v, bool is_all)
{
    size_t n = is_all ? v->child_total : v->child_held;
    size_t page = v->from / LISTING_ROWS + 1, pages = (n + LISTING_ROWS - 1) / LISTING_ROWS;
    buf_puts(out, "<div class=\"foot\"><p class=\"sub\">");
    html_count(out, n);
    buf_printf(out, " range%s%s", n == 1 ? "" : "s", is_all ? "" : " with known networks");
    if (!is_all && v->child_total > v->child_held) {
        buf_printf(out, DOT "<a href=\"/hierarchy?node=%u&amp;all=1\">Show all ", v->self.number);
        html_count(out, v->child_total);
        buf_puts(out, "</a>");
    } else if (is_all && v->child_held && v->child_held < v->child_total) {
        buf_printf(out, DOT "<a href=\"/hierarchy?node=%u\">Only the ", v->self.number);
        html_count(out, v->child_held);
        buf_puts(out, " with known networks</a>");
    }
    buf_puts(out, "</p>");
    if (pages > 1) {
        buf_puts(out, "<nav class=\"pager\" aria-label=\"Pages of the list\">");
        if (page > 1)
            put_page_link(out, v, is_all, page - 1, "prev", "Previous");
        buf_printf(out, "<span>Page %zu of %zu</span>", page, pages);
        if (page < pages)
            put_page_link(out, v, is_all, page + 1, "next", "Next");
        buf_puts(out, "</nav>");
    }
    buf_puts(out, "</div>\n");
}

static void put_networks(struct ask *r, struct buf *out, const struct tree_view *v)
{
    static const struct column cols[] = {{.name = "Network"},
                                         {.name = "State"},
                                         {.name = "Agent"},
                                         {.name = "Round trip", .is_number = true},
                                         {.name = "Why", .is_wide = true}};
    struct table_out t;
    if (!v->network_count || (!v->self.number && v->self.inside))
        return;
    buf_puts(out, "<section aria-labelledby=\"known-h\"><h2 id=\"known-h\">Known networks in it</h2>");
    table_begin(&t, out, "Known networks", cols, sizeof(cols) / sizeof(*cols), NULL);
    for (size_t i = 0; i < v->network_count; i++) {
        const struct c_network *n = v->networks[i];
        const struct c_agent *a = n->state == NETWORK_FREE ? NULL : agent_get(r->c, n->agent);
        row_begin(&t, span_str(n->text));
        buf_puts(out, "<a href=\"/networks?q=");
        html_query_value(out, span_str(n->text));
        buf_printf(out, "\">%s</a>", n->text);
        cell(&t);
        put_state(out, network_state_name(n->state));
        cell(&t);
        if (a && a->name[0])
            put_agent_link(out, a->name);
        else
            buf_puts(out, DASH);
        cell(&t);
        if (n->rtt_us)
            buf_printf(out, "%.1f ms", n->rtt_us / 1000.0);
        else
            buf_puts(out, DASH);
        cell(&t);
        html_text(out, span_str(n->why[0] ? n->why : DASH));
        row_end(&t);
    }
    table_end(&t);
    if (v->self.held.networks > v->network_count)
        buf_printf(out, "<p class=\"foot\">The first %zu of them.</p>", v->network_count);
    buf_puts(out, "</section>\n");
}

/* coord.lock held. */
static void put_node(struct ask *r, struct buf *out, uint32_t node, const struct tree_search *s)
{
    struct tree_view *v = arena_alloc(r->arena, sizeof(*v));
    uint64_t page = 1;
    if (!pairs_u64(&r->in, "page", HIERARCHY_NODES_MAX / LISTING_ROWS, &page) || !page)
        page = 1;
    struct tree_ask ask = {.node = node,
                           .from = (size_t)(page - 1) * LISTING_ROWS,
                           .max = LISTING_ROWS,
                           .only_held = !pairs_is_true(&r->in, "all")};
    tree_get(r->c, r->arena, &ask, v);
    if (ask.only_held && !v->child_held) { /* nothing to see but ranges that nobody was in */
        ask.only_held = false;
        tree_get(r->c, r->arena, &ask, v);
    }
    if (node) {
        put_path(out, v);
        buf_puts(out, "<section aria-labelledby=\"node-h\"><h2 id=\"node-h\">");
        tree_range(out, &v->self.node);
        buf_puts(out, "</h2>\n");
        if (s->network) {
            buf_puts(out, "<p class=\"notice\">That address is in <a href=\"/networks?q=");
            html_query_value(out, span_str(s->network->text));
            buf_printf(out, "\">%s</a>", s->network->text);
            const struct c_agent *a = s->network->state == NETWORK_FREE ? NULL : agent_get(r->c, s->network->agent);
            if (a) {
                buf_puts(out, ", which is crawled by ");
                put_agent_link(out, a->name);
            } else
                buf_puts(out, ", which has no agent yet");
            buf_puts(out, ".</p>\n");
        }
        put_facts(out, v);
        buf_puts(out, "</section>\n");
    }
    if (v->child_total) {
        buf_printf(out, "<section aria-labelledby=\"inside-h\"><h2 id=\"inside-h\">%s</h2>",
                   node ? "Directly inside" : "At the top");
        if (v->child_count)
            put_rows(out, "Ranges directly inside", v->children, v->child_count);
        put_pager(out, v, !ask.only_held);
        buf_puts(out, "</section>\n");
    }
    put_networks(r, out, v);
}

/* ---- the page ---- */

static void put_holder(struct buf *out, const struct tree_search *s)
{
    buf_puts(out, "<section aria-labelledby=\"holder-h\"><h2 id=\"holder-h\">Ranges of <bdi>");
    html_text(out, s->holder);
    buf_puts(out, "</bdi></h2>");
    put_rows(out, "Ranges of a holder", s->rows, s->row_count);
    buf_puts(out, "<p class=\"foot\">");
    if (s->row_total > s->row_count)
        buf_printf(out, "The first %zu of ", s->row_count);
    html_count(out, s->row_total);
    buf_printf(out, " range%s</p></section>\n", s->row_total == 1 ? "" : "s");
}

/* coord.lock held. */
static void put_hierarchy(struct ask *r, struct buf *out)
{
    struct span what = span_cut(pairs_get(&r->in, "ip"), 0, 200);
    struct tree_search s = {.found = TREE_NODE};
    uint64_t node = 0;
    put_search(out, what);
    if (!pairs_u64(&r->in, "node", hierarchy_count(r->c->hierarchy), &node)) {
        buf_puts(out,
                 "<div class=\"empty\"><p>There is no such range: the hierarchy may be a newer one now.</p></div>");
        return;
    }
    if (what.n) {
        tree_find(r->c, r->arena, what, &s);
        node = s.node;
    }
    if (s.found == TREE_NODE)
        put_node(r, out, (uint32_t)node, &s);
    else if (s.found == TREE_HOLDER)
        put_holder(out, &s);
    else
        buf_puts(out,
                 "<div class=\"empty\"><p>No range holds that, and nobody registered is called so. A holder is found "
                 "by its whole name.</p></div>");
}

void page_hierarchy(struct ask *r, struct httpd_answer *ans)
{
    struct buf *out = &ans->body;
    admin_begin(r, ans, "/near", SPAN("Hierarchy of networks"));
    buf_puts(out, "<p class=\"crumbs\"><a href=\"/near\">Nearness</a></p><div class=\"head\"><div><h1>Hierarchy of "
                  "networks</h1><p class=\"sub\">");
    pthread_mutex_lock(&r->c->lock);
    if (r->c->hierarchy) {
        html_count(out, hierarchy_count(r->c->hierarchy));
        buf_printf(out, " ranges of ");
        html_count(out, hierarchy_holder_count(r->c->hierarchy));
        buf_printf(out, " holders, up to %u deep.", hierarchy_height(r->c->hierarchy));
    } else
        buf_puts(out, "Which address ranges are registered, to whom, and which agents have them.");
    buf_puts(out, "</p></div></div>\n");
    if (r->c->hierarchy)
        put_hierarchy(r, out);
    else
        put_how(r, out);
    pthread_mutex_unlock(&r->c->lock);
    admin_end(r, ans, NULL);
}
