/* fuzz_channel.c - any bytes as a packed channel: an order of a coordinator has one in it, and so have checkpoints.
 * What is taken decides about any URL, and packs to the same bytes as often as it is unpacked. */
#include <assert.h>
#include <stdint.h>

#include "crawl/channel.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void decide(struct channel *c)
{
    static const char *const urls[] = {"http://example.org/", "https://www.example.org:8443/a/b?c=d",
                                       "http://192.0.2.1/x/y.html"};
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(urls) / sizeof(*urls); i++) {
        struct url u;
        struct span pattern = {0};
        status st = url_parse(&a, span_str(urls[i]), NULL, &u);
        assert(st == ST_OK);
        channel_verdict v = channel_check(c, &u, (unsigned)i, &pattern);
        assert(v <= CHANNEL_TOO_DEEP && (pattern.n == 0 || v == CHANNEL_EXCLUDED));
        /* A list may be a little outside of what it lists, but not deeper, and not excluded. */
        bool takes_list = channel_takes_list(c, &u, (unsigned)i);
        assert(!takes_list || (v != CHANNEL_EXCLUDED && v != CHANNEL_TOO_DEEP));
    }
    arena_done(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct channel *c, *d;
    struct buf once = {0}, twice = {0};
    if (channel_unpack(span_of(data, size), &c) == ST_OK) {
        channel_pack(c, &once);
        status st = channel_unpack(buf_span(&once), &d);
        assert(st == ST_OK && channel_id(c) == channel_id(d) && channel_id(c) != 0);
        channel_pack(d, &twice);
        assert(span_eq(buf_span(&once), buf_span(&twice)));
        decide(d);
        channel_free(c);
        channel_free(d);
    }
    buf_done(&once);
    buf_done(&twice);
    return 0;
}
