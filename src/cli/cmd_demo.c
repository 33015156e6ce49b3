/* cmd_demo.c - the program crawls a web that it serves to itself, holds what it found against what is there, and shows
 * the search page over it. */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/command.h"
#include "apply/apply_sink.h"
#include "cli/crawl_report.h"
#include "cli/demo_agents.h"
#include "cli/demo_check.h"
#include "cli/demo_near.h"
#include "cli/folder.h"
#include "cli/format.h"
#include "cli/screen.h"
#include "cli/url_set.h"
#include "io/clock.h"
#include "sample/sample.h"
#include "serve/serve.h"

#define DEMO_SEED 1
#define DEMO_PART SAMPLE_SOON /* the rest would take minutes */
#define DIFFERENCES_SHOWN 5
#define FIRST_PORT 8080
#define LAST_PORT 8099

struct demo {
    struct sample *sample;
    char dir[4096];
    int step;            /* that was begun */
    bool is_kept;        /* the folder stays */
    bool is_stopped;     /* by a signal */
    sigset_t stop;       /* blocked but while the crawl runs */
    struct urls there;   /* pages to find */
    struct urls closed;  /* not to be asked for */
    struct urls endless; /* how the URLs of endless areas begin */
    struct urls found;
    unsigned trespasses;        /* requests for closed URLs */
    unsigned endless_pages;     /* found in endless areas */
    uint64_t docs;              /* that can be searched */
    struct demo_agents *agents; /* NULL: this process crawls by itself */
};

/* "2. The crawl" */
static void begin_step(struct demo *d, const char *title)
{
    bool is_bold = wants_colour(STDOUT_FILENO);
    printf("%s%s%d. %s%s\n", d->step ? "\n" : "", is_bold ? "\033[1m" : "", d->step + 1, title,
           is_bold ? "\033[0m" : "");
    d->step++;
    fflush(stdout);
}

/* ---- the crawl ---- */

static void gather_seeds(const struct sample *sample, struct buf *text, struct urls *seeds)
{
    struct span rest, line;
    sample_seeds(sample, DEMO_PART, text);
    rest = buf_span(text);
    while (span_split(&rest, '\n', &line))
        if (line.n)
            urls_add(seeds, line);
}

static status make_channel(const struct urls *seeds, struct channel **out, struct buf *why)
{
    struct span *spans = mem_alloc((seeds->n + 1) * sizeof(*spans));
    for (size_t i = 0; i < seeds->n; i++)
        spans[i] = span_str(seeds->p[i]);
    struct channel_opts opts = {.seeds = spans, .seed_count = seeds->n, .scope = SCOPE_SITE, .depth_max = 64};
    status st = channel_new(&opts, out, why);
    free(spans);
    return st;
}

struct watcher {
    struct demo *demo;
    struct screen *screen;
};

static void on_progress(void *arg, const struct crawl_stats *stats)
{
    struct watcher *w = arg;
    /* Now there is somebody to take them: the crawl stops at the first and winds up. */
    pthread_sigmask(SIG_UNBLOCK, &w->demo->stop, NULL);
    screen_progress(w->screen, stats);
}

static status crawl_it(struct demo *d, struct screen *screen, struct crawl_stats *stats, crawl_end *end,
                       struct buf *why)
{
    struct buf hosts = {0}, seed_text = {0};
    struct urls seeds = {0};
    struct channel *channel = NULL;
    struct crawl *cr = NULL;
    struct watcher watcher = {d, screen};
    sample_hosts_text(d->sample, &hosts);
    gather_seeds(d->sample, &seed_text, &seeds);
    struct apply_sink_opts sink = {.log = screen_log(screen)};
    struct crawl_opts opts = {.data_dir = d->dir,
                              .fetch = {.user_agent = SPAN("orbweaver/" ORB_VERSION_SHORT " (demo)"),
                                        .allow_private = true,
                                        .log = screen_log(screen)},
                              .dns = {.hosts = buf_span(&hosts)},
                              .delay_ms = 0,
                              .open_sink = apply_sink_open,
                              .sink_arg = &sink,
                              .log = screen_log(screen)};
    status st = make_channel(&seeds, &channel, why);
    if (st == ST_OK)
        st = crawl_open(&opts, &cr, why);
    if (st == ST_OK) {
        st = crawl_add(cr, channel);
        channel = NULL;
    }
    if (st == ST_OK)
        st = crawl_run(cr, on_progress, &watcher, end);
    pthread_sigmask(SIG_BLOCK, &d->stop, NULL);
    if (st == ST_OK)
        crawl_get_stats(cr, stats);
    crawl_close(cr);
    channel_free(channel);
    urls_done(&seeds);
    buf_done(&hosts);
    buf_done(&seed_text);
    return st;
}

