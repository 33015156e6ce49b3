#include "test.h"

#include "mobile/message.h"
#include "mobile/page_make.h"
#include "mobile/program.h"

/* ---- the file ---- */

#define KEY43 "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
#define SIG86 KEY43 KEY43

static void file_is_read_or_refused(void **state)
{
    static const struct {
        const char *label, *file;
        status st;
    } cases[] = {
        {"not signed", "orb-program 1\nname: a-b_C9\nserial: 7\n\nx", ST_OK},
        {"signed", "orb-program 1\nname: a\nserial: 7\nkey: " KEY43 "\nsig: " SIG86 "\n\nx", ST_OK},
        {"serial 0", "orb-program 1\nname: a\nserial: 0\n\nx", ST_OK},
        {"largest serial", "orb-program 1\nname: a\nserial: 9223372036854775807\n\nx", ST_OK},
        {"script of lines", "orb-program 1\nname: a\nserial: 1\n\n\n\nname: b\n", ST_OK},
        {"empty", "", ST_INVALID},
        {"newer", "orb-program 2\nwhatever", ST_NEWER},
        {"version 0", "orb-program 0\nname: a\nserial: 1\n\nx", ST_INVALID},
        {"version 01", "orb-program 01\nname: a\nserial: 1\n\nx", ST_INVALID},
        {"no version", "orb-program \nname: a\nserial: 1\n\nx", ST_INVALID},
        {"plain Lua", "function page(p) end\n", ST_INVALID},
        {"no name", "orb-program 1\nserial: 7\n\nx", ST_INVALID},
        {"empty name", "orb-program 1\nname: \nserial: 7\n\nx", ST_INVALID},
        {"name with a dot", "orb-program 1\nname: a.b\nserial: 7\n\nx", ST_INVALID},
        {"name with a slash", "orb-program 1\nname: ../a\nserial: 7\n\nx", ST_INVALID},
        {"name of 33", "orb-program 1\nname: aaaaaaaaaabbbbbbbbbbccccccccccddd\nserial: 7\n\nx", ST_INVALID},
        {"no serial", "orb-program 1\nname: a\n\nx", ST_INVALID},
        {"serial too large", "orb-program 1\nname: a\nserial: 9223372036854775808\n\nx", ST_INVALID},
        {"serial with a zero before it", "orb-program 1\nname: a\nserial: 07\n\nx", ST_INVALID},
        {"negative serial", "orb-program 1\nname: a\nserial: -1\n\nx", ST_INVALID},
        {"other order", "orb-program 1\nserial: 7\nname: a\n\nx", ST_INVALID},
        {"key alone", "orb-program 1\nname: a\nserial: 7\nkey: " KEY43 "\n\nx", ST_INVALID},
        {"signature alone", "orb-program 1\nname: a\nserial: 7\nsig: " SIG86 "\n\nx", ST_INVALID},
        {"short key", "orb-program 1\nname: a\nserial: 7\nkey: AAAA\nsig: " SIG86 "\n\nx", ST_INVALID},
        {"unknown line", "orb-program 1\nname: a\nserial: 7\nmore: x\n\nx", ST_INVALID},
        {"CRLF", "orb-program 1\r\nname: a\r\nserial: 7\r\n\r\nx", ST_INVALID},
        {"no script", "orb-program 1\nname: a\nserial: 7\n\n", ST_INVALID},
        {"no end of the head", "orb-program 1\nname: a\nserial: 7\n", ST_INVALID},
        {"compiled script", "orb-program 1\nname: a\nserial: 7\n\n\x1bLua", ST_INVALID},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct program p;
        struct buf why = {0}, again = {0};
        status st = program_read(span_str(cases[i].file), &p, &why);
        CHECK_STATUS(cases[i].label, st, cases[i].st);
        CHECK(cases[i].label, (st == ST_INVALID) == (why.n > 0));
        CHECK_STATUS(cases[i].label, program_read(span_str(cases[i].file), &p, NULL), cases[i].st);
        if (st == ST_OK) {
            program_write(&p, &again);
            CHECK_SPAN(cases[i].label, buf_span(&again), span_str(cases[i].file));
        }
        buf_done(&why);
        buf_done(&again);
    }
}

