/* admin_recrawl.c - how channels are kept fresh, in the API: of one of them, of all, and by which strategy. */
#include <stdio.h>

#include "coord/admin_internal.h"
#include "coord/channels.h"
#include "coord/recrawling.h"
#include "io/clock.h"

#define WEIGHT_MIN 0.001
#define WEIGHT_MAX 1000.0

/* Rates are small: a change a year is 0.0027 a day. */
static void put_exact(struct json *j, const char *name, double v)
{
    json_key(j, name);
    json_real(j, v, 6);
}

/* ---- what an operator says of a channel ---- */

static bool bad_field(struct deed *d, const char *name, const char *want)
{
    deed_fail_field(d, name, want);
    return false;
}

/* "" takes back what was said. */
static bool read_time(const struct pairs *in, struct deed *d, const char *name, int64_t *to, bool *is_said)
{
    struct span v = pairs_get(in, name);
    if (!pairs_has(in, name))
        return true;
    *to = 0;
    if (v.n && !duration_parse(v, to))
        return bad_field(d, name, "a time such as 12 h or 2 days; 0 or nothing: as it changes");
    *is_said |= *to > 0;
    return true;
}

static bool read_every(const struct pairs *in, struct deed *d, struct recrawl_rule *rule)
{
    struct span v = pairs_get(in, "every");
    int64_t every = 0;
    if (!pairs_has(in, "every"))
        return true;
    if (v.n && !span_is(v, "never") && !duration_parse(v, &every))
        return bad_field(d, "every", "a time such as 12 h or 2 days, 0 for never, or nothing: by the strategy");
    channel_set_every(rule, every);
    rule->is_never = v.n && !every;
    return true;
}

bool read_recrawl_rule(struct ask *r, struct deed *d, struct recrawl_rule *rule)
{
    bool is_said = false, has_weight;
    double weight = 0;
    if (!read_every(&r->in, d, rule) || !read_time(&r->in, d, "at_most_every", &rule->at_most_every, &is_said) ||
        !read_time(&r->in, d, "at_least_every", &rule->at_least_every, &is_said))
        return false;
    if (is_said)
        rule->is_never = false;
    if (pairs_has(&r->in, "never"))
        rule->is_never = pairs_is_true(&r->in, "never");
    if (rule->at_least_every && rule->at_least_every < rule->at_most_every)
        return bad_field(d, "at_least_every", "a time that is not shorter than at_most_every");
    if (!pairs_real(&r->in, "weight", WEIGHT_MIN, WEIGHT_MAX, &weight, &has_weight))
        return bad_field(d, "weight", "a number from 0.001 to 1000; 1 is usual");
    if (has_weight)
        rule->weight = weight == 1 ? 0 : weight;
    return true;
}

/* ---- one channel ---- */

void put_recrawl(struct coord *c, struct json *j, const struct c_channel *ch)
{
    const struct recrawl_rule *rule = &ch->recrawl.rule;
    struct recrawling_view v;
    recrawling_look(c, ch, clock_wall(), &v);
    put_exact(j, "weight", rule->weight > 0 ? rule->weight : 1);
    put_bool(j, "never", rule->is_never);
    put_u64(j, "at_most_every_ms", (uint64_t)rule->at_most_every);
    put_u64(j, "at_least_every_ms", (uint64_t)rule->at_least_every);
    json_key(j, "recrawl");
    json_open(j, '{');
    put_bool(j, "planned", v.is_planned);
    put_bool(j, "under_way", v.is_under_way);
    put_u64(j, "rank", v.rank);
    put_exact(j, "weight", v.weight);
    put_exact(j, "inlinks", v.inlinks);
    put_exact(j, "changes_a_day", v.rate_a_day);
    put_exact(j, "uncertainty", v.rate_factor);
    put_exact(j, "freshness", v.freshness);
    put_time(j, "visited", v.visited);
    put_time(j, "next", v.next);
    put_u64(j, "submissions", v.submissions);
    put_u64(j, "successes", v.successes);
    put_u64(j, "updates", v.updates);
    put_u64(j, "looked", v.looked);
    put_u64(j, "changed", v.changed);
    put_u64(j, "added", v.added);
    put_u64(j, "gone", v.gone);
    put_u64(j, "failed", v.failed);
    put_u64(j, "took_ms", (uint64_t)v.took_ms);
    json_close(j, '}');
}

