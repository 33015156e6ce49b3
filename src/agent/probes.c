/* probes.c - the queue of probes and its thread. One probe from start to end:
 *
 *   probes_add      any thread: into the inbox, and the thread is woken
 *   take_in         the job waits for its host (a slot of the lane `hosts`)
 *   begin           one of PROBES_AT_ONCE: resolves the name; the owner's rules are asked; waits for its address (a
 * slot of the lane `addresses`) ask             HEAD: robots.txt, unless its verdict is known, and a pause; then the
 * prober conclude        a result for the next report; host and address rest for a while */
#include "agent/probes.h"

#include <pthread.h>
#include <stdlib.h>

#include "agent/lanes.h"
#include "base/mem.h"
#include "base/siphash.h"
#include "crawl/robots_ask.h"
#include "io/clock.h"
#include "io/entropy.h"
#include "io/prober.h"
#include "web/url.h"

#define RULES_KEPT 1024          /* verdicts of robots.txt */
#define RULES_MS (3600ll * 1000) /* for so long */
#define LAB_GAP_MS 50            /* between two connections of a probe, in the lab */
#define ONE_SAMPLE_GAP_MS 5000   /* a site that wants longer gaps than this is asked once */
#define DEFAULT_PORT 443

struct job {
    struct lane_job lane; /* first: the lanes hand it back */
    struct probes *owner; /* borrowed */
    uint64_t id;
    probe_kind kind;
    unsigned samples;
    int port;
    char *url; /* owned; normalised, or as it came; NULL: only an address */
    struct addr addr;
    struct arena arena; /* of `parsed` */
    struct url parsed;
    struct span host;
    struct lane_slot *host_slot, *addr_slot; /* held */
    struct job *next, *prev;                 /* in the inbox, or under way */
    struct robots_ask *ask;                  /* while robots.txt is asked for */
    struct timer *pause;                     /* owned */
    int64_t gap_ms;
    uint64_t robots_requests, robots_bytes; /* that its robots.txt took */
    bool is_active, was_asked;
};

struct result {
    uint64_t id;
    struct probe_result r;
};

struct probes {
    struct probes_opts o;
    pthread_mutex_t lock; /* down to the next line */
    struct job *inbox, **inbox_end;
    struct result *results; /* owned; oldest first */
    size_t result_count, result_cap;
    size_t jobs; /* taken and not concluded */
    size_t active_count;
    uint64_t done, requests, bytes;
    bool is_paused, is_closing;

    pthread_t thread; /* has_thread: by the caller's thread alone */
    bool has_thread;
    /* of the thread */
    struct loop *loop;
    struct waker *waker;
    struct timer *tick;
    struct resolver *resolver;
    struct fetcher *fetcher; /* of robots.txt */
    struct prober *prober;
    struct lanes hosts, addresses;
    struct job *active; /* owned */
    bool is_changed;    /* since step() began */
    struct sip_key key;
    struct rule {
        uint64_t mark; /* of the URL; 0: free */
        mono_ms at;
        int64_t delay_ms;
        bool is_allowed;
    } rules[RULES_KEPT];
};

static void job_free(struct job *j)
{
    timer_free(j->pause);
    arena_done(&j->arena);
    free(j->url);
    free(j);
}

static void step_soon(struct probes *p)
{
    p->is_changed = true;
    timer_set(p->tick, 0);
}

/* ---- the end ---- */

static bool is_public(const struct job *j)
{
    return addr_classify(&j->addr) == ADDR_PUBLIC && !j->owner->o.in_lab;
}

/* On the owner's own network the owner's pause is enough. */
static int64_t pause_of(const struct job *j)
{
    int64_t delay = j->owner->o.delay_ms;
    return is_public(j) && delay < PROBES_PAUSE_MS ? PROBES_PAUSE_MS : delay;
}

static void unlink_job(struct job *j)
{
    struct probes *p = j->owner;
    *(j->prev ? &j->prev->next : &p->active) = j->next;
    if (j->next)
        j->next->prev = j->prev;
}

