#include "agent/state.h"

#include <stdlib.h>

#include "base/mem.h"
#include "codec/digest.h"
#include "store/file.h"
#include "wire/fields.h"

/* "orbS", version, CRC-32C of what follows, then fields. */
#define STATE_MAGIC 0x5362726fu
#define STATE_VERSION 1
#define STATE_HEAD_BYTES 12

enum {
    TAG_BASE = 1,
    TAG_IDENTITY,
    TAG_PIN,
    TAG_AGENT,
    TAG_NAME,
    TAG_ORDERS_DONE,
    TAG_SETTINGS,
    TAG_OUTCOME,
    TAG_TOTALS,
    TAG_QUOTA_DAY,
    TAG_QUOTA_BYTES,
    TAG_OWN_CHECKED,
    TAG_BANDWIDTH,
    TAG_REFUSAL,
    TAG_REFUSED_TOTAL,
};

#define TAG_ERRORS 16 /* of totals: and the kind's number; below are the single ones */

void state_init(struct state *s)
{
    *s = (struct state){0};
}

static void outcome_free(struct state_outcome *o)
{
    buf_done(&o->why);
}

void state_done(struct state *s)
{
    for (size_t i = 0; i < s->outcome_count; i++)
        outcome_free(&s->outcomes[i]);
    for (size_t i = 0; i < s->refusal_count; i++)
        buf_done(&s->refusals[i].text);
    free(s->outcomes);
    buf_done(&s->base);
    buf_done(&s->settings);
    *s = (struct state){0};
}

void state_outcome_remove(struct state *s, uint64_t number)
{
    for (size_t i = 0; i < s->outcome_count; i++)
        if (s->outcomes[i].number == number) {
            outcome_free(&s->outcomes[i]);
            memmove(&s->outcomes[i], &s->outcomes[i + 1], (s->outcome_count - i - 1) * sizeof(*s->outcomes));
            s->outcome_count--;
            return;
        }
}

void state_outcome_put(struct state *s, uint64_t number, status st, struct span why, bool has_parts)
{
    state_outcome_remove(s, number);
    if (s->outcome_count >= STATE_OUTCOMES_MAX) /* nobody listens; the oldest is the least missed */
        state_outcome_remove(s, s->outcomes[0].number);
    s->outcomes = mem_grow(s->outcomes, &s->outcome_cap, s->outcome_count + 1, sizeof(*s->outcomes));
    struct state_outcome *o = &s->outcomes[s->outcome_count++];
    *o = (struct state_outcome){.number = number, .st = st, .has_parts = has_parts};
    buf_put(&o->why, span_cut(why, 0, STATE_TEXT_MAX));
}

void state_refused(struct state *s, wall_ms at, struct span text)
{
    struct state_refusal *last = s->refusal_count ? &s->refusals[s->refusal_count - 1] : NULL;
    text = span_cut(text, 0, STATE_TEXT_MAX);
    s->refused_total++;
    if (last && span_eq(buf_span(&last->text), text)) {
        last->at = at;
        return;
    }
    if (s->refusal_count == STATE_REFUSALS_MAX) {
        buf_done(&s->refusals[0].text);
        memmove(&s->refusals[0], &s->refusals[1], (STATE_REFUSALS_MAX - 1) * sizeof(s->refusals[0]));
        s->refusal_count--;
    }
    struct state_refusal *r = &s->refusals[s->refusal_count++];
    *r = (struct state_refusal){.at = at};
    buf_put(&r->text, text);
}

/* ---- to and from bytes ---- */

static void put_outcome(const struct state_outcome *o, struct buf *scratch, struct buf *out)
{
    buf_clear(scratch);
    field_u64(scratch, 1, o->number);
    field_u64(scratch, 2, o->st);
    field_text_if(scratch, 3, buf_span(&o->why));
    field_u64_if(scratch, 4, o->has_parts);
    field_text(out, TAG_OUTCOME, buf_span(scratch));
}

