/* What is written as tar is read as it was, by us and by tar; what could lead out of a folder is refused. */
#include "test.h"

#include <stdlib.h>
#include <unistd.h>

#include "codec/tar.h"
#include "codec/zip_stream.h"

/* Everything that a reader told, as lines. */
struct told {
    struct buf text;
    bool is_file;
};

static status on_entry(void *self, const struct tar_entry *e)
{
    struct told *t = self;
    buf_printf(&t->text, "%.*s %llu %o %lld%s:", SPAN_ARG(e->name), (unsigned long long)e->bytes, e->mode,
               (long long)e->at, e->is_folder ? " folder" : "");
    return ST_OK;
}

static status on_bytes(void *self, struct span piece)
{
    buf_put(&((struct told *)self)->text, piece);
    return ST_OK;
}

static status on_end(void *self)
{
    buf_putc(&((struct told *)self)->text, '\n');
    return ST_OK;
}

static status read_all(struct span archive, size_t piece, struct told *t)
{
    struct tar_reader *r = tar_reader_new(&(struct tar_events){on_entry, on_bytes, on_end, t});
    status st = ST_OK;
    for (size_t at = 0; st == ST_OK && at < archive.n; at += piece)
        st = tar_reader_feed(r, span_cut(archive, at, piece));
    if (st == ST_OK)
        st = tar_reader_end(r);
    tar_reader_free(r);
    return st;
}

static void put(struct buf *out, const char *name, const char *text)
{
    struct tar_entry e = {.name = span_str(name), .bytes = strlen(text), .mode = 0640, .at = 1700000000000};
    CHECK_STATUS(name, tar_put_head(out, &e), ST_OK);
    buf_puts(out, text);
    tar_put_padding(out, e.bytes);
}

static void comes_back_in_pieces_of_any_size(void **state)
{
    (void)state;
    static const char deep[] = "a-folder-with-a-name-of-some-length/another-folder-with-a-name-of-some-length/"
                               "a-third-one-so-that-the-path-has-more-than-a-hundred-bytes/file";
    static const size_t pieces[] = {1, 7, 511, 512, 513, 100000};
    struct buf out = {0};
    put(&out, "one", "text");
    put(&out, "empty", "");
    put(&out, deep, "below");
    struct tar_entry folder = {.name = SPAN("sub"), .is_folder = true, .mode = 0755};
    CHECK_STATUS("folder", tar_put_head(&out, &folder), ST_OK);
    tar_put_end(&out);
    assert_int_equal(out.n % TAR_BLOCK, 0);
    for (size_t i = 0; i < sizeof(pieces) / sizeof(*pieces); i++) {
        struct told t = {0};
        struct buf want = {0};
        CHECK_STATUS("read", read_all(buf_span(&out), pieces[i], &t), ST_OK);
        buf_printf(&want,
                   "one 4 640 1700000000000:text\nempty 0 640 1700000000000:\n%s 5 640 1700000000000:below\n"
                   "sub 0 755 0 folder:\n",
                   deep);
        CHECK_SPAN("told", buf_span(&t.text), buf_span(&want));
        buf_done(&t.text);
        buf_done(&want);
    }
    buf_done(&out);
}

static void sizes_over_eight_gibibytes_are_kept(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {(UINT64_C(1) << 33) - 1, UINT64_C(1) << 33, UINT64_C(123456789012345),
                                     TAR_FILE_MAX};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        struct buf out = {0}, want = {0};
        struct told t = {0};
        struct tar_entry e = {.name = SPAN("large"), .bytes = sizes[i], .mode = 0600};
        CHECK_STATUS("head", tar_put_head(&out, &e), ST_OK);
        CHECK_STATUS("cut short", read_all(buf_span(&out), 512, &t), ST_CORRUPT);
        buf_printf(&want, "large %llu 600 0:", (unsigned long long)sizes[i]);
        CHECK_SPAN("told", buf_span(&t.text), buf_span(&want));
        buf_done(&out);
        buf_done(&want);
        buf_done(&t.text);
    }
    struct buf out = {0};
    struct tar_entry e = {.name = SPAN("large"), .bytes = TAR_FILE_MAX + 1};
    CHECK_STATUS("too large", tar_put_head(&out, &e), ST_LIMIT);
    buf_done(&out);
}

