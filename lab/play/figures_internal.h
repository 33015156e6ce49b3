/* figures_internal.h - what the parts of figures.c share: the run as they have read it so far. */
#pragma once

#include "base/table.h"
#include "codec/json_tree.h"
#include "lab/map/lab.h"
#include "lab/play/figures.h"

#define FIGURES_FILE_MAX (64u << 20)
#define FIGURES_NEAR_MS 5.0 /* so much farther than the nearest agent is still near: DELEGATE_NEAR_MS */
#define FIGURES_LAST 50     /* sites at either end of the order of decisions */

struct figures_site {
    unsigned place;
    double last; /* seconds since 1970: its newest page, when nobody had had it before; 0: none */
    int asker;   /* place of whoever asked last; -1: nobody */
    int owner;   /* place of its agent; -1: none */
};

struct figures_run {
    const char *folder;
    const struct scenario_run *run;
    struct figures *out;
    struct buf *why;
    struct lab lab;             /* zeros: the folder has none */
    struct figures_site *sites; /* owned: as lab.sites */
    struct table by_host;       /* site number + 1 */
    double begin;               /* seconds since 1970: the order to crawl, or the last `clear` step; 0: not known */
    double crawl_s;             /* 0: not known */
    uint64_t requests;
    bool is_cleared; /* requests before `begin` do not count */
};

/* Each puts its figures; a file that is not there is no error. */
MUST_USE status figures_of_crawl(struct figures_run *r);   /* ledger */
MUST_USE status figures_of_placing(struct figures_run *r); /* networks.json, agents.json; after the crawl */
MUST_USE status figures_of_sim(struct figures_run *r);     /* sim.json; after placing */
MUST_USE status figures_of_pages(struct figures_run *r);   /* pages.jsonl; after the crawl */
MUST_USE status figures_of_router(struct figures_run *r);  /* router.json, traffic.json; after the crawl */
MUST_USE status figures_of_steps(struct figures_run *r);   /* took.tsv */

/* ---- kills.tsv: seconds since begin, agent ---- */

struct figures_kill {
    double at; /* seconds since 1970 */
    unsigned place;
    bool *sites; /* owned: something of it was asked for again, as it had to be */
};

struct figures_kills {
    struct figures_kill *list; /* owned */
    size_t n, cap;
    struct table answers; /* ours */
};

MUST_USE status figures_kills_read(const struct figures_run *r, struct figures_kills *out); /* zeros before */
/* A page of a site was sent to a place; true: it had been sent before, to one who was killed meanwhile. */
bool figures_kills_excuse(const struct figures_run *r, struct figures_kills *k, int site, struct span target,
                          unsigned from, double at);
void figures_kills_done(struct figures_kills *k); /* zeros are fine */

/* ---- what they use ---- */

void figures_put_str(struct figures *f, const char *name, double value); /* nothing when it is not finite */
/* The value of a figure, or `other`. */
double figures_or(const struct figures *f, const char *name, double other);
int figures_site_of(const struct figures_run *r, struct span host); /* -1: none */
/* The number behind the last `option` of a command line; false: it is not there, or no number. */
bool figures_option(const struct words *w, const char *option, double *out);
/* A file of the folder. ST_NOT_FOUND: it is not there; else r->why says what is wrong with it. */
MUST_USE status figures_read(const struct figures_run *r, const char *name, struct buf *out);
MUST_USE status figures_json(const struct figures_run *r, const char *name, struct arena *a,
                             const struct json_node **out);
bool figures_number(struct span text, double *out); /* any finite number */
/* Least squares over x = 0, 1, 2, ...: y = *at_zero + slope x; returns the slope. */
double figures_slope(const double *y, size_t n, double *at_zero);

/* Probes of each site in the order in which their networks were met: those of a network count for the first of its
 * sites, as the simulator has it; the requests of whoever has it on trial are none. In the arena; 0: nothing met. */
size_t figures_decisions(const struct json_node *networks, struct arena *a, double **probes);
