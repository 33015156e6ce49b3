/* resume.c - what makes a crawl survive a kill: checkpoints and the replay of journals.
 *
 * A checkpoint of generation G holds everything up to some instant; journals G-0, G-1, ... hold what each shard
 * finished after it. Loading is: the checkpoint's hosts and seen keys, then for each journal record its new links
 * (queued unless some journal says they are done), its host state, and the page itself into the store once more. Order
 * between journals does not matter. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/pack.h"
#include "crawl/engine.h"
#include "io/clock.h"
#include "store/file.h"

#define META_VERSION 1
#define CHECKPOINT_BUFFER (1u << 20)
#define AWAY_RECORD_BYTES (1u << 16)
#define BLANK_BYTES 24 /* the header of a journal */

static void path_of(const struct crawl *cr, const char *name, struct buf *out)
{
    buf_clear(out);
    buf_printf(out, "%s/%s", cr->o.data_dir, name);
    (void)buf_cstr(out);
}

static void journal_name(uint64_t generation, unsigned shard, struct buf *out)
{
    buf_printf(out, "journal-%08llu-%02u", (unsigned long long)generation, shard);
}

static bool parse_journal_name(const char *name, uint64_t *generation)
{
    unsigned long long g;
    unsigned shard;
    int end = 0;
    if (sscanf(name, "journal-%8llu-%2u%n", &g, &shard, &end) != 2 || name[end] != '\0')
        return false;
    *generation = g;
    return true;
}

typedef status journal_fn(struct crawl *cr, const char *path, uint64_t generation, void *arg);

static status each_journal(struct crawl *cr, journal_fn *fn, void *arg)
{
    DIR *d = opendir(cr->o.data_dir);
    if (!d)
        return ST_IO;
    struct buf path = {0};
    status st = ST_OK;
    for (struct dirent *e; st == ST_OK && (e = readdir(d));) {
        uint64_t generation;
        if (!parse_journal_name(e->d_name, &generation))
            continue;
        path_of(cr, e->d_name, &path);
        st = fn(cr, path.p, generation, arg);
    }
    buf_done(&path);
    closedir(d);
    return st;
}

/* ---- loading ---- */

struct replay {
    struct crawl *cr;
    uint64_t from;     /* generation of the checkpoint: older journals concern only the store */
    uint64_t newest;   /* generation seen so far */
    struct table done; /* keys of the pages that the journals finish */
    bool is_first_pass;
    bool concerns_frontier;
    uint64_t records; /* of pages */
    bool has_others;  /* hosts, sitemaps found, scopes widened */
    struct arena arena;
};

static struct shard *shard_of(struct crawl *cr, struct span host)
{
    return &cr->shards[route_host(cr->route, host)];
}

static status keep_run(void *arg, struct frontier_run run)
{
    struct crawl *cr = arg;
    struct run_ref ref = run_ref_of(run);
    return runs_keep(cr->runs, &ref);
}

static status load_host(struct crawl *cr, struct span packed)
{
    struct frontier_info info;
    status st = frontier_info_read(packed, &info);
    if (st != ST_OK)
        return st;
    struct shard *s = shard_of(cr, info.name);
    frontier_info_done(&info);
    st = frontier_packed_runs(packed, keep_run, cr); /* first: runs may be looked into */
    return st == ST_OK ? frontier_put_host(s->frontier, clock_mono(), clock_wall(), packed, NULL) : st;
}

static status load_meta(struct crawl *cr, struct span payload)
{
    struct unpack u = unpack_of(payload);
    if (unpack_u8(&u) != META_VERSION)
        return u.bad ? ST_CORRUPT : ST_NEWER;
    uint64_t next_fetch = unpack_u64(&u);
    cr->was_complete = unpack_u8(&u);
    cr->pass = (int)unpack_var(&u);
    if (u.bad)
        return ST_CORRUPT;
    atomic_store(&cr->next_fetch, next_fetch);
    return ST_OK;
}

static status load_channel(struct crawl *cr, struct span packed)
{
    struct channel *c;
    status st = channel_unpack(packed, &c);
    if (st != ST_OK)
        return st;
    (void)lane_put(cr, c);
    return ST_OK;
}

static status load_away(struct crawl *cr, struct span payload)
{
    struct unpack u = unpack_of(payload);
    while (!u.bad && !unpack_at_end(&u)) {
        uint64_t key = unpack_u64(&u);
        if (!u.bad)
            crawl_note_away(cr, key);
    }
    return u.bad ? ST_CORRUPT : ST_OK;
}

