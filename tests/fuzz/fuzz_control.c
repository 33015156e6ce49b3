/* fuzz_control.c - any bytes as a message between coordinator and agent; the first byte says which. What is understood,
 * packed again, must be understood and packed the same way. */
#include <assert.h>

#include "base/arena.h"
#include "wire/auth.h"
#include "wire/control.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FLAT(type)                                           \
    static void try_##type(struct arena *a, struct span in)  \
    {                                                        \
        struct type m;                                       \
        struct buf b = {0}, again = {0};                     \
        (void)a;                                             \
        if (type##_unpack(in, &m) == ST_OK) {                \
            type##_pack(&m, &b);                             \
            status st = type##_unpack(buf_span(&b), &m);     \
            assert(st == ST_OK);                             \
            type##_pack(&m, &again);                         \
            assert(span_eq(buf_span(&b), buf_span(&again))); \
        }                                                    \
        buf_done(&b);                                        \
        buf_done(&again);                                    \
    }
#define WITH_LISTS(type)                                     \
    static void try_##type(struct arena *a, struct span in)  \
    {                                                        \
        struct type m;                                       \
        struct buf b = {0}, again = {0};                     \
        if (type##_unpack(a, in, &m) == ST_OK) {             \
            type##_pack(&m, &b);                             \
            status st = type##_unpack(a, buf_span(&b), &m);  \
            assert(st == ST_OK);                             \
            type##_pack(&m, &again);                         \
            assert(span_eq(buf_span(&b), buf_span(&again))); \
        }                                                    \
        buf_done(&b);                                        \
        buf_done(&again);                                    \
    }

WITH_LISTS(report)
WITH_LISTS(poll_answer)
WITH_LISTS(task_order)
WITH_LISTS(end_order)
WITH_LISTS(fetch_order)
WITH_LISTS(probe_order)
FLAT(order)
FLAT(agent_settings)
FLAT(recheck_order)
FLAT(refuse_order)
FLAT(told_order)
FLAT(program_order)
FLAT(update_order)
FLAT(identity_order)
FLAT(fetched_page)
FLAT(auth_hint)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const tries[])(struct arena *, struct span) = {
        try_report,       try_poll_answer,   try_task_order,     try_end_order,
        try_fetch_order,  try_order,         try_agent_settings, try_recheck_order,
        try_refuse_order, try_program_order, try_update_order,   try_identity_order,
        try_fetched_page, try_auth_hint,     try_probe_order,    try_told_order,
    };
    struct arena a;
    if (!size || size > CONTROL_BYTES_MAX)
        return 0;
    arena_init(&a);
    tries[data[0] % (sizeof(tries) / sizeof(tries[0]))](&a, span_of(data + 1, size - 1));
    arena_done(&a);
    return 0;
}
