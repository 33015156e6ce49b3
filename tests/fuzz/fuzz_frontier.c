/* Packed hosts come from checkpoints, journals and other machines: damaged ones are refused, and what is taken can be
 * lent, dropped and handed on, comes twice without harm, and packs to the same bytes as often as it is unpacked. */
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

static status add_url(void *arg, const struct frontier_packed_url *p)
{
    struct arena a;
    struct url u;
    arena_init(&a);
    if (url_parse(&a, p->url, NULL, &u) == ST_OK && url_is_http(&u)) {
        struct frontier_url f = {.url = &u, .key = p->depth, .channel = p->channel, .is_known = p->is_known};
        (void)frontier_add(arg, 0, &f);
    }
    arena_done(&a);
    return ST_OK;
}

static status take_piece(void *arg, struct span host, struct span packed)
{
    struct frontier_info info;
    if (frontier_info_read(packed, &info) != ST_OK)
        __builtin_trap(); /* what we packed ourselves */
    frontier_info_done(&info);
    return ST_OK;
}

static status keep_piece(void *arg, struct span host, struct span packed)
{
    buf_put(arg, packed);
    return ST_OK;
}

static status count_run(void *arg, struct frontier_run run)
{
    ++*(unsigned *)arg;
    return ST_OK;
}

/* The only host of *f, as a checkpoint has it. */
static void pack_again(const struct frontier_opts *o, struct frontier *f)
{
    struct frontier *g = frontier_new(o);
    struct buf once = {0}, twice = {0};
    unsigned runs = 0;
    if (frontier_each_host(f, 0, 0, true, keep_piece, &once) != ST_OK ||
        frontier_put_host(g, 0, 0, buf_span(&once), NULL) != ST_OK ||
        frontier_each_host(g, 0, 0, true, keep_piece, &twice) != ST_OK ||
        frontier_packed_runs(buf_span(&twice), count_run, &runs) != ST_OK ||
        !span_eq(buf_span(&once), buf_span(&twice)))
        __builtin_trap();
    frontier_free(g);
    buf_done(&once);
    buf_done(&twice);
}

static void from_elsewhere(struct frontier *f, struct span packed)
{
    const struct network all = {.first = {.family = 4}};
    if (frontier_adopt_host(f, 0, 0, packed) != ST_OK || frontier_packed_urls(packed, add_url, f) != ST_OK)
        return;
    (void)!frontier_adopt_host(f, 0, 0, packed); /* from two places */
    lend_all(f);
    (void)!frontier_drop_channel(f, 1, NULL, NULL);
    (void)frontier_hold_network(f, &all);
    (void)!frontier_take_network(f, 0, 0, &all, take_piece, NULL, NULL);
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
    if (frontier_put_host(f, 0, 0, packed, NULL) == ST_OK) {
        pack_again(&o, f);
        lend_all(f);
    }
    frontier_free(f);
    f = frontier_new(&o);
    from_elsewhere(f, packed);
    frontier_free(f);
    return 0;
}
