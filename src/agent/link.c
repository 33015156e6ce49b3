/* link.c - the thread that talks to the coordinator: reports go up, orders come down. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/parts.h"
#include "agent/told.h"
#include "agent/update.h"
#include "base/mem.h"
#include "codec/armor.h"
#include "io/clock.h"
#include "io/entropy.h"
#include "store/file.h"
#include "wire/paths.h"

#define CALL_MS 30000
#define REFUSED_MS (5 * 60 * 1000)   /* after a 403 or a 409 */
#define VERSIONS_MS (10 * 60 * 1000) /* after a 426 */
#define OPEN_ORDERS_MS 500           /* while orders are being carried out, their outcomes do not wait long */
#define VISITS_MS 5000               /* while known pages are looked at again, their end does not wait long, either */
#define PROBES_GATHER_MS 100
#define REPORT_PARTS_MAX (CONTROL_BYTES_MAX - (256u << 10)) /* the rest of a report is smaller than the rest */
#define STATES_BYTES_MAX (2ull << 30)
#define ALL_TASKS_MS 60000 /* so often a report tells of all tasks, news or not */

struct link {
    struct agent *a;
    struct session_line *line;
    struct rng rng;
    unsigned failures; /* in a row */
    bool has_tried_next_key;
    /* of the report under way */
    struct arena arena;
    struct buf body;
    size_t strays, probes;
    uint64_t orders_done;
    bool has_setup;
    struct sent {
        uint64_t number;
        size_t parts_sent;
        bool is_all;
    } * sent;
    size_t sent_count, sent_cap;
    size_t refused_sent;
    struct told told;
    mono_ms all_told; /* when it last heard of all of them */
    bool tells_all;
    bool holds_back; /* not all orders that are done could be called so: the tasks were not believed to be, either */
};

static void sleep_ms(struct agent *a, int64_t ms)
{
    mono_ms until = clock_mono() + ms;
    pthread_mutex_lock(&a->lock);
    while (!a->is_stopping && clock_mono() < until)
        agent_wait(a, until - clock_mono());
    pthread_mutex_unlock(&a->lock);
}

static bool is_stopping(struct agent *a)
{
    pthread_mutex_lock(&a->lock);
    bool stopping = a->is_stopping;
    pthread_mutex_unlock(&a->lock);
    return stopping;
}

static void set_trouble(struct agent *a, const char *text)
{
    pthread_mutex_lock(&a->lock);
    bool is_new = !span_is(buf_span(&a->trouble), text);
    buf_clear(&a->trouble);
    buf_puts(&a->trouble, text);
    a->is_away = text[0] != '\0';
    pthread_mutex_unlock(&a->lock);
    if (is_new && text[0])
        log_write(a->log, LOG_WARN, "link", "%s", text);
    else if (is_new)
        log_write(a->log, LOG_INFO, "link", "the coordinator answers");
}

/* ---- the report ---- */

/* Hosts that an ended task hands over may be more than one report holds: ST_AGAIN says that more parts follow. */
static void put_outcome(struct link *l, const struct state_outcome *o, struct outcome *out, size_t *room)
{
    struct parts parts = {0};
    struct sent s = {.number = o->number, .parts_sent = o->parts_sent, .is_all = true};
    *out = (struct outcome){.number = o->number, .st = o->st, .why = arena_copy(&l->arena, buf_span(&o->why))};
    if (o->has_parts && parts_read(l->a->data, o->number, &parts) == ST_OK && o->parts_sent < parts.count) {
        struct span *list = arena_alloc(&l->arena, (parts.count - o->parts_sent) * sizeof(*list));
        size_t n = 0;
        while (s.parts_sent < parts.count) {
            struct span packed = buf_span(&parts.items[s.parts_sent].packed);
            if (packed.n > *room && *room < REPORT_PARTS_MAX)
                break; /* one that is larger than all the room goes alone */
            list[n++] = arena_copy(&l->arena, packed);
            *room -= packed.n < *room ? packed.n : *room;
            s.parts_sent++;
        }
        out->parts = list;
        out->part_count = n;
        s.is_all = s.parts_sent == parts.count;
        if (!s.is_all)
            out->st = ST_AGAIN;
    }
    parts_done(&parts);
    l->sent = mem_grow(l->sent, &l->sent_cap, l->sent_count + 1, sizeof(*l->sent));
    l->sent[l->sent_count++] = s;
}

