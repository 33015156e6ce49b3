/* agent.c - the main thread: opens everything, runs the crawl, and in its progress callback does what is due. */
#include "agent/agent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/update.h"
#include "agent/refusal_list.h"
#include "base/mem.h"
#include "crawl/crawl.h"
#include "io/clock.h"
#include "io/in_lab.h"
#include "io/entropy.h"
#include "store/file.h"
#include "web/url.h"

#define STATUS_EVERY_MS 2000
#define SAVE_EVERY_MS 5000 /* a kill costs that much of the counters, nothing else */
#define REOPEN_MIN_MS 1000
#define REOPEN_MAX_MS 60000

/* ---- clocks and waiting ---- */

wall_ms agent_wall(void *arg)
{
    return clock_wall() + ((struct agent *)arg)->clock_offset;
}

mono_ms agent_mono(void *arg)
{
    return clock_mono();
}

void agent_wake(struct agent *a)
{
    pthread_mutex_lock(&a->lock);
    pthread_cond_broadcast(&a->changed);
    pthread_mutex_unlock(&a->lock);
}

void agent_wait(struct agent *a, int64_t ms)
{
    struct timespec until;
    if (ms > 60000)
        ms = 60000;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += ms / 1000;
    until.tv_nsec += ms % 1000 * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    pthread_cond_timedwait(&a->changed, &a->lock, &until);
}

/* ---- state ---- */

status agent_save(struct agent *a)
{
    struct buf packed = {0};
    pthread_mutex_lock(&a->save_lock);
    pthread_mutex_lock(&a->lock);
    a->state.quota_day = a->gov.quota_day;
    a->state.quota_bytes = a->gov.quota_bytes;
    a->state.bandwidth = a->bandwidth;
    state_pack(&a->state, &packed);
    a->is_state_dirty = false;
    uint64_t done = a->state.orders_done;
    pthread_mutex_unlock(&a->lock);
    status st = state_write(a->data, buf_span(&packed));
    pthread_mutex_lock(&a->lock);
    if (st == ST_OK)
        a->orders_saved = done;
    else
        a->is_state_dirty = true;
    pthread_mutex_unlock(&a->lock);
    pthread_mutex_unlock(&a->save_lock);
    buf_done(&packed);
    return st;
}

void agent_refused(struct agent *a, struct span text)
{
    struct buf safe = {0};
    pthread_mutex_lock(&a->lock);
    state_refused(&a->state, agent_wall(a), text);
    a->is_state_dirty = true;
    pthread_mutex_unlock(&a->lock);
    log_escape(&safe, text, STATE_TEXT_MAX);
    log_write(a->log, LOG_INFO, "owner", "refused: %s", buf_cstr(&safe));
    buf_done(&safe);
}

static void note_refused(void *arg, struct span host, const struct addr *addr, struct span rule)
{
    char text[ADDR_TEXT_MAX];
    struct buf b = {0};
    buf_put(&b, span_cut(host, 0, 255));
    if (addr->family)
        buf_printf(&b, " at %s", addr_format(addr, text));
    buf_printf(&b, ": %.*s", SPAN_ARG(rule));
    agent_refused(arg, buf_span(&b));
    buf_done(&b);
}

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

