/* test_agent_run_orders.c - orders other than tasks, and when an order counts as done. */
#include "agent_world.h"

#include <errno.h>
#include <unistd.h>

#include "codec/armor.h"
#include "store/file.h"
#include "wire/release.h"

/* An agent of the same name carried out orders before: this folder knows nothing of them. */
static void script_forgotten(struct fake *f, const struct report *r)
{
    struct world *w = (struct world *)f;
    if (f->step == 0) {
        f->forgotten = 57;
        order_settings(f);
        order_task(w, "127.0.0.0/24");
        f->step = 1;
    } else if (f->step == 1 && all_done(f) && f->visit_count >= SITE_PAGES) {
        fake_order(f, ORDER_QUIT, (struct span){0});
        f->step = 2;
    }
}

static void goes_on_with_orders_after_those_that_it_does_not_know(void **state)
{
    struct world w;
    static const char *const more[] = {NULL};
    world_start(&w, script_forgotten);
    run_agent(&w.fake, more, END_QUIT);
    assert_int_equal(w.fake.orders_done, 60);
    world_stop(&w);
}

/* The disk is full for a while: an order that is not written down is not done. */
static void script_full(struct fake *f, const struct report *r)
{
    struct world *w = (struct world *)f;
    if (f->step == 0) {
        order_settings(f);
        file_inject_fault(0, ENOSPC);
        f->polls = 0;
        f->step = 1;
    } else if (f->step == 1 && f->polls == 5) {
        w->done_on_full_disk = r->orders_done;
        w->taken_on_full_disk = r->orders_taken;
        file_inject_fault(0, 0);
        f->step = 2;
    } else if (f->step == 2 && all_done(f)) {
        fake_order(f, ORDER_QUIT, (struct span){0});
        f->step = 3;
    }
}

static void an_order_is_done_when_it_is_on_the_disk(void **state)
{
    struct world w;
    static const char *const more[] = {NULL};
    world_start(&w, script_full);
    run_agent(&w.fake, more, END_QUIT);
    assert_int_equal(w.fake.step, 3);
    assert_int_equal(w.done_on_full_disk, 0);
    assert_int_equal(w.taken_on_full_disk, 1);
    world_stop(&w);
}

/* A coordinator that is busy now and then, draws a new nonce, and wants a new key. */
static void script_rekey(struct fake *f, const struct report *r)
{
    struct world *w = (struct world *)f;
    if (f->step == 0) {
        order_settings(f);
        order_task(w, "127.0.0.0/24");
        f->busy = 2;
        f->step = 1;
    } else if (f->step == 1 && task_is(r, TASK_DONE) && f->visit_count >= SITE_PAGES) {
        memset(f->nonce, 77, sizeof(f->nonce)); /* as after a restart */
        f->window = (struct auth_window){0};
        fake_order(f, ORDER_REKEY, (struct span){0});
        f->step = 2;
    } else if (f->step == 2 && all_done(f)) {
        fake_order(f, ORDER_QUIT, (struct span){0});
        f->step = 3;
    }
}

static void takes_a_new_key_when_told(void **state)
{
    struct world w;
    static const char *const more[] = {NULL};
    world_start(&w, script_rekey);
    run_agent(&w.fake, more, END_QUIT);
    assert_int_equal(w.fake.rekeys, 1);
    assert_int_equal(w.fake.outcome_count, 1);
    assert_int_equal(w.fake.outcomes[0].st, ST_OK);
    world_stop(&w);
}

static void fetches_pages_for_a_comparison(void **state)
{
    struct world w;
    struct fetched_page p[3];
    static const char *const more[] = {NULL};
    world_start(&w, script_fetch);
    run_agent(&w.fake, more, END_QUIT);
    assert_int_equal(w.fake.part_count, 3);
    for (size_t i = 0; i < 3; i++)
        CHECK_STATUS("a page", fetched_page_unpack(buf_span(&w.fake.parts[i]), &p[i]), ST_OK);
    assert_int_equal(p[0].http_status, 200);
    assert_int_equal(p[1].http_status, 200);
    assert_int_equal(p[2].http_status, 0);
    CHECK("digests differ", p[0].digest && p[1].digest && p[0].digest != p[1].digest);
    CHECK("sketches are near", __builtin_popcountll(p[0].sketch ^ p[1].sketch) < 32);
    world_stop(&w);
}

static void script_unknown(struct fake *f, const struct report *r)
{
    if (f->step == 0) {
        struct buf body = {0};
        fake_order(f, (order_kind)99, SPAN("whatever"));
        program_order_pack(
            &(struct program_order){.name = SPAN("prices"), .serial = 1, .bytes = SPAN("orb-program 1\n")}, &body);
        fake_order(f, ORDER_PROGRAM, buf_span(&body));
        buf_clear(&body);
        update_order_pack(&(struct update_order){.version = SPAN("9.9"),
                                                 .digest = SPAN("12345678901234567890123456789012"),
                                                 .bytes = 10,
                                                 .machine = SPAN("x")},
                          &body);
        fake_order(f, ORDER_UPDATE, buf_span(&body));
        buf_done(&body);
        f->step = 1;
    } else if (f->step == 1 && all_done(f)) {
        fake_order(f, ORDER_QUIT, (struct span){0});
        f->step = 2;
    }
}

