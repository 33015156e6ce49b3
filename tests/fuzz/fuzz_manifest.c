/* fuzz_manifest.c - any bytes as the manifest of an index, with the checksum put right: what unpacks packs to the same
 * bytes again, and whatever does not is named damaged or newer. */
#include <assert.h>
#include <stdint.h>

#include "base/pack.h"
#include "codec/digest.h"
#include "index/manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_manifest(struct span bytes)
{
    struct manifest m;
    struct buf again = {0}, why = {0};
    status st = manifest_unpack(bytes, &m, &why);
    assert(st == ST_OK || st == ST_CORRUPT || st == ST_NEWER);
    assert((st == ST_OK) == (why.n == 0));
    if (st == ST_OK) {
        manifest_pack(&m, &again);
        assert(span_eq(buf_span(&again), bytes));
        manifest_done(&m);
    }
    buf_done(&again);
    buf_done(&why);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf sealed = {0};
    struct span bytes = span_of(data, size);
    try_manifest(bytes);
    buf_put(&sealed, span_cut(bytes, 0, size < 4 ? 0 : size - 4));
    pack_u32(&sealed, digest_crc32c(buf_span(&sealed)));
    try_manifest(buf_span(&sealed));
    buf_done(&sealed);
    return 0;
}
