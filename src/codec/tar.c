#include "codec/tar.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Where the fields of a header stand, and how long they are. */
enum {
    NAME_AT = 0,
    NAME_BYTES = 100,
    MODE_AT = 100,
    UID_AT = 108,
    GID_AT = 116,
    SIZE_AT = 124,
    SIZE_BYTES = 12,
    TIME_AT = 136,
    TIME_BYTES = 12,
    SUM_AT = 148,
    SUM_BYTES = 8,
    TYPE_AT = 156,
    MAGIC_AT = 257,
    PREFIX_AT = 345,
    PREFIX_BYTES = 155,
    SHORT_BYTES = 8,
};

#define OCTAL_MAX (UINT64_C(1) << 33) /* eleven octal digits */
#define BINARY_MARK 0x80              /* a number as GNU tar writes long ones: big-endian bytes after this bit */

bool tar_name_is_safe(struct span name)
{
    struct span rest = name, part;
    if (!name.n || name.n > TAR_NAME_MAX)
        return false;
    for (size_t i = 0; i < name.n; i++)
        if ((unsigned char)name.p[i] < 0x20 || name.p[i] == 0x7f || name.p[i] == '\\')
            return false;
    while (span_split(&rest, '/', &part))
        if (!part.n || span_is(part, ".") || span_is(part, ".."))
            return false;
    return name.p[name.n - 1] != '/';
}

/* ---- writing ---- */

static void put_octal(char *to, size_t bytes, uint64_t n)
{
    char text[32];
    snprintf(text, sizeof(text), "%0*llo", (int)bytes - 1, (unsigned long long)n);
    memcpy(to, text, bytes - 1);
    to[bytes - 1] = 0;
}

static void put_size(char *to, uint64_t n)
{
    if (n < OCTAL_MAX) {
        put_octal(to, SIZE_BYTES, n);
        return;
    }
    for (size_t i = SIZE_BYTES; i-- > 0; n >>= 8)
        to[i] = (char)(n & 0xff);
    to[0] = (char)BINARY_MARK;
}

static unsigned sum_of(const char *block)
{
    unsigned sum = 0;
    for (size_t i = 0; i < TAR_BLOCK; i++)
        sum += i >= SUM_AT && i < SUM_AT + SUM_BYTES ? ' ' : (unsigned char)block[i];
    return sum;
}

/* A long path is split at a slash: what stands before it goes to another field. */
static bool put_name(char *block, struct span name, bool is_folder)
{
    size_t most = NAME_BYTES - is_folder, cut = 0;
    if (name.n > most) {
        cut = name.n - most - 1;
        while (cut < name.n && name.p[cut] != '/')
            cut++;
        if (cut == name.n || cut > PREFIX_BYTES)
            return false;
        memcpy(block + PREFIX_AT, name.p, cut);
        name = span_from(name, cut + 1);
    }
    memcpy(block + NAME_AT, name.p, name.n);
    if (is_folder)
        block[NAME_AT + name.n] = '/';
    return true;
}

status tar_put_head(struct buf *out, const struct tar_entry *e)
{
    char block[TAR_BLOCK] = {0};
    if (e->name.n > TAR_NAME_MAX || e->bytes > TAR_FILE_MAX)
        return ST_LIMIT;
    if (!tar_name_is_safe(e->name))
        return ST_INVALID;
    if (!put_name(block, e->name, e->is_folder))
        return ST_LIMIT;
    put_octal(block + MODE_AT, SHORT_BYTES, e->mode & 07777);
    put_octal(block + UID_AT, SHORT_BYTES, 0);
    put_octal(block + GID_AT, SHORT_BYTES, 0);
    put_size(block + SIZE_AT, e->is_folder ? 0 : e->bytes);
    put_octal(block + TIME_AT, TIME_BYTES, e->at > 0 ? (uint64_t)e->at / 1000 % OCTAL_MAX : 0);
    block[TYPE_AT] = e->is_folder ? '5' : '0';
    memcpy(block + MAGIC_AT, "ustar\00000", 8);
    put_octal(block + SUM_AT, SUM_BYTES - 1, sum_of(block));
    block[SUM_AT + SUM_BYTES - 1] = ' ';
    buf_put(out, span_of(block, sizeof(block)));
    return ST_OK;
}

static size_t padding_of(uint64_t bytes)
{
    return (size_t)((TAR_BLOCK - bytes % TAR_BLOCK) % TAR_BLOCK);
}

void tar_put_padding(struct buf *out, uint64_t file_bytes)
{
    static const char zeros[TAR_BLOCK];
    buf_put(out, span_of(zeros, padding_of(file_bytes)));
}

void tar_put_end(struct buf *out)
{
    static const char zeros[2 * TAR_BLOCK];
    buf_put(out, span_of(zeros, sizeof(zeros)));
}

/* ---- reading ---- */

typedef enum tar_state { IN_HEAD, IN_FILE, IN_PADDING, AT_END } tar_state;

struct tar_reader {
    struct tar_events on;
    status failure;
    tar_state state;
    char block[TAR_BLOCK];
    size_t have;   /* of the block */
    uint64_t left; /* of the file, or of its padding */
    uint64_t file_bytes;
};

