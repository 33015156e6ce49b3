/* One batch, from start to end: its keys are grouped by partition (and, when it is large, sorted by their top 16 bits).
 * Then every partition reserves room for its group, merging its front into its file if it must; only this can fail, and
 * then the reservations are given back. Then every partition looks its keys up and adds the new ones, which needs no
 * memory and no disk. */
#include "store/seen.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/pack.h"
#include "store/seen_file.h"

#define PARTS 64
#define PART_BITS 6
#define FRONT_BYTES_DEFAULT ((size_t)32 << 20)
#define FRONT_LOG2_MIN 4
#define SMALL_BATCH 256
#define PREFETCH_AHEAD 8

struct part {
    _Alignas(64) pthread_mutex_t lock;
    uint64_t *slots; /* 0 = free; key 0 is kept in has_zero */
    unsigned cap_log2;
    bool has_zero;
    bool is_synced;  /* the file in use */
    size_t n;        /* keys in slots */
    size_t reserved; /* promised to batches under way */
    size_t retry_at; /* after a failed merge: how full the front must be for the next attempt */
    struct seen_file file;
    uint32_t next_version;
    uint32_t saved_version;   /* named by the last seen_save or seen_load */
    uint32_t settled_version; /* named by the last checkpoint that is durable */
};

struct seen {
    struct part parts[PARTS];
    char *dir;           /* owned */
    unsigned share_log2; /* slots of a front at its share */
    atomic_uint_fast64_t count, memory, disk;
};

struct item {
    uint64_t key;
    uint32_t at; /* in the caller's arrays */
};

static unsigned part_of(uint64_t key)
{
    return (unsigned)(key >> (64 - PART_BITS));
}

static size_t slots_of(unsigned cap_log2)
{
    return (size_t)1 << cap_log2;
}

/* Three quarters: with linear probing a miss looks at some 8 slots, which is one or two cache lines. */
static size_t room_of(unsigned cap_log2)
{
    return slots_of(cap_log2) / 4 * 3;
}

static size_t home_slot(const struct part *p, uint64_t key)
{
    return (size_t)((key << PART_BITS) >> (64 - p->cap_log2));
}

/* The slot of the key, or the free one where it belongs. */
static uint64_t *front_slot(const struct part *p, uint64_t key)
{
    size_t mask = slots_of(p->cap_log2) - 1;
    size_t at = home_slot(p, key);
    while (p->slots[at] && p->slots[at] != key)
        at = (at + 1) & mask;
    return &p->slots[at];
}

static void front_resize(struct seen *s, struct part *p, unsigned cap_log2)
{
    uint64_t *old = p->slots;
    size_t old_cap = old ? slots_of(p->cap_log2) : 0;
    p->slots = mem_alloc(slots_of(cap_log2) * sizeof(uint64_t));
    p->cap_log2 = cap_log2;
    for (size_t i = 0; i < old_cap; i++)
        if (old[i])
            *front_slot(p, old[i]) = old[i];
    free(old);
    atomic_fetch_add(&s->memory, slots_of(cap_log2) * sizeof(uint64_t));
    atomic_fetch_sub(&s->memory, old_cap * sizeof(uint64_t));
}

static void front_clear(struct seen *s, struct part *p)
{
    memset(p->slots, 0, slots_of(p->cap_log2) * sizeof(uint64_t));
    p->n = 0;
    p->has_zero = false;
    if (p->cap_log2 > s->share_log2)
        front_resize(s, p, s->share_log2);
}

