/* fuzz_program.c - any bytes as a program file. What is read is written back as the same bytes. */
#include <assert.h>

#include "base/buf.h"
#include "mobile/program.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
    }
    buf_done(&why);
    buf_done(&again);
    return 0;
}
