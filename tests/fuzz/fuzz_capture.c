/* fuzz_capture.c - any bytes as an answer that an agent captured. What is taken packs to the same, and becomes records
 * of which each is whole and as long as it says. */
#include <assert.h>

#include "codec/zip.h"
#include "wire/capture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void draw(void *self, void *to, size_t n)
{
    (void)self;
    memset(to, 1, n);
}

/* Walks the records by what they say of themselves; returns how many there are. */
static unsigned walk(struct span rest)
{
    static const struct span length = SPAN_INIT("\r\nContent-Length: "), blank = SPAN_INIT("\r\n\r\n");
    unsigned n = 0;
    for (; rest.n; n++) {
        uint64_t bytes = 0;
        size_t end = span_search(rest, blank, false);
        struct span head = span_cut(rest, 0, end);
        size_t at = span_search(head, length, false);
        bool is_number = span_u64(span_from(head, at + length.n), SIZE_MAX, &bytes); /* the last field */
        assert(span_starts(rest, SPAN("WARC/1.1\r\n")) && end < rest.n && at < head.n && is_number);
        rest = span_from(rest, end + blank.n + (size_t)bytes);
        assert(span_starts(rest, blank));
        rest = span_from(rest, blank.n);
    }
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct warc_capture c, again;
    struct buf packed = {0}, records = {0}, plain = {0};
    if (capture_unpack(span_of(data, size), &c) != ST_OK)
        return 0;
    bool fits = capture_pack(&c, &packed);
    status st = capture_unpack(buf_span(&packed), &again);
    assert(fits && st == ST_OK && span_eq(c.head, again.head) && span_eq(c.body, again.body));
    struct warc_writer *w = warc_writer_new(MEMBER_GZIP, draw, NULL);
    struct digest160 payload = warc_payload_digest(&c);
    c.url = span_of(data, size < 100 ? size : 100); /* nothing that it could break out with */
    warc_put_capture(w, &c, &payload, NULL, &records);
    st = unzip_gzip(buf_span(&records), (size_t)1 << 30, &plain);
    assert(st == ST_OK && walk(buf_span(&plain)) == (c.request.n ? 2 : 1));
    assert(member_whole_bytes(MEMBER_GZIP, buf_span(&records)) == records.n);
    warc_writer_free(w);
    buf_done(&packed);
    buf_done(&records);
    buf_done(&plain);
    return 0;
}
