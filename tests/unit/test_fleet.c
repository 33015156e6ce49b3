#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <sqlite3.h>

#include "base/rng.h"
#include "store/file.h"
#include "store/fleet.h"
#include "test_folder.h"

static struct fleet_store *open_fleet(void)
{
    struct fleet_store *f = NULL;
    struct buf why = {0};
    status st = fleet_open(test_folder(), &f, &why);
    if (st != ST_OK)
        fail_msg("open: %s: %s", status_name(st), buf_cstr(&why));
    buf_done(&why);
    return f;
}

static void check_open(const char *label, status want, const char *phrase)
{
    struct fleet_store *f = NULL;
    struct buf why = {0};
    CHECK_STATUS(label, fleet_open(test_folder(), &f, &why), want);
    CHECK(label, f == NULL);
    if (!strstr(buf_cstr(&why), phrase))
        fail_msg("%s: \"%s\" lacks \"%s\"", label, why.p, phrase);
    CHECK_STATUS(label, fleet_open(test_folder(), &f, NULL), want);
    buf_done(&why);
}

static void put(struct fleet_store *f, fleet_kind kind, const char *key, const char *packed)
{
    CHECK_STATUS(key, fleet_put(f, kind, span_str(key), span_str(packed)), ST_OK);
}

static void check_get(struct fleet_store *f, const char *label, fleet_kind kind, const char *key, const char *want)
{
    struct buf got = {0};
    buf_puts(&got, ">"); /* appended */
    CHECK_STATUS(label, fleet_get(f, kind, span_str(key), &got), want ? ST_OK : ST_NOT_FOUND);
    CHECK_SPAN(label, span_from(buf_span(&got), 1), span_str(want ? want : ""));
    buf_done(&got);
}

static status list(void *arg, struct span key, struct span packed)
{
    buf_printf(arg, "%.*s=%.*s ", SPAN_ARG(key), SPAN_ARG(packed));
    return ST_OK;
}

static void check_each(struct fleet_store *f, const char *label, fleet_kind kind, const char *want)
{
    struct buf got = {0};
    CHECK_STATUS(label, fleet_each(f, kind, list, &got), ST_OK);
    CHECK_SPAN(label, buf_span(&got), span_str(want));
    buf_done(&got);
}

/* ---- records ---- */

static void kinds_are_apart_and_outlive_the_process(void **state)
{
    struct fleet_store *f = open_fleet();
    for (int k = 0; k < FLEET_KINDS; k++) {
        char text[16];
        snprintf(text, sizeof(text), "of %d", k);
        put(f, (fleet_kind)k, "b", text);
        put(f, (fleet_kind)k, "a", "");
    }
    for (int again = 0; again < 2; again++) {
        for (int k = 0; k < FLEET_KINDS; k++) {
            char want[32];
            snprintf(want, sizeof(want), "a= b=of %d ", k);
            check_each(f, "all", (fleet_kind)k, want);
        }
        check_get(f, "one", FLEET_TASK, "b", "of 6");
        check_get(f, "empty", FLEET_TASK, "a", "");
        check_get(f, "none", FLEET_TASK, "c", NULL);
        fleet_close(f);
        f = open_fleet();
    }
    put(f, FLEET_BLOB, "b", "other");
    check_get(f, "replaced", FLEET_BLOB, "b", "other");
    CHECK_STATUS("remove", fleet_remove(f, FLEET_BLOB, SPAN("b")), ST_OK);
    CHECK_STATUS("remove again", fleet_remove(f, FLEET_BLOB, SPAN("b")), ST_OK);
    check_get(f, "removed", FLEET_BLOB, "b", NULL);
    check_get(f, "of another kind", FLEET_PERSON, "b", "of 8");
    fleet_close(f);
    fleet_close(NULL);
}

static status keep_numbers(void *arg, struct span key, struct span packed)
{
    buf_printf(arg, "%llu ", (unsigned long long)fleet_number_of(key));
    return ST_OK;
}

