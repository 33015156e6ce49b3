/* test_facts.c - the fact collector by cases, its ceilings, the digest, and hostile pages. */
#include "test.h"

#include <time.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/rng.h"
#include "base/utf8.h"
#include "web/facts.h"
#include "web/facts_meta.h"
#include "web/facts_text.h"

/* SPAN is a compound literal, which gcc -Wpedantic does not take for a constant. */
#define LIT(s)              \
    {                       \
        "" s, sizeof(s) - 1 \
    }

static const struct facts_opts FULL = {.agent = LIT("orbbot"), .keep_text = true, .keep_anchors = true};

/* Facts as lines, for tables of cases. */
static void print_facts(struct buf *out, const struct facts *f)
{
    static const char *const kinds[] = {"a", "frame", "refresh", "next", "alternate", "feed", "sitemap"};
    const struct {
        const char *name;
        struct span value;
    } fields[] = {{"base", f->base},
                  {"canonical", f->canonical},
                  {"title", f->title},
                  {"description", f->description},
                  {"lang", f->lang}};
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        if (fields[i].value.n)
            buf_printf(out, "%s=%.*s\n", fields[i].name, SPAN_ARG(fields[i].value));
    for (size_t i = 0; i < f->link_count; i++) {
        const struct fact_link *l = &f->links[i];
        buf_printf(out, "%s %.*s", kinds[l->kind], SPAN_ARG(l->href));
        if (l->text.n)
            buf_printf(out, " [%.*s]", SPAN_ARG(l->text));
        if (l->rel)
            buf_printf(out, " rel=%d", l->rel);
        buf_puts(out, "\n");
    }
    for (size_t i = 0; i < f->heading_count; i++)
        buf_printf(out, "h%d %.*s\n", f->headings[i].level, SPAN_ARG(f->headings[i].text));
    if (f->page_flags)
        buf_printf(out, "flags=%u\n", f->page_flags);
    if (f->has_script)
        buf_puts(out, "script\n");
    if (f->text.n)
        buf_printf(out, "text=%.*s\n", SPAN_ARG(f->text));
    buf_cstr(out);
}

/* Collects from an exact copy on the heap, so that ASan sees any byte read past it. */
static void collect(struct arena *a, struct span html, const struct facts_opts *opts, struct facts *out, char **copy)
{
    *copy = malloc(html.n ? html.n : 1);
    if (html.n)
        memcpy(*copy, html.p, html.n);
    facts_collect(a, span_of(*copy, html.n), opts, out);
}

