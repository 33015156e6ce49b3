#include "test.h"

#include <stdio.h>

#include "coord/ping_table.h"

#define KEY "0123456789abcdef"
#define OTHER "fedcba9876543210"
#define MINUTE PING_EVERY_MS

static const struct sip_key secret = {1, 2};

/* One table, and a clock that the test moves. */
struct stage {
    struct ping_table *t;
    mono_ms now;
    int64_t retry_ms;
};

static struct stage stage(void)
{
    return (struct stage){.t = ping_table_new(&secret), .now = 1000000};
}

static ping_answer announce(struct stage *s, const char *url, const char *key)
{
    struct arena a;
    struct indexnow n;
    const char *why = "";
    arena_init(&a);
    CHECK_STATUS(why, indexnow_of(&a, span_str(url), span_str(key), SPAN(""), &n, &why), ST_OK);
    ping_answer got = ping_table_put(s->t, s->now, &n, &s->retry_ms);
    arena_done(&a);
    return got;
}

/* Somebody looks for the key that waits, by order `order` of agent 1, and finds `file`. */
static void look(struct stage *s, uint64_t order, const char *file, const char *want_url, const char *want_held)
{
    struct ping_ask k;
    struct buf held = {0};
    CHECK_STATUS("a key waits", ping_table_next_ask(s->t, s->now, &k), ST_OK);
    CHECK_SPAN("where", k.url, span_str(want_url));
    ping_table_asked(s->t, k.id, 1, order);
    CHECK_STATUS("once", ping_table_next_ask(s->t, s->now, &k), ST_AGAIN);
    CHECK("not of another order",
          !ping_table_answer(s->t, s->now, 1, order + 1, span_str(want_url), span_str(file), &held));
    CHECK("not of another agent",
          !ping_table_answer(s->t, s->now, 2, order, span_str(want_url), span_str(file), &held));
    CHECK("not of another file",
          !ping_table_answer(s->t, s->now, 1, order, SPAN("http://a.example/x"), span_str(file), &held));
    CHECK("asked for", ping_table_answer(s->t, s->now, 1, order, span_str(want_url), span_str(file), &held));
    CHECK_SPAN("held", buf_span(&held), span_str(want_held));
    CHECK("once", !ping_table_answer(s->t, s->now, 1, order, span_str(want_url), span_str(file), &held));
    buf_done(&held);
}

static void a_key_is_looked_for_and_then_believed_for_a_day(void **state)
{
    struct stage s = stage();
    assert_int_equal(announce(&s, "http://a.example/x", KEY), PING_HELD);
    look(&s, 7, KEY "\n", "http://a.example/" KEY ".txt", "http://a.example/x\n");
    /* It counted when its key was found. */
    assert_int_equal(announce(&s, "http://a.example/y", KEY), PING_TOO_OFTEN);
    assert_int_equal(s.retry_ms, MINUTE);
    s.now += MINUTE - 1;
    assert_int_equal(announce(&s, "http://a.example/y", KEY), PING_TOO_OFTEN);
    assert_int_equal(s.retry_ms, 1);
    s.now += 1;
    assert_int_equal(announce(&s, "http://a.example/y", KEY), PING_TAKEN);
    s.now += MINUTE;
    assert_int_equal(announce(&s, "http://a.example/z", KEY), PING_TAKEN);
    s.now += PING_GOOD_MS;
    assert_int_equal(announce(&s, "http://a.example/z", KEY), PING_HELD);
    ping_table_free(s.t);
}

static void a_wrong_key_stays_wrong_for_a_while(void **state)
{
    struct stage s = stage();
    assert_int_equal(announce(&s, "http://a.example/x", KEY), PING_HELD);
    look(&s, 7, OTHER, "http://a.example/" KEY ".txt", "");
    assert_int_equal(announce(&s, "http://a.example/x", KEY), PING_WRONG_KEY);
    s.now += PING_BAD_MS - 1;
    assert_int_equal(announce(&s, "http://a.example/x", KEY), PING_WRONG_KEY);
    s.now += 1;
    assert_int_equal(announce(&s, "http://a.example/x", KEY), PING_HELD);
    look(&s, 8, "", "http://a.example/" KEY ".txt", "");
    assert_int_equal(announce(&s, "http://a.example/x", KEY), PING_WRONG_KEY);
    ping_table_free(s.t);
}