/* What all of it took of the owner's line: requests, and bytes by the kind. */
static uint64_t cost_of(const struct job *j, const struct probe_result *r, uint64_t *bytes)
{
    uint64_t samples = r->samples + r->lost;
    uint64_t a_connection = PROBES_TCP_BYTES + (span_is(j->parsed.scheme, "https") ? PROBES_TLS_BYTES : 0);
    uint64_t each = j->kind == PROBE_ICMP ? PROBES_ICMP_BYTES : j->kind == PROBE_HEAD ? a_connection : PROBES_TCP_BYTES;
    *bytes = samples * each + r->head_bytes + j->robots_requests * a_connection + j->robots_bytes;
    return samples + j->robots_requests;
}

static void conclude(struct job *j, const struct probe_result *r)
{
    uint64_t bytes = 0, requests = cost_of(j, r, &bytes);
    struct probes *p = j->owner;
    mono_ms now = loop_now(p->loop);
    pthread_mutex_lock(&p->lock);
    p->results = mem_grow(p->results, &p->result_cap, p->result_count + 1, sizeof(*p->results));
    p->results[p->result_count] = (struct result){j->id, *r};
    p->results[p->result_count].r.kind = j->kind;
    p->result_count++;
    p->jobs--;
    p->active_count -= j->is_active;
    p->done++;
    p->requests += requests;
    p->bytes += bytes;
    pthread_mutex_unlock(&p->lock);
    if (j->addr_slot)
        lane_release(&p->addresses, j->addr_slot, now + (is_public(j) ? PROBES_ADDRESS_MS : 0));
    if (j->host_slot)
        lane_release(&p->hosts, j->host_slot, now + (j->was_asked ? pause_of(j) : 0));
    if (j->is_active)
        unlink_job(j);
    job_free(j);
    step_soon(p);
    p->o.ready(p->o.arg);
}

static void fail(struct job *j, status st)
{
    conclude(j, &(struct probe_result){.st = st, .addr = j->addr});
}

/* ---- asking ---- */

static void refuse(struct job *j, struct span rule)
{
    j->owner->o.note_refused(j->owner->o.arg, j->host, &j->addr, rule);
    fail(j, ST_REFUSED);
}

static void on_probed(void *arg, const struct probe_result *r)
{
    struct job *j = arg;
    if (r->st == ST_CANCELLED)
        return; /* the thread ends, and frees all */
    if (r->st == ST_REFUSED)
        refuse(j, SPAN("own address, or a port that is not asked"));
    else
        conclude(j, r);
}

static void ask(void *arg)
{
    struct job *j = arg;
    j->was_asked = true;
    if (j->owner->o.in_lab && j->gap_ms == 0)
        j->gap_ms = LAB_GAP_MS;
    prober_start(j->owner->prober, &(struct probe_req){.kind = j->kind,
                                                       .addr = j->addr,
                                                       .port = j->port,
                                                       .url = span_str(j->url),
                                                       .samples = j->samples,
                                                       .gap_ms = (int)j->gap_ms,
                                                       .done = on_probed,
                                                       .arg = j});
}

/* ---- robots.txt, before a HEAD ---- */

static void apply_rule(struct job *j, const struct rule *rule, int64_t pause_ms)
{
    if (!rule->is_allowed) {
        fail(j, ST_REFUSED);
        return;
    }
    if (rule->delay_ms > j->gap_ms)
        j->gap_ms = rule->delay_ms > PROBES_CRAWL_DELAY_MS ? PROBES_CRAWL_DELAY_MS : rule->delay_ms;
    if (j->gap_ms > ONE_SAMPLE_GAP_MS)
        j->samples = 1;
    if (pause_ms < 0) {
        ask(j);
        return;
    }
    j->pause = timer_new(j->owner->loop, ask, j);
    timer_set(j->pause, j->gap_ms);
}

static void on_robots(void *arg, status st, struct robots *rules, const char *why)
{
    struct job *j = arg;
    struct probes *p = j->owner;
    j->ask = NULL;
    if (st == ST_CANCELLED)
        return;
    if (st != ST_OK) {
        fail(j, st);
        return;
    }
    uint64_t mark = siphash(&p->key, span_str(j->url)) | 1;
    struct rule *rule = &p->rules[mark / 2 % RULES_KEPT];
    *rule = (struct rule){.mark = mark,
                          .at = loop_now(p->loop),
                          .delay_ms = robots_crawl_delay_ms(rules),
                          .is_allowed = robots_check(rules, url_request_target(&j->parsed)).allowed};
    robots_free(rules);
    apply_rule(j, rule, 0);
}

