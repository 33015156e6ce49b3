#include "coord/ingest.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "apply/apply.h"
#include "base/mem.h"
#include "codec/digest.h"
#include "coord/agents.h"
#include "coord/alike_job.h"
#include "coord/archive.h"
#include "coord/assign.h"
#include "coord/channels.h"
#include "coord/forgetting.h"
#include "coord/inbox.h"
#include "coord/late.h"
#include "coord/recrawling.h"
#include "coord/trust.h"
#include "io/clock.h"
#include "store/seen.h"
#include "wire/package.h"

#define COMMIT_VISITS 5000
#define PUBLISH_MS 2000
#define GATHER_MS 30000 /* after so long without a package, texts of links are brought into the index */
#define RETRY_MS 2000   /* after the disk said no */
#define SYNC_PACKAGES 8 /* share the wait for the disk, when so many are there */
#define CHARACTER_MAX 4 /* bytes: a text that was cut is shorter than its ceiling by less */

struct ingest {
    struct coord *c;
    struct store *store;
    struct apply *apply;
    struct warc_store *archive;
    struct alike_job *alike;
    struct forgetting *forgetting;
    struct seen *told; /* URLs that are pages here, or were given to somebody as seeds */
    struct arena arena;
    pthread_t thread;
    bool has_thread;
    pthread_mutex_t lock; /* the next five */
    pthread_cond_t changed;
    bool is_stopping, has_work;
    struct ingest_stats shown;
    uint64_t written; /* contents there are */
    /* the thread's own */
    struct ingest_stats stats;
    struct fleet_package *waiting;
    size_t waiting_count, waiting_cap;
    mono_ms published, applied;
    bool is_ungathered;
    /* the package under way */
    const struct fleet_package *package;
    uint64_t next; /* fetch number */
    unsigned new_sites;
    uint64_t strange; /* visits that are none of its agent's business */
    bool is_archived; /* answers of it were kept */
    struct buf packed;
};

/* ---- one visit ---- */

/* A link to another place: perhaps a seed for whoever crawls there, perhaps a site nobody knows yet. */
static void take_link(struct ingest *i, struct c_agent *a, struct c_channel *from, const struct summary_link *l)
{
    struct coord *c = i->c;
    struct url u;
    bool is_new = false;
    uint64_t key = siphash(&c->key, l->url);
    if (url_parse(&i->arena, l->url, NULL, &u) != ST_OK || !url_is_http(&u) || forgetting_has(c, &u))
        return;
    channel_know_link(from, digest_blake2b64(l->url));
    struct c_channel *in[1];
    bool is_known = channels_of_url(c, &u, in, 1);
    if (is_known)
        recrawling_linked(c, in[0], from);
    if (seen_add(i->told, &key, 1, &is_new) != ST_OK || !is_new)
        return;
    i->stats.links++;
    if (is_known)
        channels_link(c, &u);
    else if (c->o.discovers && trust_new_site(c, a, &i->new_sites)) {
        i->stats.new_sites++;
        channels_discover(c, &u);
        channels_link(c, &u); /* it begins at the front door, and here */
    }
}

/* Lock held. NULL: the agent has no business with this page, or lied before. *distrust: see assign_distrust_of.
 * *is_late: it had when it was there. */
static struct c_channel *channel_of_visit(struct ingest *i, struct c_agent *a, uint64_t task, const struct summary *s,
                                          uint64_t *distrust, bool *is_late)
{
    struct coord *c = i->c;
    struct url u;
    struct c_task *t = task_get(c, task);
    if (!a || a->is_demoted || !t || url_parse(&i->arena, s->url, NULL, &u) != ST_OK)
        return NULL;
    *distrust = assign_distrust_of(c, &u);
    bool may = assign_allows(c, a->number, t, &u, s->address, s->page_flags & PAGE_LIST);
    *is_late = !may && t->agent == a->number && late_allows(c, t, &u, s->address, i->package->sequence);
    return may || *is_late ? t->channel : NULL;
}

/* What can be told from the text is not taken from the agent. A text that was cut, or that a program made, or that came
 * as words, has another digest than the page. */