static void names_that_lead_out_are_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"",    "/etc/passwd", "..", "../a", "a/../b", "a/..", ".",
                                        "./a", "a//b",        "a/", "a\nb", "a\\b",   "a/./b"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        struct tar_entry e = {.name = span_str(names[i])};
        struct buf out = {0};
        assert_false(tar_name_is_safe(e.name));
        CHECK_STATUS(names[i], tar_put_head(&out, &e), ST_INVALID);
        buf_done(&out);
    }
    assert_true(tar_name_is_safe(SPAN("..a/b..c/...")));
}

/* A header as somebody else would write it, with the right checksum. */
static void set_sum(char *block)
{
    unsigned sum = 0;
    memset(block + 148, ' ', 8);
    for (size_t i = 0; i < TAR_BLOCK; i++)
        sum += (unsigned char)block[i];
    snprintf(block + 148, 8, "%06o", sum);
}

static void hostile_headers_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *label;
        size_t at;
        const char *bytes;
        status want;
    } cases[] = {
        {"a path out", 0, "../../etc/passwd", ST_INVALID},
        {"an absolute path", 0, "/etc/passwd", ST_INVALID},
        {"a prefix that leads out", 345, "..", ST_INVALID},
        {"a symbolic link", 156, "2", ST_UNSUPPORTED},
        {"a hard link", 156, "1", ST_UNSUPPORTED},
        {"a device", 156, "3", ST_UNSUPPORTED},
        {"an extended header", 156, "x", ST_UNSUPPORTED},
        {"a size that is none", 124, "9", ST_CORRUPT},
        {"a size with a sign", 124, "-1", ST_CORRUPT},
        {"a size of all bits", 124, "\377\377\377\377\377\377\377\377\377\377\377\377", ST_CORRUPT},
        {"another magic", 257, "xstar", ST_CORRUPT},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct buf out = {0};
        struct told t = {0};
        put(&out, "name", "");
        memcpy(out.p + cases[i].at, cases[i].bytes, strlen(cases[i].bytes));
        set_sum(out.p);
        tar_put_end(&out);
        CHECK_STATUS(cases[i].label, read_all(buf_span(&out), 512, &t), cases[i].want);
        buf_done(&out);
        buf_done(&t.text);
    }
}

static void damage_and_cuts_are_noticed(void **state)
{
    (void)state;
    struct buf out = {0};
    put(&out, "one", "text");
    tar_put_end(&out);
    for (size_t cut = 0; cut < 1025; cut += 64) {
        struct told t = {0};
        CHECK_STATUS("cut", read_all(span_cut(buf_span(&out), 0, cut), 512, &t), ST_CORRUPT);
        buf_done(&t.text);
    }
    for (size_t at = 0; at < TAR_BLOCK; at += 3) {
        struct told t = {0};
        out.p[at] ^= 1;
        if (read_all(buf_span(&out), 512, &t) == ST_OK)
            fail_msg("byte %zu of the header may be changed", at);
        out.p[at] ^= 1;
        buf_done(&t.text);
    }
    buf_done(&out);
}

/* The programs that people have must be able to unpack it. */
static void other_tools_read_it(void **state)
{
    (void)state;
    char path[] = "/tmp/orb-test-tar-XXXXXX", command[256];
    struct buf out = {0}, zipped = {0};
    put(&out, "folder/one", "some text");
    put(&out, "two", "more");
    tar_put_end(&out);
    struct zip_stream *z = zip_stream_new(3);
    for (size_t at = 0; at < out.n; at += 100)
        zip_stream_put(z, span_cut(buf_span(&out), at, 100), &zipped);
    zip_stream_end(z, &zipped);
    zip_stream_free(z);
    int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, zipped.p, zipped.n) == (ssize_t)zipped.n);
    close(fd);
    snprintf(command, sizeof(command), "test \"$(zstd -dcq <%s | tar -xOf - folder/one)\" = 'some text'", path);
    int code = system("command -v zstd >/dev/null && command -v tar >/dev/null") == 0 ? system(command) : 0;
    unlink(path);
    assert_int_equal(code, 0);
    buf_done(&out);
    buf_done(&zipped);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comes_back_in_pieces_of_any_size), cmocka_unit_test(sizes_over_eight_gibibytes_are_kept),
        cmocka_unit_test(names_that_lead_out_are_refused),  cmocka_unit_test(hostile_headers_are_refused),
        cmocka_unit_test(damage_and_cuts_are_noticed),      cmocka_unit_test(other_tools_read_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
