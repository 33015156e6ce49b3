/* Link texts are gathered once each, survive in the store, and name the pages that have to be indexed again. */
#include "test.h"

#include "apply/anchors.h"
#include "base/buf.h"
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
    buf_done(&v.text);
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
    anchors_add(t, 1, SPAN("Ring buffers"), false);
    anchors_add(t, 1, SPAN(" ring BUFFERS "), true);
    anchors_add(t, 1, SPAN("the queue"), false);
    anchors_add(t, 1, SPAN("  "), false);
    anchors_add(t, 2, SPAN("two\nlines"), false);
    check_view("one", t, s, 1, "Ring buffers\nthe queue", 2, 1);
    check_view("a line break is no separator", t, s, 2, "two lines", 1, 0);
    check_view("unknown", t, s, 3, "", 0, 0);
    anchors_free(t);
    store_free(s);
}

static void texts_are_capped_and_votes_are_not(void **state)
{
    (void)state;
    struct store *s = open_store();
    struct anchors *t = anchors_new();
    for (int i = 0; i < 100; i++) {
        char text[32];
        snprintf(text, sizeof(text), "text number %d", i);
        anchors_add(t, 1, span_str(text), false);
    }
    struct anchors_view v = {0};
    CHECK_STATUS("look", anchors_look(t, s, 1, &v), ST_OK);
    unsigned lines = 1;
    for (size_t i = 0; i < v.text.n; i++)
        lines += v.text.p[i] == '\n';
    assert_int_equal(lines, ANCHORS_A_PAGE);
    assert_int_equal(v.votes, 100);
    buf_done(&v.text);
    anchors_free(t);
    store_free(s);
}

static void only_news_makes_a_page_due_again(void **state)
{
    (void)state;
    struct store *s = open_store();
    struct anchors *t = anchors_new();
    anchors_add(t, 1, SPAN("first"), false);
    anchors_indexed(t, 1);
    anchors_add(t, 1, SPAN("FIRST"), false);
    check_flush("nothing new", t, s, "");
    anchors_add(t, 1, SPAN("second"), false);
    check_view("store and memory together", t, s, 1, "first\nsecond", 3, 0);
    check_flush("a new text", t, s, "1=first\nsecond;");
    anchors_add(t, 1, SPAN("second"), false);
    anchors_indexed(t, 1);
    for (int i = 0; i < 9; i++)
        anchors_add(t, 1, SPAN("second"), true);
    check_flush("many votes", t, s, "1=first\nsecond;");
    check_view("all votes", t, s, 1, "first\nsecond", 4, 9);
    anchors_free(t);
    store_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(the_same_text_counts_once),
        TEST_IN_FOLDER(texts_are_capped_and_votes_are_not),
        TEST_IN_FOLDER(only_news_makes_a_page_due_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
