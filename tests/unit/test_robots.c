/* robots.txt: RFC 9309's own tables and examples, reppy's cases, crawler-commons' files, 846 files of real sites, and a
 * naive twin of the matcher. */
#include "test.h"

#include <jansson.h>

#include "base/buf.h"
#include "base/rng.h"
#include "codec/zip.h"
#include "web/robots.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static bool allows(const char *body, const char *agent, const char *target)
{
    struct robots *r = robots_parse(span_str(body), span_str(agent));
    bool allowed = robots_check(r, span_str(target)).allowed;
    robots_free(r);
    return allowed;
}

struct verdict_case {
    const char *body, *agent, *target;
    bool allowed;
};

static void check_verdicts(const struct verdict_case *c, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (allows(c[i].body, c[i].agent, c[i].target) != c[i].allowed)
            fail_msg("case %zu: agent %s, target %s, want %d in:\n%s", i, c[i].agent, c[i].target, c[i].allowed,
                     c[i].body);
    }
}

static void groups_are_chosen_by_product_token(void **state)
{
    static const char two[] = "User-agent: *\nDisallow: /\n\nUser-agent: orbweaver\nDisallow: /own\n";
    static const struct verdict_case cases[] = {
        {two, "orbweaver", "/x", true},
        {two, "OrbWeaver/1.0 (+https://example.org/bot)", "/x", true},
        {two, "OrbWeaver/1.0 (+https://example.org/bot)", "/own", false},
        {two, "orbweaverx", "/x", false}, /* whole tokens, not prefixes */
        {two, "orbweaver-news", "/x", false},
        {two, "", "/x", false},
        {two, "  orbweaver", "/x", true},
        {"User-agent: orbweaver/2.0\nDisallow: /", "orbweaver", "/x", false},
        {"User-agent: orb\nDisallow: /", "orbweaver", "/x", true},
        {"User-agent: MJ12bot\nDisallow: /", "MJ12bot/v1.4", "/x", false},
        {"User-agent: MJ12bot\nDisallow: /", "MJ", "/x", true},
        {"User-agent: *bot\nDisallow: /", "x", "/x", true},
        {"User-agent: * # all\nDisallow: /", "x", "/x", false},
        {"User-agent: * and more\nDisallow: /", "x", "/x", false},
        /* Groups of one token are merged, wherever they stand. */
        {"User-agent: a\nDisallow: /1\nUser-agent: b\nDisallow: /2\nUser-agent: A\nDisallow: /3", "a", "/1", false},
        {"User-agent: a\nDisallow: /1\nUser-agent: b\nDisallow: /2\nUser-agent: A\nDisallow: /3", "a", "/2", true},
        {"User-agent: a\nDisallow: /1\nUser-agent: b\nDisallow: /2\nUser-agent: A\nDisallow: /3", "a", "/3", false},
        {"User-agent: a\nDisallow: /1\nUser-agent: *\nUser-agent: a\nDisallow: /2", "a", "/1", false},
        {"User-agent: a\nDisallow: /1\nUser-agent: *\nUser-agent: a\nDisallow: /2", "z", "/1", true},
        {"User-agent: a\nDisallow: /1\nUser-agent: *\nUser-agent: a\nDisallow: /2", "z", "/2", false},
        /* Only rules end the list of agents. */
        {"User-agent: a\nSitemap: /s\nFoo: bar\n\nCrawl-delay: 1\nUser-agent: b\nDisallow: /", "a", "/x", false},
        {"User-agent: a\nDisallow:\nUser-agent: b\nDisallow: /", "a", "/x", true},
        /* A group without rules is a group. */
        {"User-agent: *\nDisallow: /\nUser-agent: a", "a", "/x", true},
        /* Rules before any agent belong to nobody. */
        {"Disallow: /\nUser-agent: b\nDisallow: /b", "a", "/x", true},
        {"", "a", "/x", true},
        {"User-agent: *\nDisallow: /", "a", "/robots.txt", true},
        {"User-agent: *\nDisallow: /", "a", "/robots.txt?x", false},
        {"User-agent: *\nDisallow: /", "a", "", false},
    };
    check_verdicts(cases, COUNT(cases));
}

