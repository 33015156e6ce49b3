/* join.h - how an agent gets in: the line that a person copies, and the two exchanges behind it.
 *
 *     orb://HOST:PORT/TOKEN#FINGERPRINT
 *
 * TOKEN: 128 bits, base64url; one use, one hour, bound to a name. FINGERPRINT: SHA-256 of the coordinator's public key,
 * hex. First the agent asks who is there (hello), over a TLS connection that it does not trust yet: the answer has the
 * identity's public key and the pin of the TLS key, signed over the agent's random challenge. Only when the fingerprint
 * and the signature are right does it send the token, over a connection with just that pin. The same hello lets an
 * agent accept a new TLS key later. Pure. */
#pragma once

#include "codec/sign.h"
#include "wire/auth.h"

#define JOIN_TOKEN_BYTES 16
#define JOIN_LINE_MAX 512
#define JOIN_NAME_MAX 64 /* of an agent: letters, digits, '-', '_', '.' */
#define JOIN_PIN_MAX 64  /* "sha256//" and base64 */

struct join_line {
    char host[256]; /* without brackets */
    int port;
    bool is_plain; /* orb+http:// : loopback only */
    unsigned char token[JOIN_TOKEN_BYTES];
    struct digest256 fingerprint;
};

MUST_USE status join_line_parse(struct span text, struct join_line *out);
void join_line_format(const struct join_line *j, struct buf *out);
bool join_name_is_good(struct span name);

struct hello_answer {
    struct sign_public identity;
    char pin[JOIN_PIN_MAX]; /* of the TLS key; "" on plain HTTP */
    uint16_t version_min, version_max;
    struct signature sig; /* over challenge, identity, pin, versions */
};
#define HELLO_CHALLENGE_BYTES 32
void hello_answer_sign(struct hello_answer *h, const struct sign_key *coordinator,
                       const unsigned char challenge[HELLO_CHALLENGE_BYTES]);
bool hello_answer_check(const struct hello_answer *h, const unsigned char challenge[HELLO_CHALLENGE_BYTES]);
void hello_answer_pack(const struct hello_answer *h, struct buf *out);
MUST_USE status hello_answer_unpack(struct span packed, struct hello_answer *out);

/* Sent over the pinned connection; the agent proves that it has the key by signing the request (agent number 0). */
struct join_request {
    unsigned char token[JOIN_TOKEN_BYTES];
    struct sign_public agent;
    struct span version; /* of the program */
};
void join_request_pack(const struct join_request *j, struct buf *out);
MUST_USE status join_request_unpack(struct span packed, struct join_request *out);

struct join_answer {
    uint64_t agent; /* number from now on */
    struct span name;
    struct auth_hint hint;
};
void join_answer_pack(const struct join_answer *j, struct buf *out);
MUST_USE status join_answer_unpack(struct span packed, struct join_answer *out);
