/* test_search_finds.c - what a query finds in a few pages by hand, what hits show of them, and what is no query. */
#include "search_world.h"

static const struct test_page hand[] = {
    {.key = 1,
     .url = SPAN_INIT("https://www.python.org/doc/tutorial.html"),
     .site = SPAN_INIT("www.python.org"),
     .lang = SPAN_INIT("en"),
     .title = SPAN_INIT("The tutorial"),
     .text = SPAN_INIT("Snakes are running. The quick brown fox jumps over the lazy dog."),
     .changed = 1577836800000 /* 2020-01-01 */},
    {.key = 2,
     .url = SPAN_INIT("https://docs.python.org/3/reference/"),
     .site = SPAN_INIT("docs.python.org"),
     .lang = SPAN_INIT("en"),
     .text = SPAN_INIT("See pg_stat_activity for a quick fox. He ran and runs brown things."),
     .changed = 1609459200000 /* 2021-01-01 */},
    {.key = 3,
     .url = SPAN_INIT("http://localhost.example:8080/a%20b?x=1"),
     .site = SPAN_INIT("localhost.example:8080"),
     .lang = SPAN_INIT("de"),
     .title = SPAN_INIT("Häuser am See"),
     .text = SPAN_INIT("Die Häuser stehen am See. pg stat activity. fox brown quick."),
     .changed = 1640995200000 /* 2022-01-01 */},
    {.key = 4,
     .url = SPAN_INIT("https://jp.example/"),
     .site = SPAN_INIT("jp.example"),
     .lang = SPAN_INIT("ja"),
     .title = SPAN_INIT("東京都"),
     .text = SPAN_INIT("東京都の電車。大阪も。"),
     .changed = 1672531200000 /* 2023-01-01 */,
     .flags = PAGE_NOSNIPPET},
    {.key = 5,
     .url = SPAN_INIT("https://www.python.org/brown"),
     .site = SPAN_INIT("www.python.org"),
     .title = SPAN_INIT("quick brown"),
     .anchors = SPAN_INIT("the lazy\ndog house"),
     .text = SPAN_INIT("nothing here"),
     .changed = 1704067200000 /* 2024-01-01 */,
     .fields = {{SPAN_INIT("author"), SPAN_INIT("J\u00f6rg  O'NEILL")},
                {SPAN_INIT("price"), SPAN_INIT("12.50")},
                {SPAN_INIT("Bad Name"), SPAN_INIT("x")}},
     .field_count = 3},
    {.key = 6,
     .url = SPAN_INIT("https://bag.example/x"),
     .site = SPAN_INIT("bag.example"),
     .lang = SPAN_INIT("en"),
     .title = SPAN_INIT("Bag of words"),
     .description = SPAN_INIT("What the whale says of itself."),
     .text = SPAN_INIT("blue whale whale blue get_krill 名古屋 whale "),
     .is_keywords = true,
     .fields = {{SPAN_INIT("price"), SPAN_INIT("12.5")},
                {SPAN_INIT("price"), SPAN_INIT("-3")},
                {SPAN_INIT("empty"), SPAN_INIT("")}},
     .field_count = 3},
    {.key = 7,
     .url = SPAN_INIT("https://bag.example/y"),
     .site = SPAN_INIT("bag.example"),
     .lang = SPAN_INIT("en"),
     .title = SPAN_INIT("In order"),
     .text = SPAN_INIT("blue whale and other animals of the sea that eat krill all of the day")},
};

static struct index_snapshot *hand_index(void)
{
    char path[TEST_PATH];
    test_path(path, "hand");
    struct index *ix = test_index_open(path);
    for (size_t i = 0; i < sizeof(hand) / sizeof(*hand); i++) {
        struct test_page p = hand[i];
        p.fetch_number = i + 1;
        test_page_add(ix, &p);
        if (i % 2)
            CHECK_STATUS("commit", index_commit(ix, i), ST_OK);
    }
    CHECK_STATUS("commit", index_commit(ix, 9), ST_OK);
    index_close(ix);
    return test_snapshot(path);
}

