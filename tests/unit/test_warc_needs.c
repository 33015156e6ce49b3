/* test_warc_needs.c - what is kept of old files is what the revisits of the others refer to, no more: against a model
 * that looks at everything for every choice. */
#include "test.h"

#include "base/rng.h"
#include "store/warc_needs.h"

#define FILES 8
#define RECORDS 12 /* of a file */
#define KEYS 6

struct record {
    uint64_t key, bytes;
    bool is_body;
};

struct world {
    struct record records[FILES][RECORDS];
    size_t counts[FILES];
    uint64_t sizes[FILES];
    bool is_old[FILES];
};

static void make_world(struct rng *rng, struct world *w)
{
    *w = (struct world){0};
    for (size_t f = 0; f < FILES; f++) {
        w->counts[f] = rng_u64(rng) % (RECORDS + 1);
        w->is_old[f] = rng_u64(rng) % 4 == 0;
        for (size_t i = 0; i < w->counts[f]; i++) {
            w->records[f][i] = (struct record){rng_u64(rng) % KEYS, 1 + rng_u64(rng) % 100, rng_u64(rng) % 3 == 0};
            w->sizes[f] += w->records[f][i].bytes;
        }
    }
}

/* The file that has what a revisit refers to; FILES: none. */
static size_t origin_of(const struct world *w, size_t file, size_t at)
{
    for (size_t f = file + 1; f-- > 0;)
        for (size_t i = f == file ? at : w->counts[f]; i-- > 0;)
            if (w->records[f][i].is_body && w->records[f][i].key == w->records[file][at].key)
                return f;
    return FILES;
}

static bool is_needed(const struct world *w, const bool *goes, size_t file, uint64_t key)
{
    for (size_t f = 0; f < FILES; f++)
        for (size_t i = 0; i < w->counts[f] && !goes[f]; i++)
            if (!w->records[f][i].is_body && w->records[f][i].key == key && origin_of(w, f, i) == file)
                return true;
    return false;
}

/* All of its kind in the file. */
static struct warc_needed bodies_of(const struct world *w, size_t file, uint64_t key)
{
    struct warc_needed all = {0};
    for (size_t i = 0; i < w->counts[file]; i++)
        if (w->records[file][i].is_body && w->records[file][i].key == key) {
            all.bodies++;
            all.bytes += w->records[file][i].bytes;
        }
    return all;
}

static uint64_t left_of(const struct world *w, const bool *goes)
{
    uint64_t left = 0;
    for (size_t f = 0; f < FILES; f++) {
        left += goes[f] ? 0 : w->sizes[f];
        for (uint64_t key = 0; key < KEYS && goes[f]; key++)
            left += is_needed(w, goes, f, key) ? bodies_of(w, f, key).bytes : 0;
    }
    return left;
}

static void choose(const struct world *w, uint64_t bytes_max, bool *goes)
{
    memcpy(goes, w->is_old, sizeof(w->is_old));
    for (size_t f = 0; f < FILES && bytes_max && left_of(w, goes) > bytes_max; f++)
        goes[f] = true;
}

static void check_file(const struct world *w, const struct warc_needs *n, const bool *goes, size_t file)
{
    struct warc_needed got = warc_needs_of(n, file), want = {0};
    for (uint64_t key = 0; key < KEYS; key++) {
        bool needed = is_needed(w, goes, file, key);
        assert_int_equal(warc_needs_body(n, file, key), needed);
        want.bodies += needed ? bodies_of(w, file, key).bodies : 0;
        want.bytes += needed ? bodies_of(w, file, key).bytes : 0;
    }
    assert_int_equal(got.bodies, want.bodies);
    assert_int_equal(got.bytes, want.bytes);
    assert_int_equal(got.is_all, want.bodies == w->counts[file]);
}

static void check_world(const struct world *w, uint64_t bytes_max)
{
    struct warc_needs *n = warc_needs_new(FILES);
    bool goes[FILES], want[FILES];
    for (size_t f = FILES; f-- > 0;) {
        for (size_t i = 0; i < w->counts[f]; i++)
            warc_needs_note(n, w->records[f][i].key, w->records[f][i].is_body, w->records[f][i].bytes);
        warc_needs_end_file(n, f, w->is_old[f]);
    }
    memcpy(goes, w->is_old, sizeof(goes));
    warc_needs_choose(n, w->sizes, goes, bytes_max);
    choose(w, bytes_max, want);
    assert_memory_equal(goes, want, sizeof(goes));
    for (size_t f = 0; f < FILES; f++)
        if (goes[f])
            check_file(w, n, goes, f);
    warc_needs_free(n);
}

static void as_a_model_has_it(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 11);
    for (int i = 0; i < 3000; i++) {
        struct world w;
        make_world(&rng, &w);
        check_world(&w, i % 4 ? rng_u64(&rng) % 3000 + 1 : 0);
    }
}

static void a_body_is_its_sites_own(void **state)
{
    (void)state;
    uint64_t key = warc_need_key(SPAN("http://a.example/1"), SPAN("sha1:X"));
    CHECK("another page", key == warc_need_key(SPAN("http://a.example/2?x"), SPAN("sha1:X")));
    CHECK("another site", key != warc_need_key(SPAN("http://b.example/1"), SPAN("sha1:X")));
    CHECK("another port", key != warc_need_key(SPAN("http://a.example:81/1"), SPAN("sha1:X")));
    CHECK("another body", key != warc_need_key(SPAN("http://a.example/1"), SPAN("sha1:Y")));
}

static void something_else_is_in_it(void **state)
{
    (void)state;
    const uint64_t sizes[2] = {10, 10};
    bool goes[2] = {true, false};
    struct warc_needs *n = warc_needs_new(2);
    warc_needs_note(n, 1, false, 5);
    warc_needs_end_file(n, 1, false);
    warc_needs_note(n, 1, true, 5);
    warc_needs_note_other(n);
    warc_needs_end_file(n, 0, true);
    warc_needs_choose(n, sizes, goes, 0);
    CHECK("needed", warc_needs_of(n, 0).bodies == 1 && !warc_needs_of(n, 0).is_all);
    warc_needs_free(n);
}

/* Two pages with the same body that were fetched at the same time: neither is a revisit of the other. Both stay, and a
 * file that has nothing else is not written anew for ever. */
static void a_body_that_is_there_twice(void **state)
{
    (void)state;
    const uint64_t sizes[2] = {10, 10};
    bool goes[2] = {true, false};
    struct warc_needs *n = warc_needs_new(2);
    warc_needs_note(n, 1, false, 5);
    warc_needs_end_file(n, 1, false);
    warc_needs_note(n, 1, true, 5);
    warc_needs_note(n, 1, true, 6);
    warc_needs_end_file(n, 0, true);
    warc_needs_choose(n, sizes, goes, 0);
    struct warc_needed needed = warc_needs_of(n, 0);
    CHECK("both", needed.bodies == 2 && needed.bytes == 11 && needed.is_all);
    warc_needs_free(n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_a_model_has_it),
        cmocka_unit_test(a_body_is_its_sites_own),
        cmocka_unit_test(something_else_is_in_it),
        cmocka_unit_test(a_body_that_is_there_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
