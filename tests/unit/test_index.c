#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

#include "index/index_files.h"
#include "index/manifest.h"
#include "index/segment/segment_write.h"
#include "index/snapshot.h"
#include "index/tombs.h"
#include "index_model.h"
#include "store/file.h"

static struct index *open_plain(void)
{
    return open_with((struct index_opts){.no_merge = true});
}

static struct index_stats stats_of(struct index *ix)
{
    struct index_stats s;
    index_get_stats(ix, &s);
    return s;
}

static void commit(struct index *ix, uint64_t applied)
{
    CHECK_STATUS("commit", index_commit(ix, applied), ST_OK);
}

/* ---- small formats ---- */

static void pack_sample(struct buf *b)
{
    struct manifest_segment segments[] = {{3, 100, 7, 9, 12345}, {8, 1, 0, 0, 99}};
    struct manifest m = {.identity = 5,
                         .generation = 10,
                         .applied = 77,
                         .next_segment = 9,
                         .dictionary_bytes = 4,
                         .dictionary_crc = 6,
                         .segments = segments,
                         .segment_count = 2};
    manifest_pack(&m, b);
}

static void a_manifest_comes_back_as_it_was(void **state)
{
    struct buf a = {0}, b = {0};
    struct manifest m;
    pack_sample(&a);
    CHECK_STATUS("unpack", manifest_unpack(buf_span(&a), &m, NULL), ST_OK);
    manifest_pack(&m, &b);
    CHECK_SPAN("same", buf_span(&b), buf_span(&a));
    manifest_done(&m);
    buf_done(&a);
    buf_done(&b);
}

static void a_damaged_manifest_is_noticed(void **state)
{
    struct buf good = {0}, bad = {0}, why = {0};
    struct manifest m;
    pack_sample(&good);
    for (size_t i = 0; i < good.n; i++)
        for (unsigned bit = 0; bit < 8; bit++) {
            buf_clear(&bad);
            buf_put(&bad, buf_span(&good));
            bad.p[i] = (char)(bad.p[i] ^ (char)(1u << bit));
            status st = manifest_unpack(buf_span(&bad), &m, &why);
            /* A version that is too high is not ours to check further. */
            CHECK("flipped", st == ST_CORRUPT || (st == ST_NEWER && i >= 8 && i < 16));
        }
    for (size_t i = 0; i < good.n; i++)
        CHECK_STATUS("cut", manifest_unpack(span_cut(buf_span(&good), 0, i), &m, NULL), ST_CORRUPT);
    CHECK("why", why.n);
    buf_done(&why);
    buf_done(&good);
    buf_done(&bad);
}

static void tombstones_come_back_and_damage_is_noticed(void **state)
{
    struct tombs *t = tombs_new(21), *back = NULL;
    struct buf path = {0}, bytes = {0};
    tombs_set(t, 0);
    tombs_set(t, 20);
    tombs_set(t, 20);
    CHECK_STATUS("write", tombs_write(t, test_folder(), 7, 3), ST_OK);
    CHECK_STATUS("read", tombs_read(test_folder(), 7, 3, 21, &back), ST_OK);
    CHECK("same", back->dead == 2 && tombs_has(back, 0) && tombs_has(back, 20) && !tombs_has(back, 19));
    tombs_unref(back);
    CHECK_STATUS("other count", tombs_read(test_folder(), 7, 3, 22, &back), ST_CORRUPT);
    CHECK_STATUS("bytes more", tombs_read(test_folder(), 7, 3, 2, &back), ST_CORRUPT);
    CHECK_STATUS("none", tombs_read(test_folder(), 7, 4, 21, &back), ST_NOT_FOUND);
    index_file_tombs(&path, test_folder(), 7, 3);
    CHECK_STATUS("bytes", file_read(path.p, 1000, &bytes), ST_OK);
    for (size_t i = 0; i < bytes.n; i++) {
        bytes.p[i] ^= 4;
        CHECK_STATUS("damage", file_replace(path.p, buf_span(&bytes)), ST_OK);
        CHECK_STATUS("flipped", tombs_read(test_folder(), 7, 3, 21, &back), ST_CORRUPT);
        bytes.p[i] ^= 4;
    }
    buf_done(&bytes);
    buf_done(&path);
    tombs_unref(t);
}

/* ---- opening ---- */

