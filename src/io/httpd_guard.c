#include "io/httpd_guard.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "base/table.h"

#define LEAVING_LEAST 256
/* What lies unread in the socket was sent in time: then it is we who are late, and the visitor may stay, but not for
 * ever (it may be one that sends and never reads). */
#define OUR_DELAY_MAX_MS 30000

/* How many an address has, kept while it has any. */
struct household {
    uint64_t key;
    unsigned visitors;
};

struct link {
    struct link *prev, *next; /* borrowed; next NULL: in no list */
};

struct guard_visitor {
    struct link all, line; /* `line`: while it may be sent away */
    struct household *household;
    struct addr peer, local;
    int fd;
    bool is_known;         /* read and written by its own thread */
    bool is_leaving;       /* was sent away */
    atomic_bool is_idle;   /* between two requests */
    atomic_llong deadline; /* mono_ms */
};

struct guard {
    struct guard_opts opts;
    pthread_mutex_t lock;  /* the fields below */
    struct link all, line; /* rings; the line begins with the one that waited longest */
    struct table households;
    unsigned leaving, leaving_max;
    struct guard_counts counts;
};

#define VISITOR(ptr, member) ((struct guard_visitor *)((char *)(ptr)-offsetof(struct guard_visitor, member)))

static void ring_init(struct link *ring)
{
    ring->prev = ring->next = ring;
}

static void ring_append(struct link *ring, struct link *l)
{
    l->prev = ring->prev;
    l->next = ring;
    ring->prev->next = l;
    ring->prev = l;
}

static void ring_remove(struct link *l)
{
    if (!l->next)
        return;
    l->prev->next = l->next;
    l->next->prev = l->prev;
    l->prev = l->next = NULL;
}

unsigned guard_leaving_max(unsigned visitors_max)
{
    return visitors_max / 8 > LEAVING_LEAST ? visitors_max / 8 : LEAVING_LEAST;
}

struct guard *guard_new(const struct guard_opts *o)
{
    struct guard *g = mem_alloc(sizeof(*g));
    g->opts = *o;
    g->leaving_max = guard_leaving_max(o->visitors_max);
    pthread_mutex_init(&g->lock, NULL);
    ring_init(&g->all);
    ring_init(&g->line);
    return g;
}

void guard_free(struct guard *g)
{
    if (!g)
        return;
    assert(g->all.next == &g->all && g->counts.memory == 0);
    table_done(&g->households);
    pthread_mutex_destroy(&g->lock);
    free(g);
}

static uint64_t household_key(const struct guard *g, const struct addr *peer)
{
    unsigned char b[17] = {peer->family};
    memcpy(b + 1, peer->b, peer->family == 6 ? 8 : 4);
    return siphash(&g->opts.key, span_of(b, sizeof(b)));
}

static bool has_household_room(const struct guard *g, uint64_t key)
{
    const struct household *h = g->opts.per_address ? table_get(&g->households, key) : NULL;
    return !h || h->visitors < g->opts.per_address;
}

/* With the lock held. Its slot is free once the server's thread has closed the connection. */
static void send_away(struct guard *g, struct guard_visitor *v)
{
    ring_remove(&v->line);
    atomic_store(&v->deadline, MONO_NEVER);
    if (!v->is_leaving)
        g->leaving++;
    v->is_leaving = true;
    (void)shutdown(v->fd, SHUT_RDWR);
}

/* Those that are leaving have no place any more. */
static bool is_full(const struct guard *g)
{
    return g->counts.visitors - g->leaving >= g->opts.visitors_max;
}

bool guard_may_enter(struct guard *g, const struct addr *peer)
{
    uint64_t key = household_key(g, peer);
    pthread_mutex_lock(&g->lock);
    bool may = has_household_room(g, key) && (!is_full(g) || (g->line.next != &g->line && g->leaving < g->leaving_max));
    if (!may)
        g->counts.refused++;
    pthread_mutex_unlock(&g->lock);
    return may;
}

static struct household *join_household(struct guard *g, uint64_t key)
{
    struct household *h = table_get(&g->households, key);
    if (!h) {
        h = mem_alloc(sizeof(*h));
        h->key = key;
        table_put(&g->households, key, h);
    }
    h->visitors++;
    return h;
}

