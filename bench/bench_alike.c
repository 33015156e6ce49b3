/* bench_alike.c - how well near-duplicates are told from other pages, and what finding them costs.
 *
 *     bench_alike revisions FILE      the shared revisions of known pages: precision and recall at every distance
 *     bench_alike grow FOLDER PAGES   so many made-up pages: seconds, memory, pairs looked at
 *     bench_alike folder DATA         the pages of a data folder, from nothing; its files of near-duplicates are
 * replaced
 *
 * Revisions. Pairs of different pages are never near-duplicates. Of pairs of revisions of one page two questions are
 * asked: are all of them found ("all"), and are those found that really are near-duplicates ("near"): that have at
 * least NEAR_JACCARD of their runs of three words in common, counted exactly. Some of the oldest revisions are stubs
 * that were rewritten since: they are revisions, and no near-duplicates by any measure; their pairs count for nothing
 * in "near". Every other page chose the distance (ALIKE_DISTANCE); the figures to go by are those of the rest ("rest").
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "apply/alike.h"
#include "apply/alike_pairs.h"
#include "apply/apply.h"
#include "base/mem.h"
#include "base/rng.h"
#include "codec/zip.h"
#include "measure.h"
#include "revisions.h"
#include "store/contents.h"
#include "store/store.h"
#include "web/boilerplate.h"
#include "web/content.h"
#include "web/simhash.h"

#define NEAR_JACCARD 0.6
#define RUN_WORDS 3
#define SAMPLE_MS 10
#define GOOD 0.9

static const struct sip_key key = {0x616c696b65, 0x62656e6368};

/* ---- revisions ---- */

struct item {
    const struct revision *revision;
    struct simhash hash;
    bool has_hash;
    uint64_t *runs; /* owned: hashes of its runs of words, sorted, each once */
    size_t run_count;
};

