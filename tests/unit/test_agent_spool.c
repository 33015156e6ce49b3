/* The spool and the sink in front of it, killed before every step of theirs: no visit is lost, none is sent twice. */
#include "test.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/package_sink.h"
#include "agent/spool.h"
#include "base/mem.h"
#include "store/file.h"
#include "test_folder.h"
#include "web/summary.h"
#include "wire/package.h"

/* ---- the spool alone ---- */

static struct spool *open_spool(uint64_t sent_bytes)
{
    struct spool *s = NULL;
    CHECK_STATUS("open", spool_new(&(struct spool_opts){.data = test_folder(), .sent_bytes = sent_bytes}, &s), ST_OK);
    return s;
}

static void put(struct spool *s, uint64_t sequence, size_t bytes)
{
    struct buf b = {0};
    while (b.n < bytes)
        buf_putc(&b, (char)('a' + sequence % 26));
    assert_int_equal(spool_next_sequence(s), sequence);
    CHECK_STATUS("put", spool_put(s, sequence, buf_span(&b)), ST_OK);
    spool_publish(s, sequence);
    buf_done(&b);
}

static void lends_the_oldest_and_keeps_the_newest(void **state)
{
    struct spool *s = open_spool(250);
    struct spool_counts n;
    struct buf b = {0};
    uint64_t first = 0;
    CHECK_STATUS("nothing", spool_settle(s, 0), ST_OK);
    CHECK("none", !spool_first(s, &first));
    for (uint64_t i = 1; i <= 5; i++)
        put(s, i, 100);
    CHECK("oldest", spool_first(s, &first) && first == 1);
    CHECK_STATUS("three are safe", spool_acknowledge(s, 3), ST_OK);
    CHECK("the fourth", spool_first(s, &first) && first == 4);
    spool_get_counts(s, &n);
    assert_int_equal(n.packages, 2);
    assert_int_equal(n.sent_packages, 2); /* 200 of 250 bytes */
    CHECK_STATUS("the oldest is not kept", spool_read(s, 1, &b), ST_NOT_FOUND);
    CHECK_STATUS("restored from a backup", spool_rewind(s, 1), ST_OK);
    CHECK("goes again", spool_first(s, &first) && first == 2);
    CHECK_STATUS("is there", spool_read(s, 2, &b), ST_OK);
    assert_int_equal(b.n, 100);
    buf_done(&b);
    spool_free(s);
    s = open_spool(250); /* and after a restart */
    CHECK_STATUS("settled", spool_settle(s, 5), ST_OK);
    CHECK("still", spool_first(s, &first) && first == 2);
    assert_int_equal(spool_acknowledged(s), 1);
    CHECK_STATUS("all are safe", spool_acknowledge(s, 5), ST_OK);
    CHECK("none", !spool_first(s, &first));
    put(s, 6, 100);
    assert_int_equal(spool_drop_sent(s), 200); /* a full disk: only what nobody else has stays */
    CHECK_STATUS("dropped", spool_read(s, 5, &b), ST_NOT_FOUND);
    CHECK("what waits is there", spool_first(s, &first) && first == 6);
    spool_free(s);
}

static void what_was_not_committed_goes_at_the_start(void **state)
{
    struct spool *s = open_spool(0);
    uint64_t first;
    CHECK_STATUS("nothing", spool_settle(s, 0), ST_OK);
    put(s, 1, 10);
    put(s, 2, 10);
    spool_free(s);
    s = open_spool(0);
    CHECK_STATUS("the store knows one", spool_settle(s, 1), ST_OK);
    assert_int_equal(spool_newest(s), 1);
    assert_int_equal(spool_next_sequence(s), 2);
    CHECK_STATUS("one is safe", spool_acknowledge(s, 1), ST_OK);
    CHECK("nothing else", !spool_first(s, &first));
    spool_free(s);
}

