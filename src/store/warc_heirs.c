#include "store/warc_heirs.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/siphash.h"
#include "base/table.h"
#include "codec/warc.h"

#define HEIRS_MAX (1u << 20) /* revisits of what goes beyond these stay as they are */

struct heir {
    size_t file, at;  /* of the response that goes */
    char *url, *date; /* owned: of the record that gets its body; NULL: none */
};

struct warc_heirs {
    struct table by_origin; /* address and date of a response that goes -> struct heir, owned */
};

struct warc_heirs *warc_heirs_new(void)
{
    return mem_alloc(sizeof(struct warc_heirs));
}

void warc_heirs_free(struct warc_heirs *h)
{
    if (!h)
        return;
    size_t at = 0;
    for (struct heir *e; (e = table_next(&h->by_origin, &at));) {
        free(e->url);
        free(e->date);
        free(e);
    }
    table_done(&h->by_origin);
    free(h);
}

/* ---- heads ---- */

struct span warc_field(struct span head, struct span name)
{
    struct span line;
    while (span_split(&head, '\n', &line)) {
        line = span_trim(line);
        if (!line.n)
            break;
        if (!span_starts_nocase(line, name) || line.n == name.n || line.p[name.n] != ':')
            continue;
        struct span value = span_trim(span_from(line, name.n + 1));
        if (value.n > 2 && value.p[0] == '<' && value.p[value.n - 1] == '>') /* as WARC 1.0 wants addresses */
            value = span_cut(value, 1, value.n - 2);
        return value;
    }
    return (struct span){0};
}

static uint64_t key_of(struct span url, struct span date)
{
    static const struct sip_key key = {3, 4}; /* of files of our own: somebody who makes two collide spoils his own */
    return siphash(&key, url) ^ (siphash(&key, date) << 1);
}

static struct heir *find(const struct warc_heirs *h, struct span head)
{
    if (!h->by_origin.n || !span_is(warc_field(head, SPAN("WARC-Type")), "revisit"))
        return NULL;
    struct span url = warc_field(head, SPAN("WARC-Refers-To-Target-URI"));
    struct span date = warc_field(head, SPAN("WARC-Refers-To-Date"));
    return url.n && date.n ? table_get(&h->by_origin, key_of(url, date)) : NULL;
}

/* The block of a revisit that the server called unchanged is a 304: nothing to put a body behind. */
static bool has_own_head(struct span head)
{
    return span_ends(warc_field(head, SPAN("WARC-Profile")), SPAN("/identical-payload-digest"));
}

static bool is_heir(const struct heir *e, struct span head)
{
    return e->url && span_is(warc_field(head, SPAN("WARC-Target-URI")), e->url) &&
           span_is(warc_field(head, SPAN("WARC-Date")), e->date);
}

/* ---- the survey ---- */

void warc_heirs_note_gone(struct warc_heirs *h, struct span head, size_t file, size_t at)
{
    if (h->by_origin.n >= HEIRS_MAX || !span_is(warc_field(head, SPAN("WARC-Type")), "response"))
        return;
    uint64_t key = key_of(warc_field(head, SPAN("WARC-Target-URI")), warc_field(head, SPAN("WARC-Date")));
    if (table_get(&h->by_origin, key))
        return;
    struct heir *e = mem_alloc(sizeof(*e));
    e->file = file;
    e->at = at;
    table_put(&h->by_origin, key, e);
}

bool warc_heirs_note_kept(struct warc_heirs *h, struct span head)
{
    struct heir *e = find(h, head);
    if (!e)
        return false;
    if (!e->url && has_own_head(head)) {
        e->url = mem_str(warc_field(head, SPAN("WARC-Target-URI")));
        e->date = mem_str(warc_field(head, SPAN("WARC-Date")));
    }
    return e->url;
}

