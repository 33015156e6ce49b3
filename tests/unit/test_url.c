#include <jansson.h>

#include "base/arena.h"
#include "base/rng.h"
#include "web/domain.h"
#include "web/url.h"
#include "web/url_internal.h"

#include "test.h"

#define CASES_MAX 4096
#define LABEL_BYTES 400

/* Every input and base of the vector files: what the property tests run over. */
static struct {
    struct span input, base; /* base.p == NULL: none */
} corpus[CASES_MAX];
static size_t corpus_n;
static struct arena corpus_arena;

static void add_to_corpus(struct span input, struct span base)
{
    assert_true(corpus_n < CASES_MAX);
    corpus[corpus_n].input = arena_copy(&corpus_arena, input);
    corpus[corpus_n].base = base.p ? arena_copy(&corpus_arena, base) : base;
    corpus_n++;
}

static const char *label_of(char out[LABEL_BYTES], struct span input, struct span base)
{
    snprintf(out, LABEL_BYTES, "<%.*s> against <%.*s>", SPAN_ARG(input), SPAN_ARG(base));
    return out;
}

/* Parses `input` against a base given as text. */
static status parse(struct arena *a, struct span input, struct span base, struct url *out)
{
    struct url b;
    if (!base.p)
        return url_parse(a, input, NULL, out);
    status st = url_parse(a, base, NULL, &b);
    return st == ST_OK ? url_parse(a, input, &b, out) : st;
}

/* ---- web-platform-tests ---- */

static struct span json_span(const json_t *object, const char *key)
{
    const json_t *v = json_object_get(object, key);
    return json_is_string(v) ? span_of(json_string_value(v), json_string_length(v)) : (struct span){NULL, 0};
}

static void check_part(const char *label, const json_t *c, const char *key, struct span got)
{
    char text[LABEL_BYTES + 32];
    struct span want = json_span(c, key);
    snprintf(text, sizeof(text), "%s %s", label, key);
    if (want.p)
        CHECK_SPAN(text, got, want);
}

/* "?x" for a query of "x", "" for none and for an empty one, as the API's search and hash. */
static struct span with_sign(struct span s)
{
    return s.n ? span_of(s.p - 1, s.n + 1) : s;
}

static void check_wpt_parts(const char *label, const json_t *c, const struct url *u)
{
    char port[8] = "";
    if (u->has_explicit_port)
        snprintf(port, sizeof(port), "%d", u->port);
    struct span host = u->host;
    if (u->has_explicit_port)
        host.n += 1 + strlen(port);
    check_part(label, c, "href", u->href);
    check_part(label, c, "protocol", span_of(u->scheme.p, u->scheme.n + 1));
    check_part(label, c, "username", u->username);
    check_part(label, c, "password", u->password);
    check_part(label, c, "host", host);
    check_part(label, c, "hostname", u->host);
    check_part(label, c, "port", span_str(port));
    check_part(label, c, "pathname", u->path);
    check_part(label, c, "search", with_sign(u->query));
    check_part(label, c, "hash", with_sign(u->fragment));
}

static json_t *load_wpt(void)
{
    json_error_t error;
    json_t *all = json_load_file(TEST_DATA "/url/wpt-urltestdata-sample.json", JSON_ALLOW_NUL, &error);
    if (!all)
        fail_msg("vectors: %s", error.text);
    return all;
}

static void parses_as_the_web_platform_tests_say(void **state)
{
    struct arena a;
    json_t *all = load_wpt(), *c;
    size_t i, run = 0;
    arena_init(&a);
    json_array_foreach(all, i, c)
    {
        char label[LABEL_BYTES];
        struct url u;
        if (!json_is_object(c))
            continue;
        struct span input = json_span(c, "input"), base = json_span(c, "base");
        status st = parse(&a, input, base, &u);
        label_of(label, input, base);
        if (json_is_true(json_object_get(c, "failure"))) {
            CHECK(label, st != ST_OK);
        } else {
            CHECK_STATUS(label, st, ST_OK);
            check_wpt_parts(label, c, &u);
        }
        run++;
    }
    assert_int_equal(run, 223);
    json_decref(all);
    arena_done(&a);
}

/* ---- crawler-commons ---- */

/* The next field of a CSV line: quoted or up to a comma, spaces around it dropped. */
static bool next_field(struct arena *a, struct span *line, struct span *field)
{
    if (!line->p)
        return false;
    while (line->n && line->p[0] == ' ')
        *line = span_from(*line, 1);
    if (line->n == 0 || line->p[0] != '"') {
        struct span part;
        span_split(line, ',', &part);
        *field = span_trim(part);
        return true;
    }
    char *text = arena_bytes(a, line->n + 1);
    size_t n = 0, i = 1;
    for (; i < line->n; i++) {
        if (line->p[i] == '"' && (i + 1 == line->n || line->p[i + 1] != '"'))
            break;
        i += line->p[i] == '"';
        text[n++] = line->p[i];
    }
    *field = span_of(text, n);
    size_t comma = span_find(*line, ',', i);
    *line = comma == line->n ? (struct span){NULL, 0} : span_from(*line, comma + 1);
    return true;
}

struct csv {
    struct span text, rest;
};

