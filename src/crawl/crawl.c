/* crawl.c - a crawl as a whole: opening the folder, running the shards, checkpoints, limits, the end. */
#include "crawl/crawl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "crawl/engine.h"
#include "io/clock.h"
#include "plan/page_rate.h"
#include "store/file.h"

#define TICK_MS 200
#define CHECKPOINT_MS 60000
#define CHECKPOINT_JOURNAL_BYTES (256u << 20) /* of all shards: bounds the replay after a kill to a few seconds */
#define PROGRESS_SAVED_MS 1000
#define JOBS_A_SHARD 64

/* ---- failures ---- */

void crawl_fail(struct crawl *cr, status st, const char *doing)
{
    /* What failed in a thread of the index left its errno there. */
    int err = st == ST_FULL ? ENOSPC : errno ? errno : EIO;
    pthread_mutex_lock(&cr->failure_lock);
    if (cr->failure == ST_OK) {
        cr->failure = st;
        buf_puts(&cr->failure_doing, doing);
        buf_printf(&cr->failure_doing, ": %s", st == ST_IO || st == ST_FULL ? strerror(err) : status_name(st));
        log_write(cr->o.log, LOG_WARN, "crawl", "%s",
                  buf_cstr(&cr->failure_doing)); /* the caller says it as an error */
    }
    pthread_mutex_unlock(&cr->failure_lock);
    atomic_store(&cr->is_stopping, true);
    if (cr->waker)
        waker_wake(cr->waker);
}

void crawl_note_host_failure(struct crawl *cr, struct span host, status st, const char *why)
{
    struct buf name = {0};
    log_escape(&name, host, 256);
    log_write(cr->o.log, LOG_WARN, "crawl", "host does not answer as it should host=%s what=\"%s\" why=\"%s\"",
              buf_cstr(&name), status_name(st), why);
    buf_done(&name);
    pthread_mutex_lock(&cr->failure_lock);
    if (!cr->has_host_failure) {
        cr->has_host_failure = true;
        cr->failed_status = st;
        buf_put(&cr->failed_host, host);
        buf_puts(&cr->failed_why, why);
    }
    pthread_mutex_unlock(&cr->failure_lock);
}

bool crawl_first_failure(struct crawl *cr, struct buf *host, status *st, struct buf *why)
{
    pthread_mutex_lock(&cr->failure_lock);
    bool has = cr->has_host_failure;
    if (has) {
        buf_put(host, buf_span(&cr->failed_host));
        buf_put(why, buf_span(&cr->failed_why));
        *st = cr->failed_status;
    }
    pthread_mutex_unlock(&cr->failure_lock);
    return has;
}

/* ---- opening ---- */

static struct span product_token(struct span user_agent)
{
    size_t n = 0;
    while (n < user_agent.n && (ascii_is_alpha(user_agent.p[n]) || user_agent.p[n] == '-' || user_agent.p[n] == '_'))
        n++;
    return span_of(user_agent.p, n);
}

static const struct span *keep_spans(struct arena *a, const struct span *from, size_t n)
{
    struct span *to = arena_alloc(a, n * sizeof(*to));
    for (size_t i = 0; i < n; i++)
        to[i] = arena_copy(a, from[i]);
    return to;
}

