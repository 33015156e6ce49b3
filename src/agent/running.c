/* running.c - what the main thread does while the agent runs: it opens the crawl, again and again if it must, and in
 * the crawl's progress callback looks at everything that is due.
 *
 *     orders, tasks, programs      what the coordinator wants, and how far that is
 *     the governor (gov.h)         may it crawl now, and talk?
 *     the snapshot                 of all of it, for the link's next report
 *     the state                    onto the disk, now and then */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "agent/agent.h"
#include "agent/refusal_list.h"
#include "agent/update.h"
#include "crawl/crawl.h"
#include "io/clock.h"
#include "io/in_lab.h"
#include "web/url.h"

#define STATUS_EVERY_MS 2000
#define SAVE_EVERY_MS 5000 /* a kill costs that much of the counters, nothing else */
#define REOPEN_MIN_MS 1000
#define REOPEN_MAX_MS 60000

/* ---- the governor ---- */

static void count_kinds(struct state_totals *to, const struct state_totals *before, const struct crawl_stats *s)
{
    uint64_t *n = to->errors_by_kind;
    memcpy(n, before->errors_by_kind, sizeof(to->errors_by_kind));
    for (int st = 0; st < ST_MAX; st++)
        n[error_kind_of_status((status)st)] += s->errors_by_kind[st];
    n[ERROR_HTTP_4XX] += s->http_4xx;
    n[ERROR_HTTP_5XX] += s->http_5xx;
    n[ERROR_GONE] += s->gone;
    n[ERROR_ROBOTS] += s->refused_robots;
}

static void count_totals(struct agent *a, const struct crawl_stats *s)
{
    uint64_t sent = session_bytes_sent(a->session), received = session_bytes_received(a->session);
    struct probes_counts probes = {0}; /* requests like others, of the same line */
    if (a->probes)
        probes_get_counts(a->probes, &probes);
    pthread_mutex_lock(&a->lock);
    a->probes_counted = probes;
    a->state.totals = (struct state_totals){
        .requests = a->totals_before.requests + s->requests + probes.requests - a->probes_before.requests,
        .pages = a->totals_before.pages + s->fetched,
        .bytes_crawled = a->totals_before.bytes_crawled + s->bytes_wire + probes.bytes - a->probes_before.bytes,
        .bytes_sent = a->sent_before + sent,
        .errors = a->totals_before.errors + s->errors,
    };
    count_kinds(&a->state.totals, &a->totals_before, s);
    a->traffic = a->state.totals.bytes_crawled - a->crawled_at_start + sent + received;
    pthread_mutex_unlock(&a->lock);
}

/* Orders have begun when the main thread has looked at them: networks that others have by now are not asked any more.
 * Lock held. */
static void catch_up(struct agent *a)
{
    for (const struct agent_order *o = a->orders; o; o = o->next)
        if (!o->is_begun)
            return;
    if (a->has_all_orders)
        gov_caught_up(&a->gov);
}

static void ask_governor(struct agent *a, const struct crawl_stats *s)
{
    struct spool_counts spool;
    struct gov_verdict v;
    mono_ms now = machine_boottime();
    spool_get_counts(a->spool, &spool);
    machine_load_look(&a->load, now);
    struct gov_reading r = {.wall = agent_wall(a),
                            .mono = now,
                            .others_share = a->load.others_share,
                            .others_load = a->load.others_load,
                            .rss_bytes = machine_rss(),
                            .disk_free_bytes = machine_disk_free(a->data),
                            .disk_used_bytes = spool.bytes + spool.sent_bytes + s->disk_bytes,
                            .spool_bytes = spool.bytes,
                            .traffic_bytes = a->traffic};
    pthread_mutex_lock(&a->lock);
    catch_up(a);
    bool is_away = a->is_away;
    gov_look(&a->gov, &a->limits, &r, &v);
    bool turned = a->may_talk != v.may_talk;
    a->may_talk = v.may_talk;
    a->hours_change = v.hours_change;
    pthread_mutex_unlock(&a->lock);
    if (turned)
        agent_wake(a);
    if (v.reason == GOV_MEMORY)
        machine_trim();
    /* Copies for a coordinator that may once be restored are worth less than room to work in. */
    if ((v.reason == GOV_DISK || v.reason == GOV_SPOOL) && spool.sent_bytes)
        log_write(a->log, LOG_INFO, "spool", "packages that the coordinator has are dropped to make room bytes=%llu",
                  (unsigned long long)spool_drop_sent(a->spool));
    if (v.reason != a->verdict.reason)
        log_write(a->log, LOG_INFO, "gov", "%s", gov_reason_text(v.reason));
    if (v.must_reopen && a->end == END_NONE)
        a->end = END_REOPEN;
    a->verdict = v;
    a->rss = r.rss_bytes;
    a->disk_free = r.disk_free_bytes;
    if (a->crawl) {
        crawl_pause(a->crawl, !v.may_crawl || a->is_rekeying || a->is_quitting);
        crawl_doubt(a->crawl, is_away);
    }
    probes_pause(a->probes, !v.may_crawl || a->is_quitting);
}

