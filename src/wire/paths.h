/* paths.h - where an agent asks what: the addresses of the coordinator's API for agents, and how they answer.
 *
 * Requests and answers carry AUTH_HEADER (auth.h) but for HELLO. 200: the body is what the line says. 401: nonce or
 * number not right, body is a signed struct auth_hint, try again with it; 403: not known, removed, or not allowed: ask
 * again in minutes, not seconds; 409: see PACKAGE; 413, 429, 503: too large, too often, busy (Retry-After); 426: the
 * versions do not fit. The 1 is the version: under another number every call gets 426. */
#pragma once

/* POST, body: HELLO_CHALLENGE_BYTES random bytes. Answer: struct hello_answer. Not signed by the agent. */
#define PATH_HELLO "/agent/1/hello"
/* POST, body: struct join_request; signed as agent 0 with the key in it, nonce all zero, sequence 1. Answer: struct
 * join_answer. 403: token unknown, used or too old. The same agent key joining again with its used token within its
 * hour gets the same answer (numbers go on): the first one may have
 * been lost. */
#define PATH_JOIN "/agent/1/join"
/* POST ?wait=MS, body: struct report. Answer: struct poll_answer, at once when there are orders, else after MS. */
#define PATH_POLL "/agent/1/poll"
/* PUT .../SEQUENCE?offset=N&bytes=ALL, body: a piece (PATH_PIECE_MAX). Answer: fields, tag 1: bytes that are here now
 * (u64), tag 2: 1 when the package is whole, checked and safe. 409: another offset or another sequence is wanted; tag 1
 * as above, tag 3: the sequence wanted. 422: whole, but damaged: it was dropped, send it again from 0; tag 4: why. A
 * sequence that is here already is answered like one that was just finished. 503: too many of its packages wait
 * to be taken in.
 * GET .../SEQUENCE: the same fields. */
#define PATH_PACKAGE "/agent/1/package/"
#define PATH_PIECE_MAX (1u << 20)
/* GET ?task=N&after=N. What is known of the pages of a task: fields, tag 1 (many): packed page state, tag 2: the number
 * to go on after, absent at the end. A page state: fields 1 url, 2 depth, 3 visited (ms), 4 http status, 5 digest,
 * 6 etag, 7 last-modified, 8 page flags, 9 how often it changes (plan/page_rate.h). */
#define PATH_STATES "/agent/1/states"
#define PATH_STATES_MAX 5000 /* states in an answer */
/* GET .../HEX?offset=N: bytes of a file named by its digest, at most PATH_PIECE_MAX of them; empty at the end. */
#define PATH_BLOB "/agent/1/blob/"
/* POST, body: fields, tag 1 new public key, tag 2 signature by the new key over the old public key. Answer: empty. */
#define PATH_REKEY "/agent/1/rekey"
