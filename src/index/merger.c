/* merger.c - which segments are merged when, and how the result takes their place.
 *
 * Levelled by bytes: a level holds sizes up to eight times those of the level below; when MERGE_FAN segments of a level
 * are there they become one, most likely of the next level. So a document is copied once a level, and the number of
 * segments stays below MERGE_FAN a level. */
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/mem.h"
#include "index/change.h"
#include "index/merge.h"
#include "index/segment/segment_write.h"
#include "index/writer.h"

#define LEVEL_FIRST (1u << 20) /* all below it are of one level: a commit a second makes such */
#define LEVEL_FACTOR 8
#define LEVELS 8
#define MERGE_FAN 8
#define MERGE_FAN_MAX 10
#define MERGE_BYTES_MAX (2ull << 30)
#define SMALL_BYTES (32u << 20) /* a merge up to this is the small merger's */
#define DEAD_PERCENT 20
#define NICE 10

struct job {
    struct part inputs[MERGE_INPUTS_MAX]; /* counted; as the index had them when it was picked */
    size_t count;
};

/* Bytes without those of the dead, about. */
static uint64_t living_bytes(const struct part *p)
{
    uint64_t docs = segment_docs(p->shared->segment), bytes = segment_bytes(p->shared->segment);
    return p->tombs ? bytes * (docs - p->tombs->dead) / docs : bytes;
}

static bool is_mostly_fine(const struct part *p)
{
    return !p->tombs || (uint64_t)p->tombs->dead * 100 <= (uint64_t)p->tombs->docs * DEAD_PERCENT;
}

static bool is_free(const struct part *p)
{
    return !p->shared->is_merging && !p->shared->is_broken;
}

static unsigned level_of(uint64_t bytes)
{
    unsigned level = 0;
    for (uint64_t limit = LEVEL_FIRST; bytes >= limit && level + 1 < LEVELS; limit *= LEVEL_FACTOR)
        level++;
    return level;
}

static int by_size(const void *a, const void *b)
{
    uint64_t x = living_bytes(*(struct part *const *)a), y = living_bytes(*(struct part *const *)b);
    return x < y ? -1 : x > y;
}

/* Takes the parts into the job in the order of the index: older documents get lower numbers. The lock is held. */
static void take(struct index *ix, struct part *const *chosen, size_t count, struct job *job)
{
    for (size_t i = 0; i < count; i++)
        chosen[i]->shared->is_merging = true;
    job->count = 0;
    for (size_t i = 0; i < ix->parts.n; i++) {
        struct part *p = &ix->parts.p[i];
        bool is_chosen = false;
        for (size_t k = 0; k < count; k++)
            is_chosen |= chosen[k] == p;
        if (is_chosen)
            job->inputs[job->count++] = (struct part){shared_segment_ref(p->shared), tombs_ref(p->tombs)};
    }
    ix->merges_running++;
}

/* Which parts count. */
enum { ANY_LEVEL = LEVELS };
struct choice {
    unsigned level;     /* or ANY_LEVEL */
    bool is_for_dead;   /* those with too many dead only */
    size_t least, most; /* how many */
};

static bool is_candidate(const struct part *p, const struct choice *c)
{
    uint64_t living = living_bytes(p);
    return is_free(p) && (!c->is_for_dead || !is_mostly_fine(p)) &&
           (c->level == ANY_LEVEL || level_of(living) == c->level) &&
           (c->is_for_dead || c->level == ANY_LEVEL || living <= MERGE_BYTES_MAX / 2);
}

/* Takes the smallest first, and stops at MERGE_BYTES_MAX unless of any level; returns how many, 0: not due. */
static size_t choose(struct index *ix, const struct choice *c, struct part **out, uint64_t *bytes)
{
    struct part **all = mem_alloc(ix->parts.n * sizeof(struct part *));
    size_t n = 0, taken = 0;
    for (size_t i = 0; i < ix->parts.n; i++) {
        if (is_candidate(&ix->parts.p[i], c))
            all[n++] = &ix->parts.p[i];
    }
    qsort(all, n, sizeof(*all), by_size);
    *bytes = 0;
    while (n >= c->least && taken < n && taken < c->most) {
        uint64_t living = living_bytes(all[taken]);
        if (c->level != ANY_LEVEL && taken && *bytes + living > MERGE_BYTES_MAX)
            break;
        *bytes += living;
        out[taken] = all[taken];
        taken++;
    }
    free(all);
    return taken;
}

