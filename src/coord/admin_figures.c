/* admin_figures.c - how the fleet is doing, in numbers: what agents said last, rates, an hour of history, alerts, as
 * JSON. */
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

#include "base/mem.h"
#include "coord/admin_internal.h"
#include "coord/ingest.h"
#include "io/clock.h"

#define RATE_MS 30000
#define SHARE_REQUESTS_MIN 50 /* fewer say nothing about a share */
#define WAITING_MANY 1000     /* packages that wait to be applied */
#define COUNT_MS 6000         /* between two looks at all networks and tasks: a million take a while */

const char *presence_name(agent_presence p)
{
    static const char *const names[] = {[0] = "unknown",
                                        [PRESENCE_INVITED] = "invited",
                                        [PRESENCE_THERE] = "there",
                                        [PRESENCE_RESTING] = "resting",
                                        [PRESENCE_AWAY] = "away",
                                        [PRESENCE_REMOVED] = "removed"};
    return names[p];
}

const char *activity_name(agent_activity a)
{
    static const char *const names[] = {[0] = "unknown",
                                        [ACTIVITY_WORKING] = "working",
                                        [ACTIVITY_IDLE] = "idle",
                                        [ACTIVITY_PAUSED] = "paused",
                                        [ACTIVITY_BUSY_MACHINE] = "machine in use",
                                        [ACTIVITY_SPOOL_FULL] = "spool full",
                                        [ACTIVITY_DISK_FULL] = "disk full",
                                        [ACTIVITY_QUOTA] = "bytes of the day used up",
                                        [ACTIVITY_DRAINED] = "drained"};
    return (size_t)a < sizeof(names) / sizeof(*names) ? names[a] : "unknown";
}

const char *agent_state_name(agent_state s)
{
    return s == AGENT_PAUSE ? "pause" : s == AGENT_DRAIN ? "drain" : "run";
}

agent_presence agent_presence_of(const struct coord *c, const struct c_agent *a)
{
    if (!a->name[0])
        return PRESENCE_REMOVED;
    if (!a->is_joined)
        return PRESENCE_INVITED;
    if (agent_is_there(c, a))
        return PRESENCE_THERE;
    return agent_is_in_hours(a, clock_wall()) ? PRESENCE_AWAY : PRESENCE_RESTING;
}

const char *agent_shown_state(const struct coord *c, const struct c_agent *a)
{
    agent_presence p = agent_presence_of(c, a);
    if (p == PRESENCE_THERE && a->is_demoted)
        return "demoted";
    if (p == PRESENCE_THERE && a->settings.state == AGENT_PAUSE)
        return "paused";
    if (p == PRESENCE_THERE && a->settings.state == AGENT_DRAIN)
        return "draining";
    return presence_name(p);
}

/* ---- looking ---- */

static void keep(char *to, size_t size, struct span s)
{
    snprintf(to, size, "%.*s", SPAN_ARG(s));
}

static void take_report(struct figures *f, struct arena *arena, const struct c_agent *a)
{
    struct report r;
    if (!a->report.n || report_unpack(arena, buf_span(&a->report), &r) != ST_OK)
        return;
    f->activity = r.activity;
    keep(f->version, sizeof(f->version), r.version);
    f->requests = r.requests;
    f->pages = r.pages;
    f->bytes_crawled = r.bytes_crawled;
    f->bytes_sent = r.bytes_sent;
    f->errors = r.errors;
    f->queue = r.queue;
    f->hosts_waiting = r.hosts_waiting;
    f->spool_packages = r.spool_packages;
    f->spool_bytes = r.spool_bytes;
    f->memory = r.memory_bytes;
    f->disk_free = r.disk_free_bytes;
    f->sequence = r.sequence;
    f->uptime_ms = r.uptime_ms;
    if (r.has_setup) {
        f->disk = r.setup.disk_bytes;
        keep(f->machine, sizeof(f->machine), r.setup.machine);
    }
}

static void take_setup(struct figures *f, struct arena *arena, const struct c_agent *a)
{
    struct report r;
    if (f->disk || !a->setup.n || report_unpack(arena, buf_span(&a->setup), &r) != ST_OK || !r.has_setup)
        return;
    f->disk = r.setup.disk_bytes;
    keep(f->machine, sizeof(f->machine), r.setup.machine);
}

static uint64_t grown(uint64_t now, uint64_t before)
{
    return now > before ? now - before : 0; /* set up anew: counts from 0 again */
}

