#include "lab/router.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/rng.h"
#include "lab/map/wire.h"
#include "lab/net/netlink.h"
#include "lab/net/netns.h"

#define RECEIVE_BATCH 256
#define SEND_BATCH 32
#define EVENTS 16
#define WATCH_MAX 64
/* A packet may leave so much too early: what is due within the time of one system call goes with it. */
#define EARLY_NS 10000
/* Of a timed wait the kernel gives back so much late, at most, that we allow for it; see wait_events. */
#define OVERSHOOT_MAX_NS 100000
/* Asking again and again may take one part of so many of the time: where there is much to do, others need the
 * processor, and packets that leave together cost less. */
#define SPIN_PART 8
#define SPIN_MAX_NS 1000000
/* More turns a second than one in TURN_NS, for longer than TURNS_MAX turns, and packets that come wait for each other,
 * up to PAUSE_NS and what a timed wait is late by. They know when they came (net/link.h), so that most are in time. */
#define TURN_NS 125000
#define TURNS_MAX 64
#define PAUSE_NS 40000

struct watch {
    int fd; /* -1: free */
    router_fn *fn;
    void *arg; /* borrowed */
};

/* The link of a node, as seen from there. */
struct port {
    struct wire in, out;
    struct router_traffic traffic;
};

struct router {
    const struct map *map; /* borrowed */
    struct links *links;
    struct line *line;
    int *node_fd;       /* namespaces, by node */
    unsigned *link;     /* by node */
    unsigned *node_of;  /* by link */
    struct port *ports; /* by node */
    size_t node_count;  /* so many have a namespace */
    int home, poll_fd;
    struct watch watches[WATCH_MAX];
    struct rng rng;
    int64_t overshoot;   /* how late timed waits end, lately */
    mono_ns waited;      /* when wait_events was last called */
    int64_t spin_credit; /* time that may be spent asking */
    bool is_spinning;    /* it was, at that call */
    int64_t turn_credit; /* time of turns that may be had without a pause */
    bool is_stopped;
    struct router_figures figures;
    struct link_counts before; /* of the links, when the figures began */
};

static mono_ns clock_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (mono_ns)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* ---- making the world ---- */

static status fail(struct buf *why, const char *doing)
{
    buf_printf(why, "%s: %s", doing, strerror(errno));
    return ST_IO;
}

/* In the node's namespace, whose device is there. */
static status configure(const struct map *m, unsigned node, int device, struct buf *why)
{
    const struct map_node *n = map_node(m, node);
    struct netlink nl;
    if (netlink_open(&nl) != ST_OK)
        return fail(why, "talk to the kernel");
    netlink_up(&nl, NETLINK_LOOPBACK_INDEX);
    netlink_up(&nl, device);
    const struct addr *own[] = {&n->addr4, &n->addr6};
    for (size_t i = 0; i < 2; i++) {
        if (own[i]->family)
            netlink_address(&nl, NETLINK_LOOPBACK_INDEX, own[i]);
    }
    for (size_t i = 0; i < map_prefix_count(m); i++) {
        const struct map_prefix *p = map_prefix(m, i);
        bool is_host = p->net.bits == (p->net.first.family == 4 ? 32 : 128);
        bool is_own = is_host && (addr_eq(&p->net.first, &n->addr4) || addr_eq(&p->net.first, &n->addr6));
        if (map_place(m, p->place)->node == node && !is_own)
            netlink_local(&nl, &p->net);
    }
    for (size_t i = 0; i < 2; i++) {
        if (own[i]->family)
            netlink_default(&nl, device, own[i]);
    }
    status st = netlink_flush(&nl);
    if (st != ST_OK)
        st = fail(why, nl.doing);
    netlink_close(&nl);
    return st;
}

static status make_node(struct router *r, unsigned node, struct buf *why)
{
    if (netns_make(&r->node_fd[node]) != ST_OK)
        return fail(why, "make a network namespace");
    r->node_count++;
    if (netns_enter(r->node_fd[node]) != ST_OK)
        return fail(why, "enter a network namespace");
    netns_settings();
    if (netns_enter(r->home) != ST_OK)
        return fail(why, "come back from a network namespace");
    status st = links_add(r->links, r->node_fd[node], &r->link[node], why);
    if (st != ST_OK)
        return st;
    r->node_of[r->link[node]] = node;
    if (netns_enter(r->node_fd[node]) != ST_OK)
        return fail(why, "enter a network namespace");
    st = configure(r->map, node, NETLINK_DEVICE_INDEX + (int)r->link[node], why);
    return netns_enter(r->home) == ST_OK ? st : fail(why, "come back from a network namespace");
}

