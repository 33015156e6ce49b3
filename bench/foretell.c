#include "foretell.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"
#include "plan/change_rate.h"
#include "sim/changes.h"

#define DAY 86400.0
#define FADE (CHANGE_ACTIVITY_DAYS * DAY)
#define SWEEP 2

struct visit {
    double at, gap, since; /* since: how long ago it changed last, as Last-Modified would say; < 0: not */
    uint32_t page;
    bool has_changed;
};

struct history {
    struct changes changes;
    struct visit *visits;
    size_t count, cap;
    uint32_t *folder; /* of a page */
    size_t folders;
};

static int by_time(const void *a, const void *b)
{
    const struct visit *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return (x->page > y->page) - (x->page < y->page);
}

static void visit_page(struct history *h, uint32_t page, double mean_gap, struct rng *r)
{
    const struct change_history *c = &h->changes.list[page];
    double at = c->times[0], end = c->removed ? c->removed : h->changes.last;
    for (size_t k = 1;;) {
        struct visit v = {.gap = mean_gap * (0.5 + rng_unit(r)), .since = -1, .page = page};
        v.at = at += v.gap;
        if (at > end)
            return;
        for (; k < c->count && (double)c->times[k] <= at; k++) {
            v.has_changed = true;
            v.since = at - (double)c->times[k];
        }
        h->visits = mem_grow(h->visits, &h->cap, h->count + 1, sizeof(*h->visits));
        h->visits[h->count++] = v;
    }
}

static struct span folder_of(struct span path)
{
    while (path.n && path.p[path.n - 1] != '/')
        path.n--;
    return path;
}

/* Pages come by path: those of a folder follow each other, but for folders in it; each piece counts as a folder. */
static void find_folders(struct history *h)
{
    h->folder = mem_alloc(h->changes.count * sizeof(*h->folder));
    for (size_t i = 0; i < h->changes.count; i++) {
        h->folders += i == 0 || !span_eq(folder_of(h->changes.list[i].path), folder_of(h->changes.list[i - 1].path));
        h->folder[i] = (uint32_t)h->folders - 1;
    }
}

/* Sums of squares over the newer half. */
struct score {
    double own, plain, ours, told, n;
};

struct model {
    struct change_prior prior;
    struct change_rate *pages, *told;
    struct change_activity *folders, site;
    struct change_population sweep;
    size_t sweep_at;
    uint32_t *visits, *changed; /* for the page's own frequency */
    double all_visits, all_changed;
};

static double square(double chance, bool has_changed)
{
    return (chance - has_changed) * (chance - has_changed);
}

static double own_frequency(const struct model *m, uint32_t page)
{
    if (m->visits[page])
        return (double)m->changed[page] / m->visits[page];
    return m->all_visits > 0 ? m->all_changed / m->all_visits : 0;
}

static void sweep(struct model *m, size_t pages)
{
    for (int i = 0; i < SWEEP; i++) {
        if (m->sweep_at >= pages) {
            change_population_fit(&m->sweep, &m->prior);
            m->sweep = (struct change_population){0};
            m->sweep_at = 0;
        }
        const struct change_rate *c = &m->pages[m->sweep_at++];
        if (c->time > 0)
            change_population_add(&m->sweep, c, &m->prior);
    }
}

static void foretell(struct model *m, const struct history *h, const struct visit *v, struct score *s)
{
    struct change_activity *folder = &m->folders[h->folder[v->page]];
    double plain = change_chance(&m->pages[v->page], &m->prior, v->gap);
    double site = change_chance_times(plain, change_activity_factor(&m->site, v->at, FADE));
    double around = change_activity_factor(&m->site, v->at, FADE) * change_activity_factor(folder, v->at, FADE);
    double told = change_chance(&m->told[v->page], &m->prior, v->gap);
    if (s) {
        s->own += square(own_frequency(m, v->page), v->has_changed);
        s->plain += square(plain, v->has_changed);
        s->ours += square(change_chance_times(plain, around), v->has_changed);
        s->told += square(change_chance_times(told, around), v->has_changed);
        s->n++;
    }
    change_activity_note(folder, v->at, FADE, site, v->has_changed);
    change_activity_note(&m->site, v->at, FADE, plain, v->has_changed);
    change_observe(&m->pages[v->page], &m->prior, v->gap, v->has_changed, -1);
    change_observe(&m->told[v->page], &m->prior, v->gap, v->has_changed, v->since);
    m->visits[v->page]++;
    m->changed[v->page] += v->has_changed;
    m->all_visits++;
    m->all_changed += v->has_changed;
}

static void play(const struct history *h, struct score *s)
{
    size_t n = h->changes.count;
    double half = ((double)h->changes.first + h->changes.last) / 2;
    struct model m = {.prior = {.changes = 0.5, .time = 180 * DAY},
                      .pages = mem_alloc(n * sizeof(*m.pages)),
                      .told = mem_alloc(n * sizeof(*m.told)),
                      .folders = mem_alloc(h->folders * sizeof(*m.folders)),
                      .visits = mem_alloc(n * sizeof(*m.visits)),
                      .changed = mem_alloc(n * sizeof(*m.changed))};
    for (size_t i = 0; i < h->count; i++) {
        bool is_newer = h->visits[i].at > half;
        foretell(&m, h, &h->visits[i], is_newer ? s : NULL);
        if (!is_newer)
            sweep(&m, n); /* the prior is the older half's */
    }
    free(m.pages);
    free(m.told);
    free(m.folders);
    free(m.visits);
    free(m.changed);
}

static int foretell_every(const char *path, double days, bool has_mass_edits)
{
    struct history h = {0};
    struct score s = {0};
    struct buf why = {0};
    struct rng r;
    const char *kind = has_mass_edits ? "_with_mass_edits" : "";
    if (changes_read(path, &(struct changes_opts){.has_mass_edits = has_mass_edits}, &h.changes, &why) != ST_OK) {
        fprintf(stderr, "bench_recrawl: %s\n", why.n ? buf_cstr(&why) : path);
        buf_done(&why);
        return 3;
    }
    rng_seed(&r, 1);
    find_folders(&h);
    for (uint32_t i = 0; i < h.changes.count; i++)
        visit_page(&h, i, days * DAY, &r);
    if (h.count) /* nothing else than an array of visits */
        qsort(h.visits, h.count, sizeof(*h.visits), by_time);
    play(&h, &s);
    if (s.n > 0 && s.own > 0) {
        printf("history_%.0f_days%s_own_frequency %.5f Brier\n", days, kind, s.own / s.n);
        printf("history_%.0f_days%s_rate_alone %.2f %%\n", days, kind, 100 * (1 - s.plain / s.own));
        printf("history_%.0f_days%s_better %.2f %%\n", days, kind, 100 * (1 - s.ours / s.own));
        printf("history_%.0f_days%s_better_with_last_modified %.2f %%\n", days, kind, 100 * (1 - s.told / s.own));
    }
    free(h.visits);
    free(h.folder);
    changes_done(&h.changes);
    buf_done(&why);
    return 0;
}

int foretell_history(const char *path)
{
    int code = foretell_every(path, 30, false);
    if (code == 0)
        code = foretell_every(path, 120, false);
    if (code == 0)
        code = foretell_every(path, 30, true);
    return code;
}
