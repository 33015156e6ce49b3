/* calls.c - requests of agents: checked before their body is read, carried out, answered with a signature. */
#include "coord/calls.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "coord/agents.h"
#include "coord/inbox.h"
#include "coord/placing.h"
#include "coord/polls.h"
#include "coord/renumber.h"
#include "coord/reports.h"
#include "coord/uploads.h"
#include "io/clock.h"
#include "io/workers.h"
#include "serve/limit.h"
#include "wire/paths.h"

#define SMALL_BODY 4096
#define WAIT_MAX_MS 60000
#define RETRY_BUSY_S 5
#define REMIND_MS 60000 /* of the newest key, no more often: an agent may refuse it */
/* What one agent may ask of us: it polls every few seconds and sends a piece at a time. */
#define CALLS_PER_S 100
#define CALLS_BURST 500
#define CALLS_OPEN_MAX 8

typedef enum call_kind { CALL_HELLO, CALL_JOIN, CALL_POLL, CALL_PACKAGE, CALL_STATES, CALL_BLOB, CALL_REKEY } call_kind;

static const struct call {
    const char *path;
    bool is_prefix;
    const char *methods; /* "POST", or two with a blank */
    call_kind kind;
    size_t body_max;
} calls[] = {
    {PATH_HELLO, false, "POST", CALL_HELLO, HELLO_CHALLENGE_BYTES},
    {PATH_JOIN, false, "POST", CALL_JOIN, SMALL_BODY},
    {PATH_POLL, false, "POST", CALL_POLL, CONTROL_BYTES_MAX},
    {PATH_PACKAGE, true, "PUT GET", CALL_PACKAGE, PATH_PIECE_MAX},
    {PATH_STATES, false, "GET", CALL_STATES, 0},
    {PATH_BLOB, true, "GET", CALL_BLOB, 0},
    {PATH_REKEY, false, "POST", CALL_REKEY, SMALL_BODY},
};

struct span call_path(struct span target)
{
    size_t n = 0;
    while (n < target.n && target.p[n] != '?')
        n++;
    return span_cut(target, 0, n);
}

bool call_number(struct span target, const char *name, uint64_t *out)
{
    struct span path = call_path(target);
    struct span rest = target.n > path.n ? span_from(target, path.n + 1) : (struct span){0}, one;
    size_t len = strlen(name);
    while (span_split(&rest, '&', &one))
        if (one.n > len && memcmp(one.p, name, len) == 0 && one.p[len] == '=')
            return span_u64(span_from(one, len + 1), UINT64_MAX, out);
    return false;
}

static const struct call *find_call(struct span target)
{
    struct span path = call_path(target);
    if (!path.n)
        return NULL;
    for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
        size_t n = strlen(calls[i].path);
        bool fits = calls[i].is_prefix ? path.n > n : path.n == n;
        if (fits && memcmp(path.p, calls[i].path, n) == 0)
            return &calls[i];
    }
    return NULL;
}

static bool takes_method(const struct call *k, const char *method)
{
    struct span rest = span_str(k->methods), one;
    while (span_split(&rest, ' ', &one))
        if (span_is(one, method))
            return true;
    return false;
}

#define AGENT_PATHS "/agent/"

bool calls_is_ours(struct span target)
{
    return span_starts(target, SPAN(AGENT_PATHS));
}

/* A call of another major version: /agent/N/... */
static bool is_of_other_version(struct span target)
{
    struct span rest = span_from(target, sizeof(AGENT_PATHS) - 1), number;
    uint64_t version;
    return span_split(&rest, '/', &number) && rest.p && span_u64(number, UINT32_MAX, &version) &&
           !wire_version_fits((unsigned)version);
}

void calls_sign(struct coord *c, const struct caller *caller, struct httpd_answer *ans)
{
    struct buf value = {0};
    pthread_rwlock_rdlock(&c->id_lock);
    auth_sign_answer(&caller->auth, caller->knows_old ? &c->id.old_key : &c->id.key, ans->status, buf_span(&ans->body),
                     &value);
    pthread_rwlock_unlock(&c->id_lock);
    buf_printf(&ans->head, "%s: %s\n", AUTH_HEADER, buf_cstr(&value));
    buf_puts(&ans->head, "Content-Type: application/octet-stream\nCache-Control: no-store\n");
    buf_done(&value);
}