struct guard_visitor *guard_enter(struct guard *g, int fd, const struct addr *peer, const struct addr *local,
                                  mono_ms deadline)
{
    uint64_t key = household_key(g, peer);
    struct guard_visitor *v = NULL;
    pthread_mutex_lock(&g->lock);
    bool has_room = has_household_room(g, key);
    if (has_room && is_full(g)) {
        has_room = g->line.next != &g->line && g->leaving < g->leaving_max;
        if (has_room) {
            send_away(g, VISITOR(g->line.next, line));
            g->counts.evicted++;
        }
    }
    if (has_room) {
        v = mem_alloc(sizeof(*v));
        v->household = join_household(g, key);
        v->fd = fd;
        v->peer = *peer;
        v->local = *local;
        atomic_init(&v->deadline, deadline);
        ring_append(&g->all, &v->all);
        ring_append(&g->line, &v->line);
        g->counts.visitors++;
    } else {
        g->counts.refused++;
    }
    pthread_mutex_unlock(&g->lock);
    return v;
}

void guard_leave(struct guard *g, struct guard_visitor *v)
{
    if (!v)
        return;
    pthread_mutex_lock(&g->lock);
    ring_remove(&v->all);
    ring_remove(&v->line);
    g->counts.visitors--;
    g->leaving -= v->is_leaving;
    if (--v->household->visitors == 0) {
        table_remove(&g->households, v->household->key);
        free(v->household);
    }
    pthread_mutex_unlock(&g->lock);
    free(v);
}

const struct addr *guard_peer(const struct guard_visitor *v)
{
    return &v->peer;
}

const struct addr *guard_local(const struct guard_visitor *v)
{
    return &v->local;
}

void guard_busy(struct guard *g, struct guard_visitor *v)
{
    pthread_mutex_lock(&g->lock);
    ring_remove(&v->line);
    pthread_mutex_unlock(&g->lock);
}

void guard_idle(struct guard *g, struct guard_visitor *v)
{
    pthread_mutex_lock(&g->lock);
    ring_remove(&v->line);
    atomic_store(&v->is_idle, true);
    if (!v->is_known && !v->is_leaving)
        ring_append(&g->line, &v->line);
    pthread_mutex_unlock(&g->lock);
}

void guard_talks(struct guard_visitor *v)
{
    atomic_store_explicit(&v->is_idle, false, memory_order_relaxed);
}

void guard_known(struct guard_visitor *v)
{
    v->is_known = true;
}

void guard_deadline(struct guard_visitor *v, mono_ms deadline)
{
    atomic_store_explicit(&v->deadline, deadline, memory_order_relaxed);
}

mono_ms guard_deadline_of(const struct guard_visitor *v)
{
    return atomic_load_explicit(&v->deadline, memory_order_relaxed);
}

static bool is_late(const struct guard_visitor *v, mono_ms now)
{
    mono_ms deadline = guard_deadline_of(v);
    int unread = 0;
    if (deadline > now)
        return false;
    return now - deadline > OUR_DELAY_MAX_MS || ioctl(v->fd, FIONREAD, &unread) != 0 || unread == 0;
}

void guard_scan(struct guard *g, mono_ms now)
{
    pthread_mutex_lock(&g->lock);
    for (struct link *l = g->all.next; l != &g->all; l = l->next) {
        struct guard_visitor *v = VISITOR(l, all);
        if (is_late(v, now)) {
            send_away(g, v);
            *(atomic_load(&v->is_idle) ? &g->counts.idle : &g->counts.slow) += 1;
        }
    }
    pthread_mutex_unlock(&g->lock);
}

status guard_reserve(struct guard *g, size_t bytes)
{
    if (bytes > g->opts.memory_max)
        return ST_LIMIT;
    pthread_mutex_lock(&g->lock);
    bool fits = bytes <= g->opts.memory_max - g->counts.memory;
    if (fits)
        g->counts.memory += bytes;
    pthread_mutex_unlock(&g->lock);
    return fits ? ST_OK : ST_BUSY;
}

void guard_release(struct guard *g, size_t bytes)
{
    if (bytes == 0)
        return;
    pthread_mutex_lock(&g->lock);
    assert(bytes <= g->counts.memory);
    g->counts.memory -= bytes;
    pthread_mutex_unlock(&g->lock);
}

void guard_count(struct guard *g, struct guard_counts *out)
{
    pthread_mutex_lock(&g->lock);
    *out = g->counts;
    pthread_mutex_unlock(&g->lock);
}
