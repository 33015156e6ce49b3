/* player_wait.c - conditions: how they are looked at, how often, and what to say of one that does not come true. */
#include <math.h>
#include <stdio.h>

#include "io/clock.h"
#include "lab/play/player_internal.h"

#define MISSING_SHOWN 5
#define LOOK_SHARE 10     /* looking takes at most a part in so many of the time */
#define LOOK_MOST_MS 3000 /* and happens at least so often */
#define APPLIED_STEP_MS 1000

struct waiting {
    const struct step *step;
    const struct play_agent *agent; /* NULL: the condition is about none */
    double since;                   /* seconds since 1970 */
    size_t pages;                   /* that are enough */
    double at;                      /* when it came true, where that is known better than "now" */
    struct buf seen, missing;       /* in place of it */
};

typedef status look_fn(struct play *p, struct waiting *w, bool *holds);

static status look_time(struct play *p, struct waiting *w, bool *holds)
{
    *holds = play_wall() - w->since >= (double)w->step->within_ms / 1000;
    return ST_OK;
}

static void say_pages(struct waiting *w, const struct pageset *s, const char *not_yet)
{
    play_count(&w->seen, pageset_met(s));
    buf_puts(&w->seen, " of ");
    play_count(&w->seen, pageset_all(s));
    buf_puts(&w->seen, " pages");
    buf_printf(&w->missing, "; %s: ", not_yet);
    pageset_missing(s, MISSING_SHOWN, &w->missing);
}

static status look_crawled(struct play *p, struct waiting *w, bool *holds)
{
    *holds = pageset_met(p->wanted) >= w->pages;
    if (*holds)
        w->at = follower_when(p->follower, w->pages);
    else
        say_pages(w, p->wanted, "not fetched");
    return ST_OK;
}

static status look_applied(struct play *p, struct waiting *w, bool *holds)
{
    bool is_over = play_wall() - w->since >= (double)w->step->within_ms / 1000; /* then all is to be said exactly */
    if (play_count_applied(p, is_over ? 0 : w->pages) != ST_OK)
        buf_puts(&w->seen, "the data folder cannot be read; before: ");
    *holds = pageset_met(p->applied) >= w->pages;
    if (!*holds)
        say_pages(w, p->applied, "not there");
    return ST_OK;
}

/* A site that nobody has placed has no network yet. */
static status look_settled(struct play *p, struct waiting *w, bool *holds)
{
    size_t hosts = 0;
    if (play_look_at_networks(p, &hosts) != ST_OK) {
        buf_puts(&w->seen, "the coordinator does not answer");
        return ST_OK;
    }
    *holds = p->networks > 0 && p->settled == p->networks && hosts >= p->lab.site_count;
    buf_printf(&w->seen, "%zu of %zu networks settled, with %zu of %zu sites", p->settled, p->networks, hosts,
               p->lab.site_count);
    return ST_OK;
}

static status look_fetching(struct play *p, struct waiting *w, bool *holds)
{
    w->at = follower_seen(p->follower);
    *holds = w->at > 0;
    buf_puts(&w->seen, "it has asked for no page");
    return ST_OK;
}

static status look_idle(struct play *p, struct waiting *w, bool *holds)
{
    double last = follower_last(p->follower, w->agent->place), from = last > p->begin_wall ? last : p->begin_wall;
    *holds = play_wall() - from >= (double)w->step->idle_ms / 1000;
    buf_printf(&w->seen, "its last request was %.1f s ago", play_wall() - from);
    return ST_OK;
}

static status look_heard(struct play *p, struct waiting *w, bool *holds)
{
    const struct json_node *agent;
    if (play_look_at_agent(p, w->agent, &agent) != ST_OK) {
        buf_puts(&w->seen, "the coordinator does not answer");
        return ST_OK;
    }
    double heard = json_member_number(agent, "heard") / 1000;
    *holds = heard >= w->since;
    if (*holds)
        w->at = heard;
    else if (heard > 0)
        buf_printf(&w->seen, "it was heard %.1f s ago", play_wall() - heard);
    else
        buf_puts(&w->seen, "it was never heard");
    return ST_OK;
}

static status look_absent(struct play *p, struct waiting *w, bool *holds)
{
    const struct json_node *agent;
    if (play_look_at_agent(p, w->agent, &agent) != ST_OK) {
        buf_puts(&w->seen, "the coordinator does not answer");
        return ST_OK;
    }
    struct span presence = json_member_text(agent, "presence");
    *holds = span_is(presence, "away") || span_is(presence, "resting");
    buf_printf(&w->seen, "it is %.*s", SPAN_ARG(presence.n ? presence : SPAN("not known")));
    return ST_OK;
}

