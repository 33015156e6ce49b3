/* fuzz_join.c - any bytes as what strangers may send before they are known: join lines, Orb-Auth headers, hellos and
 * join messages. What has a text form must come back from it, and no signature is right. Numbers of requests are taken
 * once, as a list of all that came says. */
#include <assert.h>

#include "wire/auth.h"
#include "wire/join.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_line(struct span in)
{
    struct join_line j, k;
    struct buf b = {0}, again = {0};
    if (join_line_parse(in, &j) == ST_OK) {
        join_line_format(&j, &b);
        status st = join_line_parse(buf_span(&b), &k);
        assert(st == ST_OK);
        join_line_format(&k, &again);
        assert(span_eq(buf_span(&b), buf_span(&again)));
    }
    buf_done(&b);
    buf_done(&again);
}

static void try_auth(struct span in)
{
    static const struct sign_public nobody = {{7}};
    struct auth a = {0};
    struct buf b = {0};
    if (auth_parse(in, &a) == ST_OK) {
        auth_format(&a, &b);
        assert(span_eq(buf_span(&b), in)); /* one spelling */
        assert(!auth_check(&a, &nobody, &nobody, SPAN("POST"), SPAN("/agent/poll")));
    }
    assert(!auth_check_answer(&a, &nobody, 200, SPAN("body"), in));
    buf_done(&b);
}

static void try_numbers(struct span in)
{
    struct auth_window w = {0};
    uint64_t came[100], number = 0, top = 0;
    for (size_t n = 0; n < 100 && n < in.n; n++) {
        number += (uint64_t)(int64_t)(signed char)in.p[n]; /* a little back or forth; far at times */
        bool is_new = number > top || top - number < AUTH_WINDOW;
        for (size_t i = 0; i < n; i++)
            is_new = is_new && came[i] != number;
        assert(auth_window_take(&w, number) == is_new);
        came[n] = number;
        top = number > top ? number : top;
    }
}

static void try_hello(struct span in)
{
    static const unsigned char challenge[HELLO_CHALLENGE_BYTES] = {0};
    struct hello_answer h;
    struct join_request q;
    struct join_answer a;
    struct buf b = {0};
    if (hello_answer_unpack(in, &h) == ST_OK) {
        hello_answer_pack(&h, &b);
        status st = hello_answer_unpack(buf_span(&b), &h);
        assert(st == ST_OK && !hello_answer_check(&h, challenge));
    }
    if (join_request_unpack(in, &q) == ST_OK)
        join_request_pack(&q, &b);
    if (join_answer_unpack(in, &a) == ST_OK) {
        assert(join_name_is_good(a.name) && a.agent);
        struct join_answer again;
        buf_clear(&b);
        join_answer_pack(&a, &b);
        status st = join_answer_unpack(buf_span(&b), &again);
        assert(st == ST_OK && again.agent == a.agent && span_eq(again.name, a.name));
    }
    buf_done(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span in = span_of(data, size);
    try_line(in);
    try_auth(in);
    try_numbers(in);
    try_hello(in);
    return 0;
}