static void numbers_sort_as_numbers(void **state)
{
    struct fleet_store *f = open_fleet();
    static const uint64_t numbers[] = {1000, 2, 256, 255, 1, UINT64_MAX, 10, 65536, 0};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
        struct fleet_number n = fleet_number(numbers[i]);
        CHECK_STATUS("put", fleet_put(f, FLEET_AGENT, fleet_number_span(&n), SPAN("x")), ST_OK);
    }
    struct buf got = {0};
    CHECK_STATUS("each", fleet_each(f, FLEET_AGENT, keep_numbers, &got), ST_OK);
    CHECK_SPAN("order", buf_span(&got), SPAN("0 1 2 10 255 256 1000 65536 18446744073709551615 "));
    assert_int_equal(fleet_number_of(SPAN("short")), 0);
    buf_done(&got);
    fleet_close(f);
}

static void keys_and_values_have_ceilings(void **state)
{
    struct fleet_store *f = open_fleet();
    static char key[FLEET_KEY_MAX + 1];
    struct buf got = {0};
    memset(key, 'k', sizeof(key));
    CHECK_STATUS("longest", fleet_put(f, FLEET_HOST, span_of(key, FLEET_KEY_MAX), SPAN("v")), ST_OK);
    CHECK_STATUS("longer", fleet_put(f, FLEET_HOST, span_of(key, FLEET_KEY_MAX + 1), SPAN("v")), ST_LIMIT);
    CHECK_STATUS("no key", fleet_put(f, FLEET_HOST, SPAN(""), SPAN("v")), ST_INVALID);
    CHECK_STATUS("get without", fleet_get(f, FLEET_HOST, SPAN(""), &got), ST_INVALID);
    /* Its bytes are never looked at. */
    CHECK_STATUS("huge", fleet_put(f, FLEET_BLOB, SPAN("k"), span_of(key, (size_t)FLEET_VALUE_MAX + 1)), ST_LIMIT);
    CHECK_STATUS("huge order", fleet_order_put(f, 1, 1, span_of(key, (size_t)FLEET_VALUE_MAX + 1)), ST_LIMIT);
    CHECK_STATUS("agent", fleet_order_put(f, (uint64_t)FLEET_NUMBER_MAX + 1, 1, SPAN("")), ST_LIMIT);
    CHECK_STATUS("number", fleet_order_put(f, 1, UINT64_MAX, SPAN("")), ST_LIMIT);
    struct fleet_package p = {.agent = 1, .sequence = UINT64_MAX};
    CHECK_STATUS("sequence", fleet_package_put(f, &p), ST_LIMIT);
    fleet_close(f);
}

struct nested {
    struct fleet_store *f;
    int outer, inner;
};

static status count_inner(void *arg, struct span key, struct span packed)
{
    ((struct nested *)arg)->inner++;
    return ST_OK;
}

static status count_outer(void *arg, struct span key, struct span packed)
{
    struct nested *n = arg;
    struct buf got = {0};
    n->outer++;
    status st = fleet_each(n->f, FLEET_NETWORK, count_inner, n);
    if (st == ST_OK)
        st = fleet_get(n->f, FLEET_NETWORK, key, &got);
    if (st == ST_OK)
        st = fleet_put(n->f, FLEET_TASK, key, buf_span(&got));
    buf_done(&got);
    return st;
}

static status stop_at_b(void *arg, struct span key, struct span packed)
{
    buf_put(arg, key);
    return span_is(key, "b") ? ST_END : ST_OK;
}

