#include "test.h"

#include <sys/stat.h>

#include "test_folder.h"

#include "codec/password.h"
#include "coord/admin_internal.h"
#include "io/clock.h"
#include "io/http_call.h"
#include "mobile/program.h"
#include "store/file.h"

/* ---- fields; pure ---- */

static void bytes_are_read_as_people_write_them(void **state)
{
    static const struct {
        const char *in;
        bool ok;
        uint64_t want;
    } cases[] = {{"0", true, 0},
                 {"5000", true, 5000},
                 {"10 GB", true, 10000000000},
                 {"10gb", true, 10000000000},
                 {"1.5 MB", true, 1500000},
                 {" 64MiB ", true, 64 << 20},
                 {"2 TiB", true, 2ull << 40},
                 {"9223372036854775807", true, INT64_MAX},
                 {"", false, 0},
                 {"-1", false, 0},
                 {"ten", false, 0},
                 {"1e9", false, 0},
                 {"0x10", false, 0},
                 {"1.2.3 MB", false, 0},
                 {". MB", false, 0},
                 {"10 XB", false, 0},
                 {"99999999999999999999", false, 0},
                 {"99999999 TB", false, 0},
                 {"nan", false, 0}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        uint64_t v = 77;
        CHECK(cases[i].in, bytes_parse(span_str(cases[i].in), &v) == cases[i].ok);
        CHECK(cases[i].in, v == (cases[i].ok ? cases[i].want : 77));
    }
}

static void durations_are_read_as_people_write_them(void **state)
{
    static const struct {
        const char *in;
        bool ok;
        int64_t want;
    } cases[] = {{"0", true, 0},
                 {"1500", true, 1500},
                 {"90 s", true, 90000},
                 {"15min", true, 900000},
                 {"12 h", true, 43200000},
                 {"2 days", true, 172800000},
                 {"1 week", true, 604800000},
                 {"", false, 0},
                 {"soon", false, 0},
                 {"-1 h", false, 0},
                 {"1 y", false, 0},
                 {"9999999999 days", false, 0}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        int64_t v = 77;
        CHECK(cases[i].in, duration_parse(span_str(cases[i].in), &v) == cases[i].ok);
        CHECK(cases[i].in, v == (cases[i].ok ? cases[i].want : 77));
    }
}

static void forms_are_decoded_and_capped(void **state)
{
    struct arena a;
    struct pairs p = {0};
    arena_init(&a);
    CHECK_STATUS("form", pairs_read_form(&a, SPAN("a=1&b=x+y%26z&c&a=2&d=%zz&=e"), &p), ST_OK);
    assert_int_equal(p.n, 6);
    CHECK_SPAN("first of two", pairs_get(&p, "a"), SPAN("1"));
    CHECK_SPAN("decoded", pairs_get(&p, "b"), SPAN("x y&z"));
    CHECK("there and empty", pairs_has(&p, "c") && pairs_get(&p, "c").n == 0);
    CHECK_SPAN("bad escape stays", pairs_get(&p, "d"), SPAN("%zz"));
    CHECK("not there", !pairs_has(&p, "e") && pairs_get(&p, "e").n == 0);
    struct buf many = {0};
    for (int i = 0; i <= ADMIN_PAIRS_MAX; i++)
        buf_puts(&many, "x=1&");
    CHECK_STATUS("too many", pairs_read_form(&a, buf_span(&many), &p), ST_LIMIT);
    buf_done(&many);
    arena_done(&a);
}

static void lines_lose_comments_and_blanks(void **state)
{
    struct arena a;
    struct span *lines;
    struct json_pair list[] = {{SPAN("seeds"), SPAN("# head\r\n https://a.example/ \r\n\r\n\nhttps://b.example/")},
                               {SPAN("other"), SPAN("https://no.example/")},
                               {SPAN("seeds"), SPAN("https://c.example/")}};
    struct pairs p = {list, 3};
    arena_init(&a);
    assert_int_equal(pairs_lines(&a, &p, "seeds", 100, &lines), 3);
    CHECK_SPAN("trimmed", lines[0], SPAN("https://a.example/"));
    CHECK_SPAN("of another field", lines[2], SPAN("https://c.example/"));
    assert_int_equal(pairs_lines(&a, &p, "none", 100, &lines), 0);
    arena_done(&a);
}

/* ---- a coordinator ---- */

struct house {
    struct coord *c;
    char base[64], token[64];
    struct http_caller *caller;
    struct http_answer ans;
    char cookie[128], csrf[64];
};

static void open_house(struct house *h)
{
    struct buf why = {0}, path = {0}, text = {0};
    struct coord_opts o = {.data_dir = test_folder(),
                           .addr = {4, {127, 0, 0, 1}},
                           .admin_addr = {4, {127, 0, 0, 1}},
                           .is_plain = true,
                           .allow_private = true,
                           .seed = 1,
                           .public_url = SPAN("https://orb.example"),
                           .version = SPAN("9.9")};
    *h = (struct house){0};
    status st = coord_new(&o, &h->c, &why);
    if (st != ST_OK)
        fail_msg("coord_new: %s: %s", status_name(st), buf_cstr(&why));
    buf_printf(&path, "%s/coord/admin.token", test_folder());
    CHECK_STATUS("token", file_read(buf_cstr(&path), 1000, &text), ST_OK);
    snprintf(h->base, sizeof(h->base), "http://127.0.0.1:%d", coord_admin_port(h->c));
    size_t at = span_search(buf_span(&text), SPAN("\"token\":\""), false) + 9;
    snprintf(h->token, sizeof(h->token), "%.22s", buf_cstr(&text) + at);
    CHECK("url is in the file", span_search(buf_span(&text), span_str(h->base), false) < text.n);
    CHECK_STATUS("caller", http_caller_new(&(struct http_caller_opts){.base = span_str(h->base)}, &h->caller), ST_OK);
    buf_done(&why);
    buf_done(&path);
    buf_done(&text);
}

static void close_house(struct house *h)
{
    http_answer_done(&h->ans);
    http_caller_free(h->caller);
    coord_free(h->c);
}

/* What a request brings along. */
enum { WITH_NOTHING = 0, WITH_TOKEN = 1, WITH_COOKIE = 2, WITH_CSRF = 4, AS_JSON = 8, AS_TEXT = 16 };

