#include "store/contents.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/pack.h"
#include "codec/zip.h"
#include "store/file.h"
#include "store/records.h"

#define KIND_CONTENTS 3
#define FILE_BYTES_MAX (64ull << 20) /* a reader that starts late skips at most so much */
#define BUFFER_BYTES (1u << 20)
#define HEAD_BYTES 24       /* number, key, fetch number */
#define LOST_MAX (1u << 20) /* records, one after the other, that may be damaged: more than a file has */
#define DICTIONARY "dictionary"

enum { REC_CONTENT = 1, REC_GONE = 2 };

struct part {
    uint64_t first; /* number of its first record */
    uint64_t records;
    uint64_t bytes;
};

struct contents {
    char *dir;          /* owned */
    struct part *parts; /* owned, oldest first; the last is the one written to when `file` is open */
    size_t part_count, part_cap;
    struct records_writer *file; /* owned; NULL until something is appended */
    uint64_t last;
    struct buf dictionary, payload, frame;
};

static void path_of(const char *dir, uint64_t first, struct buf *out)
{
    buf_clear(out);
    buf_printf(out, "%s/%016llu", dir, (unsigned long long)first);
    (void)buf_cstr(out);
}

static bool parse_name(const char *name, uint64_t *first)
{
    return strlen(name) == 16 && span_u64(span_str(name), UINT64_MAX, first) && *first > 0;
}

static int by_first(const void *a, const void *b)
{
    uint64_t x = ((const struct part *)a)->first, y = ((const struct part *)b)->first;
    return x < y ? -1 : x > y;
}

static status list_parts(const char *dir, struct part **parts, size_t *n)
{
    size_t cap = 0;
    DIR *d = opendir(dir);
    *parts = NULL;
    *n = 0;
    if (!d)
        return errno == ENOENT ? ST_NOT_FOUND : ST_IO;
    for (struct dirent *e; (e = readdir(d));) {
        struct part p = {0};
        if (!parse_name(e->d_name, &p.first))
            continue;
        *parts = mem_grow(*parts, &cap, *n + 1, sizeof(**parts));
        (*parts)[(*n)++] = p;
    }
    closedir(d);
    if (*n)
        qsort(*parts, *n, sizeof(**parts), by_first);
    return ST_OK;
}

static status read_record(uint8_t type, struct span payload, struct contents_record *out)
{
    struct unpack u = unpack_of(payload);
    *out = (struct contents_record){.number = unpack_u64(&u), .key = unpack_u64(&u), .fetch_number = unpack_u64(&u)};
    if (u.bad || (type != REC_CONTENT && type != REC_GONE))
        return ST_CORRUPT;
    out->is_gone = type == REC_GONE;
    if (!out->is_gone)
        out->content = span_from(payload, HEAD_BYTES);
    return out->content.n <= CONTENTS_RECORD_MAX ? ST_OK : ST_CORRUPT;
}

struct walk {
    contents_fn *fn;
    void *arg;
    uint64_t after;
    uint64_t records, last;
};

static status walk_record(void *arg, uint8_t type, struct span payload)
{
    struct walk *w = arg;
    struct contents_record r;
    status st = read_record(type, payload, &r);
    if (st != ST_OK)
        return st;
    w->records++;
    if (r.number > w->last)
        w->last = r.number;
    return w->fn && r.number > w->after ? w->fn(w->arg, &r) : ST_OK;
}

/* Numbers in a file grow, by one but for what was lost. */
static bool may_begin(void *arg, uint8_t type, uint32_t length, struct span payload)
{
    const struct walk *w = arg;
    struct contents_record r;
    return length <= HEAD_BYTES + CONTENTS_RECORD_MAX && read_record(type, payload, &r) == ST_OK &&
           r.number > w->last && r.number - w->last <= LOST_MAX;
}

static status walk_part(const char *dir, const struct part *p, struct walk *w, struct records_info *info)
{
    struct buf path = {0};
    path_of(dir, p->first, &path);
    status st = records_salvage(path.p, KIND_CONTENTS, walk_record, may_begin, w, info);
    buf_done(&path);
    return st;
}