/* ---- the snapshot for the next report ---- */

static agent_activity activity_of(const struct agent *a)
{
    if (!a->verdict.may_crawl)
        return a->verdict.activity;
    if (tasks_count(a->tasks, TASK_RUNNING) || tasks_count(a->tasks, TASK_ENDING))
        return ACTIVITY_WORKING;
    return a->limits.state == AGENT_DRAIN ? ACTIVITY_DRAINED : ACTIVITY_IDLE;
}

static struct error_count *errors_report(const struct state_totals *t, struct arena *a, size_t *count)
{
    struct error_count *out = arena_alloc(a, ERROR_KINDS * sizeof(*out));
    *count = 0;
    for (int k = 0; k < ERROR_KINDS; k++)
        if (t->errors_by_kind[k])
            out[(*count)++] = (struct error_count){(error_kind)k, t->errors_by_kind[k]};
    return out;
}

static void take_snapshot(struct agent *a, const struct crawl_stats *s)
{
    pthread_mutex_lock(&a->lock);
    struct snapshot *n = &a->snapshot;
    if (n->r.orders_done != a->orders_saved)
        pthread_cond_broadcast(&a->changed);
    arena_reset(&n->arena);
    /* Orders that are done, and tasks as they are since: in one report the two must not be of different moments. What
     * is said to be done is forgotten by the coordinator: it is on our disk before. */
    n->r = (struct report){.activity = activity_of(a),
                           .orders_done = a->orders_saved,
                           .requests = a->state.totals.requests,
                           .pages = a->state.totals.pages,
                           .bytes_crawled = a->state.totals.bytes_crawled,
                           .bytes_sent = a->state.totals.bytes_sent,
                           .errors = a->state.totals.errors,
                           .queue = s->queued,
                           .hosts_waiting = s->hosts_waiting,
                           .memory_bytes = a->rss,
                           .disk_free_bytes = a->disk_free,
                           .tasks_max = a->limits.tasks_max,
                           .tasks_busy = (unsigned)tasks_busy(a->tasks)};
    n->has_visits = tasks_have_visits(a->tasks);
    n->r.tasks = tasks_report(a->tasks, &n->arena, &n->r.task_count, &n->orders);
    if (n->r.task_count > AGENT_REPORT_TASKS_MAX)
        n->r.task_count = AGENT_REPORT_TASKS_MAX; /* the oldest */
    n->r.programs = programs_report(a->programs, &n->arena, &n->r.program_count);
    n->r.errors_by_kind = errors_report(&a->state.totals, &n->arena, &n->r.error_kind_count);
    pthread_mutex_unlock(&a->lock);
}

/* ---- now and then ---- */

/* Own sites are looked at again at the owner's rate. */
static void look_at_own_sites(struct agent *a)
{
    size_t n;
    const struct span *sites = conf_list(a->conf, CONF_OWN_SITE, &n);
    uint64_t now = (uint64_t)agent_wall(a), every = (uint64_t)conf_number(a->conf, CONF_OWN_EVERY);
    if (!n || !a->verdict.may_crawl)
        return;
    if (now >= a->state.own_checked_ms && now - a->state.own_checked_ms < every)
        return;
    bool is_first = a->state.own_checked_ms == 0; /* nothing is known yet: the first crawl is under way */
    pthread_mutex_lock(&a->lock);
    a->state.own_checked_ms = now;
    a->is_state_dirty = true;
    pthread_mutex_unlock(&a->lock);
    if (is_first)
        return;
    struct arena arena;
    arena_init(&arena);
    struct span *hosts = arena_alloc(&arena, n * sizeof(*hosts));
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        struct url u;
        if (url_parse(&arena, sites[i], NULL, &u) == ST_OK)
            hosts[count++] = u.host;
    }
    tasks_recheck_hosts(a->tasks, hosts, count);
    arena_done(&arena);
}

