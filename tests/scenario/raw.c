#include "raw.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/clock.h"
#include "io/entropy.h"
#include "wire/paths.h"

#define SEND_MS 20000
#define ANSWER_MS 20000

int raw_connect(unsigned from, int port)
{
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000000u + from)};
    struct sockaddr_in there = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct timeval wait = {.tv_sec = 10};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
    if ((from && bind(fd, (struct sockaddr *)&here, sizeof(here)) != 0) ||
        connect(fd, (struct sockaddr *)&there, sizeof(there)) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

bool raw_send(int fd, struct span bytes)
{
    while (bytes.n) {
        ssize_t n = send(fd, bytes.p, bytes.n, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        bytes = span_from(bytes, (size_t)n);
    }
    return true;
}

static size_t head_end(const struct buf *b)
{
    const char *at = b->n >= 4 ? memmem(b->p, b->n, "\r\n\r\n", 4) : NULL;
    return at ? (size_t)(at - b->p) + 4 : 0;
}

static size_t body_length(struct span head)
{
    struct span line;
    while (span_split(&head, '\n', &line)) {
        static const char name[] = "content-length:";
        uint64_t n = 0;
        if (line.n > sizeof(name) && strncasecmp(line.p, name, sizeof(name) - 1) == 0 &&
            span_u64(span_trim(span_from(line, sizeof(name) - 1)), 1u << 26, &n))
            return (size_t)n;
    }
    return 0;
}

void raw_read(int fd, int timeout_ms, struct raw_answer *out)
{
    mono_ms until = clock_mono() + timeout_ms;
    struct buf all = {0};
    size_t head = 0, body = 0;
    out->status = 0;
    buf_clear(&out->head);
    buf_clear(&out->body);
    while (!head || all.n < head + body) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        mono_ms left = until - clock_mono();
        if (left <= 0 || poll(&p, 1, (int)left) == 0) {
            out->status = -1;
            break;
        }
        ssize_t n = recv(fd, buf_room(&all, 65536), 65536, 0);
        if (n <= 0)
            break;
        all.n += (size_t)n;
        if (!head && (head = head_end(&all)))
            body = body_length(span_cut(buf_span(&all), 0, head));
    }
    uint64_t code = 0;
    if (head && all.n >= head + body && span_u64(span_cut(buf_span(&all), 9, 3), 999, &code)) {
        out->status = (int)code;
        buf_put(&out->head, span_cut(buf_span(&all), 0, head));
        buf_put(&out->body, span_cut(buf_span(&all), head, body));
    }
    buf_done(&all);
}

void raw_answer_done(struct raw_answer *a)
{
    buf_done(&a->head);
    buf_done(&a->body);
}

void raw_put(const struct raw_request *r, struct buf *out)
{
    buf_printf(out, "%s %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n", r->method, r->target, r->port);
    buf_put(out, r->head);
    if (r->body.n)
        buf_printf(out, "Content-Length: %zu\r\n", r->body.n);
    buf_puts(out, "\r\n");
    buf_put(out, r->body);
}

int raw_call(const struct raw_request *r, struct raw_answer *out)
{
    struct buf bytes = {0};
    int fd = raw_connect(r->from, r->port);
    out->status = 0;
    raw_put(r, &bytes);
    if (fd >= 0) {
        (void)raw_send(fd, buf_span(&bytes)); /* an answer may be there all the same */
        raw_read(fd, ANSWER_MS, out);
        close(fd);
    }
    buf_done(&bytes);
    return out->status;
}

/* ---- agents ---- */

bool raw_agent_init(struct raw_agent *a, int port)
{
    unsigned char seed[SIGN_SEED_BYTES], challenge[HELLO_CHALLENGE_BYTES];
    struct raw_answer answer = {0};
    struct hello_answer h;
    *a = (struct raw_agent){.port = port};
    if (entropy_draw(seed, sizeof(seed)) != ST_OK || entropy_draw(challenge, sizeof(challenge)) != ST_OK)
        return false;
    sign_key_of(seed, &a->key);
    struct raw_request r = {.port = port,
                            .method = "POST",
                            .target = PATH_HELLO,
                            .body = span_of((const char *)challenge, sizeof(challenge))};
    bool ok = raw_call(&r, &answer) == 200 && hello_answer_unpack(buf_span(&answer.body), &h) == ST_OK &&
              hello_answer_check(&h, challenge);
    if (ok)
        a->coordinator = h.identity;
    raw_answer_done(&answer);
    return ok;
}

static void put_auth(const struct auth *auth, struct buf *head)
{
    buf_puts(head, AUTH_HEADER ": ");
    auth_format(auth, head);
    buf_puts(head, "\r\n");
}

int raw_agent_join(struct raw_agent *a, const unsigned char token[JOIN_TOKEN_BYTES], const struct sign_key *signer)
{
    struct buf body = {0}, head = {0};
    struct raw_answer answer = {0};
    struct join_request j = {.agent = a->key.open, .version = SPAN("1")};
    struct join_answer joined;
    memcpy(j.token, token, sizeof(j.token));
    join_request_pack(&j, &body);
    struct auth auth = {.sequence = 1, .body = digest_blake2b256(buf_span(&body))};
    auth_sign(&auth, signer ? signer : &a->key, &a->coordinator, SPAN("POST"), SPAN(PATH_JOIN));
    put_auth(&auth, &head);
    struct raw_request r = {.from = a->from,
                            .port = a->port,
                            .method = "POST",
                            .target = PATH_JOIN,
                            .head = buf_span(&head),
                            .body = buf_span(&body)};
    int code = raw_call(&r, &answer);
    if (code == 200 && join_answer_unpack(buf_span(&answer.body), &joined) == ST_OK) {
        a->number = joined.agent;
        a->sequence = joined.hint.sequence - 1;
        memcpy(a->nonce, joined.hint.nonce, sizeof(a->nonce));
    }
    raw_answer_done(&answer);
    buf_done(&body);
    buf_done(&head);
    return code;
}

void raw_agent_sign(struct raw_agent *a, const char *method, const char *target, struct span body, struct buf *head)
{
    struct auth auth = {.agent = a->number, .sequence = ++a->sequence, .body = digest_blake2b256(body)};
    memcpy(auth.nonce, a->nonce, sizeof(auth.nonce));
    auth_sign(&auth, &a->key, &a->coordinator, span_str(method), span_str(target));
    put_auth(&auth, head);
}

int raw_agent_call(struct raw_agent *a, const char *method, const char *target, struct span body,
                   struct raw_answer *out)
{
    struct buf head = {0};
    raw_agent_sign(a, method, target, body, &head);
    struct raw_request r = {
        .from = a->from, .port = a->port, .method = method, .target = target, .head = buf_span(&head), .body = body};
    int code = raw_call(&r, out);
    buf_done(&head);
    return code;
}