static status load_record(void *arg, uint8_t type, struct span payload)
{
    struct crawl *cr = arg;
    switch (type) {
    case REC_META:
        return load_meta(cr, payload);
    case REC_CHANNEL:
        return load_channel(cr, payload);
    case REC_SEEN:
        return seen_load(cr->seen, payload);
    case REC_AWAY:
        return load_away(cr, payload);
    case REC_HOST:
        return load_host(cr, payload);
    default:
        return ST_CORRUPT;
    }
}

/* A URL that was found after the checkpoint: queued unless it is known, or done. */
static status replay_url(struct replay *r, struct span url, struct frontier_url f)
{
    bool is_new;
    struct url u;
    status st = crawl_note_urls(r->cr, &f.key, 1, &is_new);
    if (st != ST_OK || !is_new || table_get(&r->done, f.key) || url_parse(&r->arena, url, NULL, &u) != ST_OK)
        return st;
    f.url = &u;
    frontier_add(shard_of(r->cr, u.host)->frontier, clock_mono(), &f);
    return ST_OK;
}

static status replay_links(struct replay *r, const struct summary *sum)
{
    for (size_t i = 0; i < sum->link_count; i++) {
        const struct summary_link *l = &sum->links[i];
        if (!(l->flags & SUMMARY_LINK_NEW))
            continue;
        struct frontier_url f = {.key = l->key,
                                 .channel = sum->channel,
                                 .depth = l->depth,
                                 .hops = l->hops,
                                 .is_urgent = l->hops > 0 && l->kind == LINK_REFRESH};
        status st = replay_url(r, l->url, f);
        if (st != ST_OK)
            return st;
    }
    return ST_OK;
}

/* A sitemap that robots.txt named: lists.c. */
static status replay_found(struct replay *r, struct span payload)
{
    struct unpack u = unpack_of(payload);
    struct frontier_url f = {.channel = unpack_u64(&u)};
    f.depth = (unsigned)unpack_var(&u);
    struct span url = unpack_text(&u, URL_INPUT_MAX);
    if (u.bad)
        return ST_CORRUPT;
    arena_reset(&r->arena);
    f.key = siphash(&r->cr->key, url);
    return replay_url(r, url, f);
}

static status replay_summary(struct replay *r, struct span packed)
{
    struct crawl *cr = r->cr;
    struct summary sum;
    struct visit_effect effect;
    arena_reset(&r->arena);
    status st = summary_unpack(&r->arena, packed, &sum);
    if (st != ST_OK)
        return st;
    uint64_t key = siphash(&cr->key, sum.url);
    if (r->is_first_pass) {
        if (r->concerns_frontier)
            table_put(&r->done, key, r);
        if (sum.fetch_number >= atomic_load(&cr->next_fetch))
            atomic_store(&cr->next_fetch, sum.fetch_number + 1);
        r->records++;
        return ST_OK;
    }
    if (r->concerns_frontier) {
        struct url u;
        bool is_new; /* it may have been told after the checkpoint; if it is told again it is known */
        if (url_parse(&r->arena, sum.url, NULL, &u) == ST_OK)
            frontier_skip(shard_of(cr, u.host)->frontier, key);
        st = crawl_note_urls(cr, &key, 1, &is_new);
        if (st == ST_OK)
            st = replay_links(r, &sum);
    }
    if (st == ST_OK)
        st = cr->sink.visit(cr->sink.self, packed, &effect);
    return st;
}

static status replay_widen(struct crawl *cr, struct span payload)
{
    struct unpack u = unpack_of(payload);
    uint64_t id = unpack_u64(&u);
    struct span href = unpack_text(&u, URL_INPUT_MAX);
    struct arena a;
    struct url url;
    arena_init(&a);
    status st = u.bad ? ST_CORRUPT : url_parse(&a, href, NULL, &url);
    const struct lane *l = crawl_lane(cr, id);
    if (st == ST_OK && l)
        channel_widen(l->channel, &url);
    arena_done(&a);
    return st;
}

