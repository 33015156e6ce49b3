/* A folder comes back from its backup as it was, also when somebody wrote to it meanwhile; a backup that is damaged or
 * hostile makes nothing. */
#include "test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "base/rng.h"
#include "codec/tar.h"
#include "codec/zip.h"
#include "codec/zip_stream.h"
#include "store/backup.h"
#include "store/contents.h"
#include "store/file.h"
#include "store/fleet.h"
#include "store/snapshot.h"
#include "store/store.h"
#include "store/warc_files.h"
#include "test_folder.h"

static void make_folder(const char *dir)
{
    struct store *s = NULL;
    char path[TEST_PATH * 2];
    CHECK_STATUS("store", store_open(dir, STORE_WRITE, &s, NULL), ST_OK);
    CHECK_STATUS("setting", store_setting_put(s, "colour", SPAN("blue")), ST_OK);
    store_free(s);
    static const char *const folders[] = {"contents", "index", "seen", "coord"};
    for (size_t i = 0; i < 4; i++) {
        snprintf(path, sizeof(path), "%s/%s", dir, folders[i]);
        CHECK_STATUS("mkdir", file_mkdir(path), ST_OK);
        snprintf(path, sizeof(path), "%s/%s/file%zu", dir, folders[i], i);
        CHECK_STATUS("file", i == 3 ? file_replace_secret(path, SPAN("secret")) : file_replace(path, SPAN("text")),
                     ST_OK);
    }
    static const char *const left_out[] = {"lock", "coord/admin.token", "orb.db-journal"};
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof(path), "%s/%s", dir, left_out[i]);
        CHECK_STATUS("file", file_replace(path, SPAN("")), ST_OK);
    }
}

static status back_up(const char *dir, const char *file, bool no_index)
{
    struct buf snapshot = {0}, why = {0};
    struct backup_report r = {0};
    struct snapshot_opts o = {.data_dir = dir, .no_index = no_index};
    status st = snapshot_make(&o, &snapshot, &why);
    if (st == ST_OK) {
        st = backup_write(buf_cstr(&snapshot), SPAN("{\"orb_backup\":1}\n"), file, NULL, NULL, &r);
        snapshot_remove(snapshot.p);
        backup_report_done(&r);
    }
    buf_done(&snapshot);
    buf_done(&why);
    return st;
}

static status verify(const char *file)
{
    struct backup_report r;
    status st = backup_verify(file, NULL, NULL, &r);
    if (st != ST_OK && st != ST_NOT_FOUND && !r.problem.n)
        fail_msg("nothing is said about what is wrong");
    backup_report_done(&r);
    return st;
}

static status restore(const char *file, const char *dir)
{
    struct backup_report r;
    status st = backup_restore(file, dir, NULL, NULL, &r);
    backup_report_done(&r);
    return st;
}

static bool is_there(const char *dir, const char *name)
{
    char path[TEST_PATH * 2];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    return access(path, F_OK) == 0;
}

