#include <stdio.h>
#include <unistd.h>

#include "apply/verify.h"
#include "cli/command.h"
#include "cli/crawl_setup.h"
#include "cli/format.h"
#include "cli/screen.h"
#include "codec/json.h"
#include "io/clock.h"

#define PROGRESS_MS 200

struct meter {
    bool is_on;
    mono_ms shown;
};

static void show_progress(void *arg, const char *what, uint64_t done, uint64_t all)
{
    struct meter *m = arg;
    mono_ms now = clock_mono();
    if (!m->is_on || now - m->shown < PROGRESS_MS)
        return;
    m->shown = now;
    if (all)
        fprintf(stderr, "\r\033[K%s %3.0f %%", what, 100.0 * (double)done / (double)all);
    else
        fprintf(stderr, "\r\033[K%s %llu", what, (unsigned long long)done);
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
    if (r->has_index)
        put_counts(r, out);
    else
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

int cmd_check(const struct options *o)
{
    struct meter meter = {.is_on = isatty(STDERR_FILENO) && !opt_flag(o, OPT_JSON)};
    const struct verify_opts vo = {.data_dir = opt_cstr(o, OPT_DATA),
                                   .repair = opt_flag(o, OPT_REPAIR),
                                   .progress = show_progress,
                                   .progress_arg = &meter};
    struct verify_report r;
    struct buf why = {0}, out = {0};
    if (!vo.data_dir)
        return complain(EXIT_USAGE, "check: --data: empty: give a folder");
    status st = verify_run(&vo, &r, &why);
    if (meter.is_on && meter.shown)
        fputs("\r\033[K", stderr);
    int code;
    if (st != ST_OK) {
        code = complain(exit_code_of(st), "check: %s: %s: %s", vo.data_dir, why.n ? buf_cstr(&why) : status_name(st),
                        folder_advice(st));
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
