#include "test.h"

#include <math.h>
#include <sys/stat.h>

#include "test_folder.h"

#include "base/buf.h"
#include "codec/zip.h"
#include "sim/tree.h"
#include "sim/tsv.h"
#include "sim/world.h"
#include "sim/world_make.h"
#include "store/file.h"

static void write_file(const char *name, struct span text)
{
    char path[TEST_PATH];
    test_path(path, name);
    CHECK_STATUS(name, file_replace(path, text), ST_OK);
}

static struct span read_all(const char *dir, const char *name, struct buf *out)
{
    struct buf path = {0};
    buf_printf(&path, "%s/%s", dir, name);
    buf_clear(out);
    CHECK_STATUS(name, file_read(buf_cstr(&path), 64u << 20, out), ST_OK);
    buf_done(&path);
    return buf_span(out);
}

/* ---- tables ---- */

static void reads_tables_of_tabs_commas_and_blanks(void **state)
{
    static const struct {
        const char *label, *text;
    } cases[] = {
        {"tabs", "a\tb\tms\nx y\tz\t1.5\n"},
        {"commas", "a,b,ms\nx y,z,1.5\n"},
        {"quotes", "\"a\",\"b\",ms\n\"x y\",\"z\",\"1.5\"\n"},
        {"line ends of elsewhere", "a\tb\tms\r\nx y\tz\t1.5\r\n"},
        {"empty lines", "\na\tb\tms\n\n\nx y\tz\t1.5\n\n"},
        {"a column more", "a\tb\tms\nx y\tz\t1.5\tand more\n"},
        {"no line end", "a\tb\tms\nx y\tz\t1.5"},
    };
    char path[TEST_PATH];
    test_path(path, "t");
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct tsv *t = NULL;
        struct buf why = {0};
        double ms = 0;
        write_file("t", span_str(cases[i].text));
        CHECK_STATUS(cases[i].label, tsv_open(path, true, &t, &why), ST_OK);
        assert_int_equal(tsv_column_count(t), 3);
        CHECK(cases[i].label, tsv_column(t, "b") == 1 && tsv_column(t, "none") == -1);
        CHECK_STATUS(cases[i].label, tsv_next(t, &why), ST_OK);
        CHECK_SPAN(cases[i].label, tsv_cell(t, 0), SPAN("x y"));
        CHECK_STATUS(cases[i].label, tsv_real(t, 2, 0, 10, &ms, &why), ST_OK);
        CHECK(cases[i].label, ms == 1.5);
        CHECK_STATUS(cases[i].label, tsv_next(t, &why), ST_END);
        tsv_free(t);
        buf_done(&why);
    }
    struct tsv *t = NULL;
    struct buf why = {0};
    write_file("t", SPAN("a b  ms\nx   z 3\n"));
    CHECK_STATUS("blanks", tsv_open(path, true, &t, &why), ST_OK);
    CHECK_STATUS("blanks", tsv_next(t, &why), ST_OK);
    CHECK_SPAN("blanks", tsv_cell(t, 2), SPAN("3"));
    tsv_free(t);
}

static void complains_with_file_and_line(void **state)
{
    char path[TEST_PATH];
    struct tsv *t = NULL;
    struct buf why = {0};
    double v;
    test_path(path, "none");
    CHECK_STATUS("no file", tsv_open(path, true, &t, &why), ST_NOT_FOUND);
    test_path(path, "t");
    write_file("t", SPAN(""));
    CHECK_STATUS("empty", tsv_open(path, true, &t, &why), ST_INVALID);
    write_file("t", SPAN("a\tb\n1\t2\n\n3\n4\tx\n"));
    CHECK_STATUS("head", tsv_open(path, true, &t, &why), ST_OK);
    CHECK_STATUS("good", tsv_next(t, &why), ST_OK);
    buf_clear(&why);
    CHECK_STATUS("short", tsv_next(t, &why), ST_INVALID);
    CHECK("line", span_search(buf_span(&why), SPAN("t:4: "), false) < why.n);
    buf_clear(&why);
    CHECK_STATUS("next", tsv_next(t, &why), ST_OK);
    CHECK_STATUS("no number", tsv_real(t, 1, 0, 9, &v, &why), ST_INVALID);
    CHECK_SPAN("why", span_from(buf_span(&why), why.n - strlen("t:5: b: \"x\" is not a number")),
               SPAN("t:5: b: \"x\" is not a number"));
    tsv_free(t);
    write_file("t", SPAN("a,b\n\"open,2\n"));
    CHECK_STATUS("quotes", tsv_open(path, true, &t, &why), ST_OK);
    CHECK_STATUS("an open quote", tsv_next(t, &why), ST_INVALID);
    tsv_free(t);
    buf_done(&why);
}

