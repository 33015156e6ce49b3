/* admin_figures.c - how the fleet is doing, in numbers: what agents said last, rates, an hour of history, alerts.
 *
 * Agents count from when they were set up. Their counters may go back (an agent that was killed before it wrote them
 * down, a machine that was set up anew), so rates are taken from sums of what was added between two reports. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "base/mem.h"
#include "coord/admin_internal.h"
#include "coord/agents.h"
#include "coord/ingest.h"
#include "io/clock.h"

#define RATE_MS 30000         /* of agents that report every ten seconds */
#define RATE_MIN_MS 6000      /* and of those that report more often */
#define SHARE_REQUESTS_MIN 50 /* fewer say nothing about a share */
#define WAITING_MANY 1000     /* packages that wait to be applied */
#define COUNT_MS 6000         /* between two looks at all networks and tasks: a million take a while */

const char *error_kind_text(error_kind k)
{
    static const char *const texts[ERROR_KINDS] = {
        [ERROR_OTHER] = "Other",
        [ERROR_DNS] = "Name not found (DNS)",
        [ERROR_CONNECT] = "No connection",
        [ERROR_TLS] = "Bad certificate (TLS)",
        [ERROR_TIMEOUT] = "Timeout",
        [ERROR_PROTOCOL] = "Broken answer",
        [ERROR_LIMIT] = "Answer too large",
        [ERROR_REFUSED] = "Address not allowed",
        [ERROR_INVALID] = "Bad URL",
        [ERROR_HTTP_4XX] = "HTTP 4xx",
        [ERROR_HTTP_5XX] = "HTTP 5xx",
        [ERROR_GONE] = "Gone (404, 410)",
        [ERROR_ROBOTS] = "Closed by robots.txt",
    };
    return texts[(unsigned)k < ERROR_KINDS ? k : ERROR_OTHER];
}

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

static uint64_t grown(uint64_t now, uint64_t before)
{
    return now > before ? now - before : 0;
}

static void counts_add_grown(struct figures_counts *sum, const struct figures_counts *now,
                             const struct figures_counts *before)
{
    sum->requests += grown(now->requests, before->requests);
    sum->pages += grown(now->pages, before->pages);
    sum->bytes_crawled += grown(now->bytes_crawled, before->bytes_crawled);
    sum->bytes_sent += grown(now->bytes_sent, before->bytes_sent);
    sum->errors += grown(now->errors, before->errors);
    for (int k = 0; k < ERROR_KINDS; k++)
        sum->by_kind[k] += grown(now->by_kind[k], before->by_kind[k]);
}

static void take_kinds(struct figures_counts *n, const struct report *r)
{
    uint64_t counted = 0;
    for (size_t i = 0; i < r->error_kind_count && i < ERROR_KINDS; i++) {
        const struct error_count *e = &r->errors_by_kind[i];
        n->by_kind[e->kind] += e->count;
        if (error_kind_is_counted(e->kind))
            counted += e->count;
    }
    n->by_kind[ERROR_OTHER] += grown(n->errors, counted); /* an older agent names no kinds */
}