static void walks_may_be_nested_and_stopped(void **state)
{
    struct fleet_store *f = open_fleet();
    struct nested n = {.f = f};
    struct buf got = {0};
    put(f, FLEET_NETWORK, "a", "1");
    put(f, FLEET_NETWORK, "b", "2");
    put(f, FLEET_NETWORK, "c", "3");
    CHECK_STATUS("nested", fleet_each(f, FLEET_NETWORK, count_outer, &n), ST_OK);
    assert_int_equal(n.outer, 3);
    assert_int_equal(n.inner, 9);
    check_each(f, "written inside", FLEET_TASK, "a=1 b=2 c=3 ");
    CHECK_STATUS("stopped", fleet_each(f, FLEET_NETWORK, stop_at_b, &got), ST_END);
    CHECK_SPAN("stopped", buf_span(&got), SPAN("ab"));
    buf_done(&got);
    fleet_close(f);
}

/* ---- transactions ---- */

static void a_transaction_is_whole_or_not_at_all(void **state)
{
    struct fleet_store *f = open_fleet();
    fleet_rollback(f); /* harmless */
    put(f, FLEET_SETTING, "a", "before");
    CHECK_STATUS("begin", fleet_begin(f), ST_OK);
    put(f, FLEET_SETTING, "a", "after");
    CHECK_STATUS("order", fleet_order_put(f, 1, 1, SPAN("x")), ST_OK);
    fleet_rollback(f);
    check_get(f, "rolled back", FLEET_SETTING, "a", "before");
    CHECK_STATUS("begin", fleet_begin(f), ST_OK);
    put(f, FLEET_SETTING, "a", "later");
    CHECK_STATUS("commit", fleet_commit(f, true), ST_OK);
    CHECK_STATUS("begin", fleet_begin(f), ST_OK);
    put(f, FLEET_SETTING, "a", "never");
    fleet_close(f); /* not committed */
    f = open_fleet();
    check_get(f, "committed", FLEET_SETTING, "a", "later");
    fleet_close(f);
}

/* SQLite rolls back by itself when a large write fails, and would take what follows as it comes. */
static void a_transaction_that_failed_once_is_not_at_all(void **state)
{
    struct fleet_store *f = open_fleet();
    struct buf large = {0};
    char path[TEST_PATH];
    struct stat sb;
    struct rlimit l;
    memset(buf_room(&large, 40u << 20), 'x', 40u << 20); /* more than its cache */
    large.n = 40u << 20;
    put(f, FLEET_SETTING, "a", "before");
    test_path(path, "fleet.db-wal");
    assert_int_equal(stat(path, &sb), 0);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &l), 0);
    signal(SIGXFSZ, SIG_IGN);
    l.rlim_cur = (rlim_t)sb.st_size + (1u << 20);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &l), 0);
    CHECK_STATUS("begin", fleet_begin(f), ST_OK);
    put(f, FLEET_SETTING, "a", "after");
    CHECK("too large", fleet_put(f, FLEET_BLOB, SPAN("large"), buf_span(&large)) != ST_OK);
    CHECK("nor this", fleet_put(f, FLEET_SETTING, SPAN("b"), SPAN("x")) != ST_OK);
    CHECK("nor an order", fleet_order_put(f, 1, 1, SPAN("x")) != ST_OK);
    CHECK("nor all of it", fleet_commit(f, false) != ST_OK);
    assert_false(fleet_is_begun(f));
    l.rlim_cur = l.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &l), 0);
    check_get(f, "rolled back", FLEET_SETTING, "a", "before");
    struct buf got = {0};
    CHECK_STATUS("rolled back", fleet_get(f, FLEET_SETTING, SPAN("b"), &got), ST_NOT_FOUND);
    put(f, FLEET_SETTING, "a", "later");
    check_get(f, "goes on", FLEET_SETTING, "a", "later");
    buf_done(&got);
    buf_done(&large);
    fleet_close(f);
}

