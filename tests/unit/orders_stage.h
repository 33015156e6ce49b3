/* orders_stage.h - a real coordinator on a real folder; the test plays the agents, and looks at the orders that they
 * are given. Its threads run: from start() to stop() the test has the lock, as whoever calls these functions must. */
#pragma once

#include "test.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "coord/agents.h"
#include "coord/assign.h"
#include "coord/calls.h"
#include "coord/channels.h"
#include "coord/coord.h"
#include "coord/state.h"
#include "io/clock.h"
#include "plan/frontier.h"
#include "test_folder.h"

struct stage {
    struct coord *c;
    mono_ms now; /* of ticks */
};

static inline void start(struct stage *s)
{
    struct buf why = {0};
    const struct coord_opts o = {.data_dir = test_folder(),
                                 .addr = {4, {127, 0, 0, 1}},
                                 .admin_addr = {4, {127, 0, 0, 1}},
                                 .is_plain = true,
                                 .allow_private = true,
                                 .strategy = DELEGATE_HASH,
                                 .seed = 1,
                                 .version = SPAN("test")};
    if (coord_new(&o, &s->c, &why) != ST_OK)
        fail_msg("coordinator: %s", buf_cstr(&why));
    buf_done(&why);
    pthread_mutex_lock(&s->c->lock);
    s->now = clock_mono();
}

static inline void stop(struct stage *s)
{
    pthread_mutex_unlock(&s->c->lock);
    coord_free(s->c);
    s->c = NULL;
}

/* As after a kill: what is not written down is gone. */
static inline void kill_and_start(struct stage *s)
{
    CHECK_STATUS("from here on nothing is", fleet_begin(s->c->fleet), ST_OK);
    stop(s);
    start(s);
}

static inline void tick(struct stage *s)
{
    for (int i = 0; i < 5; i++)
        assign_tick(s->c, s->now += 1);
}

static inline struct c_agent *agent(struct stage *s, const char *name)
{
    struct buf line = {0}, why = {0};
    struct c_agent *a = agent_by_name(s->c, span_str(name));
    if (!a)
        CHECK_STATUS(name,
                     agent_add(s->c, &(struct agent_form){.name = span_str(name), .is_trusted = true}, &a, &line, &why),
                     ST_OK);
    a->is_joined = a->is_in_step = true;
    a->heard_mono = clock_mono();
    a->lease_until = s->now + 600000;
    a->activity = ACTIVITY_IDLE;
    save_agent(s->c, a);
    agent_tell_delegator(s->c, a);
    buf_done(&line);
    buf_done(&why);
    return a;
}

static inline struct c_host *host(struct stage *s, const char *name)
{
    return table_get(&s->c->hosts, siphash(&s->c->key, span_str(name)));
}

/* A channel of these sites, each in the network 127.1.N.0/24. */
struct site {
    const char *name;
    unsigned char network;
};

static inline struct c_channel *channel(struct stage *s, const struct site *sites, size_t n)
{
    char urls[8][64];
    struct span seeds[8];
    struct c_channel *ch = NULL;
    struct channel_form f = {.label = SPAN("a channel")};
    struct buf why = {0};
    for (size_t i = 0; i < n; i++) {
        snprintf(urls[i], sizeof(urls[i]), "http://%s/", sites[i].name);
        seeds[i] = span_str(urls[i]);
    }
    struct channel_opts o = {.seeds = seeds, .seed_count = n, .scope = SCOPE_SITE, .depth_max = 64};
    CHECK_STATUS("channel", channel_new(&o, &f.channel, &why), ST_OK);
    CHECK_STATUS("channel", channel_put(s->c, &f, &ch, &why), ST_OK);
    for (size_t i = 0; i < n; i++)
        assign_resolved(s->c, host(s, sites[i].name), ST_OK,
                        &(struct addr){4, {127, 1, sites[i].network, (unsigned char)(i + 1)}});
    tick(s);
    buf_done(&why);
    return ch;
}

/* A host as an agent packs it, with so many URLs of a kilobyte that wait. */
static inline void pack_host(const char *name, size_t urls, struct buf *out)
{
    struct sip_key key = {1, 2};
    struct frontier_opts o = {.pace = pace_default, .key = &key, .seed = 1};
    struct frontier *f = frontier_new(&o);
    struct arena a;
    char text[1100];
    arena_init(&a);
    for (size_t i = 0; i < urls; i++) {
        struct url u;
        int at = snprintf(text, sizeof(text), "http://%s/%zu/", name, i);
        memset(text + at, 'x', 1000);
        CHECK_STATUS("url", url_parse(&a, span_of(text, (size_t)at + 1000), NULL, &u), ST_OK);
        assert_int_equal(frontier_add(f, 1, &(struct frontier_url){.key = i + 1, .url = &u, .channel = 1}),
                         FRONTIER_OK);
    }
    CHECK_STATUS(name, frontier_take_host(f, 1, 1, span_str(name), out), ST_OK);
    frontier_free(f);
    arena_done(&a);
}