static void find_left_out(void *arg, const uint64_t *blocks, size_t n, bool *is_left_out)
{
    boilerplate_which(arg, 1, blocks, n, is_left_out);
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static bool is_word_byte(char c)
{
    return ascii_is_alpha(c) || ascii_is_digit(c) || (unsigned char)c >= 0x80;
}

/* The exact measure is made from other hashes and other runs than the fingerprint, and by other code. */
static void count_runs(struct item *it, struct boilerplate *b)
{
    struct span rest = it->revision->text, block;
    size_t cap = 0;
    while (rest.n && span_split(&rest, '\n', &block)) {
        uint64_t last[RUN_WORDS] = {0};
        size_t words = 0;
        if (boilerplate_has(b, 1, simhash_block(&key, block)))
            continue;
        for (size_t at = 0; at < block.n;) {
            size_t from = at;
            while (at < block.n && is_word_byte(block.p[at]))
                at++;
            if (at == from) {
                at++;
                continue;
            }
            for (size_t i = 0; i + 1 < RUN_WORDS; i++)
                last[i] = last[i + 1];
            last[RUN_WORDS - 1] = siphash(&key, span_cut(block, from, at - from));
            if (++words < RUN_WORDS)
                continue;
            it->runs = mem_grow(it->runs, &cap, it->run_count + 1, sizeof(*it->runs));
            it->runs[it->run_count++] = siphash(&key, span_of(last, sizeof(last)));
        }
    }
    if (it->run_count)
        qsort(it->runs, it->run_count, sizeof(*it->runs), by_value);
    size_t n = 0;
    for (size_t i = 0; i < it->run_count; i++)
        if (!n || it->runs[n - 1] != it->runs[i])
            it->runs[n++] = it->runs[i];
    it->run_count = n;
}

static double jaccard(const struct item *a, const struct item *b)
{
    size_t i = 0, k = 0, both = 0;
    while (i < a->run_count && k < b->run_count) {
        both += a->runs[i] == b->runs[k];
        uint64_t x = a->runs[i], y = b->runs[k];
        i += x <= y;
        k += y <= x;
    }
    size_t all = a->run_count + b->run_count - both;
    return all ? (double)both / (double)all : 1;
}

typedef enum part { PART_CHOSEN, PART_REST, PART_ALL, PART_COUNT } part;
static const char *const part_names[] = {"chosen", "rest", "all_pages"};

/* Pairs by their distance: of one page, of those the near ones, of different pages. */
struct tally {
    uint64_t same[SIMHASH_BITS + 2], near[SIMHASH_BITS + 2], other[SIMHASH_BITS + 2];
    uint64_t same_all, near_all;
    uint64_t by_jaccard[10];
};

static void note_pair(struct tally *t, const struct item *a, const struct item *b)
{
    bool can = a->has_hash && b->has_hash && alike_meet(&a->hash, &b->hash) &&
               simhash_band_distance(a->hash.bands, b->hash.bands) <= ALIKE_BAND_DISTANCE;
    unsigned d = can ? simhash_distance(&a->hash, &b->hash) : SIMHASH_BITS + 1;
    if (a->revision->page != b->revision->page) {
        t->other[d]++;
        return;
    }
    double j = jaccard(a, b);
    t->same[d]++;
    t->same_all++;
    t->by_jaccard[j >= 1 ? 9 : (int)(j * 10)]++;
    if (j >= NEAR_JACCARD) {
        t->near[d]++;
        t->near_all++;
    }
}

struct point {
    double precision, recall_all, recall_near;
};

/* Pairs of one page that are no near-duplicates are no mistake either: they are revisions. */
static struct point point_at(const struct tally *t, unsigned distance)
{
    uint64_t same = 0, near = 0, other = 0;
    for (unsigned d = 0; d <= distance; d++) {
        same += t->same[d];
        near += t->near[d];
        other += t->other[d];
    }
    return (struct point){same + other ? (double)same / (double)(same + other) : 1,
                          t->same_all ? (double)same / (double)t->same_all : 0,
                          t->near_all ? (double)near / (double)t->near_all : 0};
}

static void print_point(const char *name, const struct tally *t, unsigned distance)
{
    struct point p = point_at(t, distance);
    char label[80];
    snprintf(label, sizeof(label), "%s_precision", name);
    measure_print(label, p.precision, "share");
    snprintf(label, sizeof(label), "%s_recall_near", name);
    measure_print(label, p.recall_near, "share");
    snprintf(label, sizeof(label), "%s_recall_all", name);
    measure_print(label, p.recall_all, "share");
}

static void print_curve(const struct tally *t)
{
    unsigned best_near = 0, best_all = 0;
    for (unsigned d = 0; d <= SIMHASH_BITS / 2; d++) {
        struct point p = point_at(t, d);
        printf("curve distance %u precision %.4f recall_near %.4f recall_all %.4f\n", d, p.precision, p.recall_near,
               p.recall_all);
        if (p.precision >= GOOD)
            best_near = best_all = d;
    }
    struct point p = point_at(t, best_near);
    printf("widest_good distance %u precision %.4f recall_near %.4f recall_all %.4f\n", best_all, p.precision,
           p.recall_near, p.recall_all);
}

static void fingerprint(const struct revisions *r, struct item *items)
{
    struct boilerplate *b = boilerplate_new();
    struct arena work;
    arena_init(&work);
    for (size_t i = 0; i < r->count; i++) {
        boilerplate_count(b, &work, &key, 1, r->items[i].text);
        arena_reset(&work);
    }
    boilerplate_settle(b);
    double start = measure_cpu();
    for (size_t i = 0; i < r->count; i++) {
        items[i] = (struct item){.revision = &r->items[i]};
        items[i].has_hash = simhash_of(&work, &key, r->items[i].text, find_left_out, b, &items[i].hash);
        arena_reset(&work);
    }
    measure_print("fingerprint", (measure_cpu() - start) * 1e6 / (double)r->count, "us/page");
    for (size_t i = 0; i < r->count; i++)
        count_runs(&items[i], b);
    arena_done(&work);
    boilerplate_free(b);
}

static void run_revisions(const char *path)
{
    struct revisions r;
    measure_must(path, revisions_read(path, &r));
    struct item *items = mem_alloc(r.count * sizeof(*items));
    struct tally *tallies = mem_alloc(PART_COUNT * sizeof(*tallies));
    fingerprint(&r, items);
    for (size_t i = 0; i < r.count; i++)
        for (size_t k = i + 1; k < r.count; k++) {
            unsigned x = r.items[i].page % 2, y = r.items[k].page % 2;
            if (x == y)
                note_pair(&tallies[x ? PART_REST : PART_CHOSEN], &items[i], &items[k]);
            note_pair(&tallies[PART_ALL], &items[i], &items[k]);
        }
    measure_print("revisions", (double)r.count, "texts");
    measure_print("pairs_of_one_page", (double)tallies[PART_ALL].same_all, "pairs");
    measure_print("pairs_near", (double)tallies[PART_ALL].near_all, "pairs");
    printf("pairs_by_jaccard");
    for (int i = 0; i < 10; i++)
        printf(" %llu", (unsigned long long)tallies[PART_ALL].by_jaccard[i]);
    printf("\n");
    for (part p = 0; p < PART_COUNT; p++) {
        printf("part %s\n", part_names[p]);
        print_curve(&tallies[p]);
    }
    measure_print("distance", ALIKE_DISTANCE, "bits");
    for (part p = 0; p < PART_COUNT; p++)
        print_point(part_names[p], &tallies[p], ALIKE_DISTANCE);
    for (size_t i = 0; i < r.count; i++)
        free(items[i].runs);
    free(items);
    free(tallies);
    revisions_done(&r);
}

/* ---- cost ---- */

struct watch {
    atomic_bool is_over;
    size_t most;
};

static void *watch_memory(void *arg)
{
    struct watch *w = arg;
    while (!atomic_load(&w->is_over)) {
        size_t now = measure_anonymous_bytes();
        w->most = now > w->most ? now : w->most;
        nanosleep(&(struct timespec){.tv_nsec = SAMPLE_MS * 1000000}, NULL);
    }
    return NULL;
}

static void run_timed(const struct alike_opts *o, double pages_hint)
{
    struct alike_report r;
    struct watch w = {0};
    pthread_t thread;
    size_t before = measure_anonymous_bytes();
    if (pthread_create(&thread, NULL, watch_memory, &w) != 0)
        abort();
    double cpu = measure_cpu(), wall = measure_wall();
    measure_must("look for near-duplicates", alike_run(o, &r));
    cpu = measure_cpu() - cpu;
    wall = measure_wall() - wall;
    atomic_store(&w.is_over, true);
    pthread_join(thread, NULL);
    double pages = r.read ? (double)r.read : pages_hint;
    measure_print("pages", (double)r.pages, "pages");
    measure_print("read", (double)r.read, "pages");
    measure_print("groups", (double)r.groups, "groups");
    measure_print("folded", (double)r.folded, "pages");
    measure_print("compared", (double)r.compared, "pairs");
    measure_print("seconds", wall, "s");
    measure_print("cpu", cpu, "s");
    measure_print("cpu_per_page", pages > 0 ? cpu * 1e6 / pages : 0, "us");
    measure_print("memory", (double)(w.most > before ? w.most - before : 0) / 1048576, "MiB");
}

/* Some 120 words and a menu of its site. Every tenth page is another with three words changed, every tenth a copy. */
static void make_text(struct buf *out, uint64_t number)
{
    struct rng rng, other;
    uint64_t kind = number % 10, of = kind == 3 || kind == 7 ? number - kind : number;
    buf_clear(out);
    buf_printf(out, "home news contact imprint of site %llu\nsearch this site\n", (unsigned long long)(number / 100));
    rng_seed(&rng, of + 1);
    rng_seed(&other, number + 1);
    for (unsigned i = 0; i < 120; i++) {
        double u = rng_unit(&rng), v = rng_unit(&other);
        bool is_other = kind == 3 && i % 50 == 20;
        u = is_other ? v : u;
        buf_printf(out, "%x%c", (unsigned)(u * u * u * 60000) * 2654435761u >> 8, i % 12 == 11 ? '\n' : ' ');
    }
}

static void make_folder(const char *folder, uint64_t pages)
{
    struct buf dir = {0}, text = {0}, packed = {0}, zipped = {0}, url = {0};
    struct contents *log = NULL;
    struct zipper *zipper = zipper_new(1);
    apply_contents_dir(folder, &dir);
    measure_must("open", contents_open(dir.p, &log));
    for (uint64_t i = 0; i < pages; i++) {
        buf_clear(&url);
        buf_clear(&packed);
        buf_clear(&zipped);
        make_text(&text, i);
        buf_printf(&url, "http://site%llu.example/%llu", (unsigned long long)(i / 100), (unsigned long long)i);
        content_pack(&(struct content){.url = buf_span(&url), .lang = SPAN("en"), .text = buf_span(&text)}, &packed);
        zipper_run(zipper, NULL, buf_span(&packed), &zipped);
        struct contents_record r = {
            .key = siphash(&key, buf_span(&url)), .fetch_number = i + 1, .content = buf_span(&zipped)};
        measure_must("append", contents_append(log, &r));
    }
    measure_must("sync", contents_sync(log));
    contents_free(log);
    zipper_free(zipper);
    buf_done(&dir);
    buf_done(&text);
    buf_done(&packed);
    buf_done(&zipped);
    buf_done(&url);
}

static void run_grow(const char *folder, uint64_t pages)
{
    make_folder(folder, pages);
    struct alike_opts o = {.data_dir = folder, .key = key, .is_forced = true};
    run_timed(&o, (double)pages);
    printf("again\n"); /* nothing is new: grouping alone */
    run_timed(&o, (double)pages);
}

static void run_folder(const char *data_dir)
{
    struct store *store = NULL;
    struct buf dir = {0};
    measure_must(data_dir, store_open(data_dir, STORE_READ, &store, NULL));
    struct alike_opts o = {.data_dir = data_dir, .key = *store_key(store), .is_forced = true};
    store_free(store);
    alike_dir(data_dir, &dir);
    measure_remove(dir.p);
    run_timed(&o, 0);
    buf_done(&dir);
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "revisions") == 0)
        run_revisions(argv[2]);
    else if (argc == 4 && strcmp(argv[1], "grow") == 0)
        run_grow(argv[2], strtoull(argv[3], NULL, 10));
    else if (argc == 3 && strcmp(argv[1], "folder") == 0)
        run_folder(argv[2]);
    else {
        fputs("usage: bench_alike revisions FILE | grow FOLDER PAGES | folder DATA\n", stderr);
        return 2;
    }
    return 0;
}