static int compare_chars(const void *a, const void *b)
{
    return *(const char *)a - *(const char *)b;
}

static void finds_what_is_asked_for(void **state)
{
    static const struct {
        const char *query, *keys; /* of the pages found, ascending */
    } cases[] = {
        {"fox", "123"},
        {"quick fox", "123"},
        {"\"quick brown\"", "15"},
        {"\"brown fox\"", "1"},
        {"\"quick brown fox jumps\"", "1"},
        {"\"fox quick\"", ""},
        {"fox -snakes", "23"},
        {"fox -\"quick brown\"", "23"},
        {"fox -pg -snakes", ""},
        {"snakes OR see", "123"},
        {"brown snakes OR pg_stat_activity", "12"},
        {"running", "12"}, /* stems: runs; ran is another word */
        {"hauser", "3"},
        {"title:brown", "5"},
        {"title:quick title:brown", "5"},
        {"title:\"quick brown\"", "5"},
        {"title:\"brown quick\"", ""},
        {"brown -title:brown", "123"},
        {"url:brown", "5"},
        {"url:reference", "2"},
        {"site:python.org", "125"},
        {"site:docs.python.org", "2"},
        {"fox site:python.org", "12"},
        {"fox -site:python.org", "3"},
        {"site:localhost.example", "3"},
        {"lang:de", "3"},
        {"fox lang:en", "12"},
        {"fox after:2020", "23"},
        {"fox before:2021", "1"},
        {"fox after:2020 before:2022", "2"},
        {"pg_stat_activity", "2"}, /* the whole, since a page has it */
        {"stat activity", "23"},
        {"\"pg stat\"", "23"},
        {"pg_stat", "23"}, /* no page has that whole: its parts in a row */
        {"東京", "4"},
        {"東", "4"}, /* begins a pair */
        {"都", "4"},
        {"大", "4"},
        {"京東", ""},
        {"\"lazy dog\"", "1"}, /* two anchors are two texts */
        {"\"lazy dog\" OR \"dog house\"", "15"},
        {"nosuchword", ""},
        {"fox nosuchword", ""},
        {"fox OR nosuchword", "123"},
        {"\"fox nosuchword\" OR snakes", "1"},
        {"blue whale", "67"},
        {"\"blue whale\"", "7"}, /* words without their order are in no row */
        {"\"whale blue\"", ""},
        {"\"whale whale\"", ""},
        {"\"bag of words\"", "6"}, /* a title has an order */
        {"get_krill", "6"},        /* within a word there is one, too */
        {"名古屋", "6"},
        {"field:price", "56"},
        {"field:Price=12.50", "5"},
        {"field:price=12.5", "6"},
        {"field:price=-3", "6"},
        {"field:price=3", ""},
        {"field:author=\"jorg o'neill\"", "5"},
        {"field:\"author=JÖRG O'Neill\"", "5"},
        {"field:author=jorg", ""},
        {"field:author field:price", "5"},
        {"field:author OR field:empty", "56"},
        {"field:empty=", "6"},
        {"brown field:price", "5"},
        {"whale -field:price", "7"},
        {"field:bad", ""},
    };
    struct index_snapshot *s = hand_index();
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char got[16] = "";
        arena_reset(&a);
        struct search_result r = run(s, &(struct search_opts){.query = span_str(cases[i].query)}, &a);
        for (size_t k = 0; k < r.hit_count && k + 1 < sizeof(got); k++)
            got[k] = (char)('0' + r.hits[k].key);
        qsort(got, r.hit_count, 1, compare_chars);
        if (strcmp(got, cases[i].keys) != 0 || r.total != strlen(cases[i].keys) || r.is_estimate || r.is_partial)
            fail_msg("%s: found %s of %llu, want %s", cases[i].query, got, (unsigned long long)r.total, cases[i].keys);
    }
    index_snapshot_free(s);
    arena_done(&a);
}

