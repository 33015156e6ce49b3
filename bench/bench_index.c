/* bench_index.c - what putting documents into the index costs, beside SQLite FTS5.
 *
 *     bench_index duel FOLDER DOCS TOTAL     DOCS generated documents into ours and into FTS5 in turn; ours on to TOTAL
 *     bench_index ours FOLDER DOCS           into ours alone, to profile
 *     bench_index fts5 FOLDER DOCS           into FTS5 alone
 *     bench_index update FOLDER DOCS         updates and deletes in the index of `ours`, which has DOCS
 *     bench_index pause FOLDER DOCS SECONDS  queries while it is written to and merged
 *     bench_index sites FOLDER SITES         an index of the documentation sites
 *
 * A rate is documents by CPU seconds of all threads, from the first document until no merge is left to do; making up
 * the documents is taken out, packing and compressing their records is in. In a duel the two take turns, a batch each,
 * and neither works while it is the other's turn: what slows the machine down slows both. One line a figure: name value
 * unit. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/mem.h"
#include "feed.h"
#include "fts5.h"
#include "index/search/search.h"
#include "measure.h"

#define SEED 1
#define INDEX_BYTES (96u << 20)
#define COMMIT_S 0.25 /* between two commits while queries are watched */
#define UPDATES 10000 /* documents updated, and deleted: fewer in a small index */

/* Generated documents on their way, and the time that making them took. */
struct source {
    struct zipf *zipf;
    struct packer *packer;
    struct buf dictionary;
    double spent_s;
    uint64_t text_bytes, record_bytes;
    struct zipf_doc doc;
    struct span record;
};

static void source_init(struct source *s)
{
    *s = (struct source){.zipf = zipf_new(SEED)};
    packer_train(s->zipf, NULL, &s->dictionary);
    s->packer = packer_new(buf_span(&s->dictionary));
}

static void source_done(struct source *s)
{
    packer_free(s->packer);
    zipf_free(s->zipf);
    buf_done(&s->dictionary);
}

static void source_make(struct source *s, uint64_t number, unsigned version)
{
    double start = measure_thread_cpu();
    zipf_make(s->zipf, number, version, &s->doc);
    s->spent_s += measure_thread_cpu() - start;
    s->text_bytes += s->doc.text.n;
    s->record = packer_zipf(s->packer, number, &s->doc);
    s->record_bytes += s->record.n;
}

static uint64_t update_count(uint64_t docs)
{
    uint64_t tenth = docs / 10;
    return tenth > UPDATES ? UPDATES : tenth ? tenth : 1;
}

/* CPU seconds of this process but for making documents. */
static double work_s(const struct source *s)
{
    return measure_cpu() - s->spent_s;
}

/* One contestant of a duel: CPU seconds of its turns. */
struct turns {
    double spent_s, start_s;
};

static void turn_begin(struct turns *t, const struct source *s)
{
    t->start_s = work_s(s);
}

static void turn_end(struct turns *t, const struct source *s)
{
    t->spent_s += work_s(s) - t->start_s;
}

/* ---- ours ---- */

static struct index *open_index(const char *folder)
{
    char dir[4096];
    struct buf why = {0};
    struct index *ix = NULL;
    snprintf(dir, sizeof(dir), "%s/index", folder);
    struct index_opts opts = {.dir = dir, .seed = SEED, .memory = INDEX_BYTES};
    status st = index_open(&opts, &ix, &why);
    if (st != ST_OK)
        fprintf(stderr, "bench_index: %s: %.*s\n", dir, SPAN_ARG(buf_span(&why)));
    measure_must("index_open", st);
    buf_done(&why);
    return ix;
}

static void wait_for_merge(struct index *ix)
{
    struct index_stats stats;
    for (index_get_stats(ix, &stats); stats.is_merging; index_get_stats(ix, &stats))
        usleep(5000);
}

static void settle(struct index *ix, uint64_t applied)
{
    measure_must("index_commit", index_commit(ix, applied));
    measure_must("index_merge", index_merge(ix, false));
    wait_for_merge(ix);
}

static void add_batch(struct index *ix, struct source *s, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++) {
        source_make(s, i, 0);
        struct index_doc doc = feed_zipf(i, i + 1, &s->doc, s->record);
        measure_must("index_add", index_add(ix, &doc));
    }
}

