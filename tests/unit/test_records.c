#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/rng.h"
#include "store/file.h"
#include "store/records.h"
#include "test_folder.h"

#define KIND 7u
#define GENERATION 0x1122334455667788u

/* What a reading yields, as text: "1:abc|2:|". */
static status note_record(void *arg, uint8_t type, struct span payload)
{
    buf_printf(arg, "%u:%.*s|", type, SPAN_ARG(payload));
    return ST_OK;
}

static void check_content(const char *label, const char *path, const char *want, bool torn)
{
    struct buf got = {0};
    struct records_info info;
    struct stat sb;
    CHECK_STATUS(label, records_read(path, KIND, note_record, &got, &info), ST_OK);
    CHECK_SPAN(label, buf_span(&got), span_str(want));
    CHECK(label, info.was_torn == torn);
    CHECK(label, info.generation == GENERATION);
    CHECK(label, stat(path, &sb) == 0 && info.file_bytes == (uint64_t)sb.st_size);
    CHECK(label, torn ? info.good_bytes < info.file_bytes : info.good_bytes == info.file_bytes);
    buf_done(&got);
}

static struct records_writer *create(const char *path, size_t buffer)
{
    struct records_writer *w = NULL;
    CHECK_STATUS("create", records_create(path, KIND, GENERATION, buffer, &w), ST_OK);
    return w;
}

static void reads_back_what_was_appended(void **state)
{
    (void)state;
    static const size_t buffers[] = {0, 1, 16, 4096};
    for (size_t i = 0; i < sizeof(buffers) / sizeof(*buffers); i++) {
        char path[TEST_PATH], name[16];
        snprintf(name, sizeof(name), "r%zu", i);
        test_path(path, name);
        struct records_writer *w = create(path, buffers[i]);
        check_content("nothing yet", path, "", false);
        CHECK_STATUS(name, records_append(w, 1, SPAN("abc")), ST_OK);
        CHECK_STATUS(name, records_append(w, 255, SPAN("")), ST_OK);
        CHECK_STATUS(name, records_append(w, 0, SPAN("a longer one than the others")), ST_OK);
        CHECK_STATUS(name, records_sync(w), ST_OK);
        check_content(name, path, "1:abc|255:|0:a longer one than the others|", false);
        struct stat sb;
        CHECK(name, stat(path, &sb) == 0 && (uint64_t)sb.st_size == records_bytes(w));
        records_close(w);
    }
    records_close(NULL);
}

static void unbuffered_records_are_in_the_file_at_once(void **state)
{
    (void)state;
    char path[TEST_PATH];
    test_path(path, "r");
    struct records_writer *w = create(path, 0);
    CHECK_STATUS("append", records_append(w, 1, SPAN("abc")), ST_OK);
    check_content("not flushed", path, "1:abc|", false);
    records_close(w);
}

static void buffered_records_wait_for_a_flush(void **state)
{
    (void)state;
    char path[TEST_PATH];
    test_path(path, "r");
    struct records_writer *w = create(path, 1000);
    CHECK_STATUS("append", records_append(w, 1, SPAN("abc")), ST_OK);
    check_content("before", path, "", false);
    CHECK_STATUS("flush", records_flush(w), ST_OK);
    check_content("after", path, "1:abc|", false);
    CHECK_STATUS("append", records_append(w, 2, SPAN("lost")), ST_OK);
    records_close(w);
    check_content("closed without", path, "1:abc|", false);
}

static void appends_several_records_in_one_write(void **state)
{
    (void)state;
    char path[TEST_PATH];
    struct buf framed = {0};
    test_path(path, "r");
    struct records_writer *w = create(path, 0);
    records_frame(&framed, 1, SPAN("one"));
    records_frame(&framed, 2, SPAN(""));
    records_frame(&framed, 3, SPAN("three"));
    CHECK_STATUS("append", records_append_framed(w, buf_span(&framed)), ST_OK);
    check_content("framed", path, "1:one|2:|3:three|", false);
    buf_done(&framed);
    records_close(w);
}

static void refuses_what_is_there_or_too_long(void **state)
{
    (void)state;
    char path[TEST_PATH];
    test_path(path, "r");
    struct records_writer *w = create(path, 0), *other = NULL;
    CHECK_STATUS("exists", records_create(path, KIND, 1, 0, &other), ST_EXISTS);
    char *big = mem_alloc(RECORDS_PAYLOAD_MAX + 1);
    CHECK_STATUS("too long", records_append(w, 1, span_of(big, RECORDS_PAYLOAD_MAX + 1)), ST_LIMIT);
    CHECK_STATUS("longest", records_append(w, 1, span_of(big, RECORDS_PAYLOAD_MAX)), ST_OK);
    free(big);
    struct buf got = {0};
    struct records_info info;
    CHECK_STATUS("read", records_read(path, KIND, note_record, &got, &info), ST_OK);
    assert_false(info.was_torn);
    buf_done(&got);
    records_close(w);
    CHECK_STATUS("no folder", records_create("/nonexistent/r", KIND, 1, 0, &other), ST_IO);
    assert_null(other);
}

