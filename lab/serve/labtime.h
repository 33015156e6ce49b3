/* labtime.h - the time of the servers' world, which may run faster than ours. Pure: the caller says what time it is.
 * One thread, or a lock of the caller's.
 *
 * It begins at 0 and never goes back: another speed holds from the moment it is set. */
#pragma once

#include "base/status.h"

#define LABTIME_SPEED_MAX 1e7
#define LABTIME_SPEEDS_MAX 256 /* as often may it change */

struct labtime {
    struct {
        double wall_s, lab_s, speed;
    } parts[LABTIME_SPEEDS_MAX]; /* each from its wall_s on */
    size_t n;
};

void labtime_init(struct labtime *t, double began_wall_s, double speed);
double labtime_at(const struct labtime *t, double wall_s);
/* The wall clock when it was `lab_s`: what a date says to those who live outside. */
double labtime_wall(const struct labtime *t, double lab_s);
/* ST_LIMIT: too many changes. */
MUST_USE status labtime_set_speed(struct labtime *t, double wall_s, double speed);
