#include "io/registry_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "codec/unzip.h"
#include "place/registry.h"

#define PIECE (256u << 10)

struct loading {
    struct hierarchy_builder *builder; /* borrowed */
    const struct registry_watch *watch;
    struct registry_file *file;
    struct registry_reader *reader;
    status full; /* the builder takes no more */
};

static void on_range(void *self, const struct registry_record *r)
{
    struct loading *l = self;
    status st = hierarchy_builder_add(l->builder, r);
    if (st == ST_OK)
        l->file->ranges++;
    else if (l->full == ST_OK)
        l->full = st;
}

static void on_organisation(void *self, struct span id, struct span name)
{
    struct loading *l = self;
    l->file->organisations++;
    hierarchy_builder_organisation(l->builder, id, name);
}

static void on_bad(void *self, uint64_t line, const char *why)
{
    struct loading *l = self;
    l->file->bad++;
    if (l->watch->bad)
        l->watch->bad(l->watch->self, l->file, line, why);
}

static void on_plain(void *self, struct span piece)
{
    struct loading *l = self;
    registry_reader_feed(l->reader, piece);
}

static status read_all(int fd, struct loading *l, struct unzip *u)
{
    char *room = mem_alloc(PIECE);
    uint64_t done = 0;
    status st = ST_OK;
    while (st == ST_OK) {
        ssize_t n = read(fd, room, PIECE);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            st = ST_IO;
        if (n <= 0)
            break;
        done += (uint64_t)n;
        st = unzip_feed(u, span_of(room, (size_t)n));
        if (st == ST_OK)
            st = l->full;
        if (l->watch->cancel && atomic_load(l->watch->cancel))
            st = ST_CANCELLED;
        if (l->watch->progress)
            l->watch->progress(l->watch->self, l->file, done);
    }
    if (st == ST_OK)
        st = unzip_end(u);
    int saved = errno;
    free(room);
    errno = saved;
    return st;
}

status registry_file_add(struct hierarchy_builder *b, const char *path, const struct registry_watch *watch,
                         struct registry_file *out)
{
    struct stat sb = {0};
    struct loading l = {.builder = b, .watch = watch, .file = out};
    struct registry_sink sink = {on_range, on_organisation, on_bad, &l};
    *out = (struct registry_file){.path = path, .format = ""};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return ST_IO;
    if (fstat(fd, &sb) == 0 && S_ISREG(sb.st_mode))
        out->bytes = (uint64_t)sb.st_size;
    l.reader = registry_reader_new(&sink);
    struct unzip *u = unzip_new(REGISTRY_FILE_BYTES_MAX, on_plain, &l);
    status st = read_all(fd, &l, u);
    int saved = errno;
    status end = registry_reader_end(l.reader);
    if (st == ST_OK)
        st = l.full != ST_OK ? l.full : end;
    out->format = registry_reader_format(l.reader);
    memcpy(out->serial, registry_reader_serial(l.reader).p, registry_reader_serial(l.reader).n);
    unzip_free(u);
    registry_reader_free(l.reader);
    close(fd);
    errno = saved;
    return st;
}

void registry_file_origin(const struct registry_file *f, struct buf *out)
{
    const char *slash = strrchr(f->path, '/');
    buf_puts(out, "file=");
    log_escape(out, span_str(slash ? slash + 1 : f->path), 255);
    buf_printf(out, "\nformat=%s\n", f->format);
    if (f->serial[0])
        buf_printf(out, "serial=%s\n", f->serial);
    buf_printf(out, "bytes=%llu\nranges=%llu\norganisations=%llu\nbad=%llu\n", (unsigned long long)f->bytes,
               (unsigned long long)f->ranges, (unsigned long long)f->organisations, (unsigned long long)f->bad);
}