static bool may_use(void *arg, const struct addr *addr)
{
    struct job *j = arg;
    return !gate_is_refused(j->owner->o.gate, addr, NULL);
}

static void ask_robots(struct job *j)
{
    struct probes *p = j->owner;
    uint64_t mark = siphash(&p->key, span_str(j->url)) | 1;
    const struct rule *rule = &p->rules[mark / 2 % RULES_KEPT];
    j->gap_ms = pause_of(j);
    if (rule->mark == mark && loop_now(p->loop) - rule->at < RULES_MS) {
        apply_rule(j, rule, -1);
        return;
    }
    j->was_asked = true;
    j->ask = robots_ask_start(&(struct robots_ask_opts){.loop = p->loop,
                                                        .resolver = p->resolver,
                                                        .fetcher = p->fetcher,
                                                        .user_agent = p->o.user_agent,
                                                        .pause_ms = j->gap_ms,
                                                        .may_use = may_use,
                                                        .requests = &j->robots_requests,
                                                        .bytes = &j->robots_bytes,
                                                        .done = on_robots,
                                                        .arg = j},
                              span_str(j->url), &j->addr);
}

/* ---- the address ---- */

static void on_address_free(struct job *j)
{
    if (j->kind == PROBE_HEAD)
        ask_robots(j);
    else
        ask(j);
}

static void have_address(struct job *j)
{
    struct probes *p = j->owner;
    struct span rule;
    j->addr = addr_unmapped(&j->addr);
    if (gate_is_refused(p->o.gate, &j->addr, &rule)) {
        refuse(j, rule);
        return;
    }
    uint64_t key = siphash(&p->key, span_of(&j->addr, sizeof(j->addr)));
    lane_wait(&p->addresses, key, loop_now(p->loop), &j->lane);
    step_soon(p);
}

static void on_resolved(void *arg, const struct resolved *r)
{
    struct job *j = arg;
    if (r->st == ST_CANCELLED)
        return;
    if (r->st != ST_OK) {
        fail(j, r->st);
        return;
    }
    j->addr = r->addrs[0];
    have_address(j);
}

static void begin(struct job *j)
{
    struct probes *p = j->owner;
    j->prev = NULL;
    j->next = p->active;
    if (j->next)
        j->next->prev = j;
    p->active = j;
    j->is_active = true;
    pthread_mutex_lock(&p->lock);
    p->active_count++;
    pthread_mutex_unlock(&p->lock);
    if (j->addr.family)
        have_address(j);
    else
        resolver_lookup(p->resolver, j->host, on_resolved, j);
}

/* ---- the thread ---- */

/* What was asked, as far as it makes sense. */
static status understand(struct job *j, struct span address)
{
    struct url typed;
    if (address.n && addr_parse(address, &j->addr) != ST_OK)
        return ST_INVALID;
    if (!j->url) {
        j->host = address;
        j->port = j->port ? j->port : DEFAULT_PORT;
        return j->addr.family && j->kind != PROBE_HEAD ? ST_OK : ST_INVALID;
    }
    if (strlen(j->url) > PROBES_URL_MAX)
        return ST_LIMIT;
    if (url_parse(&j->arena, span_str(j->url), NULL, &typed) != ST_OK || !url_is_http(&typed))
        return ST_INVALID;
    status st = url_normalise(&j->arena, &typed, &(struct url_norm){0}, PROBES_URL_MAX, &j->parsed);
    if (st != ST_OK)
        return st;
    free(j->url);
    j->url = mem_str(j->parsed.href);
    j->host = j->parsed.host;
    j->port = j->port ? j->port : j->parsed.port;
    return ST_OK;
}

static struct job *job_of(struct probes *p, const struct probe_ask *a)
{
    struct job *j = mem_alloc(sizeof(*j));
    j->owner = p;
    j->id = a->id;
    j->kind = a->kind >= PROBE_TCP && a->kind <= PROBE_ICMP ? (probe_kind)a->kind : PROBE_TCP;
    j->samples = a->samples;
    j->port = a->port;
    arena_init(&j->arena);
    /* One that is too long stays too long; one with a NUL in it is none. */
    bool is_text = a->url.n && !memchr(a->url.p, '\0', a->url.n);
    j->url = a->url.n ? mem_str(span_cut(a->url, 0, is_text ? PROBES_URL_MAX + 1 : 0)) : NULL;
    j->host = arena_copy(&j->arena, span_cut(a->address, 0, ADDR_TEXT_MAX)); /* until it is understood */
    return j;
}

