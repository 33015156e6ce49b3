/* Encodings: labels, prescan, detection, decoding of every kind, and that the result is always valid UTF-8 within its
 * ceiling. */
#include "test.h"

#include "base/buf.h"
#include "base/rng.h"
#include "base/utf8.h"
#include "web/charset.h"
#include "web/charset_label.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define PLENTY (16 << 20)

struct decode_case {
    const char *label;
    struct span body;
    const char *header;
    bool is_html;
    const char *want, *name;
    charset_source source;
    bool had_errors;
};

static void check_decodes(const struct decode_case *c, size_t n)
{
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < n; i++) {
        struct charset_result r;
        CHECK_STATUS(c[i].label, charset_decode(&a, c[i].body, span_str(c[i].header), c[i].is_html, PLENTY, &r), ST_OK);
        CHECK_SPAN(c[i].label, r.text, span_str(c[i].want));
        CHECK_SPAN(c[i].label, span_str(r.name), span_str(c[i].name));
        CHECK(c[i].label, r.source == c[i].source);
        CHECK(c[i].label, r.had_errors == c[i].had_errors);
    }
    arena_done(&a);
}

static void labels_are_those_of_the_standard(void **state)
{
    static const struct {
        const char *label, *name;
    } cases[] = {
        {"utf-8", "utf-8"},
        {"UTF8", "utf-8"},
        {" \tUtf-8\r\n", "utf-8"},
        {"unicode-1-1-utf-8", "utf-8"},
        {"ISO-8859-1", "windows-1252"},
        {"us-ascii", "windows-1252"},
        {"latin1", "windows-1252"},
        {"iso_8859-9:1989", "windows-1254"},
        {"iso-8859-8-i", "iso-8859-8-i"},
        {"logical", "iso-8859-8-i"},
        {"visual", "iso-8859-8"},
        {"ks_c_5601-1987", "euc-kr"},
        {"windows-949", "euc-kr"},
        {"gb2312", "gbk"},
        {"GB18030", "gb18030"},
        {"big5-hkscs", "big5"},
        {"x-sjis", "shift_jis"},
        {"cseucpkdfmtjapanese", "euc-jp"},
        {"tis-620", "windows-874"},
        {"koi8-ru", "koi8-u"},
        {"x-mac-ukrainian", "x-mac-cyrillic"},
        {"866", "ibm866"},
        {"utf-16", "utf-16le"},
        {"unicodefffe", "utf-16be"},
        {"hz-gb-2312", "replacement"},
        {"x-x-big5", "big5"},
        {"x-user-defined", "x-user-defined"},
        {"", NULL},
        {"utf-7", NULL},
        {"utf 8", NULL},
        {"cesu-8", NULL},
        {"utf-32", NULL},
        {"iso-8859-12", NULL},
        {"cseucpkdfmtjapanesee", NULL},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        charset_id id = charset_of_label(span_str(cases[i].label));
        CHECK(cases[i].label, (id == CHARSET_NONE) == (cases[i].name == NULL));
        if (cases[i].name)
            CHECK_SPAN(cases[i].label, span_str(charset_info(id)->name), span_str(cases[i].name));
    }
    for (int id = 0; id < CHARSET_COUNT; id++) /* each name is its own label */
        CHECK(charset_info((charset_id)id)->name,
              charset_of_label(span_str(charset_info((charset_id)id)->name)) == (charset_id)id);
}

