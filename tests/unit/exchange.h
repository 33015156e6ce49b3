/* exchange.h - recorded exchanges between an agent and a coordinator: bytes as they are inside of TLS, made with keys
 * that everybody knows, so that they can be made again, signed again, and played to a real coordinator.
 * exchange_make makes them as today's code does, every field filled in (test_compat --record).
 * What is in them is shown by exchange_show.h. */
#pragma once

#include "base/arena.h"
#include "base/mem.h"
#include "base/siphash.h"
#include "codec/armor.h"
#include "crawl/channel.h"
#include "mobile/program.h"
#include "plan/frontier.h"
#include "wire/control.h"
#include "wire/join.h"
#include "wire/capture.h"
#include "wire/package.h"
#include "wire/paths.h"

#define EXCHANGES_MAX 32
#define EXCHANGE_SITE "http://one.example:1/" /* nobody answers there */
#define EXCHANGE_ADDRESS "127.1.1.1"
#define EXCHANGE_NETWORK "127.1.1.0/24"
#define EXCHANGE_NAME "athens"
#define EXCHANGE_AT INT64_C(1790000000000)

struct exchange {
    char name[32];
    struct buf request, answer;
};

struct exchanges {
    struct exchange list[EXCHANGES_MAX];
    size_t count;
    uint64_t sequence; /* of the agent's next request */
};

static inline void exchanges_done(struct exchanges *x)
{
    for (size_t i = 0; i < x->count; i++) {
        buf_done(&x->list[i].request);
        buf_done(&x->list[i].answer);
    }
    x->count = 0;
}

/* ---- keys, and other bytes that count up ---- */

enum {
    SEED_AGENT = 0x00,
    SEED_COORDINATOR = 0x20,
    SEED_AGENT_NEXT = 0x40,
    SEED_COORDINATOR_NEXT = 0x60,
    SEED_PROGRAM = 0x80
};

static inline void count_up(unsigned char *to, size_t n, unsigned char from)
{
    for (size_t i = 0; i < n; i++)
        to[i] = (unsigned char)(from + i);
}

static inline struct sign_key exchange_key(unsigned char seed)
{
    unsigned char s[SIGN_SEED_BYTES];
    struct sign_key k;
    count_up(s, sizeof(s), seed);
    sign_key_of(s, &k);
    return k;
}

#define EXCHANGE_TOKEN 0xA0 /* first byte of each */
#define EXCHANGE_NONCE 0xB0
#define EXCHANGE_CHALLENGE 0xC0

/* ---- HTTP ---- */

struct http_bytes {
    struct span method, target, auth, body;
    int code; /* of an answer */
};

static inline struct span http_header(struct span head, const char *name)
{
    struct span line, key, want = span_str(name);
    while (span_split(&head, '\n', &line))
        if (span_split(&line, ':', &key) && span_eq_nocase(key, want))
            return span_trim(line);
    return (struct span){0};
}

static inline struct http_bytes http_of(struct span bytes)
{
    struct http_bytes h = {0};
    size_t end = span_search(bytes, SPAN("\r\n\r\n"), false);
    struct span head = span_cut(bytes, 0, end), first = {0}, protocol = {0};
    uint64_t code = 0;
    h.body = span_from(bytes, end + 4);
    h.auth = http_header(head, AUTH_HEADER);
    span_split(&head, '\n', &first);
    span_split(&first, ' ', &h.method);
    span_split(&first, ' ', &h.target);
    span_split(&first, ' ', &protocol);
    if (span_starts(h.method, SPAN("HTTP/")) && span_u64(h.target, 999, &code))
        h.code = (int)code;
    return h;
}

static inline void put_request(struct buf *out, const char *method, struct span target, const struct auth *a,
                               struct span body)
{
    buf_printf(out, "%s %.*s HTTP/1.1\r\nHost: crawl.example.org:7443\r\n", method, SPAN_ARG(target));
    if (a) {
        buf_puts(out, AUTH_HEADER ": ");
        auth_format(a, out);
        buf_puts(out, "\r\n");
    }
    buf_printf(out, "Content-Length: %zu\r\n\r\n", body.n);
    buf_put(out, body);
}

