#include "codec/warc_head.h"

#include "codec/http_text.h"

#define ARC_WORDS 4 /* after the URL */
#define ARC2_WORDS 9

const char *warc_type_name(warc_type type)
{
    static const char *const names[WARC_TYPE_COUNT] = {"warcinfo", "response",   "resource",     "request", "metadata",
                                                       "revisit",  "conversion", "continuation", "other"};
    return names[type < WARC_TYPE_COUNT ? type : WARC_TYPE_OTHER];
}

/* ---- WARC ---- */

bool warc_line_begins(struct span line)
{
    line = span_trim(line);
    size_t n = 0;
    while (n < line.n && (ascii_is_digit(line.p[line.n - 1 - n]) || line.p[line.n - 1 - n] == '.'))
        n++;
    return n >= 3 && n <= 8 && span_ends(span_cut(line, 0, line.n - n), SPAN("WARC/"));
}

/* A line that begins with white space goes on with the one before it. */
static void unfold(char *head, size_t n)
{
    for (size_t i = 0; i + 1 < n; i++)
        if (head[i] == '\n' && (head[i + 1] == ' ' || head[i + 1] == '\t')) {
            head[i] = head[i + 1] = ' ';
            if (i > 0 && head[i - 1] == '\r')
                head[i - 1] = ' ';
        }
}

static warc_type type_of(struct span name)
{
    for (int i = 0; i < WARC_TYPE_OTHER; i++)
        if (span_is_nocase(name, warc_type_name((warc_type)i)))
            return (warc_type)i;
    return WARC_TYPE_OTHER;
}

/* Some tools write <http://example.org/>, as the grammar of 1.0 has it by mistake. */
static struct span without_brackets(struct span uri)
{
    if (uri.n >= 2 && uri.p[0] == '<' && uri.p[uri.n - 1] == '>')
        return span_trim(span_cut(uri, 1, uri.n - 2));
    return uri;
}

struct fields {
    struct span type, date, length, url, segment;
};

static void take_field(struct warc_record *r, struct fields *f, struct span name, struct span value)
{
    const struct {
        const char *name;
        struct span *to;
    } known[] = {{"WARC-Type", &f->type},
                 {"WARC-Date", &f->date},
                 {"Content-Length", &f->length},
                 {"WARC-Target-URI", &f->url},
                 {"WARC-Segment-Number", &f->segment},
                 {"WARC-Record-ID", &r->id},
                 {"WARC-Refers-To-Target-URI", &r->refers_to_url},
                 {"WARC-Refers-To-Date", &r->refers_to_date},
                 {"WARC-Profile", &r->profile},
                 {"WARC-IP-Address", &r->address},
                 {"WARC-Truncated", &r->truncated},
                 {"WARC-Payload-Digest", &r->payload_digest_text},
                 {"WARC-Block-Digest", &r->block_digest_text},
                 {"Content-Type", &r->content_type}};
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (!known[i].to->n && span_is_nocase(name, known[i].name)) {
            *known[i].to = value; /* the first one counts */
            return;
        }
    /* The one field that may come more than once. */
    if (span_is_nocase(name, "WARC-Concurrent-To") && value.n && r->concurrent_count < WARC_CONCURRENT_MAX)
        r->concurrent_to[r->concurrent_count++] = value;
}

status warc_head_read(char *head, size_t n, struct warc_record *out, const char **why)
{
    struct fields f = {.type = {0}};
    struct span rest = span_of(head, n), line;
    unfold(head, n);
    *out = (struct warc_record){.date = -1};
    (void)span_split(&rest, '\n', &line); /* the version */
    while (rest.n && span_split(&rest, '\n', &line)) {
        size_t colon = span_find(line, ':', 0);
        if (colon < line.n)
            take_field(out, &f, span_trim(span_cut(line, 0, colon)), span_trim(span_from(line, colon + 1)));
    }
    if (!span_u64(f.length, WARC_RECORD_MAX, &out->block_bytes)) {
        *why = f.length.n ? "its length is no number" : "it does not say how long it is";
        return ST_INVALID;
    }
    out->type = type_of(f.type);
    out->url = without_brackets(f.url);
    out->refers_to_url = without_brackets(out->refers_to_url);
    out->is_segment = f.segment.n > 0;
    (void)warc_date_read(f.date, &out->date);
    return ST_OK;
}

/* ---- ARC ---- */

