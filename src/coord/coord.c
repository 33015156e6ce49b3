/* coord.c - the coordinator as a whole: opening its folder, its threads and servers, what happens now and then. */
#include "coord/coord.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "coord/admin.h"
#include "coord/agents.h"
#include "coord/assign.h"
#include "coord/balancing.h"
#include "coord/calls.h"
#include "coord/channels.h"
#include "coord/diary.h"
#include "coord/forgetting.h"
#include "coord/freshness.h"
#include "coord/inbox.h"
#include "coord/ingest.h"
#include "coord/networks.h"
#include "coord/pings.h"
#include "coord/pinning.h"
#include "coord/placing.h"
#include "coord/polls.h"
#include "coord/recrawling.h"
#include "coord/refresh.h"
#include "coord/trust.h"
#include "io/clock.h"
#include "io/entropy.h"
#include "io/workers.h"
#include "serve/limit.h"
#include "store/file.h"
#include "serve/serve.h"

#define TICK_MS 200
#define SLOW_TICK_MS 1000
#define RESOLVES_MAX 64
#define WORKERS 4
#define WAITING_MAX 1024
#define CONNECTIONS_MAX 8192
#define CONNECTIONS_A_HOST 512
#define BODY_MEMORY_MAX (256u << 20)
#define STRANGERS_PER_S 2 /* hellos and joins from one address */
#define TELL_CROWDS_MS 10000
#define REFUSALS_TOLD_PER_S 5 /* lines in the log, of all addresses together */

/* ---- names to addresses ---- */

struct lookup {
    struct coord *c;
    char *name;
};

static void take_answer(struct coord *c, struct span name, const struct resolved *r)
{
    struct c_host *h = table_get(&c->hosts, siphash(&c->key, name));
    if (!h || h->state == HOST_PLACED)
        return;
    struct addr best = r->st == ST_OK && r->count ? addr_home(r->addrs, r->count) : (struct addr){0};
    assign_addresses(c, h, r->addrs, r->st == ST_OK ? r->count : 0);
    assign_resolved(c, h, r->st, &best);
}

static void on_resolved(void *arg, const struct resolved *r)
{
    struct lookup *l = arg;
    struct coord *c = l->c;
    pthread_mutex_lock(&c->lock);
    c->resolving--;
    if (r->st != ST_CANCELLED)
        take_answer(c, span_str(l->name), r);
    pthread_mutex_unlock(&c->lock);
    free(l->name);
    free(l);
}

/* The resolver calls back on the loop's thread, perhaps at once: names are taken under the lock, asked without it. */
static void resolve_some(struct coord *c)
{
    for (;;) {
        struct lookup *l = NULL;
        pthread_mutex_lock(&c->lock);
        if (c->wanted_count && c->resolving < RESOLVES_MAX) {
            struct c_host *h = c->wanted[--c->wanted_count];
            l = mem_alloc(sizeof(*l));
            *l = (struct lookup){.c = c, .name = mem_str(span_str(h->name))};
            h->state = h->network ? h->state : HOST_ASKED;
            c->resolving++;
        }
        pthread_mutex_unlock(&c->lock);
        if (!l)
            return;
        struct resolved r = {0};
        if (resolver_peek(c->resolver, span_str(l->name), &r))
            on_resolved(l, &r);
        else
            resolver_lookup(c->resolver, span_str(l->name), on_resolved, l);
    }
}

/* ---- now and then ---- */

/* Connections that were never let in, or gave way, or were too slow, have no line of their own in the log: there may
 * be thousands a second. */
static void tell_of_crowds(struct coord *c, mono_ms now)
{
    struct httpd_counts n, *before = &c->told_counts;
    if (now - c->told_at < TELL_CROWDS_MS && c->told_at)
        return;
    httpd_count(c->httpd, &n);
    if (n.refused + n.evicted + n.slow > before->refused + before->evicted + before->slow)
        log_write(c->o.log, LOG_WARN, "calls",
                  "connections were not let in or hung up on refused=%llu gave_way=%llu slow=%llu open=%llu",
                  (unsigned long long)(n.refused - before->refused), (unsigned long long)(n.evicted - before->evicted),
                  (unsigned long long)(n.slow - before->slow), (unsigned long long)n.connections);
    unsigned long long untold = atomic_exchange(&c->untold, 0);
    if (untold)
        log_write(c->o.log, LOG_WARN, "calls", "more calls were refused than were written down calls=%llu", untold);
    c->told_counts = n;
    c->told_at = now;
}

