/* test_admin_changes.c - what people change: agents, channels, programs, keys; and what a form says is wrong. */
#include "admin_house.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "apply/apply.h"
#include "coord/assign.h"
#include "mobile/program.h"

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

static void a_channel_says_what_it_waits_for(void **state)
{
    static const struct addr there = {4, {127, 1, 1, 1}};
    struct house h;
    open_house(&h);
    EXPECT(&h, "add", post(&h, "/api/v1/channels", "seeds=https://a.example/", WITH_TOKEN), 200);
    EXPECT(&h, "new", get(&h, "/api/v1/channels", WITH_TOKEN), 200);
    CHECK("new", said(&h, "\"state\":\"waiting\",\"waits_for\":\"a.example is being looked up\""));
    pthread_mutex_lock(&h.c->lock);
    struct c_host *host = table_get(&h.c->hosts, siphash(&h.c->key, SPAN("a.example")));
    assign_resolved(h.c, host, ST_NOT_FOUND, NULL);
    pthread_mutex_unlock(&h.c->lock);
    EXPECT(&h, "not found", get(&h, "/api/v1/channels/a.example", WITH_TOKEN), 200);
    CHECK("not found", said(&h, "\"waits_for\":\"a.example is not found: its name leads nowhere"));
    pthread_mutex_lock(&h.c->lock);
    assign_resolved(h.c, host, ST_OK, &there);
    pthread_mutex_unlock(&h.c->lock);
    EXPECT(&h, "no agent", get(&h, "/api/v1/channels/a.example", WITH_TOKEN), 200);
    CHECK("no agent", said(&h, "\"waits_for\":\"a.example has no agent: none is there that takes networks\""));
    EXPECT(&h, "pause", post(&h, "/api/v1/channels/a.example/pause", "", WITH_TOKEN), 200);
    EXPECT(&h, "paused", get(&h, "/api/v1/channels/a.example", WITH_TOKEN), 200);
    CHECK("paused", said(&h, "\"waits_for\":null"));
    close_house(&h);
}

static void lines_name_agents_that_are_there(void **state)
{
    static const struct {
        const char *label, *form;
    } bad[] = {{"a line", "add=site+a.example+->+agent+parsi"},
               {"one of two", "add=site+a.example+->+agent+paris,+agent+parsi"},
               {"a group", "add=group+alps+=+paris,+parsi"},
               {"all lines", "pins=site+a.example+->+agent+paris%0Aall+->+agent+parsi"}};
    struct house h;
    open_house(&h);
    first_admin(&h);
    EXPECT(&h, "nobody", post(&h, "/api/v1/pins", "add=all+->+agent+paris", WITH_TOKEN), 400);
    CHECK("says so",
          said(&h, "line 1: there is no agent \\\"paris\\\"; there are none yet") && said(&h, "orb agent add"));
    EXPECT(&h, "agent", post(&h, "/api/v1/agents", "name=paris", WITH_TOKEN), 200);
    EXPECT(&h, "agent", post(&h, "/api/v1/agents", "name=lyon", WITH_TOKEN), 200);
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        EXPECT(&h, bad[i].label, post(&h, "/api/v1/pins", bad[i].form, WITH_TOKEN), 400);
        CHECK(bad[i].label, said(&h, "there is no agent \\\"parsi\\\"; there are: paris, lyon."));
    }
    EXPECT(&h, "the form", post(&h, "/api/v1/pins", "pins=all+->+agent+parsi", WITH_COOKIE | WITH_CSRF), 400);
    CHECK("the form says it too", said(&h, "parsi") && said(&h, "there are: paris, lyon"));
    EXPECT(&h, "none of it holds", get(&h, "/api/v1/pins", WITH_TOKEN), 200);
    CHECK("none of it holds", said(&h, "\"lines\":[]"));
    /* One that has not joined yet is there. */
    EXPECT(&h, "good", post(&h, "/api/v1/pins", "add=all+->+agent+paris", WITH_TOKEN), 200);
    EXPECT(&h, "good", post(&h, "/api/v1/pins", "add=country+DE+->+group+country:CH", WITH_TOKEN), 200);
    /* A line stays when its agent goes, and is no reason to refuse others. */
    EXPECT(&h, "gone", post(&h, "/api/v1/agents/paris/remove", "", WITH_TOKEN), 200);
    EXPECT(&h, "another", post(&h, "/api/v1/pins", "add=site+a.example+->+agent+lyon", WITH_TOKEN), 200);
    EXPECT(&h, "the same name", post(&h, "/api/v1/pins", "add=site+b.example+->+agent+paris", WITH_TOKEN), 400);
    EXPECT(&h, "take back", post(&h, "/api/v1/pins", "remove=site+a.example+->+agent+lyon", WITH_TOKEN), 200);
    close_house(&h);
}

