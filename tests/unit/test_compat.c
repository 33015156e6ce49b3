/* Programs of one minor version older or newer: what was recorded of each version (tests/data/exchange) is understood
 * by today's decoders, taken by a real coordinator (and obeyed by a real agent: test_compat_agent.c); so is the same
 * with fields, kinds and columns that nobody knows yet.
 *
 *     test_compat --record FOLDER     writes a recording of today's code */
#include "test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coord/agents.h"
#include "coord/assign.h"
#include "coord/channels.h"
#include "coord/coord.h"
#include "coord/ingest.h"
#include "coord/state.h"
#include "exchange_kept.h"
#include "exchange_known.h"
#include "exchange_show.h"
#include "store/file.h"
#include "test_folder.h"

#define UNKNOWN_KIND 77

/* ---- recordings ---- */

static void show_all(struct exchanges *x, struct span package, struct buf *out)
{
    struct show w = {.out = out};
    arena_init(&w.arena);
    for (size_t i = 0; i < x->count; i++) {
        buf_printf(out, "== %s\n", x->list[i].name);
        show_exchange(&w, buf_span(&x->list[i].request), buf_span(&x->list[i].answer));
    }
    buf_puts(out, "== package\n");
    show_package(out, package);
    arena_done(&w.arena);
}

/* Says the first line that differs, not all of them. */
static void check_same(const char *label, struct span got, struct span want)
{
    struct span g = {0}, w = {0};
    bool has_g, has_w;
    do {
        has_g = span_split(&got, '\n', &g);
        has_w = span_split(&want, '\n', &w);
        if (has_g != has_w || (has_g && !span_eq(g, w)))
            fail_msg("%s: got \"%.*s\", want \"%.*s\"", label, SPAN_ARG(has_g ? g : SPAN("(the end)")),
                     SPAN_ARG(has_w ? w : SPAN("(the end)")));
    } while (has_g);
}

static void write_file(const char *folder, const char *name, const char *suffix, struct span bytes)
{
    char path[TEST_PATH];
    snprintf(path, sizeof(path), "%s/%s%s", folder, name, suffix);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(bytes.p, 1, bytes.n, f) != bytes.n || fclose(f) != 0) {
        perror(path);
        exit(4);
    }
}

static int record(const char *folder)
{
    struct exchanges x;
    struct buf meaning = {0}, package = {0};
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        perror(folder);
        return 4;
    }
    exchange_make(&x);
    whole_package(&x, &package);
    show_all(&x, buf_span(&package), &meaning);
    for (size_t i = 0; i < x.count; i++) {
        write_file(folder, x.list[i].name, ".request", buf_span(&x.list[i].request));
        write_file(folder, x.list[i].name, ".answer", buf_span(&x.list[i].answer));
    }
    write_file(folder, MEANING, "", buf_span(&meaning));
    exchanges_done(&x);
    buf_done(&meaning);
    buf_done(&package);
    return 0;
}

/* ---- decoders ---- */

static void every_recording_is_understood(void **state)
{
    for (size_t i = 0; i < VERSIONS; i++) {
        struct exchanges x;
        struct buf meaning = {0}, got = {0}, package = {0};
        load(versions[i], &x, &meaning);
        whole_package(&x, &package);
        show_all(&x, buf_span(&package), &got);
        check_same(versions[i], buf_span(&got), buf_span(&meaning));
        CHECK(versions[i], span_search(buf_span(&got), SPAN("NO"), false) == got.n); /* NO, NOT READ */
        exchanges_done(&x);
        buf_done(&meaning);
        buf_done(&got);
        buf_done(&package);
    }
}

