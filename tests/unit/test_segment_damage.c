#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "segment_twin.h"
#include "test_reseal.h"

static void flip(uint32_t number, unsigned file, off_t at, unsigned char mask)
{
    char path[TEST_PATH];
    struct buf name = {0};
    unsigned char c = 0;
    segment_file_name(&name, number, file);
    test_path(path, buf_cstr(&name));
    int fd = open(path, O_RDWR);
    assert_true(fd >= 0 && pread(fd, &c, 1, at) == 1);
    c ^= mask;
    assert_int_equal(pwrite(fd, &c, 1, at), 1);
    close(fd);
    buf_done(&name);
}

static off_t file_size(uint32_t number, unsigned file)
{
    char path[TEST_PATH];
    struct buf name = {0};
    struct stat sb;
    segment_file_name(&name, number, file);
    test_path(path, buf_cstr(&name));
    assert_int_equal(stat(path, &sb), 0);
    buf_done(&name);
    return sb.st_size;
}

static void any_changed_byte_is_noticed(void **state)
{
    (void)state;
    struct twin t;
    struct rng r;
    rng_seed(&r, SEED);
    make_twin(&t, SEED + 5, 200, 60, true);
    CHECK_STATUS("write", write_twin(&t, NUMBER), ST_OK);
    for (unsigned file = 0; file < SEGMENT_FILES; file++)
        for (int k = 0; k < 60; k++) {
            off_t size = file_size(NUMBER, file);
            off_t at = k < 30 ? (off_t)rng_below(&r, (uint64_t)size) : size - 1 - k + 30;
            struct segment *s = NULL;
            struct buf problem = {0};
            struct segment_counts counts;
            flip(NUMBER, file, at, (unsigned char)(1 << k % 8));
            status st = segment_open(test_folder(), NUMBER, &s);
            if (st == ST_OK)
                st = segment_check(s, &problem, &counts);
            if (st != ST_CORRUPT && st != ST_NEWER)
                fail_msg("file %u, byte %lld: %s", file, (long long)at, status_name(st));
            segment_free(s);
            buf_done(&problem);
            flip(NUMBER, file, at, (unsigned char)(1 << k % 8));
        }
    segment_free(open_segment(NUMBER));
    free_twin(&t);
}

static void a_file_cut_short_missing_or_foreign_does_not_open(void **state)
{
    (void)state;
    struct twin t;
    struct segment *s = NULL;
    make_twin(&t, SEED + 6, 20, 20, true);
    for (unsigned file = 0; file < SEGMENT_FILES; file++) {
        char path[TEST_PATH], other[TEST_PATH];
        struct buf name = {0};
        CHECK_STATUS("write", write_twin(&t, NUMBER), ST_OK);
        CHECK_STATUS("write another", write_twin(&t, NUMBER + 1), ST_OK);
        segment_file_name(&name, NUMBER, file);
        test_path(path, buf_cstr(&name));
        buf_clear(&name);
        segment_file_name(&name, NUMBER + 1, file);
        test_path(other, buf_cstr(&name));
        for (off_t size = file_size(NUMBER, file) - 1; size >= 0; size -= 97) {
            assert_int_equal(truncate(path, size), 0);
            CHECK_STATUS("cut", segment_open(test_folder(), NUMBER, &s), ST_CORRUPT);
        }
        assert_int_equal(rename(other, path), 0);
        CHECK_STATUS("of another segment", segment_open(test_folder(), NUMBER, &s), ST_CORRUPT);
        assert_int_equal(unlink(path), 0);
        CHECK_STATUS("missing", segment_open(test_folder(), NUMBER, &s), ST_NOT_FOUND);
        assert_null(s);
        buf_done(&name);
    }
    free_twin(&t);
}

static void a_newer_format_is_told_apart(void **state)
{
    (void)state;
    struct twin t;
    struct segment *s = NULL;
    make_twin(&t, SEED + 6, 20, 20, true);
    CHECK_STATUS("write", write_twin(&t, NUMBER), ST_OK);
    flip(NUMBER, FILE_POST, 6, '1' ^ '2');
    CHECK_STATUS("open", segment_open(test_folder(), NUMBER, &s), ST_NEWER);
    free_twin(&t);
}

