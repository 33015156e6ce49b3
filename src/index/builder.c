/* builder.c - a thread that turns queued documents into segments. */
#include <stdlib.h>

#include "base/mem.h"
#include "index/segment/segment_write.h"
#include "index/writer.h"

typedef enum item_kind { ITEM_ADD, ITEM_DELETE, ITEM_SEAL } item_kind;

struct item {
    struct item *next;
    size_t bytes;
    item_kind kind;
    uint64_t number;      /* of a seal */
    struct index_doc doc; /* a deletion has key and fetch_number; spans point behind the item */
};

size_t item_bytes(const struct item *it)
{
    return it->bytes;
}

static struct span put_span(char **at, struct span s)
{
    struct span copy = {*at, s.n};
    if (s.n)
        memcpy(*at, s.p, s.n);
    *at += s.n;
    return copy;
}

struct item *item_add(const struct index_doc *doc)
{
    size_t headings = doc->heading_count * sizeof(*doc->headings);
    size_t field_count = doc->field_count < INDEX_FIELDS_MAX ? doc->field_count : INDEX_FIELDS_MAX;
    size_t fields = field_count * sizeof(*doc->fields);
    size_t bytes = sizeof(struct item) + headings + fields + doc->url.n + doc->site.n + doc->lang.n + doc->title.n +
                   doc->text.n + doc->anchors.n + doc->content.n;
    for (size_t i = 0; i < doc->heading_count; i++)
        bytes += doc->headings[i].text.n;
    for (size_t i = 0; i < field_count; i++)
        bytes += doc->fields[i].name.n + doc->fields[i].value.n;
    struct item *it = mem_realloc(NULL, bytes);
    *it = (struct item){.bytes = bytes, .kind = ITEM_ADD, .doc = *doc};
    struct fact_heading *copies = (struct fact_heading *)(it + 1);
    struct summary_field *field_copies = (struct summary_field *)((char *)copies + headings);
    char *at = (char *)field_copies + fields;
    for (size_t i = 0; i < doc->heading_count; i++)
        copies[i] = (struct fact_heading){doc->headings[i].level, put_span(&at, doc->headings[i].text)};
    it->doc.headings = copies;
    for (size_t i = 0; i < field_count; i++) {
        struct span name = put_span(&at, doc->fields[i].name);
        field_copies[i] = (struct summary_field){name, put_span(&at, doc->fields[i].value)};
    }
    it->doc.fields = field_copies;
    it->doc.field_count = field_count;
    struct span *const texts[] = {&it->doc.url,  &it->doc.site,    &it->doc.lang,   &it->doc.title,
                                  &it->doc.text, &it->doc.anchors, &it->doc.content};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        *texts[i] = put_span(&at, *texts[i]);
    return it;
}

struct item *item_delete(uint64_t key, uint64_t fetch_number)
{
    struct item *it = mem_alloc(sizeof(*it));
    it->bytes = sizeof(*it);
    it->kind = ITEM_DELETE;
    it->doc.key = key;
    it->doc.fetch_number = fetch_number;
    return it;
}

struct item *item_seal(uint64_t number)
{
    struct item *it = mem_alloc(sizeof(*it));
    it->kind = ITEM_SEAL;
    it->number = number;
    return it;
}

void builder_push(struct builder *b, struct item *it)
{
    it->next = NULL;
    *b->last = it;
    b->last = &it->next;
    b->ix->queued_bytes += it->bytes;
    pthread_cond_signal(&b->work);
}

/* NULL: stopping. */
static struct item *pop(struct builder *b)
{
    struct index *ix = b->ix;
    pthread_mutex_lock(&ix->lock);
    while (!b->first && !atomic_load(&ix->is_stopping))
        pthread_cond_wait(&b->work, &ix->lock);
    struct item *it = atomic_load(&ix->is_stopping) ? NULL : b->first;
    if (it) {
        b->first = it->next;
        if (!b->first)
            b->last = &b->first;
        ix->queued_bytes -= it->bytes;
        pthread_cond_broadcast(&ix->progress);
    }
    pthread_mutex_unlock(&ix->lock);
    return it;
}

static status flush(struct builder *b)
{
    struct index *ix = b->ix;
    struct shared_segment *s = NULL;
    if (!accumulator_docs(b->acc)) {
        accumulator_clear(b->acc);
        return ST_OK;
    }
    uint32_t number = atomic_fetch_add(&ix->next_segment, 1);
    status st = accumulator_write(b->acc, ix->dir, number);
    if (st == ST_OK)
        st = shared_segment_open(ix->dir, number, &s);
    if (st != ST_OK) {
        segment_remove(ix->dir, number);
        return st;
    }
    parts_add(&b->batch.parts, (struct part){s, NULL});
    accumulator_clear(b->acc);
    atomic_fetch_add(&ix->flushes, 1);
    return ST_OK;
}

