/* exchange_show.h - what a recorded exchange says, as text, read by the decoders that coordinator and agent use. A
 * recording is kept with its text: whatever the code becomes, it must go on reading the same out of the same bytes.
 *
 * Values of 0, empty texts and empty lists are not shown, so a field that came later changes nothing in the text of an
 * older recording. */
#pragma once

#include "base/log.h"
#include "exchange.h"

struct show {
    struct buf *out;
    struct arena arena;
    struct sign_public agent; /* by which the next request must be signed */
};

static inline void show_number(struct buf *out, const char *where, const char *name, uint64_t v)
{
    if (v)
        buf_printf(out, "%s.%s %llu\n", where, name, (unsigned long long)v);
}

static inline void show_text(struct buf *out, const char *where, const char *name, struct span v)
{
    if (!v.n)
        return;
    buf_printf(out, "%s.%s ", where, name);
    log_escape(out, v, 2000);
    buf_putc(out, '\n');
}

static inline void show_bytes(struct buf *out, const char *where, const char *name, struct span v)
{
    if (!v.n)
        return;
    buf_printf(out, "%s.%s ", where, name);
    hex_put(out, span_cut(v, 0, 64));
    buf_printf(out, " %zu\n", v.n);
}

static inline void show_texts(struct buf *out, const char *where, const char *name, const struct span *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        show_text(out, where, name, v[i]);
}

#define NUMBER(where, s, member) show_number(out, where, #member, (uint64_t)(s).member)
#define TEXT(where, s, member) show_text(out, where, #member, (s).member)
#define BYTES(where, s, member) show_bytes(out, where, #member, (s).member)

static inline void show_claim(struct buf *out, const char *where, const char *claim, bool is_so)
{
    buf_printf(out, "%s.%s %s\n", where, claim, is_so ? "yes" : "NO");
}

static inline void show_status(struct buf *out, const char *where, status st)
{
    if (st != ST_OK)
        buf_printf(out, "%s NOT READ: %s\n", where, status_name(st));
}

/* ---- what travels inside of orders and outcomes ---- */

static inline status show_host_url(void *arg, const struct frontier_packed_url *u)
{
    struct buf *out = arg;
    TEXT("host", *u, url);
    NUMBER("host", *u, channel);
    NUMBER("host", *u, depth);
    return ST_OK;
}

static inline void show_host(struct buf *out, struct span packed)
{
    struct frontier_info i;
    status st = frontier_info_read(packed, &i);
    show_status(out, "host", st);
    if (st != ST_OK)
        return;
    TEXT("host", i, name);
    NUMBER("host", i, queued);
    show_status(out, "host", frontier_packed_urls(packed, show_host_url, out));
    frontier_info_done(&i);
}

static inline void show_channel(struct buf *out, struct span packed)
{
    struct channel *c = NULL;
    if (!packed.n)
        return;
    status st = channel_unpack(packed, &c);
    show_status(out, "channel", st);
    if (st != ST_OK)
        return;
    const struct channel_opts *o = channel_get_opts(c);
    NUMBER("channel", *o, scope);
    NUMBER("channel", *o, depth_max);
    show_texts(out, "channel", "seed", o->seeds, o->seed_count);
    show_texts(out, "channel", "include", o->include, o->include_count);
    show_texts(out, "channel", "exclude", o->exclude, o->exclude_count);
    show_number(out, "channel", "id", channel_id(c));
    channel_free(c);
}

static inline void show_program(struct buf *out, struct span file)
{
    struct program p;
    struct sign_key k = exchange_key(SEED_PROGRAM);
    if (!file.n)
        return;
    status st = program_read(file, &p, NULL);
    show_status(out, "program", st);
    if (st != ST_OK)
        return;
    TEXT("program", p, name);
    NUMBER("program", p, serial);
    TEXT("program", p, script);
    show_claim(out, "program", "is_signed", program_is_signed_by(&p, &k.open));
}

/* ---- orders ---- */