/* Numbers in a file follow each other, so only the last file has to be read to know how many records each has. */
static status count_parts(struct contents *c)
{
    status st = ST_OK;
    struct buf path = {0};
    for (size_t i = 0; st == ST_OK && i < c->part_count; i++) {
        struct part *p = &c->parts[i];
        struct walk w = {.last = p->first - 1};
        struct records_info info = {0};
        struct stat sb;
        path_of(c->dir, p->first, &path);
        if (i + 1 < c->part_count) {
            p->records = c->parts[i + 1].first - p->first;
            p->bytes = stat(path.p, &sb) == 0 ? (uint64_t)sb.st_size : 0;
            continue;
        }
        st = walk_part(c->dir, p, &w, &info);
        p->records = w.records;
        p->bytes = info.file_bytes;
        /* Its name is taken even when nothing in it can be read. */
        c->last = w.last > p->first ? w.last : p->first;
    }
    buf_done(&path);
    return st;
}

status contents_read_dictionary(const char *dir, struct buf *out)
{
    struct buf path = {0};
    buf_printf(&path, "%s/" DICTIONARY, dir);
    status st = file_read(buf_cstr(&path), ZIP_DICT_BYTES, out);
    buf_done(&path);
    return st;
}

status contents_open(const char *dir, struct contents **out)
{
    struct contents *c = mem_alloc(sizeof(*c));
    c->dir = mem_str(span_str(dir));
    status st = file_mkdir(dir);
    if (st == ST_OK)
        st = list_parts(dir, &c->parts, &c->part_count);
    c->part_cap = c->part_count;
    if (st == ST_OK)
        st = count_parts(c);
    if (st == ST_OK) {
        st = contents_read_dictionary(dir, &c->dictionary);
        if (st == ST_NOT_FOUND)
            st = ST_OK;
    }
    if (st == ST_OK) {
        *out = c;
        return ST_OK;
    }
    int saved = errno;
    contents_free(c);
    errno = saved;
    return st;
}

void contents_free(struct contents *c)
{
    if (!c)
        return;
    records_close(c->file);
    buf_done(&c->dictionary);
    buf_done(&c->payload);
    buf_done(&c->frame);
    free(c->parts);
    free(c->dir);
    free(c);
}

uint64_t contents_last(const struct contents *c)
{
    return c->last;
}

uint64_t contents_records(const struct contents *c)
{
    uint64_t n = 0;
    for (size_t i = 0; i < c->part_count; i++)
        n += c->parts[i].records;
    return n;
}

uint64_t contents_bytes(const struct contents *c)
{
    uint64_t n = 0;
    for (size_t i = 0; i < c->part_count; i++)
        n += c->parts[i].bytes;
    return n;
}

static status start_file(struct contents *c, uint64_t first)
{
    struct buf path = {0};
    path_of(c->dir, first, &path);
    status st = records_create(path.p, KIND_CONTENTS, first, BUFFER_BYTES, &c->file);
    if (st == ST_OK) {
        c->parts = mem_grow(c->parts, &c->part_cap, c->part_count + 1, sizeof(*c->parts));
        c->parts[c->part_count++] = (struct part){.first = first, .bytes = records_bytes(c->file)};
        st = file_sync_dir(c->dir);
    }
    buf_done(&path);
    return st;
}

/* The file is finished; the next record starts another. */
static status end_file(struct contents *c)
{
    status st = c->file ? records_sync(c->file) : ST_OK;
    if (st == ST_OK) {
        records_close(c->file);
        c->file = NULL;
    }
    return st;
}

status contents_append(struct contents *c, struct contents_record *r)
{
    if (r->content.n > CONTENTS_RECORD_MAX)
        return ST_LIMIT;
    status st = ST_OK;
    if (c->file && records_bytes(c->file) >= FILE_BYTES_MAX)
        st = end_file(c);
    if (st == ST_OK && !c->file)
        st = start_file(c, c->last + 1);
    if (st != ST_OK)
        return st;
    buf_clear(&c->payload);
    pack_u64(&c->payload, c->last + 1);
    pack_u64(&c->payload, r->key);
    pack_u64(&c->payload, r->fetch_number);
    buf_put(&c->payload, r->content);
    st = records_append(c->file, r->is_gone ? REC_GONE : REC_CONTENT, buf_span(&c->payload));
    if (st == ST_OK) {
        struct part *p = &c->parts[c->part_count - 1];
        p->records++;
        p->bytes = records_bytes(c->file);
        r->number = ++c->last;
    }
    return st;
}

status contents_sync(struct contents *c)
{
    return c->file ? records_sync(c->file) : ST_OK;
}

struct span contents_dictionary(const struct contents *c)
{
    return buf_span(&c->dictionary);
}

