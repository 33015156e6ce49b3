#include "cli/import_later.h"

void import_later_done(struct import_later *l)
{
    table_done(&l->waiting);
    if (l->has_arena)
        arena_done(&l->arena);
    l->has_arena = false;
}

/* Every text of the record is copied. */
static struct warc_record copy_of(struct arena *a, const struct warc_record *r)
{
    struct warc_record c = *r;
    struct span *const texts[] = {&c.url,
                                  &c.id,
                                  &c.refers_to_url,
                                  &c.refers_to_date,
                                  &c.profile,
                                  &c.address,
                                  &c.content_type,
                                  &c.truncated,
                                  &c.block_digest_text,
                                  &c.block,
                                  &c.payload_digest_text};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        *texts[i] = arena_copy(a, *texts[i]);
    for (size_t i = 0; i < c.concurrent_count; i++)
        c.concurrent_to[i] = arena_copy(a, c.concurrent_to[i]);
    return c;
}

static size_t bytes_of(const struct warc_record *r)
{
    size_t concurrent = 0;
    for (size_t i = 0; i < r->concurrent_count; i++)
        concurrent += r->concurrent_to[i].n;
    return sizeof(struct later_revisit) + concurrent + r->url.n + r->id.n + r->refers_to_url.n + r->refers_to_date.n +
           r->profile.n + r->address.n + r->content_type.n + r->truncated.n + r->block_digest_text.n + r->block.n +
           r->payload_digest_text.n;
}

bool import_later_add(struct import_later *l, const struct sip_key *key, const struct warc_record *r)
{
    uint64_t digest = siphash(key, r->payload_digest_text);
    size_t bytes = bytes_of(r);
    if (bytes > LATER_BYTES_MAX - l->bytes)
        return false;
    if (!l->has_arena)
        arena_init(&l->arena);
    l->has_arena = true;
    l->bytes += bytes;
    struct later_revisit *w = arena_alloc(&l->arena, sizeof(*w));
    *w = (struct later_revisit){.r = copy_of(&l->arena, r)};
    struct later_revisit *first = table_get(&l->waiting, digest);
    if (!first) {
        table_put(&l->waiting, digest, w);
        return true;
    }
    w->next = first->next; /* behind the first: put in order when they are taken */
    first->next = w;
    return true;
}

const struct later_revisit *import_later_take(struct import_later *l, const struct sip_key *key, struct span digest)
{
    struct later_revisit *first = digest.n ? table_get(&l->waiting, siphash(key, digest)) : NULL;
    if (!first || !span_eq(first->r.payload_digest_text, digest))
        return NULL;
    (void)table_remove(&l->waiting, siphash(key, digest));
    struct later_revisit *rest = first->next, *turned = NULL;
    while (rest) {
        struct later_revisit *next = rest->next;
        rest->next = turned;
        turned = rest;
        rest = next;
    }
    first->next = turned;
    return first;
}

const struct later_revisit *import_later_next(const struct import_later *l, size_t *at)
{
    return table_next(&l->waiting, at);
}