static void comes_back_as_it_was(void **state)
{
    (void)state;
    char dir[TEST_PATH], file[TEST_PATH], to[TEST_PATH], path[TEST_PATH * 2];
    struct stat sb;
    test_path(dir, "data");
    test_path(file, "backup.tar.zst");
    test_path(to, "again");
    make_folder(dir);
    snprintf(path, sizeof(path), "%s/contents/file0", dir);
    assert_int_equal(utimensat(AT_FDCWD, path, (struct timespec[]){{5000, 0}, {5000, 0}}, 0), 0);
    CHECK_STATUS("back up", back_up(dir, file, false), ST_OK);
    assert_int_equal(stat(file, &sb), 0);
    assert_int_equal(sb.st_mode & 0777, 0600);
    CHECK_STATUS("verify", verify(file), ST_OK);
    assert_int_equal(mkdir(to, 0700), 0); /* an empty one is fine */
    CHECK_STATUS("restore", restore(file, to), ST_OK);
    assert_true(is_there(to, "contents/file0") && is_there(to, "index/file1") && is_there(to, "seen/file2"));
    assert_false(is_there(to, "lock") || is_there(to, "coord/admin.token") || is_there(to, "orb-backup.json"));
    snprintf(path, sizeof(path), "%s/contents/file0", to);
    assert_int_equal(stat(path, &sb), 0);
    assert_int_equal(sb.st_mtim.tv_sec, 5000);
    snprintf(path, sizeof(path), "%s/coord/file3", to);
    assert_int_equal(stat(path, &sb), 0);
    assert_int_equal(sb.st_mode & 0777, 0600);
    struct store *s = NULL;
    struct buf value = {0};
    CHECK_STATUS("open", store_open(to, STORE_READ, &s, NULL), ST_OK);
    CHECK_STATUS("setting", store_setting_get(s, "colour", &value), ST_OK);
    CHECK_SPAN("setting", buf_span(&value), SPAN("blue"));
    store_free(s);
    buf_done(&value);
    CHECK_STATUS("over something", restore(file, to), ST_EXISTS);
    CHECK_STATUS("without the index", back_up(dir, file, true), ST_OK);
    test_path(to, "third");
    CHECK_STATUS("restore", restore(file, to), ST_OK);
    assert_false(is_there(to, "index"));
    assert_int_equal(snapshot_sweep(dir, false), 0);
}

/* ---- beside a writer ---- */

struct writing {
    struct store *store;
    atomic_bool is_stopping;
    atomic_uint rounds;
};

/* Two settings that are changed together: a copy of one moment has them equal. */
static void *write_on(void *arg)
{
    struct writing *w = arg;
    for (unsigned i = 1; !atomic_load(&w->is_stopping); i++) {
        char text[16];
        snprintf(text, sizeof(text), "%u", i);
        if (store_begin(w->store) != ST_OK || store_setting_put(w->store, "left", span_str(text)) != ST_OK ||
            store_setting_put(w->store, "right", span_str(text)) != ST_OK || store_commit(w->store) != ST_OK)
            break;
        atomic_store(&w->rounds, i);
    }
    return NULL;
}

static void a_copy_is_of_one_moment(void **state)
{
    (void)state;
    char dir[TEST_PATH], file[TEST_PATH];
    struct writing w = {0};
    pthread_t thread;
    test_path(dir, "data");
    test_path(file, "backup");
    make_folder(dir);
    CHECK_STATUS("store", store_open(dir, STORE_WRITE, &w.store, NULL), ST_OK);
    assert_int_equal(pthread_create(&thread, NULL, write_on, &w), 0);
    for (unsigned i = 0; i < 5; i++) {
        char name[16], to[TEST_PATH];
        unsigned before = atomic_load(&w.rounds);
        struct store *s = NULL;
        struct buf left = {0}, right = {0};
        while (atomic_load(&w.rounds) == before)
            usleep(1000);
        CHECK_STATUS("back up", back_up(dir, file, false), ST_OK);
        snprintf(name, sizeof(name), "again%u", i);
        test_path(to, name);
        CHECK_STATUS("restore", restore(file, to), ST_OK);
        CHECK_STATUS("open", store_open(to, STORE_WRITE, &s, NULL), ST_OK);
        CHECK_STATUS("left", store_setting_get(s, "left", &left), ST_OK);
        CHECK_STATUS("right", store_setting_get(s, "right", &right), ST_OK);
        CHECK_SPAN("of one moment", buf_span(&left), buf_span(&right));
        store_free(s);
        buf_done(&left);
        buf_done(&right);
    }
    atomic_store(&w.is_stopping, true);
    pthread_join(thread, NULL);
    store_free(w.store);
}

/* ---- bad ones ---- */

#define ROUNDS 15

static wall_ms wall_now(void)
{
    return 1700000000000;
}