static void reads_packed_tables(void **state)
{
    struct buf packed = {0}, why = {0};
    struct tsv *t = NULL;
    char path[TEST_PATH];
    zip_zstd(SPAN("a\tb\n1\t2\n"), 3, &packed);
    write_file("p.zst", buf_span(&packed));
    test_path(path, "p");
    CHECK_STATUS("by its plain name", tsv_open(path, true, &t, &why), ST_OK);
    CHECK_STATUS("row", tsv_next(t, &why), ST_OK);
    CHECK_SPAN("cell", tsv_cell(t, 1), SPAN("2"));
    tsv_free(t);
    write_file("p.zst", span_cut(buf_span(&packed), 0, packed.n - 2));
    CHECK_STATUS("cut short", tsv_open(path, true, &t, &why), ST_CORRUPT);
    buf_done(&packed);
    buf_done(&why);
}

static void numbers_are_what_strtod_makes_of_them(void **state)
{
    static const char *const good[] = {"0",    "12", "-3", "1.5", "0.01",       "123456789.123456",   "-0.5", "1e3",
                                       "1E-3", ".5", "5.", "+2",  "0000001.25", "123456789012345678", "0.1",  "278.93"};
    static const char *const bad[] = {"", "-", ".", "e", "nan", "inf", "0x10", "1.2.3", "1e", "1 2", "--1", "1e999"};
    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
        double v = -1;
        CHECK(good[i], text_real(span_str(good[i]), &v));
        CHECK(good[i], v == strtod(good[i], NULL));
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        double v = -1;
        CHECK(bad[i], !text_real(span_str(bad[i]), &v));
    }
}

/* ---- worlds ---- */

#define AGENTS "name\tip\tcountry\tlat\tlon\nAthens\t1.1.1.1\tGR\t37.98\t23.73\nOslo\t1.2.2.2\tNO\t59.9\t10.7\n"
#define SITE_HEAD "host\tip\tcountry\tlat\tlon\tholder\tpages\tbytes_per_page\tchanges_per_day\timportance\tanycast"
#define SITES                                                                        \
    SITE_HEAD "\na.gr.example\t1.1.1.9\tGR\t38.2\t21.7\tH1\t10\t2000\t0.5\t1.5\t0\n" \
              "b.co.uk.example\t5.5.5.5\tGB\t51.5\t-0.1\tH2\t20\t1000\t0.1\t2.5\t1\n"
#define RTT "host\tAthens\tOslo\na.gr.example\t5.25\t60\nb.co.uk.example\t50\t30.5\n"
#define AGENT_RTT "agent\tAthens\tOslo\nAthens\t0\t70\nOslo\t70\t0\n"

static void write_world(const char *agents, const char *sites, const char *rtt, const char *agent_rtt)
{
    write_file("agents.tsv", span_str(agents));
    write_file("sites.tsv", span_str(sites));
    write_file("rtt.tsv", span_str(rtt));
    write_file("agent_rtt.tsv", span_str(agent_rtt));
}

