/* message.h - messages of tagged fields (wire/fields.h) described by tables, so that packing and unpacking are one
 * description and cannot disagree.
 *
 *     static const struct message_field end_fields[] = {
 *         {1, MESSAGE_U64, .at = offsetof(struct end_order, task)},
 *         {2, MESSAGE_TEXTS, .at = offsetof(struct end_order, networks), .count_at = offsetof(struct end_order,
 * network_count)},
 *     };
 *
 * Values of 0, empty texts and empty lists are not sent; what is not there is 0 after unpacking. Inside wire/ only.
 * Pure. */
#pragma once

#include "base/arena.h"
#include "wire/fields.h"

typedef enum message_type {
    MESSAGE_U64 = 1,
    MESSAGE_I64, /* int64_t; zigzag */
    MESSAGE_U32, /* uint32_t and unsigned */
    MESSAGE_U16,
    MESSAGE_BOOL,
    MESSAGE_ENUM,  /* 0 .. max; a number beyond is one of a newer version, and becomes `unknown` */
    MESSAGE_TEXT,  /* struct span: any bytes */
    MESSAGE_FIXED, /* `size` bytes inside the struct; another length is invalid; absent: zeros */
    MESSAGE_TEXTS, /* const struct span * and a count: one field an element */
    MESSAGE_U64S,  /* const uint64_t * and a count: one field, 8 bytes little-endian each */
    MESSAGE_PART,  /* a struct inside, there when the bool at count_at says so */
    MESSAGE_PARTS, /* const struct ... * and a count: one field an element */
} message_type;

struct message_field {
    unsigned tag;
    message_type type;
    size_t at;                /* offsetof */
    size_t count_at;          /* of the list's size_t, or of MESSAGE_PART's bool */
    const struct message *of; /* parts */
    unsigned max, unknown;    /* MESSAGE_ENUM */
    size_t size;              /* MESSAGE_FIXED */
};

struct message {
    const struct message_field *fields;
    size_t field_count;
    size_t size; /* of the struct */
    size_t list_max;
};

#define MESSAGE_FIELDS_MAX 40 /* of one message */

void message_pack(const struct message *m, const void *from, struct buf *out);
/* `a` may be NULL for a message without lists. ST_INVALID: no fields, a number that does not fit, a fixed field of
 * another length; ST_LIMIT: a list is too long. *out is set only when ST_OK. */
MUST_USE status message_unpack(const struct message *m, struct arena *a, struct span packed, void *out);