static void a_kill_loses_no_commit(void **state)
{
    fleet_close(open_fleet());
    for (int round = 1; round <= 5; round++) {
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            struct fleet_store *f = open_fleet();
            char text[16];
            snprintf(text, sizeof(text), "%d", round);
            status st = fleet_begin(f);
            if (st == ST_OK)
                st = fleet_put(f, FLEET_SETTING, SPAN("round"), span_str(text));
            if (st == ST_OK)
                st = fleet_commit(f, round % 2 == 0);
            if (st == ST_OK)
                st = fleet_begin(f);
            if (st == ST_OK)
                st = fleet_put(f, FLEET_SETTING, SPAN("round"), SPAN("open"));
            _exit(st == ST_OK ? 7 : 1); /* nothing is closed */
        }
        int how = 0;
        assert_int_equal(waitpid(pid, &how, 0), pid);
        assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 7);
        struct fleet_store *f = open_fleet();
        char want[16];
        snprintf(want, sizeof(want), "%d", round);
        check_get(f, "round", FLEET_SETTING, "round", want);
        fleet_close(f);
    }
}

static void only_durable_commits_wait_for_the_disk(void **state)
{
    struct fleet_store *f = open_fleet();
    file_inject_sync_fault(0, EIO);
    CHECK_STATUS("begin", fleet_begin(f), ST_OK);
    put(f, FLEET_SETTING, "a", "1");
    CHECK_STATUS("in the kernel", fleet_commit(f, false), ST_OK);
    CHECK_STATUS("begin", fleet_begin(f), ST_OK);
    put(f, FLEET_SETTING, "a", "2");
    CHECK_STATUS("on the disk", fleet_commit(f, true), ST_IO);
    file_inject_sync_fault(0, 0);
    for (int i = 0; i < 3; i++) {
        CHECK_STATUS("begin", fleet_begin(f), ST_OK);
        put(f, FLEET_SETTING, "a", "3");
        CHECK_STATUS("good again", fleet_commit(f, true), ST_OK);
    }
    file_inject_sync_fault(0, EIO);
    CHECK_STATUS("begin", fleet_begin(f), ST_OK);
    CHECK_STATUS("the log itself is synced each time", fleet_commit(f, true), ST_IO);
    file_inject_sync_fault(0, 0);
    check_get(f, "value", FLEET_SETTING, "a", "3");
    fleet_close(f);
}

/* ---- orders ---- */

static status list_orders(void *arg, uint64_t number, struct span packed)
{
    buf_printf(arg, "%llu=%.*s ", (unsigned long long)number, SPAN_ARG(packed));
    return number == 99 ? ST_END : ST_OK;
}

static void check_orders(struct fleet_store *f, const char *label, uint64_t agent, uint64_t above, const char *want)
{
    struct buf got = {0};
    CHECK_STATUS(label, fleet_order_each(f, agent, above, list_orders, &got), ST_OK);
    CHECK_SPAN(label, buf_span(&got), span_str(want));
    buf_done(&got);
}

static void orders_stay_until_they_are_done(void **state)
{
    struct fleet_store *f = open_fleet();
    static const char *const texts[] = {"a", "b", "c", "d"};
    for (uint64_t agent = 1; agent <= 3; agent++)
        for (uint64_t i = 1; i <= 4; i++)
            CHECK_STATUS("put", fleet_order_put(f, agent, i, span_str(texts[i - 1])), ST_OK);
    check_orders(f, "all", 2, 0, "1=a 2=b 3=c 4=d ");
    check_orders(f, "above 2", 2, 2, "3=c 4=d ");
    check_orders(f, "above all", 2, UINT64_MAX, "");
    check_orders(f, "no such agent", 4, 0, "");
    CHECK_STATUS("done", fleet_orders_done(f, 2, 3), ST_OK);
    CHECK_STATUS("done before", fleet_orders_done(f, 2, 1), ST_OK);
    CHECK_STATUS("replace", fleet_order_put(f, 2, 4, SPAN("new")), ST_OK);
    fleet_close(f);
    f = open_fleet();
    check_orders(f, "left", 2, 0, "4=new ");
    check_orders(f, "others", 3, 0, "1=a 2=b 3=c 4=d ");
    CHECK_STATUS("drop", fleet_orders_drop(f, 3), ST_OK);
    check_orders(f, "dropped", 3, 0, "");
    check_orders(f, "not dropped", 1, 3, "4=d ");
    CHECK_STATUS("more than there are", fleet_orders_done(f, 1, UINT64_MAX), ST_OK);
    check_orders(f, "none", 1, 0, "");
    fleet_close(f);
}

