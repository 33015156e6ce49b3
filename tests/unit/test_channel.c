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
        cmocka_unit_test(packing_keeps_it_and_what_it_was_widened_to),
        cmocka_unit_test(bad_seeds_and_patterns_are_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
