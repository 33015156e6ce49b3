#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "apply/verify.h"
#include "base/mem.h"
#include "cli/admin_call.h"
#include "cli/care.h"
#include "cli/command.h"
#include "cli/crawl_setup.h"
#include "cli/folder.h"
#include "cli/format.h"
#include "io/clock.h"
#include "store/backup.h"
#include "store/fleet.h"
#include "store/snapshot.h"

#define SUFFIX ".tar.zst"

static void on_bytes(void *arg, uint64_t done, uint64_t all)
{
    meter_show(arg, "bytes", done, all);
}

static const char *reason(status st)
{
    return st == ST_IO || st == ST_FULL ? strerror(errno) : status_name(st);
}

/* ---- backup ---- */

struct backup {
    const struct options *o;
    const char *dir;
    struct buf path; /* of the file */
    bool is_fleet;
    bool has_complained;
    struct meter meter;
};

/* A folder gets a file named by the time. */
static void name_file(struct backup *b)
{
    struct stat sb;
    char name[64];
    struct tm tm;
    time_t now = (time_t)(clock_wall() / 1000);
    buf_put(&b->path, b->o->args[0]);
    if (stat(buf_cstr(&b->path), &sb) != 0 || !S_ISDIR(sb.st_mode))
        return;
    gmtime_r(&now, &tm);
    strftime(name, sizeof(name), "/orb-%Y%m%dT%H%M%SZ" SUFFIX, &tm);
    buf_puts(&b->path, name);
}

/* The file would be in the folder that it is of: each backup would have all those before it in it. */
static bool is_in_folder(const struct backup *b)
{
    struct span path = buf_span(&b->path);
    size_t n = path.n;
    while (n > 0 && path.p[n - 1] != '/')
        n--;
    char *parent = mem_str(n ? span_cut(path, 0, n) : SPAN("."));
    char *at = realpath(parent, NULL), *dir = realpath(b->dir, NULL);
    size_t length = dir ? strlen(dir) : 0;
    bool is = at && dir && strncmp(at, dir, length) == 0 && (!at[length] || at[length] == '/' || length == 1);
    free(parent);
    free(at);
    free(dir);
    return is;
}

/* The database of a coordinator that runs is its own alone, so it makes the copy itself. */
static status ask_for_fleet(struct backup *b, const char *path)
{
    struct buf form = {0}, raw = {0};
    struct arena a;
    const struct json_node *answer;
    struct span name = span_str(path);
    arena_init(&a);
    size_t at = span_search(name, SPAN(SNAPSHOT_PREFIX), false);
    form_text(&form, "to", span_from(name, at));
    int code = admin_call(b->o, "backup", "/api/v1/backup", &form, &a, &raw, &answer);
    b->has_complained = code != EXIT_DONE;
    buf_done(&form);
    buf_done(&raw);
    arena_done(&a);
    return code == EXIT_DONE ? ST_OK : ST_IO;
}

static status copy_fleet(void *self, const char *path)
{
    struct backup *b = self;
    struct fleet_store *f = NULL;
    b->is_fleet = true;
    if (folder_writer(b->dir))
        return ask_for_fleet(b, path);
    status st = fleet_open(b->dir, &f, NULL);
    if (st == ST_OK)
        st = fleet_copy(f, path);
    fleet_close(f);
    return st;
}

static void put_info(const struct backup *b, struct buf *out)
{
    struct json j = {.out = out};
    struct buf at = {0};
    put_iso_time(&at, clock_wall());
    json_open(&j, '{');
    json_key(&j, "orb_backup");
    json_u64(&j, 1);
    json_key(&j, "made");
    json_text(&j, buf_span(&at));
    json_key(&j, "orb");
    json_str(&j, ORB_VERSION);
    json_key(&j, "coordinator");
    json_bool(&j, b->is_fleet);
    json_key(&j, "index");
    json_bool(&j, opt_flag(b->o, OPT_INDEX));
    json_close(&j, '}');
    buf_putc(out, '\n');
    buf_done(&at);
}

static void put_report(struct backup *b, const struct backup_report *r, struct buf *out)
{
    struct json j = {.out = out};
    if (opt_flag(b->o, OPT_JSON)) {
        json_open(&j, '{');
        json_key(&j, "file");
        json_text(&j, buf_span(&b->path));
        json_key(&j, "files");
        json_u64(&j, r->files);
        json_key(&j, "bytes");
        json_u64(&j, r->bytes);
        json_key(&j, "file_bytes");
        json_u64(&j, r->file_bytes);
        json_key(&j, "coordinator");
        json_bool(&j, b->is_fleet);
        json_close(&j, '}');
        buf_putc(out, '\n');
        return;
    }
    put_safe(out, buf_span(&b->path));
    buf_puts(out, ": ");
    put_count(out, r->files);
    buf_puts(out, r->files == 1 ? " file, " : " files, ");
    put_bytes(out, r->bytes);
    buf_puts(out, ", compressed ");
    put_bytes(out, r->file_bytes);
    buf_putc(out, '\n');
    if (b->is_fleet)
        buf_puts(out, "It has the keys and passwords of the coordinator: keep it as safe as those.\n");
}

static int write_backup(struct backup *b, const char *snapshot)
{
    struct backup_report r = {0};
    struct buf info = {0}, out = {0};
    put_info(b, &info);
    status st = backup_write(snapshot, buf_span(&info), buf_cstr(&b->path), on_bytes, &b->meter, &r);
    meter_clear(&b->meter);
    int code = EXIT_DONE;
    if (st != ST_OK)
        code = complain(exit_code_of(st), "backup: write %s: %s: check the path, and that there is space", b->path.p,
                        reason(st));
    else
        put_report(b, &r, &out);
    if (span_is(buf_span(&b->path), BACKUP_STDOUT)) /* the archive is there */
        fwrite(out.p, 1, out.n, stderr);
    else
        print_buf(&out);
    backup_report_done(&r);
    buf_done(&info);
    buf_done(&out);
    return finish_output(code);
}

