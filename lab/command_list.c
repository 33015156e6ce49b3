/* command_list.c - `orb-lab list`: the scenarios of a folder, and what playing them means. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "codec/json.h"
#include "lab/command.h"
#include "lab/play/programs.h"
#include "lab/play/scenario.h"

#define LIST_MAX 1000
static const struct span suffix = SPAN_INIT(".scenario");

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static size_t find_all(const char *dir, char **names)
{
    size_t n = 0;
    DIR *d = opendir(dir);
    for (const struct dirent *e; d && n < LIST_MAX && (e = readdir(d));) {
        struct span name = span_str(e->d_name);
        if (name.n > suffix.n && span_ends(name, suffix))
            names[n++] = mem_str(name);
    }
    if (d)
        closedir(d);
    qsort(names, n, sizeof(*names), by_name);
    return n;
}

struct entry {
    struct span name; /* of the file, without its ending */
    struct scenario whole, brief;
    struct buf why; /* empty: it can be read */
};

static void read_entry(const char *dir, const char *file, struct entry *e)
{
    struct buf path = {0};
    *e = (struct entry){.name = span_of(file, strlen(file) - suffix.n)};
    buf_printf(&path, "%s/%s", dir, file);
    status st = scenario_load(buf_cstr(&path), NULL, &e->whole, &e->why);
    if (st == ST_OK)
        st = scenario_load(buf_cstr(&path), &(struct scenario_opts){.is_short = true}, &e->brief, &e->why);
    if (st != ST_OK && e->why.n == 0)
        buf_puts(&e->why, status_name(st));
    buf_done(&path);
}

static void end_entry(struct entry *e)
{
    scenario_done(&e->whole);
    scenario_done(&e->brief);
    buf_done(&e->why);
}

static void show_entry(struct entry *e)
{
    if (e->why.n == 0)
        printf("%-20.*s %5zu %6zu  %.*s\n", SPAN_ARG(e->name), e->whole.run_count, e->brief.run_count,
               SPAN_ARG(e->whole.title));
    else
        printf("%-20.*s     -      -  %s\n", SPAN_ARG(e->name), buf_cstr(&e->why));
}

/* The number after an option; false: it is not there. */
static bool option(const struct words *w, const char *name, uint64_t *out)
{
    for (size_t i = 0; i + 1 < w->n; i++) {
        if (span_is(w->w[i], name) && span_u64(w->w[i + 1], UINT32_MAX, out))
            return true;
    }
    return false;
}

/* What the sites notice: the shortest pause between two requests, and the most pages of a site. */
static void put_politeness(struct json *j, const struct scenario *s)
{
    uint64_t delay_ms = UINT64_MAX, pages = 0, n;
    for (size_t i = 0; i < s->run_count; i++) {
        const struct scenario_run *run = &s->runs[i];
        if ((option(&run->agents, "--delay", &n) || option(&run->coordinator, "--delay", &n)) && n < delay_ms)
            delay_ms = n;
        if (option(&run->serve, "--pages", &n) && n > pages)
            pages = n;
    }
    json_key(j, "delay_ms");
    if (delay_ms == UINT64_MAX)
        json_null(j);
    else
        json_u64(j, delay_ms);
    json_key(j, "pages");
    if (pages)
        json_u64(j, pages);
    else
        json_null(j);
}

static void put_form(struct json *j, const char *key, const struct scenario *s)
{
    json_key(j, key);
    json_open(j, '{');
    json_key(j, "runs");
    json_u64(j, s->run_count);
    json_key(j, "jobs");
    json_u64(j, s->jobs);
    json_key(j, "beside");
    json_bool(j, s->is_beside);
    put_politeness(j, s);
    json_close(j, '}');
}

static void put_entry(struct json *j, const struct entry *e)
{
    json_open(j, '{');
    json_key(j, "name");
    json_text(j, e->name);
    json_key(j, "title");
    json_text(j, e->whole.title);
    put_form(j, "full", &e->whole);
    put_form(j, "short", &e->brief);
    json_key(j, "problem");
    json_text_or_null(j, buf_span(&e->why));
    json_close(j, '}');
}

/* False: a file is bad, which is said in its place. */
static bool show_all(const char *dir, char **names, size_t n, bool is_json)
{
    struct buf out = {0};
    struct json j = {.out = &out};
    bool is_good = true;
    json_open(&j, '[');
    if (!is_json)
        printf("%-20s %5s %6s  %s\n", "NAME", "RUNS", "SHORT", "TITLE");
    for (size_t i = 0; i < n; i++) {
        struct entry e;
        read_entry(dir, names[i], &e);
        is_good = is_good && e.why.n == 0;
        if (is_json)
            put_entry(&j, &e);
        else
            show_entry(&e);
        end_entry(&e);
    }
    json_close(&j, ']');
    if (is_json)
        printf("%s\n", buf_cstr(&out));
    buf_done(&out);
    return is_good;
}

int command_list(int argc, char **argv)
{
    struct buf dir = {0};
    bool is_json = false, is_bad = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0)
            is_json = true;
        else if (argv[i][0] == '-' || dir.n)
            is_bad = true;
        else
            buf_puts(&dir, argv[i]);
    }
    if (is_bad || (dir.n == 0 && programs_scenarios(&dir) != ST_OK)) {
        buf_done(&dir);
        return is_bad ? command_fail(EXIT_USAGE, "list [DIR] [--json]")
                      : command_fail(EXIT_INPUT, "list: no folder of scenarios beside orb-lab: give one");
    }
    char **names = mem_alloc(LIST_MAX * sizeof(*names));
    size_t n = find_all(buf_cstr(&dir), names);
    bool is_good = n && show_all(buf_cstr(&dir), names, n, is_json);
    if (n == 0)
        (void)command_fail(0, "list: no scenarios in %s", buf_cstr(&dir));
    for (size_t i = 0; i < n; i++)
        free(names[i]);
    free(names);
    buf_done(&dir);
    return n == 0 ? EXIT_INPUT : is_good ? EXIT_DONE : EXIT_NO;
}
