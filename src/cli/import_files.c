#include "cli/import_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "cli/command.h"
#include "cli/format.h"
#include "codec/zip_files.h"
#include "io/clock.h"

#define PIECE (256u << 10)
#define FOLDER_DEPTH_MAX 16
#define SHOW_MS 200

/* ---- which ---- */

static bool is_archive_name(struct span name)
{
    static const struct span ends[] = {SPAN_INIT(".warc"),         SPAN_INIT(".warc.gz"), SPAN_INIT(".warc.zst"),
                                       SPAN_INIT(".arc"),          SPAN_INIT(".arc.gz"),  SPAN_INIT(".warc.gz.open"),
                                       SPAN_INIT(".warc.zst.open")};
    for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
        if (span_ends(name, ends[i]))
            return true;
    return false;
}

static int add(const char *command, const struct import_file *f, struct import_files *out)
{
    if (out->n == IMPORT_FILES_MAX)
        return complain(EXIT_INPUT, "%s: more than %d files: give fewer at a time", command, IMPORT_FILES_MAX);
    out->list = mem_grow(out->list, &out->cap, out->n + 1, sizeof(*out->list));
    out->list[out->n] = *f;
    out->list[out->n++].name = arena_copy(&out->arena, span_str(f->name)).p;
    out->bytes += f->wrong ? 0 : f->bytes; /* that will be read */
    return EXIT_DONE;
}

/* ---- in zip files ---- */

struct zip {
    const char *command;
    const struct import_file *file; /* as a whole */
    struct import_files *out;
    size_t found;
    int code; /* of what could not be added */
};

static status take_first(void *arg, struct span piece)
{
    buf_put(arg, piece);
    return ST_OK;
}

static bool is_zip(const struct import_file *f)
{
    struct buf first = {0};
    bool is = import_file_read(f, 0, 4, NULL, take_first, &first) == ST_OK && span_is(buf_span(&first), "PK\3\4");
    buf_done(&first);
    return is;
}

static status read_zip(void *self, uint64_t at, size_t n, struct buf *out)
{
    return import_file_read(((const struct zip *)self)->file, at, n, NULL, take_first, out);
}

static status take_zipped(void *arg, const struct zip_file *f)
{
    struct zip *z = arg;
    struct import_file part = *z->file;
    struct buf name = {0};
    if (!is_archive_name(f->name))
        return ST_OK;
    buf_printf(&name, "%s/", z->file->name);
    log_escape(&name, f->name, f->name.n);
    part.name = buf_cstr(&name);
    part.first = f->at;
    part.bytes = f->bytes;
    part.wrong = f->is_stored ? NULL : "compressed once more by the zip file: unpack that, and give what was in it";
    z->found++;
    z->code = add(z->command, &part, z->out);
    buf_done(&name);
    return z->code == EXIT_DONE ? ST_OK : ST_REFUSED;
}

/* One that cannot be read is told of when its turn comes, like other files that are no archives. */
static int add_zip(const char *command, const struct import_file *f, struct import_files *out)
{
    struct zip z = {.command = command, .file = f, .out = out};
    struct import_file bad = *f;
    status st = zip_files_each(f->bytes, read_zip, &z, take_zipped, &z);
    if (z.code != EXIT_DONE)
        return z.code;
    if (st == ST_IO)
        return complain(EXIT_IO, "%s: read %s: %s", command, f->name, strerror(errno));
    if (st == ST_OK && z.found)
        return EXIT_DONE;
    bad.wrong = st == ST_OK ? "a zip file without archives: WACZ have .warc.gz files in them"
                            : "a zip file that was cut or is damaged: get it again";
    return add(command, &bad, out);
}

static int add_whole(const char *command, const struct import_file *f, struct import_files *out)
{
    return is_zip(f) ? add_zip(command, f, out) : add(command, f, out);
}

/* ---- in folders and pipes ---- */

static int add_path(const char *command, const char *path, unsigned depth, struct import_files *out);

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* A link to a folder is not followed, unless it was named: it may lead back here. */
static bool is_wanted(const char *path, const char *name, unsigned depth)
{
    struct stat s, target;
    if (lstat(path, &s) != 0)
        return false;
    if (S_ISDIR(s.st_mode))
        return name[0] != '.' && depth < FOLDER_DEPTH_MAX;
    if (S_ISLNK(s.st_mode) && stat(path, &target) == 0 && S_ISDIR(target.st_mode))
        return false;
    return is_archive_name(span_str(name)) || span_ends(span_str(name), SPAN(".wacz"));
}

static int add_folder(const char *command, const char *dir, unsigned depth, struct import_files *out)
{
    struct dirent **names = NULL;
    struct buf path = {0};
    int n = scandir(dir, &names, NULL, by_name), code = EXIT_DONE;
    if (n < 0)
        return complain(EXIT_IO, "%s: read folder %s: %s: check its permissions", command, dir, strerror(errno));
    for (int i = 0; i < n; i++) {
        const char *name = names[i]->d_name;
        buf_clear(&path);
        buf_printf(&path, "%s/%s", dir, name);
        if (code == EXIT_DONE && is_wanted(buf_cstr(&path), name, depth))
            code = add_path(command, buf_cstr(&path), depth + 1, out);
        free(names[i]);
    }
    free(names);
    buf_done(&path);
    return code;
}

