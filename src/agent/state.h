/* state.h - what an agent must still know after a restart, in one small file (DATA/agent.state) that is replaced as a
 * whole: who the coordinator is, which orders are done, what it has not been told yet.
 *
 * Tasks have files of their own (tasks.h), packages too (spool.h). A plain value: whoever shares it between threads
 * locks it. Texts are owned. */
#pragma once

#include "base/buf.h"
#include "base/status.h"
#include "codec/sign.h"
#include "wire/control.h"
#include "wire/join.h"

#define STATE_BYTES_MAX (64u << 20)
#define STATE_REFUSALS_MAX 100 /* kept for `orb-agent status` */
#define STATE_OUTCOMES_MAX 10000
#define STATE_TEXT_MAX 512 /* of a refusal or an outcome's reason */

/* What came of an order, until the coordinator has heard it. */
struct state_outcome {
    uint64_t number;
    status st;
    struct buf why;
    bool has_parts;    /* in DATA/parts/NUMBER: parts.h */
    size_t parts_sent; /* not kept: how many of them the coordinator has heard in this run */
};

struct state_refusal {
    wall_ms at;
    struct buf text;
    bool is_reported;
};

struct state {
    struct buf base; /* "https://host:port"; empty: not enrolled */
    bool has_identity;
    struct sign_public identity; /* the coordinator's */
    char pin[JOIN_PIN_MAX];
    uint64_t agent;
    char name[JOIN_NAME_MAX + 1];
    uint64_t orders_done;
    struct buf settings; /* packed agent_settings; empty: none came */
    struct state_outcome *outcomes;
    size_t outcome_count, outcome_cap;
    struct state_totals {
        uint64_t requests, pages, bytes_crawled, bytes_sent, errors;
        uint64_t errors_by_kind[ERROR_KINDS];
    } totals;
    int64_t quota_day; /* days since 1970 */
    uint64_t quota_bytes;
    uint64_t own_checked_ms; /* wall time when own sites were looked at last */
    uint64_t bandwidth;      /* measured, bytes a second */
    struct state_refusal refusals[STATE_REFUSALS_MAX];
    size_t refusal_count; /* the oldest is first */
    uint64_t refused_total;
};

void state_init(struct state *s);
void state_done(struct state *s);

/* ST_NOT_FOUND: *s stays as it is; ST_CORRUPT, ST_NEWER, ST_IO. */
MUST_USE status state_load(struct state *s, const char *data);
void state_pack(const struct state *s, struct buf *out);
MUST_USE status state_unpack(struct state *s, struct span packed); /* over a fresh *s */
MUST_USE status state_write(const char *data, struct span packed);

/* One outcome a number: a second one replaces the first. */
void state_outcome_put(struct state *s, uint64_t number, status st, struct span why, bool has_parts);
void state_outcome_remove(struct state *s, uint64_t number);
/* The newest STATE_REFUSALS_MAX stay; the same text as the newest only moves its time. */
void state_refused(struct state *s, wall_ms at, struct span text);
