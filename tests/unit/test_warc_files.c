#include "test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/rng.h"
#include "codec/zip.h"
#include "store/file.h"
#include "store/warc_files.h"
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

struct stage {
    struct warc_files_opts o;
    struct warc_files *f;
    struct warc_writer *w;
    struct rng rng;
};

static status stage_open(struct stage *s)
{
    struct buf why = {0};
    status st = warc_files_open(&s->o, &s->f, &why);
    CHECK("a failure says why", st == ST_OK || why.n > 0);
    buf_done(&why);
    return st;
}

static void stage_init(struct stage *s, uint64_t bytes_max, bool is_marked)
{
    *s = (struct stage){0};
    clock_now = 1700000000000;
    rng_seed(&s->rng, 3);
    s->o = (struct warc_files_opts){.dir = test_folder(),
                                    .bytes_max = bytes_max,
                                    .is_marked = is_marked,
                                    .info = {.software = SPAN("orb"), .hostname = SPAN("box/1.example")},
                                    .wall = wall,
                                    .draw = draw,
                                    .draw_self = &s->rng};
    s->w = warc_writer_new(MEMBER_GZIP, draw, &s->rng);
    CHECK_STATUS("open", stage_open(s), ST_OK);
}

static void stage_done(struct stage *s)
{
    warc_files_close(s->f);
    warc_writer_free(s->w);
}

/* As a kill does: nothing is closed but what the kernel closes. */
static void stage_kill(struct stage *s, const char *torn)
{
    struct buf path = {0};
    DIR *d = opendir(test_folder());
    for (struct dirent *e; (e = readdir(d));)
        if (span_ends(span_str(e->d_name), SPAN(".open"))) {
            buf_printf(&path, "%s/%s", test_folder(), e->d_name);
            int from = open(buf_cstr(&path), O_RDONLY);
            struct stat sb;
            CHECK("size", fstat(from, &sb) == 0);
            char *copy = mem_alloc((size_t)sb.st_size + 1);
            CHECK("read", read(from, copy, (size_t)sb.st_size) == sb.st_size);
            close(from);
            char *name = mem_str(span_str(path.p));
            warc_files_close(s->f); /* renames it: make that undone */
            s->f = NULL;
            int to = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0666);
            CHECK("write", write(to, copy, (size_t)sb.st_size) == sb.st_size);
            CHECK("torn", write(to, torn, strlen(torn)) == (ssize_t)strlen(torn));
            close(to);
            char *final = mem_str(span_cut(span_str(name), 0, strlen(name) - 5));
            (void)unlink(final);
            free(final);
            free(name);
            free(copy);
            break;
        }
    closedir(d);
    buf_done(&path);
    CHECK("there was an open file", s->f == NULL);
}

/* With a tag: once. */
static status append_as(struct stage *s, const char *url, const char *body, const char *tag)
{
    struct buf out = {0};
    struct warc_capture c = {
        .url = span_str(url), .at = clock_now, .head = SPAN("HTTP/1.1 200 OK\r\n\r\n"), .body = span_str(body)};
    struct warc_note note = {.kind = WARC_NOTE_BODY, .payload = warc_payload_digest(&c), .url = c.url, .at = c.at};
    warc_put_capture(s->w, &c, &note.payload, NULL, &out);
    note.end = out.n;
    status st = tag ? warc_files_append_once(s->f, buf_span(&out), &note, 1, span_str(tag))
                    : warc_files_append(s->f, buf_span(&out), &note, 1);
    buf_done(&out);
    return st;
}

static status append(struct stage *s, const char *url, const char *body)
{
    return append_as(s, url, body, NULL);
}

