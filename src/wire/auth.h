/* auth.h - who says it: the signature on every request of an agent, and on every answer to it.
 *
 * An agent signs (coordinator, agent, nonce, sequence number, method, target, digest of the body). The nonce is the
 * coordinator's, drawn when it starts; the sequence number grows with each request, so neither a recorded request nor
 * an altered one is taken, and nobody needs the right time. The coordinator signs its answers the same way, with the
 * numbers of the request they belong to.
 *
 *     Orb-Auth: 1 AGENT NONCE SEQUENCE BODY-DIGEST SIGNATURE       request; numbers in decimal, bytes in base64url
 *     Orb-Auth: 1 SIGNATURE                                         answer
 *
 * A request that is refused for its nonce or number gets 401 and, signed in the body, the nonce and the next number to
 * use (struct auth_hint); then it is made once more. Pure; docs/formats/wire.md. */
#pragma once

#include "base/buf.h"
#include "codec/sign.h"

#define AUTH_HEADER "Orb-Auth"
#define AUTH_NONCE_BYTES 16
#define AUTH_HEADER_MAX 512

struct auth {
    uint64_t agent; /* 0: not enrolled */
    unsigned char nonce[AUTH_NONCE_BYTES];
    uint64_t sequence;
    struct digest256 body; /* BLAKE2b-256 of the request's body */
    struct signature sig;
};

void auth_format(const struct auth *a, struct buf *out); /* the header's value */
MUST_USE status auth_parse(struct span value, struct auth *out);

/* Fills in a->sig; the other fields are given. */
void auth_sign(struct auth *a, const struct sign_key *agent, const struct sign_public *coordinator, struct span method,
               struct span target);
bool auth_check(const struct auth *a, const struct sign_public *agent, const struct sign_public *coordinator,
                struct span method, struct span target);

/* The answer's header value. */
void auth_sign_answer(const struct auth *request, const struct sign_key *coordinator, int code, struct span body,
                      struct buf *out);
bool auth_check_answer(const struct auth *request, const struct sign_public *coordinator, int code, struct span body,
                       struct span value);

/* Numbers already used, under one nonce: requests of one agent may overtake each other by AUTH_WINDOW. */
#define AUTH_WINDOW 64
struct auth_window {
    uint64_t top;  /* highest number taken */
    uint64_t seen; /* bit i: top - i was taken */
};
/* False: used before, or too old to know. A number that jumps far ahead is fine. */
bool auth_window_take(struct auth_window *w, uint64_t sequence);

struct auth_hint {
    unsigned char nonce[AUTH_NONCE_BYTES];
    uint64_t sequence; /* use this one or a higher one */
};
void auth_hint_pack(const struct auth_hint *h, struct buf *out);
MUST_USE status auth_hint_unpack(struct span packed, struct auth_hint *out);
