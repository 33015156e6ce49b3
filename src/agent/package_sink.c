#include "agent/package_sink.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/mem.h"
#include "codec/digest.h"
#include "web/content.h"
#include "web/sitemap.h"
#include "wire/package.h"

#define SETTING_SPOOLED "spooled"
#define HURRY_MS 500
#define PACKAGE_FULL (PACKAGE_BYTES_MAX - (4u << 20)) /* with the visit that comes, whatever it compresses to */

struct package_sink {
    struct package_sink_opts o;
    pthread_mutex_t lock; /* over the next block */
    struct sign_key key;
    uint64_t agent;
    struct digest256 coordinator;
    uint64_t bytes_max;
    int64_t age_max_ms;
    atomic_bool is_hurried;
    atomic_uint open_visits;
    /* the writer's thread */
    struct store *store; /* borrowed from the crawl */
    struct package_writer *writer;
    bool in_transaction;
    unsigned pending;
    mono_ms first_visit; /* of the open package */
    int64_t age_ms;      /* after which it is closed; grows to age_max_ms */
    struct arena scratch;
    struct buf made;
};

struct package_sink *package_sink_new(const struct package_sink_opts *o)
{
    struct package_sink *p = mem_alloc(sizeof(*p));
    p->o = *o;
    pthread_mutex_init(&p->lock, NULL);
    arena_init(&p->scratch);
    p->age_ms = PACKAGE_AGE_FIRST_MS;
    package_sink_set_limits(p, 0, 0);
    return p;
}