/* ---- before the body ---- */

/* One line a second and address, and few in all: a flood must not fill the disk with our log, wherever it comes from.
 */
static bool may_tell(struct coord *c, const struct addr *peer)
{
    static const struct addr everybody = {.family = 4};
    int retry;
    bool may = limiter_take(c->refusals, peer, clock_mono(), &retry) &&
               limiter_take(c->all_refusals, &everybody, clock_mono(), &retry);
    if (!may)
        atomic_fetch_add(&c->untold, 1);
    return may;
}

static void refuse(struct coord *c, const struct httpd_request *req, struct httpd_answer *ans, int code,
                   const char *why)
{
    char text[ADDR_TEXT_MAX];
    ans->status = code;
    buf_puts(&ans->head, "Content-Type: text/plain; charset=utf-8\nCache-Control: no-store\n");
    buf_printf(&ans->body, "%s\n", why);
    if (may_tell(c, &req->peer))
        log_write(c->o.log, LOG_WARN, "calls", "refused peer=%s code=%d why=\"%s\"", addr_format(&req->peer, text),
                  code, why);
}

static void refuse_version(struct coord *c, const struct httpd_request *req, struct httpd_answer *ans, const char *what)
{
    struct buf why = {0};
    buf_printf(&why, "%s: versions %d to %d are spoken here, update the agent or the coordinator", what,
               WIRE_VERSION_MIN, WIRE_VERSION);
    refuse(c, req, ans, 426, buf_cstr(&why));
    buf_done(&why);
}

/* Signed, so that nobody can send an agent round in circles. */
static void hint(struct coord *c, const struct c_agent *a, const struct caller *caller, struct httpd_answer *ans)
{
    struct auth_hint h = {.sequence = a->window.top + 1};
    memcpy(h.nonce, c->nonce, sizeof(h.nonce));
    ans->status = 401;
    auth_hint_pack(&h, &ans->body);
    calls_sign(c, caller, ans);
}

/* For which of our keys it was made; false: for none, or not by this agent. */
static bool is_signed(struct coord *c, const struct httpd_request *req, struct caller *caller,
                      const struct sign_public *agent)
{
    struct span method = span_str(req->method);
    pthread_rwlock_rdlock(&c->id_lock);
    bool is = auth_check(&caller->auth, agent, &c->id.key.open, method, req->target);
    if (!is && c->id.has_old)
        is = caller->knows_old = auth_check(&caller->auth, agent, &c->id.old_key.open, method, req->target);
    pthread_rwlock_unlock(&c->id_lock);
    return is;
}

/* It has moved, or came for the first time. */
static void note_peer(struct coord *c, struct c_agent *a, const struct addr *peer)
{
    if (addr_eq(&a->peer, peer))
        return;
    a->peer = *peer;
    agent_tell_delegator(c, a);
    placing_meet(c, a);
}

/* True: `a` said it, now. Otherwise the answer is filled in. */
static bool is_proven(struct coord *c, const struct httpd_request *req, struct caller *caller, struct httpd_answer *ans)
{
    const struct auth *auth = &caller->auth;
    pthread_mutex_lock(&c->lock);
    struct c_agent *a = agent_get(c, auth->agent);
    bool is_known = a && a->is_joined;
    struct sign_public key = {{0}};
    if (is_known)
        key = a->key;
    pthread_mutex_unlock(&c->lock);
    if (!is_known || !is_signed(c, req, caller, &key)) {
        refuse(c, req, ans, 403, is_known ? "the signature is not the agent's" : "no such agent");
        return false;
    }
    pthread_mutex_lock(&c->lock);
    a = agent_get(c, auth->agent);
    bool is_fresh = false, is_too_often = false;
    if (a && a->is_joined && bytes_equal(auth->nonce, c->nonce, sizeof(c->nonce)))
        is_fresh = auth_window_take(&a->window, auth->sequence);
    if (is_fresh)
        is_too_often =
            a->calls_open >= CALLS_OPEN_MAX || !allowance_take(&a->calls, CALLS_PER_S, CALLS_BURST, clock_mono());
    if (is_too_often) {
        is_fresh = false;
    } else if (is_fresh) {
        a->heard_mono = clock_mono();
        a->heard = clock_wall();
        a->is_dirty = true;
        a->calls_open++;
        caller->is_counted = true;
        note_peer(c, a, &req->peer);
    } else if (a) {
        hint(c, a, caller, ans);
    }
    pthread_mutex_unlock(&c->lock);
    if (is_too_often) {
        refuse(c, req, ans, 429, "more calls than an agent has");
        buf_clear(&ans->head); /* calls_sign has its own */
        buf_puts(&ans->head, "Retry-After: 1\n");
        calls_sign(c, caller, ans);
    } else if (!is_fresh && bytes_equal(auth->nonce, c->nonce, sizeof(c->nonce)) && may_tell(c, &req->peer)) {
        log_write(c->o.log, LOG_WARN, "calls", "a request came twice, or late agent=%llu number=%llu",
                  (unsigned long long)auth->agent, (unsigned long long)auth->sequence);
    }
    return is_fresh;
}

