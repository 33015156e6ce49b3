/* The files of zip archives are where they are told to be, in every form that a directory has; what makes no sense is
 * said. */
#include "test.h"

#include "base/pack.h"
#include "codec/zip_files.h"

typedef struct {
    bool is_64;       /* numbers in their 64-bit form */
    const char *tail; /* a comment */
} form;

struct given {
    const char *name, *bytes;
    unsigned method, flags;
};

static void put_u16(struct buf *b, unsigned v)
{
    pack_u8(b, (uint8_t)v);
    pack_u8(b, (uint8_t)(v >> 8));
}

static void put_head(struct buf *out, const struct given *g)
{
    pack_u32(out, 0x04034b50);
    put_u16(out, 20);
    put_u16(out, g->flags);
    put_u16(out, g->method);
    pack_u32(out, 0);
    pack_u32(out, 0);
    pack_u32(out, (uint32_t)strlen(g->bytes));
    pack_u32(out, (uint32_t)strlen(g->bytes));
    put_u16(out, (unsigned)strlen(g->name));
    put_u16(out, 4); /* an extra field that the directory does not have */
    buf_puts(out, g->name);
    put_u16(out, 0xcafe);
    put_u16(out, 0);
    buf_puts(out, g->bytes);
}

static void put_entry(struct buf *out, const struct given *g, uint64_t at, bool is_64)
{
    uint32_t n = (uint32_t)strlen(g->bytes);
    pack_u32(out, 0x02014b50);
    put_u16(out, 45);
    put_u16(out, 45);
    put_u16(out, g->flags);
    put_u16(out, g->method);
    pack_u32(out, 0);
    pack_u32(out, 0);
    pack_u32(out, is_64 ? 0xffffffff : n);
    pack_u32(out, is_64 ? 0xffffffff : n + (g->method ? 7 : 0));
    put_u16(out, (unsigned)strlen(g->name));
    put_u16(out, is_64 ? 4 + 1 + 4 + 24 : 0);
    put_u16(out, 2);
    put_u16(out, 0);
    put_u16(out, 0);
    pack_u32(out, 0);
    pack_u32(out, is_64 ? 0xffffffff : (uint32_t)at);
    buf_puts(out, g->name);
    if (is_64) {
        put_u16(out, 0x5455);
        put_u16(out, 1);
        pack_u8(out, 9);
        put_u16(out, 1);
        put_u16(out, 24);
        pack_u64(out, n + (g->method ? 7 : 0));
        pack_u64(out, n);
        pack_u64(out, at);
    }
    buf_puts(out, "hm");
}

static void put_end(struct buf *out, size_t count, uint64_t at, const form *f)
{
    uint64_t bytes = out->n - at, end = out->n;
    if (f->is_64) {
        pack_u32(out, 0x06064b50);
        pack_u64(out, 44);
        put_u16(out, 45);
        put_u16(out, 45);
        pack_u32(out, 0);
        pack_u32(out, 0);
        pack_u64(out, count);
        pack_u64(out, count);
        pack_u64(out, bytes);
        pack_u64(out, at);
        pack_u32(out, 0x07064b50);
        pack_u32(out, 0);
        pack_u64(out, end);
        pack_u32(out, 1);
    }
    pack_u32(out, 0x06054b50);
    put_u16(out, 0);
    put_u16(out, 0);
    put_u16(out, (unsigned)count);
    put_u16(out, (unsigned)count);
    pack_u32(out, f->is_64 ? 0xffffffff : (uint32_t)bytes);
    pack_u32(out, f->is_64 ? 0xffffffff : (uint32_t)at);
    put_u16(out, (unsigned)strlen(f->tail));
    buf_puts(out, f->tail);
}

static void make(struct buf *out, const struct given *files, size_t count, const form *f)
{
    uint64_t at[8];
    for (size_t i = 0; i < count; i++) {
        at[i] = out->n;
        put_head(out, &files[i]);
    }
    uint64_t directory = out->n;
    for (size_t i = 0; i < count; i++)
        put_entry(out, &files[i], at[i], f->is_64);
    put_end(out, count, directory, f);
}

static status read_span(void *self, uint64_t at, size_t n, struct buf *out)
{
    struct span all = buf_span(self);
    assert_true(at <= all.n && n <= all.n - at && out->n == 0);
    buf_put(out, span_cut(all, (size_t)at, n));
    return ST_OK;
}

struct told {
    const struct buf *archive;
    struct buf text;
};

