/* stranger.c - somebody who has no business with a coordinator, or not this one: wrong tokens and keys, requests sent
 * again or altered, bodies without end, packages that are none. Prints "ok NAME" or "not ok NAME got".
 *
 *     stranger calls PORT ADMIN-PORT JOIN-LINE     about two seconds
 *     stranger slow PORT JOIN-LINE                 as long as the coordinator has patience: some twenty seconds
 *
 * Each case comes from an address of its own, 127.0.0.N, because the coordinator writes few lines a second about one
 * address; strangers.sh looks for them. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/pack.h"
#include "codec/zip.h"
#include "io/clock.h"
#include "io/entropy.h"
#include "raw.h"
#include "wire/control.h"
#include "wire/package.h"
#include "wire/package_head.h"
#include "wire/paths.h"

#define GIGABYTE 1000000000u
#define STREAM_MAX (16u << 20) /* what socket buffers of both sides may swallow before a refusal is felt */

static int port, admin_port;
static unsigned next_address = 10;
static bool has_failed;

static void report(const char *name, bool is_good, const char *fmt, long long got)
{
    if (is_good) {
        printf("ok %s\n", name);
    } else {
        printf("not ok %s ", name);
        printf(fmt, got);
        printf("\n");
        has_failed = true;
    }
    fflush(stdout);
}

static void expect(const char *name, int got, int want)
{
    report(name, got == want, "answered %lld", got);
}

/* ---- joining ---- */

static int join_as(struct raw_agent *a, const unsigned char token[JOIN_TOKEN_BYTES], const struct sign_key *signer)
{
    a->from = next_address++;
    return raw_agent_join(a, token, signer);
}

static void try_joining(struct raw_agent *eve, const struct join_line *line)
{
    struct raw_agent mallory;
    unsigned char token[JOIN_TOKEN_BYTES];
    memcpy(token, line->token, sizeof(token));
    token[0] ^= 1;
    if (!raw_agent_init(eve, port) || !raw_agent_init(&mallory, port)) {
        report("the_coordinator_says_who_it_is", false, "%lld", 0);
        exit(1);
    }
    expect("wrong_token_is_refused", join_as(eve, token, NULL), 403);
    expect("join_signed_by_another_key_is_refused", join_as(eve, line->token, &mallory.key), 403);
    expect("right_token_is_taken", join_as(eve, line->token, NULL), 200);
    expect("used_token_is_refused", join_as(&mallory, line->token, NULL), 403);
    uint64_t number = eve->number;
    expect("same_key_may_ask_again", join_as(eve, line->token, NULL), 200);
    report("and_is_the_same_agent", eve->number == number, "number %lld", (long long)eve->number);
}

/* ---- signatures ---- */

static void empty_report(struct buf *out)
{
    report_pack(&(struct report){.wire_version = WIRE_VERSION, .version = SPAN("1"), .boot = 1}, out);
}

/* The bytes of a signed poll. */
static void signed_poll(struct raw_agent *a, struct span body, struct buf *out)
{
    struct buf head = {0};
    raw_agent_sign(a, "POST", PATH_POLL "?wait=0", body, &head);
    raw_put(
        &(struct raw_request){
            .port = port, .method = "POST", .target = PATH_POLL "?wait=0", .head = buf_span(&head), .body = body},
        out);
    buf_done(&head);
}

static int send_bytes(struct span bytes)
{
    struct raw_answer answer = {0};
    int fd = raw_connect(next_address++, port);
    if (fd < 0)
        return 0;
    (void)raw_send(fd, bytes);
    raw_read(fd, 20000, &answer);
    close(fd);
    raw_answer_done(&answer);
    return answer.status;
}

/* A good signed poll with one thing replaced by another of the same length. */
static int send_altered(struct raw_agent *a, const char *what, const char *by)
{
    struct buf body = {0}, bytes = {0};
    empty_report(&body);
    signed_poll(a, buf_span(&body), &bytes);
    char *at = memmem(bytes.p, bytes.n, what, strlen(what));
    int code = -1;
    if (at) {
        memcpy(at, by, strlen(by));
        code = send_bytes(buf_span(&bytes));
    }
    buf_done(&body);
    buf_done(&bytes);
    return code;
}

