/* An archive ends with
 *
 *     heads of files and their bytes | directory: an entry a file | [64-bit end, its locator] | end, comment
 *
 * and is read from there: the end says where the directory is, an entry where the head of its file is, the head how
 * long itself is. */
#include "codec/zip_files.h"

#include "base/pack.h"

#define SIGN_HEAD 0x04034b50u
#define SIGN_ENTRY 0x02014b50u
#define SIGN_END 0x06054b50u
#define SIGN_END_64 0x06064b50u
#define SIGN_LOCATOR 0x07064b50u
#define HEAD_BYTES 30
#define END_BYTES 22
#define END_64_BYTES 56
#define LOCATOR_BYTES 20
#define COMMENT_MAX 0xffffu
#define IN_64 0xffffffffu /* of a number: it is in the 64-bit form */
#define EXTRA_64 1
#define FLAG_ENCRYPTED 1u
#define METHOD_STORED 0

struct archive {
    uint64_t bytes;
    uint64_t told; /* of files so far: they do not overlap, or one could be read a million times */
    zip_files_read_fn *read;
    void *self;
    struct buf room; /* of heads */
};

struct directory {
    uint64_t at, bytes;
};

/* ---- numbers ---- */

static uint32_t read_u16(struct unpack *u)
{
    uint32_t low = unpack_u8(u);
    return low | (uint32_t)unpack_u8(u) << 8;
}

static void skip(struct unpack *u, size_t n)
{
    (void)unpack_bytes(u, n);
}

static status read_at(const struct archive *z, uint64_t at, uint64_t n, struct buf *out)
{
    buf_clear(out);
    if (at > z->bytes || n > z->bytes - at)
        return ST_CORRUPT;
    status st = z->read(z->self, at, (size_t)n, out);
    return st == ST_OK && out->n != n ? ST_CORRUPT : st;
}

/* ---- the end ---- */

static status read_end_64(struct archive *z, uint64_t at, struct directory *d)
{
    status st = read_at(z, at, END_64_BYTES, &z->room);
    if (st != ST_OK)
        return st;
    struct unpack u = unpack_of(buf_span(&z->room));
    if (unpack_u32(&u) != SIGN_END_64)
        return ST_CORRUPT;
    skip(&u, 8 + 2 + 2 + 4 + 4 + 8 + 8); /* its size, versions, disks, counts */
    d->bytes = unpack_u64(&u);
    d->at = unpack_u64(&u);
    return ST_OK;
}

/* The last place where an end can be: its comment goes to the end of the archive. */
static bool find_end(struct span tail, size_t *at)
{
    for (size_t i = tail.n >= END_BYTES ? tail.n - END_BYTES + 1 : 0; i-- > 0;) {
        struct unpack u = unpack_of(span_from(tail, i));
        if (unpack_u32(&u) != SIGN_END)
            continue;
        skip(&u, END_BYTES - 4 - 2);
        if (read_u16(&u) == tail.n - i - END_BYTES) {
            *at = i;
            return true;
        }
    }
    return false;
}

static status read_end(struct archive *z, struct span tail, size_t at, struct directory *d)
{
    struct unpack u = unpack_of(span_from(tail, at)), locator = unpack_of((struct span){0});
    skip(&u, 4 + 2 + 2 + 2 + 2); /* signature, disks, counts */
    d->bytes = unpack_u32(&u);
    d->at = unpack_u32(&u);
    if (d->bytes != IN_64 && d->at != IN_64)
        return ST_OK;
    if (at >= LOCATOR_BYTES)
        locator = unpack_of(span_cut(tail, at - LOCATOR_BYTES, LOCATOR_BYTES));
    if (unpack_u32(&locator) != SIGN_LOCATOR)
        return ST_OK; /* an archive of just that size, or nonsense: the directory tells */
    skip(&locator, 4);
    return read_end_64(z, unpack_u64(&locator), d);
}

static status find_directory(struct archive *z, struct directory *d)
{
    struct buf tail = {0};
    uint64_t most = END_BYTES + COMMENT_MAX + LOCATOR_BYTES, n = z->bytes < most ? z->bytes : most;
    size_t at = 0;
    status st = read_at(z, z->bytes - n, n, &tail);
    if (st == ST_OK)
        st = find_end(buf_span(&tail), &at) ? read_end(z, buf_span(&tail), at, d) : ST_INVALID;
    buf_done(&tail);
    return st;
}