static void a_new_index_is_empty_and_readable(void **state)
{
    struct index *ix = open_plain();
    struct index_reader *r = NULL;
    struct index_snapshot *s = NULL;
    CHECK("applied", index_applied(ix) == 0);
    CHECK_STATUS("reader", index_reader_open(index_dir(), &r, NULL), ST_OK);
    CHECK_STATUS("snapshot", index_reader_snapshot(r, &s), ST_OK);
    CHECK("empty", index_snapshot_docs(s) == 0 && index_snapshot_generation(s) == 1);
    index_snapshot_free(s);
    index_reader_free(r);
    index_close(ix);
    index_close(NULL);
    index_snapshot_free(NULL);
    index_reader_free(NULL);
}

static void without_an_index_a_reader_says_so(void **state)
{
    struct index_reader *r = NULL;
    struct buf why = {0};
    CHECK_STATUS("none", index_reader_open(index_dir(), &r, &why), ST_NOT_FOUND);
    CHECK("why", why.n);
    buf_done(&why);
}

static void one_writer_at_a_time(void **state)
{
    struct index *ix = open_plain(), *other = NULL;
    struct buf why = {0};
    struct index_opts o = {.dir = index_dir()};
    CHECK_STATUS("second", index_open(&o, &other, &why), ST_BUSY);
    CHECK("why", why.n);
    CHECK_STATUS("erase", index_erase(index_dir()), ST_BUSY);
    index_close(ix);
    CHECK_STATUS("erase", index_erase(index_dir()), ST_OK);
    buf_done(&why);
}

static void put_manifest(struct buf *packed)
{
    struct buf path = {0};
    index_file_manifest(&path, index_dir());
    CHECK_STATUS("put", file_replace(path.p, buf_span(packed)), ST_OK);
    buf_done(&path);
}

static void an_index_of_other_rules_is_erased_and_made_anew(void **state)
{
    struct model m = {0};
    struct index *ix = open_plain();
    CHECK_STATUS("add", model_index_add(ix, 1, 1, 0), ST_OK);
    commit(ix, 5);
    index_close(ix);
    struct buf path = {0}, packed = {0}, why = {0};
    struct manifest old;
    index_file_manifest(&path, index_dir());
    CHECK_STATUS("read", file_read(path.p, 10000, &packed), ST_OK);
    CHECK_STATUS("read", manifest_unpack(buf_span(&packed), &old, NULL), ST_OK);
    manifest_done(&old);
    packed.p[12]++; /* the segments' version */
    put_manifest(&packed);
    struct index_opts o = {.dir = index_dir()};
    struct index_reader *r = NULL;
    CHECK_STATUS("newer", index_open(&o, &ix, &why), ST_NEWER);
    CHECK_STATUS("newer", index_reader_open(index_dir(), &r, &why), ST_NEWER);
    packed.p[12]--;
    packed.p[20]++;
    put_manifest(&packed);
    CHECK_STATUS("damaged", index_open(&o, &ix, &why), ST_CORRUPT);
    CHECK_STATUS("erase", index_erase(index_dir()), ST_OK);
    ix = open_plain();
    CHECK("applied", index_applied(ix) == 0);
    index_close(ix);
    model_compare(&m, index_dir(), "erased");
    buf_done(&packed);
    buf_done(&path);
    buf_done(&why);
}

static void make_file(const char *name)
{
    char path[TEST_PATH + 64];
    snprintf(path, sizeof(path), "%s/%s", index_dir(), name);
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0);
    close(fd);
}

static bool has_file(const char *name)
{
    char path[TEST_PATH + 64];
    snprintf(path, sizeof(path), "%s/%s", index_dir(), name);
    return access(path, F_OK) == 0;
}

static void leftovers_of_a_killed_run_are_swept(void **state)
{
    static const struct {
        const char *name;
        bool stays;
    } cases[] = {
        {"0000abcd.docs", false},          {"0000abcd.post", false}, {"0000abcd.del-00000009", false},
        {"manifest.tmp", false},           {"dictionary", false},    {"notes.txt", true},
        {"0000abcd.else", true},           {"xyz.docs", true},       {"0000abcd.del-", true},
        {"0000abcd.del-00000009.x", true},
    };
    index_close(open_plain());
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        make_file(cases[i].name);
    index_close(open_plain());
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        CHECK(cases[i].name, has_file(cases[i].name) == cases[i].stays);
}