/* Lock held. */
static void put_outcomes(struct link *l, struct report *r)
{
    struct state *s = &l->a->state;
    struct outcome *list = arena_alloc(&l->arena, (s->outcome_count + 1) * sizeof(*list));
    size_t room = REPORT_PARTS_MAX, n = 0;
    l->sent_count = 0;
    while (n < s->outcome_count && room) {
        put_outcome(l, &s->outcomes[n], &list[n], &room);
        n++;
        if (!l->sent[n - 1].is_all)
            break; /* in order: the next ones wait */
    }
    r->outcomes = list;
    r->outcome_count = n;
    /* An order is done for the coordinator when it has all that came of it: it listens to no outcome of an older one.
     */
    for (size_t i = 0; i < s->outcome_count; i++)
        if ((i >= n || !l->sent[i].is_all) && s->outcomes[i].number <= r->orders_done)
            r->orders_done = s->outcomes[i].number - 1;
    l->orders_done = r->orders_done;
}

/* Lock held. */
static void put_refusals(struct link *l, struct report *r)
{
    struct state *s = &l->a->state;
    struct span *list = arena_alloc(&l->arena, (AGENT_REFUSED_A_REPORT + 1) * sizeof(*list));
    size_t n = 0;
    l->refused_sent = 0;
    for (size_t i = 0; i < s->refusal_count && n < AGENT_REFUSED_A_REPORT; i++)
        if (!s->refusals[i].is_reported) {
            list[n++] = arena_copy(&l->arena, buf_span(&s->refusals[i].text));
            l->refused_sent = i + 1;
        }
    r->refused = list;
    r->refused_count = n;
}

/* Lock held. */
static void put_setup(struct link *l, struct report *r)
{
    struct agent *a = l->a;
    size_t n;
    machine_setup(&l->arena, a->data, &r->setup);
    r->setup.place = conf_text(a->conf, CONF_PLACE);
    r->setup.bandwidth_bytes_per_s = a->bandwidth;
    r->setup.own_sites = conf_list(a->conf, CONF_OWN_SITE, &n);
    r->setup.own_site_count = n;
    r->setup.refused_countries = conf_list(a->conf, CONF_REFUSE_COUNTRY, &n);
    r->setup.refused_country_count = n;
    r->has_setup = true;
}

/* Now and then of all of them; also to a coordinator that could not be reached: it may be another run. Lock held. */
static void put_tasks(struct link *l, struct report *r)
{
    struct task_report *news = arena_alloc(&l->arena, (r->task_count + 1) * sizeof(*news));
    bool held_back = l->holds_back;
    l->holds_back = r->orders_done < l->a->snapshot.r.orders_done;
    l->tells_all = l->failures || held_back || clock_mono() - l->all_told >= ALL_TASKS_MS;
    r->task_count = told_news(&l->told, r->tasks, l->a->snapshot.orders, r->task_count, l->tells_all, news);
    r->tasks = news;
}

static void make_report(struct link *l)
{
    struct agent *a = l->a;
    struct spool_counts spool;
    arena_reset(&l->arena);
    buf_clear(&l->body);
    spool_get_counts(a->spool, &spool);
    pthread_mutex_lock(&a->lock);
    struct report r = a->snapshot.r;
    r.wire_version = WIRE_VERSION;
    r.version = a->version;
    r.boot = a->boot;
    r.sequence = spool_newest(a->spool);
    r.spool_packages = spool.packages + (package_sink_open_visits(a->sink) > 0);
    r.spool_bytes = spool.bytes;
    r.uptime_ms = clock_mono() - a->started;
    r.orders_taken = a->orders_taken;
    put_outcomes(l, &r);
    put_tasks(l, &r);
    put_refusals(l, &r);
    l->has_setup = a->wants_setup;
    if (a->wants_setup)
        put_setup(l, &r);
    struct stray_host *strays = gate_strays(a->gate, &l->arena, &l->strays);
    r.strays = strays;
    r.stray_count = l->strays;
    r.probes = probes_results(a->probes, &l->arena, &l->probes);
    r.probe_count = l->probes;
    if (!l->failures) /* a report that may not arrive leaves them where they are */
        r.timings = timings_take(a->timings, &l->arena, &r.timing_count);
    report_pack(&r, &l->body);
    pthread_mutex_unlock(&a->lock);
}

