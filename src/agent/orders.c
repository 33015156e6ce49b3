/* orders.c - carries out what the coordinator ordered, on the main thread.
 *
 * Orders begin in their order; some take a while (an end waits for its packages, pages for a comparison are fetched by
 * a thread of their own), and later ones do not wait for them, but for those about the same task. The number reported
 * as done is the highest below which none is open. What an order asked is on the disk before it counts; after a kill it
 * is given again, and doing it twice changes nothing. */
#include <stdio.h>
#include <stdlib.h>

#include "agent/agent.h"
#include "agent/compare.h"
#include "agent/parts.h"
#include "agent/refusal_list.h"
#include "agent/update.h"
#include "base/mem.h"
#include "crawl/crawl.h"
#include "io/clock.h"
#include "io/zones.h"

#define QUIT_WAIT_MS 60000 /* for packages that nobody takes */

static void order_free(struct agent_order *o)
{
    buf_done(&o->body);
    buf_done(&o->why);
    free(o);
}

void orders_free(struct agent *a)
{
    for (struct agent_order *o = a->orders, *next; o; o = next) {
        next = o->next;
        order_free(o);
    }
    a->orders = NULL;
    a->orders_end = &a->orders;
}

/* ---- pages for a comparison ---- */

struct compare_job {
    pthread_t thread;
    struct agent *a;
    uint64_t order;
    struct buf body; /* owned: the packed order */
    struct texts parts;
    status st;
    atomic_bool is_done, is_cancelled;
};

static void *compare_thread(void *arg)
{
    struct compare_job *j = arg;
    struct agent *a = j->a;
    struct fetch_order o;
    struct arena arena;
    arena_init(&arena);
    j->st = fetch_order_unpack(&arena, buf_span(&j->body), &o);
    if (j->st == ST_OK)
        j->st = compare_run(&(struct compare_opts){.fetch = {.user_agent = buf_span(&a->user_agent),
                                                             .ca_file = conf_text(a->conf, CONF_CA_FILE),
                                                             .allow_private = conf_flag(a->conf, CONF_ALLOW_PRIVATE),
                                                             .connections_max = 1},
                                                   .dns = {.server = conf_text(a->conf, CONF_RESOLVER),
                                                           .hosts = buf_span(&a->hosts_text)},
                                                   .delay_ms = conf_number(a->conf, CONF_DELAY),
                                                   .gate = a->gate,
                                                   .refused = a->own_refusals,
                                                   .is_cancelled = &j->is_cancelled},
                            o.urls, o.url_count, &j->parts);
    arena_done(&arena);
    atomic_store(&j->is_done, true);
    agent_wake(a);
    return NULL;
}

static struct compare_job *compare_start(struct agent *a, const struct agent_order *o)
{
    struct compare_job *j = mem_alloc(sizeof(*j));
    j->a = a;
    j->order = o->number;
    buf_put(&j->body, buf_span(&o->body));
    if (pthread_create(&j->thread, NULL, compare_thread, j) != 0) {
        buf_done(&j->body);
        free(j);
        return NULL;
    }
    return j;
}

static void compare_end(struct agent *a)
{
    struct compare_job *j = a->compare;
    if (!j)
        return;
    atomic_store(&j->is_cancelled, true);
    pthread_join(j->thread, NULL);
    buf_done(&j->body);
    texts_done(&j->parts);
    free(j);
    a->compare = NULL;
}

void orders_stop(struct agent *a)
{
    compare_end(a);
}

/* ---- one kind after the other: ST_AGAIN, not done yet ---- */

static status do_settings(struct agent *a, struct agent_order *o)
{
    struct agent_settings s;
    struct limits l;
    struct hours hours;
    status st = agent_settings_unpack(buf_span(&o->body), &s);
    if (st == ST_OK)
        st = hours_parse(s.hours, &hours, &o->why);
    if (st != ST_OK)
        return st; /* hours that cannot be read must not close the line that they could be mended by */
    if (hours.zone[0] && !zone_is_known(hours.zone)) {
        struct buf text = {0};
        buf_printf(&text, "hours: this machine knows no time zone %s: UTC is used", hours.zone);
        agent_refused(a, buf_span(&text));
        buf_done(&text);
    }
    limits_make(a->conf, &s, &l, &o->why);
    pthread_mutex_lock(&a->lock);
    buf_clear(&a->state.settings);
    buf_put(&a->state.settings, buf_span(&o->body));
    a->wants_reopen |= limits_need_restart(&a->limits, &l);
    a->limits = l;
    pthread_mutex_unlock(&a->lock);
    package_sink_set_limits(a->sink, l.package_bytes, l.package_age_ms);
    return ST_OK;
}

