/* Records of a place go from WARC files, the others stay as they were byte by byte; the oldest files go when there are
 * too many. */
#include "test.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/rng.h"
#include "codec/warc_read.h"
#include "codec/zip.h"
#include "store/file.h"
#include "store/warc_files.h"
#include "store/warc_purge.h"
#include "test_folder.h"

static wall_ms clock_now;

static wall_ms wall(void)
{
    return clock_now;
}

static void draw(void *self, void *to, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ((unsigned char *)to)[i] = (unsigned char)rng_u64(self);
}

/* `n` pages, each of two hosts by turns. */
static void write_files(member_kind kind, unsigned n, uint64_t bytes_max)
{
    struct rng rng;
    struct warc_files *f = NULL;
    struct buf why = {0}, out = {0};
    rng_seed(&rng, 5);
    clock_now = 1700000000000;
    struct warc_files_opts o = {.dir = test_folder(),
                                .kind = kind,
                                .bytes_max = bytes_max,
                                .info = {.software = SPAN("orb"), .hostname = SPAN("box")},
                                .wall = wall,
                                .draw = draw,
                                .draw_self = &rng};
    struct warc_writer *w = warc_writer_new(kind, draw, &rng);
    CHECK_STATUS("open", warc_files_open(&o, &f, &why), ST_OK);
    for (unsigned i = 0; i < n; i++) {
        char url[64], body[400];
        snprintf(url, sizeof(url), "http://%s.example/%u", i % 2 ? "odd" : "even", i);
        snprintf(body, sizeof(body), "body of number %u %0*llx", i, 300, (unsigned long long)rng_u64(&rng));
        struct warc_capture c = {.url = span_str(url),
                                 .at = clock_now,
                                 .request = SPAN("GET / HTTP/1.1\r\n\r\n"),
                                 .head = SPAN("HTTP/1.1 200 OK\r\n\r\n"),
                                 .body = span_str(body),
                                 .facts = SPAN("via: test\r\n")};
        struct warc_note note = {.kind = WARC_NOTE_BODY, .payload = warc_payload_digest(&c), .url = c.url, .at = c.at};
        buf_clear(&out);
        warc_put_capture(w, &c, &note.payload, NULL, &out);
        note.end = out.n;
        CHECK_STATUS("append", warc_files_append(f, buf_span(&out), &note, 1), ST_OK);
    }
    warc_files_close(f);
    warc_writer_free(w);
    buf_done(&why);
    buf_done(&out);
}

/* All files one after the other, unpacked. */
static void read_files(struct buf *out, unsigned *count)
{
    DIR *d = opendir(test_folder());
    *count = 0;
    buf_clear(out);
    for (struct dirent *e; (e = readdir(d));) {
        char path[TEST_PATH];
        struct span name = span_str(e->d_name);
        bool is_gzip = span_ends(name, SPAN(".warc.gz"));
        if (!is_gzip && !span_ends(name, SPAN(".warc.zst")))
            continue;
        test_path(path, e->d_name);
        struct span text = test_read_file(path);
        CHECK_STATUS(path, (is_gzip ? unzip_gzip : unzip_zstd)(text, 1u << 26, out), ST_OK);
        free((char *)text.p);
        ++*count;
    }
    closedir(d);
    (void)buf_cstr(out);
}

static unsigned times(const struct buf *text, const char *needle)
{
    unsigned n = 0;
    struct span rest = buf_span(text), word = span_str(needle);
    for (size_t at; (at = span_search(rest, word, false)) < rest.n; n++)
        rest = span_from(rest, at + word.n);
    return n;
}

static bool is_odd(void *arg, struct span url)
{
    return span_starts(url, SPAN("http://odd.example/"));
}

