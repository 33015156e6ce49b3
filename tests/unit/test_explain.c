/* `orb explain` for a coordinator's folder: why this agent, and what would change it. Stand-ins play agents at known
 * distances over the real protocol. */
#include "fleet_stage.h"

#include "codec/json_tree.h"
#include "coord/pinning.h"
#include "io/http_call.h"
#include "place/hierarchy_build.h"
#include "store/file.h"

static const char hosts[] = "127.1.1.1 near.example\n127.2.2.1 far.example\n127.3.3.1 new.example\n";
static const struct stage_agent agents[] = {{"paris", 48.86, 2.35}, {"lyon", 45.76, 4.84}};

struct scene {
    struct stage stage;
    double longer_ms; /* that the paths to near.example have become */
    unsigned probes;
    struct arena arena;
    struct http_answer ans;
    const struct json_node *said;
};

/* ---- a world of two agents and two sites ---- */

static double distance(size_t agent, bool is_near)
{
    static const double ms[][2] = {{10, 80}, {25, 30}};
    return ms[agent][!is_near];
}

static double answer_probe(void *arg, const struct probe_ask *ask, struct span *reached)
{
    struct player *p = arg;
    struct scene *s = p->world;
    bool is_near = span_search(ask->url, SPAN("near.example"), false) < ask->url.n;
    s->probes++;
    *reached = is_near ? SPAN("127.1.1.1") : p->at ? SPAN("127.2.2.77") : SPAN("127.2.2.1");
    return ask->url.n ? distance(p->at, is_near) + (is_near ? s->longer_ms : 0) : -1;
}

static double tell_path(void *arg, struct span network)
{
    struct player *p = arg;
    const struct scene *s = p->world;
    bool is_near = span_starts(network, SPAN("127.1."));
    return distance(p->at, is_near) + (is_near && p->at == 0 ? s->longer_ms : 0);
}

static void make_hierarchy(void)
{
    struct hierarchy_builder *b = hierarchy_builder_new();
    struct hierarchy_figures figures;
    struct buf bytes = {0};
    char path[TEST_PATH];
    const struct registry_record all = {.first = {4, {127, 0, 0, 0}},
                                        .last = {4, {127, 127, 255, 255}},
                                        .country = "FR",
                                        .registry = REGISTRY_RIPENCC,
                                        .state = REG_ALLOCATED,
                                        .holder = SPAN("Loop SA")},
                                 one = {.first = {4, {127, 1, 0, 0}},
                                        .last = {4, {127, 1, 1, 255}},
                                        .country = "FR",
                                        .registry = REGISTRY_RIPENCC,
                                        .state = REG_ASSIGNED,
                                        .holder = SPAN("Near <b> SARL")};
    CHECK_STATUS("all", hierarchy_builder_add(b, &all), ST_OK);
    CHECK_STATUS("one", hierarchy_builder_add(b, &one), ST_OK);
    CHECK_STATUS("finish", hierarchy_builder_finish(b, SPAN("made=now\n"), &bytes, &figures), ST_OK);
    test_path(path, "hierarchy");
    CHECK_STATUS("write", file_replace(path, buf_span(&bytes)), ST_OK);
    hierarchy_builder_free(b);
    buf_done(&bytes);
}

static void open_scene(struct scene *s, delegate_strategy strategy)
{
    *s = (struct scene){.stage = {.agents = agents, .count = 2, .probe = answer_probe, .path = tell_path, .world = s}};
    arena_init(&s->arena);
    make_hierarchy();
    stage_open(&s->stage, strategy, hosts);
}

static void close_scene(struct scene *s)
{
    stage_close(&s->stage);
    http_answer_done(&s->ans);
    arena_done(&s->arena);
}

/* ---- asking ---- */