/* Tries again with every attempt of a commit; everything waits in memory meanwhile. False: stopping. */
static bool flush_for_sure(struct builder *b)
{
    struct index *ix = b->ix;
    for (;;) {
        pthread_mutex_lock(&ix->lock);
        uint64_t attempt = ix->attempt;
        pthread_mutex_unlock(&ix->lock);
        status st = flush(b);
        if (st == ST_OK)
            return true;
        pthread_mutex_lock(&ix->lock);
        /* A failure from before the attempt that is under way says nothing about it. */
        if (ix->attempt == attempt) {
            ix->failure = st;
            pthread_cond_broadcast(&ix->progress);
        }
        while (ix->attempt == attempt && !atomic_load(&ix->is_stopping))
            pthread_cond_wait(&b->work, &ix->lock);
        pthread_mutex_unlock(&ix->lock);
        if (atomic_load(&ix->is_stopping))
            return false;
    }
}

static void note_memory(struct builder *b)
{
    size_t bytes = accumulator_bytes(b->acc) + b->batch.deletion_cap * sizeof(*b->batch.deletions) +
                   b->deleted.cap * sizeof(*b->deleted.slots);
    atomic_store_explicit(&b->memory_bytes, bytes, memory_order_relaxed);
}

/* Newer than what the batch deletes? */
static bool is_deleted(const struct builder *b, uint64_t key, uint64_t fetch_number)
{
    uintptr_t at = (uintptr_t)table_get(&b->deleted, key);
    return at && b->batch.deletions[at - 1].fetch_number >= fetch_number;
}

static bool add_page(struct builder *b, const struct index_doc *doc)
{
    struct index *ix = b->ix;
    if (is_deleted(b, doc->key, doc->fetch_number))
        return true;
    accumulated done = accumulator_add(b->acc, doc);
    atomic_fetch_add_explicit(&ix->added, done == ACC_ADDED, memory_order_relaxed);
    atomic_fetch_add_explicit(&ix->replaced, done == ACC_REPLACED, memory_order_relaxed);
    return accumulator_bytes(b->acc) <= ix->share || flush_for_sure(b);
}

static void delete_page(struct builder *b, uint64_t key, uint64_t fetch_number)
{
    struct batch *batch = &b->batch;
    (void)accumulator_delete(b->acc, key, fetch_number);
    uintptr_t at = (uintptr_t)table_get(&b->deleted, key);
    if (at) {
        struct deletion *d = &batch->deletions[at - 1];
        if (d->fetch_number < fetch_number)
            d->fetch_number = fetch_number;
        return;
    }
    batch->deletions =
        mem_grow(batch->deletions, &batch->deletion_cap, batch->deletion_count + 1, sizeof(*batch->deletions));
    batch->deletions[batch->deletion_count++] = (struct deletion){key, fetch_number};
    table_put(&b->deleted, key, (void *)(uintptr_t)batch->deletion_count);
}

static bool seal(struct builder *b, uint64_t number)
{
    struct index *ix = b->ix;
    if (!flush_for_sure(b))
        return false;
    pthread_mutex_lock(&ix->lock);
    batch_move(&ix->sealed, &b->batch);
    b->seal = number;
    pthread_cond_broadcast(&ix->progress);
    pthread_mutex_unlock(&ix->lock);
    table_done(&b->deleted);
    return true;
}

static bool work(struct builder *b, const struct item *it)
{
    switch (it->kind) {
    case ITEM_ADD:
        return add_page(b, &it->doc);
    case ITEM_DELETE:
        delete_page(b, it->doc.key, it->doc.fetch_number);
        return true;
    default:
        return seal(b, it->number);
    }
}

static void *builder_main(void *arg)
{
    struct builder *b = arg;
    for (struct item *it; (it = pop(b));) {
        bool goes_on = work(b, it);
        note_memory(b);
        free(it);
        if (!goes_on)
            break;
    }
    return NULL;
}

status builder_start(struct builder *b, struct index *ix)
{
    b->ix = ix;
    b->last = &b->first;
    pthread_cond_init(&b->work, NULL);
    b->acc = accumulator_new(ix->seed);
    b->has_thread = pthread_create(&b->thread, NULL, builder_main, b) == 0;
    return b->has_thread ? ST_OK : ST_IO;
}

void builder_join(struct builder *b)
{
    if (!b->ix)
        return;
    if (b->has_thread)
        pthread_join(b->thread, NULL);
    while (b->first) {
        struct item *next = b->first->next;
        free(b->first);
        b->first = next;
    }
    batch_done(&b->batch);
    table_done(&b->deleted);
    accumulator_free(b->acc);
    pthread_cond_destroy(&b->work);
}