static void put_totals(const struct state_totals *t, struct buf *scratch, struct buf *out)
{
    buf_clear(scratch);
    field_u64_if(scratch, 1, t->requests);
    field_u64_if(scratch, 2, t->pages);
    field_u64_if(scratch, 3, t->bytes_crawled);
    field_u64_if(scratch, 4, t->bytes_sent);
    field_u64_if(scratch, 5, t->errors);
    for (unsigned k = 0; k < ERROR_KINDS; k++)
        field_u64_if(scratch, TAG_ERRORS + k, t->errors_by_kind[k]);
    field_text(out, TAG_TOTALS, buf_span(scratch));
}

static void put_fields(const struct state *s, struct buf *out)
{
    struct buf scratch = {0};
    field_text_if(out, TAG_BASE, buf_span(&s->base));
    if (s->has_identity)
        field_text(out, TAG_IDENTITY, span_of(s->identity.b, sizeof(s->identity.b)));
    field_text_if(out, TAG_PIN, span_str(s->pin));
    field_u64_if(out, TAG_AGENT, s->agent);
    field_text_if(out, TAG_NAME, span_str(s->name));
    field_u64_if(out, TAG_ORDERS_DONE, s->orders_done);
    field_text_if(out, TAG_SETTINGS, buf_span(&s->settings));
    for (size_t i = 0; i < s->outcome_count; i++)
        put_outcome(&s->outcomes[i], &scratch, out);
    put_totals(&s->totals, &scratch, out);
    field_i64(out, TAG_QUOTA_DAY, s->quota_day);
    field_u64_if(out, TAG_QUOTA_BYTES, s->quota_bytes);
    field_u64_if(out, TAG_OWN_CHECKED, s->own_checked_ms);
    field_u64_if(out, TAG_BANDWIDTH, s->bandwidth);
    for (size_t i = 0; i < s->refusal_count; i++) {
        buf_clear(&scratch);
        field_i64(&scratch, 1, s->refusals[i].at);
        field_text(&scratch, 2, buf_span(&s->refusals[i].text));
        field_u64_if(&scratch, 3, s->refusals[i].is_reported);
        field_text(out, TAG_REFUSAL, buf_span(&scratch));
    }
    field_u64_if(out, TAG_REFUSED_TOTAL, s->refused_total);
    buf_done(&scratch);
}

void state_pack(const struct state *s, struct buf *out)
{
    struct buf body = {0};
    put_fields(s, &body);
    pack_u32(out, STATE_MAGIC);
    pack_u32(out, STATE_VERSION);
    pack_u32(out, digest_crc32c(buf_span(&body)));
    buf_put(out, buf_span(&body));
    buf_done(&body);
}

static void take_outcome(struct state *s, struct span packed)
{
    struct fields f = fields_of(packed);
    struct span v, why = {0};
    uint64_t number = 0, st = ST_OK, has_parts = 0;
    unsigned tag;
    while (fields_next(&f, &tag, &v)) {
        if (tag == 1)
            number = value_u64(v);
        else if (tag == 2)
            st = value_u64(v);
        else if (tag == 3)
            why = v;
        else if (tag == 4)
            has_parts = value_u64(v);
    }
    if (number && st < ST_MAX)
        state_outcome_put(s, number, (status)st, why, has_parts != 0);
}

static void take_totals(struct state_totals *t, struct span packed)
{
    uint64_t *const at[] = {NULL, &t->requests, &t->pages, &t->bytes_crawled, &t->bytes_sent, &t->errors};
    struct fields f = fields_of(packed);
    struct span v;
    unsigned tag;
    while (fields_next(&f, &tag, &v))
        if (tag >= 1 && tag < sizeof(at) / sizeof(*at))
            *at[tag] = value_u64(v);
        else if (tag >= TAG_ERRORS && tag < TAG_ERRORS + ERROR_KINDS)
            t->errors_by_kind[tag - TAG_ERRORS] = value_u64(v);
}