static void the_prescan_follows_the_html_standard(void **state)
{
    static const struct {
        const char *html, *name;
    } cases[] = {
        {"<meta charset=koi8-r>", "koi8-r"},
        {"<META CHARSET='KOI8-R'>", "koi8-r"},
        {"<meta charset = \" koi8-r \" >", "koi8-r"},
        {"<meta/charset=koi8-r>", "koi8-r"},
        {"<meta charset=koi8-r/>", NULL}, /* the slash belongs to the value */
        {"<meta charset=\"koi8-r\"/>", "koi8-r"},
        {"<metacharset=koi8-r>", NULL},
        {"<meta charset=koi8-r", NULL}, /* the bytes end inside */
        {"<meta charset=\"koi8-r>", NULL},
        {"<meta charset=nonsense><meta charset=koi8-r>", "koi8-r"},
        {"<meta charset=koi8-r><meta charset=big5>", "koi8-r"},
        {"<meta charset=koi8-r charset=big5>", "koi8-r"},
        {"<meta charset><meta charset=big5>", "big5"},
        {"<meta charset=utf-16le>", "utf-8"},
        {"<meta charset=utf-16>", "utf-8"},
        {"<meta charset=x-user-defined>", "windows-1252"},
        {"<meta charset=iso-2022-kr>", "replacement"},
        {"<meta http-equiv=Content-Type content='text/html; charset=koi8-r'>", "koi8-r"},
        {"<meta content='text/html; charset=koi8-r' http-equiv=content-type>", "koi8-r"},
        {"<meta content='text/html; charset=koi8-r'>", NULL},
        {"<meta http-equiv=refresh content='text/html; charset=koi8-r'>", NULL},
        {"<meta http-equiv=content-type content='charset = \"koi8-r\"'>", "koi8-r"},
        {"<meta http-equiv=content-type content=\"charset='koi8-r\">", NULL},
        {"<meta http-equiv=content-type content='charset charset=koi8-r'>", "koi8-r"},
        {"<meta http-equiv=content-type content='xcharset=koi8-r;y'>", "koi8-r"},
        {"<meta http-equiv=content-type content='charset=koi8-r x'>", "koi8-r"},
        {"<meta http-equiv=content-type content='charset='>", NULL},
        {"<meta http-equiv=content-type content=charset=koi8-r charset=big5>", "big5"},
        {"<meta charset=nonsense http-equiv=content-type content=charset=koi8-r>", NULL},
        {"<!-- <meta charset=big5> --><meta charset=koi8-r>", "koi8-r"},
        {"<!--><meta charset=koi8-r>", "koi8-r"},
        {"<!---><meta charset=koi8-r>", "koi8-r"},
        {"<!-- --!><meta charset=big5>--><meta charset=koi8-r>", "koi8-r"},
        {"<!-- <meta charset=big5>", NULL},
        {"<!doctype html><html><head><title>x</title><meta charset=koi8-r>", "koi8-r"},
        {"<p title='<meta charset=big5>'><meta charset=koi8-r>", "koi8-r"},
        {"<p title=\"a>b\" x='<meta charset=big5>'><meta charset=koi8-r>", "koi8-r"},
        {"</p title='<meta charset=big5>'><meta charset=koi8-r>", "koi8-r"},
        {"</ <meta charset=big5>><meta charset=koi8-r>", "koi8-r"},
        {"<? <meta charset=big5>><meta charset=koi8-r>", "koi8-r"},
        {"a < b <meta charset=koi8-r>", "koi8-r"},
        {"<script>var a='<meta charset=big5>'</script>", "big5"}, /* the scan does not know scripts */
        {"<?xml version='1.0' encoding='koi8-r'?><html>", "koi8-r"},
        {"<?xml version='1.0' encoding = \"KOI8-R\" ?>", "koi8-r"},
        {"<?xml version='1.0' encoding='koi8-r'?><meta charset=big5>", "big5"},
        {"<?xml version='1.0' encoding='utf-16'?>", "utf-8"},
        {"<?xml version='1.0' encoding=' koi8-r'?>", NULL},
        {"<?xml version='1.0' encoding='koi8-r", NULL},
        {"<?xml version='1.0'?><a encoding='koi8-r'>", NULL},
        {"<?xml version='1.0' encoding?>", NULL},
        {" <?xml encoding='koi8-r'?>", NULL},
        {"", NULL},
        {"<", NULL},
        {"<meta", NULL},
        {"<meta ", NULL},
        {"<meta charset", NULL},
        {"<meta charset=", NULL},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        charset_id id = charset_prescan(span_str(cases[i].html));
        CHECK(cases[i].html, (id == CHARSET_NONE) == (cases[i].name == NULL));
        if (cases[i].name)
            CHECK_SPAN(cases[i].html, span_str(charset_info(id)->name), span_str(cases[i].name));
    }
    CHECK("UTF-16LE", charset_prescan(SPAN("<\0?\0x\0m\0l\0")) == CHARSET_UTF16LE);
    CHECK("UTF-16BE", charset_prescan(SPAN("\0<\0?\0x\0m\0l")) == CHARSET_UTF16BE);
    for (size_t pad = 990; pad < 1024; pad++) { /* a tag that passes byte 1,024 does not count */
        struct buf html = {0};
        while (html.n < pad)
            buf_putc(&html, ' ');
        buf_puts(&html, "<meta charset=koi8-r>");
        CHECK("1,024 bytes", (charset_prescan(buf_span(&html)) == CHARSET_KOI8R) == (html.n <= CHARSET_PRESCAN_BYTES));
        buf_done(&html);
    }
}

