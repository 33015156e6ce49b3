#include "store/backup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "codec/digest.h"
#include "codec/tar.h"
#include "codec/unzip.h"
#include "codec/zip_stream.h"
#include "store/file.h"
#include "store/snapshot.h"

#define INFO_NAME "orb-backup.json"
#define SUMS_NAME "orb-backup.sums"
#define PARTIAL ".partial"
#define RESTORING ".restoring"
#define DATABASE "orb.db"
#define PIECE (256u << 10)
#define ZIP_LEVEL 3
#define ALL_BYTES_MAX (UINT64_C(1) << 50)

void backup_report_done(struct backup_report *r)
{
    buf_done(&r->info);
    buf_done(&r->problem);
}

static void put_sum(struct buf *sums, const struct sha256_sum *d, struct span name)
{
    for (size_t i = 0; i < sizeof(d->b); i++)
        buf_printf(sums, "%02x", d->b[i]);
    buf_printf(sums, "  %.*s\n", SPAN_ARG(name));
}

/* ---- which files ---- */

struct names {
    char **list; /* owned */
    size_t count, cap;
    uint64_t bytes;
};

static status gather(struct names *n, const char *dir, const char *sub)
{
    struct buf path = {0}, name = {0};
    status st = ST_OK;
    buf_printf(&path, "%s/%s", dir, sub);
    DIR *d = opendir(buf_cstr(&path));
    if (!d)
        st = ST_IO;
    for (struct dirent *e; st == ST_OK && (e = readdir(d));) {
        struct stat sb;
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
            continue;
        buf_clear(&name);
        buf_printf(&name, "%s%s%s", sub, sub[0] ? "/" : "", e->d_name);
        if (fstatat(dirfd(d), e->d_name, &sb, AT_SYMLINK_NOFOLLOW) != 0)
            st = ST_IO;
        else if (S_ISDIR(sb.st_mode))
            st = gather(n, dir, buf_cstr(&name));
        else if (S_ISREG(sb.st_mode) && n->count == BACKUP_FILES_MAX)
            st = ST_LIMIT;
        else if (S_ISREG(sb.st_mode)) {
            n->list = mem_grow(n->list, &n->cap, n->count + 1, sizeof(*n->list));
            n->list[n->count++] = mem_str(buf_span(&name));
            n->bytes += (uint64_t)sb.st_size;
        }
    }
    if (d)
        closedir(d);
    buf_done(&path);
    buf_done(&name);
    return st;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void names_done(struct names *n)
{
    for (size_t i = 0; i < n->count; i++)
        free(n->list[i]);
    free(n->list);
}

/* ---- writing ---- */

struct writing {
    const char *dir;
    int fd;
    bool is_stream; /* a pipe or a device */
    struct zip_stream *zip;
    struct sha256 *hash;
    struct buf out, plain, sums;
    struct backup_report *r;
    backup_progress_fn *progress;
    void *arg;
    uint64_t all;
};

static status put(struct writing *w, struct span plain)
{
    zip_stream_put(w->zip, plain, &w->out);
    status st = ST_OK;
    if (w->out.n >= PIECE) {
        st = file_write_all(w->fd, buf_span(&w->out));
        w->r->file_bytes += w->out.n;
        buf_clear(&w->out);
    }
    return st;
}

static status put_text(struct writing *w, const char *name, struct span text)
{
    struct tar_entry e = {.name = span_str(name), .bytes = text.n, .mode = 0600};
    buf_clear(&w->plain);
    status st = tar_put_head(&w->plain, &e);
    buf_put(&w->plain, text);
    tar_put_padding(&w->plain, text.n);
    return st == ST_OK ? put(w, buf_span(&w->plain)) : st;
}

/* Just as many bytes as the header says: a journal may grow meanwhile, or be cut after a failed write. */
static status put_bytes(struct writing *w, int fd, uint64_t left)
{
    status st = ST_OK;
    char *piece = mem_alloc(PIECE);
    while (st == ST_OK && left) {
        size_t want = left < PIECE ? (size_t)left : PIECE;
        ssize_t n = read(fd, piece, want);
        if (n < 0) {
            st = ST_IO;
            break;
        }
        if (n == 0) {
            memset(piece, 0, want);
            n = (ssize_t)want;
        }
        sha256_put(w->hash, span_of(piece, (size_t)n));
        st = put(w, span_of(piece, (size_t)n));
        left -= (uint64_t)n;
        w->r->bytes += (uint64_t)n;
        if (w->progress)
            w->progress(w->arg, w->r->bytes, w->all);
    }
    free(piece);
    return st;
}

static status put_file(struct writing *w, const char *name)
{
    struct buf path = {0};
    struct stat sb;
    buf_printf(&path, "%s/%s", w->dir, name);
    int fd = open(buf_cstr(&path), O_RDONLY | O_CLOEXEC);
    status st = fd >= 0 && fstat(fd, &sb) == 0 ? ST_OK : ST_IO;
    if (st == ST_OK) {
        struct tar_entry e = {.name = span_str(name),
                              .bytes = (uint64_t)sb.st_size,
                              .at = (wall_ms)sb.st_mtim.tv_sec * 1000,
                              .mode = sb.st_mode & 0777};
        buf_clear(&w->plain);
        st = tar_put_head(&w->plain, &e);
        if (st == ST_OK)
            st = put(w, buf_span(&w->plain));
        if (st == ST_OK)
            st = put_bytes(w, fd, e.bytes);
        buf_clear(&w->plain);
        tar_put_padding(&w->plain, e.bytes);
        if (st == ST_OK)
            st = put(w, buf_span(&w->plain));
        struct sha256_sum d = sha256_end(w->hash);
        put_sum(&w->sums, &d, e.name);
        w->r->files++;
    }
    int saved = errno;
    if (fd >= 0)
        close(fd);
    buf_done(&path);
    errno = saved;
    return st;
}

static status write_archive(struct writing *w, struct span info)
{
    struct names names = {0};
    status st = gather(&names, w->dir, "");
    if (names.count)
        qsort(names.list, names.count, sizeof(*names.list), by_name);
    w->all = names.bytes;
    if (st == ST_OK)
        st = put_text(w, INFO_NAME, info);
    for (size_t i = 0; st == ST_OK && i < names.count; i++)
        st = put_file(w, names.list[i]);
    if (st == ST_OK)
        st = put_text(w, SUMS_NAME, buf_span(&w->sums));
    if (st == ST_OK) {
        buf_clear(&w->plain);
        tar_put_end(&w->plain);
        st = put(w, buf_span(&w->plain));
    }
    if (st == ST_OK) {
        zip_stream_end(w->zip, &w->out);
        st = file_write_all(w->fd, buf_span(&w->out));
        w->r->file_bytes += w->out.n;
    }
    names_done(&names);
    return st == ST_OK && !w->is_stream ? file_sync(w->fd) : st;
}

static status sync_parent(const char *path)
{
    struct span p = span_str(path);
    size_t n = p.n;
    while (n && path[n - 1] != '/')
        n--;
    char *dir = n ? mem_str(span_cut(p, 0, n)) : mem_str(SPAN("."));
    status st = file_sync_dir(dir);
    free(dir);
    return st;
}

/* Standard output, a pipe or a device: it is written to, and keeps its name. */
static bool is_stream(const char *path)
{
    struct stat sb;
    return strcmp(path, BACKUP_STDOUT) == 0 || (stat(path, &sb) == 0 && !S_ISREG(sb.st_mode) && !S_ISDIR(sb.st_mode));
}

static status write_stream(struct writing *w, struct span info, const char *path)
{
    bool is_stdout = strcmp(path, BACKUP_STDOUT) == 0;
    w->fd = is_stdout ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0) : open(path, O_WRONLY | O_CLOEXEC);
    return w->fd >= 0 ? write_archive(w, info) : ST_IO;
}