enum { PICK_SMALL = 1, PICK_LARGE = 2 };

static bool is_wanted(unsigned sizes, uint64_t bytes)
{
    return sizes & (bytes <= SMALL_BYTES ? PICK_SMALL : PICK_LARGE);
}

/* The next merge that is due; false: none. The lock is held. */
static bool pick(struct index *ix, unsigned sizes, struct job *job)
{
    struct part *chosen[MERGE_INPUTS_MAX];
    uint64_t bytes;
    for (unsigned i = 0; i < 2 * LEVELS; i++) {
        struct choice c = {i / 2, i % 2, i % 2 ? 1 : MERGE_FAN, MERGE_FAN_MAX};
        size_t n = choose(ix, &c, chosen, &bytes);
        if (n >= (c.is_for_dead ? 1u : 2u) && is_wanted(sizes, bytes)) {
            take(ix, chosen, n, job);
            return true;
        }
    }
    return false;
}

/* Everything into one; false: it is one, or some are busy. */
static bool pick_all(struct index *ix, struct job *job)
{
    struct part *chosen[MERGE_INPUTS_MAX];
    uint64_t bytes;
    struct choice c = {ANY_LEVEL, false, 1, MERGE_INPUTS_MAX};
    size_t n = choose(ix, &c, chosen, &bytes);
    if (!n || (n == 1 && !chosen[0]->tombs))
        return false;
    take(ix, chosen, n, job);
    return true;
}

/* One that has dead documents, however few; false: none has. */
static bool pick_dead(struct index *ix, struct job *job)
{
    for (size_t i = 0; i < ix->parts.n; i++) {
        struct part *p = &ix->parts.p[i];
        if (is_free(p) && p->tombs && p->tombs->dead) {
            take(ix, &p, 1, job);
            return true;
        }
    }
    return false;
}

/* ---- taking their place ---- */

static size_t find_input(const struct job *job, const struct shared_segment *s)
{
    size_t i = 0;
    while (i < job->count && job->inputs[i].shared != s)
        i++;
    return i;
}

/* Documents that were alive when the merge began and are not in `now` (NULL: none is). */
static status carry_over(struct change *c, size_t merged, const struct part *input, const struct part *now)
{
    const struct segment *s = input->shared->segment;
    status st = ST_OK;
    if (now && now->tombs == input->tombs)
        return ST_OK;
    for (uint32_t doc = 0; doc < segment_docs(s) && st == ST_OK; doc++) {
        struct doc_row row;
        uint32_t at;
        if (tombs_has(input->tombs, doc) || (now && !tombs_has(now->tombs, doc)))
            continue;
        st = segment_doc(s, doc, &row);
        if (st == ST_OK)
            st = segment_find_doc(c->parts.p[merged].shared->segment, row.key, &at);
        if (st == ST_OK)
            change_kill(c, merged, at);
    }
    return st == ST_NOT_FOUND ? ST_CORRUPT : st;
}

/* The list without the inputs; the merged one in the place of the first. */
static status replace_inputs(struct change *c, const struct job *job, struct shared_segment *merged)
{
    struct parts old = c->parts;
    const struct part *now[MERGE_INPUTS_MAX] = {0};
    size_t place = SIZE_MAX;
    status st = ST_OK;
    c->parts = (struct parts){0};
    for (size_t i = 0; i < old.n; i++) {
        size_t input = find_input(job, old.p[i].shared);
        if (input == job->count) {
            parts_add(&c->parts, (struct part){shared_segment_ref(old.p[i].shared), tombs_ref(old.p[i].tombs)});
            continue;
        }
        now[input] = &old.p[i];
        if (place == SIZE_MAX) {
            place = c->parts.n;
            if (merged)
                parts_add(&c->parts, (struct part){shared_segment_ref(merged), NULL});
        }
    }
    if (place == SIZE_MAX) /* all inputs have gone meanwhile, and all of their documents with them */
        st = ST_CANCELLED;
    for (size_t i = 0; merged && i < job->count && st == ST_OK; i++)
        st = carry_over(c, place, &job->inputs[i], now[i]);
    part_list_done(&old);
    return st;
}

static status install(struct index *ix, const struct job *job, struct shared_segment *merged, bool *is_adopted)
{
    struct change c;
    pthread_mutex_lock(&ix->change);
    change_init(&c, ix);
    status st = replace_inputs(&c, job, merged);
    if (st == ST_OK)
        st = change_install(&c, ix);
    *is_adopted = c.is_adopted;
    change_done(&c);
    pthread_mutex_unlock(&ix->change);
    return st;
}