static inline void put_answer(struct buf *out, int code, const struct auth *request, const struct sign_key *coordinator,
                              struct span body)
{
    buf_printf(out, "HTTP/1.1 %d \r\nContent-Length: %zu\r\n", code, body.n);
    if (request) {
        buf_puts(out, AUTH_HEADER ": ");
        auth_sign_answer(request, coordinator, code, body, out);
        buf_puts(out, "\r\n");
    }
    buf_puts(out, "\r\n");
    buf_put(out, body);
}

static inline struct exchange *exchange_add(struct exchanges *x, const char *name)
{
    struct exchange *e = &x->list[x->count++];
    assert_true(x->count <= EXCHANGES_MAX);
    *e = (struct exchange){0};
    snprintf(e->name, sizeof(e->name), "%02zu-%s", x->count, name);
    return e;
}

/* A signed call and its signed answer; frees both bodies. */
static inline void exchange_signed(struct exchanges *x, const char *name, const char *method, const char *target,
                                   const struct auth *with, unsigned char agent, struct buf *body, int code,
                                   struct buf *answer)
{
    struct exchange *e = exchange_add(x, name);
    struct sign_key k = exchange_key(agent), c = exchange_key(SEED_COORDINATOR);
    struct auth a = *with;
    a.body = digest_blake2b256(buf_span(body));
    auth_sign(&a, &k, &c.open, span_str(method), span_str(target));
    put_request(&e->request, method, span_str(target), &a, buf_span(body));
    put_answer(&e->answer, code, &a, &c, buf_span(answer));
    buf_done(body);
    buf_done(answer);
}

static inline void exchange_call(struct exchanges *x, const char *name, const char *method, const char *target,
                                 struct buf *body, int code, struct buf *answer)
{
    struct auth a = {.agent = 1, .sequence = x->sequence++};
    count_up(a.nonce, sizeof(a.nonce), EXCHANGE_NONCE);
    exchange_signed(x, name, method, target, &a, SEED_AGENT, body, code, answer);
}

/* ---- what is in them ---- */

static inline void make_hello(struct exchanges *x)
{
    struct exchange *e = exchange_add(x, "hello");
    struct sign_key c = exchange_key(SEED_COORDINATOR);
    unsigned char challenge[HELLO_CHALLENGE_BYTES];
    struct hello_answer h = {.pin = "sha256//AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
                             .version_min = WIRE_VERSION_MIN,
                             .version_max = WIRE_VERSION};
    struct buf answer = {0};
    count_up(challenge, sizeof(challenge), EXCHANGE_CHALLENGE);
    hello_answer_sign(&h, &c, challenge);
    hello_answer_pack(&h, &answer);
    put_request(&e->request, "POST", SPAN(PATH_HELLO), NULL, span_of(challenge, sizeof(challenge)));
    put_answer(&e->answer, 200, NULL, NULL, buf_span(&answer));
    buf_done(&answer);
}

static inline void make_join(struct exchanges *x)
{
    struct join_request j = {.agent = exchange_key(SEED_AGENT).open, .version = SPAN("0.1.0")};
    struct join_answer ja = {.agent = 1, .name = SPAN(EXCHANGE_NAME), .hint = {.sequence = 1}};
    struct auth a = {.sequence = 1};
    struct buf body = {0}, answer = {0};
    count_up(j.token, sizeof(j.token), EXCHANGE_TOKEN);
    count_up(ja.hint.nonce, sizeof(ja.hint.nonce), EXCHANGE_NONCE);
    join_request_pack(&j, &body);
    join_answer_pack(&ja, &answer);
    exchange_signed(x, "join", "POST", PATH_JOIN, &a, SEED_AGENT, &body, 200, &answer);
}