/* A field was added, or means something else: raise WIRE_MINOR, record it under that name, add it to `versions`. */
static void what_is_said_today_is_recorded(void **state)
{
    char now[32];
    struct exchanges x, today;
    struct buf meaning = {0}, ours = {0}, theirs = {0}, package = {0};
    snprintf(now, sizeof(now), "%d.%d", WIRE_VERSION, WIRE_MINOR);
    assert_string_equal(now, versions[VERSIONS - 1]);
    load(now, &x, &meaning);
    exchange_make(&today);
    assert_int_equal(today.count, x.count);
    for (size_t i = 0; i < x.count; i++) {
        if (span_starts(span_str(x.list[i].name + 3), SPAN("package-")))
            continue; /* zstd may compress otherwise tomorrow */
        assert_string_equal(today.list[i].name, x.list[i].name);
        CHECK(x.list[i].name, span_eq(buf_span(&today.list[i].request), buf_span(&x.list[i].request)));
        CHECK(x.list[i].name, span_eq(buf_span(&today.list[i].answer), buf_span(&x.list[i].answer)));
    }
    whole_package(&today, &package);
    show_package(&ours, buf_span(&package));
    buf_clear(&package);
    whole_package(&x, &package);
    show_package(&theirs, buf_span(&package));
    check_same("package", buf_span(&ours), buf_span(&theirs));
    exchanges_done(&x);
    exchanges_done(&today);
    buf_done(&meaning);
    buf_done(&ours);
    buf_done(&theirs);
    buf_done(&package);
}

/* A report of the recordings has all parts of a report, but for the setup, which has one of its own. */
static void check_report_fields(struct exchanges *x)
{
    static const struct {
        const char *label;
        unsigned tag;
    } parts[] = {{"outcome", 20},        {"task report", 21},      {"stray host", 22}, {"timing", 23},
                 {"program report", 24}, {"errors of a kind", 26}, {"probe", 27}};
    struct span full = http_of(buf_span(&find(x, "poll-full")->request)).body;
    struct span setup = http_of(buf_span(&find(x, "poll-setup")->request)).body;
    struct buf both = {0};
    buf_put(&both, full);
    buf_put(&both, setup);
    known_check("report", again_report, buf_span(&both), 0);
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
        known_check(parts[i].label, again_report, full, parts[i].tag);
    known_check("setup", again_report, setup, 19);
    known_check("visit", again_visit_report, known_inside(known_inside(full, 21), 9), 0);
    buf_done(&both);
}

static void check_order_fields(struct exchanges *x)
{
    static again_fn *const by_kind[] = {[ORDER_SETTINGS] = again_agent_settings,
                                        [ORDER_TASK] = again_task_order,
                                        [ORDER_END_TASK] = again_end_order,
                                        [ORDER_RECHECK] = again_recheck_order,
                                        [ORDER_FETCH] = again_fetch_order,
                                        [ORDER_PROGRAM] = again_program_order,
                                        [ORDER_UPDATE] = again_update_order,
                                        [ORDER_IDENTITY] = again_identity_order,
                                        [ORDER_REKEY] = NULL,
                                        [ORDER_QUIT] = NULL,
                                        [ORDER_PROBE] = again_probe_order,
                                        [ORDER_REFUSE] = again_refuse_order,
                                        [ORDER_TOLD] = again_told_order};
    struct buf all[ORDER_TOLD + 1] = {0};
    static const char *const polls[] = {"poll-setup", "poll-full"};
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < 2; i++) {
        struct poll_answer p;
        struct span body = http_of(buf_span(&find(x, polls[i])->answer)).body;
        CHECK_STATUS(polls[i], poll_answer_unpack(&a, body, &p), ST_OK);
        for (size_t k = 0; k < p.order_count; k++) /* orders of one kind share their fields among them */
            buf_put(&all[p.orders[k].kind], p.orders[k].body);
        known_check("order", again_poll_answer, body, 4);
    }
    known_check("one probe of an order", again_probe_order, buf_span(&all[ORDER_PROBE]), 1);
    for (size_t k = 1; k <= ORDER_TOLD; k++) {
        char label[32];
        snprintf(label, sizeof(label), "order of kind %zu", k);
        if (by_kind[k])
            known_check(label, by_kind[k], buf_span(&all[k]), 0);
        buf_done(&all[k]);
    }
    arena_done(&a);
}