static int ask(struct scene *s, const char *url)
{
    struct buf target = {0}, base = {0}, bearer = {0}, text = {0};
    char path[TEST_PATH];
    struct http_caller *caller;
    const struct json_node *token;
    test_path(path, "coord/admin.token");
    CHECK_STATUS("token", file_read(path, 4096, &text), ST_OK);
    CHECK_STATUS("token", json_tree(&s->arena, buf_span(&text), &token), ST_OK);
    buf_printf(&bearer, "Authorization: Bearer %.*s", SPAN_ARG(json_member_text(token, "token")));
    buf_printf(&target, "/api/v1/explain?url=%s", url);
    struct span headers[] = {buf_span(&bearer)};
    CHECK_STATUS("caller", http_caller_new(&(struct http_caller_opts){.base = json_member_text(token, "url")}, &caller),
                 ST_OK);
    CHECK_STATUS(url,
                 http_call(caller,
                           &(struct http_call){.method = "GET",
                                               .target = buf_span(&target),
                                               .headers = headers,
                                               .header_count = 1,
                                               .answer_max = 1 << 20,
                                               .timeout_ms = 30000},
                           &s->ans),
                 ST_OK);
    CHECK_STATUS(url, json_tree(&s->arena, buf_span(&s->ans.body), &s->said), ST_OK);
    http_caller_free(caller);
    buf_done(&target);
    buf_done(&base);
    buf_done(&bearer);
    buf_done(&text);
    return s->ans.status;
}

/* Until the URL has an agent for good that has told a round trip. */
static void settle(struct scene *s, const char *url)
{
    for (int i = 0; i < STAGE_TURNS_MAX; i++) {
        stage_poll(&s->stage);
        assert_int_equal(ask(s, url), 200);
        if (json_member_number(s->said, "decided") && !json_member_number(s->said, "trial") &&
            json_member_number(s->said, "now_ms") > 0)
            return;
    }
    fail_msg("%s: nobody has it: %.600s", url, buf_cstr(&s->ans.body));
}

static const struct json_node *nth(const struct json_node *list, size_t n)
{
    const struct json_node *at = list->children;
    while (at && n--)
        at = at->next;
    if (!at)
        fail_msg("%.*s: too few", SPAN_ARG(list->name));
    return at;
}

static bool says(const struct json_node *list, const char *text)
{
    for (const struct json_node *n = list->children; n; n = n->next)
        if (span_search(n->text, span_str(text), false) < n->text.n)
            return true;
    return false;
}

#define CHECK_SAYS(s, member, text)                                                           \
    do {                                                                                      \
        if (!says(json_member((s)->said, (member)), (text)))                                  \
            fail_msg("%s: no \"%s\" in %.1500s", (member), (text), buf_cstr(&(s)->ans.body)); \
    } while (0)

/* ---- tests ---- */

static void tells_why_an_agent_has_a_site_and_what_would_change_it(void **state)
{
    struct scene s;
    open_scene(&s, DELEGATE_PROBE_ALL);
    stage_poll(&s.stage);
    stage_channel(&s.stage, "http://near.example/");
    stage_channel(&s.stage, "http://far.example/");
    settle(&s, "http://near.example/page?a=1");
    CHECK_SPAN("url", json_member_text(s.said, "url"), SPAN("http://near.example/page?a=1"));
    CHECK_SPAN("address", json_member_text(s.said, "address"), SPAN("127.1.1.1"));
    CHECK_SPAN("network", json_member_text(s.said, "network"), SPAN("127.1.0.0/23"));
    CHECK_SPAN("holder", json_member_text(s.said, "holder"), SPAN("Near <b> SARL"));
    const struct json_node *path = json_member(s.said, "path");
    CHECK_SPAN("path", json_member_text(nth(path, 0), "network"), SPAN("127.1.0.0/23"));
    CHECK_SPAN("path up", json_member_text(nth(path, 1), "network"), SPAN("127.0.0.0/9"));
    CHECK_SPAN("registry", json_member_text(nth(path, 1), "registry"), SPAN("ripencc"));
    CHECK_SPAN("status", json_member_text(nth(path, 1), "status"), SPAN("allocated"));
    CHECK_SPAN("channel", json_member_text(nth(json_member(s.said, "channels"), 0), "verdict"), SPAN("in scope"));
    CHECK_SPAN("agent", json_member_text(s.said, "agent"), SPAN("paris"));
    CHECK("since", json_member_number(s.said, "since") > 1e12);
    CHECK("both measured", nth(json_member(s.said, "probes"), 1)->next == NULL);
    const struct json_node *other = nth(json_member(s.said, "others"), 0);
    CHECK_SPAN("next nearest", json_member_text(other, "agent"), SPAN("lyon"));
    CHECK("how far", json_member_number(other, "ms") == 25);
    CHECK("measured", json_member_number(other, "measured") == 1);
    for (int i = 0; i < STAGE_TURNS_MAX && !says(json_member(s.said, "changes"), "paths from paris above"); i++) {
        stage_poll(&s.stage); /* its requests tell the same */
        assert_int_equal(ask(&s, "http://near.example/"), 200);
    }
    CHECK_SAYS(&s, "changes", "paths from paris above 20.0 ms four times in a row (10 ms more than 10.0 ms)");
    CHECK_SAYS(&s, "changes",
               "paris leaves, is full, or is not heard for 1 h in its hours: then lyon (25.0 ms measured)");
    CHECK_SAYS(&s, "changes", "orb network move 127.1.0.0/23 AGENT");

    settle(&s, "http://far.example/");
    CHECK_SPAN("far", json_member_text(s.said, "agent"), SPAN("lyon"));
    CHECK("another address", span_search(buf_span(&s.ans.body), SPAN("127.2.2.77"), false) < s.ans.body.n);
    close_scene(&s);
}