static void lines_are_read_leniently(void **state)
{
    static const struct verdict_case cases[] = {
        {"\xEF\xBB\xBFUser-agent: *\nDisallow: /p", "a", "/p", false},
        {"user-AGENT:*\rdisALLOW:/p\r", "a", "/p", false},
        {"User-agent: *\r\nDisallow: /p\r\n", "a", "/p", false},
        {"  User-agent  :  *  \n\tDisallow\t:\t/p \t", "a", "/p", false},
        {"User-agent: *\nDisallow: /p # secret", "a", "/p", false},
        {"User-agent: *\nDisallow: /p#secret", "a", "/p", false},
        {"User-agent: *\n#Disallow: /p", "a", "/p", true},
        {"User-agent: *\nDisallow: # /p", "a", "/p", true},
        {"User-agent: *\nDisallow /p", "a", "/p", true},
        {"User-agent *\nDisallow: /p", "a", "/p", true},
        {"User agent: *\nDissallow: /p", "a", "/p", false},
        {"useragent: *\ndisalow: /p", "a", "/p", false},
        {"User-agent: *\nNoindex: /p", "a", "/p", true},
        {"User-agent: *\nDisallow: p", "a", "/p", true},
        {"User-agent: *\nDisallow: https://example.org/p", "a", "/p", true},
        {"User-agent: *\nDisallow: /a b", "a", "/a%20bc", false},
        {"User-agent: *\nDisallow:: /p", "a", "/p", true},
        {"<html><body>User-agent: *</body></html>", "a", "/p", true},
    };
    check_verdicts(cases, COUNT(cases));
}

static void the_longest_rule_wins_and_allow_wins_ties(void **state)
{
    static const struct verdict_case cases[] = {
        {"User-agent: *\nDisallow: /\nAllow: /p", "a", "/page", true},
        {"User-agent: *\nAllow: /p\nDisallow: /", "a", "/page", true},
        {"User-agent: *\nDisallow: /page\nAllow: /page", "a", "/page", true},
        {"User-agent: *\nAllow: /page\nDisallow: /*.htm", "a", "/page.htm", false},
        {"User-agent: *\nAllow: /page\nDisallow: /*.ph", "a", "/page.php", true},
        {"User-agent: *\nAllow: /$\nDisallow: /", "a", "/", true},
        {"User-agent: *\nAllow: /$\nDisallow: /", "a", "/page.htm", false},
        {"User-agent: *\nAllow: /foo\nDisallow: /foo*", "a", "/foo", false},   /* the star is an octet */
        {"User-agent: *\nAllow: /%61%62\nDisallow: /ab*", "a", "/abc", false}, /* normalised before measured */
    };
    check_verdicts(cases, COUNT(cases));
}

static void patterns_match_as_in_the_tables_of_the_rfc(void **state)
{
    static const struct {
        const char *pattern, *target;
        bool want;
    } cases[] = {
        /* RFC 9309 2.2.2, table 1 */
        {"/foo/bar?baz=quz", "/foo/bar?baz=quz", true},
        {"/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https%3A%2F%2Ffoo.bar", true},
        {"/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https://foo.bar", true},
        {"/foo/bar?baz=https%3a%2f%2Ffoo.bar", "/foo/bar?baz=https://foo.bar", true},
        {"/foo/bar/\xE3\x83\x84", "/foo/bar/%E3%83%84", true},
        {"/foo/bar/%E3%83%84", "/foo/bar/%E3%83%84", true},
        {"/foo/bar/%e3%83%84", "/foo/bar/\xE3\x83\x84", true},
        {"/foo/bar/%62%61%7A", "/foo/bar/baz", true},
        {"/foo/bar/baz", "/foo/bar/%62%61%7a", true},
        /* 2.2.3, table 2 */
        {"/path/file-with-a-%2A.html", "/path/file-with-a-*.html", true},
        {"/path/file-with-a-%2A.html", "/path/file-with-a-x.html", false},
        {"/path/foo-%24", "/path/foo-$", true},
        {"/path/foo-%24", "/path/foo-", false},
        /* Reserved characters stay apart in a path. */
        {"/a%2Fb", "/a/b", false},
        {"/a/b", "/a%2Fb", false},
        {"/a%2fb", "/a%2Fb", true},
        {"/a%3Ab", "/a:b", false},
        {"/a%3Cb", "/a<b", true},
        {"/a%25b", "/a%25b", true},
        {"/a%b", "/a%b", true},
        {"/a%3Mb", "/a%3Mb", true},
        {"*url=http://x", "/r?url=http://x", true},
        {"*url=http%3A", "/r?url=http%3A%2F", true},
        {"/*?c:d", "/a?b?c:d", true},
        /* Wildcards */
        {"/", "/x", true},
        {"/fish", "/fish.html", true},
        {"/fish", "/Fish", false},
        {"/fish*", "/fishheads/yummy", true},
        {"/fish/", "/fish", false},
        {"/*.php", "/folder/filename.php?parameters", true},
        {"/*.php", "/windows.PHP", false},
        {"/*.php$", "/filename.php", true},
        {"/*.php$", "/filename.php?parameters", false},
        {"/*.php$", "/filename.php/x.php", true},
        {"/fish*.php", "/fishheads/catfish.php?id=1", true},
        {"/fish*.php", "/Fish.PHP", false},
        {"*", "/", true},
        {"*$", "/x", true},
        {"/x*$", "/xyz", true},
        {"/a$b", "/a$bc", true},
        {"/a$$", "/a$", true},
        {"/a$", "/a", true},
        {"/a$", "/ab", false},
        {"*.gif$", "/a.gif", true},
        {"/a*b*c", "/axbxc", true},
        {"/a*b*c", "/axcxb", false},
        {"/a**b", "/axb", true},
        {"/ab*b$", "/ab", false},
        {"/a*aa$", "/aaa", true},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        if (robots_match(span_str(cases[i].pattern), span_str(cases[i].target), NULL) != cases[i].want)
            fail_msg("\"%s\" on \"%s\": want %d", cases[i].pattern, cases[i].target, cases[i].want);
        struct buf body = {0};
        buf_printf(&body, "User-agent: *\nDisallow: %s\n", cases[i].pattern);
        if (allows(buf_cstr(&body), "a", cases[i].target) == cases[i].want)
            fail_msg("file with \"%s\" on \"%s\": want %d", cases[i].pattern, cases[i].target, cases[i].want);
        buf_done(&body);
    }
}

