/* cmd_probe.c - `orb probe`: how far is it from here? Targets one after the other, or some at a time (--at-once), and
 * of each one kind after the other; nobody is asked two things at a time. */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "cli/command.h"
#include "cli/fetch_one.h"
#include "cli/seeds.h"
#include "cli/url_opts.h"
#include "codec/json.h"
#include "crawl/robots_ask.h"
#include "io/fetch_guard.h"
#include "io/in_lab.h"
#include "io/prober.h"

#define PAUSE_MS 1000             /* between two things that are asked of a public address */
#define CRAWL_DELAY_MS_MAX 120000 /* longer ones count as this */
#define GAP_MS_MIN 200            /* between two packets to one */
#define KINDS_MAX 3
#define TAKEN_MS 20 /* another target at this address is under way: looked at again after so long */

struct run {
    struct run *lead; /* the first one: has what they share */
    const struct options *o;
    struct loop *loop;
    struct resolver *resolver;
    struct fetcher *fetcher; /* of robots.txt */
    struct prober *prober;
    struct timer *pause;
    void (*next)(struct run *r); /* after the pause */
    struct fetch_guard guard;
    struct span agent;
    probe_kind kinds[KINDS_MAX];
    size_t kind_count;
    bool is_all;
    struct buf out;
    /* of the lead */
    struct run *all;
    size_t count, active;
    size_t taken; /* targets */
    unsigned good;
    int bad; /* worst exit code of what went wrong */
    /* the target under way */
    size_t kind_at;
    struct arena arena;
    struct span target;
    struct url url;
    struct addr addr;
    int64_t gap_ms;
    struct addr asked; /* the last address that something was asked of */
};

static void begin_target(struct run *r);
static void begin_kind(struct run *r);

/* ---- steps ---- */

static void on_pause_over(void *arg)
{
    struct run *r = arg;
    r->next(r);
}

static void go_on(struct run *r, int64_t ms, void (*next)(struct run *))
{
    r->next = next;
    timer_set(r->pause, ms);
}

static void next_target(struct run *r)
{
    r->addr = (struct addr){0};
    go_on(r, 0, begin_target);
}

static void next_kind(struct run *r)
{
    r->kind_at++;
    go_on(r, 0, begin_kind);
}

static bool is_public(const struct run *r)
{
    return addr_classify(&r->addr) == ADDR_PUBLIC && !in_lab();
}

static void count(struct run *r, int code)
{
    if (code == EXIT_DONE)
        r->lead->good++;
    else if (code > r->lead->bad)
        r->lead->bad = code;
}

/* ---- what is said ---- */

/* Of a status that a probe, or what comes before it, ends with. */
static const char *words_of(status st)
{
    switch (st) {
    case ST_TIMEOUT:
        return "no answer in time";
    case ST_CONNECT:
        return "no connection";
    case ST_TLS:
        return "the certificate or the handshake is bad";
    case ST_PROTOCOL:
        return "no answer of HTTP";
    case ST_UNSUPPORTED:
        return "not allowed on this system (net.ipv4.ping_group_range)";
    case ST_DNS:
        return "no such host";
    case ST_REFUSED:
        return "a private or reserved address, or a port that is not asked";
    default:
        return status_name(st);
    }
}

static void put_ms(struct json *j, const char *name, bool is_there, uint32_t us)
{
    json_key(j, name);
    if (is_there)
        json_real(j, us / 1000.0, 3);
    else
        json_null(j);
}

static void put_json(struct run *r, const struct probe_result *p, const char *state)
{
    struct json j = {.out = &r->out};
    char text[ADDR_TEXT_MAX] = "";
    json_open(&j, '{');
    json_key(&j, "target");
    json_text(&j, r->target);
    json_key(&j, "address");
    json_text_or_null(&j, span_str(p->addr.family ? addr_format(&p->addr, text) : text));
    json_key(&j, "kind");
    json_text_or_null(&j, p->kind ? span_str(probe_kind_name(p->kind)) : (struct span){0});
    json_key(&j, "status");
    json_str(&j, state);
    json_key(&j, "samples");
    json_u64(&j, p->samples);
    json_key(&j, "lost");
    json_u64(&j, p->lost);
    put_ms(&j, "min_ms", p->samples, p->min_us);
    put_ms(&j, "median_ms", p->samples, p->median_us);
    put_ms(&j, "server_ms", p->samples && p->kind == PROBE_HEAD, p->server_us);
    json_key(&j, "http_status");
    if (p->http_status)
        json_i64(&j, p->http_status);
    else
        json_null(&j);
    json_key(&j, "sample_ms");
    json_open(&j, '[');
    for (unsigned i = 0; i < p->samples; i++)
        json_real(&j, p->sample_us[i] / 1000.0, 3);
    json_close(&j, ']');
    json_close(&j, '}');
    buf_putc(&r->out, '\n');
}

