/* fuzz_worker.c - any bytes as what comes through a pipe, read as each end reads it. What is accepted can be said
 * again, and then means the same. */
#include <assert.h>

#include "base/utf8.h"
#include "mobile/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_page(struct arena *a, struct span payload)
{
    struct program_page p, q;
    struct buf again = {0};
    struct span rest, body = {0};
    uint8_t kind = 0;
    if (message_get_page(a, payload, &p) != ST_OK)
        return;
    message_put_page(&again, &p);
    rest = buf_span(&again);
    status st = message_next(&rest, MESSAGE_TO_WORKER_MAX, &kind, &body);
    assert(st == ST_OK && kind == MSG_PAGE && rest.n == 0);
    st = message_get_page(a, body, &q);
    assert(st == ST_OK && span_eq(p.url, q.url) && span_eq(p.headers, q.headers) && p.link_count == q.link_count &&
           p.heading_count == q.heading_count && p.meta_count == q.meta_count && p.http_status == q.http_status);
    buf_done(&again);
}

static void check_result(struct arena *a, struct span payload)
{
    struct program_result r, q;
    struct buf again = {0};
    struct span rest, body = {0};
    uint8_t kind = 0;
    size_t bytes = 0;
    if (message_get_result(a, payload, &r) != ST_OK)
        return;
    assert(r.field_count <= PROGRAM_FIELDS_MAX && r.follow_count <= PROGRAM_FOLLOW_MAX && utf8_is_valid(r.summary) &&
           r.summary.n <= PROGRAM_SUMMARY_MAX && r.why.n <= PROGRAM_WHY_MAX);
    for (size_t i = 0; i < r.field_count; i++) {
        assert(program_field_name_is_good(r.fields[i].name) && utf8_is_valid(r.fields[i].value));
        bytes += r.fields[i].value.n;
    }
    assert(bytes <= PROGRAM_EMIT_MAX);
    message_put_result(&again, &r);
    rest = buf_span(&again);
    status st = message_next(&rest, MESSAGE_FROM_WORKER_MAX, &kind, &body);
    assert(st == ST_OK && kind == MSG_RESULT && rest.n == 0);
    st = message_get_result(a, body, &q);
    assert(st == ST_OK && q.st == r.st && q.field_count == r.field_count && q.follow_count == r.follow_count &&
           span_eq(q.summary, r.summary) && q.is_skipped == r.is_skipped && q.has_summary == r.has_summary);
    buf_done(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span in = span_of(data, size), payload, x, y;
    struct arena a;
    uint8_t kind;
    arena_init(&a);
    while (message_next(&in, MESSAGE_TO_WORKER_MAX, &kind, &payload) == ST_OK) {
        check_page(&a, payload);
        check_result(&a, payload);
        (void)(message_get_failed(payload, &x) == ST_OK && x.n > PROGRAM_WHY_MAX);
        if (message_get_script(payload, &x, &y) == ST_OK)
            assert(x.n <= PROGRAM_NAME_MAX && y.n <= PROGRAM_SCRIPT_MAX);
    }
    arena_done(&a);
    return 0;
}
