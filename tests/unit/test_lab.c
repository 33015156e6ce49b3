/* The pure parts of the lab: its files, the map, the delay line, packets, names and pages. */
#include "test.h"
#include "test_folder.h"

#include "base/rng.h"
#include "lab/map/lab.h"
#include "lab/map/lateness.h"
#include "lab/map/line.h"
#include "lab/map/packet.h"
#include "lab/serve/dns.h"
#include "lab/serve/names.h"
#include "lab/serve/pages.h"

/* ---- files ---- */

static const char good[] = "# a lab\n"
                           "place hq 20.0.0.1 2a00:1::1\n"
                           "place athens 20.1.0.0/24 2a00:2::/48\n"
                           "place bergen 20.2.0.9/24\r\n"
                           "place a.example@servers 30.0.0.0/16\n"
                           "place b.example@servers 30.0.7.0/24\n"
                           "rtt * * 5\n"
                           "rtt hq athens 40.5 2\n"
                           "rtt bergen a.example 17\n"
                           "site a.example 30.0.0.5 pages=9 bytes=700 think=3\n"
                           "site B.Example 30.0.7.5\n"
                           "name geo.example 30.0.0.5\n"
                           "name geo.example 30.0.7.5 from=bergen\n"
                           "dns 30.0.0.53\n"
                           "seed 77\n";

static struct lab load(const char *text)
{
    struct lab l;
    struct buf why = {0};
    status st = lab_parse(span_str(text), ".", &l, &why);
    if (st != ST_OK)
        fail_msg("%s: %s", status_name(st), buf_cstr(&why));
    buf_done(&why);
    return l;
}

static unsigned place(const struct lab *l, const char *name)
{
    unsigned i = 0;
    if (!map_find(l->map, span_str(name), &i))
        fail_msg("no place %s", name);
    return i;
}

static struct addr addr(const char *text)
{
    struct addr a;
    CHECK_STATUS(text, addr_parse(span_str(text), &a), ST_OK);
    return a;
}

static double rtt(const struct lab *l, const char *a, const char *b)
{
    return (double)map_path(l->map, place(l, a), place(l, b)).rtt_ms;
}

static void reads_a_lab_file(void **state)
{
    struct lab l = load(good);
    char text[ADDR_TEXT_MAX];
    assert_int_equal(map_place_count(l.map), 5);
    assert_int_equal(map_node_count(l.map), 4);
    assert_string_equal(addr_format(&map_place(l.map, place(&l, "athens"))->addr4, text), "20.1.0.1");
    assert_string_equal(addr_format(&map_place(l.map, place(&l, "athens"))->addr6, text), "2a00:2::1");
    assert_string_equal(addr_format(&map_place(l.map, place(&l, "bergen"))->addr4, text), "20.2.0.9");
    assert_int_equal(map_place(l.map, place(&l, "a.example"))->node, map_place(l.map, place(&l, "b.example"))->node);
    assert_true(map_place(l.map, place(&l, "a.example"))->hub < 0);
    assert_int_equal(l.site_count, 2);
    CHECK_SPAN("lower case", l.sites[1].host, SPAN("b.example"));
    assert_int_equal(l.sites[0].pages, 9);
    assert_int_equal(l.sites[0].bytes_per_page, 700);
    assert_int_equal(l.sites[0].think_ms, 3);
    assert_int_equal(l.name_count, 4);
    assert_string_equal(addr_format(&l.dns, text), "30.0.0.53");
    assert_int_equal(l.seed, 77);
    lab_done(&l);
}

static void paths_go_both_ways_and_later_lines_win(void **state)
{
    struct lab l = load(good);
    CHECK("set", rtt(&l, "hq", "athens") == 40.5 && rtt(&l, "athens", "hq") == 40.5);
    CHECK("default", rtt(&l, "hq", "bergen") == 5);
    CHECK("server", rtt(&l, "a.example", "bergen") == 17 && rtt(&l, "bergen", "a.example") == 17);
    CHECK("other server", rtt(&l, "b.example", "bergen") == 5);
    CHECK("jitter", map_path(l.map, place(&l, "hq"), place(&l, "athens")).jitter_ms == 2);
    lab_done(&l);
}