struct tar_reader *tar_reader_new(const struct tar_events *events)
{
    struct tar_reader *r = mem_alloc(sizeof(*r));
    r->on = *events;
    return r;
}

void tar_reader_free(struct tar_reader *r)
{
    free(r);
}

/* Octal digits, blanks before them, blanks or a NUL behind. */
static bool read_octal(const char *from, size_t bytes, uint64_t *out)
{
    size_t i = 0;
    uint64_t n = 0;
    while (i < bytes && from[i] == ' ')
        i++;
    for (; i < bytes && from[i] >= '0' && from[i] <= '7'; i++)
        n = n << 3 | (unsigned)(from[i] - '0');
    for (; i < bytes; i++)
        if (from[i] != ' ' && from[i] != 0)
            return false;
    *out = n;
    return true;
}

static bool read_size(const char *from, uint64_t *out)
{
    if (!((unsigned char)from[0] & BINARY_MARK))
        return read_octal(from, SIZE_BYTES, out);
    uint64_t n = (unsigned char)from[0] & 0x7f;
    for (size_t i = 1; i < SIZE_BYTES; i++) {
        if (n >> 55)
            return false;
        n = n << 8 | (unsigned char)from[i];
    }
    *out = n;
    return true;
}

static struct span field(const char *from, size_t bytes)
{
    return span_of(from, strnlen(from, bytes));
}

static status read_head(struct tar_reader *r)
{
    const char *b = r->block;
    char path[PREFIX_BYTES + NAME_BYTES + 2];
    uint64_t sum, mode, size, at;
    if (!read_octal(b + SUM_AT, SUM_BYTES, &sum) || sum != sum_of(b) || memcmp(b + MAGIC_AT, "ustar", 5) != 0)
        return ST_CORRUPT;
    if (!read_octal(b + MODE_AT, SHORT_BYTES, &mode) || !read_octal(b + TIME_AT, TIME_BYTES, &at) ||
        !read_size(b + SIZE_AT, &size))
        return ST_CORRUPT;
    char type = b[TYPE_AT];
    if (type != '0' && type != 0 && type != '5')
        return ST_UNSUPPORTED;
    struct span prefix = field(b + PREFIX_AT, PREFIX_BYTES), name = field(b + NAME_AT, NAME_BYTES);
    int n = snprintf(path, sizeof(path), "%.*s%s%.*s", SPAN_ARG(prefix), prefix.n ? "/" : "", SPAN_ARG(name));
    struct tar_entry e = {.name = span_of(path, (size_t)n),
                          .bytes = size,
                          .at = (wall_ms)at * 1000,
                          .mode = (unsigned)mode & 07777,
                          .is_folder = type == '5'};
    if (e.is_folder && e.name.n && e.name.p[e.name.n - 1] == '/')
        e.name.n--;
    if (!tar_name_is_safe(e.name))
        return ST_INVALID;
    if (size > TAR_FILE_MAX)
        return ST_LIMIT;
    if (e.is_folder && size)
        return ST_CORRUPT;
    r->file_bytes = r->left = size;
    r->state = IN_FILE;
    return r->on.entry(r->on.self, &e);
}

static bool is_zero(const char *block)
{
    for (size_t i = 0; i < TAR_BLOCK; i++)
        if (block[i])
            return false;
    return true;
}

static status take_block(struct tar_reader *r, struct span *piece)
{
    struct span part = span_cut(*piece, 0, TAR_BLOCK - r->have);
    memcpy(r->block + r->have, part.p, part.n);
    r->have += part.n;
    *piece = span_from(*piece, part.n);
    if (r->have < TAR_BLOCK)
        return ST_OK;
    r->have = 0;
    if (!is_zero(r->block))
        return read_head(r);
    r->state = AT_END; /* what follows is zeros too */
    return ST_OK;
}

static status take_bytes(struct tar_reader *r, struct span *piece)
{
    struct span part = span_cut(*piece, 0, r->left < piece->n ? (size_t)r->left : piece->n);
    status st = part.n ? r->on.bytes(r->on.self, part) : ST_OK;
    r->left -= part.n;
    *piece = span_from(*piece, part.n);
    if (st == ST_OK && !r->left) {
        st = r->on.end(r->on.self);
        r->left = padding_of(r->file_bytes);
        r->state = IN_PADDING;
    }
    return st;
}

static void take_padding(struct tar_reader *r, struct span *piece)
{
    size_t n = r->left < piece->n ? (size_t)r->left : piece->n;
    *piece = span_from(*piece, n);
    r->left -= n;
    if (!r->left)
        r->state = IN_HEAD;
}

status tar_reader_feed(struct tar_reader *r, struct span piece)
{
    /* A file without bytes ends before anything more has come. */
    while (r->failure == ST_OK && r->state != AT_END && (piece.n || (r->state == IN_FILE && !r->left))) {
        if (r->state == IN_HEAD)
            r->failure = take_block(r, &piece);
        else if (r->state == IN_FILE)
            r->failure = take_bytes(r, &piece);
        else
            take_padding(r, &piece);
    }
    return r->failure;
}

status tar_reader_end(struct tar_reader *r)
{
    if (r->failure == ST_OK && r->state != AT_END)
        r->failure = ST_CORRUPT;
    return r->failure;
}
