#include "cli/fetch_one.h"

#include "cli/command.h"
#include "cli/contact.h"
#include "io/fetcher.h"
#include "io/resolver.h"
#include "mobile/page_make.h"
#include "web/document.h"
#include "web/robots.h"
#include "web/url.h"

#define REDIRECTS_MAX 10       /* of the page, as of a crawl */
#define ROBOTS_REDIRECTS_MAX 5 /* RFC 9309 2.3.1.2 */
#define URL_MAX 2048
#define PAUSE_MS 1000 /* between two requests to a public address */

struct one {
    struct loop *loop;
    struct resolver *resolver;
    struct fetcher *fetcher;
    struct timer *pause;
    struct arena arena;
    struct span agent;
    struct url page;       /* the page that is wanted now */
    struct url ask;        /* what is being asked for: it, or a robots.txt */
    struct robots *robots; /* owned: of the site of the page, or NULL */
    bool is_robots, has_asked;
    unsigned hops, robots_hops;
    struct addr addr;
    struct fetched *out;
    const char *what;
    int code;
};

static void end(struct one *f, int code)
{
    f->code = code;
    loop_stop(f->loop);
}

static void fail(struct one *f, status st, const char *why)
{
    end(f, complain(exit_code_of(st), "%s: fetch %.*s: %s", f->what, SPAN_ARG(f->ask.href), why));
}

static void on_fetched(void *arg, const struct fetch_result *r);

static void send_request(void *arg)
{
    struct one *f = arg;
    f->has_asked = true;
    fetcher_get(f->fetcher, &(struct fetch_req){.url = f->ask.href,
                                                .addr = f->addr,
                                                .any_type = f->is_robots,
                                                .wants = document_is_wanted,
                                                .keep_headers = true,
                                                .done = on_fetched,
                                                .arg = f});
}

static void use_address(struct one *f, const struct resolved *r)
{
    if (r->st != ST_OK) {
        fail(f, r->st, "no such host: check the name");
        return;
    }
    f->addr = r->addrs[0];
    bool is_public = addr_classify(&f->addr) == ADDR_PUBLIC;
    timer_set(f->pause, f->has_asked && is_public ? PAUSE_MS : 0);
}

static void on_resolved(void *arg, const struct resolved *r)
{
    if (r->st != ST_CANCELLED)
        use_address(arg, r);
}

static void ask(struct one *f, const struct url *u, bool is_robots)
{
    struct resolved r;
    f->ask = *u;
    f->is_robots = is_robots;
    if (resolver_peek(f->resolver, u->host, &r))
        use_address(f, &r);
    else
        resolver_lookup(f->resolver, u->host, on_resolved, f);
}

static void ask_robots(struct one *f)
{
    struct url u;
    f->robots_hops = 0;
    if (url_parse(&f->arena, SPAN("/robots.txt"), &f->page, &u) == ST_OK)
        ask(f, &u, true);
    else
        fail(f, ST_INVALID, "not a URL");
}

/* The page's own rules are known: asks for it, or says why not. */
static void ask_page(struct one *f)
{
    struct robots_verdict v = robots_check(f->robots, url_request_target(&f->page));
    if (v.allowed)
        ask(f, &f->page, false);
    else
        end(f, complain(EXIT_NO, "%s: fetch %.*s: robots.txt does not allow it%s%.*s", f->what, SPAN_ARG(f->page.href),
                        v.rule.n ? ": " : "", SPAN_ARG(v.rule)));
}

/* The target of a redirect; false: it is none that can be followed. */
static bool redirect_of(struct one *f, const struct fetch_result *r, struct url *out)
{
    struct url u;
    return r->http_status >= 300 && r->http_status < 400 && r->location.n &&
           url_parse(&f->arena, r->location, &f->ask, &u) == ST_OK && url_is_http(&u) &&
           url_normalise(&f->arena, &u, &url_norm_default, URL_MAX, out) == ST_OK;
}

static void take_robots(struct one *f, const struct fetch_result *r)
{
    struct url next;
    if (r->st == ST_OK && redirect_of(f, r, &next) && f->robots_hops++ < ROBOTS_REDIRECTS_MAX) {
        ask(f, &next, true);
        return;
    }
    if (r->st != ST_OK) {
        fail(f, r->st, r->why);
        return;
    }
    if (r->http_status >= 500)
        f->robots = robots_all(false);
    else if (r->http_status >= 200 && r->http_status < 300)
        f->robots = robots_parse(span_cut(r->body, 0, ROBOTS_BYTES_MAX), f->agent);
    else
        f->robots = robots_all(true);
    ask_page(f);
}