static void loads_a_world(void **state)
{
    struct world *w = NULL;
    struct buf why = {0};
    double ms;
    write_world(AGENTS, SITES, RTT, AGENT_RTT);
    CHECK_STATUS("load", world_load(test_folder(), &w, &why), ST_OK);
    assert_int_equal(world_agent_count(w), 2);
    assert_int_equal(world_site_count(w), 2);
    CHECK_SPAN("agent", world_agent(w, 1)->name, SPAN("Oslo"));
    const struct world_site *s = world_site(w, 1);
    CHECK_SPAN("host", s->host, SPAN("b.co.uk.example"));
    CHECK_SPAN("holder", s->holder, SPAN("H2"));
    CHECK("facts", s->pages == 20 && s->bytes_per_page == 1000 && s->is_anycast && strcmp(s->country, "GB") == 0);
    CHECK("no second address", s->addr6.family == 0);
    CHECK("round trip", world_rtt(w, 0, 0) == 5.25 && world_rtt(w, 1, 1) == 30.5 && world_agent_rtt(w, 0, 1) == 70);
    CHECK("nearest", world_nearest(w, 0, &ms) == 0 && ms == 5.25 && world_nearest(w, 1, NULL) == 1);
    CHECK_SPAN("domain", world_site_domain(world_site(w, 0)), SPAN("a.gr"));
    CHECK_SPAN("domain below co.uk", world_site_domain(s), SPAN("b.co.uk"));
    CHECK("no networks file", world_networks(w)[0] == '\0');
    world_free(w);
    CHECK_STATUS("a part", world_load_part(test_folder(), 1, &w, &why), ST_OK);
    assert_int_equal(world_site_count(w), 1);
    world_free(w);
    CHECK_STATUS("load", world_load(test_folder(), &w, &why), ST_OK);
    world_keep_agents(w, 1);
    CHECK("one agent", world_agent_count(w) == 1 && world_rtt(w, 0, 0) == 5.25 && world_nearest(w, 1, NULL) == 0);
    CHECK("the second row begins earlier", world_rtt(w, 1, 0) > 30.5);
    world_free(w);
    write_file("networks.tsv", SPAN("prefix\tcountry\tholder\n"));
    CHECK_STATUS("with networks", world_load(test_folder(), &w, &why), ST_OK);
    CHECK("found", span_ends(span_str(world_networks(w)), SPAN("/networks.tsv")));
    world_free(w);
    buf_done(&why);
}

static void a_site_may_have_a_second_address(void **state)
{
    struct world *w = NULL;
    struct buf why = {0};
    write_world(AGENTS,
                SITE_HEAD "\taddr6\na.gr.example\t1.1.1.9\tGR\t38\t21\tH1\t1\t2\t0\t1\t0\t2a00:1::5\n"
                          "b.co.uk.example\t5.5.5.5\tGB\t51\t0\tH2\t1\t2\t0\t1\t0\t\n",
                RTT, AGENT_RTT);
    CHECK_STATUS("load", world_load(test_folder(), &w, &why), ST_OK);
    CHECK("families", world_site(w, 0)->addr6.family == 6 && world_site(w, 1)->addr6.family == 0);
    world_free(w);
    buf_done(&why);
}

