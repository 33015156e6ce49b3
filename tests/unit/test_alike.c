/* Near-duplicates of a data folder: the groups are those that comparing every page with every other gives, whatever was
 * there before, and whatever a kill or a full disk leaves. */
#include "test.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "apply/alike.h"
#include "apply/alike_pairs.h"
#include "apply/apply.h"
#include "base/rng.h"
#include "codec/zip.h"
#include "store/contents.h"
#include "store/groups.h"
#include "test_folder.h"
#include "web/content.h"

static const struct sip_key key = {5, 6};

/* ---- a folder with pages ---- */

struct maker {
    struct contents *log;
    struct zipper *zipper;
    uint64_t fetch;
};

static struct maker maker_open(void)
{
    struct maker m = {.zipper = zipper_new(1)};
    struct buf dir = {0};
    apply_contents_dir(test_folder(), &dir);
    CHECK_STATUS("contents", contents_open(dir.p, &m.log), ST_OK);
    m.fetch = contents_last(m.log);
    buf_done(&dir);
    return m;
}

static void maker_close(struct maker *m)
{
    CHECK_STATUS("sync", contents_sync(m->log), ST_OK);
    contents_free(m->log);
    zipper_free(m->zipper);
}

static uint64_t key_of(const char *url)
{
    return siphash(&key, span_str(url));
}

static void add_titled(struct maker *m, const char *url, const char *canonical, const char *lang, const char *title,
                       struct span text)
{
    struct buf packed = {0}, zipped = {0};
    struct content c = {.url = span_str(url),
                        .canonical = span_str(canonical),
                        .lang = span_str(lang),
                        .title = span_str(title),
                        .text = text};
    content_pack(&c, &packed);
    zipper_run(m->zipper, NULL, buf_span(&packed), &zipped);
    struct contents_record r = {.key = key_of(url), .fetch_number = ++m->fetch, .content = buf_span(&zipped)};
    CHECK_STATUS("append", contents_append(m->log, &r), ST_OK);
    buf_done(&packed);
    buf_done(&zipped);
}

static void add_page(struct maker *m, const char *url, const char *canonical, const char *lang, struct span text)
{
    add_titled(m, url, canonical, lang, "", text);
}

static void remove_page(struct maker *m, const char *url)
{
    struct contents_record r = {.key = key_of(url), .fetch_number = ++m->fetch, .is_gone = true};
    CHECK_STATUS("append", contents_append(m->log, &r), ST_OK);
}

/* 80 words of a seed, `changed` of them of another. */
static struct span words(struct buf *out, uint64_t seed, unsigned changed, uint64_t other)
{
    struct rng a, b;
    rng_seed(&a, seed);
    rng_seed(&b, other);
    buf_clear(out);
    for (unsigned i = 0; i < 80; i++) {
        uint64_t w = rng_below(&a, 50000), x = rng_below(&b, 50000);
        for (w = i < changed ? x : w; w; w /= 26) /* without digits, which boilerplate does not tell apart */
            buf_putc(out, (char)('a' + w % 26));
        buf_putc(out, i % 8 == 7 ? '\n' : ' ');
    }
    return buf_span(out);
}

static struct alike_report run(const char *label, bool is_forced)
{
    struct alike_report r;
    CHECK_STATUS(label,
                 alike_run(&(struct alike_opts){.data_dir = test_folder(), .key = key, .is_forced = is_forced}, &r),
                 ST_OK);
    return r;
}

static struct groups *open_groups(void)
{
    struct buf path = {0};
    groups_path(test_folder(), &path);
    struct groups *g = groups_open(path.p);
    buf_done(&path);
    return g;
}

static void check_first(const char *label, const char *url, const char *first, unsigned pages)
{
    struct group g = {0};
    struct groups *now = open_groups();
    CHECK_STATUS(label, groups_status(now), ST_OK);
    bool is_in = groups_look(now, key_of(url), &g) && g.pages > 1;
    if (!first)
        CHECK(label, !is_in);
    else
        CHECK(label, is_in && g.first == key_of(first) && g.pages == pages);
    groups_release(now);
}

/* ---- against the twin ---- */

#define PAGES 700

struct twin {
    char url[64];
    uint64_t key;
    struct simhash hash;
    uint32_t lang;
    uint64_t fetch;
    size_t first; /* place, or SIZE_MAX */
};

static int by_order(const void *a, const void *b)
{
    const struct twin *x = a, *y = b;
    return x->fetch < y->fetch ? -1 : 1;
}

