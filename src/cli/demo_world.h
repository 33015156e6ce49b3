/* demo_world.h - the small world of the demo: agents and sites in cities that people know, in networks of their own.
 *
 * Distances are those of the cities, round trips the model's of sim/world_model.h. A host is named after its city,
 * which tells people where it is; strategies see its address, and where its network is registered: for one of them
 * that is another country. */
#pragma once

#include "base/buf.h"
#include "base/status.h"
#include "cli/demo_agents.h"

/* Writes the folder `dir`/world, `dir`/hierarchy and the lab file `dir`/lab; `dir` is made. `agents` gets the first
 * `count` of them, at most DEMO_AGENTS_MAX. */
MUST_USE status demo_world_write(const char *dir, struct demo_agent *agents, unsigned count, struct buf *why);
