#include "index/tombs.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/pack.h"
#include "codec/digest.h"
#include "index/index_files.h"
#include "store/file.h"

static const struct span magic = SPAN_INIT("orbdel1\n");
#define HEAD_BYTES 20

static size_t bit_bytes(uint32_t docs)
{
    return ((size_t)docs + 7) / 8;
}

struct tombs *tombs_new(uint32_t docs)
{
    struct tombs *t = mem_alloc(sizeof(*t) + bit_bytes(docs));
    atomic_init(&t->refs, 1);
    t->docs = docs;
    return t;
}

struct tombs *tombs_copy(const struct tombs *t)
{
    struct tombs *c = tombs_new(t->docs);
    c->dead = t->dead;
    memcpy(c->bits, t->bits, bit_bytes(t->docs));
    return c;
}

struct tombs *tombs_ref(struct tombs *t)
{
    if (t)
        atomic_fetch_add_explicit(&t->refs, 1, memory_order_relaxed);
    return t;
}

void tombs_unref(struct tombs *t)
{
    if (t && atomic_fetch_sub_explicit(&t->refs, 1, memory_order_acq_rel) == 1)
        free(t);
}

void tombs_set(struct tombs *t, uint32_t doc)
{
    assert(doc < t->docs && !t->generation);
    if (tombs_has(t, doc))
        return;
    t->bits[doc >> 3] |= (uint8_t)(1u << (doc & 7));
    t->dead++;
}

static status write_file(const char *path, struct span content)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return errno == ENOSPC || errno == EDQUOT ? ST_FULL : ST_IO;
    status st = file_write_all(fd, content);
    if (st == ST_OK)
        st = file_sync(fd);
    int saved = errno;
    close(fd);
    if (st != ST_OK)
        unlink(path);
    errno = saved;
    return st;
}

status tombs_write(struct tombs *t, const char *dir, uint32_t segment, uint64_t generation)
{
    struct buf path = {0}, b = {0};
    index_file_tombs(&path, dir, segment, generation);
    buf_put(&b, magic);
    pack_u32(&b, segment);
    pack_u32(&b, t->docs);
    pack_u32(&b, t->dead);
    buf_put(&b, span_of(t->bits, bit_bytes(t->docs)));
    pack_u32(&b, digest_crc32c(buf_span(&b)));
    status st = write_file(path.p, buf_span(&b));
    if (st == ST_OK)
        t->generation = generation;
    buf_done(&b);
    buf_done(&path);
    return st;
}

static status unpack_tombs(struct span packed, uint32_t segment, uint32_t docs, struct tombs **out)
{
    size_t bytes = bit_bytes(docs);
    if (packed.n != HEAD_BYTES + bytes + 4)
        return ST_CORRUPT;
    struct unpack u = unpack_of(packed);
    struct span head = unpack_bytes(&u, magic.n);
    uint32_t number = unpack_u32(&u), count = unpack_u32(&u), dead = unpack_u32(&u);
    struct span bits = unpack_bytes(&u, bytes);
    uint32_t crc = unpack_u32(&u);
    if (!span_eq(head, magic) || number != segment || count != docs ||
        crc != digest_crc32c(span_cut(packed, 0, packed.n - 4)))
        return ST_CORRUPT;
    struct tombs *t = tombs_new(docs);
    memcpy(t->bits, bits.p, bytes);
    for (size_t i = 0; i < bytes; i++)
        t->dead += (uint32_t)__builtin_popcount(t->bits[i]);
    bool has_stray = docs & 7 && t->bits[bytes - 1] >> (docs & 7);
    if (t->dead != dead || has_stray) {
        free(t);
        return ST_CORRUPT;
    }
    *out = t;
    return ST_OK;
}

status tombs_read(const char *dir, uint32_t segment, uint64_t generation, uint32_t docs, struct tombs **out)
{
    struct buf path = {0}, packed = {0};
    index_file_tombs(&path, dir, segment, generation);
    status st = file_read(path.p, HEAD_BYTES + bit_bytes(docs) + 4, &packed);
    if (st == ST_LIMIT)
        st = ST_CORRUPT;
    if (st == ST_OK)
        st = unpack_tombs(buf_span(&packed), segment, docs, out);
    if (st == ST_OK)
        (*out)->generation = generation;
    buf_done(&packed);
    buf_done(&path);
    return st;
}
