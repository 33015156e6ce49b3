/* fuzz_settings.c - what people write: the settings of orb and of orb-agent, start pages, a hosts file, keys as text.
 * The first byte says which. What is refused is said in one line. */
#include <assert.h>
#include <stdint.h>

#include "agent/conf.h"
#include "cli/options.h"
#include "cli/seeds.h"
#include "codec/armor.h"
#include "io/resolver.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void settings(struct span text)
{
    struct options o;
    struct buf err = {0}, out = {0};
    options_init(&o);
    if (options_from_text(&o, "file", text, &err) == EXIT_DONE) {
        (void)options_check(&o, &err);
        for (opt_id id = 0; id < OPT_COUNT; id++)
            option_format(&o, id, "\n", &out);
    } else {
        assert(err.n > 0);
    }
    options_done(&o);
    buf_done(&err);
    buf_done(&out);
}

static void agent_settings(struct span text)
{
    struct conf c;
    struct buf err = {0};
    conf_init(&c);
    bool is_good = conf_from_text(&c, "file", text, &err) && conf_check(&c, &err);
    assert(is_good == (err.n == 0));
    conf_done(&c);
    buf_done(&err);
}

static void seed(struct span typed)
{
    struct arena a;
    struct url u;
    struct buf why = {0};
    arena_init(&a);
    status st = seed_parse(&a, typed, &url_norm_default, &u, &why);
    assert(st == ST_OK ? url_is_http(&u) : why.n > 0);
    arena_done(&a);
    buf_done(&why);
}

static void hosts(struct span text)
{
    struct loop *l = loop_new();
    struct resolver *r;
    struct resolver_opts o = {.server = SPAN("127.0.0.1:9"), .hosts = text};
    if (resolver_new(l, &o, &r) == ST_OK) {
        struct resolved found;
        if (resolver_peek(r, SPAN("a.example"), &found) && found.st == ST_OK)
            assert(found.count >= 1 && found.count <= RESOLVER_ADDRS_MAX);
        resolver_free(r);
    }
    loop_free(l);
}

static void keys(struct span text)
{
    unsigned char bytes[64];
    struct buf again = {0};
    size_t n = text.n * 3 / 4;
    if (n <= sizeof(bytes) && base64url_get(text, bytes, n) == ST_OK) {
        base64url_put(&again, span_of(bytes, n));
        assert(span_eq(buf_span(&again), text));
    }
    buf_clear(&again);
    if (text.n / 2 <= sizeof(bytes) && hex_get(text, bytes, text.n / 2) == ST_OK) {
        hex_put(&again, span_of(bytes, text.n / 2));
        assert(span_eq_nocase(buf_span(&again), text));
    }
    buf_done(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const readers[])(struct span) = {settings, agent_settings, seed, hosts, keys};
    if (size)
        readers[data[0] % 5](span_of(data + 1, size - 1));
    return 0;
}
