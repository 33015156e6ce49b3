#include "coord/forgetting.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "apply/opt_out.h"
#include "apply/retain.h"
#include "base/mem.h"
#include "base/pack.h"
#include "coord/agents.h"
#include "coord/ingest.h"
#include "io/clock.h"
#include "store/file.h"
#include "store/warc_purge.h"

#define LOOK_MS 5000
#define DAY_MS (24ll * 3600 * 1000)
#define PRUNED_SETTING "pruned_at"
#define LINKS_MAX (64u << 20)

/* What somebody asked for. Whoever is last frees it. */
struct job {
    struct job *next;
    struct buf places, why;
    bool is_undo, is_left; /* left: nobody waits any more */
    bool is_over;
    struct forgetting_answer answer;
};

struct forgetting {
    struct forgetting_opts o;
    pthread_mutex_t lock; /* jobs and what is in them */
    pthread_cond_t changed;
    struct job *jobs;
    bool is_stopping;
    /* the thread's own */
    mono_ms looked;
    uint64_t list_seen; /* what the file of the opt-out list looked like; 0: not read */
    bool has_new;       /* the list named something new when we started, or a kill came before: links and WARC records
                         * may be there */
    bool is_untold;     /* an order to agents could not be written down */
    wall_ms pruned;
};

/* ---- what holds ---- */

bool forgetting_has(const struct coord *c, const struct url *u)
{
    return places_find(c->forgotten, u) != NULL;
}

void forgetting_share(struct coord *c)
{
    size_t at = 0;
    for (struct c_channel *ch; (ch = table_next(&c->channels, &at));)
        channel_refuse(ch->channel, c->forgotten);
}

static status note_place(void *arg, const struct forgotten *f)
{
    struct coord *c = arg;
    buf_put(&c->forgotten_list, f->place);
    buf_putc(&c->forgotten_list, '\n');
    return places_add(c->forgotten, f->place, NULL);
}

/* From the store into memory. `added`, when given: what was not there before, a place a line; *only_grew: nothing that
 * was there is gone. Lock held. */
static status load(struct forgetting *f, struct buf *added, bool *only_grew)
{
    struct coord *c = f->o.c;
    struct places *before = c->forgotten;
    struct buf list = c->forgotten_list;
    size_t kept = 0;
    c->forgotten = places_new(&c->key);
    c->forgotten_list = (struct buf){0};
    status st = store_forgotten_each(f->o.store, note_place, c);
    if (st != ST_OK && before) { /* what held still holds */
        places_free(c->forgotten);
        buf_done(&c->forgotten_list);
        c->forgotten = before;
        c->forgotten_list = list;
        return st;
    }
    forgetting_share(c);
    struct span rest = buf_span(&c->forgotten_list), place;
    while (added && rest.n && span_split(&rest, '\n', &place)) {
        if (!place.n)
            continue;
        bool is_old = before && places_have(before, place);
        kept += is_old;
        if (!is_old) {
            buf_put(added, place);
            buf_putc(added, '\n');
        }
    }
    if (only_grew)
        *only_grew = kept == places_count(before);
    places_free(before);
    buf_done(&list);
    return st;
}

/* As many whole lines as fit into an order. */
static struct span piece_of(struct span *rest)
{
    size_t n = rest->n < REFUSE_PIECE_MAX ? rest->n : REFUSE_PIECE_MAX;
    while (n < rest->n && n && rest->p[n - 1] != '\n')
        n--;
    struct span piece = span_cut(*rest, 0, n);
    *rest = span_from(*rest, n);
    return piece;
}

/* is_first: in place of what it was told before. */
static void tell(struct coord *c, struct c_agent *a, struct span rest, bool is_first)
{
    struct buf body = {0};
    do {
        struct refuse_order o = {.is_first = is_first, .places = piece_of(&rest)};
        buf_clear(&body);
        refuse_order_pack(&o, &body);
        agent_order(c, a, ORDER_REFUSE, buf_span(&body));
        is_first = false;
    } while (rest.n);
    buf_done(&body);
}

