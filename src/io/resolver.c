/* One lookup: a literal, a localhost name or a name of the hosts text is answered from memory; else the cache is asked,
 * and what is not in it or too old becomes a query of c-ares. An entry under way collects those who wait for it.
 * c-ares' answer only fills in the entry; callers are told from deliver(), outside c-ares, where they may do as they
 * like. */
#include "io/resolver.h"

#include <ares.h>
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/siphash.h"
#include "base/table.h"
#include "io/clock.h"
#include "io/loop_uv.h"
#include "io/sockaddr.h"

#define NAME_BYTES_MAX 253
#define CACHE_NAMES 100000
#define TTL_MIN_MS 30000
#define TTL_MAX_MS 86400000
#define FAILURE_MS 30000
#define TRY_MS 5000
#define TRIES 3
#define TICK_MS 250                 /* how often c-ares looks for queries that took too long */
#define HOSTS_BYTES_MAX (16u << 20) /* of the system's hosts file */
#define DNS_PORT 53

struct waiter {
    struct waiter *next;
    struct entry *entry; /* borrowed, pinned while this waits; NULL: `answer` is the answer */
    resolver_fn *fn;
    void *arg;              /* borrowed */
    struct resolved answer; /* used without an entry */
};

struct entry {
    uint64_t key;
    char *name;         /* owned; lower case, no final dot */
    struct addr *addrs; /* owned */
    uint8_t count;
    status st;
    bool is_pending, is_used; /* is_used: since the hand of the clock last passed */
    unsigned pins;            /* waiters on the ready list */
    mono_ms expires;
    int64_t started_us, took_us;
    size_t ring_at;
    struct waiter *waiters; /* owned; while pending */
    struct resolver *owner; /* borrowed */
};

struct host {
    struct addr addrs[RESOLVER_ADDRS_MAX];
    unsigned count;
    char *name; /* owned */
};

struct watch {
    uv_poll_t poll;
    struct resolver *owner; /* borrowed */
    struct watch *next;
    ares_socket_t fd;
};

struct resolver {
    struct loop *loop; /* borrowed */
    ares_channel channel;
    struct timer *ready_timer, *tick_timer; /* owned */
    struct table entries, hosts;            /* owned */
    struct entry **ring;                    /* all entries, for the clock hand */
    size_t ring_n, ring_cap, hand;
    struct waiter *ready, **ready_end; /* owned */
    struct watch *watches;             /* owned; a handful */
    struct sip_key key;
    size_t cache_names, pending;
    int64_t ttl_min_ms, ttl_max_ms, tick_ms;
    bool prefer_ipv6, is_ticking, is_closing;
    bool *freed; /* on the stack of deliver() */
};

/* Names. */

/* Lower case, without the final dot, NUL-terminated; false when it can be no host name. */
static bool name_of(struct span host, char to[NAME_BYTES_MAX + 1])
{
    if (host.n && host.p[host.n - 1] == '.')
        host.n--;
    if (host.n == 0 || host.n > NAME_BYTES_MAX || host.p[host.n - 1] == '.') /* c-ares would ask for a.. as a */
        return false;
    for (size_t i = 0; i < host.n; i++) {
        unsigned char c = (unsigned char)host.p[i];
        if (c <= ' ' || c >= 0x7f || c == '\\' || (c == '.' && (i == 0 || host.p[i - 1] == '.')))
            return false;
        to[i] = ascii_lower(host.p[i]);
    }
    to[host.n] = '\0';
    return true;
}

static bool is_localhost(struct span name)
{
    return span_is(name, "localhost") || span_ends(name, SPAN(".localhost"));
}

static bool has_addr(const struct resolved *r, const struct addr *a)
{
    for (unsigned i = 0; i < r->count; i++)
        if (addr_eq(&r->addrs[i], a))
            return true;
    return false;
}

/* The preferred family first; within one, the order is kept. */
static void add_addrs(const struct resolver *r, const struct addr *from, unsigned n, struct resolved *to)
{
    for (int pass = 0; pass < 2; pass++) {
        uint8_t family = (pass == 0) == r->prefer_ipv6 ? 6 : 4;
        for (unsigned i = 0; i < n && to->count < RESOLVER_ADDRS_MAX; i++)
            if (from[i].family == family && !has_addr(to, &from[i]))
                to->addrs[to->count++] = from[i];
    }
}

