#include "wire/fields.h"

/* Varints of 64 bits take at most so many bytes. */
#define VAR_BYTES_MAX 10

static uint64_t zigzag(int64_t v)
{
    return (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0);
}

static int64_t unzigzag(uint64_t v)
{
    return (int64_t)(v >> 1 ^ (0 - (v & 1)));
}

void field_text(struct buf *b, unsigned tag, struct span v)
{
    pack_var(b, tag);
    pack_text(b, v);
}

void field_str(struct buf *b, unsigned tag, const char *v)
{
    field_text(b, tag, span_str(v));
}

void field_u64(struct buf *b, unsigned tag, uint64_t v)
{
    size_t bytes = 1;
    for (uint64_t rest = v >> 7; rest; rest >>= 7)
        bytes++;
    pack_var(b, tag);
    pack_var(b, bytes);
    pack_var(b, v);
}

void field_i64(struct buf *b, unsigned tag, int64_t v)
{
    field_u64(b, tag, zigzag(v));
}

void field_real(struct buf *b, unsigned tag, double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof(bits));
    pack_var(b, tag);
    pack_var(b, sizeof(bits));
    pack_u64(b, bits);
}

void field_u64_if(struct buf *b, unsigned tag, uint64_t v)
{
    if (v)
        field_u64(b, tag, v);
}

void field_text_if(struct buf *b, unsigned tag, struct span v)
{
    if (v.n)
        field_text(b, tag, v);
}

bool fields_next(struct fields *f, unsigned *tag, struct span *value)
{
    if (f->u.bad || unpack_at_end(&f->u))
        return false;
    uint64_t t = unpack_var(&f->u);
    if (t > UINT32_MAX)
        f->u.bad = true;
    struct span v = unpack_text(&f->u, SIZE_MAX);
    if (f->u.bad)
        return false;
    *tag = (unsigned)t;
    *value = v;
    return true;
}

bool value_get_u64(struct span value, uint64_t *out)
{
    struct unpack u = unpack_of(value);
    if (value.n > VAR_BYTES_MAX)
        return false;
    uint64_t v = unpack_var(&u);
    if (u.bad || !unpack_at_end(&u))
        return false;
    *out = v;
    return true;
}

uint64_t value_u64(struct span value)
{
    uint64_t v = 0;
    (void)value_get_u64(value, &v);
    return v;
}

int64_t value_i64(struct span value)
{
    return unzigzag(value_u64(value));
}

double value_real(struct span value)
{
    double v = 0;
    struct unpack u = unpack_of(value);
    uint64_t bits = unpack_u64(&u);
    if (!u.bad && unpack_at_end(&u))
        memcpy(&v, &bits, sizeof(v));
    return v;
}
