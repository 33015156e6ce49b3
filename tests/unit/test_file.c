#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "store/file.h"
#include "test_folder.h"

static void makes_folders_with_parents(void **state)
{
    (void)state;
    char path[TEST_PATH];
    test_path(path, "a/b//c/");
    CHECK_STATUS("new", file_mkdir(path), ST_OK);
    CHECK_STATUS("again", file_mkdir(path), ST_OK);
    struct stat sb;
    assert_int_equal(stat(path, &sb), 0);
    assert_true(S_ISDIR(sb.st_mode));
}

static void says_so_when_a_file_is_in_the_way(void **state)
{
    (void)state;
    char path[TEST_PATH];
    test_path(path, "file");
    CHECK_STATUS("file", file_replace(path, SPAN("x")), ST_OK);
    CHECK_STATUS("itself", file_mkdir(path), ST_IO);
    assert_int_equal(errno, ENOTDIR);
    test_path(path, "file/below");
    CHECK_STATUS("below", file_mkdir(path), ST_IO);
    assert_int_equal(errno, ENOTDIR);
}

static void reads_up_to_the_ceiling(void **state)
{
    (void)state;
    char path[TEST_PATH];
    struct buf b = {0};
    test_path(path, "f");
    CHECK_STATUS("missing", file_read(path, 10, &b), ST_NOT_FOUND);
    CHECK_STATUS("write", file_replace(path, SPAN("0123456789")), ST_OK);
    buf_puts(&b, ">");
    CHECK_STATUS("one too few", file_read(path, 9, &b), ST_LIMIT);
    CHECK_SPAN("untouched", buf_span(&b), SPAN(">"));
    CHECK_STATUS("just fits", file_read(path, 10, &b), ST_OK);
    CHECK_SPAN("appended", buf_span(&b), SPAN(">0123456789"));
    CHECK_STATUS("a folder", file_read(test_folder(), 10, &b), ST_IO);
    buf_done(&b);
}

static void replaces_all_or_nothing(void **state)
{
    (void)state;
    static const struct {
        const char *label;
        uint64_t after;
        int err;
        status want;
    } cases[] = {
        {"disk full at once", 0, ENOSPC, ST_FULL},
        {"disk full in the middle", 3, ENOSPC, ST_FULL},
        {"quota", 3, EDQUOT, ST_FULL},
        {"disk fails", 3, EIO, ST_IO},
        {"read-only", 0, EROFS, ST_IO},
        {"just enough", 9, ENOSPC, ST_OK},
    };
    char path[TEST_PATH], temp[TEST_PATH];
    test_path(path, "f");
    test_path(temp, "f.tmp");
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct buf b = {0};
        CHECK_STATUS(cases[i].label, file_replace(path, SPAN("old")), ST_OK);
        file_inject_fault(cases[i].after, cases[i].err);
        CHECK_STATUS(cases[i].label, file_replace(path, SPAN("new value")), cases[i].want);
        file_inject_fault(0, 0);
        CHECK_STATUS(cases[i].label, file_read(path, 100, &b), ST_OK);
        CHECK_SPAN(cases[i].label, buf_span(&b), cases[i].want == ST_OK ? SPAN("new value") : SPAN("old"));
        CHECK(cases[i].label, access(temp, F_OK) != 0);
        buf_done(&b);
    }
}

static void writes_what_fits_before_a_fault(void **state)
{
    (void)state;
    char path[TEST_PATH];
    test_path(path, "f");
    int fd = open(path, O_RDWR | O_CREAT, 0666);
    file_inject_fault(5, ENOSPC);
    CHECK_STATUS("first", file_write_all(fd, SPAN("abc")), ST_OK);
    CHECK_STATUS("second", file_write_all(fd, SPAN("defg")), ST_FULL);
    assert_int_equal(errno, ENOSPC);
    CHECK_STATUS("third", file_write_all(fd, SPAN("h")), ST_FULL);
    CHECK_STATUS("nothing to write", file_write_all(fd, SPAN("")), ST_OK);
    file_inject_fault(0, 0);
    assert_int_equal(lseek(fd, 0, SEEK_END), 5);
    CHECK_STATUS("sync", file_sync(fd), ST_OK);
    close(fd);
    CHECK_STATUS("no such folder", file_sync_dir(path), ST_IO);
}

