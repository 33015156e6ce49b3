/* What the lab's name server says, byte by byte. */
#include "test.h"

#include "lab/serve/arpa.h"
#include "lab/serve/dns.h"
#include "lab/serve/names.h"

static const char text[] = "place HQ 20.0.0.1 2a00:1::1\n"
                           "place athens 20.1.0.0/24 2a00:2::/48\n"
                           "place s@servers 30.0.0.0/16 2a01::/32\n"
                           "place b.example@servers 31.0.0.1\n"
                           "site a.example 30.0.0.5 2a01::5 loc=-33.5,151.25\n"
                           "site b.example 30.0.0.5\n"
                           "name www.a.example 30.0.0.5\n"
                           "name geo.example 30.0.0.8 loc=60.125,24.625\n"
                           "name geo.example 30.0.0.6 from=athens loc=60.125,-24.625\n"
                           "name athens.deep.below.test 20.1.0.9\n"
                           "name bad..name 30.0.0.7\n";

enum { A = 1, SOA = 6, PTR = 12, AAAA = 28, LOC = 29, ANY = 255, NS = 2 };

struct fixture {
    struct lab lab;
    struct names *names;
    unsigned char out[DNS_TCP_MAX];
    size_t n, at; /* of the answer; where its first record begins */
};

static struct fixture f;

static int set_up(void **state)
{
    struct buf why = {0};
    status st = lab_parse(span_str(text), ".", &f.lab, &why);
    if (st != ST_OK)
        fail_msg("%s", buf_cstr(&why));
    f.names = names_new(&f.lab);
    return 0;
}

static int tear_down(void **state)
{
    names_free(f.names);
    lab_done(&f.lab);
    return 0;
}

static size_t question(const char *host, unsigned type, unsigned class, unsigned char q[512])
{
    static const unsigned char head[12] = {0xab, 0xcd, 0x01, 0, 0, 1};
    struct span rest = span_str(host), label;
    size_t at = sizeof(head);
    memcpy(q, head, sizeof(head));
    while (rest.n && span_split(&rest, '.', &label)) {
        q[at++] = (unsigned char)label.n;
        memcpy(q + at, label.p, label.n);
        at += label.n;
    }
    q[at++] = 0;
    q[at++] = (unsigned char)(type >> 8);
    q[at++] = (unsigned char)type;
    q[at++] = (unsigned char)(class >> 8);
    q[at++] = (unsigned char)class;
    return at;
}

/* Asks; returns the number of answers. */
static int ask(int place, const char *host, unsigned type)
{
    unsigned char q[512];
    f.at = question(host, type, 1, q);
    f.n = dns_answer(f.names, place, span_of(q, f.at), true, DNS_UDP_MAX, f.out);
    assert_true(f.n >= f.at);
    assert_memory_equal(f.out + 12, q + 12, f.at - 12);
    return f.out[6] << 8 | f.out[7];
}

static int rcode(void)
{
    return f.out[3] & 15;
}

static int authority(void)
{
    return f.out[8] << 8 | f.out[9];
}

/* The records of the answer are these bytes, from the first to the last. */
static void check_records(const char *label, const void *want, size_t n)
{
    if (f.n - f.at != n || memcmp(f.out + f.at, want, n) != 0)
        fail_msg("%s: other bytes (%zu, %zu wanted)", label, f.n - f.at, n);
}
#define RECORDS(label, lit) check_records(label, lit, sizeof(lit) - 1)

static void addresses_have_names(void **state)
{
    assert_int_equal(ask(-1, "5.0.0.30.in-addr.arpa", PTR), 3); /* of sites and names, in the order of the file */
    RECORDS("v4", "\xc0\x0c\0\x0c\0\1\0\0\0\x3c\0\x0b\1a\7example\0"
                  "\xc0\x0c\0\x0c\0\1\0\0\0\x3c\0\x0b\1b\7example\0"
                  "\xc0\x0c\0\x0c\0\1\0\0\0\x3c\0\x0f\3www\1a\7example\0");
}

static void places_and_ipv6_have_names_too(void **state)
{
    assert_int_equal(ask(-1, "1.0.0.20.IN-ADDR.arpa", PTR), 1);
    RECORDS("hq", "\xc0\x0c\0\x0c\0\1\0\0\0\x3c\0\4\2hq\0");
    assert_int_equal(ask(-1, "5.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.1.0.a.2.ip6.arpa", PTR), 1);
    RECORDS("v6", "\xc0\x0c\0\x0c\0\1\0\0\0\x3c\0\x0b\1a\7example\0");
    assert_int_equal(ask(-1, "1.0.0.31.in-addr.arpa", PTR), 1); /* the place's: its name is a site elsewhere */
    assert_int_equal(ask(-1, "b.example", A), 1);
    RECORDS("the site's", "\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4\x1e\0\0\5");
    assert_int_equal(ask(-1, "hq", AAAA), 1);
    RECORDS("a place is a host", "\xc0\x0c\0\x1c\0\1\0\0\0\x3c\0\x10\x2a\0\0\1\0\0\0\0\0\0\0\0\0\0\0\1");
}

static void locations_are_told(void **state)
{
    /* 2^31 - 33.5 x 3,600,000 and 2^31 + 151.25 x 3,600,000; 10,000,000 is sea level. */
    assert_int_equal(ask(-1, "A.example", LOC), 1);
    RECORDS("south and east",
            "\xc0\x0c\0\x1d\0\1\0\0\0\x3c\0\x10\0\x12\x16\x13\x78\xcf\xca\x40\xa0\x74\x69\x20\0\x98\x96\x80");
    assert_int_equal(ask(-1, "geo.example", LOC), 1); /* the later line holds */
    RECORDS("north and west",
            "\xc0\x0c\0\x1d\0\1\0\0\0\x3c\0\x10\0\x12\x16\x13\x8c\xe6\xc3\xd0\x7a\xb7\x4e\xf0\0\x98\x96\x80");
    assert_int_equal(ask(-1, "b.example", LOC), 0);
    assert_int_equal(rcode(), 0);
    assert_int_equal(ask(-1, "a.example", ANY), 3); /* A, AAAA, LOC */
}

