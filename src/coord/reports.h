/* reports.h - what an agent's report changes here. Lock held. */
#pragma once

#include "coord/state.h"

/* `packed` is the report as it came: kept for the dashboard. */
void report_note(struct coord *c, struct c_agent *a, const struct report *r, struct span packed);