static void cuts_hold_until_healed(void **state)
{
    struct lab l = load(good);
    unsigned hq = place(&l, "hq"), athens = place(&l, "athens"), bergen = place(&l, "bergen");
    CHECK_STATUS("cut", map_cut_path(l.map, hq, athens, true), ST_OK);
    CHECK("cut both ways", map_path(l.map, athens, hq).is_cut && map_path(l.map, hq, athens).is_cut);
    struct map_path p = {.rtt_ms = 1};
    CHECK_STATUS("set", map_set_path(l.map, hq, athens, &p), ST_OK);
    CHECK("another round trip heals nothing", map_path(l.map, hq, athens).is_cut);
    map_cut_place(l.map, bergen, true);
    CHECK("place", map_path(l.map, bergen, athens).is_cut && map_path(l.map, athens, bergen).is_cut);
    map_cut_place(l.map, bergen, false);
    CHECK_STATUS("heal", map_cut_path(l.map, athens, hq, false), ST_OK);
    CHECK("healed", !map_path(l.map, hq, athens).is_cut && !map_path(l.map, bergen, athens).is_cut);
    lab_done(&l);
}

static void refuses_bad_lines(void **state)
{
    static const struct {
        const char *text;
        status want;
    } cases[] = {
        {"", ST_INVALID},
        {"# nothing\n", ST_INVALID},
        {"plaice hq 20.0.0.1\n", ST_INVALID},
        {"place hq\n", ST_INVALID},
        {"place hq 20.0.0.256\n", ST_INVALID},
        {"place hq 20.0.0.1/33\n", ST_INVALID},
        {"place hq 127.0.0.1\n", ST_INVALID},
        {"place hq 224.0.0.1\n", ST_INVALID},
        {"place hq fe80::1\n", ST_INVALID},
        {"place hq 0.0.0.0/0\n", ST_INVALID},
        {"place h/q 20.0.0.1\n", ST_INVALID},
        {"place hq@-x 20.0.0.1\n", ST_INVALID},
        {"place hq 20.0.0.1\nplace hq 20.0.0.2\n", ST_EXISTS},
        {"place a 20.0.0.1\nplace b 20.0.0.1\n", ST_EXISTS},
        {"place a 20.0.0.1\nrtt a b 5\n", ST_NOT_FOUND},
        {"place a 20.0.0.1\nplace b 20.0.0.2\nrtt a b -5\n", ST_INVALID},
        {"place a 20.0.0.1\nplace b 20.0.0.2\nrtt a b nan\n", ST_INVALID},
        {"place a 20.0.0.1\nplace b 20.0.0.2\nrtt a b 60001\n", ST_INVALID},
        {"place a 20.0.0.1\nplace b 20.0.0.2\nrtt a b 5 6 7\n", ST_INVALID},
        {"place a 20.0.0.1\nplace b 20.0.0.2\nrtt a b -\n", ST_INVALID},
        {"place a@m 20.0.0.1\nplace b@n 20.0.0.2\nrtt a b 5\n", ST_UNSUPPORTED},
        {"place a 20.0.0.1\nsite x.example 20.0.0.9\n", ST_NOT_FOUND},
        {"place a 20.0.0.1\nsite x.example 20.0.0.1 pages=many\n", ST_INVALID},
        {"place a 20.0.0.1\nname x.example 20.0.0.1 from=b\n", ST_NOT_FOUND},
        {"place a 20.0.0.1\ndns here\n", ST_INVALID},
        {"place a 20.0.0.1\nseed -1\n", ST_INVALID},
        {"place a 20.0.0.1\nmatrix no-such-file\n", ST_NOT_FOUND},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct lab l;
        struct buf why = {0};
        CHECK_STATUS(cases[i].text, lab_parse(span_str(cases[i].text), "/nonexistent", &l, &why), cases[i].want);
        CHECK(cases[i].text, why.n > 0);
        buf_done(&why);
    }
}

static void says_which_line_is_bad(void **state)
{
    struct lab l;
    struct buf why = {0};
    CHECK_STATUS("status", lab_parse(SPAN("place a 20.0.0.1\n\nrtt a c 5\n"), ".", &l, &why), ST_NOT_FOUND);
    assert_string_equal(buf_cstr(&why), "line:3: no place is called c");
    buf_done(&why);
}