static void add_docs(struct index *ix, struct source *s, uint64_t from, uint64_t to)
{
    for (uint64_t at = from; at < to; at += FEED_COMMIT) {
        uint64_t end = to - at < FEED_COMMIT ? to : at + FEED_COMMIT;
        add_batch(ix, s, at, end);
        measure_must("index_commit_soon", index_commit_soon(ix, end));
    }
    settle(ix, to);
}

static struct index *new_index(const char *folder, const struct source *s)
{
    struct index *ix = open_index(folder);
    if (s->dictionary.n)
        measure_must("index_put_dictionary", index_put_dictionary(ix, buf_span(&s->dictionary)));
    return ix;
}

static void print_sizes(struct index *ix, const struct source *s, uint64_t docs)
{
    struct index_stats stats;
    double n = (double)docs;
    index_get_stats(ix, &stats);
    double index_bytes = (double)stats.bytes - (double)s->record_bytes;
    measure_print("docs", n, "documents");
    measure_print("text_per_doc", (double)s->text_bytes / n, "bytes");
    measure_print("record_per_doc", (double)s->record_bytes / n, "bytes");
    measure_print("index_per_doc", index_bytes / n, "bytes");
    measure_print("index_share_of_text", 100 * index_bytes / (double)s->text_bytes, "%");
    measure_print("segments", (double)stats.segments, "segments");
    measure_print("merged_per_doc", (double)stats.merged_docs / n, "times");
    measure_print("peak_memory", (double)measure_peak_bytes() / 1048576, "MiB");
}

static int run_ours(const char *folder, uint64_t docs)
{
    struct source s;
    struct turns t = {0};
    measure_pin(0);
    source_init(&s);
    struct index *ix = new_index(folder, &s);
    double wall = measure_wall();
    turn_begin(&t, &s);
    add_docs(ix, &s, 0, docs);
    turn_end(&t, &s);
    measure_print("rate", (double)docs / t.spent_s, "docs/cpu-s");
    measure_print("wall", measure_wall() - wall, "s");
    measure_print("generator", s.spent_s * 1e6 / (double)docs, "us/doc");
    print_sizes(ix, &s, docs);
    index_close(ix);
    source_done(&s);
    return 0;
}

static int run_update(const char *folder, uint64_t docs)
{
    struct source s;
    uint64_t count = update_count(docs), step = docs / count, fetch = docs + 1;
    measure_pin(0);
    source_init(&s);
    struct index *ix = open_index(folder);
    settle(ix, fetch);
    double start = work_s(&s);
    for (uint64_t i = 0; i < count; i++) {
        source_make(&s, i * step, 1);
        struct index_doc doc = feed_zipf(i * step, fetch++, &s.doc, s.record);
        measure_must("index_add", index_add(ix, &doc));
        if ((i + 1) % FEED_COMMIT == 0)
            measure_must("index_commit_soon", index_commit_soon(ix, fetch));
    }
    settle(ix, fetch);
    measure_print("update", (work_s(&s) - start) * 1e3 / (double)count, "ms/doc");
    start = work_s(&s);
    for (uint64_t i = 0; i < count; i++) {
        measure_must("index_delete", index_delete(ix, feed_key(i * step), fetch++));
        if ((i + 1) % FEED_COMMIT == 0)
            measure_must("index_commit_soon", index_commit_soon(ix, fetch));
    }
    settle(ix, fetch);
    measure_print("delete", (work_s(&s) - start) * 1e3 / (double)count, "ms/doc");
    index_close(ix);
    source_done(&s);
    return 0;
}

/* ---- FTS5 ---- */

/* ORB_BENCH_FTS5="page hash automerge crisismerge leaf": other settings than the best found, to try them. */
static struct fts5_opts fts5_settings(void)
{
    struct fts5_opts o = {0};
    const char *text = getenv("ORB_BENCH_FTS5");
    if (text)
        sscanf(text, "%d %d %d %d %d", &o.page_bytes, &o.hash_bytes, &o.automerge, &o.crisismerge, &o.leaf_bytes);
    return o;
}

