#include "agent/compare.h"

#include "io/clock.h"
#include "plan/pace.h"
#include "web/document.h"
#include "web/robots.h"
#include "web/sketch.h"
#include "web/url.h"
#include "wire/control.h"

#define LOOK_MS 200
#define ALL_MS 90000 /* then what is left is not looked at: orders after this one count as done when it is */

/* One URL after the other: address, robots.txt, pause, page. */
struct run {
    const struct compare_opts *o;
    const struct span *urls;
    size_t count, at;
    struct texts *parts;
    struct loop *loop;
    struct resolver *resolver;
    struct fetcher *fetcher;
    struct timer *pause, *look;
    struct arena arena; /* of the URL under way */
    struct url url;
    struct addr addr;
    struct robots *rules;
    struct buf rules_site; /* whose they are */
    void (*next)(struct run *r);
    mono_ms until;
    status st;
};

static void begin_url(struct run *r);

static void after_pause(struct run *r, int64_t ms, void (*next)(struct run *))
{
    r->next = next;
    timer_set(r->pause, ms);
}

static void on_pause_over(void *arg)
{
    struct run *r = arg;
    r->next(r);
}

static void conclude(struct run *r, uint16_t http_status, uint64_t digest, struct span page_text)
{
    char text[ADDR_TEXT_MAX];
    struct buf packed = {0};
    fetched_page_pack(
        &(struct fetched_page){.url = r->urls[r->at],
                               .http_status = http_status,
                               .digest = digest,
                               .sketch = sketch_of(page_text),
                               .words_sketch = sketch_of_words(page_text),
                               .text = page_text.n <= FETCHED_TEXT_MAX ? page_text : (struct span){0},
                               .address = r->addr.family ? span_str(addr_format(&r->addr, text)) : (struct span){0}},
        &packed);
    texts_put(r->parts, buf_span(&packed));
    buf_done(&packed);
    r->at++;
    after_pause(r, 0, begin_url);
}

/* ---- the page ---- */

static void on_page(void *arg, const struct fetch_result *f)
{
    struct run *r = arg;
    const struct facts_opts fo = {.keep_text = true};
    struct document d = {0};
    if (f->st != ST_OK) {
        conclude(r, 0, 0, (struct span){0});
        return;
    }
    bool has_text =
        !f->body_unwanted && document_read(&r->arena, f->content_type, r->url.href, f->body, &fo, &d) == ST_OK;
    conclude(r, (uint16_t)f->http_status, has_text ? d.facts.digest : 0, has_text ? d.facts.text : (struct span){0});
}

static void ask_page(struct run *r);

/* As long as a crawl would wait. A site that wants more patience than there is is not looked at. */
static void ask_page_later(struct run *r)
{
    struct pace_opts o = pace_default;
    o.delay_ms = r->o->delay_ms;
    int64_t wait = pace_of(&o, &r->addr, false, robots_crawl_delay_ms(r->rules), 0, 0).delay_ms;
    if (clock_mono() + wait > r->until)
        conclude(r, 0, 0, (struct span){0});
    else
        after_pause(r, wait, ask_page);
}

static void ask_page(struct run *r)
{
    if (!robots_check(r->rules, url_request_target(&r->url)).allowed) {
        conclude(r, 0, 0, (struct span){0});
        return;
    }
    fetcher_get(r->fetcher,
                &(struct fetch_req){
                    .url = r->url.href, .addr = r->addr, .wants = document_is_wanted, .done = on_page, .arg = r});
}

/* ---- robots.txt ---- */