static void a_matrix_sets_what_it_names(void **state)
{
    struct lab l = load(good);
    struct buf why = {0};
    struct span table = SPAN("place\thq\tathens\tnowhere\nathens\t12.5\t0\t9\nb.example\t33\t44\t1\nelse\t1\t2\t3\n");
    CHECK_STATUS("matrix", lab_matrix(l.map, table, &why), ST_OK);
    CHECK("hubs", rtt(&l, "hq", "athens") == 12.5 && rtt(&l, "athens", "hq") == 12.5);
    CHECK("jitter stays", map_path(l.map, place(&l, "hq"), place(&l, "athens")).jitter_ms == 2);
    CHECK("server", rtt(&l, "athens", "b.example") == 44);
    CHECK("not named", rtt(&l, "athens", "a.example") == 5);
    CHECK_STATUS("short row", lab_matrix(l.map, SPAN("x\thq\nathens\n"), &why), ST_INVALID);
    CHECK_STATUS("no head", lab_matrix(l.map, SPAN(""), &why), ST_INVALID);
    buf_done(&why);
    lab_done(&l);
}

static void a_folder_is_a_world(void **state)
{
    static const struct {
        const char *name, *text;
    } files[] = {
        {"agents.tsv",
         "name\tip\tcountry\tlat\tlon\nAthens\t20.0.0.1\tGR\t38\t23.7\nBergen\t20.0.1.1\tNO\t60.4\t5.3\n"},
        {"sites.tsv",
         "host\tip\tcountry\tlat\tlon\tholder\tpages\tbytes_per_page\tchanges_per_day\timportance\tanycast\n"
         "s0.example\t30.0.0.1\tGR\t38\t23\tAS1\t3\t1000\t0.1\t1\t0\n"
         "s1.example\t30.0.0.2\tNO\t60\t5\tAS2\t4\t2000\t0.1\t1\t0\n"
         "s2.example\t30.0.0.1\tGR\t38\t23\tAS1\t5\t3000\t0.1\t1\t0\n"},
        {"rtt.tsv", "host\tAthens\tBergen\ns0.example\t10\t70\ns1.example\t80\t12\ns2.example\t10\t70\n"},
        {"agent_rtt.tsv", "agent\tAthens\tBergen\nAthens\t0.5\t60\nBergen\t60\t0.5\n"},
    };
    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
        char path[TEST_PATH];
        test_path(path, files[i].name);
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fputs(files[i].text, f);
        fclose(f);
    }
    struct lab l;
    struct buf why = {0};
    status st = lab_load(test_folder(), &l, &why);
    if (st != ST_OK)
        fail_msg("%s", buf_cstr(&why));
    assert_int_equal(l.site_count, 3);
    assert_int_equal(map_node_count(l.map), 4); /* hq, servers, two agents */
    CHECK("site", rtt(&l, "s0.example", "Athens") == 10 && rtt(&l, "Bergen", "s1.example") == 12);
    CHECK("agents", rtt(&l, "Athens", "Bergen") == 60);
    CHECK("hq is beside the first", rtt(&l, "hq", "Bergen") == 60 && rtt(&l, "hq", "Athens") == 0.5);
    CHECK("hq to site", rtt(&l, "hq", "s1.example") == 80);
    CHECK("dns", rtt(&l, "Bergen", "dns") == 1);
    lab_done(&l);
    buf_done(&why);
}

/* ---- the map ---- */

/* A naive twin: all prefixes, the longest that has the address. */
static void finds_the_longest_prefix(void **state)
{
    struct rng r;
    rng_seed(&r, 5);
    struct map *m = map_new();
    struct network nets[300];
    unsigned places[300];
    size_t n = 0;
    for (int i = 0; i < 20; i++) {
        char name[16];
        unsigned p;
        snprintf(name, sizeof(name), "p%d", i);
        CHECK_STATUS(name, map_add_place(m, span_str(name), (struct span){0}, &p), ST_OK);
    }
    for (int i = 0; i < 300; i++) {
        bool is6 = rng_below(&r, 3) == 0;
        struct addr a = {.family = is6 ? 6 : 4};
        unsigned bits = 8 + (unsigned)rng_below(&r, is6 ? 121 : 25);
        a.b[0] = is6 ? 0x20 : 20;
        for (unsigned k = 8; k < bits; k++) /* few values, so that prefixes nest */
            a.b[k / 8] |= (uint8_t)((rng_below(&r, 8) == 0) << (7 - k % 8));
        struct network net = {.first = a, .bits = (uint8_t)bits};
        unsigned p = (unsigned)rng_below(&r, 20);
        if (map_add_prefix(m, p, &net, &a) == ST_OK) {
            nets[n] = net;
            places[n++] = p;
        }
    }
    map_seal(m);
    for (int i = 0; i < 20000; i++) {
        const struct network *near = &nets[rng_below(&r, n)];
        struct addr a = near->first;
        unsigned whole = a.family == 4 ? 32 : 128;
        for (unsigned k = near->bits; k < whole; k++)
            a.b[k / 8] |= (uint8_t)((rng_below(&r, 8) == 0) << (7 - k % 8));
        size_t best = SIZE_MAX;
        for (size_t k = 0; k < n; k++) {
            if (network_has(&nets[k], &a) && (best == SIZE_MAX || nets[k].bits > nets[best].bits))
                best = k;
        }
        unsigned got = 999;
        assert_true(map_at(m, &a, &got));
        assert_int_equal(got, places[best]);
    }
    unsigned got;
    struct addr none = addr("21.0.0.1");
    assert_false(map_at(m, &none, &got));
    map_free(m);
}