static status write_file(struct writing *w, struct span info, const char *path)
{
    struct buf partial = {0};
    buf_printf(&partial, "%s" PARTIAL, path);
    (void)unlink(buf_cstr(&partial)); /* of a run that was killed */
    w->fd = open(partial.p, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    status st = w->fd >= 0 ? write_archive(w, info) : ST_IO;
    if (st == ST_OK && rename(partial.p, path) != 0)
        st = ST_IO;
    int saved = errno;
    if (st != ST_OK && w->fd >= 0)
        (void)unlink(partial.p);
    buf_done(&partial);
    errno = saved;
    return st == ST_OK ? sync_parent(path) : st;
}

status backup_write(const char *dir, struct span info, const char *path, backup_progress_fn *progress, void *arg,
                    struct backup_report *out)
{
    *out = (struct backup_report){0};
    struct writing w = {.dir = dir,
                        .fd = -1,
                        .is_stream = is_stream(path),
                        .zip = zip_stream_new(ZIP_LEVEL),
                        .hash = sha256_new(),
                        .r = out,
                        .progress = progress,
                        .arg = arg};
    status st = w.is_stream ? write_stream(&w, info, path) : write_file(&w, info, path);
    int saved = errno;
    if (w.fd >= 0)
        close(w.fd);
    if (st == ST_OK)
        buf_put(&out->info, info);
    zip_stream_free(w.zip);
    sha256_free(w.hash);
    buf_done(&w.out);
    buf_done(&w.plain);
    buf_done(&w.sums);
    errno = saved;
    return st;
}

/* ---- reading ---- */

enum { SEES_FILE, SEES_INFO, SEES_SUMS };

struct reading {
    struct backup_report *r;
    const char *to; /* NULL: nothing is written */
    int fd;
    struct tar_reader *tar;
    struct sha256 *hash;
    status failure; /* of the tar reader, or of what it told */
    int sees;
    wall_ms at;                 /* of the file that is written */
    struct buf sums, told_sums; /* made of what came; read from the archive */
    struct buf name, last, path;
    bool has_info, has_sums;
};

static status bad(struct reading *g, status st, const char *what)
{
    if (!g->r->problem.n)
        buf_puts(&g->r->problem, what);
    return st;
}

static status make_file(struct reading *g, struct span name, unsigned mode)
{
    buf_clear(&g->path);
    buf_printf(&g->path, "%s/%.*s", g->to, SPAN_ARG(name));
    (void)buf_cstr(&g->path);
    size_t slash = g->path.n;
    while (g->path.p[slash - 1] != '/')
        slash--;
    g->path.p[slash - 1] = 0;
    status st = file_mkdir(g->path.p);
    g->path.p[slash - 1] = '/';
    if (st != ST_OK)
        return st;
    g->fd = open(g->path.p, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, (mode & 0777) | 0600);
    return g->fd >= 0 ? ST_OK : ST_IO;
}

static status on_entry(void *self, const struct tar_entry *e)
{
    struct reading *g = self;
    if (g->has_sums)
        return bad(g, ST_CORRUPT, "something follows its checksums");
    if (e->is_folder)
        return bad(g, ST_UNSUPPORTED, "it has a folder of its own: not made by orb backup");
    bool is_first = !g->has_info;
    g->sees = span_is(e->name, INFO_NAME) ? SEES_INFO : span_is(e->name, SUMS_NAME) ? SEES_SUMS : SEES_FILE;
    if ((g->sees == SEES_INFO) != is_first)
        return bad(g, ST_CORRUPT, "it does not begin with " INFO_NAME ": not made by orb backup");
    if ((g->sees == SEES_INFO && e->bytes > BACKUP_INFO_MAX) || (g->sees == SEES_SUMS && e->bytes > BACKUP_SUMS_MAX))
        return bad(g, ST_LIMIT, "what it says of itself is too long");
    g->has_info = true;
    buf_clear(&g->name);
    buf_put(&g->name, e->name);
    if (g->sees != SEES_FILE)
        return ST_OK;
    if (g->r->files && span_cmp(buf_span(&g->last), e->name) >= 0)
        return bad(g, ST_CORRUPT, "its files are not in order");
    if (g->r->files == BACKUP_FILES_MAX)
        return bad(g, ST_LIMIT, "it has too many files");
    buf_clear(&g->last);
    buf_put(&g->last, e->name);
    g->r->files++;
    g->at = e->at;
    return g->to ? make_file(g, e->name, e->mode) : ST_OK;
}

static status on_bytes(void *self, struct span piece)
{
    struct reading *g = self;
    if (g->sees == SEES_INFO)
        buf_put(&g->r->info, piece);
    else if (g->sees == SEES_SUMS)
        buf_put(&g->told_sums, piece);
    else
        sha256_put(g->hash, piece);
    if (g->sees != SEES_FILE)
        return ST_OK;
    g->r->bytes += piece.n;
    return g->fd >= 0 ? file_write_all(g->fd, piece) : ST_OK;
}

static status on_end(void *self)
{
    struct reading *g = self;
    status st = ST_OK;
    g->has_sums = g->sees == SEES_SUMS;
    if (g->sees == SEES_FILE) {
        struct sha256_sum d = sha256_end(g->hash);
        put_sum(&g->sums, &d, buf_span(&g->name));
        if (g->sums.n > BACKUP_SUMS_MAX)
            return bad(g, ST_LIMIT, "it has too many files");
    }
    if (g->fd >= 0) {
        /* How long WARC files are kept goes by it; one that cannot have it is kept longer. */
        struct timespec at = {.tv_sec = g->at / 1000};
        (void)!futimens(g->fd, (struct timespec[]){at, at});
        st = file_sync(g->fd);
        close(g->fd);
        g->fd = -1;
    }
    return st;
}

static void take_plain(void *self, struct span piece)
{
    struct reading *g = self;
    if (g->failure == ST_OK)
        g->failure = tar_reader_feed(g->tar, piece);
}

static status read_pieces(struct reading *g, int fd, uint64_t all, backup_progress_fn *progress, void *arg)
{
    struct unzip *unzip = unzip_new(ALL_BYTES_MAX, take_plain, g);
    char *piece = mem_alloc(PIECE);
    status st = ST_OK;
    ssize_t n = 1;
    while (st == ST_OK && n > 0) {
        n = read(fd, piece, PIECE);
        if (n < 0)
            st = ST_IO;
        else
            st = n ? unzip_feed(unzip, span_of(piece, (size_t)n)) : unzip_end(unzip);
        if (n > 0)
            g->r->file_bytes += (uint64_t)n;
        if (st == ST_CORRUPT || st == ST_LIMIT)
            (void)bad(g, st, "it is damaged, cut short, or not compressed with zstd");
        if (st == ST_OK)
            st = g->failure;
        if (progress)
            progress(arg, g->r->file_bytes, all);
    }
    unzip_free(unzip);
    free(piece);
    return st;
}

/* After the last byte: was that all of it, and what it should be? */
static status judge(struct reading *g, status st)
{
    if (st == ST_OK && tar_reader_end(g->tar) != ST_OK)
        st = ST_CORRUPT;
    if (st == ST_CORRUPT && !g->has_info)
        return bad(g, st, "it is not a backup, or damaged from its beginning on");
    if (st == ST_CORRUPT && !g->has_sums)
        return bad(g, st, "it is cut short or damaged");
    if (st == ST_OK && !g->has_sums)
        st = bad(g, ST_CORRUPT, "its checksums are missing: not made by orb backup");
    if (st == ST_OK && !span_eq(buf_span(&g->sums), buf_span(&g->told_sums)))
        st = bad(g, ST_CORRUPT, "a checksum is wrong");
    if (st == ST_CORRUPT)
        return bad(g, st, "it is damaged");
    if (st == ST_INVALID)
        return bad(g, st, "a name in it leads out of the folder: not made by orb backup");
    if (st == ST_UNSUPPORTED)
        return bad(g, st, "something in it is not a file: not made by orb backup");
    if (st == ST_LIMIT)
        return bad(g, st, "a file in it is said to be longer than any can be: damaged, or not made by orb backup");
    return st;
}

static status read_archive(const char *path, const char *to, backup_progress_fn *progress, void *arg,
                           struct backup_report *out)
{
    struct reading g = {.r = out, .to = to, .fd = -1, .hash = sha256_new()};
    struct tar_events events = {on_entry, on_bytes, on_end, &g};
    struct stat sb;
    *out = (struct backup_report){0};
    g.tar = tar_reader_new(&events);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    status st = fd >= 0 && fstat(fd, &sb) == 0 ? ST_OK : errno == ENOENT ? ST_NOT_FOUND : ST_IO;
    if (st == ST_OK)
        st = judge(&g, read_pieces(&g, fd, (uint64_t)sb.st_size, progress, arg));
    int saved = errno;
    if (fd >= 0)
        close(fd);
    if (g.fd >= 0)
        close(g.fd);
    tar_reader_free(g.tar);
    sha256_free(g.hash);
    buf_done(&g.sums);
    buf_done(&g.told_sums);
    buf_done(&g.name);
    buf_done(&g.last);
    buf_done(&g.path);
    errno = saved;
    return st;
}

status backup_verify(const char *path, backup_progress_fn *progress, void *arg, struct backup_report *out)
{
    return read_archive(path, NULL, progress, arg, out);
}

/* ---- restoring ---- */

static int sync_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    return type == FTW_D && file_sync_dir(path) != ST_OK;
}