static void take_mark(struct figures *f, mono_ms now)
{
    struct figures_mark m = {now, f->requests, f->pages, f->bytes_crawled, f->bytes_sent, f->errors};
    f->mark_at = (f->mark_at + 1) % FIGURES_MARKS;
    f->marks[f->mark_at] = m;
    f->mark_count += f->mark_count < FIGURES_MARKS;
    /* From the oldest mark of the last half minute. */
    const struct figures_mark *old = &f->marks[f->mark_at];
    for (unsigned i = 1; i < f->mark_count; i++) {
        const struct figures_mark *o = &f->marks[(f->mark_at + FIGURES_MARKS - i) % FIGURES_MARKS];
        if (now - o->at > RATE_MS)
            break;
        old = o;
    }
    double s = (double)(now - old->at) / 1000;
    f->pages_per_s = s > 0 ? (double)grown(m.pages, old->pages) / s : 0;
    f->crawled_per_s = s > 0 ? (double)grown(m.crawled, old->crawled) / s : 0;
    f->sent_per_s = s > 0 ? (double)grown(m.sent, old->sent) / s : 0;
    f->errors_per_min = s > 0 ? (double)grown(m.errors, old->errors) * 60 / s : 0;
    uint64_t requests = grown(m.requests, old->requests);
    if (requests >= SHARE_REQUESTS_MIN)
        f->error_share = (double)grown(m.errors, old->errors) / (double)requests;
    else if (f->error_share == 0 && !requests)
        f->error_share = -1;
}

/* coord.lock held. */
static void count_agent(struct coord *c, const struct c_agent *a, struct figures_total *t)
{
    agent_presence p = agent_presence_of(c, a);
    t->agents++;
    t->joined += a->is_joined;
    t->there += p == PRESENCE_THERE;
    t->away += p == PRESENCE_AWAY;
    t->resting += p == PRESENCE_RESTING;
    t->paused += a->settings.state != AGENT_RUN;
    t->demoted += a->is_demoted;
    t->packages += a->packages;
    t->package_bytes += a->package_bytes;
    t->visits += a->visits;
    t->dropped += a->dropped;
}

static void add_figures(const struct figures *f, struct figures_total *t)
{
    t->requests += f->requests;
    t->pages += f->pages;
    t->errors += f->errors;
    t->bytes_crawled += f->bytes_crawled;
    t->bytes_sent += f->bytes_sent;
    t->queue += f->queue;
    t->spool_packages += f->spool_packages;
    t->spool_bytes += f->spool_bytes;
    t->pages_per_s += f->pages_per_s;
    t->crawled_per_s += f->crawled_per_s;
    t->sent_per_s += f->sent_per_s;
    t->errors_per_min += f->errors_per_min;
}

/* coord.lock held. */
static void count_rest(struct coord *c, struct figures_total *t)
{
    size_t at = 0;
    t->channels = c->channels.n;
    t->networks = c->networks.n;
    t->hosts = c->hosts.n;
    for (const struct c_network *n; (n = table_next(&c->networks, &at));) {
        t->networks_free += n->state == NETWORK_FREE;
        t->networks_leaving += n->state == NETWORK_LEAVING;
    }
    for (size_t i = 0; i < c->task_count; i++)
        if (c->tasks[i]) {
            t->tasks += !c->tasks[i]->is_ended;
            t->gone += c->tasks[i]->progress.gone;
        }
}

/* admin.lock held: packages of the last minute. */
static double packages_a_minute(struct admin *a, uint64_t packages)
{
    const unsigned max = sizeof(a->ring_packages) / sizeof(*a->ring_packages);
    memmove(a->ring_packages + 1, a->ring_packages, (max - 1) * sizeof(*a->ring_packages));
    a->ring_packages[0] = packages;
    a->ring_packages_n += a->ring_packages_n < max;
    unsigned back = a->ring_packages_n - 1;
    if (back > 30)
        back = 30;
    return back ? (double)grown(packages, a->ring_packages[back]) * 60e3 / ((double)back * FIGURES_STEP_MS) : 0;
}

