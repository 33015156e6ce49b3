/* drift_run.c - calibration in the game: networks are crawled, something changes, and ordinary requests must tell. */
#include <stdlib.h>

#include "base/mem.h"
#include "sim/delegate_game.h"

#define WARM_REQUESTS 24 /* of each network, before anything changes */
#define DAYS 3
#define REQUESTS_A_DAY 48
#define DAY_MS INT64_C(86400000)
#define BACK_RATIO 1.05

struct crawl {
    struct game *g;
    struct calibrate_opts opts;
    struct calibration *of; /* by network */
    uint32_t *turn;         /* by network: the site that is next */
    unsigned requests;      /* made so far, of each */
    size_t decisions, moves;
    uint64_t probes;
};

static double ratio_now(const struct game *g)
{
    struct quality q;
    quality_measure(&g->ground, g->order, g->site_count, g->agent_of, &q);
    return q.rtt_ratio;
}

static double last_ms_of(const struct game_net *n, uint32_t agent)
{
    for (size_t i = n->probe_count; i-- > 0;)
        if (n->probes[i].agent == agent + 1 && n->probes[i].ms >= 0)
            return n->probes[i].ms;
    return -1;
}

/* What its agent has seen lately is known. What was measured before says where the network is, not what an agent has to
 * offer now: that may be what has changed. */
static void decide_anew(struct crawl *c, size_t i, wall_ms now)
{
    struct game *g = c->g;
    struct game_net *n = &g->nets[i];
    uint32_t was = n->agent, is;
    double was_ms = calibration_ms(&c->of[i]);
    struct delegate_answer a;
    n->old_count = n->probe_count;
    n->trial_count = 0;
    game_net_add_probe(n, &(struct delegate_probe){.agent = was + 1, .ms = was_ms});
    game_give(g, n, GAME_NO_AGENT);
    is = game_decide(g, n, &a) ? (uint32_t)(a.agent - 1) : was;
    buf_done(&a.why);
    if (!game_was_measured(n, is + 1))
        game_fetch(g, n, is + 1); /* and if it is no better, it goes back */
    if (is != was && !calibrate_is_worth(&c->opts, was_ms, last_ms_of(n, is)))
        is = was;
    game_give(g, n, is);
    c->decisions++;
    c->moves += is != was;
    c->probes += game_count_probes(n, is + 1) - n->old_count - 1; /* the first was known */
    struct delegate_question q = game_net_question(g, n);
    delegator_learn(g->delegator, &q);
    calibrate_decided(&c->of[i], &c->opts, last_ms_of(n, is), now);
}

static void one_round(struct crawl *c, wall_ms now)
{
    struct game *g = c->g;
    for (size_t i = 0; i < g->net_count; i++) {
        double path_ms, total_ms;
        uint32_t site = c->turn[i];
        c->turn[i] = g->next_site[site] != GAME_NO_SITE ? g->next_site[site] : g->nets[i].site;
        ground_request(&g->ground, site, g->nets[i].agent, c->requests, &path_ms, &total_ms);
        if (calibrate_note(&c->of[i], &c->opts, path_ms, total_ms, now))
            decide_anew(c, i, now);
    }
    c->requests++;
}

static void note_return(struct crawl *c, struct drift_figures *f, unsigned round)
{
    if (f->back_after_requests >= 0)
        return;
    if (ratio_now(c->g) <= BACK_RATIO) {
        f->back_after_requests = round;
        f->back_after_probes = (double)c->probes / (double)c->g->site_count;
    }
}

void game_drift(struct game *g)
{
    const struct delegate_run_opts *o = g->opts;
    unsigned days = o->days ? o->days : DAYS, a_day = o->requests_a_day ? o->requests_a_day : REQUESTS_A_DAY;
    struct drift_figures *f = &g->drift;
    struct crawl c = {.g = g, .opts = o->calibration};
    c.of = mem_alloc(g->net_count * sizeof(*c.of));
    c.turn = mem_alloc(g->net_count * sizeof(*c.turn));
    for (size_t i = 0; i < g->net_count; i++)
        c.turn[i] = g->nets[i].site;
    wall_ms now = DAY_MS, step = DAY_MS / a_day;
    for (size_t i = 0; i < g->net_count; i++)
        calibrate_decided(&c.of[i], &c.opts, last_ms_of(&g->nets[i], g->nets[i].agent), now);
    for (unsigned i = 0; i < WARM_REQUESTS; i++, now += step)
        one_round(&c, now);
    *f = (struct drift_figures){.networks = g->net_count, .back_after_requests = -1, .back_after_probes = -1};
    f->ratio_before = ratio_now(g);
    size_t moves_before = c.moves;
    c.probes = 0;
    c.decisions = 0;
    g->ground.has_drifted = o->ground.drift != DRIFT_NONE;
    f->ratio_changed = ratio_now(g);
    for (unsigned i = 0; i < days * a_day; i++, now += step) {
        one_round(&c, now);
        note_return(&c, f, i + 1);
        if (o->tell)
            o->tell(o->arg, i, days * a_day);
    }
    f->ratio_after = ratio_now(g);
    f->moves = c.moves - moves_before;
    f->decisions = c.decisions;
    f->probes_extra = (double)c.probes / (double)g->site_count;
    f->moves_share_a_day = (double)f->moves / (double)g->net_count / days;
    g->moves += f->moves;
    free(c.of);
    free(c.turn);
}