static void keep_opts(struct crawl *cr, const struct crawl_opts *o)
{
    struct arena *a = &cr->strings;
    cr->o = *o;
    cr->o.data_dir = arena_copy(a, span_str(o->data_dir)).p;
    cr->o.worker_path = o->worker_path ? arena_copy(a, span_str(o->worker_path)).p : NULL;
    cr->o.pdf_program = o->pdf_program ? arena_copy(a, span_str(o->pdf_program)).p : NULL;
    cr->o.fetch.user_agent = arena_copy(a, o->fetch.user_agent);
    cr->o.fetch.headers = keep_spans(a, o->fetch.headers, o->fetch.header_count);
    cr->o.fetch.secret_sites = keep_spans(a, o->fetch.secret_sites, o->fetch.secret_site_count);
    cr->o.fetch.proxy = arena_copy(a, o->fetch.proxy);
    cr->o.fetch.ca_file = arena_copy(a, o->fetch.ca_file);
    cr->o.fetch.log = o->log;
    cr->o.dns.server = arena_copy(a, o->dns.server);
    cr->o.dns.hosts = arena_copy(a, o->dns.hosts);
    cr->o.own_sites = keep_spans(a, o->own_sites, o->own_site_count);
    cr->agent = product_token(cr->o.fetch.user_agent);
    cr->shard_count = o->shards;
    if (!cr->shard_count) {
        long cores = sysconf(_SC_NPROCESSORS_ONLN);
        cr->shard_count = cores > 0 ? (unsigned)cores : 1;
    }
    if (cr->shard_count > CRAWL_SHARDS_MAX)
        cr->shard_count = CRAWL_SHARDS_MAX;
    unsigned jobs = o->jobs ? o->jobs : JOBS_A_SHARD * cr->shard_count;
    cr->jobs_a_shard = (jobs + cr->shard_count - 1) / cr->shard_count;
    readings_look(cr);
}

static status open_files(struct crawl *cr, struct buf *why)
{
    struct buf path = {0};
    status st = store_open(cr->o.data_dir, STORE_WRITE, &cr->store, why);
    if (st != ST_OK)
        return st;
    cr->key = *store_key(cr->store);
    store_set_rate(cr->store, page_rate_visit);
    buf_printf(&path, "%s/seen", cr->o.data_dir);
    st = seen_open(buf_cstr(&path), &(struct seen_opts){0}, &cr->seen);
    if (st == ST_OK) {
        buf_clear(&path);
        buf_printf(&path, "%s/frontier", cr->o.data_dir);
        st = runs_open(buf_cstr(&path), &cr->runs);
    }
    if (st != ST_OK)
        buf_printf(why, "%s: %s", buf_cstr(&path), st == ST_IO ? strerror(errno) : status_name(st));
    buf_done(&path);
    return st;
}

status crawl_open(const struct crawl_opts *opts, struct crawl **out, struct buf *why)
{
    struct crawl *cr = mem_alloc(sizeof(*cr));
    arena_init(&cr->strings);
    pthread_mutex_init(&cr->journal_lock, NULL);
    pthread_mutex_init(&cr->park_lock, NULL);
    pthread_mutex_init(&cr->failure_lock, NULL);
    pthread_mutex_init(&cr->lane_lock, NULL);
    pthread_mutex_init(&cr->away_lock, NULL);
    pthread_cond_init(&cr->park_changed, NULL);
    atomic_store(&cr->next_fetch, 1);
    cr->pass = 1;
    keep_opts(cr, opts);
    status st = open_files(cr, why);
    if (st == ST_OK) {
        cr->route = route_new(cr->shard_count, &cr->key);
        cr->shards = mem_alloc(cr->shard_count * sizeof(*cr->shards));
    }
    for (unsigned i = 0; st == ST_OK && i < cr->shard_count; i++) {
        st = shard_init(&cr->shards[i], cr, i);
        if (st != ST_OK)
            buf_puts(why, "cannot start the fetcher or resolver: check --resolver, --hosts and --ca-file");
    }
    if (st == ST_OK) {
        st = opts->open_sink(opts->sink_arg, cr->store, &cr->sink, why);
        cr->has_sink = st == ST_OK;
    }
    if (st == ST_OK)
        st = resume_load(cr, why);
    for (size_t i = 0; st == ST_OK && i < cr->lane_count; i++)
        st = lane_share(cr, cr->lanes[i]);
    if (st == ST_OK)
        st = unsee_load(cr);
    if (st == ST_OK)
        st = refused_load(cr);
    uint64_t good = 0;
    if (st == ST_OK) /* for the page that tells site owners about us */
        st = store_setting_put(cr->store, "user_agent", cr->o.fetch.user_agent);
    if (st == ST_OK)
        st = store_page_good(cr->store, &good);
    if (st == ST_OK) {
        atomic_store(&cr->good_pages, good);
        cr->resumed = good;
        crawl_publish(cr);
        *out = cr;
    } else {
        crawl_close(cr);
    }
    return st;
}

