#include "coord/ping_table.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/table.h"

typedef enum key_state { KEY_NONE, KEY_WAITS, KEY_ASKED, KEY_GOOD, KEY_BAD } key_state;

struct ping_key {
    key_state state;
    char *key, *url; /* owned */
    uint64_t id;
    mono_ms since; /* its state */
    mono_ms again; /* WAITS: not before */
    uint64_t agent, order;
    struct buf held; /* owned: URLs, '\n' after each */
};

struct ping_site {
    uint64_t hash;
    char *host; /* owned */
    struct ping_key keys[PING_KEYS_A_SITE];
    mono_ms heard;        /* last announcement */
    mono_ms taken, asked; /* last one that counted; last look at a key. 0: never */
};

struct ping_table {
    struct sip_key key;
    struct table sites; /* hash of the host -> struct ping_site, owned */
    size_t held;        /* bytes */
    size_t open;        /* keys that wait or are asked for */
    uint64_t ids;
};

struct ping_table *ping_table_new(const struct sip_key *key)
{
    struct ping_table *t = mem_alloc(sizeof(*t));
    t->key = *key;
    return t;
}

static bool is_open(const struct ping_key *k)
{
    return k->state == KEY_WAITS || k->state == KEY_ASKED;
}

static void key_drop(struct ping_table *t, struct ping_key *k)
{
    t->open -= is_open(k);
    t->held -= k->held.n;
    buf_done(&k->held);
    free(k->key);
    free(k->url);
    *k = (struct ping_key){0};
}

static void site_drop(struct ping_table *t, struct ping_site *s)
{
    for (size_t i = 0; i < PING_KEYS_A_SITE; i++)
        key_drop(t, &s->keys[i]);
    (void)table_remove(&t->sites, s->hash);
    free(s->host);
    free(s);
}

void ping_table_free(struct ping_table *t)
{
    if (!t)
        return;
    size_t at = 0;
    for (struct ping_site *s; (s = table_next(&t->sites, &at)); at = 0)
        site_drop(t, s);
    table_done(&t->sites);
    free(t);
}

/* ---- announcements ---- */

static struct ping_site *oldest_site(struct ping_table *t)
{
    struct ping_site *oldest = NULL;
    size_t at = 0;
    for (struct ping_site *s; (s = table_next(&t->sites, &at));)
        if (!oldest || s->heard < oldest->heard)
            oldest = s;
    return oldest;
}

static struct ping_site *site_of(struct ping_table *t, struct span host)
{
    uint64_t hash = siphash(&t->key, host);
    struct ping_site *s = table_get(&t->sites, hash);
    if (s)
        return s;
    if (t->sites.n >= PING_SITES_MAX)
        site_drop(t, oldest_site(t));
    s = mem_alloc(sizeof(*s));
    s->hash = hash;
    s->host = mem_str(host);
    table_put(&t->sites, hash, s);
    return s;
}

static struct ping_key *find_key(struct ping_site *s, const struct indexnow *n)
{
    for (size_t i = 0; i < PING_KEYS_A_SITE; i++)
        if (s->keys[i].state && span_is(n->key, s->keys[i].key) && span_is(n->key_url, s->keys[i].url))
            return &s->keys[i];
    return NULL;
}

/* A key that is good goes last. NULL: all of them are being looked for. */
static struct ping_key *free_key(struct ping_site *s)
{
    struct ping_key *best = NULL;
    for (size_t i = 0; i < PING_KEYS_A_SITE; i++) {
        struct ping_key *k = &s->keys[i];
        if (!k->state)
            return k;
        if (is_open(k))
            continue;
        if (!best || (best->state == KEY_GOOD) > (k->state == KEY_GOOD) ||
            ((best->state == KEY_GOOD) == (k->state == KEY_GOOD) && k->since < best->since))
            best = k;
    }
    return best;
}

/* Until then none that came at `last` may be followed by another. */
static bool is_too_soon(mono_ms last, mono_ms now, int64_t *retry_ms)
{
    if (!last || now - last >= PING_EVERY_MS)
        return false;
    *retry_ms = PING_EVERY_MS - (now - last);
    return true;
}

static size_t bytes_of(const struct indexnow *n)
{
    size_t bytes = 0;
    for (size_t i = 0; i < n->url_count; i++)
        bytes += n->urls[i].href.n + 1;
    return bytes;
}

static ping_answer hold(struct ping_table *t, struct ping_site *s, mono_ms now, const struct indexnow *n,
                        int64_t *retry_ms)
{
    struct ping_key *k = free_key(s);
    size_t bytes = bytes_of(n);
    *retry_ms = PING_EVERY_MS;
    if (!k || bytes > PING_HELD_MAX - t->held)
        return PING_FULL;
    key_drop(t, k);
    *k = (struct ping_key){
        .state = KEY_WAITS, .key = mem_str(n->key), .url = mem_str(n->key_url), .id = ++t->ids, .since = now};
    for (size_t i = 0; i < n->url_count; i++) {
        buf_put(&k->held, n->urls[i].href);
        buf_putc(&k->held, '\n');
    }
    t->held += k->held.n;
    t->open++;
    s->asked = now;
    return PING_HELD;
}