static inline void show_settings(struct buf *out, struct span body)
{
    struct agent_settings s = {0};
    show_status(out, "settings", agent_settings_unpack(body, &s));
    NUMBER("settings", s, state);
    TEXT("settings", s, hours);
    NUMBER("settings", s, bytes_a_day);
    NUMBER("settings", s, bytes_per_s);
    NUMBER("settings", s, memory_bytes);
    NUMBER("settings", s, disk_bytes);
    NUMBER("settings", s, idle_only);
    NUMBER("settings", s, tasks_max);
    NUMBER("settings", s, package_bytes);
    NUMBER("settings", s, package_age_ms);
    NUMBER("settings", s, poll_ms);
}

static inline void show_task(struct show *w, struct span body)
{
    struct buf *out = w->out;
    struct task_order t = {0};
    show_status(out, "task", task_order_unpack(&w->arena, body, &t));
    NUMBER("task", t, task);
    NUMBER("task", t, kind);
    NUMBER("task", t, wants_warc);
    NUMBER("task", t, expected_pages);
    TEXT("task", t, program);
    NUMBER("task", t, states);
    show_texts(out, "task", "network", t.networks, t.network_count);
    show_texts(out, "task", "host", t.hosts, t.host_count);
    show_texts(out, "task", "seed", t.seeds, t.seed_count);
    for (size_t i = 0; i < t.known_link_count; i++)
        show_number(out, "task", "known_link", t.known_links[i]);
    show_channel(out, t.channel);
    for (size_t i = 0; i < t.hosts_state_count; i++)
        show_host(out, t.hosts_state[i]);
    show_texts(out, "task", "country", t.countries, t.country_count);
    show_texts(out, "task", "other", t.others, t.other_count);
}

static inline void show_update(struct buf *out, struct span body)
{
    struct update_order u = {0};
    show_status(out, "update", update_order_unpack(body, &u));
    TEXT("update", u, version);
    BYTES("update", u, digest);
    NUMBER("update", u, bytes);
    BYTES("update", u, sig);
    TEXT("update", u, machine);
}

static inline void show_identity(struct buf *out, struct span body)
{
    struct identity_order i = {0};
    struct signature sig = {{0}};
    struct sign_key old = exchange_key(SEED_COORDINATOR);
    show_status(out, "identity", identity_order_unpack(body, &i));
    BYTES("identity", i, identity);
    memcpy(sig.b, i.sig.p, i.sig.n == sizeof(sig.b) ? i.sig.n : 0);
    show_claim(out, "identity", "is_signed", sign_check(&old.open, i.identity, &sig));
}

static inline void show_small_order(struct show *w, const struct order *o)
{
    struct buf *out = w->out;
    struct end_order e = {0};
    struct recheck_order r = {0};
    struct fetch_order f = {0};
    struct program_order p = {0};
    struct probe_order b = {0};
    struct refuse_order u = {0};
    struct told_order t = {0};
    if (o->kind == ORDER_END_TASK) {
        show_status(out, "end", end_order_unpack(&w->arena, o->body, &e));
        NUMBER("end", e, task);
        show_texts(out, "end", "network", e.networks, e.network_count);
    } else if (o->kind == ORDER_RECHECK) {
        show_status(out, "recheck", recheck_order_unpack(o->body, &r));
        NUMBER("recheck", r, task);
        NUMBER("recheck", r, pages_max);
        NUMBER("recheck", r, older_than);
        NUMBER("recheck", r, is_whole);
        NUMBER("recheck", r, visit);
    } else if (o->kind == ORDER_FETCH) {
        show_status(out, "fetch", fetch_order_unpack(&w->arena, o->body, &f));
        show_texts(out, "fetch", "url", f.urls, f.url_count);
    } else if (o->kind == ORDER_PROGRAM) {
        show_status(out, "program", program_order_unpack(o->body, &p));
        TEXT("program", p, name);
        NUMBER("program", p, serial);
        NUMBER("program", p, is_removed);
        show_program(out, p.bytes);
    } else if (o->kind == ORDER_PROBE) {
        show_status(out, "probe", probe_order_unpack(&w->arena, o->body, &b));
        for (size_t i = 0; i < b.probe_count; i++) {
            NUMBER("probe", b.probes[i], id);
            TEXT("probe", b.probes[i], url);
            TEXT("probe", b.probes[i], address);
            NUMBER("probe", b.probes[i], port);
            NUMBER("probe", b.probes[i], kind);
            NUMBER("probe", b.probes[i], samples);
        }
    } else if (o->kind == ORDER_REFUSE) {
        show_status(out, "refuse", refuse_order_unpack(o->body, &u));
        NUMBER("refuse", u, is_first);
        TEXT("refuse", u, places);
    } else if (o->kind == ORDER_TOLD) {
        show_status(out, "told", told_order_unpack(o->body, &t));
        NUMBER("told", t, task);
        NUMBER("told", t, at);
        TEXT("told", t, urls);
    }
}