static status do_task(struct agent *a, struct agent_order *o)
{
    struct arena arena;
    struct task_order t;
    arena_init(&arena);
    status st = task_order_unpack(&arena, buf_span(&o->body), &t);
    if (st == ST_OK)
        st = tasks_order(a->tasks, &t, o->has_states, &o->why);
    arena_done(&arena);
    return st;
}

static status do_end(struct agent *a, struct agent_order *o, bool *has_parts)
{
    struct arena arena;
    struct end_order e;
    status st = ST_OK;
    if (!o->is_begun) {
        arena_init(&arena);
        st = end_order_unpack(&arena, buf_span(&o->body), &e);
        if (st == ST_OK)
            st = tasks_end(a->tasks, o->number, &e, &o->why);
        arena_done(&arena);
    }
    return st == ST_OK ? tasks_end_step(a->tasks, o->number, has_parts) : st;
}

static status do_recheck(struct agent *a, struct agent_order *o)
{
    struct recheck_order r;
    status st = recheck_order_unpack(buf_span(&o->body), &r);
    return st == ST_OK ? tasks_recheck(a->tasks, &r, &o->why) : st;
}

static status do_told(struct agent *a, struct agent_order *o)
{
    struct told_order t;
    status st = told_order_unpack(buf_span(&o->body), &t);
    return st == ST_OK ? tasks_told(a->tasks, &t, &o->why) : st;
}

static status keep_pages(struct agent *a, const struct compare_job *j);

static status do_fetch(struct agent *a, struct agent_order *o, bool *has_parts)
{
    if (!a->compare) {
        if (!a->verdict.may_crawl)
            return ST_AGAIN; /* not now */
        a->compare = compare_start(a, o);
        return a->compare ? ST_AGAIN : ST_IO;
    }
    if (a->compare->order != o->number || !atomic_load(&a->compare->is_done))
        return ST_AGAIN;
    status st = a->compare->st;
    if (st == ST_OK)
        st = keep_pages(a, a->compare);
    *has_parts = st == ST_OK;
    compare_end(a);
    return st;
}

static status do_program(struct agent *a, struct agent_order *o)
{
    struct program_order p;
    status st = program_order_unpack(buf_span(&o->body), &p);
    return st == ST_OK ? programs_order(a->programs, &p, &o->why) : st;
}

/* The link has fetched and checked it. The order stays open: the new version finds itself ordered, and says so. */
static status do_update(struct agent *a, struct agent_order *o)
{
    struct update_order u;
    if (o->prepared == ST_EXISTS)
        return ST_OK;
    if (o->prepared != ST_OK)
        return o->prepared;
    status st = update_order_unpack(buf_span(&o->body), &u);
    if (st != ST_OK)
        return st;
    if (a->end == END_NONE) {
        buf_put(&a->update.version, u.version);
        buf_put(&a->update.digest, u.digest);
        buf_put(&a->update.sig, u.sig);
        a->end = END_UPDATE;
        log_write(a->log, LOG_INFO, "orders", "a new version is tried version=%.*s", SPAN_ARG(u.version));
    }
    return ST_AGAIN;
}

static status do_identity(struct agent *a, struct agent_order *o)
{
    struct identity_order i;
    struct signature sig;
    struct sign_public fresh;
    status st = identity_order_unpack(buf_span(&o->body), &i);
    if (st == ST_OK && (i.identity.n != sizeof(fresh.b) || i.sig.n != sizeof(sig.b)))
        st = ST_INVALID;
    if (st != ST_OK)
        return st;
    memcpy(fresh.b, i.identity.p, sizeof(fresh.b));
    memcpy(sig.b, i.sig.p, sizeof(sig.b));
    pthread_mutex_lock(&a->lock);
    bool is_it = bytes_equal(a->state.identity.b, fresh.b, sizeof(fresh.b)); /* told twice */
    bool is_good = is_it || sign_check(&a->state.identity, i.identity, &sig);
    if (is_good) {
        a->state.identity = fresh;
        session_set_identity(a->session, &fresh);
        package_sink_set_names(a->sink, a->state.agent, &fresh, &a->key);
    }
    pthread_mutex_unlock(&a->lock);
    if (is_good)
        return ST_OK;
    buf_puts(&o->why, "the new identity is not signed by the one that we know");
    return ST_REFUSED;
}

