/* index_model.h - what an index should hold, kept in plain arrays by the rules of index.h: the naive twin. */
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/rng.h"
#include "codec/zip.h"
#include "index/index.h"
#include "test.h"
#include "test_folder.h"
#include "web/content.h"

/* The index of a test, in the test's folder. */
static inline const char *index_dir(void)
{
    static char path[TEST_PATH];
    test_path(path, "index");
    return path;
}

static inline struct index *open_with(struct index_opts o)
{
    struct index *ix = NULL;
    struct buf why = {0};
    o.dir = index_dir();
    o.seed = 11;
    status st = index_open(&o, &ix, &why);
    if (st != ST_OK)
        fail_msg("open: %s: %s", status_name(st), buf_cstr(&why));
    buf_done(&why);
    return ix;
}

#define MODEL_KEYS 256

struct model_version {
    bool is_there;
    uint64_t number;
    unsigned anchors; /* how many texts of links */
};

struct model {
    struct model_version committed[MODEL_KEYS], batch[MODEL_KEYS];
    uint64_t deleted[MODEL_KEYS]; /* in this batch, number + 1; 0: not */
};

static inline bool model_wins(const struct model_version *now, const struct model_version *old)
{
    return !old->is_there || now->number > old->number || (now->number == old->number && now->anchors != old->anchors);
}

static inline void model_add(struct model *m, unsigned key, uint64_t number, unsigned anchors)
{
    struct model_version v = {true, number, anchors};
    if (m->deleted[key] <= number && model_wins(&v, &m->batch[key]))
        m->batch[key] = v;
}

static inline void model_delete(struct model *m, unsigned key, uint64_t number)
{
    if (m->deleted[key] < number + 1)
        m->deleted[key] = number + 1;
    if (m->batch[key].is_there && m->batch[key].number <= number)
        m->batch[key].is_there = false;
}

static inline void model_commit(struct model *m)
{
    for (unsigned k = 0; k < MODEL_KEYS; k++) {
        struct model_version *c = &m->committed[k];
        if (m->batch[k].is_there && model_wins(&m->batch[k], c))
            *c = m->batch[k];
        if (c->is_there && c->number < m->deleted[k])
            c->is_there = false;
        m->batch[k].is_there = false;
        m->deleted[k] = 0;
    }
}

static inline void model_forget(struct model *m)
{
    memset(m->batch, 0, sizeof(m->batch));
    memset(m->deleted, 0, sizeof(m->deleted));
}

/* The text of a version: words that only it has, and some that all have. */
static inline void model_text(struct buf *out, unsigned key, uint64_t number)
{
    struct rng r;
    buf_clear(out);
    rng_seed(&r, key * 1000003ull + number);
    buf_printf(out, "page%u version%llu every page has this", key, (unsigned long long)number);
    for (unsigned i = 0, n = (unsigned)rng_below(&r, 120); i < n; i++)
        buf_printf(out, " word%llu", (unsigned long long)rng_below(&r, 500));
}

static inline void model_content(struct buf *zipped, const struct zip_dict *d, const struct index_doc *doc)
{
    struct content c = {.url = doc->url,
                        .title = doc->title,
                        .description = SPAN("what it says of itself"),
                        .lang = doc->lang,
                        .text = doc->text,
                        .is_keywords = doc->is_keywords,
                        .fields = doc->fields,
                        .field_count = doc->field_count};
    struct buf packed = {0};
    struct zipper *z = zipper_new(1);
    content_pack(&c, &packed);
    buf_clear(zipped);
    zipper_run(z, d, buf_span(&packed), zipped);
    zipper_free(z);
    buf_done(&packed);
}

static inline status model_index_add(struct index *ix, unsigned key, uint64_t number, unsigned anchors)
{
    struct buf text = {0}, zipped = {0}, links = {0};
    char url[64], site[32], price[24];
    snprintf(price, sizeof(price), "%u.%llu", key % 5, (unsigned long long)number);
    const struct summary_field fields[] = {{SPAN("price"), span_str(price)}, {SPAN("kind"), SPAN("Page")}};
    model_text(&text, key, number);
    for (unsigned i = 0; i < anchors; i++)
        buf_printf(&links, "%slink %u", i ? "\n" : "", i);
    snprintf(site, sizeof(site), "h%u.example", key % 7);
    snprintf(url, sizeof(url), "http://%s/page/%u.html", site, key);
    struct index_doc d = {.key = key,
                          .fetch_number = number,
                          .url = span_str(url),
                          .site = span_str(site),
                          .lang = SPAN("en"),
                          .title = SPAN("A title"),
                          .text = buf_span(&text),
                          .anchors = buf_span(&links),
                          .fetched = (wall_ms)number * 1000,
                          .changed = (wall_ms)number * 1000,
                          .is_keywords = key % 7 == 3,
                          .fields = fields,
                          .field_count = key % 3};
    model_content(&zipped, NULL, &d);
    d.content = buf_span(&zipped);
    status st = index_add(ix, &d);
    buf_done(&text);
    buf_done(&zipped);
    buf_done(&links);
    return st;
}

