/* What an agent keeps in files: settings of its owner, state, parts, versions. */
#include "test.h"

#include <sys/stat.h>
#include <unistd.h>

#include "agent/conf.h"
#include "agent/key.h"
#include "agent/machine.h"
#include "agent/parts.h"
#include "agent/state.h"
#include "agent/supervise.h"
#include "agent/task.h"
#include "agent/update.h"
#include "base/rng.h"
#include "crawl/channel.h"
#include "store/file.h"
#include "test_folder.h"
#include "wire/release.h"

/* ---- settings ---- */

static void the_stronger_source_wins(void **state)
{
    struct conf c;
    struct buf err = {0};
    char *const args[] = {"--tasks", "5", "--own-site=https://a.example/", "status"};
    char *const env[] = {"ORB_AGENT_TASKS=6", "ORB_AGENT_MEMORY=100M", "ORB_AGENT_OWN_SITE=https://b.example/",
                         "ORB_AGENT_REFUSE_NETWORK=192.0.2.0/24\n198.51.100.0/24", NULL};
    conf_init(&c);
    assert_true(conf_from_text(&c, "x.conf", SPAN("# a\ntasks = 7\nmemory = 200M\ndisk=1G\n"), &err));
    assert_true(conf_from_args(&c, 4, args, &err));
    assert_true(conf_from_env(&c, env, &err));
    assert_true(conf_check(&c, &err));
    assert_int_equal(conf_number(&c, CONF_TASKS), 5);
    assert_int_equal(conf_number(&c, CONF_MEMORY), 100 << 20);
    assert_int_equal(conf_number(&c, CONF_DISK), 1 << 30);
    size_t n;
    const struct span *sites = conf_list(&c, CONF_OWN_SITE, &n);
    assert_int_equal(n, 1);
    CHECK_SPAN("from the flag", sites[0], SPAN("https://a.example/"));
    (void)conf_list(&c, CONF_REFUSE_NETWORK, &n);
    assert_int_equal(n, 2);
    assert_int_equal(c.arg_count, 1);
    buf_done(&err);
    conf_done(&c);
}