static inline void show_order(struct show *w, const struct order *o)
{
    buf_printf(w->out, "order %llu kind %d\n", (unsigned long long)o->number, (int)o->kind);
    if (o->kind == ORDER_SETTINGS)
        show_settings(w->out, o->body);
    else if (o->kind == ORDER_TASK)
        show_task(w, o->body);
    else if (o->kind == ORDER_UPDATE)
        show_update(w->out, o->body);
    else if (o->kind == ORDER_IDENTITY)
        show_identity(w->out, o->body);
    else
        show_small_order(w, o);
}

static inline void show_poll_answer(struct show *w, struct span body)
{
    struct buf *out = w->out;
    struct poll_answer p = {0};
    show_status(out, "answer", poll_answer_unpack(&w->arena, body, &p));
    NUMBER("answer", p, lease_ms);
    NUMBER("answer", p, have);
    NUMBER("answer", p, wants_setup);
    for (size_t i = 0; i < p.order_count; i++)
        show_order(w, &p.orders[i]);
}

/* ---- reports ---- */

static inline void show_setup(struct buf *out, const struct agent_setup *s)
{
    NUMBER("setup", *s, cores);
    NUMBER("setup", *s, memory_bytes);
    NUMBER("setup", *s, disk_bytes);
    NUMBER("setup", *s, bandwidth_bytes_per_s);
    TEXT("setup", *s, system);
    TEXT("setup", *s, machine);
    TEXT("setup", *s, zone);
    TEXT("setup", *s, place);
    TEXT("setup", *s, address);
    show_texts(out, "setup", "own_site", s->own_sites, s->own_site_count);
    show_texts(out, "setup", "refused_country", s->refused_countries, s->refused_country_count);
}

static inline void show_outcome(struct buf *out, const struct outcome *o)
{
    NUMBER("outcome", *o, number);
    buf_printf(out, "outcome.st %s\n", status_name(o->st));
    TEXT("outcome", *o, why);
    for (size_t i = 0; i < o->part_count; i++) {
        struct fetched_page p = {0};
        if (o->st == ST_OK) { /* of a task's end: hosts */
            show_host(out, o->parts[i]);
            continue;
        }
        show_status(out, "page", fetched_page_unpack(o->parts[i], &p));
        TEXT("page", p, url);
        NUMBER("page", p, http_status);
        NUMBER("page", p, digest);
        NUMBER("page", p, sketch);
        NUMBER("page", p, words_sketch);
        TEXT("page", p, text);
        TEXT("page", p, address);
    }
}

static inline void show_visit_report(struct buf *out, const struct visit_report *v)
{
    NUMBER("visit", *v, number);
    NUMBER("visit", *v, looked);
    NUMBER("visit", *v, changed);
    NUMBER("visit", *v, added);
    NUMBER("visit", *v, gone);
    NUMBER("visit", *v, failed);
    NUMBER("visit", *v, took_ms);
    NUMBER("visit", *v, changed_at);
    NUMBER("visit", *v, told);
}