static void on_tick(void *arg)
{
    struct coord *c = arg;
    mono_ms now = clock_mono();
    resolve_some(c);
    pthread_mutex_lock(&c->lock);
    networks_tick(c, now);
    placing_tick(c, now);
    balancing_tick(c, now);
    assign_tick(c, now);
    trust_tick(c, now);
    recrawling_tick(c, clock_wall());
    pings_tick(c, now);
    polls_tick(c, now);
    if (now - c->slow_tick >= SLOW_TICK_MS) {
        c->slow_tick = now;
        agents_tick(c, now);
        channels_tick(c, clock_wall());
        refresh_tick(c, c->refresh, clock_wall());
        diary_tick(c, now);
        freshness_sample(c, now);
    }
    pthread_mutex_unlock(&c->lock);
    admin_tick(c->admin, now);
    tell_of_crowds(c, now);
    timer_set(c->tick, TICK_MS);
}

static void on_wake(void *arg)
{
    struct coord *c = arg;
    if (c->is_stopping)
        loop_stop(c->loop);
    else
        resolve_some(c);
}

static void on_signal(void *arg)
{
    struct coord *c = arg;
    c->is_stopping = true;
    loop_stop(c->loop);
}

void coord_stop(struct coord *c)
{
    c->is_stopping = true;
    waker_wake(c->waker);
}

/* ---- the server for agents and searches ---- */

static bool on_admit(void *self, const struct httpd_request *req, struct httpd_admission *adm, struct httpd_answer *ans)
{
    struct coord *c = self;
    if (pings_is_ours(req->target))
        return pings_admit(c, req, adm, ans);
    return calls_is_ours(req->target) ? calls_admit(c, req, adm, ans) : true; /* searches have no body */
}

static void on_release(void *self, void *admitted)
{
    calls_release(self, admitted);
    free(admitted);
}

static void on_request(void *self, const struct httpd_request *req, struct httpd_answer *ans)
{
    struct coord *c = self;
    if (calls_is_ours(req->target))
        calls_handle(c, req, ans);
    else if (pings_is_ours(req->target))
        pings_handle(c, req, ans);
    else
        serve_request(c->serve, req, ans);
}

static status start_server(struct coord *c, struct buf *why)
{
    struct httpd_opts o = {.addr = c->o.addr,
                           .port = c->o.port,
                           .threads = 2,
                           .connections_max = CONNECTIONS_MAX,
                           .connections_per_address = CONNECTIONS_A_HOST,
                           .idle_timeout_s = 120,
                           .body_memory_max = BODY_MEMORY_MAX,
                           .request_head_max = 16u << 10,
                           .tls_cert = buf_span(&c->id.tls_cert),
                           .tls_key = buf_span(&c->id.tls_key),
                           .admit = on_admit,
                           .release = on_release,
                           .fn = on_request,
                           .self = c};
    char text[ADDR_TEXT_MAX];
    status st = httpd_new(&o, &c->httpd);
    if (st != ST_OK)
        buf_printf(why, "cannot listen on %s port %d: %s", addr_format(&o.addr, text), o.port,
                   st == ST_BUSY ? "another program does" : strerror(errno));
    return st;
}

/* ---- opening ---- */

static status check_opts(const struct coord_opts *o, struct buf *why)
{
    if (o->is_plain && addr_classify(&o->addr) != ADDR_LOOPBACK) {
        buf_puts(why, "plain HTTP is for loopback addresses only");
        return ST_REFUSED;
    }
    if ((o->tls_cert_file != NULL) != (o->tls_key_file != NULL)) {
        buf_puts(why, "a certificate needs its key, and a key its certificate");
        return ST_INVALID;
    }
    return ST_OK;
}