static void check_digest(const struct c_channel *ch, struct summary *s)
{
    if (s->page_flags & PAGE_LIST)
        s->page_flags |= PAGE_NOINDEX; /* one has no text */
    if (s->is_keywords || ch->program[0] || s->text.n + CHARACTER_MAX > PACKAGE_TEXT_MAX)
        return;
    s->text_bytes = s->text.n;
    s->digest = s->text.n ? facts_digest(s->text) : 0;
}

static status note_content(void *arg, const struct page *p)
{
    *(uint64_t *)arg = p->content;
    return ST_OK;
}

/* A page of which somebody said something who lied is brought anew, even if nothing seems to have changed. When it is
 * gone its content goes by itself. */
static status forget_lies(struct ingest *i, uint64_t key, const struct summary *s, uint64_t distrust)
{
    uint64_t content = 0;
    bool has_text = s->failure == ST_OK && s->http_status >= 200 && s->http_status <= 299 &&
                    (s->is_html || s->digest) && !(s->page_flags & PAGE_NOINDEX);
    if (!distrust || !has_text)
        return ST_OK;
    status st = apply_begin(i->apply);
    if (st == ST_OK)
        st = store_page_get(i->store, key, note_content, &content);
    if (st == ST_OK && content && content < distrust)
        st = store_page_drop_content(i->store, key);
    return st == ST_NOT_FOUND ? ST_OK : st;
}

static status note_known(void *arg, const struct page *p)
{
    *(bool *)arg = true;
    return ST_OK;
}

/* What somebody brought is not replaced by what comes late. */
static status is_in_store(struct ingest *i, uint64_t key, bool *is_known)
{
    status st = apply_begin(i->apply);
    if (st == ST_OK)
        st = store_page_get(i->store, key, note_known, is_known);
    return st == ST_NOT_FOUND ? ST_OK : st;
}

static bool is_forgotten(struct ingest *i, const struct summary *s)
{
    struct url u;
    return places_count(i->c->forgotten) && url_parse(&i->arena, s->url, NULL, &u) == ST_OK && forgetting_has(i->c, &u);
}

static status take_visit(void *arg, uint64_t task, summary_kind kind, const struct summary *given)
{
    struct ingest *i = arg;
    struct coord *c = i->c;
    struct summary s = *given;
    bool is_new;
    arena_reset(&i->arena);
    s.fetch_number = i->next++;
    pthread_mutex_lock(&c->lock);
    if (is_forgotten(i, &s)) { /* found before its agent was told */
        pthread_mutex_unlock(&c->lock);
        return ST_OK;
    }
    uint64_t distrust = 0;
    bool is_late = false;
    struct c_agent *a = agent_get(c, i->package->agent);
    struct c_channel *ch = channel_of_visit(i, a, task, &s, &distrust, &is_late);
    if (!ch) {
        if (a) {
            a->dropped++;
            a->is_dirty = true;
        }
        i->strange++;
        i->stats.dropped++;
        pthread_mutex_unlock(&c->lock);
        return ST_OK;
    }
    s.channel = ch->id;
    bool is_kept = ch->wants_warc && s.capture.n;
    if (!ch->program[0]) /* then nobody made any */
        s.field_count = 0;
    check_digest(ch, &s);
    trust_page(c, a, ch, &s);
    struct summary_link *links = arena_alloc(&i->arena, (s.link_count + 1) * sizeof(*links));
    for (size_t k = 0; k < s.link_count; k++) {
        links[k] = s.links[k];
        links[k].key = siphash(&c->key, links[k].url);
        if (links[k].flags & SUMMARY_LINK_FOREIGN)
            take_link(i, a, ch, &links[k]);
    }
    pthread_mutex_unlock(&c->lock);
    s.links = links;
    if (is_kept && !warc_store_visit(i->archive, &s))
        i->strange++; /* the visit itself counts */
    i->is_archived |= is_kept;
    s.capture = (struct span){0};
    uint64_t key = siphash(&c->key, s.url);
    bool is_known = false;
    status st = is_late ? is_in_store(i, key, &is_known) : ST_OK;
    if (st != ST_OK || is_known)
        return st;
    st = seen_add(i->told, &key, 1, &is_new);
    if (st == ST_OK)
        st = forget_lies(i, key, &s, distrust);
    if (st != ST_OK)
        return st;
    buf_clear(&i->packed);
    summary_pack(&s, &i->packed);
    st = apply_summary(i->apply, buf_span(&i->packed), NULL);
    if (st == ST_OK && s.rate) /* its agent saw the visits that did not travel, too */
        st = store_page_put_rate(i->store, key, s.rate);
    if (st == ST_OK && apply_pending(i->apply) >= COMMIT_VISITS)
        st = apply_commit(i->apply);
    i->stats.visits++;
    return st;
}

