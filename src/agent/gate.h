/* gate.h - which hosts the crawl may ask, at which addresses: those of its tasks' networks, the pinned ones, and none
 * that the owner refused or another agent has.
 *
 * Asked by the crawl's threads for each host once its address is known; told about tasks by the main thread; the link
 * thread takes the strays, hosts of a task that live elsewhere. Also says which task a visit belongs to. Any thread. */
#pragma once

#include "base/arena.h"
#include "base/status.h"
#include "place/addr.h"
#include "wire/control.h"

#define GATE_STRAYS_MAX 256           /* waiting to be reported */
#define GATE_STRAY_MS (3600ll * 1000) /* each host at most once in so long */
#define GATE_STRAYS_KNOWN 4096        /* remembered for that */
#define GATE_PINNED_NETWORKS_MAX 1024 /* of a task: where its pinned hosts turned out to be */

struct gate;

struct gate_opts {
    const struct span *refused; /* prefixes that the owner refuses; checked before */
    size_t refused_count;
    const struct span *countries; /* that the owner refuses; borrowed */
    size_t country_count;
    bool allow_private;
    mono_ms (*now)(void *arg);
    /* An address of a task is refused by the owner's rule; any thread. */
    void (*note_refused)(void *arg, struct span host, const struct addr *addr, struct span rule);
    void *arg; /* borrowed */
};

struct gate *gate_new(const struct gate_opts *o);
void gate_free(struct gate *g); /* NULL is fine */

struct gate_task {
    uint64_t task, channel;
    summary_kind kind;
    const struct network *networks;
    size_t network_count;
    const struct span *hosts; /* pinned names */
    size_t host_count;
    const struct span *others; /* names that are pinned elsewhere: not ours in our networks neither */
    size_t other_count;
    const uint64_t *known_links; /* sorted */
    size_t known_link_count;
    bool is_ending; /* hosts found elsewhere are no strays any more */
};
/* New, or as it is from now on. Copied. */
void gate_put(struct gate *g, const struct gate_task *t);
void gate_remove(struct gate *g, uint64_t task);

/* The coordinator says that a network is registered there: it is refused if the owner refuses that country. */
void gate_country(struct gate *g, const struct network *n, struct span country);

/* The parts that the tasks have together of a network that others have the rest of; 0: all of it, or nothing. */
uint16_t gate_parts_of(struct gate *g, const struct network *n);
/* The network of a task that an address is in, as the coordinator named it; false: none. */
bool gate_network_of(struct gate *g, const struct addr *addr, struct network *out);
bool gate_may_use(struct gate *g, struct span host, const struct addr *addr, uint64_t channel);
/* The host has no address that may be used, and this one: a stray, or refused by the owner's rule. */
void gate_turned_away(struct gate *g, struct span host, const struct addr *addr, uint64_t channel);
/* The owner's rules alone. *rule (may be NULL) gets its name. */
bool gate_is_refused(struct gate *g, const struct addr *addr, struct span *rule);

struct gate_visit {
    uint64_t task; /* 0: none has it any more */
    summary_kind kind;
};
/* Whose visit is it? `addr` (may have family 0) decides where a channel has several tasks. */
struct gate_visit gate_task_of(struct gate *g, uint64_t channel, const struct addr *addr);
/* The coordinator said that this URL, by its digest, need not be sent. */
bool gate_knows_link(struct gate *g, uint64_t task, uint64_t digest);

/* Networks that pinned hosts of a task were found in; made in the arena. */
struct network *gate_pinned_networks(struct gate *g, uint64_t task, struct arena *a, size_t *count);
void gate_pinned_put(struct gate *g, uint64_t task, const struct network *n); /* from before a restart */

/* Those that wait; texts live in the arena. gate_strays_told(n): the first n were delivered. */
struct stray_host *gate_strays(struct gate *g, struct arena *a, size_t *count);
void gate_strays_told(struct gate *g, size_t n);
