/* probes.h - carries out the coordinator's probes: how far is it from here to a site, or to another agent?
 *
 * The agent resolves names for itself and says which address it reached: different answers at different agents tell the
 * coordinator something. As polite as the crawl, and beside it: one probe a host at a time and a second between two,
 * one an address at a time, robots.txt before a HEAD, the owner's rules for addresses; nothing new is begun while the
 * agent is paused. What waits is lost with the process: the coordinator asks again.
 *
 * A thread of its own, from the first probe on. Any thread may call; `ready` and `note_refused` are called by that
 * thread, without a lock held. */
#pragma once

#include "agent/gate.h"
#include "base/arena.h"
#include "base/log.h"
#include "io/resolver.h"
#include "web/places.h"
#include "wire/control.h"

#define PROBES_MAX 10000      /* waiting, under way, and results that were not delivered yet; more are not taken */
#define PROBES_AT_ONCE 32     /* under way */
#define PROBES_PAUSE_MS 1000  /* least time between two of a host at a public address; the owner's delay if longer */
#define PROBES_ADDRESS_MS 250 /* between two of a public address, whatever their hosts */
#define PROBES_A_REPORT 500   /* results in one report: some 35 kB */
#define PROBES_URL_MAX 2048   /* longer ones are invalid */
#define PROBES_CRAWL_DELAY_MS 120000 /* longer ones count as this */

struct probes;

struct probes_opts {
    struct span user_agent, ca_file; /* all borrowed until probes_free() */
    bool allow_private;              /* by the owner's word alone */
    struct resolver_opts dns;
    int64_t delay_ms;             /* the owner's pause between two requests to a host */
    bool in_lab;                  /* io/in_lab.h: that pause is enough on public addresses too */
    struct gate *gate;            /* the owner's refusals */
    const struct places *refused; /* the owner's, of sites; NULL: none */
    /* addr has no family when the site was enough to refuse it */
    void (*note_refused)(void *arg, struct span host, const struct addr *addr, struct span rule);
    void (*ready)(void *arg); /* there are results */
    void *arg;                /* borrowed */
    const struct log *log;
};

struct probes *probes_new(const struct probes_opts *o);
void probes_free(struct probes *p); /* stops the thread; NULL is fine */

/* Copied. ST_LIMIT: not all were taken, `why` says how many; ST_INVALID: resolver options; ST_IO: no thread. */
MUST_USE status probes_add(struct probes *p, const struct probe_order *o, struct buf *why);
/* While it is so, nothing is begun; it begins so. */
void probes_pause(struct probes *p, bool is_paused);
/* Results will come without anybody doing anything. */
bool probes_are_under_way(struct probes *p);

/* What a sample costs in packets, both ways together: a connection that is made and ended, seven packets of 40 to 60
 * bytes; an echo and its answer. What a HEAD says on top of its connection is counted as it was; a TLS handshake is
 * some four packets full of certificates. */
#define PROBES_TCP_BYTES 400u
#define PROBES_ICMP_BYTES 200u
#define PROBES_TLS_BYTES 5000u

struct probes_counts {
    uint64_t done;                      /* since the start */
    uint64_t requests, bytes;           /* the same: samples and robots.txt, lost ones too; bytes as above */
    size_t waiting, under_way, results; /* results: not delivered */
};
void probes_get_counts(struct probes *p, struct probes_counts *out);

/* The oldest PROBES_A_REPORT results; texts and array live in the arena. probes_told(n): the first n were delivered. */
struct probe_report *probes_results(struct probes *p, struct arena *a, size_t *count);
void probes_told(struct probes *p, size_t n);