void figures_tick(struct admin *a, mono_ms now)
{
    struct coord *c = a->c;
    struct figures_total t = {.at = clock_wall()};
    struct ingest_stats in;
    struct statvfs fs;
    struct arena arena;
    arena_init(&arena);
    if (statvfs(c->data_dir, &fs) == 0) {
        t.disk_free = (uint64_t)fs.f_bavail * fs.f_frsize;
        t.disk = (uint64_t)fs.f_blocks * fs.f_frsize;
    }
    ingest_get_stats(c->ingest, &in);
    pthread_mutex_lock(&c->lock);
    pthread_mutex_lock(&a->lock); /* inside coord.lock: the order everywhere */
    size_t had = a->figures_cap;
    a->figures = mem_grow(a->figures, &a->figures_cap, c->agent_count, sizeof(*a->figures));
    if (a->figures_cap > had)
        memset(a->figures + had, 0, (a->figures_cap - had) * sizeof(*a->figures));
    for (size_t i = 0; i < c->agent_count; i++) {
        const struct c_agent *agent = c->agents[i];
        struct figures *f = &a->figures[i];
        if (!agent || !agent->name[0]) {
            *f = (struct figures){0};
            continue;
        }
        if (f->agent != agent->number)
            *f = (struct figures){.agent = agent->number, .error_share = -1};
        if (agent->heard_mono != f->heard) {
            f->heard = agent->heard_mono;
            arena_reset(&arena);
            take_report(f, &arena, agent);
            take_setup(f, &arena, agent);
        }
        take_mark(f, now);
        count_agent(c, agent, &t);
        add_figures(f, &t);
    }
    if (a->counted == 0 || now - a->counted >= COUNT_MS) {
        a->counted = now;
        count_rest(c, &t);
    } else {
        t.channels = a->total.channels;
        t.networks = a->total.networks;
        t.hosts = a->total.hosts;
        t.networks_free = a->total.networks_free;
        t.networks_leaving = a->total.networks_leaving;
        t.tasks = a->total.tasks;
        t.gone = a->total.gone;
    }
    t.packages_per_min = packages_a_minute(a, in.packages);
    a->total = t;
    a->ring[a->ring_at] = (struct figures_sample){.at = t.at,
                                                  .pages_per_s = t.pages_per_s,
                                                  .packages_per_min = t.packages_per_min,
                                                  .crawled_per_s = t.crawled_per_s,
                                                  .sent_per_s = t.sent_per_s,
                                                  .errors_per_min = t.errors_per_min,
                                                  .queue = t.queue,
                                                  .errors = t.errors,
                                                  .there = t.there,
                                                  .waiting = in.waiting,
                                                  .spool_bytes = t.spool_bytes};
    a->ring_at = (a->ring_at + 1) % FIGURES_SAMPLES;
    a->ring_n += a->ring_n < FIGURES_SAMPLES;
    pthread_mutex_unlock(&a->lock);
    pthread_mutex_unlock(&c->lock);
    arena_done(&arena);
}

void figures_of(struct admin *a, uint64_t agent, struct figures *out)
{
    pthread_mutex_lock(&a->lock);
    if (agent && agent <= a->figures_cap && a->figures[agent - 1].agent == agent)
        *out = a->figures[agent - 1];
    else
        *out = (struct figures){.error_share = -1};
    pthread_mutex_unlock(&a->lock);
}

void figures_total_get(struct admin *a, struct figures_total *out)
{
    pthread_mutex_lock(&a->lock);
    *out = a->total;
    pthread_mutex_unlock(&a->lock);
}

/* ---- alerts ---- */

static struct alert *add_alert(struct alert *out, size_t *n, size_t max, const char *kind, const char *agent)
{
    if (*n >= max)
        return NULL;
    struct alert *a = &out[(*n)++];
    *a = (struct alert){.kind = kind};
    snprintf(a->agent, sizeof(a->agent), "%s", agent);
    return a;
}

static void alerts_of_agent(struct admin *a, const struct c_agent *agent, struct alert *out, size_t *n, size_t max)
{
    struct figures f;
    struct alert *x;
    agent_presence p = agent_presence_of(a->c, agent);
    figures_of(a, agent->number, &f);
    if (p == PRESENCE_AWAY && (x = add_alert(out, n, max, "away", agent->name))) {
        if (agent->heard)
            snprintf(x->text, sizeof(x->text), "has not been heard for %lld minutes, in its working hours",
                     (long long)((clock_wall() - agent->heard) / 60000));
        else
            snprintf(x->text, sizeof(x->text), "has not been heard since the coordinator started");
    }
    if (agent->is_demoted && (x = add_alert(out, n, max, "trust", agent->name)))
        snprintf(x->text, sizeof(x->text), "said what others could not confirm (%llu times): it gets no work",
                 (unsigned long long)agent->checks_bad);
    bool is_low = f.disk && (double)f.disk_free < ALERT_DISK_SHARE * (double)f.disk;
    if (p == PRESENCE_THERE && (is_low || f.activity == ACTIVITY_DISK_FULL || f.activity == ACTIVITY_SPOOL_FULL) &&
        (x = add_alert(out, n, max, "disk", agent->name)))
        snprintf(x->text, sizeof(x->text), "%s",
                 f.activity == ACTIVITY_SPOOL_FULL ? "has a full spool and waits for us"
                 : is_low                          ? "has less than 5 % of its disk free"
                                                   : "has a full disk");
    if (f.error_share > ALERT_ERROR_SHARE && (x = add_alert(out, n, max, "errors", agent->name)))
        snprintf(x->text, sizeof(x->text), "gets errors for %.0f %% of its requests", f.error_share * 100);
}

