/* hierarchy_build_cmd.c - `orb hierarchy build`: registry files into one file. */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/format.h"
#include "cli/hierarchy_cmd.h"
#include "codec/json.h"
#include "io/clock.h"
#include "io/registry_build.h"

#define BAD_SHOWN 10 /* lines of a file, without --verbose */

/* A line that was skipped. */
struct bad_line {
    size_t file;
    uint64_t line;
    const char *why; /* a constant of the reader's */
};

struct build {
    const struct options *o;
    struct registry_paths paths;
    struct registry_built built;
    struct bad_line *bad; /* owned */
    size_t bad_count, bad_cap;
    size_t at; /* the file that is read now */
    unsigned percent;
};

static bool is_shown(const struct build *b, uint64_t nth)
{
    return nth <= BAD_SHOWN || opt_flag(b->o, OPT_VERBOSE);
}

static void on_bad(void *self, const struct registry_file *f, uint64_t line, const char *why)
{
    struct build *b = self;
    if (!is_shown(b, f->bad))
        return;
    if (opt_flag(b->o, OPT_JSON)) {
        b->bad = mem_grow(b->bad, &b->bad_cap, b->bad_count + 1, sizeof(*b->bad));
        b->bad[b->bad_count++] = (struct bad_line){b->at, line, why};
        return;
    }
    show_progress(NULL);
    (void)complain(0, "%s line %llu: %s: skipped", f->path, (unsigned long long)line, why);
}

static void on_progress(void *self, const struct registry_file *f, uint64_t done)
{
    struct build *b = self;
    unsigned percent = f->bytes ? (unsigned)(100 * done / f->bytes) : 0;
    if (percent == b->percent)
        return;
    b->percent = percent;
    show_progress("%s  %u %%", f->path, percent);
}

static void on_end(void *self, const struct registry_file *f)
{
    struct build *b = self;
    show_progress(NULL);
    if (f->bad > BAD_SHOWN && !is_shown(b, f->bad) && !opt_flag(b->o, OPT_JSON))
        (void)complain(0, "%s: %llu more lines skipped: --verbose shows them", f->path,
                       (unsigned long long)(f->bad - BAD_SHOWN));
    b->at++;
    b->percent = 101;
}

static int complain_build(const struct build *b, status st)
{
    if (b->built.failed == b->paths.count)
        return complain(EXIT_INPUT, "hierarchy build: more than 4 GiB of names");
    const struct registry_file *f = &b->built.files[b->built.failed];
    switch (st) {
    case ST_IO:
        return complain(EXIT_IO, "hierarchy build: read %s: %s", f->path, strerror(errno));
    case ST_CORRUPT:
        return complain(EXIT_INPUT, "hierarchy build: %s: damaged or cut short", f->path);
    case ST_UNSUPPORTED:
        return complain(EXIT_INPUT, "hierarchy build: %s: in no format that is known: see orb help hierarchy", f->path);
    default:
        return complain(EXIT_INPUT, "hierarchy build: %s: too large", f->path);
    }
}

/* ---- the report ---- */

static void put_text(const struct build *b, const struct hierarchy_figures *f, const char *path, size_t bytes,
                     double seconds, struct buf *out)
{
    const struct {
        const char *name;
        uint64_t n;
    } counts[] = {
        {"ranges read", f->ranges},
        {"twice", f->duplicates},
        {"networks", f->nodes_v4 + f->nodes_v6},
        {"  IPv4", f->nodes_v4},
        {"  IPv6", f->nodes_v6},
        {"  of one address", f->unary},
        {"  that cross another", f->crossings},
        {"holders", f->holders},
        {"unknown references", f->references_unknown},
        {"height", f->height},
    };
    for (size_t i = 0; i < b->paths.count; i++) {
        put_safe(out, span_str(b->built.files[i].path));
        buf_printf(out, "  %s, ", b->built.files[i].format);
        put_count(out, b->built.files[i].ranges);
        buf_puts(out, " ranges, ");
        if (b->built.files[i].organisations) {
            put_count(out, b->built.files[i].organisations);
            buf_puts(out, " organisations, ");
        }
        put_count(out, b->built.files[i].bad);
        buf_puts(out, b->built.files[i].bad == 1 ? " bad line\n" : " bad lines\n");
    }
    for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
        struct buf n = {0};
        put_count(&n, counts[i].n);
        buf_printf(out, "%-22s %12s\n", counts[i].name, buf_cstr(&n));
        buf_done(&n);
    }
    put_safe(out, span_str(path));
    buf_puts(out, "  ");
    put_bytes(out, bytes);
    buf_printf(out, ", %.2f s\n", seconds);
}

static void put_number(struct json *j, const char *name, uint64_t n)
{
    json_key(j, name);
    json_u64(j, n);
}

static void put_file_json(const struct build *b, size_t i, struct json *j)
{
    const struct registry_file *f = &b->built.files[i];
    json_open(j, '{');
    json_key(j, "path");
    json_str(j, f->path);
    json_key(j, "format");
    json_str(j, f->format);
    json_key(j, "serial");
    json_text_or_null(j, span_str(f->serial));
    put_number(j, "bytes", f->bytes);
    put_number(j, "ranges", f->ranges);
    put_number(j, "organisations", f->organisations);
    put_number(j, "bad", f->bad);
    json_key(j, "bad_lines");
    json_open(j, '[');
    for (size_t k = 0; k < b->bad_count; k++)
        if (b->bad[k].file == i) {
            json_open(j, '{');
            put_number(j, "line", b->bad[k].line);
            json_key(j, "why");
            json_str(j, b->bad[k].why);
            json_close(j, '}');
        }
    json_close(j, ']');
    json_close(j, '}');
}