/* Packages are signed by the key that made them: all must have arrived before the key changes. */
static status do_rekey(struct agent *a, struct agent_order *o)
{
    a->is_rekeying = true;
    if (o->step == 0) {
        if (a->stats.in_flight || !a->crawl)
            return ST_AGAIN;
        status st = crawl_settle(a->crawl);
        if (st != ST_OK)
            return st;
        o->step = 1;
    }
    if (o->step == 1) {
        if (spool_acknowledged(a->spool) < spool_newest(a->spool))
            return ST_AGAIN;
        pthread_mutex_lock(&a->lock);
        a->rekey.is_wanted = true;
        a->rekey.is_done = false;
        pthread_mutex_unlock(&a->lock);
        agent_wake(a);
        o->step = 2;
    }
    pthread_mutex_lock(&a->lock);
    bool is_done = a->rekey.is_done;
    status st = a->rekey.st;
    pthread_mutex_unlock(&a->lock);
    if (!is_done)
        return ST_AGAIN;
    return st;
}

/* Packages first; then the coordinator must hear that this is done (agent.c waits for it); then the end. */
static status do_quit(struct agent *a, struct agent_order *o)
{
    if (o->step == 0 && a->crawl) {
        status st = crawl_settle(a->crawl);
        if (st != ST_OK)
            return st;
        o->step = 1;
    }
    bool is_late = clock_mono() - o->begun > QUIT_WAIT_MS;
    if (!is_late && spool_acknowledged(a->spool) < spool_newest(a->spool))
        return ST_AGAIN;
    a->is_quitting = true;
    return ST_OK;
}

/* Done when they wait in the queue: what comes of them travels by itself (link.c). */
static status do_probe(struct agent *a, struct agent_order *o)
{
    struct arena arena;
    struct probe_order p;
    arena_init(&arena);
    status st = probe_order_unpack(&arena, buf_span(&o->body), &p);
    if (st == ST_OK)
        st = probes_add(a->probes, &p, &o->why);
    arena_done(&arena);
    return st;
}

/* What waits is dropped at once; what is known of such pages goes when the crawl is opened anew. */
static status do_refuse(struct agent *a, struct agent_order *o)
{
    struct refuse_order r;
    struct places *places = NULL;
    status st = refuse_order_unpack(buf_span(&o->body), &r);
    if (st == ST_OK)
        st = refusal_list_put(a->data, &r, &o->why);
    if (st == ST_OK)
        st = refusal_list_load(a->data, a->conf, &places);
    if (st == ST_OK && a->crawl)
        st = crawl_refuse(a->crawl, places);
    else
        places_free(places);
    if (st == ST_OK)
        a->wants_reopen = true;
    return st;
}

static status perform(struct agent *a, struct agent_order *o, bool *has_parts)
{
    switch (o->kind) {
    case ORDER_SETTINGS:
        return do_settings(a, o);
    case ORDER_TASK:
        return do_task(a, o);
    case ORDER_END_TASK:
        return do_end(a, o, has_parts);
    case ORDER_RECHECK:
        return do_recheck(a, o);
    case ORDER_FETCH:
        return do_fetch(a, o, has_parts);
    case ORDER_PROGRAM:
        return do_program(a, o);
    case ORDER_UPDATE:
        return do_update(a, o);
    case ORDER_IDENTITY:
        return do_identity(a, o);
    case ORDER_REKEY:
        return do_rekey(a, o);
    case ORDER_QUIT:
        return do_quit(a, o);
    case ORDER_PROBE:
        return do_probe(a, o);
    case ORDER_REFUSE:
        return do_refuse(a, o);
    case ORDER_TOLD:
        return do_told(a, o);
    }
    buf_puts(&o->why, "not understood: a newer version of the agent may");
    return ST_UNSUPPORTED;
}

/* ---- in order ---- */

static status keep_pages(struct agent *a, const struct compare_job *j)
{
    struct parts p = {0};
    for (size_t i = 0; i < j->parts.count; i++) {
        char name[32];
        snprintf(name, sizeof(name), "#%zu", i);
        parts_put(&p, span_str(name), j->parts.items[i]);
    }
    status st = parts_write(a->data, j->order, &p);
    parts_done(&p);
    return st;
}

/* Disk trouble passes: the order is tried again, not answered. */
static bool is_passing(status st)
{
    return st == ST_AGAIN || st == ST_IO || st == ST_FULL || st == ST_CANCELLED || st == ST_BUSY;
}

