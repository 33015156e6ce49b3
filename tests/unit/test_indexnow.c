#include "test.h"

#include "base/buf.h"
#include "web/indexnow.h"

#define KEY "0123456789abcdef"
#define BODY(host, key, more, urls) "{\"host\":\"" host "\",\"key\":\"" key "\"" more ",\"urlList\":[" urls "]}"
#define A "\"https://a.example/x\""

/* What was read, on a line; or why not. */
static void show(struct buf *out, status st, const struct indexnow *n, const char *why)
{
    buf_clear(out);
    if (st != ST_OK) {
        buf_printf(out, "%s: %s", status_name(st), why);
        return;
    }
    buf_printf(out, "%.*s %.*s %.*s", SPAN_ARG(n->host), SPAN_ARG(n->key), SPAN_ARG(n->key_url));
    for (size_t i = 0; i < n->url_count; i++)
        buf_printf(out, " %.*s", SPAN_ARG(n->urls[i].href));
}

static void reads_what_sites_post(void **state)
{
    static const struct {
        const char *label, *body, *want;
    } cases[] = {
        {"one", BODY("a.example", KEY, "", A), "a.example " KEY " https://a.example/" KEY ".txt https://a.example/x"},
        {"several, in our form", BODY("A.Example", KEY, "", A ",\"https://a.example/y?b#c\",\"http://A.example/%7ez\""),
         "a.example " KEY " https://a.example/" KEY
         ".txt https://a.example/x https://a.example/y?b http://a.example/~z"},
        {"a port", BODY("a.example:8080", KEY, "", "\"http://a.example:8080/x\""),
         "a.example " KEY " http://a.example:8080/" KEY ".txt http://a.example:8080/x"},
        {"a port that only the URLs have", BODY("a.example", KEY, "", "\"http://a.example:8080/x\""),
         "a.example " KEY " http://a.example:8080/" KEY ".txt http://a.example:8080/x"},
        {"a place for the key",
         BODY("a.example", KEY, ",\"keyLocation\":\"https://a.example/f/k.txt\"", "\"https://a.example/f/x\""),
         "a.example " KEY " https://a.example/f/k.txt https://a.example/f/x"},
        {"other members", BODY("a.example", KEY, ",\"more\":1,\"null\":null", A),
         "a.example " KEY " https://a.example/" KEY ".txt https://a.example/x"},
        {"brackets and commas in a URL", BODY("a.example", KEY, "", "\"https://a.example/x?[{,}]\\\\\""),
         "a.example " KEY " https://a.example/" KEY ".txt https://a.example/x?[{,}]\\"},
        {"nothing", "", "invalid: the body is one JSON object with host, key, urlList and perhaps keyLocation"},
        {"no object", "[]", "invalid: the body is one JSON object with host, key, urlList and perhaps keyLocation"},
        {"lists in lists", BODY("a.example", KEY, "", "[" A "]"),
         "invalid: the body is one JSON object with host, key, urlList and perhaps keyLocation"},
        {"not closed", "{\"host\":\"a.example\",\"key\":\"" KEY "\",\"urlList\":[" A,
         "invalid: the body is no JSON object"},
        {"no host", "{\"key\":\"" KEY "\",\"urlList\":[" A "]}", "invalid: host, key and urlList must be there"},
        {"no key", "{\"host\":\"a.example\",\"urlList\":[" A "]}", "invalid: host, key and urlList must be there"},
        {"no list", "{\"host\":\"a.example\",\"key\":\"" KEY "\"}", "invalid: host, key and urlList must be there"},
        {"an empty list", BODY("a.example", KEY, "", ""), "invalid: host, key and urlList must be there"},
        {"numbers", BODY("a.example", KEY, "", "1"), "invalid: urlList is not a list of texts"},
        {"no URL", BODY("a.example", KEY, "", "\"x y\""), "refused: a URL is no http or https URL"},
        {"not of the web", BODY("a.example", KEY, "", "\"ftp://a.example/\""),
         "refused: a URL is no http or https URL"},
        {"another host", BODY("a.example", KEY, "", A ",\"https://b.example/\""), "refused: a URL is of another host"},
        {"another host first", BODY("b.example", KEY, "", A), "refused: a URL is of another host"},
        {"another port", BODY("a.example", KEY, "", A ",\"https://a.example:444/\""),
         "refused: a URL is of another host"},
        {"a host with a path", BODY("a.example/x", KEY, "", A), "refused: a URL is of another host"},
        {"a short key", BODY("a.example", "0123456", "", A), "refused: a key is 8 to 128 letters, digits and dashes"},
        {"a key that is a path", BODY("a.example", "../../passwd", "", A),
         "refused: a key is 8 to 128 letters, digits and dashes"},
        {"the key elsewhere", BODY("a.example", KEY, ",\"keyLocation\":\"https://b.example/k.txt\"", A),
         "refused: keyLocation is on another host"},
        {"the key at another port", BODY("a.example", KEY, ",\"keyLocation\":\"https://a.example:444/k.txt\"", A),
         "refused: keyLocation is on another host"},
        {"beside the key's folder", BODY("a.example", KEY, ",\"keyLocation\":\"https://a.example/f/k.txt\"", A),
         "refused: a URL is not below the folder of the key file"},
        {"out of the key's folder",
         BODY("a.example", KEY, ",\"keyLocation\":\"https://a.example/f/k.txt\"", "\"https://a.example/f/../x\""),
         "refused: a URL is not below the folder of the key file"},
    };
    struct buf got = {0};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct arena a;
        struct indexnow n;
        const char *why = "";
        arena_init(&a);
        status st = indexnow_read(&a, span_str(cases[i].body), &n, &why);
        show(&got, st, &n, why);
        CHECK_SPAN(cases[i].label, buf_span(&got), span_str(cases[i].want));
        arena_done(&a);
    }
    buf_done(&got);
}