static void no_field_is_missing_in_the_newest_recording(void **state)
{
    struct exchanges x;
    struct buf meaning = {0}, both = {0};
    struct arena a;
    struct report r;
    arena_init(&a);
    load(versions[VERSIONS - 1], &x, &meaning);
    known_check("hello", again_hello_answer, http_of(buf_span(&find(&x, "hello")->answer)).body, 0);
    known_check("join", again_join_request, http_of(buf_span(&find(&x, "join")->request)).body, 0);
    known_check("joined", again_join_answer, http_of(buf_span(&find(&x, "join")->answer)).body, 0);
    known_check("hint", again_auth_hint, http_of(buf_span(&find(&x, "poll-stale")->answer)).body, 0);
    check_report_fields(&x);
    check_order_fields(&x);
    /* Neither of the two answers has all: what is asked for once is not asked for again. */
    buf_put(&both, http_of(buf_span(&find(&x, "poll-full")->answer)).body);
    buf_put(&both, http_of(buf_span(&find(&x, "poll-setup")->answer)).body);
    known_check("poll answer", again_poll_answer, buf_span(&both), 0);
    CHECK_STATUS("report", report_unpack(&a, http_of(buf_span(&find(&x, "poll-full")->request)).body, &r), ST_OK);
    known_check("fetched page", again_fetched_page, r.outcomes[0].parts[0], 0);
    arena_done(&a);
    exchanges_done(&x);
    buf_done(&meaning);
    buf_done(&both);
}

static void the_next_minor_version_is_understood_as_far_as_it_goes(void **state)
{
    for (size_t i = 0; i < VERSIONS; i++) {
        struct exchanges x, grown;
        struct buf meaning = {0}, got = {0}, package = {0}, next = {0};
        load(versions[i], &x, &meaning);
        grow_all(&x, &grown);
        whole_package(&x, &package);
        package_grow(buf_span(&package), &next);
        show_all(&grown, buf_span(&next), &got);
        check_same(versions[i], buf_span(&got), buf_span(&meaning));
        exchanges_done(&x);
        exchanges_done(&grown);
        buf_done(&meaning);
        buf_done(&got);
        buf_done(&package);
        buf_done(&next);
    }
}

/* Orders of kinds that we do not know stand among those that we do; states and activities get new values. */
static void unknown_kinds_and_values_spoil_nothing(void **state)
{
    struct exchanges x;
    struct buf meaning = {0}, body = {0}, order = {0};
    struct arena a;
    struct poll_answer before, p;
    struct agent_settings s;
    struct report r;
    arena_init(&a);
    load(versions[0], &x, &meaning);
    struct span answer = http_of(buf_span(&find(&x, "poll-setup")->answer)).body;
    CHECK_STATUS("before", poll_answer_unpack(&a, answer, &before), ST_OK);
    order_pack(&(struct order){.number = 3, .kind = (order_kind)UNKNOWN_KIND, .body = SPAN("\xff not fields")}, &order);
    field_text(&body, 4, buf_span(&order));
    buf_put(&body, answer);
    field_text(&body, 4, buf_span(&order));
    CHECK_STATUS("unknown orders", poll_answer_unpack(&a, buf_span(&body), &p), ST_OK);
    assert_int_equal(p.order_count, before.order_count + 2);
    assert_int_equal(p.orders[0].kind, UNKNOWN_KIND);
    assert_int_equal(p.orders[1].kind, ORDER_SETTINGS);
    CHECK_SPAN("the known one is whole", p.orders[2].body, before.orders[1].body);
    buf_clear(&body);
    field_u64(&body, 1, 9);
    CHECK_STATUS("a state", agent_settings_unpack(buf_span(&body), &s), ST_OK);
    assert_int_equal(s.state, AGENT_PAUSE); /* not "run", whatever it is */
    buf_clear(&body);
    field_u64(&body, 1, WIRE_VERSION);
    field_u64(&body, 5, 99);
    CHECK_STATUS("an activity", report_unpack(&a, buf_span(&body), &r), ST_OK);
    assert_int_equal(r.activity, 0);
    exchanges_done(&x);
    buf_done(&meaning);
    buf_done(&body);
    buf_done(&order);
    arena_done(&a);
}

