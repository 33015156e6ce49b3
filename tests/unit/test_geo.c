#include "test.h"

#include <math.h>

#include "place/geo.h"

static void distances_are_those_of_the_atlas(void **state)
{
    static const struct {
        const char *label;
        struct spot a, b;
        double km;
    } cases[] = {
        {"nowhere", {0, 0}, {0, 0}, 0},
        {"a degree of the equator", {0, 10}, {0, 11}, 111.2},
        {"a degree of a meridian", {45, 7}, {46, 7}, 111.2},
        {"Athens - Nicosia", {37.9838F, 23.7278F}, {35.1753F, 33.3642F}, 915},
        {"London - New York", {51.5085F, -0.1257F}, {40.7143F, -74.0060F}, 5570},
        {"Auckland - Santiago, over the date line", {-36.8485F, 174.7635F}, {-33.4569F, -70.6483F}, 9670},
        {"pole to pole", {90, 0}, {-90, 0}, 20015},
        {"half around the equator", {0, 0}, {0, 180}, 20015},
        {"the date line is no distance", {10, 180}, {10, -180}, 0},
        {"all meridians meet", {90, 12}, {90, -97}, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        double km = geo_km(cases[i].a, cases[i].b), back = geo_km(cases[i].b, cases[i].a);
        if (fabs(km - cases[i].km) > 1 + 0.003 * cases[i].km)
            fail_msg("%s: %.1f km, want %.1f", cases[i].label, km, cases[i].km);
        CHECK(cases[i].label, fabs(km - back) < 1e-6);
    }
}

static void neighbours_are_told_apart(void **state)
{
    struct spot a = {37.9838F, 23.7278F}, b = {37.9839F, 23.7278F};
    CHECK("eleven metres", fabs(geo_km(a, b) - 0.0111) < 0.001);
}

static void light_needs_a_millisecond_for_a_hundred_kilometres_and_back(void **state)
{
    CHECK("100 km", geo_light_ms(100) == 1);
    CHECK("5570 km", fabs(geo_light_ms(5570) - 55.7) < 1e-9);
}

static void spots_off_the_earth_are_not_valid(void **state)
{
    static const struct {
        struct spot spot;
        bool is_valid;
    } cases[] = {{{0, 0}, true},       {{90, 180}, true},     {{-90, -180}, true}, {{90.1F, 0}, false},
                 {{0, 180.1F}, false}, {{-91, 0}, false},     {{0, -181}, false},  {{NAN, 0}, false},
                 {{0, NAN}, false},    {{INFINITY, 0}, false}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        if (spot_is_valid(cases[i].spot) != cases[i].is_valid)
            fail_msg("case %zu", i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances_are_those_of_the_atlas),
        cmocka_unit_test(neighbours_are_told_apart),
        cmocka_unit_test(light_needs_a_millisecond_for_a_hundred_kilometres_and_back),
        cmocka_unit_test(spots_off_the_earth_are_not_valid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
