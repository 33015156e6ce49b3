/* test_store_open.c - opening a folder: who has it, what is wrong with it, versions and migrations. */
#include "store_pages.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/file.h"

static void check_open(const char *label, const char *path, store_mode mode, status want, const char *phrase)
{
    struct store *s = NULL;
    struct buf why = {0};
    CHECK_STATUS(label, store_open(path, mode, &s, &why), want);
    CHECK(label, s == NULL);
    if (!strstr(buf_cstr(&why), phrase))
        fail_msg("%s: \"%s\" lacks \"%s\"", label, why.p, phrase);
    CHECK_STATUS(label, store_open(path, mode, &s, NULL), want);
    buf_done(&why);
}

static void a_second_writer_is_told_who_has_it(void **state)
{
    (void)state;
    char path[TEST_PATH], phrase[64];
    data_path(path);
    struct store *s = open_store(STORE_WRITE);
    snprintf(phrase, sizeof(phrase), "in use by process %ld", (long)getpid());
    check_open("second", path, STORE_WRITE, ST_BUSY, phrase);
    store_free(s);
    store_free(open_store(STORE_WRITE));
}

static void bad_folders_are_explained(void **state)
{
    (void)state;
    char path[TEST_PATH], db[TEST_PATH];
    data_path(path);
    check_open("no folder", path, STORE_READ, ST_NOT_FOUND, "no data folder");
    CHECK_STATUS("mkdir", file_mkdir(path), ST_OK);
    check_open("empty folder", path, STORE_READ, ST_NOT_FOUND, "no data folder");
    test_path(db, "data/orb.db");
    CHECK_STATUS("empty file", file_replace(db, SPAN("")), ST_OK);
    check_open("empty file", path, STORE_READ, ST_NOT_FOUND, "no data folder");
    char junk[8192];
    memset(junk, 'x', sizeof(junk));
    CHECK_STATUS("junk", file_replace(db, span_of(junk, sizeof(junk))), ST_OK);
    check_open("junk", path, STORE_READ, ST_CORRUPT, "not a database");
    check_open("junk", path, STORE_WRITE, ST_CORRUPT, "not a database");
    unlink(db);
    run_sql(db, "CREATE TABLE other (x)");
    check_open("other program", path, STORE_READ, ST_CORRUPT, "another program");
    check_open("other program", path, STORE_WRITE, ST_CORRUPT, "another program");
    test_path(path, "file");
    CHECK_STATUS("file", file_replace(path, SPAN("x")), ST_OK);
    check_open("a file", path, STORE_READ, ST_IO, "Not a directory");
    check_open("a file", path, STORE_WRITE, ST_IO, "Not a directory");
    check_open("below a file", "/dev/null/x", STORE_WRITE, ST_IO, "Not a directory");
}

static void versions_are_checked(void **state)
{
    (void)state;
    char path[TEST_PATH], db[TEST_PATH];
    data_path(path);
    test_path(db, "data/orb.db");
    store_free(open_store(STORE_WRITE));
    run_sql(db, "PRAGMA user_version = 6");
    check_open("newer", path, STORE_READ, ST_NEWER, "newer");
    check_open("newer", path, STORE_WRITE, ST_NEWER, "newer");
    run_sql(db, "PRAGMA user_version = 4");
    check_open("older", path, STORE_READ, ST_UNSUPPORTED, "older");
    run_sql(db, "PRAGMA user_version = 5");
    store_free(open_store(STORE_READ));
    run_sql(db, "DELETE FROM setting");
    check_open("no key", path, STORE_READ, ST_CORRUPT, "damaged");
    run_sql(db, "INSERT INTO setting VALUES ('hash_key', x'0102')");
    check_open("short key", path, STORE_WRITE, ST_CORRUPT, "damaged");
}

