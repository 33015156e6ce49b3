#include "io/registry_build.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include "base/mem.h"

/* ---- paths ---- */

void registry_paths_add(struct registry_paths *p, struct span path)
{
    p->list = mem_grow(p->list, &p->cap, p->count + 1, sizeof(*p->list));
    p->list[p->count++] = mem_str(path);
}

void registry_paths_done(struct registry_paths *p)
{
    for (size_t i = 0; i < p->count; i++)
        free(p->list[i]);
    free(p->list);
    *p = (struct registry_paths){0};
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_data(const char *name)
{
    struct span s = span_str(name);
    return name[0] != '.' && !span_ends(s, SPAN(".http")) && !span_ends(s, SPAN(".part"));
}

status registry_paths_add_folder(struct registry_paths *p, const char *dir)
{
    DIR *d = opendir(dir);
    size_t before = p->count;
    status st = ST_OK;
    if (!d)
        return ST_IO;
    for (struct dirent *e; st == ST_OK && (e = readdir(d));) {
        struct buf path = {0};
        struct stat sb;
        buf_printf(&path, "%s/%s", dir, e->d_name);
        if (!is_data(e->d_name) || stat(buf_cstr(&path), &sb) != 0 || !S_ISREG(sb.st_mode))
            ;
        else if (p->count >= REGISTRY_PATHS_MAX)
            st = ST_LIMIT;
        else
            registry_paths_add(p, buf_span(&path));
        buf_done(&path);
    }
    closedir(d);
    if (p->count > before)
        qsort(p->list + before, p->count - before, sizeof(*p->list), compare_texts);
    return st;
}

/* ---- building ---- */

static void put_origin(const struct registry_built *b, size_t count, wall_ms made, struct buf *out)
{
    time_t t = (time_t)(made / 1000);
    struct tm tm;
    char text[32];
    gmtime_r(&t, &tm);
    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
    buf_printf(out, "made=%s\n", text);
    for (size_t i = 0; i < count; i++)
        registry_file_origin(&b->files[i], out);
}

status registry_build(const struct registry_paths *p, const struct registry_watch *watch, wall_ms made,
                      struct registry_built *out)
{
    struct hierarchy_builder *builder = hierarchy_builder_new();
    struct buf origin = {0};
    status st = ST_OK;
    out->files = mem_alloc((p->count + 1) * sizeof(*out->files));
    for (out->failed = 0; out->failed < p->count; out->failed++) {
        struct registry_file *f = &out->files[out->failed];
        st = registry_file_add(builder, p->list[out->failed], watch, f);
        int saved = errno;
        if (watch->end)
            watch->end(watch->self, f);
        errno = saved;
        if (st != ST_OK)
            break;
    }
    if (st == ST_OK) {
        put_origin(out, p->count, made, &origin);
        st = hierarchy_builder_finish(builder, buf_span(&origin), &out->bytes, &out->figures);
    }
    int saved = errno;
    hierarchy_builder_free(builder);
    buf_done(&origin);
    errno = saved;
    return st;
}

void registry_built_done(struct registry_built *b)
{
    buf_done(&b->bytes);
    free(b->files);
    *b = (struct registry_built){0};
}