static void evidence_is_taken_in_order(void **state)
{
    const struct decode_case cases[] = {
        {"BOM over all", SPAN("\xEF\xBB\xBF<meta charset=koi8-r>\xC3\xA4"), "big5", true, "<meta charset=koi8-r>ä",
         "utf-8", CHARSET_BOM, false},
        {"UTF-16LE BOM", SPAN("\xFF\xFEh\0\xE4\0"), "utf-8", true, "hä", "utf-16le", CHARSET_BOM, false},
        {"UTF-16BE BOM", SPAN("\xFE\xFF\0h\0\xE4"), "", true, "hä", "utf-16be", CHARSET_BOM, false},
        {"header over meta", SPAN("<meta charset=big5>\xC1"), "koi8-r", true, "<meta charset=big5>а", "koi8-r",
         CHARSET_HEADER, false},
        {"unknown header", SPAN("<meta charset=koi8-r>\xC1"), "nonsense", true, "<meta charset=koi8-r>а", "koi8-r",
         CHARSET_META, false},
        {"no prescan", SPAN("<meta charset=koi8-r>\xC3\xA4"), "", false, "<meta charset=koi8-r>ä", "utf-8",
         CHARSET_DETECTED, false},
        {"meta", SPAN("<meta charset=utf-8>\xC3\xA4"), "", true, "<meta charset=utf-8>ä", "utf-8", CHARSET_META, false},
        {"valid UTF-8", SPAN("h\xC3\xA4"), "", true, "hä", "utf-8", CHARSET_DETECTED, false},
        {"ASCII", SPAN("plain"), "", true, "plain", "utf-8", CHARSET_DETECTED, false},
        {"ASCII as windows-1251", SPAN("plain"), "windows-1251", true, "plain", "windows-1251", CHARSET_HEADER, false},
        {"empty", SPAN(""), "", true, "", "utf-8", CHARSET_DETECTED, false},
        {"empty UTF-16", SPAN("\xFF\xFE"), "", true, "", "utf-16le", CHARSET_BOM, false},
        {"empty replacement", SPAN(""), "iso-2022-kr", true, "", "replacement", CHARSET_HEADER, false},
        {"declared wins over valid UTF-8", SPAN("\xC3\xA4"), "iso-8859-1", true, "Ã¤", "windows-1252", CHARSET_HEADER,
         false},
        {"UTF-16 by header", SPAN("h\0\xE4\0"), "utf-16", true, "hä", "utf-16le", CHARSET_HEADER, false},
    };
    check_decodes(cases, COUNT(cases));
}

