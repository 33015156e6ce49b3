/* alike.c - from fingerprints to groups.
 *
 * Pages are numbered in the order in which they would stand for a group, best first. A page that no better one has
 * taken is the first of a group, and takes every page near it that is still free. Since pairs come sorted by their
 * better page, one pass and a bit a page are enough; everything else is sorting and merging by key. */
#include "apply/alike.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "apply/alike_pages.h"
#include "apply/alike_pairs.h"
#include "base/mem.h"
#include "store/file.h"
#include "store/groups.h"
#include "store/sorter.h"

#define SORT_MEMORY (4u << 20) /* of each sorter; eight of them beside the table of alike_pairs.c */
#define CANONICAL_HOPS 4       /* a page names one that names one ... */

/* In the order of pages: bits of the first number. */
#define ORDER_UNNAMED (UINT64_C(1) << 63)   /* nobody names it as canonical */
#define ORDER_UNWILLING (UINT64_C(1) << 62) /* it names another page, which is not followed */

struct grouping {
    const struct alike_opts *o;
    struct alike_report *report;
    struct buf dir;
    struct rows pages, order;
    struct sorter *canonical;   /* key of the page named, of the page that names it */
    struct sorter *alone;       /* keys of pages whose canonical is not followed */
    struct sorter *same, *near; /* see alike_pairs.h */
    struct sorter *taken;       /* page << 32 | its first, as places */
    struct sorter *members;     /* key, first, distance | flags << 32 */
    struct sorter *all;         /* the same, with those that name their canonical */
    struct sorter *firsts;      /* the first of each member, by key */
};

void alike_dir(const char *data_dir, struct buf *out)
{
    buf_printf(out, "%s/alike", data_dir);
    (void)buf_cstr(out);
}

static struct sorter *new_sorter(struct grouping *g, const char *name, unsigned width)
{
    struct buf path = {0};
    buf_printf(&path, "%s/%s", g->dir.p, name);
    struct sorter *s = sorter_new(
        &(struct sorter_opts){.path = buf_cstr(&path), .width = width, .key_bits = 64, .memory = SORT_MEMORY});
    buf_done(&path);
    return s;
}

static status end_is_fine(status st)
{
    return st == ST_END ? ST_OK : st;
}

/* ---- what pages name as canonical ---- */

static bool find_page(const struct grouping *g, uint64_t key, struct alike_page *out)
{
    size_t at;
    if (!rows_has(&g->pages, key, &at))
        return false;
    alike_page_get(&g->pages, at, out);
    return true;
}

/* A page too short for a fingerprint is believed: its text says nothing against it. */
static bool is_other_text(const struct alike_page *a, const struct alike_page *b)
{
    return a->has_hash && b->has_hash && simhash_distance(&a->hash, &b->hash) > ALIKE_CANONICAL_DISTANCE;
}

/* The page that stands for `p` by its own words; false: it names none, or one that cannot. */
static bool follow_canonical(const struct grouping *g, const struct alike_page *p, struct alike_page *out)
{
    struct alike_page at = *p, next;
    for (int hop = 0; hop < CANONICAL_HOPS && at.canonical; hop++) {
        if (!find_page(g, at.canonical, &next) || is_other_text(&at, &next))
            break;
        at = next;
    }
    *out = at;
    return at.key != p->key && (!at.canonical || !find_page(g, at.canonical, &next) || is_other_text(&at, &next));
}

static status gather_canonicals(struct grouping *g)
{
    struct alike_page p, target;
    status st = ST_OK;
    for (size_t i = 0; i < g->pages.count && st == ST_OK; i++) {
        alike_page_get(&g->pages, i, &p);
        if (!p.canonical)
            continue;
        if (follow_canonical(g, &p, &target))
            st = sorter_add(g->canonical, (uint64_t[]){target.key, p.key});
        else
            st = sorter_add(g->alone, (uint64_t[]){p.key});
    }
    return st == ST_OK ? sorter_sort(g->canonical) : st;
}

/* ---- the order of pages ---- */

/* A sorted list, and the row of it that is next. */
struct stream {
    struct sorter *from;
    uint64_t row[SORTER_WIDTH_MAX];
    bool has_row;
};

static status stream_next(struct stream *s)
{
    status st = sorter_next(s->from, s->row);
    s->has_row = st == ST_OK;
    return end_is_fine(st);
}