static status make_all(struct router *r, const struct router_opts *opts, struct buf *why)
{
    if (r->poll_fd < 0 || netns_here(&r->home) != ST_OK)
        return fail(why, "look at our own namespace");
    status st = links_new(opts->kind, &r->links, why);
    for (unsigned i = 0; st == ST_OK && i < map_node_count(r->map); i++)
        st = make_node(r, i, why);
    if (st == ST_OK)
        st = links_start(r->links, why);
    if (st == ST_OK) {
        struct epoll_event e = {.events = EPOLLIN, .data.u32 = WATCH_MAX};
        if (epoll_ctl(r->poll_fd, EPOLL_CTL_ADD, links_fd(r->links), &e) != 0)
            st = fail(why, "watch the links");
    }
    return st;
}

/* Connections whose processes are gone would hold the namespace until they gave up hope of an answer, after a minute.
 */
static void end_node(struct router *r, size_t i)
{
    if (netns_enter(r->node_fd[i]) == ST_OK) {
        (void)netns_set("ipv4/tcp_orphan_retries", "1");
        (void)!netns_enter(r->home);
    }
    close(r->node_fd[i]);
}

status router_new(const struct router_opts *opts, struct router **out, struct buf *why)
{
    struct router *r = mem_alloc(sizeof(*r));
    size_t n = map_node_count(opts->map);
    r->map = opts->map;
    r->line = line_new(0);
    r->node_fd = mem_alloc((n + 1) * sizeof(*r->node_fd));
    r->link = mem_alloc((n + 1) * sizeof(*r->link));
    r->node_of = mem_alloc(LINKS_MAX * sizeof(*r->node_of));
    r->ports = mem_alloc((n + 1) * sizeof(*r->ports));
    r->poll_fd = epoll_create1(EPOLL_CLOEXEC);
    r->home = -1;
    for (size_t i = 0; i < WATCH_MAX; i++)
        r->watches[i].fd = -1;
    rng_seed(&r->rng, opts->seed);
    r->figures.late_limit_ns = opts->late_limit_ns ? opts->late_limit_ns : ROUTER_LATE_LIMIT_NS;
    status st = make_all(r, opts, why);
    if (st == ST_OK)
        *out = r;
    else
        router_free(r);
    return st;
}

void router_free(struct router *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->node_count; i++)
        end_node(r, i);
    links_free(r->links);
    line_free(r->line);
    if (r->home >= 0)
        close(r->home);
    if (r->poll_fd >= 0)
        close(r->poll_fd);
    free(r->node_fd);
    free(r->link);
    free(r->node_of);
    free(r->ports);
    free(r);
}

link_kind router_kind(const struct router *r)
{
    return links_kind(r->links);
}

int router_node_fd(const struct router *r, unsigned node)
{
    return r->node_fd[node];
}

/* ---- packets ---- */

/* There is no way: the answer needs no delay line's time, but goes through it like everything else. */
static void refuse(struct router *r, const struct link_packet *p, const struct packet_facts *f, mono_ns now)
{
    unsigned char answer[PACKET_MAX];
    size_t n = packet_unreachable(p->packet, f, answer);
    r->figures.unreachable++;
    if (n && line_put(r->line, span_of(answer, n), p->link, f->flow ^ 1, now, now) != ST_OK)
        r->figures.overflow++;
}

static mono_ns delay_of(struct router *r, const struct map_path *path)
{
    double ms = (double)path->rtt_ms / 2;
    if (path->jitter_ms > 0)
        ms += (double)path->jitter_ms * rng_unit(&r->rng);
    return (mono_ns)(ms * 1e6);
}

static bool is_lost(struct router *r, const struct map_path *path)
{
    return path->loss && rng_below(&r->rng, MAP_LOSS_ALL) < path->loss;
}