/* The coordinator has heard it. */
static void report_arrived(struct link *l)
{
    struct agent *a = l->a;
    told_arrived(&l->told);
    if (l->tells_all)
        l->all_told = clock_mono();
    gate_strays_told(a->gate, l->strays);
    probes_told(a->probes, l->probes);
    pthread_mutex_lock(&a->lock);
    for (size_t i = 0; i < l->sent_count; i++) {
        const struct sent *s = &l->sent[i];
        if (s->is_all) {
            state_outcome_remove(&a->state, s->number);
            parts_remove(a->data, s->number);
            continue;
        }
        for (size_t k = 0; k < a->state.outcome_count; k++)
            if (a->state.outcomes[k].number == s->number)
                a->state.outcomes[k].parts_sent = s->parts_sent;
    }
    for (size_t i = 0; i < l->refused_sent && i < a->state.refusal_count; i++)
        a->state.refusals[i].is_reported = true;
    if (l->has_setup)
        a->wants_setup = false;
    if (l->orders_done > a->reported_done)
        a->reported_done = l->orders_done;
    a->polls_good++;
    a->is_state_dirty = true;
    pthread_mutex_unlock(&a->lock);
}

/* ---- what orders need before they can be carried out ---- */

static status get(struct link *l, const char *target, size_t most, struct http_answer *answer)
{
    return session_call(
        l->line,
        &(struct http_call){.method = "GET", .target = span_str(target), .answer_max = most, .timeout_ms = CALL_MS},
        answer);
}

/* Appends the states of one answer; *after is 0 at the end. */
static status take_states(struct span body, int fd, uint64_t *after)
{
    struct fields f = fields_of(body);
    struct buf out = {0};
    struct span v;
    unsigned tag;
    *after = 0;
    while (fields_next(&f, &tag, &v)) {
        if (tag == 1)
            pack_text(&out, v);
        else if (tag == 2)
            *after = value_u64(v);
    }
    status st = fields_bad(&f) ? ST_PROTOCOL : file_write_all(fd, buf_span(&out));
    buf_done(&out);
    return st;
}