static struct csv csv_open(const char *name)
{
    char path[1024];
    snprintf(path, sizeof(path), "%s/url/%s", TEST_DATA, name);
    struct span text = test_read_file(path);
    return (struct csv){text, text};
}

/* The fields of the next line that has any. */
static bool csv_row(struct csv *csv, struct arena *a, struct span fields[3])
{
    struct span line;
    while (span_split(&csv->rest, '\n', &line)) {
        if (line.n == 0 || line.p[0] == '#')
            continue;
        size_t n = 0;
        memset(fields, 0, 3 * sizeof(fields[0]));
        while (n < 3 && next_field(a, &line, &fields[n]))
            n++;
        return true;
    }
    return false;
}

static void resolves_as_crawler_commons(void **state)
{
    struct arena a;
    struct csv csv = csv_open("crawler-commons-url-resolve.csv");
    struct span f[3];
    size_t run = 0;
    arena_init(&a);
    while (csv_row(&csv, &a, f)) {
        char label[LABEL_BYTES];
        struct url u;
        CHECK_STATUS(label_of(label, f[0], f[1]), parse(&a, f[0], f[1].n ? f[1] : (struct span){NULL, 0}, &u), ST_OK);
        CHECK_SPAN(label, u.href, f[2]);
        run++;
    }
    assert_int_equal(run, 22);
    free((char *)csv.text.p);
    arena_done(&a);
}

static const struct url_norm sorted_only = {NULL, 0, true};

/* Rows where crawler-commons' policy is not ours; `ours` is NULL where the URL is refused. */
static const struct {
    const char *input, *ours, *why;
} other_policy[] = {
    {"http://x.com/?x[y]=1", "http://x.com/?x[y]=1", "brackets stay in a query (URL Standard)"},
    {"http://www.example.com/a/c/../b/search?q=foobar^", "http://www.example.com/a/b/search?q=foobar^", "so does ^"},
    {"http://www.example.com/a/c/../b/search?q=foobar`", "http://www.example.com/a/b/search?q=foobar`", "so does `"},
    {"http://www.example.com/a/c/../b/search?q=foobar|", "http://www.example.com/a/b/search?q=foobar|", "so does |"},
    {"http://foo.com//aa/bb/foo.html", "http://foo.com//aa/bb/foo.html", "an empty segment is a segment"},
    {"http://foo.com/aa//bb/foo.html", "http://foo.com/aa//bb/foo.html", "an empty segment is a segment"},
    {"http://foo.com/aa/bb//foo.html", "http://foo.com/aa/bb//foo.html", "an empty segment is a segment"},
    {"http://foo.com//aa//bb//foo.html", "http://foo.com//aa//bb//foo.html", "an empty segment is a segment"},
    {"http://foo.com////aa////bb//foo.html", "http://foo.com////aa////bb//foo.html", "an empty segment is a segment"},
    {"http://foo.com////aa////bb////foo.html", "http://foo.com////aa////bb////foo.html",
     "an empty segment is a segment"},
    {"file:///foo/bar.txt", NULL, "not http"},
    {"file:/path/index.html", NULL, "not http"},
    {"file:/var/www/html/////./bar/index.html", NULL, "not http"},
    {"file:/var/www/html/foo/../bar/index.html", NULL, "not http"},
    {"ftp://foo.com/index.html", NULL, "not http"},
    {"ftp:/", NULL, "no host"},
    {"http:////", NULL, "no host"},
    {"http:///////", NULL, "no host"},
    {"foo.com/index.html", NULL, "relative and no base: a scheme is never guessed"},
    {"https://www.example.org./", "https://www.example.org./", "another host to DNS search lists and to TLS"},
    {"http://foo.com/index?a=1&b=", "http://foo.com/index?a=1&b=", "b= and b may differ to a server"},
    {"http://foo.com/index?b=&a=1", "http://foo.com/index?a=1&b=", "b= and b may differ to a server"},
    {"http://foo.com/index?b=1&a=1&", "http://foo.com/index?&a=1&b=1", "empty parameters stay"},
    {"http://foo.com/index?&b=1&a=1", "http://foo.com/index?&a=1&b=1", "empty parameters stay"},
    {"http://foo.com/index?&=1&a=1", "http://foo.com/index?&=1&a=1", "nameless parameters stay"},
    {"http://foo.com/index?=1&b=1&a=1", "http://foo.com/index?=1&a=1&b=1", "nameless parameters stay"},
};
#define OTHER_POLICY_N (sizeof(other_policy) / sizeof(other_policy[0]))

static size_t find_other_policy(struct span input)
{
    size_t i = 0;
    while (i < OTHER_POLICY_N && !span_is(input, other_policy[i].input))
        i++;
    return i;
}

static void normalises_as_crawler_commons_but_for_the_listed_rows(void **state)
{
    struct arena a;
    struct csv csv = csv_open("crawler-commons-weirdToNormalizedUrls.csv");
    struct span f[3];
    size_t run = 0, listed = 0;
    arena_init(&a);
    while (csv_row(&csv, &a, f)) {
        struct url u;
        const char *label = arena_copy(&a, f[0]).p;
        struct span want = f[1];
        size_t other = find_other_policy(f[0]);
        if (other < OTHER_POLICY_N) {
            CHECK(other_policy[other].why, !span_is(want, other_policy[other].ours ? other_policy[other].ours : ""));
            want = span_str(other_policy[other].ours);
            listed++;
        }
        status st = url_parse(&a, f[0], NULL, &u);
        if (st == ST_OK)
            st = url_normalise(&a, &u, &sorted_only, URL_HREF_MAX, &u);
        CHECK(label, (st == ST_OK) == (want.p != NULL));
        if (st == ST_OK)
            CHECK_SPAN(label, u.href, want);
        run++;
    }
    assert_int_equal(run, 112);
    assert_int_equal(listed, OTHER_POLICY_N);
    free((char *)csv.text.p);
    arena_done(&a);
}