static bool is_above(struct span name)
{
    return span_is(name, ".") || span_is(name, "..");
}

/* Whether there is a folder at `dir`, with nothing in it but what a killed run left. ST_EXISTS: there is something. */
static status look_for_room(const char *dir, bool *is_there)
{
    struct stat sb;
    DIR *d = opendir(dir);
    if (!d && errno == ENOENT) /* a link to nothing is something */
        return lstat(dir, &sb) == 0 ? ST_EXISTS : ST_OK;
    if (!d)
        return errno == ENOTDIR ? ST_EXISTS : ST_IO;
    status st = ST_OK;
    for (struct dirent *e; st == ST_OK && (e = readdir(d));)
        if (!is_above(span_str(e->d_name)) && strcmp(e->d_name, RESTORING) != 0)
            st = ST_EXISTS;
    closedir(d);
    *is_there = true;
    return st;
}

static status move_one(DIR *from, int to, const char *name)
{
    return renameat(dirfd(from), name, to, name) == 0 ? ST_OK : ST_IO;
}

/* What is in `from` to `to`. The database last: without it, it is no data folder. */
static status move_all(const char *from, const char *to)
{
    DIR *d = opendir(from);
    int fd = open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    status st = d && fd >= 0 ? ST_OK : ST_IO;
    for (struct dirent *e; st == ST_OK && (e = readdir(d));)
        if (!is_above(span_str(e->d_name)) && strcmp(e->d_name, DATABASE) != 0)
            st = move_one(d, fd, e->d_name);
    if (st == ST_OK)
        st = file_sync_dir(to);
    if (st == ST_OK)
        st = move_one(d, fd, DATABASE);
    if (st == ST_OK && rmdir(from) != 0)
        st = ST_IO;
    int saved = errno;
    if (d)
        closedir(d);
    if (fd >= 0)
        close(fd);
    errno = saved;
    return st == ST_OK ? file_sync_dir(to) : st;
}

