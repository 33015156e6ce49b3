/* test_folder.h - a fresh folder for each test, gone afterwards. */
#pragma once

#include <ftw.h>
#include <signal.h>
#include <unistd.h>

#define TEST_PATH 512
#define TEST_IN_FOLDER(fn) cmocka_unit_test_setup_teardown(fn, test_folder_make, test_folder_remove)

static char test_folder_path[TEST_PATH / 2];

static inline const char *test_folder(void)
{
    return test_folder_path;
}

static inline void test_path(char path[TEST_PATH], const char *name)
{
    snprintf(path, TEST_PATH, "%s/%s", test_folder_path, name);
}

static inline int test_folder_make(void **state)
{
    const char *base = getenv("TMPDIR");
    snprintf(test_folder_path, sizeof(test_folder_path), "%.200s/orb-test-XXXXXX", base && *base ? base : "/tmp");
    return mkdtemp(test_folder_path) ? 0 : -1;
}

static inline int test_folder_remove_one(const char *path, const struct stat *sb, int type, struct FTW *at)
{
    return remove(path);
}

static inline int test_folder_remove(void **state)
{
    return nftw(test_folder_path, test_folder_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
