/* puppet_stage.h - a coordinator in a thread of its own, and a puppet that plays an agent over real connections: it
 * joins, signs, polls and sends packages as the test says. No crawling happens here. */
#pragma once

#include "test.h"

#include <pthread.h>
#include <unistd.h>

#include "coord/agents.h"
#include "coord/channels.h"
#include "coord/coord.h"
#include "coord/ingest.h"
#include "coord/state.h"
#include "io/clock.h"
#include "io/http_call.h"
#include "test_folder.h"
#include "wire/package.h"
#include "wire/paths.h"

#define LOOPBACK ((struct addr){4, {127, 0, 0, 1}})

/* ---- a coordinator in a thread of its own ---- */

struct stage {
    const char *dir;
    struct coord *c;
    pthread_t thread;
    struct coord_opts opts;
    bool is_running;
};

static inline void *run(void *arg)
{
    struct stage *s = arg;
    status st = coord_run(s->c);
    (void)st;
    return NULL;
}

static const char hosts[] =
    "127.1.1.1 one.example\n127.1.1.2 two.example\n127.2.2.1 three.example\n127.3.3.1 four.example\n";

static inline void start(struct stage *s)
{
    struct buf why = {0};
    s->opts.data_dir = s->dir;
    s->opts.addr = s->opts.admin_addr = LOOPBACK;
    s->opts.is_plain = true;
    s->opts.allow_private = true;
    s->opts.strategy = DELEGATE_HASH;
    s->opts.seed = 1;
    s->opts.dns.hosts = span_str(hosts);
    s->opts.version = SPAN("test");
    if (coord_new(&s->opts, &s->c, &why) != ST_OK)
        fail_msg("coordinator: %s", buf_cstr(&why));
    buf_done(&why);
    pthread_create(&s->thread, NULL, run, s);
    s->is_running = true;
}

static inline void stop(struct stage *s)
{
    if (!s->is_running)
        return;
    coord_stop(s->c);
    pthread_join(s->thread, NULL);
    coord_free(s->c);
    s->c = NULL;
    s->is_running = false;
}

static inline void open_stage(struct stage *s)
{
    *s = (struct stage){.dir = test_folder()};
    start(s);
}

static inline void close_stage(struct stage *s)
{
    stop(s);
}

/* ---- a puppet ---- */

struct puppet {
    struct stage *stage;
    struct sign_key key;
    const struct sign_public *knows; /* borrowed: the coordinator's key that it knows; NULL: the newest */
    struct http_caller *caller;
    uint64_t number, sequence, package;
    unsigned char nonce[AUTH_NONCE_BYTES];
    uint64_t orders_done, boot;
    uint64_t orders_taken; /* it works on those after orders_done up to this one; 0: on none, and does not say so */
    uint64_t task;         /* that it says it has; 0: none */
    struct span refuses;   /* a country, in a setup; empty: no setup */
    struct http_answer answer;
};

static inline void puppet_line(struct puppet *p)
{
    struct buf base = {0};
    http_caller_free(p->caller);
    buf_printf(&base, "http://127.0.0.1:%d", coord_port(p->stage->c));
    CHECK_STATUS("caller", http_caller_new(&(struct http_caller_opts){.base = buf_span(&base)}, &p->caller), ST_OK);
    buf_done(&base);
}

static inline const struct sign_public *known_key(const struct puppet *p)
{
    return p->knows ? p->knows : &p->stage->c->id.key.open;
}

/* One signed call, just as it is. */
static inline int call_once(struct puppet *p, const struct auth *auth, const char *method, const char *target,
                            struct span body)
{
    struct buf header = {0};
    buf_printf(&header, "%s: ", AUTH_HEADER);
    auth_format(auth, &header);
    struct span headers[] = {buf_span(&header)};
    struct http_call call = {.method = method,
                             .target = span_str(target),
                             .headers = headers,
                             .header_count = 1,
                             .body = body,
                             .answer_max = 8u << 20,
                             .timeout_ms = 20000};
    CHECK_STATUS(target, http_call(p->caller, &call, &p->answer), ST_OK);
    buf_done(&header);
    return p->answer.status;
}

static inline void sign_call(struct puppet *p, struct auth *a, const char *method, const char *target, struct span body)
{
    *a = (struct auth){.agent = p->number, .sequence = ++p->sequence, .body = digest_blake2b256(body)};
    memcpy(a->nonce, p->nonce, sizeof(a->nonce));
    auth_sign(a, &p->key, known_key(p), span_str(method), span_str(target));
}

/* With one more try after a hint; the answer's signature is checked. */
static inline int call(struct puppet *p, const char *method, const char *target, struct span body)
{
    struct auth a;
    sign_call(p, &a, method, target, body);
    int code = call_once(p, &a, method, target, body);
    if (code == 401) {
        struct auth_hint hint;
        CHECK_STATUS("hint", auth_hint_unpack(buf_span(&p->answer.body), &hint), ST_OK);
        memcpy(p->nonce, hint.nonce, sizeof(p->nonce));
        p->sequence = hint.sequence;
        sign_call(p, &a, method, target, body);
        code = call_once(p, &a, method, target, body);
    }
    CHECK(target, auth_check_answer(&a, known_key(p), code, buf_span(&p->answer.body),
                                    http_answer_header(&p->answer, AUTH_HEADER)));
    return code;
}

