#include "test.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/table.h"
#include "store/file.h"
#include "store/seen.h"
#include "test_folder.h"

#define TYPE 9

static const struct seen_opts tiny = {.front_bytes = 1}; /* 16 slots a partition */

static struct seen *open_seen(const struct seen_opts *opts)
{
    char dir[TEST_PATH];
    struct seen *s = NULL;
    test_path(dir, "seen");
    CHECK_STATUS("open", seen_open(dir, opts, &s), ST_OK);
    return s;
}

static unsigned file_count(void)
{
    char dir[TEST_PATH];
    unsigned n = 0;
    test_path(dir, "seen");
    DIR *d = opendir(dir);
    for (struct dirent *e; (e = readdir(d));)
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static void save(struct seen *s, const char *name)
{
    char path[TEST_PATH];
    struct records_writer *w = NULL;
    test_path(path, name);
    unlink(path);
    CHECK_STATUS("create", records_create(path, 1, 1, 1 << 16, &w), ST_OK);
    CHECK_STATUS("save", seen_save(s, w, TYPE), ST_OK);
    CHECK_STATUS("flush", records_flush(w), ST_OK);
    records_close(w);
}

static status load_record(void *arg, uint8_t type, struct span payload)
{
    assert_int_equal(type, TYPE);
    return seen_load(arg, payload);
}

static struct seen *load(const struct seen_opts *opts, const char *name)
{
    char path[TEST_PATH];
    struct seen *s = open_seen(opts);
    test_path(path, name);
    CHECK_STATUS("load", records_read(path, 1, load_record, s, NULL), ST_OK);
    seen_settle(s);
    return s;
}

/* The naive twin: a table that knows all keys. */
static bool twin_add(struct table *t, uint64_t key)
{
    static int yes;
    if (table_get(t, key))
        return false;
    table_put(t, key, &yes);
    return true;
}

/* Every eighth key is one of a few special ones. */
static uint64_t draw_key(struct rng *r, uint64_t range)
{
    static const uint64_t special[] = {0, 1, 2, UINT64_MAX, UINT64_MAX - 1, 1ull << 58, (1ull << 58) - 1, 1ull << 63};
    uint64_t v = rng_below(r, range);
    if (v % 64 == 0)
        return special[v / 64 % 8];
    struct rng spread;
    rng_seed(&spread, v);
    return rng_u64(&spread);
}

static void add_batch(struct seen *s, struct table *twin, struct rng *r, size_t n, uint64_t range)
{
    uint64_t *keys = mem_alloc((n + 1) * sizeof(*keys));
    bool *is_new = mem_alloc(n + 1);
    for (size_t i = 0; i < n; i++)
        keys[i] = draw_key(r, range);
    status st = seen_add(s, keys, n, is_new);
    if (st != ST_OK)
        fail_msg("add of %zu keys: %s", n, status_name(st));
    for (size_t i = 0; i < n; i++)
        if (is_new[i] != twin_add(twin, keys[i]))
            fail_msg("key %zu of %zu (%016llx): new is %d", i, n, (unsigned long long)keys[i], is_new[i]);
    if (seen_count(s) != twin->n)
        fail_msg("count %llu, want %zu", (unsigned long long)seen_count(s), twin->n);
    free(keys);
    free(is_new);
}

static size_t batch_size(struct rng *r)
{
    size_t top[] = {1, 2, 60, 64, 256, 257, 400, 3000};
    return rng_below(r, top[rng_below(r, 8)] + 1);
}

static void copy_table(struct table *to, const struct table *from)
{
    table_done(to);
    *to = (struct table){0};
    for (size_t i = 0; i < from->cap; i++)
        if (from->slots[i].value)
            table_put(to, from->slots[i].key, from->slots[i].value);
}

static void check_all(struct seen *s, const struct table *twin, struct rng *r)
{
    assert_int_equal(seen_count(s), twin->n);
    for (size_t i = 0; i < twin->cap; i++)
        if (twin->slots[i].value)
            CHECK("has", seen_has(s, twin->slots[i].key));
    for (int i = 0; i < 1000; i++) {
        uint64_t key = rng_u64(r);
        CHECK("has not", seen_has(s, key) == (table_get(twin, key) != NULL));
    }
}

static void agrees_with_a_naive_twin(void **state)
{
    (void)state;
    static const struct seen_opts opts[] = {{1}, {64 * 8 * 64}, {1 << 20}};
    for (uint64_t seed = 0; seed < 3; seed++) {
        struct rng r;
        struct table twin = {0};
        struct seen *s = open_seen(&opts[seed]);
        rng_seed(&r, seed);
        for (int i = 0; i < 150; i++)
            add_batch(s, &twin, &r, batch_size(&r), 60000);
        check_all(s, &twin, &r);
        seen_free(s);
        table_done(&twin);
    }
}

static void a_loaded_set_equals_the_saved_one(void **state)
{
    (void)state;
    for (uint64_t seed = 10; seed < 16; seed++) {
        struct rng r;
        struct table twin = {0}, saved = {0};
        struct seen *s = open_seen(&tiny);
        rng_seed(&r, seed);
        save(s, "checkpoint");
        seen_settle(s);
        for (int i = 0; i < 120; i++) {
            add_batch(s, &twin, &r, batch_size(&r), 30000);
            switch (rng_below(&r, 6)) {
            case 0:
                save(s, "checkpoint");
                copy_table(&saved, &twin);
                /* Merges may come between the save and its becoming durable. */
                add_batch(s, &twin, &r, batch_size(&r), 30000);
                seen_settle(s);
                break;
            case 1:
                save(s, "unfinished"); /* never becomes durable */
                break;
            case 2:
                seen_free(s);
                s = load(&tiny, "checkpoint");
                copy_table(&twin, &saved);
                check_all(s, &twin, &r);
                break;
            default:
                break;
            }
        }
        seen_free(s);
        table_done(&twin);
        table_done(&saved);
    }
}

static void survives_full_disks(void **state)
{
    (void)state;
    struct rng r;
    struct table twin = {0};
    struct seen *s = open_seen(&tiny);
    unsigned failures = 0;
    rng_seed(&r, 77);
    for (int i = 0; i < 400; i++) {
        size_t n = batch_size(&r);
        uint64_t *keys = mem_alloc((n + 1) * sizeof(*keys));
        bool *is_new = mem_alloc(n + 1);
        for (size_t k = 0; k < n; k++)
            keys[k] = draw_key(&r, 40000);
        file_inject_fault(rng_below(&r, 20000), rng_below(&r, 2) ? ENOSPC : EIO);
        status st = seen_add(s, keys, n, is_new);
        assert_int_equal(seen_count(s) == twin.n || st == ST_OK, 1);
        if (st != ST_OK) {
            failures++;
            for (size_t k = 0; k < n; k++)
                CHECK("all or nothing", seen_has(s, keys[k]) == (table_get(&twin, keys[k]) != NULL));
            file_inject_fault(0, 0);
            CHECK_STATUS("again", seen_add(s, keys, n, is_new), ST_OK);
        }
        file_inject_fault(0, 0);
        for (size_t k = 0; k < n; k++)
            CHECK("new", is_new[k] == twin_add(&twin, keys[k]));
        free(keys);
        free(is_new);
    }
    assert_true(failures > 5);
    check_all(s, &twin, &r);
    save(s, "checkpoint");
    seen_free(s);
    s = load(&tiny, "checkpoint");
    check_all(s, &twin, &r);
    seen_free(s);
    table_done(&twin);
}

static void a_full_disk_is_not_felt_before_twice_the_share(void **state)
{
    (void)state;
    static const struct seen_opts opts = {.front_bytes = 64 * 1024 * 8}; /* 1024 slots a partition: room for 768 keys */
    struct rng r;
    struct seen *s = open_seen(&opts);
    uint64_t added = 0;
    status st = ST_OK;
    rng_seed(&r, 3);
    file_inject_fault(0, ENOSPC);
    while (st == ST_OK) {
        uint64_t key = rng_u64(&r);
        bool is_new;
        st = seen_add(s, &key, 1, &is_new);
        added += st == ST_OK;
    }
    CHECK_STATUS("in the end", st, ST_FULL);
    assert_true(added > 64 * 768 * 3 / 2);
    assert_int_equal(seen_count(s), added);
    assert_int_equal(file_count(), 0);
    file_inject_fault(0, 0);
    for (int i = 0; i < 200000; i++) {
        uint64_t key = rng_u64(&r);
        bool is_new;
        CHECK_STATUS("space again", seen_add(s, &key, 1, &is_new), ST_OK);
    }
    assert_true(seen_memory(s) < 2 * 64 * 1024 * 8);
    seen_free(s);
}

static void a_failed_save_keeps_the_last_checkpoint(void **state)
{
    (void)state;
    struct rng r;
    struct table twin = {0}, saved = {0};
    struct seen *s = open_seen(&tiny);
    rng_seed(&r, 21);
    add_batch(s, &twin, &r, 3000, 100000);
    save(s, "checkpoint");
    copy_table(&saved, &twin);
    seen_settle(s);
    for (int i = 0; i < 5; i++) {
        char path[TEST_PATH];
        struct records_writer *w = NULL;
        add_batch(s, &twin, &r, 3000, 100000);
        test_path(path, "failing");
        CHECK_STATUS("create", records_create(path, 1, 1, 0, &w), ST_OK);
        file_inject_fault(500, ENOSPC);
        CHECK_STATUS("save", seen_save(s, w, TYPE), ST_FULL);
        file_inject_fault(0, 0);
        records_close(w);
        unlink(path);
    }
    check_all(s, &twin, &r);
    seen_free(s);
    s = load(&tiny, "checkpoint");
    check_all(s, &saved, &r);
    seen_free(s);
    table_done(&twin);
    table_done(&saved);
}

static void settling_leaves_one_file_a_partition(void **state)
{
    (void)state;
    struct rng r;
    struct table twin = {0};
    struct seen *s = open_seen(&tiny);
    rng_seed(&r, 1);
    add_batch(s, &twin, &r, 5000, 1000000);
    add_batch(s, &twin, &r, 5000, 1000000);
    save(s, "checkpoint");
    add_batch(s, &twin, &r, 5000, 1000000);
    assert_int_equal(file_count(), 128);
    save(s, "checkpoint");
    seen_settle(s);
    assert_int_equal(file_count(), 64);
    assert_true(seen_disk(s) > 64 * 32 && seen_disk(s) <= 64 * 32 + 8 * seen_count(s));
    char path[TEST_PATH];
    test_path(path, "seen/07-new-temp");
    CHECK_STATUS("stray", file_replace(path, SPAN("torn")), ST_OK);
    test_path(path, "seen/07-0fffffff");
    CHECK_STATUS("stray", file_replace(path, SPAN("torn")), ST_OK);
    test_path(path, "seen/somebody else's");
    CHECK_STATUS("foreign", file_replace(path, SPAN("stays")), ST_OK);
    seen_free(s);
    s = load(&tiny, "checkpoint");
    assert_int_equal(file_count(), 65);
    check_all(s, &twin, &r);
    seen_free(s);
    seen_free(NULL);
    table_done(&twin);
    s = open_seen(NULL);
    seen_settle(s);
    assert_int_equal(file_count(), 1);
    seen_free(s);
}

static void bad_records_and_files_are_corrupt(void **state)
{
    (void)state;
    const struct {
        const char *label;
        struct span record;
        status want;
    } cases[] = {
        {"empty", SPAN(""), ST_CORRUPT},
        {"an empty partition", SPAN("\x05\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"), ST_OK},
        {"no such partition", SPAN("\x40\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"), ST_CORRUPT},
        {"no such file", SPAN("\x05\1\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0"), ST_CORRUPT},
        {"keys in no file", SPAN("\x05\0\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0"), ST_CORRUPT},
        {"one key of it", SPAN("\x05\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\1\1\1\1\1\1\1\x14"), ST_OK},
        {"key of another", SPAN("\x05\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\1\1\1\1\1\1\1\x18"), ST_CORRUPT},
        {"a key too few", SPAN("\x05\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0"), ST_CORRUPT},
        {"many keys too few", SPAN("\x05\0\0\0\0\0\0\0\0\0\0\0\0\xff\xff\xff\xff"), ST_CORRUPT},
        {"cut", SPAN("\x05\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0"), ST_CORRUPT},
    };
    struct seen *s = open_seen(NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        CHECK_STATUS(cases[i].label, seen_load(s, cases[i].record), cases[i].want);
    assert_int_equal(seen_count(s), 1);
    assert_true(seen_has(s, 0x1401010101010101));
    seen_free(s);
}

static void damaged_key_files_are_corrupt(void **state)
{
    (void)state;
    struct rng r;
    struct table twin = {0};
    struct seen *s = open_seen(&tiny);
    char checkpoint[TEST_PATH], path[TEST_PATH];
    rng_seed(&r, 1);
    add_batch(s, &twin, &r, 3000, 1000000);
    add_batch(s, &twin, &r, 3000, 1000000);
    save(s, "checkpoint");
    seen_settle(s);
    seen_free(s);
    table_done(&twin);
    test_path(checkpoint, "checkpoint");
    test_path(path, "seen/33-00000001");
    struct span good = test_read_file(path);
    for (size_t at = 0; at < 36; at++) {
        char label[32];
        char *copy = mem_str(good);
        snprintf(label, sizeof(label), "variant %zu", at);
        if (at < 28)
            copy[at] = (char)~copy[at];
        CHECK_STATUS(label, file_replace(path, span_of(copy, at < 28 ? good.n : good.n - (at - 27))), ST_OK);
        s = open_seen(&tiny);
        CHECK_STATUS(label, records_read(checkpoint, 1, load_record, s, NULL), at == 7 ? ST_NEWER : ST_CORRUPT);
        seen_free(s);
        free(copy);
    }
    free((char *)good.p);
}

/* Keys that are not uniform are slow, not wrong. */
static void clustered_keys_are_right_too(void **state)
{
    (void)state;
    struct seen *s = open_seen(&tiny);
    enum { N = 3000 };
    uint64_t keys[N];
    bool is_new[N];
    for (int round = 0; round < 2; round++)
        for (int half = 0; half < 2; half++) {
            for (uint64_t i = 0; i < N; i++)
                keys[i] = half ? UINT64_MAX - i * i : i;
            CHECK_STATUS("add", seen_add(s, keys, N, is_new), ST_OK);
            for (uint64_t i = 0; i < N; i++)
                CHECK("new", is_new[i] == !round);
        }
    assert_int_equal(seen_count(s), 2 * N);
    seen_free(s);
}

struct worker {
    struct seen *s;
    uint64_t seed, added;
    status st;
};

static void *add_many(void *arg)
{
    struct worker *w = arg;
    struct rng r;
    rng_seed(&r, w->seed);
    for (int i = 0; i < 300 && w->st == ST_OK; i++) {
        uint64_t keys[500];
        bool is_new[500];
        size_t n = 1 + rng_below(&r, 500);
        for (size_t k = 0; k < n; k++)
            keys[k] = draw_key(&r, 50000);
        w->st = seen_add(w->s, keys, n, is_new);
        for (size_t k = 0; k < n && w->st == ST_OK; k++)
            w->added += is_new[k];
    }
    return NULL;
}

static void threads_find_each_key_new_once(void **state)
{
    (void)state;
    struct seen *s = open_seen(&tiny);
    struct worker workers[4];
    pthread_t threads[4];
    uint64_t added = 0;
    for (uint64_t i = 0; i < 4; i++) {
        workers[i] = (struct worker){.s = s, .seed = i};
        pthread_create(&threads[i], NULL, add_many, &workers[i]);
    }
    for (int i = 0; i < 20; i++)
        seen_settle(s);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        CHECK_STATUS("worker", workers[i].st, ST_OK);
        added += workers[i].added;
    }
    assert_int_equal(added, seen_count(s));
    seen_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(agrees_with_a_naive_twin),
        TEST_IN_FOLDER(a_loaded_set_equals_the_saved_one),
        TEST_IN_FOLDER(survives_full_disks),
        TEST_IN_FOLDER(a_full_disk_is_not_felt_before_twice_the_share),
        TEST_IN_FOLDER(a_failed_save_keeps_the_last_checkpoint),
        TEST_IN_FOLDER(settling_leaves_one_file_a_partition),
        TEST_IN_FOLDER(bad_records_and_files_are_corrupt),
        TEST_IN_FOLDER(damaged_key_files_are_corrupt),
        TEST_IN_FOLDER(clustered_keys_are_right_too),
        TEST_IN_FOLDER(threads_find_each_key_new_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