static const struct {
    const char *label, *html, *want;
} CASES[] = {
    {"nothing", "", ""},
    {"white space only", " \n\t ", ""},
    {"a page",
     "<!doctype html><html lang=' en '><head><title> A\n &amp; B </title><base href=/x/><base href=/y/>"
     "<link rel=canonical href='c'><meta name=Description content=' d  e '></head><body><h1>Top <i>one</i></h1>"
     "<p>See <a href=' l?a=1&amp;b=2 ' rel='x NoFollow ugc'>the\n <b>list</b></a>, it's <em>fine</em>.<p>Two",
     "base=/x/\ncanonical=c\ntitle=A & B\ndescription=d e\nlang=en\na l?a=1&b=2 [the list] rel=3\nh1 Top one\n"
     "text=Top one\nSee the list, it's fine.\nTwo\n"},
    {"description: og only", "<meta property=og:description content=o>", "description=o\n"},
    {"description: name wins", "<meta property=og:description content=o><meta name=description content=n>",
     "description=n\n"},
    {"description: name wins when first", "<meta name=description content=n><meta property=og:description content=o>",
     "description=n\n"},
    {"content-language", "<meta http-equiv=content-language content=de>", "lang=de\n"},
    {"html lang wins", "<html lang=en><meta http-equiv=content-language content=de>", "lang=en\n"},
    {"frames", "<iframe src=a>x<a href=no>y</a></iframe><frame src=b><iframe></iframe><iframe src=' '></iframe>",
     "frame a\nframe b\n"},
    {"area", "<map><area href=a><area nohref></map>", "a a\n"},
    {"refresh", "<meta http-equiv=Refresh content='0; URL=\"n.html\"'><meta http-equiv=refresh content=5>",
     "refresh n.html\n"},
    {"link kinds",
     "<link rel=next href=n><link rel=PREV href=p><link rel=alternate hreflang=de href=d>"
     "<link rel=alternate type=application/rss+xml href=r><link rel='alternate' type=application/atom+xml href=f>"
     "<link rel=sitemap href=s><link rel='alternate stylesheet' href=x><link rel=stylesheet href=y>"
     "<link rel=alternate type=application/json href=j><link rel=next><link rel=icon href=i>"
     "<link rel=alternate type=application/feed+json href=k><link rel=alternate type=application/json href=/feed.json>",
     "next n\nnext p\nalternate d [de]\nfeed r\nfeed f\nsitemap s\nfeed k\nfeed /feed.json\n"},
    {"alternates",
     "<link rel=alternate hreflang=' en-GB ' href=a><link rel=alternate hreflang href=b><link rel=alternate href=c>"
     "<link rel=alternate hreflang=a-tag-that-is-longer-than-any-language-tag href=d>",
     "alternate a [en-GB]\nalternate b\nalternate c\nalternate d\n"},
    {"robots",
     "<meta name=ROBOTS content='NoIndex, follow'><meta name=orbbot content=nofollow><meta name=other content=none>",
     "flags=3\n"},
    {"robots none", "<meta content=none name=robots>", "flags=3\n"},
    {"robots rest", "<meta content='noarchive,nosnippet,' name=robots>", "flags=12\n"},
    {"empty href is a link", "<a href>x</a><a href=''>y</a><a name=z>z</a>", "a  [x]\na  [y]\ntext=xyz\n"},
    {"anchors do not nest", "<a href=1>x<a href=2>y</a>z</a>", "a 1 [x]\na 2 [y]\ntext=xyz\n"},
    {"anchor never closed", "<a href=1>x<p>y", "a 1 [x y]\ntext=x\ny\n"},
    {"alt text is of the anchor only", "<img alt=no><a href=1>x<img alt=' the &lt;  logo'>y</a>",
     "a 1 [x the < logo y]\ntext=xy\n"},
    {"block in an anchor", "<a href=1><div>x</div><div> y </div></a>z", "a 1 [x y]\ntext=x\ny\nz\n"},
    {"noscript is markup", "<noscript><a href=1>x</a></noscript>", "a 1 [x]\ntext=x\n"},
    {"template is nothing",
     "a<template><a href=1>x</a><title>t</title><h1>h</h1><template>y</template>z<script>s</script></template>b",
     "text=ab\n"},
    {"script and style", "a<script>'<a href=x>'</script><style><a href=y></style>b", "script\ntext=ab\n"},
    {"script with an escaped script", "<script><!--<script></script><a href=x>--></script>b", "script\ntext=b\n"},
    {"form text", "a<textarea><a href=1>x</textarea>b<select><option>o<option selected>p</select>c", "text=a b c\n"},
    {"option never closed", "<datalist><option>o<p>q", "text=q\n"},
    {"plaintext", "a<plaintext><b>&lt;", "text=a\n<b>&lt;\n"},
    {"xmp", "a<xmp><b>&lt;</xmp>b", "text=a\n<b>&lt;\nb\n"},
    {"raw text elements", "a<noembed>x</noembed><noframes>y</noframes>b", "text=ab\n"},
    {"first title", "<title></title><title>x</title><title>y</title>", "title=x\n"},
    {"title of an svg", "<svg><title>s</title><text>t</text></svg><title>x</title>", "title=x\ntext=t\n"},
    {"svg script", "<svg><script>a<b>c</b></script><style>x</style><text>t</text></svg>", "script\ntext=ct\n"},
    {"svg link", "<svg><a xlink:href=1><text>x</text></a><a href=2 /></svg>", "a 1 [x]\na 2\ntext=x\n"},
    {"CDATA in svg", "<svg><![CDATA[a<b]]></svg><![CDATA[c<d]]>", "text=a<b\n"},
    {"CDATA in HTML in svg", "<svg><foreignObject><p><![CDATA[a]]>b</p></foreignObject><![CDATA[c]]></svg>",
     "text=b\nc\n"},
    {"svg never closed", "<div><svg><title>x</div><script>1<2</script>y", "script\ntext=y\n"},
    {"HTML ends svg", "<svg><title>x<p>y<title>t</title>", "title=t\ntext=y\n"},
    {"self-closing svg", "<svg/><title>t</title>", "title=t\n"},
    {"terms of definition lists", "<dl><dt>one<dt>two <b>x</b><dd>not<dt>three</dt>no<dt><h2>in</h2>no<dt>last</dl>no",
     "h7 one\nh7 two x\nh7 three\nh2 in\nh7 last\ntext=one\ntwo x\nnot\nthree\nno\nin\nno\nlast\nno\n"},
    {"headings", "<h1>a<h2>b</h3><h6> <img alt=x> </h6><h3><a href=1>c</a> d</h3>",
     "a 1 [c]\nh1 a\nh2 b\nh3 c d\ntext=a\nb\nc d\n"},
    {"folding", " a  b\t\n c<b> d</b> <i> e</i>f&#32; &#10;g&nbsp; &nbsp;h\r\n&#9;i ",
     "text=a b c d ef g\xC2\xA0 \xC2\xA0h i\n"},
    {"pre folds", "<pre>\na\n  b</pre>c", "text=a b\nc\n"},
    {"br and hr", "a<br>b<br/><br> c<hr>d", "text=a\nb\nc\nd\n"},
    {"cells", "<table><tr><td>a</td><td>b<tr><th>c<th>d</table>e", "text=a b\nc d\ne\n"},
    {"inline tags join words", "a<b>b</b><span>c</span><wbr>d<x-y>e</x-y>", "text=abcde\n"},
    {"signs", "1 < 2 &amp;&amp; 3 > 2 &bogus; &", "text=1 < 2 && 3 > 2 &bogus; &\n"},
    {"long text",
     "The quick brown fox jumps over the lazy dog; &quot;pack my box&quot; with   five dozen liquor jugs, \xE2\x82\xAC "
     "5.",
     "text=The quick brown fox jumps over the lazy dog; \"pack my box\" with five dozen liquor jugs, \xE2\x82\xAC "
     "5.\n"},
};