void crawl_close(struct crawl *cr)
{
    if (!cr)
        return;
    writer_free(cr->writer);
    import_free(cr->import);
    for (unsigned i = 0; cr->shards && i < cr->shard_count; i++)
        if (cr->shards[i].crawl)
            shard_done(&cr->shards[i]);
    free(cr->shards);
    crawl_lanes_done(cr);
    places_free(cr->refused);
    route_free(cr->route);
    runs_free(cr->runs);
    seen_free(cr->seen);
    if (cr->has_sink)
        cr->sink.close(cr->sink.self);
    store_free(cr->store);
    buf_done(&cr->failure_doing);
    buf_done(&cr->failed_host);
    buf_done(&cr->failed_why);
    pthread_cond_destroy(&cr->park_changed);
    pthread_mutex_destroy(&cr->failure_lock);
    pthread_mutex_destroy(&cr->lane_lock);
    pthread_mutex_destroy(&cr->away_lock);
    pthread_mutex_destroy(&cr->park_lock);
    pthread_mutex_destroy(&cr->journal_lock);
    arena_done(&cr->strings);
    free(cr);
}

/* ---- the beginning ---- */

static uint64_t queued_now(const struct crawl *cr)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < cr->shard_count; i++) {
        struct frontier_counts c;
        frontier_counts(cr->shards[i].frontier, clock_mono(), &c);
        n += c.urls - c.urls_given_up;
    }
    return n;
}

static status begin_pass(struct crawl *cr)
{
    status st = ST_OK;
    /* A finished crawl that is run again checks every page it knows; one that stays is told what to check. */
    if (cr->was_complete && !cr->has_new_seeds && !cr->o.stays && queued_now(cr) == 0) {
        cr->pass++;
        st = recheck_all(cr);
    }
    cr->was_complete = false;
    for (unsigned i = 0; i < cr->shard_count; i++)
        frontier_revive(cr->shards[i].frontier, clock_mono());
    return st;
}

/* ---- statistics ---- */

static void add_stats(struct crawl_stats *sum, struct shard *s)
{
    pthread_mutex_lock(&s->lock);
    const struct crawl_stats *p = &s->published;
    const struct frontier_counts *c = &s->counts;
    sum->fetched += p->fetched;
    sum->redirects += p->redirects;
    sum->gone += p->gone;
    sum->errors += p->errors;
    sum->refused_robots += p->refused_robots;
    sum->not_html += p->not_html;
    sum->lists += p->lists;
    sum->lists_elsewhere += p->lists_elsewhere;
    sum->lists_left += p->lists_left;
    sum->lists_left_by |= p->lists_left_by;
    sum->lists_too_far += p->lists_too_far;
    sum->not_read += p->not_read;
    sum->pdf_failed += p->pdf_failed;
    sum->pdf_left += p->pdf_left;
    sum->thin += p->thin;
    sum->robots_fetched += p->robots_fetched;
    sum->requests += p->requests;
    sum->retries += p->retries;
    sum->bytes_wire += p->bytes_wire;
    sum->bytes_body += p->bytes_body;
    sum->http_4xx += p->http_4xx;
    sum->http_5xx += p->http_5xx;
    sum->in_flight += p->in_flight;
    sum->disk_trouble |= p->disk_trouble;
    for (unsigned i = 0; i < ST_MAX; i++)
        sum->errors_by_kind[i] += p->errors_by_kind[i];
    sum->queued += c->urls;
    sum->hosts += c->hosts;
    sum->hosts_waiting += c->hosts_waiting;
    int64_t rests = c->hosts_waiting ? c->rests_until - clock_mono() : -1;
    if (rests > 0 && (sum->rests_ms < 0 || rests < sum->rests_ms))
        sum->rests_ms = rests;
    sum->hosts_given_up += c->hosts_given_up;
    sum->queued_given_up += c->urls_given_up;
    sum->parked_traps += c->traps;
    sum->slowed_hosts += c->slowed;
    sum->frontier_memory += c->memory;
    sum->hosts_memory += c->memory - c->url_memory;
    pthread_mutex_unlock(&s->lock);
}

