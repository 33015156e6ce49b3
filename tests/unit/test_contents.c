/* The log of page texts: what was synced is read back in order, whatever happens at its end; compaction keeps what
 * counts; contents and their compression round trip. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "base/rng.h"
#include "codec/zip.h"
#include "store/contents.h"
#include "store/file.h"
#include "test_folder.h"
#include "web/content.h"

static struct contents *open_log(void)
{
    struct contents *c = NULL;
    CHECK_STATUS("open", contents_open(test_folder(), &c), ST_OK);
    return c;
}

static void append(struct contents *c, uint64_t key, uint64_t fetch, const char *text)
{
    struct contents_record r = {.key = key, .fetch_number = fetch, .is_gone = !text, .content = span_str(text)};
    CHECK_STATUS("append", contents_append(c, &r), ST_OK);
    assert_int_equal(r.number, contents_last(c));
}

static status show(void *arg, const struct contents_record *r)
{
    buf_printf(arg, "%llu:%llu/%llu%s%.*s ", (unsigned long long)r->number, (unsigned long long)r->key,
               (unsigned long long)r->fetch_number, r->is_gone ? " gone" : "=", SPAN_ARG(r->content));
    return ST_OK;
}

static void check_log(const char *label, uint64_t after, const char *want)
{
    struct buf got = {0};
    unsigned damaged = 0;
    CHECK_STATUS(label, contents_each(test_folder(), after, show, &got, &damaged), ST_OK);
    CHECK_SPAN(label, buf_span(&got), span_str(want));
    buf_done(&got);
}

static void records_come_back_in_order_from_any_number(void **state)
{
    (void)state;
    struct contents *c = open_log();
    append(c, 7, 1, "one");
    append(c, 8, 2, "two");
    append(c, 7, 3, NULL);
    check_log("not synced: nothing is promised", 0, "");
    CHECK_STATUS("sync", contents_sync(c), ST_OK);
    check_log("all", 0, "1:7/1=one 2:8/2=two 3:7/3 gone ");
    contents_free(c);
    c = open_log();
    assert_int_equal(contents_last(c), 3);
    assert_int_equal(contents_records(c), 3);
    append(c, 9, 4, "four");
    CHECK_STATUS("sync", contents_sync(c), ST_OK);
    check_log("over two files", 1, "2:8/2=two 3:7/3 gone 4:9/4=four ");
    check_log("the newest", 3, "4:9/4=four ");
    check_log("none", 4, "");
    contents_free(c);
}

static void a_torn_end_is_cut_and_the_next_number_is_new(void **state)
{
    (void)state;
    struct contents *c = open_log();
    append(c, 1, 1, "whole");
    append(c, 2, 2, "torn");
    CHECK_STATUS("sync", contents_sync(c), ST_OK);
    contents_free(c);
    char path[TEST_PATH];
    struct stat sb;
    test_path(path, "0000000000000001");
    assert_int_equal(stat(path, &sb), 0);
    assert_int_equal(truncate(path, sb.st_size - 2), 0);
    c = open_log();
    assert_int_equal(contents_last(c), 1);
    append(c, 2, 3, "again");
    CHECK_STATUS("sync", contents_sync(c), ST_OK);
    contents_free(c);
    check_log("after", 0, "1:1/1=whole 2:2/3=again ");
}

static void a_kill_before_the_first_sync_leaves_a_usable_folder(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        struct contents *c = NULL;
        struct contents_record r = {.key = 1, .fetch_number = 1, .content = SPAN("lost")};
        if (contents_open(test_folder(), &c) == ST_OK && contents_append(c, &r) == ST_OK)
            kill(getpid(), SIGKILL);
        _exit(1);
    }
    int how = 0;
    waitpid(child, &how, 0);
    assert_true(WIFSIGNALED(how));
    struct contents *c = open_log();
    append(c, 2, 2, "kept");
    CHECK_STATUS("sync", contents_sync(c), ST_OK);
    contents_free(c);
    check_log("after", 0, "2:2/2=kept ");
}

static void a_full_disk_is_said_and_can_be_waited_for(void **state)
{
    (void)state;
    struct contents *c = open_log();
    append(c, 1, 1, "before");
    CHECK_STATUS("sync", contents_sync(c), ST_OK);
    append(c, 2, 2, "during");
    file_inject_fault(4, ENOSPC);
    CHECK_STATUS("full", contents_sync(c), ST_FULL);
    file_inject_fault(0, 0);
    CHECK_STATUS("space again", contents_sync(c), ST_OK);
    contents_free(c);
    check_log("after", 0, "1:1/1=before 2:2/2=during ");
}

static bool is_odd(void *arg, const struct contents_record *r)
{
    return !r->is_gone && r->key % 2;
}

/* Whatever byte of the middle of a file is changed: only its own record is lost, also when the file is written anew. */
static void damage_costs_its_own_record(void **state)
{
    (void)state;
    static const char *const texts[] = {"one", "two", "three, which is longer", NULL, "five"};
    char path[TEST_PATH];
    struct contents *c = open_log();
    size_t ends[6] = {24};
    for (unsigned i = 0; i < 5; i++) {
        append(c, i + 1, i + 1, texts[i]);
        ends[i + 1] = ends[i] + 9 + 24 + (texts[i] ? strlen(texts[i]) : 0);
    }
    CHECK_STATUS("sync", contents_sync(c), ST_OK);
    contents_free(c);
    test_path(path, "0000000000000001");
    struct span good = test_read_file(path);
    assert_int_equal(good.n, ends[5]);
    for (size_t at = ends[0], hit = 0; at < ends[5]; at++) {
        struct buf bad = {0}, got = {0}, want = {0};
        unsigned damaged = 0;
        hit += at == ends[hit + 1];
        buf_put(&bad, good);
        bad.p[at] ^= at % 2 ? 0x41 : 0xff;
        CHECK_STATUS("write", file_replace(path, buf_span(&bad)), ST_OK);
        for (unsigned i = 0; i < 5; i++)
            if (i != hit)
                buf_printf(&want, "%u:%u/%u%s%s ", i + 1, i + 1, i + 1, texts[i] ? "=" : " gone",
                           texts[i] ? texts[i] : "");
        CHECK_STATUS("read", contents_each(test_folder(), 0, show, &got, &damaged), ST_OK);
        CHECK_SPAN("what is left", buf_span(&got), buf_span(&want));
        assert_int_equal(damaged, hit == 4);
        buf_done(&bad);
        buf_done(&got);
        buf_done(&want);
    }
    struct buf bad = {0};
    buf_put(&bad, good);
    bad.p[ends[1] + 2] ^= 1; /* the length of the second */
    CHECK_STATUS("write", file_replace(path, buf_span(&bad)), ST_OK);
    c = open_log();
    assert_int_equal(contents_last(c), 5);
    CHECK_STATUS("compact", contents_compact(c, 0, is_odd, NULL), ST_OK);
    CHECK_STATUS("sync", contents_sync(c), ST_OK);
    contents_free(c);
    check_log("written anew", 0, "6:1/1=one 7:3/3=three, which is longer 8:5/5=five ");
    buf_done(&bad);
    free((char *)good.p);
}