static status look_left(struct play *p, struct waiting *w, bool *holds)
{
    size_t has = 0;
    if (play_count_networks(p, w->agent, &has) != ST_OK) {
        buf_puts(&w->seen, "the coordinator does not answer");
        return ST_OK;
    }
    *holds = has == 0;
    buf_printf(&w->seen, "it has %zu networks", has);
    return ST_OK;
}

static const struct condition {
    const char *name;
    look_fn *look;
    bool needs_agent, needs_coordinator, has_share;
} conditions[] = {[WAIT_TIME] = {"", look_time, false, false, false},
                  [WAIT_SETTLED] = {"settled", look_settled, false, true, false},
                  [WAIT_CRAWLED] = {"crawled", look_crawled, false, false, true},
                  [WAIT_APPLIED] = {"applied", look_applied, false, false, true},
                  [WAIT_FETCHING] = {"fetching", look_fetching, true, false, false},
                  [WAIT_IDLE] = {"idle", look_idle, true, false, false},
                  [WAIT_HEARD] = {"heard", look_heard, true, true, false},
                  [WAIT_ABSENT] = {"absent", look_absent, true, true, false},
                  [WAIT_LEFT] = {"left", look_left, true, true, false}};

static status prepare(struct play *p, struct waiting *w, const struct condition *c)
{
    w->since = play_wall();
    w->agent = c->needs_agent ? play_agent(p, w->step->name) : NULL;
    if (c->needs_agent && !w->agent)
        return play_fail(p, ST_REFUSED, "wait %s: no agent is called %.*s", c->name, SPAN_ARG(w->step->name));
    if (c->needs_coordinator && p->run->crawler != CRAWLER_FLEET)
        return play_fail(p, ST_REFUSED, "wait %s: there is no coordinator", c->name);
    if (w->step->wait == WAIT_APPLIED && p->run->crawler == CRAWLER_NONE)
        return play_fail(p, ST_REFUSED, "wait applied: nobody crawls");
    if (c->has_share)
        w->pages = (size_t)ceil(w->step->share * (double)pageset_all(p->wanted) - 1e-9);
    if (w->step->wait == WAIT_APPLIED)
        pageset_forget(p->applied);
    if (w->step->wait == WAIT_FETCHING)
        follower_watch(p->follower, w->agent->place, w->since);
    return ST_OK;
}

static status timed_out(struct play *p, struct waiting *w, const struct condition *c)
{
    char share[32] = "";
    if (c->has_share)
        snprintf(share, sizeof(share), " %.4g%%", 100 * w->step->share);
    return play_fail(p, ST_REFUSED, "wait %s%s%s%.*s: %s after %.3g s%s", c->name, share, c->needs_agent ? " " : "",
                     SPAN_ARG(c->needs_agent ? w->step->name : (struct span){0}), buf_cstr(&w->seen),
                     (double)w->step->within_ms / 1000, buf_cstr(&w->missing));
}

/* What is dear to look at is looked at less often: the machine is busy with what we wait for. */
static int64_t next_look(const struct waiting *w, mono_ms began, mono_ms deadline)
{
    int64_t cost = clock_mono() - began, wait = w->step->wait == WAIT_APPLIED ? APPLIED_STEP_MS : PLAY_STEP_MS;
    if (wait < cost * LOOK_SHARE)
        wait = cost * LOOK_SHARE;
    if (wait > LOOK_MOST_MS)
        wait = LOOK_MOST_MS;
    int64_t left = deadline - clock_mono();
    return wait < left ? wait : left > 0 ? left : 1;
}

static status look_until(struct play *p, struct waiting *w, const struct condition *c)
{
    mono_ms deadline = clock_mono() + w->step->within_ms;
    bool holds = false;
    status st = play_pause(p, 0);
    while (st == ST_OK) {
        mono_ms began = clock_mono();
        buf_clear(&w->seen);
        buf_clear(&w->missing);
        st = c->look(p, w, &holds);
        if (st != ST_OK || holds)
            break;
        if (w->step->wait != WAIT_TIME && clock_mono() >= deadline)
            st = timed_out(p, w, c);
        else
            st = play_pause(p, next_look(w, began, deadline));
    }
    return st;
}

status play_wait(struct play *p, const struct step *s, double *took_s)
{
    const struct condition *c = &conditions[s->wait];
    struct waiting w = {.step = s};
    status st = prepare(p, &w, c);
    if (st == ST_OK)
        st = look_until(p, &w, c);
    double end = w.at > 0 ? w.at : play_wall();
    if (st == ST_OK)
        *took_s = end > w.since ? end - w.since : 0;
    buf_done(&w.seen);
    buf_done(&w.missing);
    return st;
}
