#include "serve/watch.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "codec/json.h"
#include "io/clock.h"
#include "plan/frontier.h"
#include "store/store.h"

#define PROGRESS_BYTES_MAX 16384
#define HOSTS_VISITED_MAX 20000 /* of one look: a crawl of a million hosts must not hold up a page */
#define RATE_SAMPLES 3          /* pages a second are taken over so many steps */

struct watch {
    char *dir, *db_path;
    struct corpus *corpus; /* borrowed */

    pthread_mutex_t store_lock; /* the store and its file's identity */
    struct store *store;        /* NULL: not open */
    dev_t db_dev;
    ino_t db_ino;

    pthread_mutex_t lock; /* the rest */
    pthread_cond_t changed;
    pthread_t thread;
    bool has_thread, is_stopping;
    struct watch_now now;
    struct watch_sample ring[WATCH_SAMPLES];
    size_t ring_at, ring_n;
    struct {
        wall_ms at;
        uint64_t visits;
    } rate[RATE_SAMPLES + 1]; /* newest first */
    unsigned rate_n;

    pthread_mutex_t hosts_lock;
    mono_ms hosts_at; /* 0: never looked */
    struct arena hosts_arena;
    struct watch_host hosts[WATCH_HOSTS_SHOWN];
    size_t host_count;
    uint64_t hosts_total;
};

/* ---- the store ---- */

/* With store_lock held. The folder may be another one than before: its file tells. */
static struct store *store_now(struct watch *w)
{
    struct stat st;
    bool is_there = stat(w->db_path, &st) == 0;
    if (w->store && (!is_there || st.st_dev != w->db_dev || st.st_ino != w->db_ino)) {
        store_free(w->store);
        w->store = NULL;
    }
    if (!w->store && is_there && store_open(w->dir, STORE_READ, &w->store, NULL) == ST_OK) {
        w->db_dev = st.st_dev;
        w->db_ino = st.st_ino;
    }
    return w->store;
}

static status setting(struct watch *w, const char *name, struct buf *out)
{
    pthread_mutex_lock(&w->store_lock);
    struct store *s = store_now(w);
    status st = s ? store_setting_get(s, name, out) : ST_IO;
    pthread_mutex_unlock(&w->store_lock);
    return st;
}

void watch_setting(struct watch *w, const char *name, struct buf *out)
{
    (void)setting(w, name, out); /* nothing to say is as good as none */
}

/* ---- progress ---- */

static bool is_name_char(char c)
{
    return ascii_is_alpha(c) || ascii_is_digit(c) || c == '_' || c == '-' || c == ' ';
}

/* "errors_by_kind":{"timeout":3,"http_5xx":1}: a flat object of counts. Stops at anything else. */
static void read_kinds(struct span json, struct watch_now *out)
{
    struct span key = SPAN("\"errors_by_kind\":{");
    size_t at = span_search(json, key, false);
    struct span rest = span_cut(span_from(json, at + key.n), 0, span_find(span_from(json, at + key.n), '}', 0));
    struct span pair;
    while (out->kind_count < WATCH_KINDS_MAX && span_split(&rest, ',', &pair)) {
        struct watch_kind *k = &out->kinds[out->kind_count];
        size_t quote = pair.n > 1 && pair.p[0] == '"' ? span_find(pair, '"', 1) : pair.n;
        struct span name = span_cut(pair, 1, quote - 1);
        bool ok = quote < pair.n && name.n > 0 && name.n < sizeof(k->name) &&
                  span_u64(span_trim(span_from(pair, quote + 2)), UINT64_MAX, &k->count);
        for (size_t i = 0; ok && i < name.n; i++)
            ok = is_name_char(name.p[i]);
        if (!ok)
            return;
        memcpy(k->name, name.p, name.n);
        k->name[name.n] = '\0';
        out->kind_count++;
    }
}

static void read_progress(struct span json, wall_ms now, struct watch_now *out)
{
    out->has_crawl = true;
    out->crawl_at = (wall_ms)json_peek_u64(json, "at");
    bool says_running = span_search(json, SPAN("\"running\":true"), false) < json.n;
    out->was_killed = says_running && now - out->crawl_at > WATCH_STALE_MS;
    out->is_running = says_running && !out->was_killed;
    const struct {
        const char *key;
        uint64_t *to;
    } numbers[] = {{"pass", &out->pass},
                   {"pages", &out->pages},
                   {"fetched", &out->fetched},
                   {"unchanged", &out->unchanged},
                   {"errors", &out->errors},
                   {"queued", &out->queued},
                   {"known_urls", &out->known_urls},
                   {"hosts", &out->hosts},
                   {"hosts_waiting", &out->hosts_backoff},
                   {"hosts_given_up", &out->hosts_given_up},
                   {"traps", &out->traps},
                   {"bytes", &out->bytes},
                   {"seconds", &out->seconds}};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
        *numbers[i].to = json_peek_u64(json, numbers[i].key);
    read_kinds(json, out);
}