static int ask_more(struct house *h, const char *method, const char *target, struct span body, int with,
                    const char *header)
{
    char auth[128], cookie[160], csrf[96];
    struct span headers[6];
    size_t n = 0;
    snprintf(auth, sizeof(auth), "Authorization: Bearer %s", h->token);
    snprintf(cookie, sizeof(cookie), "Cookie: a=b; %s", h->cookie);
    snprintf(csrf, sizeof(csrf), "X-CSRF-Token: %s", h->csrf);
    if (with & WITH_TOKEN)
        headers[n++] = span_str(auth);
    if (with & WITH_COOKIE)
        headers[n++] = span_str(cookie);
    if (with & WITH_CSRF)
        headers[n++] = span_str(csrf);
    if (with & AS_JSON)
        headers[n++] = SPAN("Content-Type: application/json");
    if (with & AS_TEXT)
        headers[n++] = SPAN("Content-Type: text/plain");
    if (header)
        headers[n++] = span_str(header);
    struct http_call call = {.method = method,
                             .target = span_str(target),
                             .headers = headers,
                             .header_count = n,
                             .body = body,
                             .answer_max = 4u << 20,
                             .timeout_ms = 30000};
    status st = http_call(h->caller, &call, &h->ans);
    if (st != ST_OK)
        fail_msg("%s %s: %s", method, target, status_name(st));
    return h->ans.status;
}

static int get(struct house *h, const char *target, int with)
{
    return ask_more(h, "GET", target, SPAN(""), with, NULL);
}

static int post(struct house *h, const char *target, const char *form, int with)
{
    return ask_more(h, "POST", target, span_str(form), with, NULL);
}

static bool said(const struct house *h, const char *text)
{
    return span_search(buf_span(&h->ans.body), span_str(text), false) < h->ans.body.n;
}

#define EXPECT(h, label, code, want)                                                               \
    do {                                                                                           \
        int code_ = (code);                                                                        \
        if (code_ != (want))                                                                       \
            fail_msg("%s: %d, want %d: %.300s", (label), code_, (want), buf_cstr(&(h)->ans.body)); \
    } while (0)

/* Cookie and CSRF token of the answer to a login. */
static void keep_session(struct house *h)
{
    struct span set = http_answer_header(&h->ans, "Set-Cookie");
    struct span value = span_cut(set, 0, span_find(set, ';', 0));
    CHECK("cookie", value.n > 20 && value.n < sizeof(h->cookie));
    CHECK("hidden", span_search(set, SPAN("; HttpOnly; SameSite=Strict"), false) < set.n);
    snprintf(h->cookie, sizeof(h->cookie), "%.*s", SPAN_ARG(value));
    EXPECT(h, "page with the token", get(h, "/", WITH_COOKIE), 200);
    struct span body = buf_span(&h->ans.body), mark = SPAN("name=\"csrf\" value=\"");
    size_t at = span_search(body, mark, false);
    CHECK("csrf token in the page", at < body.n);
    snprintf(h->csrf, sizeof(h->csrf), "%.22s", body.p + at + mark.n);
}

static void first_admin(struct house *h)
{
    struct buf link = {0}, form = {0};
    CHECK("link", coord_admin_link(h->c, &link));
    struct span key = span_from(buf_span(&link), span_search(buf_span(&link), SPAN("key="), false) + 4);
    buf_printf(&form, "key=%.*s&name=ada&password=engine+number+1", SPAN_ARG(key));
    EXPECT(h, "setup", post(h, "/setup", buf_cstr(&form), 0), 200);
    keep_session(h);
    buf_done(&link);
    buf_done(&form);
}

static void strangers_get_nothing(void **state)
{
    static const struct {
        const char *method, *target;
        int want;
    } cases[] = {{"GET", "/", 303},
                 {"GET", "/agents/x", 303},
                 {"GET", "/api/v1/overview", 401},
                 {"GET", "/api/v1/people", 401},
                 {"GET", "/metrics", 401},
                 {"POST", "/api/v1/agents", 401},
                 {"POST", "/api/v1/update", 401},
                 {"POST", "/logout", 401},
                 {"GET", "/login", 200},
                 {"GET", "/setup?key=0123456789012345678901", 403},
                 {"GET", "/nowhere", 404},
                 {"GET", "/api/v1/nowhere", 404},
                 {"DELETE", "/api/v1/agents", 405},
                 {"GET", "/logout", 405}};
    struct house h;
    open_house(&h);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        EXPECT(&h, cases[i].target, ask_more(&h, cases[i].method, cases[i].target, SPAN(""), 0, NULL), cases[i].want);
    EXPECT(&h, "wrong token",
           ask_more(&h, "GET", "/api/v1/agents", SPAN(""), 0, "Authorization: Bearer AAAAAAAAAAAAAAAAAAAAAA"), 401);
    EXPECT(&h, "another name for this machine",
           ask_more(&h, "GET", "/login", SPAN(""), WITH_TOKEN, "Host: evil.example"), 421);
    EXPECT(&h, "our own name", ask_more(&h, "GET", "/login", SPAN(""), 0, "Host: orb.example"), 200);
    EXPECT(&h, "a page elsewhere",
           ask_more(&h, "POST", "/api/v1/agents", SPAN("name=x"), WITH_TOKEN, "Origin: http://evil.example"), 403);
    EXPECT(&h, "a page elsewhere, newer browser",
           ask_more(&h, "POST", "/api/v1/agents", SPAN("name=x"), WITH_TOKEN, "Sec-Fetch-Site: cross-site"), 403);
    close_house(&h);
}

static void bodies_are_capped_by_address_and_role(void **state)
{
    struct house h;
    struct buf big = {0};
    open_house(&h);
    buf_puts(&big, "name=x&place=");
    while (big.n <= ADMIN_BODY_MAX)
        buf_puts(&big, "0123456789abcdef");
    EXPECT(&h, "an agent with a long place", ask_more(&h, "POST", "/api/v1/agents", buf_span(&big), WITH_TOKEN, NULL),
           413);
    EXPECT(&h, "a long login", ask_more(&h, "POST", "/login", buf_span(&big), 0, NULL), 413);
    EXPECT(&h, "import takes more",
           ask_more(&h, "POST", "/api/v1/channels/import", buf_span(&big), WITH_TOKEN | AS_TEXT, NULL), 200);
    buf_done(&big);
    close_house(&h);
}

