/* Which labs run: files that say so, and those that say so no longer. */
#include "test.h"
#include "test_folder.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab/registry.h"

/* XDG_RUNTIME_DIR is the folder of the test. */
static void use_folder(void)
{
    setenv("XDG_RUNTIME_DIR", test_folder(), 1);
}

static void put(const char *name, const char *text)
{
    char path[TEST_PATH], file[64];
    test_path(path, "orb-lab");
    (void)mkdir(path, 0700);
    snprintf(file, sizeof(file), "orb-lab/%s", name);
    test_path(path, file);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static bool is_there(const char *name)
{
    char path[TEST_PATH], file[64];
    snprintf(file, sizeof(file), "orb-lab/%s", name);
    test_path(path, file);
    return access(path, F_OK) == 0;
}

/* Labs of others may run while we test: only those with this folder count. */
static const struct registry_entry *ours(const struct registry_entry *all, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(all[i].folder, "/test-of-the-registry") == 0)
            return &all[i];
    }
    return NULL;
}

static void a_lab_is_listed_while_it_runs(void **state)
{
    struct registry_entry *all;
    use_folder();
    struct registry *r = registry_open();
    assert_non_null(r);
    registry_add(r, getpid(), "/test-of-the-registry", "six\nagents.lab");
    size_t n = registry_list(&all);
    const struct registry_entry *e = ours(all, n);
    assert_non_null(e);
    assert_int_equal(e->pid, getpid());
    assert_int_equal(e->first, getpid());
    assert_string_equal(e->title, "six?agents.lab");
    assert_true(registry_is_alive(e->first, e->start));
    assert_false(registry_is_alive(e->first, e->start + 1));
    free(all);
    registry_close(r);
    n = registry_list(&all);
    assert_null(ours(all, n));
    free(all);
}

static void a_killed_lab_is_forgotten(void **state)
{
    struct registry_entry *all;
    struct registry *r;
    int how;
    use_folder();
    pid_t pid = fork();
    if (pid == 0) {
        r = registry_open();
        registry_add(r, getpid(), "/test-of-the-registry", "x.lab");
        _exit(0); /* without registry_close, as after a kill */
    }
    char name[16];
    snprintf(name, sizeof(name), "%d", (int)pid);
    assert_int_equal(waitpid(pid, &how, 0), pid);
    assert_true(is_there(name));
    size_t n = registry_list(&all);
    assert_null(ours(all, n));
    assert_false(is_there(name));
    free(all);
}

static void files_that_make_no_sense_are_no_labs(void **state)
{
    static const struct {
        const char *name, *text;
        bool stays;
    } cases[] = {
        {"101", "", true}, /* somebody may be writing it */
        {"102", "namespace 1\nfirst 1 1\n", true},
        {"103", "namespace 1\nfirst 77 5\nsince 1\nfolder /test-of-the-registry\ntitle other machine\n", true},
        {"readme", "namespace 1\n", true},
    };
    struct registry_entry *all;
    use_folder();
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        put(cases[i].name, cases[i].text);
    size_t n = registry_list(&all);
    assert_null(ours(all, n));
    free(all);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        CHECK(cases[i].name, is_there(cases[i].name) == cases[i].stays);
}

static void a_folder_that_others_may_read_is_not_used(void **state)
{
    char path[TEST_PATH], name[16];
    use_folder();
    test_path(path, "orb-lab");
    assert_int_equal(mkdir(path, 0755), 0);
    assert_int_equal(chmod(path, 0755), 0);
    struct registry *r = registry_open(); /* the one in /tmp then, if there can be one */
    registry_add(r, getpid(), "/test-of-the-registry", "x.lab");
    snprintf(name, sizeof(name), "%d", (int)getpid());
    assert_false(is_there(name));
    registry_close(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(a_lab_is_listed_while_it_runs),
        TEST_IN_FOLDER(a_killed_lab_is_forgotten),
        TEST_IN_FOLDER(files_that_make_no_sense_are_no_labs),
        TEST_IN_FOLDER(a_folder_that_others_may_read_is_not_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