static bool is_worth_waiting(status st)
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
static status run_until_end(struct agent *a, struct buf *why)
{
    int64_t pause = REOPEN_MIN_MS;
    for (;;) {
        buf_clear(why);
        a->end = END_NONE;
        mono_ms began = clock_mono();
        status st = run_crawl(a, why);
        if (st != ST_OK && !is_worth_waiting(st))
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

/* ---- opening and closing ---- */

static void make_user_agent(struct agent *a)
{
    struct span purpose = conf_text(a->conf, CONF_PURPOSE_URL), contact = conf_text(a->conf, CONF_CONTACT);
    buf_puts(&a->user_agent, "orbweaver/" ORB_VERSION_SHORT);
    if (purpose.n || contact.n) {
        buf_puts(&a->user_agent, purpose.n ? " (+" : " (");
        buf_put(&a->user_agent, purpose);
        buf_puts(&a->user_agent, purpose.n && contact.n ? "; " : "");
        buf_put(&a->user_agent, contact);
        buf_putc(&a->user_agent, ')');
    }
}

static void say(struct buf *why, const char *doing, status st)
{
    if (!why->n)
        buf_printf(why, "%s: %s", doing, st == ST_IO ? strerror(errno) : status_name(st));
}

static void init(struct agent *a, const struct agent_opts *o)
{
    pthread_condattr_t attr;
    *a = (struct agent){.conf = o->conf,
                        .data = conf_cstr(o->conf, CONF_DATA),
                        .log = o->log,
                        .version = o->version,
                        .is_trial = o->is_trial,
                        .clock_offset = conf_number(o->conf, CONF_CLOCK_OFFSET),
                        .started = clock_mono(),
                        .progress = o->progress,
                        .progress_arg = o->progress_arg,
                        .wants_setup = true};
    a->orders_end = &a->orders;
    pthread_mutex_init(&a->lock, NULL);
    pthread_mutex_init(&a->save_lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&a->changed, &attr);
    pthread_condattr_destroy(&attr);
    state_init(&a->state);
    arena_init(&a->snapshot.arena);
    machine_load_init(&a->load);
    make_user_agent(a);
}

static void done(struct agent *a)
{
    orders_stop(a);
    orders_free(a);
    tasks_free(a->tasks);
    programs_free(a->programs);
    package_sink_free(a->sink);
    timings_free(a->timings);
    probes_free(a->probes); /* asks the gate until then */
    gate_free(a->gate);
    places_free(a->own_refusals);
    spool_free(a->spool);
    session_free(a->session);
    state_done(&a->state);
    sign_wipe(&a->key, sizeof(a->key));
    arena_done(&a->snapshot.arena);
    buf_done(&a->user_agent);
    buf_done(&a->hosts_text);
    buf_done(&a->trouble);
    pthread_cond_destroy(&a->changed);
    pthread_mutex_destroy(&a->lock);
    pthread_mutex_destroy(&a->save_lock);
}

/* Folder, key and state: what joining needs, too. */
static status open_basics(struct agent *a, struct buf *why)
{
    status st = file_mkdir(a->data);
    if (st != ST_OK) {
        say(why, "make the data folder", st);
        return st;
    }
    st = key_open(a->data, &a->key);
    if (st != ST_OK) {
        say(why, "read or make agent.key", st);
        return st;
    }
    st = state_load(&a->state, a->data);
    if (st != ST_OK && st != ST_NOT_FOUND) {
        say(why, "read agent.state", st);
        return st;
    }
    a->session =
        session_new(&(struct session_opts){.key = &a->key, .user_agent = buf_span(&a->user_agent), .log = a->log});
    if (a->state.has_identity)
        session_set_peer(a->session, &(struct session_peer){buf_span(&a->state.base), a->state.identity,
                                                            span_str(a->state.pin), a->state.agent});
    return ST_OK;
}

static void read_settings(struct agent *a)
{
    struct agent_settings s;
    struct buf why = {0};
    bool has = a->state.settings.n && agent_settings_unpack(buf_span(&a->state.settings), &s) == ST_OK;
    limits_make(a->conf, has ? &s : NULL, &a->limits, &why);
    if (why.n)
        log_write(a->log, LOG_WARN, "agent", "hours are not understood and count as closed: %s", buf_cstr(&why));
    buf_done(&why);
}

static void wake_all(void *arg)
{
    agent_wake(arg);
}

static status open_rest(struct agent *a, struct buf *why)
{
    size_t n;
    size_t country_count;
    const struct span *refused = conf_list(a->conf, CONF_REFUSE_NETWORK, &n);
    const struct span *countries = conf_list(a->conf, CONF_REFUSE_COUNTRY, &country_count);
    uint64_t sent_most;
    const char *hosts = conf_cstr(a->conf, CONF_HOSTS);
    status st = entropy_draw(&a->boot, sizeof(a->boot));
    if (st == ST_OK && hosts) {
        st = file_read(hosts, 64u << 20, &a->hosts_text);
        if (st != ST_OK)
            say(why, "read --hosts", st);
    }
    read_settings(a);
    sent_most = a->limits.disk_bytes / 4 < SPOOL_SENT_BYTES ? a->limits.disk_bytes / 4 : SPOOL_SENT_BYTES;
    if (st == ST_OK)
        st = spool_new(&(struct spool_opts){.data = a->data, .sent_bytes = sent_most}, &a->spool);
    a->gate = gate_new(&(struct gate_opts){.refused = refused,
                                           .refused_count = n,
                                           .countries = countries,
                                           .country_count = country_count,
                                           .allow_private = conf_flag(a->conf, CONF_ALLOW_PRIVATE),
                                           .now = agent_mono,
                                           .note_refused = note_refused,
                                           .arg = a});
    a->timings = timings_new(a->boot);
    if (st == ST_OK)
        st = refusal_list_own(a->conf, &a->own_refusals);
    a->probes = probes_new(
        &(struct probes_opts){.user_agent = buf_span(&a->user_agent),
                              .ca_file = conf_text(a->conf, CONF_CA_FILE),
                              .allow_private = conf_flag(a->conf, CONF_ALLOW_PRIVATE),
                              .dns = {.server = conf_text(a->conf, CONF_RESOLVER), .hosts = buf_span(&a->hosts_text)},
                              .delay_ms = conf_number(a->conf, CONF_DELAY),
                              .in_lab = in_lab(),
                              .gate = a->gate,
                              .refused = a->own_refusals,
                              .note_refused = note_refused,
                              .ready = wake_all,
                              .arg = a,
                              .log = a->log});
    if (st == ST_OK)
        st = tasks_new(&(struct tasks_opts){a->data, a->gate, a->spool, a->log}, &a->tasks);
    if (st == ST_OK)
        st = programs_new(a->data, a->conf, a->log, &a->programs);
    if (st != ST_OK) {
        say(why, "open the data folder", st);
        return st;
    }
    a->sink = package_sink_new(&(struct package_sink_opts){.gate = a->gate,
                                                           .spool = a->spool,
                                                           .timings = a->timings,
                                                           .wall = agent_wall,
                                                           .mono = agent_mono,
                                                           .published = wake_all,
                                                           .arg = a,
                                                           .log = a->log});
    package_sink_set_names(a->sink, a->state.agent, &a->state.identity, &a->key);
    package_sink_set_limits(a->sink, a->limits.package_bytes, a->limits.package_age_ms);
    gov_init(&a->gov, a->state.quota_day, a->state.quota_bytes);
    a->totals_before = a->state.totals;
    a->sent_before = a->state.totals.bytes_sent;
    a->crawled_at_start = a->state.totals.bytes_crawled;
    a->bandwidth = a->state.bandwidth;
    a->orders_taken = a->orders_saved = a->state.orders_done;
    return ST_OK;
}

/* ---- joining ---- */

static void keep_joined(struct agent *a, const struct session_joined *j)
{
    struct state *s = &a->state;
    bool is_same =
        s->has_identity && s->agent == j->agent && bytes_equal(s->identity.b, j->identity.b, SIGN_PUBLIC_BYTES);
    if (!is_same) { /* orders of another coordinator, or to another agent, are none of ours */
        s->orders_done = 0;
        buf_clear(&s->settings);
        while (s->outcome_count)
            state_outcome_remove(s, s->outcomes[0].number);
    }
    buf_clear(&s->base);
    buf_put(&s->base, buf_span(&j->base));
    s->identity = j->identity;
    s->has_identity = true;
    memcpy(s->pin, j->pin, sizeof(s->pin));
    s->agent = j->agent;
    memcpy(s->name, j->name, sizeof(s->name));
}

static status join(struct agent *a, struct span line, struct buf *why)
{
    struct join_line j;
    struct session_joined joined;
    if (line.n > JOIN_LINE_MAX || join_line_parse(span_trim(line), &j) != ST_OK) {
        buf_puts(why, "not a line to join with: it reads orb://HOST:PORT/TOKEN#FINGERPRINT");
        return ST_INVALID;
    }
    if (a->state.has_identity) {
        struct digest256 f = digest_sha256(span_of(a->state.identity.b, SIGN_PUBLIC_BYTES));
        if (bytes_equal(f.b, j.fingerprint.b, sizeof(f.b)))
            return ST_EXISTS;
        buf_puts(why, "this folder belongs to an agent of another coordinator: choose another --data");
        return ST_REFUSED;
    }
    status st = session_join(a->session, &j, a->version, &joined, why);
    sign_wipe(&j, sizeof(j));
    if (st != ST_OK)
        return st;
    keep_joined(a, &joined);
    session_joined_done(&joined);
    st = agent_save(a);
    if (st != ST_OK)
        say(why, "write agent.state", st);
    else
        log_write(a->log, LOG_INFO, "agent", "joined as name=%s number=%llu", a->state.name,
                  (unsigned long long)a->state.agent);
    return st;
}

status agent_join(const struct agent_opts *o, struct span line, struct buf *why)
{
    struct agent a;
    init(&a, o);
    status st = open_basics(&a, why);
    if (st == ST_OK)
        st = join(&a, line, why);
    done(&a);
    return st;
}

/* ---- running ---- */

static status run_threads(struct agent *a, struct buf *why)
{
    pthread_t link, carrier;
    bool has_link = pthread_create(&link, NULL, link_thread, a) == 0;
    bool has_carrier = has_link && pthread_create(&carrier, NULL, carrier_thread, a) == 0;
    status st = has_carrier ? run_until_end(a, why) : ST_IO;
    pthread_mutex_lock(&a->lock);
    a->is_stopping = true;
    pthread_cond_broadcast(&a->changed);
    pthread_mutex_unlock(&a->lock);
    session_cancel(a->session);
    if (has_link)
        pthread_join(link, NULL);
    if (has_carrier)
        pthread_join(carrier, NULL);
    return st;
}

status agent_run(const struct agent_opts *o, agent_end *end, struct update_try *update, struct buf *why)
{
    struct agent a;
    init(&a, o);
    status st = open_basics(&a, why);
    if (st == ST_OK && !a.state.has_identity) {
        buf_puts(why, "not enrolled: give --join with the line that the coordinator shows");
        st = ST_NOT_FOUND;
    }
    if (st == ST_OK)
        st = open_rest(&a, why);
    if (st == ST_OK) {
        machine_be_modest();
        ask_governor(&a, &(struct crawl_stats){0});
        take_snapshot(&a, &a.stats);
        log_write(a.log, LOG_INFO, "agent", "begins name=%s number=%llu version=%.*s", a.state.name,
                  (unsigned long long)a.state.agent, SPAN_ARG(a.version));
        st = run_threads(&a, why);
        if (st == ST_OK || is_worth_waiting(st))
            save_now_and_then(&a, true);
        log_write(a.log, LOG_INFO, "agent", "ends");
    }
    *end = a.end;
    *update = a.update;
    done(&a);
    return st;
}

void update_try_done(struct update_try *u)
{
    buf_done(&u->version);
    buf_done(&u->digest);
    buf_done(&u->sig);
}