static inline void show_report_parts(struct buf *out, const struct report *r)
{
    for (size_t i = 0; i < r->outcome_count; i++)
        show_outcome(out, &r->outcomes[i]);
    for (size_t i = 0; i < r->task_count; i++) {
        NUMBER("task", r->tasks[i], task);
        NUMBER("task", r->tasks[i], state);
        NUMBER("task", r->tasks[i], queued);
        NUMBER("task", r->tasks[i], fetched);
        NUMBER("task", r->tasks[i], unchanged);
        NUMBER("task", r->tasks[i], errors);
        NUMBER("task", r->tasks[i], gone);
        NUMBER("task", r->tasks[i], bytes);
        show_visit_report(out, &r->tasks[i].visit);
    }
    for (size_t i = 0; i < r->stray_count; i++) {
        NUMBER("stray", r->strays[i], task);
        TEXT("stray", r->strays[i], host);
        TEXT("stray", r->strays[i], address);
    }
    for (size_t i = 0; i < r->timing_count; i++) {
        TEXT("timing", r->timings[i], network);
        NUMBER("timing", r->timings[i], requests);
        NUMBER("timing", r->timings[i], rtt_min_us);
        NUMBER("timing", r->timings[i], rtt_median_us);
        NUMBER("timing", r->timings[i], server_median_us);
        NUMBER("timing", r->timings[i], total_median_us);
    }
    for (size_t i = 0; i < r->program_count; i++) {
        TEXT("program", r->programs[i], name);
        NUMBER("program", r->programs[i], serial);
        NUMBER("program", r->programs[i], pages);
        NUMBER("program", r->programs[i], errors);
        NUMBER("program", r->programs[i], is_fallback);
        TEXT("program", r->programs[i], last_error);
    }
    for (size_t i = 0; i < r->error_kind_count; i++)
        show_number(out, "errors", error_kind_name(r->errors_by_kind[i].kind), r->errors_by_kind[i].count);
    for (size_t i = 0; i < r->probe_count; i++) {
        NUMBER("probe", r->probes[i], id);
        buf_printf(out, "probe.st %s\n", status_name(r->probes[i].st));
        NUMBER("probe", r->probes[i], kind);
        TEXT("probe", r->probes[i], address);
        NUMBER("probe", r->probes[i], samples);
        NUMBER("probe", r->probes[i], lost);
        NUMBER("probe", r->probes[i], min_us);
        NUMBER("probe", r->probes[i], median_us);
        NUMBER("probe", r->probes[i], server_us);
    }
}

static inline void show_report(struct show *w, struct span body)
{
    struct buf *out = w->out;
    struct report r = {0};
    show_status(out, "report", report_unpack(&w->arena, body, &r));
    NUMBER("report", r, wire_version);
    TEXT("report", r, version);
    NUMBER("report", r, boot);
    NUMBER("report", r, orders_done);
    NUMBER("report", r, activity);
    NUMBER("report", r, sequence);
    NUMBER("report", r, spool_packages);
    NUMBER("report", r, spool_bytes);
    NUMBER("report", r, requests);
    NUMBER("report", r, pages);
    NUMBER("report", r, bytes_crawled);
    NUMBER("report", r, bytes_sent);
    NUMBER("report", r, errors);
    NUMBER("report", r, queue);
    NUMBER("report", r, hosts_waiting);
    NUMBER("report", r, memory_bytes);
    NUMBER("report", r, disk_free_bytes);
    NUMBER("report", r, uptime_ms);
    NUMBER("report", r, tasks_max);
    NUMBER("report", r, tasks_busy);
    NUMBER("report", r, orders_taken);
    if (r.has_setup)
        show_setup(out, &r.setup);
    show_report_parts(out, &r);
    show_texts(out, "report", "refused", r.refused, r.refused_count);
}

/* ---- the rest ---- */

