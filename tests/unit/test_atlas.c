#include "test.h"

#include <math.h>

#include "place/atlas.h"

static struct atlas_point at(float latitude, float longitude)
{
    return atlas_project((struct spot){latitude, longitude});
}

static void projects_into_the_box(void **state)
{
    static const struct {
        const char *name;
        float latitude, longitude;
    } cases[] = {{"Nicosia", 35.2F, 33.4F}, {"Suva", -18.1F, 178.4F}, {"Ushuaia", -54.8F, -68.3F},
                 {"Alert", 82.5F, -62.3F},  {"the edge", 0, 180},     {"the other edge", 0, -180}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct atlas_point p = at(cases[i].latitude, cases[i].longitude);
        CHECK(cases[i].name, p.x > -1e-6 && p.x < ATLAS_WIDTH + 1e-6 && p.y > 0 && p.y < ATLAS_HEIGHT);
    }
}

static void east_is_right_and_north_is_up(void **state)
{
    CHECK("middle", fabs(at(0, 0).x - ATLAS_WIDTH / 2) < 1e-9);
    CHECK("edge", fabs(at(0, 180).x - ATLAS_WIDTH) < 1e-6);
    for (int lat = -58; lat < 84; lat++)
        for (int lon = -180; lon < 180; lon += 15) {
            CHECK("right", at((float)lat, (float)lon).x < at((float)lat, (float)lon + 1).x);
            CHECK("up", at((float)lat, (float)lon).y > at((float)lat + 1, (float)lon).y);
        }
    CHECK("even", fabs(at(40, 60).x + at(40, -60).x - ATLAS_WIDTH) < 1e-6);
}

static void draws_outlines(void **state)
{
    struct buf out = {0};
    CHECK_STATUS("two", atlas_land(SPAN("# a triangle\n0 0 100 0 0 100\n\n-100 -100 50 0 0 50\n"), &out), ST_OK);
    struct span s = buf_span(&out);
    CHECK("begins", span_starts(s, SPAN("M500 ")));
    CHECK("ends", span_ends(s, SPAN("Z")));
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++)
        n += s.p[i] == 'M';
    assert_int_equal(n, 2);
    buf_done(&out);
}

static void refuses_lines_that_are_no_outlines(void **state)
{
    static const struct {
        const char *text;
        status want;
    } cases[] = {{"0 0 1", ST_INVALID},     {"0 0 1 x", ST_INVALID},  {"1801 0 1 1", ST_INVALID},
                 {"0 900 0 1", ST_INVALID}, {"0  0 1 1", ST_INVALID}, {"99999999 0", ST_INVALID},
                 {"- 0", ST_INVALID},       {"0 -900 1 0", ST_OK},    {"", ST_OK}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct buf out = {0};
        CHECK_STATUS(cases[i].text, atlas_land(span_str(cases[i].text), &out), cases[i].want);
        buf_done(&out);
    }
    struct buf text = {0}, out = {0};
    buf_puts(&text, "0 0");
    for (int i = 0; i < ATLAS_POINTS_MAX; i++)
        buf_puts(&text, " 0 0");
    CHECK_STATUS("too many", atlas_land(buf_span(&text), &out), ST_LIMIT);
    buf_done(&text);
    buf_done(&out);
}

static void the_embedded_outlines_are_good(void **state)
{
    struct buf out = {0};
    CHECK_STATUS("land", atlas_land(land_text(), &out), ST_OK);
    CHECK("small enough for a page", out.n > 10000 && out.n < 60000);
    buf_done(&out);
}

/* The numbers of a path, and how many parts it has. */
static size_t read_path(const char *d, struct atlas_point *points, size_t max, size_t *parts)
{
    size_t n = 0;
    *parts = 0;
    for (char *p = (char *)d; *p && n < max; n++) {
        *parts += *p == 'M';
        points[n].x = strtod(p + 1, &p);
        points[n].y = strtod(p, &p);
    }
    return n;
}

static void ways_are_short_and_stay_on_the_map(void **state)
{
    static const struct {
        const char *name;
        struct spot from, to;
        size_t parts;
    } cases[] = {{"Oslo to New York", {59.9F, 10.8F}, {40.7F, -74}, 1},
                 {"Tokyo to Los Angeles", {35.7F, 139.7F}, {34, -118.2F}, 2},
                 {"Los Angeles to Tokyo", {34, -118.2F}, {35.7F, 139.7F}, 2},
                 {"nowhere", {10, 10}, {10, 10}, 1},
                 {"to the antipodes", {0, 0}, {0, 180}, 1},
                 {"Auckland to Suva", {-36.8F, 174.8F}, {-18.1F, 178.4F}, 1}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct atlas_point p[64];
        struct buf out = {0};
        size_t parts;
        atlas_way(cases[i].from, cases[i].to, &out);
        size_t n = read_path(buf_cstr(&out), p, 64, &parts);
        CHECK(cases[i].name, parts == cases[i].parts && n >= 2);
        for (size_t k = 0; k < n; k++)
            CHECK(cases[i].name, p[k].x >= -0.1 && p[k].x <= ATLAS_WIDTH + 0.1 && p[k].y >= -10);
        struct atlas_point end = atlas_project(cases[i].to);
        CHECK(cases[i].name, fabs(p[n - 1].x - end.x) < 0.11 && fabs(p[n - 1].y - end.y) < 0.11);
        buf_done(&out);
    }
}

static void the_globe_holds_all_land(void **state)
{
    struct atlas_point p[128];
    struct buf out = {0};
    size_t parts;
    atlas_globe(&out);
    size_t n = read_path(buf_cstr(&out), p, 127, &parts); /* the 'Z' reads as one more */
    CHECK("one part", parts == 1 && n > 60);
    double left = 1e9, right = -1e9, bottom = -1e9;
    for (size_t i = 0; i + 1 < n; i++) {
        left = fmin(left, p[i].x);
        right = fmax(right, p[i].x);
        bottom = fmax(bottom, p[i].y);
    }
    CHECK("wide", left < 0.2 && right > ATLAS_WIDTH - 0.2 && bottom >= ATLAS_HEIGHT);
    buf_done(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(projects_into_the_box),
                                       cmocka_unit_test(east_is_right_and_north_is_up),
                                       cmocka_unit_test(draws_outlines),
                                       cmocka_unit_test(refuses_lines_that_are_no_outlines),
                                       cmocka_unit_test(the_embedded_outlines_are_good),
                                       cmocka_unit_test(the_globe_holds_all_land),
                                       cmocka_unit_test(ways_are_short_and_stay_on_the_map)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
