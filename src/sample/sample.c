#include "sample/sample.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "io/clock.h"
#include "io/fetcher.h"
#include "io/httpd.h"
#include "sample/big.h"
#include "sample/ledger.h"
#include "sample/live.h"
#include "sample/sites.h"

#define SAMPLE_LANGUAGES_MAX 64

struct page_state {
    atomic_uint bumps, hits;
};

struct sample {
    struct sample_opts opts;
    struct big big;
    struct live live;
    struct httpd *httpd; /* owned */
    struct ledger ledger;
    struct page_state **states; /* owned: a row a site, a cell a page */
    int port;
};

static unsigned page_count(const struct site *site)
{
    return site_pages(site) + site->special_count;
}

static bool in_part(const struct site *site, sample_part part)
{
    switch (part) {
    case SAMPLE_CALM:
        return site->pace == PACE_CALM;
    case SAMPLE_SOON:
        return site->pace != PACE_LATE;
    default:
        return part != SAMPLE_BIG && part != SAMPLE_LIVE;
    }
}

static bool has_sites(const struct sample *s)
{
    return !s->opts.no_sites;
}

static const char *domain_of(const struct sample *s)
{
    return s->opts.domain ? s->opts.domain : SITE_DOMAIN;
}

/* ---- answering ---- */

static struct span without_port(struct span host)
{
    return span_cut(host, 0, span_find(host, ':', 0));
}

static const struct site *find_site(const struct sample *s, struct span host)
{
    return has_sites(s) ? site_of(host, domain_of(s)) : NULL;
}

static void http_date(time_t at, struct buf *out)
{
    char text[40];
    struct tm tm;
    gmtime_r(&at, &tm);
    strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S GMT", &tm);
    buf_puts(out, text);
}

static bool is_unchanged(const struct httpd_request *req, struct span etag, time_t date, bool has_date)
{
    struct span match = httpd_header(req, "If-None-Match");
    if (match.n > 0)
        return etag.n > 0 && (span_is(match, "*") || span_search(match, etag, false) < match.n);
    wall_ms since;
    if (!has_date || !fetch_date(httpd_header(req, "If-Modified-Since"), clock_wall(), &since))
        return false;
    return since >= (wall_ms)date * 1000;
}

/* Validators of a good page; turns the answer into a 304 when the client has this version. */
static void add_validators(const struct site *site, unsigned at, const struct site_reply *reply,
                           const struct httpd_request *req, struct httpd_answer *ans)
{
    struct buf etag = {0};
    if (site->has_etag) {
        buf_printf(&etag, "\"%u-%u\"", at, reply->version);
        buf_printf(&ans->head, "ETag: %s\n", buf_cstr(&etag));
    }
    if (site->has_date) {
        buf_puts(&ans->head, "Last-Modified: ");
        http_date(reply->date, &ans->head);
        buf_putc(&ans->head, '\n');
    }
    if (is_unchanged(req, buf_span(&etag), reply->date, site->has_date)) {
        ans->status = 304;
        buf_clear(&ans->body);
    }
    buf_done(&etag);
}

static void answer_plain(struct httpd_answer *ans, int code, const char *body)
{
    ans->status = code;
    buf_puts(&ans->head, "Content-Type: text/plain; charset=utf-8\n");
    buf_puts(&ans->body, body);
}

static bool is_key_file(const struct site *site, struct span target)
{
    size_t n = site->key ? strlen(site->key) : 0;
    return n && target.n == n + 5 && span_eq(span_cut(target, 1, n), span_str(site->key)) &&
           span_is(span_from(target, n + 1), ".txt");
}

static void answer_site(struct sample *s, const struct site *site, const struct httpd_request *req,
                        struct httpd_answer *ans)
{
    if (span_is(req->target, "/robots.txt")) {
        answer_plain(ans, site->robots_status, site->robots);
        return;
    }
    if (is_key_file(site, req->target)) {
        answer_plain(ans, 200, site->key);
        return;
    }
    int at = site_find(site, req->target);
    if (at < 0) {
        answer_plain(ans, 404, "No such page.\n");
        return;
    }
    struct page_state *state = &s->states[site - sites][at];
    struct span codings = httpd_header(req, "Accept-Encoding");
    struct site_ask ask = {.seed = s->opts.seed,
                           .port = s->port,
                           .domain = domain_of(s),
                           .target = req->target,
                           .version = atomic_load(&state->bumps),
                           .hits = atomic_fetch_add(&state->hits, 1),
                           .takes_zstd = span_search(codings, SPAN("zstd"), true) < codings.n};
    struct site_reply reply = {.head = &ans->head, .body = &ans->body};
    site_answer(site, (unsigned)at, &ask, &reply);
    ans->status = reply.status;
    ans->delay_ms = reply.delay_ms;
    ans->drop = reply.status == 0;
    if (reply.status == 200)
        add_validators(site, (unsigned)at, &reply, req, ans);
}

