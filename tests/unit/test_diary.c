#include "test.h"

#include "test_folder.h"

#include "coord/diary.h"
#include "coord/state.h"
#include "io/clock.h"
#include "wire/fields.h"

#define HOUR_MS (3600ll * 1000)
#define DAY_MS (24 * HOUR_MS)

/* As much of a coordinator as a diary needs. */
static struct coord *open_desk(void)
{
    struct coord *c = calloc(1, sizeof(*c));
    struct buf why = {0};
    CHECK_STATUS("fleet", fleet_open(test_folder(), &c->fleet, &why), ST_OK);
    diary_open(c);
    buf_done(&why);
    return c;
}

static void close_desk(struct coord *c)
{
    diary_save(c);
    fleet_close(c->fleet);
    free(c);
}

static struct c_network network(const char *text, const char *why)
{
    struct c_network n = {0};
    snprintf(n.text, sizeof(n.text), "%s", text);
    snprintf(n.why, sizeof(n.why), "%s", why);
    return n;
}

static void counts_by_the_hour_and_the_day(void **state)
{
    /* An hour may end in the midst of it, once. */
    wall_ms before = clock_wall();
    if ((before + 5000) / HOUR_MS != before / HOUR_MS)
        skip();
    struct coord *c = open_desk();
    struct c_network n = network("192.0.2.0/24", "measured 3 ms");
    diary_note_given(c);
    diary_note_given(c);
    diary_note_probes(c, 3);
    diary_note_move(c, &n, 1, 2, MOVE_CALIBRATED);
    wall_ms now = before;
    const struct diary_count *list[] = {diary_hour(&c->diary, now / HOUR_MS), diary_day(&c->diary, now / DAY_MS)};
    for (size_t i = 0; i < 2; i++) {
        CHECK("there", list[i] != NULL);
        CHECK("given", list[i]->given == 2);
        CHECK("probes", list[i]->probes == 3);
        CHECK("moves", list[i]->moves[MOVE_CALIBRATED] == 1 && list[i]->moves[MOVE_TRIAL] == 0);
    }
    CHECK("the day before is empty", diary_day(&c->diary, now / DAY_MS - 1) == NULL);
    CHECK("so is the one that has the same place", diary_day(&c->diary, now / DAY_MS - DIARY_DAYS) == NULL);
    CHECK("since the start", c->diary.given == 2 && c->diary.probes == 3 && c->diary.moves[MOVE_CALIBRATED] == 1);
    close_desk(c);
}

static void outlives_a_restart(void **state)
{
    struct coord *c = open_desk();
    struct c_network n = network("192.0.2.0/24", "measured 3 ms");
    diary_note_given(c);
    diary_note_probes(c, 7);
    diary_note_move(c, &n, 1, 2, MOVE_TRIAL);
    diary_note_move(c, &n, 2, 1, MOVE_PERSON);
    close_desk(c);
    c = open_desk();
    const struct diary_count *k = diary_day(&c->diary, clock_wall() / DAY_MS);
    CHECK("day", k && k->given >= 1 && k->probes >= 7 && k->moves[MOVE_PERSON] >= 1);
    const struct diary_move *m = diary_move_at(&c->diary, 0);
    CHECK("newest first", m && m->kind == MOVE_PERSON && m->from == 2 && m->to == 1);
    CHECK_SPAN("network", span_str(m->network), SPAN("192.0.2.0/24"));
    CHECK_SPAN("why", span_str(m->why), SPAN("measured 3 ms"));
    CHECK("then", diary_move_at(&c->diary, 1)->kind == MOVE_TRIAL);
    CHECK("counters begin again", c->diary.given == 0 && c->diary.moves[MOVE_TRIAL] == 0);
    close_desk(c);
}

static void keeps_the_last_moves_only(void **state)
{
    struct coord *c = open_desk();
    for (unsigned i = 0; i < DIARY_MOVES + 10; i++) {
        struct c_network n = network("192.0.2.0/24", "");
        snprintf(n.why, sizeof(n.why), "%u", i);
        diary_note_move(c, &n, 1, 2, MOVE_AWAY);
    }
    for (int round = 0; round < 2; round++) {
        CHECK_SPAN("newest", span_str(diary_move_at(&c->diary, 0)->why), SPAN("265"));
        CHECK_SPAN("oldest", span_str(diary_move_at(&c->diary, DIARY_MOVES - 1)->why), SPAN("10"));
        CHECK("no more", diary_move_at(&c->diary, DIARY_MOVES) == NULL);
        close_desk(c);
        c = open_desk();
    }
    close_desk(c);
}

static void a_record_that_is_none_begins_anew(void **state)
{
    struct buf good = {0}, bad_count = {0}, bad_move = {0}, long_one = {0};
    field_i64(&good, 1, 0); /* of an hour: number 0 */
    field_text(&bad_count, 2, buf_span(&good));
    field_text(&bad_move, 3, SPAN("\x01\x7f"));
    while (long_one.n <= 1u << 20)
        field_text(&long_one, 99, SPAN("0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"));
    const struct {
        const char *name;
        struct span packed;
    } cases[] = {{"no fields", SPAN("\xff\xff\xff")},
                 {"cut short", SPAN("\x01\x20zz")},
                 {"a day without a number", buf_span(&bad_count)},
                 {"a move that is none", buf_span(&bad_move)},
                 {"too long", buf_span(&long_one)}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct coord *c = open_desk();
        CHECK_STATUS("put", fleet_put(c->fleet, FLEET_SETTING, SPAN("diary"), cases[i].packed), ST_OK);
        c->diary.is_dirty = false;
        close_desk(c);
        c = open_desk();
        CHECK(cases[i].name, c->diary.move_count == 0 && diary_day(&c->diary, clock_wall() / DAY_MS) == NULL);
        diary_note_given(c);
        close_desk(c);
        c = open_desk();
        CHECK(cases[i].name, diary_day(&c->diary, clock_wall() / DAY_MS)->given == 1);
        close_desk(c);
    }
    buf_done(&good);
    buf_done(&bad_count);
    buf_done(&bad_move);
    buf_done(&long_one);
}

static void is_written_once_a_minute(void **state)
{
    struct coord *c = open_desk();
    diary_tick(c, 1000);
    diary_note_given(c);
    diary_tick(c, 60999);
    CHECK("not yet", c->diary.is_dirty);
    diary_tick(c, 61000);
    CHECK("now", !c->diary.is_dirty);
    close_desk(c);
}

static void kinds_have_names(void **state)
{
    for (int a = 0; a < MOVE_KINDS; a++)
        for (int b = 0; b < a; b++)
            CHECK("different", strcmp(move_kind_name((move_kind)a), move_kind_name((move_kind)b)) != 0);
    CHECK("of a newer version", strcmp(move_kind_name((move_kind)77), "other") == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(counts_by_the_hour_and_the_day), TEST_IN_FOLDER(outlives_a_restart),
        TEST_IN_FOLDER(keeps_the_last_moves_only),      TEST_IN_FOLDER(a_record_that_is_none_begins_anew),
        TEST_IN_FOLDER(is_written_once_a_minute),       cmocka_unit_test(kinds_have_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
