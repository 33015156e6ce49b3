/* recrawl_twin - how fresh copies of the live pages of the sample web were, by its ledger, and how fresh the same plan
 * keeps the same pages in a simulation: what the agents do is all that is made up.
 *
 *     recrawl_twin LEDGER LIVE SCALE SLOTS FROM_S TO_S
 *
 * LEDGER and LIVE are what the control host says; times count from the first request. Prints one line of numbers:
 * freshness by the ledger, freshness by the simulation, visits of both, their least gap in seconds. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/recrawl.h"

#define HOSTS_MAX 512
#define PAGES_MAX 16
#define TIMES_MAX 20000
#define TICK_US 200000   /* of the coordinator */
#define ORDER_US 300000  /* until an agent has begun */
#define REPORT_US 500000 /* until we know that it has ended */
#define EPOCH_MS INT64_C(1700000000000)

struct times {
    int64_t *at; /* microseconds, in order */
    size_t n;
};

struct page {
    struct times changes, live, twin; /* copies: when they were taken */
};

struct site {
    char name[64];
    struct page pages[PAGES_MAX];
    size_t page_count;
    int64_t first; /* its first crawl was over; 0: never */
    double carry;
    int64_t fetch_at, done_at; /* of the visit under way; 0: none */
    uint32_t number;
    bool is_in;
};

static struct site sites[HOSTS_MAX];
static size_t site_count;
static char paths[PAGES_MAX][64];

static void note(struct times *t, int64_t at)
{
    if (t->n % 64 == 0)
        t->at = realloc(t->at, (t->n + 64) * sizeof(*t->at));
    if (t->at && t->n < TIMES_MAX)
        t->at[t->n++] = at;
}

static struct site *site_of(const char *name)
{
    for (size_t i = 0; i < site_count; i++)
        if (strcmp(sites[i].name, name) == 0)
            return &sites[i];
    return NULL;
}

static void read_live(const char *path)
{
    static char line[1 << 20];
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof(line), f)) {
        char *host = strtok(line, "\t"), *target = strtok(NULL, "\t"), *rest = strtok(NULL, "\n");
        struct site *s = host ? site_of(host) : NULL;
        if (!host || !target)
            continue;
        target[strcspn(target, "\n")] = '\0';
        if (!s && site_count < HOSTS_MAX) {
            s = &sites[site_count++];
            snprintf(s->name, sizeof(s->name), "%s", host);
        }
        if (!s || s->page_count == PAGES_MAX)
            continue;
        struct page *p = &s->pages[s->page_count];
        snprintf(paths[s->page_count++], sizeof(*paths), "%s", target);
        for (char *t = rest ? strtok(rest, " ") : NULL; t; t = strtok(NULL, " "))
            note(&p->changes, strtoll(t, NULL, 10));
    }
    if (f)
        fclose(f);
}

static void read_ledger(const char *path)
{
    long long at;
    int code;
    char host[256], target[1024];
    FILE *f = fopen(path, "r");
    while (f && fscanf(f, "%lld\t%d\t%255[^\t]\t%1023[^\n]\n", &at, &code, host, target) == 4) {
        struct site *s = site_of(host);
        for (size_t i = 0; s && (code == 200 || code == 304) && i < s->page_count; i++)
            if (strcmp(paths[i], target) == 0)
                note(&s->pages[i].live, at);
    }
    if (f)
        fclose(f);
}

/* Share of the time from `from` to `to` in which the newest copy was taken after the newest change. */
static double fresh_share(const struct page *p, const struct times *copies, int64_t from, int64_t to)
{
    int64_t fresh = 0;
    for (size_t i = 0; i < copies->n; i++) {
        size_t c = 0;
        while (c < p->changes.n && p->changes.at[c] <= copies->at[i])
            c++;
        int64_t begin = copies->at[i], end = c < p->changes.n ? p->changes.at[c] : to;
        if (i + 1 < copies->n && copies->at[i + 1] < end)
            end = copies->at[i + 1];
        begin = begin > from ? begin : from;
        end = end < to ? end : to;
        fresh += end > begin ? end - begin : 0;
    }
    return (double)fresh / (double)(to - from);
}

/* ---- the simulation ---- */

static wall_ms plan_time(int64_t us, double scale)
{
    return EPOCH_MS + (wall_ms)((double)us / 1000 * scale);
}

