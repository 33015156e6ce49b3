/* figures_crawl.c - of the crawl: what the servers' ledger tells, and the pages' records. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "lab/play/audit.h"
#include "lab/play/figures_internal.h"

#define POLITE 0.95        /* of the delay: what a busy machine may take off a pause that was kept */
#define DELAY_DEFAULT 1000 /* ms; of orb and orb-agent */
#define PAGE_LINE_MAX (4u << 20)

struct crawl {
    struct figures_run *r;
    struct audit audit;
    double last; /* the last page that nobody had had before */
    double carried;
    uint64_t moves, again_killed;
    struct figures_kills kills;
};

static double ceiling(const struct figures_run *r)
{
    double most = LAB_PAGES_MAX;
    (void)figures_option(&r->run->serve, "--pages", &most);
    return most;
}

/* A client or a host that is on no map counts, and has no distance. */
static void take(void *arg, const struct audit_entry *e)
{
    struct crawl *c = arg;
    uint64_t pages = c->audit.pages;
    unsigned from;
    if (c->r->is_cleared && e->at < c->r->begin)
        return;
    uint64_t again = c->audit.again;
    audit_add(&c->audit, e);
    bool is_new = c->audit.pages > pages;
    if (is_new && e->at > c->last)
        c->last = e->at;
    int i = figures_site_of(c->r, e->host);
    if (i < 0 || !map_at(c->r->lab.map, &e->from, &from))
        return;
    struct figures_site *s = &c->r->sites[i];
    if (is_new && e->at > s->last)
        s->last = e->at;
    if ((is_new || c->audit.again > again) && figures_kills_excuse(c->r, &c->kills, i, e->target, from, e->at))
        c->again_killed++;
    if (!span_is(e->method, "GET"))
        return;
    c->carried += (double)e->bytes * (double)map_path(c->r->lab.map, s->place, from).rtt_ms;
    c->moves += s->asker >= 0 && s->asker != (int)from;
    s->asker = (int)from;
}

/* ---- times ---- */

static int by_value(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

static double quantile(const double *sorted, size_t n, double q)
{
    size_t at = (size_t)ceil(q * (double)n);
    return sorted[at ? at - 1 : 0];
}

static void put_site_times(struct figures_run *r)
{
    double *s = mem_alloc((r->lab.site_count + 1) * sizeof(*s)), sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < r->lab.site_count; i++)
        if (r->sites[i].last > 0) {
            s[n] = r->sites[i].last - r->begin;
            sum += s[n++];
        }
    if (n) {
        qsort(s, n, sizeof(*s), by_value);
        figures_put_str(r->out, "site_s", sum / (double)n);
        figures_put_str(r->out, "site_p50_s", quantile(s, n, 0.5));
        figures_put_str(r->out, "site_p95_s", quantile(s, n, 0.95));
    }
    free(s);
}

/* ---- who did how much ---- */

static void put_shares(struct figures_run *r, const struct audit *a)
{
    size_t used = 0;
    double most = 0;
    for (size_t i = 0; i < a->client_count; i++) {
        used += a->clients[i].pages > 0;
        most = fmax(most, (double)a->clients[i].pages);
    }
    figures_put_str(r->out, "agents_used", (double)used);
    if (a->pages)
        figures_put_str(r->out, "load_most", 100 * most / (double)a->pages);
}

static void put_wanted(struct figures_run *r)
{
    double most = ceiling(r), wanted = 0;
    for (size_t i = 0; i < r->lab.site_count; i++)
        wanted += fmin(r->lab.sites[i].pages, most);
    if (r->lab.site_count) {
        figures_put_str(r->out, "sites", (double)r->lab.site_count);
        figures_put_str(r->out, "wanted", wanted);
    }
}

