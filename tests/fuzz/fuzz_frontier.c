/* Packed hosts come from checkpoints and journals: damaged ones are refused, and what is taken can be lent. */
#include <stdint.h>

#include "plan/frontier.h"
#include "plan/trap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static status bring_back(void *self, struct frontier_run run, struct buf *data)
{
    return ST_CORRUPT;
}

static void lend_all(struct frontier *f)
{
    struct span host;
    unsigned attempt;
    struct lease l;
    mono_ms now = 1000, wake;
    const struct addr a = {.family = 4, .b = {127, 0, 0, 1}};
    const struct frontier_result r = {.http_status = 200, .retry_after_ms = -1};
    for (int i = 0; i < 50; i++) {
        while (frontier_next_unresolved(f, now, &host, &attempt))
            frontier_resolved(f, now, host, ST_OK, &a, MONO_NEVER, 1);
        if (frontier_take(f, now, &l, &wake) != ST_OK) {
            if (wake == MONO_NEVER || wake <= now)
                return;
            now = wake;
        } else if (l.kind == LEASE_ROBOTS) {
            frontier_robots(f, now, 0, l.id, robots_all(true), 1000000, &r);
        } else {
            frontier_done(f, now, l.id, &r);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct sip_key key = {1, 2};
    struct frontier_opts o = {.pace = pace_default, .key = &key, .bring_back = bring_back};
    struct frontier *f = frontier_new(&o);
    struct span packed = span_of(data, size);
    struct frontier_info info;
    if (frontier_info_read(packed, &info) == ST_OK)
        frontier_info_done(&info);
    if (frontier_set_state(f, 0, 0, packed) != ST_OK && frontier_put_host(f, 0, 0, packed, NULL) == ST_OK)
        lend_all(f);
    frontier_free(f);
    f = frontier_new(&o);
    if (frontier_put_host(f, 0, 0, packed, NULL) == ST_OK)
        lend_all(f);
    frontier_free(f);
    return 0;
}