static inline void puppet_key(struct puppet *p, struct stage *s, unsigned char seed)
{
    unsigned char bytes[SIGN_SEED_BYTES];
    memset(bytes, seed, sizeof(bytes));
    *p = (struct puppet){.stage = s, .boot = 7};
    sign_key_of(bytes, &p->key);
    puppet_line(p);
}

static inline int puppet_join(struct puppet *p, const unsigned char token[JOIN_TOKEN_BYTES])
{
    struct buf body = {0};
    struct join_request j = {.agent = p->key.open, .version = SPAN("1")};
    struct join_answer answer;
    memcpy(j.token, token, sizeof(j.token));
    join_request_pack(&j, &body);
    struct auth a = {.sequence = 1, .body = digest_blake2b256(buf_span(&body))};
    auth_sign(&a, &p->key, &p->stage->c->id.key.open, SPAN("POST"), SPAN(PATH_JOIN));
    int code = call_once(p, &a, "POST", PATH_JOIN, buf_span(&body));
    if (code == 200) {
        CHECK_STATUS("join", join_answer_unpack(buf_span(&p->answer.body), &answer), ST_OK);
        p->number = answer.agent;
        memcpy(p->nonce, answer.hint.nonce, sizeof(p->nonce));
        p->sequence = answer.hint.sequence;
    }
    buf_done(&body);
    return code;
}

static inline void add_agent(struct stage *s, const char *name, struct join_line *out)
{
    struct c_agent *a;
    struct buf line = {0}, why = {0};
    pthread_mutex_lock(&s->c->lock);
    CHECK_STATUS(name, agent_add(s->c, &(struct agent_form){.name = span_str(name)}, &a, &line, &why), ST_OK);
    a->probation_left = 0;
    pthread_mutex_unlock(&s->c->lock);
    CHECK_STATUS("line", join_line_parse(buf_span(&line), out), ST_OK);
    buf_done(&line);
    buf_done(&why);
}

static inline void puppet_new(struct puppet *p, struct stage *s, const char *name, unsigned char seed)
{
    struct join_line line;
    add_agent(s, name, &line);
    puppet_key(p, s, seed);
    assert_int_equal(puppet_join(p, line.token), 200);
}

static inline void puppet_done(struct puppet *p)
{
    http_caller_free(p->caller);
    http_answer_done(&p->answer);
}

/* Reports, and gives the orders that come back to `fn`; confirms them with the next report. */
typedef void order_fn(void *arg, const struct order *o);

static inline int puppet_poll(struct puppet *p, const struct outcome *outcomes, size_t n, order_fn *fn, void *arg,
                              uint64_t *have)
{
    struct report r = {.wire_version = WIRE_VERSION,
                       .version = SPAN("1"),
                       .boot = p->boot,
                       .orders_done = p->orders_done,
                       .orders_taken = p->orders_taken,
                       .activity = ACTIVITY_IDLE,
                       .outcomes = outcomes,
                       .outcome_count = n,
                       .tasks = &(struct task_report){.task = p->task, .state = TASK_RUNNING},
                       .task_count = p->task > 0,
                       .has_setup = p->refuses.n > 0,
                       .setup = {.refused_countries = &p->refuses, .refused_country_count = 1}};
    struct buf body = {0};
    struct arena a;
    struct poll_answer answer;
    arena_init(&a);
    report_pack(&r, &body);
    int code = call(p, "POST", PATH_POLL "?wait=0", buf_span(&body));
    if (code == 200) {
        CHECK_STATUS("poll", poll_answer_unpack(&a, buf_span(&p->answer.body), &answer), ST_OK);
        if (answer.order_count && p->orders_done == 0) /* those before are forgotten */
            p->orders_done = answer.orders[0].number - 1;
        uint64_t *last = p->orders_taken ? &p->orders_taken : &p->orders_done;
        for (size_t i = 0; i < answer.order_count; i++) {
            if (p->orders_taken && answer.orders[i].number <= p->orders_taken)
                continue; /* it has that one, it thinks */
            assert_int_equal(answer.orders[i].number, *last + 1);
            ++*last;
            if (fn)
                fn(arg, &answer.orders[i]);
        }
        if (have)
            *have = answer.have;
    }
    arena_done(&a);
    buf_done(&body);
    return code;
}

struct seen_orders {
    unsigned tasks, ends, settings, other, channels;
    uint64_t task, end_order, end_task;
    size_t networks, seeds, hosts_state, states;
    struct buf texts; /* networks, countries, seeds of the newest task order */
};

