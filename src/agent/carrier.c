/* carrier.c - the thread that takes packages to the coordinator, one after the other, piece by piece; an upload that
 * was cut goes on where it was. */
#include <stdlib.h>

#include "agent/agent.h"
#include "io/clock.h"
#include "io/entropy.h"
#include "wire/fields.h"
#include "wire/paths.h"

#define PIECE_MS 60000
#define DAMAGED_MAX 3              /* times in a row that a package may arrive damaged before we slow down */
#define REST_MS (5 * 60 * 1000)    /* it would be the same again */
#define MEASURE_BYTES (256u << 10) /* a piece at least so large says something about the bandwidth */

struct carrier {
    struct agent *a;
    struct session_line *line;
    struct rng rng;
    unsigned failures, damaged;
    struct buf package;
    uint64_t sequence; /* of `package`; 0: none is loaded */
    uint64_t offset;
};

struct reply {
    uint64_t here, wanted;
    bool is_whole;
    struct span why;
};

static void read_reply(struct span body, struct reply *out)
{
    struct fields f = fields_of(body);
    struct span v;
    unsigned tag;
    *out = (struct reply){0};
    while (fields_next(&f, &tag, &v)) {
        if (tag == 1)
            out->here = value_u64(v);
        else if (tag == 2)
            out->is_whole = value_u64(v) == 1;
        else if (tag == 3)
            out->wanted = value_u64(v);
        else if (tag == 4)
            out->why = v;
    }
}

/* The next package to carry is in c->package. ST_END: there is none. */
static status load(struct carrier *c)
{
    struct agent *a = c->a;
    uint64_t sequence;
    if (!spool_first(a->spool, &sequence))
        return ST_END;
    if (sequence == c->sequence)
        return ST_OK;
    buf_clear(&c->package);
    c->sequence = 0;
    status st = spool_read(a->spool, sequence, &c->package);
    if (st != ST_OK)
        return st;
    c->sequence = sequence;
    c->offset = 0;
    return ST_OK;
}

/* The coordinator wants a package that is not kept any more. Its pages are lost to it; those after are not. */
static void make_empty(struct carrier *c, uint64_t sequence)
{
    buf_clear(&c->package);
    package_sink_empty(c->a->sink, sequence, &c->package);
    c->sequence = sequence;
    c->offset = 0;
    log_write(c->a->log, LOG_ERROR, "carrier",
              "a package that the coordinator wants is not kept any more sequence=%llu", (unsigned long long)sequence);
}

static void other_wanted(struct carrier *c, uint64_t wanted)
{
    struct buf ignored = {0};
    status st = wanted ? spool_read(c->a->spool, wanted, &ignored) : ST_OK;
    buf_done(&ignored);
    if (wanted && wanted < c->sequence && st == ST_NOT_FOUND) {
        make_empty(c, wanted);
        return;
    }
    if (wanted && wanted <= spool_acknowledged(c->a->spool))
        st = spool_rewind(c->a->spool, wanted - 1);
    else if (wanted > c->sequence)
        st = spool_acknowledge(c->a->spool, wanted - 1);
    c->sequence = 0;
    if (st != ST_OK)
        log_write(c->a->log, LOG_WARN, "carrier", "the spool cannot be put in order status=%s", status_name(st));
}

static void is_safe(struct carrier *c)
{
    status st = spool_acknowledge(c->a->spool, c->sequence);
    if (st != ST_OK)
        log_write(c->a->log, LOG_WARN, "carrier", "a package cannot be put aside status=%s", status_name(st));
    c->sequence = 0;
    c->damaged = 0;
    agent_wake(c->a);
}

/* Milliseconds to wait before the next piece. */
static int64_t after_reply(struct carrier *c, const struct http_answer *answer)
{
    struct reply r;
    read_reply(buf_span(&answer->body), &r);
    switch (answer->status) {
    case 200:
        c->failures = 0;
        if (r.is_whole)
            is_safe(c);
        else if (r.here > c->package.n || r.here <= c->offset) /* no step forward: from the beginning */
            c->offset = r.here <= c->package.n ? r.here : 0;
        else
            c->offset = r.here;
        return 0;
    case 409:
        if (r.wanted && r.wanted != c->sequence)
            other_wanted(c, r.wanted);
        else
            c->offset = r.here <= c->package.n ? r.here : 0;
        return ++c->failures > 3 ? session_backoff_ms(c->failures, &c->rng) : 0;
    case 422: {
        struct buf why = {0};
        log_escape(&why, r.why, 200);
        log_write(c->a->log, LOG_WARN, "carrier", "a package arrived damaged sequence=%llu why=\"%s\"",
                  (unsigned long long)c->sequence, buf_cstr(&why));
        buf_done(&why);
        c->sequence = 0; /* read from the disk again */
        return ++c->damaged > DAMAGED_MAX ? REST_MS : 0;
    }
    case 403:
        return REST_MS;
    default:
        return session_retry_ms(answer, session_backoff_ms(++c->failures, &c->rng));
    }
}

