#include "lab/play/results.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "store/file.h"

#define FILE_NAME "results.json"
#define EXPECTED_MAX 500 /* different ones, of a scenario */

/* ---- finding ---- */

struct found {
    char **paths; /* owned, of folders */
    size_t n, cap;
};

static int by_text(const void *x, const void *y)
{
    return strcmp(*(char *const *)x, *(char *const *)y);
}

static status look(struct found *f, const char *dir, unsigned depth)
{
    struct buf path = {0};
    struct stat sb;
    status st = ST_OK;
    DIR *d = opendir(dir);
    if (!d)
        return errno == ENOENT ? ST_NOT_FOUND : ST_IO;
    buf_printf(&path, "%s/" FILE_NAME, dir);
    if (stat(buf_cstr(&path), &sb) == 0 && S_ISREG(sb.st_mode)) {
        if (f->n == RESULTS_FILES_MAX)
            st = ST_LIMIT;
        else {
            f->paths = mem_grow(f->paths, &f->cap, f->n + 1, sizeof(char *));
            f->paths[f->n++] = mem_str(span_str(dir));
        }
    }
    for (const struct dirent *e; st == ST_OK && depth && (e = readdir(d));) {
        if (e->d_name[0] == '.')
            continue;
        buf_clear(&path);
        buf_printf(&path, "%s/%s", dir, e->d_name);
        /* What we may not look into is not ours; links may lead in circles. */
        if (lstat(buf_cstr(&path), &sb) == 0 && S_ISDIR(sb.st_mode) && look(f, buf_cstr(&path), depth - 1) == ST_LIMIT)
            st = ST_LIMIT;
    }
    closedir(d);
    buf_done(&path);
    return st;
}

/* ---- loading ---- */

static size_t count(const struct json_node *list, size_t max)
{
    size_t n = 0;
    for (const struct json_node *i = list->children; i && n < max; i = i->next)
        n++;
    return n;
}

/* Of a variable: a text, or a number that was written as one. */
static struct span text_of(struct arena *a, const struct json_node *v)
{
    struct buf b = {0};
    if (v->kind != NODE_NUMBER)
        return v->text;
    buf_printf(&b, "%.10g", v->number);
    struct span s = arena_copy(a, buf_span(&b));
    buf_done(&b);
    return s;
}

static bool is_number(struct span s)
{
    return s.n && (ascii_is_digit(s.p[0]) || s.p[0] == '.');
}

static struct span label_of(struct arena *a, const struct json_node *variables)
{
    struct buf b = {0};
    for (const struct json_node *v = variables->children; v; v = v->next) {
        struct span value = text_of(a, v);
        if (span_is(v->name, "repeat"))
            continue;
        buf_puts(&b, b.n ? ", " : "");
        if (is_number(value)) {
            buf_put(&b, v->name);
            buf_putc(&b, ' ');
        }
        buf_put(&b, value);
    }
    struct span s = b.n ? arena_copy(a, buf_span(&b)) : SPAN("all runs");
    buf_done(&b);
    return s;
}

static bool node_is(const struct json_node *a, const struct json_node *b)
{
    return a->kind == b->kind && span_eq(a->text, b->text) && a->number == b->number;
}

/* All that the group says of variables is so of the run. */
static bool is_of(const struct json_node *run, const struct result_group *g)
{
    const struct json_node *mine = json_member(run, "variables");
    for (const struct json_node *v = g->variables->children; v; v = v->next) {
        bool is_same = false;
        for (const struct json_node *w = mine->children; w && !is_same; w = w->next)
            is_same = span_eq(w->name, v->name) && node_is(w, v);
        if (!is_same)
            return false;
    }
    return true;
}

static void find_run(const struct result *r, struct result_group *g)
{
    size_t n = 0;
    for (const struct json_node *i = json_member(r->root, "runs")->children; i && n++ < RESULTS_RUNS_MAX; i = i->next) {
        if (!is_of(i, g))
            continue;
        bool is_valid = json_member_number(i, "valid") != 0;
        if (!g->run || is_valid)
            g->run = i;
        if (is_valid)
            return;
    }
}

static struct span or_else(struct span a, struct span b)
{
    return a.n ? a : b;
}

