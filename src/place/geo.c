#include "place/geo.h"

#include <math.h>

#define EARTH_RADIUS_KM 6371.0088 /* mean radius, IUGG */
#define RADIANS (3.14159265358979323846 / 180.0)

double geo_km(struct spot a, struct spot b)
{
    double lat_a = (double)a.latitude * RADIANS, lat_b = (double)b.latitude * RADIANS;
    double half_lat = sin((lat_b - lat_a) / 2);
    double half_lon = sin(((double)b.longitude - (double)a.longitude) * RADIANS / 2);
    /* The haversine form: exact for neighbours too, where the arc cosine loses its digits. */
    double h = half_lat * half_lat + cos(lat_a) * cos(lat_b) * half_lon * half_lon;
    return 2 * EARTH_RADIUS_KM * asin(h >= 1 ? 1 : sqrt(h));
}

bool spot_is_valid(struct spot s)
{
    /* False for NaN as well. */
    return s.latitude >= -90 && s.latitude <= 90 && s.longitude >= -180 && s.longitude <= 180;
}
