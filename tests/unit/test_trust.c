/* What agents say is compared with what others find: who is believed, who is struck, and what cannot be told. No
 * sockets: agents are entries of a coordinator that does not run, and their answers are handed to it. */
#include "test.h"

#include <pthread.h>

#include "base/mem.h"
#include "coord/agents.h"
#include "coord/coord.h"
#include "coord/state.h"
#include "coord/trust.h"
#include "io/clock.h"
#include "test_folder.h"
#include "web/sketch.h"

#define SUSPECT 1

struct bench {
    struct coord *c;
    mono_ms now;
    unsigned pages;
};

static void put_agent(struct bench *b, const char *name)
{
    struct c_agent *a;
    struct buf line = {0}, why = {0};
    CHECK_STATUS(name, agent_add(b->c, &(struct agent_form){.name = span_str(name)}, &a, &line, &why), ST_OK);
    a->is_joined = true;
    a->heard_mono = clock_mono();
    buf_done(&line);
    buf_done(&why);
}

static void open_bench(struct bench *b, unsigned agents, unsigned check_every)
{
    static const char *const names[] = {"suspect", "one", "two"};
    struct buf why = {0};
    struct addr loopback = {4, {127, 0, 0, 1}};
    *b = (struct bench){.now = clock_mono()};
    struct coord_opts o = {.data_dir = test_folder(),
                           .addr = loopback,
                           .admin_addr = loopback,
                           .is_plain = true,
                           .seed = 1,
                           .check_every = check_every,
                           .version = SPAN("test")};
    if (coord_new(&o, &b->c, &why) != ST_OK)
        fail_msg("coordinator: %s", buf_cstr(&why));
    buf_done(&why);
    pthread_mutex_lock(&b->c->lock);
    for (unsigned i = 0; i < agents; i++)
        put_agent(b, names[i]);
}

static void close_bench(struct bench *b)
{
    pthread_mutex_unlock(&b->c->lock);
    coord_free(b->c);
}

static struct c_agent *agent(struct bench *b, uint64_t number)
{
    return agent_get(b->c, number);
}

/* ---- saying and looking ---- */

static const struct c_channel plain;

static void say(struct bench *b, const struct c_channel *ch, int code, const char *text, bool is_keywords)
{
    struct buf url = {0};
    struct span s = span_str(text);
    buf_printf(&url, "http://a.example/%u", ++b->pages);
    trust_page(b->c, agent(b, SUSPECT), ch,
               &(struct summary){.url = buf_span(&url),
                                 .http_status = (uint16_t)code,
                                 .text = s,
                                 .digest = s.n ? facts_digest(s) : 0,
                                 .is_keywords = is_keywords});
    buf_done(&url);
}

/* Who is asked to look now; 0: nobody. Time goes on by a second: a check lasts for six hundred. */
static uint64_t asked(struct bench *b)
{
    uint64_t before[4], who = 0;
    for (uint64_t i = 1; i <= b->c->agent_count; i++)
        before[i] = agent(b, i)->orders_given;
    b->now += 1000;
    trust_tick(b->c, b->now);
    for (uint64_t i = 1; i <= b->c->agent_count; i++)
        if (agent(b, i)->orders_given > before[i]) {
            assert_int_equal(who, 0);
            who = i;
        }
    return who;
}

/* It has found this at the newest page. */
static void find(struct bench *b, uint64_t who, int code, const char *text)
{
    struct buf url = {0}, packed = {0};
    struct span s = span_str(text);
    buf_printf(&url, "http://a.example/%u", b->pages);
    fetched_page_pack(&(struct fetched_page){.url = buf_span(&url),
                                             .http_status = (uint16_t)code,
                                             .digest = s.n ? facts_digest(s) : 0,
                                             .sketch = sketch_of(s),
                                             .words_sketch = sketch_of_words(s)},
                      &packed);
    struct span part = buf_span(&packed);
    trust_outcome(
        b->c, agent(b, who),
        &(struct outcome){.number = agent(b, who)->orders_given, .st = ST_OK, .parts = &part, .part_count = 1});
    buf_done(&url);
    buf_done(&packed);
}

