/* frontier.c - adding, lending and taking back. The structures are in frontier_internal.h, hosts in frontier_host.c. */
#include "plan/frontier.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "plan/frontier_internal.h"

#define ROBOTS_FAILING_MAX_MS (30ll * 86400 * 1000) /* RFC 9309 2.3.1.4: after that, as if there were none */

struct frontier *frontier_new(const struct frontier_opts *opts)
{
    struct frontier *f = mem_alloc(sizeof(*f));
    f->o = *opts;
    if (!f->o.memory_max)
        f->o.memory_max = 64u << 20;
    if (!f->o.site_pages_max)
        f->o.site_pages_max = 1000000;
    rng_seed(&f->rng, opts->seed);
    f->next_lease = f->silence = 1;
    return f;
}

static void lent_free(struct frontier *f, struct lent *l)
{
    l->host->lent--;
    table_remove(&f->lent, l->id);
    entry_free(f, l->entry);
    free(l);
}

void frontier_free(struct frontier *f)
{
    if (!f)
        return;
    size_t at = 0;
    for (struct lent *l; (l = table_next(&f->lent, &at));) {
        entry_free(f, l->entry);
        if (l->ip) {
            l->ip->flight--;
            l->ip->net->flight--;
        }
        free(l);
    }
    table_done(&f->lent);
    f->unresolved = f->unresolved_last = NULL;
    for (;;) {
        at = 0;
        struct host *h = table_next(&f->hosts, &at);
        if (!h)
            break;
        host_destroy(f, h);
    }
    /* Addresses that a host left while a request was under way. */
    at = 0;
    for (struct ip *ip; (ip = table_next(&f->ips, &at)); at = 0)
        ip_release(f, ip);
    table_done(&f->hosts);
    table_done(&f->ips);
    table_done(&f->net_table);
    table_done(&f->skips);
    at = 0;
    for (struct tally *t; (t = table_next(&f->tallies, &at));)
        free(t);
    table_done(&f->tallies);
    free(f->held);
    free(f->shared);
    heap_done(&f->nets);
    free(f);
}

frontier_refusal frontier_add(struct frontier *f, mono_ms now, const struct frontier_url *u)
{
    struct host *h = host_find(f, u->url->host);
    if (!h)
        h = host_make(f, u->url->host);
    struct arena scratch;
    arena_init(&scratch);
    int site = host_site(f, h, url_site(&scratch, u->url));
    arena_done(&scratch);

    frontier_refusal refused = FRONTIER_OK;
    if (site < 0 || (!u->is_known && h->taken >= f->o.site_pages_max)) {
        refused = FRONTIER_SITE_FULL;
    } else if (u->is_known) {
        refused = FRONTIER_OK; /* it was weighed and counted when it was new */
    } else if (trap_repeats(u->url->path)) {
        refused = FRONTIER_TRAP_REPEATS;
    } else if (u->url->has_query) {
        if (!h->variants)
            h->variants = trap_new();
        if (trap_count(h->variants, f->o.key, u->url->path) >= TRAP_VARIANTS_MAX)
            refused = FRONTIER_TRAP_VARIANTS;
    }
    if (refused != FRONTIER_OK) {
        h->traps++;
        f->traps++;
        return refused;
    }
    struct entry *e = entry_make(f, url_request_target(u->url), u->etag, u->last_modified);
    e->key = u->key;
    e->channel = u->channel;
    e->depth = (uint16_t)(u->depth < UINT16_MAX ? u->depth : UINT16_MAX);
    e->hops = (uint8_t)(u->hops < UINT8_MAX ? u->hops : UINT8_MAX);
    e->site = (uint8_t)site;
    e->is_known = u->is_known;
    h->taken += !u->is_known;
    if (u->is_known && f->skips.n) /* wanted again, whatever a replay said of the last visit */
        (void)table_remove(&f->skips, u->key);
    url_came(f, h, u->channel, 1);
    if (u->is_urgent)
        list_prepend(&h->head, e);
    else
        queue_append(f, h, e);
    host_update(f, h);
    return FRONTIER_OK;
}

void frontier_skip(struct frontier *f, uint64_t key)
{
    table_put(&f->skips, key, f);
}

static void purge_host(struct frontier *f, struct host *h)
{
    struct entry_list kept = {0};
    bool any = true;
    while (any) {
        struct entry *e = NULL;
        any = false;
        while ((e = list_pop(&h->head))) {
            if (table_remove(&f->skips, e->key)) {
                url_went(f, h, e->channel, 1);
                entry_free(f, e);
                any = true;
            } else {
                list_append(&kept, e);
            }
        }
        /* What was done since the checkpoint stood in front: a chunk without a hit ends the search. */
        if (any && queue_peek(f, h, &e) != ST_OK)
            break;
        any = any && e;
    }
    while (h->head.n)
        list_append(&kept, list_pop(&h->head));
    h->head = kept;
    host_update(f, h);
}

