#include "io/fetch_raw.h"

#define REQUEST_BYTES_MAX (128u << 10) /* a URL and headers of ours */
#define KEEP_BUF_BYTES (256u << 10)    /* a buffer larger than this is not kept for the next answer */

void fetch_raw_begin(struct fetch_raw *r, bool is_on)
{
    coding_free(r->coding);
    r->coding = NULL;
    r->is_on = is_on;
    r->is_cut = r->is_bad = r->has_begun = false;
    buf_clear(&r->request);
    buf_clear(&r->head);
    if (r->body.cap > KEEP_BUF_BYTES)
        buf_done(&r->body);
    buf_clear(&r->body);
}

void fetch_raw_done(struct fetch_raw *r)
{
    coding_free(r->coding);
    buf_done(&r->request);
    buf_done(&r->head);
    buf_done(&r->body);
}

/* A request that is whole was for a proxy, or is made again on a new connection: the last one counts. */
void fetch_raw_sent(struct fetch_raw *r, struct span text)
{
    if (span_ends(buf_span(&r->request), SPAN("\r\n\r\n")))
        buf_clear(&r->request);
    if (r->request.n + text.n <= REQUEST_BYTES_MAX)
        buf_put(&r->request, text);
}

void fetch_raw_line(struct fetch_raw *r, struct span line, bool is_trailer)
{
    if (is_trailer)
        return;
    if (span_starts(line, SPAN("HTTP/")))
        buf_clear(&r->head);
    buf_put(&r->head, line);
}

static void read_coding(struct fetch_raw *r)
{
    static const struct span name = SPAN_INIT("content-encoding:");
    struct span rest = buf_span(&r->head), line;
    struct buf all = {0};
    while (rest.n && span_split(&rest, '\n', &line))
        if (span_starts_nocase(line, name)) {
            buf_put(&all, span_trim(span_from(line, name.n)));
            buf_putc(&all, ',');
        }
    r->is_bad = coding_new(buf_span(&all), &r->coding) != ST_OK;
    buf_done(&all);
}

status fetch_raw_piece(struct fetch_raw *r, struct span piece, size_t max, bool is_wanted, struct buf *body)
{
    if (!r->has_begun)
        read_coding(r);
    r->has_begun = true;
    status kept = buf_put_up_to(&r->body, piece, max), st = ST_OK;
    if (is_wanted && !r->is_bad)
        st = r->coding ? coding_feed(r->coding, piece, max, body) : buf_put_up_to(body, piece, max);
    if (st != ST_OK && st != ST_LIMIT)
        r->is_bad = true;
    r->is_cut = kept == ST_LIMIT || st == ST_LIMIT;
    return r->is_cut ? ST_LIMIT : ST_OK;
}
