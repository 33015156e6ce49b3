#include "test.h"

#include "base/buf.h"
#include "base/rng.h"
#include "index/search/query.h"
#include "index/search/query_value.h"
#include "index/search/search.h"

static struct analyzer *an;

static void put_word(struct buf *b, const struct query_word *w)
{
    for (unsigned i = 0; i < w->term_count; i++) {
        buf_puts(b, i ? "/" : "");
        struct span t = w->terms[i];
        if (t.n && t.p[0] == '\1') {
            buf_printf(b, "%c=", t.p[1]);
            t = span_from(t, 2);
        }
        buf_put(b, t);
    }
    buf_puts(b, w->is_prefix ? "*" : "");
}

static void put_atom(struct buf *b, const struct query_atom *at)
{
    static const char *const fields[] = {"", "title:", "url:"};
    buf_puts(b, fields[at->field]);
    if (at->whole) {
        buf_putc(b, '<');
        put_word(b, at->whole);
        buf_putc(b, '>');
    }
    for (unsigned i = 0; i < at->word_count; i++) {
        buf_puts(b, i ? "_" : "");
        put_word(b, &at->words[i]);
    }
}

/* [run/running] [full_text|title:x] -draft: a clause in brackets, '_' between the words of a phrase, '/' between terms
 * of one place, the whole of an identifier in angles, '*' after a beginning. */
static void put_query(struct buf *b, const struct query *q)
{
    for (unsigned i = 0; i < q->clause_count; i++) {
        buf_puts(b, i ? " [" : "[");
        for (unsigned k = 0; k < q->clauses[i].atom_count; k++) {
            buf_puts(b, k ? "|" : "");
            put_atom(b, &q->clauses[i].atoms[k]);
        }
        buf_putc(b, ']');
    }
    for (unsigned i = 0; i < q->excluded.atom_count; i++) {
        buf_puts(b, " -");
        put_atom(b, &q->excluded.atoms[i]);
    }
    if (q->after_s != INT64_MIN)
        buf_printf(b, " >%lld", (long long)q->after_s);
    if (q->before_s != INT64_MAX)
        buf_printf(b, " <%lld", (long long)q->before_s);
}

static void check_with(const char *languages, const char *text, status want, const char *shown, const char *note)
{
    struct arena a;
    struct buf got = {0};
    struct query q = {0};
    lang_code langs[8];
    unsigned n = 0;
    struct span rest = span_str(languages), part;
    while (n < 8 && span_split(&rest, ' ', &part))
        langs[n++] = lang_code_of(part);
    struct query_opts o = {.languages = langs, .language_count = n, .terms_max = SEARCH_TERMS_MAX};
    arena_init(&a);
    CHECK_STATUS(text, query_parse(&a, an, span_str(text), &o, &q), want);
    put_query(&got, &q);
    CHECK_SPAN(text, buf_span(&got), span_str(shown));
    if (*note == '\0')
        CHECK_SPAN(text, q.note, SPAN(""));
    else if (span_search(q.note, span_str(note), false) == q.note.n)
        fail_msg("%s: noted \"%.*s\", want \"%s\"", text, SPAN_ARG(q.note), note);
    buf_done(&got);
    arena_done(&a);
}

struct query_case {
    const char *text, *shown, *note;
};

static void check_cases(const char *languages, const struct query_case *c, size_t n)
{
    for (size_t i = 0; i < n; i++)
        check_with(languages, c[i].text, *c[i].shown && *c[i].shown != ' ' ? ST_OK : ST_INVALID, c[i].shown, c[i].note);
}

#define CHECK_CASES(languages, cases) check_cases(languages, cases, sizeof(cases) / sizeof(*(cases)))

static void words_must_all_match(void **state)
{
    static const struct query_case cases[] = {
        {"full text search", "[full] [text] [search]", ""},
        {"  full\t text\n", "[full] [text]", ""},
        {"full\u00a0text\u3000search", "[full] [text] [search]", ""},
        {"Café ÜBER", "[cafe] [uber]", ""},
        {"the the THE", "[the]", ""},
        {"a AND b", "[a] [b]", ""},
        {"+must have", "[must] [have]", ""},
        {"--json --no-color", "[json] [no_color]", ""},
        {"C++ & c", "[<c++>c] [c]", ""},
        {"x.", "[x]", ""},
        {"\xff\xfe"
         "a \x80",
         "[a]", ""},
    };
    CHECK_CASES("", cases);
}