/* ---- packages ---- */

static status note_waiting(void *arg, const struct fleet_package *p)
{
    struct ingest *i = arg;
    i->waiting = mem_grow(i->waiting, &i->waiting_cap, i->waiting_count + 1, sizeof(*i->waiting));
    i->waiting[i->waiting_count++] = *p;
    return ST_OK;
}

static status mark_applied(struct ingest *i, const struct fleet_package *p)
{
    struct coord *c = i->c;
    pthread_mutex_lock(&c->lock);
    status st = fleet_package_applied(c->fleet, p->agent, p->sequence);
    struct c_agent *a = agent_get(c, p->agent);
    if (st == ST_OK && a && a->applied < p->sequence)
        a->applied = p->sequence; /* those of an agent are applied in their order */
    pthread_mutex_unlock(&c->lock);
    if (st == ST_OK)
        inbox_remove(c->inbox, p->agent, p->sequence);
    return st;
}

/* What an agent sent besides its pages. */
static void tell_of_package(struct ingest *i, const struct fleet_package *p, status st)
{
    struct coord *c = i->c;
    pthread_mutex_lock(&c->lock);
    struct c_agent *a = agent_get(c, p->agent);
    bool may = (st != ST_OK || i->strange) && a && agent_may_be_logged(a);
    pthread_mutex_unlock(&c->lock);
    if (may && i->strange)
        log_write(c->o.log, LOG_WARN, "packages",
                  "visits that are none of the agent's business were dropped agent=%llu sequence=%llu visits=%llu",
                  (unsigned long long)p->agent, (unsigned long long)p->sequence, (unsigned long long)i->strange);
    if (may && st != ST_OK)
        log_write(c->o.log, LOG_ERROR, "packages", "cannot be read agent=%llu sequence=%llu what=\"%s\"",
                  (unsigned long long)p->agent, (unsigned long long)p->sequence, status_name(st));
}

static bool is_unreadable(status st)
{
    return st == ST_CORRUPT || st == ST_NOT_FOUND || st == ST_LIMIT || st == ST_NEWER;
}

static status apply_package(struct ingest *i, const struct fleet_package *p)
{
    struct coord *c = i->c;
    struct buf bytes = {0};
    struct package_head head;
    size_t head_bytes;
    status st = inbox_read(c->inbox, p->agent, p->sequence, &bytes);
    if (st == ST_OK) /* its signature was checked when it came */
        st = package_head_read(buf_span(&bytes), NULL, &head, &head_bytes);
    if (st == ST_OK && head.visits != p->visits)
        st = ST_CORRUPT; /* not the one that got its fetch numbers: an agent sent two at the same time */
    i->package = p;
    i->next = p->base;
    i->new_sites = 0;
    i->strange = 0;
    i->is_archived = false;
    warc_store_begin(i->archive, p->agent, p->sequence);
    if (st == ST_OK)
        st = package_read(buf_span(&bytes), NULL, NULL, take_visit, i);
    buf_done(&bytes);
    if (st == ST_OK || is_unreadable(st))
        tell_of_package(i, p, st);
    if (is_unreadable(st)) {
        i->stats.damaged++;
        apply_rollback(i->apply);
        st = ST_OK;
    } else if (st == ST_OK)
        st = warc_store_commit(i->archive);
    if (st == ST_OK)
        st = apply_commit(i->apply);
    if (st != ST_OK)
        apply_rollback(i->apply);
    return st;
}