/* A million positions: many chunks, the last of which is damaged. */
static void damage_is_found_when_it_is_read_not_before(void **state)
{
    (void)state;
    enum { DOCS = 4000, EACH = 60 };
    struct segment_writer *w = writer_with_docs(DOCS);
    uint32_t positions[EACH];
    static const char *const terms[] = {"a", "b", "c"};
    for (int k = 0; k < 3; k++) {
        CHECK_STATUS("term", segment_writer_term(w, span_str(terms[k])), ST_OK);
        for (uint32_t doc = 0; doc < DOCS; doc++) {
            for (uint32_t i = 0; i < EACH; i++)
                positions[i] = POSITION_BODY + i * (doc % 100 + 1);
            CHECK_STATUS("posting", segment_writer_posting(w, doc, EACH, 0, positions, EACH), ST_OK);
        }
    }
    CHECK_STATUS("finish", segment_writer_finish(w), ST_OK);
    segment_writer_free(w);
    assert_true(file_size(NUMBER, FILE_POS) > 5 * CHUNKED_CHUNK);
    flip(NUMBER, FILE_POS, file_size(NUMBER, FILE_POS) - 200, 1);
    struct segment *s = open_segment(NUMBER);
    for (int k = 0; k < 3; k++) {
        struct term_info info;
        struct postings p;
        CHECK_STATUS("find", segment_find_term(s, span_str(terms[k]), &info), ST_OK);
        postings_open(&p, s, &info);
        assert_int_equal(postings_seek(&p, DOCS - 1), DOCS - 1);
        assert_int_equal(postings_body(&p), EACH);
        assert_int_equal(postings_positions(&p, positions, EACH), k < 2 ? EACH : 0);
        assert_int_equal(p.st, k < 2 ? ST_OK : ST_CORRUPT);
        assert_int_equal(p.doc, k < 2 ? DOCS - 1 : POSTINGS_END);
    }
    segment_free(s);
}

/* Changes one byte and puts the checksums right. */
static void damage_quietly(unsigned file, uint64_t at, unsigned char mask)
{
    char path[TEST_PATH];
    struct buf name = {0};
    segment_file_name(&name, NUMBER, file);
    test_path(path, buf_cstr(&name));
    struct span s = test_read_file(path);
    unsigned char *p = (unsigned char *)(uintptr_t)s.p;
    p[at] ^= mask;
    reseal(p, s.n);
    CHECK_STATUS("write back", file_replace(path, s), ST_OK);
    free(p);
    buf_done(&name);
}

/* The first term with a list of blocks that is not in every document, and where its entry ends in the dictionary. */
static struct term_info long_term(const struct segment *s, uint64_t *entry_end)
{
    struct dict_cursor d;
    status st = dict_seek(&d, s, SPAN(""));
    while (st == ST_OK && (d.info.df < 2 * POSTINGS_BLOCK || d.info.df == s->docs || !d.info.has_positions))
        st = dict_next(&d);
    CHECK_STATUS("a long list", st, ST_OK);
    *entry_end = d.at;
    return d.info;
}

