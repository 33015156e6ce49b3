/* admin_metrics.c - the coordinator and its agents for Prometheus (text format 0.0.4). data/orb-alerts.rules.yml and
 * docs/formats/admin.md name what is here. */
#include <string.h>

#include "coord/admin_internal.h"
#include "coord/agents.h"
#include "coord/diary.h"
#include "coord/ingest.h"
#include "coord/pings.h"
#include "coord/recrawling.h"
#include "io/clock.h"

/* A label value: backslash, quote and newline escaped, as the text format asks. */
static void put_label(struct buf *out, const char *s)
{
    for (; *s; s++) {
        if (*s == '\\' || *s == '"')
            buf_putc(out, '\\');
        if (*s == '\n')
            buf_puts(out, "\\n");
        else
            buf_putc(out, (unsigned char)*s < 0x20 ? ' ' : *s);
    }
}

static void metric(struct buf *out, const char *name, const char *type, const char *help)
{
    buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void metric_one(struct buf *out, const char *name, const char *type, const char *help, double v)
{
    metric(out, name, type, help);
    buf_printf(out, "%s %.15g\n", name, v);
}

struct agent_metric_row {
    char name[JOIN_NAME_MAX + 1];
    agent_presence presence;
    bool is_paused, is_demoted, is_in_hours;
    wall_ms heard;
    uint64_t packages, package_bytes, visits, dropped;
    struct figures f;
};

static double value_of(const struct agent_metric_row *a, int which)
{
    switch (which) {
    case 0:
        return a->presence == PRESENCE_THERE;
    case 1:
        return a->is_in_hours;
    case 2:
        return (double)a->heard / 1000;
    case 3:
        return a->f.pages_per_s;
    case 4:
        return (double)a->f.grown.requests;
    case 5:
        return (double)a->f.grown.errors;
    case 6:
        return a->f.error_share < 0 ? 0 : a->f.error_share;
    case 7:
        return (double)a->f.queue;
    case 8:
        return (double)a->f.spool_bytes;
    case 9:
        return (double)a->f.spool_packages;
    case 10:
        return (double)a->f.disk_free;
    case 11:
        return (double)a->f.disk;
    case 12:
        return (double)a->f.grown.bytes_crawled;
    case 13:
        return (double)a->f.grown.bytes_sent;
    case 14:
        return (double)a->packages;
    case 15:
        return (double)a->visits;
    case 16:
        return (double)a->dropped;
    case 17:
        return a->is_demoted;
    default:
        return a->is_paused;
    }
}

static void put_agent_metrics(struct buf *out, const struct agent_metric_row *rows, size_t n)
{
    static const struct {
        const char *name, *type, *help;
    } list[] = {{"orb_agent_up", "gauge", "1 while the agent is heard."},
                {"orb_agent_on_duty", "gauge", "1 while the agent should work."},
                {"orb_agent_last_seen_timestamp_seconds", "gauge", "When the agent was last heard."},
                {"orb_agent_pages_per_second", "gauge", "Pages a second over the last half minute."},
                {"orb_agent_requests_total", "counter", "Requests; never goes back while the coordinator runs."},
                {"orb_agent_errors_total", "counter", "Requests that ended in an error."},
                {"orb_agent_error_share", "gauge", "Share of the last requests that ended in an error."},
                {"orb_agent_queue_urls", "gauge", "URLs that wait at the agent."},
                {"orb_agent_spool_bytes", "gauge", "Packages that wait to be carried, in bytes."},
                {"orb_agent_spool_packages", "gauge", "Packages that wait to be carried."},
                {"orb_agent_disk_free_bytes", "gauge", "Free space where the agent writes."},
                {"orb_agent_disk_bytes", "gauge", "Size of the disk the agent writes to."},
                {"orb_agent_crawled_bytes_total", "counter", "Bytes of pages crawled."},
                {"orb_agent_sent_bytes_total", "counter", "Bytes sent to the coordinator."},
                {"orb_agent_packages_total", "counter", "Packages taken in from the agent."},
                {"orb_agent_visits_total", "counter", "Visits taken in from the agent."},
                {"orb_agent_visits_dropped_total", "counter", "Visits outside the agent's tasks."},
                {"orb_agent_demoted", "gauge", "1: what it said could not be confirmed, it gets no work."},
                {"orb_agent_paused", "gauge", "1: paused or drained by an operator."}};
    for (int m = 0; m < (int)(sizeof(list) / sizeof(*list)); m++) {
        metric(out, list[m].name, list[m].type, list[m].help);
        for (size_t i = 0; i < n; i++) {
            buf_printf(out, "%s{agent=\"", list[m].name);
            put_label(out, rows[i].name);
            buf_printf(out, "\"} %.15g\n", value_of(&rows[i], m));
        }
    }
    metric(out, "orb_agent_errors_by_kind_total", "counter",
           "Errors by kind; gone and robots are not among orb_agent_errors_total.");
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < ERROR_KINDS; k++) {
            buf_puts(out, "orb_agent_errors_by_kind_total{agent=\"");
            put_label(out, rows[i].name);
            buf_printf(out, "\",kind=\"%s\"} %.15g\n", error_kind_name((error_kind)k),
                       (double)rows[i].f.grown.by_kind[k]);
        }
    metric(out, "orb_agent_info", "gauge", "The program of the agent.");
    for (size_t i = 0; i < n; i++) {
        buf_puts(out, "orb_agent_info{agent=\"");
        put_label(out, rows[i].name);
        buf_puts(out, "\",version=\"");
        put_label(out, rows[i].f.version);
        buf_puts(out, "\",state=\"");
        put_label(out, presence_name(rows[i].presence));
        buf_puts(out, "\"} 1\n");
    }
}

