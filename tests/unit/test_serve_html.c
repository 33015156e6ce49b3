/* test_serve_html.c - text into HTML: escaped, marked, linked, and as people read it. */
#include "test.h"

#include "base/rng.h"
#include "serve/html.h"

static void text_is_escaped_for_html(void **state)
{
    static const struct {
        const char *in, *want;
    } cases[] = {
        {"plain", "plain"},
        {"<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"},
        {"\" onload='x' &amp;", "&quot; onload=&#39;x&#39; &amp;amp;"},
        {"a\x01\x1b[31mb\x7f", "a  [31mb "},
        {"\xc3\xa4\xe6\x9d\xb1", "\xc3\xa4\xe6\x9d\xb1"},
        {"a\xff\xfe<", "a\xef\xbf\xbd\xef\xbf\xbd&lt;"},
        {"cut \xe6\x9d", "cut \xef\xbf\xbd"},
        {"overlong \xc0\xbcscript", "overlong \xef\xbf\xbd\xef\xbf\xbdscript"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct buf out = {0};
        html_text(&out, span_str(cases[i].in));
        CHECK_SPAN(cases[i].in, buf_span(&out), span_str(cases[i].want));
        buf_done(&out);
    }
}

static void nothing_that_means_something_in_html_survives(void **state)
{
    struct rng r;
    rng_seed(&r, 11);
    for (int round = 0; round < 2000; round++) {
        char bytes[64];
        struct buf out = {0};
        for (size_t i = 0; i < sizeof(bytes); i++)
            bytes[i] = rng_below(&r, 3) ? "<>\"'&;=/ a\n"[rng_below(&r, 11)] : (char)rng_below(&r, 256);
        html_text(&out, span_of(bytes, sizeof(bytes)));
        for (size_t i = 0; i < out.n; i++)
            assert_true((unsigned char)out.p[i] >= 0x20 && !strchr("<>\"'\x7f", out.p[i]));
        buf_done(&out);
    }
}

static void marks_that_make_no_sense_are_left_out(void **state)
{
    static const struct {
        const char *label;
        struct mark marks[3];
        size_t n;
        const char *want;
    } cases[] = {
        {"none", {{0, 0}}, 0, "a&lt;bcdef"},
        {"two", {{0, 2}, {4, 2}}, 2, "<mark>a&lt;</mark>bc<mark>de</mark>f"},
        {"touching", {{0, 2}, {2, 1}}, 2, "<mark>a&lt;</mark><mark>b</mark>cdef"},
        {"overlapping", {{0, 3}, {2, 2}}, 2, "<mark>a&lt;b</mark>cdef"},
        {"backwards", {{4, 1}, {0, 1}}, 2, "a&lt;bc<mark>d</mark>ef"},
        {"past the end", {{5, 9}, {UINT32_MAX, 1}, {6, 1}}, 3, "a&lt;bcde<mark>f</mark>"},
        {"huge", {{3, UINT32_MAX}}, 1, "a&lt;bcdef"},
        {"empty", {{3, 0}}, 1, "a&lt;bcdef"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct buf out = {0};
        struct mark marks[3];
        memcpy(marks, cases[i].marks, sizeof(marks));
        html_marked(&out, &(struct marked){SPAN("a<bcdef"), marks, cases[i].n});
        CHECK_SPAN(cases[i].label, buf_span(&out), span_str(cases[i].want));
        buf_done(&out);
    }
}

static void only_http_becomes_a_link(void **state)
{
    static const struct {
        const char *url, *want; /* NULL: no link */
    } cases[] = {
        {"https://example.org/a?b&c", "https://example.org/a?b&amp;c"},
        {"http://example.org/\"onclick='x'", "http://example.org/%22onclick=&#39;x&#39;"},
        {"javascript:alert(1)", NULL},
        {" java\tscript:alert(1)", NULL},
        {"JAVASCRIPT://example.org/%0aalert(1)", NULL},
        {"data:text/html,<script>", NULL},
        {"vbscript:x", NULL},
        {"file:///etc/passwd", NULL},
        {"ftp://example.org/", NULL},
        {"//example.org/", NULL},
        {"", NULL},
        {"http://", NULL},
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct buf out = {0};
        bool is_link = html_href(&out, &a, span_str(cases[i].url));
        CHECK(cases[i].url, is_link == (cases[i].want != NULL));
        CHECK_SPAN(cases[i].url, buf_span(&out), span_str(cases[i].want));
        buf_done(&out);
    }
    arena_done(&a);
}

/* The text of breadcrumbs, without the markup. */
static struct span crumbs(struct arena *a, const char *url)
{
    struct buf html = {0}, out = {0};
    html_breadcrumbs(&html, a, span_str(url));
    for (size_t i = 0; i < html.n; i++) {
        if (html.p[i] == '<')
            i = span_find(buf_span(&html), '>', i);
        else
            buf_putc(&out, html.p[i]);
    }
    struct span s = arena_copy(a, buf_span(&out));
    buf_done(&html);
    buf_done(&out);
    return s;
}

static void breadcrumbs_show_where_a_page_is(void **state)
{
#define SEP " \xe2\x80\xba "
    static const struct {
        const char *url, *want;
    } cases[] = {
        {"https://example.org/", "example.org"},
        {"http://example.org:8080/a/b.html", "example.org:8080" SEP "a" SEP "b.html"},
        {"https://example.org/a//b/", "example.org" SEP "a" SEP "b"},
        {"https://example.org/1/2/3/4/5/6", "example.org" SEP "1" SEP "2" SEP "\xe2\x80\xa6" SEP "5" SEP "6"},
        {"https://example.org/a%20b/%C3%A4", "example.org" SEP "a b" SEP "\xc3\xa4"},
        {"https://example.org/%3Cb%3E", "example.org" SEP "&lt;b&gt;"},
        /* Not decoded: a slash, broken UTF-8, what turns the direction around, what nobody sees. */
        {"https://example.org/a%2Fb", "example.org" SEP "a%2Fb"},
        {"https://example.org/%FF", "example.org" SEP "%FF"},
        {"https://example.org/%E2%80%AEgpj.exe", "example.org" SEP "%E2%80%AEgpj.exe"},
        {"https://example.org/%E2%80%8B", "example.org" SEP "%E2%80%8B"},
        {"https://example.org/x?q=1&r=2", "example.org" SEP "x" SEP "?q=1&amp;r=2"},
        {"https://b\xc3\xbc"
         "cher.example/",
         "xn--bcher-kva.example"},
        {"nonsense <b>", "nonsense &lt;b&gt;"},
    };
#undef SEP
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        CHECK_SPAN(cases[i].url, crumbs(&a, cases[i].url), span_str(cases[i].want));
    arena_done(&a);
}

static void numbers_and_dates_are_for_people(void **state)
{
    struct buf out = {0};
    html_count(&out, 1234567);
    buf_putc(&out, '|');
    html_count(&out, 7);
    buf_putc(&out, '|');
    html_bytes(&out, 999);
    buf_putc(&out, '|');
    html_bytes(&out, 41234567);
    buf_putc(&out, '|');
    html_date(&out, 1769860800000);
    buf_putc(&out, '|');
    html_date(&out, 0);
    buf_putc(&out, '|');
    html_language(&out, SPAN("de"));
    html_language(&out, SPAN("<x>"));
    CHECK_SPAN("texts", buf_span(&out),
               SPAN("1,234,567|7|999 bytes|41.2 MB|<time datetime=\"2026-01-31\">31 Jan 2026</time>||German&lt;x&gt;"));
    buf_done(&out);
}

static void templates_escape_what_they_are_given(void **state)
{
    static const struct html_fill fills[] = {{"a", SPAN_INIT("<1>"), false}, {"b", SPAN_INIT("<2>"), true}};
    struct buf out = {0};
    html_template(&out, SPAN("x{{a}}y{{b}}z{{none}}{{a}}{{cut"), fills, 2);
    CHECK_SPAN("template", buf_span(&out), SPAN("x&lt;1&gt;y<2>z&lt;1&gt;"));
    buf_done(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_escaped_for_html),
        cmocka_unit_test(nothing_that_means_something_in_html_survives),
        cmocka_unit_test(marks_that_make_no_sense_are_left_out),
        cmocka_unit_test(only_http_becomes_a_link),
        cmocka_unit_test(breadcrumbs_show_where_a_page_is),
        cmocka_unit_test(numbers_and_dates_are_for_people),
        cmocka_unit_test(templates_escape_what_they_are_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
