/* test_coord_packages.c - packages: taken once, in order and whole; kept until the disk has them; then forgotten. */
#include "puppet_stage.h"

#include <errno.h>
#include <fcntl.h>

#include "coord/agents.h"
#include "store/file.h"

static void packages_are_taken_once_in_order_and_whole(void **state)
{
    static const char *const urls[] = {"http://one.example/", "http://one.example/a", "http://one.example/b", NULL};
    static const char *const more[] = {"http://one.example/c", NULL};
    static const char *const outside[] = {"http://three.example/x", "http://one.example/d", NULL};
    struct stage s;
    struct puppet p;
    struct seen_orders seen = {0};
    struct put_answer put;
    struct buf one = {0}, two = {0}, three = {0}, four = {0};
    uint64_t have = 0;
    open_stage(&s);
    puppet_new(&p, &s, "athens", 1);
    add_channel(&s, "http://one.example/", SCOPE_SITE);
    UNTIL(&p, seen, seen.tasks == 1);
    make_package(&p, 1, seen.task, urls, "127.1.1.1", &one);
    make_package(&p, 2, seen.task, more, "127.1.1.1", &two);
    make_package(&p, 3, seen.task, outside, "127.1.1.1", &three);
    make_package(&p, 4, seen.task, outside, "127.9.9.9", &four);

    /* The second before the first: the first is wanted. */
    assert_int_equal(put_piece(&p, 2, 0, two.n, buf_span(&two), &put), 409);
    assert_int_equal(put.wanted, 1);
    /* In pieces; one at a wrong place is told where to go on. */
    assert_int_equal(put_piece(&p, 1, 0, one.n, span_cut(buf_span(&one), 0, 100), &put), 200);
    assert_int_equal(put.have, 100);
    assert_false(put.is_whole);
    assert_int_equal(put_piece(&p, 1, 300, one.n, span_from(buf_span(&one), 300), &put), 409);
    assert_int_equal(put.have, 100);
    /* The coordinator is restarted in the middle: it knows how far it was. */
    stop(&s);
    start(&s);
    puppet_line(&p);
    assert_int_equal(call(&p, "GET", PATH_PACKAGE "1", (struct span){0}), 200);
    assert_int_equal(put_piece(&p, 1, 100, one.n, span_from(buf_span(&one), 100), &put), 200);
    assert_true(put.is_whole);
    wait_docs(&s, 3);
    /* Twice: fine, and nothing changes. */
    assert_int_equal(put_piece(&p, 1, 0, one.n, buf_span(&one), &put), 200);
    assert_true(put.is_whole);
    /* Damaged: dropped, and wanted again from its beginning. */
    two.p[two.n - 1] ^= 4;
    assert_int_equal(put_piece(&p, 2, 0, two.n, buf_span(&two), &put), 422);
    two.p[two.n - 1] ^= 4;
    assert_int_equal(put_piece(&p, 2, 0, two.n, span_cut(buf_span(&two), 0, two.n - 9), &put), 200);
    assert_int_equal(put_piece(&p, 2, two.n - 9, two.n, span_from(buf_span(&two), two.n - 9), &put), 200);
    assert_true(put.is_whole);
    wait_docs(&s, 4);
    /* Pages outside of its task, or from elsewhere, are dropped; the rest of the package is taken. */
    assert_int_equal(put_piece(&p, 3, 0, three.n, buf_span(&three), &put), 200);
    wait_docs(&s, 5);
    assert_int_equal(put_piece(&p, 4, 0, four.n, buf_span(&four), &put), 200);
    (void)puppet_poll(&p, NULL, 0, NULL, NULL, &have);
    assert_int_equal(have, 4);
    stop(&s);
    start(&s);
    assert_int_equal(docs(&s), 5);
    pthread_mutex_lock(&s.c->lock);
    assert_int_equal(agent_get(s.c, 1)->sequence, 4);
    pthread_mutex_unlock(&s.c->lock);
    buf_done(&one);
    buf_done(&two);
    buf_done(&three);
    buf_done(&four);
    buf_done(&seen.texts);
    puppet_done(&p);
    close_stage(&s);
}

static void a_package_waits_until_the_store_is_on_the_disk(void **state)
{
    static const char *const first[] = {"http://one.example/", NULL}, *const second[] = {"http://one.example/a", NULL};
    struct stage s;
    struct puppet p;
    struct seen_orders seen = {0};
    struct put_answer put;
    struct buf one = {0}, two = {0};
    char path[TEST_PATH];
    open_stage(&s);
    puppet_new(&p, &s, "athens", 1);
    add_channel(&s, "http://one.example/", SCOPE_SITE);
    UNTIL(&p, seen, seen.tasks == 1);
    make_package(&p, 1, seen.task, first, "127.1.1.1", &one);
    make_package(&p, 2, seen.task, second, "127.1.1.1", &two);
    assert_int_equal(put_piece(&p, 1, 0, one.n, buf_span(&one), &put), 200);
    wait_docs(&s, 1);
    wait_applied(&s, 1, 1);
    /* Its file, the folder and the ledger; its texts; then the disk fails. */
    file_inject_sync_fault(4, EIO);
    int code = put_piece(&p, 2, 0, two.n, buf_span(&two), &put);
    usleep(500000);
    test_path(path, "inbox/1-2");
    bool is_kept = access(path, F_OK) == 0;
    file_inject_sync_fault(0, 0);
    assert_int_equal(code, 200);
    CHECK("it is still in the inbox", is_kept);
    wait_applied(&s, 1, 2);
    assert_int_not_equal(access(path, F_OK), 0);
    wait_docs(&s, 2);
    buf_done(&one);
    buf_done(&two);
    buf_done(&seen.texts);
    puppet_done(&p);
    close_stage(&s);
}

