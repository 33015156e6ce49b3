#include "store/warc_seen.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/table.h"

#define SLOT_BYTES 64 /* an entry's share of the two tables, generously */

struct entry {
    struct digest160 payload;
    wall_ms at;
    uint32_t url_bytes;
    char url[];
};

struct warc_seen {
    struct sip_key key;
    pthread_mutex_t lock; /* over the rest */
    struct table by_payload;
    struct table by_url; /* several addresses may have one entry */
    size_t bytes, bytes_max;
};

struct warc_seen *warc_seen_new(const struct sip_key *key, size_t bytes_max)
{
    struct warc_seen *s = mem_alloc(sizeof(*s));
    s->key = *key;
    s->bytes_max = bytes_max ? bytes_max : WARC_SEEN_BYTES_DEFAULT;
    pthread_mutex_init(&s->lock, NULL);
    return s;
}

void warc_seen_free(struct warc_seen *s)
{
    if (!s)
        return;
    size_t at = 0;
    for (struct entry *e; (e = table_next(&s->by_payload, &at));)
        free(e);
    table_done(&s->by_payload);
    table_done(&s->by_url);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

struct span warc_site_of(struct span url)
{
    size_t host = span_search(url, SPAN("://"), false);
    return span_cut(url, 0, host < url.n ? span_find(url, '/', host + 3) : url.n);
}

static uint64_t payload_key(const struct warc_seen *s, const struct digest160 *d, struct span url)
{
    return siphash(&s->key, span_of(d->b, sizeof(d->b))) ^ siphash(&s->key, warc_site_of(url));
}

static struct entry *find(const struct warc_seen *s, const struct digest160 *payload, struct span url)
{
    struct entry *e = table_get(&s->by_payload, payload_key(s, payload, url));
    return e && memcmp(&e->payload, payload, sizeof(*payload)) == 0 &&
                   span_eq(warc_site_of(span_of(e->url, e->url_bytes)), warc_site_of(url))
               ? e
               : NULL;
}

/* What is not remembered of an address must not be told of it either. */
static void set_url(struct warc_seen *s, struct span url, struct entry *e)
{
    uint64_t key = siphash(&s->key, url);
    bool has_room = s->bytes < s->bytes_max || table_get(&s->by_url, key);
    if (e && has_room)
        table_put(&s->by_url, key, e);
    else
        (void)table_remove(&s->by_url, key);
}

static struct entry *add(struct warc_seen *s, const struct digest160 *payload, struct span url, wall_ms at)
{
    struct entry *e = find(s, payload, url);
    if (e || s->bytes >= s->bytes_max || table_get(&s->by_payload, payload_key(s, payload, url)))
        return e;
    e = mem_alloc(sizeof(*e) + url.n);
    e->payload = *payload;
    e->at = at;
    e->url_bytes = (uint32_t)url.n;
    if (url.n)
        memcpy(e->url, url.p, url.n);
    table_put(&s->by_payload, payload_key(s, payload, url), e);
    s->bytes += sizeof(*e) + url.n + SLOT_BYTES;
    return e;
}

static void set_same(struct warc_seen *s, const struct digest160 *payload, struct span url)
{
    if (!table_get(&s->by_url, siphash(&s->key, url)))
        s->bytes += SLOT_BYTES / 2;
    set_url(s, url, find(s, payload, url));
}

void warc_seen_note(struct warc_seen *s, warc_note_kind kind, const struct digest160 *payload, struct span url,
                    wall_ms at)
{
    pthread_mutex_lock(&s->lock);
    switch (kind) {
    case WARC_NOTE_BODY:
        set_url(s, url, add(s, payload, url, at));
        break;
    case WARC_NOTE_SAME:
        set_same(s, payload, url);
        break;
    case WARC_NOTE_OTHER:
        (void)add(s, payload, url, at);
        break;
    case WARC_NOTE_OTHER_SAME: /* told for those who remove files */
        break;
    case WARC_NOTE_NONE:
        set_url(s, url, NULL);
        break;
    }
    pthread_mutex_unlock(&s->lock);
}

static void tell(const struct entry *e, struct buf *url, wall_ms *at)
{
    buf_clear(url);
    buf_put(url, span_of(e->url, e->url_bytes));
    *at = e->at;
}

bool warc_seen_payload(struct warc_seen *s, const struct digest160 *payload, struct span url, struct buf *original,
                       wall_ms *at)
{
    pthread_mutex_lock(&s->lock);
    const struct entry *e = find(s, payload, url);
    if (e)
        tell(e, original, at);
    pthread_mutex_unlock(&s->lock);
    return e;
}

bool warc_seen_url(struct warc_seen *s, struct span url, struct digest160 *payload, struct buf *original, wall_ms *at)
{
    pthread_mutex_lock(&s->lock);
    const struct entry *e = table_get(&s->by_url, siphash(&s->key, url));
    if (e) {
        *payload = e->payload;
        tell(e, original, at);
    }
    pthread_mutex_unlock(&s->lock);
    return e;
}

size_t warc_seen_count(struct warc_seen *s)
{
    pthread_mutex_lock(&s->lock);
    size_t n = s->by_payload.n;
    pthread_mutex_unlock(&s->lock);
    return n;
}
