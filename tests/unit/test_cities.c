#include "test.h"

#include "base/buf.h"
#include "place/cities.h"

#define HEAD "country\tname\tlatitude\tlongitude\tpeople\n"

static void reads_cities_by_country(void **state)
{
    struct cities c;
    size_t n;
    CHECK_STATUS("text",
                 cities_read(SPAN(HEAD "CY\tNicosia\t35.1753\t33.3642\t200452\nGR\tAthens\t37.9838\t23.7278\t664046\n"
                                       "GR\tP\xc3\xa1tra\t38.2444\t21.7344\t168034\nGR\tSame\t38\t21\t168034\n"
                                       "NZ\tSuva\t-18.1416\t178.4415\t1"),
                             &c),
                 ST_OK);
    assert_int_equal(c.count, 5);
    const struct city *greek = cities_of(&c, "GR", &n);
    assert_int_equal(n, 3);
    CHECK_SPAN("largest first", greek->name, SPAN("Athens"));
    CHECK_SPAN("then", greek[1].name, SPAN("P\xc3\xa1tra"));
    assert_int_equal(greek->people, 664046);
    CHECK("place", greek->spot.latitude > 37.98F && greek->spot.latitude < 37.99F);
    CHECK("south", cities_of(&c, "NZ", &n)->spot.latitude < -18 && n == 1);
    (void)cities_of(&c, "CY", &n);
    assert_int_equal(n, 1);
    static const char *const none[] = {"AA", "DE", "ZZ", ""};
    for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++) {
        char code[3] = {0};
        strncpy(code, none[i], 2);
        (void)cities_of(&c, code, &n);
        CHECK(none[i], n == 0);
    }
    cities_done(&c);
}

static void refuses_lines_that_are_no_cities(void **state)
{
    static const struct {
        const char *label, *text;
    } cases[] = {
        {"nothing", ""},
        {"no head", "GR\tAthens\t1\t2\t3\n"},
        {"too few columns", HEAD "GR\tAthens\t1\t2\n"},
        {"too many columns", HEAD "GR\tAthens\t1\t2\t3\t4\n"},
        {"an empty column more", HEAD "GR\tAthens\t1\t2\t3\t\n"},
        {"small letters", HEAD "gr\tAthens\t1\t2\t3\n"},
        {"three letters", HEAD "GRC\tAthens\t1\t2\t3\n"},
        {"no name", HEAD "GR\t\t1\t2\t3\n"},
        {"no latitude", HEAD "GR\tAthens\t\t2\t3\n"},
        {"a sign alone", HEAD "GR\tAthens\t-\t2\t3\n"},
        {"two points", HEAD "GR\tAthens\t1.2.3\t2\t3\n"},
        {"an exponent", HEAD "GR\tAthens\t1e1\t2\t3\n"},
        {"not a number", HEAD "GR\tAthens\tnan\t2\t3\n"},
        {"off the earth", HEAD "GR\tAthens\t91\t2\t3\n"},
        {"a very long number", HEAD "GR\tAthens\t1.0000000000000000000000000000000000001\t2\t3\n"},
        {"negative people", HEAD "GR\tAthens\t1\t2\t-3\n"},
        {"too many people", HEAD "GR\tAthens\t1\t2\t4294967296\n"},
        {"an empty line between", HEAD "GR\tAthens\t1\t2\t3\n\nGR\tPatra\t1\t2\t1\n"},
        {"smaller first", HEAD "GR\tPatra\t1\t2\t1\nGR\tAthens\t1\t2\t3\n"},
        {"countries out of order", HEAD "GR\tAthens\t1\t2\t3\nCY\tNicosia\t1\t2\t3\n"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct cities c = {.count = 99};
        CHECK_STATUS(cases[i].label, cities_read(span_str(cases[i].text), &c), ST_INVALID);
        CHECK(cases[i].label, c.count == 99);
    }
    struct cities c;
    CHECK_STATUS("a head alone", cities_read(SPAN(HEAD), &c), ST_OK);
    size_t n;
    CHECK("no cities at all", cities_of(&c, "GR", &n) == NULL && n == 0);
    cities_done(&c);
}

static void more_cities_than_a_grid_should_have_are_refused(void **state)
{
    struct buf text = {0};
    struct cities c;
    buf_puts(&text, HEAD);
    for (unsigned i = 0; i < CITIES_MAX; i++)
        buf_puts(&text, "GR\tx\t1\t2\t3\n");
    CHECK_STATUS("as many as there may be", cities_read(buf_span(&text), &c), ST_OK);
    cities_done(&c);
    buf_puts(&text, "GR\tx\t1\t2\t3\n");
    CHECK_STATUS("one more", cities_read(buf_span(&text), &c), ST_LIMIT);
    buf_done(&text);
}

static void the_extract_keeps_what_its_maker_promises(void **state)
{
    struct cities c;
    size_t n, countries = 0;
    CHECK_STATUS("embedded", cities_read(cities_text(), &c), ST_OK);
    CHECK("it covers the world", c.count > 2000 && c.count < 20000);
    for (size_t i = 0; i < c.count; i += n) {
        const struct city *first = cities_of(&c, c.list[i].country, &n);
        CHECK(c.list[i].country, first == &c.list[i] && n >= 1 && n <= 60);
        for (size_t j = 1; j < n; j++) {
            CHECK(first[j].country, first[j].people >= 15000);
            for (size_t k = 0; k < j; k++)
                if (geo_km(first[j].spot, first[k].spot) < 59.9)
                    fail_msg("%.*s is %.1f km from %.*s", SPAN_ARG(first[j].name), geo_km(first[j].spot, first[k].spot),
                             SPAN_ARG(first[k].name));
        }
        countries++;
    }
    CHECK("countries", countries > 200);
    CHECK_SPAN("next to Piraeus", cities_near(&c, (struct spot){37.94f, 23.65f})->name, SPAN("Athens"));
    CHECK("nowhere", cities_near(&(struct cities){0}, (struct spot){0, 0}) == NULL);
    CHECK_SPAN("the largest of Greece", cities_of(&c, "GR", &n)->name, SPAN("Athens"));
    cities_done(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_cities_by_country),
        cmocka_unit_test(refuses_lines_that_are_no_cities),
        cmocka_unit_test(more_cities_than_a_grid_should_have_are_refused),
        cmocka_unit_test(the_extract_keeps_what_its_maker_promises),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