/* ---- packages ---- */

static status list_packages(void *arg, const struct fleet_package *p)
{
    buf_printf(arg, "%llu/%llu base %llu visits %u bytes %llu at %lld%s; ", (unsigned long long)p->agent,
               (unsigned long long)p->sequence, (unsigned long long)p->base, p->visits, (unsigned long long)p->bytes,
               (long long)p->received, p->is_applied ? " applied" : "");
    return ST_OK;
}

static void packages_wait_in_the_order_they_came(void **state)
{
    struct fleet_store *f = open_fleet();
    struct buf got = {0};
    uint64_t last = 77;
    /* Two clocks that disagree: the order is ours. */
    const struct fleet_package packages[] = {{2, 1, 100, 5, 1000, 5000, false},
                                             {1, 1, 105, 7, 2000, 4000, false},
                                             {2, 2, 112, UINT32_MAX, 3000, 3000, false}};
    for (size_t i = 0; i < 3; i++)
        CHECK_STATUS("put", fleet_package_put(f, &packages[i]), ST_OK);
    CHECK_STATUS("twice", fleet_package_put(f, &packages[1]), ST_EXISTS);
    fleet_close(f);
    f = open_fleet();
    CHECK_STATUS("waiting", fleet_package_waiting(f, list_packages, &got), ST_OK);
    CHECK_SPAN("waiting", buf_span(&got),
               SPAN("2/1 base 100 visits 5 bytes 1000 at 5000; 1/1 base 105 visits 7 bytes 2000 at 4000; "
                    "2/2 base 112 visits 4294967295 bytes 3000 at 3000; "));
    CHECK_STATUS("applied", fleet_package_applied(f, 2, 1), ST_OK);
    CHECK_STATUS("applied twice", fleet_package_applied(f, 2, 1), ST_OK);
    CHECK_STATUS("unknown", fleet_package_applied(f, 2, 3), ST_NOT_FOUND);
    CHECK_STATUS("still there", fleet_package_put(f, &packages[0]), ST_EXISTS);
    buf_clear(&got);
    CHECK_STATUS("waiting", fleet_package_waiting(f, list_packages, &got), ST_OK);
    CHECK("one less", span_starts(buf_span(&got), SPAN("1/1 ")));
    CHECK_STATUS("last", fleet_package_last(f, 2, &last), ST_OK);
    assert_int_equal(last, 2);
    CHECK_STATUS("none", fleet_package_last(f, 3, &last), ST_OK);
    assert_int_equal(last, 0);
    buf_done(&got);
    fleet_close(f);
}

