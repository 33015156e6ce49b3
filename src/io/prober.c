#include "io/prober.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/loop_uv.h"
#include "io/prober_internal.h"

#define AT_ONCE 32
#define SAMPLES 3
#define GAP_MS 200
#define SAMPLE_MS 3000
#define HEAD_SAMPLE_MS 10000
#define LOST_FIRST_MAX 2 /* nobody is there: no use to go on */

static const struct {
    const char *name;
    const struct probe_ops *ops;
} kinds[] = {
    [PROBE_TCP] = {"tcp", &probe_tcp}, [PROBE_HEAD] = {"head", &probe_head}, [PROBE_ICMP] = {"icmp", &probe_icmp}};

bool probe_kind_parse(struct span name, probe_kind *out)
{
    for (int k = PROBE_TCP; k <= PROBE_ICMP; k++)
        if (span_is(name, kinds[k].name)) {
            *out = (probe_kind)k;
            return true;
        }
    return false;
}

const char *probe_kind_name(probe_kind k)
{
    return k >= PROBE_TCP && k <= PROBE_ICMP ? kinds[k].name : "unknown";
}

/* ---- sockets ---- */

struct probe_watch {
    uv_poll_t poll;
    struct probe *probe; /* borrowed */
    void (*fn)(struct probe *q);
};

static void free_watch(uv_handle_t *h)
{
    free(h->data);
}

/* libuv says the same of an error as of a bad socket; whoever asks the socket itself knows better. */
static void on_poll(uv_poll_t *h, int st, int events)
{
    struct probe_watch *w = h->data;
    w->fn(w->probe);
}

bool probe_watch(struct probe *q, int fd, bool is_write, void (*fn)(struct probe *q))
{
    struct probe_watch *w = mem_alloc(sizeof(*w));
    w->probe = q;
    w->fn = fn;
    w->poll.data = w;
    if (uv_poll_init(loop_uv(q->owner->loop), &w->poll, fd) != 0) {
        free(w);
        return false;
    }
    q->watch = w;
    return uv_poll_start(&w->poll, is_write ? UV_WRITABLE : UV_READABLE, on_poll) == 0;
}

void probe_unwatch(struct probe *q)
{
    if (q->watch)
        uv_close((uv_handle_t *)&q->watch->poll, free_watch);
    q->watch = NULL;
}

void probe_close(struct probe *q)
{
    probe_unwatch(q);
    if (q->fd >= 0)
        close(q->fd);
    q->fd = -1;
}

/* ---- results ---- */

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static uint32_t median(const uint32_t *values, unsigned n)
{
    uint32_t sorted[PROBE_SAMPLES_MAX];
    if (n == 0)
        return 0;
    memcpy(sorted, values, n * sizeof(*values));
    qsort(sorted, n, sizeof(*sorted), compare);
    return sorted[(n - 1) / 2];
}

static void sum_up(struct probe *q, status st)
{
    struct probe_result *r = &q->r;
    r->st = r->samples && st != ST_CANCELLED ? ST_OK : st;
    for (unsigned i = 0; i < r->samples; i++)
        if (i == 0 || r->sample_us[i] < r->min_us)
            r->min_us = r->sample_us[i];
    r->median_us = median(r->sample_us, r->samples);
    r->server_us = median(q->server, r->samples);
}

static void probe_free(struct probe *q)
{
    q->ops->done(q);
    timer_free(q->timer);
    buf_done(&q->url);
    free(q);
}

/* Calls back; nothing of the prober is touched afterwards. */
static void tell(struct probe *q, status st)
{
    sum_up(q, st);
    struct probe_result r = q->r;
    probe_fn *done = q->req.done;
    void *arg = q->req.arg;
    probe_free(q);
    done(arg, &r);
}

static void unlink_active(struct probe *q)
{
    struct prober *p = q->owner;
    *(q->prev ? &q->prev->next : &p->active) = q->next;
    if (q->next)
        q->next->prev = q->prev;
    p->active_count--;
}

static void finish(struct probe *q, status st)
{
    struct prober *p = q->owner;
    unlink_active(q);
    if (p->waiting)
        timer_set(p->ready, 0);
    tell(q, st);
}

/* ---- samples ---- */

static uint32_t clamp_us(int64_t v)
{
    return v < 0 ? 0 : v > UINT32_MAX ? UINT32_MAX : (uint32_t)v;
}

void probe_sample(struct probe *q, status st, int64_t path_us, int64_t server_us)
{
    q->last.st = st;
    q->last.path_us = clamp_us(path_us);
    q->last.server_us = clamp_us(server_us);
    q->state = PROBE_OVER;
    timer_set(q->timer, 0);
}

void probe_enough(struct probe *q)
{
    q->req.samples = q->asked;
}

