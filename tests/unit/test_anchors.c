/* Link texts are gathered once each, survive in the store, and name the pages that have to be indexed again. */
#include "test.h"

#include "apply/anchors.h"
#include "base/pack.h"
#include "test_folder.h"

static struct store *open_store(void)
{
    struct store *s = NULL;
    struct buf why = {0};
    CHECK_STATUS("open", store_open(test_folder(), STORE_WRITE, &s, &why), ST_OK);
    buf_done(&why);
    return s;
}

static void check_view(const char *label, struct anchors *t, struct store *s, uint64_t key, const char *text,
                       unsigned votes, unsigned foreign)
{
    struct anchors_view v = {0};
    CHECK_STATUS(label, anchors_look(t, s, key, &v), ST_OK);
    CHECK_SPAN(label, buf_span(&v.text), span_str(text));
    CHECK(label, v.votes == votes && v.foreign_votes == foreign);
    anchors_view_done(&v);
}

static status note(void *arg, uint64_t target, const struct anchors_view *v)
{
    buf_printf(arg, "%llu=%.*s;", (unsigned long long)target, SPAN_ARG(buf_span(&v->text)));
    return ST_OK;
}

static void check_flush(const char *label, struct anchors *t, struct store *s, const char *want)
{
    struct buf got = {0};
    CHECK_STATUS(label, anchors_flush(t, s, note, &got), ST_OK);
    CHECK_SPAN(label, buf_span(&got), span_str(want));
    CHECK(label, anchors_memory(t) == 0);
    buf_done(&got);
}

static void the_same_text_counts_once(void **state)
{
    (void)state;
    struct store *s = open_store();
    struct anchors *t = anchors_new();
    anchors_add(t, 1, SPAN("Ring buffers"), 0);
    anchors_add(t, 1, SPAN(" ring BUFFERS "), 7);
    anchors_add(t, 1, SPAN("the queue"), 0);
    anchors_add(t, 1, SPAN("THE queue"), 0);
    anchors_add(t, 1, SPAN("  "), 0);
    anchors_add(t, 2, SPAN("two\nlines"), 0);
    check_view("one", t, s, 1, "Ring buffers\nthe queue", 2, 1);
    check_view("a line break is no separator", t, s, 2, "two lines", 1, 0);
    check_view("unknown", t, s, 3, "", 0, 0);
    anchors_free(t);
    store_free(s);
}

static void texts_are_capped(void **state)
{
    (void)state;
    struct store *s = open_store();
    struct anchors *t = anchors_new();
    for (int i = 0; i < 100; i++) {
        char text[32];
        snprintf(text, sizeof(text), "text number %d", i);
        anchors_add(t, 1, span_str(text), 0);
    }
    struct anchors_view v = {0};
    CHECK_STATUS("look", anchors_look(t, s, 1, &v), ST_OK);
    unsigned lines = 1;
    for (size_t i = 0; i < v.text.n; i++)
        lines += v.text.p[i] == '\n';
    assert_int_equal(lines, ANCHORS_A_PAGE);
    assert_int_equal(v.votes, ANCHORS_A_PAGE);
    anchors_view_done(&v);
    anchors_free(t);
    store_free(s);
}

static void only_news_makes_a_page_due_again(void **state)
{
    (void)state;
    struct store *s = open_store();
    struct anchors *t = anchors_new();
    anchors_add(t, 1, SPAN("first"), 0);
    anchors_indexed(t, 1);
    anchors_add(t, 1, SPAN("FIRST"), 0);
    check_flush("nothing new", t, s, "");
    anchors_add(t, 1, SPAN("second"), 0);
    check_view("store and memory together", t, s, 1, "first\nsecond", 2, 0);
    check_flush("a new text", t, s, "1=first\nsecond;");
    anchors_add(t, 1, SPAN("second"), 0);
    anchors_indexed(t, 1);
    for (uint32_t i = 1; i < 10; i++)
        anchors_add(t, 1, SPAN("second"), i);
    check_flush("many votes", t, s, "1=first\nsecond;");
    check_view("all votes", t, s, 1, "first\nsecond", 2, 9);
    anchors_free(t);
    store_free(s);
}

static void a_site_votes_once(void **state)
{
    (void)state;
    struct store *s = open_store();
    struct anchors *t = anchors_new();
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 5000; i++) {
            char text[32];
            snprintf(text, sizeof(text), "spam %d", i);
            anchors_add(t, 1, span_str(text), 7);
            anchors_add(t, 1, SPAN("page of mine"), 0);
        }
        check_view("in memory", t, s, 1, "spam 0\npage of mine", 1, 1);
        struct buf got = {0};
        CHECK_STATUS("flush", anchors_flush(t, s, note, &got), ST_OK);
        buf_done(&got);
        check_view("in the store", t, s, 1, "spam 0\npage of mine", 1, 1);
    }
    for (uint32_t site = 1; site < 1000; site++)
        anchors_add(t, 1, SPAN("the page"), site);
    check_view("so many count", t, s, 1, "spam 0\npage of mine\nthe page", 1, ANCHORS_SITES);
    anchors_free(t);
    store_free(s);
}

/* As it was written before sites had numbers. */
static void votes_of_before_are_kept(void **state)
{
    (void)state;
    struct store *s = open_store();
    struct anchors *t = anchors_new();
    struct buf packed = {0};
    pack_var(&packed, 5);
    pack_var(&packed, 9);
    pack_text(&packed, SPAN("old"));
    CHECK_STATUS("put", store_anchors_put(s, 1, buf_span(&packed)), ST_OK);
    anchors_add(t, 1, SPAN("new"), 3);
    check_view("both", t, s, 1, "old\nnew", 5, 10);
    buf_done(&packed);
    anchors_free(t);
    store_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(the_same_text_counts_once),
        TEST_IN_FOLDER(texts_are_capped),
        TEST_IN_FOLDER(a_site_votes_once),
        TEST_IN_FOLDER(votes_of_before_are_kept),
        TEST_IN_FOLDER(only_news_makes_a_page_due_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