static void damage_is_corrupt(void **state)
{
    (void)state;
    struct store *s = open_store(STORE_WRITE);
    for (uint64_t i = 1; i <= 500; i++) {
        struct page p = good_page(i, i, 1);
        visit(s, "visit", &p);
    }
    store_free(s);
    char db[TEST_PATH];
    test_path(db, "data/orb.db");
    struct span good = test_read_file(db);
    char *bad = mem_str(good);
    memset(bad + 4096, 0x5a, good.n - 4096);
    CHECK_STATUS("write", file_replace(db, span_of(bad, good.n)), ST_OK);
    data_path(db);
    check_open("all but the first page", db, STORE_WRITE, ST_CORRUPT, "damaged");
    check_open("all but the first page", db, STORE_READ, ST_CORRUPT, "damaged");
    free(bad);
    free((char *)good.p);
}

static const struct store_migration two_steps[] = {
    {"CREATE TABLE thing (name TEXT); INSERT INTO thing VALUES ('old')"},
    {"ALTER TABLE thing ADD COLUMN size INTEGER; UPDATE thing SET size = length(name)"},
};
static const struct store_migration failing_step[] = {
    {"CREATE TABLE thing (name TEXT); INSERT INTO thing VALUES ('old')"},
    {"ALTER TABLE thing ADD COLUMN size INTEGER; UPDATE nothing SET size = 1"},
};
static const struct store_migration deadly_step[] = {
    {"CREATE TABLE thing (name TEXT); INSERT INTO thing VALUES ('old')"},
    {"ALTER TABLE thing ADD COLUMN size INTEGER; UPDATE thing SET size = die()"},
};

static int64_t number_of(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *st = NULL;
    int64_t n = -1;
    if (sqlite3_prepare_v2(db, sql, -1, &st, NULL) == SQLITE_OK && sqlite3_step(st) == SQLITE_ROW)
        n = sqlite3_column_int64(st, 0);
    sqlite3_finalize(st);
    return n;
}

static void die(sqlite3_context *context, int n, sqlite3_value **values)
{
    kill(getpid(), SIGKILL);
}

static sqlite3 *open_old(const char *path)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    sqlite3_exec(db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
    return db;
}

static void migrations_run_in_order_and_once(void **state)
{
    (void)state;
    char path[TEST_PATH];
    test_path(path, "old.db");
    sqlite3 *db = open_old(path);
    CHECK_STATUS("to 1", store_db_migrate(db, two_steps, 1), ST_OK);
    assert_int_equal(number_of(db, "PRAGMA user_version"), 1);
    CHECK_STATUS("to 2", store_db_migrate(db, two_steps, 2), ST_OK);
    assert_int_equal(number_of(db, "SELECT size FROM thing"), 3);
    CHECK_STATUS("again", store_db_migrate(db, two_steps, 2), ST_OK);
    CHECK_STATUS("newer", store_db_migrate(db, two_steps, 1), ST_NEWER);
    assert_int_equal(number_of(db, "PRAGMA user_version"), 2);
    sqlite3_close(db);
}

static void a_failed_or_killed_migration_leaves_the_old_version(void **state)
{
    (void)state;
    char path[TEST_PATH];
    test_path(path, "old.db");
    sqlite3 *db = open_old(path);
    assert_int_not_equal(store_db_migrate(db, failing_step, 2), ST_OK);
    assert_int_equal(number_of(db, "PRAGMA user_version"), 1);
    assert_int_equal(number_of(db, "SELECT size FROM thing"), -1);
    sqlite3_close(db);
    pid_t child = fork();
    if (child == 0) {
        db = open_old(path);
        sqlite3_create_function(db, "die", 0, SQLITE_UTF8, NULL, die, NULL, NULL);
        _exit(store_db_migrate(db, deadly_step, 2) == ST_OK ? 0 : 1);
    }
    int how = 0;
    waitpid(child, &how, 0);
    assert_true(WIFSIGNALED(how));
    db = open_old(path);
    assert_int_equal(number_of(db, "PRAGMA user_version"), 1);
    CHECK_STATUS("after the kill", store_db_migrate(db, two_steps, 2), ST_OK);
    assert_int_equal(number_of(db, "SELECT size FROM thing"), 3);
    sqlite3_close(db);
}

