/* figures.h - how good a choice of agents is: against the nearest, and in time by the model of paper 002. Pure. */
#pragma once

#include "sim/ground.h"

/* A server with M pages takes ceil(M / L) rounds of 2 round trips, L pages over a line of so many bits a second, and
 * the server's own time; an agent has N connections; the slowest agent counts (eq. 1 and 2 of the paper). */
struct download_model {
    double pages_a_round;   /* L */
    double bits_per_second; /* BW */
    double page_bytes;      /* ps; 0: as the site's pages are */
    double server_s;        /* PT, a round */
    double connections;     /* N */
};
extern const struct download_model download_paper; /* its constants: a line of 16 kbit/s hides any distance */
extern const struct download_model download_today; /* lines of 16 Mbit/s: round trips are what takes time */
double download_site_s(const struct download_model *m, const struct world_site *s, double rtt_ms);

struct quality {
    double optimal, near;       /* shares of sites: at the nearest agent, within DELEGATE_NEAR_MS of it */
    double rtt_ms, best_ms;     /* means over sites */
    double rtt_ratio;           /* of the two */
    double excess_ms;           /* mean over those that are not optimal */
    double excess_max_ms;       /* of all */
    double page_ms, page_ratio; /* mean round trip over pages, not sites; its ratio to the nearest agents' */
    double download_s;          /* paper's constants: of the slowest agent */
    double download_mean_s;     /* and of all agents */
    double download_today_s, download_today_mean_s;
};
/* `agent_of` gives the agent of each of the world's sites that are listed in `sites`. */
void quality_measure(const struct ground *g, const uint32_t *sites, size_t n, const uint32_t *agent_of,
                     struct quality *out);

/* The download times of two bounds: an agent drawn for each site, and the farthest. */
struct baseline {
    double random_s, farthest_s, best_s;                   /* paper's constants */
    double random_today_s, farthest_today_s, best_today_s; /* today's */
    double random_today_mean_s, farthest_today_mean_s, best_today_mean_s;
    double random_ms; /* mean round trip of the drawn */
};
void baseline_measure(const struct ground *g, const uint32_t *sites, size_t n, struct baseline *out);
