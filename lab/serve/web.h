/* web.h - the lab's web servers: every site of a lab on its own address, by one HTTP server on all of them.
 *
 * The host of a request says which site it is for, and must be one that has the address that was asked; a request
 * without a known host gets the first site of the address. Pages change in the lab's own time (labtime.h). How slow,
 * how faulty and how patient a site is can be changed while it runs. */
#pragma once

#include "base/status.h"
#include "lab/map/lab.h"
#include "lab/serve/ledger.h"

struct web_opts {
    const struct lab *lab; /* borrowed */
    struct ledger *ledger; /* borrowed */
    struct addr addr;      /* family 0: every address */
    int port;              /* 0: any free one */
    uint32_t pages_max;    /* of a site; 0: what the lab says */
    uint32_t bytes_max;    /* of a page; 0: what the lab says */
    int think_ms;          /* added to each site's own */
    double errors_percent; /* of sites whose lines say nothing; 0: none */
    double limit_per_s;    /* the same; 0: none */
    double change_per_day; /* the same, instead of what a world says; negative: as it says */
    double began_s;        /* when the lab's time began, in seconds since 1970; 0: now */
    double speed;          /* of the lab's time */
    unsigned threads;      /* 0: 1 */
    bool closes;           /* one request a connection */
};

struct web;
/* ST_BUSY, ST_IO. */
MUST_USE status web_new(const struct web_opts *opts, struct web **out);
void web_free(struct web *w); /* NULL is fine */
int web_port(const struct web *w);

/* The rest from any thread. */

typedef enum web_knob { WEB_THINK_MS, WEB_ERRORS_PERCENT, WEB_LIMIT_PER_S } web_knob;
/* Of a site, or of all ("*"), from now on. ST_NOT_FOUND. */
MUST_USE status web_set(struct web *w, struct span host, web_knob knob, double value);
void web_set_closes(struct web *w, bool closes);
/* ST_LIMIT: changed too often. */
MUST_USE status web_set_speed(struct web *w, double speed);
double web_began_s(struct web *w);
double web_now_s(struct web *w); /* the lab's time */
