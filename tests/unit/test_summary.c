#include "test.h"

#include "base/rng.h"
#include "web/summary.h"

static const struct fact_heading headings[] = {{1, SPAN_INIT("One")}, {2, SPAN_INIT("Two")}};
static const struct summary_link links[] = {
    {.url = SPAN_INIT("http://a.example/x"),
     .text = SPAN_INIT("x"),
     .key = 77,
     .kind = LINK_A,
     .rel = REL_NOFOLLOW,
     .flags = 1,
     .depth = 4},
    {.url = SPAN_INIT("http://a.example/y"), .key = UINT64_MAX, .kind = LINK_REFRESH, .hops = 3, .depth = 64},
};

static const struct summary_field fields[] = {{SPAN_INIT("price"), SPAN_INIT("12")},
                                              {SPAN_INIT("shop"), SPAN_INIT("")}};

static struct summary sample(void)
{
    return (struct summary){.fetch_number = 1234567,
                            .channel = 0xfeedfacecafebeef,
                            .at = 1700000000123,
                            .url = SPAN("http://a.example/?q=1"),
                            .depth = 3,
                            .hops = 1,
                            .is_known = true,
                            .is_html = true,
                            .http_status = 200,
                            .page_flags = PAGE_NOINDEX,
                            .digest = 0x0123456789abcdef,
                            .body_bytes = 1 << 20,
                            .wire_bytes = 300000,
                            .text_bytes = 4000,
                            .dns_us = -1,
                            .connect_us = 0,
                            .tls_us = 12345,
                            .first_byte_us = 99,
                            .total_us = 120000000,
                            .address = SPAN("192.0.2.1"),
                            .content_type = SPAN("text/html"),
                            .charset = SPAN("utf-8"),
                            .lang = SPAN("el"),
                            .title = SPAN("\xce\xb1\xce\xb2\xce\xb3"),
                            .description = SPAN("d"),
                            .canonical = SPAN("http://a.example/"),
                            .etag = SPAN("W/\"1\""),
                            .last_modified = SPAN("Thu, 01 Jan 1970 00:00:00 GMT"),
                            .headings = headings,
                            .heading_count = 2,
                            .text = SPAN("all of it\nin lines"),
                            .links = links,
                            .link_count = 2,
                            .is_keywords = true,
                            .fields = fields,
                            .field_count = 2};
}

static void comes_back_as_it_was_packed(void **state)
{
    struct summary s = sample(), t;
    struct buf b = {0};
    struct arena a;
    arena_init(&a);
    summary_pack(&s, &b);
    CHECK_STATUS("unpack", summary_unpack(&a, buf_span(&b), &t), ST_OK);
    assert_true(t.fetch_number == s.fetch_number && t.channel == s.channel && t.at == s.at && t.digest == s.digest);
    assert_true(t.depth == 3 && t.hops == 1 && t.is_known && t.is_html && !t.is_refused && t.http_status == 200);
    assert_true(t.dns_us == -1 && t.connect_us == 0 && t.tls_us == 12345 && t.total_us == 120000000);
    assert_true(t.body_bytes == s.body_bytes && t.wire_bytes == s.wire_bytes && t.text_bytes == s.text_bytes);
    CHECK_SPAN("url", t.url, s.url);
    CHECK_SPAN("title", t.title, s.title);
    CHECK_SPAN("etag", t.etag, s.etag);
    CHECK_SPAN("text", t.text, s.text);
    CHECK_SPAN("heading", t.headings[1].text, SPAN("Two"));
    assert_true(t.is_keywords && t.field_count == 2);
    CHECK_SPAN("field", t.fields[0].name, SPAN("price"));
    CHECK_SPAN("value", t.fields[0].value, SPAN("12"));
    assert_int_equal(t.link_count, 2);
    CHECK_SPAN("link", t.links[0].url, links[0].url);
    assert_true(t.links[1].key == UINT64_MAX && t.links[1].hops == 3 && t.links[1].depth == 64 &&
                t.links[0].rel == REL_NOFOLLOW);
    arena_done(&a);
    buf_done(&b);
}

static void records_of_version_1_are_read(void **state)
{
    struct summary s = sample(), t;
    struct buf b = {0};
    struct arena a;
    arena_init(&a);
    s.field_count = 0;
    summary_pack(&s, &b);
    b.p[0] = 1;
    b.n--; /* the count of fields */
    CHECK_STATUS("version 1", summary_unpack(&a, buf_span(&b), &t), ST_OK);
    CHECK_SPAN("link", t.links[0].url, links[0].url);
    assert_int_equal(t.field_count, 0);
    arena_done(&a);
    buf_done(&b);
}

static void cut_or_longer_records_are_corrupt_and_other_versions_newer(void **state)
{
    struct summary s = sample(), t;
    struct buf b = {0};
    struct arena a;
    arena_init(&a);
    summary_pack(&s, &b);
    for (size_t n = 0; n < b.n; n++)
        CHECK_STATUS("cut", summary_unpack(&a, span_of(b.p, n), &t), ST_CORRUPT);
    buf_putc(&b, 0);
    CHECK_STATUS("one byte more", summary_unpack(&a, buf_span(&b), &t), ST_CORRUPT);
    b.p[0] = 9;
    CHECK_STATUS("version 9", summary_unpack(&a, buf_span(&b), &t), ST_NEWER);
    arena_done(&a);
    buf_done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comes_back_as_it_was_packed),
        cmocka_unit_test(records_of_version_1_are_read),
        cmocka_unit_test(cut_or_longer_records_are_corrupt_and_other_versions_newer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
