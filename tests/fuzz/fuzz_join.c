/* fuzz_join.c - any bytes as what strangers may send before they are known: join lines, Orb-Auth headers, hellos and
 * join messages. What has a text form must come back from it. */
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
    struct auth a;
    struct buf b = {0};
    if (auth_parse(in, &a) == ST_OK) {
        auth_format(&a, &b);
        assert(span_eq(buf_span(&b), in)); /* one spelling */
    }
    buf_done(&b);
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
    if (join_answer_unpack(in, &a) == ST_OK)
        assert(join_name_is_good(a.name) && a.agent);
    buf_done(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span in = span_of(data, size);
    try_line(in);
    try_auth(in);
    try_hello(in);
    return 0;
}
