/* frontier_internal.h - the frontier's structures, shared by its own files only. */
#pragma once

#include "base/heap.h"
#include "base/table.h"
#include "plan/frontier.h"
#include "plan/trap.h"

/* What one channel has in this frontier. */
struct tally {
    uint64_t channel;
    uint64_t urls;     /* waiting and lent */
    uint64_t given_up; /* of those, on hosts given up: as of the last frontier_counts */
};

/* What one channel has on a host. Nearly every host has one of these. */
struct share {
    struct tally *of; /* borrowed from frontier.tallies */
    uint64_t urls;    /* waiting and lent */
};

/* A URL in memory: what follows the site, then the validators, in one block. */
struct entry {
    struct entry *next;
    uint64_t key, channel;
    uint16_t depth, target_len, etag_len, modified_len;
    uint8_t hops, tries, site;
    bool is_known;
    char text[]; /* target, etag, last-modified */
};

struct entry_list {
    struct entry *first, *last;
    size_t n;
};

struct site {
    char *prefix; /* owned: "https://host:8443" */
    size_t prefix_len;
    struct robots *rules; /* owned; NULL: not known */
    mono_ms rules_expire;
    wall_ms failing_since; /* robots.txt answers 5xx or not at all; 0: fine */
    bool has_answered;     /* in this run */
    unsigned failures;     /* in a row, while it never answered and the host may elsewhere */
    status last_failure;
    mono_ms away_until; /* until then nobody is there; 0: not away */
};

struct net {
    struct heap_node node; /* in frontier.nets */
    struct heap ips;
    uint64_t key;
    unsigned flight, hosts;
    struct table domains; /* as in struct ip */
    unsigned share;       /* of its limits, in SPLIT_PARTS; 0: all */
    mono_ms next_ok;
};

struct ip {
    struct heap_node node; /* in net.ips */
    struct heap hosts;
    struct net *net;
    struct addr addr;
    uint64_t key;
    unsigned flight, host_count;
    bool is_held;         /* nothing at it is lent */
    bool has_floors;      /* its hosts have, as far as any was ready */
    struct table domains; /* registered domain -> struct domain_count */
    mono_ms next_ok;
};

typedef enum host_state { HOST_NEEDS_ADDR, HOST_RESOLVING, HOST_READY } host_state;

struct host {
    struct heap_node node; /* in ip.hosts */
    struct host *next_unresolved;
    struct ip *ip; /* NULL: no address */
    char *name;    /* owned */
    size_t name_len;
    uint64_t key;
    host_state state;
    bool is_given_up, has_robots_lent, is_own;
    unsigned lent; /* leases, whatever their kind */
    unsigned flight, failures, addr_choices;
    struct addr last_addr; /* the last one it had, also in an earlier run; family 0: never had one */
    mono_ms next_ok, addr_expires;
    struct pace pace;
    struct pace_borne borne;
    struct site *sites; /* owned */
    size_t site_count;
    struct entry_list head, tail; /* head, then the runs, then tail */
    struct frontier_run *runs;    /* owned ring: oldest at run_at */
    size_t run_at, run_count, run_cap;
    uint64_t put_away;    /* URLs in the runs, at most: skipped ones count until seen */
    struct share *shares; /* owned; together as many URLs as wait and are lent */
    size_t share_count;
    uint64_t taken, requests, failures_total, traps;
    uint64_t successes; /* answers in this run */
    uint64_t silent_in; /* the silence (frontier.silence) that it is part of */
    status last_failure;
    int last_http;
    double rtt_ms, server_ms;     /* < 0: unknown */
    struct trap_sketch *variants; /* owned; NULL until a query is seen */
};

struct lent {
    uint64_t id;
    lease_kind kind;
    struct host *host;
    struct ip *ip;       /* where it was counted; NULL: not counted */
    struct entry *entry; /* owned; NULL for robots.txt */
    unsigned site;
    uint64_t failures; /* of the host, when it was lent */
    bool is_dropped;   /* its channel ended: not tried again */
    char url[];        /* NUL-terminated */
};

struct frontier {
    struct frontier_opts o;
    struct rng rng;
    struct heap nets;
    struct table hosts, ips, net_table;
    struct table lent;
    struct table skips;   /* key -> any non-NULL */
    struct table tallies; /* channel -> struct tally, owned */
    struct network *held; /* owned */
    size_t held_count;
    struct network *shared; /* owned: those that others have parts of */
    size_t shared_count;
    struct host *unresolved, *unresolved_last;
    uint64_t next_lease;
    uint64_t urls, traps;
    size_t memory, url_memory;
    /* The line: hosts that answered before and do not any more, since the last answer of anybody. */
    uint64_t silence; /* from 1: grows with the first answer after one */
    unsigned silent;  /* such hosts */
    bool is_down;     /* so many that it is not them */
    bool is_silent_long;
    mono_ms silent_since;
    bool is_doubted; /* frontier_doubt */
};

