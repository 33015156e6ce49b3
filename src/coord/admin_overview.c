/* admin_overview.c - the figures as JSON: /api/v1/overview, and the histories of all and of one agent. */
#include "coord/admin_internal.h"
#include "coord/ingest.h"
#include "io/clock.h"

void put_errors_by_kind(struct json *j, const struct figures_counts *n)
{
    json_key(j, "errors_by_kind");
    json_open(j, '{');
    for (int k = 0; k < ERROR_KINDS; k++)
        put_u64(j, error_kind_name((error_kind)k), n->by_kind[k]);
    json_close(j, '}');
}

/* A list of equal length for every kind of error that there was. `at` gives the rates of sample i. */
static void put_kinds_over_time(struct json *j, size_t n, const float *(*at)(const void *samples, size_t i),
                                const void *samples)
{
    json_key(j, "errors_per_min_by_kind");
    json_open(j, '{');
    for (int k = 0; k < ERROR_KINDS; k++) {
        size_t first = 0;
        while (first < n && at(samples, first)[k] <= 0)
            first++;
        if (first == n)
            continue;
        json_key(j, error_kind_name((error_kind)k));
        json_open(j, '[');
        for (size_t i = 0; i < n; i++)
            json_real(j, (double)at(samples, i)[k], 1);
        json_close(j, ']');
    }
    json_close(j, '}');
}

static const float *kinds_of_all(const void *samples, size_t i)
{
    return ((const struct figures_sample *)samples)[i].by_kind_per_min;
}

static const float *kinds_of_one(const void *samples, size_t i)
{
    return ((const struct history_sample *)samples)[i].by_kind_per_min;
}

#define COLUMN(name, put)              \
    do {                               \
        json_key(j, name);             \
        json_open(j, '[');             \
        for (size_t i = 0; i < n; i++) \
            put;                       \
        json_close(j, ']');            \
    } while (0)

static void put_history(struct ask *r, struct json *j)
{
    struct admin *a = r->a;
    struct figures_sample *h = arena_alloc(r->arena, FIGURES_SAMPLES * sizeof(*h));
    pthread_mutex_lock(&a->lock);
    size_t n = a->ring_n;
    for (size_t i = 0; i < n; i++)
        h[i] = a->ring[(a->ring_at + FIGURES_SAMPLES - n + i) % FIGURES_SAMPLES];
    pthread_mutex_unlock(&a->lock);
    json_key(j, "history");
    json_open(j, '{');
    COLUMN("at", json_i64(j, h[i].at));
    COLUMN("pages_per_s", json_real(j, h[i].pages_per_s, 2));
    COLUMN("packages_per_min", json_real(j, h[i].packages_per_min, 1));
    COLUMN("crawled_per_s", json_real(j, h[i].crawled_per_s, 0));
    COLUMN("sent_per_s", json_real(j, h[i].sent_per_s, 0));
    COLUMN("queue", json_u64(j, h[i].queue));
    COLUMN("errors", json_u64(j, h[i].errors));
    COLUMN("errors_per_min", json_real(j, h[i].errors_per_min, 1));
    COLUMN("there", json_u64(j, h[i].there));
    COLUMN("waiting", json_u64(j, h[i].waiting));
    COLUMN("spool_bytes", json_u64(j, h[i].spool_bytes));
    put_kinds_over_time(j, n, kinds_of_all, h);
    json_close(j, '}');
}

void put_agent_history(struct ask *r, struct json *j, uint64_t agent)
{
    struct admin *a = r->a;
    struct history_sample *h = arena_alloc(r->arena, HISTORY_SAMPLES * sizeof(*h));
    size_t n = 0;
    pthread_mutex_lock(&a->lock);
    const struct history *from = agent && agent <= a->histories_cap ? a->histories[agent - 1] : NULL;
    if (from)
        for (n = 0; n < from->n; n++)
            h[n] = from->samples[(from->at + HISTORY_SAMPLES - from->n + n) % HISTORY_SAMPLES];
    pthread_mutex_unlock(&a->lock);
    json_key(j, "history");
    json_open(j, '{');
    put_u64(j, "step_ms", HISTORY_STEP_MS);
    COLUMN("at", json_i64(j, h[i].at));
    COLUMN("pages_per_s", json_real(j, h[i].pages_per_s, 2));
    COLUMN("crawled_per_s", json_real(j, h[i].crawled_per_s, 0));
    COLUMN("sent_per_s", json_real(j, h[i].sent_per_s, 0));
    COLUMN("queue", json_u64(j, h[i].queue));
    COLUMN("spool_bytes", json_u64(j, h[i].spool_bytes));
    put_kinds_over_time(j, n, kinds_of_one, h);
    json_close(j, '}');
}