static void pages_have_these_facts(void **state)
{
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct arena a;
        struct facts f;
        struct buf got = {0};
        char *copy;
        arena_init(&a);
        collect(&a, span_str(CASES[i].html), &FULL, &f, &copy);
        print_facts(&got, &f);
        CHECK_SPAN(CASES[i].label, buf_span(&got), span_str(CASES[i].want));
        CHECK(CASES[i].label, f.text_bytes == f.text.n && f.digest == facts_digest(f.text));
        buf_done(&got);
        free(copy);
        arena_done(&a);
    }
}

static void nul_is_dropped_from_text(void **state)
{
    struct arena a;
    struct facts f;
    arena_init(&a);
    facts_collect(&a, SPAN("<title>x\0</title>a\0b"), &FULL, &f);
    CHECK_SPAN("text", f.text, SPAN("ab"));
    CHECK_SPAN("title", f.title, SPAN("x\xEF\xBF\xBD"));
    facts_collect(&a, (struct span){0}, &FULL, &f);
    CHECK("no page", f.text.n == 0 && f.link_count == 0);
    facts_collect_plain(&a, (struct span){0}, &FULL, &f);
    CHECK("no text", f.text.n == 0 && f.title.n == 0);
    arena_done(&a);
}

static void plain_text_has_facts(void **state)
{
    struct arena a;
    struct facts f;
    arena_init(&a);
    facts_collect_plain(&a, SPAN("\r\n \n The  title\r\n\r\n<b>&amp;\tx \ny"), &FULL, &f);
    CHECK_SPAN("title", f.title, SPAN("The title"));
    CHECK_SPAN("text", f.text, SPAN("The title\n<b>&amp; x\ny"));
    CHECK("digest", f.digest == facts_digest(f.text) && f.text_bytes == f.text.n && f.link_count == 0);
    arena_done(&a);
}

/* ---- ceilings ---- */

