#include "test.h"

#include "base/buf.h"
#include "base/rng.h"
#include "place/registry.h"

/* ---- what a reader says, a line each ---- */

static void on_range(void *self, const struct registry_record *r)
{
    struct buf *out = self;
    char first[ADDR_TEXT_MAX], last[ADDR_TEXT_MAX];
    buf_printf(out, "%s-%s %s %s %s%s '%.*s'\n", addr_format(&r->first, first), addr_format(&r->last, last),
               r->country[0] ? r->country : "--", r->registry ? registry_name_text(r->registry) : "none",
               r->state ? registry_status_text(r->state) : "none",
               r->is_holder_ref              ? " ref"
               : r->is_opaque && r->holder.n ? " id"
                                             : "",
               SPAN_ARG(r->holder));
}

static void on_organisation(void *self, struct span id, struct span name)
{
    buf_printf(self, "organisation %.*s '%.*s'\n", SPAN_ARG(id), SPAN_ARG(name));
}

static void on_bad(void *self, uint64_t line, const char *why)
{
    buf_printf(self, "bad %llu: %s\n", (unsigned long long)line, why);
}

static status read_in_pieces(struct span text, size_t piece, struct buf *out, const char **format)
{
    struct registry_sink sink = {on_range, on_organisation, on_bad, out};
    struct registry_reader *r = registry_reader_new(&sink);
    for (size_t at = 0; at < text.n; at += piece)
        registry_reader_feed(r, span_cut(text, at, piece));
    status st = registry_reader_end(r);
    if (format)
        *format = registry_reader_format(r);
    registry_reader_free(r);
    return st;
}

static void check_text(const char *label, struct span text, const char *format, const char *want)
{
    static const size_t pieces[] = {SIZE_MAX / 2, 1, 7, 64};
    for (size_t i = 0; i < sizeof(pieces) / sizeof(*pieces); i++) {
        struct buf out = {0};
        const char *got = "";
        CHECK_STATUS(label, read_in_pieces(text, pieces[i], &out, &got), ST_OK);
        CHECK_SPAN(label, buf_span(&out), span_str(want));
        CHECK_SPAN(label, span_str(got), span_str(format));
        buf_done(&out);
    }
}

/* ---- formats ---- */

static void reads_statistics_of_the_registries(void **state)
{
    check_text("extended",
               SPAN("2.3|apnic|20190909|300||20190906|+1000\n"
                    "# a comment\n"
                    "apnic|*|asn|*|100|summary\n"
                    "apnic|*|ipv4|*|100|summary\n"
                    "apnic|JP|asn|173|1|20020801|allocated|A91E66F2\n"
                    "apnic|AU|ipv4|1.0.0.0|256|20110811|assigned|A9173591\n"
                    "apnic|CN|ipv4|1.0.2.0|768|20110414|allocated|A92E1062\n"
                    "apnic||ipv4|1.2.0.0|256||reserved|\n"
                    "\n"
                    "apnic|jp|ipv6|2001:0200::|35|19990813|allocated|A92D9378|more|fields\n"
                    "lacnic||ipv4|24.152.4.0|1024||available\n"
                    "afrinic|ZZ|ipv4|41.57.84.0|1024||available|x\n"
                    "iana|ZZ|ipv6|2001:0000::|23|19990701|available|iana|iana\n"
                    "elsewhere|*|ipv4|9.0.0.0|16777216|19880223|legacy|id\r\n"
                    "ripencc|NL|ipv4|255.255.255.255|1|19880223|allocated|a-b"),
               "rir-extended",
               "1.0.0.0-1.0.0.255 AU apnic assigned id 'A9173591'\n"
               "1.0.2.0-1.0.4.255 CN apnic allocated id 'A92E1062'\n"
               "1.2.0.0-1.2.0.255 -- apnic reserved ''\n"
               "2001:200::-2001:200:1fff:ffff:ffff:ffff:ffff:ffff JP apnic allocated id 'A92D9378'\n"
               "24.152.4.0-24.152.7.255 -- lacnic available ''\n"
               "41.57.84.0-41.57.87.255 -- afrinic available ''\n"
               "2001::-2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff -- iana available ''\n"
               "9.0.0.0-9.255.255.255 -- other legacy id 'id'\n"
               "255.255.255.255-255.255.255.255 NL ripencc allocated id 'a-b'\n");
    check_text("not extended",
               SPAN("2|arin|20130812|72419|19700101|20130812|-0400\n"
                    "arin|US|ipv4|3.0.0.0|16777216|19880223|assigned\n"),
               "rir", "3.0.0.0-3.255.255.255 US arin assigned ''\n");
    check_text("without a version line", SPAN("arin|US|ipv4|3.0.0.0|16777216|19880223|assigned\n"), "rir",
               "3.0.0.0-3.255.255.255 US arin assigned ''\n");
}

