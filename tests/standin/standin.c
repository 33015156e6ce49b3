#include "standin.h"

#include <stdlib.h>

#include "base/mem.h"
#include "io/clock.h"
#include "io/entropy.h"
#include "wire/paths.h"

#define CALL_MS 60000
#define SEND_TRIES 8 /* refused pieces in a row */

struct standin {
    struct sign_key key;
    struct session *session;
    struct session_line *polls, *packages;
    struct session_joined joined;
    struct digest256 fingerprint;
    struct buf version;
    standin_fetch_fn *fetch;
    standin_probe_fn *probe;
    standin_path_fn *path;
    void *arg;
    uint64_t boot;
    mono_ms started;
    /* of the thread that polls */
    uint64_t orders_done;
    bool obeys, wants_setup;
    struct standin_task **tasks; /* owned, each too */
    size_t task_count, task_cap;
    task_state told_state;
    uint64_t told_fetched;
    struct agent_settings settings;
    struct outcome *outcomes; /* owned array: not told yet, in `made` */
    size_t outcome_count, outcome_cap;
    struct probe_report *probes; /* owned array: not told yet, as outcomes */
    size_t probe_count, probe_cap;
    struct arena made;
    struct arena answer; /* of the last poll */
    struct order *fresh; /* in it */
    size_t fresh_count;
    /* packages */
    _Atomic uint64_t sequence;
};

/* ---- life ---- */

status standin_join(const struct standin_opts *o, struct standin **out, struct buf *why)
{
    struct join_line line;
    unsigned char seed[SIGN_SEED_BYTES];
    status st = join_line_parse(o->line, &line);
    if (st != ST_OK)
        buf_puts(why, "no line to join with");
    if (st == ST_OK && !o->seed)
        st = entropy_draw(seed, sizeof(seed));
    if (st != ST_OK)
        return st;
    struct standin *s = mem_alloc(sizeof(*s));
    sign_key_of(o->seed ? o->seed : seed, &s->key);
    s->fetch = o->fetch;
    s->probe = o->probe;
    s->path = o->path;
    s->arg = o->arg;
    s->obeys = s->wants_setup = true;
    s->told_state = TASK_RUNNING;
    s->started = clock_mono();
    buf_put(&s->version, o->version.n ? o->version : SPAN("0.1.0"));
    arena_init(&s->made);
    arena_init(&s->answer);
    st = entropy_draw(&s->boot, sizeof(s->boot));
    s->session = session_new(&(struct session_opts){.key = &s->key, .user_agent = SPAN("standin"), .log = o->log});
    if (st == ST_OK)
        st = session_join(s->session, &line, buf_span(&s->version), &s->joined, why);
    if (st == ST_OK)
        st = session_line_new(s->session, &s->polls);
    if (st == ST_OK)
        st = session_line_new(s->session, &s->packages);
    if (st != ST_OK) {
        standin_free(s);
        return st;
    }
    s->fingerprint = digest_sha256(span_of(s->joined.identity.b, sizeof(s->joined.identity.b)));
    *out = s;
    return ST_OK;
}

static void texts_free(struct span *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free((void *)(uintptr_t)list[i].p);
    free(list);
}

void standin_free(struct standin *s)
{
    if (!s)
        return;
    session_line_free(s->polls);
    session_line_free(s->packages);
    session_free(s->session);
    session_joined_done(&s->joined);
    for (size_t i = 0; i < s->task_count; i++) {
        struct standin_task *t = s->tasks[i];
        texts_free(t->networks, t->network_count);
        texts_free(t->seeds, t->seed_count);
        channel_free(t->channel);
        free(t);
    }
    free(s->tasks);
    free(s->outcomes);
    free(s->probes);
    arena_done(&s->made);
    arena_done(&s->answer);
    buf_done(&s->version);
    sign_wipe(&s->key, sizeof(s->key));
    free(s);
}

void standin_cancel(struct standin *s)
{
    session_cancel(s->session);
}

uint64_t standin_number(const struct standin *s)
{
    return s->joined.agent;
}

