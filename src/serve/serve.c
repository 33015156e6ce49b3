/* serve.c - from a request to a page.
 *
 * A request comes in on_request, on one of the server's threads. Checks that cost nothing come first: length, Host,
 * address, method, rate. Then small fixed answers are given at once; everything else is put in line for a worker, which
 * makes the page and answers later. A full line is answered with 503. */
#include "serve/serve.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/mem.h"
#include "index/text/analyze.h"
#include "io/clock.h"
#include "serve/page.h"
#include "serve/request.h"
#include "web/url.h"

#define TARGET_BYTES_MAX 8192
#define HEADER_BYTES_MAX 1024 /* of If-None-Match, kept for a worker */
#define REQUEST_HEAD_MAX 32768
#define CONNECTIONS_MAX 512
#define CONNECTIONS_PER_ADDRESS 64
#define IDLE_TIMEOUT_S 20
#define SERVER_THREADS 2
#define BURST_S 6
#define LOOPBACK_FACTOR 20
#define RETRY_BUSY_S 2

static page_fn answer_robots, answer_health;

typedef enum route_kind { ROUTE_PAGE, ROUTE_API, ROUTE_PLAIN } route_kind; /* how errors are told */

struct route {
    const char *path;
    page_fn *fn;
    route_kind kind;
    bool is_quick; /* made on the server's thread, and not counted against the client's rate */
};

static const struct route routes[] = {
    {"/", page_start, ROUTE_PAGE, false},
    {"/search", page_search, ROUTE_PAGE, false},
    {"/api/v1/search", page_search_json, ROUTE_API, false},
    {"/status", page_status, ROUTE_PAGE, false},
    {"/api/v1/status", page_status_json, ROUTE_API, false},
    {"/metrics", page_metrics, ROUTE_PLAIN, false},
    {"/about-this-crawler", page_about, ROUTE_PAGE, false},
    {"/opensearch.xml", page_opensearch, ROUTE_PLAIN, true},
    {"/robots.txt", answer_robots, ROUTE_PLAIN, true},
    {"/healthz", answer_health, ROUTE_PLAIN, true},
};

/* ---- fixed answers ---- */

static void answer_health(const struct page_request *r, struct httpd_answer *ans)
{
    page_headers(ans, "text/plain; charset=utf-8", "no-store");
    buf_puts(&ans->body, "ok\n");
}

/* The pages found are other people's; copies of result lists in other indexes help nobody. */
static void answer_robots(const struct page_request *r, struct httpd_answer *ans)
{
    page_headers(ans, "text/plain; charset=utf-8", "public, max-age=86400");
    buf_puts(&ans->body, "User-agent: *\nAllow: /about-this-crawler\nDisallow: /\n");
}

static void answer_asset(const struct asset *a, bool accepts_gzip, struct httpd_answer *ans)
{
    page_headers(ans, a->type, "public, max-age=31536000, immutable");
    buf_puts(&ans->head, "Vary: Accept-Encoding\n");
    if (accepts_gzip)
        buf_puts(&ans->head, "Content-Encoding: gzip\n");
    ans->fixed_body = accepts_gzip ? a->gzip : a->plain;
}

/* ---- refusals ---- */

static void refuse(const struct page_request *r, struct httpd_answer *ans, route_kind kind, int code, const char *name,
                   const char *heading, const char *text)
{
    if (kind == ROUTE_PAGE)
        page_message(r, ans, code, heading, span_str(text));
    else if (kind == ROUTE_API)
        page_error_json(ans, code, name, text);
    else {
        ans->status = code;
        page_headers(ans, "text/plain; charset=utf-8", "no-store");
        buf_printf(&ans->body, "%s\n", text);
    }
}

static void refuse_busy(const struct page_request *r, struct httpd_answer *ans, route_kind kind)
{
    refuse(r, ans, kind, 503, "busy", "Too much going on",
           "More searches are waiting than can be answered soon. "
           "Try again in a few seconds.");
    buf_printf(&ans->head, "Retry-After: %d\n", RETRY_BUSY_S);
}

