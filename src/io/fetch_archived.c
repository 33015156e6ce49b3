#include "io/fetch_archived.h"

#include "codec/coding.h"
#include "codec/http_text.h"

#define PIECE (64u << 10)
#define RATIO_FREE_BYTES (1u << 20)
#define KEEP_BUF_BYTES (1u << 20) /* a buffer larger than this is not kept for the next answer */

void archived_done(struct archived *a)
{
    heads_done(&a->heads);
    heads_done(&a->later);
    buf_done(&a->line);
    buf_done(&a->coding);
    buf_done(&a->chunks);
    buf_done(&a->body);
}

const char *archived_note_text(archived_note n)
{
    static const char *const texts[] = {"", "its body says that it is chunked, and is not", "its chunks are wrong",
                                        "its body ends before its last chunk",
                                        "its body says that it is coded, and is not"};
    return texts[n];
}

/* ---- the head ---- */

/* A line with those that go on with it; false: no more. */
static bool next_line(struct buf *line, struct span *rest)
{
    buf_clear(line);
    while (rest->n) {
        size_t end = span_find(*rest, '\n', 0);
        struct span part = span_cut(*rest, 0, end < rest->n ? end + 1 : rest->n);
        bool goes_on = line->n && (part.p[0] == ' ' || part.p[0] == '\t');
        if (line->n && !goes_on)
            break;
        while (goes_on && line->n && ascii_is_space(line->p[line->n - 1]))
            line->n--;
        if (goes_on)
            buf_putc(line, ' ');
        buf_put(line, goes_on ? span_trim(part) : part);
        *rest = span_from(*rest, part.n);
        if (span_trim(part).n == 0)
            break; /* the empty line is not gone on with */
    }
    return line->n > 0;
}

/* All Content-Encoding lines together: only the fetcher's own answers have no more than one. */
static void note_coding(struct archived *a, struct span line)
{
    static const struct span name = SPAN_INIT("content-encoding:");
    if (span_starts_nocase(line, SPAN("HTTP/")))
        buf_clear(&a->coding);
    if (!span_starts_nocase(line, name))
        return;
    buf_put(&a->coding, span_trim(span_from(line, name.n)));
    buf_putc(&a->coding, ',');
}

static void read_head(struct archived *a, struct heads *h, struct span head)
{
    heads_clear(h);
    while (next_line(&a->line, &head)) {
        heads_line(h, buf_span(&a->line));
        if (h == &a->heads)
            note_coding(a, buf_span(&a->line));
    }
}

/* ---- the body ---- */

static struct span without_chunks(struct archived *a, struct span body, archived_note *note)
{
    buf_clear(&a->chunks);
    switch (http_dechunk(body, body.n, &a->chunks)) {
    case CHUNKS_NONE:
        *note = body.n ? ARCHIVED_NOT_CHUNKED : ARCHIVED_FINE;
        return body;
    case CHUNKS_WRONG:
        *note = ARCHIVED_WRONG_CHUNKS;
        break;
    case CHUNKS_CUT:
        *note = ARCHIVED_CUT;
        break;
    case CHUNKS_WHOLE:
    case CHUNKS_LIMIT:
        break;
    }
    return buf_span(&a->chunks);
}

static void take_plain(struct archived *a, struct span body, struct fetch_result *r)
{
    buf_clear(&a->body);
    buf_put(&a->body, span_cut(body, 0, ARCHIVED_BODY_MAX));
    r->body_cut = body.n > ARCHIVED_BODY_MAX;
}

static status decode(struct archived *a, struct coding *c, struct span body)
{
    status st = ST_OK;
    for (size_t at = 0; st == ST_OK && at < body.n; at += PIECE) {
        st = coding_feed(c, span_cut(body, at, PIECE), ARCHIVED_BODY_MAX, &a->body);
        if (a->body.n > RATIO_FREE_BYTES && a->body.n / ARCHIVED_RATIO_MAX > at + PIECE)
            return ST_REFUSED;
    }
    return st;
}

static void take_coded(struct archived *a, struct coding *c, struct span body, struct fetch_result *r,
                       archived_note *note)
{
    buf_clear(&a->body);
    status st = decode(a, c, body);
    if (st == ST_REFUSED) {
        r->st = ST_LIMIT;
        r->why = "decompresses to too much";
        buf_clear(&a->body);
    } else if (st == ST_LIMIT) {
        r->body_cut = true;
    } else if (st != ST_OK && !a->body.n) {
        *note = ARCHIVED_NOT_CODED;
        take_plain(a, body, r);
    } else if (st != ST_OK) {
        r->st = ST_PROTOCOL;
        r->why = "not coded as Content-Encoding says";
    }
}

static void take_body(struct archived *a, struct span body, struct fetch_result *r, archived_note *note)
{
    struct coding *c = NULL;
    if (a->body.cap > KEEP_BUF_BYTES)
        buf_done(&a->body);
    r->wire_bytes = body.n;
    if (!span_u64(heads_get(&a->heads, HEAD_CONTENT_LENGTH), INT64_MAX, &r->declared_bytes))
        r->declared_bytes = 0;
    bool is_wanted = a->wants ? a->wants(r->content_type, a->url, r->declared_bytes) : type_is_page(r->content_type);
    r->body_unwanted = r->http_status != 304 && r->http_status != 204 && !is_wanted;
    buf_clear(&a->body);
    if (r->body_unwanted)
        return;
    if (coding_new(buf_span(&a->coding), &c) != ST_OK) {
        r->st = ST_PROTOCOL;
        r->why = "not coded as Content-Encoding says";
        return;
    }
    if (c && body.n)
        take_coded(a, c, body, r, note);
    else
        take_plain(a, body, r);
    coding_free(c);
    r->body = buf_span(&a->body);
}

/* ---- answers ---- */

static void begin(struct fetch_result *out)
{
    *out = (struct fetch_result){.st = ST_OK, .why = "", .timing = {-1, -1, -1, -1, -1}};
}

status archived_answer(struct archived *a, struct span block, struct fetch_result *out, archived_note *note)
{
    size_t n = http_answer_head(block);
    *note = ARCHIVED_FINE;
    buf_clear(&a->coding);
    read_head(a, &a->heads, span_cut(block, 0, n));
    if (!n || a->heads.http_status < 100)
        return ST_INVALID;
    begin(out);
    heads_fill(&a->heads, out);
    struct span body = span_from(block, n);
    if (http_says_chunked(span_cut(block, 0, n)))
        body = without_chunks(a, body, note);
    take_body(a, body, out, note);
    return ST_OK;
}

status archived_again(struct archived *a, struct span head, struct fetch_result *out)
{
    size_t n = http_answer_head(head);
    read_head(a, &a->later, span_cut(head, 0, n));
    if (!n || a->later.http_status < 100)
        return ST_INVALID;
    struct span type = out->content_type; /* the body's own: what is in it decides how it is read */
    struct span disposition = out->disposition;
    heads_fill(&a->later, out);
    out->content_type = type;
    if (!out->disposition.n) /* a 304 need not repeat it */
        out->disposition = disposition;
    return ST_OK;
}

void archived_resource(struct archived *a, struct span content_type, struct span block, struct fetch_result *out)
{
    archived_note ignored = ARCHIVED_FINE;
    begin(out);
    heads_clear(&a->heads);
    buf_clear(&a->coding);
    out->http_status = 200;
    out->http_version = 11;
    out->content_type = content_type;
    take_body(a, block, out, &ignored);
}