static void read_index(struct watch *w, struct watch_now *out)
{
    struct index_snapshot *snap = NULL;
    out->index_status = corpus_snapshot(w->corpus, &snap);
    if (out->index_status != ST_OK)
        return;
    out->has_index = true;
    index_snapshot_stats(snap, &out->index);
    index_snapshot_free(snap);
}

/* With `lock` held. Visits a second between the newest progress and the oldest one remembered. */
static double rate_of(struct watch *w, const struct watch_now *n)
{
    uint64_t visits = n->pass > 1 && n->unchanged > n->fetched ? n->unchanged : n->fetched;
    if (!n->is_running) {
        w->rate_n = 0;
        return 0;
    }
    if (w->rate_n && (visits < w->rate[0].visits || n->crawl_at < w->rate[0].at))
        w->rate_n = 0; /* another run */
    if (w->rate_n == 0 || n->crawl_at > w->rate[0].at) {
        memmove(w->rate + 1, w->rate, RATE_SAMPLES * sizeof(*w->rate));
        w->rate[0].at = n->crawl_at;
        w->rate[0].visits = visits;
        w->rate_n += w->rate_n < RATE_SAMPLES + 1;
    }
    if (w->rate_n < 2) /* the first look: what the run made so far, on the whole */
        return n->seconds ? (double)visits / (double)n->seconds : 0;
    double seconds = (double)(w->rate[0].at - w->rate[w->rate_n - 1].at) / 1000;
    return seconds > 0 ? (double)(visits - w->rate[w->rate_n - 1].visits) / seconds : 0;
}

static void look(struct watch *w)
{
    struct watch_now n = {.at = clock_wall()};
    struct buf text = {0};
    status st = setting(w, "progress", &text);
    n.has_folder = st == ST_OK || st == ST_NOT_FOUND;
    if (st == ST_OK && text.n <= PROGRESS_BYTES_MAX)
        read_progress(buf_span(&text), n.at, &n);
    read_index(w, &n);
    buf_done(&text);

    pthread_mutex_lock(&w->lock);
    n.pages_per_s = rate_of(w, &n);
    w->now = n;
    w->ring[w->ring_at] = (struct watch_sample){.at = n.at,
                                                .pages_per_s = (float)n.pages_per_s,
                                                .queued = n.queued,
                                                .errors = n.errors,
                                                .hosts_backoff = n.hosts_backoff,
                                                .index_docs = n.index.docs,
                                                .index_bytes = n.index.bytes};
    w->ring_at = (w->ring_at + 1) % WATCH_SAMPLES;
    w->ring_n += w->ring_n < WATCH_SAMPLES;
    pthread_mutex_unlock(&w->lock);
}

static void *run(void *arg)
{
    struct watch *w = arg;
    pthread_mutex_lock(&w->lock);
    while (!w->is_stopping) {
        mono_ms next = clock_mono() + WATCH_STEP_MS;
        struct timespec ts = {next / 1000, next % 1000 * 1000000};
        while (!w->is_stopping && clock_mono() < next)
            pthread_cond_timedwait(&w->changed, &w->lock, &ts);
        if (w->is_stopping)
            break;
        pthread_mutex_unlock(&w->lock);
        look(w);
        pthread_mutex_lock(&w->lock);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* ---- life ---- */

struct watch *watch_new(const char *data_dir, struct corpus *corpus)
{
    struct watch *w = mem_alloc(sizeof(*w));
    struct buf path = {0};
    buf_printf(&path, "%s/orb.db", data_dir);
    w->db_path = mem_str(buf_span(&path));
    buf_done(&path);
    w->dir = mem_str(span_str(data_dir));
    w->corpus = corpus;
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&w->changed, &attr);
    pthread_condattr_destroy(&attr);
    pthread_mutex_init(&w->lock, NULL);
    pthread_mutex_init(&w->store_lock, NULL);
    pthread_mutex_init(&w->hosts_lock, NULL);
    arena_init(&w->hosts_arena);
    look(w);
    w->has_thread = pthread_create(&w->thread, NULL, run, w) == 0;
    return w;
}

void watch_free(struct watch *w)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    w->is_stopping = true;
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
    if (w->has_thread)
        pthread_join(w->thread, NULL);
    store_free(w->store);
    arena_done(&w->hosts_arena);
    pthread_mutex_destroy(&w->hosts_lock);
    pthread_mutex_destroy(&w->store_lock);
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->changed);
    free(w->dir);
    free(w->db_path);
    free(w);
}

