/* Fingerprints move with the share of words that changed; what a site repeats is learnt and left out, in bounded
 * memory.
 */
#include "test.h"

#include "base/buf.h"
#include "base/rng.h"
#include "web/boilerplate.h"
#include "web/simhash.h"
#include "web/title_words.h"

static const struct sip_key key = {11, 12};

static struct simhash hash_of(const char *label, struct span text)
{
    struct arena a;
    struct simhash h = {0};
    arena_init(&a);
    CHECK(label, simhash_of(&a, &key, text, NULL, NULL, &h));
    arena_done(&a);
    return h;
}

static unsigned distance(const char *label, struct span a, struct span b)
{
    struct simhash x = hash_of(label, a), y = hash_of(label, b);
    return simhash_distance(&x, &y);
}

/* `words` random words, one in `every` of them of another seed (0: none), ten a line. */
static void put_words(struct buf *out, uint64_t seed, unsigned words, unsigned every)
{
    struct rng rng, other;
    rng_seed(&rng, seed);
    rng_seed(&other, seed + 1);
    for (unsigned i = 0; i < words; i++) {
        uint64_t word = rng_u64(&rng) % 100000, else_word = rng_u64(&other) % 100000;
        bool is_other = every && i % every == every - 1;
        buf_printf(out, "w%llu%s", (unsigned long long)(is_other ? else_word + 100000 : word),
                   i % 10 == 9 ? "\n" : " ");
    }
}

static void distance_grows_with_what_differs(void **state)
{
    (void)state;
    struct buf a = {0}, b = {0};
    put_words(&a, 1, 600, 0);
    assert_int_equal(distance("itself", buf_span(&a), buf_span(&a)), 0);
    const unsigned every[] = {60, 15, 4, 2};
    unsigned last = 0;
    for (size_t i = 0; i < 4; i++) {
        buf_clear(&b);
        put_words(&b, 1, 600, every[i]);
        unsigned d = distance("changed", buf_span(&a), buf_span(&b));
        if (d <= last)
            fail_msg("one word in %u changed: %u bits, and %u before", every[i], d, last);
        last = d;
    }
    buf_clear(&b);
    put_words(&b, 77, 600, 0);
    unsigned other = distance("other text", buf_span(&a), buf_span(&b));
    CHECK("half of the bits", other > SIMHASH_BITS / 3 && other < SIMHASH_BITS * 2 / 3);
    buf_done(&a);
    buf_done(&b);
}

static void case_and_order_of_blocks_do_not_count(void **state)
{
    (void)state;
    struct buf a = {0}, b = {0};
    put_words(&a, 3, 100, 0);
    struct span text = buf_span(&a), half = span_cut(text, 0, span_find(text, '\n', text.n / 2) + 1);
    buf_put(&b, span_from(text, half.n));
    buf_put(&b, half);
    for (size_t i = 0; i < b.n; i++)
        if (b.p[i] == 'w')
            b.p[i] = 'W';
    assert_int_equal(distance("moved", text, buf_span(&b)), 0);
    buf_done(&a);
    buf_done(&b);
}

static void what_is_repeated_counts_little(void **state)
{
    (void)state;
    struct buf a = {0}, b = {0};
    put_words(&a, 3, 200, 0);
    buf_put(&b, buf_span(&a));
    for (int i = 0; i < 1000; i++) {
        buf_puts(&a, "yes no\n");
        buf_puts(&b, i % 2 ? "yes no\n" : "no yes\n");
    }
    unsigned d = distance("a table", buf_span(&a), buf_span(&b));
    CHECK("a thousand lines", d < SIMHASH_BITS / 4);
    buf_done(&a);
    buf_done(&b);
}

static void order_of_words_counts(void **state)
{
    (void)state;
    struct buf a = {0}, b = {0};
    for (int i = 0; i < 60; i++)
        buf_printf(&a, "w%d ", i);
    for (int i = 59; i >= 0; i--)
        buf_printf(&b, "w%d ", i);
    CHECK("backwards", distance("backwards", buf_span(&a), buf_span(&b)) > SIMHASH_BITS / 4);
    buf_done(&a);
    buf_done(&b);
}

static void every_character_of_chinese_is_a_word(void **state)
{
    (void)state;
    struct buf a = {0}, b = {0};
    for (uint32_t i = 0; i < 200; i++) {
        buf_put_utf8(&a, 0x4e00 + i * 7);
        buf_put_utf8(&b, i == 100 ? 0x9000 : 0x4e00 + i * 7);
    }
    CHECK("one of 200", distance("chinese", buf_span(&a), buf_span(&b)) < SIMHASH_BITS / 8);
    buf_done(&a);
    buf_done(&b);
}

