/* reports.h - what an agent's report changes here. Lock held. */
#pragma once

#include "coord/state.h"

/* `packed` is the report as it came: kept for the dashboard. */
void report_note(struct coord *c, struct c_agent *a, const struct report *r, struct span packed);

/* Another process has reported with the same key since this one did for the first time: there are two, with copies of
 * one folder. The one that began last is heard; the other again when that one is silent for longer than a lease. */
bool report_is_of_another(struct coord *c, struct c_agent *a, const struct report *r);
