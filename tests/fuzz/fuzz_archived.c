/* fuzz_archived.c - any bytes as an answer that an archive kept: head, chunks, content coding; and as a revisit of it.
 */
#include <assert.h>

#include "codec/http_text.h"
#include "codec/warc_value.h"
#include "io/fetch_archived.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span in = span_of(data, size);
    struct archived a = {0};
    struct fetch_result r, again;
    struct buf chunks = {0};
    archived_note note;
    wall_ms date;
    size_t head = http_answer_head(in);
    assert(head <= size && (head == 0) <= (http_answer_status(in) == 0));
    (void)http_dechunk(in, size / 2, &chunks);
    assert(chunks.n <= size / 2);
    if (warc_date_read(in, &date))
        assert(date >= 0);
    assert(warc_digest_check(in, &in, 1) != WARC_DIGEST_NONE || span_trim(in).n == 0);
    if (archived_answer(&a, in, &r, &note) == ST_OK) {
        assert(head && r.http_status >= 100 && r.body.n <= ARCHIVED_BODY_MAX && archived_note_text(note));
        assert(r.st == ST_OK || r.st == ST_LIMIT || r.st == ST_PROTOCOL);
        again = r;
        status st = archived_again(&a, in, &again);
        assert(st == ST_OK && again.http_status == r.http_status && span_eq(again.body, r.body));
    }
    archived_resource(&a, SPAN("text/html"), in, &r);
    assert(span_eq(r.body, in));
    archived_done(&a);
    buf_done(&chunks);
    return 0;
}