/* ---- the delay line ---- */

static struct span number(const uint32_t *n)
{
    return span_of(n, sizeof(*n));
}

static uint32_t number_of(const struct line_packet *p)
{
    uint32_t n;
    memcpy(&n, p->data, sizeof(n));
    return n;
}

static void packets_leave_when_they_are_due(void **state)
{
    struct line *l = line_new(0);
    uint32_t a = 1, b = 2, c = 3;
    assert_true(line_next(l) == INT64_MAX);
    CHECK_STATUS("late", line_put(l, number(&a), 7, 1, 300, 0), ST_OK);
    CHECK_STATUS("early", line_put(l, number(&b), 8, 2, 100, 0), ST_OK);
    CHECK_STATUS("early too", line_put(l, number(&c), 9, 3, 100, 0), ST_OK);
    assert_true(line_next(l) == 100);
    assert_null(line_take(l, 99));
    static const uint32_t want[] = {2, 3, 1};
    static const unsigned link[] = {8, 9, 7};
    for (size_t i = 0; i < 3; i++) {
        struct line_packet *p = line_take(l, i < 2 ? 100 : 300);
        assert_non_null(p);
        assert_int_equal(number_of(p), want[i]);
        assert_int_equal(p->link, link[i]);
        line_done(l, p);
        if (i == 1)
            assert_null(line_take(l, 299));
    }
    assert_int_equal(line_count(l), 0);
    line_free(l);
}

static void a_full_line_loses_packets(void **state)
{
    struct line *l = line_new(64);
    uint32_t n = 0;
    char big[PACKET_MAX + 1] = {0};
    for (; n < 64; n++)
        CHECK_STATUS("room", line_put(l, number(&n), 0, n, n, 0), ST_OK);
    CHECK_STATUS("full", line_put(l, number(&n), 0, n, n, 0), ST_LIMIT);
    line_done(l, line_take(l, 0));
    CHECK_STATUS("room again", line_put(l, number(&n), 0, n, n, 0), ST_OK);
    line_done(l, line_take(l, 1));
    CHECK_STATUS("too long", line_put(l, span_of(big, sizeof(big)), 0, 1, 1, 0), ST_LIMIT);
    line_free(l);
}

/* Random flows, delays that jump about, a clock that we move: within a flow nothing overtakes, nothing leaves early,
 * and what leaves late was held back by one before it. */
static void flows_stay_in_order(void **state)
{
    enum { FLOWS = 50, STEPS = 20000 };
    struct rng r;
    rng_seed(&r, 11);
    struct line *l = line_new(0);
    uint32_t sent[FLOWS] = {0}, got[FLOWS] = {0};
    mono_ns last_due[FLOWS] = {0}, now = 0;
    size_t out = 0;
    for (int i = 0; i < STEPS + 1000; i++) {
        now += (mono_ns)rng_below(&r, 1000);
        if (i < STEPS) {
            uint32_t f = (uint32_t)rng_below(&r, FLOWS), text[2] = {f, sent[f]++};
            mono_ns due = now + (mono_ns)rng_below(&r, 50000);
            CHECK_STATUS("put", line_put(l, span_of(text, sizeof(text)), f, 1000 + f * 7919ULL, due, now), ST_OK);
            last_due[f] = last_due[f] > due ? last_due[f] : due;
        }
        for (struct line_packet *p; (p = line_take(l, now));) {
            uint32_t text[2];
            memcpy(text, p->data, sizeof(text));
            CHECK("in order", text[1] == got[text[0]]);
            CHECK("not early", p->due.key <= now);
            CHECK("not later than the latest of the flow", p->due.key <= last_due[text[0]]);
            got[text[0]]++;
            out++;
            line_done(l, p);
        }
    }
    now += 100000;
    for (struct line_packet *p; (p = line_take(l, now)); out++)
        line_done(l, p);
    assert_int_equal(out, STEPS);
    line_free(l);
}