static status load_one(struct arena *a, const char *folder, struct result *r, struct buf *why)
{
    struct buf path = {0}, text = {0};
    buf_printf(&path, "%s/" FILE_NAME, folder);
    status st = file_read(buf_cstr(&path), RESULTS_FILE_MAX, &text);
    if (st == ST_OK)
        st = json_tree(a, buf_span(&text), &r->root);
    if (st == ST_OK && r->root->kind != NODE_OBJECT)
        st = ST_INVALID;
    if (st != ST_OK)
        buf_printf(why, "%s: %s", buf_cstr(&path), status_name(st));
    else {
        const struct json_node *groups = json_member(r->root, "groups");
        r->folder = arena_copy(a, span_str(folder)).p;
        r->scenario = or_else(json_member_text(r->root, "scenario"), SPAN("?"));
        r->title = or_else(json_member_text(r->root, "title"), r->scenario);
        r->about = json_member_text(r->root, "about");
        r->is_passed = json_member_number(r->root, "passed") != 0;
        r->is_short = json_member_number(r->root, "short") != 0;
        r->run_count = count(json_member(r->root, "runs"), RESULTS_RUNS_MAX);
        r->groups = arena_alloc(a, (count(groups, RESULTS_GROUPS_MAX) + 1) * sizeof(*r->groups));
        for (const struct json_node *g = groups->children; g && r->group_count < RESULTS_GROUPS_MAX; g = g->next) {
            struct result_group *to = &r->groups[r->group_count++];
            *to = (struct result_group){.variables = json_member(g, "variables"), .figures = json_member(g, "figures")};
            to->label = label_of(a, to->variables);
            find_run(r, to);
        }
    }
    buf_done(&path);
    buf_done(&text);
    return st;
}

status results_load(const char *dir, struct results *out, struct buf *why)
{
    struct found f = {0};
    *out = (struct results){0};
    status st = look(&f, dir, RESULTS_DEPTH);
    if (st == ST_OK && !f.n)
        st = ST_NOT_FOUND;
    if (st != ST_OK)
        buf_printf(why, "%s: %s", dir,
                   st == ST_NOT_FOUND ? "no " FILE_NAME " there, nor in folders below" : status_name(st));
    if (f.n)
        qsort(f.paths, f.n, sizeof(char *), by_text);
    out->list = arena_alloc(&out->arena, (f.n + 1) * sizeof(*out->list));
    for (size_t i = 0; i < f.n; i++) {
        out->list[i] = (struct result){0};
        if (st == ST_OK)
            st = load_one(&out->arena, f.paths[i], &out->list[i], why);
        free(f.paths[i]);
    }
    free(f.paths);
    out->n = f.n;
    if (st != ST_OK)
        results_done(out);
    return st;
}

void results_done(struct results *r)
{
    arena_done(&r->arena);
    *r = (struct results){0};
}

/* ---- asking ---- */

static const struct json_node *member(const struct json_node *o, struct span name)
{
    for (const struct json_node *i = o->kind == NODE_OBJECT ? o->children : NULL; i; i = i->next)
        if (span_eq(i->name, name))
            return i;
    return NULL;
}

bool result_figure(const struct result_group *g, struct span name, struct result_value *out)
{
    const struct json_node *f = member(g->figures, name);
    if (!f || json_member(f, "mean")->kind != NODE_NUMBER)
        return false;
    *out = (struct result_value){.mean = json_member_number(f, "mean"),
                                 .least = json_member_number(f, "least"),
                                 .most = json_member_number(f, "most"),
                                 .n = (size_t)fmax(0, json_member_number(f, "n"))};
    return true;
}

bool result_has(const struct result *r, struct span name)
{
    struct result_value v;
    for (size_t i = 0; i < r->group_count; i++)
        if (result_figure(&r->groups[i], name, &v) && (v.mean != 0 || v.most != 0))
            return true;
    return false;
}

static void add_column(const struct result *r, struct span name, struct span *out, size_t *n, size_t max)
{
    for (size_t i = 0; i < *n; i++)
        if (span_eq(out[i], name))
            return;
    if (*n < max && result_has(r, name))
        out[(*n)++] = name;
}

/* What is a figure of the words of an expectation. */
static void add_words(const struct result *r, struct span text, struct span *out, size_t *n, size_t max)
{
    struct span word;
    while (span_split(&text, ' ', &word))
        if (figure_kind_of(word))
            add_column(r, word, out, n, max);
}

