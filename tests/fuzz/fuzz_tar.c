/* fuzz_tar.c - any bytes as a tar archive, in pieces of any size. What is told must be safe to make, and come in order:
 * an entry, just its bytes, its end. */
#include <assert.h>

#include "codec/tar.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct told {
    bool is_open;
    uint64_t left, entries;
};

static status on_entry(void *self, const struct tar_entry *e)
{
    struct told *t = self;
    struct buf again = {0};
    assert(!t->is_open && tar_name_is_safe(e->name) && e->name.p[0] != '/' && e->bytes <= TAR_FILE_MAX);
    assert(!e->is_folder || e->bytes == 0);
    status st = tar_put_head(&again, e);
    assert(st == ST_OK || st == ST_LIMIT);
    buf_done(&again);
    t->is_open = true;
    t->left = e->bytes;
    t->entries++;
    return ST_OK;
}

static status on_bytes(void *self, struct span piece)
{
    struct told *t = self;
    assert(t->is_open && piece.n && piece.n <= t->left);
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct told whole = {0}, pieces = {0};
    struct span in = span_of(data, size);
    status st = read_in(in, size ? size : 1, &whole);
    assert(read_in(in, 37, &pieces) == st && whole.entries == pieces.entries);
    return 0;
}
