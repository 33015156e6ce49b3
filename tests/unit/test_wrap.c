#include "test.h"

#include "base/rng.h"
#include "base/utf8.h"
#include "cli/wrap.h"

static void counts_columns_as_terminals_do(void **state)
{
    static const struct {
        const char *text;
        size_t columns;
    } cases[] = {
        {"", 0},  {"abc", 3},      {"Über", 4},       {"e\u0301", 1},           {"日本語", 6}, {"한국어", 6}, {"ｶﾅ", 2},
        {"…", 1}, {"a\u200bb", 2}, {"\U0001f600", 2}, {"soft\u00adhyphen", 10}, {"ก็", 1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        if (text_columns(span_str(cases[i].text)) != cases[i].columns)
            fail_msg("%s: %zu columns, want %zu", cases[i].text, text_columns(span_str(cases[i].text)),
                     cases[i].columns);
}

static void check_wrap(const char *label, size_t width, size_t indent, const char *text, const char *want)
{
    struct wrap w;
    struct buf out = {0};
    wrap_begin(&w, &out, width, indent, indent);
    wrap_text(&w, span_str(text));
    wrap_end(&w);
    CHECK_SPAN(label, buf_span(&out), span_str(want));
    buf_done(&out);
}

static void breaks_at_words(void **state)
{
    check_wrap("fits", 30, 0, "one two", "one two\n");
    check_wrap("breaks", 24, 0, "one two three four five six", "one two three four five\nsix\n");
    check_wrap("just fits", 23, 0, "one two three four five", "one two three four five\n");
    check_wrap("indent", 24, 2, "one two three four five six", "one two three four\n  five six\n");
    check_wrap("blanks", 30, 0, "  one   two  ", "one two\n");
    check_wrap("no width", 0, 2, "one two three four five six seven", "one two three four five six seven\n");
    check_wrap("too narrow", 10, 2, "one two three four", "one two three four\n");
    check_wrap("long word", 20, 0, "a abcdefghijklmnopqrstuvwxyz b", "a\nabcdefghijklmnopqrst\nuvwxyz b\n");
    check_wrap("no spaces", 20, 0, "日本語日本語日本語日本語", "日本語日本語日本語日\n本語\n");
    check_wrap("marks stay", 20, 0,
               "\u304b\u3099\u304b\u3099\u304b\u3099\u304b\u3099\u304b\u3099\u304b\u3099\u304b\u3099\u304b\u3099\u304b"
               "\u3099\u304b\u3099\u304b\u3099",
               "\u304b\u3099\u304b\u3099\u304b\u3099\u304b\u3099\u304b\u3099\u304b\u3099\u304b\u3099\u304b\u3099\u304b"
               "\u3099\u304b\u3099\n\u304b\u3099\n");
    check_wrap("empty", 20, 0, "", "\n");
}

static void makes_text_safe(void **state)
{
    check_wrap("escape", 40, 0, "a\033[31mb\nc", "a\\x1b[31mb\\x0ac\n");
}

static void styles_take_no_room(void **state)
{
    struct wrap w;
    struct buf out = {0};
    wrap_begin(&w, &out, 20, 0, 0);
    wrap_text(&w, SPAN("one two three fo"));
    wrap_style(&w, "\033[1m");
    wrap_text(&w, SPAN("urt"));
    wrap_style(&w, "\033[0m");
    wrap_text(&w, SPAN("een five"));
    wrap_end(&w);
    CHECK_SPAN("a style inside a word", buf_span(&out), SPAN("one two three\nfo\033[1murt\033[0meen five\n"));
    buf_done(&out);
}

/* No line is too long, and without line ends the words are the same. */
static void loses_nothing(void **state)
{
    static const char *const bits[] = {"a", "word", " ", " ", "日本", "é", "longer-word", "e\u0301", "…"};
    struct rng r;
    struct buf text = {0}, out = {0}, flat = {0};
    rng_seed(&r, 2);
    for (int turn = 0; turn < 3000; turn++) {
        struct wrap w;
        size_t width = 22 + rng_below(&r, 40), indent = rng_below(&r, 3);
        buf_clear(&text);
        buf_clear(&out);
        buf_clear(&flat);
        for (uint64_t n = rng_below(&r, 60); n > 0; n--)
            buf_puts(&text, bits[rng_below(&r, sizeof(bits) / sizeof(*bits))]);
        wrap_begin(&w, &out, width, indent, indent);
        wrap_text(&w, buf_span(&text));
        wrap_end(&w);
        struct span rest = buf_span(&out), line;
        bool is_first = true;
        while (span_split(&rest, '\n', &line)) {
            size_t columns = text_columns(line) + (is_first ? indent : 0);
            if (columns > width)
                fail_msg("%zu columns, at most %zu: %.*s", columns, width, SPAN_ARG(line));
            is_first = false;
        }
        for (size_t i = 0; i < out.n; i++)
            if (out.p[i] != ' ' && out.p[i] != '\n')
                buf_putc(&flat, out.p[i]);
        size_t kept = 0;
        for (size_t i = 0; i < text.n; i++)
            if (text.p[i] != ' ')
                text.p[kept++] = text.p[i];
        CHECK_SPAN("words", buf_span(&flat), span_of(text.p, kept));
    }
    buf_done(&text);
    buf_done(&out);
    buf_done(&flat);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_columns_as_terminals_do),
        cmocka_unit_test(breaks_at_words),
        cmocka_unit_test(makes_text_safe),
        cmocka_unit_test(styles_take_no_room),
        cmocka_unit_test(loses_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