static void every_kind_of_encoding_is_decoded(void **state)
{
    const struct decode_case cases[] = {
        {"1252", SPAN("\x80\x81\x8D\x8F\x90\x9D\x9F\xA0\xFF"), "iso-8859-1", false,
         "€\xC2\x81\xC2\x8D\xC2\x8F\xC2\x90\xC2\x9DŸ\u00A0ÿ", "windows-1252", CHARSET_HEADER, false},
        {"1250", SPAN("\x8A\x81\xB9"), "cp1250", false, "Š\xC2\x81ą", "windows-1250", CHARSET_HEADER, false},
        {"1251", SPAN("\xCF\xF0\x98"), "windows-1251", false, "Пр\xC2\x98", "windows-1251", CHARSET_HEADER, false},
        {"1253 hole", SPAN("\xC1\xD2"), "windows-1253", false, "Α\uFFFD", "windows-1253", CHARSET_HEADER, true},
        {"1254", SPAN("\xFD\xFE"), "latin5", false, "ış", "windows-1254", CHARSET_HEADER, false},
        {"1255 is not composed", SPAN("\xF9\xD1\xCA"), "windows-1255", false, "\u05E9\u05C1\u05BA", "windows-1255",
         CHARSET_HEADER, false},
        {"1256", SPAN("\xE3"), "windows-1256", false, "م", "windows-1256", CHARSET_HEADER, false},
        {"1257", SPAN("\xE0"), "windows-1257", false, "ą", "windows-1257", CHARSET_HEADER, false},
        {"1258 is not composed", SPAN("a\xEC"), "windows-1258", false, "a\u0301", "windows-1258", CHARSET_HEADER,
         false},
        {"874", SPAN("\xA1\xDB\x81"), "tis-620", false, "ก\uFFFD\xC2\x81", "windows-874", CHARSET_HEADER, true},
        {"iso-8859-2", SPAN("\xB1\x85"), "latin2", false, "ą\xC2\x85", "iso-8859-2", CHARSET_HEADER, false},
        {"iso-8859-7", SPAN("\xE1\xA4"), "greek", false, "α€", "iso-8859-7", CHARSET_HEADER, false},
        {"iso-8859-8-i", SPAN("\xE0"), "logical", false, "א", "iso-8859-8-i", CHARSET_HEADER, false},
        {"iso-8859-15", SPAN("\xA4"), "l9", false, "€", "iso-8859-15", CHARSET_HEADER, false},
        {"iso-8859-16", SPAN("\xAA"), "iso-8859-16", false, "Ș", "iso-8859-16", CHARSET_HEADER, false},
        {"ibm866", SPAN("\x8F\xE0"), "cp866", false, "Пр", "ibm866", CHARSET_HEADER, false},
        {"koi8-r", SPAN("\xF0\xD2"), "koi8-r", false, "Пр", "koi8-r", CHARSET_HEADER, false},
        {"koi8-u", SPAN("\xA4\xAE\xBE"), "koi8-u", false, "єўЎ", "koi8-u", CHARSET_HEADER, false},
        {"macintosh", SPAN("\x8A\xC6\xDB"), "x-mac-roman", false, "ä\u2206€", "macintosh", CHARSET_HEADER, false},
        {"x-mac-cyrillic", SPAN("\x8F\xFF"), "x-mac-cyrillic", false, "П€", "x-mac-cyrillic", CHARSET_HEADER, false},
        {"x-user-defined", SPAN("a\x80\xFF"), "x-user-defined", false, "a\uF780\uF7FF", "x-user-defined",
         CHARSET_HEADER, false},
        {"gbk", SPAN("\xD6\xD0\xCE\xC4"), "gb2312", false, "中文", "gbk", CHARSET_HEADER, false},
        {"gbk euro", SPAN("\x80 x"), "gbk", false, "€ x", "gbk", CHARSET_HEADER, false},
        {"gb18030 four bytes", SPAN("\x81\x30\x81\x30"), "gb18030", false, "\xC2\x80", "gb18030", CHARSET_HEADER,
         false},
        {"big5", SPAN("\xA4\xA4\xA4\xE5"), "big5", false, "中文", "big5", CHARSET_HEADER, false},
        {"big5 two characters", SPAN("\x88\x62"), "big5", false, "Ê̄", "big5", CHARSET_HEADER, false},
        {"euc-jp", SPAN("\xC6\xFC\xCB\xDC\x8E\xB1\xA1\xC1"), "x-euc-jp", false, "日本ｱ～", "euc-jp", CHARSET_HEADER,
         false},
        {"shift_jis", SPAN("\x93\xFA\x96\x7B\xB1\x5C\x81\x60\x87\x40"), "sjis", false, "日本ｱ\\～①", "shift_jis",
         CHARSET_HEADER, false},
        {"iso-2022-jp", SPAN("a\x1B$BF|K\\\x1B(Bb"), "iso-2022-jp", false, "a日本b", "iso-2022-jp", CHARSET_HEADER,
         false},
        {"euc-kr", SPAN("\xC7\xD1\x8C\x63"), "euc-kr", false, "한똠", "euc-kr", CHARSET_HEADER, false},
        {"replacement", SPAN("anything \xFF"), "hz-gb-2312", false, "\uFFFD", "replacement", CHARSET_HEADER, true},
        {"bad trail keeps ASCII", SPAN("\xD6<b>"), "gbk", false, "\uFFFD<b>", "gbk", CHARSET_HEADER, true},
        {"cut short", SPAN("a\xD6"), "gbk", false, "a\uFFFD", "gbk", CHARSET_HEADER, true},
        {"bad UTF-8", SPAN("a\xC3(\xE2\x82\xF0\x9F\x98\x80\xED\xA0\x80"), "utf-8", false,
         "a\uFFFD(\uFFFD😀\uFFFD\uFFFD\uFFFD", "utf-8", CHARSET_HEADER, true},
        {"surrogates", SPAN("\x3D\xD8\x00\xDE\x3D\xD8x\0\x00\xDEy\0\x3D\xD8"), "utf-16le", false,
         "😀\uFFFDx\uFFFDy\uFFFD", "utf-16le", CHARSET_HEADER, true},
        {"odd UTF-16", SPAN("\0aX"), "utf-16be", false, "a\uFFFD", "utf-16be", CHARSET_HEADER, true},
    };
    check_decodes(cases, COUNT(cases));
    assert_true(charset_warm_up());
}

