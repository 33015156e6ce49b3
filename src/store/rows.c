#include "store/rows.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/pack.h"
#include "codec/digest.h"

#define MAGIC "orbrows1"
#define HEADER_BYTES 40
#define BUFFER_BYTES (256u << 10)

struct rows_writer {
    char *path, *temp; /* owned */
    int fd;
    uint32_t kind;
    unsigned width;
    uint64_t count;
    struct buf out;
};

static status disk_status(void)
{
    return errno == ENOSPC || errno == EDQUOT ? ST_FULL : ST_IO;
}

static status flush(struct rows_writer *w)
{
    status st = file_write_all(w->fd, buf_span(&w->out));
    buf_clear(&w->out);
    return st;
}

status rows_create(const char *path, uint32_t kind, unsigned width, struct rows_writer **out)
{
    struct rows_writer *w = mem_alloc(sizeof(*w));
    struct buf temp = {0};
    static const char nothing[HEADER_BYTES];
    w->kind = kind;
    w->width = width;
    w->path = mem_str(span_str(path));
    buf_printf(&temp, "%s.new", path);
    w->temp = mem_str(buf_span(&temp));
    buf_done(&temp);
    w->fd = open(w->temp, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (w->fd < 0) {
        status st = disk_status();
        rows_abandon(w);
        return st;
    }
    buf_put(&w->out, span_of(nothing, sizeof(nothing)));
    *out = w;
    return ST_OK;
}

status rows_put(struct rows_writer *w, const uint64_t *row)
{
    uint64_t *to = (uint64_t *)(void *)buf_room(&w->out, w->width * sizeof(*to));
    for (unsigned i = 0; i < w->width; i++)
        to[i] = htole64(row[i]);
    w->out.n += w->width * sizeof(*to);
    w->count++;
    return w->out.n >= BUFFER_BYTES ? flush(w) : ST_OK;
}

static void writer_free(struct rows_writer *w)
{
    int saved = errno;
    if (w->fd >= 0)
        close(w->fd);
    free(w->path);
    free(w->temp);
    buf_done(&w->out);
    free(w);
    errno = saved;
}

void rows_abandon(struct rows_writer *w)
{
    if (!w)
        return;
    int saved = errno;
    if (w->fd >= 0)
        unlink(w->temp);
    errno = saved;
    writer_free(w);
}

/* ---- reading ---- */

static status check(struct span s, uint32_t kind, unsigned width, struct rows *r)
{
    if (s.n < HEADER_BYTES || memcmp(s.p, MAGIC, 7) != 0)
        return ST_CORRUPT;
    if (memcmp(s.p, MAGIC, 8) != 0)
        return ST_NEWER;
    struct unpack u = unpack_of(span_from(s, 8));
    uint32_t file_kind = unpack_u32(&u), file_width = unpack_u32(&u);
    uint64_t count = unpack_u64(&u), stamp = unpack_u64(&u);
    uint32_t rows_crc = unpack_u32(&u), header_crc = unpack_u32(&u);
    struct span body = span_from(s, HEADER_BYTES);
    size_t row_bytes = width * sizeof(uint64_t);
    if (header_crc != digest_crc32c(span_cut(s, 0, HEADER_BYTES - 4)) || file_kind != kind || file_width != width)
        return ST_CORRUPT;
    if (body.n % row_bytes != 0 || body.n / row_bytes != count || rows_crc != digest_crc32c(body))
        return ST_CORRUPT;
    *r = (struct rows){
        .at = (const uint64_t *)(const void *)body.p, .count = (size_t)count, .width = width, .stamp = stamp};
    return ST_OK;
}

status rows_open(const char *path, uint32_t kind, unsigned width, struct rows *out)
{
    struct mapped *map = NULL;
    struct rows r;
    status st = mapped_open(path, &map);
    if (st == ST_OK)
        st = check(mapped_span(map), kind, width, &r);
    if (st == ST_OK) {
        r.map = map;
        *out = r;
    } else {
        int saved = errno;
        mapped_free(map);
        errno = saved;
    }
    return st;
}

void rows_close(struct rows *r)
{
    mapped_free(r->map);
    *r = (struct rows){0};
}

size_t rows_find(const struct rows *r, uint64_t key)
{
    size_t lo = 0, hi = r->count;
    while (lo < hi) {
        size_t at = lo + (hi - lo) / 2;
        if (rows_number(r, at, 0) < key)
            lo = at + 1;
        else
            hi = at;
    }
    return lo;
}

bool rows_has(const struct rows *r, uint64_t key, size_t *at)
{
    *at = rows_find(r, key);
    return *at < r->count && rows_number(r, *at, 0) == key;
}

/* ---- the end of writing ---- */

/* The sum of the rows is taken from the file: it is whole then, and in the cache. */
static status put_header(struct rows_writer *w, uint64_t stamp)
{
    struct mapped *map = NULL;
    struct buf h = {0};
    status st = flush(w);
    if (st == ST_OK)
        st = mapped_open(w->temp, &map);
    if (st != ST_OK)
        return st;
    buf_puts(&h, MAGIC);
    pack_u32(&h, w->kind);
    pack_u32(&h, w->width);
    pack_u64(&h, w->count);
    pack_u64(&h, stamp);
    pack_u32(&h, digest_crc32c(span_from(mapped_span(map), HEADER_BYTES)));
    pack_u32(&h, digest_crc32c(buf_span(&h)));
    mapped_free(map);
    if (lseek(w->fd, 0, SEEK_SET) != 0)
        st = ST_IO;
    if (st == ST_OK)
        st = file_write_all(w->fd, buf_span(&h));
    buf_done(&h);
    return st;
}

static status sync_folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? mem_str(span_of(path, (size_t)(slash - path))) : mem_str(SPAN("."));
    status st = file_sync_dir(folder);
    free(folder);
    return st;
}

status rows_commit(struct rows_writer *w, uint64_t stamp)
{
    status st = put_header(w, stamp);
    if (st == ST_OK)
        st = file_sync(w->fd);
    if (st == ST_OK && rename(w->temp, w->path) != 0)
        st = ST_IO;
    if (st != ST_OK) {
        rows_abandon(w);
        return st;
    }
    st = sync_folder_of(w->path);
    writer_free(w);
    return st;
}

status rows_keep(struct rows_writer *w, struct rows *out)
{
    status st = put_header(w, 0);
    if (st == ST_OK)
        st = rows_open(w->temp, w->kind, w->width, out);
    rows_abandon(w);
    return st;
}
