#include "test.h"

#include "base/arena.h"
#include "base/utf8.h"
#include "sample/sites.h"
#include "sample/words.h"
#include "web/facts.h"

#define SEED 1
#define PORT 80
#define DAY_OF_TESTS 1700000000 /* 2023-11-14 */

/* ---- templates ---- */

static const struct subject stones[] = {
    {{"flint", "flint", "grey", "«hard»"}},
    {{"marl", "marl", "white & soft", "[soft]"}},
};
static const struct theme stone_theme = {
    .lang = "de", .folder = "stones", .subjects = stones, .subject_count = 2, .pools = {"x|x", "one|two|three"}};

static void fills_in_templates(void **state)
{
    static const struct {
        const char *label, *text, *want;
        bool is_plain;
    } cases[] = {
        {"plain text", "a < b", "A &lt; b", true},
        {"a field", "It is {2}.", "It is white &amp; soft.", true},
        {"a field that is a template", "{3}", "Soft", true},
        {"no such field", "a{7}b", "Ab", true},
        {"a pool", "{a}{A}", "Xx", true},
        {"no such pool", "{f}", "", true},
        {"a number", "{#7-7}", "7", true},
        {"a date", "am {%}", "Am 14. November 2023", true},
        {"one choice", "[same|same] [|]", "Same ", true},
        {"nested choices", "[a[b|b]|a[b|b]]", "Ab", true},
        {"an open bracket", "[a|a", "A", true},
        {"an open slot", "{1", "Marl", true},
        {"code marks", "`x_y` z", "x_y z", true},
        {"another subject", "{~}", "Flint", true},
        {"a capital letter", "élan", "Élan", true},
        {"a Greek one", "το", "Το", true},
        {"a Russian one", "яма", "Яма", true},
        {"a Polish one", "żuraw", "Żuraw", true},
        {"no capital in a program's name", "ring_push", "ring_push", true},
        {"nor in camel case", "parseHeader x", "parseHeader x", true},
        {"paragraphs", "a\n\nb\n", "<p>A</p>\n<p>B</p>\n", false},
        {"a heading", "# {1}", "<h2>Marl</h2>\n", false},
        {"a list", "- a\n- b\nc", "<ul>\n<li>A</li>\n<li>B</li>\n</ul>\n<p>C</p>\n", false},
        {"code", "    if (a[0] | {1}) { \"x\" }\n", "<pre><code>if (a[0] | marl) { &quot;x&quot; }\n</code></pre>\n",
         false},
        {"code in a line", "`a`", "<p><code>a</code></p>\n", false},
        {"a link", "see {~}", "<p>See <a href=\"/stones/flint/\">flint</a></p>\n", false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct buf out = {0};
        struct writer w;
        writer_init(&w, &stone_theme, stones[1].f, SEED, DAY_OF_TESTS, &out);
        if (cases[i].is_plain)
            writer_plain(&w, cases[i].text);
        else
            writer_blocks(&w, cases[i].text);
        CHECK_SPAN(cases[i].label, buf_span(&out), span_str(cases[i].want));
        buf_done(&out);
    }
}

static void draws_by_the_seed(void **state)
{
    unsigned seen[3] = {0};
    struct buf one = {0}, two = {0};
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct writer w;
        buf_clear(&one);
        buf_clear(&two);
        writer_init(&w, &stone_theme, NULL, seed, 0, &one);
        writer_plain(&w, "{B} {B} {b}{#1-9}");
        writer_init(&w, &stone_theme, NULL, seed, 0, &two);
        writer_plain(&w, "{B} {B} {b}{#1-9}");
        assert_true(span_eq(buf_span(&one), buf_span(&two)));
        bool is_one = one.p[0] == 'O', is_three = one.p[1] == 'h';
        seen[is_one ? 0 : is_three ? 2 : 1]++;
        struct span first = span_cut(buf_span(&one), 1, span_find(buf_span(&one), ' ', 0) - 1);
        struct span second = span_cut(buf_span(&one), first.n + 3, first.n);
        CHECK_SPAN("{B} stays the same", second, first);
    }
    for (int i = 0; i < 3; i++)
        assert_true(seen[i] > 60);
    buf_done(&one);
    buf_done(&two);
}

