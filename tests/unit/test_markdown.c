/* test_markdown.c - Markdown as pages: text, headings, links, titles; and that nothing in it takes long. */
#include "test.h"

#include <time.h>

#include "base/buf.h"
#include "web/markdown.h"

static const struct facts_opts FULL = {.keep_text = true, .keep_anchors = true};

/* Facts as one text: title | text (with '/' for line ends) | headings | links. */
static void facts_text(struct span markdown, struct buf *out)
{
    struct arena a;
    struct facts f;
    arena_init(&a);
    markdown_facts(&a, markdown, &FULL, &f);
    buf_printf(out, "%.*s|", SPAN_ARG(f.title));
    for (size_t i = 0; i < f.text.n; i++)
        buf_putc(out, f.text.p[i] == '\n' ? '/' : f.text.p[i]);
    buf_putc(out, '|');
    for (size_t i = 0; i < f.heading_count; i++)
        buf_printf(out, "%s%u:%.*s", i ? ";" : "", f.headings[i].level, SPAN_ARG(f.headings[i].text));
    buf_putc(out, '|');
    for (size_t i = 0; i < f.link_count; i++)
        buf_printf(out, "%s%.*s=%.*s", i ? ";" : "", SPAN_ARG(f.links[i].href), SPAN_ARG(f.links[i].text));
    arena_done(&a);
}

static const struct {
    const char *label, *markdown, *want;
} cases[] = {
    {"headings", "# Ring *buffers*\n\nText\n\n## Use ##\n### a #b\n#not one\n",
     "Ring buffers|Ring buffers/Text/Use/a #b/#not one|1:Ring buffers;2:Use;3:a #b|"},
    {"underlined headings", "Big\n===\n\nSmaller\n---\ntext\n\n---\nend", "Big|Big/Smaller/text/end|1:Big;2:Smaller|"},
    {"the title is the highest heading", "### Small\n\n# Large\n\n# Later",
     "Large|Small/Large/Later|3:Small;1:Large;1:Later|"},
    {"front matter", "---\ntitle: \"From above\"\nlayout: post\n---\n# Heading\n", "From above|Heading|1:Heading|"},
    {"front matter in TOML", "+++\ntitle = 'From above'\ndate = 2024-01-01\n---\n+++\n# Heading\n",
     "From above|Heading|1:Heading|"},
    {"pluses", "+++\ntext\n---\n", "+++ text|+++ text|2:+++ text|"},
    {"front matter with quotes inside", "---\ntitle: \"Say \\\"caf\\u00e9\\\" \\\\ twice\" # why\n---\nx\n",
     "Say \"caf\xc3\xa9\" \\ twice|x||"},
    {"front matter with one quote inside", "---\ntitle: 'It''s' # why\n---\nx\n", "It's|x||"},
    {"front matter in lines", "---\nlayout: post\ntitle: >-\n  A title that is\n  long\ndate: 2024\n---\nx\n",
     "A title that is long|x||"},
    {"front matter in lines without a mark", "---\r\ntitle: A title\r\n  that is long\r\n---\r\nx\r\n",
     "A title that is long|x||"},
    {"front matter in quoted lines", "---\ntitle: \"A title\n  that is long\"\n---\nx\n", "A title that is long|x||"},
    {"front matter with a comment", "---\ntitle: C# and F# # why\n---\nx\n", "C# and F#|x||"},
    {"front matter with a map", "---\ntitle:\n  en: x\n---\n# Heading\n", "Heading|Heading|1:Heading|"},
    {"front matter with an empty title", "---\ntitle: \"\"\n---\n# Heading\n", "Heading|Heading|1:Heading|"},
    {"front matter with a stray quote", "---\ntitle: \"Half a quote\n---\nx\n", "\"Half a quote|x||"},
    {"front matter in TOML with quotes", "+++\ntitle = \"a \\\"b\\\"\" # why\n+++\nx\n", "a \"b\"|x||"},
    {"no end of front matter", "---\ntitle: x\n", "|title: x||"},
    {"links", "See [the *list*](a/b.html \"title\") and [x](<c d>), ![a cat](cat.png) and [![pic](p.png)](big.html).",
     "|See the list and x, a cat and pic .||a/b.html=the list;c d=x;big.html=pic"},
    {"references", "[One][a], [b][], [B], [none][zz].\n\n[a]: /a.html\n[b]: <http://b.example/>\n[a]: /second\n",
     "|One, b, B, [none][zz].||/a.html=One;http://b.example/=b;http://b.example/=B"},
    {"parentheses", "[w](http://x/a_(b)) (see https://y/c_(d)). <https://z/?q=1&r=2>",
     "|w (see https://y/c_(d)). "
     "https://z/?q=1&r=2||http://x/a_(b)=w;https://y/c_(d)=https://y/c_(d);https://z/?q=1&r=2="
     "https://z/?q=1&r=2"},
    {"no link", "[a] [b](c d) [](", "|[a] [b](c d) [](||"},
    {"emphasis", "**bold** _it_ ~~gone~~ snake_case_name 2 * 3 a*b \\*star\\* **b**c",
     "|bold it gone snake_case_name 2 * 3 a*b *star* bc||"},
    {"code",
     "Use `a_b *c* <d>` and ``x ` y``, `open\n\n```c\nint *p; // <x> &amp;\n# no heading\n```\n\n    [no](link)\n",
     "|Use a_b *c* <d> and x ` y, `open/int *p; // <x> &amp; # no heading/[no](link)||"},
    {"an open fence", "a\n\n~~~\n```\n[x](y)", "|a/``` [x](y)||"},
    {"lists and quotes", "- one\n- [x] two\n  more\n  1. three\n\n> quoted\n> *text*\n>> deep\n\nend",
     "|one/two more/three/quoted text deep/end||"},
    {"tables", "a | b\n--|--\n1 | [x](y)\n2 | 3\n\nend | here", "|a b/1 x/2 3/end | here||y=x"},
    {"HTML",
     "a <b>c</b> <a href='h'>d</a> <!-- no --> <!--x\n\n<!-- no\n\n[no](n) --> e &lt; 1 < 2 <x@y.z>\n\n<script>var x = "
     "'[no](n)'</script>",
     "|a c d <!--x/e < 1 < 2||h=d"},
    {"footnotes are text", "a[^1]\n\n[^1]: the note", "|a[^1]/[^1]: the note||"},
    {"an empty document", "", "|||"},
    {"line ends", "# T\r\n\r\ntext\r\n```\r\ncode\r\n```\r\n", "T|T/text/code|1:T|"},
};

