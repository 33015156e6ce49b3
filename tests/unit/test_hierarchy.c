#include "test.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/rng.h"
#include "codec/digest.h"
#include "place/hierarchy.h"
#include "place/hierarchy_build.h"

__extension__ typedef unsigned __int128 wide;

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || !defined(__OPTIMIZE__)
#define LOOKUPS_IN_ALL 50000u
#else
#define LOOKUPS_IN_ALL 1000000u
#endif

/* ---- making hierarchies ---- */

struct made {
    struct buf bytes;
    struct hierarchy *h;
    struct hierarchy_figures figures;
};

static struct addr parse(const char *text)
{
    struct addr a = {0};
    CHECK_STATUS(text, addr_parse(span_str(text), &a), ST_OK);
    return a;
}

static struct addr addr_at(unsigned family, wide v)
{
    struct addr a = {.family = (uint8_t)family};
    size_t n = family == 4 ? 4 : 16;
    for (size_t i = 0; i < n; i++)
        a.b[i] = (uint8_t)(v >> (8 * (n - 1 - i)));
    return a;
}

static void add(struct hierarchy_builder *b, const char *first, const char *last, const char *country,
                const char *holder)
{
    struct registry_record r = {.first = parse(first), .last = parse(last), .holder = span_str(holder)};
    memcpy(r.country, country, strlen(country));
    CHECK_STATUS(first, hierarchy_builder_add(b, &r), ST_OK);
}

static struct made finish(struct hierarchy_builder *b)
{
    struct made m = {0};
    struct buf why = {0};
    CHECK_STATUS("finish", hierarchy_builder_finish(b, SPAN("from=test\n"), &m.bytes, &m.figures), ST_OK);
    hierarchy_builder_free(b);
    CHECK_STATUS("open", hierarchy_open(buf_span(&m.bytes), &m.h, &why), ST_OK);
    if (hierarchy_check(m.h, &why) != ST_OK)
        fail_msg("check: %s", buf_cstr(&why));
    buf_done(&why);
    return m;
}

static void made_done(struct made *m)
{
    hierarchy_free(m->h);
    buf_done(&m->bytes);
}

static void check_node(const struct hierarchy *h, uint32_t node, const char *want)
{
    struct hierarchy_node n;
    char first[ADDR_TEXT_MAX], last[ADDR_TEXT_MAX];
    struct buf got = {0};
    hierarchy_get(h, node, &n);
    buf_printf(&got, "%s-%s parent %u end %u depth %u %s %s %s '%.*s'", addr_format(&n.first, first),
               addr_format(&n.last, last), n.parent, n.end, n.depth, n.country, registry_name_text(n.registry),
               registry_status_text(n.state), SPAN_ARG(hierarchy_holder_name(h, n.holder)));
    CHECK_SPAN("node", buf_span(&got), span_str(want));
    CHECK("parts", hierarchy_parent(h, node) == n.parent && hierarchy_end(h, node) == n.end &&
                       hierarchy_holder(h, node) == n.holder);
    buf_done(&got);
}

/* ---- by hand ---- */