static bool naive_match(struct span p, struct span t)
{
    if (p.n == 0)
        return true;
    if (p.n == 1 && p.p[0] == '$')
        return t.n == 0;
    if (p.p[0] == '*')
        return naive_match(span_from(p, 1), t) || (t.n && naive_match(p, span_from(t, 1)));
    return t.n && p.p[0] == t.p[0] && naive_match(span_from(p, 1), span_from(t, 1));
}

static void matching_agrees_with_the_naive_twin(void **state)
{
    struct rng rng;
    rng_seed(&rng, 9309);
    unsigned matched = 0;
    for (int i = 0; i < 200000; i++) {
        char p[10] = "/", t[12] = "/";
        size_t pn = 1 + rng_below(&rng, 8), tn = 1 + rng_below(&rng, 11);
        for (size_t k = 1; k < pn; k++)
            p[k] = "aab/**?$"[rng_below(&rng, 8)];
        for (size_t k = 1; k < tn; k++)
            t[k] = "aaab//?$"[rng_below(&rng, 8)];
        struct span ps = span_of(p, pn), ts = span_of(t, tn);
        bool want = naive_match(ps, ts);
        matched += want;
        if (robots_match(ps, ts, NULL) != want)
            fail_msg("case %d: \"%.*s\" on \"%.*s\": want %d", i, SPAN_ARG(ps), SPAN_ARG(ts), want);
    }
    assert_in_range(matched, 5000, 195000);
}

static void matching_takes_steps_linear_in_rule_and_path(void **state)
{
    static char path[200000], many[100001];
    path[0] = '/';
    memset(path + 1, 'a', sizeof(path) - 1);
    for (size_t i = 0; i + 1 < sizeof(many); i += 2)
        memcpy(many + i, "*a", 2);
    many[sizeof(many) - 1] = 'b';
    const struct {
        const char *label;
        struct span pattern;
    } cases[] = {
        {"stars", SPAN("*****************/****.js")},
        {"stars and letters", span_of(many, sizeof(many))},
        {"near misses", SPAN("/*aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab")},
        {"near misses at the end", SPAN("/*aaaaaaaaaaaaaaaaaaaaa*aaaaaaaaaaaaaaaaaaaab$")},
        {"classic", SPAN("/*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b")},
        {"query", SPAN("/*a?*a/*a:*b")},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        uint64_t steps = 0;
        CHECK(cases[i].label, !robots_match(cases[i].pattern, span_of(path, sizeof(path)), &steps));
        CHECK(cases[i].label, steps <= 2 * (cases[i].pattern.n + sizeof(path)));
    }
}

