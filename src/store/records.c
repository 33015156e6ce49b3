#include "store/records.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/pack.h"
#include "codec/digest.h"
#include "store/file.h"

#define MAGIC "orbrec1\n"
#define MAGIC_VERSION_AT 6
#define HEADER_BYTES 24
#define FRAME_BYTES 9
#define READ_CHUNK (1u << 20)

struct records_writer {
    int fd;            /* O_APPEND: after a cut the next write lands at the new end */
    uint64_t good_end; /* what the file holds for certain */
    bool needs_cut;    /* something torn may stand after good_end */
    size_t buffer_max; /* 0: unbuffered */
    struct buf pending;
    struct buf frame;      /* scratch for one record */
    atomic_bool sync_lost; /* the kernel forgets pages whose write-back failed: a later fsync proves nothing */
};

static void put_header(struct buf *out, uint32_t kind, uint64_t generation)
{
    size_t start = out->n;
    buf_put(out, SPAN(MAGIC));
    pack_u32(out, kind);
    pack_u64(out, generation);
    pack_u32(out, digest_crc32c(span_from(buf_span(out), start)));
}

void records_frame(struct buf *out, uint8_t type, struct span payload)
{
    assert(payload.n <= RECORDS_PAYLOAD_MAX);
    char *p = buf_room(out, FRAME_BYTES + payload.n);
    p[8] = (char)type;
    if (payload.n)
        memcpy(p + FRAME_BYTES, payload.p, payload.n);
    uint32_t crc = digest_crc32c(span_of(p + 8, 1 + payload.n));
    pack_u32(out, (uint32_t)payload.n);
    pack_u32(out, crc);
    out->n += 1 + payload.n;
}

static status cut_back(struct records_writer *w)
{
    if (w->needs_cut && ftruncate(w->fd, (off_t)w->good_end) != 0)
        return ST_IO;
    w->needs_cut = false;
    return ST_OK;
}

static status write_out(struct records_writer *w, struct span data)
{
    status st = cut_back(w);
    if (st != ST_OK)
        return st;
    st = file_write_all(w->fd, data);
    if (st == ST_OK) {
        w->good_end += data.n;
        return ST_OK;
    }
    int saved = errno;
    w->needs_cut = true;
    (void)cut_back(w); /* tried again before the next write */
    errno = saved;
    return st;
}

status records_create(const char *path, uint32_t kind, uint64_t generation, size_t buffer, struct records_writer **out)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0)
        return errno == EEXIST ? ST_EXISTS : errno == ENOSPC || errno == EDQUOT ? ST_FULL : ST_IO;
    struct records_writer *w = mem_alloc(sizeof(*w));
    w->fd = fd;
    w->buffer_max = buffer;
    put_header(&w->frame, kind, generation);
    status st = write_out(w, buf_span(&w->frame));
    if (st == ST_OK) {
        *out = w;
        return ST_OK;
    }
    int saved = errno;
    records_close(w);
    unlink(path);
    errno = saved;
    return st;
}

status records_append_framed(struct records_writer *w, struct span framed)
{
    if (w->pending.n + framed.n > w->buffer_max) {
        status st = records_flush(w);
        if (st != ST_OK)
            return st;
    }
    if (framed.n >= w->buffer_max)
        return write_out(w, framed);
    buf_put(&w->pending, framed);
    return ST_OK;
}

status records_append(struct records_writer *w, uint8_t type, struct span payload)
{
    if (payload.n > RECORDS_PAYLOAD_MAX)
        return ST_LIMIT;
    buf_clear(&w->frame);
    records_frame(&w->frame, type, payload);
    return records_append_framed(w, buf_span(&w->frame));
}

status records_flush(struct records_writer *w)
{
    if (!w->pending.n)
        return ST_OK;
    status st = write_out(w, buf_span(&w->pending));
    if (st == ST_OK)
        buf_clear(&w->pending);
    return st;
}

status records_sync(struct records_writer *w)
{
    if (atomic_load(&w->sync_lost)) {
        errno = EIO;
        return ST_IO;
    }
    status st = w->buffer_max ? records_flush(w) : ST_OK;
    if (st != ST_OK)
        return st;
    st = file_sync(w->fd);
    if (st != ST_OK)
        atomic_store(&w->sync_lost, true);
    return st;
}

uint64_t records_bytes(const struct records_writer *w)
{
    return w->good_end + w->pending.n;
}

void records_close(struct records_writer *w)
{
    if (!w)
        return;
    close(w->fd);
    buf_done(&w->pending);
    buf_done(&w->frame);
    free(w);
}

/* A window over the file: bytes [at, buf.n) of buf are read and not yet used. */
struct reader {
    int fd;
    struct buf buf;
    size_t at;
    size_t chunk; /* bytes to ask for at a time: small files are many, and need no large buffer */
    bool at_end;
};

/* Makes `n` unused bytes available if the file has them; fewer only at its end. */
static status reader_want(struct reader *r, size_t n, struct span *have)
{
    if (r->buf.n - r->at < n && !r->at_end) {
        if (r->at)
            memmove(r->buf.p, r->buf.p + r->at, r->buf.n - r->at);
        r->buf.n -= r->at;
        r->at = 0;
    }
    while (r->buf.n - r->at < n && !r->at_end) {
        char *room = buf_room(&r->buf, r->chunk);
        ssize_t got = read(r->fd, room, r->chunk);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return ST_IO;
        r->buf.n += (size_t)got;
        r->at_end = got == 0;
    }
    *have = span_cut(buf_span(&r->buf), r->at, n);
    return ST_OK;
}

