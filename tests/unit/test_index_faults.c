/* Full disks, failing syncs and kills: what was committed is there, once, and the process can go on. */
#include "test.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "index_model.h"
#include "store/file.h"

static void no_faults(void)
{
    file_inject_fault(0, 0);
    file_inject_sync_fault(0, 0);
}

static int remove_folder(void **state)
{
    no_faults();
    return test_folder_remove(state);
}

static void add(struct index *ix, struct model *m, unsigned key, uint64_t number)
{
    CHECK_STATUS("add", model_index_add(ix, key, number, 0), ST_OK);
    model_add(m, key, number, 0);
}

static void delete_page(struct index *ix, struct model *m, unsigned key, uint64_t number)
{
    CHECK_STATUS("delete", index_delete(ix, key, number), ST_OK);
    model_delete(m, key, number);
}

static bool is_same_state(const struct model_version *a, const struct model_version *b)
{
    for (unsigned k = 0; k < MODEL_KEYS; k++)
        if (a[k].is_there != b[k].is_there || (a[k].is_there && a[k].number != b[k].number))
            return false;
    return true;
}

static status note_version(void *arg, uint64_t key, uint64_t number, struct span url)
{
    struct model_version *v = arg;
    if (key >= MODEL_KEYS || v[key].is_there)
        return ST_CORRUPT;
    v[key] = (struct model_version){true, number, 0};
    return ST_OK;
}

/* After a failed commit the disk has the commit before, or the new one if only the last sync of the folder failed. */
static void check_either(const struct model *before, const struct model *after, bool only_before, const char *label)
{
    struct model_version seen[MODEL_KEYS] = {{0}};
    struct index_reader *r = NULL;
    struct index_snapshot *s = NULL;
    CHECK_STATUS(label, index_reader_open(index_dir(), &r, NULL), ST_OK);
    CHECK_STATUS(label, index_reader_snapshot(r, &s), ST_OK);
    CHECK_STATUS(label, index_each(s, note_version, seen), ST_OK);
    bool is_new = !is_same_state(seen, before->committed);
    CHECK(label, !is_new || (!only_before && is_same_state(seen, after->committed)));
    model_compare(is_new ? after : before, index_dir(), label);
    index_snapshot_free(s);
    index_reader_free(r);
}

/* One batch: new pages, new versions, deletions. `round` makes it differ from the last. */
static void one_batch(struct index *ix, struct model *m, unsigned round)
{
    for (unsigned i = 0; i < 8; i++)
        add(ix, m, (round * 8 + i) % MODEL_KEYS, round * 3 + 2);
    for (unsigned i = 0; i < 3; i++)
        add(ix, m, (round * 5 + i * 7) % 32, round * 3 + 3);
    delete_page(ix, m, round % 32, round * 3 + 4);
}

typedef void arm_fn(uint64_t n, int err);

static void arm_write(uint64_t n, int err)
{
    file_inject_fault(n, err);
}

static void arm_sync(uint64_t n, int err)
{
    file_inject_sync_fault((unsigned)n, err);
}

/* Fails the commit at point after point until it goes through with the fault still ahead. */
static unsigned fail_commits(arm_fn *arm, int err, status want, bool only_before, bool is_fine, struct index_opts o)
{
    struct model m = {0};
    struct index *ix = open_with(o);
    unsigned failed = 0;
    uint64_t at = 0;
    one_batch(ix, &m, 0);
    CHECK_STATUS("first", index_commit(ix, 0), ST_OK);
    model_commit(&m);
    for (unsigned round = 1;; round++) {
        char label[64];
        struct model before = m;
        snprintf(label, sizeof(label), "fault after %llu", (unsigned long long)at);
        one_batch(ix, &m, round);
        arm(at, err);
        status st = index_commit(ix, round);
        no_faults();
        model_commit(&m);
        if (st == ST_OK) {
            model_compare(&m, index_dir(), label);
            break;
        }
        failed++;
        CHECK_STATUS(label, st, want);
        check_either(&before, &m, only_before, label);
        CHECK_STATUS("told", model_index_add(ix, 1, 1, 0), want);
        CHECK_STATUS("told", index_commit_soon(ix, round), want);
        CHECK_STATUS("again", index_commit(ix, round), ST_OK);
        model_compare(&m, index_dir(), label);
        CHECK("applied", index_applied(ix) == round);
        at += is_fine ? 1 : 1 + at / 5;
    }
    index_close(ix);
    model_compare(&m, index_dir(), "closed");
    index_close(open_with(o));
    model_compare(&m, index_dir(), "opened again");
    return failed;
}

static void a_full_disk_anywhere_in_a_commit_loses_nothing(void **state)
{
    unsigned failed = fail_commits(arm_write, ENOSPC, ST_FULL, true, false, (struct index_opts){.no_merge = true});
    CHECK("points", failed > 20);
}

static void nor_does_a_failing_disk_with_two_builders(void **state)
{
    unsigned failed =
        fail_commits(arm_write, EIO, ST_IO, true, false, (struct index_opts){.no_merge = true, .builders = 2});
    CHECK("points", failed > 20);
}