void forgetting_greet(struct coord *c, struct c_agent *a)
{
    tell(c, a, buf_span(&c->forgotten_list), true);
}

/* It holds here, and agents are told: of what is new, unless something is taken back, or nobody knows what they were
 * told (tells_all). A long list would be a long order for each of them, and one more each time for one that is away. */
static status take_up(struct forgetting *f, bool tells_all)
{
    struct coord *c = f->o.c;
    struct buf added = {0};
    bool only_grew = false;
    pthread_mutex_lock(&c->lock);
    status st = load(f, &added, &only_grew);
    unsigned long long troubles = atomic_load(&c->troubles);
    tells_all |= !only_grew || f->is_untold;
    for (size_t i = 0; st == ST_OK && i < c->agent_count; i++) {
        struct c_agent *a = c->agents[i];
        if (!a || !a->name[0])
            continue;
        if (tells_all)
            forgetting_greet(c, a);
        else if (added.n)
            tell(c, a, buf_span(&added), false);
    }
    if (st == ST_OK)
        f->is_untold = atomic_load(&c->troubles) != troubles;
    pthread_mutex_unlock(&c->lock);
    buf_done(&added);
    return st;
}

/* ---- what is there ---- */

static bool has_url(void *arg, struct span url)
{
    return places_have_address(arg, url);
}

/* The files are ours alone while nobody has them open. */
static status with_archive(struct forgetting *f, status (*fn)(struct forgetting *f, const char *dir, void *arg),
                           void *arg)
{
    struct coord *c = f->o.c;
    struct buf dir = {0}, why = {0};
    struct stat sb;
    buf_printf(&dir, "%s/warc", c->data_dir);
    if (stat(buf_cstr(&dir), &sb) != 0) {
        buf_done(&dir);
        return ST_OK;
    }
    warc_store_free(*f->o.archive);
    *f->o.archive = NULL;
    status st = fn(f, dir.p, arg);
    status opened =
        warc_store_new(&(struct warc_store_opts){.data_dir = c->data_dir, .version = c->o.version}, f->o.archive, &why);
    buf_done(&dir);
    buf_done(&why);
    return st == ST_OK ? opened : st;
}

static status purge_archive(struct forgetting *f, const char *dir, void *arg)
{
    struct warc_purged r;
    status st = warc_purge(dir, false, has_url, f->o.c->forgotten, &r, NULL);
    *(uint64_t *)arg = r.records;
    buf_done(&r.names);
    return st;
}

static status filter_links(const struct places *places, const char *path)
{
    struct buf text = {0}, kept = {0};
    struct span line;
    status st = file_read(path, LINKS_MAX, &text);
    struct span rest = buf_span(&text);
    while (st == ST_OK && rest.n && span_split(&rest, '\n', &line))
        if (line.n && !places_have_address(places, line)) {
            buf_put(&kept, line);
            buf_putc(&kept, '\n');
        }
    if (st == ST_OK && kept.n < text.n)
        st = file_replace(path, buf_span(&kept));
    buf_done(&text);
    buf_done(&kept);
    return st;
}

status forgetting_purge_links(const char *data_dir, const struct places *places)
{
    struct buf path = {0};
    status st = ST_OK;
    buf_printf(&path, "%s/links", data_dir);
    DIR *d = opendir(buf_cstr(&path));
    for (struct dirent *e; st == ST_OK && d && (e = readdir(d));) {
        if (strlen(e->d_name) != 16)
            continue;
        buf_clear(&path);
        buf_printf(&path, "%s/links/%s", data_dir, e->d_name);
        st = filter_links(places, buf_cstr(&path));
    }
    if (d)
        closedir(d);
    buf_done(&path);
    return st;
}

