/* pings.c - an announcement, from the request to the agents that are told.
 *
 * The head of a request is judged on the server's thread (how often its client calls, how much it wants to send), its
 * body by a worker: reading 10,000 URLs takes a while. Under the coordinator's lock the table (ping_table.h) says what
 * it is worth. */
#include "coord/pings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "codec/json.h"
#include "coord/agents.h"
#include "coord/channels.h"
#include "coord/ping_table.h"
#include "coord/recrawling.h"
#include "io/clock.h"
#include "io/workers.h"
#include "serve/limit.h"
#include "serve/page.h"
#include "serve/request.h"

#define PING_PATH "/api/v1/ping"
#define CALLS_PER_S 0.5 /* of one client: it may speak for many sites */
#define CALLS_BURST 30
#define LOOPBACK_FACTOR 20
#define RETRY_BUSY_S 5
#define RETRY_ASK_MS 10000  /* the site has no agent, or it is away */
#define CHANNELS_MAX 8      /* of one URL */
#define KNOWN_LOOKED_AT 100 /* URLs of a stranger, while agents wait for the lock */
#define TICK_MS 1000

struct pings {
    struct ping_table *table;
    struct limiter *clients;
    struct pings_counts counts;
    mono_ms ticked;
};

struct pings *pings_new(const struct sip_key *key)
{
    struct pings *p = mem_alloc(sizeof(*p));
    p->table = ping_table_new(key);
    p->clients = limiter_new(&(struct limiter_opts){
        .per_s = CALLS_PER_S, .burst = CALLS_BURST, .loopback_factor = LOOPBACK_FACTOR, .key = *key});
    return p;
}

void pings_free(struct pings *p)
{
    if (!p)
        return;
    ping_table_free(p->table);
    limiter_free(p->clients);
    free(p);
}

void pings_count(const struct coord *c, struct pings_counts *out)
{
    struct ping_counts n;
    ping_table_count(c->pings->table, &n);
    *out = c->pings->counts;
    out->keys_waiting = n.asked;
}

/* ---- telling agents ---- */

/* URLs for one task, on their way into orders. */
struct telling {
    struct c_task *task;
    struct buf urls;
};

#define TELLINGS_MAX 64 /* tasks of one announcement */
struct tellings {
    struct telling list[TELLINGS_MAX];
    size_t count;
};

static struct telling *telling_of(struct tellings *all, struct c_task *t)
{
    for (size_t i = 0; i < all->count; i++)
        if (all->list[i].task == t)
            return &all->list[i];
    if (all->count == TELLINGS_MAX)
        return NULL;
    all->list[all->count] = (struct telling){.task = t};
    return &all->list[all->count++];
}

static void give(struct coord *c, struct telling *t)
{
    struct c_agent *a = agent_get(c, t->task->agent);
    struct buf body = {0};
    if (t->urls.n && a && agent_takes_more(a)) {
        told_order_pack(&(struct told_order){.task = t->task->number, .at = clock_wall(), .urls = buf_span(&t->urls)},
                        &body);
        agent_order(c, a, ORDER_TOLD, buf_span(&body));
    }
    buf_done(&body);
    buf_clear(&t->urls);
}

/* The task of the channel at the agent that has the host; NULL: none. */
static struct c_task *task_of(const struct c_channel *ch, const struct c_host *h)
{
    uint64_t agent = h->pinned_agent ? h->pinned_agent : h->network ? h->network->agent : 0;
    for (size_t i = 0; agent && i < ch->task_count; i++)
        if (ch->tasks[i]->agent == agent && !ch->tasks[i]->is_ended)
            return ch->tasks[i];
    return NULL;
}

static void tell(struct coord *c, struct tellings *all, const struct url *u)
{
    struct c_channel *in[CHANNELS_MAX];
    const struct c_host *h = table_get(&c->hosts, siphash(&c->key, u->host));
    size_t n = h ? channels_of_url(c, u, in, CHANNELS_MAX) : 0;
    for (size_t i = 0; i < n; i++) {
        struct c_task *task = task_of(in[i], h);
        struct telling *t = task ? telling_of(all, task) : NULL;
        if (!t)
            continue;
        if (t->urls.n + u->href.n + 1 > TOLD_PIECE_MAX)
            give(c, t);
        buf_put(&t->urls, u->href);
        buf_putc(&t->urls, '\n');
        c->pings->counts.pages++;
    }
}

/* The channel moves forward once the orders that say what to look at are written down. */
static void tell_end(struct coord *c, struct tellings *all)
{
    for (size_t i = 0; i < all->count; i++) {
        give(c, &all->list[i]);
        recrawling_told(c, all->list[i].task->channel, clock_wall());
        buf_done(&all->list[i].urls);
    }
}