static void verdicts_name_rule_and_line(void **state)
{
    struct robots *r =
        robots_parse(SPAN("# hi\r\nUser-agent: *\r\n\r\nDisallow: /%7Ejoe$ # no\rAllow:/a\nSitemap: /s1\n"
                          "Sitemap: https://example.org/S2\nsite-map: /s1"),
                     SPAN("orb"));
    struct robots_verdict v = robots_check(r, SPAN("/~joe"));
    CHECK_SPAN("rule", v.rule, SPAN("Disallow: /%7Ejoe$"));
    CHECK("line", v.line == 4 && !v.allowed);
    v = robots_check(r, SPAN("/abc"));
    CHECK_SPAN("rule", v.rule, SPAN("Allow: /a"));
    CHECK("line", v.line == 5 && v.allowed);
    v = robots_check(r, SPAN("/other"));
    CHECK("none", v.allowed && v.rule.n == 0 && v.line == 0);
    CHECK("sitemaps", robots_sitemap_count(r) == 2);
    CHECK_SPAN("first", robots_sitemap(r, 0), SPAN("/s1"));
    CHECK_SPAN("second", robots_sitemap(r, 1), SPAN("https://example.org/S2"));
    CHECK("bytes", robots_bytes(r) > 60 && robots_bytes(r) < 2000);
    robots_free(r);
    robots_free(NULL);
    for (int allowed = 0; allowed < 2; allowed++) {
        r = robots_all(allowed);
        v = robots_check(r, SPAN("/x"));
        CHECK("all", v.allowed == allowed && v.rule.n == 0 && robots_crawl_delay_ms(r) == -1);
        CHECK("robots.txt", robots_check(r, SPAN("/robots.txt")).allowed);
        robots_free(r);
    }
}

static void crawl_delays_are_read(void **state)
{
    static const struct {
        const char *body;
        int64_t want;
    } cases[] = {
        {"User-agent: *\nCrawl-delay: 10", 10000},
        {"User-agent: *\nCrawl-delay: 0.25 # quarter", 250},
        {"User-agent: *\nCrawl-delay: .5", 500},
        {"User-agent: *\nCrawl-delay: 0", 0},
        {"User-agent: *\nCrawl-delay: 1.23456", 1234},
        {"User-agent: *\nCrawl-delay: 5s", 5000},
        {"User-agent: *\nCrawl-delay: -1", -1},
        {"User-agent: *\nCrawl-delay: soon", -1},
        {"User-agent: *\nCrawl-delay:", -1},
        {"User-agent: *\nCrawl-delay: .", -1},
        {"User-agent: *\nCrawl-delay: 99999999999999999999999", ROBOTS_DELAY_MS_MAX},
        {"User-agent: *\nCrawl-delay: 1\nCrawl-delay: 7\nCrawl-delay: 3", 7000}, /* the longest */
        {"User-agent: b\nCrawl-delay: 1", -1},
        {"Crawl-delay: 1\nUser-agent: *\nDisallow: /", -1},
        {"User-agent: *\nCrawl-delay: 1\nUser-agent: orb\nDisallow: /", -1}, /* it stands above ours */
        {"User-agent: *\nCrawl-delay: 1\nDisallow:\nUser-agent: orb\nCrawl-delay: 2", 2000},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct robots *r = robots_parse(span_str(cases[i].body), SPAN("orb"));
        CHECK(cases[i].body, robots_crawl_delay_ms(r) == cases[i].want);
        robots_free(r);
    }
}

static void ceilings_hold(void **state)
{
    struct buf body = {0};
    buf_puts(&body, "User-agent: *\nDisallow: /early\n");
    while (body.n < ROBOTS_BYTES_MAX - 15)
        buf_puts(&body, body.n < ROBOTS_BYTES_MAX - 100 ? "# padding padding padding\n" : "\n");
    buf_puts(&body, "Disallow: /late/page\nDisallow: /later\n"); /* the ceiling cuts it to "Disallow: /lat" */
    struct robots *r = robots_parse(buf_span(&body), SPAN("orb"));
    CHECK("early", !robots_check(r, SPAN("/early")).allowed);
    CHECK("a cut line is no rule", robots_check(r, SPAN("/late/page")).allowed && robots_rule_count(r) == 1);
    CHECK("later", robots_check(r, SPAN("/later")).allowed);
    robots_free(r);
    buf_clear(&body);
    buf_puts(&body, "User-agent: *\n");
    for (int i = 0; i < ROBOTS_RULES_MAX + 10; i++)
        buf_printf(&body, "Disallow: /%x\n", i);
    for (int i = 0; i < ROBOTS_SITEMAPS_MAX + 10; i++)
        buf_printf(&body, "Sitemap: /%x\n", i);
    r = robots_parse(buf_span(&body), SPAN("orb"));
    CHECK("rules", robots_rule_count(r) == ROBOTS_RULES_MAX);
    CHECK("sitemaps", robots_sitemap_count(r) == ROBOTS_SITEMAPS_MAX);
    CHECK("longest", robots_check(r, SPAN("/4e1fx")).line == 0x4e1f + 2);
    robots_free(r);
    buf_done(&body);
}

