/* frontier.h - decides which URL may be fetched next, and when.
 *
 * Keeps URLs per host, first in first out, and lends them under the limits of host, address and network. Three levels
 * of heaps hold what is ready when:
 *
 *     networks by ready time -> addresses of a network by ready time -> hosts of an address by ready time -> URLs of a
 * host
 *
 * A level at its limit leaves the heap above it, so frontier_take() is O(log n) whatever waits. Life of a URL:
 * frontier_add puts it in its host's queue; a host without an address comes out of frontier_next_unresolved and waits
 * for frontier_resolved; a site without robots.txt is lent as LEASE_ROBOTS first and waits for frontier_robots; then
 * LEASE_PAGE, and frontier_done or frontier_retry gives the host back. A URL that robots.txt forbids is lent as
 * LEASE_REFUSED: no request, the caller only writes it down. So is one of a site (scheme and port) where nobody is,
 * while the host answers at another: LEASE_UNREACHABLE.
 *
 * Does no I/O and never reads the clock: callers pass `now`. One thread, no locks. Copies what it is given. Queues
 * longer than FRONTIER_HOST_URLS are put away in runs through the owner's callbacks and brought back in order. */
#pragma once

#include "base/siphash.h"
#include "plan/pace.h"
#include "web/robots.h"
#include "web/url.h"

#define FRONTIER_HOST_URLS 1000             /* URLs of a host in memory, about */
#define FRONTIER_RUN_URLS 500               /* URLs in a run that is put away */
#define FRONTIER_SITES_MAX 64               /* scheme and port pairs of one host */
#define FRONTIER_TRIES_MAX 3                /* requests for one page before it is an error */
#define FRONTIER_HOST_FAILURES_MAX 5        /* failures in a row before a host is given up until the next run */
#define FRONTIER_SITE_FAILURES_MAX 2        /* the same of a site that never answered, at a host that does elsewhere */
#define FRONTIER_SITE_AWAY_MS (3600 * 1000) /* then it is not asked for so long */

struct frontier;

/* Where the owner put a run; its meaning is the owner's. */
struct frontier_run {
    uint64_t a, b;
};

struct frontier_opts {
    struct pace_opts pace;
    const struct sip_key *key;                    /* borrowed: of the data folder */
    size_t memory_max;                            /* 0 = 64 MiB: beyond it even short queues are put away */
    uint64_t site_pages_max;                      /* 0 = 1,000,000 URLs taken on a host */
    uint64_t seed;                                /* of the jitter */
    bool (*is_own)(void *self, struct span host); /* NULL: none is our own */
    status (*put_away)(void *self, struct span data, struct frontier_run *run);
    status (*bring_back)(void *self, struct frontier_run run, struct buf *data);
    void (*drop)(void *self, struct frontier_run run); /* brought back, or no longer wanted */
    void *self;                                        /* borrowed */
};

struct frontier *frontier_new(const struct frontier_opts *opts);
void frontier_free(struct frontier *f); /* NULL is fine; runs are not dropped */

struct frontier_url {
    uint64_t key;          /* keyed hash of the URL: base/siphash.h over href */
    const struct url *url; /* normalised http(s) */
    uint64_t channel;
    unsigned depth, hops;            /* links away from a seed; redirects and lists that led here */
    struct span etag, last_modified; /* of the known copy, for a conditional request */
    bool is_known;                   /* visited before: rechecked, not discovered */
    bool is_urgent;                  /* to the front of the queue (redirect targets, seeds) */
};

typedef enum frontier_refusal {
    FRONTIER_OK,
    FRONTIER_TRAP_REPEATS,
    FRONTIER_TRAP_VARIANTS,
    FRONTIER_SITE_FULL
} frontier_refusal;

/* Takes a URL that the caller knows to be new. A refused one is counted and forgotten. ST_FULL/ST_IO from put_away:
 * taken all the same, kept in memory. */