/* The report without its last lines, which say how to go on. */
static void print_report(const struct demo *d, const struct crawl_stats *stats)
{
    struct crawl_report r = {stats, CRAWL_COMPLETE, d->dir, 0, clock_peak_rss(), NULL};
    struct buf out = {0};
    crawl_report_text(&r, &out);
    out.n = span_search(buf_span(&out), span_str(d->dir), false);
    print_buf(&out);
    buf_done(&out);
}

static int crawl_step(struct demo *d)
{
    struct crawl_stats stats = {0};
    struct buf why = {0};
    crawl_end end = CRAWL_FAILED;
    const struct screen_opts so = {.level = LOG_WARN, .has_line = isatty(STDERR_FILENO)};
    struct screen *screen = screen_new(&so);
    begin_step(d, "The crawl");
    if (!screen)
        return complain(EXIT_INTERNAL, "demo: open standard error");
    status st = crawl_it(d, screen, &stats, &end, &why);
    screen_free(screen);
    int code = EXIT_DONE;
    if (st != ST_OK)
        code = complain(exit_code_of(st), "demo: crawl: %s", why.n ? buf_cstr(&why) : status_name(st));
    else if (end != CRAWL_COMPLETE)
        code = complain(EXIT_NO, "demo: stopped");
    else
        print_report(d, &stats);
    d->docs = stats.index_docs;
    buf_done(&why);
    return code;
}

/* ---- the crawl by agents ---- */

#define AGENTS_MS (300 * 1000) /* an upper bound: it takes some ten seconds */

static void show_progress(const struct demo_agents_view *v)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr,
                "\r\033[K%u agents, %u of %u tasks done, %llu pages fetched, %llu waiting, %llu can be searched",
                v->there, v->tasks_done, v->tasks, (unsigned long long)v->fetched, (unsigned long long)v->queued,
                (unsigned long long)v->docs);
}

/* Until everything was crawled and taken in; a signal or a dead agent ends it. */
static int wait_for_agents(struct demo *d, struct demo_agents_view *v)
{
    mono_ms deadline = clock_mono() + AGENTS_MS;
    const struct timespec pause = {.tv_nsec = 200 * 1000000};
    unsigned quiet = 0;
    while (clock_mono() < deadline) {
        demo_agents_look(d->agents, v);
        show_progress(v);
        if (v->is_broken)
            return complain(EXIT_IO, "demo: an agent ended by itself: its log is in %s/agents", d->dir);
        quiet = v->is_done ? quiet + 1 : 0;
        if (quiet == 15) { /* links between sites may wake another task */
            if (isatty(STDERR_FILENO))
                fputs("\r\033[K", stderr);
            return EXIT_DONE;
        }
        if (sigtimedwait(&d->stop, NULL, &pause) > 0)
            return complain(EXIT_NO, "demo: stopped");
    }
    return complain(EXIT_IO, "demo: the agents are not done after %d minutes", AGENTS_MS / 60000);
}

