/* suite_folder.c - the folder of a run: a world, and a lab file that names it. */
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lab/play/process.h"
#include "lab/play/suite.h"
#include "store/file.h"

#define WORLDS_MAX SCENARIO_RUNS_MAX
#define MAKE_MS 600000
#define FIRST_AGENTS "first=" /* of a world that was made, the lab has so many agents */
#define WORDS_FILE ".words"   /* beside a world that was made: what was asked for */

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    return remove(path);
}

static bool remove_tree(const char *path)
{
    return nftw(path, remove_one, 16, FTW_PHYS | FTW_DEPTH) == 0;
}

static status fail(struct buf *why, status st, const char *what, const char *path)
{
    buf_printf(why, "%s %s: %s", what, path, st == ST_IO ? strerror(errno) : status_name(st));
    return st;
}

/* ---- worlds ---- */

/* Options of the lab's own `world` line; the others are for `orb world make`. */
static bool is_of_lab(struct span word)
{
    return span_starts(word, SPAN(FIRST_AGENTS)) || span_starts(word, SPAN("hq=")) ||
           span_starts(word, SPAN("dns-rtt="));
}

static void world_words(const struct words *w, struct buf *out)
{
    for (size_t i = 1; i < w->n; i++) {
        if (!is_of_lab(w->w[i]))
            buf_printf(out, "%.*s\n", SPAN_ARG(w->w[i]));
    }
}

static status make_world(const struct suite *s, const struct words *w, const char *path, struct buf *why)
{
    struct args args = {0};
    args_adds(&args, s->opts.programs->orb, "world", "make", "-o", path);
    for (size_t i = 1; i < w->n; i++) {
        struct span word = w->w[i];
        size_t at = span_find(word, '=', 0);
        char name[64];
        if (is_of_lab(word))
            continue;
        snprintf(name, sizeof(name), "--%.*s", SPAN_ARG(span_cut(word, 0, at)));
        args_add(&args, span_str(name));
        args_add(&args, span_from(word, at + 1));
    }
    struct buf log = {0};
    buf_printf(&log, "%s.log", path);
    (void)remove(buf_cstr(&log));
    struct process_opts o = {.args = &args, .out = buf_cstr(&log)};
    status st = process_run(&o, MAKE_MS, why);
    if (st == ST_OK)
        (void)remove(buf_cstr(&log));
    else
        buf_printf(why, ": make a world: see %s", buf_cstr(&log));
    buf_done(&log);
    args_done(&args);
    return st;
}

/* The number of the world with these words; it is made when nobody has yet. */
static status find_world(const struct suite *s, const struct words *w, unsigned *number, struct buf *why)
{
    struct buf dir = {0}, path = {0}, mark = {0}, words = {0}, there = {0};
    status st = ST_LIMIT;
    buf_printf(&dir, "%s/worlds", s->folder);
    world_words(w, &words);
    for (unsigned i = 1; i <= WORLDS_MAX; i++) {
        buf_clear(&path);
        buf_clear(&mark);
        buf_clear(&there);
        buf_printf(&path, "%s/%u", buf_cstr(&dir), i);
        buf_printf(&mark, "%s" WORDS_FILE, buf_cstr(&path));
        status found = file_read(buf_cstr(&mark), SCENARIO_FILE_MAX, &there);
        *number = i;
        st = ST_OK;
        if (found == ST_OK && span_eq(buf_span(&there), buf_span(&words)) && access(buf_cstr(&path), X_OK) == 0)
            break;
        if (found == ST_OK)
            continue;
        (void)remove_tree(buf_cstr(&path)); /* half made */
        st = file_mkdir(buf_cstr(&dir));
        if (st != ST_OK)
            (void)fail(why, st, "make", buf_cstr(&dir));
        else if ((st = make_world(s, w, buf_cstr(&path), why)) == ST_OK &&
                 (st = file_replace(buf_cstr(&mark), buf_span(&words))) != ST_OK)
            (void)fail(why, st, "write", buf_cstr(&mark));
        break;
    }
    buf_done(&dir);
    buf_done(&path);
    buf_done(&mark);
    buf_done(&words);
    buf_done(&there);
    return st;
}

