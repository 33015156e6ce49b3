/* atlas.h - the world as a drawing: a projection, the outlines of land, and the shortest way between two places.
 *
 * Draws for SVG: positions are in a box of ATLAS_WIDTH by ATLAS_HEIGHT, paths are what the attribute `d` takes. The
 * projection is Natural Earth by T. Patterson, with the polynomial of Savric, Jenny, Patterson, Petrovic and Hurni
 * (2011): it keeps shapes and areas well enough for a look at the whole world, and its corners are round. Antarctica is
 * left out. Pure; any thread. */
#pragma once

#include "base/buf.h"
#include "base/status.h"
#include "place/geo.h"

#define ATLAS_WIDTH 1000.0
#define ATLAS_HEIGHT 442.0
#define ATLAS_POINTS_MAX 100000 /* of all outlines */

struct atlas_point {
    double x, y;
};

/* What is too far south comes below the box. */
struct atlas_point atlas_project(struct spot s);

/* The outlines in `text`: a line each, longitude and latitude of the first point, then steps to the next one, whole
 * numbers in tenths of a degree; lines that begin with '#' are skipped. ST_INVALID: a line is none of that, or leaves
 * the world; ST_LIMIT: more than ATLAS_POINTS_MAX. What was drawn before a bad line stays in `out`. */
MUST_USE status atlas_land(struct span text, struct buf *out);
/* The embedded extract of Natural Earth (data/land.txt, public domain), for atlas_land. */
struct span land_text(void);

/* All of the globe that is inside the box: its sides are round. */
void atlas_globe(struct buf *out);

/* The shortest way on the globe; in two parts where it crosses the edge of the map. */
void atlas_way(struct spot from, struct spot to, struct buf *out);