static int send_altered_body(struct raw_agent *a)
{
    struct buf body = {0}, bytes = {0};
    empty_report(&body);
    signed_poll(a, buf_span(&body), &bytes);
    bytes.p[bytes.n - 1] ^= 1;
    int code = send_bytes(buf_span(&bytes));
    buf_done(&body);
    buf_done(&bytes);
    return code;
}

static int send_as_other_method(struct raw_agent *a)
{
    struct buf head = {0};
    struct raw_answer answer = {0};
    raw_agent_sign(a, "GET", PATH_PACKAGE "1", (struct span){0}, &head);
    struct raw_request r = {
        .from = next_address++, .port = port, .method = "PUT", .target = PATH_PACKAGE "1", .head = buf_span(&head)};
    int code = raw_call(&r, &answer);
    buf_done(&head);
    raw_answer_done(&answer);
    return code;
}

static int poll_as(struct raw_agent *a)
{
    struct buf body = {0};
    struct raw_answer answer = {0};
    a->from = next_address++;
    empty_report(&body);
    int code = raw_agent_call(a, "POST", PATH_POLL "?wait=0", buf_span(&body), &answer);
    buf_done(&body);
    raw_answer_done(&answer);
    return code;
}

static void try_signatures(struct raw_agent *eve, const struct join_line *line)
{
    struct raw_agent mallory = *eve;
    unsigned char seed[SIGN_SEED_BYTES] = {7};
    struct buf body = {0}, recorded = {0};
    struct raw_answer answer = {0};
    empty_report(&body);
    expect("own_key_is_heard", poll_as(eve), 200);
    sign_key_of(seed, &mallory.key);
    expect("wrong_key_is_refused", poll_as(&mallory), 403);
    mallory = *eve;
    mallory.number = 1; /* the real agent of the scenario */
    expect("another_agents_name_is_refused", poll_as(&mallory), 403);
    mallory.number = 9999;
    expect("unknown_agent_is_refused", poll_as(&mallory), 403);
    struct raw_request bare = {
        .from = next_address++, .port = port, .method = "POST", .target = PATH_POLL "?wait=0", .body = buf_span(&body)};
    expect("unsigned_is_refused", raw_call(&bare, &answer), 403);

    signed_poll(eve, buf_span(&body), &recorded);
    expect("a_call_is_taken_once", send_bytes(buf_span(&recorded)), 200);
    expect("and_not_twice", send_bytes(buf_span(&recorded)), 401);
    /* A join recorded on its way must not open the door for old calls. */
    expect("join_may_be_repeated", join_as(eve, line->token, NULL), 200);
    expect("still_not_twice_after_a_repeated_join", send_bytes(buf_span(&recorded)), 401);
    expect("altered_body_is_refused", send_altered_body(eve), 400);
    expect("altered_target_is_refused", send_altered(eve, "wait=0", "wait=1"), 403);
    expect("altered_path_is_refused", send_altered(eve, "/poll?wait=0", "/rekey?ait=0"), 403);
    expect("altered_method_is_refused", send_as_other_method(eve), 403);
    expect("own_key_is_heard_still", poll_as(eve), 200);
    buf_done(&body);
    buf_done(&recorded);
    raw_answer_done(&answer);
}

/* ---- bodies without end ---- */

static const struct giant {
    const char *name, *method, *target;
    bool to_admin;
    int want;
} giants[] = {
    {"hello", "POST", PATH_HELLO, false, 413},
    {"join", "POST", PATH_JOIN, false, 413},
    {"poll", "POST", PATH_POLL "?wait=0", false, 413},
    {"package", "PUT", PATH_PACKAGE "1?offset=0&bytes=1000000000", false, 413},
    {"states", "GET", PATH_STATES "?task=1", false, 413},
    {"blob", "GET", PATH_BLOB "00", false, 413},
    {"rekey", "POST", PATH_REKEY, false, 413},
    {"no_such_call", "POST", "/agent/1/nothing", false, 404},
    {"search", "POST", "/", false, 413},
    {"search_api", "POST", "/api/v1/search?q=a", false, 413},
    {"admin", "POST", "/", true, 405},
    {"admin_login", "POST", "/login", true, 413},
    {"admin_api", "POST", "/api/v1/agents", true, 401},
};