static void hits_show_pages(void **state)
{
    struct index_snapshot *s = hand_index();
    struct arena a;
    arena_init(&a);
    struct search_opts o = {.with_snippets = true};
    o.query = SPAN("snakes");
    struct search_result r = run(s, &o, &a);
    CHECK_SPAN("title", r.hits[0].title.text, SPAN("The tutorial"));
    CHECK_SPAN("url", r.hits[0].url, hand[0].url);
    CHECK_SPAN("site", r.hits[0].site, hand[0].site);
    CHECK_SPAN("lang", span_str(r.hits[0].lang), SPAN("en"));
    CHECK("changed", r.hits[0].changed == hand[0].changed);
    CHECK("marks", r.hits[0].snippet.mark_count == 1);
    CHECK_SPAN("marked",
               span_cut(r.hits[0].snippet.text, r.hits[0].snippet.marks[0].at, r.hits[0].snippet.marks[0].bytes),
               SPAN("Snakes"));
    o.query = SPAN("pg_stat_activity");
    r = run(s, &o, &a);
    CHECK_SPAN("no title: the URL's last part", r.hits[0].title.text, SPAN("reference"));
    o.query = SPAN("大阪");
    r = run(s, &o, &a);
    CHECK_SPAN("title", r.hits[0].title.text, SPAN("東京都"));
    CHECK("the page wants no snippet", r.hits[0].snippet.text.n == 0);
    o.with_snippets = false;
    o.query = SPAN("snakes");
    r = run(s, &o, &a);
    CHECK("no snippet asked for", r.hits[0].snippet.text.n == 0 && r.hits[0].title.text.n > 0);
    index_snapshot_free(s);
    arena_done(&a);
}

/* A title is a link: there must be something to click on. */
static void titles_can_be_seen(void **state)
{
    static const struct {
        const char *title, *shown;
    } cases[] = {
        {"", "page.html"},
        {" \xc2\xa0\xe2\x80\x8b\xe3\x80\x80 ", "page.html"}, /* blanks of all kinds, one without width */
        {"\xe2\x80\xae\xef\xbb\xbf", "page.html"},           /* right to left, and a byte order mark */
        {"***", "***"},
        {"\xe2\x80\x8bx", "\xe2\x80\x8bx"},
    };
    struct arena a;
    char path[TEST_PATH];
    arena_init(&a);
    test_path(path, "titles");
    struct index *ix = test_index_open(path);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct test_page p = {.key = i + 1, .fetch_number = i + 1, .url = SPAN("https://a.example/page.html?x#y")};
        p.site = SPAN("a.example");
        p.title = span_str(cases[i].title);
        p.text = test_printf(&a, "page%zu", i);
        test_page_add(ix, &p);
    }
    CHECK_STATUS("commit", index_commit(ix, 1), ST_OK);
    index_close(ix);
    struct index_snapshot *s = test_snapshot(path);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct search_opts o = {.query = test_printf(&a, "page%zu", i), .with_snippets = true};
        struct search_result r = run(s, &o, &a);
        CHECK(cases[i].title, r.hit_count == 1);
        CHECK_SPAN(cases[i].title, r.hits[0].title.text, span_str(cases[i].shown));
    }
    index_snapshot_free(s);
    arena_done(&a);
}

static void hits_show_fields_and_what_is_known_by_words(void **state)
{
    struct index_snapshot *s = hand_index();
    struct arena a;
    arena_init(&a);
    struct search_opts o = {.with_snippets = true, .query = SPAN("krill field:price")};
    struct search_result r = run(s, &o, &a);
    CHECK("one", r.hit_count == 1 && r.hits[0].is_keywords);
    CHECK_SPAN("no text is made of words", r.hits[0].snippet.text, SPAN("What the whale says of itself."));
    CHECK("fields", r.hits[0].field_count == 3);
    CHECK_SPAN("name", r.hits[0].fields[1].name, SPAN("price"));
    CHECK_SPAN("value", r.hits[0].fields[1].value, SPAN("-3"));
    o.query = SPAN("quick fox");
    r = run(s, &o, &a);
    CHECK("none", r.hit_count == 3 && !r.hits[0].field_count && !r.hits[0].is_keywords && r.hits[0].snippet.text.n);
    index_snapshot_free(s);
    arena_done(&a);
}