static void long_files_are_refused(void **state)
{
    struct buf file = {0};
    struct program p;
    buf_puts(&file, "orb-program 1\nname: a\nserial: 7\n\n");
    size_t head = file.n;
    while (file.n < head + PROGRAM_SCRIPT_MAX)
        buf_putc(&file, ' ');
    assert_int_equal(program_read(buf_span(&file), &p, NULL), ST_OK);
    assert_int_equal(p.script.n, PROGRAM_SCRIPT_MAX);
    buf_putc(&file, ' ');
    assert_int_equal(program_read(buf_span(&file), &p, NULL), ST_LIMIT);
    while (file.n <= PROGRAM_FILE_MAX)
        buf_putc(&file, ' ');
    assert_int_equal(program_read(buf_span(&file), &p, NULL), ST_LIMIT);
    buf_done(&file);
}

static void signature_covers_name_serial_and_script(void **state)
{
    struct sign_key key, other;
    sign_key_of((const unsigned char *)"0123456789abcdef0123456789abcdef", &key);
    sign_key_of((const unsigned char *)"0123456789abcdef0123456789abcdeg", &other);
    struct program p = {.name = SPAN("prices"), .serial = 7, .script = SPAN("function page(p) end\n")}, q;
    assert_false(program_is_signed_by(&p, &key.open));
    program_sign(&p, &key);
    assert_true(program_is_signed_by(&p, &key.open));
    assert_false(program_is_signed_by(&p, &other.open));
    struct buf file = {0};
    program_write(&p, &file);
    assert_int_equal(program_read(buf_span(&file), &q, NULL), ST_OK);
    assert_true(program_is_signed_by(&q, &key.open));
    q.serial = 8;
    assert_false(program_is_signed_by(&q, &key.open));
    q.serial = 7;
    q.name = SPAN("price");
    assert_false(program_is_signed_by(&q, &key.open));
    q.name = SPAN("prices");
    q.script = SPAN("function page(p) end");
    assert_false(program_is_signed_by(&q, &key.open));
    q.script = p.script;
    assert_true(program_is_signed_by(&q, &key.open));
    q.key = other.open; /* says that it is of another */
    assert_false(program_is_signed_by(&q, &other.open));
    assert_false(program_is_signed_by(&q, &key.open));
    buf_done(&file);
}

/* Any changed byte makes the file unreadable, or its signature wrong. */
static void no_byte_of_a_signed_file_can_be_changed(void **state)
{
    struct sign_key key;
    sign_key_of((const unsigned char *)"0123456789abcdef0123456789abcdef", &key);
    struct program p = {.name = SPAN("prices"), .serial = 7, .script = SPAN("function page(p) end\n")}, q;
    struct buf file = {0};
    program_sign(&p, &key);
    program_write(&p, &file);
    for (size_t i = 0; i < file.n; i++)
        for (int bit = 0; bit < 8; bit++) {
            file.p[i] ^= (char)(1 << bit);
            if (program_read(buf_span(&file), &q, NULL) == ST_OK && program_is_signed_by(&q, &key.open))
                fail_msg("byte %zu bit %d may be changed", i, bit);
            file.p[i] ^= (char)(1 << bit);
        }
    buf_done(&file);
}

/* ---- messages ---- */

static struct span one_message(struct buf *b, uint8_t want)
{
    struct span rest = buf_span(b), payload = {0};
    uint8_t kind = 0;
    assert_int_equal(message_next(&rest, MESSAGE_TO_WORKER_MAX, &kind, &payload), ST_OK);
    assert_int_equal(kind, want);
    assert_int_equal(rest.n, 0);
    return payload;
}