static void reads_the_parameters_of_a_get(void **state)
{
    static const struct {
        const char *label, *url, *key, *location, *want;
    } cases[] = {
        {"one", "https://a.example/x", KEY, "", "a.example " KEY " https://a.example/" KEY ".txt https://a.example/x"},
        {"its place", "https://a.example/f/x", KEY, "https://a.example/f/k",
         "a.example " KEY " https://a.example/f/k https://a.example/f/x"},
        {"no key", "https://a.example/x", "", "", "invalid: url and key must be there"},
        {"no URL", "", KEY, "", "invalid: url and key must be there"},
        {"nonsense", "x", KEY, "", "refused: a URL is no http or https URL"},
        {"a place that is none", "https://a.example/x", KEY, "k.txt", "refused: a URL is no http or https URL"},
    };
    struct buf got = {0};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct arena a;
        struct indexnow n;
        const char *why = "";
        arena_init(&a);
        status st =
            indexnow_of(&a, span_str(cases[i].url), span_str(cases[i].key), span_str(cases[i].location), &n, &why);
        show(&got, st, &n, why);
        CHECK_SPAN(cases[i].label, buf_span(&got), span_str(cases[i].want));
        arena_done(&a);
    }
    buf_done(&got);
}

static void put_body(struct buf *b, size_t urls, size_t length)
{
    buf_clear(b);
    buf_puts(b, "{\"host\":\"a.example\",\"key\":\"" KEY "\",\"urlList\":[");
    for (size_t i = 0; i < urls; i++) {
        buf_printf(b, "%s\"https://a.example/%zu-", i ? "," : "", i);
        for (size_t k = 0; k < length; k++)
            buf_putc(b, 'x');
        buf_puts(b, "\"");
    }
    buf_puts(b, "]}");
}

static void everything_has_a_ceiling(void **state)
{
    static const struct {
        const char *label;
        size_t urls, length;
        status want;
    } cases[] = {
        {"as many as may be", INDEXNOW_URLS_MAX, 100, ST_OK}, {"one more", INDEXNOW_URLS_MAX + 1, 10, ST_LIMIT},
        {"many more", 2 * INDEXNOW_URLS_MAX, 10, ST_LIMIT},   {"a long one", 1, INDEXNOW_URL_MAX - 20, ST_OK},
        {"a longer one", 1, INDEXNOW_URL_MAX, ST_LIMIT},      {"a large body", INDEXNOW_URLS_MAX, 300, ST_LIMIT},
    };
    struct buf body = {0};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct arena a;
        struct indexnow n;
        const char *why = "";
        arena_init(&a);
        put_body(&body, cases[i].urls, cases[i].length);
        CHECK_STATUS(cases[i].label, indexnow_read(&a, buf_span(&body), &n, &why), cases[i].want);
        CHECK(cases[i].label, cases[i].want != ST_OK || n.url_count == cases[i].urls);
        arena_done(&a);
    }
    buf_done(&body);
}

static void a_key_file_has_the_key_and_nothing_else(void **state)
{
    static const struct {
        const char *label, *file;
        bool want;
    } cases[] = {
        {"it", KEY, true},
        {"a line", KEY "\r\n", true},
        {"with a mark", "\xef\xbb\xbf" KEY "\n", true},
        {"nothing", "", false},
        {"more", KEY "0", false},
        {"less", "0123456789abcde", false},
        {"two", KEY "\n" KEY, false},
        {"a page", "<p>" KEY, false},
        {"another", "fedcba9876543210", false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        CHECK(cases[i].label, indexnow_is_key(span_str(cases[i].file), SPAN(KEY)) == cases[i].want);
    CHECK("no key", !indexnow_is_key(SPAN(""), SPAN("")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_sites_post),
        cmocka_unit_test(reads_the_parameters_of_a_get),
        cmocka_unit_test(everything_has_a_ceiling),
        cmocka_unit_test(a_key_file_has_the_key_and_nothing_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