void package_sink_free(struct package_sink *p)
{
    if (!p)
        return;
    sign_wipe(&p->key, sizeof(p->key));
    package_writer_free(p->writer);
    arena_done(&p->scratch);
    buf_done(&p->made);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

void package_sink_set_names(struct package_sink *p, uint64_t agent, const struct sign_public *coordinator,
                            const struct sign_key *key)
{
    pthread_mutex_lock(&p->lock);
    p->agent = agent;
    p->coordinator = digest_sha256(span_of(coordinator->b, sizeof(coordinator->b)));
    p->key = *key;
    pthread_mutex_unlock(&p->lock);
}

void package_sink_set_limits(struct package_sink *p, uint64_t bytes, int64_t age_ms)
{
    pthread_mutex_lock(&p->lock);
    p->bytes_max = bytes ? bytes : PACKAGE_BYTES_DEFAULT;
    if (p->bytes_max > PACKAGE_CLOSE_MAX)
        p->bytes_max = PACKAGE_CLOSE_MAX;
    p->age_max_ms = age_ms > 0 ? age_ms : PACKAGE_AGE_MS_DEFAULT;
    pthread_mutex_unlock(&p->lock);
}

void package_sink_hurry(struct package_sink *p, bool is_hurried)
{
    atomic_store(&p->is_hurried, is_hurried);
}

unsigned package_sink_open_visits(struct package_sink *p)
{
    return atomic_load(&p->open_visits);
}

/* ---- what a visit says ---- */

static struct page page_of(const struct package_sink *p, const struct summary *s)
{
    return (struct page){
        .key = siphash(store_key(p->store), s->url),
        .url = s->url,
        .channel = s->channel,
        .fetch_number = s->fetch_number,
        .at = s->at,
        .outcome = (uint8_t)visit_outcome_of(s->is_refused, (status)s->failure, s->http_status),
        .failure = s->failure,
        .http_status = s->http_status,
        .depth = s->depth,
        .page_flags = s->page_flags,
        .digest = content_digest(s), /* fields of a program count too */
        .title = s->title,           /* a page whose title or canonical alone changes has changed, too */
        .canonical = s->canonical,
        .etag = s->etag,
        .last_modified = s->last_modified,
        .modified = summary_modified(s),
        .redirect = s->redirect,
        .reason = s->reason,
        .address = s->address,
        .body_bytes = s->body_bytes,
        .wire_bytes = s->wire_bytes,
        .text_bytes = s->text_bytes,
        .dns_us = s->dns_us,
        .connect_us = s->connect_us,
        .tls_us = s->tls_us,
        .first_byte_us = s->first_byte_us,
        .total_us = s->total_us,
    };
}

/* How the page was before, as far as it decides what travels. */
struct before {
    const struct summary *now;
    visit_outcome outcome;
    bool is_there, is_replay;
    bool same_answer; /* status, failure and target of a redirect are the same */
    bool same_looks;  /* title, canonical and wishes are the same, or not known */
};

static status note_before(void *arg, const struct page *p)
{
    struct before *b = arg;
    b->is_there = true;
    b->outcome = (visit_outcome)p->outcome;
    b->is_replay = p->fetch_number >= b->now->fetch_number;
    b->same_answer = p->http_status == b->now->http_status && p->failure == b->now->failure &&
                     span_eq(p->redirect, b->now->redirect);
    /* Pages that came from another agent, and were not visited since, have neither title nor canonical here. */
    b->same_looks =
        (!p->fetch_number || (span_eq(p->title, b->now->title) && span_eq(p->canonical, b->now->canonical))) &&
        p->page_flags == b->now->page_flags;
    return ST_OK;
}

static bool travels(const struct before *b, const struct summary *s, const struct visit_effect *e)
{
    if (!b->is_there)
        return true;
    if (b->is_replay)
        return false; /* it is in a package already */
    if (s->capture.n)
        return true; /* what is unchanged becomes a revisit there */
    switch (e->outcome) {
    case VISIT_NEW:
    case VISIT_CHANGED:
        return true;
    case VISIT_UNCHANGED:
        return s->http_status != 304 && !b->same_looks;
    default:
        return b->outcome != e->outcome || !b->same_answer;
    }
}

/* Links that the coordinator knows are no news; their texts may be. */
static void forget_known_links(struct package_sink *p, uint64_t task, struct summary *s)
{
    struct summary_link *links = arena_alloc(&p->scratch, s->link_count * sizeof(*links) + 1);
    size_t n = 0;
    for (size_t i = 0; i < s->link_count; i++) {
        struct summary_link l = s->links[i];
        if ((l.flags & SUMMARY_LINK_FOREIGN) && gate_knows_link(p->o.gate, task, digest_blake2b64(l.url))) {
            l.flags &= (uint8_t)~SUMMARY_LINK_FOREIGN;
            if (!l.text.n)
                continue;
        }
        links[n++] = l;
    }
    s->links = links;
    s->link_count = n;
}

static void add_visit(struct package_sink *p, struct summary *s)
{
    struct addr addr = {0};
    if (addr_parse(s->address, &addr) != ST_OK)
        addr.family = 0;
    struct gate_visit v = gate_task_of(p->o.gate, s->channel, &addr);
    if (!v.task)
        return; /* its task has ended meanwhile: nobody wants it */
    forget_known_links(p, v.task, s);
    if (!package_visits(p->writer))
        p->first_visit = p->o.mono(p->o.arg);
    package_add_visit(p->writer, v.task, v.kind, s);
    atomic_store(&p->open_visits, package_visits(p->writer));
}

static void note_timing(struct package_sink *p, const struct summary *s)
{
    struct addr addr;
    struct network n;
    if (addr_parse(s->address, &addr) == ST_OK && gate_network_of(p->o.gate, &addr, &n))
        timings_add(p->o.timings, &n, s);
}

static status commit(void *self, bool must, bool *is_done);

static status begin(void *self)
{
    struct package_sink *p = self;
    if (p->in_transaction)
        return ST_OK;
    status st = store_begin(p->store);
    p->in_transaction = st == ST_OK;
    return st;
}

/* What lists say of pages that are known here decides which are looked at first (crawl_recheck). */
static status note_listed(struct package_sink *p, const struct summary *s)
{
    status st = ST_OK;
    for (size_t i = 0; st == ST_OK && i < s->link_count; i++) {
        wall_ms changed;
        if (sitemap_listed(&s->links[i], s->at, &changed))
            st = store_listed_put(p->store, siphash(store_key(p->store), s->links[i].url), changed);
    }
    return st;
}

static status visit(void *self, struct span packed, struct visit_effect *effect)
{
    struct package_sink *p = self;
    struct summary s;
    struct visit_effect e;
    /* Answers as they came are compressed already, most of them: what goes in comes out. */
    if (package_raw_bytes(p->writer) >= PACKAGE_CLOSE_MAX || package_visits(p->writer) >= PACKAGE_VISITS_MAX ||
        (package_visits(p->writer) && package_raw_bytes(p->writer) + packed.n > PACKAGE_FULL)) {
        bool is_done;
        status full = commit(p, true, &is_done);
        if (full != ST_OK)
            return full;
    }
    arena_reset(&p->scratch);
    status st = summary_unpack(&p->scratch, packed, &s);
    if (st == ST_OK)
        st = begin(p);
    if (st != ST_OK)
        return st;
    struct before b = {.now = &s};
    struct page page = page_of(p, &s);
    st = store_page_get(p->store, page.key, note_before, &b);
    if (st == ST_OK || st == ST_NOT_FOUND)
        st = store_page_visit(p->store, &page, &e);
    if (st == ST_OK)
        st = note_listed(p, &s);
    if (st != ST_OK)
        return st;
    p->pending++;
    if (!b.is_replay)
        note_timing(p, &s);
    s.rate = e.rate;
    if (travels(&b, &s, &e))
        add_visit(p, &s);
    *effect = e;
    return ST_OK;
}

/* ---- transactions ---- */

static void rollback(void *self)
{
    struct package_sink *p = self;
    if (p->in_transaction)
        store_rollback(p->store);
    p->in_transaction = false;
    p->pending = 0;
    /* What is in the open package comes again, from the journal. */
    package_writer_free(p->writer);
    p->writer = package_writer_new(&(struct package_writer_opts){0});
    atomic_store(&p->open_visits, 0);
}

static bool is_due(struct package_sink *p)
{
    pthread_mutex_lock(&p->lock);
    int64_t age = p->o.mono(p->o.arg) - p->first_visit;
    bool is_hurried = atomic_load(&p->is_hurried);
    int64_t age_max = is_hurried && p->age_max_ms > HURRY_MS ? HURRY_MS : p->age_max_ms;
    bool due = package_raw_bytes(p->writer) >= p->bytes_max || age >= (p->age_ms < age_max ? p->age_ms : age_max);
    pthread_mutex_unlock(&p->lock);
    if (due && is_hurried)
        p->age_ms = PACKAGE_AGE_FIRST_MS;
    else if (due && p->age_ms < age_max)
        p->age_ms *= 2;
    return due;
}

static void finish_package(struct package_sink *p, struct package_writer *w, uint64_t sequence, struct buf *out)
{
    pthread_mutex_lock(&p->lock);
    struct package_head head = {
        .agent = p->agent, .sequence = sequence, .coordinator = p->coordinator, .made = p->o.wall(p->o.arg)};
    package_finish(w, &head, &p->key, out);
    pthread_mutex_unlock(&p->lock);
}

/* The package is on the disk first, then the transaction that says so, both for good; then it may go. */
static status commit_package(struct package_sink *p)
{
    uint64_t sequence = spool_next_sequence(p->o.spool);
    struct buf text = {0};
    buf_clear(&p->made);
    finish_package(p, p->writer, sequence, &p->made);
    atomic_store(&p->open_visits, 0);
    status st = spool_put(p->o.spool, sequence, buf_span(&p->made));
    bool is_put = st == ST_OK;
    buf_printf(&text, "%llu", (unsigned long long)sequence);
    if (st == ST_OK)
        st = store_setting_put(p->store, SETTING_SPOOLED, buf_span(&text));
    if (st == ST_OK)
        st = store_commit(p->store);
    if (st == ST_OK) {
        p->in_transaction = false;
        p->pending = 0;
        st = store_sync(p->store); /* fails: committed, yet not to be carried; after the restart it is */
    } else if (is_put) {
        spool_unput(p->o.spool, sequence);
    }
    buf_done(&text);
    if (st != ST_OK)
        return st;
    spool_publish(p->o.spool, sequence);
    if (p->o.published)
        p->o.published(p->o.arg);
    return ST_OK;
}

static status commit(void *self, bool must, bool *is_done)
{
    struct package_sink *p = self;
    bool has_package = package_visits(p->writer) > 0;
    status st = ST_OK;
    *is_done = true;
    if (!p->in_transaction)
        return ST_OK;
    if (has_package && !must && !is_due(p)) {
        *is_done = false;
        return ST_OK;
    }
    if (has_package) {
        st = commit_package(p);
    } else {
        st = store_commit(p->store);
        if (st == ST_OK) {
            p->in_transaction = false;
            p->pending = 0;
        }
    }
    if (st != ST_OK)
        rollback(p);
    return st;
}

static unsigned pending(void *self)
{
    return ((struct package_sink *)self)->pending;
}

static status publish(void *self)
{
    return ST_OK;
}

static status finish(void *self)
{
    bool is_done;
    return commit(self, true, &is_done);
}

static void get_stats(void *self, struct sink_stats *out)
{
    *out = (struct sink_stats){0};
}

static void close_sink(void *self)
{
    struct package_sink *p = self;
    rollback(p);
    p->store = NULL;
}

/* ---- opening ---- */

uint64_t package_sink_newest(struct package_sink *p)
{
    return spool_newest(p->o.spool);
}

static status read_spooled(struct store *s, uint64_t *out)
{
    struct buf text = {0};
    *out = 0;
    status st = store_setting_get(s, SETTING_SPOOLED, &text);
    if (st == ST_OK && !span_u64(buf_span(&text), UINT64_MAX - 1, out))
        st = ST_CORRUPT;
    buf_done(&text);
    return st == ST_NOT_FOUND ? ST_OK : st;
}

status package_sink_open(void *arg, struct store *s, struct sink *out, struct buf *why)
{
    struct package_sink *p = arg;
    uint64_t spooled = 0;
    status st = read_spooled(s, &spooled);
    /* Files above it are removed: the number must be on the disk, or a power cut could take it back. */
    if (st == ST_OK)
        st = store_sync(s);
    if (st == ST_OK)
        st = spool_settle(p->o.spool, spooled);
    if (st != ST_OK) {
        buf_puts(why, "its spool of packages cannot be read");
        return st;
    }
    p->store = s;
    p->in_transaction = false;
    p->pending = 0;
    package_writer_free(p->writer);
    p->writer = package_writer_new(&(struct package_writer_opts){0});
    *out = (struct sink){.visit = visit,
                         .begin = begin,
                         .commit = commit,
                         .rollback = rollback,
                         .pending = pending,
                         .publish = publish,
                         .finish = finish,
                         .stats = get_stats,
                         .close = close_sink,
                         .keeps_text = true,
                         .keeps_foreign = true,
                         .self = p};
    return ST_OK;
}

void package_sink_empty(struct package_sink *p, uint64_t sequence, struct buf *out)
{
    struct package_writer *w = package_writer_new(&(struct package_writer_opts){0});
    finish_package(p, w, sequence, out);
    package_writer_free(w);
}