/* Everything with everything, best first. */
static void group_naively(struct twin *pages, size_t n)
{
    static const struct title_words none;
    qsort(pages, n, sizeof(*pages), by_order);
    for (size_t i = 0; i < n; i++)
        pages[i].first = SIZE_MAX;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = i + 1; k < n && pages[i].first == SIZE_MAX; k++)
            if (pages[k].first == SIZE_MAX && alike_is_near(&pages[i].hash, &none, &pages[k].hash, &none) &&
                alike_meet(&pages[i].hash, &pages[k].hash) &&
                (pages[i].lang == pages[k].lang || !pages[i].lang || !pages[k].lang))
                pages[k].first = i;
    }
}

static void check_twin(const char *label, const struct twin *pages, size_t n)
{
    struct groups *now = open_groups();
    size_t folded = 0;
    CHECK_STATUS(label, groups_status(now), ST_OK);
    for (size_t i = 0; i < n; i++) {
        struct group g = {0};
        bool is_in = groups_get(now, pages[i].key, &g);
        if (pages[i].first == SIZE_MAX) {
            CHECK(label, !is_in || g.first == pages[i].key);
            continue;
        }
        const struct twin *first = &pages[pages[i].first];
        CHECK(label, is_in && g.first == first->key);
        CHECK(label, g.distance == simhash_distance(&first->hash, &pages[i].hash));
        folded++;
    }
    CHECK("some are", folded > n / 10);
    groups_release(now);
}

/* Texts in families: members differ from their head, and so from each other, in a few words to many. */
static void random_pages(struct maker *m, struct twin *pages, size_t from, size_t to, uint64_t seed)
{
    static const char *const langs[] = {"en", "en", "de", ""};
    struct buf text = {0};
    struct arena work;
    struct rng rng;
    arena_init(&work);
    rng_seed(&rng, seed);
    for (size_t i = from; i < to; i++) {
        struct twin *p = &pages[i];
        uint64_t family = rng_below(&rng, PAGES / 10), other = rng_u64(&rng);
        unsigned changed = rng_below(&rng, 3) ? (unsigned)rng_below(&rng, 12) : 0;
        const char *lang = langs[rng_below(&rng, 4)];
        /* Each of a site of its own: nothing is boilerplate. */
        snprintf(p->url, sizeof(p->url), "https://s%zu.example/%.*s", i, (int)rng_below(&rng, 20),
                 "aaaaaaaaaaaaaaaaaaaa");
        p->key = key_of(p->url);
        p->lang = lang[0] ? (uint32_t)(lang[0] | lang[1] << 8) : 0;
        words(&text, family, changed, other);
        assert_true(simhash_of(&work, &key, buf_span(&text), NULL, NULL, &p->hash));
        add_page(m, p->url, "", lang, buf_span(&text));
        p->fetch = m->fetch;
        arena_reset(&work);
    }
    arena_done(&work);
    buf_done(&text);
}

static void groups_are_those_of_comparing_everything(void **state)
{
    (void)state;
    struct twin *pages = malloc(2 * PAGES * sizeof(*pages));
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct maker m = maker_open();
        random_pages(&m, pages, 0, PAGES, seed);
        maker_close(&m);
        struct alike_report r = run("run", true);
        CHECK("all read", r.was_due && r.pages >= PAGES && r.read >= PAGES);
        group_naively(pages, PAGES);
        if (seed == 1)
            check_twin("first", pages, PAGES);
        test_folder_remove(NULL);
        CHECK("again", test_folder_make(NULL) == 0);
        m = maker_open();
        random_pages(&m, pages, 0, PAGES / 2, seed);
        maker_close(&m);
        (void)run("half", true);
        m = maker_open();
        random_pages(&m, pages, PAGES / 2, PAGES, seed + 100);
        maker_close(&m);
        r = run("the other half", true);
        CHECK("only what is new is read", r.read == PAGES - PAGES / 2 && r.pages == PAGES);
        group_naively(pages, PAGES);
        check_twin("in two runs", pages, PAGES);
        test_folder_remove(NULL);
        CHECK("again", test_folder_make(NULL) == 0);
    }
    free(pages);
}

/* ---- what is a group ---- */