static void other_flows_are_not_held_back(void **state)
{
    struct line *l = line_new(0);
    uint32_t a = 1, b = 2;
    CHECK_STATUS("far", line_put(l, number(&a), 0, 1, 150000000, 0), ST_OK);
    CHECK_STATUS("near", line_put(l, number(&b), 0, 1 + 32768, 500000, 0), ST_OK); /* the next slot of the same table */
    assert_true(line_next(l) == 500000);
    line_free(l);
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static void lateness_is_near_the_truth(void **state)
{
    enum { N = 5000 };
    static int64_t all[N];
    static struct lateness l;
    struct rng r;
    rng_seed(&r, 3);
    for (size_t i = 0; i < N; i++) {
        all[i] = (int64_t)(rng_u64(&r) >> (24 + rng_below(&r, 38)));
        lateness_add(&l, all[i]);
    }
    lateness_add(&l, -5); /* early is not late */
    qsort(all, N, sizeof(*all), by_value);
    static const double shares[] = {0.1, 0.5, 0.9, 0.99};
    for (size_t i = 0; i < 4; i++) {
        double want = (double)all[(size_t)(shares[i] * N)], have = (double)lateness_at(&l, shares[i]);
        CHECK("within a step", have >= want * 0.93 - 1 && have <= want * 1.07 + 1);
    }
    assert_true(lateness_at(&l, 1) == all[N - 1] && l.max_ns == all[N - 1]);
    static const struct lateness none;
    assert_true(lateness_at(&none, 0.99) == 0);
}

/* ---- packets ---- */

/* The checksum of RFC 1071, the long way. */
static unsigned checksum(const unsigned char *p, size_t n, uint32_t sum)
{
    for (size_t i = 0; i < n; i++)
        sum += i % 2 ? p[i] : (uint32_t)p[i] << 8;
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return sum;
}

static const unsigned char syn4[] = {0x45, 0, 0, 40, 0, 1, 0, 0, 64, 6, 0, 0, 20,   0, 0, 1, 8, 8, 8, 8,
                                     0x30, 1, 0, 80, 0, 0, 0, 1, 0,  0, 0, 0, 0x50, 2, 0, 0, 0, 0, 0, 0};

static void packets_tell_who_to_whom(void **state)
{
    struct packet_facts f, g;
    unsigned char other[sizeof(syn4)];
    assert_true(packet_facts(span_of(syn4, sizeof(syn4)), &f));
    char text[ADDR_TEXT_MAX];
    assert_string_equal(addr_format(&f.from, text), "20.0.0.1");
    assert_string_equal(addr_format(&f.to, text), "8.8.8.8");
    assert_false(packet_is_local(&f));
    memcpy(other, syn4, sizeof(other));
    other[21] = 2; /* another port */
    assert_true(packet_facts(span_of(other, sizeof(other)), &g));
    assert_true(f.flow != g.flow);
    memcpy(other, syn4, sizeof(other));
    other[27] = 9; /* another sequence number */
    assert_true(packet_facts(span_of(other, sizeof(other)), &g));
    assert_true(f.flow == g.flow);
    for (size_t n = 0; n < sizeof(syn4); n++)
        CHECK("cut short", !packet_facts(span_of(syn4, n), &g));
    memcpy(other, syn4, sizeof(other));
    memcpy(other + 16, (const unsigned char[]){224, 0, 0, 1}, 4);
    assert_true(packet_facts(span_of(other, sizeof(other)), &g) && packet_is_local(&g));
}

static void nowhere_is_unreachable(void **state)
{
    unsigned char out[PACKET_MAX],
        syn6[60] = {0x60, [5] = 20, [6] = 6, [7] = 64, [8] = 0x2a, [23] = 1, [24] = 0x2b, [39] = 2};
    struct packet_facts f;
    assert_true(packet_facts(span_of(syn4, sizeof(syn4)), &f));
    size_t n = packet_unreachable(span_of(syn4, sizeof(syn4)), &f, out);
    assert_int_equal(n, 20 + 8 + sizeof(syn4));
    assert_int_equal(checksum(out, 20, 0), 0xffff);
    assert_int_equal(checksum(out + 20, n - 20, 0), 0xffff);
    assert_memory_equal(out + 16, syn4 + 12, 4); /* to the asker */
    assert_int_equal(out[20], 3);
    assert_true(packet_facts(span_of(out, n), &f));
    assert_int_equal(packet_unreachable(span_of(out, n), &f, (unsigned char[PACKET_MAX]){0}),
                     0); /* no error of an error */

    assert_true(packet_facts(span_of(syn6, sizeof(syn6)), &f));
    n = packet_unreachable(span_of(syn6, sizeof(syn6)), &f, out);
    assert_int_equal(n, 40 + 8 + sizeof(syn6));
    assert_int_equal(checksum(out + 40, n - 40, checksum(out + 8, 32, (uint32_t)(n - 40) + 58)), 0xffff);
    assert_memory_equal(out + 24, syn6 + 8, 16);
}

/* ---- names ---- */

static size_t ask(const struct names *n, int from, const char *host, unsigned type, bool edns, unsigned char *out)
{
    unsigned char q[512] = {0x12, 0x34, 0x01, 0, 0, 1, [11] = edns};
    size_t at = 12;
    struct span rest = span_str(host), label;
    while (rest.n && span_split(&rest, '.', &label)) {
        q[at++] = (unsigned char)label.n;
        memcpy(q + at, label.p, label.n);
        at += label.n;
    }
    at++;
    q[at++] = (unsigned char)(type >> 8);
    q[at++] = (unsigned char)type;
    at++;
    q[at++] = 1;
    if (edns) {
        memcpy(q + at, (const unsigned char[]){0, 0, 41, 0x10, 0, 0, 0, 0, 0, 0, 0}, 11);
        at += 11;
    }
    return dns_answer(n, from, span_of(q, at), true, DNS_UDP_MAX, out);
}

static void names_depend_on_who_asks(void **state)
{
    struct lab l = load(good);
    struct names *n = names_new(&l);
    unsigned char out[DNS_UDP_MAX];
    static const unsigned char a[] = {30, 0, 0, 5}, b[] = {30, 0, 7, 5};
    size_t len = ask(n, -1, "geo.example", 1, false, out);
    assert_true(len > 4 && out[0] == 0x12 && out[1] == 0x34);
    assert_int_equal(out[2] & 0x84, 0x84);
    assert_int_equal(out[7], 1);
    assert_memory_equal(out + len - 4, a, 4);
    len = ask(n, (int)place(&l, "bergen"), "GEO.example", 1, false, out);
    assert_memory_equal(out + len - 4, b, 4);
    len = ask(n, (int)place(&l, "athens"), "geo.example", 1, true, out);
    assert_memory_equal(out + len - 11 - 4, a, 4);
    assert_int_equal(out[11], 1);
    (void)ask(n, -1, "geo.example", 28, false, out);
    CHECK("a name without such an address", (out[3] & 15) == 0 && out[7] == 0);
    (void)ask(n, -1, "nowhere.example", 1, false, out);
    CHECK("no such name", (out[3] & 15) == 3 && out[7] == 0);
    CHECK("an answer gets no answer", dns_answer(n, -1, span_of(out, 12), true, DNS_UDP_MAX, out) == 0);
    CHECK("too short", dns_answer(n, -1, SPAN("abc"), true, DNS_UDP_MAX, out) == 0);
    names_free(n);
    lab_done(&l);
}

/* ---- pages ---- */

static struct span host_of(void *self, size_t site)
{
    static const struct span hosts[] = {SPAN_INIT("a.example"), SPAN_INIT("b.example"), SPAN_INIT("c.example")};
    return hosts[site];
}

static void jitter_can_be_set_alone(void **state)
{
    struct lab l;
    struct buf why = {0};
    static const char text[] = "place a 20.0.0.1\nplace b 20.0.0.2\nrtt a b 30 1\nrtt * * - 7\n";
    CHECK_STATUS(text, lab_parse(span_str(text), "/nonexistent", &l, &why), ST_OK);
    unsigned a, b;
    CHECK("places", map_find(l.map, SPAN("a"), &a) && map_find(l.map, SPAN("b"), &b));
    struct map_path p = map_path(l.map, a, b);
    CHECK("the round trip stays", p.rtt_ms == 30.0f);
    CHECK("jitter", p.jitter_ms == 7.0f);
    lab_done(&l);
    buf_done(&why);
}

/* A fifth of a page is text. */
static void pages_are_mostly_markup(void **state)
{
    struct pages p = {.seed = 9, .site_count = 3, .host = host_of, .port = 80};
    struct page page = {.site = 1, .number = 1, .count = 3, .bytes = 50000};
    struct buf out = {0};
    size_t text = 0;
    bool is_tag = false;
    pages_write(&p, &page, &out);
    for (size_t i = 0; i < out.n; i++) {
        is_tag |= out.p[i] == '<';
        text += !is_tag && out.p[i] != '\n';
        is_tag &= out.p[i] != '>';
    }
    CHECK("text", text * 100 > out.n * 17 && text * 100 < out.n * 27);
    buf_done(&out);
}

static void pages_repeat_and_all_are_found(void **state)
{
    struct pages p = {.seed = 9, .site_count = 3, .host = host_of, .port = 80};
    enum { PAGES = 200 };
    bool found[PAGES] = {true};
    for (uint32_t page = 0; page < PAGES; page++) {
        struct buf once = {0}, twice = {0};
        CHECK("found from those before", found[page]);
        struct page one = {.site = 1, .number = page, .count = PAGES, .bytes = 5000};
        pages_write(&p, &one, &once);
        pages_write(&p, &one, &twice);
        CHECK_SPAN("the same twice", buf_span(&once), buf_span(&twice));
        CHECK("of about that size", once.n > 4900 && once.n < 6000);
        CHECK("not the other site's", span_search(buf_span(&once), SPAN("http://b.example/"), false) == once.n);
        struct span rest = buf_span(&once), mark = SPAN("<a href=\"");
        for (size_t at; (at = span_search(rest, mark, false)) < rest.n;) {
            rest = span_from(rest, at + mark.n);
            struct span href = span_cut(rest, 0, span_find(rest, '"', 0));
            uint32_t to;
            if (pages_find(href, PAGES, &to))
                found[to] = true;
        }
        buf_done(&once);
        buf_done(&twice);
    }
}

static void paths_mean_pages(void **state)
{
    static const struct {
        const char *path;
        bool is_page;
        uint32_t page;
    } cases[] = {{"/", true, 0},          {"/p/1.html", true, 1},   {"/p/9.html", true, 9},   {"/p/10.html", false, 0},
                 {"/p/0.html", false, 0}, {"/p/01.html", false, 0}, {"/p/.html", false, 0},   {"/p/x.html", false, 0},
                 {"", false, 0},          {"/p/1.htm", false, 0},   {"/robots.txt", false, 0}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        uint32_t page = 0;
        CHECK(cases[i].path, pages_find(span_str(cases[i].path), 10, &page) == cases[i].is_page);
        CHECK(cases[i].path, page == cases[i].page);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_a_lab_file),
        cmocka_unit_test(paths_go_both_ways_and_later_lines_win),
        cmocka_unit_test(cuts_hold_until_healed),
        cmocka_unit_test(refuses_bad_lines),
        cmocka_unit_test(says_which_line_is_bad),
        cmocka_unit_test(a_matrix_sets_what_it_names),
        TEST_IN_FOLDER(a_folder_is_a_world),
        cmocka_unit_test(finds_the_longest_prefix),
        cmocka_unit_test(packets_leave_when_they_are_due),
        cmocka_unit_test(a_full_line_loses_packets),
        cmocka_unit_test(flows_stay_in_order),
        cmocka_unit_test(other_flows_are_not_held_back),
        cmocka_unit_test(lateness_is_near_the_truth),
        cmocka_unit_test(packets_tell_who_to_whom),
        cmocka_unit_test(nowhere_is_unreachable),
        cmocka_unit_test(names_depend_on_who_asks),
        cmocka_unit_test(jitter_can_be_set_alone),
        cmocka_unit_test(pages_are_mostly_markup),
        cmocka_unit_test(pages_repeat_and_all_are_found),
        cmocka_unit_test(paths_mean_pages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