static status replay_record(void *arg, uint8_t type, struct span payload)
{
    struct replay *r = arg;
    if (type == REC_SUMMARY)
        return replay_summary(r, payload);
    if (type == REC_CHANNEL) /* before everything of it, whichever journal that is in */
        return r->is_first_pass && r->concerns_frontier ? load_channel(r->cr, payload) : ST_OK;
    r->has_others |= r->concerns_frontier;
    if (r->is_first_pass || !r->concerns_frontier)
        return ST_OK;
    if (type == REC_WIDEN)
        return replay_widen(r->cr, payload);
    if (type == REC_FOUND)
        return replay_found(r, payload);
    if (type != REC_HOST)
        return ST_CORRUPT;
    struct frontier_info info;
    status st = frontier_info_read(payload, &info);
    if (st != ST_OK)
        return st;
    struct shard *s = shard_of(r->cr, info.name);
    frontier_info_done(&info);
    return frontier_set_state(s->frontier, clock_mono(), clock_wall(), payload);
}

/* A power cut may leave a journal that was just begun with its length and nothing in it. */
static bool is_blank(const char *path)
{
    struct mapped *m = NULL;
    if (mapped_open(path, &m) != ST_OK)
        return false;
    struct span all = mapped_span(m);
    size_t i = 0;
    while (i < all.n && i < BLANK_BYTES && all.p[i] == 0)
        i++;
    bool is = i == all.n || i == BLANK_BYTES;
    mapped_free(m);
    return is;
}

static status replay_journal(struct crawl *cr, const char *path, uint64_t generation, void *arg)
{
    struct replay *r = arg;
    struct records_info info = {0};
    r->concerns_frontier = generation >= r->from;
    if (generation > r->newest)
        r->newest = generation;
    status st = records_read(path, KIND_JOURNAL, replay_record, r, &info);
    if (st == ST_CORRUPT && is_blank(path))
        return ST_OK;
    if (st == ST_OK && info.was_torn && !r->is_first_pass)
        log_write(cr->o.log, LOG_WARN, "journal", "the last record was cut short; its page is fetched again bytes=%llu",
                  (unsigned long long)(info.file_bytes - info.good_bytes));
    return st;
}

static status replay_all(struct crawl *cr, struct replay *r)
{
    bool is_done;
    r->is_first_pass = true;
    status st = each_journal(cr, replay_journal, r);
    if (st != ST_OK || (r->records == 0 && !r->has_others))
        return st;
    r->is_first_pass = false;
    st = each_journal(cr, replay_journal, r);
    if (st == ST_OK)
        st = cr->sink.commit(cr->sink.self, true, &is_done);
    else
        cr->sink.rollback(cr->sink.self);
    for (unsigned i = 0; st == ST_OK && i < cr->shard_count; i++)
        frontier_purge(cr->shards[i].frontier);
    if (r->records && st == ST_OK) {
        cr->was_complete = false;
        log_write(cr->o.log, LOG_INFO, "crawl", "replayed the journal of an interrupted run pages=%llu",
                  (unsigned long long)r->records);
    }
    return st;
}

/* A checkpoint may be lost, or older than what a coordinator did in the folder: visits never get lower numbers than
 * those that the store has, which would take them for repetitions. */
static status number_on(struct crawl *cr)
{
    uint64_t last;
    status st = store_last_fetch(cr->store, &last);
    if (st == ST_OK && last >= atomic_load(&cr->next_fetch))
        atomic_store(&cr->next_fetch, last + 1);
    return st;
}

/* Checkpoints that a kill left unfinished. */
static void remove_unfinished(struct crawl *cr)
{
    DIR *d = opendir(cr->o.data_dir);
    for (struct dirent *e; d && (e = readdir(d));) {
        struct span name = span_str(e->d_name);
        if (span_starts(name, SPAN("checkpoint-")) && span_ends(name, SPAN(".new")))
            (void)unlinkat(dirfd(d), e->d_name, 0);
    }
    if (d)
        closedir(d);
}

status resume_load(struct crawl *cr, struct buf *why)
{
    struct replay r = {.cr = cr};
    struct records_info info = {0};
    struct buf path = {0};
    arena_init(&r.arena);
    remove_unfinished(cr);
    path_of(cr, "checkpoint", &path);
    status st = records_read(path.p, KIND_CHECKPOINT, load_record, cr, &info);
    if (st == ST_OK && info.was_torn)
        st = ST_CORRUPT; /* a checkpoint is renamed into place whole, so this is damage, not a kill */
    if (st == ST_NOT_FOUND)
        st = ST_OK;
    r.from = r.newest = info.generation;
    if (st == ST_OK) {
        seen_settle(cr->seen);
        runs_settle(cr->runs);
        st = replay_all(cr, &r);
    }
    if (st == ST_OK)
        st = number_on(cr);
    for (unsigned i = 0; i < cr->shard_count; i++)
        frontier_rest(cr->shards[i].frontier, clock_mono());
    cr->generation = r.newest;
    if (st != ST_OK)
        buf_printf(why, "%s: %s", "its checkpoint or journal cannot be read", status_name(st));
    table_done(&r.done);
    arena_done(&r.arena);
    buf_done(&path);
    return st;
}