bool calls_admit(struct coord *c, const struct httpd_request *req, struct httpd_admission *adm,
                 struct httpd_answer *ans)
{
    const struct call *k = find_call(req->target);
    struct caller caller = {0};
    int retry;
    if (!k && is_of_other_version(req->target))
        refuse_version(c, req, ans, "its calls are of another version");
    else if (!k)
        refuse(c, req, ans, 404, "no such call");
    else if (!takes_method(k, req->method))
        refuse(c, req, ans, 405, "not with this method");
    else if (req->declared > k->body_max)
        refuse(c, req, ans, 413, "more than this call takes");
    else if ((k->kind == CALL_HELLO || k->kind == CALL_JOIN) &&
             !limiter_take(c->strangers, &req->peer, clock_mono(), &retry)) {
        buf_printf(&ans->head, "Retry-After: %d\n", retry);
        refuse(c, req, ans, 429, "too often");
    } else if (k->kind == CALL_HELLO) {
        adm->body_max = k->body_max;
        return true;
    } else if (auth_parse(httpd_header(req, AUTH_HEADER), &caller.auth) != ST_OK) {
        refuse(c, req, ans, 403, "not signed");
    } else if (k->kind == CALL_JOIN || is_proven(c, req, &caller, ans)) {
        adm->body_max = k->body_max;
        adm->is_known = k->kind != CALL_JOIN;
        adm->admitted = mem_alloc(sizeof(caller));
        memcpy(adm->admitted, &caller, sizeof(caller));
        return true;
    }
    return false;
}

void calls_release(struct coord *c, const struct caller *caller)
{
    pthread_mutex_lock(&c->lock);
    struct c_agent *a = caller->is_counted ? agent_get(c, caller->auth.agent) : NULL;
    if (a)
        a->calls_open--;
    pthread_mutex_unlock(&c->lock);
}

/* ---- getting in ---- */

static void do_hello(struct coord *c, const struct httpd_request *req, struct httpd_answer *ans)
{
    struct hello_answer h = {.version_min = WIRE_VERSION_MIN, .version_max = WIRE_VERSION};
    if (req->body.n != HELLO_CHALLENGE_BYTES) {
        refuse(c, req, ans, 400, "no challenge");
        return;
    }
    pthread_rwlock_rdlock(&c->id_lock);
    h.identity = c->id.key.open;
    memcpy(h.pin, c->id.pin, sizeof(h.pin));
    hello_answer_sign(&h, &c->id.key, (const unsigned char *)req->body.p);
    pthread_rwlock_unlock(&c->id_lock);
    hello_answer_pack(&h, &ans->body);
    buf_puts(&ans->head, "Content-Type: application/octet-stream\nCache-Control: no-store\n");
}