static void packed_files_that_are_damaged_are_refused(void **state)
{
    struct robots *r =
        robots_parse(SPAN("User-agent: *\nCrawl-delay: 3\nDisallow: /a?b=c:d\nAllow: /x$\nSitemap: /s"), SPAN("o"));
    struct buf packed = {0};
    robots_pack(r, &packed);
    struct robots *back = NULL;
    for (size_t n = 0; n < packed.n; n++)
        CHECK_STATUS("cut", robots_unpack(span_of(packed.p, n), &back), ST_CORRUPT);
    for (size_t i = 0; i < packed.n * 8; i++) {
        packed.p[i / 8] ^= (char)(1 << i % 8);
        if (robots_unpack(buf_span(&packed), &back) == ST_OK)
            robots_free(back);
        packed.p[i / 8] ^= (char)(1 << i % 8);
    }
    CHECK_STATUS("whole", robots_unpack(buf_span(&packed), &back), ST_OK);
    CHECK("delay", robots_crawl_delay_ms(back) == 3000 && robots_sitemap_count(back) == 1);
    CHECK("line", robots_check(back, SPAN("/x")).line == 4);
    robots_free(back);
    packed.p[0]++;
    CHECK_STATUS("newer", robots_unpack(buf_span(&packed), &back), ST_NEWER);
    packed.p[0]--;
    buf_putc(&packed, 0);
    CHECK_STATUS("longer", robots_unpack(buf_span(&packed), &back), ST_CORRUPT);
    buf_done(&packed);
    robots_free(r);
}

/* reppy is older than RFC 9309. */
static const struct {
    const char *id, *why;
} reppy_differences[] = {
    {"reppy-robots-002",
     "rules before any User-agent line: reppy applies them to everybody, RFC 9309 2.1 has them in no group"},
    {"reppy-robots-010", "reppy ends the agents of a group at an unknown key (Noindex), RFC 9309 2.2.4 forbids that"},
};

static void reppy_cases_hold(void **state)
{
    json_error_t err;
    json_t *cases = json_load_file(TEST_DATA "/robots/reppy_robots_cases.json", 0, &err);
    if (!cases)
        fail_msg("%s", err.text);
    assert_int_equal(json_array_size(cases), 79);
    for (size_t i = 0; i < json_array_size(cases); i++) {
        json_t *c = json_array_get(cases, i);
        const char *id = json_string_value(json_object_get(c, "id"));
        const char *url = json_string_value(json_object_get(c, "url"));
        const char *target = strchr(strstr(url, "://") + 3, '/');
        bool want = json_is_true(json_object_get(c, "allowed"));
        for (size_t k = 0; k < COUNT(reppy_differences); k++)
            want ^= strcmp(reppy_differences[k].id, id) == 0;
        bool got = allows(json_string_value(json_object_get(c, "robots")),
                          json_string_value(json_object_get(c, "agent")), target);
        CHECK(id, got == want);
    }
    json_decref(cases);
}