static status stream_begin(struct stream *s, struct sorter *from)
{
    s->from = from;
    status st = sorter_sort(from);
    return st == ST_OK ? stream_next(s) : st;
}

/* Moves to the first row that is not below `key`. */
static status stream_seek(struct stream *s, uint64_t key)
{
    status st = ST_OK;
    while (st == ST_OK && s->has_row && s->row[0] < key)
        st = stream_next(s);
    return st;
}

static uint64_t place_in_order(const struct alike_page *p, bool is_named)
{
    return (is_named ? 0 : ORDER_UNNAMED) | (p->canonical ? ORDER_UNWILLING : 0) |
           (p->first_fetch & (ORDER_UNWILLING - 1));
}

/* Every page that has a fingerprint and names no canonical page that is followed. */
static status sort_pages(struct grouping *g, struct sorter *sorted)
{
    struct alike_page p, target;
    struct stream named = {0};
    status st = stream_begin(&named, g->canonical);
    for (size_t i = 0; i < g->pages.count && st == ST_OK; i++) {
        alike_page_get(&g->pages, i, &p);
        if (!p.has_hash || (p.canonical && follow_canonical(g, &p, &target)))
            continue;
        st = stream_seek(&named, p.key);
        bool is_named = named.has_row && named.row[0] == p.key;
        uint64_t row[1 + ALIKE_ORDER_WIDTH] = {place_in_order(&p, is_named), p.key, p.lang};
        title_pack(&p.title, row + 1 + ALIKE_ORDER_TITLE);
        simhash_pack(&p.hash, row + 1 + ALIKE_ORDER_HASH);
        if (st == ST_OK)
            st = sorter_add(sorted, row);
    }
    return st == ST_OK ? sorter_sort(sorted) : st;
}

static status make_order(struct grouping *g)
{
    struct sorter *sorted = new_sorter(g, "sorted", 1 + ALIKE_ORDER_WIDTH);
    struct rows_writer *w = NULL;
    struct buf path = {0};
    uint64_t row[1 + ALIKE_ORDER_WIDTH];
    buf_printf(&path, "%s/order", g->dir.p);
    status st = sort_pages(g, sorted);
    if (st == ST_OK)
        st = rows_create(buf_cstr(&path), ALIKE_ORDER_KIND, ALIKE_ORDER_WIDTH, &w);
    while (st == ST_OK && (st = sorter_next(sorted, row)) == ST_OK)
        st = rows_put(w, row + 1);
    st = end_is_fine(st);
    if (st == ST_OK)
        st = rows_keep(w, &g->order);
    else
        rows_abandon(w);
    sorter_free(sorted);
    buf_done(&path);
    return st;
}

/* ---- groups ---- */

static status take(struct grouping *g)
{
    uint64_t pair;
    uint8_t *is_taken = mem_alloc(g->order.count / 8 + 1);
    status st = sorter_sort(g->near);
    while (st == ST_OK && (st = sorter_next(g->near, &pair)) == ST_OK) {
        uint64_t first = pair >> 32, page = pair & UINT32_MAX;
        if ((is_taken[first >> 3] >> (first & 7) & 1) || (is_taken[page >> 3] >> (page & 7) & 1))
            continue;
        is_taken[page >> 3] |= (uint8_t)(1u << (page & 7));
        uint64_t taken = page << 32 | first;
        st = sorter_add(g->taken, &taken);
    }
    free(is_taken);
    return end_is_fine(st);
}

static status add_member(struct grouping *g, uint64_t page, uint64_t first)
{
    struct simhash a, b;
    alike_order_hash(&g->order, page, &a);
    alike_order_hash(&g->order, first, &b);
    return sorter_add(g->members, (uint64_t[]){rows_number(&g->order, page, 0), rows_number(&g->order, first, 0),
                                               simhash_distance(&a, &b)});
}

