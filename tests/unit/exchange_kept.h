/* exchange_kept.h - the recordings of tests/data/exchange: one folder a minor version. */
#pragma once

#include "exchange_grow.h"
#include "test_folder.h"

/* Oldest first; the last is today's. */
static const char *const versions[] = {"1.0", "1.1", "1.2", "1.3", "1.4", "1.5", "1.6", "1.7", "1.8", "1.9"};
#define VERSIONS (sizeof(versions) / sizeof(*versions))
#define MEANING "meaning.txt"

static inline void path_of(char path[TEST_PATH], const char *version, const char *name, const char *suffix)
{
    snprintf(path, TEST_PATH, TEST_DATA "/exchange/%s/%s%s", version, name, suffix);
}

static inline void read_into(const char *version, const char *name, const char *suffix, struct buf *out)
{
    char path[TEST_PATH];
    path_of(path, version, name, suffix);
    struct span s = test_read_file(path);
    buf_put(out, s);
    free((char *)s.p);
}

/* Its exchanges, in the order of its text, which has a heading for each. */
static inline void load(const char *version, struct exchanges *x, struct buf *meaning)
{
    struct span line;
    *x = (struct exchanges){0};
    read_into(version, MEANING, "", meaning);
    struct span rest = buf_span(meaning);
    while (span_split(&rest, '\n', &line)) {
        if (!span_starts(line, SPAN("== ")) || span_is(line, "== package"))
            continue;
        struct exchange *e = &x->list[x->count++];
        assert_true(x->count <= EXCHANGES_MAX);
        snprintf(e->name, sizeof(e->name), "%.*s", SPAN_ARG(span_from(line, 3)));
        read_into(version, e->name, ".request", &e->request);
        read_into(version, e->name, ".answer", &e->answer);
    }
    CHECK(version, x->count > 0);
}

static inline struct exchange *find(struct exchanges *x, const char *name)
{
    for (size_t i = 0; i < x->count; i++)
        if (strcmp(x->list[i].name + 3, name) == 0)
            return &x->list[i];
    fail_msg("no exchange %s", name);
    return NULL;
}

static inline void whole_package(struct exchanges *x, struct buf *out)
{
    buf_put(out, http_of(buf_span(&find(x, "package-begin")->request)).body);
    buf_put(out, http_of(buf_span(&find(x, "package-rest")->request)).body);
}

/* As programs of the version after theirs would say it. */
static inline void grow_all(const struct exchanges *x, struct exchanges *out)
{
    struct sign_key k = exchange_key(SEED_AGENT);
    *out = (struct exchanges){0};
    for (size_t i = 0; i < x->count; i++) {
        exchange_grow(&x->list[i], &k, &out->list[out->count++]);
        if (strcmp(x->list[i].name + 3, "rekey") == 0)
            k = exchange_key(SEED_AGENT_NEXT);
    }
}