static void phrases_keep_their_order(void **state)
{
    static const struct query_case cases[] = {
        {"\"full text\" search", "[full_text] [search]", ""},
        {"“full text”", "[full_text]", ""},
        {"„full text“ «two words»", "[full_text] [two_words]", ""},
        {"\"full text", "[full_text]", "not closed"},
        {"full \"text", "[full] [text]", "not closed"},
        {"\"\" x", "[x]", ""},
        {"5\" disk", "[5] [disk]", ""},
        {"say\"full text\"now", "[say] [full_text] [now]", ""},
        {"\"a OR -b\"", "[a_or_b]", ""},
        {"state-of-the-art docs.python.org a/b", "[state_of_the_art] [docs_python_org] [a_b]", ""},
        {"std::vector foo:bar", "[std_vector] [foo_bar]", ""},
        {"foo:\"a b\"", "[foo] [a_b]", ""},
    };
    CHECK_CASES("", cases);
}

static void or_binds_tighter_than_the_blank(void **state)
{
    static const struct query_case cases[] = {
        {"a b OR c", "[a] [b|c]", ""},
        {"a OR b OR c d", "[a|b|c] [d]", ""},
        {"a|b || c", "[a|b|c]", ""},
        {"a OR a", "[a]", ""},
        {"a or b", "[a] [or] [b]", ""},
        {"\"a b\" OR title:c", "[a_b|title:c]", ""},
        {"OR a OR", "[a]", ""},
        {"a OR OR b", "[a|b]", ""},
        {"(a OR b) c", "[a|b] [c]", ""},
        {"(a b) OR c", "[a] [b|c]", "parentheses"},
        {"printf() OR puts()", "[printf|puts]", ""},
        {"OR", "[or]", ""},
        {"NOT", "[not]", ""},
        {"|", "", "no word"},
    };
    CHECK_CASES("", cases);
}

static void minus_leaves_out(void **state)
{
    static const struct query_case cases[] = {
        {"a -b", "[a] -b", ""},
        {"a NOT b c", "[a] [c] -b", ""},
        {"a -\"b c\" -title:d", "[a] -b_c -title:d", ""},
        {"a \u2212b", "[a] -b", ""},
        {"a - b", "[a] [b]", ""},
        {"a b-c", "[a] [b_c]", ""},
        {"-a", " -a", "only something to leave out"},
        {"a OR -b", "[a] -b", "one side of OR"},
        {"-a OR b", "[b] -a", "one side of OR"},
        {"a -b -b", "[a] -b", ""},
        {"a -(b c)", "[a] [c] -b", "parentheses"},
        {"a -site:x.org -lang:de", "[a] -s=x.org -l=de", ""},
    };
    CHECK_CASES("", cases);
}

static void fields_narrow(void **state)
{
    static const struct query_case cases[] = {
        {"title:index intitle:search", "[title:index] [title:search]", ""},
        {"TITLE:\"Two Words\" url:faq inurl:x-y", "[title:two_words] [url:faq] [url:x_y]", ""},
        {"title: index", "[title] [index]", ""},
        {"a site:Python.ORG", "[a] [s=python.org]", ""},
        {"site:https://docs.python.org/", "[s=docs.python.org]", ""},
        {"site:*.python.org. site:.gov", "[s=python.org|s=gov]", ""},
        {"site: python.org", "[s=python.org]", ""},
        {"site: a", "[site] [a]", ""},
        {"site:münchen.de", "[s=xn--mnchen-3ya.de]", ""},
        {"site:localhost:8080 site:a:80", "[s=localhost:8080|s=a]", ""},
        {"site:python.org/3/library", "[s=python.org] [url:3_library]", "words of the URL"},
        {"site:a.org/os.path.html", "[s=a.org] [url:os_path]", "words of the URL"},
        {"x site:a.org/b OR y", "[x] [s=a.org|y]", "only the host"},
        {"x -site:a.org/b", "[x]", "cannot be left out"},
        {"site:a OR site:b c", "[s=a|s=b] [c]", ""},
        {"site:a x site:b,c", "[s=a|s=b|s=c] [x]", ""},
        {"x site:%%%", "[x]", "no host name"},
        {"x site:", "[x] [site]", ""},
        {"https://docs.python.org/3/", "[s=docs.python.org] [url:3]", "words of the URL"},
        {"\"https://a.org\"", "[https_a_org]", ""},
    };
    CHECK_CASES("", cases);
}

