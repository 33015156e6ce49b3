/* admin_pages_fresh.c - the dashboard's page of freshness: how much of what is kept is expected to be current, now and
 * over time, by rank and by site, what waits for a visit, and the strategy; and the page of all sites. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "coord/admin_fresh.h"
#include "coord/admin_pages.h"
#include "coord/admin_plot.h"
#include "io/clock.h"
#include "plan/change_words.h"

#define SITES_SHOWN 10
#define SITE_NAME_SHOWN 120

static const char *const strategies[] = {"greedy", "icr", "iir", "fixed", "off"};
static const char *const strategy_texts[] = {"greedy: what gains most by it", "icr: intervals in fixed ratios",
                                             "iir: intervals as visits allow", "fixed: always the same intervals",
                                             "off: only when a person asks"};

/* ---- numbers ---- */

static void tile(struct buf *out, const char *name)
{
    buf_printf(out, "<div><dt>%s</dt><dd>", name);
}

static void tile_sub(struct buf *out)
{
    buf_puts(out, "</dd><dd class=\"quietly\">");
}

static void tile_end(struct buf *out)
{
    buf_puts(out, "</dd></div>");
}

static void count_of(struct buf *out, uint64_t n, const char *what)
{
    html_count(out, n);
    buf_printf(out, " %s", what);
}

static const char *strategy_of(const struct recrawling_figures *f)
{
    return f->is_off ? "off" : recrawl_strategy_name(f->strategy);
}

static void put_numbers(struct buf *out, const struct recrawling_figures *f, const struct fresh_times *hours)
{
    uint64_t updated = 0, unchanged = 0, lost = 0;
    for (size_t i = hours->n - 24; i < hours->n; i++) {
        updated += hours->list[i].updated;
        unchanged += hours->list[i].unchanged;
        lost += hours->list[i].lost;
    }
    buf_puts(out, "<div data-live id=\"numbers\"><dl class=\"numbers big\">");
    tile(out, "Fresh now");
    put_fresh_share(out, f->channels ? f->freshness : -1);
    tile_sub(out);
    buf_puts(out, "expected to be current, by importance");
    tile_end(out);
    tile(out, "Due");
    html_count(out, f->due);
    tile_sub(out);
    count_of(out, f->queued, "queued" DOT);
    count_of(out, f->running, "running");
    tile_end(out);
    tile(out, "Visits in 24 hours");
    html_count(out, updated + unchanged + lost);
    tile_sub(out);
    count_of(out, updated, "brought something new" DOT);
    count_of(out, lost, "in vain");
    tile_end(out);
    tile(out, "Channels");
    html_count(out, f->channels);
    tile_sub(out);
    count_of(out, f->fresh, "more not crawled yet");
    tile_end(out);
    buf_printf(out, "</dl><p class=\"sub below\">Strategy: <strong id=\"strategy\">%s</strong>", strategy_of(f));
    if (f->ceiling > 0)
        buf_printf(out, "; at most %.3g visits a change", f->ceiling);
    if (f->declined || f->forwarded) {
        buf_puts(out, "; since the start ");
        count_of(out, f->declined, "put off for want of a slot, ");
        html_count(out, f->forwarded);
        buf_printf(out, " network%s moved to agents with less to do", f->forwarded == 1 ? "" : "s");
    }
    buf_puts(out, ".</p></div>\n");
}

static void put_strategy_form(struct ask *r, struct buf *out, const struct recrawling_figures *f)
{
    const char *action = "/api/v1/recrawl";
    buf_printf(out, "<details class=\"more\"%s><summary>Change the strategy</summary>",
               form_was_sent(r, action) ? " open" : "");
    form_begin(r, out, action, "wide-form");
    buf_puts(out, "<fieldset><legend>When channels are visited again</legend><div class=\"grid\">");
    form_select(r, out,
                &(struct form_choice){.name = "strategy",
                                      .label = "Strategy",
                                      .help = "What was learned of channels stays. Visits under way go on.",
                                      .values = strategies,
                                      .texts = strategy_texts,
                                      .n = sizeof(strategies) / sizeof(*strategies),
                                      .current = span_str(strategy_of(f))});
    buf_puts(out, "</div></fieldset><button class=\"button main\">Change it</button></form></details>\n");
}

/* ---- ranks ---- */

static void put_succeeded(struct buf *out, const struct fresh_sums *s)
{
    if (s->submissions)
        buf_printf(out, "%.0f %%", floor(100.0 * (double)s->successes / (double)s->submissions));
    else
        buf_puts(out, DASH);
}