static void numbers_go_on_above_what_the_coordinator_has(void **state)
{
    struct spool *s = open_spool(0);
    uint64_t first;
    CHECK_STATUS("an old copy of the folder", spool_settle(s, 0), ST_OK);
    assert_true(spool_skip_to(s, 41));
    assert_false(spool_skip_to(s, 41)); /* said with every answer, until there is a package */
    put(s, 42, 10);
    CHECK("only that one", spool_first(s, &first) && first == 42);
    CHECK_STATUS("safe", spool_acknowledge(s, 42), ST_OK);
    assert_int_equal(spool_acknowledged(s), 42);
    spool_free(s);
}

/* ---- with the store, killed at each step ---- */

#define VISITS 40
#define CHANNEL 77

struct rig {
    struct store *store;
    struct spool *spool;
    struct gate *gate;
    struct timings *timings;
    struct package_sink *sink;
    struct sink fns;
    int steps_left; /* -1: no kill */
    mono_ms now;
};

static void maybe_die(void *arg, const char *doing)
{
    struct rig *r = arg;
    if (r->steps_left >= 0 && r->steps_left-- == 0)
        _exit(42);
}

static mono_ms rig_now(void *arg)
{
    return ((struct rig *)arg)->now;
}

static void no_refusals(void *arg, struct span host, const struct addr *addr, struct span rule)
{
}

static void agent_key(struct sign_key *out)
{
    unsigned char seed[SIGN_SEED_BYTES] = {4};
    sign_key_of(seed, out);
}

static void rig_open(struct rig *r, int steps)
{
    struct buf why = {0};
    struct network n;
    struct sign_key key;
    *r = (struct rig){.steps_left = -1, .now = 1000};
    agent_key(&key);
    CHECK_STATUS("store", store_open(test_folder(), STORE_WRITE, &r->store, &why), ST_OK);
    CHECK_STATUS("spool",
                 spool_new(&(struct spool_opts){.data = test_folder(), .step = maybe_die, .step_arg = r}, &r->spool),
                 ST_OK);
    r->gate =
        gate_new(&(struct gate_opts){.allow_private = true, .now = rig_now, .note_refused = no_refusals, .arg = r});
    CHECK_STATUS("network", network_parse(SPAN("192.0.2.0/24"), &n), ST_OK);
    gate_put(r->gate, &(struct gate_task){
                          .task = 6, .channel = CHANNEL, .kind = SUMMARY_TEXT, .networks = &n, .network_count = 1});
    r->timings = timings_new(1);
    r->sink = package_sink_new(&(struct package_sink_opts){
        .gate = r->gate, .spool = r->spool, .timings = r->timings, .wall = rig_now, .mono = rig_now, .arg = r});
    package_sink_set_names(r->sink, 7, &key.open, &key);
    r->steps_left = steps;
    CHECK_STATUS("sink", package_sink_open(r->sink, r->store, &r->fns, &why), ST_OK);
    buf_done(&why);
}

static void rig_close(struct rig *r)
{
    r->fns.close(r->fns.self);
    package_sink_free(r->sink);
    timings_free(r->timings);
    gate_free(r->gate);
    spool_free(r->spool);
    store_free(r->store);
}

static void visit_naming(struct rig *r, uint64_t number, const char *path, int http_status, const char *title,
                         const char *canonical, uint64_t digest)
{
    struct buf packed = {0}, url = {0};
    struct visit_effect effect;
    buf_printf(&url, "http://a.example/%s", path);
    struct summary s = {.fetch_number = number,
                        .channel = CHANNEL,
                        .at = 1000,
                        .url = buf_span(&url),
                        .http_status = (uint16_t)http_status,
                        .is_html = true,
                        .digest = digest,
                        .title = span_str(title),
                        .canonical = span_str(canonical),
                        .address = SPAN("192.0.2.1"),
                        .text = SPAN("some words"),
                        .connect_us = 1000,
                        .first_byte_us = 3000,
                        .total_us = 4000};
    summary_pack(&s, &packed);
    CHECK_STATUS("visit", r->fns.visit(r->fns.self, buf_span(&packed), &effect), ST_OK);
    buf_done(&packed);
    buf_done(&url);
}

static void visit(struct rig *r, uint64_t number, const char *path, int http_status, const char *title, uint64_t digest)
{
    visit_naming(r, number, path, http_status, title, "", digest);
}