static void count_answer(struct serve *s, int code)
{
    if (code >= 100 && code < 600)
        atomic_fetch_add(&s->counters.by_code[code / 100], 1);
}

/* ---- work for workers ---- */

/* Owns its texts, in its own arena. */
struct job {
    struct httpd_later *later;
    const struct route *route;
    struct arena arena;
    struct page_request r;
};

static void run_job(void *arg, unsigned worker, bool is_cancelled)
{
    struct job *j = arg;
    struct serve *s = j->r.s;
    struct httpd_answer ans = {.status = 200};
    if (is_cancelled)
        refuse_busy(&j->r, &ans, j->route->kind);
    else {
        if (!s->analyzers[worker])
            s->analyzers[worker] = analyzer_new(s->key.k0 + worker);
        j->r.analyzer = s->analyzers[worker];
        j->route->fn(&j->r, &ans);
    }
    count_answer(s, ans.status);
    httpd_answer_later(j->later, &ans);
    arena_done(&j->arena);
    free(j);
}

/* False: the server is being stopped. */
static bool put_in_line(const struct page_request *r, const struct route *route, const struct httpd_request *req)
{
    struct serve *s = r->s;
    struct job *j = mem_alloc(sizeof(*j));
    arena_init(&j->arena);
    j->route = route;
    j->r = *r;
    j->r.arena = &j->arena;
    j->r.target = arena_copy(&j->arena, r->target);
    j->r.path = span_cut(j->r.target, 0, r->path.n);
    j->r.query = span_from(j->r.target, r->path.n + 1);
    j->r.base = arena_copy(&j->arena, r->base);
    j->r.if_none_match = arena_copy(&j->arena, r->if_none_match);
    j->later = httpd_defer(req);
    if (!j->later) {
        arena_done(&j->arena);
        free(j);
        return false;
    }
    if (workers_add(s->workers, run_job, j) != ST_OK) {
        atomic_fetch_add(&s->counters.overfull, 1);
        run_job(j, 0, true);
    }
    return true;
}

/* ---- a request ---- */

static const struct route *find_route(struct span path)
{
    for (size_t i = 0; i < sizeof(routes) / sizeof(*routes); i++)
        if (span_is(path, routes[i].path))
            return &routes[i];
    return NULL;
}

/* A page elsewhere whose name was pointed at this machine (DNS rebinding) must not read what only this machine may. */
static bool host_is_ours(const struct serve *s, struct span host)
{
    if (s->public_host.n && span_eq_nocase(host, s->public_host))
        return true;
    return s->is_loopback ? request_host_is_loopback(host) : request_host_is_plain(host);
}

static struct span base_of(struct serve *s, struct arena *a, struct span host)
{
    if (s->public_url)
        return span_str(s->public_url);
    struct buf b = {0};
    buf_puts(&b, s->is_tls ? "https://" : "http://");
    buf_put(&b, request_host_is_plain(host) ? host : SPAN("localhost"));
    struct span base = arena_copy(a, buf_span(&b));
    buf_done(&b);
    return base;
}

static void answer_quick(const struct page_request *r, const struct route *route, const struct httpd_request *req,
                         struct httpd_answer *ans)
{
    const struct asset *asset = NULL;
    if (route)
        route->fn(r, ans);
    else if ((asset = asset_by_path(r->s->assets, r->path)))
        answer_asset(asset,
                     span_search(httpd_header(req, "Accept-Encoding"), SPAN("gzip"), true) <
                         httpd_header(req, "Accept-Encoding").n,
                     ans);
    else if (span_is(r->path, "/favicon.ico"))
        answer_asset(asset_by_name(r->s->assets, "favicon.svg"), false, ans);
    else
        refuse(r, ans, span_starts(r->path, SPAN("/api/")) ? ROUTE_API : ROUTE_PAGE, 404, "not_found",
               "There is no such page", "Perhaps what you want can be found from the search page.");
}

