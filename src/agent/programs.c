#include "agent/programs.h"

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "codec/armor.h"
#include "mobile/program.h"
#include "store/file.h"

#define PROGRAMS_MAX 1000
#define SERIAL_FILE_MAX 32

struct one {
    char name[PROGRAM_NAME_MAX + 1];
    uint64_t serial; /* highest ever */
    bool is_there;   /* not removed */
};

struct programs {
    char *dir;
    struct sign_public *keys;
    size_t key_count;
    struct one *items;
    size_t count, cap;
};

static const char *path_of(const struct programs *p, const char *name, const char *suffix, struct buf *path)
{
    buf_clear(path);
    buf_printf(path, "%s/%s%s", p->dir, name, suffix);
    return buf_cstr(path);
}

static struct one *find(const struct programs *p, struct span name)
{
    for (size_t i = 0; i < p->count; i++)
        if (span_is(name, p->items[i].name))
            return &p->items[i];
    return NULL;
}

static struct one *make(struct programs *p, struct span name)
{
    p->items = mem_grow(p->items, &p->cap, p->count + 1, sizeof(*p->items));
    struct one *o = &p->items[p->count++];
    *o = (struct one){0};
    memcpy(o->name, name.p, name.n);
    return o;
}

/* ---- opening: NAME.serial says how far a program has come, NAME is its file ---- */

static status load_one(struct programs *p, struct span name)
{
    struct buf path = {0}, text = {0};
    uint64_t serial = 0;
    struct one *o = make(p, name);
    status st = file_read(path_of(p, o->name, ".serial", &path), SERIAL_FILE_MAX, &text);
    if (st == ST_OK && span_u64(span_trim(buf_span(&text)), UINT64_MAX, &serial))
        o->serial = serial;
    o->is_there = access(path_of(p, o->name, ".lua", &path), R_OK) == 0;
    buf_done(&path);
    buf_done(&text);
    return ST_OK;
}

static status load(struct programs *p)
{
    status st = file_mkdir(p->dir);
    DIR *d = st == ST_OK ? opendir(p->dir) : NULL;
    struct span suffix = SPAN(".serial");
    if (st == ST_OK && !d)
        st = ST_IO;
    for (struct dirent *e; st == ST_OK && (e = readdir(d));) {
        struct span file = span_str(e->d_name);
        if (!span_ends(file, suffix))
            continue;
        struct span name = span_cut(file, 0, file.n - suffix.n);
        if (program_name_is_good(name) && name.n <= PROGRAM_NAME_MAX && p->count < PROGRAMS_MAX)
            st = load_one(p, name);
    }
    if (d)
        closedir(d);
    return st;
}

status programs_new(const char *data, const struct conf *conf, struct programs **out)
{
    struct programs *p = mem_alloc(sizeof(*p));
    struct buf dir = {0};
    size_t n;
    const struct span *keys = conf_list(conf, CONF_PROGRAM_KEY, &n);
    buf_printf(&dir, "%s/programs", data);
    p->dir = mem_str(buf_span(&dir));
    buf_done(&dir);
    p->keys = mem_alloc((n + 1) * sizeof(*p->keys));
    for (size_t i = 0; i < n; i++)
        if (base64url_get(keys[i], p->keys[p->key_count].b, SIGN_PUBLIC_BYTES) == ST_OK)
            p->key_count++;
    status st = load(p);
    if (st != ST_OK) {
        programs_free(p);
        return st;
    }
    *out = p;
    return ST_OK;
}

void programs_free(struct programs *p)
{
    if (!p)
        return;
    free(p->dir);
    free(p->keys);
    free(p->items);
    free(p);
}

/* ---- orders ---- */

static bool is_ours(const struct programs *p, const struct program *program)
{
    for (size_t i = 0; i < p->key_count; i++)
        if (program_is_signed_by(program, &p->keys[i]))
            return true;
    return false;
}

static status keep(struct programs *p, struct one *o, uint64_t serial, struct span file)
{
    struct buf path = {0}, text = {0};
    buf_printf(&text, "%llu\n", (unsigned long long)serial);
    status st = file_replace(path_of(p, o->name, ".lua", &path), file);
    if (st == ST_OK)
        st = file_replace(path_of(p, o->name, ".serial", &path), buf_span(&text));
    if (st == ST_OK) {
        o->serial = serial;
        o->is_there = true;
    }
    buf_done(&path);
    buf_done(&text);
    return st;
}

static status remove_one(struct programs *p, const struct program_order *order)
{
    struct one *o = find(p, order->name);
    struct buf path = {0};
    if (o) {
        unlink(path_of(p, o->name, ".lua", &path));
        o->is_there = false; /* its serial stays: an old version does not come back */
    }
    buf_done(&path);
    return ST_OK;
}

status programs_order(struct programs *p, const struct program_order *order, struct buf *why)
{
    struct program program;
    if (!program_name_is_good(order->name) || order->name.n > PROGRAM_NAME_MAX) {
        buf_puts(why, "not a program's name");
        return ST_INVALID;
    }
    if (order->is_removed)
        return remove_one(p, order);
    if (!p->key_count) {
        buf_puts(why, "the owner of this machine runs no programs: no program-key is set");
        return ST_REFUSED;
    }
    if (program_read(order->bytes, &program, why) != ST_OK || !span_eq(program.name, order->name) ||
        program.serial != order->serial) {
        if (!why->n)
            buf_puts(why, "the file is not the program that was ordered");
        return ST_INVALID;
    }
    if (!is_ours(p, &program)) {
        buf_puts(why, "not signed by a program-key of this machine's owner");
        return ST_REFUSED;
    }
    struct one *o = find(p, order->name);
    if (o && program.serial < o->serial) {
        buf_printf(why, "serial %llu was here already", (unsigned long long)o->serial);
        return ST_REFUSED;
    }
    if (!o && p->count >= PROGRAMS_MAX) {
        buf_puts(why, "too many programs");
        return ST_LIMIT;
    }
    return keep(p, o ? o : make(p, order->name), program.serial, order->bytes);
}

struct program_report *programs_report(const struct programs *p, struct arena *a, size_t *count)
{
    struct program_report *out = arena_alloc(a, (p->count + 1) * sizeof(*out));
    *count = 0;
    for (size_t i = 0; i < p->count; i++)
        if (p->items[i].is_there)
            out[(*count)++] = (struct program_report){.name = arena_copy(a, span_str(p->items[i].name)),
                                                      .serial = p->items[i].serial};
    return out;
}

status programs_read(const struct programs *p, struct span name, struct buf *file)
{
    const struct one *o = find(p, name);
    struct buf path = {0};
    status st = o && o->is_there ? file_read(path_of(p, o->name, ".lua", &path), PROGRAM_FILE_MAX, file) : ST_NOT_FOUND;
    buf_done(&path);
    return st;
}