static status give_name(const char *making, const char *dir)
{
    return rename(making, dir) == 0 ? sync_parent(dir) : ST_IO;
}

/* A folder that is there stays the one it is: a shell may be in it, a link lead to it, a disk be mounted on it. */
status backup_restore(const char *path, const char *dir, backup_progress_fn *progress, void *arg,
                      struct backup_report *out)
{
    struct buf making = {0};
    struct span name = span_str(dir);
    bool is_there = false;
    *out = (struct backup_report){0};
    while (name.n > 1 && name.p[name.n - 1] == '/')
        name.n--;
    status st = look_for_room(dir, &is_there);
    if (st != ST_OK)
        return st;
    buf_printf(&making, "%.*s%s" RESTORING, SPAN_ARG(name), is_there ? "/" : "");
    snapshot_remove(buf_cstr(&making)); /* of a run that was killed */
    st = mkdir(making.p, 0700) == 0 || errno == ENOENT ? file_mkdir(making.p) : ST_IO;
    if (st == ST_OK)
        st = read_archive(path, making.p, progress, arg, out);
    if (st == ST_OK && nftw(making.p, sync_one, 16, FTW_PHYS) != 0)
        st = ST_IO;
    if (st == ST_OK)
        st = is_there ? move_all(making.p, dir) : give_name(making.p, dir);
    int saved = errno;
    if (st != ST_OK)
        snapshot_remove(making.p);
    buf_done(&making);
    errno = saved;
    return st;
}