frontier_refusal frontier_add(struct frontier *f, mono_ms now, const struct frontier_url *u);
/* Replay: this URL was finished after the checkpoint that still lists it; do not lend it. */
void frontier_skip(struct frontier *f, uint64_t key);
/* After the last frontier_skip of a replay: takes skipped URLs out of the queues as far as they stand in front. */
void frontier_purge(struct frontier *f);
/* Takes skipped URLs out of the queues wherever they stand, and forgets that they were skipped: before a checkpoint,
 * which does not list them. Reads and writes runs: on failure some are left and the same call may be made again. */
MUST_USE status frontier_sweep(struct frontier *f);

/* The next host whose address is needed; it comes out once and waits for frontier_resolved. False: none. *attempt
 * counts the failures in a row so far: with several addresses, take the next one. */
bool frontier_next_unresolved(struct frontier *f, mono_ms now, struct span *host, unsigned *attempt);
/* `st` says why when there is no address. Good until `expires`; `choices` addresses could be tried. Family 0: a proxy
 * knows. */
void frontier_resolved(struct frontier *f, mono_ms now, struct span host, status st, const struct addr *addr,
                       mono_ms expires, unsigned choices);

typedef enum lease_kind { LEASE_PAGE, LEASE_ROBOTS, LEASE_REFUSED, LEASE_UNREACHABLE } lease_kind;

struct lease {
    uint64_t id;
    lease_kind kind;
    struct span url; /* borrowed, as are all spans here, until the lease ends */
    struct span host;
    struct span site;
    struct addr addr;
    uint64_t key, channel;
    unsigned depth, hops, tries;
    bool is_known;
    struct span etag, last_modified;
    struct span rule; /* LEASE_REFUSED: the line of robots.txt */
    status failure;   /* LEASE_UNREACHABLE: why */
};

/* Lends the next URL due at `now`. ST_AGAIN: nothing is due before *wake (MONO_NEVER: nothing until something else
 * happens); *out is untouched. Other statuses come from bring_back; the same call may be made again. */
MUST_USE status frontier_take(struct frontier *f, mono_ms now, struct lease *out, mono_ms *wake);

/* How a request went, for politeness. */
struct frontier_result {
    status st; /* ST_OK: an answer came */
    int http_status;
    int64_t retry_after_ms; /* -1: none */
    int32_t connect_us;     /* > 0: a fresh connection took so long; that is the path's round trip */
    int32_t total_us;
    bool is_half; /* what was asked with conditions must be asked again without them */
};

/* Whether frontier_done with this result would put the URL back: then it is no final result and nothing is written
 * down. */
bool frontier_would_retry(struct frontier *f, uint64_t lease, const struct frontier_result *r);
/* The page is finished, well or badly; the host goes on. Returns true when the answer was a host failure, "slow down"
 * or half of one, and the URL is worth another try later: then it is back in the queue and the caller writes no result
 * down. */
bool frontier_done(struct frontier *f, mono_ms now, uint64_t lease, const struct frontier_result *r);
/* The answer to LEASE_ROBOTS: takes ownership of `rules`. `rules` NULL: no answer or 5xx; the site waits (back-off),
 * and after 30 days without one everything is allowed. Good for `ttl_ms`. */
void frontier_robots(struct frontier *f, mono_ms now, wall_ms wall, uint64_t lease, struct robots *rules,
                     int64_t ttl_ms, const struct frontier_result *r);

/* Somebody else cannot be reached either: one host that falls silent is enough to blame the line. Hosts are not charged
 * with what the line did, and no URL is given up for it. */
void frontier_doubt(struct frontier *f, bool is_doubted);

