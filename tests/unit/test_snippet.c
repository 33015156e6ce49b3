#include "test.h"

#include "base/buf.h"
#include "base/rng.h"
#include "base/utf8.h"
#include "index/search/snippet.h"

static struct analyzer *an;

#define TERMS_MAX 8

/* "run index" as terms, the first weighing most. */
static size_t terms_of(const char *words, struct snippet_term out[TERMS_MAX])
{
    struct span rest = span_str(words), part;
    size_t n = 0;
    while (n < TERMS_MAX && span_split(&rest, ' ', &part))
        if (part.n) {
            out[n] = (struct snippet_term){part, 4.0 - 0.1 * (double)n, (uint16_t)n, (unsigned char)*part.p >= 0xe0};
            n++;
        }
    return n;
}

/* The text with its marks in brackets. */
static void put_marked(struct buf *b, const struct marked *m)
{
    size_t at = 0;
    for (size_t i = 0; i < m->mark_count; i++) {
        buf_put(b, span_cut(m->text, at, m->marks[i].at - at));
        buf_printf(b, "[%.*s]", SPAN_ARG(span_cut(m->text, m->marks[i].at, m->marks[i].bytes)));
        at = m->marks[i].at + m->marks[i].bytes;
    }
    buf_put(b, span_from(m->text, at));
}

static void check_snippet(const char *label, struct span text, const char *description, const char *terms, size_t bytes,
                          const char *want)
{
    struct arena a;
    struct buf got = {0};
    struct snippet_term t[TERMS_MAX];
    struct marked m;
    arena_init(&a);
    size_t n = terms_of(terms, t);
    snippet_make(&a, an, text, span_str(description), lang_code_of(SPAN("en")), t, n, bytes, &m);
    put_marked(&got, &m);
    CHECK_SPAN(label, buf_span(&got), span_str(want));
    buf_done(&got);
    arena_done(&a);
}

static void check_title(const char *label, const char *text, const char *terms, size_t bytes, const char *want)
{
    struct arena a;
    struct buf got = {0};
    struct snippet_term t[TERMS_MAX];
    struct marked m;
    arena_init(&a);
    size_t n = terms_of(terms, t);
    snippet_mark(&a, an, span_str(text), lang_code_of(SPAN("en")), t, n, bytes, &m);
    put_marked(&got, &m);
    CHECK_SPAN(label, buf_span(&got), span_str(want));
    buf_done(&got);
    arena_done(&a);
}

static void short_texts_are_shown_whole(void **state)
{
    check_snippet("all", SPAN("The planner reads the index."), "", "index", 240, "The planner reads the [index].");
    check_snippet("lines", SPAN("One line\nand  another\tindex\n"), "", "index", 240, "One line and another [index]");
    check_snippet("empty", SPAN(""), "", "index", 240, "");
    check_snippet("no terms", SPAN("Some text."), "", "", 240, "Some text.");
}

static void marks_stems_and_identifiers(void **state)
{
    check_snippet("stems", SPAN("Runs, running; the runner ran."), "", "run", 240,
                  "[Runs], [running]; the runner ran.");
    check_snippet("accents", SPAN("Un café, deux Cafés"), "", "cafe", 240, "Un [café], deux [Cafés]");
    check_snippet("whole", SPAN("see pg_stat_activity there"), "", "pg_stat_activity", 240,
                  "see [pg_stat_activity] there");
    check_snippet("part", SPAN("see pg_stat_activity there"), "", "stat", 240, "see pg_[stat]_activity there");
    check_snippet("whole and part", SPAN("see pg_stat_activity there"), "", "stat pg_stat_activity", 240,
                  "see [pg_stat_activity] there");
    check_snippet("pairs", SPAN("これは日本語の文です"), "", "日本 本語", 240, "これは[日本語]の文です");
    check_snippet("pairs alone", SPAN("日本の本語と日本語と本日"), "", "日本 本語", 240, "日本の本語と[日本語]と本日");
    check_snippet("only pairs alone", SPAN("日本の本語"), "", "日本 本語", 240, "[日本]の[本語]");
}

#define FILLER "Nothing of note is said in this sentence, which is only here to take room. "

static void window_begins_with_a_sentence(void **state)
{
    check_snippet(
        "middle",
        SPAN(FILLER FILLER "Here the planner reads an index. And then it goes on for a while. " FILLER FILLER), "",
        "index planner", 90, "Here the [planner] reads an [index]. And then it goes on for a while.");
    check_snippet("middle of a long sentence",
                  SPAN("One and two and three and four and five and six and seven and eight and index and nine and ten "
                       "and eleven and twelve and thirteen and fourteen"),
                  "", "index", 60, "\u2026and eight and [index] and nine and ten and eleven and twelve\u2026");
}