static size_t read_rows(struct ask *r, struct agent_metric_row **out)
{
    struct coord *c = r->c;
    size_t n = 0;
    pthread_mutex_lock(&c->lock);
    *out = arena_alloc(r->arena, (c->agent_count + 1) * sizeof(**out));
    for (size_t i = 0; i < c->agent_count; i++) {
        const struct c_agent *a = c->agents[i];
        if (!a || !a->name[0])
            continue;
        struct agent_metric_row *row = &(*out)[n++];
        *row = (struct agent_metric_row){.presence = agent_presence_of(c, a),
                                         .is_paused = a->settings.state != AGENT_RUN,
                                         .is_demoted = a->is_demoted,
                                         .is_in_hours = a->is_joined && agent_is_in_hours(a, clock_wall()),
                                         .heard = a->heard,
                                         .packages = a->packages,
                                         .package_bytes = a->package_bytes,
                                         .visits = a->visits,
                                         .dropped = a->dropped};
        memcpy(row->name, a->name, sizeof(row->name));
        figures_of(r->a, a->number, &row->f);
    }
    pthread_mutex_unlock(&c->lock);
    return n;
}

static void put_diary(struct ask *r, struct buf *out)
{
    pthread_mutex_lock(&r->c->lock);
    uint64_t given = r->c->diary.given, probes = r->c->diary.probes, moves[MOVE_KINDS];
    memcpy(moves, r->c->diary.moves, sizeof(moves));
    pthread_mutex_unlock(&r->c->lock);
    metric_one(out, "orb_networks_given_total", "counter", "Networks that got their first agent since the start.",
               (double)given);
    metric_one(out, "orb_probes_total", "counter", "Probes ordered since the start.", (double)probes);
    metric(out, "orb_network_moves_total", "counter", "Networks that changed hands since the start, by reason.");
    for (int k = 1; k < MOVE_KINDS; k++)
        buf_printf(out, "orb_network_moves_total{kind=\"%s\"} %llu\n", move_kind_name((move_kind)k),
                   (unsigned long long)moves[k]);
}

static void put_visits(struct ask *r, struct buf *out)
{
    struct recrawling_figures f;
    pthread_mutex_lock(&r->c->lock);
    recrawling_figures_get(r->c, clock_wall(), &f);
    pthread_mutex_unlock(&r->c->lock);
    if (f.channels) /* without any nothing is fresh, nor stale */
        metric_one(out, "orb_recrawl_freshness", "gauge",
                   "Share of what is kept that is expected to be current, weighted by importance.", f.freshness);
    metric(out, "orb_recrawl_rank_freshness", "gauge", "The same by rank, where there are channels.");
    for (int i = 0; i < RECRAWL_RANKS; i++)
        if (f.ranks[i].channels)
            buf_printf(out, "orb_recrawl_rank_freshness{rank=\"%d\"} %.15g\n", i, f.ranks[i].freshness);
    metric_one(out, "orb_recrawl_channels", "gauge", "Channels that are visited again.", (double)f.channels);
    metric_one(out, "orb_recrawl_due", "gauge", "Channels that may be visited now and wait for a slot.", (double)f.due);
    metric_one(out, "orb_recrawl_queued", "gauge", "Visits ordered and not begun.", (double)f.queued);
    metric_one(out, "orb_recrawl_running", "gauge", "Visits under way.", (double)f.running);
    metric_one(out, "orb_recrawl_submitted_total", "counter", "Visits ordered since the start.", (double)f.submitted);
    metric_one(out, "orb_recrawl_visits_total", "counter", "Visits that came to an end since the start.",
               (double)f.done);
    metric_one(out, "orb_recrawl_changes_total", "counter", "Of those, the ones that brought something new.",
               (double)f.updated);
    metric_one(out, "orb_recrawl_lost_total", "counter", "Visits that came to nothing since the start.",
               (double)f.lost);
    metric_one(out, "orb_recrawl_declined_total", "counter", "Visits put off for want of a slot since the start.",
               (double)f.declined);
    metric_one(out, "orb_recrawl_forwarded_total", "counter",
               "Networks moved to an agent with less to do since the start.", (double)f.forwarded);
}

