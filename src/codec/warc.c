#include "codec/warc.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"

#define ID_MAX 48 /* <urn:uuid:...> */

struct warc_writer {
    struct member_maker *maker; /* owned */
    warc_draw_fn *draw;
    void *self; /* borrowed */
    struct buf fields, head;
};

struct warc_writer *warc_writer_new(member_kind kind, warc_draw_fn *draw, void *self)
{
    struct warc_writer *w = mem_alloc(sizeof(*w));
    w->maker = member_maker_new(kind);
    w->draw = draw;
    w->self = self;
    return w;
}

void warc_writer_free(struct warc_writer *w)
{
    if (!w)
        return;
    member_maker_free(w->maker);
    buf_done(&w->fields);
    buf_done(&w->head);
    free(w);
}

/* ---- values ---- */

const char *warc_date(wall_ms at, char out[WARC_DATE_MAX])
{
    time_t s = at > 0 ? (time_t)(at / 1000) : 0;
    struct tm tm;
    if (!gmtime_r(&s, &tm) || tm.tm_year > 9999 - 1900) /* past what a date can say: hostile or a broken clock */
        tm = (struct tm){.tm_year = 70, .tm_mday = 1};
    size_t n = strftime(out, WARC_DATE_MAX, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(out + n, WARC_DATE_MAX - n, ".%03dZ", at > 0 ? (int)(at % 1000) : 0);
    return out;
}

const char *warc_digest_text(const struct digest160 *d, char out[WARC_DIGEST_MAX])
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    size_t n = 5;
    memcpy(out, "sha1:", 5);
    for (size_t at = 0; at < sizeof(d->b); at += 5) { /* 20 bytes are four groups of 40 bits: no padding */
        uint64_t v = 0;
        for (int i = 0; i < 5; i++)
            v = v << 8 | d->b[at + (size_t)i];
        for (int shift = 35; shift >= 0; shift -= 5)
            out[n++] = letters[v >> shift & 31];
    }
    out[n] = '\0';
    return out;
}

