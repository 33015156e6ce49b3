/* exchange_grow.h - recorded exchanges as programs of the next minor version would make them: fields that nobody knows
 * yet, everywhere, and a package with a tail; signed anew. */
#pragma once

#include "codec/zip.h"
#include "exchange.h"
#include "wire/columns.h"
#include "wire/package_head.h"

/* Which tags of a message are messages themselves. */
struct shape {
    unsigned tag;
    const struct shape *of; /* of tag 0: the end */
};

static const struct shape shape_flat[] = {{0}};
static const struct shape shape_order[] = {{3, shape_flat}, {0}};
static const struct shape shape_poll_answer[] = {{4, shape_order}, {0}};
static const struct shape shape_task_report[] = {{9, shape_flat}, {0}};
static const struct shape shape_report[] = {{19, shape_flat}, {20, shape_flat}, {21, shape_task_report},
                                            {22, shape_flat}, {23, shape_flat}, {24, shape_flat},
                                            {26, shape_flat}, {27, shape_flat}, {0}};
static const struct shape shape_states[] = {{1, shape_flat}, {0}};

static inline void put_unknown(struct buf *out)
{
    struct buf nested = {0};
    field_u64(&nested, 1, UINT64_MAX);
    field_str(&nested, 2, "from a later version");
    field_u64(out, 90, 12345);
    field_str(out, 91, "from a later version");
    field_text(out, 1000, buf_span(&nested));
    field_real(out, UINT32_MAX, 0.5);
    buf_done(&nested);
}

/* Unknown fields before, between and behind those that are there, on every level. */
static inline void grow(const struct shape *s, struct span message, struct buf *out)
{
    struct fields f = fields_of(message);
    struct span v;
    unsigned tag;
    while (fields_next(&f, &tag, &v)) {
        const struct shape *of = s;
        struct buf nested = {0};
        while (of->tag && of->tag != tag)
            of++;
        put_unknown(out);
        if (of->tag)
            grow(of->of, v, &nested);
        else
            buf_put(&nested, v);
        field_text(out, tag, buf_span(&nested));
        buf_done(&nested);
    }
    put_unknown(out);
}

static inline const struct shape *shape_of(struct span target, bool is_answer, int code)
{
    if (code == 401)
        return shape_flat;
    if (span_starts(target, SPAN(PATH_HELLO)) || span_starts(target, SPAN(PATH_BLOB)))
        return is_answer && span_starts(target, SPAN(PATH_HELLO)) ? shape_flat : NULL;
    if (span_starts(target, SPAN(PATH_POLL)))
        return is_answer ? shape_poll_answer : shape_report;
    if (span_starts(target, SPAN(PATH_STATES)))
        return is_answer ? shape_states : NULL;
    if (span_starts(target, SPAN(PATH_PACKAGE)))
        return is_answer ? shape_flat : NULL;
    return shape_flat; /* join, rekey */
}

static inline void grow_body(const struct shape *s, struct span body, struct buf *out)
{
    if (s)
        grow(s, body, out);
    else
        buf_put(out, body);
}

/* The same exchange by programs of the next minor version, signed anew; `agent`: its key at the time. */
static inline void exchange_grow(const struct exchange *e, const struct sign_key *agent, struct exchange *out)
{
    struct http_bytes q = http_of(buf_span(&e->request)), r = http_of(buf_span(&e->answer));
    struct sign_key c = exchange_key(SEED_COORDINATOR);
    struct buf body = {0}, answer = {0}, method = {0};
    struct auth a;
    bool is_signed = auth_parse(q.auth, &a) == ST_OK;
    *out = (struct exchange){0};
    memcpy(out->name, e->name, sizeof(out->name));
    grow_body(shape_of(q.target, false, 0), q.body, &body);
    grow_body(shape_of(q.target, true, r.code), r.body, &answer);
    buf_put(&method, q.method);
    if (is_signed) {
        a.body = digest_blake2b256(buf_span(&body));
        auth_sign(&a, agent, &c.open, q.method, q.target);
    }
    put_request(&out->request, buf_cstr(&method), q.target, is_signed ? &a : NULL, buf_span(&body));
    put_answer(&out->answer, r.code, is_signed ? &a : NULL, &c, buf_span(&answer));
    buf_done(&body);
    buf_done(&answer);
    buf_done(&method);
}

/* A package with a tail, and with flags of its visits that nobody knows. */
static inline void package_grow(struct span package, struct buf *out)
{
    struct package_head head;
    struct buf raw = {0}, grown = {0}, columns = {0}, flags = {0};
    struct sign_key k = exchange_key(SEED_AGENT);
    CHECK_STATUS("package", package_check(package, NULL, &head), ST_OK);
    CHECK_STATUS("unzip", unzip_zstd(span_from(package, PACKAGE_HEAD_BYTES), PACKAGE_RAW_MAX, &raw), ST_OK);
    struct unpack u = unpack_of(buf_span(&raw));
    size_t sizes[PACKAGE_COLUMNS];
    for (size_t i = 0; i < PACKAGE_COLUMNS; i++)
        sizes[i] = (size_t)unpack_var(&u);
    for (size_t i = 0; i < PACKAGE_COLUMNS; i++) {
        struct span col = unpack_bytes(&u, sizes[i]);
        if (i == COL_FLAGS) {
            struct unpack f = unpack_of(col);
            while (!unpack_at_end(&f))
                pack_var(&flags, unpack_var(&f) | 1u << 8 | 1u << 20);
            col = buf_span(&flags);
        }
        pack_var(&grown, col.n);
        buf_put(&columns, col);
    }
    assert_false(u.bad);
    buf_put(&grown, buf_span(&columns));
    size_t before = grown.n;
    buf_put(&grown, span_of(u.at, (size_t)(u.end - u.at))); /* the tail that it has */
    put_unknown(&grown);
    head.tail_bytes = (uint32_t)(grown.n - before);
    head.raw_bytes = grown.n;
    size_t at = out->n;
    buf_room(out, PACKAGE_HEAD_BYTES);
    out->n += PACKAGE_HEAD_BYTES;
    zip_zstd(buf_span(&grown), 3, out);
    head.body_bytes = out->n - at - PACKAGE_HEAD_BYTES;
    package_head_write(&head, &k, span_from(buf_span(out), at + PACKAGE_HEAD_BYTES), out->p + at);
    buf_done(&raw);
    buf_done(&grown);
    buf_done(&columns);
    buf_done(&flags);
}
