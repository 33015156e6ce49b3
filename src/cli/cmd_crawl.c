#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/crawl_empty.h"
#include "cli/crawl_report.h"
#include "cli/crawl_setup.h"
#include "cli/opt_out_file.h"
#include "cli/program_file.h"
#include "cli/screen.h"
#include "io/clock.h"

#define SAY_WHY_MS 3000

static int open_screen(const struct options *o, struct screen **out)
{
    struct screen_opts so = {.log_path = opt_cstr(o, OPT_LOG), .pages_max = (uint64_t)opt_number(o, OPT_PAGES)};
    so.level = so.log_path ? LOG_INFO : LOG_ERROR;
    if (opt_is_set(o, OPT_LOG_LEVEL))
        (void)log_level_parse(opt_text(o, OPT_LOG_LEVEL), &so.level);
    bool is_terminal = isatty(STDERR_FILENO);
    so.has_line = opt_is_set(o, OPT_PROGRESS) ? opt_flag(o, OPT_PROGRESS) : is_terminal;
    so.has_plain = !so.has_line && !opt_is_set(o, OPT_PROGRESS) && !is_terminal;
    if (opt_flag(o, OPT_QUIET))
        so.has_line = so.has_plain = false;
    *out = screen_new(&so);
    if (*out)
        return EXIT_DONE;
    return complain(EXIT_IO, "crawl: open log %s: %s: check --log", so.log_path, strerror(errno));
}

static int exit_code_of_end(crawl_end end, const struct crawl_stats *stats)
{
    if (end == CRAWL_STOPPED)
        return EXIT_NO;
    if (end == CRAWL_FAILED)
        return EXIT_IO;
    return end == CRAWL_COMPLETE && stats->queued_given_up ? EXIT_NO : EXIT_DONE;
}

/* ---- running ---- */

static void log_start(const struct log *log, const struct crawl_setup *s)
{
    struct buf agent = {0}, seed = {0};
    put_safe(&agent, buf_span(&s->user_agent));
    put_safe(&seed, s->seeds.urls[0]);
    log_write(log, LOG_INFO, "cli", "crawl begins data=%s seeds=%zu first=%s user_agent=\"%s\"", s->opts.data_dir,
              s->seeds.n, buf_cstr(&seed), buf_cstr(&agent));
    buf_done(&agent);
    buf_done(&seed);
}

static void log_end(const struct log *log, const struct crawl_stats *st, crawl_end end)
{
    log_write(log, LOG_INFO, "cli", "crawl ends how=%s pages=%llu fetched=%llu errors=%llu queued=%llu seconds=%.1f",
              crawl_end_name(end), (unsigned long long)st->pages, (unsigned long long)st->fetched,
              (unsigned long long)st->errors, (unsigned long long)st->queued, (double)st->seconds_ms / 1000);
}

struct running {
    struct screen *screen;
    struct crawl *crawl;
    struct opt_out_file *opt_out;
    bool has_said; /* why it has to wait */
};

/* There is nothing yet and somebody waits for it: why. */
static void say_why_it_waits(struct running *r)
{
    struct buf host = {0}, why = {0}, line = {0};
    status st = ST_OK;
    if (!crawl_first_failure(r->crawl, &host, &st, &why))
        return;
    put_safe(&line, buf_span(&host));
    buf_puts(&line, ": ");
    put_safe(&line, why.n ? buf_span(&why) : span_str(status_name(st)));
    buf_puts(&line, ": asked again later");
    screen_say(r->screen, buf_span(&line));
    r->has_said = true;
    buf_done(&host);
    buf_done(&why);
    buf_done(&line);
}

static void on_progress(void *arg, const struct crawl_stats *stats)
{
    struct running *r = arg;
    if (!r->has_said && !stats->pages && stats->hosts_waiting && stats->seconds_ms >= SAY_WHY_MS)
        say_why_it_waits(r);
    screen_progress(r->screen, stats);
    opt_out_file_watch(r->opt_out, r->crawl);
}

static void on_finishing(void *arg, const struct crawl_stats *stats)
{
    screen_progress(arg, stats);
}

static void print_report(const struct options *o, const struct crawl_report *r)
{
    struct buf out = {0};
    if (opt_flag(o, OPT_JSON))
        crawl_report_json(r, &out);
    else if (!opt_flag(o, OPT_QUIET))
        crawl_report_text(r, &out);
    print_buf(&out);
    buf_done(&out);
}