/* As the writer does after a start: all that the journal has, with a commit now and then. */
static void replay(struct rig *r)
{
    bool is_done;
    for (uint64_t i = 1; i <= VISITS; i++) {
        char path[16];
        snprintf(path, sizeof(path), "p%d", (int)i);
        visit(r, i, path, i % 7 == 0 ? 404 : 200, "t", i);
        if (i % 10 == 0)
            CHECK_STATUS("commit", r->fns.commit(r->fns.self, true, &is_done), ST_OK);
    }
}

struct seen {
    unsigned times[VISITS + 1];
};

static status count_visit(void *arg, uint64_t task, summary_kind kind, const struct summary *s)
{
    struct seen *seen = arg;
    uint64_t n = 0;
    assert_int_equal(task, 6);
    assert_true(span_u64(span_from(s->url, strlen("http://a.example/p")), VISITS, &n));
    seen->times[n]++;
    return ST_OK;
}

static void carry_all(struct rig *r, struct seen *seen)
{
    uint64_t sequence, want = spool_acknowledged(r->spool) + 1;
    struct sign_key key;
    agent_key(&key);
    while (spool_first(r->spool, &sequence)) {
        struct buf b = {0};
        assert_int_equal(sequence, want++); /* no gaps */
        CHECK_STATUS("read", spool_read(r->spool, sequence, &b), ST_OK);
        CHECK_STATUS("package", package_read(buf_span(&b), &key.open, NULL, count_visit, seen), ST_OK);
        CHECK_STATUS("safe", spool_acknowledge(r->spool, sequence), ST_OK);
        buf_done(&b);
    }
}

static void a_kill_before_any_step_loses_and_doubles_nothing(void **state)
{
    bool was_killed = true;
    for (int steps = 0; was_killed; steps++) {
        struct rig r;
        struct seen seen = {{0}};
        int how = 0;
        assert_int_equal(test_folder_remove(NULL), 0);
        assert_int_equal(test_folder_make(NULL), 0);
        pid_t child = fork();
        if (child == 0) {
            rig_open(&r, steps);
            replay(&r);
            _exit(0);
        }
        assert_true(child > 0 && waitpid(child, &how, 0) == child && WIFEXITED(how));
        was_killed = WEXITSTATUS(how) == 42;
        CHECK("a step or the end", was_killed || WEXITSTATUS(how) == 0);
        CHECK("it ends", steps < 1000);
        rig_open(&r, -1);
        replay(&r);
        carry_all(&r, &seen);
        for (int i = 1; i <= VISITS; i++)
            if (seen.times[i] != 1)
                fail_msg("killed before step %d: visit %d came %u times", steps, i, seen.times[i]);
        rig_close(&r);
    }
}

static void a_full_disk_loses_nothing(void **state)
{
    struct rig r;
    struct seen seen = {{0}};
    bool is_done;
    rig_open(&r, -1);
    visit(&r, 1, "p1", 200, "t", 1);
    file_inject_fault(10, ENOSPC);
    CHECK_STATUS("full", r.fns.commit(r.fns.self, true, &is_done), ST_FULL);
    file_inject_fault(0, 0);
    assert_int_equal(spool_newest(r.spool), 0);
    replay(&r); /* as the journal has it */
    carry_all(&r, &seen);
    for (int i = 1; i <= VISITS; i++)
        assert_int_equal(seen.times[i], 1);
    rig_close(&r);
}

