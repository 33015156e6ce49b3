/* test_admin_access.c - who gets in: strangers, the first link, sessions, tries to log in, roles. */
#include "admin_house.h"

#include <sys/stat.h>

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(strangers_get_nothing),
        TEST_IN_FOLDER(bodies_are_capped_by_address_and_role),
        TEST_IN_FOLDER(the_token_file_is_the_owners),
        TEST_IN_FOLDER(the_first_link_works_once),
        TEST_IN_FOLDER(cookies_need_the_sessions_token_to_change_things),
        TEST_IN_FOLDER(tries_to_log_in_are_limited),
        TEST_IN_FOLDER(roles_bound_what_people_may_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