/* All files in order of their names: "NAME: url url ...|", records that are whole only. */
static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void show(struct buf *out)
{
    char *names[16];
    size_t n = 0;
    DIR *d = opendir(test_folder());
    for (struct dirent *e; (e = readdir(d));)
        if (span_starts(span_str(e->d_name), SPAN("orb-")))
            names[n++] = mem_str(span_str(e->d_name));
    closedir(d);
    qsort(names, n, sizeof(*names), by_name);
    buf_clear(out);
    for (size_t i = 0; i < n; i++) {
        struct buf path = {0}, plain = {0};
        buf_printf(&path, "%s/%s", test_folder(), names[i]);
        struct span bytes = test_read_file(buf_cstr(&path));
        CHECK_STATUS(names[i], unzip_gzip(bytes, 1u << 24, &plain), ST_OK);
        free((char *)bytes.p);
        buf_printf(out, "%s:", names[i]);
        CHECK("info first", span_search(buf_span(&plain), SPAN("WARC-Type: warcinfo"), false) == 10);
        struct span rest = buf_span(&plain), key = SPAN("WARC-Target-URI: ");
        for (size_t at; (at = span_search(rest, key, false)) < rest.n;) {
            rest = span_from(rest, at + key.n);
            buf_printf(out, " %.*s", SPAN_ARG(span_cut(rest, 0, span_find(rest, '\r', 0))));
        }
        buf_putc(out, '|');
        buf_done(&path);
        buf_done(&plain);
        free(names[i]);
    }
}

static void check_files(const char *label, const char *want)
{
    struct buf got = {0};
    show(&got);
    CHECK_SPAN(label, buf_span(&got), span_str(want));
    buf_done(&got);
}

#define NAME(n) "orb-20231114221320-0000" n "-box-1.example.warc.gz"

static void files_are_named_and_rotated_by_size(void **state)
{
    (void)state;
    struct stage s;
    stage_init(&s, 1200, false);
    check_files("nothing yet", "");
    CHECK_STATUS("1", append(&s, "http://a/1", "one"), ST_OK);
    check_files("open", NAME("0") ".open: http://a/1|");
    for (int i = 2; i <= 4; i++) {
        char url[32];
        snprintf(url, sizeof(url), "http://a/%d", i);
        CHECK_STATUS(url, append(&s, url, url), ST_OK);
    }
    CHECK_STATUS("sync", warc_files_sync(s.f), ST_OK);
    stage_done(&s);
    check_files("closed", NAME("0") ": http://a/1 http://a/2|" NAME("1") ": http://a/3 http://a/4|");
}

static void a_name_is_never_used_twice(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct stage s;
        stage_init(&s, 0, false);
        CHECK_STATUS("append", append(&s, "http://a/", "x"), ST_OK);
        stage_done(&s);
    }
    check_files("two", NAME("0") ": http://a/|" NAME("1") ": http://a/|");
}

static void one_writer_at_a_time(void **state)
{
    (void)state;
    struct stage s, other;
    stage_init(&s, 0, false);
    other = s;
    CHECK_STATUS("second", stage_open(&other), ST_BUSY);
    stage_done(&s);
}

static void a_kill_loses_nothing_that_was_appended(void **state)
{
    (void)state;
    static const char *const torn[] = {"", "\x1f\x8b", "\x1f\x8b\x08\x00garbage that is no member", "WARC/1.1\r\n"};
    for (size_t i = 0; i < sizeof(torn) / sizeof(*torn); i++) {
        struct stage s;
        stage_init(&s, 0, false);
        clock_now += (wall_ms)i * 1000;
        CHECK_STATUS("a", append(&s, "http://a/a", "one"), ST_OK);
        CHECK_STATUS("b", append(&s, "http://a/b", "two"), ST_OK);
        stage_kill(&s, torn[i]);
        CHECK_STATUS("again", stage_open(&s), ST_OK);
        CHECK_STATUS("c", append(&s, "http://a/c", "three"), ST_OK);
        stage_done(&s);
    }
    struct buf got = {0};
    show(&got);
    struct span rest = buf_span(&got);
    for (size_t i = 0; i < sizeof(torn) / sizeof(*torn); i++) {
        size_t at = span_search(rest, SPAN(": http://a/a http://a/b|"), false);
        CHECK(torn[i], at < rest.n);
        rest = span_from(rest, at + 5);
    }
    CHECK("no file stays open", span_search(buf_span(&got), SPAN(".open"), false) == got.n);
    buf_done(&got);
}

