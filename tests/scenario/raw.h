/* raw.h - an HTTP client that hides nothing, for tests that misbehave: connections from any loopback address, bytes out
 * as they are, one answer in; and the signatures of an agent put together by hand.
 *
 * Plain HTTP on loopback only. Blocking; one thread a connection. */
#pragma once

#include "wire/auth.h"
#include "wire/join.h"

/* From 127.0.0.`from` (0: any) to 127.0.0.1. -1: refused, or not within 10 seconds. */
int raw_connect(unsigned from, int port);
/* All of it; false: the other side is gone. */
bool raw_send(int fd, struct span bytes);

struct raw_answer {
    int status; /* 0: closed without an answer; -1: nothing came in time */
    struct buf head, body;
};
/* Reads one answer with a Content-Length. Empties *out first. */
void raw_read(int fd, int timeout_ms, struct raw_answer *out);
void raw_answer_done(struct raw_answer *a);

/* One request on a connection of its own: `head` has what comes after the first line and Host ("Name: value\r\n" each;
 * Content-Length is added unless the body is empty). */
struct raw_request {
    unsigned from;
    int port;
    const char *method, *target;
    struct span head, body;
};
void raw_put(const struct raw_request *r, struct buf *out); /* its bytes */
int raw_call(const struct raw_request *r, struct raw_answer *out);

/* An agent's side of the signatures. */
struct raw_agent {
    int port;
    unsigned from;
    struct sign_key key;
    struct sign_public coordinator;
    uint64_t number, sequence;
    unsigned char nonce[AUTH_NONCE_BYTES];
};
/* Draws a key, asks who the coordinator is. False: it does not say. */
bool raw_agent_init(struct raw_agent *a, int port);
/* With any token; 200 fills in number, nonce and sequence. `signer` NULL: its own key. */
int raw_agent_join(struct raw_agent *a, const unsigned char token[JOIN_TOKEN_BYTES], const struct sign_key *signer);
/* "Orb-Auth: ...\r\n" for a request; takes the next sequence number. */
void raw_agent_sign(struct raw_agent *a, const char *method, const char *target, struct span body, struct buf *head);
/* A signed request on a connection of its own. */
int raw_agent_call(struct raw_agent *a, const char *method, const char *target, struct span body,
                   struct raw_answer *out);