static void short_texts_have_none(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool has;
    } cases[] = {{"", false},
                 {"\n\n", false},
                 {"one two, three.", false},
                 {"- -- ... - -- ... - -- ...", false},
                 {"1 2 3 4 5 6 7 8 9", false},
                 {"1 2 3 4 5 6 7 8 9 10", true},
                 {"1 2 3 4 5\n6 7 8 9-10", true},
                 {"\xff\xfe\xff\xfe\xff\xfe\xff\xfe\xff", false},
                 {"\xff\xfe\xff\xfe\xff\xfe\xff\xfe\xff\xfe", true}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct arena a;
        struct simhash h = {.bits = {7}};
        arena_init(&a);
        CHECK(cases[i].text, simhash_of(&a, &key, span_str(cases[i].text), NULL, NULL, &h) == cases[i].has);
        CHECK("untouched", cases[i].has || h.bits[0] == 7);
        arena_done(&a);
    }
}

/* ---- boilerplate ---- */

static void count_page(struct boilerplate *b, uint64_t site, struct span text)
{
    struct arena a;
    arena_init(&a);
    boilerplate_count(b, &a, &key, site, text);
    arena_done(&a);
}

static bool is_boilerplate(const struct boilerplate *b, uint64_t site, const char *block)
{
    return boilerplate_has(b, site, simhash_block(&key, span_str(block)));
}

static void fill_site(struct boilerplate *b, uint64_t site, unsigned from, unsigned pages)
{
    struct buf text = {0};
    for (unsigned i = from; i < from + pages; i++) {
        buf_clear(&text);
        buf_printf(&text, "Home News About\nSection %c\nthis is page %c%c%c\nHome News About\nPrinted on %u.%u.2024\n",
                   'a' + i % 4, 'a' + i % 26, 'a' + i / 26 % 26, 'a' + i / 676, i % 28 + 1, i % 12 + 1);
        count_page(b, site, buf_span(&text));
    }
    buf_done(&text);
}

static void what_many_pages_of_a_site_have_is_boilerplate(void **state)
{
    (void)state;
    struct boilerplate *b = boilerplate_new();
    fill_site(b, 1, 0, 40);
    CHECK("not before it is settled", !is_boilerplate(b, 1, "Home News About") && boilerplate_epoch(b, 1) == 0);
    boilerplate_settle(b);
    CHECK("navigation", is_boilerplate(b, 1, " Home News About "));
    CHECK("of a quarter of the pages", is_boilerplate(b, 1, "Section c"));
    CHECK("with another date", is_boilerplate(b, 1, "Printed on 31.12.1999"));
    CHECK("of two pages", !is_boilerplate(b, 1, "this is page aaa"));
    CHECK("of another site", !is_boilerplate(b, 2, "Home News About"));
    CHECK("epoch", boilerplate_epoch(b, 1) == 2);
    boilerplate_free(b);
}

static void a_section_of_a_large_site_has_its_own(void **state)
{
    (void)state;
    struct boilerplate *b = boilerplate_new();
    fill_site(b, 1, 0, 3000);
    for (unsigned i = 0; i < BOILERPLATE_MANY; i++)
        count_page(b, 1, SPAN("Keywords: auto break case"));
    for (unsigned i = 0; i < BOILERPLATE_MANY - 1; i++)
        count_page(b, 1, SPAN("Rarer than that"));
    boilerplate_settle(b);
    CHECK("many pages", is_boilerplate(b, 1, "Keywords: auto break case"));
    CHECK("not enough", !is_boilerplate(b, 1, "Rarer than that"));
    boilerplate_free(b);
}

static void a_small_site_has_none(void **state)
{
    (void)state;
    struct boilerplate *b = boilerplate_new();
    fill_site(b, 1, 0, BOILERPLATE_SITE_MIN - 1);
    boilerplate_settle(b);
    CHECK("too few pages", !is_boilerplate(b, 1, "Home News About") && boilerplate_epoch(b, 1) == 0);
    fill_site(b, 1, 50, 1);
    boilerplate_settle(b);
    CHECK("enough", is_boilerplate(b, 1, "Home News About") && boilerplate_epoch(b, 1) == 1);
    boilerplate_free(b);
}