/* The agent that a token is for; lock held. */
static struct c_agent *agent_of_token(struct coord *c, const struct join_request *j)
{
    struct digest256 d = digest_sha256(span_of((const char *)j->token, sizeof(j->token)));
    wall_ms now = clock_wall();
    for (size_t i = 0; i < c->agent_count; i++) {
        struct c_agent *a = c->agents[i];
        if (!a || !a->name[0] || !bytes_equal(a->token, d.b, sizeof(d.b)) || a->token_until <= now)
            continue;
        /* Used before by this very key: the first answer was lost on its way. */
        if (a->is_token_used && !bytes_equal(a->key.b, j->agent.b, sizeof(a->key.b)))
            return NULL;
        return a;
    }
    return NULL;
}

static void do_join(struct coord *c, const struct httpd_request *req, struct caller *caller, struct httpd_answer *ans)
{
    const struct auth *auth = &caller->auth;
    struct join_request j;
    if (join_request_unpack(req->body, &j) != ST_OK || auth->agent != 0 || !is_signed(c, req, caller, &j.agent)) {
        refuse(c, req, ans, 403, "not a request to join that fits its signature");
        return;
    }
    pthread_mutex_lock(&c->lock);
    struct c_agent *a = agent_of_token(c, &j);
    if (a) {
        struct join_answer answer = {.agent = a->number, .name = span_str(a->name)};
        a->key = a->old_key = j.agent;
        a->is_joined = a->is_token_used = true;
        a->wants_setup = true;
        a->heard = clock_wall();
        a->heard_mono = clock_mono();
        save_agent(c, a);
        agent_tell_delegator(c, a);
        c->has_free = true;
        memcpy(answer.hint.nonce, c->nonce, sizeof(c->nonce));
        /* Numbers go on: a join that was recorded and sent again must not make old calls good. */
        answer.hint.sequence = a->window.top + 1;
        join_answer_pack(&answer, &ans->body);
        log_write(c->o.log, LOG_INFO, "agents", "joined name=%s number=%llu", a->name, (unsigned long long)a->number);
    }
    pthread_mutex_unlock(&c->lock);
    if (!a) {
        refuse(c, req, ans, 403, "no such token: used, older than an hour, or mistyped");
        return;
    }
    calls_sign(c, caller, ans);
}

static void do_rekey(struct coord *c, const struct httpd_request *req, struct caller *caller, struct httpd_answer *ans)
{
    const struct auth *auth = &caller->auth;
    struct fields f = fields_of(req->body);
    struct sign_public key = {{0}};
    struct signature sig = {{0}};
    unsigned tag;
    struct span v;
    while (fields_next(&f, &tag, &v)) {
        if (tag == 1 && v.n == sizeof(key.b))
            memcpy(key.b, v.p, v.n);
        if (tag == 2 && v.n == sizeof(sig.b))
            memcpy(sig.b, v.p, v.n);
    }
    pthread_mutex_lock(&c->lock);
    struct c_agent *a = agent_get(c, auth->agent);
    bool is_good = a && sign_check(&key, span_of((const char *)a->key.b, sizeof(a->key.b)), &sig);
    if (is_good) {
        a->old_key = a->key;
        a->key = key;
        save_agent(c, a);
    }
    pthread_mutex_unlock(&c->lock);
    ans->status = is_good ? 200 : 400;
    calls_sign(c, caller, ans);
}

/* ---- polls ---- */

/* It does not know our newest key: the order that told it could not be written down, or got lost. */
static void remind(struct coord *c, struct c_agent *a)
{
    mono_ms now = clock_mono();
    if (!renumber_agrees(a) || (a->reminded && now - a->reminded < REMIND_MS) || agent_has_identity_order(c, a))
        return;
    a->reminded = now;
    agent_tell_identity(c, a);
}