static void check_purge(member_kind kind)
{
    struct warc_purged r;
    struct buf before = {0}, after = {0};
    unsigned files;
    write_files(kind, 20, 4000);
    read_files(&before, &files);
    assert_true(files > 2);
    assert_int_equal(times(&before, "http://odd.example/"), 30); /* response, request, metadata */
    CHECK_STATUS("look", warc_purge(test_folder(), true, is_odd, NULL, &r, NULL), ST_OK);
    assert_int_equal(r.records, 30);
    buf_done(&r.names);
    read_files(&after, &files);
    CHECK("looking changes nothing", span_eq(buf_span(&before), buf_span(&after)));
    CHECK_STATUS("purge", warc_purge(test_folder(), false, is_odd, NULL, &r, NULL), ST_OK);
    assert_int_equal(r.records, 30);
    assert_true(r.files > 2 && r.bytes > 0);
    buf_done(&r.names);
    read_files(&after, &files);
    assert_int_equal(times(&after, "odd.example"), 0);
    for (unsigned i = 0; i < 20; i++) {
        char body[64];
        snprintf(body, sizeof(body), "body of number %u ", i);
        assert_int_equal(times(&after, body), i % 2 ? 0 : 1);
    }
    assert_int_equal(times(&after, "WARC/1.1"), times(&before, "WARC/1.1") - 30);
    CHECK_STATUS("again", warc_purge(test_folder(), false, is_odd, NULL, &r, NULL), ST_OK);
    assert_int_equal(r.files, 0);
    buf_done(&r.names);
    buf_done(&before);
    buf_done(&after);
}

static void records_go_from_gzip_files(void **state)
{
    (void)state;
    check_purge(MEMBER_GZIP);
}

static void records_go_from_zstd_files(void **state)
{
    (void)state;
    check_purge(MEMBER_ZSTD);
}

/* ---- bodies that others need ---- */

struct told {
    unsigned problems, responses, revisits;
    struct buf of_2, refers; /* the block of the record of /2; what revisits refer to, a line each */
};

static status tell_record(void *self, const struct warc_record *r)
{
    struct told *t = self;
    t->responses += r->type == WARC_TYPE_RESPONSE;
    if (r->type == WARC_TYPE_RESPONSE && span_is(r->url, "http://even.example/2"))
        buf_put(&t->of_2, r->block);
    if (r->type != WARC_TYPE_REVISIT)
        return ST_OK;
    t->revisits++;
    buf_printf(&t->refers, "%.*s %.*s\n", SPAN_ARG(r->refers_to_url), SPAN_ARG(r->refers_to_date));
    return ST_OK;
}

static void tell_problem(void *self, uint64_t at, const char *what)
{
    ((struct told *)self)->problems++;
}

static void read_back(struct told *t)
{
    DIR *d = opendir(test_folder());
    const struct warc_events events = {tell_record, tell_problem, t};
    *t = (struct told){0};
    for (struct dirent *e; (e = readdir(d));) {
        char path[TEST_PATH];
        if (!span_starts(span_str(e->d_name), SPAN("orb-")))
            continue;
        test_path(path, e->d_name);
        struct span text = test_read_file(path);
        struct warc_reader *r = warc_reader_new(&(struct warc_reader_opts){0}, &events);
        CHECK_STATUS("feed", warc_reader_feed(r, text), ST_OK);
        CHECK_STATUS("end", warc_reader_end(r), ST_OK);
        warc_reader_free(r);
        free((char *)text.p);
    }
    closedir(d);
    (void)buf_cstr(&t->of_2);
    (void)buf_cstr(&t->refers);
}

