#include "coord/uploads.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "codec/armor.h"
#include "coord/agents.h"
#include "coord/assign.h"
#include "coord/inbox.h"
#include "coord/ingest.h"
#include "io/clock.h"
#include "store/store.h"
#include "wire/package.h"
#include "wire/paths.h"

#define WAITING_AN_AGENT 32 /* packages that are safe and not applied */

enum { HAVE = 1, WHOLE = 2, WANTED = 3, WHY = 4 };

static bool sequence_of(struct span target, uint64_t *out)
{
    return span_u64(span_from(call_path(target), strlen(PATH_PACKAGE)), UINT64_MAX, out) && *out > 0;
}

/* The newest package of an agent that is safe, and its keys. False: it was removed meanwhile. */
static bool look_at(struct coord *c, uint64_t agent, uint64_t *last, struct sign_public key[2])
{
    pthread_mutex_lock(&c->lock);
    const struct c_agent *a = agent_get(c, agent);
    bool is_there = a && a->is_joined;
    if (is_there) {
        *last = a->sequence;
        key[0] = a->key;
        key[1] = a->old_key;
    }
    pthread_mutex_unlock(&c->lock);
    return is_there;
}

static void say_whole(struct httpd_answer *ans, uint64_t bytes)
{
    field_u64(&ans->body, HAVE, bytes);
    field_u64(&ans->body, WHOLE, 1);
}

static void say_trouble(struct coord *c, status st, struct httpd_answer *ans)
{
    note_trouble(c, st, "take in a package");
    ans->status = st == ST_LIMIT ? 413 : 507;
    buf_puts(&ans->head, "Retry-After: 30\n");
}

/* Its newest package is in the ledger, and counts when that is on the disk. Lock held. */
static status make_safe(struct coord *c, struct c_agent *a)
{
    status st = fleet_sync(c->fleet);
    a->is_unsafe = st != ST_OK;
    if (st == ST_OK)
        ingest_wake(c->ingest);
    return st;
}

/* A package that is here already; so is its line in the ledger, unless the disk failed at that moment. */
static void say_taken(struct coord *c, uint64_t agent, uint64_t bytes, struct httpd_answer *ans)
{
    pthread_mutex_lock(&c->lock);
    struct c_agent *a = agent_get(c, agent);
    status st = a && a->is_unsafe ? make_safe(c, a) : ST_OK;
    pthread_mutex_unlock(&c->lock);
    if (st == ST_OK)
        say_whole(ans, bytes);
    else
        say_trouble(c, st, ans);
}

void upload_ask(struct coord *c, uint64_t agent, struct span target, struct httpd_answer *ans)
{
    uint64_t sequence, last = 0;
    struct sign_public key[2];
    if (!sequence_of(target, &sequence) || !look_at(c, agent, &last, key)) {
        ans->status = 400;
    } else if (sequence <= last) {
        say_taken(c, agent, 0, ans);
    } else if (sequence > last + 1) {
        ans->status = 409;
        field_u64(&ans->body, HAVE, 0);
        field_u64(&ans->body, WANTED, last + 1);
    } else {
        field_u64(&ans->body, HAVE, inbox_have(c->inbox, agent, sequence));
    }
}

static bool is_for_us(struct coord *c, const struct digest256 *fingerprint)
{
    pthread_rwlock_rdlock(&c->id_lock);
    bool is = bytes_equal(fingerprint->b, c->id.fingerprint.b, sizeof(fingerprint->b)) ||
              (c->id.has_old && bytes_equal(fingerprint->b, c->id.old_fingerprint.b, sizeof(fingerprint->b)));
    pthread_rwlock_unlock(&c->id_lock);
    return is;
}

/* All of it is here: is it what it says, and whose it says? */
static status check_part(struct coord *c, uint64_t agent, uint64_t sequence, const struct sign_public key[2],
                         struct package_head *head, const char **why)
{
    struct buf package = {0};
    status st = inbox_read_part(c->inbox, agent, sequence, &package);
    if (st == ST_OK) {
        st = package_check(buf_span(&package), &key[0], head);
        if (st == ST_REFUSED)
            st = package_check(buf_span(&package), &key[1], head);
        *why = st == ST_REFUSED ? "the signature is not the agent's"
               : st == ST_NEWER ? "made by a newer version: update the coordinator"
                                : "damaged";
    }
    if (st == ST_OK && (head->agent != agent || head->sequence != sequence || !is_for_us(c, &head->coordinator))) {
        st = ST_INVALID;
        *why = "meant for somebody else, or with another number";
    }
    buf_done(&package);
    return st;
}