static void long_pages_keep_to_the_ceilings(void **state)
{
    struct arena a;
    struct facts f, lean;
    struct buf b = {0}, all = {0};
    arena_init(&a);
    buf_puts(&b, "<title>");
    for (int i = 0; i < 2000; i++)
        buf_puts(&b, "\xC3\xA4");
    buf_puts(&b, "</title><meta name=description content='");
    for (int i = 0; i < 5000; i++)
        buf_puts(&b, "\xC3\xB6");
    buf_puts(&b, "'>");
    for (int i = 0; i < FACTS_LINKS_MAX + 10; i++)
        buf_puts(&b, "<a href=x>y</a>");
    buf_puts(&b, "<h1>h</h1>");
    for (int i = 0; i < FACTS_HEADINGS_MAX + 10; i++)
        buf_puts(&b, "<h2>h</h2>");
    buf_puts(&b, "<a href=z>");
    for (int i = 0; i < 3 << 20; i++)
        buf_puts(&b, "\xE2\x82\xAC");
    facts_collect(&a, buf_span(&b), &FULL, &f);
    CHECK("title", f.title.n <= FACTS_TITLE_MAX && f.title.n > FACTS_TITLE_MAX - 4 && utf8_is_valid(f.title));
    CHECK("description", f.description.n <= FACTS_DESCRIPTION_MAX && f.description.n > FACTS_DESCRIPTION_MAX - 4);
    CHECK("description", utf8_is_valid(f.description));
    CHECK("links", f.link_count == FACTS_LINKS_MAX && f.links_cut);
    CHECK("headings", f.heading_count == FACTS_HEADINGS_MAX && f.headings[0].level == 1);
    CHECK("text", f.text.n <= FACTS_TEXT_MAX && f.text.n > FACTS_TEXT_MAX - 8 && utf8_is_valid(f.text));
    for (int i = 0; i < FACTS_LINKS_MAX + 10; i++)
        buf_puts(&all, "y");
    for (int i = 0; i < FACTS_HEADINGS_MAX + 11; i++)
        buf_puts(&all, "\nh");
    buf_puts(&all, "\n");
    for (int i = 0; i < 3 << 20; i++)
        buf_puts(&all, "\xE2\x82\xAC");
    CHECK("bytes", f.text_bytes == all.n);
    CHECK("digest covers all of it", f.digest == facts_digest(buf_span(&all)));
    facts_collect(&a, buf_span(&b), &(struct facts_opts){0}, &lean);
    CHECK("the same without text", lean.digest == f.digest && lean.text_bytes == f.text_bytes && !lean.text.n);
    CHECK("the same without anchors", lean.link_count == f.link_count && !lean.links[0].text.n);
    buf_done(&b);
    buf_done(&all);
    arena_done(&a);
}

static void anchor_text_passes_the_window(void **state)
{
    /* The anchor begins and ends around the place where the fold's window is emptied. */
    for (size_t before = FOLD_WINDOW - 40; before < FOLD_WINDOW + 8; before++) {
        struct arena a;
        struct facts f;
        struct buf b = {0};
        arena_init(&a);
        for (size_t i = 0; i < before; i++)
            buf_putc(&b, 'x');
        buf_puts(&b, " <h2><a href=1>one <b>two</b> three</a></h2> <a href=2>four</a>");
        facts_collect(&a, buf_span(&b), &(struct facts_opts){.keep_anchors = true}, &f);
        CHECK_SPAN("first", f.links[0].text, SPAN("one two three"));
        CHECK_SPAN("second", f.links[1].text, SPAN("four"));
        CHECK_SPAN("heading", f.headings[0].text, SPAN("one two three"));
        buf_done(&b);
        arena_done(&a);
    }
}

static void long_anchors_are_cut_between_characters(void **state)
{
    for (int shift = 0; shift < 4; shift++) {
        struct arena a;
        struct facts f;
        struct buf b = {0};
        arena_init(&a);
        buf_printf(&b, "<a href=1>%.*s", shift, "abc");
        for (int i = 0; i < 300; i++)
            buf_puts(&b, "\xE2\x82\xAC");
        facts_collect(&a, buf_span(&b), &FULL, &f);
        CHECK("cut", f.links[0].text.n <= FACTS_ANCHOR_MAX && f.links[0].text.n > FACTS_ANCHOR_MAX - 8);
        CHECK("whole", utf8_is_valid(f.links[0].text));
        buf_done(&b);
        arena_done(&a);
    }
}

/* ---- digest ---- */