/* The coordinator was started again: another nonce. */
static inline void make_stale(struct exchanges *x)
{
    struct report r = {.wire_version = WIRE_VERSION, .version = SPAN("0.1.0"), .activity = ACTIVITY_IDLE};
    struct auth_hint h = {.sequence = 1};
    struct auth a = {.agent = 1, .sequence = 7000};
    struct buf body = {0}, answer = {0};
    count_up(h.nonce, sizeof(h.nonce), EXCHANGE_NONCE);
    memset(a.nonce, 7, sizeof(a.nonce));
    report_pack(&r, &body);
    auth_hint_pack(&h, &answer);
    exchange_signed(x, "poll-stale", "POST", PATH_POLL "?wait=0", &a, SEED_AGENT, &body, 401, &answer);
}

static inline void make_channel(struct buf *out)
{
    static const struct span seeds[] = {SPAN_INIT(EXCHANGE_SITE), SPAN_INIT(EXCHANGE_SITE "docs/")};
    static const struct span include[] = {SPAN_INIT("*/docs/*"), SPAN_INIT("re:page[0-9]+")};
    static const struct span exclude[] = {SPAN_INIT("*/private/*")};
    struct channel *c = NULL;
    struct buf why = {0};
    CHECK_STATUS("channel",
                 channel_new(&(struct channel_opts){.seeds = seeds,
                                                    .seed_count = 2,
                                                    .scope = SCOPE_PREFIX,
                                                    .depth_max = 9,
                                                    .include = include,
                                                    .include_count = 2,
                                                    .exclude = exclude,
                                                    .exclude_count = 1},
                             &c, &why),
                 ST_OK);
    channel_pack(c, out);
    channel_free(c);
    buf_done(&why);
}

/* A host with two pages in its queue, as one agent hands it to the next. */
static inline void make_host(struct buf *out)
{
    static const struct sip_key key = {1, 2};
    struct frontier *f = frontier_new(&(struct frontier_opts){.key = &key, .seed = 1});
    struct arena a;
    struct url u;
    struct addr addr;
    static const struct span urls[] = {SPAN_INIT(EXCHANGE_SITE "docs/a"), SPAN_INIT(EXCHANGE_SITE "docs/b")};
    arena_init(&a);
    for (size_t i = 0; i < 2; i++) {
        CHECK_STATUS("url", url_parse(&a, urls[i], NULL, &u), ST_OK);
        frontier_add(f, 1000, &(struct frontier_url){.key = i + 1, .url = &u, .channel = 5, .depth = 1});
    }
    CHECK_STATUS("address", addr_parse(SPAN(EXCHANGE_ADDRESS), &addr), ST_OK);
    frontier_resolved(f, 1000, SPAN("one.example"), ST_OK, &addr, 100000, 1);
    CHECK_STATUS("host", frontier_take_host(f, 2000, EXCHANGE_AT, SPAN("one.example"), out), ST_OK);
    frontier_free(f);
    arena_done(&a);
}

static inline void make_program(struct buf *out)
{
    struct program p = {.name = SPAN("prices"), .serial = 7, .script = SPAN("function page(p) skip() end\n")};
    struct sign_key k = exchange_key(SEED_PROGRAM);
    program_sign(&p, &k);
    program_write(&p, out);
}

/* ---- orders ---- */

struct order_list {
    struct order list[16];
    struct buf body[16];
    size_t count;
    uint64_t first;
};

static inline struct buf *order_add(struct order_list *o, order_kind kind)
{
    o->list[o->count] = (struct order){.number = o->first + o->count, .kind = kind};
    return &o->body[o->count++];
}

static inline void orders_into(struct order_list *o, struct poll_answer *p, struct buf *out)
{
    for (size_t i = 0; i < o->count; i++)
        o->list[i].body = buf_span(&o->body[i]);
    p->orders = o->list;
    p->order_count = o->count;
    poll_answer_pack(p, out);
    for (size_t i = 0; i < o->count; i++)
        buf_done(&o->body[i]);
}

