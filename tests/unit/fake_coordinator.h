/* fake_coordinator.h - a coordinator that fits in a test: it speaks the real protocol over plain HTTP on loopback,
 * gives the orders that the test wants, and keeps what arrives. */
#pragma once

#include <pthread.h>

#include "base/mem.h"
#include "io/clock.h"
#include "io/httpd.h"
#include "wire/auth.h"
#include "wire/control.h"
#include "wire/join.h"
#include "wire/package.h"
#include "wire/paths.h"

#define FAKE_ORDERS_MAX 64
#define FAKE_VISITS_MAX 4096
#define FAKE_PARTS_MAX 256
#define FAKE_WAIT_MS 50 /* a long poll is a short one here */

struct fake;
/* After each report, lock held: decides what to order next. */
typedef void fake_script(struct fake *f, const struct report *r);

struct fake {
    struct httpd *httpd;
    pthread_mutex_t lock;
    struct sign_key key;
    unsigned char nonce[AUTH_NONCE_BYTES], token[JOIN_TOKEN_BYTES];
    bool is_joined;
    struct sign_public agent;
    struct auth_window window;
    /* orders */
    struct order orders[FAKE_ORDERS_MAX];
    struct buf bodies[FAKE_ORDERS_MAX];
    size_t order_count;
    uint64_t forgotten; /* so many came before them */
    uint64_t orders_done;
    fake_script *script;
    int step; /* of the script */
    int64_t lease_ms;
    /* what came */
    uint64_t have;
    struct buf package;
    uint64_t package_sequence;
    char *visits[FAKE_VISITS_MAX];
    uint16_t visit_status[FAKE_VISITS_MAX];
    size_t visit_count, foreign_count;
    struct buf parts[FAKE_PARTS_MAX];
    size_t part_count;
    struct {
        uint64_t number;
        status st;
    } outcomes[FAKE_ORDERS_MAX];
    unsigned early_outcomes; /* that came in pieces although their order was said to be done */
    size_t outcome_count, stray_count, refused_count, timing_count, countries_refused;
    unsigned polls, rekeys, hellos, calls;
    bool had_setup;
    struct buf setup_place;
    /* mischief */
    bool is_silent;                                 /* answers are not signed */
    bool is_wrong;                                  /* answers are signed for another request */
    int busy;                                       /* so many calls get 503 */
    struct buf states;                              /* answer of PATH_STATES */
    struct buf blob;                                /* what there is under PATH_BLOB, whatever its name */
    struct buf last_header, last_target, last_body; /* of the newest signed call: to be played again */
};

static inline void fake_order(struct fake *f, order_kind kind, struct span body)
{
    size_t i = f->order_count++;
    assert_true(i < FAKE_ORDERS_MAX);
    buf_put(&f->bodies[i], body);
    f->orders[i] = (struct order){.number = f->forgotten + i + 1, .kind = kind, .body = buf_span(&f->bodies[i])};
}

static inline void fake_sign(struct fake *f, const struct auth *a, struct httpd_answer *ans)
{
    struct buf value = {0};
    struct auth other = *a;
    if (f->is_silent)
        return;
    if (f->is_wrong)
        other.sequence++;
    auth_sign_answer(&other, &f->key, ans->status, buf_span(&ans->body), &value);
    buf_printf(&ans->head, "%s: %s\n", AUTH_HEADER, buf_cstr(&value));
    buf_done(&value);
}

static inline void fake_hint(struct fake *f, struct httpd_answer *ans)
{
    struct auth_hint h = {.sequence = f->window.top + 1};
    memcpy(h.nonce, f->nonce, sizeof(h.nonce));
    ans->status = 401;
    auth_hint_pack(&h, &ans->body);
}

static inline void fake_join(struct fake *f, const struct httpd_request *req, const struct auth *a,
                             struct httpd_answer *ans)
{
    struct join_request j;
    if (join_request_unpack(req->body, &j) != ST_OK ||
        !auth_check(a, &j.agent, &f->key.open, span_str(req->method), req->target) ||
        !bytes_equal(j.token, f->token, sizeof(f->token))) {
        ans->status = 403;
    } else {
        struct join_answer answer = {.agent = 7, .name = SPAN("test-agent"), .hint = {.sequence = 1}};
        memcpy(answer.hint.nonce, f->nonce, sizeof(f->nonce));
        f->agent = j.agent;
        f->is_joined = true;
        join_answer_pack(&answer, &ans->body);
    }
    fake_sign(f, a, ans);
}