/* ---- the directory ---- */

struct entry {
    struct span name;
    uint32_t flags, method;
    uint64_t packed, plain, head;
};

/* Numbers that do not fit, in their order. */
static void widen(struct entry *e, struct span extra)
{
    struct unpack u = unpack_of(extra);
    while (!u.bad && !unpack_at_end(&u)) {
        uint32_t id = read_u16(&u), n = read_u16(&u);
        struct unpack wide = unpack_of(unpack_bytes(&u, n));
        if (id != EXTRA_64)
            continue;
        if (e->plain == IN_64)
            e->plain = unpack_u64(&wide);
        if (e->packed == IN_64)
            e->packed = unpack_u64(&wide);
        if (e->head == IN_64)
            e->head = unpack_u64(&wide);
        return;
    }
}

static bool read_entry(struct unpack *u, struct entry *e)
{
    if (unpack_u32(u) != SIGN_ENTRY)
        return false;
    skip(u, 2 + 2); /* versions */
    e->flags = read_u16(u);
    e->method = read_u16(u);
    skip(u, 4 + 4); /* time, checksum */
    e->packed = unpack_u32(u);
    e->plain = unpack_u32(u);
    uint32_t name = read_u16(u), extra = read_u16(u), comment = read_u16(u);
    skip(u, 2 + 2 + 4); /* disk, attributes */
    e->head = unpack_u32(u);
    e->name = unpack_bytes(u, name);
    widen(e, unpack_bytes(u, extra));
    skip(u, comment);
    return !u->bad;
}

/* Name and extra fields of a head need not be as long as those of the entry. */
static status place(struct archive *z, const struct entry *e, struct zip_file *out)
{
    status st = read_at(z, e->head, HEAD_BYTES, &z->room);
    if (st != ST_OK)
        return st;
    struct unpack u = unpack_of(buf_span(&z->room));
    if (unpack_u32(&u) != SIGN_HEAD)
        return ST_CORRUPT;
    skip(&u, HEAD_BYTES - 4 - 2 - 2);
    uint32_t name = read_u16(&u), extra = read_u16(&u);
    uint64_t at = e->head + HEAD_BYTES + name + extra; /* e->head is in the archive: no overflow */
    if (at > z->bytes || e->packed > z->bytes - at || e->packed > z->bytes - z->told)
        return ST_CORRUPT;
    z->told += e->packed;
    *out = (struct zip_file){.name = e->name,
                             .at = at,
                             .bytes = e->packed,
                             .is_stored =
                                 e->method == METHOD_STORED && !(e->flags & FLAG_ENCRYPTED) && e->packed == e->plain};
    return ST_OK;
}

static status read_directory(struct archive *z, struct span directory, zip_files_fn *fn, void *arg)
{
    struct unpack u = unpack_of(directory);
    status st = ST_OK;
    while (st == ST_OK && !unpack_at_end(&u)) {
        struct entry e;
        struct zip_file f;
        if (!read_entry(&u, &e))
            return ST_CORRUPT;
        if (span_ends(e.name, SPAN("/")))
            continue;
        st = place(z, &e, &f);
        if (st == ST_OK)
            st = fn(arg, &f);
    }
    return st;
}

status zip_files_each(uint64_t bytes, zip_files_read_fn *read, void *self, zip_files_fn *fn, void *arg)
{
    struct archive z = {.bytes = bytes, .read = read, .self = self};
    struct directory d = {0};
    struct buf directory = {0};
    status st = find_directory(&z, &d);
    if (st == ST_OK && d.bytes > ZIP_FILES_DIRECTORY_MAX)
        st = d.bytes > bytes ? ST_CORRUPT : ST_LIMIT;
    if (st == ST_OK)
        st = read_at(&z, d.at, d.bytes, &directory);
    if (st == ST_OK)
        st = read_directory(&z, buf_span(&directory), fn, arg);
    buf_done(&directory);
    buf_done(&z.room);
    return st;
}