static void tell_lines(struct coord *c, struct span lines)
{
    struct tellings all = {0};
    struct span line;
    struct arena a;
    arena_init(&a);
    while (span_split(&lines, '\n', &line)) {
        struct url u;
        arena_reset(&a);
        if (line.n && url_parse(&a, line, NULL, &u) == ST_OK)
            tell(c, &all, &u);
    }
    arena_done(&a);
    tell_end(c, &all);
}

/* ---- keys ---- */

/* Who may ask the site for its key; NULL: nobody now. */
static struct c_agent *agent_of(struct coord *c, struct span host)
{
    const struct c_host *h = table_get(&c->hosts, siphash(&c->key, host));
    uint64_t number = !h ? 0 : h->pinned_agent ? h->pinned_agent : h->network ? h->network->agent : 0;
    struct c_agent *a = number ? agent_get(c, number) : NULL;
    return a && agent_is_there(c, a) && agent_takes_more(a) ? a : NULL;
}

static void ask(struct coord *c, const struct ping_ask *k, mono_ms now)
{
    struct c_agent *a = agent_of(c, k->host);
    struct buf body = {0};
    if (!a) {
        ping_table_later(c->pings->table, k->id, now + RETRY_ASK_MS);
        return;
    }
    uint64_t order = a->orders_given + 1;
    fetch_order_pack(&(struct fetch_order){.urls = &k->url, .url_count = 1}, &body);
    agent_order(c, a, ORDER_FETCH, buf_span(&body));
    if (a->orders_given == order)
        ping_table_asked(c->pings->table, k->id, a->number, order);
    else
        ping_table_later(c->pings->table, k->id, now + RETRY_ASK_MS);
    buf_done(&body);
}

static void ask_all(struct coord *c, mono_ms now)
{
    struct ping_ask k;
    while (ping_table_next_ask(c->pings->table, now, &k) == ST_OK)
        ask(c, &k, now);
}

void pings_outcome(struct coord *c, const struct c_agent *a, const struct outcome *o)
{
    struct pings *p = c->pings;
    struct fetched_page page;
    struct buf held = {0};
    if (o->st != ST_OK || o->part_count != 1 || fetched_page_unpack(o->parts[0], &page) != ST_OK) {
        ping_table_failed(p->table, a->number, o->number);
        return;
    }
    struct span file = page.http_status >= 200 && page.http_status <= 299 ? page.text : (struct span){0};
    if (ping_table_answer(p->table, clock_mono(), a->number, o->number, page.url, file, &held) && held.n) {
        p->counts.taken++;
        tell_lines(c, buf_span(&held));
    }
    buf_done(&held);
}

void pings_tick(struct coord *c, mono_ms now)
{
    if (now - c->pings->ticked < TICK_MS)
        return;
    c->pings->ticked = now;
    ping_table_tick(c->pings->table, now);
    ask_all(c, now);
}

/* ---- answers ---- */

static void refuse_for(struct httpd_answer *ans, int64_t retry_ms, const char *message)
{
    page_error_json(ans, 429, "too_many", message);
    buf_printf(&ans->head, "Retry-After: %lld\n", (long long)((retry_ms + 999) / 1000));
}

static void answer_good(struct httpd_answer *ans, int code, const char *state, size_t urls)
{
    struct json j = {.out = &ans->body};
    ans->status = code;
    page_headers(ans, PAGE_JSON, "no-store");
    json_open(&j, '{');
    json_key(&j, "state");
    json_str(&j, state);
    json_key(&j, "urls");
    json_u64(&j, urls);
    json_close(&j, '}');
    buf_putc(&ans->body, '\n');
}

/* ---- one announcement ---- */

/* Somebody crawls what it is about. Lock held. */
static bool is_known(struct coord *c, const struct indexnow *n)
{
    struct c_channel *in[1];
    if (!table_get(&c->hosts, siphash(&c->key, n->host)))
        return false;
    for (size_t i = 0; i < n->url_count && i < KNOWN_LOOKED_AT; i++)
        if (channels_of_url(c, &n->urls[i], in, 1))
            return true;
    return false;
}

static void take_now(struct coord *c, const struct indexnow *n)
{
    struct tellings all = {0};
    for (size_t i = 0; i < n->url_count; i++)
        tell(c, &all, &n->urls[i]);
    tell_end(c, &all);
}