static void settle(struct agent *a, struct agent_order *o, status st, bool has_parts)
{
    bool is_told = st != ST_OK || has_parts || o->kind == ORDER_END_TASK || o->kind == ORDER_FETCH ||
                   o->kind == ORDER_UPDATE || o->kind == ORDER_PROGRAM || o->kind == ORDER_REKEY;
    if (st != ST_OK) {
        struct buf text = {0};
        log_escape(&text, buf_span(&o->why), 200);
        log_write(a->log, LOG_WARN, "orders", "not carried out number=%llu kind=%d status=%s why=\"%s\"",
                  (unsigned long long)o->number, (int)o->kind, status_name(st), buf_cstr(&text));
        buf_done(&text);
    }
    if (st == ST_REFUSED) {
        struct buf text = {0};
        buf_printf(&text, "order %llu: ", (unsigned long long)o->number);
        buf_put(&text, buf_span(&o->why));
        agent_refused(a, buf_span(&text));
        buf_done(&text);
    }
    pthread_mutex_lock(&a->lock);
    if (is_told)
        state_outcome_put(&a->state, o->number, st, buf_span(&o->why), has_parts);
    a->is_state_dirty = true;
    pthread_mutex_unlock(&a->lock);
    if (o->kind == ORDER_REKEY)
        a->is_rekeying = false;
    o->is_settled = true;
}

/* Lock held: drops those that are done and says up to where that is. */
static void count_done(struct agent *a)
{
    struct agent_order **at = &a->orders;
    uint64_t lowest_open = 0;
    while (*at) {
        struct agent_order *o = *at;
        if (!o->is_settled) {
            lowest_open = lowest_open ? lowest_open : o->number;
            at = &o->next;
            continue;
        }
        *at = o->next;
        order_free(o);
        a->orders_open--;
    }
    a->orders_end = at;
    uint64_t done = lowest_open ? lowest_open - 1 : a->orders_taken;
    if (done > a->state.orders_done) {
        a->state.orders_done = done;
        a->is_state_dirty = true;
    }
}

/* What is said of a task is done in that order: a network that ends, and is given back before its packages have
 * arrived, is forgotten first. */
static bool waits_for_another(const struct agent_order *first, const struct agent_order *o)
{
    for (const struct agent_order *before = first; o->task && before != o; before = before->next)
        if (before->task == o->task && !before->is_settled)
            return true;
    return false;
}

void orders_step(struct agent *a)
{
    status st = ST_OK;
    pthread_mutex_lock(&a->lock);
    struct agent_order *first = a->orders;
    pthread_mutex_unlock(&a->lock);
    /* The link only appends, and writes `next` of the last under the lock. */
    for (struct agent_order *o = first; o;) {
        bool has_parts = false;
        if (!o->is_settled && !waits_for_another(first, o)) {
            if (!o->begun)
                o->begun = clock_mono();
            st = perform(a, o, &has_parts);
            o->is_begun = true;
            if (!is_passing(st)) {
                settle(a, o, st, has_parts);
                a->has_settled = true;
            }
        }
        pthread_mutex_lock(&a->lock);
        o = o->next;
        pthread_mutex_unlock(&a->lock);
    }
    if (a->crawl)
        crawl_release(a->crawl); /* the disk is waited for without its shards */
    st = tasks_keep_parts(a->tasks);
    if (st != ST_OK) {
        log_write(a->log, LOG_ERROR, "orders", "hosts that leave cannot be written down status=%s", status_name(st));
        return;
    }
    if (a->crawl && tasks_need_settling(a->tasks)) {
        st = crawl_settle(a->crawl);
        if (st == ST_OK)
            st = tasks_settled(a->tasks);
        if (st != ST_OK) {
            log_write(a->log, LOG_ERROR, "orders", "what was ordered cannot be written down status=%s",
                      status_name(st));
            return; /* nothing counts as done */
        }
    }
    if (!a->has_settled)
        return;
    if (tasks_write_down(a->tasks) != ST_OK) {
        log_write(a->log, LOG_ERROR, "orders", "tasks cannot be written down: disk full?");
        return;
    }
    a->has_settled = false;
    pthread_mutex_lock(&a->lock);
    count_done(a);
    pthread_mutex_unlock(&a->lock);
    if (agent_save(a) != ST_OK)
        log_write(a->log, LOG_ERROR, "orders", "the state cannot be written down");
    agent_wake(a);
}