int cmd_backup(const struct options *o)
{
    struct backup b = {.o = o, .dir = opt_cstr(o, OPT_DATA)};
    struct buf snapshot = {0}, why = {0};
    if (!b.dir)
        return complain(EXIT_USAGE, "backup: --data: empty: give a folder");
    b.meter.is_on = wants_meter(o);
    name_file(&b);
    if (span_is(buf_span(&b.path), BACKUP_STDOUT) && isatty(STDOUT_FILENO)) {
        buf_done(&b.path);
        return complain(EXIT_USAGE, "backup -: standard output is a terminal: send it to a file or a pipe");
    }
    if (!span_is(buf_span(&b.path), BACKUP_STDOUT) && is_in_folder(&b)) {
        buf_done(&b.path);
        return complain(EXIT_USAGE, "backup: %s: the file would be in the data folder %s: choose another place",
                        o->args[0].p, b.dir);
    }
    struct snapshot_opts so = {
        .data_dir = b.dir, .no_index = !opt_flag(o, OPT_INDEX), .copy_fleet = copy_fleet, .self = &b};
    status st = snapshot_make(&so, &snapshot, &why);
    int code = EXIT_DONE;
    if (st == ST_OK) {
        code = write_backup(&b, buf_cstr(&snapshot));
        snapshot_remove(snapshot.p);
    } else if (b.has_complained) {
        code = EXIT_IO;
    } else {
        code = complain(st == ST_NOT_FOUND ? EXIT_IO : exit_code_of(st), "backup: data folder %s: %s: %s", b.dir,
                        why.n                ? buf_cstr(&why)
                        : st == ST_NOT_FOUND ? "not there"
                                             : reason(st),
                        folder_advice(st));
    }
    buf_done(&snapshot);
    buf_done(&why);
    buf_done(&b.path);
    return code;
}

/* ---- restore ---- */

int backup_complain(const char *what, const char *path, status st, struct backup_report *r)
{
    if (st == ST_NOT_FOUND)
        return complain(EXIT_IO, "%s: %s: not there: check the path", what, path);
    if (r->problem.n)
        return complain(EXIT_INPUT, "%s: %s: %s: use another backup", what, path, buf_cstr(&r->problem));
    return complain(exit_code_of(st), "%s: %s: %s: check the path, and that there is space", what, path, reason(st));
}

static void put_restored(const struct options *o, const struct backup_report *r, const struct verify_report *v,
                         struct buf *out)
{
    struct json j = {.out = out};
    if (opt_flag(o, OPT_JSON)) {
        json_open(&j, '{');
        json_key(&j, "dir");
        json_text(&j, o->args[1]);
        json_key(&j, "files");
        json_u64(&j, r->files);
        json_key(&j, "bytes");
        json_u64(&j, r->bytes);
        json_key(&j, "well");
        json_bool(&j, v->is_well);
        json_key(&j, "rebuilt");
        json_bool(&j, v->was_rebuilt);
        json_close(&j, '}');
        buf_putc(out, '\n');
        return;
    }
    put_safe(out, o->args[1]);
    buf_puts(out, ": ");
    put_count(out, r->files);
    buf_puts(out, r->files == 1 ? " file, " : " files, ");
    put_bytes(out, r->bytes);
    buf_puts(out, v->was_rebuilt ? ", index made anew\n" : "\n");
    buf_puts(out, v->is_well ? "all is well\n" : "not all is well: run orb check\n");
}

static void on_check(void *arg, const char *what, uint64_t done, uint64_t all)
{
    meter_show(arg, what, done, all);
}

static int check_restored(const struct options *o, struct meter *m, const struct backup_report *r)
{
    struct verify_report v;
    struct buf why = {0}, out = {0};
    struct verify_opts vo = {.data_dir = o->args[1].p,
                             .repair = true,
                             .progress = on_check,
                             .progress_arg = m,
                             .check_state = crawl_check_state};
    status st = verify_run(&vo, &v, &why);
    meter_clear(m);
    int code = EXIT_DONE;
    if (st != ST_OK) {
        code = complain(exit_code_of(st), "restore: check %s: %s: run orb check", o->args[1].p,
                        why.n ? buf_cstr(&why) : status_name(st));
    } else {
        put_restored(o, r, &v, &out);
        code = v.is_well ? EXIT_DONE : EXIT_NO;
    }
    print_buf(&out);
    verify_report_done(&v);
    buf_done(&why);
    buf_done(&out);
    return code;
}

int cmd_restore(const struct options *o)
{
    struct meter m = {.is_on = wants_meter(o)};
    struct backup_report r;
    const char *path = o->args[0].p, *dir = o->args[1].p;
    status st = backup_verify(path, on_bytes, &m, &r);
    if (st == ST_OK) {
        backup_report_done(&r);
        st = backup_restore(path, dir, on_bytes, &m, &r);
    }
    meter_clear(&m);
    int code;
    if (st == ST_EXISTS)
        code = complain(EXIT_INPUT, "restore: %s: there is something already: give a folder that is new or empty", dir);
    else if (st != ST_OK)
        code = backup_complain("restore", path, st, &r);
    else
        code = check_restored(o, &m, &r);
    backup_report_done(&r);
    return finish_output(code);
}
