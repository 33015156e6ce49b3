#include "place/atlas.h"

#include <math.h>
#include <stdlib.h>

#define PI 3.14159265358979323846
#define RADIANS (PI / 180.0)
#define NORTH 84.0    /* degrees at the top of the box: all land is below */
#define SOUTH (-60.0) /* a little below the bottom */
#define SIDE_STEPS 36 /* of the globe's sides */
#define WAY_STEP 5.0  /* degrees between two points of a way */
#define WAY_POINTS_MAX 40
#define NUMBER_MAX 10000 /* tenths of a degree, steps too */

/* ---- the projection ---- */

static double width_at(double latitude)
{
    double q = latitude * latitude, q2 = q * q;
    return 0.870700 + q * -0.131979 + q2 * (-0.013791 + q2 * q * (0.003971 - 0.001529 * q));
}

static double height_at(double latitude)
{
    double q = latitude * latitude, q2 = q * q;
    return latitude * (1.007226 + q * 0.015085 + q2 * q * (-0.044475 + 0.028874 * q - 0.005916 * q2));
}

struct atlas_point atlas_project(struct spot s)
{
    double scale = ATLAS_WIDTH / (2 * PI * width_at(0)), lat = (double)s.latitude * RADIANS;
    return (struct atlas_point){ATLAS_WIDTH / 2 + scale * (double)s.longitude * RADIANS * width_at(lat),
                                scale * (height_at(NORTH * RADIANS) - height_at(lat))};
}

/* A tenth of the box's unit is finer than a screen. */
static void put_number(struct buf *out, double v)
{
    long tenths = lround(v * 10);
    if (tenths < 0)
        buf_putc(out, '-');
    buf_printf(out, tenths % 10 ? "%ld.%ld" : "%ld", labs(tenths) / 10, labs(tenths) % 10);
}

static void put_point(struct buf *out, char command, struct atlas_point p)
{
    buf_putc(out, command);
    put_number(out, p.x);
    buf_putc(out, ' ');
    put_number(out, p.y);
}

/* ---- land ---- */

static bool take_number(struct span *rest, long *out)
{
    struct span word;
    uint64_t v;
    bool is_negative;
    if (!span_split(rest, ' ', &word))
        return false;
    is_negative = word.n && word.p[0] == '-';
    if (!span_u64(span_from(word, is_negative), NUMBER_MAX, &v))
        return false;
    *out = is_negative ? -(long)v : (long)v;
    return true;
}

static status draw_outline(struct span line, size_t *points, struct buf *out)
{
    long x = 0, y = 0, dx, dy;
    bool is_first = true;
    while (line.n) {
        if (!take_number(&line, &dx) || !take_number(&line, &dy))
            return ST_INVALID;
        x += dx;
        y += dy;
        struct spot s = {.latitude = (float)y / 10, .longitude = (float)x / 10};
        if (!spot_is_valid(s))
            return ST_INVALID;
        if (++*points > ATLAS_POINTS_MAX)
            return ST_LIMIT;
        put_point(out, is_first ? 'M' : 'L', atlas_project(s));
        is_first = false;
    }
    if (!is_first)
        buf_putc(out, 'Z');
    return ST_OK;
}

status atlas_land(struct span text, struct buf *out)
{
    struct span line;
    size_t points = 0;
    status st = ST_OK;
    while (st == ST_OK && span_split(&text, '\n', &line))
        if (line.n && line.p[0] != '#')
            st = draw_outline(line, &points, out);
    return st;
}

static float side_at(int i)
{
    return (float)(NORTH + (SOUTH - NORTH) * i / SIDE_STEPS);
}

void atlas_globe(struct buf *out)
{
    for (int i = 0; i <= SIDE_STEPS; i++)
        put_point(out, i ? 'L' : 'M', atlas_project((struct spot){side_at(i), -180}));
    for (int i = SIDE_STEPS; i >= 0; i--)
        put_point(out, 'L', atlas_project((struct spot){side_at(i), 180}));
    buf_putc(out, 'Z');
}

/* ---- ways ---- */

struct vector {
    double x, y, z;
};

static struct vector vector_of(struct spot s)
{
    double lat = (double)s.latitude * RADIANS, lon = (double)s.longitude * RADIANS;
    return (struct vector){cos(lat) * cos(lon), cos(lat) * sin(lon), sin(lat)};
}

static struct spot spot_of(struct vector v)
{
    return (struct spot){.latitude = (float)(atan2(v.z, hypot(v.x, v.y)) / RADIANS),
                         .longitude = (float)(atan2(v.y, v.x) / RADIANS)};
}

/* Where the way from a to b meets the edge: a's side first. */
static void put_edge(struct buf *out, struct spot a, struct spot b)
{
    float edge = a.longitude < 0 ? -180 : 180;
    float left = 180 - fabsf(a.longitude), all = left + 180 - fabsf(b.longitude);
    float at = a.latitude + (all > 0 ? left / all : 0) * (b.latitude - a.latitude);
    put_point(out, 'L', atlas_project((struct spot){at, edge}));
    put_point(out, 'M', atlas_project((struct spot){at, -edge}));
}

void atlas_way(struct spot from, struct spot to, struct buf *out)
{
    struct vector a = vector_of(from), b = vector_of(to);
    double cosine = a.x * b.x + a.y * b.y + a.z * b.z;
    double angle = acos(cosine > 1 ? 1 : cosine < -1 ? -1 : cosine);
    int n = (int)(angle / RADIANS / WAY_STEP) + 1;
    struct spot before = from;
    if (n > WAY_POINTS_MAX)
        n = WAY_POINTS_MAX;
    put_point(out, 'M', atlas_project(from));
    for (int i = 1; i <= n; i++) {
        double t = (double)i / n, s = sin(angle);
        double p = s > 1e-6 ? sin((1 - t) * angle) / s : 1 - t, q = s > 1e-6 ? sin(t * angle) / s : t;
        struct spot at =
            i == n ? to : spot_of((struct vector){p * a.x + q * b.x, p * a.y + q * b.y, p * a.z + q * b.z});
        if (fabsf(at.longitude - before.longitude) > 180)
            put_edge(out, before, at);
        put_point(out, 'L', atlas_project(at));
        before = at;
    }
}