static void the_token_file_is_the_owners(void **state)
{
    struct house h;
    struct stat st;
    char path[TEST_PATH];
    open_house(&h);
    test_path(path, "coord/admin.token");
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    test_path(path, "coord/metrics.token");
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    struct span metrics = test_read_file(path);
    char header[128];
    snprintf(header, sizeof(header), "Authorization: Bearer %s", metrics.p);
    EXPECT(&h, "metrics", ask_more(&h, "GET", "/metrics", SPAN(""), 0, header), 200);
    CHECK("totals", said(&h, "orb_coordinator_info{version=\"9.9\"} 1\n"));
    EXPECT(&h, "and nothing else", ask_more(&h, "GET", "/api/v1/agents", SPAN(""), 0, header), 403);
    free((void *)(uintptr_t)metrics.p);
    close_house(&h);
}

static void the_first_link_works_once(void **state)
{
    struct house h;
    struct buf link = {0}, form = {0};
    open_house(&h);
    CHECK("link", coord_admin_link(h.c, &link));
    struct span key = span_from(buf_span(&link), span_search(buf_span(&link), SPAN("key="), false) + 4);
    buf_printf(&form, "key=%.*s&name=ada&password=short", SPAN_ARG(key));
    EXPECT(&h, "short password", post(&h, "/setup", buf_cstr(&form), 0), 400);
    CHECK("says how long", said(&h, "10 characters"));
    EXPECT(&h, "wrong key", post(&h, "/setup", "key=AAAAAAAAAAAAAAAAAAAAAA&name=eve&password=0123456789", 0), 403);
    buf_clear(&form);
    buf_printf(&form, "key=%.*s&name=ada&password=engine+number+1", SPAN_ARG(key));
    EXPECT(&h, "set", post(&h, "/setup", buf_cstr(&form), 0), 200);
    EXPECT(&h, "again", post(&h, "/setup", buf_cstr(&form), 0), 403);
    buf_clear(&link);
    CHECK("no more links", !coord_admin_link(h.c, &link));
    close_house(&h);
    /* People outlive the process, sessions and the token do not. */
    char old[64];
    snprintf(old, sizeof(old), "%s", h.token);
    open_house(&h);
    CHECK("no link", !coord_admin_link(h.c, &link));
    CHECK("another token", strcmp(old, h.token) != 0);
    EXPECT(&h, "login", post(&h, "/login", "name=ada&password=engine+number+1", 0), 200);
    keep_session(&h);
    EXPECT(&h, "wrong password", post(&h, "/login", "name=ada&password=engine+number+2", 0), 403);
    EXPECT(&h, "nobody", post(&h, "/login", "name=bob&password=engine+number+1", 0), 403);
    buf_done(&link);
    buf_done(&form);
    close_house(&h);
}

static void cookies_need_the_sessions_token_to_change_things(void **state)
{
    struct house h;
    open_house(&h);
    first_admin(&h);
    EXPECT(&h, "looking", get(&h, "/api/v1/agents", WITH_COOKIE), 200);
    EXPECT(&h, "changing without", post(&h, "/api/v1/agents", "name=one", WITH_COOKIE), 403);
    CHECK("says why", said(&h, "\"code\":\"csrf\""));
    EXPECT(&h, "changing with", post(&h, "/api/v1/agents", "name=one", WITH_COOKIE | WITH_CSRF), 200);
    char form[96];
    snprintf(form, sizeof(form), "name=two&csrf=%s", h.csrf);
    EXPECT(&h, "in the form", post(&h, "/api/v1/agents", form, WITH_COOKIE), 200);
    EXPECT(&h, "a forger's", post(&h, "/api/v1/agents", "name=three&csrf=AAAAAAAAAAAAAAAAAAAAAA", WITH_COOKIE), 403);
    EXPECT(&h, "token calls need none", post(&h, "/api/v1/agents", "name=four", WITH_TOKEN), 200);
    EXPECT(&h, "out", post(&h, "/logout", "", WITH_COOKIE | WITH_CSRF), 200);
    EXPECT(&h, "after", get(&h, "/api/v1/agents", WITH_COOKIE), 401);
    close_house(&h);
}

static void tries_to_log_in_are_limited(void **state)
{
    struct house h;
    open_house(&h);
    first_admin(&h);
    limiter_free(h.c->admin->by_name); /* one that does not fill again while we look */
    h.c->admin->by_name = limiter_new(&(struct limiter_opts){.per_s = 1e-6, .burst = 3, .loopback_factor = 1});
    for (int i = 0; i < 3; i++)
        EXPECT(&h, "try", post(&h, "/login", "name=ada&password=not+the+right+one", 0), 403);
    EXPECT(&h, "one more", post(&h, "/login", "name=ada&password=not+the+right+one", 0), 429);
    CHECK("says when", http_answer_header(&h.ans, "Retry-After").n > 0);
    EXPECT(&h, "even with the right one", post(&h, "/login", "name=ada&password=engine+number+1", 0), 429);
    EXPECT(&h, "sessions go on", get(&h, "/api/v1/agents", WITH_COOKIE), 200);
    close_house(&h);
}

static void roles_bound_what_people_may_do(void **state)
{
    static const struct {
        const char *method, *target, *form;
        int viewer, operator;
    } cases[] = {{"GET", "/api/v1/overview", "", 200, 200},
                 {"GET", "/agents", "", 200, 200},
                 {"GET", "/agents/new", "", 403, 200},
                 {"POST", "/api/v1/agents", "name=one", 403, 409},
                 {"POST", "/api/v1/agents/one/pause", "", 403, 200},
                 {"POST", "/api/v1/channels", "seeds=https://a.example/", 403, 200},
                 {"GET", "/api/v1/people", "", 403, 403},
                 {"POST", "/api/v1/people", "name=eve&role=admin&password=0123456789", 403, 403},
                 {"POST", "/api/v1/people/ada/remove", "", 403, 403},
                 {"POST", "/api/v1/people/ada/password", "password=0123456789", 403, 403},
                 {"POST", "/api/v1/programs", "file=x", 403, 403},
                 {"POST", "/api/v1/identity/rotate", "", 403, 403}};
    struct house h;
    open_house(&h);
    first_admin(&h);
    EXPECT(&h, "agent", post(&h, "/api/v1/agents", "name=one", WITH_TOKEN), 200);
    for (int as_operator = 0; as_operator < 2; as_operator++) {
        const char *name = as_operator ? "oscar" : "vera";
        char form[128], own[64];
        snprintf(form, sizeof(form), "name=%s&role=%s&password=a+long+password", name,
                 as_operator ? "operator" : "viewer");
        EXPECT(&h, "person", post(&h, "/api/v1/people", form, WITH_TOKEN), 200);
        EXPECT(&h, "login", post(&h, "/login", form, 0), 200);
        keep_session(&h);
        for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
            EXPECT(&h, cases[i].target,
                   ask_more(&h, cases[i].method, cases[i].target, span_str(cases[i].form), WITH_COOKIE | WITH_CSRF,
                            NULL),
                   as_operator ? cases[i].operator: cases[i].viewer);
        snprintf(own, sizeof(own), "/api/v1/people/%s/password", name);
        EXPECT(&h, "own password", post(&h, own, "password=another+password", WITH_COOKIE | WITH_CSRF), 200);
        snprintf(own, sizeof(own), "/api/v1/people/%s/remove", name);
        EXPECT(&h, "removed", post(&h, own, "", WITH_TOKEN), 200);
        EXPECT(&h, "and out", get(&h, "/api/v1/overview", WITH_COOKIE), 401);
    }
    EXPECT(&h, "the last admin stays", post(&h, "/api/v1/people/ada/remove", "", WITH_TOKEN), 409);
    EXPECT(&h, "and stays one", post(&h, "/api/v1/people/ada/role", "role=viewer", WITH_TOKEN), 409);
    close_house(&h);
}