static void put_age(struct buf *out, const struct fresh_sums *s)
{
    if (s->visited)
        html_duration(out, (int64_t)(s->age_ms / s->visited / 1000));
    else
        buf_puts(out, DASH);
}

static void put_mean_gap(struct buf *out, const struct fresh_sums *s)
{
    if (s->channels)
        change_words_gap(out, s->rate / s->channels);
    else
        buf_puts(out, DASH);
}

static void put_rank(struct table_out *t, const struct fresh_view *v, const struct recrawling_figures *f, unsigned rank,
                     bool has_intervals)
{
    const struct fresh_sums *s = &v->ranks[rank];
    struct buf *out = t->out;
    char key[16];
    snprintf(key, sizeof(key), "rank-%u", rank);
    row_begin(t, span_str(key));
    buf_printf(out, "%u", rank);
    cell(t);
    html_count(out, s->channels);
    cell(t);
    put_mean_gap(out, s);
    if (has_intervals) {
        cell(t);
        html_duration(out, (int64_t)(f->ranks[rank].interval_ms / 1000));
    }
    cell(t);
    put_age(out, s);
    cell(t);
    put_fresh_share(out, fresh_share(s));
    cell(t);
    html_count(out, s->submissions);
    cell(t);
    html_count(out, s->updates);
    cell(t);
    put_succeeded(out, s);
    row_end(t);
}

static void put_ranks(struct buf *out, const struct fresh_view *v, const struct recrawling_figures *f)
{
    static const struct column with[] = {{.name = "Rank"},
                                         {.name = "Channels", .is_number = true},
                                         {.name = "Change every", .is_number = true},
                                         {.name = "Interval", .is_number = true},
                                         {.name = "Last visit, mean", .is_number = true},
                                         {.name = "Fresh", .is_number = true},
                                         {.name = "Visits", .is_number = true},
                                         {.name = "With news", .is_number = true},
                                         {.name = "Succeeded", .is_number = true}};
    static const struct column without[] = {{.name = "Rank"},
                                            {.name = "Channels", .is_number = true},
                                            {.name = "Change every", .is_number = true},
                                            {.name = "Last visit, mean", .is_number = true},
                                            {.name = "Fresh", .is_number = true},
                                            {.name = "Visits", .is_number = true},
                                            {.name = "With news", .is_number = true},
                                            {.name = "Succeeded", .is_number = true}};
    bool has_intervals = !f->is_off && f->strategy != RECRAWL_GREEDY;
    struct table_out t;
    buf_puts(out, "<section aria-labelledby=\"ranks-h\"><h2 id=\"ranks-h\">By rank</h2><div data-live id=\"ranks\">");
    if (!f->channels) {
        buf_puts(out, "<div class=\"empty\"><p>None yet.</p></div></div></section>\n");
        return;
    }
    table_begin(&t, out, "Channels by rank", has_intervals ? with : without,
                has_intervals ? sizeof(with) / sizeof(*with) : sizeof(without) / sizeof(*without), NULL);
    for (unsigned i = 0; i < RECRAWL_RANKS; i++)
        if (v->ranks[i].channels || has_intervals)
            put_rank(&t, v, f, i, has_intervals);
    table_end(&t);
    buf_puts(out, "<p class=\"sub below\">Channels of rank 0 change most often. A channel moves to another rank when "
                  "visits show that it changes more often or more seldom.</p></div></section>\n");
}

/* ---- the stalest ---- */

static void put_stalest(struct buf *out, const struct recrawling_figures *f, wall_ms now)
{
    static const struct column cols[] = {{.name = "Channel", .is_wide = true},
                                         {.name = "Fresh", .is_number = true},
                                         {.name = "Importance", .is_number = true},
                                         {.name = "Change every", .is_number = true},
                                         {.name = "Last visit", .is_number = true}};
    struct table_out t;
    buf_puts(out, "<section aria-labelledby=\"stale-h\"><h2 id=\"stale-h\">Stalest that matter</h2><div data-live "
                  "id=\"stale\">");
    if (f->stalest_count) {
        table_begin(&t, out, "The stalest channels that matter", cols, sizeof(cols) / sizeof(*cols), NULL);
        for (size_t i = 0; i < f->stalest_count; i++) {
            const struct recrawling_stale *s = &f->stalest[i];
            char id[20];
            snprintf(id, sizeof(id), "%016llx", (unsigned long long)s->id);
            row_begin(&t, span_str(id));
            buf_printf(out, "<a href=\"/channels/%s\"><bdi>", id);
            html_text(out, span_str(s->label[0] ? s->label : "no label"));
            buf_puts(out, "</bdi></a>");
            cell(&t);
            put_fresh_share(out, s->freshness);
            cell(&t);
            put_weight(out, s->weight);
            cell(&t);
            change_words_gap(out, s->rate_a_day);
            cell(&t);
            put_ago(out, s->visited, now);
            row_end(&t);
        }
        table_end(&t);
    } else
        buf_puts(out,
                 "<div class=\"empty\"><p>None: no channel is in the plan yet. A channel comes into it when it was "
                 "crawled for the first time.</p></div>");
    buf_puts(out, "</div></section>\n");
}

