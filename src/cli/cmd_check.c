#include "apply/verify.h"
#include "cli/care.h"
#include "cli/command.h"
#include "cli/crawl_setup.h"
#include "cli/format.h"
#include "codec/json.h"
#include "store/backup.h"

static void show_progress(void *arg, const char *what, uint64_t done, uint64_t all)
{
    meter_show(arg, what, done, all);
}

static void put_json(const struct verify_report *r, struct buf *out)
{
    struct json j = {.out = out};
    const struct {
        const char *name;
        uint64_t n;
    } numbers[] = {
        {"pages", r->pages},
        {"contents", r->records},
        {"contents_bytes", r->contents_bytes},
        {"lost", r->lost},
        {"missing", r->missing},
        {"strange", r->strange},
        {"forgotten", r->forgotten},
        {"index_docs", r->index.docs},
        {"index_deleted", r->index.deleted},
        {"index_segments", r->index.segments},
        {"index_terms", r->index.terms},
        {"index_postings", r->index.postings},
        {"index_bytes", r->index.bytes},
    };
    json_open(&j, '{');
    json_key(&j, "well");
    json_bool(&j, r->is_well);
    json_key(&j, "in_use");
    json_bool(&j, r->is_in_use);
    json_key(&j, "has_index");
    json_bool(&j, r->has_index);
    json_key(&j, "rebuilt");
    json_bool(&j, r->was_rebuilt);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
        json_key(&j, numbers[i].name);
        json_u64(&j, numbers[i].n);
    }
    json_key(&j, "problems");
    json_open(&j, '[');
    struct span rest = buf_span(&r->problems), line;
    while (rest.n && span_split(&rest, '\n', &line))
        if (line.n)
            json_text(&j, line);
    json_close(&j, ']');
    json_close(&j, '}');
    buf_putc(out, '\n');
}

static void put_counts(const struct verify_report *r, struct buf *out)
{
    if (!r->is_in_use) {
        buf_puts(out, "contents  ");
        put_count(out, r->records);
        buf_puts(out, " records, ");
        put_bytes(out, r->contents_bytes);
        buf_puts(out, ", of ");
        put_count(out, r->pages);
        buf_puts(out, " pages\n");
    }
    buf_puts(out, "index     ");
    put_count(out, r->index.docs);
    buf_puts(out, " pages in ");
    put_count(out, r->index.segments);
    buf_puts(out, r->index.segments == 1 ? " segment, " : " segments, ");
    put_count(out, r->index.terms);
    buf_puts(out, " terms, ");
    put_count(out, r->index.postings);
    buf_puts(out, " postings, ");
    put_bytes(out, r->index.bytes);
    buf_putc(out, '\n');
}

static void put_text(const struct verify_report *r, struct buf *out)
{
    if (r->has_index && !r->is_past_repair)
        put_counts(r, out);
    else if (!r->has_index)
        buf_puts(out, "there is no index: the folder was crawled with --no-index\n");
    struct span rest = buf_span(&r->problems), line;
    while (rest.n && span_split(&rest, '\n', &line)) {
        if (!line.n)
            continue;
        buf_puts(out, "problem   ");
        put_safe(out, line);
        buf_putc(out, '\n');
    }
    if (r->was_rebuilt)
        buf_puts(out, "repaired  the index was made anew from the stored pages\n");
    if (r->is_in_use)
        buf_puts(out, "a crawl is running: only the index was looked at\n");
    buf_puts(out, r->problems.n == 0 ? "all is well\n" : r->is_well ? "all is well now\n" : "not repaired\n");
}

static void show_bytes(void *arg, uint64_t done, uint64_t all)
{
    meter_show(arg, "bytes", done, all);
}

static int check_backup(const struct options *o)
{
    struct meter m = {.is_on = wants_meter(o)};
    struct backup_report r;
    struct buf out = {0};
    status st = backup_verify(o->args[0].p, show_bytes, &m, &r);
    meter_clear(&m);
    bool is_bad = st != ST_OK && r.problem.n;
    if (st != ST_OK && !is_bad) {
        backup_report_done(&r);
        return backup_complain("check", o->args[0].p, st, &r);
    }
    struct json j = {.out = &out};
    if (opt_flag(o, OPT_JSON)) {
        json_open(&j, '{');
        json_key(&j, "well");
        json_bool(&j, !is_bad);
        json_key(&j, "files");
        json_u64(&j, r.files);
        json_key(&j, "bytes");
        json_u64(&j, r.bytes);
        json_key(&j, "problems");
        json_open(&j, '[');
        if (is_bad)
            json_text(&j, buf_span(&r.problem));
        json_close(&j, ']');
        json_close(&j, '}');
        buf_putc(&out, '\n');
    } else {
        buf_puts(&out, "backup    ");
        put_count(&out, r.files);
        buf_puts(&out, " files, ");
        put_bytes(&out, r.bytes);
        buf_printf(&out, "\n%s%s\n", is_bad ? "problem   " : "all is well", is_bad ? buf_cstr(&r.problem) : "");
    }
    print_buf(&out);
    backup_report_done(&r);
    buf_done(&out);
    return finish_output(is_bad ? EXIT_NO : EXIT_DONE);
}

int cmd_check(const struct options *o)
{
    if (o->arg_count)
        return check_backup(o);
    struct meter meter = {.is_on = wants_meter(o)};
    const struct verify_opts vo = {.data_dir = opt_cstr(o, OPT_DATA),
                                   .repair = opt_flag(o, OPT_REPAIR),
                                   .progress = show_progress,
                                   .progress_arg = &meter,
                                   .check_state = crawl_check_state};
    struct verify_report r;
    struct buf why = {0}, out = {0};
    if (!vo.data_dir)
        return complain(EXIT_USAGE, "check: --data: empty: give a folder");
    status st = verify_run(&vo, &r, &why);
    meter_clear(&meter);
    int code;
    if (st != ST_OK) {
        code = complain(exit_code_of(st), "check: %s: %s: %s", vo.data_dir, why.n ? buf_cstr(&why) : status_name(st),
                        st == ST_CORRUPT ? "restore a backup, or choose another --data" : folder_advice(st));
    } else {
        if (opt_flag(o, OPT_JSON))
            put_json(&r, &out);
        else
            put_text(&r, &out);
        print_buf(&out);
        code = finish_output(r.is_well ? EXIT_DONE : EXIT_NO);
    }
    verify_report_done(&r);
    buf_done(&why);
    buf_done(&out);
    return code;
}
