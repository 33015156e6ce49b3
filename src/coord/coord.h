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
#include "plan/balance.h"
#include "plan/calibrate.h"
#include "plan/delegate.h"
#include "plan/recrawl.h"

#define COORD_RECRAWL_PAGES 10000 /* of a visit: of a larger channel the best ones */
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
    struct span public_host;    /* "HOST:PORT" in the line that agents join with; empty: the address listened on */
    int64_t lease_ms;           /* 0 = COORD_LEASE_MS */
    int64_t move_after_ms;      /* an agent unheard for so long loses its networks; 0 = COORD_MOVE_AFTER_MS */
    unsigned check_every;       /* one page in so many of a new agent is fetched by another one too; 0 = 100 */
    const char *hierarchy_file; /* NULL: "hierarchy" in the data folder, where there is one */
    delegate_strategy strategy; /* 0: DELEGATE_LEARNED */
    double threshold_ms;        /* of strategy ipmicra; 0: its default */
    delegate_same_holder same_holder;
    double probe_cost_ms; /* of strategy learned; 0: its default */
    struct calibrate_opts calibrate;
    balance_rule balance;     /* 0: BALANCE_GAIN */
    bool no_balance;          /* networks stay where they are nearest, whatever an agent has to do */
    int64_t refresh_every_ms; /* registry files are fetched so often, and the hierarchy is made of them; 0: never */
    const char *refresh_from; /* a mirror's folder; NULL: the registries. All three borrowed until coord_free() */
    const char *refresh_ca_file, *refresh_proxy;
    recrawl_strategy recrawl; /* how what was crawled is kept fresh; 0: as it was switched to last, at first greedy */
    bool no_recrawl;          /* not at all, unless a person asks */
    double recrawl_ceiling;   /* visits a change; 0: RECRAWL_CEILING */
    uint64_t recrawl_pages;   /* of a visit at most; 0: COORD_RECRAWL_PAGES */
    double recrawl_scale;     /* for tests: the plan's time runs so many times as fast; 0: as the clock */
    uint64_t seed;            /* of the strategy; 0: drawn */
    bool discovers;           /* sites that links lead to become channels by themselves */
    bool allow_private;       /* sites at loopback and private addresses may be assigned */
    struct resolver_opts dns;
    const char *opt_out_file; /* places whose owners want to be left alone; NULL: none. Borrowed until coord_free() */
    struct coord_retention {
        unsigned gone_days, days; /* apply/retain.h */
        uint64_t warc_bytes;      /* the oldest WARC files go while there are more; 0: never */
        unsigned warc_days;       /* those that were closed longer ago go; 0: never */
    } retention;                  /* applied once a day */
    size_t index_memory;
    bool no_documents; /* files that nobody has read are not searchable */
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

/* For `orb explain` while no coordinator runs on the folder: what its files alone say of a URL, as the answer of
 * /api/v1/explain (docs/formats/admin.md). ST_BUSY: one runs; ST_INVALID: no URL; as fleet_open. */
MUST_USE status coord_explain_folder(const char *data_dir, struct span url, struct buf *json, struct buf *why);

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
    bool is_quiet; /* every task is done, no visit is under way, all that was found is here and can be searched */
};
void coord_get_progress(struct coord *c, struct coord_progress *out); /* any thread */