/* ---- writing ---- */

struct host_out {
    struct crawl *cr;
    struct records_writer *w;
};

static status save_host(void *arg, struct span host, struct span packed)
{
    struct host_out *o = arg;
    return records_append(o->w, REC_HOST, packed);
}

static status save_meta(struct crawl *cr, struct records_writer *w)
{
    struct buf b = {0};
    pack_u8(&b, META_VERSION);
    pack_u64(&b, atomic_load(&cr->next_fetch));
    pack_u8(&b, cr->was_complete);
    pack_var(&b, (uint64_t)cr->pass);
    status st = records_append(w, REC_META, buf_span(&b));
    for (size_t i = 0; st == ST_OK && i < cr->lane_count; i++) {
        buf_clear(&b);
        channel_pack(lane_channel(cr, cr->lanes[i]), &b);
        st = records_append(w, REC_CHANNEL, buf_span(&b));
    }
    buf_done(&b);
    return st;
}

static status save_away(struct crawl *cr, struct records_writer *w)
{
    struct buf b = {0};
    status st = ST_OK;
    for (size_t i = 0; st == ST_OK && i < cr->away.cap; i++) {
        if (cr->away.slots[i].value)
            pack_u64(&b, cr->away.slots[i].key);
        if (b.n < AWAY_RECORD_BYTES && i + 1 < cr->away.cap)
            continue;
        if (b.n)
            st = records_append(w, REC_AWAY, buf_span(&b));
        buf_clear(&b);
    }
    buf_done(&b);
    return st;
}

static status new_journals(struct crawl *cr, uint64_t generation)
{
    struct buf path = {0}, name = {0};
    struct records_writer *fresh[CRAWL_SHARDS_MAX];
    unsigned made = 0;
    status st = ST_OK;
    for (; st == ST_OK && made < cr->shard_count; made += st == ST_OK) {
        buf_clear(&name);
        journal_name(generation, made, &name);
        path_of(cr, buf_cstr(&name), &path);
        st = records_create(path.p, KIND_JOURNAL, generation, 0, &fresh[made]);
    }
    if (st == ST_OK) {
        pthread_mutex_lock(&cr->journal_lock);
        for (unsigned i = 0; i < cr->shard_count; i++) {
            records_close(cr->shards[i].journal);
            cr->shards[i].journal = fresh[i];
            atomic_store(&cr->shards[i].journal_bytes, 0);
        }
        pthread_mutex_unlock(&cr->journal_lock);
    } else {
        for (unsigned i = 0; i < made; i++)
            records_close(fresh[i]);
    }
    buf_done(&path);
    buf_done(&name);
    return st;
}

status resume_checkpoint(struct crawl *cr)
{
    struct buf name = {0}, tmp = {0}, final = {0};
    struct records_writer *w = NULL;
    uint64_t generation = cr->generation + 1;
    /* A name of its own: the writer may still be at the one before. */
    buf_printf(&name, "checkpoint-%08llu.new", (unsigned long long)generation);
    path_of(cr, buf_cstr(&name), &tmp);
    path_of(cr, "checkpoint", &final);
    status st = records_create(tmp.p, KIND_CHECKPOINT, generation, CHECKPOINT_BUFFER, &w);
    if (st == ST_OK)
        st = save_meta(cr, w);
    if (st == ST_OK)
        st = seen_save(cr->seen, w, REC_SEEN);
    if (st == ST_OK)
        st = save_away(cr, w);
    struct host_out out = {cr, w};
    for (unsigned i = 0; st == ST_OK && i < cr->shard_count; i++)
        st = frontier_each_host(cr->shards[i].frontier, shard_now(&cr->shards[i]), clock_wall(), true, save_host, &out);
    if (st == ST_OK)
        st = records_flush(w);
    if (st == ST_OK)
        st = runs_sync(cr->runs);
    if (st == ST_OK)
        st = new_journals(cr, generation);
    if (st == ST_OK) {
        cr->generation = generation;
        for (unsigned i = 0; i < cr->shard_count; i++)
            writer_put(cr->writer, &cr->shards[i].batch);
        writer_put_checkpoint(cr->writer, w, generation, tmp.p, final.p);
    } else {
        int err = errno; /* what went wrong, for the message */
        records_close(w);
        (void)unlink(tmp.p);
        errno = err;
    }
    buf_done(&name);
    buf_done(&tmp);
    buf_done(&final);
    return st;
}