static void prefers_more_of_the_query(void **state)
{
    check_snippet("both words near",
                  SPAN("The index is mentioned here alone, in a first sentence of some length. " FILLER FILLER
                       "Only here does the index meet the planner, in a last sentence. " FILLER),
                  "", "index planner", 100, "Only here does the [index] meet the [planner], in a last sentence.");
    check_snippet("two windows",
                  SPAN("The index is mentioned here. " FILLER FILLER FILLER FILLER
                       "And here it is the planner's turn to be mentioned. " FILLER),
                  "", "index planner", 120,
                  "The [index] is mentioned here. Nothing of note is said in this \u2026 And here it is the "
                  "[planner]'s turn to be mentioned.");
    check_snippet("phrase",
                  SPAN("The text is long and it is never full of words, as such sentences go. " FILLER FILLER
                       "A full text search is another thing, as everybody knows today. " FILLER),
                  "", "full text", 90, "A [full] [text] search is another thing, as everybody knows today.");
}

static void prefers_prose_to_menus(void **state)
{
    check_snippet("menu",
                  SPAN("Home\nIndex\nPlanner\nContact\nImprint\n" FILLER
                       "The planner of a database looks at each index that there is. " FILLER),
                  "", "index planner", 90, "The [planner] of a database looks at each [index] that there is.");
    struct buf text = {0};
    buf_puts(&text, "Home\nIndex\nSearch\nAbout\n");
    while (text.n < 40000)
        buf_puts(&text, FILLER);
    buf_puts(&text, "\nAfter a long while there is an index, which many a reader had been looking for in vain.\n");
    check_snippet("far below a menu", buf_span(&text), "", "index", 100,
                  "After a long while there is an [index], which many a reader had been looking for in vain.");
    buf_done(&text);
}

static void without_a_match(void **state)
{
    check_snippet("description", SPAN(FILLER), "What the page says of itself.", "index", 240,
                  "What the page says of itself.");
    check_snippet("match in the description alone", SPAN(FILLER), "All about the index.", "index", 240,
                  "All about the [index].");
    check_snippet("beginning", SPAN("Home\nAbout\n" FILLER), "", "index", 60,
                  "Nothing of note is said in this sentence, which is only here\u2026");
}

static void titles_are_cut_at_a_word(void **state)
{
    check_title("whole", "The  Index", "index", 100, "The [Index]");
    check_title("cut", "A long title about the index of things", "index", 20, "A long title about\u2026");
    check_title("empty", "", "index", 20, "");
    check_title("one long word", "abcdefghijklmnopqrstuvwxyz", "index", 10, "abcdefghij\u2026");
}

static void broken_text_comes_out_whole(void **state)
{
    check_snippet("bytes", SPAN("an \xff\xfeindex\x80 \xe2\x82"), "", "index", 240, "an [index]");
    check_snippet("controls", SPAN("an \x1b[31mindex\x07"), "", "31mindex", 240, "an [[31mindex]");
}

static void far_matches_are_found(void **state)
{
    struct buf text = {0};
    while (text.n < 50000)
        buf_puts(&text, FILLER);
    buf_puts(&text, "The index comes late. ");
    while (text.n < 100000)
        buf_puts(&text, FILLER);
    check_snippet("at 50,000", buf_span(&text), "", "index", 60,
                  "The [index] comes late. Nothing of note is said in this\u2026");
    while (text.n < 300000)
        buf_puts(&text, FILLER);
    buf_puts(&text, "The planner comes later. ");
    check_snippet("at 300,000", buf_span(&text), "", "planner", 60,
                  "\u2026which is only here to take room. The [planner] comes later.");
    /* What is in the window besides the first one is marked too. */
    buf_clear(&text);
    while (text.n < 50000)
        buf_puts(&text, FILLER);
    buf_puts(&text, "An index is an index. ");
    while (text.n < 55000)
        buf_puts(&text, FILLER);
    check_snippet("twice at 50,000", buf_span(&text), "", "index", 60,
                  "An [index] is an [index]. Nothing of note is said in this\u2026");
    buf_done(&text);
}