static void do_poll(struct coord *c, const struct httpd_request *req, struct caller *caller, struct httpd_answer *ans)
{
    const struct auth *auth = &caller->auth;
    uint64_t wait = 0;
    struct report r;
    struct arena arena;
    arena_init(&arena);
    status st = report_unpack(&arena, req->body, &r);
    (void)call_number(req->target, "wait", &wait);
    if (wait > WAIT_MAX_MS)
        wait = WAIT_MAX_MS;
    pthread_mutex_lock(&c->lock);
    struct c_agent *a = agent_get(c, auth->agent);
    if (st != ST_OK || !a || !a->is_joined) {
        ans->status = a ? 400 : 403;
        calls_sign(c, caller, ans);
    } else if (!wire_version_fits(r.wire_version)) {
        char what[JOIN_NAME_MAX + 64];
        snprintf(what, sizeof(what), "agent %s speaks version %u", a->name, r.wire_version);
        refuse_version(c, req, ans, what);
        buf_clear(&ans->head); /* calls_sign has its own */
        calls_sign(c, caller, ans);
    } else if (report_is_of_another(c, a, &r)) {
        ans->status = 409;
        calls_sign(c, caller, ans);
    } else {
        report_note(c, a, &r, req->body);
        if (caller->knows_old)
            remind(c, a);
        polls_wake(c, a); /* one that it gave up */
        struct httpd_later *later = NULL;
        if ((a->orders_done == a->orders_given || !renumber_agrees(a)) && wait && !c->is_stopping)
            later = httpd_defer(req);
        if (later) {
            a->poll = mem_alloc(sizeof(*a->poll));
            *a->poll = (struct c_poll){.later = later, .caller = *caller, .until = clock_mono() + (mono_ms)wait};
        } else {
            polls_answer(c, a, &ans->body);
            calls_sign(c, caller, ans);
        }
    }
    pthread_mutex_unlock(&c->lock);
    arena_done(&arena);
}

/* ---- work for workers ---- */

struct job {
    struct coord *c;
    struct httpd_later *later;
    struct caller caller;
    call_kind kind;
    struct buf target, body; /* owned */
    bool is_get;
};

static void run_job(void *arg, unsigned worker, bool is_cancelled)
{
    struct job *j = arg;
    struct httpd_answer ans = {.status = 200};
    if (is_cancelled) {
        ans.status = 503;
        buf_printf(&ans.head, "Retry-After: %d\n", RETRY_BUSY_S);
    } else if (j->kind == CALL_PACKAGE && j->is_get) {
        upload_ask(j->c, j->caller.auth.agent, buf_span(&j->target), &ans);
    } else if (j->kind == CALL_PACKAGE) {
        upload_piece(j->c, j->caller.auth.agent, buf_span(&j->target), buf_span(&j->body), &ans);
    } else if (j->kind == CALL_STATES) {
        upload_states(j->c, j->caller.auth.agent, buf_span(&j->target), &ans);
    } else {
        upload_blob(j->c, j->caller.auth.agent, buf_span(&j->target), &ans);
    }
    calls_sign(j->c, &j->caller, &ans);
    httpd_answer_later(j->later, &ans);
    buf_done(&j->target);
    buf_done(&j->body);
    free(j);
}

static void defer(struct coord *c, const struct httpd_request *req, const struct caller *caller, call_kind kind,
                  struct httpd_answer *ans)
{
    struct job *j = mem_alloc(sizeof(*j));
    *j = (struct job){.c = c, .caller = *caller, .kind = kind, .is_get = strcmp(req->method, "GET") == 0};
    buf_put(&j->target, req->target);
    httpd_take_body(req, &j->body);
    j->later = httpd_defer(req);
    if (!j->later) {
        buf_done(&j->target);
        buf_done(&j->body);
        free(j);
        ans->status = 503;
        calls_sign(c, caller, ans);
    } else if (workers_add(c->workers, run_job, j) != ST_OK) {
        run_job(j, 0, true);
    }
}

void calls_handle(struct coord *c, const struct httpd_request *req, struct httpd_answer *ans)
{
    const struct call *k = find_call(req->target);
    struct caller *caller = req->admitted;
    if (!k) {
        refuse(c, req, ans, 404, "no such call");
        return;
    }
    if (k->kind == CALL_HELLO) {
        do_hello(c, req, ans);
        return;
    }
    assert(caller);
    struct digest256 d = digest_blake2b256(req->body);
    if (!bytes_equal(d.b, caller->auth.body.b, sizeof(d.b)))
        refuse(c, req, ans, 400, "the body is not the one that was signed");
    else if (k->kind == CALL_JOIN)
        do_join(c, req, caller, ans);
    else if (k->kind == CALL_POLL)
        do_poll(c, req, caller, ans);
    else if (k->kind == CALL_REKEY)
        do_rekey(c, req, caller, ans);
    else
        defer(c, req, caller, k->kind, ans);
}