/* A visit that failed in a way that has no name here yet; a tail that is none. */
static void a_package_of_the_next_version_has_limits_too(void **state)
{
    struct package_writer *w = package_writer_new(&(struct package_writer_opts){0});
    struct package_head head = {.agent = 1, .sequence = 1};
    struct sign_key k = exchange_key(SEED_AGENT);
    struct buf package = {0}, out = {0}, raw = {0};
    struct summary s = {.url = SPAN(EXCHANGE_SITE), .failure = ST_MAX + 9};
    package_add_visit(w, 1, SUMMARY_TEXT, &s);
    package_finish(w, &head, &k, &package);
    CHECK_STATUS("failure", package_read(buf_span(&package), &k.open, NULL, show_visit, &out), ST_OK);
    char want[64];
    snprintf(want, sizeof(want), "visit.failure %d\n", ST_PROTOCOL);
    CHECK("an unknown failure", span_search(buf_span(&out), span_str(want), false) < out.n);
    CHECK_STATUS("unzip", unzip_zstd(span_from(buf_span(&package), PACKAGE_HEAD_BYTES), PACKAGE_RAW_MAX, &raw), ST_OK);
    static const struct {
        const char *label;
        size_t tail; /* 0: one more than all */
        const char *bytes;
    } cases[] = {{"no fields", 2, "\x05\x09"}, {"a part of a column", 3, ""}, {"longer than the body", 0, ""}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct buf body = {0}, zipped = {0};
        buf_put(&body, buf_span(&raw));
        buf_puts(&body, cases[i].bytes);
        zip_zstd(buf_span(&body), 3, &zipped);
        buf_clear(&package);
        buf_room(&package, PACKAGE_HEAD_BYTES);
        package.n = PACKAGE_HEAD_BYTES;
        buf_put(&package, buf_span(&zipped));
        head.body_bytes = zipped.n;
        head.raw_bytes = body.n;
        head.tail_bytes = (uint32_t)(cases[i].tail ? cases[i].tail : body.n + 1);
        package_head_write(&head, &k, buf_span(&zipped), package.p);
        CHECK_STATUS(cases[i].label, package_read(buf_span(&package), &k.open, NULL, show_visit, &out), ST_CORRUPT);
        buf_done(&body);
        buf_done(&zipped);
    }
    package_writer_free(w);
    buf_done(&package);
    buf_done(&out);
    buf_done(&raw);
}

/* ---- a real coordinator ---- */

struct stage {
    struct coord *c;
    pthread_t thread;
    pthread_mutex_t lock;
    struct buf log;
    struct log sink;
};

static void take_line(void *self, log_level level, struct span line)
{
    struct stage *s = self;
    pthread_mutex_lock(&s->lock);
    buf_put(&s->log, line);
    buf_putc(&s->log, '\n');
    pthread_mutex_unlock(&s->lock);
}

static bool has_line(struct stage *s, const char *text)
{
    pthread_mutex_lock(&s->lock);
    bool has = span_search(buf_span(&s->log), span_str(text), false) < s->log.n;
    pthread_mutex_unlock(&s->lock);
    return has;
}

static void *run_coord(void *arg)
{
    struct stage *s = arg;
    (void)!coord_run(s->c);
    return NULL;
}

static const char hosts[] = "127.1.1.1 one.example\n127.2.2.1 two.example\n127.3.3.1 own.example\n";

static void put_identity(void)
{
    struct sign_key k = exchange_key(SEED_COORDINATOR);
    struct buf text = {0};
    char path[TEST_PATH];
    test_path(path, "coord");
    assert_int_equal(mkdir(path, 0700), 0);
    test_path(path, "coord/identity.key");
    hex_put(&text, span_of(k.seed, sizeof(k.seed)));
    CHECK_STATUS("identity", file_replace(path, buf_span(&text)), ST_OK);
    buf_done(&text);
}