static void fields_of_programs(void **state)
{
    static const struct query_case cases[] = {
        {"field:price", "[f=price]", ""},
        {"Field:PRICE x", "[f=price] [x]", ""},
        {"field:price=9.99", "[f=price=9.99]", ""},
        {"field:price= x", "[f=price=] [x]", ""},
        {"field:author=\"Jane  D\u00d6E\" x", "[f=author=jane doe] [x]", ""},
        {"field:author=\u201cJane Doe\u201d", "[f=author=jane doe]", ""},
        {"field:\"author=Jane Doe\"", "[f=author=jane doe]", ""},
        {"field:author=\"Jane", "[f=author=jane]", "not closed"},
        {"field:author=\" \" x", "[f=author=] [x]", ""},
        {"field:url=https://a.org/?a=b", "[f=url=https://a.org/?a=b]", ""},
        {"field:a=x,y", "[f=a=x,y]", ""},
        {"field:a field:b", "[f=a] [f=b]", ""},
        {"field:a OR field:b=1 x", "[f=a|f=b=1] [x]", ""},
        {"x -field:a -field:b=\"1 2\"", "[x] -f=a -f=b=1 2", ""},
        {"x field:", "[x] [field]", ""},
        {"field: a", "[field] [a]", ""},
        {"field:10", "[field_10]", ""},
        {"field:_a=1", "[field_a_1]", ""},
        {"field:=x", "[field_x]", ""},
        {"-field:a", " -f=a", "only something to leave out"},
    };
    CHECK_CASES("", cases);
}

static void languages_by_code_or_name(void **state)
{
    static const struct query_case cases[] = {
        {"a lang:de", "[a] [l=de]", ""},
        {"a lang:pt-BR", "[a] [l=pt]", ""},
        {"a lang:English", "[a] [l=en]", ""},
        {"a language:français", "[a] [l=fr]", ""},
        {"a lang:日本語 lang:Русский", "[a] [l=ja|l=ru]", ""},
        {"a lang:en,de", "[a] [l=en|l=de]", ""},
        {"a lang: german", "[a] [l=de]", ""},
        {"a lang:klingon", "[a]", "no language"},
        {"a lang:xq", "[a]", "no language"},
        {"a lang:deu lang:cz", "[a] [l=de|l=cs]", ""},
        {"lang:de", "[l=de]", ""},
        {"a type:pdf", "[a] [t=pdf]", ""},
        {"a type:JPG,images type:md", "[a] [t=jpeg|t=image|t=markdown]", ""},
        {"a -filetype:zip", "[a] -t=zip", ""},
        {"a type: pdf", "[a] [t=pdf]", ""},
        {"a type:pdf,wurst", "[a] [t=pdf]", "no type"},
        {"type:pdf", "[t=pdf]", ""},
    };
    CHECK_CASES("", cases);
}

static void dates_bound_the_change(void **state)
{
    static const struct query_case cases[] = {
        {"a after:1970", "[a] >31535999", ""},
        {"a since:1970-01", "[a] >2678399", ""},
        {"a after:1970-01-01", "[a] >86399", ""},
        {"a before:1970-01-02", "[a] <86400", ""},
        {"a before:2000-03-01", "[a] <951868800", ""},
        {"a after:2000-02", "[a] >951868799", ""},
        {"a before:2024/5 before:2023.12.31", "[a] <1703980800", ""},
        {"a before: 1971", "[a] <31536000", ""},
        {"a before:2023-02-29", "[a]", "no date"},
        {"a before:2024-13", "[a]", "no date"},
        {"a before:yesterday", "[a]", "no date"},
        {"a before:2024-", "[a]", "no date"},
        {"a after:2024 before:2024", "[a] >1735689599 <1704067200", "no time is after"},
        {"a after:2023 before:2024", "[a] >1704067199 <1704067200", "no time is after"},
        {"a -before:2024", "[a]", "cannot be left out"},
        {"a OR before:1971", "[a] <31536000", "one side of OR"},
        {"after:1970", " >31535999", "a date alone"},
    };
    CHECK_CASES("", cases);
}

