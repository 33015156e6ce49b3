#include "crawl/robots_ask.h"

#include <stdlib.h>

#include "base/mem.h"
#include "web/url.h"

#define HOPS_MAX 5 /* RFC 9309 2.3.1.2 */
#define URL_MAX 2048

struct robots_ask {
    struct robots_ask_opts o;
    struct timer *pause; /* owned */
    struct arena arena;  /* of `url` */
    struct url url;
    struct addr addr;
    struct buf host; /* that addr is of */
    unsigned hops;
};

static void on_answer(void *arg, const struct fetch_result *f);

void robots_ask_free(struct robots_ask *r)
{
    if (!r)
        return;
    timer_free(r->pause);
    arena_done(&r->arena);
    buf_done(&r->host);
    free(r);
}

static void end(struct robots_ask *r, status st, struct robots *rules, const char *why)
{
    robots_ask_fn *done = r->o.done;
    void *arg = r->o.arg;
    struct buf text = {0};
    buf_puts(&text, why); /* it may be of what is freed here */
    robots_ask_free(r);
    done(arg, st, rules, buf_cstr(&text));
    buf_done(&text);
}

/* A redirect without end, to no web address or to one that we must not touch: there is no robots.txt. */
static void give_up_hop(struct robots_ask *r)
{
    end(r, ST_OK, robots_all(true), "");
}

static void fetch(struct robots_ask *r)
{
    fetcher_get(r->o.fetcher, &(struct fetch_req){
                                  .url = r->url.href, .addr = r->addr, .any_type = true, .done = on_answer, .arg = r});
}

static void on_resolved(void *arg, const struct resolved *res)
{
    struct robots_ask *r = arg;
    if (res->st == ST_CANCELLED) {
        end(r, ST_CANCELLED, NULL, "cancelled");
    } else if (res->st != ST_OK) {
        end(r, res->st, NULL, "it redirects to a host that has no address");
    } else if (r->o.may_use && !r->o.may_use(r->o.arg, &res->addrs[0])) {
        give_up_hop(r);
    } else {
        r->addr = res->addrs[0];
        buf_clear(&r->host);
        buf_put(&r->host, r->url.host);
        fetch(r);
    }
}

static void on_pause_over(void *arg)
{
    struct robots_ask *r = arg;
    if (span_eq(r->url.host, buf_span(&r->host)))
        fetch(r);
    else
        resolver_lookup(r->o.resolver, r->url.host, on_resolved, r);
}

static void follow(struct robots_ask *r, struct span location)
{
    struct url to, normal;
    if (++r->hops > HOPS_MAX || url_parse(&r->arena, url_header_ref(&r->arena, location), &r->url, &to) != ST_OK ||
        !url_is_http(&to) || url_normalise(&r->arena, &to, &(struct url_norm){0}, URL_MAX, &normal) != ST_OK) {
        give_up_hop(r);
        return;
    }
    r->url = normal;
    timer_set(r->pause, r->o.pause_ms);
}

static void on_answer(void *arg, const struct fetch_result *f)
{
    struct robots_ask *r = arg;
    int code = f->http_status;
    if (r->o.requests && f->st != ST_CANCELLED) {
        *r->o.requests += 1;
        *r->o.bytes += f->wire_bytes;
    }
    if (f->st == ST_LIMIT || (f->st == ST_REFUSED && r->hops)) {
        end(r, ST_OK, robots_all(true), ""); /* too long, or not ours to ask: no robots.txt */
    } else if (f->st != ST_OK) {
        end(r, f->st, NULL, f->why);
    } else if (code >= 300 && code <= 399 && f->location.n) {
        follow(r, f->location);
    } else if (code >= 200 && code <= 299) {
        end(r, ST_OK, robots_parse(f->body, r->o.user_agent), "");
    } else {
        end(r, ST_OK, robots_all(code < 500 && code != 429), "");
    }
}

struct robots_ask *robots_ask_start(const struct robots_ask_opts *o, struct span url, const struct addr *addr)
{
    struct robots_ask *r = mem_alloc(sizeof(*r));
    struct url page;
    r->o = *o;
    r->addr = *addr;
    r->pause = timer_new(o->loop, on_pause_over, r);
    arena_init(&r->arena);
    bool is_good = url_parse(&r->arena, url, NULL, &page) == ST_OK &&
                   url_parse(&r->arena, SPAN("/robots.txt"), &page, &r->url) == ST_OK;
    if (is_good)
        buf_put(&r->host, r->url.host);
    else
        r->url.href = SPAN(""); /* the fetcher says that it is no URL */
    fetch(r);
    return r;
}
