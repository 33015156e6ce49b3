/* figures_kills.c - what was under way when somebody was killed. Nobody knows what became of such a request: that it is
 * made again is no fault. Of each host there is at most one at a time. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/siphash.h"
#include "lab/play/figures_internal.h"

#define LATE_S 0.5 /* a busy machine has not looked at an answer yet */
#define RTTS 2     /* the connection, and the answer */

static const struct sip_key key = {0x6b696c6c65642077, 0x68696c6520617420};

/* The last good answer of a page. */
struct answered {
    double at;
    unsigned place;
};

static void add_kill(struct figures_kills *k, const struct figures_run *r, unsigned place, double at)
{
    k->list = mem_grow(k->list, &k->cap, k->n + 1, sizeof(*k->list));
    k->list[k->n++] = (struct figures_kill){at, place, mem_alloc(r->lab.site_count + 1)};
}

status figures_kills_read(const struct figures_run *r, struct figures_kills *out)
{
    struct buf text = {0};
    struct span line, t;
    double at, begun = 0;
    unsigned place;
    status st = figures_read(r, "begin", &text);
    if (st == ST_OK && !figures_number(buf_span(&text), &begun))
        st = ST_INVALID;
    buf_clear(&text);
    if (st == ST_OK)
        st = figures_read(r, "kills.tsv", &text);
    struct span rest = buf_span(&text);
    while (st == ST_OK && rest.n && span_split(&rest, '\n', &line))
        if (span_split(&line, '\t', &t) && figures_number(t, &at) && map_find(r->lab.map, line, &place))
            add_kill(out, r, place, begun + at);
    buf_done(&text);
    return st == ST_NOT_FOUND ? ST_OK : st;
}

static bool was_under_way(const struct figures_run *r, struct figures_kills *k, int site, const struct answered *a)
{
    double path_s = (double)map_path(r->lab.map, r->sites[site].place, a->place).rtt_ms / 1000;
    for (size_t i = 0; i < k->n; i++) {
        struct figures_kill *kill = &k->list[i];
        double ago = kill->at - a->at;
        if (kill->place != a->place || ago < -path_s || ago > RTTS * path_s + LATE_S || kill->sites[site])
            continue;
        kill->sites[site] = true;
        return true;
    }
    return false;
}

bool figures_kills_excuse(const struct figures_run *r, struct figures_kills *k, int site, struct span target,
                          unsigned from, double at)
{
    struct sip_key of_site = {key.k0 ^ (uint64_t)site, key.k1};
    uint64_t id = siphash(&of_site, target);
    struct answered *a = k->n ? table_get(&k->answers, id) : NULL;
    bool is_excused = a && was_under_way(r, k, site, a);
    if (k->n && !a) {
        a = mem_alloc(sizeof(*a));
        table_put(&k->answers, id, a);
    }
    if (a)
        *a = (struct answered){at, from};
    return is_excused;
}

void figures_kills_done(struct figures_kills *k)
{
    struct answered *a;
    for (size_t at = 0; (a = table_next(&k->answers, &at));)
        free(a);
    table_done(&k->answers);
    for (size_t i = 0; i < k->n; i++)
        free(k->list[i].sites);
    free(k->list);
}