/* The closer look is the same as none for a page whose words have no order. */
static void words_without_order_are_never_close(void **state)
{
    struct index_snapshot *s = hand_index();
    struct arena a;
    arena_init(&a);
    struct search_opts o = {.query = SPAN("whale blue")};
    struct search_result plain = run(s, &o, &a), closer = run_as_is(s, &o, &a);
    CHECK("both", plain.hit_count == 2 && closer.hit_count == 2);
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < 2; k++)
            if (plain.hits[i].key == closer.hits[k].key)
                CHECK("score", (plain.hits[i].score == closer.hits[k].score) == (plain.hits[i].key == 6));
    index_snapshot_free(s);
    arena_done(&a);
}

/* ---- many languages ---- */

/* A word of each that its stemmer changes, and that is searched for as the page has it. */
static const struct {
    const char *lang, *word;
} tongues[] = {
    {"en", "running"},        {"de", "verbindungen"},    {"fr", "continuellement"}, {"es", "ejecuciones"},
    {"it", "avvenuto"},       {"pt", "configurações"},   {"nl", "lichamelijk"},     {"sv", "klostergården"},
    {"da", "gendannelse"},    {"fi", "tiedostossa"},     {"ro", "declarațiile"},    {"hu", "értéket"},
    {"tr", "değişiklikleri"}, {"ru", "предшественника"}, {"el", "εφαρμογές"},       {"ar", "ساعات"},
    {"hi", "छात्रों"},          {"ja", "駅の案内"},
};

static struct index_snapshot *tongues_index(void)
{
    char path[TEST_PATH];
    test_path(path, "tongues");
    struct index *ix = test_index_open(path);
    for (size_t i = 0; i < sizeof(tongues) / sizeof(*tongues); i++) {
        struct test_page p = {
            .key = i + 1, .fetch_number = i + 1, .url = SPAN("https://a.example/"), .site = SPAN("a.example")};
        p.lang = span_str(tongues[i].lang);
        p.text = span_str(tongues[i].word);
        test_page_add(ix, &p);
    }
    CHECK_STATUS("commit", index_commit(ix, 1), ST_OK);
    index_close(ix);
    return test_snapshot(path);
}

static void finds_words_of_every_language(void **state)
{
    struct arena a;
    (void)state;
    struct index_snapshot *s = tongues_index();
    for (size_t i = 0; i < sizeof(tongues) / sizeof(*tongues); i++) {
        arena_init(&a);
        struct search_opts o = {.query = span_str(tongues[i].word), .with_snippets = true};
        struct search_result r = run(s, &o, &a);
        if (r.hit_count != 1 || r.hits[0].key != i + 1 || r.hits[0].snippet.mark_count == 0)
            fail_msg("%s: %s: %zu hits", tongues[i].lang, tongues[i].word, r.hit_count);
        arena_done(&a);
    }
    index_snapshot_free(s);
}

