/* test_document.c - which reader a body gets, what it reads, and what files are called. */
#include "test.h"

#include "base/buf.h"
#include "base/utf8.h"
#include "web/disposition.h"
#include "web/document.h"
#include "web/media.h"
#include "web/pdf_text.h"
#include "web/plain_title.h"

static const struct facts_opts FULL = {.keep_text = true, .keep_anchors = true};

static void a_type_has_a_reader(void **state)
{
    static const struct {
        const char *type, *url;
        document_kind kind;
    } cases[] = {
        {"text/html; charset=utf-8", "http://a/x.md", DOCUMENT_HTML},
        {"APPLICATION/XHTML+XML", "", DOCUMENT_HTML},
        {"", "http://a/", DOCUMENT_HTML},
        {"text/html, text/html; charset=utf-8", "http://a/", DOCUMENT_HTML},
        {"*/*", "http://a/", DOCUMENT_HTML},
        {"", "http://a/README.md", DOCUMENT_MARKDOWN},
        {"text/markdown", "http://a/", DOCUMENT_MARKDOWN},
        {"text/x-markdown", "", DOCUMENT_MARKDOWN},
        {"text/plain", "http://a/x.markdown?raw=1", DOCUMENT_MARKDOWN},
        {"text/plain", "http://a/x.txt?y=.md", DOCUMENT_PLAIN},
        {"text/plain", "http://a/.md", DOCUMENT_MARKDOWN},
        {"text/csv", "", DOCUMENT_PLAIN},
        {"text/x-python", "", DOCUMENT_PLAIN},
        {"text/calendar", "", DOCUMENT_PLAIN},
        {"text/css", "", DOCUMENT_OTHER},
        {"text/javascript", "", DOCUMENT_OTHER},
        {"application/xml", "", DOCUMENT_LIST},
        {"text/xml; charset=utf-8", "", DOCUMENT_LIST},
        {"application/rss+xml", "", DOCUMENT_LIST},
        {"application/Atom+XML", "", DOCUMENT_LIST},
        {"application/rdf+xml", "", DOCUMENT_LIST},
        {"image/svg+xml", "", DOCUMENT_OTHER},
        {"application/gzip", "http://a/backup.tar.gz", DOCUMENT_OTHER},
        {"application/gzip", "http://a/sitemap.xml.gz", DOCUMENT_LIST},
        {"application/x-gzip", "http://a/Sitemap3.gz?x=/y.zip", DOCUMENT_LIST},
        {"application/octet-stream", "http://a/urls.txt.gz", DOCUMENT_LIST},
        {"application/octet-stream", "http://a/sitemap.gz/setup.exe", DOCUMENT_OTHER},
        {"binary/octet-stream", "http://a/sitemap.xml.gz", DOCUMENT_LIST},
        {"application/octet-stream", "http://a/SITEMAP.XML.GZ", DOCUMENT_LIST},
        {"application/octet-stream", "http://a/sitemap.xml", DOCUMENT_LIST},
        {"application/octet-stream", "http://a/news/index.rdf", DOCUMENT_LIST},
        {"application/force-download", "http://a/sitemap.php?part=3", DOCUMENT_LIST},
        {"application/x-gzip-compressed", "http://a/sitemap?part=3", DOCUMENT_LIST},
        {"application/octet-stream", "http://a/setup.exe?from=sitemap.xml", DOCUMENT_OTHER},
        {"application/octet-stream", "http://a/data.tar.gz", DOCUMENT_OTHER},
        {"application/zip", "http://a/sitemap.gz", DOCUMENT_OTHER},
        {"text/event-stream", "", DOCUMENT_OTHER},
        {"application/json", "", DOCUMENT_OTHER},
        {"application/json", "http://feed.example/data.json?feed", DOCUMENT_OTHER},
        {"application/json; charset=utf-8", "http://a/feed.json", DOCUMENT_LIST},
        {"application/json", "http://a/Feed/json", DOCUMENT_LIST},
        {"application/feed+json", "http://a/x", DOCUMENT_LIST},
        {"application/pdf", "", DOCUMENT_PDF},
        {"image/png", "http://a/x.md", DOCUMENT_OTHER},
        {"application/octet-stream", "http://a/x.pdf", DOCUMENT_PDF},
        {"binary/octet-stream", "http://a/b/X.PDF?y#z", DOCUMENT_PDF},
        {"application/octet-stream", "http://a/pdf", DOCUMENT_OTHER},
        {"application/octet-stream", "http://a/x.md", DOCUMENT_MARKDOWN},
        {"application/octet-stream", "http://a/README", DOCUMENT_PLAIN},
        {"application/octet-stream", "http://a/b/copyright?x=1", DOCUMENT_PLAIN},
        {"application/octet-stream", "http://a/guide.rst", DOCUMENT_PLAIN},
        {"application/octet-stream", "http://a/README/", DOCUMENT_OTHER},
        {"application/octet-stream", "http://a/readme.exe", DOCUMENT_OTHER},
        {"application/octet-stream", "http://a/x?README", DOCUMENT_OTHER},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct span type = span_str(cases[i].type), url = span_str(cases[i].url);
        CHECK(cases[i].type, document_kind_of(type, url) == cases[i].kind);
        CHECK(cases[i].type, document_is_read(type, url) == (cases[i].kind < DOCUMENT_PDF));
    }
}

