#include "index/segment/docs_write.h"

#include <stdlib.h>
#include <sys/random.h>

#include "base/mem.h"

#define SITE_SLOTS_MIN 64

void docs_writer_init(struct docs_writer *d)
{
    /* Names of sites come from outside: without a key somebody could choose ones that fill a single slot. Without
     * random bytes the hash is merely not keyed. The number of a site does not depend on it. */
    if (getrandom(&d->site_key, sizeof(d->site_key), GRND_NONBLOCK) != sizeof(d->site_key))
        d->site_key = (struct sip_key){1, 2};
    d->languages = mem_alloc(LANGUAGE_CODES * sizeof(*d->languages));
}

void docs_writer_done(struct docs_writer *d)
{
    chunked_writer_done(&d->docs);
    chunked_writer_done(&d->text);
    chunked_writer_done(&d->keys);
    free(d->codes);
    free(d->doc_keys);
    free(d->site_ends);
    free(d->site_slots);
    free(d->site_hashes);
    free(d->languages);
    buf_done(&d->site_names);
}

static struct span site_name(const struct docs_writer *d, uint32_t i)
{
    uint32_t from = i ? d->site_ends[i - 1] : 0;
    return span_of(d->site_names.p + from, d->site_ends[i] - from);
}

static void grow_slots(struct docs_writer *d)
{
    size_t cap = d->site_slots_cap ? 2 * d->site_slots_cap : SITE_SLOTS_MIN;
    free(d->site_slots);
    d->site_slots = mem_alloc(cap * sizeof(*d->site_slots));
    d->site_slots_cap = cap;
    for (uint32_t i = 0; i < d->site_count; i++) {
        size_t at = d->site_hashes[i] & (cap - 1);
        while (d->site_slots[at])
            at = (at + 1) & (cap - 1);
        d->site_slots[at] = i + 1;
    }
}

static uint32_t add_site(struct docs_writer *d, struct span name, uint64_t hash, size_t slot)
{
    uint32_t i = (uint32_t)d->site_count++;
    d->site_ends = mem_grow(d->site_ends, &d->site_ends_cap, d->site_count, sizeof(*d->site_ends));
    d->site_hashes = mem_grow(d->site_hashes, &d->site_hashes_cap, d->site_count, sizeof(*d->site_hashes));
    buf_put(&d->site_names, name);
    d->site_ends[i] = (uint32_t)d->site_names.n;
    d->site_hashes[i] = hash;
    d->site_slots[slot] = i + 1;
    return i;
}

static uint32_t site_number(struct docs_writer *d, struct span name)
{
    if (d->site_count && span_eq(site_name(d, d->last_site), name))
        return d->last_site;
    if (2 * d->site_count >= d->site_slots_cap)
        grow_slots(d);
    uint64_t hash = siphash(&d->site_key, name);
    size_t at = hash & (d->site_slots_cap - 1);
    for (; d->site_slots[at]; at = (at + 1) & (d->site_slots_cap - 1)) {
        uint32_t i = d->site_slots[at] - 1;
        if (d->site_hashes[i] == hash && span_eq(site_name(d, i), name))
            return d->last_site = i;
    }
    return d->last_site = add_site(d, name, hash, at);
}

static void put_row(struct docs_writer *d, const struct doc_row *row)
{
    unsigned char *p = chunked_room(&d->docs, ROW_BYTES);
    store64(p, row->key);
    store64(p + 8, row->fetch_number);
    store64(p + 16, row->digest);
    store64(p + 24, row->group);
    store32(p + 32, row->fetched);
    store32(p + 36, row->changed);
    store32(p + 40, row->anchors_digest);
    store32(p + 44, row->site);
    p[48] = (unsigned char)row->lang;
    p[49] = (unsigned char)(row->lang >> 8);
    p[50] = row->flags;
    p[51] = 0;
    store32(p + 52, row->stored_bytes);
    store64(p + 56, row->stored_at);
    d->docs.used += ROW_BYTES;
}