static void says_what_is_wrong_with_a_world(void **state)
{
    static const struct {
        const char *label, *agents, *sites, *rtt, *agent_rtt, *why;
    } cases[] = {
        {"no agents", "name\tip\tcountry\tlat\tlon\n", SITES, RTT, AGENT_RTT, "agents.tsv:1: there are no agents"},
        {"an address", "name\tip\tcountry\tlat\tlon\nA\t1.1.1\tGR\t1\t2\n", SITES, RTT, AGENT_RTT,
         "agents.tsv:2: \"1.1.1\" is not an address"},
        {"a column", "name\tip\tcountry\tlat\nA\t1.1.1.1\tGR\t1\n", SITES, RTT, AGENT_RTT,
         "agents.tsv:1: there is no column \"lon\""},
        {"a country", "name\tip\tcountry\tlat\tlon\nA\t1.1.1.1\tGreece\t1\t2\n", SITES, RTT, AGENT_RTT,
         "\"Greece\" is not two letters"},
        {"a latitude", "name\tip\tcountry\tlat\tlon\nA\t1.1.1.1\tGR\t91\t2\n", SITES, RTT, AGENT_RTT,
         "lat: 91 is not between -90 and 90"},
        {"no sites", AGENTS, SITE_HEAD "\n", RTT, AGENT_RTT, "sites.tsv:1: there are no sites"},
        {"pages", AGENTS, SITE_HEAD "\na\t1.1.1.9\tGR\t38\t21\tH\tmany\t1\t1\t1\t0\n", RTT, AGENT_RTT,
         "sites.tsv:2: pages: \"many\" is not a whole number"},
        {"anycast", AGENTS, SITE_HEAD "\na\t1.1.1.9\tGR\t38\t21\tH\t1\t1\t1\t1\t2\n", RTT, AGENT_RTT, "anycast"},
        {"an agent more", AGENTS, SITES, "host\tAthens\tOslo\tRome\n", AGENT_RTT, "rtt.tsv:1: 4 columns"},
        {"another agent", AGENTS, SITES, "host\tOslo\tAthens\n", AGENT_RTT,
         "column 2 is \"Oslo\", agent 1 is \"Athens\""},
        {"a row less", AGENTS, SITES, "host\tAthens\tOslo\na.gr.example\t1\t2\n", AGENT_RTT,
         "1 rows, where 2 are wanted"},
        {"another site", AGENTS, SITES, "host\tAthens\tOslo\nb\t1\t2\n", AGENT_RTT,
         "rtt.tsv:2: the row of \"a.gr.example\" is wanted here"},
        {"a negative round trip", AGENTS, SITES, "host\tAthens\tOslo\na.gr.example\t-1\t2\n", AGENT_RTT,
         "Athens: -1 is not between 0 and 100000"},
        {"between agents", AGENTS, SITES, RTT, "agent\tAthens\tOslo\nAthens\t0\tfar\n",
         "agent_rtt.tsv:2: Oslo: \"far\""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct world *w = NULL;
        struct buf why = {0};
        write_world(cases[i].agents, cases[i].sites, cases[i].rtt, cases[i].agent_rtt);
        CHECK_STATUS(cases[i].label, world_load(test_folder(), &w, &why), ST_INVALID);
        if (span_search(buf_span(&why), span_str(cases[i].why), false) == why.n)
            fail_msg("%s: said \"%s\", want \"%s\"", cases[i].label, buf_cstr(&why), cases[i].why);
        buf_done(&why);
    }
}

/* ---- worlds that are made ---- */

#define KEPT_SUM 9489.77 /* of a_world_stays_what_it_was */

static struct cities cities;

static const char *made_dir(const char *name)
{
    static char path[TEST_PATH];
    test_path(path, name);
    return path;
}

static struct world *make(const char *name, struct world_make_opts o, struct world_make_figures *figures)
{
    struct world *w = NULL;
    struct buf why = {0};
    const char *dir = made_dir(name);
    o.cities = &cities;
    status st = world_make(&o, dir, figures, &why);
    if (st == ST_OK)
        st = world_load(dir, &w, &why);
    if (st != ST_OK)
        fail_msg("%s: %s: %s", name, status_name(st), buf_cstr(&why));
    buf_done(&why);
    return w;
}

static void the_same_seed_makes_the_same_world(void **state)
{
    static const char *const files[] = {"agents.tsv", "sites.tsv", "rtt.tsv", "agent_rtt.tsv", "networks.tsv"};
    struct world_make_figures f;
    struct buf a = {0}, b = {0};
    world_free(make("one", (struct world_make_opts){.agents = 5, .sites = 60, .seed = 7}, &f));
    world_free(make("two", (struct world_make_opts){.agents = 5, .sites = 60, .seed = 7}, &f));
    world_free(make("three", (struct world_make_opts){.agents = 5, .sites = 60, .seed = 8}, &f));
    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
        struct span one = read_all(made_dir("one"), files[i], &a);
        CHECK(files[i], span_eq(one, read_all(made_dir("two"), files[i], &b)));
        CHECK(files[i], !span_eq(one, read_all(made_dir("three"), files[i], &b)));
    }
    struct buf why = {0};
    struct world_make_opts again = {.agents = 5, .sites = 60, .seed = 7, .cities = &cities};
    CHECK_STATUS("not over another", world_make(&again, made_dir("one"), &f, &why), ST_EXISTS);
    buf_done(&why);
    buf_done(&a);
    buf_done(&b);
}