static bool answer_literal(const struct resolver *r, struct span host, struct resolved *out)
{
    struct addr a;
    if (addr_parse(host, &a) != ST_OK)
        return false;
    a = addr_unmapped(&a);
    *out = (struct resolved){.st = ST_OK, .expires = MONO_NEVER};
    add_addrs(r, &a, 1, out);
    return true;
}

static bool answer_host(const struct resolver *r, struct span name, struct resolved *out)
{
    static const struct addr loopback[2] = {{4, {127, [3] = 1}}, {6, {[15] = 1}}};
    const struct host *h = table_get(&r->hosts, siphash(&r->key, name));
    bool is_known = h && span_is(name, h->name);
    if (!is_known && !is_localhost(name))
        return false;
    *out = (struct resolved){.st = ST_OK, .expires = MONO_NEVER};
    if (is_known)
        add_addrs(r, h->addrs, h->count, out);
    else
        add_addrs(r, loopback, 2, out);
    return true;
}

static void answer_entry(const struct resolver *r, const struct entry *e, struct resolved *out)
{
    *out = (struct resolved){.st = e->st, .expires = e->expires};
    add_addrs(r, e->addrs, e->count, out);
}

/* Hosts. */

static void host_add(struct resolver *r, const char *name, const struct addr *a)
{
    uint64_t key = siphash(&r->key, span_str(name));
    struct host *h = table_get(&r->hosts, key);
    if (!h) {
        h = mem_alloc(sizeof(*h));
        h->name = mem_str(span_str(name));
        table_put(&r->hosts, key, h);
    }
    if (h->count < RESOLVER_ADDRS_MAX)
        h->addrs[h->count++] = *a;
}

static bool next_word(struct span *line, struct span *word)
{
    *line = span_trim(*line);
    size_t n = 0;
    while (n < line->n && !ascii_is_space(line->p[n]))
        n++;
    *word = span_cut(*line, 0, n);
    *line = span_from(*line, n);
    return n > 0;
}

/* A line is bad when it does not start with an address, or has no name or one that cannot be. */
static bool hosts_line(struct resolver *r, struct span line)
{
    struct span word;
    struct addr a;
    char name[NAME_BYTES_MAX + 1];
    line = span_cut(line, 0, span_find(line, '#', 0));
    if (!next_word(&line, &word))
        return true;
    if (addr_parse(word, &a) != ST_OK || !next_word(&line, &word))
        return false;
    a = addr_unmapped(&a);
    do {
        if (!name_of(word, name))
            return false;
        host_add(r, name, &a);
    } while (next_word(&line, &word));
    return true;
}

static status hosts_read(struct resolver *r, struct span text)
{
    struct span line;
    status st = ST_OK;
    while (span_split(&text, '\n', &line))
        if (!hosts_line(r, line))
            st = ST_INVALID;
    return st;
}

/* Whoever asks the system's DNS servers expects its hosts file too; what we cannot read in it is passed over. */
static void hosts_read_system(struct resolver *r)
{
    FILE *f = fopen("/etc/hosts", "re");
    struct buf text = {0};
    size_t n = 1;
    while (f && n > 0 && text.n < HOSTS_BYTES_MAX) {
        n = fread(buf_room(&text, 4096), 1, 4096, f);
        text.n += n;
    }
    if (f)
        fclose(f);
    (void)hosts_read(r, buf_span(&text));
    buf_done(&text);
}

/* Cache. */

static void entry_free(struct entry *e)
{
    free(e->name);
    free(e->addrs);
    free(e);
}

static bool is_evictable(const struct entry *e)
{
    return !e->is_pending && e->pins == 0;
}

/* Makes room for one entry: the hand goes round, sparing once what was used since it last came by. All entries in use:
 * the cache grows, bounded by the lookups that its owner has under way. */
static void evict(struct resolver *r)
{
    for (size_t step = 0; r->ring_n >= r->cache_names && step < 2 * r->ring_n; step++) {
        r->hand = r->hand + 1 < r->ring_n ? r->hand + 1 : 0;
        struct entry *e = r->ring[r->hand];
        if (!is_evictable(e))
            continue;
        if (e->is_used) {
            e->is_used = false;
            continue;
        }
        r->ring[r->hand] = r->ring[--r->ring_n];
        r->ring[r->hand]->ring_at = r->hand;
        table_remove(&r->entries, e->key);
        entry_free(e);
    }
}

