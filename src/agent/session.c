#include "agent/session.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"
#include "io/entropy.h"
#include "place/addr.h"
#include "wire/control.h"
#include "wire/paths.h"

#define HELLO_ANSWER_MAX 4096
#define HELLO_TIMEOUT_MS 20000
#define RETRY_AFTER_MAX_MS (3600ll * 1000)

struct session {
    pthread_mutex_t lock;
    struct sign_key key;
    struct buf base, pin, user_agent;
    struct sign_public identity;
    uint64_t agent;
    unsigned char nonce[AUTH_NONCE_BYTES];
    uint64_t sequence;   /* next to use */
    uint64_t generation; /* grows when base or pin change: lines connect anew */
    bool is_cancelled;
    struct session_line *lines;
    uint64_t bytes_sent, bytes_received; /* of callers that are gone */
    const struct log *log;
};

struct session_line {
    struct session *session;
    struct session_line *next;
    struct http_caller *caller; /* owned; of `generation` */
    uint64_t generation;
    uint64_t sent_seen, received_seen; /* of `caller`, already counted in the session */
};

struct session *session_new(const struct session_opts *o)
{
    struct session *s = mem_alloc(sizeof(*s));
    pthread_mutex_init(&s->lock, NULL);
    s->key = *o->key;
    s->sequence = 1;
    buf_put(&s->user_agent, o->user_agent);
    s->log = o->log;
    return s;
}