/* The user's own program needs no signature: who starts it could run anything. */
static int add_program(const struct options *o, struct crawl *cr, uint64_t channel)
{
    struct buf file = {0};
    struct program p;
    if (!opt_is_set(o, OPT_PROGRAM_NAME))
        return EXIT_DONE;
    int code = program_file_read("crawl", opt_text(o, OPT_PROGRAM_NAME), &file, &p);
    status st = ST_OK;
    if (code == EXIT_DONE) {
        if (!p.serial)
            p.serial = 1;
        st = crawl_program_set(cr, &p, NULL);
    }
    if (code == EXIT_DONE && st == ST_OK)
        st = crawl_program_bind(cr, channel, p.name);
    if (st == ST_NOT_FOUND)
        code = complain(EXIT_IO, "crawl: start orb-worker: it is neither beside orb nor in libexec: install it");
    else if (st != ST_OK)
        code = complain(exit_code_of(st), "crawl: --program %s: %s", opt_cstr(o, OPT_PROGRAM_NAME), status_name(st));
    buf_done(&file);
    return code;
}

static int run(const struct options *o, struct crawl_setup *s, struct screen *screen, struct opt_out_file *opt_out)
{
    struct crawl *cr = NULL;
    struct buf why = {0};
    struct crawl_stats stats;
    crawl_end end = CRAWL_FAILED;
    int code = EXIT_DONE;
    s->opts.log = s->opts.fetch.log = s->sink.log = screen_log(screen);
    status st = crawl_open(&s->opts, &cr, &why);
    if (st != ST_OK) {
        code = complain(exit_code_of(st), "crawl: open data folder %s: %s: %s", s->opts.data_dir,
                        why.n ? buf_cstr(&why) : status_name(st), folder_advice(st));
        buf_done(&why);
        return code;
    }
    log_start(s->opts.log, s);
    struct channel *channel = s->channel;
    uint64_t id = channel_id(channel);
    s->channel = NULL;
    st = crawl_add(cr, channel);
    if (st == ST_OK)
        st = crawl_lists(cr, id, s->sitemaps.urls, s->sitemaps.n);
    code = st == ST_OK ? add_program(o, cr, id) : EXIT_DONE;
    if (code != EXIT_DONE) {
        crawl_close(cr);
        buf_done(&why);
        return code;
    }
    struct running running = {.screen = screen, .crawl = cr, .opt_out = opt_out};
    opt_out->log = s->opts.log;
    crawl_watch_finishing(cr, on_finishing, screen);
    if (st == ST_OK)
        st = crawl_run(cr, on_progress, &running, &end);
    screen_clear(screen);
    crawl_get_stats(cr, &stats);
    log_end(s->opts.log, &stats, end);
    if (st != ST_OK) {
        struct span doing = crawl_failure(cr);
        code = complain(exit_code_of(st), "crawl: %.*s: %s", SPAN_ARG(doing.n ? doing : span_str(status_name(st))),
                        st == ST_CORRUPT ? "orb check tells what is damaged and mends it"
                                         : "mend that and run the same command: nothing is lost");
    } else {
        struct program_state program;
        bool has_program = crawl_programs(cr, &program, 1) == 1;
        struct crawl_report r = {
            &stats, end, s->opts.data_dir, s->opts.pages_max, clock_peak_rss(), has_program ? &program : NULL};
        bool is_empty = stats.pages == 0 && end == CRAWL_COMPLETE;
        if (!is_empty || opt_flag(o, OPT_JSON))
            print_report(o, &r);
        code = is_empty ? crawl_empty_complain(cr, s, &stats) : exit_code_of_end(end, &stats);
        if (end == CRAWL_STOPPED && opt_flag(o, OPT_JSON))
            (void)complain(0, "crawl: stopped; run the same command to go on");
    }
    crawl_close(cr);
    buf_done(&why);
    return code;
}

int cmd_crawl(const struct options *o)
{
    struct crawl_setup setup;
    struct screen *screen = NULL;
    struct opt_out_file opt_out = {0};
    int code = crawl_setup_init(&setup, o);
    if (code == EXIT_DONE)
        code = open_screen(o, &screen);
    if (code == EXIT_DONE)
        code = opt_out_file_apply(&opt_out, "crawl", o);
    if (code == EXIT_DONE)
        code = opt_out_file_purge(&opt_out, "crawl", o);
    if (code == EXIT_DONE)
        code = crawl_setup_open_archive(&setup, o);
    if (code == EXIT_DONE)
        code = run(o, &setup, screen, &opt_out);
    crawl_setup_close_archive(&setup);
    int ended = opt_out_file_finish(&opt_out, "crawl", o);
    code = code == EXIT_DONE ? ended : code;
    screen_free(screen);
    crawl_setup_done(&setup);
    return code;
}