static struct entry *entry_find(const struct resolver *r, struct span name)
{
    struct entry *e = table_get(&r->entries, siphash(&r->key, name));
    return e && span_is(name, e->name) ? e : NULL;
}

static struct entry *entry_new(struct resolver *r, const char *name)
{
    evict(r);
    struct entry *e = mem_alloc(sizeof(*e));
    e->owner = r;
    e->key = siphash(&r->key, span_str(name));
    e->name = mem_str(span_str(name));
    r->ring = mem_grow(r->ring, &r->ring_cap, r->ring_n + 1, sizeof(*r->ring));
    e->ring_at = r->ring_n;
    r->ring[r->ring_n++] = e;
    table_put(&r->entries, e->key, e);
    return e;
}

static bool is_fresh(const struct resolver *r, const struct entry *e)
{
    return e && !e->is_pending && e->expires > loop_now(r->loop);
}

/* Answers. */

static void push_ready(struct resolver *r, struct waiter *w)
{
    w->next = NULL;
    *r->ready_end = w;
    r->ready_end = &w->next;
    timer_set(r->ready_timer, 0);
}

/* Calls back all that is ready by now. */
static void deliver(void *arg)
{
    struct resolver *r = arg;
    bool freed = false;
    struct waiter *last = NULL;
    for (struct waiter *w = r->ready; w; w = w->next)
        last = w;
    if (r->freed || !last) /* called from a callback of ours: whoever called that goes on */
        return;
    r->freed = &freed;
    for (bool more = true; more && !freed;) {
        struct waiter *w = r->ready;
        more = w != last;
        r->ready = w->next;
        if (!r->ready)
            r->ready_end = &r->ready;
        struct resolved answer = w->answer;
        if (w->entry) {
            answer_entry(r, w->entry, &answer);
            answer.took_us = w->entry->took_us;
            w->entry->pins--;
        }
        w->fn(w->arg, &answer);
        free(w);
    }
    if (freed)
        return;
    r->freed = NULL;
    if (r->ready)
        timer_set(r->ready_timer, 0);
}

static int64_t clamp(int64_t v, int64_t least, int64_t most)
{
    return v < least ? least : v > most ? most : v;
}

static void take_addrs(struct entry *e, const struct ares_addrinfo *info)
{
    struct resolver *r = e->owner;
    struct resolved got = {0};
    int64_t ttl_ms = r->ttl_max_ms;
    for (const struct ares_addrinfo_node *n = info->nodes; n; n = n->ai_next) {
        struct addr a = addr_of_sockaddr(n->ai_addr);
        /* Both families get their share of the places. */
        unsigned same = 0;
        for (unsigned i = 0; i < got.count; i++)
            same += got.addrs[i].family == a.family;
        if (a.family && same < RESOLVER_ADDRS_MAX / 2 && got.count < RESOLVER_ADDRS_MAX && !has_addr(&got, &a))
            got.addrs[got.count++] = a;
        ttl_ms = clamp((int64_t)n->ai_ttl * 1000, 0, ttl_ms);
    }
    for (const struct ares_addrinfo_cname *c = info->cnames; c; c = c->next)
        ttl_ms = clamp((int64_t)c->ttl * 1000, 0, ttl_ms);
    if (got.count == 0)
        return;
    e->st = ST_OK;
    e->count = (uint8_t)got.count;
    e->addrs = mem_realloc(e->addrs, got.count * sizeof(*e->addrs));
    memcpy(e->addrs, got.addrs, got.count * sizeof(*e->addrs));
    e->expires = loop_now(r->loop) + clamp(ttl_ms, r->ttl_min_ms, r->ttl_max_ms);
}

static status status_of_ares(int rc)
{
    switch (rc) {
    case ARES_ETIMEOUT:
    case ARES_ECONNREFUSED:
    case ARES_ESERVFAIL:
        return ST_TIMEOUT; /* nobody who knows has answered; it may be different later */
    case ARES_EDESTRUCTION:
    case ARES_ECANCELLED:
        return ST_CANCELLED;
    default:
        return ST_DNS;
    }
}

static void on_answer(void *arg, int rc, int timeouts, struct ares_addrinfo *info)
{
    struct entry *e = arg;
    struct resolver *r = e->owner;
    e->is_pending = false;
    r->pending--;
    e->took_us = clock_mono_us() - e->started_us;
    e->count = 0;
    e->st = rc == ARES_SUCCESS ? ST_DNS : status_of_ares(rc);
    e->expires = loop_now(r->loop) + FAILURE_MS;
    if (rc == ARES_SUCCESS && info)
        take_addrs(e, info);
    if (info)
        ares_freeaddrinfo(info);
    while (e->waiters) {
        struct waiter *w = e->waiters;
        e->waiters = w->next;
        w->entry = e;
        e->pins++;
        push_ready(r, w);
    }
}