static int agents_step(struct demo *d, unsigned count, bool is_check)
{
    struct buf why = {0}, table = {0}, hosts = {0}, seeds = {0};
    struct demo_agents_view v = {0};
    sample_hosts_text(d->sample, &hosts);
    sample_seeds(d->sample, DEMO_PART, &seeds);
    struct demo_agents_opts opts = {.dir = d->dir,
                                    .hosts = buf_span(&hosts),
                                    .delay_ms = "0",
                                    .addr = {4, {127, 0, 0, 1}},
                                    .is_plain = true,
                                    .strategy = DELEGATE_HASH,
                                    .agents = demo_agents_here,
                                    .count = count,
                                    .port = is_check ? 0 : FIRST_PORT,
                                    .admin_port = is_check ? 0 : FIRST_PORT + 1};
    begin_step(d, "The crawl");
    status st = demo_agents_new(&opts, &d->agents, &why);
    if (st == ST_BUSY) { /* somebody has these ports: any others */
        buf_clear(&why);
        opts.port = opts.admin_port = 0;
        st = demo_agents_new(&opts, &d->agents, &why);
    }
    if (st == ST_OK)
        st = demo_agents_add(d->agents, buf_span(&seeds), &why);
    int code = EXIT_DONE;
    if (st != ST_OK)
        code = complain(exit_code_of(st), "demo: %s", why.n ? buf_cstr(&why) : status_name(st));
    if (code == EXIT_DONE) {
        printf(
            "a coordinator on 127.0.0.1, port %d, and %u agents: orb-agent processes that joined it with a line each\n",
            demo_agents_port(d->agents), count);
        fflush(stdout);
        code = wait_for_agents(d, &v);
    }
    if (code == EXIT_DONE) {
        d->docs = v.docs;
        demo_agents_table(d->agents, &table);
        buf_printf(&table, "%.1f MB were fetched and %.2f MB sent to the coordinator: 1/%.0f\n",
                   (double)v.bytes_crawled / 1e6, (double)v.bytes_sent / 1e6,
                   v.bytes_sent ? (double)v.bytes_crawled / (double)v.bytes_sent : 0);
        print_buf(&table);
    }
    buf_done(&why);
    buf_done(&table);
    buf_done(&hosts);
    buf_done(&seeds);
    return code;
}

/* ---- the comparison ---- */

static void read_expected(struct demo *d)
{
    struct buf text = {0};
    struct span rest, line;
    sample_expected_text(d->sample, DEMO_PART, &text);
    rest = buf_span(&text);
    while (span_split(&rest, '\n', &line)) {
        size_t tab = span_find(line, '\t', 0);
        struct span kind = span_cut(line, 0, tab), url = span_from(line, tab + 1);
        if (span_is(kind, "page") || span_is(kind, "document"))
            urls_add(&d->there, url);
        else if (span_is(kind, "refused") || span_is(kind, "hidden"))
            urls_add(&d->closed, url);
        else if (span_is(kind, "trap"))
            urls_add(&d->endless, url);
    }
    urls_sort(&d->there);
    urls_sort(&d->closed);
    buf_done(&text);
}

static status take_page(void *arg, const struct page *p)
{
    struct demo *d = arg;
    if (!page_is_good(p))
        return ST_OK;
    if (urls_begin(&d->endless, p->url))
        d->endless_pages++;
    else
        urls_add(&d->found, p->url);
    return ST_OK;
}

static void take_request(void *arg, const struct sample_request *r)
{
    struct demo *d = arg;
    struct buf url = {0};
    buf_puts(&url, "http://");
    buf_put(&url, r->host);
    buf_printf(&url, ":%d", sample_port(d->sample));
    buf_put(&url, r->target);
    if (urls_has(&d->closed, buf_cstr(&url)))
        d->trespasses++;
    buf_done(&url);
}

static unsigned print_missing(const struct urls *wanted, const struct urls *had, const char *what)
{
    unsigned n = 0;
    for (size_t i = 0; i < wanted->n; i++)
        if (!urls_has(had, wanted->p[i]) && n++ < DIFFERENCES_SHOWN)
            printf("  %s: %s\n", what, wanted->p[i]);
    return n;
}

static void print_comparison(const struct demo *d, unsigned missing, unsigned extra)
{
    struct buf out = {0};
    put_count(&out, d->there.n);
    buf_puts(&out, " pages are there, ");
    put_count(&out, d->found.n);
    buf_printf(&out, " were found: %u missing, %u not expected\n", missing, extra);
    buf_printf(&out, "%zu addresses are closed to crawlers: %u requests were made to them\n", d->closed.n,
               d->trespasses);
    buf_printf(&out, "%zu areas have no end: the crawler turned back after ", d->endless.n);
    put_count(&out, d->endless_pages);
    buf_puts(&out, " pages\n");
    print_buf(&out);
    buf_done(&out);
}

static int compare_step(struct demo *d)
{
    struct store *store = NULL;
    begin_step(d, "What was found, against what is there");
    int code = folder_open("demo", d->dir, &store);
    if (code != EXIT_DONE)
        return code;
    read_expected(d);
    status st = store_page_each(store, 0, take_page, d);
    store_free(store);
    if (st != ST_OK)
        return complain(EXIT_INTERNAL, "demo: read back: %s", status_name(st));
    urls_sort(&d->found);
    sample_ledger(d->sample, take_request, d);
    unsigned missing = print_missing(&d->there, &d->found, "missing");
    unsigned extra = print_missing(&d->found, &d->there, "not expected");
    print_comparison(d, missing, extra);
    bool is_good =
        missing == 0 && extra == 0 && d->trespasses == 0 && d->endless_pages <= d->endless.n * SAMPLE_TRAP_PAGES_MAX;
    puts(is_good ? "all is as it should be" : "this is not as it should be");
    fflush(stdout);
    return is_good ? EXIT_DONE : EXIT_NO;
}