static status tell(void *arg, const struct zip_file *f)
{
    struct told *t = arg;
    assert_true(f->at <= t->archive->n && f->bytes <= t->archive->n - f->at);
    buf_printf(&t->text, "%.*s%s=%.*s ", SPAN_ARG(f->name), f->is_stored ? "" : "!",
               SPAN_ARG(span_cut(buf_span(t->archive), (size_t)f->at, (size_t)f->bytes)));
    return ST_OK;
}

static void check(const char *label, struct buf *archive, status want, const char *text)
{
    struct told t = {.archive = archive};
    CHECK_STATUS(label, zip_files_each(archive->n, read_span, archive, tell, &t), want);
    if (text)
        CHECK_SPAN(label, buf_span(&t.text), span_str(text));
    buf_done(&t.text);
}

static const struct given files[] = {{"archive/", "", 0, 0},
                                     {"archive/a.warc.gz", "the first", 0, 0},
                                     {"datapackage.json", "{...}", 8, 0},
                                     {"secret", "?", 0, 1},
                                     {"b", "", 0, 0}};

static void files_are_found(void **state)
{
    static const form forms[] = {
        {false, ""}, {true, ""}, {false, "said by whoever made it"}, {true, "PK\5\6 is no end by itself"}};
    for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
        struct buf archive = {0};
        make(&archive, files, sizeof(files) / sizeof(*files), &forms[i]);
        check(forms[i].tail, &archive, ST_OK, "archive/a.warc.gz=the first datapackage.json!={...} secret!=? b= ");
        buf_done(&archive);
    }
    struct buf archive = {0};
    make(&archive, files, 0, &forms[0]);
    check("none", &archive, ST_OK, "");
    buf_done(&archive);
}

static void what_is_cut_is_no_archive(void **state)
{
    struct buf archive = {0};
    make(&archive, files, 3, &(form){true, "end"});
    for (size_t n = 0; n < archive.n; n++) {
        struct buf cut = {0};
        buf_put(&cut, span_cut(buf_span(&archive), 0, n));
        check("cut", &cut, ST_INVALID, "");
        buf_done(&cut);
    }
    buf_done(&archive);
}

/* Whatever byte is changed: an answer, and nothing outside of the archive. */
static void changed_bytes_do_no_harm(void **state)
{
    for (int is_64 = 0; is_64 < 2; is_64++) {
        struct buf archive = {0};
        make(&archive, files, 3, &(form){is_64, "end"});
        for (size_t at = 0; at < archive.n; at++)
            for (int how = 0; how < 3; how++) {
                char was = archive.p[at];
                struct told t = {.archive = &archive};
                archive.p[at] = (char)(how == 0 ? 0 : how == 1 ? 0xff : was ^ 1);
                status st = zip_files_each(archive.n, read_span, &archive, tell, &t);
                CHECK("an answer", st == ST_OK || st == ST_INVALID || st == ST_CORRUPT || st == ST_LIMIT);
                archive.p[at] = was;
                buf_done(&t.text);
            }
        buf_done(&archive);
    }
}

/* One file under a thousand names would be read a thousand times. */
static void files_that_overlap_are_refused(void **state)
{
    struct buf archive = {0};
    put_head(&archive, &files[1]);
    uint64_t directory = archive.n;
    for (int i = 0; i < 200; i++)
        put_entry(&archive,
                  &(struct given){.name = "a",
                                  .bytes = "these are as long as the whole of the archive, or nearly so......"
                                           "....................................................."},
                  0, false);
    put_end(&archive, 200, directory, &(form){false, ""});
    check("overlap", &archive, ST_CORRUPT, NULL);
    buf_done(&archive);
}

static status fail_to_read(void *self, uint64_t at, size_t n, struct buf *out)
{
    return ST_IO;
}

static status stop(void *arg, const struct zip_file *f)
{
    return ST_END;
}

static void others_may_end_it(void **state)
{
    struct buf archive = {0};
    make(&archive, files, 3, &(form){false, ""});
    CHECK_STATUS("read", zip_files_each(archive.n, fail_to_read, NULL, stop, NULL), ST_IO);
    CHECK_STATUS("told", zip_files_each(archive.n, read_span, &archive, stop, NULL), ST_END);
    buf_done(&archive);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_found),          cmocka_unit_test(what_is_cut_is_no_archive),
        cmocka_unit_test(changed_bytes_do_no_harm), cmocka_unit_test(files_that_overlap_are_refused),
        cmocka_unit_test(others_may_end_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