/* What is written down for good: a world of this seed is cited by its figures. */
static void a_world_stays_what_it_was(void **state)
{
    struct world_make_figures f;
    struct world *w = make("kept", (struct world_make_opts){.agents = 3, .sites = 20, .seed = 1}, &f);
    double sum = 0;
    for (size_t i = 0; i < 20; i++)
        for (size_t j = 0; j < 3; j++)
            sum += world_rtt(w, i, j);
    if (fabs(sum - KEPT_SUM) > 0.005)
        fail_msg("the sum of all round trips is %.2f, it was %.2f", sum, KEPT_SUM);
    world_free(w);
}

static void the_model_computes_what_a_matrix_would_say(void **state)
{
    struct world_make_figures f;
    struct world_make_opts o = {.agents = 9, .sites = 400, .seed = 11};
    struct world *matrix = make("matrix", o, &f);
    CHECK("a matrix", !f.has_model);
    o.matrix_max = 100;
    struct world *model = make("model", o, &f);
    CHECK("a model", f.has_model);
    assert_int_equal(world_site_count(matrix), world_site_count(model));
    size_t anycast = 0;
    for (size_t i = 0; i < 400; i++) {
        double a, b;
        CHECK_SPAN("host", world_site(model, i)->host, world_site(matrix, i)->host);
        for (size_t j = 0; j < 9; j++)
            if (fabs(world_rtt(matrix, i, j) - world_rtt(model, i, j)) > 1e-4)
                fail_msg("site %zu, agent %zu: %.4f and %.4f", i, j, world_rtt(matrix, i, j), world_rtt(model, i, j));
        size_t x = world_nearest(matrix, i, &a), y = world_nearest(model, i, &b);
        CHECK("nearest", fabs(a - b) < 1e-4 && (x == y || fabs(world_rtt(matrix, i, y) - a) < 1e-4));
        anycast += world_site(model, i)->is_anycast;
    }
    for (size_t i = 0; i < 9; i++)
        for (size_t j = 0; j < 9; j++)
            CHECK("agents", fabs(world_agent_rtt(matrix, i, j) - world_agent_rtt(model, i, j)) < 1e-4 &&
                                fabs(world_agent_rtt(model, i, j) - world_agent_rtt(model, j, i)) < 1e-9);
    CHECK("some answer from everywhere", anycast > 0);
    world_free(matrix);
    world_free(model);
}