/* Sends until nobody listens; how much went out. */
static uint64_t stream(int fd, bool is_chunked)
{
    char piece[65536 + 16];
    uint64_t sent = 0;
    size_t n = is_chunked ? (size_t)snprintf(piece, 16, "10000\r\n") : 0;
    memset(piece + n, 'x', 65536);
    n += 65536;
    if (is_chunked)
        n += (size_t)snprintf(piece + n, 8, "\r\n");
    while (sent < GIGABYTE) {
        ssize_t w = send(fd, piece, n, MSG_NOSIGNAL);
        if (w <= 0)
            break;
        sent += (uint64_t)w;
    }
    return sent;
}

static void try_giant(const struct giant *g, bool is_chunked)
{
    struct buf head = {0}, name = {0};
    struct raw_answer answer = {0};
    int to = g->to_admin ? admin_port : port;
    struct timeval wait = {.tv_sec = 20};
    buf_printf(&head, "%s %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n", g->method, g->target, to);
    if (is_chunked)
        buf_puts(&head, "Transfer-Encoding: chunked\r\n\r\n");
    else
        buf_printf(&head, "Content-Length: %u\r\n\r\n", GIGABYTE);
    int fd = raw_connect(next_address++, to);
    if (fd >= 0) {
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
        uint64_t sent = 0;
        if (raw_send(fd, buf_span(&head))) {
            if (!is_chunked) /* announced: refused before anything of it is sent */
                raw_read(fd, 20000, &answer);
            sent = stream(fd, is_chunked);
        }
        buf_printf(&name, "a_gigabyte_to_%s_%s", g->name, is_chunked ? "in_chunks_is_cut_off" : "is_refused");
        if (!is_chunked)
            expect(buf_cstr(&name), answer.status, g->want);
        if (is_chunked || sent > STREAM_MAX)
            report(buf_cstr(&name), sent <= STREAM_MAX, "after %lld bytes", (long long)sent);
        close(fd);
    }
    buf_done(&head);
    buf_done(&name);
    raw_answer_done(&answer);
}

/* Signed, so that it is let in as far as an agent is. */
static void try_signed_giant(struct raw_agent *eve)
{
    struct buf head = {0};
    struct raw_answer answer = {0};
    raw_agent_sign(eve, "PUT", PATH_PACKAGE "1?offset=0&bytes=9", SPAN("x"), &head);
    buf_printf(&head, "Content-Length: %u\r\n", GIGABYTE);
    struct raw_request r = {.from = next_address++,
                            .port = port,
                            .method = "PUT",
                            .target = PATH_PACKAGE "1?offset=0&bytes=9",
                            .head = buf_span(&head)};
    expect("a_signed_gigabyte_is_refused", raw_call(&r, &answer), 413);
    buf_done(&head);
    raw_answer_done(&answer);
}

/* ---- packages ---- */

static int put_package(struct raw_agent *a, uint64_t sequence, struct span package)
{
    struct buf target = {0};
    struct raw_answer answer = {0};
    a->from = next_address++;
    buf_printf(&target, PATH_PACKAGE "%llu?offset=0&bytes=%zu", (unsigned long long)sequence, package.n);
    int code = raw_agent_call(a, "PUT", buf_cstr(&target), package, &answer);
    buf_done(&target);
    raw_answer_done(&answer);
    return code;
}

/* One visit, signed by the agent's key. */
static void make_package(const struct raw_agent *a, const struct package_head *given, struct buf *out)
{
    struct package_head head = *given;
    struct package_writer *w = package_writer_new(&(struct package_writer_opts){0});
    struct summary s = {.url = SPAN("http://big0.example/"),
                        .http_status = 200,
                        .text = SPAN("a stranger's words"),
                        .text_bytes = 18,
                        .dns_us = -1,
                        .connect_us = -1,
                        .tls_us = -1};
    package_add_visit(w, 1, SUMMARY_TEXT, &s);
    package_finish(w, &head, &a->key, out);
    package_writer_free(w);
}