bool warc_heirs_inherits(const struct warc_heirs *h, struct span head, size_t *file, size_t *at)
{
    const struct heir *e = find(h, head);
    if (!e || !is_heir(e, head) || !has_own_head(head))
        return false;
    *file = e->file;
    *at = e->at;
    return true;
}

/* ---- writing ---- */

/* Head with its empty line, and as much of the rest as the head says. */
static bool split_record(struct span record, struct span *head, struct span *block)
{
    uint64_t bytes;
    size_t end = span_search(record, SPAN("\r\n\r\n"), false);
    if (end == record.n)
        return false;
    *head = span_cut(record, 0, end + 4);
    *block = span_from(record, end + 4);
    if (!span_u64(warc_field(*head, SPAN("Content-Length")), SIZE_MAX, &bytes) || bytes > block->n)
        return false;
    block->n = (size_t)bytes;
    return true;
}

static bool is_field(struct span line, struct span name)
{
    return span_starts_nocase(line, name) && line.n > name.n && line.p[name.n] == ':';
}

/* Copies the lines of a head but for those of the fields; an empty value leaves a field out. */
static void put_head(struct span head, const struct span (*fields)[2], size_t count, struct buf *out)
{
    struct span line;
    while (span_split(&head, '\n', &line)) {
        size_t i = 0;
        if (line.n && line.p[line.n - 1] == '\r')
            line.n--;
        if (!line.n)
            break;
        while (i < count && !is_field(line, fields[i][0]))
            i++;
        if (i == count)
            buf_printf(out, "%.*s\r\n", SPAN_ARG(line));
        else if (fields[i][1].n)
            buf_printf(out, "%.*s: %.*s\r\n", SPAN_ARG(fields[i][0]), SPAN_ARG(fields[i][1]));
    }
}

status warc_heirs_promote(struct span revisit, struct span response, struct buf *out)
{
    struct span head, block, from_head, from;
    char text[WARC_DIGEST_MAX], length[32];
    if (!split_record(revisit, &head, &block) || !split_record(response, &from_head, &from))
        return ST_INVALID;
    size_t end = span_search(from, SPAN("\r\n\r\n"), false);
    struct span body = end < from.n ? span_from(from, end + 4) : (struct span){0};
    struct digest160 d = digest_sha1(&body, 1);
    if (!body.n || !span_is(warc_field(head, SPAN("WARC-Payload-Digest")), warc_digest_text(&d, text)))
        return ST_INVALID;
    const struct span parts[2] = {block, body};
    d = digest_sha1(parts, 2);
    snprintf(length, sizeof(length), "%zu", block.n + body.n);
    const struct span fields[][2] = {{SPAN("WARC-Type"), SPAN("response")},
                                     {SPAN("WARC-Profile"), {0}},
                                     {SPAN("WARC-Refers-To-Target-URI"), {0}},
                                     {SPAN("WARC-Refers-To-Date"), {0}},
                                     {SPAN("WARC-Block-Digest"), span_str(warc_digest_text(&d, text))},
                                     {SPAN("Content-Length"), span_str(length)}};
    put_head(head, fields, sizeof(fields) / sizeof(*fields), out);
    buf_puts(out, "\r\n");
    buf_put(out, block);
    buf_put(out, body);
    buf_puts(out, "\r\n\r\n");
    return ST_OK;
}

bool warc_heirs_point(const struct warc_heirs *h, struct span revisit, struct buf *out)
{
    struct span head, block;
    if (!split_record(revisit, &head, &block))
        return false;
    const struct heir *e = find(h, head);
    if (!e || !e->url || is_heir(e, head))
        return false;
    const struct span fields[][2] = {{SPAN("WARC-Refers-To-Target-URI"), span_str(e->url)},
                                     {SPAN("WARC-Refers-To-Date"), span_str(e->date)}};
    put_head(head, fields, sizeof(fields) / sizeof(*fields), out);
    buf_puts(out, "\r\n");
    buf_put(out, block);
    buf_puts(out, "\r\n\r\n");
    return true;
}
