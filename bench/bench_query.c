/* bench_query.c - how long queries take, one core, warm.
 *
 *     bench_query generated FOLDER DOCS   over the index of `bench_index ours`
 *     bench_query sites FOLDER            over that of `bench_index sites`
 *
 * Generated: 200 queries of one to three words, taken from documents at random places, so that common words are as
 * common in them as in the text; every tenth is of the 30 most frequent words only. 100 phrases of two to four words
 * that stand in a row in a document. Each is asked ROUNDS times after a first time that does not count; its time is the
 * best one: what disturbs a shared machine only ever makes it slower. Sites: words and pairs of words from titles. One
 * line a figure: name value unit. */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "collection.h"
#include "feed.h"
#include "index/search/search.h"
#include "measure.h"

#define SEED 1
#define QUERIES 200
#define PHRASES 100
#define SITE_QUERIES 500
#define ROUNDS 3
#define EXACT_EVERY 5 /* queries whose top ten is compared with that of a search that skips nothing */

struct texts {
    struct span *text;
    size_t count, cap;
    struct arena arena;
};

static void texts_add(struct texts *t, struct span s)
{
    t->text = mem_grow(t->text, &t->cap, t->count + 1, sizeof(*t->text));
    t->text[t->count++] = arena_copy(&t->arena, s);
}

static void texts_done(struct texts *t)
{
    free(t->text);
    arena_done(&t->arena);
}

struct bench {
    struct index_reader *reader;
    struct index_snapshot *snap;
    struct arena arena;
    uint64_t partial, empty, wrong, compared;
};

/* ---- queries ---- */

/* The next word at or after `*at`, small letters; empty at the end of a sentence. */
static struct span next_word(struct span text, size_t *at, char out[64])
{
    size_t n = 0, i = *at;
    while (i < text.n && (text.p[i] == ' ' || text.p[i] == ','))
        i++;
    for (; i < text.n && n < 64 && (ascii_is_alpha(text.p[i]) || ascii_is_digit(text.p[i])); i++)
        out[n++] = ascii_lower(text.p[i]);
    *at = i;
    return span_of(out, n);
}

/* Words in a row from a random place; false when a sentence ends before. */
static bool take_row(struct rng *r, struct span text, unsigned words, struct buf *out)
{
    size_t at = rng_below(r, text.n);
    char word[64];
    while (at && text.p[at - 1] != ' ' && text.p[at - 1] != '\n')
        at--;
    buf_clear(out);
    for (unsigned i = 0; i < words; i++) {
        struct span w = next_word(text, &at, word);
        if (!w.n)
            return false;
        if (i)
            buf_putc(out, ' ');
        buf_put(out, w);
    }
    return true;
}

static void make_queries(struct zipf *z, uint64_t docs, const char *joint, struct texts *out)
{
    struct rng r;
    struct buf query = {0}, word = {0};
    rng_seed(&r, 7);
    while (out->count < QUERIES) {
        unsigned words = 1 + (unsigned)(out->count % 3);
        bool is_common = out->count % 10 == 9;
        struct zipf_doc doc;
        zipf_make(z, rng_below(&r, docs), 0, &doc);
        buf_clear(&query);
        for (unsigned i = 0; i < words; i++) {
            char text[ZIPF_WORD_MAX];
            if (i)
                buf_puts(&query, joint);
            if (is_common) {
                buf_put(&query, span_of(text, zipf_word(z, (uint32_t)rng_below(&r, 30), text)));
                continue;
            }
            while (!take_row(&r, doc.text, 1, &word)) {
            }
            buf_put(&query, buf_span(&word));
        }
        texts_add(out, buf_span(&query));
    }
    buf_done(&query);
    buf_done(&word);
}