static void draw(void *self, void *to, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ((unsigned char *)to)[i] = (unsigned char)rng_u64(self);
}

static struct warc_files *open_warc(const char *dir, struct rng *rng)
{
    char path[TEST_PATH * 2];
    struct buf why = {0};
    struct warc_files *f = NULL;
    snprintf(path, sizeof(path), "%s/warc", dir);
    struct warc_files_opts o = {.dir = path,
                                .kind = MEMBER_GZIP,
                                .bytes_max = 1500,
                                .is_marked = true,
                                .info = {.software = SPAN("orb"), .hostname = SPAN("box")},
                                .wall = wall_now,
                                .draw = draw,
                                .draw_self = rng};
    CHECK_STATUS("warc", warc_files_open(&o, &f, &why), ST_OK);
    buf_done(&why);
    return f;
}

/* Packages, one record each, and a new file every few of them. */
static void *archive_on(void *arg)
{
    struct writing *w = arg;
    struct rng rng;
    struct buf out = {0};
    char dir[TEST_PATH];
    test_path(dir, "data");
    rng_seed(&rng, 5);
    struct warc_files *f = open_warc(dir, &rng);
    struct warc_writer *writer = warc_writer_new(MEMBER_GZIP, draw, &rng);
    for (unsigned i = 1; !atomic_load(&w->is_stopping); i++) {
        char url[64], tag[32];
        snprintf(url, sizeof(url), "http://a.example/%06u", i);
        snprintf(tag, sizeof(tag), "1:%u", i);
        struct warc_capture c = {.url = span_str(url), .at = 1, .head = SPAN("HTTP/1.1 200 OK\r\n\r\n")};
        struct digest160 payload = warc_payload_digest(&c);
        buf_clear(&out);
        warc_put_capture(writer, &c, &payload, NULL, &out);
        if (warc_files_append_once(f, buf_span(&out), NULL, 0, span_str(tag)) != ST_OK)
            break;
        atomic_store(&w->rounds, i);
        usleep(2000);
    }
    warc_files_close(f);
    warc_writer_free(writer);
    buf_done(&out);
    return NULL;
}

/* Up to which package everything is in the files. */
static unsigned packages_in(const char *dir)
{
    char path[TEST_PATH * 4];
    struct buf text = {0};
    unsigned n = 0;
    snprintf(path, sizeof(path), "%s/warc", dir);
    DIR *d = opendir(path);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        if (!span_ends(span_str(e->d_name), SPAN(".warc.gz")))
            continue;
        snprintf(path, sizeof(path), "%s/warc/%s", dir, e->d_name);
        struct span zipped = test_read_file(path);
        CHECK_STATUS(e->d_name, unzip_gzip(zipped, 1u << 26, &text), ST_OK);
        free((char *)zipped.p);
    }
    closedir(d);
    for (;; n++) {
        char url[64];
        snprintf(url, sizeof(url), "http://a.example/%06u", n + 1);
        if (span_search(buf_span(&text), span_str(url), false) == text.n)
            break;
    }
    buf_done(&text);
    return n;
}

static void no_warc_file_is_lost_while_files_are_closed(void **state)
{
    (void)state;
    char dir[TEST_PATH], file[TEST_PATH];
    struct writing w = {0};
    struct rng rng;
    pthread_t thread;
    test_path(dir, "data");
    test_path(file, "backup");
    make_folder(dir);
    rng_seed(&rng, 6);
    assert_int_equal(pthread_create(&thread, NULL, archive_on, &w), 0);
    for (unsigned i = 0; i < ROUNDS; i++) {
        char name[16], to[TEST_PATH];
        unsigned before;
        while ((before = atomic_load(&w.rounds)) < 3 * (i + 1))
            usleep(1000);
        CHECK_STATUS("back up", back_up(dir, file, false), ST_OK);
        snprintf(name, sizeof(name), "again%u", i);
        test_path(to, name);
        CHECK_STATUS("restore", restore(file, to), ST_OK);
        warc_files_close(open_warc(to, &rng));
        unsigned got = packages_in(to);
        if (got < before)
            fail_msg("backup %u: %u packages were there, %u came back", i, before, got);
    }
    atomic_store(&w.is_stopping, true);
    pthread_join(thread, NULL);
}