static void agents_are_registered_and_told(void **state)
{
    static const struct {
        const char *label, *form;
        int want;
    } bad[] = {{"no name", "", 400},
               {"a name with a slash", "name=a/b", 400},
               {"hours", "name=a&hours=whenever", 400},
               {"zone", "name=a&hours=mon+08:00-09:00&zone=Mars/Olympus", 400},
               {"bytes", "name=a&bytes_a_day=much", 400},
               {"latitude alone", "name=a&latitude=35", 400},
               {"latitude", "name=a&latitude=95&longitude=1", 400},
               {"tasks", "name=a&tasks=-1", 400}};
    static const char *const verbs[] = {"pause", "drain", "resume", "kill", "rekey", "trust", "invite"};
    struct house h;
    open_house(&h);
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        EXPECT(&h, bad[i].label, post(&h, "/api/v1/agents", bad[i].form, WITH_TOKEN), bad[i].want);
    EXPECT(&h, "json",
           post(&h, "/api/v1/agents",
                "{\"name\":\"one\",\"place\":\"Nicosia\",\"latitude\":35.17,\"longitude\":33.36,\"hours\":\"mon-fri "
                "20:00-06:00\",\"zone\":\"Europe/Athens\",\"bytes_a_day\":1000000,\"idle_only\":true,\"tasks\":3}",
                WITH_TOKEN | AS_JSON),
           200);
    CHECK("the line", said(&h, "\"line\":\"orb-agent --join orb+http://127.0.0.1:"));
    EXPECT(&h, "twice", post(&h, "/api/v1/agents", "name=one", WITH_TOKEN), 409);
    EXPECT(&h, "shown", get(&h, "/api/v1/agents/one", WITH_TOKEN), 200);
    CHECK("settings", said(&h, "\"hours\":\"mon-fri 20:00-06:00 Europe/Athens\"") &&
                          said(&h, "\"bytes_a_day\":1000000,") && said(&h, "\"idle_only\":true,\"tasks\":3}") &&
                          said(&h, "\"latitude\":35.17") && said(&h, "\"state\":\"invited\""));
    for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++) {
        char target[64];
        snprintf(target, sizeof(target), "/api/v1/agents/one/%s", verbs[i]);
        EXPECT(&h, verbs[i], post(&h, target, "", WITH_TOKEN), 200);
    }
    EXPECT(&h, "change", post(&h, "/api/v1/agents/one/change", "place=Limassol", WITH_TOKEN), 200);
    EXPECT(&h, "shown", get(&h, "/api/v1/agents/one", WITH_TOKEN), 200);
    CHECK("only what was sent changed", said(&h, "\"place\":\"Limassol\"") && said(&h, "\"bytes_a_day\":1000000,") &&
                                            said(&h, "\"idle_only\":true") && said(&h, "\"latitude\":35.17"));
    EXPECT(&h, "unknown verb", post(&h, "/api/v1/agents/one/praise", "", WITH_TOKEN), 404);
    EXPECT(&h, "unknown agent", post(&h, "/api/v1/agents/two/pause", "", WITH_TOKEN), 404);
    EXPECT(&h, "remove", post(&h, "/api/v1/agents/one/remove", "", WITH_TOKEN), 200);
    EXPECT(&h, "gone", get(&h, "/api/v1/agents/one", WITH_TOKEN), 404);
    EXPECT(&h, "no agent has no name", get(&h, "/api/v1/agents/%20", WITH_TOKEN), 404);
    EXPECT(&h, "the name is free", post(&h, "/api/v1/agents", "name=one", WITH_TOKEN), 200);
    close_house(&h);
}