const char *standin_name(const struct standin *s)
{
    return s->joined.name;
}

const struct sign_key *standin_key(const struct standin *s)
{
    return &s->key;
}

struct session *standin_session(struct standin *s)
{
    return s->session;
}

uint64_t standin_bytes_sent(struct standin *s)
{
    return session_bytes_sent(s->session);
}

uint64_t standin_bytes_received(struct standin *s)
{
    return session_bytes_received(s->session);
}

/* ---- tasks ---- */

size_t standin_task_count(const struct standin *s)
{
    return s->task_count;
}

const struct standin_task *standin_task(const struct standin *s, size_t i)
{
    return s->tasks[i];
}

const struct standin_task *standin_task_by_number(const struct standin *s, uint64_t number)
{
    for (size_t i = 0; i < s->task_count; i++)
        if (s->tasks[i]->number == number)
            return s->tasks[i];
    return NULL;
}

static void add_text(struct span **list, size_t *n, size_t *cap, struct span text)
{
    for (size_t i = 0; i < *n; i++)
        if (span_eq((*list)[i], text))
            return;
    *list = mem_grow(*list, cap, *n + 1, sizeof(**list));
    (*list)[(*n)++] = span_of(mem_str(text), text.n);
}

static struct standin_task *own_task(struct standin *s, uint64_t number)
{
    struct standin_task *t = (struct standin_task *)(uintptr_t)standin_task_by_number(s, number);
    if (t)
        return t;
    t = mem_alloc(sizeof(*t));
    t->number = number;
    s->tasks = mem_grow(s->tasks, &s->task_cap, s->task_count + 1, sizeof(struct standin_task *));
    return s->tasks[s->task_count++] = t;
}

static status take_task(struct standin *s, struct span body)
{
    struct task_order o;
    status st = task_order_unpack(&s->answer, body, &o);
    if (st != ST_OK)
        return st;
    struct standin_task *t = own_task(s, o.task);
    t->is_ended = false;
    t->kind = o.kind;
    if (o.channel.n) {
        channel_free(t->channel);
        t->channel = NULL;
        st = channel_unpack(o.channel, &t->channel);
    }
    texts_free(t->networks, t->network_count); /* an order has all of them */
    t->networks = NULL;
    t->network_count = t->network_cap = 0;
    for (size_t i = 0; i < o.network_count; i++)
        add_text(&t->networks, &t->network_count, &t->network_cap, o.networks[i]);
    for (size_t i = 0; i < o.seed_count; i++)
        add_text(&t->seeds, &t->seed_count, &t->seed_cap, o.seeds[i]);
    return st;
}

static void drop_network(struct standin_task *t, struct span text)
{
    for (size_t i = 0; i < t->network_count; i++)
        if (span_eq(t->networks[i], text)) {
            free((void *)(uintptr_t)t->networks[i].p);
            t->networks[i--] = t->networks[--t->network_count];
        }
}

static status take_end(struct standin *s, struct span body)
{
    struct end_order e;
    status st = end_order_unpack(&s->answer, body, &e);
    if (st != ST_OK)
        return st;
    struct standin_task *t = own_task(s, e.task);
    for (size_t i = 0; i < e.network_count; i++)
        drop_network(t, e.networks[i]);
    t->is_ended = !e.network_count || !t->network_count;
    return ST_OK;
}

/* ---- orders ---- */

static void put_outcome(struct standin *s, const struct outcome *o)
{
    s->outcomes = mem_grow(s->outcomes, &s->outcome_cap, s->outcome_count + 1, sizeof(*s->outcomes));
    s->outcomes[s->outcome_count++] = *o;
}

static status take_fetch(struct standin *s, struct span body, struct outcome *out)
{
    struct fetch_order o;
    status st = fetch_order_unpack(&s->answer, body, &o);
    if (st != ST_OK)
        return st;
    struct span *parts = arena_alloc(&s->made, (o.url_count + 1) * sizeof(*parts));
    for (size_t i = 0; i < o.url_count; i++) {
        struct fetched_page p = {.url = o.urls[i]};
        struct buf packed = {0};
        if (s->fetch)
            s->fetch(s->arg, &p);
        p.url = o.urls[i];
        fetched_page_pack(&p, &packed);
        parts[i] = arena_copy(&s->made, buf_span(&packed));
        buf_done(&packed);
    }
    out->parts = parts;
    out->part_count = o.url_count;
    return ST_OK;
}

