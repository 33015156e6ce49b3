#include "store/groups.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/mem.h"

struct groups {
    atomic_uint refs;
    struct rows rows;
    status st;
};

void groups_path(const char *data_dir, struct buf *out)
{
    buf_printf(out, "%s/alike/groups", data_dir);
    (void)buf_cstr(out);
}

/* pages, distance << 32, flags << 48 */
void group_pack(uint64_t key, const struct group *g, uint64_t row[GROUPS_WIDTH])
{
    row[0] = key;
    row[1] = g->first;
    row[2] = g->pages | (uint64_t)(g->distance & 0xffff) << 32 | (uint64_t)(g->flags & 0xffff) << 48;
}

struct groups *groups_open(const char *path)
{
    struct groups *g = mem_alloc(sizeof(*g));
    atomic_init(&g->refs, 1);
    g->st = rows_open(path, GROUPS_KIND, GROUPS_WIDTH, &g->rows);
    return g;
}

static struct groups *groups_ref(struct groups *g)
{
    atomic_fetch_add(&g->refs, 1);
    return g;
}

void groups_release(struct groups *g)
{
    if (!g || atomic_fetch_sub(&g->refs, 1) != 1)
        return;
    rows_close(&g->rows);
    free(g);
}

status groups_status(const struct groups *g)
{
    return g->st;
}

size_t groups_count(const struct groups *g)
{
    return g->rows.count;
}

uint64_t groups_stamp(const struct groups *g)
{
    return g->rows.stamp;
}

bool groups_get(const struct groups *g, uint64_t key, struct group *out)
{
    size_t at;
    if (!rows_has(&g->rows, key, &at))
        return false;
    uint64_t rest = rows_number(&g->rows, at, 2);
    *out = (struct group){.first = rows_number(&g->rows, at, 1),
                          .pages = (uint32_t)rest,
                          .distance = (unsigned)(rest >> 32 & 0xffff),
                          .flags = (unsigned)(rest >> 48)};
    return true;
}

bool groups_look(const struct groups *g, uint64_t key, struct group *out)
{
    struct group first;
    if (!groups_get(g, key, out))
        return false;
    if (out->first != key && groups_get(g, out->first, &first))
        out->pages = first.pages;
    return true;
}

size_t groups_members(const struct groups *g, uint64_t first, uint64_t *keys, size_t room)
{
    size_t n = 0;
    for (size_t i = 0; i < g->rows.count && n < room; i++)
        if (rows_number(&g->rows, i, 1) == first && rows_number(&g->rows, i, 0) != first)
            keys[n++] = rows_number(&g->rows, i, 0);
    return n;
}

uint64_t groups_translate(void *arg, uint64_t key, uint64_t group)
{
    struct group g;
    return groups_get(arg, key, &g) ? g.first : group;
}

/* ---- the newest ---- */

struct groups_reader {
    char *path;           /* owned */
    pthread_mutex_t lock; /* what follows; opening maps and sums the file, which is quick */
    struct groups *now;   /* NULL: not opened */
    bool is_there;
    dev_t dev;
    ino_t ino;
    struct timespec changed;
};

struct groups_reader *groups_reader_new(const char *path)
{
    struct groups_reader *r = mem_alloc(sizeof(*r));
    r->path = mem_str(span_str(path));
    pthread_mutex_init(&r->lock, NULL);
    return r;
}

void groups_reader_free(struct groups_reader *r)
{
    if (!r)
        return;
    groups_release(r->now);
    pthread_mutex_destroy(&r->lock);
    free(r->path);
    free(r);
}

static bool is_same(const struct groups_reader *r, bool is_there, const struct stat *sb)
{
    if (!r->now || is_there != r->is_there)
        return false;
    return !is_there || (sb->st_dev == r->dev && sb->st_ino == r->ino && sb->st_mtim.tv_sec == r->changed.tv_sec &&
                         sb->st_mtim.tv_nsec == r->changed.tv_nsec);
}

struct groups *groups_reader_get(struct groups_reader *r)
{
    struct stat sb = {0};
    pthread_mutex_lock(&r->lock);
    bool is_there = stat(r->path, &sb) == 0;
    if (!is_same(r, is_there, &sb)) {
        groups_release(r->now);
        r->now = groups_open(r->path);
        r->is_there = is_there;
        r->dev = sb.st_dev;
        r->ino = sb.st_ino;
        r->changed = sb.st_mtim;
    }
    struct groups *g = groups_ref(r->now);
    pthread_mutex_unlock(&r->lock);
    return g;
}
