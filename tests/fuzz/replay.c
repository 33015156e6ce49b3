/* replay.c - runs a fuzz entry over files and folders named on the command line. NAME.tar.zst stands for the files in
 * it: what fuzzers have found on other machines (tools/run-fuzz --keep). */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "codec/tar.h"
#include "codec/unzip.h"

#define ARCHIVE_MAX (UINT64_C(64) << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned run_count;

/* One input is in memory at a time, in a block of just its size, so that reading past it is seen. */
struct archive {
    struct tar_reader *tar;
    status st;
    uint8_t *input;
    size_t n, got;
};

static _Noreturn void give_up(const char *path, const char *why)
{
    fprintf(stderr, "replay: %s: %s\n", path, why);
    exit(1);
}

static void run_input(const uint8_t *p, size_t n)
{
    LLVMFuzzerTestOneInput(p, n);
    run_count++;
}

static uint8_t *read_whole(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END) != 0)
        give_up(path, "cannot be read");
    *n = (size_t)ftell(f);
    rewind(f);
    uint8_t *p = malloc(*n ? *n : 1);
    if (fread(p, 1, *n, f) != *n)
        give_up(path, "cannot be read");
    fclose(f);
    return p;
}

static status begin_input(void *self, const struct tar_entry *e)
{
    struct archive *a = self;
    a->n = (size_t)e->bytes;
    a->got = 0;
    a->input = e->is_folder ? NULL : malloc(a->n ? a->n : 1);
    return ST_OK;
}

static status add_bytes(void *self, struct span piece)
{
    struct archive *a = self;
    memcpy(a->input + a->got, piece.p, piece.n);
    a->got += piece.n;
    return ST_OK;
}

static status end_input(void *self)
{
    struct archive *a = self;
    if (a->input)
        run_input(a->input, a->n);
    free(a->input);
    a->input = NULL;
    return ST_OK;
}

static void take_plain(void *self, struct span piece)
{
    struct archive *a = self;
    if (a->st == ST_OK)
        a->st = tar_reader_feed(a->tar, piece);
}

static void run_archive(const char *path)
{
    size_t n;
    uint8_t *packed = read_whole(path, &n);
    struct archive a = {.st = ST_OK};
    struct tar_events events = {begin_input, add_bytes, end_input, &a};
    a.tar = tar_reader_new(&events);
    struct unzip *u = unzip_new(ARCHIVE_MAX, take_plain, &a);
    status st = unzip_feed(u, span_of(packed, n));
    if (st == ST_OK)
        st = unzip_end(u);
    if (st == ST_OK)
        st = a.st;
    if (st == ST_OK)
        st = tar_reader_end(a.tar);
    if (st != ST_OK)
        give_up(path, status_name(st));
    unzip_free(u);
    tar_reader_free(a.tar);
    free(packed);
}

static void run_path(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0)
        give_up(path, "is not there");
    if (!S_ISDIR(st.st_mode)) {
        if (span_ends(span_str(path), SPAN(".tar.zst"))) {
            run_archive(path);
            return;
        }
        size_t n;
        uint8_t *p = read_whole(path, &n);
        run_input(p, n);
        free(p);
        return;
    }
    DIR *d = opendir(path);
    if (!d)
        give_up(path, "cannot be read");
    for (struct dirent *e; (e = readdir(d));) {
        char sub[4096];
        if (e->d_name[0] == '.')
            continue;
        snprintf(sub, sizeof(sub), "%s/%s", path, e->d_name);
        run_path(sub);
    }
    closedir(d);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        run_path(argv[i]);
    printf("replayed %u inputs\n", run_count);
    return run_count ? 0 : 1;
}