/* What was tried is a line of output. `why`: in place of the status' words. */
static void say_result(struct run *r, const struct probe_result *p, const char *state, const char *why)
{
    char text[ADDR_TEXT_MAX];
    if (opt_flag(r->o, OPT_JSON)) {
        put_json(r, p, state ? state : status_name(p->st));
    } else {
        put_safe(&r->out, r->target);
        buf_printf(&r->out, " %s %s: ", addr_format(&p->addr, text), probe_kind_name(p->kind));
        if (p->st == ST_OK) {
            buf_printf(&r->out, "%u of %u, min %.3f ms, median %.3f ms", p->samples, p->samples + p->lost,
                       p->min_us / 1000.0, p->median_us / 1000.0);
            if (p->kind == PROBE_HEAD)
                buf_printf(&r->out, ", server %.3f ms", p->server_us / 1000.0);
        } else {
            put_safe(&r->out, span_str(why ? why : words_of(p->st)));
        }
        buf_putc(&r->out, '\n');
    }
    print_buf(&r->out);
    fflush(stdout); /* a line as soon as it is known; main() tells of trouble */
}

/* What could not be tried is a complaint. */
static void complain_target(struct run *r, status st, int code, const char *why)
{
    if (opt_flag(r->o, OPT_JSON)) {
        put_json(r, &(struct probe_result){.addr = r->addr}, status_name(st));
        print_buf(&r->out);
    }
    count(r, complain(code, "probe %.*s: %s", SPAN_ARG(r->target), why));
    next_target(r);
}

/* ---- one kind ---- */

static void on_probed(void *arg, const struct probe_result *p)
{
    struct run *r = arg;
    if (p->st == ST_CANCELLED)
        return;
    r->asked = r->addr;
    say_result(r, p, NULL, NULL);
    if (p->st == ST_UNSUPPORTED)
        count(r, r->is_all ? EXIT_DONE : EXIT_IO); /* "all" is all that can be had here */
    else
        count(r, exit_code_of(p->st));
    next_kind(r);
}

static void probe(struct run *r)
{
    prober_start(r->prober, &(struct probe_req){.kind = r->kinds[r->kind_at],
                                                .addr = r->addr,
                                                .port = r->url.port,
                                                .url = r->url.href,
                                                .samples = (unsigned)opt_number(r->o, OPT_SAMPLES),
                                                .gap_ms = r->gap_ms ? (int)r->gap_ms : -1,
                                                .done = on_probed,
                                                .arg = r});
}

static void on_robots(void *arg, status st, struct robots *rules, const char *why)
{
    struct run *r = arg;
    struct probe_result none = {.st = st, .kind = PROBE_HEAD, .addr = r->addr};
    if (st == ST_CANCELLED)
        return;
    r->asked = r->addr;
    if (st != ST_OK) {
        struct buf text = {0};
        buf_printf(&text, "robots.txt: %s", why);
        say_result(r, &none, NULL, buf_cstr(&text));
        buf_done(&text);
        count(r, exit_code_of(st));
        next_kind(r);
        return;
    }
    int64_t delay = robots_crawl_delay_ms(rules);
    bool is_allowed = robots_check(rules, url_request_target(&r->url)).allowed;
    robots_free(rules);
    if (!is_allowed) {
        none.st = ST_REFUSED;
        say_result(r, &none, "disallowed", "disallowed by robots.txt");
        count(r, EXIT_NO);
        next_kind(r);
        return;
    }
    if (delay > r->gap_ms && is_public(r))
        r->gap_ms = delay < CRAWL_DELAY_MS_MAX ? delay : CRAWL_DELAY_MS_MAX;
    go_on(r, r->gap_ms, probe);
}

