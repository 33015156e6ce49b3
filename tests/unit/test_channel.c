#include "test.h"

#include "crawl/channel.h"

static struct channel *make(channel_scope scope, const char *seed, const char *include, const char *exclude)
{
    struct span s = span_str(seed), i = span_str(include), e = span_str(exclude);
    struct channel_opts o = {.seeds = &s,
                             .seed_count = 1,
                             .scope = scope,
                             .depth_max = 5,
                             .include = &i,
                             .include_count = include ? 1 : 0,
                             .exclude = &e,
                             .exclude_count = exclude ? 1 : 0};
    struct channel *c = NULL;
    struct buf why = {0};
    CHECK_STATUS(seed, channel_new(&o, &c, &why), ST_OK);
    buf_done(&why);
    return c;
}

static channel_verdict check(struct channel *c, const char *text, unsigned depth)
{
    struct arena a;
    struct url u;
    arena_init(&a);
    CHECK_STATUS(text, url_parse(&a, span_str(text), NULL, &u), ST_OK);
    channel_verdict v = channel_check(c, &u, depth, NULL);
    arena_done(&a);
    return v;
}

static void scope_and_patterns_decide_what_belongs(void **state)
{
    const struct {
        channel_scope scope;
        const char *seed, *include, *exclude, *url;
        unsigned depth;
        channel_verdict want;
    } cases[] = {
        {SCOPE_SITE, "https://a.example/x/y", NULL, NULL, "https://a.example/z", 1, CHANNEL_YES},
        {SCOPE_SITE, "https://a.example/x/y", NULL, NULL, "http://a.example/z", 1, CHANNEL_YES},
        {SCOPE_SITE, "https://a.example/", NULL, NULL, "https://b.a.example/", 1, CHANNEL_OUT_OF_SCOPE},
        {SCOPE_SITE, "http://a.example:81/", NULL, NULL, "http://a.example/", 1, CHANNEL_OUT_OF_SCOPE},
        {SCOPE_SITE, "http://a.example:81/", NULL, NULL, "https://a.example:81/", 1, CHANNEL_YES},
        {SCOPE_DOMAIN, "https://a.example.org/", NULL, NULL, "https://b.example.org:8080/", 1, CHANNEL_YES},
        {SCOPE_DOMAIN, "https://a.example.org/", NULL, NULL, "https://example.com/", 1, CHANNEL_OUT_OF_SCOPE},
        {SCOPE_PREFIX, "https://a.example/docs/index.html", NULL, NULL, "https://a.example/docs/b/c", 1, CHANNEL_YES},
        {SCOPE_PREFIX, "https://a.example/docs/index.html", NULL, NULL, "https://a.example/doc", 1,
         CHANNEL_OUT_OF_SCOPE},
        {SCOPE_SITE, "https://a.example/", NULL, NULL, "https://a.example/x", 6, CHANNEL_TOO_DEEP},
        {SCOPE_SITE, "https://a.example/", "*/docs/*", NULL, "https://a.example/docs/1", 1, CHANNEL_YES},
        {SCOPE_SITE, "https://a.example/", "*/docs/*", NULL, "https://a.example/x", 1, CHANNEL_NOT_INCLUDED},
        {SCOPE_SITE, "https://a.example/", "*/docs/*", NULL, "https://a.example/", 0, CHANNEL_YES},
        {SCOPE_SITE, "https://a.example/", NULL, "re:\\.(png|jpg)$", "https://a.example/x.png", 1, CHANNEL_EXCLUDED},
        {SCOPE_SITE, "https://a.example/", NULL, "re:\\.(png|jpg)$", "https://a.example/x.pn", 1, CHANNEL_YES},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct channel *c = make(cases[i].scope, cases[i].seed, cases[i].include, cases[i].exclude);
        channel_verdict v = check(c, cases[i].url, cases[i].depth);
        if (v != cases[i].want)
            fail_msg("case %zu, %s: verdict %d, want %d", i, cases[i].url, v, cases[i].want);
        channel_free(c);
    }
}