static void refuses_what_crawler_commons_refuses(void **state)
{
    struct arena a;
    struct csv csv = csv_open("crawler-commons-invalidUrls.csv");
    struct span f[3];
    size_t run = 0;
    arena_init(&a);
    for (; csv_row(&csv, &a, f); run++) {
        struct url u;
        CHECK_STATUS(arena_copy(&a, f[0]).p, url_parse(&a, f[0], NULL, &u), ST_INVALID);
    }
    assert_int_equal(run, 2);
    free((char *)csv.text.p);
    arena_done(&a);
}

/* ---- tables of our own ---- */

/* href NULL: failure. */
struct parse_case {
    const char *input, *base, *href;
};

static void run_parse_cases(const struct parse_case *cases, size_t n)
{
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < n; i++) {
        char label[LABEL_BYTES];
        struct url u;
        struct span input = span_str(cases[i].input), base = span_str(cases[i].base);
        status st = parse(&a, input, base, &u);
        CHECK_STATUS(label_of(label, input, base), st, cases[i].href ? ST_OK : ST_INVALID);
        if (st == ST_OK)
            CHECK_SPAN(label, u.href, span_str(cases[i].href));
        if (st == ST_OK)
            CHECK(label, u.href.p[u.href.n] == '\0');
    }
    arena_done(&a);
}

#define RUN(cases) run_parse_cases(cases, sizeof(cases) / sizeof(cases[0]))

static void parses_addresses_in_every_spelling(void **state)
{
    static const struct parse_case cases[] = {
        {"http://0x7f.1/", NULL, "http://127.0.0.1/"},
        {"http://0300.0250.1/", NULL, "http://192.168.0.1/"},
        {"http://4294967295/", NULL, "http://255.255.255.255/"},
        {"http://4294967296/", NULL, NULL},
        {"http://1.2.3.4./", NULL, "http://1.2.3.4/"},
        {"http://1.2.3.4../", NULL, "http://1.2.3.4../"},
        {"http://1.2.3.4.5/", NULL, NULL},
        {"http://256.0.0.1/", NULL, NULL},
        {"http://1.2.3.256/", NULL, NULL},
        {"http://1.2.65536/", NULL, NULL},
        {"http://0x/", NULL, "http://0.0.0.0/"},
        {"http://0xffffffffffffffffffffff/", NULL, NULL},
        {"http://09/", NULL, NULL},
        {"http://a.09/", NULL, NULL},
        {"http://1a.2b/", NULL, "http://1a.2b/"},
        {"http://0x.com/", NULL, "http://0x.com/"},
        {"non-special://1.2/", NULL, "non-special://1.2/"},
        {"http://[::]/", NULL, "http://[::]/"},
        {"http://[1:0:0:2:0:0:0:3]/", NULL, "http://[1:0:0:2::3]/"},
        {"http://[1:0:0:2:0:0:3:4]/", NULL, "http://[1::2:0:0:3:4]/"},
        {"http://[0:1:0:1:0:1:0:1]/", NULL, "http://[0:1:0:1:0:1:0:1]/"},
        {"http://[1:2:3:4:5:6:7::]/", NULL, "http://[1:2:3:4:5:6:7:0]/"},
        {"http://[::2:3:4:5:6:7:8]/", NULL, "http://[0:2:3:4:5:6:7:8]/"},
        {"http://[::FFFF:192.0.2.1]/", NULL, "http://[::ffff:c000:201]/"},
        {"http://[1:2:3:4:5:6:7:8::]/", NULL, NULL},
        {"http://[::1::]/", NULL, NULL},
        {"http://[:1]/", NULL, NULL},
        {"http://[1:]/", NULL, NULL},
        {"http://[12345::]/", NULL, NULL},
        {"http://[::1.2.3]/", NULL, NULL},
        {"http://[::1.2.3.04]/", NULL, NULL},
        {"http://[::1.2.3.4.5]/", NULL, NULL},
        {"http://[::1.2.3.256]/", NULL, NULL},
        {"http://[1:2:3:4:5:6:7:1.2.3.4]/", NULL, NULL},
        {"http://[::1%eth0]/", NULL, NULL},
        {"http://[]/", NULL, NULL},
        {"http://[::1/", NULL, NULL},
        {"http://[::1]x/", NULL, NULL},
        {"non-special://[::1]:8/x", NULL, "non-special://[::1]:8/x"},
    };
    RUN(cases);
}