static inline void fake_note_report(struct fake *f, const struct report *r)
{
    f->polls++;
    f->orders_done = r->orders_done;
    f->stray_count += r->stray_count;
    f->refused_count += r->refused_count;
    f->timing_count += r->timing_count;
    if (r->has_setup) {
        f->had_setup = true;
        f->countries_refused = r->setup.refused_country_count;
        buf_clear(&f->setup_place);
        buf_put(&f->setup_place, r->setup.place);
    }
    for (size_t i = 0; i < r->outcome_count; i++) {
        const struct outcome *o = &r->outcomes[i];
        f->early_outcomes += o->st == ST_AGAIN && o->number <= r->orders_done;
        if (f->outcome_count < FAKE_ORDERS_MAX && o->st != ST_AGAIN) {
            f->outcomes[f->outcome_count].number = o->number;
            f->outcomes[f->outcome_count++].st = o->st;
        }
        for (size_t k = 0; k < o->part_count && f->part_count < FAKE_PARTS_MAX; k++)
            buf_put(&f->parts[f->part_count++], o->parts[k]);
    }
}

static inline void fake_poll(struct fake *f, const struct httpd_request *req, struct httpd_answer *ans)
{
    struct arena a;
    struct report r;
    arena_init(&a);
    if (report_unpack(&a, req->body, &r) != ST_OK) {
        ans->status = 400;
    } else {
        fake_note_report(f, &r);
        if (f->script)
            f->script(f, &r);
        size_t from = f->orders_done > f->forgotten ? (size_t)(f->orders_done - f->forgotten) : 0;
        from = from < f->order_count ? from : f->order_count;
        struct poll_answer p = {.lease_ms = f->lease_ms,
                                .have = f->have,
                                .wants_setup = !f->had_setup,
                                .orders = f->orders + from,
                                .order_count = f->order_count - from};
        poll_answer_pack(&p, &ans->body);
        ans->delay_ms = span_search(req->target, SPAN("wait=0"), false) < req->target.n ? 0 : FAKE_WAIT_MS;
    }
    arena_done(&a);
}

static inline status fake_visit(void *arg, uint64_t task, summary_kind kind, const struct summary *s)
{
    struct fake *f = arg;
    if (f->visit_count < FAKE_VISITS_MAX) {
        f->visits[f->visit_count] = mem_str(s->url);
        f->visit_status[f->visit_count++] = s->http_status;
    }
    for (size_t i = 0; i < s->link_count; i++)
        f->foreign_count += (s->links[i].flags & SUMMARY_LINK_FOREIGN) != 0;
    return ST_OK;
}

static inline uint64_t fake_number(struct span target, const char *name)
{
    uint64_t v = 0;
    struct span mark = span_str(name), rest = span_from(target, span_search(target, mark, false) + mark.n);
    size_t n = 0;
    while (n < rest.n && ascii_is_digit(rest.p[n]))
        n++;
    return span_u64(span_cut(rest, 0, n), UINT64_MAX, &v) ? v : 0;
}

static inline void fake_package(struct fake *f, const struct httpd_request *req, struct httpd_answer *ans)
{
    uint64_t sequence = fake_number(req->target, PATH_PACKAGE), offset = fake_number(req->target, "offset="),
             bytes = fake_number(req->target, "bytes=");
    if (sequence <= f->have) {
        field_u64(&ans->body, 1, bytes);
        field_u64(&ans->body, 2, 1);
        return;
    }
    if (sequence != f->package_sequence) {
        f->package_sequence = sequence;
        buf_clear(&f->package);
    }
    if (sequence != f->have + 1 || offset != f->package.n) {
        ans->status = 409;
        field_u64(&ans->body, 1, f->package.n);
        field_u64(&ans->body, 3, f->have + 1);
        return;
    }
    buf_put(&f->package, req->body);
    field_u64(&ans->body, 1, f->package.n);
    if (f->package.n < bytes)
        return;
    if (package_read(buf_span(&f->package), &f->agent, NULL, fake_visit, f) != ST_OK) {
        ans->status = 422;
        buf_clear(&f->package);
        return;
    }
    f->have = sequence;
    field_u64(&ans->body, 2, 1);
}

static inline void fake_rekey(struct fake *f, const struct httpd_request *req, struct httpd_answer *ans)
{
    struct fields p = fields_of(req->body);
    struct sign_public key = {{0}};
    struct signature sig = {{0}};
    struct span v;
    unsigned tag;
    while (fields_next(&p, &tag, &v)) {
        if (tag == 1 && v.n == sizeof(key.b))
            memcpy(key.b, v.p, v.n);
        if (tag == 2 && v.n == sizeof(sig.b))
            memcpy(sig.b, v.p, v.n);
    }
    if (!sign_check(&key, span_of(f->agent.b, sizeof(f->agent.b)), &sig)) {
        ans->status = 400;
        return;
    }
    f->agent = key;
    f->rekeys++;
}