static void channels_are_added_edited_imported(void **state)
{
    static const struct {
        const char *label, *form;
    } bad[] = {{"no seeds", "scope=site"},
               {"not http", "seeds=ftp://a.example/"},
               {"scope", "seeds=https://a.example/&scope=planet"},
               {"kind", "seeds=https://a.example/&kind=poem"},
               {"depth", "seeds=https://a.example/&depth=65"},
               {"every", "seeds=https://a.example/&every=often"},
               {"pattern", "seeds=https://a.example/&include=re:("},
               {"pattern that is no URL's", "seeds=https://a.example/&expected=many"}};
    struct house h;
    char target[96];
    open_house(&h);
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        EXPECT(&h, bad[i].label, post(&h, "/api/v1/channels", bad[i].form, WITH_TOKEN), 400);
    EXPECT(&h, "unknown agent", post(&h, "/api/v1/channels", "seeds=https://a.example/&agent=x", WITH_TOKEN), 404);
    EXPECT(&h, "add",
           post(&h, "/api/v1/channels",
                "{\"seeds\":[\"https://a.example/docs/\",\"b.example\"],\"scope\":\"prefix\",\"exclude\":[\"*.pdf\"],"
                "\"every\":\"12 h\",\"expected\":500,\"label\":\"two <b>sites</b>\"}",
                WITH_TOKEN | AS_JSON),
           200);
    struct span body = buf_span(&h.ans.body), id = span_cut(body, span_search(body, SPAN("\"id\":\""), false) + 6, 16);
    snprintf(target, sizeof(target), "/api/v1/channels/%.*s", SPAN_ARG(id));
    EXPECT(&h, "shown", get(&h, target, WITH_TOKEN), 200);
    CHECK("settings", said(&h, "\"seeds\":[\"https://a.example/docs/\",\"https://b.example/\"]") &&
                          said(&h, "\"scope\":\"prefix\"") && said(&h, "\"exclude\":[\"*.pdf\"]") &&
                          said(&h, "\"every_ms\":43200000") && said(&h, "\"expected\":500"));
    EXPECT(&h, "twice",
           post(&h, "/api/v1/channels", "seeds=https://a.example/docs/%0Ahttps://b.example/&scope=prefix", WITH_TOKEN),
           409);
    size_t n = strlen(target);
    static const char *const verbs[] = {"pause", "resume", "edit", "recheck", "move"};
    for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++) {
        snprintf(target + n, sizeof(target) - n, "/%s", verbs[i]);
        EXPECT(&h, verbs[i], post(&h, target, "label=other", WITH_TOKEN), 200);
    }
    snprintf(target + n, sizeof(target) - n, "/edit");
    EXPECT(&h, "seeds are what it is", post(&h, target, "seeds=https://c.example/", WITH_TOKEN), 409);
    EXPECT(&h, "edit by label", post(&h, "/api/v1/channels/other/edit", "kind=keywords&every=0", WITH_TOKEN), 200);
    EXPECT(&h, "import",
           post(&h, "/api/v1/channels/import", "# list\nhttps://d.example/\n\nnot an address\ne.example\n",
                WITH_TOKEN | AS_TEXT),
           200);
    CHECK("counts", said(&h, "\"added\":2,\"there\":0,\"bad\":1,\"bad_lines\":[\"not an address\"]"));
    EXPECT(&h, "again", post(&h, "/api/v1/channels/import", "lines=https://d.example/&kind=keywords", WITH_TOKEN), 200);
    CHECK("counts", said(&h, "\"added\":0,\"there\":1,\"bad\":0"));
    EXPECT(&h, "list", get(&h, "/api/v1/channels", WITH_TOKEN), 200);
    CHECK("kept", said(&h, "\"kind\":\"keywords\"") && said(&h, "\"label\":\"d.example\""));
    EXPECT(&h, "page", get(&h, "/channels", WITH_TOKEN), 200);
    snprintf(target + n, sizeof(target) - n, "/remove");
    EXPECT(&h, "remove", post(&h, target, "", WITH_TOKEN), 200);
    EXPECT(&h, "no such network", post(&h, "/api/v1/networks/move", "network=192.0.2.0/24&to=x", WITH_TOKEN), 404);
    close_house(&h);
}

static void a_form_that_forgets_wants_to_be_meant(void **state)
{
    static const struct {
        const char *form, *field;
    } cases[] = {{"page=/forgotten&places=a.example&why=asked", "f-sure"},
                 {"page=/forgotten&places=ftp://a.example/&sure=1", "f-places"},
                 {"page=/forgotten&places=&sure=1", "f-places"}};
    struct house h;
    open_house(&h);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char want[64];
        EXPECT(&h, cases[i].form, post(&h, "/api/v1/forget", cases[i].form, WITH_TOKEN), 400);
        snprintf(want, sizeof(want), "id=\"%s\"", cases[i].field);
        struct span body = buf_span(&h.ans.body), field = span_from(body, span_search(body, span_str(want), false));
        size_t wrong = span_search(field, SPAN("aria-invalid"), false);
        CHECK(cases[i].form, wrong < field.n && wrong < span_find(field, '>', 0));
    }
    EXPECT(&h, "the list", get(&h, "/forgotten?place=a.example%22%3E%3Cb%3E", WITH_TOKEN), 200);
    CHECK("nothing is forgotten", said(&h, "Nothing is forgotten."));
    CHECK("a place that the address names", said(&h, "a.example&quot;&gt;&lt;b&gt;</textarea>"));
    close_house(&h);
}

static void how_channels_are_kept_fresh_is_told_and_set(void **state)
{
    static const struct {
        const char *form, *want; /* NULL: 400 */
    } rules[] = {{"weight=2.5", "\"weight\":2.500000,\"never\":false,\"at_most_every_ms\":0,\"at_least_every_ms\":0"},
                 {"never=true", "\"weight\":2.500000,\"never\":true"},
                 {"at_most_every=2+h", "\"never\":false,\"at_most_every_ms\":7200000,\"at_least_every_ms\":0"},
                 {"at_least_every=1+h", NULL},
                 {"at_least_every=3+h", "\"at_most_every_ms\":7200000,\"at_least_every_ms\":10800000"},
                 {"at_most_every=", "\"at_most_every_ms\":0,\"at_least_every_ms\":10800000"},
                 {"every=1+d", "\"never\":false,\"at_most_every_ms\":86400000,\"at_least_every_ms\":86400000"},
                 {"label=other", "\"every_ms\":86400000"},
                 {"every=0", "\"never\":true,\"at_most_every_ms\":0,\"at_least_every_ms\":0"},
                 {"every=", "\"never\":false"},
                 {"weight=0", NULL},
                 {"weight=1001", NULL},
                 {"weight=heavy", NULL},
                 {"at_most_every=soon", NULL},
                 {"weight=1", "\"weight\":1.000000,\"never\":false"}};
    static const char *const strategies[] = {"fixed", "iir", "icr", "off", "greedy"};
    struct house h;
    char target[96], edit[128], want[64];
    open_house(&h);
    EXPECT(&h, "add", post(&h, "/api/v1/channels", "seeds=https://a.example/", WITH_TOKEN), 200);
    struct span body = buf_span(&h.ans.body), id = span_cut(body, span_search(body, SPAN("\"id\":\""), false) + 6, 16);
    snprintf(target, sizeof(target), "/api/v1/channels/%.*s", SPAN_ARG(id));
    snprintf(edit, sizeof(edit), "%s/edit", target);
    for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
        EXPECT(&h, rules[i].form, post(&h, edit, rules[i].form, WITH_TOKEN), rules[i].want ? 200 : 400);
        EXPECT(&h, rules[i].form, get(&h, target, WITH_TOKEN), 200);
        CHECK(rules[i].form, !rules[i].want || said(&h, rules[i].want));
    }
    CHECK("not yet", said(&h, "\"recrawl\":{\"planned\":false,\"under_way\":false") && said(&h, "\"visited\":null"));
    EXPECT(&h, "figures", get(&h, "/api/v1/recrawl", WITH_TOKEN), 200);
    CHECK("figures", said(&h, "\"strategy\":\"greedy\"") && said(&h, "\"channels\":0,\"new\":1") &&
                         said(&h, "\"ceiling\":2.000000,") && said(&h, "\"interval_ms\":3600000"));
    for (size_t i = 0; i < 5; i++) {
        snprintf(want, sizeof(want), "strategy=%s", strategies[i]);
        EXPECT(&h, strategies[i], post(&h, "/api/v1/recrawl", want, WITH_TOKEN), 200);
        EXPECT(&h, strategies[i], get(&h, "/api/v1/recrawl", WITH_TOKEN), 200);
        snprintf(want, sizeof(want), "\"strategy\":\"%s\"", strategies[i]);
        CHECK(strategies[i], said(&h, want));
    }
    EXPECT(&h, "unknown", post(&h, "/api/v1/recrawl", "strategy=often", WITH_TOKEN), 400);
    EXPECT(&h, "none", post(&h, "/api/v1/recrawl", "", WITH_TOKEN), 400);
    EXPECT(&h, "nobody", post(&h, "/api/v1/recrawl", "strategy=fixed", 0), 401);
    close_house(&h);
}