static void compaction_keeps_what_counts(void **state)
{
    (void)state;
    for (uint64_t run = 0; run < 3; run++) {
        struct contents *c = open_log();
        for (uint64_t i = 1; i <= 4; i++)
            append(c, run * 10 + i, run * 10 + i, i == 4 ? NULL : "x");
        CHECK_STATUS("sync", contents_sync(c), ST_OK);
        contents_free(c);
    }
    struct contents *c = open_log();
    assert_int_equal(contents_records(c), 12);
    CHECK_STATUS("compact", contents_compact(c, 6, is_odd, NULL), ST_OK);
    assert_int_equal(contents_last(c), 18);
    check_log("only live ones, renumbered", 0, "13:1/1=x 14:3/3=x 15:11/11=x 16:13/13=x 17:21/21=x 18:23/23=x ");
    assert_int_equal(contents_records(c), 6);
    CHECK_STATUS("small enough already", contents_compact(c, 6, is_odd, NULL), ST_OK);
    contents_free(c);
    c = open_log();
    assert_int_equal(contents_last(c), 18);
    contents_free(c);
}

static void one_dictionary_is_kept(void **state)
{
    (void)state;
    struct contents *c = open_log();
    assert_int_equal(contents_dictionary(c).n, 0);
    CHECK_STATUS("put", contents_put_dictionary(c, SPAN("some bytes")), ST_OK);
    CHECK_STATUS("twice", contents_put_dictionary(c, SPAN("others")), ST_EXISTS);
    contents_free(c);
    c = open_log();
    CHECK_SPAN("kept", contents_dictionary(c), SPAN("some bytes"));
    contents_free(c);
}

