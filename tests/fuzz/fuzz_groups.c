/* fuzz_groups.c - any bytes as a file of near-duplicate groups: refused, or every lookup stays inside of it. The sums
 * are put right first every other time, so that what they guard is reached too. And as rows of counted blocks: what
 * was loaded is what is there to save. */
#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/pack.h"
#include "codec/digest.h"
#include "store/groups.h"
#include "web/boilerplate.h"
#include "web/simhash.h"

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

static bool load_row(void *arg, const uint64_t row[BOILERPLATE_ROW])
{
    boilerplate_load(arg, row);
    return true;
}

static bool put_row(void *arg, const uint64_t row[BOILERPLATE_ROW])
{
    for (unsigned i = 0; i < BOILERPLATE_ROW; i++)
        pack_u64(arg, row[i]);
    return true;
}

static void as_blocks(struct span rows)
{
    static const struct sip_key key = {1, 2};
    struct boilerplate *b = boilerplate_new(), *again = boilerplate_new();
    struct arena work;
    struct buf first = {0}, second = {0};
    struct unpack in = unpack_of(rows);
    arena_init(&work);
    while (in.end - in.at >= BOILERPLATE_ROW * 8) {
        uint64_t row[BOILERPLATE_ROW];
        for (unsigned i = 0; i < BOILERPLATE_ROW; i++)
            row[i] = unpack_u64(&in);
        boilerplate_load(b, row);
    }
    boilerplate_each(b, load_row, again);
    boilerplate_each(b, put_row, &first);
    boilerplate_each(again, put_row, &second);
    assert(first.n == second.n);
    boilerplate_count(again, &work, &key, 1, SPAN("Home\nNews\n"));
    boilerplate_settle(again);
    buf_clear(&second);
    boilerplate_each(again, put_row, &second);
    assert(second.n >= first.n);
    (void)boilerplate_has(again, 1, simhash_block(&key, SPAN("Home")));
    arena_done(&work);
    boilerplate_free(b);
    boilerplate_free(again);
    buf_done(&first);
    buf_done(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf mended = {0}, sum = {0};
    look_at(span_of(data, size));
    if (size < HEADER)
        return 0;
    as_blocks(span_of(data + HEADER, size - HEADER));
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
