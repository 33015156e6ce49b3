#include "store/warc_purge.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/file.h"
#include "store/warc_folder.h"

#define HEAD_MAX (64u << 10) /* of a record, looked at for its address */
#define NEW ".new"

struct warc_name {
    char *name; /* owned */
    member_kind kind;
    uint64_t bytes;
    wall_ms at; /* last written */
};

struct folder {
    const char *dir;
    struct warc_name *files; /* owned; by name, which is by age */
    size_t count, cap;
    int lock;
};

/* ---- the files ---- */

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct warc_name *)a)->name, ((const struct warc_name *)b)->name);
}

static void note_file(struct folder *f, const char *name)
{
    struct buf path = {0};
    struct stat sb;
    member_kind kind;
    bool is_open;
    if (warc_parse_name(span_str(name), &kind, &is_open) && !is_open &&
        stat(warc_path(f->dir, &path, span_str(name), ""), &sb) == 0) {
        f->files = mem_grow(f->files, &f->cap, f->count + 1, sizeof(*f->files));
        f->files[f->count++] =
            (struct warc_name){mem_str(span_str(name)), kind, (uint64_t)sb.st_size, (wall_ms)sb.st_mtim.tv_sec * 1000};
    }
    buf_done(&path);
}

/* Takes the folder's lock, closes what a killed run left open, and lists what is closed. */
static status folder_open(struct folder *f, const char *dir)
{
    struct buf path = {0}, tag = {0};
    *f = (struct folder){.dir = dir, .lock = -1};
    status st = access(dir, F_OK) == 0 ? ST_OK : ST_NOT_FOUND;
    if (st == ST_OK)
        st = file_lock(warc_path(dir, &path, SPAN("lock"), ""), &f->lock, NULL);
    bool is_marked = access(warc_path(dir, &path, SPAN("mark"), ""), F_OK) == 0;
    if (st == ST_OK)
        st = warc_folder_settle(dir, is_marked, &tag);
    DIR *d = st == ST_OK ? opendir(dir) : NULL;
    if (st == ST_OK && !d)
        st = ST_IO;
    for (struct dirent *e; d && (e = readdir(d));)
        note_file(f, e->d_name);
    if (d)
        closedir(d);
    if (f->count)
        qsort(f->files, f->count, sizeof(*f->files), by_name);
    buf_done(&path);
    buf_done(&tag);
    return st;
}

static void folder_close(struct folder *f)
{
    for (size_t i = 0; i < f->count; i++)
        free(f->files[i].name);
    free(f->files);
    if (f->lock >= 0)
        close(f->lock);
}

static void note_name(struct warc_purged *out, const struct warc_name *n, uint64_t bytes)
{
    out->files++;
    out->bytes += bytes;
    buf_puts(&out->names, n->name);
    buf_putc(&out->names, '\n');
}

/* ---- records ---- */

/* The value of WARC-Target-URI; empty: there is none. */
static struct span target_of(struct span head)
{
    static const struct span name = SPAN_INIT("WARC-Target-URI:");
    struct span line;
    while (span_split(&head, '\n', &line)) {
        line = span_trim(line);
        if (!line.n)
            break;
        if (!span_starts_nocase(line, name))
            continue;
        struct span url = span_trim(span_from(line, name.n));
        if (url.n > 2 && url.p[0] == '<' && url.p[url.n - 1] == '>') /* as WARC 1.0 wants it */
            url = span_cut(url, 1, url.n - 2);
        return url;
    }
    return (struct span){0};
}

struct purge {
    warc_purge_fn *fn;
    void *arg;
    int to; /* -1: nothing is written */
    uint64_t gone, gone_bytes;
};

/* One after the other; what stays is copied as it is. */
static status walk(struct purge *p, member_kind kind, struct span file)
{
    struct buf head = {0};
    status st = ST_OK;
    while (st == ST_OK && file.n) {
        size_t bytes = 0;
        buf_clear(&head);
        st = member_look(kind, file, HEAD_MAX, &head, &bytes);
        if (st != ST_OK)
            break;
        struct span url = target_of(buf_span(&head));
        if (url.n && p->fn(p->arg, url)) {
            p->gone++;
            p->gone_bytes += bytes;
        } else if (p->to >= 0) {
            st = file_write_all(p->to, span_cut(file, 0, bytes));
        }
        file = span_from(file, bytes);
    }
    buf_done(&head);
    return st;
}

/* The new file is as old as the one it replaces: warc_expire goes by that. One that cannot be told so is kept longer.
 */