static void digest_does_not_depend_on_pieces(void **state)
{
    struct rng r;
    char text[500];
    rng_seed(&r, 11);
    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = (char)rng_u64(&r);
    for (int round = 0; round < 5000; round++) {
        size_t n = rng_below(&r, sizeof(text) + 1);
        struct text_digest d;
        text_digest_begin(&d);
        for (size_t at = 0; at < n;) {
            size_t piece = rng_below(&r, n - at + 1);
            text_digest_add(&d, span_of(text + at, piece));
            at += piece;
        }
        assert_int_equal(text_digest_end(&d), facts_digest(span_of(text, n)));
    }
}

static void digest_tells_texts_apart(void **state)
{
    /* One bit changed, or zero bytes added: never the same, over all of a few thousand. */
    char text[100] = {0};
    uint64_t seen[sizeof(text) * 9];
    size_t count = 0;
    for (size_t n = 1; n <= sizeof(text); n++) {
        seen[count++] = facts_digest(span_of(text, n));
        for (int bit = 0; bit < 8; bit++) {
            text[n - 1] ^= (char)(1 << bit);
            seen[count++] = facts_digest(span_of(text, sizeof(text)));
            text[n - 1] ^= (char)(1 << bit);
        }
    }
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < i; k++)
            assert_true(seen[i] != seen[k]);
    /* It travels between machines: these values must never change. */
    assert_int_equal(facts_digest(SPAN("")), 0xFB534DB60867C306u);
    assert_int_equal(facts_digest(SPAN("The quick brown fox jumps over the lazy dog")), 0xFF470393D01D2060u);
}

static void digest_ignores_markup_and_spacing(void **state)
{
    struct arena a;
    struct facts x, y;
    arena_init(&a);
    facts_collect(&a, SPAN("<p>One  two</p>\n<p class=x>three"), &FULL, &x);
    facts_collect(&a, SPAN("<title>t</title><div>One <b>two</b></div><div>three</div>"), &FULL, &y);
    assert_int_equal(x.digest, y.digest);
    arena_done(&a);
}

/* ---- small grammars ---- */

#define NOON 1277467200000 /* of 25 June 2010, UTC */

