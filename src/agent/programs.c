#include "agent/programs.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "codec/armor.h"
#include "mobile/master.h"
#include "store/file.h"

#define PROGRAMS_MAX MASTER_PROGRAMS_MAX
#define SERIAL_FILE_MAX 64

/* The files of a program. NEWEST goes when its version is dropped, and the one before takes its place. */
#define NEWEST ".lua"
#define BEFORE ".before.lua"
#define SERIALS ".serial" /* highest serial ever here, and the one that failed last */

struct one {
    char name[PROGRAM_NAME_MAX + 1];
    uint64_t highest;         /* serial, ever */
    uint64_t newest, before;  /* serials of the files; 0: there is none */
    uint64_t failed;          /* the serial that failed last; 0: none */
    struct program_state now; /* as the crawl says */
    const char *trouble;      /* why it is not given to the crawl; NULL: it is */
};

struct programs {
    char *dir;
    const struct log *log;
    struct sign_public *keys;
    size_t key_count;
    struct one *items;
    size_t count, cap;
    struct crawl *crawl; /* borrowed; NULL: none is open */
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

/* ---- files ---- */

static bool is_ours(const struct programs *p, const struct program *program)
{
    for (size_t i = 0; i < p->key_count; i++)
        if (program_is_signed_by(program, &p->keys[i]))
            return true;
    return false;
}

/* ST_NOT_FOUND, ST_INVALID: it is not what it should be; ST_REFUSED: no key of today's owner has signed it. */
static status read_file(const struct programs *p, const struct one *o, const char *suffix, struct buf *file,
                        struct program *out)
{
    struct buf path = {0};
    buf_clear(file);
    status st = file_read(path_of(p, o->name, suffix, &path), PROGRAM_FILE_MAX, file);
    if (st == ST_OK && (program_read(buf_span(file), out, NULL) != ST_OK || !span_is(out->name, o->name)))
        st = ST_INVALID;
    if (st == ST_OK && !is_ours(p, out))
        st = ST_REFUSED;
    buf_done(&path);
    return st;
}

static status write_serials(const struct programs *p, const struct one *o)
{
    struct buf path = {0}, text = {0};
    buf_printf(&text, "%llu %llu\n", (unsigned long long)o->highest, (unsigned long long)o->failed);
    status st = file_replace(path_of(p, o->name, SERIALS, &path), buf_span(&text));
    buf_done(&path);
    buf_done(&text);
    return st;
}

/* What a kill left between two files: the one before is older than the newest, or it is of no use. */
static void load_one(struct programs *p, struct span name)
{
    struct buf path = {0}, text = {0};
    struct program program;
    struct one *o = make(p, name);
    if (file_read(path_of(p, o->name, SERIALS, &path), SERIAL_FILE_MAX, &text) == ST_OK) {
        struct span rest = span_trim(buf_span(&text)), word;
        if (span_split(&rest, ' ', &word) && !span_u64(word, UINT64_MAX, &o->highest))
            o->highest = 0;
        if (span_split(&rest, ' ', &word) && !span_u64(word, UINT64_MAX, &o->failed))
            o->failed = 0;
    }
    if (read_file(p, o, NEWEST, &text, &program) == ST_OK)
        o->newest = program.serial;
    if (read_file(p, o, BEFORE, &text, &program) == ST_OK && program.serial < o->newest)
        o->before = program.serial;
    if (o->newest > o->highest)
        o->highest = o->newest;
    buf_done(&path);
    buf_done(&text);
}

static status load(struct programs *p)
{
    status st = file_mkdir(p->dir);
    DIR *d = st == ST_OK ? opendir(p->dir) : NULL;
    struct span suffix = SPAN(SERIALS);
    if (st == ST_OK && !d)
        st = ST_IO;
    for (struct dirent *e; st == ST_OK && (e = readdir(d));) {
        struct span file = span_str(e->d_name);
        if (!span_ends(file, suffix))
            continue;
        struct span name = span_cut(file, 0, file.n - suffix.n);
        if (program_name_is_good(name) && p->count < PROGRAMS_MAX)
            load_one(p, name);
    }
    if (d)
        closedir(d);
    return st;
}

status programs_new(const char *data, const struct conf *conf, const struct log *log, struct programs **out)
{
    struct programs *p = mem_alloc(sizeof(*p));
    struct buf dir = {0};
    size_t n;
    const struct span *keys = conf_list(conf, CONF_PROGRAM_KEY, &n);
    buf_printf(&dir, "%s/programs", data);
    p->dir = mem_str(buf_span(&dir));
    p->log = log;
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

/* ---- the crawl ---- */

static void say(const struct programs *p, const struct one *o, const char *trouble)
{
    log_write(p->log, LOG_WARN, "program", "not run program=%s serial=%llu why=\"%s\"", o->name,
              (unsigned long long)o->newest, trouble);
}

/* A version that failed is not given again: the one before it is, alone. */
static status give(struct programs *p, struct one *o)
{
    struct buf newest = {0}, before = {0};
    struct program n, b;
    o->trouble = NULL;
    if (!p->crawl || !o->newest)
        return ST_OK;
    status st = read_file(p, o, NEWEST, &newest, &n);
    bool has_before = o->before && read_file(p, o, BEFORE, &before, &b) == ST_OK;
    if (st == ST_OK && o->failed == n.serial) {
        st = has_before ? crawl_program_set(p->crawl, &b, NULL) : ST_OK;
        if (!has_before)
            o->trouble = "it failed, and there is none before it";
    } else if (st == ST_OK) {
        st = crawl_program_set(p->crawl, &n, has_before ? &b : NULL);
    }
    if (st == ST_NOT_FOUND)
        o->trouble = "orb-worker is not there: it belongs beside orb-agent or in libexec";
    else if (st == ST_REFUSED)
        o->trouble = "its key is not one of the owner's any more";
    else if (st != ST_OK && st != ST_EXISTS)
        o->trouble = "its file cannot be read";
    if (o->trouble)
        say(p, o, o->trouble);
    buf_done(&newest);
    buf_done(&before);
    return st == ST_IO || st == ST_FULL ? st : ST_OK;
}

status programs_attach(struct programs *p, struct crawl *cr)
{
    status st = ST_OK;
    p->crawl = cr;
    for (size_t i = 0; st == ST_OK && i < p->count; i++)
        st = give(p, &p->items[i]);
    return st;
}

void programs_detach(struct programs *p)
{
    p->crawl = NULL;
}

status programs_look(struct programs *p)
{
    struct program_state states[PROGRAMS_MAX];
    size_t n = p->crawl && p->count ? crawl_programs(p->crawl, states, PROGRAMS_MAX) : 0;
    status st = ST_OK;
    for (size_t i = 0; st == ST_OK && i < n; i++) {
        struct one *o = find(p, span_str(states[i].name));
        if (!o)
            continue;
        o->now = states[i];
        if (states[i].failed_serial != o->newest || o->failed == o->newest)
            continue;
        /* On one shard so far: the others need not find out by themselves. */
        o->failed = o->newest;
        crawl_program_drop(p->crawl, span_str(o->name), o->newest);
        st = write_serials(p, o);
    }
    return st;
}

/* ---- orders ---- */

/* The one that is here goes behind the new one, unless it is no good. In this order a kill loses neither. */
static status keep(struct programs *p, struct one *o, uint64_t serial, struct span file)
{
    struct buf path = {0}, old = {0};
    struct program had;
    status st = ST_OK;
    if (o->newest && o->newest != serial && o->failed != o->newest && read_file(p, o, NEWEST, &old, &had) == ST_OK) {
        st = file_replace(path_of(p, o->name, BEFORE, &path), buf_span(&old));
        if (st == ST_OK)
            o->before = o->newest;
    }
    if (serial > o->highest)
        o->highest = serial;
    if (st == ST_OK)
        st = write_serials(p, o);
    if (st == ST_OK)
        st = file_replace(path_of(p, o->name, NEWEST, &path), file);
    if (st == ST_OK) {
        o->newest = serial;
        st = give(p, o);
    }
    buf_done(&path);
    buf_done(&old);
    return st;
}

/* Its serial stays known: what was dropped does not come back by an older order. */
static status drop(struct programs *p, struct one *o, uint64_t serial)
{
    struct buf path = {0}, before = {0};
    struct program had;
    status st = ST_OK;
    if (serial == o->newest) {
        bool has_before = o->before && read_file(p, o, BEFORE, &before, &had) == ST_OK;
        if (has_before)
            st = file_replace(path_of(p, o->name, NEWEST, &path), buf_span(&before));
        else
            unlink(path_of(p, o->name, NEWEST, &path));
        o->newest = has_before ? o->before : 0;
        o->before = 0;
        unlink(path_of(p, o->name, BEFORE, &path));
    } else if (serial == o->before) {
        unlink(path_of(p, o->name, BEFORE, &path));
        o->before = 0;
    }
    if (p->crawl)
        crawl_program_drop(p->crawl, span_str(o->name), serial);
    buf_done(&path);
    buf_done(&before);
    return st;
}

status programs_order(struct programs *p, const struct program_order *order, struct buf *why)
{
    struct program program;
    if (!program_name_is_good(order->name)) {
        buf_puts(why, "not a program's name");
        return ST_INVALID;
    }
    struct one *o = find(p, order->name);
    if (order->is_removed)
        return o ? drop(p, o, order->serial) : ST_OK;
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
    if (o && program.serial < o->highest) {
        buf_printf(why, "serial %llu was here already", (unsigned long long)o->highest);
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
    for (size_t i = 0; i < p->count; i++) {
        const struct one *o = &p->items[i];
        if (!o->newest)
            continue;
        bool is_fallback = o->failed == o->newest;
        struct span error = span_str(o->trouble ? o->trouble : o->now.last_error);
        out[(*count)++] = (struct program_report){.name = arena_copy(a, span_str(o->name)),
                                                  .serial = is_fallback ? o->before : o->newest,
                                                  .pages = o->now.pages,
                                                  .errors = o->now.errors,
                                                  .is_fallback = is_fallback,
                                                  .last_error = arena_copy(a, error)};
    }
    return out;
}