/* Half of the bytes of UTF-16 are zero where people write in Latin letters; what is said of it counts, with or without
 * a mark. */
static void text_of_two_bytes_a_letter_is_text(void **state)
{
    static const char le[] = "T\0i\0t\0l\0e\0\n\0\n\0w\0o\0r\0d\0s\0", be[] = "\0T\0i\0t\0l\0e\0\n\0\n\0w\0o\0r\0d\0s";
    static const struct {
        const char *type;
        struct span body;
        document_kind kind;
    } cases[] = {
        {"text/plain; charset=utf-16le", {le, 24}, DOCUMENT_PLAIN},
        {"text/plain; charset=\"UTF-16BE\"", {be, 24}, DOCUMENT_PLAIN},
        {"text/markdown; charset=UTF-16LE", {le, 24}, DOCUMENT_MARKDOWN},
        {"text/plain; charset=utf-8", {le, 24}, DOCUMENT_OTHER},
        {"", {"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16}, DOCUMENT_OTHER},
        {"*/*", {"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16}, DOCUMENT_OTHER},
        {"", {"\xff\xfe<\0p\0>\0", 8}, DOCUMENT_HTML},
        {"text/plain", {be, 24}, DOCUMENT_OTHER},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct arena a;
        struct document d;
        arena_init(&a);
        CHECK_STATUS(cases[i].type,
                     document_read(&a, span_str(cases[i].type), SPAN("http://a/x"), cases[i].body,
                                   &(struct facts_opts){.keep_text = true}, &d),
                     ST_OK);
        CHECK(cases[i].type, d.kind == cases[i].kind);
        if (cases[i].kind == DOCUMENT_PLAIN)
            CHECK_SPAN(cases[i].type, d.facts.title, SPAN("Title"));
        arena_done(&a);
    }
}

static void text_is_read_by_its_kind(void **state)
{
    static const struct {
        const char *label, *type, *url, *body, *title, *text;
        document_kind kind;
    } cases[] = {
        {"HTML", "text/html", "", "<title>T</title><p>a", "T", "a", DOCUMENT_HTML},
        {"plain", "text/plain", "", "\n First line \nsecond", "First line", "First line\nsecond", DOCUMENT_PLAIN},
        {"a table has no title", "text/csv", "", "a,b\n1,2", "", "a,b\n1,2", DOCUMENT_PLAIN},
        {"source has no title", "text/x-c", "", "/* x */\nint y;", "", "/* x */\nint y;", DOCUMENT_PLAIN},
        {"Markdown", "text/plain", "http://a/b.md", "# T\n*a*", "T", "T\na", DOCUMENT_MARKDOWN},
        {"Latin", "text/plain; charset=iso-8859-1", "", "caf\xe9", "caf\xc3\xa9", "caf\xc3\xa9", DOCUMENT_PLAIN},
        {"called text", "text/plain", "",
         "\x7f"
         "ELF\x01\x02",
         "", "", DOCUMENT_OTHER},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct arena a;
        struct document d;
        arena_init(&a);
        CHECK_STATUS(
            cases[i].label,
            document_read(&a, span_str(cases[i].type), span_str(cases[i].url), span_str(cases[i].body), &FULL, &d),
            ST_OK);
        CHECK(cases[i].label, d.kind == cases[i].kind);
        CHECK_SPAN(cases[i].label, d.facts.title, span_str(cases[i].title));
        CHECK_SPAN(cases[i].label, d.facts.text, span_str(cases[i].text));
        arena_done(&a);
    }
}

static void a_title_is_a_line_that_says_something(void **state)
{
    static const struct {
        const char *label, *text, *want;
    } cases[] = {
        {"first line", "  The   plan \nmore", "The plan"},
        {"rules are passed over", "=====\n\n * * *\nThe plan", "The plan"},
        {"other letters", "---\n\u03b1\n", "\u03b1"},
        {"a paragraph is cut between words",
         "It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of "
         "foolishness, "
         "it was the epoch of belief, it was the epoch of incredulity",
         "It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of "
         "foolishness, "
         "it was the epoch of belief, it was the epoch\u2026"},
        {"nothing", "*\n\n", ""},
        {"empty", "", ""},
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        CHECK_SPAN(cases[i].label, plain_title(&a, span_str(cases[i].text)), span_str(cases[i].want));
    struct buf word = {0};
    for (int i = 0; i < 1000; i++)
        buf_puts(&word, "\u8a9e");
    struct span title = plain_title(&a, buf_span(&word));
    CHECK("a word without end", title.n <= PLAIN_TITLE_MAX && title.n > PLAIN_TITLE_MAX - 8 && utf8_is_valid(title));
    buf_done(&word);
    arena_done(&a);
}

static void utf16_is_no_binary(void **state)
{
    struct arena a;
    struct document d;
    arena_init(&a);
    CHECK_STATUS("UTF-16", document_read(&a, SPAN("text/plain"), SPAN(""), SPAN("\xff\xfeh\0i\0"), &FULL, &d), ST_OK);
    CHECK_SPAN("UTF-16", d.facts.text, SPAN("hi"));
    arena_done(&a);
}

static void what_pdftotext_says_becomes_facts(void **state)
{
    static const struct {
        const char *label, *said, *title, *text;
    } cases[] = {
        {"all of it",
         "<html><head>\n<title>A &amp; B</title>\n<meta name=\"robots\" content=\"noindex\"/></head>\n<body>\n<pre>\n"
         "First\n\fx <y> &amp;\n</pre>\n</body>\n</html>\n",
         "A & B", "First\nx <y> &amp;"},
        {"no title", "<title></title><pre>\nFirst line\nmore</pre>\n</body>\n</html>", "First line",
         "First line\nmore"},
        {"an office title", "<title>Microsoft Word - plan.doc</title><pre>x", "plan.doc", "x"},
        {"no title either", "<title>Untitled</title><pre>The plan", "The plan", "The plan"},
        {"not such output", "just text", "just text", "just text"},
        {"nothing", "", "", ""},
        {"bytes that are no text", "<pre>\xff\xfe</pre>\n</body>\n</html>", "\xef\xbf\xbd\xef\xbf\xbd",
         "\xef\xbf\xbd\xef\xbf\xbd"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct arena a;
        struct document d;
        arena_init(&a);
        CHECK_STATUS(cases[i].label, document_read_pdf(&a, span_str(cases[i].said), &FULL, &d), ST_OK);
        CHECK_SPAN(cases[i].label, d.facts.title, span_str(cases[i].title));
        CHECK_SPAN(cases[i].label, d.facts.text, span_str(cases[i].text));
        CHECK(cases[i].label, d.facts.page_flags == 0 && d.facts.link_count == 0);
        arena_done(&a);
    }
}

static void files_have_types_in_words(void **state)
{
    static const struct {
        const char *type, *url;
        uint64_t bytes;
        const char *name, *words;
    } cases[] = {
        {"application/zip", "http://a/x", 1234567, "zip", "ZIP archive, 1.2 MB"},
        {"application/octet-stream", "http://a/b/data.tar.GZ?x=.png", 999, "gz", "gzip archive, 999 B"},
        {"", "http://a/x.JPG", 0, "jpeg", "JPEG image"},
        {"image/x-strange", "http://a/", 0, "", "image"},
        {"application/vnd.nobody", "http://a/x.zip", 5000, NULL, "file of type application/vnd.nobody, 5.0 kB"},
        {"application/octet-stream", "http://a.zip", 0, NULL, "file of type application/octet-stream"},
        {"", "", 0, NULL, "file"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct span type = span_str(cases[i].type), url = span_str(cases[i].url);
        const struct media *m = media_find(type, url);
        struct buf words = {0};
        media_describe(&words, type, url, cases[i].bytes);
        CHECK_SPAN(cases[i].url, buf_span(&words), span_str(cases[i].words));
        CHECK(cases[i].url, !m == !cases[i].name && (!m || strcmp(m->name, cases[i].name) == 0));
        buf_done(&words);
    }
}

static void types_are_asked_for_by_many_names(void **state)
{
    static const struct {
        const char *asked, *want;
    } cases[] = {
        {"pdf", "pdf"},
        {"PDF", "pdf"},
        {"htm", "html"},
        {"md", "markdown"},
        {"jpg", "jpeg"},
        {"image", "image"},
        {"images", "image"},
        {"application/zip", "zip"},
        {"audio/x-odd", "audio"},
        {"slides", "slides"},
        {"slide", NULL},
        {"int", NULL},
        {"", NULL},
        {"a/b", NULL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const char *got = media_asked(span_str(cases[i].asked));
        CHECK(cases[i].asked,
              got == NULL || cases[i].want ? !strcmp(got ? got : "-", cases[i].want ? cases[i].want : "-") : false);
    }
}

static void files_have_names(void **state)
{
    static const struct {
        const char *url, *want;
    } cases[] = {
        {"http://a/b/My%20file.zip?x=1#y", "My file.zip"},
        {"http://a/%CE%B1.pdf", "\xce\xb1.pdf"},
        {"http://a/%ff.pdf", "%ff.pdf"},
        {"http://a/x%2Fy.pdf", "x%2Fy.pdf"},
        {"http://a/x%00y", "x%00y"},
        {"http://a/b/", ""},
        {"http://a.zip", ""},
        {"", ""},
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        CHECK_SPAN(cases[i].url, media_file_name(&a, span_str(cases[i].url)), span_str(cases[i].want));
    arena_done(&a);
}

static void dispositions_have_names(void **state)
{
    static const struct {
        const char *value, *want;
    } cases[] = {
        {"attachment; filename=\"a b.zip\"", "a b.zip"},
        {"attachment;filename=plain.txt", "plain.txt"},
        {"inline; filename=\"e.zip\"; filename*=UTF-8''%e2%82%ac%20rates.zip", "\xe2\x82\xac rates.zip"},
        {"attachment; filename*=iso-8859-1'en'%a3%20rates", "\xc2\xa3 rates"},
        {"attachment; filename*=koi8-r''%c1; filename=x.txt", "x.txt"},
        {"attachment; filename=\"a\\\"b\\\\c.txt\"", "c.txt"},
        {"attachment; filename=\"../../etc/passwd\"", "passwd"},
        {"attachment; filename=\"a;b.txt\"; size=3", "a;b.txt"},
        {"attachment; filename=\"a\tb\x01.txt\"", "ab.txt"},
        {"attachment; filename", ""},
        {"attachment; filename=", ""},
        {"attachment; filename=\"open", "open"},
        {"attachment", ""},
        {"", ""},
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        CHECK_SPAN(cases[i].value, disposition_filename(&a, span_str(cases[i].value)), span_str(cases[i].want));
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_type_has_a_reader),       cmocka_unit_test(text_of_two_bytes_a_letter_is_text),
        cmocka_unit_test(text_is_read_by_its_kind),  cmocka_unit_test(a_title_is_a_line_that_says_something),
        cmocka_unit_test(utf16_is_no_binary),        cmocka_unit_test(what_pdftotext_says_becomes_facts),
        cmocka_unit_test(files_have_types_in_words), cmocka_unit_test(types_are_asked_for_by_many_names),
        cmocka_unit_test(files_have_names),          cmocka_unit_test(dispositions_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