#define KEYS 50

static bool is_newest(void *arg, const struct contents_record *r)
{
    return r->fetch_number == ((uint64_t *)arg)[r->key];
}

/* Every page has one record that counts, which is written again and again. */
static void *compact_on(void *arg)
{
    struct writing *w = arg;
    char dir[TEST_PATH];
    struct contents *log = NULL;
    uint64_t newest[KEYS + 1] = {0};
    test_path(dir, "data/contents");
    CHECK_STATUS("contents", contents_open(dir, &log), ST_OK);
    for (uint64_t i = 1; i <= KEYS; i++) {
        newest[i] = i;
        CHECK_STATUS("append", contents_append(log, &(struct contents_record){.key = i, .fetch_number = i}), ST_OK);
    }
    for (unsigned i = 1; !atomic_load(&w->is_stopping); i++) {
        if (contents_compact(log, 0, is_newest, newest) != ST_OK)
            break;
        atomic_store(&w->rounds, i);
        usleep(200);
    }
    contents_free(log);
    return NULL;
}

static status note_key(void *arg, const struct contents_record *r)
{
    ((bool *)arg)[r->key] = true;
    return ST_OK;
}

static void no_text_is_lost_while_files_are_written_anew(void **state)
{
    (void)state;
    char dir[TEST_PATH], path[TEST_PATH];
    struct writing w = {0};
    pthread_t thread;
    test_path(dir, "data");
    make_folder(dir);
    for (unsigned i = 0; i < 300; i++) { /* they take a while to link */
        char name[32];
        snprintf(name, sizeof(name), "data/contents/other%u", i);
        test_path(path, name);
        CHECK_STATUS(name, file_replace(path, SPAN("x")), ST_OK);
    }
    assert_int_equal(pthread_create(&thread, NULL, compact_on, &w), 0);
    for (unsigned i = 0; i < 100; i++) {
        struct buf made = {0}, why = {0};
        bool has[KEYS + 1] = {0};
        while (atomic_load(&w.rounds) <= i)
            usleep(1000);
        CHECK_STATUS("snapshot", snapshot_make(&(struct snapshot_opts){.data_dir = dir}, &made, &why), ST_OK);
        snprintf(path, sizeof(path), "%s/contents", buf_cstr(&made));
        CHECK_STATUS("read", contents_each(path, 0, note_key, has, NULL), ST_OK);
        for (unsigned k = 1; k <= KEYS; k++)
            if (!has[k])
                fail_msg("snapshot %u: text %u is lost", i, k);
        snapshot_remove(made.p);
        buf_done(&made);
        buf_done(&why);
    }
    atomic_store(&w.is_stopping, true);
    pthread_join(thread, NULL);
}

/* zstd can say the same in more than one way: a run of zeros is copied from here or from there. */
static bool is_same_inside(struct span a, struct span b)
{
    struct buf x = {0}, y = {0};
    CHECK_STATUS("one", unzip_zstd(a, 1u << 26, &x), ST_OK);
    CHECK_STATUS("the other", unzip_zstd(b, 1u << 26, &y), ST_OK);
    bool is = span_eq(buf_span(&x), buf_span(&y));
    buf_done(&x);
    buf_done(&y);
    return is;
}

