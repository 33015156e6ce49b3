/* fuzz_program.c - any bytes as a program file. What is read is written back as the same bytes, is signed by nobody we
 * know, and is once we have signed it. */
#include <assert.h>

#include "base/buf.h"
#include "mobile/program.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void sign(struct program *p)
{
    static const unsigned char seed[SIGN_SEED_BYTES] = {1};
    struct sign_key k;
    sign_key_of(seed, &k);
    assert(!program_is_signed_by(p, &k.open));
    program_sign(p, &k);
    assert(program_is_signed_by(p, &k.open));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span file = span_of(data, size);
    struct program p;
    struct buf why = {0}, again = {0};
    status st = program_read(file, &p, &why);
    assert((st == ST_INVALID) == (why.n > 0));
    if (st == ST_OK) {
        assert(program_name_is_good(p.name) && p.script.n > 0 && p.script.n <= PROGRAM_SCRIPT_MAX);
        program_write(&p, &again);
        assert(span_eq(buf_span(&again), file));
        sign(&p);
    }
    buf_done(&why);
    buf_done(&again);
    return 0;
}