/* /1 has the body, /2 and /3 the same one, /2 is asked for once more and did not change: a file each. */
static void write_same_as(member_kind kind, warc_note_kind body, warc_note_kind same)
{
    struct rng rng;
    struct warc_files *f = NULL;
    struct buf why = {0}, out = {0};
    rng_seed(&rng, 5);
    clock_now = 1700000000000;
    struct warc_files_opts o = {.dir = test_folder(),
                                .kind = kind,
                                .bytes_max = 600,
                                .info = {.software = SPAN("orb"), .hostname = SPAN("box")},
                                .wall = wall,
                                .draw = draw,
                                .draw_self = &rng};
    struct warc_writer *w = warc_writer_new(kind, draw, &rng);
    CHECK_STATUS("open", warc_files_open(&o, &f, &why), ST_OK);
    static const char *const urls[] = {"http://even.example/1", "http://even.example/2", "http://even.example/3",
                                       "http://even.example/2"};
    for (unsigned i = 0; i < 4; i++, clock_now += 1000) {
        struct warc_capture c = {.url = span_str(urls[i]),
                                 .at = clock_now,
                                 .request = SPAN("GET / HTTP/1.1\r\n\r\n"),
                                 .head = SPAN("HTTP/1.1 200 OK\r\nX-Own: yes\r\n\r\n"),
                                 .body = SPAN("the same for all of them")};
        struct warc_original original = {.url = span_str(urls[0]),
                                         .at = 1700000000000,
                                         .payload = warc_payload_digest(&c),
                                         .is_not_modified = i == 3};
        if (i == 3) {
            c.head = SPAN("HTTP/1.1 304 Not Modified\r\n\r\n");
            c.body = (struct span){0};
        }
        buf_clear(&out);
        warc_put_capture(w, &c, &original.payload, i ? &original : NULL, &out);
        struct warc_note note = {
            .kind = i ? same : body, .payload = original.payload, .url = c.url, .at = c.at, .end = out.n};
        CHECK_STATUS("append", warc_files_append(f, buf_span(&out), &note, 1), ST_OK);
    }
    warc_files_close(f);
    warc_writer_free(w);
    buf_done(&why);
    buf_done(&out);
}

static void write_same(member_kind kind)
{
    write_same_as(kind, WARC_NOTE_BODY, WARC_NOTE_SAME);
}

static bool is_first(void *arg, struct span url)
{
    return span_is(url, "http://even.example/1");
}

static void check_heirs(member_kind kind)
{
    struct told t;
    struct warc_purged r;
    struct buf all = {0};
    unsigned files;
    write_same(kind);
    read_back(&t);
    assert_int_equal(t.responses, 1);
    assert_int_equal(t.revisits, 3);
    assert_int_equal(t.problems, 0);
    buf_done(&t.of_2);
    buf_done(&t.refers);
    CHECK_STATUS("purge", warc_purge(test_folder(), false, is_first, NULL, &r, NULL), ST_OK);
    assert_int_equal(r.records, 2);
    buf_done(&r.names);
    read_files(&all, &files);
    assert_int_equal(times(&all, "http://even.example/1"), 0);
    read_back(&t);
    assert_int_equal(t.problems, 0);
    assert_int_equal(t.responses, 1);
    assert_int_equal(t.revisits, 2);
    assert_string_equal(t.of_2.p, "HTTP/1.1 200 OK\r\nX-Own: yes\r\n\r\nthe same for all of them");
    assert_string_equal(t.refers.p, "http://even.example/2 2023-11-14T22:13:21.000Z\n"
                                    "http://even.example/2 2023-11-14T22:13:21.000Z\n");
    buf_done(&t.of_2);
    buf_done(&t.refers);
    buf_done(&all);
}

static void a_body_that_others_need_goes_to_the_next(void **state)
{
    (void)state;
    check_heirs(MEMBER_GZIP);
}

static void a_body_that_others_need_goes_to_the_next_in_zstd(void **state)
{
    (void)state;
    check_heirs(MEMBER_ZSTD);
}