static inline void order_task_1(struct order_list *o)
{
    static const struct span networks[] = {SPAN_INIT(EXCHANGE_NETWORK), SPAN_INIT("2001:db8:1::/48")};
    static const struct span hosts[] = {SPAN_INIT("one.example")};
    static const struct span countries[] = {SPAN_INIT("DE 2001:db8:1::/48")};
    static const struct span others[] = {SPAN_INIT("two.example")};
    static const struct span seeds[] = {SPAN_INIT(EXCHANGE_SITE "docs/c"), SPAN_INIT(EXCHANGE_SITE "docs/d")};
    static const uint64_t links[] = {1, UINT64_C(0x0123456789abcdef), UINT64_MAX};
    struct buf channel = {0}, host = {0};
    make_channel(&channel);
    make_host(&host);
    struct span states[] = {buf_span(&host)};
    task_order_pack(&(struct task_order){.task = 1,
                                         .channel = buf_span(&channel),
                                         .kind = SUMMARY_KEYWORDS,
                                         .wants_warc = true,
                                         .expected_pages = 5000,
                                         .program = SPAN("prices"),
                                         .states = 2,
                                         .networks = networks,
                                         .network_count = 2,
                                         .hosts = hosts,
                                         .host_count = 1,
                                         .seeds = seeds,
                                         .seed_count = 2,
                                         .known_links = links,
                                         .known_link_count = 3,
                                         .hosts_state = states,
                                         .hosts_state_count = 1,
                                         .countries = countries,
                                         .country_count = 1,
                                         .others = others,
                                         .other_count = 1},
                    order_add(o, ORDER_TASK));
    buf_done(&channel);
    buf_done(&host);
}

static inline void orders_to_begin(struct buf *out)
{
    struct order_list o = {.first = 1};
    struct poll_answer p = {.lease_ms = 600000, .have = 0, .wants_setup = true};
    agent_settings_pack(&(struct agent_settings){.state = AGENT_RUN,
                                                 .hours = SPAN("mon-fri 20:00-06:00; sat,sun 00:00-24:00 UTC"),
                                                 .bytes_a_day = UINT64_C(10000000000),
                                                 .bytes_per_s = 1000000,
                                                 .memory_bytes = 256u << 20,
                                                 .disk_bytes = UINT64_C(5) << 30,
                                                 .idle_only = true,
                                                 .tasks_max = 12,
                                                 .package_bytes = 16u << 20,
                                                 .package_age_ms = 60000,
                                                 .poll_ms = 15000},
                        order_add(&o, ORDER_SETTINGS));
    order_task_1(&o);
    orders_into(&o, &p, out);
}

static inline void order_update_1(struct order_list *o)
{
    struct sign_key k = exchange_key(SEED_PROGRAM);
    struct digest256 d = digest_blake2b256(SPAN("a program"));
    struct signature sig;
    sign_make(&k, span_of(d.b, sizeof(d.b)), &sig);
    update_order_pack(&(struct update_order){.version = SPAN("0.2.0"),
                                             .digest = span_of(d.b, sizeof(d.b)),
                                             .bytes = 9,
                                             .sig = span_of(sig.b, sizeof(sig.b)),
                                             .machine = SPAN("x86_64-linux-gnu")},
                      order_add(o, ORDER_UPDATE));
}

static inline void order_identity_1(struct order_list *o)
{
    struct sign_key old = exchange_key(SEED_COORDINATOR), fresh = exchange_key(SEED_COORDINATOR_NEXT);
    struct signature sig;
    sign_make(&old, span_of(fresh.open.b, sizeof(fresh.open.b)), &sig);
    identity_order_pack(&(struct identity_order){.identity = span_of(fresh.open.b, sizeof(fresh.open.b)),
                                                 .sig = span_of(sig.b, sizeof(sig.b))},
                        order_add(o, ORDER_IDENTITY));
}

