/* fuzz_records.c - any bytes as a records file, as they are and with their checksums put right. What was read must be
 * what a writer would have written: framed again, the records are the file up to good_bytes. Each record is also given
 * to the reader of seen partitions. */
#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/span.h"
#include "reseal.h"
#include "store/records.h"
#include "store/seen.h"
#include "store/store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define KIND 7

struct rewrite {
    struct buf framed;
    struct seen *seen; /* borrowed */
};

static status frame_again(void *arg, uint8_t type, struct span payload)
{
    struct rewrite *r = arg;
    records_frame(&r->framed, type, payload);
    status st = seen_load(r->seen, payload);
    assert(st == ST_OK || st == ST_CORRUPT);
    wall_ms at = 0;
    bool changed;
    while (store_history_next(&payload, &at, &changed))
        ;
    return ST_OK;
}

/* Opened once; its folder goes at once, so that no record can name a file that is there. */
static struct seen *the_seen(void)
{
    static struct seen *s;
    char dir[] = "/tmp/orb-fuzz-XXXXXX";
    if (s || !mkdtemp(dir))
        return s;
    status st = seen_open(dir, NULL, &s);
    assert(st == ST_OK);
    rmdir(dir);
    return s;
}

static void try(struct span file)
{
    struct rewrite r = {.seen = the_seen()};
    struct records_info info;
    char path[64];
    int fd = memfd_create("records", MFD_CLOEXEC);
    assert(fd >= 0 && write(fd, file.p, file.n) == (ssize_t)file.n);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    status st = records_read(path, KIND, frame_again, &r, &info);
    if (st == ST_OK) {
        assert(info.file_bytes == file.n && info.good_bytes <= file.n &&
               info.was_torn == (info.good_bytes < file.n || file.n == 0));
        if (info.good_bytes)
            assert(span_eq(span_cut(file, 24, info.good_bytes - 24), buf_span(&r.framed)));
    }
    close(fd);
    buf_done(&r.framed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span file = span_of(data, size);
    struct buf sealed = {0};
    try(file);
    buf_put(&sealed, file);
    reseal_records(sealed.p, size);
    if (!span_eq(buf_span(&sealed), file))
        try(buf_span(&sealed));
    buf_done(&sealed);
    return 0;
}
