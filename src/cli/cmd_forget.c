#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apply/opt_out.h"
#include "cli/admin_call.h"
#include "cli/care.h"
#include "cli/command.h"
#include "cli/folder.h"
#include "cli/forget_report.h"
#include "coord/forgetting.h"
#include "io/clock.h"
#include "store/fleet.h"
#include "web/places.h"

#define WHY_MAX 1000

struct forget {
    const struct options *o;
    struct arena arena;
    struct places *places;
    struct span *texts; /* in the arena: the places in the one way they are written */
    size_t count;
    struct forget_report report;
};

/* ---- what is meant ---- */

static int read_places(struct forget *f)
{
    static const struct sip_key key = {1, 2}; /* of this command's own words */
    struct buf why = {0};
    int code = EXIT_DONE;
    f->places = places_new(&key);
    f->texts = arena_alloc(&f->arena, f->o->arg_count * sizeof(*f->texts));
    for (size_t i = 0; code == EXIT_DONE && i < f->o->arg_count; i++) {
        struct places_item item;
        buf_clear(&why);
        status st = places_parse(&f->arena, f->o->args[i], &item, &why);
        if (st == ST_OK)
            st = places_add(f->places, item.text, &why);
        if (st != ST_OK)
            code = complain(EXIT_INPUT, "forget %.*s: %s: give a URL, URL*, a host or .DOMAIN", SPAN_ARG(f->o->args[i]),
                            why.n ? buf_cstr(&why) : status_name(st));
        else
            f->texts[f->count++] = item.text;
    }
    buf_done(&why);
    f->report.places = f->texts;
    f->report.place_count = f->count;
    return code;
}

static bool is_meant(void *arg, struct span url)
{
    return places_have_address(((struct forget *)arg)->places, url);
}

/* ---- WARC files ---- */

/* Those of --warc, or else a coordinator's own, which need not be there. */
static int purge_warc(struct forget *f)
{
    const char *dir = opt_cstr(f->o, OPT_WARC);
    struct buf why = {0}, own = {0};
    if (!dir && fleet_is_there(opt_cstr(f->o, OPT_DATA))) {
        buf_printf(&own, "%s/warc", opt_cstr(f->o, OPT_DATA));
        dir = access(buf_cstr(&own), F_OK) == 0 ? own.p : NULL;
    }
    if (!dir) {
        buf_done(&own);
        return EXIT_DONE;
    }
    f->report.has_warc = true;
    status st = warc_purge(dir, f->report.is_dry, is_meant, f, &f->report.warc, &why);
    int code = EXIT_DONE;
    if (st == ST_BUSY)
        code = complain(EXIT_IO,
                        "forget: WARC folder %s: in use: wait for the crawl that writes there, then run this "
                        "again",
                        dir);
    else if (st != ST_OK)
        code = complain(st == ST_NOT_FOUND ? EXIT_IO : exit_code_of(st), "forget: WARC folder %s: %s: %s", dir,
                        why.n                          ? buf_cstr(&why)
                        : st == ST_NOT_FOUND           ? "not there"
                        : st == ST_IO || st == ST_FULL ? strerror(errno)
                                                       : status_name(st),
                        st == ST_CORRUPT ? "the other files are done: see orb warc FILE, remove it or move it elsewhere"
                        : st == ST_FULL  ? "free some space, then run this again"
                                         : "check --warc");
    buf_done(&why);
    buf_done(&own);
    return code;
}

/* ---- looking only ---- */

static status count_page(void *arg, const struct page *p)
{
    struct forget *f = arg;
    bool is = is_meant(f, p->url);
    f->report.pages += is;
    f->report.texts += is && p->content;
    return ST_OK;
}

static int look(struct forget *f)
{
    struct store *store = NULL;
    int code = folder_open("forget", opt_cstr(f->o, OPT_DATA), &store);
    if (code != EXIT_DONE)
        return code;
    status st = store_page_each(store, 0, count_page, f);
    store_free(store);
    if (st != ST_OK)
        return complain(exit_code_of(st), "forget: read data folder: %s", status_name(st));
    return purge_warc(f);
}