static void page_comes_out_as_it_went_in(void **state)
{
    const struct fact_heading headings[] = {{1, SPAN_INIT("One")}, {2, SPAN_INIT("Two")}};
    const struct fact_link links[] = {{SPAN_INIT("http://a/"), SPAN_INIT("A"), LINK_A, REL_UGC}};
    const struct program_meta metas[] = {{SPAN_INIT("Author"), SPAN_INIT("Me")}};
    const struct program_page p = {.url = SPAN("http://h/"),
                                   .http_status = 200,
                                   .headers = SPAN("A: b\n"),
                                   .title = SPAN("T"),
                                   .description = SPAN("D"),
                                   .lang = SPAN("en"),
                                   .text = SPAN("text"),
                                   .headings = headings,
                                   .heading_count = 2,
                                   .links = links,
                                   .link_count = 1,
                                   .metas = metas,
                                   .meta_count = 1};
    struct program_page q;
    struct buf b = {0};
    struct arena a;
    arena_init(&a);
    message_put_page(&b, &p);
    assert_int_equal(message_get_page(&a, one_message(&b, MSG_PAGE), &q), ST_OK);
    CHECK_SPAN("url", q.url, p.url);
    assert_int_equal(q.http_status, 200);
    CHECK_SPAN("headers", q.headers, p.headers);
    CHECK_SPAN("title", q.title, p.title);
    CHECK_SPAN("description", q.description, p.description);
    CHECK_SPAN("lang", q.lang, p.lang);
    CHECK_SPAN("text", q.text, p.text);
    assert_int_equal(q.heading_count, 2);
    CHECK_SPAN("heading", q.headings[1].text, SPAN("Two"));
    assert_int_equal(q.headings[1].level, 2);
    assert_int_equal(q.link_count, 1);
    CHECK_SPAN("link", q.links[0].href, SPAN("http://a/"));
    assert_int_equal(q.links[0].rel, REL_UGC);
    CHECK_SPAN("meta", q.metas[0].content, SPAN("Me"));
    buf_done(&b);
    arena_done(&a);
}

static void large_page_is_cut_to_fit(void **state)
{
    struct buf big = {0}, b = {0};
    struct arena a;
    struct program_page q;
    arena_init(&a);
    while (big.n < (6u << 20))
        buf_puts(&big, "\xc3\xa9");
    struct fact_link *links = calloc(FACTS_LINKS_MAX + 10, sizeof(*links));
    struct fact_heading *headings = calloc(FACTS_HEADINGS_MAX + 10, sizeof(*headings));
    struct program_meta *metas = calloc(PROGRAM_METAS_MAX + 10, sizeof(*metas));
    for (size_t i = 0; i < FACTS_LINKS_MAX + 10; i++)
        links[i] = (struct fact_link){.href = span_cut(buf_span(&big), 0, 900), .text = buf_span(&big)};
    links[0].href = span_cut(buf_span(&big), 0, 9000);
    for (size_t i = 0; i < FACTS_HEADINGS_MAX + 10; i++)
        headings[i].text = buf_span(&big);
    for (size_t i = 0; i < PROGRAM_METAS_MAX + 10; i++)
        metas[i] = (struct program_meta){buf_span(&big), buf_span(&big)};
    for (size_t i = 0; i < FACTS_LINKS_MAX + 10; i++)
        links[i].text = span_cut(buf_span(&big), 0, 100);
    struct span t = buf_span(&big);
    struct program_page p = {
        .url = t, .http_status = 99999, .headers = t, .title = t, .description = t, .lang = t, .text = t};
    p.links = links;
    p.link_count = FACTS_LINKS_MAX + 10;
    p.headings = headings;
    p.heading_count = FACTS_HEADINGS_MAX + 10;
    p.metas = metas;
    p.meta_count = PROGRAM_METAS_MAX + 10;
    message_put_page(&b, &p);
    assert_true(b.n < MESSAGE_TO_WORKER_MAX);
    assert_int_equal(message_get_page(&a, one_message(&b, MSG_PAGE), &q), ST_OK);
    assert_int_equal(q.text.n, PROGRAM_TEXT_MAX);
    assert_int_equal(q.http_status, 0);
    assert_true(q.link_count > 1000 && q.link_count < FACTS_LINKS_MAX);
    assert_int_equal(q.links[0].href.n, 0);
    assert_int_equal(q.links[1].href.n, 900);
    free(links);
    free(headings);
    free(metas);
    buf_done(&big);
    buf_done(&b);
    arena_done(&a);
}