static void take_in(struct probes *p)
{
    pthread_mutex_lock(&p->lock);
    struct job *j = p->inbox;
    p->inbox = NULL;
    p->inbox_end = &p->inbox;
    pthread_mutex_unlock(&p->lock);
    while (j) {
        struct job *next = j->next;
        status st = understand(j, j->host);
        if (st == ST_OK && j->url && places_find(p->o.refused, &j->parsed))
            refuse(j, SPAN("refuse-site"));
        else if (st == ST_OK)
            lane_wait(&p->hosts, siphash(&p->key, j->host), loop_now(p->loop), &j->lane);
        else
            fail(j, st);
        j = next;
    }
}

static bool may_begin(struct probes *p)
{
    pthread_mutex_lock(&p->lock);
    bool may = !p->is_paused && p->active_count < PROBES_AT_ONCE;
    pthread_mutex_unlock(&p->lock);
    return may;
}

/* Whoever may go on does; sets the timer for the next who will. */
static void step(void *arg)
{
    struct probes *p = arg;
    mono_ms now = loop_now(p->loop), next, due;
    struct lane_job *l;
    p->is_changed = false;
    while ((l = lane_next(&p->addresses, now, true, &due))) {
        struct job *j = (struct job *)l;
        j->addr_slot = l->slot;
        on_address_free(j);
    }
    next = due;
    while ((l = lane_next(&p->hosts, now, may_begin(p), &due))) {
        struct job *j = (struct job *)l;
        j->host_slot = l->slot;
        begin(j);
    }
    next = due < next ? due : next;
    if (!p->is_changed && next != MONO_NEVER)
        timer_set(p->tick, next > now ? next - now : 0);
}

static void on_wake(void *arg)
{
    struct probes *p = arg;
    pthread_mutex_lock(&p->lock);
    bool is_closing = p->is_closing;
    pthread_mutex_unlock(&p->lock);
    if (is_closing) {
        loop_stop(p->loop);
        return;
    }
    take_in(p);
    step(p);
}

static void *run(void *arg)
{
    struct probes *p = arg;
    loop_run(p->loop);
    return NULL;
}

static void close_all(struct probes *p)
{
    struct lane_job *l;
    struct job *j;
    if (!p->loop)
        return;
    prober_free(p->prober);
    fetcher_free(p->fetcher);
    resolver_free(p->resolver);
    while ((j = p->active)) {
        unlink_job(j);
        robots_ask_free(j->ask);
        if (!j->lane.is_waiting)
            job_free(j);
    }
    while ((l = lanes_drain(&p->addresses)))
        job_free((struct job *)l);
    while ((l = lanes_drain(&p->hosts)))
        job_free((struct job *)l);
    lanes_done(&p->hosts);
    lanes_done(&p->addresses);
    timer_free(p->tick);
    waker_free(p->waker);
    loop_free(p->loop);
    p->loop = NULL;
}

static status open_all(struct probes *p)
{
    const struct probes_opts *o = &p->o;
    const struct fetcher_opts fetch = {.user_agent = o->user_agent,
                                       .ca_file = o->ca_file,
                                       .allow_private = o->allow_private,
                                       .body_bytes_max = ROBOTS_BYTES_MAX,
                                       .connections_max = PROBES_AT_ONCE,
                                       .log = o->log};
    const struct prober_opts probe = {.allow_private = o->allow_private,
                                      .user_agent = o->user_agent,
                                      .ca_file = o->ca_file,
                                      .at_once = PROBES_AT_ONCE};
    status st = entropy_draw(&p->key, sizeof(p->key));
    if (st != ST_OK)
        return st;
    p->loop = loop_new();
    p->waker = waker_new(p->loop, on_wake, p);
    p->tick = timer_new(p->loop, step, p);
    st = resolver_new(p->loop, &o->dns, &p->resolver);
    if (st == ST_OK)
        st = fetcher_new(p->loop, &fetch, &p->fetcher);
    if (st == ST_OK)
        st = prober_new(p->loop, &probe, &p->prober);
    if (st == ST_OK && pthread_create(&p->thread, NULL, run, p) != 0)
        st = ST_IO;
    p->has_thread = st == ST_OK;
    if (st != ST_OK)
        close_all(p);
    return st;
}

