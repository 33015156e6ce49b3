#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "apply/retain.h"
#include "base/table.h"
#include "cli/care.h"
#include "cli/command.h"
#include "cli/folder.h"
#include "cli/format.h"
#include "cli/opt_out_file.h"
#include "index/index.h"
#include "io/clock.h"
#include "store/contents.h"
#include "store/fleet.h"
#include "store/snapshot.h"
#include "store/warc_purge.h"

#define DAY_MS (24ll * 3600 * 1000)

struct prune {
    const struct options *o;
    struct retain retain;
    bool is_dry;
    uint64_t pages;                         /* too old */
    uint64_t texts_bytes, index_bytes;      /* won; of a dry run: of texts that no longer count */
    uint64_t index_dead;                    /* of a dry run: documents */
    uint64_t database_bytes, orphans_bytes; /* won */
    struct warc_purged warc;
    struct table live; /* of a dry run: key of a page -> its content, as a pointer */
};

/* ---- what is said ---- */

static void put_line(struct buf *out, const char *name, uint64_t n, bool is_bytes, const char *behind)
{
    buf_printf(out, "%-10s", name);
    if (is_bytes)
        put_bytes(out, n);
    else
        put_count(out, n);
    buf_printf(out, "%s\n", behind);
}

static void put_text(const struct prune *p, struct buf *out)
{
    uint64_t all = p->texts_bytes + p->index_bytes + p->database_bytes + p->orphans_bytes + p->warc.bytes;
    put_line(out, "pages", p->pages, false, p->is_dry ? " are too old" : " were too old");
    put_line(out, "texts", p->texts_bytes, true, p->is_dry ? " no longer count" : "");
    if (p->is_dry)
        put_line(out, "index", p->index_dead, false, " pages in it are dead");
    else
        put_line(out, "index", p->index_bytes, true, "");
    if (!p->is_dry)
        put_line(out, "database", p->database_bytes, true, "");
    put_line(out, "orphans", p->orphans_bytes, true, "");
    if (opt_cstr(p->o, OPT_WARC) || p->warc.files) {
        put_line(out, "warc", p->warc.bytes, true, "");
        put_line(out, "", p->warc.files, false, p->warc.files == 1 ? " file" : " files");
        if (p->warc.kept)
            put_line(out, "", p->warc.kept, false,
                     p->warc.kept == 1 ? " answer in old files stays: younger records refer to it"
                                       : " answers in old files stay: younger records refer to them");
    }
    put_line(out, p->is_dry ? "to win" : "won", all, true, "");
}

static void put_json(const struct prune *p, struct buf *out)
{
    struct json j = {.out = out};
    const struct {
        const char *name;
        uint64_t n;
    } numbers[] = {
        {"pages", p->pages},           {"texts_bytes", p->texts_bytes},       {"index_bytes", p->index_bytes},
        {"index_dead", p->index_dead}, {"database_bytes", p->database_bytes}, {"orphans_bytes", p->orphans_bytes},
        {"warc_files", p->warc.files}, {"warc_bytes", p->warc.bytes},         {"warc_kept", p->warc.kept}};
    json_open(&j, '{');
    json_key(&j, "dry_run");
    json_bool(&j, p->is_dry);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
        json_key(&j, numbers[i].name);
        json_u64(&j, numbers[i].n);
    }
    json_close(&j, '}');
    buf_putc(out, '\n');
}

/* ---- WARC files ---- */

static int expire_warc(struct prune *p)
{
    const char *dir = opt_cstr(p->o, OPT_WARC);
    int64_t days = opt_number(p->o, OPT_KEEP_WARC_DAYS);
    struct buf own = {0};
    if (!dir && fleet_is_there(opt_cstr(p->o, OPT_DATA))) {
        buf_printf(&own, "%s/warc", opt_cstr(p->o, OPT_DATA));
        dir = buf_cstr(&own);
    }
    if (!dir)
        return EXIT_DONE;
    status st = warc_expire(dir, p->is_dry, (uint64_t)opt_number(p->o, OPT_KEEP_WARC),
                            days ? p->retain.now - days * DAY_MS : 0, &p->warc);
    int code = EXIT_DONE;
    if (st == ST_BUSY)
        code = complain(EXIT_IO,
                        "prune: WARC folder %s: in use: wait for the crawl that writes there, then run this "
                        "again",
                        dir);
    else if (st != ST_OK && !(st == ST_NOT_FOUND && own.n))
        code = complain(st == ST_NOT_FOUND ? EXIT_IO : exit_code_of(st), "prune: WARC folder %s: %s: check --warc", dir,
                        st == ST_NOT_FOUND ? "not there"
                        : st == ST_IO      ? strerror(errno)
                                           : status_name(st));
    buf_done(&own);
    return code;
}

/* ---- looking only ---- */

static status look_at_page(void *arg, const struct page *page)
{
    struct prune *p = arg;
    bool is_over = retain_is_over(&p->retain, page);
    p->pages += is_over;
    if (!is_over && page->content)
        table_put(&p->live, page->key, (void *)(uintptr_t)page->content);
    return ST_OK;
}

