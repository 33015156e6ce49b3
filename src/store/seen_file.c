#include "store/seen_file.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/pack.h"
#include "codec/digest.h"

__extension__ typedef unsigned __int128 u128;

#define MAGIC "orbseen1"
#define HEADER_BYTES 32
#define HEADER_CRC_AT 24
#define PART_BITS 6
#define WRITE_BUFFER (1u << 20)
/* After this many interpolation steps the keys are not uniform, and halving takes over. */
#define INTERPOLATION_STEPS 6
/* So near the rest is walked, at most WALK_MAX keys. */
#define WALK_KEYS 48
#define WALK_MAX 256

void seen_file_path(const char *dir, unsigned part, uint32_t version, struct buf *out)
{
    buf_clear(out);
    buf_printf(out, "%s/%02u-%08x", dir, part, version);
    (void)buf_cstr(out);
}

void seen_file_temp_path(const char *dir, unsigned part, struct buf *out)
{
    buf_clear(out);
    buf_printf(out, "%s/%02u-new-temp", dir, part);
    (void)buf_cstr(out);
}

bool seen_file_parse_name(const char *name, unsigned *part, uint32_t *version)
{
    struct span s = span_str(name);
    uint64_t p;
    if (s.n != 11 || s.p[2] != '-' || !span_u64(span_cut(s, 0, 2), (1u << PART_BITS) - 1, &p))
        return false;
    uint32_t v = 0;
    bool is_temp = span_is(span_from(s, 3), "new-temp");
    for (size_t i = 3; i < s.n && !is_temp; i++) {
        int digit = ascii_hex(s.p[i]);
        if (digit < 0)
            return false;
        v = v << 4 | (uint32_t)digit;
    }
    *part = (unsigned)p;
    *version = v;
    return true;
}

uint64_t seen_file_key(const struct seen_file *f, size_t at)
{
    return le64toh(f->keys[at]);
}

static status check_header(struct span s, unsigned part, uint32_t version, struct seen_file *f)
{
    if (s.n < HEADER_BYTES || memcmp(s.p, MAGIC, 7) != 0)
        return ST_CORRUPT;
    if (memcmp(s.p, MAGIC, 8) != 0)
        return ST_NEWER;
    struct unpack u = unpack_of(span_from(s, 8));
    uint32_t file_part = unpack_u32(&u), file_version = unpack_u32(&u);
    uint64_t count = unpack_u64(&u);
    if (unpack_u32(&u) != digest_crc32c(span_cut(s, 0, HEADER_CRC_AT)) || file_part != part || file_version != version)
        return ST_CORRUPT;
    if ((s.n - HEADER_BYTES) % 8 != 0 || (s.n - HEADER_BYTES) / 8 != count || count == 0)
        return ST_CORRUPT;
    f->version = version;
    f->keys = (const uint64_t *)(const void *)(s.p + HEADER_BYTES);
    f->n = (size_t)count;
    return seen_file_key(f, 0) >> (64 - PART_BITS) == part && seen_file_key(f, f->n - 1) >> (64 - PART_BITS) == part
               ? ST_OK
               : ST_CORRUPT;
}

status seen_file_open(const char *dir, unsigned part, uint32_t version, struct seen_file *out)
{
    struct buf path = {0};
    struct seen_file f = {0};
    seen_file_path(dir, part, version, &path);
    status st = mapped_open(path.p, &f.map);
    if (st == ST_OK)
        st = check_header(mapped_span(f.map), part, version, &f);
    int saved = errno;
    if (st == ST_OK)
        *out = f;
    else
        mapped_free(f.map);
    buf_done(&path);
    errno = saved;
    return st;
}

void seen_file_close(struct seen_file *f)
{
    mapped_free(f->map);
    *f = (struct seen_file){0};
}

uint64_t seen_file_bytes(const struct seen_file *f)
{
    return f->version ? HEADER_BYTES + 8 * (uint64_t)f->n : 0;
}

static void put_header(struct buf *out, unsigned part, uint32_t version, uint64_t count)
{
    buf_put(out, SPAN(MAGIC));
    pack_u32(out, part);
    pack_u32(out, version);
    pack_u64(out, count);
    pack_u32(out, digest_crc32c(buf_span(out)));
    pack_u32(out, 0);
}

static status flush(int fd, struct buf *b)
{
    status st = file_write_all(fd, buf_span(b));
    buf_clear(b);
    return st;
}