static void keep_opts(struct coord *c, const struct coord_opts *o)
{
    c->o = *o;
    c->data_dir = mem_str(span_str(o->data_dir));
    c->o.data_dir = c->data_dir;
    c->o.public_host = span_str(mem_str(o->public_host));
    c->o.public_url = span_str(mem_str(o->public_url));
    c->o.version = span_str(mem_str(o->version));
    c->o.dns.server = span_str(mem_str(o->dns.server));
    c->o.dns.hosts = span_str(mem_str(o->dns.hosts));
    struct buf path = {0};
    buf_printf(&path, o->hierarchy_file ? "%s" : "%s/hierarchy", o->hierarchy_file ? o->hierarchy_file : o->data_dir);
    c->hierarchy_path = mem_str(buf_span(&path));
    buf_done(&path);
}

static status open_state(struct coord *c, struct buf *why)
{
    struct buf links = {0};
    status st = ingest_new(c, &c->ingest, why); /* takes the folder's lock */
    buf_printf(&links, "%s/links", c->data_dir);
    if (st == ST_OK)
        st = file_mkdir(buf_cstr(&links));
    buf_done(&links);
    if (st == ST_OK)
        st = fleet_open(c->data_dir, &c->fleet, why);
    if (st == ST_OK)
        st = inbox_open(c->data_dir, &c->inbox);
    if (st == ST_OK)
        st = records_load(c, why);
    if (st == ST_OK) {
        forgetting_share(c);
        channels_index(c);
        networks_index(c);
        diary_open(c);
        st = recrawling_open(c, why);
    }
    if (st == ST_OK)
        freshness_open(c);
    return st;
}

static void begin_again(struct coord *c)
{
    int64_t lease = c->o.lease_ms ? c->o.lease_ms : COORD_LEASE_MS;
    c->started = c->agents_saved = clock_mono();
    for (size_t i = 0; i < c->agent_count; i++)
        if (c->agents[i]) {
            c->agents[i]->lease_until = c->started + lease + lease / 10; /* given before we ended, perhaps */
            c->agents[i]->given_before = c->agents[i]->orders_given;
            agent_tell_delegator(c, c->agents[i]);
            pinning_take_setup(c, c->agents[i]);
        }
    size_t at = 0;
    for (struct c_host *h; (h = table_next(&c->hosts, &at));)
        if (h->state != HOST_PLACED) {
            h->state = HOST_FAILED;
            h->retry_at = 0;
        }
    assign_forget_hosts(c);
    placing_begin(c);
}

static status open_rest(struct coord *c, struct buf *why)
{
    uint64_t seed = c->o.seed;
    char host[ADDR_TEXT_MAX];
    struct identity_opts id = {.data_dir = c->data_dir,
                               .is_plain = c->o.is_plain,
                               .tls_cert_file = c->o.tls_cert_file,
                               .tls_key_file = c->o.tls_key_file,
                               .host = span_str(addr_format(&c->o.addr, host))};
    status st = identity_open(&id, &c->id, why);
    if (st == ST_OK)
        st = entropy_draw(c->nonce, sizeof(c->nonce));
    if (st == ST_OK && !seed)
        st = entropy_draw(&seed, sizeof(seed));
    if (st != ST_OK)
        return st;
    st = networks_open_hierarchy(c, why);
    if (st == ST_OK)
        st = cities_read(cities_text(), &c->cities);
    if (st != ST_OK)
        return st;
    c->balancer = balancer_new(c->o.balance ? c->o.balance : BALANCE_GAIN);
    st = pinning_load(c, why);
    if (st != ST_OK)
        return st;
    c->delegator = delegator_new(&(struct delegator_opts){.strategy = c->o.strategy ? c->o.strategy : DELEGATE_LEARNED,
                                                          .seed = seed,
                                                          .threshold_ms = c->o.threshold_ms,
                                                          .same_holder = c->o.same_holder,
                                                          .cost_ms = c->o.probe_cost_ms,
                                                          .hierarchy = c->hierarchy,
                                                          .cities = &c->cities});
    c->trust = trust_new(seed);
    c->pings = pings_new(&c->key);
    c->refresh = refresh_new(c);
    begin_again(c);
    c->strangers = limiter_new(
        &(struct limiter_opts){.per_s = STRANGERS_PER_S, .burst = 20, .loopback_factor = 20, .key = c->key});
    c->refusals = limiter_new(&(struct limiter_opts){.per_s = 1, .burst = 10, .loopback_factor = 1, .key = c->key});
    c->all_refusals = limiter_new(
        &(struct limiter_opts){.per_s = REFUSALS_TOLD_PER_S, .burst = 200, .loopback_factor = 1, .key = c->key});
    c->loop = loop_new();
    c->waker = waker_new(c->loop, on_wake, c);
    c->tick = timer_new(c->loop, on_tick, c);
    st = resolver_new(c->loop, &c->o.dns, &c->resolver);
    if (st != ST_OK)
        buf_puts(why, "cannot start the resolver: check --resolver and --hosts");
    if (st == ST_OK)
        st = workers_new(WORKERS, WAITING_MAX, &c->workers);
    if (st == ST_OK)
        st = serve_embed(&(struct serve_opts){.data_dir = c->data_dir,
                                              .addr = c->o.addr,
                                              .query_rate = c->o.query_rate,
                                              .is_tls = !c->o.is_plain,
                                              .public_url = c->o.public_url,
                                              .version = c->o.version},
                         &c->serve);
    return st;
}