static void undeclared_text_is_detected(void **state)
{
    static const char russian[] =
        "\xCF\xF0\xE8\xE2\xE5\xF2, \xEC\xE8\xF0! \xDD\xF2\xEE \xEF\xF0\xEE\xF1\xF2\xEE\xE9 \xF2\xE5\xEA\xF1\xF2 "
        "\xED\xE0 "
        "\xF0\xF3\xF1\xF1\xEA\xEE\xEC \xFF\xE7\xFB\xEA\xE5, \xEA\xEE\xF2\xEE\xF0\xFB\xE9 \xE4\xEE\xEB\xE6\xE5\xED "
        "\xE1\xFB\xF2\xFC \xEE\xEF\xF0\xE5\xE4\xE5\xEB\xB8\xED.";
    struct arena a;
    arena_init(&a);
    struct charset_result r;
    CHECK_STATUS("russian", charset_decode(&a, span_str(russian), SPAN(""), true, PLENTY, &r), ST_OK);
    CHECK_SPAN("russian", span_str(r.name), SPAN("windows-1251"));
    CHECK("russian", r.source == CHARSET_DETECTED && span_starts(r.text, SPAN("Привет, мир!")));
    struct buf late = {0}; /* what tells stands far past the first 64 KiB */
    while (late.n < 300000)
        buf_puts(&late, "<p>plain words</p>\n");
    buf_puts(&late, russian);
    CHECK_STATUS("late", charset_decode(&a, buf_span(&late), SPAN(""), true, PLENTY, &r), ST_OK);
    CHECK_SPAN("late", span_str(r.name), SPAN("windows-1251"));
    buf_done(&late);
    CHECK_STATUS("two bytes", charset_decode(&a, SPAN("\x80\xFF"), SPAN(""), true, PLENTY, &r), ST_OK);
    CHECK("two bytes", utf8_is_valid(r.text));
    arena_done(&a);
}