static void make_phrases(struct zipf *z, uint64_t docs, struct texts *out)
{
    struct rng r;
    struct buf row = {0}, query = {0};
    rng_seed(&r, 11);
    while (out->count < PHRASES) {
        struct zipf_doc doc;
        zipf_make(z, rng_below(&r, docs), 0, &doc);
        while (!take_row(&r, doc.text, 2 + (unsigned)(out->count % 3), &row)) {
        }
        buf_clear(&query);
        buf_printf(&query, "\"%.*s\"", SPAN_ARG(buf_span(&row)));
        texts_add(out, buf_span(&query));
    }
    buf_done(&row);
    buf_done(&query);
}

/* ---- asking ---- */

static struct search_result ask(struct bench *b, const struct search_opts *o)
{
    struct search_result result = {0};
    status st = search_run(b->snap, o, &b->arena, &result);
    if (st != ST_OK)
        fprintf(stderr, "bench_query: %.*s\n", SPAN_ARG(o->query));
    measure_must("search_run", st);
    return result;
}

/* Same scores in the same order; which of two documents with one score comes first is nobody's business. */
static bool is_same(const struct search_result *a, const struct search_result *b)
{
    bool same = a->hit_count == b->hit_count;
    for (size_t i = 0; same && i < a->hit_count; i++)
        same = a->hits[i].score - b->hits[i].score < 1e-9 && b->hits[i].score - a->hits[i].score < 1e-9;
    return same;
}

static void compare(struct bench *b, struct span query)
{
    struct search_opts o = {.query = query, .now = FEED_EPOCH_MS, .cpu_ms = -1};
    arena_reset(&b->arena);
    struct search_result quick = ask(b, &o);
    o.exhaustive = true;
    struct search_result slow = ask(b, &o);
    b->compared++;
    if (is_same(&quick, &slow))
        return;
    b->wrong++;
    fprintf(stderr, "bench_query: %.*s: other hits when nothing is skipped\n", SPAN_ARG(query));
}

static void time_queries(struct bench *b, const char *name, const struct texts *t, bool with_snippets)
{
    double *spent = mem_alloc(t->count * sizeof(*spent)), cpu = 0;
    char figure[128];
    size_t worst = 0;
    for (size_t i = 0; i < t->count; i++) {
        struct search_opts o = {.query = t->text[i], .now = FEED_EPOCH_MS, .with_snippets = with_snippets};
        double rounds[ROUNDS];
        for (int k = -1; k < ROUNDS; k++) {
            arena_reset(&b->arena);
            double start = measure_wall();
            struct search_result result = ask(b, &o);
            double end = measure_wall();
            if (k < 0)
                continue;
            rounds[k] = end - start;
            cpu += end - start;
            b->partial += result.is_partial;
            b->empty += k == 0 && result.hit_count == 0;
        }
        spent[i] = measure_quantile(rounds, ROUNDS, 0) * 1e3;
        if (spent[i] > spent[worst])
            worst = i;
    }
    fprintf(stderr, "%s: slowest: %.*s (%.2f ms)\n", name, SPAN_ARG(t->text[worst]), spent[worst]);
    snprintf(figure, sizeof(figure), "%s_mean", name);
    measure_print(figure, cpu * 1e3 / (double)(t->count * ROUNDS), "ms");
    snprintf(figure, sizeof(figure), "%s_p50", name);
    measure_print(figure, measure_quantile(spent, t->count, 0.5), "ms");
    snprintf(figure, sizeof(figure), "%s_p99", name);
    measure_print(figure, measure_quantile(spent, t->count, 0.99), "ms");
    free(spent);
}

static void open_reader(struct bench *b, const char *folder, const char *name)
{
    char dir[4096];
    struct buf why = {0};
    measure_pin(0);
    snprintf(dir, sizeof(dir), "%s/%s", folder, name);
    *b = (struct bench){0};
    arena_init(&b->arena);
    measure_must("index_reader_open", index_reader_open(dir, &b->reader, &why));
    measure_must("index_reader_snapshot", index_reader_snapshot(b->reader, &b->snap));
    buf_done(&why);
}

