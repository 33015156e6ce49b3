/* fuzz_ledger.c - what the lab reads again: lines of the servers' ledger, reverse names, the counters of the kernel.
 * Who follows a ledger while it grows learns the same, wherever it is cut. */
#include <assert.h>
#include <math.h>
#include <stdint.h>

#include "lab/busy.h"
#include "lab/play/audit.h"
#include "lab/play/follow.h"
#include "lab/serve/arpa.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t follow(const struct lab *l, struct span text, size_t piece, double *when, double *last)
{
    struct pageset *pages = NULL;
    status st = pageset_new(l, 0, &pages);
    assert(st == ST_OK);
    struct follower *f = follower_new(l, pages);
    for (size_t at = 0; at < text.n; at += piece)
        follower_feed(f, span_cut(text, at, piece));
    size_t met = pageset_met(pages);
    assert(met <= pageset_all(pages));
    *when = met ? follower_when(f, met) : 0;
    *last = follower_last(f, 0);
    follower_free(f);
    pageset_free(pages);
    return met;
}

static void check_follower(struct span text)
{
    static struct lab l;
    static bool has_lab;
    struct buf why = {0};
    if (!has_lab) {
        status st =
            lab_parse(SPAN("place hq 20.0.0.1\nplace s 20.1.0.0/24\nrtt * * 5\nsite a.example 20.1.0.2 pages=3\n"), ".",
                      &l, &why);
        assert(st == ST_OK);
    }
    has_lab = true;
    double when, last, when2, last2;
    size_t whole = follow(&l, text, SIZE_MAX / 2, &when, &last),
           pieces = follow(&l, text, 1 + text.n % 19, &when2, &last2);
    assert(whole == pieces && when == when2 && last == last2);
}

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
    check_follower(span_of(data, size));
    return 0;
}