static inline void orders_of_all_other_kinds(struct buf *out)
{
    static const struct span networks[] = {SPAN_INIT(EXCHANGE_NETWORK)};
    static const struct span urls[] = {SPAN_INIT(EXCHANGE_SITE "docs/a"), SPAN_INIT(EXCHANGE_SITE "docs/b")};
    static const struct probe_ask probes[] = {
        {UINT64_C(1) << 40, SPAN_INIT(EXCHANGE_SITE), SPAN_INIT(EXCHANGE_ADDRESS), 1024, 1, 2},
        {.id = 78, .address = SPAN_INIT("2001:db8::1")}};
    struct order_list o = {.first = 3};
    struct poll_answer p = {.lease_ms = 600000, .have = 1};
    struct buf program = {0};
    recheck_order_pack(
        &(struct recheck_order){.task = 1, .pages_max = 100, .older_than = EXCHANGE_AT, .is_whole = true, .visit = 12},
        order_add(&o, ORDER_RECHECK));
    fetch_order_pack(&(struct fetch_order){.urls = urls, .url_count = 2}, order_add(&o, ORDER_FETCH));
    make_program(&program);
    program_order_pack(
        &(struct program_order){.name = SPAN("prices"), .serial = 7, .is_removed = false, .bytes = buf_span(&program)},
        order_add(&o, ORDER_PROGRAM));
    program_order_pack(&(struct program_order){.name = SPAN("old"), .serial = 3, .is_removed = true},
                       order_add(&o, ORDER_PROGRAM));
    order_update_1(&o);
    order_identity_1(&o);
    (void)order_add(&o, ORDER_REKEY);
    probe_order_pack(&(struct probe_order){.probes = probes, .probe_count = 2}, order_add(&o, ORDER_PROBE));
    refuse_order_pack(&(struct refuse_order){.is_first = true, .places = SPAN("a.example\n.b.example\n")},
                      order_add(&o, ORDER_REFUSE));
    told_order_pack(
        &(struct told_order){.task = 1, .at = EXCHANGE_AT, .urls = SPAN(EXCHANGE_SITE "docs/a\n" EXCHANGE_SITE "b\n")},
        order_add(&o, ORDER_TOLD));
    end_order_pack(&(struct end_order){.task = 1, .networks = networks, .network_count = 1},
                   order_add(&o, ORDER_END_TASK));
    end_order_pack(&(struct end_order){.task = 1}, order_add(&o, ORDER_END_TASK));
    (void)order_add(&o, ORDER_QUIT);
    orders_into(&o, &p, out);
    buf_done(&program);
}

/* ---- reports ---- */

static inline void make_poll_setup(struct exchanges *x)
{
    static const struct span own[] = {SPAN_INIT("http://own.example/"), SPAN_INIT("http://own.example/blog/")};
    static const struct span refused[] = {SPAN_INIT("FR"), SPAN_INIT("se")};
    struct report r = {.wire_version = WIRE_VERSION,
                       .version = SPAN("0.1.0"),
                       .boot = UINT64_C(0xfedcba9876543210),
                       .activity = ACTIVITY_WORKING,
                       .has_setup = true,
                       .setup = {.cores = 4,
                                 .memory_bytes = UINT64_C(8) << 30,
                                 .disk_bytes = UINT64_C(100) << 30,
                                 .bandwidth_bytes_per_s = 12500000,
                                 .system = SPAN("Linux 6.1"),
                                 .machine = SPAN("x86_64-linux-gnu"),
                                 .zone = SPAN("Europe/Athens"),
                                 .place = SPAN("Athens, under the roof"),
                                 .address = SPAN("192.0.2.17"),
                                 .own_sites = own,
                                 .own_site_count = 2,
                                 .refused_countries = refused,
                                 .refused_country_count = 2}};
    struct buf body = {0}, answer = {0};
    report_pack(&r, &body);
    orders_to_begin(&answer);
    exchange_call(x, "poll-setup", "POST", PATH_POLL "?wait=0", &body, 200, &answer);
}