void frontier_purge(struct frontier *f)
{
    size_t at = 0;
    for (struct host *h; f->skips.n && (h = table_next(&f->hosts, &at));)
        purge_host(f, h);
}

bool frontier_next_unresolved(struct frontier *f, mono_ms now, struct span *host, unsigned *attempt)
{
    struct host *h = f->unresolved;
    if (!h)
        return false;
    f->unresolved = h->next_unresolved;
    if (!f->unresolved)
        f->unresolved_last = NULL;
    h->state = HOST_RESOLVING;
    *host = span_of(h->name, h->name_len);
    *attempt = h->failures;
    return true;
}

void frontier_resolved(struct frontier *f, mono_ms now, struct span host, status st, const struct addr *addr,
                       mono_ms expires, unsigned choices)
{
    struct host *h = host_find(f, host);
    if (!h || h->state == HOST_READY)
        return;
    host_unlist(f, h);
    if (st != ST_OK) {
        struct frontier_result r = {.st = st, .retry_after_ms = -1};
        host_failed(f, h, now, &r);
        h->addr_expires = 0; /* ask again when the back-off is over */
        if (!h->ip) {
            /* A host must hang somewhere to wake up after its back-off: the null address. */
            const struct addr none = {0};
            host_attach(f, h, &none);
        }
    } else {
        host_attach(f, h, addr);
        h->addr_expires = expires;
        h->addr_choices = choices;
    }
    h->state = HOST_READY;
    host_repace(f, h);
    host_update(f, h);
}

/* ---- lending ---- */

static struct lent *lend(struct frontier *f, struct host *h, lease_kind kind, unsigned site, struct entry *e)
{
    struct span prefix = site_span(&h->sites[site]);
    struct span target = kind == LEASE_ROBOTS ? SPAN("/robots.txt") : span_of(e->text, e->target_len);
    struct lent *l = mem_alloc(sizeof(*l) + prefix.n + target.n + 1);
    memcpy(l->url, prefix.p, prefix.n);
    memcpy(l->url + prefix.n, target.p, target.n);
    l->id = f->next_lease++;
    l->kind = kind;
    l->host = h;
    l->entry = e;
    l->site = site;
    l->failures = h->failures_total;
    h->lent++;
    table_put(&f->lent, l->id, l);
    return l;
}

static void count_request(struct frontier *f, struct lent *l, mono_ms now)
{
    struct host *h = l->host;
    struct ip *ip = h->ip;
    struct net *net = ip->net;
    l->ip = ip;
    h->flight++;
    h->requests++;
    ip->flight++;
    net->flight++;
    pace_asked(&h->borne, now, h->next_ok);
    if (h->pace.delay_ms > 0)
        h->next_ok = now + h->pace.delay_ms;
    if (h->pace.has_floors) {
        ip->next_ok = now + 1000 / pace_shared(&f->o.pace, f->o.pace.addr_per_s, (unsigned)ip->domains.n);
        unsigned per_s = pace_shared(&f->o.pace, f->o.pace.network_per_s, (unsigned)net->domains.n);
        net->next_ok = now + 1000 / share_of_limit(f, net, per_s);
    }
    /* Taken out first, so that among equals everybody else has a turn before this one. */
    heap_remove(&ip->hosts, &h->node);
    heap_remove(&net->ips, &ip->node);
    heap_remove(&f->nets, &net->node);
    host_update(f, h);
}

static void describe(const struct lent *l, struct lease *out)
{
    const struct host *h = l->host;
    *out = (struct lease){.id = l->id,
                          .kind = l->kind,
                          .url = span_str(l->url),
                          .host = span_of(h->name, h->name_len),
                          .site = site_span(&h->sites[l->site])};
    if (h->ip)
        out->addr = h->ip->addr;
    const struct entry *e = l->entry;
    if (e) {
        out->key = e->key;
        out->channel = e->channel;
        out->depth = e->depth;
        out->hops = e->hops;
        out->tries = e->tries;
        out->is_known = e->is_known;
        out->etag = span_of(e->text + e->target_len, e->etag_len);
        out->last_modified = span_of(e->text + e->target_len + e->etag_len, e->modified_len);
    }
}

static void lend_robots(struct frontier *f, struct host *h, unsigned site, mono_ms now, struct lease *out)
{
    struct lent *l = lend(f, h, LEASE_ROBOTS, site, NULL);
    h->has_robots_lent = true;
    count_request(f, l, now);
    describe(l, out);
}