static void tells_bad_lines_of_statistics(void **state)
{
    check_text("bad",
               SPAN("2|arin|20130812|72419|19700101|20130812|-0400\n"
                    "arin|US|ipv4|3.0.0.0\n"
                    "arin|US|ipv4|3.0.0|256|19880223|assigned\n"
                    "arin|US|ipv4|3.0.0.0|0|19880223|assigned\n"
                    "arin|US|ipv4|3.0.0.0|x|19880223|assigned\n"
                    "arin|US|ipv4|255.255.255.0|257|19880223|assigned\n"
                    "arin|US|ipv4|2001:200::|256|19880223|assigned\n"
                    "arin|US|ipv6|2001:200::|129|19880223|assigned\n"
                    "arin|US|ipv6|2001:200::1|32|19880223|assigned\n"
                    "arin|USA|ipv4|3.0.0.0|256|19880223|assigned\n"
                    "arin|US|ipv5|3.0.0.0|256|19880223|assigned\n"
                    "arin|US|ipv4|3.0.0.0|256|19880223|stolen\n"
                    "inetnum: 10.0.0.0 - 10.0.0.255\n"
                    "arin|US|ipv4|0.0.0.0|4294967296|19880223|assigned\n"
                    "arin|US|ipv6|::|0|19880223|assigned\n"),
               "rir",
               "bad 2: too few fields\n"
               "bad 3: no address of that type\n"
               "bad 4: no count of addresses\n"
               "bad 5: no count of addresses\n"
               "bad 6: no count of addresses\n"
               "bad 7: no address of that type\n"
               "bad 8: no length of a prefix\n"
               "bad 9: the address has bits behind its prefix\n"
               "bad 10: no country code\n"
               "bad 11: neither ipv4 nor ipv6 nor asn\n"
               "bad 12: no status known\n"
               "bad 13: too few fields\n"
               "0.0.0.0-255.255.255.255 US arin assigned ''\n"
               "::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff US arin assigned ''\n");
}

static void reads_objects(void **state)
{
    check_text("rpsl",
               SPAN("% comment\n"
                    "# another\n"
                    "\n"
                    "person:  Somebody\n"
                    "address: nowhere\n"
                    "         at all\n"
                    "this line is nobody's, in an object that is not looked at\n"
                    "\n"
                    "inetnum:  192.0.2.0 - 192.0.2.255\n"
                    "netname:  EXAMPLE-NET\n"
                    "descr:    Example Networks # not this\n"
                    "descr:    nor this\n"
                    "% nor this\n"
                    "country:  nl # Netherlands\n"
                    "country:  DE\n"
                    "org:      ORG-EX1-RIPE\n"
                    "status:   ASSIGNED PA\n"
                    "source:   RIPE # Filtered\n"
                    "\n"
                    "inetnum:  198.51.100.0-198.51.100.127\n"
                    "descr:    A name in\n"
                    "          several lines,\n"
                    "\ta tab\n"
                    "+\n"
                    "+and a plus\n"
                    "netname:  X\n"
                    "status:   SUB-ALLOCATED PA\n"
                    "source:   APNIC\n"
                    "\n\n"
                    "inet6num: 2001:db8::/32\n"
                    "netname:  SIX\n"
                    "source:   AFRINIC\n"
                    "status:   legacy\n"
                    " \n"
                    "inetnum:    24.232.16/24\n"
                    "status:     reallocated\n"
                    "owner:      Fundaci\xF3n\n"
                    "country:    AR\n"
                    "source:     LACNIC\n"
                    "\n"
                    "net:      203.0.113.0/24\n"
                    "country:  JP\n"
                    "aut-num:  AS64500\n"
                    "\n"
                    "net:      203.0.113.7\n"
                    "aut-num:  64501\n"
                    "\n"
                    "organisation: org-ex1-ripe\n"
                    "org-name:     Example\n"
                    "              Organisation\n"
                    "source:       RIPE\n"
                    "\n"
                    "inetnum:  0.0.0.0 - 255.255.255.255\n"
                    "netname:  IANA-BLK\n"
                    "\n"
                    "*xxnum:   10.0.0.0 - 10.0.0.255\n"
                    "\n"
                    "INETNUM:  10.0.0.0 > 10.0.0.255"),
               "rpsl",
               "192.0.2.0-192.0.2.255 NL ripencc assigned ref 'ORG-EX1-RIPE'\n"
               "198.51.100.0-198.51.100.127 -- apnic allocated 'A name in several lines, a tab and a plus'\n"
               "2001:db8::-2001:db8:ffff:ffff:ffff:ffff:ffff:ffff -- afrinic legacy 'SIX'\n"
               "24.232.16.0-24.232.16.255 AR lacnic allocated 'Fundación'\n"
               "203.0.113.0-203.0.113.255 JP none none 'AS64500'\n"
               "203.0.113.7-203.0.113.7 -- none none 'AS64501'\n"
               "organisation org-ex1-ripe 'Example Organisation'\n"
               "10.0.0.0-10.0.0.255 -- none none ''\n");
}