/* ---- contents and their compression ---- */

static void a_content_round_trips_and_rejects_damage(void **state)
{
    (void)state;
    const struct fact_heading headings[] = {{1, SPAN_INIT("First")}, {3, SPAN_INIT("Third")}};
    const struct content_anchor anchors[] = {{SPAN_INIT("http://a.example/"), SPAN_INIT("the A")}};
    const struct summary_field fields[] = {{SPAN_INIT("price"), SPAN_INIT("9.99")},
                                           {SPAN_INIT("price"), SPAN_INIT("")}};
    const struct content_alternate alternates[] = {{SPAN_INIT("de"), SPAN_INIT("http://x.example/de")},
                                                   {SPAN_INIT("x-default"), SPAN_INIT("http://x.example/")}};
    const struct content in = {.url = SPAN("http://x.example/p"),
                               .title = SPAN("Title"),
                               .description = SPAN("About"),
                               .canonical = SPAN("http://x.example/"),
                               .lang = SPAN("en"),
                               .digest = 0xfeedfacecafebeefu,
                               .fetched = 1700000000123,
                               .changed = 1600000000456,
                               .page_flags = PAGE_NOSNIPPET,
                               .headings = headings,
                               .heading_count = 2,
                               .text = SPAN("All the text."),
                               .anchors = anchors,
                               .anchor_count = 1,
                               .is_keywords = true,
                               .fields = fields,
                               .field_count = 2,
                               .is_named = true,
                               .type = SPAN("application/zip"),
                               .bytes = 1234567,
                               .alternates = alternates,
                               .alternate_count = 2};
    struct buf packed = {0}, again = {0};
    struct arena a;
    struct content out;
    arena_init(&a);
    content_pack(&in, &packed);
    CHECK_STATUS("unpack", content_unpack(&a, buf_span(&packed), &out), ST_OK);
    content_pack(&out, &again);
    CHECK_SPAN("same bytes", buf_span(&again), buf_span(&packed));
    assert_int_equal(out.digest, in.digest);
    CHECK_SPAN("anchor", out.anchors[0].text, SPAN("the A"));
    CHECK("fields", out.is_keywords && out.field_count == 2);
    CHECK_SPAN("field", out.fields[0].value, SPAN("9.99"));
    CHECK_SPAN("type", out.type, SPAN("application/zip"));
    CHECK("file", out.is_named && out.bytes == 1234567);
    CHECK("alternates", out.alternate_count == 2);
    CHECK_SPAN("language", out.alternates[1].lang, SPAN("x-default"));
    CHECK_SPAN("its URL", out.alternates[0].url, SPAN("http://x.example/de"));
    for (size_t cut = 0; cut < packed.n; cut++)
        CHECK_STATUS("cut", content_unpack(&a, span_of(packed.p, cut), &out), ST_CORRUPT);
    buf_putc(&packed, 0);
    CHECK_STATUS("too long", content_unpack(&a, buf_span(&packed), &out), ST_CORRUPT);
    packed.p[0] = CONTENT_VERSION + 1;
    CHECK_STATUS("newer", content_unpack(&a, buf_span(&packed), &out), ST_NEWER);
    buf_done(&packed);
    buf_done(&again);
    arena_done(&a);
}

/* As it was written before there were types. */
static void a_content_of_version_2_is_read(void **state)
{
    (void)state;
    static const char old[] = "\2\1u\1t\0\0\2en\1\0\0\0\0\0\0\0\5\6\0\4text\0\0\1\1\1f\1v";
    struct arena a;
    struct content out;
    arena_init(&a);
    CHECK_STATUS("old", content_unpack(&a, span_of(old, sizeof(old) - 1), &out), ST_OK);
    CHECK("bits", out.is_keywords && !out.is_named && out.field_count == 1 && !out.type.n && !out.bytes);
    arena_done(&a);
}