/* frontier_failures.c */
bool failure_is_our_line(const struct frontier *f, const struct host *h, const struct frontier_result *r);
bool failure_is_of_site(const struct host *h, unsigned site, mono_ms now, const struct frontier_result *r);
bool failure_is_of_page(const struct host *h, const struct entry *e, const struct frontier_result *r);
bool host_gives_up(const struct host *h, const struct frontier_result *r); /* after this one */
void host_failed(struct frontier *f, struct host *h, mono_ms now, const struct frontier_result *r);
/* A request that was under way when it failed: nothing is counted. */
void host_failed_again(struct frontier *f, struct host *h, mono_ms now, const struct frontier_result *r);
/* `is_older`: it was asked for before the host failed, which is no sign that it is well again. */
void host_answered(struct frontier *f, struct host *h, mono_ms now, const struct frontier_result *r, bool is_older);
void host_rest(struct frontier *f, struct host *h, mono_ms now); /* the pause after a request */
void site_failed(struct site *s, mono_ms now, status st);
void site_answered(struct site *s);
bool site_is_away(const struct site *s, mono_ms now);
/* Another scheme or port of the host, where somebody may be. -1: none. */
int host_other_site(const struct host *h, unsigned site, mono_ms now);

/* frontier_host.c */
struct host *host_find(const struct frontier *f, struct span name);
struct host *host_make(struct frontier *f, struct span name);
void host_destroy(struct frontier *f, struct host *h);
void host_attach(struct frontier *f, struct host *h, const struct addr *addr);
void host_detach(struct frontier *f, struct host *h);
void host_want_addr(struct frontier *f, struct host *h);
void host_unlist(struct frontier *f, struct host *h); /* out of the unresolved ones */
void host_repace(struct frontier *f, struct host *h);
/* Puts host, address and network where they belong in their heaps. */
void host_update(struct frontier *f, struct host *h);
void ip_update(struct frontier *f, struct ip *ip);
void ip_release(struct frontier *f, struct ip *ip);
uint64_t host_queued(const struct host *h);
int host_site(struct frontier *f, struct host *h, struct span prefix); /* -1: too many */
struct span site_span(const struct site *s);
void site_set_rules(struct frontier *f, struct site *s, struct robots *rules, mono_ms expire); /* takes rules */

struct entry *entry_make(struct frontier *f, struct span target, struct span etag, struct span modified);
void entry_free(struct frontier *f, struct entry *e);
void entry_drop_conditions(struct frontier *f, struct entry *e);
void list_append(struct entry_list *l, struct entry *e);
void list_prepend(struct entry_list *l, struct entry *e);
struct entry *list_pop(struct entry_list *l);
void queue_append(struct frontier *f, struct host *h, struct entry *e);
/* The first waiting entry, brought back from a run when needed; NULL: none. */
status queue_peek(struct frontier *f, struct host *h, struct entry **out);
struct entry *queue_pop(struct frontier *f, struct host *h);

/* frontier_pack.c */
void entries_pack(struct buf *out, const struct entry_list *l);
void entry_pack(struct buf *out, const struct entry *e);
status entries_unpack(struct frontier *f, struct span packed, struct entry_list *out);
void host_pack(const struct frontier *f, const struct host *h, mono_ms now, wall_ms wall, bool with_urls,
               struct buf *out);
/* One piece of a host that stands alone: `urls` is packed entries, `n` of them. */
void host_pack_piece(const struct host *h, mono_ms now, wall_ms wall, bool with_rules, struct span urls, uint64_t n,
                     struct buf *out);

/* frontier_share.c: what waits, counted by host and channel, and taken out by either. */
void url_came(struct frontier *f, struct host *h, uint64_t channel, uint64_t n);
void url_went(struct frontier *f, struct host *h, uint64_t channel, uint64_t n);
void shares_release(struct frontier *f, struct host *h); /* the host goes with all it has */
/* Runs said more than they held: what is counted becomes what is there. */
void shares_recount(struct frontier *f, struct host *h);
typedef status entry_fn(void *arg, const struct entry *e);
status runs_each(struct frontier *f, const struct host *h, entry_fn *fn, void *arg); /* the runs stay */
bool addr_is_held(const struct frontier *f, const struct addr *a);
unsigned addr_share(const struct frontier *f, const struct addr *a); /* 0: all */
unsigned share_of_limit(const struct frontier *f, const struct net *net, unsigned limit);
