#include "cli/opt_out_file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apply/opt_out.h"
#include "cli/care.h"
#include "cli/command.h"
#include "cli/crawl_setup.h"
#include "codec/digest.h"
#include "io/clock.h"
#include "store/file.h"
#include "store/warc_purge.h"

#define LOOK_MS 2000

/* One number that changes with the file. */
static uint64_t look_of(const char *path)
{
    struct stat sb;
    if (stat(path, &sb) != 0)
        return 0;
    uint64_t n = (uint64_t)sb.st_mtim.tv_sec * 1000000007u + (uint64_t)sb.st_mtim.tv_nsec;
    n = n * 31 + (uint64_t)sb.st_size;
    n = n * 31 + (uint64_t)sb.st_ino;
    return n ? n : 1;
}

static int read_list(const struct opt_out_file *f, const char *what, struct buf *out)
{
    status st = file_read(f->path, PLACES_LIST_MAX, out);
    if (st == ST_OK)
        return EXIT_DONE;
    return complain(st == ST_NOT_FOUND ? EXIT_IO : exit_code_of(st), "%s: --opt-out %s: %s: check the path", what,
                    f->path, st == ST_IO ? strerror(errno) : status_name(st));
}

int opt_out_file_put(struct opt_out_file *f, const char *what, const struct options *o, struct store *store)
{
    struct buf list = {0}, why = {0};
    struct opt_out_change change;
    *f = (struct opt_out_file){.path = opt_cstr(o, OPT_OPT_OUT), .dir = opt_cstr(o, OPT_DATA)};
    if (!f->path)
        return EXIT_DONE;
    f->seen = look_of(f->path);
    int code = read_list(f, what, &list);
    status st = code == EXIT_DONE ? opt_out_apply(store, buf_span(&list), clock_wall(), &change, &why) : ST_OK;
    if (st != ST_OK)
        code = complain(exit_code_of(st), "%s: --opt-out %s: %s: mend it and run this again", what, f->path,
                        why.n ? buf_cstr(&why) : status_name(st));
    buf_done(&list);
    buf_done(&why);
    return code;
}

int opt_out_file_apply(struct opt_out_file *f, const char *what, const struct options *o)
{
    struct buf why = {0};
    struct store *store = NULL;
    *f = (struct opt_out_file){0};
    if (!opt_cstr(o, OPT_OPT_OUT))
        return EXIT_DONE;
    const char *dir = opt_cstr(o, OPT_DATA);
    status st = store_open(dir, STORE_WRITE, &store, &why);
    int code = st == ST_OK ? opt_out_file_put(f, what, o, store)
                           : complain(exit_code_of(st), "%s: open data folder %s: %s: %s", what, dir,
                                      why.n ? buf_cstr(&why) : status_name(st), folder_advice(st));
    store_free(store);
    buf_done(&why);
    return code;
}

/* ---- WARC files ---- */

struct purging {
    struct places *places;
    struct meter meter;
    uint64_t records;
};

static bool is_listed(void *arg, struct span url)
{
    struct purging *p = arg;
    meter_show(&p->meter, "WARC records", ++p->records, 0);
    return places_have_address(p->places, url);
}

/* One word for what the list names, whatever is written behind it. */
static status word_of(struct span list, struct buf *out)
{
    struct arena a;
    struct buf all = {0};
    struct span place, note;
    struct places_item item;
    unsigned line = 0;
    status st = ST_OK;
    arena_init(&a);
    while (st == ST_OK && places_next_line(&list, &line, &place, &note)) {
        arena_reset(&a);
        st = places_parse(&a, place, &item, NULL);
        if (st == ST_OK)
            buf_printf(&all, "%.*s\n", SPAN_ARG(item.text));
    }
    struct digest128 d = digest_blake2b128(buf_span(&all));
    for (size_t i = 0; i < sizeof(d.b); i++)
        buf_printf(out, "%02x", d.b[i]);
    buf_done(&all);
    arena_done(&a);
    return st;
}