static void takes_names_in_any_script(void **state)
{
    static const struct parse_case cases[] = {
        {"http://B\xC3\x9C"
         "CHER.example/",
         NULL, "http://xn--bcher-kva.example/"},
        {"http://fa\xC3\x9F.de/", NULL, "http://xn--fa-hia.de/"},
        {"http://\xE6\x97\xA5\xE6\x9C\xAC\xE8\xAA\x9E\xE3\x80\x82\xEF\xBC\xAA\xEF\xBC\xB0/", NULL,
         "http://xn--wgv71a119e.jp/"},
        {"http://i\xE2\x9D\xA4\xEF\xB8\x8F.ws/", NULL, "http://xn--i-7iq.ws/"},
        {"http://\xF0\x9F\x92\xA9.la/", NULL, "http://xn--ls8h.la/"},
        {"http://a\xE2\x80\xA0--/", NULL, "http://xn--a---kp0a/"},
        {"http://-\xE2\x80\xA0/", NULL, "http://xn----xhn/"},
        {"http://-x.\xC3\x9F/", NULL, "http://-x.xn--zca/"},
        {"http://ab--c.\xC3\x9F/", NULL, "http://ab--c.xn--zca/"},
        {"http://x..\xC3\x9F/", NULL, "http://x..xn--zca/"},
        {"http://xn--zca.\xC3\x9F/", NULL, "http://xn--zca.xn--zca/"},
        {"http://xn--n3h.\xC3\x9F/", NULL, "http://xn--n3h.xn--zca/"},
        {"http://xn--a.\xC3\x9F/", NULL, NULL},
        {"http://xn--te\xC5\xA1la/", NULL, NULL},
        {"http://xn--a/", NULL, "http://xn--a/"},
        {"http://xn--a-yoc/", NULL, "http://xn--a-yoc/"},
        {"http://a\xC2\xAD"
         "b/",
         NULL, "http://ab/"},
        {"http://\xC2\xAD/", NULL, NULL},
        {"http://\xEF\xBF\xBD.com/", NULL, NULL},
        {"http://a\xFF.com/", NULL, NULL},
        {"http://\xE2\x80\x8D.example/", NULL, NULL},
        {"http://\xD9\x8A"
         "a/",
         NULL, NULL},
        {"http://\xD9\x8A./", NULL, "http://xn--mhb./"},
        {"http://1.\xD9\x8A/", NULL, NULL},
        {"http://a1.\xD9\x8A/", NULL, "http://a1.xn--mhb/"},
        {"http://\xE0\xB7\x81\xE0\xB7\x8A\xE2\x80\x8D\xE0\xB6\xBB\xE0\xB7\x93/", NULL, "http://xn--10cl1a0b660p/"},
        {"http://\xD9\x86\xD8\xA7\xD9\x85\xD9\x87\xE2\x80\x8C\xD8\xA7\xDB\x8C/", NULL, "http://xn--mgba3gch31f060k/"},
        {"http://\xEF\xBC\x85\xEF\xBC\x94\xEF\xBC\x91.com/", NULL, NULL},
        {"http://%C3%9F.de/", NULL, "http://xn--zca.de/"},
        {"http://a%00\xC3\x9F/", NULL, NULL},
        {"sc://\xC3\x9F/", NULL, "sc://%C3%9F/"},
    };
    RUN(cases);
}

static void keeps_drives_and_hosts_of_file_urls(void **state)
{
    static const struct parse_case cases[] = {
        {"/x", "file:///C:/a/b", "file:///C:/x"},
        {"..", "file:///C:/", "file:///C:/"},
        {"../../x", "file:///C:/a/b", "file:///C:/x"},
        {"D|", "file:///C:/a/b", "file:///D:"},
        {"D|x", "file:///C:/a/b", "file:///C:/a/D|x"},
        {"/D:/y", "file:///C:/a/b", "file:///D:/y"},
        {"//h/D|/y", "file:///C:/a", "file://h/D:/y"},
        {"//D|/y", "file:///C:/a", "file:///D:/y"},
        {"//LOCALHOST/y", "file:///C:/a", "file:///y"},
        {"?q", "file://h/a/b?x#y", "file://h/a/b?q"},
        {"#f", "file://h/a/b?x#y", "file://h/a/b?x#f"},
        {"", "file://h/a/b?x#y", "file://h/a/b?x"},
        {"x", "file://h/a/b", "file://h/a/x"},
        {"/x", "file://h/C:/b", "file://h/C:/x"},
        {"file:", "file://h/a/b?q", "file://h/a/b?q"},
        {"file:\\\\h\\a\\b", NULL, "file://h/a/b"},
        {"file:x", NULL, "file:///x"},
        {"file://h:80/", NULL, NULL},
        {"file://u@h/", NULL, NULL},
        {"file:///a/../..", NULL, "file:///"},
        {"file:a:x/..", NULL, "file:///"},
    };
    RUN(cases);
}