/* A site is asked for keys once a minute, whatever strangers say; and its owner, once known, is heard meanwhile. */
static void strangers_neither_wear_a_site_out_nor_silence_its_owner(void **state)
{
    struct stage s = stage();
    int looks = 0;
    assert_int_equal(announce(&s, "http://a.example/x", KEY), PING_HELD);
    look(&s, 7, KEY, "http://a.example/" KEY ".txt", "http://a.example/x\n");
    mono_ms end = s.now + 60 * MINUTE;
    for (int i = 0; s.now < end; s.now += 1000, i++) {
        char key[32];
        struct ping_ask k;
        snprintf(key, sizeof(key), "stranger-%d", i);
        announce(&s, "http://a.example/x", key);
        if (ping_table_next_ask(s.t, s.now, &k) == ST_OK) {
            struct buf held = {0};
            char url[64];
            snprintf(url, sizeof(url), "%.*s", SPAN_ARG(k.url));
            ping_table_asked(s.t, k.id, 1, 100 + (uint64_t)i);
            CHECK("asked", ping_table_answer(s.t, s.now, 1, 100 + (uint64_t)i, span_str(url), SPAN("no"), &held));
            looks++;
            buf_done(&held);
        }
    }
    assert_in_range(looks, 50, 60);
    assert_int_equal(announce(&s, "http://a.example/x", KEY), PING_TAKEN);
    ping_table_free(s.t);
}

static void what_nobody_looks_for_is_dropped(void **state)
{
    struct stage s = stage();
    struct ping_ask k;
    struct ping_counts n;
    assert_int_equal(announce(&s, "http://a.example/x", KEY), PING_HELD);
    CHECK_STATUS("waits", ping_table_next_ask(s.t, s.now, &k), ST_OK);
    ping_table_later(s.t, k.id, s.now + 5000);
    CHECK_STATUS("later", ping_table_next_ask(s.t, s.now + 4999, &k), ST_AGAIN);
    CHECK_STATUS("now", ping_table_next_ask(s.t, s.now + 5000, &k), ST_OK);
    s.now += PING_WAIT_MS - 1;
    ping_table_tick(s.t, s.now);
    ping_table_count(s.t, &n);
    assert_int_equal(n.asked, 1);
    assert_int_equal(n.held_bytes, strlen("http://a.example/x\n"));
    ping_table_tick(s.t, s.now + 1);
    ping_table_count(s.t, &n);
    assert_int_equal(n.asked + n.held_bytes, 0);
    /* An order that came to nothing says neither yes nor no. */
    s.now += MINUTE;
    assert_int_equal(announce(&s, "http://a.example/x", KEY), PING_HELD);
    CHECK_STATUS("waits", ping_table_next_ask(s.t, s.now, &k), ST_OK);
    ping_table_asked(s.t, k.id, 1, 9);
    ping_table_failed(s.t, 1, 8);
    assert_int_equal(announce(&s, "http://a.example/x", KEY), PING_TOO_OFTEN);
    ping_table_failed(s.t, 1, 9);
    s.now += MINUTE;
    assert_int_equal(announce(&s, "http://a.example/x", KEY), PING_HELD);
    ping_table_free(s.t);
}

static void memory_has_a_ceiling(void **state)
{
    enum { URLS = 12 };
    static char page[1000];
    struct stage s = stage();
    struct ping_counts n;
    struct url urls[URLS];
    char url[64];
    int held = 0, full = 0;
    memset(page, 'x', sizeof(page));
    for (int i = 0; i < URLS; i++)
        urls[i] = (struct url){.href = span_of(page, sizeof(page))};
    for (int i = 0; i < 20000; i++) {
        snprintf(url, sizeof(url), "site-%d.example", i);
        struct indexnow all = {span_str(url), urls, URLS, SPAN(KEY), SPAN("http://a.example/k")};
        ping_answer a = ping_table_put(s.t, s.now, &all, &s.retry_ms);
        held += a == PING_HELD;
        full += a == PING_FULL;
        ping_table_count(s.t, &n);
        assert_true(n.sites <= PING_SITES_MAX && n.held_bytes <= PING_HELD_MAX && n.asked <= PING_SITES_MAX);
    }
    /* What is held goes with the sites that are forgotten, and makes room for others. */
    assert_true(held > 1000 && full > 1000 && held + full == 20000);
    ping_table_free(s.t);
    /* One site does not fill its places with keys that nobody has looked for. */
    s = stage();
    for (int i = 0; i < 2 * PING_KEYS_A_SITE; i++) {
        snprintf(url, sizeof(url), "key-number-%d", i);
        assert_int_equal(announce(&s, "http://a.example/", url), i < PING_KEYS_A_SITE ? PING_HELD : PING_FULL);
        s.now += MINUTE;
    }
    ping_table_free(s.t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_is_looked_for_and_then_believed_for_a_day),
        cmocka_unit_test(a_wrong_key_stays_wrong_for_a_while),
        cmocka_unit_test(strangers_neither_wear_a_site_out_nor_silence_its_owner),
        cmocka_unit_test(what_nobody_looks_for_is_dropped),
        cmocka_unit_test(memory_has_a_ceiling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