static struct fts5 *new_fts5(const char *folder)
{
    struct fts5 *f = NULL;
    struct fts5_opts o = fts5_settings();
    char path[4096];
    snprintf(path, sizeof(path), "%s/fts5.db", folder);
    measure_must("fts5_open", fts5_open(path, &o, &f));
    return f;
}

static void fts5_batch(struct fts5 *f, struct source *s, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++) {
        source_make(s, i, 0);
        measure_must("fts5_add", fts5_add(f, (int64_t)i + 1, &s->doc, s->record));
    }
    measure_must("fts5_commit", fts5_commit(f));
}

static void fts5_updates(struct fts5 *f, struct source *s, uint64_t docs)
{
    uint64_t count = update_count(docs), step = docs / count;
    struct turns t = {0};
    turn_begin(&t, s);
    for (uint64_t i = 0; i < count; i++) {
        int64_t id = (int64_t)(i * step) + 1;
        double making = measure_thread_cpu();
        zipf_make(s->zipf, i * step, 0, &s->doc);
        s->spent_s += measure_thread_cpu() - making;
        measure_must("fts5_delete", fts5_delete(f, id, &s->doc));
        source_make(s, i * step, 1);
        measure_must("fts5_add", fts5_add(f, id, &s->doc, s->record));
        if ((i + 1) % FTS5_BATCH == 0 || i + 1 == count)
            measure_must("fts5_commit", fts5_commit(f));
    }
    turn_end(&t, s);
    measure_print("fts5_update", t.spent_s * 1e3 / (double)count, "ms/doc");
}

static void print_fts5_size(struct fts5 *f, uint64_t docs)
{
    int64_t bytes = 0;
    measure_must("fts5_index_bytes", fts5_index_bytes(f, &bytes));
    measure_print("fts5_index_per_doc", (double)bytes / (double)docs, "bytes");
}

static int run_fts5(const char *folder, uint64_t docs)
{
    struct source s;
    struct turns t = {0};
    measure_pin(0);
    source_init(&s);
    struct fts5 *f = new_fts5(folder);
    turn_begin(&t, &s);
    for (uint64_t at = 0; at < docs; at += FTS5_BATCH)
        fts5_batch(f, &s, at, docs - at < FTS5_BATCH ? docs : at + FTS5_BATCH);
    turn_end(&t, &s);
    measure_print("fts5_rate", (double)docs / t.spent_s, "docs/cpu-s");
    print_fts5_size(f, docs);
    measure_print("peak_memory", (double)measure_peak_bytes() / 1048576, "MiB");
    fts5_updates(f, &s, docs);
    fts5_close(f);
    source_done(&s);
    return 0;
}

/* ---- both ---- */

static void duel(struct index *ix, struct fts5 *f, struct source *ours, struct source *theirs, uint64_t docs)
{
    struct turns us = {0}, them = {0};
    for (uint64_t at = 0, end; at < docs; at = end) {
        end = docs - at < FEED_COMMIT ? docs : at + FEED_COMMIT;
        turn_begin(&us, ours);
        add_batch(ix, ours, at, end);
        measure_must("index_commit", index_commit(ix, end));
        wait_for_merge(ix);
        turn_end(&us, ours);
        turn_begin(&them, theirs);
        fts5_batch(f, theirs, at, end);
        turn_end(&them, theirs);
    }
    turn_begin(&us, ours);
    settle(ix, docs);
    turn_end(&us, ours);
    measure_print("rate", (double)docs / us.spent_s, "docs/cpu-s");
    measure_print("fts5_rate", (double)docs / them.spent_s, "docs/cpu-s");
    measure_print("rate_over_fts5", them.spent_s / us.spent_s, "ratio");
}