static void a_package_whose_line_is_not_on_the_disk_is_taken_with_the_next_try(void **state)
{
    static const char *const first[] = {"http://one.example/", NULL}, *const second[] = {"http://one.example/a", NULL};
    struct stage s;
    struct puppet p;
    struct seen_orders seen = {0};
    struct put_answer put;
    struct buf one = {0}, two = {0};
    uint64_t have = 0;
    open_stage(&s);
    puppet_new(&p, &s, "athens", 1);
    add_channel(&s, "http://one.example/", SCOPE_SITE);
    UNTIL(&p, seen, seen.tasks == 1);
    make_package(&p, 1, seen.task, first, "127.1.1.1", &one);
    make_package(&p, 2, seen.task, second, "127.1.1.1", &two);
    assert_int_equal(put_piece(&p, 1, 0, one.n, buf_span(&one), &put), 200);
    wait_docs(&s, 1);
    wait_applied(&s, 1, 1);
    /* Its file and the folder are; the ledger is not. */
    file_inject_sync_fault(2, EIO);
    int code = put_piece(&p, 2, 0, two.n, buf_span(&two), &put),
        again = put_piece(&p, 2, 0, two.n, buf_span(&two), &put);
    (void)puppet_poll(&p, NULL, 0, note_order, &seen, &have);
    file_inject_sync_fault(0, 0);
    assert_int_equal(code, 507);
    assert_int_equal(again, 507);
    assert_int_equal(have, 1);
    assert_int_equal(put_piece(&p, 2, 0, two.n, buf_span(&two), &put), 200);
    CHECK("whole", put.is_whole);
    (void)puppet_poll(&p, NULL, 0, note_order, &seen, &have);
    assert_int_equal(have, 2);
    wait_docs(&s, 2);
    pthread_mutex_lock(&s.c->lock);
    assert_int_equal(s.c->next_fetch, 3);
    pthread_mutex_unlock(&s.c->lock);
    buf_done(&one);
    buf_done(&two);
    buf_done(&seen.texts);
    puppet_done(&p);
    close_stage(&s);
}

static void a_package_has_no_more_visits_than_were_counted(void **state)
{
    static const char *const first[] = {"http://one.example/", NULL}, *const second[] = {"http://one.example/a", NULL},
                             *const swapped[] = {"http://one.example/b", "http://one.example/c", NULL};
    struct stage s;
    struct puppet p;
    struct seen_orders seen = {0};
    struct put_answer put;
    struct buf one = {0}, two = {0}, other = {0};
    struct ingest_stats stats;
    char path[TEST_PATH];
    open_stage(&s);
    puppet_new(&p, &s, "athens", 1);
    add_channel(&s, "http://one.example/", SCOPE_SITE);
    UNTIL(&p, seen, seen.tasks == 1);
    make_package(&p, 1, seen.task, first, "127.1.1.1", &one);
    make_package(&p, 2, seen.task, second, "127.1.1.1", &two);
    make_package(&p, 2, seen.task, swapped, "127.1.1.1", &other);
    assert_int_equal(put_piece(&p, 1, 0, one.n, buf_span(&one), &put), 200);
    wait_docs(&s, 1);
    wait_applied(&s, 1, 1);
    /* It is applied and has to be applied once more, because the disk fails; another one is in its place by then. */
    file_inject_sync_fault(4, EIO);
    int code = put_piece(&p, 2, 0, two.n, buf_span(&two), &put);
    usleep(500000);
    test_path(path, "inbox/1-2");
    int fd = open(path, O_WRONLY | O_TRUNC);
    status st = file_write_all(fd, buf_span(&other));
    close(fd);
    file_inject_sync_fault(0, 0);
    assert_int_equal(code, 200);
    CHECK_STATUS("swapped", st, ST_OK);
    wait_applied(&s, 1, 2);
    ingest_get_stats(s.c->ingest, &stats);
    assert_int_equal(stats.damaged, 1);
    stop(&s);
    start(&s);
    assert_int_equal(docs(&s), 2);
    buf_done(&one);
    buf_done(&two);
    buf_done(&other);
    buf_done(&seen.texts);
    puppet_done(&p);
    close_stage(&s);
}

static void packages_of_long_ago_are_forgotten(void **state)
{
    struct stage s;
    open_stage(&s);
    pthread_mutex_lock(&s.c->lock);
    for (uint64_t i = 1; i <= 100; i++) {
        struct fleet_package p = {.agent = 1, .sequence = i, .base = i, .visits = 1, .is_applied = true};
        CHECK_STATUS("put", fleet_package_put(s.c->fleet, &p), ST_OK);
    }
    agents_tick(s.c, clock_mono() + 2 * 60 * 60 * 1000);
    CHECK_STATUS("old", fleet_package_applied(s.c->fleet, 1, 1), ST_NOT_FOUND);
    CHECK_STATUS("new", fleet_package_applied(s.c->fleet, 1, 100), ST_OK);
    pthread_mutex_unlock(&s.c->lock);
    close_stage(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(packages_are_taken_once_in_order_and_whole),
        TEST_IN_FOLDER(a_package_waits_until_the_store_is_on_the_disk),
        TEST_IN_FOLDER(a_package_whose_line_is_not_on_the_disk_is_taken_with_the_next_try),
        TEST_IN_FOLDER(a_package_has_no_more_visits_than_were_counted),
        TEST_IN_FOLDER(packages_of_long_ago_are_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