static void answer_big(struct sample *s, unsigned host, const struct httpd_request *req, struct httpd_answer *ans)
{
    /* From 2/9 to 16/9 of the mean: hosts that all take the same time would be asked in lockstep. */
    ans->delay_ms = s->opts.latency_ms * 2 * (int)(1 + host % 8) / 9;
    if (span_is(req->target, "/robots.txt")) {
        answer_plain(ans, 200, "User-agent: *\nAllow: /\n");
        return;
    }
    buf_puts(&ans->head, "Content-Type: text/html; charset=utf-8\n");
    if (!big_page(&s->big, host, req->target, &ans->body))
        ans->status = 404;
}

static void answer_live(struct sample *s, unsigned host, const struct httpd_request *req, int64_t at_us,
                        struct httpd_answer *ans)
{
    unsigned page;
    char etag[64];
    ans->delay_ms = s->opts.latency_ms;
    if (span_is(req->target, "/robots.txt")) {
        answer_plain(ans, 200, "User-agent: *\nAllow: /\n");
        return;
    }
    if (!live_find(&s->live, req->target, &page)) {
        answer_plain(ans, 404, "No such page.\n");
        return;
    }
    unsigned edition = live_edition(&s->live, host, page, at_us, NULL);
    snprintf(etag, sizeof(etag), "\"%u-%u-%u\"", host, page, edition);
    buf_printf(&ans->head, "Content-Type: text/html; charset=utf-8\nETag: %s\n", etag);
    if (is_unchanged(req, span_str(etag), 0, false))
        ans->status = 304;
    else
        live_page(&s->live, host, page, edition, &ans->body);
}

static void put_live(const struct sample *s, struct buf *out)
{
    int64_t now = clock_mono_us();
    for (unsigned host = 0; host < s->live.hosts; host++)
        for (unsigned page = 0; page < s->live.pages; page++) {
            live_host(host, out);
            buf_putc(out, '\t');
            live_path(page, out);
            buf_putc(out, '\t');
            live_edition(&s->live, host, page, now, out);
            buf_putc(out, '\n');
        }
}

static struct span query_value(struct span query, struct span name)
{
    struct span part;
    while (span_split(&query, '&', &part)) {
        if (span_starts(part, name) && part.n > name.n && part.p[name.n] == '=')
            return span_from(part, name.n + 1);
    }
    return SPAN("");
}

static void put_ledger_line(void *arg, const struct sample_request *r)
{
    buf_printf(arg, "%lld\t%d\t%.*s\t%.*s\n", (long long)r->at_us, r->status, SPAN_ARG(r->host), SPAN_ARG(r->target));
}

static void answer_control(struct sample *s, const struct httpd_request *req, struct httpd_answer *ans)
{
    size_t mark = span_find(req->target, '?', 0);
    struct span path = span_cut(req->target, 0, mark), query = span_from(req->target, mark + 1);
    buf_puts(&ans->head, "Content-Type: text/plain; charset=utf-8\n");
    if (span_is(path, "/__ledger")) {
        sample_ledger(s, put_ledger_line, &ans->body);
    } else if (span_is(path, "/__clear")) {
        sample_ledger_clear(s);
    } else if (span_is(path, "/__expected")) {
        sample_expected_text(s, SAMPLE_ALL, &ans->body);
    } else if (span_is(path, "/__live")) {
        put_live(s, &ans->body);
    } else if (span_is(path, "/__bump")) {
        if (sample_bump(s, query_value(query, SPAN("host")), query_value(query, SPAN("path"))) != ST_OK)
            ans->status = 404;
    } else {
        ans->status = 404;
    }
}