/* ---- all of them ---- */

static void put_ranks(struct json *j, const struct recrawling_figures *f)
{
    json_key(j, "ranks");
    json_open(j, '[');
    for (unsigned i = 0; i < RECRAWL_RANKS; i++) {
        const struct recrawling_rank *k = &f->ranks[i];
        json_open(j, '{');
        put_u64(j, "rank", i);
        put_u64(j, "channels", k->channels);
        put_u64(j, "interval_ms", (uint64_t)k->interval_ms);
        put_exact(j, "weight", k->weight);
        put_exact(j, "freshness", k->freshness);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void put_stalest(struct json *j, const struct recrawling_figures *f)
{
    json_key(j, "stalest");
    json_open(j, '[');
    for (size_t i = 0; i < f->stalest_count; i++) {
        const struct recrawling_stale *s = &f->stalest[i];
        char id[24];
        snprintf(id, sizeof(id), "%016llx", (unsigned long long)s->id);
        json_open(j, '{');
        put_str(j, "id", id);
        put_str(j, "label", s->label);
        put_exact(j, "weight", s->weight);
        put_exact(j, "freshness", s->freshness);
        put_exact(j, "loss", s->loss);
        put_exact(j, "changes_a_day", s->rate_a_day);
        put_time(j, "visited", s->visited);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void put_figures(struct json *j, const struct recrawling_figures *f)
{
    json_open(j, '{');
    put_str(j, "strategy", f->is_off ? "off" : recrawl_strategy_name(f->strategy));
    put_time(j, "at", f->at);
    put_exact(j, "ceiling", f->ceiling);
    put_exact(j, "prior_a_day", f->prior_a_day);
    put_u64(j, "channels", f->channels);
    put_u64(j, "new", f->fresh);
    put_u64(j, "due", f->due);
    put_u64(j, "queued", f->queued);
    put_u64(j, "running", f->running);
    put_u64(j, "submitted", f->submitted);
    put_u64(j, "done", f->done);
    put_u64(j, "updated", f->updated);
    put_u64(j, "lost", f->lost);
    put_u64(j, "declined", f->declined);
    put_u64(j, "forwarded", f->forwarded);
    put_exact(j, "weight", f->weight);
    put_exact(j, "freshness", f->freshness);
    put_ranks(j, f);
    put_stalest(j, f);
    json_close(j, '}');
}

void deed_recrawl(struct ask *r, struct deed *d)
{
    struct recrawling_figures f;
    struct json j = {.out = &d->out};
    pthread_mutex_lock(&r->c->lock);
    recrawling_figures_get(r->c, clock_wall(), &f);
    pthread_mutex_unlock(&r->c->lock);
    put_figures(&j, &f);
}

void deed_recrawl_set(struct ask *r, struct deed *d)
{
    struct span name = pairs_get(&r->in, "strategy");
    bool is_off = span_is(name, "off");
    struct recrawling_figures f;
    recrawl_strategy s = RECRAWL_GREEDY;
    if (!is_off && !recrawl_strategy_parse(name, &s)) {
        deed_fail_field(d, "strategy", "greedy, fixed, iir, icr or off");
        return;
    }
    pthread_mutex_lock(&r->c->lock);
    recrawling_figures_get(r->c, clock_wall(), &f);
    recrawling_switch(r->c, is_off ? f.strategy : s, is_off);
    pthread_mutex_unlock(&r->c->lock);
    struct json j = {.out = &d->out};
    json_open(&j, '{');
    json_key(&j, "strategy");
    json_text(&j, name);
    json_close(&j, '}');
    if (is_off)
        buf_puts(&d->message, "Nothing is visited again until you say so.");
    else
        buf_printf(&d->message, "Channels are kept fresh by %.*s from now on.", SPAN_ARG(name));
    log_write(r->c->o.log, LOG_INFO, "admin", "recrawl strategy=%.*s by=%s", SPAN_ARG(name), r->who.name);
}