ping_answer ping_table_put(struct ping_table *t, mono_ms now, const struct indexnow *n, int64_t *retry_ms)
{
    struct ping_site *s = site_of(t, n->host);
    struct ping_key *k = find_key(s, n);
    s->heard = now;
    if (k && k->state == KEY_BAD && now - k->since < PING_BAD_MS)
        return PING_WRONG_KEY;
    if (k && k->state == KEY_GOOD && now - k->since < PING_GOOD_MS) {
        if (is_too_soon(s->taken, now, retry_ms))
            return PING_TOO_OFTEN;
        s->taken = now;
        return PING_TAKEN;
    }
    if (k && is_open(k)) {
        *retry_ms = PING_EVERY_MS;
        return PING_TOO_OFTEN;
    }
    if (k)
        key_drop(t, k); /* what was known of it is too old */
    return is_too_soon(s->asked, now, retry_ms) ? PING_TOO_OFTEN : hold(t, s, now, n, retry_ms);
}

/* ---- looking for keys ---- */

typedef bool key_fn(const struct ping_key *k, const void *arg);

static struct ping_key *search(struct ping_table *t, key_fn *fn, const void *arg, struct ping_site **site)
{
    size_t at = 0;
    if (!t->open)
        return NULL;
    for (struct ping_site *s; (s = table_next(&t->sites, &at));)
        for (size_t i = 0; i < PING_KEYS_A_SITE; i++)
            if (is_open(&s->keys[i]) && fn(&s->keys[i], arg)) {
                *site = s;
                return &s->keys[i];
            }
    return NULL;
}

static bool is_due(const struct ping_key *k, const void *arg)
{
    return k->state == KEY_WAITS && *(const mono_ms *)arg >= k->again;
}

static bool has_id(const struct ping_key *k, const void *arg)
{
    return k->id == *(const uint64_t *)arg;
}

struct order_name {
    uint64_t agent, order;
};

static bool has_order(const struct ping_key *k, const void *arg)
{
    const struct order_name *o = arg;
    return k->state == KEY_ASKED && k->agent == o->agent && k->order == o->order;
}

status ping_table_next_ask(struct ping_table *t, mono_ms now, struct ping_ask *out)
{
    struct ping_site *s;
    const struct ping_key *k = search(t, is_due, &now, &s);
    if (!k)
        return ST_AGAIN;
    *out = (struct ping_ask){.id = k->id, .host = span_str(s->host), .url = span_str(k->url)};
    return ST_OK;
}

void ping_table_asked(struct ping_table *t, uint64_t id, uint64_t agent, uint64_t order)
{
    struct ping_site *s;
    struct ping_key *k = search(t, has_id, &id, &s);
    if (!k)
        return;
    k->state = KEY_ASKED;
    k->agent = agent;
    k->order = order;
}

void ping_table_later(struct ping_table *t, uint64_t id, mono_ms again)
{
    struct ping_site *s;
    struct ping_key *k = search(t, has_id, &id, &s);
    if (k)
        k->again = again;
}

bool ping_table_answer(struct ping_table *t, mono_ms now, uint64_t agent, uint64_t order, struct span url,
                       struct span file, struct buf *held)
{
    struct ping_site *s;
    struct ping_key *k = search(t, has_order, &(struct order_name){agent, order}, &s);
    if (!k || !span_is(url, k->url))
        return false;
    bool is_good = indexnow_is_key(file, span_str(k->key));
    if (is_good) {
        buf_put(held, buf_span(&k->held));
        s->taken = now;
    }
    t->open--;
    t->held -= k->held.n;
    buf_done(&k->held);
    k->state = is_good ? KEY_GOOD : KEY_BAD;
    k->since = now;
    return true;
}

void ping_table_failed(struct ping_table *t, uint64_t agent, uint64_t order)
{
    struct ping_site *s;
    struct ping_key *k = search(t, has_order, &(struct order_name){agent, order}, &s);
    if (k)
        key_drop(t, k);
}

static bool is_late(const struct ping_key *k, const void *arg)
{
    return *(const mono_ms *)arg - k->since >= PING_WAIT_MS;
}

void ping_table_tick(struct ping_table *t, mono_ms now)
{
    struct ping_site *s;
    for (struct ping_key *k; (k = search(t, is_late, &now, &s));)
        key_drop(t, k);
}

void ping_table_count(const struct ping_table *t, struct ping_counts *out)
{
    *out = (struct ping_counts){.sites = t->sites.n, .asked = t->open, .held_bytes = t->held};
}
