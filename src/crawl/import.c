/* import.c - answers that somebody else got, out of archives, as if the crawl had got them.
 *
 * No shard runs: the caller's thread does what a shard's would, with the first shard's structures. An answer passes
 * through visit.c and finish.c like any other, journal first; only its lease is none of the frontier's. Links that are
 * new wait in the queues for a later crawl. A page that waits there and comes in is taken out before the next
 * checkpoint: until then the journal says that it is done. */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "crawl/engine.h"
#include "io/clock.h"
#include "web/document.h"

#define PENDING_MAX 20000                     /* pages that the reading store may not have yet */
#define CHECKPOINT_JOURNAL_BYTES (256u << 20) /* as of a crawl that runs */
#define WAIT_MS 5
#define STALL_WAIT_MS 1000
#define DATES_DIFFER_MS 60000          /* of a visit: the end of the answer here, the request in an archive */
#define READINGS_MAX 4                 /* PDFs at once, if there are as many processors */
#define READINGS_BYTES_MAX (64u << 20) /* of PDFs that wait */

struct import {
    struct store *reader; /* owned: what the writer has committed */
    struct table pending; /* key -> standing, in standings: what it may not have committed */
    struct arena standings;
    struct arena arena;         /* of the URL at hand */
    struct loop *loop;          /* owned: of the next */
    struct reader *pdfs;        /* owned; NULL until there is one to read */
    struct read_page *readings; /* owned: PDFs that are read, or wait for it */
    unsigned reading_count;
};

/* What is known of a page. */
struct standing {
    wall_ms at;
    bool is_good;                  /* the last visit found it */
    bool has_copy;                 /* some visit did, and none since then found it gone or moved */
    bool is_left;                  /* a PDF that nobody has read yet */
    bool is_bare;                  /* its text is not in the folder: there was no index, or it was lost */
    wall_ms copy_from, copy_until; /* the first and the last visit that found this copy */
    bool is_from_late;             /* the store may know an earlier one */
};

static void wait_ms(int ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000l};
    nanosleep(&t, NULL);
}

/* ---- what is known ---- */

static status read_standing(void *arg, const struct page *p)
{
    struct standing *s = arg;
    visit_outcome o = (visit_outcome)p->outcome;
    *s = (struct standing){.at = p->at,
                           .is_good = o == VISIT_NEW || o == VISIT_CHANGED || o == VISIT_UNCHANGED,
                           .copy_from = p->changed_at,
                           .copy_until = p->good_at};
    s->has_copy = s->is_good || (p->good_at && (o == VISIT_ERROR || o == VISIT_REFUSED));
    s->is_bare = s->is_good && !p->content && p->digest && !(p->page_flags & PAGE_NOINDEX);
    s->is_left =
        s->is_good && !p->text_bytes && !p->reason.n && document_kind_of(p->content_type, p->url) == DOCUMENT_PDF;
    return ST_OK;
}

static status look_up(struct crawl *cr, uint64_t key, struct standing *out)
{
    const struct standing *pending = table_get(&cr->import->pending, key);
    if (!pending)
        return store_page_get(cr->import->reader, key, read_standing, out);
    *out = *pending;
    return ST_OK;
}

static bool is_good_status(unsigned http)
{
    return http >= 200 && http < 300;
}

/* The newest visit counts. Of two in the same moment the one that found the page does: archives have dates to the
 * second, and sites that answer a first request with a cookie and a redirect to themselves. What came in when
 * nothing could read it, or without its text, may come again. */
static bool is_older(const struct crawl *cr, const struct standing *s, wall_ms at, unsigned http)
{
    bool lacks = (s->is_left && cr->pdf_state == ST_OK) || (s->is_bare && cr->sink.has_contents);
    return at < s->at || (at == s->at && ((s->is_good && !lacks) || !is_good_status(http)));
}

static void tell_copy(const struct standing *s, struct crawl_import_page *out)
{
    out->has_copy = s->has_copy;
    out->copy_from = s->copy_from;
    out->copy_until = s->copy_until;
    out->is_from_late = s->is_from_late;
}