static void a_changed_or_removed_page_leaves_its_group(void **state)
{
    (void)state;
    struct buf b = {0};
    struct maker m = maker_open();
    add_page(&m, "https://a.example/", "", "en", words(&b, 1, 0, 0));
    add_page(&m, "https://a.example/one", "", "en", words(&b, 1, 0, 0));
    add_page(&m, "https://a.example/second", "", "en", words(&b, 1, 1, 9));
    maker_close(&m);
    struct alike_report r = run("first", false);
    CHECK("found", r.groups == 1 && r.folded == 2);
    check_first("the oldest", "https://a.example/second", "https://a.example/", 3);
    check_first("itself", "https://a.example/", "https://a.example/", 3);
    r = run("again", true);
    CHECK("nothing to read", r.read == 0 && r.groups == 1);
    m = maker_open();
    add_page(&m, "https://a.example/one", "", "en", words(&b, 2, 0, 0));
    remove_page(&m, "https://a.example/");
    maker_close(&m);
    r = run("changed", true);
    CHECK("one was read", r.read == 1 && r.groups == 0 && r.pages == 2);
    check_first("alone", "https://a.example/second", NULL, 0);
    buf_done(&b);
}

static void another_language_is_another_page(void **state)
{
    (void)state;
    struct buf b = {0};
    struct maker m = maker_open();
    add_page(&m, "https://a.example/en", "", "en", words(&b, 1, 0, 0));
    add_page(&m, "https://a.example/gb1", "", "en", words(&b, 1, 0, 0));
    add_page(&m, "https://a.example/de12", "", "de", words(&b, 1, 0, 0));
    add_page(&m, "https://a.example/none1", "", "", words(&b, 1, 0, 0));
    maker_close(&m);
    (void)run("run", true);
    check_first("same language", "https://a.example/gb1", "https://a.example/en", 3);
    check_first("other language", "https://a.example/de12", NULL, 0);
    check_first("not known", "https://a.example/none1", "https://a.example/en", 3);
    buf_done(&b);
}

static void pages_that_are_called_differently_are_different(void **state)
{
    (void)state;
    struct buf b = {0};
    struct maker m = maker_open();
    add_titled(&m, "https://a.example/fputs", "", "en", "fputs", words(&b, 1, 0, 0));
    add_titled(&m, "https://a.example/puts", "", "en", "puts", words(&b, 1, 4, 9));
    add_titled(&m, "https://a.example/print", "", "en", "fputs (print version)", words(&b, 1, 4, 8));
    add_titled(&m, "https://a.example/renamed", "", "en", "other", words(&b, 1, 0, 0));
    maker_close(&m);
    (void)run("run", true);
    check_first("another title", "https://a.example/puts", NULL, 0);
    check_first("a longer title", "https://a.example/print", "https://a.example/fputs", 3);
    check_first("the same text", "https://a.example/renamed", "https://a.example/fputs", 3);
    buf_done(&b);
}

static void a_canonical_page_is_followed_where_it_can_be(void **state)
{
    (void)state;
    struct buf b = {0};
    struct group g;
    struct maker m = maker_open();
    add_page(&m, "https://a.example/the-article", "https://a.example/the-article", "en", words(&b, 1, 0, 0));
    add_page(&m, "https://a.example/print", "https://a.example/the-article", "en", words(&b, 1, 10, 3));
    add_page(&m, "https://a.example/copy", "", "en", words(&b, 1, 0, 0));
    add_page(&m, "https://a.example/chain", "https://a.example/print", "en", words(&b, 1, 9, 3));
    add_page(&m, "https://a.example/nowhere", "https://a.example/missing", "en", words(&b, 2, 0, 0));
    add_page(&m, "https://a.example/mistaken", "https://a.example/the-article", "en", words(&b, 3, 0, 0));
    add_page(&m, "https://a.example/round-a", "https://a.example/round-b", "en", words(&b, 4, 0, 0));
    add_page(&m, "https://a.example/round-b", "https://a.example/round-a", "en", words(&b, 4, 0, 0));
    maker_close(&m);
    struct alike_report r = run("run", true);
    CHECK("two say so", r.canonical == 2);
    check_first("named by others, though longer", "https://a.example/copy", "https://a.example/the-article", 4);
    check_first("print version", "https://a.example/print", "https://a.example/the-article", 4);
    check_first("one that names one", "https://a.example/chain", "https://a.example/the-article", 4);
    check_first("in a circle: by text", "https://a.example/round-b", "https://a.example/round-a", 2);
    struct groups *now = open_groups();
    CHECK("page is not there", groups_get(now, key_of("https://a.example/nowhere"), &g) &&
                                   (g.flags & GROUPS_UNFOLLOWED) && g.first == key_of("https://a.example/nowhere"));
    CHECK("another text", groups_get(now, key_of("https://a.example/mistaken"), &g) && (g.flags & GROUPS_UNFOLLOWED));
    CHECK("in a circle", groups_get(now, key_of("https://a.example/round-b"), &g) && g.flags == GROUPS_UNFOLLOWED);
    CHECK("by its word", groups_get(now, key_of("https://a.example/print"), &g) && (g.flags & GROUPS_CANONICAL));
    groups_release(now);
    buf_done(&b);
}

