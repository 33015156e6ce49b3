/* Who may say what to whom: joining, signed calls and their answers, against a coordinator in this test. */
#include "test.h"

#include "agent/session.h"
#include "base/rng.h"
#include "fake_coordinator.h"

static struct session *a_session(struct sign_key *key)
{
    unsigned char seed[SIGN_SEED_BYTES] = {42};
    sign_key_of(seed, key);
    return session_new(&(struct session_opts){.key = key, .user_agent = SPAN("test")});
}

static status join(struct fake *f, struct session *s, const char *change, struct buf *why)
{
    struct buf line = {0};
    struct join_line j;
    struct session_joined joined;
    fake_line(f, &line);
    CHECK_STATUS("line", join_line_parse(buf_span(&line), &j), ST_OK);
    buf_done(&line);
    if (strcmp(change, "token") == 0)
        j.token[0] ^= 1;
    else if (strcmp(change, "fingerprint") == 0)
        j.fingerprint.b[31] ^= 1;
    else if (strcmp(change, "host") == 0)
        strcpy(j.host, "192.0.2.1");
    status st = session_join(s, &j, SPAN("0.1.0"), &joined, why);
    if (st == ST_OK) {
        assert_int_equal(joined.agent, 7);
        assert_string_equal(joined.name, "test-agent");
        session_joined_done(&joined);
    }
    return st;
}

static void joins_only_the_coordinator_that_the_line_names(void **state)
{
    struct fake f;
    struct sign_key key;
    static const struct {
        const char *change;
        status want;
    } cases[] = {{"fingerprint", ST_REFUSED}, {"token", ST_REFUSED}, {"host", ST_REFUSED}, {"nothing", ST_OK}};
    fake_start(&f);
    struct session *s = a_session(&key);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct buf why = {0};
        CHECK_STATUS(cases[i].change, join(&f, s, cases[i].change, &why), cases[i].want);
        CHECK(cases[i].change, cases[i].want == ST_OK || why.n > 0);
        /* A token must never reach somebody who has not proven to be the coordinator. */
        if (strcmp(cases[i].change, "fingerprint") == 0)
            assert_int_equal(f.last_body.n, 0);
        buf_done(&why);
    }
    assert_true(f.is_joined);
    session_free(s);
    fake_stop(&f);
}

static status poll(struct session_line *l, int *http_status)
{
    struct http_answer answer = {0};
    struct buf body = {0};
    report_pack(&(struct report){.wire_version = WIRE_VERSION}, &body);
    status st = session_call(l,
                             &(struct http_call){.method = "POST",
                                                 .target = SPAN(PATH_POLL "?wait=0"),
                                                 .body = buf_span(&body),
                                                 .answer_max = CONTROL_BYTES_MAX,
                                                 .timeout_ms = 5000},
                             &answer);
    *http_status = answer.status;
    http_answer_done(&answer);
    buf_done(&body);
    return st;
}

static void an_answer_that_is_not_signed_for_this_is_no_answer(void **state)
{
    struct fake f;
    struct sign_key key;
    struct session_line *l = NULL;
    struct buf why = {0};
    int http_status;
    fake_start(&f);
    struct session *s = a_session(&key);
    CHECK_STATUS("not enrolled", session_line_new(s, &l), ST_OK);
    CHECK_STATUS("not enrolled", poll(l, &http_status), ST_NOT_FOUND);
    CHECK_STATUS("join", join(&f, s, "nothing", &why), ST_OK);
    CHECK_STATUS("signed", poll(l, &http_status), ST_OK);
    f.is_silent = true;
    CHECK_STATUS("not signed", poll(l, &http_status), ST_PROTOCOL);
    f.is_silent = false;
    f.is_wrong = true;
    CHECK_STATUS("signed for another request", poll(l, &http_status), ST_PROTOCOL);
    f.is_wrong = false;
    CHECK_STATUS("signed again", poll(l, &http_status), ST_OK);
    assert_int_equal(http_status, 200);
    session_line_free(l);
    session_free(s);
    buf_done(&why);
    fake_stop(&f);
}

