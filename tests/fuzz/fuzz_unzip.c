/* fuzz_unzip.c - any bytes as zstd or gzip: files of registries that come piece by piece, packages, records, archives
 * (the first byte says how long pieces are). In pieces and at once the plain bytes are the same, and never more than
 * the ceiling. */
#include <assert.h>
#include <stdint.h>

#include "codec/member.h"
#include "codec/unzip.h"
#include "codec/zip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PLAIN_MAX (1u << 20)

static void take(void *self, struct span piece)
{
    buf_put(self, piece);
    assert(((struct buf *)self)->n <= PLAIN_MAX);
}

/* The whole of it, fed in pieces of `step` bytes. */
static status feed(struct span in, size_t step, struct buf *out)
{
    struct unzip *u = unzip_new(PLAIN_MAX, take, out);
    status st = ST_OK;
    for (size_t at = 0; st == ST_OK && at < in.n; at += step)
        st = unzip_feed(u, span_cut(in, at, step));
    status end = unzip_end(u);
    if (st == ST_OK)
        st = end;
    else
        assert(end == st);
    unzip_free(u);
    return st;
}

/* What a log of texts trains from its first pages. */
static struct zip_dict *trained(void)
{
    static struct zip_dict *d;
    struct buf samples = {0}, bytes = {0};
    size_t sizes[400];
    if (d)
        return d;
    for (unsigned i = 0; i < 400; i++) {
        size_t before = samples.n;
        buf_printf(&samples, "<li><a href=\"/page/%u\">Page %u of the handbook</a>, changed %u days ago</li>\n", i,
                   i * 7, i % 31);
        sizes[i] = samples.n - before;
    }
    status st = zip_dict_train(buf_span(&samples), sizes, 400, &bytes);
    assert(st == ST_OK);
    st = zip_dict_new(buf_span(&bytes), 1, &d);
    assert(st == ST_OK);
    buf_done(&samples);
    buf_done(&bytes);
    return d;
}

/* Any bytes as a dictionary: what is packed with it comes back, or it is none. */
static void as_dictionary(struct span in, struct unzipper *u, struct buf *out)
{
    const struct span text = SPAN("<li><a href=\"/page/8\">Page 56 of the handbook</a>, changed 8 days ago</li>\n");
    struct zip_dict *d = NULL;
    struct buf packed = {0};
    if (zip_dict_new(in, 1, &d) != ST_OK)
        return;
    struct zipper *z = zipper_new(1);
    zipper_run(z, d, text, &packed);
    status st = unzipper_run(u, d, buf_span(&packed), text.n, out);
    assert(st == ST_OK && span_eq(buf_span(out), text));
    buf_done(&packed);
    zipper_free(z);
    zip_dict_free(d);
}

/* Any bytes as a record of an archive. */
static void as_member(member_kind kind, struct span in, struct buf *out)
{
    size_t bytes = 0, whole = member_whole_bytes(kind, in);
    assert(whole <= in.n);
    if (member_look(kind, in, PLAIN_MAX, out, &bytes) == ST_OK)
        assert(bytes && bytes <= whole && out->n <= PLAIN_MAX);
    else
        assert(whole == 0);
    buf_clear(out);
    static struct member_maker *makers[2]; /* for all inputs, as writers have it */
    if (!makers[kind])
        makers[kind] = member_maker_new(kind);
    struct buf packed = {0};
    member_make(makers[kind], (struct span[]){span_cut(in, 0, 3), span_from(in, 3)}, 2, &packed);
    status st = member_look(kind, buf_span(&packed), in.n, out, &bytes);
    assert(st == ST_OK && bytes == packed.n && span_eq(buf_span(out), in));
    buf_done(&packed);
    buf_clear(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf whole = {0}, pieces = {0}, other = {0};
    if (size == 0)
        return 0;
    struct span in = span_of(data + 1, size - 1);
    status a = feed(in, in.n ? in.n : 1, &whole), b = feed(in, data[0] + 1u, &pieces);
    assert((a == ST_OK) == (b == ST_OK));
    assert(a != ST_OK || span_eq(buf_span(&whole), buf_span(&pieces)));
    if (unzip_zstd(in, PLAIN_MAX, &other) == ST_OK)
        assert(other.n <= PLAIN_MAX);
    buf_clear(&other);
    if (unzip_gzip(in, PLAIN_MAX, &other) == ST_OK)
        assert(other.n <= PLAIN_MAX);
    buf_clear(&other);
    static struct unzipper *u; /* one for all inputs, as its owners have it */
    if (!u)
        u = unzipper_new();
    uint64_t said = 0;
    status known = unzip_size(in, &said);
    if (unzipper_run(u, NULL, in, PLAIN_MAX, &other) == ST_OK)
        assert(known == ST_OK && other.n == said);
    buf_clear(&other);
    if (unzipper_run(u, trained(), in, PLAIN_MAX, &other) == ST_OK)
        assert(known == ST_OK && other.n == said);
    buf_clear(&other);
    as_dictionary(in, u, &other);
    buf_clear(&other);
    for (member_kind k = MEMBER_GZIP; k <= MEMBER_ZSTD; k++)
        as_member(k, in, &other);
    buf_done(&whole);
    buf_done(&pieces);
    buf_done(&other);
    return 0;
}
