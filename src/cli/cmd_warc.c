/* cmd_warc.c - `orb warc`: what is in archives, one line a record. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/format.h"
#include "cli/import_files.h"
#include "codec/http_text.h"
#include "codec/json.h"
#include "codec/warc_read.h"

#define PRINT_AT_BYTES (64u << 10)

struct listing {
    const char *path;
    struct warc_reader *reader;
    struct buf out;
    bool is_json;
    bool is_closed; /* nobody reads what is printed any more */
    uint64_t problems;
};

static const char *digest_word(const struct warc_record *r)
{
    warc_digest a = r->block_digest, b = r->payload_digest;
    if (a == WARC_DIGEST_WRONG || b == WARC_DIGEST_WRONG)
        return "wrong";
    return a == WARC_DIGEST_RIGHT || b == WARC_DIGEST_RIGHT ? "right" : "unchecked";
}

static const char *state_word(const struct warc_record *r)
{
    return r->is_damaged ? "damaged" : r->is_short ? "short" : "whole";
}

static void put_date(struct buf *out, wall_ms date)
{
    if (date >= 0)
        put_iso_time(out, date);
    else
        buf_putc(out, '-');
}

static void put_line(struct listing *l, const struct warc_record *r, unsigned http)
{
    buf_printf(&l->out, "%s\t", warc_type_name(r->type));
    put_date(&l->out, r->date);
    if (http)
        buf_printf(&l->out, "\t%u\t", http);
    else
        buf_puts(&l->out, "\t-\t");
    buf_printf(&l->out, "%llu\t%s\t%s\t", (unsigned long long)r->block_bytes, state_word(r), digest_word(r));
    if (r->url.n)
        put_safe(&l->out, r->url);
    else
        buf_putc(&l->out, '-');
    buf_putc(&l->out, '\n');
}

static void put_json(struct listing *l, const struct warc_record *r, unsigned http)
{
    struct json j = {.out = &l->out};
    struct buf date = {0};
    if (r->date >= 0)
        put_iso_time(&date, r->date);
    json_open(&j, '{');
    json_key(&j, "file");
    json_str(&j, l->path);
    json_key(&j, "offset");
    json_u64(&j, r->at);
    json_key(&j, "type");
    json_str(&j, warc_type_name(r->type));
    json_key(&j, "date");
    json_text_or_null(&j, buf_span(&date));
    json_key(&j, "url");
    json_text_or_null(&j, r->url);
    json_key(&j, "status");
    if (http)
        json_u64(&j, http);
    else
        json_null(&j);
    json_key(&j, "bytes");
    json_u64(&j, r->block_bytes);
    json_key(&j, "state");
    json_str(&j, state_word(r));
    json_key(&j, "digests");
    json_str(&j, digest_word(r));
    json_key(&j, "payload_digest");
    json_text_or_null(&j, r->payload_digest_text);
    json_key(&j, "refers_to");
    json_text_or_null(&j, r->refers_to_url);
    json_close(&j, '}');
    buf_putc(&l->out, '\n');
    buf_done(&date);
}

static status on_record(void *self, const struct warc_record *r)
{
    struct listing *l = self;
    bool is_answer = r->type == WARC_TYPE_RESPONSE || r->type == WARC_TYPE_REVISIT;
    unsigned http = is_answer ? http_answer_status(r->block) : 0;
    if (l->is_json)
        put_json(l, r, http);
    else
        put_line(l, r, http);
    return l->out.n < PRINT_AT_BYTES || print_buf(&l->out) ? ST_OK : ST_CANCELLED;
}

static void on_problem(void *self, uint64_t at, const char *what)
{
    struct listing *l = self;
    l->problems++;
    print_buf(&l->out);
    (void)complain(0, "warc: %s: at byte %llu: %s", l->path, (unsigned long long)at, what);
}

static status feed(void *arg, struct span piece)
{
    struct listing *l = arg;
    return warc_reader_feed(l->reader, piece);
}

static int list_file(struct listing *l, const struct import_file *f)
{
    const struct warc_reader_opts o = {0};
    l->path = f->name;
    l->reader = warc_reader_new(&o, &(struct warc_events){on_record, on_problem, l});
    status st = import_file_read(f, 0, UINT64_MAX, NULL, feed, l);
    if (st == ST_OK)
        st = warc_reader_end(l->reader);
    warc_reader_free(l->reader);
    l->is_closed = !print_buf(&l->out) || st == ST_CANCELLED;
    if (st == ST_IO)
        return complain(EXIT_IO, "warc: read %s: %s", f->name, strerror(errno));
    if (st == ST_INVALID)
        return import_file_complain("warc", f);
    return EXIT_DONE;
}

int cmd_warc(const struct options *o)
{
    struct listing l = {.is_json = opt_flag(o, OPT_JSON)};
    struct import_files files = {0};
    int code = import_files_gather("warc", o->args, o->arg_count, &files);
    bool is_gathered = code == EXIT_DONE;
    for (size_t i = 0; is_gathered && !l.is_closed && i < files.n; i++) {
        int one = list_file(&l, &files.list[i]); /* whatever it is, the others are looked at */
        code = code == EXIT_DONE ? one : code;
    }
    if (code == EXIT_DONE && l.problems)
        code = EXIT_NO;
    import_files_done(&files);
    buf_done(&l.out);
    return code;
}