static void tells_bad_lines_of_objects(void **state)
{
    check_text("bad rpsl",
               SPAN("inetnum: 192.0.2.0 - 192.0.1.255\n"
                    "country: NL\n"
                    "\n"
                    "  a continuation\n"
                    "not an attribute\n"
                    "\n"
                    "inetnum: 192.0.2.0 - 192.0.2.255\n"
                    "country: Nederland\n"
                    "what is this\n"
                    "source: RIPE\n"
                    "\n"
                    "organisation: ORG-1\n"
                    "\n"
                    "inetnum:\n"),
               "rpsl",
               "bad 1: no range of addresses\n"
               "bad 4: a continuation of nothing\n"
               "bad 5: no attribute: no name and colon\n"
               "bad 9: no attribute: no name and colon\n"
               "bad 7: no country code: the network is taken without\n"
               "192.0.2.0-192.0.2.255 -- ripencc none ''\n"
               "bad 12: an organisation without a name\n"
               "bad 14: no range of addresses\n");
}

static void reads_tables(void **state)
{
    check_text("with a head",
               SPAN("prefix\tcountry\tholder\n"
                    "10.0.0.0/8\tUS\tExample, Inc.\n"
                    "2001:db8::/32\t\tSix\n"
                    "10.1.2.3\tde\n"
                    "10.0.0.0-10.0.0.9\tGR\tTen\n"
                    "10.0.1.0/24\n"),
               "plain",
               "10.0.0.0-10.255.255.255 US none none 'Example, Inc.'\n"
               "2001:db8::-2001:db8:ffff:ffff:ffff:ffff:ffff:ffff -- none none 'Six'\n"
               "10.1.2.3-10.1.2.3 DE none none ''\n"
               "10.0.0.0-10.0.0.9 GR none none 'Ten'\n"
               "10.0.1.0-10.0.1.255 -- none none ''\n");
    check_text("four columns",
               SPAN("# networks\n"
                    "1.0.0.0/8\tAU\t\t\n"
                    "1.0.0.0/24\tAU\t13335\tis-anycast\n"
                    "2001::/32\t\t6939\t\n"
                    "1.0.1.0/24\tCN\t0\t\n"),
               "plain",
               "1.0.0.0-1.255.255.255 AU none none ''\n"
               "1.0.0.0-1.0.0.255 AU none none 'AS13335'\n"
               "2001::-2001:0:ffff:ffff:ffff:ffff:ffff:ffff -- none none 'AS6939'\n"
               "1.0.1.0-1.0.1.255 CN none none ''\n");
    check_text("bad",
               SPAN("10.0.0.0/24\tUS\tA\n"
                    "prefix\tcountry\tholder\n"
                    "10.0.0.0/33\tUS\tB\n"
                    "10.0.0.1/24\tUS\tC\n"
                    "10.0.1.0/24\tUSA\tD\n"
                    "\xEF\xBB\xBF"
                    "10.0.2.0/24\tUS\tE\n"),
               "plain",
               "10.0.0.0-10.0.0.255 US none none 'A'\n"
               "bad 2: no range of addresses\n"
               "bad 3: no range of addresses\n"
               "bad 4: no range of addresses\n"
               "bad 5: no country code\n"
               "bad 6: no range of addresses\n");
}

