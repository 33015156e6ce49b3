#include "codec/http_read.h"

#define CHUNK_DIGITS_MAX 15 /* so that no length overflows */

enum {
    IN_STATUS, /* the status line is to come */
    IN_HEAD,
    IN_LENGTH,     /* a body of `left` bytes more */
    IN_CHUNK_LINE, /* how long the next chunk is */
    IN_CHUNK,
    IN_CHUNK_END, /* the line end behind one */
    IN_TRAILER,
    IN_REST, /* a body that ends with the connection */
    IS_WHOLE,
};

void http_read_begin(struct http_read *r, bool is_head, size_t line_max)
{
    struct buf line = r->line;
    buf_clear(&line);
    *r = (struct http_read){.line = line, .line_max = line_max, .why = "", .is_head = is_head};
}

void http_read_done(struct http_read *r)
{
    buf_done(&r->line);
}

static status wrong(struct http_read *r, const char *why)
{
    r->why = why;
    return ST_PROTOCOL;
}

/* "HTTP/1.1 200 OK" begins a head. */
static status status_line(struct http_read *r, struct span line)
{
    if (line.n < 12 || !span_starts_nocase(line, SPAN("HTTP/1.")) || line.p[7] < '0' || line.p[7] > '1' ||
        line.p[8] != ' ')
        return wrong(r, "not an HTTP/1 answer");
    size_t at = 8;
    while (at < line.n && line.p[at] == ' ')
        at++;
    uint64_t code;
    if (!span_u64(span_cut(line, at, 3), 999, &code) || code < 100 || ascii_is_digit(line.p[at + 3]))
        return wrong(r, "no status in the answer");
    r->minor = (uint8_t)(line.p[7] - '0');
    r->status = (uint16_t)code;
    r->has_length = r->is_chunked = r->says_close = r->says_keep = false;
    r->left = 0;
    r->state = IN_HEAD;
    return ST_OK;
}

static status content_length(struct http_read *r, struct span value)
{
    uint64_t n;
    if (!span_u64(value, INT64_MAX, &n))
        return wrong(r, "Content-Length is no number");
    if (r->has_length && n != r->left)
        return wrong(r, "Content-Length twice, and not the same");
    r->has_length = true;
    r->left = n;
    return ST_OK;
}

static status transfer_encoding(struct http_read *r, struct span value)
{
    struct span coding;
    while (value.n && span_split(&value, ',', &coding)) {
        coding = span_trim(coding);
        if (span_is_nocase(coding, "chunked"))
            r->is_chunked = true;
        else if (coding.n && !span_is_nocase(coding, "identity"))
            return wrong(r, "a Transfer-Encoding that was not asked for");
    }
    return ST_OK;
}

static void connection(struct http_read *r, struct span value)
{
    struct span option;
    while (value.n && span_split(&value, ',', &option)) {
        option = span_trim(option);
        r->says_close |= span_is_nocase(option, "close");
        r->says_keep |= span_is_nocase(option, "keep-alive");
    }
}

/* What a head line says of where the answer ends. */
static status head_line(struct http_read *r, struct span line)
{
    char first = (char)(line.p[0] | 0x20);
    if (memchr(line.p, '\0', line.n))
        return wrong(r, "NUL in a header");
    if (first != 'c' && first != 't')
        return ST_OK;
    size_t colon = span_find(line, ':', 0);
    if (colon == line.n)
        return ST_OK;
    struct span name = span_cut(line, 0, colon), value = span_trim(span_from(line, colon + 1));
    if (span_is_nocase(name, "content-length"))
        return content_length(r, value);
    if (span_is_nocase(name, "transfer-encoding"))
        return transfer_encoding(r, value);
    if (span_is_nocase(name, "connection"))
        connection(r, value);
    return ST_OK;
}

/* The empty line came. */
static void head_ends(struct http_read *r)
{
    if (r->status < 200 && r->status != 101)
        r->state = IN_STATUS;
    else if (r->is_head || r->status == 204 || r->status == 304)
        r->state = IS_WHOLE;
    else if (r->is_chunked)
        r->state = IN_CHUNK_LINE;
    else if (r->has_length)
        r->state = r->left ? IN_LENGTH : IS_WHOLE;
    else
        r->state = IN_REST;
}

