/* programs.c - pages of channels with a program: asked about between the fetch and the visit.
 *
 * The program works in another process and takes its time, so the answer is kept here until it has spoken. Meanwhile
 * the page counts as in flight: its host is not asked again, and its network is not handed over. The facts of such a
 * page are collected twice, once for the program and once for the summary: that costs less than the program does, and
 * the visit stays one piece of code. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "crawl/engine.h"
#include "mobile/page_make.h"
#include "web/document.h"

struct asked {
    struct asked *next; /* in shard.asked_first */
    struct job *job;    /* owned */
    struct arena arena; /* of `result` */
    struct fetch_result result;
    struct program_page page; /* until the program has it */
};

static struct span program_of(const struct shard *s, uint64_t channel)
{
    const struct shard_lane *l = s->master ? shard_lane(s, channel) : NULL;
    return l ? span_str(l->program) : (struct span){0};
}

bool programs_want_headers(const struct shard *s, uint64_t channel)
{
    return program_of(s, channel).n > 0;
}

/* ---- a page ---- */

struct fetch_result fetch_result_copy(struct arena *a, const struct fetch_result *r)
{
    struct fetch_result c = *r;
    struct span *const texts[] = {
        &c.content_type, &c.etag,    &c.last_modified,  &c.location, &c.retry_after, &c.date, &c.content_encoding,
        &c.robots_tags,  &c.headers, &c.link_canonical, &c.body,     &c.request,     &c.head, &c.raw,
        &c.disposition,  &c.refresh};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        *texts[i] = arena_copy(a, *texts[i]);
    c.why = "";
    return c;
}

static void asked_free(struct asked *k)
{
    arena_done(&k->arena);
    free(k);
}

static void go_on(struct asked *k, const struct program_result *said)
{
    struct shard *s = k->job->shard;
    s->in_flight--;
    if (s->is_quitting)
        job_free(k->job);
    else
        visit_page(s, k->job, &k->result, said);
    asked_free(k);
}

static void ask_those_in_line(struct shard *s);

static void on_said(void *arg, const struct program_result *said)
{
    struct asked *k = arg;
    struct shard *s = k->job->shard;
    go_on(k, said->st == ST_OK ? said : NULL);
    if (s->is_quitting)
        return;
    ask_those_in_line(s);
    if (!s->is_stalled)
        timer_set(s->due, 0);
}

/* False: the line is full. */
static bool ask(struct shard *s, struct asked *k)
{
    struct span name = program_of(s, k->job->lease.channel);
    status st = name.n ? master_run(s->master, name, &k->page, on_said, k) : ST_NOT_FOUND;
    if (st == ST_BUSY)
        return false;
    if (st != ST_OK)
        go_on(k, NULL);
    return true;
}

static void ask_those_in_line(struct shard *s)
{
    while (s->asked_first) {
        struct asked *k = s->asked_first, *next = k->next;
        if (!ask(s, k))
            return;
        s->asked_first = next;
        if (!next)
            s->asked_last = &s->asked_first;
    }
}

bool programs_ask(struct shard *s, struct job *j, const struct fetch_result *r)
{
    struct span name = program_of(s, j->lease.channel);
    struct url document;
    if (!name.n || r->st != ST_OK || r->http_status < 200 || r->http_status > 299 || r->body_unwanted ||
        !document_is_read(r->content_type, j->lease.url) ||
        document_kind_of(r->content_type, j->lease.url) == DOCUMENT_LIST || !master_has(s->master, name))
        return false;
    struct asked *k = mem_alloc(sizeof(*k));
    arena_init(&k->arena);
    k->job = j;
    k->result = fetch_result_copy(&k->arena, r);
    const struct page_source source = {.document = &document,
                                       .http_status = r->http_status,
                                       .headers = k->result.headers,
                                       .content_type = k->result.content_type,
                                       .body = k->result.body,
                                       .agent = s->crawl->agent};
    if (url_parse(&k->arena, j->lease.url, NULL, &document) != ST_OK ||
        page_read(&k->arena, &source, &k->page) != ST_OK) {
        asked_free(k);
        return false;
    }
    s->in_flight++;
    if (s->asked_first || !ask(s, k)) {
        *s->asked_last = k;
        s->asked_last = &k->next;
    }
    return true;
}

