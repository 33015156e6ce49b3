/* Files of rows are whole or refused; a sorter does what sorting in memory does, on disk or not; groups are found by
 * key, and a replaced file is seen. */
#include "test.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/rng.h"
#include "store/groups.h"
#include "store/rows.h"
#include "store/sorter.h"
#include "test_folder.h"

#define KIND 9

/* ---- rows ---- */

static void write_rows(const char *path, size_t n, uint64_t stamp)
{
    struct rows_writer *w = NULL;
    CHECK_STATUS("create", rows_create(path, KIND, 2, &w), ST_OK);
    for (uint64_t i = 0; i < n; i++)
        CHECK_STATUS("put", rows_put(w, (uint64_t[]){i * 3, i}), ST_OK);
    CHECK_STATUS("commit", rows_commit(w, stamp), ST_OK);
}

static void rows_come_back_and_are_found(void **state)
{
    (void)state;
    char path[TEST_PATH];
    test_path(path, "rows");
    const size_t sizes[] = {0, 1, 2, 1000, 40000};
    for (size_t k = 0; k < sizeof(sizes) / sizeof(*sizes); k++) {
        struct rows r;
        size_t at;
        write_rows(path, sizes[k], 5 + k);
        CHECK_STATUS("open", rows_open(path, KIND, 2, &r), ST_OK);
        CHECK("header", r.count == sizes[k] && r.stamp == 5 + k);
        for (size_t i = 0; i < sizes[k]; i++)
            CHECK("found", rows_has(&r, i * 3, &at) && at == i && rows_number(&r, at, 1) == i);
        CHECK("not found", !rows_has(&r, 1, &at) && !rows_has(&r, UINT64_MAX, &at) && at == sizes[k]);
        rows_close(&r);
    }
}

static void damage_is_an_error(void **state)
{
    (void)state;
    char path[TEST_PATH];
    struct rows r;
    test_path(path, "rows");
    write_rows(path, 20, 1);
    struct span good = test_read_file(path);
    CHECK_STATUS("another kind", rows_open(path, KIND + 1, 2, &r), ST_CORRUPT);
    CHECK_STATUS("another width", rows_open(path, KIND, 1, &r), ST_CORRUPT);
    for (size_t i = 0; i <= good.n; i++) {
        char *bad = malloc(good.n + 1);
        memcpy(bad, good.p, good.n);
        bad[i] = (char)(i < good.n ? bad[i] ^ 4 : 0); /* each byte changed, or one too many */
        CHECK_STATUS("write", file_replace(path, span_of(bad, i < good.n ? good.n : good.n + 1)), ST_OK);
        CHECK_STATUS("changed", rows_open(path, KIND, 2, &r), i == 7 ? ST_NEWER : ST_CORRUPT);
        if (i < good.n) {
            CHECK_STATUS("write", file_replace(path, span_of(good.p, i)), ST_OK);
            CHECK_STATUS("cut", rows_open(path, KIND, 2, &r), ST_CORRUPT);
        }
        free(bad);
    }
    unlink(path);
    CHECK_STATUS("none", rows_open(path, KIND, 2, &r), ST_NOT_FOUND);
    free((char *)good.p);
}

static void an_unfinished_file_leaves_the_old_one(void **state)
{
    (void)state;
    char path[TEST_PATH], temp[TEST_PATH + 8];
    struct rows_writer *w = NULL;
    struct rows r;
    struct stat sb;
    test_path(path, "rows");
    snprintf(temp, sizeof(temp), "%s.new", path);
    write_rows(path, 10, 1);
    CHECK_STATUS("create", rows_create(path, KIND, 2, &w), ST_OK);
    CHECK_STATUS("put", rows_put(w, (uint64_t[]){1, 1}), ST_OK);
    rows_abandon(w);
    CHECK("no trace", stat(temp, &sb) != 0);
    for (uint64_t bytes = 1; bytes < 200; bytes += 40) {
        CHECK_STATUS("create", rows_create(path, KIND, 2, &w), ST_OK);
        CHECK_STATUS("put", rows_put(w, (uint64_t[]){1, 1}), ST_OK);
        file_inject_fault(bytes > 90 ? 40 : bytes, ENOSPC);
        CHECK_STATUS("no room", rows_commit(w, 2), ST_FULL);
        file_inject_fault(0, 0);
    }
    CHECK_STATUS("open", rows_open(path, KIND, 2, &r), ST_OK);
    CHECK("the old one", r.count == 10 && r.stamp == 1 && stat(temp, &sb) != 0);
    rows_close(&r);
}

/* ---- sorting ---- */

static int by_key(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return x[0] != y[0] ? (x[0] < y[0] ? -1 : 1) : x[1] < y[1] ? -1 : x[1] > y[1];
}

