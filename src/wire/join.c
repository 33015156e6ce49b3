#include "wire/join.h"

#include <stdio.h>

#include "codec/armor.h"
#include "wire/message.h"

#define HELLO_PURPOSE "orb hello 1\n"

/* ---- the line ---- */

static bool host_is_good(struct span host, bool in_brackets)
{
    if (!host.n || host.n > 253)
        return false;
    for (size_t i = 0; i < host.n; i++) {
        char c = host.p[i];
        bool ok = in_brackets ? ascii_hex(c) >= 0 || c == ':' || c == '.'
                              : ascii_is_alpha(c) || ascii_is_digit(c) || c == '-' || c == '.' || c == '_';
        if (!ok)
            return false;
    }
    return true;
}

/* 127.0.0.0/8, ::1 and localhost, as they are written. */
static bool host_is_loopback(struct span host)
{
    if (span_is_nocase(host, "localhost") || span_is(host, "::1"))
        return true;
    for (size_t i = 0; i < host.n; i++)
        if (!ascii_is_digit(host.p[i]) && host.p[i] != '.')
            return false;
    return span_starts(host, SPAN("127."));
}

static status parse_host(struct span s, struct join_line *j)
{
    struct span host;
    uint64_t port;
    bool in_brackets = s.n && s.p[0] == '[';
    size_t end = in_brackets ? span_find(s, ']', 1) : span_find(s, ':', 0);
    host = in_brackets ? span_cut(s, 1, end - 1) : span_cut(s, 0, end);
    s = span_from(s, in_brackets ? end + 1 : end);
    if (!host_is_good(host, in_brackets) || !s.n || s.p[0] != ':' || !span_u64(span_from(s, 1), 65535, &port) || !port)
        return ST_INVALID;
    snprintf(j->host, sizeof(j->host), "%.*s", SPAN_ARG(host));
    j->port = (int)port;
    return j->is_plain && !host_is_loopback(host) ? ST_REFUSED : ST_OK;
}

status join_line_parse(struct span text, struct join_line *out)
{
    struct join_line j = {0};
    struct span token, host;
    text = span_trim(text);
    if (text.n > JOIN_LINE_MAX)
        return ST_LIMIT;
    if (span_starts_nocase(text, SPAN("orb://")))
        text = span_from(text, 6);
    else if (span_starts_nocase(text, SPAN("orb+http://"))) {
        text = span_from(text, 11);
        j.is_plain = true;
    } else
        return ST_INVALID;
    if (!span_split(&text, '/', &host) || !span_split(&text, '#', &token) ||
        base64url_get(token, j.token, sizeof(j.token)) != ST_OK ||
        hex_get(text, j.fingerprint.b, sizeof(j.fingerprint.b)) != ST_OK)
        return ST_INVALID;
    status st = parse_host(host, &j);
    if (st == ST_OK)
        *out = j;
    return st;
}

void join_line_format(const struct join_line *j, struct buf *out)
{
    bool in_brackets = strchr(j->host, ':') != NULL;
    buf_puts(out, j->is_plain ? "orb+http://" : "orb://");
    buf_printf(out, in_brackets ? "[%s]:%d/" : "%s:%d/", j->host, j->port);
    base64url_put(out, span_of(j->token, sizeof(j->token)));
    buf_putc(out, '#');
    hex_put(out, span_of(j->fingerprint.b, sizeof(j->fingerprint.b)));
}

bool join_name_is_good(struct span name)
{
    if (!name.n || name.n > JOIN_NAME_MAX || name.p[0] == '-' || name.p[0] == '.')
        return false; /* neither an option nor a hidden file */
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        if (!ascii_is_alpha(c) && !ascii_is_digit(c) && c != '-' && c != '_' && c != '.')
            return false;
    }
    return true;
}

/* ---- hello ---- */

static void hello_text(const struct hello_answer *h, const unsigned char *challenge, struct buf *out)
{
    buf_puts(out, HELLO_PURPOSE);
    buf_put(out, span_of(challenge, HELLO_CHALLENGE_BYTES));
    buf_put(out, span_of(h->identity.b, sizeof(h->identity.b)));
    pack_text(out, span_str(h->pin));
    pack_u32(out, h->version_min);
    pack_u32(out, h->version_max);
}