/* A head that is right about everything but what the body becomes. */
static void make_bomb(const struct raw_agent *a, const struct package_head *given, size_t becomes, uint64_t says,
                      struct buf *out)
{
    struct buf zeros = {0}, body = {0};
    struct package_head head = *given;
    memset(buf_room(&zeros, becomes), 0, becomes);
    zeros.n = becomes;
    zip_zstd(buf_span(&zeros), 1, &body);
    buf_done(&zeros);
    head.body_bytes = body.n;
    head.raw_bytes = says;
    head.visits = 1;
    char *to = buf_room(out, PACKAGE_HEAD_BYTES);
    package_head_write(&head, &a->key, buf_span(&body), to);
    out->n += PACKAGE_HEAD_BYTES;
    buf_put(out, buf_span(&body));
    buf_done(&body);
}

static void try_packages(struct raw_agent *eve)
{
    struct buf good = {0}, bad = {0};
    struct raw_agent mallory = *eve;
    unsigned char seed[SIGN_SEED_BYTES] = {9};
    struct package_head head = {.agent = eve->number, .sequence = 1};
    head.coordinator = digest_sha256(span_of((const char *)eve->coordinator.b, sizeof(eve->coordinator.b)));
    make_package(eve, &head, &good);
    expect("cut_package_is_refused", put_package(eve, 1, span_cut(buf_span(&good), 0, good.n - 1)), 422);
    expect("half_a_head_is_refused", put_package(eve, 1, span_cut(buf_span(&good), 0, 100)), 422);
    static const struct {
        const char *name;
        int from_end;
        size_t at;
    } flips[] = {{"bit_in_magic_is_refused", 0, 0},
                 {"bit_in_head_is_refused", 0, 40},
                 {"bit_in_signature_is_refused", 0, PACKAGE_HEAD_BYTES - 1},
                 {"bit_in_body_is_refused", 1, 1}};
    for (size_t i = 0; i < sizeof(flips) / sizeof(*flips); i++) {
        buf_clear(&bad);
        buf_put(&bad, buf_span(&good));
        bad.p[flips[i].from_end ? bad.n - flips[i].at : flips[i].at] ^= 4;
        expect(flips[i].name, put_package(eve, 1, buf_span(&bad)), 422);
    }
    buf_clear(&bad);
    sign_key_of(seed, &mallory.key);
    make_package(&mallory, &head, &bad);
    expect("package_by_another_key_is_refused", put_package(eve, 1, buf_span(&bad)), 422);
    struct package_head other = head;
    other.agent = 1;
    buf_clear(&bad);
    make_package(eve, &other, &bad);
    expect("package_of_another_agent_is_refused", put_package(eve, 1, buf_span(&bad)), 422);
    other = head;
    other.sequence = 7;
    buf_clear(&bad);
    make_package(eve, &other, &bad);
    expect("package_of_another_number_is_refused", put_package(eve, 1, buf_span(&bad)), 422);
    expect("package_out_of_turn_is_refused", put_package(eve, 7, buf_span(&bad)), 409);
    other = head;
    memset(other.coordinator.b, 1, sizeof(other.coordinator.b));
    buf_clear(&bad);
    make_package(eve, &other, &bad);
    expect("package_for_another_coordinator_is_refused", put_package(eve, 1, buf_span(&bad)), 422);
    buf_clear(&bad);
    make_bomb(eve, &head, 512u << 20, 512u << 20, &bad);
    expect("bomb_that_says_so_is_refused", put_package(eve, 1, buf_span(&bad)), 422);
    buf_clear(&bad);
    make_bomb(eve, &head, 512u << 20, PACKAGE_RAW_MAX, &bad);
    expect("bomb_that_says_less_is_refused", put_package(eve, 1, buf_span(&bad)), 422);
    buf_clear(&bad);
    /* Signed nonsense of the right size is its maker's own fault: taken, not understood, dropped. */
    make_bomb(eve, &head, 32u << 20, 32u << 20, &bad);
    expect("signed_nonsense_is_taken_off_its_hands", put_package(eve, 1, buf_span(&bad)), 200);
    buf_done(&good);
    buf_done(&bad);
}

/* ---- slow ones ---- */

