/* fuzz_ledger.c - what the lab reads again: lines of the servers' ledger, reverse names, the counters of the kernel. */
#include <assert.h>
#include <math.h>
#include <stdint.h>

#include "lab/busy.h"
#include "lab/play/audit.h"
#include "lab/serve/arpa.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span rest = span_of(data, size), line;
    struct audit a;
    struct network net;
    struct busy_ticks ticks;
    audit_init(&a, 1000);
    uint64_t entries = 0;
    while (span_split(&rest, '\n', &line)) {
        struct audit_entry e;
        if (line.n <= AUDIT_LINE_MAX && audit_entry_parse(line, &e)) {
            assert(isfinite(e.at) && e.status >= 0);
            audit_add(&a, &e);
            entries++;
        }
        if (arpa_parse(line, &net))
            assert((net.first.family == 4 && net.bits <= 32) || (net.first.family == 6 && net.bits <= 128));
        (void)busy_parse(line, &ticks);
    }
    assert(a.requests == entries && a.pages + a.again <= entries);
    audit_done(&a);
    return 0;
}