/* What RFC 9309 says of crawler-commons' files; their own expectations are not used. */
static void crawler_commons_files_hold(void **state)
{
    static const struct {
        const char *file, *agent, *target;
        bool allowed;
    } cases[] = {
        {"rfc9309-example-simple-robots.txt", "foobot", "/example/page.html", true},
        {"rfc9309-example-simple-robots.txt", "foobot", "/example/allowed.gif", true},
        {"rfc9309-example-simple-robots.txt", "foobot", "/x", false},
        {"rfc9309-example-simple-robots.txt", "barbot", "/example/page.html", false},
        {"rfc9309-example-simple-robots.txt", "BazBot", "/example/page.html", false},
        {"rfc9309-example-simple-robots.txt", "bazbot", "/a.gif", true},
        {"rfc9309-example-simple-robots.txt", "quxbot", "/example/page.html", true},
        {"rfc9309-example-simple-robots.txt", "other", "/example/page.html", false},
        {"rfc9309-example-simple-robots.txt", "other", "/a.gif", false},
        {"rfc9309-example-simple-robots.txt", "other", "/publications/x", true},
        {"rfc9309-example-simple-robots.txt", "other", "/publications/x.gif", true},
        {"rfc9309-example-longest-match-robots.txt", "foobot", "/example/page/", true},
        {"rfc9309-example-longest-match-robots.txt", "foobot", "/example/page/disallowed.gif", false},
        {"rfc9309-example-rule-group-merging.txt", "examplebot", "/foo", false},
        {"rfc9309-example-rule-group-merging.txt", "examplebot", "/bar", false},
        {"rfc9309-example-rule-group-merging.txt", "examplebot", "/baz", false},
        {"rfc9309-example-rule-group-merging.txt", "bazbot", "/foo", true},
        {"rfc9309-example-rule-group-merging.txt", "other", "/baz", true},
        {"crawl-delay-group-merging.txt", "mybot", "/private/", false},
        {"crawl-delay-group-merging.txt", "mybot", "/login/", true},
        {"crawl-delay-group-merging.txt", "yourbot", "/login/", false},
        {"crawl-delay-group-merging.txt", "other", "/private/", true},
        {"extensions-group-merging.txt", "mybot", "/private/", false},
        {"extensions-group-merging.txt", "mybot", "/login/", false}, /* Clean-Param does not end the agents */
        {"extensions-group-merging.txt", "yourbot", "/x", true},
        {"extensions-group-merging.txt", "other", "/x", false},
        {"extensions-group-merging.txt", "other", "/llms.txt", true},
        {"extension-robots.txt", "mybot", "/private/x", false},
        {"extension-robots.txt", "mybot", "/secret/", true},
        {"extension-robots.txt", "otherbot", "/admin/", false},
        {"extended-standard-robots.txt", "bot1", "/x", true},
        {"directive-typos-robots.txt", "bot1", "/desallow/", false},
        {"directive-typos-robots.txt", "bot1", "/dissalow/", false},
        {"directive-typos-robots.txt", "bot1", "/useragent/", true},
        {"directive-typos-robots.txt", "bot2", "/useragent/", false},
        {"directive-typos-robots.txt", "bot3", "/useg-agent/", false},
        {"directive-typos-robots.txt", "bot3", "/useragent-no-colon/", false}, /* the line without a colon is skipped */
        {"directive-typos-robots.txt", "bot4", "/useragent-no-colon/", true},
        {"format-errors-robots.txt", "bot1", "/whitespace-before-colon/", false},
        {"format-errors-robots.txt", "bot1", "/no-colon/", true},
        {"format-errors-robots.txt", "bot1", "/no-colon-useragent/", false},
        {"format-errors-robots.txt", "bot2", "/no-colon-useragent/", true},
        {"format-errors-robots.txt", "bot3", "/whitespace-before-colon", true},
        {"format-errors-robots.txt", "bot3", "/x", false},
        {"malformed-path.txt", "any", "/wiki/Wikipedia_talk:Mediation_Committee/x", false},
        {"malformed-path.txt", "any", "/wiki/Wikipedia_talk%3Mediation_Committee/x", false},
        {"malformed-path.txt", "any", "/wiki/Wikipedia_talk%3AMediation_Committee/x", true},
        {"many-user-agents.txt", "wget", "/", false},
        {"many-user-agents.txt", "mysuperlongbotnamethatmatchesnothing", "/", true},
        {"many-user-agents.txt", "mysuperlongbotnamethatmatchesnothing", "/bot-trap/", false},
        {"merge-rules.txt", "wget", "/foo/bar", true}, /* equal length: Allow */
        {"merge-rules.txt", "wget", "/tmp/bar", false},
        {"merge-rules.txt", "wget", "/ckh/bar", true},
        {"merge-rules.txt", "other", "/foo/bar", false},
        {"merge-rules.txt", "curl", "/ckh/bar", false},
        {"precedence-of-rules.txt", "testy", "/foo/bar", true},
        {"precedence-of-rules.txt", "testy", "/foo/bazfoo", false},
        {"precedence-of-rules.txt", "testy", "/", true},
        {"precedence-of-rules.txt", "wget", "/foo", true},
        {"precedence-of-rules.txt", "wget", "/index.html", true},
        {"precedence-of-rules.txt", "wget", "/other", false}, /* "/" and "*" are two octets, "/" is one */
        {"relative-sitemap-robots.txt", "any", "/files/x", false},
        {"robots-with-utf8-bom.txt", "any", "/profile", false},
        {"robots-with-utf8-bom.txt", "googlebot", "/x/output/print", false},
        {"robots-with-utf16le-bom.txt", "any", "/profile", false},
        {"robots-with-utf16le-bom.txt", "any", "/", true},
        {"robots-with-utf16le-bom.txt", "googlebot", "/x/output/print", false},
        {"robots-with-utf16be-bom.txt", "any", "/profile", false},
        {"robots-with-utf16be-bom.txt", "googlebot", "/x/output/print", false},
        {"twitter.com-robots.txt", "any", "/search?q=x", false},
        {"twitter.com-robots.txt", "slurp", "/me/with_friends", false},
        {"twitter.com-robots.txt", "slurp", "/me", true},
        {"wildcards.txt", "any", "/gp/registry/wishlist/abc/reserve", false},
        {"wildcards.txt", "any", "/wishlist/universal/x", true},
        {"wildcards.txt", "any", "/wishlist/x", false},
        {"wildcards.txt", "any", "/a/b/gcrnsts", false},
        {"wildcards.txt", "googlebot", "/x/sim/B001132UEE", false},
        {"wildcards.txt", "any", "/x/sim/B001132UEE", true},
        {"wildcards.txt", "EtaoSpider", "/x", false},
        {"www.flot.com-robots.txt", "any", "/img/x", false},
    };
    static const struct {
        const char *file, *agent;
        int64_t delay_ms;
        size_t sitemaps;
        const char *first;
    } others[] = {
        {"astore.amazon.com-robots.txt", "any", 5000, 0, NULL},
        {"crawl-delay-group-merging.txt", "mybot", 10000, 0, NULL},
        {"crawl-delay-group-merging.txt", "yourbot", -1, 0, NULL},
        {"crawl-delay-group-merging.txt", "other", 30000, 0, NULL},
        {"dos-line-endings.txt", "any", 1000, 0, NULL},
        {"twitter.com-robots.txt", "slurp", 1000, 0, NULL},
        {"twitter.com-robots.txt", "googlebot", -1, 0, NULL},
        {"extension-robots.txt", "any", -1, 1, "/sitemap.xml"},
        {"format-errors-robots.txt", "any", -1, 1, "/sitemap.xml"},
        {"relative-sitemap-robots.txt", "any", -1, 1, "/sitemap.xml"},
        {"robots-with-utf16be-bom.txt", "any", -1, 1, "http://www.newsweek.com/sitemap_index.xml"},
        {"robots-with-utf16le-bom.txt", "any", -1, 1, "http://www.newsweek.com/sitemap_index.xml"},
        {"sitemap-robots-dedup.txt", "any", -1, 1, "http://example.org/sitemap.xml"},
        {"sitemap-robots.txt", "any", -1, 2, "http://domain.com/sitemap.xml"},
        {"wildcards.txt", "any", -1, 8, "http://www.amazon.com/sitemap-manual-index.xml"},
        {"www.flot.com-robots.txt", "any", -1, 1, "http://flot.com/sitemap_index.xml"},
    };
    char path[4096];
    for (size_t i = 0; i < COUNT(cases); i++) {
        snprintf(path, sizeof(path), "%s/robots/crawler-commons-files/%s", TEST_DATA, cases[i].file);
        struct span body = test_read_file(path);
        struct robots *r = robots_parse(body, span_str(cases[i].agent));
        if (robots_check(r, span_str(cases[i].target)).allowed != cases[i].allowed)
            fail_msg("%s: %s %s: want %d", cases[i].file, cases[i].agent, cases[i].target, cases[i].allowed);
        robots_free(r);
        free((char *)(uintptr_t)body.p);
    }
    for (size_t i = 0; i < COUNT(others); i++) {
        snprintf(path, sizeof(path), "%s/robots/crawler-commons-files/%s", TEST_DATA, others[i].file);
        struct span body = test_read_file(path);
        struct robots *r = robots_parse(body, span_str(others[i].agent));
        CHECK(others[i].file, robots_crawl_delay_ms(r) == others[i].delay_ms);
        CHECK(others[i].file, robots_sitemap_count(r) == others[i].sitemaps);
        if (others[i].sitemaps)
            CHECK_SPAN(others[i].file, robots_sitemap(r, 0), span_str(others[i].first));
        robots_free(r);
        free((char *)(uintptr_t)body.p);
    }
}