/* From here on other threads read and change what is there: everything before is done without the lock. */
static status open_doors(struct coord *c, struct buf *why)
{
    status st = start_server(c, why);
    if (st == ST_OK)
        st = admin_new(c, &c->admin, why);
    if (st == ST_OK)
        ingest_start(c->ingest);
    return st;
}

status coord_new(const struct coord_opts *o, struct coord **out, struct buf *why)
{
    status st = check_opts(o, why);
    if (st != ST_OK)
        return st;
    struct coord *c = mem_alloc(sizeof(*c));
    pthread_mutex_init(&c->lock, NULL);
    pthread_rwlock_init(&c->id_lock, NULL);
    keep_opts(c, o);
    st = open_state(c, why);
    if (st == ST_OK)
        st = open_rest(c, why);
    if (st == ST_OK)
        st = channels_adopt(c, why);
    if (st == ST_OK)
        st = channels_tell_again(c, why);
    if (st == ST_OK)
        st = ingest_continue(c->ingest);
    if (st == ST_OK)
        st = open_doors(c, why);
    if (st == ST_OK) {
        *out = c;
    } else {
        if (!why->n)
            buf_puts(why, st == ST_IO ? strerror(errno) : status_name(st));
        coord_free(c);
    }
    return st;
}

status coord_run(struct coord *c)
{
    c->signals = signals_new(c->loop, on_signal, c);
    timer_set(c->tick, 0);
    loop_run(c->loop);
    signals_free(c->signals);
    c->signals = NULL;
    pthread_mutex_lock(&c->lock);
    c->is_stopping = true;
    polls_end(c);
    pthread_mutex_unlock(&c->lock);
    ingest_stop(c->ingest);
    return ST_OK;
}

static void free_agents(struct coord *c)
{
    for (size_t i = 0; i < c->agent_count; i++) {
        struct c_agent *a = c->agents[i];
        if (!a)
            continue;
        if (a->is_dirty && c->fleet)
            save_agent(c, a);
        buf_done(&a->report);
        buf_done(&a->setup);
        buf_done(&a->refuses);
        free(a->rtts);
        free(a);
    }
    free(c->agents);
}