static void follows_the_standard_off_the_beaten_path(void **state)
{
    static const struct parse_case cases[] = {
        {"non-spec:/..", NULL, "non-spec:/"},
        {"non-spec:/..//p", NULL, "non-spec:/.//p"},
        {"x", "non-spec:/.//p", "non-spec:/.//x"},
        {"..", "non-spec:/.//p", "non-spec:/"},
        {"?q", "non-spec:/.//p", "non-spec:/.//p?q"},
        {"//h", "non-spec:/.//p", "non-spec://h"},
        {"///h", "non-spec:/p", "non-spec:///h"},
        {"a: b  ?q", NULL, "a: b %20?q"},
        {"a:b  ", NULL, "a:b"},
        {"#f", "a:b ?q#x", "a:b%20?q#f"},
        {"x#f", "a:b", NULL},
        {"", "a:b", NULL},
        {"x", NULL, NULL},
        {"", NULL, NULL},
        {"http:x", "http://h/a/b", "http://h/a/x"},
        {"http:/x", "http://h/a/b", "http://h/x"},
        {"http:x", "https://h/a/b", "http://x/"},
        {"http:\\\\h\\..\\x", NULL, "http://h/x"},
        {"\\\\h2\\p", "http://h/a", "http://h2/p"},
        {"///h2/p", "http://h/a", "http://h2/p"},
        {"HtTp://H/", NULL, "http://h/"},
        {"http://u@p@h/", NULL, "http://u%40p@h/"},
        {"http://u:p:q@h/", NULL, "http://u:p%3Aq@h/"},
        {"http://:@h/", NULL, "http://h/"},
        {"http://:p@h/", NULL, "http://:p@h/"},
        {"http://u@/", NULL, NULL},
        {"http://@/x@y", NULL, NULL},
        {"http://h:80/", NULL, "http://h/"},
        {"http://h:0443/", NULL, "http://h:443/"},
        {"http://h:/x", NULL, "http://h/x"},
        {"http://h:65536/", NULL, NULL},
        {"http://h:8a/", NULL, NULL},
        {"http://h:-1/", NULL, NULL},
        {"http://:8/", NULL, NULL},
        {"sc://:8/", NULL, NULL},
        {"sc://h:000080/", NULL, "sc://h:80/"},
        {"http://a b/", NULL, NULL},
        {"http://a%20b/", NULL, NULL},
        {"http://a%41b/", NULL, "http://aab/"},
        {"http://a_b-/", NULL, "http://a_b-/"},
        {"http://ho\tst/p\na\rth", NULL, "http://host/path"},
        {"http://h/%2e/%2E%2e/.%2e/a", NULL, "http://h/a"},
        {"http://h/a/./b/..", NULL, "http://h/a/"},
        {"http://h/...", NULL, "http://h/..."},
        {"http://h/a^b`c{d}\"", NULL, "http://h/a%5Eb%60c%7Bd%7D%22"},
        {"http://h/?a'b\"<>", NULL, "http://h/?a%27b%22%3C%3E"},
        {"sc://h/?a'b", NULL, "sc://h/?a'b"},
        {"http://h/#a`b <", NULL, "http://h/#a%60b%20%3C"},
        {"http://h/\xFF\xC3", NULL, "http://h/%EF%BF%BD%EF%BF%BD"},
        {"http://h?", NULL, "http://h/?"},
        {"http://h#", NULL, "http://h/#"},
        {"?", "http://h/a?b#c", "http://h/a?"},
        {"javascript:alert(1)", "http://h/", "javascript:alert(1)"},
        {"mailto:a@b", "http://h/", "mailto:a@b"},
        {"1a:b", "http://h/x/", "http://h/x/1a:b"},
    };
    RUN(cases);
}

static void fills_in_every_part(void **state)
{
    struct arena a;
    struct url u;
    arena_init(&a);
    CHECK_STATUS("parse", url_parse(&a, SPAN("https://us%65r:pw@Host.example:8443/p/a?q=1#frag"), NULL, &u), ST_OK);
    CHECK_SPAN("scheme", u.scheme, SPAN("https"));
    CHECK_SPAN("username", u.username, SPAN("us%65r"));
    CHECK_SPAN("password", u.password, SPAN("pw"));
    CHECK_SPAN("host", u.host, SPAN("host.example"));
    CHECK_SPAN("path", u.path, SPAN("/p/a"));
    CHECK_SPAN("query", u.query, SPAN("q=1"));
    CHECK_SPAN("fragment", u.fragment, SPAN("frag"));
    assert_int_equal(u.port, 8443);
    assert_true(u.has_explicit_port && u.has_host && u.has_query && u.has_fragment && u.is_special);
    CHECK_SPAN("site", url_site(&a, &u), SPAN("https://host.example:8443"));
    CHECK_SPAN("target", url_request_target(&u), SPAN("/p/a?q=1"));
    CHECK_STATUS("plain", url_parse(&a, SPAN("http://h.example:80/?"), NULL, &u), ST_OK);
    CHECK_SPAN("plain site", url_site(&a, &u), SPAN("http://h.example"));
    assert_ptr_equal(url_site(&a, &u).p, u.href.p);
    CHECK_SPAN("plain target", url_request_target(&u), SPAN("/?"));
    assert_int_equal(u.port, 80);
    assert_false(u.has_explicit_port);
    CHECK_STATUS("mail", url_parse(&a, SPAN("mailto:x"), NULL, &u), ST_OK);
    assert_true(!u.has_host && u.has_opaque_path && !u.is_special && u.port == -1 && !url_is_http(&u));
    CHECK_STATUS("file", url_parse(&a, SPAN("file:///x"), NULL, &u), ST_OK);
    assert_true(u.has_host && u.is_special && u.port == -1 && !url_is_http(&u));
    arena_done(&a);
}