static void pruning_forgets_only_what_is_applied_and_old(void **state)
{
    static const struct {
        const char *label;
        uint64_t keep;
        unsigned gone; /* of agent 1, sequences 1 to 10, of which 3 waits */
    } cases[] = {{"keep 4", 4, 5},
                 {"keep all", 10, 0},
                 {"keep one", 1, 8},
                 {"keep none means one", 0, 8},
                 {"many", UINT64_MAX, 0}};
    for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
        struct fleet_store *f = open_fleet();
        CHECK_STATUS("begin", fleet_begin(f), ST_OK);
        for (uint64_t i = 1; i <= 10; i++) {
            struct fleet_package p = {.agent = 1, .sequence = i, .is_applied = i != 3};
            CHECK_STATUS("put", fleet_package_put(f, &p), ST_OK);
        }
        struct fleet_package other = {.agent = 2, .sequence = 1, .is_applied = true};
        CHECK_STATUS("put", fleet_package_put(f, &other), ST_OK);
        CHECK_STATUS("prune", fleet_packages_prune(f, cases[c].keep), ST_OK);
        unsigned gone = 0;
        for (uint64_t i = 1; i <= 10; i++) {
            status st = fleet_package_applied(f, 1, i);
            gone += st == ST_NOT_FOUND;
            CHECK(cases[c].label, st == ST_OK || i != 3);
            CHECK(cases[c].label, st == ST_OK || i < 10);
        }
        if (gone != cases[c].gone)
            fail_msg("%s: %u gone, want %u", cases[c].label, gone, cases[c].gone);
        uint64_t last = 0;
        CHECK_STATUS("last", fleet_package_last(f, 1, &last), ST_OK);
        assert_int_equal(last, 10);
        CHECK_STATUS(cases[c].label, fleet_package_put(f, &other), ST_EXISTS);
        fleet_rollback(f);
        fleet_close(f);
    }
}

/* ---- against a naive twin ---- */

enum { TWIN_KEYS = 40, TWIN_STEPS = 4000 };

static void random_work_gives_what_a_plain_array_gives(void **state)
{
    struct rng r;
    rng_seed(&r, 4);
    struct fleet_store *f = open_fleet();
    static char now[TWIN_KEYS][8], before[TWIN_KEYS][8]; /* "": absent */
    bool is_begun = false;
    for (int step = 0; step < TWIN_STEPS; step++) {
        unsigned i = (unsigned)rng_below(&r, TWIN_KEYS), what = (unsigned)rng_below(&r, 100);
        struct fleet_number key = fleet_number(i);
        struct span k = fleet_number_span(&key);
        if (what < 45) {
            snprintf(now[i], sizeof(now[i]), "v%d", step);
            CHECK_STATUS("put", fleet_put(f, FLEET_TASK, k, span_str(now[i])), ST_OK);
        } else if (what < 60) {
            now[i][0] = '\0';
            CHECK_STATUS("remove", fleet_remove(f, FLEET_TASK, k), ST_OK);
        } else if (what < 85) {
            struct buf got = {0};
            CHECK_STATUS("get", fleet_get(f, FLEET_TASK, k, &got), now[i][0] ? ST_OK : ST_NOT_FOUND);
            CHECK_SPAN("get", buf_span(&got), span_str(now[i]));
            buf_done(&got);
        } else if (what < 90 && !is_begun) {
            CHECK_STATUS("begin", fleet_begin(f), ST_OK);
            is_begun = true;
            memcpy(before, now, sizeof(now));
        } else if (what < 93 && is_begun) {
            CHECK_STATUS("commit", fleet_commit(f, false), ST_OK);
            is_begun = false;
        } else if (what < 96 && is_begun) {
            fleet_rollback(f);
            is_begun = false;
            memcpy(now, before, sizeof(now));
        } else if (what == 99) {
            fleet_close(f);
            f = open_fleet();
            if (is_begun)
                memcpy(now, before, sizeof(now));
            is_begun = false;
        }
    }
    struct buf got = {0}, want = {0};
    CHECK_STATUS("each", fleet_each(f, FLEET_TASK, list, &got), ST_OK);
    for (unsigned i = 0; i < TWIN_KEYS; i++) {
        struct fleet_number key = fleet_number(i);
        if (now[i][0])
            (void)list(&want, fleet_number_span(&key), span_str(now[i]));
    }
    CHECK_SPAN("at the end", buf_span(&got), buf_span(&want));
    buf_done(&got);
    buf_done(&want);
    fleet_close(f);
}

/* ---- files that are not as they should be ---- */

static void run_sql(const char *sql)
{
    char path[TEST_PATH];
    sqlite3 *db = NULL;
    test_path(path, "fleet.db");
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    sqlite3_close(db);
}