static void ask(struct run *r)
{
    bool is_head = r->kinds[r->kind_at] == PROBE_HEAD;
    int64_t least = is_head ? PAUSE_MS : GAP_MS_MIN;
    r->gap_ms = opt_number(r->o, OPT_GAP);
    if (r->gap_ms < least && (is_public(r) || r->o->v[OPT_GAP].source == FROM_DEFAULT))
        r->gap_ms = least;
    if (is_head)
        (void)robots_ask_start(&(struct robots_ask_opts){.loop = r->loop,
                                                         .resolver = r->resolver,
                                                         .fetcher = r->fetcher,
                                                         .user_agent = r->agent,
                                                         .pause_ms = r->gap_ms,
                                                         .done = on_robots,
                                                         .arg = r},
                               r->url.href, &r->addr);
    else
        probe(r);
}

static bool was_asked(const struct run *r)
{
    bool was = false;
    for (size_t i = 0; i < r->lead->count; i++)
        was |= addr_eq(&r->addr, &r->lead->all[i].asked);
    return was;
}

static void begin_kind(struct run *r)
{
    if (r->kind_at == r->kind_count)
        next_target(r);
    else
        go_on(r, is_public(r) && was_asked(r) ? PAUSE_MS : 0, ask);
}

/* ---- one target ---- */

static void find_address(struct run *r);

static bool is_taken(const struct run *r, const struct addr *addr)
{
    bool is = false;
    for (size_t i = 0; i < r->lead->count; i++)
        is |= addr_eq(addr, &r->lead->all[i].addr);
    return is;
}

static void use_address(struct run *r, const struct resolved *res)
{
    if (res->st != ST_OK) {
        complain_target(r, res->st, EXIT_IO, res->st == ST_DNS ? "no such host: check the name" : words_of(res->st));
        return;
    }
    if (is_taken(r, &res->addrs[0])) {
        go_on(r, TAKEN_MS, find_address);
        return;
    }
    r->addr = res->addrs[0];
    if (!fetch_guard_allows(&r->guard, &r->addr))
        complain_target(r, ST_REFUSED, EXIT_NO, "a private or reserved address: --allow-private allows private ones");
    else
        begin_kind(r);
}

static void on_resolved(void *arg, const struct resolved *res)
{
    if (res->st != ST_CANCELLED)
        use_address(arg, res);
}

static void find_address(struct run *r)
{
    struct resolved res;
    if (resolver_peek(r->resolver, r->url.host, &res))
        use_address(r, &res);
    else
        resolver_lookup(r->resolver, r->url.host, on_resolved, r);
}

/* With the port of --port, unless it has one. */
static bool parse_url(struct run *r, struct span text)
{
    struct buf other = {0};
    struct url typed;
    bool is_good = url_parse(&r->arena, text, NULL, &typed) == ST_OK && url_is_http(&typed) &&
                   url_normalise(&r->arena, &typed, &(struct url_norm){0}, URL_BYTES_MAX, &r->url) == ST_OK;
    if (is_good && opt_is_set(r->o, OPT_PORT) && !r->url.has_explicit_port) {
        buf_printf(&other, "%.*s://%.*s:%d%.*s", SPAN_ARG(r->url.scheme), SPAN_ARG(r->url.host),
                   (int)opt_number(r->o, OPT_PORT), SPAN_ARG(url_request_target(&r->url)));
        is_good = url_parse(&r->arena, buf_span(&other), NULL, &r->url) == ST_OK;
    }
    buf_done(&other);
    return is_good;
}

/* A URL, a host, a host with a port, an address. */
static bool parse_target(struct run *r)
{
    struct buf text = {0};
    struct addr literal;
    bool is_url = span_search(r->target, SPAN("://"), false) < r->target.n;
    bool is_literal = !is_url && addr_parse(r->target, &literal) == ST_OK;
    if (!is_url) {
        struct span host = span_cut(r->target, 0, is_literal ? r->target.n : span_find(r->target, ':', 0));
        buf_puts(&text, host_is_private(host) ? "http://" : "https://");
    }
    bool wants_brackets = is_literal && literal.family == 6 && r->target.p[0] != '[';
    buf_puts(&text, wants_brackets ? "[" : "");
    buf_put(&text, r->target);
    buf_puts(&text, wants_brackets ? "]" : "");
    bool is_good = parse_url(r, buf_span(&text));
    buf_done(&text);
    return is_good;
}