/* The next file of a tar archive; false at its end. */
static bool tar_next(struct span *tar, struct span *name, struct span *body)
{
    while (tar->n >= 512 && tar->p[0]) {
        size_t n = strtoul(span_cut(*tar, 124, 12).p, NULL, 8);
        char type = tar->p[156];
        *name = span_of(tar->p, strnlen(tar->p, 100));
        *body = span_cut(*tar, 512, n);
        *tar = span_from(*tar, 512 + (n + 511) / 512 * 512);
        if (type == '0' || type == '\0')
            return true;
    }
    return false;
}

static void check_same_verdicts(struct span name, const struct robots *a, const struct robots *b)
{
    static const char *const paths[] = {
        "/",
        "/index.html",
        "/search?q=a",
        "/admin/",
        "/wp-admin/admin-ajax.php",
        "/cgi-bin/x",
        "/a/b/c.pdf",
        "/user/login?next=http://x/",
        "/?utm_source=x",
        "/%7Ejoe/",
        "/images/a.gif",
        "/tag/feed/",
        "/robots.txt",
        "/api/v1/x.json",
        "/print/1",
        "/wp-content/plugins/x.js",
    };
    CHECK("delay", robots_crawl_delay_ms(a) == robots_crawl_delay_ms(b));
    CHECK("sitemaps", robots_sitemap_count(a) == robots_sitemap_count(b));
    CHECK("rules", robots_rule_count(a) == robots_rule_count(b));
    for (size_t i = 0; i < COUNT(paths); i++) {
        struct robots_verdict x = robots_check(a, span_str(paths[i])), y = robots_check(b, span_str(paths[i]));
        if (x.allowed != y.allowed || x.line != y.line || !span_eq(x.rule, y.rule))
            fail_msg("%.*s: %s differs once packed", SPAN_ARG(name), paths[i]);
    }
}