/* The file of `good` bytes cut to `n`, with `flip` (if inside) inverted. */
static void write_variant(const char *path, struct span good, size_t n, size_t flip)
{
    char *copy = mem_str(good);
    if (flip < good.n)
        copy[flip] = (char)~copy[flip];
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, copy, n), (ssize_t)n);
    close(fd);
    free(copy);
}

static struct span three_records(const char *path, size_t *second_end)
{
    struct records_writer *w = create(path, 0);
    CHECK_STATUS("1", records_append(w, 1, SPAN("first")), ST_OK);
    CHECK_STATUS("2", records_append(w, 2, SPAN("second")), ST_OK);
    *second_end = records_bytes(w);
    CHECK_STATUS("3", records_append(w, 3, SPAN("the last one")), ST_OK);
    records_close(w);
    return test_read_file(path);
}

static void cuts_off_a_torn_last_record(void **state)
{
    (void)state;
    char path[TEST_PATH], label[64];
    size_t second_end;
    test_path(path, "r");
    struct span good = three_records(path, &second_end);
    for (size_t n = second_end; n <= good.n; n++) {
        snprintf(label, sizeof(label), "cut to %zu bytes", n);
        write_variant(path, good, n, SIZE_MAX);
        bool whole = n == second_end || n == good.n;
        check_content(label, path, n == good.n ? "1:first|2:second|3:the last one|" : "1:first|2:second|", !whole);
    }
    for (size_t at = second_end; at < good.n; at++) {
        snprintf(label, sizeof(label), "byte %zu flipped", at);
        write_variant(path, good, good.n, at);
        check_content(label, path, "1:first|2:second|", true);
    }
    free((char *)good.p);
}

static void a_bad_header_is_corrupt_and_a_short_one_torn(void **state)
{
    (void)state;
    char path[TEST_PATH], label[64];
    size_t second_end;
    struct buf got = {0};
    test_path(path, "r");
    struct span good = three_records(path, &second_end);
    for (size_t n = 0; n < 24; n++) {
        struct records_info info = {.was_torn = false};
        snprintf(label, sizeof(label), "cut to %zu bytes", n);
        write_variant(path, good, n, SIZE_MAX);
        CHECK_STATUS(label, records_read(path, KIND, note_record, &got, &info), ST_OK);
        CHECK(label, info.was_torn && info.good_bytes == 0 && info.file_bytes == n && info.generation == 0);
        snprintf(label, sizeof(label), "byte %zu flipped", n);
        write_variant(path, good, good.n, n);
        CHECK_STATUS(label, records_read(path, KIND, note_record, &got, NULL), ST_CORRUPT);
    }
    write_variant(path, good, good.n, SIZE_MAX);
    CHECK_STATUS("other kind", records_read(path, KIND + 1, note_record, &got, NULL), ST_CORRUPT);
    int fd = open(path, O_WRONLY);
    assert_int_equal(pwrite(fd, "2", 1, 6), 1);
    close(fd);
    CHECK_STATUS("version 2", records_read(path, KIND, note_record, &got, NULL), ST_NEWER);
    CHECK_STATUS("missing", records_read("/nonexistent", KIND, note_record, &got, NULL), ST_NOT_FOUND);
    CHECK_STATUS("a folder", records_read(test_folder(), KIND, note_record, &got, NULL), ST_IO);
    assert_int_equal(got.n, 0);
    buf_done(&got);
    free((char *)good.p);
}

static status stop_at_two(void *arg, uint8_t type, struct span payload)
{
    (*(int *)arg)++;
    return type == 2 ? ST_END : ST_OK;
}

static void stops_when_the_caller_says_so(void **state)
{
    (void)state;
    char path[TEST_PATH];
    size_t second_end;
    int calls = 0;
    test_path(path, "r");
    struct span good = three_records(path, &second_end);
    CHECK_STATUS("stop", records_read(path, KIND, stop_at_two, &calls, NULL), ST_END);
    assert_int_equal(calls, 2);
    free((char *)good.p);
}

/* Appends, and notes in `want` what was accepted. */
static bool try_append(struct records_writer *w, uint8_t type, const char *text, struct buf *want)
{
    if (records_append(w, type, span_str(text)) != ST_OK)
        return false;
    buf_printf(want, "%u:%s|", type, text);
    return true;
}

