#include "wire/capture.h"

#include "wire/fields.h"

enum { TAG_AT = 1, TAG_REQUEST, TAG_HEAD, TAG_BODY, TAG_CUT, TAG_HTTP2 };

bool capture_pack(const struct warc_capture *c, struct buf *out)
{
    if (c->request.n > CAPTURE_REQUEST_MAX || c->head.n > CAPTURE_HEAD_MAX || c->body.n > CAPTURE_BODY_MAX)
        return false;
    field_i64(out, TAG_AT, c->at);
    field_text_if(out, TAG_REQUEST, c->request);
    field_text_if(out, TAG_HEAD, c->head);
    field_text_if(out, TAG_BODY, c->body);
    field_u64_if(out, TAG_CUT, (uint64_t)c->cut);
    field_u64_if(out, TAG_HTTP2, c->is_http2);
    return true;
}

/* One head and nothing behind it, or a request could bring records of its own. */
static bool request_is_sound(struct span r)
{
    size_t end = span_search(r, SPAN("\r\n\r\n"), false);
    return !r.n || (end + 4 == r.n && !memchr(r.p, '\0', r.n));
}

status capture_unpack(struct span packed, struct warc_capture *out)
{
    struct fields f = fields_of(packed);
    struct warc_capture c = {0};
    unsigned tag;
    struct span v;
    while (fields_next(&f, &tag, &v))
        switch (tag) {
        case TAG_AT:
            c.at = value_i64(v);
            break;
        case TAG_REQUEST:
            c.request = v;
            break;
        case TAG_HEAD:
            c.head = v;
            break;
        case TAG_BODY:
            c.body = v;
            break;
        case TAG_CUT: /* a reason that we do not know is one all the same */
            c.cut = value_u64(v) <= WARC_CUT_DISCONNECT ? (warc_cut)value_u64(v) : WARC_CUT_LENGTH;
            break;
        case TAG_HTTP2:
            c.is_http2 = value_u64(v) != 0;
            break;
        default:
            break;
        }
    if (fields_bad(&f))
        return ST_CORRUPT;
    if (c.request.n > CAPTURE_REQUEST_MAX || c.head.n > CAPTURE_HEAD_MAX || c.body.n > CAPTURE_BODY_MAX)
        return ST_LIMIT;
    if (!warc_head_is_sound(c.head) || !request_is_sound(c.request))
        return ST_CORRUPT;
    *out = c;
    return ST_OK;
}