static inline void show_hello(struct buf *out, struct span challenge, struct span answer)
{
    struct hello_answer h = {0};
    show_status(out, "hello", hello_answer_unpack(answer, &h));
    show_bytes(out, "hello", "identity", span_of(h.identity.b, sizeof(h.identity.b)));
    show_text(out, "hello", "pin", span_str(h.pin));
    NUMBER("hello", h, version_min);
    NUMBER("hello", h, version_max);
    show_claim(out, "hello", "is_signed",
               challenge.n == HELLO_CHALLENGE_BYTES && hello_answer_check(&h, (const unsigned char *)challenge.p));
}

static inline void show_join(struct show *w, struct span body, struct span answer)
{
    struct buf *out = w->out;
    struct join_request j = {0};
    struct join_answer a = {0};
    show_status(out, "join", join_request_unpack(body, &j));
    show_bytes(out, "join", "token", span_of(j.token, sizeof(j.token)));
    show_bytes(out, "join", "agent", span_of(j.agent.b, sizeof(j.agent.b)));
    TEXT("join", j, version);
    w->agent = j.agent;
    show_status(out, "joined", join_answer_unpack(answer, &a));
    NUMBER("joined", a, agent);
    TEXT("joined", a, name);
    show_bytes(out, "joined", "nonce", span_of(a.hint.nonce, sizeof(a.hint.nonce)));
    show_number(out, "joined", "sequence", a.hint.sequence);
}

/* Messages that are read field by field where they arrive: those of uploads, states and a new key. */
static inline void show_fields(struct buf *out, const char *where, struct span body, unsigned most, unsigned nested)
{
    struct fields f = fields_of(body);
    struct span v;
    unsigned tag;
    while (fields_next(&f, &tag, &v)) {
        char name[16];
        snprintf(name, sizeof(name), "%u", tag);
        if (tag == nested)
            show_fields(out, "state", v, 8, 0);
        else if (tag <= most)
            show_bytes(out, where, name, v);
    }
    show_claim(out, where, "is_fields", !fields_bad(&f));
}

static inline void show_rekey(struct show *w, struct span body)
{
    struct fields f = fields_of(body);
    struct sign_public key = {{0}};
    struct signature sig = {{0}};
    struct span v;
    unsigned tag;
    while (fields_next(&f, &tag, &v)) {
        memcpy(key.b, v.p, tag == 1 && v.n == sizeof(key.b) ? v.n : 0);
        memcpy(sig.b, v.p, tag == 2 && v.n == sizeof(sig.b) ? v.n : 0);
    }
    show_bytes(w->out, "rekey", "key", span_of(key.b, sizeof(key.b)));
    show_claim(w->out, "rekey", "is_signed", sign_check(&key, span_of(w->agent.b, sizeof(w->agent.b)), &sig));
    w->agent = key;
}

static inline status show_visit(void *arg, uint64_t task, summary_kind kind, const struct summary *s)
{
    struct buf *out = arg;
    buf_printf(out, "visit task %llu kind %d\n", (unsigned long long)task, (int)kind);
#define S(member) TEXT("visit", *s, member)
    S(url), S(address), S(reason), S(content_type), S(charset), S(lang), S(title), S(description), S(canonical),
        S(redirect), S(etag), S(last_modified), S(text);
#undef S
#define N(member) NUMBER("visit", *s, member)
    N(at), N(depth), N(hops), N(is_refused), N(is_known), N(is_html), N(is_keywords), N(failure), N(http_status),
        N(page_flags), N(digest), N(body_bytes), N(wire_bytes), N(text_bytes), N(rate);
#undef N
    buf_printf(out, "visit.us %d %d %d %d %d\n", s->dns_us, s->connect_us, s->tls_us, s->first_byte_us, s->total_us);
    for (size_t i = 0; i < s->heading_count; i++)
        buf_printf(out, "visit.heading %u %.*s\n", s->headings[i].level, SPAN_ARG(s->headings[i].text));
    for (size_t i = 0; i < s->link_count; i++) {
        const struct summary_link *l = &s->links[i];
        buf_printf(out, "visit.link %u %u %u %u %u %.*s [%.*s]\n", l->kind, l->rel, l->flags, l->hops, l->depth,
                   SPAN_ARG(l->url), SPAN_ARG(l->text));
    }
    for (size_t i = 0; i < s->field_count; i++)
        buf_printf(out, "visit.field %.*s %.*s\n", SPAN_ARG(s->fields[i].name), SPAN_ARG(s->fields[i].value));
    struct warc_capture c;
    if (s->capture.n && capture_unpack(s->capture, &c) == ST_OK) {
        NUMBER("capture", c, at);
        NUMBER("capture", c, cut);
        NUMBER("capture", c, is_http2);
        show_bytes(out, "capture", "request", c.request);
        show_bytes(out, "capture", "head", c.head);
        show_bytes(out, "capture", "body", c.body);
    }
    return ST_OK;
}