static status look_at_text(void *arg, const struct contents_record *r)
{
    struct prune *p = arg;
    if (r->is_gone || (uint64_t)(uintptr_t)table_get(&p->live, r->key) != r->fetch_number)
        p->texts_bytes += r->content.n;
    return ST_OK;
}

static void look_at_index(struct prune *p, const char *dir)
{
    struct buf path = {0};
    struct index_reader *reader = NULL;
    struct index_snapshot *snapshot = NULL;
    struct index_stats n = {0};
    apply_index_dir(dir, &path);
    if (index_reader_open(path.p, &reader, NULL) == ST_OK && index_reader_snapshot(reader, &snapshot) == ST_OK)
        index_snapshot_stats(snapshot, &n);
    p->index_dead = n.deleted;
    index_snapshot_free(snapshot);
    index_reader_free(reader);
    buf_done(&path);
}

static int look(struct prune *p)
{
    const char *dir = opt_cstr(p->o, OPT_DATA);
    struct store *store = NULL;
    struct buf path = {0};
    int code = folder_open("prune", dir, &store);
    if (code != EXIT_DONE)
        return code;
    status st = store_page_each(store, 0, look_at_page, p);
    apply_contents_dir(dir, &path);
    if (st == ST_OK) {
        st = contents_each(path.p, 0, look_at_text, p, NULL);
        st = st == ST_NOT_FOUND ? ST_OK : st;
    }
    store_free(store);
    buf_done(&path);
    table_done(&p->live);
    if (st != ST_OK)
        return complain(exit_code_of(st), "prune: read data folder %s: %s", dir, status_name(st));
    look_at_index(p, dir);
    p->orphans_bytes = snapshot_sweep(dir, true);
    return expire_warc(p);
}

/* ---- doing it ---- */

static bool is_over(void *arg, const struct page *page)
{
    return retain_is_over(&((struct prune *)arg)->retain, page);
}

static uint64_t database_bytes(const char *dir)
{
    static const char *const names[] = {"orb.db", "orb.db-wal"};
    struct buf path = {0};
    uint64_t n = 0;
    for (size_t i = 0; i < 2; i++) {
        struct stat sb;
        buf_clear(&path);
        buf_printf(&path, "%s/%s", dir, names[i]);
        n += stat(buf_cstr(&path), &sb) == 0 ? (uint64_t)sb.st_size : 0;
    }
    buf_done(&path);
    return n;
}

static int prune(struct prune *p)
{
    struct care c;
    struct apply_erased gone = {0};
    struct apply_pruned won = {0};
    status st = ST_OK;
    const char *doing = "take old pages out";
    uint64_t before = 0;
    struct opt_out_file opt_out;
    int code = care_open(&c, "prune", p->o);
    if (code == EXIT_DONE)
        code = opt_out_file_put(&opt_out, "prune", p->o, c.store);
    if (code == EXIT_DONE) {
        before = database_bytes(c.dir);
        code = care_apply(&c);
    }
    if (code == EXIT_DONE) {
        st = apply_erase(c.apply, is_over, p, &gone);
        if (st == ST_OK) {
            doing = "write files anew";
            meter_show(&c.meter, "files", 0, 0);
            st = apply_prune(c.apply, &won);
        }
        if (st == ST_OK)
            care_find_alike(&c);
        if (st == ST_OK) {
            doing = "write the database anew";
            meter_show(&c.meter, "database", 0, 0);
            st = store_vacuum(c.store);
            st = st == ST_BUSY ? ST_OK : st; /* somebody reads: the next time */
        }
        meter_clear(&c.meter);
        code = st == ST_OK ? care_settle(&c) : care_complain(&c, st, doing);
    }
    if (code == EXIT_DONE) {
        uint64_t after = database_bytes(c.dir);
        p->pages = gone.pages;
        p->texts_bytes = won.contents_bytes;
        p->index_bytes = won.index_bytes;
        p->database_bytes = before > after ? before - after : 0;
        p->orphans_bytes = snapshot_sweep(c.dir, false);
        code = expire_warc(p);
        if (code == EXIT_DONE && opt_out.path)
            code = opt_out_file_purge(&opt_out, "prune", p->o);
    }
    care_done(&c);
    return code;
}

int cmd_prune(const struct options *o)
{
    struct prune p = {.o = o,
                      .is_dry = opt_flag(o, OPT_DRY_RUN),
                      .retain = {.gone_days = (unsigned)opt_number(o, OPT_KEEP_GONE),
                                 .days = (unsigned)opt_number(o, OPT_KEEP_DAYS),
                                 .now = clock_wall()}};
    struct buf out = {0};
    int code = p.is_dry ? look(&p) : prune(&p);
    if (code == EXIT_DONE) {
        if (opt_flag(o, OPT_JSON))
            put_json(&p, &out);
        else
            put_text(&p, &out);
        print_buf(&out);
    }
    buf_done(&p.warc.names);
    buf_done(&out);
    return finish_output(code);
}
