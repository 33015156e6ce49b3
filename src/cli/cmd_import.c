/* cmd_import.c - `orb import`: archives into a data folder, as if crawled. The files are looked through once for their
 * sites, which make the channel, and once for their records. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "apply/apply_sink.h"
#include "cli/command.h"
#include "cli/crawl_setup.h"
#include "cli/import_report.h"
#include "cli/opt_out_file.h"
#include "cli/screen.h"
#include "cli/seeds.h"
#include "cli/url_opts.h"
#include "io/clock.h"
#include "store/fleet.h"

struct run {
    const struct options *o;
    struct arena arena;
    struct import_files files;
    struct import_survey survey;
    struct import_meter meter;
    struct seeds seeds;
    struct url_norm norm;
    struct buf user_agent;
    struct apply_sink_opts sink;
    sigset_t signals;
    bool is_stopped;
};

/* ---- being stopped ---- */

/* SIGINT and SIGTERM wait until somebody looks: between two records. The second one kills. */
static void catch_signals(struct run *r)
{
    sigemptyset(&r->signals);
    sigaddset(&r->signals, SIGINT);
    sigaddset(&r->signals, SIGTERM);
    (void)pthread_sigmask(SIG_BLOCK, &r->signals, NULL);
}

static bool is_stopped(void *arg)
{
    struct run *r = arg;
    const struct timespec now = {0};
    if (!r->is_stopped && sigtimedwait(&r->signals, NULL, &now) > 0) {
        r->is_stopped = true;
        (void)pthread_sigmask(SIG_UNBLOCK, &r->signals, NULL);
    }
    return r->is_stopped;
}

/* ---- the crawl that takes them ---- */

/* The folder's own, so that nothing changes what it tells site owners. */
static void find_user_agent(struct run *r, const char *dir)
{
    struct store *store = NULL;
    if (store_open(dir, STORE_READ, &store, NULL) != ST_OK ||
        store_setting_get(store, "user_agent", &r->user_agent) != ST_OK) {
        buf_clear(&r->user_agent);
        buf_puts(&r->user_agent, "orbweaver/" ORB_VERSION_SHORT);
    }
    store_free(store);
}

static int open_crawl(struct run *r, struct crawl **out)
{
    const char *dir = opt_cstr(r->o, OPT_DATA);
    struct buf why = {0};
    find_user_agent(r, dir);
    r->sink = (struct apply_sink_opts){.no_index = !opt_flag(r->o, OPT_INDEX),
                                       .index_memory = (size_t)opt_number(r->o, OPT_INDEX_MIB) << 20};
    const struct crawl_opts c = {.data_dir = dir,
                                 .fetch = {.user_agent = buf_span(&r->user_agent)},
                                 .delay_ms = -1,
                                 .no_pdf = !opt_flag(r->o, OPT_PDF),
                                 .shards = 1,
                                 .norm = &r->norm,
                                 .open_sink = apply_sink_open,
                                 .sink_arg = &r->sink};
    status st = crawl_open(&c, out, &why);
    int code = EXIT_DONE;
    if (st != ST_OK)
        code = complain(exit_code_of(st), "import: open data folder %s: %s: %s", dir,
                        why.n ? buf_cstr(&why) : status_name(st), folder_advice(st));
    buf_done(&why);
    return code;
}

/* Of --seeds, else of the sites in the files. */
static int make_channel(struct run *r, struct channel **out)
{
    const struct options *o = r->o;
    struct buf why = {0};
    struct channel_opts c = {
        .seeds = r->seeds.n ? r->seeds.urls : r->survey.sites,
        .seed_count = r->seeds.n ? r->seeds.n : r->survey.site_count,
        .scope = opt_is(o, OPT_SCOPE, "domain")   ? SCOPE_DOMAIN
                 : opt_is(o, OPT_SCOPE, "prefix") ? SCOPE_PREFIX
                                                  : SCOPE_SITE,
        .depth_max = (unsigned)opt_number(o, OPT_DEPTH),
    };
    c.include = opt_list(o, OPT_INCLUDE, &c.include_count);
    c.exclude = opt_list(o, OPT_EXCLUDE, &c.exclude_count);
    if (!r->seeds.n && r->survey.has_too_many)
        return complain(EXIT_INPUT, "import: pages of more than %d sites: give fewer files at a time, or --seeds",
                        CHANNEL_SEEDS_MAX);
    status st = channel_new(&c, out, &why);
    int code = EXIT_DONE;
    if (st != ST_OK)
        code = complain(exit_code_of(st), "import: %s", why.n ? buf_cstr(&why) : status_name(st));
    buf_done(&why);
    return code;
}

static int complain_crawl(struct crawl *cr, status st)
{
    struct span doing = crawl_failure(cr);
    return complain(exit_code_of(st), "import: %.*s: mend that and run the same command: nothing is lost",
                    SPAN_ARG(doing.n ? doing : span_str(status_name(st))));
}

/* ---- from start to end ---- */

static void complain_file(struct run *r, size_t file, int *code)
{
    import_meter_clear(&r->meter);
    *code = complain(EXIT_IO, "import: read %s: %s", r->files.list[file].name, strerror(errno));
}