static void begin_target(struct run *r)
{
    if (r->lead->taken == r->o->arg_count) {
        if (--r->lead->active == 0)
            loop_stop(r->loop);
        return;
    }
    arena_reset(&r->arena);
    r->target = r->o->args[r->lead->taken++];
    r->kind_at = 0;
    r->addr = (struct addr){0};
    if (!parse_target(r)) {
        complain_target(r, ST_INVALID, EXIT_INPUT, "neither an http(s) URL nor a host: write example.org, or a URL");
        return;
    }
    if (port_is_bad(r->url.port))
        complain_target(r, ST_REFUSED, EXIT_NO, "no web server is on that port: choose another");
    else
        find_address(r);
}

/* ---- the command ---- */

static void choose_kinds(struct run *r)
{
    static const probe_kind all[KINDS_MAX] = {PROBE_TCP, PROBE_ICMP, PROBE_HEAD};
    r->is_all = !probe_kind_parse(opt_text(r->o, OPT_PROBE_KIND), &r->kinds[0]);
    r->kind_count = r->is_all ? KINDS_MAX : 1;
    if (r->is_all)
        memcpy(r->kinds, all, sizeof(all));
}

static int open_network(struct run *r, struct span hosts)
{
    const struct options *o = r->o;
    bool allow_private = opt_flag(o, OPT_ALLOW_PRIVATE), insecure = opt_flag(o, OPT_INSECURE);
    struct span ca_file = opt_text(o, OPT_CA_FILE);
    const struct resolver_opts dns = {.server = opt_text(o, OPT_RESOLVER), .hosts = hosts};
    const struct fetcher_opts http = {.user_agent = r->agent,
                                      .ca_file = ca_file,
                                      .insecure = insecure,
                                      .allow_private = allow_private,
                                      .body_bytes_max = ROBOTS_BYTES_MAX};
    const struct prober_opts probes = {
        .allow_private = allow_private, .user_agent = r->agent, .ca_file = ca_file, .insecure = insecure};
    fetch_guard_init(&r->guard, allow_private);
    if (resolver_new(r->loop, &dns, &r->resolver) != ST_OK)
        return complain(EXIT_USAGE, "probe: --resolver or --hosts: not an address, or not a hosts file");
    if (fetcher_new(r->loop, &http, &r->fetcher) != ST_OK || prober_new(r->loop, &probes, &r->prober) != ST_OK)
        return complain(EXIT_IO, "probe: start libcurl: check --ca-file");
    return EXIT_DONE;
}

/* Each has what the lead opened, and a pause and a target of its own. */
static struct run *begin_all(struct run *lead)
{
    size_t n = (size_t)opt_number(lead->o, OPT_AT_ONCE);
    struct run *all = mem_alloc(n * sizeof(*all));
    for (size_t i = 0; i < n; i++) {
        all[i] = *lead;
        all[i].lead = all;
        all[i].all = all;
        all[i].count = all[i].active = n;
        arena_init(&all[i].arena);
        all[i].pause = timer_new(lead->loop, on_pause_over, &all[i]);
        go_on(&all[i], 0, begin_target);
    }
    return all;
}

static void end_all(struct run *all)
{
    size_t n = all ? all->count : 0;
    for (size_t i = 0; i < n; i++) {
        timer_free(all[i].pause);
        arena_done(&all[i].arena);
        buf_done(&all[i].out);
    }
    free(all);
}

int cmd_probe(const struct options *o)
{
    struct run r = {.o = o, .loop = loop_new()}, *all = NULL;
    struct buf agent = {0}, hosts = {0};
    int code = EXIT_DONE;
    choose_kinds(&r);
    fetch_one_agent(o, &agent);
    r.agent = buf_span(&agent);
    if (opt_cstr(o, OPT_HOSTS))
        code = read_input("probe", opt_cstr(o, OPT_HOSTS), &hosts);
    if (code == EXIT_DONE)
        code = open_network(&r, buf_span(&hosts));
    if (code == EXIT_DONE) {
        all = begin_all(&r);
        loop_run(r.loop);
        code = all->good && all->bad ? EXIT_NO : all->bad;
    }
    prober_free(r.prober);
    fetcher_free(r.fetcher);
    resolver_free(r.resolver);
    end_all(all);
    loop_free(r.loop);
    buf_done(&agent);
    buf_done(&hosts);
    return code;
}