/* ---- sites ---- */

static const struct column site_cols[] = {{.name = "Site", .is_wide = true, .sort = "name"},
                                          {.name = "Channels", .is_number = true, .sort = "channels"},
                                          {.name = "Missing", .is_number = true, .sort = ""},
                                          {.name = "Fresh", .is_number = true},
                                          {.name = "Change every", .is_number = true, .sort = "rate"},
                                          {.name = "Last visit", .is_number = true, .sort = "visited"},
                                          {.name = "Visits", .is_number = true, .sort = "visits"},
                                          {.name = "With news", .is_number = true, .sort = "news"},
                                          {.name = "Succeeded", .is_number = true}};
#define SITE_COLS (sizeof(site_cols) / sizeof(*site_cols))

static void put_site(struct table_out *t, const struct fresh_site *s, wall_ms now)
{
    struct buf *out = t->out;
    char key[20];
    snprintf(key, sizeof(key), "%016llx", (unsigned long long)s->key);
    row_begin(t, span_str(key));
    buf_printf(out, "<a href=\"/channels/%016llx\"><bdi>", (unsigned long long)s->channel);
    html_text(out, s->name.n ? span_cut(s->name, 0, SITE_NAME_SHOWN) : SPAN("gone"));
    buf_puts(out, "</bdi></a>");
    if (s->also)
        buf_printf(out, "<span class=\"quietly\">and %zu more host%s</span>", s->also, s->also == 1 ? "" : "s");
    cell(t);
    html_count(out, s->sums.channels);
    cell(t);
    put_weight(out, fresh_loss(&s->sums));
    cell(t);
    put_fresh_share(out, fresh_share(&s->sums));
    cell(t);
    put_mean_gap(out, &s->sums);
    cell(t);
    put_ago(out, s->sums.last, now);
    cell(t);
    html_count(out, s->sums.submissions);
    cell(t);
    html_count(out, s->sums.updates);
    cell(t);
    put_succeeded(out, &s->sums);
    row_end(t);
}

static void put_first_sites(struct buf *out, const struct fresh_view *v, wall_ms now)
{
    struct table_out t;
    size_t n = v->site_count < SITES_SHOWN ? v->site_count : SITES_SHOWN;
    buf_puts(out, "<section aria-labelledby=\"sites-h\"><h2 id=\"sites-h\">By site</h2><div data-live id=\"sites\">");
    if (n) {
        table_begin(&t, out, "Sites that miss most", site_cols, SITE_COLS, NULL);
        for (size_t i = 0; i < n; i++)
            put_site(&t, &v->sites[i], now);
        table_end(&t);
        buf_puts(out, "<div class=\"foot\"><p class=\"sub\">Missing: importance times the chance that the copy is not "
                      "current.</p>");
        buf_printf(out, "<a href=\"/freshness/sites\">All %zu site%s</a></div>", v->site_all,
                   v->site_all == 1 ? "" : "s");
    } else
        buf_puts(out, "<div class=\"empty\"><p>None yet.</p></div>");
    buf_puts(out, "</div></section>\n");
}

static int by_name(const void *x, const void *y)
{
    const struct ranked *a = x, *b = y;
    const struct fresh_site *p = a->item, *q = b->item;
    int c = span_cmp(p->name, q->name);
    return c ? c : a->at < b->at ? -1 : a->at > b->at;
}

static uint64_t sort_value(struct span sort, const struct fresh_site *s)
{
    const struct fresh_sums *u = &s->sums;
    if (span_is(sort, "channels"))
        return u->channels;
    if (span_is(sort, "rate"))
        return (uint64_t)(u->rate / u->channels * 1e6);
    if (span_is(sort, "visited"))
        return (uint64_t)u->last;
    if (span_is(sort, "visits"))
        return u->submissions;
    return span_is(sort, "news") ? u->updates : 0; /* as they are: what misses most first */
}