static inline void make_poll_full(struct exchanges *x)
{
    struct buf page = {0}, host = {0}, body = {0}, answer = {0};
    fetched_page_pack(&(struct fetched_page){.url = SPAN(EXCHANGE_SITE "docs/a"),
                                             .http_status = 200,
                                             .digest = UINT64_C(0x1122334455667788),
                                             .sketch = UINT64_MAX,
                                             .words_sketch = 77,
                                             .text = SPAN("0123456789abcdef"),
                                             .address = SPAN(EXCHANGE_ADDRESS)},
                      &page);
    make_host(&host);
    struct span pages[] = {buf_span(&page)}, hosts[] = {buf_span(&host)};
    struct outcome outcomes[] = {
        {.number = 1, .st = ST_REFUSED, .why = SPAN("the owner says no"), .parts = pages, .part_count = 1},
        {.number = 2, .st = ST_OK, .parts = hosts, .part_count = 1}};
    static const struct task_report tasks[] = {
        {1, TASK_RUNNING, 10, 20, 30, 40, 50, 60, true, {12, 100, 1, 2, 3, 4, 5000, EXCHANGE_AT, 6}},
        {2, TASK_ENDED, .gone = 1}};
    static const struct stray_host strays[] = {{1, SPAN_INIT("two.example"), SPAN_INIT("127.2.2.1")}};
    static const struct network_timing timings[] = {{SPAN_INIT(EXCHANGE_NETWORK), 9, 100, 200, 300, 400, 5000}};
    static const struct program_report programs[] = {{SPAN_INIT("prices"), 7, 11, 12, true, SPAN_INIT("line 1: nil")}};
    static const struct span refused[] = {SPAN_INIT("order 9: not signed"), SPAN_INIT("192.0.2.0/24 is refused")};
    static const struct error_count errors[] = {{ERROR_TIMEOUT, 3}, {ERROR_OTHER, 1}, {ERROR_ROBOTS, 5}};
    static const struct probe_report probes[] = {
        {UINT64_C(1) << 40, ST_TIMEOUT, 2, SPAN_INIT(EXCHANGE_ADDRESS), 3, 4, 500, 600, 700},
        {.id = 78, .kind = 1, .samples = 3, .min_us = 20, .median_us = 30}};
    struct report r = {.wire_version = WIRE_VERSION,
                       .version = SPAN("0.1.0"),
                       .boot = UINT64_C(0xfedcba9876543210),
                       .orders_done = 2,
                       .activity = ACTIVITY_QUOTA,
                       .sequence = 1,
                       .spool_packages = 1,
                       .spool_bytes = 1001,
                       .requests = 1002,
                       .pages = 1003,
                       .bytes_crawled = UINT64_C(1004000000000),
                       .bytes_sent = 1005,
                       .errors = 1006,
                       .queue = 1007,
                       .hosts_waiting = 1008,
                       .memory_bytes = 1009,
                       .disk_free_bytes = 1010,
                       .uptime_ms = 1011,
                       .outcomes = outcomes,
                       .outcome_count = 2,
                       .tasks = tasks,
                       .task_count = 2,
                       .strays = strays,
                       .stray_count = 1,
                       .timings = timings,
                       .timing_count = 1,
                       .programs = programs,
                       .program_count = 1,
                       .refused = refused,
                       .refused_count = 2,
                       .errors_by_kind = errors,
                       .error_kind_count = 3,
                       .probes = probes,
                       .probe_count = 2,
                       .tasks_max = 64,
                       .tasks_busy = 7,
                       .orders_taken = 2};
    report_pack(&r, &body);
    orders_of_all_other_kinds(&answer);
    exchange_call(x, "poll-full", "POST", PATH_POLL "?wait=0&more=1", &body, 200, &answer);
    buf_done(&page);
    buf_done(&host);
}

/* After the rekey: signed by the new key; nothing to say on either side. */
static inline void make_poll_plain(struct exchanges *x)
{
    struct report r = {.wire_version = WIRE_VERSION, .version = SPAN("0.1.0"), .activity = ACTIVITY_IDLE};
    struct poll_answer p = {.lease_ms = 600000, .have = 1};
    struct auth a = {.agent = 1, .sequence = x->sequence++};
    struct buf body = {0}, answer = {0};
    count_up(a.nonce, sizeof(a.nonce), EXCHANGE_NONCE);
    report_pack(&r, &body);
    poll_answer_pack(&p, &answer);
    exchange_signed(x, "poll-plain", "POST", PATH_POLL "?wait=0", &a, SEED_AGENT_NEXT, &body, 200, &answer);
}

/* ---- packages ---- */