static void nor_do_failing_syncs(void **state)
{
    unsigned failed = fail_commits(arm_sync, EIO, ST_IO, false, true, (struct index_opts){.no_merge = true});
    CHECK("points", failed > 7);
}

static void merges_that_fail_leave_the_index_as_it_was(void **state)
{
    static const struct {
        const char *label;
        arm_fn *arm;
        int err;
        status want;
    } cases[] = {{"full", arm_write, ENOSPC, ST_FULL}, {"sync", arm_sync, EIO, ST_IO}};
    for (size_t i = 0; i < 2; i++) {
        struct model m = {0};
        CHECK_STATUS("erase", index_erase(index_dir()), ST_OK);
        struct index *ix = open_with((struct index_opts){.no_merge = true});
        unsigned failed = 0;
        uint64_t at = 0;
        status st = ST_IO;
        for (unsigned round = 0; st != ST_OK; round++) {
            one_batch(ix, &m, round);
            CHECK_STATUS(cases[i].label, index_commit(ix, round), ST_OK);
            model_commit(&m);
            one_batch(ix, &m, round + 1);
            CHECK_STATUS(cases[i].label, index_commit(ix, round), ST_OK);
            model_commit(&m);
            cases[i].arm(at, cases[i].err);
            st = index_merge(ix, true);
            no_faults();
            if (st != ST_OK)
                CHECK_STATUS(cases[i].label, st, cases[i].want);
            failed += st != ST_OK;
            model_compare(&m, index_dir(), cases[i].label);
            at += cases[i].arm == arm_sync ? 1 : 1 + at / 3;
        }
        CHECK(cases[i].label, failed > 6);
        struct index_stats s;
        index_get_stats(ix, &s);
        CHECK(cases[i].label, s.segments == 1 && s.deleted == 0);
        index_close(ix);
        index_close(open_with((struct index_opts){.no_merge = true}));
        model_compare(&m, index_dir(), cases[i].label);
    }
}

static void a_flush_that_fails_in_the_background_is_told_and_tried_again(void **state)
{
    struct model m = {0};
    struct index *ix = open_with((struct index_opts){.no_merge = true, .builders = 2, .memory = 1});
    status st = ST_OK;
    file_inject_fault(3000, ENOSPC);
    /* A builder's share is used up after some tens of pages; the queue holds the rest. */
    for (uint64_t number = 1; number < 100000 && st == ST_OK; number++) {
        unsigned key = (unsigned)(number % MODEL_KEYS);
        st = model_index_add(ix, key, number, 0);
        if (st == ST_OK)
            model_add(&m, key, number, 0);
    }
    CHECK_STATUS("told", st, ST_FULL);
    CHECK_STATUS("still full", index_commit(ix, 1), ST_FULL);
    no_faults();
    CHECK_STATUS("again", index_commit(ix, 1), ST_OK);
    model_commit(&m);
    model_compare(&m, index_dir(), "after");
    index_close(ix);
}

static void closing_with_a_failure_does_not_hang(void **state)
{
    struct model m = {0};
    struct index *ix = open_with((struct index_opts){.builders = 2});
    one_batch(ix, &m, 1);
    CHECK_STATUS("commit", index_commit(ix, 1), ST_OK);
    model_commit(&m);
    file_inject_fault(0, EIO);
    CHECK_STATUS("add", model_index_add(ix, 200, 9, 0), ST_OK);
    CHECK_STATUS("commit", index_commit(ix, 2), ST_IO);
    index_close(ix);
    no_faults();
    model_compare(&m, index_dir(), "closed");
}

static void the_first_manifest_may_fail(void **state)
{
    struct index_opts o = {.dir = index_dir()};
    struct index *ix = NULL;
    struct index_reader *r = NULL;
    file_inject_fault(10, ENOSPC);
    CHECK_STATUS("full", index_open(&o, &ix, NULL), ST_FULL);
    no_faults();
    CHECK_STATUS("reader", index_reader_open(index_dir(), &r, NULL), ST_NOT_FOUND);
    index_close(open_with(o));
}

static void run_random(uint64_t seed)
{
    struct model m = {0};
    struct rng r;
    char label[64];
    rng_seed(&r, seed);
    CHECK_STATUS("erase", index_erase(index_dir()), ST_OK);
    struct index_opts o = {.builders = 2, .memory = rng_below(&r, 2)};
    struct index *ix = open_with(o);
    for (unsigned i = 0; i < 60; i++) {
        snprintf(label, sizeof(label), "seed %llu step %u", (unsigned long long)seed, i);
        one_batch(ix, &m, (unsigned)rng_below(&r, 64));
        if (rng_below(&r, 2))
            file_inject_fault(rng_below(&r, 30000), ENOSPC);
        else
            file_inject_sync_fault((unsigned)rng_below(&r, 20), EIO);
        status st = index_commit(ix, i);
        if (rng_below(&r, 3) == 0)
            (void)!index_merge(ix, rng_below(&r, 2));
        no_faults();
        if (st != ST_OK)
            CHECK_STATUS(label, index_commit(ix, i), ST_OK);
        model_commit(&m);
        if (i % 4 == 0)
            model_compare(&m, index_dir(), label);
        if (rng_below(&r, 8) == 0) {
            index_close(ix);
            ix = open_with(o);
        }
    }
    model_compare(&m, index_dir(), label);
    index_close(ix);
}