/* The packet goes over the link of the node that it is from; *out: it has left. False: the link takes no more. */
static bool leave(struct router *r, const struct link_packet *p, mono_ns *out)
{
    unsigned node = r->node_of[p->link];
    struct port *port = &r->ports[node];
    if (!wire_send(&port->out, map_node(r->map, node)->bandwidth, p->packet.n, p->at, out)) {
        r->figures.queue_full++;
        return false;
    }
    port->traffic.packets_out++;
    port->traffic.bytes_out += p->packet.n;
    return true;
}

static void forward(struct router *r, const struct link_packet *p, mono_ns now)
{
    struct packet_facts f;
    unsigned from, to;
    mono_ns out;
    if (!packet_facts(p->packet, &f)) {
        r->figures.strays++;
        return;
    }
    if (packet_is_local(&f)) /* the kernel's own talk to its neighbours, of which there are none */
        return;
    if (!map_at(r->map, &f.from, &from) || map_place(r->map, from)->node != r->node_of[p->link]) {
        r->figures.strays++;
        return;
    }
    if (!map_at(r->map, &f.to, &to)) {
        if (leave(r, p, &out))
            refuse(r, p, &f, now);
        return;
    }
    struct map_path path = map_path(r->map, from, to);
    if (path.is_cut) {
        r->figures.cut++;
        return;
    }
    if (!leave(r, p, &out))
        return;
    if (is_lost(r, &path)) {
        r->figures.dropped++;
        return;
    }
    unsigned link = r->link[map_place(r->map, to)->node];
    if (line_put(r->line, p->packet, link, f.flow, out + delay_of(r, &path), now) != ST_OK)
        r->figures.overflow++;
}

static void receive(struct router *r)
{
    struct link_packet p;
    mono_ns now = clock_ns();
    for (unsigned i = 0; i < RECEIVE_BATCH && links_next(r->links, now, &p); i++)
        forward(r, &p, now);
}

/* The packet is at the link of the node that it goes to, and has that to pass still: once, since on a second call it
 * has. False: it is not out yet, or never will be; it is the line's again. */
static bool arrive(struct router *r, struct line_packet *p)
{
    unsigned node = r->node_of[p->link];
    mono_ns out;
    if (p->is_queued)
        return true;
    if (!wire_send(&r->ports[node].in, map_node(r->map, node)->bandwidth, p->n, p->due.key, &out)) {
        r->figures.queue_full++;
        line_done(r->line, p);
        return false;
    }
    p->is_queued = true;
    if (out <= p->due.key)
        return true;
    line_again(r->line, p, out);
    return false;
}

static size_t take_batch(struct router *r, struct line_packet **batch)
{
    mono_ns now = clock_ns() + EARLY_NS;
    size_t n = 0;
    while (n < SEND_BATCH && (batch[n] = line_take(r->line, now)))
        n += arrive(r, batch[n]);
    return n;
}

static void count(struct router *r, const struct line_packet *p, mono_ns now)
{
    struct router_traffic *t = &r->ports[r->node_of[p->link]].traffic;
    lateness_add(&r->figures.lateness, now - p->due.key);
    r->figures.packets++;
    r->figures.bytes += p->n;
    t->packets_in++;
    t->bytes_in += p->n;
}

static void deliver(struct router *r)
{
    struct line_packet *batch[SEND_BATCH];
    for (size_t n; (n = take_batch(r, batch)) > 0;) {
        links_send(r->links, batch, n);
        mono_ns now = clock_ns();
        for (size_t i = 0; i < n; i++) {
            count(r, batch[i], now);
            line_done(r->line, batch[i]);
        }
    }
}

/* ---- the loop ---- */

static void account_spin(struct router *r, mono_ns now)
{
    int64_t passed = now - r->waited;
    r->spin_credit += r->is_spinning ? -passed : passed / SPIN_PART;
    if (r->spin_credit > SPIN_MAX_NS)
        r->spin_credit = SPIN_MAX_NS;
    r->turn_credit += r->is_spinning ? passed : passed - TURN_NS;
    if (r->turn_credit > TURN_NS * TURNS_MAX)
        r->turn_credit = TURN_NS * TURNS_MAX;
    if (r->turn_credit < -TURN_NS)
        r->turn_credit = -TURN_NS;
    r->waited = now;
    r->is_spinning = false;
}

