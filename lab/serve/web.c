#include "lab/serve/web.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "base/rng.h"
#include "io/clock.h"
#include "io/httpd.h"
#include "lab/serve/change.h"
#include "lab/serve/labtime.h"
#include "lab/serve/limit.h"
#include "lab/serve/pages.h"
#include "lab/serve/sitemap.h"
#include "lab/serve/sites.h"

#define PER_MILLION 10000.0 /* of a percent */
#define RETRY_AFTER_ERROR_S 1

enum { SEED_SITE_RATE = PAGES_SEED_FREE, SEED_PAGE_RATE, SEED_CHANGES, SEED_ERRORS };

/* What orders change while others read it. */
struct behaviour {
    atomic_int think_ms;
    atomic_uint errors; /* of a million */
    _Atomic float limit_per_s;
    atomic_uint_fast32_t requests;
};

struct web {
    const struct lab *lab; /* borrowed */
    struct ledger *ledger; /* borrowed */
    struct httpd *httpd;
    struct sites *sites;
    struct pages pages;
    struct behaviour *behaviour; /* by site */
    float *change_per_day;       /* by site */
    uint32_t pages_max, bytes_max;
    atomic_bool closes;
    double start_s, start_mono_s; /* the wall clock is asked once: one that is set back must not take the lab along */
    pthread_rwlock_t time_lock;
    struct labtime time;
    pthread_mutex_t limit_lock;
    struct limit *limit;
};

static struct span host_of(void *self, size_t site)
{
    return ((const struct lab *)self)->sites[site].host;
}

static uint32_t at_most(uint32_t v, uint32_t max)
{
    return max && v > max ? max : v;
}

/* ---- time ---- */

static double mono_s(void)
{
    return (double)clock_mono_us() / 1e6;
}

static double wall_s(const struct web *w)
{
    return w->start_s + (mono_s() - w->start_mono_s);
}

double web_now_s(struct web *w)
{
    pthread_rwlock_rdlock(&w->time_lock);
    double now = labtime_at(&w->time, wall_s(w));
    pthread_rwlock_unlock(&w->time_lock);
    return now;
}

static double date_of(struct web *w, double lab_s)
{
    pthread_rwlock_rdlock(&w->time_lock);
    double at = labtime_wall(&w->time, lab_s);
    pthread_rwlock_unlock(&w->time_lock);
    return at;
}

/* ---- versions ---- */

/* What a page is now, and when it became so. */
static struct page look(struct web *w, size_t site, uint32_t number, double now_s, int64_t *modified_s)
{
    const struct lab_site *s = &w->lab->sites[site];
    struct page p = {.site = site,
                     .number = number,
                     .count = at_most(s->pages, w->pages_max),
                     .bytes = at_most(s->bytes_per_page, w->bytes_max)};
    double rate =
        change_page_rate(pages_seed(&w->pages, site, number, SEED_PAGE_RATE), (double)w->change_per_day[site]);
    double last_s = change_last(pages_seed(&w->pages, site, number, SEED_CHANGES), rate, now_s);
    if (last_s > 0) {
        p.version = (uint64_t)ceil(last_s * 1e6); /* changes are a microsecond apart, or nobody could tell them apart */
        *modified_s = (int64_t)date_of(w, last_s);
    } else {
        *modified_s = pages_written_s(&w->pages, site, number);
    }
    return p;
}

/* ---- answers ---- */

static void put_date(struct buf *head, const char *name, int64_t seconds)
{
    time_t t = (time_t)seconds;
    struct tm tm;
    char text[64];
    gmtime_r(&t, &tm);
    strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S GMT", &tm);
    buf_printf(head, "%s: %s\n", name, text);
}

static bool is_unchanged(const struct httpd_request *req, const char *tag, int64_t modified_s)
{
    struct span match = httpd_header(req, "If-None-Match"), since = httpd_header(req, "If-Modified-Since");
    if (match.n)
        return span_is(match, "*") || span_search(match, span_str(tag), false) < match.n;
    char text[64];
    struct tm tm = {0};
    if (since.n == 0 || since.n >= sizeof(text))
        return false;
    snprintf(text, sizeof(text), "%.*s", SPAN_ARG(since));
    return strptime(text, "%a, %d %b %Y %H:%M:%S GMT", &tm) && timegm(&tm) >= modified_s;
}

static void answer_page(struct web *w, size_t site, uint32_t number, double now_s, const struct httpd_request *req,
                        struct httpd_answer *ans)
{
    char tag[PAGES_TAG];
    int64_t modified_s;
    struct page page = look(w, site, number, now_s, &modified_s);
    pages_tag(&w->pages, &page, tag);
    buf_printf(&ans->head, "Content-Type: text/html; charset=utf-8\nETag: %s\n", tag);
    put_date(&ans->head, "Last-Modified", modified_s);
    if (is_unchanged(req, tag, modified_s))
        ans->status = 304;
    else
        pages_write(&w->pages, &page, &ans->body);
}