/* Do both find a word in as many documents? Says so when not: the comparison would be none. */
static void compare_counts(const char *folder, struct fts5 *f, const struct source *s)
{
    static const uint32_t ranks[] = {0, 7, 60, 500, 4000, 30000, 200000};
    struct index_reader *reader = NULL;
    struct index_snapshot *snap = NULL;
    struct buf why = {0};
    struct arena a;
    char dir[4096];
    double differ = 0;
    snprintf(dir, sizeof(dir), "%s/index", folder);
    measure_must("index_reader_open", index_reader_open(dir, &reader, &why));
    measure_must("index_reader_snapshot", index_reader_snapshot(reader, &snap));
    arena_init(&a);
    for (size_t i = 0; i < sizeof(ranks) / sizeof(ranks[0]); i++) {
        char word[ZIPF_WORD_MAX + 1];
        struct search_result result = {0};
        int64_t theirs = 0;
        size_t n = zipf_word(s->zipf, ranks[i], word);
        word[n] = '\0';
        struct search_opts o = {.query = span_of(word, n), .now = FEED_EPOCH_MS, .cpu_ms = -1, .exhaustive = true};
        measure_must("search_run", search_run(snap, &o, &a, &result));
        measure_must("fts5_count", fts5_count(f, word, &theirs));
        if ((uint64_t)theirs != result.total) {
            fprintf(stderr, "bench_index: %s: %llu documents, in FTS5 %lld\n", word, (unsigned long long)result.total,
                    (long long)theirs);
            differ++;
        }
    }
    measure_print("counts_differ", differ, "words");
    arena_done(&a);
    index_snapshot_free(snap);
    index_reader_free(reader);
    buf_done(&why);
}

static int run_duel(const char *folder, uint64_t docs, uint64_t total)
{
    struct source ours, theirs;
    measure_pin(0); /* one core, or two threads that share a core's units would slow each other down */
    source_init(&ours);
    source_init(&theirs);
    struct index *ix = new_index(folder, &ours);
    struct fts5 *f = new_fts5(folder);
    duel(ix, f, &ours, &theirs, docs);
    print_sizes(ix, &ours, docs);
    print_fts5_size(f, docs);
    compare_counts(folder, f, &ours);
    fts5_updates(f, &theirs, docs);
    fts5_close(f);
    source_done(&theirs);
    if (total > docs) {
        measure_pin(-1);
        add_docs(ix, &ours, docs, total);
        printf("-- at the end\n");
        print_sizes(ix, &ours, total);
    }
    index_close(ix);
    source_done(&ours);
    return 0;
}

/* ---- queries while it is written to ---- */

struct watcher {
    struct index_reader *reader;
    char word[ZIPF_WORD_MAX + 1];
    atomic_bool stop;
    double *spent; /* seconds of each query */
    size_t count, cap;
    uint64_t generations;
};

/* A thread that was never switched away from, as far as the kernel knows, did not wait for anybody here: what its query
 * took more than CPU time went to other guests of the same host. */
static double waited(double wall_s, double cpu_s, const struct rusage *before, const struct rusage *after)
{
    bool was_switched = after->ru_nvcsw != before->ru_nvcsw || after->ru_nivcsw != before->ru_nivcsw;
    return was_switched ? wall_s : cpu_s;
}

static void *watch(void *arg)
{
    struct watcher *w = arg;
    struct arena a;
    struct search_result result;
    struct search_opts opts = {.query = span_str(w->word), .now = FEED_EPOCH_MS};
    uint64_t generation = 0;
    measure_pin_thread(1);
    arena_init(&a);
    while (!atomic_load(&w->stop)) {
        struct index_snapshot *snap = NULL;
        struct rusage before, after;
        getrusage(RUSAGE_THREAD, &before);
        double wall = measure_wall(), cpu = measure_thread_cpu();
        arena_reset(&a);
        measure_must("index_reader_snapshot", index_reader_snapshot(w->reader, &snap));
        measure_must("search_run", search_run(snap, &opts, &a, &result));
        w->generations += index_snapshot_generation(snap) != generation;
        generation = index_snapshot_generation(snap);
        index_snapshot_free(snap);
        cpu = measure_thread_cpu() - cpu;
        wall = measure_wall() - wall;
        getrusage(RUSAGE_THREAD, &after);
        w->spent = mem_grow(w->spent, &w->cap, w->count + 1, sizeof(*w->spent));
        w->spent[w->count++] = waited(wall, cpu, &before, &after);
        usleep(200);
    }
    arena_done(&a);
    return NULL;
}