/* ---- the life of a commit ---- */

static void only_what_was_committed_is_there_after_closing(void **state)
{
    struct model m = {0};
    struct index *ix = open_plain();
    for (unsigned k = 0; k < 20; k++) {
        CHECK_STATUS("add", model_index_add(ix, k, 1, 0), ST_OK);
        model_add(&m, k, 1, 0);
    }
    commit(ix, 20);
    model_commit(&m);
    for (unsigned k = 10; k < 30; k++)
        CHECK_STATUS("add", model_index_add(ix, k, 2, 0), ST_OK);
    index_close(ix);
    model_compare(&m, index_dir(), "closed");
    ix = open_plain();
    CHECK("applied", index_applied(ix) == 20);
    CHECK("docs", stats_of(ix).docs == 20);
    index_close(ix);
    model_compare(&m, index_dir(), "again");
}

static void the_higher_number_stays(void **state)
{
    static const struct {
        const char *label;
        struct {
            char what; /* a: add, d: delete, c: commit */
            uint64_t number;
            unsigned anchors;
        } steps[6];
        uint64_t want; /* 0: not there */
        uint64_t generations;
    } cases[] = {
        {"newer", {{'a', 1, 0}, {'c', 0, 0}, {'a', 2, 0}, {'c', 0, 0}}, 2, 2},
        {"older", {{'a', 2, 0}, {'c', 0, 0}, {'a', 1, 0}, {'c', 0, 0}}, 2, 2},
        {"older in one batch", {{'a', 2, 0}, {'a', 1, 0}, {'c', 0, 0}}, 2, 1},
        {"deleted", {{'a', 2, 0}, {'c', 0, 0}, {'d', 3, 0}, {'c', 0, 0}}, 0, 2},
        {"deleted with its number", {{'a', 2, 0}, {'c', 0, 0}, {'d', 2, 0}, {'c', 0, 0}}, 0, 2},
        {"deleted too late", {{'a', 4, 0}, {'c', 0, 0}, {'d', 3, 0}, {'c', 0, 0}}, 4, 2},
        {"deleted in the batch", {{'a', 2, 0}, {'d', 3, 0}, {'c', 0, 0}}, 0, 1},
        {"deleted before", {{'d', 3, 0}, {'a', 2, 0}, {'c', 0, 0}}, 0, 1},
        {"brought back", {{'a', 1, 0}, {'c', 0, 0}, {'d', 2, 0}, {'a', 3, 0}, {'c', 0, 0}}, 3, 2},
        {"deleted twice", {{'d', 5, 0}, {'d', 3, 0}, {'a', 4, 0}, {'c', 0, 0}}, 0, 1},
        {"never there", {{'d', 5, 0}, {'c', 0, 0}}, 0, 1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct model m = {0};
        uint64_t commits = 0;
        CHECK_STATUS(cases[i].label, index_erase(index_dir()), ST_OK);
        struct index *ix = open_plain();
        for (size_t k = 0; k < 6 && cases[i].steps[k].what; k++) {
            uint64_t number = cases[i].steps[k].number;
            if (cases[i].steps[k].what == 'a') {
                CHECK_STATUS(cases[i].label, model_index_add(ix, 9, number, 0), ST_OK);
                model_add(&m, 9, number, 0);
            } else if (cases[i].steps[k].what == 'd') {
                CHECK_STATUS(cases[i].label, index_delete(ix, 9, number), ST_OK);
                model_delete(&m, 9, number);
            } else {
                commit(ix, ++commits);
                model_commit(&m);
            }
        }
        CHECK(cases[i].label, m.committed[9].is_there == (cases[i].want > 0));
        CHECK(cases[i].label, !cases[i].want || m.committed[9].number == cases[i].want);
        CHECK(cases[i].label, stats_of(ix).generation == 1 + cases[i].generations);
        model_compare(&m, index_dir(), cases[i].label);
        index_close(ix);
    }
}

static void the_same_number_counts_when_anchors_differ(void **state)
{
    struct index *ix = open_plain();
    CHECK_STATUS("add", model_index_add(ix, 1, 5, 0), ST_OK);
    commit(ix, 1);
    CHECK_STATUS("same", model_index_add(ix, 1, 5, 0), ST_OK);
    commit(ix, 2);
    CHECK("same", stats_of(ix).segments == 1 && stats_of(ix).deleted == 0);
    uint64_t bytes = stats_of(ix).bytes;
    CHECK_STATUS("anchors", model_index_add(ix, 1, 5, 2), ST_OK);
    commit(ix, 3);
    CHECK("anchors", stats_of(ix).segments == 1 && stats_of(ix).bytes > bytes && stats_of(ix).docs == 1);
    index_close(ix);
}

static void a_commit_of_nothing_writes_nothing(void **state)
{
    struct index *ix = open_plain();
    uint64_t generation = stats_of(ix).generation;
    commit(ix, 0);
    CHECK("nothing", stats_of(ix).generation == generation);
    commit(ix, 1);
    CHECK("applied", stats_of(ix).generation == generation + 1 && index_applied(ix) == 1);
    index_close(ix);
}

static void a_commit_in_the_background_is_awaited_by_the_next(void **state)
{
    struct model m = {0};
    struct index *ix = open_with((struct index_opts){.builders = 2});
    for (unsigned i = 0; i < 50; i++) {
        for (unsigned k = 0; k < 5; k++) {
            CHECK_STATUS("add", model_index_add(ix, (i * 7 + k) % MODEL_KEYS, i + 1, 0), ST_OK);
            model_add(&m, (i * 7 + k) % MODEL_KEYS, i + 1, 0);
        }
        CHECK_STATUS("soon", index_commit_soon(ix, i), ST_OK);
    }
    commit(ix, 50);
    model_commit(&m);
    CHECK("applied", index_applied(ix) == 50);
    model_compare(&m, index_dir(), "soon");
    index_close(ix);
}

static void too_long_texts_are_refused(void **state)
{
    struct index *ix = open_plain();
    char *big = mem_alloc(SEGMENT_URL_MAX + 1);
    struct index_doc d = {.url = span_of(big, SEGMENT_URL_MAX + 1)};
    CHECK_STATUS("url", index_add(ix, &d), ST_LIMIT);
    d.url = span_of(big, 10);
    d.site = span_of(big, SEGMENT_SITE_MAX + 1);
    CHECK_STATUS("site", index_add(ix, &d), ST_LIMIT);
    CHECK_STATUS("dictionary", index_put_dictionary(ix, span_of(big, 0)), ST_INVALID);
    free(big);
    index_close(ix);
}

static void contents_are_unpacked_with_the_dictionary(void **state)
{
    struct buf samples = {0}, dictionary = {0}, zipped = {0};
    size_t sizes[400];
    struct zip_dict *dict = NULL;
    struct rng r;
    rng_seed(&r, 3);
    for (size_t i = 0; i < 400; i++) {
        size_t before = samples.n;
        for (unsigned k = 0; k < 60; k++)
            buf_printf(&samples, "phrase %llu of those ", (unsigned long long)rng_below(&r, 90));
        sizes[i] = samples.n - before;
    }
    CHECK_STATUS("train", zip_dict_train(buf_span(&samples), sizes, 400, &dictionary), ST_OK);
    CHECK_STATUS("new", zip_dict_new(buf_span(&dictionary), 3, &dict), ST_OK);
    struct index *ix = open_plain();
    CHECK_STATUS("put", index_put_dictionary(ix, buf_span(&dictionary)), ST_OK);
    struct index_doc d = {.key = 4, .fetch_number = 1, .url = SPAN("http://a/"), .text = SPAN("phrase 5 of those x")};
    model_content(&zipped, dict, &d);
    d.content = buf_span(&zipped);
    CHECK_STATUS("add", index_add(ix, &d), ST_OK);
    commit(ix, 1);
    CHECK_STATUS("same", index_put_dictionary(ix, buf_span(&dictionary)), ST_OK);
    dictionary.p[dictionary.n - 1] ^= 1;
    CHECK_STATUS("other", index_put_dictionary(ix, buf_span(&dictionary)), ST_EXISTS);
    index_close(ix);
    index_close(open_plain()); /* sweeps */
    struct index_reader *reader = NULL;
    struct index_snapshot *s = NULL;
    struct index_document doc;
    struct arena a;
    arena_init(&a);
    CHECK_STATUS("reader", index_reader_open(index_dir(), &reader, NULL), ST_OK);
    CHECK_STATUS("snapshot", index_reader_snapshot(reader, &s), ST_OK);
    CHECK_STATUS("document", index_document(s, 4, &a, &doc), ST_OK);
    CHECK_SPAN("text", doc.text, d.text);
    CHECK_SPAN("description", doc.description, SPAN("what it says of itself"));
    arena_done(&a);
    index_snapshot_free(s);
    index_reader_free(reader);
    zip_dict_free(dict);
    buf_done(&samples);
    buf_done(&dictionary);
    buf_done(&zipped);
}

/* ---- against the twin ---- */

static void random_step(struct index *ix, struct model *m, struct rng *r)
{
    unsigned key = (unsigned)rng_below(r, MODEL_KEYS);
    uint64_t number = m->committed[key].number + rng_below(r, 4);
    if (rng_below(r, 6) == 0) {
        CHECK_STATUS("delete", index_delete(ix, key, number), ST_OK);
        model_delete(m, key, number);
    } else {
        unsigned anchors = (unsigned)rng_below(r, 3);
        CHECK_STATUS("add", model_index_add(ix, key, number + 1, anchors), ST_OK);
        model_add(m, key, number + 1, anchors);
    }
}

static void run_random(uint64_t seed, struct index_opts o, unsigned steps)
{
    struct model m = {0};
    struct rng r;
    char label[64];
    rng_seed(&r, seed);
    CHECK_STATUS("erase", index_erase(index_dir()), ST_OK);
    struct index *ix = open_with(o);
    for (unsigned i = 0; i < steps; i++) {
        snprintf(label, sizeof(label), "seed %llu step %u", (unsigned long long)seed, i);
        for (uint64_t n = rng_below(&r, 60); n; n--)
            random_step(ix, &m, &r);
        uint64_t what = rng_below(&r, 10);
        if (what == 0) {
            index_close(ix);
            model_forget(&m);
            ix = open_with(o);
        } else if (what == 1) {
            CHECK_STATUS(label, index_merge(ix, rng_below(&r, 2)), ST_OK);
        } else {
            commit(ix, i);
            model_commit(&m);
        }
        if (rng_below(&r, 4) == 0)
            model_compare(&m, index_dir(), label);
    }
    commit(ix, steps);
    model_commit(&m);
    CHECK_STATUS(label, index_merge(ix, true), ST_OK);
    CHECK(label, stats_of(ix).segments <= 1 && stats_of(ix).deleted == 0);
    model_compare(&m, index_dir(), label);
    index_close(ix);
}

static void random_histories_end_as_in_the_model(void **state)
{
    for (uint64_t seed = 1; seed <= 4; seed++)
        run_random(seed, (struct index_opts){.no_merge = true}, 40);
}

static void so_they_do_with_builders_merges_and_little_memory(void **state)
{
    for (uint64_t seed = 11; seed <= 14; seed++)
        run_random(seed, (struct index_opts){.builders = 3, .memory = 1}, 80);
}

/* ---- merges ---- */

static void small_commits_do_not_pile_up(void **state)
{
    struct index *ix = open_plain();
    uint64_t most = 0;
    for (unsigned i = 0; i < 150; i++) {
        CHECK_STATUS("add", model_index_add(ix, i, 1, 0), ST_OK);
        commit(ix, i);
        CHECK_STATUS("merge", index_merge(ix, false), ST_OK);
        if (stats_of(ix).segments > most)
            most = stats_of(ix).segments;
    }
    CHECK("most", most < 10);
    CHECK("merged", stats_of(ix).merges > 10 && stats_of(ix).docs == 150);
    index_close(ix);
}

static void a_segment_with_many_dead_is_written_anew(void **state)
{
    struct model m = {0};
    struct index *ix = open_plain();
    for (unsigned k = 0; k < 100; k++) {
        CHECK_STATUS("add", model_index_add(ix, k, 1, 0), ST_OK);
        model_add(&m, k, 1, 0);
    }
    commit(ix, 1);
    model_commit(&m);
    for (unsigned k = 0; k < 30; k++) {
        CHECK_STATUS("delete", index_delete(ix, k * 3, 2), ST_OK);
        model_delete(&m, k * 3, 2);
        if (k == 19) {
            commit(ix, 2);
            CHECK_STATUS("merge", index_merge(ix, false), ST_OK);
            CHECK("not yet", stats_of(ix).deleted == 20);
        }
    }
    commit(ix, 3);
    model_commit(&m);
    CHECK("dead", stats_of(ix).deleted == 30);
    CHECK_STATUS("merge", index_merge(ix, false), ST_OK);
    CHECK("gone", stats_of(ix).deleted == 0 && stats_of(ix).docs == 70);
    model_compare(&m, index_dir(), "rewritten");
    for (unsigned k = 0; k < 100; k++) {
        CHECK_STATUS("delete", index_delete(ix, k, 2), ST_OK);
        model_delete(&m, k, 2);
    }
    commit(ix, 4);
    model_commit(&m);
    CHECK("all gone", stats_of(ix).segments == 0 && stats_of(ix).docs == 0);
    model_compare(&m, index_dir(), "all gone");
    index_close(ix);
}

static void flip_byte(uint32_t segment, unsigned file)
{
    struct buf path = {0}, bytes = {0}, name = {0};
    segment_file_name(&name, segment, file);
    buf_printf(&path, "%s/%s", index_dir(), buf_cstr(&name));
    CHECK_STATUS("bytes", file_read(buf_cstr(&path), 1u << 20, &bytes), ST_OK);
    bytes.p[bytes.n / 3] ^= 0x10;
    CHECK_STATUS("damage", file_replace(path.p, buf_span(&bytes)), ST_OK);
    buf_done(&path);
    buf_done(&bytes);
    buf_done(&name);
}

static void a_merge_that_meets_damage_leaves_all_as_it_is(void **state)
{
    for (unsigned file = 0; file < SEGMENT_FILES; file++) {
        struct index_check c;
        struct index *ix = NULL;
        struct index_opts o = {.dir = index_dir(), .no_merge = true};
        CHECK_STATUS("erase", index_erase(index_dir()), ST_OK);
        ix = open_plain();
        for (unsigned k = 0; k < 60; k++) {
            CHECK_STATUS("add", model_index_add(ix, k, 1, 0), ST_OK);
            if (k % 30 == 29)
                commit(ix, k);
        }
        index_close(ix);
        flip_byte(2, file);
        CHECK_STATUS("check", index_check(index_dir(), NULL, NULL, &c), ST_CORRUPT);
        CHECK("problem", c.problem.n);
        buf_done(&c.problem);
        status st = index_open(&o, &ix, NULL);
        if (st != ST_OK) { /* found at once */
            CHECK_STATUS("open", st, ST_CORRUPT);
            continue;
        }
        st = index_merge(ix, true);
        /* Keys are made anew, so a merge does not read them. */
        if (st != ST_OK) {
            CHECK_STATUS("merge", st, ST_CORRUPT);
            CHECK("as it was", stats_of(ix).segments == 2 && stats_of(ix).docs == 60 && !has_file("00000003.docs"));
            CHECK_STATUS("the other one alone", index_merge(ix, true), ST_OK);
        }
        index_close(ix);
    }
}

/* ---- readers beside the writer ---- */

static void a_snapshot_outlives_merges(void **state)
{
    struct model m = {0};
    struct index_reader *r = NULL;
    struct index_snapshot *old = NULL, *now = NULL, *same = NULL;
    struct index *ix = open_plain();
    for (unsigned k = 0; k < 40; k++) {
        CHECK_STATUS("add", model_index_add(ix, k, 1, 0), ST_OK);
        model_add(&m, k, 1, 0);
        if (k % 10 == 9)
            commit(ix, k);
    }
    model_commit(&m);
    struct model before = m;
    CHECK_STATUS("reader", index_reader_open(index_dir(), &r, NULL), ST_OK);
    CHECK_STATUS("old", index_reader_snapshot(r, &old), ST_OK);
    CHECK_STATUS("same", index_reader_snapshot(r, &same), ST_OK);
    CHECK("same", same == old);
    for (unsigned k = 0; k < 20; k++) {
        CHECK_STATUS("delete", index_delete(ix, k, 2), ST_OK);
        model_delete(&m, k, 2);
    }
    commit(ix, 50);
    model_commit(&m);
    CHECK_STATUS("merge", index_merge(ix, true), ST_OK);
    CHECK_STATUS("now", index_reader_snapshot(r, &now), ST_OK);
    CHECK("newer", index_snapshot_generation(now) > index_snapshot_generation(old));
    model_compare_snapshot(before.committed, old, "old");
    model_compare_snapshot(m.committed, now, "now");
    index_reader_free(r);
    index_close(ix);
    model_compare_snapshot(before.committed, old, "old, alone");
    index_snapshot_free(old);
    index_snapshot_free(same);
    index_snapshot_free(now);
}

static void a_reader_notices_that_the_index_was_made_anew(void **state)
{
    struct index_reader *r = NULL;
    struct index_snapshot *s = NULL, *old = NULL;
    struct model m = {0};
    struct index *ix = open_plain();
    CHECK_STATUS("add", model_index_add(ix, 1, 1, 0), ST_OK);
    commit(ix, 1);
    CHECK_STATUS("reader", index_reader_open(index_dir(), &r, NULL), ST_OK);
    CHECK_STATUS("old", index_reader_snapshot(r, &old), ST_OK);
    index_close(ix);
    CHECK_STATUS("erase", index_erase(index_dir()), ST_OK);
    CHECK_STATUS("none", index_reader_snapshot(r, &s), ST_NOT_FOUND);
    CHECK("the last good one", s == old);
    index_snapshot_free(s);
    ix = open_plain();
    CHECK_STATUS("add", model_index_add(ix, 2, 1, 0), ST_OK);
    commit(ix, 1);
    m.committed[2] = (struct model_version){true, 1, 0};
    CHECK_STATUS("new", index_reader_snapshot(r, &s), ST_OK);
    model_compare_snapshot(m.committed, s, "new");
    index_snapshot_free(s);
    index_snapshot_free(old);
    index_reader_free(r);
    index_close(ix);
}

static void a_damaged_tombstone_file_is_noticed_by_all(void **state)
{
    struct index *ix = open_plain();
    struct index_reader *r = NULL;
    struct index_snapshot *s = NULL;
    struct index_check c;
    struct buf path = {0}, bytes = {0}, why = {0};
    struct index_opts o = {.dir = index_dir()};
    for (unsigned k = 0; k < 20; k++)
        CHECK_STATUS("add", model_index_add(ix, k, 1, 0), ST_OK);
    commit(ix, 1);
    CHECK_STATUS("reader", index_reader_open(index_dir(), &r, NULL), ST_OK);
    CHECK_STATUS("delete", index_delete(ix, 3, 2), ST_OK);
    commit(ix, 2);
    index_close(ix);
    index_file_tombs(&path, index_dir(), 1, 3);
    CHECK_STATUS("bytes", file_read(path.p, 1000, &bytes), ST_OK);
    bytes.p[20] ^= 1;
    CHECK_STATUS("damage", file_replace(path.p, buf_span(&bytes)), ST_OK);
    CHECK_STATUS("snapshot", index_reader_snapshot(r, &s), ST_CORRUPT);
    CHECK("the last good one", s && index_snapshot_docs(s) == 20);
    CHECK_STATUS("check", index_check(index_dir(), NULL, NULL, &c), ST_CORRUPT);
    CHECK("problem", c.problem.n);
    CHECK_STATUS("open", index_open(&o, &ix, &why), ST_CORRUPT);
    unlink(path.p);
    buf_done(&c.problem);
    CHECK_STATUS("missing", index_check(index_dir(), NULL, NULL, &c), ST_CORRUPT);
    CHECK_STATUS("missing", index_open(&o, &ix, &why), ST_CORRUPT);
    buf_done(&c.problem);
    buf_done(&path);
    buf_done(&bytes);
    buf_done(&why);
    index_snapshot_free(s);
    index_reader_free(r);
}

static void a_page_twice_is_a_problem(void **state)
{
    /* Two segments with the same page, as no commit makes them. */
    struct index *ix = open_plain();
    struct index_check c;
    struct manifest m;
    for (unsigned i = 0; i < 2; i++) {
        CHECK_STATUS("add", model_index_add(ix, 1, i + 1, 0), ST_OK);
        CHECK_STATUS("add", model_index_add(ix, 2 + i, 1, 0), ST_OK);
        commit(ix, i);
    }
    index_close(ix);
    CHECK_STATUS("read", manifest_read(index_dir(), &m, NULL), ST_OK);
    CHECK("two", m.segment_count == 2 && m.segments[0].dead == 1);
    m.segments[0].dead = 0;
    m.segments[0].tombs = 0;
    CHECK_STATUS("write", manifest_write(index_dir(), &m), ST_OK);
    CHECK_STATUS("check", index_check(index_dir(), NULL, NULL, &c), ST_CORRUPT);
    CHECK("doubled", c.doubled == 1 && c.problem.n);
    manifest_done(&m);
    buf_done(&c.problem);
}

/* A reader that looks while the writer commits and merges: every snapshot is one of the commits. The writer puts all
 * pages forward by one number a commit, so all numbers of a snapshot are the same. */
struct watch {
    const char *dir;
    atomic_bool stop;
    unsigned snapshots;
    bool is_wrong;
};

static status note_number(void *arg, uint64_t key, uint64_t number, struct span url)
{
    uint64_t *first = arg;
    if (!*first)
        *first = number;
    return *first == number ? ST_OK : ST_CORRUPT;
}

static void *watch_main(void *arg)
{
    struct watch *w = arg;
    struct index_reader *r = NULL;
    uint64_t last = 0;
    while (!atomic_load(&w->stop) && index_reader_open(w->dir, &r, NULL) != ST_OK)
        ;
    while (!atomic_load(&w->stop)) {
        struct index_snapshot *s = NULL;
        uint64_t number = 0;
        w->is_wrong |= index_reader_snapshot(r, &s) != ST_OK;
        w->is_wrong |= !s || index_each(s, note_number, &number) != ST_OK || number < last;
        w->is_wrong |= s && number && index_snapshot_docs(s) != 24;
        last = number;
        w->snapshots++;
        index_snapshot_free(s);
    }
    index_reader_free(r);
    return NULL;
}

static void readers_see_whole_commits_only(void **state)
{
    struct watch w[2] = {{0}};
    pthread_t threads[2];
    struct index *ix = open_with((struct index_opts){.builders = 2});
    w[0].dir = w[1].dir = index_dir();
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, watch_main, &w[i]), 0);
    }
    for (uint64_t number = 1; number <= 120; number++) {
        for (unsigned k = 0; k < 24; k++)
            CHECK_STATUS("add", model_index_add(ix, k, number, 0), ST_OK);
        commit(ix, number);
    }
    for (unsigned i = 0; i < 2; i++) {
        atomic_store(&w[i].stop, true);
        pthread_join(threads[i], NULL);
        CHECK("whole", !w[i].is_wrong);
    }
    index_close(ix);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_manifest_comes_back_as_it_was),
        cmocka_unit_test(a_damaged_manifest_is_noticed),
        TEST_IN_FOLDER(tombstones_come_back_and_damage_is_noticed),
        TEST_IN_FOLDER(a_new_index_is_empty_and_readable),
        TEST_IN_FOLDER(without_an_index_a_reader_says_so),
        TEST_IN_FOLDER(one_writer_at_a_time),
        TEST_IN_FOLDER(an_index_of_other_rules_is_erased_and_made_anew),
        TEST_IN_FOLDER(leftovers_of_a_killed_run_are_swept),
        TEST_IN_FOLDER(only_what_was_committed_is_there_after_closing),
        TEST_IN_FOLDER(the_higher_number_stays),
        TEST_IN_FOLDER(the_same_number_counts_when_anchors_differ),
        TEST_IN_FOLDER(a_commit_of_nothing_writes_nothing),
        TEST_IN_FOLDER(a_commit_in_the_background_is_awaited_by_the_next),
        TEST_IN_FOLDER(too_long_texts_are_refused),
        TEST_IN_FOLDER(contents_are_unpacked_with_the_dictionary),
        TEST_IN_FOLDER(random_histories_end_as_in_the_model),
        TEST_IN_FOLDER(so_they_do_with_builders_merges_and_little_memory),
        TEST_IN_FOLDER(small_commits_do_not_pile_up),
        TEST_IN_FOLDER(a_segment_with_many_dead_is_written_anew),
        TEST_IN_FOLDER(a_merge_that_meets_damage_leaves_all_as_it_is),
        TEST_IN_FOLDER(a_snapshot_outlives_merges),
        TEST_IN_FOLDER(a_reader_notices_that_the_index_was_made_anew),
        TEST_IN_FOLDER(a_damaged_tombstone_file_is_noticed_by_all),
        TEST_IN_FOLDER(a_page_twice_is_a_problem),
        TEST_IN_FOLDER(readers_see_whole_commits_only),
    };
    model_use_memory();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