static void a_channel_on_its_way_out_is_not_there_to_be_edited(void **state)
{
    struct house h;
    char target[96];
    open_house(&h); /* nobody buries it: no tick runs */
    EXPECT(&h, "add", post(&h, "/api/v1/channels", "seeds=https://a.example/", WITH_TOKEN), 200);
    struct span body = buf_span(&h.ans.body), id = span_cut(body, span_search(body, SPAN("\"id\":\""), false) + 6, 16);
    snprintf(target, sizeof(target), "/api/v1/channels/%.*s/remove", SPAN_ARG(id));
    EXPECT(&h, "remove", post(&h, target, "", WITH_TOKEN), 200);
    EXPECT(&h, "add again", post(&h, "/api/v1/channels", "seeds=https://a.example/", WITH_TOKEN), 409);
    CHECK("what is the matter", said(&h, "it is being removed") && said(&h, "\"busy\""));
    close_house(&h);
}

static void nobody_is_told_that_a_full_disk_took_it(void **state)
{
    struct house h;
    struct rlimit l;
    struct stat sb;
    char path[TEST_PATH];
    open_house(&h);
    EXPECT(&h, "agent", post(&h, "/api/v1/agents", "name=one", WITH_TOKEN), 200);
    test_path(path, "fleet.db-wal");
    assert_int_equal(stat(path, &sb), 0);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &l), 0);
    signal(SIGXFSZ, SIG_IGN);
    l.rlim_cur = (rlim_t)sb.st_size;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &l), 0);
    EXPECT(&h, "add", post(&h, "/api/v1/channels", "seeds=https://a.example/", WITH_TOKEN), 507);
    EXPECT(&h, "pause", post(&h, "/api/v1/agents/one/pause", "", WITH_TOKEN), 507);
    EXPECT(&h, "remove", post(&h, "/api/v1/agents/one/remove", "", WITH_TOKEN), 507);
    CHECK("what is wrong", said(&h, "disk is full") && said(&h, "\"full\""));
    EXPECT(&h, "to look costs nothing", get(&h, "/api/v1/agents", WITH_TOKEN), 200);
    l.rlim_cur = l.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &l), 0);
    EXPECT(&h, "room", post(&h, "/api/v1/channels", "seeds=https://b.example/", WITH_TOKEN), 200);
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

struct refusals {
    unsigned orders;
    bool is_first;
    struct buf places; /* of the last */
};

static status note_refusal(void *arg, uint64_t number, struct span packed)
{
    struct refusals *t = arg;
    struct order o;
    struct refuse_order r;
    CHECK_STATUS("order", order_unpack(packed, &o), ST_OK);
    if (o.kind != ORDER_REFUSE)
        return ST_OK;
    CHECK_STATUS("refuse", refuse_order_unpack(o.body, &r), ST_OK);
    t->orders++;
    t->is_first = r.is_first;
    buf_clear(&t->places);
    buf_put(&t->places, r.places);
    return ST_OK;
}

static void agents_hear_of_what_is_newly_forgotten(void **state)
{
    static const struct {
        const char *form;
        bool is_first;
        const char *told;
    } steps[] = {{"places=a.example&sure=1", false, "a.example\n"},
                 {"places=b.example%0Ac.example&sure=1", false, "b.example\nc.example\n"},
                 {"places=a.example&undo=1", true, "b.example\nc.example\n"},
                 {"places=d.example&sure=1", false, "d.example\n"}};
    struct house h;
    open_house(&h);
    EXPECT(&h, "agent", post(&h, "/api/v1/agents", "name=one", WITH_TOKEN), 200);
    for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
        struct refusals t = {0};
        EXPECT(&h, steps[i].form, post(&h, "/api/v1/forget", steps[i].form, WITH_TOKEN), 200);
        pthread_mutex_lock(&h.c->lock);
        CHECK_STATUS("orders", fleet_order_each(h.c->fleet, 1, 0, note_refusal, &t), ST_OK);
        pthread_mutex_unlock(&h.c->lock);
        assert_int_equal(t.orders, i + 1);
        CHECK_SPAN(steps[i].form, buf_span(&t.places), span_str(steps[i].told));
        CHECK(steps[i].form, t.is_first == steps[i].is_first);
        buf_done(&t.places);
    }
    close_house(&h);
}