static void save_now_and_then(struct agent *a, bool must)
{
    mono_ms now = clock_mono();
    if (must || now - a->last_status >= STATUS_EVERY_MS) {
        status_write(a);
        a->last_status = now;
    }
    if (!must && now - a->last_save < SAVE_EVERY_MS)
        return;
    if (a->crawl)
        crawl_release(a->crawl); /* the disk is waited for without its shards */
    a->last_save = now;
    if (tasks_save_progress(a->tasks) != ST_OK || agent_save(a) != ST_OK)
        log_write(a->log, LOG_WARN, "agent", "the state cannot be written down: disk full?");
}

/* Who was told to end waits until the coordinator has heard it. */
static void look_at_quitting(struct agent *a)
{
    pthread_mutex_lock(&a->lock);
    bool is_heard = a->is_quitting && a->reported_done >= a->state.orders_done && !a->state.outcome_count;
    pthread_mutex_unlock(&a->lock);
    if (is_heard && a->end == END_NONE)
        a->end = END_QUIT;
}

static void report_trial(struct agent *a)
{
    pthread_mutex_lock(&a->lock);
    bool is_heard = a->polls_good > 0;
    pthread_mutex_unlock(&a->lock);
    if (!is_heard)
        return;
    a->is_trial = false;
    if (update_mark_ok(a->data, a->version) != ST_OK)
        log_write(a->log, LOG_ERROR, "agent", "cannot write down that this version works");
}

static void on_progress(void *arg, const struct crawl_stats *s)
{
    struct agent *a = arg;
    a->stats = *s;
    package_sink_hurry(a->sink, s->queued == s->queued_given_up && s->in_flight == 0);
    count_totals(a, s);
    if (a->is_trial)
        report_trial(a);
    if (a->end == END_NONE) {
        orders_step(a);
        bool may_start = a->limits.state == AGENT_RUN && a->verdict.may_crawl;
        status st = tasks_tick(a->tasks, a->limits.tasks_max, may_start);
        if (st != ST_OK)
            log_write(a->log, LOG_ERROR, "tasks", "a task cannot go on status=%s", status_name(st));
        st = programs_look(a->programs);
        if (st != ST_OK)
            log_write(a->log, LOG_ERROR, "program", "cannot write down what failed status=%s", status_name(st));
        look_at_own_sites(a);
        look_at_quitting(a);
    }
    ask_governor(a, s);
    if (a->wants_reopen && a->end == END_NONE)
        a->end = END_REOPEN;
    take_snapshot(a, s);
    save_now_and_then(a, false);
    if (a->progress)
        a->progress(a->progress_arg, s, gov_reason_text(a->verdict.reason));
    if (a->end != END_NONE)
        crawl_stop(a->crawl);
}

/* ---- the crawl ---- */

static void note_path(void *self, const struct addr *addr, uint32_t us)
{
    struct agent *a = self;
    struct network n;
    if (gate_network_of(a->gate, addr, &n))
        timings_path(a->timings, &n, us);
}

static bool may_use(void *self, struct span host, const struct addr *addr, uint64_t channel)
{
    return gate_may_use(((struct agent *)self)->gate, host, addr, channel);
}

/* The coordinator has placed it by the same address. What the owner refuses says nothing: others may be used. */
static bool is_ours(void *self, struct span host, const struct addr *home, uint64_t channel)
{
    struct agent *a = self;
    return gate_is_refused(a->gate, home, NULL) || gate_may_use(a->gate, host, home, channel);
}

static void turned_away(void *self, struct span host, const struct addr *addr, uint64_t channel)
{
    gate_turned_away(((struct agent *)self)->gate, host, addr, channel);
}

/* Memory is shared out: an eighth for waiting URLs, the rest for pages under way, the seen set and what grows. */
static void fill_opts(struct agent *a, struct arena *arena, struct crawl_opts *o)
{
    size_t n;
    const struct span *sites = conf_list(a->conf, CONF_OWN_SITE, &n);
    struct span *hosts = arena_alloc(arena, (n + 1) * sizeof(*hosts));
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        struct url u;
        if (url_parse(arena, sites[i], NULL, &u) == ST_OK)
            hosts[count++] = u.host;
    }
    uint64_t memory = a->limits.memory_bytes;
    uint64_t frontier = memory ? memory / 8 : 0, jobs = memory ? memory / (4u << 20) : 0;
    *o = (struct crawl_opts){
        .data_dir = a->data,
        .fetch = {.user_agent = buf_span(&a->user_agent),
                  .ca_file = conf_text(a->conf, CONF_CA_FILE),
                  .allow_private = conf_flag(a->conf, CONF_ALLOW_PRIVATE),
                  .rate_bytes_per_s = a->limits.bytes_per_s,
                  .log = a->log},
        .dns = {.server = conf_text(a->conf, CONF_RESOLVER), .hosts = buf_span(&a->hosts_text)},
        .delay_ms = conf_number(a->conf, CONF_DELAY),
        .in_lab = in_lab(),
        .jobs = (unsigned)(jobs > 256           ? 256
                           : jobs < 8 && memory ? 8
                                                : jobs),
        .shards = (unsigned)conf_number(a->conf, CONF_SHARDS),
        .own_sites = hosts,
        .own_site_count = count,
        .no_sitemaps = !conf_flag(a->conf, CONF_SITEMAPS),
        .frontier_bytes = (size_t)(frontier > (64u << 20) ? (64u << 20) : frontier),
        .open_sink = package_sink_open,
        .sink_arg = a->sink,
        .stays = true,
        .may_use = may_use,
        .is_ours = is_ours,
        .turned_away = turned_away,
        .note_path = note_path,
        .no_pdf = !conf_flag(a->conf, CONF_PDF),
        .self = a,
        .log = a->log,
    };
}