static status take_probes(struct standin *s, struct span body)
{
    struct probe_order o;
    status st = probe_order_unpack(&s->answer, body, &o);
    for (size_t i = 0; st == ST_OK && i < o.probe_count; i++) {
        struct span reached = o.probes[i].address;
        double ms = s->probe(s->arg, &o.probes[i], &reached);
        s->probes = mem_grow(s->probes, &s->probe_cap, s->probe_count + 1, sizeof(*s->probes));
        s->probes[s->probe_count++] = (struct probe_report){.id = o.probes[i].id,
                                                            .st = ms < 0 ? ST_TIMEOUT : ST_OK,
                                                            .kind = 1,
                                                            .address = arena_copy(&s->made, reached),
                                                            .samples = ms < 0 ? 0 : 3,
                                                            .lost = ms < 0 ? 3 : 0,
                                                            .min_us = ms < 0 ? 0 : (uint32_t)(ms * 1000),
                                                            .median_us = ms < 0 ? 0 : (uint32_t)(ms * 1000)};
    }
    return st;
}

/* As a real agent does: only some kinds have an outcome when all is well (agent/orders.c). */
static void carry_out(struct standin *s, const struct order *o)
{
    struct outcome out = {.number = o->number};
    bool is_told = true;
    switch (o->kind) {
    case ORDER_SETTINGS:
        out.st = agent_settings_unpack(o->body, &s->settings);
        s->settings.hours = (struct span){0};
        is_told = false;
        break;
    case ORDER_TASK:
        out.st = take_task(s, o->body);
        is_told = false;
        break;
    case ORDER_END_TASK:
        out.st = take_end(s, o->body);
        break;
    case ORDER_RECHECK:
        is_told = false;
        break;
    case ORDER_FETCH:
        out.st = take_fetch(s, o->body, &out);
        break;
    case ORDER_QUIT:
        is_told = false;
        break;
    case ORDER_PROBE:
        out.st = s->probe ? take_probes(s, o->body) : ST_UNSUPPORTED;
        is_told = false;
        break;
    case ORDER_PROGRAM:
    case ORDER_UPDATE:
    case ORDER_IDENTITY:
    case ORDER_REKEY:
    default:
        out.st = ST_UNSUPPORTED;
    }
    if (out.st == ST_UNSUPPORTED)
        out.why = SPAN("a stand-in does not");
    if (is_told || out.st != ST_OK)
        put_outcome(s, &out);
}

static status take_answer(struct standin *s, struct span body, struct standin_answer *out)
{
    struct poll_answer p;
    status st = poll_answer_unpack(&s->answer, arena_copy(&s->answer, body), &p);
    if (st != ST_OK)
        return ST_PROTOCOL;
    out->orders = p.order_count;
    out->have = p.have;
    out->lease_ms = p.lease_ms;
    s->wants_setup = p.wants_setup;
    s->fresh = arena_alloc(&s->answer, (p.order_count + 1) * sizeof(*s->fresh));
    for (size_t i = 0; i < p.order_count; i++) {
        const struct order *o = &p.orders[i];
        if (!s->obeys)
            s->fresh[s->fresh_count++] = *o;
        if (!s->obeys || o->number != s->orders_done + 1)
            continue;
        carry_out(s, o);
        s->orders_done = o->number;
        s->fresh[s->fresh_count++] = *o;
    }
    out->new_orders = s->fresh_count;
    return ST_OK;
}

const struct order *standin_order(const struct standin *s, size_t i)
{
    return &s->fresh[i];
}

void standin_set_obeys(struct standin *s, bool obeys)
{
    s->obeys = obeys;
}