static void what_a_site_repeats_makes_no_near_duplicates(void **state)
{
    (void)state;
    struct buf b = {0}, text = {0}, menu = {0};
    char url[80];
    words(&menu, 1000, 0, 0);
    buf_put(&menu, SPAN("\nabout this site and its makers\n"));
    struct maker m = maker_open();
    for (unsigned i = 0; i < 40; i++) {
        snprintf(url, sizeof(url), "https://a.example/page-%u", i);
        buf_clear(&text);
        buf_put(&text, buf_span(&menu));
        struct span own = words(&b, i, 0, 0);
        buf_put(&text, span_cut(own, 0, span_find(own, '\n', own.n / 3))); /* some 30 words of its own */
        add_page(&m, url, "", "en", buf_span(&text));
        if (i == 7) /* without the menu */
            add_page(&m, "https://a.example/print/page-7", "", "en", span_from(buf_span(&text), menu.n));
    }
    maker_close(&m);
    struct alike_report r = run("run", true);
    CHECK("only the print version", r.groups == 1 && r.folded == 1);
    check_first("print version", "https://a.example/print/page-7", "https://a.example/page-7", 2);
    buf_done(&b);
    buf_done(&text);
    buf_done(&menu);
}

static void many_copies_are_one_group_and_no_boilerplate(void **state)
{
    (void)state;
    struct buf b = {0};
    char url[80];
    struct maker m = maker_open();
    for (unsigned i = 0; i < 5000; i++) {
        snprintf(url, sizeof(url), "https://a.example/shop?session=%05u", i);
        add_page(&m, url, "", "en", words(&b, 1, 0, 0));
    }
    maker_close(&m);
    struct alike_report r = run("run", true);
    CHECK("one group", r.groups == 1 && r.folded == 4999);
    CHECK("without comparing them all", r.compared < 10000);
    buf_done(&b);
}

static void boilerplate_decided_anew_reads_its_site_again(void **state)
{
    (void)state;
    struct buf b = {0};
    char url[80];
    for (unsigned round = 0; round < 2; round++) {
        struct maker m = maker_open();
        for (unsigned i = 0; i < 20; i++) {
            snprintf(url, sizeof(url), "https://a.example/%u/%u", round, i);
            words(&b, 100 * round + i, 0, 0);
            buf_puts(&b, round ? "\nthe new footer of every page" : "\nthe old footer of every page");
            add_page(&m, url, "", "en", buf_span(&b));
        }
        add_page(&m, round ? "https://b.example/x" : "https://b.example/y", "", "en", words(&b, 999, 0, 0));
        maker_close(&m);
        struct alike_report r = run("run", true);
        CHECK("pages of the site that has doubled", r.read == (round ? 41u : 21u));
    }
    struct alike_report r = run("again", true);
    CHECK("then nothing", r.read == 0);
    buf_done(&b);
}

static void a_run_waits_until_enough_is_new(void **state)
{
    (void)state;
    struct buf b = {0};
    struct alike_report r;
    struct maker m = maker_open();
    add_page(&m, "https://a.example/", "", "en", words(&b, 1, 0, 0));
    maker_close(&m);
    struct alike_opts o = {.data_dir = test_folder(), .key = key, .last = 1, .least_changes = 5};
    CHECK_STATUS("there are none yet", alike_run(&o, &r), ST_OK);
    CHECK("run", r.was_due);
    o.last = 4;
    CHECK_STATUS("three new", alike_run(&o, &r), ST_OK);
    CHECK("not yet", !r.was_due);
    o.least_changes = 0;
    CHECK_STATUS("any", alike_run(&o, &r), ST_OK);
    CHECK("run", r.was_due);
    atomic_bool stop = true;
    o.is_cancelled = &stop;
    o.is_forced = true;
    m = maker_open();
    add_page(&m, "https://a.example/2", "", "en", words(&b, 2, 0, 0));
    maker_close(&m);
    CHECK_STATUS("cancelled", alike_run(&o, &r), ST_CANCELLED);
    buf_done(&b);
}

/* ---- damage, kills and full disks ---- */

static void fill(unsigned pages)
{
    struct twin *twins = malloc(pages * sizeof(*twins));
    struct maker m = maker_open();
    random_pages(&m, twins, 0, pages, 42);
    maker_close(&m);
    free(twins);
}

static struct span groups_bytes(void)
{
    struct buf path = {0};
    groups_path(test_folder(), &path);
    struct span bytes = test_read_file(path.p);
    buf_done(&path);
    return bytes;
}