status contents_put_dictionary(struct contents *c, struct span dictionary)
{
    struct buf path = {0};
    if (c->dictionary.n)
        return ST_EXISTS;
    if (dictionary.n > ZIP_DICT_BYTES)
        return ST_LIMIT;
    buf_printf(&path, "%s/" DICTIONARY, c->dir);
    status st = file_replace(buf_cstr(&path), dictionary);
    if (st == ST_OK)
        buf_put(&c->dictionary, dictionary);
    buf_done(&path);
    return st;
}

status contents_each(const char *dir, uint64_t after, contents_fn *fn, void *arg, unsigned *damaged)
{
    struct part *parts = NULL;
    size_t n = 0;
    status st = list_parts(dir, &parts, &n);
    if (damaged)
        *damaged = 0;
    for (size_t i = 0; st == ST_OK && i < n; i++) {
        if (i + 1 < n && parts[i + 1].first <= after + 1)
            continue; /* all of it is older */
        struct walk w = {.fn = fn, .arg = arg, .after = after, .last = parts[i].first - 1};
        struct records_info info = {0};
        st = walk_part(dir, &parts[i], &w, &info);
        if (st == ST_NOT_FOUND)
            st = ST_OK; /* compacted meanwhile: its records come again later in the log */
        if (st == ST_OK && info.was_torn && damaged)
            ++*damaged;
    }
    free(parts);
    return st;
}

static status stop_at_once(void *arg, uint8_t type, struct span payload)
{
    return ST_END;
}

status contents_mend_heads(const char *dir, bool repair, unsigned *count)
{
    struct part *parts = NULL;
    struct buf path = {0};
    size_t n = 0;
    *count = 0;
    status st = list_parts(dir, &parts, &n);
    for (size_t i = 0; st == ST_OK && i < n; i++) {
        path_of(dir, parts[i].first, &path);
        status read = records_read(path.p, KIND_CONTENTS, stop_at_once, NULL, NULL);
        if (read != ST_CORRUPT)
            continue;
        ++*count;
        if (repair)
            st = records_mend_header(path.p, KIND_CONTENTS, parts[i].first);
    }
    buf_done(&path);
    free(parts);
    return st;
}

struct copy {
    struct contents *c;
    contents_live_fn *is_live;
    void *arg;
};

static status copy_live(void *arg, const struct contents_record *r)
{
    struct copy *k = arg;
    struct contents_record again = *r;
    return k->is_live(k->arg, r) ? contents_append(k->c, &again) : ST_OK;
}

/* Writes what is live in the file at `at` again, and removes it. */
static status rewrite(struct contents *c, size_t at, contents_live_fn *is_live, void *arg)
{
    struct copy k = {c, is_live, arg};
    struct part part = c->parts[at];
    struct walk w = {.fn = copy_live, .arg = &k, .last = part.first - 1};
    struct records_info info;
    struct buf path = {0};
    status st = walk_part(c->dir, &part, &w, &info);
    if (st == ST_OK)
        st = contents_sync(c);
    path_of(c->dir, part.first, &path);
    if (st == ST_OK && unlink(path.p) != 0)
        st = ST_IO;
    if (st == ST_OK)
        memmove(c->parts + at, c->parts + at + 1, (--c->part_count - at) * sizeof(*c->parts));
    buf_done(&path);
    return st;
}

status contents_compact(struct contents *c, uint64_t records_max, contents_live_fn *is_live, void *arg)
{
    size_t left = c->part_count; /* files that were there before: what is written now is not looked at again */
    status st = end_file(c);
    while (st == ST_OK && left-- > 0 && contents_records(c) > records_max)
        st = rewrite(c, 0, is_live, arg);
    return st;
}

static status find_one(void *arg, const struct contents_record *r)
{
    const struct copy *k = arg;
    return k->is_live(k->arg, r) ? ST_EXISTS : ST_OK;
}

status contents_purge(struct contents *c, contents_live_fn *must_go, contents_live_fn *is_live, void *arg)
{
    size_t left = c->part_count, at = 0;
    status st = end_file(c);
    while (st == ST_OK && left-- > 0) {
        struct copy k = {c, must_go, arg};
        struct walk w = {.fn = find_one, .arg = &k, .last = c->parts[at].first - 1};
        struct records_info info;
        st = walk_part(c->dir, &c->parts[at], &w, &info);
        if (st == ST_EXISTS)
            st = rewrite(c, at, is_live, arg);
        else
            at++;
    }
    return st == ST_OK ? file_sync_dir(c->dir) : st;
}