static status purge_listed(const char *dir, struct span list, struct purging *p, struct buf *why)
{
    static const struct sip_key key = {1, 2}; /* of the operator's own words */
    struct buf word = {0};
    struct warc_purged gone = {0};
    p->places = places_new(&key);
    status st = word_of(list, &word);
    bool is_done = st == ST_OK && warc_listed_is(dir, buf_span(&word));
    if (st == ST_OK && !is_done)
        st = places_add_list(p->places, list, why);
    if (st == ST_OK && !is_done)
        st = warc_purge(dir, false, is_listed, p, &gone, why);
    if (st == ST_OK && !is_done)
        st = warc_listed_put(dir, buf_span(&word));
    meter_clear(&p->meter);
    places_free(p->places);
    buf_done(&gone.names);
    buf_done(&word);
    return st;
}

int opt_out_file_purge(struct opt_out_file *f, const char *what, const struct options *o)
{
    const char *dir = opt_cstr(o, OPT_WARC);
    struct buf list = {0}, why = {0};
    struct purging p = {.meter = {.is_on = wants_meter(o)}};
    if (!dir || access(dir, F_OK) != 0)
        return EXIT_DONE;
    int code = f->path ? read_list(f, what, &list) : EXIT_DONE;
    status st = ST_OK;
    if (code == EXIT_DONE)
        st = f->path ? purge_listed(dir, buf_span(&list), &p, &why) : warc_listed_put(dir, (struct span){0});
    if (st != ST_OK)
        code = complain(exit_code_of(st), "%s: --opt-out: WARC folder %s: %s: %s", what, dir,
                        st == ST_BUSY                  ? "in use"
                        : why.n                        ? buf_cstr(&why)
                        : st == ST_IO || st == ST_FULL ? strerror(errno)
                                                       : status_name(st),
                        st == ST_BUSY      ? "wait for the crawl that writes there, then run this again"
                        : st == ST_CORRUPT ? "move that file elsewhere and run this again"
                                           : "mend that and run this again");
    buf_done(&list);
    buf_done(&why);
    return code;
}

/* ---- while a crawl runs ---- */

/* A list that cannot be read changes nothing: what it named before stays refused. */
static status reread(const struct opt_out_file *f, struct crawl *cr, struct buf *why)
{
    struct buf list = {0};
    struct store *store = NULL;
    struct places *places = NULL;
    status st = file_read(f->path, PLACES_LIST_MAX, &list);
    if (st == ST_OK)
        st = store_open(f->dir, STORE_READ, &store, why);
    if (st == ST_OK)
        st = opt_out_places(store, buf_span(&list), &places, why);
    if (st == ST_OK)
        st = crawl_refuse(cr, places);
    store_free(store);
    buf_done(&list);
    return st;
}

void opt_out_file_watch(struct opt_out_file *f, struct crawl *cr)
{
    mono_ms now = clock_mono();
    if (!f->path || now - f->looked < LOOK_MS)
        return;
    f->looked = now;
    uint64_t look = look_of(f->path);
    if (look == f->seen || !look)
        return;
    struct buf why = {0};
    f->seen = look;
    f->has_changed = true;
    status st = reread(f, cr, &why);
    if (st == ST_OK)
        log_write(f->log, LOG_INFO, "cli", "the opt-out list has changed and was read again");
    else
        log_write(f->log, LOG_ERROR, "cli", "the opt-out list has changed and cannot be used: %s",
                  why.n ? buf_cstr(&why) : status_name(st));
    buf_done(&why);
}

int opt_out_file_finish(struct opt_out_file *f, const char *what, const struct options *o)
{
    struct care c;
    if (!f->path || (!f->has_changed && look_of(f->path) == f->seen))
        return EXIT_DONE;
    int code = opt_out_file_apply(f, what, o);
    if (code != EXIT_DONE)
        return code;
    code = care_open(&c, what, o);
    if (code == EXIT_DONE)
        code = care_apply(&c);
    care_done(&c);
    return code == EXIT_DONE ? opt_out_file_purge(f, what, o) : code;
}