static void a_full_disk_leaves_whole_records(void **state)
{
    (void)state;
    struct stage s;
    stage_init(&s, 0, false);
    CHECK_STATUS("a", append(&s, "http://a/a", "one"), ST_OK);
    for (uint64_t room = 0; room < 200; room += 40) {
        file_inject_fault(room, ENOSPC);
        CHECK_STATUS("full", append(&s, "http://a/b", "two"), ST_FULL);
        check_files("while full", NAME("0") ".open: http://a/a|");
    }
    file_inject_fault(0, 0);
    CHECK_STATUS("there is room again", append(&s, "http://a/b", "two"), ST_OK);
    stage_done(&s);
    check_files("afterwards", NAME("0") ": http://a/a http://a/b|");
}

static void a_new_file_that_does_not_fit_is_not_there(void **state)
{
    (void)state;
    struct stage s;
    stage_init(&s, 0, false);
    file_inject_fault(50, ENOSPC);
    CHECK_STATUS("full", append(&s, "http://a/a", "one"), ST_FULL);
    check_files("nothing", "");
    file_inject_fault(0, 0);
    CHECK_STATUS("again", append(&s, "http://a/a", "one"), ST_OK);
    stage_done(&s);
    check_files("afterwards", NAME("1") ": http://a/a|");
}

static struct digest160 digest_of(const char *text)
{
    struct span s = span_str(text);
    return digest_sha1(&s, 1);
}

static void bodies_are_remembered_over_a_restart(void **state)
{
    (void)state;
    struct stage s;
    struct buf url = {0};
    wall_ms at = 0;
    struct digest160 one = digest_of("one"), two = digest_of("two"), got;
    stage_init(&s, 0, false);
    CHECK("not yet", !warc_seen_payload(warc_files_seen(s.f), &one, SPAN("http://a/x"), &url, &at));
    CHECK_STATUS("a", append(&s, "http://a/a", "one"), ST_OK);
    for (int i = 0; i < 2; i++) {
        struct warc_seen *seen = warc_files_seen(s.f);
        CHECK("payload", warc_seen_payload(seen, &one, SPAN("http://a/x"), &url, &at));
        CHECK_SPAN("url", buf_span(&url), SPAN("http://a/a"));
        CHECK("at", at == clock_now);
        CHECK("by url", warc_seen_url(seen, SPAN("http://a/a"), &got, &url, &at));
        CHECK("its payload", memcmp(&got, &one, sizeof(one)) == 0);
        CHECK("other sites have their own", !warc_seen_payload(seen, &one, SPAN("http://b/a"), &url, &at));
        CHECK("others are not known", !warc_seen_payload(seen, &two, SPAN("http://a/x"), &url, &at));
        CHECK("other url", !warc_seen_url(seen, SPAN("http://a/b"), &got, &url, &at));
        warc_files_close(s.f);
        CHECK_STATUS("again", stage_open(&s), ST_OK);
    }
    buf_done(&url);
    stage_done(&s);
}

