#include "wire/auth.h"

#include "codec/armor.h"
#include "wire/message.h"

/* What is signed begins with its purpose, so that no signature can be taken for one of another kind. */
#define REQUEST_PURPOSE "orb request 1\n"
#define ANSWER_PURPOSE "orb answer 1\n"
#define METHOD_MAX 16
#define TARGET_MAX 4096

void auth_format(const struct auth *a, struct buf *out)
{
    buf_printf(out, "1 %llu ", (unsigned long long)a->agent);
    base64url_put(out, span_of(a->nonce, sizeof(a->nonce)));
    buf_printf(out, " %llu ", (unsigned long long)a->sequence);
    base64url_put(out, span_of(a->body.b, sizeof(a->body.b)));
    buf_putc(out, ' ');
    base64url_put(out, span_of(a->sig.b, sizeof(a->sig.b)));
}

/* One spelling a number: no zeros in front. */
static bool number(struct span s, uint64_t *out)
{
    return (s.n == 1 || (s.n && s.p[0] != '0')) && span_u64(s, UINT64_MAX, out);
}

status auth_parse(struct span value, struct auth *out)
{
    struct auth a;
    struct span part[6];
    if (value.n > AUTH_HEADER_MAX)
        return ST_LIMIT;
    for (size_t i = 0; i < 6; i++)
        if (!span_split(&value, ' ', &part[i]))
            return ST_INVALID;
    if (value.p || !span_is(part[0], "1") || !number(part[1], &a.agent) || !number(part[3], &a.sequence) ||
        base64url_get(part[2], a.nonce, sizeof(a.nonce)) != ST_OK ||
        base64url_get(part[4], a.body.b, sizeof(a.body.b)) != ST_OK ||
        base64url_get(part[5], a.sig.b, sizeof(a.sig.b)) != ST_OK)
        return ST_INVALID;
    *out = a;
    return ST_OK;
}

static void request_text(const struct auth *a, const struct sign_public *coordinator, struct span method,
                         struct span target, struct buf *out)
{
    buf_puts(out, REQUEST_PURPOSE);
    buf_put(out, span_of(coordinator->b, sizeof(coordinator->b)));
    pack_u64(out, a->agent);
    buf_put(out, span_of(a->nonce, sizeof(a->nonce)));
    pack_u64(out, a->sequence);
    pack_text(out, method);
    pack_text(out, target);
    buf_put(out, span_of(a->body.b, sizeof(a->body.b)));
}

void auth_sign(struct auth *a, const struct sign_key *agent, const struct sign_public *coordinator, struct span method,
               struct span target)
{
    struct buf b = {0};
    request_text(a, coordinator, method, target, &b);
    sign_make(agent, buf_span(&b), &a->sig);
    buf_done(&b);
}

bool auth_check(const struct auth *a, const struct sign_public *agent, const struct sign_public *coordinator,
                struct span method, struct span target)
{
    struct buf b = {0};
    if (method.n > METHOD_MAX || target.n > TARGET_MAX)
        return false;
    request_text(a, coordinator, method, target, &b);
    bool is_right = sign_check(agent, buf_span(&b), &a->sig);
    buf_done(&b);
    return is_right;
}

/* The request's signature stands for all that the request said. */
static void answer_text(const struct auth *request, const struct sign_public *coordinator, int code, struct span body,
                        struct buf *out)
{
    struct digest256 d = digest_blake2b256(body);
    buf_puts(out, ANSWER_PURPOSE);
    buf_put(out, span_of(coordinator->b, sizeof(coordinator->b)));
    pack_u64(out, request->agent);
    buf_put(out, span_of(request->nonce, sizeof(request->nonce)));
    pack_u64(out, request->sequence);
    buf_put(out, span_of(request->sig.b, sizeof(request->sig.b)));
    pack_u32(out, (uint32_t)code);
    buf_put(out, span_of(d.b, sizeof(d.b)));
}

void auth_sign_answer(const struct auth *request, const struct sign_key *coordinator, int code, struct span body,
                      struct buf *out)
{
    struct buf b = {0};
    struct signature sig;
    answer_text(request, &coordinator->open, code, body, &b);
    sign_make(coordinator, buf_span(&b), &sig);
    buf_puts(out, "1 ");
    base64url_put(out, span_of(sig.b, sizeof(sig.b)));
    buf_done(&b);
}

bool auth_check_answer(const struct auth *request, const struct sign_public *coordinator, int code, struct span body,
                       struct span value)
{
    struct buf b = {0};
    struct signature sig;
    if (!span_starts(value, SPAN("1 ")) || base64url_get(span_from(value, 2), sig.b, sizeof(sig.b)) != ST_OK)
        return false;
    answer_text(request, coordinator, code, body, &b);
    bool is_right = sign_check(coordinator, buf_span(&b), &sig);
    buf_done(&b);
    return is_right;
}

bool auth_window_take(struct auth_window *w, uint64_t sequence)
{
    if (sequence > w->top) {
        uint64_t by = sequence - w->top;
        w->seen = (by < AUTH_WINDOW ? w->seen << by : 0) | 1;
        w->top = sequence;
        return true;
    }
    uint64_t back = w->top - sequence;
    if (back >= AUTH_WINDOW || w->seen >> back & 1)
        return false;
    w->seen |= UINT64_C(1) << back;
    return true;
}

static const struct message_field hint_fields[] = {
    {1, MESSAGE_FIXED, .at = offsetof(struct auth_hint, nonce), .size = AUTH_NONCE_BYTES},
    {2, MESSAGE_U64, .at = offsetof(struct auth_hint, sequence)},
};
static const struct message hint_message = {hint_fields, 2, sizeof(struct auth_hint), 0};

void auth_hint_pack(const struct auth_hint *h, struct buf *out)
{
    message_pack(&hint_message, h, out);
}

status auth_hint_unpack(struct span packed, struct auth_hint *out)
{
    return message_unpack(&hint_message, NULL, packed, out);
}
