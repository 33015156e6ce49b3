/* fuzz_tar.c - any bytes as a tar archive, as they are and with the checksums of its headers put right, in pieces of
 * any size. What is told must be safe to make, and come in order: an entry, just its bytes, its end. An entry that is
 * written again reads as the same. */
#include <assert.h>

#include "codec/tar.h"
#include "reseal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct told {
    bool is_open;
    uint64_t left, entries;
    struct buf text; /* all of it, to compare */
};

static status is_same(void *self, const struct tar_entry *e)
{
    const struct tar_entry *want = self;
    assert(span_eq(e->name, want->name) && e->bytes == want->bytes && e->mode == want->mode &&
           e->is_folder == want->is_folder);
    return ST_END;
}

static void write_again(const struct tar_entry *e)
{
    struct buf head = {0};
    status st = tar_put_head(&head, e);
    assert(st == ST_OK || st == ST_LIMIT);
    if (st == ST_OK) {
        struct tar_reader *r = tar_reader_new(&(struct tar_events){.entry = is_same, .self = (void *)(uintptr_t)e});
        st = tar_reader_feed(r, buf_span(&head));
        assert(st == ST_END);
        tar_reader_free(r);
    }
    buf_done(&head);
}

static status on_entry(void *self, const struct tar_entry *e)
{
    struct told *t = self;
    assert(!t->is_open && tar_name_is_safe(e->name) && e->name.p[0] != '/' && e->bytes <= TAR_FILE_MAX);
    assert(!e->is_folder || e->bytes == 0);
    write_again(e);
    buf_printf(&t->text, "%.*s %o %lld %d ", SPAN_ARG(e->name), e->mode, (long long)e->at, e->is_folder);
    t->is_open = true;
    t->left = e->bytes;
    t->entries++;
    return ST_OK;
}

static status on_bytes(void *self, struct span piece)
{
    struct told *t = self;
    assert(t->is_open && piece.n && piece.n <= t->left);
    buf_put(&t->text, piece);
    t->left -= piece.n;
    return ST_OK;
}

static status on_end(void *self)
{
    struct told *t = self;
    assert(t->is_open && !t->left);
    t->is_open = false;
    return ST_OK;
}

static status read_in(struct span in, size_t piece, struct told *t)
{
    struct tar_reader *r = tar_reader_new(&(struct tar_events){on_entry, on_bytes, on_end, t});
    status st = ST_OK;
    for (size_t at = 0; st == ST_OK && at < in.n; at += piece)
        st = tar_reader_feed(r, span_cut(in, at, piece));
    if (st == ST_OK)
        st = tar_reader_end(r);
    tar_reader_free(r);
    return st;
}

static void try(struct span in)
{
    struct told whole = {0}, pieces = {0};
    status st = read_in(in, in.n ? in.n : 1, &whole), again = read_in(in, 37, &pieces);
    assert(st == again && whole.entries == pieces.entries && span_eq(buf_span(&whole.text), buf_span(&pieces.text)));
    buf_done(&whole.text);
    buf_done(&pieces.text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf sealed = {0};
    try(span_of(data, size));
    buf_put(&sealed, span_of(data, size));
    reseal_tar(sealed.p, size);
    if (!span_eq(buf_span(&sealed), span_of(data, size)))
        try(buf_span(&sealed));
    buf_done(&sealed);
    return 0;
}
