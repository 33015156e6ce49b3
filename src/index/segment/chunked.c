#include "index/segment/chunked.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/pack.h"
#include "codec/digest.h"
#include "store/file.h"

#define MAGIC "orbseg1\n"
#define MAGIC_NAME_BYTES 6 /* before the version */
#define END_MAGIC "orbend1\n"

static uint32_t load_u32(const unsigned char *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof(v));
    return le32toh(v);
}

static uint64_t load_u64(const unsigned char *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof(v));
    return le64toh(v);
}

static uint64_t chunks_of(uint64_t body)
{
    return body / CHUNKED_CHUNK + (body % CHUNKED_CHUNK != 0);
}

/* The header is part of chunk 0, which is not read here but for these 16 bytes. */
static status check_header(struct span s, uint32_t kind, uint32_t number)
{
    const unsigned char *p = (const unsigned char *)s.p;
    if (s.n < CHUNKED_HEADER_BYTES + CHUNKED_FOOTER_BYTES || memcmp(p, MAGIC, MAGIC_NAME_BYTES) != 0)
        return ST_CORRUPT;
    if (memcmp(p, MAGIC, 8) != 0)
        return p[MAGIC_NAME_BYTES] > '1' && p[MAGIC_NAME_BYTES] <= '9' ? ST_NEWER : ST_CORRUPT;
    return load_u32(p + 8) == kind && load_u32(p + 12) == number ? ST_OK : ST_CORRUPT;
}

static status read_footer(struct chunked *f, struct span s)
{
    const unsigned char *p = (const unsigned char *)s.p, *end = p + s.n - CHUNKED_FOOTER_BYTES;
    uint64_t body = load_u64(end);
    uint32_t info_count = load_u32(end + 8);
    if (memcmp(end + 24, END_MAGIC, 8) != 0 || info_count > CHUNKED_INFO_MAX || body < CHUNKED_HEADER_BYTES ||
        body > s.n || 4 * chunks_of(body) != s.n - CHUNKED_FOOTER_BYTES - 8 * (uint64_t)info_count - body)
        return ST_CORRUPT;
    const unsigned char *info = end - 8 * (size_t)info_count;
    if (load_u32(end + 20) != digest_crc32c(span_of(p + body, (size_t)(end + 20 - (p + body)))))
        return ST_CORRUPT;
    *f = (struct chunked){.p = p,
                          .body = body,
                          .file_bytes = s.n,
                          .table = p + body,
                          .chunks = (uint32_t)chunks_of(body),
                          .info_count = info_count,
                          .map = f->map};
    for (uint32_t i = 0; i < info_count; i++)
        f->info[i] = load_u64(info + 8 * (size_t)i);
    f->good = mem_alloc(f->chunks);
    return ST_OK;
}

status chunked_open_span(struct chunked *f, struct span bytes, uint32_t kind, uint32_t number)
{
    status st = check_header(bytes, kind, number);
    return st == ST_OK ? read_footer(f, bytes) : st;
}

status chunked_open(struct chunked *f, const char *path, uint32_t kind, uint32_t number)
{
    struct mapped *map = NULL;
    status st = mapped_open(path, &map);
    if (st == ST_OK)
        st = chunked_open_span(f, mapped_span(map), kind, number);
    if (st == ST_OK)
        f->map = map;
    else
        mapped_free(map);
    return st;
}

void chunked_close(struct chunked *f)
{
    mapped_free(f->map);
    free(f->good);
    *f = (struct chunked){0};
}

static bool chunk_is_good(const struct chunked *f, uint64_t chunk)
{
    uint64_t at = chunk * CHUNKED_CHUNK, n = f->body - at;
    if (n > CHUNKED_CHUNK)
        n = CHUNKED_CHUNK;
    return digest_crc32c(span_of(f->p + at, (size_t)n)) == load_u32(f->table + 4 * chunk);
}

