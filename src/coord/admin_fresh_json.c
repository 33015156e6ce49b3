/* admin_fresh_json.c - GET /api/v1/freshness: what the pages of freshness show over time, by rank and by site, for
 * programs. How things stand now is in GET /api/v1/recrawl. */
#include "coord/admin_fresh.h"
#include "io/clock.h"

#define HOUR_MS (3600ll * 1000)
#define DAY_MS (24 * HOUR_MS)
#define SITES_TOLD 1000

static void put_share(struct json *j, const char *name, double share)
{
    json_key(j, name);
    if (share >= 0)
        json_real(j, share, 4);
    else
        json_null(j);
}

static void put_sums(struct json *j, const struct fresh_sums *s)
{
    put_u64(j, "channels", s->channels);
    put_share(j, "freshness", fresh_share(s));
    put_real(j, "weight", s->weight);
    json_key(j, "changes_a_day");
    json_real(j, s->channels ? s->rate / s->channels : 0, 6);
    json_key(j, "age_s");
    if (s->visited)
        json_u64(j, (uint64_t)(s->age_ms / s->visited / 1000));
    else
        json_null(j);
    put_u64(j, "visits", s->submissions);
    put_u64(j, "done", s->successes);
    put_u64(j, "updated", s->updates);
}

static void put_view(struct json *j, const struct fresh_view *v)
{
    json_key(j, "ranks");
    json_open(j, '[');
    for (int i = 0; i < RECRAWL_RANKS; i++) {
        json_open(j, '{');
        put_u64(j, "rank", (uint64_t)i);
        put_sums(j, &v->ranks[i]);
        json_close(j, '}');
    }
    json_close(j, ']');
    json_key(j, "sites");
    json_open(j, '[');
    for (size_t i = 0; i < v->site_count && i < SITES_TOLD; i++) {
        const struct fresh_site *s = &v->sites[i];
        json_open(j, '{');
        put_text(j, "site", s->name);
        put_id(j, "channel", s->channel);
        put_real(j, "missing", fresh_loss(&s->sums));
        put_sums(j, &s->sums);
        put_time(j, "visited", s->sums.last);
        json_close(j, '}');
    }
    json_close(j, ']');
    put_u64(j, "sites_total", v->site_all);
}

static void put_count(struct json *j, const struct freshness_count *k, int64_t step_ms)
{
    const struct {
        const char *name;
        uint64_t sum;
    } means[] = {{"channels", k->channels}, {"due", k->due}, {"queued", k->queued}, {"running", k->running}};
    double fresh = freshness_mean(k, k->fresh);
    json_open(j, '{');
    put_time(j, "at", k->at * step_ms);
    put_share(j, "freshness", fresh < 0 ? -1 : fresh / FRESHNESS_WHOLE);
    for (size_t i = 0; i < sizeof(means) / sizeof(*means); i++) {
        json_key(j, means[i].name);
        if (k->looks)
            json_real(j, freshness_mean(k, means[i].sum), 1);
        else
            json_null(j);
    }
    put_u64(j, "submitted", k->submitted);
    put_u64(j, "updated", k->updated);
    put_u64(j, "unchanged", k->unchanged);
    put_u64(j, "lost", k->lost);
    json_close(j, '}');
}

/* coord.lock held. */
static void put_times(struct json *j, const struct freshness *f, wall_ms now)
{
    json_key(j, "hours");
    json_open(j, '[');
    for (int64_t at = now / HOUR_MS - FRESHNESS_HOURS + 1; at <= now / HOUR_MS; at++)
        if (freshness_hour(f, at))
            put_count(j, freshness_hour(f, at), HOUR_MS);
    json_close(j, ']');
    json_key(j, "days");
    json_open(j, '[');
    for (int64_t at = now / DAY_MS - FRESHNESS_DAYS + 1; at <= now / DAY_MS; at++)
        if (freshness_day(f, at))
            put_count(j, freshness_day(f, at), DAY_MS);
    json_close(j, ']');
}

void deed_fresh(struct ask *r, struct deed *d)
{
    struct json j = {.out = &d->out};
    const struct fresh_view *v = fresh_view_get(r->a);
    wall_ms now = clock_wall();
    json_open(&j, '{');
    put_time(&j, "at", now);
    pthread_mutex_lock(&r->c->lock);
    put_times(&j, r->c->freshness, now);
    pthread_mutex_unlock(&r->c->lock);
    put_view(&j, v);
    fresh_view_done(r->a, v);
    json_close(&j, '}');
}