/* Those that were applied are in the store for good: only now are they gone from the inbox. */
static status settle_packages(struct ingest *i, const struct fleet_package *list, size_t n)
{
    status st = n ? store_sync(i->store) : ST_OK;
    for (size_t k = 0; k < n && st == ST_OK; k++) {
        st = mark_applied(i, &list[k]);
        i->stats.packages += st == ST_OK;
    }
    return st;
}

/* ---- the thread ---- */

static void show(struct ingest *i, uint64_t waiting)
{
    pthread_mutex_lock(&i->lock);
    i->shown = i->stats;
    i->shown.waiting = waiting;
    i->written = apply_written(i->apply);
    pthread_mutex_unlock(&i->lock);
}

static void publish(struct ingest *i, mono_ms now)
{
    status st = ST_OK;
    struct apply_stats index;
    apply_get_stats(i->apply, &index);
    if (index.index_applied < apply_written(i->apply) && now - i->published >= PUBLISH_MS) {
        st = apply_publish(i->apply);
        i->published = now;
    }
    if (st == ST_OK && i->is_ungathered && now - i->applied >= GATHER_MS) {
        st = apply_finish(i->apply);
        i->is_ungathered = st != ST_OK;
        i->applied = now; /* of no consequence, unless it is to be done again */
    }
    if (st != ST_OK)
        note_trouble(i->c, st, "write to the index");
    else
        alike_job_poke(i->alike, now, !i->is_ungathered, apply_written(i->apply), index.index_docs);
    i->stats.trouble = st;
}

static void wait_a_little(struct ingest *i)
{
    struct timespec until = clock_in(200);
    pthread_mutex_lock(&i->lock);
    if (!i->has_work && !i->is_stopping)
        pthread_cond_timedwait(&i->changed, &i->lock, &until);
    pthread_mutex_unlock(&i->lock);
}

static bool is_stopping(struct ingest *i)
{
    pthread_mutex_lock(&i->lock);
    bool is = i->is_stopping;
    pthread_mutex_unlock(&i->lock);
    return is;
}

static bool take_work(struct ingest *i)
{
    pthread_mutex_lock(&i->lock);
    bool has = i->has_work;
    i->has_work = false;
    pthread_mutex_unlock(&i->lock);
    return has;
}

static void work_off(struct ingest *i)
{
    struct coord *c = i->c;
    i->waiting_count = 0;
    pthread_mutex_lock(&c->lock);
    status st = fleet_package_waiting(c->fleet, note_waiting, i);
    pthread_mutex_unlock(&c->lock);
    size_t settled = 0, k = 0;
    for (; st == ST_OK && k < i->waiting_count && !is_stopping(i); k++) {
        st = apply_package(i, &i->waiting[k]);
        /* The archive knows of one package alone that it has it already. */
        if (st == ST_OK && (i->is_archived || k + 1 - settled == SYNC_PACKAGES)) {
            st = settle_packages(i, i->waiting + settled, k + 1 - settled);
            settled = k + 1;
        }
        i->is_ungathered = true;
        i->applied = clock_mono();
        publish(i, i->applied);
        show(i, i->waiting_count - k - (st == ST_OK));
    }
    if (st == ST_OK)
        st = settle_packages(i, i->waiting + settled, k - settled);
    i->stats.trouble = st;
    show(i, st == ST_OK && !is_stopping(i) ? 0 : i->waiting_count);
    if (st != ST_OK) {
        note_trouble(c, st, "apply a package");
        struct timespec pause = {.tv_sec = RETRY_MS / 1000};
        nanosleep(&pause, NULL);
        ingest_wake(i); /* it is still there */
    }
}

static void *run(void *arg)
{
    struct ingest *i = arg;
    while (!is_stopping(i)) {
        if (take_work(i))
            work_off(i);
        else
            wait_a_little(i);
        forgetting_tick(i->forgetting, clock_mono());
        publish(i, clock_mono());
    }
    forgetting_stop(i->forgetting);
    status st = apply_commit(i->apply);
    if (st == ST_OK)
        st = apply_finish(i->apply);
    if (st == ST_OK)
        st = store_sync(i->store);
    note_trouble(i->c, st, "finish the index");
    return NULL;
}

