/* The coordinator as agents see it: joining, signatures, orders, packages, leases. A puppet plays the agent over real
 * connections; no crawling happens here. */
#include "test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "coord/coord.h"
#include "coord/ingest.h"
#include "coord/state.h"
#include "io/clock.h"
#include "io/http_call.h"
#include "place/hierarchy_build.h"
#include "store/file.h"
#include "store/store.h"
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

static void *run(void *arg)
{
    struct stage *s = arg;
    status st = coord_run(s->c);
    (void)st;
    return NULL;
}

static const char hosts[] =
    "127.1.1.1 one.example\n127.1.1.2 two.example\n127.2.2.1 three.example\n127.3.3.1 four.example\n";

static void start(struct stage *s)
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

static void stop(struct stage *s)
{
    if (!s->is_running)
        return;
    coord_stop(s->c);
    pthread_join(s->thread, NULL);
    coord_free(s->c);
    s->c = NULL;
    s->is_running = false;
}

static void open_stage(struct stage *s)
{
    *s = (struct stage){.dir = test_folder()};
    start(s);
}

static void close_stage(struct stage *s)
{
    stop(s);
}

/* ---- a puppet ---- */

struct puppet {
    struct stage *stage;
    struct sign_key key;
    struct http_caller *caller;
    uint64_t number, sequence, package;
    unsigned char nonce[AUTH_NONCE_BYTES];
    uint64_t orders_done, boot;
    uint64_t task;       /* that it says it has; 0: none */
    struct span refuses; /* a country, in a setup; empty: no setup */
    struct http_answer answer;
};

static void puppet_line(struct puppet *p)
{
    struct buf base = {0};
    http_caller_free(p->caller);
    buf_printf(&base, "http://127.0.0.1:%d", coord_port(p->stage->c));
    CHECK_STATUS("caller", http_caller_new(&(struct http_caller_opts){.base = buf_span(&base)}, &p->caller), ST_OK);
    buf_done(&base);
}

/* One signed call, just as it is. */
static int call_once(struct puppet *p, const struct auth *auth, const char *method, const char *target,
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

static void sign_call(struct puppet *p, struct auth *a, const char *method, const char *target, struct span body)
{
    *a = (struct auth){.agent = p->number, .sequence = ++p->sequence, .body = digest_blake2b256(body)};
    memcpy(a->nonce, p->nonce, sizeof(a->nonce));
    auth_sign(a, &p->key, &p->stage->c->id.key.open, span_str(method), span_str(target));
}

/* With one more try after a hint; the answer's signature is checked. */
static int call(struct puppet *p, const char *method, const char *target, struct span body)
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
    CHECK(target, auth_check_answer(&a, &p->stage->c->id.key.open, code, buf_span(&p->answer.body),
                                    http_answer_header(&p->answer, AUTH_HEADER)));
    return code;
}

static void puppet_key(struct puppet *p, struct stage *s, unsigned char seed)
{
    unsigned char bytes[SIGN_SEED_BYTES];
    memset(bytes, seed, sizeof(bytes));
    *p = (struct puppet){.stage = s, .boot = 7};
    sign_key_of(bytes, &p->key);
    puppet_line(p);
}

static int puppet_join(struct puppet *p, const unsigned char token[JOIN_TOKEN_BYTES])
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

static void add_agent(struct stage *s, const char *name, struct join_line *out)
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

static void puppet_new(struct puppet *p, struct stage *s, const char *name, unsigned char seed)
{
    struct join_line line;
    add_agent(s, name, &line);
    puppet_key(p, s, seed);
    assert_int_equal(puppet_join(p, line.token), 200);
}

static void puppet_done(struct puppet *p)
{
    http_caller_free(p->caller);
    http_answer_done(&p->answer);
}

/* Reports, and gives the orders that come back to `fn`; confirms them with the next report. */
typedef void order_fn(void *arg, const struct order *o);