static inline void make_package(struct buf *out)
{
    static const struct fact_heading headings[] = {{1, SPAN_INIT("A page")}, {2, SPAN_INIT("not a line of it")}};
    static const struct summary_link links[] = {
        {.url = SPAN_INIT(EXCHANGE_SITE "docs/b"), .text = SPAN_INIT("next"), .kind = LINK_A, .depth = 2},
        {.url = SPAN_INIT("http://elsewhere.example/"), .kind = LINK_A, .flags = SUMMARY_LINK_FOREIGN, .depth = 2},
        {.url = SPAN_INIT(EXCHANGE_SITE "f"),
         .text = SPAN_INIT("frame"),
         .kind = LINK_FRAME,
         .rel = REL_NOFOLLOW,
         .hops = 1,
         .depth = 7}};
    static const struct summary_field fields[] = {{SPAN_INIT("price"), SPAN_INIT("12.50")}};
    struct summary page = {.at = EXCHANGE_AT,
                           .url = SPAN(EXCHANGE_SITE "docs/a"),
                           .depth = 1,
                           .http_status = 200,
                           .page_flags = PAGE_NOARCHIVE,
                           .is_html = true,
                           .digest = UINT64_C(0x1122334455667788),
                           .body_bytes = 5000,
                           .wire_bytes = 1500,
                           .text_bytes = 400,
                           .dns_us = -1,
                           .connect_us = 900,
                           .tls_us = 1200,
                           .first_byte_us = 23000,
                           .total_us = 45000,
                           .address = SPAN(EXCHANGE_ADDRESS),
                           .content_type = SPAN("text/html"),
                           .charset = SPAN("utf-8"),
                           .lang = SPAN("en"),
                           .title = SPAN("A page about weaving"),
                           .description = SPAN("What it is about"),
                           .canonical = SPAN(EXCHANGE_SITE "docs/a?c"),
                           .etag = SPAN("\"e1\""),
                           .last_modified = SPAN("Mon, 16 Nov 2026 10:00:00 GMT"),
                           .headings = headings,
                           .heading_count = 2,
                           .text = SPAN("A page\nWords about weaving\nnext\nAnd the end"),
                           .links = links,
                           .link_count = 3,
                           .fields = fields,
                           .field_count = 1};
    /* The answer as it came: since 1.4. */
    struct buf captured = {0};
    const struct warc_capture answer = {.at = EXCHANGE_AT - 45,
                                        .request = SPAN("GET /docs/a HTTP/1.1\r\nHost: x\r\n\r\n"),
                                        .head = SPAN("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"),
                                        .body = SPAN("<p>as it \0 came"),
                                        .cut = WARC_CUT_LENGTH,
                                        .is_http2 = true};
    assert_true(capture_pack(&answer, &captured));
    struct summary words = page, moved = {.at = EXCHANGE_AT + 2000, .url = SPAN(EXCHANGE_SITE "docs/c")};
    struct summary failed = {.at = EXCHANGE_AT + 3000, .url = SPAN(EXCHANGE_SITE "docs/d"), .failure = ST_TIMEOUT};
    page.capture = buf_span(&captured);
    page.rate = UINT64_C(0x3fc000004a98f500);
    words.at += 1000;
    words.digest++;
    words.url = SPAN(EXCHANGE_SITE "docs/b");
    words.canonical = words.url;
    words.text = SPAN("weaving looms weaving\nAnd the end");
    moved.http_status = 301;
    moved.redirect = SPAN(EXCHANGE_SITE "docs/e");
    moved.is_known = true;
    failed.reason = SPAN("no answer");
    failed.dns_us = failed.connect_us = failed.tls_us = failed.first_byte_us = -1;
    failed.total_us = 30000000;
    struct package_writer *w = package_writer_new(&(struct package_writer_opts){0});
    struct package_head head = {.agent = 1, .sequence = 1, .made = EXCHANGE_AT + 9000};
    struct sign_key k = exchange_key(SEED_AGENT), c = exchange_key(SEED_COORDINATOR);
    head.coordinator = digest_sha256(span_of(c.open.b, sizeof(c.open.b)));
    package_add_visit(w, 1, SUMMARY_TEXT, &page);
    package_add_visit(w, 1, SUMMARY_KEYWORDS, &words);
    package_add_visit(w, 1, SUMMARY_TEXT, &moved);
    package_add_visit(w, 1, SUMMARY_TEXT, &failed);
    package_finish(w, &head, &k, out);
    package_writer_free(w);
    buf_done(&captured);
}

