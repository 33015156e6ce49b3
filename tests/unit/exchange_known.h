/* exchange_known.h - which tags today's code knows of each message: those that come out again of what it unpacks and
 * packs. A tag that is known and in no recording is a field that somebody added without recording it. */
#pragma once

#include "exchange_show.h"

#define KNOWN_TAGS_MAX 64

typedef bool again_fn(struct arena *a, struct span in, struct buf *out);

#define AGAIN(type, ...)                                                              \
    static inline bool again_##type(struct arena *a, struct span in, struct buf *out) \
    {                                                                                 \
        struct type m;                                                                \
        bool ok = type##_unpack(__VA_ARGS__ in, &m) == ST_OK;                         \
        if (ok)                                                                       \
            type##_pack(&m, out);                                                     \
        return ok;                                                                    \
    }
#define A_LIST a,
AGAIN(hello_answer, )
AGAIN(join_request, )
AGAIN(join_answer, )
AGAIN(auth_hint, )
AGAIN(report, A_LIST)
AGAIN(poll_answer, A_LIST)
AGAIN(agent_settings, )
AGAIN(task_order, A_LIST)
AGAIN(end_order, A_LIST)
AGAIN(recheck_order, )
AGAIN(fetch_order, A_LIST)
AGAIN(program_order, )
AGAIN(update_order, )
AGAIN(identity_order, )
AGAIN(probe_order, A_LIST)
AGAIN(refuse_order, )
AGAIN(told_order, )
AGAIN(fetched_page, )
AGAIN(visit_report, )

/* The first field `down` of a message, or the message itself when that is 0. */
static inline struct span known_inside(struct span m, unsigned down)
{
    struct fields f = fields_of(m);
    struct span v;
    unsigned tag;
    if (!down)
        return m;
    while (fields_next(&f, &tag, &v))
        if (tag == down)
            return v;
    return (struct span){0};
}

static inline bool known_has(struct span m, unsigned want)
{
    return known_inside(m, want).p != NULL;
}

/* Is `tag` a field to today's code? `base`: a good message; `down`: of its part with this tag. */
static inline bool known_is(again_fn *fn, struct span base, unsigned down, unsigned tag)
{
    static const struct span probes[] = {SPAN_INIT("\x01"),
                                         SPAN_INIT("12345678"),
                                         SPAN_INIT("1234567890123456"),
                                         SPAN_INIT("12345678901234567890123456789012"),
                                         SPAN_INIT("1234567890123456789012345678901234567890123456789012345678901234"),
                                         SPAN_INIT("\x01\x01\x01")};
    bool is_known = false;
    for (size_t i = 0; i < sizeof(probes) / sizeof(*probes); i++) {
        struct buf part = {0}, message = {0}, out = {0};
        struct arena a;
        arena_init(&a);
        buf_put(&part, known_inside(base, down));
        field_text(&part, tag, probes[i]);
        if (down)
            field_text(&message, down, buf_span(&part));
        else
            buf_put(&message, buf_span(&part));
        if (fn(&a, buf_span(&message), &out))
            is_known |= known_has(known_inside(buf_span(&out), down), tag);
        arena_done(&a);
        buf_done(&part);
        buf_done(&message);
        buf_done(&out);
    }
    return is_known;
}

/* Fails when today's code knows a tag that `recorded` has not. */
static inline void known_check(const char *label, again_fn *fn, struct span recorded, unsigned down)
{
    CHECK(label, known_inside(recorded, down).n > 0);
    for (unsigned tag = 1; tag < KNOWN_TAGS_MAX; tag++)
        if (!known_has(known_inside(recorded, down), tag) && known_is(fn, recorded, down, tag))
            fail_msg("%s: field %u is not in the recording: see docs/formats/wire.md, Versions", label, tag);
}