/* True: refused, and the answer says why. */
static bool is_refused(const struct page_request *r, const struct route *route, const struct httpd_request *req,
                       struct httpd_answer *ans)
{
    struct serve *s = r->s;
    route_kind kind = route ? route->kind : ROUTE_PAGE;
    int retry_s = 1;
    if (req->target.n > TARGET_BYTES_MAX)
        refuse(r, ans, kind, 414, "too_long", "The address is too long", "Shorten the query and try again.");
    else if (!host_is_ours(s, req->host)) {
        atomic_fetch_add(&s->counters.wrong_host, 1);
        refuse(r, ans, ROUTE_PLAIN, 421, "wrong_host", "",
               "This server is known as localhost. If it is meant to be reached by another name, start it with "
               "--public-url.");
    } else if (strcmp(req->method, "GET") != 0 && strcmp(req->method, "HEAD") != 0) {
        refuse(r, ans, kind, 405, "method", "That cannot be done here", "Pages here can be read, and nothing else.");
        buf_puts(&ans->head, "Allow: GET, HEAD\n");
    } else if (route && !route->is_quick && !limiter_take(s->limiter, &req->peer, clock_mono(), &retry_s)) {
        atomic_fetch_add(&s->counters.limited, 1);
        refuse(r, ans, kind, 429, "too_many", "That was too fast",
               "Too many requests came from your address. Wait a few seconds and try again.");
        buf_printf(&ans->head, "Retry-After: %d\n", retry_s);
    } else
        return false;
    return true;
}

void serve_request(struct serve *s, const struct httpd_request *req, struct httpd_answer *ans)
{
    struct arena arena;
    arena_init(&arena);
    size_t mark = span_find(req->target, '?', 0);
    struct page_request r = {.s = s,
                             .arena = &arena,
                             .target = req->target,
                             .path = span_cut(req->target, 0, mark),
                             .query = span_from(req->target, mark + 1),
                             .base = base_of(s, &arena, req->host),
                             .is_local = addr_classify(&req->peer) == ADDR_LOOPBACK};
    r.if_none_match = httpd_header(req, "If-None-Match");
    if (r.if_none_match.n > HEADER_BYTES_MAX)
        r.if_none_match = SPAN("");
    const struct route *route = find_route(r.path);
    bool is_deferred = false;
    if (!is_refused(&r, route, req, ans)) {
        if (!route || route->is_quick)
            answer_quick(&r, route, req, ans);
        else if (put_in_line(&r, route, req))
            is_deferred = true;
        else
            refuse_busy(&r, ans, route->kind);
    }
    if (!is_deferred) /* else the answer is no longer ours */
        count_answer(s, ans->status);
    arena_done(&arena);
}

static void on_request(void *self, const struct httpd_request *req, struct httpd_answer *ans)
{
    serve_request(self, req, ans);
}

/* ---- life ---- */

static status take_public_url(struct serve *s, struct span text)
{
    struct arena a;
    struct url u;
    if (text.n == 0)
        return ST_OK;
    arena_init(&a);
    status st = url_parse(&a, text, NULL, &u);
    if (st == ST_OK && (!url_is_http(&u) || u.has_query || u.has_fragment || !span_is(u.path, "/")))
        st = ST_INVALID;
    if (st == ST_OK) {
        struct span site = url_site(&a, &u);
        s->public_url = mem_str(site);
        size_t slashes = span_search(site, SPAN("://"), false);
        s->public_host = span_str(s->public_url + slashes + 3);
    }
    arena_done(&a);
    return st == ST_OK ? ST_OK : ST_INVALID;
}

static status draw_key(struct sip_key *key)
{
    return getrandom(key, sizeof(*key), 0) == (ssize_t)sizeof(*key) ? ST_OK : ST_IO;
}

