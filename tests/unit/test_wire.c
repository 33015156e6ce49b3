#include "test.h"

#include "base/arena.h"
#include "base/rng.h"
#include "codec/armor.h"
#include "wire/auth.h"
#include "wire/control.h"
#include "wire/join.h"

static struct sign_key key_of(uint64_t seed)
{
    struct rng r;
    struct sign_key k;
    unsigned char s[SIGN_SEED_BYTES];
    rng_seed(&r, seed);
    for (size_t i = 0; i < sizeof(s); i++)
        s[i] = (unsigned char)rng_u64(&r);
    sign_key_of(s, &k);
    return k;
}

/* ---- fields ---- */

static void fields_come_back_whatever_they_hold(void **state)
{
    static const uint64_t numbers[] = {0, 1, 127, 128, 16383, 16384, UINT32_MAX, UINT64_MAX};
    static const int64_t signs[] = {0, -1, 1, -64, 64, INT64_MIN, INT64_MAX};
    struct buf b = {0};
    unsigned tag;
    struct span v;
    for (size_t i = 0; i < 8; i++)
        field_u64(&b, (unsigned)i + 1, numbers[i]);
    for (size_t i = 0; i < 7; i++)
        field_i64(&b, 1000, signs[i]);
    field_real(&b, UINT32_MAX, -0.1);
    field_str(&b, 5, "text");
    field_u64_if(&b, 9, 0);
    field_text_if(&b, 9, SPAN(""));
    struct fields f = fields_of(buf_span(&b));
    for (size_t i = 0; i < 8; i++)
        CHECK("number", fields_next(&f, &tag, &v) && tag == i + 1 && value_u64(v) == numbers[i]);
    for (size_t i = 0; i < 7; i++)
        CHECK("signed", fields_next(&f, &tag, &v) && tag == 1000 && value_i64(v) == signs[i]);
    CHECK("real", fields_next(&f, &tag, &v) && tag == UINT32_MAX && value_real(v) == -0.1);
    CHECK("text", fields_next(&f, &tag, &v) && tag == 5 && span_is(v, "text"));
    CHECK("end", !fields_next(&f, &tag, &v) && !fields_bad(&f));
    buf_done(&b);
}