static void begin_sample(struct probe *q)
{
    q->asked++;
    q->state = PROBE_ASKING;
    timer_set(q->timer, q->req.timeout_ms); /* before: `begin` may be over at once, and sets it anew */
    q->ops->begin(q);
}

static void count_sample(struct probe *q)
{
    struct probe_result *r = &q->r;
    if (q->last.st == ST_OK) {
        r->sample_us[r->samples] = q->last.path_us;
        q->server[r->samples] = q->last.server_us;
        r->samples++;
    } else {
        r->lost++;
    }
    bool is_vain = r->samples == 0 && (r->lost >= LOST_FIRST_MAX || q->last.st == ST_UNSUPPORTED);
    if (is_vain || q->asked >= q->req.samples) {
        finish(q, q->last.st);
        return;
    }
    q->state = PROBE_WAITING;
    timer_set(q->timer, q->req.gap_ms);
}

static void on_timer(void *arg)
{
    struct probe *q = arg;
    if (q->state == PROBE_WAITING) {
        begin_sample(q);
    } else if (q->state == PROBE_OVER) {
        count_sample(q);
    } else {
        q->ops->stop(q);
        probe_sample(q, ST_TIMEOUT, 0, 0);
    }
}

/* ---- the queue ---- */

/* Finds what no packet should be sent for. */
static status judge(struct prober *p, const struct probe *q)
{
    bool is_https;
    int port = q->req.kind == PROBE_HEAD ? fetch_url_port(buf_span(&q->url), &is_https) : q->req.port;
    bool has_port = q->req.kind != PROBE_ICMP;
    if (has_port && (port < 1 || port > 65535 || (q->url.n && memchr(q->url.p, '\0', q->url.n))))
        return ST_INVALID;
    if ((has_port && port_is_bad(port)) || !fetch_guard_allows(&p->guard, &q->req.addr))
        return ST_REFUSED;
    return ST_OK;
}

static void on_ready(void *arg)
{
    struct prober *p = arg;
    if (!p->waiting || p->active_count >= p->at_once)
        return;
    struct probe *q = p->waiting;
    p->waiting = q->next;
    if (!p->waiting)
        p->waiting_end = &p->waiting;
    else
        timer_set(p->ready, 0);
    q->prev = NULL;
    q->next = p->active;
    if (q->next)
        q->next->prev = q;
    p->active = q;
    p->active_count++;
    status st = judge(p, q);
    if (st == ST_OK)
        begin_sample(q);
    else
        finish(q, st);
}

void prober_start(struct prober *p, const struct probe_req *req)
{
    struct probe *q = mem_alloc(sizeof(*q));
    int timeout_ms = req->kind == PROBE_HEAD ? HEAD_SAMPLE_MS : SAMPLE_MS;
    q->owner = p;
    q->req = *req;
    q->req.addr = addr_unmapped(&req->addr);
    q->ops = kinds[req->kind].ops;
    q->fd = q->socket = -1;
    buf_put(&q->url, req->url);
    q->req.samples = req->samples == 0 ? SAMPLES : req->samples > PROBE_SAMPLES_MAX ? PROBE_SAMPLES_MAX : req->samples;
    q->req.gap_ms = req->gap_ms == 0 ? GAP_MS : req->gap_ms < 0 ? 0 : req->gap_ms;
    q->req.timeout_ms = req->timeout_ms > 0 ? req->timeout_ms : timeout_ms;
    q->r = (struct probe_result){.kind = req->kind, .addr = q->req.addr};
    q->timer = timer_new(p->loop, on_timer, q);
    *p->waiting_end = q;
    p->waiting_end = &q->next;
    timer_set(p->ready, 0);
}

status prober_new(struct loop *l, const struct prober_opts *o, struct prober **out)
{
    struct prober *p = mem_alloc(sizeof(*p));
    p->loop = l;
    p->waiting_end = &p->waiting;
    p->at_once = o->at_once ? o->at_once : AT_ONCE;
    p->ready = timer_new(l, on_ready, p);
    p->user_agent = o->user_agent.n ? mem_str(o->user_agent) : NULL;
    p->ca_file = o->ca_file.n ? mem_str(o->ca_file) : NULL;
    p->insecure = o->insecure;
    fetch_guard_init(&p->guard, o->allow_private);
    *out = p;
    return ST_OK;
}

void prober_free(struct prober *p)
{
    struct probe *q;
    if (!p)
        return;
    while ((q = p->active)) {
        unlink_active(q);
        q->ops->stop(q);
        tell(q, ST_CANCELLED);
    }
    while ((q = p->waiting)) {
        p->waiting = q->next;
        tell(q, ST_CANCELLED);
    }
    probe_head_close(p);
    timer_free(p->ready);
    free(p->user_agent);
    free(p->ca_file);
    free(p);
}