/* Pages that were taken, and those that have the fingerprint of a page that was taken or takes. */
static status gather_members(struct grouping *g)
{
    struct stream taken = {0};
    uint64_t pair;
    status st = stream_begin(&taken, g->taken);
    if (st == ST_OK)
        st = sorter_sort(g->same);
    while (st == ST_OK && (st = sorter_next(g->same, &pair)) == ST_OK) {
        uint64_t leader = pair >> 32, page = pair & UINT32_MAX, first = leader;
        while (st == ST_OK && taken.has_row && taken.row[0] >> 32 < leader)
            st = stream_next(&taken);
        if (st == ST_OK && taken.has_row && taken.row[0] >> 32 == leader)
            first = taken.row[0] & UINT32_MAX;
        if (st == ST_OK)
            st = add_member(g, page, first);
    }
    st = end_is_fine(st);
    if (st == ST_OK)
        st = stream_begin(&taken, g->taken);
    while (st == ST_OK && taken.has_row) {
        st = add_member(g, taken.row[0] >> 32, taken.row[0] & UINT32_MAX);
        if (st == ST_OK)
            st = stream_next(&taken);
    }
    return st;
}

static status put_member(struct grouping *g, uint64_t key, uint64_t first, uint64_t rest)
{
    status st = sorter_add(g->all, (uint64_t[]){key, first, rest});
    g->report->folded++;
    return st == ST_OK ? sorter_add(g->firsts, &first) : st;
}

static unsigned distance_of(const struct grouping *g, uint64_t a, uint64_t b)
{
    struct alike_page x, y;
    bool can_tell = find_page(g, a, &x) && find_page(g, b, &y) && x.has_hash && y.has_hash;
    return can_tell ? simhash_distance(&x.hash, &y.hash) : 0;
}

/* Members as they are; pages that name one of them go to its first, others to the page they name. */
static status join_canonicals(struct grouping *g)
{
    struct stream members = {0}, named = {0};
    status st = stream_begin(&members, g->members);
    if (st == ST_OK)
        st = stream_begin(&named, g->canonical);
    while (st == ST_OK && (members.has_row || named.has_row)) {
        if (!named.has_row || (members.has_row && members.row[0] < named.row[0])) {
            st = put_member(g, members.row[0], members.row[1], members.row[2]);
            if (st == ST_OK)
                st = stream_next(&members);
            continue;
        }
        bool is_member = members.has_row && members.row[0] == named.row[0];
        uint64_t first = is_member ? members.row[1] : named.row[0];
        st = put_member(g, named.row[1], first, distance_of(g, named.row[1], first) | (uint64_t)GROUPS_CANONICAL << 32);
        g->report->canonical++;
        if (st == ST_OK)
            st = stream_next(&named);
    }
    return st;
}

/* ---- the file ---- */

/* The next first page with how many its group has. */
static status next_first(struct stream *firsts, uint64_t *key, uint32_t *pages)
{
    status st = ST_OK;
    *key = firsts->row[0];
    *pages = 0;
    if (!firsts->has_row)
        return ST_OK;
    *pages = 1;
    while (st == ST_OK && firsts->has_row && firsts->row[0] == *key) {
        *pages += *pages < UINT32_MAX;
        st = stream_next(firsts);
    }
    return st;
}

static status put_row(struct rows_writer *w, uint64_t key, const struct group *g)
{
    uint64_t row[GROUPS_WIDTH];
    group_pack(key, g, row);
    return rows_put(w, row);
}

/* Three lists by key, in which a page is once, but for pages alone, which may be in one of the others too. */
static status write_rows(struct grouping *g, struct rows_writer *w)
{
    struct stream all = {0}, firsts = {0}, alone = {0};
    uint64_t first = 0;
    uint32_t pages = 0;
    status st = stream_begin(&all, g->all);
    if (st == ST_OK)
        st = stream_begin(&firsts, g->firsts);
    if (st == ST_OK)
        st = stream_begin(&alone, g->alone);
    if (st == ST_OK)
        st = next_first(&firsts, &first, &pages);
    while (st == ST_OK && (all.has_row || pages || alone.has_row)) {
        uint64_t key = UINT64_MAX;
        key = all.has_row && all.row[0] < key ? all.row[0] : key;
        key = pages && first < key ? first : key;
        key = alone.has_row && alone.row[0] < key ? alone.row[0] : key;
        bool is_unfollowed = alone.has_row && alone.row[0] == key;
        unsigned flags = is_unfollowed ? GROUPS_UNFOLLOWED : 0;
        if (all.has_row && all.row[0] == key) {
            st = put_row(w, key,
                         &(struct group){.first = all.row[1],
                                         .distance = (unsigned)(all.row[2] & UINT32_MAX),
                                         .flags = flags | (unsigned)(all.row[2] >> 32)});
            if (st == ST_OK)
                st = stream_next(&all);
        } else if (pages && first == key) {
            g->report->groups++;
            st = put_row(w, key, &(struct group){.first = key, .pages = pages, .flags = flags});
            if (st == ST_OK)
                st = next_first(&firsts, &first, &pages);
        } else {
            st = put_row(w, key, &(struct group){.first = key, .pages = 1, .flags = flags});
        }
        if (st == ST_OK && is_unfollowed)
            st = stream_next(&alone);
    }
    return st;
}