/* Sockets and time for c-ares. */

static void run_ares(struct resolver *r, ares_socket_t in, ares_socket_t out)
{
    ares_process_fd(r->channel, in, out);
    deliver(r);
}

static void on_poll(uv_poll_t *h, int st, int events)
{
    struct watch *w = h->data;
    bool is_bad = st < 0;
    run_ares(w->owner, events & UV_READABLE || is_bad ? w->fd : ARES_SOCKET_BAD,
             events & UV_WRITABLE || is_bad ? w->fd : ARES_SOCKET_BAD);
}

static void free_watch(uv_handle_t *h)
{
    free(h->data);
}

static void on_socket(void *arg, ares_socket_t fd, int readable, int writable)
{
    struct resolver *r = arg;
    struct watch **at = &r->watches;
    while (*at && (*at)->fd != fd)
        at = &(*at)->next;
    if (!readable && !writable) {
        struct watch *w = *at;
        if (w) {
            *at = w->next;
            uv_close((uv_handle_t *)&w->poll, free_watch);
        }
        return;
    }
    if (!*at) {
        struct watch *w = mem_alloc(sizeof(*w));
        w->owner = r;
        w->fd = fd;
        w->poll.data = w;
        if (uv_poll_init(loop_uv(r->loop), &w->poll, fd) != 0) {
            free(w); /* the query times out */
            return;
        }
        *at = w;
    }
    uv_poll_start(&(*at)->poll, (readable ? UV_READABLE : 0) | (writable ? UV_WRITABLE : 0), on_poll);
}