static status read_header(struct reader *r, uint32_t kind, struct records_info *info)
{
    struct span h;
    status st = reader_want(r, HEADER_BYTES, &h);
    if (st != ST_OK)
        return st;
    /* Shorter than a header: killed between making the file and the first write. No record can be in it. */
    if (h.n < HEADER_BYTES) {
        info->was_torn = true;
        return ST_END;
    }
    if (memcmp(h.p, MAGIC, MAGIC_VERSION_AT) != 0)
        return ST_CORRUPT;
    if (memcmp(h.p, MAGIC, 8) != 0)
        return ascii_is_digit(h.p[MAGIC_VERSION_AT]) && h.p[7] == '\n' ? ST_NEWER : ST_CORRUPT;
    struct unpack u = unpack_of(span_from(h, 8));
    uint32_t file_kind = unpack_u32(&u);
    uint64_t generation = unpack_u64(&u);
    if (unpack_u32(&u) != digest_crc32c(span_cut(h, 0, HEADER_BYTES - 4)) || file_kind != kind)
        return ST_CORRUPT;
    r->at += HEADER_BYTES;
    info->generation = generation;
    info->good_bytes = HEADER_BYTES;
    return ST_OK;
}

/* ST_END at the end of the file or at the first record that does not check out. */
static status read_record(struct reader *r, records_fn *fn, void *arg, struct records_info *info)
{
    struct span f;
    status st = reader_want(r, FRAME_BYTES, &f);
    if (st != ST_OK)
        return st;
    if (f.n == 0)
        return ST_END;
    info->was_torn = true;
    struct unpack u = unpack_of(f);
    uint32_t length = unpack_u32(&u), crc = unpack_u32(&u);
    uint8_t type = unpack_u8(&u);
    if (u.bad || length > RECORDS_PAYLOAD_MAX)
        return ST_END;
    st = reader_want(r, FRAME_BYTES + length, &f);
    if (st != ST_OK)
        return st;
    if (f.n < FRAME_BYTES + length || digest_crc32c(span_from(f, 8)) != crc)
        return ST_END;
    info->was_torn = false;
    info->good_bytes += f.n;
    r->at += f.n;
    return fn(arg, type, span_from(f, FRAME_BYTES));
}

/* Is there a whole record here? ST_NOT_FOUND: none; ST_END: too little is left for one. */
static status whole_record(struct reader *r, records_begin_fn *begins, void *arg)
{
    struct span f;
    status st = reader_want(r, FRAME_BYTES + RECORDS_BEGIN_BYTES, &f);
    if (st != ST_OK)
        return st;
    struct unpack u = unpack_of(f);
    uint32_t length = unpack_u32(&u), crc = unpack_u32(&u);
    uint8_t type = unpack_u8(&u);
    if (u.bad)
        return ST_END;
    if (length > RECORDS_PAYLOAD_MAX || !begins(arg, type, length, span_cut(f, FRAME_BYTES, length)))
        return ST_NOT_FOUND;
    st = reader_want(r, FRAME_BYTES + length, &f);
    if (st != ST_OK)
        return st;
    return f.n == FRAME_BYTES + length && digest_crc32c(span_from(f, 8)) == crc ? ST_OK : ST_NOT_FOUND;
}

/* From what did not check out to the next record that does. ST_END: there is none. */
static status pass_over(struct reader *r, records_begin_fn *begins, void *arg, struct records_info *info)
{
    uint64_t passed = 0;
    status st;
    do {
        r->at++;
        passed++;
        st = whole_record(r, begins, arg);
    } while (st == ST_NOT_FOUND);
    if (st == ST_OK)
        info->good_bytes += passed;
    return st;
}

static status read_all(const char *path, uint32_t kind, records_fn *fn, records_begin_fn *begins, void *arg,
                       struct records_info *info)
{
    struct reader r = {.fd = open(path, O_RDONLY | O_CLOEXEC)};
    if (r.fd < 0)
        return errno == ENOENT ? ST_NOT_FOUND : ST_IO;
    struct records_info found = {0};
    struct stat sb;
    status st = fstat(r.fd, &sb) == 0 ? ST_OK : ST_IO;
    if (st == ST_OK) {
        found.file_bytes = (uint64_t)sb.st_size;
        r.chunk = sb.st_size < READ_CHUNK ? (size_t)sb.st_size + 1 : READ_CHUNK; /* it may grow meanwhile */
        st = read_header(&r, kind, &found);
    }
    bool stopped = false; /* by fn, whose ST_END would be taken for the file's */
    while (st == ST_OK) {
        uint64_t before = found.good_bytes;
        st = read_record(&r, fn, arg, &found);
        stopped = st != ST_OK && found.good_bytes != before;
        if (begins && st == ST_END && !stopped && found.was_torn)
            st = pass_over(&r, begins, arg, &found);
    }
    if (st == ST_END && !stopped)
        st = ST_OK;
    if (st == ST_OK && info)
        *info = found;
    int saved = errno;
    close(r.fd);
    buf_done(&r.buf);
    errno = saved;
    return st;
}

status records_read(const char *path, uint32_t kind, records_fn *fn, void *arg, struct records_info *info)
{
    return read_all(path, kind, fn, NULL, arg, info);
}

status records_salvage(const char *path, uint32_t kind, records_fn *fn, records_begin_fn *begins, void *arg,
                       struct records_info *info)
{
    return read_all(path, kind, fn, begins, arg, info);
}

status records_mend_header(const char *path, uint32_t kind, uint64_t generation)
{
    struct buf header = {0};
    put_header(&header, kind, generation);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    status st = fd >= 0 ? file_write_all(fd, buf_span(&header)) : ST_IO;
    if (st == ST_OK)
        st = file_sync(fd);
    int saved = errno;
    if (fd >= 0)
        close(fd);
    buf_done(&header);
    errno = saved;
    return st;
}