static int compare_keys(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Insertion, because slot order is nearly key order; should the keys not be uniform, it gives up before it gets slow.
 */
static void sort_nearly_sorted(uint64_t *keys, size_t n)
{
    size_t moves = 0;
    for (size_t i = 1; i < n; i++) {
        uint64_t key = keys[i];
        size_t j = i;
        for (; j && keys[j - 1] > key; j--)
            keys[j] = keys[j - 1];
        keys[j] = key;
        moves += i - j;
        if (moves > 64 * n) {
            qsort(keys, n, sizeof(*keys), compare_keys);
            return;
        }
    }
}

/* All keys of the front, ascending. Free it. */
static uint64_t *front_keys(const struct part *p, size_t *n)
{
    uint64_t *keys = mem_alloc((p->n + 1) * sizeof(*keys));
    size_t k = 0;
    if (p->has_zero)
        keys[k++] = 0;
    for (size_t i = 0; i < slots_of(p->cap_log2); i++)
        if (p->slots[i])
            keys[k++] = p->slots[i];
    assert(k == p->n + p->has_zero);
    sort_nearly_sorted(keys, k);
    *n = k;
    return keys;
}

static void delete_version(const struct seen *s, unsigned part, uint32_t version)
{
    struct buf path = {0};
    if (version)
        seen_file_path(s->dir, part, version, &path);
    else
        seen_file_temp_path(s->dir, part, &path);
    unlink(path.p);
    buf_done(&path);
}

/* Takes the new file into use. The old one goes at once unless a checkpoint names it. */
static void swap_file(struct seen *s, struct part *p, const struct seen_file *now)
{
    uint32_t old = p->file.version;
    atomic_fetch_add(&s->disk, seen_file_bytes(now));
    atomic_fetch_sub(&s->disk, seen_file_bytes(&p->file));
    seen_file_close(&p->file);
    if (old && old != p->saved_version && old != p->settled_version)
        delete_version(s, (unsigned)(p - s->parts), old);
    p->file = *now;
    p->is_synced = false;
}

static status merge(struct seen *s, struct part *p)
{
    unsigned part = (unsigned)(p - s->parts);
    size_t n;
    uint64_t *keys = front_keys(p, &n);
    struct seen_file now;
    status st = seen_file_merge(s->dir, part, p->next_version, &p->file, keys, n);
    free(keys);
    if (st == ST_OK)
        st = seen_file_open(s->dir, part, p->next_version, &now);
    if (st != ST_OK)
        return st;
    p->next_version++;
    swap_file(s, p, &now);
    front_clear(s, p);
    p->retry_at = 0;
    return ST_OK;
}

/* Partitions fill evenly. So that they do not all merge in the same second, the first merge of each comes at another
 * fill. */
static size_t merge_at(const struct seen *s, const struct part *p)
{
    size_t room = room_of(s->share_log2);
    if (p->file.version)
        return room;
    return room - room / 2 * (size_t)(p - s->parts) / PARTS;
}

static status reserve(struct seen *s, struct part *p, size_t count)
{
    size_t need = p->n + p->reserved + count;
    if (need > merge_at(s, p) && need >= p->retry_at && p->n) {
        status st = merge(s, p);
        if (st != ST_OK && need > room_of(s->share_log2 + 1))
            return st;
        if (st != ST_OK)
            p->retry_at = need + room_of(s->share_log2) / 8 < room_of(s->share_log2 + 1)
                              ? need + room_of(s->share_log2) / 8
                              : room_of(s->share_log2 + 1);
        need = p->n + p->reserved + count;
    }
    unsigned log2 = p->cap_log2;
    while (room_of(log2) < need)
        log2++;
    if (log2 != p->cap_log2)
        front_resize(s, p, log2);
    p->reserved += count;
    return ST_OK;
}

/* *hint speeds up ascending keys: see seen_file_find. */
static bool file_has(const struct part *p, uint64_t key, size_t *hint)
{
    *hint = seen_file_find(&p->file, key, *hint);
    return *hint < p->file.n && seen_file_key(&p->file, *hint) == key;
}

static bool add_zero(struct part *p)
{
    size_t hint = 0;
    if (p->has_zero || file_has(p, 0, &hint))
        return false;
    p->has_zero = true;
    return true;
}

/* Room is reserved. */
static size_t add_group(struct part *p, const struct item *items, size_t n, bool *is_new)
{
    size_t added = 0, hint = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t key = items[i].key;
        bool fresh;
        if (i + PREFETCH_AHEAD < n)
            __builtin_prefetch(&p->slots[home_slot(p, items[i + PREFETCH_AHEAD].key)]);
        if (key == 0) {
            fresh = add_zero(p);
        } else {
            uint64_t *slot = front_slot(p, key);
            fresh = !*slot && !file_has(p, key, &hint);
            if (fresh) {
                *slot = key;
                p->n++;
            }
        }
        is_new[items[i].at] = fresh;
        added += fresh;
    }
    return added;
}

