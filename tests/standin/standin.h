/* standin.h - a light agent that only talks: it joins, reports, carries packages and says that orders are done, all in
 * the real protocol, and never fetches a page. Benchmarks run hundreds of them in one process; tests let one lie.
 *
 *     standin_join -> standin_poll ... standin_send ... -> standin_free
 *
 * Polls and packages have a connection each, as a real agent has: one thread may poll while another sends. Everything
 * else is for one thread at a time of the two, but for standin_cancel and the counters. An honest one is what the plain
 * calls make; whoever wants to lie uses those that take bytes as they are. */
#pragma once

#include "agent/session.h"
#include "base/arena.h"
#include "crawl/channel.h"
#include "wire/control.h"
#include "wire/package.h"

struct standin;

/* What the page is, as an agent would find it: fills in all of *out but the URL, which is given. Texts must live until
 * the next poll. Called on the thread that polls. */
typedef void standin_fetch_fn(void *arg, struct fetched_page *out);

/* How far the site or the address that is asked for is from here, in ms; < 0: no answer. *reached: an address that
 * lives until the next poll, where that is not the one asked for. Called on the thread that polls. */
typedef double standin_probe_fn(void *arg, const struct probe_ask *ask, struct span *reached);
/* The round trip of the requests to a network that it crawls, in ms, told with every report; <= 0: nothing to tell. */
typedef double standin_path_fn(void *arg, struct span network);

struct standin_opts {
    struct span line;          /* what it joins with: orb://... */
    const unsigned char *seed; /* SIGN_SEED_BYTES for its key; NULL: drawn */
    struct span version;       /* empty: that of an orb-agent of this tree */
    standin_fetch_fn *fetch;   /* answers orders to look at pages; NULL: they cannot be fetched */
    standin_probe_fn *probe;   /* answers probes; NULL: it does not know how */
    standin_path_fn *path;     /* NULL: it tells no round trips */
    void *arg;
    const struct log *log; /* may be NULL */
};

/* As session_join; `why` says what went wrong. */
MUST_USE status standin_join(const struct standin_opts *o, struct standin **out, struct buf *why);
void standin_free(struct standin *s);   /* when no call is under way; NULL is fine */
void standin_cancel(struct standin *s); /* any thread: calls under way, and all later ones, end with ST_CANCELLED */

uint64_t standin_number(const struct standin *s);
const char *standin_name(const struct standin *s);
const struct sign_key *standin_key(const struct standin *s);
struct session *standin_session(struct standin *s);

/* ---- reports and orders ---- */

/* A task as far as it was ordered. */
struct standin_task {
    uint64_t number;
    summary_kind kind;
    struct channel *channel; /* owned; NULL: never told */
    struct span *networks;   /* owned, texts too */
    size_t network_count, network_cap;
    struct span *seeds; /* owned, texts too: those besides the channel's */
    size_t seed_count, seed_cap;
    bool is_ended;
};
size_t standin_task_count(const struct standin *s);
const struct standin_task *standin_task(const struct standin *s, size_t i);
/* NULL: it has none of that number. */
const struct standin_task *standin_task_by_number(const struct standin *s, uint64_t number);

struct standin_answer {
    int status;        /* HTTP */
    int64_t call_us;   /* from the call to its answer */
    size_t orders;     /* in the answer, those that were given before too */
    size_t new_orders; /* carried out now: standin_order(s, 0) is the first of them */
    uint64_t have;     /* packages that are safe there */
    int64_t lease_ms;
};

/* What an agent with nothing to tell says; outcomes and tasks that are known included. All in the arena or borrowed
 * from *s: until its next poll. Changed at will, it goes to standin_poll_with. */
void standin_report(struct standin *s, struct arena *a, struct report *out);
/* Says the report, waits up to wait_ms, carries out what is ordered; the next report says that it is done. ST_OK: an
 * answer came, perhaps not 200. Statuses as of session_call; ST_PROTOCOL also: not understood. */
MUST_USE status standin_poll(struct standin *s, int64_t wait_ms, struct standin_answer *out);
MUST_USE status standin_poll_with(struct standin *s, const struct report *r, int64_t wait_ms,
                                  struct standin_answer *out);
/* The same with a body that need not be a report. */
MUST_USE status standin_poll_bytes(struct standin *s, struct span body, int64_t wait_ms, struct standin_answer *out);
/* Orders of the last poll, those that were new; until the next poll. */
const struct order *standin_order(const struct standin *s, size_t i);
/* False: orders are taken and never said to be done. */
void standin_set_obeys(struct standin *s, bool obeys);
/* How the tasks are told to be from now on; TASK_RUNNING at first. With TASK_DONE `fetched` pages each. */
void standin_set_task_state(struct standin *s, task_state state, uint64_t fetched);
/* What the settings that it was last given say; zero before. hours is empty. */
struct agent_settings standin_settings(const struct standin *s);

/* ---- packages ---- */

struct standin_visit {
    uint64_t task;
    summary_kind kind;
    const struct summary *s; /* borrowed */
};

/* 0 or NULL: what is right for *s. */
struct standin_pack_opts {
    uint64_t agent, sequence; /* sequence 0: the next one */
    const struct digest256 *coordinator;
    const struct sign_key *key;
    wall_ms made;
    int level; /* of zstd */
};
/* A whole package, appended to *out. The next one has the next sequence, unless it was given. Any thread. */
void standin_pack(struct standin *s, const struct standin_pack_opts *o, const struct standin_visit *visits, size_t n,
                  struct buf *out);
uint64_t standin_sequence(const struct standin *s); /* of the newest package made */

struct standin_reply {
    int status;      /* HTTP */
    int64_t call_us; /* of the last piece */
    uint64_t here;   /* bytes that the coordinator has */
    uint64_t wanted; /* sequence; 0: not said */
    bool is_whole;
};
/* One piece, as it is: PUT .../SEQUENCE?offset=&bytes= */
MUST_USE status standin_put(struct standin *s, uint64_t sequence, uint64_t offset, uint64_t bytes, struct span piece,
                            struct standin_reply *out);
/* All pieces, from where the coordinator wants them, until it is whole or something else than a piece is wanted:
 * out->is_whole, or see out->status. `each` (may be NULL) hears of each piece. */
typedef void standin_piece_fn(void *arg, const struct standin_reply *r, size_t bytes);
MUST_USE status standin_send(struct standin *s, uint64_t sequence, struct span package, standin_piece_fn *each,
                             void *arg, struct standin_reply *out);

/* ---- anything ---- */

/* A signed call over the line of packages. */
MUST_USE status standin_call(struct standin *s, const struct http_call *call, struct http_answer *out);
uint64_t standin_bytes_sent(struct standin *s); /* at the socket */
uint64_t standin_bytes_received(struct standin *s);