static void result_is_checked_by_its_reader(void **state)
{
    const struct program_field good[] = {{SPAN_INIT("price"), SPAN_INIT("12")}},
                               bad_name[] = {{SPAN_INIT("Price"), SPAN_INIT("1")}},
                               bad_text[] = {{SPAN_INIT("price"), SPAN_INIT("\xff")}},
                               no_name[] = {{SPAN_INIT(""), SPAN_INIT("1")}};
    const struct span follow[] = {SPAN_INIT("/a"), SPAN_INIT("/b")};
    const struct {
        const char *label;
        struct program_result r;
        status st;
    } cases[] = {
        {"nothing", {.st = ST_OK}, ST_OK},
        {"all of it",
         {.st = ST_OK,
          .is_skipped = true,
          .has_summary = true,
          .summary = SPAN("s"),
          .fields = good,
          .field_count = 1,
          .follows = follow,
          .follow_count = 2},
         ST_OK},
        {"error", {.st = ST_INVALID, .why = SPAN("x:1: oh")}, ST_OK},
        {"limit", {.st = ST_LIMIT, .why = SPAN("x:1: oh")}, ST_OK},
        {"a status of the master's", {.st = ST_TIMEOUT}, ST_CORRUPT},
        {"a status of nobody", {.st = (status)200}, ST_CORRUPT},
        {"fields of an error", {.st = ST_INVALID, .fields = good, .field_count = 1}, ST_CORRUPT},
        {"summary of none", {.st = ST_OK, .summary = SPAN("s")}, ST_CORRUPT},
        {"summary that is not UTF-8", {.st = ST_OK, .has_summary = true, .summary = SPAN("\xff")}, ST_CORRUPT},
        {"bad name", {.st = ST_OK, .fields = bad_name, .field_count = 1}, ST_CORRUPT},
        {"no name", {.st = ST_OK, .fields = no_name, .field_count = 1}, ST_CORRUPT},
        {"value that is not UTF-8", {.st = ST_OK, .fields = bad_text, .field_count = 1}, ST_CORRUPT},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct buf b = {0};
        struct arena a;
        struct program_result r = {0};
        arena_init(&a);
        message_put_result(&b, &cases[i].r);
        CHECK_STATUS(cases[i].label, message_get_result(&a, one_message(&b, MSG_RESULT), &r), cases[i].st);
        if (cases[i].st == ST_OK) {
            CHECK(cases[i].label, r.st == cases[i].r.st && r.is_skipped == cases[i].r.is_skipped);
            CHECK(cases[i].label, r.field_count == cases[i].r.field_count && r.follow_count == cases[i].r.follow_count);
            CHECK_SPAN(cases[i].label, r.why, cases[i].r.why);
            CHECK_SPAN(cases[i].label, r.summary, cases[i].r.summary);
        }
        buf_done(&b);
        arena_done(&a);
    }
}

static void emitted_bytes_have_a_ceiling_in_all(void **state)
{
    struct program_field f[PROGRAM_FIELDS_MAX];
    char value[PROGRAM_FIELD_MAX];
    memset(value, 'x', sizeof(value));
    for (size_t i = 0; i < PROGRAM_FIELDS_MAX; i++)
        f[i] = (struct program_field){SPAN("a"), span_of(value, sizeof(value))};
    for (size_t n = 0; n <= PROGRAM_FIELDS_MAX; n++) {
        struct program_result r = {.st = ST_OK, .fields = f, .field_count = n};
        struct buf b = {0};
        struct arena a;
        arena_init(&a);
        message_put_result(&b, &r);
        status want = n * PROGRAM_FIELD_MAX <= PROGRAM_EMIT_MAX ? ST_OK : ST_CORRUPT;
        assert_int_equal(message_get_result(&a, one_message(&b, MSG_RESULT), &r), want);
        buf_done(&b);
        arena_done(&a);
    }
}