static void refuses_input_over_the_ceiling(void **state)
{
    struct arena a;
    struct url u, base;
    size_t n = URL_INPUT_MAX + 1;
    char *text = malloc(n);
    arena_init(&a);
    memset(text, '<', n);
    memcpy(text, "http://h/", 9);
    CHECK_STATUS("one byte over", url_parse(&a, span_of(text, n), NULL, &u), ST_LIMIT);
    CHECK_STATUS("at the ceiling", url_parse(&a, span_of(text, n - 1), NULL, &base), ST_OK);
    text[n - 1] = '/';
    CHECK_STATUS("base and input", url_parse(&a, span_of(text + 9, n - 9), &base, &u), ST_OK);
    base = u;
    CHECK_STATUS("long base, long input", url_parse(&a, span_of(text + 9, n - 9), &base, &u), ST_LIMIT);
    memset(text, 'a', n);
    text[n - 2] = '/';
    CHECK_STATUS("long base, plain input", url_parse(&a, span_of(text, n - 1), &base, &u), ST_OK);
    base = u;
    CHECK_STATUS("longer base, plain input", url_parse(&a, span_of(text, n - 1), &base, &u), ST_LIMIT);
    free(text);
    arena_done(&a);
}

/* ---- normalisation ---- */

static void normalises_with_the_default_list(void **state)
{
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"http://h", "http://h/"},
        {"http://u:p@h:81/a", "http://h:81/a"},
        {"http://h/a#f", "http://h/a"},
        {"http://h/a?#f", "http://h/a"},
        {"http://h/%7euser/%41%2f%c3%a9", "http://h/~user/A%2F%C3%A9"},
        {"http://h/100%", "http://h/100%25"},
        {"http://h/%%36%31", "http://h/%2561"},
        {"http://h/?q=%zz%2", "http://h/?q=%25zz%252"},
        {"http://h/?utm_source=x&id=3&UTM_Medium=y", "http://h/?id=3"},
        {"http://h/?utm_source=x", "http://h/"},
        {"http://h/?%75tm_source=x&a", "http://h/?a"},
        {"http://h/?a&fbclid=1&gclid=2&msclkid=3&b&_ga=4", "http://h/?a&b"},
        {"http://h/?PHPSESSID=0123&a=1", "http://h/?a=1"},
        {"http://h/?ASPSESSIONIDQABC=1&x", "http://h/?x"},
        {"http://h/?CFID=1&CFTOKEN=2&story=3", "http://h/?story=3"},
        {"http://h/?sid=1&session=2&sessionid=3&s=4&ref=5&id=6",
         "http://h/?sid=1&session=2&sessionid=3&s=4&ref=5&id=6"},
        {"http://h/?utm=1&_gap=2&xutm_source=3", "http://h/?utm=1&_gap=2&xutm_source=3"},
        {"http://h/?a=1&&b=2&", "http://h/?a=1&&b=2&"},
        {"http://h/?b=2&a=1", "http://h/?b=2&a=1"},
        {"http://h/a;jsessionid=AB12", "http://h/a"},
        {"http://h/a;JSESSIONID=AB12/b;v=1;jsessionid=x;w=2?q", "http://h/a/b;v=1;w=2?q"},
        {"http://h/;jsessionid=1", "http://h/"},
        {"http://h/a;jsessionid", "http://h/a;jsessionid"},
        {"http://h/..;jsessionid=1/a", "http://h/..;jsessionid=1/a"},
        {"http://h/a;v=1/b", "http://h/a;v=1/b"},
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct url u;
        CHECK_STATUS(cases[i].in, url_parse(&a, span_str(cases[i].in), NULL, &u), ST_OK);
        CHECK_STATUS(cases[i].in, url_normalise(&a, &u, &url_norm_default, 2048, &u), ST_OK);
        CHECK_SPAN(cases[i].in, u.href, span_str(cases[i].out));
        CHECK(cases[i].in, u.href.p[u.href.n] == '\0');
    }
    arena_done(&a);
}

static void sorts_parameters_only_when_asked(void **state)
{
    struct arena a;
    struct url u, sorted;
    arena_init(&a);
    CHECK_STATUS("parse", url_parse(&a, SPAN("http://h/?b=2&a=2&b=1&a=1&c"), NULL, &u), ST_OK);
    CHECK_STATUS("sort", url_normalise(&a, &u, &sorted_only, 2048, &sorted), ST_OK);
    CHECK_SPAN("by name, values in place", sorted.href, SPAN("http://h/?a=2&a=1&b=2&b=1&c"));
    arena_done(&a);
}

static void drops_by_the_globs_it_is_given(void **state)
{
    static const struct span globs[] = {{"*_tag", 5}, {"q", 1}, {"a?c", 3}};
    const struct url_norm norm = {globs, 3, false};
    struct arena a;
    struct url u;
    arena_init(&a);
    CHECK_STATUS("parse", url_parse(&a, SPAN("http://h/p;Q=1?x_tag=1&Q=2&qq=3&ABC=4&utm_a=5&=6"), NULL, &u), ST_OK);
    CHECK_STATUS("normalise", url_normalise(&a, &u, &norm, 2048, &u), ST_OK);
    CHECK_SPAN("what is left", u.href, SPAN("http://h/p?qq=3&utm_a=5&=6"));
    arena_done(&a);
}