static void real_files_parse_and_survive_packing(void **state)
{
    struct span packed_tar = test_read_file(TEST_DATA "/robots/real-robots-txt.tar.zst");
    struct buf tar = {0};
    CHECK_STATUS("archive", unzip_zstd(packed_tar, 8 << 20, &tar), ST_OK);
    struct span rest = buf_span(&tar), name, body;
    size_t files = 0, rules = 0, sitemaps = 0, delays = 0, closed = 0, bytes = 0;
    while (tar_next(&rest, &name, &body)) {
        struct robots *r = robots_parse(body, SPAN("orbweaver/1.0")), *back = NULL;
        struct buf packed = {0};
        robots_pack(r, &packed);
        CHECK_STATUS("unpack", robots_unpack(buf_span(&packed), &back), ST_OK);
        check_same_verdicts(name, r, back);
        files++;
        rules += robots_rule_count(r);
        sitemaps += robots_sitemap_count(r);
        delays += robots_crawl_delay_ms(r) >= 0;
        closed += !robots_check(r, SPAN("/")).allowed;
        bytes += robots_bytes(r);
        buf_done(&packed);
        robots_free(back);
        robots_free(r);
    }
    CHECK("memory", bytes < 5000000);
    assert_int_equal(files, 846);
    assert_int_equal(rules, 48929);
    assert_int_equal(sitemaps, 1633);
    assert_int_equal(delays, 94);
    assert_int_equal(closed, 11);
    buf_done(&tar);
    free((char *)(uintptr_t)packed_tar.p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_are_chosen_by_product_token),
        cmocka_unit_test(lines_are_read_leniently),
        cmocka_unit_test(the_longest_rule_wins_and_allow_wins_ties),
        cmocka_unit_test(patterns_match_as_in_the_tables_of_the_rfc),
        cmocka_unit_test(matching_agrees_with_the_naive_twin),
        cmocka_unit_test(matching_takes_steps_linear_in_rule_and_path),
        cmocka_unit_test(verdicts_name_rule_and_line),
        cmocka_unit_test(crawl_delays_are_read),
        cmocka_unit_test(ceilings_hold),
        cmocka_unit_test(packed_files_that_are_damaged_are_refused),
        cmocka_unit_test(reppy_cases_hold),
        cmocka_unit_test(crawler_commons_files_hold),
        cmocka_unit_test(real_files_parse_and_survive_packing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