static void programs_are_taken_only_signed_and_rising(void **state)
{
    struct house h;
    struct sign_key key;
    struct buf file = {0};
    sign_key_of((const unsigned char[SIGN_SEED_BYTES]){7}, &key);
    open_house(&h);
    EXPECT(&h, "agent", post(&h, "/api/v1/agents", "name=one", WITH_TOKEN), 200);
    const uint64_t before = h.c->agents[0]->orders_given;
    struct program p = {.name = SPAN("prices"), .serial = 5, .script = SPAN("function page(p) end\n")};
    program_write(&p, &file);
    EXPECT(&h, "unsigned", ask_more(&h, "POST", "/api/v1/programs", buf_span(&file), WITH_TOKEN | AS_TEXT, NULL), 400);
    EXPECT(&h, "no program", post(&h, "/api/v1/programs", "file=hello", WITH_TOKEN), 400);
    for (uint64_t serial = 5; serial <= 7; serial += 2) {
        p.serial = serial;
        program_sign(&p, &key);
        buf_clear(&file);
        program_write(&p, &file);
        EXPECT(&h, "push", ask_more(&h, "POST", "/api/v1/programs", buf_span(&file), WITH_TOKEN | AS_TEXT, NULL), 200);
    }
    p.serial = 6;
    program_sign(&p, &key);
    buf_clear(&file);
    program_write(&p, &file);
    EXPECT(&h, "older", ask_more(&h, "POST", "/api/v1/programs", buf_span(&file), WITH_TOKEN | AS_TEXT, NULL), 409);
    assert_int_equal(h.c->agents[0]->orders_given, before + 2);
    file.p[file.n - 3]++;
    EXPECT(&h, "changed", ask_more(&h, "POST", "/api/v1/programs", buf_span(&file), WITH_TOKEN | AS_TEXT, NULL), 400);
    EXPECT(&h, "roll back", post(&h, "/api/v1/programs/prices/rollback", "", WITH_TOKEN), 200);
    CHECK("to the one before", said(&h, "\"dropped\":7,\"serial\":5"));
    assert_int_equal(h.c->agents[0]->orders_given, before + 3);
    EXPECT(&h, "list", get(&h, "/api/v1/programs", WITH_TOKEN), 200);
    CHECK("newest first", said(&h, "[{\"name\":\"prices\",\"serial\":7,") && said(&h, "\"removed\":true"));
    /* A new agent gets what is for all and was not rolled back. */
    EXPECT(&h, "another agent", post(&h, "/api/v1/agents", "name=two", WITH_TOKEN), 200);
    assert_int_equal(h.c->agents[1]->orders_given, before + 1);
    EXPECT(&h, "page", get(&h, "/programs", WITH_TOKEN), 200);
    EXPECT(&h, "no such", post(&h, "/api/v1/programs/none/rollback", "", WITH_TOKEN), 404);
    buf_done(&file);
    close_house(&h);
}

static void keys_rotate_and_updates_are_kept(void **state)
{
    struct house h;
    char old[65], target[400] = "/api/v1/update?version=1.2&machine=x86_64-linux-gnu&sig=";
    open_house(&h);
    memcpy(old, h.c->id.fingerprint_hex, sizeof(old));
    EXPECT(&h, "rotate", post(&h, "/api/v1/identity/rotate", "", WITH_TOKEN), 200);
    CHECK("another key", strcmp(old, h.c->id.fingerprint_hex) != 0 && said(&h, h.c->id.fingerprint_hex));
    EXPECT(&h, "no signature",
           ask_more(&h, "POST", target, SPAN("binary"), WITH_TOKEN, "Content-Type: application/octet-stream"), 400);
    for (int i = 0; i < 64; i++)
        strcat(target, "ab");
    EXPECT(&h, "offered",
           ask_more(&h, "POST", target, SPAN("binary"), WITH_TOKEN, "Content-Type: application/octet-stream"), 200);
    struct digest256 d = digest_blake2b256(SPAN("binary"));
    struct buf blob = {0};
    CHECK_STATUS("kept", fleet_get(h.c->fleet, FLEET_BLOB, span_of(d.b, sizeof(d.b)), &blob), ST_OK);
    CHECK_SPAN("whole", buf_span(&blob), SPAN("binary"));
    buf_done(&blob);
    close_house(&h);
}

/* ---- what agents say ---- */

#define EVIL "<img src=x onerror=alert(1)>\"'\n"

static void put_report(struct house *h, uint64_t agent, struct report *r, bool is_setup)
{
    struct c_agent *a = h->c->agents[agent - 1];
    pthread_mutex_lock(&h->c->lock);
    buf_clear(&a->report);
    report_pack(r, &a->report);
    if (is_setup) {
        buf_clear(&a->setup);
        report_pack(r, &a->setup);
    }
    a->is_joined = true;
    a->heard = clock_wall();
    mono_ms now = clock_mono();
    a->heard_mono = a->heard_mono >= now ? a->heard_mono + 1 : now; /* another one, however quick we are */
    pthread_mutex_unlock(&h->c->lock);
    figures_tick(h->c->admin, clock_mono());
}