static void put_ingest(struct json *j, const struct ingest_stats *in)
{
    json_key(j, "ingest");
    json_open(j, '{');
    put_u64(j, "packages", in->packages);
    put_u64(j, "visits", in->visits);
    put_u64(j, "dropped", in->dropped);
    put_u64(j, "damaged", in->damaged);
    put_u64(j, "links", in->links);
    put_u64(j, "new_sites", in->new_sites);
    put_u64(j, "waiting", in->waiting);
    put_u64(j, "index_docs", in->index_docs);
    put_u64(j, "index_bytes", in->index_bytes);
    put_u64(j, "index_segments", in->index_segments);
    json_key(j, "trouble");
    if (in->trouble == ST_OK)
        json_null(j);
    else
        json_str(j, status_name(in->trouble));
    json_close(j, '}');
}

static void put_alerts(struct admin *a, struct arena *arena, struct json *j)
{
    struct alert *list = arena_alloc(arena, ALERTS_MAX * sizeof(*list));
    size_t n = alerts_get(a, list, ALERTS_MAX);
    json_key(j, "alerts");
    json_open(j, '[');
    for (size_t i = 0; i < n; i++) {
        json_open(j, '{');
        put_str(j, "kind", list[i].kind);
        json_key(j, "agent");
        json_text_or_null(j, span_str(list[i].agent));
        put_str(j, "text", list[i].text);
        json_close(j, '}');
    }
    json_close(j, ']');
}

void deed_overview(struct ask *r, struct deed *d)
{
    struct json j = {.out = &d->out};
    struct figures_total t;
    struct ingest_stats in;
    struct buf fingerprint = {0};
    figures_total_get(r->a, &t);
    ingest_get_stats(r->c->ingest, &in);
    coord_fingerprint(r->c, &fingerprint);
    json_open(&j, '{');
    put_u64(&j, "version", 1);
    put_u64(&j, "at", (uint64_t)t.at);
    put_text(&j, "program", r->c->o.version);
    put_text(&j, "fingerprint", buf_span(&fingerprint));
    put_u64(&j, "uptime_s", (uint64_t)(clock_mono() - r->c->started) / 1000);
    json_key(&j, "agents");
    json_open(&j, '{');
    put_u64(&j, "all", t.agents);
    put_u64(&j, "joined", t.joined);
    put_u64(&j, "there", t.there);
    put_u64(&j, "away", t.away);
    put_u64(&j, "resting", t.resting);
    put_u64(&j, "paused", t.paused);
    put_u64(&j, "demoted", t.demoted);
    json_close(&j, '}');
    put_u64(&j, "channels", t.channels);
    json_key(&j, "networks");
    json_open(&j, '{');
    put_u64(&j, "all", t.networks);
    put_u64(&j, "free", t.networks_free);
    put_u64(&j, "leaving", t.networks_leaving);
    json_close(&j, '}');
    put_u64(&j, "hosts", t.hosts);
    put_u64(&j, "tasks", t.tasks);
    json_key(&j, "rates");
    json_open(&j, '{');
    put_real(&j, "pages_per_s", t.pages_per_s);
    put_real(&j, "packages_per_min", t.packages_per_min);
    put_real(&j, "bytes_crawled_per_s", t.crawled_per_s);
    put_real(&j, "bytes_sent_per_s", t.sent_per_s);
    put_real(&j, "errors_per_min", t.errors_per_min);
    json_key(&j, "errors_per_min_by_kind");
    json_open(&j, '{');
    for (int k = 0; k < ERROR_KINDS; k++)
        if (t.by_kind_per_min[k] > 0)
            put_real(&j, error_kind_name((error_kind)k), t.by_kind_per_min[k]);
    json_close(&j, '}');
    json_close(&j, '}');
    json_key(&j, "totals");
    json_open(&j, '{');
    put_u64(&j, "requests", t.said.requests);
    put_u64(&j, "pages", t.said.pages);
    put_u64(&j, "errors", t.said.errors);
    put_u64(&j, "bytes_crawled", t.said.bytes_crawled);
    put_u64(&j, "bytes_sent", t.said.bytes_sent);
    put_u64(&j, "queue", t.queue);
    put_u64(&j, "spool_packages", t.spool_packages);
    put_u64(&j, "spool_bytes", t.spool_bytes);
    put_u64(&j, "packages", t.packages);
    put_u64(&j, "package_bytes", t.package_bytes);
    put_u64(&j, "visits", t.visits);
    put_u64(&j, "visits_dropped", t.dropped);
    json_close(&j, '}');
    put_errors_by_kind(&j, &t.said);
    put_ingest(&j, &in);
    json_key(&j, "disk");
    json_open(&j, '{');
    put_u64(&j, "free", t.disk_free);
    put_u64(&j, "all", t.disk);
    json_close(&j, '}');
    put_alerts(r->a, r->arena, &j);
    struct coord_progress progress;
    coord_get_progress(r->c, &progress);
    put_u64(&j, "tasks_done", progress.tasks_done);
    put_bool(&j, "quiet", progress.is_quiet); /* as coord_progress has it */
    put_u64(&j, "step_ms", FIGURES_STEP_MS);
    if (pairs_is_true(&r->in, "history"))
        put_history(r, &j);
    json_close(&j, '}');
    buf_done(&fingerprint);
}