static void there_is_no_name_and_there_is_no_such_record(void **state)
{
    static const struct {
        const char *host;
        unsigned type;
        int rcode;
    } cases[] = {
        {"a.example", NS, 0},
        {"b.example", AAAA, 0},
        {"", A, 0},
        {"example", A, 0}, /* names are below it */
        {"deep.below.test", A, 0},
        {"below.test", LOC, 0},
        {"x.test", A, 3},
        {"x.a.example", A, 3},
        {"xample", A, 3},
        {"5.0.0.30.in-addr.arpa", A, 0},
        {"0.0.30.in-addr.arpa", PTR, 0},
        {"30.in-addr.arpa", PTR, 0},
        {"in-addr.arpa", PTR, 0},
        {"arpa", PTR, 0},
        {"a.2.ip6.arpa", PTR, 0},
        {"9.0.0.30.in-addr.arpa", PTR, 3},
        {"32.in-addr.arpa", PTR, 3},
        {"5.5.0.0.30.in-addr.arpa", PTR, 3},
        {"05.0.0.30.in-addr.arpa", PTR, 3},
        {"256.in-addr.arpa", PTR, 3},
        {"b.2.ip6.arpa", PTR, 3},
        {"0a.2.ip6.arpa", PTR, 3},
        {"x.arpa", PTR, 3},
        {"7.0.0.30.in-addr.arpa", PTR, 0}, /* its host is no name that could be sent */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        CHECK(cases[i].host, ask(-1, cases[i].host, cases[i].type) == 0);
        if (rcode() != cases[i].rcode)
            fail_msg("%s: code %d, want %d", cases[i].host, rcode(), cases[i].rcode);
        CHECK(cases[i].host, authority() == 1);
        RECORDS(cases[i].host, "\0\0\6\0\1\0\0\0\x3c\0\x29\3dns\0\012hostmaster\3dns\0"
                               "\0\0\0\1\0\0\x0e\x10\0\0\2\x58\0\1\x51\x80\0\0\0\x3c");
    }
}

static void other_classes_and_kinds_of_question_are_refused(void **state)
{
    unsigned char q[512];
    size_t n = question("a.example", A, 3, q);
    f.n = dns_answer(f.names, -1, span_of(q, n), true, DNS_UDP_MAX, f.out);
    assert_int_equal(rcode(), 5);
    assert_int_equal(authority(), 0);
    n = question("a.example", A, 1, q);
    q[2] |= 2 << 3;
    f.n = dns_answer(f.names, -1, span_of(q, n), true, DNS_UDP_MAX, f.out);
    assert_int_equal(rcode(), 4);
}

static void an_answer_that_does_not_fit_says_so(void **state)
{
    struct buf lab = {0}, why = {0};
    struct lab l;
    unsigned char q[512], out[DNS_TCP_MAX];
    buf_puts(&lab, "place a 20.0.0.1\n");
    for (int i = 0; i < NAMES_ADDRS_MAX + 1; i++)
        buf_printf(&lab, "name h%d.a-name-that-is-so-long-that-a-few-will-do.example 30.0.0.1\n", i);
    CHECK_STATUS("lab", lab_parse(buf_span(&lab), ".", &l, &why), ST_OK);
    struct names *n = names_new(&l);
    size_t len = question("1.0.0.30.in-addr.arpa", PTR, 1, q);
    size_t got = dns_answer(n, -1, span_of(q, len), true, DNS_UDP_MAX, out);
    CHECK("cut", got <= 512 && (out[2] & 2) && out[7] > 0 && out[7] < NAMES_ADDRS_MAX);
    (void)dns_answer(n, -1, span_of(q, len), false, DNS_TCP_MAX, out);
    CHECK("whole", !(out[2] & 2) && out[7] == NAMES_ADDRS_MAX);
    for (size_t i = 0; i < len; i++) /* whatever is cut off a question */
        CHECK("short", dns_answer(n, -1, span_of(q, i), true, DNS_UDP_MAX, out) <= 512);
    names_free(n);
    lab_done(&l);
    buf_done(&lab);
    buf_done(&why);
}

static void names_of_addresses_are_read(void **state)
{
    static const struct {
        const char *host, *network;
    } cases[] = {
        {"5.0.0.30.in-addr.arpa", "30.0.0.5/32"},
        {"30.in-addr.arpa", "30.0.0.0/8"},
        {"ip6.arpa", "::/0"},
        {"1.a.2.IP6.ARPA", "2a10::/12"},
        {"in-addr.arpa.example", NULL},
        {"1..in-addr.arpa", NULL},
        {"-1.in-addr.arpa", NULL},
        {"arpa", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct network net;
        char got[NETWORK_TEXT_MAX];
        bool is_one = arpa_parse(span_str(cases[i].host), &net);
        CHECK(cases[i].host, is_one == (cases[i].network != NULL));
        if (is_one)
            assert_string_equal(network_format(&net, got), cases[i].network);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_have_names),
        cmocka_unit_test(places_and_ipv6_have_names_too),
        cmocka_unit_test(locations_are_told),
        cmocka_unit_test(there_is_no_name_and_there_is_no_such_record),
        cmocka_unit_test(other_classes_and_kinds_of_question_are_refused),
        cmocka_unit_test(an_answer_that_does_not_fit_says_so),
        cmocka_unit_test(names_of_addresses_are_read),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