static void what_agents_say_is_shown_harmlessly(void **state)
{
    struct house h;
    const struct span refused[] = {SPAN("network " EVIL)}, sites[] = {SPAN("https://own.example/" EVIL)};
    const struct program_report programs[] = {
        {.name = SPAN("p" EVIL), .serial = 3, .errors = 2, .last_error = SPAN("error: " EVIL)}};
    struct report r = {.wire_version = 1,
                       .version = SPAN("1.0" EVIL),
                       .activity = (agent_activity)200,
                       .requests = 100,
                       .pages = 90,
                       .bytes_crawled = 1000000,
                       .bytes_sent = 20000,
                       .has_setup = true,
                       .setup = {.cores = 4,
                                 .disk_bytes = 1000,
                                 .system = SPAN("Linux" EVIL),
                                 .machine = SPAN(EVIL),
                                 .zone = SPAN(EVIL),
                                 .place = SPAN(EVIL),
                                 .address = SPAN(EVIL),
                                 .own_sites = sites,
                                 .own_site_count = 1},
                       .programs = programs,
                       .program_count = 1,
                       .refused = refused,
                       .refused_count = 1};
    static const char *const pages[] = {"/",         "/agents",   "/agents/one", "/networks",
                                        "/channels", "/programs", "/people"};
    open_house(&h);
    EXPECT(&h, "agent",
           post(&h, "/api/v1/agents",
                "name=one&place="
                "%3Cimg+src=x+onerror=alert(1)%3E%22'",
                WITH_TOKEN),
           200);
    put_report(&h, 1, &r, true);
    for (size_t i = 0; i < sizeof(pages) / sizeof(*pages); i++) {
        EXPECT(&h, pages[i], get(&h, pages[i], WITH_TOKEN), 200);
        CHECK(pages[i], !said(&h, "<img src=x") && !said(&h, "\"'\n"));
        CHECK(pages[i], span_search(buf_span(&h.ans.head), SPAN("default-src 'none'"), false) < h.ans.head.n);
    }
    EXPECT(&h, "one", get(&h, "/agents/one", WITH_TOKEN), 200);
    CHECK("shown as text", said(&h, "error: &lt;img src=x onerror=alert(1)&gt;&quot;&#39;"));
    EXPECT(&h, "json", get(&h, "/api/v1/agents/one", WITH_TOKEN), 200);
    CHECK("escaped in JSON", said(&h, "\"last_error\":\"error: <img src=x onerror=alert(1)>\\\"'\\n\""));
    EXPECT(&h, "metrics", get(&h, "/metrics", WITH_TOKEN), 200);
    CHECK("escaped in metrics", said(&h, "version=\"1.0<img src=x onerror=alert(1)>\\\"'\\n\""));
    CHECK("no more lines", !said(&h, "\n\",state"));
    close_house(&h);
}

static bool has_alert(struct house *h, const char *kind)
{
    static struct alert list[ALERTS_MAX];
    size_t n = alerts_get(h->c->admin, list, ALERTS_MAX);
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i].kind, kind) == 0 && strcmp(list[i].agent, "one") == 0)
            return true;
    return false;
}

static void alerts_say_what_is_wrong(void **state)
{
    struct house h;
    struct report r = {.wire_version = 1,
                       .activity = ACTIVITY_WORKING,
                       .disk_free_bytes = 500,
                       .has_setup = true,
                       .setup = {.disk_bytes = 1000}};
    open_house(&h);
    EXPECT(&h, "agent", post(&h, "/api/v1/agents", "name=one", WITH_TOKEN), 200);
    put_report(&h, 1, &r, true);
    CHECK("nothing yet", !has_alert(&h, "away") && !has_alert(&h, "disk") && !has_alert(&h, "errors"));
    r.disk_free_bytes = 40;
    r.requests = 1000;
    r.errors = 300;
    put_report(&h, 1, &r, true);
    CHECK("disk", has_alert(&h, "disk"));
    CHECK("errors", has_alert(&h, "errors"));
    EXPECT(&h, "page", get(&h, "/", WITH_TOKEN), 200);
    CHECK("shown", said(&h, "gets errors for 30 % of its requests"));
    struct c_agent *a = h.c->agents[0];
    h.c->o.move_after_ms = 1000; /* an hour ago the machine may not have been started, nor its clock */
    a->heard_mono = clock_mono() - 1000;
    a->heard = clock_wall() - 1000;
    CHECK("away", has_alert(&h, "away"));
    CHECK_STATUS("hours", hours_parse(SPAN("mon 00:00-00:01"), &a->hours, NULL), ST_OK);
    if (!agent_is_in_hours(a, clock_wall())) /* but for one minute of the week */
        CHECK("silence outside the hours is no absence", !has_alert(&h, "away"));
    a->is_demoted = true;
    CHECK("trust", has_alert(&h, "trust"));
    close_house(&h);
}

static void rates_come_from_the_last_half_minute(void **state)
{
    struct house h;
    struct report r = {.wire_version = 1, .activity = ACTIVITY_WORKING};
    struct figures f;
    open_house(&h);
    EXPECT(&h, "agent", post(&h, "/api/v1/agents", "name=one", WITH_TOKEN), 200);
    struct c_agent *a = h.c->agents[0];
    a->is_joined = true;
    mono_ms now = clock_mono();
    for (int i = 0; i <= 40; i++) { /* 10 pages a second, then 20 */
        r.pages += i <= 20 ? 20 : 40;
        r.bytes_sent += 100;
        buf_clear(&a->report);
        report_pack(&r, &a->report);
        a->heard_mono = now += 2000;
        figures_tick(h.c->admin, now);
    }
    figures_of(h.c->admin, 1, &f);
    CHECK("pages a second", f.pages_per_s > 19.9 && f.pages_per_s < 20.1);
    CHECK("bytes sent a second", f.sent_per_s > 49 && f.sent_per_s < 51);
    r.pages = 5; /* set up anew */
    buf_clear(&a->report);
    report_pack(&r, &a->report);
    a->heard_mono = now += 2000;
    figures_tick(h.c->admin, now);
    figures_of(h.c->admin, 1, &f);
    CHECK("what was counted before stays counted", f.pages_per_s > 17 && f.pages_per_s < 20.1);
    CHECK("shown as it says", f.said.pages == 5);
    EXPECT(&h, "history", get(&h, "/api/v1/overview?history=1", WITH_TOKEN), 200);
    CHECK("has columns", said(&h, "\"history\":{\"at\":[") && said(&h, "\"packages_per_min\":["));
    for (int i = 0; i < FIGURES_SAMPLES + 10; i++)
        figures_tick(h.c->admin, now += 2000);
    assert_int_equal(h.c->admin->ring_n, FIGURES_SAMPLES);
    close_house(&h);
}