/* As the coordinator has it: the share of pages that are others than at the last visit. */
static bool has_changed(struct site *s)
{
    size_t changed = 0;
    for (size_t i = 0; i < s->page_count; i++) {
        const struct times *t = &s->pages[i].twin;
        int64_t before = t->at[t->n - 2], now = t->at[t->n - 1];
        bool is = false;
        for (size_t k = 0; k < s->pages[i].changes.n; k++)
            is |= s->pages[i].changes.at[k] > before && s->pages[i].changes.at[k] <= now;
        changed += is;
    }
    double sum = s->carry + (double)changed / (double)s->page_count;
    bool is = sum >= 0.5;
    s->carry = sum - is;
    return is;
}

static void go_on(struct recrawl *r, int64_t now, double scale, size_t *busy)
{
    for (size_t i = 0; i < site_count; i++) {
        struct site *s = &sites[i];
        if (s->first && !s->is_in && now >= s->first + REPORT_US) {
            struct recrawl_history h = {.visited = plan_time(now, scale), .rank = RECRAWL_RANKS / 2};
            for (size_t k = 0; k < s->page_count; k++)
                note(&s->pages[k].twin, s->first);
            if (recrawl_put(r, plan_time(now, scale), &(struct recrawl_rule){0}, &h, &s->number) == ST_OK)
                s->is_in = true;
        }
        if (s->fetch_at && now >= s->fetch_at) {
            for (size_t k = 0; k < s->page_count; k++)
                note(&s->pages[k].twin, s->fetch_at);
            s->fetch_at = 0;
        }
        if (s->done_at && now >= s->done_at) {
            struct recrawl_result result = {.has_changed = has_changed(s), .took_ms = (int64_t)(scale * 300)};
            recrawl_done(r, plan_time(now, scale), s->number, &result);
            s->done_at = 0;
            --*busy;
        }
    }
}

static struct site *site_numbered(uint32_t number)
{
    for (size_t i = 0; i < site_count; i++)
        if (sites[i].is_in && sites[i].number == number)
            return &sites[i];
    return NULL;
}

static void play(double scale, size_t slots, int64_t from, int64_t to)
{
    struct recrawl *r = recrawl_new(&(struct recrawl_opts){0});
    size_t busy = 0;
    for (int64_t now = from; now < to; now += TICK_US) {
        uint32_t number;
        wall_ms wake;
        go_on(r, now, scale, &busy);
        while (busy < slots && recrawl_next(r, plan_time(now, scale), true, &number, &wake) == ST_OK) {
            struct site *s = site_numbered(number);
            s->fetch_at = now + ORDER_US;
            s->done_at = s->fetch_at + REPORT_US;
            busy++;
        }
    }
    recrawl_free(r);
}

int main(int argc, char **argv)
{
    if (argc != 7)
        return 2;
    read_live(argv[2]);
    read_ledger(argv[1]);
    double scale = strtod(argv[3], NULL), live = 0, twin = 0, gap = INFINITY;
    size_t pages = 0, live_visits = 0, twin_visits = 0;
    int64_t start = INT64_MAX;
    for (size_t i = 0; i < site_count; i++)
        for (size_t k = 0; k < sites[i].page_count; k++) {
            const struct times *t = &sites[i].pages[k].live;
            if (!t->n)
                return 3; /* a page that nobody got */
            start = t->at[0] < start ? t->at[0] : start;
            sites[i].first = t->at[0] > sites[i].first ? t->at[0] : sites[i].first;
        }
    int64_t from = start + (int64_t)(strtod(argv[5], NULL) * 1e6), to = start + (int64_t)(strtod(argv[6], NULL) * 1e6);
    play(scale, strtoul(argv[4], NULL, 10), start, to);
    for (size_t i = 0; i < site_count; i++)
        for (size_t k = 0; k < sites[i].page_count; k++) {
            const struct page *p = &sites[i].pages[k];
            live += fresh_share(p, &p->live, from, to);
            twin += fresh_share(p, &p->twin, from, to);
            pages++;
            live_visits += p->live.n - 1;
            twin_visits += p->twin.n - 1;
            for (size_t v = 1; v < p->live.n; v++)
                gap = fmin(gap, (double)(p->live.at[v] - p->live.at[v - 1]) / 1e6);
        }
    printf("%.4f %.4f %zu %zu %.2f\n", live / (double)pages, twin / (double)pages, live_visits, twin_visits, gap);
    return 0;
}