static status take_files(struct run *r, struct import_pages *p, int *code)
{
    status st = ST_OK;
    size_t file;
    bool is_file = false;
    r->meter = (struct import_meter){.is_on = r->meter.is_on, .doing = "import:", .all = r->files.bytes};
    for (size_t k = 0; st == ST_OK && k < r->files.n; k++) {
        file = r->survey.order[k].file;
        if (!r->survey.is_archive[file])
            continue;
        st = import_pages_run(p, file, &is_file);
        if (is_file) {
            complain_file(r, file, code);
            st = ST_OK; /* the others may be read */
        }
    }
    if (st == ST_OK && (st = import_pages_rest(p, &file, &is_file)) != ST_OK && is_file) {
        complain_file(r, file, code);
        st = ST_OK;
    }
    return st == ST_CANCELLED ? ST_OK : st;
}

static void report(struct run *r, struct crawl *cr, const struct import_counts *n)
{
    struct crawl_stats stats;
    struct buf out = {0};
    crawl_get_stats(cr, &stats);
    const struct import_report rep = {.n = n,
                                      .stats = &stats,
                                      .data_dir = opt_cstr(r->o, OPT_DATA),
                                      .files = r->files.n,
                                      .archives = r->survey.archives,
                                      .bytes = r->meter.done,
                                      .peak_rss = clock_peak_rss(),
                                      .is_stopped = r->is_stopped,
                                      .has_index = opt_flag(r->o, OPT_INDEX)};
    if (opt_flag(r->o, OPT_JSON))
        import_report_json(&rep, &out);
    else if (!opt_flag(r->o, OPT_QUIET))
        import_report_text(&rep, &out);
    print_buf(&out);
    buf_done(&out);
}

static void on_finishing(void *arg, const struct crawl_stats *stats)
{
    struct run *r = arg;
    struct buf line = {0};
    if (!r->meter.is_on)
        return;
    put_finishing(&line, stats);
    fprintf(stderr, "\r\033[K%s", buf_cstr(&line));
    fflush(stderr);
    r->meter.is_up = true;
    buf_done(&line);
}

static int take_in(struct run *r, struct crawl *cr, struct channel *channel)
{
    struct import_pages p = {.cr = cr,
                             .answer = {.wants = crawl_import_wants(cr)},
                             .channel = channel_id(channel),
                             .survey = &r->survey,
                             .files = &r->files,
                             .meter = &r->meter,
                             .is_stopped = is_stopped,
                             .arg = r};
    int code = EXIT_DONE;
    arena_init(&p.arena);
    status st = crawl_add_unseeded(cr, channel);
    if (st == ST_OK)
        st = crawl_import_begin(cr);
    if (st == ST_OK)
        st = take_files(r, &p, &code);
    crawl_watch_finishing(cr, on_finishing, r);
    status ended = st == ST_OK ? crawl_import_end(cr) : st;
    import_meter_clear(&r->meter);
    if (ended != ST_OK)
        code = complain_crawl(cr, ended);
    else
        report(r, cr, &p.n);
    if (code == EXIT_DONE && (p.n.problems || p.n.bad || r->is_stopped || r->survey.archives < r->files.n))
        code = EXIT_NO;
    import_pages_done(&p);
    return code;
}

static int run(struct run *r)
{
    const struct options *o = r->o;
    struct crawl *cr = NULL;
    struct channel *channel = NULL;
    struct opt_out_file opt_out;
    if (!opt_cstr(o, OPT_DATA))
        return complain(EXIT_USAGE, "import: --data: empty: give a folder");
    if (fleet_is_there(opt_cstr(o, OPT_DATA))) /* its visits are numbered by the coordinator */
        return complain(EXIT_INPUT, "import: %s is a coordinator's folder: choose another --data",
                        opt_cstr(o, OPT_DATA));
    int code = opt_cstr(o, OPT_SEEDS) ? seeds_read("import", opt_cstr(o, OPT_SEEDS), &r->arena, &r->norm, &r->seeds)
                                      : EXIT_DONE;
    if (code == EXIT_DONE)
        code = import_files_gather("import", o->args, o->arg_count, &r->files);
    if (code != EXIT_DONE)
        return code;
    catch_signals(r);
    r->meter.doing = "looking through:";
    r->meter.all = r->files.bytes;
    code = import_survey_run(&r->survey, &r->files, &r->meter, is_stopped, r);
    import_meter_clear(&r->meter);
    if (code == EXIT_DONE && r->is_stopped)
        return complain(EXIT_NO, "import: stopped; run the same command to go on");
    if (code == EXIT_DONE && !r->survey.archives)
        return EXIT_INPUT; /* said of each */
    if (code == EXIT_DONE && !r->survey.site_count && !r->seeds.n)
        return complain(EXIT_NO, "import: no web page in %zu %s: records of http and https addresses are taken",
                        r->survey.archives, r->survey.archives == 1 ? "archive" : "archives");
    if (code == EXIT_DONE)
        code = make_channel(r, &channel);
    if (code == EXIT_DONE)
        code = opt_out_file_apply(&opt_out, "import", o);
    if (code == EXIT_DONE)
        code = open_crawl(r, &cr);
    if (code == EXIT_DONE) {
        code = take_in(r, cr, channel);
        channel = NULL; /* the crawl's */
    }
    channel_free(channel);
    crawl_close(cr);
    return code;
}

int cmd_import(const struct options *o)
{
    struct run r = {.o = o};
    arena_init(&r.arena);
    r.norm = url_norm_from(o, &r.arena);
    r.meter.is_on = opt_is_set(o, OPT_PROGRESS) ? opt_flag(o, OPT_PROGRESS) : isatty(STDERR_FILENO);
    if (opt_flag(o, OPT_QUIET))
        r.meter.is_on = false;
    int code = run(&r);
    import_survey_done(&r.survey);
    import_files_done(&r.files);
    seeds_done(&r.seeds);
    buf_done(&r.user_agent);
    arena_done(&r.arena);
    return code;
}