/* A kill came after the pages of a forgotten place were taken out, and before its links and WARC records were. */
static void forgetting_goes_on_after_a_kill(void **state)
{
    struct house h;
    struct store *s = NULL;
    struct buf text = {0}, mark = {0}, why = {0};
    char path[TEST_PATH];
    open_house(&h);
    close_house(&h);
    CHECK_STATUS("store", store_open(test_folder(), STORE_WRITE, &s, &why), ST_OK);
    CHECK_STATUS("place", store_forgotten_put(s, &(struct forgotten){SPAN("a.example"), 1700000000000, SPAN("")}),
                 ST_OK);
    CHECK_STATUS("mark", apply_forget_soon(s), ST_OK);
    CHECK_STATUS("pages are done", store_setting_remove(s, APPLY_FORGET_SETTING), ST_OK);
    store_free(s);
    test_path(path, "links");
    CHECK_STATUS("folder", file_mkdir(path), ST_OK);
    test_path(path, "links/0123456789abcdef");
    CHECK_STATUS("links", file_replace(path, SPAN("http://a.example/x\nhttp://b.example/y\n")), ST_OK);
    open_house(&h);
    for (int i = 0; i < 500 && text.n != sizeof("http://b.example/y"); i++) {
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
        buf_clear(&text);
        CHECK_STATUS("read", file_read(path, 1000, &text), ST_OK);
    }
    CHECK_SPAN("links", buf_span(&text), SPAN("http://b.example/y\n"));
    close_house(&h);
    CHECK_STATUS("store", store_open(test_folder(), STORE_READ, &s, &why), ST_OK);
    CHECK_STATUS("it is over", store_setting_get(s, APPLY_FORGET_FILES_SETTING, &mark), ST_NOT_FOUND);
    store_free(s);
    buf_done(&text);
    buf_done(&mark);
    buf_done(&why);
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
    /* One that sleeps must hear of each. */
    EXPECT(&h, "agent", post(&h, "/api/v1/agents", "name=one", WITH_TOKEN), 200);
    EXPECT(&h, "not joined", post(&h, "/api/v1/identity/rotate", "", WITH_TOKEN), 200);
    struct c_agent *a = h.c->agents[0];
    a->is_joined = true;
    EXPECT(&h, "joined since", post(&h, "/api/v1/identity/rotate", "", WITH_TOKEN), 200);
    memcpy(old, h.c->id.fingerprint_hex, sizeof(old));
    EXPECT(&h, "asleep", post(&h, "/api/v1/identity/rotate", "", WITH_TOKEN), 409);
    CHECK("who it is", said(&h, "Agent one has not heard"));
    assert_string_equal(old, h.c->id.fingerprint_hex);
    a->orders_done = a->orders_given;
    EXPECT(&h, "it has heard", post(&h, "/api/v1/identity/rotate", "", WITH_TOKEN), 200);
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
        TEST_IN_FOLDER(agents_are_registered_and_told),
        TEST_IN_FOLDER(channels_are_added_edited_imported),
        TEST_IN_FOLDER(a_channel_says_what_it_waits_for),
        TEST_IN_FOLDER(lines_name_agents_that_are_there),
        TEST_IN_FOLDER(a_channel_on_its_way_out_is_not_there_to_be_edited),
        TEST_IN_FOLDER(nobody_is_told_that_a_full_disk_took_it),
        TEST_IN_FOLDER(a_form_that_forgets_wants_to_be_meant),
        TEST_IN_FOLDER(agents_hear_of_what_is_newly_forgotten),
        TEST_IN_FOLDER(forgetting_goes_on_after_a_kill),
        TEST_IN_FOLDER(how_channels_are_kept_fresh_is_told_and_set),
        TEST_IN_FOLDER(programs_are_taken_only_signed_and_rising),
        TEST_IN_FOLDER(keys_rotate_and_updates_are_kept),
        TEST_IN_FOLDER(a_form_says_what_is_wrong_next_to_the_field),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