void crawl_get_stats(struct crawl *cr, struct crawl_stats *out)
{
    *out = (struct crawl_stats){.pages = atomic_load(&cr->good_pages),
                                .resumed = cr->resumed,
                                .known_urls = seen_count(cr->seen),
                                .seen_memory = seen_memory(cr->seen),
                                .disk_bytes = seen_disk(cr->seen) + runs_disk(cr->runs),
                                .rests_ms = -1,
                                .pass = cr->pass,
                                .pdf_state = cr->pdf_state,
                                .unchanged = cr->writer ? writer_unchanged(cr->writer) : cr->unchanged,
                                .seconds_ms = cr->started ? (uint64_t)(clock_mono() - cr->started) : 0};
    for (unsigned i = 0; i < cr->shard_count; i++)
        add_stats(out, &cr->shards[i]);
    if (cr->writer)
        out->pages += writer_restored(cr->writer);
    struct sink_stats index;
    cr->sink.stats(cr->sink.self, &index);
    out->index_docs = index.docs;
    out->index_bytes = index.bytes;
    out->index_segments = index.segments;
    out->is_comparing = index.is_comparing;
    out->compared_percent = index.compared_percent;
}

static void put_errors_by_kind(const struct crawl_stats *s, struct buf *out)
{
    buf_puts(out, ",\"errors_by_kind\":{");
    buf_printf(out, "\"http 4xx\":%llu,\"http 5xx\":%llu", (unsigned long long)s->http_4xx,
               (unsigned long long)s->http_5xx);
    for (unsigned i = 0; i < ST_MAX; i++)
        if (s->errors_by_kind[i])
            buf_printf(out, ",\"%s\":%llu", status_name((status)i), (unsigned long long)s->errors_by_kind[i]);
    buf_puts(out, "}}");
}

static void save_progress(struct crawl *cr, const struct crawl_stats *s, bool is_running)
{
    struct buf b = {0};
    buf_printf(
        &b,
        "{\"running\":%s,\"at\":%lld,\"pass\":%d,\"pages\":%llu,\"fetched\":%llu,\"unchanged\":%llu,\"errors\":%llu,"
        "\"queued\":%llu,\"known_urls\":%llu,\"hosts\":%llu,\"hosts_waiting\":%llu,\"hosts_given_up\":%llu,"
        "\"traps\":%llu,\"bytes\":%llu,\"seconds\":%.1f,\"requests\":%llu,\"retries\":%llu,\"in_flight\":%llu,"
        "\"refused_robots\":%llu,\"redirects\":%llu,\"gone\":%llu,\"index_docs\":%llu,\"index_bytes\":%llu",
        is_running ? "true" : "false", (long long)clock_wall(), s->pass, (unsigned long long)s->pages,
        (unsigned long long)s->fetched, (unsigned long long)s->unchanged, (unsigned long long)s->errors,
        (unsigned long long)s->queued, (unsigned long long)s->known_urls, (unsigned long long)s->hosts,
        (unsigned long long)s->hosts_waiting, (unsigned long long)s->hosts_given_up,
        (unsigned long long)s->parked_traps, (unsigned long long)s->bytes_wire, (double)s->seconds_ms / 1000,
        (unsigned long long)s->requests, (unsigned long long)s->retries, (unsigned long long)s->in_flight,
        (unsigned long long)s->refused_robots, (unsigned long long)s->redirects, (unsigned long long)s->gone,
        (unsigned long long)s->index_docs, (unsigned long long)s->index_bytes);
    put_errors_by_kind(s, &b);
    writer_put_progress(cr->writer, buf_span(&b));
    buf_done(&b);
}

/* ---- parking, checkpoints ---- */

static void park_all(struct crawl *cr)
{
    pthread_mutex_lock(&cr->park_lock);
    cr->want_park = true;
    for (unsigned i = 0; i < cr->shard_count; i++)
        waker_wake(cr->shards[i].waker);
    while (cr->parked < cr->shard_count)
        pthread_cond_wait(&cr->park_changed, &cr->park_lock);
    pthread_mutex_unlock(&cr->park_lock);
    /* Working off one inbox may fill another: hosts move, links are forwarded. */
    for (bool any = true; any;) {
        any = false;
        for (unsigned i = 0; i < cr->shard_count; i++)
            any |= shard_drain(&cr->shards[i]);
    }
}