static void valid_utf8_is_not_copied(void **state)
{
    struct arena a;
    arena_init(&a);
    struct charset_result r;
    struct span body = SPAN("\xEF\xBB\xBFh\xC3\xA4");
    CHECK_STATUS("bom", charset_decode(&a, body, SPAN(""), true, 3, &r), ST_OK);
    CHECK("bom", r.text.p == body.p + 3 && r.text.n == 3);
    CHECK_STATUS("bom", charset_decode(&a, body, SPAN(""), true, 2, &r), ST_LIMIT);
    body = SPAN("ascii");
    CHECK_STATUS("ascii", charset_decode(&a, body, SPAN("shift_jis"), true, 5, &r), ST_OK);
    CHECK("ascii", r.text.p == body.p);
    CHECK("arena", a.total == 0);
    arena_done(&a);
}

static void results_are_valid_and_within_the_ceiling(void **state)
{
    struct rng rng;
    rng_seed(&rng, 7);
    struct arena a;
    arena_init(&a);
    static char body[20000];
    for (int round = 0; round < 40; round++) {
        size_t n = rng_below(&rng, round < 30 ? 300 : sizeof(body));
        for (size_t i = 0; i < n; i++)
            body[i] = (char)(rng_below(&rng, 4) ? (int)rng_below(&rng, 256) : "a\x1B(<"[rng_below(&rng, 4)]);
        for (int id = -1; id < CHARSET_COUNT; id++) {
            const char *name = id < 0 ? "" : charset_info((charset_id)id)->name;
            struct charset_result r, again;
            CHECK_STATUS(name, charset_decode(&a, span_of(body, n), span_str(name), true, 4 * sizeof(body), &r), ST_OK);
            CHECK(name, utf8_is_valid(r.text));
            CHECK_STATUS(name, charset_decode(&a, span_of(body, n), span_str(name), true, r.text.n, &again), ST_OK);
            CHECK_SPAN(name, again.text, r.text);
            if (r.text.n)
                CHECK_STATUS(name, charset_decode(&a, span_of(body, n), span_str(name), true, r.text.n - 1, &again),
                             ST_LIMIT);
            arena_reset(&a);
        }
    }
    arena_done(&a);
}

static void the_fast_utf8_check_agrees_with_the_slow_one(void **state)
{
    struct rng rng;
    rng_seed(&rng, 8);
    unsigned valid_count = 0;
    for (int round = 0; round < 300000; round++) {
        char s[40];
        size_t n = rng_below(&rng, sizeof(s) - 4), at = 0;
        struct buf b = {s, 0, sizeof(s)};
        while (b.n < n) {
            static const uint32_t edges[] = {'a', 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF};
            buf_put_utf8(&b, edges[rng_below(&rng, COUNT(edges))]);
        }
        if (b.n && rng_below(&rng, 2))
            s[rng_below(&rng, b.n)] = (char)rng_below(&rng, 256);
        struct span text = {s, rng_below(&rng, 4) ? b.n : b.n - (b.n > 0)};
        bool want = true, one;
        while (at < text.n) {
            utf8_next(text, &at, &one);
            want = want && one;
        }
        valid_count += want;
        CHECK("valid", utf8_is_valid(text) == want);
    }
    assert_in_range(valid_count, 30000, 270000);
}

