/* task.h - one task as the agent keeps it: all orders about it merged into one, in a file of its own
 * (DATA/tasks/NUMBER, replaced as a whole). Used by tasks.c; one thread. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "place/addr.h"
#include "wire/control.h"

#define TASK_FILE_MAX (512u << 20)
#define TASK_SEEDS_MAX CONTROL_LIST_MAX
#define TASK_LINKS_MAX CONTROL_LIST_MAX

/* A list of texts that grows. */
struct texts {
    struct span *items; /* owned, and so are the texts */
    size_t count, cap;
};
void texts_put(struct texts *t, struct span text); /* as often as it comes */
bool texts_have(const struct texts *t, struct span text);
bool texts_put_new(struct texts *t, struct span text); /* false: it was there */
void texts_remove(struct texts *t, struct span text);
void texts_done(struct texts *t);

struct task_totals {
    uint64_t fetched, unchanged, errors, gone, bytes, added, changed, lists;
};

struct task {
    uint64_t number;
    uint64_t channel; /* id; 0: the channel could not be read */
    struct buf packed_channel;
    summary_kind kind;
    bool wants_warc;
    uint64_t expected_pages;
    struct buf program;
    struct texts networks;
    struct texts hosts, others;      /* that we have, and that others have, wherever they are; in one of the two */
    struct texts countries;          /* of networks: "DE 192.0.2.0/24" */
    struct texts pinned;             /* networks that its pinned hosts were found in */
    struct texts leaving;            /* networks that an order to end has named: asked no more */
    struct texts seeds, host_states; /* until it is started */
    uint64_t *known_links;           /* owned, sorted */
    size_t known_link_count, known_link_cap;
    bool is_ending;  /* the whole of it */
    bool has_states; /* DATA/tasks/NUMBER.states waits to be taken in */
    bool is_started; /* the crawl has its channel */
    bool wants_recheck;
    uint64_t recheck_pages;
    wall_ms recheck_older;
    bool recheck_whole;
    uint64_t visit;                /* the recheck that goes on, as its order calls it; 0: none */
    wall_ms visit_begun;           /* when its order came: known pages that were not visited since are in it */
    struct task_totals visit_from; /* as they were then */
    struct visit_report visited;   /* the newest that came to an end; number 0: none */
    struct task_totals before;     /* of earlier runs */
    /* not kept: */
    task_state state;
    wall_ms visit_here;     /* since when this process has been at the visit: time without an agent is nobody's work */
    struct task_totals now; /* before, and this run */
    struct task_totals saved; /* as the file has them */
    uint64_t queued, storing;
    wall_ms changed_at; /* the newest change of the visit that goes on, where the site says when; 0: it does not */
    unsigned orders;    /* that concerned it */
    bool is_changed;
    bool is_handed_over; /* states, hosts and seeds: gone from here once the crawl has settled */
    bool drops_states;   /* that file is not needed any more, once this is written down */
};

struct task *task_new(uint64_t number);
void task_free(struct task *t); /* NULL is fine */
/* Takes an order in: lists grow, what is given replaces. ST_INVALID: a channel or network that makes no sense;
 * ST_LIMIT. `why` says which. */
MUST_USE status task_merge(struct task *t, const struct task_order *o, struct buf *why);
void task_pack(const struct task *t, struct buf *out);
MUST_USE status task_unpack(struct span packed, struct task **out); /* ST_CORRUPT */
/* Parsed; in the arena. */
struct network *task_networks(const struct texts *texts, struct arena *a, size_t *count);
