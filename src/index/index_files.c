#include "index/index_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "index/manifest.h"
#include "index/segment/segment.h"

static void set_path(struct buf *path, const char *dir, const char *name)
{
    buf_clear(path);
    buf_printf(path, "%s/%s", dir, name);
    (void)buf_cstr(path);
}

void index_file_lock(struct buf *path, const char *dir)
{
    set_path(path, dir, "lock");
}

void index_file_manifest(struct buf *path, const char *dir)
{
    set_path(path, dir, "manifest");
}

void index_file_dictionary(struct buf *path, const char *dir)
{
    set_path(path, dir, "dictionary");
}

void index_file_tombs(struct buf *path, const char *dir, uint32_t segment, uint64_t generation)
{
    buf_clear(path);
    buf_printf(path, "%s/%08x.del-%08llx", dir, segment, (unsigned long long)generation);
    (void)buf_cstr(path);
}

static const struct manifest_segment *find_segment(const struct manifest *keep, uint32_t number)
{
    for (size_t i = 0; keep && i < keep->segment_count; i++)
        if (keep->segments[i].number == number)
            return &keep->segments[i];
    return NULL;
}

static bool parse_tombs(const char *name, uint32_t *segment, unsigned long long *generation)
{
    int end = 0;
    return strlen(name) >= 8 + 5 + 8 && sscanf(name, "%8x.del-%16llx%n", segment, generation, &end) == 2 && !name[end];
}

static bool is_unwanted(const char *name, const struct manifest *keep)
{
    static const char *const temporary[] = {"manifest.tmp", "dictionary.tmp"};
    uint32_t number;
    unsigned long long generation;
    for (size_t i = 0; i < sizeof(temporary) / sizeof(*temporary); i++)
        if (!strcmp(name, temporary[i]))
            return true;
    if (!strcmp(name, "manifest"))
        return !keep;
    if (!strcmp(name, "dictionary"))
        return !keep || !keep->dictionary_bytes;
    if (segment_parse_name(name, &number))
        return !find_segment(keep, number);
    if (!parse_tombs(name, &number, &generation))
        return false;
    const struct manifest_segment *s = find_segment(keep, number);
    return !s || s->tombs != generation;
}

status index_sweep(const char *dir, const struct manifest *keep)
{
    struct buf path = {0};
    status st = ST_OK;
    /* The manifest goes first: without it a kill in between leaves no index, and not a broken one. */
    index_file_manifest(&path, dir);
    if (!keep && unlink(path.p) != 0 && errno != ENOENT)
        st = ST_IO;
    buf_done(&path);
    DIR *d = st == ST_OK ? opendir(dir) : NULL;
    if (!d)
        return st == ST_OK && errno == ENOENT ? ST_OK : ST_IO;
    for (struct dirent *e; (e = readdir(d));)
        if (is_unwanted(e->d_name, keep) && unlinkat(dirfd(d), e->d_name, 0) != 0 && errno != ENOENT)
            st = ST_IO;
    closedir(d);
    return st;
}