/* The coordinator of the recordings: its key, its nonce, and the token of its one agent. */
static void start(struct stage *s)
{
    struct buf why = {0}, line = {0};
    struct c_agent *a = NULL;
    unsigned char token[JOIN_TOKEN_BYTES];
    *s = (struct stage){.sink = {.level = LOG_INFO, .sink = take_line, .self = s}};
    pthread_mutex_init(&s->lock, NULL);
    put_identity();
    struct coord_opts o = {.data_dir = test_folder(),
                           .addr = {4, {127, 0, 0, 1}},
                           .admin_addr = {4, {127, 0, 0, 1}},
                           .is_plain = true,
                           .allow_private = true,
                           .strategy = DELEGATE_HASH,
                           .seed = 1,
                           .dns.hosts = span_str(hosts),
                           .version = SPAN("test"),
                           .log = &s->sink};
    if (coord_new(&o, &s->c, &why) != ST_OK)
        fail_msg("coordinator: %s", buf_cstr(&why));
    count_up(s->c->nonce, sizeof(s->c->nonce), EXCHANGE_NONCE);
    pthread_mutex_lock(&s->c->lock);
    CHECK_STATUS("agent", agent_add(s->c, &(struct agent_form){.name = SPAN(EXCHANGE_NAME)}, &a, &line, &why), ST_OK);
    count_up(token, sizeof(token), EXCHANGE_TOKEN);
    struct digest256 d = digest_sha256(span_of(token, sizeof(token)));
    memcpy(a->token, d.b, sizeof(a->token));
    d = digest_blake2b256(SPAN("a program"));
    CHECK_STATUS("blob", fleet_put(s->c->fleet, FLEET_BLOB, span_of(d.b, sizeof(d.b)), SPAN("a program")), ST_OK);
    pthread_mutex_unlock(&s->c->lock);
    pthread_create(&s->thread, NULL, run_coord, s);
    buf_done(&why);
    buf_done(&line);
}

static void stop(struct stage *s)
{
    coord_stop(s->c);
    pthread_join(s->thread, NULL);
    coord_free(s->c);
    buf_done(&s->log);
    pthread_mutex_destroy(&s->lock);
}

/* The task that the recorded package is about. */
static void give_task(struct stage *s)
{
    struct span seed = SPAN(EXCHANGE_SITE);
    struct channel_form f = {.label = seed};
    struct channel_opts o = {.seeds = &seed, .seed_count = 1, .depth_max = 64};
    struct c_channel *ch;
    struct buf why = {0};
    CHECK_STATUS("channel", channel_new(&o, &f.channel, &why), ST_OK);
    pthread_mutex_lock(&s->c->lock);
    CHECK_STATUS("channel", channel_put(s->c, &f, &ch, &why), ST_OK);
    pthread_mutex_unlock(&s->c->lock);
    bool has_it = false;
    for (int i = 0; i < 1000 && !has_it; i++) {
        usleep(10000);
        pthread_mutex_lock(&s->c->lock);
        const struct c_task *t = task_get(s->c, 1);
        has_it = t && t->agent == 1 && t->network_count;
        pthread_mutex_unlock(&s->c->lock);
    }
    CHECK("the agent has its task", has_it);
    buf_done(&why);
}

/* Bytes as they are, over a connection of their own; what comes back. */
static void play(struct stage *s, struct span request, struct buf *out)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)coord_port(s->c))};
    uint64_t body = UINT64_MAX;
    char room[4096];
    ssize_t n;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(fd >= 0);
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){.tv_sec = 20}, sizeof(struct timeval)),
                     0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    CHECK_STATUS("send", file_write_all(fd, request), ST_OK);
    while ((n = recv(fd, room, sizeof(room), 0)) > 0) {
        buf_put(out, span_of(room, (size_t)n));
        size_t end = span_search(buf_span(out), SPAN("\r\n\r\n"), false);
        if (end == out->n)
            continue;
        CHECK("length", span_u64(http_header(span_cut(buf_span(out), 0, end), "Content-Length"), 1u << 20, &body));
        if (out->n >= end + 4 + body)
            break;
    }
    close(fd);
    CHECK("an answer", body != UINT64_MAX);
}