static bool is_digits(struct span s, size_t min)
{
    for (size_t i = 0; i < s.n; i++)
        if (!ascii_is_digit(s.p[i]))
            return false;
    return s.n >= min;
}

static bool is_address(struct span s)
{
    for (size_t i = 0; i < s.n; i++)
        if (ascii_hex(s.p[i]) < 0 && s.p[i] != '.' && s.p[i] != ':')
            return false;
    return s.n > 1;
}

/* Words from the right, the last one first; what is left of the line goes to *url. */
static bool last_words(struct span line, size_t count, struct span *words, struct span *url)
{
    for (size_t i = 0; i < count; i++) {
        size_t at = line.n;
        while (at > 0 && line.p[at - 1] != ' ')
            at--;
        if (at == 0)
            return false;
        words[i] = span_from(line, at);
        line = span_cut(line, 0, at - 1);
    }
    *url = line;
    return line.n > 0;
}

static bool has_scheme(struct span url)
{
    size_t n = 0;
    while (n < url.n && (ascii_is_alpha(url.p[n]) || (n > 0 && (ascii_is_digit(url.p[n]) || url.p[n] == '-'))))
        n++;
    return n > 1 && n < url.n && url.p[n] == ':';
}

/* Of `count` words: the length is the last; address, date and type are the first three. */
static arc_line read_words(struct span line, size_t count, struct warc_record *out)
{
    struct span words[ARC2_WORDS], url;
    if (!last_words(line, count, words, &url) || !has_scheme(url))
        return ARC_NO;
    struct span address = words[count - 1], date = words[count - 2], length = words[0];
    if (!is_digits(date, 8) || !is_address(address))
        return ARC_NO;
    *out = (struct warc_record){.is_arc = true,
                                .date = -1,
                                .url = url,
                                .address = address,
                                .content_type = words[count - 3],
                                .type = span_starts(url, SPAN("filedesc:")) ? WARC_TYPE_INFO : WARC_TYPE_RESPONSE};
    (void)warc_date_read(date, &out->date);
    return span_u64(length, WARC_RECORD_MAX, &out->block_bytes) ? ARC_YES : ARC_BAD_LENGTH;
}

arc_line arc_line_read(struct span line, struct warc_record *out)
{
    line = span_trim(line);
    arc_line got = read_words(line, ARC_WORDS, out);
    return got == ARC_NO ? read_words(line, ARC2_WORDS, out) : got;
}

void arc_settle(struct warc_record *r)
{
    if (r->type == WARC_TYPE_RESPONSE && !span_starts_nocase(r->block, SPAN("HTTP/")))
        r->type = WARC_TYPE_RESOURCE;
}

/* ---- digests ---- */

/* What a payload is depends on the record; of chunked ones some tools mean the chunks, some what is in them. */
static warc_digest check_payload(const struct warc_record *n)
{
    struct span body = n->block;
    bool is_answer = n->type == WARC_TYPE_RESPONSE;
    if (!n->payload_digest_text.n || n->type == WARC_TYPE_REVISIT)
        return WARC_DIGEST_NONE;
    if (is_answer || n->type == WARC_TYPE_REQUEST) {
        size_t head = is_answer ? http_answer_head(n->block) : http_head(n->block);
        body = span_from(n->block, head);
        warc_digest d = warc_digest_check(n->payload_digest_text, &body, 1);
        if (d != WARC_DIGEST_WRONG || !http_says_chunked(span_cut(n->block, 0, head)))
            return d;
        struct buf whole = {0};
        if (http_dechunk(body, body.n, &whole) == CHUNKS_WHOLE) {
            struct span parts = buf_span(&whole);
            d = warc_digest_check(n->payload_digest_text, &parts, 1);
        }
        buf_done(&whole);
        return d;
    }
    return warc_digest_check(n->payload_digest_text, &body, 1);
}

void warc_record_check(struct warc_record *r)
{
    r->block_digest = warc_digest_check(r->block_digest_text, &r->block, 1);
    /* Of revisits some tools (wget) write the digest of the block that they left out. */
    if (r->type == WARC_TYPE_REVISIT && r->block_digest == WARC_DIGEST_WRONG)
        r->block_digest = WARC_DIGEST_UNKNOWN;
    r->payload_digest = r->is_segment || r->truncated.n ? WARC_DIGEST_NONE : check_payload(r);
}
