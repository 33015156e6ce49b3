/* fields.h - tagged fields, the alphabet of every message between coordinator and agents.
 *
 *     varint tag, varint length, bytes
 *
 * A reader skips tags it does not know, so a message of the next minor version is understood as far as it goes; a tag
 * is never given another meaning. Numbers are varints inside their bytes (signed ones zigzag), nested messages are
 * fields again. A tag may come several times: a list. Pure. */
#pragma once

#include "base/buf.h"
#include "base/pack.h"

void field_u64(struct buf *b, unsigned tag, uint64_t v);
void field_i64(struct buf *b, unsigned tag, int64_t v);
void field_real(struct buf *b, unsigned tag, double v);
void field_text(struct buf *b, unsigned tag, struct span v); /* any bytes */
void field_str(struct buf *b, unsigned tag, const char *v);

/* Numbers that are 0 and texts that are empty are left out by these: absent and 0 mean the same. */
void field_u64_if(struct buf *b, unsigned tag, uint64_t v);
void field_text_if(struct buf *b, unsigned tag, struct span v);

struct fields {
    struct unpack u;
};

static inline struct fields fields_of(struct span s)
{
    return (struct fields){unpack_of(s)};
}

/* The next field; false at the end, or when what follows is no field: then fields_bad(). */
bool fields_next(struct fields *f, unsigned *tag, struct span *value);
static inline bool fields_bad(const struct fields *f)
{
    return f->u.bad;
}
/* The value as a number. A bad one is 0, or false. */
bool value_get_u64(struct span value, uint64_t *out);
uint64_t value_u64(struct span value);
int64_t value_i64(struct span value);
double value_real(struct span value);
