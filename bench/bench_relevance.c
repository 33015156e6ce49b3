/* bench_relevance.c - how good the ranking is, by the indexes that the authors of two manuals made (judged.h).
 *
 *     bench_relevance SITES FOLDER         NDCG@10 and MRR of our ranking and of plain BM25, on the reported half
 *     bench_relevance SITES FOLDER tune    looks for better weights on the other half, one weight at a time
 *     bench_relevance SITES FOLDER try K1 B TITLE HEADING ANCHOR URL PRIOR PROXIMITY NAME
 *                                           these weights on the other half
 *     bench_relevance SITES FOLDER misses  queries of the tuning half that do worst, to look at
 *
 * The collection is the two manuals together, without the index pages; FOLDER is made, and used as it is when it is
 * there. Which pages match a query is the same for both rankings. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "feed.h"
#include "index/text/analyze.h"
#include "index/segment/rank.h"
#include "index/search/search.h"
#include "judged.h"
#include "measure.h"

#define DEPTH 10
#define TUNE_PASSES 3

struct quality {
    double ndcg, mrr;
    size_t queries, unanswered;
};

struct bench {
    struct collection *c;
    struct judged *j;
    struct index_reader *reader;
    struct index_snapshot *snap;
    struct arena arena;
    struct rank plain;
};

static size_t ask(struct bench *b, struct span query, const struct rank *rank, uint64_t hits[DEPTH])
{
    struct search_opts o = {
        .query = query, .limit = DEPTH, .now = FEED_EPOCH_MS, .cpu_ms = -1, .rank = rank, .no_folding = true};
    struct search_result result = {0};
    arena_reset(&b->arena);
    status st = search_run(b->snap, &o, &b->arena, &result);
    if (st != ST_OK && st != ST_INVALID)
        measure_must("search_run", st);
    for (size_t i = 0; i < result.hit_count; i++)
        hits[i] = result.hits[i].key;
    return result.hit_count;
}

enum { EVERYWHERE, POSTGRESQL, PYTHON, SCOPES };

static void count(struct quality *q, double ndcg, double mrr, bool is_answered)
{
    q->ndcg += ndcg;
    q->mrr += mrr;
    q->unanswered += !is_answered;
    q->queries++;
}

/* Means over one half, and over the queries of it whose first relevant page is of the one or the other manual. */
static void judge(struct bench *b, const struct rank *rank, bool reported, struct quality out[SCOPES])
{
    memset(out, 0, SCOPES * sizeof(*out));
    for (size_t i = 0; i < b->j->count; i++) {
        const struct judgement *e = &b->j->queries[i];
        const struct page *p = table_get(&b->c->by_key, e->relevant[0]);
        uint64_t hits[DEPTH];
        if (e->is_reported != reported)
            continue;
        size_t n = ask(b, e->query, rank, hits);
        double ndcg = judged_ndcg(e, hits, n), mrr = judged_reciprocal_rank(e, hits, n);
        count(&out[EVERYWHERE], ndcg, mrr, n > 0);
        count(&out[span_starts(p->site, SPAN("python")) ? PYTHON : POSTGRESQL], ndcg, mrr, n > 0);
    }
    for (int i = 0; i < SCOPES; i++) {
        double n = out[i].queries ? (double)out[i].queries : 1;
        out[i].ndcg /= n;
        out[i].mrr /= n;
    }
}

static double tuning_ndcg(struct bench *b, const struct rank *rank)
{
    struct quality q[SCOPES];
    judge(b, rank, false, q);
    return q[EVERYWHERE].ndcg;
}

/* BM25 as in the textbook: title and body are one text, and lengths are measured by the mean of this very collection.
 * The formula of rank.h has a fixed pivot P instead of the mean M, but 1 - b + b * length / M is, with f = 1 - b + b *
 * P / M and b2 = b * P / M / f, the same as f * (1 - b2 + b2 * length / P). */
static struct rank textbook(const struct collection *c)
{
    struct analyzer *an = analyzer_new(1);
    struct rank r = rank_plain;
    double words = 0;
    for (size_t i = 0; i < c->count; i++) {
        analyze_begin(an);
        words += analyze_text(an, c->pages[i].text, lang_code_of(c->pages[i].lang), 0);
    }
    analyzer_free(an);
    double ratio = RANK_PIVOT * (double)c->count / words, f = 1 - r.b + r.b * ratio;
    r.b = r.b * ratio / f;
    r.body /= f;
    return r;
}

static void report(const char *name, struct quality plain, struct quality ours)
{
    char figure[128];
    const struct {
        const char *name, *unit;
        double value;
    } figures[] = {{"queries", "queries", (double)ours.queries},
                   {"unanswered", "queries", (double)ours.unanswered},
                   {"ndcg_plain", "NDCG@10", plain.ndcg},
                   {"ndcg", "NDCG@10", ours.ndcg},
                   {"mrr_plain", "MRR", plain.mrr},
                   {"mrr", "MRR", ours.mrr},
                   {"gain", "%", plain.ndcg > 0 ? 100 * (ours.ndcg / plain.ndcg - 1) : 0}};
    for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
        snprintf(figure, sizeof(figure), "%s%s", name, figures[i].name);
        measure_print(figure, figures[i].value, figures[i].unit);
    }
}