/* One damaged file must not keep the others from being gone over. */
static void a_damaged_file_does_not_stop_the_others(void **state)
{
    (void)state;
    struct warc_purged r;
    struct buf why = {0};
    char name[256] = "~", path[TEST_PATH];
    write_files(MEMBER_GZIP, 20, 4000);
    DIR *d = opendir(test_folder());
    for (struct dirent *e; (e = readdir(d));)
        if (span_starts(span_str(e->d_name), SPAN("orb-")) && strcmp(e->d_name, name) < 0)
            snprintf(name, sizeof(name), "%s", e->d_name);
    closedir(d);
    test_path(path, name);
    int fd = open(path, O_WRONLY);
    assert_int_equal(pwrite(fd, "damage", 6, 900), 6);
    close(fd);
    CHECK_STATUS("purge", warc_purge(test_folder(), false, is_odd, NULL, &r, &why), ST_CORRUPT);
    CHECK("it is named", span_starts(buf_span(&why), span_str(name)));
    assert_true(r.records > 10);
    buf_done(&r.names);
    buf_done(&why);
    CHECK_STATUS("again", warc_purge(test_folder(), false, is_odd, NULL, &r, NULL), ST_CORRUPT);
    assert_int_equal(r.records, 0);
    buf_done(&r.names);
}

static void touch(const char *name)
{
    char path[TEST_PATH];
    test_path(path, name);
    CHECK_STATUS(name, file_replace(path, SPAN("something")), ST_OK);
}

static void what_is_not_ours_is_counted(void **state)
{
    (void)state;
    struct warc_purged r;
    char path[TEST_PATH];
    write_files(MEMBER_GZIP, 4, 0);
    touch("of-wget.warc.gz");
    touch("old.arc");
    touch("plain.warc");
    touch("notes.txt");
    touch("orb-20240101000000-00000-x.warc.gz.new"); /* of a run that was killed */
    CHECK_STATUS("purge", warc_purge(test_folder(), false, is_odd, NULL, &r, NULL), ST_OK);
    assert_int_equal(r.others, 3);
    test_path(path, "of-wget.warc.gz");
    assert_int_equal(access(path, F_OK), 0);
    test_path(path, "orb-20240101000000-00000-x.warc.gz.new");
    assert_int_equal(access(path, F_OK), -1);
    buf_done(&r.names);
}

/* A WARC file may be moved away; what is known of its bodies names addresses. */
static void notes_of_files_that_were_moved_go_too(void **state)
{
    (void)state;
    struct warc_purged r;
    unsigned left = 0;
    char dir[TEST_PATH], path[TEST_PATH];
    write_files(MEMBER_GZIP, 4, 0);
    DIR *d = opendir(test_folder());
    for (struct dirent *e; (e = readdir(d));)
        if (span_starts(span_str(e->d_name), SPAN("orb-"))) {
            test_path(path, e->d_name);
            assert_int_equal(unlink(path), 0);
        }
    closedir(d);
    CHECK_STATUS("purge", warc_purge(test_folder(), false, is_odd, NULL, &r, NULL), ST_OK);
    test_path(dir, "seen");
    d = opendir(dir);
    for (struct dirent *e; (e = readdir(d));)
        left += span_starts(span_str(e->d_name), SPAN("orb-"));
    closedir(d);
    assert_int_equal(left, 0);
    buf_done(&r.names);
}

static void the_oldest_files_go(void **state)
{
    (void)state;
    struct warc_purged r;
    struct buf text = {0};
    unsigned before, after;
    write_files(MEMBER_GZIP, 20, 4000);
    read_files(&text, &before);
    CHECK_STATUS("no limit", warc_expire(test_folder(), false, 0, 0, &r), ST_OK);
    assert_int_equal(r.files, 0);
    CHECK_STATUS("look", warc_expire(test_folder(), true, 6000, 0, &r), ST_OK);
    assert_true(r.files > 0);
    uint64_t files = r.files;
    buf_done(&r.names);
    CHECK_STATUS("expire", warc_expire(test_folder(), false, 6000, 0, &r), ST_OK);
    assert_int_equal(r.files, files);
    buf_done(&r.names);
    read_files(&text, &after);
    assert_int_equal(after, before - files);
    assert_int_equal(times(&text, "body of number 0 "), 0);
    assert_int_equal(times(&text, "body of number 19 "), 1);
    CHECK_STATUS("by age", warc_expire(test_folder(), false, 0, INT64_MAX, &r), ST_OK);
    buf_done(&r.names);
    read_files(&text, &after);
    assert_int_equal(after, 0);
    buf_done(&text);
}

