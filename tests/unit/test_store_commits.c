/* test_store_commits.c - what is committed: all or nothing, through a kill, and as a reader sees it meanwhile. */
#include "store_pages.h"

#include <sys/wait.h>
#include <unistd.h>

static void a_transaction_is_all_or_nothing(void **state)
{
    (void)state;
    struct store *s = open_store(STORE_WRITE);
    struct buf b = {0};
    struct page p = good_page(1, 1, 1);
    CHECK_STATUS("begin", store_begin(s), ST_OK);
    visit(s, "inside", &p);
    CHECK_STATUS("setting", store_setting_put(s, "x", SPAN("y")), ST_OK);
    store_rollback(s);
    store_rollback(s);
    CHECK_STATUS("page", store_page_get(s, 1, show_page, &b), ST_NOT_FOUND);
    CHECK_STATUS("setting", store_setting_get(s, "x", &b), ST_NOT_FOUND);
    CHECK_STATUS("begin", store_begin(s), ST_OK);
    visit(s, "inside", &p);
    CHECK_STATUS("commit", store_commit(s), ST_OK);
    CHECK_STATUS("sync", store_sync(s), ST_OK);
    CHECK_STATUS("page", store_page_get(s, 1, show_page, &b), ST_OK);
    buf_done(&b);
    store_free(s);
}

static void what_was_committed_survives_a_kill(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        struct store *s = open_store(STORE_WRITE);
        struct page p = good_page(1, 1, 1);
        visit(s, "committed", &p);
        CHECK_STATUS("begin", store_begin(s), ST_OK);
        p = good_page(2, 2, 2);
        visit(s, "not committed", &p);
        kill(getpid(), SIGKILL);
    }
    int how = 0;
    waitpid(child, &how, 0);
    assert_true(WIFSIGNALED(how));
    struct buf b = {0};
    struct store *s = open_store(STORE_READ);
    CHECK_STATUS("reading", store_page_get(s, 1, show_page, &b), ST_OK);
    store_free(s);
    s = open_store(STORE_WRITE);
    CHECK_STATUS("1", store_page_get(s, 1, show_page, &b), ST_OK);
    CHECK_STATUS("2", store_page_get(s, 2, show_page, &b), ST_NOT_FOUND);
    buf_done(&b);
    store_free(s);
}

static status visit_meanwhile(void *arg, const struct page *p)
{
    struct page extra = good_page(p->key + 1000, 5000 + p->key, 1);
    return store_page_visit(arg, &extra, NULL);
}

static void readers_see_a_snapshot_while_somebody_writes(void **state)
{
    (void)state;
    struct store *writer = open_store(STORE_WRITE);
    struct page_counts c;
    for (uint64_t i = 1; i <= 100; i++) {
        struct page p = good_page(i, i, 1);
        visit(writer, "visit", &p);
    }
    struct store *reader = open_store(STORE_READ);
    assert_memory_equal(store_key(reader), store_key(writer), sizeof(struct sip_key));
    CHECK_STATUS("each", store_page_each(reader, 0, visit_meanwhile, writer), ST_OK);
    CHECK_STATUS("counts", store_page_counts(reader, &c), ST_OK);
    assert_int_equal(c.known, 200);
    CHECK_STATUS("begin", store_begin(writer), ST_OK);
    struct page p = good_page(9999, 9999, 1);
    visit(writer, "uncommitted", &p);
    CHECK_STATUS("counts", store_page_counts(reader, &c), ST_OK);
    assert_int_equal(c.known, 200);
    CHECK_STATUS("commit", store_commit(writer), ST_OK);
    CHECK_STATUS("counts", store_page_counts(reader, &c), ST_OK);
    assert_int_equal(c.known, 201);
    CHECK_STATUS("a reader cannot write", store_setting_put(reader, "x", SPAN("y")), ST_IO);
    store_free(writer);
    CHECK_STATUS("writer gone", store_page_counts(reader, &c), ST_OK);
    store_free(reader);
}

static uint64_t last_fetch(struct store *s)
{
    uint64_t number = UINT64_MAX;
    CHECK_STATUS("last fetch", store_last_fetch(s, &number), ST_OK);
    return number;
}

static void the_highest_number_stays_known(void **state)
{
    char path[TEST_PATH];
    struct store *s = open_store(STORE_WRITE);
    CHECK("an empty folder", last_fetch(s) == 0);
    struct page p = good_page(1, 7, 1);
    visit(s, "first", &p);
    p = good_page(2, 5, 1);
    visit(s, "lower", &p);
    CHECK("the highest", last_fetch(s) == 7);
    CHECK_STATUS("begin", store_begin(s), ST_OK);
    p = good_page(3, 9, 1);
    visit(s, "given up", &p);
    store_rollback(s);
    store_free(s);
    s = open_store(STORE_READ);
    CHECK("of what was committed", last_fetch(s) == 7);
    store_free(s);
    test_path(path, "data/orb.db");
    run_sql(path, "DELETE FROM page WHERE fetch_number = 7");
    s = open_store(STORE_WRITE);
    CHECK("of a page that went", last_fetch(s) == 7);
    store_free(s);
    run_sql(path, "DELETE FROM setting WHERE name = 'last_fetch'");
    s = open_store(STORE_WRITE);
    CHECK("in a folder that kept none", last_fetch(s) == 5);
    p = good_page(4, 2, 1);
    visit(s, "lower", &p);
    store_free(s);
    s = open_store(STORE_READ);
    CHECK("a lower one changes nothing", last_fetch(s) == 5);
    store_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(a_transaction_is_all_or_nothing),
        TEST_IN_FOLDER(what_was_committed_survives_a_kill),
        TEST_IN_FOLDER(readers_see_a_snapshot_while_somebody_writes),
        TEST_IN_FOLDER(the_highest_number_stays_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