/* ---- tuning ---- */

static void print_rank(const struct rank *r, double ndcg)
{
    printf(
        "ndcg %.4f k1 %.2f b %.2f title %.2f heading %.2f anchor %.2f url %.2f body %.2f prior %.2f freshness %.2f\n",
        ndcg, r->k1, r->b, r->title, r->heading, r->anchor, r->url, r->body, r->prior, r->freshness);
    fflush(stdout);
}

static void tune(struct bench *b)
{
    struct rank best = rank_default;
    double *const weights[] = {&best.title, &best.anchor, &best.heading,   &best.url, &best.k1,
                               &best.b,     &best.prior,  &best.proximity, &best.name};
    static const double factors[] = {0.5, 0.7, 0.85, 1.2, 1.5, 2, 3};
    double ndcg = tuning_ndcg(b, &best);
    print_rank(&b->plain, tuning_ndcg(b, &b->plain));
    print_rank(&best, ndcg);
    for (int pass = 0; pass < TUNE_PASSES; pass++) {
        double before = ndcg;
        for (size_t w = 0; w < sizeof(weights) / sizeof(weights[0]); w++) {
            double was = *weights[w], chosen = was;
            for (size_t i = 0; i < sizeof(factors) / sizeof(factors[0]); i++) {
                *weights[w] = was * factors[i];
                if (weights[w] == &best.b && best.b > 1)
                    best.b = 1;
                double got = tuning_ndcg(b, &best);
                if (got > ndcg + 1e-5) {
                    ndcg = got;
                    chosen = *weights[w];
                }
            }
            *weights[w] = chosen;
            print_rank(&best, ndcg);
        }
        if (ndcg < before + 1e-4)
            return;
    }
}

static void try_weights(struct bench *b, char **args)
{
    struct rank r = rank_default;
    double *const weights[] = {&r.k1, &r.b, &r.title, &r.heading, &r.anchor, &r.url, &r.prior, &r.proximity, &r.name};
    for (size_t i = 0; i < sizeof(weights) / sizeof(weights[0]) && args[i]; i++)
        *weights[i] = strtod(args[i], NULL);
    print_rank(&r, tuning_ndcg(b, &r));
}

static void print_misses(struct bench *b)
{
    for (size_t i = 0, shown = 0; i < b->j->count && shown < 200; i++) {
        const struct judgement *e = &b->j->queries[i];
        uint64_t hits[DEPTH];
        if (e->is_reported || i % 7)
            continue;
        size_t n = ask(b, e->query, NULL, hits);
        double ndcg = judged_ndcg(e, hits, n);
        if (ndcg > 0.5)
            continue;
        shown++;
        printf("%.2f %.*s\n", ndcg, SPAN_ARG(e->query));
        for (size_t k = 0; k < e->relevant_count && k < 3; k++)
            printf("    want %.*s\n", SPAN_ARG(((const struct page *)table_get(&b->c->by_key, e->relevant[k]))->url));
        for (size_t k = 0; k < n && k < 3; k++)
            printf("    got  %.*s\n", SPAN_ARG(((const struct page *)table_get(&b->c->by_key, hits[k]))->url));
    }
}

int main(int argc, char **argv)
{
    struct bench b = {0};
    struct buf why = {0};
    struct stat st;
    struct span mode = span_str(argc > 3 ? argv[3] : "");
    if (argc < 3) {
        fprintf(stderr, "usage: bench_relevance SITES FOLDER [tune|try|misses]\n");
        return 2;
    }
    measure_must("collection_read", collection_read(argv[1], judged_sites, 2, judged_is_index, &b.c));
    measure_must("judged_read", judged_read(argv[1], b.c, &b.j));
    b.plain = textbook(b.c);
    if (stat(argv[2], &st) != 0)
        feed_collection(b.c, argv[2]);
    measure_must("index_reader_open", index_reader_open(argv[2], &b.reader, &why));
    measure_must("index_reader_snapshot", index_reader_snapshot(b.reader, &b.snap));
    arena_init(&b.arena);
    if (span_is(mode, "tune")) {
        tune(&b);
    } else if (span_is(mode, "try")) {
        try_weights(&b, argv + 4);
    } else if (span_is(mode, "misses")) {
        print_misses(&b);
    } else {
        struct quality plain[SCOPES], ours[SCOPES];
        judge(&b, &b.plain, true, plain);
        judge(&b, NULL, true, ours);
        report("", plain[EVERYWHERE], ours[EVERYWHERE]);
        report("postgresql_", plain[POSTGRESQL], ours[POSTGRESQL]);
        report("python_", plain[PYTHON], ours[PYTHON]);
    }
    index_snapshot_free(b.snap);
    index_reader_free(b.reader);
    arena_done(&b.arena);
    judged_free(b.j);
    collection_free(b.c);
    buf_done(&why);
    return 0;
}