static int puppet_poll(struct puppet *p, const struct outcome *outcomes, size_t n, order_fn *fn, void *arg,
                       uint64_t *have)
{
    struct report r = {.wire_version = WIRE_VERSION,
                       .version = SPAN("1"),
                       .boot = p->boot,
                       .orders_done = p->orders_done,
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
        for (size_t i = 0; i < answer.order_count; i++) {
            assert_int_equal(answer.orders[i].number, p->orders_done + 1);
            p->orders_done++;
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

static void note_order(void *arg, const struct order *o)
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

static uint64_t add_channel(struct stage *s, const char *url, channel_scope scope)
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

static void make_package(struct puppet *p, uint64_t sequence, uint64_t task, const char *const *urls,
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

static int put_piece(struct puppet *p, uint64_t sequence, size_t offset, size_t all, struct span piece,
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

static uint64_t docs(struct stage *s)
{
    struct ingest_stats st;
    ingest_get_stats(s->c->ingest, &st);
    return st.index_docs;
}

static void wait_docs(struct stage *s, uint64_t want)
{
    for (int i = 0; i < 1000 && docs(s) != want; i++)
        usleep(10000);
    assert_int_equal(docs(s), want);
}

/* ---- tests ---- */

static void only_a_fresh_token_lets_an_agent_in(void **state)
{
    struct stage s;
    struct puppet p, q;
    struct join_line line;
    unsigned char wrong[JOIN_TOKEN_BYTES] = {1, 2, 3};
    open_stage(&s);
    add_agent(&s, "athens", &line);
    puppet_key(&p, &s, 1);
    puppet_key(&q, &s, 2);
    assert_int_equal(puppet_join(&p, wrong), 403);
    assert_int_equal(puppet_join(&p, line.token), 200);
    assert_int_equal(p.number, 1);
    assert_int_equal(puppet_join(&p, line.token), 200); /* the answer was lost: the same key may ask again */
    assert_int_equal(puppet_join(&q, line.token), 403); /* another may not */
    pthread_mutex_lock(&s.c->lock);
    agent_get(s.c, 1)->token_until = clock_wall() - 1;
    pthread_mutex_unlock(&s.c->lock);
    assert_int_equal(puppet_join(&p, line.token), 403);
    puppet_done(&p);
    puppet_done(&q);
    close_stage(&s);
}

static void replayed_altered_and_strange_requests_are_refused(void **state)
{
    struct stage s;
    struct puppet p, stranger;
    struct auth a;
    struct buf body = {0};
    open_stage(&s);
    puppet_new(&p, &s, "athens", 1);
    puppet_key(&stranger, &s, 9);
    stranger.number = p.number;
    memcpy(stranger.nonce, p.nonce, sizeof(p.nonce));
    report_pack(&(struct report){.wire_version = WIRE_VERSION, .version = SPAN("1"), .activity = ACTIVITY_IDLE}, &body);
    const char *target = PATH_POLL "?wait=0";

    sign_call(&p, &a, "POST", target, buf_span(&body));
    assert_int_equal(call_once(&p, &a, "POST", target, buf_span(&body)), 200);
    assert_int_equal(call_once(&p, &a, "POST", target, buf_span(&body)), 401); /* the same once more */
    sign_call(&p, &a, "POST", target, buf_span(&body));
    body.p[body.n - 1] ^= 1;
    assert_int_equal(call_once(&p, &a, "POST", target, buf_span(&body)), 400); /* another body */
    body.p[body.n - 1] ^= 1;
    sign_call(&p, &a, "POST", target, buf_span(&body));
    assert_int_equal(call_once(&p, &a, "POST", PATH_POLL "?wait=9", buf_span(&body)), 403); /* another target */
    sign_call(&stranger, &a, "POST", target, buf_span(&body));
    assert_int_equal(call_once(&stranger, &a, "POST", target, buf_span(&body)), 403); /* another key */
    sign_call(&p, &a, "POST", target, buf_span(&body));
    a.agent = 77;
    assert_int_equal(call_once(&p, &a, "POST", target, buf_span(&body)), 403); /* nobody */

    /* A restart draws another nonce: what was recorded before is worth nothing. */
    sign_call(&p, &a, "POST", target, buf_span(&body));
    stop(&s);
    start(&s);
    puppet_line(&p);
    assert_int_equal(call_once(&p, &a, "POST", target, buf_span(&body)), 401);
    assert_int_equal(call(&p, "POST", target, buf_span(&body)), 200);

    /* Removed: its key is nobody's. */
    pthread_mutex_lock(&s.c->lock);
    agent_remove(s.c, agent_get(s.c, p.number));
    pthread_mutex_unlock(&s.c->lock);
    sign_call(&p, &a, "POST", target, buf_span(&body));
    assert_int_equal(call_once(&p, &a, "POST", target, buf_span(&body)), 403);
    buf_done(&body);
    puppet_done(&p);
    puppet_done(&stranger);
    close_stage(&s);
}

static void orders_are_given_until_they_are_confirmed(void **state)
{
    struct stage s;
    struct puppet p;
    struct seen_orders seen = {0}, again = {0};
    open_stage(&s);
    puppet_new(&p, &s, "athens", 1);
    add_channel(&s, "http://one.example/", SCOPE_SITE);
    UNTIL(&p, seen, seen.tasks == 1);
    assert_int_equal(seen.settings, 1);
    CHECK_SPAN("networks", buf_span(&seen.texts), SPAN("127.1.1.0/24 "));

    /* The last is not confirmed yet by a report: after a restart it comes again. */
    p.orders_done--;
    stop(&s);
    start(&s);
    puppet_line(&p);
    (void)puppet_poll(&p, NULL, 0, note_order, &again, NULL);
    assert_int_equal(again.tasks, 1);

    /* A second host of the same network makes no new network; another network does. */
    add_channel(&s, "http://two.example/", SCOPE_SITE);
    UNTIL(&p, again, again.tasks == 2);
    assert_int_equal(again.networks, 1);
    add_channel(&s, "http://three.example/", SCOPE_SITE);
    UNTIL(&p, again, again.tasks == 3);
    buf_done(&seen.texts);
    buf_done(&again.texts);
    puppet_done(&p);
    close_stage(&s);
}

static void a_network_has_one_agent_and_moves_after_its_confirmation(void **state)
{
    struct stage s;
    struct puppet p[2];
    struct seen_orders seen[2] = {{0}, {0}};
    open_stage(&s);
    puppet_new(&p[0], &s, "athens", 1);
    puppet_new(&p[1], &s, "bergen", 2);
    add_channel(&s, "http://one.example/", SCOPE_SITE);
    for (int i = 0; i < 500 && !seen[0].tasks && !seen[1].tasks; i++) {
        (void)puppet_poll(&p[0], NULL, 0, note_order, &seen[0], NULL);
        (void)puppet_poll(&p[1], NULL, 0, note_order, &seen[1], NULL);
        usleep(10000);
    }
    assert_int_equal(seen[0].tasks + seen[1].tasks, 1);
    int old = seen[0].tasks ? 0 : 1, fresh = 1 - old;

    pthread_mutex_lock(&s.c->lock);
    size_t at = 0;
    struct c_network *n = table_next(&s.c->networks, &at);
    CHECK_STATUS("move", assign_move(s.c, n, p[fresh].number, MOVE_PERSON, "a test"), ST_OK);
    pthread_mutex_unlock(&s.c->lock);
    UNTIL(&p[old], seen[old], seen[old].ends == 1);
    for (int i = 0; i < 20; i++) {
        (void)puppet_poll(&p[fresh], NULL, 0, note_order, &seen[fresh], NULL);
        usleep(20000);
    }
    assert_int_equal(seen[fresh].tasks, 0); /* the old one has not said that it stopped */

    struct outcome done = {.number = seen[old].end_order, .st = ST_OK};
    p[old].orders_done = seen[old].end_order;
    (void)puppet_poll(&p[old], &done, 1, note_order, &seen[old], NULL);
    UNTIL(&p[fresh], seen[fresh], seen[fresh].tasks == 1);
    CHECK_SPAN("networks", buf_span(&seen[fresh].texts), SPAN("127.1.1.0/24 "));
    assert_true(seen[fresh].states > 0);
    for (int i = 0; i < 2; i++) {
        buf_done(&seen[i].texts);
        puppet_done(&p[i]);
    }
    close_stage(&s);
}

static void wait_applied(struct stage *s, uint64_t agent, uint64_t sequence)
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

static void a_silent_agent_loses_its_networks_when_its_lease_is_over(void **state)
{
    static const char *const found[] = {"http://one.example/", "http://one.example/a", NULL};
    static const char *const later[] = {"http://one.example/b", NULL};
    struct put_answer put;
    struct buf one = {0}, two = {0};
    struct stage s = {.dir = test_folder(), .opts = {.lease_ms = 300, .move_after_ms = 600}};
    struct puppet p[2];
    struct seen_orders seen[2] = {{0}, {0}};
    start(&s);
    puppet_new(&p[0], &s, "athens", 1);
    add_channel(&s, "http://one.example/", SCOPE_SITE);
    UNTIL(&p[0], seen[0], seen[0].tasks == 1);
    puppet_new(&p[1], &s, "bergen", 2);
    /* Silence begins: nothing may be given to the other before the time is over. */
    pthread_mutex_lock(&s.c->lock);
    struct c_agent *a = agent_get(s.c, 1);
    a->heard_mono -= 100000; /* as if it had been silent for long: being there is counted in tens of seconds */
    pthread_mutex_unlock(&s.c->lock);
    UNTIL(&p[1], seen[1], seen[1].tasks == 1);
    CHECK_SPAN("networks", buf_span(&seen[1].texts), SPAN("127.1.1.0/24 "));
    /* What it found before is taken, until it has said that it has stopped. */
    make_package(&p[0], 1, seen[0].task, found, "127.1.1.1", &one);
    make_package(&p[0], 2, seen[0].task, later, "127.1.1.1", &two);
    assert_int_equal(put_piece(&p[0], 1, 0, one.n, buf_span(&one), &put), 200);
    wait_docs(&s, 2);
    /* It comes back, and is told that it has lost it. */
    UNTIL(&p[0], seen[0], seen[0].ends == 1);
    p[0].orders_done = seen[0].end_order;
    (void)puppet_poll(&p[0], NULL, 0, note_order, &seen[0], NULL);
    assert_int_equal(put_piece(&p[0], 2, 0, two.n, buf_span(&two), &put), 200);
    wait_applied(&s, 1, 2);
    pthread_mutex_lock(&s.c->lock);
    assert_int_equal(agent_get(s.c, 1)->dropped, 1);
    pthread_mutex_unlock(&s.c->lock);
    buf_done(&one);
    buf_done(&two);
    for (int i = 0; i < 2; i++) {
        buf_done(&seen[i].texts);
        puppet_done(&p[i]);
    }
    close_stage(&s);
}

static void packages_are_taken_once_in_order_and_whole(void **state)
{
    static const char *const urls[] = {"http://one.example/", "http://one.example/a", "http://one.example/b", NULL};
    static const char *const more[] = {"http://one.example/c", NULL};
    static const char *const outside[] = {"http://three.example/x", "http://one.example/d", NULL};
    struct stage s;
    struct puppet p;
    struct seen_orders seen = {0};
    struct put_answer put;
    struct buf one = {0}, two = {0}, three = {0}, four = {0};
    uint64_t have = 0;
    open_stage(&s);
    puppet_new(&p, &s, "athens", 1);
    add_channel(&s, "http://one.example/", SCOPE_SITE);
    UNTIL(&p, seen, seen.tasks == 1);
    make_package(&p, 1, seen.task, urls, "127.1.1.1", &one);
    make_package(&p, 2, seen.task, more, "127.1.1.1", &two);
    make_package(&p, 3, seen.task, outside, "127.1.1.1", &three);
    make_package(&p, 4, seen.task, outside, "127.9.9.9", &four);

    /* The second before the first: the first is wanted. */
    assert_int_equal(put_piece(&p, 2, 0, two.n, buf_span(&two), &put), 409);
    assert_int_equal(put.wanted, 1);
    /* In pieces; one at a wrong place is told where to go on. */
    assert_int_equal(put_piece(&p, 1, 0, one.n, span_cut(buf_span(&one), 0, 100), &put), 200);
    assert_int_equal(put.have, 100);
    assert_false(put.is_whole);
    assert_int_equal(put_piece(&p, 1, 300, one.n, span_from(buf_span(&one), 300), &put), 409);
    assert_int_equal(put.have, 100);
    /* The coordinator is restarted in the middle: it knows how far it was. */
    stop(&s);
    start(&s);
    puppet_line(&p);
    assert_int_equal(call(&p, "GET", PATH_PACKAGE "1", (struct span){0}), 200);
    assert_int_equal(put_piece(&p, 1, 100, one.n, span_from(buf_span(&one), 100), &put), 200);
    assert_true(put.is_whole);
    wait_docs(&s, 3);
    /* Twice: fine, and nothing changes. */
    assert_int_equal(put_piece(&p, 1, 0, one.n, buf_span(&one), &put), 200);
    assert_true(put.is_whole);
    /* Damaged: dropped, and wanted again from its beginning. */
    two.p[two.n - 1] ^= 4;
    assert_int_equal(put_piece(&p, 2, 0, two.n, buf_span(&two), &put), 422);
    two.p[two.n - 1] ^= 4;
    assert_int_equal(put_piece(&p, 2, 0, two.n, span_cut(buf_span(&two), 0, two.n - 9), &put), 200);
    assert_int_equal(put_piece(&p, 2, two.n - 9, two.n, span_from(buf_span(&two), two.n - 9), &put), 200);
    assert_true(put.is_whole);
    wait_docs(&s, 4);
    /* Pages outside of its task, or from elsewhere, are dropped; the rest of the package is taken. */
    assert_int_equal(put_piece(&p, 3, 0, three.n, buf_span(&three), &put), 200);
    wait_docs(&s, 5);
    assert_int_equal(put_piece(&p, 4, 0, four.n, buf_span(&four), &put), 200);
    (void)puppet_poll(&p, NULL, 0, NULL, NULL, &have);
    assert_int_equal(have, 4);
    stop(&s);
    start(&s);
    assert_int_equal(docs(&s), 5);
    pthread_mutex_lock(&s.c->lock);
    assert_int_equal(agent_get(s.c, 1)->sequence, 4);
    pthread_mutex_unlock(&s.c->lock);
    buf_done(&one);
    buf_done(&two);
    buf_done(&three);
    buf_done(&four);
    buf_done(&seen.texts);
    puppet_done(&p);
    close_stage(&s);
}

static void a_package_waits_until_the_store_is_on_the_disk(void **state)
{
    static const char *const first[] = {"http://one.example/", NULL}, *const second[] = {"http://one.example/a", NULL};
    struct stage s;
    struct puppet p;
    struct seen_orders seen = {0};
    struct put_answer put;
    struct buf one = {0}, two = {0};
    char path[TEST_PATH];
    open_stage(&s);
    puppet_new(&p, &s, "athens", 1);
    add_channel(&s, "http://one.example/", SCOPE_SITE);
    UNTIL(&p, seen, seen.tasks == 1);
    make_package(&p, 1, seen.task, first, "127.1.1.1", &one);
    make_package(&p, 2, seen.task, second, "127.1.1.1", &two);
    assert_int_equal(put_piece(&p, 1, 0, one.n, buf_span(&one), &put), 200);
    wait_docs(&s, 1);
    wait_applied(&s, 1, 1);
    /* Its file, the folder and the ledger; its texts; then the disk fails. */
    file_inject_sync_fault(4, EIO);
    int code = put_piece(&p, 2, 0, two.n, buf_span(&two), &put);
    usleep(500000);
    test_path(path, "inbox/1-2");
    bool is_kept = access(path, F_OK) == 0;
    file_inject_sync_fault(0, 0);
    assert_int_equal(code, 200);
    CHECK("it is still in the inbox", is_kept);
    wait_applied(&s, 1, 2);
    assert_int_not_equal(access(path, F_OK), 0);
    wait_docs(&s, 2);
    buf_done(&one);
    buf_done(&two);
    buf_done(&seen.texts);
    puppet_done(&p);
    close_stage(&s);
}

static void a_package_whose_line_is_not_on_the_disk_is_taken_with_the_next_try(void **state)
{
    static const char *const first[] = {"http://one.example/", NULL}, *const second[] = {"http://one.example/a", NULL};
    struct stage s;
    struct puppet p;
    struct seen_orders seen = {0};
    struct put_answer put;
    struct buf one = {0}, two = {0};
    uint64_t have = 0;
    open_stage(&s);
    puppet_new(&p, &s, "athens", 1);
    add_channel(&s, "http://one.example/", SCOPE_SITE);
    UNTIL(&p, seen, seen.tasks == 1);
    make_package(&p, 1, seen.task, first, "127.1.1.1", &one);
    make_package(&p, 2, seen.task, second, "127.1.1.1", &two);
    assert_int_equal(put_piece(&p, 1, 0, one.n, buf_span(&one), &put), 200);
    wait_docs(&s, 1);
    wait_applied(&s, 1, 1);
    /* Its file and the folder are; the ledger is not. */
    file_inject_sync_fault(2, EIO);
    int code = put_piece(&p, 2, 0, two.n, buf_span(&two), &put),
        again = put_piece(&p, 2, 0, two.n, buf_span(&two), &put);
    (void)puppet_poll(&p, NULL, 0, note_order, &seen, &have);
    file_inject_sync_fault(0, 0);
    assert_int_equal(code, 507);
    assert_int_equal(again, 507);
    assert_int_equal(have, 1);
    assert_int_equal(put_piece(&p, 2, 0, two.n, buf_span(&two), &put), 200);
    CHECK("whole", put.is_whole);
    (void)puppet_poll(&p, NULL, 0, note_order, &seen, &have);
    assert_int_equal(have, 2);
    wait_docs(&s, 2);
    pthread_mutex_lock(&s.c->lock);
    assert_int_equal(s.c->next_fetch, 3);
    pthread_mutex_unlock(&s.c->lock);
    buf_done(&one);
    buf_done(&two);
    buf_done(&seen.texts);
    puppet_done(&p);
    close_stage(&s);
}

static void a_package_has_no_more_visits_than_were_counted(void **state)
{
    static const char *const first[] = {"http://one.example/", NULL}, *const second[] = {"http://one.example/a", NULL},
                             *const swapped[] = {"http://one.example/b", "http://one.example/c", NULL};
    struct stage s;
    struct puppet p;
    struct seen_orders seen = {0};
    struct put_answer put;
    struct buf one = {0}, two = {0}, other = {0};
    struct ingest_stats stats;
    char path[TEST_PATH];
    open_stage(&s);
    puppet_new(&p, &s, "athens", 1);
    add_channel(&s, "http://one.example/", SCOPE_SITE);
    UNTIL(&p, seen, seen.tasks == 1);
    make_package(&p, 1, seen.task, first, "127.1.1.1", &one);
    make_package(&p, 2, seen.task, second, "127.1.1.1", &two);
    make_package(&p, 2, seen.task, swapped, "127.1.1.1", &other);
    assert_int_equal(put_piece(&p, 1, 0, one.n, buf_span(&one), &put), 200);
    wait_docs(&s, 1);
    wait_applied(&s, 1, 1);
    /* It is applied and has to be applied once more, because the disk fails; another one is in its place by then. */
    file_inject_sync_fault(4, EIO);
    int code = put_piece(&p, 2, 0, two.n, buf_span(&two), &put);
    usleep(500000);
    test_path(path, "inbox/1-2");
    int fd = open(path, O_WRONLY | O_TRUNC);
    status st = file_write_all(fd, buf_span(&other));
    close(fd);
    file_inject_sync_fault(0, 0);
    assert_int_equal(code, 200);
    CHECK_STATUS("swapped", st, ST_OK);
    wait_applied(&s, 1, 2);
    ingest_get_stats(s.c->ingest, &stats);
    assert_int_equal(stats.damaged, 1);
    stop(&s);
    start(&s);
    assert_int_equal(docs(&s), 2);
    buf_done(&one);
    buf_done(&two);
    buf_done(&other);
    buf_done(&seen.texts);
    puppet_done(&p);
    close_stage(&s);
}

static void packages_of_long_ago_are_forgotten(void **state)
{
    struct stage s;
    open_stage(&s);
    pthread_mutex_lock(&s.c->lock);
    for (uint64_t i = 1; i <= 100; i++) {
        struct fleet_package p = {.agent = 1, .sequence = i, .base = i, .visits = 1, .is_applied = true};
        CHECK_STATUS("put", fleet_package_put(s.c->fleet, &p), ST_OK);
    }
    agents_tick(s.c, clock_mono() + 2 * 60 * 60 * 1000);
    CHECK_STATUS("old", fleet_package_applied(s.c->fleet, 1, 1), ST_NOT_FOUND);
    CHECK_STATUS("new", fleet_package_applied(s.c->fleet, 1, 100), ST_OK);
    pthread_mutex_unlock(&s.c->lock);
    close_stage(&s);
}

/* ---- who has forgotten orders ---- */

static void an_agent_on_a_new_machine_is_told_all_of_it_anew(void **state)
{
    struct stage s;
    struct puppet p, q;
    struct seen_orders seen = {0}, anew = {0};
    struct join_line join;
    struct buf line = {0};
    open_stage(&s);
    puppet_new(&p, &s, "athens", 1);
    add_channel(&s, "http://one.example/", SCOPE_SITE);
    UNTIL(&p, seen, seen.tasks == 1);
    (void)puppet_poll(&p, NULL, 0, note_order, &seen, NULL); /* all is done */
    pthread_mutex_lock(&s.c->lock);
    struct c_agent *a = agent_get(s.c, 1);
    uint64_t done = a->orders_done;
    CHECK_STATUS("invite", agent_invite(s.c, a, &line), ST_OK);
    pthread_mutex_unlock(&s.c->lock);
    CHECK("some were done", done >= 2);
    CHECK_STATUS("line", join_line_parse(buf_span(&line), &join), ST_OK);
    puppet_key(&q, &s, 2);
    q.boot = 8;
    q.task = 99; /* of a folder that is older than it should be */
    assert_int_equal(puppet_join(&q, join.token), 200);
    UNTIL(&q, anew, anew.tasks == 1);
    CHECK("its settings, and the end of what is not its own", anew.settings == 1 && anew.ends == 1);
    assert_int_equal(anew.end_task, 99);
    CHECK("all of the task", anew.task == seen.task && anew.channels == 1 && anew.states == 1 && anew.networks == 1);
    UNTIL(&q, anew, anew.other == 1); /* known pages are read for their links */
    CHECK("numbers go on", q.orders_done > done);
    /* From here on it is like any other; another process of it too. */
    q.boot = 9;
    add_channel(&s, "http://three.example/", SCOPE_SITE);
    UNTIL(&q, anew, anew.tasks == 2);
    CHECK("nothing twice", anew.settings == 1 && anew.other == 1);
    buf_done(&line);
    buf_done(&seen.texts);
    buf_done(&anew.texts);
    puppet_done(&p);
    puppet_done(&q);
    close_stage(&s);
}

static void copy_file(const char *from, const char *to)
{
    char path[TEST_PATH], copy[TEST_PATH];
    struct buf bytes = {0};
    test_path(path, from);
    test_path(copy, to);
    CHECK_STATUS(from, file_read(path, 64u << 20, &bytes), ST_OK);
    CHECK_STATUS(to, file_replace(copy, buf_span(&bytes)), ST_OK);
    buf_done(&bytes);
}

static void set_state(struct stage *s, agent_state state)
{
    pthread_mutex_lock(&s->c->lock);
    agent_set_state(s->c, agent_get(s->c, 1), state);
    pthread_mutex_unlock(&s->c->lock);
}

static void orders_after_a_restore_are_not_those_that_were_forgotten(void **state)
{
    struct stage s;
    struct puppet p;
    struct seen_orders seen = {0}, after = {0};
    open_stage(&s);
    puppet_new(&p, &s, "athens", 1);
    UNTIL(&p, seen, seen.settings == 1);
    (void)puppet_poll(&p, NULL, 0, note_order, &seen, NULL);
    stop(&s);
    copy_file("fleet.db", "backup");
    start(&s);
    puppet_line(&p);
    for (int i = 0; i < 3; i++)
        set_state(&s, AGENT_PAUSE);
    UNTIL(&p, seen, seen.settings == 4);
    (void)puppet_poll(&p, NULL, 0, note_order, &seen, NULL);
    stop(&s);
    /* The folder as it was; as many orders as were forgotten are given before the agent calls. */
    copy_file("backup", "fleet.db");
    start(&s);
    puppet_line(&p);
    for (int i = 0; i < 3; i++)
        set_state(&s, AGENT_RUN);
    UNTIL(&p, after, after.settings == 3);
    assert_int_equal(p.orders_done, 7);
    (void)puppet_poll(&p, NULL, 0, note_order, &after, NULL);
    pthread_mutex_lock(&s.c->lock);
    assert_int_equal(agent_get(s.c, 1)->orders_done, 7);
    pthread_mutex_unlock(&s.c->lock);
    puppet_done(&p);
    close_stage(&s);
}

/* ---- what owners refuse ---- */

static void make_hierarchy(void)
{
    struct hierarchy_builder *b = hierarchy_builder_new();
    struct hierarchy_figures figures;
    struct buf bytes = {0};
    char path[TEST_PATH];
    const struct registry_record one = {.first = {4, {127, 1, 1, 0}},
                                        .last = {4, {127, 1, 1, 255}},
                                        .country = "DE",
                                        .registry = REGISTRY_RIPENCC,
                                        .state = REG_ASSIGNED};
    CHECK_STATUS("one", hierarchy_builder_add(b, &one), ST_OK);
    CHECK_STATUS("finish", hierarchy_builder_finish(b, SPAN("made=now\n"), &bytes, &figures), ST_OK);
    test_path(path, "hierarchy");
    CHECK_STATUS("write", file_replace(path, buf_span(&bytes)), ST_OK);
    hierarchy_builder_free(b);
    buf_done(&bytes);
}

static void an_agent_has_no_networks_in_countries_that_its_owner_refuses(void **state)
{
    struct stage s;
    struct puppet p, q;
    struct seen_orders seen = {0}, other = {0};
    make_hierarchy();
    open_stage(&s);
    puppet_new(&p, &s, "athens", 1);
    add_channel(&s, "http://one.example/", SCOPE_SITE);
    UNTIL(&p, seen, seen.tasks == 1);
    CHECK_SPAN("it hears where", buf_span(&seen.texts), SPAN("127.1.1.0/24 DE 127.1.1.0/24 "));
    /* Its owner changes their mind: it is taken away, and stays away after a restart of ours. */
    p.refuses = SPAN("de");
    p.boot = 8;
    UNTIL(&p, seen, seen.ends == 1);
    (void)puppet_poll(&p, &(struct outcome){.number = seen.end_order, .st = ST_OK}, 1, note_order, &seen, NULL);
    stop(&s);
    start(&s);
    puppet_line(&p);
    p.refuses = (struct span){0};
    for (int i = 0; i < 50; i++, usleep(20000))
        (void)puppet_poll(&p, NULL, 0, note_order, &seen, NULL);
    assert_int_equal(seen.tasks, 1);
    /* Another one gets it; of other countries the first has its share. */
    puppet_new(&q, &s, "bergen", 2);
    UNTIL(&q, other, other.tasks == 1);
    CHECK_SPAN("another", buf_span(&other.texts), SPAN("127.1.1.0/24 DE 127.1.1.0/24 "));
    pthread_mutex_lock(&s.c->lock);
    struct c_network *n = network_find(s.c, &(struct addr){4, {127, 1, 1, 1}});
    CHECK("who may have it", !pinning_allows(s.c, n, 1) && pinning_allows(s.c, n, 2));
    pthread_mutex_unlock(&s.c->lock);
    buf_done(&seen.texts);
    buf_done(&other.texts);
    puppet_done(&p);
    puppet_done(&q);
    close_stage(&s);
}

/* ---- starting ---- */

/* A port that nobody listens on. */
static int free_port(void)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof(to);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&to, n), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&to, &n), 0);
    close(fd);
    return ntohs(to.sin_port);
}

static bool is_listening(int port)
{
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    bool is = connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0;
    close(fd);
    return is;
}

struct doors {
    int port, admin_port;
    unsigned adopted, open;
};

/* The folder's crawl was adopted just now: what follows is not done either. */
static void look_at_doors(void *self, log_level level, struct span line)
{
    struct doors *d = self;
    if (!memmem(line.p, line.n, "goes on with agents", 19))
        return;
    d->adopted++;
    d->open += is_listening(d->port) + is_listening(d->admin_port);
}

static void nobody_is_answered_before_all_of_the_folder_is_there(void **state)
{
    struct doors d = {.port = free_port(), .admin_port = free_port()};
    const struct log log = {.level = LOG_INFO, .sink = look_at_doors, .self = &d};
    struct stage s = {.dir = test_folder(), .opts = {.port = d.port, .admin_port = d.admin_port, .log = &log}};
    struct span seed = SPAN("http://one.example/");
    struct channel *channel;
    struct store *store;
    struct buf packed = {0}, why = {0};
    CHECK_STATUS("channel", channel_new(&(struct channel_opts){.seeds = &seed, .seed_count = 1}, &channel, &why),
                 ST_OK);
    channel_pack(channel, &packed);
    CHECK_STATUS("open", store_open(s.dir, STORE_WRITE, &store, &why), ST_OK);
    CHECK_STATUS("put", store_channel_put(store, channel_id(channel), buf_span(&packed)), ST_OK);
    store_free(store);
    channel_free(channel);
    start(&s);
    assert_int_equal(d.adopted, 1);
    assert_int_equal(d.open, 0);
    CHECK("agents are answered now", is_listening(d.port));
    CHECK("people are answered now", is_listening(d.admin_port));
    buf_done(&packed);
    buf_done(&why);
    close_stage(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(only_a_fresh_token_lets_an_agent_in),
        TEST_IN_FOLDER(replayed_altered_and_strange_requests_are_refused),
        TEST_IN_FOLDER(orders_are_given_until_they_are_confirmed),
        TEST_IN_FOLDER(a_network_has_one_agent_and_moves_after_its_confirmation),
        TEST_IN_FOLDER(a_silent_agent_loses_its_networks_when_its_lease_is_over),
        TEST_IN_FOLDER(packages_are_taken_once_in_order_and_whole),
        TEST_IN_FOLDER(a_package_waits_until_the_store_is_on_the_disk),
        TEST_IN_FOLDER(a_package_whose_line_is_not_on_the_disk_is_taken_with_the_next_try),
        TEST_IN_FOLDER(a_package_has_no_more_visits_than_were_counted),
        TEST_IN_FOLDER(packages_of_long_ago_are_forgotten),
        TEST_IN_FOLDER(an_agent_on_a_new_machine_is_told_all_of_it_anew),
        TEST_IN_FOLDER(orders_after_a_restore_are_not_those_that_were_forgotten),
        TEST_IN_FOLDER(an_agent_has_no_networks_in_countries_that_its_owner_refuses),
        TEST_IN_FOLDER(nobody_is_answered_before_all_of_the_folder_is_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