static void unpark_all(struct crawl *cr)
{
    pthread_mutex_lock(&cr->park_lock);
    cr->want_park = false;
    pthread_cond_broadcast(&cr->park_changed);
    while (cr->parked > 0)
        pthread_cond_wait(&cr->park_changed, &cr->park_lock);
    pthread_mutex_unlock(&cr->park_lock);
    for (unsigned i = 0; i < cr->shard_count; i++)
        waker_wake(cr->shards[i].waker); /* what was drained may be due */
}

void crawl_hold(struct crawl *cr)
{
    if (!cr->is_running || cr->is_held)
        return;
    park_all(cr);
    cr->is_held = true;
}

void crawl_publish(struct crawl *cr)
{
    for (unsigned i = 0; (!cr->is_running || cr->is_held) && i < cr->shard_count; i++)
        shard_publish(&cr->shards[i]);
}

void crawl_release(struct crawl *cr)
{
    if (!cr->is_held)
        return;
    cr->is_held = false;
    unpark_all(cr);
}

static status put_host(void *arg, struct span host, struct span packed)
{
    struct crawl *cr = arg;
    writer_put_host(cr->writer, host, packed);
    return ST_OK;
}

status crawl_checkpoint(struct crawl *cr)
{
    atomic_store(&cr->is_checkpointing, true);
    status st = ST_OK;
    for (unsigned i = 0; st == ST_OK && i < cr->shard_count; i++)
        st = frontier_each_host(cr->shards[i].frontier, shard_now(&cr->shards[i]), clock_wall(), false, put_host, cr);
    if (st == ST_OK)
        st = resume_checkpoint(cr);
    if (st != ST_OK) {
        atomic_store(&cr->is_checkpointing, false);
        if (st == ST_FULL) /* the journals go on; the next try may find space */
            log_write(cr->o.log, LOG_WARN, "crawl", "no space left for a checkpoint");
        else
            crawl_fail(cr, st, "write a checkpoint");
    }
    cr->last_checkpoint = clock_mono();
    return st;
}

static void on_checkpoint_done(void *self, uint64_t generation)
{
    struct crawl *cr = self;
    resume_settled(cr, generation);
    unsee_settled(cr);
    atomic_store(&cr->is_checkpointing, false);
}

static status on_sync_archive(void *self)
{
    struct crawl *cr = self;
    return cr->o.archive ? warc_files_sync(cr->o.archive) : ST_OK;
}

static void on_sync_journals(void *self)
{
    struct crawl *cr = self;
    if (on_sync_archive(cr) != ST_OK) { /* then the journals must not say more than it has */
        log_write(cr->o.log, LOG_WARN, "archive", "could not be synced");
        return;
    }
    pthread_mutex_lock(&cr->journal_lock);
    for (unsigned i = 0; i < cr->shard_count; i++)
        if (cr->shards[i].journal && records_sync(cr->shards[i].journal) != ST_OK)
            log_write(cr->o.log, LOG_WARN, "journal", "could not be synced");
    pthread_mutex_unlock(&cr->journal_lock);
}

static void on_visited(void *self, uint64_t channel, const struct visit_effect *e)
{
    lane_visited(self, channel, e);
}

static void on_writer_failed(void *self, status st, const char *doing)
{
    crawl_fail(self, st, doing);
}

/* ---- running ---- */

static void finish(struct crawl *cr, crawl_end end)
{
    if (cr->is_ended)
        return;
    cr->is_ended = true;
    cr->end = end;
    loop_stop(cr->loop);
}

static bool all_idle(struct crawl *cr)
{
    for (unsigned i = 0; i < cr->shard_count; i++)
        if (!atomic_load(&cr->shards[i].is_idle))
            return false;
    return true;
}

