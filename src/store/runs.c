#include "store/runs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/pack.h"
#include "base/table.h"
#include "codec/digest.h"
#include "store/file.h"

#define FRAME_BYTES 8 /* u32 length, u32 crc32c of the data */

struct run_file {
    uint32_t number;
    int fd;         /* open while it is written to or not yet synced, else -1 */
    uint64_t bytes; /* up to the end of the last whole run */
    uint64_t live;  /* runs put or kept and not dropped */
    uint64_t live_bytes;
    bool is_dirty;  /* written since the last sync */
    bool needs_cut; /* a failed write may have left something after `bytes` */
    bool was_dead;  /* nothing live in it when the last checkpoint was made */
};

struct runs {
    pthread_mutex_t lock;
    char *dir;                /* owned */
    struct table files;       /* number -> struct run_file, owned */
    struct run_file *current; /* borrowed from files; NULL: none yet */
    uint32_t next_number;
    bool dir_is_dirty;
    struct buf frame; /* scratch */
    atomic_uint_fast64_t disk;
};

static void file_path(const struct runs *r, uint32_t number, struct buf *out)
{
    buf_clear(out);
    buf_printf(out, "%s/%08u", r->dir, number);
    (void)buf_cstr(out);
}

static struct run_file *file_add(struct runs *r, uint32_t number, uint64_t bytes)
{
    struct run_file *f = mem_alloc(sizeof(*f));
    f->number = number;
    f->fd = -1;
    f->bytes = bytes;
    table_put(&r->files, number, f);
    if (number >= r->next_number)
        r->next_number = number + 1;
    atomic_fetch_add(&r->disk, bytes);
    return f;
}

static bool parse_name(const char *name, uint32_t *number)
{
    uint64_t v;
    if (strlen(name) != 8 || !span_u64(span_str(name), 99999999, &v))
        return false;
    *number = (uint32_t)v;
    return true;
}

/* What is there already counts as dead until runs_keep says otherwise. */
static status scan(struct runs *r)
{
    DIR *d = opendir(r->dir);
    if (!d)
        return ST_IO;
    status st = ST_OK;
    for (struct dirent *e; st == ST_OK && (e = readdir(d));) {
        uint32_t number;
        struct stat sb;
        if (!parse_name(e->d_name, &number))
            continue;
        if (fstatat(dirfd(d), e->d_name, &sb, 0) != 0)
            st = ST_IO;
        else
            file_add(r, number, (uint64_t)sb.st_size)->was_dead = true;
    }
    int saved = errno;
    closedir(d);
    errno = saved;
    return st;
}

status runs_open(const char *dir, struct runs **out)
{
    status st = file_mkdir(dir);
    if (st != ST_OK)
        return st;
    struct runs *r = mem_alloc(sizeof(*r));
    pthread_mutex_init(&r->lock, NULL);
    r->dir = mem_str(span_str(dir));
    r->next_number = 1;
    st = scan(r);
    if (st == ST_OK)
        *out = r;
    else
        runs_free(r);
    return st;
}

void runs_free(struct runs *r)
{
    if (!r)
        return;
    size_t at = 0;
    for (struct run_file *f; (f = table_next(&r->files, &at));) {
        if (f->fd >= 0)
            close(f->fd);
        free(f);
    }
    table_done(&r->files);
    buf_done(&r->frame);
    pthread_mutex_destroy(&r->lock);
    free(r->dir);
    free(r);
}