static void what_was_cut_is_not_remembered(void **state)
{
    (void)state;
    struct stage s;
    struct buf url = {0}, path = {0};
    wall_ms at;
    struct stat sb;
    struct digest160 one = digest_of("one"), two = digest_of("two");
    stage_init(&s, 0, false);
    CHECK_STATUS("a", append(&s, "http://a/a", "one"), ST_OK);
    CHECK_STATUS("b", append(&s, "http://a/b", "two"), ST_OK);
    stage_kill(&s, "");
    buf_printf(&path, "%s/%s.open", test_folder(), NAME("0"));
    CHECK("size", stat(buf_cstr(&path), &sb) == 0 && truncate(path.p, sb.st_size - 1) == 0);
    CHECK_STATUS("again", stage_open(&s), ST_OK);
    CHECK("the first is", warc_seen_payload(warc_files_seen(s.f), &one, SPAN("http://a/x"), &url, &at));
    CHECK("the second is not", !warc_seen_payload(warc_files_seen(s.f), &two, SPAN("http://a/x"), &url, &at));
    buf_done(&url);
    buf_done(&path);
    stage_done(&s);
    check_files("cut", NAME("0") ": http://a/a|");
}

static void a_body_is_compared_within_its_site(void **state)
{
    (void)state;
    static const struct {
        const char *url, *want; /* NULL: it is written */
    } cases[] = {{"http://a.example/2", "http://a.example/1"},
                 {"https://a.example/1", NULL},
                 {"http://a.example:8080/1", NULL},
                 {"http://a.example.org/1", NULL},
                 {"http://b.example/1", "http://b.example/7?x"}};
    struct sip_key key = {1, 2};
    struct warc_seen *seen = warc_seen_new(&key, 0);
    struct buf url = {0};
    struct digest160 d = digest_of("body"), got;
    wall_ms at;
    warc_seen_note(seen, WARC_NOTE_BODY, &d, SPAN("http://a.example/1"), 1);
    warc_seen_note(seen, WARC_NOTE_BODY, &d, SPAN("http://b.example/7?x"), 2);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        CHECK(cases[i].url, warc_seen_payload(seen, &d, span_str(cases[i].url), &url, &at) == (cases[i].want != NULL));
        if (cases[i].want)
            CHECK_SPAN(cases[i].url, buf_span(&url), span_str(cases[i].want));
    }
    /* A revisit of an older version, that refers to another site. */
    warc_seen_note(seen, WARC_NOTE_SAME, &d, SPAN("http://c.example/"), 1);
    CHECK("what is only elsewhere is got again", !warc_seen_url(seen, SPAN("http://c.example/"), &got, &url, &at));
    buf_done(&url);
    warc_seen_free(seen);
}

static void memory_of_bodies_has_a_ceiling(void **state)
{
    (void)state;
    struct sip_key key = {1, 2};
    struct warc_seen *seen = warc_seen_new(&key, 2000);
    struct buf url = {0};
    struct digest160 got;
    wall_ms at;
    for (unsigned i = 0; i < 1000; i++) {
        char text[32];
        snprintf(text, sizeof(text), "http://a/%u", i);
        struct digest160 d = digest_of(text);
        warc_seen_note(seen, WARC_NOTE_BODY, &d, span_str(text), 1);
        warc_seen_note(seen, WARC_NOTE_SAME, &d, span_str(text), 1);
    }
    CHECK("few", warc_seen_count(seen) > 5 && warc_seen_count(seen) < 30);
    CHECK("the first", warc_seen_url(seen, SPAN("http://a/0"), &got, &url, &at));
    CHECK("not the last", !warc_seen_url(seen, SPAN("http://a/999"), &got, &url, &at));
    struct digest160 other = digest_of("other");
    warc_seen_note(seen, WARC_NOTE_BODY, &other, SPAN("http://a/0"), 2);
    CHECK("what is not known any more is not told", !warc_seen_url(seen, SPAN("http://a/0"), &got, &url, &at));
    buf_done(&url);
    warc_seen_free(seen);
}