/* Those of somebody's own stay first, as they are met. */
static int by_kind(const void *x, const void *y)
{
    const struct figure_kind *a = figure_kind_of(*(const struct span *)x), *b = figure_kind_of(*(const struct span *)y);
    return (a > b) - (a < b);
}

size_t result_columns(const struct result *r, struct span *out, size_t max)
{
    size_t n = 0, own;
    for (size_t i = 0; i < r->group_count; i++)
        for (const struct json_node *f = r->groups[i].figures->children; f; f = f->next)
            if (!figure_kind_of(f->name) && !span_starts(f->name, SPAN("sim_")))
                add_column(r, f->name, out, &n, max / 2);
    own = n;
    const struct json_node *run = json_member(r->root, "runs")->children;
    for (const struct json_node *x = run ? json_member(run, "expected")->children : NULL; x; x = x->next)
        add_words(r, json_member_text(x, "text"), out, &n, max);
    for (const struct json_node *o = json_member(r->root, "orders")->children; o; o = o->next)
        add_words(r, json_member_text(o, "text"), out, &n, max);
    for (size_t i = 0; i < figure_kind_count && !span_is(span_str(figure_kinds[i].name), "wanted"); i++)
        add_column(r, span_str(figure_kinds[i].name), out, &n, max);
    if (n > own)
        qsort(out + own, n - own, sizeof(*out), by_kind);
    return n;
}

struct span result_variable(const struct result_group *g, const char *name)
{
    const struct json_node *v = json_member(g->variables, name);
    return v->text;
}

bool result_varies(const struct result *r, const char *name)
{
    for (size_t i = 1; i < r->group_count; i++)
        if (!node_is(json_member(r->groups[i].variables, name), json_member(r->groups[0].variables, name)))
            return true;
    return false;
}

bool result_run_file(const struct result *r, const struct result_group *g, const char *name, struct buf *path)
{
    struct span folder = g->run ? json_member_text(g->run, "folder") : (struct span){0};
    if (!folder.n)
        return false;
    buf_clear(path);
    if (folder.p[0] != '/')
        buf_printf(path, "%s/", r->folder);
    buf_put(path, folder);
    buf_printf(path, "/%s", name);
    return true;
}

void result_order_values(const struct json_node *order, struct buf *out)
{
    size_t n = 0;
    for (const struct json_node *v = json_member(order, "values")->children; v && n < RESULTS_GROUPS_MAX; v = v->next) {
        const struct json_node *a = json_member(v, "a"), *b = json_member(v, "b");
        buf_puts(out, n++ ? ", " : "");
        buf_put(out, json_member_text(v, "value"));
        buf_putc(out, ' ');
        figure_put(out, NULL, a->kind == NODE_NUMBER ? a->number : NAN);
        buf_puts(out, " and ");
        figure_put(out, NULL, b->kind == NODE_NUMBER ? b->number : NAN);
    }
}

/* "[expect] lost = 0": lost. */
static struct span first_figure(struct span text)
{
    struct span word = {0};
    while (span_split(&text, ' ', &word) && (!word.n || span_is(word, "expect")))
        ;
    return word;
}

static void note(struct result_expected *e, const struct json_node *x)
{
    const struct json_node *v = json_member(x, "value");
    e->n++;
    e->passed += json_member_number(x, "passed") != 0;
    if (v->kind == NODE_NUMBER) {
        e->least = isnan(e->least) ? v->number : fmin(e->least, v->number);
        e->most = isnan(e->most) ? v->number : fmax(e->most, v->number);
    }
}

size_t result_expectations(const struct result *r, struct arena *a, struct result_expected **out)
{
    size_t n = 0, runs = 0;
    *out = arena_alloc(a, EXPECTED_MAX * sizeof(**out));
    for (const struct json_node *i = json_member(r->root, "runs")->children; i && runs++ < RESULTS_RUNS_MAX;
         i = i->next)
        for (const struct json_node *x = json_member(i, "expected")->children; x; x = x->next) {
            struct span text = json_member_text(x, "text");
            size_t k = 0;
            while (k < n && !span_eq((*out)[k].text, text))
                k++;
            if (k == EXPECTED_MAX)
                continue;
            if (k == n)
                (*out)[n++] = (struct result_expected){
                    .text = text, .kind = figure_kind_of(first_figure(text)), .least = NAN, .most = NAN};
            note(&(*out)[k], x);
        }
    return n;
}
