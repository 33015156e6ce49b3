#include "agent/gate.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"
#include "codec/digest.h"
#include "plan/split.h"

struct task {
    uint64_t number, channel;
    summary_kind kind;
    struct network *networks; /* owned, as all arrays here */
    size_t network_count;
    struct names {
        char **list; /* owned, as are the names */
        size_t count;
    } hosts, others;
    uint64_t *known_links;
    size_t known_link_count;
    bool is_ending;
    struct network *pinned;
    size_t pinned_count, pinned_cap;
};

struct stray {
    uint64_t task;
    char *host;
    struct addr addr;
};

struct gate {
    struct gate_opts o;
    pthread_mutex_t lock;
    struct network *refused;
    size_t refused_count;
    struct network *abroad; /* in countries that the owner refuses */
    size_t abroad_count, abroad_cap;
    struct task **tasks;
    size_t count, cap;
    struct stray strays[GATE_STRAYS_MAX];
    size_t stray_count;
    struct known {
        uint64_t mark; /* of task, host and network; 0: free */
        mono_ms at;
    } known[GATE_STRAYS_KNOWN];
};

struct gate *gate_new(const struct gate_opts *o)
{
    struct gate *g = mem_alloc(sizeof(*g));
    g->o = *o;
    g->o.refused = NULL; /* not ours to keep */
    pthread_mutex_init(&g->lock, NULL);
    g->refused = mem_alloc((o->refused_count + 1) * sizeof(*g->refused));
    for (size_t i = 0; i < o->refused_count; i++)
        if (network_parse(o->refused[i], &g->refused[g->refused_count]) == ST_OK)
            g->refused_count++;
    return g;
}

static void names_put(struct names *n, const struct span *from, size_t count)
{
    n->list = mem_alloc((count + 1) * sizeof(*n->list));
    n->count = count;
    for (size_t i = 0; i < count; i++)
        n->list[i] = mem_str(from[i]);
}

static bool names_have(const struct names *n, struct span host)
{
    for (size_t i = 0; i < n->count; i++)
        if (span_is_nocase(host, n->list[i]))
            return true;
    return false;
}

static void names_done(struct names *n)
{
    for (size_t i = 0; i < n->count; i++)
        free(n->list[i]);
    free(n->list);
}

static void empty_task(struct task *t)
{
    names_done(&t->hosts);
    names_done(&t->others);
    free(t->networks);
    free(t->known_links);
}

static void task_free(struct task *t)
{
    empty_task(t);
    free(t->pinned);
    free(t);
}

void gate_free(struct gate *g)
{
    if (!g)
        return;
    for (size_t i = 0; i < g->count; i++)
        task_free(g->tasks[i]);
    for (size_t i = 0; i < g->stray_count; i++)
        free(g->strays[i].host);
    free(g->tasks);
    free(g->refused);
    free(g->abroad);
    pthread_mutex_destroy(&g->lock);
    free(g);
}

/* ---- tasks ---- */

static struct task *find(const struct gate *g, uint64_t number)
{
    for (size_t i = 0; i < g->count; i++)
        if (g->tasks[i]->number == number)
            return g->tasks[i];
    return NULL;
}

static void *copy_of(const void *from, size_t n, size_t item)
{
    void *to = mem_alloc(n * item + 1);
    if (n)
        memcpy(to, from, n * item);
    return to;
}

void gate_put(struct gate *g, const struct gate_task *from)
{
    pthread_mutex_lock(&g->lock);
    struct task *t = find(g, from->task);
    if (!t) {
        g->tasks = mem_grow(g->tasks, &g->cap, g->count + 1, sizeof(struct task *));
        t = g->tasks[g->count++] = mem_alloc(sizeof(*t));
        t->number = from->task;
    } else {
        empty_task(t);
    }
    t->channel = from->channel;
    t->kind = from->kind;
    t->is_ending = from->is_ending;
    t->networks = copy_of(from->networks, from->network_count, sizeof(*t->networks));
    t->network_count = from->network_count;
    t->known_links = copy_of(from->known_links, from->known_link_count, sizeof(*t->known_links));
    t->known_link_count = from->known_link_count;
    names_put(&t->hosts, from->hosts, from->host_count);
    names_put(&t->others, from->others, from->other_count);
    pthread_mutex_unlock(&g->lock);
}

void gate_remove(struct gate *g, uint64_t number)
{
    pthread_mutex_lock(&g->lock);
    for (size_t i = 0; i < g->count; i++)
        if (g->tasks[i]->number == number) {
            task_free(g->tasks[i]);
            memmove(&g->tasks[i], &g->tasks[i + 1], (g->count - i - 1) * sizeof(*g->tasks));
            g->count--;
            break;
        }
    pthread_mutex_unlock(&g->lock);
}