static inline void show_package(struct buf *out, struct span package)
{
    struct package_head head = {0};
    struct sign_key k = exchange_key(SEED_AGENT);
    show_status(out, "package", package_check(package, &k.open, &head));
    NUMBER("package", head, agent);
    NUMBER("package", head, sequence);
    NUMBER("package", head, made);
    NUMBER("package", head, visits);
    show_bytes(out, "package", "coordinator", span_of(head.coordinator.b, sizeof(head.coordinator.b)));
    show_status(out, "package", package_read(package, &k.open, NULL, show_visit, out));
}

/* ---- one exchange ---- */

static inline void show_signatures(struct show *w, const struct http_bytes *q, const struct http_bytes *r)
{
    struct sign_key c = exchange_key(SEED_COORDINATOR);
    struct digest256 d = digest_blake2b256(q->body);
    struct auth a = {0};
    if (!q->auth.n)
        return;
    show_status(w->out, "auth", auth_parse(q->auth, &a));
    show_number(w->out, "auth", "agent", a.agent);
    show_number(w->out, "auth", "sequence", a.sequence);
    show_claim(w->out, "auth", "body_is_it", bytes_equal(d.b, a.body.b, sizeof(d.b)));
    show_claim(w->out, "auth", "is_signed", auth_check(&a, &w->agent, &c.open, q->method, q->target));
    show_claim(w->out, "auth", "answer_is_signed", auth_check_answer(&a, &c.open, r->code, r->body, r->auth));
}

static inline void show_exchange(struct show *w, struct span request, struct span answer)
{
    struct http_bytes q = http_of(request), r = http_of(answer);
    struct buf *out = w->out;
    struct auth_hint hint = {0};
    struct join_request j;
    arena_reset(&w->arena);
    buf_printf(out, "%.*s %.*s\n%d\n", SPAN_ARG(q.method), SPAN_ARG(q.target), r.code);
    if (span_is(q.target, PATH_JOIN) && join_request_unpack(q.body, &j) == ST_OK)
        w->agent = j.agent; /* it signs with the key that it brings */
    show_signatures(w, &q, &r);
    if (r.code == 401) {
        show_status(out, "hint", auth_hint_unpack(r.body, &hint));
        show_bytes(out, "hint", "nonce", span_of(hint.nonce, sizeof(hint.nonce)));
        NUMBER("hint", hint, sequence);
    }
    if (span_is(q.target, PATH_HELLO))
        show_hello(out, q.body, r.body);
    else if (span_is(q.target, PATH_JOIN))
        show_join(w, q.body, r.body);
    else if (span_starts(q.target, SPAN(PATH_POLL))) {
        show_report(w, q.body);
        if (r.code == 200)
            show_poll_answer(w, r.body);
    } else if (span_starts(q.target, SPAN(PATH_PACKAGE)))
        show_fields(out, "package", r.body, 4, 0);
    else if (span_starts(q.target, SPAN(PATH_STATES)))
        show_fields(out, "states", r.body, 2, 1);
    else if (span_is(q.target, PATH_REKEY))
        show_rekey(w, q.body);
    else
        show_text(out, "blob", "bytes", r.body);
}