static status write_groups(struct grouping *g)
{
    struct rows_writer *w = NULL;
    struct buf path = {0};
    groups_path(g->o->data_dir, &path);
    status st = rows_create(path.p, GROUPS_KIND, GROUPS_WIDTH, &w);
    buf_done(&path);
    if (st != ST_OK)
        return st;
    st = write_rows(g, w);
    if (st == ST_OK)
        return rows_commit(w, g->pages.stamp);
    rows_abandon(w);
    return st;
}

static status make_groups(struct grouping *g)
{
    struct alike_pairs pairs = {.o = g->o, .order = &g->order, .dir = g->dir.p};
    status st = gather_canonicals(g);
    if (st == ST_OK)
        st = make_order(g);
    pairs.same = g->same;
    pairs.near = g->near;
    if (st == ST_OK)
        st = alike_pairs_find(&pairs);
    g->report->compared = pairs.compared;
    if (st == ST_OK)
        st = take(g);
    if (st == ST_OK)
        st = gather_members(g);
    if (st == ST_OK)
        st = join_canonicals(g);
    return st == ST_OK ? write_groups(g) : st;
}

static status group(const struct alike_opts *o, struct alike_report *report, struct rows *pages)
{
    struct grouping g = {.o = o, .report = report, .pages = *pages};
    alike_dir(o->data_dir, &g.dir);
    struct {
        struct sorter **sorter;
        const char *name;
        unsigned width;
    } sorters[] = {
        {&g.canonical, "canonical", 2}, {&g.alone, "alone", 1},     {&g.same, "same", 1}, {&g.near, "near", 1},
        {&g.taken, "taken", 1},         {&g.members, "members", 3}, {&g.all, "all", 3},   {&g.firsts, "firsts", 1}};
    size_t n = sizeof(sorters) / sizeof(*sorters);
    for (size_t i = 0; i < n; i++)
        *sorters[i].sorter = new_sorter(&g, sorters[i].name, sorters[i].width);
    report->pages = pages->count;
    status st = make_groups(&g);
    int saved = errno;
    for (size_t i = 0; i < n; i++)
        sorter_free(*sorters[i].sorter);
    rows_close(&g.order);
    buf_done(&g.dir);
    errno = saved;
    return st;
}

/* ---- all of it ---- */

static bool is_due(const struct alike_opts *o)
{
    struct buf path = {0};
    groups_path(o->data_dir, &path);
    struct groups *now = groups_open(path.p);
    uint64_t stamp = groups_stamp(now), changes = o->last > stamp ? o->last - stamp : 0;
    bool is = o->is_forced || groups_status(now) != ST_OK || (changes && changes >= o->least_changes);
    groups_release(now);
    buf_done(&path);
    return is;
}

status alike_run(const struct alike_opts *o, struct alike_report *out)
{
    struct rows pages = {0};
    struct buf dir = {0};
    *out = (struct alike_report){.was_due = is_due(o)};
    if (!out->was_due)
        return ST_OK;
    alike_dir(o->data_dir, &dir);
    status st = file_mkdir(dir.p);
    if (st == ST_OK)
        st = alike_pages_update(o, out, &pages);
    if (st == ST_OK)
        st = group(o, out, &pages);
    rows_close(&pages);
    buf_done(&dir);
    return st;
}

/* Renamed first, so that nobody can finish a file in it meanwhile. */
status alike_erase(const char *data_dir)
{
    struct buf dir = {0}, old = {0};
    alike_dir(data_dir, &dir);
    buf_printf(&old, "%s.old", dir.p);
    status st = file_remove_dir(buf_cstr(&old)); /* of a run that was killed */
    if (st == ST_OK && rename(dir.p, old.p) != 0 && errno != ENOENT)
        st = ST_IO;
    if (st == ST_OK)
        st = file_remove_dir(old.p);
    buf_done(&dir);
    buf_done(&old);
    return st;
}