static bool is_one_of(const struct exchange *e, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(e->name + 3, *names) == 0)
            return true;
    return false;
}

/* Plays one; its code is the recorded one, its answer signed, and where nothing else can be said the recorded one. */
static void play_exchange(struct stage *s, const struct exchange *e)
{
    static const char *const fixed[] = {
        "join", "poll-stale", "package-ask", "package-begin", "package-gap", "package-rest", "blob", "rekey", NULL};
    struct buf out = {0};
    struct sign_key c = exchange_key(SEED_COORDINATOR);
    struct http_bytes q = http_of(buf_span(&e->request)), want = http_of(buf_span(&e->answer));
    struct auth a;
    play(s, buf_span(&e->request), &out);
    struct http_bytes got = http_of(buf_span(&out));
    if (got.code != want.code)
        fail_msg("%s: code %d, recorded %d\n%s", e->name, got.code, want.code, buf_cstr(&s->log));
    if (auth_parse(q.auth, &a) == ST_OK)
        CHECK(e->name, auth_check_answer(&a, &c.open, got.code, got.body, got.auth));
    if (is_one_of(e, fixed))
        CHECK(e->name, span_eq(got.body, want.body));
    buf_done(&out);
}

static void wait_visits(struct stage *s, uint64_t want)
{
    struct ingest_stats st = {0};
    uint64_t visits = 0;
    for (int i = 0; i < 1000 && visits < want; i++) {
        usleep(10000);
        pthread_mutex_lock(&s->c->lock);
        visits = agent_get(s->c, 1)->visits;
        pthread_mutex_unlock(&s->c->lock);
    }
    assert_int_equal(visits, want);
    for (int i = 0; i < 1000 && st.index_docs != 2; i++) {
        usleep(10000);
        ingest_get_stats(s->c->ingest, &st);
    }
    assert_int_equal(st.index_docs, 2); /* the page and the one of words; a redirect and a failure are none */
}

static void check_taken(struct stage *s)
{
    wait_visits(s, 4);
    pthread_mutex_lock(&s->c->lock);
    const struct c_agent *a = agent_get(s->c, 1);
    struct sign_key next = exchange_key(SEED_AGENT_NEXT);
    assert_int_equal(a->sequence, 1);
    assert_int_equal(a->orders_done, 2);
    CHECK("the setup is kept", a->setup.n > 0);
    CHECK("the new key counts", bytes_equal(a->key.b, next.open.b, sizeof(next.open.b)));
    assert_int_equal(a->dropped, 0);
    pthread_mutex_unlock(&s->c->lock);
}

static void a_coordinator_takes_an_older_agents_calls_as_they_were(void **state)
{
    for (size_t i = 0; i < VERSIONS; i++) {
        struct stage s;
        struct exchanges x;
        struct buf meaning = {0};
        if (i > 0)
            assert_int_equal(test_folder_make(state), 0);
        load(versions[i], &x, &meaning);
        start(&s);
        for (size_t k = 0; k < x.count; k++) {
            play_exchange(&s, &x.list[k]);
            if (strcmp(x.list[k].name + 3, "join") == 0)
                give_task(&s);
        }
        check_taken(&s);
        stop(&s);
        exchanges_done(&x);
        buf_done(&meaning);
        if (i + 1 < VERSIONS)
            test_folder_remove(state);
    }
}

/* One package in one piece, by an agent of the next version. */
static void play_grown_package(struct stage *s, struct exchanges *x, uint64_t sequence)
{
    struct buf package = {0}, next = {0}, answer = {0}, body = {0};
    struct exchanges one = {.sequence = sequence};
    whole_package(x, &package);
    package_grow(buf_span(&package), &next);
    field_u64(&answer, 1, next.n);
    field_u64(&answer, 2, 1);
    make_piece(&one, "package-rest", 1, 0, next.n, buf_span(&next), 200, &answer);
    play_exchange(s, &one.list[0]);
    exchanges_done(&one);
    buf_done(&package);
    buf_done(&next);
    buf_done(&body);
}

