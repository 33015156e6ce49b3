/* session.h - an agent's dealings with its coordinator, as far as trust goes: who it is (hello), getting in (join), and
 * signed calls whose answers are signed too.
 *
 * An answer that is not signed by the coordinator, for this very request, counts as no answer. A new TLS key is taken
 * only when the coordinator's known identity signs for it. A session is shared by threads; each thread talks through a
 * line of its own, which keeps one connection. */
#pragma once

#include "base/log.h"
#include "codec/sign.h"
#include "io/http_call.h"
#include "wire/join.h"

struct session;
struct session_line;

struct session_opts {
    const struct sign_key *key; /* copied */
    struct span user_agent;
    const struct log *log;
};

struct session *session_new(const struct session_opts *o);
void session_free(struct session *s); /* after its lines; NULL is fine */
/* Calls under way, and all later ones, end with ST_CANCELLED. Any thread. */
void session_cancel(struct session *s);

/* Who the coordinator is, from the state file or after session_join. */
struct session_peer {
    struct span base; /* copied */
    struct sign_public identity;
    struct span pin;
    uint64_t agent;
};
void session_set_peer(struct session *s, const struct session_peer *p);
void session_set_key(struct session *s, const struct sign_key *key);
void session_set_identity(struct session *s, const struct sign_public *identity);

struct session_joined {
    struct buf base;
    struct sign_public identity;
    char pin[JOIN_PIN_MAX];
    uint64_t agent;
    char name[JOIN_NAME_MAX + 1];
};
/* Hello, check of the fingerprint, join. The session is ready for calls afterwards. ST_REFUSED: not the coordinator
 * that the line names, or the token is not good; ST_UNSUPPORTED: versions do not fit; else as http_call. `why` says it
 * in a phrase. */
MUST_USE status session_join(struct session *s, const struct join_line *line, struct span version,
                             struct session_joined *out, struct buf *why);
void session_joined_done(struct session_joined *j);
/* The TLS key is another one: asks the coordinator whom we know whether that is so. ST_OK: `pin` is the new one and in
 * use; ST_REFUSED: somebody else answers there. */
MUST_USE status session_refresh_pin(struct session *s, char pin[JOIN_PIN_MAX], struct buf *why);

MUST_USE status session_line_new(struct session *s, struct session_line **out);
void session_line_free(struct session_line *l); /* NULL is fine */

/* ST_OK: a signed answer came, whatever its HTTP status. ST_PROTOCOL: the answer was not signed, or not for this. 401
 * is dealt with here. */
MUST_USE status session_call(struct session_line *l, const struct http_call *call, struct http_answer *out);
/* Seconds of a Retry-After header as milliseconds; `otherwise` when there is none. */
int64_t session_retry_ms(const struct http_answer *a, int64_t otherwise);

/* Bytes of all lines together, at the socket. */
uint64_t session_bytes_sent(struct session *s);
uint64_t session_bytes_received(struct session *s);

/* ---- when nobody answers ---- */
#define BACKOFF_MIN_MS 1000
#define BACKOFF_MAX_MS (60 * 1000) /* an agent that was cut off works again so soon after */
struct rng;
/* Pause after the n-th failure in a row (n >= 1): doubling, half of it random, so that many agents do not come back at
 * one moment. Pure. */
int64_t session_backoff_ms(unsigned n, struct rng *rng);