static status fetch_states(struct link *l, uint64_t task)
{
    struct buf path = {0}, tmp = {0}, target = {0};
    struct http_answer answer = {0};
    uint64_t after = 0, before = 0, total = 0;
    tasks_states_path(l->a->data, task, &path);
    buf_put(&tmp, buf_span(&path));
    buf_puts(&tmp, ".tmp");
    int fd = open(buf_cstr(&tmp), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    status st = fd < 0 ? ST_IO : ST_OK;
    do {
        buf_clear(&target);
        buf_printf(&target, PATH_STATES "?task=%llu&after=%llu", (unsigned long long)task, (unsigned long long)after);
        if (st == ST_OK)
            st = get(l, buf_cstr(&target), 64u << 20, &answer);
        if (st == ST_OK && answer.status != 200)
            st = ST_PROTOCOL;
        before = after;
        if (st == ST_OK)
            st = take_states(buf_span(&answer.body), fd, &after);
        total += answer.body.n;
        if (st == ST_OK && ((after && after <= before) || total > STATES_BYTES_MAX))
            st = ST_PROTOCOL;
    } while (st == ST_OK && after && !is_stopping(l->a));
    if (st == ST_OK)
        st = file_sync(fd);
    if (fd >= 0)
        close(fd);
    if (st == ST_OK && rename(tmp.p, path.p) != 0)
        st = ST_IO;
    http_answer_done(&answer);
    buf_done(&path);
    buf_done(&tmp);
    buf_done(&target);
    return is_stopping(l->a) ? ST_CANCELLED : st;
}

static status fetch_blob(struct link *l, const struct update_order *o)
{
    struct buf path = {0}, target = {0}, dir = {0};
    struct http_answer answer = {0};
    uint64_t have = 0;
    buf_printf(&dir, "%s/bin", l->a->data);
    status st = file_mkdir(buf_cstr(&dir));
    update_part_path(l->a->data, o->version, &path);
    int fd = st == ST_OK ? open(path.p, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
    if (st == ST_OK && fd < 0)
        st = ST_IO;
    while (st == ST_OK && have < o->bytes) {
        buf_clear(&target);
        buf_puts(&target, PATH_BLOB);
        hex_put(&target, o->digest);
        buf_printf(&target, "?offset=%llu", (unsigned long long)have);
        st = get(l, buf_cstr(&target), PATH_PIECE_MAX, &answer);
        if (st == ST_OK && (answer.status != 200 || !answer.body.n || have + answer.body.n > o->bytes))
            st = ST_PROTOCOL;
        if (st == ST_OK)
            st = file_write_all(fd, buf_span(&answer.body));
        have += answer.body.n;
        if (is_stopping(l->a))
            st = ST_CANCELLED;
    }
    if (st == ST_OK)
        st = file_sync(fd);
    if (fd >= 0)
        close(fd);
    if (st == ST_OK)
        st = update_accept(l->a->data, o);
    http_answer_done(&answer);
    buf_done(&path);
    buf_done(&target);
    buf_done(&dir);
    return st;
}

static status prepare_update(struct link *l, struct agent_order *order)
{
    struct update_order o;
    struct sign_public key;
    struct span text = conf_text(l->a->conf, CONF_UPDATE_KEY);
    bool has_key = conf_flag(l->a->conf, CONF_UPDATE) && base64url_get(text, key.b, sizeof(key.b)) == ST_OK;
    order->prepared = update_order_unpack(buf_span(&order->body), &o);
    if (order->prepared == ST_OK)
        order->prepared = update_check(l->a->data, &o, has_key ? &key : NULL, l->a->version, &order->why);
    if (order->prepared != ST_OK)
        return ST_OK;
    status st = fetch_blob(l, &o);
    if (st == ST_CORRUPT) { /* what came is not what was signed: no use to try for ever */
        order->prepared = ST_CORRUPT;
        buf_puts(&order->why, "the file that came is not the one that was signed");
        st = ST_OK;
    }
    return st;
}

/* What must be fetched first is; other statuses than ST_OK: not now, the order will be given again. */
static status prepare(struct link *l, struct agent_order *order)
{
    struct task_order t;
    status st = ST_OK;
    if (order->kind == ORDER_UPDATE)
        return prepare_update(l, order);
    if (order->kind != ORDER_TASK)
        return ST_OK;
    if (task_order_unpack(&l->arena, buf_span(&order->body), &t) != ST_OK || !t.states)
        return ST_OK;
    st = fetch_states(l, t.task);
    order->has_states = st == ST_OK;
    return st;
}

static void order_free(struct agent_order *o)
{
    buf_done(&o->body);
    buf_done(&o->why);
    free(o);
}

/* Its tag is 1 in all orders that have one. */
static uint64_t task_of(const struct order *o)
{
    struct fields f = fields_of(o->body);
    struct span v;
    unsigned tag;
    bool has_task =
        o->kind == ORDER_TASK || o->kind == ORDER_END_TASK || o->kind == ORDER_RECHECK || o->kind == ORDER_TOLD;
    while (has_task && fields_next(&f, &tag, &v))
        if (tag == 1)
            return value_u64(v);
    return 0;
}

static status take_order(struct link *l, const struct order *given)
{
    struct agent *a = l->a;
    pthread_mutex_lock(&a->lock);
    bool is_next = given->number == a->orders_taken + 1;
    bool is_old = given->number <= a->orders_taken;
    pthread_mutex_unlock(&a->lock);
    if (is_old)
        return ST_OK;
    if (!is_next)
        return ST_PROTOCOL; /* a gap: those in between come first */
    struct agent_order *o = mem_alloc(sizeof(*o));
    o->number = given->number;
    o->kind = given->kind;
    o->task = task_of(given);
    buf_put(&o->body, given->body);
    status st = prepare(l, o);
    if (st != ST_OK) {
        order_free(o);
        return st;
    }
    pthread_mutex_lock(&a->lock);
    *a->orders_end = o;
    a->orders_end = &o->next;
    a->orders_taken = o->number;
    a->orders_open++;
    pthread_mutex_unlock(&a->lock);
    return ST_OK;
}

/* ---- the answer ---- */

static void note_have(struct link *l, uint64_t have, uint64_t acknowledged_before)
{
    struct agent *a = l->a;
    uint64_t newest = spool_newest(a->spool);
    status st = ST_OK;
    if (!spool_is_settled(a->spool))
        return; /* the folder cannot be opened yet: nothing is known of packages */
    if (have > newest) {
        if (spool_skip_to(a->spool, have)) /* there may be no package for a long time */
            log_write(a->log, LOG_WARN, "link",
                      "the coordinator has packages that this folder does not know have=%llu ours=%llu",
                      (unsigned long long)have, (unsigned long long)newest);
    } else if (have < acknowledged_before) {
        log_write(a->log, LOG_WARN, "link", "the coordinator has lost packages: they go again from=%llu",
                  (unsigned long long)have + 1);
        st = spool_rewind(a->spool, have);
    } else {
        st = spool_acknowledge(a->spool, have);
    }
    if (st != ST_OK)
        log_write(a->log, LOG_WARN, "link", "the spool cannot be put in order status=%s", status_name(st));
    agent_wake(a);
}

/* The coordinator gives all that is open from the lowest on. When that is not the next one for us, those in between
 * were carried out by somebody whom this folder does not remember: a machine before this one, or a later state of this
 * folder. */
static void skip_forgotten(struct agent *a, const struct poll_answer *p)
{
    pthread_mutex_lock(&a->lock);
    uint64_t next = p->order_count ? p->orders[0].number : 0, known = a->orders_taken;
    bool is_behind = next > known + 1 && !a->orders_open;
    if (is_behind) {
        a->orders_taken = a->state.orders_done = next - 1;
        a->is_state_dirty = true;
    }
    pthread_mutex_unlock(&a->lock);
    if (is_behind)
        log_write(a->log, LOG_WARN, "link",
                  "orders were carried out that this folder does not know: it goes on with those that come "
                  "known=%llu done=%llu",
                  (unsigned long long)known, (unsigned long long)next - 1);
}

static status take_answer(struct link *l, struct span body, mono_ms sent, uint64_t acknowledged)
{
    struct agent *a = l->a;
    struct poll_answer p;
    status st = poll_answer_unpack(&l->arena, body, &p);
    if (st != ST_OK)
        return ST_PROTOCOL;
    report_arrived(l);
    skip_forgotten(a, &p);
    pthread_mutex_lock(&a->lock);
    uint64_t taken = a->orders_taken;
    a->has_all_orders = false;
    gov_heard(&a->gov, machine_boottime(), sent, p.lease_ms);
    a->heard_at = clock_mono();
    a->wants_setup |= p.wants_setup;
    pthread_mutex_unlock(&a->lock);
    note_have(l, p.have, acknowledged);
    for (size_t i = 0; i < p.order_count && st == ST_OK; i++)
        st = take_order(l, &p.orders[i]);
    pthread_mutex_lock(&a->lock);
    a->has_all_orders = st == ST_OK && a->orders_taken == taken;
    pthread_mutex_unlock(&a->lock);
    return st;
}

/* A rekey may have been taken by the coordinator, and the answer lost: then it is the next key that it knows. */
static bool try_next_key(struct link *l)
{
    struct agent *a = l->a;
    struct sign_key next;
    if (l->has_tried_next_key || key_next(a->data, &next) != ST_OK)
        return false;
    l->has_tried_next_key = true;
    session_set_key(a->session, &next);
    log_write(a->log, LOG_WARN, "link", "not known to the coordinator by this key: the next one is tried");
    sign_wipe(&next, sizeof(next));
    return true;
}

static void settle_key(struct link *l, bool is_good)
{
    struct agent *a = l->a;
    struct sign_key next;
    l->has_tried_next_key = false;
    if (!is_good) {
        session_set_key(a->session, &a->key);
    } else if (key_next(a->data, &next) == ST_OK && key_replace(a->data) == ST_OK) {
        pthread_mutex_lock(&a->lock);
        a->key = next;
        package_sink_set_names(a->sink, a->state.agent, &a->state.identity, &a->key);
        pthread_mutex_unlock(&a->lock);
        sign_wipe(&next, sizeof(next));
    }
}

/* Milliseconds until the next report. */
static int64_t after_answer(struct link *l, const struct http_answer *answer)
{
    struct agent *a = l->a;
    pthread_mutex_lock(&a->lock);
    a->is_double = answer->status == 409;
    pthread_mutex_unlock(&a->lock);
    if (answer->status == 403 && try_next_key(l))
        return 0;
    if (l->has_tried_next_key)
        settle_key(l, answer->status == 200);
    switch (answer->status) {
    case 200:
        return 0;
    case 403:
        set_trouble(a, "the coordinator does not know this agent, or has removed it");
        return REFUSED_MS;
    case 409:
        set_trouble(a, "another process has this agent's key: was its folder copied? Stop one of them, and give the "
                       "copy a folder and a line of its own");
        return REFUSED_MS;
    case 426:
        set_trouble(a, "the versions of coordinator and agent do not fit: update one of them");
        return VERSIONS_MS;
    default:
        set_trouble(a, "the coordinator is busy or in trouble");
        return session_retry_ms(answer, session_backoff_ms(++l->failures, &l->rng));
    }
}

static int64_t after_failure(struct link *l, status st, const struct http_answer *answer)
{
    struct agent *a = l->a;
    struct buf why = {0};
    char pin[JOIN_PIN_MAX];
    int64_t pause = session_backoff_ms(++l->failures, &l->rng);
    if (st == ST_PROTOCOL && (answer->status == 403 || answer->status == 426)) {
        /* Not signed, because for us there is nobody to sign for: the pinned connection says who it was. */
        pause = after_answer(l, answer);
    } else if (st == ST_REFUSED && session_refresh_pin(a->session, pin, &why) == ST_OK) {
        log_write(a->log, LOG_WARN, "link", "the coordinator has a new TLS key, signed by the identity that we know");
        pthread_mutex_lock(&a->lock);
        memcpy(a->state.pin, pin, sizeof(pin));
        pthread_mutex_unlock(&a->lock);
        if (agent_save(a) != ST_OK)
            log_write(a->log, LOG_ERROR, "link", "the new TLS key cannot be written down");
        pause = 0;
    } else if (st != ST_CANCELLED) {
        if (!why.n)
            buf_printf(&why, "the coordinator cannot be reached (%s)", status_name(st));
        set_trouble(a, buf_cstr(&why));
    }
    buf_done(&why);
    return pause;
}

/* Results of probes wait to be told. */
static bool has_probes(struct agent *a)
{
    struct probes_counts c;
    probes_get_counts(a->probes, &c);
    return c.results > 0;
}

/* Nothing is crawled before all that was ordered meanwhile is here. Lock held. */
static bool is_behind(const struct agent *a)
{
    return a->gov.is_behind && !a->has_all_orders;
}

static int64_t poll_once(struct link *l)
{
    struct agent *a = l->a;
    struct http_answer answer = {0};
    struct buf target = {0};
    make_report(l);
    pthread_mutex_lock(&a->lock);
    /* What was done is told, and known to have been heard, without waiting. */
    bool has_news = a->orders_open || a->state.outcome_count || a->snapshot.r.orders_done > a->reported_done ||
                    probes_are_under_way(a->probes) || has_probes(a) || is_behind(a);
    int64_t wait = has_news || !a->polls_good ? 0 : a->limits.poll_ms;
    if (a->snapshot.has_visits && wait > VISITS_MS)
        wait = VISITS_MS;
    int64_t lease =
        a->gov.has_lease && a->gov.lease_until != MONO_NEVER ? a->gov.lease_until - machine_boottime() : wait;
    int64_t open = a->hours_change - agent_wall(a); /* nobody is talked to after the hours */
    pthread_mutex_unlock(&a->lock);
    if (open < wait)
        wait = open > 0 ? open : 0;
    if (lease < 3 * wait) /* a third of what is left: time for another try when this one is lost */
        wait = lease > 0 ? lease / 3 : 0;
    buf_printf(&target, PATH_POLL "?wait=%lld", (long long)wait);
    mono_ms sent = machine_boottime();
    uint64_t acknowledged = spool_acknowledged(a->spool);
    status st = session_call(l->line,
                             &(struct http_call){.method = "POST",
                                                 .target = buf_span(&target),
                                                 .body = buf_span(&l->body),
                                                 .answer_max = CONTROL_ANSWER_MAX + 4096,
                                                 .timeout_ms = (int)wait + CALL_MS},
                             &answer);
    int64_t pause = 0;
    if (st == ST_OK && answer.status == 200)
        st = take_answer(l, buf_span(&answer.body), sent, acknowledged);
    if (st == ST_OK)
        pause = after_answer(l, &answer);
    else
        pause = after_failure(l, st, &answer);
    if (st == ST_OK && answer.status == 200) {
        l->failures = 0;
        set_trouble(a, "");
    }
    http_answer_done(&answer);
    buf_done(&target);
    return pause;
}

/* ---- a new key of our own ---- */

static status send_new_key(struct link *l, const struct sign_key *fresh)
{
    struct agent *a = l->a;
    struct buf body = {0};
    struct signature sig;
    struct http_answer answer = {0};
    sign_make(fresh, span_of(a->key.open.b, sizeof(a->key.open.b)), &sig);
    field_text(&body, 1, span_of(fresh->open.b, sizeof(fresh->open.b)));
    field_text(&body, 2, span_of(sig.b, sizeof(sig.b)));
    status st = session_call(l->line,
                             &(struct http_call){.method = "POST",
                                                 .target = SPAN(PATH_REKEY),
                                                 .body = buf_span(&body),
                                                 .answer_max = 4096,
                                                 .timeout_ms = CALL_MS},
                             &answer);
    if (st == ST_OK && answer.status != 200)
        st = ST_REFUSED;
    http_answer_done(&answer);
    buf_done(&body);
    return st;
}

static void rekey(struct link *l)
{
    struct agent *a = l->a;
    struct sign_key fresh;
    status st = key_next(a->data, &fresh); /* of a try that got no answer */
    if (st == ST_NOT_FOUND)
        st = key_draw_next(a->data, &fresh);
    if (st == ST_OK)
        st = send_new_key(l, &fresh);
    if (st == ST_OK)
        st = key_replace(a->data);
    pthread_mutex_lock(&a->lock);
    if (st == ST_OK) {
        a->key = fresh;
        session_set_key(a->session, &fresh);
        package_sink_set_names(a->sink, a->state.agent, &a->state.identity, &a->key);
    }
    a->rekey.is_wanted = false;
    a->rekey.is_done = true;
    a->rekey.st = st;
    pthread_mutex_unlock(&a->lock);
    sign_wipe(&fresh, sizeof(fresh));
}

/* ---- the thread ---- */

/* Outside the hours nobody is talked to, and not before it is known what is in the folder. Lock held. */
static bool wait_for_hours(struct agent *a)
{
    while (!(a->may_talk && a->was_opened) && !a->is_stopping)
        agent_wait(a, 1000);
    return !a->is_stopping;
}

/* While orders or probes are under way: until one is done, or half a second. Results of probes gather for a moment
 * while more are coming. Lock held. */
static void wait_for_outcome(struct agent *a)
{
    mono_ms begun = clock_mono(), now = begun;
    uint64_t done = a->snapshot.r.orders_done;
    while ((a->orders_open || probes_are_under_way(a->probes)) && !a->is_stopping &&
           a->snapshot.r.orders_done == done && !a->rekey.is_wanted) {
        mono_ms until = begun + (has_probes(a) ? PROBES_GATHER_MS : OPEN_ORDERS_MS);
        if (now >= until)
            break;
        agent_wait(a, until - now);
        now = clock_mono();
    }
}

void *link_thread(void *arg)
{
    struct agent *a = arg;
    struct link l = {.a = a};
    uint64_t seed = 0;
    if (entropy_draw(&seed, sizeof(seed)) != ST_OK)
        seed = (uint64_t)clock_mono(); /* good enough for jitter */
    rng_seed(&l.rng, seed);
    arena_init(&l.arena);
    if (session_line_new(a->session, &l.line) != ST_OK)
        return NULL;
    for (;;) {
        pthread_mutex_lock(&a->lock);
        bool go_on = wait_for_hours(a);
        if (go_on && a->polls_good && !is_behind(a))
            wait_for_outcome(a);
        bool wants_rekey = a->rekey.is_wanted;
        go_on = go_on && !a->is_stopping;
        pthread_mutex_unlock(&a->lock);
        if (!go_on)
            break;
        if (wants_rekey)
            rekey(&l);
        int64_t pause = poll_once(&l);
        if (pause)
            sleep_ms(a, pause);
    }
    session_line_free(l.line);
    arena_done(&l.arena);
    buf_done(&l.body);
    free(l.sent);
    told_done(&l.told);
    return NULL;
}