static void on_tick(void *arg)
{
    struct resolver *r = arg;
    r->is_ticking = r->pending > 0;
    if (r->is_ticking)
        timer_set(r->tick_timer, r->tick_ms);
    run_ares(r, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
}

static void query(struct resolver *r, struct entry *e)
{
    struct ares_addrinfo_hints hints = {.ai_family = AF_UNSPEC, .ai_flags = ARES_AI_NOSORT};
    e->is_pending = true;
    e->started_us = clock_mono_us();
    r->pending++;
    if (!r->is_ticking)
        timer_set(r->tick_timer, r->tick_ms);
    r->is_ticking = true;
    ares_getaddrinfo(r->channel, e->name, NULL, &hints, on_answer, e);
}

/* True when the answer needs no query; *e is the cache's entry for the name, if any. */
static bool at_hand(struct resolver *r, struct span host, char name[NAME_BYTES_MAX + 1], struct resolved *out,
                    struct entry **e)
{
    *e = NULL;
    if (answer_literal(r, host, out))
        return true;
    if (!name_of(host, name)) {
        *out = (struct resolved){.st = ST_DNS, .expires = MONO_NEVER};
        return true;
    }
    if (answer_host(r, span_str(name), out))
        return true;
    *e = entry_find(r, span_str(name));
    if (!is_fresh(r, *e))
        return false;
    (*e)->is_used = true;
    answer_entry(r, *e, out);
    return true;
}

bool resolver_peek(struct resolver *r, struct span host, struct resolved *out)
{
    char name[NAME_BYTES_MAX + 1];
    struct entry *e;
    struct resolved answer;
    if (!at_hand(r, host, name, &answer, &e))
        return false;
    *out = answer;
    return true;
}

void resolver_lookup(struct resolver *r, struct span host, resolver_fn *fn, void *arg)
{
    char name[NAME_BYTES_MAX + 1];
    struct entry *e;
    struct waiter *w = mem_alloc(sizeof(*w));
    w->fn = fn;
    w->arg = arg;
    if (r->is_closing)
        w->answer.st = ST_CANCELLED;
    if (r->is_closing || at_hand(r, host, name, &w->answer, &e)) {
        push_ready(r, w);
        return;
    }
    if (!e)
        e = entry_new(r, name);
    e->is_used = true;
    w->next = e->waiters;
    e->waiters = w;
    if (!e->is_pending)
        query(r, e);
}

/* "ADDR", "ADDR:PORT", "[ADDR]:PORT". */
static status parse_server(struct span s, struct addr *a, int *port)
{
    uint64_t v = DNS_PORT;
    if (addr_parse(s, a) != ST_OK) {
        size_t colon = s.n;
        while (colon > 0 && s.p[colon - 1] != ':')
            colon--;
        if (colon == 0 || addr_parse(span_cut(s, 0, colon - 1), a) != ST_OK || (a->family == 6 && s.p[0] != '[') ||
            !span_u64(span_from(s, colon), 65535, &v) || v == 0)
            return ST_INVALID;
    }
    *port = (int)v;
    return ST_OK;
}

static status set_server(struct resolver *r, struct span text)
{
    struct addr a;
    int port;
    status st = parse_server(text, &a, &port);
    if (st != ST_OK)
        return st;
    struct ares_addr_port_node node = {
        .family = a.family == 4 ? AF_INET : AF_INET6, .udp_port = port, .tcp_port = port};
    memcpy(&node.addr, a.b, a.family == 4 ? 4 : 16);
    return ares_set_servers_ports(r->channel, &node) == ARES_SUCCESS ? ST_OK : ST_IO;
}

/* No search domains: names of the web are complete. */
static status open_channel(struct resolver *r, int64_t timeout_ms)
{
    if (ares_library_init(ARES_LIB_INIT_ALL) != ARES_SUCCESS)
        return ST_IO;
    char lookups[] = "b";
    struct ares_options o = {.flags = ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES,
                             .timeout = (int)timeout_ms,
                             .tries = TRIES,
                             .lookups = lookups,
                             .sock_state_cb = on_socket,
                             .sock_state_cb_data = r};
    int mask = ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_LOOKUPS | ARES_OPT_SOCK_STATE_CB;
    if (ares_init_options(&r->channel, &o, mask) == ARES_SUCCESS)
        return ST_OK;
    ares_library_cleanup();
    return ST_IO;
}

status resolver_new(struct loop *l, const struct resolver_opts *opts, struct resolver **out)
{
    struct resolver *r = mem_alloc(sizeof(*r));
    int64_t timeout_ms = clamp(opts->timeout_ms ? opts->timeout_ms : TRY_MS, 1, 3600000);
    r->loop = l;
    r->ready_end = &r->ready;
    r->cache_names = opts->cache_names ? opts->cache_names : CACHE_NAMES;
    r->ttl_min_ms = opts->ttl_min_ms ? opts->ttl_min_ms : TTL_MIN_MS;
    r->ttl_max_ms = opts->ttl_max_ms ? opts->ttl_max_ms : TTL_MAX_MS;
    r->prefer_ipv6 = opts->prefer_ipv6;
    r->tick_ms = clamp(timeout_ms / 4, 1, TICK_MS);
    r->ready_timer = timer_new(l, deliver, r);
    r->tick_timer = timer_new(l, on_tick, r);
    ssize_t got = getrandom(&r->key, sizeof(r->key), 0);
    assert(got == sizeof(r->key));
    status st = open_channel(r, timeout_ms);
    if (st == ST_OK && opts->server.n)
        st = set_server(r, opts->server);
    if (st == ST_OK)
        st = hosts_read(r, opts->hosts);
    if (st != ST_OK) {
        resolver_free(r);
        return st;
    }
    if (!opts->server.n)
        hosts_read_system(r);
    *out = r;
    return ST_OK;
}

static void cancel_ready(struct resolver *r)
{
    struct waiter *w;
    while ((w = r->ready)) {
        r->ready = w->next;
        if (!r->ready)
            r->ready_end = &r->ready;
        struct resolved answer = {.st = ST_CANCELLED};
        w->fn(w->arg, &answer);
        free(w);
    }
}

void resolver_free(struct resolver *r)
{
    if (!r)
        return;
    if (r->freed)
        *r->freed = true;
    r->is_closing = true;
    if (r->channel) {
        ares_destroy(r->channel); /* everything under way becomes ready */
        ares_library_cleanup();
    }
    cancel_ready(r);
    timer_free(r->ready_timer);
    timer_free(r->tick_timer);
    for (size_t i = 0; i < r->ring_n; i++)
        entry_free(r->ring[i]);
    free(r->ring);
    table_done(&r->entries);
    size_t at = 0;
    struct host *h;
    while ((h = table_next(&r->hosts, &at))) {
        free(h->name);
        free(h);
    }
    table_done(&r->hosts);
    free(r);
}