/* ---- the nearest agent ---- */

static int near_step(struct demo *d, unsigned agents)
{
    struct buf dir = {0};
    begin_step(d, "Every site to its nearest agent");
    buf_printf(&dir, "%s/near", d->dir);
    int code = demo_near(buf_cstr(&dir), agents, &d->stop, &d->is_stopped);
    folder_remove(buf_cstr(&dir));
    buf_done(&dir);
    return code;
}

/* ---- the search page ---- */

/* The first free port from FIRST_PORT on, or any. */
static status open_page(const struct demo *d, bool is_check, struct serve **out)
{
    struct serve_opts opts = {.data_dir = d->dir,
                              .port = is_check ? 0 : FIRST_PORT,
                              .query_rate = is_check ? 0 : SERVE_QUERY_RATE_DEFAULT,
                              .version = SPAN(ORB_VERSION_SHORT)};
    status st = serve_new(&opts, out);
    while (st == ST_BUSY && opts.port != 0) {
        opts.port = opts.port < LAST_PORT ? opts.port + 1 : 0;
        st = serve_new(&opts, out);
    }
    return st;
}

static void print_invitation(const struct demo *d, int port)
{
    struct buf out = {0};
    put_count(&out, d->docs);
    buf_printf(&out,
               " pages can be searched. Open this in a browser:\n\n  http://127.0.0.1:%d/\n\nTry there, or follow:\n",
               port);
    for (size_t i = 0; i < demo_query_count; i++) {
        const struct demo_query *q = &demo_queries[i];
        if (!q->shows)
            continue;
        buf_printf(&out, "\n  %s\n      %s\n      http://127.0.0.1:%d", q->query, q->shows, port);
        demo_target("/search", q->query, &out);
        buf_putc(&out, '\n');
    }
    buf_printf(&out, "\n  http://127.0.0.1:%d/status\n      what the crawl did, and what the index holds\n\n", port);
    buf_printf(&out,
               "Results lead into the sample web, which stays up: http://bakery." DEMO_DOMAIN
               ":%d/ is one of its sites.\n",
               sample_port(d->sample));
    if (d->is_kept)
        buf_printf(&out, "Ctrl-C ends the demo; %s stays.\n", d->dir);
    else
        buf_puts(&out, "Ctrl-C ends the demo and removes everything it wrote.\n");
    print_buf(&out);
    fflush(stdout);
    buf_done(&out);
}

/* The coordinator serves it already. */
static int agents_search_step(struct demo *d, bool is_check)
{
    struct buf out = {0};
    int code = EXIT_DONE, sig;
    begin_step(d, "The search page and the dashboard");
    if (is_check) {
        const struct demo_page p = {demo_agents_port(d->agents), sample_port(d->sample), d->docs};
        unsigned failed = demo_check(&p);
        printf("%u checks failed\n", failed);
        code = failed ? EXIT_NO : EXIT_DONE;
    } else {
        buf_printf(&out, "The dashboard, where agents and channels are administered:\n\n  http://127.0.0.1:%d/\n",
                   demo_agents_admin_port(d->agents));
        buf_puts(&out, "      the first visit sets a password: ");
        if (!isatty(STDOUT_FILENO)) /* the link is as good as a password */
            buf_puts(&out, "its address is shown on a terminal only");
        else if (!demo_agents_link(d->agents, &out))
            buf_puts(&out, "done already");
        buf_puts(&out, "\n\n");
        print_buf(&out);
        print_invitation(d, demo_agents_port(d->agents));
        while (sigwait(&d->stop, &sig) != 0)
            ;
    }
    buf_done(&out);
    return code;
}