static void robots_header_is_read(void **state)
{
    static const struct {
        const char *value;
        unsigned want;
    } cases[] = {
        {"", 0},
        {"noindex", PAGE_NOINDEX},
        {" NOINDEX , nofollow", PAGE_NOINDEX | PAGE_NOFOLLOW},
        {"none", PAGE_NOINDEX | PAGE_NOFOLLOW},
        {"otherbot: noindex", 0},
        {"otherbot: noindex, nofollow", 0},
        {"OrbBot: noindex, nofollow", PAGE_NOINDEX | PAGE_NOFOLLOW},
        {"otherbot: noindex, orbbot: nosnippet", PAGE_NOSNIPPET},
        {"googlebot: nofollow, otherbot: noindex", 0},
        {"unavailable_after: 25 Jun 2010 15:00:00 PST, noarchive", PAGE_NOARCHIVE},
        {"unavailable_after: 25 Jun 2010 11:59:59 GMT, noarchive", PAGE_NOINDEX | PAGE_NOARCHIVE},
        {"unavailable_after: Fri, 25 Jun 2010 11:00:00 GMT, noarchive", PAGE_NOINDEX | PAGE_NOARCHIVE},
        {"unavailable_after: Fri, 25 Jun 2010 13:00:00 GMT, noarchive", PAGE_NOARCHIVE},
        {"Unavailable_After:2010-06-25", PAGE_NOINDEX},
        {"unavailable_after: 2010-06-26", 0},
        {"otherbot: unavailable_after: 2010-06-01, noindex", 0},
        {"orbbot: unavailable_after: 2010-06-01", PAGE_NOINDEX},
        {"unavailable_after: Fri, some day 15:00, noindex", PAGE_NOINDEX},
        {"max-snippet:0", PAGE_NOSNIPPET},
        {"max-snippet: 0 nofollow", PAGE_NOSNIPPET | PAGE_NOFOLLOW},
        {"max-snippet:0.5, max-snippet:00", 0},
        {"max-snippet:20 noindex", PAGE_NOINDEX},
        {"max-snippet:20, noindex", PAGE_NOINDEX},
        {"noindex, otherbot: nofollow", PAGE_NOINDEX},
        {":noindex", 0},
        {"noindex nofollow", PAGE_NOINDEX | PAGE_NOFOLLOW},
        {"noindex;nofollow", PAGE_NOINDEX | PAGE_NOFOLLOW},
        {"orbbot: noindex nofollow", PAGE_NOINDEX | PAGE_NOFOLLOW},
        {"otherbot: noindex nofollow", 0},
        {"max-image-preview: none", 0},
        {"max-image-preview : none, max-snippet:-1", 0},
        {"max-image-preview:, none", PAGE_NOINDEX | PAGE_NOFOLLOW},
        {"unavailable_after: 25 Jun 2010 15:00:00 PST noindex", PAGE_NOINDEX},
        {"nonefollow no-index", 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        unsigned got = facts_robots_header(span_str(cases[i].value), SPAN("orbbot"), NOON);
        if (got != cases[i].want)
            fail_msg("\"%s\": %u, want %u", cases[i].value, got, cases[i].want);
    }
    CHECK("no agent", facts_robots_header(SPAN(": noindex"), SPAN(""), NOON) == 0);
}

static void refresh_is_read(void **state)
{
    static const struct {
        const char *content, *want; /* NULL: no URL */
        bool is_at_once;
    } cases[] = {
        {"0;url=x", "x", true},
        {"5; URL = 'x y' z", "x y", false},
        {"1.5 url=x", "x", false},
        {"0,x", "x", true},
        {".5;x", "x", true},
        {"0; \"x", "x", true},
        {"5", NULL, false},
        {"5;", NULL, false},
        {"", NULL, false},
        {"x;url=y", NULL, false},
        {"0; urlx", "urlx", true},
        {"0 ; url", "url", true},
        {"5x", NULL, false},
        {"0;url=", NULL, false},
        {" 3 ; url=\"a\"", "a", false},
        {"0; url=''", NULL, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct span url = SPAN("-");
        bool is_at_once = false, has = facts_refresh_url(span_str(cases[i].content), &url, &is_at_once);
        CHECK(cases[i].content, has == (cases[i].want != NULL) && is_at_once == cases[i].is_at_once);
        if (has)
            CHECK_SPAN(cases[i].content, url, span_str(cases[i].want));
    }
}

/* ---- hostile input ---- */

static void hostile_pages_take_linear_time(void **state)
{
    static const char *const bits[] = {"<",
                                       "<a ",
                                       "<a href=x>",
                                       "&",
                                       "&lt",
                                       "<svg>",
                                       "<template>",
                                       "<p>",
                                       "</p>",
                                       "<h1>",
                                       "<title>",
                                       "<option>",
                                       "<!--",
                                       "</",
                                       " ",
                                       "\n ",
                                       "<b><i>",
                                       "<svg><p>",
                                       "<svg><desc>",
                                       "x <br>",
                                       "<a href=x><img alt=yyyyyyyyyyyyyyyy>",
                                       "<meta name=robots content=none>",
                                       "<link rel='next prev alternate canonical' href=x>",
                                       "<base>",
                                       "<script>"};
    for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
        struct arena a;
        struct facts f;
        struct buf b = {0};
        while (b.n < 1 << 20)
            buf_puts(&b, bits[i]);
        arena_init(&a);
        clock_t start = clock();
        facts_collect(&a, buf_span(&b), &FULL, &f);
        double s = (double)(clock() - start) / CLOCKS_PER_SEC;
        if (s > 5)
            fail_msg("1 MiB of \"%s\" took %.1f s", bits[i], s);
        /* A page must not take many times its size: 20,000 links, text and copies of attributes. */
        if (a.total > 12u << 20)
            fail_msg("1 MiB of \"%s\" took %zu bytes", bits[i], a.total);
        arena_done(&a);
        buf_done(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_have_these_facts),
        cmocka_unit_test(nul_is_dropped_from_text),
        cmocka_unit_test(plain_text_has_facts),
        cmocka_unit_test(long_pages_keep_to_the_ceilings),
        cmocka_unit_test(anchor_text_passes_the_window),
        cmocka_unit_test(long_anchors_are_cut_between_characters),
        cmocka_unit_test(digest_does_not_depend_on_pieces),
        cmocka_unit_test(digest_tells_texts_apart),
        cmocka_unit_test(digest_ignores_markup_and_spacing),
        cmocka_unit_test(robots_header_is_read),
        cmocka_unit_test(refresh_is_read),
        cmocka_unit_test(hostile_pages_take_linear_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
