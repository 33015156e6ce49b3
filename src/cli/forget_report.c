#include "cli/forget_report.h"

#include "cli/command.h"
#include "cli/format.h"
#include "codec/json.h"

static void put_number(struct buf *out, uint64_t n, const char *one, const char *many)
{
    put_count(out, n);
    buf_puts(out, n == 1 ? one : many);
}

static void put_warc(const struct forget_report *r, struct buf *out)
{
    struct span rest = buf_span(&r->warc.names), name;
    buf_puts(out, "warc      ");
    put_number(out, r->warc.records, " record in ", " records in ");
    put_number(out, r->warc.files, " file", " files");
    buf_puts(out, r->is_dry || !r->warc.files ? "\n" : ", written anew without them\n");
    while (rest.n && span_split(&rest, '\n', &name))
        if (name.n) {
            buf_puts(out, "          ");
            put_safe(out, name);
            buf_putc(out, '\n');
        }
    if (r->warc.others) {
        buf_puts(out, "note      ");
        put_number(out, r->warc.others, " archive there is", " archives there are");
        buf_puts(out, " not of orb crawl: left as found\n");
    }
}

static void put_pages(const struct forget_report *r, struct buf *out)
{
    buf_puts(out, "pages     ");
    if (r->goes_on) {
        buf_puts(out, "the coordinator goes on taking them out; agents are told\n");
        return;
    }
    put_number(out, r->pages, r->is_dry ? " page, " : " page taken out, ",
               r->is_dry ? " pages, " : " pages taken out, ");
    put_count(out, r->texts);
    buf_puts(out, " of them searchable");
    if (r->is_coordinated) {
        buf_puts(out, ", ");
        put_number(out, r->own_records, " record of its WARC files; agents are told",
                   " records of its WARC files; agents are told");
    }
    buf_putc(out, '\n');
}

void forget_report_text(const struct forget_report *r, struct buf *out)
{
    for (size_t i = 0; i < r->place_count; i++) {
        buf_puts(out, r->is_dry ? "would forget  " : "forgotten ");
        put_safe(out, r->places[i]);
        buf_putc(out, '\n');
    }
    put_pages(r, out);
    if (r->was_remade)
        buf_puts(out, "texts     written anew, and the index made anew: the dictionary had something of theirs\n");
    if (r->has_warc)
        put_warc(r, out);
    if (r->is_log_in_use)
        buf_puts(out, "note      another process reads the folder: the log of its database goes when that has ended\n");
}

void forget_report_json(const struct forget_report *r, struct buf *out)
{
    struct json j = {.out = out};
    json_open(&j, '{');
    json_key(&j, "places");
    json_open(&j, '[');
    for (size_t i = 0; i < r->place_count; i++)
        json_text(&j, r->places[i]);
    json_close(&j, ']');
    json_key(&j, "dry_run");
    json_bool(&j, r->is_dry);
    json_key(&j, "done");
    json_bool(&j, !r->is_dry && !r->goes_on);
    json_key(&j, "pages");
    json_u64(&j, r->pages);
    json_key(&j, "texts");
    json_u64(&j, r->texts);
    json_key(&j, "remade");
    json_bool(&j, r->was_remade);
    json_key(&j, "log_in_use");
    json_bool(&j, r->is_log_in_use);
    json_key(&j, "warc_records");
    json_u64(&j, r->warc.records + r->own_records);
    json_key(&j, "warc_files");
    json_open(&j, '[');
    struct span rest = buf_span(&r->warc.names), name;
    while (rest.n && span_split(&rest, '\n', &name))
        if (name.n)
            json_text(&j, name);
    json_close(&j, ']');
    json_key(&j, "warc_others");
    json_u64(&j, r->warc.others);
    json_close(&j, '}');
    buf_putc(out, '\n');
}

/* ---- what is remembered ---- */

static status put_line(void *arg, const struct forgotten *f)
{
    struct buf *out = arg;
    put_iso_time(out, f->at);
    buf_puts(out, "  ");
    put_safe(out, f->place);
    if (f->why.n) {
        buf_puts(out, "  ");
        put_safe(out, f->why);
    }
    buf_putc(out, '\n');
    return ST_OK;
}

status forget_list_text(struct store *s, struct buf *out)
{
    status st = store_forgotten_each(s, put_line, out);
    if (st == ST_OK && !out->n)
        buf_puts(out, "nothing is forgotten\n");
    return st;
}

static status put_item(void *arg, const struct forgotten *f)
{
    struct json *j = arg;
    struct buf at = {0};
    put_iso_time(&at, f->at);
    json_open(j, '{');
    json_key(j, "place");
    json_text(j, f->place);
    json_key(j, "since");
    json_text(j, buf_span(&at));
    json_key(j, "why");
    json_text_or_null(j, f->why);
    json_close(j, '}');
    buf_done(&at);
    return ST_OK;
}

status forget_list_json(struct store *s, struct buf *out)
{
    struct json j = {.out = out};
    json_open(&j, '{');
    json_key(&j, "forgotten");
    json_open(&j, '[');
    status st = store_forgotten_each(s, put_item, &j);
    json_close(&j, ']');
    json_close(&j, '}');
    buf_putc(out, '\n');
    return st;
}
