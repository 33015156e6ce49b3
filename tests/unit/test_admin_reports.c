/* test_admin_reports.c - what agents say: shown harmlessly, made into alerts, rates and counts of errors. */
#include "admin_house.h"

#include "coord/agents.h"
#include "io/clock.h"

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
    h.c->o.move_after_ms = 0; /* the coordinator was started anew: agents call again in a moment */
    h.c->started = clock_mono();
    a->heard_mono = a->answered_mono = 0;
    CHECK("no alarm at the start", !has_alert(&h, "away"));
    h.c->o.move_after_ms = 1000;
    h.c->started -= 1000;
    CHECK("but when nobody comes", has_alert(&h, "away"));
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(what_agents_say_is_shown_harmlessly),
        TEST_IN_FOLDER(alerts_say_what_is_wrong),
        TEST_IN_FOLDER(rates_come_from_the_last_half_minute),
        TEST_IN_FOLDER(errors_are_told_by_kind_whatever_the_agent_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