static void on_robots(void *arg, const struct fetch_result *f)
{
    struct run *r = arg;
    struct arena a;
    robots_free(r->rules);
    /* As RFC 9309 has it: what is not there forbids nothing, a server in trouble everything. A redirect counts as the
     * latter here: nothing hangs on this one page. */
    if (f->st == ST_OK && f->http_status >= 200 && f->http_status <= 299)
        r->rules = robots_parse(f->body, r->o->fetch.user_agent);
    else
        r->rules =
            robots_all(f->st == ST_OK && f->http_status >= 400 && f->http_status <= 499 && f->http_status != 429);
    arena_init(&a);
    buf_clear(&r->rules_site);
    buf_put(&r->rules_site, url_site(&a, &r->url));
    arena_done(&a);
    ask_page_later(r);
}

static void ask_robots(struct run *r)
{
    struct span site = url_site(&r->arena, &r->url);
    if (r->rules && span_eq(site, buf_span(&r->rules_site))) {
        ask_page_later(r);
        return;
    }
    struct buf url = {0};
    buf_put(&url, site);
    buf_puts(&url, "/robots.txt");
    fetcher_get(r->fetcher, &(struct fetch_req){
                                .url = buf_span(&url), .addr = r->addr, .any_type = true, .done = on_robots, .arg = r});
    buf_done(&url);
}

/* ---- the address ---- */

static void on_resolved(void *arg, const struct resolved *res)
{
    struct run *r = arg;
    if (res->st == ST_CANCELLED)
        return;
    if (res->st != ST_OK || gate_is_refused(r->o->gate, &res->addrs[0], NULL)) {
        conclude(r, 0, 0, (struct span){0});
        return;
    }
    r->addr = res->addrs[0];
    ask_robots(r);
}

static bool is_refused(struct run *r)
{
    struct url normal;
    return url_normalise(&r->arena, &r->url, &url_norm_default, URL_INPUT_MAX, &normal) != ST_OK ||
           places_find(r->o->refused, &normal);
}

static void begin_url(struct run *r)
{
    struct resolved res;
    arena_reset(&r->arena);
    r->addr = (struct addr){0};
    if (r->at == r->count)
        loop_stop(r->loop);
    else if (clock_mono() > r->until)
        conclude(r, 0, 0, (struct span){0});
    else if (url_parse(&r->arena, r->urls[r->at], NULL, &r->url) != ST_OK || !url_is_http(&r->url) ||
             port_is_bad(r->url.port) || is_refused(r))
        conclude(r, 0, 0, (struct span){0});
    else if (resolver_peek(r->resolver, r->url.host, &res))
        on_resolved(r, &res);
    else
        resolver_lookup(r->resolver, r->url.host, on_resolved, r);
}

static void on_look(void *arg)
{
    struct run *r = arg;
    if (atomic_load(r->o->is_cancelled)) {
        r->st = ST_CANCELLED;
        loop_stop(r->loop);
    } else {
        timer_set(r->look, LOOK_MS);
    }
}

status compare_run(const struct compare_opts *o, const struct span *urls, size_t n, struct texts *parts)
{
    struct run r = {
        .o = o, .urls = urls, .count = n, .parts = parts, .loop = loop_new(), .until = clock_mono() + ALL_MS};
    if (n > COMPARE_URLS_MAX) {
        loop_free(r.loop);
        return ST_LIMIT;
    }
    arena_init(&r.arena);
    r.pause = timer_new(r.loop, on_pause_over, &r);
    r.look = timer_new(r.loop, on_look, &r);
    r.st = resolver_new(r.loop, &o->dns, &r.resolver);
    if (r.st == ST_OK)
        r.st = fetcher_new(r.loop, &o->fetch, &r.fetcher);
    if (r.st == ST_OK) {
        after_pause(&r, 0, begin_url);
        timer_set(r.look, LOOK_MS);
        loop_run(r.loop);
    }
    struct texts ignored = {0};
    r.parts = &ignored; /* a page that was cancelled is no answer */
    fetcher_free(r.fetcher);
    resolver_free(r.resolver);
    texts_done(&ignored);
    timer_free(r.pause);
    timer_free(r.look);
    loop_free(r.loop);
    robots_free(r.rules);
    buf_done(&r.rules_site);
    arena_done(&r.arena);
    return r.st;
}