static void what_does_not_fit_together_is_found(void **state)
{
    (void)state;
    struct twin t;
    make_twin(&t, SEED + 8, 600, 60, true);
    CHECK_STATUS("write", write_twin(&t, NUMBER), ST_OK);
    struct segment *s = open_segment(NUMBER);
    uint64_t entry_end = 0;
    struct term_info list = long_term(s, &entry_end);
    const struct chunked *docs = &s->files[FILE_DOCS], *dict = &s->files[FILE_DICT];
    const uint64_t docs_info = docs->body + 4 * (uint64_t)docs->chunks,
                   dict_info = dict->body + 4 * (uint64_t)dict->chunks;
    const uint64_t headers =
        list.post_at + list.post_bytes - HEADER_BYTES * (uint64_t)((list.df + POSTINGS_BLOCK - 1) / POSTINGS_BLOCK);
    const struct {
        const char *label;
        unsigned file;
        uint64_t at;
        unsigned char mask;
        const char *phrase;
    } cases[] = {
        {"site of a row", FILE_DOCS, 64 + 47, 0x80, "row of document 0"},
        {"bytes of a stored record", FILE_DOCS, 64 + 52, 1, "stored record of document"},
        {"place of a stored record", FILE_DOCS, 128 + 56, 1, "stored record of document 1"},
        {"length of a URL", FILE_TEXT, 64, 0x7F, "stored record of document 0"},
        {"change time", FILE_DOCS, 64 + 39, 0x80, "change time"},
        {"language", FILE_DOCS, 64 + 48, 1, "language"},
        {"count of a language", FILE_DOCS, s->languages_at + 4, 1, "language"},
        {"end of a site's name", FILE_DOCS, s->site_ends_at + 3, 0x80, "site 0"},
        {"largest prior", FILE_DOCS, docs_info + 8 * DOCS_PRIOR_MAX, 1, "prior"},
        {"newest", FILE_DOCS, docs_info + 8 * DOCS_NEWEST, 1, "change time"},
        {"a key", FILE_KEYS, 64, 1, "key 0"},
        {"a key's document", FILE_KEYS, 64 + 8 * 600, 1, "key 0"},
        {"sum of body counts", FILE_DICT, dict_info + 8 * DICT_BODY_TOKENS, 1, "body counts"},
        {"bound of a list", FILE_DICT, entry_end - 1, 0xFF & (list.bound ^ 1), "above its bound"},
        {"bound of a block", FILE_POST, headers + 12, 0x7F, "bound"},
        {"last document of a block", FILE_POST, headers, 1, "cannot be read"},
        {"steps of a block", FILE_POST, list.post_at, 1, "cannot be read"},
        {"first term in the index", FILE_DICT, s->dict_index_at + DICT_INDEX_BYTES + 7, 0xFF, "index of terms"},
        {"offset of a block of terms", FILE_DICT, s->dict_index_at + DICT_INDEX_BYTES + 8, 1, "dictionary"},
        {"positions", FILE_POS, list.pos_at, 0x80, "positions"},
    };
    segment_free(s);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct buf problem = {0};
        struct segment_counts counts;
        damage_quietly(cases[i].file, cases[i].at, cases[i].mask);
        s = open_segment(NUMBER);
        CHECK_STATUS(cases[i].label, segment_check(s, &problem, &counts), ST_CORRUPT);
        if (!strstr(buf_cstr(&problem), cases[i].phrase))
            fail_msg("%s: \"%s\" lacks \"%s\"", cases[i].label, problem.p, cases[i].phrase);
        segment_free(s);
        buf_done(&problem);
        damage_quietly(cases[i].file, cases[i].at, cases[i].mask);
    }
    struct segment_counts counts;
    s = open_segment(NUMBER);
    check_segment_is_sound("afterwards", s, &counts);
    segment_free(s);
    free_twin(&t);
}

static void a_full_disk_leaves_nothing_behind(void **state)
{
    (void)state;
    struct twin t;
    make_twin(&t, SEED + 7, 3000, 300, true);
    CHECK_STATUS("write", write_twin(&t, NUMBER), ST_OK);
    uint64_t all = 0;
    for (unsigned i = 0; i < SEGMENT_FILES; i++)
        all += (uint64_t)file_size(NUMBER, i);
    segment_remove(test_folder(), NUMBER);
    for (uint64_t after = 0; after < all; after += 1 + all / 40) {
        file_inject_fault(after, ENOSPC);
        CHECK_STATUS("full", write_twin(&t, NUMBER), ST_FULL);
        assert_int_equal(errno, ENOSPC);
        assert_true(files_are_gone());
        file_inject_fault(after, EIO);
        CHECK_STATUS("broken", write_twin(&t, NUMBER), ST_IO);
        assert_true(files_are_gone());
    }
    file_inject_fault(0, 0);
    CHECK_STATUS("no folder", segment_writer_new("/nonexistent/folder", 1, &(struct segment_writer *){NULL}), ST_IO);
    CHECK_STATUS("afterwards", write_twin(&t, NUMBER), ST_OK);
    segment_free(open_segment(NUMBER));
    free_twin(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(any_changed_byte_is_noticed),
        TEST_IN_FOLDER(a_file_cut_short_missing_or_foreign_does_not_open),
        TEST_IN_FOLDER(a_newer_format_is_told_apart),
        TEST_IN_FOLDER(damage_is_found_when_it_is_read_not_before),
        TEST_IN_FOLDER(what_does_not_fit_together_is_found),
        TEST_IN_FOLDER(a_full_disk_leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