/* As it was written before there were fields. */
static void a_content_of_version_1_is_read(void **state)
{
    (void)state;
    static const char old[] = "\1\1u\1t\0\0\2en\1\0\0\0\0\0\0\0\5\6\0\4text\1\2\1h\1\1a\1b";
    struct arena a;
    struct content out;
    arena_init(&a);
    CHECK_STATUS("old", content_unpack(&a, span_of(old, sizeof(old) - 1), &out), ST_OK);
    CHECK_SPAN("text", out.text, SPAN("text"));
    CHECK_SPAN("heading", out.headings[0].text, SPAN("h"));
    CHECK_SPAN("anchor", out.anchors[0].text, SPAN("b"));
    CHECK("no fields", !out.is_keywords && out.field_count == 0);
    arena_done(&a);
}

static void names_of_fields(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool is_good;
    } cases[] = {
        {"a", true},
        {"price_2", true},
        {"a2345678901234567890123456789012", true},
        {"a23456789012345678901234567890123", false},
        {"", false},
        {"_a", false},
        {"2a", false},
        {"Price", false},
        {"a b", false},
        {"a=b", false},
        {"a-b", false},
        {"\xc3\xa4", false},
        {"a\xc3\xa4", false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        CHECK(cases[i].name, content_field_name(span_str(cases[i].name)) == cases[i].is_good);
}

static void fields_past_the_ceilings_are_left_out(void **state)
{
    (void)state;
    struct summary_field f[SUMMARY_FIELDS_MAX];
    struct summary s = {.digest = 5, .fields = f};
    struct content c = {0};
    struct buf text = {0};
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < SUMMARY_FIELDS_MAX; i++)
        f[i] = (struct summary_field){i % 4 ? SPAN("good") : SPAN("Bad"), SPAN("v")};
    s.field_count = SUMMARY_FIELDS_MAX;
    content_take_fields(&a, &s, &c);
    CHECK("as many as may be", c.field_count == CONTENT_FIELDS_MAX);
    for (size_t i = 0; i < c.field_count; i++)
        CHECK_SPAN("good ones", c.fields[i].name, SPAN("good"));
    for (size_t i = 0; i < SUMMARY_FIELD_VALUE_MAX / 2; i++)
        buf_puts(&text, "\xc3\xa4");
    for (size_t i = 0; i < 8; i++)
        f[i] = (struct summary_field){SPAN("long"), buf_span(&text)};
    f[7].value = SPAN("short");
    s.field_count = 8;
    content_take_fields(&a, &s, &c);
    CHECK("what fits together", c.field_count == 4);
    CHECK("cut", c.fields[0].value.n == CONTENT_FIELD_VALUE_MAX);
    CHECK_SPAN("one that fits after some that do not", c.fields[3].value, SPAN("short"));
    s.field_count = 0;
    content_take_fields(&a, &s, &c);
    CHECK("none", c.field_count == 0);
    buf_done(&text);
    arena_done(&a);
}

static void the_digest_is_of_text_and_fields(void **state)
{
    (void)state;
    const struct summary_field f[] = {{SPAN_INIT("a"), SPAN_INIT("bc")}}, g[] = {{SPAN_INIT("ab"), SPAN_INIT("c")}},
                               bad[] = {{SPAN_INIT("A"), SPAN_INIT("bc")}};
    const struct summary none = {.digest = 5}, one = {.digest = 5, .fields = f, .field_count = 1},
                         other = {.digest = 5, .fields = g, .field_count = 1},
                         ignored = {.digest = 5, .fields = bad, .field_count = 1},
                         no_text = {.digest = 0, .fields = f, .field_count = 1};
    CHECK("without fields it is that of the text", content_digest(&none) == 5);
    CHECK("nor with fields that are not kept", content_digest(&ignored) == 5);
    CHECK("fields count", content_digest(&one) != 5);
    CHECK("where they part, too", content_digest(&one) != content_digest(&other));
    CHECK("no text", content_digest(&no_text) == 0);
}