/* Or a forgotten page would make the others be kept longer. */
static void files_that_are_written_anew_are_as_old_as_they_were(void **state)
{
    (void)state;
    struct warc_purged r;
    struct buf text = {0};
    unsigned count = 0;
    write_files(MEMBER_GZIP, 20, 4000);
    DIR *d = opendir(test_folder());
    for (struct dirent *e; (e = readdir(d));) {
        char path[TEST_PATH];
        test_path(path, e->d_name);
        if (span_ends(span_str(e->d_name), SPAN(".warc.gz")))
            assert_int_equal(utimensat(AT_FDCWD, path, (struct timespec[]){{5000, 0}, {5000, 0}}, 0), 0);
    }
    closedir(d);
    CHECK_STATUS("purge", warc_purge(test_folder(), false, is_odd, NULL, &r, NULL), ST_OK);
    assert_true(r.files > 2);
    buf_done(&r.names);
    CHECK_STATUS("not so old", warc_expire(test_folder(), false, 0, 5000 * 1000, &r), ST_OK);
    assert_int_equal(r.files, 0);
    buf_done(&r.names);
    CHECK_STATUS("by age", warc_expire(test_folder(), false, 0, 5001 * 1000, &r), ST_OK);
    buf_done(&r.names);
    read_files(&text, &count);
    assert_int_equal(count, 0);
    buf_done(&text);
}

/* The first `n` files are old. */
static void make_old(unsigned n)
{
    struct dirent **list = NULL;
    unsigned seen = 0;
    int count = scandir(test_folder(), &list, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        char path[TEST_PATH];
        test_path(path, list[i]->d_name);
        if (span_starts(span_str(list[i]->d_name), SPAN("orb-")) && seen++ < n)
            assert_int_equal(utimensat(AT_FDCWD, path, (struct timespec[]){{5000, 0}, {5000, 0}}, 0), 0);
        free(list[i]);
    }
    free(list);
}

static void forget_notes(void)
{
    char path[TEST_PATH * 2], seen[TEST_PATH];
    test_path(seen, "seen");
    DIR *d = opendir(seen);
    for (struct dirent *e; (e = readdir(d));) {
        snprintf(path, sizeof(path), "%s/%s", seen, e->d_name);
        (void)unlink(path);
    }
    closedir(d);
}

static void check_expired(const char *label, uint64_t bytes_max, const char *want)
{
    struct warc_purged look, r;
    struct told t;
    char got[200];
    CHECK_STATUS(label, warc_expire(test_folder(), true, bytes_max, 6000 * 1000, &look), ST_OK);
    CHECK_STATUS(label, warc_expire(test_folder(), false, bytes_max, 6000 * 1000, &r), ST_OK);
    read_back(&t);
    snprintf(got, sizeof(got), "files %llu kept %llu: %u responses %u revisits %u problems",
             (unsigned long long)r.files, (unsigned long long)r.kept, t.responses, t.revisits, t.problems);
    CHECK_SPAN(label, span_str(got), span_str(want));
    CHECK(label, look.files == r.files && look.kept == r.kept);
    buf_done(&look.names);
    buf_done(&r.names);
    buf_done(&t.of_2);
    buf_done(&t.refers);
}