/* One step with the host that is due: true when something was lent. */
static status lend_from(struct frontier *f, struct host *h, mono_ms now, struct lease *out, bool *lent)
{
    *lent = false;
    if (h->addr_expires <= now) {
        host_want_addr(f, h);
        host_update(f, h);
        return ST_OK;
    }
    struct entry *e = NULL;
    status st = queue_peek(f, h, &e);
    if (st != ST_OK)
        return st;
    if (!e) { /* runs held less than they said */
        h->put_away = 0;
        shares_recount(f, h);
        host_update(f, h);
        return ST_OK;
    }
    /* A site number past the list means a damaged run: its URL cannot be rebuilt. */
    if (e->site >= h->site_count || (f->skips.n && table_remove(&f->skips, e->key))) {
        url_went(f, h, e->channel, 1);
        entry_free(f, queue_pop(f, h));
        host_update(f, h);
        return ST_OK;
    }
    const struct site *site = &h->sites[e->site];
    int other = site_is_away(site, now) && !h->successes ? host_other_site(h, e->site, now) : -1;
    if (other >= 0) { /* whether the host is there at all */
        lend_robots(f, h, (unsigned)other, now, out);
    } else if (site_is_away(site, now)) {
        describe(lend(f, h, LEASE_UNREACHABLE, e->site, queue_pop(f, h)), out);
        out->failure = site->last_failure;
        host_update(f, h);
    } else if (!site->rules || site->rules_expire <= now) {
        lend_robots(f, h, e->site, now, out);
    } else {
        struct robots_verdict v = robots_check(site->rules, span_of(e->text, e->target_len));
        struct lent *l = lend(f, h, v.allowed ? LEASE_PAGE : LEASE_REFUSED, e->site, queue_pop(f, h));
        if (v.allowed)
            count_request(f, l, now);
        else
            host_update(f, h);
        describe(l, out);
        out->rule = v.rule;
    }
    *lent = true;
    return ST_OK;
}

status frontier_take(struct frontier *f, mono_ms now, struct lease *out, mono_ms *wake)
{
    for (;;) {
        const struct heap_node *top = heap_top(&f->nets);
        if (!top || top->key > now) {
            *wake = top ? top->key : MONO_NEVER;
            return ST_AGAIN;
        }
        struct net *net = CONTAINER_OF(top, struct net, node);
        struct ip *ip = CONTAINER_OF(heap_top(&net->ips), struct ip, node);
        struct host *h = CONTAINER_OF(heap_top(&ip->hosts), struct host, node);
        bool lent;
        status st = lend_from(f, h, now, out, &lent);
        if (st != ST_OK || lent)
            return st;
    }
}

/* ---- taking back ---- */

static struct lent *lent_get(struct frontier *f, uint64_t id)
{
    struct lent *l = table_get(&f->lent, id);
    assert(l);
    return l;
}

static void uncount_request(struct frontier *f, struct lent *l)
{
    struct ip *ip = l->ip;
    if (!ip)
        return;
    l->ip = NULL;
    l->host->flight--;
    ip->flight--;
    ip->net->flight--;
    ip_update(f, ip);
    ip_release(f, ip);
}

static void take_back(struct frontier *f, struct lent *l, bool at_front)
{
    struct entry *e = l->entry;
    l->entry = NULL;
    if (e && at_front)
        list_prepend(&l->host->head, e);
    else if (e)
        queue_append(f, l->host, e);
}

static bool says_slow_down(const struct frontier_result *r)
{
    return r->st == ST_OK && (r->http_status == 429 || r->http_status == 503);
}

static bool is_host_failure(const struct frontier_result *r)
{
    return r->st == ST_DNS || r->st == ST_CONNECT || r->st == ST_TLS || r->st == ST_TIMEOUT || r->st == ST_REFUSED;
}

static bool concerns_host(const struct frontier_result *r)
{
    return is_host_failure(r) || says_slow_down(r);
}

/* Another page would have fared the same. After other failures another one has its turn: it tells whether that is the
 * page or the host. */
static bool keeps_its_place(const struct frontier_result *r)
{
    return says_slow_down(r) && (r->http_status == 429 || r->retry_after_ms >= 0);
}

/* It was under way when the host failed: that they both did is one failure. Sixteen requests that meet the same
 * restart, or the same limit of a server, must not look like a host that was tried sixteen times. */
static bool is_same_failure(const struct lent *l)
{
    return l->failures != l->host->failures_total;
}