static void messages_are_cut_out_of_any_pieces(void **state)
{
    struct buf b = {0};
    message_put_ready(&b);
    message_put_failed(&b, SPAN("why"));
    message_put_script(&b, SPAN("name"), SPAN("script"));
    for (size_t n = 0; n <= b.n; n++) {
        struct span in = span_cut(buf_span(&b), 0, n), payload, x, y;
        uint8_t kind;
        unsigned whole = 0;
        status st;
        while ((st = message_next(&in, 100, &kind, &payload)) == ST_OK) {
            whole++;
            if (kind == MSG_FAILED) {
                assert_int_equal(message_get_failed(payload, &x), ST_OK);
                CHECK_SPAN("why", x, SPAN("why"));
            } else if (kind == MSG_SCRIPT) {
                assert_int_equal(message_get_script(payload, &x, &y), ST_OK);
                CHECK_SPAN("script", y, SPAN("script"));
            }
        }
        assert_int_equal(st, ST_AGAIN);
        assert_int_equal(whole, (n >= 5) + (n >= 14) + (n == b.n));
    }
    struct span in = SPAN("\0\0\0\0x"), payload;
    uint8_t kind;
    assert_int_equal(message_next(&in, 100, &kind, &payload), ST_INVALID);
    in = SPAN("\x65\0\0\0");
    assert_int_equal(message_next(&in, 100, &kind, &payload), ST_LIMIT);
    buf_done(&b);
}

/* ---- the page ---- */

static void page_is_made_from_facts(void **state)
{
    struct span html = SPAN("<!doctype html><html><head><title>T</title><base href='/b/'>"
                            "<meta name=' Author ' content='A &amp; B'><meta property=og:type content=book>"
                            "<meta charset=utf-8><meta name=x><script>'<meta name=no content=no>'</script>"
                            "<style><meta name=no content=no></style></head>"
                            "<body><meta name=late content=late><a href=x>X</a> <a href='http://'>bad</a>"
                            "<a rel=nofollow href='//o/y'>Y</a></body></html>");
    const struct facts_opts opts = {.keep_text = true, .keep_anchors = true};
    struct arena a;
    struct facts facts;
    struct url u;
    struct program_page p;
    arena_init(&a);
    assert_int_equal(url_parse(&a, SPAN("http://h/d/page"), NULL, &u), ST_OK);
    facts_collect(&a, html, &opts, &facts);
    page_make(&a, &u, 200, SPAN("A: b\n"), html, &facts, SPAN("en"), &p);
    CHECK_SPAN("url", p.url, SPAN("http://h/d/page"));
    assert_int_equal(p.link_count, 2);
    CHECK_SPAN("link", p.links[0].href, SPAN("http://h/b/x"));
    CHECK_SPAN("link", p.links[1].href, SPAN("http://o/y"));
    assert_int_equal(p.links[1].rel, REL_NOFOLLOW);
    assert_int_equal(p.meta_count, 2);
    CHECK_SPAN("meta", p.metas[0].name, SPAN("Author"));
    CHECK_SPAN("meta", p.metas[0].content, SPAN("A & B"));
    CHECK_SPAN("meta", p.metas[1].name, SPAN("og:type"));
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(file_is_read_or_refused),
        cmocka_unit_test(long_files_are_refused),
        cmocka_unit_test(signature_covers_name_serial_and_script),
        cmocka_unit_test(no_byte_of_a_signed_file_can_be_changed),
        cmocka_unit_test(page_comes_out_as_it_went_in),
        cmocka_unit_test(large_page_is_cut_to_fit),
        cmocka_unit_test(result_is_checked_by_its_reader),
        cmocka_unit_test(emitted_bytes_have_a_ceiling_in_all),
        cmocka_unit_test(messages_are_cut_out_of_any_pieces),
        cmocka_unit_test(page_is_made_from_facts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