static void put_json(const struct build *b, const struct hierarchy_figures *f, const char *path, size_t bytes,
                     double seconds, struct buf *out)
{
    struct json j = {.out = out};
    json_open(&j, '{');
    json_key(&j, "output");
    json_str(&j, path);
    put_number(&j, "bytes", bytes);
    json_key(&j, "seconds");
    json_real(&j, seconds, 3);
    put_number(&j, "ranges", f->ranges);
    put_number(&j, "duplicates", f->duplicates);
    put_number(&j, "nodes", f->nodes_v4 + f->nodes_v6);
    put_number(&j, "nodes_v4", f->nodes_v4);
    put_number(&j, "nodes_v6", f->nodes_v6);
    put_number(&j, "unary", f->unary);
    put_number(&j, "crossings", f->crossings);
    put_number(&j, "holders", f->holders);
    put_number(&j, "references_unknown", f->references_unknown);
    put_number(&j, "height", f->height);
    json_key(&j, "files");
    json_open(&j, '[');
    for (size_t i = 0; i < b->paths.count; i++)
        put_file_json(b, i, &j);
    json_close(&j, ']');
    json_close(&j, '}');
    buf_putc(out, '\n');
}

/* ---- the command ---- */

static int make(struct build *b, const char *path)
{
    struct registry_watch watch = {.bad = on_bad, .progress = on_progress, .end = on_end, .self = b};
    struct buf out = {0};
    mono_ms start = clock_mono();
    int code = EXIT_DONE;
    b->percent = 101;
    status st = registry_build(&b->paths, &watch, clock_wall(), &b->built);
    if (st != ST_OK)
        code = complain_build(b, st);
    if (code == EXIT_DONE) {
        show_progress("writing %s", path);
        st = file_replace(path, buf_span(&b->built.bytes));
        show_progress(NULL);
        if (st != ST_OK)
            code = complain(EXIT_IO, "hierarchy build: write %s: %s", path, strerror(errno));
    }
    if (code == EXIT_DONE) {
        double seconds = (double)(clock_mono() - start) / 1000;
        if (opt_flag(b->o, OPT_JSON))
            put_json(b, &b->built.figures, path, b->built.bytes.n, seconds, &out);
        else
            put_text(b, &b->built.figures, path, b->built.bytes.n, seconds, &out);
        print_buf(&out);
    }
    show_progress(NULL);
    registry_built_done(&b->built);
    buf_done(&out);
    return code;
}

/* A folder stands for the files in it. */
static int add_input(struct registry_paths *p, struct span path)
{
    struct stat sb;
    if (stat(path.p, &sb) != 0 || !S_ISDIR(sb.st_mode)) {
        registry_paths_add(p, path);
        return EXIT_DONE;
    }
    status st = registry_paths_add_folder(p, path.p);
    return st == ST_OK ? EXIT_DONE
                       : complain(EXIT_IO, "hierarchy build: read folder %s: %s", path.p,
                                  st == ST_LIMIT ? "too many files" : strerror(errno));
}

static int add_inputs(const struct options *o, struct registry_paths *p)
{
    size_t named;
    const struct span *in = opt_list(o, OPT_IN, &named);
    int code = EXIT_DONE;
    for (size_t i = 0; i < named && code == EXIT_DONE; i++)
        code = add_input(p, in[i]);
    for (size_t i = 1; i < o->arg_count && code == EXIT_DONE; i++)
        code = add_input(p, o->args[i]);
    if (code == EXIT_DONE && !named && o->arg_count == 1) { /* what fetch got */
        struct buf dir = {0};
        buf_printf(&dir, "%s/registry", opt_text(o, OPT_DATA).p);
        if (access(buf_cstr(&dir), R_OK) == 0)
            code = add_input(p, buf_span(&dir));
        buf_done(&dir);
    }
    if (code == EXIT_DONE && p->count == 0)
        code = complain(EXIT_USAGE, "hierarchy build: nothing to read: give --in FILE..., or run orb hierarchy fetch");
    return code;
}

int hierarchy_cmd_build(const struct options *o)
{
    struct build b = {.o = o};
    struct buf path = {0};
    if (opt_cstr(o, OPT_OUTPUT))
        buf_puts(&path, opt_cstr(o, OPT_OUTPUT));
    else
        hierarchy_file_path(o, &path);
    int code = add_inputs(o, &b.paths);
    if (code == EXIT_DONE && !opt_cstr(o, OPT_OUTPUT) && !opt_cstr(o, OPT_HIERARCHY) &&
        file_mkdir(opt_text(o, OPT_DATA).p) != ST_OK)
        code = complain(EXIT_IO, "hierarchy build: make folder %s: %s", opt_text(o, OPT_DATA).p, strerror(errno));
    if (code == EXIT_DONE)
        code = make(&b, buf_cstr(&path));
    registry_paths_done(&b.paths);
    free(b.bad);
    buf_done(&path);
    return code;
}