/* ---- from other threads ---- */

struct probes *probes_new(const struct probes_opts *o)
{
    struct probes *p = mem_alloc(sizeof(*p));
    p->o = *o;
    p->inbox_end = &p->inbox;
    p->is_paused = true;
    pthread_mutex_init(&p->lock, NULL);
    return p;
}

void probes_free(struct probes *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->is_closing = true;
    pthread_mutex_unlock(&p->lock);
    if (p->has_thread) {
        waker_wake(p->waker);
        pthread_join(p->thread, NULL);
    }
    close_all(p);
    for (struct job *j = p->inbox, *next; j; j = next) {
        next = j->next;
        job_free(j);
    }
    free(p->results);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

status probes_add(struct probes *p, const struct probe_order *o, struct buf *why)
{
    status st = p->has_thread ? ST_OK : open_all(p);
    size_t taken = 0;
    if (st != ST_OK)
        return st;
    pthread_mutex_lock(&p->lock);
    for (; taken < o->probe_count && p->jobs + p->result_count < PROBES_MAX; taken++) {
        struct job *j = job_of(p, &o->probes[taken]);
        *p->inbox_end = j;
        p->inbox_end = &j->next;
        p->jobs++;
    }
    pthread_mutex_unlock(&p->lock);
    waker_wake(p->waker);
    if (taken == o->probe_count)
        return ST_OK;
    buf_printf(why, "only %zu of %zu probes are taken: %d wait", taken, o->probe_count, PROBES_MAX);
    return ST_LIMIT;
}

void probes_pause(struct probes *p, bool is_paused)
{
    pthread_mutex_lock(&p->lock);
    bool is_over = p->is_paused && !is_paused;
    p->is_paused = is_paused;
    pthread_mutex_unlock(&p->lock);
    if (is_over && p->has_thread)
        waker_wake(p->waker);
}

bool probes_are_under_way(struct probes *p)
{
    pthread_mutex_lock(&p->lock);
    bool are = p->is_paused ? p->active_count > 0 : p->jobs > 0;
    pthread_mutex_unlock(&p->lock);
    return are;
}

void probes_get_counts(struct probes *p, struct probes_counts *out)
{
    pthread_mutex_lock(&p->lock);
    *out = (struct probes_counts){.done = p->done,
                                  .requests = p->requests,
                                  .bytes = p->bytes,
                                  .waiting = p->jobs - p->active_count,
                                  .under_way = p->active_count,
                                  .results = p->result_count};
    pthread_mutex_unlock(&p->lock);
}

struct probe_report *probes_results(struct probes *p, struct arena *a, size_t *count)
{
    pthread_mutex_lock(&p->lock);
    size_t n = p->result_count < PROBES_A_REPORT ? p->result_count : PROBES_A_REPORT;
    struct probe_report *out = arena_alloc(a, (n + 1) * sizeof(*out));
    for (size_t i = 0; i < n; i++) {
        const struct probe_result *r = &p->results[i].r;
        char text[ADDR_TEXT_MAX] = "";
        if (r->addr.family)
            addr_format(&r->addr, text);
        out[i] = (struct probe_report){.id = p->results[i].id,
                                       .st = r->st,
                                       .kind = r->kind,
                                       .address = arena_copy(a, span_str(text)),
                                       .samples = r->samples,
                                       .lost = r->lost,
                                       .min_us = r->min_us,
                                       .median_us = r->median_us,
                                       .server_us = r->server_us};
    }
    *count = n;
    pthread_mutex_unlock(&p->lock);
    return out;
}

void probes_told(struct probes *p, size_t n)
{
    pthread_mutex_lock(&p->lock);
    if (n > p->result_count)
        n = p->result_count;
    if (n)
        memmove(p->results, p->results + n, (p->result_count - n) * sizeof(*p->results));
    p->result_count -= n;
    pthread_mutex_unlock(&p->lock);
}