static void reads_the_table_of_iana(void **state)
{
    check_text("iana",
               SPAN("\xEF\xBB\xBFPrefix,Designation,Date,WHOIS,RDAP,Status [1],Note\r\n"
                    "000/8,IANA - Local Identification,1981-09,,,RESERVED,[2][2bis]\r\n"
                    "003/8,Administered by ARIN,1994-05,whois.arin.net,\"https://rdap.arin.net/registry\r\n"
                    "http://rdap.arin.net/registry\",LEGACY,\r\n"
                    "012/8,\"AT&T, Bell \"\"Labs\"\"\",1995-06,,,LEGACY,\r\n"
                    "2001:0200::/23,APNIC,1999,,,ALLOCATED,\r\n"
                    "300/8,Nobody,,,,ALLOCATED,\r\n"
                    "045/8,\"Open,1995-06\r\n"
                    "046/8,RIPE NCC,,,,ALLOCATED,\r\n"),
               "csv",
               "0.0.0.0-0.255.255.255 -- iana reserved ''\n"
               "3.0.0.0-3.255.255.255 -- iana legacy 'ARIN'\n"
               "12.0.0.0-12.255.255.255 -- iana legacy 'AT&T, Bell \"\"Labs\"\"'\n"
               "2001:200::-2001:3ff:ffff:ffff:ffff:ffff:ffff:ffff -- iana allocated 'APNIC'\n"
               "bad 7: no range of addresses\n"
               "bad 8: quotes that are never closed\n");
    check_text("other columns", SPAN("network,country,holder\n10.0.0.0/8,US,Somebody\n"), "csv",
               "10.0.0.0-10.255.255.255 US none none 'Somebody'\n");
    check_text("no head", SPAN("001/8,APNIC,2010-01,whois.apnic.net,https://rdap.apnic.net/,ALLOCATED,\n"), "csv",
               "1.0.0.0-1.255.255.255 -- iana allocated 'APNIC'\n");
}

static void says_when_it_knows_no_format(void **state)
{
    struct buf out = {0};
    const char *format;
    CHECK_STATUS("empty", read_in_pieces(SPAN(""), 9, &out, &format), ST_UNSUPPORTED);
    CHECK_STATUS("comments", read_in_pieces(SPAN("# nothing\n\n% at all\n"), 9, &out, &format), ST_UNSUPPORTED);
    assert_int_equal(out.n, 0);
    CHECK_STATUS("html", read_in_pieces(SPAN("<!DOCTYPE html>\n<title>404</title>\n"), 9, &out, &format),
                 ST_UNSUPPORTED);
    CHECK_SPAN("html", buf_span(&out), SPAN("bad 1: not like any format known\nbad 2: not like any format known\n"));
    CHECK_SPAN("format", span_str(format), SPAN(""));
    buf_clear(&out);
    struct buf many = {0};
    for (int i = 0; i < 1000; i++)
        buf_puts(&many, "what is this?\n");
    buf_puts(&many, "10.0.0.0/8\tUS\n");
    CHECK_STATUS("gives up", read_in_pieces(buf_span(&many), 100, &out, &format), ST_UNSUPPORTED);
    CHECK("tells a hundred", strstr(buf_cstr(&out), "bad 100:") && !strstr(buf_cstr(&out), "bad 101:"));
    check_text("late", SPAN("what is this?\n10.0.0.0/8\tUS\n"), "plain",
               "bad 1: not like any format known\n10.0.0.0-10.255.255.255 US none none ''\n");
    buf_done(&many);
    buf_done(&out);
}

static void skips_lines_that_are_too_long(void **state)
{
    struct buf text = {0}, out = {0};
    buf_puts(&text, "10.0.0.0/8\tUS\n10.0.0.0/9\tUS\t");
    for (size_t i = 0; i < REGISTRY_OBJECT_MAX; i++)
        buf_putc(&text, 'x');
    buf_puts(&text, "\n10.0.0.0/10\tUS\n");
    CHECK_STATUS("whole", read_in_pieces(buf_span(&text), text.n, &out, NULL), ST_OK);
    const char *want = "10.0.0.0-10.255.255.255 US none none ''\nbad 2: the line is too long\n"
                       "10.0.0.0-10.63.255.255 US none none ''\n";
    CHECK_SPAN("whole", buf_span(&out), span_str(want));
    buf_clear(&out);
    CHECK_STATUS("pieces", read_in_pieces(buf_span(&text), 4096, &out, NULL), ST_OK);
    CHECK_SPAN("pieces", buf_span(&out), span_str(want));
    buf_clear(&out);
    text.n -= 30; /* and without its end */
    CHECK_STATUS("cut", read_in_pieces(buf_span(&text), 4096, &out, NULL), ST_OK);
    buf_clear(&out);
    buf_clear(&text);
    /* A quote that opens a gigabyte. */
    buf_puts(&text, "Prefix,Designation\n001/8,\"");
    for (size_t i = 0; i < REGISTRY_OBJECT_MAX / 8; i++)
        buf_puts(&text, "1234567\n89");
    CHECK_STATUS("quote", read_in_pieces(buf_span(&text), 4096, &out, NULL), ST_OK);
    CHECK("quote", strstr(buf_cstr(&out), "bad 2: quotes that are never closed"));
    buf_done(&text);
    buf_done(&out);
}