void coord_free(struct coord *c)
{
    if (!c)
        return;
    pthread_mutex_lock(&c->lock);
    c->is_stopping = true;
    polls_end(c);
    pthread_mutex_unlock(&c->lock);
    refresh_free(c->refresh);
    workers_stop(c->workers);
    if (c->serve)
        serve_stop(c->serve);
    admin_free(c->admin);
    if (c->httpd)
        httpd_free(c->httpd);
    serve_free(c->serve);
    workers_free(c->workers);
    resolver_free(c->resolver);
    ingest_free(c->ingest);
    timer_free(c->tick);
    if (c->waker)
        waker_free(c->waker);
    loop_free(c->loop);
    inbox_free(c->inbox);
    if (c->fleet) {
        records_save_again(c);
        diary_save(c);
        freshness_look(c);
        freshness_save(c);
    }
    freshness_free(c);
    recrawling_free(c);
    free_agents(c);
    assign_free(c);
    size_t at = 0;
    for (struct c_channel *ch; (ch = table_next(&c->channels, &at));)
        channel_dispose(ch);
    table_done(&c->channels);
    table_done(&c->domains);
    records_free(c);
    places_free(c->forgotten);
    buf_done(&c->forgotten_list);
    trust_free(c->trust);
    pings_free(c->pings);
    delegator_free(c->delegator);
    cities_done(&c->cities);
    placing_free(c);
    pinning_free(c);
    balancer_free(c->balancer);
    networks_free(c);
    limiter_free(c->strangers);
    limiter_free(c->refusals);
    limiter_free(c->all_refusals);
    fleet_close(c->fleet);
    identity_done(&c->id);
    free((char *)c->o.public_host.p);
    free((char *)c->o.public_url.p);
    free((char *)c->o.version.p);
    free((char *)c->o.dns.server.p);
    free((char *)c->o.dns.hosts.p);
    free(c->data_dir);
    pthread_rwlock_destroy(&c->id_lock);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

int coord_port(const struct coord *c)
{
    return c->httpd ? httpd_port(c->httpd) : c->o.port;
}

int coord_admin_port(const struct coord *c)
{
    return admin_port(c->admin);
}

void coord_fingerprint(const struct coord *c, struct buf *out)
{
    buf_puts(out, c->id.fingerprint_hex);
}

bool coord_admin_link(struct coord *c, struct buf *out)
{
    return admin_link(c->admin, out);
}

/* ---- how far it is ---- */

static void add_agent(const struct coord *c, const struct c_agent *a, struct coord_progress *p)
{
    struct report r;
    struct arena arena;
    arena_init(&arena);
    p->agents++;
    p->agents_there += agent_is_there(c, a);
    p->packages += a->packages;
    p->package_bytes += a->package_bytes;
    p->visits += a->visits;
    /* What one that is away still has may never come. */
    if (a->report.n && agent_is_there(c, a) && report_unpack(&arena, buf_span(&a->report), &r) == ST_OK) {
        p->bytes_crawled += r.bytes_crawled;
        p->bytes_sent += r.bytes_sent;
        p->spooled += r.spool_packages;
        if (r.sequence > a->sequence)
            p->spooled += r.sequence - a->sequence;
    }
    arena_done(&arena);
}

static bool add_tasks(const struct coord *c, struct coord_progress *p)
{
    bool all_done = true;
    for (size_t i = 0; i < c->task_count; i++) {
        const struct c_task *t = c->tasks[i];
        if (!t || t->is_ended)
            continue;
        p->tasks++;
        p->tasks_done += t->progress.state == TASK_DONE;
        p->queued += t->progress.queued;
        p->fetched += t->progress.fetched;
        p->errors += t->progress.errors;
        /* One that was asked to look again may not have said yet that it does. */
        all_done &= t->progress.state == TASK_DONE && !t->is_dirty && !t->channel->recrawl.asked;
    }
    return all_done;
}

void coord_get_progress(struct coord *c, struct coord_progress *out)
{
    struct ingest_stats ingest;
    size_t at = 0;
    *out = (struct coord_progress){0};
    pthread_mutex_lock(&c->lock);
    for (size_t i = 0; i < c->agent_count; i++)
        if (c->agents[i] && c->agents[i]->name[0])
            add_agent(c, c->agents[i], out);
    bool all_done = add_tasks(c, out);
    for (const struct c_host *h; (h = table_next(&c->hosts, &at));) {
        out->hosts++;
        out->hosts_placed += h->state == HOST_PLACED;
    }
    at = 0;
    for (const struct c_network *n; (n = table_next(&c->networks, &at));) {
        out->networks++;
        out->networks_owned += n->state == NETWORK_OWNED;
    }
    out->channels = (unsigned)c->channels.n;
    pthread_mutex_unlock(&c->lock);
    ingest_get_stats(c->ingest, &ingest);
    out->packages_waiting = ingest.waiting;
    out->index_docs = ingest.index_docs;
    out->is_quiet = all_done && out->tasks > 0 && out->hosts == out->hosts_placed &&
                    out->networks == out->networks_owned && !out->spooled && !out->packages_waiting &&
                    ingest.is_searchable;
}