static void keep_time(int fd, const char *of)
{
    struct stat sb;
    if (stat(of, &sb) == 0)
        (void)!futimens(fd, (struct timespec[]){sb.st_atim, sb.st_mtim});
}

static status write_anew(const char *dir, const struct warc_name *n, struct purge *p, struct span file)
{
    struct buf path = {0}, fresh = {0};
    warc_path(dir, &path, span_str(n->name), "");
    warc_path(dir, &fresh, span_str(n->name), NEW);
    p->gone = p->gone_bytes = 0;
    p->to = open(fresh.p, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    status st = p->to >= 0 ? walk(p, n->kind, file) : ST_IO;
    if (st == ST_OK) {
        keep_time(p->to, path.p);
        st = file_sync(p->to);
    }
    if (p->to >= 0)
        close(p->to);
    p->to = -1;
    if (st == ST_OK && rename(fresh.p, path.p) != 0)
        st = ST_IO;
    int saved = errno;
    if (st != ST_OK)
        (void)unlink(fresh.p);
    else
        (void)unlink(warc_notes_path(dir, &path, span_str(n->name)));
    buf_done(&path);
    buf_done(&fresh);
    errno = saved;
    return st == ST_OK ? file_sync_dir(dir) : st;
}

static status purge_file(const char *dir, const struct warc_name *n, bool is_dry, struct purge *p,
                         struct warc_purged *out)
{
    struct buf path = {0};
    struct mapped *m = NULL;
    if (!n->bytes)
        return ST_OK;
    status st = mapped_open(warc_path(dir, &path, span_str(n->name), ""), &m);
    p->gone = p->gone_bytes = 0;
    if (st == ST_OK)
        st = walk(p, n->kind, mapped_span(m));
    if (st == ST_OK && p->gone) {
        note_name(out, n, p->gone_bytes);
        out->records += p->gone;
        if (!is_dry)
            st = write_anew(dir, n, p, mapped_span(m));
    }
    mapped_free(m);
    buf_done(&path);
    return st;
}

status warc_purge(const char *dir, bool is_dry, warc_purge_fn *fn, void *arg, struct warc_purged *out, struct buf *why)
{
    struct folder f;
    struct purge p = {.fn = fn, .arg = arg, .to = -1};
    *out = (struct warc_purged){0};
    status st = folder_open(&f, dir);
    for (size_t i = 0; st == ST_OK && i < f.count; i++) {
        st = purge_file(dir, &f.files[i], is_dry, &p, out);
        if (st == ST_CORRUPT && why)
            buf_printf(why, "%s is damaged", f.files[i].name);
    }
    folder_close(&f);
    return st;
}

status warc_expire(const char *dir, bool is_dry, uint64_t bytes_max, wall_ms before, struct warc_purged *out)
{
    struct folder f;
    struct buf path = {0};
    uint64_t all = 0;
    *out = (struct warc_purged){0};
    status st = folder_open(&f, dir);
    for (size_t i = 0; i < f.count; i++)
        all += f.files[i].bytes;
    for (size_t i = 0; st == ST_OK && i < f.count; i++) {
        const struct warc_name *n = &f.files[i];
        if ((!bytes_max || all <= bytes_max) && n->at >= before)
            continue;
        all -= n->bytes;
        note_name(out, n, n->bytes);
        if (is_dry)
            continue;
        if (unlink(warc_path(dir, &path, span_str(n->name), "")) != 0)
            st = ST_IO;
        else
            (void)unlink(warc_notes_path(dir, &path, span_str(n->name)));
    }
    folder_close(&f);
    buf_done(&path);
    return st;
}

/* ---- lists ---- */

#define LISTED "opt-out"
#define WORD_MAX 200

bool warc_listed_is(const char *dir, struct span word)
{
    struct buf path = {0}, text = {0};
    bool is = file_read(warc_path(dir, &path, SPAN(LISTED), ""), WORD_MAX, &text) == ST_OK &&
              span_eq(span_trim(buf_span(&text)), word);
    buf_done(&path);
    buf_done(&text);
    return is;
}

status warc_listed_put(const char *dir, struct span word)
{
    struct buf path = {0}, text = {0};
    status st = ST_OK;
    buf_printf(&text, "%.*s\n", SPAN_ARG(word));
    warc_path(dir, &path, SPAN(LISTED), "");
    if (word.n)
        st = file_replace(path.p, buf_span(&text));
    else if (unlink(path.p) != 0 && errno != ENOENT && errno != ENOTDIR)
        st = ST_IO;
    buf_done(&path);
    buf_done(&text);
    return st;
}