static inline void fake_signed(struct fake *f, const struct httpd_request *req, struct httpd_answer *ans)
{
    struct auth a;
    struct digest256 d = digest_blake2b256(req->body);
    if (auth_parse(httpd_header(req, AUTH_HEADER), &a) != ST_OK) {
        ans->status = 403;
        return;
    }
    buf_clear(&f->last_header);
    buf_put(&f->last_header, httpd_header(req, AUTH_HEADER));
    buf_clear(&f->last_target);
    buf_put(&f->last_target, req->target);
    buf_clear(&f->last_body);
    buf_put(&f->last_body, req->body);
    if (span_is(req->target, PATH_JOIN)) {
        fake_join(f, req, &a, ans);
        return;
    }
    if (!f->is_joined || !bytes_equal(d.b, a.body.b, sizeof(d.b)) ||
        !auth_check(&a, &f->agent, &f->key.open, span_str(req->method), req->target)) {
        ans->status = 403;
        return;
    }
    f->calls++;
    if (!bytes_equal(a.nonce, f->nonce, sizeof(a.nonce)) || !auth_window_take(&f->window, a.sequence)) {
        fake_hint(f, ans);
    } else if (f->busy > 0) {
        f->busy--;
        ans->status = 503;
        buf_puts(&ans->head, "Retry-After: 0\n");
    } else if (span_starts(req->target, SPAN(PATH_POLL))) {
        fake_poll(f, req, ans);
    } else if (span_starts(req->target, SPAN(PATH_PACKAGE))) {
        fake_package(f, req, ans);
    } else if (span_starts(req->target, SPAN(PATH_REKEY))) {
        fake_rekey(f, req, ans);
    } else if (span_starts(req->target, SPAN(PATH_STATES))) {
        buf_put(&ans->body, buf_span(&f->states));
    } else if (span_starts(req->target, SPAN(PATH_BLOB))) {
        buf_put(&ans->body, span_cut(buf_span(&f->blob), (size_t)fake_number(req->target, "offset="), 7));
    } else {
        ans->status = 404;
    }
    fake_sign(f, &a, ans);
}

static inline void fake_handle(void *self, const struct httpd_request *req, struct httpd_answer *ans)
{
    struct fake *f = self;
    pthread_mutex_lock(&f->lock);
    if (span_is(req->target, PATH_HELLO) && req->body.n == HELLO_CHALLENGE_BYTES) {
        struct hello_answer h = {.identity = f->key.open, .version_min = WIRE_VERSION_MIN, .version_max = WIRE_VERSION};
        hello_answer_sign(&h, &f->key, (const unsigned char *)req->body.p);
        hello_answer_pack(&h, &ans->body);
        f->hellos++;
    } else {
        fake_signed(f, req, ans);
    }
    pthread_mutex_unlock(&f->lock);
}

static inline void fake_start(struct fake *f)
{
    struct httpd_opts o = {.threads = 2, .request_body_max = 2u << 20, .fn = fake_handle, .self = f};
    unsigned char seed[SIGN_SEED_BYTES] = {1, 2, 3};
    *f = (struct fake){.lease_ms = 600000};
    pthread_mutex_init(&f->lock, NULL);
    sign_key_of(seed, &f->key);
    memset(f->nonce, 9, sizeof(f->nonce));
    memset(f->token, 5, sizeof(f->token));
    CHECK_STATUS("loopback", addr_parse(SPAN("127.0.0.1"), &o.addr), ST_OK);
    CHECK_STATUS("the fake coordinator starts", httpd_new(&o, &f->httpd), ST_OK);
}

static inline void fake_line(const struct fake *f, struct buf *out)
{
    struct join_line j = {.host = "127.0.0.1", .port = httpd_port(f->httpd), .is_plain = true};
    memcpy(j.token, f->token, sizeof(f->token));
    j.fingerprint = digest_sha256(span_of(f->key.open.b, sizeof(f->key.open.b)));
    join_line_format(&j, out);
}

static inline void fake_stop(struct fake *f)
{
    httpd_free(f->httpd);
    for (size_t i = 0; i < f->order_count; i++)
        buf_done(&f->bodies[i]);
    for (size_t i = 0; i < f->visit_count; i++)
        free(f->visits[i]);
    for (size_t i = 0; i < f->part_count; i++)
        buf_done(&f->parts[i]);
    buf_done(&f->package);
    buf_done(&f->states);
    buf_done(&f->blob);
    buf_done(&f->setup_place);
    buf_done(&f->last_header);
    buf_done(&f->last_target);
    buf_done(&f->last_body);
    pthread_mutex_destroy(&f->lock);
}