bool chunked_check(const struct chunked *f, uint64_t at, uint64_t n)
{
    if (!n)
        return true;
    for (uint64_t c = at >> CHUNKED_CHUNK_BITS; c <= (at + n - 1) >> CHUNKED_CHUNK_BITS; c++) {
        if (atomic_load_explicit(&f->good[c], memory_order_relaxed))
            continue;
        if (!chunk_is_good(f, c))
            return false;
        atomic_store_explicit(&f->good[c], 1, memory_order_relaxed);
    }
    return true;
}

status chunked_check_all(const struct chunked *f)
{
    for (uint64_t c = 0; c < f->chunks; c++)
        if (!chunk_is_good(f, c))
            return ST_CORRUPT;
    return ST_OK;
}

/* ---- writing ---- */

static void fail(struct chunked_writer *w, status st)
{
    if (w->st == ST_OK) {
        w->st = st;
        w->error = errno;
    }
}

static void write_out(struct chunked_writer *w, struct span s)
{
    if (w->st != ST_OK)
        return;
    status st = file_write_all(w->fd, s);
    if (st != ST_OK)
        fail(w, st);
}

/* Whole chunks leave; what is left moves to the front, so that chunks always begin at a multiple of their size. */
void chunked_flush(struct chunked_writer *w)
{
    size_t whole = w->used / CHUNKED_CHUNK * CHUNKED_CHUNK;
    for (size_t at = 0; at < whole; at += CHUNKED_CHUNK)
        pack_u32(&w->table, digest_crc32c(span_of(w->buffer + at, CHUNKED_CHUNK)));
    write_out(w, span_of(w->buffer, whole));
    memmove(w->buffer, w->buffer + whole, w->used - whole);
    w->used -= whole;
    w->flushed += whole;
}

status chunked_writer_init(struct chunked_writer *w, const char *path, uint32_t kind, uint32_t number)
{
    *w = (struct chunked_writer){.fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)};
    if (w->fd < 0) {
        fail(w, errno == ENOSPC || errno == EDQUOT ? ST_FULL : ST_IO);
        return w->st;
    }
    w->buffer = mem_alloc(CHUNKED_BUFFER);
    struct buf header = {0};
    buf_put(&header, SPAN(MAGIC));
    pack_u32(&header, kind);
    pack_u32(&header, number);
    chunked_put(w, buf_span(&header));
    chunked_pad(w, CHUNKED_HEADER_BYTES);
    buf_done(&header);
    return w->st;
}

void chunked_writer_done(struct chunked_writer *w)
{
    int saved = errno;
    if (w->buffer && w->fd >= 0) /* a zeroed writer was never open */
        close(w->fd);
    free(w->buffer);
    buf_done(&w->table);
    *w = (struct chunked_writer){.fd = -1};
    errno = saved;
}

void chunked_put(struct chunked_writer *w, struct span s)
{
    while (s.n) {
        size_t n = s.n < CHUNKED_ROOM_MAX ? s.n : CHUNKED_ROOM_MAX;
        memcpy(chunked_room(w, n), s.p, n);
        w->used += n;
        s = span_from(s, n);
    }
}

void chunked_pad(struct chunked_writer *w, unsigned to)
{
    size_t n = (size_t)((to - chunked_at(w) % to) % to);
    memset(chunked_room(w, n), 0, n);
    w->used += n;
}

status chunked_finish(struct chunked_writer *w, const uint64_t *info, uint32_t info_count)
{
    assert(info_count <= CHUNKED_INFO_MAX);
    uint64_t body = chunked_at(w);
    chunked_flush(w);
    if (w->used)
        pack_u32(&w->table, digest_crc32c(span_of(w->buffer, w->used)));
    write_out(w, span_of(w->buffer, w->used));
    w->used = 0;
    struct buf *t = &w->table;
    for (uint32_t i = 0; i < info_count; i++)
        pack_u64(t, info[i]);
    pack_u64(t, body);
    pack_u32(t, info_count);
    pack_u64(t, 0);
    pack_u32(t, digest_crc32c(buf_span(t)));
    buf_put(t, SPAN(END_MAGIC));
    write_out(w, buf_span(t));
    if (w->st == ST_OK) {
        status st = file_sync(w->fd);
        if (st != ST_OK)
            fail(w, st);
    }
    errno = w->error;
    return w->st;
}
