#include "agent/timings.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"
#include "codec/digest.h"

/* A sample of fixed size in which every value had the same chance to stay. */
struct sample {
    uint32_t values[TIMINGS_SAMPLE];
    uint32_t least;
    uint64_t seen;
};

struct row {
    struct network network; /* bits 0: free */
    uint64_t requests, bytes;
    struct sample rtt, server, total;
};

struct timings {
    pthread_mutex_t lock;
    struct rng rng;
    struct row rows[TIMINGS_NETWORKS];
    size_t count;
};

struct timings *timings_new(uint64_t seed)
{
    struct timings *t = mem_alloc(sizeof(*t));
    pthread_mutex_init(&t->lock, NULL);
    rng_seed(&t->rng, seed);
    return t;
}

void timings_free(struct timings *t)
{
    if (!t)
        return;
    pthread_mutex_destroy(&t->lock);
    free(t);
}

static void sample_add(struct sample *s, struct rng *rng, int64_t value)
{
    uint32_t v = value < 0 ? 0 : value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
    if (!s->seen || v < s->least)
        s->least = v;
    uint64_t at = s->seen < TIMINGS_SAMPLE ? s->seen : rng_below(rng, s->seen + 1);
    if (at < TIMINGS_SAMPLE)
        s->values[at] = v;
    s->seen++;
}

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static uint32_t median(struct sample *s)
{
    size_t n = s->seen < TIMINGS_SAMPLE ? (size_t)s->seen : TIMINGS_SAMPLE;
    qsort(s->values, n, sizeof(*s->values), compare);
    return n ? s->values[(n - 1) / 2] : 0;
}

/* Open addressing; NULL: the table is full, and this network waits for the next report. */
static struct row *row_of(struct timings *t, const struct network *n)
{
    uint64_t at = digest_blake2b64(span_of(n->first.b, sizeof(n->first.b))) % TIMINGS_NETWORKS;
    for (;; at = (at + 1) % TIMINGS_NETWORKS) {
        struct row *r = &t->rows[at];
        if (!r->network.bits && t->count < TIMINGS_NETWORKS * 3 / 4) {
            r->network = *n;
            t->count++;
            return r;
        }
        if (!r->network.bits)
            return NULL;
        if (network_eq(&r->network, n))
            return r;
    }
}

void timings_path(struct timings *t, const struct network *network, uint32_t us)
{
    pthread_mutex_lock(&t->lock);
    struct row *r = row_of(t, network);
    if (r) {
        r->requests++;
        sample_add(&r->rtt, &t->rng, us);
    }
    pthread_mutex_unlock(&t->lock);
}

void timings_add(struct timings *t, const struct network *network, const struct summary *s)
{
    if (s->failure != ST_OK || s->total_us < 0)
        return;
    pthread_mutex_lock(&t->lock);
    struct row *r = row_of(t, network);
    if (r) {
        r->bytes += s->wire_bytes;
        sample_add(&r->total, &t->rng, s->total_us);
        /* The answer's first byte, without making the connection and one round trip, is the server's own time. */
        int64_t server = (int64_t)s->first_byte_us - (s->connect_us > 0 ? s->connect_us : 0) -
                         (s->tls_us > 0 ? s->tls_us : 0) - (r->rtt.seen ? r->rtt.least : 0);
        if (s->first_byte_us >= 0)
            sample_add(&r->server, &t->rng, server);
    }
    pthread_mutex_unlock(&t->lock);
}

struct network_timing *timings_take(struct timings *t, struct arena *a, size_t *count)
{
    pthread_mutex_lock(&t->lock);
    struct network_timing *out = arena_alloc(a, (t->count + 1) * sizeof(*out));
    size_t n = 0;
    for (size_t i = 0; i < TIMINGS_NETWORKS; i++) {
        struct row *r = &t->rows[i];
        char text[NETWORK_TEXT_MAX];
        if (!r->network.bits)
            continue;
        out[n++] = (struct network_timing){.network = arena_copy(a, span_str(network_format(&r->network, text))),
                                           .requests = r->requests,
                                           .rtt_min_us = r->rtt.seen ? r->rtt.least : 0,
                                           .rtt_median_us = median(&r->rtt),
                                           .server_median_us = median(&r->server),
                                           .total_median_us = median(&r->total),
                                           .bytes = r->bytes};
        *r = (struct row){0};
    }
    t->count = 0;
    *count = n;
    pthread_mutex_unlock(&t->lock);
    return out;
}