static void a_new_nonce_costs_one_more_call(void **state)
{
    struct fake f;
    struct sign_key key;
    struct session_line *l = NULL;
    struct buf why = {0};
    int http_status;
    fake_start(&f);
    struct session *s = a_session(&key);
    CHECK_STATUS("join", join(&f, s, "nothing", &why), ST_OK);
    CHECK_STATUS("line", session_line_new(s, &l), ST_OK);
    CHECK_STATUS("first", poll(l, &http_status), ST_OK);
    assert_int_equal(f.calls, 1);
    memset(f.nonce, 1, sizeof(f.nonce));
    f.window = (struct auth_window){.top = 1000};
    CHECK_STATUS("after a restart of the coordinator", poll(l, &http_status), ST_OK);
    assert_int_equal(http_status, 200);
    assert_int_equal(f.calls, 3);
    CHECK_STATUS("and the next", poll(l, &http_status), ST_OK);
    assert_int_equal(f.calls, 4);
    CHECK("bytes are counted", session_bytes_sent(s) > 0 && session_bytes_received(s) > 0);
    session_line_free(l);
    session_free(s);
    buf_done(&why);
    fake_stop(&f);
}

/* The very bytes that were taken once, sent again by somebody who listened. */
static void a_call_that_is_played_again_is_not_taken(void **state)
{
    struct fake f;
    struct sign_key key;
    struct session_line *l = NULL;
    struct http_caller *thief = NULL;
    struct http_answer answer = {0};
    struct buf why = {0}, base = {0}, header = {0}, body = {0}, target = {0};
    int http_status;
    fake_start(&f);
    struct session *s = a_session(&key);
    CHECK_STATUS("join", join(&f, s, "nothing", &why), ST_OK);
    CHECK_STATUS("line", session_line_new(s, &l), ST_OK);
    CHECK_STATUS("call", poll(l, &http_status), ST_OK);
    unsigned polls = f.polls;
    buf_printf(&base, "http://127.0.0.1:%d", httpd_port(f.httpd));
    buf_puts(&header, AUTH_HEADER ": ");
    buf_put(&header, buf_span(&f.last_header));
    buf_put(&body, buf_span(&f.last_body));
    buf_put(&target, buf_span(&f.last_target));
    struct span headers[] = {buf_span(&header)};
    CHECK_STATUS("thief", http_caller_new(&(struct http_caller_opts){.base = buf_span(&base)}, &thief), ST_OK);
    struct http_call call = {.method = "POST",
                             .target = buf_span(&target),
                             .headers = headers,
                             .header_count = 1,
                             .body = buf_span(&body),
                             .answer_max = 100000,
                             .timeout_ms = 5000};
    CHECK_STATUS("again", http_call(thief, &call, &answer), ST_OK);
    assert_int_equal(answer.status, 401);
    call.body = SPAN("something else");
    CHECK_STATUS("altered", http_call(thief, &call, &answer), ST_OK);
    assert_int_equal(answer.status, 403);
    assert_int_equal(f.polls, polls);
    http_answer_done(&answer);
    http_caller_free(thief);
    session_line_free(l);
    session_free(s);
    buf_done(&why);
    buf_done(&base);
    buf_done(&header);
    buf_done(&body);
    buf_done(&target);
    fake_stop(&f);
}

static void cancelling_ends_all_calls(void **state)
{
    struct fake f;
    struct sign_key key;
    struct session_line *l = NULL;
    struct buf why = {0};
    int http_status;
    fake_start(&f);
    struct session *s = a_session(&key);
    CHECK_STATUS("join", join(&f, s, "nothing", &why), ST_OK);
    CHECK_STATUS("line", session_line_new(s, &l), ST_OK);
    session_cancel(s);
    session_cancel(s); /* harmless when repeated */
    CHECK_STATUS("cancelled", poll(l, &http_status), ST_CANCELLED);
    session_line_free(l);
    session_free(s);
    buf_done(&why);
    fake_stop(&f);
}

static void back_off_doubles_up_to_five_minutes_with_jitter(void **state)
{
    struct rng rng;
    rng_seed(&rng, 3);
    for (unsigned n = 1; n < 40; n++) {
        int64_t full = BACKOFF_MIN_MS;
        for (unsigned i = 1; i < n && full < BACKOFF_MAX_MS; i++)
            full *= 2;
        full = full > BACKOFF_MAX_MS ? BACKOFF_MAX_MS : full;
        for (int i = 0; i < 50; i++) {
            int64_t ms = session_backoff_ms(n, &rng);
            CHECK("between half and all of it", ms >= full / 2 && ms <= full);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joins_only_the_coordinator_that_the_line_names),
        cmocka_unit_test(an_answer_that_is_not_signed_for_this_is_no_answer),
        cmocka_unit_test(a_new_nonce_costs_one_more_call),
        cmocka_unit_test(a_call_that_is_played_again_is_not_taken),
        cmocka_unit_test(cancelling_ends_all_calls),
        cmocka_unit_test(back_off_doubles_up_to_five_minutes_with_jitter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
