/* admin_pages_visits.c - what the page of a channel says of its visits: how often it changes, when it was looked at and
 * will be again, what came of that; and what an operator says of it. */
#include <stdio.h>

#include "coord/admin_fresh.h"
#include "coord/admin_pages.h"
#include "io/clock.h"
#include "plan/change_words.h"

static void put_counted(struct buf *out, uint64_t n, const char *what)
{
    html_count(out, n);
    buf_printf(out, " %s", what);
}

static void put_next(struct buf *out, const struct c_channel *ch, const struct recrawling_view *w, wall_ms now)
{
    if (w->is_under_way)
        buf_puts(out, "under way");
    else if (!w->is_planned)
        buf_puts(out, ch->is_paused               ? "when it is resumed"
                      : ch->recrawl.rule.is_never ? "never: that is what its settings say"
                                                  : "after its first crawl");
    else if (!w->next)
        buf_puts(out, "when a person asks for it: the strategy is off");
    else if (w->next <= now)
        buf_puts(out, "as soon as it is its turn");
    else {
        buf_puts(out, "not before ");
        html_duration(out, (w->next - now + 999) / 1000);
        buf_puts(out, " from now");
    }
}

static void put_last(struct buf *out, const struct recrawling_view *w)
{
    buf_puts(out, "<span class=\"quietly\">");
    put_counted(out, w->looked, "pages looked at: ");
    put_counted(out, w->changed, "changed, ");
    put_counted(out, w->added, "new, ");
    put_counted(out, w->gone, "gone, ");
    put_counted(out, w->failed, "failed; it took ");
    if (w->took_ms >= 1000)
        html_duration(out, w->took_ms / 1000);
    else
        buf_puts(out, "less than a second");
    buf_puts(out, "</span>");
}

void put_channel_visits(struct ask *r, struct buf *out, const struct c_channel *ch)
{
    struct recrawling_view w;
    wall_ms now = clock_wall();
    recrawling_look(r->c, ch, now, &w);
    buf_puts(out, "<h2>Visits</h2><dl class=\"facts-list\" id=\"visits\">");
    fact(out, "Rank");
    buf_printf(out, "%u<span class=\"quietly\">of 0 (changes most often) to %u</span>", w.rank, RECRAWL_RANKS - 1);
    fact_end(out);
    fact(out, "Changes");
    change_words_range(out, w.rate_a_day, w.rate_factor);
    fact_end(out);
    fact(out, "Importance");
    put_weight(out, w.weight);
    if (w.inlinks > 1) {
        buf_puts(out, "<span class=\"quietly\">");
        put_weight(out, w.weight / w.inlinks);
        buf_puts(out, " by its settings, times ");
        put_weight(out, w.inlinks);
        buf_puts(out, " for the sites that link to it</span>");
    }
    fact_end(out);
    fact(out, "Fresh");
    put_fresh_share(out, w.visited ? w.freshness : -1);
    if (w.visited)
        buf_puts(out, "<span class=\"quietly\">chance that a page of it has not changed since the last visit</span>");
    fact_end(out);
    fact(out, "Last visit");
    put_ago(out, w.visited, now);
    if (w.successes)
        put_last(out, &w);
    fact_end(out);
    fact(out, "Next visit");
    put_next(out, ch, &w, now);
    fact_end(out);
    fact(out, "Visits so far");
    put_counted(out, w.submissions, "ordered, ");
    put_counted(out, w.successes, "came to an end, ");
    put_counted(out, w.updates, "brought something new");
    fact_end(out);
    buf_puts(out, "</dl>");
}

/* ---- what an operator says ---- */

/* As duration_parse reads it; nothing for 0. */
static struct span time_text(struct arena *a, int64_t ms)
{
    static const struct {
        int64_t ms;
        const char *name;
    } units[] = {{86400000, "days"}, {3600000, "h"}, {60000, "min"}, {1000, "s"}, {1, "ms"}};
    char text[32];
    size_t i = 0;
    if (!ms)
        return SPAN("");
    if (ms == units[0].ms)
        return SPAN("1 day");
    while (ms % units[i].ms)
        i++;
    snprintf(text, sizeof(text), "%lld %s", (long long)(ms / units[i].ms), units[i].name);
    return arena_copy(a, span_str(text));
}

void put_rule_words(struct ask *r, struct buf *out, const struct c_channel *ch)
{
    const struct recrawl_rule *rule = &ch->recrawl.rule;
    struct span most = time_text(r->arena, rule->at_most_every), least = time_text(r->arena, rule->at_least_every);
    if (rule->is_never)
        buf_puts(out, "never");
    else if (rule->at_most_every && rule->at_most_every == rule->at_least_every)
        buf_printf(out, "every %.*s", SPAN_ARG(most));
    else {
        buf_puts(out, "as often as it changes");
        if (most.n)
            buf_printf(out, ", at most every %.*s", SPAN_ARG(most));
        if (least.n)
            buf_printf(out, ", at least every %.*s", SPAN_ARG(least));
    }
}

void put_rule_fields(struct ask *r, struct buf *out, const struct c_channel *ch)
{
    static const char *const values[] = {"no", "yes"}, *const texts[] = {"as often as it changes", "never"};
    const struct recrawl_rule rule = ch ? ch->recrawl.rule : (struct recrawl_rule){0};
    char weight[32];
    snprintf(weight, sizeof(weight), "%.6g", rule.weight > 0 ? rule.weight : 1);
    form_field(r, out,
               &(struct form_field){.name = "weight",
                                    .label = "Importance",
                                    .value = arena_copy(r->arena, span_str(weight)),
                                    .help = "1 is usual, 2 is worth twice as much. Links from other sites count "
                                            "besides.",
                                    .more = " inputmode=\"decimal\""});
    form_select(r, out,
                &(struct form_choice){.name = "never",
                                      .label = "Visited again",
                                      .values = values,
                                      .texts = texts,
                                      .n = 2,
                                      .current = rule.is_never ? SPAN("yes") : SPAN("no")});
    form_field(r, out,
               &(struct form_field){.name = "at_most_every",
                                    .label = "At most every",
                                    .value = time_text(r->arena, rule.at_most_every),
                                    .help = "Such as <code>12 h</code> or <code>7 days</code>.",
                                    .more = " placeholder=\"no bound\""});
    form_field(r, out,
               &(struct form_field){.name = "at_least_every",
                                    .label = "At least every",
                                    .value = time_text(r->arena, rule.at_least_every),
                                    .help = "The same time in both: always after that time.",
                                    .more = " placeholder=\"no bound\""});
}