static void takes_a_fault_from_the_environment(void **state)
{
    (void)state;
    static const struct {
        const char *value;
        status want;
    } cases[] = {{"2:ENOSPC", ST_FULL}, {"2:EIO", ST_IO}, {"2:EROFS", ST_IO}, {"100:ENOSPC", ST_OK},
                 {"ENOSPC", ST_OK},     {"2:", ST_OK},    {"-1:EIO", ST_OK},  {"", ST_OK}};
    char path[TEST_PATH];
    test_path(path, "f");
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        /* It is read once a process, so the program itself is started again: see main. */
        char command[3 * TEST_PATH];
        char self[TEST_PATH];
        ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
        assert_true(n > 0);
        self[n] = '\0';
        snprintf(command, sizeof(command), "ORB_TEST_WRITE_FAULT='%s' '%s' --write '%s'", cases[i].value, self, path);
        int rc = system(command);
        CHECK_STATUS(cases[i].value, (status)WEXITSTATUS(rc), cases[i].want);
    }
}

static void locks_out_others_and_names_the_holder(void **state)
{
    (void)state;
    char path[TEST_PATH];
    int fd = -1, other = -1;
    long pid = 0;
    test_path(path, "lock");
    CHECK_STATUS("first", file_lock(path, &fd, NULL), ST_OK);
    CHECK_STATUS("second", file_lock(path, &other, &pid), ST_BUSY);
    assert_int_equal(pid, getpid());
    assert_int_equal(other, -1);
    CHECK_STATUS("who is not asked for", file_lock(path, &other, NULL), ST_BUSY);
    close(fd);
    CHECK_STATUS("after release", file_lock(path, &fd, &pid), ST_OK);
    close(fd);
    CHECK_STATUS("no folder", file_lock("/nonexistent/lock", &fd, &pid), ST_IO);
}

static void a_lock_ends_with_its_process(void **state)
{
    (void)state;
    char path[TEST_PATH];
    int ready[2], fd = -1;
    long pid = 0;
    test_path(path, "lock");
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        char c = file_lock(path, &fd, NULL) == ST_OK ? 'y' : 'n';
        if (write(ready[1], &c, 1) == 1)
            pause();
        _exit(1);
    }
    char c = 0;
    assert_int_equal(read(ready[0], &c, 1), 1);
    assert_int_equal(c, 'y');
    CHECK_STATUS("held", file_lock(path, &fd, &pid), ST_BUSY);
    assert_int_equal(pid, child);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    CHECK_STATUS("killed", file_lock(path, &fd, &pid), ST_OK);
    close(fd);
    close(ready[0]);
    close(ready[1]);
}

static void maps_files(void **state)
{
    (void)state;
    char path[TEST_PATH];
    struct mapped *m = NULL;
    test_path(path, "f");
    CHECK_STATUS("missing", mapped_open(path, &m), ST_NOT_FOUND);
    CHECK_STATUS("a folder", mapped_open(test_folder(), &m), ST_IO);
    assert_null(m);
    CHECK_STATUS("empty", file_replace(path, SPAN("")), ST_OK);
    CHECK_STATUS("empty", mapped_open(path, &m), ST_OK);
    assert_int_equal(mapped_span(m).n, 0);
    mapped_free(m);
    CHECK_STATUS("some", file_replace(path, SPAN("some")), ST_OK);
    CHECK_STATUS("some", mapped_open(path, &m), ST_OK);
    CHECK_SPAN("some", mapped_span(m), SPAN("some"));
    mapped_free(m);
    mapped_free(NULL);
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--write") == 0)
        return (int)file_replace(argv[2], SPAN("four"));
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(makes_folders_with_parents),
        TEST_IN_FOLDER(says_so_when_a_file_is_in_the_way),
        TEST_IN_FOLDER(reads_up_to_the_ceiling),
        TEST_IN_FOLDER(replaces_all_or_nothing),
        TEST_IN_FOLDER(writes_what_fits_before_a_fault),
        TEST_IN_FOLDER(takes_a_fault_from_the_environment),
        TEST_IN_FOLDER(locks_out_others_and_names_the_holder),
        TEST_IN_FOLDER(a_lock_ends_with_its_process),
        TEST_IN_FOLDER(maps_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