static void only_news_travels(void **state)
{
    static const struct {
        const char *label;
        int first_status, second_status;
        const char *first_title, *second_title;
        uint64_t first_digest, second_digest;
        unsigned want; /* visits of the second round that travel */
    } cases[] = {
        {"not modified", 200, 304, "t", "", 1, 0, 0},
        {"the same text", 200, 200, "t", "t", 1, 1, 0},
        {"another text", 200, 200, "t", "t", 1, 2, 1},
        {"another title", 200, 200, "t", "u", 1, 1, 1},
        {"a title", 200, 200, "", "u", 1, 1, 1},
        {"no title any more", 200, 200, "t", "", 1, 1, 1},
        {"gone", 200, 404, "t", "", 1, 0, 1},
        {"still gone", 404, 404, "", "", 0, 0, 0},
        {"gone for good", 404, 410, "", "", 0, 0, 1},
        {"back again", 404, 200, "", "t", 0, 1, 1},
        {"still in trouble", 500, 500, "", "", 0, 0, 0},
        {"another trouble", 500, 503, "", "", 0, 0, 1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct rig r;
        struct seen seen = {{0}};
        bool is_done;
        assert_int_equal(test_folder_remove(NULL), 0);
        assert_int_equal(test_folder_make(NULL), 0);
        rig_open(&r, -1);
        visit(&r, 1, "p1", cases[i].first_status, cases[i].first_title, cases[i].first_digest);
        CHECK_STATUS("commit", r.fns.commit(r.fns.self, true, &is_done), ST_OK);
        visit(&r, 2, "p1", cases[i].second_status, cases[i].second_title, cases[i].second_digest);
        CHECK_STATUS("commit", r.fns.commit(r.fns.self, true, &is_done), ST_OK);
        carry_all(&r, &seen);
        if (seen.times[1] != 1 + cases[i].want)
            fail_msg("%s: %u visits came, want %u", cases[i].label, seen.times[1], 1 + cases[i].want);
        rig_close(&r);
    }
}

/* It decides at the coordinator which of several pages is shown. */
static void another_canonical_travels(void **state)
{
    static const char *const names[] = {"http://a.example/1", "http://a.example/1", "http://a.example/2", "", ""};
    static const unsigned want[] = {1, 1, 2, 3, 3};
    struct rig r;
    struct seen seen = {{0}};
    bool is_done;
    rig_open(&r, -1);
    for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++) {
        visit_naming(&r, i + 1, "p1", 200, "t", names[i], 1);
        CHECK_STATUS("commit", r.fns.commit(r.fns.self, true, &is_done), ST_OK);
        carry_all(&r, &seen);
        if (seen.times[1] != want[i])
            fail_msg("visit %u: %u came, want %u", i + 1, seen.times[1], want[i]);
    }
    rig_close(&r);
}

static void a_package_waits_until_it_is_due(void **state)
{
    struct rig r;
    bool is_done = true;
    rig_open(&r, -1);
    package_sink_set_limits(r.sink, 0, 5000);
    visit(&r, 1, "p1", 200, "t", 1);
    CHECK_STATUS("too early", r.fns.commit(r.fns.self, false, &is_done), ST_OK);
    CHECK("left open", !is_done && r.fns.pending(r.fns.self) == 1);
    r.now += 5000;
    CHECK_STATUS("old enough", r.fns.commit(r.fns.self, false, &is_done), ST_OK);
    CHECK("closed", is_done && spool_newest(r.spool) == 1);
    visit(&r, 2, "p1", 304, "", 0);
    CHECK_STATUS("nothing to send", r.fns.commit(r.fns.self, false, &is_done), ST_OK);
    CHECK("committed without a package", is_done && spool_newest(r.spool) == 1);
    package_sink_set_limits(r.sink, 1, 5000);
    visit(&r, 3, "p2", 200, "t", 2);
    CHECK_STATUS("large enough", r.fns.commit(r.fns.self, false, &is_done), ST_OK);
    CHECK("closed", is_done && spool_newest(r.spool) == 2);
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(lends_the_oldest_and_keeps_the_newest),
        TEST_IN_FOLDER(what_was_not_committed_goes_at_the_start),
        TEST_IN_FOLDER(numbers_go_on_above_what_the_coordinator_has),
        TEST_IN_FOLDER(a_kill_before_any_step_loses_and_doubles_nothing),
        TEST_IN_FOLDER(a_full_disk_loses_nothing),
        TEST_IN_FOLDER(only_news_travels),
        TEST_IN_FOLDER(another_canonical_travels),
        TEST_IN_FOLDER(a_package_waits_until_it_is_due),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