static void a_made_world_obeys_light_and_its_own_networks(void **state)
{
    struct world_make_figures f;
    struct world *w = make("net", (struct world_make_opts){.agents = 6, .sites = 500, .seed = 3}, &f);
    struct tree *t = NULL;
    struct buf why = {0};
    CHECK_STATUS("networks", tree_open(world_networks(w), &t, &why), ST_OK);
    const struct hierarchy *h = tree_hierarchy(t);
    CHECK_STATUS("they nest", hierarchy_check(h, &why), ST_OK);
    CHECK("three levels and more", hierarchy_height(h) >= 3);
    size_t six = 0;
    for (size_t i = 0; i < 500; i++) {
        const struct world_site *s = world_site(w, i);
        struct hierarchy_node node;
        uint32_t n = hierarchy_network(h, &s->addr);
        CHECK("a site is in a network", n != HIERARCHY_NONE);
        hierarchy_get(h, n, &node);
        CHECK_SPAN("of its holder", hierarchy_holder_name(h, node.holder), s->holder);
        CHECK("public", addr_classify(&s->addr) == ADDR_PUBLIC);
        six += s->addr6.family == 6;
        if (s->addr6.family == 6) {
            n = hierarchy_network(h, &s->addr6);
            CHECK("IPv6 too", n != HIERARCHY_NONE);
            hierarchy_get(h, n, &node);
            CHECK_SPAN("of the same holder", hierarchy_holder_name(h, node.holder), s->holder);
        }
        for (size_t j = 0; !s->is_anycast && j < 6; j++)
            CHECK("slower than light", world_rtt(w, i, j) > geo_light_ms(geo_km(s->spot, world_agent(w, j)->spot)));
    }
    CHECK("half have IPv6", six > 200 && six < 300 && six == f.sites6);
    for (size_t j = 0; j < 6; j++)
        CHECK("an agent lives in a network", hierarchy_network(h, &world_agent(w, j)->addr) != HIERARCHY_NONE);
    tree_free(t);
    world_free(w);
    buf_done(&why);
}

static void a_matrix_of_ones_own_is_used_as_it_is(void **state)
{
    struct world_make_figures f;
    char pairs[TEST_PATH], nodes[TEST_PATH];
    test_path(pairs, "pairs.csv");
    test_path(nodes, "nodes.csv");
    write_file("pairs.csv", SPAN("source,destination,avg\n1,2,70\n2,1,60\n1,3,20\n2,3,90\n1,4,5\n4,9,1\n"));
    write_file("nodes.csv", SPAN("id,name,country,latitude,longitude\n1,Athens,Greece,37.98,23.73\n"
                                 "2,\"Oslo, Norway\",NO,59.91,10.75\n3,Rome,Italy,41.9,12.5\n4,Lonely,GR,38,24\n"));
    struct world *w = make(
        "mine", (struct world_make_opts){.agents = 2, .sites = 50, .seed = 2, .matrix = pairs, .nodes = nodes}, &f);
    assert_int_equal(f.places, 3); /* 4 lacks most of its pairs, 9 has no place */
    for (size_t i = 0; i < 50; i++) {
        const struct world_site *s = world_site(w, i);
        CHECK("countries of the nearest city",
              strcmp(s->country, "GR") == 0 || strcmp(s->country, "NO") == 0 || strcmp(s->country, "IT") == 0);
        if (s->is_anycast)
            continue;
        double between = fabs(world_rtt(w, i, 0) - world_rtt(w, i, 1));
        static const double possible[] = {59.5, 19.5, 89.5, 40, 30, 70};
        bool is_good = false;
        for (size_t k = 0; k < sizeof(possible) / sizeof(*possible); k++)
            is_good |= fabs(between - possible[k]) < 0.02;
        if (!is_good)
            fail_msg("site %zu: the agents are %.2f apart", i, between);
    }
    world_free(w);
    struct buf why = {0};
    struct world_make_opts o = {.agents = 1, .sites = 1, .seed = 1, .matrix = pairs, .cities = &cities};
    CHECK_STATUS("no coordinates", world_make(&o, made_dir("bad"), &f, &why), ST_INVALID);
    buf_done(&why);
}