static void handle(void *self, const struct httpd_request *req, struct httpd_answer *ans)
{
    struct sample *s = self;
    struct sample_request seen = {.at_us = clock_mono_us(), .host = without_port(req->host), .target = req->target};
    unsigned number;
    if (addr_classify(&req->local) != ADDR_LOOPBACK) {
        ans->drop = true;
        return;
    }
    if (span_is_nocase(seen.host, SAMPLE_CONTROL_HOST)) {
        answer_control(s, req, ans); /* not in the ledger */
        return;
    }
    const struct site *site = find_site(s, seen.host);
    if (site)
        answer_site(s, site, req, ans);
    else if (big_find_host(&s->big, seen.host, &number))
        answer_big(s, number, req, ans);
    else if (live_find_host(&s->live, seen.host, &number))
        answer_live(s, number, req, seen.at_us, ans);
    else
        answer_plain(ans, 404, "No such host.\n");
    seen.status = ans->drop ? 0 : ans->status;
    ledger_add(&s->ledger, &seen);
}

/* ---- life ---- */

status sample_new(const struct sample_opts *opts, struct sample **out)
{
    if (opts->big_pages > SAMPLE_BIG_PAGES_MAX || opts->big_hosts > SAMPLE_BIG_HOSTS_MAX ||
        opts->live_hosts > LIVE_HOSTS_MAX || opts->live_pages > LIVE_PAGES_MAX)
        return ST_LIMIT;
    struct sample *s = mem_alloc(sizeof(*s));
    s->opts = *opts;
    s->big = (struct big){.seed = opts->seed, .pages = opts->big_pages, .hosts = opts->big_hosts ? opts->big_hosts : 1};
    s->live = (struct live){.seed = opts->seed,
                            .hosts = opts->live_hosts,
                            .pages = opts->live_pages ? opts->live_pages : 4,
                            .gap_ms = opts->live_gap_ms ? opts->live_gap_ms : 60000,
                            .start_us = clock_mono_us()};
    s->states = mem_alloc(site_count * sizeof(*s->states));
    for (unsigned i = 0; i < site_count; i++)
        s->states[i] = mem_alloc(page_count(&sites[i]) * sizeof(**s->states));
    ledger_init(&s->ledger, opts->no_ledger);

    struct httpd_opts web = {.port = opts->port, .threads = opts->threads, .fn = handle, .self = s};
    status st = addr_parse(opts->is_spread ? SPAN("0.0.0.0") : SPAN("127.0.0.1"), &web.addr);
    if (st == ST_OK)
        st = httpd_new(&web, &s->httpd);
    if (st != ST_OK) {
        sample_free(s);
        return st;
    }
    s->port = s->big.port = httpd_port(s->httpd);
    *out = s;
    return ST_OK;
}

void sample_free(struct sample *s)
{
    if (!s)
        return;
    httpd_free(s->httpd);
    for (unsigned i = 0; i < site_count; i++)
        free(s->states[i]);
    free(s->states);
    ledger_done(&s->ledger);
    free(s);
}

int sample_port(const struct sample *s)
{
    return s->port;
}

/* ---- what is there ---- */

static void put_host_line(const struct sample *s, unsigned *number, struct span host, struct buf *out)
{
    unsigned n = (*number)++;
    if (s->opts.is_spread)
        buf_printf(out, "127.%u.%u.1 %.*s\n", 1 + n / 256, n % 256, SPAN_ARG(host));
    else
        buf_printf(out, "127.0.0.1 %.*s\n", SPAN_ARG(host));
}

void sample_hosts_text(const struct sample *s, struct buf *out)
{
    unsigned number = 0;
    struct buf name = {0};
    put_host_line(s, &number, SPAN(SAMPLE_CONTROL_HOST), out);
    for (unsigned i = 0; has_sites(s) && i < site_count; i++) {
        buf_clear(&name);
        site_put_host(&name, span_str(sites[i].host), domain_of(s));
        put_host_line(s, &number, buf_span(&name), out);
    }
    for (unsigned i = 0; s->big.pages && i < s->big.hosts; i++) {
        buf_clear(&name);
        big_host(i, &name);
        put_host_line(s, &number, buf_span(&name), out);
    }
    for (unsigned i = 0; i < s->live.hosts; i++) {
        buf_clear(&name);
        live_host(i, &name);
        put_host_line(s, &number, buf_span(&name), out);
    }
    buf_done(&name);
}

static void put_url(const struct sample *s, const struct site *site, unsigned at, struct buf *out)
{
    buf_puts(out, "http://");
    site_put_host(out, span_str(site->host), domain_of(s));
    buf_printf(out, ":%d", s->port);
    site_path(site, at, out);
}