/* What one language makes of a word is no form of it in another: "deben" is "deb" in Spanish only. */
static void stems_stay_in_their_language(void **state)
{
    static const struct {
        const char *lang, *text;
    } pages[] = {
        {"en", "deb packages and more"},         /* a */
        {"es", "los paquetes deben ir primero"}, /* b */
        {"es", "esto debe ir primero"},          /* c */
        {"de", "die Anders und Requests"},       /* d */
        {"en", "and a request and requests"},    /* e */
        {"", "request deb"},                     /* f: taken for English, which most are */
        {"pl", "request deb"},                   /* g: has no stemmer */
        {"en", "nothing of the sort"},           /* h */
    };
    static const struct {
        const char *query, *keys;
    } cases[] = {
        {"deben", "bc"},
        {"deb", "abcfg"},
        {"anders", "d"},
        {"requests", "def"},
        {"request", "defg"},
        {"deben primero", "bc"},
        {"\"deben ir\"", "bc"},
        {"\"anders und\"", "d"},
        {"ir -deben", ""},
        {"deben OR anders", "bcd"},
        {"primero -requests", "bc"},
        {"title:deben", ""},
    };
    struct arena a;
    char path[TEST_PATH];
    (void)state;
    test_path(path, "stems");
    struct index *ix = test_index_open(path);
    for (size_t i = 0; i < sizeof(pages) / sizeof(*pages); i++) {
        struct test_page p = {.key = i + 1, .fetch_number = i + 1, .url = SPAN("https://a.example/")};
        p.site = SPAN("a.example");
        p.lang = span_str(pages[i].lang);
        p.text = span_str(pages[i].text);
        test_page_add(ix, &p);
        if (i == 2)
            CHECK_STATUS("commit", index_commit(ix, 1), ST_OK);
    }
    CHECK_STATUS("commit", index_commit(ix, 2), ST_OK);
    index_close(ix);
    struct index_snapshot *s = test_snapshot(path);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char keys[16] = {0};
        arena_init(&a);
        struct search_opts o = {.query = span_str(cases[i].query), .with_snippets = true};
        struct search_result r = run(s, &o, &a);
        for (size_t k = 0; k < r.hit_count; k++)
            keys[k] = (char)('a' + r.hits[k].key - 1);
        qsort(keys, r.hit_count, 1, compare_chars);
        if (strcmp(keys, cases[i].keys) != 0)
            fail_msg("%s: found %s, want %s", cases[i].query, keys, cases[i].keys);
        CHECK(cases[i].query, r.total == r.hit_count);
        arena_done(&a);
    }
    index_snapshot_free(s);
}

/* A stem that is frequent in another language makes the word no more frequent. */
static void words_weigh_what_they_are_worth_in_their_language(void **state)
{
    struct arena a;
    char path[TEST_PATH];
    arena_init(&a);
    test_path(path, "weights");
    struct index *ix = test_index_open(path);
    for (uint64_t i = 1; i <= 44; i++) {
        struct test_page p = {
            .key = i, .fetch_number = i, .url = SPAN("https://a.example/"), .site = SPAN("a.example")};
        p.lang = i <= 40 ? SPAN("en") : SPAN("es");
        p.text = i <= 20 ? SPAN("deb") : i <= 40 ? SPAN("deb often") : i == 41 ? SPAN("deben ir") : SPAN("zapato");
        test_page_add(ix, &p);
    }
    CHECK_STATUS("commit", index_commit(ix, 1), ST_OK);
    index_close(ix);
    struct index_snapshot *s = test_snapshot(path);
    struct search_result r = run(s, &(struct search_opts){.query = SPAN("deben OR often")}, &a);
    CHECK("both", r.total == 21);
    CHECK("the rarer word first", r.hits[0].key == 41);
    index_snapshot_free(s);
    arena_done(&a);
}