/* On one machine it takes no time that could be told. */
static void a_round_trip_of_nothing_is_an_answer(void **state)
{
    struct scene s;
    open_scene(&s, DELEGATE_PROBE_ALL);
    s.longer_ms = -10; /* paris is there */
    stage_poll(&s.stage);
    stage_channel(&s.stage, "http://near.example/");
    const struct json_node *probes = NULL;
    for (int i = 0; i < STAGE_TURNS_MAX && !(probes && probes->children && probes->children->next); i++) {
        stage_poll(&s.stage);
        assert_int_equal(ask(&s, "http://near.example/"), 200);
        probes = json_member(s.said, "probes");
    }
    for (size_t i = 0; i < 2; i++) {
        const struct json_node *p = nth(probes, i), *ms = json_member(p, "ms");
        double want = span_is(json_member_text(p, "agent"), "paris") ? 0 : 15;
        CHECK("a number", ms->kind == NODE_NUMBER);
        CHECK("that one", ms->number == want);
    }
    close_scene(&s);
}

static void what_would_change_it_does(void **state)
{
    struct scene s;
    open_scene(&s, DELEGATE_PROBE_ALL);
    stage_poll(&s.stage);
    stage_channel(&s.stage, "http://near.example/");
    settle(&s, "http://near.example/");
    CHECK_SPAN("agent", json_member_text(s.said, "agent"), SPAN("paris"));
    for (int i = 0; i < STAGE_TURNS_MAX && !says(json_member(s.said, "changes"), "paths from paris above 20.0 ms");
         i++) {
        stage_poll(&s.stage);
        assert_int_equal(ask(&s, "http://near.example/"), 200);
    }
    s.longer_ms = 60;
    unsigned probes = s.probes;
    for (int i = 0; i < STAGE_TURNS_MAX && s.probes == probes; i++)
        stage_poll(&s.stage);
    CHECK("a longer path brings probes", s.probes > probes);
    close_scene(&s);
}

static void tells_who_would_get_a_site_that_nobody_asked_for(void **state)
{
    struct scene s;
    open_scene(&s, DELEGATE_LEARNED);
    stage_poll(&s.stage);
    assert_int_equal(ask(&s, "http://new.example/"), 200);
    CHECK_SPAN("address", json_member_text(s.said, "address"), SPAN("127.3.3.1"));
    CHECK("not decided", json_member_number(s.said, "decided") == 0);
    CHECK("a guess", json_member_text(s.said, "agent").n > 0);
    CHECK("and why", json_member_text(s.said, "why").n > 0);
    CHECK("no channel", !json_member(s.said, "channels")->children);
    CHECK_SAYS(&s, "changes", "orb channel add http://new.example/");
    assert_int_equal(ask(&s, "http://192.0.2.7/"), 200);
    CHECK_SPAN("a literal", json_member_text(s.said, "network"), SPAN("192.0.2.0/24"));
    close_scene(&s);
}