static void normalisation_has_limits(void **state)
{
    struct arena a;
    struct url u, same;
    arena_init(&a);
    CHECK_STATUS("ftp", url_parse(&a, SPAN("ftp://h/"), NULL, &u), ST_OK);
    CHECK_STATUS("ftp", url_normalise(&a, &u, &url_norm_default, 2048, &u), ST_UNSUPPORTED);
    CHECK_STATUS("mailto", url_parse(&a, SPAN("mailto:a"), NULL, &u), ST_OK);
    CHECK_STATUS("mailto", url_normalise(&a, &u, &url_norm_default, 2048, &u), ST_UNSUPPORTED);
    CHECK_STATUS("long", url_parse(&a, SPAN("http://h/12345"), NULL, &u), ST_OK);
    CHECK_STATUS("one over", url_normalise(&a, &u, &url_norm_default, 13, &same), ST_LIMIT);
    CHECK_STATUS("exact", url_normalise(&a, &u, &url_norm_default, 14, &same), ST_OK);
    assert_ptr_equal(same.href.p, u.href.p);
    arena_done(&a);
}

/* ---- properties, over every vector and over random text ---- */

static void check_same(const char *label, const struct url *x, const struct url *y)
{
    CHECK_SPAN(label, x->href, y->href);
    CHECK_SPAN(label, x->scheme, y->scheme);
    CHECK_SPAN(label, x->username, y->username);
    CHECK_SPAN(label, x->password, y->password);
    CHECK_SPAN(label, x->host, y->host);
    CHECK_SPAN(label, x->path, y->path);
    CHECK_SPAN(label, x->query, y->query);
    CHECK_SPAN(label, x->fragment, y->fragment);
    CHECK(label, x->port == y->port && x->has_explicit_port == y->has_explicit_port && x->has_host == y->has_host &&
                     x->has_query == y->has_query && x->has_fragment == y->has_fragment &&
                     x->is_special == y->is_special && x->has_opaque_path == y->has_opaque_path);
}

static void check_inside(const char *label, const struct url *u)
{
    const struct span parts[] = {u->scheme, u->username, u->password, u->host, u->path, u->query, u->fragment};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        CHECK(label, parts[i].p >= u->href.p && parts[i].p + parts[i].n <= u->href.p + u->href.n);
    CHECK(label, u->href.p[u->href.n] == '\0');
}

static void check_normal_form(struct arena *a, const char *label, const struct url *u, const struct url_norm *norm)
{
    struct url once, twice, again;
    if (url_normalise(a, u, norm, URL_HREF_MAX * 3, &once) != ST_OK)
        return;
    CHECK_STATUS(label, url_normalise(a, &once, norm, URL_HREF_MAX * 3, &twice), ST_OK);
    check_same(label, &once, &twice);
    check_inside(label, &once);
    CHECK_STATUS(label, url_parse_slow(a, once.href, NULL, &again), ST_OK);
    check_same(label, &once, &again);
}

/* True when the fast path answered. */
static bool check_properties(struct arena *a, struct span input, const struct url *base)
{
    char label[LABEL_BYTES];
    struct url slow, fast, again;
    label_of(label, input, base ? base->href : SPAN(""));
    status st = url_parse_slow(a, input, base, &slow), quick = url_parse_fast(a, input, base, &fast);
    if (quick != ST_AGAIN) {
        CHECK_STATUS(label, quick, st);
        check_same(label, &fast, &slow);
        check_inside(label, &fast);
    }
    if (st != ST_OK)
        return quick != ST_AGAIN;
    check_inside(label, &slow);
    CHECK_STATUS(label, url_parse_slow(a, slow.href, NULL, &again), ST_OK);
    check_same(label, &slow, &again);
    check_normal_form(a, label, &slow, &url_norm_default);
    check_normal_form(a, label, &slow, &sorted_only);
    return quick != ST_AGAIN;
}

static void load_corpus(void)
{
    static const char *const files[] = {"crawler-commons-url-resolve.csv", "crawler-commons-weirdToNormalizedUrls.csv",
                                        "crawler-commons-invalidUrls.csv"};
    json_t *all = load_wpt(), *c;
    size_t i;
    json_array_foreach(all, i, c) if (json_is_object(c)) add_to_corpus(json_span(c, "input"), json_span(c, "base"));
    json_decref(all);
    for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        struct csv csv = csv_open(files[i]);
        struct span f[3];
        while (csv_row(&csv, &corpus_arena, f))
            add_to_corpus(f[0], i == 0 && f[1].n ? f[1] : (struct span){NULL, 0});
        free((char *)csv.text.p);
    }
}

static const char *const fast_bases[] = {
    "http://example.org/foo/bar?q=1#f",
    "https://h.example:8443/a/b/c/",
    "http://u:p@h/x",
    "https://h/",
    "http://h//a//b",
    "http://[::1]/a?",
    "file:///C:/a/b",
    "non-spec:/.//p/q?r",
    "mailto:x",
};
#define FAST_BASES (sizeof(fast_bases) / sizeof(fast_bases[0]))