/* Links into channels are appended with the lock held, and so is this. */
static status purge_links(struct forgetting *f)
{
    struct coord *c = f->o.c;
    pthread_mutex_lock(&c->lock);
    status st = forgetting_purge_links(c->data_dir, c->forgotten);
    pthread_mutex_unlock(&c->lock);
    return st;
}

static void filter_seeds(const struct coord *c, struct buf *seeds, size_t *count)
{
    struct buf kept = {0};
    if (forgetting_filter_lines(c->forgotten, buf_span(seeds), &kept, count)) {
        buf_done(seeds);
        *seeds = kept;
    } else
        buf_done(&kept);
}

/* What waits for agents, here and on the disk. */
static status purge_waiting(struct forgetting *f)
{
    struct coord *c = f->o.c;
    size_t at = 0, count;
    pthread_mutex_lock(&c->lock);
    for (size_t i = 0; i < c->task_count; i++)
        if (c->tasks[i])
            filter_seeds(c, &c->tasks[i]->seeds, &c->tasks[i]->seed_count);
    for (struct c_host *h; (h = table_next(&c->hosts, &at));)
        filter_seeds(c, &h->seeds, &count);
    status st = forgetting_purge_fleet(c->fleet, c->forgotten);
    pthread_mutex_unlock(&c->lock);
    return st;
}

static status take_out(struct forgetting *f, struct forgetting_answer *out)
{
    struct apply_erased gone = {0};
    status st = apply_forget(*f->o.apply, &gone);
    out->pages = gone.pages;
    out->texts = gone.texts;
    if (st == ST_OK)
        st = purge_links(f);
    if (st == ST_OK)
        st = purge_waiting(f);
    if (st == ST_OK)
        st = with_archive(f, purge_archive, &out->warc_records);
    return st == ST_OK ? store_setting_remove(f->o.store, APPLY_FORGET_FILES_SETTING) : st;
}

/* ---- jobs ---- */

static status remember(struct forgetting *f, const struct job *j)
{
    struct store *s = f->o.store;
    struct span rest = buf_span(&j->places), place;
    status st = store_begin(s);
    while (st == ST_OK && rest.n && span_split(&rest, '\n', &place)) {
        if (!place.n)
            continue;
        st = j->is_undo ? store_forgotten_remove(s, place)
                        : opt_out_forget_anyway(s, &(struct forgotten){place, clock_wall(), buf_span(&j->why)});
    }
    if (st == ST_OK && !j->is_undo)
        st = apply_forget_soon(s);
    if (st == ST_OK)
        st = store_commit(s);
    if (st != ST_OK)
        store_rollback(s);
    return st == ST_OK ? store_sync(s) : st;
}

static void job_free(struct job *j)
{
    buf_done(&j->places);
    buf_done(&j->why);
    free(j);
}

static struct job *next_job(struct forgetting *f)
{
    pthread_mutex_lock(&f->lock);
    struct job *j = f->jobs;
    if (j)
        f->jobs = j->next;
    pthread_mutex_unlock(&f->lock);
    return j;
}

static void work_off(struct forgetting *f, struct job *j)
{
    struct forgetting_answer a = {.st = remember(f, j)};
    if (a.st == ST_OK)
        a.st = take_up(f, false);
    a.is_remembered = a.st == ST_OK;
    if (a.st == ST_OK && !j->is_undo)
        a.st = take_out(f, &a);
    a.is_done = a.st == ST_OK;
    if (a.st != ST_OK && a.st != ST_NOT_FOUND)
        note_trouble(f->o.c, a.st, "forget");
    pthread_mutex_lock(&f->lock);
    j->answer = a;
    j->is_over = true;
    bool is_left = j->is_left;
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->lock);
    if (is_left)
        job_free(j);
}