static void nests_ranges_by_containment(void **state)
{
    struct hierarchy_builder *b = hierarchy_builder_new();
    add(b, "17.0.0.0", "17.0.0.255", "", "");
    add(b, "15.10.0.7", "15.10.0.7", "GR", "");
    add(b, "14.0.0.0", "16.255.255.255", "", "");
    add(b, "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "NL", "Example");
    add(b, "12.0.0.0", "18.255.255.255", "US", "Example, Inc.");
    add(b, "14.1.0.0", "14.1.255.255", "", "");
    struct made m = finish(b);
    assert_int_equal(hierarchy_count(m.h), 6);
    assert_int_equal(hierarchy_height(m.h), 3);
    check_node(m.h, 1, "12.0.0.0-18.255.255.255 parent 0 end 6 depth 1 US   'Example'");
    check_node(m.h, 2, "14.0.0.0-16.255.255.255 parent 1 end 5 depth 2    ''");
    check_node(m.h, 3, "14.1.0.0-14.1.255.255 parent 2 end 4 depth 3    ''");
    check_node(m.h, 4, "15.10.0.7-15.10.0.7 parent 2 end 5 depth 3 GR   ''");
    check_node(m.h, 5, "17.0.0.0-17.0.0.255 parent 1 end 6 depth 2    ''");
    check_node(m.h, 6, "2001:db8::-2001:db8:ffff:ffff:ffff:ffff:ffff:ffff parent 0 end 7 depth 1 NL   'Example'");
    check_node(m.h, 0, "none-none parent 0 end 7 depth 0    ''");
    check_node(m.h, 7, "none-none parent 0 end 7 depth 0    ''");
    struct {
        const char *ip;
        uint32_t lookup, network;
    } cases[] = {
        {"11.255.255.255", 0, 0}, {"12.0.0.0", 1, 1},   {"14.1.2.3", 3, 3}, {"15.10.0.7", 4, 2},
        {"15.10.0.8", 2, 2},      {"17.0.1.0", 1, 1},   {"19.0.0.0", 0, 0}, {"::ffff:14.1.2.3", 3, 3},
        {"2001:db8::1", 6, 6},    {"2001:db9::", 0, 0}, {"::", 0, 0},       {"255.255.255.255", 0, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct addr a = parse(cases[i].ip);
        if (hierarchy_lookup(m.h, &a) != cases[i].lookup || hierarchy_network(m.h, &a) != cases[i].network)
            fail_msg("%s: lookup %u, network %u", cases[i].ip, hierarchy_lookup(m.h, &a), hierarchy_network(m.h, &a));
    }
    CHECK_SPAN("origin", hierarchy_origin(m.h), SPAN("from=test\n"));
    made_done(&m);
}

static void gives_cells_that_never_overlap(void **state)
{
    struct hierarchy_builder *b = hierarchy_builder_new();
    add(b, "10.0.0.0", "10.255.255.255", "", "");
    add(b, "10.1.0.0", "10.1.0.255", "", "");
    add(b, "10.2.0.0", "10.2.0.5", "", ""); /* six addresses */
    add(b, "10.3.3.3", "10.3.3.3", "", ""); /* one: follows what is around it */
    add(b, "20.0.0.128", "20.0.0.255", "", "");
    add(b, "2001:db8::", "2001:db8:0:ffff:ffff:ffff:ffff:ffff", "", "");
    struct made m = finish(b);
    static const struct {
        const char *ip, *cell;
    } cases[] = {
        {"10.128.0.1", "10.128.0.0/9"},     {"10.1.0.7", "10.1.0.0/24"},      {"10.1.1.0", "10.1.1.0/24"},
        {"10.1.3.0", "10.1.2.0/23"},        {"10.0.0.0", "10.0.0.0/16"},      {"10.2.0.3", "10.2.0.0/30"},
        {"10.2.0.5", "10.2.0.4/31"},        {"10.2.0.6", "10.2.0.6/31"},      {"10.3.3.3", "10.3.0.0/16"},
        {"20.0.0.1", "20.0.0.0/25"},        {"20.0.0.129", "20.0.0.128/25"},  {"20.0.1.1", "20.0.1.0/24"},
        {"::ffff:20.0.1.1", "20.0.1.0/24"}, {"2001:db8::5", "2001:db8::/48"}, {"2001:db8:1::", "2001:db8:1::/48"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct addr a = parse(cases[i].ip);
        struct network n = hierarchy_cell(m.h, &a);
        char text[NETWORK_TEXT_MAX];
        CHECK_SPAN(cases[i].ip, span_str(network_format(&n, text)), span_str(cases[i].cell));
    }
    struct addr a = parse("10.1.2.3");
    struct network plain = hierarchy_cell(NULL, &a), want = addr_network(&a);
    CHECK("without a hierarchy", network_eq(&plain, &want));
    made_done(&m);
}

static void keeps_what_the_first_of_equal_ranges_lacks(void **state)
{
    struct hierarchy_builder *b = hierarchy_builder_new();
    struct registry_record r = {.first = parse("10.0.0.0"),
                                .last = parse("10.0.255.255"),
                                .registry = REGISTRY_APNIC,
                                .state = REG_ALLOCATED,
                                .holder = SPAN("A91872ED"),
                                .is_opaque = true};
    CHECK_STATUS("opaque", hierarchy_builder_add(b, &r), ST_OK);
    add(b, "10.0.0.0", "10.0.255.255", "AU", "AS64500");
    add(b, "10.0.0.0", "10.0.255.255", "NZ", "A Name");
    add(b, "10.0.0.0", "10.0.255.255", "", "Another Name");
    r.first = r.last = parse("10.1.0.0");
    r.holder = SPAN("org-x1-test");
    r.is_holder_ref = true;
    r.is_opaque = false;
    CHECK_STATUS("ref", hierarchy_builder_add(b, &r), ST_OK);
    add(b, "10.1.0.0", "10.1.0.0", "", "descr of a network");
    r.first = r.last = parse("10.1.0.1");
    r.holder = SPAN("ORG-Y2-TEST");
    CHECK_STATUS("unknown ref", hierarchy_builder_add(b, &r), ST_OK);
    hierarchy_builder_organisation(b, SPAN("ORG-X1-TEST"), SPAN("Example Organisation"));
    hierarchy_builder_organisation(b, SPAN("ORG-X1-TEST"), SPAN("A later name"));
    add(b, "0.0.0.0", "255.255.255.255", "EU", "everything");
    struct made m = finish(b);
    assert_int_equal(hierarchy_count(m.h), 3);
    check_node(m.h, 1, "10.0.0.0-10.0.255.255 parent 0 end 2 depth 1 AU apnic allocated 'A Name'");
    check_node(m.h, 2, "10.1.0.0-10.1.0.0 parent 0 end 3 depth 1  apnic allocated 'Example Organisation'");
    check_node(m.h, 3, "10.1.0.1-10.1.0.1 parent 0 end 4 depth 1  apnic allocated 'ORG-Y2-TEST'");
    assert_int_equal(m.figures.ranges, 8);
    assert_int_equal(m.figures.duplicates, 5);
    assert_int_equal(m.figures.references_unknown, 1);
    assert_int_equal(m.figures.unary, 2);
    assert_int_equal(m.figures.holders, 3);
    made_done(&m);
}

static void finds_holders_by_any_spelling(void **state)
{
    struct hierarchy_builder *b = hierarchy_builder_new();
    add(b, "10.0.0.0", "10.0.0.255", "", "Example Networks Ltd.");
    add(b, "10.0.2.0", "10.0.2.255", "", "EXAMPLE NETWORKS LIMITED");
    add(b, "10.0.1.0", "10.0.1.255", "", "Zebra");
    add(b, "2001:db8::", "2001:db8::ff", "", "example networks, inc");
    add(b, "10.0.3.0", "10.0.3.255", "", " . - ");
    struct made m = finish(b);
    uint32_t holder = hierarchy_holder_find(m.h, SPAN("Example networks GmbH"));
    size_t n;
    assert_int_equal(hierarchy_holder_count(m.h), 2);
    assert_int_equal(holder, 1);
    CHECK_SPAN("name", hierarchy_holder_name(m.h, holder), SPAN("Example Networks Ltd."));
    const uint32_t *nodes = hierarchy_holder_nodes(m.h, holder, &n);
    assert_int_equal(n, 3);
    CHECK("nodes", nodes[0] == 1 && nodes[1] == 3 && nodes[2] == 5);
    assert_int_equal(hierarchy_holder_find(m.h, SPAN("zebra")), 2);
    static const char *const none[] = {"", "example", "zzz", "aaa", "example networks 2"};
    for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
        if (hierarchy_holder_find(m.h, span_str(none[i])))
            fail_msg("\"%s\" was found", none[i]);
    CHECK_SPAN("nobody", hierarchy_holder_name(m.h, 0), SPAN(""));
    CHECK_SPAN("no such", hierarchy_holder_name(m.h, 3), SPAN(""));
    (void)hierarchy_holder_nodes(m.h, 0, &n);
    assert_int_equal(n, 0);
    (void)hierarchy_holder_nodes(m.h, 3, &n);
    assert_int_equal(n, 0);
    made_done(&m);
}

static void works_with_nothing_in_it(void **state)
{
    struct made m = finish(hierarchy_builder_new());
    struct addr a = parse("10.0.0.1"), b = parse("2001:db8::1");
    struct network n = hierarchy_cell(m.h, &a), want = addr_network(&a);
    assert_int_equal(hierarchy_count(m.h), 0);
    assert_int_equal(hierarchy_height(m.h), 0);
    assert_int_equal(hierarchy_lookup(m.h, &a), 0);
    assert_int_equal(hierarchy_network(m.h, &b), 0);
    assert_int_equal(hierarchy_find(m.h, &a, &a), 0);
    assert_int_equal(hierarchy_enclosing(m.h, &a, &a), 0);
    CHECK("cell", network_eq(&n, &want));
    made_done(&m);
}

static void refuses_what_is_no_range(void **state)
{
    struct hierarchy_builder *b = hierarchy_builder_new();
    struct registry_record r = {.first = parse("10.0.0.2"), .last = parse("10.0.0.1")};
    CHECK_STATUS("backwards", hierarchy_builder_add(b, &r), ST_INVALID);
    r.last = parse("::1");
    CHECK_STATUS("two families", hierarchy_builder_add(b, &r), ST_INVALID);
    r.first.family = r.last.family = 0;
    CHECK_STATUS("no family", hierarchy_builder_add(b, &r), ST_INVALID);
    r = (struct registry_record){.first = parse("10.0.0.1"), .last = parse("10.0.0.1"), .state = (registry_status)9};
    CHECK_STATUS("no state", hierarchy_builder_add(b, &r), ST_INVALID);
    hierarchy_builder_free(b);
    hierarchy_builder_free(NULL);
    hierarchy_free(NULL);
}

/* ---- the naive twin: a list ---- */

struct twin_range {
    wide first, last;
};

struct twin {
    unsigned family;
    struct twin_range *list; /* owned; in order of nodes, none twice */
    size_t n;
    uint32_t base; /* node of the first */
};

static int compare_ranges(const void *a, const void *b)
{
    const struct twin_range *x = a, *y = b;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return x->last > y->last ? -1 : x->last < y->last;
}

static void twin_sort(struct twin *t)
{
    size_t kept = 0;
    qsort(t->list, t->n, sizeof(*t->list), compare_ranges);
    for (size_t i = 0; i < t->n; i++)
        if (kept == 0 || compare_ranges(&t->list[kept - 1], &t->list[i]) != 0)
            t->list[kept++] = t->list[i];
    t->n = kept;
}

static uint32_t twin_smallest(const struct twin *t, wide first, wide last, bool with_unary)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < t->n; i++) {
        const struct twin_range *r = &t->list[i];
        if (r->first > first)
            break;
        if (r->last >= last && (with_unary || r->first != r->last) &&
            (best == SIZE_MAX || r->last - r->first < t->list[best].last - t->list[best].first))
            best = i;
    }
    return best == SIZE_MAX ? 0 : t->base + (uint32_t)best;
}

static bool twin_crosses(const struct twin *t, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (t->list[j].last >= t->list[i].first && t->list[j].last < t->list[i].last)
            return true;
    return false;
}

/* Of those that hold it, the one that begins last. Without crossings that is the smallest. */
static uint32_t twin_parent(const struct twin *t, size_t i)
{
    for (size_t j = i; j-- > 0;)
        if (t->list[j].last >= t->list[i].last)
            return t->base + (uint32_t)j;
    return 0;
}

static wide everything(unsigned family)
{
    return family == 4 ? UINT32_MAX : ~(wide)0;
}

/* A random range, or a random prefix where none may cross. Addresses are base + (0 .. 1023) << shift. */
static struct twin_range random_range(struct rng *rng, wide base, unsigned shift, bool may_cross)
{
    uint64_t from = rng_below(rng, 1024), size = rng_below(rng, 4) ? rng_below(rng, 1u << rng_below(rng, 10)) : 0;
    if (!may_cross) {
        uint64_t bits = rng_below(rng, 10);
        from = from >> bits << bits;
        size = (1u << bits) - 1;
    }
    if (from + size > 1023)
        size = 1023 - from;
    wide rest = shift ? ((wide)1 << shift) - 1 : 0;
    struct twin_range r = {base + ((wide)from << shift), base + ((wide)(from + size) << shift | rest)};
    if (rng_below(rng, 8) == 0)
        r.last = r.first; /* unary */
    return r;
}

static void fill(struct rng *rng, struct twin *t, struct hierarchy_builder *b, wide base, unsigned shift,
                 bool may_cross)
{
    for (size_t i = 0; i < t->n; i++) {
        t->list[i] = random_range(rng, base, shift, may_cross);
        struct registry_record r = {.first = addr_at(t->family, t->list[i].first),
                                    .last = addr_at(t->family, t->list[i].last)};
        CHECK_STATUS("add", hierarchy_builder_add(b, &r), ST_OK);
    }
    twin_sort(t);
}

static void compare_tree(const char *label, const struct made *m, const struct twin *t)
{
    for (size_t i = 0; i < t->n; i++) {
        struct hierarchy_node n;
        uint32_t node = t->base + (uint32_t)i, end = node + 1;
        hierarchy_get(m->h, node, &n);
        struct addr first = addr_at(t->family, t->list[i].first), last = addr_at(t->family, t->list[i].last);
        if (!addr_eq(&n.first, &first) || !addr_eq(&n.last, &last) || n.parent != twin_parent(t, i))
            fail_msg("%s: node %u: parent %u, want %u", label, node, n.parent, twin_parent(t, i));
        while (end < t->base + t->n && hierarchy_parent(m->h, end) >= node)
            end++;
        if (n.end != end)
            fail_msg("%s: node %u: end %u, want %u", label, node, n.end, end);
        if (hierarchy_find(m->h, &first, &last) != node)
            fail_msg("%s: node %u is not found", label, node);
    }
}

static void check_cell(const char *label, const struct made *m, const struct twin *t, wide ip)
{
    struct addr a = addr_at(t->family, ip);
    struct network cell = hierarchy_cell(m->h, &a);
    unsigned all = t->family == 4 ? 32 : 128;
    uint32_t want = twin_smallest(t, ip, ip, false);
    wide rest = cell.bits == all ? 0 : cell.bits == 0 ? everything(t->family) : ((wide)1 << (all - cell.bits)) - 1;
    /* Every end of a range is a place where the answer may change. */
    for (int wider = 0; wider < 2; wider++) {
        bool is_same = true;
        wide from = ip & ~rest, to = ip | rest;
        for (size_t i = 0; i < t->n && is_same; i++) {
            wide ends[] = {t->list[i].first, t->list[i].last, t->list[i].last + 1, from, to};
            for (size_t k = 0; k < 5 && is_same; k++)
                if (ends[k] >= from && ends[k] <= to)
                    is_same = twin_smallest(t, ends[k], ends[k], false) == want;
        }
        if (wider == 0 && !is_same)
            fail_msg("%s: a cell of /%u is not of one network", label, cell.bits);
        bool is_widest = cell.bits == 0 || (want == 0 && cell.bits == (t->family == 4 ? 24 : 48));
        if (is_widest)
            return;
        if (wider == 1 && is_same)
            fail_msg("%s: a cell of /%u could be wider", label, cell.bits);
        rest = rest << 1 | 1;
    }
}

static void compare_lookups(const char *label, struct rng *rng, const struct made *m, const struct twin *t, wide base,
                            unsigned shift, size_t lookups)
{
    for (size_t i = 0; i < lookups; i++) {
        wide ip = base + ((wide)rng_below(rng, 1040) << shift);
        if (rng_below(rng, 2))
            ip += (wide)rng_below(rng, 3) - 1;
        if (rng_below(rng, 64) == 0)
            ip = (wide)rng_u64(rng) << 64 | rng_u64(rng);
        ip &= everything(t->family);
        struct addr a = addr_at(t->family, ip);
        uint32_t want = twin_smallest(t, ip, ip, true), network = twin_smallest(t, ip, ip, false);
        char text[ADDR_TEXT_MAX];
        if (hierarchy_lookup(m->h, &a) != want)
            fail_msg("%s: %s: lookup %u, want %u", label, addr_format(&a, text), hierarchy_lookup(m->h, &a), want);
        if (hierarchy_network(m->h, &a) != network)
            fail_msg("%s: %s: network %u, want %u", label, addr_format(&a, text), hierarchy_network(m->h, &a), network);
        if (i % 64 == 0)
            check_cell(label, m, t, ip);
    }
}

static void compare_enclosing(const char *label, struct rng *rng, const struct made *m, const struct twin *t, wide base,
                              unsigned shift, bool may_cross)
{
    for (size_t i = 0; i < 200; i++) {
        struct twin_range r = random_range(rng, base, shift, may_cross);
        struct addr first = addr_at(t->family, r.first), last = addr_at(t->family, r.last);
        uint32_t got = hierarchy_enclosing(m->h, &first, &last), want = twin_smallest(t, r.first, r.last, true);
        if (!may_cross && got != want)
            fail_msg("%s: enclosing %u, want %u", label, got, want);
        const struct twin_range *g = got ? &t->list[got - t->base] : NULL;
        if (g && (g->first > r.first || g->last < r.last))
            fail_msg("%s: enclosing %u does not hold it", label, got);
        if (hierarchy_find(m->h, &first, &last) && got != hierarchy_find(m->h, &first, &last))
            fail_msg("%s: it is itself the smallest", label);
    }
}

static void answers_as_a_list_does(void **state)
{
    static const struct {
        const char *label;
        unsigned shift4, shift6;
        bool may_cross;
    } kinds[] = {
        {"close together", 0, 0, true},
        {"prefixes", 0, 54, false},
        {"across the halves of IPv6", 8, 58, true},
        {"far apart", 22, 118, true},
        {"far apart, prefixes", 22, 118, false},
    };
    struct rng rng;
    rng_seed(&rng, 5);
    const size_t rounds = 40, kind_count = sizeof(kinds) / sizeof(*kinds);
    const size_t each = LOOKUPS_IN_ALL / (rounds * kind_count * 2);
    for (size_t round = 0; round < rounds * kind_count; round++) {
        const char *label = kinds[round % kind_count].label;
        bool may_cross = kinds[round % kind_count].may_cross;
        unsigned shift[2] = {kinds[round % kind_count].shift4, kinds[round % kind_count].shift6};
        wide base[2] = {shift[0] > 20 ? 0 : 0x0A000000, shift[1] > 100 ? 0 : (wide)0x20010DB8 << 96};
        struct hierarchy_builder *b = hierarchy_builder_new();
        struct twin t[2];
        for (int f = 0; f < 2; f++) {
            t[f] = (struct twin){.family = f ? 6 : 4, .n = 1 + rng_below(&rng, round < 20 ? 10 : 400)};
            t[f].list = mem_alloc(t[f].n * sizeof(*t[f].list));
            fill(&rng, &t[f], b, base[f], shift[f], may_cross);
        }
        t[0].base = 1;
        t[1].base = (uint32_t)t[0].n + 1;
        struct made m = finish(b);
        size_t crossings = 0;
        for (int f = 0; f < 2; f++) {
            for (size_t i = 0; i < t[f].n; i++)
                crossings += twin_crosses(&t[f], i);
            compare_tree(label, &m, &t[f]);
            compare_lookups(label, &rng, &m, &t[f], base[f], shift[f], each);
            compare_enclosing(label, &rng, &m, &t[f], base[f], shift[f], may_cross);
        }
        if (m.figures.crossings != crossings)
            fail_msg("%s: %llu crossings, want %zu", label, (unsigned long long)m.figures.crossings, crossings);
        made_done(&m);
        free(t[0].list);
        free(t[1].list);
    }
}

/* ---- damage ---- */

static struct made make_sample(void)
{
    struct hierarchy_builder *b = hierarchy_builder_new();
    struct rng rng;
    rng_seed(&rng, 9);
    for (int i = 0; i < 300; i++) {
        struct registry_record r = {.country = "GR"};
        char holder[32];
        snprintf(holder, sizeof(holder), "Holder %u", (unsigned)rng_below(&rng, 40));
        unsigned family = i % 3 ? 4 : 6;
        wide first = (wide)rng_below(&rng, 256) << (family == 4 ? 22 : 60), size = (wide)1 << rng_below(&rng, 24);
        r.first = addr_at(family, first);
        r.last = addr_at(family, first + size - 1);
        r.holder = span_str(holder);
        CHECK_STATUS("add", hierarchy_builder_add(b, &r), ST_OK);
    }
    return finish(b);
}

/* Everything that can be asked; the answers do not matter. */
static void ask_everything(const struct hierarchy *h, struct rng *rng)
{
    struct hierarchy_node n;
    uint32_t count = hierarchy_count(h) < 2000 ? hierarchy_count(h) : 2000;
    size_t held, sum = 0;
    for (uint32_t i = 0; i <= count + 1; i++) {
        hierarchy_get(h, i, &n);
        if ((i && i <= count && (n.parent >= i || n.end <= i)) || n.end > hierarchy_count(h) + 1)
            fail_msg("node %u: parent %u, end %u", i, n.parent, n.end);
        sum += hierarchy_find(h, &n.first, &n.last);
    }
    for (uint32_t i = 0; i <= hierarchy_holder_count(h) + 1 && i < 1000; i++) {
        struct span name = hierarchy_holder_name(h, i);
        for (size_t k = 0; k < name.n; k++)
            sum += (unsigned char)name.p[k];
        const uint32_t *nodes = hierarchy_holder_nodes(h, i, &held);
        for (size_t k = 0; k < held; k++)
            sum += nodes[k];
    }
    sum += hierarchy_holder_find(h, SPAN("holder 7"));
    for (int i = 0; i < 50; i++) {
        unsigned family = i % 2 ? 4 : 6;
        struct addr a = addr_at(family, (wide)rng_below(rng, 256) << (family == 4 ? 22 : 60));
        struct addr b = addr_at(family, (wide)rng_u64(rng) << 64 | rng_u64(rng));
        sum += hierarchy_lookup(h, &a) + hierarchy_network(h, &b) + hierarchy_enclosing(h, &a, &b);
        struct network cell = hierarchy_cell(h, &a);
        CHECK("cell", network_has(&cell, &a));
    }
    sum += hierarchy_origin(h).n;
    CHECK("sum", sum < SIZE_MAX);
}

static void mend_head(char *bytes)
{
    uint32_t crc = digest_crc32c(span_of(bytes, 508));
    for (int i = 0; i < 4; i++)
        bytes[508 + i] = (char)(crc >> (8 * i));
}

static void damaged_bytes_never_fault(void **state)
{
    struct made m = make_sample();
    struct rng rng;
    rng_seed(&rng, 11);
    size_t opened = 0, found = 0, rounds = LOOKUPS_IN_ALL / 250;
    for (size_t round = 0; round < rounds; round++) {
        /* Just as long as the file, so that a read behind its end shows. */
        char *copy = mem_alloc(m.bytes.n);
        memcpy(copy, m.bytes.p, m.bytes.n);
        bool in_head = round % 3 == 0;
        for (uint64_t k = 0, n = 1 + rng_below(&rng, 4); k < n; k++) {
            size_t at = in_head ? 8 + rng_below(&rng, 400) : 512 + rng_below(&rng, m.bytes.n - 512);
            copy[at] = rng_below(&rng, 2) ? (char)rng_u64(&rng) : (char)0xFF;
        }
        mend_head(copy);
        struct hierarchy *h = NULL;
        struct buf why = {0};
        status st = hierarchy_open(span_of(copy, m.bytes.n), &h, &why);
        if (st == ST_OK) {
            opened++;
            buf_clear(&why);
            found += hierarchy_check(h, &why) == ST_CORRUPT;
            ask_everything(h, &rng);
        } else
            CHECK("says why", why.n > 0 && h == NULL);
        buf_done(&why);
        hierarchy_free(h);
        free(copy);
    }
    CHECK("most open", opened > rounds / 2);
    CHECK("most is noticed", found > opened * 9 / 10);
    made_done(&m);
}

static void tells_what_is_wrong_with_a_file(void **state)
{
    struct made m = make_sample();
    static const struct {
        const char *label;
        size_t at, bytes; /* byte to change, or SIZE_MAX; length, 0: all */
        char to;
        status want;
        const char *phrase;
    } cases[] = {
        {"another magic", 0, 0, 'x', ST_CORRUPT, "no hierarchy"},
        {"a newer one", 7, 0, '2', ST_NEWER, "newer"},
        {"an older one", 7, 0, '0', ST_CORRUPT, "no hierarchy"},
        {"a flipped bit of the head", 30, 0, 99, ST_CORRUPT, "head is damaged"},
        {"cut short", SIZE_MAX, 4096, 0, ST_CORRUPT, "not as long"},
        {"nearly nothing", SIZE_MAX, 511, 0, ST_CORRUPT, "no hierarchy"},
        {"nothing", SIZE_MAX, 1, 0, ST_CORRUPT, "no hierarchy"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct buf copy = {0}, why = {0};
        struct hierarchy *h = NULL;
        buf_put(&copy, span_cut(buf_span(&m.bytes), 0, cases[i].bytes ? cases[i].bytes : m.bytes.n));
        if (cases[i].at != SIZE_MAX)
            copy.p[cases[i].at] = cases[i].to;
        CHECK_STATUS(cases[i].label, hierarchy_open(buf_span(&copy), &h, &why), cases[i].want);
        CHECK_STATUS(cases[i].label, hierarchy_open(buf_span(&copy), &h, NULL), cases[i].want);
        if (!strstr(buf_cstr(&why), cases[i].phrase))
            fail_msg("%s: \"%s\"", cases[i].label, why.p);
        buf_done(&copy);
        buf_done(&why);
    }
    struct buf why = {0};
    m.bytes.p[m.bytes.n - 100] ^= 1; /* a name */
    CHECK_STATUS("check", hierarchy_check(m.h, &why), ST_CORRUPT);
    CHECK("says where", why.n > 0);
    CHECK_STATUS("check", hierarchy_check(m.h, NULL), ST_CORRUPT);
    buf_done(&why);
    made_done(&m);
}

static void opens_bytes_at_odd_addresses(void **state)
{
    struct made m = make_sample();
    char *copy = mem_alloc(m.bytes.n + 3);
    memcpy(copy + 3, m.bytes.p, m.bytes.n);
    struct hierarchy *h = NULL;
    CHECK_STATUS("open", hierarchy_open(span_of(copy + 3, m.bytes.n), &h, NULL), ST_OK);
    CHECK_STATUS("check", hierarchy_check(h, NULL), ST_OK);
    assert_int_equal(hierarchy_count(h), hierarchy_count(m.h));
    hierarchy_free(h);
    free(copy);
    made_done(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nests_ranges_by_containment),
        cmocka_unit_test(gives_cells_that_never_overlap),
        cmocka_unit_test(keeps_what_the_first_of_equal_ranges_lacks),
        cmocka_unit_test(finds_holders_by_any_spelling),
        cmocka_unit_test(works_with_nothing_in_it),
        cmocka_unit_test(refuses_what_is_no_range),
        cmocka_unit_test(answers_as_a_list_does),
        cmocka_unit_test(damaged_bytes_never_fault),
        cmocka_unit_test(tells_what_is_wrong_with_a_file),
        cmocka_unit_test(opens_bytes_at_odd_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