/* On any text the result is UTF-8 of about the length asked for, marks are in order, inside, and on what they claim. */
static void holds_on_random_texts(void **state)
{
    static const char *const bits[] = {"index ",  "planner ", "the ",  ". ",   "\n",    "日本語", "é",  "\xff",
                                       "x_index", "! ",       "Über ", "\xe2", "word ", "index",  "。", "a"};
    struct rng r;
    struct arena a;
    struct buf text = {0};
    struct snippet_term t[TERMS_MAX];
    size_t n = terms_of("index planner 日本 uber", t);
    rng_seed(&r, 3);
    arena_init(&a);
    for (int turn = 0; turn < 4000; turn++) {
        struct marked m;
        size_t bytes = 20 + rng_below(&r, 300);
        buf_clear(&text);
        for (uint64_t k = rng_below(&r, 200); k > 0; k--)
            buf_puts(&text, bits[rng_below(&r, sizeof(bits) / sizeof(*bits))]);
        for (int kind = 0; kind < 2; kind++) {
            if (kind)
                snippet_mark(&a, an, buf_span(&text), 0, t, n, bytes, &m);
            else
                snippet_make(&a, an, buf_span(&text), SPAN(""), 0, t, n, bytes, &m);
            CHECK("length", m.text.n <= bytes * 3 / 2 + 12);
            CHECK("UTF-8", utf8_is_valid(m.text));
            size_t end = 0;
            for (size_t i = 0; i < m.mark_count; i++) {
                CHECK("order", m.marks[i].bytes > 0 && (i == 0 || m.marks[i].at > end));
                end = m.marks[i].at + m.marks[i].bytes;
                CHECK("inside", end <= m.text.n);
                CHECK("whole characters", utf8_is_valid(span_cut(m.text, m.marks[i].at, m.marks[i].bytes)));
            }
        }
        arena_reset(&a);
    }
    buf_done(&text);
    arena_done(&a);
}

/* Passing over words by their first letters must lose none: marks against those of a full analysis. */
static void marks_what_a_full_analysis_marks(void **state)
{
    static const char *const words[] = {"running",        "Runs",      "RUN",         "dying",   "die",
                                        "getElementById", "get_id",    "HTTPServer2", "c++",     "C",
                                        "Caf\u00e9",      "cafe",      "l'index",     "index's", "Indexes",
                                        "e-mail",         "(index)",   "x86",         "3rd",     "\u65e5\u672c\u8a9e",
                                        "\"the",          "skies",     "sky",         "a",       "by.index",
                                        "pg_index",       "\u00fcber", "ueber"};
    static const char *const queries[] = {
        "run die",    "index",           "c++ c", "cafe get", "http id server", "getelementbyid", "\u65e5\u672c e mail",
        "uber a 3rd", "sky x86 pg_index"};
    static const char *const langs[] = {"", "en", "de", "fr", "ru", "id"};
    struct rng r;
    struct arena a;
    struct buf text = {0}, got = {0}, want = {0};
    rng_seed(&r, 11);
    arena_init(&a);
    for (int turn = 0; turn < 3000; turn++) {
        struct snippet_term t[TERMS_MAX];
        struct marked m;
        size_t n = terms_of(queries[rng_below(&r, sizeof(queries) / sizeof(*queries))], t), tokens;
        lang_code lang = lang_code_of(span_str(langs[rng_below(&r, sizeof(langs) / sizeof(*langs))]));
        buf_clear(&text);
        for (uint64_t k = 1 + rng_below(&r, 20); k > 0; k--)
            buf_printf(&text, "%s%s", text.n ? " " : "", words[rng_below(&r, sizeof(words) / sizeof(*words))]);
        char marked[4096] = {0};
        analyze_begin(an);
        analyze_text(an, buf_span(&text), lang, 0);
        const struct token *k = analyze_tokens(an, &tokens);
        for (size_t i = 0; i < tokens; i++)
            for (size_t q = 0; q < n; q++)
                if (span_eq(t[q].text, k[i].term->text))
                    memset(marked + k[i].at, 1, k[i].bytes);
        buf_clear(&want);
        for (size_t i = 0; i < text.n; i++) {
            buf_puts(&want, marked[i] && (i == 0 || !marked[i - 1]) ? "[" : "");
            buf_putc(&want, text.p[i]);
            buf_puts(&want, marked[i] && !marked[i + 1] ? "]" : "");
        }
        snippet_mark(&a, an, buf_span(&text), lang, t, n, 4000, &m);
        buf_clear(&got);
        put_marked(&got, &m);
        CHECK_SPAN("marks", buf_span(&got), buf_span(&want));
        arena_reset(&a);
    }
    buf_done(&text);
    buf_done(&got);
    buf_done(&want);
    arena_done(&a);
}

static int set_up(void **state)
{
    an = analyzer_new(1);
    return 0;
}

static int tear_down(void **state)
{
    analyzer_free(an);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_texts_are_shown_whole),   cmocka_unit_test(marks_stems_and_identifiers),
        cmocka_unit_test(window_begins_with_a_sentence), cmocka_unit_test(prefers_more_of_the_query),
        cmocka_unit_test(prefers_prose_to_menus),        cmocka_unit_test(without_a_match),
        cmocka_unit_test(titles_are_cut_at_a_word),      cmocka_unit_test(broken_text_comes_out_whole),
        cmocka_unit_test(far_matches_are_found),         cmocka_unit_test(marks_what_a_full_analysis_marks),
        cmocka_unit_test(holds_on_random_texts),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