static void put_sentence(struct rng *r, struct buf *out)
{
    static const char *const words[] = {"crawler ", "the ", "page ", "of ", "a small ", "website ", "and its links "};
    for (int i = 0; i < 12; i++)
        buf_puts(out, words[rng_below(r, 7)]);
    buf_printf(out, "%llu. ", (unsigned long long)rng_below(r, 100000));
}

static void records_shrink_with_a_dictionary_and_come_back(void **state)
{
    (void)state;
    struct rng r;
    struct buf samples = {0}, trained = {0};
    size_t sizes[200];
    rng_seed(&r, 5);
    for (int i = 0; i < 200; i++) {
        size_t from = samples.n;
        for (int k = 0; k < 6; k++)
            put_sentence(&r, &samples);
        sizes[i] = samples.n - from;
    }
    CHECK_STATUS("train", zip_dict_train(buf_span(&samples), sizes, 200, &trained), ST_OK);
    struct buf few = {0};
    CHECK_STATUS("too little", zip_dict_train(SPAN("abc"), (size_t[]){1, 1, 1}, 3, &few), ST_INVALID);
    assert_int_equal(few.n, 0);
    struct zip_dict *d = NULL;
    CHECK_STATUS("load", zip_dict_new(buf_span(&trained), 1, &d), ST_OK);
    CHECK_STATUS("not a dictionary", zip_dict_new(SPAN("nonsense"), 1, &d), ST_CORRUPT);
    struct zipper *z = zipper_new(1);
    struct unzipper *u = unzipper_new();
    size_t with = 0, without = 0;
    for (int i = 0; i < 50; i++) {
        struct buf in = {0}, out = {0}, plain = {0}, back = {0};
        put_sentence(&r, &in);
        zipper_run(z, d, buf_span(&in), &out);
        zipper_run(z, NULL, buf_span(&in), &plain);
        with += out.n;
        without += plain.n;
        CHECK_STATUS("back", unzipper_run(u, d, buf_span(&out), 1000, &back), ST_OK);
        CHECK_SPAN("same", buf_span(&back), buf_span(&in));
        CHECK_STATUS("frames without one need none", unzipper_run(u, d, buf_span(&plain), 1000, &back), ST_OK);
        CHECK_STATUS("no dictionary", unzipper_run(u, NULL, buf_span(&out), 1000, &back), ST_CORRUPT);
        CHECK_STATUS("ceiling", unzipper_run(u, d, buf_span(&out), in.n - 1, &back), ST_LIMIT);
        CHECK_STATUS("cut", unzipper_run(u, d, span_of(out.p, out.n - 1), 1000, &back), ST_CORRUPT);
        buf_done(&in);
        buf_done(&out);
        buf_done(&plain);
        buf_done(&back);
    }
    CHECK("smaller", with * 4 < without * 3);
    zipper_free(z);
    unzipper_free(u);
    zip_dict_free(d);
    buf_done(&samples);
    buf_done(&trained);
    buf_done(&few);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(records_come_back_in_order_from_any_number),
        TEST_IN_FOLDER(a_torn_end_is_cut_and_the_next_number_is_new),
        TEST_IN_FOLDER(a_kill_before_the_first_sync_leaves_a_usable_folder),
        TEST_IN_FOLDER(a_full_disk_is_said_and_can_be_waited_for),
        TEST_IN_FOLDER(damage_costs_its_own_record),
        TEST_IN_FOLDER(compaction_keeps_what_counts),
        TEST_IN_FOLDER(one_dictionary_is_kept),
        cmocka_unit_test(a_content_round_trips_and_rejects_damage),
        cmocka_unit_test(a_content_of_version_1_is_read),
        cmocka_unit_test(a_content_of_version_2_is_read),
        cmocka_unit_test(names_of_fields),
        cmocka_unit_test(fields_past_the_ceilings_are_left_out),
        cmocka_unit_test(the_digest_is_of_text_and_fields),
        cmocka_unit_test(records_shrink_with_a_dictionary_and_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
