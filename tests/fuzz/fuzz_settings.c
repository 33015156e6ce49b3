/* fuzz_settings.c - what people write: the settings of orb and of orb-agent, in a file, on the command line and in the
 * environment, start pages, a hosts file, keys as text. The first byte says which. What is refused is said in one line.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

#include "agent/conf.h"
#include "base/mem.h"
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

#define WORDS_MAX 20

/* A word a line, as a program gets them; NULL at the end. */
static int words_of(struct span text, char *words[static WORDS_MAX + 1])
{
    struct span line;
    int n = 0;
    while (n < WORDS_MAX && span_split(&text, '\n', &line))
        words[n++] = mem_str(line);
    words[n] = NULL;
    return n;
}

static void command_line(struct span text)
{
    char *words[WORDS_MAX + 1];
    int n = words_of(text, words);
    for (unsigned bit = 0; bit < 64; bit += 1 + (unsigned)text.n % 7) {
        struct options o;
        struct buf err = {0};
        options_init(&o);
        int code = options_from_args(&o, CMD_BIT(bit), n, words, &err);
        assert((code == EXIT_DONE) == (err.n == 0));
        code = options_from_env(&o, CMD_BIT(bit), words, &err);
        assert(code == EXIT_DONE || err.n > 0);
        (void)options_check(&o, &err);
        options_done(&o);
        buf_done(&err);
    }
    for (int i = 0; i < n; i++)
        free(words[i]);
}

static void agent_command_line(struct span text)
{
    char *words[WORDS_MAX + 1];
    struct conf c;
    struct buf err = {0};
    int n = words_of(text, words);
    conf_init(&c);
    bool is_good = conf_from_args(&c, n, words, &err) && conf_from_env(&c, words, &err) && conf_check(&c, &err);
    assert(is_good == (err.n == 0));
    conf_done(&c);
    buf_done(&err);
    for (int i = 0; i < n; i++)
        free(words[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const readers[])(struct span) = {settings,     agent_settings,    seed, hosts, keys,
                                                   command_line, agent_command_line};
    if (size)
        readers[data[0] % (sizeof(readers) / sizeof(*readers))](span_of(data + 1, size - 1));
    return 0;
}
