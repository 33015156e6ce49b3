/* A coordinator looks for near-duplicates when enough is new and nothing waits, and once an hour; never twice at once.
 */
#include "test.h"

#include <time.h>

#include "apply/alike.h"
#include "apply/apply.h"
#include "coord/alike_job.h"
#include "store/contents.h"
#include "store/groups.h"
#include "test_folder.h"

#define HOUR (60 * 60 * 1000)

static const struct sip_key key = {5, 6};

static void make_log(void)
{
    struct contents *log = NULL;
    struct buf dir = {0};
    apply_contents_dir(test_folder(), &dir);
    CHECK_STATUS("contents", contents_open(dir.p, &log), ST_OK);
    for (uint64_t i = 1; i <= 200; i++) {
        struct contents_record r = {.key = i, .fetch_number = i, .is_gone = true};
        CHECK_STATUS("append", contents_append(log, &r), ST_OK);
    }
    CHECK_STATUS("sync", contents_sync(log), ST_OK);
    contents_free(log);
    buf_done(&dir);
}

static bool has_groups(void)
{
    struct buf path = {0};
    groups_path(test_folder(), &path);
    bool has = access(path.p, F_OK) == 0;
    buf_done(&path);
    return has;
}

static void forget_groups(void)
{
    struct buf path = {0};
    groups_path(test_folder(), &path);
    unlink(path.p);
    buf_done(&path);
}

/* Whether a run comes within some seconds; a run that should not come is waited for a little. */
static bool runs(bool is_expected)
{
    for (int i = 0; i < (is_expected ? 1000 : 10) && !has_groups(); i++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    return has_groups();
}

static void runs_when_it_is_due(void **state)
{
    (void)state;
    static const struct {
        const char *label;
        mono_ms now;
        bool is_idle;
        uint64_t last, docs;
        bool want;
    } steps[] = {
        {"nothing there", 1000, true, 0, 0, false},
        {"busy", 2000, false, 100, 100, false},
        {"idle, and enough is new", 3000, true, 100, 100, true},
        {"nothing new", 4000, true, 100, 1000, false},
        {"too little is new", 5000, true, 101, 1000, false},
        {"a fiftieth is new", 6000, true, 120, 1000, true},
        {"an hour later, nothing new", 6000 + HOUR, false, 120, 1000, false},
        {"an hour later, one is, and busy", 7000 + HOUR, false, 121, 1000, true},
    };
    make_log();
    struct alike_job *j = alike_job_new(test_folder(), &key, NULL);
    for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
        forget_groups();
        alike_job_poke(j, steps[i].now, steps[i].is_idle, steps[i].last, steps[i].docs);
        CHECK(steps[i].label, runs(steps[i].want) == steps[i].want);
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL); /* the thread ends just after its file is there */
    }
    alike_job_free(j);
}

static void goes_on_where_the_last_one_ended(void **state)
{
    (void)state;
    make_log();
    struct alike_job *j = alike_job_new(test_folder(), &key, NULL);
    alike_job_poke(j, 1000, true, 200, 10);
    CHECK("first", runs(true));
    alike_job_free(j);
    j = alike_job_new(test_folder(), &key, NULL);
    forget_groups();
    alike_job_poke(j, 1000, true, 200, 10);
    CHECK("it knows how far that was", !runs(false));
    alike_job_free(j);
}

/* Who forgets pages takes the folder away; the log may begin anew. */
static void makes_anew_what_was_erased(void **state)
{
    (void)state;
    static const struct {
        const char *label;
        uint64_t last;
    } steps[] = {{"the log goes on", 201}, {"the log is numbered from 1 again", 20}};
    make_log();
    struct alike_job *j = alike_job_new(test_folder(), &key, NULL);
    alike_job_poke(j, 1000, true, 200, 1000);
    CHECK("first", runs(true));
    for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
        alike_job_poke(j, 2000, true, steps[i].last, 1000);
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
        CHECK_STATUS(steps[i].label, alike_erase(test_folder()), ST_OK);
        alike_job_poke(j, 3000, false, steps[i].last, 1000);
        CHECK(steps[i].label, !runs(false));
        alike_job_poke(j, 4000, true, steps[i].last, 1000);
        CHECK(steps[i].label, runs(true));
    }
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    forget_groups();
    alike_job_poke(j, 5000, true, 19, 100);
    CHECK("numbered anew, and nothing was taken away", runs(true));
    alike_job_free(j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(runs_when_it_is_due),
        TEST_IN_FOLDER(goes_on_where_the_last_one_ended),
        TEST_IN_FOLDER(makes_anew_what_was_erased),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