static void files_of_others_are_refused(void **state)
{
    char path[TEST_PATH];
    test_path(path, "fleet.db");
    FILE *file = fopen(path, "w");
    for (int i = 0; i < 1000; i++)
        fputs("not a database\n", file);
    fclose(file);
    check_open("text", ST_CORRUPT, "damaged");
    unlink(path);
    run_sql("CREATE TABLE other (x)");
    check_open("another program's", ST_CORRUPT, "damaged");
    unlink(path);
    fleet_close(open_fleet());
    run_sql("PRAGMA user_version = 3");
    check_open("newer", ST_NEWER, "newer");
    unlink(path);
    mkdir(path, 0700);
    check_open("a folder", ST_IO, "cannot open");
}

static void a_file_of_before_is_brought_up_to_date(void **state)
{
    struct fleet_store *f = open_fleet();
    put(f, FLEET_CHANNEL, "a", "kept");
    fleet_close(f);
    run_sql("DROP TABLE recrawl; PRAGMA user_version = 1");
    f = open_fleet();
    check_get(f, "what it had", FLEET_CHANNEL, "a", "kept");
    put(f, FLEET_RECRAWL, "a", "new");
    check_get(f, "what it has now", FLEET_RECRAWL, "a", "new");
    fleet_close(f);
}

static void the_file_is_its_owners_alone(void **state)
{
    struct fleet_store *f = open_fleet();
    put(f, FLEET_SETTING, "secret", "x");
    static const char *const names[] = {"fleet.db", "fleet.db-wal"};
    for (size_t i = 0; i < 2; i++) {
        char path[TEST_PATH];
        struct stat sb;
        test_path(path, names[i]);
        CHECK(names[i], stat(path, &sb) == 0 && (sb.st_mode & 0777) == 0600);
    }
    check_open("second", ST_BUSY, "in use");
    fleet_close(f);
    fleet_close(open_fleet());
}

static void damage_is_found(void **state)
{
    (void)state;
    struct buf what = {0};
    char path[TEST_PATH];
    struct fleet_store *f = open_fleet();
    put(f, FLEET_BLOB, "a", "one");
    CHECK_STATUS("whole", fleet_check(f, &what), ST_OK);
    fleet_close(f);
    test_path(path, "fleet.db");
    int fd = open(path, O_WRONLY);
    assert_int_equal(pwrite(fd, "XXXXXXXXXXXXXXXX", 16, 4096), 16);
    close(fd);
    f = open_fleet();
    CHECK_STATUS("damaged", fleet_check(f, &what), ST_CORRUPT);
    fleet_close(f);
    buf_done(&what);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(kinds_are_apart_and_outlive_the_process),
        TEST_IN_FOLDER(damage_is_found),
        TEST_IN_FOLDER(numbers_sort_as_numbers),
        TEST_IN_FOLDER(keys_and_values_have_ceilings),
        TEST_IN_FOLDER(walks_may_be_nested_and_stopped),
        TEST_IN_FOLDER(a_transaction_is_whole_or_not_at_all),
        TEST_IN_FOLDER(a_transaction_that_failed_once_is_not_at_all),
        TEST_IN_FOLDER(a_kill_loses_no_commit),
        TEST_IN_FOLDER(only_durable_commits_wait_for_the_disk),
        TEST_IN_FOLDER(orders_stay_until_they_are_done),
        TEST_IN_FOLDER(packages_wait_in_the_order_they_came),
        TEST_IN_FOLDER(pruning_forgets_only_what_is_applied_and_old),
        TEST_IN_FOLDER(random_work_gives_what_a_plain_array_gives),
        TEST_IN_FOLDER(files_of_others_are_refused),
        TEST_IN_FOLDER(a_file_of_before_is_brought_up_to_date),
        TEST_IN_FOLDER(the_file_is_its_owners_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