static void a_coordinator_takes_a_newer_agents_calls(void **state)
{
    struct stage s;
    struct exchanges x, grown;
    struct buf meaning = {0};
    load(versions[VERSIONS - 1], &x, &meaning);
    grow_all(&x, &grown);
    start(&s);
    for (size_t i = 0; i < x.count; i++) {
        struct exchange *e = &grown.list[i];
        const char *name = e->name + 3;
        struct auth a;
        if (strcmp(name, "package-begin") == 0 && auth_parse(http_of(buf_span(&e->request)).auth, &a) == ST_OK)
            play_grown_package(&s, &x, a.sequence);
        if (span_starts(span_str(name), SPAN("package-")))
            continue;
        /* The coordinator is today's: its answers are not the grown ones. */
        buf_clear(&e->answer);
        buf_put(&e->answer, buf_span(&x.list[i].answer));
        play_exchange(&s, e);
        if (strcmp(name, "join") == 0)
            give_task(&s);
    }
    check_taken(&s);
    stop(&s);
    exchanges_done(&x);
    exchanges_done(&grown);
    buf_done(&meaning);
}

static void another_major_version_is_refused_and_the_log_says_why(void **state)
{
    struct stage s;
    struct exchanges x = {.sequence = 1};
    struct buf body = {0}, none = {0};
    start(&s);
    make_join(&x);
    play_exchange(&s, &x.list[0]);
    report_pack(&(struct report){.wire_version = WIRE_VERSION + 1, .version = SPAN("9.0"), .activity = ACTIVITY_IDLE},
                &body);
    exchange_call(&x, "newer", "POST", PATH_POLL "?wait=0", &body, 426, &none);
    play_exchange(&s, &x.list[1]);
    CHECK("agent and versions are named", has_line(&s, "code=426") && has_line(&s, "agent athens speaks version 2") &&
                                              has_line(&s, "versions 1 to 1 are spoken here"));
    report_pack(&(struct report){.version = SPAN("0.0"), .activity = ACTIVITY_IDLE}, &body);
    exchange_call(&x, "older", "POST", PATH_POLL "?wait=0", &body, 426, &none);
    play_exchange(&s, &x.list[2]);
    static const struct {
        const char *target;
        int code;
    } strange[] = {{"/agent/2/hello", 426}, {"/agent/0/poll?wait=0", 426}, {"/agent/2/new/call", 426},
                   {"/agent/1/new", 404},   {"/agent/x/hello", 404},       {"/agent/2", 404}};
    for (size_t i = 0; i < sizeof(strange) / sizeof(*strange); i++) {
        struct buf request = {0}, out = {0};
        put_request(&request, "POST", span_str(strange[i].target), NULL, SPAN("x"));
        play(&s, buf_span(&request), &out);
        if (http_of(buf_span(&out)).code != strange[i].code)
            fail_msg("%s: %d", strange[i].target, http_of(buf_span(&out)).code);
        buf_done(&request);
        buf_done(&out);
    }
    stop(&s);
    exchanges_done(&x);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_recording_is_understood),
        cmocka_unit_test(what_is_said_today_is_recorded),
        cmocka_unit_test(no_field_is_missing_in_the_newest_recording),
        cmocka_unit_test(the_next_minor_version_is_understood_as_far_as_it_goes),
        cmocka_unit_test(unknown_kinds_and_values_spoil_nothing),
        cmocka_unit_test(a_package_of_the_next_version_has_limits_too),
        TEST_IN_FOLDER(a_coordinator_takes_an_older_agents_calls_as_they_were),
        TEST_IN_FOLDER(a_coordinator_takes_a_newer_agents_calls),
        TEST_IN_FOLDER(another_major_version_is_refused_and_the_log_says_why),
    };
    if (argc == 3 && strcmp(argv[1], "--record") == 0)
        return record(argv[2]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