/* Old files are never appended to: what a crash left after their last run stays out of the way. */
static status start_file(struct runs *r)
{
    struct buf path = {0};
    file_path(r, r->next_number, &path);
    int fd = open(path.p, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
    int saved = errno;
    buf_done(&path);
    errno = saved;
    if (fd < 0)
        return errno == ENOSPC || errno == EDQUOT ? ST_FULL : ST_IO;
    r->current = file_add(r, r->next_number, 0);
    r->current->fd = fd;
    r->dir_is_dirty = true;
    return ST_OK;
}

static status append(struct run_file *f, struct span framed)
{
    if (f->needs_cut && ftruncate(f->fd, (off_t)f->bytes) != 0)
        return ST_IO;
    f->needs_cut = false;
    status st = file_write_all(f->fd, framed);
    if (st == ST_OK)
        return ST_OK;
    int saved = errno;
    f->needs_cut = ftruncate(f->fd, (off_t)f->bytes) != 0;
    errno = saved;
    return st;
}

static status put_locked(struct runs *r, struct span data, struct run_ref *ref)
{
    if (!r->current || r->current->bytes >= RUNS_FILE_BYTES) {
        status st = start_file(r);
        if (st != ST_OK)
            return st;
    }
    buf_clear(&r->frame);
    pack_u32(&r->frame, (uint32_t)data.n);
    pack_u32(&r->frame, digest_crc32c(data));
    buf_put(&r->frame, data);
    struct run_file *f = r->current;
    status st = append(f, buf_span(&r->frame));
    if (st != ST_OK)
        return st;
    *ref = (struct run_ref){f->number, (uint32_t)data.n, f->bytes};
    f->bytes += r->frame.n;
    f->live_bytes += r->frame.n;
    f->live++;
    f->is_dirty = true;
    atomic_fetch_add(&r->disk, r->frame.n);
    return ST_OK;
}

status runs_put(struct runs *r, struct span data, struct run_ref *ref)
{
    if (data.n > RUNS_BYTES_MAX)
        return ST_LIMIT;
    pthread_mutex_lock(&r->lock);
    status st = put_locked(r, data, ref);
    pthread_mutex_unlock(&r->lock);
    return st;
}

/* ST_CORRUPT when the file ends before `n` bytes. */
static status read_at(int fd, char *to, size_t n, uint64_t offset)
{
    while (n) {
        ssize_t got = pread(fd, to, n, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? ST_IO : ST_CORRUPT;
        to += got;
        n -= (size_t)got;
        offset += (uint64_t)got;
    }
    return ST_OK;
}

/* Without the lock: a file with a live run in it is neither changed before its end nor deleted. */
status runs_get(struct runs *r, const struct run_ref *ref, struct buf *out)
{
    if (ref->bytes > RUNS_BYTES_MAX)
        return ST_CORRUPT;
    struct buf path = {0};
    file_path(r, ref->file, &path);
    int fd = open(path.p, O_RDONLY | O_CLOEXEC);
    int saved = errno;
    buf_done(&path);
    errno = saved;
    if (fd < 0)
        return errno == ENOENT ? ST_CORRUPT : ST_IO;
    size_t n = FRAME_BYTES + (size_t)ref->bytes;
    char *room = buf_room(out, n);
    status st = read_at(fd, room, n, ref->offset);
    saved = errno;
    close(fd);
    errno = saved;
    if (st != ST_OK)
        return st;
    struct unpack u = unpack_of(span_of(room, FRAME_BYTES));
    uint32_t length = unpack_u32(&u), crc = unpack_u32(&u);
    if (length != ref->bytes || crc != digest_crc32c(span_of(room + FRAME_BYTES, ref->bytes)))
        return ST_CORRUPT;
    memmove(room, room + FRAME_BYTES, ref->bytes);
    out->n += ref->bytes;
    return ST_OK;
}

void runs_drop(struct runs *r, const struct run_ref *ref)
{
    pthread_mutex_lock(&r->lock);
    struct run_file *f = table_get(&r->files, ref->file);
    if (f && f->live) {
        f->live--;
        f->live_bytes -= FRAME_BYTES + (uint64_t)ref->bytes;
    }
    pthread_mutex_unlock(&r->lock);
}

void runs_rotate(struct runs *r)
{
    pthread_mutex_lock(&r->lock);
    r->current = NULL;
    pthread_mutex_unlock(&r->lock);
}

bool runs_has_dropped(struct runs *r, const struct run_ref *ref)
{
    pthread_mutex_lock(&r->lock);
    const struct run_file *f = table_get(&r->files, ref->file);
    bool has = f && f->live_bytes < f->bytes;
    pthread_mutex_unlock(&r->lock);
    return has;
}

status runs_keep(struct runs *r, const struct run_ref *ref)
{
    pthread_mutex_lock(&r->lock);
    struct run_file *f = table_get(&r->files, ref->file);
    bool fits = f && ref->offset <= f->bytes && f->bytes - ref->offset >= FRAME_BYTES + (uint64_t)ref->bytes;
    if (fits) {
        f->live++;
        f->live_bytes += FRAME_BYTES + (uint64_t)ref->bytes;
        f->was_dead = false;
    }
    pthread_mutex_unlock(&r->lock);
    return fits ? ST_OK : ST_CORRUPT;
}

static status sync_file(struct runs *r, struct run_file *f)
{
    status st = f->is_dirty ? file_sync(f->fd) : ST_OK;
    if (st != ST_OK)
        return st;
    f->is_dirty = false;
    if (f != r->current && f->fd >= 0) {
        close(f->fd);
        f->fd = -1;
    }
    return ST_OK;
}

status runs_sync(struct runs *r)
{
    pthread_mutex_lock(&r->lock);
    status st = ST_OK;
    size_t at = 0;
    for (struct run_file *f; st == ST_OK && (f = table_next(&r->files, &at));) {
        /* Of a file without live runs nothing will be read again. */
        if (f->live)
            st = sync_file(r, f);
        f->was_dead = !f->live;
    }
    if (st == ST_OK && r->dir_is_dirty)
        st = file_sync_dir(r->dir);
    if (st == ST_OK)
        r->dir_is_dirty = false;
    pthread_mutex_unlock(&r->lock);
    return st;
}

static void delete_file(struct runs *r, struct run_file *f)
{
    struct buf path = {0};
    file_path(r, f->number, &path);
    unlink(path.p);
    buf_done(&path);
    if (f->fd >= 0)
        close(f->fd);
    if (f == r->current)
        r->current = NULL;
    atomic_fetch_sub(&r->disk, f->bytes);
    free(f);
}

void runs_settle(struct runs *r)
{
    pthread_mutex_lock(&r->lock);
    struct table kept = {0};
    size_t at = 0;
    for (struct run_file *f; (f = table_next(&r->files, &at));) {
        if (f->was_dead && !f->live)
            delete_file(r, f);
        else
            table_put(&kept, f->number, f);
    }
    table_done(&r->files);
    r->files = kept;
    pthread_mutex_unlock(&r->lock);
}

uint64_t runs_disk(const struct runs *r)
{
    return atomic_load(&r->disk);
}