/* From the moment this returns the package is ours, whatever happens. */
static status take(struct coord *c, uint64_t agent, const struct package_head *head, uint64_t bytes)
{
    status st = inbox_complete(c->inbox, agent, head->sequence);
    if (st != ST_OK)
        return st;
    pthread_mutex_lock(&c->lock);
    struct c_agent *a = agent_get(c, agent);
    if (!a || !a->is_joined || a->sequence + 1 != head->sequence) {
        pthread_mutex_unlock(&c->lock);
        return ST_INVALID;
    }
    struct fleet_package p = {.agent = agent,
                              .sequence = head->sequence,
                              .base = c->next_fetch,
                              .visits = head->visits,
                              .bytes = bytes,
                              .received = clock_wall()};
    st = fleet_begin(c->fleet);
    if (st == ST_OK) {
        st = fleet_package_put(c->fleet, &p);
        if (st == ST_OK) {
            c->next_fetch += head->visits;
            a->sequence = head->sequence;
            a->packages++;
            a->package_bytes += bytes;
            save_number(c, "next_fetch", c->next_fetch);
            save_agent(c, a);
            st = fleet_commit(c->fleet, false);
            if (st != ST_OK) {
                a->sequence--;
                a->packages--;
                a->package_bytes -= bytes;
                c->next_fetch -= head->visits;
            }
        }
        if (st != ST_OK)
            fleet_rollback(c->fleet);
        else
            st = make_safe(c, a);
    }
    pthread_mutex_unlock(&c->lock);
    return st;
}

static void complain(struct coord *c, uint64_t agent, uint64_t sequence, const char *why)
{
    pthread_mutex_lock(&c->lock);
    struct c_agent *a = agent_get(c, agent);
    bool may = a && agent_may_be_logged(a);
    pthread_mutex_unlock(&c->lock);
    if (may)
        log_write(c->o.log, LOG_WARN, "packages", "refused agent=%llu sequence=%llu why=\"%s\"",
                  (unsigned long long)agent, (unsigned long long)sequence, why);
}

/* What is here waits its turn: an agent that sends faster than all of it can be taken in must not fill the disk, nor
 * keep the others waiting for long. */
static bool is_too_far_ahead(struct coord *c, uint64_t agent)
{
    pthread_mutex_lock(&c->lock);
    const struct c_agent *a = agent_get(c, agent);
    bool is = a && a->sequence - a->applied >= WAITING_AN_AGENT;
    pthread_mutex_unlock(&c->lock);
    return is;
}

void upload_piece(struct coord *c, uint64_t agent, struct span target, struct span piece, struct httpd_answer *ans)
{
    uint64_t sequence, last = 0, offset = 0, all = 0, have = 0;
    struct sign_public key[2];
    struct package_head head;
    const char *why = "";
    if (!sequence_of(target, &sequence) || !call_number(target, "offset", &offset) ||
        !call_number(target, "bytes", &all) || all == 0 || all > PACKAGE_BYTES_MAX || !look_at(c, agent, &last, key)) {
        ans->status = 400;
        return;
    }
    if (sequence <= last) {
        say_taken(c, agent, all, ans);
        return;
    }
    if (sequence > last + 1) {
        ans->status = 409;
        field_u64(&ans->body, WANTED, last + 1);
        return;
    }
    if (is_too_far_ahead(c, agent)) {
        ans->status = 503;
        buf_puts(&ans->head, "Retry-After: 1\n");
        return;
    }
    status st = inbox_piece(c->inbox, agent, sequence, offset, piece, &have);
    if (st == ST_INVALID) {
        ans->status = 409;
        field_u64(&ans->body, HAVE, have);
        field_u64(&ans->body, WANTED, sequence);
        return;
    }
    if (st == ST_OK && have == all) {
        st = check_part(c, agent, sequence, key, &head, &why);
        if (st == ST_OK)
            st = take(c, agent, &head, all);
        else if (st != ST_IO && st != ST_FULL) {
            complain(c, agent, sequence, why);
            inbox_drop_part(c->inbox, agent, sequence);
            ans->status = 422;
            field_str(&ans->body, WHY, why);
            return;
        }
        if (st == ST_OK) {
            say_whole(ans, all);
            return;
        }
    }
    if (st != ST_OK) {
        say_trouble(c, st, ans);
        return;
    }
    field_u64(&ans->body, HAVE, have);
}

