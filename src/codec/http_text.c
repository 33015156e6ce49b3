#include "codec/http_text.h"

#define CHUNK_DIGITS_MAX 16

/* Up to the end of the first empty line at or after `at`; 0: there is none. */
static size_t head_end(struct span text, size_t at)
{
    while (at < text.n) {
        size_t end = span_find(text, '\n', at);
        if (end == text.n)
            return 0;
        bool is_empty = end == at || (end == at + 1 && text.p[at] == '\r');
        at = end + 1;
        if (is_empty)
            return at;
    }
    return 0;
}

size_t http_head(struct span text)
{
    return head_end(span_cut(text, 0, HTTP_HEAD_MAX), 0);
}

/* "HTTP/1.1 200 OK", or 0. */
static unsigned status_of(struct span head)
{
    uint64_t code;
    size_t at = span_find(head, ' ', 0);
    while (at < head.n && head.p[at] == ' ')
        at++;
    return span_u64(span_cut(head, at, 3), 999, &code) && code >= 100 ? (unsigned)code : 0;
}

/* Where the final head begins; *end is where it ends, or 0. */
static size_t final_head(struct span text, size_t *end)
{
    text = span_cut(text, 0, HTTP_HEAD_MAX);
    size_t at = 0;
    *end = 0;
    while (span_starts_nocase(span_from(text, at), SPAN("HTTP/"))) {
        *end = head_end(text, at);
        unsigned code = *end ? status_of(span_cut(text, at, *end - at)) : 0;
        if (code < 100 || code > 199 || code == 101) /* 101 is the last one of its connection */
            return at;
        at = *end;
        *end = 0;
    }
    return at;
}

size_t http_answer_head(struct span text)
{
    size_t end;
    (void)final_head(text, &end);
    return end;
}

unsigned http_answer_status(struct span text)
{
    size_t end, at = final_head(text, &end);
    return end ? status_of(span_cut(text, at, end - at)) : 0;
}

bool http_says_chunked(struct span head)
{
    static const struct span name = SPAN_INIT("transfer-encoding:");
    struct span line;
    while (head.n && span_split(&head, '\n', &line))
        if (span_starts_nocase(line, name) && span_search(line, SPAN("chunked"), true) < line.n)
            return true;
    return false;
}

bool http_answer_is_whole(struct span text)
{
    static const struct span name = SPAN_INIT("content-length:");
    size_t end = http_answer_head(text);
    struct span head = span_cut(text, 0, end), line;
    uint64_t bytes;
    if (!end || http_says_chunked(head))
        return false;
    while (head.n && span_split(&head, '\n', &line))
        if (span_starts_nocase(line, name))
            return span_u64(span_trim(span_from(line, name.n)), SIZE_MAX, &bytes) && bytes <= text.n - end;
    return false;
}

/* "1a2b;name=value\r\n" at *at: how long the chunk is. False: that is no such line. */
static bool chunk_line(struct span body, size_t *at, uint64_t *bytes)
{
    size_t i = *at, digits = 0;
    uint64_t n = 0;
    for (int v; i < body.n && (v = ascii_hex(body.p[i])) >= 0; i++, digits++) {
        if (digits == CHUNK_DIGITS_MAX)
            return false;
        n = n << 4 | (unsigned)v;
    }
    if (!digits)
        return false;
    while (i < body.n && (body.p[i] == ' ' || body.p[i] == '\t'))
        i++;
    if (i < body.n && body.p[i] == ';')
        i = span_find(body, '\n', i);
    else if (i < body.n && body.p[i] == '\r')
        i++;
    if (i == body.n || body.p[i] != '\n')
        return false;
    *at = i + 1;
    *bytes = n;
    return true;
}

/* The line end after a chunk's bytes. */
static bool chunk_end(struct span body, size_t *at)
{
    size_t i = *at;
    if (i < body.n && body.p[i] == '\r')
        i++;
    if (i == body.n || body.p[i] != '\n')
        return false;
    *at = i + 1;
    return true;
}

http_chunks http_dechunk(struct span body, size_t max, struct buf *out)
{
    size_t at = 0, from = out->n;
    for (bool is_first = true;; is_first = false) {
        uint64_t bytes;
        if (at == body.n && !is_first)
            return CHUNKS_CUT;
        if (!chunk_line(body, &at, &bytes))
            return is_first ? CHUNKS_NONE : CHUNKS_WRONG;
        if (!bytes)
            return CHUNKS_WHOLE;
        struct span chunk = span_cut(body, at, bytes < SIZE_MAX ? (size_t)bytes : SIZE_MAX);
        size_t room = max - (out->n - from);
        buf_put(out, span_cut(chunk, 0, room));
        if (chunk.n > room)
            return CHUNKS_LIMIT;
        if (chunk.n < bytes)
            return CHUNKS_CUT;
        at += chunk.n;
        if (at == body.n)
            return CHUNKS_CUT;
        if (!chunk_end(body, &at))
            return CHUNKS_WRONG;
    }
}