/* A stable counting sort by 8 bits of the key. */
static void sort_pass(const struct item *from, struct item *to, size_t n, unsigned shift)
{
    size_t starts[257] = {0};
    for (size_t i = 0; i < n; i++)
        starts[((from[i].key >> shift) & 0xFF) + 1]++;
    for (size_t i = 0; i < 256; i++)
        starts[i + 1] += starts[i];
    for (size_t i = 0; i < n; i++)
        to[starts[(from[i].key >> shift) & 0xFF]++] = from[i];
}

/* Stable, so that of equal keys the first stays first. Finer order than 16 bits would not pay: a step is some keys
 * already. */
static void sort_large(const uint64_t *keys, size_t n, struct item *items, struct item *scratch)
{
    for (size_t i = 0; i < n; i++)
        items[i] = (struct item){keys[i], (uint32_t)i};
    sort_pass(items, scratch, n, 48);
    sort_pass(scratch, items, n, 56);
}

static void group_small(const uint64_t *keys, size_t n, struct item *items)
{
    uint16_t starts[PARTS + 1] = {0};
    for (size_t i = 0; i < n; i++)
        starts[part_of(keys[i]) + 1]++;
    for (size_t i = 0; i < PARTS; i++)
        starts[i + 1] = (uint16_t)(starts[i + 1] + starts[i]);
    for (size_t i = 0; i < n; i++)
        items[starts[part_of(keys[i])]++] = (struct item){keys[i], (uint32_t)i};
}

static size_t group_end(const struct item *items, size_t n, size_t from)
{
    size_t end = from + 1;
    while (end < n && part_of(items[end].key) == part_of(items[from].key))
        end++;
    return end;
}

static void prefetch(const struct part *p, uint64_t key)
{
    __builtin_prefetch(&p->slots[home_slot(p, key)]);
    seen_file_prefetch(&p->file, key);
}

static void unreserve(struct seen *s, const struct item *items, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct part *p = &s->parts[part_of(items[i].key)];
        pthread_mutex_lock(&p->lock);
        p->reserved--;
        pthread_mutex_unlock(&p->lock);
    }
}

static status add_sorted(struct seen *s, const struct item *items, size_t n, bool *is_new)
{
    for (size_t i = 0, end; i < n; i = end) {
        end = group_end(items, n, i);
        struct part *p = &s->parts[part_of(items[i].key)];
        pthread_mutex_lock(&p->lock);
        status st = reserve(s, p, end - i);
        if (st == ST_OK)
            prefetch(p, items[i].key);
        pthread_mutex_unlock(&p->lock);
        if (st != ST_OK) {
            unreserve(s, items, i);
            return st;
        }
    }
    size_t added = 0;
    for (size_t i = 0, end; i < n; i = end) {
        end = group_end(items, n, i);
        struct part *p = &s->parts[part_of(items[i].key)];
        pthread_mutex_lock(&p->lock);
        added += add_group(p, items + i, end - i, is_new);
        p->reserved -= end - i;
        pthread_mutex_unlock(&p->lock);
    }
    atomic_fetch_add(&s->count, added);
    return ST_OK;
}

status seen_add(struct seen *s, const uint64_t *keys, size_t n, bool *is_new)
{
    if (n > SEEN_BATCH_MAX)
        return ST_LIMIT;
    if (n <= SMALL_BATCH) {
        struct item items[SMALL_BATCH];
        group_small(keys, n, items);
        return add_sorted(s, items, n, is_new);
    }
    struct item *items = mem_realloc(NULL, 2 * n * sizeof(*items));
    sort_large(keys, n, items, items + n);
    status st = add_sorted(s, items, n, is_new);
    int saved = errno;
    free(items);
    errno = saved;
    return st;
}

bool seen_has(struct seen *s, uint64_t key)
{
    struct part *p = &s->parts[part_of(key)];
    size_t hint = 0;
    pthread_mutex_lock(&p->lock);
    bool in_front = key ? *front_slot(p, key) == key : p->has_zero;
    bool has = in_front || file_has(p, key, &hint);
    pthread_mutex_unlock(&p->lock);
    return has;
}