static status remove_old(struct crawl *cr, const char *path, uint64_t generation, void *arg)
{
    const uint64_t *keep = arg;
    if (generation < *keep)
        (void)unlink(path); /* one that stays is replayed again, which is harmless */
    return ST_OK;
}

void resume_settled(struct crawl *cr, uint64_t generation)
{
    seen_settle(cr->seen);
    runs_settle(cr->runs);
    if (each_journal(cr, remove_old, &generation) != ST_OK)
        log_write(cr->o.log, LOG_WARN, "crawl", "could not list the data folder to remove old journals");
}

/* ---- looking at it ---- */

struct looking {
    const char *dir;
    bool repair;
    struct seen *seen;
    struct runs *runs;
    struct buf run; /* scratch */
    struct buf *problems;
};

static status look_at_run(void *arg, struct frontier_run run)
{
    struct looking *l = arg;
    struct run_ref ref = run_ref_of(run);
    buf_clear(&l->run);
    return runs_get(l->runs, &ref, &l->run);
}

/* Checksums are right when this is called; the files of known URLs and of those that wait are beside it. */
static status look_at_record(void *arg, uint8_t type, struct span payload)
{
    struct looking *l = arg;
    if (type == REC_HOST)
        return frontier_packed_runs(payload, look_at_run, l);
    return type == REC_SEEN ? seen_load(l->seen, payload) : ST_OK;
}

static status pass_over(void *arg, uint8_t type, struct span payload)
{
    return ST_OK;
}

static status give_up(struct looking *l, const char *name, const char *path, const char *lost)
{
    buf_printf(l->problems, "%s is damaged: %s%s\n", name,
               l->repair ? "" : "restore a backup, or orb check --repair gives it up: ", lost);
    return !l->repair || unlink(path) == 0 ? ST_OK : ST_IO;
}

static status look_at_checkpoint(struct looking *l)
{
    struct buf path = {0};
    struct records_info info = {0};
    buf_printf(&path, "%s/seen", l->dir);
    status st = seen_open(buf_cstr(&path), NULL, &l->seen);
    buf_clear(&path);
    buf_printf(&path, "%s/frontier", l->dir);
    if (st == ST_OK)
        st = runs_open(buf_cstr(&path), &l->runs);
    buf_clear(&path);
    buf_printf(&path, "%s/checkpoint", l->dir);
    if (st == ST_OK)
        st = records_read(buf_cstr(&path), KIND_CHECKPOINT, look_at_record, l, &info);
    if (st == ST_CORRUPT || (st == ST_OK && info.was_torn))
        st = give_up(l, "checkpoint or frontier/", path.p,
                     "the next crawl finds what waited again, from its start pages on");
    seen_free(l->seen);
    runs_free(l->runs);
    buf_done(&l->run);
    buf_done(&path);
    return st == ST_NOT_FOUND ? ST_OK : st;
}

static status look_at_journal(struct looking *l, const char *name)
{
    struct buf path = {0};
    buf_printf(&path, "%s/%s", l->dir, name);
    status st = records_read(buf_cstr(&path), KIND_JOURNAL, pass_over, l, NULL);
    if (st == ST_CORRUPT)
        st = is_blank(path.p) ? ST_OK : give_up(l, name, path.p, "the next crawl fetches its pages again");
    buf_done(&path);
    return st;
}

status crawl_check_state(const char *data_dir, bool repair, struct buf *problems)
{
    struct looking l = {.dir = data_dir, .repair = repair, .problems = problems};
    uint64_t generation;
    struct buf path = {0};
    struct stat sb;
    buf_printf(&path, "%s/checkpoint", data_dir);
    status st = stat(buf_cstr(&path), &sb) == 0 ? look_at_checkpoint(&l) : ST_OK;
    buf_done(&path);
    DIR *d = opendir(data_dir);
    for (struct dirent *e; st == ST_OK && d && (e = readdir(d));)
        if (parse_journal_name(e->d_name, &generation))
            st = look_at_journal(&l, e->d_name);
    if (d)
        closedir(d);
    return st;
}