static void answers_orders_that_it_does_not_carry_out(void **state)
{
    struct world w;
    static const char *const more[] = {NULL};
    world_start(&w, script_unknown);
    run_agent(&w.fake, more, END_QUIT);
    assert_int_equal(w.fake.outcome_count, 3);
    assert_int_equal(w.fake.outcomes[0].st, ST_UNSUPPORTED);
    assert_int_equal(w.fake.outcomes[1].st, ST_REFUSED);
    assert_int_equal(w.fake.outcomes[2].st, ST_REFUSED);
    world_stop(&w);
}

/* ---- probes ---- */

static void script_probes(struct fake *f, const struct report *r)
{
    struct world *w = (struct world *)f;
    for (size_t i = 0; i < r->probe_count && w->probe_count < 8; i++)
        w->probes[w->probe_count++] = r->probes[i];
    if (f->step == 0) {
        struct buf body = {0};
        const struct probe_ask asks[] = {{.id = 1, .url = buf_span(&w->seed), .samples = 2},
                                         {.id = 2, .url = buf_span(&w->seed), .kind = 2, .samples = 1},
                                         {.id = 3, .address = SPAN("127.9.0.1"), .kind = 1}};
        order_settings(f);
        probe_order_pack(&(struct probe_order){asks, 3}, &body);
        fake_order(f, ORDER_PROBE, buf_span(&body));
        buf_clear(&body);
        field_text(&body, 1, SPAN("no fields"));
        fake_order(f, ORDER_PROBE, buf_span(&body));
        buf_done(&body);
        f->step = 1;
    } else if (f->step == 1 && all_done(f) && w->probe_count >= 3) {
        fake_order(f, ORDER_QUIT, (struct span){0});
        f->step = 2;
    }
}

static void carries_out_probes_and_tells_what_came_of_them(void **state)
{
    struct world w;
    static const char *const more[] = {"--refuse-network", "127.9.0.0/16", NULL};
    static const status want[] = {ST_OK, ST_OK, ST_REFUSED};
    world_start(&w, script_probes);
    run_agent(&w.fake, more, END_QUIT);
    assert_int_equal(w.probe_count, 3); /* each once */
    for (uint64_t id = 1; id <= 3; id++) {
        const struct probe_report *p = NULL;
        for (size_t i = 0; i < 3; i++)
            if (w.probes[i].id == id)
                p = &w.probes[i];
        CHECK("a result", p != NULL);
        CHECK_STATUS("result", p->st, want[id - 1]);
        assert_int_equal(p->samples, id == 1 ? 2 : id == 2 ? 1 : 0);
        assert_int_equal(p->kind, id == 2 ? 2 : 1);
    }
    assert_int_equal(w.fake.refused_count, 1); /* and the owner is told */
    assert_int_equal(w.fake.outcome_count, 1);
    CHECK_STATUS("an order that cannot be read", w.fake.outcomes[0].st, ST_INVALID);
    world_stop(&w);
}

/* ---- a new version ---- */

static void script_update(struct fake *f, const struct report *r)
{
    struct buf machine = {0}, message = {0}, body = {0};
    struct signature sig;
    struct digest256 d;
    if (f->step++ != 0)
        return;
    buf_puts(&f->blob, "#!/bin/sh\n# in several pieces\nexit 0\n");
    d = digest_blake2b256(buf_span(&f->blob));
    machine_name(&machine);
    release_message(SPAN("9.9"), buf_span(&machine), span_of(d.b, sizeof(d.b)), &message);
    sign_make(&f->key, buf_span(&message), &sig); /* any key will do */
    update_order_pack(&(struct update_order){.version = SPAN("9.9"),
                                             .digest = span_of(d.b, sizeof(d.b)),
                                             .bytes = f->blob.n,
                                             .sig = span_of(sig.b, sizeof(sig.b)),
                                             .machine = buf_span(&machine)},
                      &body);
    fake_order(f, ORDER_UPDATE, buf_span(&body));
    buf_done(&machine);
    buf_done(&message);
    buf_done(&body);
}

static void fetches_a_signed_update_and_ends_to_try_it(void **state)
{
    struct world w;
    struct buf key = {0}, path = {0};
    world_start(&w, script_update);
    base64url_put(&key, span_of(w.fake.key.open.b, sizeof(w.fake.key.open.b)));
    const char *const more[] = {"--update-key", buf_cstr(&key), NULL};
    run_agent(&w.fake, more, END_UPDATE);
    update_path(test_folder(), SPAN("9.9"), &path);
    assert_int_equal(access(path.p, X_OK), 0);
    assert_int_equal(w.fake.orders_done, 0); /* the new version will say so */
    buf_done(&key);
    buf_done(&path);
    world_stop(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(goes_on_with_orders_after_those_that_it_does_not_know),
        TEST_IN_FOLDER(an_order_is_done_when_it_is_on_the_disk),
        TEST_IN_FOLDER(takes_a_new_key_when_told),
        TEST_IN_FOLDER(fetches_pages_for_a_comparison),
        TEST_IN_FOLDER(answers_orders_that_it_does_not_carry_out),
        TEST_IN_FOLDER(carries_out_probes_and_tells_what_came_of_them),
        TEST_IN_FOLDER(fetches_a_signed_update_and_ends_to_try_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