/* The agent carries out its orders; a task that ends hands over these hosts, each in a report of its own. */
static inline void confirm(struct stage *s, struct c_agent *a, struct c_task *t, const char *const *names, size_t n,
                           size_t urls)
{
    assert_true(t->end_order != 0);
    for (size_t i = 0; i < n; i++) {
        struct buf packed = {0};
        pack_host(names[i], urls, &packed);
        struct span part = buf_span(&packed);
        assign_outcome(s->c, a,
                       &(struct outcome){.number = t->end_order, .st = ST_AGAIN, .parts = &part, .part_count = 1});
        buf_done(&packed);
    }
    assign_outcome(s->c, a, &(struct outcome){.number = t->end_order, .st = ST_OK});
    a->orders_done = a->orders_given;
    CHECK_STATUS("done", fleet_orders_done(s->c->fleet, a->number, a->orders_done), ST_OK);
    save_agent(s->c, a);
    tick(s);
}

/* What an agent was told, in all orders that it has not carried out, as they are on the disk. */
struct told {
    uint64_t next; /* without gaps */
    unsigned tasks, ends, channels, settings;
    uint64_t ended; /* the last task of which an end was ordered */
    size_t largest, networks, seeds, hosts;
    uint64_t pinned, others; /* a bit a task: its newest order names a host that it, or another, has wherever it is */
};

static inline status note_order(void *arg, uint64_t number, struct span packed)
{
    struct told *t = arg;
    struct order o;
    struct task_order task;
    struct arena a;
    arena_init(&a);
    assert_int_equal(number, t->next++);
    CHECK_STATUS("order", order_unpack(packed, &o), ST_OK);
    t->ends += o.kind == ORDER_END_TASK;
    t->settings += o.kind == ORDER_SETTINGS;
    if (o.kind == ORDER_END_TASK) {
        struct end_order end;
        CHECK_STATUS("end", end_order_unpack(&a, o.body, &end), ST_OK);
        t->ended = end.task;
    }
    if (o.kind == ORDER_TASK) {
        CHECK_STATUS("task", task_order_unpack(&a, o.body, &task), ST_OK);
        t->tasks++;
        t->channels += task.channel.n > 0;
        t->networks += task.network_count;
        t->seeds += task.seed_count;
        t->hosts += task.hosts_state_count;
        uint64_t bit = UINT64_C(1) << task.task;
        t->pinned = task.host_count ? t->pinned | bit : t->pinned & ~bit;
        t->others = task.other_count ? t->others | bit : t->others & ~bit;
    }
    t->largest = packed.n > t->largest ? packed.n : t->largest;
    arena_done(&a);
    return ST_OK;
}

static inline struct told told(struct stage *s, const struct c_agent *a)
{
    struct told t = {.next = a->orders_done + 1};
    CHECK_STATUS("orders", fleet_order_each(s->c->fleet, a->number, a->orders_done, note_order, &t), ST_OK);
    assert_int_equal(t.next, a->orders_given + 1);
    return t;
}

/* From here on fleet.db does not grow. */
static inline void fill_disk(struct stage *s, bool is_full)
{
    char path[TEST_PATH];
    struct stat sb;
    struct rlimit l;
    test_path(path, "fleet.db-wal");
    assert_int_equal(stat(path, &sb), 0);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &l), 0);
    signal(SIGXFSZ, SIG_IGN);
    l.rlim_cur = is_full ? (rlim_t)sb.st_size : l.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &l), 0);
}

static const struct site one_network[] = {{"a.example", 1}, {"b.example", 1}, {"c.example", 1}, {"d.example", 1}};
static const struct site two_networks[] = {{"a.example", 1}, {"b.example", 2}};
static const char *const names[] = {"a.example", "b.example", "c.example", "d.example"};

static inline void set_paused(struct stage *s, struct c_channel *ch, bool is_paused)
{
    ch->is_paused = is_paused;
    save_channel(s->c, ch);
    assign_channel_changed(s->c, ch);
    tick(s);
}