void session_free(struct session *s)
{
    if (!s)
        return;
    sign_wipe(&s->key, sizeof(s->key));
    buf_done(&s->base);
    buf_done(&s->pin);
    buf_done(&s->user_agent);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

void session_cancel(struct session *s)
{
    pthread_mutex_lock(&s->lock);
    if (!s->is_cancelled)
        for (struct session_line *l = s->lines; l; l = l->next)
            if (l->caller)
                http_caller_cancel(l->caller);
    s->is_cancelled = true;
    pthread_mutex_unlock(&s->lock);
}

void session_set_peer(struct session *s, const struct session_peer *p)
{
    pthread_mutex_lock(&s->lock);
    buf_clear(&s->base);
    buf_put(&s->base, p->base);
    buf_clear(&s->pin);
    buf_put(&s->pin, p->pin);
    s->identity = p->identity;
    s->agent = p->agent;
    s->generation++;
    pthread_mutex_unlock(&s->lock);
}

void session_set_key(struct session *s, const struct sign_key *key)
{
    pthread_mutex_lock(&s->lock);
    s->key = *key;
    pthread_mutex_unlock(&s->lock);
}

void session_set_identity(struct session *s, const struct sign_public *identity)
{
    pthread_mutex_lock(&s->lock);
    s->identity = *identity;
    pthread_mutex_unlock(&s->lock);
}

/* ---- signing ---- */

/* Makes the call with `a` filled in but for the signature, and checks the answer's. */
static status signed_call(struct http_caller *c, const struct http_call *call, struct auth *a,
                          const struct sign_key *key, const struct sign_public *identity, struct http_answer *out)
{
    struct buf header = {0};
    struct span headers[8];
    struct http_call with = *call;
    a->body = digest_blake2b256(call->body);
    auth_sign(a, key, identity, span_str(call->method), call->target);
    buf_puts(&header, AUTH_HEADER ": ");
    auth_format(a, &header);
    size_t n = 0;
    for (; n < call->header_count && n < 7; n++)
        headers[n] = call->headers[n];
    headers[n++] = buf_span(&header);
    with.headers = headers;
    with.header_count = n;
    status st = http_call(c, &with, out);
    buf_done(&header);
    if (st == ST_OK &&
        !auth_check_answer(a, identity, out->status, buf_span(&out->body), http_answer_header(out, AUTH_HEADER)))
        st = ST_PROTOCOL;
    return st;
}

/* ---- hello and join ---- */

static void base_of(const struct join_line *j, struct buf *out)
{
    bool is_v6 = span_find(span_str(j->host), ':', 0) < strlen(j->host);
    buf_printf(out, "%s://%s%s%s:%d", j->is_plain ? "http" : "https", is_v6 ? "[" : "", j->host, is_v6 ? "]" : "",
               j->port);
}

/* Plain HTTP is for this machine only: anywhere else somebody could listen, and learn the token. */
static bool is_loopback(const char *host)
{
    struct addr a;
    return strcmp(host, "localhost") == 0 ||
           (addr_parse(span_str(host), &a) == ST_OK && addr_classify(&a) == ADDR_LOOPBACK);
}

static status hello(struct session *s, struct span base, struct hello_answer *out, struct buf *why)
{
    struct http_caller *caller = NULL;
    struct http_answer answer = {0};
    struct hello_answer h;
    unsigned char challenge[HELLO_CHALLENGE_BYTES];
    status st = entropy_draw(challenge, sizeof(challenge));
    if (st == ST_OK)
        st = http_caller_new(&(struct http_caller_opts){.base = base, .user_agent = buf_span(&s->user_agent)}, &caller);
    if (st == ST_OK)
        st = http_call(caller,
                       &(struct http_call){.method = "POST",
                                           .target = SPAN(PATH_HELLO),
                                           .body = span_of(challenge, sizeof(challenge)),
                                           .answer_max = HELLO_ANSWER_MAX,
                                           .timeout_ms = HELLO_TIMEOUT_MS},
                       &answer);
    if (st != ST_OK)
        buf_printf(why, "no answer (%s)", status_name(st));
    else if (answer.status == 426) {
        buf_puts(why, "the coordinator speaks another version: update the agent or the coordinator");
        st = ST_UNSUPPORTED;
    } else if (answer.status != 200 || hello_answer_unpack(buf_span(&answer.body), &h) != ST_OK ||
               !hello_answer_check(&h, challenge)) {
        buf_puts(why, "whoever answers there is no coordinator");
        st = ST_PROTOCOL;
    } else if (h.version_min > WIRE_VERSION || h.version_max < WIRE_VERSION_MIN) {
        buf_printf(why, "the coordinator speaks versions %u to %u, this agent %u to %u: update one of them",
                   h.version_min, h.version_max, WIRE_VERSION_MIN, WIRE_VERSION);
        st = ST_UNSUPPORTED;
    } else {
        *out = h;
    }
    http_caller_free(caller);
    http_answer_done(&answer);
    return st;
}

static status ask_in(struct session *s, struct http_caller *caller, const struct join_line *line, struct span version,
                     const struct hello_answer *h, struct session_joined *out, struct buf *why)
{
    struct http_answer answer = {0};
    struct buf body = {0};
    struct join_answer j;
    struct auth a = {.agent = 0, .sequence = 1};
    struct join_request r = {.agent = s->key.open, .version = version};
    memcpy(r.token, line->token, sizeof(r.token));
    join_request_pack(&r, &body);
    status st = signed_call(caller,
                            &(struct http_call){.method = "POST",
                                                .target = SPAN(PATH_JOIN),
                                                .body = buf_span(&body),
                                                .answer_max = HELLO_ANSWER_MAX,
                                                .timeout_ms = HELLO_TIMEOUT_MS},
                            &a, &s->key, &h->identity, &answer);
    /* A refusal need not be signed: whom should it be signed for? The pinned connection says who it is from. */
    bool is_refusal = answer.status == 403 || answer.status == 426 || answer.status == 429;
    if (st == ST_PROTOCOL && is_refusal)
        st = ST_OK;
    if (st != ST_OK)
        buf_printf(why, "no proper answer (%s)", status_name(st));
    else if (answer.status == 429) {
        buf_puts(why, "too many tries: wait a minute");
        st = ST_BUSY;
    } else if (answer.status == 403) {
        buf_puts(why, "the token is unknown, used or older than an hour: ask for a new line");
        st = ST_REFUSED;
    } else if (answer.status == 426) {
        buf_puts(why, "the versions do not fit: update the agent or the coordinator");
        st = ST_UNSUPPORTED;
    } else if (answer.status != 200 || join_answer_unpack(buf_span(&answer.body), &j) != ST_OK || !j.agent ||
               !join_name_is_good(j.name)) {
        buf_printf(why, "not understood (HTTP %d)", answer.status);
        st = ST_PROTOCOL;
    }
    if (st == ST_OK) {
        out->identity = h->identity;
        memcpy(out->pin, h->pin, sizeof(out->pin));
        out->agent = j.agent;
        memcpy(out->name, j.name.p, j.name.n);
        out->name[j.name.n] = '\0';
        pthread_mutex_lock(&s->lock);
        memcpy(s->nonce, j.hint.nonce, sizeof(s->nonce));
        s->sequence = j.hint.sequence;
        pthread_mutex_unlock(&s->lock);
    }
    sign_wipe(&r, sizeof(r));
    buf_done(&body);
    http_answer_done(&answer);
    return st;
}

status session_join(struct session *s, const struct join_line *line, struct span version, struct session_joined *out,
                    struct buf *why)
{
    struct http_caller *caller = NULL;
    struct hello_answer h;
    struct session_joined j = {0};
    if (line->is_plain && !is_loopback(line->host)) {
        buf_puts(why, "plain HTTP is for this machine only: use the orb:// line");
        return ST_REFUSED;
    }
    base_of(line, &j.base);
    status st = hello(s, buf_span(&j.base), &h, why);
    if (st == ST_OK) {
        struct digest256 f = digest_sha256(span_of(h.identity.b, sizeof(h.identity.b)));
        if (!bytes_equal(f.b, line->fingerprint.b, sizeof(f.b)) || (!line->is_plain && !h.pin[0])) {
            buf_puts(why, "another coordinator than the line names answers there: its fingerprint differs");
            st = ST_REFUSED;
        }
    }
    if (st == ST_OK)
        st = http_caller_new(&(struct http_caller_opts){.base = buf_span(&j.base),
                                                        .pin = span_str(line->is_plain ? "" : h.pin),
                                                        .user_agent = buf_span(&s->user_agent)},
                             &caller);
    if (st == ST_OK)
        st = ask_in(s, caller, line, version, &h, &j, why);
    http_caller_free(caller);
    if (st != ST_OK) {
        session_joined_done(&j);
        return st;
    }
    session_set_peer(s, &(struct session_peer){buf_span(&j.base), j.identity, span_str(j.pin), j.agent});
    *out = j;
    return ST_OK;
}

void session_joined_done(struct session_joined *j)
{
    buf_done(&j->base);
}

status session_refresh_pin(struct session *s, char pin[JOIN_PIN_MAX], struct buf *why)
{
    struct hello_answer h;
    struct buf base = {0};
    pthread_mutex_lock(&s->lock);
    buf_put(&base, buf_span(&s->base));
    struct sign_public known = s->identity;
    pthread_mutex_unlock(&s->lock);
    status st = hello(s, buf_span(&base), &h, why);
    if (st == ST_OK && (!bytes_equal(h.identity.b, known.b, sizeof(known.b)) || !h.pin[0])) {
        buf_puts(why, "another coordinator than ours answers there");
        st = ST_REFUSED;
    }
    if (st == ST_OK) {
        pthread_mutex_lock(&s->lock);
        buf_clear(&s->pin);
        buf_puts(&s->pin, h.pin);
        s->generation++;
        pthread_mutex_unlock(&s->lock);
        memcpy(pin, h.pin, JOIN_PIN_MAX);
    }
    buf_done(&base);
    return st;
}

/* ---- lines ---- */

status session_line_new(struct session *s, struct session_line **out)
{
    struct session_line *l = mem_alloc(sizeof(*l));
    l->session = s;
    pthread_mutex_lock(&s->lock);
    l->next = s->lines;
    s->lines = l;
    pthread_mutex_unlock(&s->lock);
    *out = l;
    return ST_OK;
}

/* Lock held. */
static void count_bytes(struct session_line *l)
{
    if (!l->caller)
        return;
    uint64_t sent = http_caller_bytes_sent(l->caller), received = http_caller_bytes_received(l->caller);
    l->session->bytes_sent += sent - l->sent_seen;
    l->session->bytes_received += received - l->received_seen;
    l->sent_seen = sent;
    l->received_seen = received;
}

static void hang_up(struct session_line *l)
{
    struct session *s = l->session;
    pthread_mutex_lock(&s->lock);
    count_bytes(l);
    struct http_caller *old = l->caller;
    l->caller = NULL;
    l->sent_seen = l->received_seen = 0;
    pthread_mutex_unlock(&s->lock);
    http_caller_free(old);
}

void session_line_free(struct session_line *l)
{
    if (!l)
        return;
    struct session *s = l->session;
    hang_up(l);
    pthread_mutex_lock(&s->lock);
    for (struct session_line **at = &s->lines; *at; at = &(*at)->next)
        if (*at == l) {
            *at = l->next;
            break;
        }
    pthread_mutex_unlock(&s->lock);
    free(l);
}

static status connect_line(struct session_line *l)
{
    struct session *s = l->session;
    struct http_caller *fresh = NULL;
    pthread_mutex_lock(&s->lock);
    bool is_current = l->caller && l->generation == s->generation, is_cancelled = s->is_cancelled;
    pthread_mutex_unlock(&s->lock);
    if (is_cancelled)
        return ST_CANCELLED;
    if (is_current)
        return ST_OK;
    hang_up(l);
    pthread_mutex_lock(&s->lock);
    status st = ST_NOT_FOUND; /* not enrolled */
    /* Without a pin any key would be taken: on https there always is one. */
    if (s->base.n && (s->pin.n || span_starts(buf_span(&s->base), SPAN("http://"))))
        st = http_caller_new(&(struct http_caller_opts){.base = buf_span(&s->base),
                                                        .pin = buf_span(&s->pin),
                                                        .user_agent = buf_span(&s->user_agent)},
                             &fresh);
    if (st == ST_OK) {
        l->caller = fresh;
        l->generation = s->generation;
        if (s->is_cancelled)
            http_caller_cancel(fresh);
    }
    pthread_mutex_unlock(&s->lock);
    return st;
}

static status call_once(struct session_line *l, const struct http_call *call, struct http_answer *out)
{
    struct session *s = l->session;
    struct sign_key key;
    pthread_mutex_lock(&s->lock);
    struct auth a = {.agent = s->agent, .sequence = s->sequence++};
    memcpy(a.nonce, s->nonce, sizeof(a.nonce));
    struct sign_public identity = s->identity;
    key = s->key;
    pthread_mutex_unlock(&s->lock);
    status st = signed_call(l->caller, call, &a, &key, &identity, out);
    sign_wipe(&key, sizeof(key));
    pthread_mutex_lock(&s->lock);
    count_bytes(l);
    pthread_mutex_unlock(&s->lock);
    return st;
}

static bool take_hint(struct session *s, struct span body)
{
    struct auth_hint h;
    if (auth_hint_unpack(body, &h) != ST_OK)
        return false;
    pthread_mutex_lock(&s->lock);
    bool is_new_nonce = memcmp(s->nonce, h.nonce, sizeof(s->nonce)) != 0;
    memcpy(s->nonce, h.nonce, sizeof(s->nonce));
    /* Under the nonce that we know, another thread may be further already. */
    if (is_new_nonce || h.sequence > s->sequence)
        s->sequence = h.sequence;
    pthread_mutex_unlock(&s->lock);
    return true;
}

status session_call(struct session_line *l, const struct http_call *call, struct http_answer *out)
{
    status st = connect_line(l);
    /* Two lines may both stumble over a new nonce: hence three tries. */
    for (int tries = 0; st == ST_OK && tries < 3; tries++) {
        st = call_once(l, call, out);
        if (st != ST_OK || out->status != 401)
            break;
        if (!take_hint(l->session, buf_span(&out->body)))
            st = ST_PROTOCOL;
    }
    return st;
}

int64_t session_retry_ms(const struct http_answer *a, int64_t otherwise)
{
    uint64_t seconds;
    if (!span_u64(span_trim(http_answer_header(a, "Retry-After")), RETRY_AFTER_MAX_MS / 1000, &seconds))
        return otherwise;
    return (int64_t)seconds * 1000;
}

uint64_t session_bytes_sent(struct session *s)
{
    pthread_mutex_lock(&s->lock);
    uint64_t n = s->bytes_sent;
    pthread_mutex_unlock(&s->lock);
    return n;
}

uint64_t session_bytes_received(struct session *s)
{
    pthread_mutex_lock(&s->lock);
    uint64_t n = s->bytes_received;
    pthread_mutex_unlock(&s->lock);
    return n;
}

int64_t session_backoff_ms(unsigned n, struct rng *rng)
{
    int64_t ms = BACKOFF_MIN_MS;
    while (n-- > 1 && ms < BACKOFF_MAX_MS)
        ms *= 2;
    if (ms > BACKOFF_MAX_MS)
        ms = BACKOFF_MAX_MS;
    return ms / 2 + (int64_t)rng_below(rng, (uint64_t)ms / 2 + 1);
}