void forgetting_ask(struct forgetting *f, struct span places, struct span why, bool is_undo,
                    struct forgetting_answer *out)
{
    struct job *j = mem_alloc(sizeof(*j)), **end = &f->jobs;
    struct timespec until = clock_in(FORGETTING_WAIT_MS);
    j->is_undo = is_undo;
    buf_put(&j->places, places);
    buf_put(&j->why, why);
    pthread_mutex_lock(&f->lock);
    while (*end)
        end = &(*end)->next;
    *end = j;
    pthread_mutex_unlock(&f->lock);
    ingest_wake(f->o.c->ingest);
    pthread_mutex_lock(&f->lock);
    int rc = 0;
    while (!j->is_over && rc == 0 && !f->is_stopping)
        rc = pthread_cond_timedwait(&f->changed, &f->lock, &until);
    *out = j->answer;
    bool is_over = j->is_over;
    j->is_left = true;
    pthread_mutex_unlock(&f->lock);
    if (is_over)
        job_free(j);
}

/* ---- the opt-out list ---- */

static uint64_t look_of(const char *path)
{
    struct stat sb;
    if (stat(path, &sb) != 0)
        return 0;
    uint64_t n = (uint64_t)sb.st_mtim.tv_sec * 1000000007u + (uint64_t)sb.st_mtim.tv_nsec;
    n = n * 31 + (uint64_t)sb.st_size;
    n = n * 31 + (uint64_t)sb.st_ino;
    return n ? n : 1;
}

static status read_opt_out(struct forgetting *f, struct opt_out_change *change, struct buf *why)
{
    struct buf list = {0};
    status st = file_read(f->o.c->o.opt_out_file, PLACES_LIST_MAX, &list);
    if (st == ST_OK)
        st = opt_out_apply(f->o.store, buf_span(&list), clock_wall(), change, why);
    else
        buf_puts(why, st == ST_IO ? strerror(errno) : status_name(st));
    buf_done(&list);
    return st;
}

static void look_at_opt_out(struct forgetting *f)
{
    struct coord *c = f->o.c;
    struct opt_out_change change = {0};
    struct buf why = {0};
    uint64_t look = c->o.opt_out_file ? look_of(c->o.opt_out_file) : 0;
    if (!look || look == f->list_seen)
        return;
    f->list_seen = look;
    status st = read_opt_out(f, &change, &why);
    if (st == ST_OK && (change.added || change.removed)) {
        struct forgetting_answer a = {0};
        st = take_up(f, false);
        if (st == ST_OK && change.added)
            st = take_out(f, &a);
        if (st == ST_OK)
            log_write(c->o.log, LOG_INFO, "care", "the opt-out list was read added=%zu removed=%zu pages=%llu",
                      change.added, change.removed, (unsigned long long)a.pages);
    }
    if (st != ST_OK)
        log_write(c->o.log, LOG_ERROR, "care", "the opt-out list cannot be used why=\"%s\"",
                  why.n ? buf_cstr(&why) : status_name(st));
    buf_done(&why);
}

/* ---- once a day ---- */

static bool is_over(void *arg, const struct page *p)
{
    return retain_is_over(arg, p);
}

static status expire_archive(struct forgetting *f, const char *dir, void *arg)
{
    const struct coord_retention *k = &f->o.c->o.retention;
    struct warc_purged r;
    wall_ms before = k->warc_days ? clock_wall() - k->warc_days * DAY_MS : 0;
    status st = warc_expire(dir, false, k->warc_bytes, before, &r);
    *(uint64_t *)arg = r.bytes;
    buf_done(&r.names);
    return st;
}

static status prune(struct forgetting *f, struct apply_erased *gone, struct apply_pruned *won, uint64_t *warc_bytes)
{
    const struct coord_retention *k = &f->o.c->o.retention;
    struct retain r = {.gone_days = k->gone_days, .days = k->days, .now = clock_wall()};
    status st = apply_erase(*f->o.apply, is_over, &r, gone);
    if (st == ST_OK)
        st = apply_prune(*f->o.apply, won);
    if (st == ST_OK && (k->warc_bytes || k->warc_days))
        st = with_archive(f, expire_archive, warc_bytes);
    return st;
}