#define STORY                                                                                                      \
    "The harbour master keeps a list of every boat that came in since the spring, and reads it aloud on the last " \
    "evening of the season while the others mend their nets and say whose turn it is to paint the lamp. "
#define OTHER                                                                                                         \
    "Cheap pills without a doctor, sent by night in plain boxes: order ten, pay for nine, and tell all your friends " \
    "where the best watches and the finest handbags of this winter can be had for next to nothing today. "

static const struct {
    const char *label;
    bool is_keywords;
    int said, first, second; /* HTTP; 0: never got that far */
    const char *said_text, *first_text, *second_text;
    unsigned good, bad;
} cases[] = {
    {"the same", 0, 200, 200, 0, STORY, STORY, "", 1, 0},
    {"another date", 0, 200, 200, 0, STORY "It is 9 May, 10:00.", STORY "It is 10 May, 11:30.", "", 1, 0},
    {"an advertisement", 0, 200, 200, 0, STORY "Buy soap.", STORY "Eat more fish, it is good for you.", "", 1, 0},
    {"a lie", 0, 200, 200, 200, OTHER, STORY, STORY, 0, 1},
    {"a lie about a page with a date", 0, 200, 200, 200, OTHER, STORY "1 May.", STORY "2 May.", 0, 1},
    {"the first look was the odd one", 0, 200, 200, 200, STORY, OTHER, STORY, 1, 0},
    {"another page every time", 0, 200, 200, 200, STORY, OTHER, "Nothing of the kind: trains, bells and old bridges.",
     0, 0},
    {"numbers drawn by lot", 0, 200, 200, 200, "4 8 15 16 23 42", "7 9 33 41 44 48", "3 6 19 22 35 49", 0, 0},
    {"said to be gone, and is there", 0, 404, 200, 200, "", STORY, STORY, 0, 1},
    {"is gone", 0, 404, 410, 0, "", "", "", 1, 0},
    {"made up", 0, 200, 404, 404, STORY, "", "", 0, 1},
    {"went meanwhile, and came back", 0, 200, 404, 200, STORY, "", STORY, 1, 0},
    {"said to be empty", 0, 200, 200, 200, "", STORY, STORY, 0, 1},
    {"is empty", 0, 200, 200, 0, "", "", "", 1, 0},
    {"the witness is turned away", 0, 200, 403, 0, STORY, "", "", 0, 0},
    {"the witness is sent elsewhere", 0, 200, 302, 0, STORY, "", "", 0, 0},
    {"the server is in trouble at the second look", 0, 200, 200, 503, OTHER, STORY, "", 0, 0},
    {"words in any order", 1, 200, 200, 0, "harbour boat list lamp nets season evening spring painter Master",
     "The painter: list, LAMP, nets; a boat, spring, season's evening. Harbour master!", "", 1, 0},
    {"other words", 1, 200, 200, 200, OTHER, STORY, STORY, 0, 1},
};

static void looks_are_compared(void **state)
{
    struct bench b;
    open_bench(&b, 3, 1);
    struct c_agent *a = agent(&b, SUSPECT);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        a->checks_good = a->checks_bad = 0;
        a->check_left = 0;
        say(&b, &plain, cases[i].said, cases[i].said_text, cases[i].is_keywords);
        uint64_t first = asked(&b);
        CHECK(cases[i].label, first > SUSPECT);
        find(&b, first, cases[i].first, cases[i].first_text);
        uint64_t second = asked(&b);
        CHECK(cases[i].label, (second != 0) == (cases[i].second != 0));
        if (second) {
            CHECK("somebody else", second != first && second != SUSPECT);
            find(&b, second, cases[i].second, cases[i].second_text);
        }
        CHECK(cases[i].label, a->checks_good == cases[i].good && a->checks_bad == cases[i].bad);
        CHECK("over", asked(&b) == 0);
        CHECK("not yet", !a->is_demoted);
    }
    close_bench(&b);
}