static inline void make_piece(struct exchanges *x, const char *name, uint64_t sequence, size_t offset, size_t all,
                              struct span piece, int code, struct buf *answer)
{
    char target[128];
    struct buf body = {0};
    snprintf(target, sizeof(target), PATH_PACKAGE "%llu?offset=%zu&bytes=%zu", (unsigned long long)sequence, offset,
             all);
    buf_put(&body, piece);
    exchange_call(x, name, "PUT", target, &body, code, answer);
}

static inline void make_packages(struct exchanges *x)
{
    struct buf package = {0}, answer = {0}, none = {0};
    make_package(&package);
    size_t half = package.n / 2;
    struct span all = buf_span(&package);
    field_u64(&answer, 1, 0);
    exchange_call(x, "package-ask", "GET", PATH_PACKAGE "1", &none, 200, &answer);
    field_u64(&answer, 1, half);
    make_piece(x, "package-begin", 1, 0, all.n, span_cut(all, 0, half), 200, &answer);
    field_u64(&answer, 1, half);
    field_u64(&answer, 3, 1);
    make_piece(x, "package-gap", 1, half + 1, all.n, span_from(all, half + 1), 409, &answer);
    field_u64(&answer, 1, all.n);
    field_u64(&answer, 2, 1);
    make_piece(x, "package-rest", 1, half, all.n, span_from(all, half), 200, &answer);
    field_str(&answer, 4, "damaged");
    make_piece(x, "package-damaged", 2, 0, 9, SPAN("no packag"), 422, &answer);
    buf_done(&package);
}

static inline void make_states(struct exchanges *x)
{
    struct buf none = {0}, answer = {0}, state = {0};
    for (unsigned i = 0; i < 2; i++) {
        buf_clear(&state);
        field_str(&state, 1, i ? EXCHANGE_SITE "docs/a" : EXCHANGE_SITE "docs/b");
        field_u64(&state, 2, 1 + i);
        field_i64(&state, 3, EXCHANGE_AT + i);
        field_u64(&state, 4, 200);
        field_u64(&state, 5, UINT64_C(0x1122334455667788) + i);
        field_str(&state, 6, "\"e1\"");
        field_str(&state, 7, "Mon, 16 Nov 2026 10:00:00 GMT");
        field_u64(&state, 8, 1);
        field_u64(&state, 9, UINT64_C(0x3fc000004a98f500) + i);
        field_text(&answer, 1, buf_span(&state));
    }
    exchange_call(x, "states", "GET", PATH_STATES "?task=1&after=0", &none, 200, &answer);
    buf_done(&state);
}

static inline void make_blob(struct exchanges *x)
{
    struct buf none = {0}, answer = {0}, target = {0};
    struct digest256 d = digest_blake2b256(SPAN("a program"));
    buf_puts(&target, PATH_BLOB);
    hex_put(&target, span_of(d.b, sizeof(d.b)));
    buf_puts(&target, "?offset=2");
    buf_puts(&answer, "program");
    exchange_call(x, "blob", "GET", buf_cstr(&target), &none, 200, &answer);
    buf_done(&target);
}

static inline void make_rekey(struct exchanges *x)
{
    struct sign_key old = exchange_key(SEED_AGENT), fresh = exchange_key(SEED_AGENT_NEXT);
    struct signature sig;
    struct buf body = {0}, answer = {0};
    sign_make(&fresh, span_of(old.open.b, sizeof(old.open.b)), &sig);
    field_text(&body, 1, span_of(fresh.open.b, sizeof(fresh.open.b)));
    field_text(&body, 2, span_of(sig.b, sizeof(sig.b)));
    exchange_call(x, "rekey", "POST", PATH_REKEY, &body, 200, &answer);
}

static inline void exchange_make(struct exchanges *x)
{
    *x = (struct exchanges){.sequence = 1};
    make_hello(x);
    make_join(x);
    make_stale(x);
    make_poll_setup(x);
    make_packages(x);
    make_states(x);
    make_blob(x);
    make_poll_full(x);
    make_rekey(x);
    make_poll_plain(x);
}
