/* fuzz_task.c - any bytes as what an agent keeps of itself: its state (the first byte is even; the checksum is put
 * right) or a task, or, where the first byte is 3 of 4, as an order that a task takes in. What is taken packs to the
 * same bytes as often as it is unpacked. */
#include <assert.h>
#include <stdint.h>

#include "agent/state.h"
#include "agent/task.h"
#include "codec/digest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define HEAD_BYTES 12 /* magic, version, checksum of the rest */

static void try_state(struct span body)
{
    struct state s, t;
    struct buf sealed = {0}, once = {0}, twice = {0};
    pack_u32(&sealed, 0x5362726fu);
    pack_u32(&sealed, 1);
    pack_u32(&sealed, digest_crc32c(body));
    buf_put(&sealed, body);
    state_init(&s);
    if (state_unpack(&s, buf_span(&sealed)) == ST_OK) {
        state_pack(&s, &once);
        state_init(&t);
        status st = state_unpack(&t, buf_span(&once));
        assert(st == ST_OK && once.n >= HEAD_BYTES);
        state_pack(&t, &twice);
        assert(span_eq(buf_span(&once), buf_span(&twice)));
        state_done(&t);
    }
    state_done(&s);
    buf_done(&sealed);
    buf_done(&once);
    buf_done(&twice);
}

static void try_task(struct span bytes)
{
    struct task *t, *again;
    struct buf once = {0}, twice = {0};
    struct arena a;
    if (task_unpack(bytes, &t) != ST_OK)
        return;
    arena_init(&a);
    size_t n;
    (void)task_networks(&t->networks, &a, &n);
    assert(n <= t->networks.count);
    task_pack(t, &once);
    status st = task_unpack(buf_span(&once), &again);
    assert(st == ST_OK && again->number == t->number && again->channel == t->channel);
    task_pack(again, &twice);
    assert(span_eq(buf_span(&once), buf_span(&twice)));
    task_free(t);
    task_free(again);
    arena_done(&a);
    buf_done(&once);
    buf_done(&twice);
}

/* An order that was taken may come again; a task with it is one that can be kept. */
static void try_order(struct span bytes)
{
    struct arena a;
    struct task_order o;
    struct buf why = {0}, packed = {0};
    arena_init(&a);
    if (task_order_unpack(&a, bytes, &o) == ST_OK) {
        struct task *t = task_new(1);
        status st = task_merge(t, &o, &why);
        assert((st == ST_OK) == (why.n == 0));
        if (st == ST_OK) {
            st = task_merge(t, &o, &why);
            assert(st == ST_OK || st == ST_LIMIT);
            task_pack(t, &packed);
            try_task(buf_span(&packed));
        }
        task_free(t);
    }
    arena_done(&a);
    buf_done(&why);
    buf_done(&packed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct span rest = span_of(data + 1, size - 1);
    if (data[0] % 2 == 0)
        try_state(rest);
    else if (data[0] % 4 == 3)
        try_order(rest);
    else
        try_task(rest);
    return 0;
}