uint64_t seen_count(const struct seen *s)
{
    return atomic_load(&s->count);
}

size_t seen_memory(const struct seen *s)
{
    return sizeof(*s) + atomic_load(&s->memory);
}

uint64_t seen_disk(const struct seen *s)
{
    return atomic_load(&s->disk);
}

typedef void name_fn(struct seen *s, unsigned part, uint32_t version);

static status each_name(struct seen *s, name_fn *fn)
{
    DIR *d = opendir(s->dir);
    if (!d)
        return ST_IO;
    for (struct dirent *e; (e = readdir(d));) {
        unsigned part;
        uint32_t version;
        if (seen_file_parse_name(e->d_name, &part, &version))
            fn(s, part, version);
    }
    closedir(d);
    return ST_OK;
}

static void note_version(struct seen *s, unsigned part, uint32_t version)
{
    if (version >= s->parts[part].next_version)
        s->parts[part].next_version = version + 1;
}

static unsigned share_log2_of(size_t front_bytes)
{
    if (!front_bytes)
        front_bytes = FRONT_BYTES_DEFAULT;
    if (front_bytes > SEEN_FRONT_BYTES_MAX)
        front_bytes = SEEN_FRONT_BYTES_MAX;
    unsigned log2 = FRONT_LOG2_MIN;
    while (slots_of(log2 + 1) * sizeof(uint64_t) * PARTS <= front_bytes)
        log2++;
    return log2;
}

status seen_open(const char *dir, const struct seen_opts *opts, struct seen **out)
{
    status st = file_mkdir(dir);
    if (st != ST_OK)
        return st;
    struct seen *s = aligned_alloc(_Alignof(struct part), sizeof(*s));
    assert(s);
    memset(s, 0, sizeof(*s));
    s->dir = mem_str(span_str(dir));
    s->share_log2 = share_log2_of(opts ? opts->front_bytes : 0);
    for (struct part *p = s->parts; p < s->parts + PARTS; p++) {
        pthread_mutex_init(&p->lock, NULL);
        p->next_version = 1;
        front_resize(s, p, FRONT_LOG2_MIN);
    }
    st = each_name(s, note_version);
    if (st == ST_OK)
        *out = s;
    else
        seen_free(s);
    return st;
}

void seen_free(struct seen *s)
{
    if (!s)
        return;
    for (struct part *p = s->parts; p < s->parts + PARTS; p++) {
        seen_file_close(&p->file);
        free(p->slots);
        pthread_mutex_destroy(&p->lock);
    }
    free(s->dir);
    free(s);
}

static status sync_part(struct seen *s, struct part *p, bool *any)
{
    if (p->is_synced || !p->file.version)
        return ST_OK;
    status st = seen_file_sync(s->dir, (unsigned)(p - s->parts), p->file.version);
    if (st != ST_OK)
        return st;
    p->is_synced = true;
    *any = true;
    return ST_OK;
}

/* u8 partition, u32 file version, u64 keys in the file, u32 keys in the front, the keys. */
static void pack_part(const struct seen *s, const struct part *p, struct buf *out)
{
    size_t n;
    uint64_t *keys = front_keys(p, &n);
    buf_clear(out);
    pack_u8(out, (uint8_t)(p - s->parts));
    pack_u32(out, p->file.version);
    pack_u64(out, p->file.n);
    pack_u32(out, (uint32_t)n);
    for (size_t i = 0; i < n; i++)
        pack_u64(out, keys[i]);
    free(keys);
}

static status save_parts(struct seen *s, struct records_writer *w, uint8_t type)
{
    struct buf b = {0};
    status st = ST_OK;
    for (struct part *p = s->parts; st == ST_OK && p < s->parts + PARTS; p++) {
        pthread_mutex_lock(&p->lock);
        pack_part(s, p, &b);
        p->saved_version = p->file.version;
        pthread_mutex_unlock(&p->lock);
        st = records_append(w, type, buf_span(&b));
    }
    int saved = errno;
    buf_done(&b);
    errno = saved;
    return st;
}