static status refuse(struct agent *a)
{
    struct places *places = NULL;
    status st = refusal_list_load(a->data, a->conf, &places);
    if (st != ST_OK || !places)
        return st;
    st = crawl_refuse(a->crawl, places);
    return st == ST_OK ? crawl_erase_refused(a->crawl) : st;
}

/* One run of the crawl, until it is to end or fails. */
static status run_crawl(struct agent *a, struct buf *why)
{
    struct arena arena;
    struct crawl_opts o;
    crawl_end end = CRAWL_FAILED;
    arena_init(&arena);
    a->wants_reopen = false;
    fill_opts(a, &arena, &o);
    status st = crawl_open(&o, &a->crawl, why);
    pthread_mutex_lock(&a->lock);
    a->was_opened = true;
    pthread_cond_broadcast(&a->changed);
    pthread_mutex_unlock(&a->lock);
    if (st == ST_OK) {
        crawl_pause(a->crawl, true); /* until the governor has been asked */
        st = refuse(a);
        if (st == ST_OK)
            st = programs_attach(a->programs, a->crawl);
        if (st == ST_OK)
            st = tasks_attach(a->tasks, a->crawl);
        if (st == ST_OK)
            st = crawl_run(a->crawl, on_progress, a, &end);
        if (st != ST_OK && !why->n)
            buf_put(why, crawl_failure(a->crawl));
        struct crawl_stats s;
        crawl_get_stats(a->crawl, &s);
        count_totals(a, &s);
        tasks_look(a->tasks);
        a->totals_before = a->state.totals;
        a->totals_before.bytes_sent = 0;
        a->probes_before = a->probes_counted;
    }
    tasks_detach(a->tasks);
    programs_detach(a->programs);
    crawl_close(a->crawl);
    a->crawl = NULL;
    orders_stop(a);
    if (st == ST_OK && end == CRAWL_STOPPED && a->end == END_NONE)
        a->end = END_STOPPED;
    arena_done(&arena);
    return st;
}

bool running_may_go_on(status st)
{
    return st == ST_IO || st == ST_FULL;
}

/* A signal ends the process here, which is safe: everything is on the disk. */
static void pause_ms(int64_t ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    while (nanosleep(&t, &t) != 0 && errno == EINTR)
        continue;
}

/* A failed crawl is opened anew after a while: its journals have everything. */
status running_until_end(struct agent *a, struct buf *why)
{
    int64_t pause = REOPEN_MIN_MS;
    for (;;) {
        buf_clear(why);
        a->end = END_NONE;
        mono_ms began = clock_mono();
        status st = run_crawl(a, why);
        if (st != ST_OK && !running_may_go_on(st))
            return st;
        if (st == ST_OK && a->end != END_REOPEN)
            return ST_OK;
        if (st == ST_OK || clock_mono() - began > REOPEN_MAX_MS)
            pause = REOPEN_MIN_MS;
        if (st == ST_OK)
            continue;
        log_write(a->log, LOG_ERROR, "agent", "the crawl is opened anew in %lld s: %s", (long long)pause / 1000,
                  why->n ? buf_cstr(why) : status_name(st));
        pthread_mutex_lock(&a->lock);
        a->snapshot.r.activity = ACTIVITY_DISK_FULL;
        pthread_mutex_unlock(&a->lock);
        status_write(a);
        pause_ms(pause);
        pause = pause * 2 > REOPEN_MAX_MS ? REOPEN_MAX_MS : pause * 2;
    }
}

/* ---- before and after ---- */

void running_begin(struct agent *a)
{
    ask_governor(a, &(struct crawl_stats){0});
    take_snapshot(a, &a->stats);
}

void running_save(struct agent *a)
{
    save_now_and_then(a, true);
}