static void random_faults_beside_merges_lose_nothing(void **state)
{
    for (uint64_t seed = 1; seed <= 4; seed++)
        run_random(seed);
}

/* ---- kills ---- */

/* The caller's log: what operation number n is, and whether a commit follows it. */
static void operation(uint64_t n, unsigned *key, uint64_t *number, bool *is_deletion, bool *is_commit)
{
    struct rng r;
    rng_seed(&r, n * 77 + 1);
    *key = (unsigned)rng_below(&r, MODEL_KEYS);
    *number = n / 16 + rng_below(&r, 24);
    *is_deletion = rng_below(&r, 7) == 0;
    *is_commit = rng_below(&r, 9) == 0;
}

struct progress {
    atomic_ullong operations, committed; /* operations begun; acknowledged to be committed */
};

static void child_main(struct progress *p)
{
    struct index_opts o = {.dir = index_dir(), .builders = 2, .memory = 1, .seed = 5};
    struct index *ix = NULL;
    if (index_open(&o, &ix, NULL) != ST_OK)
        _exit(2);
    for (uint64_t n = index_applied(ix);; n++) {
        unsigned key;
        uint64_t number;
        bool is_deletion, is_commit;
        operation(n, &key, &number, &is_deletion, &is_commit);
        status st = is_deletion ? index_delete(ix, key, number) : model_index_add(ix, key, number, 0);
        if (st == ST_OK && is_commit)
            st = index_commit(ix, n + 1);
        if (st != ST_OK)
            _exit(3);
        if (is_commit)
            atomic_store(&p->committed, n + 1);
        atomic_store(&p->operations, n + 1);
    }
}

static void pause_us(uint64_t us)
{
    struct timespec t = {0, (long)us * 1000};
    nanosleep(&t, NULL);
}

/* Lets a child work until it has got `ahead` operations further, and kills it a random moment later. */
static void run_and_kill(struct progress *p, uint64_t ahead, uint64_t delay_us)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        child_main(p);
    uint64_t target = atomic_load(&p->operations) + ahead;
    int how = 0;
    pid_t ended = 0;
    while (atomic_load(&p->operations) < target && (ended = waitpid(pid, &how, WNOHANG)) == 0)
        pause_us(200);
    if (ended)
        fail_msg("the writer ended by itself: %d", how);
    pause_us(delay_us);
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, &how, 0), pid);
    CHECK("killed", WIFSIGNALED(how));
}

static uint64_t applied_on_disk(const char *label)
{
    struct index_reader *r = NULL;
    struct index_snapshot *s = NULL;
    struct index_stats stats;
    CHECK_STATUS(label, index_reader_open(index_dir(), &r, NULL), ST_OK);
    CHECK_STATUS(label, index_reader_snapshot(r, &s), ST_OK);
    index_snapshot_stats(s, &stats);
    index_snapshot_free(s);
    index_reader_free(r);
    return stats.applied;
}

static void a_kill_at_any_moment_keeps_exactly_what_was_committed(void **state)
{
    struct progress *p = mmap(NULL, sizeof(*p), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct model m = {0};
    struct rng r;
    uint64_t replayed = 0;
    assert_true(p != MAP_FAILED);
    rng_seed(&r, 4);
    for (unsigned round = 0; round < 30; round++) {
        char label[40];
        snprintf(label, sizeof(label), "kill %u", round);
        run_and_kill(p, 1 + rng_below(&r, 300), rng_below(&r, 4000));
        uint64_t applied = applied_on_disk(label);
        CHECK(label, applied >= atomic_load(&p->committed) && applied >= replayed);
        bool was_commit = applied == replayed;
        for (; replayed < applied; replayed++) {
            unsigned key;
            uint64_t number;
            bool is_deletion;
            operation(replayed, &key, &number, &is_deletion, &was_commit);
            if (is_deletion)
                model_delete(&m, key, number);
            else
                model_add(&m, key, number, 0);
            if (was_commit)
                model_commit(&m);
        }
        CHECK(label, was_commit);
        model_compare(&m, index_dir(), label);
        atomic_store(&p->operations, applied);
    }
    munmap(p, sizeof(*p));
}

#define IN_FOLDER(fn) cmocka_unit_test_setup_teardown(fn, test_folder_make, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_full_disk_anywhere_in_a_commit_loses_nothing),
        IN_FOLDER(nor_does_a_failing_disk_with_two_builders),
        IN_FOLDER(nor_do_failing_syncs),
        IN_FOLDER(merges_that_fail_leave_the_index_as_it_was),
        IN_FOLDER(a_flush_that_fails_in_the_background_is_told_and_tried_again),
        IN_FOLDER(closing_with_a_failure_does_not_hang),
        IN_FOLDER(the_first_manifest_may_fail),
        IN_FOLDER(random_faults_beside_merges_lose_nothing),
        IN_FOLDER(a_kill_at_any_moment_keeps_exactly_what_was_committed),
    };
    model_use_memory();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
