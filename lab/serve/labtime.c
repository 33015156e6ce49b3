#include "lab/serve/labtime.h"

void labtime_init(struct labtime *t, double began_wall_s, double speed)
{
    t->n = 1;
    t->parts[0].wall_s = began_wall_s;
    t->parts[0].lab_s = 0;
    t->parts[0].speed = speed;
}

double labtime_at(const struct labtime *t, double wall_s)
{
    size_t last = t->n - 1;
    double since = wall_s - t->parts[last].wall_s;
    return t->parts[last].lab_s + (since > 0 ? since * t->parts[last].speed : 0);
}

double labtime_wall(const struct labtime *t, double lab_s)
{
    size_t i = t->n - 1;
    while (i > 0 && t->parts[i].lab_s > lab_s)
        i--;
    double speed = t->parts[i].speed, since = lab_s - t->parts[i].lab_s;
    return t->parts[i].wall_s + (speed > 0 && since > 0 ? since / speed : 0);
}

status labtime_set_speed(struct labtime *t, double wall_s, double speed)
{
    size_t last = t->n - 1;
    double lab_s = labtime_at(t, wall_s);
    if (t->n == LABTIME_SPEEDS_MAX)
        return ST_LIMIT;
    if (wall_s < t->parts[last].wall_s)
        wall_s = t->parts[last].wall_s;
    t->parts[t->n].wall_s = wall_s;
    t->parts[t->n].lab_s = lab_s;
    t->parts[t->n].speed = speed;
    t->n++;
    return ST_OK;
}
