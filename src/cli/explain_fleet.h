/* explain_fleet.h - the part of `orb explain` that is about agents: for the folder of a coordinator. */
#pragma once

#include "base/arena.h"
#include "cli/options.h"

struct explain_fleet {
    struct buf lines; /* owned: for people */
    struct buf json;  /* owned: one object */
    bool is_wanted;   /* the URL is in the scope of a channel */
};

/* Asks the coordinator that runs on the folder; else the folder. Complains by itself; an exit code. */
int explain_fleet(const struct options *o, const char *dir, struct span url, struct explain_fleet *out);
void explain_fleet_done(struct explain_fleet *e);