/* The naive twin: qsort by the key's bits, then by the order in which rows went in. */
static void check_sorter(const char *label, size_t n, unsigned key_bits, size_t memory, uint64_t seed)
{
    char path[TEST_PATH];
    struct rng rng;
    uint64_t row[3], *want = malloc((n + 1) * 16);
    test_path(path, "runs");
    rng_seed(&rng, seed);
    struct sorter *s =
        sorter_new(&(struct sorter_opts){.path = path, .width = 3, .key_bits = key_bits, .memory = memory});
    for (size_t i = 0; i < n; i++) {
        uint64_t key = rng_u64(&rng) & (i % 3 ? UINT64_MAX : UINT64_C(0xff) << 56);
        want[2 * i] = key_bits ? key >> (64 - key_bits) : 0;
        want[2 * i + 1] = i;
        CHECK_STATUS(label, sorter_add(s, (uint64_t[]){key, i, ~key}), ST_OK);
    }
    CHECK(label, sorter_count(s) == n);
    qsort(want, n, 16, by_key);
    for (int round = 0; round < 2; round++) { /* it can be read again */
        CHECK_STATUS(label, sorter_sort(s), ST_OK);
        for (size_t i = 0; i < n; i++) {
            CHECK_STATUS(label, sorter_next(s, row), ST_OK);
            CHECK(label, row[1] == want[2 * i + 1] && row[2] == ~row[0]);
        }
        CHECK_STATUS(label, sorter_next(s, row), ST_END);
    }
    CHECK("its file has no name", access(path, F_OK) != 0);
    sorter_clear(s, 64);
    CHECK_STATUS(label, sorter_add(s, (uint64_t[]){9, 9, 9}), ST_OK);
    CHECK_STATUS(label, sorter_sort(s), ST_OK);
    CHECK("used again", sorter_next(s, row) == ST_OK && row[0] == 9 && sorter_next(s, row) == ST_END);
    sorter_free(s);
    free(want);
}

static void sorts_as_qsort_does(void **state)
{
    (void)state;
    const size_t sizes[] = {0, 1, 2, 1023, 1024, 1025, 30000};
    const unsigned bits[] = {64, 16, 13, 1, 0};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
        for (size_t k = 0; k < sizeof(bits) / sizeof(*bits); k++) {
            check_sorter("in memory", sizes[i], bits[k], 4u << 20, i * 7 + k);
            check_sorter("in runs", sizes[i], bits[k], 1, i * 7 + k);
            check_sorter("in few runs", sizes[i], bits[k], 500000, i * 7 + k);
        }
}

static void a_full_disk_is_told(void **state)
{
    (void)state;
    char path[TEST_PATH];
    status st = ST_OK;
    test_path(path, "runs");
    struct sorter *s = sorter_new(&(struct sorter_opts){.path = path, .width = 1, .key_bits = 64, .memory = 1});
    file_inject_fault(20000, ENOSPC);
    for (uint64_t i = 0; i < 10000 && st == ST_OK; i++)
        st = sorter_add(s, &i);
    file_inject_fault(0, 0);
    CHECK_STATUS("full", st, ST_FULL);
    sorter_free(s);
}

/* ---- groups ---- */

static void write_groups(const char *path, uint64_t first, unsigned pages)
{
    struct rows_writer *w = NULL;
    uint64_t row[GROUPS_WIDTH];
    CHECK_STATUS("create", rows_create(path, GROUPS_KIND, GROUPS_WIDTH, &w), ST_OK);
    for (uint64_t i = 0; i < pages; i++) {
        group_pack(first + i,
                   &(struct group){.first = first,
                                   .pages = i ? 0 : pages,
                                   .distance = (unsigned)i,
                                   .flags = i == 1 ? GROUPS_CANONICAL : 0},
                   row);
        CHECK_STATUS("put", rows_put(w, row), ST_OK);
    }
    CHECK_STATUS("commit", rows_commit(w, first), ST_OK);
}

static void groups_are_found_by_key(void **state)
{
    (void)state;
    char path[TEST_PATH];
    struct group g;
    test_path(path, "groups");
    struct groups *none = groups_open(path);
    CHECK("none", groups_status(none) == ST_NOT_FOUND && !groups_get(none, 5, &g) && groups_translate(none, 5, 6) == 6);
    groups_release(none);
    write_groups(path, 5, 3);
    struct groups *now = groups_open(path);
    CHECK("there", groups_status(now) == ST_OK && groups_count(now) == 3 && groups_stamp(now) == 5);
    CHECK("member",
          groups_get(now, 6, &g) && g.first == 5 && g.distance == 1 && g.flags == GROUPS_CANONICAL && !g.pages);
    CHECK("of how many", groups_look(now, 7, &g) && g.pages == 3 && g.distance == 2);
    CHECK("first", groups_look(now, 5, &g) && g.first == 5 && g.pages == 3);
    CHECK("translated", groups_translate(now, 7, 1) == 5 && groups_translate(now, 8, 1) == 1);
    groups_release(now);
}

static void a_reader_sees_a_replaced_file(void **state)
{
    (void)state;
    char path[TEST_PATH];
    test_path(path, "groups");
    struct groups_reader *r = groups_reader_new(path);
    struct groups *none = groups_reader_get(r);
    CHECK_STATUS("none", groups_status(none), ST_NOT_FOUND);
    write_groups(path, 5, 2);
    struct groups *one = groups_reader_get(r), *same = groups_reader_get(r);
    CHECK("one", one == same && groups_stamp(one) == 5);
    write_groups(path, 6, 2);
    struct groups *two = groups_reader_get(r);
    CHECK("two", groups_stamp(two) == 6);
    CHECK("what was handed out stays", groups_stamp(one) == 5 && groups_translate(one, 6, 0) == 5);
    CHECK_STATUS("damage", file_replace(path, SPAN("orbrows1 and so on")), ST_OK);
    struct groups *bad = groups_reader_get(r);
    CHECK("damaged", groups_status(bad) == ST_CORRUPT && groups_translate(bad, 6, 9) == 9);
    groups_release(none);
    groups_release(one);
    groups_release(same);
    groups_release(two);
    groups_release(bad);
    groups_reader_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(rows_come_back_and_are_found),
        TEST_IN_FOLDER(damage_is_an_error),
        TEST_IN_FOLDER(an_unfinished_file_leaves_the_old_one),
        TEST_IN_FOLDER(sorts_as_qsort_does),
        TEST_IN_FOLDER(a_full_disk_is_told),
        TEST_IN_FOLDER(groups_are_found_by_key),
        TEST_IN_FOLDER(a_reader_sees_a_replaced_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