static void what_is_not_marked_is_undone(void **state)
{
    (void)state;
    struct stage s;
    stage_init(&s, 900, true);
    CHECK("no tag", warc_files_tag(s.f).n == 0);
    CHECK_STATUS("a", append_as(&s, "http://a/a", "one", "7:1"), ST_OK);
    CHECK_STATUS("b", append(&s, "http://a/b", "two"), ST_OK); /* as far as a kill let it come */
    stage_kill(&s, "torn");
    CHECK_STATUS("again", stage_open(&s), ST_OK);
    check_files("undone", NAME("0") ": http://a/a|");
    CHECK_SPAN("tag", warc_files_tag(s.f), SPAN("7:1"));
    CHECK_STATUS("b", append(&s, "http://a/b", "two"), ST_OK);
    stage_kill(&s, "");
    CHECK_STATUS("a file without a mark goes", stage_open(&s), ST_OK);
    check_files("undone", NAME("0") ": http://a/a|");
    CHECK_STATUS("b", append(&s, "http://a/b", "two"), ST_OK);
    warc_files_close(s.f); /* in order, and still not marked */
    CHECK_STATUS("again", stage_open(&s), ST_OK);
    check_files("undone", NAME("0") ": http://a/a|");
    CHECK_STATUS("b", append_as(&s, "http://a/b", "two", "7:2"), ST_OK);
    CHECK_STATUS("c", append_as(&s, "http://a/c", "three", "7:3"), ST_OK);
    CHECK_STATUS("d", append_as(&s, "http://a/d", "four", "8:1"), ST_OK);
    CHECK_SPAN("tag", warc_files_tag(s.f), SPAN("8:1"));
    stage_done(&s);
    check_files("rotated after a mark",
                NAME("0") ": http://a/a|" NAME("1") ": http://a/b http://a/c|" NAME("2") ": http://a/d|");
}

/* Wherever the disk fails, trying again has the same end, and a body whose record was undone is not referred to. */
static void a_marked_append_happens_or_does_not(void **state)
{
    (void)state;
    struct stage s;
    struct buf url = {0};
    struct digest160 two = digest_of("two");
    wall_ms at;
    stage_init(&s, 0, true);
    CHECK_STATUS("a", append_as(&s, "http://a/a", "one", "7:1"), ST_OK);
    unsigned refused = 0;
    for (uint64_t room = 0; room < 1000; room += 20, refused++) {
        file_inject_fault(room, ENOSPC);
        status st = append_as(&s, "http://a/b", "two", "7:2");
        file_inject_fault(0, 0);
        if (st == ST_OK)
            break;
        CHECK_STATUS("full", st, ST_FULL);
        check_files("while full", NAME("0") ".open: http://a/a|");
        CHECK_SPAN("tag", warc_files_tag(s.f), SPAN("7:1"));
        CHECK("not known", !warc_seen_payload(warc_files_seen(s.f), &two, SPAN("http://a/x"), &url, &at));
    }
    CHECK("it failed at several places", refused > 10);
    CHECK_SPAN("tag", warc_files_tag(s.f), SPAN("7:2"));
    CHECK("known", warc_seen_payload(warc_files_seen(s.f), &two, SPAN("http://a/x"), &url, &at));
    check_files("once", NAME("0") ".open: http://a/a http://a/b|");
    buf_done(&url);
    stage_done(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(files_are_named_and_rotated_by_size),
        TEST_IN_FOLDER(a_name_is_never_used_twice),
        TEST_IN_FOLDER(one_writer_at_a_time),
        TEST_IN_FOLDER(a_kill_loses_nothing_that_was_appended),
        TEST_IN_FOLDER(a_full_disk_leaves_whole_records),
        TEST_IN_FOLDER(a_new_file_that_does_not_fit_is_not_there),
        TEST_IN_FOLDER(bodies_are_remembered_over_a_restart),
        TEST_IN_FOLDER(what_was_cut_is_not_remembered),
        cmocka_unit_test(a_body_is_compared_within_its_site),
        cmocka_unit_test(memory_of_bodies_has_a_ceiling),
        TEST_IN_FOLDER(what_is_not_marked_is_undone),
        TEST_IN_FOLDER(a_marked_append_happens_or_does_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
