/* geo.h - places on Earth and how far light gets. Pure; any thread. */
#pragma once

#include <stdbool.h>

#define GEO_KM_PER_MS 100.0 /* of round trip: light in fibre goes 200 km a millisecond, there and back */

struct spot {
    float latitude, longitude; /* degrees; north and east are positive */
};

/* Along the great circle of a sphere: up to 0.5 % off the true figure. */
double geo_km(struct spot a, struct spot b);
/* No round trip between the two can be shorter. */
static inline double geo_light_ms(double km)
{
    return km / GEO_KM_PER_MS;
}
bool spot_is_valid(struct spot s);