struct listing {
    struct web *web;
    size_t site;
    double now_s;
};

static int64_t modified_of(const void *self, uint32_t page)
{
    const struct listing *l = self;
    int64_t modified_s;
    (void)look(l->web, l->site, page, l->now_s, &modified_s);
    return modified_s;
}

static void answer_plain(struct httpd_answer *ans, int code, const char *text)
{
    ans->status = code;
    buf_puts(&ans->head, "Content-Type: text/plain\n");
    buf_puts(&ans->body, text);
}

static void answer(struct web *w, size_t site, const struct httpd_request *req, struct span path,
                   struct httpd_answer *ans)
{
    const struct lab_site *s = &w->lab->sites[site];
    uint32_t count = at_most(s->pages, w->pages_max), page;
    struct listing listing = {w, site, web_now_s(w)};
    struct sitemap map = {
        .host = s->host, .port = w->pages.port, .count = count, .modified_s = modified_of, .self = &listing};
    if (pages_find(path, count, &page)) {
        answer_page(w, site, page, listing.now_s, req, ans);
    } else if (span_is(path, "/robots.txt")) {
        answer_plain(ans, 200, "");
        sitemap_robots(&map, &ans->body);
    } else if (sitemap_write(&map, path, &ans->body)) {
        buf_puts(&ans->head, "Content-Type: application/xml\n");
    } else if (span_is(path, PAGES_FORBIDDEN)) {
        answer_plain(ans, 200, "You were asked not to come here.\n");
    } else {
        answer_plain(ans, 404, "There is no such page.\n");
    }
}

/* ---- sites that will not answer ---- */

static bool is_over_limit(struct web *w, size_t site, const struct httpd_request *req, struct httpd_answer *ans)
{
    double per_s = (double)atomic_load(&w->behaviour[site].limit_per_s), wait_s = 0;
    if (!(per_s > 0))
        return false;
    pthread_mutex_lock(&w->limit_lock);
    bool may = limit_take(w->limit, site, &req->peer, per_s, mono_s(), &wait_s);
    pthread_mutex_unlock(&w->limit_lock);
    if (may)
        return false;
    buf_printf(&ans->head, "Retry-After: %.0f\n", fmax(1, ceil(wait_s)));
    answer_plain(ans, 429, "Not so fast.\n");
    return true;
}

/* Which requests fail follows from the seed and their number. robots.txt never does: a site without it is forbidden as
 * a whole (RFC 9309), and nothing else of it would be seen. */
static bool is_faulty(struct web *w, size_t site, struct span path, struct httpd_answer *ans)
{
    uint32_t number = (uint32_t)atomic_fetch_add(&w->behaviour[site].requests, 1);
    unsigned share = atomic_load(&w->behaviour[site].errors);
    uint64_t draw = pages_seed(&w->pages, site, number, SEED_ERRORS);
    if (draw % 1000000 >= share || span_is(path, "/robots.txt"))
        return false;
    bool is_busy = draw >> 63;
    if (is_busy)
        buf_printf(&ans->head, "Retry-After: %d\n", RETRY_AFTER_ERROR_S);
    answer_plain(ans, is_busy ? 503 : 500, is_busy ? "Too busy.\n" : "Something broke.\n");
    return true;
}

/* ---- requests ---- */

static struct span without_port(struct span host)
{
    size_t colon = span_find(host, ':', 0);
    return host.n && host.p[0] == '[' ? host : span_cut(host, 0, colon);
}

static void on_request(void *self, const struct httpd_request *req, struct httpd_answer *ans)
{
    struct web *w = self;
    struct span path = span_cut(req->target, 0, span_find(req->target, '?', 0)), host = without_port(req->host);
    bool is_get = strcmp(req->method, "GET") == 0, is_head = strcmp(req->method, "HEAD") == 0;
    size_t site = 0;
    if (!sites_asked(w->sites, host, &req->local, &site)) {
        ans->status = 421;
        buf_puts(&ans->body, "This site is not here.\n");
    } else if (!is_get && !is_head) {
        ans->status = 405;
        buf_puts(&ans->head, "Allow: GET, HEAD\n");
    } else if (!is_over_limit(w, site, req, ans)) {
        if (!is_faulty(w, site, path, ans))
            answer(w, site, req, path, ans);
        ans->delay_ms = atomic_load(&w->behaviour[site].think_ms);
    }
    if (atomic_load(&w->closes))
        buf_puts(&ans->head, "Connection: close\n");
    struct ledger_entry e = {.from = &req->peer,
                             .to = &req->local,
                             .host = host,
                             .target = req->target,
                             .method = req->method,
                             .status = ans->status,
                             .bytes = is_head ? 0 : ans->body.n};
    ledger_add(w->ledger, &e);
}