/* ---- states of pages ---- */

struct states {
    struct coord *c;
    struct c_task *task;
    uint64_t agent;
    struct arena arena;
    struct buf *out;
};

static status put_state(void *arg, const struct page *p)
{
    struct states *s = arg;
    struct buf b = {0};
    struct url u;
    arena_reset(&s->arena);
    if (url_parse(&s->arena, p->url, NULL, &u) != ST_OK)
        return ST_OK;
    pthread_mutex_lock(&s->c->lock);
    bool is_suspect = p->fetch_number < assign_distrust_of(s->c, &u);
    const struct c_host *h = table_get(&s->c->hosts, siphash(&s->c->key, u.host));
    bool is_theirs = h && (h->pinned_agent == s->agent || (h->network && h->network->agent == s->agent));
    bool is_lost = h && h->network && h->network->was_lost;
    pthread_mutex_unlock(&s->c->lock);
    if (!is_theirs)
        return ST_OK;
    field_text(&b, 1, p->url);
    field_u64_if(&b, 2, p->depth);
    /* Of what somebody said who lied only the address is worth something: whatever is found there now is news. */
    field_i64(&b, 3, is_suspect ? clock_wall() : p->at);
    if (!is_suspect) {
        field_u64_if(&b, 4, p->http_status);
        field_u64_if(&b, 5, p->digest);
    }
    if (!is_lost && !is_suspect) { /* else it has to be got whole: whoever found its links has vanished with them */
        field_text_if(&b, 6, p->etag);
        field_text_if(&b, 7, p->last_modified);
    }
    field_u64_if(&b, 8, p->page_flags);
    if (!is_suspect)
        field_u64_if(&b, 9, p->rate);
    field_text(s->out, 1, buf_span(&b));
    buf_done(&b);
    return ST_OK;
}

void upload_states(struct coord *c, uint64_t agent, struct span target, struct httpd_answer *ans)
{
    uint64_t number = 0, after = 0, channel = 0;
    struct states s = {.c = c, .agent = agent, .out = &ans->body};
    (void)call_number(target, "task", &number);
    (void)call_number(target, "after", &after);
    pthread_mutex_lock(&c->lock);
    s.task = task_get(c, number);
    if (s.task && s.task->agent == agent)
        channel = s.task->channel->id;
    pthread_mutex_unlock(&c->lock);
    if (!channel) {
        ans->status = 404;
        return;
    }
    struct store *store = NULL;
    struct buf why = {0};
    uint64_t last = 0;
    arena_init(&s.arena);
    status st = store_open(c->data_dir, STORE_READ, &store, &why);
    if (st == ST_OK)
        st = store_page_after(store, channel, after, PATH_STATES_MAX, put_state, &s, &last);
    if (st == ST_OK && last)
        field_u64(&ans->body, 2, last);
    if (st != ST_OK && st != ST_NOT_FOUND)
        ans->status = 500;
    store_free(store);
    arena_done(&s.arena);
    buf_done(&why);
}

void upload_blob(struct coord *c, uint64_t agent, struct span target, struct httpd_answer *ans)
{
    struct digest256 key;
    uint64_t offset = 0;
    struct buf blob = {0};
    (void)call_number(target, "offset", &offset);
    if (hex_get(span_from(call_path(target), strlen(PATH_BLOB)), key.b, sizeof(key.b)) != ST_OK) {
        ans->status = 404;
        return;
    }
    pthread_mutex_lock(&c->lock);
    status st = fleet_get(c->fleet, FLEET_BLOB, span_of((const char *)key.b, sizeof(key.b)), &blob);
    pthread_mutex_unlock(&c->lock);
    if (st != ST_OK)
        ans->status = 404;
    else if (offset < blob.n)
        buf_put(&ans->body,
                span_of(blob.p + offset, blob.n - offset < PATH_PIECE_MAX ? blob.n - (size_t)offset : PATH_PIECE_MAX));
    buf_done(&blob);
}