static void refuses_what_is_no_query(void **state)
{
    char longest[SEARCH_QUERY_MAX + 2];
    struct index_snapshot *s = hand_index();
    struct arena a;
    arena_init(&a);
    memset(longest, 'a', sizeof(longest));
    const struct {
        const char *label;
        struct search_opts o;
        status want;
    } cases[] = {
        {"empty", {.query = SPAN("")}, ST_INVALID},
        {"blanks", {.query = SPAN("  ")}, ST_INVALID},
        {"only an exclusion", {.query = SPAN("-fox")}, ST_INVALID},
        {"too long", {.query = span_of(longest, SEARCH_QUERY_MAX + 1)}, ST_LIMIT},
        {"too deep", {.query = SPAN("fox"), .offset = SEARCH_DEPTH_MAX - 9}, ST_LIMIT},
        {"far too deep", {.query = SPAN("fox"), .offset = UINT32_MAX}, ST_LIMIT},
        {"too many", {.query = SPAN("fox"), .limit = SEARCH_DEPTH_MAX + 1}, ST_LIMIT},
        {"as deep as it goes", {.query = SPAN("fox"), .offset = SEARCH_DEPTH_MAX - 10}, ST_OK},
        {"past the last", {.query = SPAN("fox"), .offset = 3}, ST_OK},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct search_result r = {0};
        CHECK_STATUS(cases[i].label, search_run(s, &cases[i].o, &a, &r), cases[i].want);
        CHECK(cases[i].label, r.hit_count == 0);
        if (cases[i].want == ST_INVALID)
            CHECK(cases[i].label, r.note.n > 0);
    }
    index_snapshot_free(s);
    arena_done(&a);
}

static void an_empty_index_has_no_answer(void **state)
{
    char path[TEST_PATH];
    struct arena a;
    arena_init(&a);
    test_path(path, "empty");
    struct index *ix = test_index_open(path);
    CHECK_STATUS("commit", index_commit(ix, 0), ST_OK);
    struct index_snapshot *s = test_snapshot(path);
    struct search_opts o = {.query = SPAN("anything"), .with_facets = true, .with_suggestion = true};
    struct search_result r = run(s, &o, &a);
    CHECK("none", r.total == 0 && r.hit_count == 0 && r.site_count == 0 && !r.is_estimate);
    index_snapshot_free(s);
    index_close(ix);
    arena_done(&a);
}

static void finds_rows_in_long_pages(void **state)
{
    static const struct {
        const char *query;
        uint64_t total;
    } cases[] = {
        {"\"rare common\"", 1},        {"\"common rare\"", 1},
        {"\"rare other\"", 0},         {"\"common common\"", 1},
        {"\"common common rare\"", 1}, {"\"rare common rare\"", 0},
        {"\"often common often\"", 0}, {"\"often common common often\"", 1},
    };
    char path[TEST_PATH];
    struct arena a;
    struct buf text = {0};
    arena_init(&a);
    test_path(path, "index");
    for (int i = 0; i < 30000; i++)
        buf_puts(&text, i % 5000 == 77 ? "rare " : i % 3 == 1 ? "often " : "common ");
    buf_puts(&text, "other ");
    struct index *ix = test_index_open(path);
    struct test_page p = {.key = 1, .fetch_number = 1, .url = SPAN("https://a.example/"), .text = buf_span(&text)};
    test_page_add(ix, &p);
    CHECK_STATUS("commit", index_commit(ix, 1), ST_OK);
    struct index_snapshot *s = test_snapshot(path);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct search_result r = run(s, &(struct search_opts){.query = span_str(cases[i].query)}, &a);
        CHECK(cases[i].query, r.total == cases[i].total);
    }
    index_snapshot_free(s);
    index_close(ix);
    buf_done(&text);
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(finds_what_is_asked_for),
        TEST_IN_FOLDER(hits_show_pages),
        TEST_IN_FOLDER(titles_can_be_seen),
        TEST_IN_FOLDER(finds_words_of_every_language),
        TEST_IN_FOLDER(stems_stay_in_their_language),
        TEST_IN_FOLDER(words_weigh_what_they_are_worth_in_their_language),
        TEST_IN_FOLDER(refuses_what_is_no_query),
        TEST_IN_FOLDER(an_empty_index_has_no_answer),
        TEST_IN_FOLDER(finds_rows_in_long_pages),
        TEST_IN_FOLDER(hits_show_fields_and_what_is_known_by_words),
        TEST_IN_FOLDER(words_without_order_are_never_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