/* `old` and `add` share no key: a key goes into a front only when the file lacks it. */
static status write_merged(int fd, struct buf *b, const struct seen_file *old, const uint64_t *add, size_t n)
{
    size_t i = 0, j = 0;
    while (i < old->n || j < n) {
        uint64_t *to = (uint64_t *)(void *)buf_room(b, WRITE_BUFFER);
        size_t k = 0;
        while (k < WRITE_BUFFER / 8 && i < old->n && j < n) {
            uint64_t a = seen_file_key(old, i);
            bool from_old = a < add[j];
            to[k++] = htole64(from_old ? a : add[j]);
            i += from_old;
            j += !from_old;
        }
        if (j == n && i < old->n) {
            size_t rest = old->n - i < WRITE_BUFFER / 8 - k ? old->n - i : WRITE_BUFFER / 8 - k;
            memcpy(to + k, old->keys + i, rest * 8);
            k += rest;
            i += rest;
        }
        while (k < WRITE_BUFFER / 8 && i == old->n && j < n)
            to[k++] = htole64(add[j++]);
        b->n += k * 8;
        status st = flush(fd, b);
        if (st != ST_OK)
            return st;
    }
    return ST_OK;
}

status seen_file_merge(const char *dir, unsigned part, uint32_t version, const struct seen_file *old,
                       const uint64_t *add, size_t n)
{
    struct buf temp = {0}, path = {0}, out = {0};
    seen_file_temp_path(dir, part, &temp);
    seen_file_path(dir, part, version, &path);
    int fd = open(temp.p, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    status st = fd >= 0 ? ST_OK : errno == ENOSPC || errno == EDQUOT ? ST_FULL : ST_IO;
    if (st == ST_OK) {
        put_header(&out, part, version, (uint64_t)old->n + n);
        st = flush(fd, &out);
    }
    if (st == ST_OK)
        st = write_merged(fd, &out, old, add, n);
    if (st == ST_OK && rename(temp.p, path.p) != 0)
        st = ST_IO;
    int saved = errno;
    if (fd >= 0)
        close(fd);
    if (st != ST_OK)
        unlink(temp.p);
    buf_done(&temp);
    buf_done(&path);
    buf_done(&out);
    errno = saved;
    return st;
}

status seen_file_sync(const char *dir, unsigned part, uint32_t version)
{
    struct buf path = {0};
    seen_file_path(dir, part, version, &path);
    int fd = open(path.p, O_RDONLY | O_CLOEXEC);
    status st = fd >= 0 ? file_sync(fd) : ST_IO;
    int saved = errno;
    if (fd >= 0)
        close(fd);
    buf_done(&path);
    errno = saved;
    return st;
}

/* Where `key` would be among n keys spread evenly over the partition. */
static size_t guess(const struct seen_file *f, uint64_t key)
{
    return (size_t)(((u128)(key << PART_BITS) * f->n) >> 64);
}

void seen_file_prefetch(const struct seen_file *f, uint64_t key)
{
    if (f->n)
        __builtin_prefetch(f->keys + guess(f, key));
}

/* How many keys lie in a stretch of the key space, when they are spread evenly. */
static size_t keys_in(const struct seen_file *f, uint64_t stretch)
{
    return (size_t)(((u128)(stretch << PART_BITS) * f->n) >> 64);
}

static size_t halve(const struct seen_file *f, uint64_t key, size_t lo, size_t hi)
{
    while (lo < hi) {
        size_t at = lo + (hi - lo) / 2;
        if (seen_file_key(f, at) < key)
            lo = at + 1;
        else
            hi = at;
    }
    return lo;
}

static size_t walk_forward(const struct seen_file *f, uint64_t key, size_t lo, size_t hi)
{
    for (int i = 0; i < WALK_MAX; i++, lo++)
        if (lo == hi || seen_file_key(f, lo) >= key)
            return lo;
    return halve(f, key, lo, hi);
}

static size_t walk_back(const struct seen_file *f, uint64_t key, size_t lo, size_t hi)
{
    for (int i = 0; i < WALK_MAX; i++, hi--)
        if (hi == lo || seen_file_key(f, hi - 1) < key)
            return hi;
    return halve(f, key, lo, hi);
}

/* The answer stays in lo..hi. Each probe tells how far it is to go; the error of that shrinks to its square root every
 * time, so the second or third probe is near enough to walk, through memory that the CPU fetches ahead. Starting from
 * the place of a key not far below saves a probe. */
size_t seen_file_find(const struct seen_file *f, uint64_t key, size_t hint)
{
    size_t lo = 0, hi = f->n, at = guess(f, key);
    if (hint < f->n && seen_file_key(f, hint) <= key) {
        lo = hint;
        at = hint + keys_in(f, key - seen_file_key(f, hint));
    }
    for (int step = 0; step < INTERPOLATION_STEPS && lo < hi; step++) {
        at = at < lo ? lo : at >= hi ? hi - 1 : at;
        uint64_t v = seen_file_key(f, at);
        if (v < key) {
            lo = at + 1;
            size_t far = keys_in(f, key - v);
            if (far <= WALK_KEYS)
                return walk_forward(f, key, lo, hi);
            at = lo + far;
        } else {
            hi = at;
            size_t far = keys_in(f, v - key);
            if (far <= WALK_KEYS)
                return walk_back(f, key, lo, hi);
            at = hi > far ? hi - far : 0;
        }
    }
    return halve(f, key, lo, hi);
}