status crawl_import_check(struct crawl *cr, uint64_t channel, struct span url, wall_ms at, unsigned http,
                          struct crawl_import_page *out, crawl_import_verdict *verdict)
{
    struct import *im = cr->import;
    struct channel *c = shard_channel(&cr->shards[0], channel);
    struct standing s = {0};
    struct url u;
    if (!c)
        return ST_NOT_FOUND;
    arena_reset(&im->arena);
    if (at < 1)
        at = 1; /* no date: anything else is newer */
    *verdict = IMPORT_NO_URL;
    if (!crawl_normal_url(cr, &im->arena, url, &u))
        return ST_OK;
    /* At depth 0 patterns would let everything pass, as start pages. */
    channel_verdict belongs = channel_check(c, &u, channel_get_opts(c)->depth_max ? 1 : 0, NULL);
    *verdict = belongs == CHANNEL_FORGOTTEN ? IMPORT_FORGOTTEN : IMPORT_OUT_OF_SCOPE;
    if (belongs != CHANNEL_YES)
        return ST_OK;
    *out = (struct crawl_import_page){.url = u.href,
                                      .host = u.host,
                                      .key = siphash(&cr->key, u.href),
                                      .channel = channel,
                                      .at = at,
                                      .is_robots = span_is(u.path, "/robots.txt")};
    status st = look_up(cr, out->key, &s);
    if (st == ST_NOT_FOUND) {
        *verdict = IMPORT_WANTED;
        return ST_OK;
    }
    if (st != ST_OK)
        return st;
    out->is_known = true;
    tell_copy(&s, out);
    *verdict = is_older(cr, &s, at, http) ? IMPORT_OLDER : IMPORT_WANTED;
    return ST_OK;
}

/* ---- taking one ---- */

/* What shards have for each other: hosts that are new, and their URLs. */
static void drain(struct crawl *cr)
{
    for (bool any = true; any;) {
        any = false;
        for (unsigned i = 0; i < cr->shard_count; i++)
            any |= shard_drain(&cr->shards[i]);
    }
}

/* Everything visited so far is in the journal, its links are in the queues. A full disk is waited for. */
static status flush(struct crawl *cr)
{
    struct shard *s = &cr->shards[0];
    finish_flush(s);
    while (s->is_stalled && cr->failure == ST_OK) {
        wait_ms(STALL_WAIT_MS);
        finish_flush(s);
    }
    drain(cr);
    return cr->failure;
}

/* ---- PDFs ----
 *
 * They are read by another program, several at once, while records go on being taken. What another answer of the same
 * page may overtake, or a checkpoint pass by, is waited for. */

struct read_page {
    struct import *import;
    struct read_page *next;
    struct job *job;    /* owned by visit_page, once it is called */
    struct arena arena; /* of its URL and of `result` */
    struct fetch_result result;
};

static void on_reading(void *arg, const struct reading *r)
{
    struct read_page *p = arg, **at = &p->import->readings;
    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
    p->import->reading_count--;
    p->job->reading = r;
    if (r->st == ST_CANCELLED) /* nobody wants it any more: the import has failed */
        job_free(p->job);
    else
        visit_page(p->job->shard, p->job, &p->result, NULL);
    loop_stop(p->import->loop);
    arena_done(&p->arena);
    free(p);
}

static unsigned readings_at_once(void)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return processors < 1 ? 1 : processors > READINGS_MAX ? READINGS_MAX : (unsigned)processors;
}

/* Until no more than `most` are left. */
static void wait_readings(struct import *im, unsigned most)
{
    while (im->reading_count > most)
        loop_run(im->loop);
}

static bool is_reading(const struct import *im, uint64_t key)
{
    for (const struct read_page *p = im->readings; p; p = p->next)
        if (p->job->lease.key == key)
            return true;
    return false;
}

static void visit_read(struct crawl *cr, struct job *j, const struct fetch_result *r)
{
    struct import *im = cr->import;
    unsigned at_once = readings_at_once();
    if (!readings_are_for(cr, j->lease.url, r) || readings_reader(cr, im->loop, at_once, &im->pdfs) != ST_OK) {
        visit_page(j->shard, j, r, NULL);
        return;
    }
    struct read_page *p = mem_alloc(sizeof(*p));
    *p = (struct read_page){.import = im, .next = im->readings, .job = j};
    arena_init(&p->arena);
    p->result = fetch_result_copy(&p->arena, r);
    j->lease.url = arena_copy(&p->arena, j->lease.url);
    j->lease.host = arena_copy(&p->arena, j->lease.host);
    im->readings = p;
    im->reading_count++;
    reader_read(im->pdfs, p->result.body, on_reading, p);
    wait_readings(im, 2 * at_once);
    while (reader_bytes(im->pdfs) > READINGS_BYTES_MAX)
        loop_run(im->loop);
}

/* The reading store has all of it. */
static status settle(struct crawl *cr)
{
    wait_readings(cr->import, 0);
    status st = flush(cr);
    writer_put(cr->writer, &cr->shards[0].batch);
    if (st == ST_OK)
        st = writer_settle(cr->writer);
    if (st == ST_OK) {
        table_done(&cr->import->pending);
        arena_reset(&cr->import->standings);
    }
    return st;
}

static status sweep(struct crawl *cr)
{
    status st = flush(cr);
    for (unsigned i = 0; st == ST_OK && i < cr->shard_count; i++)
        st = frontier_sweep(cr->shards[i].frontier);
    return st;
}

