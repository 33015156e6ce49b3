/* sink.h - where the visits of a crawl go: into an index on this machine (src/apply), or into packages for a
 * coordinator (src/agent).
 *
 * A value with functions and their `self`. All are called by one thread, the crawl's writer, and never two at a time,
 * but for `stats`. A visit may be handed over again after a kill: with the same fetch number it must change nothing. */
#pragma once

#include "base/status.h"
#include "store/store.h"

struct sink_stats {
    uint64_t docs, segments, bytes; /* of an index; 0 where there is none */
    bool is_comparing;              /* pages with each other, at the end */
    unsigned compared_percent;
};

struct sink {
    /* A packed summary (web/summary.h). Opens a transaction of the store when none is open. *effect is what the store
     * made of the visit. */
    status (*visit)(void *self, struct span packed, struct visit_effect *effect);
    status (*begin)(void *self); /* for other writes to the store; harmless when a transaction is open */
    /* Ends the transaction. Without `must` the sink may leave it open a little longer, when it waits to fill something;
     * *is_done says. */
    status (*commit)(void *self, bool must, bool *is_done);
    void (*rollback)(void *self);
    unsigned (*pending)(void *self);                   /* visits in the open transaction */
    status (*publish)(void *self);                     /* every few seconds, between transactions */
    status (*finish)(void *self);                      /* the crawl ends */
    void (*stats)(void *self, struct sink_stats *out); /* any thread */
    void (*close)(void *self);                         /* the sink is not used any more; rolls back */
    bool keeps_text;                                   /* wants texts, headings, anchors and languages */
    bool keeps_foreign;                                /* wants links that leave the channel too */
    bool has_contents; /* contents are kept here (page.content): a page without is got whole again */
    void *self;
};

/* Makes the sink of a folder, once its store is open. `why` gets one phrase for people on failure. */
typedef status sink_open_fn(void *arg, struct store *s, struct sink *out, struct buf *why);