static void networks_of_a_file_are_used_as_they_are(void **state)
{
    struct world_make_figures f;
    struct tree *t = NULL, *copy = NULL;
    struct buf why = {0};
    char path[TEST_PATH];
    test_path(path, "given.tsv");
    write_file("given.tsv", SPAN("prefix\tcountry\tholder\n20.0.0.0/16\tGR\tA\n20.0.4.0/24\tGR\tB\n20.0.4.0/26\tCY\tC\n"
                                 "21.0.0.0/8\tGR\tToo large\n22.0.0.0/24\tXX\tNowhere\n2a00:5::/32\tGR\tA\n"));
    CHECK_STATUS("open", tree_open(path, &t, &why), ST_OK);
    struct world *w = make(
        "given", (struct world_make_opts){.agents = 2, .sites = 80, .seed = 5, .hierarchy = tree_hierarchy(t)}, &f);
    assert_int_equal(f.plots, 3);
    CHECK_STATUS("copy", tree_open(world_networks(w), &copy, &why), ST_OK);
    assert_int_equal(hierarchy_count(tree_hierarchy(copy)), hierarchy_count(tree_hierarchy(t)));
    for (size_t i = 0; i < 80; i++) {
        struct hierarchy_node node;
        hierarchy_get(tree_hierarchy(copy), hierarchy_network(tree_hierarchy(copy), &world_site(w, i)->addr), &node);
        CHECK_SPAN("holder", hierarchy_holder_name(tree_hierarchy(copy), node.holder), world_site(w, i)->holder);
    }
    tree_free(t);
    tree_free(copy);
    world_free(w);
    buf_done(&why);
}

static void networks_of_a_file_have_ipv6_of_their_holder(void **state)
{
    struct world_make_figures f;
    struct tree *t = NULL;
    struct buf why = {0}, text = {0};
    char path[TEST_PATH];
    size_t with = 0, without_holder = 0;
    test_path(path, "six.tsv");
    buf_puts(&text, "prefix\tcountry\tholder\n2a00:5::/32\tGR\tA\n2a00:5:1::/48\tGR\tB\n");
    for (int i = 0; i < 64; i++)
        buf_printf(&text, "20.0.%d.0/24\tGR\t%s\n", i, i % 4 == 0 ? "C" : i % 4 == 1 ? "B" : "A");
    write_file("six.tsv", buf_span(&text));
    CHECK_STATUS("open", tree_open(path, &t, &why), ST_OK);
    const struct hierarchy *h = tree_hierarchy(t);
    struct world *w = make("six", (struct world_make_opts){.agents = 2, .sites = 400, .seed = 5, .hierarchy = h}, &f);
    for (size_t i = 0; i < 400; i++) {
        const struct world_site *s = world_site(w, i);
        struct hierarchy_node node;
        if (!s->addr6.family)
            continue;
        with++;
        without_holder += span_is(s->holder, "C");
        hierarchy_get(h, hierarchy_network(h, &s->addr6), &node);
        CHECK_SPAN("of the same holder", hierarchy_holder_name(h, node.holder), s->holder);
    }
    assert_int_equal(without_holder, 0);
    CHECK("half of those that can", with > 400 * 3 / 4 / 4 && with < 400 * 3 / 4 * 3 / 4);
    tree_free(t);
    world_free(w);
    buf_done(&why);
    buf_done(&text);
}

static int read_cities(void **state)
{
    return cities_read(cities_text(), &cities) == ST_OK ? 0 : -1;
}

static int drop_cities(void **state)
{
    cities_done(&cities);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(reads_tables_of_tabs_commas_and_blanks),
        TEST_IN_FOLDER(complains_with_file_and_line),
        TEST_IN_FOLDER(reads_packed_tables),
        cmocka_unit_test(numbers_are_what_strtod_makes_of_them),
        TEST_IN_FOLDER(loads_a_world),
        TEST_IN_FOLDER(a_site_may_have_a_second_address),
        TEST_IN_FOLDER(says_what_is_wrong_with_a_world),
        TEST_IN_FOLDER(the_same_seed_makes_the_same_world),
        TEST_IN_FOLDER(a_world_stays_what_it_was),
        TEST_IN_FOLDER(the_model_computes_what_a_matrix_would_say),
        TEST_IN_FOLDER(a_made_world_obeys_light_and_its_own_networks),
        TEST_IN_FOLDER(a_matrix_of_ones_own_is_used_as_it_is),
        TEST_IN_FOLDER(networks_of_a_file_are_used_as_they_are),
        TEST_IN_FOLDER(networks_of_a_file_have_ipv6_of_their_holder),
    };
    return cmocka_run_group_tests(tests, read_cities, drop_cities);
}