static void go_to(struct one *f, const struct url *next)
{
    bool is_same_site = span_eq(url_site(&f->arena, next), url_site(&f->arena, &f->page));
    f->page = *next;
    if (is_same_site) {
        ask_page(f);
        return;
    }
    robots_free(f->robots);
    f->robots = NULL;
    ask_robots(f);
}

static void take_page(struct one *f, const struct fetch_result *r)
{
    struct url next;
    if (r->st != ST_OK) {
        fail(f, r->st, r->why);
    } else if (redirect_of(f, r, &next)) {
        if (f->hops++ < REDIRECTS_MAX)
            go_to(f, &next);
        else
            fail(f, ST_LIMIT, "too many redirects");
    } else if (r->body_unwanted) {
        fail(f, ST_UNSUPPORTED, "not a page of text");
    } else {
        f->out->http_status = r->http_status;
        buf_put(&f->out->url, f->page.href);
        buf_put(&f->out->headers, r->headers);
        buf_put(&f->out->content_type, r->content_type);
        buf_put(&f->out->body, r->body);
        end(f, EXIT_DONE);
    }
}

static void on_fetched(void *arg, const struct fetch_result *r)
{
    struct one *f = arg;
    if (r->st == ST_CANCELLED)
        return;
    if (r->st == ST_REFUSED)
        fail(f, r->st, "a private or reserved address: --allow-private allows it");
    else if (f->is_robots)
        take_robots(f, r);
    else
        take_page(f, r);
}

void fetch_one_agent(const struct options *o, struct buf *out)
{
    if (opt_text(o, OPT_USER_AGENT).n)
        buf_put(out, opt_text(o, OPT_USER_AGENT));
    else
        contact_agent(opt_text(o, OPT_PURPOSE_URL), opt_text(o, OPT_CONTACT), out);
}

static int open_network(struct one *f, const struct options *o, struct span hosts)
{
    const struct resolver_opts dns = {.server = opt_text(o, OPT_RESOLVER), .hosts = hosts};
    const struct fetcher_opts http = {.user_agent = f->agent,
                                      .ca_file = opt_text(o, OPT_CA_FILE),
                                      .insecure = opt_flag(o, OPT_INSECURE),
                                      .allow_private = opt_flag(o, OPT_ALLOW_PRIVATE)};
    if (resolver_new(f->loop, &dns, &f->resolver) != ST_OK)
        return complain(EXIT_USAGE, "%s: --resolver or --hosts: not an address, or not a hosts file", f->what);
    if (fetcher_new(f->loop, &http, &f->fetcher) != ST_OK)
        return complain(EXIT_IO, "%s: start libcurl: check --ca-file", f->what);
    return EXIT_DONE;
}

int fetch_one(const struct options *o, const char *what, struct span url, struct fetched *out)
{
    struct one f = {.loop = loop_new(), .what = what, .out = out};
    struct buf agent = {0}, hosts = {0};
    struct url parsed;
    int code = EXIT_DONE;
    arena_init(&f.arena);
    f.pause = timer_new(f.loop, send_request, &f);
    fetch_one_agent(o, &agent);
    f.agent = buf_span(&agent);
    if (opt_cstr(o, OPT_HOSTS))
        code = read_input(what, opt_cstr(o, OPT_HOSTS), &hosts);
    if (code == EXIT_DONE && (url_parse(&f.arena, url, NULL, &parsed) != ST_OK ||
                              url_normalise(&f.arena, &parsed, &url_norm_default, URL_MAX, &f.page) != ST_OK))
        code = complain(EXIT_INPUT, "%s: %.*s: not an http(s) URL", what, SPAN_ARG(url));
    if (code == EXIT_DONE)
        code = open_network(&f, o, buf_span(&hosts));
    if (code == EXIT_DONE) {
        ask_robots(&f);
        loop_run(f.loop);
        code = f.code;
    }
    robots_free(f.robots);
    fetcher_free(f.fetcher);
    resolver_free(f.resolver);
    timer_free(f.pause);
    loop_free(f.loop);
    arena_done(&f.arena);
    buf_done(&agent);
    buf_done(&hosts);
    return code;
}

void fetched_done(struct fetched *f)
{
    buf_done(&f->url);
    buf_done(&f->headers);
    buf_done(&f->content_type);
    buf_done(&f->body);
}