static status checkpoint_when_due(struct crawl *cr)
{
    if (atomic_load(&cr->shards[0].journal_bytes) < CHECKPOINT_JOURNAL_BYTES || atomic_load(&cr->is_checkpointing))
        return ST_OK;
    wait_readings(cr->import, 0);
    status st = sweep(cr);
    if (st == ST_OK)
        st = crawl_checkpoint(cr);
    return st == ST_FULL ? ST_OK : st; /* the journal goes on; the next try may find space */
}

static void visit(struct crawl *cr, const struct crawl_import_page *p, const struct fetch_result *r)
{
    struct job *j = mem_alloc(sizeof(*j));
    j->shard = &cr->shards[0];
    j->imported_at = p->at;
    j->dns_us = -1;
    j->lease = (struct lease){.kind = LEASE_PAGE,
                              .url = p->url,
                              .host = p->host,
                              .key = p->key,
                              .channel = p->channel,
                              .depth = p->depth,
                              .hops = p->hops,
                              .is_known = p->is_known};
    visit_read(cr, j, r);
}

status crawl_import_is_copy_of(struct crawl *cr, struct crawl_import_page *p, wall_ms at, bool *is_of)
{
    struct standing s = {0};
    status st = ST_OK;
    if (p->has_copy && p->is_from_late && at < p->copy_from - DATES_DIFFER_MS) {
        st = settle(cr);
        if (st == ST_OK)
            st = look_up(cr, p->key, &s);
        if (st == ST_OK)
            tell_copy(&s, p);
    }
    *is_of = st == ST_OK && p->has_copy && p->copy_from - DATES_DIFFER_MS <= at && at <= p->copy_until;
    return st;
}

/* What is known of the page after the answer `r`. */
static struct standing standing_after(const struct crawl_import_page *p, const struct fetch_result *r)
{
    visit_outcome o = visit_outcome_of(false, r->st, (unsigned)r->http_status);
    struct standing s = {.at = p->at,
                         .is_good = o == VISIT_NEW || o == VISIT_UNCHANGED,
                         .has_copy = p->has_copy && o != VISIT_GONE && o != VISIT_REDIRECT,
                         .copy_from = p->copy_from,
                         .copy_until = p->copy_until,
                         .is_from_late = p->is_from_late};
    if (o == VISIT_NEW) { /* or the one that was there: the store knows */
        s.copy_from = p->at;
        s.is_from_late = true;
    }
    if (s.is_good) {
        s.has_copy = true;
        s.copy_until = p->at;
    }
    return s;
}

static void note_pending(struct import *im, const struct crawl_import_page *p, const struct fetch_result *r)
{
    struct standing *s = table_get(&im->pending, p->key);
    if (!s) {
        s = arena_alloc(&im->standings, sizeof(*s));
        table_put(&im->pending, p->key, s);
    }
    *s = standing_after(p, r);
}

status crawl_import(struct crawl *cr, const struct crawl_import_page *p, const struct fetch_result *r)
{
    bool is_new;
    if (cr->import->reading_count)
        loop_turn(cr->import->loop);
    if (is_reading(cr->import, p->key))
        wait_readings(cr->import, 0);
    status st = crawl_note_urls(cr, &p->key, 1, &is_new);
    if (st != ST_OK)
        return st;
    note_pending(cr->import, p, r);
    frontier_skip(cr->shards[route_host(cr->route, p->host)].frontier, p->key);
    visit(cr, p, r);
    drain(cr);
    if (cr->shards[0].is_stalled)
        st = flush(cr);
    while (st == ST_OK && writer_backlog(cr->writer) > WRITER_QUEUE_MAX && cr->failure == ST_OK)
        wait_ms(WAIT_MS);
    if (st == ST_OK && cr->import->pending.n >= PENDING_MAX)
        st = settle(cr);
    if (st == ST_OK)
        st = checkpoint_when_due(cr);
    return st == ST_OK ? cr->failure : st;
}

fetch_wants_fn *crawl_import_wants(const struct crawl *cr)
{
    return readings_wants(cr);
}

/* ---- from start to end ---- */

status crawl_import_begin(struct crawl *cr)
{
    cr->import = mem_alloc(sizeof(*cr->import));
    arena_init(&cr->import->arena);
    arena_init(&cr->import->standings);
    cr->import->loop = loop_new();
    status st = sweep(cr); /* what an import that was killed had brought */
    if (st == ST_OK)
        st = crawl_begin_quiet(cr);
    if (st == ST_OK)
        st = store_open(cr->o.data_dir, STORE_READ, &cr->import->reader, NULL);
    return st;
}

status crawl_import_end(struct crawl *cr)
{
    status st = settle(cr);
    if (st == ST_OK)
        st = sweep(cr);
    return crawl_end_quiet(cr, st);
}

void import_free(struct import *im)
{
    if (!im)
        return;
    store_free(im->reader);
    reader_free(im->pdfs);
    loop_free(im->loop);
    table_done(&im->pending);
    arena_done(&im->standings);
    arena_done(&im->arena);
    free(im);
}