static void writes_dates_as_people_do(void **state)
{
    static const char *const cases[][2] = {
        {"en", "14 November 2023"}, {"de", "14. November 2023"}, {"es", "14 de noviembre de 2023"},
        {"ja", "2023年11月14日"},   {"pl", "14 listopada 2023"}, {"xx", "14 November 2023"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct buf out = {0};
        words_date(words_of(cases[i][0]), DAY_OF_TESTS, &out);
        CHECK_SPAN(cases[i][0], buf_span(&out), span_str(cases[i][1]));
        buf_done(&out);
    }
}

/* ---- sites ---- */

struct answer {
    struct site_reply reply;
    struct buf head, body;
};

static void ask_seed(const struct site *site, unsigned at, uint64_t seed, unsigned version, struct answer *out)
{
    struct buf path = {0};
    site_path(site, at, &path);
    *out = (struct answer){0};
    out->reply = (struct site_reply){.head = &out->head, .body = &out->body};
    struct site_ask a = {
        .seed = seed, .port = PORT, .domain = SITE_DOMAIN, .target = buf_span(&path), .hits = 1000, .version = version};
    site_answer(site, at, &a, &out->reply);
    buf_done(&path);
}

static void ask(const struct site *site, unsigned at, struct answer *out)
{
    ask_seed(site, at, SEED, 0, out);
}

static void answer_done(struct answer *a)
{
    buf_done(&a->head);
    buf_done(&a->body);
}

static const struct special *special_of(const struct site *site, unsigned at)
{
    return at < site_pages(site) ? NULL : &site->specials[at - site_pages(site)];
}

/* Calls fn for every page of every site, with a label. */
static void each_page(void (*fn)(const struct site *site, unsigned at, const char *label))
{
    for (unsigned i = 0; i < site_count; i++) {
        for (unsigned at = 0; at < site_pages(&sites[i]) + sites[i].special_count; at++) {
            struct buf label = {0};
            buf_puts(&label, sites[i].host);
            site_path(&sites[i], at, &label);
            fn(&sites[i], at, buf_cstr(&label));
            buf_done(&label);
        }
    }
}

static void check_path(const struct site *site, unsigned at, const char *label)
{
    struct buf path = {0};
    site_path(site, at, &path);
    int got = site_find(site, buf_span(&path));
    if (got != (int)at)
        fail_msg("%s: is page %u, found as %d", label, at, got);
    buf_putc(&path, '~');
    const struct special *sp = special_of(site, at);
    if (!sp || (sp->kind != SP_MAZE && sp->kind != SP_FAR))
        CHECK(label, site_find(site, buf_span(&path)) < 0);
    buf_done(&path);
}

static void finds_every_page_by_its_path(void **state)
{
    each_page(check_path);
    assert_int_equal(site_find(&sites[0], SPAN("")), -1);
    assert_int_equal(site_find(&sites[0], SPAN("/boats")), -1);
    assert_null(site_of(SPAN("harbour.localhost"), "example"));
    assert_ptr_equal(site_of(SPAN("HARBOUR.localhost"), "localhost"), &sites[0]);
    assert_null(site_of(SPAN("harbour"), "example"));
}

static bool is_html(const struct answer *a)
{
    return a->reply.status == 200 &&
           span_search(buf_span(&a->head), SPAN("Content-Type: text/html"), false) < a->head.n &&
           span_search(buf_span(&a->head), SPAN("Content-Encoding"), false) == a->head.n;
}

static bool is_utf8_kind(const struct special *sp)
{
    return !sp || (sp->kind != SP_LATIN1 && sp->kind != SP_CP1251);
}

static void check_text(const struct site *site, unsigned at, const char *label)
{
    struct answer got;
    struct arena arena;
    struct facts f;
    const struct special *sp = special_of(site, at);
    arena_init(&arena);
    ask(site, at, &got);
    if (is_html(&got) && is_utf8_kind(sp) && !site->is_closed) {
        const struct facts_opts opts = {.keep_text = true};
        facts_collect(&arena, buf_span(&got.body), &opts, &f);
        CHECK(label, utf8_is_valid(buf_span(&got.body)));
        CHECK(label, f.title.n > 0 && f.title.n < 200);
        CHECK(label, (sp && sp->kind == SP_SCRIPT) || f.text.n >= 200);
        CHECK(label, (sp && sp->kind == SP_SCRIPT) || f.heading_count > 0);
        /* Nothing of the templates is left, but what code examples have. */
        for (size_t i = 0; strcmp(site->host, "skein.example") != 0 && i < f.text.n; i++)
            if (strchr("{}[]|`#~", f.text.p[i]))
                fail_msg("%s: '%c' in: %.*s", label, f.text.p[i], (int)(f.text.n - i < 40 ? f.text.n - i : 40),
                         f.text.p + i);
        CHECK(label, sp || f.lang.n == 2);
    }
    answer_done(&got);
    arena_done(&arena);
}

static void writes_whole_texts(void **state)
{
    each_page(check_text);
}

static void check_link(const char *label, const struct site *site, struct span href)
{
    const struct site *to = site;
    if (span_starts(href, SPAN("http://"))) {
        struct span host = span_cut(href, 7, span_find(href, ':', 7) - 7);
        to = site_of(host, SITE_DOMAIN);
        href = span_from(href, span_find(href, '/', 7));
    }
    if (!to || site_find(to, href) < 0)
        fail_msg("%s: links to %.*s, which is not there", label, SPAN_ARG(href));
}

static void check_links(const struct site *site, unsigned at, const char *label)
{
    struct answer got;
    struct arena arena;
    struct facts f;
    if (special_of(site, at))
        return;
    arena_init(&arena);
    ask(site, at, &got);
    const struct facts_opts opts = {.keep_anchors = true};
    facts_collect(&arena, buf_span(&got.body), &opts, &f);
    CHECK(label, f.link_count > 1);
    for (size_t i = 0; i < f.link_count; i++) {
        CHECK(label, f.links[i].kind != LINK_A || f.links[i].text.n > 0);
        check_link(label, site, f.links[i].href);
    }
    answer_done(&got);
    arena_done(&arena);
}

static void links_lead_to_pages(void **state)
{
    each_page(check_links);
}

static void titles_differ_within_a_site(void **state)
{
    for (unsigned i = 0; i < site_count; i++) {
        unsigned n = site_pages(&sites[i]);
        struct span *titles = calloc(n, sizeof(*titles));
        struct answer *got = calloc(n, sizeof(*got));
        for (unsigned at = 0; at < n; at++) {
            ask(&sites[i], at, &got[at]);
            struct span body = buf_span(&got[at].body), mark = SPAN("<title>");
            body = span_from(body, span_search(body, mark, false) + mark.n);
            titles[at] = span_cut(body, 0, span_search(body, SPAN("</title>"), false));
            for (unsigned k = 0; k < at; k++)
                if (span_eq(titles[k], titles[at]))
                    fail_msg("%s: two pages called %.*s", sites[i].host, SPAN_ARG(titles[at]));
        }
        for (unsigned at = 0; at < n; at++)
            answer_done(&got[at]);
        free(titles);
        free(got);
    }
}

static void check_copy(const struct site *site, unsigned at, const char *label)
{
    const struct special *sp = special_of(site, at);
    if (!sp || sp->kind != SP_COPY)
        return;
    struct span to = span_str(sp->text);
    const struct site *from = site;
    if (span_starts(to, SPAN("//"))) {
        size_t slash = span_find(to, '/', 2);
        from = site_of(span_cut(to, 2, slash - 2), SITE_DOMAIN);
        to = span_from(to, slash);
    }
    CHECK(label, from != NULL);
    int of = site_find(from, to);
    CHECK(label, of >= 0 && (unsigned)of < site_pages(from));
    struct answer copy, original;
    ask(site, at, &copy);
    ask(from, (unsigned)of, &original);
    bool is_same = span_eq(buf_span(&copy.body), buf_span(&original.body));
    bool has_canonical = span_search(buf_span(&copy.body), SPAN("rel=\"canonical\""), false) < copy.body.n;
    CHECK(label, is_same == (sp->number == COPY_EXACT));
    CHECK(label, has_canonical == ((sp->number & COPY_CANONICAL) != 0));
    answer_done(&copy);
    answer_done(&original);
}

static void copies_are_what_they_say(void **state)
{
    each_page(check_copy);
}

static void check_seed(const struct site *site, unsigned at, const char *label)
{
    struct answer one, again, other, later;
    if (special_of(site, at))
        return;
    ask(site, at, &one);
    ask(site, at, &again);
    ask_seed(site, at, SEED + 1, 0, &other);
    ask_seed(site, at, SEED, 1, &later);
    CHECK(label, span_eq(buf_span(&one.body), buf_span(&again.body)));
    CHECK(label, !span_eq(buf_span(&one.body), buf_span(&other.body)));
    CHECK(label, !span_eq(buf_span(&one.body), buf_span(&later.body)));
    CHECK(label, one.reply.date == again.reply.date && later.reply.date > one.reply.date);
    answer_done(&one);
    answer_done(&again);
    answer_done(&other);
    answer_done(&later);
}

static void is_a_function_of_seed_and_version(void **state)
{
    each_page(check_seed);
}

static void is_as_large_as_promised(void **state)
{
    unsigned pages = 0, calm = 0, languages = 0;
    const char *seen[64];
    for (unsigned i = 0; i < site_count; i++) {
        calm += sites[i].pace == PACE_CALM;
        for (unsigned at = 0; at < site_pages(&sites[i]) + sites[i].special_count; at++) {
            const struct special *sp = special_of(&sites[i], at);
            pages += !sp || sp->expect == EXPECT_PAGE;
        }
        for (int k = 0; k < SITE_THEMES_MAX && sites[i].themes[k]; k++) {
            unsigned n = 0;
            while (n < languages && strcmp(seen[n], sites[i].themes[k]->lang) != 0)
                n++;
            if (n == languages)
                seen[languages++] = sites[i].themes[k]->lang;
        }
    }
    assert_int_equal(site_count, 20);
    assert_int_equal(calm, 15);
    assert_in_range(pages, 950, 1100);
    assert_in_range(languages, 10, 64);
}

static void keeps_scripts_as_text(void **state)
{
    const struct site *site = site_of(SPAN("skein.example"), SITE_DOMAIN);
    int at = site_find(site, SPAN("/notes/escaping.html"));
    struct answer got;
    ask(site, (unsigned)at, &got);
    CHECK("no script", span_search(buf_span(&got.body), SPAN("<script"), true) == got.body.n);
    CHECK("in the title",
          span_search(buf_span(&got.body), SPAN("<title>Showing &lt;script&gt;alert(1)&lt;/script&gt; as text"),
                      false) < got.body.n);
    answer_done(&got);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fills_in_templates),
        cmocka_unit_test(draws_by_the_seed),
        cmocka_unit_test(writes_dates_as_people_do),
        cmocka_unit_test(finds_every_page_by_its_path),
        cmocka_unit_test(writes_whole_texts),
        cmocka_unit_test(links_lead_to_pages),
        cmocka_unit_test(titles_differ_within_a_site),
        cmocka_unit_test(copies_are_what_they_say),
        cmocka_unit_test(is_a_function_of_seed_and_version),
        cmocka_unit_test(is_as_large_as_promised),
        cmocka_unit_test(keeps_scripts_as_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