static void prune_daily(struct forgetting *f)
{
    struct coord *c = f->o.c;
    struct apply_erased gone = {0};
    struct apply_pruned won = {0};
    struct buf mark = {0};
    uint64_t warc_bytes = 0;
    wall_ms now = clock_wall();
    if (now - f->pruned < DAY_MS)
        return;
    f->pruned = now;
    pack_u64(&mark, (uint64_t)now);
    status st = store_setting_put(f->o.store, PRUNED_SETTING, buf_span(&mark));
    if (st == ST_OK)
        st = prune(f, &gone, &won, &warc_bytes);
    if (st == ST_OK)
        log_write(c->o.log, LOG_INFO, "care", "pruned pages=%llu texts_bytes=%llu index_bytes=%llu warc_bytes=%llu",
                  (unsigned long long)gone.pages, (unsigned long long)won.contents_bytes,
                  (unsigned long long)won.index_bytes, (unsigned long long)warc_bytes);
    else
        note_trouble(c, st, "prune");
    buf_done(&mark);
}

/* A folder that is new today is not pruned today. */
static status load_pruned(struct forgetting *f)
{
    struct buf mark = {0};
    status st = store_setting_get(f->o.store, PRUNED_SETTING, &mark);
    struct unpack u = unpack_of(buf_span(&mark));
    f->pruned = st == ST_OK ? (wall_ms)unpack_u64(&u) : clock_wall();
    if (st == ST_NOT_FOUND) {
        pack_u64(&mark, (uint64_t)f->pruned);
        st = store_setting_put(f->o.store, PRUNED_SETTING, buf_span(&mark));
    }
    buf_done(&mark);
    return st;
}

/* ---- life ---- */

status forgetting_new(const struct forgetting_opts *o, struct forgetting **out, struct buf *why)
{
    struct forgetting *f = mem_alloc(sizeof(*f));
    pthread_condattr_t attr;
    f->o = *o;
    pthread_mutex_init(&f->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&f->changed, &attr);
    pthread_condattr_destroy(&attr);
    struct buf pending = {0};
    status st = load(f, NULL, NULL);
    f->has_new = store_setting_get(o->store, APPLY_FORGET_FILES_SETTING, &pending) == ST_OK;
    buf_done(&pending);
    if (st == ST_OK)
        st = load_pruned(f);
    if (st == ST_OK && o->c->o.opt_out_file) {
        struct opt_out_change change = {0};
        f->list_seen = look_of(o->c->o.opt_out_file);
        st = read_opt_out(f, &change, why);
        f->has_new |= change.added > 0;
        if (st == ST_OK)
            st = load(f, NULL, NULL);
    }
    *out = f;
    return st;
}

void forgetting_stop(struct forgetting *f)
{
    pthread_mutex_lock(&f->lock);
    f->is_stopping = true;
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->lock);
}

void forgetting_free(struct forgetting *f)
{
    if (!f)
        return;
    for (struct job *j; (j = next_job(f));)
        job_free(j);
    pthread_cond_destroy(&f->changed);
    pthread_mutex_destroy(&f->lock);
    free(f);
}

void forgetting_tick(struct forgetting *f, mono_ms now)
{
    for (struct job *j; (j = next_job(f));)
        work_off(f, j);
    if (f->has_new) {
        struct forgetting_answer a = {0};
        f->has_new = false;
        status st = take_up(f, true); /* agents are told too */
        note_trouble(f->o.c, st == ST_OK ? take_out(f, &a) : st, "forget");
    }
    if (now - f->looked < LOOK_MS)
        return;
    f->looked = now;
    if (f->is_untold)
        note_trouble(f->o.c, take_up(f, true), "tell agents what is forgotten");
    look_at_opt_out(f);
    prune_daily(f);
}