void hello_answer_sign(struct hello_answer *h, const struct sign_key *coordinator,
                       const unsigned char challenge[HELLO_CHALLENGE_BYTES])
{
    struct buf b = {0};
    h->identity = coordinator->open;
    hello_text(h, challenge, &b);
    sign_make(coordinator, buf_span(&b), &h->sig);
    buf_done(&b);
}

bool hello_answer_check(const struct hello_answer *h, const unsigned char challenge[HELLO_CHALLENGE_BYTES])
{
    struct buf b = {0};
    hello_text(h, challenge, &b);
    bool is_right = sign_check(&h->identity, buf_span(&b), &h->sig);
    buf_done(&b);
    return is_right;
}

/* The pin as it travels: a text, not an array. */
struct hello_wire {
    struct hello_answer h;
    struct span pin;
};

static const struct message_field hello_fields[] = {
    {1, MESSAGE_FIXED, .at = offsetof(struct hello_wire, h.identity), .size = SIGN_PUBLIC_BYTES},
    {2, MESSAGE_TEXT, .at = offsetof(struct hello_wire, pin)},
    {3, MESSAGE_U16, .at = offsetof(struct hello_wire, h.version_min)},
    {4, MESSAGE_U16, .at = offsetof(struct hello_wire, h.version_max)},
    {5, MESSAGE_FIXED, .at = offsetof(struct hello_wire, h.sig), .size = SIGN_BYTES},
};
static const struct message hello_message = {hello_fields, 5, sizeof(struct hello_wire), 0};

void hello_answer_pack(const struct hello_answer *h, struct buf *out)
{
    struct hello_wire w = {*h, span_str(h->pin)};
    message_pack(&hello_message, &w, out);
}

/* Base64 and "sha256//": nothing that a header or a log would trip over. */
static bool pin_is_good(struct span pin)
{
    if (pin.n >= JOIN_PIN_MAX)
        return false;
    for (size_t i = 0; i < pin.n; i++)
        if (!ascii_is_alpha(pin.p[i]) && !ascii_is_digit(pin.p[i]) && !(pin.p[i] && strchr("+/=", pin.p[i])))
            return false;
    return true;
}

status hello_answer_unpack(struct span packed, struct hello_answer *out)
{
    struct hello_wire w;
    status st = message_unpack(&hello_message, NULL, packed, &w);
    if (st == ST_OK && !pin_is_good(w.pin))
        st = ST_INVALID;
    if (st == ST_OK) {
        snprintf(w.h.pin, sizeof(w.h.pin), "%.*s", SPAN_ARG(w.pin));
        *out = w.h;
    }
    return st;
}

/* ---- join ---- */

static const struct message_field request_fields[] = {
    {1, MESSAGE_FIXED, .at = offsetof(struct join_request, token), .size = JOIN_TOKEN_BYTES},
    {2, MESSAGE_FIXED, .at = offsetof(struct join_request, agent), .size = SIGN_PUBLIC_BYTES},
    {3, MESSAGE_TEXT, .at = offsetof(struct join_request, version)},
};
static const struct message request_message = {request_fields, 3, sizeof(struct join_request), 0};

void join_request_pack(const struct join_request *j, struct buf *out)
{
    message_pack(&request_message, j, out);
}

status join_request_unpack(struct span packed, struct join_request *out)
{
    return message_unpack(&request_message, NULL, packed, out);
}

static const struct message_field answer_fields[] = {
    {1, MESSAGE_U64, .at = offsetof(struct join_answer, agent)},
    {2, MESSAGE_TEXT, .at = offsetof(struct join_answer, name)},
    {3, MESSAGE_FIXED, .at = offsetof(struct join_answer, hint.nonce), .size = AUTH_NONCE_BYTES},
    {4, MESSAGE_U64, .at = offsetof(struct join_answer, hint.sequence)},
};
static const struct message answer_message = {answer_fields, 4, sizeof(struct join_answer), 0};

void join_answer_pack(const struct join_answer *j, struct buf *out)
{
    message_pack(&answer_message, j, out);
}

status join_answer_unpack(struct span packed, struct join_answer *out)
{
    struct join_answer j;
    status st = message_unpack(&answer_message, NULL, packed, &j);
    if (st == ST_OK && (!j.agent || !join_name_is_good(j.name)))
        st = ST_INVALID;
    if (st == ST_OK)
        *out = j;
    return st;
}