static void a_strike_needs_two_or_one_who_is_trusted(void **state)
{
    struct bench b;
    open_bench(&b, 2, 1);
    struct c_agent *a = agent(&b, SUSPECT), *witness = agent(&b, 2);
    for (int i = 0; i < 10; i++) { /* both are new: nobody knows who of the two lies */
        say(&b, &plain, 200, OTHER, false);
        for (int k = 0; k < 2; k++) {
            assert_int_equal(asked(&b), 2);
            find(&b, 2, 200, STORY);
        }
    }
    assert_int_equal(a->checks_bad, 0);
    witness->probation_left = 0;
    say(&b, &plain, 200, OTHER, false);
    for (int k = 0; k < 2; k++) {
        assert_int_equal(asked(&b), 2);
        find(&b, 2, 200, STORY);
    }
    assert_int_equal(a->checks_bad, 1);
    close_bench(&b);
}

static void three_strikes_demote(void **state)
{
    struct bench b;
    open_bench(&b, 3, 1);
    struct c_agent *a = agent(&b, SUSPECT);
    for (unsigned i = 0; i < TRUST_STRIKES; i++) {
        a->probation_left = 10;
        CHECK("not yet", !a->is_demoted && agent_may_work(b.c, a));
        say(&b, &plain, 200, OTHER, false);
        find(&b, asked(&b), 200, STORY);
        find(&b, asked(&b), 200, STORY);
        assert_int_equal(a->checks_bad, i + 1);
        assert_int_equal(a->probation_left, COORD_PROBATION_PAGES);
    }
    CHECK("demoted", a->is_demoted && !agent_may_work(b.c, a));
    say(&b, &plain, 200, OTHER, false);
    CHECK("of no interest any more", asked(&b) == 0);
    close_bench(&b);
}

/* Pages that are drawn of so many, a batch at a time. */
static unsigned drawn_of(struct bench *b, unsigned pages, int code)
{
    unsigned n = 0;
    for (unsigned i = 0; i < pages; i++) {
        say(b, &plain, code, STORY, false);
        uint64_t who = asked(b);
        if (who) {
            n++;
            find(b, who, code, STORY);
        }
    }
    return n;
}

static void one_in_so_many_is_drawn_until_probation_is_over(void **state)
{
    struct bench b;
    open_bench(&b, 3, 20);
    struct c_agent *a = agent(&b, SUSPECT);
    assert_int_equal(drawn_of(&b, 60, 404), 3);
    assert_int_equal(a->probation_left, COORD_PROBATION_PAGES); /* pages that are gone earn nothing */
    assert_int_equal(drawn_of(&b, COORD_PROBATION_PAGES, 200), COORD_PROBATION_PAGES / 20);
    assert_int_equal(a->probation_left, 0);
    close_bench(&b);
}

static void after_probation_nothing_is_drawn_and_after_a_strike_more(void **state)
{
    struct bench b;
    open_bench(&b, 3, 20);
    struct c_agent *a = agent(&b, SUSPECT);
    a->probation_left = 0;
    assert_int_equal(drawn_of(&b, 200, 200), 0);
    a->probation_left = 100;
    a->checks_bad = 1;
    assert_int_equal(drawn_of(&b, 20, 200), 10); /* ten times as many after a strike */
    close_bench(&b);
}

static void what_programs_made_is_not_compared(void **state)
{
    struct bench b;
    struct c_channel ch = {.program = "prices"};
    open_bench(&b, 3, 1);
    say(&b, &ch, 200, OTHER, false);
    assert_int_equal(asked(&b), 0);
    close_bench(&b);
}

/* A PDF's text is as poppler has it; that the page is one is compared. */
static void of_pdfs_only_the_type_is_compared(void **state)
{
    static const struct {
        const char *label, *found;
        unsigned good, bad;
    } pdfs[] = {{"a PDF", "", 1, 0}, {"a page that is said to be a PDF", STORY, 0, 1}};
    struct bench b;
    open_bench(&b, 3, 1);
    struct c_agent *a = agent(&b, SUSPECT);
    for (size_t i = 0; i < 2; i++) {
        struct buf url = {0};
        a->checks_good = a->checks_bad = a->check_left = 0;
        buf_printf(&url, "http://a.example/%u", ++b.pages);
        trust_page(b.c, a, &plain,
                   &(struct summary){.url = buf_span(&url),
                                     .http_status = 200,
                                     .content_type = SPAN("application/pdf"),
                                     .text = SPAN(OTHER),
                                     .digest = facts_digest(SPAN(OTHER))});
        find(&b, asked(&b), 200, pdfs[i].found);
        uint64_t second = asked(&b);
        if (second)
            find(&b, second, 200, pdfs[i].found);
        CHECK(pdfs[i].label, a->checks_good == pdfs[i].good && a->checks_bad == pdfs[i].bad);
        buf_done(&url);
    }
    close_bench(&b);
}