static void take_refusal(struct state *s, struct span packed)
{
    struct fields f = fields_of(packed);
    struct span v, text = {0};
    wall_ms at = 0;
    bool is_reported = false;
    unsigned tag;
    while (fields_next(&f, &tag, &v)) {
        if (tag == 1)
            at = value_i64(v);
        else if (tag == 2)
            text = v;
        else if (tag == 3)
            is_reported = value_u64(v) != 0;
    }
    state_refused(s, at, text);
    s->refusals[s->refusal_count - 1].is_reported = is_reported;
}

static void copy_text(char *to, size_t room, struct span v)
{
    size_t n = v.n < room - 1 ? v.n : room - 1;
    memcpy(to, v.p, n);
    to[n] = '\0';
}

static void take_field(struct state *s, unsigned tag, struct span v)
{
    switch (tag) {
    case TAG_BASE:
        buf_clear(&s->base);
        buf_put(&s->base, v);
        break;
    case TAG_IDENTITY:
        s->has_identity = v.n == sizeof(s->identity.b);
        if (s->has_identity)
            memcpy(s->identity.b, v.p, v.n);
        break;
    case TAG_PIN:
        copy_text(s->pin, sizeof(s->pin), v);
        break;
    case TAG_AGENT:
        s->agent = value_u64(v);
        break;
    case TAG_NAME:
        copy_text(s->name, sizeof(s->name), v);
        break;
    case TAG_ORDERS_DONE:
        s->orders_done = value_u64(v);
        break;
    case TAG_SETTINGS:
        buf_clear(&s->settings);
        buf_put(&s->settings, v);
        break;
    case TAG_OUTCOME:
        take_outcome(s, v);
        break;
    case TAG_TOTALS:
        take_totals(&s->totals, v);
        break;
    case TAG_QUOTA_DAY:
        s->quota_day = value_i64(v);
        break;
    case TAG_QUOTA_BYTES:
        s->quota_bytes = value_u64(v);
        break;
    case TAG_OWN_CHECKED:
        s->own_checked_ms = value_u64(v);
        break;
    case TAG_BANDWIDTH:
        s->bandwidth = value_u64(v);
        break;
    case TAG_REFUSAL:
        take_refusal(s, v);
        break;
    case TAG_REFUSED_TOTAL:
        s->refused_total = value_u64(v);
        break;
    default: /* of a newer version: not ours to keep */
        break;
    }
}

status state_unpack(struct state *s, struct span packed)
{
    struct unpack u = unpack_of(packed);
    uint32_t magic = unpack_u32(&u), version = unpack_u32(&u), crc = unpack_u32(&u);
    struct span body = span_from(packed, STATE_HEAD_BYTES), v;
    if (u.bad || magic != STATE_MAGIC)
        return ST_CORRUPT;
    if (version > STATE_VERSION)
        return ST_NEWER;
    if (digest_crc32c(body) != crc)
        return ST_CORRUPT;
    struct fields f = fields_of(body);
    unsigned tag;
    while (fields_next(&f, &tag, &v))
        take_field(s, tag, v);
    if (s->refused_total < s->refusal_count) /* those that are listed did happen */
        s->refused_total = s->refusal_count;
    return fields_bad(&f) ? ST_CORRUPT : ST_OK;
}

/* ---- the file ---- */

status state_load(struct state *s, const char *data)
{
    struct buf path = {0}, packed = {0};
    buf_printf(&path, "%s/agent.state", data);
    status st = file_read(buf_cstr(&path), STATE_BYTES_MAX, &packed);
    if (st == ST_OK)
        st = state_unpack(s, buf_span(&packed));
    buf_done(&path);
    buf_done(&packed);
    return st;
}

status state_write(const char *data, struct span packed)
{
    struct buf path = {0};
    buf_printf(&path, "%s/agent.state", data);
    status st = file_replace_secret(buf_cstr(&path), packed);
    buf_done(&path);
    return st;
}