void watch_get(struct watch *w, struct watch_now *out)
{
    pthread_mutex_lock(&w->lock);
    *out = w->now;
    pthread_mutex_unlock(&w->lock);
}

size_t watch_history(struct watch *w, struct watch_sample *out, size_t max)
{
    pthread_mutex_lock(&w->lock);
    size_t n = w->ring_n < max ? w->ring_n : max;
    for (size_t i = 0; i < n; i++)
        out[i] = w->ring[(w->ring_at + WATCH_SAMPLES - n + i) % WATCH_SAMPLES];
    pthread_mutex_unlock(&w->lock);
    return n;
}

/* ---- hosts in back-off ---- */

struct host_look {
    struct watch *w;
    size_t visited;
    wall_ms now;
};

static void keep_host(struct watch *w, const struct frontier_info *info, wall_ms now)
{
    size_t at = w->host_count;
    while (at > 0 && w->hosts[at - 1].queued < info->queued)
        at--;
    if (at == WATCH_HOSTS_SHOWN)
        return;
    size_t kept = w->host_count < WATCH_HOSTS_SHOWN ? w->host_count++ : WATCH_HOSTS_SHOWN - 1;
    memmove(&w->hosts[at + 1], &w->hosts[at], (kept - at) * sizeof(*w->hosts));
    struct buf reason = {0};
    if (info->last_failure != ST_OK)
        buf_puts(&reason, status_name(info->last_failure));
    else if (info->last_http)
        buf_printf(&reason, "HTTP %d", info->last_http);
    w->hosts[at] = (struct watch_host){.name = arena_copy(&w->hosts_arena, info->name),
                                       .queued = info->queued,
                                       .failures = info->failures,
                                       .wait_ms = info->next_ok > now ? info->next_ok - now : 0,
                                       .is_given_up = info->is_given_up,
                                       .reason = arena_copy(&w->hosts_arena, buf_span(&reason))};
    buf_done(&reason);
}

static status see_host(void *arg, struct span host, struct span packed)
{
    struct host_look *l = arg;
    struct frontier_info info;
    if (++l->visited > HOSTS_VISITED_MAX)
        return ST_END;
    if (frontier_info_read(packed, &info) != ST_OK)
        return ST_OK; /* a newer crawl wrote it, perhaps; the others are still worth showing */
    if (info.queued && info.failures) {
        l->w->hosts_total++;
        keep_host(l->w, &info, l->now);
    }
    frontier_info_done(&info);
    return ST_OK;
}

size_t watch_hosts(struct watch *w, struct arena *a, struct watch_host *out, size_t max, uint64_t *total)
{
    pthread_mutex_lock(&w->hosts_lock);
    mono_ms now = clock_mono();
    if (w->hosts_at == 0 || now - w->hosts_at >= WATCH_HOSTS_KEPT_MS) {
        w->hosts_at = now;
        w->host_count = 0;
        w->hosts_total = 0;
        arena_reset(&w->hosts_arena);
        struct host_look l = {.w = w, .now = clock_wall()};
        pthread_mutex_lock(&w->store_lock);
        struct store *s = store_now(w);
        /* What was seen before a failure, or before HOSTS_VISITED_MAX, is shown all the same. */
        if (s && store_host_each(s, see_host, &l) == ST_CORRUPT)
            w->host_count = 0;
        pthread_mutex_unlock(&w->store_lock);
    }
    size_t n = w->host_count < max ? w->host_count : max;
    for (size_t i = 0; i < n; i++) {
        out[i] = w->hosts[i];
        out[i].name = arena_copy(a, out[i].name);
        out[i].reason = arena_copy(a, out[i].reason);
    }
    *total = w->hosts_total;
    pthread_mutex_unlock(&w->hosts_lock);
    return n;
}
