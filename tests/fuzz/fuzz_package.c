/* fuzz_package.c - any bytes as a whole package, and as the columns of one that is signed and compressed as it should
 * be (the first byte says how many visits). What was read can be packed, and read again as often. */
#include <assert.h>

#include "wire/package_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct again {
    struct package_writer *w;
    unsigned visits;
};

static status pack_again(void *arg, uint64_t task, summary_kind kind, const struct summary *s)
{
    struct again *g = arg;
    assert(s->text.n <= PACKAGE_TEXT_MAX && s->failure < ST_MAX);
    package_add_visit(g->w, task, kind, s);
    g->visits++;
    return package_raw_bytes(g->w) < PACKAGE_CLOSE_MAX ? ST_OK : ST_FULL;
}

static status count(void *arg, uint64_t task, summary_kind kind, const struct summary *s)
{
    ++*(unsigned *)arg;
    return ST_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const unsigned char seed[SIGN_SEED_BYTES] = {1};
    static struct sign_key k; /* made once: that costs as much as to read a small package */
    static bool has_key;
    struct again g = {0};
    struct buf b = {0};
    unsigned visits = 0;
    if (!has_key)
        sign_key_of(seed, &k);
    has_key = true;
    status st = package_read(span_of(data, size), &k.open, NULL, count, &visits);
    assert(st != ST_REFUSED || !visits);
    if (size < 1)
        return 0;
    g.w = package_writer_new(&(struct package_writer_opts){.level = 1});
    st = package_body_read(span_of(data + 1, size - 1), data[0], NULL, pack_again, &g);
    assert(st == ST_OK || st == ST_CORRUPT || st == ST_LIMIT || st == ST_FULL);
    struct package_tail tail = {0};
    (void)package_tail_read(span_of(data + 1, size - 1), data[0], &tail);
    package_tail_done(&tail);
    package_finish(g.w, &(struct package_head){.agent = 1}, &k, &b);
    visits = 0;
    st = package_read(buf_span(&b), &k.open, NULL, count, &visits);
    assert(st == ST_OK && visits == g.visits);
    buf_done(&b);
    package_writer_free(g.w);
    return 0;
}
