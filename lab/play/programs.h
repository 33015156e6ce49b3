/* programs.h - where the programs of a run are, and the scenarios that come with them: beside this program, as
 * installed, or where the build has them. */
#pragma once

#include "base/buf.h"
#include "base/status.h"

/* Its folder is looked at first. */
#define PROGRAMS_VARIABLE "ORB_BIN"

struct programs {
    char *orb, *orb_agent, *orb_lab; /* owned: whole paths */
};

/* ST_NOT_FOUND: why says which. */
MUST_USE status programs_find(struct programs *out, struct buf *why);
void programs_done(struct programs *p); /* zeros are fine */

/* The folder with the scenarios; ST_NOT_FOUND. */
MUST_USE status programs_scenarios(struct buf *out);
/* "smoke" or a path: the path of a scenario. ST_NOT_FOUND: why says where it was looked for. */
MUST_USE status programs_scenario(const char *name, struct buf *out, struct buf *why);