static void put_sites(struct ask *r, struct buf *out, const struct fresh_view *v)
{
    struct ranked *list = arena_alloc(r->arena, (v->site_count + 1) * sizeof(*list));
    struct listing l;
    struct table_out t;
    size_t n = 0;
    wall_ms now = clock_wall();
    listing_read(r, "/freshness/sites", &l);
    for (size_t i = 0; i < v->site_count; i++)
        if (listing_matches(&l, v->sites[i].name, SPAN(""))) {
            list[n] = (struct ranked){sort_value(l.sort, &v->sites[i]), n, (void *)&v->sites[i]};
            n++;
        }
    if (span_is(l.sort, "name"))
        qsort(list, n, sizeof(*list), by_name);
    else if (l.sort.n)
        rank(list, n);
    if (v->site_count > 5 || listing_is_filtered(&l))
        listing_form(r, out, &l, "sites", NULL, 0, false);
    buf_puts(out, "<div data-live id=\"sites\">");
    listing_cut(&l, n);
    if (n) {
        table_begin(&t, out, "Sites", site_cols, SITE_COLS, &l);
        for (size_t i = l.from; i < l.to; i++)
            put_site(&t, list[i].item, now);
        table_end(&t);
        listing_foot(out, &l, "sites");
        if (v->site_all > v->site_count) {
            buf_printf(out, "<p class=\"sub below\">These are the %zu that miss most, of ", v->site_count);
            html_count(out, v->site_all);
            buf_puts(out, ".</p>");
        }
    } else
        buf_printf(out, "<div class=\"empty\"><p>%s</p></div>",
                   v->site_count ? "No site is like that." : "None yet: a site comes here when it was crawled once.");
    buf_puts(out, "</div>\n");
}

/* ---- the pages ---- */

void page_fresh(struct ask *r, struct httpd_answer *ans)
{
    struct buf *out = &ans->body;
    struct recrawling_figures *f = arena_alloc(r->arena, sizeof(*f));
    struct fresh_times *hours = arena_alloc(r->arena, sizeof(*hours)), *days = arena_alloc(r->arena, sizeof(*days));
    const struct fresh_view *v = fresh_view_get(r->a);
    wall_ms now = clock_wall();
    pthread_mutex_lock(&r->c->lock);
    recrawling_figures_get(r->c, now, f);
    fresh_times_get(r->c->freshness, now, true, hours);
    fresh_times_get(r->c->freshness, now, false, days);
    pthread_mutex_unlock(&r->c->lock);
    admin_begin(r, ans, "/freshness", SPAN("Freshness"));
    buf_puts(out, "<div class=\"head\"><div><h1>Freshness</h1><p class=\"sub\">What was crawled is visited again, as "
                  "often as it changes, as it matters, and as agents have time.</p></div>");
    put_lost_note(out);
    buf_puts(out, "</div>\n");
    put_numbers(out, f, hours);
    if (r->who.role >= ROLE_OPERATOR)
        put_strategy_form(r, out, f);
    buf_puts(out, "<section aria-labelledby=\"times-h\"><h2 id=\"times-h\">Over time</h2><div data-live id=\"plots\" "
                  "class=\"charts plots\">");
    put_fresh_chart(out, hours);
    put_visits_chart(out, hours);
    put_waiting_chart(out, hours);
    put_fresh_chart(out, days);
    put_visits_chart(out, days);
    put_waiting_chart(out, days);
    buf_puts(out, "</div></section>\n");
    put_stalest(out, f, now);
    put_ranks(out, v, f);
    put_first_sites(out, v, now);
    fresh_view_done(r->a, v);
    admin_end(r, ans, scripts_live);
}

void page_fresh_sites(struct ask *r, struct httpd_answer *ans)
{
    struct buf *out = &ans->body;
    const struct fresh_view *v = fresh_view_get(r->a);
    admin_begin(r, ans, "/freshness", SPAN("Freshness of sites"));
    buf_puts(out, "<nav class=\"crumbs\" aria-label=\"Where this is\"><a href=\"/freshness\">Freshness</a></nav><div "
                  "class=\"head\"><div><h1>Sites</h1><p class=\"sub\">Missing: importance times the chance that the "
                  "copy is not current.</p></div>");
    put_lost_note(out);
    buf_puts(out, "</div>\n");
    put_sites(r, out, v);
    fresh_view_done(r->a, v);
    admin_end(r, ans, scripts_live);
}