struct slow {
    const char *name;
    struct buf head;
    int sent_head; /* bytes of it sent at once; the rest, then the body, a byte a second */
    pthread_t thread;
    int64_t took_ms; /* -1: still there after all patience */
};
#define SLOW_MAX_S 40

static void *be_slow(void *arg)
{
    struct slow *s = arg;
    mono_ms began = clock_mono();
    int fd = raw_connect(next_address, port);
    size_t at = (size_t)s->sent_head;
    s->took_ms = -1;
    if (fd < 0)
        return NULL;
    bool is_there = raw_send(fd, span_cut(buf_span(&s->head), 0, at));
    for (int i = 0; is_there && i < SLOW_MAX_S * 10; i++) {
        char byte = 'x', in[512];
        if (i % 10 == 0)
            is_there = raw_send(fd, at < s->head.n ? span_of(s->head.p + at++, 1) : span_of(&byte, 1));
        usleep(100000);
        ssize_t n = recv(fd, in, sizeof(in), MSG_DONTWAIT);
        is_there &= n != 0; /* an answer may have come; the end is what counts */
    }
    if (!is_there)
        s->took_ms = clock_mono() - began;
    close(fd);
    return NULL;
}

static int slow_ones(const struct join_line *line)
{
    struct raw_agent eve;
    struct slow slow[4] = {{.name = "slow_head_is_hung_up_on"},
                           {.name = "slow_body_is_hung_up_on"},
                           {.name = "slow_unsigned_body_is_hung_up_on"},
                           {.name = "slow_body_of_an_agent_is_hung_up_on"}};
    if (!raw_agent_init(&eve, port) || raw_agent_join(&eve, line->token, NULL) != 200)
        return 1;
    buf_puts(&slow[0].head, "POST " PATH_HELLO
                            " HTTP/1.1\r\nHost: a\r\nX-Slow: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy");
    slow[0].sent_head = 20;
    buf_puts(&slow[1].head, "POST " PATH_HELLO " HTTP/1.1\r\nHost: a\r\nContent-Length: 32\r\n\r\n");
    buf_puts(&slow[2].head, "POST " PATH_POLL "?wait=0 HTTP/1.1\r\nHost: a\r\nContent-Length: 30000\r\n\r\n");
    buf_puts(&slow[3].head,
             "PUT " PATH_PACKAGE "1?offset=0&bytes=9000 HTTP/1.1\r\nHost: a\r\nContent-Length: 9000\r\n");
    raw_agent_sign(&eve, "PUT", PATH_PACKAGE "1?offset=0&bytes=9000", SPAN("x"), &slow[3].head);
    buf_puts(&slow[3].head, "\r\n");
    for (int i = 0; i < 4; i++) {
        if (i)
            slow[i].sent_head = (int)slow[i].head.n;
        if (pthread_create(&slow[i].thread, NULL, be_slow, &slow[i]) != 0)
            abort();
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(slow[i].thread, NULL);
        report(slow[i].name, slow[i].took_ms > 0 && slow[i].took_ms < 30000, "after %lld ms",
               (long long)slow[i].took_ms);
        buf_done(&slow[i].head);
    }
    return has_failed;
}

int main(int argc, char **argv)
{
    struct join_line line;
    bool is_slow = argc == 4 && strcmp(argv[1], "slow") == 0;
    if ((!is_slow && (argc != 5 || strcmp(argv[1], "calls") != 0)) ||
        join_line_parse(span_str(argv[argc - 1]), &line) != ST_OK) {
        fprintf(stderr, "usage: stranger calls PORT ADMIN-PORT JOIN-LINE | stranger slow PORT JOIN-LINE\n");
        return 2;
    }
    port = (int)strtol(argv[2], NULL, 10);
    if (is_slow)
        return slow_ones(&line);
    admin_port = (int)strtol(argv[3], NULL, 10);
    struct raw_agent eve;
    try_joining(&eve, &line);
    try_signatures(&eve, &line);
    for (size_t i = 0; i < sizeof(giants) / sizeof(*giants); i++) {
        try_giant(&giants[i], false);
        try_giant(&giants[i], true);
    }
    try_signed_giant(&eve);
    try_packages(&eve);
    return has_failed;
}