/* In a child with its own view of the file system, where the folder is mounted read-only. Exit code 99: not allowed
 * here. */
static int read_on_read_only_mount(const char *path, bool damaged)
{
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount(path, path, NULL, MS_BIND, NULL) != 0 ||
        mount(NULL, path, NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL) != 0)
        return 99;
    struct store *s = NULL;
    struct buf why = {0}, page = {0};
    status st = store_open(path, STORE_READ, &s, &why);
    if (damaged)
        return st == ST_IO && strstr(buf_cstr(&why), "writable") ? 0 : 1;
    if (st != ST_OK || store_page_get(s, 1, show_page, &page) != ST_OK)
        return 2;
    store_free(s);
    s = NULL;
    buf_clear(&why);
    st = store_open(path, STORE_WRITE, &s, &why);
    return st == ST_IO && strstr(buf_cstr(&why), "Read-only") ? 0 : 3;
}

static void reads_from_a_read_only_file_system(void **state)
{
    (void)state;
    for (int damaged = 0; damaged < 2; damaged++) {
        char path[TEST_PATH];
        data_path(path);
        struct store *s = open_store(STORE_WRITE);
        struct page p = good_page(1, 1, 1);
        visit(s, "visit", &p);
        store_free(s);
        if (damaged) {
            char wal[TEST_PATH];
            test_path(wal, "data/orb.db-wal");
            CHECK_STATUS("wal", file_replace(wal, SPAN("left by a kill")), ST_OK);
        }
        pid_t child = fork();
        if (child == 0)
            _exit(read_on_read_only_mount(path, damaged));
        int how = 0;
        waitpid(child, &how, 0);
        assert_true(WIFEXITED(how));
        if (WEXITSTATUS(how) == 99)
            skip();
        CHECK(damaged ? "not closed properly" : "closed", WEXITSTATUS(how) == 0);
    }
}

static void unreadable_folders_are_explained(void **state)
{
    (void)state;
    char path[TEST_PATH];
    data_path(path);
    store_free(open_store(STORE_WRITE));
    pid_t child = fork();
    if (child == 0) {
        struct store *s = NULL;
        struct buf why = {0};
        if (chmod(path, 0700) != 0 || (geteuid() == 0 && setuid(65534) != 0))
            _exit(99);
        if (geteuid() != 0 && getuid() != 65534 && chmod(path, 0) != 0)
            _exit(99);
        status st = store_open(path, STORE_READ, &s, &why);
        _exit(st == ST_IO && strstr(buf_cstr(&why), "Permission denied") ? 0 : 1);
    }
    int how = 0;
    waitpid(child, &how, 0);
    chmod(path, 0700);
    if (WEXITSTATUS(how) == 99)
        skip();
    assert_int_equal(WEXITSTATUS(how), 0);
}

static void odd_folder_names_work(void **state)
{
    (void)state;
    char path[TEST_PATH], db[TEST_PATH];
    struct store *s = NULL;
    test_path(path, "a?b#c%41 d\xc3\xa9/e");
    CHECK_STATUS("open", store_open(path, STORE_WRITE, &s, NULL), ST_OK);
    test_path(db, "a?b#c%41 d\xc3\xa9/e/orb.db");
    assert_int_equal(access(db, F_OK), 0);
    store_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(a_second_writer_is_told_who_has_it),
        TEST_IN_FOLDER(bad_folders_are_explained),
        TEST_IN_FOLDER(versions_are_checked),
        TEST_IN_FOLDER(damage_is_corrupt),
        TEST_IN_FOLDER(migrations_run_in_order_and_once),
        TEST_IN_FOLDER(a_failed_or_killed_migration_leaves_the_old_version),
        TEST_IN_FOLDER(reads_from_a_read_only_file_system),
        TEST_IN_FOLDER(unreadable_folders_are_explained),
        TEST_IN_FOLDER(odd_folder_names_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