static void answers_of_others_are_not_heard(void **state)
{
    struct bench b;
    open_bench(&b, 3, 1);
    say(&b, &plain, 200, OTHER, false);
    uint64_t who = asked(&b), other = who == 2 ? 3 : 2;
    find(&b, other, 200, STORY); /* was not asked */
    find(&b, SUSPECT, 200, OTHER);
    assert_int_equal(agent(&b, SUSPECT)->checks_good, 0);
    CHECK("still the first look", asked(&b) == 0);
    find(&b, who, 200, OTHER);
    assert_int_equal(agent(&b, SUSPECT)->checks_good, 1);
    close_bench(&b);
}

static void new_sites_are_capped(void **state)
{
    struct bench b;
    open_bench(&b, 1, 1);
    struct c_agent *a = agent(&b, SUSPECT);
    unsigned all = 0;
    for (unsigned package = 0; package < 200; package++) {
        unsigned in_package = 0, n = 0;
        while (trust_new_site(b.c, a, &in_package))
            n++;
        CHECK("a package", n <= TRUST_NEW_SITES_A_PACKAGE);
        all += n;
    }
    assert_int_equal(all, TRUST_NEW_SITES_A_DAY);
    a->new_sites_day -= 25ll * 3600 * 1000;
    unsigned fresh = 0;
    CHECK("the next day", trust_new_site(b.c, a, &fresh));
    close_bench(&b);
}

static void an_allowance_is_used_up_and_grows_again(void **state)
{
    struct allowance p = {0};
    unsigned n = 0;
    while (allowance_take(&p, 2, 10, 1000))
        n++;
    assert_int_equal(n, 10);
    CHECK("too soon", !allowance_take(&p, 2, 10, 1400));
    CHECK("one more", allowance_take(&p, 2, 10, 1600));
    CHECK("no second", !allowance_take(&p, 2, 10, 1600));
    for (n = 0; allowance_take(&p, 2, 10, 1000000);)
        n++;
    assert_int_equal(n, 10);
}

/* It is there, and does not get to it: its quota is used up, or its disk is full. */
static void a_witness_that_does_not_look_is_not_asked_for_ever(void **state)
{
    struct bench b;
    open_bench(&b, 2, 1);
    uint64_t before = agent(&b, 2)->orders_given;
    for (int i = 0; i < 2 * COORD_ORDERS_WAITING; i++) {
        agent(&b, SUSPECT)->probation_left = 500;
        say(&b, &plain, 200, STORY, false);
        (void)asked(&b);
    }
    CHECK("orders that wait", agent(&b, 2)->orders_given - before <= COORD_ORDERS_WAITING);
    agent(&b, 2)->orders_done = agent(&b, 2)->orders_given;
    CHECK("asked again", asked(&b) == 2);
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(looks_are_compared),
        TEST_IN_FOLDER(a_strike_needs_two_or_one_who_is_trusted),
        TEST_IN_FOLDER(three_strikes_demote),
        TEST_IN_FOLDER(one_in_so_many_is_drawn_until_probation_is_over),
        TEST_IN_FOLDER(after_probation_nothing_is_drawn_and_after_a_strike_more),
        TEST_IN_FOLDER(what_programs_made_is_not_compared),
        TEST_IN_FOLDER(of_pdfs_only_the_type_is_compared),
        TEST_IN_FOLDER(answers_of_others_are_not_heard),
        TEST_IN_FOLDER(new_sites_are_capped),
        TEST_IN_FOLDER(a_witness_that_does_not_look_is_not_asked_for_ever),
        cmocka_unit_test(an_allowance_is_used_up_and_grows_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