static void stems_for_the_languages_of_the_collection(void **state)
{
    check_with("en", "running", ST_OK, "[run/running]", "");
    check_with("en de fr", "running dogs", ST_OK, "[run/running] [dog/dogs]", "");
    check_with("en de", "running lang:ja", ST_OK, "[running] [l=ja]", "");
    check_with("de en", "running lang:en", ST_OK, "[run/running] [l=en]", "");
    check_with("en", "\"running dogs\"", ST_OK, "[run/running_dog/dogs]", "");
}

static void identifiers_whole_and_in_parts(void **state)
{
    static const struct query_case cases[] = {
        {"pg_stat_activity", "[<pg_stat_activity>pg_stat_activity]", ""},
        {"getElementById", "[<getelementbyid>get_element_by_id]", ""},
        {"\"pg_stat_activity\"", "[<pg_stat_activity>pg_stat_activity]", ""},
        {"\"see pg_stat\"", "[see_pg_stat]", ""},
        {"utf8 x86", "[utf8] [x86]", ""},
    };
    CHECK_CASES("", cases);
}

static void unspaced_scripts_by_pairs(void **state)
{
    static const struct query_case cases[] = {
        {"日本語", "[日本_本語]", ""},
        {"日本", "[日本]", ""},
        {"日", "[日*]", ""},
        {"日本 語", "[日本] [語*]", ""},
        {"\"日本 語学\"", "[日本_本_語学]", ""},
        {"\"abc 語\"", "[abc_語*]", ""},
    };
    CHECK_CASES("en", cases);
}

static void long_queries_are_cut(void **state)
{
    struct arena a;
    struct buf text = {0};
    struct query q;
    struct query_opts o = {.terms_max = SEARCH_TERMS_MAX};
    arena_init(&a);
    for (int i = 0; i < 100; i++)
        buf_printf(&text, "w%d ", i);
    CHECK_STATUS("100 words", query_parse(&a, an, buf_span(&text), &o, &q), ST_OK);
    CHECK("100 words", q.clause_count == 64 && q.term_count == 64);
    CHECK("100 words", span_search(q.note, SPAN("only the first 64 words"), false) < q.note.n);
    buf_clear(&text);
    buf_puts(&text, "x -y \"");
    for (int i = 0; i < 100; i++)
        buf_printf(&text, "w%d ", i);
    CHECK_STATUS("phrase", query_parse(&a, an, buf_span(&text), &o, &q), ST_OK);
    CHECK("phrase", q.clause_count == 2 && q.clauses[1].atoms[0].word_count == 62 && q.excluded.atom_count == 1);
    buf_clear(&text);
    for (int i = 0; i < 100; i++)
        buf_putc(&text, 'x');
    CHECK_STATUS("long word", query_parse(&a, an, buf_span(&text), &o, &q), ST_INVALID);
    CHECK("long word", span_search(q.note, SPAN("more than 64 bytes"), false) < q.note.n);
    while (text.n <= SEARCH_QUERY_MAX)
        buf_puts(&text, " x");
    CHECK_STATUS("too long", query_parse(&a, an, buf_span(&text), &o, &q), ST_LIMIT);
    buf_done(&text);
    arena_done(&a);
}