struct frontier_counts {
    uint64_t urls; /* waiting, lent ones included */
    uint64_t lent;
    uint64_t hosts, hosts_waiting, hosts_given_up, urls_given_up;
    mono_ms rests_until; /* the soonest of hosts_waiting; MONO_NEVER: none waits */
    uint64_t traps;      /* refused as traps so far */
    uint64_t slowed;     /* hosts whose Crawl-delay is above our ceiling */
    size_t memory;       /* all of it */
    size_t url_memory;   /* of that: waiting URLs; the rest is hosts, addresses, networks and rules */
};
void frontier_counts(const struct frontier *f, mono_ms now, struct frontier_counts *out);
/* Nothing left to lend but what waits on given-up hosts. */
bool frontier_is_idle(const struct frontier *f);
/* After a restart: every host waits its pause before the first request, since one may have been under way. */
void frontier_rest(struct frontier *f, mono_ms now);
/* A new run begins: hosts that were given up, and sites where nobody was, are tried again. */
void frontier_revive(struct frontier *f, mono_ms now);

/* Hosts as bytes: for checkpoints, for moving a host to another frontier, for status and explain. Lent URLs are packed
 * as waiting. Names all runs of the host, so whoever keeps the bytes keeps the runs. */
typedef status frontier_host_fn(void *arg, struct span host, struct span packed);
/* Without `with_urls` the queue is left out: a short record for people. */
MUST_USE status frontier_each_host(struct frontier *f, mono_ms now, wall_ms wall, bool with_urls, frontier_host_fn *fn,
                                   void *arg);
/* One host, out of this frontier: ST_NOT_FOUND; ST_BUSY while something of it is lent. */
MUST_USE status frontier_take_host(struct frontier *f, mono_ms now, wall_ms wall, struct span host, struct buf *packed);
/* Into this frontier (which does not have it). *name (when given) is borrowed from the frontier. */
MUST_USE status frontier_put_host(struct frontier *f, mono_ms now, wall_ms wall, struct span packed, struct span *name);
bool frontier_has_host(const struct frontier *f, struct span host);
bool frontier_host_was_met(const struct frontier *f, struct span host); /* had an address before, in any run */
/* A host without its URLs: what a journal needs so that politeness survives a kill. frontier_set_state makes the host
 * when it is not there. */
MUST_USE status frontier_host_state(struct frontier *f, mono_ms now, wall_ms wall, struct span host,
                                    struct buf *packed);
MUST_USE status frontier_set_state(struct frontier *f, mono_ms now, wall_ms wall, struct span packed);
/* Names of the runs in a packed host. */
typedef status frontier_run_fn(void *arg, struct frontier_run run);
MUST_USE status frontier_packed_runs(struct span packed, frontier_run_fn *fn, void *arg);

/* ---- by channel, by host, by network ---- */

struct frontier_channel {
    uint64_t urls;     /* waiting and lent */
    uint64_t given_up; /* of those, on hosts given up: as of the last frontier_counts */
};
/* Zeros when the frontier has nothing of it. */
void frontier_channel_counts(const struct frontier *f, uint64_t channel, struct frontier_channel *out);
/* Up to `max` channels that have something on the host; returns how many. */
size_t frontier_host_channels(const struct frontier *f, struct span host, uint64_t *out, size_t max);
/* As many URLs as the channels have on the host; fn may be called for up to all of them. */
typedef void frontier_share_fn(void *arg, uint64_t channel, uint64_t urls);
void frontier_host_shares(const struct frontier *f, struct span host, frontier_share_fn *fn, void *arg);

/* Called with the key of a URL. */
typedef void frontier_key_fn(void *arg, uint64_t key);
/* Every URL of a channel, lent ones too. Reads runs. */
MUST_USE status frontier_each_waiting(struct frontier *f, uint64_t channel, frontier_key_fn *fn, void *arg);
/* Takes all waiting URLs of a channel out and tells `fn` of them; those that are lent end with their lease, and are not
 * tried again. Reads and writes runs: on failure some URLs are left and the same call may be made again. */
MUST_USE status frontier_drop_channel(struct frontier *f, uint64_t channel, frontier_key_fn *fn, void *arg);
/* The same for URLs by what they are; hosts of which has_host says yes go as a whole. Reads every run. */
struct frontier_where {
    bool (*has_url)(void *self, struct span url, uint64_t channel, unsigned depth);
    bool (*has_host)(void *self, struct span host); /* NULL: none */
    void *self;                                     /* borrowed */
};
MUST_USE status frontier_drop_where(struct frontier *f, const struct frontier_where *where, frontier_key_fn *fn,
                                    void *arg);