status seen_save(struct seen *s, struct records_writer *w, uint8_t type)
{
    status st = ST_OK;
    bool any = false;
    for (struct part *p = s->parts; st == ST_OK && p < s->parts + PARTS; p++) {
        pthread_mutex_lock(&p->lock);
        st = sync_part(s, p, &any);
        pthread_mutex_unlock(&p->lock);
    }
    if (st == ST_OK && any)
        st = file_sync_dir(s->dir);
    return st == ST_OK ? save_parts(s, w, type) : st;
}

static bool keys_belong(struct unpack u, unsigned part)
{
    uint64_t last = 0;
    for (bool first = true; !unpack_at_end(&u); first = false) {
        uint64_t key = unpack_u64(&u);
        if (u.bad || part_of(key) != part || (!first && key <= last))
            return false;
        last = key;
    }
    return true;
}

static void load_front(struct seen *s, struct part *p, struct unpack *u, size_t n)
{
    unsigned log2 = FRONT_LOG2_MIN;
    while (room_of(log2) < n)
        log2++;
    front_clear(s, p);
    front_resize(s, p, log2);
    for (size_t i = 0; i < n; i++) {
        uint64_t key = unpack_u64(u);
        if (!key) {
            p->has_zero = true;
            continue;
        }
        *front_slot(p, key) = key;
        p->n++;
    }
}

status seen_load(struct seen *s, struct span record)
{
    struct unpack u = unpack_of(record);
    unsigned part = unpack_u8(&u);
    uint32_t version = unpack_u32(&u);
    uint64_t in_file = unpack_u64(&u);
    uint32_t n = unpack_u32(&u);
    if (u.bad || part >= PARTS || (uint64_t)(u.end - u.at) != 8 * (uint64_t)n || !keys_belong(u, part))
        return ST_CORRUPT;
    struct seen_file file = {0};
    status st = version ? seen_file_open(s->dir, part, version, &file) : ST_OK;
    if (st != ST_OK)
        return st == ST_NOT_FOUND ? ST_CORRUPT : st;
    if (file.n != in_file) {
        seen_file_close(&file);
        return ST_CORRUPT;
    }
    struct part *p = &s->parts[part];
    pthread_mutex_lock(&p->lock);
    atomic_fetch_sub(&s->count, p->file.n + p->n + p->has_zero);
    atomic_fetch_add(&s->count, in_file + n);
    /* The settled checkpoint may name the file that is replaced; settling removes it if not. */
    p->saved_version = p->file.version;
    swap_file(s, p, &file);
    p->is_synced = true;
    p->saved_version = version;
    if (version >= p->next_version)
        p->next_version = version + 1;
    load_front(s, p, &u, n);
    pthread_mutex_unlock(&p->lock);
    return ST_OK;
}

static void delete_if_stray(struct seen *s, unsigned part, uint32_t version)
{
    struct part *p = &s->parts[part];
    pthread_mutex_lock(&p->lock);
    if (!version || (version != p->file.version && version != p->settled_version))
        delete_version(s, part, version);
    pthread_mutex_unlock(&p->lock);
}

void seen_settle(struct seen *s)
{
    for (struct part *p = s->parts; p < s->parts + PARTS; p++) {
        pthread_mutex_lock(&p->lock);
        p->settled_version = p->saved_version;
        pthread_mutex_unlock(&p->lock);
    }
    (void)each_name(s, delete_if_stray); /* what cannot be removed now is tried again at the next checkpoint */
}

bool seen_record_has(const char *dir, struct span record, uint64_t key)
{
    struct unpack u = unpack_of(record);
    unsigned part = unpack_u8(&u);
    uint32_t version = unpack_u32(&u);
    (void)unpack_u64(&u);
    uint32_t n = unpack_u32(&u);
    if (u.bad || part != part_of(key))
        return false;
    bool has = false;
    for (uint32_t i = 0; i < n && !u.bad && !has; i++)
        has = unpack_u64(&u) == key;
    struct seen_file file = {0};
    if (!has && version && seen_file_open(dir, part, version, &file) == ST_OK) {
        size_t at = seen_file_find(&file, key, 0);
        has = at < file.n && seen_file_key(&file, at) == key;
        seen_file_close(&file);
    }
    return has;
}