static void measure(struct agent *a, size_t bytes, int64_t us)
{
    if (bytes < MEASURE_BYTES || us <= 0)
        return;
    uint64_t rate = (uint64_t)((double)bytes * 1e6 / (double)us);
    pthread_mutex_lock(&a->lock);
    bool is_first = a->bandwidth == 0;
    a->bandwidth = is_first ? rate : (a->bandwidth * 7 + rate) / 8;
    a->wants_setup |= is_first;
    pthread_mutex_unlock(&a->lock);
}

/* Within the bandwidth: a piece is followed by the pause that makes its rate right. */
static int64_t rate_pause(struct agent *a, size_t bytes, int64_t us)
{
    pthread_mutex_lock(&a->lock);
    uint64_t rate = a->limits.bytes_per_s;
    pthread_mutex_unlock(&a->lock);
    int64_t due = rate ? (int64_t)((double)bytes * 1000 / (double)rate) - us / 1000 : 0;
    return due > 0 ? due : 0;
}

static int64_t send_piece(struct carrier *c)
{
    struct agent *a = c->a;
    struct buf target = {0};
    struct http_answer answer = {0};
    struct span piece = span_cut(buf_span(&c->package), (size_t)c->offset, PATH_PIECE_MAX);
    buf_printf(&target, PATH_PACKAGE "%llu?offset=%llu&bytes=%zu", (unsigned long long)c->sequence,
               (unsigned long long)c->offset, c->package.n);
    int64_t began = clock_mono_us();
    status st = session_call(
        c->line,
        &(struct http_call){
            .method = "PUT", .target = buf_span(&target), .body = piece, .answer_max = 4096, .timeout_ms = PIECE_MS},
        &answer);
    int64_t took = clock_mono_us() - began, pause = 0;
    if (st != ST_OK) {
        pause = session_backoff_ms(++c->failures, &c->rng);
    } else {
        measure(a, piece.n, took);
        pause = after_reply(c, &answer);
        int64_t slow = rate_pause(a, piece.n, took);
        pause = slow > pause ? slow : pause;
    }
    http_answer_done(&answer);
    buf_done(&target);
    return pause;
}

/* Lock held. True: a package waits, and it may be carried. Those of a copied folder have the numbers of the other's:
 * one of two would be taken for the other, and lost. */
static bool may_carry(struct agent *a)
{
    uint64_t sequence;
    return a->may_talk && a->polls_good && !a->is_double && spool_first(a->spool, &sequence);
}

void *carrier_thread(void *arg)
{
    struct agent *a = arg;
    struct carrier c = {.a = a};
    uint64_t seed = 0;
    if (entropy_draw(&seed, sizeof(seed)) != ST_OK)
        seed = (uint64_t)clock_mono();
    rng_seed(&c.rng, seed);
    if (session_line_new(a->session, &c.line) != ST_OK)
        return NULL;
    mono_ms not_before = 0;
    for (;;) {
        pthread_mutex_lock(&a->lock);
        while (!a->is_stopping && (!may_carry(a) || clock_mono() < not_before))
            agent_wait(a, clock_mono() < not_before ? not_before - clock_mono() : 1000);
        bool stops = a->is_stopping;
        pthread_mutex_unlock(&a->lock);
        if (stops)
            break;
        status st = load(&c);
        int64_t pause = st == ST_OK ? send_piece(&c) : 1000;
        if (st != ST_OK && st != ST_END)
            log_write(a->log, LOG_ERROR, "carrier", "a package cannot be read status=%s", status_name(st));
        not_before = clock_mono() + pause;
    }
    session_line_free(c.line);
    buf_done(&c.package);
    return NULL;
}