static void damage_is_noticed_and_makes_nothing(void **state)
{
    (void)state;
    char dir[TEST_PATH], file[TEST_PATH], bad[TEST_PATH], to[TEST_PATH];
    test_path(dir, "data");
    test_path(file, "backup");
    test_path(bad, "bad");
    test_path(to, "again");
    make_folder(dir);
    CHECK_STATUS("back up", back_up(dir, file, false), ST_OK);
    CHECK_STATUS("not there", verify(bad), ST_NOT_FOUND);
    struct span text = test_read_file(file);
    for (size_t i = 0; i < 40; i++) {
        size_t at = text.n * i / 40;
        struct buf changed = {0};
        buf_put(&changed, text);
        changed.p[at] ^= 0x55;
        CHECK_STATUS("write", file_replace(bad, buf_span(&changed)), ST_OK);
        if (verify(bad) == ST_OK && !is_same_inside(text, buf_span(&changed)))
            fail_msg("byte %zu of %zu may be changed", at, text.n);
        buf_done(&changed);
        CHECK_STATUS("write", file_replace(bad, span_cut(text, 0, at)), ST_OK);
        if (verify(bad) == ST_OK || restore(bad, to) == ST_OK)
            fail_msg("it may be cut at %zu of %zu", at, text.n);
        assert_int_not_equal(access(to, F_OK), 0);
    }
    free((char *)text.p);
}

static void put_entry(struct buf *tar, const char *name, const char *text, const char *as)
{
    struct tar_entry e = {.name = span_str(name), .bytes = strlen(text), .mode = 0600};
    size_t at = tar->n;
    CHECK_STATUS(name, tar_put_head(tar, &e), ST_OK);
    if (as) { /* another name of the same length, with the right checksum */
        unsigned sum = 0;
        memcpy(tar->p + at, as, strlen(as));
        memset(tar->p + at + 148, ' ', 8);
        for (size_t i = 0; i < TAR_BLOCK; i++)
            sum += (unsigned char)tar->p[at + i];
        snprintf(tar->p + at + 148, 8, "%06o", sum);
    }
    buf_puts(tar, text);
    tar_put_padding(tar, e.bytes);
}

static void check_hostile(const char *label, struct buf *tar, status want)
{
    char file[TEST_PATH], to[TEST_PATH];
    struct buf zipped = {0};
    struct zip_stream *z = zip_stream_new(1);
    test_path(file, "hostile");
    test_path(to, "again");
    tar_put_end(tar);
    zip_stream_put(z, buf_span(tar), &zipped);
    zip_stream_end(z, &zipped);
    zip_stream_free(z);
    CHECK_STATUS(label, file_replace(file, buf_span(&zipped)), ST_OK);
    CHECK_STATUS(label, verify(file), want);
    CHECK_STATUS(label, restore(file, to), want);
    assert_int_not_equal(access(to, F_OK), 0);
    buf_done(&zipped);
    buf_done(tar);
}

static void hostile_archives_make_nothing(void **state)
{
    (void)state;
    struct buf tar = {0};
    put_entry(&tar, "orb-backup.json", "{}", NULL);
    put_entry(&tar, "aa/evil", "x", "../evil");
    check_hostile("a path out", &tar, ST_INVALID);
    put_entry(&tar, "orb.db", "x", NULL);
    check_hostile("no word on what it is", &tar, ST_CORRUPT);
    put_entry(&tar, "orb-backup.json", "{}", NULL);
    put_entry(&tar, "b", "x", NULL);
    put_entry(&tar, "a", "x", NULL);
    check_hostile("not in order", &tar, ST_CORRUPT);
    put_entry(&tar, "orb-backup.json", "{}", NULL);
    put_entry(&tar, "a", "x", NULL);
    check_hostile("no checksums", &tar, ST_CORRUPT);
    put_entry(&tar, "orb-backup.json", "{}", NULL);
    put_entry(&tar, "a", "x", NULL);
    put_entry(&tar, "orb-backup.sums", "0000  a\n", NULL);
    check_hostile("wrong checksums", &tar, ST_CORRUPT);
    put_entry(&tar, "orb-backup.json", "{}", NULL);
    put_entry(&tar, "orb-backup.sums", "", NULL);
    put_entry(&tar, "z", "x", NULL);
    check_hostile("more behind them", &tar, ST_CORRUPT);
    char path[TEST_PATH];
    test_path(path, "evil");
    assert_int_not_equal(access(path, F_OK), 0);
}