static void it_stays_as_decided_until_the_site_has_doubled(void **state)
{
    (void)state;
    struct boilerplate *b = boilerplate_new();
    fill_site(b, 1, 0, 12);
    boilerplate_settle(b);
    for (int i = 0; i < 11; i++)
        count_page(b, 1, SPAN("New footer"));
    boilerplate_settle(b);
    CHECK("23 pages", !is_boilerplate(b, 1, "New footer") && boilerplate_epoch(b, 1) == 1);
    count_page(b, 1, SPAN("New footer"));
    boilerplate_settle(b);
    CHECK("24 pages", is_boilerplate(b, 1, "New footer") && boilerplate_epoch(b, 1) == 2);
    boilerplate_free(b);
}

static bool load(void *arg, const uint64_t row[BOILERPLATE_ROW])
{
    boilerplate_load(arg, row);
    return true;
}

static void rows_bring_it_back(void **state)
{
    (void)state;
    struct boilerplate *b = boilerplate_new(), *again = boilerplate_new();
    fill_site(b, 1, 0, 40);
    fill_site(b, 2, 0, 8);
    boilerplate_settle(b);
    boilerplate_each(b, load, again);
    CHECK("navigation", is_boilerplate(again, 1, "Home News About") && !is_boilerplate(again, 2, "Home News About"));
    CHECK("epochs", boilerplate_epoch(again, 1) == 2 && boilerplate_epoch(again, 2) == 0);
    fill_site(again, 2, 8, 4);
    boilerplate_settle(again);
    CHECK("counts go on", is_boilerplate(again, 2, "Home News About"));
    boilerplate_free(b);
    boilerplate_free(again);
}

static void memory_is_bounded_and_what_is_common_stays(void **state)
{
    (void)state;
    struct boilerplate *b = boilerplate_new();
    struct buf text = {0};
    for (unsigned i = 0; i < 30000; i++) {
        buf_clear(&text);
        buf_puts(&text, "Home News About\n");
        for (unsigned k = 0; k < 50; k++)
            buf_printf(&text, "block %c%c%c%c %c%c\n", 'a' + i % 26, 'a' + i / 26 % 26, 'a' + i / 676 % 26,
                       'a' + i / 17576, 'a' + k % 26, 'a' + k / 26);
        count_page(b, 1 + i % 3, buf_span(&text));
    }
    boilerplate_settle(b);
    CHECK("common", is_boilerplate(b, 1, "Home News About") && is_boilerplate(b, 3, "Home News About"));
    CHECK("bounded", boilerplate_memory(b) <= BOILERPLATE_MEMORY_MAX);
    buf_done(&text);
    boilerplate_free(b);
}

static void rows_of_blocks_that_all_are_common_find_room(void **state)
{
    (void)state;
    struct boilerplate *b = boilerplate_new();
    boilerplate_load(b, (uint64_t[]){1, 0, UINT32_MAX});
    for (uint64_t i = 1; i <= BOILERPLATE_BLOCKS_MAX + 1; i++)
        boilerplate_load(b, (uint64_t[]){i, 1, UINT64_MAX});
    CHECK("bounded", boilerplate_memory(b) <= BOILERPLATE_MEMORY_MAX);
    boilerplate_free(b);
}

static void skip_menu(void *arg, const uint64_t *blocks, size_t n, bool *is_left_out)
{
    for (size_t i = 0; i < n; i++)
        is_left_out[i] = blocks[i] == *(uint64_t *)arg;
}

static void boilerplate_does_not_count_in_a_fingerprint(void **state)
{
    (void)state;
    struct buf a = {0}, b = {0};
    struct arena work;
    struct simhash x, y, z;
    struct span menu = SPAN("Home News About Contact Imprint Terms Jobs Press Blog Help");
    uint64_t block = simhash_block(&key, menu);
    put_words(&a, 5, 50, 0);
    buf_put(&b, menu);
    buf_puts(&b, "\n");
    buf_put(&b, buf_span(&a));
    arena_init(&work);
    assert_true(simhash_of(&work, &key, buf_span(&a), skip_menu, &block, &x));
    assert_true(simhash_of(&work, &key, buf_span(&b), skip_menu, &block, &y));
    assert_true(simhash_of(&work, &key, buf_span(&b), NULL, NULL, &z));
    CHECK("left out", simhash_distance(&x, &y) == 0 && simhash_distance(&x, &z) > 0);
    buf_clear(&b);
    for (int i = 0; i < 3; i++)
        buf_printf(&b, "%.*s\n", SPAN_ARG(menu));
    buf_puts(&b, "little else");
    CHECK("too little is left", !simhash_of(&work, &key, buf_span(&b), skip_menu, &block, &x));
    buf_printf(&b, "\n%.*s", SPAN_ARG(menu));
    CHECK("all of it, when that is much", simhash_of(&work, &key, buf_span(&b), skip_menu, &block, &x));
    arena_done(&work);
    buf_done(&a);
    buf_done(&b);
}

