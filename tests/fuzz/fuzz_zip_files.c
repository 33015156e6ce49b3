/* fuzz_zip_files.c - any bytes as a zip archive. What is told of is inside of the archive and does not overlap more
 * than once over; reading asks for nothing outside. */
#include <assert.h>

#include "codec/zip_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct told {
    struct span archive;
    uint64_t bytes, files;
};

static status read_part(void *self, uint64_t at, size_t n, struct buf *out)
{
    const struct told *t = self;
    assert(at <= t->archive.n && n <= t->archive.n - at && out->n == 0);
    buf_put(out, span_cut(t->archive, (size_t)at, n));
    return ST_OK;
}

static status on_file(void *arg, const struct zip_file *f)
{
    struct told *t = arg;
    assert(f->at <= t->archive.n && f->bytes <= t->archive.n - f->at);
    assert(!span_ends(f->name, SPAN("/")));
    t->bytes += f->bytes;
    t->files++;
    assert(t->bytes <= t->archive.n && t->files <= t->archive.n / 46);
    return ST_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct told t = {.archive = span_of(data, size)};
    status st = zip_files_each(size, read_part, &t, on_file, &t);
    assert(st == ST_OK || st == ST_INVALID || st == ST_CORRUPT || st == ST_LIMIT);
    return 0;
}