/* Idle flags are hints; the truth is looked at with everybody parked. */
static void check_complete(struct crawl *cr)
{
    if (cr->o.stays || !all_idle(cr))
        return;
    park_all(cr);
    bool idle = true;
    for (unsigned i = 0; i < cr->shard_count; i++) {
        struct shard *s = &cr->shards[i];
        idle &= s->in_flight == 0 && s->resolving == 0 && !s->framed.n && !s->waiting && frontier_is_idle(s->frontier);
    }
    unpark_all(cr);
    if (idle)
        finish(cr, CRAWL_COMPLETE);
}

/* Some links are noted as seen and not yet written down: a checkpoint now would lose them. */
static bool any_stalled(const struct crawl *cr)
{
    for (unsigned i = 0; i < cr->shard_count; i++)
        if (cr->shards[i].is_stalled)
            return true;
    return false;
}

static void check_checkpoint(struct crawl *cr)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < cr->shard_count; i++)
        bytes += atomic_load(&cr->shards[i].journal_bytes);
    bool due = clock_mono() - cr->last_checkpoint >= CHECKPOINT_MS || bytes >= CHECKPOINT_JOURNAL_BYTES;
    if (!due || atomic_load(&cr->is_checkpointing))
        return;
    park_all(cr);
    if (!any_stalled(cr))
        (void)crawl_checkpoint(cr);
    unpark_all(cr);
}

static struct writer *start_writer(struct crawl *cr)
{
    return writer_new(&(struct writer_opts){.store = cr->store,
                                            .sink = &cr->sink,
                                            .log = cr->o.log,
                                            .sync_journals = on_sync_journals,
                                            .sync_archive = on_sync_archive,
                                            .checkpoint_done = on_checkpoint_done,
                                            .failed = on_writer_failed,
                                            .visited = on_visited,
                                            .self = cr});
}

static status settle_running(struct crawl *cr)
{
    status st = ST_OK;
    crawl_hold(cr);
    if (any_stalled(cr))
        return ST_FULL;
    if (atomic_load(&cr->is_checkpointing)) /* one at a time: see seen_settle and runs_settle */
        st = writer_settle(cr->writer);
    if (st == ST_OK)
        st = crawl_checkpoint(cr);
    crawl_release(cr); /* the disk is waited for without them */
    return st == ST_OK ? writer_settle(cr->writer) : st;
}

status crawl_settle(struct crawl *cr)
{
    if (cr->is_running)
        return settle_running(cr);
    cr->writer = start_writer(cr);
    status st = crawl_checkpoint(cr);
    if (st == ST_OK)
        st = writer_settle(cr->writer);
    writer_free(cr->writer);
    cr->writer = NULL;
    return st;
}

static void on_main_tick(void *arg)
{
    struct crawl *cr = arg;
    struct crawl_stats stats;
    mono_ms now = clock_mono();
    crawl_get_stats(cr, &stats);
    if (cr->progress)
        cr->progress(cr->progress_arg, &stats);
    crawl_release(cr);
    if (now - cr->last_progress_saved >= PROGRESS_SAVED_MS) {
        save_progress(cr, &stats, true);
        cr->last_progress_saved = now;
    }
    if (cr->failure != ST_OK)
        finish(cr, CRAWL_FAILED);
    else if (cr->o.time_max_ms && now - cr->started >= cr->o.time_max_ms)
        finish(cr, CRAWL_LIMIT_TIME);
    else if (cr->o.pages_max && cr->pass == 1 && stats.pages >= cr->o.pages_max)
        finish(cr, CRAWL_LIMIT_PAGES);
    else {
        check_complete(cr);
        check_checkpoint(cr);
    }
    timer_set(cr->tick, TICK_MS);
}

static void on_main_wake(void *arg)
{
    struct crawl *cr = arg;
    if (cr->failure != ST_OK)
        finish(cr, CRAWL_FAILED);
    else if (atomic_load(&cr->is_stopping))
        finish(cr, CRAWL_STOPPED);
    else
        check_complete(cr);
}

static void on_signal(void *arg)
{
    finish(arg, CRAWL_STOPPED);
}

void crawl_stop(struct crawl *cr)
{
    atomic_store(&cr->is_stopping, true);
    if (cr->waker)
        waker_wake(cr->waker);
}

void crawl_watch_finishing(struct crawl *cr, crawl_progress_fn *fn, void *arg)
{
    cr->finishing = fn;
    cr->finishing_arg = arg;
}