static struct span boilerplate_bytes(void)
{
    char path[TEST_PATH];
    test_path(path, "alike/boilerplate");
    return test_read_file(path);
}

static void damaged_files_are_made_again(void **state)
{
    (void)state;
    static const char *const names[] = {"alike/pages", "alike/boilerplate", "alike/groups"};
    char path[TEST_PATH];
    fill(300);
    (void)run("first", true);
    struct span want = groups_bytes(), counted = boilerplate_bytes();
    for (size_t i = 0; i < 3; i++) {
        test_path(path, names[i]);
        struct span good = test_read_file(path);
        ((char *)good.p)[good.n / 2] ^= 1;
        CHECK_STATUS("write", file_replace(path, good), ST_OK);
        struct alike_report r = run(names[i], i < 2);
        CHECK(names[i], r.was_due && r.read == (i < 2 ? 300u : 0));
        struct span got = groups_bytes();
        struct span again = boilerplate_bytes();
        CHECK_SPAN("as before", got, want);
        CHECK_SPAN("nothing is counted twice", again, counted);
        free((char *)again.p);
        free((char *)got.p);
        free((char *)good.p);
    }
    free((char *)want.p);
    free((char *)counted.p);
}

static void a_full_disk_leaves_the_old_groups(void **state)
{
    (void)state;
    struct alike_report r;
    struct alike_opts o = {.data_dir = test_folder(), .key = key, .is_forced = true};
    fill(200);
    (void)run("first", true);
    struct span want = groups_bytes();
    struct maker m = maker_open();
    struct buf b = {0};
    add_page(&m, "https://new.example/", "", "en", words(&b, 1, 0, 0));
    maker_close(&m);
    unsigned failed = 0;
    for (uint64_t bytes = 0; bytes < 40000; bytes += 1500) {
        file_inject_fault(bytes, ENOSPC);
        status st = alike_run(&o, &r);
        file_inject_fault(0, 0);
        if (st == ST_OK)
            break;
        CHECK_STATUS("full", st, ST_FULL);
        struct span got = groups_bytes();
        CHECK_SPAN("the old ones", got, want);
        free((char *)got.p);
        failed++;
    }
    CHECK("it failed", failed > 5);
    r = run("with room", true);
    CHECK("all pages", r.pages == 201);
    free((char *)want.p);
    buf_done(&b);
}

static void a_kill_leaves_whole_files(void **state)
{
    (void)state;
    struct buf path = {0};
    fill(400);
    alike_dir(test_folder(), &path);
    for (int round = 0; round < 25; round++) {
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            struct alike_report r;
            for (;;)
                if (alike_run(&(struct alike_opts){.data_dir = test_folder(), .key = key, .is_forced = true}, &r) !=
                    ST_OK)
                    _exit(1);
        }
        nanosleep(&(struct timespec){.tv_nsec = 1000000L * (1 + round * 3)}, NULL);
        kill(pid, SIGKILL);
        int how;
        assert_int_equal(waitpid(pid, &how, 0), pid);
        CHECK("killed", WIFSIGNALED(how));
        struct groups *now = open_groups();
        status st = groups_status(now);
        CHECK("whole, or not there yet", st == ST_OK || st == ST_NOT_FOUND);
        groups_release(now);
    }
    (void)run("at last", true);
    struct span got = groups_bytes();
    char pages[TEST_PATH];
    test_path(pages, "alike/pages");
    unlink(pages);
    (void)run("from nothing", true);
    struct span want = groups_bytes();
    CHECK_SPAN("the same", got, want);
    free((char *)got.p);
    free((char *)want.p);
    buf_done(&path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(groups_are_those_of_comparing_everything),
        TEST_IN_FOLDER(a_changed_or_removed_page_leaves_its_group),
        TEST_IN_FOLDER(another_language_is_another_page),
        TEST_IN_FOLDER(pages_that_are_called_differently_are_different),
        TEST_IN_FOLDER(a_canonical_page_is_followed_where_it_can_be),
        TEST_IN_FOLDER(what_a_site_repeats_makes_no_near_duplicates),
        TEST_IN_FOLDER(many_copies_are_one_group_and_no_boilerplate),
        TEST_IN_FOLDER(boilerplate_decided_anew_reads_its_site_again),
        TEST_IN_FOLDER(a_run_waits_until_enough_is_new),
        TEST_IN_FOLDER(damaged_files_are_made_again),
        TEST_IN_FOLDER(a_full_disk_leaves_the_old_groups),
        TEST_IN_FOLDER(a_kill_leaves_whole_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
