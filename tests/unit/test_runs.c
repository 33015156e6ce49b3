#include "test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/rng.h"
#include "store/file.h"
#include "store/runs.h"
#include "test_folder.h"

static struct runs *open_runs(void)
{
    char dir[TEST_PATH];
    struct runs *r = NULL;
    test_path(dir, "runs");
    CHECK_STATUS("open", runs_open(dir, &r), ST_OK);
    return r;
}

static unsigned file_count(void)
{
    char dir[TEST_PATH];
    unsigned n = 0;
    test_path(dir, "runs");
    DIR *d = opendir(dir);
    for (struct dirent *e; (e = readdir(d));)
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static struct run_ref put(struct runs *r, const char *text)
{
    struct run_ref ref = {0};
    CHECK_STATUS(text, runs_put(r, span_str(text), &ref), ST_OK);
    return ref;
}

static void check_run(struct runs *r, const struct run_ref *ref, const char *want)
{
    struct buf got = {0};
    buf_puts(&got, "+");
    CHECK_STATUS(want, runs_get(r, ref, &got), ST_OK);
    CHECK(want, got.n && got.p[0] == '+');
    CHECK_SPAN(want, span_from(buf_span(&got), 1), span_str(want));
    buf_done(&got);
}

/* A checkpoint: synced, written by the caller somewhere, settled. */
static void checkpoint(struct runs *r)
{
    CHECK_STATUS("sync", runs_sync(r), ST_OK);
    runs_settle(r);
}

static void gives_back_what_was_put(void **state)
{
    (void)state;
    struct runs *r = open_runs();
    struct run_ref a = put(r, "first"), b = put(r, ""), c = put(r, "third");
    check_run(r, &c, "third");
    check_run(r, &a, "first");
    check_run(r, &b, "");
    assert_int_equal(runs_disk(r), 3 * 8 + 10);
    runs_free(r);
    runs_free(NULL);
}

static void a_dropped_run_stays_until_the_checkpoint_after(void **state)
{
    (void)state;
    struct runs *r = open_runs();
    struct run_ref a = put(r, "first");
    checkpoint(r);
    runs_drop(r, &a);
    check_run(r, &a, "first");
    runs_settle(r); /* of a checkpoint made before the drop */
    check_run(r, &a, "first");
    CHECK_STATUS("sync", runs_sync(r), ST_OK);
    check_run(r, &a, "first");
    runs_settle(r);
    assert_int_equal(file_count(), 0);
    assert_int_equal(runs_disk(r), 0);
    struct buf b = {0};
    CHECK_STATUS("gone", runs_get(r, &a, &b), ST_CORRUPT);
    buf_done(&b);
    struct run_ref next = put(r, "after");
    check_run(r, &next, "after");
    runs_free(r);
}

static void a_file_used_again_before_settling_stays(void **state)
{
    (void)state;
    struct runs *r = open_runs();
    struct run_ref a = put(r, "first");
    runs_drop(r, &a);
    CHECK_STATUS("sync", runs_sync(r), ST_OK);
    struct run_ref b = put(r, "second");
    runs_settle(r);
    check_run(r, &b, "second");
    runs_free(r);
}

static void after_a_restart_only_kept_runs_stay(void **state)
{
    (void)state;
    struct runs *r = open_runs();
    struct run_ref a = put(r, "first");
    checkpoint(r);
    runs_free(r);
    r = open_runs();
    struct run_ref b = put(r, "stray");
    assert_int_not_equal(a.file, b.file);
    runs_free(r);

    r = open_runs();
    CHECK_STATUS("keep", runs_keep(r, &a), ST_OK);
    assert_int_equal(file_count(), 2);
    runs_drop(r, &a); /* by the journal's replay; the checkpoint still names it */
    runs_settle(r);
    assert_int_equal(file_count(), 1);
    check_run(r, &a, "first");
    struct run_ref c = put(r, "next");
    check_run(r, &c, "next");
    checkpoint(r);
    assert_int_equal(file_count(), 1);
    runs_free(r);
}

static void keeping_what_is_not_there_is_corrupt(void **state)
{
    (void)state;
    struct runs *r = open_runs();
    struct run_ref a = put(r, "first");
    static const struct {
        const char *label;
        struct run_ref add; /* to the good one */
    } cases[] = {{"no such file", {1, 0, 0}},
                 {"longer", {0, 1, 0}},
                 {"farther", {0, 0, 1}},
                 {"far out", {0, 0, UINT64_MAX - 9}}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct run_ref bad = {a.file + cases[i].add.file, a.bytes + cases[i].add.bytes, a.offset + cases[i].add.offset};
        CHECK_STATUS(cases[i].label, runs_keep(r, &bad), ST_CORRUPT);
    }
    runs_free(r);
}

static void damage_is_found(void **state)
{
    (void)state;
    struct runs *r = open_runs();
    struct run_ref a = put(r, "first"), b = put(r, "other");
    char path[TEST_PATH];
    test_path(path, "runs/00000001");
    for (off_t at = 0; at < 13; at++) {
        char label[32], c, bad;
        struct buf got = {0};
        snprintf(label, sizeof(label), "byte %d", (int)at);
        int fd = open(path, O_RDWR);
        assert_int_equal(pread(fd, &c, 1, at), 1);
        bad = (char)(c ^ 0x10);
        assert_int_equal(pwrite(fd, &bad, 1, at), 1);
        CHECK_STATUS(label, runs_get(r, &a, &got), ST_CORRUPT);
        assert_int_equal(got.n, 0);
        assert_int_equal(pwrite(fd, &c, 1, at), 1);
        close(fd);
        buf_done(&got);
    }
    check_run(r, &a, "first");
    check_run(r, &b, "other");
    runs_free(r);
}

static void a_failed_put_can_be_repeated(void **state)
{
    (void)state;
    struct runs *r = open_runs();
    struct run_ref a = put(r, "first");
    for (uint64_t after = 0; after < 16; after++) {
        char text[16];
        struct run_ref ref = {9, 9, 9};
        snprintf(text, sizeof(text), "again %02d", (int)after);
        file_inject_fault(after, ENOSPC);
        CHECK_STATUS(text, runs_put(r, span_str(text), &ref), ST_FULL);
        assert_int_equal(ref.file, 9);
        file_inject_fault(0, 0);
        CHECK_STATUS(text, runs_put(r, span_str(text), &ref), ST_OK);
        check_run(r, &ref, text);
        assert_int_equal(ref.offset + 16, runs_disk(r));
    }
    check_run(r, &a, "first");
    CHECK_STATUS("too long", runs_put(r, span_of("", (size_t)RUNS_BYTES_MAX + 1), &a), ST_LIMIT);
    runs_free(r);
}

static void files_rotate(void **state)
{
    (void)state;
    enum { RUN = 1 << 20, COUNT = 130 };
    struct runs *r = open_runs();
    struct run_ref refs[COUNT];
    char *data = mem_alloc(RUN);
    for (int i = 0; i < COUNT; i++) {
        memset(data, i, RUN);
        CHECK_STATUS("put", runs_put(r, span_of(data, RUN), &refs[i]), ST_OK);
    }
    assert_int_equal(file_count(), 3);
    for (int i = 0; i < 70; i++)
        runs_drop(r, &refs[i]);
    checkpoint(r);
    assert_int_equal(file_count(), 2);
    for (int i = 70; i < COUNT; i++) {
        struct buf got = {0};
        memset(data, i, RUN);
        CHECK_STATUS("get", runs_get(r, &refs[i], &got), ST_OK);
        CHECK("content", got.n == RUN && memcmp(got.p, data, RUN) == 0);
        buf_done(&got);
    }
    free(data);
    runs_free(r);
}

static void a_file_with_a_dropped_run_goes_when_the_others_are_put_again(void **state)
{
    (void)state;
    struct runs *r = open_runs();
    struct run_ref a = put(r, "stays"), b = put(r, "goes");
    checkpoint(r);
    assert_false(runs_has_dropped(r, &a));
    runs_rotate(r);
    runs_drop(r, &b);
    assert_true(runs_has_dropped(r, &a));
    struct run_ref again = put(r, "stays");
    runs_drop(r, &a);
    assert_int_not_equal(again.file, a.file);
    assert_false(runs_has_dropped(r, &again));
    checkpoint(r);
    assert_int_equal(file_count(), 1);
    check_run(r, &again, "stays");
    runs_free(r);
    r = open_runs();
    CHECK_STATUS("keep", runs_keep(r, &again), ST_OK);
    assert_false(runs_has_dropped(r, &again));
    runs_free(r);
}

static void a_file_in_place_of_the_folder_is_an_error(void **state)
{
    (void)state;
    char path[TEST_PATH];
    struct runs *r = NULL;
    test_path(path, "runs");
    CHECK_STATUS("file", file_replace(path, SPAN("")), ST_OK);
    CHECK_STATUS("open", runs_open(path, &r), ST_IO);
    assert_null(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(gives_back_what_was_put),
        TEST_IN_FOLDER(a_dropped_run_stays_until_the_checkpoint_after),
        TEST_IN_FOLDER(a_file_used_again_before_settling_stays),
        TEST_IN_FOLDER(after_a_restart_only_kept_runs_stay),
        TEST_IN_FOLDER(keeping_what_is_not_there_is_corrupt),
        TEST_IN_FOLDER(damage_is_found),
        TEST_IN_FOLDER(a_failed_put_can_be_repeated),
        TEST_IN_FOLDER(files_rotate),
        TEST_IN_FOLDER(a_file_with_a_dropped_run_goes_when_the_others_are_put_again),
        TEST_IN_FOLDER(a_file_in_place_of_the_folder_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