static void draw_id(struct warc_writer *w, char out[ID_MAX])
{
    unsigned char b[16];
    w->draw(w->self, b, sizeof(b));
    b[6] = (unsigned char)((b[6] & 0x0f) | 0x40); /* version 4, variant 1: random */
    b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
    snprintf(out, ID_MAX, "<urn:uuid:%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x>", b[0], b[1],
             b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
}

/* ---- fields ---- */

/* A value is one line, whatever it was made from. */
static void put_field(struct buf *b, const char *name, struct span value)
{
    buf_puts(b, name);
    buf_puts(b, ": ");
    for (size_t i = 0; i < value.n; i++)
        if ((unsigned char)value.p[i] >= ' ' && value.p[i] != 0x7f)
            buf_putc(b, value.p[i]);
    buf_puts(b, "\r\n");
}

static void put_digest(struct buf *b, const char *name, const struct digest160 *d)
{
    char text[WARC_DIGEST_MAX];
    put_field(b, name, span_str(warc_digest_text(d, text)));
}

static void put_date(struct buf *b, const char *name, wall_ms at)
{
    char text[WARC_DATE_MAX];
    put_field(b, name, span_str(warc_date(at, text)));
}

static void begin(struct warc_writer *w, const char *type, const char *id, wall_ms at)
{
    buf_clear(&w->fields);
    buf_puts(&w->fields, "WARC/1.1\r\n");
    put_field(&w->fields, "WARC-Type", span_str(type));
    put_field(&w->fields, "WARC-Record-ID", span_str(id));
    put_date(&w->fields, "WARC-Date", at);
}

/* The block is `a` and `b` together. */
static void end(struct warc_writer *w, const char *content_type, struct span a, struct span b, struct buf *out)
{
    const struct span block[2] = {a, b};
    const struct digest160 digest = digest_sha1(block, 2);
    put_digest(&w->fields, "WARC-Block-Digest", &digest);
    put_field(&w->fields, "Content-Type", span_str(content_type));
    buf_printf(&w->fields, "Content-Length: %zu\r\n\r\n", a.n + b.n);
    const struct span parts[4] = {buf_span(&w->fields), a, b, SPAN("\r\n\r\n")};
    member_make(w->maker, parts, 4, out);
}

/* ---- heads ---- */

/* The next line with its end. */
static struct span next_line(struct span *rest)
{
    size_t at = span_find(*rest, '\n', 0);
    struct span line = span_cut(*rest, 0, at < rest->n ? at + 1 : rest->n);
    *rest = span_from(*rest, line.n);
    return line;
}

void warc_head_text(struct span head, struct buf *out)
{
    struct span rest = head, line = next_line(&rest);
    if (span_starts(line, SPAN("HTTP/2")) || span_starts(line, SPAN("HTTP/3"))) {
        buf_puts(out, "HTTP/1.1");
        line = span_from(line, span_find(line, ' ', 0));
    }
    buf_put(out, line);
    while (rest.n) {
        line = next_line(&rest);
        if (span_starts_nocase(line, SPAN("transfer-encoding:")))
            buf_puts(out, "X-Crawler-");
        buf_put(out, line);
    }
}

static bool is_empty_line(struct span line)
{
    return span_is(line, "\n") || span_is(line, "\r\n");
}

bool warc_head_is_sound(struct span head)
{
    struct span rest = head, line = next_line(&rest);
    if (!span_starts(line, SPAN("HTTP/")) || !span_ends(line, SPAN("\n")) || memchr(head.p, '\0', head.n))
        return false;
    while (rest.n && !is_empty_line(line))
        line = next_line(&rest);
    return rest.n == 0 && is_empty_line(line);
}

/* "GET / HTTP/2" becomes "GET / HTTP/1.1". */
static void put_request(struct span request, struct buf *out)
{
    struct span rest = request, line = next_line(&rest), text = span_trim(line);
    size_t at = text.n;
    while (at > 0 && text.p[at - 1] != ' ')
        at--;
    buf_put(out, span_cut(text, 0, at));
    buf_puts(out, "HTTP/1.1\r\n");
    buf_put(out, rest);
}

/* ---- records ---- */

static void put_info_field(struct buf *b, const char *name, struct span value)
{
    if (value.n)
        put_field(b, name, value);
}

void warc_put_info(struct warc_writer *w, const struct warc_info *i, struct buf *out)
{
    char id[ID_MAX];
    draw_id(w, id);
    begin(w, "warcinfo", id, i->at);
    put_info_field(&w->fields, "WARC-Filename", i->filename);
    buf_clear(&w->head);
    put_info_field(&w->head, "software", i->software);
    put_field(&w->head, "format", SPAN("WARC File Format 1.1"));
    put_field(&w->head, "conformsTo",
              SPAN("http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"));
    put_info_field(&w->head, "operator", i->operator_contact);
    put_info_field(&w->head, "hostname", i->hostname);
    put_info_field(&w->head, "http-header-user-agent", i->user_agent);
    put_info_field(&w->head, "robots", i->robots);
    end(w, "application/warc-fields", buf_span(&w->head), (struct span){0}, out);
}

struct digest160 warc_payload_digest(const struct warc_capture *c)
{
    return digest_sha1(&c->body, 1);
}

static void put_about(struct warc_writer *w, const struct warc_capture *c)
{
    put_field(&w->fields, "WARC-Target-URI", c->url);
    if (c->address.n)
        put_field(&w->fields, "WARC-IP-Address", c->address);
    if (c->is_http2)
        put_field(&w->fields, "WARC-Protocol", SPAN("h2"));
}

static void put_response(struct warc_writer *w, const struct warc_capture *c, const struct digest160 *payload,
                         struct buf *out)
{
    static const char *const why[] = {
        [WARC_CUT_LENGTH] = "length", [WARC_CUT_TIME] = "time", [WARC_CUT_DISCONNECT] = "disconnect"};
    if (c->cut != WARC_WHOLE)
        put_field(&w->fields, "WARC-Truncated", span_str(why[c->cut]));
    put_digest(&w->fields, "WARC-Payload-Digest", payload);
    end(w, "application/http;msgtype=response", buf_span(&w->head), c->body, out);
}

static void put_revisit(struct warc_writer *w, const struct warc_original *o, struct buf *out)
{
    put_field(&w->fields, "WARC-Profile",
              o->is_not_modified ? SPAN("http://netpreserve.org/warc/1.1/revisit/server-not-modified")
                                 : SPAN("http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"));
    if (o->url.n) {
        put_field(&w->fields, "WARC-Refers-To-Target-URI", o->url);
        put_date(&w->fields, "WARC-Refers-To-Date", o->at);
        put_digest(&w->fields, "WARC-Payload-Digest", &o->payload);
    }
    end(w, "application/http;msgtype=response", buf_span(&w->head), (struct span){0}, out);
}

/* A record beside the one that `about` names. */
static void begin_beside(struct warc_writer *w, const char *type, const struct warc_capture *c, const char *about)
{
    char id[ID_MAX];
    draw_id(w, id);
    begin(w, type, id, c->at);
    put_field(&w->fields, "WARC-Concurrent-To", span_str(about));
}

void warc_put_capture(struct warc_writer *w, const struct warc_capture *c, const struct digest160 *payload,
                      const struct warc_original *original, struct buf *out)
{
    char id[ID_MAX];
    draw_id(w, id);
    begin(w, original ? "revisit" : "response", id, c->at);
    put_about(w, c);
    buf_clear(&w->head);
    warc_head_text(c->head, &w->head);
    if (original)
        put_revisit(w, original, out);
    else
        put_response(w, c, payload, out);
    if (c->request.n) {
        begin_beside(w, "request", c, id);
        put_about(w, c);
        buf_clear(&w->head);
        put_request(c->request, &w->head);
        end(w, "application/http;msgtype=request", buf_span(&w->head), (struct span){0}, out);
    }
    if (c->facts.n) {
        begin_beside(w, "metadata", c, id);
        put_field(&w->fields, "WARC-Target-URI", c->url);
        end(w, "application/warc-fields", c->facts, (struct span){0}, out);
    }
}