static void nobody_would_get_what_a_line_keeps_for_somebody_else(void **state)
{
    struct scene s;
    struct buf why = {0};
    open_scene(&s, DELEGATE_LEARNED);
    stage_poll(&s.stage);
    pthread_mutex_lock(&s.stage.c->lock);
    CHECK_STATUS("pin", pinning_set(s.stage.c, SPAN("site near.example -> group antarctica"), &why), ST_OK);
    pthread_mutex_unlock(&s.stage.c->lock);
    stage_channel(&s.stage, "http://near.example/");
    for (int i = 0; i < STAGE_TURNS_MAX && !(s.said && json_member_text(s.said, "line").n); i++) {
        stage_poll(&s.stage);
        assert_int_equal(ask(&s, "http://near.example/"), 200);
    }
    CHECK_SPAN("the line", json_member_text(s.said, "line"), SPAN("site near.example -> group antarctica"));
    CHECK("not decided", json_member_number(s.said, "decided") == 0);
    CHECK_SPAN("nobody", json_member_text(s.said, "agent"), SPAN(""));
    CHECK_SAYS(&s, "changes", "an agent comes that the line allows: site near.example -> group antarctica");
    buf_done(&why);
    close_scene(&s);
}

static void refuses_what_is_no_url(void **state)
{
    struct scene s;
    struct buf longer = {0};
    open_scene(&s, DELEGATE_LEARNED);
    buf_puts(&longer, "http://a.example/");
    for (int i = 0; i < 3000; i++)
        buf_putc(&longer, 'a');
    const char *const bad[] = {"", "ftp://a.example/", "nothing", "http://", buf_cstr(&longer)};
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        if (ask(&s, bad[i]) != 400)
            fail_msg("\"%.40s\": %d", bad[i], s.ans.status);
    buf_done(&longer);
    close_scene(&s);
}

static void a_stopped_coordinators_folder_still_tells(void **state)
{
    struct scene s;
    struct buf json = {0}, why = {0};
    open_scene(&s, DELEGATE_PROBE_ALL);
    stage_poll(&s.stage);
    stage_channel(&s.stage, "http://near.example/");
    settle(&s, "http://near.example/");
    stage_close(&s.stage);
    CHECK_STATUS("folder", coord_explain_folder(test_folder(), SPAN("http://near.example/x"), &json, &why), ST_OK);
    CHECK_STATUS("json", json_tree(&s.arena, buf_span(&json), &s.said), ST_OK);
    CHECK("stopped", json_member_number(s.said, "running") == 0);
    CHECK_SPAN("agent", json_member_text(s.said, "agent"), SPAN("paris"));
    CHECK_SPAN("holder", json_member_text(s.said, "holder"), SPAN("Near <b> SARL"));
    CHECK("probes", nth(json_member(s.said, "probes"), 1)->next == NULL);
    CHECK_SPAN("channel", json_member_text(nth(json_member(s.said, "channels"), 0), "verdict"), SPAN("in scope"));
    buf_clear(&json);
    CHECK_STATUS("no URL", coord_explain_folder(test_folder(), SPAN("x"), &json, &why), ST_INVALID);
    buf_done(&json);
    buf_done(&why);
    close_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(tells_why_an_agent_has_a_site_and_what_would_change_it),
        TEST_IN_FOLDER(a_round_trip_of_nothing_is_an_answer),
        TEST_IN_FOLDER(what_would_change_it_does),
        TEST_IN_FOLDER(tells_who_would_get_a_site_that_nobody_asked_for),
        TEST_IN_FOLDER(nobody_would_get_what_a_line_keeps_for_somebody_else),
        TEST_IN_FOLDER(refuses_what_is_no_url),
        TEST_IN_FOLDER(a_stopped_coordinators_folder_still_tells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
