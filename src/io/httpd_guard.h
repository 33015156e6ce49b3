/* httpd_guard.h - who is connected to an HTTP server, how long each may take, and who gives way when it is full.
 *
 *     guard_enter -> guard_busy -> guard_idle -> guard_busy ... -> guard_leave      one visitor a connection
 *
 * A visitor between two requests, or before its first is whole, waits in line; when the house is full the one that
 * waited longest leaves for the next that comes. Visitors that are busy with a request, or known (their requests were
 * authenticated), are never sent away. So a crowd of strangers pushes out strangers, and mostly itself.
 *
 * Whoever is past its deadline is sent away too. Sending away is shutdown() of the socket: the server's own thread
 * sees the end of the connection and closes it, and only then is the visitor gone. Inside io/ only. Any thread. */
#pragma once

#include "base/siphash.h"
#include "base/status.h"
#include "place/addr.h"

struct guard;
struct guard_visitor;

struct guard_opts {
    unsigned visitors_max;
    unsigned per_address; /* 0: no limit. IPv6: of a /64, for that is what one household has */
    size_t memory_max;    /* for guard_reserve */
    struct sip_key key;   /* drawn at random */
};

struct guard_counts {
    uint64_t visitors; /* now */
    uint64_t refused;  /* never let in, since the start */
    uint64_t evicted;  /* gave way */
    uint64_t slow;     /* passed a deadline while they had something to say */
    uint64_t idle;     /* passed it between two requests */
    size_t memory;     /* reserved now */
};

/* Those that were sent away stay for the moment that the server's thread takes to notice. Beyond so many of them new
 * ones are refused: then it is the server that does not keep up. */
unsigned guard_leaving_max(unsigned visitors_max);
struct guard *guard_new(const struct guard_opts *o);
void guard_free(struct guard *g); /* all visitors have left; NULL is fine */

/* Whether there is a chance to get in; asked before a connection costs anything. Counts as refused if not. */
bool guard_may_enter(struct guard *g, const struct addr *peer);
/* NULL: refused. *peer and *local are copied. */
struct guard_visitor *guard_enter(struct guard *g, int fd, const struct addr *peer, const struct addr *local,
                                  mono_ms deadline);
void guard_leave(struct guard *g, struct guard_visitor *v); /* before fd is closed; NULL is fine */

const struct addr *guard_peer(const struct guard_visitor *v);
const struct addr *guard_local(const struct guard_visitor *v);
void guard_busy(struct guard *g, struct guard_visitor *v);
void guard_idle(struct guard *g, struct guard_visitor *v); /* goes to the end of the line */
void guard_talks(struct guard_visitor *v);                 /* has begun another request; from its own thread */
void guard_known(struct guard_visitor *v);                 /* from the connection's own thread, before it is busy */
/* MONO_NEVER: takes the time it takes. */
void guard_deadline(struct guard_visitor *v, mono_ms deadline);
mono_ms guard_deadline_of(const struct guard_visitor *v);
/* Sends away whoever is late. */
void guard_scan(struct guard *g, mono_ms now);

/* Memory for request bodies. ST_BUSY: not now; ST_LIMIT: never. */
MUST_USE status guard_reserve(struct guard *g, size_t bytes);
void guard_release(struct guard *g, size_t bytes);

void guard_count(struct guard *g, struct guard_counts *out);