static int search_step(struct demo *d, bool is_check)
{
    struct serve *page = NULL;
    int code = EXIT_DONE, sig;
    if (d->agents)
        return agents_search_step(d, is_check);
    begin_step(d, "The search page");
    status st = open_page(d, is_check, &page);
    if (st != ST_OK)
        return complain(EXIT_IO, "demo: serve the search page on 127.0.0.1: %s: is loopback up?", status_name(st));
    if (is_check) {
        const struct demo_page p = {serve_port(page), sample_port(d->sample), d->docs};
        unsigned failed = demo_check(&p);
        printf("%u checks failed\n", failed);
        code = failed ? EXIT_NO : EXIT_DONE;
    } else {
        print_invitation(d, serve_port(page));
        while (sigwait(&d->stop, &sig) != 0)
            ;
    }
    serve_free(page);
    return code;
}

/* ---- */

static int run(struct demo *d, unsigned agents, bool is_check)
{
    struct sample_expected all, part;
    sample_get_expected(d->sample, SAMPLE_SITES, &all);
    sample_get_expected(d->sample, DEMO_PART, &part);
    begin_step(d, "A web to crawl");
    printf("%u made-up sites in %u languages are served on 127.0.0.1, port %d: bakery." DEMO_DOMAIN
           ", birds." DEMO_DOMAIN " and so on\n",
           all.hosts, all.languages, sample_port(d->sample));
    printf("%u of them are crawled now; the others are out of order, and a polite crawler waits minutes for such\n",
           part.hosts);
    int code = agents ? agents_step(d, agents, is_check) : crawl_step(d);
    if (code != EXIT_DONE)
        return code;
    code = compare_step(d);
    if (agents > 1 && code == EXIT_DONE)
        code = near_step(d, agents);
    if (d->is_stopped)
        return code;
    int search_code = search_step(d, is_check);
    return code != EXIT_DONE ? code : search_code;
}

static bool is_empty_folder(const char *dir)
{
    DIR *f = opendir(dir);
    unsigned n = 0;
    while (f && n < 3 && readdir(f))
        n++;
    bool is_missing = !f && errno == ENOENT;
    if (f)
        closedir(f);
    return is_missing || (f && n < 3); /* . and .. */
}

/* A temporary folder, or the one of --data: of the command line only, for settings name a folder with other pages. */
static int make_folder(struct demo *d, const struct options *o)
{
    const char *tmp = getenv("TMPDIR"), *given = opt_cstr(o, OPT_DATA);
    d->is_kept = given && o->v[OPT_DATA].source == FROM_FLAG;
    int n = d->is_kept ? snprintf(d->dir, sizeof(d->dir), "%s", given)
                       : snprintf(d->dir, sizeof(d->dir), "%s/orb-demo-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (n < 0 || (size_t)n >= sizeof(d->dir))
        return complain(EXIT_USAGE, "demo: make a folder: the name is too long: give a shorter %s",
                        d->is_kept ? "--data" : "TMPDIR");
    if (d->is_kept && !is_empty_folder(d->dir))
        return complain(EXIT_USAGE, "demo: --data %s: not an empty folder: give one that is not there yet", d->dir);
    if (!d->is_kept && !mkdtemp(d->dir))
        return complain(EXIT_IO, "demo: make a temporary folder: %s: check TMPDIR", strerror(errno));
    return EXIT_DONE;
}

int cmd_demo(const struct options *o)
{
    struct demo d = {0};
    sigset_t before;
    const char *inside = getenv(DEMO_INSIDE_VARIABLE);
    if (inside)
        return demo_lab_inside(inside);
    unsigned agents = (unsigned)opt_number(o, OPT_AGENTS);
    /* Agents get whole networks: with them each site is in one of its own. */
    const struct sample_opts opts = {.seed = DEMO_SEED, .domain = DEMO_DOMAIN, .is_spread = agents > 0};
    int code = make_folder(&d, o);
    if (code != EXIT_DONE)
        return code;
    /* Blocked before the first thread starts, so that none of them takes these and the folder is always removed. */
    sigemptyset(&d.stop);
    sigaddset(&d.stop, SIGINT);
    sigaddset(&d.stop, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &d.stop, &before);
    status st = sample_new(&opts, &d.sample);
    if (st != ST_OK)
        code = complain(EXIT_IO, "demo: serve the sample web on 127.0.0.1: %s: is loopback up?", status_name(st));
    else
        code = run(&d, agents, opt_flag(o, OPT_CHECK));
    demo_agents_free(d.agents);
    sample_free(d.sample);
    if (!d.is_kept)
        folder_remove(d.dir);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    urls_done(&d.there);
    urls_done(&d.closed);
    urls_done(&d.endless);
    urls_done(&d.found);
    return code;
}