/* `is_ours`: it was registered while we run, so all that it counted it did in our time. */
static void take_report(struct figures *f, struct arena *arena, const struct c_agent *a, bool is_ours)
{
    struct report r;
    if (!a->report.n || report_unpack(arena, buf_span(&a->report), &r) != ST_OK)
        return;
    struct figures_counts n = {.requests = r.requests,
                               .pages = r.pages,
                               .bytes_crawled = r.bytes_crawled,
                               .bytes_sent = r.bytes_sent,
                               .errors = r.errors};
    take_kinds(&n, &r);
    if (f->has_said || is_ours)
        counts_add_grown(&f->grown, &n, &f->said);
    else {
        f->grown = n; /* what it did before we came is no growth */
        f->mark_count = 0;
    }
    f->has_said = true;
    f->said = n;
    f->activity = r.activity;
    keep(f->version, sizeof(f->version), r.version);
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

/* The oldest mark that is not older than `ms`. */
static const struct figures_mark *mark_since(const struct figures *f, mono_ms now, int64_t ms)
{
    const struct figures_mark *old = &f->marks[f->mark_at];
    for (unsigned i = 1; i < f->mark_count; i++) {
        const struct figures_mark *o = &f->marks[(f->mark_at + FIGURES_MARKS - i) % FIGURES_MARKS];
        if (now - o->at > ms)
            break;
        old = o;
    }
    return old;
}

/* `poll_ms`: between two reports; 0: the default. A shorter time than three reports would show their rhythm. */
static void take_mark(struct figures *f, mono_ms now, int64_t poll_ms)
{
    int64_t window = poll_ms && 3 * poll_ms < RATE_MS ? 3 * poll_ms : RATE_MS;
    if (window < RATE_MIN_MS)
        window = RATE_MIN_MS;
    f->mark_at = (f->mark_at + 1) % FIGURES_MARKS;
    f->marks[f->mark_at] = (struct figures_mark){now, f->grown};
    f->mark_count += f->mark_count < FIGURES_MARKS;
    /* Over the whole window even when less of it is known: a rate over two seconds would jump, then fade. */
    const struct figures_counts *m = &f->grown, *old = &mark_since(f, now, window)->n;
    double s = (double)window / 1000;
    f->pages_per_s = (double)(m->pages - old->pages) / s;
    f->crawled_per_s = (double)(m->bytes_crawled - old->bytes_crawled) / s;
    f->sent_per_s = (double)(m->bytes_sent - old->bytes_sent) / s;
    f->errors_per_min = (double)(m->errors - old->errors) * 60 / s;
    for (int k = 0; k < ERROR_KINDS; k++)
        f->by_kind_per_min[k] = (float)((double)(m->by_kind[k] - old->by_kind[k]) * 60 / s);
    old = &mark_since(f, now, RATE_MS)->n;
    uint64_t requests = m->requests - old->requests;
    if (requests >= SHARE_REQUESTS_MIN)
        f->error_share = (double)(m->errors - old->errors) / (double)requests;
    else if (f->error_share == 0 && !requests)
        f->error_share = -1;
}

/* Once in a while, and not of agents that have said nothing yet. */
static void take_history(struct history **at, const struct figures *f, mono_ms now, wall_ms wall)
{
    if (!f->has_said || (*at && now - (*at)->sampled < HISTORY_STEP_MS))
        return;
    if (!*at)
        *at = mem_alloc(sizeof(**at));
    struct history *h = *at;
    struct history_sample *s = &h->samples[h->at];
    *s = (struct history_sample){.at = wall,
                                 .pages_per_s = f->pages_per_s,
                                 .crawled_per_s = f->crawled_per_s,
                                 .sent_per_s = f->sent_per_s,
                                 .queue = f->queue,
                                 .spool_bytes = f->spool_bytes};
    memcpy(s->by_kind_per_min, f->by_kind_per_min, sizeof(s->by_kind_per_min));
    h->at = (h->at + 1) % HISTORY_SAMPLES;
    h->n += h->n < HISTORY_SAMPLES;
    h->sampled = now;
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
    counts_add_grown(&t->said, &f->said, &(struct figures_counts){0});
    t->queue += f->queue;
    t->spool_packages += f->spool_packages;
    t->spool_bytes += f->spool_bytes;
    t->pages_per_s += f->pages_per_s;
    t->crawled_per_s += f->crawled_per_s;
    t->sent_per_s += f->sent_per_s;
    t->errors_per_min += f->errors_per_min;
    for (int k = 0; k < ERROR_KINDS; k++)
        t->by_kind_per_min[k] += (double)f->by_kind_per_min[k];
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
        t->tasks += c->tasks[i] && !c->tasks[i]->is_ended;
}

/* admin.lock held: packages of the last minute. */
static double packages_a_minute(struct admin *a, uint64_t packages)
{
    const unsigned max = sizeof(a->ring_packages) / sizeof(*a->ring_packages), minute = 60000 / FIGURES_STEP_MS;
    memmove(a->ring_packages + 1, a->ring_packages, (max - 1) * sizeof(*a->ring_packages));
    a->ring_packages[0] = packages;
    a->ring_packages_n += a->ring_packages_n < max;
    unsigned back = a->ring_packages_n - 1 < minute ? a->ring_packages_n - 1 : minute;
    return (double)grown(packages, a->ring_packages[back]);
}

/* admin.lock held. New ones are zero. */
static void make_room(struct admin *a, size_t agents)
{
    size_t had = a->figures_cap, had_histories = a->histories_cap;
    a->figures = mem_grow(a->figures, &a->figures_cap, agents, sizeof(*a->figures));
    if (a->figures_cap > had)
        memset(a->figures + had, 0, (a->figures_cap - had) * sizeof(*a->figures));
    a->histories = mem_grow(a->histories, &a->histories_cap, agents, sizeof(struct history *));
    for (size_t i = had_histories; i < a->histories_cap; i++)
        a->histories[i] = NULL;
}

void figures_tick(struct admin *a, mono_ms now)
{
    struct coord *c = a->c;
    struct figures_total t = {.at = clock_wall()};
    wall_ms started = t.at - (clock_mono() - c->started);
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
    make_room(a, c->agent_count);
    for (size_t i = 0; i < c->agent_count; i++) {
        const struct c_agent *agent = c->agents[i];
        struct figures *f = &a->figures[i];
        if (!agent || !agent->name[0]) {
            *f = (struct figures){0};
            free(a->histories[i]);
            a->histories[i] = NULL;
            continue;
        }
        if (f->agent != agent->number) {
            *f = (struct figures){.agent = agent->number, .error_share = -1};
            f->marks[0].at = now - FIGURES_STEP_MS;
            f->mark_count = 1;
        }
        if (agent->heard_mono != f->heard) {
            f->heard = agent->heard_mono;
            arena_reset(&arena);
            take_report(f, &arena, agent, agent->added >= started);
            take_setup(f, &arena, agent);
        }
        take_mark(f, now, agent->settings.poll_ms);
        take_history(&a->histories[i], f, now, t.at);
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
    }
    t.packages_per_min = packages_a_minute(a, in.packages);
    a->total = t;
    struct figures_sample *sample = &a->ring[a->ring_at];
    *sample = (struct figures_sample){.at = t.at,
                                      .pages_per_s = t.pages_per_s,
                                      .packages_per_min = t.packages_per_min,
                                      .crawled_per_s = t.crawled_per_s,
                                      .sent_per_s = t.sent_per_s,
                                      .errors_per_min = t.errors_per_min,
                                      .queue = t.queue,
                                      .errors = t.said.errors,
                                      .there = t.there,
                                      .waiting = in.waiting,
                                      .spool_bytes = t.spool_bytes};
    for (int k = 0; k < ERROR_KINDS; k++)
        sample->by_kind_per_min[k] = (float)t.by_kind_per_min[k];
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

void figures_free(struct admin *a)
{
    for (size_t i = 0; i < a->histories_cap; i++)
        free(a->histories[i]);
    free(a->histories);
    free(a->figures);
    free(a->ring);
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
    if (agent_is_missed(a->c, agent) && (x = add_alert(out, n, max, "away", agent->name))) {
        if (agent->heard)
            snprintf(x->text, sizeof(x->text), "has not been heard for %lld min, in its working hours",
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