void sample_seeds(const struct sample *s, sample_part part, struct buf *out)
{
    for (unsigned i = 0; has_sites(s) && i < site_count; i++) {
        if (!in_part(&sites[i], part))
            continue;
        put_url(s, &sites[i], 0, out);
        buf_putc(out, '\n');
    }
    for (unsigned i = 0; (part == SAMPLE_BIG || part == SAMPLE_ALL) && i < s->big.hosts && i < s->big.pages; i++) {
        big_url(&s->big, i, out);
        buf_putc(out, '\n');
    }
    for (unsigned i = 0; part == SAMPLE_LIVE && i < s->live.hosts; i++) {
        buf_puts(out, "http://");
        live_host(i, out);
        buf_printf(out, ":%d/\n", s->port);
    }
}

/* A closed site shows nothing of itself: its front page is all that a crawler knows of, and may not ask for. */
static unsigned visible_count(const struct site *site)
{
    return site->is_closed ? 1 : page_count(site);
}

static expect_kind page_expect(const struct site *site, unsigned at)
{
    if (site->is_closed)
        return EXPECT_REFUSED;
    return at < site_pages(site) ? EXPECT_PAGE : site->specials[at - site_pages(site)].expect;
}

static bool page_is_thin(const struct site *site, unsigned at)
{
    return at >= site_pages(site) && site->specials[at - site_pages(site)].kind == SP_SCRIPT;
}

/* Distinct languages of the themes of a part. */
static unsigned count_languages(const struct sample *s, sample_part part)
{
    const char *seen[SAMPLE_LANGUAGES_MAX];
    unsigned n = 0;
    for (unsigned i = 0; has_sites(s) && i < site_count; i++) {
        for (int k = 0; in_part(&sites[i], part) && k < SITE_THEMES_MAX && sites[i].themes[k]; k++) {
            const char *lang = sites[i].themes[k]->lang;
            unsigned at = 0;
            while (at < n && strcmp(seen[at], lang) != 0)
                at++;
            if (at == n && n < SAMPLE_LANGUAGES_MAX)
                seen[n++] = lang;
        }
    }
    return n;
}

void sample_get_expected(const struct sample *s, sample_part part, struct sample_expected *out)
{
    unsigned counts[EXPECT_MAX] = {0}, hosts = 0, thin = 0;
    for (unsigned i = 0; has_sites(s) && i < site_count; i++) {
        const struct site *site = &sites[i];
        if (!in_part(site, part))
            continue;
        hosts++;
        for (unsigned at = 0; at < visible_count(site); at++) {
            counts[page_expect(site, at)]++;
            thin += page_is_thin(site, at);
        }
    }
    if (s->big.pages && (part == SAMPLE_BIG || part == SAMPLE_ALL)) {
        hosts += s->big.hosts;
        counts[EXPECT_PAGE] += s->big.pages;
    }
    *out = (struct sample_expected){hosts,
                                    count_languages(s, part),
                                    counts[EXPECT_PAGE],
                                    counts[EXPECT_DOCUMENT],
                                    counts[EXPECT_REDIRECT],
                                    counts[EXPECT_GONE],
                                    counts[EXPECT_ERROR],
                                    counts[EXPECT_REFUSED],
                                    counts[EXPECT_HIDDEN],
                                    thin,
                                    counts[EXPECT_LIST],
                                    counts[EXPECT_TRAP]};
}

void sample_expected_text(const struct sample *s, sample_part part, struct buf *out)
{
    for (unsigned i = 0; has_sites(s) && i < site_count; i++) {
        const struct site *site = &sites[i];
        for (unsigned at = 0; in_part(site, part) && at < visible_count(site); at++) {
            buf_printf(out, "%s\t", expect_name(page_expect(site, at)));
            put_url(s, site, at, out);
            buf_putc(out, '\n');
        }
    }
}

/* ---- the ledger, and changes ---- */

void sample_ledger(struct sample *s, sample_ledger_fn *fn, void *arg)
{
    ledger_each(&s->ledger, fn, arg);
}

void sample_ledger_clear(struct sample *s)
{
    ledger_clear(&s->ledger);
}

uint64_t sample_request_count(struct sample *s)
{
    pthread_mutex_lock(&s->ledger.lock);
    uint64_t n = s->ledger.requests;
    pthread_mutex_unlock(&s->ledger.lock);
    return n;
}

status sample_bump(struct sample *s, struct span host, struct span path)
{
    const struct site *site = find_site(s, host);
    int at = site ? site_find(site, path) : -1;
    if (at < 0)
        return ST_NOT_FOUND;
    atomic_fetch_add(&s->states[site - sites][at].bumps, 1);
    return ST_OK;
}