/* "1a2b;name=value". */
static status chunk_line(struct http_read *r, struct span line)
{
    uint64_t n = 0;
    size_t i = 0;
    for (int v; i < line.n && (v = ascii_hex(line.p[i])) >= 0; i++) {
        if (i == CHUNK_DIGITS_MAX)
            return wrong(r, "a chunk too long");
        n = n << 4 | (unsigned)v;
    }
    struct span rest = span_trim(span_from(line, i));
    if (i == 0 || (rest.n && rest.p[0] != ';'))
        return wrong(r, "a chunk without a length");
    r->left = n;
    r->state = n ? IN_CHUNK : IN_TRAILER;
    return ST_OK;
}

static bool is_empty_line(struct span line)
{
    return line.n == 1 || (line.n == 2 && line.p[0] == '\r');
}

/* A whole line with its end. */
static status take_line(struct http_read *r, struct span line, const struct http_take *take, void *arg)
{
    status st = ST_OK;
    switch (r->state) {
    case IN_STATUS:
        st = status_line(r, line);
        break;
    case IN_HEAD:
        if (is_empty_line(line))
            head_ends(r);
        else
            st = head_line(r, line);
        break;
    case IN_TRAILER:
        if (is_empty_line(line)) {
            r->state = IS_WHOLE;
            return ST_OK;
        }
        break;
    case IN_CHUNK_END:
        r->state = IN_CHUNK_LINE;
        return is_empty_line(line) ? ST_OK : wrong(r, "a chunk longer than it said");
    default:
        return chunk_line(r, line);
    }
    return st != ST_OK ? st : take->line(arg, line) ? ST_OK : ST_CANCELLED;
}

/* A line, or the part of it that came. */
static status feed_line(struct http_read *r, struct span bytes, const struct http_take *take, void *arg, size_t *used)
{
    const char *end = memchr(bytes.p, '\n', bytes.n);
    *used = end ? (size_t)(end - bytes.p) + 1 : bytes.n;
    if (r->line.n + *used > r->line_max)
        return ST_LIMIT;
    if (end && !r->line.n)
        return take_line(r, span_cut(bytes, 0, *used), take, arg);
    buf_put(&r->line, span_cut(bytes, 0, *used));
    if (!end)
        return ST_OK;
    status st = take_line(r, buf_span(&r->line), take, arg);
    buf_clear(&r->line);
    return st;
}

/* A piece of body that has `left` bytes more; `next` is what follows it. */
static status feed_counted(struct http_read *r, struct span bytes, unsigned next, const struct http_take *take,
                           void *arg, size_t *used)
{
    *used = bytes.n < r->left ? bytes.n : (size_t)r->left;
    r->left -= *used;
    if (!r->left)
        r->state = (uint8_t)next;
    return take->body(arg, span_cut(bytes, 0, *used)) ? ST_OK : ST_CANCELLED;
}

status http_read_feed(struct http_read *r, struct span bytes, const struct http_take *take, void *arg, size_t *used)
{
    status st = ST_OK;
    *used = 0;
    r->has_begun |= bytes.n > 0;
    while (st == ST_OK && *used < bytes.n && r->state != IS_WHOLE) {
        struct span rest = span_from(bytes, *used);
        size_t n = rest.n;
        if (r->state == IN_LENGTH)
            st = feed_counted(r, rest, IS_WHOLE, take, arg, &n);
        else if (r->state == IN_CHUNK)
            st = feed_counted(r, rest, IN_CHUNK_END, take, arg, &n);
        else if (r->state == IN_REST)
            st = take->body(arg, rest) ? ST_OK : ST_CANCELLED;
        else
            st = feed_line(r, rest, take, arg, &n);
        *used += n;
    }
    return st != ST_OK ? st : r->state == IS_WHOLE ? ST_OK : ST_AGAIN;
}

status http_read_end(struct http_read *r)
{
    if (r->state == IN_REST || r->state == IS_WHOLE)
        return ST_OK;
    if (!r->has_begun) {
        r->why = "the connection ended without an answer";
        return ST_CONNECT;
    }
    return wrong(r, r->state == IN_STATUS || r->state == IN_HEAD ? "response head was cut off" : "body was cut off");
}

bool http_read_keeps(const struct http_read *r)
{
    return r->state == IS_WHOLE && r->status != 101 && !r->says_close && (r->minor == 1 || r->says_keep);
}