/* The last checkpoint, with all shards parked or not started. */
static void conclude(struct crawl *cr)
{
    for (unsigned i = 0; i < cr->shard_count; i++)
        shard_publish(&cr->shards[i]);
    (void)crawl_checkpoint(cr); /* a failure is noted */
    struct crawl_stats stats;
    crawl_get_stats(cr, &stats);
    save_progress(cr, &stats, false);
}

static void on_finishing(void *arg)
{
    struct crawl *cr = arg;
    struct crawl_stats stats;
    crawl_get_stats(cr, &stats);
    stats.is_finishing = true;
    cr->finishing(cr->finishing_arg, &stats);
}

static status finish_writer(struct crawl *cr)
{
    status st = writer_finish(cr->writer, cr->finishing ? on_finishing : NULL, cr);
    if (cr->failure != ST_OK)
        st = cr->failure;
    cr->unchanged = writer_unchanged(cr->writer);
    writer_free(cr->writer);
    cr->writer = NULL;
    uint64_t good;
    if (st == ST_OK && store_page_good(cr->store, &good) == ST_OK)
        atomic_store(&cr->good_pages, good);
    return st;
}

status crawl_begin_quiet(struct crawl *cr)
{
    cr->started = clock_mono();
    cr->writer = start_writer(cr);
    return resume_checkpoint(cr);
}

status crawl_end_quiet(struct crawl *cr, status st)
{
    if (st == ST_OK) {
        cr->was_complete = true; /* when nothing waits, the next crawl looks for changes */
        conclude(cr);
    }
    status finished = finish_writer(cr);
    return st == ST_OK ? finished : st;
}

/* Parks everybody for the last time; after a failure the folder stays as the journals have it. */
static status wind_up(struct crawl *cr)
{
    atomic_store(&cr->is_stopping, true);
    park_all(cr);
    if (cr->end != CRAWL_FAILED && any_stalled(cr)) {
        errno = ENOSPC;
        crawl_fail(cr, ST_FULL, "write the journal");
        cr->end = CRAWL_FAILED;
    }
    if (cr->end != CRAWL_FAILED) {
        cr->was_complete = cr->end == CRAWL_COMPLETE;
        conclude(cr);
    }
    for (unsigned i = 0; i < cr->shard_count; i++)
        cr->shards[i].is_quitting = true;
    unpark_all(cr);
    for (unsigned i = 0; i < cr->shard_count; i++) {
        pthread_join(cr->shards[i].thread, NULL);
        cr->shards[i].has_thread = false;
    }
    cr->is_running = false;
    status st = finish_writer(cr);
    if (st != ST_OK)
        cr->end = CRAWL_FAILED;
    return st;
}

status crawl_run(struct crawl *cr, crawl_progress_fn *progress, void *arg, crawl_end *end)
{
    status st = begin_pass(cr);
    if (st != ST_OK)
        return st;
    cr->progress = progress;
    cr->progress_arg = arg;
    cr->started = cr->last_progress_saved = clock_mono();
    cr->loop = loop_new();
    cr->waker = waker_new(cr->loop, on_main_wake, cr);
    cr->tick = timer_new(cr->loop, on_main_tick, cr);
    cr->signals = signals_new(cr->loop, on_signal, cr);
    cr->writer = start_writer(cr);
    st = resume_checkpoint(cr); /* seeds, channels and what was replayed are safe before the first request */
    cr->last_checkpoint = clock_mono();
    if (st == ST_OK) {
        for (unsigned i = 0; i < cr->shard_count; i++)
            shard_start(&cr->shards[i]);
        cr->is_running = true;
        timer_set(cr->tick, TICK_MS);
        loop_run(cr->loop);
        st = wind_up(cr);
        *end = cr->end;
    } else {
        crawl_fail(cr, st, "write the first checkpoint");
    }
    signals_free(cr->signals);
    timer_free(cr->tick);
    waker_free(cr->waker);
    cr->waker = NULL;
    loop_free(cr->loop);
    return st;
}

struct span crawl_failure(struct crawl *cr)
{
    return buf_span(&cr->failure_doing);
}
