#include "plan/pace.h"

#include <math.h>

#define BORNE_MIN_MS 20.0       /* servers that count requests a second allow 10 to 100 */
#define BORNE_MORE 1.25         /* than what was borne */
#define BORNE_STEP 4.0          /* at most: a rest may have been longer than it had to be */
#define BORNE_EASE (1.0 / 4096) /* of it goes with each answer: a quarter in 1,180 */
#define IDLE_MS 60000           /* without a request though one was allowed: nothing was wanted */

const struct pace_opts pace_default = {
    .delay_ms = 1000,
    .per_host = 0,
    .addr_flight = 4,
    .addr_per_s = 4,
    .network_flight = 16,
    .network_per_s = 16,
    .shared_domains = 20,
    .shared_factor = 8,
    .delay_floor_ms = 250,
    .per_host_ceiling = 2,
    .server_factor = 5,
    .adaptive_max_ms = 30 * 1000,
    .crawl_delay_max_ms = 120 * 1000,
    .retry_after_max_ms = 86400 * 1000,
    .backoff_min_ms = 60 * 1000,
    .backoff_max_ms = 86400 * 1000,
};

struct pace pace_of(const struct pace_opts *o, const struct addr *addr, bool is_own, int64_t crawl_delay_ms,
                    double server_ms, double borne_ms)
{
    bool is_private = addr->family && addr_classify(addr) != ADDR_PUBLIC;
    bool is_free = is_private || is_own;
    struct pace p = {.delay_ms = o->delay_ms, .per_host = o->per_host, .has_floors = addr->family != 0};

    if (is_private && o->delay_ms == 0)
        p.has_floors = false;
    if (p.per_host == 0)
        p.per_host = is_private && o->delay_ms == 0 ? 16 : 1;
    if (!is_free) {
        if (p.delay_ms < o->delay_floor_ms)
            p.delay_ms = o->delay_floor_ms;
        if (p.per_host > o->per_host_ceiling)
            p.per_host = o->per_host_ceiling;
    }
    if (p.delay_ms > 0) {
        double adaptive = server_ms * o->server_factor;
        if (adaptive > (double)o->adaptive_max_ms)
            adaptive = (double)o->adaptive_max_ms;
        if (adaptive > (double)p.delay_ms)
            p.delay_ms = (int64_t)adaptive;
    }
    if (crawl_delay_ms > o->crawl_delay_max_ms) {
        crawl_delay_ms = o->crawl_delay_max_ms;
        p.crawl_delay_cut = true;
    }
    /* A site that asks for a pause between requests means one request at a time. */
    if (crawl_delay_ms > 0 && !(is_free && o->delay_ms == 0)) {
        p.per_host = 1;
        if (crawl_delay_ms > p.delay_ms)
            p.delay_ms = crawl_delay_ms;
    }
    if (borne_ms > 0) {
        p.per_host = 1;
        if (borne_ms > (double)p.delay_ms)
            p.delay_ms = (int64_t)ceil(borne_ms);
    }
    return p;
}

unsigned pace_shared(const struct pace_opts *o, unsigned base, unsigned domains)
{
    if (domains <= o->shared_domains)
        return base;
    double grown = sqrt((double)domains / o->shared_domains);
    if (grown > o->shared_factor)
        grown = o->shared_factor;
    return (unsigned)(base * grown);
}

int64_t pace_backoff(const struct pace_opts *o, unsigned n, struct rng *rng)
{
    int64_t wait = o->backoff_min_ms;
    for (unsigned i = 1; i < n && wait < o->backoff_max_ms; i++)
        wait *= 2;
    if (wait > o->backoff_max_ms)
        wait = o->backoff_max_ms;
    return wait + (int64_t)rng_below(rng, (uint64_t)wait / 4 + 1);
}

void pace_asked(struct pace_borne *b, mono_ms now, mono_ms next_ok)
{
    mono_ms could = next_ok > b->last ? next_ok : b->last;
    if (b->last && now - could > IDLE_MS) {
        b->seen_ms = 0;
        b->answers = 0;
    } else if (b->last) {
        b->seen_ms += (double)(now - b->last);
    }
    b->last = now;
}

void pace_answered(struct pace_borne *b, const struct pace_opts *o)
{
    double gone = o->delay_ms > 1 ? (double)o->delay_ms : 1;
    b->answers++;
    b->pause_ms -= b->pause_ms * BORNE_EASE;
    if (b->pause_ms < gone)
        b->pause_ms = 0;
}

void pace_complained(struct pace_borne *b, const struct pace_opts *o, int64_t delay_ms)
{
    double kept = fmax(b->pause_ms, fmax((double)delay_ms, BORNE_MIN_MS));
    double seen = b->answers ? b->seen_ms / b->answers : 0;
    double pause = fmin(fmax(seen, kept) * BORNE_MORE, kept * BORNE_STEP);
    b->pause_ms = fmin(pause, (double)o->adaptive_max_ms);
    b->seen_ms = 0;
    b->answers = 0;
}