static void fail_and_repeat(const char *label, const char *path, size_t buffer, uint64_t after)
{
    static const char *const texts[] = {"one", "the second record", "the third record"};
    struct buf want = {0}, got = {0};
    bool accepted[3];
    struct records_info info;
    struct records_writer *w = create(path, buffer);
    file_inject_fault(after, ENOSPC);
    for (uint8_t i = 0; i < 3; i++)
        accepted[i] = try_append(w, i, texts[i], &want);
    CHECK(label, records_flush(w) == ST_OK || buffer);
    file_inject_fault(0, 0);
    CHECK_STATUS(label, records_read(path, KIND, note_record, &got, &info), ST_OK);
    CHECK(label, !info.was_torn && span_starts(buf_span(&want), buf_span(&got)));
    CHECK(label, buffer || got.n == want.n);
    for (uint8_t i = 0; i < 3; i++)
        CHECK(label, accepted[i] || try_append(w, i, texts[i], &want));
    CHECK_STATUS(label, records_sync(w), ST_OK);
    check_content(label, path, buf_cstr(&want), false);
    records_close(w);
    unlink(path);
    buf_done(&want);
    buf_done(&got);
}

static void a_failed_append_leaves_no_trace(void **state)
{
    (void)state;
    static const size_t buffers[] = {0, 20, 40, 1000};
    char path[TEST_PATH], label[64];
    test_path(path, "r");
    for (size_t k = 0; k < sizeof(buffers) / sizeof(*buffers); k++)
        for (unsigned after = 0; after < 66; after++) {
            snprintf(label, sizeof(label), "buffer %zu, full after %u bytes", buffers[k], after);
            fail_and_repeat(label, path, buffers[k], after);
        }
    struct records_writer *w = NULL;
    file_inject_fault(10, EIO);
    CHECK_STATUS("header", records_create(path, KIND, 1, 0, &w), ST_IO);
    file_inject_fault(0, 0);
    CHECK("nothing left", access(path, F_OK) != 0);
}

static void *sync_often(void *arg)
{
    for (int i = 0; i < 20; i++)
        if (records_sync(arg) != ST_OK)
            return arg;
    return NULL;
}

static void another_thread_may_sync_an_unbuffered_file(void **state)
{
    (void)state;
    char path[TEST_PATH];
    test_path(path, "r");
    struct records_writer *w = create(path, 0);
    pthread_t thread;
    pthread_create(&thread, NULL, sync_often, w);
    for (int i = 0; i < 2000; i++)
        CHECK_STATUS("append", records_append(w, 1, SPAN("abc")), ST_OK);
    void *failed;
    pthread_join(thread, &failed);
    assert_null(failed);
    records_close(w);
}

static status add_up(void *arg, uint8_t type, struct span payload)
{
    uint64_t *sums = arg;
    sums[0]++;
    sums[1] += payload.n;
    for (size_t i = 0; i < payload.n; i++)
        sums[2] += (unsigned char)payload.p[i] * (i + type);
    return ST_OK;
}

static void random_records_survive(void **state)
{
    (void)state;
    char path[TEST_PATH];
    struct rng r;
    uint64_t want[3] = {0}, got[3] = {0};
    char *payload = mem_alloc(300000);
    test_path(path, "r");
    rng_seed(&r, 5);
    struct records_writer *w = create(path, 100000);
    for (int i = 0; i < 300; i++) {
        size_t n = rng_below(&r, 1u << rng_below(&r, 19));
        for (size_t k = 0; k < n; k++)
            payload[k] = (char)rng_u64(&r);
        uint8_t type = (uint8_t)rng_u64(&r);
        add_up(want, type, span_of(payload, n));
        CHECK_STATUS("append", records_append(w, type, span_of(payload, n)), ST_OK);
    }
    CHECK_STATUS("flush", records_flush(w), ST_OK);
    records_close(w);
    CHECK_STATUS("read", records_read(path, KIND, add_up, got, NULL), ST_OK);
    assert_memory_equal(got, want, sizeof(got));
    free(payload);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(reads_back_what_was_appended),
        TEST_IN_FOLDER(unbuffered_records_are_in_the_file_at_once),
        TEST_IN_FOLDER(buffered_records_wait_for_a_flush),
        TEST_IN_FOLDER(appends_several_records_in_one_write),
        TEST_IN_FOLDER(refuses_what_is_there_or_too_long),
        TEST_IN_FOLDER(cuts_off_a_torn_last_record),
        TEST_IN_FOLDER(a_bad_header_is_corrupt_and_a_short_one_torn),
        TEST_IN_FOLDER(stops_when_the_caller_says_so),
        TEST_IN_FOLDER(a_failed_append_leaves_no_trace),
        TEST_IN_FOLDER(another_thread_may_sync_an_unbuffered_file),
        TEST_IN_FOLDER(random_records_survive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
