/* cmd_demo.c - the program crawls a web that it serves to itself, and holds what it found against what is there. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/command.h"
#include "cli/crawl_report.h"
#include "cli/folder.h"
#include "cli/screen.h"
#include "io/clock.h"
#include "sample/sample.h"

#define DEMO_SEED 1
#define DIFFERENCES_SHOWN 5

/* A sorted set of URLs. */
struct urls {
    char **p;
    size_t n, cap;
};

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void urls_add(struct urls *u, struct span url)
{
    u->p = mem_grow(u->p, &u->cap, u->n + 1, sizeof(*u->p));
    u->p[u->n++] = mem_str(url);
}

static bool urls_has(const struct urls *u, const char *url)
{
    return u->n && bsearch(&url, u->p, u->n, sizeof(*u->p), compare);
}

static void urls_sort(struct urls *u)
{
    if (u->n)
        qsort(u->p, u->n, sizeof(*u->p), compare);
}

static void urls_done(struct urls *u)
{
    for (size_t i = 0; i < u->n; i++)
        free(u->p[i]);
    free(u->p);
}

struct demo {
    struct sample *sample;
    struct sample_expected expected;
    char dir[256];
    struct urls there, closed, found; /* pages to find; not to be asked for; pages found */
    unsigned trespasses;              /* requests for closed URLs */
};

/* ---- the crawl ---- */

static void gather_seeds(const struct sample *sample, struct buf *text, struct urls *seeds)
{
    struct span rest, line;
    sample_seeds(sample, SAMPLE_CALM, text);
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

static void on_progress(void *arg, const struct crawl_stats *stats)
{
    screen_progress(arg, stats);
}

static status crawl_it(struct demo *d, struct screen *screen, struct crawl_stats *stats, crawl_end *end,
                       struct buf *why)
{
    struct buf hosts = {0}, seed_text = {0};
    struct urls seeds = {0};
    struct channel *channel = NULL;
    struct crawl *cr = NULL;
    sample_hosts_text(d->sample, &hosts);
    gather_seeds(d->sample, &seed_text, &seeds);
    struct crawl_opts opts = {.data_dir = d->dir,
                              .fetch = {.user_agent = SPAN("orbweaver/" ORB_VERSION_SHORT " (demo)"),
                                        .allow_private = true,
                                        .log = screen_log(screen)},
                              .dns = {.hosts = buf_span(&hosts)},
                              .delay_ms = 0,
                              .log = screen_log(screen)};
    status st = make_channel(&seeds, &channel, why);
    if (st == ST_OK)
        st = crawl_open(&opts, &cr, why);
    if (st == ST_OK) {
        st = crawl_add(cr, channel);
        channel = NULL;
    }
    if (st == ST_OK)
        st = crawl_run(cr, on_progress, screen, end);
    if (st == ST_OK)
        crawl_get_stats(cr, stats);
    crawl_close(cr);
    channel_free(channel);
    urls_done(&seeds);
    buf_done(&hosts);
    buf_done(&seed_text);
    return st;
}

/* ---- the comparison ---- */

static void read_expected(struct demo *d)
{
    struct buf text = {0};
    struct span rest, line;
    sample_expected_text(d->sample, SAMPLE_CALM, &text);
    rest = buf_span(&text);
    while (span_split(&rest, '\n', &line)) {
        size_t tab = span_find(line, '\t', 0);
        struct span kind = span_cut(line, 0, tab), url = span_from(line, tab + 1);
        if (span_is(kind, "page") || span_is(kind, "document"))
            urls_add(&d->there, url);
        else if (span_is(kind, "refused") || span_is(kind, "hidden"))
            urls_add(&d->closed, url);
    }
    urls_sort(&d->there);
    urls_sort(&d->closed);
    buf_done(&text);
}

static status take_page(void *arg, const struct page *p)
{
    struct demo *d = arg;
    if (page_is_good(p))
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

static int compare_all(struct demo *d)
{
    struct store *store = NULL;
    int code = folder_open("demo", d->dir, &store);
    if (code != EXIT_DONE)
        return code;
    status st = store_page_each(store, 0, take_page, d);
    store_free(store);
    if (st != ST_OK)
        return complain(EXIT_INTERNAL, "demo: read back: %s", status_name(st));
    urls_sort(&d->found);
    sample_ledger(d->sample, take_request, d);
    unsigned missing = print_missing(&d->there, &d->found, "missing");
    unsigned extra = print_missing(&d->found, &d->there, "not expected");
    printf("%zu pages are there, %zu were found: %u missing, %u not expected\n", d->there.n, d->found.n, missing,
           extra);
    printf("%zu addresses are closed to crawlers: %u requests were made to them\n", d->closed.n, d->trespasses);
    bool is_good = missing == 0 && extra == 0 && d->trespasses == 0;
    puts(is_good ? "all is as it should be" : "this is not as it should be");
    return is_good ? EXIT_DONE : EXIT_NO;
}

/* ---- */

static int run(struct demo *d, struct screen *screen)
{
    struct crawl_stats stats = {0};
    struct buf why = {0}, out = {0};
    crawl_end end = CRAWL_FAILED;
    status st = crawl_it(d, screen, &stats, &end, &why);
    screen_clear(screen);
    int code;
    if (st != ST_OK)
        code = complain(exit_code_of(st), "demo: crawl: %s", why.n ? buf_cstr(&why) : status_name(st));
    else if (end != CRAWL_COMPLETE)
        code = complain(EXIT_NO, "demo: stopped");
    else {
        struct crawl_report r = {&stats, end, d->dir, 0, clock_peak_rss()};
        crawl_report_text(&r, &out);
        print_buf(&out);
        read_expected(d);
        code = compare_all(d);
    }
    buf_done(&why);
    buf_done(&out);
    return code;
}

int cmd_demo(const struct options *o)
{
    struct demo d = {0};
    const char *tmp = getenv("TMPDIR");
    const struct sample_opts opts = {.seed = DEMO_SEED};
    const struct screen_opts so = {.level = LOG_WARN, .has_line = isatty(STDERR_FILENO)};
    int n = snprintf(d.dir, sizeof(d.dir), "%s/orb-demo-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (n < 0 || (size_t)n >= sizeof(d.dir) || !mkdtemp(d.dir))
        return complain(EXIT_IO, "demo: make a temporary folder: %s: check TMPDIR", strerror(errno));
    int code;
    struct screen *screen = NULL;
    status st = sample_new(&opts, &d.sample);
    if (st != ST_OK)
        code = complain(EXIT_IO, "demo: serve the sample web on 127.0.0.1: %s: is loopback up?", status_name(st));
    else if (!(screen = screen_new(&so)))
        code = complain(EXIT_INTERNAL, "demo: open standard error");
    else {
        sample_get_expected(d.sample, SAMPLE_CALM, &d.expected);
        printf("serving a sample web of %u hosts on 127.0.0.1 port %d, and crawling it\n", d.expected.hosts,
               sample_port(d.sample));
        fflush(stdout);
        code = run(&d, screen);
    }
    screen_free(screen);
    sample_free(d.sample);
    folder_remove(d.dir);
    urls_done(&d.there);
    urls_done(&d.closed);
    urls_done(&d.found);
    return code;
}