static bool has_network(const struct network *list, size_t n, const struct addr *addr)
{
    for (size_t i = 0; i < n; i++)
        if (network_has(&list[i], addr))
            return true;
    return false;
}

static bool has_site(const struct network *list, size_t n, const struct addr *addr, struct span host)
{
    for (size_t i = 0; i < n; i++)
        if (network_has(&list[i], addr) && split_has(&list[i], host))
            return true;
    return false;
}

void gate_country(struct gate *g, const struct network *n, struct span country)
{
    bool is_refused = false, is_known = false;
    for (size_t i = 0; i < g->o.country_count; i++)
        is_refused |= span_eq_nocase(country, g->o.countries[i]);
    if (!is_refused)
        return;
    pthread_mutex_lock(&g->lock);
    for (size_t i = 0; i < g->abroad_count; i++)
        is_known |= network_eq(&g->abroad[i], n);
    if (!is_known) {
        g->abroad = mem_grow(g->abroad, &g->abroad_cap, g->abroad_count + 1, sizeof(*g->abroad));
        g->abroad[g->abroad_count++] = *n;
    }
    pthread_mutex_unlock(&g->lock);
}

/* ---- the question ---- */

bool gate_is_refused(struct gate *g, const struct addr *addr, struct span *rule)
{
    struct addr plain = addr_unmapped(addr);
    for (size_t i = 0; i < g->refused_count; i++) /* never changes: no lock */
        if (network_has(&g->refused[i], &plain)) {
            if (rule)
                *rule = SPAN("refuse-network");
            return true;
        }
    pthread_mutex_lock(&g->lock);
    bool is_abroad = has_network(g->abroad, g->abroad_count, &plain);
    pthread_mutex_unlock(&g->lock);
    if (is_abroad) {
        if (rule)
            *rule = SPAN("refuse-country");
        return true;
    }
    if (!g->o.allow_private && addr_classify(&plain) != ADDR_PUBLIC) {
        if (rule)
            *rule = SPAN("private address");
        return true;
    }
    return false;
}

static void note_pinned(struct task *t, const struct network *n)
{
    for (size_t i = 0; i < t->pinned_count; i++)
        if (network_eq(&t->pinned[i], n))
            return;
    if (t->pinned_count >= GATE_PINNED_NETWORKS_MAX)
        return;
    t->pinned = mem_grow(t->pinned, &t->pinned_cap, t->pinned_count + 1, sizeof(*t->pinned));
    t->pinned[t->pinned_count++] = *n;
}

/* Lock held. */
static void note_stray(struct gate *g, uint64_t task, struct span host, const struct addr *addr)
{
    struct network n = addr_network(addr);
    char text[NETWORK_TEXT_MAX];
    struct buf b = {0};
    buf_printf(&b, "%llu %s ", (unsigned long long)task, network_format(&n, text));
    buf_put(&b, host);
    uint64_t mark = digest_blake2b64(buf_span(&b)) | 1;
    buf_done(&b);
    mono_ms now = g->o.now(g->o.arg);
    struct known *k = &g->known[mark / 2 % GATE_STRAYS_KNOWN];
    if ((k->mark == mark && now - k->at < GATE_STRAY_MS) || g->stray_count == GATE_STRAYS_MAX)
        return; /* said already; or so many wait that this one will be met again */
    *k = (struct known){mark, now};
    g->strays[g->stray_count++] = (struct stray){task, mem_str(host), *addr};
}

bool gate_may_use(struct gate *g, struct span host, const struct addr *addr, uint64_t channel)
{
    struct addr plain = addr_unmapped(addr);
    if (gate_is_refused(g, &plain, NULL))
        return false;
    bool may = false;
    pthread_mutex_lock(&g->lock);
    for (size_t i = 0; i < g->count && !may; i++) {
        struct task *t = g->tasks[i];
        if (t->channel != channel || names_have(&t->others, host))
            continue;
        may = has_site(t->networks, t->network_count, &plain, host);
        if (!may && names_have(&t->hosts, host)) {
            struct network n = addr_network(&plain);
            note_pinned(t, &n);
            may = true;
        }
    }
    pthread_mutex_unlock(&g->lock);
    return may;
}