/* ---- life ---- */

status ingest_continue(struct ingest *i)
{
    uint64_t last;
    status st = store_last_fetch(i->store, &last);
    if (st == ST_OK && last >= i->c->next_fetch)
        i->c->next_fetch = last + 1;
    return st;
}

status ingest_new(struct coord *c, struct ingest **out, struct buf *why)
{
    struct ingest *i = mem_alloc(sizeof(*i));
    struct buf path = {0};
    struct apply_start start;
    i->c = c;
    arena_init(&i->arena);
    pthread_mutex_init(&i->lock, NULL);
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&i->changed, &attr);
    pthread_condattr_destroy(&attr);
    i->has_work = true;
    status st = store_open(c->data_dir, STORE_WRITE, &i->store, why);
    if (st == ST_OK) {
        c->key = *store_key(i->store);
        buf_printf(&path, "%s/told", c->data_dir);
        st = seen_open(buf_cstr(&path), &(struct seen_opts){.front_bytes = 16u << 20}, &i->told);
        if (st == ST_OK)
            seen_settle(i->told); /* only spares repetitions: it begins empty, and old files go */
        else
            buf_printf(why, "%s: %s", path.p, st == ST_IO ? strerror(errno) : status_name(st));
    }
    if (st == ST_OK)
        st = forgetting_new(
            &(struct forgetting_opts){.c = c, .store = i->store, .apply = &i->apply, .archive = &i->archive},
            &i->forgetting, why);
    if (st == ST_OK)
        st = apply_open(&(struct apply_opts){.store = i->store,
                                             .no_documents = c->o.no_documents,
                                             .index_memory = c->o.index_memory,
                                             .log = c->o.log},
                        &i->apply, &start, why);
    if (st == ST_OK)
        st = warc_store_new(&(struct warc_store_opts){.data_dir = c->data_dir, .version = c->o.version}, &i->archive,
                            why);
    if (st == ST_OK) {
        i->alike = alike_job_new(c->data_dir, &c->key, c->o.log);
        *out = i;
    } else
        ingest_free(i);
    buf_done(&path);
    return st;
}

void ingest_start(struct ingest *i)
{
    i->has_thread = true;
    if (pthread_create(&i->thread, NULL, run, i) != 0)
        abort(); /* no thread means no memory for one */
}

void ingest_wake(struct ingest *i)
{
    pthread_mutex_lock(&i->lock);
    i->has_work = true;
    i->shown.waiting += i->shown.waiting == 0; /* at least this one, until it is looked at */
    pthread_cond_signal(&i->changed);
    pthread_mutex_unlock(&i->lock);
}

void ingest_stop(struct ingest *i)
{
    if (!i->has_thread)
        return;
    pthread_mutex_lock(&i->lock);
    i->is_stopping = true;
    pthread_cond_signal(&i->changed);
    pthread_mutex_unlock(&i->lock);
    pthread_join(i->thread, NULL);
    i->has_thread = false;
}

void ingest_get_stats(struct ingest *i, struct ingest_stats *out)
{
    struct apply_stats index;
    pthread_mutex_lock(&i->lock);
    *out = i->shown;
    uint64_t written = i->written;
    pthread_mutex_unlock(&i->lock);
    apply_get_stats(i->apply, &index);
    out->is_searchable = index.index_applied >= written;
    out->index_docs = index.index_docs;
    out->index_bytes = index.index_bytes;
    out->index_segments = index.index_segments;
}

void ingest_free(struct ingest *i)
{
    if (!i)
        return;
    ingest_stop(i);
    alike_job_free(i->alike);
    forgetting_free(i->forgetting);
    apply_free(i->apply);
    warc_store_free(i->archive);
    seen_free(i->told);
    store_free(i->store);
    arena_done(&i->arena);
    buf_done(&i->packed);
    free(i->waiting);
    pthread_cond_destroy(&i->changed);
    pthread_mutex_destroy(&i->lock);
    free(i);
}

struct forgetting *ingest_forgetting(struct ingest *i)
{
    return i->forgetting;
}