static void a_list_may_be_beside_the_scope(void **state)
{
    static const struct {
        channel_scope scope;
        const char *seed, *include, *exclude, *url;
        bool want;
    } cases[] = {
        {SCOPE_SITE, "https://a.example/", NULL, NULL, "https://a.example/s.xml", true},
        {SCOPE_SITE, "https://a.example/", NULL, NULL, "https://maps.a.example/s.xml", true},
        {SCOPE_SITE, "https://www.a.example:81/", NULL, NULL, "http://a.example/s.xml", true},
        {SCOPE_SITE, "https://a.example/", NULL, NULL, "https://ba.example/s.xml", false},
        {SCOPE_SITE, "https://a.example/", NULL, NULL, "https://b.example/s.xml", false},
        {SCOPE_SITE, "https://x.github.io/", NULL, NULL, "https://y.github.io/s.xml", false},
        {SCOPE_DOMAIN, "https://a.example.org/", NULL, NULL, "https://b.example.org/s.xml", true},
        {SCOPE_DOMAIN, "https://a.example.org/", NULL, NULL, "https://example.com/s.xml", false},
        {SCOPE_PREFIX, "https://a.example:8080/docs/", NULL, NULL, "https://a.example/s.xml", true},
        {SCOPE_PREFIX, "https://a.example/docs/", NULL, NULL, "https://b.example/s.xml", false},
        {SCOPE_SITE, "http://127.0.0.1:81/", NULL, NULL, "http://127.0.0.1/s.xml", true},
        {SCOPE_SITE, "http://127.0.0.1/", NULL, NULL, "http://127.0.0.2/s.xml", false},
        {SCOPE_SITE, "https://a.example/", "*/docs/*", NULL, "https://a.example/s.xml", true},
        {SCOPE_SITE, "https://a.example/", NULL, "*.xml", "https://a.example/s.xml", false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct channel *c = make(cases[i].scope, cases[i].seed, cases[i].include, cases[i].exclude);
        struct arena a;
        struct url u;
        arena_init(&a);
        CHECK_STATUS(cases[i].url, url_parse(&a, span_str(cases[i].url), NULL, &u), ST_OK);
        if (channel_takes_list(c, &u, 1) != cases[i].want)
            fail_msg("case %zu, %s", i, cases[i].url);
        CHECK("too deep", !channel_takes_list(c, &u, 6));
        arena_done(&a);
        channel_free(c);
    }
}

static bool takes_list(struct channel *c, const char *url)
{
    struct arena a;
    struct url u;
    arena_init(&a);
    CHECK_STATUS(url, url_parse(&a, span_str(url), NULL, &u), ST_OK);
    bool takes = channel_takes_list(c, &u, 1);
    arena_done(&a);
    return takes;
}

static void sitemaps_that_it_was_given_may_be_anywhere(void **state)
{
    static const struct span seeds[] = {SPAN_INIT("http://a.example/")},
                             lists[] = {SPAN_INIT("http://maps.b.example/a.xml"), SPAN_INIT("http://a.example/f.xml")};
    struct channel_opts o = {.seeds = seeds, .seed_count = 1, .depth_max = 3, .lists = lists, .list_count = 2};
    struct channel *c = NULL, *d = NULL, *plain = make(SCOPE_SITE, "http://a.example/", NULL, NULL);
    struct buf b = {0}, why = {0};
    CHECK_STATUS("new", channel_new(&o, &c, NULL), ST_OK);
    assert_true(channel_id(c) == channel_id(plain)); /* seeds and scope are what a channel is */
    channel_pack(c, &b);
    CHECK_STATUS("unpack", channel_unpack(buf_span(&b), &d), ST_OK);
    assert_int_equal(channel_get_opts(d)->list_count, 2);
    CHECK_SPAN("as given", channel_get_opts(d)->lists[0], lists[0]);
    assert_true(takes_list(d, "http://maps.b.example/a.xml") && takes_list(d, "http://a.example/any.xml"));
    assert_true(!takes_list(d, "http://maps.b.example/b.xml") && !takes_list(plain, "http://maps.b.example/a.xml"));
    assert_int_equal(check(d, "http://maps.b.example/a.xml", 1), CHANNEL_OUT_OF_SCOPE);
    /* Without any it is written as agents of before read it. */
    buf_clear(&b);
    channel_pack(plain, &b);
    assert_int_equal(b.p[0], 1);
    static const struct span bad[] = {SPAN_INIT("ftp://a.example/")};
    struct channel *none = NULL;
    o.lists = bad;
    o.list_count = 1;
    CHECK_STATUS("no http", channel_new(&o, &none, &why), ST_INVALID);
    assert_true(why.n > 0);
    o.list_count = CHANNEL_LISTS_MAX + 1;
    CHECK_STATUS("many", channel_new(&o, &none, NULL), ST_LIMIT);
    channel_free(c);
    channel_free(d);
    channel_free(plain);
    buf_done(&b);
    buf_done(&why);
}

static void packing_keeps_it_and_what_it_was_widened_to(void **state)
{
    struct channel *c = make(SCOPE_SITE, "http://a.example/", "*", "re:zzz"), *d = NULL, *e;
    struct arena a;
    struct url u;
    struct buf b = {0};
    arena_init(&a);
    CHECK_STATUS("url", url_parse(&a, SPAN("https://www.a.example/"), NULL, &u), ST_OK);
    assert_int_equal(check(c, "https://www.a.example/x", 1), CHANNEL_OUT_OF_SCOPE);
    channel_widen(c, &u);
    assert_int_equal(check(c, "https://www.a.example/x", 1), CHANNEL_YES);
    channel_pack(c, &b);
    CHECK_STATUS("unpack", channel_unpack(buf_span(&b), &d), ST_OK);
    assert_true(channel_id(c) == channel_id(d));
    assert_int_equal(check(d, "https://www.a.example/x", 1), CHANNEL_YES);
    assert_int_equal(check(d, "https://www.a.example/zzz", 1), CHANNEL_EXCLUDED);
    for (size_t n = 0; n < b.n; n++)
        CHECK_STATUS("cut", channel_unpack(span_of(b.p, n), &e), ST_CORRUPT);
    e = make(SCOPE_SITE, "http://a.example/", NULL, NULL);
    channel_adopt(e, d);
    assert_int_equal(check(e, "https://www.a.example/x", 1), CHANNEL_YES);
    channel_free(c);
    channel_free(d);
    channel_free(e);
    buf_done(&b);
    arena_done(&a);
}

static void bad_seeds_and_patterns_are_said(void **state)
{
    struct span seed = SPAN("mailto:x"), good = SPAN("http://a.example/"), bad = SPAN("re:(");
    struct channel *c = NULL;
    struct buf why = {0};
    CHECK_STATUS("seed", channel_new(&(struct channel_opts){.seeds = &seed, .seed_count = 1}, &c, &why), ST_INVALID);
    assert_true(why.n > 0);
    buf_clear(&why);
    struct channel_opts o = {.seeds = &good, .seed_count = 1, .exclude = &bad, .exclude_count = 1};
    CHECK_STATUS("pattern", channel_new(&o, &c, &why), ST_INVALID);
    assert_true(why.n > 0);
    buf_done(&why);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scope_and_patterns_decide_what_belongs),
        cmocka_unit_test(a_list_may_be_beside_the_scope),
        cmocka_unit_test(sitemaps_that_it_was_given_may_be_anywhere),
        cmocka_unit_test(packing_keeps_it_and_what_it_was_widened_to),
        cmocka_unit_test(bad_seeds_and_patterns_are_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
