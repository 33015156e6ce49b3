#include "wire/message.h"

#include <assert.h>
#include <endian.h>

/* Tables nest: a report has outcomes, outcomes have texts. */
#define DEPTH_MAX 4

static const void *at_of(const void *s, size_t at)
{
    return (const char *)s + at;
}

static size_t count_of(const void *s, const struct message_field *f)
{
    return *(const size_t *)at_of(s, f->count_at);
}

static uint64_t number_of(const void *p, message_type t)
{
    switch (t) {
    case MESSAGE_U64:
        return *(const uint64_t *)p;
    case MESSAGE_U32:
        return *(const uint32_t *)p;
    case MESSAGE_U16:
        return *(const uint16_t *)p;
    case MESSAGE_BOOL:
        return *(const bool *)p;
    default: /* MESSAGE_ENUM: enums of C are ints */
        return *(const unsigned *)p;
    }
}

static bool all_zero(const unsigned char *p, size_t n)
{
    while (n && p[n - 1] == 0)
        n--;
    return n == 0;
}

static void pack_part(const struct message *m, const void *from, unsigned tag, struct buf *out)
{
    struct buf b = {0};
    message_pack(m, from, &b);
    field_text(out, tag, buf_span(&b));
    buf_done(&b);
}

static void pack_numbers(const uint64_t *v, size_t n, unsigned tag, struct buf *out)
{
    if (!n)
        return;
    pack_var(out, tag);
    pack_var(out, n * sizeof(*v));
    for (size_t i = 0; i < n; i++)
        pack_u64(out, v[i]);
}

static void pack_list(const struct message_field *f, const void *from, struct buf *out)
{
    const char *list = *(const char *const *)at_of(from, f->at);
    size_t n = count_of(from, f);
    if (f->type == MESSAGE_U64S)
        pack_numbers((const uint64_t *)(const void *)list, n, f->tag, out);
    for (size_t i = 0; f->type == MESSAGE_TEXTS && i < n; i++)
        field_text(out, f->tag, ((const struct span *)(const void *)list)[i]);
    for (size_t i = 0; f->type == MESSAGE_PARTS && i < n; i++)
        pack_part(f->of, list + i * f->of->size, f->tag, out);
}

static void pack_field(const struct message_field *f, const void *from, struct buf *out)
{
    const void *p = at_of(from, f->at);
    switch (f->type) {
    case MESSAGE_I64:
        if (*(const int64_t *)p)
            field_i64(out, f->tag, *(const int64_t *)p);
        break;
    case MESSAGE_TEXT:
        field_text_if(out, f->tag, *(const struct span *)p);
        break;
    case MESSAGE_FIXED:
        if (!all_zero(p, f->size))
            field_text(out, f->tag, span_of(p, f->size));
        break;
    case MESSAGE_PART:
        if (*(const bool *)at_of(from, f->count_at))
            pack_part(f->of, p, f->tag, out);
        break;
    case MESSAGE_TEXTS:
    case MESSAGE_U64S:
    case MESSAGE_PARTS:
        pack_list(f, from, out);
        break;
    default:
        field_u64_if(out, f->tag, number_of(p, f->type));
    }
}

void message_pack(const struct message *m, const void *from, struct buf *out)
{
    for (size_t i = 0; i < m->field_count; i++)
        pack_field(&m->fields[i], from, out);
}

/* ---- unpacking: once to count the lists, once to fill in ---- */

static const struct message_field *field_of(const struct message *m, unsigned tag, size_t *at)
{
    for (size_t i = 0; i < m->field_count; i++)
        if (m->fields[i].tag == tag) {
            *at = i;
            return &m->fields[i];
        }
    return NULL;
}

static bool is_list(const struct message_field *f)
{
    return f->type == MESSAGE_TEXTS || f->type == MESSAGE_PARTS;
}

static void *place(void *s, size_t at)
{
    return (char *)s + at;
}

