/* package_sink.h - the crawl's sink at an agent: visits that say something new become packages in the spool.
 *
 * The store decides what a visit is; unchanged ones are only written down here and do not travel. A transaction stays
 * open until a package is due (its size, its age, or because it must), and is committed only when the package is on the
 * disk: so the spool and the store always agree which visits were sent. Functions of the sink run on the crawl's writer
 * thread; the settings may be changed from any. */
#pragma once

#include "agent/gate.h"
#include "agent/spool.h"
#include "agent/timings.h"
#include "base/log.h"
#include "codec/sign.h"
#include "store/sink.h"
#include "wire/package.h"

#define PACKAGE_BYTES_DEFAULT PACKAGE_CLOSE_DEFAULT
/* The more pages are in a package the smaller each is, but people want to see the first ones soon: a package is closed
 * after so long, the next one after twice as long, and so on. After idleness it begins anew. Checkpoints of the crawl
 * close it, too. */
#define PACKAGE_AGE_FIRST_MS 5000
#define PACKAGE_AGE_MS_DEFAULT 60000

struct package_sink;

struct package_sink_opts {
    struct gate *gate; /* all borrowed */
    struct spool *spool;
    struct timings *timings;
    wall_ms (*wall)(void *arg);
    mono_ms (*mono)(void *arg);
    void (*published)(void *arg); /* a package may be carried; may be NULL */
    void *arg;
    const struct log *log;
};

struct package_sink *package_sink_new(const struct package_sink_opts *o);
void package_sink_free(struct package_sink *p); /* after the crawl is closed; NULL is fine */

/* For whom packages are made, and signed by which key. */
void package_sink_set_names(struct package_sink *p, uint64_t agent, const struct sign_public *coordinator,
                            const struct sign_key *key);
void package_sink_set_limits(struct package_sink *p, uint64_t bytes, int64_t age_ms); /* 0: the default */
uint64_t package_sink_newest(struct package_sink *p);
/* Nothing is left to fetch: what is there should not wait for more. */
void package_sink_hurry(struct package_sink *p, bool is_hurried);
/* In a package that is not closed yet. Any thread. */
unsigned package_sink_open_visits(struct package_sink *p);

/* A sink_open_fn; `arg` is the struct package_sink. */
status package_sink_open(void *arg, struct store *s, struct sink *out, struct buf *why);
/* A package without visits, in place of one that is not kept any more. */
void package_sink_empty(struct package_sink *p, uint64_t sequence, struct buf *out);