static bool write_all(int fd, const char *p, size_t n)
{
    while (n) {
        ssize_t done = write(fd, p, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return false;
        p += done;
        n -= (size_t)done;
    }
    return true;
}

static bool copy_all(int from, int to, uint64_t *bytes)
{
    char *room = mem_alloc(PIECE);
    bool ok = true;
    for (ssize_t n; ok && (n = read(from, room, PIECE)) != 0;) {
        if (n < 0 && errno == EINTR)
            continue;
        ok = n > 0 && write_all(to, room, (size_t)n);
        *bytes += n > 0 ? (uint64_t)n : 0;
    }
    free(room);
    return ok;
}

/* Files are read twice, so what comes through a pipe is kept until the end, in a file that has no name. */
static int add_pipe(const char *command, const char *name, int from, struct import_files *out)
{
    const char *dir = getenv("TMPDIR");
    struct buf path = {0};
    uint64_t bytes = 0;
    buf_printf(&path, "%s/orb-import-XXXXXX", dir && *dir ? dir : "/var/tmp");
    (void)buf_cstr(&path);
    int fd = mkostemp(path.p, O_CLOEXEC), code;
    if (fd >= 0) {
        (void)unlink(path.p);
        out->spools = mem_grow(out->spools, &out->spool_cap, out->spool_count + 1, sizeof(*out->spools));
        out->spools[out->spool_count++] = fd;
    }
    if (fd >= 0 && copy_all(from, fd, &bytes)) {
        code = add_whole(command, &(struct import_file){.name = name, .spool = fd, .bytes = bytes}, out);
    } else {
        code = complain(EXIT_IO, "%s: keep %s in %s: %s: name a folder with space in TMPDIR", command, name, path.p,
                        strerror(errno));
    }
    buf_done(&path);
    return code;
}

static int add_path(const char *command, const char *path, unsigned depth, struct import_files *out)
{
    struct stat s;
    if (stat(path, &s) != 0)
        return complain(EXIT_IO, "%s: open %s: %s: check the path", command, path, strerror(errno));
    if (S_ISDIR(s.st_mode))
        return add_folder(command, path, depth, out);
    int fd = open(path, O_RDONLY | O_CLOEXEC), code;
    if (fd < 0)
        return complain(EXIT_IO, "%s: open %s: %s: check its permissions", command, path, strerror(errno));
    if (S_ISREG(s.st_mode)) {
        const char *kept = arena_copy(&out->arena, span_str(path)).p;
        code = add_whole(
            command, &(struct import_file){.name = kept, .path = kept, .spool = -1, .bytes = (uint64_t)s.st_size}, out);
    } else {
        code = add_pipe(command, path, fd, out);
    }
    close(fd);
    return code;
}

int import_files_gather(const char *command, const struct span *args, size_t count, struct import_files *out)
{
    int code = EXIT_DONE;
    arena_init(&out->arena);
    for (size_t i = 0; code == EXIT_DONE && i < count; i++)
        code = span_is(args[i], "-") ? add_pipe(command, "standard input", STDIN_FILENO, out)
                                     : add_path(command, args[i].p, 0, out);
    if (code == EXIT_DONE && !out->n)
        code = complain(EXIT_INPUT,
                        "%s: no archive in what was given: files end in .warc, .warc.gz, .warc.zst, .arc, "
                        ".arc.gz or .wacz, or are named one by one",
                        command);
    return code;
}

void import_files_done(struct import_files *f)
{
    for (size_t i = 0; i < f->spool_count; i++)
        close(f->spools[i]);
    free(f->spools);
    free(f->list);
    arena_done(&f->arena);
}

/* ---- reading ---- */

void import_meter_show(struct import_meter *m)
{
    mono_ms now = clock_mono();
    if (!m->is_on || now - m->last < SHOW_MS)
        return;
    struct buf line = {0};
    m->last = now;
    m->is_up = true;
    buf_printf(&line, "\r\033[K%s ", m->doing);
    if (m->all)
        buf_printf(&line, "%.0f %%, ", 100.0 * (double)m->done / (double)m->all);
    put_bytes(&line, m->done);
    if (m->pages) {
        buf_puts(&line, ", ");
        put_count(&line, m->pages);
        buf_puts(&line, " answers");
    }
    fwrite(line.p, 1, line.n, stderr);
    fflush(stderr);
    buf_done(&line);
}

void import_meter_clear(struct import_meter *m)
{
    if (m->is_up)
        fputs("\r\033[K", stderr);
    m->is_up = false;
}

status import_file_read(const struct import_file *f, uint64_t from, uint64_t most, struct import_meter *meter,
                        import_take_fn *take, void *arg)
{
    uint64_t left = from < f->bytes ? f->bytes - from : 0;
    if (f->wrong)
        return ST_INVALID;
    most = most < left ? most : left;
    int fd = f->spool >= 0 ? f->spool : open(f->path, O_RDONLY | O_CLOEXEC);
    char *room = mem_alloc(most < PIECE ? (size_t)most + 1 : PIECE); /* often it is a few bytes of a zip file */
    status st = fd < 0 ? ST_IO : ST_OK;
    from += f->first;
    while (st == ST_OK && most) {
        ssize_t n = pread(fd, room, most < PIECE ? (size_t)most : PIECE, (off_t)from);
        if (n == 0)
            break;
        if (n < 0 && errno == EINTR)
            continue;
        st = n < 0 ? ST_IO : take(arg, span_of(room, (size_t)n));
        if (n < 0)
            break;
        most -= (uint64_t)n;
        from += (uint64_t)n;
        if (meter) {
            meter->done += (uint64_t)n;
            import_meter_show(meter);
        }
    }
    int saved = errno;
    if (fd >= 0 && f->spool < 0)
        close(fd);
    free(room);
    errno = saved;
    return st;
}

int import_file_complain(const char *command, const struct import_file *f)
{
    return complain(EXIT_INPUT, "%s: %s: %s", command, f->name,
                    f->wrong ? f->wrong : "no archive: WARC, ARC and WACZ files are read, plain, gzip or zstd");
}