static void sources_point_into_the_text(void **state)
{
    struct arena a;
    struct query q;
    struct span text = SPAN("Running \"Two  Words\" -title:Draft site:A.org");
    lang_code en = lang_code_of(SPAN("en"));
    struct query_opts o = {.languages = &en, .language_count = 1};
    arena_init(&a);
    CHECK_STATUS("parse", query_parse(&a, an, text, &o, &q), ST_OK);
    CHECK_SPAN("word", q.clauses[0].atoms[0].words[0].source, SPAN("Running"));
    CHECK("word", q.clauses[0].atoms[0].words[0].source.p == text.p);
    CHECK_SPAN("phrase", q.clauses[1].atoms[0].source, SPAN("Two  Words"));
    CHECK_SPAN("in a phrase", q.clauses[1].atoms[0].words[1].source, SPAN("Words"));
    CHECK_SPAN("excluded", q.excluded.atoms[0].source, SPAN("Draft"));
    CHECK_SPAN("site", q.clauses[2].atoms[0].source, SPAN("site:A.org"));
    arena_done(&a);
}

/* Seconds of a day against a clock that counts the days one by one. */
static void dates_agree_with_counting(void **state)
{
    int64_t at = 0, start, end;
    char text[16];
    for (int year = 1970; year < 2110; year++)
        for (int month = 1; month <= 12; month++)
            for (int day = 1; day <= 31; day++) {
                snprintf(text, sizeof(text), "%04d-%02d-%02d", year, month, day);
                if (!query_date(span_str(text), &start, &end))
                    continue;
                if (start != at || end != at + 86400)
                    fail_msg("%s: %lld to %lld, want %lld", text, (long long)start, (long long)end, (long long)at);
                at = end;
            }
    CHECK("1970 to 2110", query_date(SPAN("2110"), &start, &end) && start == at);
    CHECK("51,134 days", at == INT64_C(51134) * 86400);
    CHECK("no year 0", !query_date(SPAN("0"), &start, &end) && !query_date(SPAN(""), &start, &end));
}

/* Whatever is typed, the limits hold and the parts are there. */
static void anything_parses(void **state)
{
    static const char *const bits[] = {"a",       "word",    " ",     "\"",   "-",       "OR ",    " OR ", "|",
                                       "site:",   "x.org/y", "lang:", "de",   "title:",  "(",      ")",    "before:",
                                       "2024-05", "日本語",  "“",     "a_b",  "\xff",    "\0",     "NOT ", "AND ",
                                       ":",       "+",       ",",     "getX", "http://", "field:", "=",    "n=\""};
    struct rng r;
    struct arena a;
    struct buf text = {0};
    rng_seed(&r, 7);
    arena_init(&a);
    for (int turn = 0; turn < 20000; turn++) {
        struct query q;
        struct query_opts o = {.terms_max = 5};
        buf_clear(&text);
        for (uint64_t n = rng_below(&r, 14); n > 0; n--) {
            const char *bit = bits[rng_below(&r, sizeof(bits) / sizeof(*bits))];
            buf_put(&text, span_of(bit, *bit ? strlen(bit) : 1));
        }
        status st = query_parse(&a, an, buf_span(&text), &o, &q);
        CHECK(buf_cstr(&text), st == ST_OK || st == ST_INVALID);
        CHECK(buf_cstr(&text), (st == ST_OK) == (q.clause_count > 0) && (st == ST_OK || q.note.n));
        CHECK(buf_cstr(&text), q.term_count <= 5 && q.clause_count <= 5);
        for (unsigned i = 0; i < q.clause_count; i++)
            CHECK(buf_cstr(&text), q.clauses[i].atom_count > 0 && q.clauses[i].atoms[0].word_count > 0);
        arena_reset(&a);
    }
    buf_done(&text);
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
        cmocka_unit_test(words_must_all_match),
        cmocka_unit_test(phrases_keep_their_order),
        cmocka_unit_test(or_binds_tighter_than_the_blank),
        cmocka_unit_test(minus_leaves_out),
        cmocka_unit_test(fields_narrow),
        cmocka_unit_test(fields_of_programs),
        cmocka_unit_test(languages_by_code_or_name),
        cmocka_unit_test(dates_bound_the_change),
        cmocka_unit_test(stems_for_the_languages_of_the_collection),
        cmocka_unit_test(identifiers_whole_and_in_parts),
        cmocka_unit_test(unspaced_scripts_by_pairs),
        cmocka_unit_test(long_queries_are_cut),
        cmocka_unit_test(sources_point_into_the_text),
        cmocka_unit_test(dates_agree_with_counting),
        cmocka_unit_test(anything_parses),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