void standin_set_task_state(struct standin *s, task_state state, uint64_t fetched)
{
    s->told_state = state;
    s->told_fetched = fetched;
}

struct agent_settings standin_settings(const struct standin *s)
{
    return s->settings;
}

/* ---- reports ---- */

static void put_setup(struct report *r)
{
    r->has_setup = true;
    r->setup = (struct agent_setup){.cores = 2,
                                    .memory_bytes = 8ull << 30,
                                    .disk_bytes = 64ull << 30,
                                    .system = SPAN("Linux"),
                                    .machine = SPAN("x86_64"),
                                    .zone = SPAN("UTC")};
}

static void put_timings(struct standin *s, struct arena *a, struct report *out)
{
    size_t n = 0;
    for (size_t i = 0; i < s->task_count; i++)
        n += s->tasks[i]->network_count;
    struct network_timing *list = arena_alloc(a, (n + 1) * sizeof(*list));
    out->timings = list;
    for (size_t i = 0; s->path && i < s->task_count; i++)
        for (size_t k = 0; k < s->tasks[i]->network_count && !s->tasks[i]->is_ended; k++) {
            double ms = s->path(s->arg, s->tasks[i]->networks[k]);
            uint32_t us = ms > 0 ? (uint32_t)(ms * 1000) : 0;
            if (us)
                list[out->timing_count++] = (struct network_timing){.network = s->tasks[i]->networks[k],
                                                                    .requests = 1,
                                                                    .rtt_min_us = us,
                                                                    .rtt_median_us = us,
                                                                    .total_median_us = us};
        }
}

void standin_report(struct standin *s, struct arena *a, struct report *out)
{
    struct task_report *tasks = arena_alloc(a, (s->task_count + 1) * sizeof(*tasks));
    *out = (struct report){.wire_version = WIRE_VERSION,
                           .version = buf_span(&s->version),
                           .boot = s->boot,
                           .orders_done = s->orders_done,
                           .activity = ACTIVITY_WORKING,
                           .sequence = s->sequence,
                           .bytes_sent = standin_bytes_sent(s),
                           .memory_bytes = 100ull << 20,
                           .disk_free_bytes = 32ull << 30,
                           .uptime_ms = clock_mono() - s->started,
                           .outcomes = s->outcomes,
                           .outcome_count = s->outcome_count,
                           .probes = s->probes,
                           .probe_count = s->probe_count,
                           .tasks = tasks,
                           .task_count = s->task_count};
    for (size_t i = 0; i < s->task_count; i++) {
        const struct standin_task *t = s->tasks[i];
        tasks[i] = (struct task_report){
            .task = t->number, .state = t->is_ended ? TASK_ENDED : s->told_state, .fetched = s->told_fetched};
        out->pages += s->told_fetched;
        out->requests += s->told_fetched;
    }
    put_timings(s, a, out);
    if (s->wants_setup)
        put_setup(out);
}

status standin_poll_bytes(struct standin *s, struct span body, int64_t wait_ms, struct standin_answer *out)
{
    struct http_answer answer = {0};
    struct buf target = {0};
    struct standin_answer got = {0};
    arena_reset(&s->answer);
    s->fresh_count = 0;
    buf_printf(&target, PATH_POLL "?wait=%lld", (long long)wait_ms);
    int64_t began = clock_mono_us();
    status st = session_call(s->polls,
                             &(struct http_call){.method = "POST",
                                                 .target = buf_span(&target),
                                                 .body = body,
                                                 .answer_max = CONTROL_BYTES_MAX + 4096,
                                                 .timeout_ms = (int)wait_ms + CALL_MS},
                             &answer);
    got.call_us = clock_mono_us() - began;
    got.status = answer.status;
    if (st == ST_OK && answer.status == 200) {
        /* What was told so far was heard; what comes of the new orders is told by the next report. */
        s->outcome_count = s->probe_count = 0;
        arena_reset(&s->made);
        st = take_answer(s, buf_span(&answer.body), &got);
    }
    *out = got;
    http_answer_done(&answer);
    buf_done(&target);
    return st;
}