/* ---- life ---- */

static void set(struct behaviour *b, web_knob knob, double value)
{
    if (knob == WEB_THINK_MS)
        atomic_store(&b->think_ms, (int)value);
    else if (knob == WEB_ERRORS_PERCENT)
        atomic_store(&b->errors, (unsigned)lround(value * PER_MILLION));
    else
        atomic_store(&b->limit_per_s, (float)value);
}

static void set_up_site(struct web *w, size_t i, const struct web_opts *opts)
{
    const struct lab_site *s = &w->lab->sites[i];
    struct behaviour *b = &w->behaviour[i];
    double change = (double)s->change_per_day;
    if (!s->has_own_change && opts->change_per_day >= 0)
        change = opts->change_per_day;
    if (change < 0)
        change = change_site_rate(pages_seed(&w->pages, i, 0, SEED_SITE_RATE));
    w->change_per_day[i] = (float)change;
    set(b, WEB_THINK_MS, s->think_ms + opts->think_ms);
    set(b, WEB_ERRORS_PERCENT, s->errors_percent >= 0 ? (double)s->errors_percent : opts->errors_percent);
    set(b, WEB_LIMIT_PER_S, s->limit_per_s >= 0 ? (double)s->limit_per_s : opts->limit_per_s);
}

static status listen_at(struct web *w, const struct web_opts *opts)
{
    struct httpd_opts o = {.addr = opts->addr.family ? opts->addr : (struct addr){.family = 6},
                           .port = opts->port,
                           .threads = opts->threads,
                           .fn = on_request,
                           .self = w};
    status st = httpd_new(&o, &w->httpd);
    if (st == ST_IO && opts->addr.family == 0) { /* a kernel without IPv6 */
        o.addr.family = 4;
        st = httpd_new(&o, &w->httpd);
    }
    if (st == ST_OK && opts->port == 0)
        w->pages.port = web_port(w); /* before anybody can know the port */
    return st;
}

status web_new(const struct web_opts *opts, struct web **out)
{
    struct web *w = mem_alloc(sizeof(*w));
    const struct lab *l = opts->lab;
    w->lab = l;
    w->ledger = opts->ledger;
    w->sites = sites_new(l);
    w->pages_max = opts->pages_max;
    w->bytes_max = opts->bytes_max;
    w->behaviour = mem_alloc((l->site_count + 1) * sizeof(*w->behaviour));
    w->change_per_day = mem_alloc((l->site_count + 1) * sizeof(*w->change_per_day));
    w->limit = limit_new();
    pthread_mutex_init(&w->limit_lock, NULL);
    pthread_rwlock_init(&w->time_lock, NULL);
    atomic_store(&w->closes, opts->closes);
    w->start_s = (double)clock_wall() / 1e3;
    w->start_mono_s = mono_s();
    labtime_init(&w->time, opts->began_s > 0 ? opts->began_s : w->start_s, opts->speed);
    w->pages = (struct pages){.seed = l->seed,
                              .site_count = l->site_count,
                              .host = host_of,
                              .self = (void *)(uintptr_t)l,
                              .port = opts->port};
    for (size_t i = 0; i < l->site_count; i++)
        set_up_site(w, i, opts);
    status st = listen_at(w, opts);
    if (st == ST_OK)
        *out = w;
    else
        web_free(w);
    return st;
}

void web_free(struct web *w)
{
    if (!w)
        return;
    if (w->httpd)
        httpd_free(w->httpd);
    pthread_mutex_destroy(&w->limit_lock);
    pthread_rwlock_destroy(&w->time_lock);
    limit_free(w->limit);
    sites_free(w->sites);
    free(w->behaviour);
    free(w->change_per_day);
    free(w);
}

int web_port(const struct web *w)
{
    return httpd_port(w->httpd);
}

/* ---- orders ---- */

status web_set(struct web *w, struct span host, web_knob knob, double value)
{
    size_t from = 0, to = w->lab->site_count;
    if (!span_is(host, "*")) {
        if (!sites_find(w->sites, host, &from))
            return ST_NOT_FOUND;
        to = from + 1;
    }
    for (size_t i = from; i < to; i++)
        set(&w->behaviour[i], knob, value);
    return ST_OK;
}

void web_set_closes(struct web *w, bool closes)
{
    atomic_store(&w->closes, closes);
}

status web_set_speed(struct web *w, double speed)
{
    pthread_rwlock_wrlock(&w->time_lock);
    status st = labtime_set_speed(&w->time, wall_s(w), speed);
    pthread_rwlock_unlock(&w->time_lock);
    return st;
}

double web_began_s(struct web *w)
{
    return w->time.parts[0].wall_s; /* of all of it that alone never changes */
}