static void errors_are_told_by_kind_whatever_the_agent_does(void **state)
{
    static const struct error_count some[] = {{ERROR_TIMEOUT, 3}, {ERROR_HTTP_5XX, 4}, {ERROR_ROBOTS, 9}};
    struct house h;
    struct report r = {.wire_version = 1, .errors = 10, .errors_by_kind = some, .error_kind_count = 3};
    struct figures f;
    open_house(&h);
    EXPECT(&h, "agent", post(&h, "/api/v1/agents", "name=one", WITH_TOKEN), 200);
    h.c->agents[0]->added = 1; /* it was there before us */
    put_report(&h, 1, &r, true);
    figures_of(h.c->admin, 1, &f);
    CHECK("no growth before the first report", f.errors_per_min == 0 && f.grown.by_kind[ERROR_TIMEOUT] == 3);
    CHECK("what has no kind is other", f.said.by_kind[ERROR_OTHER] == 3);
    EXPECT(&h, "overview", get(&h, "/api/v1/overview", WITH_TOKEN), 200);
    CHECK("all agents", said(&h, "\"errors_by_kind\":{\"other\":3,\"dns\":0,") && said(&h, "\"timeout\":3,") &&
                            said(&h, "\"http_5xx\":4,\"gone\":0,\"robots\":9}"));
    static const struct error_count more[] = {{ERROR_TIMEOUT, 8}, {ERROR_HTTP_5XX, 4}, {ERROR_ROBOTS, 9}};
    r.errors = 15;
    r.errors_by_kind = more;
    put_report(&h, 1, &r, true);
    static const struct error_count anew[] = {{ERROR_TIMEOUT, 1}};
    r.errors = 1;
    r.errors_by_kind = anew;
    r.error_kind_count = 1;
    put_report(&h, 1, &r, true);
    figures_of(h.c->admin, 1, &f);
    CHECK("it counts from 0 again", f.said.by_kind[ERROR_TIMEOUT] == 1 && f.said.by_kind[ERROR_HTTP_5XX] == 0);
    CHECK("counters for programs do not go back", f.grown.by_kind[ERROR_TIMEOUT] == 8 && f.grown.errors == 15);
    CHECK("nor do rates", f.by_kind_per_min[ERROR_TIMEOUT] > 9.9f && f.by_kind_per_min[ERROR_TIMEOUT] < 10.1f);
    EXPECT(&h, "metrics", get(&h, "/metrics", WITH_TOKEN), 200);
    CHECK("kinds in metrics", said(&h, "orb_agent_errors_by_kind_total{agent=\"one\",kind=\"timeout\"} 8\n") &&
                                  said(&h, "orb_agent_errors_by_kind_total{agent=\"one\",kind=\"robots\"} 9\n") &&
                                  said(&h, "orb_agent_errors_total{agent=\"one\"} 15\n"));
    EXPECT(&h, "agent", get(&h, "/api/v1/agents/one?history=1", WITH_TOKEN), 200);
    CHECK("one agent", said(&h, "\"timeout\":1,") && said(&h, "\"history\":{\"step_ms\":10000,\"at\":["));
    EXPECT(&h, "overview page", get(&h, "/", WITH_TOKEN), 200);
    CHECK("shown", said(&h, "data-kind=\"timeout\""));
    EXPECT(&h, "agent's page", get(&h, "/agents/one", WITH_TOKEN), 200);
    CHECK("shown of one", said(&h, "data-kind=\"timeout\""));
    EXPECT(&h, "another agent", post(&h, "/api/v1/agents", "name=two", WITH_TOKEN), 200);
    put_report(&h, 2, &(struct report){.wire_version = 1, .errors = 5}, true);
    figures_of(h.c->admin, 2, &f);
    CHECK("one that came while we ran did all of it now", f.errors_per_min > 9.9 && f.errors_per_min < 10.1);
    close_house(&h);
}

static void a_form_says_what_is_wrong_next_to_the_field(void **state)
{
    static const struct {
        const char *body, *field, *text;
    } cases[] = {
        {"name=one&hours=mon-fry+10:00-12:00", "hours", "fry"},
        {"name=one&hours=mon+10:00-12:00&zone=Europe/Nowhere", "zone", "No time zone is called Europe/Nowhere."},
        {"name=a+b", "name", "A name is 1 to 64 letters"},
        {"name=there", "name", "There is an agent of this name."},
        {"name=one&disk=much", "disk", "A number of bytes such as 500 MB"},
        {"name=one&latitude=3", "longitude", "Latitude and longitude are needed"},
    };
    struct house h;
    char body[200], want[64];
    open_house(&h);
    EXPECT(&h, "agent", post(&h, "/api/v1/agents", "name=there", WITH_TOKEN), 200);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        snprintf(body, sizeof(body), "page=/agents/new&%s", cases[i].body);
        int code = post(&h, "/api/v1/agents", body, WITH_TOKEN);
        CHECK(cases[i].body, code == 400 || code == 409);
        snprintf(want, sizeof(want), "<p class=\"wrong\" id=\"e-%s\">", cases[i].field);
        CHECK(cases[i].body, said(&h, want) && said(&h, cases[i].text) && said(&h, "aria-invalid=\"true\""));
    }
    close_house(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_read_as_people_write_them),
        cmocka_unit_test(durations_are_read_as_people_write_them),
        cmocka_unit_test(forms_are_decoded_and_capped),
        cmocka_unit_test(lines_lose_comments_and_blanks),
        TEST_IN_FOLDER(strangers_get_nothing),
        TEST_IN_FOLDER(bodies_are_capped_by_address_and_role),
        TEST_IN_FOLDER(the_token_file_is_the_owners),
        TEST_IN_FOLDER(the_first_link_works_once),
        TEST_IN_FOLDER(cookies_need_the_sessions_token_to_change_things),
        TEST_IN_FOLDER(tries_to_log_in_are_limited),
        TEST_IN_FOLDER(roles_bound_what_people_may_do),
        TEST_IN_FOLDER(agents_are_registered_and_told),
        TEST_IN_FOLDER(channels_are_added_edited_imported),
        TEST_IN_FOLDER(a_form_that_forgets_wants_to_be_meant),
        TEST_IN_FOLDER(how_channels_are_kept_fresh_is_told_and_set),
        TEST_IN_FOLDER(programs_are_taken_only_signed_and_rising),
        TEST_IN_FOLDER(keys_rotate_and_updates_are_kept),
        TEST_IN_FOLDER(what_agents_say_is_shown_harmlessly),
        TEST_IN_FOLDER(alerts_say_what_is_wrong),
        TEST_IN_FOLDER(rates_come_from_the_last_half_minute),
        TEST_IN_FOLDER(errors_are_told_by_kind_whatever_the_agent_does),
        TEST_IN_FOLDER(a_form_says_what_is_wrong_next_to_the_field),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