/* ---- real files ---- */

static void reads_excerpts_of_all_registries(void **state)
{
    static const struct {
        const char *file;
        unsigned ranges, organisations;
    } cases[] = {
        {"afrinic-extended.txt", 200, 0}, {"apnic-extended.txt", 200, 0},
        {"arin-extended.txt", 200, 0},    {"iana.txt", 12, 0},
        {"lacnic-extended.txt", 200, 0},  {"ripencc-extended.txt", 200, 0},
        {"rpsl-ripe-TEST.db", 10, 5},     {"rpsl-afrinic.test.txt", 2, 0},
        {"rpsl-lacnic.test.txt", 2, 0},   {"rpsl-ripe.test.txt", 0, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct buf out = {0}, path = {0};
        buf_printf(&path, TEST_DATA "/registry/%s", cases[i].file);
        struct span text = test_read_file(buf_cstr(&path)), rest, line;
        CHECK_STATUS(cases[i].file, read_in_pieces(text, 1000, &out, NULL), ST_OK);
        unsigned lines = 0, organisations = 0;
        rest = buf_span(&out);
        while (span_split(&rest, '\n', &line)) {
            if (span_starts(line, SPAN("bad ")))
                fail_msg("%s: %.*s", cases[i].file, SPAN_ARG(line));
            organisations += span_starts(line, SPAN("organisation "));
            lines += line.n > 0;
        }
        if (lines - organisations != cases[i].ranges || organisations != cases[i].organisations)
            fail_msg("%s: %u ranges, %u organisations", cases[i].file, lines - organisations, organisations);
        buf_done(&out);
        buf_done(&path);
        free((char *)(uintptr_t)text.p);
    }
}

/* ---- nonsense ---- */

static void any_bytes_are_read_the_same_in_any_pieces(void **state)
{
    static const char *const parts[] = {
        "2.3|apnic|20190909|300||20190906|+1000\n",
        "apnic|JP|ipv4|1.0.0.0|256|2011|assigned|A9\n",
        "inetnum: 10.0.0.0 - 10.0.0.255\n",
        "org: X\n",
        "organisation: X\n",
        "org-name: Y\n",
        "\n",
        "\r\n",
        "+ more\n",
        "\t",
        "|",
        ":",
        "\"",
        ",",
        "10.0.0.0/8",
        "2001:db8::/32",
        "\xFF",
        "# c\n",
        "Prefix,Designation,Status\n",
        "001/8,A,LEGACY\n",
        "US",
        "net: 1.2.3.0/24\n",
        "prefix\tcountry\n",
        "0/0",
        "-",
    };
    struct rng rng;
    rng_seed(&rng, 7);
    for (int round = 0; round < 3000; round++) {
        struct buf text = {0}, whole = {0}, pieces = {0};
        for (uint64_t k = rng_below(&rng, 40); k > 0; k--)
            buf_puts(&text, parts[rng_below(&rng, sizeof(parts) / sizeof(*parts))]);
        status a = read_in_pieces(buf_span(&text), SIZE_MAX / 2, &whole, NULL);
        status b = read_in_pieces(buf_span(&text), 1 + rng_below(&rng, 20), &pieces, NULL);
        CHECK_STATUS("pieces", a, b);
        CHECK_SPAN("pieces", buf_span(&pieces), buf_span(&whole));
        buf_done(&text);
        buf_done(&whole);
        buf_done(&pieces);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_statistics_of_the_registries),
        cmocka_unit_test(tells_bad_lines_of_statistics),
        cmocka_unit_test(reads_objects),
        cmocka_unit_test(tells_bad_lines_of_objects),
        cmocka_unit_test(reads_tables),
        cmocka_unit_test(reads_the_table_of_iana),
        cmocka_unit_test(says_when_it_knows_no_format),
        cmocka_unit_test(skips_lines_that_are_too_long),
        cmocka_unit_test(reads_excerpts_of_all_registries),
        cmocka_unit_test(any_bytes_are_read_the_same_in_any_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