static void markdown_becomes_facts(void **state)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct buf got = {0};
        facts_text(span_str(cases[i].markdown), &got);
        CHECK_SPAN(cases[i].label, buf_span(&got), span_str(cases[i].want));
        buf_done(&got);
    }
}

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* A megabyte of each takes less than it would if anything grew with its square: that would be hours. */
static void nothing_takes_long(void **state)
{
    static const char *const rows[] = {"[",  "![", "<",        "`",       "[](",      "[a](<",   "](",  "*_",   "~~a",
                                       "> ", "- ", "http://a", "``` `` ", "[a]: b\n", "| a |\n", "\\[", "[a][", "<!--"};
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct arena a;
        struct buf text = {0};
        struct facts f;
        while (text.n < 1u << 20)
            buf_puts(&text, rows[i]);
        double start = cpu_s();
        arena_init(&a);
        markdown_facts(&a, buf_span(&text), &FULL, &f);
        arena_done(&a);
        if (cpu_s() - start > 20)
            fail_msg("\"%s\" took %.1f s", rows[i], cpu_s() - start);
        buf_done(&text);
    }
}

/* A paragraph of more than MARKDOWN_PARAGRAPH_MAX bytes loses nothing and cuts no character. */
static void long_paragraphs_are_read_in_pieces(void **state)
{
    struct arena a;
    struct facts f;
    struct buf text = {0};
    const unsigned words = 60000;
    size_t found = 0;
    for (unsigned i = 0; i < words; i++)
        buf_puts(&text, "\xce\xb1\xce\xb2 ");
    arena_init(&a);
    markdown_facts(&a, buf_span(&text), &FULL, &f);
    for (size_t i = 0; i + 1 < f.text.n; i++)
        found += f.text.p[i] == '\xce' && f.text.p[i + 1] == '\xb2';
    CHECK("all words", found == words);
    arena_done(&a);
    buf_done(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(markdown_becomes_facts),
        cmocka_unit_test(nothing_takes_long),
        cmocka_unit_test(long_paragraphs_are_read_in_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