static void settings_that_make_no_sense_are_refused(void **state)
{
    static const struct {
        const char *label, *name, *value;
    } cases[] = {
        {"hours", "--hours", "someday"},
        {"prefix", "--refuse-network", "192.0.2.0/33"},
        {"country", "--refuse-country", "Germany"},
        {"own site", "--own-site", "mailto:me@example"},
        {"key", "--program-key", "abc"},
        {"update key", "--update-key", "!"},
        {"size", "--memory", "12"},
        {"number", "--tasks", "many"},
        {"choice", "--log-level", "loud"},
        {"control character", "--place", "a\nb"},
        {"no such option", "--frobnicate", "x"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct conf c;
        struct buf err = {0};
        char *const args[] = {(char *)cases[i].name, (char *)cases[i].value};
        conf_init(&c);
        bool ok = conf_from_args(&c, 2, args, &err) && conf_check(&c, &err);
        CHECK(cases[i].label, !ok && err.n > 0);
        buf_done(&err);
        conf_done(&c);
    }
}

static void the_sample_file_is_read_back(void **state)
{
    struct conf c;
    struct buf sample = {0}, err = {0};
    conf_init(&c);
    conf_sample(&sample);
    assert_true(conf_from_text(&c, "sample", buf_span(&sample), &err));
    assert_true(conf_check(&c, &err));
    CHECK("names no hidden option", span_search(buf_span(&sample), SPAN("clock-offset"), false) == sample.n);
    buf_done(&sample);
    buf_done(&err);
    conf_done(&c);
}

/* ---- key ---- */

static void the_key_is_drawn_once_and_for_its_owner_alone(void **state)
{
    struct sign_key a, b, next;
    char path[TEST_PATH];
    struct stat sb;
    CHECK_STATUS("drawn", key_open(test_folder(), &a), ST_OK);
    CHECK_STATUS("read", key_open(test_folder(), &b), ST_OK);
    assert_memory_equal(a.seed, b.seed, sizeof(a.seed));
    test_path(path, "agent.key");
    assert_int_equal(stat(path, &sb), 0);
    assert_int_equal(sb.st_mode & 0777, 0600);
    CHECK_STATUS("no next one", key_next(test_folder(), &next), ST_NOT_FOUND);
    CHECK_STATUS("a next one", key_draw_next(test_folder(), &next), ST_OK);
    CHECK_STATUS("the key stays", key_open(test_folder(), &b), ST_OK);
    assert_memory_equal(a.seed, b.seed, sizeof(a.seed));
    CHECK_STATUS("until it is replaced", key_replace(test_folder()), ST_OK);
    CHECK_STATUS("read", key_open(test_folder(), &b), ST_OK);
    assert_memory_equal(next.seed, b.seed, sizeof(a.seed));
    CHECK_STATUS("damage", file_replace(path, SPAN("not a key\n")), ST_OK);
    CHECK_STATUS("is said", key_open(test_folder(), &b), ST_CORRUPT);
}

/* ---- state ---- */

static void fill(struct state *s)
{
    state_init(s);
    buf_puts(&s->base, "https://coordinator.example:7443");
    s->has_identity = true;
    memset(s->identity.b, 3, sizeof(s->identity.b));
    strcpy(s->pin, "sha256//abc=");
    s->agent = 12;
    strcpy(s->name, "athens-1");
    s->orders_done = 99;
    buf_puts(&s->settings, "packed");
    state_outcome_put(s, 97, ST_REFUSED, SPAN("no"), false);
    state_outcome_put(s, 98, ST_OK, SPAN(""), true);
    s->totals = (struct state_totals){1, 2, 3, 4, 5, {[ERROR_OTHER] = 6, [ERROR_ROBOTS] = 7}};
    s->quota_day = 20000;
    s->quota_bytes = 123456;
    s->bandwidth = 777;
    state_refused(s, 1000, SPAN("one"));
    state_refused(s, 2000, SPAN("two"));
    s->refusals[0].is_reported = true;
}

static void the_state_comes_back_as_it_was(void **state)
{
    struct state a, b;
    struct buf packed = {0}, again = {0};
    fill(&a);
    state_pack(&a, &packed);
    CHECK_STATUS("written", state_write(test_folder(), buf_span(&packed)), ST_OK);
    state_init(&b);
    CHECK_STATUS("read", state_load(&b, test_folder()), ST_OK);
    state_pack(&b, &again);
    CHECK_SPAN("the same", buf_span(&again), buf_span(&packed));
    assert_int_equal(b.outcome_count, 2);
    assert_true(b.outcomes[1].has_parts);
    assert_int_equal(b.refused_total, 2);
    assert_int_equal(b.totals.errors, 5);
    assert_int_equal(b.totals.errors_by_kind[ERROR_OTHER], 6);
    assert_int_equal(b.totals.errors_by_kind[ERROR_ROBOTS], 7);
    state_done(&a);
    state_done(&b);
    buf_done(&packed);
    buf_done(&again);
}

static void a_damaged_state_is_said_and_not_used(void **state)
{
    struct state a;
    struct buf packed = {0};
    fill(&a);
    state_pack(&a, &packed);
    for (size_t cut = 0; cut < packed.n; cut++) {
        struct state b;
        state_init(&b);
        CHECK_STATUS("cut", state_unpack(&b, span_cut(buf_span(&packed), 0, cut)), ST_CORRUPT);
        state_done(&b);
    }
    for (size_t at = 8; at < packed.n; at++) {
        struct state b;
        state_init(&b);
        packed.p[at] ^= 0x10;
        CHECK_STATUS("flipped", state_unpack(&b, buf_span(&packed)), ST_CORRUPT);
        packed.p[at] ^= 0x10;
        state_done(&b);
    }
    packed.p[4] = 2;
    struct state b;
    state_init(&b);
    CHECK_STATUS("newer", state_unpack(&b, buf_span(&packed)), ST_NEWER);
    state_done(&b);
    state_done(&a);
    buf_done(&packed);
}

static void only_the_newest_refusals_stay(void **state)
{
    struct state s;
    state_init(&s);
    for (int i = 0; i < STATE_REFUSALS_MAX + 20; i++) {
        char text[32];
        snprintf(text, sizeof(text), "number %d", i);
        state_refused(&s, i, span_str(text));
        state_refused(&s, i + 1, span_str(text));
    }
    assert_int_equal(s.refusal_count, STATE_REFUSALS_MAX);
    assert_int_equal(s.refused_total, 2 * (STATE_REFUSALS_MAX + 20));
    CHECK_SPAN("oldest", buf_span(&s.refusals[0].text), SPAN("number 20"));
    state_done(&s);
}

/* ---- parts ---- */

static void parts_survive_and_the_same_is_there_once(void **state)
{
    struct parts p = {0}, q = {0};
    parts_put(&p, SPAN("a.example"), SPAN("one"));
    parts_put(&p, SPAN("b.example"), SPAN("b"));
    parts_put(&p, SPAN("a.example"), SPAN("one"));
    parts_put(&p, SPAN("a.example"), SPAN("two"));
    CHECK_STATUS("none yet", parts_read(test_folder(), 5, &q), ST_NOT_FOUND);
    CHECK_STATUS("written", parts_write(test_folder(), 5, &p), ST_OK);
    CHECK_STATUS("read", parts_read(test_folder(), 5, &q), ST_OK);
    assert_int_equal(q.count, 3);
    CHECK_SPAN("the other", buf_span(&q.items[2].packed), SPAN("two"));
    parts_remove(test_folder(), 5);
    parts_done(&q);
    CHECK_STATUS("gone", parts_read(test_folder(), 5, &q), ST_NOT_FOUND);
    parts_done(&p);
}

/* ---- tasks ---- */

static struct buf a_channel(const char *seed)
{
    struct channel *c = NULL;
    struct buf packed = {0}, why = {0};
    struct span s = span_str(seed);
    CHECK_STATUS("channel", channel_new(&(struct channel_opts){.seeds = &s, .seed_count = 1, .depth_max = 9}, &c, &why),
                 ST_OK);
    channel_pack(c, &packed);
    channel_free(c);
    buf_done(&why);
    return packed;
}

static void orders_about_a_task_add_up(void **state)
{
    struct buf channel = a_channel("http://a.example/"), why = {0}, packed = {0};
    struct span first[] = {SPAN("192.0.2.0/24"), SPAN("198.51.100.0/24")},
                second[] = {SPAN("192.0.2.0/24"), SPAN("203.0.113.0/24")};
    struct span seeds[] = {SPAN("http://a.example/x")};
    struct span mine[] = {SPAN("one.example"), SPAN("two.example")}, others[] = {SPAN("two.example")};
    uint64_t links[] = {9, 3, 9}, more_links[] = {3, 1};
    struct task *t = task_new(4), *u = NULL;
    CHECK_STATUS("begin",
                 task_merge(t,
                            &(struct task_order){.task = 4,
                                                 .channel = buf_span(&channel),
                                                 .kind = SUMMARY_KEYWORDS,
                                                 .networks = first,
                                                 .network_count = 2,
                                                 .hosts = mine,
                                                 .host_count = 2,
                                                 .known_links = links,
                                                 .known_link_count = 3},
                            &why),
                 ST_OK);
    CHECK_STATUS("change",
                 task_merge(t,
                            &(struct task_order){.task = 4,
                                                 .kind = SUMMARY_KEYWORDS,
                                                 .networks = second,
                                                 .network_count = 2,
                                                 .seeds = seeds,
                                                 .seed_count = 1,
                                                 .others = others,
                                                 .other_count = 1,
                                                 .known_links = more_links,
                                                 .known_link_count = 2},
                            &why),
                 ST_OK);
    t->is_started = true;
    t->now.fetched = 17;
    t->now.changed = 3;
    t->visit = 8;
    t->visit_begun = 1234567890123;
    t->visit_from.unchanged = 6;
    t->visit_from.lists = 2;
    t->visited = (struct visit_report){7, 10, 1, 2, 3, 4, 5000, 1234567000000, 5};
    task_pack(t, &packed);
    CHECK_STATUS("read back", task_unpack(buf_span(&packed), &u), ST_OK);
    assert_int_equal(u->number, 4);
    assert_int_equal(u->channel, t->channel);
    assert_int_equal(u->networks.count, 3);
    assert_int_equal(u->seeds.count, 1);
    assert_true(u->hosts.count == 1 && span_is(u->hosts.items[0], "one.example"));
    assert_true(u->others.count == 1 && span_is(u->others.items[0], "two.example"));
    assert_int_equal(u->known_link_count, 3);
    assert_true(u->known_links[0] == 1 && u->known_links[1] == 3 && u->known_links[2] == 9);
    assert_true(u->is_started && u->kind == SUMMARY_KEYWORDS);
    assert_int_equal(u->now.fetched, 17);
    assert_int_equal(u->now.changed, 3);
    assert_true(u->visit == 8 && u->visit_begun == 1234567890123 && u->visit_from.unchanged == 6 &&
                u->visit_from.lists == 2);
    assert_memory_equal(&u->visited, &t->visited, sizeof(t->visited));
    /* With its channel it is told from the beginning. */
    CHECK_STATUS("anew", task_merge(u, &(struct task_order){.task = 4, .channel = buf_span(&channel)}, &why), ST_OK);
    assert_int_equal(u->hosts.count + u->others.count, 0);
    struct span bad[] = {SPAN("192.0.2.1/24")};
    CHECK_STATUS("host bits", task_merge(t, &(struct task_order){.task = 4, .networks = bad, .network_count = 1}, &why),
                 ST_INVALID);
    task_free(t);
    task_free(u);
    t = task_new(5);
    CHECK_STATUS("no channel", task_merge(t, &(struct task_order){.task = 5}, &why), ST_INVALID);
    task_free(t);
    buf_done(&channel);
    buf_done(&why);
    buf_done(&packed);
}

static void damaged_task_files_are_refused(void **state)
{
    struct buf channel = a_channel("http://a.example/"), why = {0}, packed = {0};
    struct task *t = task_new(4);
    struct rng rng;
    rng_seed(&rng, 11);
    CHECK_STATUS("begin", task_merge(t, &(struct task_order){.task = 4, .channel = buf_span(&channel)}, &why), ST_OK);
    task_pack(t, &packed);
    for (int i = 0; i < 2000; i++) { /* must end and leak nothing, whatever comes of it */
        struct buf b = {0};
        struct task *u = NULL;
        buf_put(&b, span_cut(buf_span(&packed), 0, 1 + rng_below(&rng, packed.n)));
        b.p[rng_below(&rng, b.n)] ^= (char)(1 << rng_below(&rng, 8));
        if (task_unpack(buf_span(&b), &u) == ST_OK)
            task_free(u);
        buf_done(&b);
    }
    task_free(t);
    buf_done(&channel);
    buf_done(&why);
    buf_done(&packed);
}

/* ---- versions and updates ---- */

static void versions_compare_as_numbers(void **state)
{
    static const struct {
        const char *a, *b;
        int want;
    } cases[] = {{"1.0", "1.0", 0},      {"1.0", "1", 0},  {"1.10", "1.9", 1},
                 {"0.1.0", "0.1.1", -1}, {"2", "1.99", 1}, {"1.2.3", "1.2", 1}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        int got = version_compare(span_str(cases[i].a), span_str(cases[i].b));
        CHECK(cases[i].a, (got > 0) - (got < 0) == cases[i].want);
    }
    CHECK("good", version_is_good(SPAN("1.20.3")));
    CHECK("path", !version_is_good(SPAN("../1")) && !version_is_good(SPAN("1..2")) && !version_is_good(SPAN("1.")) &&
                      !version_is_good(SPAN("")) && !version_is_good(SPAN("1/2")));
}

static void an_update_is_taken_only_when_signed_newer_and_whole(void **state)
{
    unsigned char seed[SIGN_SEED_BYTES] = {8};
    struct sign_key key, other;
    struct signature sig;
    struct buf machine = {0}, message = {0}, why = {0}, path = {0}, dir = {0};
    struct digest256 d = digest_blake2b256(SPAN("#!/bin/true\n"));
    sign_key_of(seed, &key);
    seed[0] = 9;
    sign_key_of(seed, &other);
    buf_printf(&dir, "%s/bin", test_folder());
    CHECK_STATUS("bin", file_mkdir(buf_cstr(&dir)), ST_OK);
    machine_name(&machine);
    release_message(SPAN("1.2"), buf_span(&machine), span_of(d.b, sizeof(d.b)), &message);
    sign_make(&key, buf_span(&message), &sig);
    struct update_order o = {.version = SPAN("1.2"),
                             .digest = span_of(d.b, sizeof(d.b)),
                             .bytes = 12,
                             .sig = span_of(sig.b, sizeof(sig.b)),
                             .machine = buf_span(&machine)};
    const char *data = test_folder();
    CHECK_STATUS("good", update_check(data, &o, &key.open, SPAN("1.1"), &why), ST_OK);
    CHECK_STATUS("no key", update_check(data, &o, NULL, SPAN("1.1"), &why), ST_REFUSED);
    CHECK_STATUS("another key", update_check(data, &o, &other.open, SPAN("1.1"), &why), ST_REFUSED);
    CHECK_STATUS("this is it", update_check(data, &o, &key.open, SPAN("1.2"), &why), ST_EXISTS);
    CHECK_STATUS("older", update_check(data, &o, &key.open, SPAN("1.3"), &why), ST_REFUSED);
    struct update_order changed = o;
    changed.version = SPAN("1.4");
    CHECK_STATUS("another version", update_check(data, &changed, &key.open, SPAN("1.1"), &why), ST_REFUSED);
    update_part_path(data, o.version, &path);
    CHECK_STATUS("other bytes", file_replace(path.p, SPAN("#!/bin/evil\n")), ST_OK);
    CHECK_STATUS("not accepted", update_accept(data, &o), ST_CORRUPT);
    CHECK_STATUS("its bytes", file_replace(path.p, SPAN("#!/bin/true\n")), ST_OK);
    CHECK_STATUS("accepted", update_accept(data, &o), ST_OK);
    buf_clear(&path);
    CHECK("not current yet", !update_current(data, &key.open, SPAN("1.1"), &path));
    CHECK_STATUS("current", update_set_current(data, &o), ST_OK);
    buf_clear(&path);
    CHECK("current", update_current(data, &key.open, SPAN("1.1"), &path));
    assert_int_equal(access(buf_cstr(&path), X_OK), 0);
    buf_clear(&path);
    CHECK("not for another key", !update_current(data, &other.open, SPAN("1.1"), &path));
    buf_clear(&path);
    CHECK("not when newer runs", !update_current(data, &key.open, SPAN("1.2"), &path));
    CHECK_STATUS("bad", update_mark_bad(data, o.version), ST_OK);
    buf_clear(&path);
    CHECK("not when bad", !update_current(data, &key.open, SPAN("1.1"), &path));
    CHECK_STATUS("and not again", update_check(data, &o, &key.open, SPAN("1.1"), &why), ST_REFUSED);
    buf_done(&machine);
    buf_done(&message);
    buf_done(&why);
    buf_done(&path);
    buf_done(&dir);
}

/* ---- trying a new version ---- */

static void put_version(const char *version, const char *script)
{
    struct buf path = {0}, dir = {0};
    buf_printf(&dir, "%s/bin", test_folder());
    CHECK_STATUS("bin", file_mkdir(buf_cstr(&dir)), ST_OK);
    update_path(test_folder(), span_str(version), &path);
    CHECK_STATUS(version, file_replace(path.p, span_str(script)), ST_OK);
    assert_int_equal(chmod(path.p, 0755), 0);
    buf_done(&path);
    buf_done(&dir);
}

static bool try_version(const char *version, int *code)
{
    struct update_try u = {0};
    char *const argv[] = {"orb-agent", (char *)test_folder(), NULL};
    buf_puts(&u.version, version);
    buf_puts(&u.digest, "12345678901234567890123456789012");
    buf_puts(&u.sig, "sig");
    bool works = supervise_try(test_folder(), &u, argv, NULL, code);
    update_try_done(&u);
    return works;
}

static void a_new_version_stays_only_when_it_reports_in(void **state)
{
    int code = -1;
    char path[TEST_PATH];
    put_version("2.0", "#!/bin/sh\nexit 3\n");
    CHECK("ended before it reported in", !try_version("2.0", &code));
    CHECK("known as bad", update_is_bad(test_folder(), SPAN("2.0")));
    put_version("2.1", "not a program");
    CHECK("cannot be run", !try_version("2.1", &code));
    put_version(
        "2.2",
        "#!/bin/sh\ntest \"$ORB_AGENT_STARTED_BY\" = trial || exit 9\n: >\"$1/bin/2.2.ok\"\nsleep 0.3\nexit 7\n");
    CHECK("reported in", try_version("2.2", &code));
    assert_int_equal(code, 7);
    CHECK("is good", !update_is_bad(test_folder(), SPAN("2.2")));
    test_path(path, "bin/current");
    assert_int_equal(access(path, F_OK), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_stronger_source_wins),
        cmocka_unit_test(settings_that_make_no_sense_are_refused),
        cmocka_unit_test(the_sample_file_is_read_back),
        TEST_IN_FOLDER(the_key_is_drawn_once_and_for_its_owner_alone),
        TEST_IN_FOLDER(the_state_comes_back_as_it_was),
        cmocka_unit_test(a_damaged_state_is_said_and_not_used),
        cmocka_unit_test(only_the_newest_refusals_stay),
        TEST_IN_FOLDER(parts_survive_and_the_same_is_there_once),
        cmocka_unit_test(orders_about_a_task_add_up),
        cmocka_unit_test(damaged_task_files_are_refused),
        cmocka_unit_test(versions_compare_as_numbers),
        TEST_IN_FOLDER(an_update_is_taken_only_when_signed_newer_and_whole),
        TEST_IN_FOLDER(a_new_version_stays_only_when_it_reports_in),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