static int list(const struct options *o)
{
    struct store *store = NULL;
    struct buf out = {0};
    int code = folder_open("forget", opt_cstr(o, OPT_DATA), &store);
    if (code != EXIT_DONE)
        return code;
    status st = opt_flag(o, OPT_JSON) ? forget_list_json(store, &out) : forget_list_text(store, &out);
    store_free(store);
    if (st == ST_OK)
        print_buf(&out);
    else
        code = complain(exit_code_of(st), "forget: read data folder: %s", status_name(st));
    buf_done(&out);
    return finish_output(code);
}

/* ---- doing it ---- */

/* Remembered first: after that a kill can only delay it. */
static status remember(struct forget *f, struct store *s)
{
    wall_ms now = clock_wall();
    status st = store_begin(s);
    for (size_t i = 0; st == ST_OK && i < f->count; i++)
        st = opt_out_forget_anyway(
            s, &(struct forgotten){f->texts[i], now, span_cut(opt_text(f->o, OPT_WHY), 0, WHY_MAX)});
    if (st == ST_OK)
        st = apply_forget_soon(s);
    if (st == ST_OK)
        st = store_commit(s);
    if (st != ST_OK)
        store_rollback(s);
    return st == ST_OK ? store_sync(s) : st;
}

/* ---- asking the coordinator that runs ---- */

/* The coordinator's own files are its affair, also when they are named. */
static bool is_its_warc(const struct forget *f)
{
    struct buf own = {0};
    struct stat a, b;
    buf_printf(&own, "%s/warc", opt_cstr(f->o, OPT_DATA));
    bool is = stat(buf_cstr(&own), &a) == 0 && stat(opt_cstr(f->o, OPT_WARC), &b) == 0 && a.st_dev == b.st_dev &&
              a.st_ino == b.st_ino;
    buf_done(&own);
    return is;
}

static int ask_coordinator(struct forget *f, bool is_undo)
{
    struct buf form = {0}, raw = {0};
    const struct json_node *answer;
    for (size_t i = 0; i < f->count; i++)
        form_text(&form, "places", f->texts[i]);
    form_option(&form, "why", f->o, OPT_WHY);
    if (is_undo)
        form_text(&form, "undo", SPAN("true"));
    int code = admin_call(f->o, "forget", "/api/v1/forget", &form, &f->arena, &raw, &answer);
    if (code == EXIT_DONE) {
        f->report.is_coordinated = true;
        f->report.goes_on = !is_undo && json_member(answer, "done")->number <= 0;
        f->report.pages = (uint64_t)json_member_number(answer, "pages");
        f->report.texts = (uint64_t)json_member_number(answer, "texts");
        f->report.own_records = (uint64_t)json_member_number(answer, "warc_records");
    }
    if (code == EXIT_DONE && !is_undo && opt_cstr(f->o, OPT_WARC) && !is_its_warc(f))
        code = purge_warc(f);
    buf_done(&form);
    buf_done(&raw);
    return code;
}

/* A coordinator that runs has the folder, and agents to tell. */
static bool is_coordinated(const struct forget *f)
{
    const char *dir = opt_cstr(f->o, OPT_DATA);
    return dir && fleet_is_there(dir) && folder_writer(dir);
}

static status add_place(void *arg, const struct forgotten *p)
{
    return places_add(arg, p->place, NULL);
}

static status purge_fleet(const char *dir, const struct places *places)
{
    struct fleet_store *fleet = NULL;
    struct buf why = {0};
    status st = fleet_open(dir, &fleet, &why);
    if (st == ST_OK)
        st = forgetting_purge_fleet(fleet, places);
    fleet_close(fleet);
    buf_done(&why);
    return st;
}

/* What else a coordinator's folder has: then nothing is left to do for the coordinator. */
static int purge_files(struct forget *f)
{
    const char *dir = opt_cstr(f->o, OPT_DATA);
    struct care c;
    int code = purge_warc(f);
    if (code != EXIT_DONE || !fleet_is_there(dir))
        return code;
    status st = forgetting_purge_links(dir, f->places);
    if (st == ST_OK)
        st = purge_fleet(dir, f->places);
    if (st != ST_OK)
        return complain(exit_code_of(st), "forget: links and orders of %s: %s: run it again", dir,
                        st == ST_IO || st == ST_FULL ? strerror(errno) : status_name(st));
    code = care_open(&c, "forget", f->o);
    if (code == EXIT_DONE && !opt_cstr(f->o, OPT_WARC))
        st = store_setting_remove(c.store, APPLY_FORGET_FILES_SETTING);
    if (st != ST_OK)
        code = care_complain(&c, st, "end it");
    care_done(&c);
    return code;
}