static status make_lists(const struct message *m, struct arena *a, struct span packed, void *out)
{
    size_t count[MESSAGE_FIELDS_MAX] = {0}, at;
    struct fields fs = fields_of(packed);
    unsigned tag;
    struct span value;
    while (fields_next(&fs, &tag, &value)) {
        const struct message_field *f = field_of(m, tag, &at);
        if (f && is_list(f) && ++count[at] > m->list_max)
            return ST_LIMIT;
    }
    if (fields_bad(&fs))
        return ST_INVALID;
    for (size_t i = 0; i < m->field_count; i++) {
        const struct message_field *f = &m->fields[i];
        if (!count[i])
            continue;
        assert(a);
        *(void **)place(out, f->at) =
            arena_alloc(a, count[i] * (f->type == MESSAGE_PARTS ? f->of->size : sizeof(struct span)));
    }
    return ST_OK;
}

static status unpack_number(const struct message_field *f, struct span value, void *p)
{
    uint64_t v;
    if (!value_get_u64(value, &v))
        return ST_INVALID;
    switch (f->type) {
    case MESSAGE_U64:
        *(uint64_t *)p = v;
        return ST_OK;
    case MESSAGE_I64:
        *(int64_t *)p = value_i64(value);
        return ST_OK;
    case MESSAGE_U32:
        *(uint32_t *)p = (uint32_t)v;
        return v <= UINT32_MAX ? ST_OK : ST_INVALID;
    case MESSAGE_U16:
        *(uint16_t *)p = (uint16_t)v;
        return v <= UINT16_MAX ? ST_OK : ST_INVALID;
    case MESSAGE_BOOL:
        *(bool *)p = v != 0;
        return v <= 1 ? ST_OK : ST_INVALID;
    default:
        *(unsigned *)p = v <= f->max ? (unsigned)v : f->unknown;
        return ST_OK;
    }
}

static status unpack_numbers(const struct message *m, const struct message_field *f, struct arena *a, struct span value,
                             void *out)
{
    size_t n = value.n / sizeof(uint64_t);
    if (value.n % sizeof(uint64_t))
        return ST_INVALID;
    if (n > m->list_max)
        return ST_LIMIT;
    assert(a);
    uint64_t *list = arena_alloc(a, value.n + 1);
    for (size_t i = 0; i < n; i++) {
        memcpy(&list[i], value.p + i * sizeof(*list), sizeof(*list));
        list[i] = le64toh(list[i]);
    }
    *(const uint64_t **)place(out, f->at) = list;
    *(size_t *)place(out, f->count_at) = n;
    return ST_OK;
}

static status unpack_into(const struct message *m, struct arena *a, struct span packed, void *out, unsigned depth);

static status unpack_field(const struct message *m, const struct message_field *f, struct arena *a, struct span value,
                           void *out, unsigned depth)
{
    void *p = place(out, f->at);
    switch (f->type) {
    case MESSAGE_TEXT:
        *(struct span *)p = value;
        return ST_OK;
    case MESSAGE_FIXED:
        if (value.n != f->size)
            return ST_INVALID;
        memcpy(p, value.p, value.n);
        return ST_OK;
    case MESSAGE_TEXTS:
        (*(struct span **)p)[(*(size_t *)place(out, f->count_at))++] = value;
        return ST_OK;
    case MESSAGE_U64S:
        return unpack_numbers(m, f, a, value, out);
    case MESSAGE_PART:
        *(bool *)place(out, f->count_at) = true;
        return unpack_into(f->of, a, value, p, depth + 1);
    case MESSAGE_PARTS:
        p = *(char **)p + (*(size_t *)place(out, f->count_at))++ * f->of->size;
        return unpack_into(f->of, a, value, p, depth + 1);
    default:
        return unpack_number(f, value, p);
    }
}

static status unpack_into(const struct message *m, struct arena *a, struct span packed, void *out, unsigned depth)
{
    struct fields fs = fields_of(packed);
    unsigned tag;
    struct span value;
    size_t at;
    assert(depth < DEPTH_MAX && m->field_count <= MESSAGE_FIELDS_MAX); /* set by the tables, not by the input */
    memset(out, 0, m->size);
    status st = make_lists(m, a, packed, out);
    while (st == ST_OK && fields_next(&fs, &tag, &value)) {
        const struct message_field *f = field_of(m, tag, &at);
        if (f)
            st = unpack_field(m, f, a, value, out, depth);
    }
    return st;
}

status message_unpack(const struct message *m, struct arena *a, struct span packed, void *out)
{
    _Alignas(16) char made[1024];
    assert(m->size <= sizeof(made));
    status st = unpack_into(m, a, packed, made, 0);
    if (st == ST_OK)
        memcpy(out, made, m->size);
    return st;
}