static status start_server(struct serve *s, const struct serve_opts *o)
{
    struct httpd_opts h = {.addr = o->addr,
                           .port = o->port,
                           .threads = SERVER_THREADS,
                           .connections_max = CONNECTIONS_MAX,
                           .connections_per_address = s->is_loopback ? 0 : CONNECTIONS_PER_ADDRESS,
                           .idle_timeout_s = IDLE_TIMEOUT_S,
                           .request_head_max = REQUEST_HEAD_MAX,
                           .fn = on_request,
                           .self = s};
    if (h.addr.family == 0)
        h.addr = (struct addr){4, {127, 0, 0, 1}};
    errno = 0;
    status st = httpd_new(&h, &s->httpd);
    if (st == ST_IO && errno == EAFNOSUPPORT && h.addr.family == 6) {
        static const struct addr any6 = {.family = 6};
        if (addr_eq(&h.addr, &any6)) { /* a machine without IPv6: "every address" is every IPv4 address */
            h.addr = (struct addr){.family = 4};
            st = httpd_new(&h, &s->httpd);
        }
    }
    if (st == ST_IO && (errno == EACCES || errno == EPERM))
        return ST_REFUSED;
    return st == ST_IO && errno == EADDRNOTAVAIL ? ST_INVALID : st;
}

static unsigned worker_count(unsigned wanted)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned n = wanted ? wanted : cores > 2 ? (unsigned)cores : 2;
    return n > WORKERS_MAX ? WORKERS_MAX : n;
}

static status make(const struct serve_opts *o, struct serve **out)
{
    struct serve *s = mem_alloc(sizeof(*s));
    struct buf path = {0};
    s->data_dir = mem_str(span_str(o->data_dir));
    s->version = mem_str(o->version);
    s->is_loopback = o->addr.family == 0 || addr_classify(&o->addr) == ADDR_LOOPBACK;
    s->is_tls = o->is_tls;
    s->started = clock_mono();
    status st = take_public_url(s, o->public_url);
    if (st == ST_OK)
        st = draw_key(&s->key);
    if (st == ST_OK)
        st = assets_new(&s->assets);
    if (st == ST_OK)
        st =
            workers_new(worker_count(o->workers), o->waiting_max ? o->waiting_max : SERVE_WAITING_DEFAULT, &s->workers);
    if (st == ST_OK) {
        buf_printf(&path, "%s/index", o->data_dir);
        s->corpus = corpus_new(buf_cstr(&path));
        buf_clear(&path);
        groups_path(o->data_dir, &path);
        s->groups = groups_reader_new(path.p);
        s->watch = watch_new(o->data_dir, s->corpus);
        s->limiter =
            limiter_new(&(struct limiter_opts){.per_s = o->query_rate,
                                               .burst = o->query_rate * BURST_S < 1 ? 1 : o->query_rate * BURST_S,
                                               .loopback_factor = LOOPBACK_FACTOR,
                                               .key = s->key});
    }
    buf_done(&path);
    *out = s; /* half of it too: serve_free knows */
    return st;
}

static status give_up(struct serve *s, status st)
{
    int err = errno;
    serve_free(s);
    errno = err;
    return st;
}

status serve_embed(const struct serve_opts *o, struct serve **out)
{
    struct serve *s;
    status st = make(o, &s);
    if (st != ST_OK)
        return give_up(s, st);
    *out = s;
    return ST_OK;
}

status serve_new(const struct serve_opts *o, struct serve **out)
{
    struct serve *s;
    status st = make(o, &s);
    if (st == ST_OK)
        st = start_server(s, o);
    if (st != ST_OK)
        return give_up(s, st);
    *out = s;
    return ST_OK;
}

int serve_port(const struct serve *s)
{
    return httpd_port(s->httpd);
}

void serve_stop(struct serve *s)
{
    workers_stop(s->workers); /* every deferred request is answered now; new ones are refused at once */
}

void serve_free(struct serve *s)
{
    if (!s)
        return;
    serve_stop(s);
    if (s->httpd)
        httpd_free(s->httpd);
    workers_free(s->workers);
    for (size_t i = 0; i < WORKERS_MAX; i++)
        analyzer_free(s->analyzers[i]);
    watch_free(s->watch);
    corpus_free(s->corpus);
    groups_reader_free(s->groups);
    limiter_free(s->limiter);
    assets_free(s->assets);
    free(s->data_dir);
    free(s->public_url);
    free(s->version);
    free(s);
}