/* What the link `world` of a run leads to. */
static status world_target(const struct suite *s, const struct words *w, struct buf *out, struct buf *why)
{
    if (span_is(w->w[0], "make")) {
        unsigned number;
        status st = find_world(s, w, &number, why);
        buf_printf(out, "../worlds/%u", number);
        return st;
    }
    char name[4096];
    snprintf(name, sizeof(name), "%.*s", SPAN_ARG(w->w[0]));
    char *whole = realpath(name, NULL);
    if (!whole)
        return fail(why, ST_IO, "find the world", name);
    buf_puts(out, whole);
    free(whole);
    return ST_OK;
}

/* ---- the lab file ---- */

static void put_words(struct buf *out, const struct words *w, size_t from)
{
    for (size_t i = from; i < w->n; i++)
        buf_printf(out, "%s%.*s", i ? " " : "", SPAN_ARG(w->w[i]));
    buf_putc(out, '\n');
}

static void lab_text(const struct scenario_run *run, struct buf *out)
{
    const struct words *w = &run->world;
    if (w->n) {
        bool is_made = span_is(w->w[0], "make");
        buf_puts(out, "world world");
        for (size_t i = 1; i < w->n; i++) {
            if (is_made && span_starts(w->w[i], SPAN(FIRST_AGENTS)))
                buf_printf(out, " agents=%.*s", SPAN_ARG(span_from(w->w[i], strlen(FIRST_AGENTS))));
            else if (!is_made || is_of_lab(w->w[i]))
                buf_printf(out, " %.*s", SPAN_ARG(w->w[i]));
        }
        buf_putc(out, '\n');
    }
    for (size_t i = 0; i < run->lab_count; i++)
        put_words(out, &run->lab[i], 0);
}

/* ---- the folder ---- */

/* Only what an earlier run left is taken away. */
static status make_room(const char *folder, const char *lab, struct buf *why)
{
    status st = ST_OK;
    if (access(lab, F_OK) == 0 && !remove_tree(folder))
        return fail(why, ST_IO, "remove", folder);
    if (access(folder, F_OK) == 0 && rmdir(folder) != 0)
        return fail(why, ST_REFUSED, "this is no folder of a run:", folder);
    st = file_mkdir(folder);
    return st == ST_OK ? ST_OK : fail(why, st, "make", folder);
}

status suite_folder_make(const struct suite *s, const struct scenario_run *run, struct buf *folder, struct buf *why)
{
    struct buf lab = {0}, link = {0}, target = {0}, text = {0};
    buf_clear(folder);
    buf_printf(folder, "%s/%.*s", s->folder, SPAN_ARG(run->name));
    buf_printf(&lab, "%s/lab", buf_cstr(folder));
    buf_printf(&link, "%s/world", buf_cstr(folder));
    status st = make_room(buf_cstr(folder), buf_cstr(&lab), why);
    lab_text(run, &text);
    if (st == ST_OK && (st = file_replace(buf_cstr(&lab), buf_span(&text))) != ST_OK)
        (void)fail(why, st, "write", buf_cstr(&lab));
    if (st == ST_OK && run->world.n) {
        st = world_target(s, &run->world, &target, why);
        if (st == ST_OK && symlink(buf_cstr(&target), buf_cstr(&link)) != 0)
            st = fail(why, ST_IO, "link", buf_cstr(&link));
    }
    buf_done(&lab);
    buf_done(&link);
    buf_done(&target);
    buf_done(&text);
    return st;
}

static int remove_below(const char *path, const struct stat *st, int type, struct FTW *at)
{
    if (at->level > 1 || (at->level == 1 && type == FTW_DP))
        (void)remove(path);
    return 0;
}

void suite_folder_thin(const char *folder)
{
    (void)nftw(folder, remove_below, 16, FTW_PHYS | FTW_DEPTH);
}