static status run(struct index *ix, struct job *job)
{
    struct merge_input inputs[MERGE_INPUTS_MAX];
    struct shared_segment *merged = NULL;
    uint32_t docs = 0, number = atomic_fetch_add(&ix->next_segment, 1);
    size_t bad = SIZE_MAX;
    bool is_adopted = false;
    for (size_t i = 0; i < job->count; i++)
        inputs[i] = (struct merge_input){job->inputs[i].shared->segment, job->inputs[i].tombs};
    status st = merge_segments(ix->dir, number, inputs, job->count, &ix->is_stopping, &docs, &bad);
    if (st == ST_OK)
        st = shared_segment_open(ix->dir, number, &merged);
    if (st == ST_OK || st == ST_END)
        st = install(ix, job, merged, &is_adopted);
    shared_segment_unref(merged);
    if (st == ST_OK) {
        atomic_fetch_add(&ix->merges, 1);
        atomic_fetch_add(&ix->merged_docs, docs);
    } else if (!is_adopted) {
        segment_remove(ix->dir, number);
    }
    if (st != ST_OK && st != ST_CANCELLED)
        log_write(ix->log, LOG_WARN, "index", "merge failed inputs=%zu status=%s", job->count, status_name(st));
    pthread_mutex_lock(&ix->lock);
    for (size_t i = 0; i < job->count; i++)
        job->inputs[i].shared->is_merging = false;
    if (bad < job->count)
        job->inputs[bad].shared->is_broken = true;
    ix->is_merge_failing = st != ST_OK && st != ST_CANCELLED;
    ix->merges_running--;
    pthread_cond_broadcast(&ix->merging);
    pthread_mutex_unlock(&ix->lock);
    for (size_t i = 0; i < job->count; i++) {
        shared_segment_unref(job->inputs[i].shared);
        tombs_unref(job->inputs[i].tombs);
    }
    return st;
}

typedef bool pick_fn(struct index *ix, struct job *job);

static bool pick_due(struct index *ix, struct job *job)
{
    return pick(ix, PICK_SMALL | PICK_LARGE, job);
}

static status merge_here(struct index *ix, pick_fn *next)
{
    struct job *job = mem_alloc(sizeof(*job));
    status st = ST_OK;
    while (st == ST_OK) {
        pthread_mutex_lock(&ix->lock);
        while (ix->merges_running)
            pthread_cond_wait(&ix->merging, &ix->lock);
        bool is_due = next(ix, job);
        pthread_mutex_unlock(&ix->lock);
        if (!is_due)
            break;
        st = run(ix, job);
    }
    free(job);
    return st;
}

status index_merge(struct index *ix, bool all)
{
    return merge_here(ix, all ? pick_all : pick_due);
}

status index_purge(struct index *ix)
{
    return merge_here(ix, pick_dead);
}

static void *merger_main(void *arg)
{
    struct merger *m = arg;
    struct index *ix = m->ix;
    struct job *job = mem_alloc(sizeof(*job));
    /* On Linux a priority is the thread's own. */
    (void)setpriority(PRIO_PROCESS, (id_t)gettid(), NICE);
    for (;;) {
        pthread_mutex_lock(&ix->lock);
        while (!atomic_load(&ix->is_stopping) &&
               (ix->is_merge_failing || !pick(ix, m->is_for_small ? PICK_SMALL : PICK_LARGE, job)))
            pthread_cond_wait(&ix->merging, &ix->lock);
        bool is_stopping = atomic_load(&ix->is_stopping);
        pthread_mutex_unlock(&ix->lock);
        if (is_stopping)
            break;
        (void)run(ix, job);
    }
    free(job);
    return NULL;
}

status merger_start(struct index *ix)
{
    for (unsigned i = 0; i < 2; i++) {
        struct merger *m = &ix->mergers[i];
        m->ix = ix;
        m->is_for_small = i == 0;
        m->has_thread = pthread_create(&m->thread, NULL, merger_main, m) == 0;
        if (!m->has_thread)
            return ST_IO;
    }
    return ST_OK;
}

void merger_join(struct index *ix)
{
    for (unsigned i = 0; i < 2; i++)
        if (ix->mergers[i].has_thread)
            pthread_join(ix->mergers[i].thread, NULL);
}