static void properties_hold_over_every_vector(void **state)
{
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < corpus_n; i++) {
        struct url base;
        arena_reset(&a);
        bool has_base = corpus[i].base.p && url_parse(&a, corpus[i].base, NULL, &base) == ST_OK;
        check_properties(&a, corpus[i].input, has_base ? &base : NULL);
        for (size_t b = 0; b < FAST_BASES; b++) {
            CHECK_STATUS(fast_bases[b], url_parse(&a, span_str(fast_bases[b]), NULL, &base), ST_OK);
            check_properties(&a, corpus[i].input, &base);
        }
    }
    arena_done(&a);
}

static void properties_hold_over_random_references(void **state)
{
    static const char *const tokens[] = {
        "a",      "b1",    "/",     "/",     "/",   "..",    ".",     "../",     "./",
        "?",      "#",     "=",     "&",     "%41", "%2e",   "%",     "%c3",     "http://",
        "https:", "//",    "h.com", "H.com", ":80", ":8080", ":443",  "@",       ":",
        ";",      " ",     "\t",    "<",     "'",   "^",     "\\",    "|",       "\xC3\xA9",
        "x_-",    "~",     "1.2",   "0x1",   "5",   "[::1]", "utm_a", "fbclid=", ";jsessionid=1",
        "xn--a",  ".html", "é",     "*",     "+",   "{",     "}",     "`",       "\"",
        "\xFF",   "",      "file:", "a:",
    };
    struct arena a;
    struct rng r;
    size_t fast = 0;
    rng_seed(&r, 20240607);
    arena_init(&a);
    for (unsigned i = 0; i < 60000; i++) {
        char text[256];
        struct url base;
        size_t n = 0;
        arena_reset(&a);
        for (uint64_t k = rng_below(&r, 9); k > 0; k--) {
            const char *token = tokens[rng_below(&r, sizeof(tokens) / sizeof(tokens[0]))];
            memcpy(text + n, token, strlen(token));
            n += strlen(token);
        }
        const char *base_text = fast_bases[rng_below(&r, FAST_BASES)];
        CHECK_STATUS(base_text, url_parse(&a, span_str(base_text), NULL, &base), ST_OK);
        fast += check_properties(&a, span_of(text, n), rng_below(&r, 8) ? &base : NULL);
    }
    CHECK("the fast path took part", fast > 5000);
    arena_done(&a);
}

static void the_fast_path_takes_ordinary_links(void **state)
{
    static const char *const links[] = {
        "/wiki/Main_Page",
        "../img/a.png?x=1#top",
        "page.html",
        "?p=2",
        "#s",
        "//cdn.example.com/x.js",
        "https://example.com/a",
        "http://a-b.example:8080",
        "./a/../b",
        "",
        "https://en.wikipedia.org/wiki/Caf%C3%A9?action=edit&section=2#x",
    };
    struct arena a;
    struct url base, u;
    arena_init(&a);
    CHECK_STATUS("base", url_parse(&a, SPAN("https://example.org/a/b"), NULL, &base), ST_OK);
    for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
        CHECK_STATUS(links[i], url_parse_fast(&a, span_str(links[i]), &base, &u), ST_OK);
    arena_done(&a);
}

/* ---- domains ---- */

static void finds_the_registered_domain(void **state)
{
    static const struct {
        const char *host, *domain;
    } cases[] = {
        {"a.b.example.co.uk", "example.co.uk"},
        {"example.com", "example.com"},
        {"www.example.com", "example.com"},
        {"www.example.com.", "example.com."},
        {"com", "com"},
        {"co.uk", "co.uk"},
        {"localhost", "localhost"},
        {"192.0.2.1", "192.0.2.1"},
        {"[2001:db8::1]", "[2001:db8::1]"},
        {"user.github.io", "user.github.io"},
        {"a.user.github.io", "user.github.io"},
        {"www.xn--85x722f.xn--55qx5d.cn", "xn--85x722f.xn--55qx5d.cn"},
        {"a.b.no-such-tld", "b.no-such-tld"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        CHECK_SPAN(cases[i].host, domain_registered(span_str(cases[i].host)), span_str(cases[i].domain));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parses_as_the_web_platform_tests_say),
        cmocka_unit_test(resolves_as_crawler_commons),
        cmocka_unit_test(normalises_as_crawler_commons_but_for_the_listed_rows),
        cmocka_unit_test(refuses_what_crawler_commons_refuses),
        cmocka_unit_test(parses_addresses_in_every_spelling),
        cmocka_unit_test(takes_names_in_any_script),
        cmocka_unit_test(keeps_drives_and_hosts_of_file_urls),
        cmocka_unit_test(follows_the_standard_off_the_beaten_path),
        cmocka_unit_test(fills_in_every_part),
        cmocka_unit_test(refuses_input_over_the_ceiling),
        cmocka_unit_test(normalises_with_the_default_list),
        cmocka_unit_test(sorts_parameters_only_when_asked),
        cmocka_unit_test(drops_by_the_globs_it_is_given),
        cmocka_unit_test(normalisation_has_limits),
        cmocka_unit_test(properties_hold_over_every_vector),
        cmocka_unit_test(properties_hold_over_random_references),
        cmocka_unit_test(the_fast_path_takes_ordinary_links),
        cmocka_unit_test(finds_the_registered_domain),
    };
    arena_init(&corpus_arena);
    load_corpus();
    int failed = cmocka_run_group_tests_name("url", tests, NULL, NULL);
    arena_done(&corpus_arena);
    return failed;
}
