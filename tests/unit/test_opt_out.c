/* A list ends what it began, and nothing that a person forgot by themselves. */
#include "test.h"

#include "apply/opt_out.h"
#include "test_folder.h"

#define NOW 1700000000000

static struct store *open_store(void)
{
    struct store *s = NULL;
    CHECK_STATUS("store", store_open(test_folder(), STORE_WRITE, &s, NULL), ST_OK);
    return s;
}

static void take_list(struct store *s, const char *list, size_t added, size_t removed)
{
    struct opt_out_change change;
    struct buf why = {0};
    CHECK_STATUS(list, opt_out_apply(s, span_str(list), NOW, &change, &why), ST_OK);
    assert_int_equal(change.added, added);
    assert_int_equal(change.removed, removed);
    buf_done(&why);
}

static void forget_anyway(struct store *s, const char *place, const char *why)
{
    struct forgotten f = {span_str(place), NOW + 1, span_str(why)};
    CHECK_STATUS(place, opt_out_forget_anyway(s, &f), ST_OK);
}

static status put_line(void *arg, const struct forgotten *f)
{
    buf_printf(arg, "%.*s %d %.*s\n", SPAN_ARG(f->place), (int)(f->at - NOW), SPAN_ARG(f->why));
    return ST_OK;
}

static void check_all(struct store *s, const char *want)
{
    struct buf got = {0};
    CHECK_STATUS("each", store_forgotten_each(s, put_line, &got), ST_OK);
    CHECK_SPAN("remembered", buf_span(&got), span_str(want));
    buf_done(&got);
}

static void a_line_that_is_gone_ends_it(void **state)
{
    (void)state;
    struct store *s = open_store();
    take_list(s, "a.example since May\nb.example\n", 2, 0);
    check_all(s, "a.example 0 opt-out: since May\nb.example 0 opt-out\n");
    take_list(s, "b.example\n", 0, 1);
    check_all(s, "b.example 0 opt-out\n");
    store_free(s);
}

static void what_a_person_forgot_stays(void **state)
{
    (void)state;
    struct store *s = open_store();
    take_list(s, "a.example since May\nb.example\n", 2, 0);
    forget_anyway(s, "a.example", "");
    forget_anyway(s, "b.example", "opt-out: mail of 3 May");
    forget_anyway(s, "c.example", "asked for");
    forget_anyway(s, "c.example", "");
    take_list(s, "d.example\n", 1, 0);
    check_all(s, "a.example 1 \n"
                 "b.example 1 \"opt-out: mail of 3 May\"\n"
                 "c.example 1 asked for\n"
                 "d.example 0 opt-out\n");
    take_list(s, "", 0, 1);
    store_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(a_line_that_is_gone_ends_it),
        TEST_IN_FOLDER(what_a_person_forgot_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
