/* coord.h - the coordinator: owns the plan, gives agents their tasks, takes in what they found, answers searches.
 *
 *     coord_new -> coord_run (until a signal or coord_stop) -> coord_free
 *
 * Its folder is a data folder like that of `orb crawl` (pages, texts, index), with the fleet's state beside it. Any of
 * its files may be as a kill left them. docs/architecture.md tells how it works, docs/formats/wire.md what it says to
 * agents, docs/formats/admin.md what it says to people's programs. */
#pragma once

#include "base/log.h"
#include "io/resolver.h"
#include "place/addr.h"
#include "plan/delegate.h"

#define COORD_LEASE_MS (10ll * 60 * 1000)
#define COORD_MOVE_AFTER_MS (60ll * 60 * 1000)

struct coord;

struct coord_opts {
    const char *data_dir;
    struct addr addr;       /* for agents and for searches; HTTPS unless is_plain */
    int port;               /* 0 = any free one */
    struct addr admin_addr; /* for people who administer; plain HTTP: loopback unless a proxy stands before it */
    int admin_port;
    bool is_plain;                            /* plain HTTP for agents too: only on loopback */
    const char *tls_cert_file, *tls_key_file; /* NULL: made by itself */
    struct span public_host; /* "HOST:PORT" in the line that agents join with; empty: the address listened on */
    int64_t lease_ms;        /* 0 = COORD_LEASE_MS */
    int64_t move_after_ms;   /* an agent unheard for so long loses its networks; 0 = COORD_MOVE_AFTER_MS */
    unsigned check_every;    /* one page in so many of a new agent is fetched by another one too; 0 = 100 */
    delegate_strategy strategy;
    uint64_t seed;      /* of the strategy; 0: drawn */
    bool discovers;     /* sites that links lead to become channels by themselves */
    bool allow_private; /* sites at loopback and private addresses may be assigned */
    struct resolver_opts dns;
    size_t index_memory;
    double query_rate;
    struct span public_url, version;
    const struct log *log;
};

/* Makes or opens the folder, its keys, its index. `why` gets one phrase for people on failure. ST_BUSY: a port or the
 * folder is taken. */
MUST_USE status coord_new(const struct coord_opts *o, struct coord **out, struct buf *why);
/* On the calling thread; returns after SIGINT, SIGTERM or coord_stop with everything on disk. */
MUST_USE status coord_run(struct coord *c);
void coord_stop(struct coord *c); /* any thread */
void coord_free(struct coord *c); /* NULL is fine */

int coord_port(const struct coord *c);
int coord_admin_port(const struct coord *c);
/* Hex of the identity's SHA-256. */
void coord_fingerprint(const struct coord *c, struct buf *out);
/* Nobody has set a password yet: the address, with a secret that lasts 15 minutes, where one can. False: somebody has.
 */
bool coord_admin_link(struct coord *c, struct buf *out);

/* How far it is, for demo and tests. */
struct coord_progress {
    unsigned agents, agents_there;
    unsigned channels, tasks, tasks_done;
    unsigned hosts, hosts_placed, networks, networks_owned;
    uint64_t queued, fetched, errors;         /* as the agents say */
    uint64_t bytes_crawled, bytes_sent;       /* as the agents say */
    uint64_t packages, package_bytes, visits; /* taken in */
    uint64_t packages_waiting, spooled;       /* here, and at the agents */
    uint64_t index_docs;
    bool is_quiet; /* every task is done, and everything that was found is here */
};
void coord_get_progress(struct coord *c, struct coord_progress *out); /* any thread */