static void check_needed(member_kind kind, bool has_notes)
{
    struct buf all = {0};
    unsigned files;
    write_same(kind);
    if (!has_notes)
        forget_notes();
    make_old(1);
    check_expired("the one with the body", 0, "files 1 kept 1: 1 responses 3 revisits 0 problems");
    read_files(&all, &files);
    assert_int_equal(files, 4);
    assert_int_equal(times(&all, "WARC-Type: request"), 3); /* not that of the old one */
    assert_int_equal(times(&all, "WARC-Type: warcinfo"), 4);
    check_expired("again", 0, "files 0 kept 1: 1 responses 3 revisits 0 problems");
    make_old(3);
    check_expired("two that need it", 0, "files 2 kept 1: 1 responses 1 revisits 0 problems");
    make_old(4);
    check_expired("the last", 0, "files 2 kept 0: 0 responses 0 revisits 0 problems");
    buf_done(&all);
}

static void what_younger_files_need_stays(void **state)
{
    (void)state;
    check_needed(MEMBER_GZIP, true);
    check_needed(MEMBER_GZIP, false);
    check_needed(MEMBER_ZSTD, true);
}

static void a_limit_counts_what_is_needed(void **state)
{
    (void)state;
    struct warc_purged r;
    write_same(MEMBER_GZIP);
    CHECK_STATUS("look", warc_expire(test_folder(), true, 1, 0, &r), ST_OK);
    CHECK("everything goes", r.files == 4 && r.kept == 0);
    uint64_t all = r.bytes;
    buf_done(&r.names);
    check_expired("all of it fits", all, "files 0 kept 0: 1 responses 3 revisits 0 problems");
    check_expired("a little too much", all - 1, "files 2 kept 1: 1 responses 2 revisits 0 problems");
    check_expired("nothing fits", 1, "files 3 kept 0: 0 responses 0 revisits 0 problems");
}

static void the_body_of_an_error_stays_for_its_revisits(void **state)
{
    (void)state;
    write_same_as(MEMBER_GZIP, WARC_NOTE_OTHER, WARC_NOTE_OTHER_SAME);
    make_old(1);
    check_expired("the one with the body", 0, "files 1 kept 1: 1 responses 3 revisits 0 problems");
}

static void a_damaged_file_stays_as_it_is(void **state)
{
    (void)state;
    struct warc_purged r;
    struct buf why = {0};
    char path[TEST_PATH];
    test_path(path, "orb-20240101000000-00000-x.warc.gz");
    CHECK_STATUS("write", file_replace(path, SPAN("\x1f\x8b\x08garbage")), ST_OK);
    CHECK_STATUS("purge", warc_purge(test_folder(), false, is_odd, NULL, &r, &why), ST_CORRUPT);
    CHECK_SPAN("why", buf_span(&why), SPAN("orb-20240101000000-00000-x.warc.gz is damaged"));
    assert_int_equal(access(path, F_OK), 0);
    buf_done(&r.names);
    buf_done(&why);
    CHECK_STATUS("no folder", warc_purge("/nonexistent/folder", false, is_odd, NULL, &r, NULL), ST_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(records_go_from_gzip_files),
        TEST_IN_FOLDER(records_go_from_zstd_files),
        TEST_IN_FOLDER(a_body_that_others_need_goes_to_the_next),
        TEST_IN_FOLDER(a_body_that_others_need_goes_to_the_next_in_zstd),
        TEST_IN_FOLDER(a_damaged_file_does_not_stop_the_others),
        TEST_IN_FOLDER(what_is_not_ours_is_counted),
        TEST_IN_FOLDER(notes_of_files_that_were_moved_go_too),
        TEST_IN_FOLDER(the_oldest_files_go),
        TEST_IN_FOLDER(what_younger_files_need_stays),
        TEST_IN_FOLDER(a_limit_counts_what_is_needed),
        TEST_IN_FOLDER(files_that_are_written_anew_are_as_old_as_they_were),
        TEST_IN_FOLDER(the_body_of_an_error_stays_for_its_revisits),
        TEST_IN_FOLDER(a_damaged_file_stays_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
