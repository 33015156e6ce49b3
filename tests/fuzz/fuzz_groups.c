/* fuzz_groups.c - any bytes as a file of near-duplicate groups: refused, or every lookup stays inside of it. The sums
 * are put right first every other time, so that what they guard is reached too. */
#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/pack.h"
#include "codec/digest.h"
#include "store/groups.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define HEADER 40

static void look_everywhere(const char *path)
{
    struct groups *g = groups_open(path);
    struct group out;
    status st = groups_status(g);
    assert(st == ST_OK || st == ST_CORRUPT || st == ST_NEWER || st == ST_IO);
    assert(st == ST_OK || groups_count(g) == 0);
    for (uint64_t i = 0; i < 64; i++) {
        uint64_t key = i * UINT64_C(0x0404040404040404);
        if (groups_look(g, key, &out))
            assert(groups_translate(g, key, 1) == out.first);
        else
            assert(groups_translate(g, key, 1) == 1);
    }
    groups_release(g);
}

static void look_at(struct span bytes)
{
    char path[64];
    int fd = memfd_create("groups", MFD_CLOEXEC);
    assert(fd >= 0 && write(fd, bytes.p, bytes.n) == (ssize_t)bytes.n);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    look_everywhere(path);
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf mended = {0}, sum = {0};
    look_at(span_of(data, size));
    if (size < HEADER)
        return 0;
    buf_put(&mended, span_of(data, size));
    pack_u32(&sum, digest_crc32c(span_from(buf_span(&mended), HEADER)));
    memcpy(mended.p + HEADER - 8, sum.p, 4);
    buf_clear(&sum);
    pack_u32(&sum, digest_crc32c(span_cut(buf_span(&mended), 0, HEADER - 4)));
    memcpy(mended.p + HEADER - 4, sum.p, 4);
    look_at(buf_span(&mended));
    buf_done(&mended);
    buf_done(&sum);
    return 0;
}