static int run_pause(const char *folder, uint64_t docs, double seconds)
{
    struct source s;
    struct watcher w = {0};
    struct buf why = {0};
    struct index_stats stats;
    pthread_t thread;
    char dir[4096];
    measure_pin(0);
    source_init(&s);
    struct index *ix = open_index(folder);
    snprintf(dir, sizeof(dir), "%s/index", folder);
    zipf_make(s.zipf, docs / 2, 0, &s.doc);
    size_t n = zipf_word(s.zipf, 20000, w.word);
    w.word[n] = '\0';
    measure_must("index_reader_open", index_reader_open(dir, &w.reader, &why));
    if (pthread_create(&thread, NULL, watch, &w) != 0)
        measure_must("pthread_create", ST_IO);
    double end = measure_wall() + seconds, next = measure_wall() + COMMIT_S;
    uint64_t fetch = docs * 2 + 1, at = docs;
    /* A third of the newest eighth goes, so that a segment of some size is written anew. */
    for (uint64_t i = docs - docs / 8; i < docs; i += 3)
        measure_must("index_delete", index_delete(ix, feed_key(i), fetch++));
    while (measure_wall() < end) {
        /* Half of them new, half updates, so that tombstones are written too. */
        bool is_new = fetch & 1;
        uint64_t number = is_new ? at++ : fetch % docs;
        source_make(&s, number, is_new ? 0 : 2);
        struct index_doc doc = feed_zipf(number, fetch++, &s.doc, s.record);
        measure_must("index_add", index_add(ix, &doc));
        if (measure_wall() > next) {
            measure_must("index_commit_soon", index_commit_soon(ix, fetch));
            next = measure_wall() + COMMIT_S;
        }
    }
    settle(ix, fetch);
    atomic_store(&w.stop, true);
    pthread_join(thread, NULL);
    index_get_stats(ix, &stats);
    double longest = measure_quantile(w.spent, w.count, 1), usual = measure_quantile(w.spent, w.count, 0.5);
    measure_print("pause_longest", (longest - usual) * 1e3, "ms");
    measure_print("pause_p999", measure_quantile(w.spent, w.count, 0.999) * 1e3, "ms");
    measure_print("pause_usual_query", usual * 1e3, "ms");
    measure_print("pause_queries", (double)w.count, "queries");
    measure_print("pause_commits_seen", (double)w.generations, "commits");
    measure_print("pause_merges", (double)stats.merges, "merges");
    measure_print("pause_merged", (double)stats.merged_docs, "documents");
    index_reader_free(w.reader);
    index_close(ix);
    source_done(&s);
    buf_done(&why);
    free(w.spent);
    return 0;
}

/* ---- the documentation sites ---- */

static int run_sites(const char *folder, const char *sites)
{
    static const char *const names[] = {"apache2-doc",  "cppreference-doc-en-html", "debian-handbook",
                                        "libgtk-4-doc", "postgresql-doc-15",        "python3.11-doc"};
    struct collection *c = NULL;
    char dir[4096];
    measure_must("collection_read", collection_read(sites, names, sizeof(names) / sizeof(names[0]), NULL, &c));
    snprintf(dir, sizeof(dir), "%s/sites", folder);
    double start = measure_cpu();
    feed_collection(c, dir);
    measure_print("docs", (double)c->count, "documents");
    measure_print("rate", (double)c->count / (measure_cpu() - start), "docs/cpu-s");
    measure_print("text_per_doc", (double)c->text_bytes / (double)c->count, "bytes");
    measure_print("bytes_per_doc", (double)measure_folder_bytes(dir, "") / (double)c->count, "bytes");
    collection_free(c);
    return 0;
}

int main(int argc, char **argv)
{
    struct span what = span_str(argc > 3 ? argv[1] : "");
    uint64_t docs = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
    if (span_is(what, "sites"))
        return run_sites(argv[2], argv[3]);
    if (span_is(what, "duel") && docs)
        return run_duel(argv[2], docs, argc > 4 ? strtoull(argv[4], NULL, 10) : docs);
    if (span_is(what, "ours") && docs)
        return run_ours(argv[2], docs);
    if (span_is(what, "fts5") && docs)
        return run_fts5(argv[2], docs);
    if (span_is(what, "update") && docs)
        return run_update(argv[2], docs);
    if (span_is(what, "pause") && docs && argc > 4)
        return run_pause(argv[2], docs, strtod(argv[4], NULL));
    fprintf(stderr, "usage: bench_index duel|ours|fts5|update|pause|sites FOLDER DOCS|SITES [TOTAL|SECONDS]\n");
    return 2;
}