static void put_pings(struct ask *r, struct buf *out)
{
    struct pings_counts n;
    pthread_mutex_lock(&r->c->lock);
    pings_count(r->c, &n);
    pthread_mutex_unlock(&r->c->lock);
    metric(out, "orb_pings_total", "counter", "Announcements of changes by sites, by what became of them.");
    buf_printf(out,
               "orb_pings_total{result=\"taken\"} %llu\norb_pings_total{result=\"held\"} %llu\n"
               "orb_pings_total{result=\"refused\"} %llu\n",
               (unsigned long long)n.taken, (unsigned long long)n.held, (unsigned long long)n.refused);
    metric_one(out, "orb_ping_pages_total", "counter", "Pages that agents were told have changed.", (double)n.pages);
    metric_one(out, "orb_ping_keys_waiting", "gauge", "Keys that are being looked for.", (double)n.keys_waiting);
}

void deed_metrics(struct ask *r, struct deed *d)
{
    struct agent_metric_row *rows;
    struct figures_total t;
    struct ingest_stats in;
    struct buf *out = &d->out;
    size_t n = read_rows(r, &rows);
    figures_total_get(r->a, &t);
    ingest_get_stats(r->c->ingest, &in);
    d->plain = "text/plain; version=0.0.4; charset=utf-8";
    metric(out, "orb_coordinator_info", "gauge", "The program that answers.");
    buf_printf(out, "orb_coordinator_info{version=\"%.*s\"} 1\n", SPAN_ARG(r->c->o.version));
    metric_one(out, "orb_coordinator_uptime_seconds", "gauge", "Since the coordinator was started.",
               (double)(clock_mono() - r->c->started) / 1000);
    metric(out, "orb_coordinator_agents", "gauge", "Agents by state.");
    buf_printf(out,
               "orb_coordinator_agents{state=\"there\"} %u\norb_coordinator_agents{state=\"away\"} %u\n"
               "orb_coordinator_agents{state=\"resting\"} %u\norb_coordinator_agents{state=\"invited\"} %u\n",
               t.there, t.away, t.resting, t.agents - t.joined);
    metric_one(out, "orb_coordinator_channels", "gauge", "Channels.", (double)t.channels);
    metric_one(out, "orb_coordinator_networks", "gauge", "Networks.", (double)t.networks);
    metric_one(out, "orb_coordinator_networks_free", "gauge", "Networks that no agent has.", (double)t.networks_free);
    metric_one(out, "orb_coordinator_hosts", "gauge", "Hosts known.", (double)t.hosts);
    metric_one(out, "orb_coordinator_pages_per_second", "gauge", "Pages a second of all agents.", t.pages_per_s);
    metric_one(out, "orb_coordinator_queue_urls", "gauge", "URLs that wait at all agents.", (double)t.queue);
    metric_one(out, "orb_coordinator_packages_total", "counter", "Packages applied since the start.",
               (double)in.packages);
    metric_one(out, "orb_coordinator_visits_total", "counter", "Visits applied since the start.", (double)in.visits);
    metric_one(out, "orb_coordinator_packages_damaged_total", "counter", "Packages that could not be read.",
               (double)in.damaged);
    metric_one(out, "orb_coordinator_packages_waiting", "gauge", "Packages received and not applied.",
               (double)in.waiting);
    metric_one(out, "orb_coordinator_inbox_trouble", "gauge", "1 while nothing can be taken in.", in.trouble != ST_OK);
    metric_one(out, "orb_coordinator_index_docs", "gauge", "Pages that can be found.", (double)in.index_docs);
    metric_one(out, "orb_coordinator_disk_free_bytes", "gauge", "Free space of the data folder.", (double)t.disk_free);
    put_diary(r, out);
    put_visits(r, out);
    put_pings(r, out);
    metric_one(out, "orb_coordinator_disk_bytes", "gauge", "Size of the data folder's disk.", (double)t.disk);
    put_agent_metrics(out, rows, n);
}