static void pause_turns(mono_ns wait)
{
    wait = wait < PAUSE_NS ? wait : PAUSE_NS;
    struct timespec ts = {0, wait};
    if (wait > 0)
        nanosleep(&ts, NULL);
}

static int wait_for(struct router *r, struct epoll_event *events, mono_ns wait)
{
    struct timespec ts = {wait / 1000000000, wait % 1000000000};
    return epoll_pwait2(r->poll_fd, events, EVENTS, &ts, NULL);
}

/* Timed waits end some 50 to 100 us late on a virtual machine. So we ask for that much less than what is needed, as
 * measured on the waits before, and spend the rest, if any, asking again and again. */
static int wait_events(struct router *r, struct epoll_event *events)
{
    mono_ns due = line_next(r->line), now = clock_ns();
    account_spin(r, now);
    if (due == INT64_MAX)
        return epoll_pwait2(r->poll_fd, events, EVENTS, NULL, NULL);
    mono_ns wait = due - now - EARLY_NS;
    if (wait <= 0)
        return wait_for(r, events, 0);
    if (r->turn_credit < 0) {
        pause_turns(wait);
        return wait_for(r, events, 0);
    }
    if (r->spin_credit <= 0)
        return wait_for(r, events, wait);
    wait -= r->overshoot;
    r->is_spinning = wait <= 0;
    if (r->is_spinning)
        return wait_for(r, events, 0);
    int n = wait_for(r, events, wait);
    if (n == 0) {
        int64_t over = clock_ns() - now - wait;
        over = over > OVERSHOOT_MAX_NS ? OVERSHOOT_MAX_NS : over;
        r->overshoot += (over - r->overshoot) / 8;
    }
    return n;
}

void router_run(struct router *r)
{
    struct epoll_event events[EVENTS];
    r->is_stopped = false;
    while (!r->is_stopped) {
        int n = wait_events(r, events);
        receive(r);
        deliver(r);
        for (int i = 0; i < n; i++) {
            if (events[i].data.u32 >= WATCH_MAX)
                continue;
            const struct watch *w = &r->watches[events[i].data.u32];
            if (w->fd >= 0)
                w->fn(w->arg);
        }
    }
}

void router_stop(struct router *r)
{
    r->is_stopped = true;
}

status router_watch(struct router *r, int fd, router_fn *fn, void *arg)
{
    for (unsigned i = 0; i < WATCH_MAX; i++) {
        if (r->watches[i].fd >= 0)
            continue;
        struct epoll_event e = {.events = EPOLLIN, .data.u32 = i};
        if (epoll_ctl(r->poll_fd, EPOLL_CTL_ADD, fd, &e) != 0)
            return ST_IO;
        r->watches[i] = (struct watch){fd, fn, arg};
        return ST_OK;
    }
    return ST_LIMIT;
}

void router_forget(struct router *r, int fd)
{
    for (unsigned i = 0; i < WATCH_MAX; i++) {
        if (fd >= 0 && r->watches[i].fd == fd) {
            (void)epoll_ctl(r->poll_fd, EPOLL_CTL_DEL, fd, NULL);
            r->watches[i].fd = -1;
        }
    }
}

/* ---- figures ---- */

void router_figures(struct router *r, struct router_figures *out)
{
    struct link_counts c = links_counts(r->links);
    *out = r->figures;
    out->links = (struct link_counts){c.lost_in - r->before.lost_in, c.lost_out - r->before.lost_out,
                                      c.too_long - r->before.too_long};
}

void router_clear(struct router *r)
{
    r->figures = (struct router_figures){.late_limit_ns = r->figures.late_limit_ns};
    r->before = links_counts(r->links);
    for (size_t i = 0; i < r->node_count; i++)
        r->ports[i].traffic = (struct router_traffic){0};
}

bool router_is_valid(const struct router_figures *f)
{
    return lateness_at(&f->lateness, 0.99) <= f->late_limit_ns;
}

void router_late_limit(struct router *r, int64_t ns)
{
    r->figures.late_limit_ns = ns;
}

struct router_traffic router_traffic(const struct router *r, unsigned node)
{
    return r->ports[node].traffic;
}