/* ---- titles ---- */

static void skip_manual(void *arg, const uint64_t *blocks, size_t n, bool *is_left_out)
{
    for (size_t i = 0; i < n; i++)
        is_left_out[i] = blocks[i] == simhash_block(&key, SPAN("\1manual"));
}

static struct title_words random_title(struct rng *rng, unsigned words, struct span more)
{
    struct buf b = {0};
    for (unsigned i = 0; i < words; i++)
        buf_printf(&b, "w%llu ", (unsigned long long)rng_u64(rng));
    buf_put(&b, more);
    struct title_words t = title_words(&key, buf_span(&b), skip_manual, NULL);
    buf_done(&b);
    return t;
}

/* A title of one word is the hard one: chance has to find only that. */
static void titles_do_not_agree_by_chance(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 7);
    for (unsigned words = 1; words <= 30; words += words < 10 ? 1 : 10) {
        unsigned by_chance = 0, missed = 0;
        for (int i = 0; i < 2000; i++) {
            struct title_words one = random_title(&rng, 1, SPAN("")), other = random_title(&rng, words, SPAN(""));
            by_chance += title_agrees(&one, &other);
            struct rng same = rng;
            struct title_words plain = random_title(&rng, words, SPAN("")),
                               print = random_title(&same, words, SPAN("print version"));
            missed += words >= 4 && !title_agrees(&plain, &print);
        }
        CHECK("by chance", by_chance <= 3);
        CHECK("the same title, and a little more", missed == 0);
    }
}

static void titles_agree_when_most_of_their_words_do(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        bool agrees;
    } cases[] = {{"strftime - Manual", "strftime - Manual", true},
                 {"strftime - Manual", "STRFTIME", true},
                 {"strftime - Manual", "wcsftime - Manual", false},
                 {"fetch_or", "fetch_xor", false},
                 {"Dark rye for the home oven", "Dark rye for the home oven (Print version)", true},
                 {"The dark rye", "The white rye", true},
                 {"Our ciabatta", "Recipe: ciabatta for the home oven", false},
                 {"", "anything", true},
                 {"Manual", "anything", true},
                 {"- : -", "", true}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct title_words a = title_words(&key, span_str(cases[i].a), skip_manual, NULL);
        struct title_words b = title_words(&key, span_str(cases[i].b), skip_manual, NULL);
        CHECK(cases[i].a, title_agrees(&a, &b) == cases[i].agrees && title_agrees(&b, &a) == cases[i].agrees);
    }
    struct title_words t = title_words(&key, SPAN("Dark rye for the home oven"), skip_manual, NULL), u;
    uint64_t packed[TITLE_NUMBERS];
    title_pack(&t, packed);
    title_unpack(packed, &u);
    assert_memory_equal(&t, &u, sizeof(t));
    struct buf lines = {0};
    title_put_blocks(SPAN("The a_b - Manual"), &lines);
    CHECK_SPAN("lines", buf_span(&lines), SPAN("\n\1the\n\1a_b\n\1manual"));
    buf_done(&lines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distance_grows_with_what_differs),
        cmocka_unit_test(case_and_order_of_blocks_do_not_count),
        cmocka_unit_test(what_is_repeated_counts_little),
        cmocka_unit_test(order_of_words_counts),
        cmocka_unit_test(every_character_of_chinese_is_a_word),
        cmocka_unit_test(short_texts_have_none),
        cmocka_unit_test(what_many_pages_of_a_site_have_is_boilerplate),
        cmocka_unit_test(a_section_of_a_large_site_has_its_own),
        cmocka_unit_test(a_small_site_has_none),
        cmocka_unit_test(it_stays_as_decided_until_the_site_has_doubled),
        cmocka_unit_test(rows_bring_it_back),
        cmocka_unit_test(memory_is_bounded_and_what_is_common_stays),
        cmocka_unit_test(rows_of_blocks_that_all_are_common_find_room),
        cmocka_unit_test(boilerplate_does_not_count_in_a_fingerprint),
        cmocka_unit_test(titles_agree_when_most_of_their_words_do),
        cmocka_unit_test(titles_do_not_agree_by_chance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