status standin_poll_with(struct standin *s, const struct report *r, int64_t wait_ms, struct standin_answer *out)
{
    struct buf body = {0};
    s->boot = r->boot; /* another one than before: it was started anew */
    report_pack(r, &body);
    status st = standin_poll_bytes(s, buf_span(&body), wait_ms, out);
    buf_done(&body);
    return st;
}

status standin_poll(struct standin *s, int64_t wait_ms, struct standin_answer *out)
{
    struct arena a;
    struct report r;
    arena_init(&a);
    standin_report(s, &a, &r);
    status st = standin_poll_with(s, &r, wait_ms, out);
    arena_done(&a);
    return st;
}

/* ---- packages ---- */

uint64_t standin_sequence(const struct standin *s)
{
    return s->sequence;
}

void standin_pack(struct standin *s, const struct standin_pack_opts *o, const struct standin_visit *visits, size_t n,
                  struct buf *out)
{
    static const struct standin_pack_opts usual = {0};
    if (!o)
        o = &usual;
    struct package_writer *w = package_writer_new(&(struct package_writer_opts){.level = o->level});
    for (size_t i = 0; i < n; i++)
        package_add_visit(w, visits[i].task, visits[i].kind, visits[i].s);
    struct package_head head = {.agent = o->agent ? o->agent : s->joined.agent,
                                .sequence = o->sequence ? o->sequence : ++s->sequence,
                                .coordinator = o->coordinator ? *o->coordinator : s->fingerprint,
                                .made = o->made ? o->made : clock_wall()};
    package_finish(w, &head, o->key ? o->key : &s->key, out);
    package_writer_free(w);
}

static void read_reply(struct span body, struct standin_reply *out)
{
    struct fields f = fields_of(body);
    struct span v;
    unsigned tag;
    while (fields_next(&f, &tag, &v)) {
        if (tag == 1)
            out->here = value_u64(v);
        else if (tag == 2)
            out->is_whole = value_u64(v) == 1;
        else if (tag == 3)
            out->wanted = value_u64(v);
    }
}

status standin_put(struct standin *s, uint64_t sequence, uint64_t offset, uint64_t bytes, struct span piece,
                   struct standin_reply *out)
{
    struct http_answer answer = {0};
    struct buf target = {0};
    buf_printf(&target, PATH_PACKAGE "%llu?offset=%llu&bytes=%llu", (unsigned long long)sequence,
               (unsigned long long)offset, (unsigned long long)bytes);
    int64_t began = clock_mono_us();
    status st = session_call(
        s->packages,
        &(struct http_call){
            .method = "PUT", .target = buf_span(&target), .body = piece, .answer_max = 4096, .timeout_ms = CALL_MS},
        &answer);
    *out = (struct standin_reply){.status = answer.status, .call_us = clock_mono_us() - began};
    if (st == ST_OK)
        read_reply(buf_span(&answer.body), out);
    http_answer_done(&answer);
    buf_done(&target);
    return st;
}

status standin_send(struct standin *s, uint64_t sequence, struct span package, standin_piece_fn *each, void *arg,
                    struct standin_reply *out)
{
    uint64_t offset = 0;
    unsigned refused = 0;
    status st = ST_OK;
    do {
        struct span piece = span_cut(package, (size_t)offset, PATH_PIECE_MAX);
        st = standin_put(s, sequence, offset, package.n, piece, out);
        if (st != ST_OK || out->is_whole)
            break;
        if (each)
            each(arg, out, piece.n);
        bool is_other = out->status == 409 && out->wanted && out->wanted != sequence;
        if (is_other || (out->status != 200 && out->status != 409) || out->here > package.n)
            return ST_OK;
        refused = out->here > offset ? 0 : refused + 1;
        offset = out->here;
    } while (refused < SEND_TRIES);
    if (st == ST_OK && each && out->is_whole)
        each(arg, out, (size_t)(package.n - offset));
    return st;
}

status standin_call(struct standin *s, const struct http_call *call, struct http_answer *out)
{
    return session_call(s->packages, call, out);
}