void gate_turned_away(struct gate *g, struct span host, const struct addr *addr, uint64_t channel)
{
    struct span rule;
    struct addr plain = addr_unmapped(addr);
    if (gate_is_refused(g, &plain, &rule)) {
        g->o.note_refused(g->o.arg, host, &plain, rule);
        return;
    }
    pthread_mutex_lock(&g->lock);
    for (size_t i = 0; i < g->count; i++)
        if (g->tasks[i]->channel == channel && !g->tasks[i]->is_ending) {
            if (!names_have(&g->tasks[i]->others, host))
                note_stray(g, g->tasks[i]->number, host, &plain);
            break;
        }
    pthread_mutex_unlock(&g->lock);
}

struct gate_visit gate_task_of(struct gate *g, uint64_t channel, const struct addr *addr)
{
    struct gate_visit v = {0, SUMMARY_TEXT};
    pthread_mutex_lock(&g->lock);
    for (size_t i = 0; i < g->count; i++) {
        const struct task *t = g->tasks[i];
        if (t->channel != channel)
            continue;
        bool fits = addr->family && has_network(t->networks, t->network_count, addr);
        if (!v.task || fits)
            v = (struct gate_visit){t->number, t->kind};
        if (fits)
            break;
    }
    pthread_mutex_unlock(&g->lock);
    return v;
}

uint16_t gate_parts_of(struct gate *g, const struct network *n)
{
    unsigned parts = 0;
    pthread_mutex_lock(&g->lock);
    for (size_t i = 0; i < g->count; i++) {
        const struct task *t = g->tasks[i];
        for (size_t k = 0; k < t->network_count; k++)
            if (t->networks[k].bits == n->bits && addr_eq(&t->networks[k].first, &n->first))
                parts |= t->networks[k].parts ? t->networks[k].parts : 0xffffu;
    }
    pthread_mutex_unlock(&g->lock);
    return parts == 0xffff ? 0 : (uint16_t)parts;
}

bool gate_network_of(struct gate *g, const struct addr *addr, struct network *out)
{
    bool is_found = false;
    pthread_mutex_lock(&g->lock);
    for (size_t i = 0; i < g->count && !is_found; i++) {
        const struct task *t = g->tasks[i];
        for (size_t k = 0; k < t->network_count && !is_found; k++)
            if (network_has(&t->networks[k], addr)) {
                *out = t->networks[k];
                is_found = true;
            }
    }
    pthread_mutex_unlock(&g->lock);
    return is_found;
}

bool gate_knows_link(struct gate *g, uint64_t task, uint64_t digest)
{
    bool knows = false;
    pthread_mutex_lock(&g->lock);
    const struct task *t = find(g, task);
    size_t from = 0, to = t ? t->known_link_count : 0;
    while (from < to && !knows) {
        size_t mid = from + (to - from) / 2;
        knows = t->known_links[mid] == digest;
        if (t->known_links[mid] < digest)
            from = mid + 1;
        else
            to = mid;
    }
    pthread_mutex_unlock(&g->lock);
    return knows;
}

struct network *gate_pinned_networks(struct gate *g, uint64_t task, struct arena *a, size_t *count)
{
    struct network *out = NULL;
    *count = 0;
    pthread_mutex_lock(&g->lock);
    const struct task *t = find(g, task);
    if (t && t->pinned_count) {
        out = arena_alloc(a, t->pinned_count * sizeof(*out));
        memcpy(out, t->pinned, t->pinned_count * sizeof(*out));
        *count = t->pinned_count;
    }
    pthread_mutex_unlock(&g->lock);
    return out;
}

void gate_pinned_put(struct gate *g, uint64_t task, const struct network *n)
{
    pthread_mutex_lock(&g->lock);
    struct task *t = find(g, task);
    if (t)
        note_pinned(t, n);
    pthread_mutex_unlock(&g->lock);
}

/* ---- strays ---- */

struct stray_host *gate_strays(struct gate *g, struct arena *a, size_t *count)
{
    pthread_mutex_lock(&g->lock);
    struct stray_host *out = arena_alloc(a, (g->stray_count + 1) * sizeof(*out));
    for (size_t i = 0; i < g->stray_count; i++) {
        char text[ADDR_TEXT_MAX];
        out[i] = (struct stray_host){g->strays[i].task, arena_copy(a, span_str(g->strays[i].host)),
                                     arena_copy(a, span_str(addr_format(&g->strays[i].addr, text)))};
    }
    *count = g->stray_count;
    pthread_mutex_unlock(&g->lock);
    return out;
}

void gate_strays_told(struct gate *g, size_t n)
{
    pthread_mutex_lock(&g->lock);
    if (n > g->stray_count)
        n = g->stray_count;
    for (size_t i = 0; i < n; i++)
        free(g->strays[i].host);
    memmove(&g->strays[0], &g->strays[n], (g->stray_count - n) * sizeof(g->strays[0]));
    g->stray_count -= n;
    pthread_mutex_unlock(&g->lock);
}