/* Lock held. */
static void take(struct coord *c, const struct indexnow *n, struct httpd_answer *ans)
{
    struct pings *p = c->pings;
    mono_ms now = clock_mono();
    int64_t retry_ms = 0;
    if (!is_known(c, n)) {
        p->counts.refused++;
        page_error_json(ans, 422, "unknown_site", "No channel here covers these URLs.");
        return;
    }
    switch (ping_table_put(p->table, now, n, &retry_ms)) {
    case PING_TAKEN:
        p->counts.taken++;
        take_now(c, n);
        answer_good(ans, 200, "taken", n->url_count);
        return;
    case PING_HELD:
        p->counts.held++;
        ask_all(c, now);
        answer_good(ans, 202, "held", n->url_count);
        return;
    case PING_WRONG_KEY:
        page_error_json(ans, 403, "wrong_key", "The key was not found in its file on the site.");
        break;
    case PING_TOO_OFTEN:
        refuse_for(ans, retry_ms, "A site can announce changes once a minute.");
        break;
    case PING_FULL:
        refuse_for(ans, retry_ms, "Too many announcements wait for their keys to be looked for.");
        break;
    }
    p->counts.refused++;
}

static int code_of(status st)
{
    return st == ST_INVALID ? 400 : 422;
}

static void answer(struct coord *c, bool is_get, struct span target, struct span body, struct httpd_answer *ans)
{
    struct indexnow n;
    const char *why = "";
    struct arena a;
    status st;
    arena_init(&a);
    if (is_get) {
        struct span query = span_from(target, span_find(target, '?', 0) + 1);
        st = indexnow_of(&a, request_param(&a, query, "url"), request_param(&a, query, "key"),
                         request_param(&a, query, "keyLocation"), &n, &why);
    } else {
        st = indexnow_read(&a, body, &n, &why);
    }
    pthread_mutex_lock(&c->lock);
    if (st == ST_OK) {
        take(c, &n, ans);
    } else {
        c->pings->counts.refused++;
        page_error_json(ans, code_of(st), st == ST_INVALID ? "not_understood" : "not_allowed", why);
    }
    pthread_mutex_unlock(&c->lock);
    arena_done(&a);
}

/* ---- requests ---- */

bool pings_is_ours(struct span target)
{
    return span_is(span_cut(target, 0, span_find(target, '?', 0)), PING_PATH);
}

static bool is_method(const struct httpd_request *req, const char *name)
{
    return strcmp(req->method, name) == 0;
}

bool pings_admit(struct coord *c, const struct httpd_request *req, struct httpd_admission *adm,
                 struct httpd_answer *ans)
{
    int retry_s = 1;
    if (!is_method(req, "GET") && !is_method(req, "POST")) {
        page_error_json(ans, 405, "method", "Changes are announced with GET or POST.");
        buf_puts(&ans->head, "Allow: GET, POST\n");
    } else if (req->declared != HTTPD_LENGTH_UNKNOWN && req->declared > INDEXNOW_BYTES_MAX) {
        page_error_json(ans, 413, "too_long", "An announcement has at most 2 MiB.");
    } else if (!limiter_take(c->pings->clients, &req->peer, clock_mono(), &retry_s)) {
        refuse_for(ans, retry_s * 1000ll, "Too many announcements came from your address.");
    } else {
        adm->body_max = is_method(req, "POST") ? INDEXNOW_BYTES_MAX : 0;
        return true;
    }
    return false;
}

struct job {
    struct coord *c;
    struct httpd_later *later;
    bool is_get;
    struct buf target, body; /* owned */
};

static void refuse_busy(struct httpd_answer *ans)
{
    page_error_json(ans, 503, "busy", "Too much is going on. Try again in a few seconds.");
    buf_printf(&ans->head, "Retry-After: %d\n", RETRY_BUSY_S);
}

static void job_free(struct job *j)
{
    buf_done(&j->target);
    buf_done(&j->body);
    free(j);
}

static void run_job(void *arg, unsigned worker, bool is_cancelled)
{
    struct job *j = arg;
    struct httpd_answer ans = {.status = 200};
    if (is_cancelled)
        refuse_busy(&ans);
    else
        answer(j->c, j->is_get, buf_span(&j->target), buf_span(&j->body), &ans);
    httpd_answer_later(j->later, &ans);
    job_free(j);
}

void pings_handle(struct coord *c, const struct httpd_request *req, struct httpd_answer *ans)
{
    struct job *j = mem_alloc(sizeof(*j));
    *j = (struct job){.c = c, .is_get = is_method(req, "GET")};
    buf_put(&j->target, req->target);
    httpd_take_body(req, &j->body);
    j->later = httpd_defer(req);
    if (!j->later) {
        refuse_busy(ans);
        job_free(j);
    } else if (workers_add(c->workers, run_job, j) != ST_OK) {
        run_job(j, 0, true);
    }
}