static void what_is_no_field_is_bad(void **state)
{
    static const struct {
        const char *label;
        struct span bytes;
    } cases[] = {
        {"a tag alone", SPAN_INIT("\x01")},
        {"longer than the rest", SPAN_INIT("\x01\x02x")},
        {"a tag of 33 bits", SPAN_INIT("\x80\x80\x80\x80\x10\x00")},
        {"an endless tag", SPAN_INIT("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff")},
        {"a length of 64 bits", SPAN_INIT("\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fields f = fields_of(cases[i].bytes);
        unsigned tag;
        struct span v;
        CHECK(cases[i].label, !fields_next(&f, &tag, &v) && fields_bad(&f));
    }
    uint64_t n = 5;
    CHECK("no number", !value_get_u64(SPAN(""), &n) && n == 5 && value_u64(SPAN("\x80")) == 0);
    CHECK("more than a number", !value_get_u64(SPAN("\x01\x02"), &n));
}

/* ---- auth ---- */

static struct auth signed_request(const struct sign_key *agent, const struct sign_key *coordinator)
{
    struct auth a = {
        .agent = 17, .nonce = "0123456789abcde", .sequence = 12345, .body = digest_blake2b256(SPAN("body"))};
    auth_sign(&a, agent, &coordinator->open, SPAN("POST"), SPAN("/agent/1/poll"));
    return a;
}

static void a_header_reads_back_as_it_was_written(void **state)
{
    struct sign_key agent = key_of(1), coordinator = key_of(2);
    struct auth a = signed_request(&agent, &coordinator), b;
    struct buf text = {0}, again = {0};
    auth_format(&a, &text);
    CHECK("short enough", text.n <= AUTH_HEADER_MAX);
    CHECK_STATUS("parse", auth_parse(buf_span(&text), &b), ST_OK);
    auth_format(&b, &again);
    CHECK_SPAN("again", buf_span(&again), buf_span(&text));
    CHECK("checks", auth_check(&b, &agent.open, &coordinator.open, SPAN("POST"), SPAN("/agent/1/poll")));
    buf_done(&text);
    buf_done(&again);
}

static void a_header_has_one_spelling(void **state)
{
    static const char *const n16 = "AAAAAAAAAAAAAAAAAAAAAA";
    static const char *const n32 = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    static const char *const n64 =
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    static const struct {
        const char *label, *fmt;
        status want;
    } cases[] = {
        {"right", "1 0 %s 7 %s %s", ST_OK},
        {"another version", "2 0 %s 7 %s %s", ST_INVALID},
        {"zeros in front", "1 0 %s 07 %s %s", ST_INVALID},
        {"two spaces", "1  0 %s 7 %s %s", ST_INVALID},
        {"something after", "1 0 %s 7 %s %s ", ST_INVALID},
        {"signed", "1 -1 %s 7 %s %s", ST_INVALID},
        {"no number", "1 0 %s  %s %s", ST_INVALID},
        {"too large", "1 0 %s 18446744073709551616 %s %s", ST_INVALID},
        {"short", "1 0 %s 7 %s", ST_INVALID},
        {"largest", "1 18446744073709551615 %s 7 %s %s", ST_OK},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[300];
        struct auth a;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-extra-args"
        snprintf(text, sizeof(text), cases[i].fmt, n16, n32, n64);
#pragma GCC diagnostic pop
        CHECK_STATUS(cases[i].label, auth_parse(span_str(text), &a), cases[i].want);
    }
    char lots[AUTH_HEADER_MAX + 1] = {'1'};
    struct auth a;
    CHECK_STATUS("too long", auth_parse(span_of(lots, sizeof(lots)), &a), ST_LIMIT);
}

static void a_changed_request_does_not_check(void **state)
{
    struct sign_key agent = key_of(1), coordinator = key_of(2), other = key_of(3);
    const struct auth good = signed_request(&agent, &coordinator);
    const struct span post = SPAN_INIT("POST"), path = SPAN_INIT("/agent/1/poll");
    struct auth a = good;
    CHECK("as signed", auth_check(&a, &agent.open, &coordinator.open, post, path));
    CHECK("method", !auth_check(&a, &agent.open, &coordinator.open, SPAN("PUT"), path));
    CHECK("target", !auth_check(&a, &agent.open, &coordinator.open, post, SPAN("/agent/2/poll")));
    CHECK("shifted border", !auth_check(&a, &agent.open, &coordinator.open, SPAN("POST/"), SPAN("agent/1/poll")));
    CHECK("another agent's key", !auth_check(&a, &other.open, &coordinator.open, post, path));
    CHECK("meant for another", !auth_check(&a, &agent.open, &other.open, post, path));
    a.agent++;
    CHECK("agent", !auth_check(&a, &agent.open, &coordinator.open, post, path));
    a = good, a.nonce[0] ^= 1;
    CHECK("nonce", !auth_check(&a, &agent.open, &coordinator.open, post, path));
    a = good, a.sequence++;
    CHECK("sequence", !auth_check(&a, &agent.open, &coordinator.open, post, path));
    a = good, a.body.b[31] ^= 1;
    CHECK("body", !auth_check(&a, &agent.open, &coordinator.open, post, path));
}

static void an_answer_belongs_to_one_request(void **state)
{
    struct sign_key agent = key_of(1), coordinator = key_of(2);
    const struct auth a = signed_request(&agent, &coordinator);
    struct auth other = a;
    struct buf value = {0};
    other.sequence++;
    auth_sign(&other, &agent, &coordinator.open, SPAN("POST"), SPAN("/agent/1/poll"));
    auth_sign_answer(&a, &coordinator, 200, SPAN("orders"), &value);
    struct span v = buf_span(&value);
    CHECK("right", auth_check_answer(&a, &coordinator.open, 200, SPAN("orders"), v));
    CHECK("status", !auth_check_answer(&a, &coordinator.open, 401, SPAN("orders"), v));
    CHECK("body", !auth_check_answer(&a, &coordinator.open, 200, SPAN("order"), v));
    CHECK("request", !auth_check_answer(&other, &coordinator.open, 200, SPAN("orders"), v));
    CHECK("key", !auth_check_answer(&a, &agent.open, 200, SPAN("orders"), v));
    CHECK("cut", !auth_check_answer(&a, &coordinator.open, 200, SPAN("orders"), span_cut(v, 0, v.n - 1)));
    CHECK("empty", !auth_check_answer(&a, &coordinator.open, 200, SPAN("orders"), SPAN("")));
    buf_done(&value);
}

/* Against a twin that remembers every number. */
static void a_number_is_taken_once(void **state)
{
    struct rng r;
    rng_seed(&r, 11);
    for (int round = 0; round < 20; round++) {
        bool taken[2000] = {false};
        uint64_t top = 0;
        struct auth_window w = {0};
        for (int i = 0; i < 3000; i++) {
            uint64_t n = rng_below(&r, 4) ? top + rng_below(&r, 70) : rng_below(&r, top + 1);
            n = n > 40 ? n - rng_below(&r, 40) : n;
            if (n >= 2000)
                break;
            bool want = n > top || (top - n < AUTH_WINDOW && !taken[n]);
            CHECK("as the twin", auth_window_take(&w, n) == want);
            taken[n] |= want;
            top = n > top ? n : top;
        }
    }
    struct auth_window w = {0};
    CHECK("far ahead", auth_window_take(&w, UINT64_MAX) && !auth_window_take(&w, UINT64_MAX) &&
                           auth_window_take(&w, UINT64_MAX - 63) && !auth_window_take(&w, UINT64_MAX - 64));
}

static void a_hint_comes_back(void **state)
{
    struct auth_hint h = {"0123456789abcde", 99}, got;
    struct buf b = {0};
    auth_hint_pack(&h, &b);
    CHECK_STATUS("unpack", auth_hint_unpack(buf_span(&b), &got), ST_OK);
    CHECK("same", memcmp(h.nonce, got.nonce, sizeof(h.nonce)) == 0 && got.sequence == 99);
    b.n--;
    CHECK_STATUS("cut", auth_hint_unpack(buf_span(&b), &got), ST_INVALID);
    buf_done(&b);
}

/* ---- joining ---- */

#define TOKEN "AAECAwQFBgcICQoLDA0ODw"
#define PRINT "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

static void a_join_line_reads_back_as_it_was_written(void **state)
{
    static const char *const lines[] = {
        "orb://orb.example:7443/" TOKEN "#" PRINT,    "orb://192.0.2.7:1/" TOKEN "#" PRINT,
        "orb://[2001:db8::7]:65535/" TOKEN "#" PRINT, "orb+http://localhost:80/" TOKEN "#" PRINT,
        "orb+http://127.3.2.1:80/" TOKEN "#" PRINT,   "orb+http://[::1]:80/" TOKEN "#" PRINT,
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct join_line j;
        struct buf b = {0};
        CHECK_STATUS(lines[i], join_line_parse(span_str(lines[i]), &j), ST_OK);
        CHECK(lines[i], j.token[15] == 15 && j.fingerprint.b[31] == 31 && !strchr(j.host, '['));
        join_line_format(&j, &b);
        CHECK_SPAN(lines[i], buf_span(&b), span_str(lines[i]));
        buf_done(&b);
    }
    struct join_line j;
    CHECK_STATUS("spaces", join_line_parse(SPAN("  orb://a:1/" TOKEN "#" PRINT "\n"), &j), ST_OK);
}

static void what_is_no_join_line_is_refused(void **state)
{
    static const struct {
        const char *line;
        status want;
    } cases[] = {
        {"", ST_INVALID},
        {"https://a:1/" TOKEN "#" PRINT, ST_INVALID},
        {"orb://a/" TOKEN "#" PRINT, ST_INVALID},
        {"orb://a:0/" TOKEN "#" PRINT, ST_INVALID},
        {"orb://a:65536/" TOKEN "#" PRINT, ST_INVALID},
        {"orb://:1/" TOKEN "#" PRINT, ST_INVALID},
        {"orb://a b:1/" TOKEN "#" PRINT, ST_INVALID},
        {"orb://u@a:1/" TOKEN "#" PRINT, ST_INVALID},
        {"orb://[::1:1/" TOKEN "#" PRINT, ST_INVALID},
        {"orb://[]:1/" TOKEN "#" PRINT, ST_INVALID},
        {"orb://::1:1/" TOKEN "#" PRINT, ST_INVALID},
        {"orb://a:1/" TOKEN, ST_INVALID},
        {"orb://a:1/" TOKEN "A#" PRINT, ST_INVALID},
        {"orb://a:1/" TOKEN "#" PRINT "0", ST_INVALID},
        {"orb://a:1/" TOKEN "/#" PRINT, ST_INVALID},
        {"orb+http://a:1/" TOKEN "#" PRINT, ST_REFUSED},
        {"orb+http://127.evil.example:1/" TOKEN "#" PRINT, ST_REFUSED},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct join_line j;
        CHECK_STATUS(cases[i].line, join_line_parse(span_str(cases[i].line), &j), cases[i].want);
    }
}

static void names_of_agents_are_safe_everywhere(void **state)
{
    static const char *const good[] = {"a", "Athens-1", "x_y.z", "0"};
    static const char *const bad[] = {"", "-a", ".a", "a b", "a/b", "é", "a\n"};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        CHECK(good[i], join_name_is_good(span_str(good[i])));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        CHECK(bad[i], !join_name_is_good(span_str(bad[i])));
    char lots[JOIN_NAME_MAX + 1];
    memset(lots, 'a', sizeof(lots));
    CHECK("longest", join_name_is_good(span_of(lots, JOIN_NAME_MAX)));
    CHECK("too long", !join_name_is_good(span_of(lots, sizeof(lots))));
}

static void a_hello_is_signed_over_the_challenge(void **state)
{
    struct sign_key coordinator = key_of(2), other = key_of(3);
    unsigned char challenge[HELLO_CHALLENGE_BYTES] = "what the agent drew";
    struct hello_answer h = {.pin = "sha256//AbC+/=", .version_min = 1, .version_max = 3}, got;
    struct buf b = {0};
    hello_answer_sign(&h, &coordinator, challenge);
    hello_answer_pack(&h, &b);
    CHECK_STATUS("unpack", hello_answer_unpack(buf_span(&b), &got), ST_OK);
    CHECK("checks", hello_answer_check(&got, challenge));
    CHECK("same", strcmp(got.pin, h.pin) == 0 && got.version_min == 1 && got.version_max == 3);
    got.version_max++;
    CHECK("versions", !hello_answer_check(&got, challenge));
    got.version_max--;
    got.pin[10] ^= 1;
    CHECK("pin", !hello_answer_check(&got, challenge));
    got.pin[10] ^= 1;
    got.identity = other.open;
    CHECK("identity", !hello_answer_check(&got, challenge));
    got.identity = coordinator.open;
    challenge[0] ^= 1;
    CHECK("challenge", !hello_answer_check(&got, challenge));
    buf_clear(&b);
    snprintf(h.pin, sizeof(h.pin), "a\r\nSet-Cookie: x");
    hello_answer_pack(&h, &b);
    CHECK_STATUS("strange pin", hello_answer_unpack(buf_span(&b), &got), ST_INVALID);
    buf_done(&b);
}

static void joining_messages_come_back(void **state)
{
    struct sign_key k = key_of(4);
    struct join_request q = {.token = "0123456789abcde", .agent = k.open, .version = SPAN("0.2.0")}, q2;
    struct join_answer a = {.agent = 5, .name = SPAN("athens-1"), .hint = {"fedcba987654321", 8}}, a2;
    struct buf b = {0};
    join_request_pack(&q, &b);
    CHECK_STATUS("request", join_request_unpack(buf_span(&b), &q2), ST_OK);
    CHECK("request", memcmp(q.token, q2.token, 16) == 0 && memcmp(&q.agent, &q2.agent, 32) == 0);
    CHECK_SPAN("version", q2.version, q.version);
    buf_clear(&b);
    join_answer_pack(&a, &b);
    CHECK_STATUS("answer", join_answer_unpack(buf_span(&b), &a2), ST_OK);
    CHECK("answer", a2.agent == 5 && memcmp(a2.hint.nonce, a.hint.nonce, 16) == 0 && a2.hint.sequence == 8);
    CHECK_SPAN("name", a2.name, a.name);
    buf_clear(&b);
    a.name = SPAN("../x");
    join_answer_pack(&a, &b);
    CHECK_STATUS("a name that is a path", join_answer_unpack(buf_span(&b), &a2), ST_INVALID);
    buf_done(&b);
}

/* ---- control ---- */

static const struct span some_texts[] = {SPAN_INIT("one"), SPAN_INIT(""), SPAN_INIT("three")};

static void orders_come_back(void **state)
{
    static const uint64_t links[] = {1, UINT64_MAX, 3};
    struct arena a;
    struct buf b = {0};
    arena_init(&a);
    struct task_order t = {.task = 7,
                           .channel = SPAN("chan"),
                           .kind = SUMMARY_KEYWORDS,
                           .wants_warc = true,
                           .expected_pages = 1000,
                           .program = SPAN("p"),
                           .states = 9,
                           .networks = some_texts,
                           .network_count = 3,
                           .hosts = some_texts,
                           .host_count = 1,
                           .seeds = some_texts,
                           .seed_count = 2,
                           .known_links = links,
                           .known_link_count = 3,
                           .hosts_state = some_texts,
                           .hosts_state_count = 3},
                      t2;
    task_order_pack(&t, &b);
    CHECK_STATUS("task", task_order_unpack(&a, buf_span(&b), &t2), ST_OK);
    CHECK("task",
          t2.task == 7 && t2.kind == SUMMARY_KEYWORDS && t2.wants_warc && t2.expected_pages == 1000 && t2.states == 9);
    CHECK_SPAN("channel", t2.channel, t.channel);
    CHECK_SPAN("program", t2.program, t.program);
    CHECK("lists", t2.network_count == 3 && t2.host_count == 1 && t2.seed_count == 2 && t2.hosts_state_count == 3);
    CHECK_SPAN("third", t2.networks[2], some_texts[2]);
    CHECK_SPAN("empty", t2.networks[1], some_texts[1]);
    CHECK("numbers", t2.known_link_count == 3 && memcmp(t2.known_links, links, sizeof(links)) == 0);
    buf_clear(&b);
    struct agent_settings s = {.state = AGENT_DRAIN,
                               .hours = SPAN("mon 1:00-2:00"),
                               .bytes_a_day = 1,
                               .bytes_per_s = 2,
                               .memory_bytes = 3,
                               .disk_bytes = 4,
                               .idle_only = true,
                               .tasks_max = 5,
                               .package_bytes = 6,
                               .package_age_ms = -1,
                               .poll_ms = 8},
                          s2;
    agent_settings_pack(&s, &b);
    CHECK_STATUS("settings", agent_settings_unpack(buf_span(&b), &s2), ST_OK);
    CHECK("settings", s2.state == AGENT_DRAIN && s2.idle_only && s2.tasks_max == 5 && s2.package_age_ms == -1);
    struct buf again = {0};
    agent_settings_pack(&s2, &again);
    CHECK_SPAN("settings", buf_span(&again), buf_span(&b));
    buf_done(&again);
    buf_done(&b);
    arena_done(&a);
}

static void a_probe_order_comes_back_and_unknown_kinds_are_the_agents_to_choose(void **state)
{
    static const struct probe_ask asks[] = {
        {1, SPAN_INIT("https://one.example/"), SPAN_INIT("192.0.2.1"), 65535, 3, 16},
        {.id = UINT64_MAX, .address = SPAN_INIT("2001:db8::1"), .kind = 4}};
    struct probe_order o = {asks, 2}, got;
    struct buf b = {0};
    struct arena a;
    arena_init(&a);
    probe_order_pack(&o, &b);
    CHECK_STATUS("unpack", probe_order_unpack(&a, buf_span(&b), &got), ST_OK);
    CHECK("count", got.probe_count == 2);
    CHECK_SPAN("url", got.probes[0].url, asks[0].url);
    CHECK_SPAN("address", got.probes[0].address, asks[0].address);
    CHECK("numbers", got.probes[0].port == 65535 && got.probes[0].kind == 3 && got.probes[0].samples == 16);
    CHECK("unknown", got.probes[1].id == UINT64_MAX && got.probes[1].kind == 0 && got.probes[1].url.n == 0);
    CHECK_STATUS("none", probe_order_unpack(&a, SPAN(""), &got), ST_OK);
    CHECK("none", got.probe_count == 0);
    buf_done(&b);
    arena_done(&a);
}

static struct report full_report(void)
{
    static const struct outcome outcomes[] = {
        {.number = 4, .st = ST_REFUSED, .why = SPAN_INIT("no"), .parts = some_texts, .part_count = 3}, {.number = 5}};
    static const struct task_report tasks[] = {
        {1, TASK_RUNNING, 2, 3, 4, 5, 6, 7, true, {UINT64_MAX, 1, 2, 3, 4, 5, 6, -7, 8}},
        {.task = 8, .state = TASK_ENDED}};
    static const struct stray_host strays[] = {{1, SPAN_INIT("h.example"), SPAN_INIT("192.0.2.1")}};
    static const struct network_timing timings[] = {{SPAN_INIT("192.0.2.0/24"), 9, 1, 2, 3, UINT32_MAX, UINT64_MAX}};
    static const struct program_report programs[] = {{SPAN_INIT("p"), 1, 2, 3, true, SPAN_INIT("line 1")}};
    static const struct error_count errors[] = {{ERROR_OTHER, 1}, {ERROR_TIMEOUT, 3}, {ERROR_HTTP_5XX, 4}};
    static const struct probe_report probes[] = {{UINT64_MAX, ST_OK, 2, SPAN_INIT("192.0.2.7"), 3, 1, 10, 20, 30},
                                                 {.id = 2, .st = ST_TIMEOUT, .lost = 2}};
    return (struct report){.wire_version = 1,
                           .version = SPAN("0.2.0"),
                           .boot = UINT64_MAX,
                           .orders_done = 3,
                           .activity = ACTIVITY_QUOTA,
                           .sequence = 12,
                           .spool_packages = 2,
                           .spool_bytes = 3,
                           .requests = 4,
                           .pages = 5,
                           .bytes_crawled = 6,
                           .bytes_sent = 7,
                           .errors = 8,
                           .queue = 9,
                           .hosts_waiting = 10,
                           .memory_bytes = 11,
                           .disk_free_bytes = 12,
                           .uptime_ms = 13,
                           .has_setup = true,
                           .setup = {.cores = 2,
                                     .memory_bytes = 1,
                                     .disk_bytes = 2,
                                     .bandwidth_bytes_per_s = 3,
                                     .system = SPAN("Linux"),
                                     .machine = SPAN("x86_64-linux-gnu"),
                                     .zone = SPAN("Europe/Athens"),
                                     .place = SPAN("Athens"),
                                     .address = SPAN("192.0.2.9"),
                                     .own_sites = some_texts,
                                     .own_site_count = 3},
                           .outcomes = outcomes,
                           .outcome_count = 2,
                           .tasks = tasks,
                           .task_count = 2,
                           .strays = strays,
                           .stray_count = 1,
                           .timings = timings,
                           .timing_count = 1,
                           .programs = programs,
                           .program_count = 1,
                           .refused = some_texts,
                           .refused_count = 3,
                           .errors_by_kind = errors,
                           .error_kind_count = 3,
                           .probes = probes,
                           .probe_count = 2,
                           .tasks_max = 64,
                           .tasks_busy = 3,
                           .orders_taken = 9};
}

static void a_report_comes_back(void **state)
{
    struct arena a;
    struct buf b = {0}, again = {0};
    struct report r = full_report(), got;
    arena_init(&a);
    report_pack(&r, &b);
    CHECK_STATUS("unpack", report_unpack(&a, buf_span(&b), &got), ST_OK);
    report_pack(&got, &again);
    CHECK_SPAN("packed again", buf_span(&again), buf_span(&b));
    CHECK("outcome",
          got.outcomes[0].st == ST_REFUSED && got.outcomes[0].part_count == 3 && got.outcomes[1].number == 5);
    CHECK("task", got.tasks[0].state == TASK_RUNNING && got.tasks[0].bytes == 7 && got.tasks[1].task == 8);
    CHECK("visit", got.tasks[0].has_visit && got.tasks[0].visit.number == UINT64_MAX &&
                       got.tasks[0].visit.changed == 2 && got.tasks[0].visit.changed_at == -7 &&
                       got.tasks[0].visit.told == 8 && !got.tasks[1].has_visit);
    CHECK("slots", got.tasks_max == 64 && got.tasks_busy == 3);
    assert_int_equal(got.orders_taken, 9);
    CHECK("timing", got.timings[0].total_median_us == UINT32_MAX);
    CHECK("setup", got.has_setup && got.setup.own_site_count == 3 && got.setup.cores == 2);
    CHECK("program", got.programs[0].is_fallback);
    CHECK("errors", got.error_kind_count == 3 && got.errors_by_kind[0].kind == ERROR_OTHER &&
                        got.errors_by_kind[0].count == 1 && got.errors_by_kind[2].kind == ERROR_HTTP_5XX &&
                        got.errors_by_kind[2].count == 4);
    CHECK("probes", got.probe_count == 2 && got.probes[0].id == UINT64_MAX && got.probes[0].kind == 2 &&
                        got.probes[0].server_us == 30 && got.probes[1].st == ST_TIMEOUT && got.probes[1].lost == 2);
    for (size_t n = 0; n < b.n; n++) { /* cut anywhere: fewer fields, or none */
        status st = report_unpack(&a, span_cut(buf_span(&b), 0, n), &got);
        CHECK("cut", st == ST_OK || st == ST_INVALID);
        arena_reset(&a);
    }
    buf_done(&b);
    buf_done(&again);
    arena_done(&a);
}

static void a_poll_answer_comes_back_with_orders_of_kinds_unknown(void **state)
{
    static const struct order orders[] = {{1, ORDER_REKEY, {0}}, {2, (order_kind)77, SPAN_INIT("?")}};
    struct poll_answer p = {.lease_ms = 600000, .have = 4, .wants_setup = true, .orders = orders, .order_count = 2},
                       got;
    struct arena a;
    struct buf b = {0};
    arena_init(&a);
    poll_answer_pack(&p, &b);
    CHECK_STATUS("unpack", poll_answer_unpack(&a, buf_span(&b), &got), ST_OK);
    CHECK("same", got.lease_ms == 600000 && got.have == 4 && got.wants_setup && got.order_count == 2);
    CHECK("kinds", got.orders[0].kind == ORDER_REKEY && got.orders[1].kind == 77 && span_is(got.orders[1].body, "?"));
    buf_done(&b);
    arena_done(&a);
}

static void fields_of_the_next_version_are_skipped(void **state)
{
    struct arena a;
    struct buf b = {0};
    struct report r = full_report(), got;
    arena_init(&a);
    field_str(&b, 900, "from the future");
    report_pack(&r, &b);
    field_u64(&b, 5, 99); /* an activity that we do not know */
    field_u64(&b, 901, 5);
    CHECK_STATUS("unpack", report_unpack(&a, buf_span(&b), &got), ST_OK);
    CHECK("known ones", got.sequence == 12 && got.outcome_count == 2);
    CHECK("unknown activity", got.activity == 0);
    buf_done(&b);
    arena_done(&a);
}

static void kinds_of_errors_keep_their_numbers_and_unknown_ones_are_other(void **state)
{
    static const struct {
        const char *name;
        unsigned number;
        bool is_counted;
    } kinds[] = {{"other", 0, true},    {"dns", 1, true},      {"connect", 2, true},   {"tls", 3, true},
                 {"timeout", 4, true},  {"protocol", 5, true}, {"limit", 6, true},     {"refused", 7, true},
                 {"invalid", 8, true},  {"http_4xx", 9, true}, {"http_5xx", 10, true}, {"gone", 11, false},
                 {"robots", 12, false}, {"other", 13, true},   {"other", 4000, true}};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        CHECK(kinds[i].name, strcmp(error_kind_name((error_kind)kinds[i].number), kinds[i].name) == 0);
        CHECK(kinds[i].name, error_kind_is_counted((error_kind)kinds[i].number) == kinds[i].is_counted);
    }
    CHECK("status", error_kind_of_status(ST_DNS) == ERROR_DNS && error_kind_of_status(ST_FULL) == ERROR_OTHER);
    struct arena a;
    struct buf b = {0}, part = {0};
    struct report got;
    arena_init(&a);
    field_u64(&part, 1, ERROR_KINDS + 7);
    field_u64(&part, 2, 42);
    field_text(&b, 26, buf_span(&part));
    CHECK_STATUS("unpack", report_unpack(&a, buf_span(&b), &got), ST_OK);
    CHECK("other",
          got.error_kind_count == 1 && got.errors_by_kind[0].kind == ERROR_OTHER && got.errors_by_kind[0].count == 42);
    buf_done(&b);
    buf_done(&part);
    arena_done(&a);
}

static void numbers_and_lists_have_limits(void **state)
{
    struct arena a;
    struct buf b = {0};
    struct report r = {.sequence = 42};
    struct poll_answer p;
    arena_init(&a);
    field_u64(&b, 1, 65536);
    CHECK_STATUS("16 bits", report_unpack(&a, buf_span(&b), &r), ST_INVALID);
    CHECK("untouched", r.sequence == 42);
    buf_clear(&b);
    for (int i = 0; i <= CONTROL_ORDERS_MAX; i++)
        field_text(&b, 4, SPAN(""));
    CHECK_STATUS("orders", poll_answer_unpack(&a, buf_span(&b), &p), ST_LIMIT);
    buf_clear(&b);
    for (int i = 0; i <= CONTROL_LIST_MAX; i++)
        field_text(&b, 25, SPAN(""));
    CHECK_STATUS("texts", report_unpack(&a, buf_span(&b), &r), ST_LIMIT);
    buf_clear(&b);
    struct task_order t;
    field_text(&b, 11, SPAN("1234567"));
    CHECK_STATUS("seven bytes of a number", task_order_unpack(&a, buf_span(&b), &t), ST_INVALID);
    buf_done(&b);
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_come_back_whatever_they_hold),
        cmocka_unit_test(what_is_no_field_is_bad),
        cmocka_unit_test(a_header_reads_back_as_it_was_written),
        cmocka_unit_test(a_header_has_one_spelling),
        cmocka_unit_test(a_changed_request_does_not_check),
        cmocka_unit_test(an_answer_belongs_to_one_request),
        cmocka_unit_test(a_number_is_taken_once),
        cmocka_unit_test(a_hint_comes_back),
        cmocka_unit_test(a_join_line_reads_back_as_it_was_written),
        cmocka_unit_test(what_is_no_join_line_is_refused),
        cmocka_unit_test(names_of_agents_are_safe_everywhere),
        cmocka_unit_test(a_hello_is_signed_over_the_challenge),
        cmocka_unit_test(joining_messages_come_back),
        cmocka_unit_test(orders_come_back),
        cmocka_unit_test(a_probe_order_comes_back_and_unknown_kinds_are_the_agents_to_choose),
        cmocka_unit_test(a_report_comes_back),
        cmocka_unit_test(kinds_of_errors_keep_their_numbers_and_unknown_ones_are_other),
        cmocka_unit_test(a_poll_answer_comes_back_with_orders_of_kinds_unknown),
        cmocka_unit_test(fields_of_the_next_version_are_skipped),
        cmocka_unit_test(numbers_and_lists_have_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
