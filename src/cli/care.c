#include "cli/care.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "apply/apply_sink.h"
#include "cli/command.h"
#include "cli/crawl_setup.h"
#include "crawl/crawl.h"
#include "io/clock.h"
#include "store/fleet.h"

#define PROGRESS_MS 200

/* ---- progress ---- */

bool wants_meter(const struct options *o)
{
    return isatty(STDERR_FILENO) && !opt_flag(o, OPT_JSON);
}

void meter_show(struct meter *m, const char *what, uint64_t done, uint64_t all)
{
    mono_ms now = clock_mono();
    if (!m->is_on || now - m->shown < PROGRESS_MS)
        return;
    m->shown = now;
    if (all)
        fprintf(stderr, "\r\033[K%s %3.0f %%", what, 100.0 * (double)done / (double)all);
    else if (done)
        fprintf(stderr, "\r\033[K%s %llu", what, (unsigned long long)done);
    else
        fprintf(stderr, "\r\033[K%s ...", what);
}

void meter_clear(struct meter *m)
{
    if (m->is_on && m->shown)
        fputs("\r\033[K", stderr);
    m->shown = 0;
}

static void on_erasing(void *arg, const char *what, uint64_t done, uint64_t all)
{
    meter_show(&((struct care *)arg)->meter, what, done, all);
}

static void on_making(void *arg, uint64_t done, uint64_t all)
{
    meter_show(&((struct care *)arg)->meter, "index", done, all);
}

/* ---- opening ---- */

static const char *advice_of(const struct care *c, status st)
{
    if (st == ST_BUSY)
        return fleet_is_there(c->dir) ? "ask the coordinator that runs there, or stop it"
                                      : "stop the crawl with Ctrl-C or wait for its end, then run this again";
    return folder_advice(st);
}

int care_complain(const struct care *c, status st, const char *doing)
{
    return complain(exit_code_of(st), "%s: %s: %s: run it again, it goes on where it was", c->what, doing,
                    st == ST_IO || st == ST_FULL ? strerror(errno) : status_name(st));
}

int care_open(struct care *c, const char *what, const struct options *o)
{
    struct buf why = {0};
    *c = (struct care){.what = what, .dir = opt_cstr(o, OPT_DATA)};
    c->meter.is_on = wants_meter(o);
    if (!c->dir)
        return complain(EXIT_USAGE, "%s: --data: empty: give a folder", what);
    /* For reading first: a folder that is not there must not be made. */
    status st = store_open(c->dir, STORE_READ, &c->store, &why);
    store_free(c->store);
    c->store = NULL;
    if (st == ST_OK || st == ST_UNSUPPORTED) {
        buf_clear(&why);
        st = store_open(c->dir, STORE_WRITE, &c->store, &why);
    }
    int code = EXIT_DONE;
    if (st != ST_OK)
        code =
            complain(st == ST_NOT_FOUND ? EXIT_IO : exit_code_of(st), "%s: open data folder %s: %s: %s", what, c->dir,
                     st == ST_NOT_FOUND ? "not there"
                     : why.n            ? buf_cstr(&why)
                                        : status_name(st),
                     advice_of(c, st));
    buf_done(&why);
    return code;
}

static bool has_index(const char *dir)
{
    struct buf path = {0};
    apply_contents_dir(dir, &path);
    bool has = access(path.p, F_OK) == 0;
    buf_clear(&path);
    buf_printf(&path, "%s/contents.new", dir);
    has |= access(buf_cstr(&path), F_OK) == 0;
    buf_done(&path);
    return has;
}

void care_find_alike(struct care *c)
{
    meter_show(&c->meter, "near-duplicates", 0, 0);
    apply_find_alike(c->apply, UINT64_MAX);
    meter_clear(&c->meter);
}

int care_apply(struct care *c)
{
    struct buf why = {0};
    struct apply_opts o = {.store = c->store,
                           .no_index = !has_index(c->dir),
                           .progress = on_making,
                           .erasing = on_erasing,
                           .progress_arg = c};
    status st = apply_open(&o, &c->apply, &c->start, &why);
    meter_clear(&c->meter);
    if (st == ST_OK)
        care_find_alike(c);
    int code = EXIT_DONE;
    if (st != ST_OK)
        code = care_complain(c, st, why.n ? buf_cstr(&why) : "open the index");
    buf_done(&why);
    return code;
}

/* ---- what waits ---- */

static void close_folder(struct care *c)
{
    apply_free(c->apply);
    store_free(c->store);
    c->apply = NULL;
    c->store = NULL;
}

/* A coordinator's folder has nothing that waits, nor has one that was never crawled into. */
static bool has_crawl(const char *dir)
{
    struct buf path = {0};
    buf_printf(&path, "%s/seen", dir);
    bool has = access(buf_cstr(&path), F_OK) == 0 && !fleet_is_there(dir);
    buf_done(&path);
    return has;
}

static status settle(struct care *c, struct span user_agent, struct buf *why)
{
    struct apply_sink_opts sink = {.no_index = !has_index(c->dir), .shards = 1};
    struct crawl_opts o = {.data_dir = c->dir,
                           .fetch = {.user_agent = user_agent},
                           .shards = 1,
                           .jobs = 1,
                           .open_sink = apply_sink_open,
                           .sink_arg = &sink};
    struct crawl *cr = NULL;
    status st = crawl_open(&o, &cr, why);
    if (st != ST_OK)
        return st;
    st = crawl_settle(cr);
    if (st != ST_OK)
        buf_put(why, crawl_failure(cr));
    crawl_close(cr);
    return st;
}

int care_settle(struct care *c)
{
    struct buf agent = {0}, why = {0};
    status st = ST_OK;
    meter_show(&c->meter, "what waits", 0, 0);
    if (store_setting_get(c->store, "user_agent", &agent) != ST_OK)
        buf_puts(&agent, "orbweaver");
    close_folder(c);
    if (has_crawl(c->dir))
        st = settle(c, buf_span(&agent), &why);
    meter_clear(&c->meter);
    int code = st == ST_OK ? EXIT_DONE : care_complain(c, st, why.n ? buf_cstr(&why) : "write what waits anew");
    buf_done(&agent);
    buf_done(&why);
    return code;
}

void care_done(struct care *c)
{
    close_folder(c);
}