status figures_of_crawl(struct figures_run *r)
{
    struct crawl c = {.r = r};
    struct buf path = {0};
    double delay = DELAY_DEFAULT;
    put_wanted(r);
    bool is_central = r->run->crawler == CRAWLER_CENTRAL;
    (void)figures_option(is_central ? &r->run->coordinator : &r->run->agents, "--delay", &delay);
    audit_init(&c.audit, POLITE * delay);
    buf_printf(&path, "%s/ledger", r->folder);
    status st = figures_kills_read(r, &c.kills);
    if (st == ST_OK)
        st = audit_read(buf_cstr(&path), take, &c, r->why);
    if (st == ST_OK) {
        const struct audit *a = &c.audit;
        r->requests = a->requests;
        figures_put_str(r->out, "requests", (double)a->requests);
        figures_put_str(r->out, "pages", (double)a->pages);
        figures_put_str(r->out, "again", (double)a->again);
        figures_put_str(r->out, "again_killed", (double)c.again_killed);
        figures_put_str(r->out, "forbidden", (double)a->forbidden);
        figures_put_str(r->out, "limited", (double)a->limited);
        figures_put_str(r->out, "errors", (double)a->errors);
        figures_put_str(r->out, "gap_ms", a->host.least_ms);
        figures_put_str(r->out, "impolite", (double)a->host.close);
        figures_put_str(r->out, "handed_gap_ms", a->handed.least_ms);
        figures_put_str(r->out, "bytes_fetched", (double)a->bytes);
        figures_put_str(r->out, "carried", c.carried / 1e6);
        figures_put_str(r->out, "moves", (double)c.moves);
        put_shares(r, a);
        if (r->begin > 0 && c.last > 0) {
            r->crawl_s = c.last - r->begin;
            figures_put_str(r->out, "crawl_s", r->crawl_s);
            put_site_times(r);
        }
    }
    figures_kills_done(&c.kills);
    audit_done(&c.audit);
    buf_done(&path);
    return st;
}

/* ---- pages ---- */

struct kept {
    uint64_t pages, timed;
    double total_us;
};

static bool take_page(struct kept *k, struct arena *a, struct span line)
{
    const struct json_node *page;
    if (json_tree(a, line, &page) != ST_OK)
        return false;
    double us = json_member_number(json_member(page, "state"), "total_us");
    k->pages += json_member_number(page, "status") == 200;
    if (us > 0) {
        k->timed++;
        k->total_us += us;
    }
    return true;
}

static status read_pages(const struct figures_run *r, const char *path, struct kept *k)
{
    FILE *f = fopen(path, "re");
    if (!f)
        return errno == ENOENT ? ST_NOT_FOUND : ST_IO;
    struct arena arena = {0};
    char *line = NULL;
    size_t cap = 0, number = 0;
    ssize_t n;
    status st = ST_OK;
    while (st == ST_OK && (n = getline(&line, &cap, f)) > 0) {
        number++;
        if ((size_t)n > PAGE_LINE_MAX || !take_page(k, &arena, span_of(line, (size_t)n))) {
            buf_printf(r->why, "%s:%zu: no page", path, number);
            st = ST_INVALID;
        }
        arena_reset(&arena);
    }
    if (st == ST_OK && ferror(f))
        st = ST_IO;
    free(line);
    arena_done(&arena);
    fclose(f);
    return st;
}

/* What the search engine has in the end; how long its requests took, and so how many were under way at a time (Little:
 * their number x the time of one / the whole time). */
status figures_of_pages(struct figures_run *r)
{
    struct kept k = {0};
    struct buf path = {0};
    double wanted;
    buf_printf(&path, "%s/pages.jsonl", r->folder);
    status st = read_pages(r, buf_cstr(&path), &k);
    if (st == ST_OK) {
        figures_put_str(r->out, "kept", (double)k.pages);
        if (figures_get(r->out, SPAN("wanted"), &wanted))
            figures_put_str(r->out, "lost", wanted - (double)k.pages);
        if (k.timed) {
            double ms = k.total_us / (double)k.timed / 1000;
            figures_put_str(r->out, "request_ms", ms);
            if (r->crawl_s > 0)
                figures_put_str(r->out, "in_flight", (double)r->requests * ms / 1000 / r->crawl_s);
        }
    } else if (st == ST_IO)
        buf_printf(r->why, "%s: cannot be read", buf_cstr(&path));
    buf_done(&path);
    return st;
}