struct model_seen {
    const char *label;
    uint64_t number[MODEL_KEYS];
    unsigned times[MODEL_KEYS];
};

static inline status model_note(void *arg, uint64_t key, uint64_t number, struct span url)
{
    struct model_seen *seen = arg;
    char want[64];
    CHECK(seen->label, key < MODEL_KEYS);
    snprintf(want, sizeof(want), "http://h%u.example/page/%u.html", (unsigned)key % 7, (unsigned)key);
    CHECK_SPAN(seen->label, url, span_str(want));
    seen->number[key] = number;
    seen->times[key]++;
    return ST_OK;
}

static inline void model_compare_texts(const struct model_version *committed, const struct index_snapshot *s,
                                       const char *label)
{
    struct arena a;
    struct buf text = {0};
    arena_init(&a);
    for (unsigned k = 0; k < MODEL_KEYS; k++) {
        struct index_document d = {0};
        status st = index_document(s, k, &a, &d);
        CHECK_STATUS(label, st, committed[k].is_there ? ST_OK : ST_NOT_FOUND);
        if (st != ST_OK)
            continue;
        model_text(&text, k, committed[k].number);
        CHECK_SPAN(label, d.text, buf_span(&text));
        CHECK_SPAN(label, d.title, SPAN("A title"));
        char price[24];
        snprintf(price, sizeof(price), "%u.%llu", k % 5, (unsigned long long)committed[k].number);
        CHECK(label, d.is_keywords == (k % 7 == 3) && d.field_count == k % 3 && d.flags == 0);
        if (d.field_count)
            CHECK_SPAN(label, d.fields[0].value, span_str(price));
        CHECK(label, d.key == k && d.fetch_number == committed[k].number && !strcmp(d.lang, "en"));
    }
    buf_done(&text);
    arena_done(&a);
}

/* Exactly the versions given, each once. */
static inline void model_compare_snapshot(const struct model_version *committed, const struct index_snapshot *s,
                                          const char *label)
{
    struct model_seen *seen = mem_alloc(sizeof(*seen));
    uint64_t count = 0;
    seen->label = label;
    CHECK_STATUS(label, index_each(s, model_note, seen), ST_OK);
    for (unsigned k = 0; k < MODEL_KEYS; k++) {
        const struct model_version *v = &committed[k];
        if (seen->times[k] != (v->is_there ? 1u : 0u) || (v->is_there && seen->number[k] != v->number))
            fail_msg("%s: page %u: there %u times with number %llu, want %d with %llu", label, k, seen->times[k],
                     (unsigned long long)seen->number[k], v->is_there, (unsigned long long)v->number);
        count += v->is_there;
    }
    CHECK(label, count == index_snapshot_docs(s));
    free(seen);
    model_compare_texts(committed, s, label);
}

static inline void model_compare(const struct model *m, const char *dir, const char *label)
{
    struct index_reader *r = NULL;
    struct index_snapshot *s = NULL;
    struct index_check c;
    status st = index_check(dir, NULL, NULL, &c);
    if (st != ST_OK)
        fail_msg("%s: check: %s: %s", label, status_name(st), buf_cstr(&c.problem));
    CHECK(label, !c.doubled && !c.problem.n);
    buf_done(&c.problem);
    CHECK_STATUS(label, index_reader_open(dir, &r, NULL), ST_OK);
    CHECK_STATUS(label, index_reader_snapshot(r, &s), ST_OK);
    model_compare_snapshot(m->committed, s, label);
    index_snapshot_free(s);
    index_reader_free(r);
}

/* Folders of these tests go to memory where there is such a place: they sync thousands of files, and nothing in them is
 * about the disk. */
static inline void model_use_memory(void)
{
    if (access("/dev/shm", W_OK) == 0)
        setenv("TMPDIR", "/dev/shm", 0);
}