static int forget(struct forget *f)
{
    struct care c;
    int code = care_open(&c, "forget", f->o);
    if (code == EXIT_DONE) {
        status st = remember(f, c.store);
        if (st == ST_OK) /* what was forgotten before may have been left in the middle */
            st = store_forgotten_each(c.store, add_place, f->places);
        if (st != ST_OK)
            code = care_complain(&c, st, "remember it");
    }
    if (code == EXIT_DONE)
        code = care_apply(&c);
    if (code == EXIT_DONE) {
        f->report.pages = c.start.erased.pages;
        f->report.texts = c.start.erased.texts;
        f->report.was_remade = c.start.erased.was_remade;
        f->report.is_log_in_use = c.start.erased.is_log_in_use;
        code = care_settle(&c);
    }
    care_done(&c);
    return code == EXIT_DONE ? purge_files(f) : code;
}

/* All of them or none. */
static int undo(struct forget *f)
{
    struct care c;
    int code = care_open(&c, "forget", f->o);
    status st = code == EXIT_DONE ? store_begin(c.store) : ST_OK;
    for (size_t i = 0; code == EXIT_DONE && st == ST_OK && i < f->count; i++) {
        st = store_forgotten_remove(c.store, f->texts[i]);
        if (st == ST_NOT_FOUND)
            code = complain(EXIT_NO, "forget --undo %.*s: it is not forgotten: orb forget --list shows what is",
                            SPAN_ARG(f->texts[i]));
    }
    if (code == EXIT_DONE && st == ST_OK && !f->report.is_dry)
        st = store_commit(c.store);
    else if (c.store)
        store_rollback(c.store);
    if (code == EXIT_DONE && st != ST_OK)
        code = care_complain(&c, st, "undo it");
    care_done(&c);
    return code;
}

static void put_undone(const struct forget *f, struct buf *out)
{
    for (size_t i = 0; i < f->count; i++) {
        put_safe(out, f->texts[i]);
        buf_puts(out, f->report.is_dry ? " is forgotten, and might be crawled again\n"
                                       : " may be crawled again: when it is given as a URL, or a page that changed "
                                         "links there\n");
    }
}

/* Before anything is taken out: half of it would be done else. */
static int check_warc(const struct forget *f)
{
    const char *dir = opt_cstr(f->o, OPT_WARC);
    if (!dir || access(dir, F_OK) == 0)
        return EXIT_DONE;
    return complain(EXIT_IO, "forget: WARC folder %s: %s: check --warc", dir, strerror(errno));
}

static int run(struct forget *f)
{
    struct buf out = {0};
    int code = read_places(f);
    if (code == EXIT_DONE)
        code = check_warc(f);
    if (code != EXIT_DONE)
        return code;
    bool is_undo = opt_flag(f->o, OPT_UNDO);
    if (!f->report.is_dry && is_coordinated(f))
        code = ask_coordinator(f, is_undo);
    else if (is_undo)
        code = undo(f);
    else
        code = f->report.is_dry ? look(f) : forget(f);
    if (code == EXIT_DONE) {
        if (opt_flag(f->o, OPT_JSON))
            forget_report_json(&f->report, &out);
        else if (is_undo)
            put_undone(f, &out);
        else
            forget_report_text(&f->report, &out);
        print_buf(&out);
    }
    buf_done(&out);
    return finish_output(code);
}

int cmd_forget(const struct options *o)
{
    struct forget f = {.o = o, .report = {.is_dry = opt_flag(o, OPT_DRY_RUN)}};
    if (opt_flag(o, OPT_FORGOTTEN))
        return o->arg_count ? complain(EXIT_USAGE, "forget --list: shows everything: leave %s out", o->args[0].p)
                            : list(o);
    if (!o->arg_count)
        return complain(EXIT_USAGE, "forget: what? give URLs, hosts or .DOMAINs: see orb help forget");
    arena_init(&f.arena);
    int code = run(&f);
    places_free(f.places);
    buf_done(&f.report.warc.names);
    arena_done(&f.arena);
    return code;
}