static void content_types_are_taken_apart(void **state)
{
    static const struct {
        const char *in, *media, *charset;
    } cases[] = {
        {"text/html", "text/html", ""},
        {"text/html; charset=utf-8", "text/html", "utf-8"},
        {" Text/HTML ;CHARSET=UTF-8 ", "Text/HTML", "UTF-8"},
        {"text/html;charset=\"utf-8\"", "text/html", "utf-8"},
        {"text/html; charset='utf-8'", "text/html", "utf-8"},
        {"text/html; charset = utf-8 ; x=y", "text/html", "utf-8"},
        {"text/html; x=\"; charset=big5\"; charset=utf-8", "text/html", "utf-8"},
        {"text/html; boundary=a; charset=utf-8", "text/html", "utf-8"},
        {"text/html; charset=utf-8, text/plain", "text/html", "utf-8"},
        {"text/html; charset=\"utf-8", "text/html", "utf-8"},
        {"text/html; charset=", "text/html", ""},
        {"text/html; charset=\"", "text/html", ""},
        {"text/html; charset", "text/html", ""},
        {"text/html; xcharset=utf-8", "text/html", ""},
        {"text/html; charset=utf-8; charset=big5", "text/html", "utf-8"},
        {"text/html;;; charset=utf-8", "text/html", "utf-8"},
        {"; charset=utf-8", "", "utf-8"},
        {"", "", ""},
        {"text/html, text/html; charset=utf-8", "text/html", "utf-8"},
        {"*/*", "", ""},
        {"unknown/unknown; charset=utf-8", "", "utf-8"},
        {"html", "", ""},
        {"/", "", ""},
        {"text/", "", ""},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        CHECK_SPAN(cases[i].in, content_type_media(span_str(cases[i].in)), span_str(cases[i].media));
        CHECK_SPAN(cases[i].in, content_type_charset(span_str(cases[i].in)), span_str(cases[i].charset));
    }
}

static void queries_are_in_the_encoding_of_their_page(void **state)
{
    static const struct {
        const char *charset, *ref, *want;
    } cases[] = {
        {"windows-1252", "/\u00e9?q=\u00e9&x=1#\u00e9", "/\u00e9?q=%E9&x=1#\u00e9"},
        {"windows-1252", "/\u00e9#?\u00e9", "/\u00e9#?\u00e9"},
        {"windows-1252", "?q=%e9 a", "?q=%e9 a"},
        {"windows-1252", "?q=\u4e2d\u20ac", "?q=%26%2320013%3B%80"},
        {"windows-1251", "?\u043f\u0440", "?%EF%F0"},
        {"gbk", "?k=\u4e2d\u6587", "?k=%D6%D0%CE%C4"},
        {"shift_jis", "?k=\u8868", "?k=%95\\"},
        {"utf-8", "?q=\u00e9", "?q=\u00e9"},
        {"utf-16le", "?q=\u00e9", "?q=\u00e9"},
        {"", "?q=\u00e9", "?q=\u00e9"},
        {"nonsense", "?q=\u00e9", "?q=\u00e9"},
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < COUNT(cases); i++)
        CHECK_SPAN(cases[i].ref, charset_query(&a, span_str(cases[i].ref), span_str(cases[i].charset)),
                   span_str(cases[i].want));
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_are_those_of_the_standard),
        cmocka_unit_test(queries_are_in_the_encoding_of_their_page),
        cmocka_unit_test(the_prescan_follows_the_html_standard),
        cmocka_unit_test(evidence_is_taken_in_order),
        cmocka_unit_test(every_kind_of_encoding_is_decoded),
        cmocka_unit_test(undeclared_text_is_detected),
        cmocka_unit_test(valid_utf8_is_not_copied),
        cmocka_unit_test(results_are_valid_and_within_the_ceiling),
        cmocka_unit_test(the_fast_utf8_check_agrees_with_the_slow_one),
        cmocka_unit_test(content_types_are_taken_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