static bool retries(const struct frontier *f, const struct lent *l, const struct frontier_result *r)
{
    if (l->kind != LEASE_PAGE || l->is_dropped)
        return false;
    /* An answer that was cut off or garbled may be whole the next time, as one of a server in trouble may be good. */
    bool is_server_error = r->st == ST_PROTOCOL || (r->st == ST_OK && r->http_status >= 500);
    if (r->is_half && (l->entry->etag_len || l->entry->modified_len))
        return true;
    bool gives_up = l->host->is_given_up || (!is_same_failure(l) && host_gives_up(l->host, r));
    if (failure_is_our_line(f, l->host, r) || (concerns_host(r) && gives_up))
        return true;
    return (concerns_host(r) || is_server_error) && l->entry->tries + 1 < FRONTIER_TRIES_MAX;
}

bool frontier_would_retry(struct frontier *f, uint64_t lease, const struct frontier_result *r)
{
    return retries(f, lent_get(f, lease), r);
}

bool frontier_done(struct frontier *f, mono_ms now, uint64_t lease, const struct frontier_result *r)
{
    struct lent *l = lent_get(f, lease);
    struct host *h = l->host;
    bool again = retries(f, l, r), is_line = failure_is_our_line(f, h, r);
    if (l->kind == LEASE_PAGE) {
        if (!is_line && failure_is_of_site(h, l->site, now, r))
            site_failed(&h->sites[l->site], now, r->st);
        else if (concerns_host(r) && !is_line && is_same_failure(l))
            host_failed_again(f, h, now, r);
        else if (concerns_host(r) && (is_line || !failure_is_of_page(h, l->entry, r)))
            host_failed(f, h, now, r);
        else if (r->st == ST_OK && !concerns_host(r))
            host_answered(f, h, now, r, is_same_failure(l));
        if (r->st == ST_OK)
            site_answered(&h->sites[l->site]);
        host_rest(f, h, now);
        l->entry->tries += !is_line;
        if (again && r->is_half)
            entry_drop_conditions(f, l->entry);
        if (again)
            take_back(f, l, is_line || h->is_given_up || r->is_half || keeps_its_place(r));
    }
    if (!again)
        url_went(f, h, l->entry->channel, 1);
    uncount_request(f, l);
    lent_free(f, l);
    host_update(f, h);
    return again;
}

void frontier_robots(struct frontier *f, mono_ms now, wall_ms wall, uint64_t lease, struct robots *rules,
                     int64_t ttl_ms, const struct frontier_result *r)
{
    struct lent *l = lent_get(f, lease);
    struct host *h = l->host;
    struct site *s = &h->sites[l->site];
    assert(l->kind == LEASE_ROBOTS);
    h->has_robots_lent = false;
    if (!rules && s->failing_since && wall - s->failing_since > ROBOTS_FAILING_MAX_MS)
        rules = robots_all(true);
    if (rules) {
        site_set_rules(f, s, rules, now + ttl_ms);
        s->failing_since = 0;
        host_answered(f, h, now, r, is_same_failure(l));
    } else {
        bool is_line = failure_is_our_line(f, h, r);
        if (!s->failing_since && !is_line)
            s->failing_since = wall;
        if (!is_line && failure_is_of_site(h, l->site, now, r))
            site_failed(s, now, r->st);
        else
            host_failed(f, h, now, r);
    }
    if (r->st == ST_OK)
        site_answered(s);
    host_rest(f, h, now);
    uncount_request(f, l);
    lent_free(f, l);
    host_update(f, h);
}

/* ---- the whole ---- */

void frontier_counts(const struct frontier *f, mono_ms now, struct frontier_counts *out)
{
    *out = (struct frontier_counts){.urls = f->urls,
                                    .rests_until = MONO_NEVER,
                                    .lent = f->lent.n,
                                    .hosts = f->hosts.n,
                                    .traps = f->traps,
                                    .memory = f->memory,
                                    .url_memory = f->url_memory};
    size_t at = 0;
    for (struct tally *t; (t = table_next(&f->tallies, &at));)
        t->given_up = 0;
    at = 0;
    for (const struct host *h; (h = table_next(&f->hosts, &at));) {
        if (h->is_given_up) {
            out->hosts_given_up++;
            out->urls_given_up += host_queued(h);
            for (size_t i = 0; i < h->share_count; i++)
                h->shares[i].of->given_up += h->shares[i].urls;
        } else if (h->failures && h->next_ok > now) {
            out->hosts_waiting++;
            if (h->next_ok < out->rests_until)
                out->rests_until = h->next_ok;
        }
        out->slowed += h->pace.crawl_delay_cut;
    }
}

bool frontier_is_idle(const struct frontier *f)
{
    return f->lent.n == 0 && !f->unresolved && !heap_top(&f->nets);
}

void frontier_rest(struct frontier *f, mono_ms now)
{
    size_t at = 0;
    for (struct host *h; (h = table_next(&f->hosts, &at));) {
        host_rest(f, h, now);
        host_update(f, h);
    }
}