static inline void note_order(void *arg, const struct order *o)
{
    struct seen_orders *s = arg;
    struct arena a;
    arena_init(&a);
    if (o->kind == ORDER_TASK) {
        struct task_order t;
        CHECK_STATUS("task", task_order_unpack(&a, o->body, &t), ST_OK);
        s->tasks++;
        s->task = t.task;
        s->networks = t.network_count;
        s->seeds = t.seed_count;
        s->hosts_state = t.hosts_state_count;
        s->states += t.states > 0;
        s->channels += t.channel.n > 0;
        for (size_t i = 0; i < t.network_count; i++)
            buf_printf(&s->texts, "%.*s ", SPAN_ARG(t.networks[i]));
        for (size_t i = 0; i < t.country_count; i++)
            buf_printf(&s->texts, "%.*s ", SPAN_ARG(t.countries[i]));
        for (size_t i = 0; i < t.seed_count; i++)
            buf_printf(&s->texts, "%.*s ", SPAN_ARG(t.seeds[i]));
    } else if (o->kind == ORDER_END_TASK) {
        struct end_order e;
        CHECK_STATUS("end", end_order_unpack(&a, o->body, &e), ST_OK);
        s->ends++;
        s->end_task = e.task;
        s->end_order = o->number;
    } else if (o->kind == ORDER_SETTINGS) {
        s->settings++;
    } else {
        s->other++;
    }
    arena_done(&a);
}

/* Polls until something is so, for ten seconds at most. */
#define UNTIL(p, seen, claim)                                           \
    do {                                                                \
        for (int i_ = 0; i_ < 500 && !(claim); i_++) {                  \
            (void)puppet_poll((p), NULL, 0, note_order, &(seen), NULL); \
            if (!(claim))                                               \
                usleep(20000);                                          \
        }                                                               \
        CHECK("in time", claim);                                        \
    } while (0)

static inline uint64_t add_channel(struct stage *s, const char *url, channel_scope scope)
{
    struct span seed = span_str(url);
    struct channel_opts o = {.seeds = &seed, .seed_count = 1, .scope = scope, .depth_max = 64};
    struct channel_form f = {.label = seed};
    struct c_channel *ch = NULL;
    struct buf why = {0};
    CHECK_STATUS(url, channel_new(&o, &f.channel, &why), ST_OK);
    pthread_mutex_lock(&s->c->lock);
    CHECK_STATUS(url, channel_put(s->c, &f, &ch, &why), ST_OK);
    uint64_t id = ch->id;
    pthread_mutex_unlock(&s->c->lock);
    buf_done(&why);
    return id;
}

/* ---- packages ---- */

static inline void make_package(struct puppet *p, uint64_t sequence, uint64_t task, const char *const *urls,
                                const char *address, struct buf *out)
{
    struct package_writer *w = package_writer_new(&(struct package_writer_opts){0});
    struct package_head head = {.agent = p->number, .sequence = sequence, .made = clock_wall()};
    head.coordinator = p->stage->c->id.fingerprint;
    for (size_t i = 0; urls[i]; i++) {
        char text[200];
        snprintf(text, sizeof(text), "Words about weaving on page %s and nothing else", urls[i]);
        struct summary s = {.at = clock_wall(),
                            .url = span_str(urls[i]),
                            .http_status = 200,
                            .is_html = true,
                            .digest = 1000 + i + sequence * 100,
                            .text = span_str(text),
                            .text_bytes = strlen(text),
                            .title = SPAN("A page"),
                            .lang = SPAN("en"),
                            .address = span_str(address),
                            .dns_us = -1,
                            .connect_us = 900,
                            .tls_us = -1,
                            .first_byte_us = 2000,
                            .total_us = 3000};
        package_add_visit(w, task, SUMMARY_TEXT, &s);
    }
    package_finish(w, &head, &p->key, out);
    package_writer_free(w);
}

struct put_answer {
    uint64_t have, wanted;
    bool is_whole;
};

static inline int put_piece(struct puppet *p, uint64_t sequence, size_t offset, size_t all, struct span piece,
                            struct put_answer *out)
{
    char target[128];
    snprintf(target, sizeof(target), PATH_PACKAGE "%llu?offset=%zu&bytes=%zu", (unsigned long long)sequence, offset,
             all);
    int code = call(p, "PUT", target, piece);
    struct fields f = fields_of(buf_span(&p->answer.body));
    unsigned tag;
    struct span v;
    *out = (struct put_answer){0};
    while (fields_next(&f, &tag, &v)) {
        if (tag == 1)
            out->have = value_u64(v);
        else if (tag == 2)
            out->is_whole = value_u64(v) == 1;
        else if (tag == 3)
            out->wanted = value_u64(v);
    }
    return code;
}

static inline uint64_t docs(struct stage *s)
{
    struct ingest_stats st;
    ingest_get_stats(s->c->ingest, &st);
    return st.index_docs;
}

static inline void wait_docs(struct stage *s, uint64_t want)
{
    for (int i = 0; i < 1000 && docs(s) != want; i++)
        usleep(10000);
    assert_int_equal(docs(s), want);
}

static inline void wait_applied(struct stage *s, uint64_t agent, uint64_t sequence)
{
    for (int i = 0; i < 500; i++) {
        pthread_mutex_lock(&s->c->lock);
        bool is = agent_get(s->c, agent)->applied >= sequence;
        pthread_mutex_unlock(&s->c->lock);
        if (is)
            return;
        usleep(20000);
    }
    fail_msg("package %d is not applied", (int)sequence);
}
