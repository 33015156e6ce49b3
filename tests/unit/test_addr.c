#include "test.h"

#include "place/addr.h"

static struct addr parse(const char *text)
{
    struct addr a = {0};
    CHECK_STATUS(text, addr_parse(span_str(text), &a), ST_OK);
    return a;
}

static void reads_and_writes_addresses(void **state)
{
    static const struct {
        const char *text, *canonical; /* NULL: not an address */
    } cases[] = {
        {"192.0.2.1", "192.0.2.1"},
        {"0.0.0.0", "0.0.0.0"},
        {"255.255.255.255", "255.255.255.255"},
        {"192.0.2.256", NULL},
        {"192.0.2", NULL},
        {"192.0.2.1.", NULL},
        {"192.0.2.1.1", NULL},
        {"192.0.02.1", NULL},
        {"0x7f.0.0.1", NULL},
        {"2130706433", NULL},
        {"192.0.2.1 ", NULL},
        {" 192.0.2.1", NULL},
        {"192.0..1", NULL},
        {"[192.0.2.1]", NULL},
        {"1234.0.0.1", NULL},
        {"", NULL},
        {"[]", NULL},
        {"::", "::"},
        {"::1", "::1"},
        {"[::1]", "::1"},
        {"[::1", NULL},
        {"::1]", NULL},
        {"1::", "1::"},
        {"2001:DB8::0:1", "2001:db8::1"},
        {"2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"},
        {"2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"},
        {"2001:0:0:1:0:0:0:1", "2001:0:0:1::1"},
        {"0:0:0:0:0:0:0:0", "::"},
        {"1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"},
        {"1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"},
        {"::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"},
        {"1:2:3:4:5:6:7:8:9", NULL},
        {"1:2:3:4:5:6:7", NULL},
        {"1:2:3:4::5:6:7:8", NULL},
        {"1::2::3", NULL},
        {":::", NULL},
        {":1", NULL},
        {"1:", NULL},
        {"1:2:3:4:5:6:7:8:", NULL},
        {":", NULL},
        {"12345::", NULL},
        {"g::", NULL},
        {"fe80::1%eth0", NULL},
        {"::ffff:192.0.2.1", "::ffff:192.0.2.1"},
        {"::ffff:c000:201", "::ffff:192.0.2.1"},
        {"::192.0.2.1", "::c000:201"},
        {"64:ff9b::192.0.2.1", "64:ff9b::c000:201"},
        {"1:2:3:4:5:6:192.0.2.1", "1:2:3:4:5:6:c000:201"},
        {"1:2:3:4:5:6:7:192.0.2.1", NULL},
        {"::192.0.2.1:1", NULL},
        {"::192.0.2", NULL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct addr a = {.family = 99};
        char text[ADDR_TEXT_MAX];
        status st = addr_parse(span_str(cases[i].text), &a);
        CHECK_STATUS(cases[i].text, st, cases[i].canonical ? ST_OK : ST_INVALID);
        if (st != ST_OK)
            CHECK(cases[i].text, a.family == 99);
        else
            CHECK_SPAN(cases[i].text, span_str(addr_format(&a, text)), span_str(cases[i].canonical));
    }
}

static void classifies_every_special_range(void **state)
{
    static const struct {
        const char *text;
        addr_class want;
    } cases[] = {
        {"0.0.0.0", ADDR_RESERVED},
        {"0.255.255.255", ADDR_RESERVED},
        {"1.0.0.0", ADDR_PUBLIC},
        {"9.255.255.255", ADDR_PUBLIC},
        {"10.0.0.0", ADDR_PRIVATE},
        {"10.255.255.255", ADDR_PRIVATE},
        {"11.0.0.0", ADDR_PUBLIC},
        {"100.63.255.255", ADDR_PUBLIC},
        {"100.64.0.0", ADDR_RESERVED},
        {"100.127.255.255", ADDR_RESERVED},
        {"100.128.0.0", ADDR_PUBLIC},
        {"126.255.255.255", ADDR_PUBLIC},
        {"127.0.0.1", ADDR_LOOPBACK},
        {"127.255.255.255", ADDR_LOOPBACK},
        {"128.0.0.0", ADDR_PUBLIC},
        {"169.253.255.255", ADDR_PUBLIC},
        {"169.254.169.254", ADDR_LINK_LOCAL},
        {"169.255.0.0", ADDR_PUBLIC},
        {"172.15.255.255", ADDR_PUBLIC},
        {"172.16.0.0", ADDR_PRIVATE},
        {"172.31.255.255", ADDR_PRIVATE},
        {"172.32.0.0", ADDR_PUBLIC},
        {"191.255.255.255", ADDR_PUBLIC},
        {"192.0.0.0", ADDR_RESERVED},
        {"192.0.0.255", ADDR_RESERVED},
        {"192.0.1.0", ADDR_PUBLIC},
        {"192.0.2.1", ADDR_RESERVED},
        {"192.0.3.0", ADDR_PUBLIC},
        {"192.88.99.1", ADDR_RESERVED},
        {"192.88.100.0", ADDR_PUBLIC},
        {"192.167.255.255", ADDR_PUBLIC},
        {"192.168.0.0", ADDR_PRIVATE},
        {"192.168.255.255", ADDR_PRIVATE},
        {"192.169.0.0", ADDR_PUBLIC},
        {"198.17.255.255", ADDR_PUBLIC},
        {"198.18.0.0", ADDR_RESERVED},
        {"198.19.255.255", ADDR_RESERVED},
        {"198.20.0.0", ADDR_PUBLIC},
        {"198.51.100.7", ADDR_RESERVED},
        {"203.0.113.7", ADDR_RESERVED},
        {"223.255.255.255", ADDR_PUBLIC},
        {"224.0.0.1", ADDR_RESERVED},
        {"239.255.255.255", ADDR_RESERVED},
        {"240.0.0.0", ADDR_RESERVED},
        {"255.255.255.255", ADDR_RESERVED},
        {"::", ADDR_RESERVED},
        {"::1", ADDR_LOOPBACK},
        {"::2", ADDR_RESERVED},
        {"::10.1.2.3", ADDR_PRIVATE}, /* v4-compatible */
        {"::8.8.8.8", ADDR_PUBLIC},
        {"::ffff:127.0.0.1", ADDR_LOOPBACK}, /* v4-mapped */
        {"::ffff:10.0.0.1", ADDR_PRIVATE},
        {"::ffff:169.254.0.1", ADDR_LINK_LOCAL},
        {"::ffff:0.0.0.0", ADDR_RESERVED},
        {"::ffff:224.0.0.1", ADDR_RESERVED},
        {"::ffff:8.8.8.8", ADDR_PUBLIC},
        {"::ffff:0:127.0.0.1", ADDR_RESERVED}, /* v4-translated */
        {"64:ff9b::127.0.0.1", ADDR_LOOPBACK}, /* NAT64 */
        {"64:ff9b::192.168.0.1", ADDR_PRIVATE},
        {"64:ff9b::8.8.8.8", ADDR_PUBLIC},
        {"64:ff9b:1::8.8.8.8", ADDR_PRIVATE}, /* NAT64 of the operator */
        {"64:ff9b:1:ffff:ffff:ffff:ffff:ffff", ADDR_PRIVATE},
        {"64:ff9b:2::1", ADDR_RESERVED},
        {"64:ff9b:0:1::1", ADDR_RESERVED},
        {"100::1", ADDR_RESERVED},
        {"2000::1", ADDR_PUBLIC},
        {"2001:0:4136:e378:8000:63bf:3fff:fdd2", ADDR_RESERVED}, /* Teredo: public server, client 192.0.2.45 */
        {"2001:0:4136:e378:8000:63bf:f7f7:f7f7", ADDR_PUBLIC},   /* client 8.8.8.8 */
        {"2001:0:0a00:0001:8000:63bf:f7f7:f7f7", ADDR_PRIVATE},  /* server 10.0.0.1 */
        {"2001:0:4136:e378:8000:63bf:80ff:fffe", ADDR_LOOPBACK}, /* client 127.0.0.1 */
        {"2001:0:e000:0001:8000:63bf:80ff:fffe", ADDR_RESERVED}, /* server multicast, client loopback */
        {"2001:2::1", ADDR_RESERVED},
        {"2001:10::1", ADDR_RESERVED},
        {"2001:20::1", ADDR_RESERVED},
        {"2001:1ff:ffff::1", ADDR_RESERVED},
        {"2001:200::1", ADDR_PUBLIC},
        {"2001:db7::1", ADDR_PUBLIC},
        {"2001:db8::1", ADDR_RESERVED},
        {"2001:db9::1", ADDR_PUBLIC},
        {"2002:7f00:1::1", ADDR_LOOPBACK}, /* 6to4 */
        {"2002:a00:1::1", ADDR_PRIVATE},
        {"2002:a9fe:a9fe::1", ADDR_LINK_LOCAL},
        {"2002:e000:1::1", ADDR_RESERVED},
        {"2002:808:808::1", ADDR_PUBLIC},
        {"2606:4700::1111", ADDR_PUBLIC},
        {"3ffe:ffff::1", ADDR_PUBLIC},
        {"3fff::1", ADDR_RESERVED},
        {"3fff:fff:ffff::1", ADDR_RESERVED},
        {"3fff:1000::1", ADDR_PUBLIC},
        {"4000::1", ADDR_RESERVED},
        {"5f00::1", ADDR_RESERVED},
        {"fbff::1", ADDR_RESERVED},
        {"fc00::1", ADDR_PRIVATE},
        {"fdff:ffff::1", ADDR_PRIVATE},
        {"fe00::1", ADDR_RESERVED},
        {"fe80::1", ADDR_LINK_LOCAL},
        {"febf:ffff::1", ADDR_LINK_LOCAL},
        {"fec0::1", ADDR_PRIVATE},
        {"ff02::1", ADDR_RESERVED},
        {"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ADDR_RESERVED},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct addr a = parse(cases[i].text);
        addr_class got = addr_classify(&a);
        if (got != cases[i].want)
            fail_msg("%s: %s, want %s", cases[i].text, addr_class_name(got), addr_class_name(cases[i].want));
    }
    struct addr none = {0};
    assert_int_equal(addr_classify(&none), ADDR_RESERVED);
}

static void takes_mapped_addresses_apart(void **state)
{
    struct addr mapped = parse("::ffff:192.0.2.1"), plain = parse("192.0.2.1"), six = parse("2001:db8::1");
    struct addr got = addr_unmapped(&mapped);
    assert_true(addr_eq(&got, &plain));
    got = addr_unmapped(&six);
    assert_true(addr_eq(&got, &six));
    assert_false(addr_eq(&mapped, &plain));
}

static void finds_the_network_of_an_address(void **state)
{
    static const struct {
        const char *addr, *network;
    } cases[] = {
        {"192.0.2.77", "192.0.2.0/24"},
        {"255.255.255.255", "255.255.255.0/24"},
        {"2001:db8:1:2:3:4:5:6", "2001:db8:1::/48"},
        {"::1", "::/48"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct addr a = parse(cases[i].addr);
        struct network n = addr_network(&a), back;
        char text[NETWORK_TEXT_MAX];
        CHECK_SPAN(cases[i].addr, span_str(network_format(&n, text)), span_str(cases[i].network));
        CHECK(cases[i].addr, network_has(&n, &a));
        CHECK_STATUS(cases[i].addr, network_parse(span_str(text), &back), ST_OK);
        CHECK(cases[i].addr, network_eq(&n, &back));
    }
}

static void a_network_may_be_meant_in_parts(void **state)
{
    static const struct {
        const char *text;
        uint16_t parts; /* 0: none of this */
    } cases[] = {{"192.0.2.0/24#00ff", 0xff}, {"2001:db8::/32#8001", 0x8001}, {"192.0.2.0/24#0000", 0},
                 {"192.0.2.0/24#00FF", 0},    {"192.0.2.0/24#ff", 0},         {"192.0.2.0/24#", 0},
                 {"192.0.2.0/24#000ff", 0},   {"192.0.2.0#00ff", 0},          {"#00ff", 0}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct network n, all;
        char text[NETWORK_TEXT_MAX];
        CHECK_STATUS(cases[i].text, network_parse(span_str(cases[i].text), &n), cases[i].parts ? ST_OK : ST_INVALID);
        if (!cases[i].parts)
            continue;
        assert_int_equal(n.parts, cases[i].parts);
        CHECK_SPAN(cases[i].text, span_str(network_format(&n, text)), span_str(cases[i].text));
        all = n;
        all.parts = 0;
        CHECK(cases[i].text, !network_eq(&n, &all) && network_has(&n, &n.first));
    }
    struct network longest;
    char text[NETWORK_TEXT_MAX];
    struct span most = SPAN("fd00:1111:2222:3333:4444:5555:6666:7777/128#ffff");
    CHECK_STATUS("longest", network_parse(most, &longest), ST_OK);
    CHECK_SPAN("longest", span_str(network_format(&longest, text)), most);
}

static void reads_prefixes_strictly(void **state)
{
    static const struct {
        const char *text, *inside, *outside; /* inside NULL: no prefix */
    } cases[] = {
        {"10.0.0.0/8", "10.255.0.1", "11.0.0.0"},
        {"10.0.0.0/07", NULL, NULL},
        {"10.0.0.1/8", NULL, NULL},
        {"10.0.0.0/33", NULL, NULL},
        {"10.0.0.0/", NULL, NULL},
        {"10.0.0.0", NULL, NULL},
        {"/8", NULL, NULL},
        {"", NULL, NULL},
        {"10.0.0.0/8 ", NULL, NULL},
        {"[::]/0", NULL, NULL},
        {"0.0.0.0/0", "255.1.2.3", "::1"},
        {"192.0.2.1/32", "192.0.2.1", "192.0.2.0"},
        {"172.16.0.0/12", "172.31.255.255", "172.32.0.0"},
        {"::/0", "ffff::1", "1.2.3.4"},
        {"2001:db8::/33", "2001:db8:7fff::1", "2001:db8:8000::1"},
        {"2001:db8::1/128", "2001:db8::1", "2001:db8::2"},
        {"2001:db8::/129", NULL, NULL},
        {"2001:db8::1/127", NULL, NULL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct network n;
        CHECK_STATUS(cases[i].text, network_parse(span_str(cases[i].text), &n), cases[i].inside ? ST_OK : ST_INVALID);
        if (!cases[i].inside)
            continue;
        struct addr in = parse(cases[i].inside), out = parse(cases[i].outside);
        CHECK(cases[i].text, network_has(&n, &in));
        CHECK(cases[i].text, !network_has(&n, &out));
    }
}

static void knows_the_bad_ports(void **state)
{
    static const int bad[] = {-1,   0,    1,    7,    19,   22,   25,   53,   110,   143,
                              465,  587,  636,  989,  995,  1720, 2049, 3659, 4045,  4190,
                              5060, 5061, 6000, 6566, 6665, 6669, 6679, 6697, 10080, 65536};
    static const int good[] = {2, 80, 81, 443, 3000, 3306, 5432, 6001, 6670, 8000, 8080, 8443, 10081, 65535};
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        if (!port_is_bad(bad[i]))
            fail_msg("port %d is allowed", bad[i]);
    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
        if (port_is_bad(good[i]))
            fail_msg("port %d is refused", good[i]);
    int count = 0;
    for (int i = 1; i < 65536; i++)
        count += port_is_bad(i);
    assert_int_equal(count, 82); /* the Fetch Standard lists these and 0 */
}

static void a_name_is_at_home_at_one_address_in_whatever_order_they_come(void **state)
{
    static const struct {
        const char *list, *home;
    } cases[] = {{"192.88.99.1", "192.88.99.1"},
                 {"93.184.216.34 93.184.215.14", "93.184.215.14"},
                 {"93.184.215.14 93.184.216.34", "93.184.215.14"},
                 {"2606:2800::1 93.184.216.34", "93.184.216.34"},
                 {"10.0.0.1 93.184.216.34 127.0.0.1", "93.184.216.34"},
                 {"10.0.0.1 2606:2800::1", "2606:2800::1"},
                 {"2606:2800::2 2606:2800::1", "2606:2800::1"},
                 {"127.0.0.2 127.0.0.1", "127.0.0.1"},
                 {"::ffff:93.184.215.14 93.184.216.34", "93.184.215.14"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct addr list[4], home;
        struct span rest = span_str(cases[i].list), one;
        char text[ADDR_TEXT_MAX];
        size_t n = 0;
        while (rest.n && span_split(&rest, ' ', &one))
            CHECK_STATUS(cases[i].list, addr_parse(one, &list[n++]), ST_OK);
        home = addr_home(list, n);
        CHECK_SPAN(cases[i].list, span_str(addr_format(&home, text)), span_str(cases[i].home));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_and_writes_addresses),
        cmocka_unit_test(classifies_every_special_range),
        cmocka_unit_test(takes_mapped_addresses_apart),
        cmocka_unit_test(finds_the_network_of_an_address),
        cmocka_unit_test(a_network_may_be_meant_in_parts),
        cmocka_unit_test(reads_prefixes_strictly),
        cmocka_unit_test(knows_the_bad_ports),
        cmocka_unit_test(a_name_is_at_home_at_one_address_in_whatever_order_they_come),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