/* A disk that fails leaves no file, and no folder, of the name. */
static void a_failure_leaves_nothing_under_the_name(void **state)
{
    (void)state;
    char dir[TEST_PATH], file[TEST_PATH], to[TEST_PATH];
    test_path(dir, "data");
    test_path(file, "backup");
    test_path(to, "again");
    make_folder(dir);
    for (uint64_t bytes = 1; bytes < 3000; bytes += 300) {
        file_inject_fault(bytes, ENOSPC);
        status st = back_up(dir, file, false);
        file_inject_fault(0, 0);
        if (st == ST_OK)
            break;
        CHECK_STATUS("full", st, ST_FULL);
        assert_int_not_equal(access(file, F_OK), 0);
        assert_false(is_there(test_folder(), "backup.partial"));
    }
    CHECK_STATUS("back up", back_up(dir, file, false), ST_OK);
    for (uint64_t bytes = 1; bytes < 30000; bytes += 5000) {
        file_inject_fault(bytes, ENOSPC);
        CHECK_STATUS("full", restore(file, to), ST_FULL);
        file_inject_fault(0, 0);
        assert_int_not_equal(access(to, F_OK), 0);
    }
    CHECK_STATUS("restore", restore(file, to), ST_OK);
}

static status no_fleet(void *self, const char *path)
{
    return file_replace_secret(path, SPAN("fleet"));
}

static void a_coordinators_database_is_copied_by_whoever_has_it(void **state)
{
    (void)state;
    char dir[TEST_PATH], file[TEST_PATH];
    struct buf snapshot = {0}, why = {0};
    struct fleet_store *f = NULL;
    test_path(dir, "data");
    make_folder(dir);
    CHECK_STATUS("fleet", fleet_open(dir, &f, NULL), ST_OK);
    CHECK_STATUS("put", fleet_put(f, FLEET_SETTING, SPAN("a"), SPAN("b")), ST_OK);
    struct snapshot_opts o = {.data_dir = dir, .copy_fleet = no_fleet};
    CHECK_STATUS("snapshot", snapshot_make(&o, &snapshot, &why), ST_OK);
    assert_true(is_there(buf_cstr(&snapshot), "fleet.db"));
    snapshot_remove(snapshot.p);
    test_path(file, "fleet.copy");
    CHECK_STATUS("copy", fleet_copy(f, file), ST_OK);
    fleet_close(f);
    test_path(dir, "other");
    CHECK_STATUS("mkdir", file_mkdir(dir), ST_OK);
    char path[TEST_PATH * 2];
    snprintf(path, sizeof(path), "%s/fleet.db", dir);
    assert_int_equal(rename(file, path), 0);
    struct buf value = {0};
    CHECK_STATUS("open", fleet_open(dir, &f, NULL), ST_OK);
    CHECK_STATUS("get", fleet_get(f, FLEET_SETTING, SPAN("a"), &value), ST_OK);
    CHECK_SPAN("value", buf_span(&value), SPAN("b"));
    fleet_close(f);
    buf_done(&value);
    buf_done(&snapshot);
    buf_done(&why);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(comes_back_as_it_was),
        TEST_IN_FOLDER(a_copy_is_of_one_moment),
        TEST_IN_FOLDER(no_warc_file_is_lost_while_files_are_closed),
        TEST_IN_FOLDER(no_text_is_lost_while_files_are_written_anew),
        TEST_IN_FOLDER(damage_is_noticed_and_makes_nothing),
        TEST_IN_FOLDER(hostile_archives_make_nothing),
        TEST_IN_FOLDER(a_failure_leaves_nothing_under_the_name),
        TEST_IN_FOLDER(a_coordinators_database_is_copied_by_whoever_has_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