static void put_codes(struct docs_writer *d, const struct doc_row *row)
{
    size_t n = d->count;
    d->codes = mem_grow(d->codes, &d->codes_cap, 2 * (n + 1), 1);
    d->codes[2 * n] = row->length_code;
    d->codes[2 * n + 1] = row->prior_code;
    d->doc_keys = mem_grow(d->doc_keys, &d->doc_keys_cap, n + 1, sizeof(*d->doc_keys));
    d->doc_keys[n] = (struct doc_key){row->key, d->count};
    d->languages[row->lang]++;
    if (row->prior_code > d->prior_max)
        d->prior_max = row->prior_code;
    if (row->changed > d->newest)
        d->newest = row->changed;
}

status docs_writer_add(struct docs_writer *d, const struct doc_row *row, struct span site, struct span url,
                       struct span content)
{
    if (d->count >= SEGMENT_DOCS_MAX - 1 || site.n > SEGMENT_SITE_MAX || url.n > SEGMENT_URL_MAX ||
        content.n > SEGMENT_CONTENT_MAX || d->site_names.n > UINT32_MAX - SEGMENT_SITE_MAX)
        return ST_LIMIT;
    struct doc_row r = *row;
    unsigned char *p = chunked_room(&d->text, VAR_MAX), *end = put_var(p, url.n);
    r.site = site_number(d, site);
    r.stored_at = chunked_at(&d->text);
    r.stored_bytes = (uint32_t)((size_t)(end - p) + url.n + content.n);
    d->text.used += (size_t)(end - p);
    chunked_put(&d->text, url);
    chunked_put(&d->text, content);
    put_row(d, &r);
    put_codes(d, &r);
    d->count++;
    return ST_OK;
}

static int compare_keys(const void *x, const void *y)
{
    const struct doc_key *a = x, *b = y;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->doc < b->doc ? -1 : a->doc > b->doc;
}

static void put_keys(struct docs_writer *d)
{
    if (d->count)
        qsort(d->doc_keys, d->count, sizeof(*d->doc_keys), compare_keys);
    for (uint32_t i = 0; i < d->count; i++) {
        store64(chunked_room(&d->keys, 8), d->doc_keys[i].key);
        d->keys.used += 8;
    }
    for (uint32_t i = 0; i < d->count; i++) {
        store32(chunked_room(&d->keys, 4), d->doc_keys[i].doc);
        d->keys.used += 4;
    }
}

struct language {
    uint32_t docs;
    uint16_t code;
};

static int compare_languages(const void *x, const void *y)
{
    const struct language *a = x, *b = y;
    if (a->docs != b->docs)
        return a->docs > b->docs ? -1 : 1;
    return a->code < b->code ? -1 : a->code > b->code;
}

static uint32_t put_languages(struct docs_writer *d)
{
    struct language *all = mem_alloc(LANGUAGE_CODES * sizeof(*all));
    uint32_t n = 0;
    for (uint32_t code = 0; code < LANGUAGE_CODES; code++)
        if (d->languages[code])
            all[n++] = (struct language){d->languages[code], (uint16_t)code};
    if (n)
        qsort(all, n, sizeof(*all), compare_languages);
    for (uint32_t i = 0; i < n; i++) {
        unsigned char *p = chunked_room(&d->docs, LANGUAGE_BYTES);
        store32(p, all[i].code);
        store32(p + 4, all[i].docs);
        d->docs.used += LANGUAGE_BYTES;
    }
    free(all);
    return n;
}

status docs_writer_finish(struct docs_writer *d)
{
    chunked_put(&d->docs, span_of(d->codes, 2 * (size_t)d->count));
    for (size_t i = 0; i < d->site_count; i++) {
        store32(chunked_room(&d->docs, 4), d->site_ends[i]);
        d->docs.used += 4;
    }
    chunked_put(&d->docs, buf_span(&d->site_names));
    uint64_t info[DOCS_INFO] = {
        [INFO_DOCS] = d->count,
        [DOCS_SITES] = d->site_count,
        [DOCS_SITE_BYTES] = d->site_names.n,
        [DOCS_LANGUAGES] = put_languages(d),
        [DOCS_PRIOR_MAX] = d->prior_max,
        [DOCS_NEWEST] = d->newest,
    };
    put_keys(d);
    status st = chunked_finish(&d->docs, info, DOCS_INFO);
    if (st == ST_OK)
        st = chunked_finish(&d->text, info, INFO_COMMON);
    if (st == ST_OK)
        st = chunked_finish(&d->keys, info, INFO_COMMON);
    return st;
}