size_t alerts_get(struct admin *a, struct alert *out, size_t max)
{
    struct coord *c = a->c;
    struct ingest_stats in;
    struct figures_total t;
    struct alert *x;
    size_t n = 0;
    ingest_get_stats(c->ingest, &in);
    figures_total_get(a, &t);
    if (in.trouble != ST_OK && (x = add_alert(out, &n, max, "inbox", "")))
        snprintf(x->text, sizeof(x->text), "What agents send cannot be taken in at the moment (%s)",
                 status_name(in.trouble));
    else if (in.waiting > WAITING_MANY && (x = add_alert(out, &n, max, "inbox", "")))
        snprintf(x->text, sizeof(x->text), "%llu packages wait to be taken in", (unsigned long long)in.waiting);
    if (t.disk && (double)t.disk_free < ALERT_DISK_SHARE * (double)t.disk && (x = add_alert(out, &n, max, "disk", "")))
        snprintf(x->text, sizeof(x->text), "The coordinator has less than %d %% of its disk free",
                 (int)(ALERT_DISK_SHARE * 100));
    pthread_mutex_lock(&c->lock);
    for (size_t i = 0; i < c->agent_count; i++)
        if (c->agents[i] && c->agents[i]->name[0])
            alerts_of_agent(a, c->agents[i], out, &n, max);
    pthread_mutex_unlock(&c->lock);
    return n;
}

/* ---- JSON ---- */

static void put_history(struct ask *r, struct json *j)
{
    struct admin *a = r->a;
    struct figures_sample *h = arena_alloc(r->arena, FIGURES_SAMPLES * sizeof(*h));
    pthread_mutex_lock(&a->lock);
    size_t n = a->ring_n;
    for (size_t i = 0; i < n; i++)
        h[i] = a->ring[(a->ring_at + FIGURES_SAMPLES - n + i) % FIGURES_SAMPLES];
    pthread_mutex_unlock(&a->lock);
#define COLUMN(name, put)              \
    do {                               \
        json_key(j, name);             \
        json_open(j, '[');             \
        for (size_t i = 0; i < n; i++) \
            put;                       \
        json_close(j, ']');            \
    } while (0)
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
#undef COLUMN
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
    json_close(&j, '}');
    json_key(&j, "totals");
    json_open(&j, '{');
    put_u64(&j, "requests", t.requests);
    put_u64(&j, "pages", t.pages);
    put_u64(&j, "errors", t.errors);
    put_u64(&j, "bytes_crawled", t.bytes_crawled);
    put_u64(&j, "bytes_sent", t.bytes_sent);
    put_u64(&j, "queue", t.queue);
    put_u64(&j, "spool_packages", t.spool_packages);
    put_u64(&j, "spool_bytes", t.spool_bytes);
    put_u64(&j, "packages", t.packages);
    put_u64(&j, "package_bytes", t.package_bytes);
    put_u64(&j, "visits", t.visits);
    json_close(&j, '}');
    json_key(&j, "errors_by_kind");
    json_open(&j, '{');
    put_u64(&j, "requests", t.errors);
    put_u64(&j, "pages_gone", t.gone);
    put_u64(&j, "visits_dropped", t.dropped);
    put_u64(&j, "packages_damaged", in.damaged);
    json_close(&j, '}');
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
    put_bool(&j, "quiet", progress.is_quiet); /* every task is done, and all that was found is here */
    put_u64(&j, "step_ms", FIGURES_STEP_MS);
    if (pairs_is_true(&r->in, "history"))
        put_history(r, &j);
    json_close(&j, '}');
    buf_done(&fingerprint);
}
