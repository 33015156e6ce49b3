#include "coord/inbox.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/table.h"
#include "store/file.h"
#include "wire/package.h"

/* The unfinished package of an agent. */
struct part {
    uint64_t sequence;
    uint64_t bytes;
};

struct inbox {
    char *dir;
    pthread_mutex_t lock; /* the two below; files are touched outside it */
    struct table parts;   /* agent -> struct part, owned */
    uint64_t parts_bytes;
};

static void path_of(const struct inbox *b, uint64_t agent, uint64_t sequence, bool is_part, struct buf *out)
{
    buf_clear(out);
    buf_printf(out, "%s/%llu-%llu%s", b->dir, (unsigned long long)agent, (unsigned long long)sequence,
               is_part ? ".part" : "");
}

status inbox_open(const char *data_dir, struct inbox **out)
{
    struct buf path = {0};
    buf_printf(&path, "%s/inbox", data_dir);
    status st = file_mkdir(buf_cstr(&path));
    if (st == ST_OK) {
        struct inbox *b = mem_alloc(sizeof(*b));
        b->dir = mem_str(buf_span(&path));
        pthread_mutex_init(&b->lock, NULL);
        *out = b;
    }
    buf_done(&path);
    return st;
}

void inbox_free(struct inbox *b)
{
    if (!b)
        return;
    size_t at = 0;
    for (void *p; (p = table_next(&b->parts, &at));)
        free(p);
    table_done(&b->parts);
    pthread_mutex_destroy(&b->lock);
    free(b->dir);
    free(b);
}

/* The agent's part for this sequence; a part that a former process left counts as far as it is on the disk. Locked. */
static struct part *part_of(struct inbox *b, uint64_t agent, uint64_t sequence)
{
    struct part *p = table_get(&b->parts, agent);
    struct buf path = {0};
    if (p && p->sequence != sequence) {
        path_of(b, agent, p->sequence, true, &path);
        unlink(buf_cstr(&path));
        b->parts_bytes -= p->bytes;
    }
    if (!p || p->sequence != sequence) {
        struct stat info;
        if (!p) {
            p = mem_alloc(sizeof(*p));
            table_put(&b->parts, agent, p);
        }
        path_of(b, agent, sequence, true, &path);
        p->sequence = sequence;
        p->bytes = stat(buf_cstr(&path), &info) == 0 ? (uint64_t)info.st_size : 0;
        b->parts_bytes += p->bytes;
    }
    buf_done(&path);
    return p;
}

uint64_t inbox_have(struct inbox *b, uint64_t agent, uint64_t sequence)
{
    pthread_mutex_lock(&b->lock);
    uint64_t n = part_of(b, agent, sequence)->bytes;
    pthread_mutex_unlock(&b->lock);
    return n;
}

static status write_at(const char *path, uint64_t offset, struct span piece)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return errno == ENOSPC ? ST_FULL : ST_IO;
    status st = lseek(fd, (off_t)offset, SEEK_SET) < 0 ? ST_IO : file_write_all(fd, piece);
    if (st != ST_OK && ftruncate(fd, (off_t)offset) != 0)
        st = ST_IO;
    close(fd);
    return st;
}

status inbox_piece(struct inbox *b, uint64_t agent, uint64_t sequence, uint64_t offset, struct span piece,
                   uint64_t *have)
{
    struct buf path = {0};
    status st = ST_OK;
    pthread_mutex_lock(&b->lock);
    struct part *p = part_of(b, agent, sequence);
    *have = p->bytes;
    if (offset != p->bytes)
        st = ST_INVALID;
    else if (offset + piece.n > PACKAGE_BYTES_MAX)
        st = ST_LIMIT;
    else if (b->parts_bytes + piece.n > INBOX_PARTS_BYTES_MAX)
        st = ST_FULL;
    pthread_mutex_unlock(&b->lock);
    if (st != ST_OK)
        return st;
    path_of(b, agent, sequence, true, &path);
    st = write_at(buf_cstr(&path), offset, piece);
    buf_done(&path);
    if (st != ST_OK)
        return st;
    pthread_mutex_lock(&b->lock);
    p = part_of(b, agent, sequence);
    b->parts_bytes -= p->bytes; /* the same piece may have come twice at the same time */
    p->bytes = *have = offset + piece.n;
    b->parts_bytes += p->bytes;
    pthread_mutex_unlock(&b->lock);
    return ST_OK;
}

status inbox_read_part(struct inbox *b, uint64_t agent, uint64_t sequence, struct buf *out)
{
    struct buf path = {0};
    path_of(b, agent, sequence, true, &path);
    status st = file_read(buf_cstr(&path), PACKAGE_BYTES_MAX, out);
    buf_done(&path);
    return st;
}

static void forget_part(struct inbox *b, uint64_t agent, uint64_t sequence)
{
    pthread_mutex_lock(&b->lock);
    struct part *p = table_get(&b->parts, agent);
    if (p && p->sequence == sequence) {
        b->parts_bytes -= p->bytes;
        table_remove(&b->parts, agent);
        free(p);
    }
    pthread_mutex_unlock(&b->lock);
}

status inbox_complete(struct inbox *b, uint64_t agent, uint64_t sequence)
{
    struct buf from = {0}, to = {0};
    path_of(b, agent, sequence, true, &from);
    path_of(b, agent, sequence, false, &to);
    int fd = open(buf_cstr(&from), O_RDONLY | O_CLOEXEC);
    status st = fd < 0 ? ST_IO : file_sync(fd);
    if (fd >= 0)
        close(fd);
    if (st == ST_OK && rename(from.p, buf_cstr(&to)) != 0)
        st = ST_IO;
    if (st == ST_OK)
        st = file_sync_dir(b->dir);
    if (st == ST_OK)
        forget_part(b, agent, sequence);
    buf_done(&from);
    buf_done(&to);
    return st;
}

void inbox_drop_part(struct inbox *b, uint64_t agent, uint64_t sequence)
{
    struct buf path = {0};
    path_of(b, agent, sequence, true, &path);
    unlink(buf_cstr(&path));
    forget_part(b, agent, sequence);
    buf_done(&path);
}

status inbox_read(struct inbox *b, uint64_t agent, uint64_t sequence, struct buf *out)
{
    struct buf path = {0};
    path_of(b, agent, sequence, false, &path);
    status st = file_read(buf_cstr(&path), PACKAGE_BYTES_MAX, out);
    buf_done(&path);
    return st;
}

void inbox_remove(struct inbox *b, uint64_t agent, uint64_t sequence)
{
    struct buf path = {0};
    path_of(b, agent, sequence, false, &path);
    unlink(buf_cstr(&path));
    buf_done(&path);
}