/* Puts every run of which fn says yes away again and drops it: so that the owner can remove what else it has kept
 * with it. On failure some are left and the same call may be made again. */
typedef bool frontier_run_is_fn(void *arg, struct frontier_run run);
MUST_USE status frontier_rewrite(struct frontier *f, frontier_run_is_fn *fn, void *arg);
/* Takes a host out with all that waits on it, and tells `fn` of that. ST_NOT_FOUND; ST_BUSY: something of it is lent,
 * so the host itself stays, empty. */
MUST_USE status frontier_drop_host(struct frontier *f, struct span host, frontier_key_fn *fn, void *arg);

/* Others have the rest of it: of its limits, as much as it has parts here. Without parts: all of it. */
void frontier_share_network(struct frontier *f, const struct network *n);

/* From now on nothing at an address of the network is lent. True: something still is. */
bool frontier_hold_network(struct frontier *f, const struct network *n);
/* Takes every host out that is, or when last heard of was, in the network, and ends the hold. Each comes as one or more
 * pieces of up to FRONTIER_PIECE_BYTES of URLs, packed hosts that stand alone: the first has the robots rules, unless
 * it would be longer than FRONTIER_PIECE_MAX with them; all have the politeness. `key` is told of every URL. ST_BUSY:
 * something of a host is lent. When `fn` fails, hosts that it took whole are gone and the others are here; the same
 * call may be made again. */
#define FRONTIER_PIECE_BYTES (256u << 10)
#define FRONTIER_PIECE_MAX (640u << 10)
MUST_USE status frontier_take_network(struct frontier *f, mono_ms now, wall_ms wall, const struct network *n,
                                      frontier_host_fn *fn, frontier_key_fn *key, void *arg);
/* The counterpart, in a frontier that may be of another folder: politeness and rules of a piece. The host is made when
 * it is not here; else the stricter of both counts. It waits its pause in any case: clocks differ. Its URLs are the
 * caller's to add: frontier_packed_urls. ST_CORRUPT: no packed host, or one whose sites are not its own. */
MUST_USE status frontier_adopt_host(struct frontier *f, mono_ms now, wall_ms wall, struct span packed);
struct frontier_packed_url {
    struct span url; /* lives until the callback returns */
    uint64_t channel;
    unsigned depth, hops;
    struct span etag, last_modified;
    bool is_known;
};
typedef status frontier_url_fn(void *arg, const struct frontier_packed_url *u);
/* The URLs in a piece, first in the queue first. ST_INVALID: it names runs, so it does not stand alone. */
MUST_USE status frontier_packed_urls(struct span packed, frontier_url_fn *fn, void *arg);

/* What a packed host says, for status and explain. Text is borrowed from `packed`; rules are owned: frontier_info_done.
 */
struct frontier_info {
    struct span name;
    struct addr addr;
    uint64_t queued, taken, requests, failures_total, traps;
    unsigned failures; /* in a row */
    bool is_given_up;
    status last_failure;
    int last_http;
    wall_ms next_ok;                /* not before */
    int64_t delay_ms;               /* effective */
    double rtt_ms, server_ms;       /* -1: unknown */
    double borne_ms;                /* pause that its 429s have taught; 0: none */
    struct trap_sketch *traps_seen; /* NULL: none; owned */
    size_t site_count;
    struct frontier_site_info {
        struct span site;
        struct robots *rules; /* NULL: not known */
        wall_ms robots_expires;
        wall_ms robots_failing_since; /* 0: not failing */
    } sites[FRONTIER_SITES_MAX];
};
MUST_USE status frontier_info_read(struct span packed, struct frontier_info *out);
void frontier_info_done(struct frontier_info *i);
