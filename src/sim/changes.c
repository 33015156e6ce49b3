#include "sim/changes.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/siphash.h"
#include "base/table.h"
#include "sim/tsv.h"

/* While it grows: one event, of the history that its page or folder has. */
struct event {
    uint32_t history, time;
};

struct reading {
    const struct changes_opts *opts;
    struct changes *out;
    struct tsv *file;
    struct event *events;
    size_t count, cap, history_cap;
    struct table folders; /* hash -> number + 1 */
};

static void add_event(struct reading *r, uint32_t history, uint32_t time)
{
    r->events = mem_grow(r->events, &r->cap, r->count + 1, sizeof(*r->events));
    r->events[r->count++] = (struct event){history, time};
}

static struct span folder_of(struct span path)
{
    size_t n = path.n;
    while (n > 0 && path.p[n - 1] != '/')
        n--;
    return span_cut(path, 0, n);
}

static uint32_t history_of(struct reading *r, struct span path)
{
    static const struct sip_key key = {1, 2};
    struct span name = r->opts->by_folder ? folder_of(path) : path;
    uint64_t h = siphash(&key, name);
    uintptr_t known = r->opts->by_folder ? (uintptr_t)table_get(&r->folders, h) : 0;
    if (known)
        return (uint32_t)(known - 1);
    r->out->list = mem_grow(r->out->list, &r->history_cap, r->out->count + 1, sizeof(*r->out->list));
    r->out->list[r->out->count] = (struct change_history){.path = arena_copy(&r->out->text, name)};
    if (r->opts->by_folder)
        table_put(&r->folders, h, (void *)(uintptr_t)(r->out->count + 1));
    return (uint32_t)r->out->count++;
}

/* "1006620262A", "1072882992MB". */
static status read_event(struct reading *r, uint32_t history, struct span cell, struct buf *why)
{
    uint64_t time;
    size_t digits = 0;
    while (digits < cell.n && cell.p[digits] >= '0' && cell.p[digits] <= '9')
        digits++;
    struct span kind = span_from(cell, digits);
    bool is_mass = kind.n == 2 && kind.p[1] == 'B';
    if (!span_u64(span_cut(cell, 0, digits), UINT32_MAX, &time) || kind.n < 1 || kind.n > 2 ||
        (kind.n == 2 && !is_mass) || !memchr("AMD", kind.p[0], 3))
        return tsv_complain(r->file, why, "\"%.*s\" is not a time with A, M or D behind it",
                            (int)(cell.n < 32 ? cell.n : 32), cell.p);
    if (kind.p[0] == 'D' && !r->opts->by_folder)
        r->out->list[history].removed = (uint32_t)time;
    else if (kind.p[0] == 'A' && !r->opts->by_folder)
        r->out->list[history].removed = 0;
    if (!is_mass || kind.p[0] == 'A' || r->opts->has_mass_edits)
        add_event(r, history, (uint32_t)time);
    return ST_OK;
}

static status read_row(struct reading *r, struct buf *why)
{
    struct span path = tsv_cell(r->file, 0), rest = tsv_cell(r->file, 1), part;
    status st = ST_OK;
    if (path.n && path.p[0] == '#')
        return ST_OK;
    if (tsv_cell_count(r->file) != 2)
        return tsv_complain(r->file, why, "not a path, a tab and times");
    uint32_t history = history_of(r, path);
    while (st == ST_OK && span_split(&rest, ' ', &part)) {
        if (r->count >= CHANGES_MAX)
            st = ST_LIMIT;
        else if (part.n)
            st = read_event(r, history, part, why);
    }
    return st;
}

static int by_history_and_time(const void *a, const void *b)
{
    const struct event *x = a, *y = b;
    if (x->history != y->history)
        return x->history < y->history ? -1 : 1;
    return (x->time > y->time) - (x->time < y->time);
}

/* Times of each history in order, one second once; histories without any are left out. */
static void gather(struct reading *r)
{
    struct changes *c = r->out;
    size_t kept = 0, n = 0;
    if (r->count)
        qsort(r->events, r->count, sizeof(*r->events), by_history_and_time);
    c->times = mem_alloc((r->count ? r->count : 1) * sizeof(*c->times));
    for (size_t i = 0; i < r->count;) {
        struct change_history h = c->list[r->events[i].history];
        uint32_t id = r->events[i].history;
        h.times = c->times + n;
        for (; i < r->count && r->events[i].history == id; i++)
            if (!h.count || h.times[h.count - 1] != r->events[i].time) {
                c->times[n++] = r->events[i].time;
                h.count++;
            }
        c->first = !kept || h.times[0] < c->first ? h.times[0] : c->first;
        c->last = h.times[h.count - 1] > c->last ? h.times[h.count - 1] : c->last;
        c->list[kept++] = h; /* histories come in their order: never before what is still to be read */
    }
    c->count = kept;
}

/* Frees the table. */
static status read_all(struct tsv *file, const struct changes_opts *o, struct changes *out, struct buf *why)
{
    struct changes c = {0};
    struct reading r = {.opts = o, .out = &c, .file = file};
    status st = ST_OK;
    arena_init(&c.text);
    while (st == ST_OK) {
        st = tsv_next(r.file, why);
        if (st == ST_OK)
            st = read_row(&r, why);
    }
    if (st == ST_END && !r.count)
        st = tsv_complain(r.file, why, "there is no change in it");
    if (st == ST_END) {
        gather(&r);
        *out = c;
        c = (struct changes){0};
        st = ST_OK;
    }
    tsv_free(r.file);
    free(r.events);
    table_done(&r.folders);
    changes_done(&c);
    return st;
}

status changes_read(const char *path, const struct changes_opts *o, struct changes *out, struct buf *why)
{
    struct tsv *file;
    status st = tsv_open(path, false, &file, why);
    return st == ST_OK ? read_all(file, o, out, why) : st;
}

status changes_read_text(struct span text, const char *name, const struct changes_opts *o, struct changes *out,
                         struct buf *why)
{
    struct tsv *file;
    status st = tsv_open_text(text, name, false, &file, why);
    return st == ST_OK ? read_all(file, o, out, why) : st;
}

void changes_done(struct changes *c)
{
    free(c->list);
    free(c->times);
    arena_done(&c->text);
    *c = (struct changes){0};
}