static void close_reader(struct bench *b)
{
    index_snapshot_free(b->snap);
    index_reader_free(b->reader);
    arena_done(&b->arena);
}

static int run_generated(const char *folder, uint64_t docs)
{
    struct bench b;
    struct texts all = {0}, any = {0}, phrases = {0};
    struct zipf *z = zipf_new(SEED);
    make_queries(z, docs, " ", &all);
    make_queries(z, docs, " OR ", &any);
    make_phrases(z, docs, &phrases);
    zipf_free(z);
    open_reader(&b, folder, "index");
    time_queries(&b, "and", &all, false);
    time_queries(&b, "or", &any, false);
    time_queries(&b, "phrase", &phrases, false);
    time_queries(&b, "snippets", &all, true);
    measure_print("reader_memory", (double)measure_anonymous_bytes() / 1048576, "MiB");
    for (size_t i = 0; i < QUERIES; i += EXACT_EVERY) {
        compare(&b, all.text[i]);
        compare(&b, any.text[i]);
        compare(&b, phrases.text[i / 2]);
    }
    measure_print("compared", (double)b.compared, "queries");
    measure_print("inexact", (double)b.wrong, "queries");
    measure_print("partial", (double)b.partial, "queries");
    measure_print("without_hits", (double)b.empty, "queries");
    close_reader(&b);
    texts_done(&all);
    texts_done(&any);
    texts_done(&phrases);
    return b.wrong ? 1 : 0;
}

/* Words of four letters and more from titles, alone and with the next one. */
struct titles {
    struct rng rng;
    const struct index_snapshot *snap;
    struct texts *out;
    struct arena work;
    uint64_t step, at;
};

static status take_title(void *arg, uint64_t key, uint64_t fetch_number, struct span url)
{
    struct titles *t = arg;
    struct index_document doc;
    struct buf query = {0};
    char word[64];
    if (t->at++ % t->step != 0 || t->out->count >= SITE_QUERIES)
        return ST_OK;
    arena_reset(&t->work);
    if (index_document(t->snap, key, &t->work, &doc) != ST_OK || !doc.title.n)
        return ST_OK;
    size_t want = 1 + t->out->count % 2, have = 0;
    for (size_t at = 0; at < doc.title.n && have < want;) {
        struct span w = next_word(doc.title, &at, word);
        if (w.n >= 4) {
            if (have++)
                buf_putc(&query, ' ');
            buf_put(&query, w);
        } else if (!w.n) {
            at++;
        }
    }
    if (have)
        texts_add(t->out, buf_span(&query));
    buf_done(&query);
    return ST_OK;
}

static int run_sites(const char *folder)
{
    struct bench b;
    struct texts texts = {0};
    open_reader(&b, folder, "sites");
    struct titles t = {.snap = b.snap, .out = &texts, .step = index_snapshot_docs(b.snap) / SITE_QUERIES + 1};
    measure_must("index_each", index_each(b.snap, take_title, &t));
    arena_done(&t.work);
    time_queries(&b, "sites", &texts, false);
    time_queries(&b, "sites_snippets", &texts, true);
    measure_print("reader_memory", (double)measure_anonymous_bytes() / 1048576, "MiB");
    for (size_t i = 0; i < texts.count; i += EXACT_EVERY)
        compare(&b, texts.text[i]);
    measure_print("inexact", (double)b.wrong, "queries");
    measure_print("without_hits", (double)b.empty, "queries");
    close_reader(&b);
    texts_done(&texts);
    return b.wrong ? 1 : 0;
}

int main(int argc, char **argv)
{
    struct span what = span_str(argc > 2 ? argv[1] : "");
    uint64_t docs = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
    if (span_is(what, "generated") && docs)
        return run_generated(argv[2], docs);
    if (span_is(what, "sites"))
        return run_sites(argv[2]);
    fprintf(stderr, "usage: bench_query generated FOLDER DOCS | sites FOLDER\n");
    return 2;
}