void programs_done(struct shard *s)
{
    master_free(s->master); /* calls back what is at a program: on_said frees it */
    s->master = NULL;
    while (s->asked_first) {
        struct asked *k = s->asked_first;
        s->asked_first = k->next;
        go_on(k, NULL);
    }
    s->asked_last = &s->asked_first;
    free(s->programs);
    s->programs = NULL;
    s->program_count = 0;
}

/* ---- from outside ---- */

/* The lines are as long as can be needed: as many pages as are in flight. */
static status need_master(struct shard *s)
{
    const struct master_opts o = {
        .worker_path = s->crawl->o.worker_path, .waiting_max = s->crawl->jobs_a_shard, .log = s->crawl->o.log};
    return s->master ? ST_OK : master_new(s->loop, &o, &s->master);
}

status crawl_program_set(struct crawl *cr, const struct program *p, const struct program *last)
{
    status st = ST_OK, all = ST_EXISTS;
    crawl_hold(cr);
    for (unsigned i = 0; i < cr->shard_count; i++) {
        st = need_master(&cr->shards[i]);
        if (st == ST_OK)
            st = master_set(cr->shards[i].master, p, last);
        if (st != ST_OK && st != ST_EXISTS)
            return st;
        if (st == ST_OK)
            all = ST_OK;
    }
    return all;
}

void crawl_program_drop(struct crawl *cr, struct span name, uint64_t serial)
{
    crawl_hold(cr);
    for (unsigned i = 0; i < cr->shard_count; i++)
        if (cr->shards[i].master)
            master_drop(cr->shards[i].master, name, serial);
}

status crawl_program_bind(struct crawl *cr, uint64_t channel, struct span name)
{
    if (!crawl_lane(cr, channel))
        return ST_NOT_FOUND;
    if (name.n && !program_name_is_good(name))
        return ST_INVALID;
    crawl_hold(cr);
    for (unsigned i = 0; i < cr->shard_count; i++)
        snprintf(shard_lane(&cr->shards[i], channel)->program, PROGRAM_NAME_MAX + 1, "%.*s", SPAN_ARG(name));
    return ST_OK;
}

/* ---- how it goes ---- */

static void publish_one(void *arg, const struct program_status *p)
{
    struct shard *s = arg;
    struct program_state *out = &s->programs[s->program_count++];
    *out = (struct program_state){.serial = p->is_broken ? 0 : p->serial,
                                  .failed_serial = p->failed_serial,
                                  .pages = p->pages,
                                  .errors = p->errors};
    snprintf(out->name, sizeof(out->name), "%.*s", SPAN_ARG(p->name));
    snprintf(out->last_error, sizeof(out->last_error), "%.*s",
             SPAN_ARG(utf8_cut(p->last_error, sizeof(out->last_error) - 1)));
}

void programs_publish(struct shard *s)
{
    if (!s->master)
        return;
    if (!s->programs)
        s->programs = mem_alloc(MASTER_PROGRAMS_MAX * sizeof(*s->programs));
    s->program_count = 0;
    master_each(s->master, publish_one, s);
}

static struct program_state *find(struct program_state *list, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i].name, name) == 0)
            return &list[i];
    return NULL;
}

static void merge(struct program_state *all, const struct program_state *one)
{
    if (one->serial < all->serial)
        all->serial = one->serial;
    if (one->failed_serial > all->failed_serial)
        all->failed_serial = one->failed_serial;
    all->pages += one->pages;
    all->errors += one->errors;
    if (one->last_error[0])
        memcpy(all->last_error, one->last_error, sizeof(all->last_error));
}

size_t crawl_programs(struct crawl *cr, struct program_state *out, size_t max)
{
    size_t n = 0;
    for (unsigned i = 0; i < cr->shard_count; i++) {
        struct shard *s = &cr->shards[i];
        pthread_mutex_lock(&s->lock);
        for (size_t k = 0; k < s->program_count; k++) {
            struct program_state *had = find(out, n, s->programs[k].name);
            if (had)
                merge(had, &s->programs[k]);
            else if (n < max)
                out[n++] = s->programs[k];
        }
        pthread_mutex_unlock(&s->lock);
    }
    return n;
}
